// motion.c -- poses, velocity terms, motions and wrenches along the tree, as values.
#include "codegen/motion.h"

#include <float.h>
#include <math.h>

lw_status lwi_codegen_motion_create(const lwi_walk *walk, lwi_arena *arena,
                                    lwi_codegen_motion *motion)
{
    lwi_codegen_graph *graph = walk->graph;
    const lwi_elements *elements = walk->elements;
    *motion = (lwi_codegen_motion){.graph = graph, .elements = elements, .walk = walk};
    motion->body = LWI_PUSH(arena, lwi_body_values, elements->n);
    if (!motion->body) return LW_ERR_MEMORY;
    for (int i = 0; i < elements->n; i++) { // until lwi_codegen_motion_velocity nothing moves
        lwi_body_values *b = &motion->body[i];
        lwi_zero(graph, 3, b->w);
        lwi_zero(graph, 3, b->beta);
        lwi_zero(graph, 3, b->l);
        lwi_zero(graph, 3, b->k);
    }
    return LW_OK;
}

static bool is_screw(const lwi_element *e)
{
    return e->kind == LWI_K_HINGE || e->kind == LWI_K_SCREW;
}

int lwi_element_speeds(const lwi_element *e)
{
    if (e->driven) return 0;
    return is_screw(e) ? 1 : e->kind == LWI_K_BALL ? 3 : 6;
}

// ------------------------------------------------------------------------------------------- poses

void lwi_codegen_circular(lwi_codegen_graph *g, val x, double angle, val *c, val *s)
{
    const double quarters = angle / 1.5707963267948966, whole = rint(quarters);
    const bool right = fabs(quarters - whole) <= 8 * DBL_EPSILON;
    const val at = right ? x : add(g, x, lit(g, angle));
    const val cosine = lwi_codegen_graph_op(g, LWI_OP_COS, at, at),
              sine = lwi_codegen_graph_op(g, LWI_OP_SIN, at, at);
    switch (right ? ((int)whole % 4 + 4) % 4 : 0) {
    case 0:
        *c = cosine, *s = sine;
        break;
    case 1:
        *c = neg(g, sine), *s = cosine;
        break;
    case 2:
        *c = neg(g, cosine), *s = neg(g, sine);
        break;
    default:
        *c = sine, *s = neg(g, cosine);
        break;
    }
}

static void screw_pose(const lwi_codegen_motion *m, const lwi_element *e, lwi_body_values *b)
{
    lwi_codegen_graph *g = m->graph;
    val c, s;
    const val q = mul(g, lit(g, e->sign), lwi_walk_coordinate(m->walk, e->iq));
    lwi_codegen_circular(g, mul(g, lit(g, e->turn), q), e->angle, &c, &s);
    b->d = madd(g, lit(g, e->shift), lit(g, e->slide), q);
    b->theta = lwi_turn_z(g, c, s);
    b->alpha = lwi_turn_x(g, lit(g, e->ca), lit(g, e->sa));
    b->phi = lwi_turn_z(g, lit(g, e->cphi), lit(g, e->sphi));
}

static void ball_pose(const lwi_codegen_motion *m, const lwi_element *e, lwi_body_values *b)
{
    lwi_codegen_graph *g = m->graph;
    val q[4], F[9];
    for (int i = 0; i < 4; i++) q[i] = lwi_walk_coordinate(m->walk, e->iq + i);
    lwi_quaternion(g, b->R, q);
    lwi_literals(g, 9, F, e->R);
    lwi_literals(g, 3, b->r, e->r);
    lwi_product(g, b->R, F, b->R);
}

void lwi_codegen_motion_pose(lwi_codegen_motion *m)
{
    for (int i = 0; i < m->elements->n; i++) {
        const lwi_element *e = &m->elements->list[i];
        lwi_codegen_graph_mark(m->graph);
        if (is_screw(e))
            screw_pose(m, e, &m->body[i]);
        else
            ball_pose(m, e, &m->body[i]);
    }
}

// -------------------------------------------------------------------------------------- velocities

// w x (w x a) = w (w.a) - (w.w) a
void lwi_codegen_centripetal(lwi_codegen_graph *g, val b[3], const val w[3], const val a[3])
{
    const val xx = mul(g, w[0], w[0]), yy = mul(g, w[1], w[1]), zz = mul(g, w[2], w[2]);
    const val xy = mul(g, w[0], w[1]), xz = mul(g, w[0], w[2]), yz = mul(g, w[1], w[2]);
    const val x = madd(g, mul(g, xy, a[1]), xz, a[2]), y = madd(g, mul(g, xy, a[0]), yz, a[2]);
    const val z = madd(g, mul(g, xz, a[0]), yz, a[1]), a0 = a[0], a1 = a[1], a2 = a[2];
    b[0] = msub(g, x, add(g, yy, zz), a0);
    b[1] = msub(g, y, add(g, xx, zz), a1);
    b[2] = msub(g, z, add(g, xx, yy), a2);
}

