// dense.c -- formulation `dense` in absolute coordinates: state, rates, observation.
//
// State: x = (r, quaternion of every moving body; v, w of every moving body; auxiliary states; [work]) with
// r, v of the mass centre in world axes and w in body axes.  Rates: those of the kinematics, and Vdot =
// (vdot, wdot) of solve.c.  Joint angles are auxiliary states because poses do not determine full revolutions: the
// value is read from the poses, the number of revolutions from x.  Cost O(n^3).
#include "methods/dense/dense.h"

#include "spatial/motion.h"
#include "system/system.h"
#include "spatial/rotation.h"

#include <string.h>

// ---------------------------------------------------------------------------------------- prepare

static lw_status make_layout(lwi_work *work, lwi_dense_work *d)
{
    TRY(lwi_auxiliary_layout(work->model, d->s.nbody, LWI_SPEED, &work->arena, &d->auxiliary,
                             &work->layout));
    d->at_speed = 7 * d->s.nbody;
    lwi_states_layout(work->model, &work->layout);
    return LW_OK;
}

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    lwi_dense_work *d = LWI_PUSH(arena, lwi_dense_work, 1);
    if (!d) return LW_ERR_MEMORY;
    work->data = d;
    TRY(lwi_dense_create(model, arena, &d->s));
    const lwi_dense *s = &d->s;
    TRY(lwi_auxiliary_list(model, true, arena, &d->auxiliary));
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    GET(d->loads.wrench, model->nbody);
    GET(d->loads.effort, model->nv);
    GET(d->y, s->n);
    GET(d->lambda, s->m);
    GET(d->b_before, s->m);
    GET(d->mass_excess, s->nbody);
    GET(d->inertia_excess, s->nbody);
    TRY(make_layout(work, d));

    int redundant = s->m - lwi_dense_rank(&d->s, LWI_DENSE_RANK, d->y).generic;
    TRY(lwi_system_fewest_redundant(model, arena, &redundant));
    d->rank = s->m - redundant;
    d->dof = s->n - d->rank;
    LWI_ASSERT(d->rank >= 0 && d->rank <= s->m && d->dof >= 0);
    lwi_dense_start(&d->s);
    lwi_dense_weigh(d);
    GET(d->null, (size_t)(s->m - d->rank) * (size_t)s->m);
    if (d->nsingular) {
        GET(d->W, (size_t)d->dof * (size_t)s->n);
        GET(d->B, (size_t)d->dof * (size_t)d->dof);
        GET(d->z, d->dof);
        GET(d->y0, s->n);
        GET(d->e, s->n);
    }
#undef GET
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ state

static void read_state(lwi_dense_work *d, double t, const double *x)
{
    lwi_dense *s = &d->s;
    for (int k = 0; k < s->nbody; k++) {
        const int i = s->body[k];
        const double *pose = x + 7 * k, *twist = x + d->at_speed + 6 * k;
        v3_copy(s->r[i], pose);
        quat_normalize(s->quat[i], pose + 3);
        v3_copy(s->v[i], twist);
        quat_matrix(s->R[i], pose + 3);
        m3_mul_v(s->w[i], s->R[i], twist + 3);
    }
    lwi_auxiliary_load(s->model, &d->auxiliary, x, s->q);
    lwi_dense_place(s, t);
}

static lw_status check_finite(lwi_work *work, double t, const double *x)
{
    const lwi_dense_work *d = work->data;
    for (int k = 0; k < d->s.nbody; k++) {
        double sum = 0; // not finite if any term is not
        for (int i = 0; i < 7; i++) sum += 0 * x[7 * k + i];
        for (int i = 0; i < 6; i++) sum += 0 * x[d->at_speed + 6 * k + i];
        if (sum != 0)
            return lwi_fail(&work->error, LW_ERR_NOT_FINITE,
                            "body '%s', t = %.9g s: its motion is not a finite number",
                            work->model->body[d->s.body[k]].name, t);
    }
    return LW_OK;
}

// lw_model_create accepts velocities with a residual of LWI_CLOSURE_TOLERANCE; rows measure the same residual
// with lever arms and along several directions, hence ten times as much here.
#define VELOCITY_TOLERANCE (10 * LWI_CLOSURE_TOLERANCE)

