// table.c -- curves through points, and surfaces through grids of points, with derivatives.
//
//   spline    cubic with f'' = 0 at the first and the last point (natural), or periodic.  With h_i = x_{i+1} - x_i and
//             m_i = f''(x_i):
//                 h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1}
//                     = 6 ((y_{i+1} - y_i)/h_i - (y_i - y_{i-1})/h_{i-1})
//   monotone  cubic Hermite pieces; where the slopes s_{i-1}, s_i of the chords have the same sign, the slope at a point
//             is their weighted harmonic mean, else zero: no value lies beyond those of the points around it
//             [fritsch1984]
//   map       bicubic Hermite patches; the slopes along each axis are those of the curves along the lines of the grid.
//             Of a spline also the mixed derivatives are, so that the surface has two continuous derivatives.
#include "model/signals/table.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ checks

lw_status lwi_signal_array(const double *values, int n, int minimum, const char *what,
                           lw_error *error)
{
    if (n < minimum || !values)
        return lwi_fail(error, LW_ERR_MODEL, "has %d %s, expected at least %d", values ? n : 0,
                        what, minimum);
    for (int i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return lwi_fail(error, LW_ERR_MODEL, "number %d of %s is %g, expected a finite number",
                            i + 1, what, values[i]);
    return LW_OK;
}

static lw_status check_axis(const double *x, int n, bool times, const char *name, lw_error *error)
{
    TRY(lwi_signal_array(x, n, 2, times ? "times" : name, error));
    for (int i = 1; i < n; i++) {
        if (x[i] > x[i - 1]) continue;
        if (times)
            return lwi_fail(error, LW_ERR_MODEL,
                            "time %d of the table is %.17g, expected more than %.17g before it",
                            i + 1, x[i], x[i - 1]);
        return lwi_fail(error, LW_ERR_MODEL,
                        "number %d of %s is %.17g, expected more than %.17g before it", i + 1, name,
                        x[i], x[i - 1]);
    }
    return LW_OK;
}

static lw_status check_same(const double *first, const double *last, int n, int stride,
                            const char *which, lw_error *error)
{
    for (int i = 0; i < n; i++)
        if (first[(size_t)i * (size_t)stride] != last[(size_t)i * (size_t)stride])
            return lwi_fail(error, LW_ERR_MODEL,
                            "is periodic%s, but its first value is %.17g and its last %.17g, "
                            "expected the same",
                            which, first[(size_t)i * (size_t)stride],
                            last[(size_t)i * (size_t)stride]);
    return LW_OK;
}

lw_status lwi_table_check(const lw_function_desc *d, lw_error *error)
{
    const bool map = d->type == LW_FUNCTION_MAP;
    if ((unsigned)d->interpolation >= LW_INTERPOLATION_COUNT ||
        (unsigned)d->ends >= LW_ENDS_COUNT || (unsigned)d->ends2 >= LW_ENDS_COUNT)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "interpolation %d or ends %d, %d is not one of the list",
                        (int)d->interpolation, (int)d->ends, (int)d->ends2);
    TRY(check_axis(d->t, d->npoint, d->type == LW_FUNCTION_TABLE, "x", error));
    if (!map) {
        TRY(lwi_signal_array(d->y, d->npoint, 2, "values", error));
        if (d->ends != LW_ENDS_PERIODIC) return LW_OK;
        return check_same(d->y, d->y + d->npoint - 1, 1, 1, "", error);
    }
    TRY(check_axis(d->x2, d->npoint2, false, "x2", error));
    if (d->npoint > INT32_MAX / 8 / d->npoint2)
        return lwi_fail(error, LW_ERR_MODEL, "has %d times %d points, too many", d->npoint,
                        d->npoint2);
    TRY(lwi_signal_array(d->y, d->npoint * d->npoint2, 4, "values", error));
    const int n = d->npoint, n2 = d->npoint2;
    if (d->ends == LW_ENDS_PERIODIC)
        TRY(check_same(d->y, d->y + (size_t)(n - 1) * (size_t)n2, n2, 1, " along x", error));
    if (d->ends2 == LW_ENDS_PERIODIC)
        TRY(check_same(d->y, d->y + n2 - 1, n, n2, " along x2", error));
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- build

// Second derivatives of the natural spline: elimination of the tridiagonal equations above, which
// are diagonally dominant, so no pivots are needed.  c: scratch [n]
static void natural(const double *t, const double *y, int n, double *m, double *c)
{
    // m_i = m[i] - c[i] m_{i+1} after elimination of m_{i-1}; c[0] = m[0] = 0 by the end condition
    m[0] = m[n - 1] = c[0] = 0;
    for (int i = 1; i < n - 1; i++) {
        const double h0 = t[i] - t[i - 1], h1 = t[i + 1] - t[i];
        const double pivot = 2 * (h0 + h1) - h0 * c[i - 1];
        const double bend = 6 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
        c[i] = h1 / pivot;
        m[i] = (bend - h0 * m[i - 1]) / pivot;
    }
    for (int i = n - 2; i > 0; i--) m[i] -= c[i] * m[i + 1];
}

// The same with m_0 = m_{n-1} and equations at every point: with the unknown m_0 = z the others are a_i + b_i z,
// and the equation at the point 0 determines z.  c, b: scratch [n]
static void periodic(const double *t, const double *y, int n, double *m, double *c, double *b)
{
    const int last = n - 1;
    m[0] = b[0] = c[0] = 0;
    for (int i = 1; i < last; i++) {
        const double h0 = t[i] - t[i - 1], h1 = t[i + 1] - t[i];
        const double pivot = 2 * (h0 + h1) - h0 * c[i - 1];
        const double bend = 6 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
        const double known = (i == 1 ? h0 : 0) + (i == last - 1 ? h1 : 0); // times z
        c[i] = i == last - 1 ? 0 : h1 / pivot;
        m[i] = (bend - h0 * m[i - 1]) / pivot;
        b[i] = (-known - h0 * b[i - 1]) / pivot;
    }
    for (int i = last - 2; i > 0; i--) m[i] -= c[i] * m[i + 1], b[i] -= c[i] * b[i + 1];
    const double h0 = t[last] - t[last - 1], h1 = t[1] - t[0];
    const double bend = 6 * ((y[1] - y[0]) / h1 - (y[last] - y[last - 1]) / h0);
    const double a1 = last > 1 ? m[1] : 0, b1 = last > 1 ? b[1] : 1;
    const double a0 = last > 1 ? m[last - 1] : 0, b0 = last > 1 ? b[last - 1] : 1;
    const double z = (bend - h1 * a1 - h0 * a0) / (2 * (h0 + h1) + h1 * b1 + h0 * b0);
    for (int i = 1; i < last; i++) m[i] += b[i] * z;
    m[0] = m[last] = z;
}

// Slope at a point between chords of the lengths h0, h1 and slopes s0, s1.
static double harmonic(double h0, double h1, double s0, double s1)
{
    if (!(s0 * s1 > 0)) return 0;
    const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
    return (w0 + w1) / (w0 / s0 + w1 / s1);
}

// Slope at an end: that of the parabola through three points, limited.
static double at_end(double h0, double h1, double s0, double s1)
{
    const double d = ((2 * h0 + h1) * s0 - h0 * s1) / (h0 + h1);
    if (d * s0 <= 0) return 0;
    return s0 * s1 <= 0 && fabs(d) > fabs(3 * s0) ? 3 * s0 : d;
}

// Slopes at the points, y_i at y[i stride].
static void monotone(const lwi_axis *axis, const double *y, int stride, double *d)
{
    const double *x = axis->x;
    const int last = axis->n - 1;
#define Y(i) y[(size_t)(i) * (size_t)stride]
#define H(i) (x[(i) + 1] - x[i])
#define S(i) ((Y((i) + 1) - Y(i)) / H(i))
    for (int i = 1; i < last; i++)
        d[(size_t)i * (size_t)stride] = harmonic(H(i - 1), H(i), S(i - 1), S(i));
    double first, end;
    if (axis->ends == LW_ENDS_PERIODIC)
        first = end = harmonic(H(last - 1), H(0), S(last - 1), S(0));
    else if (last == 1)
        first = end = S(0);
    else
        first = at_end(H(0), H(1), S(0), S(1)),
        end = at_end(H(last - 1), H(last - 2), S(last - 1), S(last - 2));
    d[0] = first;
    d[(size_t)last * (size_t)stride] = end;
#undef Y
#undef H
#undef S
}

typedef struct scratch {
    double *y, *m, *c, *b; // [n]
} scratch;

static bool scratch_of(lwi_arena *arena, int n, scratch *s)
{
    s->y = LWI_PUSH(arena, double, n), s->m = LWI_PUSH(arena, double, n);
    s->c = LWI_PUSH(arena, double, n), s->b = LWI_PUSH(arena, double, n);
    return s->y && s->m && s->c && s->b;
}

static void second_derivatives(const lwi_axis *axis, const double *y, scratch *s, double *m)
{
    if (axis->ends == LW_ENDS_PERIODIC)
        periodic(axis->x, y, axis->n, m, s->c, s->b);
    else
        natural(axis->x, y, axis->n, m, s->c);
}

// Slopes of the spline through y_i at y[i stride].
static void spline_slopes(const lwi_axis *axis, const double *y, int stride, scratch *s, double *d)
{
    const int last = axis->n - 1;
    for (int i = 0; i <= last; i++) s->y[i] = y[(size_t)i * (size_t)stride];
    second_derivatives(axis, s->y, s, s->m);
    for (int i = 0; i <= last; i++) {
        const int k = i < last ? i : last - 1;
        const double h = axis->x[k + 1] - axis->x[k], chord = (s->y[k + 1] - s->y[k]) / h;
        d[(size_t)i * (size_t)stride] = i < last ? chord - h * (2 * s->m[k] + s->m[k + 1]) / 6
                                                 : chord + h * (s->m[k] + 2 * s->m[k + 1]) / 6;
    }
}

static void slopes(const lwi_table *t, const lwi_axis *axis, const double *y, int stride,
                   scratch *s, double *d)
{
    if (t->how == LW_INTERPOLATION_SPLINE)
        spline_slopes(axis, y, stride, s, d);
    else
        monotone(axis, y, stride, d);
}

static lw_status build_map(lwi_table *t, lwi_arena *arena)
{
    const int n = t->axis[0].n, n2 = t->axis[1].n;
    double *d[3];
    scratch s;
    if (t->how == LW_INTERPOLATION_LINEAR) return LW_OK;
    if (!scratch_of(arena, n > n2 ? n : n2, &s)) return LW_ERR_MEMORY;
    for (int k = 0; k < 3; k++)
        if (!(t->slope[k] = d[k] = LWI_PUSH(arena, double, n *n2))) return LW_ERR_MEMORY;
    for (int j = 0; j < n2; j++) slopes(t, &t->axis[0], t->y + j, n2, &s, d[0] + j);
    for (int i = 0; i < n; i++)
        slopes(t, &t->axis[1], t->y + (size_t)i * (size_t)n2, 1, &s, d[1] + (size_t)i * (size_t)n2);
    if (t->how ==
        LW_INTERPOLATION_SPLINE) // of monotone surfaces 0: no piece overshoots along the grid
        for (int j = 0; j < n2; j++) slopes(t, &t->axis[0], d[1] + j, n2, &s, d[2] + j);
    return LW_OK;
}

lw_status lwi_table_build(const lw_function_desc *d, lwi_arena *arena, lwi_table *table)
{
    lwi_table t = {.axis = {{d->t, d->npoint, d->ends}, {d->x2, d->npoint2, d->ends2}},
                   .how = d->interpolation,
                   .y = d->y};
    if (d->type == LW_FUNCTION_MAP) {
        TRY(build_map(&t, arena));
    } else if (t.how != LW_INTERPOLATION_LINEAR) {
        double *m = LWI_PUSH(arena, double, d->npoint);
        scratch s;
        if (!m || !scratch_of(arena, d->npoint, &s)) return LW_ERR_MEMORY;
        if (t.how == LW_INTERPOLATION_SPLINE) {
            second_derivatives(&t.axis[0], d->y, &s, m);
            t.slope2 = m;
        } else {
            monotone(&t.axis[0], d->y, 1, m);
            t.slope[0] = m;
        }
    }
    *table = t;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ values

// Number of points at or before x: the first point after x.
static int points_until(const lwi_axis *a, double x)
{
    int low = 0, high = a->n; // x[low-1] <= x < x[high]
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (a->x[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Where a point lies on an axis.
typedef struct spot {
    int i;            // between points i and i + 1
    double x, beyond; // there; beyond the ends by
    bool clamped;     // derivatives are zero
} spot;

static double wrapped(const lwi_axis *a, double x)
{
    const double first = a->x[0], period = a->x[a->n - 1] - first;
    double r = fmod(x - first, period);
    if (r < 0) r += period;
    return r >= period ? first : first + r;
}

static spot find(const lwi_axis *a, double x)
{
    const int last = a->n - 1;
    LWI_ASSERT(last >= 1);
    if (a->ends == LW_ENDS_PERIODIC) x = wrapped(a, x);
    spot s = {.i = points_until(a, x) - 1};
    s.i = s.i < 0 ? 0 : s.i > last - 1 ? last - 1 : s.i;
    s.x = x < a->x[0] ? a->x[0] : x > a->x[last] ? a->x[last] : x;
    s.beyond = x - s.x;
    s.clamped = a->ends == LW_ENDS_CLAMPED && (x < a->x[0] || x >= a->x[last]);
    if (a->ends == LW_ENDS_ERROR && s.beyond != 0) s.x = NAN;
    return s;
}

// Weights of the values and slopes at both ends of a piece: Hermite's polynomials of b = (x - x_i)/h in [0, 1] and their
// first two derivatives by x; linear ones where there are no slopes.
typedef struct weights {
    double y[2][3], d[2][3]; // [end][derivative]
} weights;

static weights inside(double h, double b, bool linear)
{
    const double r = 1 - b;
    if (linear) return (weights){.y = {{r, -1 / h, 0}, {b, 1 / h, 0}}};
    return (weights){.y = {{r * r * (1 + 2 * b), -6 * b * r / h, (12 * b - 6) / (h * h)},
                           {b * b * (1 + 2 * r), 6 * b * r / h, (6 - 12 * b) / (h * h)}},
                     .d = {{h * b * r * r, r * (1 - 3 * b), (6 * b - 4) / h},
                           {-h * b * b * r, b * (3 * b - 2), (6 * b - 2) / h}}};
}

// Beyond an end: the value there, and where it is not clamped a straight line with the slope there.
static void continue_line(const spot *s, double w[3])
{
    if (s->clamped) w[1] = 0;
    if (s->clamped || s->beyond != 0) w[0] += w[1] * s->beyond, w[2] = 0;
}

static weights weights_of(const lwi_axis *a, const spot *s, bool linear)
{
    const double h = a->x[s->i + 1] - a->x[s->i];
    weights w = inside(h, (s->x - a->x[s->i]) / h, linear);
    for (int e = 0; e < 2; e++) continue_line(s, w.y[e]), continue_line(s, w.d[e]);
    return w;
}

// On [x_i, x_{i+1}] with a = (x_{i+1} - x)/h, b = (x - x_i)/h:
//   f = a y_i + b y_{i+1} + h^2/6 ((a^3 - a) m_i + (b^3 - b) m_{i+1})
static void eval_spline(const lwi_table *t, const spot *s, double f[3])
{
    const double *x = t->axis[0].x + s->i, *y = t->y + s->i, *m = t->slope2 + s->i;
    const double h = x[1] - x[0];
    const double a = (x[1] - s->x) / h, b = (s->x - x[0]) / h;
    f[0] = a * y[0] + b * y[1] + h * h / 6 * ((a * a - 1) * a * m[0] + (b * b - 1) * b * m[1]);
    f[1] = (y[1] - y[0]) / h + h / 6 * ((1 - 3 * a * a) * m[0] + (3 * b * b - 1) * m[1]);
    f[2] = a * m[0] + b * m[1];
}

static void eval_pieces(const lwi_table *t, const spot *s, double f[3])
{
    const weights w = weights_of(&t->axis[0], s, !t->slope[0]);
    for (int k = 0; k < 3; k++) {
        f[k] = 0;
        for (int e = 0; e < 2; e++) {
            f[k] += w.y[e][k] * t->y[s->i + e];
            if (t->slope[0]) f[k] += w.d[e][k] * t->slope[0][s->i + e];
        }
    }
}

void lwi_curve_eval(const lwi_table *t, double x, double f[3])
{
    const spot s = find(&t->axis[0], x);
    if (t->slope2) {
        eval_spline(t, &s, f);
        continue_line(&s, f);
    } else {
        eval_pieces(t, &s, f);
    }
}

// Sum over the four corners of a patch with derivatives of order k and l.
static double patch(const lwi_table *t, const spot s[2], const weights w[2], int k, int l)
{
    double sum = 0;
    for (int e = 0; e < 2; e++)
        for (int g = 0; g < 2; g++) {
            const size_t at = (size_t)(s[0].i + e) * (size_t)t->axis[1].n + (size_t)(s[1].i + g);
            sum += w[0].y[e][k] * w[1].y[g][l] * t->y[at];
            if (!t->slope[0]) continue;
            sum += w[0].d[e][k] * w[1].y[g][l] * t->slope[0][at] +
                   w[0].y[e][k] * w[1].d[g][l] * t->slope[1][at] +
                   w[0].d[e][k] * w[1].d[g][l] * t->slope[2][at];
        }
    return sum;
}

void lwi_map_eval(const lwi_table *t, const double x[2], double f[6])
{
    static const int order[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
    spot s[2];
    weights w[2];
    for (int k = 0; k < 2; k++) {
        s[k] = find(&t->axis[k], x[k]);
        w[k] = weights_of(&t->axis[k], &s[k], !t->slope[0]);
    }
    for (int i = 0; i < 6; i++) f[i] = patch(t, s, w, order[i][0], order[i][1]);
}

double lwi_curve_next(const lwi_table *t, double x)
{
    const lwi_axis *a = &t->axis[0];
    const double inside = a->ends == LW_ENDS_PERIODIC ? wrapped(a, x) : x;
    const int i = points_until(a, inside);
    if (i >= a->n) return INFINITY;
    const double next = x + (a->x[i] - inside);
    return inside == x ? a->x[i] : next > x ? next : nextafter(x, INFINITY);
}
