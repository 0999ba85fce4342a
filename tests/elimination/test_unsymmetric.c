// test_unsymmetric.c -- metrics that are not symmetric: block elimination along every plan agrees with dense
// elimination, and symmetric factors are not affected.
#include "elimination/bench.h"
#include "elimination/parts.h" // to check that threads are used

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const lw_plan kinds[] = {LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_MIXED};

// Adds a skew part as large as `part` of the metrics; G = J K means the metric K'.
static void skew(problem *p, double part)
{
    for (int b = 0; b < p->graph.nbody; b++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < i; j++) {
                const double s = part * problem_uniform() * sqrt(p->K[b][i][i] * p->K[b][j][j]);
                p->K[b][i][j] += s, p->K[b][j][i] -= s;
            }
    problem_right_side(p);
}

// S + eps and c - J x0, dense.
static void whole(const problem *p, const double *eps, double *A, double *right)
{
    const int m = p->nrow;
    memset(A, 0, (size_t)m * (size_t)m * sizeof *A);
    for (int e = 0; e < p->graph.nedge; e++)
        for (int i = 0; i < p->edge[e].rows * p->edge[e].n; i++) {
            const int s = p->slot[e] + i / p->edge[e].rows, r = i % p->edge[e].rows;
            const int body = p->edge[e].body[s - p->slot[e]], row = p->row[e] + r;
            if (s == p->slot[e]) right[row] = p->c[row], A[row * m + row] += eps ? eps[row] : 0;
            for (int l = 0; l < 6; l++) right[row] -= p->J[6 * s + r][l] * p->x0[body][l];
            for (int f = 0; f < p->graph.nedge; f++)
                for (int t = p->slot[f]; t < p->slot[f + 1]; t++)
                    for (int q = 0; q < p->edge[f].rows; q++)
                        for (int l = 0; l < 6; l++)
                            if (p->edge[f].body[t - p->slot[f]] == body)
                                A[row * m + p->row[f] + q] +=
                                    p->J[6 * s + r][l] * p->G[6 * t + q][l];
        }
}

