// dca.c -- formulation `dca`: accelerations by divide and conquer [featherstone1999].
//
// State x = (tree q, tree u, [work], auxiliary states: coordinates of loop joints that poses do not
// determine).  The tree gives positions and velocities of all bodies; all joints, tree joints included, are
// rows between bodies,
//
//     M A = F + J' lambda,   J A = -gamma
//
// which the elimination (elimination/elimination.h) solves along a plan: O(n) for chains of loops one after
// the other, O(log n) levels with threads; every order gives the same motion.  The rates of u are the
// relative accelerations at the joints.
//
// As in the paper, positions and velocities of loop joints are held by their accelerations only: they drift
// with the integrator's error.  (`hdca` has no drift of velocities, `lagrange` can stabilise both.)
#include "base/assert.h"
#include "kinematics/auxiliary.h"
#include "methods/dca/coordinates.h"
#include "methods/dca/ranks.h"
#include "methods/dca/segments/divide.h"
#include "methods/dca/segments/net.h"
#include "methods/dca/segments/path.h"
#include "methods/dca/segments/reactions.h"
#include "tree/body_forces.h"
#include "system/system.h"
#include "kinematics/tree_state.h"
#include "spatial/rotation.h"

#include <string.h>

typedef enum purpose { FOR_NOTHING, FOR_RATES, FOR_ROW } purpose;

// The last evaluation.  An output row is at the state of the evaluation that ends the step before it or begins the one
// after it, and each takes what the other has found in the same way.
typedef struct evaluated {
    purpose what;
    bool in_segments;              // else by the elimination
    double t, *x, *inputs, *rates; // [nx], [inputs], [nx]
    bool present; // for rates: `system`, the path or the net is still at this state
} evaluated;

typedef struct dca {
    lwi_system system;
    lwi_tree_work tree; // body_R, body_r, body_v, body_w, joint_q, joint_qd are those of `system`
    lwi_tree_passes passes;
    bool has_rows; // the rows of `system` are those of the last observation
    evaluated last;
    lwi_auxiliary auxiliary;
    lwi_coordinates coordinates;
    lwi_path *path;               // NULL: the model is not a long path
    lwi_net *net;                 // NULL: nor does it consist of such paths between few bodies
    double (*load)[6];            // [nbody] of nets: of efforts on joints that close loops
    lwi_body_forces *body_forces; // of a path; NULL: all forces act along joints
    bool rows_in_segments;
    lwi_segment_rows rows; // then
} dca;

// ---------------------------------------------------------------------------------------- prepare

static lw_status prepare_rows(lwi_work *work, dca *d)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    d->rows_in_segments = lwi_segment_rows_fit(model, &d->system, d->path, d->net);
    if (!d->rows_in_segments) return LW_OK;
    TRY(lwi_segment_rows_create(model, &d->system, &d->tree, &d->passes, d->path, d->net, arena,
                                &d->rows));
    return d->path ? lwi_body_forces_create(model, arena, &d->body_forces) : LW_OK;
}

// A long path, or several between few bodies.
static lw_status prepare_segments(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    dca *d = work->data;
    lwi_pool *pool = d->system.pool;
    lwi_path_plan *path;
    lwi_net_plan *net;
    TRY(lwi_divide(model, work->shared, arena, &path, &net));
    if (path) return lwi_path_create(model, path, work->lanes, pool, arena, &d->path);
    if (!net) return LW_OK;
    d->load = lwi_arena_push(arena, (size_t)model->nbody, sizeof *d->load);
    if (!d->load) return LW_ERR_MEMORY;
    return lwi_net_create(net, work->lanes, pool, &d->tree, &d->system, arena, &d->net);
}

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    dca *d = LWI_PUSH(arena, dca, 1);
    if (!d) return LW_ERR_MEMORY;
    work->data = d;
    lwi_system *system = &d->system;
    TRY(lwi_system_prepare(work, system));
    TRY(lwi_coordinates_create(model, arena, &d->coordinates));
    TRY(lwi_tree_passes_create(model, arena, &d->passes));
    d->passes.pool = system->pool;
    TRY(lwi_tree_work_create(model, arena, &d->tree));
    d->tree.mode = &work->mode;
    d->tree.states = &work->states;
    d->tree.body_R = system->R, d->tree.body_r = system->r;
    d->tree.body_v = system->v, d->tree.body_w = system->w;
    d->tree.joint_q = system->q, d->tree.joint_qd = system->qd;
    d->tree.shares = system->shares;
    d->tree.pool = system->pool;
    if (work->lanes != LWI_NO_KERNEL) TRY(prepare_segments(work));
    work->segments = d->path || d->net;
    TRY(prepare_rows(work, d));
    TRY(lwi_dca_share_ranks(work, system, d->path, d->net));
    TRY(lwi_auxiliary_create(model, LWI_SPEED, arena, &d->auxiliary, &work->layout));
    d->last.x = LWI_PUSH(arena, double, work->layout.nx);
    d->last.inputs = LWI_PUSH(arena, double, model->desc.ninput);
    d->last.rates = LWI_PUSH(arena, double, work->layout.nx);
    return d->last.x && d->last.inputs && d->last.rates ? LW_OK : LW_ERR_MEMORY;
}

