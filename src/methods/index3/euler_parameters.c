// euler_parameters.c -- Euler parameters as unknowns: the published method.  Numbers (n) are those of
// [malczyk2019].
//
// q = (r, p), |p| = 1 by a constraint Psi = (p.p - 1)/2 with its multiplier mu and penalty alpha (4)-(6),
// (21) -- printed as p.p - 1 in (4), to which (5)-(6) do not belong; the trapezoidal rule (15)-(16) is that
// of r and p.  R(p) is the quadratic form, not that of p/|p|.  Mass matrix and forces (7)-(8); the sign of
// the penalty term is that which (21) in (19) gives, not the printed one of (22)-(23), (27).
//
// The elimination has six unknowns per body; the extension of the body holds the seventh: with G = [-e, e0 1
// - e~]
//     dp = G' dtheta'/2 + p ds = E (dtheta', ds)
// is a change of basis for any p but 0, in which rotations are those of six coordinates.  With rho = p.p, ds
// lengthens every vector of the body by 2 ds, so a row with the force f at arm s has the derivative D = 2
// f.s; the equations E'g, w' = 2 G p'/rho, a = 2 G p''/rho, sigma = p.p'/rho:
//     rotation J' a + w' x J' w' + 2 sigma J' w' - n'            (n' of joints: - J'lambda)
//     length   -2 w'.J' w' + rho mu + alpha rho Psi              (minus D lambda)
// Velocities have the component sigma (42)-(45); accelerations Psi'' / rho (57)-(60), because p.p'' =
// -w'.w'/4 holds for a unit p, and the rows' gamma contains it.
#include "methods/index3/index3.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

/** Parameters of a body at the beginning and at the end of the step. */
typedef struct parameters {
    double p[4], pd[4], pdd[4], mu;
    double pn[4], pdn[4], pddn[4];
    double leaf_lin, leaf[16]; ///< K of translations; of the rotation, world axes, and the length
} parameters;

struct lwi_index3_euler {
    parameters *body; ///< [nnode]
};

// ---------------------------------------------------------------------------------------- algebra

static double dot4(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

// w := G(p) v
static void multiply_G(double w[3], const double p[4], const double v[4])
{
    v3_cross(w, v + 1, p + 1);
    for (int i = 0; i < 3; i++) w[i] += p[0] * v[1 + i] - p[1 + i] * v[0];
}

// v := G(p)' w
static void multiply_Gt(double v[4], const double p[4], const double w[3])
{
    v[0] = -v3_dot(p + 1, w);
    v3_cross(v + 1, p + 1, w);
    v3_axpy(v + 1, p[0], w);
}

// The quadratic form (e0^2 - e.e) 1 + 2 e e' + 2 e0 e~.
static void quadratic(double R[9], const double p[4])
{
    const double rho = dot4(p, p);
    quat_matrix(R, p);
    for (int i = 0; i < 9; i++) R[i] *= rho;
}

static double penalty_of(const lwi_index3 *d, int k, double h)
{
    const lwi_index3_method *m = &d->method;
    const lw_model *model = d->system.model;
    if (m->normalisation > 0) return m->normalisation;
    // default: leaves 1e-5 of the inertia's size, contraction by 1e-5
    return m->penalty > 0 ? m->penalty : 4e5 / (h * h) * model->body[model->node[k].body].mass;
}

// ------------------------------------------------------------------------------------------ state

lw_status lwi_index3_euler_create(lwi_index3 *d, lwi_arena *arena)
{
    d->euler = LWI_PUSH(arena, struct lwi_index3_euler, 1);
    if (!d->euler) return LW_ERR_MEMORY;
    d->euler->body = LWI_PUSH(arena, parameters, d->system.model->nnode);
    return d->euler->body ? LW_OK : LW_ERR_MEMORY;
}

// Memory of a body: a, p', p'', mu.
enum { RATE = 3, SECOND = 7, MU = 11 };

static double *memory_of(const lwi_index3 *d, int k, double *x)
{
    LWI_ASSERT(d->nmemory == MU + 1);
    return x + d->at_acceleration + d->nmemory * k;
}

void lwi_index3_euler_enter(const lwi_index3 *d, double *x)
{
    const lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        const double *p = x + 7 * k + 3, *w = x + d->at_speed + 6 * k + 3;
        double *m = memory_of(d, k, x), al[3], Jw[3], virial = 0;
        v3_copy(m, s->a[b]);
        m3_tmul_v(al, s->R[b], s->al[b]);
        multiply_Gt(m + RATE, p, w);
        multiply_Gt(m + SECOND, p, al);
        for (int i = 0; i < 4; i++) {
            m[RATE + i] *= 0.5;
            m[SECOND + i] = 0.5 * m[SECOND + i] - 0.25 * v3_dot(w, w) * p[i];
        }
        for (int e = 0; e < s->nedge; e++) { // D lambda
            const lwi_plan_edge *edge = &s->plan.graph.edge[e];
            for (int i = 0; i < edge->n; i++)
                for (int r = 0; r < edge->rows && edge->body[i] == s->model->nnode + k; r++)
                    virial += lwi_elim_J(s->elim)[6 * (s->plan.slot[e] + i) + r][0] *
                              s->lambda[s->plan.row[e] + r];
        }
        s3_mul_v(Jw, s->model->body[b].inertia, w);
        m[MU] = 2 * v3_dot(w, Jw) + virial;
    }
}

