// index3.c -- the integrator of formulations with their own time step: equal steps between the requested
// times, or steps from an error estimate (index3_adapt.c).
//
// Input: a problem with `step`.  Output: x at the requested times.  A step that fails is divided into halves,
// recursively up to a limit.  In real time (`once`) it is not divided: the failure is returned at once.
#include "integrate/index3_adapt.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

typedef struct stepper {
    lwi_integrator head;
    lwi_problem problem;
    lw_allocator allocator;
    double t, to, h; ///< h: the equal steps on the way to `to`
    double *kept;    ///< [n] x before the current step
    lwi_adapt adapt;
    lwi_integrator_stats stats;
} stepper;

// Maximum number of halvings: 2^-10 of a step that is too long for the motion is short enough for every
// motion that the rule can follow.
enum { HALVINGS = 10 };

static void destroy(lwi_integrator *head)
{
    stepper *self = (stepper *)head;
    const lw_allocator allocator = self->allocator;
    lwi_release(&allocator, self->kept);
    lwi_release(&allocator, self);
}

static lw_status create(const lwi_integrator_type *type, const lwi_problem *problem, double t,
                        const double *x, const lw_allocator *allocator, lwi_integrator **out,
                        lw_error *error)
{
    (void)x;
    const size_t n = (size_t)problem->n;
    stepper *self = lwi_allocate(allocator, sizeof *self);
    if (!self) return lwi_fail(error, LW_ERR_MEMORY, "no memory for an integrator");
    *self = (stepper){.head = {.type = type}, .problem = *problem, .t = t, .to = -INFINITY};
    if (allocator) self->allocator = *allocator;
    self->kept = lwi_allocate(allocator, (2 * n + 1) * sizeof *self->kept);
    if (!self->kept) {
        destroy(&self->head);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for an integrator");
    }
    self->adapt.before = self->kept;
    self->adapt.last = self->kept + n;
    *out = &self->head;
    return LW_OK;
}

// One step of length h from self->t; divided into halves recursively if it fails.
static lw_status step(stepper *self, double h, double *x, int halvings, lw_error *error)
{
    const lwi_problem *p = &self->problem;
    const lw_status status = p->step(p->user, self->t, h, x);
    self->stats.evaluations++;
    if (status == LW_OK) {
        self->t += h;
        return LW_OK;
    }
    self->stats.rejected++;
    if (halvings == 0)
        return lwi_integrator_fail(error, status, self->t, h, "%s",
                                   p->why && p->why->text[0] ? p->why->text
                                                             : lw_status_text(status));
    TRY(step(self, h / 2, x, halvings - 1, error));
    return step(self, h / 2, x, halvings - 1, error);
}

// Where the last step begins: at t, or by a rounding of times before it, so that it does not end after `to`, where functions
// of time may jump.
static double begin_of_last(double t, double h, double to)
{
    double begin = fmin(t, to - h);
    while (begin + h > to) begin = nextafter(begin, -INFINITY);
    return begin;
}

static lw_status whole_step(stepper *self, double *t, double *x, double to, lw_error *error)
{
    LWI_ASSERT(to > *t);
    const lwi_problem *p = &self->problem;
    const size_t bytes = (size_t)p->n * sizeof *x;
    if (p->max_steps > 0 && self->stats.steps >= p->max_steps)
        return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, *t, self->h,
                                   "max_steps: %ld steps are done", p->max_steps);
    bool changed = false;
    const bool split = !p->once || p->pre_step; // else a step that fails leaves x unchanged
    if (split) memcpy(self->kept, x, bytes);
    double count;
    self->h = lwi_equal_step(*t, to, p->max_step, &count);
    if (!(*t + self->h > *t))
        return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, *t, self->h,
                                   "the step is below the resolution of time");
    lw_status status = p->pre_step ? p->pre_step(p->user, *t, x, &changed) : LW_OK;
    if (count == 1) self->t = begin_of_last(*t, self->h, to);
    if (status == LW_OK) status = step(self, self->h, x, p->once ? 0 : HALVINGS, error);
    if (status != LW_OK) {
        if (split) memcpy(x, self->kept, bytes);
        self->t = *t;
        return status;
    }
    self->stats.steps++;
    self->t = count == 1 ? to : *t + self->h; // `to` exactly
    *t = self->t;
    return LW_OK;
}

// A step by the error control.
static lw_status adapted_step(stepper *self, double *t, double *x, double to, lw_error *error)
{
    const lwi_problem *p = &self->problem;
    bool changed = false;
    if (p->pre_step) TRY(p->pre_step(p->user, *t, x, &changed));
    return lwi_adapt_step(&self->adapt, p, t, x, to, &self->stats, error);
}

static lw_status advance(lwi_integrator *head, double *t, double *x, double to, double limit,
                         bool one_step, lw_error *error)
{
    LWI_ASSERT(to >= *t && limit >= to);
    (void)limit;
    stepper *self = (stepper *)head;
    const bool free = self->problem.error != NULL;
    while (*t < to) {
        TRY(free ? adapted_step(self, t, x, to, error) : whole_step(self, t, x, to, error));
        if (one_step) break;
    }
    return LW_OK;
}

static lw_status restart(lwi_integrator *head, double t, const double *x, lwi_jump jump,
                         lw_error *error)
{
    (void)x, (void)error;
    stepper *self = (stepper *)head;
    lwi_adapt_restart(&self->adapt, jump);
    self->t = t;
    return LW_OK;
}

static void stats(const lwi_integrator *head, lwi_integrator_stats *out)
{
    *out = ((const stepper *)head)->stats;
}

const lwi_integrator_type lwi_integrator_index3 = {
    .name = "index3",
    .summary = "the trapezoidal rule of the formulation index3, order 2, equal steps or by error",
    .cite = "malczyk2019",
    .order = 2,
    .steps = true,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .restart = restart,
    .stats = stats,
};

const lwi_integrator_type lwi_integrator_rattle = {
    .name = "rattle",
    .summary = "the symplectic step of the formulation rattle, order 2, 4, 6 or 8, equal steps",
    .cite = "reich1996",
    .order = 2,
    .steps = true,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .restart = restart,
    .stats = stats,
};
