// rattle.c -- formulation rattle: state, start, observation.  One step: step.c.
#include "methods/rattle/kernels.h"

#include "base/components.h"
#include "base/linear.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- accepts

static lw_status accepts(const lw_model *model, lw_error *why)
{
    TRY(lwi_system_accepts(model, why));
    for (int j = 0; j < model->njoint; j++)
        if (model->joint[j].nrotor && !model->joint[j].type->scalar)
            return lwi_fail(why, LW_ERR_UNSUPPORTED,
                            "formulation rattle: joint '%s' has a rotor, but its speeds are no "
                            "derivatives of coordinates",
                            model->joint[j].name);
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- prepare

static lw_status make_layout(lwi_work *work, lwi_rattle *d)
{
    const int nb = work->model->nnode,
              memory = LWI_RATTLE_REMAINDERS * nb + 4 * d->system.nrow + 6 * d->nmassless;
    TRY(lwi_auxiliary_layout(work->model, nb, LWI_MOMENTUM, &work->arena, &d->auxiliary,
                             &work->layout));
    d->at_momentum = 7 * nb;
    d->at_work = d->auxiliary.at_work;
    d->at_memory = lwi_layout_add(&work->layout, LWI_MEMORY, nb ? memory : 0);
    d->at_lambda = d->at_memory + LWI_RATTLE_REMAINDERS * nb;
    d->at_massless = d->at_lambda + 4 * d->system.nrow;
    lwi_states_layout(work->model, &work->layout);
    return LW_OK;
}

// Body of a row's wrench: a node, of parts that of the split body, or a rotor.
static int owner_of(const lwi_system *s, int body)
{
    const bool rotor = body >= s->model->nnode && body < s->model->nnode + s->nrotor;
    return rotor ? body : lwi_system_node_of(s, body);
}

static lw_status list_slots(lwi_rattle *d, lwi_arena *arena)
{
    const lwi_system *s = &d->system;
    const int n = s->model->nnode + s->nrotor;
    d->first = LWI_PUSH(arena, int, n + 1);
    d->slot = LWI_PUSH(arena, lwi_rattle_slot, s->plan.slot[s->nedge]);
    if (!d->first || !d->slot) return LW_ERR_MEMORY;
    for (int e = 0; e < s->nedge; e++)
        for (int i = 0; i < s->plan.graph.edge[e].n; i++)
            d->first[owner_of(s, s->plan.graph.edge[e].body[i]) + 1]++;
    for (int k = 0; k < n; k++) d->first[k + 1] += d->first[k];
    for (int e = 0; e < s->nedge; e++)
        for (int i = 0; i < s->plan.graph.edge[e].n; i++) {
            const int k = owner_of(s, s->plan.graph.edge[e].body[i]);
            d->slot[d->first[k]++] =
                (lwi_rattle_slot){s->plan.slot[e] + i, s->plan.row[e], s->plan.graph.edge[e].rows};
        }
    for (int k = n; k > 0; k--) d->first[k] = d->first[k - 1];
    d->first[0] = 0;
    return LW_OK;
}

// One body of every part that no joint holds to the ground.
static lw_status find_roots(lwi_rattle *d, lwi_arena *arena)
{
    const lwi_system *s = &d->system;
    const int n = s->model->nnode;
    int *joined = d->root = LWI_PUSH(arena, int, n);
    bool *held = LWI_PUSH(arena, bool, n);
    if (!joined || !held) return LW_ERR_MEMORY;
    for (int k = 0; k < n; k++) joined[k] = k;
    for (int e = 0; e < s->nedge; e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        const int first = lwi_component_of(joined, lwi_system_node_of(s, edge->body[0]));
        for (int i = 1; i < edge->n; i++)
            if (owner_of(s, edge->body[i]) < n)
                joined[lwi_component_of(joined, owner_of(s, edge->body[i]))] = first;
    }
    for (int e = 0; e < s->nedge; e++)
        if (s->plan.graph.edge[e].ground)
            held[lwi_component_of(joined, lwi_system_node_of(s, s->plan.graph.edge[e].body[0]))] =
                true;
    for (int k = 0; k < n; k++) joined[k] = lwi_component_of(joined, k);
    for (int k = n - 1; k >= 0; k--)
        if (held[joined[k]] && joined[k] != k) joined[k] = -1;
    for (int k = 0; k < n; k++)
        if (joined[k] == k && held[k]) joined[k] = -1;
    return LW_OK;
}

// Blocks of lanes are filled with bodies at rest.
static lw_status create_bodies(lwi_rattle *d, lwi_arena *arena)
{
    const lwi_system *s = &d->system;
    const int n = s->model->nnode, all = (n + LWI_LANES - 1) / LWI_LANES * LWI_LANES + 1;
    d->body = LWI_PUSH(arena, lwi_rattle_body, all);
    if (!d->body) return LW_ERR_MEMORY;
    for (int k = 0; k < all; k++) {
        const lwi_body *from = k < n ? &s->model->body[s->model->node[k].body] : NULL;
        lwi_rattle_body *p = &d->body[k];
        *p = (lwi_rattle_body){.mass = 1, .J = {1, 1, 1}, .mobility = {1, 1, 1}, .quat = {1}};
        m3_identity(p->R), m3_identity(p->R1);
        if (!from) continue;
        if (d->nmassless && d->massless_of[k] >= 0) continue;
        p->mass = from->mass;
        v6_copy(p->J, from->inertia);
        v6_copy(p->mobility, s->mobility[k]);
    }
    return LW_OK;
}

// Vectors of all loads, as many for GMRES as fit into this memory [bytes].
#define KRYLOV_MEMORY 3e7

static lw_status create_loads(lwi_rattle *d, lwi_arena *arena)
{
    const size_t n = 6 * (size_t)d->system.model->nnode;
    if (!d->dissipates || n == 0) return LW_OK;
    d->nkrylov = (int)fmax(8, fmin(LWI_RATTLE_KRYLOV, KRYLOV_MEMORY / (8 * (double)n)));
    double **const vector[] = {&d->loads, &d->gap, &d->change, &d->trial, &d->answer};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i] = lwi_arena_push(arena, n, sizeof(double)))) return LW_ERR_MEMORY;
    d->krylov = lwi_arena_push(arena, ((size_t)d->nkrylov + 1) * n, sizeof(double));
    return d->krylov ? LW_OK : LW_ERR_MEMORY;
}

