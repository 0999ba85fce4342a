// linear.c -- Cholesky, pivoted Householder QR and the complete orthogonal decomposition.
//
//   A P = Q [R11 R12; 0 R22]     Householder QR, the longest remaining column first, R22 dropped
//   [R11 R12] = [T 0] Z          Householder from the right, last row first
//
// [golub2013, 5.4] (column pivoting, complete orthogonal decomposition).  Column lengths are
// recomputed while a reflector is applied, not updated: this costs one more multiply-add per entry
// and has no cancellation.
#include "base/linear.h"

#include "base/pair.h"

#include <math.h>
#include <string.h>

static void axpy(int n, double s, const double *a, double *r)
{
    for (int i = 0; i < n; i++) r[i] += s * a[i];
}

// ------------------------------------------------------------------------------------- Cholesky

int lwi_cholesky(int n, double *A, double min_pivot)
{
    for (int i = 0; i < n; i++) {
        double *row = A + (size_t)i * (size_t)n;
        for (int j = 0; j < i; j++) {
            const double *other = A + (size_t)j * (size_t)n;
            row[j] = (row[j] - lwi_dot(j, row, other)) / other[j];
        }
        const double pivot = row[i] - lwi_dot(i, row, row);
        if (!(pivot > min_pivot)) return i; // also for NaN
        row[i] = sqrt(pivot);
    }
    return -1;
}

void lwi_lower_solve(int n, const double *L, double *b)
{
    for (int i = 0; i < n; i++) {
        const double *row = L + (size_t)i * (size_t)n;
        b[i] = (b[i] - lwi_dot(i, row, b)) / row[i];
    }
}

void lwi_lower_tsolve(int n, const double *L, double *b)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *row = L + (size_t)i * (size_t)n;
        b[i] /= row[i];
        axpy(i, -b[i], row, b);
    }
}

// -------------------------------------------------------------- complete orthogonal decomposition

static double *column(const lwi_cod *cod, int j)
{
    return cod->a + (size_t)j * (size_t)cod->n;
}

size_t lwi_cod_doubles(int n, int m)
{
    const size_t shorter = (size_t)(n < m ? n : m);
    return 2 * shorter + 2 * (size_t)m;
}

void lwi_cod_init(lwi_cod *cod, int n, int m, double *a, double *rest, int *pivot)
{
    const int shorter = n < m ? n : m;
    *cod = (lwi_cod){.n = n, .m = m, .a = a, .pivot = pivot, .small = 1};
    cod->tau = rest, rest += shorter;
    cod->zeta = rest, rest += shorter;
    cod->norm = rest, rest += m;
    cod->work = rest;
}

// The reflector 1 - scale v v', v = (1, tail), that takes x = (head, tail) to (*head, 0); `length`
// is |x|.  The sign is the one that does not cancel.
static double reflector(double *head, double length)
{
    if (length == 0) return 0;
    const double alpha = *head, beta = alpha > 0 ? -length : length;
    *head = beta;
    return (beta - alpha) / beta; // the caller divides the tail by alpha - beta
}

static void swap_columns(lwi_cod *cod, int j, int k)
{
    if (j == k) return;
    double *a = column(cod, j), *b = column(cod, k);
    for (int i = 0; i < cod->n; i++) {
        const double keep = a[i];
        a[i] = b[i], b[i] = keep;
    }
    const int pivot = cod->pivot[j];
    cod->pivot[j] = cod->pivot[k], cod->pivot[k] = pivot;
    cod->norm[k] = cod->norm[j];
}

static int longest(const lwi_cod *cod, int k)
{
    int best = k;
    for (int j = k + 1; j < cod->m; j++)
        if (cod->norm[j] > cod->norm[best]) best = j;
    return best;
}

enum { TOGETHER = 4 }; // columns