void lwi_index3_euler_begin(lwi_index3 *d, const double *x)
{
    for (int k = 0; k < d->system.model->nnode; k++) {
        parameters *q = &d->euler->body[k];
        const double *m = x + d->at_acceleration + d->nmemory * k;
        memcpy(q->p, x + 7 * k + 3, sizeof q->p);
        memcpy(q->pd, m + RATE, sizeof q->pd);
        memcpy(q->pdd, m + SECOND, sizeof q->pdd);
        q->mu = m[MU];
    }
}

void lwi_index3_euler_predict(lwi_index3 *d, double h)
{
    for (int k = 0; k < d->system.model->nnode; k++) {
        parameters *q = &d->euler->body[k];
        for (int i = 0; i < 4; i++) q->pn[i] = q->p[i] + h * (q->pd[i] + 0.5 * h * q->pdd[i]);
    }
}

// p', p'' by the difference equations (15)-(16).
void lwi_index3_euler_move(lwi_index3 *d, int k, double h)
{
    parameters *q = &d->euler->body[k];
    lwi_index3_body *body = &d->body[k];
    const double one = 2 / h, two = 4 / (h * h), rho = dot4(q->pn, q->pn);
    LWI_ASSERT(h > 0);
    for (int i = 0; i < 4; i++) {
        const double dp = q->pn[i] - q->p[i];
        q->pdn[i] = one * dp - q->pd[i];
        q->pddn[i] = two * dp - 2 * one * q->pd[i] - q->pdd[i];
    }
    quadratic(d->system.R[d->system.model->node[k].body], q->pn);
    multiply_G(body->wn, q->pn, q->pdn);
    multiply_G(body->aln, q->pn, q->pddn);
    v3_scale(body->wn, 2 / rho, body->wn);
    v3_scale(body->aln, 2 / rho, body->aln);
}

void lwi_index3_euler_finish(lwi_index3 *d, int k, double *x)
{
    const parameters *q = &d->euler->body[k];
    double *m = memory_of(d, k, x);
    memcpy(x + 7 * k + 3, q->pn, sizeof q->pn);
    memcpy(m + RATE, q->pdn, sizeof q->pdn);
    memcpy(m + SECOND, q->pddn, sizeof q->pddn);
    m[MU] = q->mu;
}

