// precision.c -- work-precision diagram: error and cost of several results of one model.
//
// The error is the largest difference of a mass centre's coordinate in any row, relative to the largest such
// coordinate of the reference.
#include "plot/precision.h"

#include "io/result/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Times are equal if they differ by no more than this fraction of the last one.
static const double same_time = 1e-9;

typedef struct study {
    lw_result *const *result;
    const char *const *name;
    int count, reference;
    long rows;
    double *exact, *own; // [rows]
    double scale;
    lw_precision *out; // [count]
    lw_error *error;
} study;

// ------------------------------------------------------------------------------------------ refusal

static lw_status check_result(const study *s, int r)
{
    const lw_options *options = lw_result_options(s->result[r]);
    const char *name = s->name[r], *model = lw_result_model(s->result[r]);
    if (!options || !lw_result_summary(s->result[r]))
        return lwi_fail(
            s->error, LW_ERR_ARGUMENT,
            "%s: has no record of the cost of the run; expected the HDF5 result of a finished run",
            name);
    const char *first = lw_result_model(s->result[0]);
    if (r > 0 && model && first && strcmp(model, first) != 0)
        return lwi_fail(s->error, LW_ERR_ARGUMENT,
                        "%s: is of another model than %s; expected results of one model", name,
                        s->name[0]);
    const long rows = lw_result_row_count(s->result[r]),
               expected = lw_result_row_count(s->result[0]);
    if (rows > 0 && rows == expected) return LW_OK;
    return lwi_fail(s->error, LW_ERR_ARGUMENT,
                    "%s has %ld rows, %s %ld; expected runs of one duration and --sample", name,
                    rows, s->name[0], expected);
}

static lw_status check_times(const study *s, int r)
{
    int column;
    TRY(lw_result_find_column(s->result[0], "time", &column, s->error));
    TRY(lw_result_read(s->result[0], column, 0, s->rows, s->exact, s->error));
    TRY(lw_result_find_column(s->result[r], "time", &column, s->error));
    TRY(lw_result_read(s->result[r], column, 0, s->rows, s->own, s->error));
    const double slack = same_time * fabs(s->exact[s->rows - 1]);
    for (long k = 0; k < s->rows; k++)
        if (!(fabs(s->own[k] - s->exact[k]) <= slack))
            return lwi_fail(
                s->error, LW_ERR_ARGUMENT,
                "%s: row %ld is at %.9g s, that of %s at %.9g s; expected rows at the same times",
                s->name[r], k, s->own[k], s->name[0], s->exact[k]);
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- error

static bool is_position(const char *column)
{
    const lwi_quantity *q = lwi_result_column_quantity(column);
    return q && q->subject == LWI_RESULT_BODY && q->level == LW_OBSERVE_POSE && !q->quaternion;
}

// Updates the errors and the scale by one column.
static lw_status compare_column(study *s, const char *name)
{
    int column;
    TRY(lw_result_find_column(s->result[s->reference], name, &column, s->error));
    TRY(lw_result_read(s->result[s->reference], column, 0, s->rows, s->exact, s->error));
    for (long k = 0; k < s->rows; k++) s->scale = fmax(s->scale, fabs(s->exact[k]));
    for (int r = 0; r < s->count; r++) {
        if (r == s->reference) continue;
        TRY(lw_result_find_column(s->result[r], name, &column, s->error));
        TRY(lw_result_read(s->result[r], column, 0, s->rows, s->own, s->error));
        for (long k = 0; k < s->rows; k++)
            s->out[r].error = fmax(s->out[r].error, fabs(s->own[k] - s->exact[k]));
    }
    return LW_OK;
}

static lw_status compare(study *s)
{
    lw_result *reference = s->result[s->reference];
    int positions = 0;
    for (int r = 0; r < s->count; r++) {
        const lw_options *o = lw_result_options(s->result[r]);
        const lw_summary *summary = lw_result_summary(s->result[r]);
        lw_precision *p = &s->out[r];
        *p = (lw_precision){.tolerance = fmax(o->rtol, o->atol),
                            .evaluations = summary->evaluations,
                            .steps = summary->steps,
                            .wall = summary->wall,
                            .reference = r == s->reference};
        snprintf(p->method, sizeof p->method, "%s, %s", o->formulation, o->integrator);
    }
    for (int i = 0; i < lw_result_column_count(reference); i++) {
        const char *name = lw_result_column(reference, i).name;
        if (!is_position(name)) continue;
        positions++;
        TRY(compare_column(s, name));
    }
    if (!positions)
        return lwi_fail(s->error, LW_ERR_ARGUMENT, "%s has no positions of bodies",
                        s->name[s->reference]);
    for (int r = 0; r < s->count && s->scale > 0; r++) s->out[r].error /= s->scale;
    return LW_OK;
}

// The result with the lowest tolerances; among equal ones that with the most evaluations.
static int tightest(const study *s)
{
    int best = 0;
    for (int r = 1; r < s->count; r++) {
        const lw_options *a = lw_result_options(s->result[r]),
                         *b = lw_result_options(s->result[best]);
        const double mine = a->rtol + a->atol, lowest = b->rtol + b->atol;
        const bool more = lw_result_summary(s->result[r])->evaluations >
                          lw_result_summary(s->result[best])->evaluations;
        if (mine < lowest || (mine == lowest && more)) best = r;
    }
    return best;
}

static lw_status find_reference(study *s, const char *reference)
{
    s->reference = -1;
    for (int r = 0; r < s->count && reference; r++)
        if (!strcmp(s->name[r], reference)) s->reference = r;
    if (!reference) s->reference = tightest(s);
    if (s->reference >= 0) return LW_OK;
    const char *nearest = lwi_nearest(reference, s->name, s->count);
    return lwi_fail(s->error, LW_ERR_ARGUMENT, "reference: '%s' is not one of the results%s%s",
                    reference, nearest ? ", did you mean " : "", nearest ? nearest : "");
}

static lw_status evaluate(study *s, const char *reference)
{
    for (int r = 0; r < s->count; r++) TRY(check_result(s, r));
    for (int r = 1; r < s->count; r++) TRY(check_times(s, r));
    TRY(find_reference(s, reference));
    return compare(s);
}

lw_status lw_work_precision(lw_result *const *results, const char *const *names, int count,
                            const char *reference, lw_precision *precision, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!results || !names || !precision || count < 2)
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "work-precision compares several results, at least two; one of them is taken as exact");
    study s = {.result = results, .name = names, .count = count, .out = precision, .error = error};
    s.rows = lw_result_row_count(results[0]);
    s.exact = malloc((size_t)(s.rows + 1) * sizeof *s.exact);
    s.own = malloc((size_t)(s.rows + 1) * sizeof *s.own);
    const lw_status status = s.exact && s.own
                                 ? evaluate(&s, reference)
                                 : lwi_fail(error, LW_ERR_MEMORY, "no memory for rows");
    free(s.exact);
    free(s.own);
    return status;
}

