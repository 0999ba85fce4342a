// batch_evaluator.c -- batch evaluator: eight states of one model by its SIMD kernel, rows in, rows out.
//
// Forces, prescribed motions and rates of quaternions are evaluated lane by lane by the scalar functions, in the order
// of operations of aba.c and momenta.c (kernel_rates).
#include "tree/batch_evaluator.h"

#include "tree/body_forces.h"
#include "tree/kernel.h"

#include <string.h>

struct lwi_tree_batch {
    const lw_model *model;
    const lwi_kernel_plan *plan;
    const lwi_kernels *kernels;
    lwi_k_state state;                             // a batch of LWI_LANES states
    lwi_kernel lane[LWI_LANES];                    // for the prescribed motions of each
    lwi_body_forces *body_forces;                  // NULL: all forces act along joints
    lwi_tree_work tree;                            // loads, if the model has forces
    double *q, *v, *qdot;                          // of one lane
    lwi_states states;                             // of signals, of one lane
    double *z, *zdot;                              // [nstate] their memory
    double (*tau)[LWI_LANES], (*speed)[LWI_LANES]; // [tree_nv]
    double *effort[LWI_LANES];                     // [nv] of forces, if motions are prescribed
    bool quaternions;                              // the rates of some coordinates are not speeds
};

#define ROW(rows, i) ((rows) + (size_t)(i)*LWI_LANES)

static lw_status create_drives(lwi_tree_batch *s, const lwi_kernel *kernel, lwi_arena *arena)
{
    const int ndrive = s->plan->ndrive;
    for (int l = 0; l < LWI_LANES; l++) {
        s->lane[l] = *kernel;
        s->lane[l].drive = LWI_PUSH(arena, lwi_k_prescribed, ndrive);
        s->effort[l] = LWI_PUSH(arena, double, ndrive ? s->model->nv : 0);
        if (!s->lane[l].drive || !s->effort[l]) return LW_ERR_MEMORY;
        for (int i = 0; i < ndrive; i++) s->lane[l].drive[i] = kernel->drive[i];
    }
    return LW_OK;
}

