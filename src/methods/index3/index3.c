// index3.c -- index-3 formulation: state, start, observation.  One step: step.c.
#include "methods/index3/lanes.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- prepare

static lw_status make_layout(lwi_work *work, lwi_index3 *d)
{
    const int nb = work->model->nnode;
    lwi_layout *layout = &work->layout;
    TRY(lwi_auxiliary_layout(work->model, nb, LWI_SPEED, &work->arena, &d->auxiliary, layout));
    d->at_speed = 7 * nb;
    d->at_work = d->auxiliary.at_work;
    if (d->at_work >= 0) layout->nx++; // power, memory
    d->nmemory = d->method.coordinates == 7 ? 12 : 6;
    const bool output = work->own_output;
    const int memory = d->nmemory * nb + (output ? 2 : 1) * d->system.nrow;
    d->at_acceleration = lwi_layout_add(layout, LWI_MEMORY, memory);
    d->at_lambda = d->at_acceleration + d->nmemory * nb;
    d->at_output = output ? d->at_lambda + d->system.nrow : -1;
    lwi_states_layout(work->model, layout);
    return LW_OK;
}

// The system of the step, with couplers as edges, and that of observations.
static lw_status create_systems(lwi_work *work, lwi_index3 *d, lw_plan plan)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    const bool extensions = d->method.coordinates == 7;
    d->nrotor = model->nrotor;
    d->system.model = model;
    TRY(lwi_index3_sort_forces(d, arena));
    const int limit = extensions ? LWI_EDGE_BODIES / 2 : LWI_EDGE_BODIES;
    const int n = d->ncoupler = lwi_index3_couplers(d, limit, NULL) + d->nrotor;
    d->plain = n || extensions ? &d->own : &d->system;
    TRY(lwi_system_create_shared(model, plan, true, work->shared, arena, d->plain));
    TRY(lwi_system_prepare_reactions(d->plain, arena));
    d->plain->mode = &work->mode;
    d->plain->states = &work->states;
    d->first_compliance = d->plain->nrow;
    if (d->plain == &d->system) {
        d->system.feedback = &work->feedback;
        return LW_OK;
    }
    d->coupler = LWI_PUSH(arena, lwi_index3_coupler, n);
    d->ends = LWI_PUSH(arena, lwi_system_extra, n);
    if (!d->coupler || !d->ends) return LW_ERR_MEMORY;
    lwi_index3_couplers(d, limit, d->coupler);
    lwi_index3_rotors(model, d->coupler + n - d->nrotor);
    for (int i = 0; i < n; i++) {
        lwi_index3_coupler *c = &d->coupler[i];
        lwi_system_extra *edge = &d->ends[i];
        if (c->n == 0) c->n = 2;
        *edge = (lwi_system_extra){.rows = c->rows, .ground = c->ground};
        for (int k = 0; k < c->n; k++) {
            if (c->body[k])
                edge->body[edge->n++] = c->body[k];
            else
                edge->ground = true;
        }
    }
    TRY(lwi_system_create_extra(model, plan, n, d->ends, extensions, arena, &d->system));
    d->first_compliance = d->system.plan.row[d->system.nedge - n];
    LWI_ASSERT(d->first_compliance == d->plain->nrow || d->nrotor > 0 || extensions);
    d->system.mode = &work->mode;
    d->system.states = &work->states;
    d->system.feedback = &work->feedback;
    return LW_OK;
}

// Rotations of a body are compared with displacements at its joints; at least at its radius of gyration.
static void find_reach(lwi_index3 *d)
{
    const lw_model *model = d->system.model;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_body *body = &model->body[model->node[k].body];
        const double *J = body->inertia;
        if (body->mass > 0) d->reach[k] = sqrt(0.5 * (J[0] + J[1] + J[2]) / body->mass);
    }
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        const int body[2] = {joint->body1, joint->body2};
        for (int side = 0; side < 2; side++) {
            if (joint->merged || !body[side]) continue;
            double *reach = &d->reach[model->body_node[body[side]]];
            *reach = fmax(*reach, v3_norm(side ? joint->r2 : joint->r1));
        }
    }
    for (int k = 0; k < model->nnode; k++)
        if (!(d->reach[k] > 0)) d->reach[k] = d->system.length; // without inertia, axes meet in it
}

