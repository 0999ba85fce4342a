// solve.c -- accelerations and multipliers of a mechanism in absolute coordinates.
//
//   M Vdot + J' lambda = F,   J Vdot = -gamma
//
// F: applied forces, gravity, -w x J w.  With M = L L', y = L'Vdot, A = L^-1 J' this is
//
//   y + A lambda = L^-1 F,   A'y = -gamma
//
// the point nearest to the free acceleration that satisfies the constraints: Gauss's principle,
// [udwadia1992].  A complete orthogonal decomposition of A at a fixed rank solves it; redundant rows only
// leave their part of lambda undetermined.
//
// A body without mass, or without inertia about some axis, gets excess inertia in the metric, K = M + excess,
// which is corrected for: with K = L L', E = L^-1 (K - M) L'^-1 and W the degrees of freedom (A'W = 0),
//
//   (1 - E) y + A lambda = f   =>   W'(1 - E)W z = W'(f + E y0),   y = y0 + W z.
#include "methods/dense/dense.h"
#include "base/linear.h"
#include "system/singular.h"

#include "spatial/motion.h"

#include <stdio.h>
#include <string.h>

// ----------------------------------------------------------------------------------------- metric

// A pivot of an inertia matrix above this share of its trace is valid; below are the round-off of rotated
// axes and of decimal files.
#define INERTIA_PIVOT 1e-12

// K of one body, with excess if its inertia is singular.
static void weigh_body(lwi_dense_work *d, int k, double typical_mass)
{
    const lwi_body *body = &d->s.model->body[d->s.body[k]];
    lwi_dense_weight *weight = &d->s.weight[k];
    const double *J = body->inertia, trace = J[0] + J[1] + J[2];
    if (!(body->mass > 0)) d->mass_excess[k] = typical_mass;
    const double mass = body->mass + d->mass_excess[k];
    weight->lin = sqrt(mass);
    s3_full(weight->ang, J);
    const bool regular = trace > 0 && lwi_cholesky(3, weight->ang, INERTIA_PIVOT * trace) < 0;
    if (regular && body->mass > 0) return;
    d->nsingular++;
    if (regular) return;
    // of the size of the body's inertia, or of a point mass at the mechanism's length
    const double excess = trace > 0 ? trace : mass * d->s.length * d->s.length;
    d->inertia_excess[k] = excess;
    s3_full(weight->ang, J);
    for (int i = 0; i < 9; i += 4) weight->ang[i] += excess;
    lwi_cholesky(3, weight->ang, 0);
}

void lwi_dense_weigh(lwi_dense_work *d)
{
    double sum = 0;
    for (int k = 0; k < d->s.nbody; k++) sum += d->s.model->body[d->s.body[k]].mass;
    const double typical = sum > 0 ? sum / d->s.nbody : 1;
    d->nsingular = 0;
    memset(d->mass_excess, 0, (size_t)d->s.nbody * sizeof(double));
    memset(d->inertia_excess, 0, (size_t)d->s.nbody * sizeof(double));
    for (int k = 0; k < d->s.nbody; k++) weigh_body(d, k, typical);
    for (int i = 0; i < d->s.nrotor; i++) {
        const lwi_joint *joint = &d->s.model->joint[d->s.rotor[i]];
        d->s.rotor_weight[i] = sqrt(joint->rotor[d->s.rotor_speed[i] - joint->iv]);
    }
}

// ----------------------------------------------------------------------------- rows and rank

static double length6(const double *a)
{
    return sqrt(v6_dot(a, a));
}

// The joint that row i belongs to, or -1 - coupling.
static int row_owner(const lwi_dense_work *d, int i)
{
    LWI_ASSERT_INDEX(i, d->s.m);
    const int coupling = i - d->s.first[d->s.model->njoint];
    int j = 0;
    if (i >= d->s.m - d->s.nrotor) return d->s.rotor[i - (d->s.m - d->s.nrotor)];
    if (coupling >= 0) return -1 - coupling;
    while (i >= d->s.first[j + 1]) j++;
    return j;
}

