// closure.c -- constraint equations of joints and couplings between bodies, in world axes.
//
// A row is a wrench J = [f; n] on F2 about its origin P2 (joint.h).  With the velocity of F2
// relative to F1, V_rel = [v2 - v1 - w1 x d; w2 - w1] and d = P2 - P1, and frames that their bodies
// carry,
//     v_i = v_Ci + w_i x rho_i (+ the mount's part),  rho_i = P_i - C_i
// it is a wrench on each of the two bodies about their mass centres, the second the opposite of the
// first about any common point:
//     body2: [ f;  n + (P2 - C2) x f],    body1: [-f; -n - (P2 - C1) x f]
// Its derivative at constant multiplier, about a point fixed in space where the mass centre is now:
//     about P2, fixed:  [fdot; ndot + v_P2 x f] =: [f'; n'],   about C: [f'; n' + (P2 - C) x f']
//
// Rows of driven coordinates and couplings are the coordinates.  Custom types, and types with speeds that
// are no derivatives of coordinates, have T_k.V_rel instead, with T reciprocal to the motion subspace,
// T_k.S_j = (k == j), in F2-components: where the joint is closed, V_rel = S u, these are the speeds u_k.
#include "kinematics/closure.h"

#include "base/assert.h"

#include "kinematics/tree.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// --------------------------------------------------------------------------------- joint frames

// A joint frame in world axes.  Velocities are valid at level RATES only, except `given`.
typedef struct frame {
    double R[9], p[3]; // frame -> world, origin
    double V[6];       // [velocity of the origin; angular velocity]
    double bias[6];    // its derivative when the body has no acceleration
    double given[6];   // the mount's part of V
} frame;

static void body_frame(const lwi_motion *m, bool rates, int body, const double R[9],
                       const double r[3], frame *f)
{
    LWI_ASSERT(body >= 0);
    LWI_ASSERT(!rates || (m->v && m->w));
    double arm[3];
    m3_mul(f->R, m->R[body], R);
    m3_mul_v(arm, m->R[body], r);
    v3_add(f->p, m->r[body], arm);
    v6_zero(f->given);
    if (!rates) return;
    v3_copy(f->V + 3, m->w[body]);
    v3_cross(f->V, f->V + 3, arm);
    v6_zero(f->bias);
    v3_cross_add(f->bias, f->V + 3, f->V); // w x (w x arm)
    v3_add(f->V, f->V, m->v[body]);
}

// Moves F1 by its mount: pose (Rm, rm), twist Vm and its component derivative Am in moved axes
// about the moved origin.  With x = R1 rm and the moved frame's own twist [u; o] = R1 Rm Vm in
// world axes:
//   v = v1 + w1 x x + u,  a = a1 + al1 x x + w1 x (w1 x x) + 2 w1 x u + (R1 Rm Am_v + o x u)
//   w = w1 + o,           al = al1 + w1 x o + R1 Rm Am_w
static void move_frame(const lw_model *model, const lwi_mount *mount, double t, bool rates,
                       frame *f)
{
    double Rm[9], rm[3], Vm[6], Am[6], R[9], x[3], c[3], w[3];
    double *u = f->given, *o = f->given + 3;
    lwi_mount_eval(model, mount, t, Rm, rm, Vm, Am);
    m3_mul(R, f->R, Rm);
    m3_mul_v(x, f->R, rm);
    memcpy(f->R, R, sizeof R);
    v3_add(f->p, f->p, x);
    m3_mul_v(u, R, Vm);
    m3_mul_v(o, R, Vm + 3);
    if (!rates) return;
    v3_copy(w, f->V + 3);
    v3_cross(c, w, x);
    v3_add(f->V, f->V, c);
    v6_add(f->V, f->V, f->given);
    v3_cross_add(f->bias, w, c);
    v3_cross(c, w, u);
    v3_axpy(f->bias, 2, c);
    v3_cross_add(f->bias, o, u);
    v3_cross_add(f->bias + 3, w, o);
    for (int i = 0; i < 6; i += 3) {
        m3_mul_v(c, R, Am + i);
        v3_add(f->bias + i, f->bias + i, c);
    }
}

// Both frames of a joint and what its rows read from them.
typedef struct sides {
    frame f1, f2;
    lwi_rows_in in;
} sides;

