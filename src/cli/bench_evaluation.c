// bench_evaluation.c -- times single evaluations: forward dynamics from speeds, rates of momenta,
// inverse dynamics; compiled forward dynamics.
#include "cli/bench.h"

#include <stdlib.h>
#include <string.h>

typedef struct work {
    lw_dynamics *dynamics;
    scene_body *body; ///< [nbody]
    int nbody, nq, nv, copies;
    /** States [copies]; q [nq], v, tau, p [nv] each. */
    double *q, *v, *tau, *p;
    double *vdot, *rate, *qdot; ///< results: accelerations [copies][nv], others of one state
} work;

typedef struct method {
    const char *name;
    lw_status (*evaluate)(work *w, int copy); ///< NULL: all copies by one call
    bool accelerations;                       ///< leaves them in vdot
    bool closed;                              ///< of mechanisms with loops, else of trees
} method;

static lw_status forward(work *w, int copy)
{
    const int q = copy * w->nq, v = copy * w->nv;
    return lw_forward_dynamics(w->dynamics, 0, w->q + q, w->v + v, w->tau + v, NULL, w->vdot + v);
}

static lw_status momenta(work *w, int copy)
{
    const int q = copy * w->nq, v = copy * w->nv;
    return lw_momenta_rates(w->dynamics, 0, w->q + q, w->p + v, w->tau + v, NULL, w->rate, w->qdot,
                            w->rate + w->nv);
}

static lw_status rnea(work *w, int copy)
{
    const int q = copy * w->nq, v = copy * w->nv;
    return lw_inverse_dynamics(w->dynamics, 0, w->q + q, w->v + v, w->tau + v, NULL, w->rate);
}

static const method methods[] = {{"aba", forward, true, false},
                                 {"momenta", momenta, false, false},
                                 {"rnea", rnea, false, false},
                                 {"aba:many", NULL, true, false},
                                 {"rcr", forward, true, true}};

enum { NMETHOD = sizeof methods / sizeof methods[0] };

typedef struct pass {
    work *work;
    const method *method;
} pass;

static int run_pass(void *user)
{
    const pass *p = user;
    const work *w = p->work;
    lw_status status = LW_OK;
    if (!p->method->evaluate)
        return (int)lw_forward_dynamics_many(w->dynamics, w->copies, 0, w->q, w->v, w->tau, NULL,
                                             w->vdot);
    for (int i = 0; i < w->copies && status == LW_OK; i++) status = p->method->evaluate(p->work, i);
    return (int)status;
}

static lw_status allocate(work *w, const lw_model *model)
{
    const size_t nq = (size_t)lw_model_tree_nq(model), nv = (size_t)lw_model_tree_nv(model);
    const size_t copies = (size_t)w->copies;
    w->nq = (int)nq, w->nv = (int)nv;
    w->q = calloc(copies * (nq + 4 * nv) + 2 * nv + nq, sizeof *w->q);
    if (!w->q) return LW_ERR_MEMORY;
    w->v = w->q + copies * nq;
    w->tau = w->v + copies * nv;
    w->p = w->tau + copies * nv;
    w->vdot = w->p + copies * nv;
    w->rate = w->vdot + copies * nv;
    w->qdot = w->rate + 2 * nv;
    return LW_OK;
}

// The states of all copies: the scene's own, or the batch's.
static lw_status set_states(work *w, const lw_model *model, const scene_case *of)
{
    const size_t nv = (size_t)w->nv;
    uint64_t draws = 99;
    double *q = calloc(3 * nv, sizeof *q), *v = q + nv, *tau = v + nv;
    lw_status status = q ? LW_OK : LW_ERR_MEMORY;
    for (int i = 0; i < w->copies && status == LW_OK; i++) {
        const int at = i * w->nv;
        if (of->work == SCENE_BATCH)
            scene_batch_state(&draws, w->nv, q, v, tau);
        else
            scene_state(of->kind, w->body, w->nbody, q, v, tau);
        status = scene_place(model, w->body, w->nbody, q, v, tau, w->q + i * w->nq, w->v + at,
                             w->tau + at);
        if (status == LW_OK)
            status = lw_momenta(w->dynamics, 0, w->q + i * w->nq, w->v + at, w->p + at);
    }
    free(q);
    return status;
}

static lw_status prepare(work *w, const scene_case *of, const lw_model *model, lw_error *error)
{
    lw_status status = allocate(w, model);
    w->nbody = scene_size(of->kind, of->n);
    w->body = calloc((size_t)w->nbody, sizeof *w->body);
    if (status != LW_OK || !w->body) return LW_ERR_MEMORY;
    scene_fill(of->kind, of->n, w->body);
    status = lw_dynamics_create(model, NULL, &w->dynamics, error);
    return status == LW_OK ? set_states(w, model, of) : status;
}

// Accelerations in the order of the scene's joints, a free base left out.
static lw_status in_scene_order(const work *w, const lw_model *model, const double *vdot, double *a,
                                int *count)
{
    *count = 0;
    for (int i = 0; i < w->nbody; i++) {
        int q, nq, v, nv;
        const lw_status status = lw_model_joint_tree(model, (lw_joint){i}, &q, &nq, &v, &nv);
        if (status != LW_OK) return status;
        for (int k = 0; k < nv && w->body[i].joint != SCENE_FREE; k++) a[(*count)++] = vdot[v + k];
    }
    return LW_OK;
}

