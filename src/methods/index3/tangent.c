// tangent.c -- Newton's matrix of every body, M with two checks in [malczyk2019, (22)-(27)]: the derivative
// of its wrench by its own motion, and the inverse K that the rows of the elimination are multiplied with.
//
// Equations of a body: force in world axes, torque n' in body axes.  With F on the body at arm s (world axes,
// from the mass centre), and x~ y = x cross y, a translation dr and a rotation dt change
//                                      force        torque (rotated to world axes)
//     point of the body, F fixed       0            s x (F x dt)             = s~ F~ dt
//     point of the body, F rotates     -F~ dt       0
//     point in space, F rotates        -F~ dt       F~ dr - F~ s~ dt
//     point in space, F fixed          0            F~ dr + (s x F)~ dt
// A torque fixed in space changes by its T~ dt in the body, one that rotates with the body not at all.  These
// are the exact own-body derivatives; the effect of the other body of a joint on them cannot be in the matrix
// of one body and is omitted (the paper omits both kinds, section 4.4).  The inertia's part, w in body axes,
// theta the rotation vector of the step:
//     [J + h/2 (w~ J - (J w)~)] T^-1(theta),   T^-1 = 1 + theta~/2 + c theta~^2
// Level 0 is the inertia, level 1 adds the symmetric part of the derivatives of forces and moments, level 2
// has all.
#include "methods/index3/index3.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// -------------------------------------------------------------------------------------- primitives

// A += k v~
static void add_skew(double A[9], double k, const double v[3])
{
    A[1] -= k * v[2], A[2] += k * v[1];
    A[3] += k * v[2], A[5] -= k * v[0];
    A[6] -= k * v[1], A[7] += k * v[0];
}

// A += k a~ b~ = k (b a' - (a.b) 1)
static void add_skews(double A[9], double k, const double a[3], const double b[3])
{
    const double ab = v3_dot(a, b);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) A[3 * i + j] += k * b[i] * a[j];
        A[4 * i] -= k * ab;
    }
}

static void add_torque(lwi_index3_stiffness *K, const double s[3], const double F[3])
{
    v3_cross_add(K->torque, s, F);
    K->virial += v3_dot(s, F);
}

void lwi_index3_stiff_point(lwi_index3_stiffness *K, const double s[3], const double F[3])
{
    add_skews(K->rr, -1, s, F);
    add_torque(K, s, F);
}

void lwi_index3_stiff_follower(lwi_index3_stiffness *K, const double s[3], const double F[3])
{
    add_skew(K->tr, 1, F);
    K->coupled = true;
    add_torque(K, s, F);
}

void lwi_index3_stiff_direction(lwi_index3_stiffness *K, const double s[3], const double F[3])
{
    add_skew(K->tr, 1, F);
    add_skew(K->rt, -1, F);
    add_skews(K->rr, 1, F, s);
    K->coupled = true;
    add_torque(K, s, F);
}

void lwi_index3_stiff_fixed(lwi_index3_stiffness *K, const double s[3], const double F[3])
{
    double n[3];
    v3_cross(n, s, F);
    add_skew(K->rt, -1, F);
    add_skew(K->rr, -1, n);
    K->coupled = true;
    add_torque(K, s, F);
}

void lwi_index3_stiff_torque(lwi_index3_stiffness *K, double part, const double T[3])
{
    add_skew(K->rr, -part, T);
    v3_add(K->torque, K->torque, T);
}

// ------------------------------------------------------------------------------------------ joints

// Axis `column` of a joint frame with the axes R in its body.
static void joint_axis(double a[3], const double body[9], const double R[9], int column)
{
    const double local[3] = {R[column], R[3 + column], R[6 + column]};
    m3_mul_v(a, body, local);
}

// A joint at its bodies: stiffness of each (NULL: the ground), arms of its points.
typedef struct sides {
    const lwi_joint *joint;
    lwi_index3_stiffness *K1, *K2;
    double arm1[3], arm2[3], far1[3]; // P1 from C1, P2 from C2, P2 from C1
} sides;

// Whether the row is  a2 x a1  on body 2: two axes, each fixed in one body.
static bool is_normal(const lwi_system *s, const sides *p, int row, double lambda)
{
    const lwi_joint *joint = p->joint;
    if (joint->mount.present || row >= joint->type->nc) return false;
    const lwi_row_form *form = &joint->type->row[row];
    if (form->kind != LWI_ROW_AXES) return false;
    double a1[3], a2[3], F[3];
    joint_axis(a1, s->R[joint->body1], joint->R1, form->i);
    joint_axis(a2, s->R[joint->body2], joint->R2, form->j);
    v3_scale(F, lambda, a1);
    if (p->K2) lwi_index3_stiff_point(p->K2, a2, F);
    v3_scale(F, lambda, a2);
    if (p->K1) lwi_index3_stiff_point(p->K1, a1, F);
    return true;
}