// Memory of the step.
static lw_status create_arrays(lwi_work *work, lwi_index3 *d)
{
    const lw_model *model = work->model;
    const lwi_system *s = &d->system;
    lwi_arena *arena = &work->arena;
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    GET(d->body, model->nnode);
    GET(d->stiffness, model->nnode);
    GET(d->leaf, model->nnode);
    GET(d->force, model->nnode);
    GET(d->velocity, s->nbody);
    GET(d->speed, s->plan.nrow);
    GET(d->impulse, s->plan.nrow);
    GET(d->lambda, s->nrow);
    GET(d->eps, s->plan.nrow);
    GET(d->row, s->plan.nrow);
    GET(d->compliance, s->nrow - d->first_compliance);
    GET(d->points, s->nedge);
    GET(d->inputs, model->desc.ninput);
    GET(d->reach, model->nnode);
#undef GET
    find_reach(d);
    TRY(lwi_index3_borrowed_create(d, arena));
    return s->extensions ? lwi_index3_euler_create(d, arena) : LW_OK;
}

// Other threads only for a step that is long enough to be shared.
static lw_status create_threads(lwi_work *work, lwi_index3 *d, int count)
{
    lwi_arena *arena = &work->arena;
    const bool lanes = d->lanes && d->lanes->parts > 1;
    if (count < 2 || !(lanes || lwi_elim_worth_threads(d->system.elim))) return LW_OK;
    TRY(lwi_pool_create(count, &arena->allocator, &d->pool, &work->error));
    work->threads = d->pool != NULL;
    if (d->lanes) d->lanes->pool = d->pool;
    if (d->lanes && d->pool) lwi_barrier_init(d->pool, &d->lanes->barrier);
    return lwi_system_threads(&d->system, d->pool, arena);
}

// A body without inertia has none along its Euler parameters either.
static lw_status check_coordinates(lwi_work *work, const lwi_index3 *d)
{
    const lwi_transfer *f = d->plain->transfer;
    if (!d->system.extensions || !f) return LW_OK;
    return lwi_fail(
        &work->error, LW_ERR_UNSUPPORTED,
        "formulation index3: body '%s' has no inertia in some direction, or a millionth "
        "of its neighbour's, which coordinates=7 does not support; use coordinates=6",
        work->model->body[work->model->node[lwi_system_node_of(d->plain, f->body[0].body)].body]
            .name);
}

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    lwi_index3 *d = LWI_PUSH(arena, lwi_index3, 1);
    if (!d) return LW_ERR_MEMORY;
    work->data = d;
    d->method = lwi_index3_options_resolve(work->options ? &work->options->index3 : NULL);
    work->fixed_cost = d->method.mode == LW_INDEX3_MODE_REAL_TIME;
    work->own_output = d->method.output != LW_INDEX3_OUTPUT_MOTION;
    const bool step_given = work->options && work->options->step > 0;
    work->controls =
        !work->fixed_cost && d->method.control != LW_INDEX3_CONTROL_EQUAL &&
        (d->method.control == LW_INDEX3_CONTROL_ERROR || (work->options && !step_given));
    d->controls = work->controls;
    const lw_plan plan = work->options ? work->options->plan : LW_PLAN_AUTO;
    lwi_system *s = &d->system;
    TRY(create_systems(work, d, plan));
    TRY(check_coordinates(work, d));
    if (d->method.tangent > 1) TRY(lwi_elim_unsymmetric(s->elim, arena));
    TRY(create_arrays(work, d));
    TRY(lwi_index3_find_relative(d, arena));
    TRY(lwi_auxiliary_list(model, true, arena, &d->auxiliary));
    d->coordinates = lwi_system_needs_coordinates(model);
    d->mass = INFINITY;
    for (int k = 0; k < model->nnode; k++) d->mass = fmin(d->mass, lwi_index3_body_mass(d, k));
    for (int e = 0; e < s->nedge; e++)
        d->points[e] = s->edge_joint[e] >= 0 && model->joint[s->edge_joint[e]].type->points;
    TRY(make_layout(work, d));
    TRY(lwi_signal_steps_create(model, arena, &d->signals));
    for (int i = 0; i < model->nforce; i++)
        d->efforts |= (model->force[i].type->needs & LWI_NEEDS_JOINT) != 0;
    // the first iteration with dry friction only finds the point on the friction law; in steps as short as
    // those across a stop its increments are below any tolerance
    for (int i = 0; i < d->ncoupler; i++)
        if (d->coupler[i].dry && work->controls) d->min_iterations = 2;
    const int count = work->options && work->options->threads ? (int)work->options->threads : 1;
    if (d->signals.n == 0) TRY(lwi_index3_lanes_create(d, count, arena));
    return create_threads(work, d, count);
}

