// figure.c -- layout and drawing of panels.
//
//   title
//   quantity [unit]   -- first   -- second   -- third        head of a panel: never covers data
//   2 |          .                                           thin grid at round numbers
//   1 |   .  '      ' .                                      the curves, clipped to the panel
//   0 |_'________________
//     0    1    2    3                                       only below the lowest panel
//           time [s]
#include "plot/figure.h"

#include "base/assert.h"
#include "plot/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// All lengths in points of the picture.
#define TICK_SIZE 11.0 // letters
#define LABEL_SIZE 12.0
#define TITLE_SIZE 14.0
#define MARGIN 14.0    // around everything
#define GAP_X 22.0     // between panels side by side
#define GAP_Y 12.0     // between panels above each other
#define HEAD_LINE 17.0 // one line of a panel's head
#define HEAD_GAP 6.0   // below it
#define SAMPLE 18.0    // line before a name in the key
#define MAX_HEAD_LINES 3
#define MIN_PANEL 40.0 // height and width
#define CURVE_WIDTH 1.5
#define BAR_GAP 14.0 // between a panel and its bar of colours
#define BAR_WIDTH 14.0

typedef struct box {
    double x, y, width, height;
} box;

/** A panel and its layout. */
typedef struct place {
    const lwi_plot_panel *panel;
    lwi_plot_axis x, y, z; // z: of the bar of colours
    lwi_plot_range xr, yr;
    int row, column;
    double gutter; // left of the box, for labels of the y axis
    double beside; // right of the box, for the bar of colours
    int head;      // lines
    bool foot;     // labels of the x axis are shown
    box box;
} place;

typedef struct layout {
    const lwi_plot_figure *figure;
    lwi_plot_canvas *canvas;
    place *place; // [npanel]
    int rows;
} layout;

static lwi_plot_pen pen_of(const lwi_plot_style *style)
{
    if (style->broad)
        return (lwi_plot_pen){lwi_plot_faded(style->colour, 0.35), 3.2 * CURVE_WIDTH,
                              LWI_PLOT_SOLID};
    return (lwi_plot_pen){style->colour, CURVE_WIDTH, style->dash};
}

// -------------------------------------------------------------------------------------------- head

static bool unit_shows(const char *unit)
{
    return unit && *unit && strcmp(unit, "1") != 0;
}

// "m/s^2" as "m/s²".
static void raise_powers(char *text, size_t size, const char *unit)
{
    size_t n = 0;
    for (; *unit && n + 4 < size; unit++) {
        const bool power = *unit == '^' && unit[1] >= '1' && unit[1] <= '3';
        const char *raised = !power           ? ""
                             : unit[1] == '1' ? ""
                             : unit[1] == '2' ? "\u00B2"
                                              : "\u00B3";
        if (power)
            n += (size_t)snprintf(text + n, size - n, "%s", raised), unit++;
        else
            text[n++] = *unit;
    }
    text[n] = 0;
}

// " − 123.4 [10⁻¹² J]": offset and exponent of the labels, and the unit.
static void put_unit(char *text, size_t size, const lwi_plot_axis *axis, const char *plain_unit)
{
    char power[64] = "", offset[64] = "", unit[128];
    raise_powers(unit, sizeof unit, plain_unit ? plain_unit : "");
    if (axis->exponent) lwi_plot_put_power(power, sizeof power, axis->exponent);
    if (axis->offset != 0)
        snprintf(offset, sizeof offset, " %s %.15g", axis->offset < 0 ? "+" : "\u2212",
                 fabs(axis->offset));
    const bool shows = unit_shows(unit);
    if (*power || shows)
        snprintf(text, size, "%s [%s%s%s]", offset, power, *power && shows ? " " : "",
                 shows ? unit : "");
    else
        snprintf(text, size, "%s", offset);
}

// Position of the next part of the head.
typedef struct flow {
    double x, left, right;
    int line;
} flow;

static double flow_take(flow *f, double width)
{
    if (f->x > f->left && f->x + width > f->right) f->x = f->left, f->line++;
    const double at = f->x;
    f->x += width + 14;
    return at;
}

static double key_width(const lwi_plot_figure_key *key, double max_width)
{
    return fmin(max_width, SAMPLE + 5 + lwi_plot_text_width(key->text, TICK_SIZE, false));
}

