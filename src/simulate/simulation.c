// simulation.c -- a model in motion: create, steps between breaks, observation.
#include "simulate/simulation.h"

#include "base/assert.h"
#include "initial/mobility.h"
#include "integrate/batch_stepper.h"
#include "model/outputs.h"
#include "simulate/options.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <linkwork/checkpoint.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ create

// Calls the caller's function within a step that takes longer than this [s]; the clock is read for so many bodies.
#define PATIENCE 0.25
enum { PATIENT_BODIES = 10000 };

static lw_status check_cancel(lw_sim *sim)
{
    lwi_cancel *w = &sim->cancel;
    if (!w->progress || ++w->rates < PATIENT_BODIES / sim->model->nbody) return LW_OK;
    const double now = lwi_clock();
    w->rates = 0;
    if (now - w->called < PATIENCE) return LW_OK;
    w->called = now;
    if (!w->progress(w->user, sim->t, w->end)) return LW_OK;
    return lwi_fail(&sim->work->error, LW_ERR_INTERRUPTED, "stopped by the caller");
}

static lw_status rates(void *user, double t, const double *x, double *xdot)
{
    lw_sim *sim = user;
    sim->unexplained = false;
    TRY(check_cancel(sim));
    TRY(lwi_sim_call_back(sim, t, x));
    lwi_ranks *ranks = sim->shared.ranks;
    if (ranks) ranks->active = true;
    const lw_status status = lwi_work_rates(sim->work, t, x, sim->inputs, xdot);
    if (ranks) ranks->active = false;
    if (ranks && ranks->failed)
        return lwi_fail(&sim->work->error, LW_ERR_IO, "a message between processes is lost");
    if (status == LW_ERR_NOT_FINITE)
        sim->unexplained = !lwi_name_functions(sim->work, t, x, sim->inputs, &sim->snapshot);
    if (sim->crossing.margin_wanted && status == LW_OK) lwi_sim_note_margin(sim, t, x);
    return status;
}

// Before a step: positions, then what the formulation has to put in order.
static lw_status pre_step(void *user, double t, double *x, bool *changed)
{
    lw_sim *sim = user;
    bool changed_too = false;
    if (sim->projection.active)
        TRY(lwi_projection_apply(&sim->projection, sim->work, lwi_sim_projection_limit(sim), t, x,
                                 sim->inputs, changed));
    lwi_sim_monitor(sim, t, x);
    TRY(lwi_work_pre_step(sim->work, t, x, &changed_too));
    const bool limited = lwi_states_limit(sim->work, x);
    *changed = *changed || changed_too || limited;
    return LW_OK;
}

static double bound(void *user, double t)
{
    return lwi_sim_bound(user, t);
}

static bool accept(void *user, double t0, const double *x0, double t1, const double *x1,
                   double *end)
{
    return lwi_sim_accept(user, t0, x0, t1, x1, end);
}

static lw_status step(void *user, double t, double h, double *x)
{
    LWI_ASSERT(((lw_sim *)user)->work->formulation->step);
    lw_sim *sim = user;
    TRY(check_cancel(sim));
    return lwi_sim_own_step(sim, t, h, x);
}

static lw_status difference(void *user, bool begin, double t, const double *x)
{
    return lwi_sim_linear_inputs(user, begin, t, x);
}

static double step_error(void *user, double h, const double *before, const double *after,
                         double last_h, const double *last)
{
    lw_sim *sim = user;
    return sim->work->formulation->error(sim->work, h, before, after, last_h, last,
                                         sim->options.rtol, sim->options.atol);
}

lw_status lwi_sim_fail_work(lw_sim *sim, lw_status status, const char *when)
{
    const char *text = sim->work->error.text;
    return lwi_fail(&sim->error, status, "%s at t = %.10g: %s", when, sim->t,
                    text[0] ? text : lw_status_text(status));
}

