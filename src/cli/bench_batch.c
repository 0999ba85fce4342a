// bench_batch.c -- times a batch: evaluations of 4096 arms in lanes, in the order of rk4.
//
// The integrator's own work is part of the time (aba:many of bench_evaluation.c has none of it).
// Efforts are zero, which costs the same.  One thread.
#include "cli/bench.h"

#include <linkwork/batch.h>

#include <stdlib.h>

static const double step = 1e-4; // [s]: the arms keep near their states
enum { STEPS = 5, STAGES = 4 };  // of one sample

typedef struct work {
    lw_batch *batch;
    int taken; ///< samples
} work;

static int run(void *user)
{
    work *w = user;
    return (int)lw_batch_step(w->batch, ++w->taken * STEPS * step);
}

static lw_status set_states(lw_batch *batch, int n)
{
    uint64_t draws = 99;
    double *q = calloc(3 * (size_t)n, sizeof *q);
    lw_status status = q ? LW_OK : LW_ERR_MEMORY;
    for (int i = 0; i < SCENE_COPIES && status == LW_OK; i++) {
        scene_batch_state(&draws, n, q, q + n, q + 2 * n);
        status = lw_batch_set_joints(batch, i, 0, q, q + n);
    }
    free(q);
    return status;
}

static lw_status create(const lw_model *model, lw_batch **batch, lw_error *error)
{
    lw_options options;
    lw_options_default(&options);
    lw_status status = lw_options_set(&options, "formulation", "aba", error);
    if (status == LW_OK) status = lw_options_set(&options, "integrator", "rk4", error);
    options.step = step;
    const lw_batch_desc desc = {.options = &options, .instances = SCENE_COPIES, .threads = 1};
    return status == LW_OK ? lw_batch_create(model, &desc, batch, error) : status;
}

lw_status bench_batch(const scene_case *of, bench_budget budget, bench_result *result,
                      lw_error *error)
{
    lw_model *model = NULL;
    work w = {0};
    *result = (bench_result){.of = of, .method = "batch:rk4", .bodies = of->n};
    lw_status status = scene_model(of->kind, of->n, &model, error);
    if (status == LW_OK) status = create(model, &w.batch, error);
    if (status == LW_OK) status = set_states(w.batch, of->n);
    if (status == LW_OK)
        status =
            (lw_status)stopwatch_measure(run, &w, budget.seconds, budget.samples, &result->time);
    if (w.batch && status != LW_OK && !error->text[0]) *error = *lw_batch_error(w.batch);
    const double evaluations = (double)SCENE_COPIES * STEPS * STAGES;
    result->time.min /= evaluations;
    result->time.median /= evaluations;
    lw_batch_destroy(w.batch);
    lw_model_destroy(model);
    return status;
}
