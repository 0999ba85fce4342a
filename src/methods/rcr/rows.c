// rows.c -- row operations at one node: orthonormalisation, the longest row first, and Householder reflections.
//
// Orthonormal rows (modified Gram-Schmidt with pivoting) have two purposes.  Redundant rows come last and are
// dropped.  The norm of a column measures how well the rows determine its unknown: for one degree of freedom it is
// the square root of the paper's Delta (37), (41), (45); the rows that remain after a reflection are the paper's
// projection tau (38), (44).  So pivots are compared with absolute numbers (docs/theory/rcr.md).  Each step is an
// exact operation on the rows, whether or not they are orthonormal to the last digit.  Numbers (n) are those of
// [anderson2003].
#include "methods/rcr/rcr.h"

#include "base/assert.h"
#include "base/pair.h"

#include <math.h>
#include <string.h>

#define INLINED static inline __attribute__((always_inline))

// Four partial sums, to shorten the chain of dependent additions.
INLINED double dot(int n, const double *a, const double *b)
{
    lwi_pair sum[2] = {{0, 0}, {0, 0}};
    double rest = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 2; l++)
            sum[l] += lwi_pair_load(a + i + 2 * l) * lwi_pair_load(b + i + 2 * l);
    for (; i < n; i++) rest += a[i] * b[i];
    return (sum[0][0] + sum[0][1]) + (sum[1][0] + sum[1][1]) + rest;
}

// a -= share b
INLINED void subtract(int n, double share, const double *b, double *a)
{
    int i = 0;
    for (; i + 2 <= n; i += 2)
        lwi_pair_store(a + i, lwi_pair_load(a + i) - share * lwi_pair_load(b + i));
    for (; i < n; i++) a[i] -= share * b[i];
}

static void swap_rows(int n, double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        const double x = a[i];
        a[i] = b[i], b[i] = x;
    }
}

// Squared lengths are updated by subtraction.  Below this part of the value last computed from the row they are mostly
// rounding and are computed again.
#define REFRESH 1e-3

typedef struct squares {
    double now, fresh;
} squares;

// Subtracts row i from the later rows; c[pick[j]]: their components along it.
INLINED void take_out(int i, int n, int columns, int stride, double *G, bool squared,
                      squares *square, double *c, const int *pick)
{
    const double *row = G + (size_t)i * (size_t)stride;
    for (int j = i + 1; j < n; j++) {
        double *other = G + (size_t)j * (size_t)stride;
        const double share = dot(columns, row, other);
        subtract(columns, share, row, other);
        c[pick[j]] = share;
        if (!squared) continue;
        square[j].now -= share * share;
        if (!(square[j].now > REFRESH * square[j].fresh))
            square[j].now = square[j].fresh = dot(columns, other, other);
    }
}

INLINED int orthonormal(int n, int columns, int stride, double *G, int kept, double threshold,
                        double *mix, double *norm, int *pick, squares *square)
{
    const bool choose = kept != n; // else all rows are kept: the order does not matter
    const int max = kept >= 0 ? kept : n < columns ? n : columns;
    LWI_ASSERT(kept <= n && columns <= stride);
    int i = 0;
    for (int j = 0; j < n; j++) pick[j] = j;
    for (int j = 0; choose && j < n; j++) {
        const double *row = G + (size_t)j * (size_t)stride;
        square[j].now = square[j].fresh = dot(columns, row, row);
    }
    for (; i < max; i++) {
        double *row = G + (size_t)i * (size_t)stride;
        int best = i;
        for (int j = i + 1; choose && j < n; j++)
            if (square[j].now > square[best].now) best = j;
        if (best != i) {
            const int p = pick[i];
            const squares s = square[i];
            pick[i] = pick[best], pick[best] = p;
            square[i] = square[best], square[best] = s;
            swap_rows(columns, row, G + (size_t)best * (size_t)stride);
        }
        norm[i] = sqrt(dot(columns, row, row));
        if (kept < 0 && !(norm[i] > threshold)) break;
        const double inverse = norm[i] > 0 ? 1 / norm[i] : 0; // a zero row remains zero
        for (int m = 0; m < columns; m++) row[m] *= inverse;
        take_out(i, n, columns, stride, G, choose, square, mix + (size_t)i * (size_t)n, pick);
    }
    return i;
}

int lwi_rcr_orthonormal(int n, int columns, int stride, double *G, int kept, double threshold,
                        double *mix, double *norm, int *pick, double *scratch)
{
    squares *square = (squares *)scratch;
    switch (columns) { // fixed loop lengths for one to three speeds and one body
#define CASE(width)                                                                                \
    case width:                                                                                    \
        return orthonormal(n, width, stride, G, kept, threshold, mix, norm, pick, square)
        CASE(7);
        CASE(8);
        CASE(9);
    default:
        return orthonormal(n, columns, stride, G, kept, threshold, mix, norm, pick, square);
#undef CASE
    }
}

// pick[j], j > i, are the rows that are picked after step i, then the dropped rows.
void lwi_rcr_mix(int n, int kept, const double *mix, const double *norm, const int *pick, double *b,
                 double *scratch)
{
    for (int i = 0; i < kept; i++) {
        LWI_ASSERT_INDEX(pick[i], n);
        const double *c = mix + (size_t)i * (size_t)n;
        const double x = scratch[i] = norm[i] > 0 ? b[pick[i]] / norm[i] : 0;
        for (int j = i + 1; j < kept; j++) b[pick[j]] -= c[pick[j]] * x;
    }
    memcpy(b, scratch, (size_t)kept * sizeof *b);
}

