// response.c -- numbers of a run as functions of parameters of the model's file, for optimisers.
//
// The Jacobian by differences: every parameter is moved by STEP of its range to both sides, at an end of the range
// twice to the inside, and all runs are one sweep.  With a quadratic through the values at 0, a, b
//
//     f' = (f(a) - f(0)) b / (a (b - a)) - (f(b) - f(0)) a / (b (b - a))
//
// By the adjoint (sensitivity.c): one call.  Of data forward (variational.c): one call for all rows.
#include "analysis/adjoint.h"
#include "analysis/wanted.h"
#include "base/base.h"
#include "model/model.h"

#include <linkwork/analysis.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double STEP = 1e-4, TOLERANCE = 1e-10, SAME_TIME = 1e-9;
enum {
    MAX_ROWS = 100000, // of a run, for the times of data
    FEW = 3, // parameters for which differences cost no more than the adjoint of one number
    SIDES = 2
};

// Cost of forward sensitivities, where 1 is that of a run of a sweep (bench/analysis/fit.py): of the run and its linear
// equations; of the matrices of trees, times the square of the number of speeds (their runs need none); of each parameter.
// The first two are those of a run without rows: its steps are so many times longer than those of the sweep, and end at
// each row.
static const double FORWARD_RUN = 3, FORWARD_MATRICES = 1.0 / 200, FORWARD_PARAMETER = 0.5,
                    FORWARD_STEP = 4;

typedef struct wanted {
    const char *name;   // "measure.load.max"
    const char *column; // "measure.load"
    const char *unit;
    lw_statistic statistic;
    int index; // of the column among those of the study
} wanted;

struct lw_response {
    lwi_arena arena;
    const lw_model *model;
    lw_options options;
    int nby, nwanted, ndata; // ndata: columns
    long nrow;               // of data
    const char **by;
    double *lower, *upper, *ends; // ends: [nby][SIDES] of a step
    wanted *wanted;               // [nwanted + ndata]; of data only name, column, unit and index
    double *data, *weight;        // [nrow][ndata], [ndata]
    long *row;                    // [nrow] number of the run's row
    char *columns;                // patterns of the study
    char *names;                  // of what is wanted
    double *values;               // [1 + SIDES nby][nby]
    double *result;               // [1 + SIDES nby][count]
    double *gradient;             // [count] of one parameter
    lw_gradient method, used;
    bool smooth; // AUTO: the adjoint, or forward, costs less and has not refused the model
    long steps;  // of the first run; 0: there was none
    long runs;
    lw_progress progress;
    void *progress_user;
};

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for responses");
}

// -------------------------------------------------------------------------------------- parameters

static bool find(const lw_model *model, const char *name, lw_parameter_info *found)
{
    for (int i = 0; i < lw_model_parameter_count(model); i++) {
        *found = lw_model_parameter_at(model, i);
        if (!strcmp(found->name, name)) return true;
    }
    return false;
}

static lw_status check_range(const lw_response *r, int k, lw_error *error)
{
    lw_parameter_info p;
    const char *name = r->by[k];
    if (!find(r->model, name, &p)) {
        TRY(lw_vary_check(r->model, name, error)); // names the nearest
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "'%s' is no parameter of the model's file; expected a name under `parameters:`", name);
    }
    for (int i = 0; i < k; i++)
        if (!strcmp(r->by[i], name))
            return lwi_fail(error, LW_ERR_ARGUMENT, "parameter '%s' is given twice; expected once",
                            name);
    const double lower = r->lower[k], upper = r->upper[k], unit = p.unit_value;
    if (!(isfinite(lower) && isfinite(upper) && lower < upper))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "parameter '%s': range %g:%g; expected two finite numbers, the first below "
                        "the second",
                        name, lower, upper);
    const double round = 1e-12 * fmax(fabs(lower), fabs(upper));
    if (lower < p.minimum / unit - round || upper > p.maximum / unit + round)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "parameter '%s': range %g:%g; its file allows %g:%g %s", name, lower, upper,
                        p.minimum / unit, p.maximum / unit, p.unit);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- columns

