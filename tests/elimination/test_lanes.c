// test_lanes.c -- isomorphic subtrees side by side: the bits of one lane at a time, the numbers of node by
// node, and its errors.
#include "elimination/bench.h"
#include "elimination/lanes.h" // to check what is in lanes

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const lw_plan kinds[] = {LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_MIXED};

static int in_lanes(const lwi_elim *elim)
{
    int count = 0;
    for (int u = 0; u < elim->nbatch; u++) count += elim->task[u].lanes;
    return count;
}

static double distance(const double *a, const double *b, int n)
{
    double max = 0, size = 1;
    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(b[i]));
        if (!(fabs(a[i] - b[i]) <= max)) max = fabs(a[i] - b[i]);
    }
    return max / size;
}

// Skew parts for metrics: G = J K.
static void skew(problem *p)
{
    for (int b = 0; b < p->graph.nbody; b++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < i; j++) {
                const double s = 0.3 * problem_uniform() * sqrt(p->K[b][i][i] * p->K[b][j][j]);
                p->K[b][i][j] += s, p->K[b][j][i] -= s;
            }
    problem_right_side(p);
}

// All results of an elimination: x, lambda after 1 + refine passes, and the smallest pivot.
static double ask(problem_bench *b, bool two, bool regular, double *x, double *lambda)
{
    const double *eps = regular ? b->eps : NULL;
    assert_int_equal((two ? lwi_elim_factor_unsymmetric : lwi_elim_factor)(b->elim, eps), LW_OK);
    problem_solve(b, 2);
    memcpy(x, b->x, (size_t)b->p.graph.nbody * sizeof *b->x);
    memcpy(lambda, b->lambda, (size_t)b->p.nrow * sizeof *lambda);
    assert_true(problem_residual(&b->p, b->x, eps, b->lambda) <= 200 * DBL_EPSILON);
    return lwi_elim_pivots(b->elim).min;
}

// Every width has the same bits; node by node differs by round-off, by less than `tolerance`.
static void every_width(problem_bench *b, bool two, bool regular)
{
    const int n = 6 * b->p.graph.nbody, m = b->p.nrow;
    double *x = LWI_PUSH(&b->arena, double, 3 * n), *lambda = LWI_PUSH(&b->arena, double, 3 * m);
    assert_true(lwi_elim_lanes(b->elim, -1));
    const double alone = ask(b, two, regular, x, lambda);
    assert_false(b->elim->laned);
    double first = 0;
    const int widths[] = {0, 1, 4, 8};
    for (int i = 0; i < LWI_COUNT(widths); i++) {
        if (!lwi_elim_lanes(b->elim, widths[i])) continue; // not on this machine
        const int at = i ? 2 : 1;
        const double min = ask(b, two, regular, x + at * n, lambda + at * m);
        assert_true(b->elim->laned);
        if (i == 0) {
            first = min;
            assert_true(fabs(min - alone) <= 1e-9 * alone);
            // independent rows drawn at random: condition up to some 1e4
            assert_true(distance(x + n, x, n) <= 1e-10);
            assert_true(distance(lambda + m, lambda, m) <= 1e-8);
        } else if (widths[i] != 1 ||
                   lwi_elim_kernels_of(4)) { // machines without fused multiply-add
            assert_memory_equal(x + n, x + 2 * n, (size_t)n * sizeof *x);
            assert_memory_equal(lambda + m, lambda + 2 * m, (size_t)m * sizeof *lambda);
            assert_true(min == first);
        }
    }
    assert_true(lwi_elim_lanes(b->elim, 0));
}

// @param most  minimum share of the nodes in lanes, by the mixed plan
static void graph(problem p, double max)
{
    for (int two = 0; two < 2; two++) {
        if (two) skew(&p);
        for (int k = 0; k < LWI_COUNT(kinds); k++) {
            problem_bench b = {.p = p};
            problem_setup(&b, kinds[k]);
            if (kinds[k] == LW_PLAN_MIXED) assert_true(in_lanes(b.elim) >= max * b.plan.nnode);
            for (int regular = 0; regular < 2 && b.elim->nbatch; regular++)
                every_width(&b, two, regular);
            lwi_arena_free(&b.arena);
        }
    }
    problem_free(&p);
}

static void widths_have_the_same_bits(void **state)
{
    (void)state;
    problem p;
    for (int rows = 1; rows <= 5; rows++) {
        problem_seed(700u + (unsigned)rows);
        problem_chain(&p, 60 + 7 * rows, rows), problem_numbers(&p);
        graph(p, 0.5);
    }
    problem_star(&p, 11, 5, 3), problem_numbers(&p), graph(p, 0.7); // 8 and 3 lanes
    problem_star(&p, 13, 2, 5), problem_numbers(&p), graph(p, 0.4);
    problem_star(&p, 5, 40, 2), problem_numbers(&p), graph(p, 0.7); // pieces of branches
    problem_grid(&p, 8, 8, 1), problem_numbers(&p), graph(p, 0);
}

