// modes.c -- natural motions exp(s t) of a linearised mechanism.
//
// Without damping and gyroscopic terms, M_r y'' + K_r y = 0 with symmetric matrices is solved, with real eigenvalues and
// shapes; else the eigenvalues of A.
#include "analysis/linear.h"
#include "base/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SYMMETRIC 1e-8 // of the largest entry: the accuracy of differences
#define DOUBLE_ZERO                                                                                \
    1e-5 // of the largest |s|: round-off separates a double zero of A by its square root
#define NOTHING 1e-13        // of a vector's largest state of a signal: no displacement
#define NOTHING_AT_ZERO 1e-8 // the same of s = 0, where the inverse iteration is singular
#define CLOSE 1e-7 // of the largest |s|: a cluster of eigenvalues; its vectors are made independent

struct lw_modes {
    lwi_arena arena;
    int f, nsignal, nbody, n;
    lw_mode *mode;                         ///< [n]
    double *re, *im;                       ///< [n][f] coordinates
    double *signal_re, *signal_im;         ///< [n][nsignal] states of signals
    double (*shape_re)[6], (*shape_im)[6]; ///< [n][nbody]
    double *energy;                        ///< [n][nbody]
};

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for modes");
}

static void add(lw_modes *modes, double re, double im, bool rigid, const double *x, const double *y)
{
    const double size = hypot(re, im);
    const size_t f = (size_t)modes->f, c = (size_t)modes->nsignal;
    lw_mode *const mode = &modes->mode[modes->n];
    *mode = (lw_mode){.rigid = rigid};
    if (!rigid)
        *mode = (lw_mode){.frequency = im / (2 * acos(-1)),
                          .damping_ratio = re != 0 ? -re / size : 0,
                          .re = re,
                          .im = im};
    memcpy(modes->re + (size_t)modes->n * f, x, f * sizeof *x);
    if (y) memcpy(modes->im + (size_t)modes->n * f, y, f * sizeof *y);
    if (c > 0) memcpy(modes->signal_re + (size_t)modes->n * c, x + 2 * f, c * sizeof *x);
    if (c > 0 && y) memcpy(modes->signal_im + (size_t)modes->n * c, y + 2 * f, c * sizeof *y);
    modes->n++;
}

// ---------------------------------------------------------------------------------- the two problems

static double largest(const double *x, size_t n)
{
    double maximum = 0;
    for (size_t i = 0; i < n; i++) maximum = fmax(maximum, fabs(x[i]));
    return maximum;
}

// K = -M A21; false: A has damping, gyroscopic or unsymmetric terms.
static bool symmetric_stiffness(const lw_linear *linear, double *K)
{
    if (linear->nsignal > 0) return false;
    const size_t f = (size_t)linear->f;
    double rate = 0, asymmetry = 0;
    for (size_t i = 0; i < f; i++)
        for (size_t j = 0; j < f; j++) {
            double k = 0;
            for (size_t l = 0; l < f; l++)
                k -= linear->M[i * f + l] * linear->A[(f + l) * 2 * f + j];
            K[i * f + j] = k;
            rate = fmax(rate, fabs(linear->A[(f + i) * 2 * f + f + j]));
            rate = fmax(rate, fabs(linear->A[i * 2 * f + j]));
        }
    const double size = largest(K, f * f);
    for (size_t i = 0; i < f; i++)
        for (size_t j = 0; j < i; j++) {
            asymmetry = fmax(asymmetry, fabs(K[i * f + j] - K[j * f + i]));
            K[i * f + j] = K[j * f + i] = (K[i * f + j] + K[j * f + i]) / 2;
        }
    const double squared = largest(linear->A, 4 * f * f);
    return asymmetry <= SYMMETRIC * size && rate <= SYMMETRIC * sqrt(fmax(squared, 1));
}

static double noise_of(const lw_linear *linear, const double *K, const double *y)
{
    return lwi_analysis_noise(linear->f, K, y, linear->unit, linear->weight);
}

