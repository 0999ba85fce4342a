// restore.c -- resumes a simulation from a row of a result.
//
// If the formulation is that of the result, the stored state is restored bit for bit.  Otherwise, and from
// CSV, the motion of bodies and joints is read from the columns and set.
#include "io/result/result.h"
#include "simulate/simulation.h"

#include <linkwork/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------- the same model?

static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

static size_t indentation(const char *line)
{
    return strspn(line, " ");
}

// Path of a line of a canonical model file, "bodies/rod/mass": the keys of the lines that contain it.
static void place_of(const char *text, const char *line, char *place, size_t size)
{
    size_t below = indentation(line) + 1;
    char room[256];
    place[0] = 0;
    for (const char *at = line;;) {
        if (indentation(at) < below && line_length(at)) {
            below = indentation(at);
            snprintf(room, sizeof room, "%.*s%s%.120s", (int)strcspn(at + below, ":\n"), at + below,
                     *place ? "/" : "", place);
            lwi_copy_text(place, size, room);
        }
        if (at == text || below == 0) return;
        for (at--; at > text && at[-1] != '\n';) at--;
    }
}

static const char *without_key(const char *line)
{
    line += indentation(line);
    const char *colon = strstr(line, ": ");
    return colon && colon < line + line_length(line) ? colon + 2 : line;
}

// Reports the first line in which two canonical model files differ.
static lw_status report_difference(const lw_result *r, const char *theirs, const char *ours,
                                   lw_error *error)
{
    const char *a = theirs, *b = ours;
    while (*a && *b && line_length(a) == line_length(b) && !strncmp(a, b, line_length(a))) {
        a += line_length(a), a += *a == '\n';
        b += line_length(b), b += *b == '\n';
    }
    char there[160], here[160];
    place_of(theirs, a, there, sizeof there);
    place_of(ours, b, here, sizeof here);
    if (!strcmp(there, here))
        return lwi_fail_at(error, LW_ERR_ARGUMENT, r->path, 0, 0,
                           "is of another model: %s is %.*s in the result, %.*s in this model",
                           here, (int)strcspn(without_key(a), "\n"), without_key(a),
                           (int)strcspn(without_key(b), "\n"), without_key(b));
    return lwi_fail_at(error, LW_ERR_ARGUMENT, r->path, 0, 0,
                       "is of another model: it has %s where this model has %s",
                       *there ? there : "its end", *here ? here : "its end");
}

static lw_status check_model(const lw_result *r, const lw_sim *sim, lw_error *error)
{
    char *text = NULL;
    size_t size = 0;
    if (!r->meta.model) return LW_OK; // only the names of the columns can be checked
    FILE *file = open_memstream(&text, &size);
    if (!file) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
    lw_status status = lw_model_write(lw_sim_model(sim), NULL, file, error);
    if ((fclose(file) || !text) && status == LW_OK) // NULL: no memory when it was closed
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
    if (status == LW_OK && strcmp(text, r->meta.model) != 0)
        status = report_difference(r, r->meta.model, text, error);
    free(text);
    return status;
}

// -------------------------------------------------------------------------------- the stored state

static bool same_state(const lw_result *r, const lw_sim *sim, const char *layout)
{
    return r->meta.formulation && !strcmp(r->meta.formulation, lw_sim_options(sim)->formulation) &&
           r->meta.nx == lw_sim_state_size(sim) && r->meta.layout &&
           !strcmp(r->meta.layout, layout);
}

static lw_status take_state(lw_result *r, long row, lw_sim *sim, lwi_arena *arena, lw_error *error)
{
    double t, *x = LWI_PUSH(arena, double, r->meta.nx);
    if (!x) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the state");
    TRY(lw_result_read_state(r, row, &t, x, error));
    const lw_status status = lw_sim_set_state(sim, t, x);
    if (status == LW_OK) return LW_OK;
    return lwi_fail_at(error, status, r->path, 0, 0, "row %ld: %s", row, lw_sim_error(sim)->text);
}

// ------------------------------------------------------------------------------------- the motion

