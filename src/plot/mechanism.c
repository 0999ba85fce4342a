// mechanism.c -- lw_plot_mechanism: a model at its start or at a row of a result, in one view or four.
#include "plot/options.h"
#include "plot/scene.h"
#include "plot/view.h"

#include "io/result/columns.h"
#include "io/text.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 14.0
#define TITLE 26.0
#define GAP 18.0

enum { MAX_VIEWS = 4, MAX_LARGE = 14 }; // bodies and joints with large marks and letters

typedef struct picture {
    const lw_model *model;
    lw_result *result;
    const lw_plot_options *options;
    lwi_arena arena;
    lwi_plot_poses poses;
    double time;
    lwi_plot_scene scene;
    lwi_plot_theme theme;
    lw_error *error;
} picture;

// ------------------------------------------------------------------------------------------ poses

static lw_status poses_at_start(picture *p)
{
    const lw_model *m = p->model;
    p->poses.R = lwi_arena_push(&p->arena, (size_t)m->nbody, sizeof *p->poses.R);
    p->poses.r = lwi_arena_push(&p->arena, (size_t)m->nbody, sizeof *p->poses.r);
    if (!p->poses.R || !p->poses.r)
        return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for a picture of the mechanism");
    m3_identity(p->poses.R[0]);
    for (int i = 1; i < m->nbody; i++) {
        quat_matrix(p->poses.R[i], m->body[i].quat0);
        v3_copy(p->poses.r[i], m->body[i].r0);
    }
    return LW_OK;
}

// The row nearest to options->from.
static lw_status find_row(picture *p, long *row)
{
    const long n = lw_result_row_count(p->result);
    int column;
    *row = 0;
    if (n <= 0) return lwi_fail(p->error, LW_ERR_ARGUMENT, "the result has no rows");
    TRY(lw_result_find_column(p->result, "time", &column, p->error));
    double *time = malloc((size_t)n * sizeof *time);
    if (!time) return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for the times of a result");
    const lw_status status = lw_result_read(p->result, column, 0, n, time, p->error);
    for (long k = 1; k < n && status == LW_OK && p->options->has_from; k++)
        if (fabs(time[k] - p->options->from) < fabs(time[*row] - p->options->from)) *row = k;
    if (status == LW_OK) p->time = time[*row];
    free(time);
    return status;
}

