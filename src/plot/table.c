// table.c -- lw_plot_table: pictures of the table of a study.
//
//   x, y            points, or a line where one quantity varies
//   x, y, by        a line for every value of `by`
//   x, y, z         colours: tiles of a grid, or points
//   tornado         by how much each quantity moves y: bars of a linear model fitted to all variants
#include "base/assert.h"
#include "batch/table.h"
#include "io/text.h"
#include "plot/derived.h"
#include "plot/figure.h"
#include "plot/options.h"
#include "plot/select.h"
#include "plot/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FAMILIES = 200, MAX_BARS = 40 };

typedef struct plotting {
    const lw_table *table;
    const char *name;
    lw_plot_options options; // x is set
    lwi_arena arena;
    lwi_plot_table columns; // and formulas of them
    double **made;          // [formulas][rows] their values
    int first, last;        // columns that vary: from first to before last
    int end;                // statistics: from last to before end
    lwi_plot_selection selection;
    lwi_plot_figure figure;
    lw_error *error;
} plotting;

static lw_status no_memory(const plotting *p)
{
    return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for a picture");
}

static double at(const plotting *p, int row, int column)
{
    const int stored = p->table->columns;
    return column < stored ? lwi_table_row(p->table, row)[column] : p->made[column - stored][row];
}

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n > m && !strcmp(name + n - m, ending);
}

// Between the number of the instance and the first statistic.
static void find_varied(plotting *p)
{
    const lw_table *t = p->table;
    p->first = t->columns && !strcmp(t->name[0], "instance");
    p->last = p->first;
    while (p->last < t->columns && !ends_in(t->name[p->last], ".min") &&
           strcmp(t->name[p->last], "end") != 0)
        p->last++;
    p->end = p->last;
    while (p->end < t->columns && strcmp(t->name[p->end], "end") != 0) p->end++;
}

// Statistics of a failed variant are those until it failed, which cannot be compared with others.
static bool is_lost(const plotting *p, int row, int column)
{
    const lw_table *t = p->table;
    const bool statistic = column >= p->last && column < p->end;
    return (statistic || column >= t->columns) && t->text && *t->text[row];
}

