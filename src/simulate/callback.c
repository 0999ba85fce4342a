// callback.c -- inputs that a function of the caller computes from the state.
//
// It is called before each evaluation of the rates, with the motion of the state, so that all formulations with rates and
// all their integrators use it: the state is observed, at the cost of its kinematics, and the inputs are then those of
// any other evaluation.  Formulations with own steps call it where they evaluate forces (lwi_feedback), with the motion
// that the step has there.
//
// With the function's Jacobian the inputs close to a motion are known to first order without calls: Newton's matrix of
// index3 contains them, and bdf takes them for the differences of rates in its matrix.
#include "simulate/simulation.h"

#include "model/model.h"

#include <math.h>
#include <string.h>

static lw_status allocate(lw_sim *sim)
{
    lwi_callback *c = &sim->callback;
    const int n = sim->model->desc.ninput;
    if (c->value) return LW_OK;
    if (lwi_snapshot_create(sim->model, &sim->arena, &c->snapshot) == LW_OK)
        c->value = LWI_PUSH(&sim->arena, double, n);
    return c->value ? LW_OK
                    : lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for a callback of inputs");
}

lw_status lw_sim_set_callback(lw_sim *sim, lw_input_callback function, void *user)
{
    if (!sim) return LW_ERR_ARGUMENT;
    if (function && sim->model->desc.ninput == 0)
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                        "the model has no inputs that a callback could set");
    if (function) TRY(allocate(sim));
    sim->callback.function = function;
    sim->callback.user = user;
    sim->callback.jacobian = NULL;
    sim->callback.failed = false;
    if (sim->pending == LWI_NOTHING) sim->pending = LWI_NEW_RATES;
    return LW_OK;
}

lw_observation lwi_callback_observation(const lwi_snapshot *m)
{
    return (lw_observation){.time = m->t,
                            .level = LW_OBSERVE_TWIST,
                            .position = (const double(*)[3])m->r,
                            .quaternion = (const double(*)[4])m->quat,
                            .velocity = (const double(*)[3])m->v,
                            .angular_velocity = (const double(*)[3])m->w,
                            .q = m->q,
                            .qd = m->qd,
                            .states = m->states};
}

lw_status lwi_callback_check(const lw_model *model, const double *value, double t, lw_error *error)
{
    for (int i = 0; i < model->desc.ninput; i++)
        if (!isfinite(value[i]))
            return lwi_fail(error, LW_ERR_NOT_FINITE,
                            "input '%s': the callback gives %g at t = %.10g s",
                            model->desc.input[i], value[i], t);
    return LW_OK;
}

lw_status lwi_callback_fail(lw_status status, double t, lw_error *error)
{
    return lwi_fail(error, status, "the callback of inputs failed at t = %.10g s: %s", t,
                    lw_status_text(status));
}

// The inputs at the motion of the snapshot.
static lw_status call(void *user)
{
    lw_sim *sim = user;
    lwi_callback *c = &sim->callback;
    const size_t n = (size_t)sim->model->desc.ninput;
    const double t = c->snapshot.t;
    lwi_observe_merged(sim->model, LW_OBSERVE_TWIST, sim->inputs, &sim->loads, &c->snapshot);
    const lw_observation seen = lwi_callback_observation(&c->snapshot);
    memcpy(c->value, sim->inputs, n * sizeof *c->value);
    c->status = c->function(c->user, &seen, c->value);
    c->failed = c->status != LW_OK;
    if (c->failed) return lwi_callback_fail(c->status, t, &sim->work->error);
    TRY(lwi_callback_check(sim->model, c->value, t, &sim->work->error));
    memcpy(sim->inputs, c->value, n * sizeof *c->value);
    return LW_OK;
}

static lw_status observe(lw_sim *sim, double t, const double *x)
{
    lwi_snapshot *m = &sim->callback.snapshot;
    m->t = t;
    TRY(sim->work->formulation->observe(sim->work, t, x, sim->inputs, LW_OBSERVE_TWIST, m));
    m->t = t;
    return LW_OK;
}

lw_status lwi_sim_call_back(lw_sim *sim, double t, const double *x)
{
    lwi_callback *c = &sim->callback;
    if (!c->function) return LW_OK;
    TRY(observe(sim, t, x));
    if (!c->linear) return call(sim);
    lwi_observe_merged(sim->model, LW_OBSERVE_TWIST, sim->inputs, &sim->loads, &c->snapshot);
    lwi_input_slopes_predict(&c->slopes, &c->snapshot, sim->inputs);
    return LW_OK;
}

// ---------------------------------------------------------------------------------------- Jacobian

lw_status lwi_callback_slopes(lw_input_jacobian jacobian, void *user, lwi_input_slopes *s,
                              lw_error *error)
{
    const lw_observation seen = lwi_callback_observation(&s->motion);
    lwi_input_slopes_clear(s);
    const lw_status status = jacobian(user, &seen, &s->by);
    if (status != LW_OK)
        return lwi_fail(error, status, "the Jacobian of inputs failed at t = %.10g s: %s",
                        s->motion.t, lw_status_text(status));
    return lwi_input_slopes_check(s, error);
}

