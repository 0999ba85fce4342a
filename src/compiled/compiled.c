// compiled.c -- a model's generated code, compiled, kept and loaded.
#define _XOPEN_SOURCE 700
#include "compiled/compiled.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "base/sha256.h"
#include "base/times.h"
#include "codegen/closing.h"
#include "codegen/functions.h"
#include "codegen/sources.h"
#include "codegen/speed_terms.h"
#include "compiled/build.h"
#include "compiled/index.h"
#include "model/model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- sources

enum { GENERATED = LWI_CODEGEN_SOURCES, OWN = 3, HEAD = 6000 };

/** The files that are compiled. */
typedef struct sources {
    lwi_codegen_sources generated;
    /** Macros in front of the files that are not generated: the table of calls, derivatives of one
     *  state, derivatives in lanes. */
    char head[OWN][HEAD];
    const char *text[OWN]; ///< of these files; NULL: there is none
    int lanes;             ///< of states
    int packs;             ///< lanes of equal parts of one state
} sources;

static const char *const file_names[] = {"generated.h",        "generated.c", "generated_lanes.h",
                                         "generated_lanes.c",  "calls.c",     "derivatives.c",
                                         "derivatives_lanes.c"};

/** The storage class of local arrays of so many numbers for each lane. */
static const char *storage(int numbers, int lanes)
{
    return numbers > LWI_CODEGEN_ON_STACK / lanes ? "static _Thread_local " : "";
}

/** Initialisers of a C array with a number for each speed. */
typedef struct table {
    char text[6 * LW_CODEGEN_MAX_SPEEDS];
    size_t n;
} table;

static void add_number(table *t, int number)
{
    t->n +=
        (size_t)snprintf(t->text + t->n, sizeof t->text - t->n, "%s%d", t->n ? ", " : "", number);
}

// The last speed of a node, or of the next node towards the ground that has speeds; -1: none.
static int last_speed(const lw_model *model, int node)
{
    while (node >= 0 && model->node[node].nv == 0) node = model->node[node].parent;
    return node < 0 ? -1 : model->node[node].iv + model->node[node].nv - 1;
}

static bool is_outboard(const lw_model *model, int node, int k)
{
    while (k > node) k = model->node[k].parent;
    return k == node;
}

static int last_outboard(const lw_model *model, int node)
{
    int last = -1;
    for (int k = node; k < model->nnode; k++) {
        if (!is_outboard(model, node, k) || model->node[k].nv == 0) continue;
        const int own = model->node[k].iv + model->node[k].nv - 1;
        last = own > last ? own : last;
    }
    return last;
}

// Are the speeds outboard of each node consecutive?
static bool are_consecutive(const lw_model *model)
{
    for (int k = 0; k < model->nnode; k++) {
        const int last = last_outboard(model, k);
        for (int l = k + 1; l < model->nnode; l++)
            if (model->node[l].nv > 0 && model->node[l].iv <= last && !is_outboard(model, k, l))
                return false;
    }
    return true;
}

// Tables of the order of the speeds, and of the inertias of rotors (derivative_source.c).
static void print_order(const lw_model *model, char *head, size_t size)
{
    table parents = {0}, firsts = {0}, lasts = {0}, steps = {0};
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const int before = last_speed(model, node->parent), last = last_outboard(model, k);
        const int how = node->type->quaternion >= 0 ? 2 : node->reversed ? 1 : 0;
        LWI_ASSERT(before < node->iv);
        for (int i = 0; i < node->nv; i++) {
            add_number(&parents, i ? node->iv + i - 1 : before);
            add_number(&firsts, node->iv);
            add_number(&lasts, last);
            add_number(&steps, how);
        }
    }
    size_t n =
        (size_t)snprintf(head, size,
                         "#define PARENTS {%s}\n#define FIRSTS {%s}\n#define LASTS {%s}\n"
                         "#define STEPS {%s}\n#define CONSECUTIVE %d\n#define ROTORS {",
                         parents.text, firsts.text, lasts.text, steps.text, are_consecutive(model));
    for (int i = 0; i < model->tree_nv && n < size; i++)
        n += (size_t)snprintf(head + n, size - n, "%.17g, ", model->tree_rotor[i]);
    if (n < size) snprintf(head + n, size - n, "}\n");
}

