// create.c -- creation of a batch: variants with their models and simulations, instances at their start, workers.
#include "base/assert.h"
#include "batch/batch.h"
#include "model/events.h"
#include "simulate/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- variants

typedef struct draft {
    const lw_batch_desc *desc;
    lwi_vary *vary;                      // [nvary]
    bool parameters;                     // some column is one
    const lwi_parsed_document *document; // of the model's file; NULL: not parsed
    bool different;                      // some variants differ, in parameters or options
    int *first;                          // [n] of each variant: the instance that it was made for
} draft;

static const double *values_of(const draft *d, int instance)
{
    return d->desc->values + (size_t)instance * (size_t)d->desc->nvary;
}

// Numbers the variants in the order in which instances need them.
static lw_status find_variants(lw_batch *b, draft *d, lwi_arena *scratch)
{
    int *variant = LWI_PUSH(scratch, int, b->n);
    d->first = LWI_PUSH(scratch, int, b->n);
    if (!variant || !d->first) return lwi_batch_no_memory(b);
    if (b->alone) {
        for (int i = 0; i < b->n; i++) b->instance[i].variant = d->first[i] = i;
        b->nvariant = b->n;
        return LW_OK;
    }
    if (lwi_vary_group(d->vary, d->desc->nvary, d->desc->values, b->n, scratch, variant, d->first,
                       &b->nvariant) != LW_OK)
        return lwi_batch_no_memory(b);
    for (int i = 0; i < b->n; i++) b->instance[i].variant = variant[i];
    return LW_OK;
}

// It does not run, and is none of the caller's business before the end.
static void keep_failure(lwi_instance *instance, lw_status status, const char *text)
{
    instance->status = status;
    lwi_copy_text(instance->failure, sizeof instance->failure,
                  text[0] ? text : lw_status_text(status));
}

static lw_status keep_variant_failure(lw_batch *b, int v, lw_status status, const char *text)
{
    for (int i = 0; i < b->n; i++)
        if (b->instance[i].variant == v) keep_failure(&b->instance[i], status, text);
    return LW_OK;
}

static lw_batch_states states_of(const lwi_variant *variant, const lw_observation *o)
{
    const lw_model *model = variant->model;
    return (lw_batch_states){.count = 1,
                             .instance = &variant->call.number,
                             .time = &o->time,
                             .nq = model->nq,
                             .nv = model->nv,
                             .nbody = model->nbody,
                             .nstate = model->nstate,
                             .q = o->q,
                             .qd = o->qd,
                             .states = o->states,
                             .position = o->position,
                             .quaternion = o->quaternion,
                             .velocity = o->velocity,
                             .angular_velocity = o->angular_velocity};
}

// An lw_input_callback of the simulation of one instance, and its lw_input_jacobian.
static lw_status call_back(void *user, const lw_observation *o, double *inputs)
{
    const lwi_variant *variant = user;
    const lw_batch_states states = states_of(variant, o);
    return variant->call.batch->callback(variant->call.batch->callback_user, &states, inputs);
}
static lw_status differentiate(void *user, const lw_observation *o, const lw_input_slopes *slopes)
{
    const lwi_variant *variant = user;
    const lw_batch_states states = states_of(variant, o);
    return variant->call.batch->jacobian(variant->call.batch->callback_user, &states, slopes);
}

static lw_status set_callback(lw_batch *b, const draft *d, int v, lw_error *why)
{
    lwi_variant *variant = &b->variant[v];
    if (!b->callback) return LW_OK;
    variant->call.batch = b;
    variant->call.number = lw_batch_number(b, d->first[v]);
    lw_status status = lw_sim_set_callback(variant->sim, call_back, variant);
    if (status == LW_OK && b->jacobian) status = lw_sim_set_jacobian(variant->sim, differentiate);
    if (status == LW_OK) return LW_OK;
    *why = *lw_sim_error(variant->sim);
    lw_sim_destroy(variant->sim); // it cannot begin
    variant->sim = NULL;
    return status;
}