static void place(const lw_model *model, const lwi_joint *joint, double t, const lwi_motion *m,
                  bool rates, sides *s)
{
    body_frame(m, rates, joint->body1, joint->R1, joint->r1, &s->f1);
    if (joint->mount.present) move_frame(model, &joint->mount, t, rates, &s->f1);
    body_frame(m, rates, joint->body2, joint->R2, joint->r2, &s->f2);
    s->in = (lwi_rows_in){.R1 = s->f1.R,
                          .r1 = s->f1.p,
                          .R2 = s->f2.R,
                          .r2 = s->f2.p,
                          .q = m->q + joint->iq,
                          .length = {joint->par.length, 0, 0}};
    if (joint->length_of.index)
        lwi_function_eval(model->function, joint->length_of, t, s->in.length);
    if (!rates) return;
    s->in.v1 = s->f1.V;
    s->in.w1 = s->f1.V + 3;
    s->in.v2 = s->f2.V;
    s->in.w2 = s->f2.V + 3;
}

// [x2 - x1 - y1 x d; y2 - y1]: a twist, or accelerations, of F2 against F1
static void difference(const sides *s, const double x1[6], const double x2[6], double x[6])
{
    double d[3];
    for (int i = 0; i < 6; i++) x[i] = x2[i] - x1[i];
    v3_sub(d, s->f2.p, s->f1.p);
    v3_cross_add(x, d, x1 + 3);
}

// Rows refer to the motion of the frames.  The motion of the bodies lacks that of mounts and, at
// accelerations, the centripetal terms: J.V_rel + b = J.V_bodies + (b - J.given), likewise for gamma.
static void add_frames(const sides *s, bool rates, int n, lwi_rows *rows)
{
    static const double none[6] = {0};
    double given[6], bias[6];
    difference(s, s->f1.given, none, given);
    if (rates) difference(s, s->f1.bias, s->f2.bias, bias);
    for (int k = 0; k < n; k++) {
        rows->b[k] += v6_dot(rows->J[k], given);
        if (rates) rows->gamma[k] += v6_dot(rows->J[k], bias);
    }
}

// ---------------------------------------------------------------------------------------- speeds

// Tdot_k := -sum_j (T_k.Sdot_j) T_j keeps T_k.S_j constant.  The part of the true derivative along
// the constrained directions is left out: they are rows of the same joint, velocities have no part
// there, and impulses only count it there instead of here.
static void reciprocal_rows(const lwi_joint *joint, const sides *s, bool rates, double *q,
                            lwi_rows *rows)
{
    const lwi_joint_type *type = joint->type;
    double R[9], r[3], T[6][6], Sdot[6][6], u[LW_JOINT_MAX_NV], Tdot[6];
    lwi_relative relative;
    m3_tmul(R, s->f1.R, s->f2.R);
    v3_sub(r, s->f2.p, s->f1.p);
    m3_tmul_v(r, s->f1.R, r);
    type->read(&joint->par, R, r, s->in.q, q);
    type->effort(&joint->par, q, T);
    if (rates) {
        lwi_rows_relative(&s->in, &relative);
        for (int k = 0; k < type->nv; k++) u[k] = v6_dot(T[k], relative.V);
        type->subspace_rate(&joint->par, q, u, Sdot);
    }
    for (int k = 0; k < type->nv; k++) {
        v6_zero(Tdot);
        for (int j = 0; rates && j < type->nv; j++) v6_axpy(Tdot, -v6_dot(T[k], Sdot[j]), T[j]);
        rows->b[k] = 0;
        lwi_row_component(&s->in, rates ? &relative : NULL, T[k], Tdot, rows, k);
    }
}

// All speeds of a joint as rows of the frames' motion, J.V + b, with derivative J.A + gamma, and its coordinates
// q [nq].
static void frame_speed_rows(const lwi_joint *joint, const sides *s, bool rates, double *q,
                             lwi_rows *rows)
{
    const lwi_joint_type *type = joint->type;
    if (lwi_joint_coordinate_rows(type, &s->in, rows)) {
        memcpy(q, rows->phi, (size_t)type->nq * sizeof *q);
    } else {
        reciprocal_rows(joint, s, rates, q, rows);
    }
}

// The same of the bodies' motion.
static void speed_rows(const lwi_joint *joint, const sides *s, bool rates, double *q,
                       lwi_rows *rows)
{
    frame_speed_rows(joint, s, rates, q, rows);
    add_frames(s, rates, joint->type->nv, rows);
}