// "load.max": measure.load, its maximum; "load": its last value.
static lw_status parse_wanted(lw_response *r, const char *text, wanted *w, lw_error *error)
{
    int statistic;
    if (!*text || *text == '.' || strlen(text) > 500 || strpbrk(text, ",*?"))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "'%.200s': expected a measure or a column of results, NAME or "
                        "NAME.STATISTIC with last, mean, rms, min or max",
                        text);
    TRY(lwi_wanted_parse(r->model, text, &r->arena, &w->column, &statistic, error));
    w->statistic = statistic < 0 ? LW_STATISTIC_LAST : (lw_statistic)statistic;
    const size_t room = strlen(w->column) + 8;
    char *name = lwi_arena_chars(&r->arena, room);
    if (!name) return no_memory(error);
    snprintf(name, room, "%s.%s", w->column, lw_statistic_name(w->statistic));
    w->name = name;
    return LW_OK;
}

static lw_status join_columns(lw_response *r, lw_error *error)
{
    size_t size = 1;
    for (int i = 0; i < r->nwanted + r->ndata; i++) size += strlen(r->wanted[i].name) + 1;
    r->columns = LWI_PUSH(&r->arena, char, size);
    r->names = LWI_PUSH(&r->arena, char, size);
    if (!r->columns || !r->names) return no_memory(error);
    char *at = r->columns, *name = r->names;
    *name = 0;
    for (int i = 0; i < r->nwanted + r->ndata; i++)
        at += sprintf(at, "%s%s", i ? "," : "", r->wanted[i].column);
    for (int i = 0; i < r->nwanted; i++)
        name += sprintf(name, "%s%s", i ? "," : "", r->wanted[i].name);
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- data

// Rows of a run at all times of the data: the largest interval of which they are multiples.
static lw_status choose_rows(lw_response *r, const double *time, lw_error *error)
{
    const double end = time[r->nrow - 1];
    double interval = end;
    for (long i = 0; i < r->nrow; i++) {
        double a = interval, b = time[i];
        while (b > SAME_TIME * end) {
            const double rest = fabs(a - b * round(a / b));
            a = b, b = rest;
        }
        interval = a;
    }
    const double n = round(end / interval);
    if (!(n <= MAX_ROWS))
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "data: the times of the rows have no common interval above 1/%d of the "
                        "last one; expected multiples of one interval",
                        MAX_ROWS);
    r->options.duration = end;
    r->options.sample = end / n;
    for (long i = 0; i < r->nrow; i++) r->row[i] = (long)round(time[i] / r->options.sample);
    return LW_OK;
}

static lw_status check_times(const double *time, long n, lw_error *error)
{
    for (long i = 0; i < n; i++)
        if (!isfinite(time[i]) || time[i] < 0 || (i && time[i] <= time[i - 1]))
            return lwi_fail(error, LW_ERR_ARGUMENT,
                            "data: row %ld has the time %g s; expected times from 0 on that grow",
                            i + 1, time[i]);
    return time[n - 1] > 0
               ? LW_OK
               : lwi_fail(error, LW_ERR_ARGUMENT, "data: expected a row at a time above 0");
}

static lw_status read_column(lw_response *r, lw_result *data, int column, int k, double *room,
                             lw_error *error)
{
    const char *name = lw_result_column(data, column).name;
    TRY(lw_result_read(data, column, 0, r->nrow, room, error));
    for (long i = 0; i < r->nrow; i++) {
        r->data[(size_t)i * (size_t)r->ndata + (size_t)k] = room[i];
        if (!isfinite(room[i]))
            return lwi_fail(error, LW_ERR_ARGUMENT,
                            "data: column '%.200s', row %ld: expected a finite number", name,
                            i + 1);
    }
    wanted *w = &r->wanted[r->nwanted + k];
    w->name = w->column = lwi_arena_text(&r->arena, name);
    return w->name ? LW_OK : no_memory(error);
}

