// derivatives.c -- kernels of the derivatives of trees for one instruction set, ISA.
#include "tree/simd/derivatives.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#if defined __AVX__
#include <immintrin.h>
#endif

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

#define LWI_UNROLL _Pragma("GCC unroll 16")

static inline row load(const double *x)
{
    return *(const row *)x;
}

// Of the first `count` lanes, fewer than all.
#if defined __AVX512F__
static inline void store_part(double *x, row value, int count)
{
    _mm512_mask_storeu_pd(x, (__mmask8)((1u << count) - 1), (__m512d)value);
}
static inline row load_part(const double *x, int count)
{
    return (row)_mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), x);
}
#elif defined __AVX__
static inline __m256i lanes_before(int count)
{
    static const long long first[2 * W] = {-1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(first + W - count));
}
static inline void store_part(double *x, row value, int count)
{
    _mm256_maskstore_pd(x, lanes_before(count), (__m256d)value);
}
static inline row load_part(const double *x, int count)
{
    return (row)_mm256_maskload_pd(x, lanes_before(count));
}
#else
static inline void store_part(double *x, row value, int count)
{
    memcpy(x, &value, (size_t)count * sizeof *x);
}
static inline row load_part(const double *x, int count)
{
    row value = {0};
    memcpy(&value, x, (size_t)count * sizeof *x);
    return value;
}
#endif

#include "tree/simd/terms.inl"

static inline row dot6(double *const *a, int k, const double *b)
{
    return load(a[0] + k) * b[0] + load(a[1] + k) * b[1] + load(a[2] + k) * b[2] +
           load(a[3] + k) * b[3] + load(a[4] + k) * b[4] + load(a[5] + k) * b[5];
}

static inline row dot3(double *const *a, int k, const double *b)
{
    return load(a[0] + k) * b[0] + load(a[1] + k) * b[1] + load(a[2] + k) * b[2];
}

static inline void store_entries(int n, double *const to[5], size_t at, const row value[5],
                                 int count)
{
    if (count >= W) {
        LWI_UNROLL
        for (int i = 0; i < n; i++) *(row *)(to[i] + at) = value[i];
    } else {
        LWI_UNROLL
        for (int i = 0; i < n; i++) store_part(to[i] + at, value[i], count);
    }
}

// Entries of row i and, transposed, of column i, at speeds first ... first + count - 1; n: 5, or 4 without M.
static inline void entries_of(int n, const lwi_speed_arrays *a, const lwi_speed_terms *i, int first,
                              int count, size_t at, double *const to[5])
{
    row value[5];
    for (int k = first; k < first + count; k += W) {
        value[0] = dot6(a->S, k, i->q);
        value[1] = dot6(a->S, k, i->v);
        value[2] = dot6(a->rate2, k, i->IS) + dot3(a->rate_w, k, i->Bt);
        value[3] = dot6(a->drift, k, i->IS) + dot3(a->S + 3, k, i->Bt);
        if (n > 4) value[4] = dot6(a->S, k, i->IS);
        store_entries(n, to, at + (size_t)k, value, first + count - k);
    }
}

static void entries(int n, const int *next, const int *run, const lwi_speed_arrays *arrays,
                    const lwi_speed_terms *terms, const lwi_speed_entries *e)
{
    double *const to[5] = {e->column_q, e->column_v, e->row_q, e->row_v, e->M};
    for (int i = 0; i < n; i++)
        for (int k = i; k >= 0; k = next[run[k]]) {
            const size_t at = (size_t)i * (size_t)n;
            if (e->M)
                entries_of(5, arrays, &terms[i], run[k], k - run[k] + 1, at, to);
            else
                entries_of(4, arrays, &terms[i], run[k], k - run[k] + 1, at, to);
        }
}

// In blocks of speeds that follow each other, because columns of large matrices share lines of the cache.
static void mirror(int n, const int *next, const int *run, const double *from, double *to)
{
    enum { BLOCK = 8 };
    const size_t N = (size_t)n;
    for (int first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && end < first + BLOCK && next[end] == end - 1) end++;
        for (int last = next[first]; last >= 0; last = next[run[last]])
            for (int k = run[last]; k <= last; k++)
                for (int i = first; i < end; i++)
                    to[(size_t)k * N + (size_t)i] = from[(size_t)i * N + (size_t)k];
        for (int i = first + 1; i < end; i++) {
            const double *row_of = from + (size_t)i * N + (size_t)first;
            double *column = to + (size_t)first * N + (size_t)i;
            for (int k = first; k < i; k++, column += N) *column = *row_of++;
        }
    }
}