// J.V_rel, the mount's velocity included: the speed of a row of speed_rows.
static double row_speed(const sides *s, const double J[6])
{
    double V[6];
    difference(s, s->f1.V, s->f2.V, V);
    return v6_dot(J, V);
}

// ------------------------------------------------------------------------------------ onto bodies

// Makes room for the two bodies of a joint, with the given number of rows.
static void add_bodies(const lwi_joint *joint, int nrow, bool rates, lwi_closure *c)
{
    LWI_ASSERT(nrow <= LWI_CLOSURE_ROWS);
    const int body[2] = {joint->body1, joint->body2};
    for (int side = 0; side < 2; side++) {
        bool there = body[side] == 0;
        for (int i = 0; i < c->nbody; i++) there |= c->body[i] == body[side];
        if (there) continue;
        const int slot = c->nbody++;
        LWI_ASSERT_INDEX(slot, LWI_CLOSURE_BODIES);
        c->body[slot] = body[side];
        memset(c->J[slot], 0, (size_t)nrow * sizeof c->J[slot][0]);
        if (rates) memset(c->Jdot[slot], 0, (size_t)nrow * sizeof c->Jdot[slot][0]);
    }
}

static int slot_of(const lwi_closure *c, int body)
{
    int i = 0;
    while (c->body[i] != body) i++;
    LWI_ASSERT_INDEX(i, c->nbody);
    return i;
}

// to += k [f; n + (p - mass centre) x f]
static void add_wrench(double to[6], double k, const double arm[3], const double wrench[6])
{
    double n[3];
    v3_cross(n, arm, wrench);
    v6_axpy(to, k, wrench);
    v3_axpy(to + 3, k, n);
}

// Row i of the closure += row k of the joint, on both bodies.
static void add_row(const lwi_joint *joint, const sides *s, const lwi_motion *m, bool rates,
                    const lwi_rows *rows, int k, lwi_closure *c, int i)
{
    LWI_ASSERT_INDEX(i, LWI_CLOSURE_ROWS);
    LWI_ASSERT_INDEX(k, LWI_CLOSURE_ROWS);
    const int body[2] = {joint->body1, joint->body2};
    double derivative[6] = {0};
    c->b[i] += rows->b[k];
    if (rates) { // about P2, fixed in space
        c->gamma[i] += rows->gamma[k];
        v6_copy(derivative, rows->Jdot[k]);
        v3_cross_add(derivative + 3, s->f2.V, rows->J[k]);
    }
    for (int side = 0; side < 2; side++) {
        if (body[side] == 0) continue;
        const int slot = slot_of(c, body[side]);
        const double e = side ? 1 : -1;
        double arm[3];
        v3_sub(arm, s->f2.p, m->r[body[side]]);
        add_wrench(c->J[slot][i], e, arm, rows->J[k]);
        if (rates) add_wrench(c->Jdot[slot][i], e, arm, derivative);
    }
}

// The bodies of one joint, and the arms of its point P2 about their mass centres.
typedef struct onto {
    int slot[2]; // -1: the ground
    double arm[2][3];
} onto;

static void own_bodies(const lwi_joint *joint, const sides *s, const lwi_motion *m, lwi_closure *c,
                       onto *o)
{
    const int body[2] = {joint->body1, joint->body2};
    c->nbody = 0;
    for (int side = 0; side < 2; side++) {
        o->slot[side] = -1;
        if (body[side] == 0) continue;
        v3_sub(o->arm[side], s->f2.p, m->r[body[side]]);
        o->slot[side] = side && body[1] == body[0] ? o->slot[0] : c->nbody++;
        c->body[o->slot[side]] = body[side];
    }
}

// to := k [f; n + (p - mass centre) x f]
static inline void put_wrench(double to[6], double k, const double arm[3], const double wrench[6])
{
    double n[3];
    v3_cross(n, arm, wrench);
    for (int i = 0; i < 3; i++) to[i] = k * wrench[i], to[3 + i] = k * (wrench[3 + i] + n[i]);
}

