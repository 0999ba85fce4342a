// eigen.c -- Jacobi's method, the QL and QR algorithms and inverse iteration, each in its plain form: the matrices of
// analyses have as many rows as a mechanism has degrees of freedom.
#include "base/eigen.h"

#include "base/linear.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

// ------------------------------------------------------------------------------- symmetric matrices

enum { JACOBI_SWEEPS = 60 }; // 6 to 10 are enough for any matrix of doubles
enum { QR_STEPS = 60 };      // for one eigenvalue, also of QL; 2 to 4 in general

// The rotation of rows and columns p, q that makes A[p][q] zero, applied to A and to the vectors.
static void rotate(int n, double *A, double *V, int p, int q)
{
    double *const Ap = A + (size_t)p * (size_t)n, *const Aq = A + (size_t)q * (size_t)n;
    const double theta = (Aq[q] - Ap[p]) / (2 * Ap[q]);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)),
                 c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        const double a = Ap[k], b = Aq[k];
        Ap[k] = c * a - s * b;
        Aq[k] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        double *const row = A + (size_t)k * (size_t)n;
        const double a = row[p], b = row[q];
        row[p] = c * a - s * b;
        row[q] = s * a + c * b;
    }
    Ap[q] = Aq[p] = 0;
    double *const Vp = V + (size_t)p * (size_t)n, *const Vq = V + (size_t)q * (size_t)n;
    for (int k = 0; k < n; k++) {
        const double a = Vp[k], b = Vq[k];
        Vp[k] = c * a - s * b;
        Vq[k] = s * a + c * b;
    }
}

static void swap_rows(int n, double *V, int i, int j)
{
    for (int k = 0; k < n; k++) {
        const double a = V[(size_t)i * (size_t)n + (size_t)k];
        V[(size_t)i * (size_t)n + (size_t)k] = V[(size_t)j * (size_t)n + (size_t)k];
        V[(size_t)j * (size_t)n + (size_t)k] = a;
    }
}

static void sort_rising(int n, double *w, double *V)
{
    for (int i = 0; i < n; i++) {
        int minimum = i;
        for (int j = i + 1; j < n; j++)
            if (w[j] < w[minimum]) minimum = j;
        if (minimum == i) continue;
        const double a = w[i];
        w[i] = w[minimum], w[minimum] = a;
        swap_rows(n, V, i, minimum);
    }
}

void lwi_eigen_symmetric(int n, double *A, double *w, double *V)
{
    const size_t N = (size_t)n;
    memset(V, 0, N * N * sizeof *V);
    for (size_t i = 0; i < N; i++) V[i * N + i] = 1;
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < JACOBI_SWEEPS; sweep++) {
        rotated = false;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                const double size = sqrt(fabs(A[(size_t)p * N + (size_t)p])) *
                                    sqrt(fabs(A[(size_t)q * N + (size_t)q]));
                const double off = fabs(A[(size_t)p * N + (size_t)q]);
                if (!(off > 0.25 * DBL_EPSILON * size) || off < DBL_MIN) continue;
                rotate(n, A, V, p, q);
                rotated = true;
            }
    }
    for (size_t i = 0; i < N; i++) w[i] = A[i * N + i];
    sort_rising(n, w, V);
}

// v with (1 - v v') x = +-|x| e_0; false: x is zero behind its first entry.
static bool reflection(int count, double *x)
{
    double maximum = 0, sum = 0;
    for (int i = 0; i < count; i++) maximum = fmax(maximum, fabs(x[i]));
    double behind = 0;
    for (int i = 1; i < count; i++) behind = fmax(behind, fabs(x[i]));
    if (behind == 0) return false;
    for (int i = 0; i < count; i++) x[i] /= maximum, sum += x[i] * x[i];
    const double norm = sqrt(sum);
    x[0] += x[0] < 0 ? -norm : norm;
    const double scale = 1 / sqrt(norm * fabs(x[0])); // v'v = 2
    for (int i = 0; i < count; i++) x[i] *= scale;
    return true;
}

static void reflect_columns(int n, double *A, int first, int count, int rows, const double *v)
{
    for (int i = 0; i < rows; i++) {
        double *const row = A + (size_t)i * (size_t)n + first;
        double sum = 0;
        for (int k = 0; k < count; k++) sum += v[k] * row[k];
        for (int k = 0; k < count; k++) row[k] -= sum * v[k];
    }
}

