// write.c -- writes a tree as MJCF: nested bodies, joints in series, couplings as
// equalities, inputs as motors, the initial state as a keyframe.
#include "base/numbers.h"
#include "io/export.h"

#include "io/frames.h"
#include "io/xml.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Joints of several coordinates have names JOINT_q0, JOINT_q1, ...
static void put_joint_name(const lwi_export *x, const char *joint, int coordinate, bool several)
{
    fputs(" name=\"", x->file);
    lwi_export_text(x, joint);
    if (several) fprintf(x->file, "_q%d", coordinate);
    fputc('"', x->file);
}

static void put_place(const lwi_export *x, const lw_shape *s)
{
    lwi_export_numbers(x, "pos", &s->position.x, 3, false);
    lwi_export_numbers(x, "quat", &s->orientation.w, 4, true);
    if (s->has_color) lwi_export_numbers(x, "rgba", s->color, 4, true);
    fputs(" contype=\"0\" conaffinity=\"0\" mass=\"0\"/>\n", x->file);
}

// The shapes with a mesh, in the order of the model.
static int mesh_shapes(const lwi_export *x, const lw_shape **list)
{
    int n = 0;
    for (int b = 0; b < x->model->nbody; b++) {
        const lw_body_desc *d = &x->model->desc.body[b];
        for (int k = 0; k < d->nshape; k++) {
            if (d->shapes[k].type != LW_SHAPE_MESH) continue;
            if (list) list[n] = &d->shapes[k];
            n++;
        }
    }
    return n;
}

static int by_mesh(const void *a, const void *b)
{
    const lw_shape *p = *(const lw_shape *const *)a, *q = *(const lw_shape *const *)b;
    if (p->mesh.index != q->mesh.index) return p->mesh.index < q->mesh.index ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (p->size[k] != q->size[k]) return p->size[k] < q->size[k] ? -1 : 1;
    return 0;
}