static lw_status make_simulation(lw_batch *b, const draft *d, int v, lw_error *why)
{
    LWI_ASSERT_INDEX(v, b->nvariant);
    lwi_variant *variant = &b->variant[v];
    const double *values = d->desc->nvary ? values_of(d, d->first[v]) : NULL;
    lw_options options = b->options;
    if (d->parameters) {
        TRY(lwi_vary_model(b->model, d->document, d->vary, d->desc->nvary, values, NULL, NULL,
                           &b->arena.allocator, &variant->own, why));
        variant->model = variant->own;
    }
    TRY(lwi_vary_options(d->vary, d->desc->nvary, values, &options, why));
    const bool takes_singular = options.singular == LW_SINGULAR_TURN;
    if (!b->alone) options.singular = LW_SINGULAR_TURN; // lanes do not step across positions
    const lw_sim_desc desc = {.options = &options, .allocator = &b->arena.allocator};
    TRY(lw_sim_create(variant->model, &desc, &variant->sim, why));
    if (!b->alone) variant->sim->takes_singular = takes_singular;
    return set_callback(b, d, v, why);
}

// What follows where a variant has no simulation.
static lw_status check_variant(lw_batch *b, const draft *d, int v, lw_status status,
                               const lw_error *why)
{
    if (status == LW_OK) return LW_OK;
    const bool own = status != LW_ERR_MEMORY && status != LW_ERR_UNSUPPORTED;
    if (b->keep && d->different && own) return keep_variant_failure(b, v, status, why->text);
    return d->different ? lwi_batch_fail(b, d->first[v], status, why->text)
                        : lwi_fail(&b->error, status, "%s", why->text);
}

// Variants that threads make at the same time.
typedef struct making {
    lw_batch *b;
    const draft *d;
    int first;
    lw_status *status; // [count]
    lw_error *why;     // [count]
} making;

static void make_range(void *user, int first, int end)
{
    const making *m = user;
    for (int k = first; k < end; k++)
        m->status[k] = make_simulation(m->b, m->d, m->first + k, &m->why[k]);
}

// From the n-th on, in rounds.  By one thread where the caller has given an allocator or a callback: both are called by one
// thread at a time here.
static lw_status make_others(lw_batch *b, const draft *d, int n, lwi_arena *scratch)
{
    // variants; threads wait for each other once a round, and each variant of it has room for a message
    enum { ROUND = 64 };
    const bool alone = d->desc->callback || b->arena.allocator.allocate;
    making m = {.b = b, .d = d, .status = LWI_PUSH(scratch, lw_status, ROUND)};
    m.why = LWI_PUSH(scratch, lw_error, ROUND);
    if (!m.status || !m.why) return lwi_batch_no_memory(b);
    for (m.first = n; m.first < b->nvariant; m.first += ROUND) {
        const int left = b->nvariant - m.first, count = left < ROUND ? left : ROUND;
        memset(m.why, 0, ROUND * sizeof *m.why);
        lwi_pool_for(alone ? NULL : b->pool, count, make_range, &m);
        for (int k = 0; k < count; k++)
            TRY(check_variant(b, d, m.first + k, m.status[k], &m.why[k]));
    }
    return LW_OK;
}

// Options that are `auto` are those of the first variant that has a simulation, for all variants.
static lw_status make_all(lw_batch *b, const draft *d, lwi_arena *scratch)
{
    const lw_singular given = b->options.singular;
    for (int v = 0; v < b->nvariant; v++) b->variant[v].model = b->model;
    for (int v = 0; v < b->nvariant; v++) {
        lw_error why = {0};
        TRY(check_variant(b, d, v, make_simulation(b, d, v, &why), &why));
        if (!b->variant[v].sim) continue;
        b->options = *lw_sim_options(b->variant[v].sim);
        b->options.singular = given;
        return make_others(b, d, v + 1, scratch);
    }
    return LW_OK;
}

static void add_notice(lw_batch *b, const char *line)
{
    const size_t used = strlen(b->notice);
    if (*line) snprintf(b->notice + used, sizeof b->notice - used, "%s%s", used ? "\n" : "", line);
}

