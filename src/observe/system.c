// system.c -- energies, momenta and constraint residuals of a mechanism from one moment.
//
// Residuals take the closure rows of the joint library and the motion of the bodies, so they show
// what a formulation did and not what it meant.
#include "observe/observe.h"

#include "model/tree.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

// --------------------------------------------------------------------------------- joint residuals

// A joint frame in world axes: origin, velocity, acceleration [linear; angular].
typedef struct frame {
    double R[9], p[3], V[6], A[6];
} frame;

static void body_frame(const lwi_moment *m, int b, const double *R, const double *r, frame *f)
{
    double arm[3], c[3], alpha[3];
    m3_mul(f->R, m->R[b], R);
    m3_mul_v(arm, m->R[b], r);
    v3_add(f->p, m->r[b], arm);
    m3_mul_v(f->V + 3, m->R[b], m->w[b]);
    v3_cross(c, f->V + 3, arm);
    v3_add(f->V, m->v[b], c);
    m3_mul_v(alpha, m->R[b], m->al[b]);
    v3_cross(f->A, f->V + 3, c); // w x (w x arm)
    v3_add(f->A, f->A, m->a[b]);
    v3_cross_add(f->A, alpha, arm);
    v3_copy(f->A + 3, alpha);
}

// Moves F1 by its mount: pose (Rm, rm), twist Vm and its component derivative Am in moved axes
// about the moved origin.  With x = R1 rm and the moved frame's own twist [u; o] = R1 Rm Vm in
// world axes:
//   v = v1 + w1 x x + u,  a = a1 + al1 x x + w1 x (w1 x x) + 2 w1 x u + (R1 Rm Am_v + o x u)
//   w = w1 + o,           al = al1 + w1 x o + R1 Rm Am_w
static void move_frame(const lw_model *model, const lwi_mount *mount, double t, frame *f)
{
    double Rm[9], rm[3], Vm[6], Am[6], R[9], x[3], u[3], o[3], c[3], w[3], d[3];
    lwi_mount_eval(model, mount, t, Rm, rm, Vm, Am);
    m3_mul(R, f->R, Rm);
    m3_mul_v(x, f->R, rm);
    memcpy(f->R, R, sizeof R);
    m3_mul_v(u, R, Vm);
    m3_mul_v(o, R, Vm + 3);
    v3_copy(w, f->V + 3);
    v3_add(f->p, f->p, x);

    v3_cross_add(f->A, f->A + 3, x);
    v3_cross(c, w, x);
    v3_add(f->V, f->V, c);
    v3_add(f->V, f->V, u);
    v3_cross_add(f->A, w, c);
    v3_cross(c, w, u);
    v3_axpy(f->A, 2, c);
    m3_mul_v(d, R, Am);
    v3_add(f->A, f->A, d);
    v3_cross_add(f->A, o, u);

    v3_add(f->V + 3, f->V + 3, o);
    m3_mul_v(d, R, Am + 3);
    v3_add(f->A + 3, f->A + 3, d);
    v3_cross_add(f->A + 3, w, o);
}

// Velocity of F2 relative to F1 in F2-components about F2's origin, and its component derivative:
//   V = R2'[v2 - v1 - w1 x d; w2 - w1]
//   A = R2'[a2 - a1 - al1 x d - w1 x (v2 - v1) - w2 x (v2 - v1 - w1 x d);
//           al2 - al1 - w2 x (w2 - w1)]
static void relative_motion(const frame *f1, const frame *f2, double V[6], double A[6])
{
    double d[3], dd[3], slip[3], c[3], a[3];
    v3_sub(d, f2->p, f1->p);
    v3_sub(dd, f2->V, f1->V);
    v3_cross(c, f1->V + 3, d);
    v3_sub(slip, dd, c);
    m3_tmul_v(V, f2->R, slip);
    v3_sub(c, f2->V + 3, f1->V + 3);
    m3_tmul_v(V + 3, f2->R, c);

    v3_sub(a, f2->A, f1->A);
    v3_cross_add(a, d, f1->A + 3);
    v3_cross_add(a, dd, f1->V + 3);
    v3_cross_add(a, slip, f2->V + 3);
    m3_tmul_v(A, f2->R, a);
    v3_sub(a, f2->A + 3, f1->A + 3);
    v3_cross_add(a, c, f2->V + 3);
    m3_tmul_v(A + 3, f2->R, a);
}

// Driven coordinates against their functions, read from the poses; T'V are speeds, and with V = S u
// T'(A - Sdot u) their derivatives.
static int drive_residual(const lw_model *model, const lwi_joint *joint, const lwi_moment *m,
                          const frame *f1, const frame *f2, double *phi, double *phidot,
                          double *phiddot)
{
    const lwi_joint_type *type = joint->type;
    double R[9], r[3], d[3], q[LW_JOINT_MAX_NQ], V[6], A[6], T[6][6], Sdot[6][6];
    double u[LW_JOINT_MAX_NV], f[3];
    m3_tmul(R, f1->R, f2->R);
    v3_sub(d, f2->p, f1->p);
    m3_tmul_v(r, f1->R, d);
    type->read(&joint->par, R, r, m->q + joint->iq, q);
    type->effort(&joint->par, q, T);
    relative_motion(f1, f2, V, A);
    for (int k = 0; k < type->nv; k++) u[k] = v6_dot(T[k], V);
    type->subspace_rate(&joint->par, q, u, Sdot);
    for (int k = 0; k < type->nv; k++) v6_axpy(A, -u[k], Sdot[k]);
    int n = 0;
    for (int k = 0; k < type->nv; k++) {
        if (joint->motion[k].index <= 0) continue;
        lwi_function_eval(model->function, joint->motion[k], m->t, f);
        phi[n] = q[k] - f[0];
        if (phidot) phidot[n] = u[k] - f[1];
        if (phiddot) phiddot[n] = v6_dot(T[k], A) - f[2];
        n++;
    }
    return n;
}