static lw_status undamped(lw_modes *modes, const lw_linear *linear, double *K, lwi_arena *arena,
                          lw_error *error)
{
    const int f = modes->f;
    const size_t F = (size_t)f;
    double *L = LWI_PUSH(arena, double, F *F), *U = LWI_PUSH(arena, double, F *F),
           *k = LWI_PUSH(arena, double, F), *stiffness = LWI_PUSH(arena, double, F *F);
    if (!L || !U || !k || !stiffness) return no_memory(error);
    memcpy(L, linear->M, F * F * sizeof *L);
    memcpy(stiffness, K, F * F * sizeof *K);
    if (lwi_cholesky(f, L, 0) >= 0)
        return lwi_fail(error, LW_ERR_SINGULAR, "the mass matrix is not positive definite");
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = 0; i < F; i++) lwi_lower_solve(f, L, K + i * F);
        for (size_t i = 0; i < F; i++)
            for (size_t j = 0; j < i; j++) {
                const double x = K[i * F + j];
                K[i * F + j] = K[j * F + i], K[j * F + i] = x;
            }
    }
    lwi_eigen_symmetric(f, K, k, U);
    for (size_t i = 0; i < F; i++) {
        double *const y = U + i * F;
        lwi_lower_tsolve(f, L, y);
        const bool rigid = !(fabs(k[i]) > noise_of(linear, stiffness, y));
        const double s = sqrt(fabs(k[i]));
        if (rigid || k[i] > 0) {
            add(modes, 0, s, rigid, y, NULL);
        } else {
            add(modes, s, 0, false, y, NULL);
            add(modes, -s, 0, false, y, NULL);
        }
    }
    return LW_OK;
}

// Row r of A for constant deviations of coordinates and signals, dy/dt = A11 y + z = 0.
static double held(const lw_linear *linear, size_t r, size_t j)
{
    const size_t f = (size_t)linear->f, n = (size_t)linear->n;
    const double *A = linear->A;
    if (j >= f) return A[r * n + f + j];
    double a = A[r * n + j];
    for (size_t l = 0; l < f; l++) a -= A[r * n + f + l] * A[l * n + j];
    return a;
}

// E [f + nsignal]^2 := loads -M (A21 - A22 A11) of constant deviations of coordinates, and of states of signals, and the
// rates of these.  At rest the former are K.
static void held_stiffness(const lw_linear *linear, double *E)
{
    const size_t f = (size_t)linear->f, g = f + (size_t)linear->nsignal;
    for (size_t j = 0; j < g; j++) {
        for (size_t i = 0; i < f; i++) {
            double e = 0;
            for (size_t k = 0; k < f; k++) e -= linear->M[i * f + k] * held(linear, f + k, j);
            E[i * g + j] = e;
        }
        for (size_t i = f; i < g; i++) E[i * g + j] = held(linear, f + i, j);
    }
}

// 1 over the square root of the diagonal; where that is no more than noise, of the largest entry of row and column.
static void scale_stiffness(const lw_linear *linear, const double *E, double *unit, double *scale)
{
    const size_t F = (size_t)linear->f;
    const double whole = SYMMETRIC * largest(E, F * F);
    for (size_t i = 0; i < F; i++) {
        double size = fabs(E[i * F + i]);
        memset(unit, 0, F * sizeof *unit);
        unit[i] = 1;
        const double noise = noise_of(linear, E, unit);
        if (!(size > noise)) {
            size = 0;
            for (size_t j = 0; j < F; j++)
                size = fmax(size, fmax(fabs(E[i * F + j]), fabs(E[j * F + i])));
            if (size <= fmax(noise, whole)) size = 0;
        }
        scale[i] = size > 0 ? 1 / sqrt(size) : 0;
    }
}

// Where signals have states rows and columns are scaled until their largest entries are one: their units differ.
// Stiffnesses that are no more than noise are zero.  column [g], times: factors of the columns.
static void balance(const lw_linear *linear, double *E, double *unit, double *K, double *column)
{
    enum { SWEEPS = 20 };
    const size_t f = (size_t)linear->f, g = f + (size_t)linear->nsignal;
    double *const noise = unit + f;
    for (size_t i = 0; i < f; i++) memcpy(K + i * f, E + i * g, f * sizeof *K);
    for (size_t i = 0; i < f; i++) {
        memset(unit, 0, f * sizeof *unit);
        unit[i] = 1;
        noise[i] = noise_of(linear, K, unit);
    }
    for (size_t i = 0; i < f; i++)
        for (size_t j = 0; j < f; j++)
            if (fabs(E[i * g + j]) <= sqrt(noise[i] * noise[j])) E[i * g + j] = 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int by_column = 0; by_column < 2; by_column++) {
            const size_t along = by_column ? g : 1, across = by_column ? 1 : g;
            for (size_t i = 0; i < g; i++) {
                double size = 0;
                for (size_t j = 0; j < g; j++) size = fmax(size, fabs(E[i * across + j * along]));
                for (size_t j = 0; size > 0 && j < g; j++) E[i * across + j * along] /= sqrt(size);
                if (by_column && size > 0) column[i] /= sqrt(size);
            }
        }
}

