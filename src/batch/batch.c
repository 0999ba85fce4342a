// batch.c -- access to single instances, and their observations ahead of requests; steps.
#include "batch/batch.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>
#include <time.h>

// ---------------------------------------------------------------------------------------- messages

// Fails with the instance's number and the message in batch->error.
lw_status lwi_batch_fail(lw_batch *b, int instance, lw_status status, const char *text)
{
    char detail[sizeof b->error.text - 32];
    lwi_copy_text(detail, sizeof detail, text[0] ? text : lw_status_text(status));
    return lwi_fail(&b->error, status, "instance %d: %s", lw_batch_number(b, instance), detail);
}

lw_status lwi_batch_no_memory(lw_batch *b)
{
    return lwi_fail(&b->error, LW_ERR_MEMORY, "no memory for a batch of %d instances", b->n);
}

// --------------------------------------------------------------------------------------- instances

static double *state_of(const lw_batch *b, int i)
{
    LWI_ASSERT_INDEX(i, b->n);
    return b->x + (size_t)i * (size_t)b->nx;
}
static double *inputs_of(const lw_batch *b, int i)
{
    LWI_ASSERT_INDEX(i, b->n);
    return b->inputs + (size_t)i * (size_t)b->ninput;
}
static unsigned char *discrete_of(const lw_batch *b, int i)
{
    LWI_ASSERT_INDEX(i, b->n);
    return b->discrete + (size_t)i * b->ndiscrete;
}
static double (*impulses_of(const lw_batch *b, int i))[6]
{
    LWI_ASSERT_INDEX(i, b->n);
    return b->impulse + (size_t)i * (size_t)b->model->njoint;
}
static lw_sim *sim_of(const lw_batch *b, int i)
{
    LWI_ASSERT_INDEX(i, b->n);
    return b->variant[b->instance[i].variant].sim;
}
bool lwi_batch_begun(const lw_batch *b, int i)
{
    return sim_of(b, i) != NULL;
}

// Before the first impact of any instance.
lw_status lwi_batch_allocate_impulses(lw_batch *b)
{
    if (b->impulse) return LW_OK;
    const size_t joints = (size_t)b->n * (size_t)b->model->njoint;
    b->impulse = lwi_arena_push(&b->arena, joints, sizeof *b->impulse);
    return b->impulse ? LW_OK : lwi_batch_no_memory(b);
}

// The impulses of its last impact, where the state is the one after it.
static void enter_impact(const lw_batch *b, int i, lw_sim *sim)
{
    lwi_impacts *p = &sim->impacts;
    p->struck = b->instance[i].struck == sim->t;
    if (!p->struck) return;
    LWI_ASSERT(p->prepared && b->impulse);
    memcpy(p->after.reaction, impulses_of(b, i), (size_t)b->model->njoint * sizeof *b->impulse);
}

static void leave_impact(lw_batch *b, int i, const lw_sim *sim)
{
    const lwi_impacts *p = &sim->impacts;
    b->instance[i].struck = p->struck ? sim->t : NAN;
    if (!p->struck) return;
    LWI_ASSERT(b->impulse);
    memcpy(impulses_of(b, i), p->after.reaction, (size_t)b->model->njoint * sizeof *b->impulse);
}

static size_t kept_bytes(const lw_sim *sim)
{
    LWI_ASSERT(lwi_sim_step_numbers(sim) <= LWI_STEP_NUMBERS); // lanes have no other integrators
    return (size_t)lwi_sim_step_numbers(sim) * sizeof *sim->kept_step;
}

// The variant's simulation becomes the instance; its integrator is not used.
static lw_sim *enter(const lw_batch *b, int i)
{
    lwi_instance *instance = &b->instance[i];
    lw_sim *sim = sim_of(b, i);
    instance->observed = false;
    if (b->alone) return sim;
    b->variant[instance->variant].call.number = lw_batch_number(b, i);
    sim->callback.known = instance->known;
    sim->callback.failed = instance->status != LW_OK;
    const double *x = state_of(b, i), *inputs = inputs_of(b, i);
    LWI_ASSERT(sim->work->layout.nx <= b->nx && sim->work->ndiscrete <= b->ndiscrete);
    for (int k = 0; k < sim->work->layout.nx; k++) sim->x[k] = x[k];
    for (int k = 0; k < b->ninput; k++) sim->inputs[k] = inputs[k];
    if (sim->work->ndiscrete) memcpy(sim->work->discrete, discrete_of(b, i), sim->work->ndiscrete);
    sim->t = instance->t;
    sim->start = instance->start;
    sim->next_break = instance->next_break;
    sim->impacts.next = instance->next_impact;
    sim->impacts.stop = instance->impact_stop;
    sim->impacts.due = instance->due;
    enter_impact(b, i, sim);
    sim->pending = instance->pending;
    memcpy(sim->kept_step, instance->kept_step, kept_bytes(sim));
    sim->audit = instance->audit;
    return sim;
}