void lwi_index3_euler_angular_acceleration(const lwi_index3 *d, const double *x, int k,
                                           double al[3])
{
    const double *p = x + 7 * k + 3, *m = x + d->at_acceleration + d->nmemory * k;
    multiply_G(al, p, m + SECOND);
    v3_scale(al, 2 / dot4(p, p), al);
}

// ---------------------------------------------------------------------------------- rows, residual

// Number of bodies of an edge with extensions: couplings have none, the effect of lengths on coordinates of
// joints is omitted, and lengths are 1 in the end.
static int extension_count(const lwi_index3 *d, int e)
{
    const lwi_system *s = &d->system;
    const bool coupling = e < s->nedge - d->ncoupler && s->edge_joint[e] < 0;
    return coupling ? 0 : s->plan.graph.edge[e].n / 2;
}

// D = 2 f.s of joints, s to the body's own joint point.
void lwi_index3_euler_rows(lwi_index3 *d)
{
    const lwi_system *s = &d->system;
    for (int e = 0; e < s->nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        const int j = s->edge_joint[e], half = extension_count(d, e);
        for (int i = 0; i < half; i++) {
            const int at = 6 * (s->plan.slot[e] + i), extension = at + 6 * half;
            double arm[3] = {0, 0, 0};
            if (j >= 0) {
                const lwi_joint *joint = &s->model->joint[j];
                const bool second = joint->body2 == s->model->node[edge->body[i]].body;
                m3_mul_v(arm, s->R[second ? joint->body2 : joint->body1],
                         second ? joint->r2 : joint->r1);
            }
            for (int k = 0; k < edge->rows; k++) {
                double *D = lwi_elim_J(s->elim)[extension + k];
                v6_zero(D);
                D[0] = 2 * v3_dot(lwi_elim_J(s->elim)[at + k], arm);
            }
        }
    }
}

static double length_error(const parameters *q)
{
    return 0.5 * (dot4(q->pn, q->pn) - 1);
}

// Terms of (12)-(13) that six coordinates do not have: forces of (8), multiplier and penalty of (4), (21).
void lwi_index3_euler_residual(lwi_index3 *d, double h)
{
    lwi_system *s = &d->system;
    const int n = s->model->nnode;
    for (int k = 0; k < n; k++) {
        const int b = s->model->node[k].body;
        const parameters *q = &d->euler->body[k];
        const double rho = dot4(q->pn, q->pn), sigma = dot4(q->pn, q->pdn) / rho;
        double Jw[3], out[3];
        s3_mul_v(Jw, s->model->body[b].inertia, d->body[k].wn);
        m3_mul_v(out, s->R[b], Jw);
        v3_axpy(s->x[k] + 3, -2 * sigma, out);
        v6_zero(s->x[n + k]);
        s->x[n + k][0] = 2 * rho * rho * v3_dot(d->body[k].wn, Jw) - rho * q->mu -
                         penalty_of(d, k, h) * rho * length_error(q);
    }
}

// ----------------------------------------------------------------------------------------- matrix

