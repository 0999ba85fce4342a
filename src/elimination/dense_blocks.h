// dense_blocks.h -- small dense blocks in pairs of doubles, sizes known at compile time.
//
// Every machine has pairs of doubles; wider vectors would do the same operations on every entry in the same
// order.
// Rows may be read and written one entry beyond their end: they have a padding entry there.
#ifndef LWI_ELIMINATION_DENSE_BLOCKS_H
#define LWI_ELIMINATION_DENSE_BLOCKS_H

#include "base/pair.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// As INLINE in base/simd/sums.h.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LWI_INLINE static inline
#else
#define LWI_INLINE static inline __attribute__((always_inline))
#endif

/** F [m][n] = J G', or += J G' with `add`; n must be a constant.  ld: row length of F. */
LWI_INLINE void lwi_block_product(int m, const int n, const double (*J)[6], const double (*G)[6],
                                  double *F, int ld, bool add)
{
    lwi_pair g[3][6];
    double last[6];
    for (int k = 0; k < 6; k++) {
        for (int p = 0; p < n / 2; p++) g[p][k] = (lwi_pair){G[2 * p][k], G[2 * p + 1][k]};
        last[k] = n % 2 ? G[n - 1][k] : 0;
    }
    for (int r = 0; r < m; r++, F += ld) {
        lwi_pair sum[3];
        double tail = 0;
        for (int p = 0; p < n / 2; p++) sum[p] = (lwi_pair){0, 0};
        for (int k = 0; k < 6; k++) {
            const lwi_pair j = {J[r][k], J[r][k]};
            for (int p = 0; p < n / 2; p++) sum[p] += j * g[p][k];
            tail += J[r][k] * last[k];
        }
        for (int p = 0; p < n / 2; p++)
            lwi_pair_store(F + 2 * p, add ? lwi_pair_load(F + 2 * p) + sum[p] : sum[p]);
        if (n % 2) F[n - 1] = add ? F[n - 1] + tail : tail;
    }
}

/** D^-1 L^-1 times the `more` columns after the first m of R: those of one of `parts` threads.
 *  @param a  L' above the diagonal, 1/D on it */
LWI_INLINE void lwi_block_columns(const int m, int more, const double a[6][6], double *R, int ld,
                                  int part, int parts)
{
    for (int j = m + 2 * part; j < m + more; j += 2 * parts) {
        lwi_pair f[6];
        for (int k = 0; k < m; k++) f[k] = lwi_pair_load(R + k * ld + j);
        for (int k = 0; k < m; k++)
            for (int i = k + 1; i < m; i++) f[i] -= a[k][i] * f[k];
        for (int k = 0; k < m; k++) lwi_pair_store(R + k * ld + j, a[k][k] * f[k]);
    }
}

/** Upper triangle of m rows of R (m constant), to or from `a`. */
LWI_INLINE void lwi_block_load(const int m, const double *R, int ld, double a[6][6])
{
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) a[i][j] = R[i * ld + j];
}

LWI_INLINE void lwi_block_store(const int m, const double a[6][6], double *R, int ld)
{
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) R[i * ld + j] = a[i][j];
}

/** Factors an upper triangle of m rows (m constant): L' above the diagonal, 1/D on it.
 *  @param S  [m] original diagonal       @param d  [m] pivots, out
 *  @return -1, or the row with a pivot that is not above `min_share` of its S or not a number, which is then on
 *          the diagonal */
LWI_INLINE int lwi_block_factor(const int m, double a[6][6], const double *S, double min_share,
                                double *d)
{
    for (int k = 0; k < m; k++) {
        d[k] = a[k][k];
        if (!(d[k] > min_share * S[k] && d[k] <= 2 * S[k])) return k; // pivots only decrease
        const double inverse = 1 / d[k];
        a[k][k] = inverse;
        for (int i = k + 1; i < m; i++) {
            const double l = a[k][i] * inverse;
            for (int j = i; j < m; j++) a[i][j] -= l * a[k][j];
            a[k][i] = l;
        }
    }
    return -1;
}

/** The same without symmetry: [U], 1/D on its diagonal, and [L'] in b, of which entry i, j is entry j, i.  A pivot may
 *  be larger than its S. */
LWI_INLINE int lwi_block_factor_unsymmetric(const int m, double a[6][6], double b[6][6],
                                            const double *S, double min_share, bool negative,
                                            double *d)
{
    for (int k = 0; k < m; k++) {
        d[k] = a[k][k];
        const double size = negative ? fabs(d[k]) : d[k], scale = negative ? fabs(S[k]) : S[k];
        if (!(size > min_share * scale && size <= DBL_MAX)) return k;
        const double inverse = 1 / d[k];
        a[k][k] = b[k][k] = inverse;
        for (int i = k + 1; i < m; i++) {
            const double u = a[k][i] * inverse, l = b[k][i] * inverse;
            a[i][i] -= l * a[k][i];
            for (int j = i + 1; j < m; j++) a[i][j] -= l * a[k][j], b[i][j] -= u * b[k][j];
            a[k][i] = u;
            b[k][i] = l;
        }
    }
    return -1;
}

/** Subtracts Y D Z from rows from ... to-1 of a trapezoid T; Y' and Z are [m][.]; columns are those of the
 *  front.  Row i of T is at T + i * lt and starts with column i; columns end at `end`.  With `bare` T becomes
 *  -YDZ.  Y' = Z if S is symmetric.  The rows of one of `parts` threads. */