// How many deviations stay: the rank that E, scaled, lacks.  *null [rigid][g]: these deviations.
static lw_status find_rigid(const lw_linear *linear, lwi_arena *arena, int *rigid, double **null)
{
    const int g = linear->f + linear->nsignal;
    const size_t G = (size_t)g;
    lwi_cod cod;
    double *a = LWI_PUSH(arena, double, G *G), *E = LWI_PUSH(arena, double, G *G),
           *rest = LWI_PUSH(arena, double, lwi_cod_doubles(g, g)),
           *scale = LWI_PUSH(arena, double, G), *unit = LWI_PUSH(arena, double, 2 * G),
           *column = LWI_PUSH(arena, double, G);
    int *pivot = LWI_PUSH(arena, int, G);
    *null = LWI_PUSH(arena, double, G *G);
    if (!a || !E || !rest || !scale || !unit || !column || !pivot || !*null) return LW_ERR_MEMORY;
    held_stiffness(linear, E);
    for (size_t i = 0; i < G; i++) scale[i] = column[i] = 1;
    if (linear->nsignal > 0)
        balance(linear, E, unit, a, column);
    else
        scale_stiffness(linear, E, unit, scale);
    for (size_t i = 0; i < G; i++)
        for (size_t j = 0; j < G; j++) a[j * G + i] = scale[i] * E[i * G + j] * scale[j];
    lwi_cod_init(&cod, g, g, a, rest, pivot);
    lwi_cod_factor(&cod, -1, 1e-9);
    *rigid = g - cod.rank;
    lwi_cod_null(&cod, *null);
    for (size_t k = 0; k < (size_t)*rigid; k++)
        for (size_t i = 0; i < G; i++)
            (*null)[k * G + i] *= column[i] * (scale[i] > 0 ? scale[i] : 1);
    return LW_OK;
}

// The eigenvalues by rising |s|, conjugates next to each other, the positive imaginary part first.
static void sort_eigenvalues(size_t n, double *re, double *im)
{
    for (size_t i = 1; i < n; i++) {
        const double x = re[i], y = im[i];
        size_t j = i;
        for (; j > 0 && hypot(re[j - 1], im[j - 1]) > hypot(x, y) * (1 + 1e-14); j--)
            re[j] = re[j - 1], im[j] = im[j - 1];
        re[j] = x, im[j] = y;
    }
}

// Part i of the vector of mode k: a coordinate, then states of signals.
static const double *part_of(const lw_modes *modes, int k, size_t i, bool imaginary)
{
    const size_t f = (size_t)modes->f, c = (size_t)modes->nsignal;
    if (i < f) return (imaginary ? modes->im : modes->re) + (size_t)k * f + i;
    return (imaginary ? modes->signal_im : modes->signal_re) + (size_t)k * c + (i - f);
}

// Removes from x + i y its projections on the vectors of modes `from` and later, which belong to the same cluster of
// eigenvalues; false: nothing remains.
static bool reject_cluster(const lw_modes *modes, int from, double *x, double *y)
{
    const size_t f = (size_t)modes->f, g = f + (size_t)modes->nsignal;
    double before = 0, after = 0;
    for (size_t i = 0; i < g; i++) {
        const size_t at = i < f ? i : f + i;
        before += x[at] * x[at] + y[at] * y[at];
    }
    for (int k = from; k < modes->n; k++) {
        double re = 0, im = 0, size = 0;
        for (size_t i = 0; i < g; i++) {
            const size_t at = i < f ? i : f + i;
            const double u = *part_of(modes, k, i, false), v = *part_of(modes, k, i, true);
            re += u * x[at] + v * y[at];
            im += u * y[at] - v * x[at];
            size += u * u + v * v;
        }
        for (size_t i = 0; size > 0 && i < g; i++) {
            const size_t at = i < f ? i : f + i;
            const double u = *part_of(modes, k, i, false), v = *part_of(modes, k, i, true);
            x[at] -= (re * u - im * v) / size;
            y[at] -= (re * v + im * u) / size;
        }
    }
    for (size_t i = 0; i < g; i++) {
        const size_t at = i < f ? i : f + i;
        after += x[at] * x[at] + y[at] * y[at];
    }
    return after > 1e-6 * before;
}