static void revive(lwi_instance *instance)
{
    instance->status = LW_OK;
    instance->failure[0] = 0;
}

// Copies the changes made in the simulation back to the instance.
void lwi_batch_leave(lw_batch *b, int i)
{
    lwi_instance *instance = &b->instance[i];
    const lw_sim *sim = sim_of(b, i);
    instance->t = sim->t;
    if (b->alone) return;
    double *x = state_of(b, i), *inputs = inputs_of(b, i);
    LWI_ASSERT(sim->work->layout.nx <= b->nx && sim->work->ndiscrete <= b->ndiscrete);
    for (int k = 0; k < sim->work->layout.nx; k++) x[k] = sim->x[k];
    for (int k = 0; k < b->ninput; k++) inputs[k] = sim->inputs[k];
    if (sim->work->ndiscrete) memcpy(discrete_of(b, i), sim->work->discrete, sim->work->ndiscrete);
    instance->start = sim->start;
    instance->next_break = sim->next_break;
    instance->next_impact = sim->impacts.next;
    instance->impact_stop = sim->impacts.stop;
    instance->due = sim->impacts.due;
    leave_impact(b, i, sim);
    instance->pending = sim->pending;
    instance->known = sim->callback.known && sim->pending == LWI_NOTHING;
    memcpy(instance->kept_step, sim->kept_step, kept_bytes(sim));
    instance->audit = sim->audit;
    if (sim->pending == LWI_NEW_STATE) revive(instance);
}

const lw_sim *lwi_batch_sim(const lw_batch *b)
{
    for (int v = 0; v < b->nvariant; v++)
        if (b->variant[v].sim) return b->variant[v].sim;
    return NULL;
}

int lw_batch_instances(const lw_batch *b)
{
    if (!b) return 0;
    return b->n;
}
int lw_batch_number(const lw_batch *b, int i)
{
    if (!b) return i;
    return b->number && i >= 0 && i < b->n ? b->number[i] : i;
}
int lw_batch_threads(const lw_batch *b)
{
    if (!b) return 0;
    return lwi_pool_count(b->pool);
}
const lw_options *lw_batch_options(const lw_batch *b)
{
    if (!b) return NULL;
    return &b->options;
}
const char *lw_batch_notice(const lw_batch *b)
{
    if (!b) return "";
    return b->notice;
}
const lw_error *lw_batch_error(const lw_batch *b)
{
    if (!b) return NULL;
    return &b->error;
}

// ------------------------------------------------------------------------------------ one instance

static bool known(const lw_batch *b, int i)
{
    return i >= 0 && i < b->n;
}

static lw_status check_instance(lw_batch *b, int i)
{
    if (!known(b, i))
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "instance %d: the batch has %d", i, b->n);
    if (lwi_batch_begun(b, i)) return LW_OK;
    return lwi_batch_fail(b, i, b->instance[i].status, b->instance[i].failure);
}

const lw_model *lw_batch_model(const lw_batch *b, int i)
{
    if (!b) return NULL;
    return known(b, i) ? b->variant[b->instance[i].variant].model : NULL;
}

int lw_batch_state_size(const lw_batch *b, int i)
{
    if (!b) return 0;
    return known(b, i) && lwi_batch_begun(b, i) ? lw_sim_state_size(sim_of(b, i)) : 0;
}

double lw_batch_time(const lw_batch *b, int i)
{
    if (!b) return 0;
    return known(b, i) ? b->instance[i].t : NAN;
}

lw_status lw_batch_get_state(const lw_batch *b, int i, double *time, double *x)
{
    if (!b || !known(b, i) || !lwi_batch_begun(b, i)) return LW_ERR_ARGUMENT;
    if (time) *time = b->instance[i].t;
    if (!x) return LW_OK;
    const lw_sim *sim = enter(b, i);
    lw_sim_get_state(sim, NULL, x);
    const int steps = b->alone ? 0 : lwi_sim_step_numbers(sim);
    if (steps && sim->pending != LWI_NEW_STATE && b->instance[i].status == LW_OK)
        lwi_step_control_keep(&b->instance[i].control, x + lw_sim_state_size(sim) - steps);
    return LW_OK;
}

