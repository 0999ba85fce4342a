// state.c -- setting the state, by its components, joint coordinates or a motion, and the inputs.
#include "simulate/simulation.h"

#include "base/assert.h"
#include "kinematics/tree.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"
#include "system/singular.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Allowed violation of loop-closing joints [m, rad]: as for the initial state of a model, values of six digits
// are accepted.
#define CLOSURE_TOLERANCE 1e-6
// An integrated motion drifts from its constraints; a violation of this size [m, rad, per second] means another
// mechanism.
#define MOTION_TOLERANCE 1e-3

int lwi_sim_step_numbers(const lw_sim *sim)
{
    if (!sim->work->layout.nx) return 0; // nothing moves
    const lwi_integrator_type *type = lwi_integrator_find(sim->options.integrator);
    return type->numbers ? type->numbers(sim->work->layout.nx, (int)sim->options.order) : 0;
}

void lwi_sim_clear_steps(lw_sim *sim)
{
    for (int i = lwi_sim_step_numbers(sim) - 1; i >= 0; i--) sim->kept_step[i] = 0;
}

int lw_sim_state_size(const lw_sim *sim)
{
    if (!sim) return 0;
    return sim->work->layout.nx + sim->work->nkept + lwi_sim_step_numbers(sim);
}

void lw_sim_get_state(const lw_sim *sim, double *time, double *x)
{
    if (!sim) return;
    const lwi_work *work = sim->work;
    const lwi_integrator *integrator = sim->integrator;
    if (time) *time = sim->t;
    if (!x) return;
    for (int i = 0; i < work->layout.nx; i++) x[i] = sim->x[i];
    x += work->layout.nx;
    if (work->nkept) work->formulation->keep(work, x);
    x += work->nkept;
    if (!integrator->type->keep) return;
    if (sim->pending == LWI_NEW_STATE)
        memcpy(x, sim->kept_step, (size_t)lwi_sim_step_numbers(sim) * sizeof *x);
    else
        integrator->type->keep(integrator, x);
}

lw_status lw_sim_rates(lw_sim *sim, double *xdot)
{
    if (!sim) return LW_ERR_ARGUMENT;
    lwi_work *work = sim->work;
    const lwi_formulation *f = work->formulation;
    const int n = lw_sim_state_size(sim);
    if (!xdot && n) return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "rates: xdot is NULL");
    if (!f->rates)
        return lwi_fail(&sim->error, LW_ERR_UNSUPPORTED,
                        "rates: formulation %s has own steps, and no rates", f->name);
    TRY(lwi_sim_call_back_here(sim, "rates"));
    const lw_status status = f->rates(work, sim->t, sim->x, sim->inputs, xdot);
    if (status != LW_OK) return lwi_sim_fail_work(sim, status, "the rates");
    for (int i = work->layout.nx; i < n; i++) xdot[i] = 0;
    return LW_OK;
}

lw_status lwi_sim_check_finite(lw_sim *sim, const char *what, const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return lwi_fail(&sim->error, LW_ERR_NOT_FINITE, "%s %d is not finite (%g)", what, i,
                            x[i]);
    return LW_OK;
}

// Sets another state; all history is discarded but the discrete state, which the caller sets.
static void jump(lw_sim *sim, double time, const double *x)
{
    lwi_sim_leave_crossing(sim); // at the time until which the run has followed it
    sim->crossing.started = sim->placed = false;
    for (int i = 0; i < sim->work->layout.nx; i++) sim->x[i] = x[i]; // x may be NULL for no states
    sim->t = sim->start = time;
    sim->pending = LWI_NEW_STATE;
    lwi_sim_clear_steps(sim);
    if (sim->raised)
        memcpy(sim->attainable, sim->atol, (size_t)sim->work->layout.nx * sizeof *sim->atol);
    sim->raised = false;
    sim->work->mode = NULL; // from the state, until the next step
    sim->work->valid_until = INFINITY;
    lwi_sim_find_break(sim);
    sim->audit.begun = false;
    sim->audit.work_beside = 0;
    sim->impacts.struck = false;
    lwi_sim_restart_triggers(sim);
}

// A quaternion far from length 1 is no attitude.
static lw_status check_quaternions(lw_sim *sim, const double *x)
{
    const lwi_layout *layout = &sim->work->layout;
    for (int i = 0, k = 0; i < layout->nblock; k += layout->block[i++].n) {
        if (layout->block[i].kind != LWI_QUATERNION) continue;
        for (int j = k; j < k + layout->block[i].n; j += 4) {
            const double size =
                sqrt(x[j] * x[j] + x[j + 1] * x[j + 1] + x[j + 2] * x[j + 2] + x[j + 3] * x[j + 3]);
            if (!(size > 0.5 && size < 2))
                return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                                "state component %d: the quaternion has length %g", j, size);
        }
    }
    return LW_OK;
}

