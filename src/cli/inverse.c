// inverse.c -- linkwork inverse: efforts of actuators for the motion of drives, of a result, or for rest at the start.
#include "cli/analysis.h"
#include "cli/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct inverse_run {
    const cli_arguments *arguments;
    cli_analysis model;
    lw_result *motion; ///< of --motion; NULL: none
    lw_inverse *inverse;
    lw_sim *sim; ///< of the model with inputs for the actuators: what files show
    cli_rows rows;
    int m;                 ///< actuators
    long n, room;          ///< rows
    double *time, *effort; ///< [n], [n][m]
    int rank, dof;
    double condition; ///< smallest of all rows
    bool redundant;
    bool infeasible; ///< the last row was
    lw_error error;
} inverse_run;

// ----------------------------------------------------------------------------------------- one row

static lw_status keep(inverse_run *r, const lw_inverse_solution *s)
{
    if (r->n == r->room) {
        const long room = r->room ? 2 * r->room : 256;
        double *time = realloc(r->time, (size_t)room * sizeof *time);
        if (time) r->time = time;
        double *effort = realloc(r->effort, (size_t)room * (size_t)r->m * sizeof *effort);
        if (effort) r->effort = effort;
        if (!time || !effort) {
            snprintf(r->error.text, sizeof r->error.text, "no memory");
            return LW_ERR_MEMORY;
        }
        r->room = room;
    }
    r->time[r->n] = s->time;
    memcpy(r->effort + (size_t)r->n * (size_t)r->m, s->effort, (size_t)r->m * sizeof *s->effort);
    r->n++;
    return LW_OK;
}

static lw_status write_row(inverse_run *r, const lw_inverse_solution *s, const double *q,
                           const double *v)
{
    const lw_observation *seen;
    lw_status status = lw_sim_set_tree(r->sim, s->time, q, v);
    for (int k = 0; k < r->m && status == LW_OK; k++)
        status = lw_sim_set_input(r->sim, lw_inverse_actuator_input(r->inverse, k), s->effort[k]);
    if (status == LW_OK)
        status = lw_sim_observe(r->sim, cli_rows_level(r->arguments, r->sim, &r->rows), &seen);
    if (status != LW_OK) {
        r->error = *lw_sim_error(r->sim);
        return status;
    }
    return cli_rows_write(&r->rows, seen);
}

static lw_status take(inverse_run *r, const lw_inverse_solution *s, const double *q,
                      const double *v)
{
    r->rank = s->rank, r->dof = s->dof;
    r->redundant |= s->kind == LW_INVERSE_MINIMUM_NORM;
    r->condition = fmin(r->condition, s->condition);
    r->infeasible = s->kind == LW_INVERSE_INFEASIBLE;
    if (r->infeasible) {
        snprintf(r->error.text, sizeof r->error.text,
                 "t = %.10g s: infeasible: the actuators (rank %d, dof %d) cannot "
                 "give what the motion needs along %s; %.3g %% of it is missing; expected %s",
                 s->time, s->rank, s->dof, s->coordinate, 100 * s->residual,
                 r->m < s->dof ? "as many --actuators as degrees of freedom"
                               : "other --actuators, or a position farther from a dead point");
        return LW_ERR_SINGULAR;
    }
    const lw_status status = keep(r, s);
    return status == LW_OK ? write_row(r, s, q, v) : status;
}

static lw_status take_solved(inverse_run *r, const lw_inverse_solution *s)
{
    const double *q, *v;
    lw_inverse_state(r->inverse, &q, &v, NULL);
    return take(r, s, q, v);
}

// ------------------------------------------------------------------------------------- the motions

static lw_status driven_row(void *user, const lw_observation *motion)
{
    inverse_run *r = user;
    const lw_inverse_solution *s;
    const lw_status status = lw_inverse_motion(r->inverse, motion, &s, &r->error);
    return status == LW_OK ? take_solved(r, s) : status;
}

static lw_status along_drives(inverse_run *r)
{
    lw_sim *sim;
    const lw_sim_desc desc = {.options = &r->model.options};
    lw_status status = lw_sim_create(r->model.model, &desc, &sim, &r->error);
    if (status != LW_OK) return status;
    r->rows.progress = cli_progress_start("inverse", r->arguments->quiet, lw_sim_time(sim));
    r->error.text[0] = 0;
    status =
        lw_sim_kinematics(sim, LW_OBSERVE_ACCELERATION, driven_row, r, cli_rows_poll, &r->rows);
    cli_progress_end(&r->rows.progress);
    if (status != LW_OK && !r->error.text[0]) r->error = *lw_sim_error(sim);
    lw_sim_destroy(sim);
    return status;
}