// A call on the variant's simulation in the instance's name.
#define AS_SIMULATION(b, i, call)                                                                  \
    do {                                                                                           \
        TRY(check_instance(b, i));                                                                 \
        lw_sim *sim = enter(b, i);                                                                 \
        const lw_status status_ = (call);                                                          \
        if (status_ != LW_OK) return lwi_batch_fail(b, i, status_, lw_sim_error(sim)->text);       \
        lwi_batch_leave(b, i);                                                                     \
    } while (0)

lw_status lw_batch_set_state(lw_batch *b, int i, double time, const double *x)
{
    if (!b) return LW_ERR_ARGUMENT;
    AS_SIMULATION(b, i, lw_sim_set_state(sim, time, x));
    revive(&b->instance[i]);
    return LW_OK;
}

lw_status lw_batch_set_joints(lw_batch *b, int i, double time, const double *q, const double *v)
{
    if (!b) return LW_ERR_ARGUMENT;
    AS_SIMULATION(b, i, lw_sim_set_joints(sim, time, q, v));
    revive(&b->instance[i]);
    return LW_OK;
}

lw_status lw_batch_set_input(lw_batch *b, int i, int input, double value)
{
    if (!b) return LW_ERR_ARGUMENT;
    AS_SIMULATION(b, i, lw_sim_set_input(sim, input, value));
    return LW_OK;
}

lw_status lw_batch_apply_impulse(lw_batch *b, int i, int count, const lw_impulse_desc *impulse,
                                 const lw_impact **impact)
{
    if (!b) return LW_ERR_ARGUMENT;
    TRY(check_instance(b, i));
    if (b->instance[i].status != LW_OK)
        return lwi_batch_fail(b, i, LW_ERR_ARGUMENT,
                              "it has failed: set its state before an impulse");
    TRY(lwi_batch_allocate_impulses(b));
    AS_SIMULATION(b, i, lw_sim_apply_impulse(sim, count, impulse, impact));
    return LW_OK;
}

// Instances with a simulation to themselves, which keeps the observation.  Their audit gets its
// values when the observation is requested.
static void observe_range(void *user, int first, int end)
{
    lw_batch *b = user;
    for (int i = first; i < end; i++) {
        lwi_instance *instance = &b->instance[i];
        const lw_observation *o;
        if (instance->status != LW_OK || instance->over || !lwi_batch_begun(b, i)) continue;
        if (b->variant[instance->variant].count != 1) continue;
        lw_sim *sim = enter(b, i);
        if (b->ahead_level >= LW_OBSERVE_MOMENTUM && !sim->momenta.prepared)
            continue; // it takes memory
        const lwi_audit before = sim->audit;
        instance->observed = lw_sim_observe(sim, b->ahead_level, &o) == LW_OK;
        instance->observed_audit = sim->audit;
        sim->audit = before;
    }
}

void lwi_batch_observe_ahead(lw_batch *b)
{
    const bool callback = b->callback != NULL; // outside of steps one thread calls it
    b->ahead_level = b->level;
    if (b->requested && !callback && lwi_pool_count(b->pool) > 1)
        lwi_pool_for(b->pool, b->n, observe_range, b);
}

static bool is_ahead(lw_batch *b, int i, lw_observe level)
{
    b->requested = true, b->level = level;
    return level == b->ahead_level && known(b, i) && b->instance[i].observed;
}

lw_status lw_batch_observe(lw_batch *b, int i, lw_observe level, const lw_observation **observation)
{
    if (!b) return LW_ERR_ARGUMENT;
    if (observation && is_ahead(b, i, level)) {
        lw_sim *sim = sim_of(b, i);
        sim->audit = b->instance[i].observed_audit;
        *observation = &sim->observation;
        b->instance[i].observed = false;
        lwi_batch_leave(b, i);
        return LW_OK;
    }
    AS_SIMULATION(b, i, lw_sim_observe(sim, level, observation));
    return LW_OK;
}

lw_status lw_batch_status(const lw_batch *b, int i)
{
    if (!b) return LW_ERR_ARGUMENT;
    return known(b, i) ? b->instance[i].status : LW_ERR_ARGUMENT;
}

