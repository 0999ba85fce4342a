// slopes.h -- how the equations of a mechanism at a fixed state change with parameters of its file.
//
// Problem: with the coordinates q, v, vdot and the multipliers lambda of the tree fixed, derivatives by a parameter p of
//     F = M vdot + h - J'lambda,   C = J vdot + gamma,   the start (q, v), and columns of results.
// Numbers of the model that p changes (dynamics/number_gradient.h) have exact derivatives, one gradient for all
// parameters; other forces of which p changes parameters are evaluated alone, with p +- h and p +- 2h.  Where p changes
// more than these, whole models are evaluated: differences of order four in p alone, of a function without integration.
#ifndef LWI_ANALYSIS_SLOPES_H
#define LWI_ANALYSIS_SLOPES_H

#include "analysis/probe.h"
#include "dynamics/number_gradient.h"
#include "kinematics/tree_state.h"

#include <linkwork/simulate.h>

enum { LWI_SLOPE_SIDES = 4 };
#define LWI_SLOPE_STEPS                                                                            \
    {                                                                                              \
        -2, -1, 1, 2                                                                               \
    } // of each side

typedef struct lwi_slope_side {
    lw_model *model;
    lwi_probe_run run;
    lwi_tree_work tree;
    lwi_cut cut;
    lwi_law_tangent *tangent; ///< [nmode] scratch
} lwi_slope_side;

typedef struct lwi_slope {
    const char *name;
    double
        step;   ///< of the parameter, in its unit; of several together 1: relative to those of each
    bool local; ///< changes numbers of lwi_model_numbers and some forces alone
    bool places;    ///< of these numbers, places of joints or of mass centres
    bool by_fields; ///< by the chain rule (slope_fields.h)
    lwi_slope_side side[LWI_SLOPE_SIDES];
    int *number, count; ///< numbers that change
    double *change;     ///< [count] their derivatives
    int *force, nforce; ///< other forces with other parameters
    int *speed;         ///< [nforce] speed of the tree that each acts on; -1: bodies
    double *
        start; ///< [2 tree nv + nstate] of the start along the speeds, of the speeds, of the states of signals
} lwi_slope;

/** A parameter of the file with its step. */
typedef struct lwi_slope_parameter {
    const char *name;
    double value, step;
} lwi_slope_parameter;
/** A parameter of the model's file, or with `numbers` also a number of its description, "body.NAME.mass" (lw_vary_at).
 *  @param relative  step by the value of the parameter
 *  @return LW_ERR_ARGUMENT: no such parameter, or one of the file with the value 0 */
lw_status lwi_slope_find(const lw_model *model, const char *name, bool numbers, double relative,
                         lwi_slope_parameter *parameter, lw_error *error);
/** The slope by parameters that are varied together, each by its step.
 *  @param document  of the model's file (lwi_model_parse); NULL: it is parsed for each model
 *  @param step  that counts as one: that of a single parameter, 1 for several
 *  @return LW_ERR_UNSUPPORTED: another tree */
lw_status lwi_slope_create(const lw_model *model, const lwi_parsed_document *document,
                           const lwi_model_numbers *numbers, const lwi_slope_parameter *parameter,
                           int count, double step, lwi_arena *arena, lwi_slope *slope,
                           lw_error *error);
/** Models that differ by steps to both sides. */
typedef struct lwi_slope_variants {
    const char *name; ///< of what is varied, for errors
    lw_status (*make)(void *user, const lw_model *model, int steps, const lw_allocator *allocator,
                      lw_model **varied, lw_error *error);
    void *user;
} lwi_slope_variants;
/** The slope by what the variants differ in, as lwi_slope_create. */
lw_status lwi_slope_create_of(const lw_model *model, const lwi_model_numbers *numbers,
                              const lwi_slope_variants *variants, double step, lwi_arena *arena,
                              lwi_slope *slope, lw_error *error);
void lwi_slope_destroy(lwi_slope *slope);
/** The derivative of order four from the values of the sides. */
double lwi_slope_difference(const double f[LWI_SLOPE_SIDES], double step);

/** A state at which slopes are evaluated. */
typedef struct lwi_slope_state {
    double t;
    const double *q, *v, *vdot, *lambda, *inputs;
    const lwi_tree_work *work;
    const double *z; ///< [model nstate] states of signals; NULL: those of each model's start
    const lwi_law_tangent *tangent; ///< [nmode] of laws at the state, where `work` has modes
} lwi_slope_state;
/** A state at random with rows u, nu, where slopes are compared with those of whole models. */
typedef struct lwi_slope_probe {
    const lwi_slope_state *at;
    const double *u, *nu, *gradient; ///< gradient [numbers] of u, nu there
    const double (*way)[6];          ///< [nnode] of u, lwi_number_ways
    double *scratch;                 ///< [2 (tree nv + m) + 2 nstate]
} lwi_slope_probe;
/** Decides whether the parameter changes numbers and forces alone. */
lw_status lwi_slope_test(lwi_slope *slope, const lwi_model_numbers *numbers,
                         const lwi_slope_probe *probe, lwi_arena *arena, lw_error *error);
/** May it change poses and velocities, of markers too, or measures, as functions of coordinates and speeds?  Masses and
 *  forces do not, except mass centres.
 *  @param formulas  do results show them? */
bool lwi_slope_changes_motion(const lwi_slope *slope, const lw_model *model, bool formulas);
/** Derivatives of the model are found by those numbers alone by which slopes [n] have some. */
void lwi_slopes_choose_numbers(const lwi_slope *slope, int n, lwi_model_numbers *numbers);
/** The derivative by the numbers that the parameter changes, of one that changes others too 0. */
double lwi_slope_by_numbers(const lwi_slope *slope, const double *gradient);
/** Rows by which equations are multiplied. */
typedef struct lwi_slope_rows {
    int count;
    const double *u, *nu;   ///< [count][tree nv], [count][m]
    const double *w;        ///< [count][nstate] of the rates g of the states of signals; NULL: none
    const double (*way)[6]; ///< [count][nnode] of the rows u, lwi_number_ways
} lwi_slope_rows;
/** out [count] := the rest of u'dF/dp + nu'dC/dp - w'dg/dp.  @param scratch  [2 (tree nv + m) + 2 nstate] */
void lwi_slope_products(const lwi_slope *slope, const lw_model *model, const lwi_slope_state *at,
                        const lwi_slope_rows *rows, double *scratch, double *out);
/** The derivative of a function is the sum over the sides of these times its values. */
double lwi_slope_weight(const lwi_slope *slope, int side);
/** out [tree nv + m + nstate] := dF/dp, dC/dp, -dg/dp of a slope that is not local.  @param scratch  as there */
void lwi_slope_residuals(const lwi_slope *slope, const lwi_slope_state *at, double *scratch,
                         double *out);
/** out [2 m] := the derivatives of phi and of J v + b, of a slope that is not local. */
void lwi_slope_constraints(const lwi_slope *slope, const lwi_slope_state *at, double *out);
/** Makes the runs that lwi_slope_columns needs. */
lw_status lwi_slope_observe(lwi_slope *slope, const char *columns, lwi_arena *arena,
                            lw_error *error);
/** out [columns] := explicit derivative of the columns at a state; after lwi_slope_observe.
 *  @param states  as lwi_probe_run_at */
lw_status lwi_slope_columns(lwi_slope *slope, double t, const double *q, const double *v,
                            const double *states, double *out, lw_error *error);

#endif
