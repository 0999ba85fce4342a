// sensitivity.c -- derivatives of the results of a run by parameters of the model's file.
//
// Each parameter p is varied by +-h, +-2h, +-3h; all runs are one sweep, in lanes and threads.  With f(k) the result
// of the run at p + k h
//
//     df/dp = (45 (f(1) - f(-1)) - 9 (f(2) - f(-2)) + f(3) - f(-3)) / 60h         order six
//
// and the difference to that of order four, (8 (f(1) - f(-1)) - (f(2) - f(-2))) / 12h, bounds its error where the
// result is smooth.  Variants are whole models: geometry that closes loops is assembled again.
#include "analysis/adjoint.h"
#include "analysis/wanted.h"
#include "base/base.h"
#include "batch/vary.h"
#include "model/impulses.h"

#include <linkwork/analysis.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDES = 6 }; // runs for each parameter

static const double STEP = 1e-3, TOLERANCE = 1e-12;

struct lw_sensitivity {
    lwi_arena arena;
    lwi_adjoint *adjoint; ///< NULL: differences
    lw_sweep *sweep;
    lw_study *study;
    lwi_wanted_list wanted; ///< of the differences
    int nby, columns;
    const char **by;
    double *step, *nominal;            ///< [nby]
    double *values;                    ///< [1 + SIDES nby][nby]
    double rtol, atol;                 ///< of the runs
    char warning[LWI_ADJOINT_WARNING]; ///< of the differences
};

static const int side_of[SIDES] = {-3, -2, -1, 1, 2, 3};

static int instance_of(int parameter, int side)
{
    return 1 + parameter * SIDES + side;
}

static const lw_parameter_info *find(const lw_model *model, const char *name,
                                     lw_parameter_info *found)
{
    for (int i = 0; i < lw_model_parameter_count(model); i++) {
        *found = lw_model_parameter_at(model, i);
        if (!strcmp(found->name, name)) return found;
    }
    return NULL;
}

static lw_status choose_step(const lw_model *model, const lw_sensitivity_desc *desc, int k,
                             lw_sensitivity *s, lw_error *error)
{
    lw_parameter_info p;
    const double relative = desc->step > 0 ? desc->step : STEP;
    if (!find(model, s->by[k], &p)) {
        TRY(lw_vary_check(model, s->by[k], error)); // names the nearest
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "'%s' is no parameter of the model's file; expected a name under `parameters:`",
            s->by[k]);
    }
    s->nominal[k] = p.value / p.unit_value;
    s->step[k] = relative * fabs(s->nominal[k]);
    if (s->step[k] > 0) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "parameter '%s' is 0, so that a relative step gives no other value; expected a "
                    "parameter that is not 0",
                    s->by[k]);
}

static lw_status fill_values(const lw_model *model, const lw_sensitivity_desc *desc,
                             lw_sensitivity *s, lw_error *error)
{
    const int n = s->nby;
    for (int k = 0; k < n; k++) TRY(choose_step(model, desc, k, s, error));
    for (int i = 0; i < 1 + SIDES * n; i++)
        memcpy(s->values + (size_t)i * (size_t)n, s->nominal, (size_t)n * sizeof *s->values);
    for (int k = 0; k < n; k++)
        for (int side = 0; side < SIDES; side++)
            s->values[(size_t)instance_of(k, side) * (size_t)n + (size_t)k] +=
                side_of[side] * s->step[k];
    return LW_OK;
}