// Generic ranks that another user of the elimination has found leave factors with eps as they are.
static void regular_factors_do_not_depend_on_ranks(void **state)
{
    (void)state;
    problem_bench b = {0};
    problem_seed(731);
    problem_chain(&b.p, 60, 5), problem_numbers(&b.p);
    problem_setup(&b, LW_PLAN_BALANCED);
    const size_t n = (size_t)b.p.graph.nbody, m = (size_t)b.p.nrow;
    double *x = LWI_PUSH(&b.arena, double, 6 * n), *lambda = LWI_PUSH(&b.arena, double, m);
    int *rank = LWI_PUSH(&b.arena, int, b.plan.nnode);
    assert_int_equal(lwi_elim_factor(b.elim, b.eps), LW_OK);
    assert_true(b.elim->laned);
    problem_solve(&b, 0);
    memcpy(x, b.x, n * sizeof *b.x);
    memcpy(lambda, b.lambda, m * sizeof *lambda);
    for (int k = 0; k < b.plan.nnode; k++) rank[k] = b.elim->front[k].nc;
    rank[b.elim->task[0].node[0]]--; // a node in lanes
    lwi_elim_put_ranks(b.elim, rank);
    assert_int_equal(lwi_elim_factor_regular(b.elim, b.eps), LW_OK);
    assert_true(b.elim->laned);
    problem_solve(&b, 0);
    assert_memory_equal(x, b.x, n * sizeof *b.x);
    assert_memory_equal(lambda, b.lambda, m * sizeof *lambda);
    assert_int_equal(lwi_elim_rank(b.elim), b.p.nrow - 1);
    lwi_arena_free(&b.arena);
    problem_free(&b.p);
}

// Chains that do not end on the ground, and rings: cut into pieces, correct results.
static void ends_of_chains(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        problem p;
        problem_seed(720u + (unsigned)which);
        problem_init(&p, 50);
        for (int b = 1; b < 50; b++) problem_edge(&p, 3, false, 2, (const int[]){b, b - 1});
        if (which == 1)
            problem_edge(&p, 3, true, 1, (const int[]){49}); // attached at its other end
        if (which == 2) problem_edge(&p, 3, false, 2, (const int[]){0, 49});
        problem_numbers(&p);
        graph(p, which == 2 ? 0 : 0.5);
    }
}

// If a pivot is lost, and for rows of zeros, the results are those of node by node.
static void what_fails_is_named(void **state)
{
    (void)state;
    problem p;
    problem_seed(730);
    problem_chain(&p, 80, 4), problem_numbers(&p);
    const lwi_plan_edge *bad = &p.edge[40];
    for (int i = 0; i < bad->n; i++) // a row like another of its edge
        memcpy(p.J[6 * (p.slot[40] + i) + 2], p.J[6 * (p.slot[40] + i)], sizeof p.J[0]);
    problem_right_side(&p);
    problem_bench b = {.p = p};
    problem_setup(&b, LW_PLAN_MIXED);
    assert_non_null(b.elim->task[b.elim->task_of[b.plan.closer[40]]].batch);
    assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_ERR_SINGULAR);
    assert_int_equal(lwi_elim_pivots(b.elim).edge, 40);
    assert_int_equal(lwi_elim_pivots(b.elim).row, 2);
    assert_int_equal(lwi_elim_factor(b.elim, b.eps), LW_OK); // lanes work again
    assert_true(b.elim->laned);
    for (int i = 0; i < bad->n; i++) memset(lwi_elim_J(b.elim)[6 * (p.slot[40] + i) + 2], 0, 48);
    for (int i = 0; i < bad->n; i++) memset(lwi_elim_G(b.elim)[6 * (p.slot[40] + i) + 2], 0, 48);
    int rank;
    assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &rank), LW_OK);
    assert_int_equal(rank, p.nrow - 1);
    assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
    assert_int_equal(lwi_elim_null_count(b.elim), 1);
    assert_false(b.elim->laned);
    lwi_arena_free(&b.arena);
    problem_free(&p);
}

