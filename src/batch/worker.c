// worker.c -- one thread's instances in the lanes of a batch stepper.
//
// An instance is loaded into a lane, moves until it reaches the time asked for or fails, and makes
// room for the next one; the others in their lanes do not notice.  Instances in lanes at the same
// time have the same model.  With a callback all instances are in lanes at once, of as many steppers as they need, and
// one call gives the inputs of all that need rates.
#include "batch/batch.h"

#include "base/assert.h"
#include "batch/evaluate.h"

#include <math.h>
#include <string.h>

// Instances with the same model that follow each other in a worker's list.
typedef struct group {
    int variant, first, count;
    lwi_evaluate *evaluate;
    double *atol; // [nx] of the variant
    const lw_options *options;
} group;

// Lanes of one stepper and the instances in them.
typedef struct block {
    lwi_worker *worker;
    lwi_stepper stepper; // with a stride for the widest
    lwi_stepper_part part;
    int width;
    group *of;
    int next, end;               // of the group's instances
    bool trying;                 // an attempt has begun
    unsigned before;             // lanes that it began with
    int lane[LWI_STEPPER_LANES]; // instance in each lane, -1: none
    const double *inputs[LWI_STEPPER_LANES];
    void *discrete[LWI_STEPPER_LANES];
    unsigned unexplained; // lanes with last rates that are not finite for an unknown reason
    long pre_stepped[LWI_STEPPER_LANES]; // steps done at the last pre-step of the lane
    lw_error why[LWI_STEPPER_LANES];
} block;

struct lwi_worker {
    lw_batch *batch;
    bool
        in_caller; // it works in the caller's thread and calls the function that may stop the batch
    lwi_arena arena;
    int *list; // [count] instances
    int count;
    int ngroup;
    group *group;
    int nblock;
    block *block;                  // with a callback: of all instances at once; else two
    block *wide, *narrow;          // the two: for one group after the other, in lanes and alone
    struct lwi_exchange *exchange; // with the callback; NULL: none
};

// ------------------------------------------------------------------------------------------- rates

static void rates(void *user, const double *t, const double *x, double *xdot, unsigned lanes,
                  lw_status *status)
{
    block *p = user;
    lwi_evaluate_hold(p->of->evaluate, p->discrete);
    lwi_evaluate_lanes(p->of->evaluate, p->stepper.stride, t, x, p->inputs, xdot, lanes, status,
                       p->why);
    p->unexplained = (p->unexplained & ~lanes) | lwi_evaluate_unexplained(p->of->evaluate);
}

// -------------------------------------------------------------------------------------- in and out

// Next time at which the instance must end a step.
static double stop_of(const lw_batch *b, const lwi_instance *instance)
{
    return instance->next_break < b->to ? instance->next_break : b->to;
}

// Notifies the step controller of changes since the last step (integrator.h: restart).
static void take_changes(lwi_instance *instance)
{
    if (instance->pending == LWI_NEW_RATES) instance->control.slope = false;
    if (instance->pending == LWI_NEW_STATE) {
        lwi_step_control_reset(&instance->control);
        lwi_step_control_recall(&instance->control, instance->kept_step);
        memset(instance->kept_step, 0, sizeof instance->kept_step);
        instance->restarts++;
    }
    instance->pending = LWI_NOTHING;
}

static void load(block *p, int l, int i)
{
    LWI_ASSERT_INDEX(l, LWI_STEPPER_LANES);
    LWI_ASSERT_INDEX(i, p->worker->batch->n);
    LWI_ASSERT(p->lane[l] < 0);
    const lw_batch *b = p->worker->batch;
    lwi_instance *instance = &b->instance[i];
    lwi_stepper *m = &p->stepper;
    const double *x = b->x + (size_t)i * (size_t)b->nx,
                 *slope = b->slope + (size_t)i * (size_t)b->nx;
    take_changes(instance);
    instance->control.arrived = instance->known = false;
    for (int k = 0; k < m->n; k++) {
        m->x[k * m->stride + l] = x[k];
        m->k[0][k * m->stride + l] = slope[k];
    }
    m->t[l] = instance->t;
    m->stop[l] = stop_of(b, instance);
    m->control[l] = instance->control;
    m->h[l] = instance->control.h;
    m->last_error[l] = instance->control.error;
    m->busy |= 1u << l;
    p->inputs[l] = b->inputs + (size_t)i * (size_t)b->ninput;
    p->discrete[l] = b->discrete + (size_t)i * b->ndiscrete;
    p->pre_stepped[l] = -1;
    p->lane[l] = i;
}