static lw_status read_data(lw_response *r, const lw_response_desc *desc, lw_error *error)
{
    int time;
    TRY(lw_result_find_column(desc->data, "time", &time, error));
    if (r->nrow == 0 || r->ndata == 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "data: expected rows, and a column of results in addition to `time`");
    double *room = LWI_PUSH(&r->arena, double, r->nrow);
    r->row = LWI_PUSH(&r->arena, long, r->nrow);
    r->data = LWI_PUSH(&r->arena, double, (size_t)r->nrow *(size_t)r->ndata);
    r->weight = LWI_PUSH(&r->arena, double, r->ndata);
    if (!room || !r->row || !r->data || !r->weight) return no_memory(error);
    TRY(lw_result_read(desc->data, time, 0, r->nrow, room, error));
    TRY(check_times(room, r->nrow, error));
    TRY(choose_rows(r, room, error));
    for (int column = 0, k = 0; column <= r->ndata; column++) {
        if (column == time) continue;
        r->weight[k] = desc->weight ? desc->weight[column] : 1;
        if (!(isfinite(r->weight[k]) && r->weight[k] >= 0))
            return lwi_fail(error, LW_ERR_ARGUMENT,
                            "weight of '%.200s' is %g; expected a number from 0 on",
                            lw_result_column(desc->data, column).name, r->weight[k]);
        TRY(read_column(r, desc->data, column, k++, room, error));
    }
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- runs

typedef struct rows {
    lw_response *r;
    lw_study *study;
} rows;

static int count(const lw_response *r)
{
    return r->nwanted + (int)r->nrow * r->ndata;
}

static double *result_of(const lw_response *r, int instance)
{
    return r->result + (size_t)instance * (size_t)count(r);
}

// The row of the data that this one of an instance is, -1 for none.
static long data_row(const lw_response *r, long number)
{
    for (long low = 0, high = r->nrow - 1; low <= high;) {
        const long middle = (low + high) / 2;
        if (r->row[middle] == number) return middle;
        if (r->row[middle] < number)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

static lw_status count_row(void *user, lw_batch *batch, double time)
{
    rows *all = user;
    lw_response *r = all->r;
    TRY(lw_study_row(all->study, batch, time));
    for (int i = 0; r->ndata && i < lw_batch_instances(batch); i++) {
        const int number = lw_batch_number(batch, i);
        const lw_statistics first =
            lw_study_statistics(all->study, number, r->wanted[r->nwanted].index);
        const long row = data_row(r, first.rows - 1);
        if (row < 0) continue;
        double *residual = result_of(r, number) + r->nwanted + row * r->ndata;
        for (int k = 0; k < r->ndata; k++) {
            const lw_statistics of =
                lw_study_statistics(all->study, number, r->wanted[r->nwanted + k].index);
            residual[k] =
                r->weight[k] * (of.last - r->data[(size_t)row * (size_t)r->ndata + (size_t)k]);
        }
    }
    return LW_OK;
}

static double pick(const lw_statistics *of, lw_statistic which)
{
    const double all[LW_STATISTIC_COUNT] = {[LW_STATISTIC_LAST] = of->last,
                                            [LW_STATISTIC_MEAN] = of->mean,
                                            [LW_STATISTIC_RMS] = of->rms,
                                            [LW_STATISTIC_MIN] = of->min,
                                            [LW_STATISTIC_MAX] = of->max};
    return all[which];
}

static lw_status find_columns(lw_response *r, const lw_study *study, lw_error *error)
{
    for (int i = 0; i < r->nwanted + r->ndata; i++) {
        wanted *w = &r->wanted[i];
        w->index = -1;
        for (int k = 0; k < lw_study_columns(study); k++)
            if (!strcmp(lw_study_column(study, k).name, w->column)) w->index = k;
        if (w->index < 0)
            return lwi_fail(error, LW_ERR_ARGUMENT, "'%.200s' is no column of results", w->column);
        if (!w->unit) w->unit = lwi_arena_text(&r->arena, lw_study_column(study, w->index).unit);
        if (!w->unit) return no_memory(error);
    }
    return LW_OK;
}

// A design for which there is no model, or no run: without the number of its instance.  Values of parameters that
// follow from others may be out of their ranges.
static lw_status fail_design(lw_status status, const lw_error *reason, lw_error *error)
{
    const char *text = reason->text;
    if (!strncmp(text, "instance ", 9) && strstr(text, ": ")) text = strstr(text, ": ") + 2;
    return lwi_fail(error, status == LW_ERR_ARGUMENT ? LW_ERR_MODEL : status, "%s", text);
}

// Has an instance all rows?
static lw_status check_run(const lw_response *r, const lw_sweep *sweep, int i, lw_error *error)
{
    const lw_status status = lw_sweep_status(sweep, i);
    lw_summary summary;
    if (status != LW_OK) return lwi_fail(error, status, "%s", lw_sweep_failure(sweep, i));
    if (!r->ndata) return LW_OK;
    lw_sweep_summary(sweep, i, &summary);
    if (summary.end >= r->options.duration * (1 - SAME_TIME)) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL,
                    "an event ends the run at t = %.9g s, before the last row, t = %.9g s",
                    summary.end, r->options.duration);
}

static long steps_of(const lw_sweep *sweep)
{
    lw_summary summary;
    lw_sweep_summary(sweep, 0, &summary);
    return summary.steps > 0 ? summary.steps : 1;
}

// Runs of r->values, if `run`; their results into r->result.
static lw_status run_sweep(lw_response *r, int n, bool run, lw_sweep **sweep, lw_study **study,
                           lw_error *error)
{
    const lw_batch_desc batch = {.options = &r->options,
                                 .instances = n,
                                 .threads = (int)r->options.threads,
                                 .nvary = r->nby,
                                 .vary = r->by,
                                 .values = r->values};
    lw_error reason = {0};
    const lw_status created = lw_sweep_create(r->model, &batch, sweep, &reason);
    if (created != LW_OK) return fail_design(created, &reason, error);
    TRY(lw_study_create(*sweep, r->columns, study, error));
    TRY(find_columns(r, *study, error));
    if (!run) return LW_OK;
    rows all = {.r = r, .study = *study};
    const lw_status status = lw_sweep_run(*sweep, count_row, &all, r->progress, r->progress_user);
    r->runs += n;
    if (status != LW_OK) return lwi_fail(error, status, "%s", lw_sweep_error(*sweep)->text);
    TRY(check_run(r, *sweep, 0, error));
    if (!r->steps) r->steps = steps_of(*sweep);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < r->nwanted; k++) {
            const lw_statistics of = lw_study_statistics(*study, i, r->wanted[k].index);
            result_of(r, i)[k] = pick(&of, r->wanted[k].statistic);
        }
    return LW_OK;
}

// Steps of a parameter to both sides, or twice to one at an end of its range.
static void choose_ends(const lw_response *r, int k, double x, double *end)
{
    const double h = STEP * (r->upper[k] - r->lower[k]);
    end[0] = x - h < r->lower[k] ? h : -h;
    end[1] = x - h < r->lower[k] ? 2 * h : x + h > r->upper[k] ? -2 * h : h;
}

static void fill_values(lw_response *r, const double *x)
{
    const size_t n = (size_t)r->nby;
    for (size_t i = 0; i < 1 + SIDES * n; i++) memcpy(r->values + i * n, x, n * sizeof *x);
    for (size_t k = 0; k < n; k++) {
        choose_ends(r, (int)k, x[k], r->ends + SIDES * k);
        for (size_t side = 0; side < SIDES; side++)
            r->values[(1 + SIDES * k + side) * n + k] += r->ends[SIDES * k + side];
    }
}

// Column k of the Jacobian; a side that has failed is left out.
static lw_status difference(const lw_response *r, const lw_sweep *sweep, int k, double *jacobian,
                            lw_error *error)
{
    const int at = 1 + SIDES * k, m = count(r);
    const double a = r->ends[SIDES * k], b = r->ends[SIDES * k + 1];
    lw_error reason;
    const lw_status status = check_run(r, sweep, at, &reason);
    const bool has_a = status == LW_OK, has_b = check_run(r, sweep, at + 1, NULL) == LW_OK;
    if (!has_a && !has_b)
        return lwi_fail(error, status, "next to '%s' = %.9g: %.300s", r->by[k], r->values[k],
                        reason.text);
    for (int i = 0; i < m; i++) {
        const double f = result_of(r, 0)[i], fa = result_of(r, at)[i] - f,
                     fb = result_of(r, at + 1)[i] - f;
        jacobian[(size_t)i * (size_t)r->nby + (size_t)k] =
            !has_b   ? fa / a
            : !has_a ? fb / b
                     : (fa * b / a - fb * a / b) / (b - a);
    }
    return LW_OK;
}

static lw_status by_differences(lw_response *r, const double *x, double *value, double *jacobian,
                                lw_error *error)
{
    lw_sweep *sweep = NULL;
    lw_study *study = NULL;
    fill_values(r, x);
    lw_status status = run_sweep(r, jacobian ? 1 + SIDES * r->nby : 1, true, &sweep, &study, error);
    for (int k = 0; status == LW_OK && jacobian && k < r->nby; k++)
        status = difference(r, sweep, k, jacobian, error);
    if (status == LW_OK) memcpy(value, result_of(r, 0), (size_t)count(r) * sizeof *value);
    lw_study_destroy(study);
    lw_sweep_destroy(sweep);
    return status;
}

// ----------------------------------------------------------------------------------------- adjoint

// The adjoint's steps of parameters are relative: a value of zero is moved by a millionth of the range.
static double away_from_zero(const lw_response *r, int k, double x)
{
    const double smallest = 1e-6 * (r->upper[k] - r->lower[k]);
    if (fabs(x) >= smallest) return x;
    return x + smallest <= r->upper[k] ? x + smallest : x - smallest;
}

// Are the adjoint's values those of another point?
static bool is_moved(const lw_response *r, const double *x)
{
    for (int k = 0; k < r->nby; k++)
        if (away_from_zero(r, k, x[k]) != x[k]) return true;
    return false;
}

static lw_status remake(lw_response *r, const double *x, lw_model **made, lw_error *error)
{
    const char **set = lwi_allocate(NULL, (size_t)r->nby * sizeof *set);
    char(*text)[320] = lwi_allocate(NULL, (size_t)r->nby * sizeof *text);
    lw_status status = set && text ? LW_OK : no_memory(error);
    for (int k = 0; status == LW_OK && k < r->nby; k++) {
        snprintf(text[k], sizeof text[k], "%.280s=%.17g", r->by[k], away_from_zero(r, k, x[k]));
        set[k] = text[k];
    }
    lw_error reason = {0};
    if (status == LW_OK) {
        status = lw_model_remake(r->model, set, r->nby, NULL, made, &reason);
        if (status != LW_OK) status = fail_design(status, &reason, error);
    }
    lwi_release(NULL, set);
    lwi_release(NULL, text);
    return status;
}

static void take(const lw_response *r, const lw_sensitivity *s, double *value, double *jacobian)
{
    for (int i = 0; i < r->nwanted; i++)
        for (int c = 0; c < lw_sensitivity_columns(s); c++) {
            if (strcmp(lw_sensitivity_column(s, c).name, r->wanted[i].name) != 0) continue;
            const lw_statistic which = r->wanted[i].statistic;
            value[i] = lw_sensitivity_value(s, c, which);
            for (int k = 0; k < r->nby; k++)
                jacobian[(size_t)i * (size_t)r->nby + (size_t)k] =
                    lw_sensitivity_at(s, k, c, which, NULL);
        }
}

static lw_status by_adjoint(lw_response *r, const double *x, double *value, double *jacobian,
                            lw_error *error)
{
    lw_model *model = NULL;
    lw_sensitivity *s = NULL;
    const lw_sensitivity_desc desc = {.options = &r->options,
                                      .nby = r->nby,
                                      .by = r->by,
                                      .columns = r->names,
                                      .method = LW_SENSITIVITY_ADJOINT,
                                      .progress = r->progress,
                                      .progress_user = r->progress_user};
    lw_status status = remake(r, x, &model, error);
    if (status == LW_OK) status = lw_sensitivity_create(model, &desc, &s, error);
    if (status == LW_OK) take(r, s, value, jacobian);
    if (status == LW_OK) r->runs += 2;
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
    return status;
}

// ----------------------------------------------------------------------------------------- forward

// Does it cost less than differences, by the steps of the first run?  The same for any number of threads and lanes.
static bool forward_pays(const lw_response *r)
{
    const double speeds = r->model->tree_nv,
                 steps = 1 + FORWARD_STEP * (double)r->nrow / (double)r->steps,
                 matrices = r->model->nloop + r->model->ncoupling == 0
                                ? FORWARD_MATRICES * speeds * speeds
                                : 0;
    return steps * (FORWARD_RUN + matrices) + FORWARD_PARAMETER * r->nby < 1 + SIDES * r->nby;
}

// Residuals and their derivatives at the rows of the data.
static lw_status take_rows(const lw_response *r, const lwi_adjoint *a, double *value,
                           double *jacobian, lw_error *error)
{
    const size_t n = (size_t)r->nby, m = (size_t)r->ndata;
    for (int i = 0; i < r->ndata; i++) {
        int c = 0;
        while (c < lwi_adjoint_columns(a) &&
               strcmp(lwi_adjoint_column(a, c).name, r->wanted[i].column) != 0)
            c++;
        if (c == lwi_adjoint_columns(a))
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "method forward: column '%.200s' is no function of the state; expected "
                            "method `differences`",
                            r->wanted[i].column);
        for (long row = 0; row < r->nrow; row++) {
            const size_t at = (size_t)row * m + (size_t)i;
            value[at] = r->weight[i] * (lwi_adjoint_row_value(a, row, c) - r->data[at]);
            for (size_t k = 0; k < n; k++)
                jacobian[at * n + k] = r->weight[i] * lwi_adjoint_row_gradient(a, row, c, (int)k);
        }
    }
    return LW_OK;
}