// Reflects `count` columns c, one after the other in memory, by the pivot's reflector: v = (1, p), n components behind the
// first; their new lengths.  Sums of each column are in its order; those of two are one pair.
static inline __attribute__((always_inline)) void
reflect_columns(const int count, int n, double tau, const double *restrict p, double *restrict c,
                size_t stride, double *restrict length)
{
    double *restrict a[TOGETHER];
    lwi_pair sum[TOGETHER / 2], factor[TOGETHER / 2], square[TOGETHER / 2];
    for (int k = 0; k < count; k++) a[k] = c + (size_t)k * stride;
    for (int k = 0; k < count / 2; k++) sum[k] = square[k] = (lwi_pair){0, 0};
    for (int i = 1; i <= n; i++)
        for (int k = 0; k < count / 2; k++)
            sum[k] += p[i] * (lwi_pair){a[2 * k][i], a[2 * k + 1][i]};
    for (int k = 0; k < count / 2; k++) {
        const lwi_pair head = {a[2 * k][0], a[2 * k + 1][0]}, s = tau * (head + sum[k]);
        factor[k] = -s;
        for (int l = 0; l < 2; l++) a[2 * k + l][0] = head[l] - s[l];
    }
    for (int i = 1; i <= n; i++)
        for (int k = 0; k < count / 2; k++) {
            const lwi_pair x = (lwi_pair){a[2 * k][i], a[2 * k + 1][i]} + factor[k] * p[i];
            for (int l = 0; l < 2; l++) a[2 * k + l][i] = x[l];
            square[k] += x * x;
        }
    for (int k = 0; k < count; k++) length[k] = sqrt(square[k / 2][k % 2]);
}

// One step of the QR: column k is the pivot; the later columns are reflected and their lengths recomputed.
static void reduce_column(lwi_cod *cod, int k)
{
    const int below = cod->n - k - 1;
    const size_t n = (size_t)cod->n;
    double *pivot = column(cod, k) + k;
    const double alpha = pivot[0];
    cod->tau[k] = reflector(pivot, cod->norm[k]);
    const double scale = 1 / (alpha - pivot[0]), tau = cod->tau[k];
    for (int i = 1; i <= below; i++) pivot[i] *= scale;
    int j = k + 1;
    for (; j + TOGETHER <= cod->m; j += TOGETHER)
        reflect_columns(TOGETHER, below, tau, pivot, column(cod, j) + k, n, cod->norm + j);
    for (; j + 2 <= cod->m; j += 2)
        reflect_columns(2, below, tau, pivot, column(cod, j) + k, n, cod->norm + j);
    for (; j < cod->m; j++) {
        double *c = column(cod, j) + k;
        const double s = tau * (c[0] + lwi_dot(below, pivot + 1, c + 1));
        c[0] -= s;
        axpy(below, -s, pivot + 1, c + 1);
        cod->norm[j] = sqrt(lwi_dot(below, c + 1, c + 1));
    }
}

// [R11 R12] = [T 0] Z: row k keeps its diagonal, its part in the columns r.. becomes the reflector.
static void reduce_rows(lwi_cod *cod)
{
    const int r = cod->rank, m = cod->m;
    for (int k = r - 1; k >= 0; k--) {
        double length = 0;
        for (int j = r; j < m; j++) length += column(cod, j)[k] * column(cod, j)[k];
        cod->zeta[k] = 0;
        if (length == 0) continue;
        double *head = column(cod, k) + k;
        const double alpha = *head;
        cod->zeta[k] = reflector(head, sqrt(length + alpha * alpha));
        const double scale = 1 / (alpha - *head);
        for (int j = r; j < m; j++) column(cod, j)[k] *= scale;
        for (int i = 0; i < k; i++) {
            double s = column(cod, k)[i];
            for (int j = r; j < m; j++) s += column(cod, j)[i] * column(cod, j)[k];
            s *= cod->zeta[k];
            column(cod, k)[i] -= s;
            for (int j = r; j < m; j++) column(cod, j)[i] -= s * column(cod, j)[k];
        }
    }
}

