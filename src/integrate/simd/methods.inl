// methods.inl -- one attempt at a step in `width` lanes: dopri54 and rk4.
//
// Input: a stepper with busy lanes.  Output: new t, x and step control, or a failure, in each of them.  An attempt is
// interrupted where it needs rates; `phase` is where it continues.
// Control is a loop over lanes; whole states are processed by rows (rows.inl).  The functions are inlined
// with a constant width.  No sum is over lanes; sums over components have the same order in every lane.
#include "integrate/batch_stepper.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------ coefficients

// Dormand and Prince's 5(4) pair; the last stage is at the solution and is the first of the
// next one. [dormand1980]
enum { STAGES = LWI_STEPPER_STAGES };
static const double node[STAGES] = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
static const double A[STAGES][STAGES - 1] = {
    {0},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
};
// Solution of order 5 less that of order 4.
static const double E[STAGES] = {71. / 57600,      0,         -71. / 16695, 71. / 1920,
                                 -17253. / 339200, 22. / 525, -1. / 40};

// -------------------------------------------------------------------------------------- whole rows

#define WIDTH 1
#include "integrate/simd/rows.inl"
#undef WIDTH
#define WIDTH 8
#include "integrate/simd/rows.inl"
#undef WIDTH

/** Calls a row function for the width; width 4 also processes the lanes beyond four. */
#define ROWS(f, ...) (width == 1 ? f##_w1(__VA_ARGS__) : f##_w8(__VA_ARGS__))

#define INLINE static inline __attribute__((always_inline))
#define FOR_LANES(l) for (int l = 0; l < width; l++)
#define HAS(lanes, l) ((lanes) >> (l)&1u)

/** A number for every lane. */
typedef double lanes_row[LWI_STEPPER_LANES] __attribute__((aligned(64)));

INLINE double min_of(double a, double b)
{
    return a < b ? a : b;
}
INLINE double max_of(double a, double b)
{
    return a > b ? a : b;
}

// A set of lanes as numbers to select by: all bits or none.
INLINE void spread(int width, unsigned lanes, double *on)
{
    for (int l = 0; l < (width == 1 ? 1 : LWI_STEPPER_LANES); l++) {
        const int64_t bits = -(int64_t)HAS(lanes, l);
        memcpy(&on[l], &bits, sizeof bits);
    }
}

// -------------------------------------------------------------------------------- powers of errors

// x^p of 1e-300 < x < 1e300 to nine digits, enough for the size of a step, and the same everywhere:
// 2^(p log2 x), log2 by z = (m - 1)/(m + 1) of the mantissa m, 2^f by its series for |f| <= 1/2.
INLINE void powers(int width, const double *x, double p, double *y)
{
    FOR_LANES(l)
    {
        int64_t bits, exponent;
        double m;
        memcpy(&bits, &x[l], sizeof bits);
        // m = x / 2^exponent lies in [sqrt 1/2, sqrt 2)
        exponent = (bits - 0x3fe6a09e667f3bcd) >> 52;
        bits -= exponent * ((int64_t)1 << 52);
        memcpy(&m, &bits, sizeof m);
        const double z = (m - 1) / (m + 1), w = z * z;
        const double coefficient[5] = {2.8853900817779268, 0.96179669392597560, 0.57707801635558534,
                                       0.41219858311113239,
                                       0.32059889797532518}; // 2/ln 2 / (2 i + 1)
        double log2m = 0;
        for (int i = 4; i >= 0; i--) log2m = coefficient[i] + w * log2m;
        log2m *= z;
        const double e = p * ((double)exponent + log2m);
        const double whole = (e + 6755399441055744.0) - 6755399441055744.0; // the nearest integer
        const double f = (e - whole) * 0.69314718055994531;
        double s = 1;
        for (int i = 8; i > 0; i--) s = 1 + f / i * s;
        const int64_t power = ((int64_t)whole + 1023) << 52;
        double scale;
        memcpy(&scale, &power, sizeof scale);
        y[l] = s * scale;
    }
}

// ---------------------------------------------------------------------------------- shared by both

