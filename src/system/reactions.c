// reactions.c -- accelerations and reactions of a mechanism at a motion.
//
//     M A = F + J' lambda,   J A = -gamma,   F = loads + m g - w x J w
//
// The same elimination as for velocities, with other right sides: the separate module for reaction forces
// that [chadaj2017] names in its discussion.  Rotors are bodies with one speed w each; a row of their joint's
// edge makes w equal to the speed of the coordinate; its multiplier is the effort -I w' and part of no
// reaction.
//
// Redundant rows leave lambda undetermined up to n with J' n = 0.  The smallest lambda is reported, and which
// components of reactions any n changes (min_norm.c).
#include "system/system.h"

#include "base/assert.h"

#include "base/linear.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// ------------------------------------------------------------------------------------ minimum norm

// The graph of the mechanism without the parts of split bodies.
static lw_status whole_graph(const lwi_system *s, lwi_arena *arena, lwi_plan_graph *graph)
{
    lwi_plan_edge *edge = LWI_PUSH(arena, lwi_plan_edge, s->nedge);
    const int whole = s->nbody - s->split.npart;
    if (!edge) return LW_ERR_MEMORY;
    for (int e = 0; e < s->nedge; e++) {
        edge[e] = s->plan.graph.edge[e];
        for (int i = 0; i < edge[e].n; i++)
            if (edge[e].body[i] >= whole)
                edge[e].body[i] = s->split.part[edge[e].body[i] - whole].body;
    }
    *graph = (lwi_plan_graph){.nbody = whole, .nedge = s->nedge, .edge = edge};
    return LW_OK;
}

// Systems with one plan have one: every use of it factors its rows.
static lw_status create_min_norm(lwi_system *s, lwi_arena *arena)
{
    lwi_shared *shared = s->common;
    if (shared && shared->min_norm) {
        s->min_norm = shared->min_norm;
        return LW_OK;
    }
    lwi_arena scratch;
    lwi_plan_graph graph;
    lwi_arena_init(&scratch, &arena->allocator);
    lw_status status = whole_graph(s, &scratch, &graph);
    if (status == LW_OK)
        status = lwi_min_norm_create(&graph, true, shared ? &shared->arena : arena, &s->min_norm);
    lwi_arena_free(&scratch);
    if (status == LW_OK && shared) shared->min_norm = s->min_norm;
    return status;
}

lw_status lwi_system_prepare_min_norm(lwi_system *s, lwi_arena *arena)
{
    if (!s->generic_R || (s->start_rank == s->nrow && s->generic_rank == s->nrow)) return LW_OK;
    return create_min_norm(s, arena);
}

// At the configuration of the generic ranks.
static void find_undetermined(lwi_system *s)
{
    const lw_model *model = s->model;
    memcpy(s->R, s->generic_R, (size_t)model->nbody * sizeof *s->R);
    memcpy(s->r, s->generic_r, (size_t)model->nbody * sizeof *s->r);
    if (model->nq) memcpy(s->q, s->generic_q, (size_t)model->nq * sizeof *s->q);
    lwi_system_rows(s, 0);
    lwi_system_find_undetermined(s);
    lwi_system_start(s);
}

lw_status lwi_system_prepare_reactions(lwi_system *s, lwi_arena *arena)
{
    lwi_shared *shared = s->common;
    const size_t njoint = (size_t)s->model->njoint;
    TRY(lwi_system_prepare_min_norm(s, arena));
    if (!s->min_norm) return LW_OK;
    if (shared && shared->undetermined) {
        memcpy(s->undetermined, shared->undetermined, njoint);
        return LW_OK;
    }
    find_undetermined(s);
    if (!shared) return LW_OK;
    shared->undetermined = lwi_arena_push(&shared->arena, njoint, 1);
    if (!shared->undetermined) return LW_ERR_MEMORY;
    memcpy(shared->undetermined, s->undetermined, njoint);
    return LW_OK;
}

static void put_edges(void *user, int first, int end)
{
    const lwi_system *s = user;
    const double(*J)[6] = lwi_elim_rows(s->elim);
    for (int e = first; e < end; e++)
        for (int i = 0; i < s->plan.graph.edge[e].n && s->plan.graph.edge[e].rows; i++)
            lwi_min_norm_put(s->min_norm, e, i, J + 6 * (s->plan.slot[e] + i));
}