// At the motion of the last call, with its inputs.
static lw_status differentiate(void *user)
{
    lw_sim *sim = user;
    lwi_callback *c = &sim->callback;
    lwi_snapshot_copy(sim->model, &c->snapshot, &c->slopes.motion);
    memcpy(c->slopes.inputs, sim->inputs, (size_t)sim->model->desc.ninput * sizeof *sim->inputs);
    return lwi_callback_slopes(c->jacobian, c->user, &c->slopes, &sim->work->error);
}

lw_status lwi_sim_linear_inputs(lw_sim *sim, bool begin, double t, const double *x)
{
    lwi_callback *c = &sim->callback;
    c->linear = false;
    if (!begin || !c->jacobian) return LW_OK;
    TRY(observe(sim, t, x));
    TRY(call(sim));
    TRY(differentiate(sim));
    c->linear = true;
    return LW_OK;
}

// Joints of callers with coordinates that are no integrals of their speeds are refused.
static lw_status check_joints(lw_sim *sim)
{
    for (int j = 0; j < sim->model->njoint; j++)
        if (sim->model->joint[j].type->callbacks && !sim->model->joint[j].type->scalar)
            return lwi_fail(&sim->error, LW_ERR_UNSUPPORTED,
                            "the Jacobian of inputs: joint '%s' is given by callbacks, with "
                            "coordinates that are no integrals of its speeds",
                            sim->model->joint[j].name);
    return LW_OK;
}

static lw_status allocate_slopes(lw_sim *sim)
{
    lwi_work *work = sim->work;
    lw_status status = LW_OK;
    if (!sim->callback.slopes.model) {
        lwi_input_slopes s;
        status = lwi_input_slopes_create(sim->model, &sim->arena, &s);
        if (status == LW_OK) sim->callback.slopes = s;
    }
    if (status == LW_OK && work->formulation->take_slopes)
        status = work->formulation->take_slopes(work);
    return status == LW_OK
               ? LW_OK
               : lwi_fail(&sim->error, status, "no memory for the Jacobian of a callback");
}

lw_status lw_sim_set_jacobian(lw_sim *sim, lw_input_jacobian jacobian)
{
    if (!sim) return LW_ERR_ARGUMENT;
    if (jacobian && !sim->callback.function)
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                        "a Jacobian of inputs belongs to a callback: set that first");
    if (jacobian) TRY(check_joints(sim));
    if (jacobian) TRY(allocate_slopes(sim));
    sim->callback.jacobian = jacobian;
    return LW_OK;
}

lw_status lw_sim_check_jacobian(lw_sim *sim, double tolerance, double *largest)
{
    if (!sim) return LW_ERR_ARGUMENT;
    lwi_callback *c = &sim->callback;
    if (!c->jacobian)
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "the callback of inputs has no Jacobian");
    if (!(tolerance >= 0 && tolerance < 1))
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                        "tolerance: expected a number from 0 to 1, got %g", tolerance);
    c->failed = c->known = false;
    lw_status status = observe(sim, sim->t, sim->x);
    if (status == LW_OK) status = call(sim);
    if (status == LW_OK) status = differentiate(sim);
    if (status != LW_OK) return lwi_sim_fail_work(sim, status, "check of a Jacobian");
    return lwi_callback_compare(c->function, c->user, &c->slopes, tolerance, largest, &sim->error);
}

// -------------------------------------------------------------------------------------------- steps

lw_status lwi_sim_own_step(lw_sim *sim, double t, double h, double *x)
{
    lwi_work *work = sim->work;
    lwi_callback *c = &sim->callback;
    if (!c->function) return work->formulation->step(work, t, h, x, sim->inputs);
    if (c->failed && c->status != LW_ERR_NOT_FINITE) return c->status; // no shorter step helps
    work->feedback = (lwi_feedback){.apply = call, .user = sim, .motion = &c->snapshot};
    if (c->jacobian) work->feedback.differentiate = differentiate;
    work->feedback.slopes = &c->slopes;
    const lw_status status = work->formulation->step(work, t, h, x, sim->inputs);
    work->feedback = (lwi_feedback){0};
    return status;
}

lw_status lwi_sim_refresh(lw_sim *sim)
{
    const lwi_formulation *f = sim->work->formulation;
    const bool inputs =
        sim->model->desc.ninput && sim->work->controls && sim->pending == LWI_NEW_RATES;
    if (!f->refresh || (!sim->callback.function && !inputs)) return LW_OK;
    if (sim->callback.function) TRY(lwi_sim_call_back_here(sim, "start of a step"));
    if (sim->callback.failed) return LW_OK;
    const lw_status status = f->refresh(sim->work, sim->t, sim->x, sim->inputs);
    return status == LW_OK ? LW_OK : lwi_sim_fail_work(sim, status, "start of a step");
}

lw_status lwi_sim_call_back_here(lw_sim *sim, const char *when)
{
    if (sim->callback.failed) return LW_OK; // the run has ended with its message
    if (sim->callback.known) return LW_OK;
    const lw_status status = lwi_sim_call_back(sim, sim->t, sim->x);
    return status == LW_OK ? LW_OK : lwi_sim_fail_work(sim, status, when);
}