// Branches attached to loops are in lanes, loops are not; null vectors continue into the branches.
static void beside_loops(void **state)
{
    (void)state;
    problem p;
    problem_seed(740);
    problem_init(&p, 40); // four ropes of ten between two ends of a ring
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 10; k++)
            problem_edge(&p, 3, k == 0, k ? 2 : 1, (const int[]){10 * i + k, 10 * i + k - 1});
    for (int i = 0; i < 4; i++)
        problem_edge(&p, 5, false, 2, (const int[]){10 * i, 10 * ((i + 1) % 4)});
    for (int i = 0; i < 4; i++)
        problem_edge(&p, 3, false, 2, (const int[]){10 * i, 10 * ((i + 1) % 4)});
    problem_numbers(&p);
    for (int i = 0; i < 4; i++) // the last four are segments of the four before
        for (int s = 0; s < 2; s++)
            memcpy(p.J[6 * (p.slot[44 + i] + s)], p.J[6 * (p.slot[40 + i] + s)], 3 * sizeof *p.J);
    problem_right_side(&p);
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        problem_bench b = {.p = p};
        problem_setup(&b, kinds[k]);
        double *n = LWI_PUSH(&b.arena, double, p.nrow);
        int rank;
        assert_int_equal(lwi_elim_find_ranks(b.elim, LWI_ELIM_RANK, &rank), LW_OK);
        assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
        assert_true(b.elim->laned && in_lanes(b.elim) >= 15);
        problem_solve(&b, 1);
        assert_true(problem_residual(&p, b.x, NULL, NULL) <= 100 * DBL_EPSILON);
        assert_int_equal(lwi_elim_null_count(b.elim), p.nrow - rank);
        for (int i = 0; i < p.nrow - rank; i++) {
            lwi_elim_null(b.elim, i, n);
            assert_true(problem_null_error(&p, n) <= 1e-9);
        }
        problem_solve(&b, 1); // the factors are still valid
        assert_true(problem_residual(&p, b.x, NULL, NULL) <= 100 * DBL_EPSILON);
        lwi_arena_free(&b.arena);
    }
    problem_free(&p);
}

// Rows that change after the matrix pass enter the right side, as node by node.
static void rows_are_read_again(void **state)
{
    (void)state;
    problem p;
    problem_seed(750);
    problem_chain(&p, 70, 3), problem_numbers(&p);
    problem_bench b = {.p = p};
    problem_setup(&b, LW_PLAN_MIXED);
    double *lambda = LWI_PUSH(&b.arena, double, 2 * p.nrow);
    for (int way = 0; way < 2; way++) {
        problem_load(&p, b.elim);
        assert_true(lwi_elim_lanes(b.elim, way ? 0 : -1));
        assert_int_equal(lwi_elim_factor(b.elim, b.eps), LW_OK);
        for (int s = 0; s < 36 * p.nslot; s++)
            lwi_elim_J(b.elim)[s / 6][s % 6] *= 1 + 1e-3 * (s % 7);
        problem_solve(&b, 0);
        memcpy(lambda + way * p.nrow, b.lambda, (size_t)p.nrow * sizeof *lambda);
    }
    assert_true(distance(lambda, lambda + p.nrow, p.nrow) < 1e-9);
    lwi_arena_free(&b.arena);
    problem_free(&p);
}

// The blocks of every node, of one to six rows, are sums from the left in every width.
static void blocks_have_the_same_bits(void **state)
{
    (void)state;
    static const int widths[] = {1, 4, 8};
    problem p;
    problem_seed(760);
    problem_init(&p, 30);
    for (int i = 0; i < 30; i++)
        problem_edge(&p, 1 + i % 6, i == 0, i ? 2 : 1, (const int[]){i, i - 1});
    for (int i = 5; i < 30; i++) problem_edge(&p, 1 + i % 5, false, 2, (const int[]){i, i - 5});
    problem_numbers(&p);
    problem_bench b = {.p = p};
    problem_setup(&b, LW_PLAN_COMB);
    lwi_elim *elim = b.elim;
    int sizes = 0; // a bit for each
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        const size_t size = (size_t)N->nc * (size_t)N->ld;
        double *expected = LWI_PUSH(&b.arena, double, size), *R = LWI_PUSH(&b.arena, double, size);
        for (int i = N->block.first; i < N->block.first + N->block.n; i++) {
            const lwi_elim_block *block = &elim->block[i];
            sizes |= 1 << block->n;
            for (int r = 0; r < block->m; r++)
                for (int c = 0; c < block->n; c++) {
                    double sum = 0, *to = expected + block->at + r * N->ld + c;
                    for (int j = 0; j < 6; j++)
                        sum += elim->J[6 * block->J + r][j] * elim->G[6 * block->G + c][j];
                    *to = block->add ? *to + sum : sum;
                }
        }
        for (int w = 0; w < LWI_COUNT(widths); w++) {
            const lwi_elim_kernels *kernels = lwi_elim_kernels_of(widths[w]);
            if (!kernels) continue; // not on this machine
            memset(R, 0, size * sizeof *R);
            kernels->blocks(elim->block + N->block.first, N->block.n, N->ld, elim->J, elim->G, R);
            assert_memory_equal(R, expected, size * sizeof *R);
        }
    }
    assert_int_equal(sizes, 126);
    lwi_arena_free(&b.arena);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_the_same_bits),
        cmocka_unit_test(widths_have_the_same_bits),
        cmocka_unit_test(ends_of_chains),
        cmocka_unit_test(regular_factors_do_not_depend_on_ranks),
        cmocka_unit_test(what_fails_is_named),
        cmocka_unit_test(beside_loops),
        cmocka_unit_test(rows_are_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
