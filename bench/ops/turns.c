// turns.c -- timing of an evaluation by several kernels that alternate.
#include "turns.h"

#include "cli/stopwatch.h"

#include <stdio.h>
#include <stdlib.h>

void turns_stop(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

void *turns_zeros(int count, size_t size)
{
    void *block = calloc((size_t)count, size);
    if (!block) turns_stop("no memory");
    return block;
}

bool turns_accelerations(const lwi_kernel *kernel, const double *q, const double *v, double *out)
{
    return lwi_kernel_aba(kernel, q, v, NULL, out);
}

bool turns_rates(const lwi_kernel *kernel, const double *q, const double *v, double *out)
{
    return lwi_kernel_momenta(kernel, q, v, out, out + 6 + kernel->plan->nstep);
}

static scene_body *tree(int branches, int length)
{
    scene_body *body = turns_zeros(1 + branches * length, sizeof *body);
    body[0] = (scene_body){.parent = -1, .joint = SCENE_FREE, .mass = 10, .inertia = {1, 1, 1}};
    for (int r = 0; r < branches; r++)
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

// Seconds per evaluation by a kernel, mean of a round.
static double turn(turns plan, turns_evaluation *evaluate, const lwi_kernel *kernel, int n,
                   const double *q, const double *v, double *out)
{
    const int times = plan.bodies / n + 1;
    const double start = stopwatch();
    for (int i = 0; i < times; i++)
        if (!evaluate(kernel, q, v, out)) turns_stop("the kernel is in doubt");
    return (stopwatch() - start) / times;
}

void turns_branches(turns plan, turns_evaluation *evaluate, int branches, int length, int width,
                    int nway, const lwi_k_choice *choice, double *least)
{
    const int n = 1 + branches * length, nv = n + 5;
    lw_model *model;
    lw_error error = {.text = ""};
    lwi_arena arena;
    lwi_kernel **kernel = turns_zeros(nway, sizeof *kernel);
    scene_body *body = tree(branches, length);
    double *q = turns_zeros(5 * nv + 20, sizeof *q), *v = q + nv + 1, *tau = v + nv,
           *out = tau + nv;
    double *drawn = turns_zeros(3 * nv, sizeof *drawn);
    if (scene_model_of(body, n, &model, &error) != LW_OK) turns_stop(error.text);
    scene_state(SCENE_TAIL, body, n, drawn, drawn + nv, drawn + 2 * nv);
    if (scene_place(model, body, n, drawn, drawn + nv, drawn + 2 * nv, q, v, tau) != LW_OK)
        turns_stop("no place");
    lwi_arena_init(&arena, NULL);
    for (int way = 0; way < nway; way++) {
        if (lwi_kernel_create_chosen(model, width, choice[way], &arena, &kernel[way]) != LW_OK ||
            !kernel[way])
            turns_stop("no kernel");
        least[way] = 1e30;
    }
    for (int i = 0; i < plan.count; i++)
        for (int way = 0; way < nway; way++) {
            const double took = turn(plan, evaluate, kernel[way], n, q, v, out);
            if (took < least[way]) least[way] = took;
        }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    free(drawn);
    free(q);
    free(body);
    free((void *)kernel);
}

int turns_main(int argc, char **argv,
               void (*table)(const char *name, turns_evaluation *evaluate, int width))
{
    const int width = argc > 1 ? atoi(argv[1]) : 0;
    const lwi_kernels *kernels = lwi_kernels_of(width);
    if (!kernels) turns_stop("this machine has no such kernels");
    printf("%s\n", kernels->name);
    table("aba", turns_accelerations, width);
    table("momenta", turns_rates, width);
    return 0;
}
