// inverse.c -- inverse dynamics of any mechanism: efforts u of chosen actuators for a motion, and reactions.
//
// With  M a + h = S'u + J'lambda,  J B = 0  (manifold.h) and tau = M a + h  the multipliers drop out:
//     A u = B'tau,   A = B'S'   [f][m]
// Rows are scaled by L^-1, M_r = L L', so that metres and radians compare; columns by the weights w of the actuators,
// x = w u.  A complete orthogonal decomposition gives the rank of A and the x of smallest residual and minimum norm.  Its
// pivots are relative to columns of actuators that move as fast as the fastest coordinate, in rad and lengths.  Where
// the residual is not zero, actuators cannot make the motion: missing = B'tau - A u in independent coordinates.
//
// Then  J'lambda = tau - S'u - missing  gives multipliers of minimum norm in scaled rows, and one pass over the tree the
// reactions (loops/cut_reactions.h).
#include "analysis/inverse.h"
#include "kinematics/observe.h"
#include "loops/cut_state.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define RANK 1e-10      // of the scaled A: relative pivots
#define INFEASIBLE 1e-8 // residual, relative to the parts of what is required
#define NULL_PART 1e-9  // of an actuator in an orthonormal null vector
#define AFFINE 1e-7     // relative deviation of an input's effect from proportionality

// --------------------------------------------------------------------------------------- the state

// Size of the terms of which row i of J x is the sum.
static double row_size(const lw_inverse *s, int i, const double *x)
{
    double sum = 0;
    for (int k = 0; k < s->n; k++)
        sum += fabs(s->at.manifold.J[(size_t)i * (size_t)s->n + (size_t)k] * x[k]);
    return sum;
}

static lw_status violated(const lw_inverse *s, double t, int row, const char *what, double residual,
                          const char *unit, lw_error *error)
{
    const lw_joint joint = lw_constraints_joint(s->at.manifold.constraints, row);
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "t = %.10g s: %s do not satisfy joint '%s', residual %.3g %s: inverse dynamics "
                    "needs a motion that all joints allow",
                    t, what, s->model->joint[joint.index].name, residual, unit);
}

// Do q, v and vdot satisfy the rows, up to `tolerance` of the terms?
static lw_status check_motion(lw_inverse *s, double t, const double *q, const double *v,
                              const double *vdot, double tolerance, lw_error *error)
{
    lwi_manifold *m = &s->at.manifold;
    const size_t n = (size_t)s->n;
    if (lw_constraints_evaluate(m->constraints, t, q, v, m->phi, s->rate, m->J, m->gamma) != LW_OK)
        return lwi_fail(error, LW_ERR_NOT_FINITE, "t = %.10g s: the state is not finite", t);
    for (int i = 0; i < m->m; i++) {
        double sum = m->gamma[i];
        for (size_t k = 0; k < n; k++) sum += m->J[(size_t)i * n + k] * vdot[k];
        const double size[] = {1 + s->model->length, 1 + row_size(s, i, v),
                               1 + fabs(m->gamma[i]) + row_size(s, i, vdot)};
        if (!(fabs(m->phi[i]) <= tolerance * size[0]))
            return violated(s, t, i, "coordinates", m->phi[i], "m or rad", error);
        if (!(fabs(s->rate[i]) <= tolerance * size[1]))
            return violated(s, t, i, "speeds", s->rate[i], "m/s or rad/s", error);
        if (!(fabs(sum) <= tolerance * size[2]))
            return violated(s, t, i, "accelerations", sum, "m/s^2 or rad/s^2", error);
    }
    return LW_OK;
}

// ----------------------------------------------------------------------------------- the actuators

// h := what the tree needs at vdot = 0 with inputs.
static lw_status needed(lw_inverse *s, double t, const double *q, const double *v,
                        const double *inputs, double *h, lw_error *error)
{
    const lw_status status =
        lw_constraints_tree(s->at.manifold.constraints, t, q, v, inputs, NULL, h);
    return status == LW_OK ? LW_OK
                           : lwi_fail(error, status, "t = %.10g s: a force is not finite", t);
}