bool lwi_system_factor_null(lwi_system *s)
{
    if (!s->min_norm) return false;
    lwi_min_norm_threads(s->min_norm, s->pool);
    lwi_pool_for(s->pool, s->nedge, put_edges, s);
    return lwi_min_norm_factor(s->min_norm);
}

void lwi_system_null(lwi_system *s, double *n)
{
    lwi_min_norm_null(s->min_norm, n);
}

void lwi_system_minimum_norm(lwi_system *s, double *lambda)
{
    if (!lwi_system_factor_null(s)) return;
    lwi_min_norm_wrenches(s->min_norm, lambda, s->y);
    lwi_min_norm_solve(s->min_norm, (const double(*)[6])s->y, lambda);
}

void lwi_system_find_undetermined(lwi_system *s)
{
    double *n = s->row[0];
    memset(s->undetermined, 0, (size_t)s->model->njoint * sizeof *s->undetermined);
    if (!lwi_system_factor_null(s)) return;
    bool unclear = true;
    for (int seed = 0; seed < LWI_MIN_NORM_PROBES && unclear; seed++) {
        for (int i = 0; i < s->nrow; i++) n[i] = 2 * lwi_system_pseudorandom(i, seed);
        lwi_system_null(s, n);
        unclear = false;
        for (int e = 0; e < s->nedge; e++) {
            const int j = s->edge_joint[e];
            double world[6], F[6];
            if (j < 0) continue;
            lwi_system_reaction(s, j, n, world);
            lwi_joint_to_axes(s->model, j, s->motion.R, world, F);
            unclear |= lwi_min_norm_mark(F, &s->undetermined[j]);
        }
    }
}

// ----------------------------------------------------------------------------------- accelerations

// The inputs at the current motion.
static void feed_back(lwi_system *s, double t)
{
    lwi_feedback *f = s->feedback;
    if (f->status != LW_OK) return;
    lwi_system_read_joints(s, t);
    lwi_system_observe(s, t, LW_OBSERVE_TWIST, f->motion);
    if (s->model->nstate)
        memcpy(f->motion->states, s->states->value,
               (size_t)s->model->nstate * sizeof *f->motion->states);
    f->status = f->apply(f->user);
}

void lwi_system_forces(lwi_system *s, double t, const double *inputs)
{
    if (s->feedback && s->feedback->apply) feed_back(s, t);
    const lwi_kin kin = {.R = s->motion.R,
                         .r = s->motion.r,
                         .v = s->motion.v,
                         .w = s->motion.w,
                         .q = s->q,
                         .qd = s->qd,
                         .mode = s->mode ? *s->mode : NULL,
                         .states = s->states};
    if (s->shares) {
        lwi_force_shares_apply(s->shares, &kin, t, inputs, &s->loads);
        return;
    }
    lwi_forces_apply(s->model, &kin, t, inputs, &s->loads);
    lwi_loads_to_carriers(s->model, &kin, &s->loads);
}

void lwi_system_signal_rates(void *at, const double *c, double *g)
{
    const lwi_signals_at *of = at;
    of->work->states = (lwi_states){.value = c, .rate = g};
    lwi_system_forces(of->system, of->t, of->inputs);
}

typedef struct gathering {
    lwi_system *s;
    double t;
    const lwi_loads *loads;
} gathering;

static bool transmits_effort(const lw_model *model, int j, const double *effort)
{
    const lwi_joint *joint = &model->joint[j];
    bool any = false;
    for (int k = 0; k < joint->type->nv; k++) any = any || effort[joint->iv + k] != 0;
    return any && !joint->merged;
}