// "mesh1", ...: the first in the sorted list with this mesh and scale, which an asset has both.
static void put_mesh_name(const lwi_export *x, const lw_shape *s)
{
    int low = 0, high = x->nmesh_shape;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (by_mesh(&x->mesh_shape[middle], &s) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    fprintf(x->file, "\"mesh%d\"", low + 1);
}

static void put_asset(const lwi_export *x, const lw_shape *s)
{
    const lw_mesh_desc *m = &x->model->desc.mesh[s->mesh.index - 1];
    fputs("    <mesh name=", x->file);
    put_mesh_name(x, s);
    if (m->file) {
        fputs(" file=\"", x->file);
        lwi_export_text(x, m->file);
        fputc('"', x->file);
    } else {
        fputs(" vertex=\"", x->file);
        for (int i = 0; i < 3 * m->nvertex; i++)
            fprintf(x->file, i ? " %.9g" : "%.9g", (double)m->vertices[i]);
        fputs(m->ntriangle ? "\" face=\"" : "\"", x->file);
        for (int i = 0; i < 3 * m->ntriangle; i++)
            fprintf(x->file, i ? " %d" : "%d", m->triangles[i]);
        if (m->ntriangle) fputc('"', x->file);
    }
    if (s->size[0] != 1 || s->size[1] != 1 || s->size[2] != 1)
        lwi_export_numbers(x, "scale", s->size, 3, true);
    fputs(" inertia=\"shell\"/>\n", x->file); // any surface has one
}

static lw_status put_assets(lwi_export *x)
{
    const int n = mesh_shapes(x, NULL);
    if (!n) return LW_OK;
    x->mesh_shape = LWI_PUSH(&x->arena, const lw_shape *, n);
    if (!x->mesh_shape) return lwi_fail(x->error, LW_ERR_MEMORY, "out of memory");
    x->nmesh_shape = mesh_shapes(x, x->mesh_shape);
    qsort(x->mesh_shape, (size_t)n, sizeof *x->mesh_shape, by_mesh);
    fputs("  <asset>\n", x->file);
    for (int i = 0; i < n; i++)
        if (i == 0 || by_mesh(&x->mesh_shape[i - 1], &x->mesh_shape[i]) != 0)
            put_asset(x, x->mesh_shape[i]);
    fputs("  </asset>\n", x->file);
    return LW_OK;
}

static void put_shape(const lwi_export *x, const lw_shape *s, int indent)
{
    if (s->type == LW_SHAPE_MESH) {
        fprintf(x->file, "%*s<geom type=\"mesh\" mesh=", indent, "");
        put_mesh_name(x, s);
        put_place(x, s);
        return;
    }
    static const char *const types[] = {[LW_SHAPE_BOX] = "box",
                                        [LW_SHAPE_SPHERE] = "sphere",
                                        [LW_SHAPE_CYLINDER] = "cylinder",
                                        [LW_SHAPE_CAPSULE] = "capsule",
                                        [LW_SHAPE_ELLIPSOID] = "ellipsoid"};
    static const int sizes[] = {[LW_SHAPE_BOX] = 3,
                                [LW_SHAPE_SPHERE] = 1,
                                [LW_SHAPE_CYLINDER] = 2,
                                [LW_SHAPE_CAPSULE] = 2,
                                [LW_SHAPE_ELLIPSOID] = 3};
    double size[3];
    for (int i = 0; i < 3; i++) // half lengths; radii and half axes are unchanged
        size[i] = s->type == LW_SHAPE_BOX || (i == 1 && sizes[s->type] == 2) ? s->size[i] / 2
                                                                             : s->size[i];
    fprintf(x->file, "%*s<geom type=\"%s\"", indent, "", types[s->type]);
    lwi_export_numbers(x, "size", size, sizes[s->type], true);
    put_place(x, s);
}

// The inertia is written in body axes.
static void put_inertial(const lwi_export *x, const lwi_export_link *l, int indent)
{
    const lwi_body *b = &x->model->body[l->body];
    double I[6];
    if (b->mass == 0) return;
    lwi_export_inertia(x, l->body, I);
    if (I[0] + I[1] < I[2] || I[1] + I[2] < I[0] || I[2] + I[0] < I[1])
        lwi_export_report(x, "body '%.200s': no rigid body has this inertia, which MuJoCo refuses",
                          b->name);
    fprintf(x->file, "%*s<inertial", indent, "");
    lwi_export_numbers(x, "pos", b->com, 3, true);
    lwi_export_numbers(x, "mass", &b->mass, 1, true);
    if (I[3] == 0 && I[4] == 0 && I[5] == 0)
        lwi_export_numbers(x, "diaginertia", I, 3, true);
    else
        lwi_export_numbers(x, "fullinertia", I, 6, true);
    fputs("/>\n", x->file);
}

static void put_axis(const lwi_export *x, const lwi_export_link *l, int k, int indent)
{
    const lw_joint_desc *d = &x->model->desc.joint[l->joint];
    const lw_coordinate_desc *c = &d->coordinate[l->axis[k].coordinate];
    const double damping = c->damping + c->friction.viscous;
    const double range[2] = {c->limits.has_lower ? c->limits.lower : -1e9, // no limit
                             c->limits.has_upper ? c->limits.upper : 1e9};
    fprintf(x->file, "%*s<joint", indent, "");
    put_joint_name(x, d->name, l->axis[k].coordinate, l->naxis > 1);
    fprintf(x->file, " type=\"%s\"", l->axis[k].turns ? "hinge" : "slide");
    lwi_export_numbers(x, "pos", l->at, 3, false);
    lwi_export_numbers(x, "axis", l->axis[k].axis, 3, true);
    lwi_export_numbers(x, "damping", &damping, 1, false);
    lwi_export_numbers(x, "stiffness", &c->stiffness, 1, false);
    lwi_export_numbers(x, "springref", &c->at, 1, false);
    lwi_export_numbers(x, "frictionloss", &c->friction.coulomb, 1, false);
    lwi_export_numbers(x, "armature", &c->rotor, 1, false);
    if (c->limits.has_lower || c->limits.has_upper) lwi_export_numbers(x, "range", range, 2, true);
    fputs("/>\n", x->file);
}

static void put_joints(const lwi_export *x, const lwi_export_link *l, int indent)
{
    if (l->joint < 0) {
        fprintf(x->file, "%*s<freejoint/>\n", indent, "");
        return;
    }
    const lw_joint_desc *d = &x->model->desc.joint[l->joint];
    for (int k = 0; k < l->naxis; k++) put_axis(x, l, k, indent);
    if (l->kind == LWI_EXPORT_AXES) return;
    fprintf(x->file, "%*s<joint", indent, "");
    put_joint_name(x, d->name, 0, false);
    fprintf(x->file, " type=\"%s\"", l->kind == LWI_EXPORT_BALL ? "ball" : "free");
    if (l->kind == LWI_EXPORT_BALL) lwi_export_numbers(x, "pos", l->at, 3, false);
    lwi_export_numbers(x, "damping", &d->damping, 1, false);
    fputs("/>\n", x->file);
}

// ------------------------------------------------------------------------------------------ bodies

/** Children of the links: first child and next sibling, by index of link; -1: none.  And the order in
 *  which the links are written, [nlink]. */
typedef struct family {
    int *child, *sibling, *order;
    bool *thin; ///< [nlink] massless between two joints: its joint becomes one of the next body
} family;

// MuJoCo refuses moving bodies without mass, but allows several joints of a body.
static void find_thin(const lwi_export *x, const family *f)
{
    for (int i = 0; i < x->nlink; i++) {
        const lwi_export_link *l = &x->link[i];
        const int next = f->child[i];
        f->thin[i] = false;
        if (l->kind != LWI_EXPORT_AXES || l->naxis == 0 || x->model->body[l->body].mass > 0)
            continue;
        const bool alone =
            next >= 0 && f->sibling[next] < 0 && x->model->desc.body[l->body].nshape == 0;
        const lwi_export_link *n = alone ? &x->link[next] : NULL;
        f->thin[i] = n && (n->naxis > 0 || n->kind == LWI_EXPORT_BALL);
        if (!f->thin[i] && !(n && n->kind == LWI_EXPORT_AXES))
            lwi_export_report(x, "body '%.200s': it moves and has no mass, which MuJoCo refuses",
                              x->model->body[l->body].name);
    }
}

static lw_status raise_family(const lwi_export *x, lwi_arena *arena, family *f)
{
    const int n = x->nlink;
    f->child = LWI_PUSH(arena, int, n + 1);
    f->sibling = LWI_PUSH(arena, int, n + 1);
    f->order = LWI_PUSH(arena, int, n + 1);
    f->thin = LWI_PUSH(arena, bool, n + 1);
    if (!f->child || !f->sibling || !f->order || !f->thin)
        return lwi_fail(x->error, LW_ERR_MEMORY, "out of memory");
    for (int i = 0; i <= n; i++) f->child[i] = f->sibling[i] = -1;
    for (int i = n - 1; i >= 0; i--) {
        const int parent = x->link[i].before < 0 ? n : x->link[i].before; // the world is last
        f->sibling[i] = f->child[parent];
        f->child[parent] = i;
    }
    find_thin(x, f);
    return LW_OK;
}

// Writes the joints of the massless links before link i, each with the pose (R, r) of body i in its link at
// zero coordinates.
static void put_thin_joints(const lwi_export *x, const family *f, int top, int i, int indent)
{
    for (int k = top; k != i; k = f->child[k]) {
        lwi_export_link moved = x->link[k];
        double R[9], r[3], to[3];
        m3_identity(R);
        v3_set(r, 0, 0, 0);
        for (int n = k; n != i; n = f->child[n])
            lwi_frame_mul(R, r, R, r, x->link[f->child[n]].R, x->link[f->child[n]].r);
        v3_sub(to, moved.at, r);
        m3_tmul_v(moved.at, R, to);
        for (int a = 0; a < moved.naxis; a++) {
            v3_copy(to, moved.axis[a].axis);
            m3_tmul_v(moved.axis[a].axis, R, to);
        }
        put_joints(x, &moved, indent);
    }
}

static void open_body(const lwi_export *x, const family *f, int i, int indent)
{
    const lwi_export_link *l = &x->link[i];
    int top = i;
    double q[4], R[9], r[3];
    while (x->link[top].before >= 0 && f->thin[x->link[top].before]) top = x->link[top].before;
    memcpy(R, x->link[top].R, sizeof R);
    v3_copy(r, x->link[top].r);
    for (int n = top; n != i; n = f->child[n])
        lwi_frame_mul(R, r, R, r, x->link[f->child[n]].R, x->link[f->child[n]].r);
    quat_from_matrix(q, R);
    fprintf(x->file, "%*s<body name=\"", indent, "");
    lwi_export_text(x, x->model->body[l->body].name);
    fputc('"', x->file);
    lwi_export_numbers(x, "pos", r, 3, false);
    if (q[1] != 0 || q[2] != 0 || q[3] != 0) lwi_export_numbers(x, "quat", q, 4, true);
    fputs(">\n", x->file);
    put_thin_joints(x, f, top, i, indent + 2);
    put_joints(x, l, indent + 2);
    put_inertial(x, l, indent + 2);
    const lw_body_desc *d = &x->model->desc.body[l->body];
    for (int k = 0; k < d->nshape; k++) put_shape(x, &d->shapes[k], indent + 2);
}

// Bodies are in <mujoco> and <worldbody>, and contain further elements.
enum { MAX_BODIES_DEEP = LWI_XML_MAX_DEPTH - 3 };
// Bodies nested deeper have no larger indent, so that the file of a long chain grows linearly.
enum { MAX_INDENTED = 30 };

static int indent_of(int depth)
{
    return 4 + 2 * (depth < MAX_INDENTED ? depth : MAX_INDENTED);
}

// Not recursive: chains are long.
static lw_status put_bodies(const lwi_export *x, const family *f, int *open)
{
    int depth = 0, written = 0, count = 0, i = f->child[x->nlink];
    while (i >= 0 || depth > 0) {
        if (i >= 0) {
            if (written == MAX_BODIES_DEEP)
                return lwi_export_fail(x,
                                       "body '%.200s' would be nested deeper than %d bodies, "
                                       "which readers refuse: write .urdf or .yaml",
                                       x->model->body[x->link[i].body].name, MAX_BODIES_DEEP);
            f->order[count++] = i;
            if (!f->thin[i]) open_body(x, f, i, indent_of(written++));
            open[depth++] = i;
            i = f->child[i];
            continue;
        }
        i = open[--depth];
        if (!f->thin[i]) fprintf(x->file, "%*s</body>\n", indent_of(--written), "");
        i = f->sibling[i];
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- rest

static lw_status put_couplings(const lwi_export *x)
{
    const lw_model *m = x->model;
    if (!m->ncoupling) return LW_OK;
    fputs("  <equality>\n", x->file);
    for (int i = 0; i < m->ncoupling; i++) {
        const lwi_coupling *c = &m->coupling[i];
        if (c->n > 5)
            return lwi_export_fail(x, "the coupling of joint '%.200s' has a degree above 4",
                                   m->joint[c->joint].name);
        const int joint[2] = {c->joint, c->of}, coordinate[2] = {c->coordinate, c->with};
        fputs("    <joint", x->file);
        for (int k = 0; k < 2; k++) {
            fprintf(x->file, " joint%d=\"", k + 1);
            lwi_export_text(x, m->joint[joint[k]].name);
            if (m->joint[joint[k]].type->nv > 1) fprintf(x->file, "_q%d", coordinate[k]);
            fputc('"', x->file);
        }
        lwi_export_numbers(x, "polycoef", c->c, c->n, true);
        fputs("/>\n", x->file);
    }
    fputs("  </equality>\n", x->file);
    return LW_OK;
}

static void put_motors(const lwi_export *x)
{
    bool any = false;
    for (int i = 0; i < x->nlink; i++) {
        const lwi_export_link *l = &x->link[i];
        for (int k = 0; k < l->naxis; k++) {
            const lw_joint_desc *d = &x->model->desc.joint[l->joint];
            const int input = d->coordinate[l->axis[k].coordinate].effort.index;
            if (input > 0)
                lwi_export_report(
                    x, "joint '%.200s': the effort on q%d, a function of time, is not written",
                    d->name, l->axis[k].coordinate);
            if (input >= 0) continue;
            if (!any) fputs("  <actuator>\n", x->file);
            any = true;
            fputs("    <motor name=\"", x->file);
            lwi_export_text(x, x->model->desc.input[-input - 1]);
            fputs("\" joint=\"", x->file);
            lwi_export_text(x, d->name);
            if (l->naxis > 1) fprintf(x->file, "_q%d", l->axis[k].coordinate);
            fputs("\"/>\n", x->file);
        }
    }
    if (any) fputs("  </actuator>\n", x->file);
}

// Quaternion of a ball in the convention of the format: body axes relative to those at zero coordinates.
static void ball_of(const lwi_export *x, const lwi_export_link *l, double *q)
{
    const lw_joint_desc *d = &x->model->desc.joint[l->joint];
    const lw_quat *o = l->reversed ? &d->frame1.orientation : &d->frame2.orientation;
    const double own[4] = {o->w, o->x, o->y, o->z};
    double R[9], rotated[3];
    memcpy(q, &x->model->q0[x->model->joint[l->joint].iq], 4 * sizeof *q);
    quat_matrix(R, own);
    m3_mul_v(rotated, R, q + 1);
    v3_scale(q + 1, l->reversed ? -1 : 1, rotated);
}

// Angular velocity of a ball in the convention of the format: of the body relative to its parent, body axes.
// Ours is that of F2 in axes of F2; if F1 is on the body, it has the opposite sign.
static void ball_rate_of(const lwi_export *x, const lwi_export_link *l, double *w)
{
    const lw_model *m = x->model;
    const lw_joint_desc *d = &m->desc.joint[l->joint];
    const lw_quat *o = l->reversed ? &d->frame1.orientation : &d->frame2.orientation;
    const double own[4] = {o->w, o->x, o->y, o->z};
    const double *u = &m->v0[m->joint[l->joint].iv];
    double A[9], R[9], v[3];
    v3_copy(v, u);
    if (l->reversed) {
        quat_matrix(R, &m->q0[m->joint[l->joint].iq]);
        m3_mul_v(v, R, u);
        v3_scale(v, -1, v);
    }
    quat_matrix(A, own);
    m3_mul_v(w, A, v);
}

// Velocity of the frame of a floating body in the world, angular velocity in its axes, from those of the
// reference point of its speeds: F2, or the centre of mass without a joint.
static void free_rate_of(const lwi_export *x, const lwi_export_link *l, double *v)
{
    const lw_model *m = x->model;
    const double *u = l->joint < 0 ? &m->tree_v0[m->node[m->body_node[l->body]].iv]
                                   : &m->v0[m->joint[l->joint].iv];
    double A[9], r[3], arm[3];
    m3_identity(A);
    v3_copy(r, m->body[l->body].com);
    if (l->joint >= 0) {
        const lw_pose *f = &m->desc.joint[l->joint].frame2;
        const double q[4] = {f->orientation.w, f->orientation.x, f->orientation.y,
                             f->orientation.z};
        quat_matrix(A, q);
        v3_set(r, f->position.x, f->position.y, f->position.z);
    }
    double own[3];
    m3_mul_v(own, A, u);
    m3_mul_v(v + 3, A, u + 3);
    v3_cross(arm, r, v + 3); // w x (-r)
    v3_add(own, own, arm);
    m3_mul_v(v, l->R, own);
}

static void put_values(const lwi_export *x, const double *value, int n)
{
    for (int k = 0; k < n; k++) {
        lwi_number_print(x->file, value[k] + 0.0);
        fputc(' ', x->file);
    }
}

static void put_speeds(const lwi_export *x, const family *f)
{
    const lw_model *m = x->model;
    bool moves = false;
    for (int i = 0; i < m->tree_nv; i++) moves = moves || m->tree_v0[i] != 0;
    if (!moves) return;
    fputs("\" qvel=\"", x->file);
    for (int i = 0; i < x->nlink; i++) {
        const lwi_export_link *l = &x->link[f->order[i]];
        double v[6] = {0};
        int n = l->naxis;
        for (int k = 0; k < n; k++) v[k] = m->v0[m->joint[l->joint].iv + l->axis[k].coordinate];
        if (l->kind == LWI_EXPORT_BALL) {
            ball_rate_of(x, l, v);
            n = 3;
        } else if (l->kind == LWI_EXPORT_FREE) {
            n = 6;
            if (l->reversed)
                lwi_export_report(x, "joint '%.200s': its initial speeds are not written",
                                  m->joint[l->joint].name);
            else
                free_rate_of(x, l, v);
        }
        put_values(x, v, n);
    }
}

static void put_start(const lwi_export *x, const family *f)
{
    const lw_model *m = x->model;
    fputs("  <keyframe>\n    <key name=\"start\" qpos=\"", x->file);
    for (int i = 0; i < x->nlink; i++) {
        const lwi_export_link *l = &x->link[f->order[i]];
        double q[7];
        int n = l->naxis;
        for (int k = 0; k < n; k++) q[k] = m->q0[m->joint[l->joint].iq + l->axis[k].coordinate];
        if (l->kind == LWI_EXPORT_BALL) {
            ball_of(x, l, q);
            n = 4;
        } else if (l->kind == LWI_EXPORT_FREE) {
            v3_copy(q, l->r);
            quat_from_matrix(q + 3, l->R);
            n = 7;
        }
        put_values(x, q, n);
    }
    put_speeds(x, f);
    fputs("\"/>\n  </keyframe>\n", x->file);
}

lw_status lwi_write_mjcf(lwi_export *x)
{
    family f;
    int *open = LWI_PUSH(&x->arena, int, x->nlink + 1);
    TRY(raise_family(x, &x->arena, &f));
    if (!open) return lwi_fail(x->error, LW_ERR_MEMORY, "out of memory");
    fputs("<mujoco model=\"linkwork\">\n  <compiler angle=\"radian\" autolimits=\"true\"/>\n"
          "  <option",
          x->file);
    lwi_export_numbers(x, "gravity", x->model->gravity, 3, true);
    fputs("/>\n", x->file);
    TRY(put_assets(x));
    fputs("  <worldbody>\n", x->file);
    TRY(put_bodies(x, &f, open));
    fputs("  </worldbody>\n", x->file);
    TRY(put_couplings(x));
    put_motors(x);
    put_start(x, &f);
    fputs("</mujoco>\n", x->file);
    return LW_OK;
}