static lw_status poses_at_row(picture *p, long row)
{
    for (int i = 1; i < p->model->nbody; i++) {
        double pose[7];
        int column[7];
        TRY(lwi_result_pose_columns(p->result, p->model->body[i].name, column, p->error));
        for (int k = 0; k < 7; k++)
            TRY(lw_result_read(p->result, column[k], row, 1, &pose[k], p->error));
        double n2 = 0, size = 0;
        for (int k = 0; k < 7; k++) size = fmax(size, isnan(pose[k]) ? INFINITY : fabs(pose[k]));
        for (int k = 3; k < 7; k++) n2 += pose[k] * pose[k];
        if (!(size < 1e100) || !(n2 > 1e-6))
            return lwi_fail(p->error, LW_ERR_ARGUMENT,
                            "body '%s' has no pose in row %ld of the result: its position or "
                            "orientation is not finite",
                            p->model->body[i].name, row);
        v3_copy(p->poses.r[i], pose);
        quat_matrix(p->poses.R[i], pose + 3);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ views

// The plane of a planar mechanism: contains all joint points and mass centres; axes of rotations are
// along its normal, those of translations in it.
static lw_view plane_of(const picture *p)
{
    static const lw_view planes[] = {LW_VIEW_YZ, LW_VIEW_XZ, LW_VIEW_XY}; // normals x, y, z
    const lwi_plot_scene *s = &p->scene;
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    double size = 0;
    if (!s->njoint) return LW_VIEW_ALL;
    for (int i = 0; i < s->nline; i++)
        for (int k = 0; k < 6; k++) {
            const double x = s->line[i].p[k / 3][k % 3];
            lo[k % 3] = fmin(lo[k % 3], x), hi[k % 3] = fmax(hi[k % 3], x);
        }
    for (int k = 0; k < 3; k++) size = fmax(size, hi[k] - lo[k]);
    for (int k = 2; k >= 0; k--) {
        bool flat = hi[k] - lo[k] <= 1e-3 * size;
        for (int i = 0; i < s->njoint && flat; i++) {
            const lwi_plot_joint_mark *j = &s->joint[i];
            flat = j->naxis > 0;
            for (int a = 0; a < j->naxis && flat; a++)
                flat = j->slides[a] ? fabs(j->axis[a][k]) < 1e-3 : fabs(j->axis[a][k]) > 0.999;
        }
        if (flat) return planes[k];
    }
    return LW_VIEW_ALL;
}

static int up_axis(const lw_model *m)
{
    int up = 2;
    for (int k = 0; k < 3; k++)
        if (fabs(m->gravity[k]) > 2 * fabs(m->gravity[up])) up = k;
    return up;
}

static int choose_cameras(const picture *p, lwi_plot_camera *camera)
{
    static const lw_view all[] = {LW_VIEW_XZ, LW_VIEW_YZ, LW_VIEW_XY, LW_VIEW_ISO};
    const lw_view view = p->options->view == LW_VIEW_AUTO ? plane_of(p) : p->options->view;
    const int up = up_axis(p->model);
    if (view != LW_VIEW_ALL) {
        camera[0] = lwi_plot_camera_of(view, up);
        return 1;
    }
    for (int i = 0; i < MAX_VIEWS; i++) camera[i] = lwi_plot_camera_of(all[i], up);
    return MAX_VIEWS;
}

static lw_status draw_views(picture *p, lwi_plot_canvas *canvas, const lwi_plot_camera *camera,
                            int n)
{
    lwi_plot_view view[MAX_VIEWS];
    const int columns = n > 1 ? 2 : 1;
    const double top = MARGIN + TITLE, side = canvas->width - 2 * MARGIN;
    const double width = (side - GAP * (columns - 1)) / columns;
    const double height = (canvas->height - top - MARGIN - GAP * (columns - 1)) / columns;
    double scale = INFINITY;
    for (int i = 0; i < n; i++) {
        view[i] = (lwi_plot_view){.model = p->model,
                                  .scene = &p->scene,
                                  .camera = &camera[i],
                                  .extent = lwi_plot_view_extent(&p->scene, &camera[i]),
                                  .x = MARGIN + i % columns * (width + GAP),
                                  .y = top + i / columns * (height + GAP),
                                  .width = width,
                                  .height = height,
                                  .theme = &p->theme,
                                  .compact = n > 1 || p->scene.nbody + p->scene.njoint > MAX_LARGE};
        view[i].scale = lwi_plot_view_scale(&view[i]);
        if (camera[i].axis[0]) scale = fmin(scale, view[i].scale);
    }
    for (int i = 0; i < n; i++) { // views along the axes have the same scale
        if (camera[i].axis[0]) view[i].scale = scale;
        TRY(lwi_plot_view_draw(&view[i], canvas, &p->arena, p->error));
    }
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- all

static const char *source_of(const lw_model *m)
{
    const char *source = m->desc.source;
    if (!source || !*source) return "mechanism";
    const char *slash = strrchr(source, '/');
    return slash && slash[1] ? slash + 1 : source;
}

static void draw_title(const picture *p, lwi_plot_canvas *canvas)
{
    char text[512], fitted[512];
    const lw_plot_options *o = p->options;
    const lwi_plot_ink ink = {.colour = p->theme.ink, .size = 14, .bold = true};
    const int nb = p->scene.nbody, nj = p->scene.njoint;
    if (o->title)
        snprintf(text, sizeof text, "%s", o->title);
    else
        snprintf(text, sizeof text, "%s at t = %.6g s: %d bod%s, %d joint%s", source_of(p->model),
                 p->time, nb, nb == 1 ? "y" : "ies", nj, nj == 1 ? "" : "s");
    lwi_plot_text_fit(fitted, sizeof fitted, text, canvas->width - 2 * MARGIN, 14, true);
    lwi_plot_draw_text(canvas, MARGIN, MARGIN + 12, LWI_PLOT_START, &ink, fitted);
}

static lw_status draw(picture *p, const char *file)
{
    lwi_plot_canvas *canvas;
    lwi_plot_camera camera[MAX_VIEWS];
    const int n = choose_cameras(p, camera);
    TRY(lwi_plot_canvas_open(p->options, 900, n > 1 ? 760 : 600, file, &canvas, p->error));
    lwi_plot_draw_rect(canvas, 0, 0, canvas->width, canvas->height, p->theme.paper);
    draw_title(p, canvas);
    const lw_status drawn = draw_views(p, canvas, camera, n);
    return lwi_plot_canvas_close(canvas, drawn, file, p->error);
}

static lw_status prepare(picture *p)
{
    long row;
    TRY(poses_at_start(p));
    if (p->result) {
        TRY(find_row(p, &row));
        TRY(poses_at_row(p, row));
    }
    p->theme = lwi_plot_theme_of(p->options);
    return lwi_plot_scene_build(p->model, &p->poses, &p->arena, &p->scene, p->error);
}

lw_status lw_plot_mechanism(const lw_model *model, lw_result *result,
                            const lw_plot_options *options, const char *file, lw_error *error)
{
    static const lw_plot_options plain;
    lwi_numbers numbers;
    if (error) memset(error, 0, sizeof *error);
    if (!model || !file) return lwi_fail(error, LW_ERR_ARGUMENT, "model and file must be given");
    if (options &&
        (options->ny || options->x || options->has_preset || options->has_to || options->log))
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "y, x, preset, to and log are of results; a mechanism has view, from, title, "
            "size and theme");
    if (options && options->has_from && !result)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "from: a model has only its start; expected a result");
    TRY(lwi_plot_check_file(file, error));
    if (!lwi_numbers_begin(&numbers))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    picture p = {
        .model = model, .result = result, .options = options ? options : &plain, .error = error};
    lwi_arena_init(&p.arena, NULL);
    lw_status status = prepare(&p);
    if (status == LW_OK) status = draw(&p, file);
    lwi_arena_free(&p.arena);
    lwi_numbers_end(&numbers);
    return status;
}
