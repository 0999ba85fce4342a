// compiled.c -- a model's generated code, compiled, kept and loaded.
#define _XOPEN_SOURCE 700
#include "compiled/compiled.h"

#include "base/cpu.h"
#include "base/sha256.h"
#include "base/times.h"
#include "codegen/closing.h"
#include "codegen/sources.h"
#include "compiled/build.h"
#include "model/model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- sources

enum { GENERATED = LWI_CODEGEN_SOURCES, HEAD = 2400 };

/** The files that are compiled. */
typedef struct sources {
    lwi_codegen_sources generated;
    char head[HEAD]; ///< of the one with the table of calls
    int lanes;
} sources;

static const char *const file_names[] = {"generated.h", "generated.c", "generated_lanes.h",
                                         "generated_lanes.c", "calls.c"};

static lw_status make_sources(const lw_model *model, const lw_compiled_desc *desc, sources *t,
                              lw_error *error)
{
    const unsigned functions = 1u << LW_CODEGEN_rates | 1u << LW_CODEGEN_project_positions |
                               1u << LW_CODEGEN_project_velocities |
                               1u << LW_CODEGEN_closing_rates | 1u << LW_CODEGEN_margins |
                               (desc->rates_only ? 0 : 1u << LW_CODEGEN_forward_dynamics);
    t->lanes = desc->lanes ? desc->lanes : lwi_isa_width(lwi_isa_of(0));
    if (desc->lanes == 0 && t->lanes < 4) t->lanes = 4;
    if (t->lanes != 1 && t->lanes != 4 && t->lanes != 8)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lanes: expected 1, 4 or 8, found %d", t->lanes);
    TRY(lwi_codegen_print_sources(model, functions, t->lanes > 1 ? t->lanes : 0, desc->allocator,
                                  &t->generated, error));
    const bool closed = t->generated.closed, timed = t->generated.timed;
    const bool forward = !desc->rates_only && !timed && !t->generated.signals;
    snprintf(t->head, sizeof t->head,
             "#define LANES %d\n#define CLOSED %d\n#define FORWARD_THERE %d\n#define AT(t) "
             "%s\n#define TIMED %d\n"
             "#define ANGLES %d\n#define MARGINS %d\n#define CALLS_VERSION %d\n%s\n",
             t->lanes, closed, forward, timed ? "t," : "", timed,
             closed ? lwi_closing_angles(model) : 0, t->generated.margins, LWI_CALLS_VERSION,
             LWI_CALLS_LETTERS);
    return LW_OK;
}

static void find_key(const sources *t, const lwi_compiler *compiler, char key[LWI_SHA256_SIZE])
{
    lwi_sha256 hash;
    lwi_sha256_begin(&hash);
    for (int i = 0; i < GENERATED; i++)
        lwi_sha256_add(&hash, t->generated.text[i] ? t->generated.text[i] : "",
                       t->generated.size[i]);
    lwi_sha256_add(&hash, t->head, strlen(t->head) + 1);
    lwi_sha256_add(&hash, lwi_calls_source, strlen(lwi_calls_source) + 1);
    lwi_compiler_add(compiler, &hash);
    lwi_sha256_end(&hash, key);
}

// ------------------------------------------------------------------------------------------- loading

static lw_status load(void *object, const char *path, lw_error *error)
{
    lw_compiled *c = object;
    c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!c->library) {
        const char *reason = dlerror();
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "what was compiled cannot be loaded: %s",
                        reason ? reason : path);
    }
    c->calls = dlsym(c->library, LWI_CALLS_SYMBOL);
    const lw_compiled_info *i = &c->info;
    const lwi_calls *f = c->calls;
    if (f && f->version == LWI_CALLS_VERSION && f->nq == i->nq && f->nv == i->nv &&
        f->nx == i->nstate && f->nu == i->ninput && f->lanes == i->lanes)
        return LW_OK;
    dlclose(c->library);
    c->library = NULL;
    return lwi_fail(error, LW_ERR_UNSUPPORTED, "%s is none of this model", path);
}

// ------------------------------------------------------------------------------------------- object

/** What is known before anything is compiled. */
typedef struct plan {
    sources all;
    lwi_compiler compiler;
    lwi_cache cache;
    char key[LWI_SHA256_SIZE], path[LWI_CACHE_PATH];
} plan;

// Seconds of a compiler for so many letters of text: optimisation takes longer where functions are long.
static double predict(size_t letters)
{
    const double kb = 1e-3 * (double)letters;
    return 0.1 + 0.008 * kb * (1 + kb / 300);
}