// Whether a step failed at all steps allowed, or at a function or a callback: nothing else is the reason.
static bool is_explained(const block *p, int l)
{
    const lwi_stepper *m = &p->stepper;
    if (m->status[l] == LW_ERR_INTEGRATOR)
        return m->max_steps > 0 && m->control[l].steps >= m->max_steps;
    return m->status[l] == LW_ERR_NOT_FINITE ? !(p->unexplained >> l & 1u)
                                             : m->status[l] != LW_ERR_SINGULAR;
}

static void unload(block *p, int l)
{
    LWI_ASSERT_INDEX(l, LWI_STEPPER_LANES);
    LWI_ASSERT_INDEX(p->lane[l], p->worker->batch->n);
    const lw_batch *b = p->worker->batch;
    const int i = p->lane[l];
    lwi_instance *instance = &b->instance[i];
    const lwi_stepper *m = &p->stepper;
    double *x = b->x + (size_t)i * (size_t)b->nx, *slope = b->slope + (size_t)i * (size_t)b->nx;
    for (int k = 0; k < m->n; k++) {
        x[k] = m->x[k * m->stride + l];
        slope[k] = m->k[0][k * m->stride + l];
    }
    instance->t = m->t[l];
    instance->control = m->control[l];
    instance->control.h = m->h[l];
    instance->control.error = m->last_error[l];
    if (m->control[l].failed) {
        instance->status = m->status[l];
        instance->unexplained = !is_explained(p, l);
        lwi_copy_text(instance->failure, sizeof instance->failure, m->error[l].text);
    }
    p->lane[l] = -1;
}

// The next instance of the group that has somewhere to go; -1: none.
static int next_instance(block *p)
{
    const lw_batch *b = p->worker->batch;
    while (p->next < p->end) {
        const int i = p->worker->list[p->of->first + p->next++];
        const lwi_instance *instance = &b->instance[i];
        if (instance->status == LW_OK && instance->t < b->to && !instance->due) return i;
    }
    return -1;
}

static void refill(block *p, int l)
{
    const int i = next_instance(p);
    if (i >= 0) load(p, l, i);
}

// A lane that is not busy any more: continue to the next stop, or unload it.
static void finish_lane(block *p, int l)
{
    LWI_ASSERT_INDEX(l, LWI_STEPPER_LANES);
    LWI_ASSERT(!(p->stepper.busy >> l & 1u));
    LWI_ASSERT_INDEX(p->lane[l], p->worker->batch->n);
    lwi_stepper *m = &p->stepper;
    lwi_instance *instance = &p->worker->batch->instance[p->lane[l]];
    const lw_model *model = p->worker->batch->variant[p->of->variant].model;
    if (m->t[l] >= instance->impact_stop)
        instance->due = true;
    else if (m->t[l] >= instance->next_break)
        instance->next_break = fmin(lwi_model_next_break(model, m->t[l]), instance->impact_stop);
    if (!m->control[l].failed && m->t[l] < p->worker->batch->to && !instance->due) {
        m->stop[l] = stop_of(p->worker->batch, instance);
        m->control[l].arrived = false;
        m->busy |= 1u << l;
        return;
    }
    unload(p, l);
    refill(p, l);
}

// ------------------------------------------------------------------------------------------- steps