// The drive that a motion breaks most, in its coordinate or its speed; "": none by more than the tolerance.
static const char *violated_drive(lw_sim *sim, int derivative, char *text, size_t size)
{
    const lw_model *m = sim->model;
    double largest = MOTION_TOLERANCE, f[3];
    text[0] = 0;
    for (int j = 0; j < m->njoint; j++)
        for (int k = 0; k < m->joint[j].type->nv && m->joint[j].ndriven; k++) {
            if (!m->joint[j].motion[k].index) continue;
            const double is = derivative ? sim->snapshot.qd[m->joint[j].iv + k]
                                         : sim->snapshot.q[m->joint[j].iq + k];
            lwi_function_eval(m->function, m->joint[j].motion[k], sim->snapshot.t, f);
            if (!(fabs(f[derivative] - is) > largest)) continue;
            largest = fabs(f[derivative] - is);
            snprintf(
                text, size,
                ": the motion of joint '%.60s' has %s%d = %.6g at t = %.6g s, this motion %.6g",
                m->joint[j].name, derivative ? "qd" : "q", k, f[derivative], sim->snapshot.t, is);
        }
    return text;
}

// The constraints of a motion hold as well as those of an integrated one.
static lw_status check_residuals(lw_sim *sim)
{
    char drive[200];
    lwi_totals system;
    lwi_observe_system(sim->model, LW_OBSERVE_ENERGY, &sim->snapshot, &system);
    for (int k = 0; k < 2; k++)
        if (!(system.residual[k] <= MOTION_TOLERANCE))
            return lwi_fail(
                &sim->error, LW_ERR_ARGUMENT,
                "the joints do not hold in this motion: the largest residual of %s is %.3g%s",
                k ? "velocity" : "position", system.residual[k],
                violated_drive(sim, k, drive, sizeof drive));
    return LW_OK;
}

// A state that cannot be observed is left to the next step, which has a reason.  Where drift is left as it is, any is
// allowed.
static lw_status check_motion_of(lw_sim *sim, double time, const double *x)
{
    lwi_work *work = sim->work;
    const unsigned char *mode = work->mode;
    void *discrete = work->discrete;
    lw_status status = LW_OK;
    if (work->ndiscrete) memset(sim->spare, 0, work->ndiscrete);
    work->discrete = sim->spare; // of the new state
    work->mode = NULL;
    if (work->nkept) status = work->formulation->recall(work, time, x, x + work->layout.nx);
    const bool known = status == LW_OK;
    if (known)
        status = work->formulation->observe(work, time, x, sim->inputs, LW_OBSERVE_TWIST,
                                            &sim->snapshot);
    work->discrete = discrete;
    work->mode = mode;
    if (!known) return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "%s", work->error.text);
    if (status != LW_OK || sim->options.project == LW_PROJECT_NEVER) return LW_OK;
    return check_residuals(sim);
}

lw_status lw_sim_set_state(lw_sim *sim, double time, const double *x)
{
    if (!sim) return LW_ERR_ARGUMENT;
    const int n = lw_sim_state_size(sim);
    lwi_work *work = sim->work;
    if (!x && n) return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "the state is missing");
    TRY(lwi_sim_check_finite(sim, "time", &time, 1));
    TRY(lwi_sim_check_finite(sim, "state component", x, n));
    TRY(check_quaternions(sim, x));
    TRY(check_motion_of(sim, time, x));
    jump(sim, time, x);
    if (work->ndiscrete) memset(work->discrete, 0, work->ndiscrete);
    if (work->nkept) TRY(work->formulation->recall(work, time, x, x + work->layout.nx));
    const int steps = lwi_sim_step_numbers(sim);
    for (int i = 0; i < steps; i++) sim->kept_step[i] = x[n - steps + i];
    sim->triggers.resumed = time > 0; // events at this time were part of the run before
    return LW_OK;
}

// At a singular position more than one motion may continue a state, and round-off would choose; only at the start of a run
// do the velocities (singular_start.c).  The steps of index3 follow them.
static lw_status check_position(lw_sim *sim)
{
    lwi_monitor *monitor = &sim->monitor;
    int edge = 0;
    if (!monitor->active || sim->takes_singular || sim->work->formulation->step) return LW_OK;
    const double pivot = lwi_monitor_pivot(monitor, &sim->snapshot, &edge);
    if (!(pivot < LWI_SYSTEM_RANK)) return LW_OK;
    const int joint = monitor->system.edge_joint[edge];
    const lw_status status =
        lwi_singular_fail(sim->model, joint, sim->snapshot.t, pivot, &sim->work->error);
    return lwi_sim_fail_work(sim, status, "the new state");
}