static void print_derivative_head(const lw_model *model, const sources *t, int width, char *head)
{
    const lwi_codegen_sources *g = &t->generated;
    const int n = snprintf(
        head, HEAD,
        "#define WIDTH %d\n#define CLOSED %d\n#define DEPENDENT %d\n#define TERMS %d\n"
        "#define READS(t, q, v, x, u) %sq, v%s%s\n#define BLOCK %sdouble\n",
        width, g->closed, g->dependent, LWI_TERMS, g->timed || g->signals ? "t, " : "",
        g->signals && model->nstate ? ", x" : "", g->signals && model->desc.ninput ? ", u" : "",
        storage(10 * model->tree_nv * (model->tree_nv + 5), width));
    print_order(model, head + n, HEAD - (size_t)n);
}

static unsigned functions_of(const lw_model *model, const lw_compiled_desc *desc)
{
    const bool closed = model->nloop + model->ncoupling > 0;
    unsigned functions = 1u << LW_CODEGEN_rates | 1u << LW_CODEGEN_project_positions |
                         1u << LW_CODEGEN_project_velocities | 1u << LW_CODEGEN_margins;
    if (!desc->rates_only || desc->derivatives) functions |= 1u << LW_CODEGEN_forward_dynamics;
    if (desc->derivatives) functions |= 1u << LWI_CODEGEN_DERIVATIVES;
    if (desc->derivatives && closed) functions |= 1u << LW_CODEGEN_inverse_dynamics;
    return functions;
}

// One state has lanes for its equal parts, too.
static lw_status choose_lanes(const lw_compiled_desc *desc, sources *t, lw_error *error)
{
    const int width = lwi_isa_width(lwi_isa_of(0)), own = width < 4 ? 4 : width;
    t->lanes = desc->lanes ? desc->lanes : own;
    t->packs = t->lanes > 1 ? t->lanes : own;
    if (t->lanes == 1 || t->lanes == 4 || t->lanes == 8) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT, "lanes: expected 1, 4 or 8, found %d", t->lanes);
}

static lw_status make_sources(const lw_model *model, const lwi_partition *partition,
                              const lw_compiled_desc *desc, sources *t, lw_error *error)
{
    const unsigned functions = functions_of(model, desc);
    TRY(lwi_codegen_print_sources(model, functions, t->lanes > 1 ? t->lanes : 0, t->packs,
                                  partition, desc->allocator, &t->generated, error));
    const bool closed = t->generated.closed, timed = t->generated.timed;
    const bool forward =
        (functions >> LW_CODEGEN_forward_dynamics & 1) && !timed && !t->generated.signals;
    const int numbers =
        2 * (model->tree_nq + 2 * model->tree_nv + model->nstate) + model->desc.ninput;
    const int squares = 3 * model->tree_nv * model->tree_nv; // BLOCK, SQUARE: arrays of lanes
    snprintf(t->head[0], HEAD,
             "#define LANES %d\n#define CLOSED %d\n#define FORWARD_THERE %d\n#define AT(t) "
             "%s\n#define TIMED %d\n"
             "#define ANGLES %d\n#define MARGINS %d\n#define WORKS %d\n#define CALLS_VERSION %d\n"
             "#define BLOCK %sdouble\n#define SQUARE %sdouble\n#define DERIVATIVES %d\n%s\n",
             t->lanes, closed, forward, timed ? "t," : "", timed,
             closed ? lwi_closing_angles(model) : 0, t->generated.margins, t->generated.works,
             LWI_CALLS_VERSION, storage(numbers, t->lanes), storage(squares, t->lanes),
             desc->derivatives, LWI_CALLS_LETTERS);
    t->text[0] = lwi_calls_source;
    if (!desc->derivatives) return LW_OK;
    t->text[1] = lwi_derivatives_source;
    print_derivative_head(model, t, 1, t->head[1]);
    if (t->lanes == 1) return LW_OK;
    t->text[2] = lwi_derivatives_source;
    print_derivative_head(model, t, t->lanes, t->head[2]);
    return LW_OK;
}

