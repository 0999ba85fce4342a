// restore.c -- resumes a simulation from a row of a result.
//
// If the formulation is that of the result, the stored state is restored bit for bit.  Otherwise, and from
// CSV, the motion of bodies and joints is read from the columns and set.
#include "initial/restart.h"
#include "io/result/restore_states.h"
#include "simulate/simulation.h"
#include "spatial/vec3.h"

#include <linkwork/io.h>

#include <math.h>
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
                       "is of another model: it has %s where this one has %s",
                       *there ? there : "its end", *here ? here : "its end");
}

static lw_status check_model(const lw_result *r, const lw_sim *sim, bool *same, lw_error *error)
{
    *same = true;
    char *text = NULL;
    size_t size = 0;
    if (!r->meta.model) return LW_OK; // only the names of the columns can be checked
    FILE *file = open_memstream(&text, &size);
    if (!file) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
    lw_status status = lw_model_write(lw_sim_model(sim), NULL, file, error);
    if ((fclose(file) || !text) && status == LW_OK) // NULL: no memory when it was closed
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory for the model");
    if (status == LW_OK) *same = strcmp(text, r->meta.model) == 0;
    if (status == LW_OK && !*same) report_difference(r, r->meta.model, text, error);
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

static lw_status take_motion(lw_result *r, long row, lw_sim *sim, lwi_arena *arena,
                             lwi_restored_states *report, lw_error *error)
{
    lw_observation motion;
    double *states = NULL;
    TRY(read_motion(r, row, lw_sim_model(sim), arena, &motion, error));
    TRY(lwi_result_restore_states(r, row, lw_sim_model(sim), arena, &states, report, error));
    motion.states = states;
    const lw_status status = lw_sim_set_motion(sim, &motion);
    if (status != LW_OK)
        return lwi_fail_at(error, status, r->path, 0, 0, "%s", lw_sim_error(sim)->text);
    return LW_OK;
}

// ------------------------------------------------------------------------- another mechanism's motion

#define SAME_SPEED 1e-6 // of a drive: not worth a message

// What the result has of the model, by names.
typedef struct matched {
    int found, missing; // bodies and joints
    char names[120];    // of the first that are missing
} matched;

static void miss(matched *c, const char *name)
{
    const size_t n = strlen(c->names);
    c->missing++;
    if (n + strlen(name) + 3 < sizeof c->names)
        snprintf(c->names + n, sizeof c->names - n, "%s%s", n ? ", " : "", name);
}

// Numbers of the row in the place of those of the start; items that the result does not have keep theirs.
static lw_status read_by_name(lw_result *r, long row, const lw_model *model,
                              const lwi_result_columns *columns, double *numbers, matched *c,
                              lw_error *error)
{
    const char *last = "";
    for (int i = 0, k = 0; i < columns->nentry; k += columns->entry[i++].n) {
        const lwi_result_entry *e = &columns->entry[i];
        if (e->quantity->resume == LWI_RESULT_FOLLOWS || k == 0) continue;
        double values[LW_JOINT_MAX_NQ];
        lw_error none = {0};
        lw_status status = e->n <= LW_JOINT_MAX_NQ ? LW_OK : LW_ERR_ARGUMENT;
        for (int j = 0; j < e->n && status == LW_OK; j++)
            status = read_number(r, row, columns, k + j, true, &values[j], &none);
        if (status != LW_OK && status != LW_ERR_ARGUMENT) {
            if (error) *error = none;
            return status;
        }
        const char *name = lwi_result_item_name(model, e);
        if (status == LW_OK) memcpy(numbers + k, values, (size_t)e->n * sizeof *values);
        if (strcmp(name, last) == 0 || !*name) continue; // one item has several quantities
        last = name;
        if (status == LW_OK)
            c->found++;
        else
            miss(c, name);
    }
    return LW_OK;
}

static lw_status motion_by_name(lw_result *r, long row, lw_sim *sim, lwi_arena *arena,
                                lw_observation *motion, matched *c, lw_error *error)
{
    const lw_model *model = lw_sim_model(sim);
    const lw_observation *now;
    lwi_result_columns columns;
    lwi_result_rows rows;
    if (lwi_result_columns_of_model(model, LW_OBSERVE_ENERGY, &columns) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    lw_status status = lwi_result_rows_create(model, &columns, arena, &rows);
    if (status == LW_OK) status = lw_sim_observe(sim, LW_OBSERVE_ENERGY, &now);
    if (status == LW_OK) status = lwi_result_rows_fill(&rows, now);
    if (status != LW_OK) lwi_fail(error, status, "the start of the model cannot be read");
    if (status == LW_OK) status = read_by_name(r, row, model, &columns, rows.row, c, error);
    if (status == LW_OK) status = lwi_result_row_motion(model, &columns, rows.row, arena, motion);
    lwi_result_columns_free(&columns);
    motion->time = 0;
    motion->level = LW_OBSERVE_TWIST;
    return status;
}

// The start of a model that was assembled near the motion.
static lw_status take_start(lw_sim *sim, const lw_model *near, lw_error *error)
{
    const lw_sim_desc desc = {.options = lw_sim_options(sim)};
    const lw_observation *start;
    lw_sim *other;
    TRY(lw_sim_create(near, &desc, &other, error));
    lw_status status = lw_sim_observe(other, LW_OBSERVE_TWIST, &start);
    if (status == LW_OK) status = lw_sim_set_motion(sim, start);
    if (status != LW_OK) lwi_fail(error, status, "%s", lw_sim_error(sim)->text);
    lw_sim_destroy(other);
    return status;
}

typedef struct velocity_change {
    double speed;    // largest of a mass centre [m/s]
    int joint, k;    // the driven coordinate that changes most; joint -1: none does
    double from, to; // its speeds
} velocity_change;

// How the velocities of the start differ from those of the result, as drives and joints demand.
static lw_status compare_speeds(lw_sim *sim, const lw_observation *found, velocity_change *c)
{
    const lw_model *model = lw_sim_model(sim);
    const lw_observation *now;
    *c = (velocity_change){.joint = -1};
    TRY(lw_sim_observe(sim, LW_OBSERVE_TWIST, &now));
    for (int b = 1; b < model->nbody; b++) {
        double d[3];
        v3_sub(d, now->velocity[b], found->velocity[b]);
        c->speed = fmax(c->speed, v3_norm(d));
    }
    for (int j = 0; j < model->njoint; j++)
        for (int k = 0; k < model->joint[j].type->nv && model->joint[j].ndriven; k++) {
            const int i = model->joint[j].iv + k;
            const double change = fabs(now->qd[i] - found->qd[i]);
            if (!model->joint[j].motion[k].index || change <= fabs(c->to - c->from) ||
                change <= SAME_SPEED * (1 + fabs(now->qd[i])))
                continue;
            c->joint = j, c->k = k, c->from = found->qd[i], c->to = now->qd[i];
        }
    return LW_OK;
}

// "; the motion of joint 'A' starts with qd0 = 3, where the result has 0", or "".
static void drive_text(const lw_model *model, const velocity_change *c, char *text, size_t size)
{
    text[0] = 0;
    if (c->joint >= 0)
        snprintf(text, size,
                 "; the motion of joint '%.60s' starts with qd%d = %.6g, where the result has %.6g",
                 model->joint[c->joint].name, c->k, c->to, c->from);
}

// Positions and velocities of what has the same names, in a model that differs: assembled, from t = 0 on.
static lw_status carry(lw_result *r, long row, lw_sim *sim, lwi_arena *arena,
                       const char *difference, char *how, size_t how_size, lw_error *error)
{
    lw_observation motion;
    matched c = {.found = 0};
    lw_assembly report = {.iterations = 0};
    lwi_restored_states signals;
    lw_model *near = NULL;
    double time = 0, *states = NULL;
    int column;
    char left[300], drive[200];
    velocity_change change;
    TRY(motion_by_name(r, row, sim, arena, &motion, &c, error));
    TRY(lwi_result_restore_states(r, row, lw_sim_model(sim), arena, &states, &signals, error));
    motion.states = states;
    lwi_result_states_text(&signals, left, sizeof left);
    if (c.found == 0)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, r->path, 0, 0,
                           "is of another model, without a body or joint of this one");
    TRY(lw_result_find_column(r, "time", &column, error));
    TRY(lw_result_read(r, column, row, 1, &time, error));
    TRY(lwi_model_near(lw_sim_model(sim), &motion, &near, &report, error));
    lw_status status = take_start(sim, near, error);
    lw_model_destroy(near);
    TRY(status);
    if (!how) return LW_OK;
    status = compare_speeds(sim, &motion, &change);
    if (status != LW_OK) return lwi_fail(error, status, "%s", lw_sim_error(sim)->text);
    drive_text(lw_sim_model(sim), &change, drive, sizeof drive);
    snprintf(how, how_size,
             "starts at t = 0 with the motion of %s at t = %.10g s; that model differs: %.200s; %d "
             "bodies and joints have their motion%s%s%s, assembled: bodies move by at most %.3g m, "
             "their speeds change by at most %.3g m/s%s%s",
             r->path, time, difference, c.found, c.missing ? ", not in the result: " : "", c.names,
             c.missing > 3 ? ", ..." : "", report.moved, change.speed, drive, left);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ public

static lw_status restore(lw_result *r, long row, lw_sim *sim, lwi_arena *arena, char *how,
                         size_t how_size, lw_error *error)
{
    const char *layout = lwi_result_layout_text(sim, arena);
    if (!layout) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the state");
    bool same;
    lw_error difference = {0};
    const lw_status checked = check_model(r, sim, &same, &difference);
    if (checked != LW_OK) {
        if (error) *error = difference;
        return checked;
    }
    if (!same)
        return carry(r, row, sim, arena, difference.text + strlen("is of another model: "), how,
                     how_size, error);
    const bool exact = same_state(r, sim, layout);
    lwi_restored_states signals = {.missing = 0};
    if (exact)
        TRY(take_state(r, row, sim, arena, error));
    else
        TRY(take_motion(r, row, sim, arena, &signals, error));
    if (!how) return LW_OK;
    char left[300];
    lwi_result_states_text(&signals, left, sizeof left);
    const char *unchecked = r->meta.model ? "" : "; the file does not contain the model";
    if (exact)
        snprintf(how, how_size, "resumes from %s at t = %.10g s: state of %s, bit for bit%s",
                 r->path, lw_sim_time(sim), r->meta.formulation, unchecked);
    else
        snprintf(how, how_size, "resumes from %s at t = %.10g s: motion%s%s%s%s", r->path,
                 lw_sim_time(sim), r->meta.formulation ? ", computed by " : "",
                 r->meta.formulation ? r->meta.formulation : "", unchecked, left);
    return LW_OK;
}

lw_status lw_result_restore(lw_result *result, long row, lw_sim *sim, char *how, size_t how_size,
                            lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!result || !sim) return lwi_fail(error, LW_ERR_ARGUMENT, "result and sim must be given");
    const long rows = lw_result_row_count(result);
    if (row == -1) row = rows - 1;
    if (!rows)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, result->path, 0, 0,
                           "the result has no rows, cannot resume from it");
    if (row < 0 || row >= rows)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, result->path, 0, 0,
                           "row %ld: the result has %ld", row, rows);
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lw_status status = restore(result, row, sim, &arena, how, how_size, error);
    lwi_arena_free(&arena);
    return status;
}