static lw_status allocate(lw_sim *sim)
{
    const lw_model *model = sim->model;
    const int nx = sim->work->layout.nx;
    lwi_arena *arena = &sim->arena;
    sim->x = LWI_PUSH(arena, double, nx);
    sim->scratch = LWI_PUSH(arena, double, nx);
    sim->spare = lwi_arena_push(arena, 1, sim->work->ndiscrete + 1);
    sim->atol = LWI_PUSH(arena, double, nx);
    sim->kept_step = LWI_PUSH(arena, double, lwi_sim_step_numbers(sim));
    sim->inputs = LWI_PUSH(arena, double, model->desc.ninput);
    sim->loads.wrench = lwi_arena_push(arena, (size_t)model->nbody, sizeof *sim->loads.wrench);
    sim->loads.effort = LWI_PUSH(arena, double, model->nv);
    sim->output = LWI_PUSH(arena, double, model->noutput_value);
    for (int i = 0; i < 2 && lwi_layout_has(&sim->work->layout, LWI_MOMENTUM); i++)
        if (!(sim->rates[i] = LWI_PUSH(arena, double, nx))) return LW_ERR_MEMORY;
    if (!sim->x || !sim->scratch || !sim->spare || !sim->atol || !sim->inputs || !sim->output ||
        !sim->kept_step || !sim->loads.wrench || !sim->loads.effort)
        return LW_ERR_MEMORY;
    TRY(lwi_sim_find_turns(sim));
    return lwi_snapshot_create(model, arena, &sim->snapshot);
}

// With momenta and drives w is the work less a term of its size that changes at the rate of the drives (momenta.c).
// Nothing depends on it.  At the tolerance of the motion it takes up to 20 % more steps where drives are fast.
#define PRESCRIBED_WORK 10

// atol of every component: the option times the formulation's factor, momenta as specified.
static lw_status set_tolerances(lw_sim *sim)
{
    const lwi_work *work = sim->work;
    const lw_options *o = &sim->options;
    bool momenta = false;
    for (int i = 0; i < work->layout.nx; i++) sim->atol[i] = 1;
    if (work->formulation->scale) {
        const lw_status status = work->formulation->scale(sim->work, sim->t, sim->x, sim->atol);
        if (status != LW_OK) return lwi_sim_fail_work(sim, status, "the initial state");
    }
    for (int i = 0; i < work->layout.nx; i++) {
        const double factor = sim->atol[i];
        sim->atol[i] = o->atol * (factor > 0 && isfinite(factor) ? factor : 1);
    }
    for (int b = 0; b < work->layout.nblock; b++) {
        const lwi_block *block = &work->layout.block[b];
        momenta |= block->kind == LWI_MOMENTUM;
        if (block->kind == LWI_WORK && momenta && sim->model->driven)
            sim->atol[block->first] *= PRESCRIBED_WORK;
        if (block->kind != LWI_MOMENTUM || !(o->atol_p > 0)) continue;
        for (int i = 0; i < block->n; i++) sim->atol[block->first + i] = o->atol_p;
    }
    return LW_OK;
}

static bool needs_pre_step(const lw_sim *sim)
{
    return sim->projection.active || sim->monitor.active || sim->model->limited ||
           sim->work->formulation->pre_step;
}

static lw_status make_integrator(lw_sim *sim)
{
    const lw_options *o = &sim->options;
    const lwi_integrator_type *type = lwi_integrator_find(o->integrator);
    // not where a batch, or a run that is resumed, has the same bits: they know nothing of previous steps
    const bool raises =
        type->adaptive && !lwi_stepper_find(type->name) && lwi_momenta_may_be_inexact(sim);
    if (raises && lwi_prepare_raising(sim) != LW_OK)
        return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for a simulation");
    const lwi_problem problem = {.n = sim->work->layout.nx,
                                 .rates = rates,
                                 .step = sim->work->formulation->step ? step : NULL,
                                 .error = sim->work->controls ? step_error : NULL,
                                 .pre_step = needs_pre_step(sim) ? pre_step : NULL,
                                 .bound = sim->crossing.active ? bound : NULL,
                                 .accept = sim->crossing.active ? accept : NULL,
                                 .difference = difference,
                                 .raise_tolerances = raises ? lwi_raise_tolerances : NULL,
                                 .user = sim,
                                 .why = &sim->work->error,
                                 .rtol = o->rtol,
                                 .atol = raises ? sim->attainable : sim->atol,
                                 .once = sim->work->fixed_cost || sim->work->fixed_step,
                                 .max_step = o->step,
                                 .max_steps = (long)o->max_steps,
                                 .order = (int)o->order,
                                 .dense_output =
                                     lwi_options_interpolate(o) && o->sample != LW_SAMPLE_STEPS};
    return type->create(type, &problem, sim->t, sim->x, &sim->arena.allocator, &sim->integrator,
                        &sim->error);
}

// A step more at a break would be a step that costs more than the others.
void lwi_sim_find_break(lw_sim *sim)
{
    sim->next_break = sim->work->fixed_cost ? INFINITY : lwi_model_next_break(sim->model, sim->t);
    lwi_sim_find_impact(sim);
    LWI_ASSERT(sim->next_break > sim->t);
}

