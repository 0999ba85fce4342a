// test_eigen.c -- eigenvalues and eigenvectors of random and of difficult matrices.
#include "base/eigen.h"
#include "support/mechanism.h"
#include "support/random_model.h"

enum { MAX_SIZE = 30 };

static double norm_of(int n, const double *A)
{
    double maximum = 0;
    for (int i = 0; i < n * n; i++) maximum = fmax(maximum, fabs(A[i]));
    return maximum;
}

// |A (x + i y) - (re + i im) (x + i y)|
static double residual(int n, const double *A, double re, double im, const double *x,
                       const double *y)
{
    double maximum = 0;
    for (int i = 0; i < n; i++) {
        double a = im * y[i] - re * x[i], b = -re * y[i] - im * x[i];
        for (int j = 0; j < n; j++) a += A[i * n + j] * x[j], b += A[i * n + j] * y[j];
        maximum = fmax(maximum, hypot(a, b));
    }
    return maximum;
}

static void check_values(int n, const double *A)
{
    double H[MAX_SIZE * MAX_SIZE], re[MAX_SIZE], im[MAX_SIZE], x[MAX_SIZE], y[MAX_SIZE],
        scratch[2 * MAX_SIZE * (MAX_SIZE + 1)];
    const double size = norm_of(n, A);
    double trace = 0, sum = 0, imaginary = 0;
    memcpy(H, A, (size_t)(n * n) * sizeof *A);
    assert_true(lwi_eigen_values(n, H, re, im, scratch));
    for (int i = 0; i < n; i++) trace += A[i * n + i], sum += re[i], imaginary += im[i];
    assert_true(fabs(trace - sum) <= 1e-12 * n * size);
    assert_true(imaginary == 0); // conjugates
    for (int i = 0; i < n; i++) {
        lwi_eigen_vector(n, A, re[i], im[i], 0, scratch, x, y);
        const double wrong = residual(n, A, re[i], im[i], x, y);
        if (!(wrong <= 1e-12 * n * size))
            fail_msg("n %d: eigenvalue %g + %g i has residual %g", n, re[i], im[i], wrong);
    }
}

static void test_any_matrix(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 200; trial++) {
        double A[MAX_SIZE * MAX_SIZE] = {0};
        const int n = 1 + lwt_random_below(&seed, MAX_SIZE);
        for (int i = 0; i < n * n; i++) {
            A[i] = lwt_random(&seed, -1, 1);
            if (trial % 3 == 1) A[i] *= pow(10, lwt_random(&seed, -4, 4)); // badly scaled
            if (trial % 3 == 2 && lwt_random(&seed, 0, 1) < 0.8) A[i] = 0; // sparse
        }
        check_values(n, A);
    }
}

// The second-order form of n masses without springs: n double zeros without n vectors; a cycle, which the shifts of
// its last block do not split.
static void test_difficult_matrices(void **state)
{
    (void)state;
    double A[64] = {0}, re[8], im[8], scratch[8];
    for (int i = 0; i < 4; i++) A[i * 8 + 4 + i] = 1;
    assert_true(lwi_eigen_values(8, A, re, im, scratch));
    for (int i = 0; i < 8; i++) assert_true(hypot(re[i], im[i]) == 0);
    memset(A, 0, sizeof A);
    for (int i = 0; i < 8; i++) A[i * 8 + (i + 1) % 8] = 1;
    check_values(8, A);
    A[3] = NAN;
    assert_false(lwi_eigen_values(8, A, re, im, scratch));
}

// w and V of the symmetric matrix A.
static void check_symmetric(int n, const double *A, const double *w, const double *V)
{
    const double none[MAX_SIZE] = {0};
    for (int i = 0; i < n; i++) {
        assert_true(i == 0 || w[i - 1] <= w[i]);
        assert_true(residual(n, A, w[i], 0, V + i * n, none) <= 1e-14 * n * norm_of(n, A));
        for (int j = 0; j <= i; j++) {
            double dot = 0;
            for (int k = 0; k < n; k++) dot += V[i * n + k] * V[j * n + k];
            assert_true(fabs(dot - (i == j)) <= 1e-13);
        }
    }
}

static void test_symmetric_matrix(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int trial = 0; trial < 100; trial++) {
        double A[MAX_SIZE * MAX_SIZE], S[MAX_SIZE * MAX_SIZE], w[MAX_SIZE], V[MAX_SIZE * MAX_SIZE],
            other[MAX_SIZE], scratch[MAX_SIZE];
        const int n = 1 + lwt_random_below(&seed, MAX_SIZE);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double a = lwt_random(&seed, -1, 1);
                if (trial % 4 == 1) a *= pow(10, -0.2 * (i + j));
                if (trial % 4 == 2 && lwt_random(&seed, 0, 1) < 0.8) a = 0; // sparse
                if (trial % 4 == 3) a = i / 5 == j / 5; // five times the same, and zero
                A[i * n + j] = A[j * n + i] = a;
            }
        memcpy(S, A, (size_t)(n * n) * sizeof *A);
        lwi_eigen_symmetric(n, S, w, V);
        check_symmetric(n, A, w, V);
        memcpy(S, A, (size_t)(n * n) * sizeof *A);
        assert_true(lwi_eigen_symmetric_ql(n, S, other, V, scratch));
        check_symmetric(n, A, other, V);
        for (int i = 0; i < n; i++) assert_true(fabs(other[i] - w[i]) <= 1e-14 * n * norm_of(n, A));
        S[n * n - 1] = NAN;
        assert_false(lwi_eigen_symmetric_ql(n, S, other, V, scratch));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_matrix),
                                       cmocka_unit_test(test_difficult_matrices),
                                       cmocka_unit_test(test_symmetric_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