static void draw_key(layout *l, const lwi_plot_figure_key *key, double x, double y, double width)
{
    const lwi_plot_ink ink = {.colour = l->figure->theme.ink, .size = TICK_SIZE};
    char text[256];
    lwi_plot_pen pen = pen_of(&key->style);
    if (!key->style.broad) pen.width += 0.6;
    lwi_plot_draw_line(l->canvas, x, y - 4, x + SAMPLE, y - 4, &pen);
    lwi_plot_text_fit(text, sizeof text, key->text, width - SAMPLE - 5 + 0.01, TICK_SIZE, false);
    lwi_plot_draw_text(l->canvas, x + SAMPLE + 5, y, LWI_PLOT_START, &ink, text);
}

// Lays out the entries of the key, the last one "... and 17 more" if there are too many; draws them if
// `draw`.  Returns the number of lines.
static int flow_keys(layout *l, const place *p, flow f, double top, bool draw)
{
    const lwi_plot_panel *panel = p->panel;
    const lwi_plot_ink ink = {.colour = l->figure->theme.muted, .size = TICK_SIZE};
    for (int i = 0; i < panel->nkey; i++) {
        const bool last = i == panel->nkey - 1;
        const double width = key_width(&panel->key[i], f.right - f.left);
        flow next = f;
        const double x = flow_take(&next, width);
        // the last line has space for "... and 17 more"
        const double reserve = last ? 0 : 90;
        if (next.line >= MAX_HEAD_LINES ||
            (next.line == MAX_HEAD_LINES - 1 && x + width + reserve > f.right && !last)) {
            char rest[48];
            snprintf(rest, sizeof rest, "\u2026 and %d more", panel->nkey - i);
            if (draw)
                lwi_plot_draw_text(l->canvas, f.x, top + HEAD_LINE * (f.line + 1) - 4,
                                   LWI_PLOT_START, &ink, rest);
            return f.line + 1;
        }
        f = next;
        if (draw) draw_key(l, &panel->key[i], x, top + HEAD_LINE * (f.line + 1) - 4, width);
    }
    return f.line + 1;
}

// The title of the bar of colours ends where its labels end: in the first line of the head, or in the
// next one if it would meet what is left of it.
static void put_bar_title(layout *l, const place *p, flow *f, double top, bool draw)
{
    const lwi_plot_theme *theme = &l->figure->theme;
    const lwi_plot_ink bold = {.colour = theme->ink, .size = LABEL_SIZE, .bold = true};
    const lwi_plot_ink plain = {.colour = theme->muted, .size = LABEL_SIZE};
    const lwi_plot_colour_bar *bar = p->panel->bar;
    char unit[256], title[256];
    if (!bar) return;
    put_unit(unit, sizeof unit, &p->z, bar->unit);
    const double unit_width = lwi_plot_text_width(unit, LABEL_SIZE, false);
    lwi_plot_text_fit(title, sizeof title, bar->title, fmax(f->right - f->left - unit_width, 60),
                      LABEL_SIZE, true);
    const double width = lwi_plot_text_width(title, LABEL_SIZE, true) + unit_width;
    if (f->x + width > f->right) f->x = f->left, f->line++;
    if (!draw) return;
    const double y = top + HEAD_LINE * (f->line + 1) - 4;
    lwi_plot_draw_text(l->canvas, f->right - unit_width, y, LWI_PLOT_END, &bold, title);
    lwi_plot_draw_text(l->canvas, f->right - unit_width, y, LWI_PLOT_START, &plain, unit);
}

static int put_head(layout *l, const place *p, bool draw)
{
    const lwi_plot_theme *theme = &l->figure->theme;
    const lwi_plot_ink bold = {.colour = theme->ink, .size = LABEL_SIZE, .bold = true};
    const lwi_plot_ink plain = {.colour = theme->muted, .size = LABEL_SIZE};
    const double left = p->box.x - p->gutter, right = p->box.x + p->box.width + p->beside;
    const double top = p->box.y - HEAD_LINE * p->head - HEAD_GAP;
    char unit[256], title[256];
    put_unit(unit, sizeof unit, &p->y, p->panel->unit);
    const double unit_width = lwi_plot_text_width(unit, LABEL_SIZE, false);
    lwi_plot_text_fit(title, sizeof title, p->panel->title, fmax(right - left - unit_width, 60),
                      LABEL_SIZE, true);
    const double title_width = lwi_plot_text_width(title, LABEL_SIZE, true);
    if (draw) {
        lwi_plot_draw_text(l->canvas, left, top + HEAD_LINE - 4, LWI_PLOT_START, &bold, title);
        lwi_plot_draw_text(l->canvas, left + title_width, top + HEAD_LINE - 4, LWI_PLOT_START,
                           &plain, unit);
    }
    flow f = {left + title_width + unit_width + 18, left, right, 0};
    put_bar_title(l, p, &f, top, draw);
    return flow_keys(l, p, f, top, draw);
}