lw_status lwi_sim_begin(lw_sim *sim)
{
    TRY(check_position(sim));
    const lw_status status = sim->work->formulation->enter(sim->work, &sim->snapshot, sim->scratch);
    if (status != LW_OK) return lwi_sim_fail_work(sim, status, "the new state");
    jump(sim, sim->snapshot.t, sim->scratch);
    return LW_OK;
}

// Copies an observed motion to sim->snapshot, with normalised quaternions.
static lw_status take_motion(lw_sim *sim, const lw_observation *o)
{
    const lw_model *model = sim->model;
    const int nbody = model->nbody;
    lwi_snapshot *m = &sim->snapshot;
    TRY(lwi_sim_check_finite(sim, "time", &o->time, 1));
    TRY(lwi_sim_check_finite(sim, "position", o->position[0], 3 * nbody));
    TRY(lwi_sim_check_finite(sim, "quaternion", o->quaternion[0], 4 * nbody));
    TRY(lwi_sim_check_finite(sim, "velocity", o->velocity[0], 3 * nbody));
    TRY(lwi_sim_check_finite(sim, "angular velocity", o->angular_velocity[0], 3 * nbody));
    TRY(lwi_sim_check_finite(sim, "coordinate", o->q, model->nq));
    TRY(lwi_sim_check_finite(sim, "speed", o->qd, model->nv));
    TRY(lwi_sim_check_finite(sim, "work", &o->work, 1));
    for (int b = 1; b < nbody; b++) {
        const double *q = o->quaternion[b];
        const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(size > 0.5 && size < 2))
            return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "body '%s': its quaternion has length %g",
                            model->body[b].name, size);
        for (int k = 0; k < 4; k++) m->quat[b][k] = q[k] / size;
        quat_matrix(m->R[b], m->quat[b]);
        v3_copy(m->r[b], o->position[b]);
        v3_copy(m->v[b], o->velocity[b]);
        v3_copy(m->w[b], o->angular_velocity[b]);
    }
    for (int i = 0; i < model->nq; i++) m->q[i] = o->q[i];
    for (int i = 0; i < model->nv; i++) m->qd[i] = o->qd[i];
    const double *states = o->states ? o->states : model->state0;
    TRY(lwi_sim_check_finite(sim, "state of a signal", states, model->nstate));
    for (int i = 0; i < model->nstate; i++) m->states[i] = states[i];
    m->t = o->time;
    m->work = o->level >= LW_OBSERVE_ENERGY ? o->work : 0;
    return LW_OK;
}

lw_status lw_sim_set_motion(lw_sim *sim, const lw_observation *o)
{
    if (!sim) return LW_ERR_ARGUMENT;
    if (!o || o->level < LW_OBSERVE_TWIST)
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "a motion with velocities is missing");
    sim->placed = false; // the snapshot is no longer that of the state
    TRY(take_motion(sim, o));
    TRY(check_residuals(sim));
    TRY(lwi_sim_begin(sim));
    if (!lwi_layout_has(&sim->work->layout, LWI_WORK)) sim->audit.work_beside = sim->snapshot.work;
    return LW_OK;
}

lw_status lw_sim_set_input(lw_sim *sim, int index, double value)
{
    if (!sim) return LW_ERR_ARGUMENT;
    const int n = sim->model->desc.ninput;
    if (index < 0 || index >= n)
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "input %d: the model has %d inputs", index,
                        n);
    if (!isfinite(value))
        return lwi_fail(&sim->error, LW_ERR_NOT_FINITE, "input '%s': %g is not finite",
                        lw_model_input_name(sim->model, index), value);
    if (sim->inputs[index] == value) return LW_OK;
    sim->inputs[index] = value;
    if (sim->pending == LWI_NOTHING) sim->pending = LWI_NEW_RATES;
    return LW_OK;
}