// Round-off is relative to the largest row: sums of |J_ik V_k| and |b_i|.
static lw_status check_velocities(lwi_work *work, double t, const double *V)
{
    const lwi_dense_work *d = work->data;
    const lwi_dense *s = &d->s;
    double largest = 1, worst_rate = 0; // [m/s, rad/s], as in the check of the model
    int worst = 0;
    for (int i = 0; i < s->m; i++) {
        const double *J = s->J + (size_t)i * (size_t)s->n;
        double size = fabs(s->b[i]);
        for (int k = 0; k < 6 * s->nbody; k++) size += fabs(J[k] * V[k]);
        largest = fmax(largest, size);
        if (fabs(s->rate[i]) > worst_rate) worst_rate = fabs(s->rate[i]), worst = i;
    }
    if (worst_rate <= VELOCITY_TOLERANCE * largest) return LW_OK;
    return lwi_dense_row_fails(
        work, worst, t, LW_ERR_MODEL,
        "the velocities of its bodies do not fit it, residual in m/s or rad/s", worst_rate);
}

// State of a snapshot.  Velocities are moved onto the constraints, by the change of minimum kinetic energy:
// dV = -M^-1 J'(J M^-1 J')^+ phidot.
static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    lwi_dense_work *d = work->data;
    lwi_dense *s = &d->s;
    for (int k = 0; k < s->nbody; k++) {
        const int i = s->body[k];
        v3_copy(x + 7 * k, snapshot->r[i]);
        memcpy(x + 7 * k + 3, snapshot->quat[i], sizeof snapshot->quat[i]);
        v3_copy(x + d->at_speed + 6 * k, snapshot->v[i]);
        v3_copy(x + d->at_speed + 6 * k + 3, snapshot->w[i]);
    }
    lwi_auxiliary_store(s->model, &d->auxiliary, snapshot->q, x);
    if (d->auxiliary.at_work >= 0) x[d->auxiliary.at_work] = snapshot->work;

    read_state(d, snapshot->t, x);
    lwi_dense_match(s, snapshot->q);
    lwi_auxiliary_store(s->model, &d->auxiliary, s->q, x);
    lwi_states_enter(work, snapshot, x);
    if (s->m == 0 || s->n == 0) return LW_OK;
    lwi_dense_equations(s, snapshot->t);
    TRY(check_velocities(work, snapshot->t, x + d->at_speed));
    TRY(lwi_dense_factor(work, snapshot->t));
    for (int i = 0; i < s->m; i++) s->rate[i] /= -s->len[i];
    lwi_cod_solve_t(&s->cod, s->rate, d->y);
    lwi_dense_from_metric(s, d->y);
    for (int k = 0; k < 6 * s->nbody; k++) x[d->at_speed + k] += d->y[k];
    return LW_OK;
}

static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    lwi_dense_work *d = work->data;
    const lwi_dense *s = &d->s;
    TRY(check_finite(work, t, x));
    read_state(d, t, x);
    lwi_states_set(work, x, xdot);
    TRY(lwi_dense_solve(work, t, inputs));
    for (int k = 0; k < s->nbody; k++) {
        v3_copy(xdot + 7 * k, s->v[s->body[k]]);
        quat_rate(xdot + 7 * k + 3, x + 7 * k + 3, x + d->at_speed + 6 * k + 3);
    }
    for (int k = 0; k < 6 * s->nbody; k++) xdot[d->at_speed + k] = d->y[k];
    lwi_auxiliary_rates(s->model, &d->auxiliary, s->q, s->qd, xdot);
    if (d->auxiliary.at_work >= 0) xdot[d->auxiliary.at_work] = lwi_dense_power(d);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- observe

static void observe_poses(const lwi_dense_work *d, const double *x, lw_observe level,
                          lwi_snapshot *m)
{
    const lwi_dense *s = &d->s;
    const lw_model *model = s->model;
    for (int k = 0; k < s->nbody; k++) {
        const int i = s->body[k];
        v3_copy(m->r[i], s->r[i]);
        memcpy(m->quat[i], s->quat[i], sizeof m->quat[i]);
        memcpy(m->R[i], s->R[i], sizeof m->R[i]);
        if (level < LW_OBSERVE_TWIST) continue;
        v3_copy(m->v[i], s->v[i]);
        v3_copy(m->w[i], x + d->at_speed + 6 * k + 3);
    }
    if (model->nq) memcpy(m->q, s->q, (size_t)model->nq * sizeof *m->q);
    if (level >= LW_OBSERVE_TWIST && model->nv)
        memcpy(m->qd, s->qd, (size_t)model->nv * sizeof *m->qd);
}