// Force F that rotates with body 1 (`follows`) or is fixed in space, and torque T, on body 2 at P2. Torques
// of rows that measure the rotation of F2 in F1 follow both in equal parts.
static void push(const sides *p, bool follows, const double F[3], const double T[3])
{
    double back[3];
    if (p->K2) {
        lwi_index3_stiff_point(p->K2, p->arm2, F);
        lwi_index3_stiff_torque(p->K2, 0.5, T);
    }
    if (!p->K1) return;
    v3_scale(back, -1, F);
    if (follows)
        lwi_index3_stiff_direction(p->K1, p->far1, back);
    else
        lwi_index3_stiff_point(p->K1, p->arm1, back);
    v3_scale(back, -1, T);
    lwi_index3_stiff_torque(p->K1, 0.5, back);
}

static bool any3(const double v[3])
{
    return v[0] != 0 || v[1] != 0 || v[2] != 0;
}

static void joint_stiffness(lwi_index3 *d, int e, const sides *p, const double *lambda)
{
    const lwi_system *s = &d->system;
    const lwi_joint *joint = p->joint;
    const int first = s->plan.row[e], rows = s->plan.graph.edge[e].rows;
    double fixed[3] = {0, 0, 0}, slides[3] = {0, 0, 0}, T[3] = {0, 0, 0};
    const bool slide = !joint->type->has_length && !joint->type->callbacks;
    for (int k = 0; k < rows; k++) {
        const double l = lambda[first + k];
        double w[6], n[3];
        if (l == 0) continue;
        lwi_index3_row_wrench(d, e, k, w);
        if (d->points[e] && k < 3) { // through P2: no torque there
            v3_axpy(fixed, l, w);
            continue;
        }
        v3_axpy(slide ? slides : fixed, l, w);
        if (is_normal(s, p, k, l)) continue;
        v3_cross(n, w, joint->body2 ? p->arm2 : p->far1); // about P2: n - arm x f
        v3_add(n, n, w + 3);
        v3_axpy(T, l, n);
    }
    const double none[3] = {0, 0, 0};
    if (any3(fixed)) push(p, false, fixed, none);
    if (any3(slides) || any3(T)) push(p, any3(slides), slides, T);
}

// Efforts on a joint's coordinates: forces along axes of F1, torques about axes of the joint.
static void effort_stiffness(lwi_index3 *d, int j, double t, const sides *p, const double *effort)
{
    lwi_system *s = &d->system;
    const lwi_joint *joint = p->joint;
    double w[6], arm[3];
    bool any = false;
    for (int k = 0; k < joint->type->nv; k++) any |= effort[k] != 0;
    if (!any) return;
    const int at = joint->body2 ? joint->body2 : joint->body1;
    v6_zero(s->wrench[joint->body1]), v6_zero(s->wrench[joint->body2]);
    lwi_joint_apply_effort(s->model, j, t, &s->motion, effort, s->wrench);
    v6_copy(w, s->wrench[at]);
    if (!joint->body2)
        for (int i = 0; i < 6; i++) w[i] = -w[i];
    v3_copy(arm, joint->body2 ? p->arm2 : p->far1);
    v3_cross_add(w + 3, w, arm);
    push(p, any3(w), w, w + 3);
}

static sides sides_of(lwi_index3 *d, int j)
{
    lwi_system *s = &d->system;
    const lwi_joint *joint = &s->model->joint[j];
    sides p = {.joint = joint};
    if (joint->body1) p.K1 = &d->stiffness[s->model->body_node[joint->body1]];
    if (joint->body2) p.K2 = &d->stiffness[s->model->body_node[joint->body2]];
    m3_mul_v(p.arm1, s->R[joint->body1], joint->r1);
    m3_mul_v(p.arm2, s->R[joint->body2], joint->r2);
    v3_add(p.far1, s->r[joint->body2], p.arm2);
    v3_sub(p.far1, p.far1, s->r[joint->body1]);
    return p;
}

