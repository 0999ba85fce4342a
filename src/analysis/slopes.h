// slopes.h -- how the equations of a mechanism at a fixed state change with parameters of its file.
//
// Problem: with the coordinates q, v, vdot and the multipliers lambda of the tree fixed, derivatives by a parameter p of
//     F = M vdot + h - J'lambda,   C = J vdot + gamma,   the start (q, v), and columns of results.
// F is linear in masses, mass centres and inertias: their change with p times the wrench that each needs, O(1) for each
// body; forces of which p changes parameters are evaluated alone, with p +- h and p +- 2h.  Where p changes more than
// these, whole models are evaluated: differences of order four in p alone, of a function without integration.
#ifndef LWI_ANALYSIS_SLOPES_H
#define LWI_ANALYSIS_SLOPES_H

#include "dynamics/state_derivatives.h"
#include "io/result/columns.h"
#include "kinematics/tree_state.h"

#include <linkwork/simulate.h>

enum { LWI_SLOPE_SIDES = 4 };

/** Columns of a mechanism, evaluated at states that need not satisfy its joints. */
typedef struct lwi_probe_run {
    lw_sim *sim;
    lwi_result_columns columns;
    lwi_result_rows rows;
    double *x; ///< state of the simulation
    int nq, nv;
} lwi_probe_run;

lw_status lwi_probe_run_create(const lw_model *model, const char *patterns, lwi_arena *arena,
                               lwi_probe_run *run, lw_error *error);
void lwi_probe_run_destroy(lwi_probe_run *run);
/** run->rows.row (the first is the time) at (t, q, v). */
lw_status lwi_probe_run_at(lwi_probe_run *run, double t, const double *q, const double *v,
                           lw_error *error);

typedef struct lwi_slope_side {
    lw_model *model;
    lwi_probe_run run;
    lwi_tree_work tree;
    lwi_cut cut;
} lwi_slope_side;

typedef struct lwi_slope {
    const char *name;
    double step; ///< of the parameter, in its unit
    bool local;  ///< changes masses, mass centres, inertias and some forces alone
    lwi_slope_side side[LWI_SLOPE_SIDES];
    int *node, count; ///< nodes with another inertia
    double (
        *change)[10];   ///< [count] of mass, first moment [3], inertia [6] about the link's origin
    int *force, nforce; ///< forces with other parameters
    int *speed;         ///< [nforce] speed of the tree that each acts on; -1: bodies
    double *start;      ///< [2 tree nv] of the start along the speeds, and of the speeds
} lwi_slope;

/** @param relative  step by the value of the parameter
 *  @return LW_ERR_ARGUMENT: no such parameter, or its value is 0; LW_ERR_UNSUPPORTED: another tree */
lw_status lwi_slope_create(const lw_model *model, const char *name, double relative,
                           lwi_arena *arena, lwi_slope *slope, lw_error *error);
void lwi_slope_destroy(lwi_slope *slope);

/** A state at which slopes are evaluated. */
typedef struct lwi_slope_state {
    double t;
    const double *q, *v, *vdot, *lambda, *inputs;
    const lwi_tree_derivatives *tree; ///< evaluated there
    const lwi_tree_work *work;
} lwi_slope_state;
/** Decides whether the parameter changes inertia and forces alone, by comparison at a state with rows u, nu, X at random. */
lw_status lwi_slope_test(lwi_slope *slope, const lwi_slope_state *at, const double *u,
                         const double *nu, const double (*X)[6], double *scratch, lwi_arena *arena,
                         lw_error *error);
/** out [count] := u'dF/dp + nu'dC/dp for `count` rows u [count][tree nv], nu [count][m].
 *  @param scratch  [2 (tree nv + m)]
 *  @param X  [count][nnode][6] sum over the way to each node of u S, world axes about the world's origin */
void lwi_slope_products(const lwi_slope *slope, const lw_model *model, const lwi_slope_state *at,
                        int count, const double *u, const double *nu, const double (*X)[6],
                        double *scratch, double *out);
/** Makes the runs that lwi_slope_columns needs. */
lw_status lwi_slope_observe(lwi_slope *slope, const char *columns, lwi_arena *arena,
                            lw_error *error);
/** out [columns] := explicit derivative of the columns at a state; after lwi_slope_observe. */
lw_status lwi_slope_columns(lwi_slope *slope, double t, const double *q, const double *v,
                            double *out, lw_error *error);

#endif