// Row i of a closure := row k of the joint, as add_row; phi, b and gamma there are initialized by the caller.
static void put_row(const sides *s, lwi_closure_level level, const lwi_rows *rows, int k,
                    const onto *o, lwi_closure *c, int i)
{
    LWI_ASSERT_INDEX(i, LWI_CLOSURE_ROWS);
    const bool rates = level >= LWI_CLOSURE_RATES;
    double derivative[6] = {0};
    c->b[i] += rows->b[k];
    if (level >= LWI_CLOSURE_GAMMA) c->gamma[i] += rows->gamma[k];
    if (rates) {
        v6_copy(derivative, rows->Jdot[k]);
        v3_cross_add(derivative + 3, s->f2.V, rows->J[k]);
    }
    for (int side = 0; side < 2; side++) {
        const int slot = o->slot[side];
        if (slot < 0) continue;
        if (side && slot == o->slot[0]) { // a body on both sides has the sum
            add_wrench(c->J[slot][i], 1, o->arm[side], rows->J[k]);
            if (rates) add_wrench(c->Jdot[slot][i], 1, o->arm[side], derivative);
            continue;
        }
        put_wrench(c->J[slot][i], side ? 1 : -1, o->arm[side], rows->J[k]);
        if (rates) put_wrench(c->Jdot[slot][i], side ? 1 : -1, o->arm[side], derivative);
    }
}

int lwi_joint_row_count(const lw_model *model, int j)
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    return joint->merged ? 0 : joint->type->nc + joint->ndriven;
}

// Driven coordinates: q_k - f(t) = 0.
static void drive_rows(const lw_model *model, const lwi_joint *joint, double t, const sides *s,
                       const onto *o, lwi_closure_level level, lwi_closure *c)
{
    const bool moving = level >= LWI_CLOSURE_GAMMA;
    double q[LW_JOINT_MAX_NQ], f[3];
    lwi_rows rows;
    speed_rows(joint, s, moving, q, &rows);
    for (int k = 0; k < joint->type->nv; k++) {
        if (joint->motion[k].index <= 0) continue;
        lwi_function_eval(model->function, joint->motion[k], t, f);
        const int i = c->n++;
        c->phi[i] = q[k] - f[0];
        c->b[i] = -f[1];
        c->gamma[i] = -f[2];
        if (level > LWI_CLOSURE_PHI) put_row(s, level, &rows, k, o, c, i);
    }
}

// --------------------------------------------------------------------------------- simple joints

// Rows of positions that are components of d or of axes of F2 along axes of F1, of frames that the bodies carry: with
// the bits of the general ones, at half of their cost.
static bool is_simple(const lwi_joint *joint, lwi_closure_level level)
{
    return level <= LWI_CLOSURE_POSITION && !joint->mount.present && joint->ndriven == 0 &&
           joint->body1 != joint->body2 && lwi_joint_has_simple_rows(joint->type);
}

// Axis i of a frame R of a body, world axes.
static inline void axis_in_world(double a[3], const double body[9], const double R[9], int i)
{
    const double own[3] = {R[i], R[3 + i], R[6 + i]};
    m3_mul_v(a, body, own);
}

// J of one row, with the forces f on body 2: on the bodies' mass centres at the arms from P2.
static inline void put_force(const onto *o, const double f[3], lwi_closure *c, int k)
{
    for (int side = 0; side < 2; side++) {
        if (o->slot[side] < 0) continue;
        double *J = c->J[o->slot[side]][k], n[3];
        v3_cross(n, o->arm[side], f);
        for (int i = 0; i < 3; i++) J[i] = side ? f[i] : -f[i], J[3 + i] = side ? n[i] : -n[i];
    }
}

static inline void put_torque(const onto *o, const double n[3], lwi_closure *c, int k)
{
    for (int side = 0; side < 2; side++) {
        if (o->slot[side] < 0) continue;
        double *J = c->J[o->slot[side]][k];
        for (int i = 0; i < 3; i++) J[i] = side ? 0 : -0.0, J[3 + i] = side ? n[i] : -n[i];
    }
}

