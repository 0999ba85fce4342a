// plan.c -- lw_plot_plan: the elimination tree of a mechanism.
//
// A node is above its children and the bodies that it adds.  The area of its disc is proportional to the
// equations of its front, closed and left open; the widest front has another colour.  Names are written
// if there is enough space.
#include "system/system.h"
#include "plot/options.h"

#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MARGIN 16.0
#define TITLE 46.0
#define LEVEL 62.0 // points between levels where there is room
#define MAX_HEIGHT 2000.0
#define ROOM 30.0 // points of a column from which on bodies have names
#define BIG 9.0   // radius of the widest join's disc

typedef struct picture {
    const lw_plot_options *options;
    lwi_plot_theme theme;
    lwi_system closed;
    const lwi_plan *plan;
    int widest;           // node
    int *first, *leaves;  // [nnode] first column, columns
    double *x;            // [nnode] in columns
    double column, level; // points
    double top;
} picture;

// ------------------------------------------------------------------------------------------ layout

static int front(const lwi_plan_node *node)
{
    return node->closed_rows + node->open_rows;
}

// Columns from the roots down, places from the leaves up: children come before their parents.
static lw_status lay_out(picture *p, lwi_arena *arena)
{
    const lwi_plan *plan = p->plan;
    int column = 0;
    p->first = LWI_PUSH(arena, int, plan->nnode);
    p->leaves = LWI_PUSH(arena, int, plan->nnode);
    p->x = LWI_PUSH(arena, double, plan->nnode);
    if (!p->first || !p->leaves || !p->x) return LW_ERR_MEMORY;
    for (int k = 0; k < plan->nnode; k++) {
        const lwi_plan_node *node = &plan->node[k];
        p->leaves[k] = node->body.n;
        for (int i = 0; i < node->child.n; i++)
            p->leaves[k] += p->leaves[plan->item[node->child.first + i]];
        const lwi_plan_node *widest = &plan->node[p->widest];
        if (front(node) > front(widest) || // of equals where more is eliminated
            (front(node) == front(widest) && node->closed_rows > widest->closed_rows))
            p->widest = k;
    }
    for (int k = plan->nnode - 1; k >= 0; k--) {
        const lwi_plan_node *node = &plan->node[k];
        if (node->parent < 0) p->first[k] = column, column += p->leaves[k];
        int at = p->first[k];
        for (int i = 0; i < node->child.n; i++) {
            const int child = plan->item[node->child.first + i];
            p->first[child] = at;
            at += p->leaves[child];
        }
    }
    for (int k = 0; k < plan->nnode; k++) {
        const lwi_plan_node *node = &plan->node[k];
        const double last = p->first[k] + p->leaves[k] - 0.5; // of the bodies, which come last
        const int *child = &plan->item[node->child.first];
        const double left = node->child.n ? p->x[child[0]] : p->first[k] + 0.5;
        const double right = node->body.n    ? last
                             : node->child.n ? p->x[child[node->child.n - 1]]
                                             : left;
        p->x[k] = 0.5 * (left + right);
    }
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- drawing

static double x_of(const picture *p, double column)
{
    return MARGIN + column * p->column;
}

static double y_of(const picture *p, int node)
{
    return p->top + (p->plan->nlevel - 1 - p->plan->node[node].level + 0.5) * p->level;
}

// Column and height of body number i that enters at a node.
static void body_place(const picture *p, int k, int i, double place[2])
{
    const lwi_plan_node *node = &p->plan->node[k];
    place[0] = x_of(p, p->first[k] + p->leaves[k] - node->body.n + i + 0.5);
    place[1] = y_of(p, k) + 0.62 * p->level;
}

static void draw_lines(const picture *p, lwi_plot_canvas *canvas)
{
    const lwi_plan *plan = p->plan;
    const lwi_plot_pen pen = {.colour = p->theme.axis, .width = p->column < 4 ? 0.4 : 1};
    for (int k = 0; k < plan->nnode; k++) {
        const lwi_plan_node *node = &plan->node[k];
        const double x = x_of(p, p->x[k]), y = y_of(p, k);
        if (node->parent >= 0)
            lwi_plot_draw_line(canvas, x, y, x_of(p, p->x[node->parent]), y_of(p, node->parent),
                               &pen);
        for (int i = 0; i < node->body.n; i++) {
            double place[2];
            body_place(p, k, i, place);
            lwi_plot_draw_line(canvas, x, y, place[0], place[1], &pen);
        }
    }
}

// A body's name; "part of hub" where it was split.
static void body_text(const picture *p, int item, char *text, size_t size)
{
    const lw_model *model = p->closed.model;
    const int part = item - model->nnode;
    const int node = part < 0 ? item : p->closed.split.part[part].body;
    snprintf(text, size, "%s%.140s", part < 0 ? "" : "part of ",
             model->body[model->node[node].body].name);
}

static void draw_bodies(const picture *p, lwi_plot_canvas *canvas)
{
    const double half = fmin(3, 0.3 * p->column);
    const lwi_plot_ink ink = {.colour = p->theme.muted, .size = 9};
    for (int k = 0; k < p->plan->nnode; k++) {
        const lwi_plan_node *node = &p->plan->node[k];
        for (int i = 0; i < node->body.n; i++) {
            const int item = p->plan->item[node->body.first + i];
            char text[160], name[160];
            double place[2];
            body_place(p, k, i, place);
            lwi_plot_draw_rect(canvas, place[0] - half, place[1] - half, 2 * half, 2 * half,
                               p->theme.ink);
            if (p->column < ROOM) continue;
            body_text(p, item, name, sizeof name);
            lwi_plot_text_fit(text, sizeof text, name, p->column - 4, ink.size, false);
            lwi_plot_draw_text(canvas, place[0], place[1] + 13, LWI_PLOT_MIDDLE, &ink, text);
        }
    }
}

// "j1, j2: 10 + 5": names of what is closed, equations closed and left open.
static void node_text(const picture *p, const lwi_plan_node *node, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < node->closed.n && used < size - 1; i++) {
        const int e = p->plan->item[node->closed.first + i], j = p->closed.edge_joint[e];
        const char *name = e >= p->closed.nedge ? "rigid link"
                           : j >= 0             ? p->closed.model->joint[j].name
                                                : "coupling";
        const int n = snprintf(text + used, size - used, "%s%s", i ? ", " : "", name);
        used = n < 0 || (size_t)n >= size - used ? size - 1 : used + (size_t)n;
    }
}

