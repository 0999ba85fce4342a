// bench_run.c -- times whole runs by several integrators and tolerances, and compares where they end: work and precision.
//
// From the scene's state, without efforts, to scene_duration; creation of the simulation is left out, everything that a run
// does between its steps is in.  The formulation is that of `auto`; with compiled rates `aba` or, with loops, `rcr`.
// Trees are run by momenta, too.
#include "cli/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double tolerances[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12};

enum { NTOLERANCE = sizeof tolerances / sizeof tolerances[0] };

static const struct method {
    const char *name, *integrator, *key; // the option that the settings are of
    const double *setting;
    int n;
    enum { AUTO, MOMENTA, COMPILED } by; // MOMENTA: of trees
} methods[] = {{"dopri5", "dopri5", "rtol", tolerances, NTOLERANCE, AUTO},
               {"dopri54", "dopri54", "rtol", tolerances, NTOLERANCE, AUTO},
               {"verner87", "verner87", "rtol", tolerances, NTOLERANCE, AUTO},
               {"rk4", "rk4", "step", scene_steps, SCENE_STEPS, AUTO},
               {"rk4:momenta", "rk4", "step", scene_steps, SCENE_STEPS, MOMENTA},
               {"dopri5:compiled", "dopri5", "rtol", tolerances, NTOLERANCE, COMPILED},
               {"dopri54:compiled", "dopri54", "rtol", tolerances, NTOLERANCE, COMPILED},
               {"verner87:compiled", "verner87", "rtol", tolerances, NTOLERANCE, COMPILED},
               {"rk4:compiled", "rk4", "step", scene_steps, SCENE_STEPS, COMPILED}};

enum { NMETHOD = sizeof methods / sizeof methods[0] };

typedef struct work {
    lw_sim *sim;
    lw_compiled *compiled; ///< NULL: only the library's formulations are timed
    double compiling;
    scene_body *body;
    int nbody;
    double end;
    double *q, *v; ///< start [tree nq], [tree nv]
} work;

static int run(void *user)
{
    const work *w = user;
    const lw_status status = lw_sim_set_tree(w->sim, 0, w->q, w->v);
    return (int)(status == LW_OK ? lw_sim_step(w->sim, w->end) : status);
}

static lw_status prepare(work *w, const scene_case *of, const lw_model *model)
{
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    w->nbody = scene_size(of->kind, of->n);
    w->end = scene_duration(of->kind, of->n);
    w->body = calloc((size_t)w->nbody, sizeof *w->body);
    w->q = calloc((size_t)(nq + 5 * nv), sizeof *w->q);
    if (!w->body || !w->q) return LW_ERR_MEMORY;
    w->v = w->q + nq;
    double *q = w->v + nv, *v = q + nv, *tau = v + nv;
    scene_fill(of->kind, of->n, w->body);
    scene_state(of->kind, w->body, w->nbody, q, v, tau);
    return scene_place(model, w->body, w->nbody, q, v, tau, w->q, w->v, tau + nv);
}

// Angles of hinges and universal joints at the end, in the scene's order.
static lw_status end_of(const work *w, scene_digest *digest)
{
    const lw_model *model = lw_sim_model(w->sim);
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    double *q = calloc((size_t)(2 * nq + nv), sizeof *q);
    if (!q) return LW_ERR_MEMORY;
    double *angle = q + nq + nv;
    int n = 0;
    lw_status status = lw_sim_get_tree(w->sim, q, q + nq);
    for (int i = 0; i < w->nbody && status == LW_OK; i++) {
        int at, count, v_at, v_count;
        status = lw_model_joint_tree(model, (lw_joint){i}, &at, &count, &v_at, &v_count);
        for (int k = 0; k < count && w->body[i].joint <= SCENE_UNIVERSAL; k++)
            angle[n++] = q[at + k];
    }
    *digest = scene_digest_of(angle, n);
    free(q);
    return status;
}

static lw_status create(const lw_model *model, const struct method *m, double setting, lw_sim **sim,
                        lw_error *error)
{
    lw_options options;
    char text[32];
    lw_options_default(&options);
    snprintf(text, sizeof text, "%g", setting);
    lw_status status = lw_options_set(&options, "integrator", m->integrator, error);
    if (status == LW_OK) status = lw_options_set(&options, m->key, text, error);
    if (status == LW_OK && m->setting == tolerances)
        status = lw_options_set(&options, "atol", text, error);
    if (status == LW_OK && m->by == MOMENTA)
        status = lw_options_set(&options, "formulation", "momenta", error);
    if (status == LW_OK && m->by == COMPILED)
        status = lw_options_set(&options, "formulation",
                                lw_model_loop_count(model) > 0 ? "rcr" : "aba", error);
    if (status != LW_OK) return status;
    return lw_sim_create(model, &(lw_sim_desc){.options = &options}, sim, error);
}

static lw_status measure(work *w, const lw_model *model, const struct method *m, double setting,
                         bench_budget budget, bench_result *result, lw_error *error)
{
    lw_status status = create(model, m, setting, &w->sim, error);
    if (status != LW_OK) return status;
    if (m->by == COMPILED) status = lw_sim_use_compiled(w->sim, w->compiled);
    if (status == LW_OK)
        status =
            (lw_status)stopwatch_measure(run, w, budget.seconds, budget.samples, &result->time);
    if (status == LW_OK) status = end_of(w, &result->digest);
    result->has_digest = true;
    if (m->by == COMPILED) result->compiling = w->compiling;
    if (status != LW_OK) *error = *lw_sim_error(w->sim);
    lw_sim_destroy(w->sim);
    return status;
}

// Fixed steps that are too long end nowhere: such a run is left out.
static bool is_finite(const scene_digest *d)
{
    return isfinite(d->sum) && isfinite(d->max);
}

static bool takes_part(const work *w, const lw_model *model, const struct method *m)
{
    if (m->by == MOMENTA) return lw_model_loop_count(model) == 0;
    return m->by == AUTO || w->compiled;
}

lw_status bench_run(const scene_case *of, bench_budget budget, bench_result *results, int *count,
                    lw_error *error)
{
    lw_model *model = NULL;
    work w = {0};
    lw_status status = scene_model(of->kind, of->n, &model, error);
    if (status == LW_OK) status = prepare(&w, of, model);
    const double before = stopwatch_children();
    if (status == LW_OK && budget.compiled)
        status = lw_compiled_create(model, &(lw_compiled_desc){.lanes = 1, .rates_only = true},
                                    &w.compiled, error);
    w.compiling = stopwatch_children() - before;
    *count = 0;
    for (int m = 0; m < NMETHOD && status == LW_OK; m++)
        for (int i = 0; i < methods[m].n && status == LW_OK && takes_part(&w, model, &methods[m]);
             i++) {
            bench_result *r = &results[*count];
            *r = (bench_result){.of = of,
                                .bodies = w.nbody,
                                .method = methods[m].name,
                                .setting = methods[m].setting[i]};
            status = measure(&w, model, &methods[m], r->setting, budget, r, error);
            const bool diverged = methods[m].setting == scene_steps && status != LW_OK;
            if (diverged) status = LW_OK;
            if (status == LW_OK && !diverged && is_finite(&r->digest)) ++*count;
        }
    lw_compiled_destroy(w.compiled);
    lw_model_destroy(model);
    free(w.body);
    free(w.q);
    return status;
}