LWI_INLINE void lwi_block_update(const int m, const double *Y, const double *Z, int ld,
                                 const double *d, int from, int to, int end, double *T, int lt,
                                 bool bare, int part, int parts)
{
    for (int i = from + 2 * part; i < to; i += 2 * parts) {
        const bool two = i + 1 < to;
        lwi_pair p[6], q[6];
        for (int k = 0; k < m; k++) {
            const double a = Y[k * ld + i] * d[k], b = two ? Y[k * ld + i + 1] * d[k] : 0;
            p[k] = (lwi_pair){a, a}, q[k] = (lwi_pair){b, b};
        }
        double *t = T + i * lt, *u = two ? t + lt : NULL;
        for (int j = i; j < end; j += 2) {
            lwi_pair a = {0, 0}, b = {0, 0};
            for (int k = 0; k < m; k++) {
                const lwi_pair z = lwi_pair_load(Z + k * ld + j);
                a += p[k] * z;
                b += q[k] * z;
            }
            lwi_pair_store(t + j, bare ? -a : lwi_pair_load(t + j) - a);
            if (two) lwi_pair_store(u + j, bare ? -b : lwi_pair_load(u + j) - b);
        }
    }
}

/** z = L^-1 y in place for the first m entries of v, then subtracts Z' z from the `more` entries after them.
 *  @param R  [L' Z]; without symmetry Q = [L' Y'] */
LWI_INLINE void lwi_block_up(const int m, int more, const double *R, int ld, double *v)
{
    double z[6];
    for (int k = 0; k < m; k++) z[k] = v[k];
    for (int k = 0; k < m; k++)
        for (int j = k + 1; j < m; j++) z[j] -= R[k * ld + j] * z[k];
    for (int k = 0; k < m; k++) v[k] = z[k];
    for (int j = m; j < m + more; j += 2) {
        lwi_pair sum = {0, 0};
        for (int k = 0; k < m; k++) sum += z[k] * lwi_pair_load(R + k * ld + j);
        lwi_pair_store(v + j, lwi_pair_load(v + j) - sum);
    }
}

/** lambda = L'^-1 (D^-1 z - Z lambda_o) in place for the first m entries of v. */
LWI_INLINE void lwi_block_down(const int m, int more, const double *R, int ld, double *v)
{
    lwi_pair sum[6];
    double y[6];
    for (int k = 0; k < m; k++) sum[k] = (lwi_pair){0, 0};
    for (int j = m; j < m + more; j += 2) {
        const lwi_pair o = lwi_pair_load(v + j);
        for (int k = 0; k < m; k++) sum[k] += lwi_pair_load(R + k * ld + j) * o;
    }
    for (int k = m - 1; k >= 0; k--) {
        y[k] = v[k] * R[k * ld + k] - (sum[k][0] + sum[k][1]);
        for (int j = k + 1; j < m; j++) y[k] -= R[k * ld + j] * y[j];
    }
    for (int k = 0; k < m; k++) v[k] = y[k];
}

LWI_INLINE void lwi_elim_exchange(double *a, double *b)
{
    const double t = *a;
    *a = *b;
    *b = t;
}

/** Exchanges n entries of two rows. */
LWI_INLINE void lwi_elim_exchange_rows(int n, double *a, double *b)
{
    int j = 0;
    if (a == b) return;
    for (; j + 1 < n; j += 2) {
        const lwi_pair x = lwi_pair_load(a + j);
        lwi_pair_store(a + j, lwi_pair_load(b + j));
        lwi_pair_store(b + j, x);
    }
    if (j < n) lwi_elim_exchange(&a[j], &b[j]);
}

/** y -= a x, n entries. */
LWI_INLINE void lwi_subtract(int n, double a, const double *x, double *y)
{
    int j = 0;
    for (; j + 1 < n; j += 2)
        lwi_pair_store(y + j, lwi_pair_load(y + j) - a * lwi_pair_load(x + j));
    if (j < n) y[j] -= a * x[j];
}

/** The same if both have a padding entry that may be read and written. */
LWI_INLINE void lwi_subtract_row(int n, double a, const double *x, double *y)
{
    for (int j = 0; j < n; j += 2)
        lwi_pair_store(y + j, lwi_pair_load(y + j) - a * lwi_pair_load(x + j));
}

/** Dot product of n entries. */
LWI_INLINE double lwi_pairs_dot(int n, const double *a, const double *b)
{
    lwi_pair sum[2] = {{0, 0}, {0, 0}};
    int i = 0;
    for (; i + 3 < n; i += 4) {
        sum[0] += lwi_pair_load(a + i) * lwi_pair_load(b + i);
        sum[1] += lwi_pair_load(a + i + 2) * lwi_pair_load(b + i + 2);
    }
    double tail = 0;
    for (; i < n; i++) tail += a[i] * b[i];
    sum[0] += sum[1];
    return sum[0][0] + sum[0][1] + tail;
}

/** Dot product of two vectors of six. */
LWI_INLINE double lwi_dot6(const double *a, const double *b)
{
    const lwi_pair s = lwi_pair_load(a) * lwi_pair_load(b) +
                       lwi_pair_load(a + 2) * lwi_pair_load(b + 2) +
                       lwi_pair_load(a + 4) * lwi_pair_load(b + 4);
    return s[0] + s[1];
}

#endif
