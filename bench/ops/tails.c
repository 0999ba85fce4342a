// tails.c -- where long limbs are better in runs: trees of equal tails on a free body, swept one
// body after the other, side by side and in eight runs, in turns, ns per body.  What limbs.c and
// plan.h say of tails comes from here.
//
// usage: bench_tails [WIDTH]    kernels of that width (4, 8), else the widest
#include "cli/scene_model.h"
#include "cli/stopwatch.h"
#include "kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 100, BODIES = 3000 }; // evaluations of a turn are about so many bodies

static void stop(const char *what)
{
    fprintf(stderr, "tails: %s\n", what);
    exit(1);
}

static void *zeros(int count, size_t size)
{
    void *block = calloc((size_t)count, size);
    if (!block) stop("no memory");
    return block;
}

// A free body with tails of rods, axes x, y, z in turn.
static scene_body *tree(int tails, int length)
{
    scene_body *body = zeros(1 + tails * length, sizeof *body);
    body[0] = (scene_body){.parent = -1, .joint = SCENE_FREE, .mass = 10, .inertia = {1, 1, 1}};
    for (int r = 0; r < tails; r++)
        for (int j = 0; j < length; j++)
            body[1 + r * length + j] = (scene_body){.parent = j ? r * length + j : 0,
                                                    .joint = SCENE_REVOLUTE,
                                                    .axis = j % 3,
                                                    .at = {j ? 0.3 : 0, j ? 0 : 0.1 * r, 0},
                                                    .mass = 1,
                                                    .com = {0.15, 0, 0},
                                                    .inertia = {0.001, 0.01, 0.01}};
    return body;
}

typedef bool evaluation(const lwi_kernel *kernel, const double *q, const double *v, double *out);

static bool accelerations(const lwi_kernel *kernel, const double *q, const double *v, double *out)
{
    return lwi_kernel_aba(kernel, q, v, NULL, out);
}
static bool rates(const lwi_kernel *kernel, const double *q, const double *v, double *out)
{
    return lwi_kernel_momenta(kernel, q, v, out, out + 6 + kernel->plan->nstep);
}

enum { WAYS = 3 };
static const lwi_k_choice choices[WAYS] = {{0, 0}, {0, 2}, {8, 0}};

// Seconds of one evaluation, least of all turns.
static void measure(evaluation *evaluate, int tails, int length, int width, double least[WAYS])
{
    const int n = 1 + tails * length, nv = n + 5;
    lw_model *model;
    lw_error error = {.text = ""};
    lwi_arena arena;
    lwi_kernel *kernel[WAYS];
    scene_body *body = tree(tails, length);
    double *q = zeros(5 * nv + 20, sizeof *q), *v = q + nv + 1, *tau = v + nv, *out = tau + nv;
    double *drawn = zeros(3 * nv, sizeof *drawn);
    if (scene_model_of(body, n, &model, &error) != LW_OK) stop(error.text);
    scene_state(body, n, drawn, drawn + nv, drawn + 2 * nv);
    if (scene_place(model, body, n, drawn, drawn + nv, drawn + 2 * nv, q, v, tau) != LW_OK)
        stop("no place");
    lwi_arena_init(&arena, NULL);
    for (int way = 0; way < WAYS; way++) {
        if (lwi_kernel_create_chosen(model, width, choices[way], &arena, &kernel[way]) != LW_OK ||
            !kernel[way])
            stop("no kernel");
        least[way] = 1e30;
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < WAYS; way++) {
            const int times = BODIES / n + 1;
            const double start = stopwatch();
            for (int i = 0; i < times; i++)
                if (!evaluate(kernel[way], q, v, out)) stop("the kernel is in doubt");
            const double took = (stopwatch() - start) / times / n;
            if (took < least[way]) least[way] = took;
        }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    free(drawn);
    free(q);
    free(body);
}

static void table(const char *name, evaluation *evaluate, int width)
{
    static const int lengths[] = {128, 192, 256, 384, 512, 1024};
    printf("%s, ns per body: one after the other, side by side, in eight runs\ntails of:", name);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) printf("%18d", lengths[k]);
    printf("\n");
    for (int tails = 1; tails <= 5; tails++) {
        printf("%9d", tails);
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            double least[WAYS];
            measure(evaluate, tails, lengths[k], width, least);
            printf("   %5.1f", 1e9 * least[0]);
            if (tails > 1)
                printf("%5.1f", 1e9 * least[1]);
            else
                printf("    -");
            printf("%5.1f", 1e9 * least[2]);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    const int width = argc > 1 ? atoi(argv[1]) : 0;
    const lwi_kernels *kernels = lwi_kernels_of(width);
    if (!kernels) stop("this machine has no such kernels");
    printf("%s\n", kernels->name);
    table("aba", accelerations, width);
    table("momenta", rates, width);
    return 0;
}