static void find_key(const sources *t, const lwi_compiler *compiler, char key[LWI_SHA256_SIZE])
{
    lwi_sha256 hash;
    lwi_sha256_begin(&hash);
    for (int i = 0; i < GENERATED; i++)
        lwi_sha256_add(&hash, t->generated.text[i] ? t->generated.text[i] : "",
                       t->generated.size[i]);
    for (int i = 0; i < OWN && t->text[i]; i++) {
        lwi_sha256_add(&hash, t->head[i], strlen(t->head[i]) + 1);
        lwi_sha256_add(&hash, t->text[i], strlen(t->text[i]) + 1);
    }
    lwi_compiler_add(compiler, &hash);
    lwi_sha256_end(&hash, key);
}

// ------------------------------------------------------------------------------------------- loading

/** What is loaded, and what it has to fit. */
typedef struct loading {
    const lw_compiled_info *info;
    lwi_loaded *part;
} loading;

static lw_status load(void *object, const char *path, lw_error *error)
{
    const loading *l = object;
    lwi_loaded *p = l->part;
    p->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!p->handle) {
        const char *reason = dlerror();
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "what was compiled cannot be loaded: %s",
                        reason ? reason : path);
    }
    p->calls = dlsym(p->handle, LWI_CALLS_SYMBOL);
    const lw_compiled_info *i = l->info;
    const lwi_calls *f = p->calls;
    if (f && f->version == LWI_CALLS_VERSION && f->nq == i->nq && f->nv == i->nv &&
        f->nx == i->nstate && f->nu == i->ninput && f->lanes == i->lanes)
        return LW_OK;
    dlclose(p->handle);
    p->handle = NULL;
    p->calls = NULL;
    return lwi_fail(error, LW_ERR_UNSUPPORTED, "%s is none of this model", path);
}

// ------------------------------------------------------------------------------------------- object

/** What is known before anything is compiled. */
typedef struct plan {
    sources all; ///< no text where the key is from the index
    lwi_compiler compiler;
    lwi_cache cache;
    bool indexed; ///< `entry` is the name of the model's entry in the index
    char entry[LWI_SHA256_SIZE], key[LWI_SHA256_SIZE], path[LWI_CACHE_PATH];
} plan;

// Seconds of a compiler: its start, its reading of the text, and the functions.  For twenty generated files, small
// and large, on a slow processor, it took between a third and nearly all of this.
static double predict(const plan *p)
{
    double seconds = 0.2 + p->all.generated.seconds;
    for (int i = 0; i < GENERATED; i++) seconds += 1.8e-5 * (double)p->all.generated.size[i];
    return seconds;
}

static void remember(const plan *p, const lw_compiled_info *info)
{
    if (p->indexed) lwi_index_write(&p->cache, p->entry, p->key, info->letters);
}

// Generates the text, and finds its shared object if there is one.
static lw_status generate(const lw_model *model, const lwi_partition *partition,
                          const lw_compiled_desc *desc, plan *p, lw_compiled_info *info,
                          lw_error *error)
{
    TRY(make_sources(model, partition, desc, &p->all, error));
    info->letters = 0;
    for (int i = 0; i < GENERATED; i++) info->letters += p->all.generated.size[i];
    find_key(&p->all, &p->compiler, p->key);
    info->found = lwi_cache_find(&p->cache, p->key, p->path);
    if (info->found) remember(p, info);
    return LW_OK;
}

// Finds the model's shared object by the index.
static lw_status search(const lw_model *model, const lwi_partition *partition,
                        const lw_compiled_desc *desc, plan *p, lw_compiled_info *info,
                        lw_error *error)
{
    const double began = lwi_clock();
    if (model->open) return lwi_fail(error, LW_ERR_MODEL, "%s", model->open);
    TRY(lwi_cache_open(desc->cache, &p->cache, error));
    TRY(lwi_compiler_find(desc->compiler, &p->cache, &p->compiler, error));
    p->compiler.interrupt = desc->interrupt;
    p->compiler.interrupt_user = desc->interrupt_user;
    TRY(choose_lanes(desc, &p->all, error));
    *info = (lw_compiled_info){.nq = model->tree_nq,
                               .nv = model->tree_nv,
                               .nstate = model->nstate,
                               .ninput = model->desc.ninput,
                               .lanes = p->all.lanes,
                               .flags = lwi_compiler_flags};
    lwi_copy_text(info->compiler, sizeof info->compiler, p->compiler.version);
    const lwi_index_entry entry = {model, functions_of(model, desc), p->all.lanes, p->all.packs,
                                   partition};
    p->indexed = lwi_index_key(&entry, &p->compiler, p->entry);
    info->found = p->indexed && lwi_index_find(&p->cache, p->entry, p->key, &info->letters) &&
                  lwi_cache_find(&p->cache, p->key, p->path);
    info->generating = lwi_clock() - began;
    return LW_OK;
}

