// batch_evaluator.c -- batch evaluator: eight states of one model by its SIMD kernel, rows in, rows out.
//
// Forces on joints and rates of quaternions are evaluated lane by lane by the scalar functions, in the order
// of operations of aba.c and momenta.c (kernel_rates).
#include "tree/batch_evaluator.h"

#include "tree/kernel.h"

#include <string.h>

struct lwi_tree_batch {
    const lw_model *model;
    const lwi_kernel_plan *plan;
    const lwi_kernels *kernels;
    lwi_k_state state;                             // a batch of LWI_LANES states
    lwi_tree_work tree;                            // loads, if the model has forces
    double *q, *v, *qdot;                          // of one lane
    double (*tau)[LWI_LANES], (*speed)[LWI_LANES]; // [tree_nv]
    bool quaternions;                              // the rates of some coordinates are not speeds
};

#define ROW(rows, i) ((rows) + (size_t)(i)*LWI_LANES)

lw_status lwi_tree_batch_create(const lw_model *model, lwi_arena *arena, lwi_tree_batch **out)
{
    lwi_kernel *kernel;
    *out = NULL;
    TRY(lwi_kernel_create(model, 0, arena, &kernel));
    if (!kernel || kernel->plan->segments) return LW_OK;
    lwi_tree_batch *s = LWI_PUSH(arena, lwi_tree_batch, 1);
    if (!s) return LW_ERR_MEMORY;
    *s = (lwi_tree_batch){.model = model, .plan = kernel->plan, .kernels = kernel->kernels};
    TRY(lwi_k_state_create(s->plan, true, arena, &s->state));
    if (model->nforce) TRY(lwi_tree_work_create(model, arena, &s->tree));
    s->q = LWI_PUSH(arena, double, model->tree_nq);
    s->qdot = LWI_PUSH(arena, double, model->tree_nq);
    s->v = LWI_PUSH(arena, double, model->tree_nv);
    s->tau = lwi_arena_push(arena, (size_t)model->tree_nv, sizeof *s->tau);
    s->speed = lwi_arena_push(arena, (size_t)model->tree_nv, sizeof *s->speed);
    if (!s->q || !s->qdot || !s->v || !s->tau || !s->speed) return LW_ERR_MEMORY;
    for (int k = 0; k < model->nnode; k++)
        if (!model->node[k].type->scalar) s->quaternions = true;
    *out = s;
    return LW_OK;
}

static void take_lane(const lwi_tree_batch *s, const double *q, const double *v, int l)
{
    for (int i = 0; i < s->model->tree_nq; i++) s->q[i] = ROW(q, i)[l];
    for (int i = 0; i < s->model->tree_nv; i++) s->v[i] = ROW(v, i)[l];
}

// Rates of coordinates: the speeds, except for quaternions.
static void kinematics(const lwi_tree_batch *s, const double *q, const double *v, double *qdot,
                       unsigned set)
{
    const lw_model *model = s->model;
    if (!s->quaternions) {
        memcpy(qdot, v, (size_t)model->tree_nq * sizeof(lwi_lanes));
        return;
    }
    for (int l = 0; set >> l; l++) {
        if (!(set >> l & 1u)) continue;
        take_lane(s, q, v, l);
        lwi_tree_kinematics_free(model, s->q, s->v, s->qdot);
        for (int i = 0; i < model->tree_nq; i++) ROW(qdot, i)[l] = s->qdot[i];
    }
}

// Efforts of the model's forces into s->tau, their power into a row (may be NULL).
static void loads(lwi_tree_batch *s, const double *t, const double *q, const double *v,
                  const double *const *inputs, double *power, unsigned set)
{
    const lw_model *model = s->model;
    if (model->nforce == 0 && power) memset(power, 0, sizeof(lwi_lanes));
    for (int l = 0; model->nforce > 0 && set >> l; l++) {
        if (!(set >> l & 1u)) continue;
        take_lane(s, q, v, l);
        lwi_tree_joint_loads(model, &s->tree, t[l], s->q, s->v, inputs[l]);
        for (int i = 0; i < model->tree_nv; i++) s->tau[i][l] = s->tree.effort[i];
        if (power) power[l] = s->tree.power;
    }
}