// Level 2 in p: eta [4 H(J G p'') - 4 G'J G(p'') - 8 G(p')'J G(p')] + 8 h/2 [H(J G p') + G(p')'J G], H(w) v =
// G(v)' w;  in the basis E, body axes.
static void gyroscopic(const lwi_index3 *d, int k, double h, double A[16])
{
    const parameters *q = &d->euler->body[k];
    const double *J = d->system.model->body[d->system.model->node[k].body].inertia;
    const double eta = 0.25 * h * h;
    double G[3], JG2[3], JG1[3], X[16];
    multiply_G(G, q->pn, q->pddn), s3_mul_v(JG2, J, G);
    multiply_G(G, q->pn, q->pdn), s3_mul_v(JG1, J, G);
    for (int j = 0; j < 4; j++) {
        double v[4] = {0}, w[3], Jw[3], term[4];
        v[j] = 1;
        double column[4] = {0};
#define ADD(factor, from, torque)                                                                  \
    multiply_Gt(term, from, torque);                                                               \
    for (int i = 0; i < 4; i++) column[i] += (factor)*term[i]
        ADD(4 * eta, v, JG2);
        ADD(4 * h, v, JG1);
        multiply_G(w, q->pddn, v), s3_mul_v(Jw, J, w);
        ADD(-4 * eta, q->pn, Jw);
        multiply_G(w, q->pdn, v), s3_mul_v(Jw, J, w);
        ADD(-8 * eta, q->pdn, Jw);
        multiply_G(w, q->pn, v), s3_mul_v(Jw, J, w);
        ADD(4 * h, q->pdn, Jw);
#undef ADD
        for (int i = 0; i < 4; i++) X[4 * i + j] = column[i];
    }
    double E[16]; // columns: G'/2 unit vectors, p
    for (int j = 0; j < 4; j++) {
        double unit[3] = {j == 0, j == 1, j == 2}, column[4];
        multiply_Gt(column, q->pn, unit);
        for (int i = 0; i < 4; i++) E[4 * i + j] = j < 3 ? 0.5 * column[i] : q->pn[i];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++)
                    A[4 * i + j] += E[4 * a + i] * X[4 * a + b] * E[4 * b + j];
}

// Joint forces: second derivatives of R(p) s in the basis E, world axes; those of six coordinates minus half
// of s.F; and mu p'p/2.
static void geometric(const lwi_index3 *d, int k, double eta, double A[16])
{
    const lwi_index3_stiffness *K = &d->stiffness[k];
    const double mu = d->euler->body[k].mu;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            A[4 * i + j] += eta * 0.5 * (K->rr[3 * i + j] + K->rr[3 * j + i]);
        A[5 * i] += eta * (0.25 * mu - 0.5 * K->virial);
        A[4 * i + 3] -= eta * K->torque[i];
        A[12 + i] -= eta * K->torque[i];
    }
    A[15] += eta * (mu - 2 * K->virial);
}

// B := A with its rotation part rotated by R
static void to_world(const double R[9], const double A[16], double B[16])
{
    double T[16] = {0}, Q[16] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) Q[4 * i + j] = R[3 * i + j];
    Q[15] = 1;
    memset(B, 0, 16 * sizeof *B);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int a = 0; a < 4; a++) T[4 * i + j] += Q[4 * i + a] * A[4 * a + j];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int a = 0; a < 4; a++) B[4 * i + j] += T[4 * i + a] * Q[4 * j + a];
}

// K of a body: mass matrix (7), penalty of the length (22)-(23), inverse (26).
void lwi_index3_euler_leaf(lwi_index3 *d, int k, double h, bool mass)
{
    const lwi_system *s = &d->system;
    const int b = s->model->node[k].body;
    parameters *q = &d->euler->body[k];
    const double eta = 0.25 * h * h, unit = mass ? 1 : eta, rho = dot4(q->pn, q->pn);
    double J[9], R[9], body[16] = {0}, A[16];
    s3_full(J, s->model->body[b].inertia);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) body[4 * i + j] = rho * rho * J[3 * i + j];
    body[15] = eta * penalty_of(d, k, h) * rho * rho;
    if (!mass && d->method.tangent > 1) gyroscopic(d, k, h, body);
    quat_matrix(R, q->pn);
    to_world(R, body, A);
    if (!mass && d->method.tangent) geometric(d, k, eta, A);
    if (!lwi_index3_invert(4, A, q->leaf)) { // compression that outweighs the inertia is left out
        to_world(R, body, A);
        lwi_index3_invert(4, A, q->leaf);
    }
    q->leaf_lin = unit / s->model->body[b].mass;
    for (int i = 0; i < 16; i++) q->leaf[i] *= unit;
}

static void multiply(const parameters *q, const double f[6], double length, double x[6],
                     double *along)
{
    const double in[4] = {f[3], f[4], f[5], length};
    v3_scale(x, q->leaf_lin, f);
    for (int i = 0; i < 3; i++) x[3 + i] = dot4(q->leaf + 4 * i, in);
    *along = dot4(q->leaf + 12, in);
}