// Lanes without an instance hold a copy of the first: their numbers are of the ordinary kind, too.
static void fill(block *p, int width)
{
    LWI_ASSERT(width >= 1 && width <= p->stepper.stride);
    lwi_stepper *m = &p->stepper;
    for (int l = 0; l < width; l++) {
        p->lane[l] = -1;
        refill(p, l);
    }
    for (int l = 1; l < width; l++) {
        if (p->lane[l] >= 0) continue;
        for (int k = 0; k < m->n; k++) {
            m->x[k * m->stride + l] = m->x[k * m->stride];
            m->k[0][k * m->stride + l] = m->k[0][k * m->stride];
        }
        m->t[l] = m->t[0];
        p->inputs[l] = p->inputs[0];
    }
}

// Before a step, not before another attempt at it.
static void pre_step_lanes(block *p, int width)
{
    lwi_stepper *m = &p->stepper;
    for (int l = 0; l < width; l++) {
        lwi_pre_stepped done;
        if (!(m->busy >> l & 1u) || m->control[l].steps == p->pre_stepped[l]) continue;
        p->pre_stepped[l] = m->control[l].steps;
        const lw_status status = lwi_evaluate_pre_step(p->of->evaluate, m->stride, m->t[l], m->x, l,
                                                       p->inputs[l], &done, &p->why[l]);
        if (done.changed) m->control[l].slope = false;
        p->worker->batch->instance[p->lane[l]].projections += done.projected;
        if (status != LW_OK) lwi_stepper_fail(m, l, status, m->h[l], "%s", p->why[l].text);
    }
}

// Interval between calls of the caller's function [s].
#define PATIENCE 0.05

// t: the time of an instance; the caller is given the latest one, as instances run one after the other.
static void ask_caller(lwi_batch_cancel *cancel, double t)
{
    cancel->latest = fmax(cancel->latest, t);
    if (cancel->progress(cancel->user, cancel->latest, cancel->end)) cancel->stopped = true;
}

// t: the time of an instance
static bool is_stopped(const lwi_worker *w, double t)
{
    lwi_batch_cancel *cancel = &w->batch->cancel;
    if (!cancel->progress || !w->in_caller)
        return atomic_load_explicit(&cancel->stopped, memory_order_relaxed);
    const double now = lwi_clock();
    if (now - cancel->called < PATIENCE) return cancel->stopped;
    cancel->called = now;
    ask_caller(cancel, t);
    return cancel->stopped;
}

// Takes the instances out of the lanes where they are.
static void stop_lanes(block *p)
{
    for (int l = 0; l < p->width; l++)
        if (p->lane[l] >= 0) unload(p, l);
    p->stepper.busy = 0;
}

// Loads instances first to end of a group.
static void begin_block(block *p, group *g, int first, int end)
{
    LWI_ASSERT(g->count > 0 && end <= g->count);
    const lw_batch *b = p->worker->batch;
    lwi_stepper *m = &p->stepper;
    p->part = lwi_stepper_part_of(b->method, p->width);
    p->of = g;
    p->next = first;
    p->end = end;
    p->trying = false;
    m->n = m->rows = b->variant[g->variant].sim->work->layout.nx;
    m->busy = 0;
    m->rtol = g->options->rtol;
    m->max_step = g->options->step;
    m->max_steps = (long)g->options->max_steps;
    for (int k = 0; k < m->n; k++)
        for (int l = 0; l < m->stride; l++) m->atol[k * m->stride + l] = g->atol[k];
    fill(p, p->width);
}

// Runs until rates are needed: true; or until no instance has further to go.
static bool advance(block *p)
{
    lwi_stepper *m = &p->stepper;
    while (p->trying || m->busy) {
        if (!p->trying) {
            lwi_evaluate_hold(p->of->evaluate, p->discrete);
            p->before = m->busy;
            pre_step_lanes(p, p->width);
            m->phase = LWI_STEPPER_BEGIN;
        }
        p->trying = p->part(m);
        if (p->trying) return true;
        for (int l = 0; l < p->width; l++)
            if (p->before >> l & ~(m->busy >> l) & 1u) finish_lane(p, l);
    }
    return false;
}

