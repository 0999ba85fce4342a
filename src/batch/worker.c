// worker.c -- one thread's instances in the lanes of a batch stepper.
//
// An instance is loaded into a lane, moves until it reaches the time asked for or fails, and makes
// room for the next one; the others in their lanes do not notice.  Instances in lanes at the same
// time have the same model.
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

struct lwi_worker {
    lw_batch *batch;
    bool
        in_caller; // it works in the caller's thread and calls the function that may stop the batch
    lwi_arena arena;
    int *list; // [count] instances
    int count;
    int ngroup;
    group *group;
    lwi_stepper wide;   // the lanes; with a stride for the widest
    lwi_stepper narrow; // width 1
    lwi_stepper *now;   // the one in use
    group *at;
    int next;                    // of the group's instances
    int lane[LWI_STEPPER_LANES]; // instance in each lane, -1: none
    const double *inputs[LWI_STEPPER_LANES];
    void *discrete[LWI_STEPPER_LANES];
    long pre_stepped[LWI_STEPPER_LANES]; // steps done at the last pre-step of the lane
    lw_error why[LWI_STEPPER_LANES];
};

// ------------------------------------------------------------------------------------------- rates

static void rates(void *user, const double *t, const double *x, double *xdot, unsigned lanes,
                  lw_status *status)
{
    lwi_worker *w = user;
    lwi_evaluate_lanes(w->at->evaluate, w->now->stride, t, x, w->inputs, xdot, lanes, status,
                       w->why);
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

static void load(lwi_worker *w, int l, int i)
{
    LWI_ASSERT_INDEX(l, LWI_STEPPER_LANES);
    LWI_ASSERT_INDEX(i, w->batch->n);
    LWI_ASSERT(w->lane[l] < 0);
    const lw_batch *b = w->batch;
    lwi_instance *instance = &b->instance[i];
    lwi_stepper *m = w->now;
    const double *x = b->x + (size_t)i * (size_t)b->nx,
                 *slope = b->slope + (size_t)i * (size_t)b->nx;
    take_changes(instance);
    instance->control.arrived = false;
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
    w->inputs[l] = b->inputs + (size_t)i * (size_t)b->ninput;
    w->discrete[l] = b->discrete + (size_t)i * b->ndiscrete;
    w->pre_stepped[l] = -1;
    w->lane[l] = i;
}

static void unload(lwi_worker *w, int l)
{
    LWI_ASSERT_INDEX(l, LWI_STEPPER_LANES);
    LWI_ASSERT_INDEX(w->lane[l], w->batch->n);
    const lw_batch *b = w->batch;
    const int i = w->lane[l];
    lwi_instance *instance = &b->instance[i];
    const lwi_stepper *m = w->now;
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
        lwi_copy_text(instance->failure, sizeof instance->failure, m->error[l].text);
    }
    w->lane[l] = -1;
}

// The next instance of the group that has somewhere to go; -1: none.
static int next_instance(lwi_worker *w)
{
    const lw_batch *b = w->batch;
    while (w->next < w->at->count) {
        const int i = w->list[w->at->first + w->next++];
        const lwi_instance *instance = &b->instance[i];
        if (instance->status == LW_OK && instance->t < b->to && !instance->due) return i;
    }
    return -1;
}

static void refill(lwi_worker *w, int l)
{
    const int i = next_instance(w);
    if (i >= 0) load(w, l, i);
}

// A lane that is not busy any more: continue to the next stop, or unload it.
static void finish_lane(lwi_worker *w, int l)
{
    LWI_ASSERT_INDEX(l, LWI_STEPPER_LANES);
    LWI_ASSERT(!(w->now->busy >> l & 1u));
    LWI_ASSERT_INDEX(w->lane[l], w->batch->n);
    lwi_stepper *m = w->now;
    lwi_instance *instance = &w->batch->instance[w->lane[l]];
    const lw_model *model = w->batch->variant[w->at->variant].model;
    if (m->t[l] >= instance->impact_stop)
        instance->due = true;
    else if (m->t[l] >= instance->next_break)
        instance->next_break = fmin(lwi_model_next_break(model, m->t[l]), instance->impact_stop);
    if (!m->control[l].failed && m->t[l] < w->batch->to && !instance->due) {
        m->stop[l] = stop_of(w->batch, instance);
        m->control[l].arrived = false;
        m->busy |= 1u << l;
        return;
    }
    unload(w, l);
    refill(w, l);
}

// ------------------------------------------------------------------------------------------- steps

// Lanes without an instance hold a copy of the first: their numbers are of the ordinary kind, too.
static void fill(lwi_worker *w, int width)
{
    LWI_ASSERT(width >= 1 && width <= w->now->stride);
    lwi_stepper *m = w->now;
    for (int l = 0; l < width; l++) {
        w->lane[l] = -1;
        refill(w, l);
    }
    for (int l = 1; l < width; l++) {
        if (w->lane[l] >= 0) continue;
        for (int k = 0; k < m->n; k++) {
            m->x[k * m->stride + l] = m->x[k * m->stride];
            m->k[0][k * m->stride + l] = m->k[0][k * m->stride];
        }
        m->t[l] = m->t[0];
        w->inputs[l] = w->inputs[0];
    }
}

