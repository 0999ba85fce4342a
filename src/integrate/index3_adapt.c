// index3_adapt.c -- step control for formulations with their own time steps and an error estimate.
//
// The local error e of a rule of order two is of order three in h, and a step of length
//     h (1/e)^(1/3)
// has the allowed error, e = 1.  Steps that Newton fails in are done again in
// a quarter, as those of too much error.  The step after a rejected one is not longer than the one that was accepted
// instead [hairer1993, II.4].
#include "integrate/index3_adapt.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

#define SAFETY 0.9 // margin: the error constant of the next step differs
#define LEAST 0.2  // minimum and maximum factor between consecutive steps
#define MOST 5.0
#define FAILED 0.25    // after a step that failed
#define FIRST 1e-3     // first step, as a fraction of the interval to the first row
#define SHORTEST 1e-12 // of the current time: shorter steps are round-off

static double propose(double h, double error)
{
    const double factor = error > 0 ? SAFETY * cbrt(1 / error) : MOST;
    return h * fmin(MOST, fmax(LEAST, factor));
}

// The length of the next step: the proposed one, shortened so that `to` is reached without a tiny step.
static double length_of(const lwi_adapt *a, const lwi_problem *p, double t, double to, bool *last)
{
    const double left = to - t;
    double h = a->h > 0 ? a->h : FIRST * left;
    if (p->max_step > 0) h = fmin(h, p->max_step);
    *last = h >= left * (1 - 1e-9); // round-off
    if (*last) return left;
    return 2 * h > left ? 0.5 * left : h;
}

static lw_status too_short(const lwi_problem *p, lw_status status, double t, double h,
                           lw_error *error)
{
    const bool explained = status != LW_OK && p->why && p->why->text[0];
    return lwi_integrator_fail(error, status == LW_OK ? LW_ERR_INTEGRATOR : status, t, h, "%s",
                               explained
                                   ? p->why->text
                                   : "the tolerance requires steps too short to resolve in "
                                     "time; a larger rtol or atol helps, or equal steps (`step`)");
}

lw_status lwi_adapt_step(lwi_adapt *a, const lwi_problem *p, double *t, double *x, double to,
                         lwi_integrator_stats *stats, lw_error *error)
{
    LWI_ASSERT(to > *t);
    const size_t bytes = (size_t)p->n * sizeof *x;
    if (p->max_steps > 0 && stats->steps >= p->max_steps)
        return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, *t, a->h,
                                   "max_steps: %ld steps are done", p->max_steps);
    memcpy(a->before, x, bytes);
    const long rejected = stats->rejected;
    for (;;) {
        bool last;
        const double wanted = a->h, h = length_of(a, p, *t, to, &last);
        if (!(h > 0 && *t + h > *t)) return too_short(p, LW_OK, *t, h, error);
        const lw_status status = p->step(p->user, *t, h, x);
        const double e =
            status == LW_OK ? p->error(p->user, h, a->before, x, a->last_h, a->last) : HUGE_VAL;
        stats->evaluations++;
        if (status == LW_OK && e <= 1) {
            const double limit = stats->rejected > rejected ? h : MOST * h;
            const double next = fmin(propose(h, e), limit);
            // the error of a shortened step does not determine longer ones
            a->h = h < wanted && next < wanted ? wanted : next;
            a->last_h = h;
            memcpy(a->last, a->before, bytes);
            stats->steps++;
            *t = last ? to : *t + h;
            return LW_OK;
        }
        memcpy(x, a->before, bytes);
        stats->rejected++;
        a->h = isfinite(e) ? propose(h, e) : FAILED * h;
        if (p->once || !(a->h > SHORTEST * fmax(fabs(*t), fabs(to))) || !(*t + a->h > *t))
            return too_short(p, status, *t, h, error);
    }
}

void lwi_adapt_restart(lwi_adapt *a, lwi_jump jump)
{
    a->last_h = 0;
    if (jump == LWI_JUMP_STATE) a->h = 0;
}