static void release(lwi_work *work)
{
    dca *d = work->data;
    if (d) lwi_pool_destroy(d->system.pool);
}

// ------------------------------------------------------------------------------------------ state

static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    dca *d = work->data;
    d->last.what = FOR_NOTHING; // coordinates are continued from those of the snapshot
    lwi_tree_enter(work->model, snapshot, x, x + work->model->tree_nq);
    lwi_auxiliary_store(work->model, &d->auxiliary, snapshot->q, x);
    lwi_states_enter(work, snapshot, x);
    if (work->model->nq) // start values for continued coordinates and signs of quaternions
        memcpy(d->system.q, snapshot->q, (size_t)work->model->nq * sizeof *snapshot->q);
    return LW_OK;
}

// The motion of all bodies and joints at x.
static void read_state(lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    dca *d = work->data;
    const double *q = x, *u = x + model->tree_nq;
    d->last.present = false;
    lwi_system_place_tree(&d->system, &d->passes, t, q, &d->tree);
    lwi_system_move_tree(&d->system, &d->passes, u, &d->tree);
    lwi_auxiliary_load(model, &d->auxiliary, x, d->system.q);
    lwi_system_read_loops(&d->system, t, false);
}

// Accelerations of all bodies, multipliers, and the rates udot of the tree's speeds; after read_state.
static lw_status accelerate(lwi_work *work, double t, const double *x, const double *inputs,
                            double *xdot, double *udot)
{
    const lw_model *model = work->model;
    dca *d = work->data;
    lwi_system *system = &d->system;
    const double *u = x + model->tree_nq;
    lwi_system_forces(system, t, inputs);
    lwi_system_rows(system, t);
    TRY(lwi_system_factor(system, t, &work->error));
    lwi_node_rates of = {model, d->tree.link, t, u, xdot};
    lwi_pool_for(system->pool, model->nnode, lwi_node_rates_part, &of);
    TRY(lwi_system_accelerations_factored(system, t, &system->loads, &d->tree, u, &work->error));
    lwi_system_speed_rates(system, &d->tree, udot);
    return LW_OK;
}

typedef struct copy {
    double *to;
    const double *from;
} copy;

static void copy_part(void *user, int first, int end)
{
    const copy *of = user;
    memcpy(of->to + first, of->from + first, (size_t)(end - first) * sizeof *of->to);
}

// Copies a state, a long one by all threads.
static void copy_state(const lwi_work *work, double *to, const double *from)
{
    enum { WORTH = 16384 };
    const int n = work->layout.nx;
    copy of = {to, from};
    lwi_pool_for(n < WORTH ? NULL : ((const dca *)work->data)->system.pool, n, copy_part, &of);
}

// The rates in d->last are those of this state.
static void keep(lwi_work *work, double t, const double *x, const double *inputs, purpose what,
                 bool in_segments)
{
    evaluated *last = &((dca *)work->data)->last;
    last->t = t;
    copy_state(work, last->x, x);
    if (work->model->desc.ninput)
        memcpy(last->inputs, inputs, (size_t)work->model->desc.ninput * sizeof *inputs);
    last->what = what;
    last->in_segments = in_segments;
    last->present = true;
}

// Rates of a state by the elimination, kept in d->last.
static lw_status evaluate(lwi_work *work, double t, const double *x, const double *inputs,
                          purpose what)
{
    const lw_model *model = work->model;
    dca *d = work->data;
    double *xdot = d->last.rates;
    d->last.what = FOR_NOTHING;
    lwi_states_set(work, x, xdot);
    read_state(work, t, x);
    TRY(accelerate(work, t, x, inputs, xdot, xdot + model->tree_nq));
    if (d->auxiliary.at_work >= 0)
        xdot[d->auxiliary.at_work] = d->system.loads.power + lwi_system_drive_power(&d->system, t);
    lwi_auxiliary_rates(model, &d->auxiliary, d->system.q, d->system.qd, xdot);
    keep(work, t, x, inputs, what, false);
    return LW_OK;
}

