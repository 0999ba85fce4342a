// test_dense.c -- products and eliminations of dense blocks: right, and with the same bits for any lanes and parts.
#include "elimination/dense.h"

#include "elimination/problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 80 };

static void fill(int n, double *a)
{
    for (int i = 0; i < n; i++) a[i] = problem_uniform();
}

// C of a product by long double.  Returns the largest error of `found`, entries outside of it must be as they were.
static double error_of(const lwi_elim_product *p, const double *before, const double *found)
{
    double worst = 0;
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->lc; j++) {
            const int at = i * p->lc + j;
            if (j >= p->n || (p->above >= 0 && j < i + p->above)) {
                assert_true(found[at] == before[at]);
                continue;
            }
            long double sum = before[at];
            for (int q = 0; q < p->k; q++)
                sum -= (long double)p->s * p->A[i * p->down + q * p->right] *
                       (p->d ? p->d[q * p->step] : 1) * p->B[q * p->lb + j];
            worst = fmax(worst, fabs((double)(sum - found[at])));
        }
    return worst;
}

// Sizes below, at and above those of registers and panels; whole, with the diagonal, above it.
static void products_are_right_in_any_lanes(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 3, 4, 5, 8, 17, 31, 33, 70}, widths[] = {-1, 0, 1, 4, 8};
    static double A[ROOM * ROOM], B[ROOM * ROOM], d[ROOM], before[ROOM * ROOM], C[ROOM * ROOM],
        first[ROOM * ROOM];
    problem_seed(11);
    fill(ROOM * ROOM, A), fill(ROOM * ROOM, B), fill(ROOM, d), fill(ROOM * ROOM, before);
    for (int a = 0; a < LWI_COUNT(sizes) * LWI_COUNT(sizes) * LWI_COUNT(sizes); a++) {
        const int m = sizes[a % LWI_COUNT(sizes)],
                  k = sizes[a / LWI_COUNT(sizes) % LWI_COUNT(sizes)];
        const int n = sizes[a / LWI_COUNT(sizes) / LWI_COUNT(sizes)], way = a % 3;
        lwi_elim_product p = {.m = m,
                              .n = n,
                              .k = k,
                              .s = a % 2 ? 1 : -1,
                              .A = A,
                              .down = way ? 1 : ROOM,
                              .right = way ? ROOM : 1,
                              .d = a % 5 ? d : NULL,
                              .step = 1,
                              .B = B,
                              .lb = ROOM,
                              .C = C,
                              .lc = ROOM,
                              .above = m <= n ? way - 1 : -1};
        for (int w = 0; w < LWI_COUNT(widths); w++) {
            const lwi_elim_kernels *kernels = w ? lwi_elim_kernels_of(widths[w]) : NULL;
            if (w && !kernels) continue; // not on this machine
            memcpy(C, before, sizeof C);
            lwi_elim_dense_subtract(kernels, p);
            assert_true(error_of(&p, before, C) < 1e-14 * (1 + k));
            if (w == 1) memcpy(first, C, sizeof C);
            if (w > 1 && (widths[w] != 1 || lwi_elim_kernels_of(4))) // fused multiply-add
                assert_memory_equal(C, first, sizeof C);
        }
    }
}

// A = B B' of rank r, its upper triangle.
static void low_rank(int n, int rank, double *A, int ld)
{
    double B[ROOM * ROOM];
    fill(n * rank, B);
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < rank; k++) sum += B[i * rank + k] * B[j * rank + k];
            A[i * ld + j] = sum;
        }
}

// The permutation of exchanges k with swap[k].
static void permutation(int n, int steps, const int *swap, int *perm)
{
    for (int i = 0; i < n; i++) perm[i] = i;
    for (int k = 0; k < steps; k++) {
        const int other = perm[k];
        perm[k] = perm[swap[k]], perm[swap[k]] = other;
    }
}

// P' A P = R' D R with as many pivots as the rank, each the largest; the remainder is round-off.  With a permutation in place
// of the exchanges it is the same.
static void pivots_end_at_the_rank(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1},   {7, 3},   {16, 16}, {40, 16},
                                   {40, 17}, {70, 45}, {70, 70}};
    static double A[ROOM * ROOM], R[ROOM * ROOM], rest[ROOM * ROOM];
    problem_seed(12);
    for (int c = 0; c < LWI_COUNT(sizes); c++)
        for (int w = 0; w < 2; w++) {
            const int n = sizes[c][0], rank = sizes[c][1], ld = n + 3;
            int swap[ROOM], perm[ROOM], noted[ROOM], reached = -1;
            low_rank(n, rank, A, ld);
            memcpy(R, A, sizeof R), memcpy(rest, A, sizeof rest);
            for (int i = 0; i < n; i++) noted[i] = i;
            lwi_elim_dense S = {.kernels = w ? lwi_elim_kernels_of(0) : NULL,
                                .n = n,
                                .ld = ld,
                                .A = rest,
                                .perm = noted,
                                .min = 1e-9,
                                .max = HUGE_VAL};
            assert_int_equal(lwi_elim_dense_eliminate(&S, n, true, &reached, &LWI_ALONE), rank);
            assert_int_equal(reached, rank);
            S.A = R, S.swap = swap, S.perm = NULL;
            assert_int_equal(lwi_elim_dense_eliminate(&S, n, true, &reached, &LWI_ALONE), rank);
            assert_int_equal(reached, rank);
            permutation(n, rank, swap, perm);
            assert_memory_equal(perm, noted, (size_t)n * sizeof *perm);
            for (int i = rank; i < n; i++)
                assert_memory_equal(R + i * (ld + 1), rest + i * (ld + 1),
                                    (size_t)(n - i) * sizeof *R);
            for (int k = 1; k < rank; k++) // pivots fall
                assert_true(R[k * ld + k] >= R[(k - 1) * ld + k - 1]);
            for (int i = rank; i < n; i++)
                for (int j = i; j < n; j++) assert_true(fabs(R[i * ld + j]) < 1e-11);
            lwi_elim_dense_scale(&S, rank, &LWI_ALONE);
            for (int i = 0; i < n; i++)
                for (int j = i; j < n; j++) {
                    const int a = perm[i] < perm[j] ? perm[i] : perm[j], b = perm[i] + perm[j] - a;
                    double sum = 0;
                    for (int k = 0; k <= i && k < rank; k++)
                        sum += (k == i ? 1 : R[k * ld + i]) * (k == j ? 1 : R[k * ld + j]) /
                               R[k * ld + k];
                    assert_true(fabs(sum - A[a * ld + b]) < 1e-11);
                }
        }
}