static lw_status create_arrays(lwi_work *work, lwi_rattle *d)
{
    const lw_model *model = work->model;
    const lwi_system *s = &d->system;
    lwi_arena *arena = &work->arena;
    const int slots = s->plan.slot[s->plan.graph.nedge];
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    GET(d->joint, s->nedge + LWI_LANES * LW_JOINT_COUNT);
    GET(d->edge, s->nedge);
    GET(d->impulse, model->nnode);
    GET(d->lambda, s->nrow);
    GET(d->mu, s->nrow);
    GET(d->before, 2 * s->nrow);
    GET(d->b0, s->nrow);
    GET(d->speed, model->nv);
    GET(d->inputs, model->desc.ninput);
    GET(d->J0, 6 * slots);
    GET(d->dropped, s->plan.nrow);
    GET(d->eps, s->plan.nrow);
    GET(d->at, 7 * model->nnode);
#undef GET
    TRY(create_bodies(d, arena));
    TRY(create_loads(d, arena));
    TRY(list_slots(d, arena));
    return find_roots(d, arena);
}

static bool dissipates(const lw_model *model)
{
    for (int i = 0; i < model->nforce; i++)
        if (lwi_force_dissipates(model->force[i].type, model->force[i].par)) return true;
    return false;
}

static lw_status check_order(lwi_work *work, const lwi_rattle *d)
{
    if (d->order == 2 || !d->dissipates) return LW_OK;
    return lwi_fail(&work->error, LW_ERR_UNSUPPORTED,
                    "order: %d, but the model has forces that are not conservative, and steps of "
                    "this order go backwards in part; expected 2",
                    d->order);
}

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    lwi_rattle *d = LWI_PUSH(arena, lwi_rattle, 1);
    if (!d) return LW_ERR_MEMORY;
    work->data = d;
    work->fixed_step = true;
    lwi_system *s = &d->system;
    TRY(lwi_system_prepare(work, s));
    TRY(lwi_rattle_list_massless(d, arena));
    TRY(lwi_elim_unsymmetric(s->elim, arena));
    d->order = work->options && work->options->order ? (int)work->options->order : 2;
    d->dissipates = dissipates(model);
    d->coordinates = lwi_system_needs_coordinates(model);
    TRY(check_order(work, d));
    TRY(lwi_auxiliary_list(model, true, arena, &d->auxiliary));
    TRY(create_arrays(work, d));
    TRY(lwi_signal_steps_create(model, arena, &d->signals));
    lwi_rattle_choose_kernels(d, 0);
    s->feedback = &work->feedback;
    return make_layout(work, d);
}

