// minimize.c -- linkwork optimize --minimize: gradient methods of NLopt, an optional part of the build.
#include "cli/optimize.h"

#include <math.h>
#include <string.h>

const char *optimize_algorithm(const optimization *o)
{
    return o->arguments->algorithm ? o->arguments->algorithm : "slsqp";
}

#ifdef CLI_NLOPT
#include <nlopt.h>

#define FIRST_STEP 0.1 // of the ranges
#define TOLERANCE_T 1e-7
#define TOLERANCE_F 1e-10
#define TOLERANCE_CONSTRAINT 1e-8 // relative to the bound

/** A constraint as NLopt takes it. */
typedef struct term {
    optimization *o;
    nlopt_opt search;
    int k; ///< of the constraint; -1: the objective
    double scale;
} term;

// Slope of a value of the response by t.
static void put_slope(const optimization *o, int value, double factor, double *slope)
{
    for (int k = 0; slope && k < o->n; k++)
        slope[k] = o->infeasible ? 0
                                 : factor * (o->upper[k] - o->lower[k]) *
                                       o->jacobian[(size_t)value * (size_t)o->n + (size_t)k];
}

static double evaluate(unsigned n, const double *t, double *slope, void *user)
{
    term *f = user;
    optimization *o = f->o;
    (void)n;
    if (!optimize_evaluate(o, t, slope != NULL)) nlopt_force_stop(f->search);
    const bool known = o->has_value && !o->infeasible;
    if (f->k < 0) {
        put_slope(o, 0, known ? f->scale * o->sign : 0, slope);
        return known ? f->scale * optimize_objective(o) : HUGE_VAL;
    }
    const double sign = o->constraint[f->k].sign == '>' ? -1 : 1;
    put_slope(o, 1 + f->k, known ? f->scale * sign : 0, slope);
    return known ? f->scale * optimize_violation(o, f->k) : HUGE_VAL;
}

static nlopt_algorithm number_of(const optimization *o)
{
    const char *name = optimize_algorithm(o);
    return !strcmp(name, "mma")     ? NLOPT_LD_MMA
           : !strcmp(name, "lbfgs") ? NLOPT_LD_LBFGS
                                    : NLOPT_LD_SLSQP;
}

static double bound_scale(const constraint *c)
{
    return c->bound != 0 ? 1 / fabs(c->bound) : 1;
}

static nlopt_result add_constraints(nlopt_opt search, optimization *o, term *terms)
{
    nlopt_result result = NLOPT_SUCCESS;
    for (int k = 0; k < o->nconstraint && result > 0; k++) {
        terms[k] = (term){o, search, k, bound_scale(&o->constraint[k])};
        result =
            o->constraint[k].sign == '='
                ? nlopt_add_equality_constraint(search, evaluate, &terms[k], TOLERANCE_CONSTRAINT)
                : nlopt_add_inequality_constraint(search, evaluate, &terms[k],
                                                  TOLERANCE_CONSTRAINT);
    }
    return result;
}

// Quasi-Newton methods begin with a step along the gradient: it should be a part of the ranges.
static double objective_scale(const optimization *o)
{
    double sum = 0;
    for (int k = 0; k < o->n; k++) {
        const double slope = o->jacobian[k] * (o->upper[k] - o->lower[k]);
        sum += slope * slope;
    }
    return sum > 0 ? FIRST_STEP / sqrt(sum) : 1;
}

static const char *reason_of(nlopt_result result)
{
    switch (result) {
    case NLOPT_SUCCESS:
    case NLOPT_FTOL_REACHED:
        return "the objective no longer changes";
    case NLOPT_XTOL_REACHED:
        return "the parameters no longer change";
    case NLOPT_ROUNDOFF_LIMITED:
        return "steps are at the limit of round-off";
    case NLOPT_OUT_OF_MEMORY:
        return "no memory";
    default:
        return "the search cannot continue from here";
    }
}

cli_exit optimize_minimize(optimization *o)
{
    double minimum;
    term objective = {.o = o, .k = -1}, constraints[CLI_MAX];
    nlopt_opt search = nlopt_create(number_of(o), (unsigned)o->n);
    objective.search = search;
    nlopt_result result = search ? NLOPT_SUCCESS : NLOPT_OUT_OF_MEMORY;
    if (!optimize_evaluate(o, o->work, true) || o->infeasible) {
        nlopt_destroy(search);
        return CLI_DONE;
    }
    objective.scale = objective_scale(o);
    if (result > 0) result = nlopt_set_lower_bounds1(search, 0);
    if (result > 0) result = nlopt_set_upper_bounds1(search, 1);
    if (result > 0) result = nlopt_set_min_objective(search, evaluate, &objective);
    if (result > 0) result = add_constraints(search, o, constraints);
    if (result > 0) result = nlopt_set_xtol_abs1(search, TOLERANCE_T);
    if (result > 0) result = nlopt_set_ftol_rel(search, TOLERANCE_F);
    if (result > 0) result = nlopt_optimize(search, o->work, &minimum);
    if (!o->reason) o->reason = reason_of(result);
    o->converged = result > 0 || result == NLOPT_ROUNDOFF_LIMITED;
    nlopt_destroy(search);
    return CLI_DONE;
}

static bool is_built(void)
{
    return true;
}
#else
cli_exit optimize_minimize(optimization *o)
{
    (void)o;
    return CLI_USE;
}

static bool is_built(void)
{
    return false;
}
#endif

cli_exit optimize_check_algorithm(const optimization *o)
{
    const char *name = optimize_algorithm(o);
    if (!is_built())
        return cli_complain(CLI_USE,
                            "optimize --minimize: this program was built without NLopt; expected "
                            "libnlopt-dev at build time, or `lw.optimize` in Python, or --fit");
    if (strcmp(name, "slsqp") != 0 && strcmp(name, "mma") != 0 && strcmp(name, "lbfgs") != 0)
        return cli_complain(CLI_USE, "--algorithm %s: expected slsqp, mma or lbfgs", name);
    for (int k = 0; k < o->nconstraint; k++) {
        if (!strcmp(name, "lbfgs"))
            return cli_complain(CLI_USE,
                                "--algorithm lbfgs has no constraints: expected slsqp or mma with "
                                "--subject-to");
        if (!strcmp(name, "mma") && o->constraint[k].sign == '=')
            return cli_complain(CLI_USE,
                                "--subject-to '%s': mma has inequalities only, expected "
                                "--algorithm slsqp",
                                o->constraint[k].text);
    }
    return CLI_DONE;
}