static lw_status enter_start(lw_sim *sim)
{
    lwi_work *work = sim->work;
    if (!sim->entered) return work->formulation->enter(work, &sim->snapshot, sim->x);
    memcpy(sim->x, sim->entered, (size_t)work->layout.nx * sizeof *sim->x);
    if (work->ndiscrete) memcpy(work->discrete, sim->entered_discrete, work->ndiscrete);
    return LW_OK;
}

// The model's initial state at t = 0.
static lw_status start(lw_sim *sim)
{
    lwi_snapshot_start(sim->model, &sim->snapshot);
    TRY(lwi_sim_leave_singular(sim));
    if (!sim->crossing.started) {
        const lw_status status = enter_start(sim);
        if (status != LW_OK) return lwi_sim_fail_work(sim, status, "the initial state");
    }
    lwi_sim_find_break(sim);
    return LW_OK;
}

static lw_status build(lw_sim *sim, const lw_options *options)
{
    if (options)
        sim->options = *options;
    else
        lw_options_default(&sim->options);
    TRY(lwi_options_check(&sim->options, &sim->error));
    TRY(lwi_sim_resolve(sim, &sim->error));
    sim->takes_singular = sim->options.singular == LW_SINGULAR_TURN;
    if (allocate(sim) != LW_OK)
        return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for a simulation");
    if (lwi_projection_create(sim->work, &sim->options, &sim->arena, &sim->projection) != LW_OK)
        return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for a simulation");
    if (lwi_sim_prepare_monitor(sim) != LW_OK)
        return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for a simulation");
    if (lwi_sim_prepare_passage(sim) != LW_OK)
        return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for a simulation");
    if (lwi_sim_prepare_crossing(sim) != LW_OK)
        return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for a simulation");
    TRY(start(sim));
    TRY(set_tolerances(sim));
    TRY(lwi_sim_check_stop(sim));
    TRY(lwi_sim_prepare_impacts(sim));
    TRY(lwi_sim_prepare_triggers(sim));
    TRY(lwi_sim_check_begin(sim));
    if (lwi_sim_prepare_events(sim, lwi_integrator_find(sim->options.integrator)->adaptive) !=
        LW_OK)
        return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for the events of a simulation");
    TRY(make_integrator(sim));
    LWI_INVARIANT(sim->work->layout.nx == 0 || sim->next_break > sim->t, &sim->error);
    return LW_OK;
}

static lw_status check_ranks(const lw_ranks *of, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_ranks, of, error);
    if (!of->exchange) return lwi_fail(error, LW_ERR_ARGUMENT, "ranks: exchange is NULL");
    if (of->count >= 1 && of->count <= 65536 && of->rank >= 0 && of->rank < of->count) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "ranks: rank %d of %d, expected one of 0 ... count - 1, of at most 65536",
                    of->rank, of->count);
}

lw_status lw_sim_create(const lw_model *model, const lw_sim_desc *desc, lw_sim **out,
                        lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_sim_desc, desc, error);
    if (!model || !out) return lwi_fail(error, LW_ERR_ARGUMENT, "model or result is missing");
    if (model->open) return lwi_fail(error, LW_ERR_MODEL, "%s", model->open);
    if (desc->ranks) TRY(check_ranks(desc->ranks, error));
    const lw_allocator *allocator = desc->allocator;
    lw_sim *sim = lwi_allocate(allocator, sizeof *sim);
    if (!sim) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a simulation");
    *sim = (lw_sim){.model = model};
    lwi_arena_init(&sim->arena, allocator);
    lwi_shared_init(allocator, &sim->shared);
    if (desc->ranks) sim->ranks.of = *desc->ranks, sim->shared.ranks = &sim->ranks;
    const lw_status status = build(sim, desc->options);
    if (status == LW_OK) {
        *out = sim;
        return LW_OK;
    }
    if (error) *error = sim->error;
    lw_sim_destroy(sim);
    return status;
}

void lw_sim_destroy(lw_sim *sim)
{
    if (!sim) return;
    if (sim->integrator) sim->integrator->type->destroy(sim->integrator);
    lwi_sim_release_passage(sim);
    lwi_sim_release_impacts(sim);
    lwi_work_destroy(sim->work);
    const lw_allocator allocator = sim->arena.allocator;
    lwi_shared_free(&sim->shared);
    lwi_arena_free(&sim->arena);
    lwi_release(&allocator, sim);
}