static lw_status allocate(const lw_sensitivity_desc *desc, lw_sensitivity *s, lw_error *error)
{
    const size_t n = (size_t)desc->nby;
    s->nby = desc->nby;
    s->by = LWI_PUSH(&s->arena, const char *, n);
    s->step = LWI_PUSH(&s->arena, double, n);
    s->nominal = LWI_PUSH(&s->arena, double, n);
    s->values = LWI_PUSH(&s->arena, double, n *(1 + SIDES * n));
    if (!s->by || !s->step || !s->nominal || !s->values)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
    for (size_t k = 0; k < n; k++) {
        s->by[k] = lwi_arena_text(&s->arena, desc->by[k]);
        if (!s->by[k]) return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------- rows at impacts

// The model with parameter k at its last side; side < 0: at its first.
static lw_status make_side(const lw_model *model, const lw_sensitivity *s, int k, int side,
                           lw_model **varied, lw_error *error)
{
    lwi_vary vary;
    const double value = s->nominal[k] + (side < 0 ? side_of[0] : side_of[SIDES - 1]) * s->step[k];
    TRY(lwi_vary_resolve(model, s->by[k], &vary, error));
    return lwi_vary_model(model, NULL, &vary, 1, &value, NULL, NULL, &s->arena.allocator, varied,
                          error);
}

// A row from a to b; -1: none.
static double row_between(double a, double b, const lw_options *o)
{
    const double row = floor(b / o->sample + 1e-9) * o->sample;
    if (o->duration >= a && o->duration <= b) return o->duration;
    return row >= a - 1e-9 * o->sample && row <= o->duration ? row : -1;
}

// Does an impact pass a row, while the parameter varies?  The row then shows the state before it in some variants, after
// it in others.
static void compare_impacts(lw_sensitivity *s, int k, const lw_model *low, const lw_model *high,
                            const lw_options *o)
{
    double a = lwi_model_next_impact(low, -1).t, b = lwi_model_next_impact(high, -1).t;
    while (fmin(a, b) <= o->duration && fmax(a, b) < INFINITY && !*s->warning) {
        const double row = a == b ? -1 : row_between(fmin(a, b), fmax(a, b), o);
        if (row >= 0)
            snprintf(
                s->warning, sizeof s->warning,
                "parameter '%.60s' moves an impact across the row at t = %.9g s: what this row "
                "shows has no derivative by it, nor have %s; expected rows at other times "
                "(--sample), or method `adjoint`, which takes the state after the impact",
                s->by[k], row,
                row == o->duration ? "the statistics" : "mean, rms, min and max (last has)");
        a = lwi_model_next_impact(low, a).t;
        b = lwi_model_next_impact(high, b).t;
    }
}

// Variants that cannot be made have failed in the sweep.
static void find_moved_impacts(const lw_model *model, const lw_options *o, lw_sensitivity *s)
{
    if (!(o->sample > 0) || !(lwi_model_next_impact(model, -1).t <= o->duration)) return;
    for (int k = 0; k < s->nby && !*s->warning; k++) {
        lw_model *low = NULL, *high = NULL;
        if (make_side(model, s, k, -1, &low, NULL) == LW_OK &&
            make_side(model, s, k, 1, &high, NULL) == LW_OK)
            compare_impacts(s, k, low, high, o);
        lw_model_destroy(low);
        lw_model_destroy(high);
    }
}

// --------------------------------------------------------------------------------------- differences

static const char *column_name(const void *study, int i)
{
    return lw_study_column(study, i).name;
}

static lw_status choose_columns(const lw_model *model, const lw_sensitivity_desc *desc,
                                lw_sensitivity *s, lw_error *error)
{
    TRY(lwi_wanted_read(model, desc->columns, desc->statistic, &s->arena, &s->wanted, error));
    TRY(lw_study_create(s->sweep, s->wanted.patterns, &s->study, error));
    TRY(lwi_wanted_choose(model, lw_study_columns(s->study), column_name, s->study, &s->arena,
                          &s->wanted, error));
    s->columns = s->wanted.n;
    return LW_OK;
}

static lw_status run(const lw_model *model, const lw_sensitivity_desc *desc, lw_sensitivity *s,
                     lw_error *error)
{
    lw_options options;
    lw_options_default(&options);
    if (desc->options) options = *desc->options;
    options.rtol = fmin(options.rtol, TOLERANCE);
    options.atol = fmin(options.atol, TOLERANCE);
    s->rtol = options.rtol, s->atol = options.atol;
    const lw_batch_desc batch = {.options = &options,
                                 .instances = 1 + SIDES * s->nby,
                                 .threads = (int)options.threads,
                                 .nvary = s->nby,
                                 .vary = s->by,
                                 .values = s->values};
    TRY(lw_sweep_create(model, &batch, &s->sweep, error));
    TRY(choose_columns(model, desc, s, error));
    const lw_status status =
        lw_sweep_run(s->sweep, lw_study_row, s->study, desc->progress, desc->progress_user);
    if (status != LW_OK) return lwi_fail(error, status, "%s", lw_sweep_error(s->sweep)->text);
    find_moved_impacts(model, &options, s);
    if (lw_sweep_status(s->sweep, 0) == LW_OK) return LW_OK;
    return lwi_fail(error, lw_sweep_status(s->sweep, 0), "%s", lw_sweep_failure(s->sweep, 0));
}

lw_status lw_sensitivity_create(const lw_model *model, const lw_sensitivity_desc *desc,
                                lw_sensitivity **sensitivity, lw_error *error)
{
    if (!model || !sensitivity)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model or sensitivity is NULL");
    LWI_DESC(lw_sensitivity_desc, desc, error);
    if (desc->nby < 1 || !desc->by)
        return lwi_fail(error, LW_ERR_ARGUMENT, "sensitivity: expected at least one parameter");
    if ((int)desc->statistic < 0 || desc->statistic >= LW_STATISTIC_COUNT)
        return lwi_fail(error, LW_ERR_ARGUMENT, "sensitivity: statistic %d is none",
                        (int)desc->statistic);
    for (int k = 0; k < desc->nby; k++) {
        if (!desc->by[k])
            return lwi_fail(error, LW_ERR_ARGUMENT, "sensitivity: parameter %d is NULL", k);
        for (int i = 0; i < k; i++)
            if (!strcmp(desc->by[i], desc->by[k]))
                return lwi_fail(error, LW_ERR_ARGUMENT,
                                "parameter '%s' is given twice; expected once", desc->by[k]);
    }
    lw_sensitivity *s = lwi_allocate(NULL, sizeof *s);
    if (!s) return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
    *s = (lw_sensitivity){0};
    lwi_arena_init(&s->arena, NULL);
    lw_status status = allocate(desc, s, error);
    if (desc->method != LW_SENSITIVITY_DIFFERENCES) {
        if (status == LW_OK)
            status = lwi_adjoint_create(model, desc, LWI_ADJOINT_MEMORY, &s->adjoint, error);
        if (s->adjoint) lwi_adjoint_tolerances(s->adjoint, &s->rtol, &s->atol);
        s->columns = s->adjoint ? lwi_adjoint_columns(s->adjoint) : 0;
    } else {
        if (status == LW_OK) status = fill_values(model, desc, s, error);
        if (status == LW_OK) status = run(model, desc, s, error);
    }
    if (status != LW_OK) {
        lw_sensitivity_destroy(s);
        return status;
    }
    *sensitivity = s;
    return LW_OK;
}

void lw_sensitivity_destroy(lw_sensitivity *s)
{
    if (!s) return;
    const lw_allocator allocator = s->arena.allocator;
    lwi_adjoint_destroy(s->adjoint);
    lw_study_destroy(s->study);
    lw_sweep_destroy(s->sweep);
    lwi_arena_free(&s->arena);
    lwi_release(&allocator, s);
}

// ------------------------------------------------------------------------------------------ results

int lw_sensitivity_parameters(const lw_sensitivity *s)
{
    return s ? s->nby : 0;
}

const char *lw_sensitivity_parameter(const lw_sensitivity *s, int parameter)
{
    return s && parameter >= 0 && parameter < s->nby ? s->by[parameter] : "";
}

int lw_sensitivity_columns(const lw_sensitivity *s)
{
    return s ? s->columns : 0;
}

lw_column_info lw_sensitivity_column(const lw_sensitivity *s, int column)
{
    if (!s) return (lw_column_info){0};
    if (column < 0 || column >= s->columns) return (lw_column_info){"", "", "", 0};
    if (s->adjoint) return lwi_adjoint_column(s->adjoint, column);
    lw_column_info info = lw_study_column(s->study, s->wanted.at[column].column);
    info.name = s->wanted.at[column].name;
    return info;
}

lw_statistic lw_sensitivity_statistic(const lw_sensitivity *s, int column)
{
    if (!s || column < 0 || column >= s->columns) return LW_STATISTIC_COUNT;
    return s->adjoint ? lwi_adjoint_statistic(s->adjoint, column) : s->wanted.at[column].statistic;
}

static double pick(const lw_statistics *of, lw_statistic which)
{
    switch (which) {
    case LW_STATISTIC_LAST:
        return of->last;
    case LW_STATISTIC_MEAN:
        return of->mean;
    case LW_STATISTIC_RMS:
        return of->rms;
    case LW_STATISTIC_MIN:
        return of->min;
    case LW_STATISTIC_MAX:
        return of->max;
    case LW_STATISTIC_COUNT:
        break;
    }
    return NAN;
}

static double result_at(const lw_sensitivity *s, int instance, int column, lw_statistic which)
{
    if (lw_sweep_status(s->sweep, instance) != LW_OK) return NAN;
    const lw_statistics of = lw_study_statistics(s->study, instance, s->wanted.at[column].column);
    return pick(&of, which);
}

double lw_sensitivity_value(const lw_sensitivity *s, int column, lw_statistic which)
{
    if (!s || column < 0 || column >= s->columns) return NAN;
    if (s->adjoint)
        return which == lwi_adjoint_statistic(s->adjoint, column)
                   ? lwi_adjoint_value(s->adjoint, column)
                   : NAN;
    return result_at(s, 0, column, which);
}

double lw_sensitivity_at(const lw_sensitivity *s, int parameter, int column, lw_statistic which,
                         double *error)
{
    if (error) *error = NAN;
    if (!s || parameter < 0 || parameter >= s->nby || column < 0 || column >= s->columns)
        return NAN;
    if (s->adjoint)
        return which == lwi_adjoint_statistic(s->adjoint, column)
                   ? lwi_adjoint_gradient(s->adjoint, column, parameter)
                   : NAN;
    double f[SIDES], change[3];
    for (int side = 0; side < SIDES; side++)
        f[side] = result_at(s, instance_of(parameter, side), column, which);
    for (int k = 0; k < 3; k++) change[k] = f[3 + k] - f[2 - k];
    const double h = s->step[parameter];
    const double six = (45 * change[0] - 9 * change[1] + change[2]) / (60 * h);
    const double four = (8 * change[0] - change[1]) / (12 * h);
    if (error) *error = fabs(six - four);
    return six;
}

void lw_sensitivity_tolerances(const lw_sensitivity *s, double *rtol, double *atol)
{
    if (!s || !rtol || !atol) return;
    *rtol = s->rtol, *atol = s->atol;
}

const char *lw_sensitivity_failure(const lw_sensitivity *s, int parameter)
{
    if (!s || parameter < 0 || parameter >= s->nby || s->adjoint) return "";
    for (int side = 0; side < SIDES; side++) {
        const int i = instance_of(parameter, side);
        if (lw_sweep_status(s->sweep, i) != LW_OK) return lw_sweep_failure(s->sweep, i);
    }
    return "";
}

const char *lw_sensitivity_warning(const lw_sensitivity *s)
{
    if (!s) return "";
    return s->adjoint ? lwi_adjoint_warning(s->adjoint) : s->warning;
}
