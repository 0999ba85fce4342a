// reactions.c -- accelerations and reactions of a mechanism at a motion.
//
//     M A = F + J' lambda,   J A = -gamma,   F = loads + m g - w x J w
//
// The same elimination as for velocities, with other right sides: the separate module for reaction forces
// that [chadaj2017] names in its discussion.  Rotors are bodies with one speed w each; a row of their joint's
// edge makes w equal to the speed of the coordinate; its multiplier is the effort -I w' and part of no
// reaction.
//
// Redundant rows leave lambda undetermined up to n with J' n = 0.  The smallest lambda is reported: min
// |lambda - P z| over z, with the projector P = 1 - S^+ S onto the null space, S = J K J'.  S^+ is the vector
// pass of the elimination, so nothing of size rows x redundancies is formed; conjugate gradients on P' P end
// after as many steps as there are redundant rows at most, and mostly after a few.
#include "system/system.h"

#include "base/assert.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// ------------------------------------------------------------------------------------ null vectors

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// y := K J' n, [nbody]
static void response(lwi_system *s, double sign, const double *n)
{
    memset(s->y, 0, (size_t)s->nbody * sizeof *s->y);
    lwi_system_add_wrenches(s, sign, n, s->y);
    lwi_system_apply_metric(s, s->y);
}

// One pass leaves round-off times the condition of S; the second removes it, so that the sweeps need no
// refinement.
enum { PASSES = 2 };

void lwi_system_to_null(lwi_system *s, double *n)
{
    double *zero = s->row[0], *part = s->row[1];
    memset(zero, 0, (size_t)s->plan.nrow * sizeof *zero);
    for (int pass = 0; pass < PASSES; pass++) {
        response(s, -1, n);
        lwi_elim_solve(s->elim, s->y, zero, part, 0); // S^+ (0 + J K J' n)
        for (int i = 0; i < s->plan.nrow; i++) n[i] -= part[i];
    }
}

// y := P' y = y - S S^+ y
static void to_null_transposed(lwi_system *s, double *y)
{
    double *solution = s->row[1], *rate = s->row[0];
    for (int pass = 0; pass < PASSES; pass++) {
        memset(s->y, 0, (size_t)s->nbody * sizeof *s->y);
        lwi_elim_solve(s->elim, s->y, y, solution, 0);
        response(s, 1, solution);
        lwi_system_rates_of(s, (const double(*)[6])s->y, rate);
        for (int i = 0; i < s->plan.nrow; i++) y[i] -= rate[i];
    }
}

// Multipliers of links are no reactions.
static void clear_link_rows(const lwi_system *s, double *n)
{
    for (int i = s->nrow; i < s->plan.nrow; i++) n[i] = 0;
}

// Conjugate gradients for the normal equations P'P z = P' lambda: r = lambda - P z, g = P' r.  If bodies are
// split, |E (lambda - P z)| is minimised, E without the rows of links.
void lwi_system_minimum_norm(lwi_system *s, double *lambda)
{
    const int n = s->plan.nrow, redundant = n - lwi_elim_rank(s->elim);
    double *g = s->row[2], *p = s->row[3], *q = s->row[4];
    if (redundant <= 0) return;
    const double first = sqrt(dot(s->nrow, lambda, lambda));
    const double min_share =
        s->split.npart ? 1e-6 : 0.5; // multipliers of links may be a thousand times larger
    double square = 0;
    // at most one step for each redundant row in exact arithmetic; some more against round-off
    for (int i = 0; i < redundant + 3; i++) {
        memcpy(g, lambda, (size_t)n * sizeof *g);
        clear_link_rows(s, g);
        to_null_transposed(s, g);
        const double now = dot(n, g, g);
        if (!(sqrt(now) > 1e-14 * first)) return; // round-off
        for (int k = 0; k < n; k++) p[k] = i ? g[k] + now / square * p[k] : g[k];
        square = now;
        memcpy(q, p, (size_t)n * sizeof *q);
        lwi_system_to_null(s, q);
        // p is normal to the complement of P, hence |P p| >= |p|: less is a direction of round-off
        const double length = dot(s->nrow, q, q);
        if (!(length > min_share * dot(n, p, p))) return;
        for (int k = 0; k < n; k++) lambda[k] -= square / length * q[k];
    }
}

