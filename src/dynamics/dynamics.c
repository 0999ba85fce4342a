// dynamics.c -- the public functions of the dynamics at a given state.
#include "base/assert.h"
#include "tree/aba.h"
#include "dynamics/dynamics.h"
#include "dynamics/loop_derivatives.h"
#include "dynamics/loop_momenta.h"
#include "dynamics/loop_rates.h"
#include "dynamics/state_derivatives.h"
#include "tree/crba.h"
#include "tree/batch_evaluator.h"
#include "tree/body_forces.h"
#include "tree/merge.h"
#include "tree/momenta.h"
#include "tree/kernel.h"

#include <linkwork/dynamics.h>

struct lw_dynamics {
    const lw_model *model;
    lwi_arena arena;
    lwi_tree_work tree;
    lwi_articulated *aba;   // [nnode]
    lwi_inertia *composite; // [nnode]
    lwi_momenta momenta;
    lwi_kernel *kernel;                     // NULL: the model has none
    lwi_k_columns columns;                  // of its plan
    lwi_body_forces *body_forces;           // NULL: all forces act along joints
    lwi_tree_batch *evaluator;              // NULL: none in lanes
    lwi_loop_rates loop_rates;              // work NULL: there are no loops and no couplings
    lwi_loop_momenta loop_momenta;          // created by the first call that needs it
    lwi_state_derivatives *derivatives;     // created by the first call that needs it
    const lw_model *rigid;                  // theirs: without fixed joints where none is read
    lwi_tree_work *rigid_tree;              // its own, or `tree`
    lwi_loop_derivatives *loop_derivatives; // the same, of derivatives of accelerations
    const unsigned char *mode;              // of forces; NULL: by the state
    lw_error error;                         // of the last failed call
    double *rows;                           // [tree nq + 3 tree nv] of evaluator states
    double *zero;                           // [inputs], [tree nv]: what NULL stands for
    double *work, *out, *speeds;            // [tree nv]
};

static bool has_closures(const lw_model *model)
{
    return model->nloop + model->ncoupling > 0;
}

static lw_status kernels(lw_dynamics *d)
{
    const lw_model *model = d->model;
    TRY(lwi_kernel_create_prescribed(model, 0, &d->arena, &d->kernel));
    if (d->kernel) TRY(lwi_body_forces_create(model, &d->arena, &d->body_forces));
    if (d->kernel)
        TRY(lwi_k_columns_create(d->kernel->plan, model->tree_nv, &d->arena, &d->columns));
    return lwi_tree_batch_create(model, &d->arena, &d->evaluator);
}

static lw_status fill(lw_dynamics *d, lw_error *error)
{
    const lw_model *model = d->model;
    const int ninput = model->desc.ninput, nv = model->tree_nv;
    d->aba = LWI_PUSH(&d->arena, lwi_articulated, model->nnode);
    d->composite = LWI_PUSH(&d->arena, lwi_inertia, model->nnode);
    d->zero = LWI_PUSH(&d->arena, double, ninput > nv ? ninput : nv);
    d->work = LWI_PUSH(&d->arena, double, nv);
    d->out = LWI_PUSH(&d->arena, double, nv);
    d->speeds = LWI_PUSH(&d->arena, double, nv);
    if (!d->aba || !d->composite || !d->zero || !d->work || !d->out || !d->speeds)
        return LW_ERR_MEMORY;
    TRY(lwi_momenta_create(model, &d->arena, &d->momenta));
    if (has_closures(model))
        TRY(lwi_loop_rates_create(model, &d->arena.allocator, &d->arena, &d->loop_rates, error));
    else
        TRY(kernels(d));
    const size_t rows = (size_t)(model->tree_nq + 3 * nv);
    d->rows = LWI_PUSH(&d->arena, double, d->evaluator ? rows *LWI_LANES : 0);
    if (!d->rows) return LW_ERR_MEMORY;
    TRY(lwi_tree_work_create(model, &d->arena, &d->tree));
    const lwi_work *loops = d->loop_rates.work; // vdot is taken from its rates
    LWI_INVARIANT(!loops || loops->layout.nx >= model->tree_nq + nv, error);
    return LW_OK;
}

