// gap.c -- can a gap close between the ends of a step at which it is open?
//
// Position, velocity and acceleration at both ends give the polynomial of degree 5 through them, in the Bernstein basis
// of the step, t = t0 + h s:
//
//     y(s) = sum_i c_i B_i(s),   c = y0, y0 + h y0'/5, y0 + 2 h y0'/5 + h^2 y0''/20, ..., y1
//
// It differs from the cubic through positions and velocities by (c2 - k2) B_2 + (c3 - k3) B_3.  A part of this is its own
// error estimate, which vanishes at the ends like that:  e(s) = d (B_2 + B_3).  A length closes where  y - e < 0,  the
// distance of two points where  |y| < radius + e,  or
//
//     y y - radius^2 - (2 radius + e_max) e(s) < 0                       a polynomial of degree 10
//
// A polynomial lies above its smallest Bernstein coefficient; halving the interval makes this bound sharp.
#include "simulate/gap.h"

#include "base/assert.h"
#include "spatial/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { DEGREE = 5, SQUARE = 2 * DEGREE };
// The error of the polynomial relative to its difference from the cubic: for y = sin(w t) it is (h w)^2 / 120 of it, and
// steps of h w > 5 pass no error test.
#define ERROR 0.25
// e_max / d: the maximum of B_2 + B_3 = 10 s^2 (1 - s)^2
#define LARGEST 0.625
// Speeds between the ends of a step, relative to the largest known of it, if nothing else is known.
#define FASTER 2
enum { MAX_DEPTH = 20 }; // halvings

static double size_of(const lwi_gap *g, const double y[3])
{
    return g->n == 3 ? v3_norm(y) : y[0];
}

bool lwi_gap_is_wide(const lwi_gap *a, const lwi_gap *b, double h)
{
    LWI_ASSERT(a->n == b->n);
    double change[3];
    v3_sub(change, b->y[0], a->y[0]);
    const double gaps = size_of(a, a->y[0]) + size_of(b, b->y[0]) - 2 * a->radius;
    const double ends = fmax(fabs(size_of(a, a->y[1])), fabs(size_of(b, b->y[1])));
    return gaps > FASTER * fmax(h * ends, fabs(size_of(a, change)));
}

// Bernstein coefficients of component i; the differences of the middle ones from the cubic's.
static void interpolate(const lwi_gap *a, const lwi_gap *b, double h, int i, double c[DEGREE + 1],
                        double difference[2])
{
    const double v0 = h * a->y[1][i], v1 = h * b->y[1][i];
    c[0] = a->y[0][i];
    c[5] = b->y[0][i];
    c[1] = c[0] + v0 / 5;
    c[4] = c[5] - v1 / 5;
    const double k1 = c[0] + v0 / 3, k2 = c[5] - v1 / 3; // of the cubic, of degree 3 and then 5
    const double k[2] = {(c[0] + 6 * k1 + 3 * k2) / 10, (3 * k1 + 6 * k2 + c[5]) / 10};
    c[2] = c[0] + 0.4 * v0 + h * h * a->y[2][i] / 20;
    c[3] = c[5] - 0.4 * v1 + h * h * b->y[2][i] / 20;
    for (int j = 0; j < 2; j++) {
        if (!isfinite(c[2 + j])) c[2 + j] = k[j];
        difference[j] = c[2 + j] - k[j];
    }
}

static double binomial(int n, int k)
{
    double value = 1;
    for (int i = 1; i <= k; i++) value *= (double)(n - k + i) / i;
    return value;
}

// Coefficients of degree 10 of  y y - radius^2 - (2 radius + e_max) e.
static void square(double (*y)[DEGREE + 1], double radius, double d, double c[SQUARE + 1])
{
    for (int k = 0; k <= SQUARE; k++) {
        c[k] = -radius * radius;
        for (int i = k > DEGREE ? k - DEGREE : 0; i <= k && i <= DEGREE; i++) {
            double dot = 0;
            for (int j = 0; j < 3; j++) dot += y[j][i] * y[j][k - i];
            c[k] += binomial(DEGREE, i) * binomial(DEGREE, k - i) / binomial(SQUARE, k) * dot;
        }
        if (k >= 2 && k <= 8) // 10 d s^2 (1 - s)^2 in degree 10
            c[k] -= (2 * radius + LARGEST * d) * 10 * d * binomial(6, k - 2) / binomial(SQUARE, k);
    }
}

typedef struct minimum {
    double enough; ///< a polynomial above is not searched
    double value, s;
} minimum;

// The smallest value of a polynomial on [from, from + width], if it is below the one known and below `enough`.
static void find_minimum(int n, const double *c, double from, double width, int depth, minimum *m)
{
    double left[SQUARE + 1], right[SQUARE + 1], bound = c[0];
    LWI_ASSERT(n <= SQUARE);
    for (int i = 1; i <= n; i++) bound = fmin(bound, c[i]);
    if (c[0] < m->value) m->value = c[0], m->s = from;
    if (c[n] < m->value) m->value = c[n], m->s = from + width;
    if (depth == 0 || bound >= m->value || bound >= m->enough) return;
    memcpy(right, c, (size_t)(n + 1) * sizeof *c);
    for (int k = 0; k <= n; k++) { // de Casteljau
        left[k] = right[0];
        for (int i = 0; i < n - k; i++) right[i] = 0.5 * (right[i] + right[i + 1]);
    }
    find_minimum(n, left, from, 0.5 * width, depth - 1, m);
    find_minimum(n, right, from + 0.5 * width, 0.5 * width, depth - 1, m);
}

bool lwi_gap_may_close(const lwi_gap *a, const lwi_gap *b, double h, double tolerance, double *s)
{
    LWI_ASSERT(a->n == b->n && a->radius == b->radius);
    double y[3][DEGREE + 1], c[SQUARE + 1], difference[2], d[2] = {0}, largest = 0;
    const int n = a->n == 3 ? SQUARE : DEGREE;
    for (int i = 0; i < a->n; i++) {
        interpolate(a, b, h, i, y[i], difference);
        for (int j = 0; j < 2; j++) d[j] = hypot(d[j], difference[j]);
    }
    const double error = ERROR * fmax(d[0], d[1]);
    if (a->n == 3) {
        square(y, a->radius, error, c);
        tolerance *= 2 * a->radius;
    } else {
        memcpy(c, y[0], sizeof y[0]);
        c[2] -= error, c[3] -= error;
    }
    for (int i = 0; i <= n; i++) largest = fmax(largest, fabs(c[i]));
    const double allowed = -fmax(tolerance, 16 * DBL_EPSILON * largest);
    minimum m = {.enough = allowed, .value = INFINITY};
    find_minimum(n, c, 0, 1, MAX_DEPTH, &m);
    *s = m.s;
    return m.value < allowed;
}