const lw_options *lw_sim_options(const lw_sim *sim)
{
    if (!sim) return NULL;
    return &sim->options;
}
lw_status lw_sim_set_duration(lw_sim *sim, double duration)
{
    if (!sim) return LW_ERR_ARGUMENT;
    if (!(duration >= 0 && isfinite(duration)))
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "duration: expected a number >= 0, got %g",
                        duration);
    sim->options.duration = duration;
    return LW_OK;
}
const char *lw_sim_notice(const lw_sim *sim)
{
    if (!sim) return "";
    return sim->notice;
}
void lw_sim_report(const lw_sim *sim, char *text, size_t size)
{
    if (!sim) return;
    if (!text || !size) return;
    text[0] = 0;
    if (sim->work->formulation->report) sim->work->formulation->report(sim->work, text, size);
}

lw_status lw_sim_mobility(lw_sim *sim, lw_check *check, lw_redundancy *joints, lw_error *error)
{
    if (!sim || !check || !joints)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_sim_mobility: simulation, check and joints must be given");
    return lwi_mobility(sim->model, &sim->shared, check, joints, error);
}

const lw_model *lw_sim_model(const lw_sim *sim)
{
    if (!sim) return NULL;
    return sim->model;
}
double lw_sim_time(const lw_sim *sim)
{
    if (!sim) return 0;
    return sim->t;
}
const lw_error *lw_sim_error(const lw_sim *sim)
{
    if (!sim) return NULL;
    return &sim->error;
}

// ------------------------------------------------------------------------------------------- steps

// Notifies the integrator of changes since its last step.
static lw_status notify_integrator(lw_sim *sim)
{
    if (sim->pending == LWI_NOTHING) return LW_OK;
    TRY(lwi_sim_refresh(sim));
    const lwi_jump what = sim->pending == LWI_NEW_STATE ? LWI_JUMP_STATE : LWI_JUMP_RATES;
    TRY(sim->integrator->type->restart(sim->integrator, sim->t, sim->x, what, &sim->error));
    if (what == LWI_JUMP_STATE && sim->integrator->type->recall)
        sim->integrator->type->recall(sim->integrator, sim->kept_step);
    lwi_sim_clear_steps(sim);
    sim->pending = LWI_NOTHING;
    return LW_OK;
}

// A step that succeeded has advanced or found an event, and has not passed `end`; otherwise calls would not end.
static lw_status check_advance(lw_sim *sim, double from, double end)
{
    LWI_INVARIANT(sim->t > from || sim->pending != LWI_NOTHING, &sim->error);
    LWI_INVARIANT(sim->t <= end, &sim->error);
    return LW_OK;
}

// An interval that cannot be divided into steps is passed at once: no motion has times so short, of which the
// squares and the fractions have no digits.
#define SHORTEST_INTERVAL 1e-100 // s
// Formulations with their own steps find velocities from differences of positions, which have no digits over intervals as
// short as between two events, rows or breaks at times that differ by round-off alone.
#define SHORT_INTERVAL 1e-8 // s
#define SHORT_PART 1e-4     // of a step of equal length

static void pass_interval(lw_sim *sim, double stop)
{
    sim->t = stop;
    if (sim->pending == LWI_NOTHING)
        sim->pending = LWI_NEW_RATES; // the integrator has the time before
}

// The motion after a time h at constant acceleration.
static void move(const lw_model *model, double h, lwi_snapshot *m)
{
    for (int b = 1; b < model->nbody; b++) {
        double half[4] = {1}, after[4];
        for (int k = 0; k < 3; k++) {
            m->r[b][k] += h * (m->v[b][k] + 0.5 * h * m->a[b][k]);
            half[1 + k] = 0.5 * h * (m->w[b][k] + 0.5 * h * m->al[b][k]);
            m->v[b][k] += h * m->a[b][k];
            m->w[b][k] += h * m->al[b][k];
        }
        quat_mul(after, m->quat[b], half);
        quat_normalize(m->quat[b], after);
        quat_matrix(m->R[b], m->quat[b]);
    }
}

static lw_status take_short_step(lw_sim *sim, double stop)
{
    lwi_work *work = sim->work;
    lwi_snapshot *m = &sim->snapshot;
    const lw_model *model = sim->model;
    lw_status status =
        work->formulation->observe(work, sim->t, sim->x, sim->inputs, LW_OBSERVE_ACCELERATION, m);
    if (status == LW_OK) {
        lwi_observe_merged(model, LW_OBSERVE_ACCELERATION, sim->inputs, &sim->loads, m);
        move(model, stop - sim->t, m);
        m->t = stop;
        work->resumed = true;
        status = work->formulation->enter(work, m, sim->x);
        work->resumed = false;
    }
    if (status != LW_OK) return lwi_sim_fail_work(sim, status, "in a short interval");
    pass_interval(sim, stop);
    return LW_OK;
}