// The rows of which the bit is set.
static void simple_closure(const lwi_joint *joint, const lwi_motion *m, bool wrenches,
                           unsigned rows, lwi_closure *c)
{
    const lwi_joint_type *type = joint->type;
    const double *body1 = m->R[joint->body1], *body2 = m->R[joint->body2];
    double arm[3], r1[3], r2[3], d[3], F1[3][3], a2[3] = {0}, n[3];
    int j = -1;      // of a2
    unsigned at = 0; // axes in F1
    onto o = {.slot = {-1, -1}};
    m3_mul_v(arm, body1, joint->r1);
    v3_add(r1, m->r[joint->body1], arm);
    m3_mul_v(arm, body2, joint->r2);
    v3_add(r2, m->r[joint->body2], arm);
    v3_sub(d, r2, r1);
    for (int side = 0; side < 2; side++) {
        const int body = side ? joint->body2 : joint->body1;
        if (body == 0) continue;
        v3_sub(o.arm[side], r2, m->r[body]);
        o.slot[side] = c->nbody;
        c->body[c->nbody++] = body;
    }
    for (int row = 0; row < type->nc; row++) {
        if (!(rows >> row & 1)) continue;
        const lwi_row_form *form = &type->row[row];
        const int k = c->n++;
        double *a1 = F1[form->i];
        if (!(at >> form->i & 1)) axis_in_world(a1, body1, joint->R1, form->i);
        at |= 1u << form->i;
        c->b[k] = c->gamma[k] = 0;
        if (form->kind != LWI_ROW_AXES) {
            c->phi[k] = v3_dot(a1, d);
            if (wrenches) put_force(&o, a1, c, k);
            continue;
        }
        if (form->j != j) axis_in_world(a2, body2, joint->R2, j = form->j);
        c->phi[k] = v3_dot(a1, a2);
        v3_cross(n, a2, a1);
        if (wrenches) put_torque(&o, n, c, k);
    }
}

void lwi_joint_closure(const lw_model *model, int j, double t, const lwi_motion *m,
                       lwi_closure_level level, lwi_closure *c)
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    const bool moving = level >= LWI_CLOSURE_GAMMA;
    sides s;
    onto o;
    c->n = c->nbody = 0;
    if (joint->merged) return;
    if (is_simple(joint, level)) {
        simple_closure(joint, m, level > LWI_CLOSURE_PHI, ~0u, c);
        return;
    }
    place(model, joint, t, m, moving, &s);
    own_bodies(joint, &s, m, c, &o);
    const int n = joint->type->nc;
    if (n) {
        lwi_rows rows;
        lwi_joint_rows(joint->type, &joint->par, &s.in, &rows);
        if (moving || joint->mount.present) add_frames(&s, moving, n, &rows);
        c->n = n;
        for (int k = 0; k < n; k++) {
            c->phi[k] = rows.phi[k];
            c->b[k] = c->gamma[k] = 0;
            if (level > LWI_CLOSURE_PHI) put_row(&s, level, &rows, k, &o, c, k);
        }
    }
    if (joint->ndriven) drive_rows(model, joint, t, &s, &o, level, c);
    LWI_ASSERT(c->n == lwi_joint_row_count(model, j));
}

void lwi_joint_closure_of_rows(const lw_model *model, int j, double t, const lwi_motion *m,
                               unsigned rows, lwi_closure *c)
{
    const lwi_joint *joint = &model->joint[j];
    c->n = c->nbody = 0;
    if (!joint->merged && is_simple(joint, LWI_CLOSURE_POSITION)) {
        simple_closure(joint, m, true, rows, c);
        return;
    }
    lwi_joint_closure(model, j, t, m, LWI_CLOSURE_POSITION, c);
    const int n = c->n;
    c->n = 0;
    for (int k = 0; k < n; k++) {
        if (!(rows >> k & 1)) continue;
        c->phi[c->n] = c->phi[k], c->b[c->n] = c->b[k];
        for (int i = 0; i < c->nbody; i++) memmove(c->J[i][c->n], c->J[i][k], sizeof c->J[i][k]);
        c->n++;
    }
}

void lwi_joint_closure_shape(const lw_model *model, int j, lwi_closure *c)
{
    const lwi_joint *joint = &model->joint[j];
    c->nbody = 0;
    c->n = lwi_joint_row_count(model, j);
    if (joint->merged) return;
    if (joint->body1) c->body[c->nbody++] = joint->body1;
    if (joint->body2 && joint->body2 != joint->body1) c->body[c->nbody++] = joint->body2;
}

