// bench.h -- a problem with its elimination, for tests of the elimination's results.
#ifndef LW_TEST_BENCH_H
#define LW_TEST_BENCH_H

#include "elimination/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/** A problem with its elimination, also for unsymmetric metrics. */
typedef struct problem_bench {
    problem p; ///< filled before setup
    lwi_arena arena;
    lwi_plan plan;
    lwi_elim *elim;
    double (*x)[6], *lambda, *eps; ///< eps: regular, different for every row
} problem_bench;

static inline void problem_setup(problem_bench *b, lw_plan kind)
{
    lwi_arena_init(&b->arena, NULL);
    assert_int_equal(lwi_plan_create(&b->p.graph, kind, &b->arena, &b->plan), LW_OK);
    assert_int_equal(lwi_elim_create(&b->plan, &b->arena, &b->elim), LW_OK);
    assert_int_equal(lwi_elim_unsymmetric(b->elim, &b->arena), LW_OK);
    b->x = (double(*)[6])LWI_PUSH(&b->arena, double, 6 * b->p.graph.nbody);
    b->lambda = LWI_PUSH(&b->arena, double, b->p.nrow);
    b->eps = LWI_PUSH(&b->arena, double, b->p.nrow);
    problem_load(&b->p, b->elim);
    problem_diagonal(&b->p, b->eps);
    for (int r = 0; r < b->p.nrow; r++) b->eps[r] *= 1e-4 * (2 + problem_uniform());
}

static inline void problem_solve(problem_bench *b, int refine)
{
    memcpy(b->x, b->p.x0, (size_t)b->p.graph.nbody * sizeof *b->x);
    lwi_elim_solve(b->elim, b->x, b->p.c, b->lambda, refine);
}

#endif