// A := P A P with the reflection P = 1 - v v' of the last `count` rows and columns of a symmetric matrix; p [count] scratch.
static void reflect_both(int n, double *A, int count, const double *v, double *p)
{
    const size_t N = (size_t)n, first = (size_t)(n - count);
    double half = 0;
    for (int i = 0; i < count; i++) {
        const double *row = A + (first + (size_t)i) * N + first;
        p[i] = lwi_dot(count, row, v);
        half += v[i] * p[i] / 2;
    }
    for (int i = 0; i < count; i++) p[i] -= half * v[i];
    for (int i = 0; i < count; i++) {
        double *const row = A + (first + (size_t)i) * N + first;
        for (int j = 0; j < count; j++) row[j] -= v[i] * p[j] + p[i] * v[j];
    }
}

// d, e := the diagonal of T = V A V', and its entries (i, i + 1); V is orthogonal.  A is destroyed.
static void to_tridiagonal(int n, double *A, double *d, double *e, double *V)
{
    const size_t N = (size_t)n;
    for (int k = 0; k + 2 < n; k++) { // v is kept in the row k of A, if its first entry is not zero
        const int count = n - k - 1;
        double *const v = A + (size_t)k * N + (size_t)k + 1;
        double next = *v;
        if (reflection(count, v)) {
            double sum = 0;
            for (int i = 0; i < count; i++) sum += v[i] * A[(size_t)(k + 1 + i) * N + (size_t)k];
            next -= sum * v[0];
            reflect_both(n, A, count, v, d);
        } else {
            v[0] = 0;
        }
        e[k] = next;
    }
    if (n > 1) e[n - 2] = A[N * N - 2];
    memset(V, 0, N * N * sizeof *V);
    for (size_t i = 0; i < N; i++) d[i] = A[i * N + i], V[i * N + i] = 1;
    for (int k = n - 3; k >= 0; k--) {
        const double *v = A + (size_t)k * N + (size_t)k + 1;
        if (v[0] != 0) reflect_columns(n, V + (size_t)(k + 1) * N, k + 1, n - k - 1, n - k - 1, v);
    }
}

static void rotate_rows(int n, double *a, double *b, double c, double s)
{
    for (int k = 0; k < n; k++) {
        const double x = a[k], y = b[k];
        a[k] = c * x - s * y;
        b[k] = s * x + c * y;
    }
}

// One QL step with the shift of the first entries on rows and columns low ... high of T; V as T.
static void ql_step(int n, double *d, double *e, int low, int high, double *V)
{
    const double ratio = (d[low + 1] - d[low]) / (2 * e[low]);
    double g = d[high] - d[low] + e[low] / (ratio + copysign(hypot(ratio, 1), ratio));
    double s = 1, c = 1, p = 0;
    for (int i = high - 1; i >= low; i--) {
        const double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { // T has fallen apart
            d[i + 1] -= p;
            e[high] = 0;
            return;
        }
        s = f / r, c = g / r;
        g = d[i + 1] - p;
        const double q = (d[i] - g) * s + 2 * c * b;
        p = s * q;
        d[i + 1] = g + p;
        g = c * q - b;
        rotate_rows(n, V + (size_t)i * (size_t)n, V + (size_t)(i + 1) * (size_t)n, c, s);
    }
    d[low] -= p;
    e[low] = g;
    e[high] = 0;
}

bool lwi_eigen_symmetric_ql(int n, double *A, double *w, double *V, double *scratch)
{
    const size_t N = (size_t)n;
    double *const e = scratch;
    for (size_t i = 0; i < N * N; i++)
        if (!isfinite(A[i])) return false;
    if (n == 0) return true;
    to_tridiagonal(n, A, w, e, V);
    e[n - 1] = 0;
    for (int low = 0, step = 0; low < n;) {
        int high = low; // the block low ... high has no small entry next to its diagonal
        while (high < n - 1 && fabs(e[high]) > DBL_EPSILON * (fabs(w[high]) + fabs(w[high + 1])))
            high++;
        if (high == low) {
            low++, step = 0;
            continue;
        }
        if (++step > QR_STEPS) return false;
        ql_step(n, w, e, low, high, V);
    }
    sort_rising(n, w, V);
    return true;
}

// ----------------------------------------------------------------------------------- any real matrix

// Scales rows and columns by powers of two until their norms are alike: similar matrices, exactly.
static void balance(int n, double *A)
{
    const size_t N = (size_t)n;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < N; i++) {
            double c = 0, r = 0, f = 1;
            for (size_t j = 0; j < N; j++)
                if (j != i) c += fabs(A[j * N + i]), r += fabs(A[i * N + j]);
            if (!(c > 0) || !(r > 0)) continue;
            const double sum = c + r;
            while (c < r / 2) f *= 2, c *= 4;
            while (c >= r * 2) f /= 2, c /= 4;
            if (f == 1 || (c + r) / f >= 0.95 * sum) continue;
            changed = true;
            for (size_t j = 0; j < N; j++) A[i * N + j] /= f;
            for (size_t j = 0; j < N; j++) A[j * N + i] *= f;
        }
    }
}

