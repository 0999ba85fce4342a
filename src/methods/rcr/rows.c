// rows.c -- rows of one front: made orthonormal, the longest first, and turned by reflectors.
//
// Orthonormal rows (modified Gram-Schmidt with pivoting) serve two ends.  Redundant rows come last
// and are left away; and the part of a column is a measure of how well the rows determine its
// unknown, so that pivots can be judged by an absolute number (docs/theory/rcr.md).  Every step
// is an exact operation on the rows whether they are orthonormal to the last digit or not.
#include "methods/rcr/rcr.h"

#include <math.h>
#include <string.h>

#define INLINED static inline __attribute__((always_inline))

// In four sums: one would wait for itself.
INLINED double dot(int n, const double *a, const double *b)
{
    double sum[4] = {0}, rest = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; l++) sum[l] += a[i + l] * b[i + l];
    for (; i < n; i++) rest += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

static void swap_rows(int n, double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        const double x = a[i];
        a[i] = b[i], b[i] = x;
    }
}

// Squares of lengths go down with what is taken out; below this part of what was computed last they
// are mostly rounding, and computed anew.
#define REFRESH 1e-3

typedef struct squares {
    double now, fresh;
} squares;

// One row out of the others: c[pick[j]] their shares.
INLINED void take_out(int i, int n, int columns, int stride, double *G, bool squared,
                      squares *square, double *c, const int *pick)
{
    const double *row = G + (size_t)i * (size_t)stride;
    for (int j = i + 1; j < n; j++) {
        double *other = G + (size_t)j * (size_t)stride;
        const double share = dot(columns, row, other);
        for (int m = 0; m < columns; m++) other[m] -= share * row[m];
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
    const bool choose = kept != n; // else nothing is left away: the order does not matter
    const int max = kept < 0 ? n : kept;
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
        const double inverse = norm[i] > 0 ? 1 / norm[i] : 0; // a row of zeros stays one
        for (int m = 0; m < columns; m++) row[m] *= inverse;
        take_out(i, n, columns, stride, G, choose, square, mix + (size_t)i * (size_t)n, pick);
    }
    return i;
}

int lwi_rcr_orthonormal(int n, int columns, int stride, double *G, int kept, double threshold,
                        double *mix, double *norm, int *pick, double *scratch)
{
    squares *square = (squares *)scratch;
    switch (columns) { // loops of known length for one to three speeds beside a body
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

// The rows that are picked after step i are those that pick[j], j > i, lists; rows left away are
// the rest of the list.
void lwi_rcr_mix(int n, int kept, const double *mix, const double *norm, const int *pick, double *b,
                 double *scratch)
{
    for (int i = 0; i < kept; i++) {
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
        const double *c = mix + (size_t)i * (size_t)n;
        double x = b[i];
        for (int j = i + 1; j < kept; j++) x -= c[pick[j]] * scratch[pick[j]];
        scratch[pick[i]] = norm[i] > 0 ? x / norm[i] : 0;
    }
    memcpy(b, scratch, (size_t)n * sizeof *b);
}

// With rows g = T q of the orthonormal rows q, multipliers b have T'b in common with all that do the
// same.  A row d left away makes one vector that does nothing: e_d less what the kept rows do in its
// place.
void lwi_rcr_minimum_norm(int n, int kept, const double *mix, const double *norm, const int *pick,
                          double *b, double *null, double *scratch)
{
    if (kept == 0) memset(b, 0, (size_t)n * sizeof *b); // nothing was picked
    for (int j = kept; kept && j < n; j++) {
        double *w = null + (size_t)(j - kept) * (size_t)n;
        const int d = pick[j];
        for (int i = 0; i < kept; i++) w[i] = mix[(size_t)i * (size_t)n + (size_t)d];
        lwi_rcr_mix_t(n, kept, mix, norm, pick, w, scratch);
        for (int i = 0; i < n; i++) w[i] = -w[i];
        w[d] += 1;
        for (int l = 0; l < j - kept; l++) {
            const double *v = null + (size_t)l * (size_t)n, share = dot(n, v, w);
            for (int i = 0; i < n; i++) w[i] -= share * v[i];
        }
        const double length = sqrt(dot(n, w, w));
        for (int i = 0; i < n; i++) w[i] = length > 0 ? w[i] / length : 0;
        const double share = dot(n, w, b);
        for (int i = 0; i < n; i++) b[i] -= share * w[i];
    }
}

void lwi_rcr_reflect(int n, int s, int columns, int stride, double *G, int j, double *reflector,
                     double *scratch)
{
    double *v = reflector + 1, square = 0;
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