void lwi_cod_factor(lwi_cod *cod, int rank, double threshold)
{
    const int shorter = cod->n < cod->m ? cod->n : cod->m;
    const int limit = rank < 0 || rank > shorter ? shorter : rank;
    for (int j = 0; j < cod->m; j++) {
        cod->pivot[j] = j;
        cod->norm[j] = sqrt(lwi_dot(cod->n, column(cod, j), column(cod, j)));
    }
    double first = 0;
    cod->rank = 0, cod->small = 1, cod->next = 0;
    for (int k = 0; k < shorter; k++) {
        const int best = longest(cod, k);
        const double pivot = cod->norm[best];
        if (k == 0) first = pivot;
        if (!(pivot > 0)) break;
        if (k >= limit || (rank < 0 && !(pivot > threshold * first))) {
            cod->next = pivot / first;
            break;
        }
        swap_columns(cod, k, best);
        cod->norm[k] = pivot; // swap_columns moved the other one
        reduce_column(cod, k);
        cod->rank = k + 1, cod->small = pivot / first;
    }
    reduce_rows(cod);
}

void lwi_cod_q(const lwi_cod *cod, bool transposed, double *y)
{
    // Q = H_0 H_1 ... H_r-1
    for (int step = 0; step < cod->rank; step++) {
        const int k = transposed ? step : cod->rank - 1 - step;
        const double *v = column(cod, k) + k;
        const int below = cod->n - k - 1;
        const double s = cod->tau[k] * (y[k] + lwi_dot(below, v + 1, y + k + 1));
        y[k] -= s;
        axpy(below, -s, v + 1, y + k + 1);
    }
}

// x := Z x or Z' x; Z = H_0 H_1 ... H_r-1
static void apply_z(const lwi_cod *cod, bool transposed, double *x)
{
    const int r = cod->rank;
    for (int step = 0; step < r; step++) {
        const int k = transposed ? step : r - 1 - step;
        if (cod->zeta[k] == 0) continue;
        double s = x[k];
        for (int j = r; j < cod->m; j++) s += column(cod, j)[k] * x[j];
        s *= cod->zeta[k];
        x[k] -= s;
        for (int j = r; j < cod->m; j++) x[j] -= s * column(cod, j)[k];
    }
}

// b := T^-1 b
static void solve_t(const lwi_cod *cod, double *b)
{
    for (int j = cod->rank - 1; j >= 0; j--) {
        const double *c = column(cod, j);
        b[j] /= c[j];
        axpy(j, -b[j], c, b);
    }
}

// b := T'^-1 b
static void solve_tt(const lwi_cod *cod, double *b)
{
    for (int j = 0; j < cod->rank; j++) {
        const double *c = column(cod, j);
        b[j] = (b[j] - lwi_dot(j, c, b)) / c[j];
    }
}

// work := Z P' c
static void gather(lwi_cod *cod, const double *c)
{
    for (int j = 0; j < cod->m; j++) cod->work[j] = c[cod->pivot[j]];
    apply_z(cod, false, cod->work);
}

// x := P Z' work, with zeros behind the rank
static void scatter(lwi_cod *cod, double *x)
{
    for (int j = cod->rank; j < cod->m; j++) cod->work[j] = 0;
    apply_z(cod, true, cod->work);
    for (int j = 0; j < cod->m; j++) x[cod->pivot[j]] = cod->work[j];
}

void lwi_cod_solve(lwi_cod *cod, double *b, double *x)
{
    lwi_cod_q(cod, true, b);
    memcpy(cod->work, b, (size_t)cod->rank * sizeof *b);
    solve_t(cod, cod->work);
    scatter(cod, x);
}

void lwi_cod_solve_t(lwi_cod *cod, const double *c, double *y)
{
    gather(cod, c);
    solve_tt(cod, cod->work);
    memset(y, 0, (size_t)cod->n * sizeof *y);
    memcpy(y, cod->work, (size_t)cod->rank * sizeof *y);
    lwi_cod_q(cod, false, y);
}