lw_status lwi_dense_row_fails(lwi_work *work, int i, double t, lw_status status, const char *what,
                              double value)
{
    char which[160];
    lwi_singular_owner(work->model, row_owner(work->data, i), which, sizeof which);
    return lwi_fail(&work->error, status, "%s, t = %.9g s: %s %.3g", which, t, what, value);
}

// Smallest pivot allowed at the generic rank: ten of sixteen digits are lost there.
#define SINGULAR_PIVOT 1e-10

lw_status lwi_dense_factor(lwi_work *work, double t)
{
    lwi_dense_work *d = work->data;
    lwi_cod *cod = &d->s.cod;
    lwi_dense_scale(&d->s);
    lwi_cod_factor(cod, d->rank, 0);
    if (d->rank == 0) return LW_OK;
    if (cod->rank == d->rank && cod->small > SINGULAR_PIVOT) return LW_OK;
    const int last = cod->rank < d->rank ? cod->rank : d->rank - 1;
    LWI_ASSERT_INDEX(last, d->s.m);
    return lwi_singular_fail(work->model, row_owner(d, cod->pivot[last]), t,
                             cod->rank < d->rank ? 0 : cod->small, &work->error);
}

// ------------------------------------------------------------------------------------------ forces

// A wrench about a frame's origin on its body.
static void add_wrench(lwi_dense_work *d, int body, const lwi_dense_frame *f, double e,
                       const double wrench[6])
{
    double *to = d->loads.wrench[body];
    double torque[3];
    v3_cross(torque, f->arm, wrench);
    v6_axpy(to, e, wrench);
    v3_axpy(to + 3, e, torque);
}

// The power of an effort is e qd; qd = J1 V1 + J2 V2, so it acts as the wrenches e J1, e J2.
static void apply_efforts(lwi_dense_work *d)
{
    const lwi_dense *s = &d->s;
    for (int j = 0; j < s->model->njoint; j++) {
        const lwi_joint *joint = &s->model->joint[j];
        if (joint->merged) continue;
        for (int k = joint->iv; k < joint->iv + joint->type->nv; k++) {
            if (d->loads.effort[k] == 0) continue;
            add_wrench(d, joint->body1, &s->frame[j][0], d->loads.effort[k], s->speed[k].J1);
            add_wrench(d, joint->body2, &s->frame[j][1], d->loads.effort[k], s->speed[k].J2);
        }
    }
}

// F in the coordinates of the metric: y := L^-1 F.
static void apply_forces(lwi_work *work, double t, const double *inputs)
{
    lwi_dense_work *d = work->data;
    const lw_model *model = work->model;
    const lwi_dense *s = &d->s;
    const lwi_kin kin = {.R = (const double(*)[9])s->R,
                         .r = (const double(*)[3])s->r,
                         .v = (const double(*)[3])s->v,
                         .w = (const double(*)[3])s->w,
                         .q = s->q,
                         .qd = s->qd,
                         .mode = work->mode,
                         .states = &work->states};
    lwi_forces_apply(model, &kin, t, inputs, &d->loads);
    lwi_loads_to_carriers(model, &kin, &d->loads);
    apply_efforts(d);
    for (int k = 0; k < s->nbody; k++) { // m a = f + m g,  J wdot = n - w x J w
        const int i = s->body[k];
        const lwi_body *body = &model->body[i];
        double *y = d->y + 6 * k, w[3], Jw[3];
        v3_copy(y, d->loads.wrench[i]);
        v3_axpy(y, body->mass, model->gravity);
        m3_tmul_v(y + 3, s->R[i], d->loads.wrench[i] + 3);
        m3_tmul_v(w, s->R[i], s->w[i]);
        s3_mul_v(Jw, body->inertia, w);
        v3_cross_add(y + 3, Jw, w);
    }
    for (int i = 0; i < s->nrotor; i++) d->y[6 * s->nbody + i] = 0;
    lwi_dense_to_metric(s, d->y);
}