// The row of a coupling: efforts on the coordinates of two joints.
static void coupling_stiffness(lwi_index3 *d, int k, double t, const double *lambda)
{
    const lwi_coupling *pair = &d->system.model->coupling[k];
    const int joint[2] = {pair->joint, pair->of}, coordinate[2] = {pair->coordinate, pair->with};
    double effort[2];
    lwi_index3_coupling_efforts(d, k, lambda, effort);
    for (int i = 0; i < 2; i++) {
        double tau[LW_JOINT_MAX_NV] = {0};
        const sides p = sides_of(d, joint[i]);
        tau[coordinate[i]] = effort[i];
        effort_stiffness(d, joint[i], t, &p, tau);
    }
}

void lwi_index3_joint_stiffness(lwi_index3 *d, int j, double t, const double *lambda)
{
    lwi_system *s = &d->system;
    const lwi_joint *joint = &s->model->joint[j];
    if (joint->merged || joint->body1 == joint->body2) return;
    const sides p = sides_of(d, j);
    if (s->joint_edge[j] >= 0 && joint->type->callbacks && !d->euler)
        lwi_index3_custom(d, j, t, lambda, p.K1, p.K2);
    else if (s->joint_edge[j] >= 0)
        joint_stiffness(d, s->joint_edge[j], &p, lambda);
    if (d->efforts && !d->euler) effort_stiffness(d, j, t, &p, s->loads.effort + joint->iv);
}

void lwi_index3_other_stiffnesses(lwi_index3 *d, double t, const double *inputs,
                                  const double *lambda)
{
    for (int k = 0; k < d->system.model->ncoupling && !d->euler; k++)
        coupling_stiffness(d, k, t, lambda);
    if (!d->euler) lwi_index3_force_stiffness(d, t, inputs);
}

void lwi_index3_stiffnesses(lwi_index3 *d, double t, const double *inputs, const double *lambda)
{
    const lw_model *model = d->system.model;
    memset(d->stiffness, 0, (size_t)model->nnode * sizeof *d->stiffness);
    for (int j = 0; j < model->njoint; j++) lwi_index3_joint_stiffness(d, j, t, lambda);
    lwi_index3_other_stiffnesses(d, t, inputs, lambda);
}

// ------------------------------------------------------------------------------------------ leaves

// K := A^-1; false: the symmetric part of A is not positive definite.
static bool invert3(const double A[9], double K[9])
{
    const double xy = 0.5 * (A[1] + A[3]), xz = 0.5 * (A[2] + A[6]), yz = 0.5 * (A[5] + A[7]);
    const double minor = A[0] * A[4] - xy * xy;
    const double determinant = A[8] * minor - A[0] * yz * yz - A[4] * xz * xz + 2 * xy * xz * yz;
    const double c0 = A[4] * A[8] - A[5] * A[7], c1 = A[5] * A[6] - A[3] * A[8],
                 c2 = A[3] * A[7] - A[4] * A[6];
    const double inverse = 1 / (A[0] * c0 + A[1] * c1 + A[2] * c2);
    if (!(A[0] > 0 && minor > 0 && determinant > 0)) return false;
    K[0] = c0 * inverse, K[3] = c1 * inverse, K[6] = c2 * inverse;
    K[1] = (A[2] * A[7] - A[1] * A[8]) * inverse;
    K[4] = (A[0] * A[8] - A[2] * A[6]) * inverse;
    K[7] = (A[1] * A[6] - A[0] * A[7]) * inverse;
    K[2] = (A[1] * A[5] - A[2] * A[4]) * inverse;
    K[5] = (A[2] * A[3] - A[0] * A[5]) * inverse;
    K[8] = (A[0] * A[4] - A[1] * A[3]) * inverse;
    return true;
}

bool lwi_index3_invert(int n, const double *A, double *K)
{
    LWI_ASSERT(n >= 1 && n <= 8);
    // Gauss-Jordan without exchanges, safe by the same condition; pivots show where it fails
    double B[8 * 8];
    memcpy(B, A, (size_t)(n * n) * sizeof *B);
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    for (int i = 0; i < n; i++) K[i * n + i] = 1;
    for (int k = 0; k < n; k++) {
        if (!(B[k * n + k] > 0)) return false;
        const double inverse = 1 / B[k * n + k];
        for (int j = 0; j < n; j++) B[k * n + j] *= inverse, K[k * n + j] *= inverse;
        for (int i = 0; i < n; i++) {
            const double f = B[i * n + k];
            if (i == k || f == 0) continue;
            for (int j = 0; j < n; j++)
                B[i * n + j] -= f * B[k * n + j], K[i * n + j] -= f * K[k * n + j];
        }
    }
    return true;
}