// Acceleration of a joint frame in world axes: that of its body, and the terms without it.
static void frame_acceleration(const lwi_dense_work *d, int body, const lwi_dense_frame *f,
                               double A[6])
{
    v6_copy(A, f->a);
    if (d->s.slot[body] < 0) return;
    LWI_ASSERT_INDEX(d->s.slot[body], d->s.nbody);
    const double *y = d->y + 6 * d->s.slot[body];
    double alpha[3];
    m3_mul_v(alpha, d->s.R[body], y + 3);
    v3_add(A, A, y);
    v3_cross_add(A, alpha, f->arm);
    v3_add(A + 3, A + 3, alpha);
}

static void observe_accelerations(const lwi_dense_work *d, lwi_snapshot *m)
{
    const lwi_dense *s = &d->s;
    for (int k = 0; k < s->nbody; k++) {
        v3_copy(m->a[s->body[k]], d->y + 6 * k);
        v3_copy(m->al[s->body[k]], d->y + 6 * k + 3);
    }
    for (int j = 0; j < s->model->njoint; j++) {
        const lwi_joint *joint = &s->model->joint[j];
        if (joint->merged) continue;
        double A1[6], A2[6];
        frame_acceleration(d, joint->body1, &s->frame[j][0], A1);
        frame_acceleration(d, joint->body2, &s->frame[j][1], A2);
        for (int k = joint->iv; k < joint->iv + joint->type->nv; k++)
            m->qdd[k] = v6_dot(s->speed[k].J1, A1) + v6_dot(s->speed[k].J2, A2) + s->speed[k].bias;
    }
}

// Components of null vectors on a joint's rows below this are the drift of positions, which tilts rows.
#define UNIQUE_TOLERANCE 1e-6

