// test_linear.c -- Cholesky, complete orthogonal decomposition, orthonormal sets.
#include "base/linear.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 24

// xorshift64*: the same sequence on every platform
static uint64_t seed = 88172645463325252u;
static double uniform(void)
{
    seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
    return (double)((seed * 2685821657736338717u) >> 11) / 4503599627370496.0 - 1;
}

// A = B C' of rank r: columns [m][n]
static void random_columns(int n, int m, int r, double *A)
{
    double B[MOST][MOST], C[MOST][MOST];
    for (int k = 0; k < r; k++) {
        for (int i = 0; i < n; i++) B[k][i] = uniform();
        for (int j = 0; j < m; j++) C[k][j] = uniform();
    }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            A[j * n + i] = 0;
            for (int k = 0; k < r; k++) A[j * n + i] += B[k][i] * C[k][j];
        }
}

typedef struct fixture {
    double a[MOST * MOST], A[MOST * MOST], rest[8 * MOST];
    int pivot[MOST];
    lwi_cod cod;
} fixture;

static void decompose(fixture *f, int n, int m, int r, int keep)
{
    assert_true(lwi_cod_doubles(n, m) <= 8 * MOST);
    random_columns(n, m, r, f->A);
    memcpy(f->a, f->A, sizeof f->a);
    lwi_cod_init(&f->cod, n, m, f->a, f->rest, f->pivot);
    lwi_cod_factor(&f->cod, keep, 1e-10);
}

// b = A x, c = A'y
static void times(const fixture *f, const double *x, double *b)
{
    const int n = f->cod.n, m = f->cod.m;
    for (int i = 0; i < n; i++) {
        b[i] = 0;
        for (int j = 0; j < m; j++) b[i] += f->A[j * n + i] * x[j];
    }
}
static void times_t(const fixture *f, const double *y, double *c)
{
    const int n = f->cod.n, m = f->cod.m;
    for (int j = 0; j < m; j++) {
        c[j] = 0;
        for (int i = 0; i < n; i++) c[j] += f->A[j * n + i] * y[i];
    }
}
static double largest(int n, const double *x)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}
static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Shapes: tall, wide, square, thin; full rank, deficient rank, rank zero.
static const int shapes[][3] = {{6, 4, 4}, {4, 6, 4}, {8, 8, 8}, {12, 20, 7},  {20, 12, 5},
                                {9, 9, 1}, {1, 5, 1}, {5, 1, 1}, {18, 20, 15}, {7, 3, 0}};
#define FOR_EACH_SHAPE(k, trials)                                                                  \
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)                                    \
        for (int trial_ = 0; trial_ < (trials); trial_++)

// Entries are of order one. The matrices are products of random factors with condition numbers
// below 1e4 at these sizes, so results are accurate to 1e4 * 1e2 operations * 1e-16.
#define TOLERANCE 1e-10

// A = L L': the factor reproduces the matrix and solves with it; for a singular matrix the
// factorization reports the row at which the rank drops.
static void cholesky_factors_and_finds_singular_matrices(void **state)
{
    (void)state;
    enum { n = 9 };
    double B[n][n], A[n * n], L[n * n], x[n], b[n];
    for (int trial = 0; trial < 20; trial++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) B[i][j] = uniform() + (i == j);
        for (int i = 0; i < n; i++) x[i] = uniform();
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[i * n + j] = dot(n, B[i], B[j]);
        for (int i = 0; i < n; i++) b[i] = dot(n, A + i * n, x);
        memcpy(L, A, sizeof L);
        assert_int_equal(lwi_cholesky(n, L, 0), -1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                assert_true(fabs(dot(j + 1, L + i * n, L + j * n) - A[i * n + j]) < 1e-13);
                if (j < i) assert_true(L[j * n + i] == A[j * n + i]); // upper triangle unchanged
            }
        lwi_lower_solve(n, L, b);
        lwi_lower_tsolve(n, L, b);
        double residual[n];
        for (int i = 0; i < n; i++) residual[i] = dot(n, A + i * n, b) - dot(n, A + i * n, x);
        assert_true(largest(n, residual) < 1e-12);
        // row 5 := row 2 + row 3: the pivot vanishes there
        for (int k = 0; k < n; k++) B[5][k] = B[2][k] + B[3][k];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[i * n + j] = dot(n, B[i], B[j]);
        assert_int_equal(lwi_cholesky(n, A, 1e-12), 5);
    }
}

