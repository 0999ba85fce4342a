// rk4.c -- the classical fourth-order method with a fixed step.          [kutta1901]
//
//     k1 = f(t, x)                   k3 = f(t + h/2, x + h/2 k2)
//     k2 = f(t + h/2, x + h/2 k1)    k4 = f(t + h, x + h k3)
//     x(t + h) = x + h/6 (k1 + 2 k2 + 2 k3 + k4)
//
// The interval to the next stop is cut into equal steps, none longer than the one asked for.
#include "integrate/integrator.h"

#include <math.h>

// Steps may be longer than asked for by the round-off of interval / step, no more.
#define ROUND_OFF 1e-12

typedef struct rk4 {
    lwi_integrator base;
    lw_allocator allocator;
    lwi_problem problem;
    lwi_integrator_stats stats;
    lw_error why;
    double *k, *sum, *y; ///< [n] slope, weighted sum of slopes, stage
} rk4;

static lw_status create(const lwi_integrator_type *type, const lwi_problem *problem, double t,
                        const double *x, const lw_allocator *allocator, lwi_integrator **integrator,
                        lw_error *error)
{
    (void)t, (void)x; // nothing is remembered between steps
    if (!(problem->max_step > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT, "rk4: a fixed step is needed");
    const size_t n = (size_t)problem->n;
    rk4 *self = lwi_allocate(allocator, sizeof *self + 3 * n * sizeof(double));
    if (!self) return lwi_fail(error, LW_ERR_MEMORY, "no memory for rk4 of %d states", problem->n);
    double *block = (double *)(self + 1);
    *self = (rk4){.base = {type}, .problem = *problem, .k = block, .sum = block + n,
                  .y = block + 2 * n};
    if (allocator) self->allocator = *allocator;
    *integrator = &self->base;
    return LW_OK;
}

static void destroy(lwi_integrator *integrator)
{
    if (!integrator) return;
    const lw_allocator allocator = ((rk4 *)integrator)->allocator;
    lwi_release(&allocator, integrator);
}

// One stage: slope at (t, y) into k, its share into sum.
static lw_status stage(rk4 *self, double t, const double *y, double weight)
{
    self->stats.evaluations++;
    TRY(lwi_problem_rates(&self->problem, t, y, self->k, &self->why));
    for (int i = 0; i < self->problem.n; i++) self->sum[i] += weight * self->k[i];
    return LW_OK;
}

static const double *shifted(rk4 *self, const double *x, double h)
{
    for (int i = 0; i < self->problem.n; i++) self->y[i] = x[i] + h * self->k[i];
    return self->y;
}

static lw_status stages(rk4 *self, double t, const double *x, double h)
{
    for (int i = 0; i < self->problem.n; i++) self->sum[i] = 0;
    TRY(stage(self, t, x, 1));
    TRY(stage(self, t + h / 2, shifted(self, x, h / 2), 2));
    TRY(stage(self, t + h / 2, shifted(self, x, h / 2), 2));
    return stage(self, t + h, shifted(self, x, h), 1);
}

static lw_status advance(lwi_integrator *integrator, double *t, double *x, double to, double limit,
                         bool one_step, lw_error *error)
{
    rk4 *self = (rk4 *)integrator;
    const lwi_problem *p = &self->problem;
    (void)limit; // steps end on `to`
    while (*t < to) {
        if (p->max_steps && self->stats.steps >= p->max_steps)
            return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, *t, p->max_step,
                                       "max_steps: %ld steps are done", p->max_steps);
        const double count = fmax(1, ceil((to - *t) / p->max_step * (1 - ROUND_OFF)));
        const double h = (to - *t) / count;
        if (!(*t + h > *t))
            return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, *t, h,
                                       "the step is below the resolution of time");
        const lw_status status = stages(self, *t, x, h);
        if (status != LW_OK)
            return lwi_integrator_fail(error, status, *t, h, "%s; a smaller step may help",
                                       self->why.text);
        for (int i = 0; i < p->n; i++) x[i] += h / 6 * self->sum[i];
        *t = count == 1 ? to : *t + h;
        self->stats.steps++;
        if (one_step) break;
    }
    return LW_OK;
}

static lw_status restart(lwi_integrator *integrator, double t, const double *x, lwi_jump jump,
                         lw_error *error)
{
    (void)t, (void)x, (void)error;
    if (jump == LWI_JUMP_STATE) ((rk4 *)integrator)->stats.restarts++;
    return LW_OK;
}

static void stats(const lwi_integrator *integrator, lwi_integrator_stats *s)
{
    *s = ((const rk4 *)integrator)->stats;
}

extern const lwi_integrator_type lwi_integrator_rk4;
const lwi_integrator_type lwi_integrator_rk4 = {
    .name = "rk4",
    .summary = "classical Runge-Kutta of order 4, fixed step",
    .cite = "kutta1901",
    .order = 4,
    .adaptive = false,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .restart = restart,
    .stats = stats,
};