lw_status lw_dynamics_create(const lw_model *model, const lw_allocator *allocator,
                             lw_dynamics **dynamics, lw_error *error)
{
    if (!model || !dynamics) return lwi_fail(error, LW_ERR_ARGUMENT, "model or dynamics is NULL");
    if (!has_closures(model)) TRY(lwi_formulation_accepts(&lwi_formulation_aba, model, error));
    lw_dynamics *d = lwi_allocate(allocator, sizeof *d);
    if (!d) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the dynamics");
    *d = (lw_dynamics){.model = model};
    lwi_arena_init(&d->arena, allocator);
    lw_error why = {0};
    const lw_status status = fill(d, &why);
    if (status != LW_OK) {
        lw_dynamics_destroy(d);
        return lwi_fail(error, status, "%s", why.text[0] ? why.text : "no memory for the dynamics");
    }
    *dynamics = d;
    return LW_OK;
}

void lw_dynamics_destroy(lw_dynamics *d)
{
    if (!d) return;
    const lw_allocator allocator = d->arena.allocator;
    lwi_loop_rates_destroy(&d->loop_rates);
    lwi_loop_momenta_destroy(&d->loop_momenta);
    lwi_arena_free(&d->arena);
    lwi_release(&allocator, d);
}

void lwi_dynamics_hold(lw_dynamics *d, const lwi_states *states, const unsigned char *mode)
{
    d->mode = mode;
    d->tree.mode = &d->mode;
    d->tree.states = states;
    d->loop_rates.states = states;
    if (d->loop_rates.work) d->loop_rates.work->mode = mode;
}

const lw_model *lw_dynamics_model(const lw_dynamics *d)
{
    if (!d) return NULL;
    return d->model;
}

const lw_error *lw_dynamics_error(const lw_dynamics *d)
{
    if (!d) return NULL;
    return &d->error;
}

// ------------------------------------------------------------------------------------------ layout

int lw_model_tree_nq(const lw_model *model)
{
    if (!model) return 0;
    return model->tree_nq;
}
int lw_model_tree_nv(const lw_model *model)
{
    if (!model) return 0;
    return model->tree_nv;
}

lw_status lw_model_joint_tree(const lw_model *model, lw_joint joint, int *q_first, int *nq,
                              int *v_first, int *nv)
{
    if (!model || joint.index < 0 || joint.index >= model->njoint) return LW_ERR_ARGUMENT;
    const lwi_joint *j = &model->joint[joint.index];
    if (j->node < 0 && !j->merged) return LW_ERR_ARGUMENT;
    static const lwi_node nothing; // a merged joint is fixed
    const lwi_node *node = j->merged ? &nothing : &model->node[j->node];
    LWI_INVARIANT(node->iq >= 0 && node->nq >= 0 && node->iq + node->nq <= model->tree_nq, NULL);
    LWI_INVARIANT(node->iv >= 0 && node->nv >= 0 && node->iv + node->nv <= model->tree_nv, NULL);
    if (q_first) *q_first = node->iq;
    if (nq) *nq = node->nq;
    if (v_first) *v_first = node->iv;
    if (nv) *nv = node->nv;
    return LW_OK;
}

lw_status lw_model_joint_axes(const lw_model *model, lw_joint joint, lw_body *body, double R[9])
{
    if (!model || !body || !R || joint.index < 0 || joint.index >= model->njoint)
        return LW_ERR_ARGUMENT;
    body->index = model->joint[joint.index].body1;
    memcpy(R, model->joint[joint.index].R1, 9 * sizeof *R);
    return LW_OK;
}

static bool is_base(const lwi_node *node)
{
    return node->parent < 0 && lwi_joint_is_free(node->type) && node->nq == 7;
}

int lw_model_base_count(const lw_model *model)
{
    int n = 0;
    for (int k = 0; model && k < model->nnode; k++) n += is_base(&model->node[k]);
    return n;
}

lw_base_info lw_model_base(const lw_model *model, int index)
{
    for (int k = 0; model && index >= 0 && k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (!is_base(node) || index--) continue;
        return (lw_base_info){{node->body}, {node->joint}, node->iq, node->iv};
    }
    return (lw_base_info){.joint = {-1}};
}

void lw_model_tree_start(const lw_model *model, double *q, double *v)
{
    if (!model || !q || !v) return;
    memcpy(q, model->tree_q0, (size_t)model->tree_nq * sizeof *q);
    memcpy(v, model->tree_v0, (size_t)model->tree_nv * sizeof *v);
}

// ---------------------------------------------------------------------------------------- dynamics