// Row k of X [][m] and rows `first` to end - 1 are reflected: by 1 - scale v v', v = (1, tail), tail[j stride] of row first + j.
static void reflect_rows(int m, int k, int first, int end, double scale, const double *tail,
                         size_t stride, double *work, double *X)
{
    double *own = X + (size_t)k * (size_t)m;
    memcpy(work, own, (size_t)m * sizeof *work);
    for (int j = first; j < end; j++) {
        const double v = tail[(size_t)(j - first) * stride];
        if (v != 0) axpy(m, v, X + (size_t)j * (size_t)m, work);
    }
    axpy(m, -scale, work, own);
    for (int j = first; j < end; j++) {
        const double v = tail[(size_t)(j - first) * stride];
        if (v != 0) axpy(m, -scale * v, work, X + (size_t)j * (size_t)m);
    }
}

void lwi_cod_inverse_t(lwi_cod *cod, double *scratch, double *Y)
{
    const int n = cod->n, m = cod->m, r = cod->rank;
    const size_t M = (size_t)m;
    double *X = scratch; // Z P', then T'^-1 of its first rows
    memset(X, 0, M * M * sizeof *X);
    for (int j = 0; j < m; j++) X[(size_t)j * M + (size_t)cod->pivot[j]] = 1;
    for (int k = r - 1; k >= 0 && r < m; k--)
        if (cod->zeta[k] != 0)
            reflect_rows(m, k, r, m, cod->zeta[k], column(cod, r) + k, (size_t)n, cod->work, X);
    for (int j = 0; j < r; j++) {
        const double *c = column(cod, j);
        double *own = X + (size_t)j * M;
        for (int i = 0; i < j; i++)
            if (c[i] != 0) axpy(m, -c[i], X + (size_t)i * M, own);
        for (int i = 0; i < m; i++) own[i] /= c[j];
    }
    memcpy(Y, X, (size_t)r * M * sizeof *Y);
    memset(Y + (size_t)r * M, 0, (size_t)(n - r) * M * sizeof *Y);
    for (int k = r - 1; k >= 0; k--)
        reflect_rows(m, k, k + 1, n, cod->tau[k], column(cod, k) + k + 1, 1, cod->work, Y);
}

void lwi_cod_nearest(lwi_cod *cod, double *y, double *lambda)
{
    gather(cod, lambda);
    solve_tt(cod, cod->work); // coordinates of y along the first r columns of Q
    lwi_cod_q(cod, true, y);
    for (int k = 0; k < cod->rank; k++) {
        const double held = y[k] - cod->work[k];
        y[k] = cod->work[k], cod->work[k] = held;
    }
    lwi_cod_q(cod, false, y);
    solve_t(cod, cod->work);
    scatter(cod, lambda);
}

void lwi_cod_null(lwi_cod *cod, double *N)
{
    for (int i = 0; i < cod->m - cod->rank; i++) {
        memset(cod->work, 0, (size_t)cod->m * sizeof *cod->work);
        cod->work[cod->rank + i] = 1;
        apply_z(cod, true, cod->work);
        for (int j = 0; j < cod->m; j++)
            N[(size_t)i * (size_t)cod->m + (size_t)cod->pivot[j]] = cod->work[j];
    }
}

// ------------------------------------------------------------------------------- orthonormal sets

double lwi_reject(int n, int count, const double *basis, double *v)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            const double *e = basis + (size_t)k * (size_t)n;
            axpy(n, -lwi_dot(n, e, v), e, v);
        }
    return sqrt(lwi_dot(n, v, v));
}

void lwi_orthonormalize(int n, int count, double *rows)
{
    for (int k = 0; k < count; k++) {
        double *v = rows + (size_t)k * (size_t)n;
        const double norm = lwi_reject(n, k, rows, v);
        for (int i = 0; i < n; i++) v[i] /= norm;
    }
}