// ------------------------------------------------------------------------------------------- solve

// x += k E y
static void add_excess(const lwi_dense_work *d, double k, const double *y, double *x)
{
    for (int b = 0; b < d->s.nbody; b++, y += 6, x += 6) {
        const lwi_dense_weight *weight = &d->s.weight[b];
        double u[3];
        v3_axpy(x, k * d->mass_excess[b] / (weight->lin * weight->lin), y);
        v3_copy(u, y + 3);
        lwi_lower_tsolve(3, weight->ang, u);
        lwi_lower_solve(3, weight->ang, u);
        v3_axpy(x + 3, k * d->inertia_excess[b], u);
    }
}

// "joint 'a', joint 'b'": the joints of the body and of bodies merged into it, as far as they fit.
static void list_joints(const lw_model *model, int body, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "no joint");
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->merged || (model->body[joint->body1].carrier != body &&
                              model->body[joint->body2].carrier != body))
            continue;
        const int n =
            snprintf(text + used, size - used, "%sjoint '%s'", used ? ", " : "", joint->name);
        if (n < 0 || (size_t)n >= size - used) {
            if (size - used > 4) memcpy(text + used, " ...", 5);
            return;
        }
        used += (size_t)n;
    }
}

// Error naming the body without inertia with the largest motion in W_i.
static lw_status massless_body_fails(lwi_work *work, int i, double t)
{
    const lwi_dense_work *d = work->data;
    const double *W = d->W + (size_t)i * (size_t)d->s.n;
    int worst = 0;
    double largest = -1;
    for (int k = 0; k < d->s.nbody; k++) {
        const double size = length6(W + 6 * k);
        if ((d->mass_excess[k] > 0 || d->inertia_excess[k] > 0) && size > largest)
            largest = size, worst = k;
    }
    const int body = d->s.body[worst];
    LWI_ASSERT_INDEX(i, d->dof);
    char held[200];
    list_joints(work->model, body, held, sizeof held);
    return lwi_fail(&work->error, LW_ERR_SINGULAR,
                    "body '%s', t = %.9g s: it moves freely in a direction in which neither it nor "
                    "what moves with it has inertia; it is held by %s",
                    work->model->body[body].name, t, held);
}

// Solution in the coordinates of the metric if some bodies have excess.
//   y  in: f, out: solution       lambda  in: -gamma by the rows' lengths, out: multipliers by them
static lw_status solve_singular(lwi_work *work, double t)
{
    lwi_dense_work *d = work->data;
    lwi_cod *cod = &d->s.cod;
    const int n = d->s.n, dof = d->dof;
    LWI_ASSERT(d->W && d->B && d->nsingular > 0);
    const size_t bytes = (size_t)n * sizeof *d->e;
    lwi_cod_solve_t(cod, d->lambda, d->y0);
    memcpy(d->e, d->y, bytes);
    add_excess(d, 1, d->y0, d->e);
    for (int i = 0; i < dof; i++) { // W: the last columns of Q; z = W'(f + E y0)
        double *W = d->W + (size_t)i * (size_t)n;
        memset(W, 0, bytes);
        W[d->rank + i] = 1;
        lwi_cod_q(cod, false, W);
        d->z[i] = lwi_dot(n, W, d->e);
    }
    for (int j = 0; j < dof; j++) { // B = 1 - W'E W
        memset(d->e, 0, bytes);
        add_excess(d, 1, d->W + (size_t)j * (size_t)n, d->e);
        for (int i = j; i < dof; i++)
            d->B[(size_t)i * (size_t)dof + (size_t)j] =
                (i == j) - lwi_dot(n, d->W + (size_t)i * (size_t)n, d->e);
    }
    // 1 - W'E W is computed to 1e-15: a smaller pivot than a thousand times that is zero
    const int failed = lwi_cholesky(dof, d->B, 1e-12);
    if (failed >= 0) return massless_body_fails(work, failed, t);
    lwi_lower_solve(dof, d->B, d->z);
    lwi_lower_tsolve(dof, d->B, d->z);
    for (int i = 0; i < dof; i++)
        for (int k = 0; k < n; k++) d->y0[k] += d->z[i] * d->W[(size_t)i * (size_t)n + (size_t)k];
    for (int k = 0; k < n; k++) d->e[k] = d->y[k] - d->y0[k]; // A lambda = f - y + E y
    add_excess(d, 1, d->y0, d->e);
    memcpy(d->y, d->y0, bytes);
    lwi_cod_solve(cod, d->e, d->lambda);
    return LW_OK;
}