void lwi_rcr_mix_t(int n, int kept, const double *mix, const double *norm, const int *pick,
                   double *b, double *scratch)
{
    memset(scratch, 0, (size_t)n * sizeof *scratch);
    for (int i = kept - 1; i >= 0; i--) {
        LWI_ASSERT_INDEX(pick[i], n);
        const double *c = mix + (size_t)i * (size_t)n;
        double x = b[i];
        for (int j = i + 1; j < kept; j++) x -= c[pick[j]] * scratch[pick[j]];
        scratch[pick[i]] = norm[i] > 0 ? x / norm[i] : 0;
    }
    memcpy(b, scratch, (size_t)n * sizeof *b);
}

// Makes w of unit length and orthogonal to the first `count` vectors of `basis`.
static void orthogonalize(int n, int count, const double *basis, double *w)
{
    for (int l = 0; l < count; l++) {
        const double *v = basis + (size_t)l * (size_t)n, share = dot(n, v, w);
        for (int i = 0; i < n; i++) w[i] -= share * v[i];
    }
    const double length = sqrt(dot(n, w, w));
    for (int i = 0; i < n; i++) w[i] = length > 0 ? w[i] / length : 0;
}

// Many dropped rows: b is projected onto the columns of T.  Column i is the share of kept row i in the rows picked
// after it, none of them larger than norm[i].
static void project_on_kept(int n, int kept, const double *mix, const double *norm, const int *pick,
                            double *b, double *basis, double *sum)
{
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int i = 0; i < kept; i++) {
        double *w = basis + (size_t)i * (size_t)n;
        const double *c = mix + (size_t)i * (size_t)n;
        memset(w, 0, (size_t)n * sizeof *w);
        w[pick[i]] = norm[i];
        for (int j = i + 1; j < n; j++) w[pick[j]] = c[pick[j]];
        orthogonalize(n, i, basis, w);
        const double share = dot(n, w, b);
        for (int l = 0; l < n; l++) sum[l] += share * w[l];
    }
    memcpy(b, sum, (size_t)n * sizeof *b);
}

// With rows g = T q of the orthonormal rows q, multipliers b with the same T'b have the same effect.  Each dropped
// row d gives a null vector: e_d minus the combination of kept rows that replaces it.
static void remove_null(int n, int kept, const double *mix, const double *norm, const int *pick,
                        double *b, double *null, double *scratch)
{
    for (int j = kept; j < n; j++) {
        double *w = null + (size_t)(j - kept) * (size_t)n;
        const int d = pick[j];
        LWI_ASSERT_INDEX(d, n);
        for (int i = 0; i < kept; i++) w[i] = mix[(size_t)i * (size_t)n + (size_t)d];
        lwi_rcr_mix_t(n, kept, mix, norm, pick, w, scratch);
        for (int i = 0; i < n; i++) w[i] = -w[i];
        w[d] += 1;
        orthogonalize(n, j - kept, null, w);
        const double share = dot(n, w, b);
        for (int i = 0; i < n; i++) b[i] -= share * w[i];
    }
}

// Kept rows are the smaller basis only where the rows of several loops meet.
int lwi_rcr_minimum_norm_basis(int n, int kept)
{
    LWI_ASSERT(0 <= kept && kept <= n);
    return kept + LWI_CLOSURE_ROWS < n - kept ? kept : n - kept;
}

void lwi_rcr_minimum_norm(int n, int kept, const double *mix, const double *norm, const int *pick,
                          double *b, double *basis, double *scratch)
{
    if (kept == 0)
        memset(b, 0, (size_t)n * sizeof *b); // no row was picked
    else if (lwi_rcr_minimum_norm_basis(n, kept) < n - kept)
        project_on_kept(n, kept, mix, norm, pick, b, basis, scratch);
    else
        remove_null(n, kept, mix, norm, pick, b, basis, scratch);
}

// The rows after s are the remaining equations, projected by tau.                  (38), (42), (44)
void lwi_rcr_reflect(int n, int s, int columns, int stride, double *G, int j, double *reflector,
                     double *scratch)
{
    double *v = reflector + 1, square = 0;
    LWI_ASSERT_INDEX(s, n);
    LWI_ASSERT_INDEX(j, columns);
    for (int i = s; i < n; i++) {
        v[i] = G[(size_t)i * (size_t)stride + (size_t)j];
        square += v[i] * v[i];
    }
    const double length =
        v[s] > 0 ? -sqrt(square) : sqrt(square); // no cancellation in v[s] - length
    v[s] -= length;
    reflector[0] = square > 0 ? -1 / (length * v[s]) : 0; // 2 / v'v
    memset(scratch, 0, (size_t)columns * sizeof *scratch);
    for (int i = s; i < n; i++)
        for (int m = 0; m < columns; m++)
            scratch[m] += v[i] * G[(size_t)i * (size_t)stride + (size_t)m];
    for (int i = s; i < n; i++) {
        const double k = reflector[0] * v[i];
        for (int m = 0; m < columns; m++)
            G[(size_t)i * (size_t)stride + (size_t)m] -= k * scratch[m];
    }
}

void lwi_rcr_reflect_vector(int n, int s, const double *reflector, double *b)
{
    const double *v = reflector + 1, k = reflector[0] * dot(n - s, v + s, b + s);
    for (int i = s; i < n; i++) b[i] -= k * v[i];
}
