// derivatives.c -- kernels of the derivatives of trees for one instruction set, ISA.
#include "tree/simd/derivatives.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// about functions that pass vectors: all of them are inlined
#pragma GCC diagnostic ignored "-Wpsabi"

// Consecutive numbers of any alignment, in a register; products and sums are not fused: the same bits in every build.
#if defined __AVX512F__
enum { W = 8 };
#elif defined __AVX__
enum { W = 4 };
#else
enum { W = 2 };
#endif
typedef double row __attribute__((vector_size(8 * W), may_alias, aligned(8)));

static inline row load(const double *x)
{
    return *(const row *)x;
}

static inline void store(double *x, row value, int count)
{
    if (count >= W)
        *(row *)x = value;
    else
        memcpy(x, &value, (size_t)count * sizeof *x);
}

static inline row dot6(double *const *a, int k, const double *b)
{
    return load(a[0] + k) * b[0] + load(a[1] + k) * b[1] + load(a[2] + k) * b[2] +
           load(a[3] + k) * b[3] + load(a[4] + k) * b[4] + load(a[5] + k) * b[5];
}

static inline row dot3(double *const *a, int k, const double *b)
{
    return load(a[0] + k) * b[0] + load(a[1] + k) * b[1] + load(a[2] + k) * b[2];
}

static void entries(const lwi_speed_arrays *a, const lwi_speed_terms *i, int first, int count,
                    lwi_speed_entries to)
{
    for (int k = first; k < first + count; k += W) {
        const int n = first + count - k;
        store(to.column_q + k, dot6(a->S, k, i->q), n);
        store(to.column_v + k, dot6(a->S, k, i->v), n);
        store(to.M + k, dot6(a->S, k, i->IS), n);
        store(to.row_q + k, dot6(a->rate2, k, i->IS) + dot3(a->rate_w, k, i->Bt), n);
        store(to.row_v + k, dot6(a->drift, k, i->IS) + dot3(a->S + 3, k, i->Bt), n);
    }
}

// a[first ... last] -= s b[first ... last]
static inline void subtract(double *a, double s, const double *b, int first, int last)
{
    int j = first;
    for (; j + W <= last + 1; j += W) *(row *)(a + j) = load(a + j) - s * load(b + j);
    for (; j <= last; j++) a[j] -= s * b[j];
}

static int factor(int n, const int *lower, const int *run, double *M)
{
    for (int k = n - 1; k >= 0; k--) {
        double *of = M + (size_t)k * (size_t)n;
        if (!(of[k] > 0)) return k;
        of[k] = 1 / sqrt(of[k]);
        for (int i = lower[k]; i >= 0; i = lower[i]) of[i] *= of[k];
        for (int i = lower[k]; i >= 0; i = lower[i])
            for (int last = i; last >= 0; last = lower[run[last]])
                subtract(M + (size_t)i * (size_t)n, of[i], of, run[last], last);
    }
    return -1;
}

#define LWI_UNROLL _Pragma("GCC unroll 16")

// `width` columns of X, a constant at each call.
static inline void solve_block(int width, int n, const int *lower, const double *L, double *block)
{
    row x[32 / W];
    for (int i = n - 1; i >= 0; i--) { // L'^-1
        const double *of = L + (size_t)i * (size_t)n;
        double *own = block + (size_t)i * (size_t)width;
        LWI_UNROLL
        for (int w = 0; w < width / W; w++) {
            x[w] = load(own + W * w) * of[i];
            *(row *)(own + W * w) = x[w];
        }
        for (int j = lower[i]; j >= 0; j = lower[j]) {
            double *other = block + (size_t)j * (size_t)width;
            const double s = of[j];
            LWI_UNROLL
            for (int w = 0; w < width / W; w++)
                *(row *)(other + W * w) = load(other + W * w) - x[w] * s;
        }
    }
    for (int i = 0; i < n; i++) { // L^-1
        const double *of = L + (size_t)i * (size_t)n;
        double *own = block + (size_t)i * (size_t)width;
        LWI_UNROLL
        for (int w = 0; w < width / W; w++) x[w] = load(own + W * w);
        for (int j = lower[i]; j >= 0; j = lower[j]) {
            const double *other = block + (size_t)j * (size_t)width;
            const double s = of[j];
            LWI_UNROLL
            for (int w = 0; w < width / W; w++) x[w] -= load(other + W * w) * s;
        }
        LWI_UNROLL
        for (int w = 0; w < width / W; w++) *(row *)(own + W * w) = x[w] * of[i];
    }
}

static void solve(int n, const int *lower, const double *L, double scale, double *X, double *block)
{
    for (int first = 0, width; first < n; first += width) {
        const int left = n - first;
        width = left > 16 ? 32 : left > 8 ? 16 : 8;
        const int count = left < width ? left : width;
        for (int i = 0; i < n; i++) {
            const double *from = X + (size_t)i * (size_t)n + first;
            double *to = block + (size_t)i * (size_t)width;
            for (int c = 0; c < width; c++) to[c] = c < count ? scale * from[c] : 0;
        }
        if (width == 32)
            solve_block(32, n, lower, L, block);
        else if (width == 16)
            solve_block(16, n, lower, L, block);
        else
            solve_block(8, n, lower, L, block);
        for (int i = 0; i < n; i++)
            memcpy(X + (size_t)i * (size_t)n + first, block + (size_t)i * (size_t)width,
                   (size_t)count * sizeof *X);
    }
}

#define TABLE_2(isa) lwi_derivative_kernels_##isa
#define TABLE(isa) TABLE_2(isa)
extern const lwi_derivative_kernels TABLE(ISA);
const lwi_derivative_kernels TABLE(ISA) = {entries, factor, solve};