const char *lw_batch_failure(const lw_batch *b, int i)
{
    if (!b) return "";
    return known(b, i) ? b->instance[i].failure : "";
}

int lw_batch_failed(const lw_batch *b)
{
    if (!b) return 0;
    int failed = 0;
    for (int i = 0; i < b->n; i++) failed += b->instance[i].status != LW_OK;
    return failed;
}

void lw_batch_summary(const lw_batch *b, int i, lw_summary *summary)
{
    if (!b || !summary) return;
    *summary = (lw_summary){0};
    if (!known(b, i) || !lwi_batch_begun(b, i)) return;
    const lwi_instance *s = &b->instance[i];
    if (b->alone) {
        lw_sim_summary(sim_of(b, i), summary);
        summary->wall = b->wall;
        return;
    }
    *summary =
        (lw_summary){.steps = s->control.steps,
                     .evaluations = s->control.evaluations,
                     .rejected = s->control.rejections,
                     .restarts = s->restarts,
                     .projections = s->projections,
                     .start = s->start,
                     .end = s->t,
                     .valid_until = lwi_audit_valid_until(&s->audit, b->options.integrator, s->t),
                     .wall = b->wall,
                     .energy_error = s->audit.energy_error,
                     .energy_scale = s->audit.energy_scale,
                     .impulses = s->audit.impulses,
                     .impulse_work = s->audit.impulse_work};
    memcpy(summary->residual, s->audit.residual, sizeof summary->residual);
}

// ------------------------------------------------------------------------------------------- steps

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void step_part(void *user, int part)
{
    lw_batch *b = user;
    lwi_worker_step(b->worker[part]);
}

static bool is_struck(const lw_batch *b, int i)
{
    const lwi_instance *instance = &b->instance[i];
    return instance->due && instance->status == LW_OK && instance->next_impact.t <= b->to;
}

// Impacts of instances at their times, one after the other in the caller's thread; true: some have further to go.
static bool strike(lw_batch *b)
{
    bool any = false;
    for (int i = 0; i < b->n; i++) {
        if (!is_struck(b, i)) continue;
        lwi_instance *instance = &b->instance[i];
        lw_sim *sim = enter(b, i);
        const lw_status status = lwi_sim_strike(sim);
        any = true;
        if (status == LW_OK) {
            lwi_batch_leave(b, i);
            continue;
        }
        instance->status = status;
        instance->control.failed = true;
        lwi_copy_text(instance->failure, sizeof instance->failure, lw_sim_error(sim)->text);
    }
    return any;
}

// Finds the reason why a step failed, as a single run does.
static void explain(lw_batch *b, int i)
{
    lwi_instance *instance = &b->instance[i];
    if (!instance->unexplained) return;
    lw_sim *sim = enter(b, i);
    lwi_copy_text(sim->work->error.text, sizeof sim->work->error.text,
                  lwi_integrator_cause(instance->failure));
    instance->unexplained = false;
    lwi_fail(&sim->error, instance->status, "%s", instance->failure);
    instance->status = lwi_sim_find_reason(sim, instance->status);
    lwi_copy_text(instance->failure, sizeof instance->failure, sim->error.text);
}

lw_status lw_batch_step(lw_batch *b, double time)
{
    if (!b) return LW_ERR_ARGUMENT;
    if (!isfinite(time))
        return lwi_fail(&b->error, LW_ERR_NOT_FINITE, "time %g is not finite", time);
    const double began = clock_seconds();
    b->to = time;
    for (int i = 0; i < b->n; i++) {
        b->instance[i].control.failed = false; // those of this call are marked
        b->instance[i].observed = false;
    }
    strike(b); // those that were due after the end of the last call
    do lwi_pool_run(b->pool, step_part, b);
    while (!b->cancel.stopped && strike(b));
    for (int i = 0; i < b->n; i++)
        explain(b, i); // not by the threads: instances may share a simulation
    b->wall += clock_seconds() - began;
    if (b->cancel.stopped)
        return lwi_fail(&b->error, LW_ERR_INTERRUPTED, "stopped by the caller before t = %.10g",
                        time);
    for (int i = 0; i < b->n; i++) {
        const lwi_instance *instance = &b->instance[i];
        if (instance->control.failed)
            return lwi_batch_fail(b, i, instance->status, instance->failure);
        LWI_INVARIANT(instance->status != LW_OK || instance->t >= time || instance->stopped,
                      &b->error);
    }
    return LW_OK;
}
