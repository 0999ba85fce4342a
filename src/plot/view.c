// view.c -- draws a scene as seen along one direction.
//
// From back to front: grid, shapes, lines of the bodies, springs, joints, mass centres, names.  Marks have
// the same size in every picture; only shapes and lines are to scale.
#include "plot/view.h"

#include "base/assert.h"
#include "plot/labels.h"
#include "spatial/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 20.0                         // line above a view
#define FOOT 18.0                         // labels of the axis below
#define SIDE 34.0                         // labels of the axis at the left
enum { MAX_NAMED = 40, MAX_TRIED = 500 }; // bodies and joints: all with names; names that are tried
#define BORDER 26.0                       // margin for marks and names

typedef struct drawing {
    const lwi_plot_view *view;
    lwi_plot_canvas *canvas;
    double x, y, width, height; // the view without head and axes
    double middle[2];           // of the extent
    lwi_plot_labels labels;
    double (*hull)[2];
    int max_segment, max_mark; // of the labels
} drawing;

// ------------------------------------------------------------------------------------- projection

lwi_plot_camera lwi_plot_camera_of(lw_view view, int up)
{
    switch (view) {
    case LW_VIEW_XY:
        return (lwi_plot_camera){"xy", {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {"x", "y"}};
    case LW_VIEW_XZ:
        return (lwi_plot_camera){"xz", {1, 0, 0}, {0, 0, 1}, {0, -1, 0}, {"x", "z"}};
    case LW_VIEW_YZ:
        return (lwi_plot_camera){"yz", {0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {"y", "z"}};
    default:
        break;
    }
    // From the front, right and above: axis `u` points up, the next two in cyclic order right and back.
    lwi_plot_camera c = {.name = "oblique"};
    const int u = up, r = (up + 1) % 3, b = (up + 2) % 3;
    double vertical[3] = {0};
    vertical[u] = 1;
    c.toward[r] = 0.45, c.toward[b] = -0.75, c.toward[u] = 0.48;
    v3_scale(c.toward, 1 / v3_norm(c.toward), c.toward);
    v3_cross(c.right, vertical, c.toward);
    v3_scale(c.right, 1 / v3_norm(c.right), c.right);
    v3_cross(c.up, c.toward, c.right);
    return c;
}

typedef struct extending {
    const lwi_plot_camera *camera;
    lwi_plot_extent extent;
} extending;

static void extend(void *user, const double p[3])
{
    extending *e = user;
    const double at[2] = {v3_dot(e->camera->right, p), v3_dot(e->camera->up, p)};
    for (int k = 0; k < 2; k++) {
        e->extent.lo[k] = fmin(e->extent.lo[k], at[k]);
        e->extent.hi[k] = fmax(e->extent.hi[k], at[k]);
    }
}

lwi_plot_extent lwi_plot_view_extent(const lwi_plot_scene *scene, const lwi_plot_camera *camera)
{
    extending e = {camera, {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}}};
    lwi_plot_scene_points(scene, extend, &e);
    if (!(e.extent.lo[0] <= e.extent.hi[0])) e.extent = (lwi_plot_extent){{0, 0}, {0, 0}};
    return e.extent;
}

static bool has_axes(const lwi_plot_view *v)
{
    return v->camera->axis[0] != NULL;
}

static void inside(const lwi_plot_view *v, double *x, double *y, double *width, double *height)
{
    const double side = has_axes(v) ? SIDE : 0, foot = has_axes(v) ? FOOT : 0;
    *x = v->x + side, *y = v->y + HEAD;
    *width = v->width - side, *height = v->height - HEAD - foot;
}

double lwi_plot_view_scale(const lwi_plot_view *v)
{
    double x, y, width, height;
    inside(v, &x, &y, &width, &height);
    const double a = (width - 2 * BORDER) / fmax(v->extent.hi[0] - v->extent.lo[0], 1e-300);
    const double b = (height - 2 * BORDER) / fmax(v->extent.hi[1] - v->extent.lo[1], 1e-300);
    const double scale = fmin(a, b);
    return scale > 0 && scale < 1e9 ? scale : 200; // a single point: a metre is 200 points
}

static void project(const drawing *d, const double *p, double *at)
{
    const lwi_plot_camera *c = d->view->camera;
    at[0] = d->x + d->width / 2 + d->view->scale * (v3_dot(c->right, p) - d->middle[0]);
    at[1] = d->y + d->height / 2 - d->view->scale * (v3_dot(c->up, p) - d->middle[1]);
}

// ------------------------------------------------------------------------------------------- grid

static lwi_plot_axis axis_of(const drawing *d, int k, double length)
{
    const double half = 0.5 * length / d->view->scale;
    lwi_plot_axis axis = {.lo = d->middle[k] - half, .hi = d->middle[k] + half};
    // equal steps: squares
    axis.step = lwi_plot_nice_step(fmax(d->width, d->height) / d->view->scale,
                                   (int)fmax(fmax(d->width, d->height) / 55, 2));
    lwi_plot_axis_ticks(&axis, 2);
    return axis;
}

static void put_power(char *text, size_t size, const lwi_plot_axis *axis)
{
    char power[40];
    text[0] = 0;
    if (!axis->exponent) return;
    lwi_plot_put_power(power, sizeof power, axis->exponent);
    snprintf(text, size, "%s ", power);
}

static void draw_head(const drawing *d, const lwi_plot_axis *x, const lwi_plot_axis *y)
{
    const lwi_plot_view *v = d->view;
    const lwi_plot_ink bold = {.colour = v->theme->ink, .size = 12, .bold = true};
    const lwi_plot_ink plain = {.colour = v->theme->muted, .size = 12};
    char text[160], x_power[48], y_power[48];
    lwi_plot_draw_text(d->canvas, v->x, v->y + 12, LWI_PLOT_START, &bold, v->camera->name);
    if (!has_axes(v)) return;
    put_power(x_power, sizeof x_power, x);
    put_power(y_power, sizeof y_power, y);
    snprintf(text, sizeof text, "  %s [%sm] to the right, %s [%sm] up", v->camera->axis[0], x_power,
             v->camera->axis[1], y_power);
    lwi_plot_draw_text(d->canvas, v->x + lwi_plot_text_width(v->camera->name, 12, true), v->y + 12,
                       LWI_PLOT_START, &plain, text);
}

static void draw_grid(const drawing *d)
{
    const lwi_plot_view *v = d->view;
    const lwi_plot_ink ink = {.colour = v->theme->muted, .size = v->compact ? 10 : 11};
    const lwi_plot_axis x = axis_of(d, 0, d->width), y = axis_of(d, 1, d->height);
    const lwi_plot_pen grid = {v->theme->grid, 1, LWI_PLOT_SOLID},
                       zero = {v->theme->zero, 1, LWI_PLOT_SOLID};
    for (int i = 0; i < x.ntick; i++) {
        const double at = d->x + d->width * lwi_plot_axis_at(&x, x.tick[i]);
        lwi_plot_draw_line(d->canvas, at, d->y, at, d->y + d->height,
                           x.tick[i] == 0 ? &zero : &grid);
        lwi_plot_draw_text(d->canvas, at, d->y + d->height + 14, LWI_PLOT_MIDDLE, &ink, x.label[i]);
    }
    for (int i = 0; i < y.ntick; i++) {
        const double at = d->y + d->height * (1 - lwi_plot_axis_at(&y, y.tick[i]));
        lwi_plot_draw_line(d->canvas, d->x, at, d->x + d->width, at,
                           y.tick[i] == 0 ? &zero : &grid);
        lwi_plot_draw_text(d->canvas, d->x - 6, at + 4, LWI_PLOT_END, &ink, y.label[i]);
    }
    draw_head(d, &x, &y);
}

static void block_segment(drawing *d, const double *a, const double *b)
{
    LWI_ASSERT_INDEX(d->labels.nsegment, d->max_segment);
    double *s = d->labels.segment[d->labels.nsegment++];
    s[0] = a[0], s[1] = a[1], s[2] = b[0], s[3] = b[1];
}

static void block_disc(drawing *d, const double *at, double radius)
{
    LWI_ASSERT_INDEX(d->labels.nmark, d->max_mark);
    double *m = d->labels.mark[d->labels.nmark++];
    m[0] = at[0], m[1] = at[1], m[2] = radius;
}

// The directions of x, y, z in an oblique view, in the lower left corner.
static void draw_triad(drawing *d)
{
    static const char *const names[] = {"x", "y", "z"};
    const lwi_plot_theme *t = d->view->theme;
    const double x = d->x + 30, y = d->y + d->height - 30;
    const lwi_plot_ink ink = {.colour = t->muted, .size = 11};
    for (int k = 0; k < 3; k++) {
        const double dx = 26 * d->view->camera->right[k], dy = -26 * d->view->camera->up[k];
        lwi_plot_draw_line(d->canvas, x, y, x + dx, y + dy,
                           &(lwi_plot_pen){t->muted, 1.5, LWI_PLOT_SOLID});
        lwi_plot_draw_text(d->canvas, x + 1.35 * dx, y + 1.35 * dy + 4, LWI_PLOT_MIDDLE, &ink,
                           names[k]);
        block_disc(d, (const double[2]){x + dx, y + dy}, 14);
    }
    draw_head(d, NULL, NULL);
}

// ----------------------------------------------------------------------------------------- bodies

// One colour for each rigid group; grey for that of the ground.
static lwi_plot_colour body_colour(const drawing *d, int body)
{
    const int group = d->view->scene->group[body];
    if (group == 0) return d->view->theme->muted;
    return lwi_plot_curve_colour(d->view->theme, group - 1, d->view->scene->ngroup - 1);
}

static int compare_points(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return p[0] < q[0] ? -1 : p[0] > q[0] ? 1 : p[1] < q[1] ? -1 : p[1] > q[1];
}

static double turn(const double *o, const double *a, const double *b)
{
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

// Convex hull of n points: Andrew's monotone chain.
static int hull(double (*h)[2], double (*p)[2], int n)
{
    int k = 0;
    qsort(p, (size_t)n, sizeof *p, compare_points);
    for (int pass = 0; pass < 2; pass++) {
        const int floor = k + 1; // points that this pass must keep
        for (int i = pass ? n - 2 : 0; pass ? i >= 0 : i < n; pass ? i-- : i++) {
            while (k > (pass ? floor - 1 : 1) && k >= 2 && turn(h[k - 2], h[k - 1], p[i]) <= 0) k--;
            memcpy(h[k++], p[i], sizeof *p);
        }
    }
    return k > 1 ? k - 1 : k; // the last point is the first one
}

static void draw_solid(drawing *d, const lwi_plot_solid *s)
{
    const lwi_plot_colour colour = body_colour(d, s->body);
    const lwi_plot_pen outline = {lwi_plot_faded(colour, 0.9), 1.1, LWI_PLOT_SOLID};
    const lwi_plot_pen edge = {lwi_plot_faded(colour, 0.35), 0.8, LWI_PLOT_SOLID};
    double(*p)[2] = d->hull, (*h)[2] = d->hull + s->np;
    for (int i = 0; i < s->np; i++) project(d, s->p[i], p[i]);
    const int n = hull(h, p, s->np);
    d->canvas->type->path(d->canvas, (const double(*)[2])h, n, true, lwi_plot_faded(colour, 0.16),
                          &outline);
    for (int i = 0; i < s->nedge; i++) {
        double a[2], b[2];
        project(d, s->p[s->edge[i][0]], a);
        project(d, s->p[s->edge[i][1]], b);
        if (hypot(a[0] - b[0], a[1] - b[1]) > 0.3)
            lwi_plot_draw_line(d->canvas, a[0], a[1], b[0], b[1], &edge);
    }
}

static void draw_body_line(drawing *d, const lwi_plot_link *line)
{
    const lwi_plot_colour colour = body_colour(d, line->body);
    double a[2], b[2];
    project(d, line->p[0], a);
    project(d, line->p[1], b);
    const lwi_plot_pen thick = {lwi_plot_faded(colour, 0.85), d->view->compact ? 3 : 4,
                                LWI_PLOT_SOLID};
    const lwi_plot_pen thin = {lwi_plot_faded(colour, 0.7), 1.2, LWI_PLOT_DASHED};
    lwi_plot_draw_line(d->canvas, a[0], a[1], b[0], b[1], line->thin ? &thin : &thick);
    block_segment(d, a, b);
}

// A zigzag between two straight ends; its size is constant in the picture.
static void draw_spring(drawing *d, const lwi_plot_spring_mark *s)
{
    enum { MAX_TURNS = 60 };
    double a[2], b[2], p[MAX_TURNS + 4][2];
    project(d, s->p[0], a);
    project(d, s->p[1], b);
    const double length = hypot(b[0] - a[0], b[1] - a[1]), bound = fmin(length, 1e4);
    if (length < 1) return;
    const double along[2] = {(b[0] - a[0]) / length, (b[1] - a[1]) / length};
    const double coil = fmax(bound - 2 * fmin(14, 0.2 * bound), 0), start = 0.5 * (length - coil);
    const int turns = (int)fmin(fmax(coil / 5, 4), MAX_TURNS);
    for (int i = 0; i < turns + 4; i++) {
        const bool outer = i > 1 && i < turns + 2;
        const double at = i == 0           ? 0
                          : i == turns + 3 ? length
                                           : start + coil * fmin(fmax(i - 1.5, 0), turns) / turns;
        const double out = !outer ? 0 : i % 2 ? 5 : -5;
        p[i][0] = a[0] + at * along[0] - out * along[1];
        p[i][1] = a[1] + at * along[1] + out * along[0];
    }
    d->canvas->type->path(d->canvas, (const double(*)[2])p, turns + 4, false, (lwi_plot_colour){0},
                          &(lwi_plot_pen){d->view->theme->muted, 1.2, LWI_PLOT_SOLID});
    block_segment(d, a, b);
}

// A disc in quarters, the sign for a mass centre.
static void draw_mass_centre(drawing *d, const lwi_plot_body_mark *mark)
{
    const lwi_plot_colour colour = body_colour(d, mark->body);
    const double r = d->view->compact ? 3.5 : 4.5;
    double at[2];
    project(d, mark->com, at);
    d->canvas->type->disc(d->canvas, at[0], at[1], r, d->view->theme->paper,
                          &(lwi_plot_pen){colour, 1.2, LWI_PLOT_SOLID});
    for (int side = -1; side <= 1; side += 2) {
        double p[8][2] = {{at[0], at[1]}};
        for (int i = 0; i < 7; i++) {
            const double angle = (side < 0 ? 3.141592653589793 : 0) + i * 3.141592653589793 / 12;
            p[i + 1][0] = at[0] + r * cos(angle), p[i + 1][1] = at[1] - r * sin(angle);
        }
        d->canvas->type->path(d->canvas, (const double(*)[2])p, 8, true, colour,
                              &(lwi_plot_pen){0});
    }
    block_disc(d, at, r + 1);
}

// ----------------------------------------------------------------------------------------- joints

// The sign for the ground below a joint: a line with hatches.
static void draw_ground(drawing *d, const double *at, double size)
{
    const lwi_plot_pen pen = {d->view->theme->muted, 1.2, LWI_PLOT_SOLID};
    const double y = at[1] + size + 3, half = 11;
    lwi_plot_draw_line(d->canvas, at[0], at[1], at[0], y, &pen);
    lwi_plot_draw_line(d->canvas, at[0] - half, y, at[0] + half, y, &pen);
    for (int i = 0; i < 5; i++) {
        const double x = at[0] - half + 2 + 4.5 * i;
        lwi_plot_draw_line(d->canvas, x + 3, y, x - 2, y + 5, &pen);
    }
    block_disc(d, (const double[2]){at[0], y + 2}, half);
}

// Projection of an axis: its direction in the picture, and its length.
static double seen(const drawing *d, const double *axis, double *direction)
{
    const lwi_plot_camera *c = d->view->camera;
    direction[0] = v3_dot(c->right, axis), direction[1] = -v3_dot(c->up, axis);
    const double length = hypot(direction[0], direction[1]);
    if (length > 1e-9) direction[0] /= length, direction[1] /= length;
    return length;
}

static void draw_axis(drawing *d, const double *at, const double *axis, double length)
{
    double e[2];
    const double s = length * seen(d, axis, e);
    if (s < 3) return;
    const double a[2] = {at[0] - s * e[0], at[1] - s * e[1]};
    const double b[2] = {at[0] + s * e[0], at[1] + s * e[1]};
    lwi_plot_draw_line(d->canvas, a[0], a[1], b[0], b[1],
                       &(lwi_plot_pen){d->view->theme->ink, 1.1, LWI_PLOT_DASH_DOT});
    block_segment(d, a, b);
}

// A rectangle around `at`, its first side along the direction e.
static void draw_slider(drawing *d, const double *at, const double *e, double along, double across)
{
    const double n[2] = {-e[1], e[0]};
    double p[4][2];
    for (int i = 0; i < 4; i++) {
        const double a = i == 0 || i == 3 ? -along : along, b = i < 2 ? -across : across;
        for (int k = 0; k < 2; k++) p[i][k] = at[k] + a * e[k] + b * n[k];
    }
    d->canvas->type->path(d->canvas, (const double(*)[2])p, 4, true, d->view->theme->paper,
                          &(lwi_plot_pen){d->view->theme->ink, 1.3, LWI_PLOT_SOLID});
}

static void draw_disc(drawing *d, const double *at, double r, bool filled)
{
    const lwi_plot_theme *t = d->view->theme;
    d->canvas->type->disc(d->canvas, at[0], at[1], r, filled ? t->ink : t->paper,
                          &(lwi_plot_pen){t->ink, 1.3, LWI_PLOT_SOLID});
}

// The sign of the joint's type, at its point on the second body.
static void draw_sign(drawing *d, const lwi_plot_joint_mark *j, const double *at, double size)
{
    double e[2] = {1, 0};
    const double plane = j->naxis ? seen(d, j->axis[0], e) : 0;
    if (plane < 0.05) e[0] = 1, e[1] = 0;
    switch (j->sign) {
    case LWI_JOINT_SQUARE:
        draw_slider(d, at, e, 0.6 * size, 0.6 * size);
        break;
    case LWI_JOINT_SLIDER:
        draw_slider(d, at, e, size * (plane > 0.3 ? 1.7 : 1), size);
        break;
    case LWI_JOINT_SLEEVE:
    case LWI_JOINT_THREAD:
        draw_slider(d, at, e, size * (plane > 0.3 ? 1.7 : 1), size);
        draw_disc(d, at, 0.6 * size, j->sign == LWI_JOINT_THREAD);
        break;
    case LWI_JOINT_BALL:
        draw_disc(d, at, size, false);
        draw_disc(d, at, 0.55 * size, true);
        break;
    case LWI_JOINT_PLATE:
        draw_slider(d, at, e, 0.3 * size, 2 * size);
        break;
    case LWI_JOINT_DIAMOND:
        draw_slider(d, at, (const double[2]){0.7071, 0.7071}, size, size);
        break;
    case LWI_JOINT_BAR:
        draw_disc(d, at, 0.6 * size, true);
        break;
    case LWI_JOINT_CIRCLE:
        draw_disc(d, at, size, false);
        if (j->naxis == 1 && plane < 0.2) draw_disc(d, at, 1, true); // the axis, seen from its end
        break;
    case LWI_JOINT_HIDDEN:
    case LWI_JOINT_UNSIGNED:
        break;
    }
}

static void draw_joint(drawing *d, const lwi_plot_joint_mark *j)
{
    const double size = d->view->compact ? 4 : 5;
    double at[2], other[2];
    project(d, j->p2, at);
    project(d, j->p1, other);
    const bool bar = j->sign == LWI_JOINT_BAR;
    if (j->grounded && !bar)
        draw_ground(d, d->view->model->joint[j->joint].body1 == 0 ? other : at, size);
    const lwi_plot_pen way = {d->view->theme->ink, bar ? 1.6 : 1,
                              bar ? LWI_PLOT_SOLID : LWI_PLOT_DOTTED};
    if (hypot(at[0] - other[0], at[1] - other[1]) > 1) {
        lwi_plot_draw_line(d->canvas, other[0], other[1], at[0], at[1], &way);
        block_segment(d, other, at);
    }
    for (int i = 0; i < j->naxis; i++) draw_axis(d, at, j->axis[i], 4.2 * size);
    if (bar) draw_disc(d, other, 0.6 * size, true);
    draw_sign(d, j, at, size);
    block_disc(d, at, size + 1);
}

// ------------------------------------------------------------------------------------------ names

static void draw_name(drawing *d, const double *at, double radius, const char *name,
                      lwi_plot_ink ink)
{
    char text[96];
    lwi_plot_label_place place;
    lwi_plot_text_fit(text, sizeof text, name, 160, ink.size, ink.bold);
    const double width = lwi_plot_text_width(text, ink.size, ink.bold);
    if (!lwi_plot_label_place_beside(&d->labels, at[0], at[1], radius, width, ink.size, &place))
        return;
    if (place.leader)
        lwi_plot_draw_line(d->canvas, at[0], at[1], place.lead[0], place.lead[1],
                           &(lwi_plot_pen){lwi_plot_faded(ink.colour, 0.5), 0.7, LWI_PLOT_SOLID});
    lwi_plot_draw_text(d->canvas, place.x, place.y, LWI_PLOT_START, &ink, text);
}

// Of many bodies only the first of each group has a name, of many joints only those that are not fixed; of very
// many, at equal distances, so many as a picture has room for.
static void draw_names(drawing *d)
{
    const lwi_plot_view *v = d->view;
    const bool many = v->scene->nbody + v->scene->njoint > MAX_NAMED;
    const int stride = many ? 1 + (v->scene->nbody + v->scene->njoint) / MAX_TRIED : 1;
    d->labels.strict = many;
    const double size = v->compact ? 10 : 11, radius = v->compact ? 4 : 5;
    double at[2];
    for (int i = 0; i < v->scene->nbody; i += stride) {
        const int body = v->scene->body[i].body;
        if (many && !v->scene->body[i].leads) continue;
        const lwi_plot_colour colour = lwi_plot_mix(body_colour(d, body), v->theme->ink, 0.25);
        project(d, v->scene->body[i].com, at);
        draw_name(d, at, radius, v->model->body[body].name,
                  (lwi_plot_ink){colour, size, true, lwi_plot_faded(v->theme->paper, 0.85)});
    }
    for (int i = 0; i < v->scene->njoint; i += stride) {
        if (many && v->scene->joint[i].sign == LWI_JOINT_SQUARE) continue;
        project(d, v->scene->joint[i].p2, at);
        draw_name(
            d, at, radius + 1, v->model->joint[v->scene->joint[i].joint].name,
            (lwi_plot_ink){v->theme->muted, size, false, lwi_plot_faded(v->theme->paper, 0.85)});
    }
}

// -------------------------------------------------------------------------------------------- all

static bool make_room(drawing *d, lwi_arena *arena)
{
    const lwi_plot_scene *s = d->view->scene;
    const int nsegment = s->nline + s->nspring + 3 * s->njoint;
    const int nmark = s->nbody + 2 * s->njoint + 3;
    d->max_segment = nsegment, d->max_mark = nmark;
    int points = 0;
    for (int i = 0; i < s->nsolid; i++) points = s->solid[i].np > points ? s->solid[i].np : points;
    d->labels.segment = lwi_arena_push(arena, (size_t)nsegment, sizeof *d->labels.segment);
    d->labels.mark = lwi_arena_push(arena, (size_t)nmark, sizeof *d->labels.mark);
    d->labels.placed =
        lwi_arena_push(arena, (size_t)(s->nbody + s->njoint), sizeof *d->labels.placed);
    d->hull = lwi_arena_push(arena, 3 * (size_t)points + 4, sizeof *d->hull);
    return d->labels.segment && d->labels.mark && d->labels.placed && d->hull;
}

lw_status lwi_plot_view_draw(const lwi_plot_view *view, lwi_plot_canvas *canvas, lwi_arena *arena,
                             lw_error *error)
{
    const lwi_plot_scene *s = view->scene;
    drawing d = {.view = view, .canvas = canvas};
    inside(view, &d.x, &d.y, &d.width, &d.height);
    for (int k = 0; k < 2; k++) d.middle[k] = 0.5 * (view->extent.lo[k] + view->extent.hi[k]);
    if (!make_room(&d, arena))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture of the mechanism");
    d.labels.x = d.x, d.labels.y = d.y, d.labels.width = d.width, d.labels.height = d.height;

    if (has_axes(view))
        draw_grid(&d);
    else
        draw_triad(&d);
    canvas->type->clip(canvas, d.x, d.y, d.width, d.height);
    for (int i = 0; i < s->nsolid; i++) draw_solid(&d, &s->solid[i]);
    for (int i = 0; i < s->nline; i++) draw_body_line(&d, &s->line[i]);
    for (int i = 0; i < s->nspring; i++) draw_spring(&d, &s->spring[i]);
    for (int i = 0; i < s->njoint; i++) draw_joint(&d, &s->joint[i]);
    for (int i = 0; i < s->nbody; i++) draw_mass_centre(&d, &s->body[i]);
    draw_names(&d);
    canvas->type->unclip(canvas);
    return LW_OK;
}