// T^-1(theta), body axes.
static void inverse_tangent(double T[9], const double theta[3])
{
    const double once[9] = {0, -theta[2], theta[1], theta[2], 0, -theta[0], -theta[1], theta[0], 0};
    const double c = rotation_vector_factor(theta);
    m3_mul(T, once, once);
    for (int i = 0; i < 9; i++) T[i] = c * T[i] + 0.5 * once[i] + (i % 4 == 0);
}

// The inertia's part of level 2, world axes.
static void gyroscopic(const lwi_index3 *d, int k, double h, double A[9])
{
    const int b = d->system.model->node[k].body;
    const lwi_index3_body *p = &d->body[k];
    const double *R = d->system.R[b];
    double J[9], Jw[3], B[9], T[9], W[9] = {0};
    s3_full(J, d->system.model->body[b].inertia);
    m3_mul_v(Jw, J, p->wn);
    add_skew(W, 0.5 * h, p->wn);
    m3_mul(B, W, J);
    add_skew(B, -0.5 * h, Jw);
    for (int i = 0; i < 9; i++) B[i] += J[i];
    inverse_tangent(T, p->theta);
    m3_mul(W, B, T);
    m3_mul(T, R, W);
    m3_mul_t(A, T, R);
}

static void inertia(const lwi_system *s, int k, double A[9])
{
    double J[6];
    s3_rotate(J, s->R[s->model->node[k].body], s->model->body[s->model->node[k].body].inertia);
    s3_full(A, J);
}

// Coupled translations and rotations: [m + ., eta tr; eta rt, A].
static void couple(const lwi_index3_stiffness *K, double mass, double eta, int level,
                   const double A[9], double all[36])
{
    memset(all, 0, 36 * sizeof *all);
    for (int i = 0; i < 3; i++) {
        all[7 * i] += mass;
        for (int j = 0; j < 3; j++) {
            const double tr = K->tr[3 * i + j], rt = K->rt[3 * j + i], tt = K->tt[3 * i + j];
            all[6 * i + j] += eta * (level > 1 ? tt : 0.5 * (tt + K->tt[3 * j + i]));
            const double mean = 0.5 * (tr + rt); // rt is at the place of the transposed
            all[6 * i + 3 + j] = eta * (level > 1 ? tr : mean);
            all[6 * (3 + j) + i] = eta * (level > 1 ? rt : mean);
            all[6 * (3 + i) + 3 + j] = A[3 * i + j];
        }
    }
}

static bool invert_coupled(const lwi_index3_stiffness *K, double mass, double eta, int level,
                           const double A[9], lwi_index3_leaf *leaf)
{
    double all[36];
    couple(K, mass, eta, level, A, all);
    if (!lwi_index3_invert(6, all, leaf->all)) return false;
    for (int i = 0; i < 36; i++) leaf->all[i] *= eta;
    leaf->coupled = true;
    return true;
}

// Rotations of a body without coupling: inertia, and eta times stiffness.
static void turn(const lwi_index3 *d, int k, double h, double A[9])
{
    const lwi_index3_stiffness *K = &d->stiffness[k];
    const int level = d->method.tangent;
    const double eta = 0.25 * h * h;
    if (level > 1)
        gyroscopic(d, k, h, A);
    else
        inertia(&d->system, k, A);
    for (int i = 0; i < 3 && level; i++)
        for (int j = 0; j < 3; j++)
            A[3 * i + j] +=
                eta * (level > 1 ? K->rr[3 * i + j] : 0.5 * (K->rr[3 * i + j] + K->rr[3 * j + i]));
}

void lwi_index3_add_stiffness(const lwi_index3 *d, int k, double h, int parts, const double M[36],
                              double K[36])
{
    static const lwi_index3_stiffness none;
    const int level = d->method.tangent;
    const double eta = 0.25 * h * h;
    double A[9], own[9], all[36], found[36];
    turn(d, k, h, A);
    inertia(&d->system, k, own);
    for (int i = 0; i < 9; i++) A[i] -= own[i]; // M has the inertia
    couple(level ? &d->stiffness[k] : &none, 0, eta, level, A, all);
    for (int i = 0; i < 36; i++) all[i] = M[i] + all[i] / parts;
    const bool sound = lwi_index3_invert(6, all, found);
    for (int i = 0; i < 36; i++) K[i] = eta * (sound ? found[i] : K[i]);
}