// ----------------------------------------------------------------------------------- accelerations

void lwi_system_forces(lwi_system *s, double t, const double *inputs)
{
    const lwi_kin kin = {.R = s->motion.R,
                         .r = s->motion.r,
                         .v = s->motion.v,
                         .w = s->motion.w,
                         .q = s->q,
                         .qd = s->qd,
                         .mode = s->mode ? *s->mode : NULL};
    lwi_forces_apply(s->model, &kin, t, inputs, &s->loads);
    lwi_loads_to_carriers(s->model, &kin, &s->loads);
}

void lwi_system_gather(lwi_system *s, double t, const lwi_loads *loads)
{
    const lw_model *model = s->model;
    memcpy(s->wrench, loads->wrench, (size_t)model->nbody * sizeof *s->wrench);
    s->effort = loads->effort;
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        bool any = false;
        for (int k = 0; k < joint->type->nv; k++) any = any || loads->effort[joint->iv + k] != 0;
        if (any && !joint->merged)
            lwi_joint_apply_effort(model, j, t, &s->motion, loads->effort + joint->iv, s->wrench);
    }
}

// f = wrench + m g, n = moment - w x J w of node k
static void body_force(const lwi_system *s, int k, double f[6])
{
    const int b = s->model->node[k].body;
    const lwi_body *body = &s->model->body[b];
    double w[3], Jw[3], n[3];
    v6_copy(f, s->wrench[b]);
    v3_axpy(f, body->mass, s->model->gravity);
    m3_tmul_v(w, s->R[b], s->w[b]);
    s3_mul_v(Jw, body->inertia, w);
    v3_cross(n, Jw, w);
    m3_mul_v(n, s->R[b], n);
    v3_add(f + 3, f + 3, n);
}

void lwi_system_applied(lwi_system *s, double t, const lwi_loads *loads, double (*f)[6])
{
    LWI_ASSERT(loads->wrench && (s->model->nv == 0 || loads->effort));
    lwi_system_gather(s, t, loads);
    for (int k = 0; k < s->model->nnode; k++) body_force(s, k, f[k]);
    for (int i = 0; i < s->nrotor; i++)
        v6_zero(f[s->model->nnode + i]); // only joint rows act on rotors
}

static lw_status solve_accelerations(lwi_system *s, double t, const lwi_loads *loads,
                                     lw_error *error)
{
    const lw_model *model = s->model;
    lwi_system_applied(s, t, loads, s->x);
    for (int i = 0; i < s->nrow; i++) s->c[i] = -s->gamma[i];
    lwi_system_solve(s);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        for (int i = 0; i < 6; i++)
            if (!isfinite(s->x[k][i]))
                return lwi_fail(error, LW_ERR_NOT_FINITE,
                                "body '%s', t = %.9g s: its acceleration is not a finite number",
                                model->body[b].name, t);
        v3_copy(s->a[b], s->x[k]);
        v3_copy(s->al[b], s->x[k] + 3);
    }
    return LW_OK;
}

lw_status lwi_system_accelerations(lwi_system *s, double t, const lwi_loads *loads, lw_error *error)
{
    lwi_system_rates(s, t);
    TRY(lwi_system_factor(s, t, error));
    return solve_accelerations(s, t, loads, error);
}

// "The additional cost is associated only with xi10, xi20" [chadaj2017, discussion].
lw_status lwi_system_accelerations_factored(lwi_system *s, double t, const lwi_loads *loads,
                                            lw_error *error)
{
    lwi_system_gammas(s, t);
    return solve_accelerations(s, t, loads, error);
}