// Whether the last evaluation was at this state, for the other purpose: calls repeated at one state cost and test all
// that they do.
static bool is_evaluated(const lwi_work *work, double t, const double *x, const double *inputs,
                         purpose other, bool in_segments)
{
    const evaluated *last = &((const dca *)work->data)->last;
    const size_t nx = (size_t)work->layout.nx, ninput = (size_t)work->model->desc.ninput;
    return last->what == other && last->in_segments == in_segments && t == last->t &&
           !memcmp(x, last->x, nx * sizeof *x) &&
           (!ninput || !memcmp(inputs, last->inputs, ninput * sizeof *inputs));
}

// Efforts of all loads of a path, in tree.effort.
static void path_efforts(const lw_model *model, dca *d, double t, const double *x,
                         const double *inputs)
{
    const double *u = x + model->tree_nq;
    if (d->body_forces) lwi_body_forces_place(d->body_forces, x, u, NULL, &d->tree);
    lwi_tree_joint_loads(model, &d->tree, t, x, u, inputs);
    if (d->body_forces) lwi_body_forces_efforts(d->body_forces, NULL, &d->tree);
}

// The same for a long path, in segments; false if the elimination has to decide.
static bool path_rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    dca *d = work->data;
    const double *u = x + model->tree_nq;
    path_efforts(model, d, t, x, inputs);
    if (!lwi_path_accelerations(d->path, x, u, model->nforce ? d->tree.effort : NULL, false,
                                xdot + model->tree_nq))
        return false;
    lwi_coordinates_rates(&d->coordinates, d->system.pool, x, u, xdot);
    if (d->auxiliary.at_work >= 0) xdot[d->auxiliary.at_work] = d->tree.power;
    return true;
}

// Power of forces, drives and mounts of a net, after its accelerations.
static double net_power(dca *d, double t)
{
    const lw_model *model = d->system.model;
    double power = d->tree.power + lwi_net_drive_power(d->net);
    for (int i = 0; model->driven && model->nforce > 0 && i < model->nloop; i++)
        power += lwi_system_mount_power(&d->system, model->loop[i], t, d->tree.loads.effort);
    return power;
}

// The same for long paths between few bodies.
static bool net_rates(lwi_work *work, double t, const double *x, const double *inputs, double *xdot)
{
    const lw_model *model = work->model;
    dca *d = work->data;
    lwi_system *system = &d->system;
    const double *u = x + model->tree_nq;
    if (!lwi_net_move(d->net, t, x, u, false)) return false;
    lwi_auxiliary_load(model, &d->auxiliary, x, system->q);
    lwi_system_read_loops(system, t, false);
    lwi_tree_joint_loads(model, &d->tree, t, x, u, inputs);
    memset(d->load, 0, (size_t)model->nbody * sizeof *d->load);
    lwi_net_add_loads(d->net, d->load);
    for (int i = 0; model->nforce > 0 && i < model->nloop; i++) {
        const int j = model->loop[i];
        lwi_joint_apply_effort(model, j, t, &system->motion,
                               d->tree.loads.effort + model->joint[j].iv, d->load);
    }
    if (!lwi_net_accelerations(d->net, t, d->tree.effort, (const double(*)[6])d->load,
                               xdot + model->tree_nq))
        return false;
    lwi_coordinates_rates(&d->coordinates, d->system.pool, x, u, xdot);
    if (d->auxiliary.at_work >= 0) xdot[d->auxiliary.at_work] = net_power(d, t);
    lwi_auxiliary_rates(model, &d->auxiliary, system->q, system->qd, xdot);
    return true;
}

// Rates in segments, kept in d->last where rows are in segments too.
static bool segment_rates(lwi_work *work, double t, const double *x, const double *inputs,
                          purpose what, double *xdot)
{
    dca *d = work->data;
    d->last.what = FOR_NOTHING;
    d->last.present = false;
    lwi_states_set(work, x, xdot);
    if (!(d->path ? path_rates : net_rates)(work, t, x, inputs, xdot)) return false;
    if (!d->rows_in_segments) return true;
    lwi_segment_rows_keep(&d->rows);
    if (xdot != d->last.rates) copy_state(work, d->last.rates, xdot);
    if (lwi_dca_on_ranks(work)) return true; // all processes evaluate again
    keep(work, t, x, inputs, what, true);
    return true;
}

// Those that a row before has found, or new ones.
static bool find_segment_rates(lwi_work *work, double t, const double *x, const double *inputs,
                               double *xdot)
{
    dca *d = work->data;
    if (!d->path && !d->net) return false;
    if (lwi_dca_on_ranks(work) || !is_evaluated(work, t, x, inputs, FOR_ROW, true))
        return segment_rates(work, t, x, inputs, FOR_RATES, xdot);
    memcpy(xdot, d->last.rates, (size_t)work->layout.nx * sizeof *xdot);
    d->last.what = FOR_NOTHING;
    return true;
}