void lwi_joint_rotor_rows(const lw_model *model, int j, double t, const lwi_motion *m,
                          lwi_closure_level level, lwi_closure *c)
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    const bool moving = level >= LWI_CLOSURE_GAMMA;
    double q[LW_JOINT_MAX_NQ];
    lwi_rows rows;
    sides s;
    onto o;
    if (joint->nrotor == 0) return;
    place(model, joint, t, m, moving, &s);
    own_bodies(joint, &s, m, c, &o);
    speed_rows(joint, &s, moving, q, &rows);
    for (int k = 0; k < joint->type->nv; k++) {
        if (joint->rotor[k] == 0) continue;
        const int i = c->n++;
        c->phi[i] = c->b[i] = c->gamma[i] = 0;
        put_row(&s, level, &rows, k, &o, c, i);
    }
}

void lwi_joint_closure_gamma(const lw_model *model, int j, double t, const lwi_motion *m,
                             double *gamma)
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    const int n = joint->type->nc;
    double q[LW_JOINT_MAX_NQ], f[3];
    lwi_rows rows;
    sides s;
    if (joint->merged) return;
    place(model, joint, t, m, true, &s);
    if (n) {
        lwi_joint_rows(joint->type, &joint->par, &s.in, &rows);
        add_frames(&s, true, n, &rows);
        memcpy(gamma, rows.gamma, (size_t)n * sizeof *gamma);
    }
    if (!joint->ndriven) return;
    speed_rows(joint, &s, true, q, &rows);
    for (int k = 0, i = n; k < joint->type->nv; k++) {
        if (joint->motion[k].index <= 0) continue;
        lwi_function_eval(model->function, joint->motion[k], t, f);
        gamma[i++] = rows.gamma[k] - f[2];
    }
}

// -------------------------------------------------------------------------------------- residuals

// Residuals i of row k of the frames; f: the coordinate that a drive prescribes, with its derivatives.
static void take_residual(const lwi_rows *rows, int k, const double f[3], const double V[6],
                          const double *A, const lwi_residuals *r, int i)
{
    r->phi[i] = rows->phi[k] - f[0];
    r->phidot[i] = v6_dot(rows->J[k], V) + rows->b[k] - f[1];
    if (A) r->phiddot[i] = v6_dot(rows->J[k], A) + rows->gamma[k] - f[2];
}

// Acceleration of a frame's origin, and angular.
static void frame_acceleration(const frame *f, const double r[3], const double body[6], double A[6])
{
    double arm[3];
    v3_sub(arm, f->p, r);
    v6_add(A, body, f->bias);
    v3_cross_add(A, body + 3, arm);
}

int lwi_joint_closure_residual(const lw_model *model, int j, double t, const lwi_motion *m,
                               const double (*acceleration)[6], const lwi_residuals *residuals)
{
    static const double none[3] = {0};
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    const int nc = joint->type->nc;
    double V[6], A1[6], A2[6], relative[6], q[LW_JOINT_MAX_NQ], f[3], *A = NULL;
    int n = nc;
    lwi_rows rows;
    sides s;
    if (joint->merged) return 0;
    place(model, joint, t, m, true, &s);
    difference(&s, s.f1.V, s.f2.V, V);
    if (acceleration) {
        frame_acceleration(&s.f1, m->r[joint->body1], acceleration[0], A1);
        frame_acceleration(&s.f2, m->r[joint->body2], acceleration[1], A2);
        difference(&s, A1, A2, A = relative);
    } else {
        s.in.v1 = s.in.w1 = s.in.v2 = s.in.w2 = NULL;
    }
    if (nc) lwi_joint_rows(joint->type, &joint->par, &s.in, &rows);
    for (int k = 0; k < nc; k++) take_residual(&rows, k, none, V, A, residuals, k);
    if (joint->ndriven) frame_speed_rows(joint, &s, A != NULL, q, &rows);
    for (int k = 0; joint->ndriven && k < joint->type->nv; k++) {
        if (joint->motion[k].index <= 0) continue;
        lwi_function_eval(model->function, joint->motion[k], t, f);
        rows.phi[k] = q[k];
        take_residual(&rows, k, f, V, A, residuals, n++);
    }
    LWI_ASSERT(n == lwi_joint_row_count(model, j));
    return n;
}

// Multiplies row k, with the rate `rate`, by the factor f with the derivative fdot.
static void scale_row(lwi_rows *rows, int k, bool rates, double f, double fdot, double rate)
{
    rows->b[k] *= f;
    if (rates) {
        rows->gamma[k] = f * rows->gamma[k] + fdot * rate;
        for (int i = 0; i < 6; i++) rows->Jdot[k][i] = f * rows->Jdot[k][i] + fdot * rows->J[k][i];
    }
    for (int i = 0; i < 6; i++) rows->J[k][i] *= f;
}

