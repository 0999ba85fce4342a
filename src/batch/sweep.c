// sweep.c -- runs of many instances in groups: a group is a batch that exists during its runs only.
//
// Instances are ordered by their parameters, so that a group has few models and full lanes.  The size of a group follows
// from the memory that an instance takes, which the first one shows.
#include "batch/batch.h"

#include "base/assert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_MEMORY ((size_t)64 << 20)
#define CACHE_MEMORY 1048576.0 // of a thread, for instances with separate models

// What is known of an instance after its run.
typedef struct ending {
    lw_status status;
    const char *failure; // NULL: none
    lw_summary summary;
} ending;

struct lw_sweep {
    lwi_arena arena; // all but the group
    const lw_model *model;
    lw_batch_desc desc;   // of the group: instances and values are set for each
    lw_options options;   // of the caller; once there is a group, `auto` is resolved
    const double *values; // [n][nvary] of the caller
    const char **unit;    // [nvary]
    int n, nvary, nvariant;
    int nrun;         // instances with a model
    int *order;       // [nrun] instances, by variant; NULL: one group, as they are
    int *variant;     // [n]
    ending *end;      // [n]
    double *own;      // [capacity][nvary] values of the group
    int capacity;     // instances of a group
    int variants;     // of a group, at the largest
    bool alone;       // each instance has a simulation
    int first, count; // of the group, in `order`
    int group;
    int threads;
    lw_batch *batch;
    lw_status (*take)(lw_batch *, const void *user); // of lwi_sweep_each_batch; NULL: none
    const void *take_user;
    const char *parameter; // of lwi_sweep_parameter
    double wall;           // [s] of the groups before
    lw_progress progress;  // during a run
    void *progress_user;
    char note[LWI_REMAKE_NOTE]; // of options
    char notice[sizeof((lw_batch *)0)->notice + LWI_REMAKE_NOTE + 1];
    lw_error error;
};

lw_batch *lwi_sweep_batch(const lw_sweep *s)
{
    return s->batch;
}
int lwi_sweep_group(const lw_sweep *s)
{
    return s->group;
}
int lwi_sweep_capacity(const lw_sweep *s)
{
    return s->capacity;
}

lw_batch_desc lwi_sweep_desc(const lw_sweep *s)
{
    lw_batch_desc desc = s->desc;
    desc.instances = s->n;
    desc.values = s->values;
    return desc;
}
lw_error *lwi_sweep_failure(lw_sweep *s)
{
    return &s->error;
}
const char *lwi_sweep_parameter(const lw_sweep *s)
{
    return s->parameter;
}
const char *lwi_sweep_unit(const lw_sweep *s, int k)
{
    LWI_ASSERT_INDEX(k, s->nvary);
    return s->unit[k];
}

static lw_status no_memory(lw_sweep *s)
{
    return lwi_fail(&s->error, LW_ERR_MEMORY, "no memory for a sweep of %d instances", s->n);
}

// ------------------------------------------------------------------------------------------ groups

// Bytes that are asked for, by way of the caller's allocator.
typedef struct meter {
    const lw_allocator *to;
    size_t bytes;
} meter;

static void *take(void *user, size_t bytes)
{
    meter *m = user;
    m->bytes += bytes;
    return lwi_allocate(m->to, bytes);
}

static void give(void *user, void *block)
{
    lwi_release(((meter *)user)->to, block);
}

// Memory of a batch of the first instance alone [bytes], the same for any number of threads and lanes: on it depends
// which instances are together, and so the order of rows.
static lw_status measure(lw_sweep *s, size_t *bytes)
{
    meter m = {.to = &s->arena.allocator};
    const lw_allocator metered = {take, give, &m};
    lw_batch_desc desc = s->desc;
    lw_batch *one;
    int runs = 0; // the first instance with a model
    while (runs < s->n - 1 && s->end[runs].status != LW_OK) runs++;
    if (s->nvary) desc.values = s->values + (size_t)runs * (size_t)s->nvary;
    desc.instances = desc.threads = 1;
    desc.lanes = 0;
    desc.allocator = &metered;
    TRY(lwi_batch_create(s->model, &desc, NULL, true, &one, &s->error));
    s->alone = one->alone;
    lw_batch_destroy(one);
    *bytes = m.bytes;
    return LW_OK;
}

static int clamp(double value, double minimum, double maximum)
{
    return (int)fmin(fmax(value, minimum), maximum);
}

// Instances with the same parameters share all but their state and their row, which grow with the bodies.
static double shared_bytes(const lw_model *model)
{
    return (double)sizeof(lwi_instance) + 512.0 * (model->nbody + model->njoint);
}

