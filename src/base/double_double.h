// double_double.h -- numbers of 106 bits as unevaluated sums of two doubles, high part first.
//
// Products by fused operations, sums by two_sum; errors are about 1e-32 of the terms.  The operations must not
// be reordered: no -ffast-math.
#ifndef LWI_BASE_DOUBLE_DOUBLE_H
#define LWI_BASE_DOUBLE_DOUBLE_H

#include <math.h>

typedef struct lwi_dd {
    double high, low;
} lwi_dd;

/** a + b exactly, for |a| >= |b|. */
static inline lwi_dd lwi_dd_quick(double a, double b)
{
    const double sum = a + b;
    return (lwi_dd){sum, b - (sum - a)};
}

/** a + b exactly. */
static inline lwi_dd lwi_dd_two_sum(double a, double b)
{
    const double sum = a + b, other = sum - a;
    return (lwi_dd){sum, (a - (sum - other)) + (b - other)};
}

static inline lwi_dd lwi_dd_add(lwi_dd a, lwi_dd b)
{
    const lwi_dd s = lwi_dd_two_sum(a.high, b.high);
    return lwi_dd_quick(s.high, s.low + (a.low + b.low));
}

static inline lwi_dd lwi_dd_mul(lwi_dd a, lwi_dd b)
{
    const double p = a.high * b.high;
    return lwi_dd_quick(p, fma(a.high, b.low, fma(a.low, b.high, fma(a.high, b.high, -p))));
}

/** c - a b */
static inline lwi_dd lwi_dd_less(lwi_dd c, lwi_dd a, lwi_dd b)
{
    const double p = a.high * b.high;
    const double low = fma(a.high, b.low, fma(a.low, b.high, fma(a.high, b.high, -p)));
    const lwi_dd s = lwi_dd_two_sum(c.high, -p);
    return lwi_dd_quick(s.high, s.low + (c.low - low));
}

/** c + a b for a double a. */
static inline lwi_dd lwi_dd_add_scaled(lwi_dd c, double a, lwi_dd b)
{
    return lwi_dd_less(c, (lwi_dd){-a, 0}, b);
}

static inline lwi_dd lwi_dd_inverse(lwi_dd a)
{
    const double q = 1 / a.high;
    const lwi_dd rest = lwi_dd_less((lwi_dd){1, 0}, (lwi_dd){q, 0}, a);
    return lwi_dd_quick(q, rest.high / a.high);
}

#endif