// Before a step, not before another attempt at it.
static void pre_step_lanes(lwi_worker *w, int width)
{
    lwi_stepper *m = w->now;
    for (int l = 0; l < width; l++) {
        lwi_pre_stepped done;
        if (!(m->busy >> l & 1u) || m->control[l].steps == w->pre_stepped[l]) continue;
        w->pre_stepped[l] = m->control[l].steps;
        const lw_status status = lwi_evaluate_pre_step(w->at->evaluate, m->stride, m->t[l], m->x, l,
                                                       w->inputs[l], &done, &w->why[l]);
        if (done.changed) m->control[l].slope = false;
        w->batch->instance[w->lane[l]].projections += done.projected;
        if (status != LW_OK) lwi_stepper_fail(m, l, status, m->h[l], "%s", w->why[l].text);
    }
}

// Interval between calls of the caller's function [s].
#define PATIENCE 0.05

static bool is_stopped(const lwi_worker *w)
{
    lwi_batch_cancel *cancel = &w->batch->cancel;
    if (!cancel->progress || !w->in_caller)
        return atomic_load_explicit(&cancel->stopped, memory_order_relaxed);
    const double now = lwi_clock();
    if (now - cancel->called < PATIENCE) return cancel->stopped;
    cancel->called = now;
    const lwi_stepper *m = w->now;
    if (cancel->progress(cancel->user, m->t[0], cancel->end)) cancel->stopped = true;
    return cancel->stopped;
}

// Takes the instances out of the lanes where they are.
static void stop_lanes(lwi_worker *w, int width)
{
    for (int l = 0; l < width; l++)
        if (w->lane[l] >= 0) unload(w, l);
    w->now->busy = 0;
}

static void step_group(lwi_worker *w, group *g)
{
    LWI_ASSERT(g->count > 0);
    LWI_ASSERT(w->batch->lanes >= 1 && w->batch->lanes <= LWI_STEPPER_LANES);
    const lw_batch *b = w->batch;
    const int width = g->count < 2 ? 1 : b->lanes;
    lwi_stepper *m = w->now = width == 1 ? &w->narrow : &w->wide;
    const lwi_stepper_attempt attempt = lwi_stepper_attempt_of(b->method, width);
    const int nx = b->variant[g->variant].sim->work->layout.nx;
    w->at = g;
    w->next = 0;
    m->n = nx;
    m->busy = 0;
    m->rtol = g->options->rtol;
    m->max_step = g->options->step;
    m->max_steps = (long)g->options->max_steps;
    for (int k = 0; k < nx; k++)
        for (int l = 0; l < m->stride; l++) m->atol[k * m->stride + l] = g->atol[k];
    lwi_evaluate_hold(g->evaluate, w->discrete);
    fill(w, width);
    while (m->busy) {
        if (is_stopped(w)) {
            stop_lanes(w, width);
            return;
        }
        const unsigned before = m->busy;
        pre_step_lanes(w, width);
        attempt(m);
        for (int l = 0; l < width; l++)
            if (before >> l & ~(m->busy >> l) & 1u) finish_lane(w, l);
    }
}

// ---- instances with separate simulations

// An lw_progress of a simulation.
static int look_up(void *user, double time, double end)
{
    const lwi_worker *w = user;
    lwi_batch_cancel *cancel = &w->batch->cancel;
    (void)end;
    if (cancel->progress && w->in_caller && cancel->progress(cancel->user, time, cancel->end))
        cancel->stopped = true;
    return atomic_load_explicit(&cancel->stopped, memory_order_relaxed);
}

static void step_alone(lwi_worker *w, int i)
{
    const lw_batch *b = w->batch;
    lwi_instance *instance = &b->instance[i];
    lw_sim *sim = b->variant[instance->variant].sim;
    if (instance->status != LW_OK || instance->t >= b->to) return;
    instance->stopped &= sim->pending != LWI_NEW_STATE;
    instance->over = instance->stopped;
    if (instance->stopped) return;
    const lw_status status = lw_sim_step_progress(sim, b->to, look_up, w);
    instance->t = sim->t;
    instance->stopped = sim->triggers.stopped >= 0;
    if (status == LW_OK || b->cancel.stopped) return;
    instance->status = status;
    instance->control.failed = true;
    lwi_copy_text(instance->failure, sizeof instance->failure, lw_sim_error(sim)->text);
}

void lwi_worker_step(lwi_worker *w)
{
    for (int k = 0; w->batch->alone && k < w->count && !w->batch->cancel.stopped; k++)
        step_alone(w, w->list[k]);
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
                                own->count < 2 ? 1 : b->lanes, &w->arena, &own->evaluate, error));
    }
    return LW_OK;
}

static void prepare(const lwi_worker *w, lwi_stepper *m)
{
    m->rates = rates;
    m->user = (void *)w;
    for (int l = 0; l < LWI_STEPPER_LANES; l++) m->why[l] = &w->why[l];
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
    if (status == LW_OK) status = lwi_stepper_create(b->nx, LWI_STEPPER_LANES, allocator, &w->wide);
    if (status == LW_OK) status = lwi_stepper_create(b->nx, 1, allocator, &w->narrow);
    if (status == LW_ERR_MEMORY) lwi_fail(error, status, "no memory for a worker");
    if (status != LW_OK) {
        lwi_worker_destroy(w, allocator);
        return status;
    }
    prepare(w, &w->wide);
    prepare(w, &w->narrow);
    *out = w;
    return LW_OK;
}

void lwi_worker_destroy(lwi_worker *w, const lw_allocator *allocator)
{
    if (!w) return;
    lwi_stepper_destroy(&w->wide, allocator);
    lwi_stepper_destroy(&w->narrow, allocator);
    for (int g = 0; g < w->ngroup; g++) lwi_evaluate_destroy(w->group[g].evaluate);
    lwi_arena_free(&w->arena);
    lwi_release(allocator, w);
}