// A row in segments; false if the elimination has to decide.
static bool segment_observe(lwi_work *work, double t, const double *x, const double *inputs,
                            lw_observe level, lwi_snapshot *snapshot)
{
    const lw_model *model = work->model;
    dca *d = work->data;
    const double *u = x + model->tree_nq, *udot = d->last.rates + model->tree_nq;
    if (level < LW_OBSERVE_ACCELERATION) {
        if (model->nloop) return false; // coordinates of the joints that close them
    } else if (d->last.present && is_evaluated(work, t, x, inputs, FOR_RATES, true)) {
        d->last.what = FOR_NOTHING;
    } else if (!segment_rates(work, t, x, inputs, FOR_ROW, d->last.rates)) {
        return false;
    }
    lwi_states_observe(work, x, snapshot);
    lwi_tree_evaluate(model, &d->tree, t, x, u, inputs);
    const bool done = lwi_segment_rows_observe(&d->rows, model, t, x, u, udot, level, snapshot);
    snapshot->work = d->auxiliary.at_work >= 0 ? x[d->auxiliary.at_work] : 0;
    return done;
}

static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    dca *d = work->data;
    if (find_segment_rates(work, t, x, inputs, xdot)) return LW_OK;
    if (is_evaluated(work, t, x, inputs, FOR_ROW, false))
        d->last.what = FOR_NOTHING;
    else
        TRY(evaluate(work, t, x, inputs, FOR_RATES));
    if (lwi_dca_on_ranks(work)) d->last.what = FOR_NOTHING;
    memcpy(xdot, d->last.rates, (size_t)work->layout.nx * sizeof *xdot);
    return lwi_tree_finite(model, t, xdot + model->tree_nq, "acceleration", &work->error);
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    dca *d = work->data;
    d->has_rows = false;
    lwi_states_observe(work, x, snapshot);
    if (d->rows_in_segments && segment_observe(work, t, x, inputs, level, snapshot)) return LW_OK;
    snapshot->work = d->auxiliary.at_work >= 0 ? x[d->auxiliary.at_work] : 0;
    if (level < LW_OBSERVE_ACCELERATION)
        read_state(work, t, x);
    else if (!d->last.present || !is_evaluated(work, t, x, inputs, FOR_RATES, false))
        TRY(evaluate(work, t, x, inputs, FOR_ROW));
    else
        d->last.what = FOR_NOTHING;
    d->has_rows = level >= LW_OBSERVE_ACCELERATION;
    lwi_system_observe_tree(&d->system, t, level, &d->tree, d->last.rates + work->model->tree_nq,
                            snapshot);
    return LW_OK;
}

// Those of the last observation, by the rows of its accelerations.
static bool residuals(const lwi_work *work, lw_observe level, double largest[3])
{
    const dca *d = work->data;
    if (!d->has_rows) return false;
    lwi_system_residuals(&d->system, level, largest);
    return true;
}

// All states are in metres, radians and seconds except the work: its scale is an energy, the larger of the
// kinetic energy and of the weight of the mechanism lifted by one metre.
static lw_status scale(lwi_work *work, double t, const double *x, double *factors)
{
    const lw_model *model = work->model;
    dca *d = work->data;
    const lwi_system *s = &d->system;
    for (int i = 0; i < work->layout.nx; i++) factors[i] = 1;
    if (d->auxiliary.at_work < 0) return LW_OK;
    read_state(work, t, x);
    double kinetic = 0, mass = 0;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        const lwi_body *body = &model->body[b];
        double w[3], L[3];
        m3_tmul_v(w, s->R[b], s->w[b]);
        s3_mul_v(L, body->inertia, w);
        kinetic += 0.5 * (body->mass * v3_dot(s->v[b], s->v[b]) + v3_dot(w, L));
        mass += body->mass;
    }
    factors[d->auxiliary.at_work] = fmax(kinetic, mass * fmax(1, v3_norm(model->gravity)));
    return LW_OK;
}

static void notice(const lwi_work *work, char *text, size_t size)
{
    lwi_system_notice(&((const dca *)work->data)->system, text, size);
}

const lwi_formulation lwi_formulation_dca = {
    .name = "dca",
    .summary =
        "accelerations by divide and conquer; trees, loops, couplings, redundant constraints; "
        "O(n), threads",
    .cite = "featherstone1999",
    .flags = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_CAN_ROTORS | LWI_HAS_SPEEDS | LWI_HAS_PLAN |
             LWI_HAS_THREADS | LWI_HAS_RANKS,
    .accepts = lwi_system_accepts,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .observe = observe,
    .residuals = residuals,
    .scale = scale,
    .notice = notice,
    .release = release,
};
