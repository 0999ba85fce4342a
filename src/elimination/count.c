// count.c -- operation counts of a matrix pass, for cost estimates.
#include "elimination/parts.h"

// Multiplications at a node: 6 for each entry of its blocks, half of that for diagonal blocks, and the
// elimination.
static double products(const lwi_elim *elim, const lwi_elim_front *N)
{
    double sum = lwi_plan_elimination(N->nc, N->no);
    for (int i = 0; i < N->block.n; i++) {
        const lwi_elim_block *b = &elim->block[N->block.first + i];
        const bool diagonal = b->at / N->ld == b->at % N->ld;
        sum += diagonal ? 3.0 * b->m * (b->m + 1) : 6.0 * b->m * b->n;
    }
    return sum;
}

lwi_elim_counts lwi_elim_count(const lwi_elim *elim)
{
    lwi_elim_counts counts = {.tasks = elim->ntask};
    for (int i = 0; i < elim->ntask; i++) {
        const lwi_elim_task *u = &elim->task[i];
        const lwi_elim_front *N = &elim->front[u->node[0]];
        const double work = products(elim, N);
        if (u->batch)
            counts.laned += work;
        else if (N->loop && N->nc + N->no >= LWI_ELIM_LARGE)
            counts.large += work;
        else if (N->loop)
            counts.closing += work;
        else
            counts.plain += work;
        counts.loops += N->loop;
    }
    return counts;
}
