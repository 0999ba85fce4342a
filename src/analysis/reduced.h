// reduced.h -- derivatives of the reduced equations by independent coordinates, speeds and inputs.
//
// With q and v moved along the constraints by increments y and z (manifold.h), dq = B y, dv = B z + P y, and
// vdot = B zdot + d, the reduced force at fixed zdot
//
//     r = -B'(M vdot + h),   dr = -B'(d(M vdot + h - J'lambda) + M dd)
//
// where lambda balances the rows of the dependent coordinates, so that changes of B do not count.  Inertia and
// constraints: exact (dynamics/state_derivatives.h); forces of the model: differences of order six of them alone.
#ifndef LWI_ANALYSIS_REDUCED_H
#define LWI_ANALYSIS_REDUCED_H

#include "analysis/state.h"
#include "dynamics/state_derivatives.h"

typedef struct lwi_reduced {
    lwi_analysis_state *state;
    lwi_state_derivatives d;
    lwi_tree_work tree;
    double *inputs;          ///< [inputs] those of the manifold, zeros where it has none
    double *vdot;            ///< [n]
    double *P;               ///< [f][n] row k: what y_k adds to the speeds
    double *shift;           ///< [n] dd of one column
    double *by_q, *by_v, *M; ///< [n][n]
    double *lambda, *rhs;    ///< [m]
    double *force, *scratch; ///< [n], [4 n]
    double *near_q, *near_v, *increment,
        *near_inputs; ///< a neighbour for the differences of forces
} lwi_reduced;

/** @return LW_ERR_UNSUPPORTED: joints of callers, which are known by their values alone; LW_ERR_MEMORY */
lw_status lwi_reduced_create(lwi_analysis_state *state, lwi_arena *arena, lwi_reduced *reduced,
                             lw_error *error);
/** At the state (q, v), which is closed, and the accelerations zdot [f], NULL: zeros.
 *  @param by_y  [f][f] out: row: force, column: coordinate
 *  @param by_z  [f][f] out, by_u  [f][inputs] out; may be NULL
 *  @return LW_ERR_SINGULAR, LW_ERR_NOT_FINITE */
lw_status lwi_reduced_derivatives(lwi_reduced *reduced, const double *zdot, double *by_y,
                                  double *by_z, double *by_u, lw_error *error);

#endif