// On the bodies of one thread; what its joints do to other bodies is dropped.
static void gather_part(void *user, int part)
{
    const gathering *of = user;
    lwi_system *s = of->s;
    const lwi_force_shares *shares = s->shares;
    for (int i = shares->first_body[part]; i < shares->first_body[part + 1]; i++)
        v6_copy(s->wrench[shares->body[i]], of->loads->wrench[shares->body[i]]);
    for (int i = shares->first_joint[part]; i < shares->first_joint[part + 1]; i++) {
        const int j = shares->joint[i];
        const lwi_joint *joint = &s->model->joint[j];
        const int body[2] = {joint->body1, joint->body2};
        double elsewhere[6] = {0}, *on[2];
        if (!transmits_effort(s->model, j, of->loads->effort)) continue;
        for (int k = 0; k < 2; k++)
            on[k] = shares->part[body[k]] == part ? s->wrench[body[k]] : elsewhere;
        lwi_joint_apply_effort_on(s->model, j, of->t, &s->motion, of->loads->effort + joint->iv,
                                  on);
    }
}

void lwi_system_gather(lwi_system *s, double t, const lwi_loads *loads)
{
    const lw_model *model = s->model;
    s->effort = loads->effort;
    if (s->shares) {
        gathering of = {.s = s, .t = t, .loads = loads};
        lwi_force_shares_run(s->shares, gather_part, &of);
        return;
    }
    memcpy(s->wrench, loads->wrench, (size_t)model->nbody * sizeof *s->wrench);
    for (int j = 0; j < model->njoint; j++)
        if (transmits_effort(model, j, loads->effort))
            lwi_joint_apply_effort(model, j, t, &s->motion, loads->effort + model->joint[j].iv,
                                   s->wrench);
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

typedef struct body_job {
    lwi_system *s;
    double (*f)[6];
} body_job;

static void body_forces(void *user, int first, int end)
{
    const body_job *of = user;
    for (int k = first; k < end; k++) body_force(of->s, k, of->f[k]);
}

void lwi_system_applied(lwi_system *s, double t, const lwi_loads *loads, double (*f)[6])
{
    LWI_ASSERT(loads->wrench && (s->model->nv == 0 || loads->effort));
    lwi_system_gather(s, t, loads);
    body_job of = {.s = s, .f = f};
    lwi_pool_for(s->pool, s->model->nnode, body_forces, &of);
    for (int i = 0; i < s->nrotor; i++)
        v6_zero(f[s->model->nnode + i]); // only joint rows act on rotors
}

static void put_right_sides(void *user, int first, int end)
{
    lwi_system *s = user;
    for (int i = first; i < end; i++) s->c[i] = -s->gamma[i];
}

static void take_accelerations(void *user, int first, int end)
{
    lwi_system *s = user;
    for (int k = first; k < end; k++) {
        const int b = s->model->node[k].body;
        v3_copy(s->a[b], s->x[k]);
        v3_copy(s->al[b], s->x[k] + 3);
    }
}

static lw_status solve_accelerations(lwi_system *s, double t, const lwi_loads *loads,
                                     lw_error *error)
{
    const lw_model *model = s->model;
    lwi_system_applied(s, t, loads, s->x);
    lwi_pool_for(s->pool, s->nrow, put_right_sides, s);
    lwi_system_solve(s);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        for (int i = 0; i < 6; i++)
            if (!isfinite(s->x[k][i]))
                return lwi_fail(error, LW_ERR_NOT_FINITE,
                                "body '%s', t = %.9g s: its acceleration is not a finite number",
                                model->body[b].name, t);
    }
    lwi_pool_for(s->pool, model->nnode, take_accelerations, s);
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
                                            lwi_tree_work *tree, const double *u, lw_error *error)
{
    lwi_system_tree_gammas(s, t, tree, u);
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
    double P = -lwi_dot(s->nrow, s->lambda, s->b);
    for (int j = 0; j < s->model->njoint; j++) P += lwi_system_mount_power(s, j, t, s->effort);
    return P;
}

// ----------------------------------------------------------------------------------------- observe

typedef struct observation {
    lwi_system *s;
    double t;
    lw_observe level;
    bool loops;
    const double *lambda;
    const unsigned char *undetermined;
    lwi_snapshot *m;
} observation;

static void observe_bodies(void *user, int first, int end)
{
    const observation *of = user;
    const lwi_system *s = of->s;
    lwi_snapshot *m = of->m;
    for (int k = first; k < end; k++) {
        const int b = s->model->node[k].body;
        v3_copy(m->r[b], s->r[b]);
        memcpy(m->R[b], s->R[b], sizeof m->R[b]);
        quat_from_matrix(m->quat[b], m->R[b]);
        if (of->level < LW_OBSERVE_TWIST) continue;
        v3_copy(m->v[b], s->v[b]);
        m3_tmul_v(m->w[b], s->R[b], s->w[b]);
    }
}

