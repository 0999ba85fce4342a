// tails.c -- benchmark: long branches cut into segments against branches in lanes.
//
// Model: a free body with equal tails.  Compares one body after the other, branches in lanes and each branch
// in segments, four or eight by its length.  Evaluations alternate; a table gives the minimum [ns per body].
// The thresholds for tails in branches.c and plan.h come from here.
//
// usage: bench_tails [WIDTH]    kernels of that width (4, 8); default: the widest
#include "turns.h"

#include <stdio.h>

static const turns plan = {100, 3000};
enum { WAYS = 3 }; // sequential, in lanes, in segments
static const lwi_k_choice choices[WAYS] = {
    {0, 0, false, 0}, {0, 2, false, 0}, {LWI_K_AUTO, 0, false, 0}};

static void table(const char *name, turns_evaluation *evaluate, int width)
{
    static const int lengths[] = {128, 192, 256, 384, 512, 1024};
    printf("%s, ns per body: one after the other, side by side, in segments\ntails of:", name);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) printf("%18d", lengths[k]);
    printf("\n");
    for (int tails = 1; tails <= 5; tails++) {
        printf("%9d", tails);
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            double least[WAYS];
            turns_branches(plan, evaluate, tails, lengths[k], width, WAYS, choices, least);
            const double ns = 1e9 / (1 + tails * lengths[k]); // per body
            printf("   %5.1f", ns * least[0]);
            if (tails > 1)
                printf("%5.1f", ns * least[1]);
            else
                printf("    -");
            printf("%5.1f", ns * least[2]);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    return turns_main(argc, argv, table);
}