static lw_status make_variants(lw_batch *b, draft *d, lwi_arena *scratch)
{
    TRY(find_variants(b, d, scratch));
    if (b->nvariant > 1)
        TRY(lwi_vary_parse(b->model, d->vary, d->desc->nvary, scratch, &d->document, &b->error));
    b->variant = LWI_PUSH(&b->arena, lwi_variant, b->nvariant);
    if (!b->variant) {
        b->nvariant = 0;
        return lwi_batch_no_memory(b);
    }
    TRY(make_all(b, d, scratch));
    for (int v = 0; v < b->nvariant; v++) {
        if (!b->variant[v].sim) continue;
        const int nx = b->variant[v].sim->work->layout.nx;
        if (nx > b->nx) b->nx = nx;
        const size_t nd = b->variant[v].sim->work->ndiscrete;
        if (nd > b->ndiscrete) b->ndiscrete = nd;
    }
    const lw_sim *sim = lwi_batch_sim(b);
    if (!sim) return LW_OK; // none can run
    const bool interpolates = lwi_options_interpolate(&b->options);
    add_notice(b, lw_sim_notice(sim));
    if (interpolates)
        add_notice(b, "sample_mode is ignored: instances of a batch end a step on each row");
    if (sim->monitor.active && !b->alone)
        add_notice(b,
                   "instances of a batch neither step across singular positions nor report them: "
                   "single runs do");
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ starts

// The simulation of one instance alone starts where its integrator is, unless it is moved.
static lw_status begin_instance(const lw_batch *b, lw_sim *sim, bool moved)
{
    if (moved) return lwi_sim_place(sim);
    return b->alone ? LW_OK : lwi_sim_begin(sim); // else as a single run
}

static lw_status start_instance(lw_batch *b, const draft *d, int i)
{
    lwi_variant *variant = &b->variant[b->instance[i].variant];
    lw_sim *sim = variant->sim;
    if (!sim) return LW_OK; // it has failed
    variant->call.number = lw_batch_number(b, i);
    const double *values = d->desc->nvary ? values_of(d, i) : NULL;
    double *inputs = b->inputs + (size_t)i * (size_t)b->ninput;
    lwi_snapshot_start(sim->model, &sim->snapshot);
    const bool moved = lwi_vary_start(d->vary, d->desc->nvary, values, &sim->snapshot, inputs);
    if (moved) {
        for (int k = 0; k < sim->model->nbody; k++) {
            const double *q = sim->snapshot.quat[k];
            if (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0) continue;
            return lwi_fail(&b->error, LW_ERR_ARGUMENT,
                            "instance %d: the quaternion of body '%s' is zero",
                            lw_batch_number(b, i), sim->model->body[k].name);
        }
    }
    const lw_status status = begin_instance(b, sim, moved);
    if (status != LW_OK && b->keep && status != LW_ERR_MEMORY) {
        keep_failure(&b->instance[i], status, sim->error.text);
        return LW_OK;
    }
    if (status != LW_OK) return lwi_batch_fail(b, i, status, sim->error.text);
    for (int k = 0; k < b->ninput; k++) {
        if (b->alone && inputs[k] != sim->inputs[k] && sim->pending == LWI_NOTHING)
            sim->pending = LWI_NEW_RATES; // its integrator has begun
        sim->inputs[k] = inputs[k];
    }
    lwi_batch_leave(b, i);
    b->instance[i].pending = LWI_NOTHING; // nothing was before
    lwi_step_control_reset(&b->instance[i].control);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- workers

// Blocks go round the threads: of eight lanes, smaller ones where some threads would have none.
static int block_size(const lw_batch *b, const lw_batch_desc *desc)
{
    const int threads = desc->threads ? desc->threads : lwi_processors();
    const int even = (b->n + threads - 1) / threads;
    return even < LWI_STEPPER_LANES ? even : LWI_STEPPER_LANES;
}

static lw_status make_pool(lw_batch *b, const lw_batch_desc *desc)
{
    const int threads = desc->threads ? desc->threads : lwi_processors();
    const int block = block_size(b, desc), blocks = (b->n + block - 1) / block;
    return lwi_pool_create(threads < blocks ? threads : blocks, &b->arena.allocator, &b->pool,
                           &b->error);
}

// Groups instances with the same model.
static lw_status make_workers(lw_batch *b, const lw_batch_desc *desc, lwi_arena *scratch)
{
    const int block = block_size(b, desc);
    int *count = LWI_PUSH(scratch, int, b->nvariant + 1), *order = LWI_PUSH(scratch, int, b->n);
    int *share = LWI_PUSH(scratch, int, b->n);
    if (!count || !order || !share) return lwi_batch_no_memory(b);
    for (int i = 0; i < b->n; i++) count[b->instance[i].variant + 1] += lwi_batch_begun(b, i);
    for (int v = 0; v < b->nvariant; v++) b->variant[v].count = count[v + 1];
    for (int v = 0; v < b->nvariant; v++) count[v + 1] += count[v];
    for (int i = 0; i < b->n; i++)
        if (lwi_batch_begun(b, i)) order[count[b->instance[i].variant]++] = i;
    const int begun = count[b->nvariant];

    const int n = lwi_pool_count(b->pool);
    b->worker = LWI_PUSH(&b->arena, lwi_worker *, n);
    if (!b->worker) return lwi_batch_no_memory(b);
    int assigned = 0;
    for (b->nworker = 0; b->nworker < n; b->nworker++) {
        int mine = 0;
        for (int k = 0; k < begun; k++)
            if (k / block % n == b->nworker) share[mine++] = order[k];
        TRY(lwi_worker_create(b, share, mine, &b->arena.allocator, &b->worker[b->nworker],
                              &b->error));
        assigned += mine;
    }
    LWI_INVARIANT(assigned == begun, &b->error); // every instance has one worker
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ create

static lw_status check_desc(lw_batch *b, const lw_batch_desc *desc)
{
    if (desc->instances < 1)
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "instances: %d, expected at least 1",
                        desc->instances);
    if (desc->threads < 0 || desc->threads > LWI_MAX_THREADS)
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "threads: %d, expected 0 to %d", desc->threads,
                        LWI_MAX_THREADS);
    if (desc->lanes != 0 && desc->lanes != 1 && desc->lanes != 4 && desc->lanes != 8)
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "lanes: %d, expected 1, 4 or 8", desc->lanes);
    if (desc->nvary < 0 || (desc->nvary && (!desc->vary || !desc->values)))
        return lwi_fail(&b->error, LW_ERR_ARGUMENT, "names or values of what differs are missing");
    return LW_OK;
}