static bool is_short(const lw_sim *sim, double h)
{
    const double step = sim->options.step;
    return sim->work->formulation->step && h < SHORT_INTERVAL &&
           !(step > 0 && h > SHORT_PART * step);
}

lw_status lwi_sim_advance(lw_sim *sim, double to, double limit, bool one_step)
{
    LWI_ASSERT(limit >= to);
    LWI_ASSERT(to >= sim->t);
    return sim->triggers.active ? lwi_sim_advance_triggers(sim, to, one_step)
                                : lwi_sim_advance_plain(sim, to, limit, one_step);
}

lw_status lwi_sim_advance_plain(lw_sim *sim, double to, double limit, bool one_step)
{
    const double began = lwi_clock(), from = sim->t;
    if (sim->impacts.due) return lwi_sim_strike(sim);
    if (sim->pending == LWI_NEW_STATE) sim->events.begun = false, sim->monitor.count = 0;
    if (sim->pending != LWI_NOTHING) sim->events.complete = false;
    const bool new_rates = sim->pending != LWI_NOTHING && sim->t < sim->crossing.end;
    if (sim->pending == LWI_NEW_STATE || (new_rates && !lwi_sim_leave_singular_again(sim)))
        lwi_sim_leave_crossing(sim);
    lw_status status = notify_integrator(sim);
    const double stop = fmin(to, sim->next_break);
    if (status == LW_OK && stop - sim->t < SHORTEST_INTERVAL) {
        pass_interval(sim, stop); // nothing to integrate
    } else if (status == LW_OK && is_short(sim, stop - sim->t)) {
        status = take_short_step(sim, stop);
    } else if (status == LW_OK && sim->t < sim->crossing.end) {
        status = lwi_sim_follow_crossing(sim, stop);
    } else if (status == LW_OK && sim->events.active) {
        // step by step, none past `stop`: states between rows are checked for events too
        do status = lwi_sim_advance_events(sim, stop);
        while (status == LW_OK && !one_step && sim->pending == LWI_NOTHING && sim->t < stop);
        if (status != LW_OK) sim->pending = LWI_NEW_STATE;
    } else if (status == LW_OK) {
        status = sim->integrator->type->advance(sim->integrator, &sim->t, sim->x, stop,
                                                fmax(stop, fmin(limit, sim->next_break)), one_step,
                                                &sim->error);
        if (status != LW_OK) sim->pending = LWI_NEW_STATE; // it may have lost its place
    }
    if (status == LW_OK && sim->t == from && sim->crossing.near) {
        status = lwi_sim_cross(sim, limit);
        if (status == LW_OK && sim->t < sim->crossing.end)
            status = lwi_sim_follow_crossing(sim, stop);
        if (sim->t == from) sim->pending = LWI_NEW_RATES;
    }
    if (status != LW_OK) status = lwi_sim_explain(sim, status);
    if (status == LW_OK) status = lwi_sim_check_passed(sim);
    if (status == LW_OK) status = check_advance(sim, from, limit);
    // Rates are continuous at a break, a derivative of theirs is not: ending a step there suffices.
    lwi_sim_reach_break(sim);
    if (sim->t != from) sim->impacts.struck = false;
    const double took = lwi_clock() - began;
    sim->wall += took;
    sim->slow += took > sim->t - from;
    lwi_times_add(&sim->times, took);
    return status;
}

lw_status lwi_sim_check_step(lw_sim *sim, double time)
{
    sim->callback.failed = false;
    sim->triggers.logged = 0;
    TRY(lwi_sim_check_finite(sim, "time", &time, 1));
    if (time < sim->t)
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                        "cannot step back from t = %.10g to %.10g; set the state instead", sim->t,
                        time);
    return lwi_sim_check_resolution(sim, time);
}

lw_status lwi_sim_check_resolution(lw_sim *sim, double end)
{
    const double h = sim->options.step;
    if (!(h > 0 && end > sim->t) || end + h > end) return LW_OK;
    return lwi_fail(
        &sim->error, LW_ERR_ARGUMENT,
        "step: %g s is below the resolution of time at t = %.10g s, t + h = t; expected a "
        "longer step",
        h, end);
}