// A vector with nothing but round-off in its coordinates is that of signals alone.
static void clear_coordinates(const lw_linear *linear, double nothing, double *x, double *y)
{
    const size_t f = (size_t)linear->f;
    double of_coordinates = 0, of_signals = 0;
    for (size_t i = 0; i < f; i++)
        of_coordinates = fmax(of_coordinates, hypot(x[i], y[i]) / linear->unit[i]);
    for (size_t i = 2 * f; i < (size_t)linear->n; i++)
        of_signals = fmax(of_signals, hypot(x[i], y[i]));
    for (size_t i = 0; i < f && of_coordinates <= nothing * of_signals; i++) x[i] = y[i] = 0;
}

// The part of rigid motion k that the modes from `cluster` on do not have.
static bool take_rigid(const lw_modes *modes, const lw_linear *linear, const double *null, int k,
                       int cluster, double *x, double *y)
{
    const size_t f = (size_t)linear->f, g = f + (size_t)linear->nsignal;
    memset(x, 0, (size_t)linear->n * sizeof *x);
    memset(y, 0, (size_t)linear->n * sizeof *y);
    for (size_t i = 0; i < g; i++) x[i < f ? i : f + i] = null[(size_t)k * g + i];
    return reject_cluster(modes, cluster, x, y);
}