// ------------------------------------------------------------------------------------ formulations

unsigned lwi_tree_batch_accelerations(lwi_tree_batch *s, const double *t, const double *q,
                                      const double *v, const double *tau,
                                      const double *const *inputs, double *vdot, unsigned set)
{
    const lw_model *model = s->model;
    loads(s, t, q, v, inputs, NULL, set);
    if (!tau) {
        s->kernels->rows_in(s->plan, &s->state, q, v, s->tau[0]);
    } else if (model->nforce == 0) {
        s->kernels->rows_in(s->plan, &s->state, q, v, tau);
    } else {
        for (int i = 0; i < model->tree_nv; i++)
            for (int l = 0; l < LWI_LANES; l++) s->tau[i][l] += ROW(tau, i)[l];
        s->kernels->rows_in(s->plan, &s->state, q, v, s->tau[0]);
    }
    const unsigned rejected = s->kernels->aba_batch(s->plan, &s->state);
    return set & ~rejected & s->kernels->rows_out(s->plan, &s->state, false, vdot);
}

unsigned lwi_tree_batch_aba(lwi_tree_batch *s, const double *t, const double *x,
                            const double *const *inputs, double *xdot, unsigned set)
{
    const lw_model *model = s->model;
    const double *v = ROW(x, model->tree_nq);
    double *vdot = ROW(xdot, model->tree_nq);
    loads(s, t, x, v, inputs, model->carries_work ? ROW(vdot, model->tree_nv) : NULL, set);
    s->kernels->rows_in(s->plan, &s->state, x, v, s->tau[0]);
    const unsigned rejected = s->kernels->aba_batch(s->plan, &s->state);
    kinematics(s, x, v, xdot, set);
    return set & ~rejected & s->kernels->rows_out(s->plan, &s->state, false, vdot);
}

unsigned lwi_tree_batch_momenta(lwi_tree_batch *s, const double *t, const double *x,
                                const double *const *inputs, double *xdot, unsigned set)
{
    const lw_model *model = s->model;
    double *pdot = ROW(xdot, model->tree_nq), *v = s->speed[0];
    s->kernels->rows_in(s->plan, &s->state, x, ROW(x, model->tree_nq), NULL);
    const unsigned rejected = s->kernels->momenta_batch(s->plan, &s->state);
    set &= ~rejected & s->kernels->rows_out(s->plan, &s->state, false, v) &
           s->kernels->rows_out(s->plan, &s->state, true, pdot);
    loads(s, t, x, v, inputs, model->carries_work ? ROW(pdot, model->tree_nv) : NULL, set);
    kinematics(s, x, v, xdot, set);
    if (model->nforce == 0) return set;
    lwi_lanes zero = {0};
    for (int i = 0; i < model->tree_nv; i++)
        for (int l = 0; l < LWI_LANES; l++) {
            ROW(pdot, i)[l] += s->tau[i][l];
            zero[l] += 0 * ROW(pdot, i)[l];
        }
    for (int l = 0; l < LWI_LANES; l++)
        if (zero[l] != 0) set &= ~(1u << l);
    return set;
}

// -------------------------------------------------------------------------------------- transposes

void lwi_tree_batch_to_rows(const lwi_tree_batch *s, const double *states, int n, int count,
                            double *rows)
{
    if (count == LWI_LANES) {
        s->kernels->to_rows(states, n, rows);
        return;
    }
    for (int l = 0; l < count; l++)
        for (int i = 0; i < n; i++) ROW(rows, i)[l] = states[l * n + i];
}

void lwi_tree_batch_from_rows(const lwi_tree_batch *s, const double *rows, int n, unsigned set,
                              double *states)
{
    if (set == (1u << LWI_LANES) - 1) {
        s->kernels->from_rows(rows, n, states);
        return;
    }
    for (int l = 0; set >> l; l++)
        for (int i = 0; set >> l & 1u && i < n; i++) states[l * n + i] = ROW(rows, i)[l];
}