static void draw_joins(const picture *p, lwi_plot_canvas *canvas)
{
    const double widest = fmax(1, front(&p->plan->node[p->widest]));
    const lwi_plot_ink bold = {.colour = p->theme.ink,
                               .size = 9,
                               .bold = true,
                               .halo = p->theme.paper},
                       pale = {.colour = p->theme.muted, .size = 8, .halo = p->theme.paper};
    for (int k = 0; k < p->plan->nnode; k++) {
        const lwi_plan_node *node = &p->plan->node[k];
        const double x = x_of(p, p->x[k]), y = y_of(p, k);
        const double big = fmin(BIG, fmax(0.45 * p->level, 2));
        char text[400], fitted[400];
        canvas->type->disc(canvas, x, y, big * fmax(0.2, sqrt(front(node) / widest)),
                           k == p->widest ? p->theme.curve[1] : p->theme.curve[0],
                           &(lwi_plot_pen){0});
        const double room = p->leaves[k] * p->column;
        if (p->level < 30 || room < 1.5 * ROOM) continue;
        node_text(p, node, text, sizeof text);
        lwi_plot_text_fit(fitted, sizeof fitted, text, 0.5 * room, bold.size, true);
        lwi_plot_draw_text(canvas, x + BIG + 3, y - 1, LWI_PLOT_START, &bold, fitted);
        snprintf(text, sizeof text, "%d + %d%s", node->closed_rows, node->open_rows,
                 k == p->widest ? ": the widest" : "");
        lwi_plot_draw_text(canvas, x + BIG + 3, y + 9, LWI_PLOT_START, &pale, text);
    }
}

