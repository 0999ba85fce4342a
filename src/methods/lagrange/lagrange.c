// lagrange.c -- the formulation `lagrange`: the traditional O(n) recursion with cut joints
//
// Input: state x = (tree q, tree u, [work], auxiliary coordinates of cut joints), forces.  Output: xdot.
// The articulated-body recursion gives the accelerations eta of the tree of uncut joints, the m multipliers of
// the cut joints follow from a dense system                                  [anderson2003, section 2]
//
//     vdot = eta + zeta lambda,  zeta = M^-1 (J W)'                 [anderson2003, (13), (24)-(29)]
//     phi = 0,  J A = -gamma                                             [anderson2003, (30), (31)]
//     [J W M^-1 (J W)'] lambda = -gamma - J A(eta)                             [anderson2003, (32)]
//
// with the factors of loops/cut.h.  Cost: O(n m + n m^2), cubic if loops are as many as bodies.  Only the second
// derivative of the constraints is zero: velocities drift in proportion to time, positions to its square.
// Baumgarte's gains a, b [1/s] (option `baumgarte`) replace phiddot = 0 by phiddot + 2 a phidot + b^2 phi = 0.
//
// The formulation is the reference that the other formulations for loops are compared with.
#include "base/numbers.h"

#include "base/assert.h"
#include "loops/cut_reactions.h"
#include "loops/cut_state.h"
#include "system/singular.h"
#include "system/system.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct lagrange {
    lwi_tree_work tree;
    lwi_articulated *node;
    lwi_cut cut;
    double gain[2]; // a, b [1/s]
    lwi_auxiliary auxiliary;
    double *vdot, *target; // [n], [m]
    double mount_power;    // of the efforts of cut joints across their moving mounts [W]
    lwi_cut_reactions reactions;
} lagrange;

// ------------------------------------------------------------------------------------------
// prepare

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    lwi_arena *arena = &work->arena;
    lagrange *d = LWI_PUSH(arena, lagrange, 1);
    if (!d) return LW_ERR_MEMORY;
    work->data = d;
    if (work->options) memcpy(d->gain, work->options->baumgarte, sizeof d->gain);
#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY
    GET(d->node, model->nnode);
    TRY(lwi_tree_work_create(model, arena, &d->tree));
    d->tree.mode = &work->mode;
    d->tree.states = &work->states;
    TRY(lwi_cut_create(model, LWI_CUT_RANK, arena, &d->tree, d->node, &d->cut, &work->error));
    int redundant = d->cut.m - d->cut.rank;
    TRY(lwi_system_fewest_redundant(model, arena, &redundant));
    d->cut.rank = d->cut.m - redundant;
    LWI_ASSERT(redundant >= 0 && d->cut.n == model->tree_nv + d->cut.nrotor);
    TRY(lwi_cut_reactions_create(&d->cut, redundant, arena, &d->reactions));
    GET(d->vdot, d->cut.n);
    GET(d->target, d->cut.m);
#undef GET
    memcpy(d->tree.joint_q, model->q0, (size_t)model->nq * sizeof(double));
    return lwi_auxiliary_create(model, LWI_SPEED, arena, &d->auxiliary, &work->layout);
}

// -------------------------------------------------------------------------------- singular
// positions

// Smallest pivot at the fixed rank: ten of sixteen digits are lost there.
#define SINGULAR_PIVOT 1e-10
static lw_status row_fails(lwi_work *work, int row, double t, lw_status status, const char *what,
                           double value)
{
    const lagrange *d = work->data;
    char which[160];
    lwi_singular_owner(work->model, lwi_cut_row_owner(&d->cut, row), which, sizeof which);
    return lwi_fail(&work->error, status, "%s, t = %.9g s: %s %.3g", which, t, what, value);
}

static lw_status factor_rows(lwi_work *work, double t)
{
    lagrange *d = work->data;
    lwi_cut *cut = &d->cut;
    const lwi_cod *cod = &cut->cod;
    lwi_cut_factor(cut, &d->tree, d->node, cut->rank, 0);
    if (cut->rank == 0) return LW_OK;
    if (cod->rank == cut->rank && cod->small > SINGULAR_PIVOT) return LW_OK;
    const int last = cod->rank < cut->rank ? cod->rank : cut->rank - 1;
    LWI_ASSERT_INDEX(last, cut->m);
    return lwi_singular_fail(work->model, lwi_cut_row_owner(cut, cod->pivot[last]), t,
                             cod->rank < cut->rank ? 0 : cod->small, &work->error);
}

// ---------------------------------------------------------------------------------------
// evaluation

static void place(lwi_work *work, double t, const double *x)
{
    lagrange *d = work->data;
    lwi_auxiliary_load(work->model, &d->auxiliary, x, d->tree.joint_q);
    lwi_cut_place(&d->cut, &d->tree, t, x, x + work->model->tree_nq);
}

// vdot and lambda at the state.                                     [anderson2003, (13), (24)-(32)]
static lw_status solve(lwi_work *work, double t, const double *x, const double *inputs)
{
    const lw_model *model = work->model;
    lagrange *d = work->data;
    lwi_cut *cut = &d->cut;
    const double *v = x + model->tree_nq, a = d->gain[0], b = d->gain[1];
    place(work, t, x);
    d->mount_power = lwi_cut_loads(cut, &d->tree, t, v, inputs);
    TRY(lwi_aba(model, &d->tree, d->node, t, v, NULL, d->vdot, &work->error));
    if (cut->m == 0) return LW_OK;
    lwi_cut_rows(cut, &d->tree, t, LWI_CLOSURE_RATES);
    TRY(factor_rows(work, t));
    lwi_cut_accelerations(cut, &d->tree, d->target);
    for (int i = 0; i < cut->m; i++)
        d->target[i] = -d->target[i] - cut->gamma[i] - 2 * a * cut->rate[i] - b * b * cut->phi[i];
    lwi_cut_solve(cut, d->target);
    lwi_cut_apply(cut, &d->tree, d->node, cut->y, d->vdot);
    return lwi_tree_finite(model, t, d->vdot, "acceleration", &work->error);
}