// For calls that do not check their results; `what` is "q" or "v".
static lw_status check_finite(lw_dynamics *d, const char *what, const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return lwi_fail(&d->error, LW_ERR_NOT_FINITE, "%s[%d] is %g, expected a finite number",
                            what, i, x[i]);
    return LW_OK;
}

// Efforts of the model's forces for the kernel; NULL: there are none.  After lwi_kernel_prescribe.
static const double *model_efforts(lw_dynamics *d, double t, const double *q, const double *v,
                                   const double *inputs)
{
    lwi_k_prescribed *drive = d->kernel->drive;
    if (d->model->nforce == 0) return NULL;
    lwi_kernel_driven_joints(d->kernel, d->tree.joint_q, d->tree.joint_qd);
    if (d->body_forces) lwi_body_forces_place(d->body_forces, q, v, drive, &d->tree);
    lwi_tree_joint_loads(d->model, &d->tree, t, q, v, inputs ? inputs : d->zero);
    if (d->body_forces) lwi_body_forces_efforts(d->body_forces, drive, &d->tree);
    return d->tree.effort;
}

// The same with the caller's tau; NULL: none.
static const double *joint_efforts(lw_dynamics *d, double t, const double *q, const double *v,
                                   const double *tau, const double *inputs)
{
    const double *effort = model_efforts(d, t, q, v, inputs);
    if (!effort) return tau;
    for (int i = 0; i < d->model->tree_nv; i++) d->work[i] = effort[i] + (tau ? tau[i] : 0);
    return d->work;
}

lw_status lw_forward_dynamics(lw_dynamics *d, double t, const double *q, const double *v,
                              const double *tau, const double *inputs, double *vdot)
{
    if (!d || !q || !v || !vdot) return LW_ERR_ARGUMENT;
    d->error.text[0] = 0;
    const lw_model *model = d->model;
    if (d->loop_rates.work) {
        const lw_status status =
            lwi_loop_rates_evaluate(&d->loop_rates, t, q, v, tau, inputs ? inputs : d->zero, vdot);
        if (status != LW_OK) d->error = d->loop_rates.work->error;
        return status;
    }
    if (d->kernel) lwi_kernel_prescribe(d->kernel, t);
    if (d->kernel &&
        lwi_kernel_aba(d->kernel, q, v, joint_efforts(d, t, q, v, tau, inputs), d->out)) {
        memcpy(vdot, d->out, (size_t)model->tree_nv * sizeof *vdot);
        return LW_OK;
    }
    lwi_tree_evaluate(model, &d->tree, t, q, v, inputs ? inputs : d->zero);
    TRY(lwi_aba(model, &d->tree, d->aba, t, v, tau, d->work, &d->error));
    memcpy(vdot, d->work, (size_t)model->tree_nv * sizeof *vdot);
    return LW_OK;
}

// Up to evaluator states; returns those that are done.
static unsigned block_in_lanes(lw_dynamics *d, int count, double t, const double *q,
                               const double *v, const double *tau, const double *inputs,
                               double *vdot)
{
    const int nq = d->model->tree_nq, nv = d->model->tree_nv;
    double *rq = d->rows, *rv = rq + nq * LWI_LANES, *rtau = rv + nv * LWI_LANES;
    double *out = rtau + nv * LWI_LANES, times[LWI_LANES];
    const double *input[LWI_LANES];
    for (int l = 0; l < LWI_LANES; l++) times[l] = t, input[l] = inputs ? inputs : d->zero;
    lwi_tree_batch_to_rows(d->evaluator, q, nq, count, rq);
    lwi_tree_batch_to_rows(d->evaluator, v, nv, count, rv);
    if (tau) lwi_tree_batch_to_rows(d->evaluator, tau, nv, count, rtau);
    const unsigned set = (1u << count) - 1;
    const unsigned done = lwi_tree_batch_accelerations(d->evaluator, times, rq, rv,
                                                       tau ? rtau : NULL, input, out, set);
    lwi_tree_batch_from_rows(d->evaluator, out, nv, done, vdot);
    return done;
}