// ------------------------------------------------------------------------------------------ layout

static double widest_label(const lwi_plot_axis *axis)
{
    double widest = 0;
    for (int i = 0; i < axis->ntick; i++)
        widest = fmax(widest, lwi_plot_text_width(axis->label[i], TICK_SIZE, false));
    return widest;
}

static void find_ranges(place *p)
{
    p->xr = lwi_plot_range_empty(), p->yr = lwi_plot_range_empty();
    for (int i = 0; i < p->panel->ncurve; i++) {
        const lwi_plot_curve *c = &p->panel->curve[i];
        for (long k = 0; k < c->n; k++) {
            if (!lwi_plot_plottable(c->x[k]) || !lwi_plot_plottable(c->y[k])) continue;
            lwi_plot_range_add(&p->xr, c->x[k]);
            lwi_plot_range_add(&p->yr, c->y[k]);
        }
    }
    for (int i = 0; i < p->panel->ntile; i++) {
        const lwi_plot_tile *c = &p->panel->tile[i];
        lwi_plot_range_add(&p->xr, c->x0), lwi_plot_range_add(&p->xr, c->x1);
        lwi_plot_range_add(&p->yr, c->y0), lwi_plot_range_add(&p->yr, c->y1);
    }
}

// Categories have the ticks of whole numbers.
static void label_categories(const lwi_plot_panel *panel, lwi_plot_axis *axis)
{
    axis->ntick = axis->exponent = 0;
    axis->offset = 0;
    for (int k = 0; k < panel->ncategory && axis->ntick < LWI_PLOT_AXIS_TICKS; k++) {
        axis->tick[axis->ntick] = k;
        axis->label[axis->ntick++][0] = 0; // drawn in full, next to the axis
    }
}

enum { CATEGORY_ROOM = 320 }; // points

// Width of the labels of the y axis.
static double label_width(const place *p)
{
    double widest = 0;
    if (!p->panel->ncategory) return widest_label(&p->y);
    for (int k = 0; k < p->panel->ncategory; k++)
        widest = fmax(widest, lwi_plot_text_width(p->panel->category[k], TICK_SIZE, false));
    return fmin(widest, CATEGORY_ROOM);
}

static int ticks_of(double length, double spacing)
{
    return (int)fmin(fmax(length / spacing, 2), LWI_PLOT_AXIS_TICKS - 2);
}

// Reduces the number of ticks until their labels fit.
static void fit_x(place *p)
{
    const bool filled = p->panel->ntile && !p->panel->ncategory;
    const double pad = p->panel->loose && !filled ? 0.05 : 0;
    double spacing = p->box.width < 320 ? 44 : 70;
    for (int i = 0; i < 3; i++) {
        p->x = lwi_plot_axis_fit(p->xr, p->panel->log_x, pad, ticks_of(p->box.width, spacing));
        const double needed = widest_label(&p->x) + 18;
        if (needed <= spacing) return;
        spacing = needed;
    }
}

static void fit_y(place *p, double height)
{
    const double pad = p->panel->ntile && !p->panel->ncategory ? 0 : 0.06;
    p->y = lwi_plot_axis_fit(p->yr, p->panel->log, pad, ticks_of(height, height < 170 ? 25 : 34));
    if (p->panel->ncategory) label_categories(p->panel, &p->y);
    if (p->panel->bar)
        p->z = lwi_plot_axis_fit(p->panel->bar->range, false, 0, ticks_of(height, 34));
}

// Width of the bar of colours with its labels and the gap before it.
static double bar_width(const place *p)
{
    return p->panel->bar ? BAR_GAP + BAR_WIDTH + 7 + widest_label(&p->z) : 0;
}

static void widen(lwi_plot_axis *axis, double length, int max_ticks)
{
    const double middle = axis->lo + (axis->hi - axis->lo) / 2;
    axis->lo = middle - length / 2, axis->hi = middle + length / 2;
    axis->step = 0;
    lwi_plot_axis_ticks(axis, max_ticks);
}