static lw_status check_options(lw_batch *b, const lw_batch_desc *desc)
{
    if (desc->options)
        b->options = *desc->options;
    else
        lw_options_default(&b->options);
    b->options.threads = 0; // of an instance: one
    TRY(lwi_options_check(&b->options, &b->error));
    if (b->options.pace > 0)
        return lwi_fail(&b->error, LW_ERR_UNSUPPORTED,
                        "pace: %g, expected 0: only a single run is synchronised with wall-clock "
                        "time",
                        b->options.pace);
    const lwi_formulation *formulation = lwi_formulation_find(b->options.formulation);
    b->alone = (formulation && formulation->step) || b->options.singular == LW_SINGULAR_STOP;
    if (!b->alone && !strcmp(b->options.integrator, "auto"))
        lwi_copy_text(b->options.integrator, sizeof b->options.integrator, "dopri54");
    b->method = lwi_stepper_find(b->options.integrator);
    b->alone = b->alone || !b->method || lwi_has_events(b->model);
    return LW_OK;
}

static lw_status check_values(lw_batch *b, draft *d, lwi_arena *scratch)
{
    const lw_batch_desc *desc = d->desc;
    d->vary = LWI_PUSH(scratch, lwi_vary, desc->nvary);
    if (!d->vary) return lwi_batch_no_memory(b);
    for (int k = 0; k < desc->nvary; k++) {
        TRY(lwi_vary_resolve(b->model, desc->vary[k], &d->vary[k], &b->error));
        if (lwi_vary_of_model(&d->vary[k])) d->parameters = d->different = true;
        if (d->vary[k].kind == LWI_VARY_OPTION) d->different = true;
        for (int j = 0; j < k; j++)
            if (!strcmp(desc->vary[j], desc->vary[k]))
                return lwi_fail(&b->error, LW_ERR_ARGUMENT, "'%.120s' is there twice",
                                desc->vary[k]);
    }
    for (int i = 0; i < b->n; i++)
        for (int k = 0; k < desc->nvary; k++)
            if (!isfinite(values_of(d, i)[k]))
                return lwi_fail(&b->error, LW_ERR_NOT_FINITE, "instance %d: %.120s is not finite",
                                lw_batch_number(b, i), desc->vary[k]);
    return LW_OK;
}

