// paths.c -- link frames along paths of the tree, factor by factor of their joints (model/joints/joint.h).
//
// With d from the origin of a frame to that of the next one, and z u the relative velocity of a slide or z u the relative
// angular velocity of a rotation:
//
//   v += w x d + z u      a += al x d + w x (w x d) + 2 w x z u        (slide)
//   w += z u              al += w x z u                                (rotation)
#include "codegen/paths.h"

#include <float.h>
#include <math.h>

void lwi_place_start(lwi_codegen_graph *g, lwi_place *p, const double R[9], const double r[3])
{
    lwi_literals(g, 9, p->R, R);
    lwi_literals(g, 3, p->r, r);
    lwi_zero(g, 3, p->v);
    lwi_zero(g, 3, p->w);
    lwi_zero(g, 3, p->a);
    lwi_zero(g, 3, p->al);
}

// ------------------------------------------------------------------------------------------- steps

// Literals of rotations that are whole except for rounding.
static void snap(lwi_codegen_graph *g, int n, val *x)
{
    for (int i = 0; i < n; i++) {
        double number;
        if (lwi_codegen_graph_known(g, x[i], &number)) x[i] = lit(g, lwi_whole(number));
    }
}

// The origin moves by d in axes at rest, which the frame carries.
static void displace(lwi_codegen_graph *g, lwi_place *p, const val d[3])
{
    val c[3];
    lwi_cross_add(g, p->v, p->w, d);
    lwi_cross_add(g, p->a, p->al, d);
    lwi_codegen_centripetal(g, c, p->w, d);
    lwi_add(g, 3, p->a, c);
    lwi_add(g, 3, p->r, d);
}

void lwi_place_fixed(lwi_codegen_graph *g, lwi_place *p, const double R[9], const double r[3])
{
    double whole[9], exact[3], largest = 0;
    val Q[9], d[3];
    for (int i = 0; i < 9; i++) whole[i] = lwi_whole(R[i]);
    for (int i = 0; i < 3; i++) largest = fmax(largest, fabs(r[i]));
    for (int i = 0; i < 3; i++) exact[i] = fabs(r[i]) <= 8 * DBL_EPSILON * largest ? 0 : r[i];
    lwi_literals(g, 3, d, exact);
    lwi_rotate(g, d, p->R, d);
    displace(g, p, d);
    lwi_literals(g, 9, Q, whole);
    lwi_product(g, p->R, p->R, Q);
    snap(g, 9, p->R);
}

// Cosine and sine of sign q of a speed, from those of the normal form: of the sum with a constant angle.
static void circular(const lwi_walk *walk, int iq, int iv, double sign, val *c, val *s)
{
    lwi_codegen_graph *g = walk->graph;
    const lwi_elements *elements = walk->elements;
    const val q = lwi_walk_coordinate(walk, iq);
    for (int i = 0; i < elements->n; i++) {
        const lwi_element *e = &elements->list[i];
        if (e->iv != iv || e->turn == 0) continue;
        val C, S, ca, sa;
        lwi_codegen_circular(g, mul(g, lit(g, e->sign * e->turn), q), e->angle, &C, &S);
        lwi_codegen_circular(g, lit(g, 0), e->angle, &ca, &sa);
        *c = madd(g, mul(g, ca, C), sa, S);
        *s = mul(g, lit(g, sign * e->sign), msub(g, mul(g, ca, S), sa, C));
        return;
    }
    lwi_codegen_circular(g, mul(g, lit(g, sign), q), 0, c, s);
}

static void scaled(lwi_codegen_graph *g, val b[3], val x, const val a[3])
{
    for (int i = 0; i < 3; i++) b[i] = mul(g, x, a[i]);
}

static void add_scaled(lwi_codegen_graph *g, val b[3], val x, const val a[3])
{
    for (int i = 0; i < 3; i++) b[i] = madd(g, b[i], x, a[i]);
}

// R := R Rot(axis, (c, s))
static void rotate_about(lwi_codegen_graph *g, val R[9], int axis, val c, val s)
{
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    for (int row = 0; row < 3; row++) {
        const val x = R[3 * row + i], y = R[3 * row + j];
        R[3 * row + i] = madd(g, mul(g, c, x), s, y);
        R[3 * row + j] = msub(g, mul(g, c, y), s, x);
    }
}

// One coordinate: displacement by slide q along an axis of the frame, then rotation by rotates q about it.
static void step_scalar(const lwi_walk *walk, lwi_place *p, int axis, int iq, int iv, double sign,
                        double rotates, double slide, lwi_column *column)
{
    lwi_codegen_graph *g = walk->graph;
    const bool driven = iv >= walk->elements->model->tree_nv;
    const val u = mul(g, lit(g, sign), lwi_walk_speed(walk, iv));
    val z[3], d[3], zu[3], x[3];
    lwi_place_axis(p, axis, z);
    if (slide != 0) {
        const val q = mul(g, lit(g, sign * slide), lwi_walk_coordinate(walk, iq));
        scaled(g, d, q, z);
        displace(g, p, d);
        scaled(g, zu, mul(g, lit(g, slide), u), z);
        lwi_add(g, 3, p->v, zu);
        lwi_cross(g, x, p->w, zu);
        for (int i = 0; i < 3; i++) p->a[i] = add(g, p->a[i], add(g, x[i], x[i]));
        if (driven)
            add_scaled(g, p->a, mul(g, lit(g, sign * slide), lwi_walk_drive(walk, iv, 2)), z);
    }
    if (rotates != 0) {
        if (driven)
            add_scaled(g, p->al, mul(g, lit(g, sign * rotates), lwi_walk_drive(walk, iv, 2)), z);
        val c, s;
        scaled(g, zu, u, z);
        lwi_cross_add(g, p->al, p->w, zu);
        lwi_add(g, 3, p->w, zu);
        circular(walk, iq, iv, sign, &c, &s);
        rotate_about(g, p->R, axis, c, s);
    }
    if (!column) return;
    scaled(g, column->w, lit(g, sign * rotates), z);
    scaled(g, column->l, lit(g, sign * slide), z);
    for (int i = 0; i < 3; i++) column->at[i] = p->r[i];
}

