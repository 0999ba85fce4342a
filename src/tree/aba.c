// aba.c -- the formulation `aba`: accelerations of a tree by articulated bodies     [featherstone2008]
//
// Input: state x = (q, u, [work]), forces.  Output: xdot = (N(q) u, vdot, [power]).
// A node with all bodies beyond it responds to an acceleration A with the wrench F = M A + p at its joint.
// With A = X A_parent + S vdot + c (rnea.c) and S'F = tau, I_r = diag(rotor):
//
//     inward    U = M S,  D = S'U + I_r,  b = tau - S'p - U'c              [anderson2003, (18), (19)]
//               M_parent += X'(M - U D^-1 U')X                                   [anderson2003, (14)]
//               p_parent += X'(p + (M - U D^-1 U')c + U D^-1 (tau - S'p))        [anderson2003, (15)]
//     outward   vdot = D^-1 (b - U' X A_parent)                            [anderson2003, (24), (27)]
//               A = X A_parent + S vdot + c                                      [anderson2003, (26)]
//
// The bracket of p_parent is p + M c + U D^-1 b, so no product with the reduced inertia is needed.
// Rotors rotate with their joint only: they enter the pivot D and nothing else.
// Cost: O(n).  Hinges are taken by kernels with the same bits (simd/hinges.c).  Trees in kernel normal form are evaluated by the batch kernels (kernel.h).
#include "tree/aba.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "tree/batch_evaluator.h"
#include "tree/body_forces.h"
#include "tree/kernel.h"
#include "tree/lost_digits.h"
#include "tree/simd/hinges.h"

#include <float.h>

LWI_ISA_BUILDS(lwi_hinge_kernels, lwi_hinge_kernels);

const lwi_hinge_kernels *lwi_hinge_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 || !builds[isa] || !builds[isa]->start ? NULL : builds[isa];
}

// ----------------------------------------------------------------------------------- the recursion

// Initial M and p of node k: rigid body, p = V x* M V - wrench.
static void start_node(const lw_model *model, const lwi_tree_work *work, int k, const double *v,
                       lwi_articulated *a)
{
    const lwi_node *node = &model->node[k];
    double P[6];
    inertia_rigid(&a->M, node->mass, node->h, node->J);
    inertia_mul(P, node->mass, node->h, node->J, work->V[k]);
    force_cross(a->p, work->V[k], P);
    v6_axpy(a->p, -1, work->wrench[k]);
    lwi_tree_bias(model, k, work, v, a->c);
}

typedef lwi_aba_sweep sweep;

static void start_nodes(void *user, int first, int end)
{
    const sweep *of = user;
    for (int k = first; k < end; k++) {
        if (of->kernels && (k = of->kernels->start(of, k, end)) >= end) return;
        start_node(of->model, of->work, k, of->v, &of->node[k]);
    }
}

// U = M S, D = L L', b = tau - S'p - U'c of node k                                [anderson2003, (19)]
static lw_status factor_node(const sweep *of, int k, lw_error *error)
{
    const lwi_node *node = &of->model->node[k];
    const lwi_link *link = &of->work->link[k];
    lwi_articulated *a = &of->node[k];
    LWI_ASSERT_INDEX(k, of->model->nnode);
    LWI_ASSERT(node->iv >= 0 && node->iv + node->nv <= of->model->tree_nv);
    TRY(lwi_articulated_factor(of->model, of->work, of->node, k, of->t,
                               of->model->tree_rotor + node->iv, error));
    for (int j = 0; j < node->nv; j++) {
        const double effort =
            of->work->effort[node->iv + j] + (of->tau ? of->tau[node->iv + j] : 0);
        a->b[j] = effort - v6_dot(link->S[j], a->p) - v6_dot(a->U[j], a->c);
    }
    return LW_OK;
}

// The articulated inertia and bias wrench p + M c + U D^-1 b = p + M c + Y' L^-1 b of node k go to the parent.
//                                                                       [anderson2003, (14), (15)]
static void give_node(void *user, int k)
{
    const sweep *of = user;
    const lwi_node *node = &of->model->node[k];
    const lwi_link *link = &of->work->link[k];
    lwi_articulated *a = &of->node[k];
    double Y[6][6], p[6], b[6];
    if (node->parent < 0) return;
    lwi_articulated_give(of->model, of->work, of->node, k, Y);
    inertia_apply(p, &a->M, a->c);
    v6_add(p, p, a->p);
    memcpy(b, a->b, sizeof b);
    cholesky6_forward(a->L, node->nv, b);
    for (int j = 0; j < node->nv; j++) v6_axpy(p, b[j], Y[j]);
    force_add_from(of->node[node->parent].p, link->R, link->r, p);
}

static bool sweep_inward(void *user, int first, int end)
{
    sweep *of = user;
    for (int k = end - 1; k >= first; k--) {
        if (of->kernels && (k = of->kernels->inward(of, k, first)) < first) return true;
        const lw_status status = factor_node(of, k, of->alone ? of->error : NULL);
        if (of->alone) of->status = status;
        if (status != LW_OK) return false;
        if (k > first) give_node(of, k);
    }
    return true;
}