// ------------------------------------------------------------------------------------------ picture

typedef struct point {
    double x, y;
} point;

static int by_x(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

// A line through the points of one method, and a dot on each.
static lw_status add_method(const lw_precision *all, int count, const char *method, bool wall,
                            lwi_plot_style style, lwi_arena *arena, lwi_plot_panel *panel)
{
    point *sorted = LWI_PUSH(arena, point, count);
    double *x = LWI_PUSH(arena, double, count), *y = LWI_PUSH(arena, double, count);
    int n = 0;
    if (!sorted || !x || !y) return LW_ERR_MEMORY;
    for (int r = 0; r < count; r++)
        if (!all[r].reference && !strcmp(all[r].method, method))
            sorted[n++] = (point){wall ? all[r].wall : (double)all[r].evaluations, all[r].error};
    qsort(sorted, (size_t)n, sizeof *sorted, by_x);
    for (int i = 0; i < n; i++) x[i] = sorted[i].x, y[i] = sorted[i].y;
    panel->curve[panel->ncurve++] = (lwi_plot_curve){.x = x, .y = y, .n = n, .style = style};
    for (int i = 0; i < n; i++)
        panel->curve[panel->ncurve++] =
            (lwi_plot_curve){.x = x + i, .y = y + i, .n = 1, .style = style};
    panel->key[panel->nkey++] = (lwi_plot_figure_key){method, style};
    return LW_OK;
}

static lw_status fill_panel(const lw_precision *all, int count, bool wall,
                            const lwi_plot_theme *theme, lwi_arena *arena, lwi_plot_panel *panel)
{
    *panel = (lwi_plot_panel){.title = "error of positions",
                              .unit = "1",
                              .x_title = wall ? "wall time" : "evaluations",
                              .x_unit = wall ? "s" : "1",
                              .log = true,
                              .log_x = true,
                              .loose = true,
                              .curve = LWI_PUSH(arena, lwi_plot_curve, 2 * count),
                              .key = LWI_PUSH(arena, lwi_plot_figure_key, count)};
    int methods = 0, *first = LWI_PUSH(arena, int, count);
    if (!panel->curve || !panel->key || !first) return LW_ERR_MEMORY;
    for (int r = 0; r < count; r++) {
        bool seen = all[r].reference;
        for (int i = 0; i < methods && !seen; i++)
            seen = !strcmp(all[first[i]].method, all[r].method);
        if (!seen) first[methods++] = r;
    }
    for (int i = 0; i < methods; i++)
        TRY(add_method(all, count, all[first[i]].method, wall,
                       (lwi_plot_style){.colour = lwi_plot_curve_colour(theme, i, methods)}, arena,
                       panel));
    return LW_OK;
}

lw_status lwi_plot_precision_figure(lw_result *const *results, const char *const *names, int count,
                                    const char *reference, lwi_arena *arena,
                                    lwi_plot_figure *figure, lw_error *error)
{
    lw_precision *all = LWI_PUSH(arena, lw_precision, count);
    figure->panel = LWI_PUSH(arena, lwi_plot_panel, 2);
    if (!all || !figure->panel) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    TRY(lw_work_precision(results, names, count, reference, all, error));
    figure->npanel = figure->columns = 2;
    figure->shared_x = false;
    for (int i = 0; i < 2; i++)
        if (fill_panel(all, count, i == 1, &figure->theme, arena, &figure->panel[i]) != LW_OK)
            return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    return LW_OK;
}