// S_k := effect of one unit of actuator k, from both sides of zero in steps of `step`; false: it is not proportional.
static lw_status effect(lw_inverse *s, double t, const double *q, const double *v, int k,
                        double step, bool *affine, lw_error *error)
{
    double *const S = s->S + (size_t)k * (size_t)s->n;
    double largest = 0, bend = 0, size = 0;
    memcpy(s->trial, s->inputs, (size_t)s->model->desc.ninput * sizeof *s->trial);
    s->trial[s->input[k]] = step;
    TRY(needed(s, t, q, v, s->trial, s->h1, error));
    s->trial[s->input[k]] = -step;
    TRY(needed(s, t, q, v, s->trial, s->h2, error));
    for (int i = 0; i < s->n; i++) {
        S[i] = (s->h2[i] - s->h1[i]) / (2 * step);
        size = fmax(size, fabs(s->at.manifold.h[i]));
        largest = fmax(largest, fabs(S[i]) * step);
        bend = fmax(bend, fabs(s->h1[i] + s->h2[i] - 2 * s->at.manifold.h[i]));
    }
    *affine = bend <= AFFINE * largest + 16 * DBL_EPSILON * size;
    for (int i = 0; i < s->n; i++)
        if (fabs(S[i]) * step <= 16 * DBL_EPSILON * fmax(size, largest)) S[i] = 0;
    return LW_OK;
}

static lw_status effects(lw_inverse *s, double t, const double *q, const double *v, lw_error *error)
{
    double size = 1;
    for (int i = 0; i < s->n; i++) size = fmax(size, fabs(s->at.manifold.h[i]));
    for (int k = 0; k < s->m; k++) {
        bool affine = false;
        const double steps[] = {size, 1, 1e-3};
        for (int i = 0; !affine && i < LWI_COUNT(steps); i++)
            TRY(effect(s, t, q, v, k, steps[i], &affine, error));
        if (!affine)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "t = %.10g s: efforts are not proportional to the input '%s'", t,
                            lw_inverse_actuator_name(s, k));
    }
    return LW_OK;
}

static double norm(int n, const double *x)
{
    return sqrt(lwi_dot(n, x, x));
}

// L with M_r = L L'; where no mass moves with a coordinate, the units of the coordinates.
static void factor_metric(lw_inverse *s)
{
    const size_t f = (size_t)s->f;
    double size = 0;
    memcpy(s->L, s->at.manifold.reduced, f * f * sizeof *s->L);
    for (size_t k = 0; k < f; k++) size = fmax(size, s->L[k * f + k]);
    if (lwi_cholesky(s->f, s->L, 1e-12 * size) < 0) return;
    memset(s->L, 0, f * f * sizeof *s->L);
    for (int k = 0; k < s->f; k++)
        s->L[(size_t)k * f + (size_t)k] =
            lwi_manifold_unit(&s->at.manifold, s->at.manifold.independent[k]);
}

// to [f] := B' from
static void reduce(const lw_inverse *s, const double *from, double *to)
{
    for (int k = 0; k < s->f; k++)
        to[k] = lwi_dot(s->n, s->at.manifold.B + (size_t)k * (size_t)s->n, from);
}

// The size of what is required: of inertia and of loads, which may cancel.
static double required_size(lw_inverse *s)
{
    double size = 0;
    for (int i = 0; i < s->n; i++) s->left[i] = s->tau[i] - s->at.manifold.h[i];
    reduce(s, s->left, s->part);
    lwi_lower_solve(s->f, s->L, s->part);
    size = norm(s->f, s->part);
    reduce(s, s->at.manifold.h, s->part);
    lwi_lower_solve(s->f, s->L, s->part);
    return size + norm(s->f, s->part);
}

static void mark_redundant(lw_inverse *s)
{
    const int dimension = s->m - s->actuators.rank;
    memset(s->redundant, 0, (size_t)s->m);
    lwi_cod_null(&s->actuators, s->null);
    for (int i = 0; i < dimension; i++)
        for (int k = 0; k < s->m; k++)
            if (fabs(s->null[(size_t)i * (size_t)s->m + (size_t)k]) > NULL_PART)
                s->redundant[k] = 1;
}

// How fast the fastest coordinate of the tree moves, by its unit, in motions with L'z of length one.
static double fastest_speed(lw_inverse *s)
{
    const lwi_manifold *m = &s->at.manifold;
    double fastest = 0;
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < s->f; k++) s->part[k] = m->B[(size_t)k * (size_t)s->n + (size_t)i];
        lwi_lower_solve(s->f, s->L, s->part);
        fastest = fmax(fastest, norm(s->f, s->part) / lwi_manifold_unit(m, i));
    }
    return fastest;
}