static void step_group(lwi_worker *w, group *g)
{
    LWI_ASSERT(w->batch->lanes >= 1 && w->batch->lanes <= LWI_STEPPER_LANES);
    block *p = g->count < 2 || w->batch->lanes == 1 ? w->narrow : w->wide;
    const lwi_stepper *m = &p->stepper;
    begin_block(p, g, 0, g->count);
    while (advance(p)) {
        rates(p, m->request.t, m->request.x, m->request.xdot, m->request.lanes, p->stepper.status);
        if (!is_stopped(w, m->t[0])) continue;
        stop_lanes(p);
        return;
    }
}

// ---- instances with a callback: all of them are moved side by side

// What the callback gets and gives; a row for each instance that needs rates.
typedef struct lwi_exchange {
    lw_batch_states states;
    int *instance;
    double *time, *q, *qd, *signal;
    double (*position)[3], (*quaternion)[4], (*velocity)[3], (*angular_velocity)[3];
    double *inputs; // [row][ninput]
    struct place {
        int instance;
        lw_status *status; // out, of the call for this row
        lw_error *why;
    } * place;        // [row]
    lw_status *ended; // [count] of the rows at the end of a step call
    lw_error *why;    // [count] the same
} exchange;

static void add_row(lwi_worker *w, int instance, double t, const lwi_snapshot *m, lw_status *status,
                    lw_error *why)
{
    exchange *a = w->exchange;
    const lw_batch *b = w->batch;
    const size_t r = (size_t)a->states.count++, nq = (size_t)a->states.nq,
                 nv = (size_t)a->states.nv, n = (size_t)a->states.nbody,
                 nstate = (size_t)a->states.nstate, ninput = (size_t)b->ninput;
    LWI_ASSERT_INDEX((int)r, w->count);
    a->place[r] = (struct place){instance, status, why};
    a->instance[r] = lw_batch_number(b, instance);
    a->time[r] = t;
    memcpy(a->q + r * nq, m->q, nq * sizeof *a->q);
    memcpy(a->qd + r * nv, m->qd, nv * sizeof *a->qd);
    if (nstate) memcpy(a->signal + r * nstate, m->states, nstate * sizeof *a->signal);
    memcpy(a->position + r * n, m->r, n * sizeof *a->position);
    memcpy(a->quaternion + r * n, m->quat, n * sizeof *a->quaternion);
    memcpy(a->velocity + r * n, m->v, n * sizeof *a->velocity);
    memcpy(a->angular_velocity + r * n, m->w, n * sizeof *a->angular_velocity);
    memcpy(a->inputs + r * ninput, b->inputs + (size_t)instance * ninput,
           ninput * sizeof *a->inputs);
}

// Not by a step: the reason is in the message of the instance.
static void fail(lw_batch *b, int i, lw_status status, const char *why)
{
    LWI_ASSERT_INDEX(i, b->n);
    lwi_instance *instance = &b->instance[i];
    instance->status = status;
    instance->control.failed = true;
    lwi_copy_text(instance->failure, sizeof instance->failure, why);
}

// Calls, and gives the values to the instances of the rows, or the reason why there are none.
static void call(lwi_worker *w)
{
    exchange *a = w->exchange;
    const lw_batch *b = w->batch;
    const size_t ninput = (size_t)b->ninput;
    if (!a->states.count) return;
    const lw_status status = b->callback(b->callback_user, &a->states, a->inputs);
    for (size_t r = 0; r < (size_t)a->states.count; r++) {
        const struct place *at = &a->place[r];
        const double *value = a->inputs + r * ninput;
        *at->status = status != LW_OK ? lwi_callback_fail(status, a->time[r], at->why)
                                      : lwi_callback_check(b->model, value, a->time[r], at->why);
        if (*at->status == LW_OK)
            memcpy(b->inputs + (size_t)at->instance * ninput, value, ninput * sizeof *value);
    }
    a->states.count = 0;
}

// The motion of all lanes that need rates.
static void request_block(lwi_worker *w, block *p)
{
    lwi_stepper *m = &p->stepper;
    lwi_evaluate_hold(p->of->evaluate, p->discrete);
    p->unexplained &= ~m->request.lanes;
    for (int l = 0; l < p->width; l++) {
        const lwi_snapshot *motion;
        if (!(m->request.lanes >> l & 1u)) continue;
        m->status[l] = lwi_evaluate_motion(p->of->evaluate, m->stride, m->request.t[l],
                                           m->request.x, l, p->inputs[l], &motion, &p->why[l]);
        if (m->status[l] == LW_OK)
            add_row(w, p->lane[l], m->request.t[l], motion, &m->status[l], &p->why[l]);
    }
}