static lw_status by_forward(lw_response *r, const double *x, double *value, double *jacobian,
                            lw_error *error)
{
    lw_model *model = NULL;
    lwi_adjoint *a = NULL;
    const lw_sensitivity_desc desc = {.options = &r->options,
                                      .nby = r->nby,
                                      .by = r->by,
                                      .columns = r->columns,
                                      .method = LW_SENSITIVITY_FORWARD,
                                      .progress = r->progress,
                                      .progress_user = r->progress_user};
    lw_status status = remake(r, x, &model, error);
    if (status == LW_OK)
        status =
            lwi_adjoint_create_rows(model, &desc, LWI_ADJOINT_MEMORY, r->row, r->nrow, &a, error);
    if (status == LW_OK) status = take_rows(r, a, value, jacobian, error);
    if (status == LW_OK) r->runs += 2;
    lwi_adjoint_destroy(a);
    lw_model_destroy(model);
    return status;
}

// ---------------------------------------------------------------------------------------- creation

static lw_status copy(lw_response *r, const lw_response_desc *desc, lw_error *error)
{
    const size_t n = (size_t)desc->nby;
    r->by = LWI_PUSH(&r->arena, const char *, n);
    r->lower = LWI_PUSH(&r->arena, double, n);
    r->upper = LWI_PUSH(&r->arena, double, n);
    r->ends = LWI_PUSH(&r->arena, double, SIDES *n);
    r->values = LWI_PUSH(&r->arena, double, n *(1 + SIDES * n));
    r->wanted = LWI_PUSH(&r->arena, wanted, r->nwanted + r->ndata);
    if (!r->by || !r->lower || !r->upper || !r->ends || !r->values || !r->wanted)
        return no_memory(error);
    for (int i = 0; i < r->nwanted + r->ndata; i++) r->wanted[i] = (wanted){0};
    memcpy(r->lower, desc->lower, n * sizeof *r->lower);
    memcpy(r->upper, desc->upper, n * sizeof *r->upper);
    for (size_t k = 0; k < n; k++)
        if (!(r->by[k] = lwi_arena_text(&r->arena, desc->by[k]))) return no_memory(error);
    for (int k = 0; k < r->nby; k++) TRY(check_range(r, k, error));
    for (int i = 0; i < r->nwanted; i++)
        TRY(parse_wanted(r, desc->wanted[i], &r->wanted[i], error));
    if (desc->data) TRY(read_data(r, desc, error));
    TRY(join_columns(r, error));
    r->result = LWI_PUSH(&r->arena, double, (1 + SIDES * n) * (size_t)count(r));
    return r->result ? LW_OK : no_memory(error);
}