// w x J w with the same products; differences of J are literals.
static void gyroscopic(lwi_codegen_graph *g, val n[3], const val w[3], const double J[6])
{
    const val xx = mul(g, w[0], w[0]), yy = mul(g, w[1], w[1]), zz = mul(g, w[2], w[2]);
    const val xy = mul(g, w[0], w[1]), xz = mul(g, w[0], w[2]), yz = mul(g, w[1], w[2]);
    const double d[3] = {J[2] - J[1], J[0] - J[2], J[1] - J[0]};
    const val x[4] = {yz, sub(g, yy, zz), xy, xz}, y[4] = {xz, sub(g, zz, xx), yz, xy};
    const val z[4] = {xy, sub(g, xx, yy), xz, yz};
    const val fx[4] = {lit(g, d[0]), lit(g, J[5]), lit(g, J[4]), lit(g, -J[3])};
    const val fy[4] = {lit(g, d[1]), lit(g, J[4]), lit(g, J[3]), lit(g, -J[5])};
    const val fz[4] = {lit(g, d[2]), lit(g, J[3]), lit(g, J[5]), lit(g, -J[4])};
    n[0] = lwi_codegen_dot(g, 4, x, fx);
    n[1] = lwi_codegen_dot(g, 4, y, fy);
    n[2] = lwi_codegen_dot(g, 4, z, fz);
}

void lwi_codegen_motion_inertia(const lwi_codegen_motion *m, int i, const val A[6], val F[6])
{
    lwi_codegen_graph *g = m->graph;
    const lwi_element *e = &m->elements->list[i];
    val h[3], J[6], n[3];
    lwi_literals(g, 3, h, e->h);
    lwi_literals(g, 6, J, e->J);
    for (int k = 0; k < 3; k++) F[k] = mul(g, lit(g, e->m), A[k]);
    lwi_cross_add(g, F, A + 3, h);
    lwi_cross(g, F + 3, h, A);
    lwi_symmetric(g, n, J, A + 3);
    lwi_add(g, 3, F + 3, n);
}

void lwi_codegen_motion_wrench(const lwi_codegen_motion *m, int i, val p[6])
{
    const lwi_element *e = &m->elements->list[i];
    val h[3];
    lwi_literals(m->graph, 3, h, e->h);
    lwi_codegen_centripetal(m->graph, p, m->body[i].w, h);
    gyroscopic(m->graph, p + 3, m->body[i].w, e->J);
}

// Relative acceleration of a prescribed screw: a part of the bias.
static void add_prescribed(const lwi_codegen_motion *m, const lwi_element *e, lwi_body_values *b)
{
    lwi_codegen_graph *g = m->graph;
    const val rate = mul(g, lit(g, e->sign), lwi_walk_drive(m->walk, e->iv, 2));
    b->l[2] = madd(g, b->l[2], lit(g, e->slide), rate);
    b->k[2] = madd(g, b->k[2], lit(g, e->turn), rate);
}

// Before the last screw the origin is at (a, b, delta) in the parent after the rotation phi, and d along the
// last axis: beta in these axes.
static void screw_velocity(const lwi_codegen_motion *m, const lwi_element *e, lwi_body_values *b,
                           const val parent[3])
{
    lwi_codegen_graph *g = m->graph;
    const val speed = mul(g, lit(g, e->sign), lwi_walk_speed(m->walk, e->iv));
    const val turning = mul(g, lit(g, e->turn), speed), sliding = mul(g, lit(g, e->slide), speed);
    val w[3] = {parent[0], parent[1], parent[2]};
    val r[3] = {lit(g, e->a), lit(g, e->b), lit(g, e->delta)};
    lwi_turn_in(g, &b->phi, w);
    lwi_turn_in(g, &b->alpha, w);
    lwi_turn_in(g, &b->alpha, r);
    r[2] = add(g, r[2], b->d);
    lwi_codegen_centripetal(g, b->beta, w, r);
    lwi_turn_in(g, &b->theta, w);
    const val twice = add(g, sliding, sliding);
    b->l[0] = mul(g, twice, w[1]), b->l[1] = neg(g, mul(g, twice, w[0])), b->l[2] = lit(g, 0);
    b->k[0] = mul(g, turning, w[1]), b->k[1] = neg(g, mul(g, turning, w[0])), b->k[2] = lit(g, 0);
    b->w[0] = w[0], b->w[1] = w[1], b->w[2] = add(g, w[2], turning);
    if (e->driven) add_prescribed(m, e, b);
}

// k = w' x u_w; the speeds of a base are components: l = u_w x u_v + 2 w' x u_v, and w' = 0
static void ball_velocity(const lwi_codegen_motion *m, const lwi_element *e, lwi_body_values *b,
                          const val parent[3])
{
    lwi_codegen_graph *g = m->graph;
    const int n = lwi_element_speeds(e);
    val u[6], w[3];
    lwi_zero(g, 6, u);
    for (int i = 0; i < n; i++) u[6 - n + i] = lwi_walk_speed(m->walk, e->iv + i);
    lwi_codegen_centripetal(g, b->beta, parent, b->r);
    lwi_rotate_back(g, w, b->R, parent);
    lwi_cross(g, b->k, w, u + 3);
    lwi_cross(g, b->l, u + 3, u);
    for (int i = 0; i < 3; i++) b->w[i] = add(g, w[i], u[3 + i]);
}