// A := P A P with the reflection P = 1 - v v' of rows first ... first + count - 1; v is its vector.
static void reflect_rows(int n, double *A, int first, int count, int from, const double *v)
{
    for (int j = from; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += v[i] * A[(size_t)(first + i) * (size_t)n + (size_t)j];
        for (int i = 0; i < count; i++)
            A[(size_t)(first + i) * (size_t)n + (size_t)j] -= sum * v[i];
    }
}

static void hessenberg(int n, double *A, double *v)
{
    for (int k = 0; k + 2 < n; k++) {
        const int count = n - k - 1;
        for (int i = 0; i < count; i++) v[i] = A[(size_t)(k + 1 + i) * (size_t)n + (size_t)k];
        if (!reflection(count, v)) continue;
        reflect_rows(n, A, k + 1, count, k, v);
        reflect_columns(n, A, k + 1, count, n, v);
        for (int i = 1; i < count; i++) A[(size_t)(k + 1 + i) * (size_t)n + (size_t)k] = 0;
    }
}

// Eigenvalues of [a b; c d].
static void pair(double a, double b, double c, double d, double *re, double *im)
{
    const double half = (a - d) / 2, square = half * half + b * c, mean = (a + d) / 2;
    if (square < 0) {
        re[0] = re[1] = mean;
        im[0] = sqrt(-square), im[1] = -im[0];
        return;
    }
    // of two real ones the larger half first, the other from the product, without cancellation
    const double far = half + (half < 0 ? -sqrt(square) : sqrt(square));
    re[0] = d + far;
    re[1] = far == 0 ? d : d - b * c / far;
    if (far == 0 && square == 0) re[0] = re[1] = mean;
    im[0] = im[1] = 0;
}

// One QR step with two shifts, those of the sum and product given, on rows and columns low ... high.
static void francis(int n, double *H, int low, int high, double sum, double product)
{
#define H_(i, j) H[(size_t)(i) * (size_t)n + (size_t)(j)]
    double v[3] = {H_(low, low) * H_(low, low) + H_(low, low + 1) * H_(low + 1, low) -
                       sum * H_(low, low) + product,
                   H_(low + 1, low) * (H_(low, low) + H_(low + 1, low + 1) - sum),
                   high - low > 1 ? H_(low + 1, low) * H_(low + 2, low + 1) : 0};
    for (int k = low; k < high; k++) {
        const int count = high - k + 1 < 3 ? high - k + 1 : 3;
        if (k > low)
            for (int i = 0; i < count; i++) v[i] = H_(k + i, k - 1);
        if (reflection(count, v)) {
            reflect_rows(n, H, k, count, k > low ? k - 1 : low, v);
            reflect_columns(n, H, k, count, (k + 4 < high + 1 ? k + 4 : high + 1), v);
        }
        if (k > low)
            for (int i = 1; i < count; i++) H_(k + i, k - 1) = 0;
    }
#undef H_
}

bool lwi_eigen_values(int n, double *A, double *re, double *im, double *scratch)
{
    const size_t N = (size_t)n;
    for (size_t i = 0; i < N * N; i++)
        if (!isfinite(A[i])) return false;
    balance(n, A);
    hessenberg(n, A, scratch);
#define H_(i, j) A[(size_t)(i)*N + (size_t)(j)]
    double norm = 0;
    for (size_t i = 0; i < N * N; i++) norm = fmax(norm, fabs(A[i]));
    int step = 0;
    for (int high = n - 1; high >= 0;) {
        int low = high; // the block low ... high has no small entry below its diagonal
        for (; low > 0; low--) {
            const double beside = fabs(H_(low - 1, low - 1)) + fabs(H_(low, low));
            if (fabs(H_(low, low - 1)) <= DBL_EPSILON * (beside > 0 ? beside : norm)) break;
        }
        if (low > 0) H_(low, low - 1) = 0;
        if (low == high) {
            re[high] = H_(high, high), im[high] = 0;
            high--, step = 0;
            continue;
        }
        if (low == high - 1) {
            pair(H_(low, low), H_(low, high), H_(high, low), H_(high, high), re + low, im + low);
            high -= 2, step = 0;
            continue;
        }
        if (++step > QR_STEPS) return false;
        double sum = H_(high - 1, high - 1) + H_(high, high),
               product = H_(high - 1, high - 1) * H_(high, high) -
                         H_(high - 1, high) * H_(high, high - 1);
        if (step % 10 == 0) { // other shifts end a cycle
            const double size = fabs(H_(high, high - 1)) + fabs(H_(high - 1, high - 2));
            sum = 1.5 * size, product = size * size;
        }
        francis(n, A, low, high, sum, product);
    }
#undef H_
    return true;
}