// vdot = D^-1 (b - U' X A_parent), A                                 [anderson2003, (24), (26), (27)]
static void sweep_outward(void *user, int first, int end)
{
    const sweep *of = user;
    const double *g = of->model->gravity;
    const double base[6] = {-g[0], -g[1], -g[2]};
    for (int k = first; k < end; k++) {
        if (of->kernels && (k = of->kernels->outward(of, k, end)) >= end) return;
        const lwi_node *node = &of->model->node[k];
        const lwi_link *link = &of->work->link[k];
        lwi_articulated *a = &of->node[k];
        double *A = of->work->A[k];
        LWI_ASSERT(node->parent < k); // its acceleration is known
        motion_to(A, link->R, link->r, node->parent < 0 ? base : of->work->A[node->parent]);
        lwi_articulated_outward(node, link, a, a->b, a->c, NULL, A, of->vdot + node->iv);
    }
}

lw_status lwi_aba_sweeps(lwi_aba_sweep *of)
{
    const lwi_inward inward = {sweep_inward, give_node};
    lwi_tree_work *work = of->work;
    if (!lwi_subtrees_inward_from(work->subtrees, work->pool, of->model, start_nodes, inward,
                                  &of->alone, of))
        return of->status;
    lwi_subtrees_outward(work->subtrees, of->model, sweep_outward, of);
    return lwi_tree_finite(of->model, of->t, of->vdot, "acceleration", of->error);
}

lw_status lwi_aba(const lw_model *model, lwi_tree_work *work, lwi_articulated *node, double t,
                  const double *v, const double *tau, double *vdot, lw_error *error)
{
    sweep of = {.model = model,
                .work = work,
                .node = node,
                .kernels = lwi_hinge_kernels_of(0),
                .t = t,
                .v = v,
                .tau = tau,
                .vdot = vdot,
                .error = error};
    return lwi_aba_sweeps(&of);
}

double lwi_aba_drive_power(const lw_model *model, const lwi_tree_work *work,
                           const lwi_articulated *node)
{
    double power = 0, F[6];
    for (int k = 0; k < model->nnode; k++) {
        if (!model->node[k].driven) continue;
        inertia_apply(F, &node[k].M, work->A[k]);
        v6_add(F, F, node[k].p);
        power += lwi_tree_drive_power(model, k, work, F);
    }
    return power;
}

// --------------------------------------------------------------------------------- the formulation

typedef struct aba_data {
    lwi_tree_work tree;
    lwi_articulated *node;
    double *vdot;
    lwi_kernel *kernel;           ///< NULL: always the generic recursion above
    lwi_body_forces *body_forces; ///< NULL: all forces act along joints
    lwi_pool *pool;               ///< NULL: one thread
    lwi_lost_digits digits;
} aba_data;

static lw_status prepare(lwi_work *work)
{
    const lw_model *model = work->model;
    aba_data *d = LWI_PUSH(&work->arena, aba_data, 1);
    if (!d) return LW_ERR_MEMORY;
    LWI_ASSERT(model->nloop == 0 && model->ncoupling == 0);
    work->data = d;
    d->node = LWI_PUSH(&work->arena, lwi_articulated, model->nnode);
    d->vdot = LWI_PUSH(&work->arena, double, model->tree_nv);
    if (!d->node || !d->vdot) return LW_ERR_MEMORY;
    TRY(lwi_tree_work_create(model, &work->arena, &d->tree));
    d->tree.mode = &work->mode;
    d->tree.states = &work->states;
    if (work->lanes != LWI_NO_KERNEL)
        TRY(lwi_kernel_create_prescribed(model, work->lanes, &work->arena, &d->kernel));
    if (d->kernel) TRY(lwi_body_forces_create(model, &work->arena, &d->body_forces));
    const int threads = work->options ? (int)work->options->threads : 1;
    if (d->kernel)
        TRY(lwi_kernel_threads(d->kernel, threads, &work->arena, &d->pool, &work->error));
    work->threads = d->pool != NULL;
    d->tree.pool = d->pool;
    TRY(lwi_subtrees_create(model, d->pool, &work->arena, &d->tree.subtrees));
    TRY(lwi_force_shares_create(model, d->pool, &work->arena, &d->tree.shares));
    TRY(lwi_tree_layout(model, &work->arena, LWI_SPEED, &work->layout));
    lwi_states_layout(model, &work->layout);
    return lwi_lost_digits_create(work, &d->digits);
}

static void release(lwi_work *work)
{
    aba_data *d = work->data;
    if (d) lwi_pool_destroy(d->pool);
}

static lw_status enter(lwi_work *work, const lwi_snapshot *snapshot, double *x)
{
    lwi_tree_enter(work->model, snapshot, x, x + work->model->tree_nq);
    lwi_states_enter(work, snapshot, x);
    return LW_OK;
}