// The same length of both axes is the same number of points.
static void equalise(place *p)
{
    const double x = (p->x.hi - p->x.lo) / p->box.width, y = (p->y.hi - p->y.lo) / p->box.height;
    if (!p->panel->equal || p->x.log || p->y.log) return;
    if (x < y)
        widen(&p->x, y * p->box.width, ticks_of(p->box.width, 70));
    else
        widen(&p->y, x * p->box.height, ticks_of(p->box.height, 34));
}

static double title_height(const lwi_plot_figure *f)
{
    return f->title ? 24 : 0;
}
static double foot_height(bool foot)
{
    return foot ? 36 : 0;
}

// Panels of a column have the same gutter, panels of a row the same number of lines in the head.
static double row_height(layout *l)
{
    double rest = l->canvas->height - 2 * MARGIN - title_height(l->figure) - GAP_Y * (l->rows - 1);
    const int n = l->figure->npanel;
    for (int r = 0; r < l->rows; r++) {
        int head = 1;
        bool foot = false;
        for (int i = 0; i < n; i++) {
            if (l->place[i].row != r) continue;
            l->place[i].head = put_head(l, &l->place[i], false);
            head = l->place[i].head > head ? l->place[i].head : head;
            foot = foot || (l->place[i].foot && (r == l->rows - 1 || !l->figure->shared_x));
        }
        for (int i = 0; i < n; i++)
            if (l->place[i].row == r) l->place[i].head = head;
        rest -= HEAD_LINE * head + HEAD_GAP + foot_height(foot);
    }
    return rest / l->rows;
}

static void place_columns(layout *l)
{
    const lwi_plot_figure *f = l->figure;
    const double width = (l->canvas->width - 2 * MARGIN - GAP_X * (f->columns - 1)) / f->columns;
    for (int c = 0; c < f->columns; c++) {
        double gutter = 0, beside = 0;
        for (int i = c; i < f->npanel; i += f->columns) {
            gutter = fmax(gutter, label_width(&l->place[i]) + 8);
            beside = fmax(beside, bar_width(&l->place[i]));
        }
        for (int i = c; i < f->npanel; i += f->columns) {
            l->place[i].gutter = gutter;
            l->place[i].beside = beside;
            l->place[i].box.x = MARGIN + c * (width + GAP_X) + gutter;
            l->place[i].box.width =
                width - gutter - beside - 6; // the last label extends beyond the right end
        }
    }
}

static void place_rows(layout *l, double height)
{
    double y = MARGIN + title_height(l->figure);
    for (int r = 0; r < l->rows; r++) {
        double foot = 0, head = 0;
        for (int i = 0; i < l->figure->npanel; i++) {
            place *p = &l->place[i];
            if (p->row != r) continue;
            head = HEAD_LINE * p->head + HEAD_GAP;
            p->box.y = y + head, p->box.height = height;
            if (!l->figure->shared_x) foot = foot_height(true);
        }
        y += head + height + foot + GAP_Y;
    }
}

