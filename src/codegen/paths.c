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

static val coordinate(const lwi_walk *walk, int iq)
{
    return lwi_codegen_graph_input(walk->graph, walk->q, iq);
}

val lwi_walk_speed(const lwi_walk *walk, int iv)
{
    if (walk->speed) return walk->speed[iv];
    return walk->v < 0 ? lit(walk->graph, 0) : lwi_codegen_graph_input(walk->graph, walk->v, iv);
}

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
    const val q = coordinate(walk, iq);
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
    const val u = mul(g, lit(g, sign), lwi_walk_speed(walk, iv));
    val z[3], d[3], zu[3], x[3];
    lwi_place_axis(p, axis, z);
    if (slide != 0) {
        const val q = mul(g, lit(g, sign * slide), coordinate(walk, iq));
        scaled(g, d, q, z);
        displace(g, p, d);
        scaled(g, zu, mul(g, lit(g, slide), u), z);
        lwi_add(g, 3, p->v, zu);
        lwi_cross(g, x, p->w, zu);
        for (int i = 0; i < 3; i++) p->a[i] = add(g, p->a[i], add(g, x[i], x[i]));
    }
    if (rotates != 0) {
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
    for (int i = 0; i < 4; i++) q[i] = coordinate(walk, node->iq + node->nq - 4 + i);
    if (is_free) {
        for (int i = 0; i < 3; i++) d[i] = coordinate(walk, node->iq + i);
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

void lwi_place_node(const lwi_walk *walk, const lwi_node *node, lwi_place *p, lwi_column *column)
{
    const lwi_joint_type *type = node->type;
    lwi_place_fixed(walk->graph, p, node->X_R, node->X_r);
    if (type->quaternion >= 0) {
        step_ball(walk, node, p, column);
        return;
    }
    for (int k = 0; k < type->nfactor; k++) {
        const lwi_joint_factor *f = &type->factor[node->reversed ? type->nfactor - 1 - k : k];
        const int i = f->coordinate;
        step_scalar(walk, p, f->axis, node->iq + i, node->iv + i, node->reversed ? -1 : 1,
                    f->kind != LWI_FACTOR_SLIDE,
                    f->kind == LWI_FACTOR_SLIDE   ? 1
                    : f->kind == LWI_FACTOR_SCREW ? node->par->pitch
                                                  : 0,
                    column ? &column[i] : NULL);
    }
}

void lwi_column_at(lwi_codegen_graph *g, const lwi_column *column, const val P[3], val v[3])
{
    val arm[3];
    for (int i = 0; i < 3; i++) arm[i] = sub(g, P[i], column->at[i]);
    lwi_cross(g, v, column->w, arm);
    lwi_add(g, 3, v, column->l);
}
