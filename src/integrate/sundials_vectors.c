// sundials_vectors.c -- operations of SUNDIALS on vectors, with the bits of its serial ones.
//
// SUNDIALS sums the stages of a step one by one, each time over the whole vector, and Debian's build takes some 20
// instructions for a component.  Here a sum of vectors is one pass over blocks that stay in the first cache, in loops that
// the compiler vectorises.  Each component is computed by the same operations in the same order as in nvector_serial.c,
// so results do not change.  Vectors may be the same: a component is read before it is written.
#include "integrate/sundials_vectors.h"

#include "base/pair.h"

#include <nvector/nvector_serial.h>

#include <math.h>
#include <string.h>

enum { BLOCK = 64 };

static int length_of(N_Vector v)
{
    return (int)NV_LENGTH_S(v);
}

// z = a x
static void scale(double a, N_Vector X, N_Vector Z)
{
    const int n = length_of(X);
    const double *x = NV_DATA_S(X);
    double *z = NV_DATA_S(Z);
    if (a == 1 && x == z) return;
    if (a == 1)
        memcpy(z, x, (size_t)n * sizeof *z);
    else
        for (int i = 0; i < n; i++) z[i] = a * x[i];
}

// z = a x + b y; equal factors are taken out of the sum
static void linear_sum(double a, N_Vector X, double b, N_Vector Y, N_Vector Z)
{
    const int n = length_of(X);
    const double *x = NV_DATA_S(X), *y = NV_DATA_S(Y);
    double *z = NV_DATA_S(Z);
    if (a == b)
        for (int i = 0; i < n; i++) z[i] = a * (x[i] + y[i]);
    else if (a == -b)
        for (int i = 0; i < n; i++) z[i] = a * (x[i] - y[i]);
    else
        for (int i = 0; i < n; i++) z[i] = a * x[i] + b * y[i];
}

// The same of 2 n components from `at` on: sums of n pairs stay in registers.
static inline __attribute__((always_inline)) void combine(const int n, int count, const double *c,
                                                          N_Vector *X, int at, double *z)
{
    lwi_pair sum[8];
    const double *x = NV_DATA_S(X[0]) + at;
    for (int i = 0; i < n; i++) sum[i] = c[0] * lwi_pair_load(x + 2 * i);
    for (int k = 1; k < count; k++) {
        x = NV_DATA_S(X[k]) + at;
        for (int i = 0; i < n; i++) sum[i] += c[k] * lwi_pair_load(x + 2 * i);
    }
    for (int i = 0; i < n; i++) lwi_pair_store(z + at + 2 * i, sum[i]);
}

// z = c0 x0 + c1 x1 + ..., from the left
static int linear_combination(int count, double *c, N_Vector *X, N_Vector Z)
{
    const int n = length_of(Z);
    double *z = NV_DATA_S(Z);
    int at = 0;
    for (; at + 16 <= n; at += 16) combine(8, count, c, X, at, z);
    for (; at + 8 <= n; at += 8) combine(4, count, c, X, at, z);
    for (; at + 4 <= n; at += 4) combine(2, count, c, X, at, z);
    for (; at + 2 <= n; at += 2) combine(1, count, c, X, at, z);
    for (; at < n; at++) {
        double sum = c[0] * NV_DATA_S(X[0])[at];
        for (int k = 1; k < count; k++) sum += c[k] * NV_DATA_S(X[k])[at];
        z[at] = sum;
    }
    return 0;
}

static void absolute(N_Vector X, N_Vector Z)
{
    const int n = length_of(X);
    const double *x = NV_DATA_S(X);
    double *z = NV_DATA_S(Z);
    for (int i = 0; i < n; i++) z[i] = fabs(x[i]);
}

static void add_constant(N_Vector X, double b, N_Vector Z)
{
    const int n = length_of(X);
    const double *x = NV_DATA_S(X);
    double *z = NV_DATA_S(Z);
    for (int i = 0; i < n; i++) z[i] = x[i] + b;
}

static void invert(N_Vector X, N_Vector Z)
{
    const int n = length_of(X);
    const double *x = NV_DATA_S(X);
    double *z = NV_DATA_S(Z);
    for (int i = 0; i < n; i++) z[i] = 1 / x[i];
}

// Sum of (x w)^2 from the left.
static double weighted_square_sum(N_Vector X, N_Vector W)
{
    const int n = length_of(X);
    const double *x = NV_DATA_S(X), *w = NV_DATA_S(W);
    double sum = 0;
    for (int first = 0; first < n; first += BLOCK) {
        const int m = n - first < BLOCK ? n - first : BLOCK;
        double square[BLOCK];
        for (int i = 0; i < m; i++) {
            const double p = x[first + i] * w[first + i];
            square[i] = p * p;
        }
        for (int i = 0; i < m; i++) sum += square[i];
    }
    return sum;
}

static double weighted_rms(N_Vector X, N_Vector W)
{
    return sqrt(weighted_square_sum(X, W) / length_of(X));
}

void lwi_sundials_set_vectors(struct _generic_N_Vector_Ops *operations)
{
    operations->nvscale = scale;
    operations->nvlinearsum = linear_sum;
    operations->nvlinearcombination = linear_combination;
    operations->nvabs = absolute;
    operations->nvaddconst = add_constant;
    operations->nvinv = invert;
    operations->nvwsqrsumlocal = weighted_square_sum;
    operations->nvwrmsnorm = weighted_rms;
}