// Lanes at the maximum number of steps fail.
INLINE unsigned within_limit(int width, lwi_stepper *m, unsigned lanes)
{
    if (!m->max_steps) return lanes;
    FOR_LANES(l)
    if (HAS(lanes, l) && m->control[l].steps >= m->max_steps) {
        lwi_stepper_fail(m, l, LW_ERR_INTEGRATOR, m->h[l], "max_steps: %ld steps are done",
                         m->max_steps);
        lanes &= ~(1u << l);
    }
    return lanes;
}

// Requests the rates xdot at (t, x) of these lanes and counts them; `phase` continues when they are there.
INLINE bool request(int width, lwi_stepper *m, lwi_stepper_phase phase, unsigned lanes,
                    const double *t, const double *x, double *xdot)
{
    lwi_stepper_request *wanted = &m->request;
    wanted->lanes = lanes;
    wanted->x = x;
    wanted->xdot = xdot;
    m->phase = phase;
    FOR_LANES(l)
    {
        wanted->t[l] = t[l];
        m->control[l].evaluations += HAS(lanes, l);
        if (HAS(lanes, l))
            m->status[l] = LW_OK; // the status of other lanes may be from earlier stages
    }
    return true;
}

// The lanes with valid rates; the others have a status and a message.
INLINE unsigned answered(int width, lwi_stepper *m)
{
    lanes_row zero;
    unsigned lanes = m->request.lanes;
    ROWS(row_finite, m->rows, m->request.xdot, zero);
    FOR_LANES(l)
    {
        if (!HAS(lanes, l) || (m->status[l] == LW_OK && zero[l] == 0)) continue;
        lwi_stepper_unwell(m, l, m->request.xdot);
        lanes &= ~(1u << l);
    }
    return lanes;
}

// Accepts a step; the last one ends exactly at the stop.
INLINE void arrive(lwi_stepper *m, int l, double h, bool last)
{
    m->t[l] = last ? m->stop[l] : m->t[l] + h;
    m->control[l].steps++;
    if (!(m->t[l] < m->stop[l])) {
        m->control[l].arrived = true;
        m->busy &= ~(1u << l);
    }
}

// ----------------------------------------------------------------------------------------- dopri54

// Step control with a memory of one error (PI), its constants but SAFETY those of Hairer, Norsett and Wanner's
// DOPRI5:  h_new = h min(10, max(0.2, 0.8 err^-0.17 err_before^0.04)).          [hairer1993, IV.2]
// With their 0.9 every third step of a Delta robot that accelerates is rejected, and all of its evaluations are lost.
#define SAFETY 0.8
#define MEMORY 0.04
#define GAIN (0.2 - 0.75 * MEMORY)
#define SHRINK_MOST 0.2
#define GROW_MOST 10
#define MIN_ERROR 1e-10 // beyond these the limits of the factor rule
#define MAX_ERROR 1e10
// A stage without finite rates shows only that the step is too long.
#define SHRINK_BLINDLY 0.25
// A step may end on the stop when it is longer than requested by so much, except for round-off.
#define STRETCH 1e-12

// First step: an explicit Euler step of this length changes x by a hundredth; then the length for which the
// term of order five, estimated from the second derivative, is a part of the tolerance, with [hairer1993, II.4] a hundredth:
// with a tenth short runs have one step less.
#define FIRST_TERM 0.1
INLINE bool request_first(int width, lwi_stepper *m, unsigned lanes)
{
    static const double euler[6] = {1};
    lanes_row x2, f2, t, on;
    double *h = m->tried_step;
    ROWS(row_weigh, m, m->x, x2);
    ROWS(row_weigh, m, m->k[0], f2);
    FOR_LANES(l)
    {
        double limit = m->stop[l] - m->t[l];
        if (m->max_step > 0) limit = min_of(limit, m->max_step);
        h[l] = x2[l] > 1e-10 && f2[l] > 1e-10 ? 0.01 * sqrt(x2[l] / f2[l]) : 1e-6;
        h[l] = min_of(h[l], limit);
        t[l] = m->t[l] + h[l];
    }
    spread(width, lanes, on);
    ROWS(row_stage, m, on, h, euler, 1);
    return request(width, m, LWI_STEPPER_FIRST, lanes, t, m->y, m->k[1]);
}