lw_status lw_forward_dynamics_many(lw_dynamics *d, int count, double t, const double *q,
                                   const double *v, const double *tau, const double *inputs,
                                   double *vdot)
{
    if (!d || count < 0 || (count && (!q || !v || !vdot))) return LW_ERR_ARGUMENT;
    const int nq = d->model->tree_nq, nv = d->model->tree_nv;
    lw_status first = LW_OK;
    lw_error why = {0};
    for (int i = 0; i < count; i += LWI_LANES) {
        const int n = count - i < LWI_LANES ? count - i : LWI_LANES;
        const double *qi = q + (size_t)i * (size_t)nq, *vi = v + (size_t)i * (size_t)nv;
        const double *taui = tau ? tau + (size_t)i * (size_t)nv : NULL;
        double *out = vdot + (size_t)i * (size_t)nv;
        const unsigned done = d->evaluator ? block_in_lanes(d, n, t, qi, vi, taui, inputs, out) : 0;
        for (int l = 0; l < n; l++) {
            if (done >> l & 1u) continue;
            const lw_status status = lw_forward_dynamics(
                d, t, qi + l * nq, vi + l * nv, taui ? taui + l * nv : NULL, inputs, out + l * nv);
            if (first == LW_OK && status != LW_OK) first = status, why = d->error;
        }
    }
    if (first != LW_OK) d->error = why;
    return first;
}

double lw_dynamics_gap(lw_dynamics *d, double t, const double *q)
{
    if (!d || !q) return INFINITY;
    return d->loop_rates.work ? lwi_loop_rates_gap(&d->loop_rates, t, q) : 0;
}

// The efforts of inverse dynamics by the kernel, in d->work; false if the generic recursion has to decide.
static bool kernel_rnea(lw_dynamics *d, double t, const double *q, const double *v,
                        const double *vdot, const double *inputs)
{
    const int n = d->model->tree_nv;
    if (!d->kernel) return false;
    lwi_kernel_prescribe(d->kernel, t);
    if (!lwi_kernel_rnea(d->kernel, q, v, vdot, d->work)) return false;
    const double *effort = model_efforts(d, t, q, v, inputs);
    double nothing = 0;
    for (int i = 0; effort && i < n; i++) {
        d->work[i] -= effort[i];
        nothing += d->work[i] - d->work[i];
    }
    return nothing == 0;
}

// tau = S'F + I_r vdot - effort: what is left for the joints when the model's own efforts are taken off.
lw_status lw_inverse_dynamics(lw_dynamics *d, double t, const double *q, const double *v,
                              const double *vdot, const double *inputs, double *tau)
{
    if (!d || !q || !v || !vdot || !tau) return LW_ERR_ARGUMENT;
    d->error.text[0] = 0;
    const lw_model *model = d->model;
    if (has_closures(model))
        return lwi_fail(
            &d->error, LW_ERR_UNSUPPORTED,
            "inverse dynamics: efforts are not unique in loops; lw_constraints_tree and "
            "lw_constraints_evaluate give M vdot + h = tau + J' lambda");
    if (kernel_rnea(d, t, q, v, vdot, inputs)) {
        memcpy(tau, d->work, (size_t)model->tree_nv * sizeof *tau);
        return LW_OK;
    }
    lwi_tree_evaluate(model, &d->tree, t, q, v, inputs ? inputs : d->zero);
    lwi_tree_newton_euler(model, &d->tree, v, vdot);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        for (int j = 0; j < node->nv; j++)
            d->work[node->iv + j] = v6_dot(d->tree.link[k].S[j], d->tree.F[k]) -
                                    d->tree.effort[node->iv + j] +
                                    model->tree_rotor[node->iv + j] * vdot[node->iv + j];
    }
    TRY(lwi_tree_finite(model, t, d->work, "effort", &d->error));
    memcpy(tau, d->work, (size_t)model->tree_nv * sizeof *tau);
    return LW_OK;
}

static lw_status no_derivatives(lw_dynamics *d, lw_status status)
{
    return status == LW_ERR_MEMORY ? lwi_fail(&d->error, status, "no memory for derivatives")
                                   : status;
}

// Forces along joints alone read no poses of bodies.
static bool can_merge(const lw_model *model)
{
    return !has_closures(model) && !model->driven && lwi_tree_merges(model) &&
           !(model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST));
}

static lw_status merge(lw_dynamics *d)
{
    lw_model *merged = LWI_PUSH(&d->arena, lw_model, 1);
    lwi_tree_work *tree = LWI_PUSH(&d->arena, lwi_tree_work, 1);
    if (!merged || !tree) return LW_ERR_MEMORY;
    TRY(lwi_tree_merge(d->model, &d->arena, merged));
    TRY(lwi_tree_work_create(merged, &d->arena, tree));
    tree->mode = &d->mode;
    d->rigid = merged, d->rigid_tree = tree;
    return LW_OK;
}

