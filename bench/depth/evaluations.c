// evaluations.c -- benchmark: evaluations of one model on several threads, to be counted by depth.py.
//
// usage: bench_depth MODEL FORMULATION PLAN THREADS TIMES [STEP | row]
//
// TIMES evaluations of the rates at the start, or of formulations with their own step (index3) steps of STEP seconds
// (0.001) from there, after one more; with `row` rows of results at the start, with all reactions.
// Under valgrind --tool=callgrind --instr-atstart=no only the TIMES are counted.  Without it: the least time of an evaluation [ns].
#include "kinematics/formulation.h"

#include <linkwork/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_STOP_INSTRUMENTATION (void)0
#endif

static void stop(const char *why)
{
    fprintf(stderr, "bench_depth: %s\n", why);
    exit(1);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static lw_plan plan_of(const char *name)
{
#define X(upper, lower)                                                                            \
    if (!strcmp(name, lower)) return LW_PLAN_##upper;
    LW_PLAN_LIST(X)
#undef X
    stop("no such plan");
    return LW_PLAN_AUTO;
}

static lwi_work *prepare(const lw_model *model, const char *name, lw_options *options)
{
    const lwi_formulation *formulation = lwi_formulation_find(name);
    lwi_work *work;
    lw_error error;
    if (!formulation) stop("no such formulation");
    if (lwi_work_create_options(model, formulation, NULL, 0, options, &work, &error) != LW_OK)
        stop(error.text);
    return work;
}

// The state of the model's start.
static void enter(const lw_model *model, lwi_work *work, lwi_snapshot *snapshot, double *x)
{
    lwi_snapshot_start(model, snapshot);
    if (work->formulation->enter(work, snapshot, x) != LW_OK) stop(work->error.text);
}

// @param step  0: a row
static void evaluate(lwi_work *work, int i, double step, double *x, lwi_snapshot *snapshot)
{
    const lwi_formulation *of = work->formulation;
    const lw_status status = step == 0
                                 ? of->observe(work, 0, x, NULL, LW_OBSERVE_REACTION, snapshot)
                             : of->step ? of->step(work, step * i, step, x, NULL)
                                        : of->rates(work, 0, x, NULL, x + work->layout.nx);
    if (status != LW_OK) stop(work->error.text);
}

int main(int argc, char **argv)
{
    lw_model *model;
    lw_options options;
    lw_error error;
    lwi_arena arena;
    lwi_snapshot snapshot;
    if (argc < 6 || argc > 7)
        stop("usage: bench_depth MODEL FORMULATION PLAN THREADS TIMES [STEP | row]");
    const double step = argc < 7 ? 1e-3 : strcmp(argv[6], "row") ? atof(argv[6]) : 0;
    lw_options_default(&options);
    if (lw_model_read(argv[1], NULL, &model, &options, &error) != LW_OK) stop(error.text);
    options.plan = plan_of(argv[3]);
    options.threads = atoi(argv[4]);
    lwi_work *work = prepare(model, argv[2], &options);
    double *x = calloc((size_t)(2 * work->layout.nx), sizeof *x), best = 1e30;
    lwi_arena_init(&arena, NULL);
    if (!x || lwi_snapshot_create(model, &arena, &snapshot) != LW_OK) stop("no memory");
    enter(model, work, &snapshot, x);
    evaluate(work, 0, step, x, &snapshot);
    CALLGRIND_START_INSTRUMENTATION;
    for (int i = 1; i <= atoi(argv[5]); i++) {
        const double before = seconds();
        evaluate(work, i, step, x, &snapshot);
        const double took = seconds() - before;
        best = took < best ? took : best;
    }
    CALLGRIND_STOP_INSTRUMENTATION;
    printf("%.0f\n", 1e9 * best);
    lwi_work_destroy(work);
    lw_model_destroy(model);
    lwi_arena_free(&arena);
    free(x);
    return 0;
}