static void answer_block(block *p)
{
    lwi_stepper *m = &p->stepper;
    unsigned lanes = m->request.lanes;
    for (int l = 0; l < p->width; l++)
        if (lanes >> l & 1u && m->status[l] != LW_OK) lanes &= ~(1u << l);
    if (lanes) rates(p, m->request.t, m->request.x, m->request.xdot, lanes, m->status);
}

// The inputs at the states where the instances are now, for their rows; one that has none fails, and the others continue.
static void know_inputs(lwi_worker *w)
{
    lw_batch *b = w->batch;
    lw_status *status = w->exchange->ended;
    lw_error *why = w->exchange->why;
    for (int g = 0; g < w->ngroup; g++)
        for (int k = w->group[g].first; k < w->group[g].first + w->group[g].count; k++) {
            const int i = w->list[k];
            const lwi_snapshot *motion;
            void *discrete = b->discrete + (size_t)i * b->ndiscrete;
            const lwi_instance *instance = &b->instance[i];
            lwi_evaluate_hold(w->group[g].evaluate, &discrete);
            status[k] = instance->status;
            if (status[k] == LW_OK && !instance->known)
                status[k] = lwi_evaluate_motion(
                    w->group[g].evaluate, 1, instance->t, b->x + (size_t)i * (size_t)b->nx, 0,
                    b->inputs + (size_t)i * (size_t)b->ninput, &motion, &why[k]);
            if (status[k] == LW_OK && !instance->known)
                add_row(w, i, instance->t, motion, &status[k], &why[k]);
        }
    call(w);
    for (int k = 0; k < w->count; k++) {
        lwi_instance *instance = &b->instance[w->list[k]];
        instance->known = status[k] == LW_OK;
        if (status[k] != LW_OK && instance->status == LW_OK)
            fail(b, w->list[k], status[k], why[k].text);
    }
}

static void step_together(lwi_worker *w)
{
    int k = 0;
    if (!w->nblock) return; // none of its instances could begin
    for (int g = 0; g < w->ngroup; g++)
        for (int first = 0; first < w->group[g].count; first += w->block[k++].width) {
            const int last = first + w->block[k].width, count = w->group[g].count;
            begin_block(&w->block[k], &w->group[g], first, last < count ? last : count);
        }
    LWI_ASSERT(k == w->nblock);
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < w->nblock; i++) {
            if (!advance(&w->block[i])) continue;
            request_block(w, &w->block[i]);
            any = true;
        }
        call(w);
        for (int i = 0; i < w->nblock; i++)
            if (w->block[i].trying) answer_block(&w->block[i]);
        if (!is_stopped(w, w->block[0].stepper.t[0])) continue;
        for (int i = 0; i < w->nblock; i++) stop_lanes(&w->block[i]);
        return;
    }
    know_inputs(w);
}

// ---- instances with separate simulations

// An lw_progress of a simulation.
static int look_up(void *user, double time, double end)
{
    const lwi_worker *w = user;
    lwi_batch_cancel *cancel = &w->batch->cancel;
    (void)end;
    if (cancel->progress && w->in_caller) ask_caller(cancel, time);
    return atomic_load_explicit(&cancel->stopped, memory_order_relaxed);
}

// As a single run: events at its start happen before the first row.
static lw_status fire_at_start(lw_sim *sim, lwi_instance *instance)
{
    if (!sim->triggers.active || sim->triggers.begun) return LW_OK;
    TRY(lwi_sim_begin_triggers(sim));
    TRY(lwi_sim_fire_all(sim));
    instance->stopped = sim->triggers.stopped >= 0;
    return LW_OK;
}