static lw_status digest(const work *w, const lw_model *model, scene_digest *all)
{
    double *a = calloc((size_t)w->nv, sizeof *a);
    lw_status status = a ? LW_OK : LW_ERR_MEMORY;
    for (int i = 0; i < w->copies && status == LW_OK; i++) {
        int n = 0;
        status = in_scene_order(w, model, w->vdot + i * w->nv, a, &n);
        if (status != LW_OK) break;
        const scene_digest one = scene_digest_of(a, n);
        if (!i) *all = (scene_digest){.first = one.first};
        all->sum += one.sum;
        all->max = all->max > one.max ? all->max : one.max;
        all->last = one.last;
    }
    free(a);
    return status;
}

static lw_status measure(work *w, const lw_model *model, bench_budget budget, const method *m,
                         bench_result *result)
{
    pass both = {w, m};
    lw_status status = (lw_status)stopwatch_measure(run_pass, &both, budget.seconds, budget.samples,
                                                    &result->time);
    if (status != LW_OK) return status;
    result->method = m->name;
    result->bodies = w->nbody;
    result->time.min /= w->copies;
    result->time.median /= w->copies;
    result->has_digest = m->accelerations;
    return m->accelerations ? digest(w, model, &result->digest) : LW_OK;
}

// ---------------------------------------------------------------------------------- compiled code

enum { ROWS = 64 }; // states of `compiled:many`, all the same

typedef struct rows {
    const lw_compiled *compiled;
    int n;
    double *q, *v, *tau, *vdot; ///< [n] of the scene's state
} rows;

static int run_one(void *user)
{
    const rows *r = user;
    return (int)lw_compiled_forward_dynamics(r->compiled, r->q, r->v, r->tau, r->vdot);
}

static int run_many(void *user)
{
    const rows *r = user;
    return (int)lw_compiled_forward_dynamics_many(r->compiled, r->n, r->q, r->v, r->tau, r->vdot,
                                                  NULL);
}

static lw_status time_rows(const work *w, const lw_model *model, const rows *r, const char *name,
                           bench_budget budget, bench_result *result)
{
    const bool many = r->n > 1;
    rows timed = *r;
    lw_status status = (lw_status)stopwatch_measure(many ? run_many : run_one, &timed,
                                                    budget.seconds, budget.samples, &result->time);
    if (status != LW_OK) return status;
    result->method = name;
    result->bodies = w->nbody;
    result->time.min /= r->n;
    result->time.median /= r->n;
    result->has_digest = true;
    memcpy(w->vdot, r->vdot + (r->n - 1) * w->nv, (size_t)w->nv * sizeof *w->vdot);
    return digest(w, model, &result->digest);
}

// One state by compiled code, and many in lanes.   @param result  [2] out
static lw_status measure_compiled(const work *w, const lw_model *model, bench_budget budget,
                                  bench_result *result, lw_error *error)
{
    const size_t nq = (size_t)w->nq, nv = (size_t)w->nv;
    lw_compiled *compiled = NULL;
    const double before = stopwatch_children();
    lw_status status = lw_compiled_create(model, NULL, &compiled, error);
    const double compiling = stopwatch_children() - before;
    double *q = calloc(ROWS * (nq + 3 * nv), sizeof *q);
    if (!q && status == LW_OK) status = LW_ERR_MEMORY;
    if (status == LW_OK) {
        rows r = {compiled, 1, q, q + ROWS * nq, q + ROWS * (nq + nv), q + ROWS * (nq + 2 * nv)};
        for (size_t i = 0; i < ROWS; i++) {
            memcpy(r.q + i * nq, w->q, nq * sizeof *q);
            memcpy(r.v + i * nv, w->v, nv * sizeof *q);
            memcpy(r.tau + i * nv, w->tau, nv * sizeof *q);
        }
        status = time_rows(w, model, &r, "compiled", budget, &result[0]);
        r.n = ROWS;
        if (status == LW_OK) status = time_rows(w, model, &r, "compiled:many", budget, &result[1]);
        result[0].compiling = result[1].compiling = compiling;
    }
    free(q);
    lw_compiled_destroy(compiled);
    return status;
}

lw_status bench_evaluations(const scene_case *of, bench_budget budget, bench_result *results,
                            int *count, lw_error *error)
{
    lw_model *model = NULL;
    work w = {.copies = of->work == SCENE_BATCH ? SCENE_COPIES : 1};
    lw_status status = scene_model(of->kind, of->n, &model, error);
    if (status == LW_OK) status = prepare(&w, of, model, error);
    *count = 0;
    for (int i = 0; i < NMETHOD && status == LW_OK; i++) {
        if (!methods[i].evaluate && w.copies == 1) continue;
        if (methods[i].closed != (scene_loops(of->kind, of->n) > 0)) continue;
        results[*count] = (bench_result){.of = of};
        status = measure(&w, model, budget, &methods[i], &results[*count]);
        if (status == LW_OK) ++*count;
    }
    if (status == LW_OK && budget.compiled && w.copies == 1) {
        results[*count] = results[*count + 1] = (bench_result){.of = of};
        status = measure_compiled(&w, model, budget, &results[*count], error);
        if (status == LW_OK) *count += 2;
    }
    lw_dynamics_destroy(w.dynamics);
    free(w.body);
    free(w.q);
    lw_model_destroy(model);
    return status;
}