static bool is_given(const cli_arguments *arguments, const char *key)
{
    for (int i = 0; i < arguments->nsetting; i++)
        if (!strcmp(arguments->setting[i].key, key)) return true;
    return false;
}

// All rows are solved, because loops begin from the row before; those of --sample are taken, up to --duration.
static lw_status along_result(inverse_run *r)
{
    const lw_options *options = &r->model.options;
    const double duration = is_given(r->arguments, "duration") ? options->duration : INFINITY,
                 sample = is_given(r->arguments, "sample") ? options->sample : 0;
    double first = 0, next = -INFINITY;
    lw_status status = LW_OK;
    for (long i = 0; i < lw_inverse_rows(r->inverse) && status == LW_OK; i++) {
        const lw_inverse_solution *s;
        status = lw_inverse_row(r->inverse, i, &s, &r->error);
        if (status != LW_OK) break;
        if (i == 0) first = next = s->time;
        const double near = 1e-9 * (1 + fabs(s->time));
        if (s->time > first + duration + near) break;
        if (sample > 0 && s->time < next - near) continue;
        while (sample > 0 && next <= s->time + near) next += sample;
        status = take_solved(r, s);
    }
    return status;
}

// Holding the mechanism at its start, or keeping its speeds.
static lw_status at_start(inverse_run *r)
{
    const lw_model *model = lw_inverse_model(r->inverse);
    const size_t nq = (size_t)lw_model_tree_nq(model), nv = (size_t)lw_model_tree_nv(model);
    double *q = calloc(nq + 2 * nv + 1, sizeof *q);
    const lw_inverse_solution *s;
    if (!q) return LW_ERR_MEMORY;
    double *v = q + nq, *vdot = v + nv;
    lw_model_tree_start(model, q, v);
    lw_status status = lw_inverse_complete(r->inverse, 0, q, v, vdot, &r->error);
    if (status == LW_OK) status = lw_inverse_solve(r->inverse, 0, q, v, vdot, &s, &r->error);
    if (status == LW_OK) status = take(r, s, q, v);
    free(q);
    return status;
}

static bool has_drives(const lw_model *model)
{
    for (int j = 0; j < lw_model_joint_count(model); j++)
        if (lw_model_joint(model, (lw_joint){j}).ndriven) return true;
    return false;
}

static const char *motion_text(const inverse_run *r)
{
    return r->motion
               ? r->arguments->motion
               : (has_drives(r->model.model) ? "the drives of the model" : "rest at the start");
}

// ----------------------------------------------------------------------------------------- reports

static lw_statistics statistics(const inverse_run *r, int k)
{
    lw_running running = {0};
    for (long i = 0; i < r->n; i++)
        lw_running_add(&running, r->time[i], r->effort[(size_t)i * (size_t)r->m + (size_t)k]);
    return lw_running_statistics(&running);
}

static const char *kind_text(const inverse_run *r)
{
    return r->redundant ? "minimum norm" : "unique";
}

static void print_report(const inverse_run *r)
{
    printf("model        %s\n", r->arguments->operand);
    printf("motion       %s, t = %g to %g s, %ld row%s\n", motion_text(r), r->time[0],
           r->time[r->n - 1], r->n, r->n == 1 ? "" : "s");
    printf("efforts      %s: %d actuator%s of rank %d, %d dof, smallest pivot %.1e\n", kind_text(r),
           r->m, r->m == 1 ? "" : "s", r->rank, r->dof, r->condition);
    printf("\n%-28s %14s %14s %14s %14s\n", "actuator", "min", "max", "rms", "last");
    for (int k = 0; k < r->m; k++) {
        const lw_statistics s = statistics(r, k);
        printf("%-28s %14.7g %14.7g %14.7g %14.7g\n", lw_inverse_actuator_name(r->inverse, k),
               s.min, s.max, s.rms, s.last);
    }
    for (int i = 0; i < r->arguments->noutput; i++)
        printf("%swritten      %s\n", i ? "" : "\n", r->arguments->output[i]);
}