static void release(lwi_work *work)
{
    lwi_rattle *d = work->data;
    if (d) lwi_pool_destroy(d->system.pool);
}

// ------------------------------------------------------------------------------------------- start

// Momenta of the motion of the system, in its world axes.
static void put_momenta(const lwi_system *s, double (*x)[6])
{
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double J[6];
        s3_rotate(J, s->R[b], s->model->body[b].inertia);
        v3_scale(x[k], s->model->body[b].mass, s->v[b]);
        s3_mul_v(x[k] + 3, J, s->w[b]);
    }
}

// Puts velocities on the rows by impulses: the change of minimum kinetic energy.
static lw_status project_start(lwi_rattle *d, double t, lw_error *error)
{
    lwi_system *s = &d->system;
    lwi_system_rows(s, t);
    TRY(lwi_system_factor(s, t, error));
    for (int pass = 0; pass < 2; pass++) {
        put_momenta(s, s->x);
        for (int i = 0; i < s->nrotor; i++) { // a rotor moves with its joint
            const lwi_joint *joint = &s->model->joint[s->rotor[i].joint];
            double *x = s->x[s->model->nnode + i];
            v6_zero(x);
            for (int k = 0; k < 3; k++) {
                const int of = s->rotor[i].first + k;
                if (joint->rotor[of] > 0) x[3 + k] = joint->rotor[of] * s->qd[joint->iv + of];
            }
        }
        for (int i = 0; i < s->nrow; i++) s->c[i] = -s->b[i];
        for (int i = s->nrow; i < s->plan.nrow; i++) s->c[i] = 0;
        lwi_system_solve(s);
        for (int k = 0; k < s->model->nnode; k++) {
            const int b = s->model->node[k].body;
            v3_copy(s->v[b], s->x[k]);
            v3_copy(s->w[b], s->x[k] + 3);
        }
        lwi_system_place_merged(s);
        lwi_system_read_joints(s, t);
    }
    return LW_OK;
}

// Multipliers from which the first step starts: those of the accelerations; the result does not depend on them.
static void guess_multipliers(lwi_rattle *d, double t, double *lambda)
{
    lwi_system *s = &d->system;
    lw_error ignored;
    lwi_system_forces(s, t, d->inputs);
    const bool found = lwi_system_accelerations(s, t, &s->loads, &ignored) == LW_OK;
    for (int i = 0; i < s->nrow; i++) lambda[i] = found ? s->lambda[i] : 0;
}

static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    lwi_rattle *d = work->data;
    lwi_system *s = &d->system;
    d->factored = false;
    lwi_states_enter(work, snapshot, x);
    lwi_states_set(work, x, NULL);
    lwi_system_from_snapshot(s, snapshot);
    lwi_auxiliary_store(s->model, &d->auxiliary, snapshot->q, x);
    lwi_system_read_joints(s, snapshot->t);
    TRY(project_start(d, snapshot->t, &work->error));
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double *pose = x + 7 * k, *u = x + d->at_momentum + 6 * k, w[3];
        double *left = x + d->at_memory + LWI_RATTLE_REMAINDERS * k;
        v3_copy(pose, snapshot->r[b]);
        memcpy(pose + 3, snapshot->quat[b], sizeof snapshot->quat[b]);
        v3_scale(u, s->model->body[b].mass, s->v[b]);
        m3_tmul_v(w, s->R[b], s->w[b]);
        s3_mul_v(u + 3, s->model->body[b].inertia, w);
        memset(left, 0, LWI_RATTLE_REMAINDERS * sizeof *left);
    }
    for (int i = 0; i < d->nmassless; i++) {
        const int b = s->model->node[d->massless[i].node].body;
        v3_copy(d->massless[i].v, s->v[b]);
        v3_copy(d->massless[i].w, s->w[b]);
    }
    lwi_rattle_store_massless(d, x + d->at_massless);
    if (d->at_work >= 0) x[d->at_work] = snapshot->work;
    guess_multipliers(d, snapshot->t, x + d->at_lambda);
    for (int i = s->nrow; i < 4 * s->nrow; i++) x[d->at_lambda + i] = x[d->at_lambda + i - s->nrow];
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- observe