void lwi_codegen_motion_velocity(lwi_codegen_motion *m)
{
    val still[3];
    lwi_zero(m->graph, 3, still);
    for (int i = 0; i < m->elements->n; i++) {
        const lwi_element *e = &m->elements->list[i];
        const val *parent = e->parent < 0 ? still : m->body[e->parent].w;
        lwi_codegen_graph_mark(m->graph);
        if (is_screw(e))
            screw_velocity(m, e, &m->body[i], parent);
        else
            ball_velocity(m, e, &m->body[i], parent);
    }
}

// ---------------------------------------------------------------------------- motions and wrenches

// Transforms the motion a of an origin to the point at r: a += al x r.
static void lever(lwi_codegen_graph *g, val a[6], const val r[3])
{
    lwi_cross_add(g, a, a + 3, r);
}

void lwi_codegen_motion_carry(const lwi_codegen_motion *m, int i, bool bias, const val from[6],
                              val to[6])
{
    lwi_codegen_graph *g = m->graph;
    const lwi_element *e = &m->elements->list[i];
    const lwi_body_values *b = &m->body[i];
    val a[6];
    for (int k = 0; k < 6; k++) a[k] = from[k];
    if (is_screw(e)) {
        const val r[3] = {lit(g, e->a), lit(g, e->b), lit(g, e->delta)};
        const val d[3] = {lit(g, 0), lit(g, 0), b->d};
        lwi_turn_in(g, &b->phi, a);
        lwi_turn_in(g, &b->phi, a + 3);
        lever(g, a, r);
        lwi_turn_in(g, &b->alpha, a);
        lwi_turn_in(g, &b->alpha, a + 3);
        lever(g, a, d);
        if (bias) lwi_add(g, 3, a, b->beta);
        lwi_turn_in(g, &b->theta, a);
        lwi_turn_in(g, &b->theta, a + 3);
    } else {
        lever(g, a, b->r);
        if (bias) lwi_add(g, 3, a, b->beta);
        lwi_rotate_back(g, a, b->R, a);
        lwi_rotate_back(g, a + 3, b->R, a + 3);
    }
    if (bias) {
        lwi_add(g, 3, a, b->l);
        lwi_add(g, 3, a + 3, b->k);
    }
    for (int k = 0; k < 6; k++) to[k] = a[k];
}

void lwi_codegen_wrench_to_parent(const lwi_codegen_motion *m, int i, val F[6])
{
    lwi_codegen_graph *g = m->graph;
    const lwi_element *e = &m->elements->list[i];
    const lwi_body_values *b = &m->body[i];
    if (!is_screw(e)) {
        lwi_rotate(g, F, b->R, F);
        lwi_rotate(g, F + 3, b->R, F + 3);
        lwi_cross_add(g, F + 3, b->r, F);
        return;
    }
    const val r[3] = {lit(g, e->a), lit(g, e->b), lit(g, e->delta)};
    const val d[3] = {lit(g, 0), lit(g, 0), b->d};
    lwi_turn_out(g, &b->theta, F);
    lwi_turn_out(g, &b->theta, F + 3);
    lwi_cross_add(g, F + 3, d, F);
    lwi_turn_out(g, &b->alpha, F);
    lwi_turn_out(g, &b->alpha, F + 3);
    lwi_cross_add(g, F + 3, r, F);
    lwi_turn_out(g, &b->phi, F);
    lwi_turn_out(g, &b->phi, F + 3);
}

// ------------------------------------------------------------------------------------ degrees of freedom

void lwi_codegen_motion_subspace(lwi_codegen_graph *g, const lwi_element *e, int column, val S[6])
{
    lwi_zero(g, 6, S);
    if (is_screw(e)) {
        S[2] = lit(g, e->sign * e->slide);
        S[5] = lit(g, e->sign * e->turn);
    } else {
        S[6 - lwi_element_speeds(e) + column] = lit(g, 1);
    }
}

val lwi_codegen_motion_effort(const lwi_codegen_motion *m, int tau, int iv)
{
    lwi_codegen_graph *g = m->graph;
    const lwi_effort *f = &m->elements->effort[iv];
    val sum = tau < 0 ? lit(g, 0) : lwi_codegen_graph_input(g, tau, iv);
    sum = add(g, sum, lit(g, f->at_rest));
    if (m->load) sum = add(g, sum, m->load[iv]);
    if (f->stiffness != 0)
        sum = msub(g, sum, lit(g, f->stiffness), lwi_walk_coordinate(m->walk, f->iq));
    if (f->damping != 0) sum = msub(g, sum, lit(g, f->damping), lwi_walk_speed(m->walk, iv));
    return sum;
}