// Generates its text, too, where the index has none.
static lw_status make_plan(const lw_model *model, const lwi_partition *partition,
                           const lw_compiled_desc *desc, plan *p, lw_compiled_info *info,
                           lw_error *error)
{
    const double began = lwi_clock();
    TRY(search(model, partition, desc, p, info, error));
    if (!info->found) TRY(generate(model, partition, desc, p, info, error));
    info->generating = lwi_clock() - began;
    return LW_OK;
}

static lw_status build(lwi_loaded *part, const plan *p, lw_compiled_info *info, lw_error *error)
{
    const double began = lwi_clock();
    loading to = {info, part};
    lwi_source_file files[GENERATED + OWN];
    for (int i = 0; i < GENERATED; i++)
        files[i] = (lwi_source_file){.name = file_names[i], .text = p->all.generated.text[i]};
    for (int i = 0; i < OWN; i++)
        files[GENERATED + i] = (lwi_source_file){
            .name = file_names[GENERATED + i], .head = p->all.head[i], .text = p->all.text[i]};
    const lw_status status =
        lwi_build(files, GENERATED + OWN, &p->compiler, &p->cache, p->key, load, &to, error);
    info->compiling = lwi_clock() - began;
    if (status == LW_OK) remember(p, info);
    return status;
}

static lw_status make_part(const lw_model *model, const lwi_partition *partition,
                           const lw_compiled_desc *desc, lwi_loaded *part, lw_compiled_info *info,
                           lw_error *error)
{
    plan p = {0};
    loading to = {info, part};
    lw_status status = make_plan(model, partition, desc, &p, info, error);
    if (status == LW_OK && info->found) {
        const bool fits = load(&to, p.path, NULL) == LW_OK;
        if (!fits && !p.all.generated.text[0])
            status = generate(model, partition, desc, &p, info, error);
        info->found = fits;
    }
    if (status == LW_OK && !info->found) status = build(part, &p, info, error);
    lwi_codegen_free_sources(&p.all.generated);
    return status;
}

// The part of a partition, under the lock; NULL: there is no room.
static lwi_loaded *find_part(const lw_compiled *c, const lwi_partition *partition)
{
    lwi_loaded_parts *parts = c->parts;
    const size_t size = (size_t)partition->n * sizeof *partition->code;
    for (int i = 1; i < parts->n; i++) {
        lwi_loaded *p = &parts->part[i];
        if (p->n == partition->n && !memcmp(p->code, partition->code, size)) return p;
    }
    if (parts->n == LWI_LOADED_PARTS) return NULL;
    lwi_loaded *part = &parts->part[parts->n];
    *part = (lwi_loaded){.n = partition->n, .code = lwi_allocate(&c->allocator, size)};
    if (!part->code) return NULL;
    memcpy(part->code, partition->code, size);
    parts->n++;
    return part;
}

// Other threads have the lock while this one compiles.
static void build_part(const lw_compiled *c, const lw_model *model, const lwi_partition *partition,
                       lwi_loaded *part)
{
    lwi_loaded_parts *parts = c->parts;
    lw_compiled_info info = {0};
    lw_error error = {0};
    lwi_loaded built = {0};
    lw_compiled_desc how = c->how;
    how.allocator = NULL; // threads may be here at a time
    part->state = LWI_LOADED_BUILDING;
    pthread_mutex_unlock(&parts->lock);
    const lw_status status = make_part(model, partition, &how, &built, &info, &error);
    pthread_mutex_lock(&parts->lock);
    part->handle = built.handle;
    part->calls = built.calls;
    part->state = status == LW_OK                                           ? LWI_LOADED_READY
                  : status == LW_ERR_INTERRUPTED || status == LW_ERR_MEMORY ? LWI_LOADED_WANTED
                                                                            : LWI_LOADED_REFUSED;
    if (status == LW_OK && !info.found) parts->compiling += info.compiling;
    if (part->state == LWI_LOADED_REFUSED && !parts->refused[0])
        lwi_copy_text(parts->refused, sizeof parts->refused, error.text);
    pthread_cond_broadcast(&parts->built);
}

