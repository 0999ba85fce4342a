// bench_rates.c -- times rates of the state of long paths by formulations, on one thread or several.
#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct work {
    lw_sim *sim;
    double *xdot; ///< [state size]
} work;

static const struct method {
    const char *formulation;
    bool closed; ///< also for mechanisms with loops
} methods[] = {{"aba", false}, {"momenta", false}, {"hdca", true}, {"dca", true}};

enum { NMETHOD = sizeof methods / sizeof methods[0] };

static int evaluate(void *user)
{
    const work *w = user;
    return (int)lw_sim_rates(w->sim, w->xdot);
}

static lw_status set_state(lw_sim *sim, const scene_case *of, const scene_body *body)
{
    const int n = scene_size(of->kind, of->n), dof = scene_dof(body, n);
    const lw_model *model = lw_sim_model(sim);
    const int nq = lw_model_nq(model), nv = lw_model_nv(model);
    double *room = calloc((size_t)(3 * dof + nq + nv), sizeof *room);
    if (!room) return LW_ERR_MEMORY;
    double *v = room + dof, *tau = v + dof, *q = tau + dof, *qd = q + nq;
    scene_state(of->kind, body, n, room, v, tau);
    scene_place_joints(model, body, n, room, v, q, qd);
    const lw_status status = lw_sim_set_joints(sim, 0, q, qd);
    free(room);
    return status;
}

// Accelerations in the order of the scene's joints.
static lw_status digest(lw_sim *sim, const scene_body *body, int nbody, scene_digest *found)
{
    const lw_observation *o;
    const lw_status status = lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o);
    if (status != LW_OK) return status;
    double *a = calloc((size_t)scene_dof(body, nbody), sizeof *a);
    if (!a) return LW_ERR_MEMORY;
    int n = 0;
    for (int i = 0; i < nbody; i++) {
        const lw_joint_info joint = lw_model_joint(lw_sim_model(sim), (lw_joint){i});
        for (int k = 0; k < joint.nv; k++) a[n++] = o->qdd[joint.v_first + k];
    }
    *found = scene_digest_of(a, n);
    free(a);
    return LW_OK;
}

static lw_status create(const lw_model *model, const char *formulation, int threads, lw_sim **sim,
                        lw_error *error)
{
    lw_options options;
    lw_options_default(&options);
    options.threads = threads;
    const lw_status status = lw_options_set(&options, "formulation", formulation, error);
    return status == LW_OK ? lw_sim_create(model, &(lw_sim_desc){.options = &options}, sim, error)
                           : status;
}

static lw_status measure(const lw_model *model, const scene_body *body, bench_budget budget,
                         const char *formulation, bench_result *result, lw_error *error)
{
    work w = {0};
    lw_status status = create(model, formulation, budget.threads, &w.sim, error);
    if (status != LW_OK) return status;
    status = set_state(w.sim, result->of, body);
    w.xdot = calloc((size_t)lw_sim_state_size(w.sim) + 1, sizeof *w.xdot);
    if (!w.xdot) status = LW_ERR_MEMORY;
    if (status == LW_OK)
        status = (lw_status)stopwatch_measure_by(budget.threads > 1 ? stopwatch_wall : stopwatch,
                                                 evaluate, &w, budget.seconds, budget.samples,
                                                 &result->time);
    if (status == LW_OK) status = digest(w.sim, body, result->bodies, &result->digest);
    result->method = formulation;
    result->has_digest = true;
    if (status != LW_OK) *error = *lw_sim_error(w.sim);
    lw_sim_destroy(w.sim);
    free(w.xdot);
    return status;
}

lw_status bench_rates(const scene_case *of, bench_budget budget, bench_result *results, int *count,
                      lw_error *error)
{
    const int nbody = scene_size(of->kind, of->n);
    lw_model *model = NULL;
    scene_body *body = calloc((size_t)nbody, sizeof *body);
    lw_status status = body ? scene_model(of->kind, of->n, &model, error) : LW_ERR_MEMORY;
    *count = 0;
    if (status == LW_OK) scene_fill(of->kind, of->n, body);
    for (int i = 0; i < NMETHOD && status == LW_OK; i++) {
        if (scene_loops(of->kind, of->n) && !methods[i].closed) continue;
        results[*count] = (bench_result){.of = of, .bodies = nbody};
        status = measure(model, body, budget, methods[i].formulation, &results[*count], error);
        if (status == LW_OK) ++*count;
    }
    lw_model_destroy(model);
    free(body);
    return status;
}