// Of equal pivots the first is taken; one that is not a number never, and the elimination ends where it is next.
static void the_first_of_the_largest_is_taken(void **state)
{
    (void)state;
    enum { N = 23 };
    static double A[N * N];
    int swap[N], reached = -1;
    const lwi_elim_dense S = {.n = N, .ld = N, .A = A, .swap = swap, .min = 1e-9, .max = HUGE_VAL};
    for (int bad = 0; bad < N; bad++)
        for (int i = 0; i < 2; i++) {
            memset(A, 0, sizeof A);
            for (int r = 0; r < N; r++) A[r * (N + 1)] = 1 + (r % 7 == 5);
            A[bad * (N + 1)] = i ? NAN : 3;
            const int last = i ? bad : N;
            assert_int_equal(lwi_elim_dense_eliminate(&S, N, true, &reached, &LWI_ALONE), last);
            if (last) assert_int_equal(swap[0], i == 0 ? bad : bad == 5 ? 12 : 5);
        }
}

// Strips cover every row once, in any team, and weigh about the same: row i of n counts n - i.
static void strips_are_even(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 3, 16, 17, 100, 360, 1000};
    for (int c = 0; c < LWI_COUNT(sizes); c++)
        for (int parts = 1; parts <= 16; parts++) {
            const int n = sizes[c];
            int seen[1000] = {0}, largest = 0;
            for (int part = 0; part < parts; part++) {
                const lwi_team team = {.part = part, .parts = parts};
                int load = 0;
                for (lwi_elim_strip s = lwi_elim_first_strip(n, &team); s.n;
                     lwi_elim_next_strip(&s))
                    for (int i = s.at; i < s.at + s.n; i++) seen[i]++, load += n - i;
                largest = load > largest ? load : largest;
            }
            for (int i = 0; i < n; i++) assert_int_equal(seen[i], 1);
            if (n >= 16 * parts) assert_true(largest <= 1.2 * n * (n + 1) / 2 / parts);
        }
}

// A X = B, by blocks and for one vector.
static void systems_are_solved(void **state)
{
    (void)state;
    static const int sizes[] = {1, 5, 16, 33, 70};
    static double A[ROOM * ROOM], L[ROOM * ROOM], X[ROOM * ROOM], B[ROOM * ROOM];
    enum { COLUMNS = 13 };
    problem_seed(13);
    for (int c = 0; c < LWI_COUNT(sizes); c++)
        for (int w = 0; w < 2; w++) {
            const int n = sizes[c];
            const lwi_elim_kernels *kernels = w ? lwi_elim_kernels_of(0) : NULL;
            low_rank(n, n, A, n);
            for (int i = 0; i < n; i++) A[i * n + i] += 1;
            memcpy(L, A, sizeof L);
            const lwi_elim_dense S = {.kernels = kernels, .n = n, .ld = n, .A = L};
            assert_int_equal(lwi_elim_dense_eliminate(&S, n, true, NULL, &LWI_ALONE), n);
            lwi_elim_dense_scale(&S, n, &LWI_ALONE);
            fill(n * COLUMNS, B);
            memcpy(X, B, sizeof X);
            lwi_elim_dense_solve(kernels, n, L, n, COLUMNS, X, COLUMNS);
            double one[ROOM];
            for (int i = 0; i < n; i++) one[i] = B[i * COLUMNS + 2];
            lwi_elim_dense_solve_vector(n, L, n, one);
            for (int i = 0; i < n; i++) {
                assert_true(fabs(one[i] - X[i * COLUMNS + 2]) < 1e-12);
                for (int j = 0; j < COLUMNS; j++) {
                    double sum = 0;
                    for (int k = 0; k < n; k++)
                        sum += A[i < k ? i * n + k : k * n + i] * X[k * COLUMNS + j];
                    assert_true(fabs(sum - B[i * COLUMNS + j]) < 1e-11);
                }
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right_in_any_lanes),
        cmocka_unit_test(pivots_end_at_the_rank),
        cmocka_unit_test(the_first_of_the_largest_is_taken),
        cmocka_unit_test(strips_are_even),
        cmocka_unit_test(systems_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