static void release(lwi_work *work)
{
    lwi_index3 *d = work->data;
    if (d) lwi_pool_destroy(d->pool);
}

// ------------------------------------------------------------------------------------------ state

void lwi_index3_read(const lwi_index3 *d, lwi_system *s, const double *x)
{
    LWI_ASSERT(d->at_speed == 7 * s->model->nnode);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        const double *pose = x + 7 * k, *u = x + d->at_speed + 6 * k;
        v3_copy(s->r[b], pose);
        quat_matrix(s->R[b], pose + 3);
        v3_copy(s->v[b], u);
        m3_mul_v(s->w[b], s->R[b], u + 3);
    }
    lwi_system_place_merged(s);
    lwi_auxiliary_load(s->model, &d->auxiliary, x, s->q);
}

// Regularised multipliers are off by a relative eps; each repetition with the remainder reduces that by the
// factor eps: the augmented Lagrangian iteration of step 1 of the listing in [malczyk2019].
enum { REPETITIONS = 3 };

lw_status lwi_index3_accelerations(lwi_index3 *d, double t, const double *inputs, lw_error *error)
{
    lwi_system *s = &d->system;
    const int n = s->model->nnode;
    double *sum = d->row;
    lwi_system_forces(s, t, inputs);
    lwi_system_rates(s, t);
    if (d->euler) lwi_index3_euler_rows(d);
    lwi_index3_no_force_rows(d);
    lwi_index3_rotor_start(d, t);
    lwi_system_masses(s);
    if (s->transfer && s->transfer->loose >= 0)
        return lwi_transfer_fails(s, t, LW_ERR_SINGULAR, error);
    if (s->nrow) {
        lwi_index3_regularise(d, 1);
        const lw_status status = lwi_elim_factor(s->elim, d->eps);
        if (status != LW_OK) return lwi_system_fails(s, t, status, error);
    }
    lwi_system_applied(s, t, &s->loads, d->force);
    memcpy(s->x, d->force, (size_t)n * sizeof *s->x);
    for (int k = n; k < s->nbody; k++) v6_zero(s->x[k]);
    lwi_system_share(s, true, s->x);
    for (int i = 0; i < s->nrow; i++) s->c[i] = -s->gamma[i], sum[i] = 0;
    if (s->transfer) lwi_transfer_load(s, 1, NULL, s->c, s->x);
    lwi_system_apply_metric(s, s->x);
    // J x = c - eps (lambda - previous lambda): multipliers converge to those of eps = 0
    for (int pass = 0; pass < REPETITIONS && s->nrow; pass++) {
        lwi_index3_rotor_targets(d, sum);
        lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
        for (int i = 0; i < s->nrow; i++) sum[i] += s->lambda[i];
    }
    if (s->nrow) memcpy(s->lambda, sum, (size_t)s->nrow * sizeof *sum);
    if (s->transfer) lwi_transfer_multipliers(s, 1, NULL, (const double(*)[6])s->x, s->lambda);
    for (int k = 0; k < n; k++) {
        const int b = s->model->node[k].body;
        for (int i = 0; i < 6; i++)
            if (!isfinite(s->x[k][i]))
                return lwi_fail(error, LW_ERR_NOT_FINITE,
                                "body '%s', t = %.9g s: its acceleration is not a finite number",
                                s->model->body[b].name, t);
        v3_copy(s->a[b], s->x[k]);
        v3_copy(s->al[b], s->x[k] + 3);
    }
    return LW_OK;
}