static lw_status make_plan(const lw_model *model, const lw_compiled_desc *desc, plan *p,
                           lw_compiled_info *info, lw_error *error)
{
    const double began = lwi_clock();
    if (model->open) return lwi_fail(error, LW_ERR_MODEL, "%s", model->open);
    TRY(lwi_compiler_find(desc->compiler, &p->compiler, error));
    TRY(lwi_cache_open(desc->cache, &p->cache, error));
    TRY(make_sources(model, desc, &p->all, error));
    *info = (lw_compiled_info){.nq = model->tree_nq,
                               .nv = model->tree_nv,
                               .nstate = model->nstate,
                               .ninput = model->desc.ninput,
                               .lanes = p->all.lanes,
                               .generating = lwi_clock() - began,
                               .flags = lwi_compiler_flags};
    lwi_copy_text(info->compiler, sizeof info->compiler, p->compiler.version);
    for (int i = 0; i < GENERATED; i++) info->letters += p->all.generated.size[i];
    find_key(&p->all, &p->compiler, p->key);
    info->found = lwi_cache_find(&p->cache, p->key, p->path);
    return LW_OK;
}

static lw_status build(lw_compiled *c, const plan *p, lw_error *error)
{
    const double began = lwi_clock();
    lwi_source_file files[GENERATED + 1];
    for (int i = 0; i < GENERATED; i++)
        files[i] = (lwi_source_file){.name = file_names[i], .text = p->all.generated.text[i]};
    files[GENERATED] = (lwi_source_file){
        .name = file_names[GENERATED], .head = p->all.head, .text = lwi_calls_source};
    const lw_status status =
        lwi_build(files, GENERATED + 1, &p->compiler, &p->cache, p->key, load, c, error);
    c->info.compiling = lwi_clock() - began;
    return status;
}

static lw_status create(lw_compiled *c, const lw_model *model, const lw_compiled_desc *desc,
                        lw_error *error)
{
    plan p = {0};
    lw_status status = make_plan(model, desc, &p, &c->info, error);
    if (status == LW_OK && c->info.found) c->info.found = load(c, p.path, NULL) == LW_OK;
    if (status == LW_OK && !c->info.found) status = build(c, &p, error);
    lwi_codegen_free_sources(&p.all.generated);
    return status;
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
    const lw_status status = make_plan(model, desc, &p, &found, error);
    lwi_codegen_free_sources(&p.all.generated);
    if (status != LW_OK) return status;
    if (!found.found) found.compiling = predict(found.letters);
    *info = found;
    return LW_OK;
}

void lw_compiled_destroy(lw_compiled *c)
{
    if (!c) return;
    if (c->library) dlclose(c->library);
    const lw_allocator allocator = c->allocator;
    lwi_release(&allocator, c);
}

lw_compiled_info lw_compiled_about(const lw_compiled *c)
{
    return c ? c->info : (lw_compiled_info){0};
}

// -------------------------------------------------------------------------------------------- calls

static lw_status status_of(int failed)
{
    return failed ? LW_ERR_SINGULAR : LW_OK;
}

lw_status lw_compiled_forward_dynamics(const lw_compiled *c, const double *q, const double *v,
                                       const double *tau, double *vdot)
{
    if (!c || !q || !v || !vdot) return LW_ERR_ARGUMENT;
    if (!c->calls->forward) return LW_ERR_UNSUPPORTED;
    return status_of(c->calls->forward(q, v, tau, vdot));
}

lw_status lw_compiled_forward_dynamics_many(const lw_compiled *c, int count, const double *q,
                                            const double *v, const double *tau, double *vdot,
                                            unsigned char *failed)
{
    if (!c || count < 0 || !q || !v || !vdot) return LW_ERR_ARGUMENT;
    if (!c->calls->forward) return LW_ERR_UNSUPPORTED;
    return status_of(c->calls->forward_many(count, q, v, tau, vdot, failed));
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
    return status_of(c->calls->rates(t, q, v, x, inputs, qdot, vdot, xdot, NULL, NULL));
}

lw_status lw_compiled_rates_many(const lw_compiled *c, int count, const double *t, const double *q,
                                 const double *v, const double *x, const double *inputs,
                                 double *qdot, double *vdot, double *xdot, unsigned char *failed)
{
    if (!c || count < 0 || !t || !q || !v || !qdot || !vdot || !has_states(c, x, xdot))
        return LW_ERR_ARGUMENT;
    return status_of(c->calls->rates_many(count, t, q, v, x, inputs, qdot, vdot, xdot, failed));
}

lw_status lw_compiled_project(const lw_compiled *c, double t, double *q, double *v)
{
    if (!c || !q || !v) return LW_ERR_ARGUMENT;
    return status_of(c->calls->project(t, q, v));
}

lw_status lw_compiled_project_many(const lw_compiled *c, int count, const double *t, double *q,
                                   double *v, unsigned char *failed)
{
    if (!c || count < 0 || !t || !q || !v) return LW_ERR_ARGUMENT;
    return status_of(c->calls->project_many(count, t, q, v, failed));
}