static lw_status damped(lw_modes *modes, const lw_linear *linear, lwi_arena *arena, lw_error *error)
{
    const size_t n = (size_t)linear->n;
    double *A = LWI_PUSH(arena, double, n *n), *re = LWI_PUSH(arena, double, n),
           *im = LWI_PUSH(arena, double, n), *scratch = LWI_PUSH(arena, double, 2 * n * (n + 1)),
           *x = LWI_PUSH(arena, double, n), *y = LWI_PUSH(arena, double, n);
    int rigid = 0;
    double *null;
    if (!A || !re || !im || !scratch || !x || !y) return no_memory(error);
    if (find_rigid(linear, arena, &rigid, &null) != LW_OK) return no_memory(error);
    memcpy(A, linear->A, n * n * sizeof *A);
    if (!lwi_eigen_values((int)n, A, re, im, scratch))
        return lwi_fail(error, LW_ERR_SINGULAR, "the eigenvalues do not converge");
    sort_eigenvalues(n, re, im);
    const double maximum = n ? hypot(re[n - 1], im[n - 1]) : 0;
    int zeros = 0, doubles = 0, cluster = 0;
    for (size_t i = 0; i < n; i++) {
        const double size = hypot(re[i], im[i]);
        const bool zero = zeros < rigid;
        // the second zero of a rigid motion without damping
        if (!zero && doubles < rigid && size <= DOUBLE_ZERO * maximum) {
            doubles++;
            continue;
        }
        if (!zero && im[i] < 0) continue;
        const bool close =
            modes->n > 0 && hypot(re[i] - modes->mode[modes->n - 1].re,
                                  im[i] - modes->mode[modes->n - 1].im) <= CLOSE * maximum;
        if (!close) cluster = modes->n;
        bool found = false;
        for (int start = 0; !found && start < modes->f + modes->nsignal; start++) {
            lwi_eigen_vector((int)n, linear->A, zero ? 0 : re[i], zero ? 0 : im[i], start, scratch,
                             x, y);
            found = reject_cluster(modes, cluster, x, y);
        }
        for (int k = 0; zero && !found && k < rigid; k++) // a double zero hides the others
            found = take_rigid(modes, linear, null, k, cluster, x, y);
        clear_coordinates(linear, zero ? NOTHING_AT_ZERO : NOTHING, x, y);
        add(modes, re[i], im[i], zero, x, y);
        zeros += zero;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------ shapes, order

// The body motions of coordinates x [f].
static void body_shape(const lw_linear *linear, const double *x, double (*shape)[6])
{
    for (int b = 1; b < linear->nbody; b++)
        for (int i = 0; i < 6; i++) {
            double sum = 0;
            for (int k = 0; k < linear->f; k++)
                sum += x[k] * linear->move[(size_t)k * (size_t)linear->nbody + (size_t)b][i];
            shape[b][i] = sum;
        }
}

static double norm3(const double *re, const double *im)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += re[i] * re[i] + im[i] * im[i];
    return sqrt(sum);
}

static double energy_of(const lw_linear *linear, int b, const double *d)
{
    double sum = linear->mass[b] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const double *I = linear->inertia[b], *w = d + 3;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum += w[i] * I[3 * i + j] * w[j];
    return sum / 2;
}

// (re + i im) := (c + i s) (re + i im)
static void multiply(size_t n, double c, double s, double *re, double *im)
{
    for (size_t i = 0; i < n; i++) {
        const double u = re[i], v = im[i];
        re[i] = c * u - s * v;
        im[i] = s * u + c * v;
    }
}

// Of a mode of signals alone: the largest is 1, and real.
static void scale_signals(lw_modes *modes, int k)
{
    const size_t n = (size_t)modes->nsignal;
    double *const re = modes->signal_re + (size_t)k * n, *const im =
                                                             modes->signal_im + (size_t)k * n;
    size_t maximum = 0;
    for (size_t i = 1; i < n; i++)
        if (hypot(re[i], im[i]) > hypot(re[maximum], im[maximum]) * (1 + 1e-9)) maximum = i;
    const double size = n ? hypot(re[maximum], im[maximum]) : 0;
    if (size > 0) multiply(n, re[maximum] / size / size, -im[maximum] / size / size, re, im);
}

// Scale and phase: the largest displacement is 1, and real.
static void scale_shape(lw_modes *modes, int k, double (*re)[6], double (*im)[6])
{
    double maximum[2] = {0};
    int where[2] = {0};
    for (int b = 1; b < modes->nbody; b++)
        for (int kind = 0; kind < 2; kind++) {
            const double size = norm3(re[b] + 3 * kind, im[b] + 3 * kind);
            if (size > maximum[kind] * (1 + 1e-9)) maximum[kind] = size, where[kind] = b;
        }
    const int kind = maximum[0] > 1e-9 * maximum[1] ? 0 : 1;
    if (!(maximum[kind] > 0)) {
        scale_signals(modes, k);
        return;
    }
    const double *x = re[where[kind]] + 3 * kind, *y = im[where[kind]] + 3 * kind;
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (hypot(x[i], y[i]) > hypot(x[axis], y[axis]) * (1 + 1e-9)) axis = i;
    const double size = hypot(x[axis], y[axis]), c = x[axis] / size / maximum[kind],
                 s = -y[axis] / size / maximum[kind];
    const size_t f = (size_t)modes->f, n = (size_t)modes->nsignal;
    multiply(6 * (size_t)modes->nbody, c, s, (double *)re, (double *)im);
    multiply(f, c, s, modes->re + (size_t)k * f, modes->im + (size_t)k * f);
    multiply(n, c, s, modes->signal_re + (size_t)k * n, modes->signal_im + (size_t)k * n);
}

static void shapes(lw_modes *modes, const lw_linear *linear)
{
    const size_t f = (size_t)modes->f, n = (size_t)modes->nbody;
    for (int k = 0; k < modes->n; k++) {
        double(*const re)[6] = modes->shape_re + (size_t)k * n,
                      (*const im)[6] = modes->shape_im + (size_t)k * n;
        body_shape(linear, modes->re + (size_t)k * f, re);
        body_shape(linear, modes->im + (size_t)k * f, im);
        scale_shape(modes, k, re, im);
        double sum = 0;
        double *const share = modes->energy + (size_t)k * n;
        for (int b = 1; b < modes->nbody; b++)
            sum += share[b] = energy_of(linear, b, re[b]) + energy_of(linear, b, im[b]);
        for (int b = 1; sum > 0 && b < modes->nbody; b++) share[b] /= sum;
    }
}

static bool before(const lw_mode *a, const lw_mode *b)
{
    if (a->frequency != b->frequency) return a->frequency < b->frequency;
    return hypot(a->re, a->im) < hypot(b->re, b->im);
}

static void swap(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double x = a[i];
        a[i] = b[i], b[i] = x;
    }
}

static void sort_modes(lw_modes *modes)
{
    const size_t f = (size_t)modes->f, c = (size_t)modes->nsignal;
    for (int i = 0; i < modes->n; i++) {
        int minimum = i;
        for (int j = i + 1; j < modes->n; j++)
            if (before(&modes->mode[j], &modes->mode[minimum])) minimum = j;
        if (minimum == i) continue;
        const lw_mode mode = modes->mode[i];
        modes->mode[i] = modes->mode[minimum], modes->mode[minimum] = mode;
        swap(modes->re + (size_t)i * f, modes->re + (size_t)minimum * f, f);
        swap(modes->im + (size_t)i * f, modes->im + (size_t)minimum * f, f);
        swap(modes->signal_re + (size_t)i * c, modes->signal_re + (size_t)minimum * c, c);
        swap(modes->signal_im + (size_t)i * c, modes->signal_im + (size_t)minimum * c, c);
    }
}

