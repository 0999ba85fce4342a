// branches.c -- benchmark: branches of a tree in lanes against one body after the other.
//
// Model: a free body with equal branches.  Both evaluations alternate; a table gives the minimum
// [us] of each by number and length of the branches.  The threshold of branches.h comes from here.
//
// usage: bench_branches [WIDTH]    kernels of that width (4, 8); default: the widest
#include "turns.h"

#include <stdio.h>

static const turns plan = {120, 2000};
static const lwi_k_choice choices[2] = {{0, 0, false, 0}, {0, 2, false, 0}}; // sequential, in lanes

static void table(const char *name, turns_evaluation *evaluate, int width)
{
    static const int counts[] = {2, 3, 4, 5, 8, 16, 64}, lengths[] = {1, 2, 3, 6, 12};
    printf("%s, us of an evaluation, one after the other and side by side\nof bodies:", name);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) printf("%13d", lengths[k]);
    printf("\n");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        printf("%6d      ", counts[i]);
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            double least[2];
            turns_branches(plan, evaluate, counts[i], lengths[k], width, 2, choices, least);
            printf("  %5.2f %5.2f", 1e6 * least[0], 1e6 * least[1]);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    return turns_main(argc, argv, table);
}