// Accelerations and multipliers at the motion of the system, from the index-1 equations [malczyk2019, (9)].
static lw_status put_accelerations(lwi_work *work, double t, const double *inputs, double *x)
{
    lwi_index3 *d = work->data;
    lwi_system *s = &d->system;
    TRY(lwi_index3_accelerations(d, t, inputs, &work->error));
    lwi_index3_multipliers_to_world(d, s->lambda, d->lambda);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double *a = x + d->at_acceleration + d->nmemory * k;
        v3_copy(a, s->a[b]);
        m3_tmul_v(a + 3, s->R[b], s->al[b]);
    }
    if (d->euler) lwi_index3_euler_enter(d, x);
    if (s->nrow) memcpy(x + d->at_lambda, d->lambda, (size_t)s->nrow * sizeof *x);
    if (s->nrow && d->at_output >= 0)
        memcpy(x + d->at_output, d->lambda, (size_t)s->nrow * sizeof *x);
    if (d->at_work >= 0) x[d->at_work + 1] = s->loads.power + lwi_system_drive_power(s, t);
    return LW_OK;
}

static lw_status refresh(lwi_work *work, double t, double *x, const double *inputs)
{
    lwi_index3 *d = work->data;
    lwi_states_set(work, x, NULL);
    lwi_index3_read(d, &d->system, x);
    lwi_system_read_joints(&d->system, t);
    return put_accelerations(work, t, inputs, x);
}

// State of a snapshot.
static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    lwi_index3 *d = work->data;
    lwi_system *s = &d->system;
    lwi_states_enter(work, snapshot, x);
    lwi_states_set(work, x, NULL);
    lwi_system_from_snapshot(s, snapshot);
    lwi_auxiliary_store(s->model, &d->auxiliary, snapshot->q, x);
    lwi_system_read_joints(s, snapshot->t);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double *pose = x + 7 * k, *u = x + d->at_speed + 6 * k;
        v3_copy(pose, snapshot->r[b]);
        memcpy(pose + 3, snapshot->quat[b], sizeof snapshot->quat[b]);
        v3_copy(u, snapshot->v[b]);
        v3_copy(u + 3, snapshot->w[b]);
    }
    if (d->at_work >= 0) x[d->at_work] = snapshot->work;
    return put_accelerations(work, snapshot->t, d->inputs, x);
}

// ---------------------------------------------------------------------------------------- messages

void lwi_index3_worst(const lwi_index3 *d, int *node, int *edge)
{
    const lwi_system *s = &d->system;
    double largest = 0, off = 0;
    if (d->in_lanes) lwi_index3_lanes_export(d);
    *node = 0, *edge = s->nedge > d->ncoupler ? 0 : -1;
    for (int k = 0; k < s->model->nnode; k++) {
        const double size = v3_norm(s->x[k]) + d->reach[k] * v3_norm(s->x[k] + 3);
        if (size <= largest) continue;
        *node = k, largest = size;
        if (isnan(size)) break;
    }
    for (int e = 0; e < s->nedge - d->ncoupler; e++)
        for (int i = s->plan.row[e]; i < s->plan.row[e] + s->plan.graph.edge[e].rows; i++)
            if (!(fabs(s->phi[i]) <= off)) *edge = e, off = fabs(s->phi[i]);
}

void lwi_index3_describe_worst(const lwi_index3 *d, int node, int edge, char *text, size_t size)
{
    LWI_ASSERT_INDEX(node, d->system.model->nnode);
    LWI_ASSERT(edge < d->system.nedge);
    const lwi_system *s = &d->system;
    char which[200];
    const int n = snprintf(text, size, "body '%.60s' has the largest increment",
                           s->model->body[s->model->node[node].body].name);
    if (edge < 0 || n < 0 || (size_t)n >= size) return;
    lwi_system_edge_name(s, edge, which, sizeof which);
    snprintf(text + n, size - (size_t)n, ", %s the largest residual", which);
}

// ----------------------------------------------------------------------------------------- observe