int lwi_compiled_load(const lw_compiled *c, const lw_model *model, const lwi_partition *partition)
{
    lwi_loaded_parts *parts = c->parts;
    int number = LWI_PART_NONE;
    pthread_mutex_lock(&parts->lock);
    lwi_loaded *part = find_part(c, partition);
    if (part) {
        while (part->state == LWI_LOADED_BUILDING) pthread_cond_wait(&parts->built, &parts->lock);
        if (part->state == LWI_LOADED_WANTED) build_part(c, model, partition, part);
        if (part->state == LWI_LOADED_READY) number = (int)(part - parts->part);
        if (part->state == LWI_LOADED_REFUSED) number = LWI_PART_REFUSED;
    }
    pthread_mutex_unlock(&parts->lock);
    return number;
}

static lw_status copy_word(const lw_allocator *allocator, const char **word)
{
    if (!*word) return LW_OK;
    char *copy = lwi_allocate(allocator, strlen(*word) + 1);
    if (copy) strcpy(copy, *word);
    *word = copy;
    return copy ? LW_OK : LW_ERR_MEMORY;
}

static lw_status create(lw_compiled *c, const lw_model *model, const lw_compiled_desc *desc,
                        lw_error *error)
{
    c->how = *desc;
    c->how.compiler = c->how.cache = NULL;
    c->parts = lwi_allocate(&c->allocator, sizeof *c->parts);
    if (!c->parts) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a compiled model");
    memset(c->parts, 0, sizeof *c->parts);
    pthread_mutex_init(&c->parts->lock, NULL);
    pthread_cond_init(&c->parts->built, NULL);
    c->how.compiler = desc->compiler;
    lw_status status = copy_word(&c->allocator, &c->how.compiler);
    c->how.cache = status == LW_OK ? desc->cache : NULL;
    if (status == LW_OK) status = copy_word(&c->allocator, &c->how.cache);
    if (status != LW_OK) return lwi_fail(error, status, "no memory for a compiled model");
    TRY(make_part(model, NULL, desc, &c->parts->part[0], &c->info, error));
    c->parts->n = 1;
    c->parts->part[0].state = LWI_LOADED_READY;
    c->calls = c->parts->part[0].calls;
    c->model = desc->on_demand && c->calls->margins > 0 ? model : NULL;
    return LW_OK;
}

lw_status lw_compiled_create(const lw_model *model, const lw_compiled_desc *desc, lw_compiled **out,
                             lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_compiled_desc, desc, error);
    if (!model || !out) return lwi_fail(error, LW_ERR_ARGUMENT, "model or result is missing");
    lwi_arena arena; // an allocator that is NULL is malloc
    lwi_arena_init(&arena, desc->allocator);
    lw_compiled *c = lwi_allocate(&arena.allocator, sizeof *c);
    if (!c) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a compiled model");
    *c = (lw_compiled){.allocator = arena.allocator};
    const lw_status status = create(c, model, desc, error);
    if (status == LW_OK)
        *out = c;
    else
        lw_compiled_destroy(c);
    return status;
}

lw_status lw_compiled_predict(const lw_model *model, const lw_compiled_desc *desc,
                              lw_compiled_info *info, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_compiled_desc, desc, error);
    if (!model || !info) return lwi_fail(error, LW_ERR_ARGUMENT, "model or result is missing");
    plan p = {0};
    lw_compiled_info found = {0};
    const lw_status status = make_plan(model, NULL, desc, &p, &found, error);
    if (!found.found) found.compiling = predict(&p);
    lwi_codegen_free_sources(&p.all.generated);
    if (status != LW_OK) return status;
    *info = found;
    return LW_OK;
}

lw_status lw_compiled_search(const lw_model *model, const lw_compiled_desc *desc,
                             lw_compiled_info *info, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_compiled_desc, desc, error);
    if (!model || !info) return lwi_fail(error, LW_ERR_ARGUMENT, "model or result is missing");
    plan p = {0};
    lw_compiled_info found = {0};
    TRY(search(model, NULL, desc, &p, &found, error));
    *info = found;
    return LW_OK;
}

static void destroy_parts(lw_compiled *c)
{
    if (!c->parts) return;
    for (int i = 0; i < LWI_LOADED_PARTS; i++) {
        lwi_loaded *p = &c->parts->part[i];
        if (p->handle) dlclose(p->handle);
        if (p->code) lwi_release(&c->allocator, p->code);
    }
    pthread_cond_destroy(&c->parts->built);
    pthread_mutex_destroy(&c->parts->lock);
    lwi_release(&c->allocator, c->parts);
}

