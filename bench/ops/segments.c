// segments.c -- benchmark: chains cut into segments against one recursion.
//
// Compares accelerations and momenta of a chain in one recursion, in four and eight segments, and of eight states
// in lanes.  Evaluations alternate; a table gives the minimum [ns per body].  The threshold of plan.h
// comes from here.
//
// usage: bench_segments [WIDTH]    kernels of that width (4, 8); default: the widest
#include "cli/stopwatch.h"
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 150, BODIES = 3000 }; // BODIES: approximate number of bodies evaluated per round

enum { WAYS = 4, ALONE = 3 }; // one recursion, four, eight segments; eight states in lanes

typedef unsigned batch_evaluation(const lwi_kernel_plan *plan, const lwi_k_state *state);

// The same state in all lanes.
static void fill_batch(const lwi_kernel *kernel, const double *q, const double *v,
                       const lwi_k_state *batch)
{
    for (int i = 0; i < kernel->plan->nstep; i++)
        for (int l = 0; l < LWI_LANES; l++) {
            const lwi_k_step *step = &kernel->plan->step[i];
            batch->joint[step->slot].q[l] = q[step->iq];
            batch->joint[step->slot].v[l] = v[step->iv];
        }
}

static void measure(turns_evaluation *evaluate, int n, int width, double least[WAYS])
{
    static const int segments[WAYS] = {0, 4, 8, 0};
    lw_model *model;
    lw_error error = {.text = ""};
    lwi_arena arena;
    lwi_kernel *kernel[WAYS];
    lwi_k_state batch;
    scene_body *body = turns_zeros(n, sizeof *body);
    double *q = turns_zeros(5 * n + 12, sizeof *q), *v = q + n, *tau = v + n, *out = tau + n;
    if (scene_model(SCENE_CHAIN, n, &model, &error) != LW_OK) turns_stop(error.text);
    scene_fill(SCENE_CHAIN, n, body);
    scene_state(SCENE_CHAIN, body, n, q, v, tau);
    lwi_arena_init(&arena, NULL);
    for (int r = 0; r < WAYS; r++) {
        if (lwi_kernel_create_chosen(model, width, (lwi_k_choice){segments[r], 0, false, 0}, &arena,
                                     &kernel[r]) != LW_OK ||
            !kernel[r])
            turns_stop("no kernel");
        least[r] = 1e30;
    }
    if (lwi_k_state_create(kernel[0]->plan, true, &arena, &batch) != LW_OK) turns_stop("no memory");
    fill_batch(kernel[0], q, v, &batch);
    batch_evaluation *many =
        evaluate == turns_rates ? kernel[0]->kernels->momenta_batch : kernel[0]->kernels->aba_batch;
    for (int turn = 0; turn < TURNS; turn++)
        for (int r = 0; r < WAYS; r++) {
            const int times = BODIES / n + 1, states = r < ALONE ? 1 : LWI_LANES;
            const double start = stopwatch();
            for (int i = 0; i < times; i++)
                if (r < ALONE ? !evaluate(kernel[r], q, v, out)
                              : many(kernel[r]->plan, &batch) != 0)
                    turns_stop("the kernel is in doubt");
            const double took = (stopwatch() - start) / times / n / states;
            if (took < least[r]) least[r] = took;
        }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    free(q);
    free(body);
}

static void table(const char *name, turns_evaluation *evaluate, int width)
{
    static const int sizes[] = {32, 64, 96, 128, 192, 256, 384, 512, 1024};
    printf("%s, ns per body\n    n   uncut  4 segments  8 segments  8 states, uncut\n", name);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double least[WAYS];
        measure(evaluate, sizes[i], width, least);
        printf("%5d  %6.1f      %6.1f      %6.1f           %6.1f\n", sizes[i], 1e9 * least[0],
               1e9 * least[1], 1e9 * least[2], 1e9 * least[3]);
    }
}

int main(int argc, char **argv)
{
    return turns_main(argc, argv, table);
}