// The rates by the kernel; false if the generic recursion has to decide.
static bool kernel_rates(lwi_work *work, double t, const double *x, const double *inputs,
                         double *xdot)
{
    const lw_model *model = work->model;
    aba_data *d = work->data;
    const double *q = x, *v = x + model->tree_nq;
    lwi_kernel *kernel = d->kernel;
    lwi_tree_work *tree = &d->tree;
    lwi_kernel_prescribe(kernel, t);
    if (model->nforce) lwi_kernel_driven_joints(kernel, tree->joint_q, tree->joint_qd);
    if (d->body_forces) lwi_body_forces_place(d->body_forces, q, v, kernel->drive, tree);
    lwi_tree_joint_loads(model, tree, t, q, v, inputs);
    if (d->body_forces) lwi_body_forces_efforts(d->body_forces, kernel->drive, tree);
    if (!lwi_kernel_aba(kernel, q, v, model->nforce ? tree->effort : NULL, xdot + model->tree_nq))
        return false;
    lwi_tree_kinematics_shared(model, d->pool, q, v, xdot);
    if (model->carries_work)
        xdot[model->tree_nq + model->tree_nv] =
            tree->power + lwi_kernel_drive_power(kernel, tree->loads.effort);
    return true;
}

static lw_status rates(lwi_work *work, double t, const double *x, const double *inputs,
                       double *xdot)
{
    const lw_model *model = work->model;
    aba_data *d = work->data;
    const double *q = x, *v = x + model->tree_nq;
    lwi_states_set(work, x, xdot);
    if (d->kernel && kernel_rates(work, t, x, inputs, xdot)) return LW_OK;
    lwi_tree_evaluate(model, &d->tree, t, q, v, inputs);
    TRY(lwi_aba(model, &d->tree, d->node, t, v, NULL, xdot + model->tree_nq, &work->error));
    lwi_tree_kinematics(model, d->tree.link, v, xdot);
    if (model->carries_work)
        xdot[model->tree_nq + model->tree_nv] =
            d->tree.power + lwi_aba_drive_power(model, &d->tree, d->node);
    return LW_OK;
}

static lw_status observe(lwi_work *work, double t, const double *x, const double *inputs,
                         lw_observe level, lwi_snapshot *snapshot)
{
    const lw_model *model = work->model;
    aba_data *d = work->data;
    const double *q = x, *v = x + model->tree_nq;
    lwi_states_observe(work, x, snapshot);
    lwi_tree_evaluate(model, &d->tree, t, q, v, inputs);
    // in long chains and with very different masses the recursion's accelerations have more digits than the kernel's
    if (level >= LW_OBSERVE_ACCELERATION)
        TRY(lwi_aba(model, &d->tree, d->node, t, v, NULL, d->vdot, &work->error));
    d->tree.found_A = true; // at other levels none is asked for
    lwi_tree_observe(model, &d->tree, t, v, d->vdot, level, snapshot);
    snapshot->work = model->carries_work ? x[model->tree_nq + model->tree_nv] : 0;
    return LW_OK;
}

// Factor 1 for q and u; an energy for the work.
static lw_status scale(lwi_work *work, double t, const double *x, double *factor)
{
    const lw_model *model = work->model;
    aba_data *d = work->data;
    const double *v = x + model->tree_nq;
    LWI_ASSERT(work->layout.nx ==
               model->tree_nq + model->tree_nv + model->carries_work + model->nstate);
    for (int i = 0; i < work->layout.nx; i++) factor[i] = 1;
    if (!model->carries_work) return LW_OK;
    lwi_tree_position(model, t, x, d->tree.link);
    lwi_tree_velocity(model, d->tree.link, v, d->tree.V);
    factor[model->tree_nq + model->tree_nv] = lwi_tree_energy_scale(model, &d->tree);
    return LW_OK;
}

// Errors of the accelerations of `rates`, by the recursion with all inertias and forces times three.
static double lost_digits(lwi_work *work, double t, const double *x, const double *inputs)
{
    const lw_model *model = work->model;
    aba_data *d = work->data;
    const lwi_lost_digits *digits = &d->digits;
    const double *v = x + model->tree_nq, *found = digits->xdot + model->tree_nq;
    if (!digits->tripled) return 0;
    if (rates(work, t, x, inputs, digits->xdot) != LW_OK) return 0;
    lwi_tree_evaluate(model, &d->tree, t, x, v, inputs);
    lwi_triple_loads(model, &d->tree);
    if (lwi_aba(digits->tripled, &d->tree, d->node, t, v, NULL, digits->v, NULL) != LW_OK) return 0;
    const double largest = lwi_acceleration_scale(model, d->tree.V);
    const double lost =
        lwi_motion_difference(model, d->tree.link, found, digits->v, largest, d->tree.V);
    return isfinite(lost) ? lost : 0;
}

const lwi_formulation lwi_formulation_aba = {
    .name = "aba",
    .summary = "accelerations of a tree by the articulated-body algorithm, O(n)",
    .cite = "featherstone2008",
    .flags = LWI_CAN_ROTORS | LWI_HAS_THREADS | LWI_HAS_SPEEDS | LWI_TREE_STATE,
    .prepare = prepare,
    .enter = enter,
    .rates = rates,
    .rates_in_lanes = lwi_tree_batch_aba,
    .observe = observe,
    .scale = scale,
    .lost_digits = lost_digits,
    .release = release,
};