void lw_compiled_destroy(lw_compiled *c)
{
    if (!c) return;
    destroy_parts(c);
    const lw_allocator allocator = c->allocator;
    if (c->how.compiler) lwi_release(&allocator, (void *)c->how.compiler);
    if (c->how.cache) lwi_release(&allocator, (void *)c->how.cache);
    lwi_release(&allocator, c);
}

lw_compiled_info lw_compiled_about(const lw_compiled *c)
{
    if (!c) return (lw_compiled_info){0};
    lw_compiled_info info = c->info;
    pthread_mutex_lock(&c->parts->lock);
    for (int i = 0; i < c->parts->n && c->calls->margins > 0; i++)
        info.partitions += c->parts->part[i].state == LWI_LOADED_READY;
    info.compiling += c->parts->compiling;
    info.refused = c->parts->refused[0] ? c->parts->refused : NULL;
    pthread_mutex_unlock(&c->parts->lock);
    return info;
}

// -------------------------------------------------------------------------------------------- calls

static lw_status status_of(int failed)
{
    return failed ? LW_ERR_SINGULAR : LW_OK;
}

// Code with a partition that is chosen at a state where the first one fails; NULL: there is none.
static const lwi_calls *calls_at(const lw_compiled *c, double t, const double *q)
{
    lwi_arena arena;
    lwi_partition partition;
    double margin, sum = 0;
    int i = -1;
    if (!c->model) return NULL;
    for (int k = 0; k < c->info.nq; k++) sum += 0 * q[k];
    if (sum != 0) return NULL;    // also NAN
    lwi_arena_init(&arena, NULL); // malloc: the caller's allocator serves creation only
    if (lwi_codegen_partition_at(c->model, t, q, &arena, &partition, &margin, NULL) == LW_OK &&
        margin > 0)
        i = lwi_compiled_load(c, c->model, &partition);
    lwi_arena_free(&arena);
    return i < 0 ? NULL : c->parts->part[i].calls;
}

// Calls one function of the table in a part, from arrays of one or of many states.
typedef struct states {
    const double *t, *tau, *x, *inputs;
    double *q, *v; // of `project` they are results
    double *qdot, *vdot, *xdot;
    double *by_q, *by_v, *by; // `by`: by efforts (forward), by accelerations (inverse)
} states;

typedef enum call { FORWARD, RATES, PROJECT, FORWARD_DERIVATIVES, INVERSE_DERIVATIVES } call;

static int call_one(const lwi_calls *f, call which, double t, const states *s)
{
    switch (which) {
    case FORWARD:
        return f->forward(s->q, s->v, s->tau, s->vdot);
    case RATES:
        return f->rates(t, s->q, s->v, s->x, s->inputs, s->qdot, s->vdot, s->xdot, NULL, NULL,
                        NULL);
    case PROJECT:
        return f->project(t, s->q, s->v);
    case FORWARD_DERIVATIVES:
        return f->forward_derivatives(t, s->q, s->v, s->x, s->tau, s->inputs, s->vdot, s->by_q,
                                      s->by_v, s->by);
    case INVERSE_DERIVATIVES:
        return f->inverse_derivatives(t, s->q, s->v, s->x, s->vdot, s->inputs, s->by_q, s->by_v,
                                      s->by);
    }
    return 1;
}

static int call_many(const lwi_calls *f, call which, int n, const states *s, unsigned char *failed)
{
    switch (which) {
    case FORWARD:
        return f->forward_many(n, s->q, s->v, s->tau, s->vdot, failed);
    case RATES:
        return f->rates_many(n, s->t, s->q, s->v, s->x, s->inputs, s->qdot, s->vdot, s->xdot,
                             failed);
    case PROJECT:
        return f->project_many(n, s->t, s->q, s->v, failed);
    case FORWARD_DERIVATIVES:
        return f->forward_derivatives_many(n, s->t, s->q, s->v, s->x, s->tau, s->inputs, s->vdot,
                                           s->by_q, s->by_v, s->by, failed);
    case INVERSE_DERIVATIVES:
        return f->inverse_derivatives_many(n, s->t, s->q, s->v, s->x, s->vdot, s->inputs, s->by_q,
                                           s->by_v, s->by, failed);
    }
    return 1;
}