// Coordinates and speeds of a joint outside the tree from its bodies' motion, near those in m.
static void follow_loop_joint(const lw_model *model, int j, lwi_snapshot *m, double (*w)[3])
{
    LWI_ASSERT_INDEX(j, model->njoint);
    LWI_ASSERT(model->joint[j].node < 0);
    const lwi_joint *joint = &model->joint[j];
    const lwi_joint_type *type = joint->type;
    double R[9], r[3], V[6], T[LW_JOINT_MAX_NV][6], q[LW_JOINT_MAX_NQ];
    lwi_joint_relative(model, j, m->t, (const double(*)[9])m->R, (const double(*)[3])m->r,
                       (const double(*)[3])m->v, (const double(*)[3])w, R, r, V);
    if (type->nv == 0) return;
    type->read(&joint->par, R, r, m->q + joint->iq, q);
    memcpy(m->q + joint->iq, q, (size_t)type->nq * sizeof *q);
    type->effort(&joint->par, q, T); // S_i . T_j = (i == j), so that u_j = T_j . V
    for (int k = 0; k < type->nv; k++) m->qd[joint->iv + k] = v6_dot(T[k], V);
}

// The loop joint must be satisfied by the poses of the tree.
static lw_status check_loop_joint(lw_sim *sim, int j)
{
    LWI_ASSERT_INDEX(j, sim->model->njoint);
    double phi[LWI_CLOSURE_ROWS], phidot[LWI_CLOSURE_ROWS], speed = 1;
    for (int k = 0; k < sim->model->nv; k++) speed = fmax(speed, fabs(sim->snapshot.qd[k]));
    const int n = lwi_joint_residual(sim->model, j, &sim->snapshot, phi, phidot, NULL);
    for (int i = 0; i < n; i++) {
        const bool place = fabs(phi[i]) > CLOSURE_TOLERANCE;
        if (!place && fabs(phidot[i]) <= CLOSURE_TOLERANCE * speed) continue;
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                        "joint '%s' does not close at these %s: constraint %d is off by %.3g",
                        sim->model->joint[j].name, place ? "coordinates" : "speeds", i,
                        place ? phi[i] : phidot[i]);
    }
    return LW_OK;
}

static lw_status check_coupling(lw_sim *sim, const lwi_coupling *c)
{
    const lw_model *model = sim->model;
    const lwi_joint *joint = &model->joint[c->joint], *of = &model->joint[c->of];
    const double at = sim->snapshot.q[of->iq + c->with], speed = sim->snapshot.qd[of->iv + c->with];
    double value = 0, slope = 0; // of the polynomial, by Horner's rule
    for (int k = c->n - 1; k >= 0; k--) {
        slope = slope * at + value;
        value = value * at + c->c[k];
    }
    const double off = sim->snapshot.q[joint->iq + c->coordinate] - value;
    const double drift = sim->snapshot.qd[joint->iv + c->coordinate] - slope * speed;
    if (fabs(off) <= CLOSURE_TOLERANCE * (1 + fabs(value)) &&
        fabs(drift) <= CLOSURE_TOLERANCE * (1 + fabs(slope * speed)))
        return LW_OK;
    return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                    "joint '%s' is coupled to joint '%s': coordinate off by %.3g, speed by %.3g",
                    joint->name, of->name, off, drift);
}

// Coordinates and checks of all loop joints for sim->snapshot; its poses follow from the joints of
// the tree.
static lw_status close_loops(lw_sim *sim)
{
    const lw_model *model = sim->model;
    double(*w)[3] = sim->snapshot.a; // scratch: world angular velocities; overwritten by observe
    for (int b = 0; b < model->nbody; b++) m3_mul_v(w[b], sim->snapshot.R[b], sim->snapshot.w[b]);
    for (int i = 0; i < model->nloop; i++)
        follow_loop_joint(model, model->loop[i], &sim->snapshot, w);
    for (int i = 0; i < model->nloop; i++) TRY(check_loop_joint(sim, model->loop[i]));
    for (int i = 0; i < model->ncoupling; i++) TRY(check_coupling(sim, &model->coupling[i]));
    return LW_OK;
}

lw_status lwi_sim_place(lw_sim *sim)
{
    lwi_snapshot_from_joints(sim->model, sim->snapshot.t, &sim->snapshot);
    TRY(close_loops(sim));
    TRY(lwi_sim_begin(sim));
    sim->placed = true;
    return LW_OK;
}

// The present state, in sim->snapshot.
static lw_status observe_present(lw_sim *sim, lw_observe level)
{
    lwi_work *work = sim->work;
    const lw_status status =
        work->formulation->observe(work, sim->t, sim->x, sim->inputs, level, &sim->snapshot);
    return status == LW_OK ? LW_OK : lwi_sim_fail_work(sim, status, "the present state");
}

// Coordinates and speeds of a call: there, and finite.
static lw_status check_motion(lw_sim *sim, double time, const double *q, int nq, const double *v,
                              int nv)
{
    if ((!q && nq) || (!v && nv))
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "coordinates or speeds are missing");
    TRY(lwi_sim_check_finite(sim, "time", &time, 1));
    TRY(lwi_sim_check_finite(sim, "coordinate", q, nq));
    return lwi_sim_check_finite(sim, "speed", v, nv);
}