static lw_status limit_groups(lw_sweep *s)
{
    size_t one;
    const int threads = s->desc.threads ? s->desc.threads : lwi_processors();
    s->variants = s->capacity = s->n;
    if (s->n <= 2 * threads) return LW_OK;
    TRY(measure(s, &one));
    const bool cached = s->desc.unordered && s->nvariant == s->n && !s->desc.memory;
    const double memory = cached           ? threads * CACHE_MEMORY
                          : s->desc.memory ? (double)s->desc.memory
                                           : (double)DEFAULT_MEMORY;
    s->variants = clamp(memory / (double)one, 2.0 * threads, s->n);
    s->capacity =
        s->alone ? s->variants
                 : clamp(memory / shared_bytes(s->model), 2.0 * LWI_STEPPER_LANES * threads, s->n);
    return LW_OK;
}

// Instances from s->first on that are together.
static int count_group(const lw_sweep *s)
{
    if (!s->order) return s->n;
    int count = 0, variants = 0, last = -1;
    while (s->first + count < s->nrun && count < s->capacity) {
        const int variant = s->variant[s->order[s->first + count]];
        variants += variant != last;
        if (variants > s->variants) break;
        last = variant;
        count++;
    }
    return count;
}

static lw_status take_batch(lw_sweep *s)
{
    if (!s->take || s->take(s->batch, s->take_user) == LW_OK) return LW_OK;
    s->error = *lw_batch_error(s->batch);
    return s->error.status;
}

static lw_status create_group(lw_sweep *s)
{
    const size_t width = (size_t)s->nvary;
    s->count = count_group(s);
    LWI_ASSERT(s->count >= 1 && s->count <= s->capacity);
    s->desc.instances = s->count;
    s->desc.values = s->values;
    if (s->order && width) {
        for (int k = 0; k < s->count; k++)
            memcpy(s->own + (size_t)k * width, s->values + (size_t)s->order[s->first + k] * width,
                   width * sizeof *s->own);
        s->desc.values = s->own;
    }
    TRY(lwi_batch_create(s->model, &s->desc, s->order ? s->order + s->first : NULL, true, &s->batch,
                         &s->error));
    return lwi_batch_sim(s->batch) ? take_batch(s)
                                   : LW_OK; // where none begins there is nothing to run
}

// Keeps what is asked for after the run.
static lw_status end_group(lw_sweep *s)
{
    lw_batch *b = s->batch;
    lw_status status = LW_OK;
    for (int k = 0; k < s->count; k++) {
        ending *end = &s->end[lw_batch_number(b, k)];
        lw_batch_summary(b, k, &end->summary);
        end->status = lw_batch_status(b, k);
        if (end->status == LW_OK) continue;
        end->failure = lwi_arena_text(&s->arena, lw_batch_failure(b, k));
        if (!end->failure) status = no_memory(s);
    }
    s->wall += b->wall;
    lw_batch_destroy(b);
    s->batch = NULL;
    return status;
}

// ---------------------------------------------------------------------------------------- creation

// Sorts by variant; instances with the same parameters stay in order.
static lw_status sort(lw_sweep *s, lwi_arena *scratch)
{
    int *at = LWI_PUSH(scratch, int, s->nvariant + 1);
    s->order = LWI_PUSH(&s->arena, int, s->n);
    if (!at || !s->order) return no_memory(s);
    for (int i = 0; i < s->n; i++) at[s->variant[i] + 1] += s->end[i].status == LW_OK;
    for (int v = 0; v < s->nvariant; v++) at[v + 1] += at[v];
    for (int i = 0; i < s->n; i++)
        if (s->end[i].status == LW_OK) s->order[at[s->variant[i]]++] = i;
    return LW_OK;
}

// Room for the largest group that there is.
static lw_status find_largest(lw_sweep *s)
{
    int largest = 0;
    for (s->first = 0; s->first < s->nrun; s->first += s->count) {
        s->count = count_group(s);
        largest = s->count > largest ? s->count : largest;
    }
    s->first = 0;
    s->capacity = largest;
    s->own = LWI_PUSH(&s->arena, double, (size_t)largest *(size_t)s->nvary);
    return s->own ? LW_OK : no_memory(s);
}

// Instances of a variant that has no model: they do not run.
static lw_status exclude(lw_sweep *s, int variant, lw_status status, const char *why)
{
    const char *failure = lwi_arena_text(&s->arena, why);
    if (!failure) return no_memory(s);
    for (int i = 0; i < s->n; i++) {
        if (s->variant[i] != variant) continue;
        s->end[i].status = status;
        s->end[i].failure = failure;
        s->nrun--;
    }
    return LW_OK;
}