// --------------------------------------------------------------------------------- inverse iteration

typedef struct complex_number {
    double re, im;
} complex_number;

static complex_number over(complex_number a, complex_number b)
{
    const double size = b.re * b.re + b.im * b.im;
    return (complex_number){(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

static void subtract(complex_number *a, complex_number f, complex_number b)
{
    a->re -= f.re * b.re - f.im * b.im;
    a->im -= f.re * b.im + f.im * b.re;
}

// Solves LU x = b in place, B [n][n] with its right side b: elimination with row pivots.  Pivots below `tiny` are
// replaced by it: A - lambda is singular up to round-off, and this is what the method needs.
static void solve(int n, complex_number *B, complex_number *b, double tiny)
{
    const size_t N = (size_t)n;
    for (size_t k = 0; k < N; k++) {
        size_t maximum = k;
        for (size_t i = k + 1; i < N; i++)
            if (hypot(B[i * N + k].re, B[i * N + k].im) >
                hypot(B[maximum * N + k].re, B[maximum * N + k].im))
                maximum = i;
        for (size_t j = 0; maximum != k && j < N; j++) {
            const complex_number swap = B[k * N + j];
            B[k * N + j] = B[maximum * N + j], B[maximum * N + j] = swap;
        }
        const complex_number swap = b[k];
        b[k] = b[maximum], b[maximum] = swap;
        if (hypot(B[k * N + k].re, B[k * N + k].im) < tiny)
            B[k * N + k] = (complex_number){tiny, 0};
        for (size_t i = k + 1; i < N; i++) {
            const complex_number f = over(B[i * N + k], B[k * N + k]);
            if (f.re == 0 && f.im == 0) continue;
            for (size_t j = k + 1; j < N; j++) subtract(&B[i * N + j], f, B[k * N + j]);
            subtract(&b[i], f, b[k]);
        }
    }
    for (size_t k = N; k-- > 0;) {
        for (size_t j = k + 1; j < N; j++) subtract(&b[k], B[k * N + j], b[j]);
        b[k] = over(b[k], B[k * N + k]);
    }
}

// Scales b to norm 1; returns its norm.
static double normalise(int n, complex_number *b)
{
    double maximum = 0, sum = 0;
    for (int i = 0; i < n; i++) maximum = fmax(maximum, fmax(fabs(b[i].re), fabs(b[i].im)));
    if (!(maximum > 0)) return 0;
    for (int i = 0; i < n; i++) {
        b[i].re /= maximum, b[i].im /= maximum;
        sum += b[i].re * b[i].re + b[i].im * b[i].im;
    }
    sum = sqrt(sum);
    for (int i = 0; i < n; i++) b[i].re /= sum, b[i].im /= sum;
    return maximum * sum;
}

void lwi_eigen_vector(int n, const double *A, double re, double im, int start, double *scratch,
                      double *x, double *y)
{
    const size_t N = (size_t)n;
    complex_number *const B = (complex_number *)scratch, *const b = B + N * N;
    double norm = 0;
    for (size_t i = 0; i < N * N; i++) norm = fmax(norm, fabs(A[i]));
    for (size_t i = 0; i < N; i++) // no symmetry of a mechanism makes this orthogonal to a vector
        b[i] = start ? (complex_number){sin(1.7 + 2.3 * (double)i * start), 0}
                     : (complex_number){1 + 0.1 * sin(1 + 2.3 * (double)i), 0};
    normalise(n, b);
    // The residual is 1 / growth.  A second step after a good first one spoils vectors of defective matrices.
    double growth = 0;
    for (int step = 0; step < 3 && !(growth * norm > 1e-3 / DBL_EPSILON); step++) {
        for (size_t i = 0; i < N * N; i++) B[i] = (complex_number){A[i], 0};
        for (size_t i = 0; i < N; i++) B[i * N + i].re -= re, B[i * N + i].im -= im;
        solve(n, B, b, DBL_EPSILON * (norm > 0 ? norm : 1));
        growth = normalise(n, b);
    }
    for (size_t i = 0; i < N; i++) x[i] = b[i].re, y[i] = b[i].im;
}