// q_a - P(q_b) = 0,  qdot_a - P' qdot_b = 0
void lwi_coupling_closure(const lw_model *model, int coupling, double t, const lwi_motion *m,
                          lwi_closure_level level, lwi_closure *c)
{
    LWI_ASSERT_INDEX(coupling, model->ncoupling);
    const lwi_coupling *pair = &model->coupling[coupling];
    const lwi_joint *a = &model->joint[pair->joint], *b = &model->joint[pair->of];
    const bool rates = level >= LWI_CLOSURE_GAMMA;
    double q_a[LW_JOINT_MAX_NQ], q_b[LW_JOINT_MAX_NQ], P = 0, P1 = 0, P2 = 0;
    lwi_rows rows_a, rows_b;
    sides s_a, s_b;
    place(model, a, t, m, rates, &s_a);
    place(model, b, t, m, rates, &s_b);
    speed_rows(a, &s_a, rates, q_a, &rows_a);
    speed_rows(b, &s_b, rates, q_b, &rows_b);
    LWI_ASSERT_INDEX(pair->with, b->type->nv);
    LWI_ASSERT_INDEX(pair->coordinate, a->type->nv);
    const double x = q_b[pair->with];
    for (int k = pair->n - 1; k >= 0; k--) {
        P2 = P2 * x + 2 * P1;
        P1 = P1 * x + P;
        P = P * x + pair->c[k];
    }
    const double xd = rates ? row_speed(&s_b, rows_b.J[pair->with]) : 0;
    scale_row(&rows_b, pair->with, rates, -P1, -P2 * xd, xd);
    c->n = 1;
    c->nbody = 0;
    c->phi[0] = q_a[pair->coordinate] - P;
    c->b[0] = c->gamma[0] = 0;
    if (level == LWI_CLOSURE_PHI) return;
    add_bodies(a, 1, rates, c);
    add_bodies(b, 1, rates, c);
    add_row(a, &s_a, m, rates, &rows_a, pair->coordinate, c, 0);
    add_row(b, &s_b, m, rates, &rows_b, pair->with, c, 0);
}

// ------------------------------------------------------------------------------ one joint's own

// J has the wrench on body2 about C2; if body2 is the ground, the reaction is the opposite of that on body1.
void lwi_joint_reaction(const lw_model *model, int j, const lwi_motion *m, const lwi_closure *c,
                        const double *lambda, double F[6])
{
    LWI_ASSERT_INDEX(j, model->njoint);
    LWI_ASSERT(c->n <= LWI_CLOSURE_ROWS);
    const lwi_joint *joint = &model->joint[j];
    const int body = joint->body2 ? joint->body2 : joint->body1;
    v6_zero(F);
    for (int i = 0; i < c->nbody; i++)
        for (int k = 0; c->body[i] == body && k < c->n; k++)
            v6_axpy(F, joint->body2 ? lambda[k] : -lambda[k], c->J[i][k]);
    lwi_joint_reaction_at_point(model, j, m, F);
}

void lwi_joint_reaction_at_point(const lw_model *model, int j, const lwi_motion *m, double F[6])
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    const int body = joint->body2 ? joint->body2 : joint->body1;
    double p[3], arm[3];
    m3_mul_v(p, m->R[joint->body2], joint->r2);
    v3_add(p, p, m->r[joint->body2]);
    v3_sub(arm, m->r[body], p); // moment about P2 = moment about C + (C - P2) x f
    v3_cross_add(F + 3, arm, F);
}

void lwi_joint_to_axes(const lw_model *model, int j, const double (*R)[9], const double world[6],
                       double F[6])
{
    double R1[9];
    LWI_ASSERT_INDEX(j, model->njoint);
    m3_mul(R1, R[model->joint[j].body1], model->joint[j].R1);
    m3_tmul_v(F, R1, world);
    m3_tmul_v(F + 3, R1, world + 3);
}

// The coordinate of a hinge without mount, with the bits of lwi_row_angle.
static double hinge_angle(const lwi_joint *joint, const lwi_motion *m)
{
    double x1[3], y1[3], x2[3], y2[3];
    axis_in_world(x1, m->R[joint->body1], joint->R1, 0);
    axis_in_world(y1, m->R[joint->body1], joint->R1, 1);
    axis_in_world(x2, m->R[joint->body2], joint->R2, 0);
    axis_in_world(y2, m->R[joint->body2], joint->R2, 1);
    const double A = v3_dot(x1, x2) + v3_dot(y1, y2), B = v3_dot(y1, x2) - v3_dot(x1, y2);
    return angle_continue(atan2(B, A), m->q[joint->iq]);
}

