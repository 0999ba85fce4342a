// page.c -- the page of `linkwork view`: the template of viewer/ with a model and a result in it.
//
// viewer/src/data.js describes the data.
#include "view/mesh.h"
#include "view/pack.h"

#include "base/assert.h"
#include "io/result/columns.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct page {
    const lw_model *model;
    lw_result *result;
    FILE *file;
    lw_error *error;
    lwi_arena arena;
    lwi_view_motion motion;
    lwi_plot_scene scene;
    const lw_view_desc *desc;
    const lw_view_clips *clips; // NULL: a result, or the start
    int nclip;                  // that are in the page
    lwi_view_mesh *mesh;        // [meshes + 1]
    double max_bytes, used;     // of columns
    long left_out;
    double *buffer;      // [rows of the result]
    float *narrow;       // [rows of the page]
    unsigned char *work; // of lwi_view_pack
} page;

#define X(name, text, nsize) text,
static const char *const shape_names[] = {LW_SHAPE_LIST(X)};
#undef X
#define X(name, text, nsize) nsize,
static const int shape_sizes[] = {LW_SHAPE_LIST(X)};
#undef X
#define X(name, text) text,
static const char *const sign_names[] = {"", LWI_JOINT_SIGN_LIST(X)};
#undef X

// ---------------------------------------------------------------------------------------- mechanism

static void put_shape(const page *p, const lw_body_desc *d, const lw_shape *s)
{
    double R[9], r[3];
    const double q[4] = {s->orientation.w, s->orientation.x, s->orientation.y, s->orientation.z};
    lwi_view_place(d, s, p->mesh, R, r);
    fprintf(p->file, "{\"type\":\"%s\",", shape_names[s->type]);
    if (s->type == LW_SHAPE_MESH) fprintf(p->file, "\"mesh\":%d,", s->mesh.index);
    fputs("\"size\":", p->file);
    lwi_view_numbers(p->file, s->size, shape_sizes[s->type]);
    fputs(",\"position\":", p->file);
    lwi_view_numbers(p->file, r, 3);
    fputs(",\"orientation\":", p->file);
    lwi_view_numbers(p->file, q, 4);
    if (s->has_color) {
        fputs(",\"color\":", p->file);
        lwi_view_numbers(p->file, s->color, 4);
    }
    fputc('}', p->file);
}

// Lines of a body; those of the scene are sorted by body.
static void put_lines(const page *p, int body, int *line)
{
    const char *between = "";
    fputs("\"lines\":[", p->file);
    for (; *line < p->scene.nline && p->scene.line[*line].body == body; ++*line) {
        const lwi_plot_link *l = &p->scene.line[*line];
        fprintf(p->file, "%s[", between);
        lwi_view_numbers(p->file, l->p[0], 3);
        fputc(',', p->file);
        lwi_view_numbers(p->file, l->p[1], 3);
        fputc(']', p->file);
        between = ",";
    }
    fputc(']', p->file);
}

static void put_bodies(const page *p)
{
    int line = 0;
    fputs("\"bodies\":[", p->file);
    for (int b = 0; b < p->model->nbody; b++) {
        const lw_body_desc *d = &p->model->desc.body[b];
        fprintf(p->file, "%s\n{\"name\":", b ? "," : "");
        lwi_view_text(p->file, p->model->body[b].name);
        fprintf(p->file, ",\"mass\":%.9g,\"group\":%d,\"shapes\":[", p->model->body[b].mass,
                p->scene.group[b]);
        for (int k = 0, n = 0; k < d->nshape; k++) {
            if (!lwi_view_shows(p->mesh, &d->shapes[k])) continue;
            if (n++) fputc(',', p->file);
            put_shape(p, d, &d->shapes[k]);
        }
        fputs("],", p->file);
        put_lines(p, b, &line);
        fputc('}', p->file);
    }
    fputs("],\n", p->file);
}

