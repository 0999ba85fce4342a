// dense_path.h -- evaluations of `rcr` with all rows at once: the dense path, for small mechanisms.
//
// A small mechanism is evaluated in less time than the elimination needs to assemble its systems.  The rows of cut
// joints are taken together, with the factors M = N N' of the tree [cut.h, anderson2003, (32)]:
//
//     y = N' v,  E = J W N'^-1:  velocities     the y nearest to that of the state with E y + b = 0
//                                accelerations  the y nearest to N^-1 (forces) with E y + gamma = 0
//
// Velocities satisfy the rows to rounding, as those of the elimination do; the two differ by the distance of the
// state from the rows, the integrator's error.  Close to a singular position the elimination is used, with its
// choice of coordinates.  Cost: O(n m + n m^2).
#ifndef LWI_METHODS_RCR_DENSE_PATH_H
#define LWI_METHODS_RCR_DENSE_PATH_H

#include "methods/rcr/rcr.h"

typedef struct lwi_rcr_dense lwi_rcr_dense;

/** True if the dense path is estimated to be faster than the elimination; after ranks and fronts
 *  are determined. */
bool lwi_rcr_dense_pays(const lwi_rcr_work *d);
/** *out: NULL if there are no rows, cut joints have rotors, or the start is singular.  After the ranks are determined;
 *  overwrites `tree`. */
lw_status lwi_rcr_dense_create(lwi_rcr_work *d, lwi_arena *arena, lwi_rcr_dense **out);
/** Rows and factors at the placed d->tree.  @return false if the rows are close to singular */
bool lwi_rcr_dense_factor(lwi_rcr_dense *dense, lwi_rcr_work *d, double t);
/** d->v := the speeds nearest to u [tree_nv] that satisfy the rows; V of the tree. */
void lwi_rcr_dense_speeds(lwi_rcr_dense *dense, lwi_rcr_work *d, const double *u);
/** d->vdot; after the velocities and the loads. */
void lwi_rcr_dense_accelerations(lwi_rcr_dense *dense, lwi_rcr_work *d, double t);
/** The same again with all inertias and forces times three, which rounds them differently: lost_digits.c.
 *  @param rotor  [tree_nv] scratch      @return false as lwi_rcr_dense_factor */
bool lwi_rcr_dense_tripled(lwi_rcr_dense *dense, lwi_rcr_work *d, double t, double *rotor);
/** lambda [rows], those of lwi_rcr_lambda; after the accelerations. */
void lwi_rcr_dense_multipliers(const lwi_rcr_dense *dense, double *lambda);
/** The rows, after their factors. */
const lwi_cut *lwi_rcr_dense_rows(const lwi_rcr_dense *dense);

#endif