// Models are created and destroyed once: wrong parameters are known before a run.
static lw_status check_parameters(lw_sweep *s, const lwi_vary *vary, const int *first,
                                  lwi_arena *scratch)
{
    lw_error kept = {0};
    const lwi_parsed_document *document;
    TRY(lwi_vary_parse(s->model, vary, s->nvary, scratch, &document, &s->error));
    for (int v = 0; v < s->nvariant; v++) {
        lw_error why = {0};
        lw_model *model = NULL;
        char note[LWI_REMAKE_NOTE] = "";
        const lw_status status = lwi_vary_model(
            s->model, document, vary, s->nvary, s->values + (size_t)first[v] * (size_t)s->nvary,
            &s->options, note, &s->arena.allocator, &model, &why);
        lw_model_destroy(model);
        if (*note) memcpy(s->note, note, sizeof note);
        if (status == LW_OK) continue;
        if (status == LW_ERR_MEMORY) return no_memory(s);
        char detail[sizeof why.text - 32];
        lwi_copy_text(detail, sizeof detail, why.text[0] ? why.text : lw_status_text(status));
        if (!kept.status) lwi_fail(&kept, status, "instance %d: %s", first[v], detail);
        TRY(exclude(s, v, status, detail));
    }
    if (s->nrun) return LW_OK;
    s->error = kept; // none can run
    return kept.status;
}

static lw_status check_finite(lw_sweep *s)
{
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < s->nvary; k++)
            if (!isfinite(s->values[(size_t)i * (size_t)s->nvary + (size_t)k]))
                return lwi_fail(&s->error, LW_ERR_NOT_FINITE, "instance %d: %.120s is not finite",
                                i, s->desc.vary[k]);
    return LW_OK;
}

// The first one in which an instance begins; where none does, the reason of the first.
static lw_status create_first_group(lw_sweep *s)
{
    lw_error kept = {0};
    TRY(create_group(s));
    while (!lwi_batch_sim(s->batch)) {
        if (!kept.status)
            lwi_fail(&kept, s->batch->instance[0].status, "instance %d: %s",
                     lw_batch_number(s->batch, 0), s->batch->instance[0].failure);
        TRY(end_group(s));
        s->first += s->count;
        s->group++;
        if (s->first == s->nrun) {
            s->error = kept;
            return kept.status;
        }
        TRY(create_group(s));
    }
    return LW_OK;
}

static lw_status divide(lw_sweep *s, lwi_arena *scratch)
{
    bool parameters = false;
    lwi_vary *vary = LWI_PUSH(scratch, lwi_vary, s->nvary);
    int *first = LWI_PUSH(scratch, int, s->n);
    s->variant = LWI_PUSH(&s->arena, int, s->n);
    s->unit = LWI_PUSH(&s->arena, const char *, s->nvary);
    s->end = LWI_PUSH(&s->arena, ending, s->n);
    if (!vary || !first || !s->variant || !s->unit || !s->end) return no_memory(s);
    for (int k = 0; k < s->nvary; k++) {
        TRY(lwi_vary_resolve(s->model, s->desc.vary[k], &vary[k], &s->error));
        const bool of_model = lwi_vary_of_model(&vary[k]);
        if (of_model && !parameters) s->parameter = s->desc.vary[k];
        parameters |= of_model;
        s->unit[k] = lwi_vary_unit(s->model, &vary[k]);
    }
    TRY(check_finite(s));
    if (lwi_vary_group(vary, s->nvary, s->values, s->n, scratch, s->variant, first, &s->nvariant) !=
        LW_OK)
        return no_memory(s);
    s->nrun = s->n;
    if (parameters) TRY(check_parameters(s, vary, first, scratch));
    TRY(limit_groups(s));
    if (s->nrun < s->n || s->capacity < s->n || s->variants < s->nvariant) TRY(sort(s, scratch));
    TRY(find_largest(s));
    return create_first_group(s);
}

static lw_status build(lw_sweep *s, lwi_arena *scratch)
{
    const lw_batch_desc *desc = &s->desc;
    if (desc->instances < 1)
        return lwi_fail(&s->error, LW_ERR_ARGUMENT, "instances: %d, expected at least 1",
                        desc->instances);
    if (desc->nvary < 0 || (desc->nvary && (!desc->vary || !desc->values)))
        return lwi_fail(&s->error, LW_ERR_ARGUMENT, "names or values of what differs are missing");
    TRY(divide(s, scratch));
    s->options = s->batch->options;
    s->desc.options = &s->options;
    s->threads = lw_batch_threads(s->batch);
    snprintf(s->notice, sizeof s->notice, "%s%s%s", s->note, *s->note ? "\n" : "",
             lw_batch_notice(s->batch));
    return LW_OK;
}