// The computed rank is the rank of the construction.
static void rank_is_found(void **state)
{
    (void)state;
    fixture f;
    FOR_EACH_SHAPE(k, 20)
    {
        decompose(&f, shapes[k][0], shapes[k][1], shapes[k][2], -1);
        assert_int_equal(f.cod.rank, shapes[k][2]);
        assert_true(f.cod.small > 1e-6);
        assert_true(f.cod.next < 1e-13);
    }
}

// lwi_cod_solve: the residual is normal to the columns, the solution is normal to the null space.
static void least_squares_have_normal_residual_and_least_norm(void **state)
{
    (void)state;
    fixture f;
    double b[MOST], keep[MOST], x[MOST], r[MOST], c[MOST], N[MOST * MOST];
    FOR_EACH_SHAPE(k, 20)
    {
        const int n = shapes[k][0], m = shapes[k][1];
        decompose(&f, n, m, shapes[k][2], -1);
        for (int i = 0; i < n; i++) keep[i] = b[i] = uniform();
        lwi_cod_solve(&f.cod, b, x);
        times(&f, x, r);
        for (int i = 0; i < n; i++) r[i] -= keep[i];
        times_t(&f, r, c);
        assert_true(largest(m, c) < TOLERANCE * (1 + largest(m, x)));
        lwi_cod_null(&f.cod, N);
        for (int i = 0; i < m - f.cod.rank; i++)
            assert_true(fabs(dot(m, N + i * m, x)) < TOLERANCE * (1 + largest(m, x)));
    }
}

// lwi_cod_inverse_t: y = Y c
static void compare_with_inverse(fixture *f, const double *c, const double *y)
{
    static double Y[MOST * MOST], scratch[MOST * MOST];
    const int n = f->cod.n, m = f->cod.m;
    lwi_cod_inverse_t(&f->cod, scratch, Y);
    for (int i = 0; i < n; i++)
        assert_true(fabs(dot(m, Y + i * m, c) - y[i]) < TOLERANCE * (1 + largest(n, y)));
}

// lwi_cod_solve_t: the same for A'; its solutions are in the column space of A.
static void transposed_least_squares(void **state)
{
    (void)state;
    fixture f;
    double c[MOST], y[MOST], r[MOST], s[MOST], e[MOST], x[MOST];
    FOR_EACH_SHAPE(k, 20)
    {
        const int n = shapes[k][0], m = shapes[k][1];
        decompose(&f, n, m, shapes[k][2], -1);
        for (int j = 0; j < m; j++) c[j] = uniform();
        lwi_cod_solve_t(&f.cod, c, y);
        times_t(&f, y, r);
        for (int j = 0; j < m; j++) r[j] -= c[j];
        times(&f, r, s);
        assert_true(largest(n, s) < TOLERANCE * (1 + largest(n, y)));
        compare_with_inverse(&f, c, y);
        memcpy(e, y, sizeof e); // y in the range of A: the least-squares residual is zero
        lwi_cod_solve(&f.cod, e, x);
        times(&f, x, s);
        for (int i = 0; i < n; i++) s[i] -= y[i];
        assert_true(largest(n, s) < TOLERANCE * (1 + largest(n, y)));
    }
}

// lwi_cod_nearest: y + A lambda = f, A'y = c for consistent c, lambda normal to the null space.
static void nearest_point_meets_its_constraints(void **state)
{
    (void)state;
    fixture f;
    double y[MOST], force[MOST], lambda[MOST], c[MOST], x[MOST], r[MOST], N[MOST * MOST];
    FOR_EACH_SHAPE(k, 20)
    {
        const int n = shapes[k][0], m = shapes[k][1];
        decompose(&f, n, m, shapes[k][2], -1);
        for (int i = 0; i < n; i++) y[i] = force[i] = uniform(), x[i] = uniform();
        times_t(&f, x, c);
        memcpy(lambda, c, sizeof lambda);
        lwi_cod_nearest(&f.cod, y, lambda);
        times(&f, lambda, r);
        const double size = 1 + largest(n, y) + largest(m, lambda);
        for (int i = 0; i < n; i++) r[i] += y[i] - force[i];
        assert_true(largest(n, r) < TOLERANCE * size);
        times_t(&f, y, r);
        for (int j = 0; j < m; j++) r[j] -= c[j];
        assert_true(largest(m, r) < TOLERANCE * size);
        lwi_cod_null(&f.cod, N);
        for (int i = 0; i < m - f.cod.rank; i++)
            assert_true(fabs(dot(m, N + i * m, lambda)) < TOLERANCE * size);
    }
}