INLINE void find_step(int width, lwi_stepper *m)
{
    lanes_row f2, d2, size, h1;
    const double *h = m->tried_step;
    const unsigned lanes = m->request.lanes, well = answered(width, m);
    ROWS(row_weigh, m, m->k[0], f2);
    ROWS(row_sum, m->rows, m->y, m->k[1], -1, m->k[0]);
    ROWS(row_weigh, m, m->y, d2);
    FOR_LANES(l)
    {
        const double slope = sqrt(f2[l]), bend = sqrt(d2[l]) / h[l];
        size[l] = min_of(max_of(max_of(slope, bend), 1e-280), 1e280);
        size[l] = FIRST_TERM / size[l];
    }
    powers(width, size, 0.2, h1);
    FOR_LANES(l)
    {
        if (!HAS(lanes, l)) continue;
        double limit = m->stop[l] - m->t[l];
        if (m->max_step > 0) limit = min_of(limit, m->max_step);
        if (!HAS(well, l)) h1[l] = 0.01 * h[l]; // a failure is detected in the step itself
        m->h[l] = min_of(min_of(100 * h[l], h1[l]), limit);
    }
}

#define TOO_SMALL                                                                                  \
    "no step is small enough for the tolerances: the motion jumps or is singular there, or rtol "  \
    "%.3g and atol ask for too much; loosen them, or take bdf if the model is stiff"

// Length of the next step: the proposed one, or to the stop, or half of the remaining interval if that is
// less than two steps, so that no tiny step remains.
INLINE unsigned choose_step(int width, lwi_stepper *m, unsigned lanes, double *h, unsigned *last)
{
    *last = 0;
    FOR_LANES(l)
    {
        h[l] = 0;
        if (!HAS(lanes, l)) continue;
        const double left = m->stop[l] - m->t[l];
        double ask = m->h[l];
        if (m->max_step > 0) ask = min_of(ask, m->max_step);
        if (left <= ask * (1 + STRETCH)) {
            h[l] = left;
            *last |= 1u << l;
        } else {
            h[l] = left < 2 * ask ? left / 2 : ask;
        }
        if (m->t[l] + h[l] > m->t[l]) continue;
        lanes &= ~(1u << l);
        lwi_stepper_fail(m, l, LW_ERR_INTEGRATOR, h[l], TOO_SMALL, m->rtol);
    }
    return lanes;
}

// Rejects a step: the next one is shorter, or the lane fails.
INLINE void refuse(lwi_stepper *m, int l, bool blind, double h, double factor)
{
    if (blind && m->status[l] != LW_ERR_NOT_FINITE) {
        lwi_stepper_fail(m, l, m->status[l], h, "%s", m->error[l].text);
        return;
    }
    m->h[l] = h * factor;
    m->control[l].rejections++;
    m->control[l].rejected = true;
    m->control[l].unfinite |= blind;
    // if no shorter step is possible, rates that are not finite are reported rather than tolerances
    if (blind && !(m->t[l] + m->h[l] > m->t[l]))
        lwi_stepper_fail(m, l, LW_ERR_NOT_FINITE, h, "%s", m->error[l].text);
}

// Fails a lane that does not advance: too many short steps in succession.
INLINE void check_short_steps(lwi_stepper *m, int l, double h, bool last)
{
    lwi_step_control *control = &m->control[l];
    const bool is_short = !last && h < LWI_SHORT_STEP * fabs(m->t[l]);
    control->short_steps = is_short ? control->short_steps + 1 : 0;
    control->unfinite = control->unfinite && is_short;
    if (control->short_steps < LWI_SHORT_STEPS) return;
    if (control->unfinite)
        lwi_stepper_fail(m, l, LW_ERR_NOT_FINITE, h, "%s", m->error[l].text);
    else
        lwi_stepper_fail(m, l, LW_ERR_INTEGRATOR, h, TOO_SMALL, m->rtol);
}