// Series of a mesh are its coordinates; normals are short integers.
static lw_status put_mesh(page *p, const lwi_view_mesh *m)
{
    int16_t *n = lwi_arena_push(&p->arena, 3 * (size_t)m->np, sizeof *n);
    unsigned char *work = lwi_arena_push(&p->arena, 3 * (size_t)(m->np > m->nt ? m->np : m->nt), 4);
    if (!n || !work) return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for a mesh");
    for (int i = 0; i < 3 * m->np; i++) n[i] = (int16_t)lrintf(32767 * m->n[i / 3][i % 3]);
    fprintf(p->file, "{\"vertices\":%d,\"triangles\":%d,\"half\":", m->np, m->nt);
    lwi_view_numbers(p->file, m->half, 3);
    fputs(",\"position\":\"", p->file);
    TRY(lwi_view_pack(p->file, m->p, (size_t)m->np, 3, sizeof(float), work, p->error));
    fputs("\",\"normal\":\"", p->file);
    TRY(lwi_view_pack(p->file, n, (size_t)m->np, 3, sizeof *n, work, p->error));
    fputs("\",\"index\":\"", p->file);
    TRY(lwi_view_pack(p->file, m->t, (size_t)m->nt, 3, sizeof(int), work, p->error));
    fputs("\"}", p->file);
    return LW_OK;
}

// By the number of the mesh; null: not drawn.
static lw_status put_meshes(page *p)
{
    fputs("\"meshes\":[null", p->file);
    for (int i = 1; i <= p->model->desc.nmesh; i++) {
        fputs(",\n", p->file);
        if (p->mesh[i].drawn)
            TRY(put_mesh(p, &p->mesh[i]));
        else
            fputs("null", p->file);
    }
    fputs("],\n", p->file);
    return LW_OK;
}

// The drawn axis of a scalar coordinate: the n-th that rotates, or slides, as the coordinate does; -1: none.
static int axis_of(const lwi_joint_type *type, int coordinate)
{
    const bool turns = type->angles >> coordinate & 1;
    int n = 0, axis = -1;
    for (int k = 0; k < coordinate; k++) n += (type->angles >> k & 1) == turns;
    for (int k = 0; k < 2 && n >= 0; k++) {
        if (!type->drawn[k].frame || type->drawn[k].slides == turns) continue;
        axis = k;
        n--;
    }
    return axis;
}

static bool has_servo(const lw_model *model, int joint, int coordinate)
{
    const lwi_description *d = &model->desc;
    for (int i = 0; i < d->force[LWI_ITEM_servo].n; i++) {
        const lw_servo_desc *s = lwi_force_desc(d, LWI_ITEM_servo, i);
        if (s->nterm == 0 && s->joint.index == joint && s->coordinate == coordinate) return true;
        for (int k = 0; k < s->nterm; k++)
            if (s->terms[k].joint.index == joint && s->terms[k].coordinate == coordinate)
                return true;
    }
    return false;
}

// What drives, or springs, each coordinate of a joint.
static void put_drives(const page *p, int joint)
{
    const lwi_joint *j = &p->model->joint[joint];
    const char *between = "";
    fputs(",\"drives\":[", p->file);
    for (int k = 0; j->type->scalar && k < j->type->nv; k++) {
        const lw_coordinate_desc *c = &p->model->desc.joint[joint].coordinate[k];
        const bool driven =
            c->motion.index || c->effort.index || c->force.index || has_servo(p->model, joint, k);
        const int axis = axis_of(j->type, k);
        if (axis < 0 || (!driven && !(c->stiffness > 0))) continue;
        fprintf(p->file, "%s{\"kind\":\"%s\",\"axis\":%d,\"angle\":%s}", between,
                driven ? "drive" : "spring", axis, j->type->angles >> k & 1 ? "true" : "false");
        between = ",";
    }
    fputc(']', p->file);
}