void lwi_index3_euler_multiply(lwi_index3 *d, int e, int k)
{
    lwi_system *s = &d->system;
    const lwi_plan_edge *edge = &s->plan.graph.edge[e];
    const int half = extension_count(d, e), bodies = half ? half : edge->n;
    for (int i = 0; i < bodies; i++) {
        const int at = 6 * (s->plan.slot[e] + i) + k, extension = at + 6 * half;
        double without[6] = {0}, *const J = half ? lwi_elim_J(s->elim)[extension] : without;
        double *G = half ? lwi_elim_G(s->elim)[extension] : without;
        const double length = J[0];
        v6_zero(G);
        multiply(&d->euler->body[edge->body[i]], lwi_elim_J(s->elim)[at], length,
                 lwi_elim_G(s->elim)[at], G);
    }
}

void lwi_index3_euler_apply(const lwi_index3 *d, int k, double (*x)[6])
{
    double in[6], *extension = x[d->system.model->nnode + k];
    v6_copy(in, x[k]);
    multiply(&d->euler->body[k], in, extension[0], x[k], extension);
}

// ---------------------------------------------------------------------------------- what was found

// v := E (dtheta, length), dtheta in world axes
static void along_basis(const parameters *q, const double theta[3], double length, double v[4])
{
    double R[9], local[3];
    quat_matrix(R, q->pn);
    m3_tmul_v(local, R, theta);
    multiply_Gt(v, q->pn, local);
    for (int i = 0; i < 4; i++) v[i] = 0.5 * v[i] + length * q->pn[i];
}

// p and mu after an iteration: mu += alpha (Psi + Psi_q dq) (21).
void lwi_index3_euler_update(lwi_index3 *d, int k, double h)
{
    const lwi_system *s = &d->system;
    parameters *q = &d->euler->body[k];
    const double length = s->x[s->model->nnode + k][0], error = length_error(q);
    double dp[4];
    along_basis(q, s->x[k] + 3, length, dp);
    q->mu += penalty_of(d, k, h) * (error + dot4(q->pn, q->pn) * length);
    for (int i = 0; i < 4; i++) q->pn[i] += dp[i];
}

// The penalty acts on the rate of Psi (42), or its second derivative (57), as on Psi in a step: bias terms
// (45), (60).
void lwi_index3_euler_load(lwi_index3 *d, double h, double (*x)[6], bool accelerations)
{
    const lwi_system *s = &d->system;
    const int n = s->model->nnode;
    const double eta = 0.25 * h * h;
    const bool mass = d->method.projection == LW_INDEX3_PROJECTION_MASS;
    for (int k = 0; k < n; k++) {
        parameters *q = &d->euler->body[k];
        const double rho = dot4(q->pn, q->pn);
        const double rate =
            accelerations ? dot4(q->pn, q->pddn) + dot4(q->pdn, q->pdn) : dot4(q->pn, q->pdn);
        const double zero[6] = {0}, force = -(mass ? eta : 1) * penalty_of(d, k, h) * rho * rate;
        double change[6], along;
        multiply(q, zero, d->method.projection ? force : 0, change, &along);
        v6_zero(x[n + k]);
        x[n + k][0] = rate / rho + along;
        v6_add(x[k], x[k], change);
    }
}

void lwi_index3_euler_take(lwi_index3 *d, double (*x)[6], bool accelerations)
{
    const lwi_system *s = &d->system;
    const int n = s->model->nnode;
    for (int k = 0; k < n; k++) {
        parameters *q = &d->euler->body[k];
        const double rho = dot4(q->pn, q->pn);
        double length = x[n + k][0];
        if (accelerations) length -= dot4(q->pdn, q->pdn) / rho;
        along_basis(q, x[k] + 3, length, accelerations ? q->pddn : q->pdn);
    }
}