static int one(const lw_compiled *c, call which, double t, const states *s)
{
    const int failed = call_one(c->calls, which, t, s);
    const lwi_calls *other = failed ? calls_at(c, t, s->q) : NULL;
    return other ? call_one(other, which, t, s) : failed;
}

static states from(const lw_compiled *c, const states *s, int k)
{
    const size_t nq = (size_t)k * (size_t)c->info.nq, nv = (size_t)k * (size_t)c->info.nv,
                 nx = (size_t)k * (size_t)c->info.nstate, nu = (size_t)k * (size_t)c->info.ninput,
                 square = nv * (size_t)c->info.nv;
#define AT(array, by) .array = s->array ? s->array + (by) : NULL
    return (states){AT(t, k),     AT(tau, nv),      AT(x, nx),        AT(inputs, nu),
                    AT(q, nq),    AT(v, nv),        AT(qdot, nq),     AT(vdot, nv),
                    AT(xdot, nx), AT(by_q, square), AT(by_v, square), AT(by, square)};
#undef AT
}

static lw_status many(const lw_compiled *c, call which, int count, const states *s,
                      unsigned char *failed)
{
    enum { BLOCK = 64 };
    unsigned char mark[BLOCK] = {0};
    int any = 0;
    if (!c->model) return status_of(call_many(c->calls, which, count, s, failed));
    for (int k = 0; k < count; k += BLOCK) {
        const int n = count - k < BLOCK ? count - k : BLOCK;
        const states block = from(c, s, k);
        unsigned char *bad = failed ? failed + k : mark;
        if (!call_many(c->calls, which, n, &block, bad)) continue;
        for (int i = 0; i < n; i++) {
            const states state = from(c, &block, i);
            const double t = state.t ? *state.t : 0;
            const lwi_calls *other = bad[i] ? calls_at(c, t, state.q) : NULL;
            if (other) bad[i] = call_one(other, which, t, &state) != 0;
            any |= bad[i];
        }
    }
    return status_of(any);
}

lw_status lw_compiled_forward_dynamics(const lw_compiled *c, const double *q, const double *v,
                                       const double *tau, double *vdot)
{
    if (!c || !q || !v || !vdot) return LW_ERR_ARGUMENT;
    if (!c->calls->forward) return LW_ERR_UNSUPPORTED;
    const states s = {.q = (double *)q, .v = (double *)v, .tau = tau, .vdot = vdot};
    return status_of(one(c, FORWARD, 0, &s));
}

lw_status lw_compiled_forward_dynamics_many(const lw_compiled *c, int count, const double *q,
                                            const double *v, const double *tau, double *vdot,
                                            unsigned char *failed)
{
    if (!c || count < 0 || !q || !v || !vdot) return LW_ERR_ARGUMENT;
    if (!c->calls->forward) return LW_ERR_UNSUPPORTED;
    const states s = {.q = (double *)q, .v = (double *)v, .tau = tau, .vdot = vdot};
    return many(c, FORWARD, count, &s, failed);
}

static states states_of_rates(const double *t, const double *q, const double *v, const double *x,
                              const double *inputs, double *qdot, double *vdot, double *xdot)
{
    return (states){.t = t,
                    .q = (double *)q,
                    .v = (double *)v,
                    .x = x,
                    .inputs = inputs,
                    .qdot = qdot,
                    .vdot = vdot,
                    .xdot = xdot};
}

static bool has_states(const lw_compiled *c, const double *x, const double *xdot)
{
    return c->info.nstate == 0 || (x && xdot);
}

lw_status lw_compiled_rates(const lw_compiled *c, double t, const double *q, const double *v,
                            const double *x, const double *inputs, double *qdot, double *vdot,
                            double *xdot)
{
    if (!c || !q || !v || !qdot || !vdot || !has_states(c, x, xdot)) return LW_ERR_ARGUMENT;
    const states s = states_of_rates(&t, q, v, x, inputs, qdot, vdot, xdot);
    return status_of(one(c, RATES, t, &s));
}