static void step_alone(lwi_worker *w, int i)
{
    lw_batch *b = w->batch;
    lwi_instance *instance = &b->instance[i];
    lw_sim *sim = b->variant[instance->variant].sim;
    lw_status status = LW_OK;
    if (instance->status != LW_OK || instance->t > b->to) return;
    if (instance->t < b->to) {
        instance->stopped &= sim->pending != LWI_NEW_STATE;
        instance->over = instance->stopped;
        if (instance->stopped) return;
        status = lw_sim_step_progress(sim, b->to, look_up, w);
        instance->t = sim->t;
        instance->stopped = sim->triggers.stopped >= 0;
        if (b->cancel.stopped) return;
    } else {
        status = fire_at_start(sim, instance);
    }
    if (status == LW_OK) status = lwi_sim_call_back_here(sim, "inputs");
    if (status != LW_OK) fail(b, i, status, lw_sim_error(sim)->text);
}

void lwi_worker_step(lwi_worker *w)
{
    for (int k = 0; w->batch->alone && k < w->count && !w->batch->cancel.stopped; k++)
        step_alone(w, w->list[k]);
    if (w->exchange)
        step_together(w);
    else
        for (int g = 0; g < w->ngroup; g++) step_group(w, &w->group[g]);
}

// ---------------------------------------------------------------------------------------- creation

static lw_status make_groups(lwi_worker *w, const int *instances, int count, lw_error *error)
{
    lw_batch *b = w->batch;
    w->count = count;
    w->list = LWI_PUSH(&w->arena, int, count);
    if (w->list && b->alone) memcpy(w->list, instances, (size_t)count * sizeof *w->list);
    if (w->list && b->alone) return LW_OK;
    w->group = LWI_PUSH(&w->arena, group, b->nvariant < count ? b->nvariant : count);
    if (!w->list || !w->group) return LW_ERR_MEMORY;
    for (int k = 0; k < count; k++) {
        const int variant = b->instance[instances[k]].variant;
        w->list[k] = instances[k];
        if (!w->ngroup || w->group[w->ngroup - 1].variant != variant)
            w->group[w->ngroup++] = (group){.variant = variant, .first = k};
        w->group[w->ngroup - 1].count++;
    }
    for (int g = 0; g < w->ngroup; g++) {
        group *own = &w->group[g];
        const lwi_variant *variant = &b->variant[own->variant];
        own->atol = variant->sim->atol;
        own->options = &variant->sim->options;
        TRY(lwi_evaluate_create(variant->sim, variant->count != own->count,
                                own->count < 2 ? 1 : b->lanes, b->callback != NULL, &w->arena,
                                &own->evaluate, error));
    }
    return LW_OK;
}

static lw_status make_block(lwi_worker *w, block *p, int width)
{
    p->worker = w;
    p->width = width;
    lwi_stepper *m = &p->stepper;
    TRY(lwi_stepper_create(w->batch->nx, width == 1 ? 1 : LWI_STEPPER_LANES, &w->arena.allocator,
                           m));
    for (int l = 0; l < LWI_STEPPER_LANES; l++) m->why[l] = &p->why[l];
    return LW_OK;
}

// Of one instance after the other: a block of each width.
static lw_status make_two_blocks(lwi_worker *w)
{
    w->block = LWI_PUSH(&w->arena, block, 2);
    if (!w->block) return LW_ERR_MEMORY;
    w->nblock = 2;
    w->narrow = &w->block[0];
    w->wide = &w->block[1];
    TRY(make_block(w, w->narrow, 1));
    return make_block(w, w->wide, w->batch->lanes);
}

// Of all instances at once.
static lw_status make_all_blocks(lwi_worker *w)
{
    const int lanes = w->batch->lanes;
    w->block = LWI_PUSH(&w->arena, block, w->count);
    if (!w->block) return LW_ERR_MEMORY;
    for (int g = 0; g < w->ngroup; g++) {
        const int count = w->group[g].count, width = count < 2 ? 1 : lanes;
        for (int k = 0; k < count; k += width) TRY(make_block(w, &w->block[w->nblock++], width));
    }
    return LW_OK;
}