static void put_joints(const page *p)
{
    fputs("\"joints\":[", p->file);
    for (int i = 0; i < p->scene.njoint; i++) {
        const lwi_plot_joint_mark *m = &p->scene.joint[i];
        const lwi_joint *j = &p->model->joint[m->joint];
        fprintf(p->file, "%s\n{\"name\":", i ? "," : "");
        lwi_view_text(p->file, j->name);
        fprintf(p->file,
                ",\"type\":\"%s\",\"sign\":\"%s\",\"separates\":%s,\"body1\":%d,\"body2\":%d,"
                "\"closes_loop\":%s,\"point1\":",
                j->type->name, sign_names[m->sign], j->type->separates ? "true" : "false", j->body1,
                j->body2, j->node < 0 ? "true" : "false");
        lwi_view_numbers(p->file, m->p1, 3);
        fputs(",\"point2\":", p->file);
        lwi_view_numbers(p->file, m->p2, 3);
        fputs(",\"axes\":[", p->file);
        for (int k = 0; k < m->naxis; k++) {
            if (k) fputc(',', p->file);
            lwi_view_numbers(p->file, m->axis[k], 3);
        }
        fputc(']', p->file);
        put_drives(p, m->joint);
        fputc('}', p->file);
    }
    fputs("],\n", p->file);
}

// The frames of bushings, from the mass centres; the axis about which it is softest.
static void put_bushings(const page *p)
{
    const lwi_description *d = &p->model->desc;
    fputs("\"bushings\":[", p->file);
    for (int i = 0; i < d->force[LWI_ITEM_bushing].n; i++) {
        const lw_bushing_desc *b = lwi_force_desc(d, LWI_ITEM_bushing, i);
        const lw_pose *frame[2] = {&b->frame1, &b->frame2};
        const int body[2] = {b->body1.index, b->body2.index};
        const lw_quat o = b->frame1.orientation;
        int axis = 2;
        for (int k = 0; k < 2; k++)
            if (b->stiffness[3 + k] < b->stiffness[3 + axis]) axis = k;
        fprintf(p->file, "%s\n{\"name\":", i ? "," : "");
        lwi_view_text(p->file, b->name);
        fprintf(p->file, ",\"axis\":%d,\"orientation\":", axis);
        lwi_view_numbers(p->file, (const double[4]){o.w, o.x, o.y, o.z}, 4);
        for (int k = 0; k < 2; k++) {
            const double *com = p->model->body[body[k]].com;
            const lw_vec3 r = frame[k]->position;
            fprintf(p->file, ",\"body%d\":%d,\"point%d\":", k + 1, body[k], k + 1);
            lwi_view_numbers(p->file, (const double[3]){r.x - com[0], r.y - com[1], r.z - com[2]},
                             3);
        }
        fputc('}', p->file);
    }
    fputs("],\n", p->file);
}

// Springs between bodies, in the order of the model.
static void put_springs(const page *p)
{
    fputs("\"springs\":[", p->file);
    for (int i = 0; i < p->scene.nspring; i++) {
        const lwi_plot_spring_mark *m = &p->scene.spring[i];
        fprintf(p->file, "%s\n{\"name\":", i ? "," : "");
        lwi_view_text(p->file, m->name);
        fprintf(p->file, ",\"kind\":\"%s\",\"body1\":%d,\"body2\":%d,\"point1\":", m->kind,
                m->body[0], m->body[1]);
        lwi_view_numbers(p->file, m->p[0], 3);
        fputs(",\"point2\":", p->file);
        lwi_view_numbers(p->file, m->p[1], 3);
        fputc('}', p->file);
    }
    fputs("],\n", p->file);
}

static void put_direction(const page *p, const char *name, lw_vec3 v)
{
    fprintf(p->file, ",\"%s\":", name);
    lwi_view_numbers(p->file, (const double[3]){v.x, v.y, v.z}, 3);
}

// "body" and "point", from its mass centre.
static void put_point(const page *p, int body, lw_vec3 v)
{
    const double *com = p->model->body[body].com;
    fprintf(p->file, "\"body\":%d", body);
    put_direction(p, "point", (lw_vec3){v.x - com[0], v.y - com[1], v.z - com[2]});
}