lw_status lw_compiled_rates_many(const lw_compiled *c, int count, const double *t, const double *q,
                                 const double *v, const double *x, const double *inputs,
                                 double *qdot, double *vdot, double *xdot, unsigned char *failed)
{
    if (!c || count < 0 || !t || !q || !v || !qdot || !vdot || !has_states(c, x, xdot))
        return LW_ERR_ARGUMENT;
    const states s = states_of_rates(t, q, v, x, inputs, qdot, vdot, xdot);
    return many(c, RATES, count, &s, failed);
}

lw_status lw_compiled_project(const lw_compiled *c, double t, double *q, double *v)
{
    if (!c || !q || !v) return LW_ERR_ARGUMENT;
    const states s = {.q = q, .v = v};
    return status_of(one(c, PROJECT, t, &s));
}

lw_status lw_compiled_project_many(const lw_compiled *c, int count, const double *t, double *q,
                                   double *v, unsigned char *failed)
{
    if (!c || count < 0 || !t || !q || !v) return LW_ERR_ARGUMENT;
    const states s = {.t = t, .q = q, .v = v};
    return many(c, PROJECT, count, &s, failed);
}

// ------------------------------------------------------------------------------------- derivatives

static bool has_all(const lw_compiled *c, const double *x, const states *s)
{
    return s->q && s->v && s->vdot && s->by_q && s->by_v && s->by && (c->info.nstate == 0 || x);
}

lw_status lw_compiled_forward_dynamics_derivatives(const lw_compiled *c, double t, const double *q,
                                                   const double *v, const double *x,
                                                   const double *tau, const double *inputs,
                                                   double *vdot, double *by_q, double *by_v,
                                                   double *by_tau)
{
    if (!c) return LW_ERR_ARGUMENT;
    const states s = {&t,   tau,  x,    inputs, (double *)q, (double *)v,
                      NULL, vdot, NULL, by_q,   by_v,        by_tau};
    if (!has_all(c, x, &s)) return LW_ERR_ARGUMENT;
    if (!c->calls->forward_derivatives) return LW_ERR_UNSUPPORTED;
    return status_of(one(c, FORWARD_DERIVATIVES, t, &s));
}

lw_status lw_compiled_forward_dynamics_derivatives_many(const lw_compiled *c, int count,
                                                        const double *t, const double *q,
                                                        const double *v, const double *x,
                                                        const double *tau, const double *inputs,
                                                        double *vdot, double *by_q, double *by_v,
                                                        double *by_tau, unsigned char *failed)
{
    if (!c || count < 0 || !t) return LW_ERR_ARGUMENT;
    const states s = {t,    tau,  x,    inputs, (double *)q, (double *)v,
                      NULL, vdot, NULL, by_q,   by_v,        by_tau};
    if (!has_all(c, x, &s)) return LW_ERR_ARGUMENT;
    if (!c->calls->forward_derivatives) return LW_ERR_UNSUPPORTED;
    return many(c, FORWARD_DERIVATIVES, count, &s, failed);
}

lw_status lw_compiled_inverse_dynamics_derivatives(const lw_compiled *c, double t, const double *q,
                                                   const double *v, const double *x,
                                                   const double *vdot, const double *inputs,
                                                   double *by_q, double *by_v, double *M)
{
    if (!c) return LW_ERR_ARGUMENT;
    const states s = {&t,   NULL,           x,    inputs, (double *)q, (double *)v,
                      NULL, (double *)vdot, NULL, by_q,   by_v,        M};
    if (!has_all(c, x, &s)) return LW_ERR_ARGUMENT;
    if (!c->calls->inverse_derivatives) return LW_ERR_UNSUPPORTED;
    return status_of(one(c, INVERSE_DERIVATIVES, t, &s));
}

lw_status lw_compiled_inverse_dynamics_derivatives_many(const lw_compiled *c, int count,
                                                        const double *t, const double *q,
                                                        const double *v, const double *x,
                                                        const double *vdot, const double *inputs,
                                                        double *by_q, double *by_v, double *M,
                                                        unsigned char *failed)
{
    if (!c || count < 0 || !t) return LW_ERR_ARGUMENT;
    const states s = {t,    NULL,           x,    inputs, (double *)q, (double *)v,
                      NULL, (double *)vdot, NULL, by_q,   by_v,        M};
    if (!has_all(c, x, &s)) return LW_ERR_ARGUMENT;
    if (!c->calls->inverse_derivatives) return LW_ERR_UNSUPPORTED;
    return many(c, INVERSE_DERIVATIVES, count, &s, failed);
}
