// signal_steps.c -- states c of signals in the steps of formulations that have their own, c' = g(c) at a motion.
//
//   g(c) changes with c by G = dg/dc, from central differences: exact where the equations are linear, as those of
//   integrals, lags, filters and controllers within their limits are.
//
//   trapezoidal rule      c1 = c0 + h/2 (g0 + g(c1))          by  (1 - h/2 G) dc = c0 + h/2 (g0 + g(c1)) - c1
//   implicit midpoint     c1 = c0 + h g((c0 + c1)/2)          by  (1 - h/2 G) dc = c0 + h g - c1
//
// Both are symmetric in time and stable for any lag.
#include "kinematics/signal_steps.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

#define DIFFERENCE 1e-4 // of a state, or of 1: linear equations have no error but round-off
#define CONVERGED 1e-14 // relative increment
enum { ITERATIONS = 20 };

// States of switches, with a hysteresis too, have no rate and stay as they are: values jump with them.  True: all states do.
static bool find_held(const lw_model *model, bool *held)
{
    int count = 0;
    for (int i = 0; i < model->nstate; i++) held[i] = false;
    for (int i = 0; i < model->desc.nfunction; i++) {
        const lwi_function *f = &model->function[i];
        if (lwi_function_is_integrated(f)) continue;
        for (int k = 0; k < f->nstate; k++) held[f->state + k] = true;
        count += f->nstate;
    }
    return count == model->nstate;
}

lw_status lwi_signal_steps_create(const lw_model *model, lwi_arena *arena, lwi_signal_steps *s)
{
    const int n = model->nstate;
    *s = (lwi_signal_steps){.n = 0};
    if (n == 0) return LW_OK;
    if (!(s->held = LWI_PUSH(arena, bool, n))) return LW_ERR_MEMORY;
    if (find_held(model, s->held)) return LW_OK;
    s->n = n;
    double **const vector[] = {&s->c, &s->c0, &s->g, &s->g0, &s->near, &s->rhs, &s->dc};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i] = LWI_PUSH(arena, double, n))) return LW_ERR_MEMORY;
    double *a = LWI_PUSH(arena, double, n *n),
           *rest = LWI_PUSH(arena, double, lwi_cod_doubles(n, n));
    int *pivot = LWI_PUSH(arena, int, n);
    s->G = LWI_PUSH(arena, double, n *n);
    if (!a || !rest || !pivot || !s->G) return LW_ERR_MEMORY;
    lwi_cod_init(&s->matrix, n, n, a, rest, pivot);
    return LW_OK;
}

void lwi_signal_steps_linearise(lwi_signal_steps *s, double h, lwi_signal_rates rates, void *user)
{
    const size_t n = (size_t)s->n;
    for (size_t k = 0; k < n; k++) {
        const double step = DIFFERENCE * fmax(1, fabs(s->c[k]));
        if (s->held[k]) {
            for (size_t i = 0; i < n; i++) s->G[i * n + k] = 0;
            continue;
        }
        memcpy(s->near, s->c, n * sizeof *s->near);
        s->near[k] = s->c[k] + step;
        rates(user, s->near, s->rhs);
        s->near[k] = s->c[k] - step;
        rates(user, s->near, s->dc);
        for (size_t i = 0; i < n; i++) s->G[i * n + k] = (s->rhs[i] - s->dc[i]) / (2 * step);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            s->matrix.a[k * n + i] = (i == k) - 0.5 * h * s->G[i * n + k];
    lwi_cod_factor(&s->matrix, -1, 0);
}

// c += dc of the linear system with the right side s->rhs; the largest relative increment.
static double correct(lwi_signal_steps *s)
{
    double size = 0;
    lwi_cod_solve(&s->matrix, s->rhs, s->dc);
    for (int i = 0; i < s->n; i++) {
        if (s->held[i]) continue;
        s->c[i] += s->dc[i];
        const double change = fabs(s->dc[i]) / fmax(1, fabs(s->c[i]));
        if (change > size || isnan(change)) size = change;
    }
    return size;
}

double lwi_signal_steps_trapezoidal(lwi_signal_steps *s, double h)
{
    for (int i = 0; i < s->n; i++) s->rhs[i] = s->c0[i] + 0.5 * h * (s->g0[i] + s->g[i]) - s->c[i];
    return correct(s);
}

void lwi_signal_steps_midpoint(lwi_signal_steps *s, double h, double *c, lwi_signal_rates rates,
                               void *user)
{
    const size_t bytes = (size_t)s->n * sizeof *c;
    double last = INFINITY;
    if (s->n == 0) return;
    memcpy(s->c0, c, bytes);
    memcpy(s->c, c, bytes);
    lwi_signal_steps_linearise(s, h, rates, user);
    for (int i = 0; i < ITERATIONS; i++) {
        for (int k = 0; k < s->n; k++) s->near[k] = 0.5 * (s->c0[k] + s->c[k]);
        rates(user, s->near, s->g);
        for (int k = 0; k < s->n; k++) s->rhs[k] = s->c0[k] + h * s->g[k] - s->c[k];
        const double size = correct(s);
        if (size <= CONVERGED || !(size < last)) break;
        last = size;
    }
    memcpy(c, s->c, bytes);
}