static void put_path_element(const page *p, const lw_path_element *e)
{
    if (e->pulley > 0) {
        fprintf(p->file, "{\"pulley\":%.9g}", e->pulley);
        return;
    }
    fputc('{', p->file);
    put_point(p, e->body.index, e->point);
    if (e->radius > 0) fprintf(p->file, ",\"radius\":%.9g", e->radius);
    if (e->axis.x != 0 || e->axis.y != 0 || e->axis.z != 0) put_direction(p, "axis", e->axis);
    if (e->radius > 0 && e->has_side) {
        fputs(",\"side\":{", p->file);
        put_point(p, e->side_body.index, e->side);
        fputc('}', p->file);
    }
    fputc('}', p->file);
}

static void put_slider_crank(const page *p, const lw_slider_crank *s)
{
    fputs(",\"crank\":{", p->file);
    put_point(p, s->crank.index, s->crank_point);
    fprintf(p->file, ",\"rod\":%.9g},\"slider\":{", s->rod);
    put_point(p, s->slider.index, s->slider_point);
    put_direction(p, "axis", s->axis);
    fputc('}', p->file);
}

static void put_tendons(const page *p)
{
    const lwi_description *d = &p->model->desc;
    fputs("\"tendons\":[", p->file);
    for (int i = 0; i < d->force[LWI_ITEM_tendon].n; i++) {
        const lw_tendon_desc *t = lwi_force_desc(d, LWI_ITEM_tendon, i);
        fprintf(p->file, "%s\n{\"name\":", i ? "," : "");
        lwi_view_text(p->file, t->name);
        if (t->slider_crank.present)
            put_slider_crank(p, &t->slider_crank);
        else
            fputs(",\"path\":[", p->file);
        for (int k = 0; k < t->npath; k++) {
            if (k) fputc(',', p->file);
            put_path_element(p, &t->path[k]);
        }
        fputs(t->slider_crank.present ? "}" : "]}", p->file);
    }
    fputs("],\n", p->file);
}

// Forces and torques on points, as described; their scale over time is not part of a result.
static void put_wrenches(const page *p)
{
    const lwi_description *d = &p->model->desc;
    fputs("\"wrenches\":[", p->file);
    for (int i = 0; i < d->force[LWI_ITEM_wrench].n; i++) {
        const lw_wrench_desc *w = lwi_wrench_desc(d, i);
        const double *com = p->model->body[w->body.index].com;
        fprintf(p->file, "%s\n{\"name\":", i ? "," : "");
        lwi_view_text(p->file, w->name);
        fprintf(p->file, ",\"body\":%d,\"body_axes\":%s", w->body.index,
                w->body_axes ? "true" : "false");
        put_direction(p, "point",
                      (lw_vec3){w->point.x - com[0], w->point.y - com[1], w->point.z - com[2]});
        put_direction(p, "force", w->force);
        put_direction(p, "torque", w->torque);
        fputc('}', p->file);
    }
    fputs("],\n", p->file);
}

// ------------------------------------------------------------------------------------------- motion

static lw_status put_packed(const page *p, const char *name, const void *numbers, size_t series,
                            size_t width)
{
    fprintf(p->file, "\"%s\":\"", name);
    TRY(lwi_view_pack(p->file, numbers, (size_t)p->motion.nrow, series, width, p->work, p->error));
    fputc('"', p->file);
    return LW_OK;
}