// Accelerations and reactions are those of the motion; close to a singular position rows may become inactive here, which
// a step does not allow.
static lw_status accelerate(lwi_rattle *d, double t, const double *inputs, lw_error *error)
{
    lwi_system *s = &d->system;
    d->factored = false;
    s->inactive_evaluations = 0;
    lwi_elim_allow_inactive(s->elim, true);
    lwi_system_forces(s, t, inputs);
    const lw_status status = lwi_system_accelerations(s, t, &s->loads, error);
    lwi_elim_allow_inactive(s->elim, false);
    return status;
}

// Rows of the state itself, with its remainders, at positions less the origins: residuals of poses that have been rounded
// are those of the rounding.
static void put_rows(lwi_rattle *d, double t)
{
    lwi_system *s = &d->system;
    for (int k = 0; k < s->model->nnode; k++) lwi_rattle_put_rotation(&d->body[k], false);
    lwi_rattle_place(d, true);
    lwi_system_rows(s, t);
    for (int e = 0; e < s->nedge; e++)
        for (int i = 0; i < s->plan.graph.edge[e].n; i++) {
            const int k = owner_of(s, s->plan.graph.edge[e].body[i]);
            const double(*J)[6] = lwi_elim_rows(s->elim) + 6 * (s->plan.slot[e] + i);
            for (int r = 0; r < s->plan.graph.edge[e].rows && k < s->model->nnode; r++)
                s->phi[s->plan.row[e] + r] += v6_dot(J[r], d->body[k].off);
        }
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    lwi_rattle *d = work->data;
    lwi_system *s = &d->system;
    lwi_rattle_load(d, t, x);
    lwi_states_observe(work, x, snapshot);
    lwi_system_read_joints(s, t);
    snapshot->work = d->at_work >= 0 ? x[d->at_work] : 0;
    if (level >= LW_OBSERVE_ACCELERATION) TRY(accelerate(d, t, inputs, &work->error));
    lwi_system_observe(s, t, level, snapshot);
    d->has_rows = level >= LW_OBSERVE_ENERGY;
    if (d->has_rows) put_rows(d, t);
    return LW_OK;
}

// Those of the last observation.
static bool residuals(const lwi_work *work, lw_observe level, double largest[3])
{
    const lwi_rattle *d = work->data;
    if (!d->has_rows) return false;
    lwi_system_residuals(&d->system, level, largest);
    return true;
}

static bool has_friction(const lw_model *model)
{
    for (int i = 0; i < model->nforce; i++)
        if (model->force[i].type == &lwi_force_joint_friction) return true;
    return false;
}

// Forces that jump: the order is one there, and nothing is kept.
static void about(const lwi_work *work, char *text, size_t size)
{
    const lw_model *model = work->model;
    const bool stops = model->nmode > 0, friction = has_friction(model);
    text[0] = 0;
    if (!stops && !friction) return;
    snprintf(
        text, size,
        "rattle: the model has %s with forces that jump: steps are of order one there, and the "
        "energy is not kept",
        !friction ? "stops"
        : stops   ? "stops and dry friction"
                  : "dry friction");
}

static void report(const lwi_work *work, char *text, size_t size)
{
    const lwi_rattle *d = work->data;
    const lwi_rattle_counts *n = &d->counts;
    text[0] = 0;
    if (!n->steps || !d->system.nrow) return;
    const int used =
        snprintf(text, size, "rattle: %.1f iterations a step, %.2g matrices of Newton",
                 (double)n->iterations / (double)n->steps, (double)n->full / (double)n->steps);
    if (n->stiff && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "; stiff damping in %ld of %ld steps", n->stiff,
                 n->steps);
}

const lwi_formulation lwi_formulation_rattle = {
    .name = "rattle",
    .summary =
        "symplectic steps of equal length for long motions: energy without drift, constraints "
        "at round-off; order 2, 4, 6 or 8; loops, redundant constraints",
    .cite = "reich1996",
    .flags = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_CAN_ROTORS | LWI_HAS_MOMENTA | LWI_HAS_PLAN |
             LWI_HAS_THREADS | LWI_PROJECTS,
    .accepts = accepts,
    .integrator = "rattle",
    .prepare = prepare,
    .enter = enter,
    .step = lwi_rattle_step,
    .observe = observe,
    .residuals = residuals,
    .about = about,
    .report = report,
    .release = release,
};
