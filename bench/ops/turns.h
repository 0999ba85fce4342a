// turns.h -- an evaluation by several kernels in turns: what runs, limbs and tails share.
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "cli/scene_model.h"
#include "tree/kernel.h"

/** Prints what is wrong and ends the program. */
void turns_stop(const char *what);
/** Zeroed memory; ends the program where there is none. */
void *turns_zeros(int count, size_t size);

/** v, or momenta, to what a formulation asks for: out [2 (nv + 6)]. */
typedef bool turns_evaluation(const lwi_kernel *kernel, const double *q, const double *v,
                              double *out);
turns_evaluation turns_accelerations, turns_rates; // of `aba`, of `momenta`

/** How often each way has its turn, and how many bodies the evaluations of a turn take together. */
typedef struct turns {
    int count, bodies;
} turns;

/** Equal limbs of rods on a free body, their axes x, y, z in turn: seconds of an evaluation by each
 * of `nway` choices, least of all turns. */
void turns_branches(turns plan, turns_evaluation *evaluate, int branches, int length, int width,
                    int nway, const lwi_k_choice *choice, double *least);

/** What main does: [WIDTH] of argv, the name of the kernels, a table for each of the two
 * evaluations. */
int turns_main(int argc, char **argv,
               void (*table)(const char *name, turns_evaluation *evaluate, int width));

#endif