// Are there such columns?  Asked of the model as it is.
static lw_status check_columns(lw_response *r, lw_error *error)
{
    lw_sweep *sweep = NULL;
    lw_study *study = NULL;
    lw_parameter_info p;
    for (int k = 0; k < r->nby; k++)
        if (find(r->model, r->by[k], &p)) r->values[k] = p.value / p.unit_value;
    const lw_status status = run_sweep(r, 1, false, &sweep, &study, error);
    lw_study_destroy(study);
    lw_sweep_destroy(sweep);
    return status;
}

static lw_status check(const lw_response_desc *desc, lw_error *error)
{
    if (desc->nby < 1 || !desc->by || !desc->lower || !desc->upper)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "expected at least one parameter, with its name and range");
    if (desc->nwanted < 0 || (desc->nwanted && !desc->wanted) || (!desc->nwanted && !desc->data))
        return lwi_fail(error, LW_ERR_ARGUMENT, "expected names of measures, or data");
    for (int k = 0; k < desc->nby; k++)
        if (!desc->by[k]) return lwi_fail(error, LW_ERR_ARGUMENT, "parameter %d is NULL", k);
    for (int k = 0; k < desc->nwanted; k++)
        if (!desc->wanted[k]) return lwi_fail(error, LW_ERR_ARGUMENT, "measure %d is NULL", k);
    return LW_OK;
}