int lwi_joint_residual(const lw_model *model, int j, const lwi_moment *m, double phi[12],
                       double phidot[12], double phiddot[12])
{
    const lwi_joint *joint = &model->joint[j];
    if (joint->merged) return 0;
    frame f1, f2;
    body_frame(m, joint->body1, joint->R1, joint->r1, &f1);
    if (joint->mount.present) move_frame(model, &joint->mount, m->t, &f1);
    body_frame(m, joint->body2, joint->R2, joint->r2, &f2);
    lwi_rows_in in = {.R1 = f1.R,
                      .r1 = f1.p,
                      .R2 = f2.R,
                      .r2 = f2.p,
                      .v1 = f1.V,
                      .w1 = f1.V + 3,
                      .v2 = f2.V,
                      .w2 = f2.V + 3,
                      .q = m->q + joint->iq,
                      .length = {joint->par.length, 0, 0}};
    if (joint->length_of.index)
        lwi_function_eval(model->function, joint->length_of, m->t, in.length);
    lwi_rows rows;
    const int n = joint->type->nc;
    if (n) joint->type->rows(&joint->par, &in, &rows);
    for (int k = 0; k < n; k++) {
        phi[k] = rows.phi[k];
        if (phidot) phidot[k] = v6_dot(rows.J1[k], f1.V) + v6_dot(rows.J2[k], f2.V) + rows.b[k];
        if (phiddot)
            phiddot[k] = v6_dot(rows.J1[k], f1.A) + v6_dot(rows.J2[k], f2.A) + rows.gamma[k];
    }
    if (joint->ndriven == 0) return n;
    return n + drive_residual(model, joint, m, &f1, &f2, phi + n, phidot ? phidot + n : NULL,
                              phiddot ? phiddot + n : NULL);
}

// q_a - P(q_b) and its derivatives.
static void coupling_residual(const lw_model *model, const lwi_coupling *c, const lwi_moment *m,
                              double e[3])
{
    const lwi_joint *a = &model->joint[c->joint], *b = &model->joint[c->of];
    const double x = m->q[b->iq + c->with], xd = m->qd[b->iv + c->with];
    double P = 0, P1 = 0, P2 = 0;
    for (int k = c->n - 1; k >= 0; k--) {
        P2 = P2 * x + 2 * P1;
        P1 = P1 * x + P;
        P = P * x + c->c[k];
    }
    e[0] = m->q[a->iq + c->coordinate] - P;
    e[1] = m->qd[a->iv + c->coordinate] - P1 * xd;
    e[2] = m->qdd[a->iv + c->coordinate] - P1 * m->qdd[b->iv + c->with] - P2 * xd * xd;
}

static void residuals(const lw_model *model, lw_observe level, const lwi_moment *m, double most[3])
{
    const int levels = level >= LW_OBSERVE_REACTION ? 3 : 2;
    double e[3][12];
    v3_set(most, 0, 0, 0);
    for (int j = 0; j < model->njoint; j++) {
        const int n = lwi_joint_residual(model, j, m, e[0], e[1], levels > 2 ? e[2] : NULL);
        for (int d = 0; d < levels; d++)
            for (int k = 0; k < n; k++) most[d] = fmax(most[d], fabs(e[d][k]));
    }
    for (int c = 0; c < model->ncoupling; c++) {
        double x[3];
        coupling_residual(model, &model->coupling[c], m, x);
        for (int d = 0; d < levels; d++) most[d] = fmax(most[d], fabs(x[d]));
    }
}

// ------------------------------------------------------------------------------------------ system

void lwi_observe_system(const lw_model *model, lw_observe level, const lwi_moment *m,
                        lwi_system *system)
{
    *system = (lwi_system){0};
    if (level < LW_OBSERVE_ENERGY) return;
    for (int b = 1; b < model->nbody; b++) {
        const lwi_body *body = &model->body[b];
        double p[3], L[3], spin[3];
        v3_scale(p, body->mass, m->v[b]);
        s3_mul_v(L, body->inertia, m->w[b]);
        m3_mul_v(spin, m->R[b], L);
        system->kinetic += 0.5 * (v3_dot(m->v[b], p) + v3_dot(m->w[b], L));
        v3_add(system->momentum, system->momentum, p);
        v3_add(system->angular_momentum, system->angular_momentum, spin);
        v3_cross_add(system->angular_momentum, m->r[b], p);
    }
    // potentials depend on poses and coordinates alone
    const lwi_kin kin = {.R = (const double(*)[9])m->R, .r = (const double(*)[3])m->r, .q = m->q};
    system->potential = lwi_forces_potential(model, &kin);
    residuals(model, level, m, system->residual);
}