lw_status lw_sim_step(lw_sim *sim, double time)
{
    if (!sim) return LW_ERR_ARGUMENT;
    TRY(lwi_sim_check_step(sim, time));
    sim->triggers.stopped = -1;
    while (sim->t < time && sim->triggers.stopped < 0) TRY(lwi_sim_advance(sim, time, time, false));
    TRY(lwi_sim_fire_all(sim));
    if (!sim->impacts.due || sim->impacts.next.t > time) return LW_OK;
    TRY(lwi_sim_strike(sim));
    TRY(lwi_sim_take_jump(sim));
    return lwi_sim_fire_all(sim);
}

// ------------------------------------------------------------------------------------- observation

// E - Wnc off by more than this part of the largest T + |V| + |Wnc|: the motion is none of the mechanism.
#define LOST 0.5

// Range of the energy's error, and sums of the tenths of a run, `part` of which has passed.
static void audit_drift(lwi_audit *a, double error, double part)
{
    const int tenth = (int)fmin(9, fmax(0, floor(10 * part)));
    a->low = fmin(a->low, error), a->high = fmax(a->high, error);
    a->sum[tenth] += error;
    a->rows[tenth]++;
    if (tenth < 9) return;
    a->last_low = fmin(a->last_low, error), a->last_high = fmax(a->last_high, error);
}

// The energy at speeds of 1e-9 m/s: a mechanism at rest, without potential, has round-off alone.
static double energy_at_rest(const lw_model *model)
{
    double mass = 0;
    for (int b = 1; b < model->nbody; b++) mass += model->body[b].mass;
    return 1e-18 * mass;
}

// Mean of the last tenth less that of the first; NAN: too few rows.
static double drift_of(const lwi_audit *a)
{
    enum { FEW = 50 };
    if (a->rows[0] < FEW || a->rows[9] < FEW) return NAN;
    return a->sum[9] / (double)a->rows[9] - a->sum[0] / (double)a->rows[0];
}

static void audit(lwi_audit *a, lw_observe level, double t, double part, const lwi_totals *s,
                  double work)
{
    if (level < LW_OBSERVE_ENERGY) return;
    const double invariant = s->kinetic + s->potential - work; // E - Wnc
    if (!a->begun) {
        a->reference = invariant, a->closed = s->residual[0];
        a->low = a->high = 0;
        a->last_low = INFINITY, a->last_high = -INFINITY;
        memset(a->sum, 0, sizeof a->sum), memset(a->rows, 0, sizeof a->rows);
    }
    audit_drift(a, invariant - a->reference, part);
    a->begun = true;
    a->size = fmax(a->size, s->kinetic + fabs(s->potential) + fabs(work));
    a->energy_error = fmax(a->energy_error, fabs(invariant - a->reference));
    a->last = t;
    if (fabs(invariant - a->reference) <= LOST * a->size) a->balanced = t;
    a->energy_scale = fmax(a->energy_scale, s->kinetic);
    for (int k = 0; k < 3; k++) a->residual[k] = fmax(a->residual[k], s->residual[k]);
}

void lwi_sim_fill(lw_observation *o, lw_observe level, const lwi_snapshot *m, const lwi_totals *s)
{
    *o = (lw_observation){.time = m->t, .level = level};
    o->position = (const double(*)[3])m->r;
    o->quaternion = (const double(*)[4])m->quat;
    o->q = m->q;
    o->states = m->states;
    if (level >= LW_OBSERVE_TWIST) {
        o->velocity = (const double(*)[3])m->v;
        o->angular_velocity = (const double(*)[3])m->w;
        o->qd = m->qd;
    }
    if (level >= LW_OBSERVE_ENERGY) {
        o->kinetic = s->kinetic, o->potential = s->potential, o->work = m->work;
        v3_copy(o->momentum, s->momentum);
        v3_copy(o->angular_momentum, s->angular_momentum);
        v3_copy(o->residual, s->residual);
    }
    if (level >= LW_OBSERVE_ACCELERATION) {
        o->acceleration = (const double(*)[3])m->a;
        o->angular_acceleration = (const double(*)[3])m->al;
        o->qdd = m->qdd;
    }
    if (level >= LW_OBSERVE_REACTION) {
        o->reaction = (const double(*)[6])m->reaction;
        o->reaction_unique = m->unique;
        o->reaction_undetermined = m->undetermined;
    }
}