static void json_report(const inverse_run *r)
{
    cli_json json = {.file = stdout};
    double *column = malloc((size_t)r->n * sizeof *column + 1);
    json_open(&json, NULL, '{');
    json_text(&json, "model", r->arguments->operand);
    json_text(&json, "motion", motion_text(r));
    json_text(&json, "kind", kind_text(r));
    json_integer(&json, "dof", r->dof);
    json_integer(&json, "rank", r->rank);
    json_number(&json, "condition", r->condition);
    json_integer(&json, "rows", r->n);
    json_array(&json, "time", r->time, (int)r->n);
    json_open(&json, "efforts", '{');
    for (int k = 0; k < r->m && column; k++) {
        for (long i = 0; i < r->n; i++) column[i] = r->effort[(size_t)i * (size_t)r->m + (size_t)k];
        json_array(&json, lw_inverse_actuator_name(r->inverse, k), column, (int)r->n);
    }
    json_close(&json, '}');
    json_open(&json, "files", '[');
    for (int i = 0; i < r->arguments->noutput; i++) json_text(&json, NULL, r->arguments->output[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    free(column);
}

// -------------------------------------------------------------------------------------------- set up

// "A=2,B.q1=0.5"
static cli_exit set_weights(inverse_run *r)
{
    cli_exit code = CLI_DONE;
    const char *list = r->arguments->weights ? r->arguments->weights : "";
    char *text = malloc(strlen(list) + 1);
    if (!text) return cli_complain(CLI_FAILED, "no memory");
    strcpy(text, list);
    for (char *item = strtok(text, ","); item && !code; item = strtok(NULL, ",")) {
        char *value = strchr(item, '=');
        double weight;
        if (value) *value++ = 0;
        if (!value || !lw_number_read(value, &weight))
            code = cli_complain(
                CLI_USE, "--weights %s: expected ACTUATOR=NUMBER, with commas between", item);
        else if (lw_inverse_set_weight(r->inverse, item, weight, &r->error) != LW_OK)
            code = cli_complain(CLI_USE, "%s", r->error.text);
    }
    free(text);
    return code;
}

static cli_exit complain(const inverse_run *r, lw_status status)
{
    const bool use = status == LW_ERR_ARGUMENT || status == LW_ERR_MODEL;
    const cli_exit code = use ? CLI_USE : CLI_FAILED;
    if (!r->error.line) return cli_complain(code, "%s: %s", r->arguments->operand, r->error.text);
    cli_fail(status, &r->error); // with the line
    return code;
}

static cli_exit create(inverse_run *r)
{
    const cli_arguments *a = r->arguments;
    if (a->motion) {
        const lw_status status = lw_result_open(a->motion, &r->motion, &r->error);
        if (status != LW_OK) return cli_fail(status, &r->error);
    }
    const lw_inverse_desc desc = {.actuators = a->actuators,
                                  .keep_drives = r->motion != NULL,
                                  .inputs = r->model.inputs,
                                  .independent = a->independent,
                                  .motion = r->motion};
    lw_status status = lw_inverse_create(r->model.model, &desc, &r->inverse, &r->error);
    if (status != LW_OK) return complain(r, status);
    r->m = lw_inverse_actuators(r->inverse);
    r->condition = 1;
    const lw_sim_desc sim = {.options = &r->model.options};
    status = lw_sim_create(lw_inverse_model(r->inverse), &sim, &r->sim, &r->error);
    return status == LW_OK ? set_weights(r) : cli_fail(status, &r->error);
}

// The values of inputs that are no actuators.
static lw_status set_inputs(inverse_run *r)
{
    lw_status status = LW_OK;
    for (int i = 0; i < lw_model_input_count(r->model.model) && status == LW_OK; i++)
        status = lw_sim_set_input(r->sim, i, r->model.inputs[i]);
    return status;
}

static cli_exit solve(inverse_run *r)
{
    cli_exit code = cli_rows_open(r->arguments, r->sim, NULL, 0, &r->rows);
    lw_status status = LW_OK;
    cli_catch_signals();
    if (!code && (status = set_inputs(r)) == LW_OK)
        status = r->motion                    ? along_result(r)
                 : has_drives(r->model.model) ? along_drives(r)
                                              : at_start(r);
    const cli_exit closed = cli_rows_close(&r->rows);
    if (!code && status != LW_OK) code = complain(r, status);
    if (!code) code = closed;
    if (!code && *lw_inverse_warning(r->inverse) && !r->arguments->quiet)
        fprintf(stderr, "warning: %s: %s\n", r->arguments->motion, lw_inverse_warning(r->inverse));
    if (!code && r->arguments->json)
        json_report(r);
    else if (!code && !r->arguments->quiet)
        print_report(r);
    return code;
}

cli_exit cli_inverse(const cli_arguments *arguments)
{
    cli_arguments all = *arguments; // efforts of actuators are numbers of forces
    if (!all.given[CLI_LEVEL]) all.level = LW_OBSERVE_FORCE;
    inverse_run r = {.arguments = &all};
    cli_exit code = cli_check_results(arguments);
    if (code) return code;
    code = cli_analysis_begin(arguments, false, &r.model);
    if (!code) code = create(&r);
    if (!code) code = solve(&r);
    if (!code && !arguments->quiet) cli_analysis_leaves_out(r.model.model, true);
    cli_rows_free(&r.rows);
    free(r.time);
    free(r.effort);
    lw_sim_destroy(r.sim);
    lw_inverse_destroy(r.inverse);
    lw_result_close(r.motion);
    cli_analysis_end(&r.model);
    return code;
}