// The null basis is orthonormal and A takes it to zero; Q is orthogonal and its last columns span
// the null space of A'.
static void null_spaces(void **state)
{
    (void)state;
    fixture f;
    double N[MOST * MOST], r[MOST], q[MOST], back[MOST];
    FOR_EACH_SHAPE(k, 1)
    {
        const int n = shapes[k][0], m = shapes[k][1];
        decompose(&f, n, m, shapes[k][2], -1);
        const int rank = f.cod.rank;
        lwi_cod_null(&f.cod, N);
        for (int i = 0; i < m - rank; i++) {
            for (int j = 0; j <= i; j++)
                assert_true(fabs(dot(m, N + i * m, N + j * m) - (i == j)) < 1e-14);
            times(&f, N + i * m, r);
            assert_true(largest(n, r) < 1e-12);
        }
        for (int i = 0; i < n; i++) {
            memset(q, 0, sizeof q);
            q[i] = 1;
            lwi_cod_q(&f.cod, false, q);
            assert_true(fabs(dot(n, q, q) - 1) < 1e-14);
            if (i >= rank) {
                times_t(&f, q, r);
                assert_true(largest(m, r) < 1e-12);
            }
            memcpy(back, q, sizeof back);
            lwi_cod_q(&f.cod, true, back);
            back[i] -= 1;
            assert_true(largest(n, back) < 1e-14);
        }
    }
}

// A prescribed rank is used: the part beyond it (here noise of 1e-9 on dependent columns) is
// dropped and reported; the solution changes by the order of the noise.
static void given_rank_drops_noise(void **state)
{
    (void)state;
    fixture f, g;
    double b[MOST], x[MOST], z[MOST];
    const int n = 12, m = 10, r = 6;
    decompose(&f, n, m, r, -1);
    for (int i = 0; i < n * m; i++) g.a[i] = f.A[i] + 1e-9 * uniform();
    lwi_cod_init(&g.cod, n, m, g.a, g.rest, g.pivot);
    lwi_cod_factor(&g.cod, r, 0);
    assert_int_equal(g.cod.rank, r);
    assert_true(g.cod.next > 1e-11 && g.cod.next < 1e-8);
    for (int i = 0; i < n; i++) b[i] = z[i] = uniform();
    lwi_cod_solve(&f.cod, z, x);
    lwi_cod_solve(&g.cod, b, z);
    for (int j = 0; j < m; j++) z[j] -= x[j];
    assert_true(largest(m, z) < 1e-9 * 1e4); // noise times the condition number squared at most
}

// Rejection leaves a vector normal to the basis even when the vector is in the span up to 1e-10.
static void rejection_is_clean(void **state)
{
    (void)state;
    enum { n = 12, count = 5 };
    double basis[(count + 1) * n], v[n];
    for (int i = 0; i < count * n; i++) basis[i] = uniform();
    for (int i = 0; i < n; i++) basis[n + i] = basis[i] + 1e-8 * basis[n + i]; // nearly parallel
    lwi_orthonormalize(n, count, basis);
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i; j++)
            assert_true(fabs(dot(n, basis + i * n, basis + j * n) - (i == j)) < 1e-14);
    for (int i = 0; i < n; i++) v[i] = 3 * basis[i] - 2 * basis[2 * n + i] + 1e-10 * uniform();
    const double norm = lwi_reject(n, count, basis, v);
    assert_true(norm > 1e-11 && norm < 1e-9);
    for (int i = 0; i < count; i++) assert_true(fabs(dot(n, basis + i * n, v)) < 1e-24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cholesky_factors_and_finds_singular_matrices),
        cmocka_unit_test(rank_is_found),
        cmocka_unit_test(least_squares_have_normal_residual_and_least_norm),
        cmocka_unit_test(transposed_least_squares),
        cmocka_unit_test(nearest_point_meets_its_constraints),
        cmocka_unit_test(null_spaces),
        cmocka_unit_test(given_rank_drops_noise),
        cmocka_unit_test(rejection_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