static lw_status prepare(lw_response *r, const lw_response_desc *desc, lw_error *error)
{
    lw_options_default(&r->options);
    if (desc->options) r->options = *desc->options;
    r->options.rtol = fmin(r->options.rtol, TOLERANCE);
    r->options.atol = fmin(r->options.atol, TOLERANCE);
    TRY(copy(r, desc, error));
    TRY(check_columns(r, error));
    if (r->method == LW_GRADIENT_ADJOINT && r->ndata)
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "gradient by the adjoint: residuals of data have too many rows; expected "
                        "`forward` or `differences`");
    if (r->method == LW_GRADIENT_FORWARD && (!r->ndata || r->nwanted))
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "gradient by forward sensitivities: expected data, and no measures with "
                        "them; of measures expected `adjoint` or `differences`");
    r->smooth = r->ndata ? !r->nwanted : 10 * r->nby > FEW * (9 + r->nwanted);
    return LW_OK;
}

lw_status lw_response_create(const lw_model *model, const lw_response_desc *desc,
                             lw_response **response, lw_error *error)
{
    if (!model || !response) return lwi_fail(error, LW_ERR_ARGUMENT, "model or response is NULL");
    LWI_DESC(lw_response_desc, desc, error);
    TRY(check(desc, error));
    lw_response *r = lwi_allocate(NULL, sizeof *r);
    if (!r) return no_memory(error);
    *r = (lw_response){.model = model,
                       .nby = desc->nby,
                       .nwanted = desc->nwanted,
                       .ndata = desc->data ? lw_result_column_count(desc->data) - 1 : 0,
                       .nrow = desc->data ? lw_result_row_count(desc->data) : 0,
                       .method = desc->gradient,
                       .progress = desc->progress,
                       .progress_user = desc->progress_user};
    lwi_arena_init(&r->arena, NULL);
    const lw_status status = prepare(r, desc, error);
    if (status == LW_OK)
        *response = r;
    else
        lw_response_destroy(r);
    return status;
}