static lw_status create_derivatives(lw_dynamics *d)
{
    lwi_state_derivatives *made = LWI_PUSH(&d->arena, lwi_state_derivatives, 1);
    if (!made) return LW_ERR_MEMORY;
    d->rigid = d->model, d->rigid_tree = &d->tree;
    if (can_merge(d->model)) TRY(merge(d));
    TRY(lwi_state_derivatives_create(d->rigid, &d->arena, made, &d->error));
    d->derivatives = made;
    return LW_OK;
}

static lw_status begin_derivatives(lw_dynamics *d)
{
    d->error.text[0] = 0;
    if (!d->derivatives) TRY(no_derivatives(d, create_derivatives(d)));
    d->rigid_tree->states = d->tree.states;
    return LW_OK;
}

static lw_status begin_loop_derivatives(lw_dynamics *d)
{
    if (d->loop_derivatives || !has_closures(d->model)) return LW_OK;
    lwi_loop_derivatives *made = LWI_PUSH(&d->arena, lwi_loop_derivatives, 1);
    const lw_status status =
        made ? lwi_loop_derivatives_create(d->model, &d->arena, &d->tree, made, &d->error)
             : LW_ERR_MEMORY;
    if (status == LW_OK) d->loop_derivatives = made;
    return no_derivatives(d, status);
}

static lw_status check_finite_matrices(lw_dynamics *d, const double *by_q, const double *by_v)
{
    const int n = d->model->tree_nv * d->model->tree_nv;
    double q = 0, v = 0; // sums of zeros, or NAN
    for (int i = 0; i < n; i++) q += by_q[i] - by_q[i], v += by_v[i] - by_v[i];
    for (int i = 0; q + v != 0 && i < n; i++)
        if (!isfinite(by_q[i]) || !isfinite(by_v[i]))
            return lwi_fail(
                &d->error, LW_ERR_NOT_FINITE,
                "derivatives of the dynamics: entry %d is not finite; expected a finite state "
                "and forces that are smooth there",
                i);
    return LW_OK;
}

lw_status lw_inverse_dynamics_derivatives(lw_dynamics *d, double t, const double *q,
                                          const double *v, const double *vdot, const double *inputs,
                                          double *by_q, double *by_v, double *M)
{
    if (!d || !q || !v || !vdot || !by_q || !by_v || !M) return LW_ERR_ARGUMENT;
    TRY(begin_derivatives(d));
    lwi_inverse_derivatives(d->rigid, d->derivatives, d->rigid_tree, t, q, v, vdot,
                            inputs ? inputs : d->zero, by_q, by_v, M);
    return check_finite_matrices(d, by_q, by_v);
}

lw_status lw_forward_dynamics_derivatives(lw_dynamics *d, double t, const double *q,
                                          const double *v, const double *tau, const double *inputs,
                                          double *vdot, double *by_q, double *by_v, double *by_tau)
{
    if (!d || !q || !v || !vdot || !by_q || !by_v || !by_tau) return LW_ERR_ARGUMENT;
    TRY(begin_derivatives(d));
    TRY(begin_loop_derivatives(d));
    TRY(lw_forward_dynamics(d, t, q, v, tau, inputs, vdot));
    if (d->loop_derivatives)
        TRY(lwi_loop_forward_derivatives(d->model, d->loop_derivatives, d->derivatives, &d->tree, t,
                                         q, v, tau, vdot, inputs ? inputs : d->zero, by_q, by_v,
                                         by_tau, &d->error));
    else
        TRY(lwi_forward_derivatives(d->rigid, d->derivatives, d->rigid_tree, t, q, v, vdot,
                                    inputs ? inputs : d->zero, by_q, by_v, by_tau, &d->error));
    return check_finite_matrices(d, by_q, by_v);
}

static bool kernel_crba(lw_dynamics *d, double t, const double *q, double *M)
{
    if (!d->kernel) return false;
    lwi_kernel_prescribe(d->kernel, t);
    return lwi_kernel_mass_matrix(d->kernel, &d->columns, q, M);
}