// The two states at the time of an impact.
static void fill_impact(lw_sim *sim)
{
    const lwi_impacts *p = &sim->impacts;
    lw_observation *o = &sim->observation;
    o->impact = p->due ? LW_IMPACT_BEFORE : p->struck ? LW_IMPACT_AFTER : LW_IMPACT_NONE;
    if (p->due) o->time = p->next.t;
    o->impulse = p->struck ? p->result.reaction : NULL;
    o->event = sim->recorded;
    o->occurrence = sim->triggers.log;
    o->noccurrence = sim->triggers.logged;
}

static void observe_totals(const lw_sim *sim, lw_observe level, lwi_totals *system)
{
    const lwi_formulation *f = sim->work->formulation;
    double residual[3];
    if (!f->residuals || !f->residuals(sim->work, level, residual)) {
        lwi_observe_system(sim->model, level, &sim->snapshot, system);
        return;
    }
    lwi_observe_energies(sim->model, level, &sim->snapshot, system);
    v3_copy(system->residual, residual);
}

static lw_status prepare_momenta(lw_sim *sim)
{
    if (sim->momenta.prepared) return LW_OK;
    const lw_status status = lwi_observed_momenta_create(sim->model, &sim->arena, &sim->momenta);
    if (status == LW_OK) return LW_OK;
    return lwi_fail(&sim->error, status, "no memory for the momenta of a simulation");
}

// Before other states are evaluated: the impulses are those of the last observation.
static void find_momenta(lw_sim *sim)
{
    lwi_observe_merged(sim->model, LW_OBSERVE_TWIST, sim->inputs, &sim->loads, &sim->snapshot);
    lwi_observe_momenta(sim->work, &sim->snapshot, &sim->momenta);
}

static void fill_momenta(lw_sim *sim)
{
    const lwi_observed_momenta *m = &sim->momenta;
    sim->observation.body_momentum = (const double(*)[6])m->body;
    sim->observation.p = m->p;
    sim->observation.transmitted = (const double(*)[6])m->transmitted;
}

static void fill_outputs(lw_sim *sim)
{
    lwi_snapshot *m = &sim->snapshot;
    const lwi_states states = {.value = m->states};
    lwi_kin kin = lwi_snapshot_kin(sim->model, m);
    kin.mode = sim->work->mode;
    kin.qdd = m->qdd;
    kin.states = &states;
    lwi_outputs_evaluate(sim->model, &kin, (const double(*)[6])m->reaction, m->t, sim->inputs,
                         &sim->loads, sim->output);
    sim->observation.output = sim->output;
}

static lw_status observe(lw_sim *sim, lw_observe level)
{
    sim->snapshot.t = sim->t;
    TRY(lwi_sim_call_back_here(sim, "observation"));
    const lw_status status = sim->work->formulation->observe(sim->work, sim->t, sim->x, sim->inputs,
                                                             level, &sim->snapshot);
    return status == LW_OK ? LW_OK : lwi_sim_fail_work(sim, status, "observation");
}

// With accelerations at a singular position, which some formulations refuse, the motion alone: they may be continued to it.
static lw_status observe_state(lw_sim *sim, lw_observe level, bool *solved)
{
    const lw_status status = observe(sim, level);
    *solved = status == LW_OK;
    if (status != LW_ERR_SINGULAR || level < LW_OBSERVE_ACCELERATION || !sim->crossing.active)
        return status;
    return observe(sim, LW_OBSERVE_TWIST);
}

lw_status lw_sim_observe(lw_sim *sim, lw_observe level, const lw_observation **observation)
{
    if (!sim) return LW_ERR_ARGUMENT;
    if (!observation || (int)level < LW_OBSERVE_POSE || level > LW_OBSERVE_MOMENTUM)
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "level %d: expected 0 to %d, and a result",
                        (int)level, LW_OBSERVE_MOMENTUM);
    if (level >= LW_OBSERVE_MOMENTUM) TRY(prepare_momenta(sim));
    const bool start = lwi_sim_observe_singular_start(sim, level);
    bool solved = true;
    if (!start) TRY(observe_state(sim, level, &solved));
    sim->snapshot.work += sim->audit.work_beside;
    if (level >= LW_OBSERVE_MOMENTUM) find_momenta(sim);
    const bool continued = start || lwi_sim_continue_values(sim, level, &sim->snapshot);
    if (!continued && !solved) return LW_ERR_SINGULAR; // the message is that of observe_state
    if (!solved && level >= LW_OBSERVE_REACTION) lwi_sim_take_uniqueness(sim);
    lwi_observe_merged(sim->model, level, sim->inputs, &sim->loads, &sim->snapshot);
    lwi_totals system = {0};
    if (level >= LW_OBSERVE_ENERGY) observe_totals(sim, level, &system);
    const double length = sim->options.duration - sim->start;
    const double part = length > 0 ? (sim->t - sim->start) / length : 0;
    if (!sim->audit.begun) sim->audit.size = fmax(sim->audit.size, energy_at_rest(sim->model));
    audit(&sim->audit, level, sim->t, part, &system, sim->snapshot.work);
    lwi_sim_warn_of_divergence(sim);
    lwi_sim_fill(&sim->observation, level, &sim->snapshot, &system);
    sim->observation.reactions_continued = continued && level >= LW_OBSERVE_REACTION;
    if (level >= LW_OBSERVE_FORCE) fill_outputs(sim);
    if (level >= LW_OBSERVE_MOMENTUM) fill_momenta(sim);
    fill_impact(sim);
    *observation = &sim->observation;
    return LW_OK;
}