static lw_status find_column(const plotting *p, const char *name, int *column)
{
    const lw_table *t = p->table;
    for (*column = 0; *column < p->columns.n; ++*column)
        if (!strcmp(p->columns.info[*column].name, name)) return LW_OK;
    const char *nearest = lwi_nearest(name, t->name, t->columns);
    return lwi_fail(p->error, LW_ERR_ARGUMENT, "%s has no column '%.100s'%s%s%s", p->name, name,
                    nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

// ------------------------------------------------------------------------------------------ values

// A column in the units of the picture; statistics of failed variants are not known.
static lw_status read_column(plotting *p, int column, const char **unit, double **values)
{
    double factor;
    *unit = lwi_plot_units_find(p->options.units, p->columns.info[column].unit, &p->arena, &factor);
    *values = LWI_PUSH(&p->arena, double, p->table->rows);
    if (!*unit || !*values) return no_memory(p);
    for (int i = 0; i < p->table->rows; i++)
        (*values)[i] = is_lost(p, i, column) ? NAN : factor * at(p, i, column);
    return LW_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The different finite values in increasing order.
static lw_status distinct(plotting *p, const double *values, double **list, int *n)
{
    double *sorted = *list = LWI_PUSH(&p->arena, double, p->table->rows);
    if (!sorted) return no_memory(p);
    int count = 0;
    for (int i = 0; i < p->table->rows; i++)
        if (isfinite(values[i])) sorted[count++] = values[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    *n = 0;
    for (int i = 0; i < count; i++)
        if (i == 0 || sorted[i] > sorted[*n - 1]) sorted[(*n)++] = sorted[i];
    return LW_OK;
}

typedef struct point {
    double x, y;
} point;

static int by_x(const void *a, const void *b)
{
    return by_value(&((const point *)a)->x, &((const point *)b)->x);
}

// ------------------------------------------------------------------------- points, lines, families

// The points with `group` equal to `value` (NULL: all), by x.
static lw_status add_curve(plotting *p, lwi_plot_panel *panel, const double *x, const double *y,
                           const double *group, double value, lwi_plot_style style, bool marks)
{
    const int rows = p->table->rows;
    point *list = LWI_PUSH(&p->arena, point, rows);
    double *cx = LWI_PUSH(&p->arena, double, rows), *cy = LWI_PUSH(&p->arena, double, rows);
    if (!list || !cx || !cy) return no_memory(p);
    int n = 0;
    for (int i = 0; i < rows; i++)
        if (isfinite(x[i]) && isfinite(y[i]) && (!group || group[i] == value))
            list[n++] = (point){x[i], y[i]};
    qsort(list, (size_t)n, sizeof *list, by_x);
    for (int i = 0; i < n; i++) cx[i] = list[i].x, cy[i] = list[i].y;
    panel->curve[panel->ncurve++] =
        (lwi_plot_curve){.x = cx, .y = cy, .n = n, .style = style, .marks = marks};
    return LW_OK;
}

static lw_status add_key(plotting *p, lwi_plot_panel *panel, const char *name, double value,
                         const char *unit, lwi_plot_style style)
{
    const size_t size = strlen(name) + strlen(unit) + 48;
    char *text = LWI_PUSH(&p->arena, char, size);
    if (!text) return no_memory(p);
    snprintf(text, size, "%s%s%.5g%s%s", name, *name ? " = " : "", value, *unit ? " " : "",
             strcmp(unit, "1") ? unit : "");
    panel->key[panel->nkey++] = (lwi_plot_figure_key){text, style};
    return LW_OK;
}

static lw_status room_for(plotting *p, lwi_plot_panel *panel, int curves)
{
    panel->curve = LWI_PUSH(&p->arena, lwi_plot_curve, curves);
    panel->key = LWI_PUSH(&p->arena, lwi_plot_figure_key, curves + 2);
    return panel->curve && panel->key ? LW_OK : no_memory(p);
}

static lw_status fill_families(plotting *p, lwi_plot_panel *panel, const double *x, const double *y,
                               int by)
{
    const char *unit;
    double *group, *value;
    int n;
    TRY(read_column(p, by, &unit, &group));
    TRY(distinct(p, group, &value, &n));
    if (n > MAX_FAMILIES)
        return lwi_fail(p->error, LW_ERR_ARGUMENT,
                        "by: %.100s has %d different values, expected at most %d",
                        p->columns.info[by].name, n, MAX_FAMILIES);
    TRY(room_for(p, panel, n));
    for (int k = 0; k < n; k++) {
        const lwi_plot_style style = {.colour = lwi_plot_curve_colour(&p->figure.theme, k, n)};
        TRY(add_curve(p, panel, x, y, group, value[k], style, false));
        TRY(add_key(p, panel, k ? "" : p->columns.info[by].name, value[k], unit, style));
    }
    return LW_OK;
}

// A line where x alone varies, else points.
static bool is_line(const plotting *p, int x)
{
    return p->last - p->first == 1 && x == p->first;
}

static lw_status fill_points(plotting *p, const lwi_plot_choice *choice, lwi_plot_panel *panel,
                             const double *x)
{
    const int n = choice->nquantity;
    TRY(room_for(p, panel, n));
    for (int k = 0; k < n; k++) {
        const char *unit;
        double *y;
        const lwi_plot_style style = {.colour = lwi_plot_curve_colour(&p->figure.theme, k, n)};
        TRY(read_column(p, choice->quantity[k].column[0], &unit, &y));
        if (k > 0 && strcmp(unit, panel->unit) != 0) unit = "";
        panel->unit = unit;
        TRY(add_curve(p, panel, x, y, NULL, 0, style, !is_line(p, choice->x)));
        if (n > 1)
            panel->key[panel->nkey++] = (lwi_plot_figure_key){choice->quantity[k].name, style};
    }
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- colours

// Ends of tile k of n along an axis: half way to its neighbours.
static void tile_ends(const double *value, int n, int k, double *lo, double *hi)
{
    const double before = k ? value[k] - value[k - 1] : n > 1 ? value[1] - value[0] : 1;
    const double after = k < n - 1 ? value[k + 1] - value[k] : before;
    *lo = value[k] - before / 2;
    *hi = value[k] + after / 2;
}

// Tiles, if every pair of values has one variant; *done is then set.
static lw_status fill_tiles(plotting *p, lwi_plot_panel *panel, const double *x, const double *y,
                            const lwi_plot_colour *colour, bool *done)
{
    double *xs, *ys;
    int nx, ny;
    const int rows = p->table->rows;
    TRY(distinct(p, x, &xs, &nx));
    TRY(distinct(p, y, &ys, &ny));
    *done = false;
    if (nx < 2 || ny < 2 || (double)nx * ny != rows) return LW_OK;
    bool *taken = LWI_PUSH(&p->arena, bool, rows);
    panel->tile = LWI_PUSH(&p->arena, lwi_plot_tile, rows);
    if (!taken || !panel->tile) return no_memory(p);
    for (int i = 0; i < rows; i++) {
        const double *kx = bsearch(&x[i], xs, (size_t)nx, sizeof *xs, by_value);
        const double *ky = bsearch(&y[i], ys, (size_t)ny, sizeof *ys, by_value);
        if (!kx || !ky || taken[(kx - xs) * ny + (ky - ys)]) return LW_OK;
        taken[(kx - xs) * ny + (ky - ys)] = true;
        lwi_plot_tile *c = &panel->tile[i];
        tile_ends(xs, nx, (int)(kx - xs), &c->x0, &c->x1);
        tile_ends(ys, ny, (int)(ky - ys), &c->y0, &c->y1);
        c->colour = colour[i];
    }
    panel->ntile = rows;
    *done = true;
    return LW_OK;
}

static lw_status fill_colours(plotting *p, lwi_plot_panel *panel, const double *x, const double *y,
                              int z_column)
{
    const char *unit;
    double *z;
    bool tiles;
    const int rows = p->table->rows;
    lwi_plot_colour *colour = LWI_PUSH(&p->arena, lwi_plot_colour, rows);
    lwi_plot_colour_bar *bar = LWI_PUSH(&p->arena, lwi_plot_colour_bar, 1);
    if (!colour || !bar) return no_memory(p);
    TRY(read_column(p, z_column, &unit, &z));
    *bar = (lwi_plot_colour_bar){p->columns.info[z_column].name, unit, lwi_plot_range_empty()};
    for (int i = 0; i < rows; i++)
        if (lwi_plot_plottable(z[i])) lwi_plot_range_add(&bar->range, z[i]);
    if (lwi_plot_range_is_empty(&bar->range))
        return lwi_fail(p->error, LW_ERR_ARGUMENT, "z: %.100s has no numbers",
                        p->columns.info[z_column].name);
    const lwi_plot_axis axis = lwi_plot_axis_fit(bar->range, false, 0, 2); // that of the bar
    for (int i = 0; i < rows; i++)
        colour[i] = lwi_plot_plottable(z[i])
                        ? lwi_plot_scale_colour(&p->figure.theme, lwi_plot_axis_at(&axis, z[i]))
                        : p->figure.theme.grid;
    TRY(room_for(p, panel, 1));
    TRY(fill_tiles(p, panel, x, y, colour, &tiles));
    if (!tiles) {
        panel->curve[0] =
            (lwi_plot_curve){.x = x, .y = y, .n = rows, .marks = true, .colour = colour};
        panel->ncurve = 1;
        panel->ntile = 0;
    }
    panel->bar = bar;
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- tornado

typedef struct bar {
    int column;
    double low,
        high; // y of the linear model where the quantity is at its ends, the others in their middle
} bar;

static int by_length(const void *a, const void *b)
{
    const bar *x = a, *y = b;
    const double dx = fabs(x->high - x->low), dy = fabs(y->high - y->low);
    return dx < dy ? -1 : dx > dy ? 1 : y->column - x->column;
}

// Least squares of y over the n columns of X [rows][n + 1], the last of them y: by reflections of Householder, then back
// substitution; coefficients of columns that depend on others are 0.
static void fit(double *X, int rows, int n, double *coefficient)
{
    const int w = n + 1;
    for (int k = 0; k < n && k < rows; k++) {
        double size = 0;
        for (int i = k; i < rows; i++) size += X[i * w + k] * X[i * w + k];
        size = sqrt(size);
        if (!(size > 0)) continue;
        const double alpha = X[k * w + k] > 0 ? -size : size;
        const double head = X[k * w + k] - alpha, scale = -1 / (alpha * head);
        for (int j = k + 1; j < w; j++) {
            double sum = head * X[k * w + j];
            for (int i = k + 1; i < rows; i++) sum += X[i * w + k] * X[i * w + j];
            sum *= scale;
            X[k * w + j] -= sum * head;
            for (int i = k + 1; i < rows; i++) X[i * w + j] -= sum * X[i * w + k];
        }
        X[k * w + k] = alpha;
    }
    double largest = 0;
    for (int k = 0; k < n && k < rows; k++) largest = fmax(largest, fabs(X[k * w + k]));
    for (int k = n - 1; k >= 0; k--) {
        double sum = k < rows ? X[k * w + n] : 0;
        for (int j = k + 1; j < n && k < rows; j++) sum -= X[k * w + j] * coefficient[j];
        const bool known = k < rows && fabs(X[k * w + k]) > 1e-10 * largest;
        coefficient[k] = known ? sum / X[k * w + k] : 0;
    }
}

typedef struct model {
    int n;
    double *lo, *hi, *coefficient; // [n], coefficients of (x - middle) / (hi - lo)
    double constant, explained;    // part of the variance; NAN: there is none
} model;

// The effects of quantities that vary together cannot be separated. Columns of X have lengths of 0.7 at least, and what is
// left of them without those before them is on the diagonal of its factor.
static lw_status check_apart(const plotting *p, const double *X, const model *m)
{
    for (int k = 0; k < m->n; k++)
        if (m->hi[k] > m->lo[k] && !(fabs(X[(1 + k) * (m->n + 2) + 1 + k]) > 1e-8))
            return lwi_fail(
                p->error, LW_ERR_ARGUMENT,
                "tornado: '%.120s' is a linear function of what varies before it in all completed "
                "variants; expected variants in which each quantity varies by itself",
                p->columns.info[p->first + k].name);
    return LW_OK;
}

static lw_status fit_model(plotting *p, const double *y, model *m)
{
    const int n = m->n = p->last - p->first, w = n + 2;
    double *X = LWI_PUSH(&p->arena, double, (size_t)p->table->rows *(size_t)w);
    double *b = LWI_PUSH(&p->arena, double, n + 1);
    m->lo = LWI_PUSH(&p->arena, double, n);
    m->hi = LWI_PUSH(&p->arena, double, n);
    if (!X || !b || !m->lo || !m->hi) return no_memory(p);
    for (int k = 0; k < n; k++) m->lo[k] = INFINITY, m->hi[k] = -INFINITY;
    int rows = 0;
    double sum = 0, squares = 0, left = 0, largest = 0;
    for (int i = 0; i < p->table->rows; i++) {
        if (!isfinite(y[i])) continue; // failed
        for (int k = 0; k < n; k++) {
            m->lo[k] = fmin(m->lo[k], at(p, i, p->first + k));
            m->hi[k] = fmax(m->hi[k], at(p, i, p->first + k));
        }
        sum += y[i];
        largest = fmax(largest, fabs(y[i]));
        rows++;
    }
    if (rows < n + 1)
        return lwi_fail(p->error, LW_ERR_ARGUMENT,
                        "tornado: %d variants were completed and %d quantities vary; expected more "
                        "variants",
                        rows, n);
    int at_row = 0;
    for (int i = 0; i < p->table->rows; i++) {
        if (!isfinite(y[i])) continue;
        double *row = X + (size_t)at_row++ * (size_t)w;
        row[0] = 1;
        for (int k = 0; k < n; k++) {
            const double length = m->hi[k] - m->lo[k];
            row[1 + k] =
                length > 0 ? (at(p, i, p->first + k) - (m->lo[k] + m->hi[k]) / 2) / length : 0;
        }
        row[n + 1] = y[i];
        squares += pow(y[i] - sum / rows, 2);
    }
    fit(X, rows, n + 1, b);
    TRY(check_apart(p, X, m));
    for (int i = n + 1; i < rows; i++) left += pow(X[(size_t)i * (size_t)w + (size_t)n + 1], 2);
    m->constant = b[0];
    m->coefficient = b + 1;
    m->explained = squares > rows * pow(1e-14 * largest, 2) ? 1 - left / squares : NAN;
    return LW_OK;
}

static lw_status label_bar(plotting *p, const bar *b, const model *m, const char **label)
{
    double factor;
    const int k = b->column - p->first;
    const char *unit =
        lwi_plot_units_find(p->options.units, p->columns.info[b->column].unit, &p->arena, &factor);
    char *text = LWI_PUSH(&p->arena, char, 400);
    if (!unit || !text) return no_memory(p);
    snprintf(text, 400, "%.200s  %.4g to %.4g%s%.60s", p->columns.info[b->column].name,
             factor * m->lo[k], factor * m->hi[k], *unit && strcmp(unit, "1") ? " " : "",
             strcmp(unit, "1") ? unit : "");
    *label = text;
    return LW_OK;
}

static lw_status fill_tornado(plotting *p, int column, lwi_plot_panel *panel)
{
    double *y;
    model m = {0};
    const char *unit;
    TRY(read_column(p, column, &unit, &y));
    if (p->last == p->first)
        return lwi_fail(p->error, LW_ERR_ARGUMENT, "tornado: nothing varies in %s", p->name);
    TRY(fit_model(p, y, &m));
    bar *bars = LWI_PUSH(&p->arena, bar, m.n);
    char *title = LWI_PUSH(&p->arena, char, 300);
    if (!bars || !title) return no_memory(p);
    for (int k = 0; k < m.n; k++)
        bars[k] = (bar){p->first + k, m.constant - m.coefficient[k] / 2,
                        m.constant + m.coefficient[k] / 2};
    qsort(bars, (size_t)m.n, sizeof *bars, by_length);
    const int shown = m.n < MAX_BARS ? m.n : MAX_BARS;
    if (isnan(m.explained))
        snprintf(title, 300, "the same in all completed variants");
    else
        snprintf(title, 300, "linear model, %.3g %% of the variance", 100 * m.explained);
    *panel = (lwi_plot_panel){.title = title,
                              .unit = "",
                              .x_title = p->columns.info[column].name,
                              .x_unit = unit,
                              .loose = true,
                              .tile = LWI_PUSH(&p->arena, lwi_plot_tile, 2 * shown),
                              .category = LWI_PUSH(&p->arena, const char *, shown),
                              .ncategory = shown};
    if (!panel->tile || !panel->category) return no_memory(p);
    TRY(room_for(p, panel, 1));
    for (int k = 0; k < shown; k++) {
        const bar *b = &bars[m.n - shown + k];
        TRY(label_bar(p, b, &m, &panel->category[k]));
        for (int end = 0; end < 2; end++)
            panel->tile[panel->ntile++] = (lwi_plot_tile){
                m.constant, end ? b->high : b->low, k - 0.35, k + 0.35, p->figure.theme.curve[end]};
    }
    const char *const ends[] = {"at the lowest value", "at the highest value"};
    for (int end = 0; end < 2; end++)
        panel->key[panel->nkey++] =
            (lwi_plot_figure_key){ends[end], {.colour = p->figure.theme.curve[end]}};
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- picture

static lw_status fill_panel(plotting *p, const lwi_plot_choice *choice, lwi_plot_panel *panel)
{
    const lw_plot_options *o = &p->options;
    const char *x_unit, *y_unit;
    double *x, *y;
    int column;
    const int first = choice->quantity[0].column[0];
    if (o->preset == LW_PLOT_TORNADO) return fill_tornado(p, first, panel);
    TRY(read_column(p, choice->x, &x_unit, &x));
    TRY(read_column(p, first, &y_unit, &y));
    *panel = (lwi_plot_panel){.title = choice->title,
                              .unit = y_unit,
                              .x_title = p->columns.info[choice->x].name,
                              .x_unit = x_unit,
                              .log = o->log,
                              .equal = o->equal,
                              .loose = true};
    if ((o->by || o->z) && choice->nquantity != 1)
        return lwi_fail(p->error, LW_ERR_ARGUMENT,
                        "by and z: a panel has %d columns, expected one y in each",
                        choice->nquantity);
    if (o->by) {
        TRY(find_column(p, o->by, &column));
        return fill_families(p, panel, x, y, column);
    }
    if (o->z) {
        TRY(find_column(p, o->z, &column));
        return fill_colours(p, panel, x, y, column);
    }
    return fill_points(p, choice, panel, x);
}

static lw_status check_options(plotting *p, const lw_plot_options *o)
{
    if (o->has_from || o->has_to || o->reference || o->initial || o->plan || o->has_instance)
        return lwi_fail(p->error, LW_ERR_ARGUMENT,
                        "%s is a table: from, to, reference, initial, plan, instance are of "
                        "results",
                        p->name);
    if (o->has_preset && o->preset != LW_PLOT_TORNADO)
        return lwi_fail(p->error, LW_ERR_ARGUMENT,
                        "%s is a table: preset %s is of results; expected tornado, or x and y",
                        p->name, lwi_plot_preset_name(o->preset));
    if (o->by && o->z)
        return lwi_fail(p->error, LW_ERR_ARGUMENT, "by and z are both given; expected one of them");
    return lwi_plot_units_check(o->units, p->error);
}

enum { MAX_PANELS = 6 }; // of pictures without y

// Panels of the columns asked for; without any one panel for the maximum of each measure.
static lw_status select_columns(plotting *p)
{
    const lw_table *t = p->table;
    lw_plot_options o = p->options;
    o.has_preset = false;
    for (int k = 0; !p->options.ny && k < t->columns && o.ny < MAX_PANELS; k++)
        if (ends_in(t->name[k], ".max")) o.y[o.ny++] = t->name[k];
    if (!o.ny)
        return lwi_fail(p->error, LW_ERR_ARGUMENT, "%s has no column NAME.max; expected a y",
                        p->name);
    TRY(lwi_plot_select(&p->columns, &o, &p->arena, &p->selection, p->error));
    return LW_OK;
}

static lw_status read_stored(void *user, int column, double *values)
{
    const plotting *p = user;
    for (int i = 0; i < p->table->rows; i++) values[i] = at(p, i, column);
    return LW_OK;
}

static lw_status list_columns(plotting *p)
{
    const lw_table *t = p->table;
    lwi_plot_table *c = &p->columns;
    lw_column_info *info = LWI_PUSH(&p->arena, lw_column_info, t->columns);
    if (!info) return no_memory(p);
    *c = (lwi_plot_table){.info = info, .n = t->columns};
    for (int k = 0; k < t->columns; k++)
        info[k] = (lw_column_info){.name = t->name[k], .unit = t->unit[k], .frame = ""};
    TRY(lwi_plot_derive(c, &p->options, &p->arena, p->error));
    p->made = LWI_PUSH(&p->arena, double *, c->n - c->stored);
    if (!p->made) return no_memory(p);
    for (int k = 0; k < c->n - c->stored; k++) {
        p->made[k] = LWI_PUSH(&p->arena, double, t->rows);
        if (!p->made[k]) return no_memory(p);
        TRY(lwi_plot_derived_values(&c->derived[k], read_stored, p, t->rows, p->made[k], p->error));
    }
    return LW_OK;
}

static lw_status prepare(plotting *p)
{
    lwi_plot_figure *f = &p->figure;
    TRY(list_columns(p));
    TRY(select_columns(p));
    f->npanel = p->selection.npanel;
    f->panel = LWI_PUSH(&p->arena, lwi_plot_panel, f->npanel);
    if (!f->panel) return no_memory(p);
    f->columns = 1, f->shared_x = false;
    f->theme = lwi_plot_theme_of(&p->options);
    f->title = p->options.title ? (*p->options.title ? p->options.title : NULL) : p->name;
    for (int i = 0; i < f->npanel; i++) TRY(fill_panel(p, &p->selection.panel[i], &f->panel[i]));
    return LW_OK;
}

static lw_status draw(plotting *p, const char *file)
{
    lwi_plot_canvas *canvas;
    const double height = p->options.equal ? 900 : lwi_plot_figure_height(&p->figure);
    TRY(lwi_plot_canvas_open(&p->options, 900, height, file, &canvas, p->error));
    const lw_status drawn = lwi_plot_figure_draw(&p->figure, canvas, p->error);
    return lwi_plot_canvas_close(canvas, drawn, file, p->error);
}

static lw_status plot(plotting *p, const lw_plot_options *options, const char *file)
{
    p->options = *options;
    find_varied(p);
    TRY(check_options(p, options));
    if (!p->table->rows || !p->table->columns)
        return lwi_fail(p->error, LW_ERR_ARGUMENT, "%s: the table is empty", p->name);
    if (!p->options.x) p->options.x = p->table->name[p->first < p->last ? p->first : 0];
    TRY(prepare(p));
    return draw(p, file);
}

lw_status lw_plot_table(const lw_table *table, const char *name, const lw_plot_options *options,
                        const char *file, lw_error *error)
{
    static const lw_plot_options plain;
    lwi_numbers numbers;
    if (error) memset(error, 0, sizeof *error);
    if (!table || !name || !file)
        return lwi_fail(error, LW_ERR_ARGUMENT, "table, name and file must be given");
    TRY(lwi_plot_check_file(file, error));
    if (!lwi_numbers_begin(&numbers))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    plotting p = {.table = table, .name = name, .error = error};
    lwi_arena_init(&p.arena, NULL);
    const lw_status status = plot(&p, options ? options : &plain, file);
    lwi_arena_free(&p.arena);
    lwi_numbers_end(&numbers);
    return status;
}