// The largest column of A, scaled, if all coordinates moved as fast as the fastest one.
static double best_column(lw_inverse *s)
{
    const double speed = fastest_speed(s);
    double best = 0;
    for (int k = 0; k < s->m; k++) {
        double sum = 0;
        for (int i = 0; i < s->n; i++)
            sum += fabs(s->S[(size_t)k * (size_t)s->n + (size_t)i]) *
                   lwi_manifold_unit(&s->at.manifold, i);
        best = fmax(best, sum * speed / s->weight[k]);
    }
    return best;
}

// Rank by pivots relative to the best column, so that one actuator at a dead point has none either.
static void factor_actuators(lw_inverse *s)
{
    double longest = 0;
    const double best = best_column(s);
    for (int k = 0; k < s->m; k++)
        longest = fmax(longest, norm(s->f, s->actuators.a + (size_t)k * (size_t)s->f));
    const double part = best > 0 ? longest / best : 1;
    lwi_cod_factor(&s->actuators, -1, part > 0 ? RANK / part : RANK);
    s->pivot = s->actuators.rank ? s->actuators.small * part : 1;
}

// Efforts of smallest residual and minimum weighted norm.
static void solve_efforts(lw_inverse *s)
{
    const size_t f = (size_t)s->f;
    for (int k = 0; k < s->m; k++) {
        double *const column = s->A + (size_t)k * f;
        reduce(s, s->S + (size_t)k * (size_t)s->n, column);
        memcpy(s->actuators.a + (size_t)k * f, column, f * sizeof *column);
        lwi_lower_solve(s->f, s->L, s->actuators.a + (size_t)k * f);
        for (size_t i = 0; i < f; i++) s->actuators.a[(size_t)k * f + i] /= s->weight[k];
    }
    factor_actuators(s);
    reduce(s, s->tau, s->need);
    memcpy(s->part, s->need, f * sizeof *s->part);
    lwi_lower_solve(s->f, s->L, s->part);
    lwi_cod_solve(&s->actuators, s->part, s->x);
    for (int k = 0; k < s->m; k++) s->u[k] = s->x[k] / s->weight[k];
    mark_redundant(s);
}

// What the actuators leave, in independent coordinates; its relative size.
static void find_missing(lw_inverse *s)
{
    lw_inverse_solution *const out = &s->solution;
    const double size = required_size(s);
    double largest = -1;
    memcpy(s->missing, s->need, (size_t)s->f * sizeof *s->missing);
    for (int k = 0; k < s->m; k++)
        for (int i = 0; i < s->f; i++)
            s->missing[i] -= s->A[(size_t)k * (size_t)s->f + (size_t)i] * s->u[k];
    memcpy(s->part, s->missing, (size_t)s->f * sizeof *s->part);
    lwi_lower_solve(s->f, s->L, s->part);
    out->residual = size > 0 ? norm(s->f, s->part) / size : 0;
    s->worst[0] = 0;
    for (int i = 0; i < s->f; i++) {
        const double x =
            fabs(s->missing[i]) * lwi_manifold_unit(&s->at.manifold, s->at.manifold.independent[i]);
        if (x <= largest * (1 + 1e-9)) continue;
        largest = x;
        lwi_manifold_name(&s->at.manifold, i, false, s->worst, sizeof s->worst);
    }
}

// ----------------------------------------------------------------------------------- the reactions

// lambda with J'lambda = tau - S'u - missing, of minimum norm in rows of length one.
static void solve_multipliers(lw_inverse *s)
{
    const lwi_manifold *m = &s->at.manifold;
    const size_t n = (size_t)s->n;
    const double *len = m->constraints->cut.len;
    memcpy(s->left, s->tau, n * sizeof *s->left);
    for (int k = 0; k < s->m; k++)
        for (size_t i = 0; i < n; i++) s->left[i] -= s->S[(size_t)k * n + i] * s->u[k];
    for (int k = 0; k < s->f; k++) s->left[m->independent[k]] -= s->missing[k];
    for (int r = 0; r < m->m; r++)
        for (size_t i = 0; i < n; i++)
            s->rows.a[(size_t)r * n + i] = m->J[(size_t)r * n + i] / len[r];
    lwi_cod_factor(&s->rows, s->n - s->f, 0);
    lwi_cod_solve(&s->rows, s->left, s->lambda);
    for (int r = 0; r < m->m; r++) s->lambda[r] /= len[r];
}

