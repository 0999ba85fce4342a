// runs.c -- where runs of a chain win: accelerations of the benchmark's chains in one recursion, in
// four and in eight runs, in turns, ns per body.  The thresholds of plan.h come from here.
//
// usage: bench_runs [WIDTH]    kernels of that width (4, 8), else the widest
#include "cli/scene_model.h"
#include "cli/stopwatch.h"
#include "kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 150, BODIES = 3000 }; // evaluations of a turn are about so many bodies

static void stop(const char *what)
{
    fprintf(stderr, "runs: %s\n", what);
    exit(1);
}

static void measure(int n, int width, double least[3])
{
    static const int runs[3] = {0, 4, 8};
    lw_model *model;
    lw_error error = {.text = ""};
    lwi_arena arena;
    lwi_kernel *kernel[3];
    scene_body *body = calloc((size_t)n, sizeof *body);
    double *q = calloc(4 * (size_t)n, sizeof *q), *v = q + n, *tau = v + n, *out = tau + n;
    if (!body || !q || scene_model(SCENE_CHAIN, n, &model, &error) != LW_OK) stop(error.text);
    scene_fill(SCENE_CHAIN, n, body);
    scene_state(body, n, q, v, tau);
    lwi_arena_init(&arena, NULL);
    for (int r = 0; r < 3; r++) {
        if (lwi_kernel_create_runs(model, width, runs[r], &arena, &kernel[r]) != LW_OK ||
            !kernel[r])
            stop("no kernel");
        least[r] = 1e30;
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int r = 0; r < 3; r++) {
            const int times = BODIES / n + 1;
            const double start = stopwatch();
            for (int i = 0; i < times; i++)
                if (!lwi_kernel_aba(kernel[r], q, v, tau, out)) stop("the kernel is in doubt");
            const double took = (stopwatch() - start) / times / n;
            if (took < least[r]) least[r] = took;
        }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    free(q);
    free(body);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {32, 64, 96, 128, 160, 192, 256, 384, 512, 1024};
    const int width = argc > 1 ? atoi(argv[1]) : 0;
    const lwi_kernels *kernels = lwi_kernels_of(width);
    if (!kernels) stop("this machine has no such kernels");
    printf("%s, ns per body\n    n   uncut  4 runs  8 runs\n", kernels->name);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double least[3];
        measure(sizes[i], width, least);
        printf("%5d  %6.1f  %6.1f  %6.1f\n", sizes[i], 1e9 * least[0], 1e9 * least[1],
               1e9 * least[2]);
    }
    return 0;
}