void lwi_place_axis(const lwi_place *p, int i, val a[3])
{
    for (int k = 0; k < 3; k++) a[k] = p->R[3 * k + i];
}

// Quaternion, and before it a place in axes of F1 if the joint is free; speeds in axes of F2.
static void step_ball(const lwi_walk *walk, const lwi_node *node, lwi_place *p, lwi_column *column)
{
    lwi_codegen_graph *g = walk->graph;
    const bool is_free = lwi_joint_is_free(node->type);
    val q[4], Q[9], u[6], turning[3], sliding[3], d[3], x[3];
    lwi_zero(g, 6, u);
    for (int i = 0; i < node->nv; i++) u[6 - node->nv + i] = lwi_walk_speed(walk, node->iv + i);
    for (int i = 0; i < 4; i++) q[i] = lwi_walk_coordinate(walk, node->iq + node->nq - 4 + i);
    if (is_free) {
        for (int i = 0; i < 3; i++) d[i] = lwi_walk_coordinate(walk, node->iq + i);
        lwi_rotate(g, d, p->R, d);
        displace(g, p, d);
    }
    lwi_quaternion(g, Q, q);
    lwi_product(g, p->R, p->R, Q);
    lwi_rotate(g, sliding, p->R, u);
    lwi_rotate(g, turning, p->R, u + 3);
    lwi_add(g, 3, p->v, sliding);
    lwi_cross(g, x, p->w, sliding);
    for (int i = 0; i < 3; i++) p->a[i] = add(g, p->a[i], add(g, x[i], x[i]));
    lwi_cross_add(g, p->a, turning, sliding);
    lwi_cross_add(g, p->al, p->w, turning);
    lwi_add(g, 3, p->w, turning);
    for (int j = 0; column && j < node->nv; j++) {
        lwi_zero(g, 3, column[j].w);
        lwi_zero(g, 3, column[j].l);
        lwi_place_axis(p, j % 3, is_free && j < 3 ? column[j].l : column[j].w);
        for (int i = 0; i < 3; i++) column[j].at[i] = p->r[i];
    }
}

// A coordinate of a mount, which may not move.
static void step_mount(const lwi_walk *walk, int joint, int which, int axis, double rotates,
                       lwi_place *p)
{
    const lw_model *m = walk->elements->model;
    const int i = lwi_walk_drive_index(walk->elements, joint, which);
    if (i >= 0)
        step_scalar(walk, p, axis, m->tree_nq + i, m->tree_nv + i, 1, rotates, 1 - rotates, NULL);
}

// Displacements along the axes of the frame, then a rotation about an axis of it.
void lwi_place_mount(const lwi_walk *walk, int joint, lwi_place *p)
{
    static const double origin[3] = {0, 0, 0};
    const lwi_mount *mount = &walk->elements->model->joint[joint].mount;
    lwi_k_frame F; // z on the axis
    double back[9];
    if (!mount->present) return;
    for (int i = 0; i < 3; i++) step_mount(walk, joint, LWI_K_MOUNT_SHIFT + i, i, 0, p);
    if (mount->turn.index <= 0) return;
    lwi_k_frame_about(&F, mount->about);
    for (int i = 0; i < 9; i++) back[i] = F.R[3 * (i % 3) + i / 3];
    lwi_place_fixed(walk->graph, p, F.R, origin);
    step_mount(walk, joint, LWI_K_MOUNT_TURN, LWI_Z, 1, p);
    lwi_place_fixed(walk->graph, p, back, origin);
}

void lwi_place_node(const lwi_walk *walk, const lwi_node *node, lwi_place *p, lwi_column *column,
                    lwi_place *before)
{
    const lwi_joint_type *type = node->type;
    lwi_place_fixed(walk->graph, p, node->X_R, node->X_r);
    if (node->joint >= 0) lwi_place_mount(walk, node->joint, p);
    if (type->quaternion >= 0) {
        for (int j = 0; before && j < node->nv; j++) before[j] = *p;
        step_ball(walk, node, p, column);
        return;
    }
    for (int k = 0; k < type->nfactor; k++) {
        const lwi_joint_factor *f = &type->factor[node->reversed ? type->nfactor - 1 - k : k];
        const int iq = lwi_walk_coordinate_index(walk->elements, node, f->coordinate);
        const int iv = lwi_walk_speed_index(walk->elements, node, f->coordinate);
        const bool driven = iv >= walk->elements->model->tree_nv;
        if (before && !driven) before[iv - node->iv] = *p;
        step_scalar(walk, p, f->axis, iq, iv, node->reversed ? -1 : 1, f->kind != LWI_FACTOR_SLIDE,
                    f->kind == LWI_FACTOR_SLIDE   ? 1
                    : f->kind == LWI_FACTOR_SCREW ? node->par->pitch
                                                  : 0,
                    column && !driven ? &column[iv - node->iv] : NULL);
    }
}

void lwi_column_at(lwi_codegen_graph *g, const lwi_column *column, const val P[3], val v[3])
{
    val arm[3];
    for (int i = 0; i < 3; i++) arm[i] = sub(g, P[i], column->at[i]);
    lwi_cross(g, v, column->w, arm);
    lwi_add(g, 3, v, column->l);
}