// Rotors of cut joints as efforts, which act on the bodies.
static void apply_rotors(lw_inverse *s, double t, const double *v, const double *vdot)
{
    lw_constraints *c = s->at.manifold.constraints;
    lwi_cut *cut = &c->cut;
    const lw_model *model = s->model;
    const lwi_motion motion = lwi_cut_motion(&c->tree);
    if (c->spun.nrotor == 0) return;
    lwi_tree_accelerations(model, &c->tree, v, vdot);
    lwi_cut_accelerations(cut, &c->tree, NULL);
    memset(cut->wrench, 0, (size_t)model->nbody * sizeof *cut->wrench);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        double effort[LW_JOINT_MAX_NV] = {0};
        if (joint->nrotor == 0) continue;
        lwi_joint_read_acceleration(model, model->loop[i], t, &motion, (const double(*)[3])cut->a,
                                    (const double(*)[3])cut->al, effort);
        for (int k = 0; k < joint->type->nv; k++) effort[k] *= -joint->rotor[k];
        lwi_joint_apply_effort(model, model->loop[i], t, &motion, effort, cut->wrench);
    }
    for (int k = 0; k < model->nnode; k++)
        lwi_cut_add_wrench(model, &c->tree, k, 1, cut->wrench[model->node[k].body],
                           c->tree.wrench[k]);
}

// What is missing acts as an effort on the independent coordinates; it is no reaction.
static void add_missing(lw_inverse *s)
{
    const lw_model *model = s->model;
    double *const effort = s->at.manifold.constraints->tree.loads.effort;
    for (int i = 0; i < s->f; i++) {
        const int speed = s->at.manifold.independent[i];
        int k = 0;
        while (speed >= model->node[k].iv + model->node[k].nv) k++;
        const lwi_node *node = &model->node[k];
        if (node->joint >= 0)
            effort[model->joint[node->joint].iv + node->column[speed - node->iv]] += s->missing[i];
    }
}

static void find_reactions(lw_inverse *s, double t, const double *q, const double *v,
                           const double *vdot)
{
    lw_constraints *c = s->at.manifold.constraints;
    static const lwi_auxiliary none = {.at_work = -1};
    memcpy(s->trial, s->inputs, (size_t)s->model->desc.ninput * sizeof *s->trial);
    for (int k = 0; k < s->m; k++) s->trial[s->input[k]] = s->u[k];
    lw_constraints_evaluate(c, t, q, v, s->at.manifold.phi, NULL, NULL, NULL);
    solve_multipliers(s);
    lwi_cut_loads(&c->cut, &c->tree, t, v, s->trial);
    apply_rotors(s, t, v, vdot);
    add_missing(s);
    lwi_cut_wrenches(&c->cut, &c->tree, s->lambda, c->tree.wrench);
    lwi_cut_state_observe(&c->cut, &none, &c->tree, t, NULL, v, vdot, LW_OBSERVE_REACTION,
                          &s->snapshot);
    if (s->at.manifold.m)
        lwi_cut_reactions_find(&s->reactions, &c->cut, &c->tree, &s->rows, s->lambda, &s->snapshot);
    lwi_observe_merged(s->model, LW_OBSERVE_REACTION, s->trial, &s->loads, &s->snapshot);
}

// ------------------------------------------------------------------------------------------- solve

static void report(lw_inverse *s, double t)
{
    lw_inverse_solution *const out = &s->solution;
    out->time = t;
    out->rank = s->actuators.rank;
    out->dof = s->f;
    out->actuators = s->m;
    out->condition = s->pivot;
    out->kind = out->residual > INFEASIBLE ? LW_INVERSE_INFEASIBLE
                : s->m > s->actuators.rank ? LW_INVERSE_MINIMUM_NORM
                                           : LW_INVERSE_UNIQUE;
    out->effort = s->u;
    out->redundant = s->redundant;
    out->missing = s->missing;
    out->required = s->need;
    out->tau = s->tau;
    out->coordinate = s->worst;
    out->reaction = (const double(*)[6])s->snapshot.reaction;
    out->reaction_undetermined = s->snapshot.undetermined;
}

static lw_status solve(lw_inverse *s, double t, const double *q, const double *v,
                       const double *vdot, double tolerance, lw_error *error)
{
    lwi_manifold *m = &s->at.manifold;
    const size_t n = (size_t)s->n;
    TRY(lwi_chosen_tangent(&s->at, t, q, error));
    TRY(check_motion(s, t, q, v, vdot, tolerance, error));
    TRY(lwi_manifold_force(m, q, v, s->part, error));
    for (size_t i = 0; i < n; i++) s->tau[i] = m->h[i] + lwi_dot(s->n, m->M + i * n, vdot);
    TRY(effects(s, t, q, v, error));
    factor_metric(s);
    solve_efforts(s);
    find_missing(s);
    find_reactions(s, t, q, v, vdot);
    report(s, t);
    return LW_OK;
}