// y in: loads in the coordinates of the metric, out: Vdot; lambda from `bias`, gamma of the rows.
static lw_status solve(lwi_work *work, double t, const double *bias)
{
    lwi_dense_work *d = work->data;
    lwi_dense *s = &d->s;
    for (int i = 0; i < s->m; i++) {
        LWI_ASSERT(!(s->len[i] <= 0));
        d->lambda[i] = -bias[i] / s->len[i];
    }
    if (d->nsingular)
        TRY(solve_singular(work, t));
    else
        lwi_cod_nearest(&s->cod, d->y, d->lambda);
    lwi_dense_from_metric(s, d->y);
    for (int i = 0; i < s->m; i++) d->lambda[i] /= s->len[i];
    for (int k = 0; k < 6 * s->nbody; k++)
        if (!isfinite(d->y[k]))
            return lwi_fail(&work->error, LW_ERR_NOT_FINITE,
                            "body '%s', t = %.9g s: its acceleration is not a finite number",
                            work->model->body[s->body[k / 6]].name, t);
    return LW_OK;
}

lw_status lwi_dense_solve(lwi_work *work, double t, const double *inputs)
{
    lwi_dense_work *d = work->data;
    lwi_dense_equations(&d->s, t);
    TRY(lwi_dense_factor(work, t));
    apply_forces(work, t, inputs);
    return solve(work, t, d->s.gamma);
}

// The same rows with dV in place of Vdot: M dV + J' lambda = F, J dV = -(J V + b).
lw_status lwi_dense_solve_impulse(lwi_work *work, double t, const lwi_loads *impulse)
{
    lwi_dense_work *d = work->data;
    const lwi_dense *s = &d->s;
    lwi_dense_equations(&d->s, t);
    TRY(lwi_dense_factor(work, t));
    memcpy(d->loads.wrench, impulse->wrench, (size_t)s->model->nbody * sizeof *impulse->wrench);
    if (s->model->nv)
        memcpy(d->loads.effort, impulse->effort, (size_t)s->model->nv * sizeof *impulse->effort);
    apply_efforts(d);
    for (int k = 0; k < s->nbody; k++) {
        const int i = s->body[k];
        v3_copy(d->y + 6 * k, d->loads.wrench[i]);
        m3_tmul_v(d->y + 6 * k + 3, s->R[i], d->loads.wrench[i] + 3);
    }
    for (int i = 0; i < s->nrotor; i++) d->y[6 * s->nbody + i] = 0;
    lwi_dense_to_metric(s, d->y);
    return solve(work, t, s->rate);
}

// M Vdot = F - J' lambda and J V = -b: the power of the rows is lambda.b.  Across a moving mount an effort
// does work on the bodies beyond e qd.
double lwi_dense_power(const lwi_dense_work *d)
{
    const lwi_dense *s = &d->s;
    double P = d->loads.power;
    for (int i = 0; i < s->m; i++) P += d->lambda[i] * s->b[i];
    for (int j = 0; j < s->model->njoint; j++) {
        const lwi_joint *joint = &s->model->joint[j];
        if (joint->merged || !joint->mount.present) continue;
        for (int k = joint->iv; k < joint->iv + joint->type->nv; k++)
            P -= d->loads.effort[k] * v6_dot(s->speed[k].J1, s->frame[j][0].prescribed);
    }
    return P;
}