// Across a moving mount an effort does work on the bodies beyond e qd.
double lwi_system_mount_power(lwi_system *s, int j, double t, const double *effort)
{
    const lwi_joint *joint = &s->model->joint[j];
    const int body[2] = {joint->body1, joint->body2};
    double P = 0, *wrench[2] = {s->wrench[body[0]], s->wrench[body[1]]};
    if (joint->merged || !joint->mount.present) return 0;
    v6_zero(wrench[0]), v6_zero(wrench[1]);
    lwi_joint_apply_effort(s->model, j, t, &s->motion, effort + joint->iv, s->wrench);
    for (int side = 0; side < 2; side++)
        if (body[side])
            P +=
                v3_dot(wrench[side], s->v[body[side]]) + v3_dot(wrench[side] + 3, s->w[body[side]]);
    for (int k = joint->iv; k < joint->iv + joint->type->nv; k++) P -= effort[k] * s->qd[k];
    return P;
}

// J V = -b: the rows give lambda.J V = -lambda.b.
double lwi_system_drive_power(lwi_system *s, double t)
{
    double P = -dot(s->nrow, s->lambda, s->b);
    for (int j = 0; j < s->model->njoint; j++) P += lwi_system_mount_power(s, j, t, s->effort);
    return P;
}

// ----------------------------------------------------------------------------------------- observe

static void observe_motion(const lwi_system *s, lw_observe level, lwi_snapshot *m)
{
    const lw_model *model = s->model;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        v3_copy(m->r[b], s->r[b]);
        memcpy(m->R[b], s->R[b], sizeof m->R[b]);
        quat_from_matrix(m->quat[b], m->R[b]);
        if (level < LW_OBSERVE_TWIST) continue;
        v3_copy(m->v[b], s->v[b]);
        m3_tmul_v(m->w[b], s->R[b], s->w[b]);
    }
    if (model->nq) memcpy(m->q, s->q, (size_t)model->nq * sizeof *m->q);
    if (level >= LW_OBSERVE_TWIST && model->nv)
        memcpy(m->qd, s->qd, (size_t)model->nv * sizeof *m->qd);
}

static void observe_accelerations(const lwi_system *s, double t, lwi_snapshot *m)
{
    const lw_model *model = s->model;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        v3_copy(m->a[b], s->a[b]);
        m3_tmul_v(m->al[b], s->R[b], s->al[b]); // d/dt (R'w) = R' dw/dt
    }
    for (int j = 0; j < model->njoint; j++)
        if (!model->joint[j].merged && model->joint[j].type->nv)
            lwi_joint_read_acceleration(model, j, t, &s->motion, (const double(*)[3])s->a,
                                        (const double(*)[3])s->al, m->qdd + model->joint[j].iv);
}

static void observe_reactions(lwi_system *s, double t, lwi_snapshot *m)
{
    double *lambda = s->row[5];
    if (s->nrow) memcpy(lambda, s->lambda, (size_t)s->plan.nrow * sizeof *lambda);
    lwi_system_minimum_norm(s, lambda);
    for (int j = 0; j < s->model->njoint; j++) {
        if (s->model->joint[j].merged) continue;
        const int e = s->joint_edge[j];
        lwi_closure closure;
        LWI_ASSERT(e < s->nedge);
        v6_zero(m->reaction[j]);
        m->unique[j] = s->unique[j];
        if (e < 0) continue;
        lwi_joint_closure(s->model, j, t, &s->motion, LWI_CLOSURE_POSITION, &closure);
        lwi_joint_reaction(s->model, j, &s->motion, &closure, lambda + s->plan.row[e],
                           m->reaction[j]);
    }
}

void lwi_system_observe(lwi_system *s, double t, lw_observe level, lwi_snapshot *snapshot)
{
    snapshot->t = t;
    observe_motion(s, level, snapshot);
    if (level < LW_OBSERVE_ACCELERATION) return;
    observe_accelerations(s, t, snapshot);
    if (level >= LW_OBSERVE_REACTION) observe_reactions(s, t, snapshot);
}
