// integrators.c -- the list of integrators, and their shared functions: check of rates, messages.
#include "integrate/integrator.h"

#include "base/pair.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LWI_ERK(name, ...) extern const lwi_integrator_type lwi_integrator_##name;
#define LWI_MULTISTEP(name, ...) extern const lwi_integrator_type lwi_integrator_##name;
#define LWI_OWN(name) extern const lwi_integrator_type lwi_integrator_##name;
#include "integrate/integrators.def"
#undef LWI_ERK
#undef LWI_MULTISTEP
#undef LWI_OWN

static const lwi_integrator_type *const all[] = {
#define LWI_ERK(name, ...) &lwi_integrator_##name,
#define LWI_MULTISTEP(name, ...) &lwi_integrator_##name,
#define LWI_OWN(name) &lwi_integrator_##name,
#include "integrate/integrators.def"
#undef LWI_ERK
#undef LWI_MULTISTEP
#undef LWI_OWN
};

int lwi_integrator_type_count(void)
{
    return LWI_COUNT(all);
}

const lwi_integrator_type *lwi_integrator_type_at(int index)
{
    return index >= 0 && index < LWI_COUNT(all) ? all[index] : NULL;
}

const lwi_integrator_type *lwi_integrator_find(const char *name)
{
    for (int i = 0; i < LWI_COUNT(all); i++)
        if (!strcmp(all[i]->name, name)) return all[i];
    return NULL;
}

static bool all_finite(int n, const double *x)
{
    lwi_pair nothing[2] = {{0, 0}, {0, 0}}; // x - x is not 0 if x is not finite
    double sum = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 2; k++) {
            const lwi_pair at = lwi_pair_load(x + i + 2 * k);
            nothing[k] += at - at;
        }
    for (; i < n; i++) sum += x[i] - x[i];
    nothing[0] += nothing[1];
    return sum + nothing[0][0] + nothing[0][1] == 0;
}

lw_status lwi_problem_rates(const lwi_problem *problem, double t, const double *x, double *xdot,
                            lw_error *why)
{
    const lw_status status = problem->rates(problem->user, t, x, xdot);
    if (status != LW_OK) {
        const bool explained = problem->why && problem->why->text[0];
        return lwi_fail(why, status, "%s", explained ? problem->why->text : lw_status_text(status));
    }
    if (all_finite(problem->n, xdot)) return LW_OK;
    for (int i = 0; i < problem->n; i++)
        if (!isfinite(xdot[i]))
            return lwi_fail(why, LW_ERR_NOT_FINITE,
                            "the rate of state component %d is not finite (%g)", i, xdot[i]);
    return LW_OK;
}

double lwi_equal_step(double t, double to, double max_step, double *count)
{
    const double left = to - t;
    *count =
        fmax(1, ceil(left / max_step - 1e-6)); // except for the round-off of a million additions
    const double rounding = (*count + 2) * DBL_EPSILON * fmax(fabs(t), fabs(to));
    return fabs(*count * max_step - left) <= rounding ? max_step : left / *count;
}

lw_status lwi_integrator_fail(lw_error *error, lw_status status, double t, double step,
                              const char *format, ...)
{
    char detail[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    char head[80];
    snprintf(head, sizeof head, "integration stops at t = %.10g with step %.3g: ", t, step);
    detail[sizeof detail - sizeof head] = 0; // room for the head
    return lwi_fail(error, status, "%s%s", head, detail);
}

const char *lwi_integrator_cause(const char *text)
{
    const char *head = strstr(text, ": ");
    return head ? head + 2 : text;
}