// K of a body in six coordinates [malczyk2019, (22)-(23), (26)].
static void leaf_of(lwi_index3 *d, int k, double h)
{
    const lwi_system *s = &d->system;
    const lwi_index3_stiffness *K = &d->stiffness[k];
    const double mass = s->model->body[s->model->node[k].body].mass, eta = 0.25 * h * h;
    const int level = d->method.tangent;
    lwi_index3_leaf *leaf = &d->leaf[k];
    double A[9];
    if (lwi_index3_is_borrowed(d, k)) return;
    turn(d, k, h, A);
    leaf->lin = eta / mass;
    LWI_ASSERT(mass > 0);
    leaf->coupled = false;
    if (!invert3(A, leaf->ang)) { // compression that outweighs the inertia is omitted
        inertia(s, k, A);
        invert3(A, leaf->ang);
    }
    for (int i = 0; i < 9; i++) leaf->ang[i] *= eta;
    if (level && K->coupled) invert_coupled(K, mass, eta, level, A, leaf);
}

void lwi_index3_leaves(lwi_index3 *d, double h)
{
    LWI_ASSERT(h > 0);
    for (int k = 0; k < d->system.model->nnode; k++)
        if (d->euler)
            lwi_index3_euler_leaf(d, k, h, false);
        else
            leaf_of(d, k, h);
    lwi_index3_borrowed_leaves(d, h, false);
}

void lwi_index3_mass_leaves(lwi_index3 *d, double h)
{
    const lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        if (d->euler) {
            lwi_index3_euler_leaf(d, k, h, true);
            continue;
        }
        if (lwi_index3_is_borrowed(d, k)) continue;
        const int b = s->model->node[k].body;
        double K[6];
        s3_rotate(K, s->R[b], s->mobility[k]);
        d->leaf[k] = (lwi_index3_leaf){.lin = 1 / s->model->body[b].mass};
        s3_full(d->leaf[k].ang, K);
    }
    lwi_index3_borrowed_leaves(d, h, true);
}

// ------------------------------------------------------------------------------------------ metric

static void multiply(const lwi_index3_leaf *leaf, const double f[6], double x[6])
{
    double in[6];
    v6_copy(in, f); // may be x
    if (leaf->coupled) {
        for (int i = 0; i < 6; i++) x[i] = v6_dot(leaf->all + 6 * i, in);
        return;
    }
    v3_scale(x, leaf->lin, in);
    m3_mul_v(x + 3, leaf->ang, in + 3);
}

// G := K J of a body, n K J of one of n parts.
static void multiply_rows(const lwi_index3_leaf *leaf, int parts, int rows, const double (*J)[6],
                          double (*G)[6])
{
    LWI_ASSERT(parts >= 1 && rows <= LWI_EDGE_ROWS);
    for (int k = 0; k < rows; k++) {
        multiply(leaf, J[k], G[k]);
        for (int i = 0; i < 6 && parts > 1; i++) G[k][i] *= parts;
    }
}

// Row r of G is K J_r of each body.
static void multiply_edges(void *user, int part)
{
    lwi_index3 *d = user;
    lwi_system *s = &d->system;
    const int parts = s->pool ? lwi_pool_count(s->pool) : 1;
    const int nedge = s->plan.graph.nedge;
    const int first = (int)((long)nedge * part / parts);
    const int end = (int)((long)nedge * (part + 1) / parts);
    for (int e = first; e < end; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        for (int k = 0; d->euler && k < edge->rows; k++) lwi_index3_euler_multiply(d, e, k);
        for (int i = 0; i < edge->n && !d->euler; i++) {
            const int at = 6 * (s->plan.slot[e] + i), k = lwi_system_node_of(s, edge->body[i]);
            if (s->transfer &&
                lwi_index3_multiply_borrowed(d, edge->body[i], edge->rows,
                                             (const double(*)[6])lwi_elim_J(s->elim) + at,
                                             lwi_elim_G(s->elim) + at))
                continue;
            multiply_rows(&d->leaf[k], lwi_system_parts_of(s, k), edge->rows,
                          (const double(*)[6])lwi_elim_J(s->elim) + at, lwi_elim_G(s->elim) + at);
        }
    }
}

void lwi_index3_multiply(lwi_index3 *d)
{
    if (d->system.pool)
        lwi_pool_run(d->system.pool, multiply_edges, d);
    else
        multiply_edges(d, 0);
}

void lwi_index3_apply(const lwi_index3 *d, double (*x)[6])
{
    for (int k = 0; k < d->system.model->nnode; k++)
        if (d->euler)
            lwi_index3_euler_apply(d, k, x);
        else
            multiply(&d->leaf[k], x[k], x[k]);
    lwi_system_share(&d->system, false, x);
}