lw_status lw_sweep_create(const lw_model *model, const lw_batch_desc *desc, lw_sweep **sweep,
                          lw_error *error)
{
    LWI_DESC(lw_batch_desc, desc, error);
    if (!model || !sweep)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, description or result is missing");
    lw_sweep *s = lwi_allocate(desc->allocator, sizeof *s);
    if (!s) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a sweep");
    *s = (lw_sweep){.model = model,
                    .desc = *desc,
                    .n = desc->instances,
                    .nvary = desc->nvary,
                    .values = desc->values};
    lwi_arena scratch;
    if (desc->options) s->options = *desc->options, s->desc.options = &s->options;
    lwi_arena_init(&scratch, desc->allocator);
    lwi_arena_init(&s->arena, desc->allocator);
    s->desc.allocator = &s->arena.allocator;
    const lw_status status = build(s, &scratch);
    lwi_arena_free(&scratch);
    if (status == LW_OK) {
        *sweep = s;
        return LW_OK;
    }
    if (error) *error = s->error;
    lw_sweep_destroy(s);
    return status;
}

void lw_sweep_destroy(lw_sweep *s)
{
    if (!s) return;
    lw_batch_destroy(s->batch);
    const lw_allocator allocator = s->arena.allocator;
    lwi_arena_free(&s->arena);
    lwi_release(&allocator, s);
}

lw_status lwi_sweep_each_batch(lw_sweep *s, lw_status (*taker)(lw_batch *, const void *user),
                               const void *user)
{
    s->take = taker, s->take_user = user;
    return s->batch ? take_batch(s) : LW_OK;
}

// --------------------------------------------------------------------------------------------- run

static int look_up(void *user, double time, double end)
{
    const lw_sweep *s = user;
    const double part = end > 0 ? time / end : 1;
    const double over_groups = end * (s->first + s->count * part) / s->nrun;
    return s->progress(s->progress_user, fmin(over_groups, end), end);
}

static lw_status run_group(lw_sweep *s, lw_batch_row row, void *user)
{
    const lw_status ran = lw_batch_run(s->batch, row, user, s->progress ? look_up : NULL, s);
    if (ran != LW_OK) s->error = *lw_batch_error(s->batch);
    const lw_status ended = end_group(s);
    return ran != LW_OK ? ran : ended;
}

lw_status lw_sweep_run(lw_sweep *s, lw_batch_row row, void *row_user, lw_progress progress,
                       void *progress_user)
{
    if (!s) return LW_ERR_ARGUMENT;
    if (!s->batch)
        return lwi_fail(&s->error, LW_ERR_ARGUMENT, "a sweep runs once: create another one");
    s->progress = progress, s->progress_user = progress_user;
    for (;;) {
        TRY(run_group(s, row, row_user));
        s->first += s->count;
        if (s->first == s->nrun) return LW_OK;
        s->group++;
        TRY(create_group(s));
    }
}

// ----------------------------------------------------------------------------------- one instance

static bool known(const lw_sweep *s, int i)
{
    return i >= 0 && i < s->n;
}

int lw_sweep_instances(const lw_sweep *s)
{
    if (!s) return 0;
    return s->n;
}
int lw_sweep_threads(const lw_sweep *s)
{
    if (!s) return 0;
    return s->threads;
}
const lw_options *lw_sweep_options(const lw_sweep *s)
{
    if (!s) return NULL;
    return &s->options;
}
const char *lw_sweep_notice(const lw_sweep *s)
{
    if (!s) return "";
    return s->notice;
}
const lw_error *lw_sweep_error(const lw_sweep *s)
{
    if (!s) return NULL;
    return &s->error;
}

lw_status lw_sweep_status(const lw_sweep *s, int i)
{
    if (!s) return LW_ERR_ARGUMENT;
    return known(s, i) ? s->end[i].status : LW_ERR_ARGUMENT;
}

const char *lw_sweep_failure(const lw_sweep *s, int i)
{
    if (!s) return "";
    return known(s, i) && s->end[i].failure ? s->end[i].failure : "";
}

void lw_sweep_summary(const lw_sweep *s, int i, lw_summary *summary)
{
    if (!s || !summary) return;
    *summary = (lw_summary){0};
    if (!known(s, i)) return;
    *summary = s->end[i].summary;
    summary->wall = s->wall;
}

int lw_sweep_failed(const lw_sweep *s)
{
    if (!s) return 0;
    int failed = 0;
    for (int i = 0; i < s->n; i++) failed += s->end[i].status != LW_OK;
    return failed;
}