INLINE bool dopri54_finish(int width, lwi_stepper *m, unsigned whole)
{
    lanes_row error, bounded, now, before, on;
    const double *h = m->tried_step;
    const unsigned tried = m->tried;
    // the state of the last stage is the solution
    ROWS(row_error, m, h, error);
    FOR_LANES(l) error[l] = m->n ? sqrt(error[l] / m->n) : 0;

    // err^0.17 and err_before^0.04
    FOR_LANES(l)
    bounded[l] = min_of(max_of(error[l], MIN_ERROR), MAX_ERROR); // NaN: the minimum
    powers(width, bounded, GAIN, now);
    powers(width, m->last_error, MEMORY, before);

    unsigned accepted = 0;
    FOR_LANES(l)
    {
        if (!HAS(tried, l)) continue;
        lwi_step_control *control = &m->control[l];
        if (!HAS(whole, l)) {
            refuse(m, l, true, h[l], SHRINK_BLINDLY);
        } else if (!(error[l] <= 1)) { // overflow: the limit
            refuse(m, l, false, h[l],
                   isfinite(error[l]) ? max_of(SHRINK_MOST, SAFETY / now[l]) : SHRINK_MOST);
        } else {
            double factor = SAFETY * before[l] / now[l];
            factor = min_of(GROW_MOST, max_of(SHRINK_MOST, factor));
            if (control->rejected) factor = min_of(factor, 1);
            // the error of a step shortened by the stop is not used: the previous proposal remains
            const bool cut_short = h[l] < m->h[l] && factor == GROW_MOST;
            m->h[l] = cut_short ? max_of(m->h[l], factor * h[l]) : factor * h[l];
            m->last_error[l] = max_of(error[l], LWI_STEPPER_MIN_REMEMBERED);
            control->rejected = false;
            accepted |= 1u << l;
            arrive(m, l, h[l], HAS(m->last, l));
            check_short_steps(m, l, h[l], HAS(m->last, l));
        }
    }
    spread(width, accepted, on);
    if (width == 1) memcpy(m->k[1], m->k[0], (size_t)m->n * sizeof *m->x); // for interpolation
    ROWS(row_take, m->rows, on, m->x, m->y);
    ROWS(row_take, m->rows, on, m->k[0], m->k[6]);
    return false;
}

INLINE bool dopri54_stage(int width, lwi_stepper *m, unsigned lanes, int s)
{
    lanes_row t, on;
    m->stage = s;
    spread(width, lanes, on);
    ROWS(row_stage, m, on, m->tried_step, A[s], s);
    FOR_LANES(l) t[l] = m->t[l] + node[s] * m->tried_step[l];
    return request(width, m, LWI_STEPPER_STAGE, lanes, t, m->y, m->k[s]);
}

// Stages 2 to 7; lanes that fail are removed.
INLINE bool dopri54_next_stage(int width, lwi_stepper *m)
{
    const unsigned lanes = answered(width, m);
    if (lanes && m->stage + 1 < STAGES) return dopri54_stage(width, m, lanes, m->stage + 1);
    return dopri54_finish(width, m, lanes);
}

INLINE bool dopri54_try(int width, lwi_stepper *m)
{
    m->tried = choose_step(width, m, m->tried, m->tried_step, &m->last);
    return m->tried ? dopri54_stage(width, m, m->tried, 1) : false;
}

// Lanes that have no first step find one.
INLINE bool dopri54_ready(int width, lwi_stepper *m)
{
    unsigned unknown = 0;
    FOR_LANES(l) if (HAS(m->tried, l) && !(m->h[l] > 0)) unknown |= 1u << l;
    return unknown ? request_first(width, m, unknown) : dopri54_try(width, m);
}

// Lanes that have no slope evaluate one; k[0] of the others is unchanged.
INLINE bool dopri54_begin(int width, lwi_stepper *m)
{
    unsigned flat = 0;
    m->tried = within_limit(width, m, m->busy);
    FOR_LANES(l) if (HAS(m->tried, l) && !m->control[l].slope) flat |= 1u << l;
    return flat ? request(width, m, LWI_STEPPER_SLOPES, flat, m->t, m->x, m->y)
                : dopri54_ready(width, m);
}

INLINE bool dopri54_take_slopes(int width, lwi_stepper *m)
{
    const unsigned flat = m->request.lanes, well = answered(width, m);
    lanes_row on;
    spread(width, well, on);
    ROWS(row_take, m->rows, on, m->k[0], m->y);
    FOR_LANES(l)
    {
        if (HAS(well, l)) m->control[l].slope = true;
        if (!HAS(flat & ~well, l)) continue;
        lwi_stepper_fail(m, l, m->status[l], 0, "%s", m->error[l].text);
        m->tried &= ~(1u << l);
    }
    return dopri54_ready(width, m);
}

