// results.c -- lw_plot_results: from result files to a figure.
//
// Several results share the panels.  With one quantity in a panel, colours distinguish results; with
// several, colours distinguish quantities and line styles results.
#include "base/assert.h"
#include "plot/derived.h"
#include "plot/figure.h"
#include "plot/options.h"
#include "plot/precision.h"
#include "plot/select.h"
#include "plot/trace.h"
#include "plot/units.h"

#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Curves over time of more than 4 * BUCKETS rows are thinned when they are read.
enum { BUCKETS = 16384 };

/** The rows of one result between --from and --to. */
typedef struct window {
    long first, count;
    double *scratch[3]; ///< [count]
    double *instance;   ///< [count] of a sweep's result; NULL: a single run
    long *order;        ///< [count] rows by instance, in each by time
    int ninstance;
} window;

typedef struct plotting {
    lw_result *const *result;
    const char *const *name;
    int count;
    const lw_plot_options *options;
    lwi_arena arena;
    lwi_plot_table table; // of the first result
    window *window;       // [count]
    const char **key;     // [count] names of the results in keys
    lwi_plot_selection selection;
    lwi_plot_figure figure;
    lw_error *error;
} plotting;

static lw_status no_memory(const plotting *p)
{
    return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for the rows of a picture");
}

// ------------------------------------------------------------------------------------------- rows

typedef struct numbered {
    double instance;
    long row;
} numbered;