// a[first ... last] -= s b[first ... last]
static inline void subtract(double *a, double s, const double *b, int first, int last)
{
    int j = first;
    for (; j + W <= last + 1; j += W) *(row *)(a + j) = load(a + j) - s * load(b + j);
    const int left = last + 1 - j;
    if (left > 0) store_part(a + j, load_part(a + j, left) - s * load_part(b + j, left), left);
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

// `width` columns of rows of `stride` numbers; width: a constant at each call.
static inline void solve_block(int width, int n, const int *lower, const double *L, double *block,
                               size_t stride)
{
    row x[32 / W];
    for (int i = n - 1; i >= 0; i--) { // L'^-1
        const double *of = L + (size_t)i * (size_t)n;
        double *own = block + (size_t)i * stride;
        LWI_UNROLL
        for (int w = 0; w < width / W; w++) {
            x[w] = load(own + W * w) * of[i];
            *(row *)(own + W * w) = x[w];
        }
        for (int j = lower[i]; j >= 0; j = lower[j]) {
            double *other = block + (size_t)j * stride;
            const double s = of[j];
            LWI_UNROLL
            for (int w = 0; w < width / W; w++)
                *(row *)(other + W * w) = load(other + W * w) - x[w] * s;
        }
    }
    for (int i = 0; i < n; i++) { // L^-1
        const double *of = L + (size_t)i * (size_t)n;
        double *own = block + (size_t)i * stride;
        LWI_UNROLL
        for (int w = 0; w < width / W; w++) x[w] = load(own + W * w);
        for (int j = lower[i]; j >= 0; j = lower[j]) {
            const double *other = block + (size_t)j * stride;
            const double s = of[j];
            LWI_UNROLL
            for (int w = 0; w < width / W; w++) x[w] -= load(other + W * w) * s;
        }
        LWI_UNROLL
        for (int w = 0; w < width / W; w++) *(row *)(own + W * w) = x[w] * of[i];
    }
}

// to := scale from; they do not overlap.
static inline void copy(double *to, const double *from, double scale, int n)
{
    if (n < W) {
        for (int c = 0; c < n; c++) to[c] = scale * from[c];
        return;
    }
    for (int c = 0; c + W <= n; c += W) *(row *)(to + c) = load(from + c) * scale;
    *(row *)(to + n - W) = load(from + n - W) * scale; // the rest, and some again
}

static void solve(int n, const int *lower, const double *L, double *const X[2], double *inverse,
                  double *block)
{
    const size_t stride = LWI_DERIVATIVE_STRIDE((size_t)n), N = (size_t)n;
    memset(block, 0, N * stride * sizeof *block);
    for (size_t i = 0; i < N; i++) {
        double *to = block + i * stride;
        copy(to, X[0] + i * N, -1, n);
        copy(to + N, X[1] + i * N, -1, n);
        to[2 * N + i] = 1;
    }
    for (size_t first = 0; first < stride;) {
        const size_t left = stride - first;
        double *const at = block + first;
        if (left >= 32)
            solve_block(32, n, lower, L, at, stride), first += 32;
        else if (left == 24)
            solve_block(24, n, lower, L, at, stride), first += 24;
        else if (left == 16)
            solve_block(16, n, lower, L, at, stride), first += 16;
        else
            solve_block(8, n, lower, L, at, stride), first += 8;
    }
    for (size_t i = 0; i < N; i++) {
        const double *from = block + i * stride;
        copy(X[0] + i * N, from, 1, n);
        copy(X[1] + i * N, from + N, 1, n);
        copy(inverse + i * N, from + 2 * N, 1, n);
    }
}

// ---------------------------------------------------------------------------- articulated recursion

enum { GROUPS = 2, WIDTH = GROUPS * W }; // columns at once: their wrenches stay in registers
_Static_assert((int)WIDTH <= (int)LWI_DERIVATIVE_COLUMNS, "room of a block");

/** A spatial vector of each column. */
typedef struct vectors {
    row c[6][GROUPS];
} vectors;

#define FOR_EACH_ROW(c, g)                                                                         \
    LWI_UNROLL                                                                                     \
    for (int c = 0; c < 6; c++) LWI_UNROLL for (int g = 0; g < GROUPS; g++)

static inline void vectors_load(vectors *x, const double *from)
{
    FOR_EACH_ROW(c, g) x->c[c][g] = load(from + (c * GROUPS + g) * W);
}

static inline void vectors_store(double *to, const vectors *x)
{
    FOR_EACH_ROW(c, g) * (row *)(to + (c * GROUPS + g) * W) = x->c[c][g];
}

static inline void vectors_add(vectors *x, const double *from)
{
    FOR_EACH_ROW(c, g) x->c[c][g] += load(from + (c * GROUPS + g) * W);
}

static inline row vectors_dot(const vectors *x, int g, const double *s)
{
    return ((x->c[0][g] * s[0] + x->c[1][g] * s[1]) + (x->c[2][g] * s[2] + x->c[3][g] * s[3])) +
           (x->c[4][g] * s[4] + x->c[5][g] * s[5]);
}

// e := (e - a.x) r, and x += b e.
static inline void advance(vectors *x, const double *a, const double *b, double r, double *e)
{
    row of[GROUPS];
    LWI_UNROLL
    for (int g = 0; g < GROUPS; g++) {
        of[g] = (load(e + g * W) - vectors_dot(x, g, a)) * r;
        *(row *)(e + g * W) = of[g];
    }
    FOR_EACH_ROW(c, g) x->c[c][g] += of[g] * b[c];
}

static inline double *load_of(const lwi_articulated_tree *t, int i)
{
    return t->load + (size_t)i * 6 * LWI_DERIVATIVE_COLUMNS;
}

// Efforts of the block become those that are left to accelerate; the wrench p goes inward from speed end - 1.
static void inward(const lwi_articulated_tree *t, int end)
{
    const vectors zero = {0};
    vectors p = zero;
    for (int i = 0; i < end; i++)
        if (t->branches[i]) vectors_store(load_of(t, i), &zero);
    for (int i = end - 1; i >= 0; i--) {
        const lwi_articulated_speed *s = &t->speed[i];
        const int lower = t->lower[i];
        if (i < end - 1 && t->lower[i + 1] != i) p = zero;
        if (t->branches[i]) vectors_add(&p, load_of(t, i));
        advance(&p, s->S, s->Y, s->r, t->block + (size_t)i * WIDTH);
        if (lower < 0 || lower == i - 1) continue;
        vectors sum = p;
        vectors_add(&sum, load_of(t, lower));
        vectors_store(load_of(t, lower), &sum);
    }
}

// Accelerations of the speeds before `end`; the acceleration a of bodies goes outward.
static void outward(const lwi_articulated_tree *t, int end)
{
    const vectors zero = {0};
    vectors a = zero;
    for (int i = 0; i < end; i++) {
        const lwi_articulated_speed *s = &t->speed[i];
        const int lower = t->lower[i];
        if (lower < 0)
            a = zero;
        else if (lower != i - 1)
            vectors_load(&a, load_of(t, lower));
        advance(&a, s->Y, s->S, s->r, t->block + (size_t)i * WIDTH);
        if (t->branches[i]) vectors_store(load_of(t, i), &a);
    }
}

static void solve_articulated(const lwi_articulated_tree *t, double scale, double *X)
{
    const int n = t->n;
    memset(t->block, 0, (size_t)n * WIDTH * sizeof *X);
    for (int first = 0; first < n; first += WIDTH) {
        const int count = n - first < WIDTH ? n - first : WIDTH;
        for (int i = 0; i < n; i++)
            copy(t->block + (size_t)i * WIDTH, X + (size_t)i * (size_t)n + first, scale, count);
        inward(t, n);
        outward(t, n);
        for (int i = 0; i < n; i++)
            copy(X + (size_t)i * (size_t)n + first, t->block + (size_t)i * WIDTH, 1, count);
    }
}

// Rows above and in the block of its columns; the others are their mirror images.
static void inverse_articulated(const lwi_articulated_tree *t, double *X)
{
    const int n = t->n;
    for (int first = 0; first < n; first += WIDTH) {
        const int count = n - first < WIDTH ? n - first : WIDTH, end = first + count;
        memset(t->block, 0, (size_t)end * WIDTH * sizeof *X);
        for (int i = first; i < end; i++) t->block[(size_t)i * WIDTH + (size_t)(i - first)] = 1;
        inward(t, end);
        outward(t, end);
        for (int i = 0; i < end; i++)
            copy(X + (size_t)i * (size_t)n + first, t->block + (size_t)i * WIDTH, 1, count);
        for (int c = first; c < end; c++) // the rows of these columns
            for (int i = 0; i < c; i++)
                X[(size_t)c * (size_t)n + (size_t)i] =
                    t->block[(size_t)i * WIDTH + (size_t)(c - first)];
    }
}

// ------------------------------------------------------------------------------------------ products

// `width` columns at once; width: a constant at each call.
static inline void multiply_block(int width, int inner, size_t n, const double *a, const double *X,
                                  double *y)
{
    row sum[4];
    LWI_UNROLL
    for (int w = 0; w < width / W; w++) sum[w] = load(y + W * w);
    for (int k = 0; k < inner; k++, X += n) {
        LWI_UNROLL
        for (int w = 0; w < width / W; w++) sum[w] += load(X + W * w) * a[k];
    }
    LWI_UNROLL
    for (int w = 0; w < width / W; w++) *(row *)(y + W * w) = sum[w];
}

static void multiply(int rows, int inner, int n, const double *A, const double *X, double *Y)
{
    const size_t N = (size_t)n;
    for (int i = 0; i < rows; i++, A += inner, Y += N) {
        int c = 0;
        for (; c + 4 * W <= n; c += 4 * W) multiply_block(4 * W, inner, N, A, X + c, Y + c);
        for (; c + W <= n; c += W) multiply_block(W, inner, N, A, X + c, Y + c);
        for (; c < n; c++) {
            double sum = Y[c];
            for (int k = 0; k < inner; k++) sum += X[(size_t)k * N + (size_t)c] * A[k];
            Y[c] = sum;
        }
    }
}

#define TABLE_2(isa) lwi_derivative_kernels_##isa
#define TABLE(isa) TABLE_2(isa)
extern const lwi_derivative_kernels TABLE(ISA);
const lwi_derivative_kernels TABLE(ISA) = {
    find_subtrees, sum_subtrees, fill_speeds,       fill_terms,          entries, mirror,
    factor,        solve,        solve_articulated, inverse_articulated, multiply};