static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    lagrange *d = work->data;
    const double *v = x + model->tree_nq;
    lwi_states_set(work, x, xdot);
    TRY(solve(work, t, x, inputs));
    lwi_cut_state_rates(&d->cut, &d->auxiliary, &d->tree, v, d->vdot, xdot);
    if (d->auxiliary.at_work >= 0)
        xdot[d->auxiliary.at_work] = lwi_cut_state_power(&d->cut, &d->tree, d->cut.lambda, v,
                                                         d->vdot, d->tree.power + d->mount_power);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- enter

// The model accepts velocities that violate a joint by LWI_CLOSURE_TOLERANCE.  Rows measure the same violation
// with lever arms and in several directions, hence a factor of ten.
#define VELOCITY_TOLERANCE (10 * LWI_CLOSURE_TOLERANCE)

// Rounding is relative to the largest row: sums of |J_ik V_k| and |b_i|.
static lw_status check_velocities(lwi_work *work, double t)
{
    const lagrange *d = work->data;
    const lwi_cut *cut = &d->cut;
    double largest = 1, max = 0; // [m/s, rad/s], as in the check of the model
    int min_pivot_speed = 0;
    for (int i = 0; i < cut->count; i++) {
        const lwi_closure *c = &cut->closure[i];
        for (int r = 0; r < c->n; r++) {
            const int row = cut->first[i] + r;
            double size = fabs(c->b[r]);
            for (int s = 0; s < c->nbody; s++)
                for (int k = 0; k < 3; k++)
                    size += fabs(c->J[s][r][k] * d->tree.body_v[c->body[s]][k]) +
                            fabs(c->J[s][r][k + 3] * d->tree.body_w[c->body[s]][k]);
            if (size > largest) largest = size;
            if (fabs(cut->rate[row]) > max) max = fabs(cut->rate[row]), min_pivot_speed = row;
        }
    }
    if (max <= VELOCITY_TOLERANCE * largest) return LW_OK;
    return row_fails(work, min_pivot_speed, t, LW_ERR_MODEL,
                     "the velocities of its bodies do not fit it, residual in m/s or rad/s", max);
}

// State from a snapshot.  Velocities are corrected to rounding by the change of minimum kinetic energy,
// du = -N'^-1 E^+ phidot.
static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    const lw_model *model = work->model;
    lagrange *d = work->data;
    lwi_cut *cut = &d->cut;
    double *v = x + model->tree_nq;
    lwi_cut_state_enter(cut, &d->auxiliary, snapshot, &d->tree, x);
    lwi_states_enter(work, snapshot, x);
    place(work, snapshot->t, x);
    lwi_auxiliary_store(model, &d->auxiliary, d->tree.joint_q, x);
    if (cut->m == 0) return LW_OK;
    lwi_cut_rows(cut, &d->tree, snapshot->t, LWI_CLOSURE_POSITION);
    TRY(check_velocities(work, snapshot->t));
    memset(d->tree.wrench, 0, (size_t)model->nnode * sizeof *d->tree.wrench);
    memset(d->tree.effort, 0, (size_t)model->tree_nv * sizeof *d->tree.effort);
    TRY(lwi_aba(model, &d->tree, d->node, snapshot->t, v, NULL, d->vdot,
                &work->error)); // for the factors
    TRY(factor_rows(work, snapshot->t));
    for (int i = 0; i < cut->m; i++) d->target[i] = -cut->rate[i];
    lwi_cut_solve(cut, d->target);
    lwi_cut_apply(cut, &d->tree, d->node, cut->y, v);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------
// observe

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    const lw_model *model = work->model;
    lagrange *d = work->data;
    const double *v = x + model->tree_nq;
    lwi_states_observe(work, x, snapshot);
    if (level < LW_OBSERVE_ACCELERATION) {
        place(work, t, x);
    } else {
        TRY(solve(work, t, x, inputs));
        lwi_cut_wrenches(&d->cut, &d->tree, d->cut.lambda, d->tree.wrench);
    }
    lwi_cut_state_observe(&d->cut, &d->auxiliary, &d->tree, t, x, v, d->vdot, level, snapshot);
    if (level >= LW_OBSERVE_REACTION && d->cut.m)
        lwi_cut_reactions_find(&d->reactions, &d->cut, &d->tree, &d->cut.cod, d->cut.lambda,
                               snapshot);
    return LW_OK;
}

static lw_status scale(lwi_work *work, double t, const double *x, double *factor)
{
    lagrange *d = work->data;
    place(work, t, x);
    lwi_cut_state_scale(&d->cut, &d->auxiliary, &d->tree, &work->layout, factor);
    return LW_OK;
}

const lwi_formulation lwi_formulation_lagrange = {
    .name = "lagrange",
    .summary = "cut joints with multipliers and the articulated-body recursion: O(n m^2) for m "
               "constraint equations of cut joints; loops, couplings; drifts, option `baumgarte`",
    .cite = "anderson2003",
    .flags = LWI_CAN_LOOPS | LWI_CAN_COUPLINGS | LWI_CAN_ROTORS | LWI_HAS_SPEEDS |
             LWI_HAS_BAUMGARTE | LWI_CUBIC,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .observe = observe,
    .scale = scale,
};