static void draw_title(const picture *p, lwi_plot_canvas *canvas)
{
    const lwi_plan *plan = p->plan;
    const lwi_plot_ink bold = {.colour = p->theme.ink, .size = 14, .bold = true},
                       plain = {.colour = p->theme.muted, .size = 10};
    const double room = canvas->width - 2 * MARGIN;
    char text[400], fitted[400];
    snprintf(text, sizeof text, "%s plan: %d joins on %d levels, widest %d equations",
             lwi_plan_kind_name(plan->kind), plan->nnode, plan->nlevel, plan->width);
    if (p->options->title) snprintf(text, sizeof text, "%s", p->options->title);
    lwi_plot_text_fit(fitted, sizeof fitted, text, room, bold.size, true);
    lwi_plot_draw_text(canvas, MARGIN, MARGIN + 12, LWI_PLOT_START, &bold, fitted);
    snprintf(
        text, sizeof text,
        "squares: bodies; discs: joins, the joints closed there, equations closed + left open; "
        "%.4g multiplications, %.4g on the longest path",
        plan->work, plan->critical);
    lwi_plot_text_fit(fitted, sizeof fitted, text, room, plain.size, false);
    lwi_plot_draw_text(canvas, MARGIN, MARGIN + 28, LWI_PLOT_START, &plain, fitted);
}

static lw_status draw(picture *p, const char *file, lw_error *error)
{
    lwi_plot_canvas *canvas;
    const int levels = p->plan->nlevel + 1;
    const double height = TITLE + MARGIN + fmin(MAX_HEIGHT, (fmax(3, levels) - 0.5) * LEVEL);
    TRY(lwi_plot_canvas_open(p->options, 900, height, file, &canvas, error));
    const int columns = p->plan->graph.nbody > 0 ? p->plan->graph.nbody : 1;
    p->top = TITLE;
    p->column = (canvas->width - 2 * MARGIN) / columns;
    p->level = (canvas->height - TITLE - MARGIN) / (levels - 0.5);
    lwi_plot_draw_rect(canvas, 0, 0, canvas->width, canvas->height, p->theme.paper);
    draw_title(p, canvas);
    draw_lines(p, canvas);
    draw_bodies(p, canvas);
    draw_joins(p, canvas);
    return lwi_plot_canvas_close(canvas, LW_OK, file, error);
}

// --------------------------------------------------------------------------------------------- all

static lw_status check(const lw_plot_options *o, int *kind, lw_error *error)
{
    *kind = lwi_plan_kind_find(o->plan ? o->plan : "auto");
    if (*kind < 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "plan: '%s' is not known; expected auto, comb, balanced or mixed", o->plan);
    if (o->ny || o->x || o->has_preset || o->has_from || o->has_to || o->log || o->initial ||
        o->view != LW_VIEW_AUTO)
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "y, x, preset, from, to, log, initial and view are of other pictures; a plan has "
            "title, size and theme");
    return LW_OK;
}

lw_status lw_plot_plan(const lw_model *model, const lw_plot_options *options, const char *file,
                       lw_error *error)
{
    static const lw_plot_options plain;
    lwi_numbers numbers;
    lwi_arena arena;
    int kind;
    if (error) memset(error, 0, sizeof *error);
    if (!model || !file) return lwi_fail(error, LW_ERR_ARGUMENT, "model and file must be given");
    picture p = {.options = options ? options : &plain};
    TRY(check(p.options, &kind, error));
    TRY(lwi_plot_check_file(file, error));
    if (!lwi_numbers_begin(&numbers))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    lwi_arena_init(&arena, NULL);
    lw_status status = lwi_system_plan(model, (lw_plan)kind, NULL, &arena, &p.closed);
    p.plan = &p.closed.plan;
    p.theme = lwi_plot_theme_of(p.options);
    if (status == LW_OK) status = lay_out(&p, &arena);
    if (status != LW_OK) lwi_fail(error, status, "no memory for a picture of a plan");
    if (status == LW_OK) status = draw(&p, file, error);
    lwi_arena_free(&arena);
    lwi_numbers_end(&numbers);
    return status;
}