static lw_status arrange(layout *l, lw_error *error)
{
    const lwi_plot_figure *f = l->figure;
    LWI_ASSERT(f->npanel > 0 && f->columns > 0);
    l->rows = (f->npanel + f->columns - 1) / f->columns;
    for (int i = 0; i < f->npanel; i++) {
        place *p = &l->place[i];
        p->panel = &f->panel[i];
        p->row = i / f->columns, p->column = i % f->columns;
        p->foot = !f->shared_x || i + f->columns >= f->npanel; // nothing below it
        find_ranges(p);
        fit_y(p, l->canvas->height / l->rows - 60);
    }
    double height = 0;
    for (int round = 0; round < 2; round++) { // labels, gutters and heads depend on one another
        place_columns(l);
        height = row_height(l);
        if (height < MIN_PANEL || l->place[0].box.width < MIN_PANEL)
            return lwi_fail(error, LW_ERR_ARGUMENT,
                            "%d panels do not fit on %g x %g points: choose fewer quantities or a "
                            "larger size",
                            f->npanel, l->canvas->width, l->canvas->height);
        for (int i = 0; i < f->npanel; i++) fit_y(&l->place[i], height);
    }
    place_columns(l);
    place_rows(l, height);
    for (int i = 0; i < f->npanel; i++) {
        fit_x(&l->place[i]);
        equalise(&l->place[i]);
    }
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- drawing

static double x_of(const place *p, double value)
{
    return p->box.x + p->box.width * lwi_plot_axis_at(&p->x, value);
}

static double y_of(const place *p, double value)
{
    return p->box.y + p->box.height * (1 - lwi_plot_axis_at(&p->y, value));
}

static void draw_grid(layout *l, const place *p)
{
    const lwi_plot_theme *t = &l->figure->theme;
    const lwi_plot_ink ink = {.colour = t->muted, .size = TICK_SIZE};
    const lwi_plot_pen grid = {t->grid, 1, LWI_PLOT_SOLID}, zero = {t->zero, 1, LWI_PLOT_SOLID};
    const box b = p->box;
    for (int i = 0; i < p->x.ntick; i++) {
        const double x = x_of(p, p->x.tick[i]);
        const bool origin = p->panel->loose && p->x.tick[i] == 0;
        lwi_plot_draw_line(l->canvas, x, b.y, x, b.y + b.height, origin ? &zero : &grid);
        if (p->foot)
            lwi_plot_draw_text(l->canvas, x, b.y + b.height + 15, LWI_PLOT_MIDDLE, &ink,
                               p->x.label[i]);
    }
    for (int i = 0; i < p->y.ntick; i++) {
        const double y = y_of(p, p->y.tick[i]);
        const bool origin = p->y.tick[i] == 0 && !p->y.log && !p->panel->ncategory;
        lwi_plot_draw_line(l->canvas, b.x, y, b.x + b.width, y, origin ? &zero : &grid);
        char text[256];
        lwi_plot_text_fit(text, sizeof text,
                          p->panel->ncategory ? p->panel->category[i] : p->y.label[i],
                          CATEGORY_ROOM, TICK_SIZE, false);
        lwi_plot_draw_text(l->canvas, b.x - 7, y + 4, LWI_PLOT_END, &ink, text);
    }
    lwi_plot_draw_line(l->canvas, b.x, b.y + b.height, b.x + b.width, b.y + b.height,
                       &(lwi_plot_pen){t->axis, 1, LWI_PLOT_SOLID});
}

static void draw_foot(layout *l, const place *p)
{
    char text[256], unit[128];
    const lwi_plot_ink ink = {.colour = l->figure->theme.muted, .size = LABEL_SIZE};
    if (!p->foot) return;
    put_unit(unit, sizeof unit, &p->x, p->panel->x_unit);
    snprintf(text, sizeof text, "%s%s", p->panel->x_title, unit);
    lwi_plot_draw_text(l->canvas, p->box.x + p->box.width / 2, p->box.y + p->box.height + 32,
                       LWI_PLOT_MIDDLE, &ink, text);
}

static void draw_piece(layout *l, lwi_plot_trace *trace, const lwi_plot_curve *c)
{
    const lwi_plot_canvas_type *type = l->canvas->type;
    const lwi_plot_pen pen = pen_of(&c->style);
    lwi_plot_trace_end(trace);
    if (trace->n == 1)
        type->disc(l->canvas, trace->p[0][0], trace->p[0][1], 1 + pen.width, pen.colour,
                   &(lwi_plot_pen){0});
    else if (trace->n > 1)
        type->path(l->canvas, (const double(*)[2])trace->p, trace->n, false, (lwi_plot_colour){0},
                   &pen);
    lwi_plot_trace_clear(trace);
}

#define MARK_RADIUS 3.0

static void draw_marks(layout *l, const place *p, const lwi_plot_curve *c)
{
    for (long k = 0; k < c->n; k++)
        if (lwi_plot_plottable(c->x[k]) && lwi_plot_plottable(c->y[k]))
            l->canvas->type->disc(l->canvas, x_of(p, c->x[k]), y_of(p, c->y[k]), MARK_RADIUS,
                                  c->colour ? c->colour[k] : c->style.colour,
                                  &(lwi_plot_pen){l->figure->theme.paper, 0.5, LWI_PLOT_SOLID});
}

// Edges of the tiles of a grid are whole points: the paper does not show through between them.
static void draw_tiles(layout *l, const place *p)
{
    for (int i = 0; i < p->panel->ntile; i++) {
        const lwi_plot_tile *c = &p->panel->tile[i];
        double x0 = x_of(p, fmin(c->x0, c->x1)), x1 = x_of(p, fmax(c->x0, c->x1));
        double y0 = y_of(p, fmax(c->y0, c->y1)), y1 = y_of(p, fmin(c->y0, c->y1));
        if (!p->panel->ncategory) x0 = round(x0), x1 = round(x1), y0 = round(y0), y1 = round(y1);
        lwi_plot_draw_rect(l->canvas, x0, y0, x1 - x0, y1 - y0, c->colour);
    }
}

// Strips of one colour each, with edges at whole points like those of tiles.
static void draw_bar(layout *l, const place *p)
{
    enum { STRIPS = 64 };
    const lwi_plot_theme *t = &l->figure->theme;
    const lwi_plot_ink ink = {.colour = t->muted, .size = TICK_SIZE};
    const lwi_plot_pen pen = {t->axis, 1, LWI_PLOT_SOLID};
    const box b = p->box;
    const double x = b.x + b.width + BAR_GAP, right = x + BAR_WIDTH;
    if (!p->panel->bar) return;
    for (int k = 0; k < STRIPS; k++) {
        const double y0 = round(b.y + b.height * (1 - (k + 1.0) / STRIPS));
        const double y1 = round(b.y + b.height * (1 - (double)k / STRIPS));
        lwi_plot_draw_rect(l->canvas, x, y0, BAR_WIDTH, y1 - y0,
                           lwi_plot_scale_colour(t, (k + 0.5) / STRIPS));
    }
    for (int i = 0; i < p->z.ntick; i++) {
        const double y = b.y + b.height * (1 - lwi_plot_axis_at(&p->z, p->z.tick[i]));
        lwi_plot_draw_line(l->canvas, right, y, right + 4, y, &pen);
        lwi_plot_draw_text(l->canvas, right + 7, y + 4, LWI_PLOT_START, &ink, p->z.label[i]);
    }
}

static void draw_curve(layout *l, const place *p, const lwi_plot_curve *c, lwi_plot_trace *trace)
{
    if (c->marks) {
        draw_marks(l, p, c);
        return;
    }
    for (long k = 0; k < c->n; k++) {
        if (lwi_plot_plottable(c->x[k]) && lwi_plot_plottable(c->y[k]))
            lwi_plot_trace_add(trace, x_of(p, c->x[k]), y_of(p, c->y[k]));
        else
            draw_piece(l, trace, c);
    }
    draw_piece(l, trace, c);
}

static lw_status draw_panel(layout *l, const place *p, lw_error *error)
{
    const lwi_plot_ink ink = {.colour = l->figure->theme.muted, .size = LABEL_SIZE};
    const box b = p->box;
    lwi_plot_trace trace = {0};
    draw_grid(l, p);
    l->canvas->type->clip(l->canvas, b.x - 3, b.y - 3, b.width + 6, b.height + 6);
    draw_tiles(l, p);
    for (int i = 0; i < p->panel->ncurve; i++) draw_curve(l, p, &p->panel->curve[i], &trace);
    l->canvas->type->unclip(l->canvas);
    const bool full = trace.full;
    lwi_plot_trace_free(&trace);
    if (full) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the points of a curve");
    if (lwi_plot_range_is_empty(&p->yr))
        lwi_plot_draw_text(l->canvas, b.x + b.width / 2, b.y + b.height / 2, LWI_PLOT_MIDDLE, &ink,
                           "no finite numbers here");
    put_head(l, p, true);
    draw_bar(l, p);
    draw_foot(l, p);
    return LW_OK;
}

double lwi_plot_figure_height(const lwi_plot_figure *figure)
{
    const int rows = (figure->npanel + figure->columns - 1) / figure->columns;
    const double row = figure->shared_x ? 185 : 230;
    return fmin(fmax(600, 80 + row * rows), 6000);
}

lw_status lwi_plot_figure_draw(const lwi_plot_figure *figure, lwi_plot_canvas *canvas,
                               lw_error *error)
{
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    layout l = {
        .figure = figure, .canvas = canvas, .place = LWI_PUSH(&arena, place, figure->npanel)};
    lw_status status =
        l.place ? arrange(&l, error) : lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    if (status == LW_OK) {
        const lwi_plot_ink ink = {.colour = figure->theme.ink, .size = TITLE_SIZE, .bold = true};
        lwi_plot_draw_rect(canvas, 0, 0, canvas->width, canvas->height, figure->theme.paper);
        char title[512];
        if (figure->title) {
            lwi_plot_text_fit(title, sizeof title, figure->title, canvas->width - 2 * MARGIN,
                              TITLE_SIZE, true);
            lwi_plot_draw_text(canvas, MARGIN, MARGIN + 12, LWI_PLOT_START, &ink, title);
        }
        for (int i = 0; i < figure->npanel && status == LW_OK; i++)
            status = draw_panel(&l, &l.place[i], error);
    }
    lwi_arena_free(&arena);
    return status;
}
