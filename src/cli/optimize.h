// optimize.h -- what the parts of `linkwork optimize` share: the problem, its evaluations, the best design so far.
#ifndef LWI_CLI_OPTIMIZE_H
#define LWI_CLI_OPTIMIZE_H

#include "cli/cli.h"

/** `--subject-to`: value (number `value` of the response) between two bounds. */
typedef struct constraint {
    const char *text; ///< as given
    char name[520];   ///< of the measure
    char sign;        ///< '<', '>', '='
    double bound;
} constraint;

/** A run of the optimiser, for the table. */
typedef struct evaluation {
    double objective, violation; ///< NAN: the design is infeasible
    long runs;                   ///< so far
    char failure[256];           ///< "": feasible
} evaluation;

/** Designs are t = (x - lower) / (upper - lower), from 0 to 1. */
typedef struct optimization {
    const cli_arguments *arguments;
    lw_model *model;
    lw_options options;
    lw_result *data; ///< of --fit
    double *weight;  ///< [columns of the data]
    lw_response *response;
    lw_gradient gradient; ///< of the response
    int n, m;             ///< parameters; values of the response
    const char **by;      ///< [n]
    double *lower, *upper, *start;
    int nconstraint;
    constraint constraint[CLI_MAX];
    double sign; ///< -1 for --maximize
    // the point evaluated last
    double *t, *x, *value, *jacobian; ///< [n], [n], [m], [m][n]
    bool has_value, has_jacobian, infeasible;
    // the best one so far
    double *best, *best_value; ///< [n] as t; [m]
    double best_objective, best_violation;
    double *work;      ///< [n] the start; of the search
    double *deviation; ///< [n] standard deviation of a fit; NAN: not determined
    int limit;         ///< of evaluations
    int nevaluation, nfailed;
    int replaced;      ///< gradients by differences
    evaluation *table; ///< [limit]
    const char *reason;
    bool converged;
    lw_status status; ///< that ends the search; LW_OK: none
    lw_error error;
} optimization;

/** Evaluates the response at t unless it is that of the last call.
 *  @return false: the search must end (o->status, or the number of evaluations) */
bool optimize_evaluate(optimization *o, const double *t, bool jacobian);
/** Of the last evaluation: the measure, its sign changed by --maximize, or the sum of the squares of the residuals. */
double optimize_objective(const optimization *o);
/** How much constraint k is violated: at most 0 if it is met; of `=` with a sign. */
double optimize_violation(const optimization *o, int k);

/** Minimises a measure by NLopt; refused where the program was built without it.   (minimize.c) */
cli_exit optimize_minimize(optimization *o);
/** Its name: that of --algorithm, or the default. */
const char *optimize_algorithm(const optimization *o);
/** @return CLI_USE: no such algorithm, not for these constraints */
cli_exit optimize_check_algorithm(const optimization *o);
/** Minimises the squares of residuals by the method of Levenberg and Marquardt in the box.   (least_squares.c) */
cli_exit optimize_fit(optimization *o);

#endif