static lw_status make_exchange(lwi_worker *w)
{
    const lw_model *model = w->batch->model;
    exchange *a = w->exchange = LWI_PUSH(&w->arena, exchange, 1);
    const size_t n = (size_t)w->count, nbody = n * (size_t)model->nbody;
    if (!a) return LW_ERR_MEMORY;
    a->instance = LWI_PUSH(&w->arena, int, n);
    a->time = LWI_PUSH(&w->arena, double, n);
    a->q = LWI_PUSH(&w->arena, double, n *(size_t)model->nq);
    a->qd = LWI_PUSH(&w->arena, double, n *(size_t)model->nv);
    a->signal = LWI_PUSH(&w->arena, double, n *(size_t)model->nstate);
    a->position = lwi_arena_push(&w->arena, nbody, sizeof *a->position);
    a->quaternion = lwi_arena_push(&w->arena, nbody, sizeof *a->quaternion);
    a->velocity = lwi_arena_push(&w->arena, nbody, sizeof *a->velocity);
    a->angular_velocity = lwi_arena_push(&w->arena, nbody, sizeof *a->angular_velocity);
    a->inputs = LWI_PUSH(&w->arena, double, n *(size_t)w->batch->ninput);
    a->place = LWI_PUSH(&w->arena, struct place, n);
    a->ended = LWI_PUSH(&w->arena, lw_status, n);
    a->why = LWI_PUSH(&w->arena, lw_error, n);
    if (!a->instance || !a->time || !a->q || !a->qd || !a->signal || !a->position ||
        !a->quaternion || !a->velocity || !a->angular_velocity || !a->inputs || !a->place ||
        !a->ended || !a->why)
        return LW_ERR_MEMORY;
    a->states = (lw_batch_states){.instance = a->instance,
                                  .time = a->time,
                                  .nq = model->nq,
                                  .nv = model->nv,
                                  .nbody = model->nbody,
                                  .nstate = model->nstate,
                                  .q = a->q,
                                  .qd = a->qd,
                                  .states = a->signal,
                                  .position = (const double(*)[3])a->position,
                                  .quaternion = (const double(*)[4])a->quaternion,
                                  .velocity = (const double(*)[3])a->velocity,
                                  .angular_velocity = (const double(*)[3])a->angular_velocity};
    return LW_OK;
}

static lw_status make_blocks(lwi_worker *w)
{
    if (w->batch->alone) return LW_OK;
    if (!w->batch->callback) return make_two_blocks(w);
    TRY(make_exchange(w));
    return make_all_blocks(w);
}

lw_status lwi_worker_create(lw_batch *b, const int *instances, int count,
                            const lw_allocator *allocator, lwi_worker **out, lw_error *error)
{
    lwi_worker *w = lwi_allocate(allocator, sizeof *w);
    if (!w) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a worker");
    memset(w, 0, sizeof *w);
    w->batch = b;
    w->in_caller = b->nworker == 0; // the first
    lwi_arena_init(&w->arena, allocator);
    lw_status status = make_groups(w, instances, count, error);
    if (status == LW_OK) status = make_blocks(w);
    if (status == LW_ERR_MEMORY) lwi_fail(error, status, "no memory for a worker");
    if (status != LW_OK) {
        lwi_worker_destroy(w, allocator);
        return status;
    }
    *out = w;
    return LW_OK;
}

lw_status lwi_worker_each_work(lwi_worker *w, lw_status (*take)(lwi_work *, const void *user),
                               const void *user)
{
    for (int g = 0; g < w->ngroup; g++) TRY(take(lwi_evaluate_work(w->group[g].evaluate), user));
    return LW_OK;
}

void lwi_worker_destroy(lwi_worker *w, const lw_allocator *allocator)
{
    if (!w) return;
    for (int i = 0; i < w->nblock; i++)
        lwi_stepper_destroy(&w->block[i].stepper, &w->arena.allocator);
    for (int g = 0; g < w->ngroup; g++) lwi_evaluate_destroy(w->group[g].evaluate);
    lwi_arena_free(&w->arena);
    lwi_release(allocator, w);
}