// Allocates the buffers of packed numbers; orientations are written as short integers.
static lw_status put_motion(page *p)
{
    const lwi_view_motion *m = &p->motion;
    const size_t n = (size_t)p->model->nbody, rows = (size_t)m->nrow;
    int16_t *turn = lwi_arena_push(&p->arena, 4 * n * rows, sizeof *turn);
    p->work = lwi_arena_push(&p->arena, rows * n,
                             3 * sizeof *m->position); // n > 0: enough for a column of doubles
    p->narrow = lwi_arena_push(&p->arena, rows, sizeof *p->narrow);
    if (!turn || !p->work || !p->narrow)
        return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for the motion");
    for (size_t i = 0; i < 4 * n * rows; i++)
        turn[i] = (int16_t)lrintf(32767 * fminf(fmaxf(m->rotation[i], -1), 1));
    fprintf(p->file, "\"rows\":%ld,", m->nrow);
    TRY(put_packed(p, "time", m->time, 1, sizeof *m->time));
    fputs(",\n", p->file);
    TRY(put_packed(p, "position", m->position, 3 * n, sizeof *m->position));
    fputs(",\n", p->file);
    TRY(put_packed(p, "rotation", turn, 4 * n, sizeof *turn));
    fputs(",\n", p->file);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ columns

// Priority if not all columns fit: 0 system, 1 joint coordinates and other columns,
// 2 reactions, 3 motion of bodies; -1: time, and what the poses contain.  All but the first are written
// after the script, which draws before they are loaded.
enum { RANKS = 4, FIRST_LATE = 1 };

static int rank_of(const char *name)
{
    const lwi_quantity *q = lwi_result_column_quantity(name);
    if (!q) return 1;
    switch (q->subject) {
    case LWI_RESULT_TIME:
        return -1;
    case LWI_RESULT_SYSTEM:
        return 0;
    case LWI_RESULT_BODY:
        return q->quaternion ? -1 : 3;
    case LWI_RESULT_REACTION:
        return 2;
    default:
        return 1;
    }
}

static lw_status put_column(const page *p, int column, double *buffer, const char *between)
{
    const lwi_view_motion *m = &p->motion;
    const lw_column_info info = lw_result_column(p->result, column);
    const bool wide = rank_of(info.name) == 0; // small differences of large energies
    TRY(lw_result_read(p->result, column, 0, m->nresult, buffer, p->error));
    for (long i = 0; i < m->nrow; i++) {
        LWI_ASSERT(m->row[i] >= i); // rows move down only
        buffer[i] = buffer[m->row[i]];
        p->narrow[i] = (float)buffer[i];
    }
    fprintf(p->file, "%s\n{\"name\":", between);
    lwi_view_text(p->file, info.name);
    fputs(",\"unit\":", p->file);
    lwi_view_text(p->file, info.unit);
    fprintf(p->file, ",\"double\":%s,", wide ? "true" : "false");
    if (wide)
        TRY(put_packed(p, "values", buffer, 1, sizeof *buffer));
    else
        TRY(put_packed(p, "values", p->narrow, 1, sizeof *p->narrow));
    fputc('}', p->file);
    return LW_OK;
}

// A list of the columns of some ranks, as many as fit.
static lw_status put_columns(page *p, int from, int to)
{
    const int count = p->result ? lw_result_column_count(p->result) : 0;
    const double each = 4.0 * (double)p->motion.nrow;
    const char *between = "";
    if (!p->buffer)
        p->buffer = lwi_arena_push(&p->arena, (size_t)p->motion.nresult, sizeof *p->buffer);
    if (!p->buffer) return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for a column");
    fputc('[', p->file);
    for (int rank = from; rank < to; rank++)
        for (int c = 0; c < count; c++) {
            if (rank_of(lw_result_column(p->result, c).name) != rank) continue;
            if (p->used + each > p->max_bytes) {
                p->left_out++;
                continue;
            }
            TRY(put_column(p, c, p->buffer, between));
            p->used += each;
            between = ",";
        }
    fputc(']', p->file);
    return LW_OK;
}

// The first plots of the page: coordinates of the first joints, and the energies.
static void put_plots(const page *p)
{
    enum { MOST = 2 };
    int n = 0;
    fputs("\"plots\":[", p->file);
    for (int j = 0; j < p->model->njoint && n < MOST; j++) {
        char name[LWI_VIEW_COLUMN_BYTES];
        const lwi_joint *joint = &p->model->joint[j];
        if (joint->merged || joint->type->nq == 0) continue;
        snprintf(name, sizeof name, "joint.%s.q0", joint->name);
        lwi_view_text(p->file, name);
        fputs(",", p->file);
        n++;
    }
    fputs("\"sys.T\",\"sys.E\"]", p->file);
}

// The names of columns, for the script: item.NAME.part for each part.
static void put_quantities(const page *p)
{
    fputs("\"quantities\":[", p->file);
    for (int i = 0; i < lw_quantity_count(); i++) {
        const lw_quantity_info q = lw_quantity_at(i);
        fprintf(p->file, "%s\n{\"item\":\"%s\",\"dataset\":\"%s\",\"part\":[", i ? "," : "", q.item,
                q.name);
        for (int k = 0; k < q.size; k++) {
            if (k) fputc(',', p->file);
            lwi_view_text(p->file, q.part[k]);
        }
        fputs("]}", p->file);
    }
    fputs("],\n", p->file);
}

static void put_palette(const page *p)
{
    fputs("\"palette\":[", p->file);
    for (int i = 0; i < LWI_VIEW_COLOURS; i++)
        fprintf(p->file, "%s\"#%06x\"", i ? "," : "", lwi_view_colour(i));
    fputs("],\n", p->file);
}

// --------------------------------------------------------------------------------------------- all

static lw_status prepare(page *p)
{
    if (p->clips)
        TRY(lwi_view_motion_clips(p->model, p->clips, p->max_bytes, &p->arena, &p->motion,
                                  &p->nclip, p->error));
    else
        TRY(lwi_view_motion_read(p->model, p->result, p->max_bytes, &p->arena, &p->motion,
                                 p->error));
    TRY(lwi_view_scene(p->model, &p->arena, &p->scene, p->error));
    return lwi_view_meshes(p->model, p->desc, &p->arena, &p->mesh, p->error);
}

static void put_about(const page *p)
{
    char text[400];
    const lwi_view_motion *m = &p->motion;
    int n =
        snprintf(text, sizeof text, "%d bodies, %d joints", p->model->nbody - 1, p->model->njoint);
    if (p->model->nloop)
        n += snprintf(text + n, sizeof text - (size_t)n, ", %d of them closing loops",
                      p->model->nloop);
    const lw_options *o = p->result ? lw_result_options(p->result) : NULL;
    if (o)
        n += snprintf(text + n, sizeof text - (size_t)n, "\n%.40s, %.40s", o->formulation,
                      o->integrator);
    if (p->result)
        n += snprintf(text + n, sizeof text - (size_t)n, "\n%ld rows%s", m->nresult,
                      m->nrow < m->nresult ? ", of which this page shows" : "");
    if (m->nrow < m->nresult) snprintf(text + n, sizeof text - (size_t)n, " %ld", m->nrow);
    fputs("\"about\":", p->file);
    lwi_view_text(p->file, text);
    fputs(",\n\"gravity\":", p->file);
    lwi_view_numbers(p->file, p->model->gravity, 3);
    fputs(",\n", p->file);
}

// The motions that the page shows one at a time: names and first and last rows.
static void put_clips(const page *p)
{
    fputs("\"clips\":[", p->file);
    for (int i = 0; i < p->nclip; i++) {
        fprintf(p->file, "%s\n{\"name\":", i ? "," : "");
        lwi_view_text(p->file, p->clips->name[i]);
        fprintf(p->file, ",\"first\":%ld,\"last\":%ld}", i * p->clips->rows,
                (i + 1) * p->clips->rows - 1);
    }
    fputs("],\n", p->file);
}

static lw_status put_data(page *p, const char *title)
{
    fputs("<script type=\"application/json\" id=\"data\">\n{\"title\":", p->file);
    lwi_view_text(p->file, title);
    fputs(",\n", p->file);
    put_about(p);
    put_palette(p);
    put_quantities(p);
    TRY(put_meshes(p));
    put_bodies(p);
    put_joints(p);
    put_springs(p);
    put_tendons(p);
    put_bushings(p);
    put_wrenches(p);
    put_clips(p);
    if (!p->result && !p->desc->model2 && !p->clips)
        TRY(lwi_view_kinematics(p->file, p->model, &p->arena, p->error));
    TRY(put_motion(p));
    fputs("\"columns\":", p->file);
    TRY(put_columns(p, 0, FIRST_LATE));
    fputs(",\n", p->file);
    put_plots(p);
    fputs("}\n</script>\n", p->file);
    return LW_OK;
}

// A second mechanism to compare with: what is drawn of it, and all columns.
static lw_status put_second(page *p, const char *title)
{
    TRY(prepare(p));
    fputs("<script type=\"application/json\" id=\"second\">\n{\"title\":", p->file);
    lwi_view_text(p->file, title);
    fputs(",\n", p->file);
    put_about(p);
    put_palette(p);
    TRY(put_meshes(p));
    put_bodies(p);
    TRY(put_motion(p));
    fputs("\"columns\":", p->file);
    TRY(put_columns(p, 0, RANKS));
    fputs("}\n</script>\n", p->file);
    return LW_OK;
}

static const char *title_of(const char *given, const lw_model *model)
{
    return given ? given : model->desc.source ? model->desc.source : "a mechanism";
}

static lw_status compare_with_second(const page *p)
{
    const lw_view_desc *d = p->desc;
    if (!d->model2) return LW_OK;
    page q = {.model = d->model2,
              .result = d->result2,
              .file = p->file,
              .error = p->error,
              .desc = d,
              .max_bytes = p->max_bytes};
    lwi_arena_init(&q.arena, &q.model->arena.allocator);
    const lw_status status = put_second(&q, title_of(d->title2, q.model));
    lwi_arena_free(&q.arena);
    return status;
}

static lw_status put_late(page *p)
{
    fputs("<script type=\"application/json\" id=\"late\">\n{\"columns\":", p->file);
    TRY(put_columns(p, FIRST_LATE, RANKS));
    fprintf(p->file, ",\n\"left_out\":%ld}\n</script>\n", p->left_out);
    return LW_OK;
}

// Writes the template up to a mark; returns the position after it, NULL: not found.
static const char *put_until(const page *p, const char *at, const char *mark)
{
    const char *end = lwi_view_template + lwi_view_template_size;
    const size_t n = strlen(mark);
    const char *to = at;
    while (to + n <= end && memcmp(to, mark, n) != 0) to++;
    if (to + n > end) return NULL;
    fwrite(at, 1, (size_t)(to - at), p->file);
    return to + n;
}

static lw_status put_page(page *p, const char *title)
{
    const char *end = lwi_view_template + lwi_view_template_size;
    TRY(prepare(p));
    const char *at = put_until(p, lwi_view_template, "<!--DATA-->");
    TRY(put_data(p, title));
    TRY(compare_with_second(p));
    at = at ? put_until(p, at, "<!--LATE-->") : NULL;
    if (!at) return lwi_fail(p->error, LW_ERR_IO, "the template of the page has no place for data");
    TRY(put_late(p));
    fwrite(at, 1, (size_t)(end - at), p->file);
    if (ferror(p->file)) return lwi_fail(p->error, LW_ERR_IO, "the page cannot be written whole");
    return LW_OK;
}

lw_status lw_view_page(const lw_model *model, lw_result *result, const lw_view_desc *desc,
                       FILE *file, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_view_desc, desc, error);
    lw_error none;
    lwi_numbers numbers;
    if (!error) error = &none;
    *error = (lw_error){0};
    if (!model || !file) return lwi_fail(error, LW_ERR_ARGUMENT, "model and file must be given");
    page p = {.model = model, .result = result, .file = file, .error = error, .desc = desc};
    if (!result) p.clips = desc->clips;
    p.max_bytes = desc->max_bytes > 0 ? desc->max_bytes : LWI_VIEW_MAX_BYTES;
    if (!lwi_numbers_begin(&numbers)) return lwi_fail(error, LW_ERR_MEMORY, "out of memory");
    lwi_arena_init(&p.arena, &model->arena.allocator);
    const lw_status status = put_page(&p, title_of(desc->title, model));
    lwi_arena_free(&p.arena);
    lwi_numbers_end(&numbers);
    return status;
}