// Accelerations and reactions that the step ended with, at the motion of x.
static void observe_step(lwi_index3 *d, double t, const double *x, lw_observe level,
                         lwi_snapshot *snapshot)
{
    lwi_system *s = &d->system;
    lwi_system_rows(s, t);
    lwi_index3_multipliers_from_world(d, x + d->at_output, s->lambda);
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double al[3];
        lwi_index3_acceleration_of(d, x, k, s->a[b], al);
        m3_mul_v(s->al[b], s->R[b], al);
    }
    lwi_system_observe(s, t, LW_OBSERVE_ACCELERATION, snapshot);
    if (level >= LW_OBSERVE_REACTION)
        lwi_system_put_reactions(s, s->lambda, d->plain->undetermined, snapshot);
}

// With output=motion reactions depend on the motion, not on the history of the step: an index-1 solution, of
// minimum norm if they are not unique; at singular positions the regularised one.
static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    lwi_index3 *d = work->data;
    const bool own = work->own_output && level >= LW_OBSERVE_ACCELERATION;
    lwi_system *s = own ? &d->system : d->plain;
    lwi_index3_read(d, s, x);
    lwi_states_observe(work, x, snapshot);
    lwi_system_read_joints(s, t);
    snapshot->work = d->at_work >= 0 ? x[d->at_work] : 0;
    if (own) {
        observe_step(d, t, x, level, snapshot);
        return LW_OK;
    }
    if (level >= LW_OBSERVE_ACCELERATION) {
        lw_error ignored;
        lwi_system_forces(s, t, inputs);
        if (lwi_system_accelerations(s, t, &s->loads, &ignored) != LW_OK) {
            s = &d->system;
            lwi_index3_read(d, s, x);
            lwi_system_read_joints(s, t);
            TRY(lwi_index3_accelerations(d, t, inputs, &work->error));
        }
    }
    lwi_system_observe(s, t, level, snapshot);
    return LW_OK;
}

static void about(const lwi_work *work, char *text, size_t size)
{
    const lwi_index3 *d = work->data;
    text[0] = 0;
    if (d->method.output == LW_INDEX3_OUTPUT_MOTION) return;
    snprintf(text, size,
             "index3: accelerations and reactions of rows are those of the steps, reactions of %s, "
             "not of "
             "minimum norm",
             d->method.output == LW_INDEX3_OUTPUT_STEP ? "Newton's iterations and the projection"
                                                       : "Newton's iterations alone");
}

static void notice(const lwi_work *work, char *text, size_t size)
{
    const lwi_index3 *d = work->data;
    const lwi_index3_counts *n = &d->counts;
    char where[300];
    text[0] = 0;
    if (!n->unconverged) return;
    lwi_index3_describe_worst(d, n->body, n->edge, where, sizeof where);
    if (!(d->method.tolerance > 0)) {
        const int used = snprintf(
            text, size,
            "%ld of %ld steps did not converge in their %d iterations, the worst at t = %.6g s "
            "with a last increment of %.1e m: %s; a smaller step or more iterations help",
            n->unconverged, n->steps, d->method.iterations, n->t, n->size, where);
        if (used > 0 && (size_t)used < size && isfinite(work->valid_until))
            snprintf(text + used, size - (size_t)used, "; results after t = %.6g s are unreliable",
                     work->valid_until);
        return;
    }
    snprintf(text, size,
             "%ld of %ld steps ended before Newton's increments were below %.1g m, the worst at "
             "t = %.6g s with %.1e m: %s; near singular positions this is the accuracy that can be "
             "reached, elsewhere a smaller step or more iterations help",
             n->unconverged, n->steps, d->method.tolerance, n->t, n->size, where);
}

const lwi_formulation lwi_formulation_index3 = {
    .name = "index3",
    .summary = "positions as unknowns of the trapezoidal rule, Newton by divide and conquer, "
               "projections; loops, redundant constraints, singular positions; "
               "equal steps, or by tolerances",
    .cite = "malczyk2019",
    .flags = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_CAN_ROTORS | LWI_HAS_SPEEDS | LWI_HAS_PLAN |
             LWI_HAS_THREADS | LWI_HAS_INDEX3 | LWI_PROJECTS,
    .accepts = lwi_system_accepts,
    .integrator = "index3",
    .prepare = prepare,
    .enter = enter,
    .step = lwi_index3_step,
    .take_slopes = lwi_index3_take_slopes,
    .refresh = refresh,
    .error = lwi_index3_error,
    .observe = observe,
    .about = about,
    .report = lwi_index3_report,
    .notice = notice,
    .release = release,
};