void lwi_joint_read_motion(const lw_model *model, int j, double t, const lwi_motion *m, double *q,
                           double *u)
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    if (!u && lwi_joint_is_hinge(joint->type) && !joint->mount.present) {
        *q = hinge_angle(joint, m);
        return;
    }
    lwi_rows rows;
    sides s;
    place(model, joint, t, m, u != NULL, &s);
    s.in.v1 = s.in.w1 = s.in.v2 = s.in.w2 = NULL; // J alone
    frame_speed_rows(joint, &s, false, q, &rows);
    for (int k = 0; u && k < joint->type->nv; k++) u[k] = row_speed(&s, rows.J[k]);
}

void lwi_joint_read_acceleration(const lw_model *model, int j, double t, const lwi_motion *m,
                                 const double (*a)[3], const double (*al)[3], double *qdd)
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    double q[LW_JOINT_MAX_NQ], A[2][6], relative[6];
    lwi_rows rows;
    sides s;
    place(model, joint, t, m, true, &s);
    speed_rows(joint, &s, true, q, &rows);
    for (int side = 0; side < 2; side++) { // of the frames' origins, less what gamma has
        const int body = side ? joint->body2 : joint->body1;
        double arm[3];
        v3_sub(arm, side ? s.f2.p : s.f1.p, m->r[body]);
        v3_cross(A[side], al[body], arm);
        v3_add(A[side], A[side], a[body]);
        v3_copy(A[side] + 3, al[body]);
    }
    difference(&s, A[0], A[1], relative);
    for (int k = 0; k < joint->type->nv; k++) qdd[k] = v6_dot(rows.J[k], relative) + rows.gamma[k];
}

// w2 - w1, and the axis z of F2.
static void hinge_rotation(const lwi_joint *joint, const lwi_motion *m, double z[3], double w[3])
{
    const double axis[3] = {joint->R2[2], joint->R2[5], joint->R2[8]};
    m3_mul_v(z, m->R[joint->body2], axis);
    v3_sub(w, m->w[joint->body2], m->w[joint->body1]);
}

void lwi_joint_read_hinge(const lw_model *model, int j, const lwi_motion *m, double *q, double *u)
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    double z[3], w[3];
    LWI_ASSERT(lwi_joint_is_hinge(joint->type) && !joint->mount.present);
    if (q) *q = hinge_angle(joint, m);
    hinge_rotation(joint, m, z, w);
    *u = v3_dot(z, w);
}

// d/dt z.(w2 - w1) with dz/dt = w2 x z
double lwi_joint_hinge_acceleration(const lw_model *model, int j, const lwi_motion *m,
                                    const double (*al)[3])
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    double z[3], w[3], turn[3];
    hinge_rotation(joint, m, z, w);
    v3_cross(turn, w, m->w[joint->body2]);
    v3_add(turn, turn, al[joint->body2]);
    v3_sub(turn, turn, al[joint->body1]);
    return v3_dot(z, turn);
}

void lwi_joint_apply_effort_on(const lw_model *model, int j, double t, const lwi_motion *m,
                               const double *tau, double *const on[2])
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    const int body[2] = {joint->body1, joint->body2};
    double q[LW_JOINT_MAX_NQ];
    lwi_rows rows;
    sides s;
    place(model, joint, t, m, false, &s);
    speed_rows(joint, &s, false, q, &rows);
    for (int side = 0; side < 2; side++) {
        double arm[3];
        v3_sub(arm, s.f2.p, m->r[body[side]]);
        for (int k = 0; k < joint->type->nv; k++)
            add_wrench(on[side], side ? tau[k] : -tau[k], arm, rows.J[k]);
    }
}

void lwi_joint_apply_effort(const lw_model *model, int j, double t, const lwi_motion *m,
                            const double *tau, double (*wrench)[6])
{
    double *const on[2] = {wrench[model->joint[j].body1], wrench[model->joint[j].body2]};
    lwi_joint_apply_effort_on(model, j, t, m, tau, on);
}