double lwi_audit_valid_until(const lwi_audit *a, const char *integrator, double end)
{
    const bool lost = a->begun && a->balanced < a->last;
    return lost && !lwi_integrator_find(integrator)->adaptive ? fmin(a->balanced, end) : end;
}

// Adds what the simulations did that this one continues.
static void add_earlier(const lw_sim *sim, lw_summary *s)
{
    const lw_summary *e = &sim->earlier;
    if (!sim->continues) return;
    s->steps += e->steps, s->evaluations += e->evaluations, s->rejected += e->rejected;
    s->restarts += e->restarts, s->projections += e->projections, s->events += e->events;
    s->late += e->late, s->wall += e->wall;
    s->behind = fmax(s->behind, e->behind);
    s->start = e->start;
}

bool lw_sim_is_exact(const lw_sim *sim)
{
    if (!sim) return false;
    const char *name = sim->options.integrator;
    const bool equal = !strcmp(name, "rk4") || !strcmp(name, "rattle") || !strcmp(name, "gauss") ||
                       (!strcmp(name, "index3") && !sim->work->controls);
    const bool stored = equal || !strcmp(name, "dopri54");
    return stored && !sim->events.active && !sim->triggers.active && !sim->crossing.active &&
           (!sim->monitor.active || sim->takes_singular) && !lwi_options_interpolate(&sim->options);
}

void lw_sim_summary(const lw_sim *sim, lw_summary *summary)
{
    if (!sim || !summary) return;
    lwi_integrator_stats stats;
    sim->integrator->type->stats(sim->integrator, &stats);
    *summary =
        (lw_summary){.steps = stats.steps,
                     .evaluations = stats.evaluations,
                     .rejected = stats.rejected,
                     .restarts = stats.restarts,
                     .events = sim->events.count,
                     .occurrences = sim->triggers.total,
                     .late = sim->late,
                     .behind = sim->behind,
                     .start = sim->start,
                     .end = sim->t,
                     .valid_until = lwi_audit_valid_until(&sim->audit, sim->options.integrator,
                                                          fmin(sim->t, sim->work->valid_until)),
                     .wall = sim->wall,
                     .energy_error = sim->audit.energy_error,
                     .energy_scale = sim->audit.energy_scale,
                     .energy_range = sim->audit.high - sim->audit.low,
                     .energy_drift = drift_of(&sim->audit),
                     .projections = sim->projection.count,
                     .impulses = sim->audit.impulses,
                     .impulse_work = sim->audit.impulse_work};
    memcpy(summary->residual, sim->audit.residual, sizeof summary->residual);
    add_earlier(sim, summary);
}

long lw_sim_event_count(const lw_sim *sim, int event)
{
    if (!sim || event < 0 || event >= sim->model->desc.nevent) return 0;
    return sim->triggers.active ? sim->triggers.count[event] : 0;
}

int lw_sim_stopped(const lw_sim *sim)
{
    return sim && sim->triggers.active ? sim->triggers.stopped : -1;
}

void lw_sim_times(const lw_sim *sim, lw_step_times *times)
{
    if (!sim || !times) return;
    const lwi_times *t = &sim->times;
    *times = (lw_step_times){.steps = t->count,
                             .total = t->total,
                             .min = t->minimum,
                             .median = lwi_times_quantile(t, 0.5),
                             .p99 = lwi_times_quantile(t, 0.99),
                             .p999 = lwi_times_quantile(t, 0.999),
                             .max = t->maximum,
                             .slow = sim->slow};
}

void lw_sim_times_reset(lw_sim *sim)
{
    if (!sim) return;
    sim->times = (lwi_times){0};
    sim->slow = 0;
}