// lambda of minimum norm over all rows in their units (metres and radians), reactions -J2' lambda on the
// second frame, and whether redundancy leaves them undetermined.
static void observe_reactions(lwi_dense_work *d, lwi_snapshot *snapshot)
{
    lwi_dense *s = &d->s;
    const int m = s->m, nnull = m - s->cod.rank;
    LWI_ASSERT(nnull >= 0 && nnull <= m - d->rank);
    lwi_cod_null(&s->cod, d->null);
    for (int i = 0; i < nnull; i++)
        for (int k = 0; k < m; k++) d->null[(size_t)i * (size_t)m + (size_t)k] /= s->len[k];
    lwi_orthonormalize(m, nnull, d->null);
    lwi_reject(m, nnull, d->null, d->lambda);
    for (int j = 0; j < s->model->njoint; j++) {
        if (s->model->joint[j].merged) continue;
        double square[6] = {0};
        unsigned axes = 0;
        v6_zero(snapshot->reaction[j]);
        for (int k = s->first[j]; k < s->first[j + 1]; k++)
            v6_axpy(snapshot->reaction[j], -d->lambda[k], s->J2[k]);
        for (int i = 0; i < nnull; i++) {
            double world[6] = {0}, F[6];
            for (int k = s->first[j]; k < s->first[j + 1]; k++)
                v6_axpy(world, d->null[(size_t)i * (size_t)m + (size_t)k], s->J2[k]);
            lwi_joint_to_axes(s->model, j, (const double(*)[9])snapshot->R, world, F);
            for (int k = 0; k < 6; k++) square[k] += F[k] * F[k];
        }
        for (int k = 0; k < 6; k++)
            if (!(square[k] < UNIQUE_TOLERANCE * UNIQUE_TOLERANCE)) axes |= 1u << k;
        lwi_snapshot_set_undetermined(snapshot, j, axes);
    }
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    lwi_dense_work *d = work->data;
    TRY(check_finite(work, t, x));
    read_state(d, t, x);
    lwi_states_observe(work, x, snapshot);
    snapshot->t = t;
    snapshot->work = d->auxiliary.at_work >= 0 ? x[d->auxiliary.at_work] : 0;
    observe_poses(d, x, level, snapshot);
    if (level < LW_OBSERVE_ACCELERATION) return LW_OK;
    TRY(lwi_dense_solve(work, t, inputs));
    observe_accelerations(d, snapshot);
    if (level >= LW_OBSERVE_REACTION) observe_reactions(d, snapshot);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- impulses

static void take_snapshot(lwi_dense_work *d, const lwi_snapshot *m, double t)
{
    lwi_dense *s = &d->s;
    for (int k = 0; k < s->nbody; k++) {
        const int i = s->body[k];
        v3_copy(s->r[i], m->r[i]);
        quat_normalize(s->quat[i], m->quat[i]);
        v3_copy(s->v[i], m->v[i]);
        quat_matrix(s->R[i], s->quat[i]);
        m3_mul_v(s->w[i], s->R[i], m->w[i]);
    }
    if (s->model->nq) memcpy(s->q, m->q, (size_t)s->model->nq * sizeof *s->q);
    lwi_dense_place(s, t);
    lwi_dense_match(s, m->q);
}

// Here M dV + J' lambda = F, so the rows of drives do the work lambda . (b(t-) + b(t+)) / 2.
lw_status lwi_dense_impact(lwi_work *work, const lwi_snapshot *before, double t_before,
                           const lwi_loads *impulse, lwi_snapshot *after, double *work_of_drives)
{
    lwi_dense_work *d = work->data;
    lwi_dense *s = &d->s;
    const double t = before->t;
    double *b_before = d->b_before;
    take_snapshot(d, before, t_before);
    lwi_dense_equations(s, t_before);
    if (s->m) memcpy(b_before, s->b, (size_t)s->m * sizeof *b_before);
    take_snapshot(d, before, t);
    TRY(lwi_dense_solve_impulse(work, t, impulse));
    *work_of_drives = 0;
    for (int i = 0; i < s->m; i++) *work_of_drives += 0.5 * d->lambda[i] * (b_before[i] + s->b[i]);
    for (int k = 0; k < s->nbody; k++) {
        const int i = s->body[k];
        double w[3];
        v3_add(s->v[i], s->v[i], d->y + 6 * k);
        v3_add(w, before->w[i], d->y + 6 * k + 3);
        m3_mul_v(s->w[i], s->R[i], w);
        v3_copy(after->v[i], s->v[i]);
        v3_copy(after->w[i], w);
    }
    lwi_dense_place(s, t);
    if (s->model->nv) memcpy(after->qd, s->qd, (size_t)s->model->nv * sizeof *after->qd);
    observe_reactions(d, after);
    return LW_OK;
}

// All states are in metres, radians and seconds except the work: its scale is the larger of the kinetic
// energy and of the weight lifted by one metre.
static lw_status scale(lwi_work *work, double t, const double *x, double *factors)
{
    lwi_dense_work *d = work->data;
    const lwi_dense *s = &d->s;
    for (int i = 0; i < work->layout.nx; i++) factors[i] = 1;
    if (d->auxiliary.at_work < 0) return LW_OK;
    read_state(d, t, x);
    double kinetic = 0, weight = 0;
    for (int k = 0; k < s->nbody; k++) {
        const lwi_body *body = &work->model->body[s->body[k]];
        const double *twist = x + d->at_speed + 6 * k;
        double L[3];
        s3_mul_v(L, body->inertia, twist + 3);
        kinetic += 0.5 * (body->mass * v3_dot(twist, twist) + v3_dot(twist + 3, L));
        weight += body->mass * v3_norm(work->model->gravity);
    }
    const double energy = fmax(kinetic, weight);
    if (energy > 0) factors[d->auxiliary.at_work] = energy;
    return LW_OK;
}

const lwi_formulation lwi_formulation_dense = {
    .name = "dense",
    .summary =
        "all bodies in absolute coordinates, all joints as constraint equations; O(n^3); trees, "
        "loops, couplings, redundant constraints",
    .cite = "udwadia1992",
    .flags = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_CAN_ROTORS | LWI_HAS_SPEEDS | LWI_CUBIC,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .observe = observe,
    .scale = scale,
};