// The diagonal is checked: what is not finite at a joint makes the diagonal entries of all joints inboard of it so.
lw_status lw_mass_matrix(lw_dynamics *d, double t, const double *q, double *M)
{
    if (!d || !q || !M) return LW_ERR_ARGUMENT;
    const size_t n = (size_t)d->model->tree_nv;
    TRY(check_finite(d, "q", q, d->model->tree_nq));
    if (!kernel_crba(d, t, q, M)) {
        lwi_tree_position(d->model, t, q, d->tree.link);
        lwi_crba(d->model, d->tree.link, d->composite, M);
    }
    for (size_t i = 0; i < n; i++) d->work[i] = M[i * (n + 1)];
    return lwi_tree_finite(d->model, t, d->work, "inertia", &d->error);
}

// ----------------------------------------------------------------------------------------- momenta

// Momenta of the tree lack the rotors of cut joints.
static bool has_cut_rotors(const lw_model *model)
{
    for (int i = 0; i < model->nloop; i++)
        if (model->joint[model->loop[i]].nrotor > 0) return true;
    return false;
}

static lw_status begin_loops(lw_dynamics *d)
{
    if (d->loop_momenta.work) return LW_OK;
    const lw_status status =
        lwi_loop_momenta_create(d->model, &d->arena.allocator, &d->loop_momenta, &d->error);
    return status == LW_ERR_MEMORY
               ? lwi_fail(&d->error, status, "no memory for the momenta of loops")
               : status;
}

lw_status lw_momenta(lw_dynamics *d, double t, const double *q, const double *v, double *p)
{
    if (!d || !q || !v || !p) return LW_ERR_ARGUMENT;
    const lw_model *model = d->model;
    TRY(check_finite(d, "q", q, model->tree_nq));
    TRY(check_finite(d, "v", v, model->tree_nv));
    if (has_cut_rotors(model)) {
        TRY(begin_loops(d));
        lwi_loop_momenta_of_speeds(&d->loop_momenta, t, q, v, d->work);
    } else {
        lwi_tree_position(model, t, q, d->tree.link);
        lwi_tree_velocity(model, d->tree.link, v, d->tree.V);
        lwi_momenta_of_speeds(model, &d->momenta, &d->tree, v, d->work);
    }
    TRY(lwi_tree_finite(model, t, d->work, "momentum", &d->error));
    memcpy(p, d->work, (size_t)model->tree_nv * sizeof *p);
    return LW_OK;
}

// The same with loops or couplings.
static lw_status loop_rates(lw_dynamics *d, double t, const double *q, const double *p,
                            const double *tau, const double *inputs, double *v, double *qdot,
                            double *pdot)
{
    TRY(check_finite(d, "q", q, d->model->tree_nq));
    TRY(check_finite(d, "p", p, d->model->tree_nv));
    TRY(begin_loops(d));
    const lw_status status = lwi_loop_momenta_evaluate(&d->loop_momenta, t, q, p, tau,
                                                       inputs ? inputs : d->zero, v, qdot, pdot);
    if (status != LW_OK) d->error = d->loop_momenta.why;
    return status;
}

lw_status lw_momenta_rates(lw_dynamics *d, double t, const double *q, const double *p,
                           const double *tau, const double *inputs, double *v, double *qdot,
                           double *pdot)
{
    if (!d || !q || !p || !v || !qdot || !pdot) return LW_ERR_ARGUMENT;
    d->error.text[0] = 0;
    const lw_model *model = d->model;
    const size_t size = (size_t)model->tree_nv * sizeof *v;
    if (has_closures(model)) return loop_rates(d, t, q, p, tau, inputs, v, qdot, pdot);
    if (d->kernel) lwi_kernel_prescribe(d->kernel, t);
    if (d->kernel && lwi_kernel_momenta(d->kernel, q, p, d->speeds, d->out)) {
        const double *effort = joint_efforts(d, t, q, d->speeds, tau, inputs);
        lwi_tree_kinematics_free(model, q, d->speeds, qdot);
        memcpy(v, d->speeds, size);
        for (int i = 0; i < model->tree_nv; i++) pdot[i] = d->out[i] + (effort ? effort[i] : 0);
        return LW_OK;
    }
    lwi_tree_position(model, t, q, d->tree.link);
    TRY(lwi_momenta_speeds(model, &d->momenta, &d->tree, t, p, d->work, &d->error));
    memcpy(v, d->work, size);
    lwi_tree_rates(model, t, v, d->tree.link);
    lwi_tree_loads(model, &d->tree, t, v, inputs ? inputs : d->zero);
    lwi_tree_kinematics(model, d->tree.link, v, qdot);
    lwi_momenta_rates(model, &d->momenta, &d->tree, tau, pdot);
    return LW_OK;
}