static lw_status keep_values(lw_batch *b, const lw_batch_desc *desc)
{
    const size_t count = (size_t)b->n * (size_t)desc->nvary;
    b->vary = LWI_PUSH(&b->arena, const char *, desc->nvary);
    b->values = LWI_PUSH(&b->arena, double, count);
    if (!b->vary || !b->values) return lwi_batch_no_memory(b);
    for (int k = 0; k < desc->nvary; k++)
        if (!(b->vary[k] = lwi_arena_text(&b->arena, desc->vary[k]))) return lwi_batch_no_memory(b);
    for (size_t k = 0; k < count; k++) b->values[k] = desc->values[k];
    b->nvary = desc->nvary;
    return LW_OK;
}

static lw_status allocate(lw_batch *b)
{
    const size_t n = (size_t)b->n;
    b->x = LWI_PUSH(&b->arena, double, n *(size_t)b->nx);
    b->slope = LWI_PUSH(&b->arena, double, n *(size_t)b->nx);
    b->inputs = LWI_PUSH(&b->arena, double, n *(size_t)b->ninput);
    b->discrete = lwi_arena_push(&b->arena, n, b->ndiscrete);
    if (!b->x || !b->slope || !b->inputs || !b->discrete) return lwi_batch_no_memory(b);
    for (int v = 0; v < b->nvariant; v++)
        if (b->variant[v].sim && b->variant[v].sim->impacts.prepared)
            return lwi_batch_allocate_impulses(b);
    return LW_OK;
}

static lw_status build(lw_batch *b, const lw_batch_desc *desc, lwi_arena *scratch)
{
    draft d = {.desc = desc};
    TRY(check_desc(b, desc));
    b->n = desc->instances;
    b->lanes = desc->lanes ? desc->lanes : LWI_STEPPER_LANES;
    b->ninput = b->model->desc.ninput;
    b->callback = desc->callback;
    b->callback_user = desc->callback_user;
    b->jacobian = desc->jacobian;
    TRY(check_options(b, desc));
    TRY(check_values(b, &d, scratch));
    TRY(keep_values(b, desc));
    b->instance = LWI_PUSH(&b->arena, lwi_instance, b->n);
    if (!b->instance) return lwi_batch_no_memory(b);
    TRY(make_pool(b, desc));
    TRY(make_variants(b, &d, scratch));
    TRY(allocate(b));
    for (int i = 0; i < b->n; i++) TRY(start_instance(b, &d, i));
    return make_workers(b, desc, scratch);
}

lw_status lwi_batch_create(const lw_model *model, const lw_batch_desc *desc, const int *number,
                           bool keep, lw_batch **batch, lw_error *error)
{
    lw_batch *b = lwi_allocate(desc->allocator, sizeof *b);
    if (!b) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a batch");
    *b = (lw_batch){.model = model, .number = number, .keep = keep};
    lwi_arena scratch;
    lwi_arena_init(&scratch, desc->allocator);
    lwi_arena_init(&b->arena, desc->allocator);
    const lw_status status = build(b, desc, &scratch);
    lwi_arena_free(&scratch);
    if (status == LW_OK) {
        *batch = b;
        return LW_OK;
    }
    if (error) *error = b->error;
    lw_batch_destroy(b);
    return status;
}

lw_status lw_batch_create(const lw_model *model, const lw_batch_desc *desc, lw_batch **batch,
                          lw_error *error)
{
    LWI_DESC(lw_batch_desc, desc, error);
    if (!model || !desc || !batch)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, description or result is missing");
    return lwi_batch_create(model, desc, NULL, false, batch, error);
}

void lw_batch_destroy(lw_batch *b)
{
    if (!b) return;
    lwi_pool_destroy(b->pool);
    for (int k = 0; k < b->nworker; k++) lwi_worker_destroy(b->worker[k], &b->arena.allocator);
    for (int v = 0; v < b->nvariant; v++) {
        lw_sim_destroy(b->variant[v].sim);
        lw_model_destroy(b->variant[v].own);
    }
    const lw_allocator allocator = b->arena.allocator;
    lwi_arena_free(&b->arena);
    lwi_release(&allocator, b);
}