// Gauss with exchanges of rows; b becomes the solution.
static void gauss(int m, double *A, double *b)
{
    for (int k = 0; k < m; k++) {
        int best = k;
        for (int i = k + 1; i < m; i++)
            if (fabs(A[i * m + k]) > fabs(A[best * m + k])) best = i;
        for (int j = 0; j < m; j++) {
            const double t = A[k * m + j];
            A[k * m + j] = A[best * m + j], A[best * m + j] = t;
        }
        const double t = b[k];
        b[k] = b[best], b[best] = t;
        for (int i = k + 1; i < m; i++) {
            const double l = A[i * m + k] / A[k * m + k];
            for (int j = k; j < m; j++) A[i * m + j] -= l * A[k * m + j];
            b[i] -= l * b[k];
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        for (int j = k + 1; j < m; j++) b[k] -= A[k * m + j] * b[j];
        b[k] /= A[k * m + k];
    }
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

// The same lambda, and x that satisfies the rows to round-off; returns the distance of lambda from the
// solution with the symmetric part of S.
static double agrees(problem p, bool regular)
{
    double off = 0;
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        problem_bench b = {.p = p};
        problem_setup(&b, kinds[k]);
        const int m = p.nrow;
        const double *eps = regular ? b.eps : NULL;
        double *A = LWI_PUSH(&b.arena, double, m *m), *right = LWI_PUSH(&b.arena, double, m);
        double *B = LWI_PUSH(&b.arena, double, m *m), *other = LWI_PUSH(&b.arena, double, m);
        whole(&p, eps, A, right);
        memcpy(other, right, (size_t)m * sizeof *other);
        for (int i = 0; i < m * m; i++) B[i] = 0.5 * (A[i] + A[i % m * m + i / m]);
        gauss(m, A, right);
        gauss(m, B, other);
        off = fmax(off, distance(other, right, m));
        assert_int_equal(lwi_elim_factor_unsymmetric(b.elim, eps), LW_OK);
        problem_solve(&b, 1);
        // condition of S + eps: 1e4 and what the number of rows adds
        assert_true(distance(b.lambda, right, m) < 1e-9);
        assert_true(problem_residual(&p, b.x, eps, b.lambda) <= 200 * DBL_EPSILON);
        assert_int_equal(lwi_elim_null_count(b.elim), 0);
        assert_true(lwi_elim_pivots(b.elim).min > 0);
        lwi_arena_free(&b.arena);
    }
    problem_free(&p);
    return off;
}

static void as_dense_elimination(void **state)
{
    (void)state;
    problem p;
    double off = 0;
    for (int i = 0; i < 12; i++) {
        problem_seed(500u + (unsigned)i);
        problem_tree(&p, 2 + 2 * i), problem_numbers(&p), skew(&p, 0.5);
        off = fmax(off, agrees(p, true));
        problem_loops(&p, 3 + i, 2 + i), problem_numbers(&p), skew(&p, 0.5);
        off = fmax(off, agrees(p, true));
        problem_chain(&p, 1 + 2 * i, 1 + i % 6), problem_numbers(&p), skew(&p, 0.5);
        off = fmax(off, agrees(p, i % 2));
    }
    problem_four_bars(&p, 4, 0.4), skew(&p, 0.3); // dependent rows
    off = fmax(off, agrees(p, true));
    assert_true(off > 0.01); // it makes a difference
}

// A symmetric metric is a special case, to round-off; and symmetric factors have the same bits after
// unsymmetric ones.
static void beside_the_symmetric(void **state)
{
    (void)state;
    problem p;
    problem_seed(600);
    problem_loops(&p, 14, 8), problem_numbers(&p);
    problem_bench b = {.p = p};
    problem_setup(&b, LW_PLAN_BALANCED);
    const size_t bytes = (size_t)p.nrow * sizeof(double);
    double *first = LWI_PUSH(&b.arena, double, p.nrow);
    assert_int_equal(lwi_elim_factor(b.elim, b.eps), LW_OK);
    problem_solve(&b, 0);
    memcpy(first, b.lambda, bytes);
    assert_int_equal(lwi_elim_factor_unsymmetric(b.elim, b.eps), LW_OK);
    problem_solve(&b, 0);
    assert_true(distance(b.lambda, first, p.nrow) < 1e-10);
    assert_int_equal(lwi_elim_factor(b.elim, b.eps), LW_OK);
    problem_solve(&b, 0);
    assert_memory_equal(b.lambda, first, bytes);
    lwi_arena_free(&b.arena);
    problem_free(&p);
}

// The bits of a solution by 2 to 4 threads are those of one; some nodes are eliminated by all together, or none.
static void same_bits_by_threads(problem p, lw_plan kind, bool together)
{
    problem_bench b = {.p = p};
    problem_setup(&b, kind);
    double *alone = LWI_PUSH(&b.arena, double, p.nrow);
    assert_int_equal(lwi_elim_factor_unsymmetric(b.elim, b.eps), LW_OK);
    problem_solve(&b, 1);
    memcpy(alone, b.lambda, (size_t)p.nrow * sizeof *alone);
    for (int count = 2; count <= 4; count++)
        for (int s = 0; s < 2; s++) {
            lwi_pool *pool;
            assert_int_equal(lwi_pool_create(count, NULL, &pool, NULL), LW_OK);
            assert_int_equal(lwi_elim_threads(b.elim, pool, (lwi_elim_strategy)s, &b.arena), LW_OK);
            assert_non_null(b.elim->team);
            assert_int_equal(lwi_elim_together(b.elim) > 0, together);
            assert_int_equal(lwi_elim_factor_unsymmetric(b.elim, b.eps), LW_OK);
            problem_solve(&b, 1);
            assert_memory_equal(b.lambda, alone, (size_t)p.nrow * sizeof *alone);
            assert_int_equal(lwi_elim_threads(b.elim, NULL, LWI_ELIM_BY_LEVEL, &b.arena), LW_OK);
            lwi_pool_destroy(pool);
        }
    lwi_arena_free(&b.arena);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    problem p;
    problem_seed(601);
    problem_chain(&p, 3000, 5), problem_numbers(&p), skew(&p, 0.4);
    for (int k = 1; k < LWI_COUNT(kinds); k++) same_bits_by_threads(p, kinds[k], false);
    problem_free(&p);
    problem_grid(&p, 18, 18, 3), problem_numbers(&p), skew(&p, 0.4);
    same_bits_by_threads(p, LW_PLAN_BALANCED, true);
    problem_free(&p);
}

static void what_fails_is_named(void **state)
{
    (void)state;
    problem p;
    problem_seed(602);
    problem_chain(&p, 9, 4), problem_numbers(&p), skew(&p, 0.2);
    for (int i = 0; i < 2; i++) // a row like another of its edge, without eps
        memcpy(p.J[6 * (p.slot[5] + i) + 3], p.J[6 * (p.slot[5] + i) + 1], sizeof p.J[0]);
    problem_right_side(&p);
    problem_bench b = {.p = p};
    problem_setup(&b, LW_PLAN_COMB);
    assert_int_equal(lwi_elim_factor_unsymmetric(b.elim, NULL), LW_ERR_SINGULAR);
    assert_int_equal(lwi_elim_pivots(b.elim).edge, 5);
    assert_int_equal(lwi_elim_pivots(b.elim).row, 3);
    assert_int_equal(lwi_elim_factor_unsymmetric(b.elim, b.eps), LW_OK);
    lwi_elim_G(b.elim)[6 * p.slot[2]][0] = NAN;
    assert_int_equal(lwi_elim_factor_unsymmetric(b.elim, b.eps), LW_ERR_NOT_FINITE);
    lwi_elim *plain;
    assert_int_equal(lwi_elim_create(&b.plan, &b.arena, &plain), LW_OK);
    assert_int_equal(lwi_elim_factor_unsymmetric(plain, b.eps), LW_ERR_INTERNAL); // no room
    lwi_arena_free(&b.arena);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_dense_elimination),
        cmocka_unit_test(beside_the_symmetric),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(what_fails_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