static bool all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static lw_status check_arguments(const lw_inverse *s, double t, const double *q, const double *v,
                                 const double *vdot, lw_error *error)
{
    if (!s || !q || !v || !vdot)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "inverse dynamics: coordinates, speeds and accelerations are needed");
    if (isfinite(t) && all_finite(q, s->model->tree_nq) && all_finite(v, s->n) &&
        all_finite(vdot, s->n))
        return LW_OK;
    return lwi_fail(error, LW_ERR_NOT_FINITE, "inverse dynamics: the motion is not finite");
}

lw_status lw_inverse_solve(lw_inverse *inverse, double t, const double *q, const double *v,
                           const double *vdot, const lw_inverse_solution **solution,
                           lw_error *error)
{
    TRY(check_arguments(inverse, t, q, v, vdot, error));
    TRY(solve(inverse, t, q, v, vdot, LWI_CLOSURE_TOLERANCE, error));
    if (solution) *solution = &inverse->solution;
    return LW_OK;
}

lw_status lw_inverse_complete(lw_inverse *s, double t, double *q, double *v, double *vdot,
                              lw_error *error)
{
    TRY(check_arguments(s, t, q, v, vdot, error));
    lwi_manifold *m = &s->at.manifold;
    TRY(lwi_chosen_tangent(&s->at, t, q, error));
    TRY(lwi_manifold_close(m, q, error));
    TRY(lwi_manifold_tangent(m, q, error));
    for (int k = 0; k < s->f; k++) s->need[k] = v[m->independent[k]];
    lwi_manifold_speeds(m, q, s->need, v);
    TRY(lwi_manifold_force(m, q, v, s->part, error));
    for (int k = 0; k < s->f; k++) s->need[k] = vdot[m->independent[k]];
    memcpy(vdot, m->bias, (size_t)s->n * sizeof *vdot);
    for (int k = 0; k < s->f; k++)
        for (int i = 0; i < s->n; i++)
            vdot[i] += s->need[k] * m->B[(size_t)k * (size_t)s->n + (size_t)i];
    return LW_OK;
}

// ------------------------------------------------------------------------------ an observed motion

// Accelerations of the free speeds.
static void gather_accelerations(const lw_model *model, const lw_observation *o, const double *v,
                                 double *vdot)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double *const to = vdot + node->iv, R[9], c[3];
        for (int i = 0; node->joint >= 0 && i < node->nv; i++)
            to[i] = o->qdd[model->joint[node->joint].iv + node->column[i]];
        if (node->joint >= 0) continue;
        quat_matrix(R, o->quaternion[node->body]); // d/dt (R'v) = R'a - w x R'v
        m3_tmul_v(to, R, o->acceleration[node->body]);
        v3_cross(c, v + node->iv + 3, v + node->iv);
        v3_sub(to, to, c);
        v3_copy(to + 3, o->angular_acceleration[node->body]);
    }
}

lw_status lw_inverse_motion(lw_inverse *s, const lw_observation *motion,
                            const lw_inverse_solution **solution, lw_error *error)
{
    if (!s || !motion)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_inverse_motion: a motion is needed");
    if (motion->level < LW_OBSERVE_ACCELERATION)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_inverse_motion: the motion has no accelerations (level acceleration or "
                        "more)");
    lwi_tree_gather(s->model, motion->q, motion->qd, motion->position, motion->quaternion,
                    motion->velocity, motion->angular_velocity, s->q, s->v);
    gather_accelerations(s->model, motion, s->v, s->vdot);
    TRY(check_arguments(s, motion->time, s->q, s->v, s->vdot, error));
    TRY(lwi_chosen_tangent(&s->at, motion->time, s->q, error));
    TRY(check_motion(s, motion->time, s->q, s->v, s->vdot, 1e3 * LWI_CLOSURE_TOLERANCE, error));
    TRY(lw_inverse_complete(s, motion->time, s->q, s->v, s->vdot, error));
    return lw_inverse_solve(s, motion->time, s->q, s->v, s->vdot, solution, error);
}