void lw_response_destroy(lw_response *r)
{
    if (!r) return;
    lwi_arena_free(&r->arena);
    lwi_release(NULL, r);
}

// ------------------------------------------------------------------------------------------ values

int lw_response_count(const lw_response *r)
{
    return r ? count(r) : 0;
}

static const wanted *wanted_of(const lw_response *r, int value)
{
    if (!r || value < 0 || value >= count(r)) return NULL;
    return value < r->nwanted ? &r->wanted[value]
                              : &r->wanted[r->nwanted + (value - r->nwanted) % r->ndata];
}

const char *lw_response_name(const lw_response *r, int value)
{
    const wanted *w = wanted_of(r, value);
    return w ? w->name : "";
}

const char *lw_response_unit(const lw_response *r, int value)
{
    const wanted *w = wanted_of(r, value);
    return w ? w->unit : "";
}

bool lw_response_infeasible(lw_status status)
{
    return status == LW_ERR_MODEL || status == LW_ERR_PARSE || status == LW_ERR_SINGULAR ||
           status == LW_ERR_INTEGRATOR || status == LW_ERR_NOT_FINITE;
}

static lw_status check_point(const lw_response *r, const double *x, lw_error *error)
{
    for (int k = 0; k < r->nby; k++)
        if (!(x[k] >= r->lower[k] && x[k] <= r->upper[k]))
            return lwi_fail(error, LW_ERR_ARGUMENT, "parameter '%s' = %.9g is out of %g:%g",
                            r->by[k], x[k], r->lower[k], r->upper[k]);
    return LW_OK;
}

