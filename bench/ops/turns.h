// turns.h -- timing of an evaluation by several kernels that alternate, for segments.c, branches.c and
// tails.c.
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "cli/scene_model.h"
#include "tree/kernel.h"

/** Prints the message and ends the program with status 1. */
void turns_stop(const char *what);
/** Zeroed memory, to be freed by the caller; ends the program if there is none. */
void *turns_zeros(int count, size_t size);

/** Evaluates a formulation at q and the speeds or momenta v; out [2 (nv + 6)]. */
typedef bool turns_evaluation(const lwi_kernel *kernel, const double *q, const double *v,
                              double *out);
turns_evaluation turns_accelerations, turns_rates; // of `aba`, of `momenta`

/** count: rounds; bodies: approximate number of bodies evaluated per kernel and round. */
typedef struct turns {
    int count, bodies;
} turns;

/** Times a free body with equal branches of rods; the joint axes cycle through x, y, z.
 *  least [nway], output: seconds per evaluation with each choice, minimum of all rounds. */
void turns_branches(turns plan, turns_evaluation *evaluate, int branches, int length, int width,
                    int nway, const lwi_k_choice *choice, double *least);

/** Body of main: reads [WIDTH] from argv, prints the name of the kernels and a table for each of the
 *  two evaluations. */
int turns_main(int argc, char **argv,
               void (*table)(const char *name, turns_evaluation *evaluate, int width));

#endif