static lw_status compute(lw_modes *modes, const lw_linear *linear, lwi_arena *scratch,
                         lw_error *error)
{
    lwi_arena *arena = &modes->arena;
    const size_t f = (size_t)linear->f, maximum = (size_t)linear->n, n = (size_t)linear->nbody;
    modes->f = linear->f;
    modes->nsignal = linear->nsignal;
    modes->nbody = linear->nbody;
    modes->mode = LWI_PUSH(arena, lw_mode, maximum);
    modes->re = LWI_PUSH(arena, double, maximum *f);
    modes->im = LWI_PUSH(arena, double, maximum *f);
    modes->signal_re = LWI_PUSH(arena, double, maximum *(size_t)modes->nsignal);
    modes->signal_im = LWI_PUSH(arena, double, maximum *(size_t)modes->nsignal);
    double *K = LWI_PUSH(scratch, double, f *f);
    if (!modes->mode || !modes->re || !modes->im || !modes->signal_re || !modes->signal_im || !K)
        return no_memory(error);
    if (symmetric_stiffness(linear, K))
        TRY(undamped(modes, linear, K, scratch, error));
    else
        TRY(damped(modes, linear, scratch, error));
    sort_modes(modes);
    modes->shape_re = lwi_arena_push(arena, (size_t)modes->n * n, sizeof *modes->shape_re);
    modes->shape_im = lwi_arena_push(arena, (size_t)modes->n * n, sizeof *modes->shape_im);
    modes->energy = LWI_PUSH(arena, double, (size_t)modes->n *n);
    if (!modes->shape_re || !modes->shape_im || !modes->energy) return no_memory(error);
    shapes(modes, linear);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- public

lw_status lw_modes_create(const lw_linear *linear, lw_modes **modes, lw_error *error)
{
    if (!linear || !modes)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_modes_create: a linearisation and a result are needed");
    lw_modes *made = lwi_allocate(&linear->arena.allocator, sizeof *made);
    if (!made) return no_memory(error);
    *made = (lw_modes){0};
    lwi_arena scratch;
    lwi_arena_init(&made->arena, &linear->arena.allocator);
    lwi_arena_init(&scratch, &linear->arena.allocator);
    const lw_status status = compute(made, linear, &scratch, error);
    lwi_arena_free(&scratch);
    if (status == LW_OK)
        *modes = made;
    else
        lw_modes_destroy(made);
    return status;
}

void lw_modes_destroy(lw_modes *modes)
{
    if (!modes) return;
    const lw_allocator allocator = modes->arena.allocator;
    lwi_arena_free(&modes->arena);
    lwi_release(&allocator, modes);
}

int lw_modes_count(const lw_modes *modes)
{
    return modes ? modes->n : 0;
}

static bool has(const lw_modes *modes, int index)
{
    return modes && index >= 0 && index < modes->n;
}

lw_mode lw_modes_at(const lw_modes *modes, int index)
{
    return has(modes, index) ? modes->mode[index] : (lw_mode){0};
}

void lw_modes_shape(const lw_modes *modes, int index, double (*re)[6], double (*im)[6])
{
    if (!has(modes, index)) return;
    const size_t n = (size_t)modes->nbody;
    if (re) memcpy(re, modes->shape_re + (size_t)index * n, n * sizeof *re);
    if (im) memcpy(im, modes->shape_im + (size_t)index * n, n * sizeof *im);
}

void lw_modes_energy(const lw_modes *modes, int index, double *share)
{
    if (!has(modes, index) || !share) return;
    const size_t n = (size_t)modes->nbody;
    memcpy(share, modes->energy + (size_t)index * n, n * sizeof *share);
}

void lwi_modes_size(const lw_modes *modes, int *coordinates, int *bodies)
{
    *coordinates = modes->f;
    *bodies = modes->nbody;
}

void lw_modes_coordinates(const lw_modes *modes, int index, double *re, double *im)
{
    if (!has(modes, index)) return;
    const size_t f = (size_t)modes->f;
    if (re) memcpy(re, modes->re + (size_t)index * f, f * sizeof *re);
    if (im) memcpy(im, modes->im + (size_t)index * f, f * sizeof *im);
}

void lw_modes_states(const lw_modes *modes, int index, double *re, double *im)
{
    if (!has(modes, index)) return;
    const size_t n = (size_t)modes->nsignal;
    if (re && n) memcpy(re, modes->signal_re + (size_t)index * n, n * sizeof *re);
    if (im && n) memcpy(im, modes->signal_im + (size_t)index * n, n * sizeof *im);
}
