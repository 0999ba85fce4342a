// bench_drop.c -- times a simulation: a chain of spherical joints falls for ten seconds.
//
// Fixed steps, as the drivers of other libraries do with theirs; energies are taken 100 times on
// the way, which is part of the time.  By aba: rk4 on momenta diverges on such chains (a step's
// error in the coordinates meets momenta that no longer fit them, times the condition of the mass
// matrix).
#include "cli/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double duration = 10; // [s]

typedef struct drop {
    const lw_model *model;
    const scene_case *of;
    lw_options options;
    lw_error error;
    double energy_error, tip;
} drop;

typedef struct row_statistics {
    int rows, last; ///< seen; index of the last body
    double first, drift, kinetic, tip;
} row_statistics;

static lw_status on_row(void *user, const lw_observation *o)
{
    row_statistics *w = user;
    const double energy = o->kinetic + o->potential;
    if (!w->rows++) w->first = energy;
    w->drift = fmax(w->drift, fabs(energy - w->first));
    w->kinetic = fmax(w->kinetic, o->kinetic);
    const double *e = o->quaternion[w->last];
    // the free end is half a rod beyond the mass centre: third row of R times (1/2, 0, 0)
    w->tip = o->position[w->last][2] + (e[1] * e[3] - e[0] * e[2]);
    return LW_OK;
}

// The scene's state; the order of the model's joints is that of the scene's bodies.
static lw_status set_start(lw_sim *sim, const drop *f)
{
    const int n = f->of->n;
    const size_t size = (size_t)n;
    scene_body *body = calloc(size, sizeof *body);
    double *room = calloc((4 + 3 * 3) * size, sizeof *room);
    lw_status status = LW_ERR_MEMORY;
    if (body && room) {
        double *q = room, *v = q + 4 * n, *tau = v + 3 * n, *angles = tau + 3 * n;
        scene_fill(f->of->kind, n, body);
        scene_state(f->of->kind, body, n, angles, v, tau);
        for (int i = 0; i < n; i++) q[4 * i] = 1;
        status = lw_sim_set_joints(sim, 0, q, v);
    }
    free(room);
    free(body);
    return status;
}

static int run(void *user)
{
    drop *f = user;
    lw_sim *sim = NULL;
    row_statistics w = {.last = f->of->n};
    lw_status status =
        lw_sim_create(f->model, &(lw_sim_desc){.options = &f->options}, &sim, &f->error);
    if (status != LW_OK) return (int)status;
    status = set_start(sim, f);
    if (status == LW_OK) status = lw_sim_run(sim, LW_OBSERVE_ENERGY, on_row, &w, NULL, NULL);
    if (status != LW_OK) f->error = *lw_sim_error(sim);
    f->energy_error = w.drift / w.kinetic;
    f->tip = w.tip;
    lw_sim_destroy(sim);
    return (int)status;
}

// A drop takes seconds: one sample unless asked for more, and no warming.
static lw_status measure(drop *f, int samples, timing *time)
{
    enum { MOST = 9 };
    double seen[MOST];
    const int n = samples < 1 ? 1 : samples > MOST ? MOST : samples;
    for (int i = 0; i < n; i++) {
        const double start = stopwatch();
        const lw_status status = (lw_status)run(f);
        if (status != LW_OK) return status;
        double took = (stopwatch() - start) / duration;
        for (int k = 0; k < i; k++) // insert in order
            if (took < seen[k]) {
                const double later = seen[k];
                seen[k] = took, took = later;
            }
        seen[i] = took;
    }
    *time = (timing){n, seen[0], seen[n / 2]};
    return LW_OK;
}

static lw_status set_options(lw_options *options, lw_error *error)
{
    static const char *const settings[][2] = {{"formulation", "aba"},
                                              {"integrator", "rk4"},
                                              {"step", "0.005"},
                                              {"sample", "0.1"},
                                              {"duration", "10"}};
    lw_options_default(options);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const lw_status status = lw_options_set(options, settings[i][0], settings[i][1], error);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

lw_status bench_drop(const scene_case *of, bench_budget budget, bench_result *result,
                     lw_error *error)
{
    lw_model *model = NULL;
    drop f = {.of = of};
    *result = (bench_result){.of = of, .method = "aba:rk4", .bodies = of->n};
    lw_status status = set_options(&f.options, error);
    if (status == LW_OK) status = scene_model(of->kind, of->n, &model, error);
    f.model = model;
    if (status == LW_OK && (status = measure(&f, budget.samples, &result->time)) != LW_OK)
        *error = f.error;
    result->energy_error = f.energy_error;
    result->tip = f.tip;
    lw_model_destroy(model);
    return status;
}