static void observe_motion(lwi_system *s, lw_observe level, lwi_snapshot *m)
{
    const lw_model *model = s->model;
    observation of = {.s = s, .level = level, .m = m};
    lwi_pool_for(s->pool, model->nnode, observe_bodies, &of);
    if (model->nq) memcpy(m->q, s->q, (size_t)model->nq * sizeof *m->q);
    if (level >= LW_OBSERVE_TWIST && model->nv)
        memcpy(m->qd, s->qd, (size_t)model->nv * sizeof *m->qd);
}

static void observe_body_accelerations(void *user, int first, int end)
{
    const observation *of = user;
    const lwi_system *s = of->s;
    for (int k = first; k < end; k++) {
        const int b = s->model->node[k].body;
        v3_copy(of->m->a[b], s->a[b]);
        m3_tmul_v(of->m->al[b], s->R[b], s->al[b]); // d/dt (R'w) = R' dw/dt
    }
}

static void observe_joint_accelerations(void *user, int first, int end)
{
    const observation *of = user;
    const lwi_system *s = of->s;
    const lw_model *model = s->model;
    for (int j = first; j < end; j++)
        if (!model->joint[j].merged && model->joint[j].type->nv &&
            !(of->loops && model->joint[j].node >= 0))
            lwi_joint_read_acceleration(model, j, of->t, &s->motion, (const double(*)[3])s->a,
                                        (const double(*)[3])s->al, of->m->qdd + model->joint[j].iv);
}

// qdd of all joints, or if `loops` of joints outside the tree.
static void observe_accelerations(lwi_system *s, double t, bool loops, lwi_snapshot *m)
{
    observation of = {.s = s, .t = t, .loops = loops, .m = m};
    lwi_pool_for(s->pool, s->model->nnode, observe_body_accelerations, &of);
    lwi_pool_for(s->pool, s->model->njoint, observe_joint_accelerations, &of);
}

static void put_joints(void *user, int first, int end)
{
    const observation *of = user;
    const lwi_system *s = of->s;
    for (int j = first; j < end; j++) {
        if (s->model->joint[j].merged) continue;
        const int e = s->joint_edge[j];
        LWI_ASSERT(e < s->nedge);
        v6_zero(of->m->reaction[j]);
        lwi_snapshot_set_undetermined(of->m, j, of->undetermined[j]);
        if (e >= 0) lwi_system_reaction(s, j, of->lambda, of->m->reaction[j]);
    }
}

void lwi_system_put_reactions(lwi_system *s, const double *lambda,
                              const unsigned char *undetermined, lwi_snapshot *m)
{
    observation of = {.s = s, .lambda = lambda, .undetermined = undetermined, .m = m};
    lwi_pool_for(s->pool, s->model->njoint, put_joints, &of);
}

static void observe_reactions(lwi_system *s, lwi_snapshot *m)
{
    double *lambda = s->row[0];
    if (s->nrow) memcpy(lambda, s->lambda, (size_t)s->nrow * sizeof *lambda);
    lwi_system_minimum_norm(s, lambda);
    lwi_system_put_reactions(s, lambda, s->undetermined, m);
}

void lwi_system_observe(lwi_system *s, double t, lw_observe level, lwi_snapshot *snapshot)
{
    snapshot->t = t;
    observe_motion(s, level, snapshot);
    if (level < LW_OBSERVE_ACCELERATION) return;
    observe_accelerations(s, t, false, snapshot);
    if (level >= LW_OBSERVE_REACTION) observe_reactions(s, snapshot);
}

void lwi_system_observe_tree(lwi_system *s, double t, lw_observe level, const lwi_tree_work *tree,
                             const double *udot, lwi_snapshot *snapshot)
{
    snapshot->t = t;
    observe_motion(s, level, snapshot);
    if (level < LW_OBSERVE_ACCELERATION) return;
    observe_accelerations(s, t, true, snapshot);
    lwi_system_tree_qdd(s, tree, udot, snapshot->qdd);
    if (level >= LW_OBSERVE_REACTION) observe_reactions(s, snapshot);
}