lw_status lwi_tree_batch_create(const lw_model *model, lwi_arena *arena, lwi_tree_batch **out)
{
    lwi_kernel *kernel;
    *out = NULL;
    TRY(lwi_kernel_create_prescribed(model, 0, arena, &kernel));
    if (!kernel || kernel->plan->segments) return LW_OK;
    lwi_tree_batch *s = LWI_PUSH(arena, lwi_tree_batch, 1);
    if (!s) return LW_ERR_MEMORY;
    *s = (lwi_tree_batch){.model = model, .plan = kernel->plan, .kernels = kernel->kernels};
    TRY(lwi_k_state_create(s->plan, true, arena, &s->state));
    TRY(create_drives(s, kernel, arena));
    TRY(lwi_body_forces_create(model, arena, &s->body_forces));
    if (model->nforce) TRY(lwi_tree_work_create(model, arena, &s->tree));
    s->q = LWI_PUSH(arena, double, model->tree_nq);
    s->qdot = LWI_PUSH(arena, double, model->tree_nq);
    s->v = LWI_PUSH(arena, double, model->tree_nv);
    s->tau = lwi_arena_push(arena, (size_t)model->tree_nv, sizeof *s->tau);
    s->speed = lwi_arena_push(arena, (size_t)model->tree_nv, sizeof *s->speed);
    s->z = LWI_PUSH(arena, double, model->nstate);
    s->zdot = LWI_PUSH(arena, double, model->nstate);
    s->tree.states = &s->states;
    if (!s->q || !s->qdot || !s->v || !s->tau || !s->speed || !s->z || !s->zdot)
        return LW_ERR_MEMORY;
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

// Prescribed motions of the lanes, into the blocks.
static void prescribe(lwi_tree_batch *s, const double *t, unsigned set)
{
    for (int l = 0; s->plan->ndrive > 0 && set >> l; l++) {
        if (!(set >> l & 1u)) continue;
        lwi_kernel_prescribe(&s->lane[l], t[l]);
        for (int i = 0; i < s->plan->ndrive; i++) {
            const lwi_k_prescribed *drive = &s->lane[l].drive[i];
            lwi_k_joint *joint = &s->state.joint[s->plan->step[drive->step].slot];
            joint->q[l] = drive->value[0];
            joint->v[l] = drive->value[1];
            joint->tau[l] = drive->value[2];
        }
    }
}

// Adds the power of the prescribed motions to a row (may be NULL); returns the lanes in which their forces are finite.
static unsigned take_drives(const lwi_tree_batch *s, bool momenta, double *power, unsigned set)
{
    for (int l = 0; s->plan->ndrive > 0 && set >> l; l++) {
        const lwi_kernel *lane = &s->lane[l];
        if (!(set >> l & 1u)) continue;
        if (!lwi_kernel_take_drives(lane, &s->state, l, momenta)) set &= ~(1u << l);
        if (power)
            power[l] += momenta ? lwi_kernel_prescribed_rate(lane, s->effort[l])
                                : lwi_kernel_drive_power(lane, s->effort[l]);
    }
    return set;
}

// Efforts of the model's forces on one lane, after take_lane.
static void lane_loads(lwi_tree_batch *s, double t, const double *inputs, int l)
{
    const lw_model *model = s->model;
    lwi_k_prescribed *drive = s->lane[l].drive;
    lwi_kernel_driven_joints(&s->lane[l], s->tree.joint_q, s->tree.joint_qd);
    if (s->body_forces) lwi_body_forces_place(s->body_forces, s->q, s->v, drive, &s->tree);
    lwi_tree_joint_loads(model, &s->tree, t, s->q, s->v, inputs);
    if (s->body_forces) lwi_body_forces_efforts(s->body_forces, drive, &s->tree);
    if (s->plan->ndrive)
        memcpy(s->effort[l], s->tree.loads.effort, (size_t)model->nv * sizeof(double));
}

// The rows of the states of signals, and of their rates; NULL: those of the start.
typedef struct signal_rows {
    const double *value;
    double *rate;
} signal_rows;

// The last components of a state with speeds that begin at v.
static signal_rows rows_of_signals(const lw_model *model, const double *v, double *vdot)
{
    const int at = model->tree_nv + model->carries_work;
    return (signal_rows){.value = ROW(v, at), .rate = ROW(vdot, at)};
}

static void take_signals(lwi_tree_batch *s, signal_rows rows, int l)
{
    s->states = (lwi_states){0};
    if (!rows.value) return;
    for (int i = 0; i < s->model->nstate; i++) s->z[i] = ROW(rows.value, i)[l];
    s->states = (lwi_states){.value = s->z, .rate = s->zdot};
}

static void put_signals(const lwi_tree_batch *s, signal_rows rows, int l)
{
    for (int i = 0; rows.rate && i < s->model->nstate; i++) ROW(rows.rate, i)[l] = s->zdot[i];
}

// Efforts of the model's forces into s->tau, their power into a row (may be NULL).
static void loads(lwi_tree_batch *s, const double *t, const double *q, const double *v,
                  const double *const *inputs, signal_rows signals, double *power, unsigned set)
{
    const lw_model *model = s->model;
    if (model->nforce == 0 && power) memset(power, 0, sizeof(lwi_lanes));
    for (int l = 0; model->nforce > 0 && set >> l; l++) {
        if (!(set >> l & 1u)) continue;
        take_lane(s, q, v, l);
        take_signals(s, signals, l);
        lane_loads(s, t[l], inputs[l], l);
        put_signals(s, signals, l);
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
    prescribe(s, t, set);
    loads(s, t, q, v, inputs, (signal_rows){NULL, NULL}, NULL, set);
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
    double *power = model->carries_work ? ROW(vdot, model->tree_nv) : NULL;
    prescribe(s, t, set);
    loads(s, t, x, v, inputs, rows_of_signals(model, v, vdot), power, set);
    s->kernels->rows_in(s->plan, &s->state, x, v, s->tau[0]);
    const unsigned rejected = s->kernels->aba_batch(s->plan, &s->state);
    kinematics(s, x, v, xdot, set);
    set &= ~rejected & s->kernels->rows_out(s->plan, &s->state, false, vdot);
    return take_drives(s, false, power, set);
}

unsigned lwi_tree_batch_momenta(lwi_tree_batch *s, const double *t, const double *x,
                                const double *const *inputs, double *xdot, unsigned set)
{
    const lw_model *model = s->model;
    double *pdot = ROW(xdot, model->tree_nq), *v = s->speed[0];
    double *power = model->carries_work ? ROW(pdot, model->tree_nv) : NULL;
    prescribe(s, t, set);
    s->kernels->rows_in(s->plan, &s->state, x, ROW(x, model->tree_nq), NULL);
    const unsigned rejected = s->kernels->momenta_batch(s->plan, &s->state);
    set &= ~rejected & s->kernels->rows_out(s->plan, &s->state, false, v) &
           s->kernels->rows_out(s->plan, &s->state, true, pdot);
    loads(s, t, x, v, inputs, rows_of_signals(model, ROW(x, model->tree_nq), pdot), power, set);
    kinematics(s, x, v, xdot, set);
    set = take_drives(s, true, power, set);
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