static int by_instance(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    if (x->instance != y->instance) return x->instance < y->instance ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

// The rows of a sweep's result are in order of time, those of all instances side by side: each has a separate line.
static lw_status find_instances(plotting *p, int r)
{
    window *w = &p->window[r];
    int column;
    if (p->options->has_instance ||
        lw_result_find_column(p->result[r], "instance", &column, NULL) != LW_OK)
        return LW_OK;
    numbered *list = LWI_PUSH(&p->arena, numbered, w->count);
    w->order = LWI_PUSH(&p->arena, long, w->count);
    w->instance = LWI_PUSH(&p->arena, double, w->count);
    if (!list || !w->order || !w->instance) return no_memory(p);
    TRY(lw_result_read(p->result[r], column, w->first, w->count, w->instance, p->error));
    for (long i = 0; i < w->count; i++) list[i] = (numbered){w->instance[i], i};
    qsort(list, (size_t)w->count, sizeof *list, by_instance);
    for (long i = 0; i < w->count; i++) {
        w->order[i] = list[i].row;
        w->ninstance += i == 0 || list[i].instance != list[i - 1].instance;
    }
    return LW_OK;
}

// The row behind the last one of the instance that has the row `from` in order.
static long end_of_instance(const window *w, long from)
{
    long to = from;
    while (to < w->count && w->instance[w->order[to]] == w->instance[w->order[from]]) to++;
    return to;
}

static lw_status find_window(plotting *p, int r)
{
    const lw_plot_options *o = p->options;
    window *w = &p->window[r];
    const long n = lw_result_row_count(p->result[r]);
    int column;
    if (n <= 0)
        return lwi_fail(p->error, LW_ERR_ARGUMENT, "%s: there are no rows to show", p->name[r]);
    for (int k = 0; k < 3; k++) {
        w->scratch[k] = malloc((size_t)n * sizeof(double));
        if (!w->scratch[k]) return no_memory(p);
    }
    double *time = w->scratch[0];
    w->first = 0, w->count = n;
    if (!o->has_from && !o->has_to) return find_instances(p, r);
    TRY(lw_result_find_column(p->result[r], "time", &column, p->error));
    TRY(lw_result_read(p->result[r], column, 0, n, time, p->error));
    const double slack = 1e-9 * (fabs(time[n - 1]) + 1e-300); // 0.3 is row 30 of 0.01
    long last = n - 1;
    if (o->has_from)
        while (w->first < n && !(time[w->first] >= o->from - slack)) w->first++;
    if (o->has_to)
        while (last >= 0 && !(time[last] <= o->to + slack)) last--;
    w->count = last - w->first + 1;
    if (w->count > 0) return find_instances(p, r);
    return lwi_fail(p->error, LW_ERR_ARGUMENT,
                    "%s: no rows between from and to; it has t = %g to %g s", p->name[r], time[0],
                    time[n - 1]);
}

// Column `column` of the first result, in result r.
static lw_status read_column(plotting *p, int r, int column, double *values)
{
    const char *name = p->table.info[column].name;
    int own = column;
    if (r > 0 && lw_result_find_column(p->result[r], name, &own, NULL) != LW_OK)
        return lwi_fail(p->error, LW_ERR_ARGUMENT,
                        "%s has no column '%s', which %s has; expected results of the same model",
                        p->name[r], name, p->name[0]);
    return lw_result_read(p->result[r], own, p->window[r].first, p->window[r].count, values,
                          p->error);
}

typedef struct reading {
    plotting *p;
    int r;
} reading;

static lw_status read_stored(void *user, int column, double *values)
{
    const reading *from = user;
    return read_column(from->p, from->r, column, values);
}

static lw_status read_quantity(plotting *p, int r, int column, double *values)
{
    reading from = {p, r};
    if (column < p->table.stored) return read_column(p, r, column, values);
    return lwi_plot_derived_values(&p->table.derived[column - p->table.stored], read_stored, &from,
                                   p->window[r].count, values, p->error);
}

// Of each instance.
static void subtract_start(const window *w, double *y)
{
    for (long from = 0, to; from < w->count; from = to) {
        to = w->order ? end_of_instance(w, from) : w->count;
        const double start = y[w->order ? w->order[from] : 0];
        for (long k = from; k < to; k++) y[w->order ? w->order[k] : k] -= start;
    }
}

// The values of a quantity into scratch[1].
static lw_status measure(plotting *p, int r, const lwi_plot_quantity *q)
{
    const window *w = &p->window[r];
    double *y = w->scratch[1], *other = w->scratch[2];
    TRY(read_quantity(p, r, q->column[0], y));
    if (q->measure == LWI_PLOT_CHANGE) {
        subtract_start(w, y);
    } else if (q->measure == LWI_PLOT_BALANCE) {
        TRY(read_column(p, r, q->column[1], other));
        for (long k = 0; k < w->count; k++) y[k] -= other[k];
        subtract_start(w, y);
    } else if (q->measure == LWI_PLOT_SIZE) {
        for (int i = 1; i < 3; i++) {
            TRY(read_column(p, r, q->column[i], other));
            for (long k = 0; k < w->count; k++) y[k] = hypot(y[k], other[k]);
        }
    }
    return LW_OK;
}

static bool increases(const double *x, long n)
{
    for (long k = 1; k < n; k++)
        if (!(x[k] >= x[k - 1])) return false;
    return true;
}

static bool has_numbers(const double *y, long n)
{
    for (long k = 0; k < n; k++)
        if (lwi_plot_plottable(y[k])) return true;
    return false;
}

static lw_status scale(plotting *p, const window *w, int column, double *values)
{
    double factor;
    if (!lwi_plot_units_find(p->options->units, p->table.info[column].unit, &p->arena, &factor))
        return no_memory(p);
    for (long k = 0; k < w->count && factor != 1; k++) values[k] *= factor;
    return LW_OK;
}

// x and y into scratch[0] and [1].
static lw_status read_points(plotting *p, int r, int x_column, const lwi_plot_quantity *q)
{
    const window *w = &p->window[r];
    TRY(read_quantity(p, r, x_column, w->scratch[0]));
    TRY(measure(p, r, q));
    TRY(scale(p, w, x_column, w->scratch[0]));
    return scale(p, w, q->column[0], w->scratch[1]);
}

// Rows from ... to of the order of instances, all of one or with gaps between several, from the scratch memory.
static lw_status gather_curve(plotting *p, const window *w, long from, long to, lwi_plot_curve *c)
{
    const size_t room = (size_t)(to - from) + (size_t)w->ninstance;
    double *x = LWI_PUSH(&p->arena, double, room), *y = LWI_PUSH(&p->arena, double, room);
    if (!x || !y) return no_memory(p);
    long n = 0;
    for (long next; from < to; from = next) {
        const long first = n;
        next = end_of_instance(w, from);
        for (long k = from; k < next; k++, n++) {
            x[n] = w->scratch[0][w->order[k]];
            y[n] = w->scratch[1][w->order[k]];
        }
        if (increases(x + first, n - first))
            n = first + lwi_plot_thin_rows(x + first, y + first, n - first, BUCKETS);
        x[n] = y[n] = NAN;
        n++;
    }
    c->x = x, c->y = y, c->n = n;
    return LW_OK;
}

static lw_status read_curve(plotting *p, int r, int x_column, const lwi_plot_quantity *q,
                            lwi_plot_curve *c)
{
    const window *w = &p->window[r];
    long n = w->count;
    TRY(read_points(p, r, x_column, q));
    if (w->order) return gather_curve(p, w, 0, n, c);
    if (increases(w->scratch[0], n))
        n = lwi_plot_thin_rows(w->scratch[0], w->scratch[1], n, BUCKETS);
    double *x = LWI_PUSH(&p->arena, double, n), *y = LWI_PUSH(&p->arena, double, n);
    if (!x || !y) return no_memory(p);
    memcpy(x, w->scratch[0], (size_t)n * sizeof *x);
    memcpy(y, w->scratch[1], (size_t)n * sizeof *y);
    c->x = x, c->y = y, c->n = n;
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- panels

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

// File names, without extensions if they still differ.
static lw_status name_results(plotting *p)
{
    bool differ = true;
    p->key = LWI_PUSH(&p->arena, const char *, p->count);
    if (!p->key) return no_memory(p);
    for (int r = 0; r < p->count; r++) {
        const char *name = file_name(p->name[r]), *dot = strrchr(name, '.');
        const size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name);
        char *stem = LWI_PUSH(&p->arena, char, n + 1);
        if (!stem) return no_memory(p);
        memcpy(stem, name, n);
        p->key[r] = stem;
        for (int s = 0; s < r; s++) differ = differ && strcmp(p->key[s], stem) != 0;
    }
    for (int r = 0; r < p->count && !differ; r++) p->key[r] = file_name(p->name[r]);
    return LW_OK;
}

// "load: a", or one of the two.
static lw_status add_key(plotting *p, lwi_plot_panel *panel, const char *name, const char *file,
                         const lwi_plot_style *like, bool empty)
{
    if (!*name && !*file && !empty) return LW_OK;
    const size_t size = strlen(name) + strlen(file) + 32;
    char *copy = LWI_PUSH(&p->arena, char, size);
    if (!copy) return no_memory(p);
    snprintf(copy, size, "%s%s%s%s", name, *name && *file ? ": " : "", file,
             empty ? " (no finite numbers)" : "");
    panel->key[panel->nkey++] = (lwi_plot_figure_key){copy, *like};
    return LW_OK;
}

// The first of several results is broad and pale, the others have different dashes.
static lwi_plot_style style_of(const plotting *p, lwi_plot_colour colour, int r)
{
    return (lwi_plot_style){.colour = colour,
                            .dash =
                                r > 1 ? (lwi_plot_dash)((r - 1) % LWI_PLOT_DASHES) : LWI_PLOT_SOLID,
                            .broad = p->count > 1 && r == 0};
}

static lw_status add_result_keys(plotting *p, lwi_plot_panel *panel)
{
    for (int r = 0; r < p->count; r++) {
        const lwi_plot_style like = style_of(p, p->figure.theme.muted, r);
        TRY(add_key(p, panel, "", p->key[r], &like, false));
    }
    return LW_OK;
}

// One quantity of one sweep: a curve for each instance, coloured in their order.
static lw_status fill_instances(plotting *p, const lwi_plot_choice *choice, lwi_plot_panel *panel)
{
    const window *w = &p->window[0];
    panel->curve = LWI_PUSH(&p->arena, lwi_plot_curve, w->ninstance);
    panel->key = LWI_PUSH(&p->arena, lwi_plot_figure_key, w->ninstance + 1);
    if (!panel->curve || !panel->key) return no_memory(p);
    TRY(read_points(p, 0, choice->x, &choice->quantity[0]));
    for (long from = 0, to; from < w->count; from = to) {
        char name[40];
        const int k = panel->ncurve;
        lwi_plot_curve *c = &panel->curve[panel->ncurve++];
        to = end_of_instance(w, from);
        TRY(gather_curve(p, w, from, to, c));
        c->style.colour = lwi_plot_curve_colour(&p->figure.theme, k, w->ninstance);
        snprintf(name, sizeof name, "%s%.0f", k ? "" : "instance ", w->instance[w->order[from]]);
        TRY(add_key(p, panel, name, "", &c->style, !has_numbers(c->y, c->n)));
    }
    return LW_OK;
}

static lw_status fill_panel(plotting *p, const lwi_plot_choice *choice, lwi_plot_panel *panel)
{
    const lw_column_info x = p->table.info[choice->x];
    const bool time = !strcmp(x.name, "time"), single = choice->nquantity == 1;
    const int ncurve = choice->nquantity * p->count;
    double factor;
    const char *units = p->options->units;
    *panel = (lwi_plot_panel){.title = choice->title,
                              .unit = lwi_plot_units_find_each(units, choice->unit, &p->arena),
                              .x_title = choice->x_title ? choice->x_title : x.name,
                              .x_unit = lwi_plot_units_find(units, x.unit, &p->arena, &factor),
                              .log = choice->log,
                              .loose = !time,
                              .equal = p->options->equal,
                              .curve = LWI_PUSH(&p->arena, lwi_plot_curve, ncurve),
                              .key = LWI_PUSH(&p->arena, lwi_plot_figure_key, ncurve + p->count)};
    if (!panel->curve || !panel->key) return no_memory(p);
    if (single && p->count == 1 && p->window[0].ninstance > 1)
        return fill_instances(p, choice, panel);
    for (int i = 0; i < choice->nquantity; i++) {
        const lwi_plot_quantity *q = &choice->quantity[i];
        for (int r = 0; r < p->count; r++) {
            LWI_ASSERT_INDEX(panel->ncurve, ncurve);
            lwi_plot_curve *c = &panel->curve[panel->ncurve++];
            TRY(read_curve(p, r, choice->x, q, c));
            c->style =
                single
                    ? style_of(p, lwi_plot_curve_colour(&p->figure.theme, r, p->count), r)
                    : style_of(p, lwi_plot_curve_colour(&p->figure.theme, i, choice->nquantity), r);
            if (single) c->style.dash = LWI_PLOT_SOLID; // colours distinguish them
            const lwi_plot_style plain = {.colour = c->style.colour};
            const bool empty = !has_numbers(c->y, c->n);
            if (single && p->count > 1)
                TRY(add_key(p, panel, q->name, p->key[r], &c->style, empty));
            else if (r == 0 && !(single && empty)) // an empty panel has its own message
                TRY(add_key(p, panel, q->name, "", &plain, empty));
        }
    }
    LWI_ASSERT(panel->nkey <= ncurve);
    return single || p->count == 1 ? LW_OK : add_result_keys(p, panel);
}

// ----------------------------------------------------------------------------------------- picture

static lw_status list_columns(plotting *p)
{
    const int n = lw_result_column_count(p->result[0]);
    lw_column_info *info = LWI_PUSH(&p->arena, lw_column_info, n);
    if (!info) return no_memory(p);
    for (int i = 0; i < n; i++) info[i] = lw_result_column(p->result[0], i);
    p->table = (lwi_plot_table){.info = info, .n = n};
    return lwi_plot_derive(&p->table, p->options, &p->arena, p->error);
}

// "energy: crane.csv"; several results are named in the key.
static lw_status choose_title(plotting *p)
{
    const lw_plot_options *o = p->options;
    if (o->title) {
        p->figure.title = *o->title ? o->title : NULL;
        return LW_OK;
    }
    char *title = LWI_PUSH(&p->arena, char, 512);
    if (!title) return no_memory(p);
    snprintf(title, 512, "%s%s%s%s%s%s", o->ny ? "" : lwi_plot_preset_name(o->preset),
             o->ny || p->count > 1 ? "" : ": ", p->count > 1 ? "" : file_name(p->name[0]),
             p->selection.note ? " (" : "", p->selection.note ? p->selection.note : "",
             p->selection.note ? ")" : "");
    p->figure.title = *title ? title : NULL;
    return LW_OK;
}

// The options that select rows and columns do not apply.
static lw_status prepare_precision(plotting *p)
{
    const lw_plot_options *o = p->options;
    if (o->ny || o->x || o->has_from || o->has_to || o->log)
        return lwi_fail(p->error, LW_ERR_ARGUMENT,
                        "preset %s uses whole results; expected no y, x, from, to or log",
                        lwi_plot_preset_name(o->preset));
    p->figure.theme = lwi_plot_theme_of(o);
    TRY(lwi_plot_precision_figure(p->result, p->name, p->count, o->reference, &p->arena, &p->figure,
                                  p->error));
    return choose_title(p);
}

static lw_status check_options(const plotting *p)
{
    const lw_plot_options *o = p->options;
    if (o->by || o->z || o->preset == LW_PLOT_TORNADO)
        return lwi_fail(p->error, LW_ERR_ARGUMENT,
                        "%s is a result: by, z and preset tornado are of tables of studies",
                        p->name[0]);
    return lwi_plot_units_check(o->units, p->error);
}

static lw_status prepare(plotting *p)
{
    lwi_plot_figure *f = &p->figure;
    TRY(check_options(p));
    if (p->options->preset == LW_PLOT_WORK_PRECISION) return prepare_precision(p);
    if (p->options->reference)
        return lwi_fail(p->error, LW_ERR_ARGUMENT, "reference is an option of preset %s",
                        lwi_plot_preset_name(LW_PLOT_WORK_PRECISION));
    TRY(list_columns(p));
    TRY(lwi_plot_select(&p->table, p->options, &p->arena, &p->selection, p->error));
    p->window = LWI_PUSH(&p->arena, window, p->count);
    f->npanel = p->selection.npanel;
    f->panel = LWI_PUSH(&p->arena, lwi_plot_panel, f->npanel);
    if (!p->window || !f->panel) return no_memory(p);
    f->columns = p->selection.columns, f->shared_x = p->selection.shared_x;
    f->theme = lwi_plot_theme_of(p->options);
    TRY(name_results(p));
    for (int r = 0; r < p->count; r++) TRY(find_window(p, r));
    for (int i = 0; i < f->npanel; i++) TRY(fill_panel(p, &p->selection.panel[i], &f->panel[i]));
    return choose_title(p);
}

static lw_status draw(plotting *p, const char *file)
{
    lwi_plot_canvas *canvas;
    const double height = p->options->equal ? 900 : lwi_plot_figure_height(&p->figure);
    TRY(lwi_plot_canvas_open(p->options, 900, height, file, &canvas, p->error));
    const lw_status drawn = lwi_plot_figure_draw(&p->figure, canvas, p->error);
    return lwi_plot_canvas_close(canvas, drawn, file, p->error);
}

static lw_status select_instance(const plotting *p)
{
    for (int r = 0; r < p->count && p->options->has_instance; r++)
        TRY(lw_result_select_instance(p->result[r], p->options->instance, p->error));
    return LW_OK;
}

static void release(plotting *p)
{
    for (int r = 0; r < p->count && p->window; r++)
        for (int k = 0; k < 3; k++) free(p->window[r].scratch[k]);
    lwi_arena_free(&p->arena);
}

lw_status lw_plot_results(lw_result *const *results, const char *const *names, int count,
                          const lw_plot_options *options, const char *file, lw_error *error)
{
    static const lw_plot_options plain;
    lwi_numbers numbers;
    if (error) memset(error, 0, sizeof *error);
    if (!results || !names || count < 1 || !file)
        return lwi_fail(error, LW_ERR_ARGUMENT, "results, names and file must be given");
    if (options && options->view)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "view is an option of mechanisms; expected initial");
    TRY(lwi_plot_check_file(file, error));
    if (!lwi_numbers_begin(&numbers))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    plotting p = {.result = results,
                  .name = names,
                  .count = count,
                  .options = options ? options : &plain,
                  .error = error};
    lwi_arena_init(&p.arena, NULL);
    lw_status status = select_instance(&p);
    if (status == LW_OK) status = prepare(&p);
    if (status == LW_OK) status = draw(&p, file);
    for (int r = 0; r < count; r++) lw_result_select_instance(results[r], -1, NULL);
    release(&p);
    lwi_numbers_end(&numbers);
    return status;
}