INLINE bool dopri54(int width, lwi_stepper *m)
{
    switch (m->phase) {
    case LWI_STEPPER_BEGIN:
        return dopri54_begin(width, m);
    case LWI_STEPPER_SLOPES:
        return dopri54_take_slopes(width, m);
    case LWI_STEPPER_FIRST:
        find_step(width, m);
        return dopri54_try(width, m);
    case LWI_STEPPER_STAGE:
        return dopri54_next_stage(width, m);
    }
    return false;
}

// --------------------------------------------------------------------------------------------- rk4

//     k1 = f(t, x)                   k3 = f(t + h/2, x + h/2 k2)                       [kutta1901]
//     k2 = f(t + h/2, x + h/2 k1)    k4 = f(t + h, x + h k3)
//     x(t + h) = x + h/6 (k1 + 2 k2 + 2 k3 + k4)
//
// The interval to the next stop is cut into equal steps, none longer than the requested step.

// Steps may exceed the requested length only by the round-off of interval / step.
#define ROUND_OFF 1e-12

INLINE unsigned equal_steps(int width, lwi_stepper *m, unsigned lanes, double *h, unsigned *last)
{
    *last = 0;
    FOR_LANES(l)
    {
        h[l] = 0;
        if (!HAS(lanes, l)) continue;
        const double left = m->stop[l] - m->t[l];
        const double count = max_of(1, ceil(left / m->max_step * (1 - ROUND_OFF)));
        h[l] = left / count;
        if (count == 1) *last |= 1u << l;
        if (m->t[l] + h[l] > m->t[l]) continue;
        lanes &= ~(1u << l);
        lwi_stepper_fail(m, l, LW_ERR_INTEGRATOR, h[l], "the step is below the resolution of time");
    }
    return lanes;
}

// Stage s: its slope into k[0].
INLINE bool rk4_stage(int width, lwi_stepper *m, unsigned lanes, int s)
{
    static const double part[4] = {0, 0.5, 0.5, 1}, one[6] = {1};
    lanes_row t, by = {0}, on;
    m->stage = s;
    spread(width, s > 0 ? lanes : 0, on); // x itself at first
    FOR_LANES(l) by[l] = part[s] * m->tried_step[l], t[l] = m->t[l] + by[l];
    ROWS(row_stage, m, on, by, one, 1);
    return request(width, m, LWI_STEPPER_STAGE, lanes, t, m->y, m->k[0]);
}

INLINE bool rk4_finish(int width, lwi_stepper *m, unsigned lanes)
{
    lanes_row sixth = {0}, on;
    spread(width, lanes, on);
    FOR_LANES(l) sixth[l] = m->tried_step[l] / 6;
    ROWS(row_add, m->rows, on, sixth, m->x, m->k[1]);
    FOR_LANES(l)
    {
        if (HAS(lanes, l))
            arrive(m, l, m->tried_step[l], HAS(m->last, l));
        else if (HAS(m->tried, l))
            lwi_stepper_fail(m, l, m->status[l], m->tried_step[l], "%s; a smaller step may help",
                             m->error[l].text);
    }
    return false;
}

// The share of a slope into k[1], the sum.
INLINE bool rk4_next_stage(int width, lwi_stepper *m)
{
    static const double weight[4] = {1, 2, 2, 1};
    const unsigned lanes = answered(width, m);
    const int s = m->stage;
    if (s == 0)
        memcpy(m->k[1], m->k[0], (size_t)(m->n * m->stride) * sizeof *m->x);
    else
        ROWS(row_sum, m->rows, m->k[1], m->k[1], weight[s], m->k[0]);
    return lanes && s < 3 ? rk4_stage(width, m, lanes, s + 1) : rk4_finish(width, m, lanes);
}

INLINE bool rk4(int width, lwi_stepper *m)
{
    if (m->phase == LWI_STEPPER_STAGE) return rk4_next_stage(width, m);
    m->tried = equal_steps(width, m, within_limit(width, m, m->busy), m->tried_step, &m->last);
    return m->tried ? rk4_stage(width, m, m->tried, 0) : rk4_finish(width, m, 0);
}