// Bodies and loops follow from the joints of the tree in sim->snapshot.
static lw_status place_at(lw_sim *sim, double time)
{
    sim->snapshot.t = time;
    sim->snapshot.work = 0; // it starts at zero here
    return lwi_sim_place(sim);
}

lw_status lw_sim_set_joints(lw_sim *sim, double time, const double *q, const double *v)
{
    if (!sim) return LW_ERR_ARGUMENT;
    const lw_model *model = sim->model;
    TRY(check_motion(sim, time, q, model->nq, v, model->nv));
    TRY(observe_present(sim, LW_OBSERVE_TWIST)); // floating bases are unchanged
    for (int i = 0; i < model->nq; i++) sim->snapshot.q[i] = q[i];
    for (int i = 0; i < model->nv; i++) sim->snapshot.qd[i] = v[i];
    return place_at(sim, time);
}

// A quaternion without direction.
static lw_status check_tree_quaternions(lw_sim *sim, const double *q)
{
    const lw_model *model = sim->model;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const int first = node->type->quaternion;
        if (first < 0 || node->nq == 0 || quat_norm2(q + node->iq + first) > 0) continue;
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "the quaternion of %s '%s' is zero",
                        node->joint < 0 ? "body" : "joint",
                        node->joint < 0 ? model->body[node->body].name
                                        : model->joint[node->joint].name);
    }
    return LW_OK;
}

// Whether poses and these coordinates in the state determine the coordinates of a joint that closes a loop.
static bool is_read_by_turns(const lwi_joint_type *type)
{
    return type->nq == 0 || (type->scalar && type->quaternion < 0 && !type->callbacks);
}

lw_status lwi_sim_find_turns(lw_sim *sim)
{
    const lw_model *model = sim->model;
    const lwi_layout *layout = &sim->work->layout;
    lwi_auxiliary *turns = &sim->turns;
    turns->n = -1;
    if (!(sim->work->formulation->flags & LWI_TREE_STATE)) return LW_OK;
    for (int i = 0; i < model->nloop; i++)
        if (!is_read_by_turns(model->joint[model->loop[i]].type)) return LW_OK;
    TRY(lwi_auxiliary_list(model, false, &sim->arena, turns));
    for (int i = 0; i < layout->nblock; i++)
        if (layout->block[i].kind == LWI_ANGLE) {
            LWI_ASSERT(layout->block[i].n == turns->n);
            turns->at = layout->block[i].first;
        }
    return LW_OK;
}

// What of the present state is left where the joints of the tree are set: revolutions of cut joints, states of signals.
static lw_status keep_turns(lw_sim *sim)
{
    const lwi_auxiliary *turns = &sim->turns;
    const bool poses = sim->work->formulation->flags & LWI_POSES_FIRST;
    bool known = turns->n >= 0;
    for (int i = 0; i < turns->n; i++) known = known && isfinite(sim->x[turns->at + i]);
    if (!known) return observe_present(sim, poses ? LW_OBSERVE_POSE : LW_OBSERVE_TWIST);
    lwi_auxiliary_load(sim->model, turns, sim->x, sim->snapshot.q);
    lwi_states_observe(sim->work, sim->x, &sim->snapshot);
    return LW_OK;
}

lw_status lw_sim_set_tree(lw_sim *sim, double time, const double *q, const double *v)
{
    if (!sim) return LW_ERR_ARGUMENT;
    lwi_snapshot *m = &sim->snapshot;
    TRY(check_motion(sim, time, q, sim->model->tree_nq, v, sim->model->tree_nv));
    TRY(check_tree_quaternions(sim, q));
    TRY(keep_turns(sim));
    lwi_tree_scatter(sim->model, q, v, m->q, m->qd, m->r, m->quat, m->v, m->w);
    return place_at(sim, time);
}

lw_status lw_sim_get_tree(lw_sim *sim, double *q, double *v)
{
    if (!sim) return LW_ERR_ARGUMENT;
    if ((!q && sim->model->tree_nq) || (!v && sim->model->tree_nv))
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "coordinates or speeds are missing");
    const lwi_snapshot *m = &sim->snapshot;
    TRY(observe_present(sim, LW_OBSERVE_TWIST));
    lwi_tree_gather(sim->model, m->q, m->qd, (const double(*)[3])m->r, (const double(*)[4])m->quat,
                    (const double(*)[3])m->v, (const double(*)[3])m->w, q, v);
    return LW_OK;
}
