// restore_states.c -- states of signals in a row of a result, by their names: from the stored state, which has them after
// the mechanism's, by any formulation and of a changed model; without one from the column of the signal where its value
// is its state.
#include "io/result/restore_states.h"

#include "kinematics/formulation.h"

#include <linkwork/analysis.h>
#include <linkwork/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The number behind a word of the layout, "signal 3"; 0: there is none.
static int count_of(const char *layout, const char *word)
{
    const char *at = strstr(layout, word);
    return at ? atoi(at + strlen(word)) : 0;
}

// The model of the result, as far as it is needed for names; NULL: unknown.
static lw_model *model_of(const lw_result *r)
{
    const lw_read_desc native = {.format = "yaml"};
    lw_model *model = NULL;
    if (!r->meta.model || !r->meta.formulation || !r->meta.layout) return NULL;
    lw_model_parse(r->meta.model, strlen(r->meta.model), r->path, &native, &model, NULL, NULL);
    return model;
}

// The stored state is that of the mechanism, the signals, independent coordinates, the step.
static lw_status from_state(lw_result *r, long row, const lw_model *theirs, const lw_model *ours,
                            double *states, bool *found, lwi_arena *arena, lw_error *error)
{
    const char *layout = r->meta.layout;
    const int n = lw_model_signal_states(theirs);
    const int first = r->meta.nx - count_of(layout, "step ") - count_of(layout, "partition ") - n;
    double *x = LWI_PUSH(arena, double, r->meta.nx);
    if (!x) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the state");
    if (first < 0 || count_of(layout, "signal ") != n) return LW_OK;
    TRY(lw_result_read_state(r, row, NULL, x, error));
    for (int i = 0; i < ours->nstate; i++) {
        char own[LW_COORDINATE_NAME_SIZE], other[LW_COORDINATE_NAME_SIZE];
        lwi_state_name(ours, i, own, sizeof own);
        for (int k = 0; k < n && !found[i]; k++) {
            lwi_state_name(theirs, k, other, sizeof other);
            if (strcmp(own, other)) continue;
            states[i] = x[first + k];
            found[i] = true;
        }
    }
    return LW_OK;
}

static bool value_is_state(const lw_function_desc *d)
{
    return d->type == LW_FUNCTION_INTEGRAL || d->type == LW_FUNCTION_LAG ||
           d->type == LW_FUNCTION_RATE_LIMIT || d->type == LW_FUNCTION_SWITCH;
}

static lw_status from_columns(lw_result *r, long row, const lw_model *model, double *states,
                              bool *found, lw_error *error)
{
    for (int i = 0; i < model->desc.nfunction; i++) {
        const lwi_function *f = &model->function[i];
        char name[LW_COORDINATE_NAME_SIZE];
        int column;
        if (f->nstate == 0 || !f->desc.name || !value_is_state(&f->desc)) continue;
        snprintf(name, sizeof name, "signal.%s.value", f->desc.name);
        if (found[f->state] || lw_result_find_column(r, name, &column, NULL) != LW_OK) continue;
        TRY(lw_result_read(r, column, row, 1, &states[f->state], error));
        found[f->state] = true;
    }
    return LW_OK;
}

// Names of the states that begin as at a start.
static void name_missing(const lw_model *model, const bool *found, lwi_restored_states *report)
{
    report->names[0] = 0;
    for (int i = 0; i < model->nstate; i++) {
        char name[LW_COORDINATE_NAME_SIZE];
        if (found[i] || report->missing++ >= 3) continue;
        lwi_state_name(model, i, name, sizeof name);
        const size_t n = strlen(report->names), room = sizeof report->names - n;
        if (snprintf(report->names + n, room, "%s%s", n ? ", " : "", name) >= (int)room)
            report->names[n] = 0; // no part of a name
    }
}

lw_status lwi_result_restore_states(lw_result *result, long row, const lw_model *model,
                                    lwi_arena *arena, double **states, lwi_restored_states *report,
                                    lw_error *error)
{
    *report = (lwi_restored_states){.missing = 0};
    if (model->nstate == 0) return LW_OK;
    bool *found = LWI_PUSH(arena, bool, model->nstate);
    double *x = LWI_PUSH(arena, double, model->nstate);
    if (!found || !x) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the states of signals");
    memcpy(x, model->state0, (size_t)model->nstate * sizeof *x);
    lw_model *theirs = model_of(result);
    lw_status status = LW_OK;
    if (theirs) status = from_state(result, row, theirs, model, x, found, arena, error);
    lw_model_destroy(theirs);
    TRY(status);
    TRY(from_columns(result, row, model, x, found, error));
    name_missing(model, found, report);
    *states = x;
    return LW_OK;
}

void lwi_result_states_text(const lwi_restored_states *report, char *text, size_t size)
{
    text[0] = 0;
    if (report->missing)
        snprintf(text, size, "; states of signals that begin as at a start: %s%s", report->names,
                 report->missing > 3 ? ", ..." : "");
}