static lw_status check_finite(const lw_response *r, const double *value, const double *jacobian,
                              lw_error *error)
{
    for (int i = 0; i < count(r); i++)
        if (!isfinite(value[i]))
            return lwi_fail(error, LW_ERR_NOT_FINITE, "'%.200s' is not finite",
                            lw_response_name(r, i));
    for (int i = 0; jacobian && i < count(r) * r->nby; i++)
        if (!isfinite(jacobian[i]))
            return lwi_fail(error, LW_ERR_NOT_FINITE, "'%.200s' by '%s' is not finite",
                            lw_response_name(r, i / r->nby), r->by[i % r->nby]);
    return LW_OK;
}

lw_status lw_response_evaluate(lw_response *r, const double *x, double *value, double *jacobian,
                               lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!r || !x || !value)
        return lwi_fail(error, LW_ERR_ARGUMENT, "response, x and value must be given");
    TRY(check_point(r, x, error));
    const bool forced = r->method == LW_GRADIENT_ADJOINT || r->method == LW_GRADIENT_FORWARD;
    const bool smooth = jacobian && r->method == LW_GRADIENT_AUTO && r->smooth;
    if (smooth && r->ndata && !r->steps) TRY(by_differences(r, x, value, NULL, error));
    if (jacobian && (forced || (smooth && (!r->ndata || forward_pays(r))))) {
        const lw_status status = r->ndata ? by_forward(r, x, value, jacobian, error)
                                          : by_adjoint(r, x, value, jacobian, error);
        if (status == LW_OK) {
            if (is_moved(r, x)) TRY(by_differences(r, x, value, NULL, error));
            r->used = r->ndata ? LW_GRADIENT_FORWARD : LW_GRADIENT_ADJOINT;
            return check_finite(r, value, jacobian, error);
        }
        if (status == LW_ERR_UNSUPPORTED && forced) return status;
        if (status == LW_ERR_UNSUPPORTED)
            r->smooth = false;
        else if (!lw_response_infeasible(status))
            return status;
        // else its variants may have left the range of a parameter that the file gives
    }
    TRY(by_differences(r, x, value, jacobian, error));
    if (jacobian) r->used = LW_GRADIENT_DIFFERENCES;
    return check_finite(r, value, jacobian, error);
}

long lw_response_runs(const lw_response *r)
{
    return r ? r->runs : 0;
}

lw_gradient lw_response_gradient(const lw_response *r)
{
    return r ? r->used : LW_GRADIENT_AUTO;
}