// The number of column k at `row`; a missing optional one remains 0.
static lw_status read_number(lw_result *r, long row, const lwi_result_columns *columns, int k,
                             bool required, double *number, lw_error *error)
{
    const char *name = columns->column[k].name;
    const bool same = k < r->n && !strcmp(r->column[k].name, name);
    lw_status status = LW_OK;
    if (!same) status = lw_result_find_column(r, name, &k, error);
    if (status == LW_OK) status = lw_result_read(r, k, row, 1, number, error);
    return status == LW_ERR_ARGUMENT && !required ? LW_OK : status;
}

static lw_status read_row(lw_result *r, long row, const lwi_result_columns *columns,
                          double *numbers, lw_error *error)
{
    for (int i = 0, k = 0; i < columns->nentry; i++) {
        const lwi_result_entry *e = &columns->entry[i];
        const lwi_resume resume = e->quantity->resume;
        for (const int end = k + e->n; k < end; k++)
            if (resume != LWI_RESULT_FOLLOWS)
                TRY(read_number(r, row, columns, k, resume == LWI_RESULT_REQUIRED, numbers + k,
                                error));
    }
    return LW_OK;
}

static lw_status read_motion(lw_result *r, long row, const lw_model *model, lwi_arena *arena,
                             lw_observation *motion, lw_error *error)
{
    lwi_result_columns columns;
    if (lwi_result_columns_of_model(model, LW_OBSERVE_ENERGY, &columns) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    double *numbers = LWI_PUSH(arena, double, columns.n);
    lw_status status = numbers ? read_row(r, row, &columns, numbers, error)
                               : lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    if (status == LW_OK && lwi_result_row_motion(model, &columns, numbers, arena, motion) != LW_OK)
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory for the motion");
    lwi_result_columns_free(&columns);
    return status;
}

static lw_status take_motion(lw_result *r, long row, lw_sim *sim, lwi_arena *arena, lw_error *error)
{
    lw_observation motion;
    TRY(read_motion(r, row, lw_sim_model(sim), arena, &motion, error));
    const lw_status status = lw_sim_set_motion(sim, &motion);
    if (status != LW_OK)
        return lwi_fail_at(error, status, r->path, 0, 0, "%s", lw_sim_error(sim)->text);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ public

static lw_status restore(lw_result *r, long row, lw_sim *sim, lwi_arena *arena, char *how,
                         size_t how_size, lw_error *error)
{
    const char *layout = lwi_result_layout_text(sim, arena);
    if (!layout) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the state");
    TRY(check_model(r, sim, error));
    const bool exact = same_state(r, sim, layout);
    if (exact)
        TRY(take_state(r, row, sim, arena, error));
    else
        TRY(take_motion(r, row, sim, arena, error));
    if (!how) return LW_OK;
    const char *unchecked = r->meta.model ? "" : "; the file does not contain the model";
    if (exact)
        snprintf(how, how_size, "resumes from %s at t = %.10g s: state of %s, bit for bit%s",
                 r->path, lw_sim_time(sim), r->meta.formulation, unchecked);
    else
        snprintf(how, how_size, "resumes from %s at t = %.10g s: motion%s%s%s", r->path,
                 lw_sim_time(sim), r->meta.formulation ? ", computed by " : "",
                 r->meta.formulation ? r->meta.formulation : "", unchecked);
    return LW_OK;
}

lw_status lw_result_restore(lw_result *result, long row, lw_sim *sim, char *how, size_t how_size,
                            lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!result || !sim) return lwi_fail(error, LW_ERR_ARGUMENT, "result and sim must be given");
    if (row == -1) row = result->rows - 1;
    if (!result->rows)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, result->path, 0, 0,
                           "the result has no rows, cannot resume from it");
    if (row < 0 || row >= result->rows)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, result->path, 0, 0,
                           "row %ld: the result has %ld", row, result->rows);
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lw_status status = restore(result, row, sim, &arena, how, how_size, error);
    lwi_arena_free(&arena);
    return status;
}
