// dense_path.h -- evaluations of `rcr` with all rows at once, where they are few.
//
// A small mechanism is done before an elimination that goes from body to body has set up its systems.
// There the rows of cut joints are taken together, in the factors M = N N' of the tree [cut.h]:
//
//     y = N' v,   E = J W N'^-1:   velocities    the y nearest to that of the state with E y + b = 0
//                                  accelerations the y nearest to N^-1 (forces) with E y + gamma = 0
//
// Velocities are on the rows to round-off, as those that the elimination completes, and differ from them by what
// the state is off the rows, the integrator's error.  What is near a singular position is left to the
// elimination and its choice of coordinates.
#ifndef LWI_METHODS_RCR_DENSE_PATH_H
#define LWI_METHODS_RCR_DENSE_PATH_H

#include "methods/rcr/rcr.h"

typedef struct lwi_rcr_dense lwi_rcr_dense;

/** Is it faster than the elimination, by estimate?  After the ranks and fronts are learnt. */
bool lwi_rcr_dense_pays(const lwi_rcr_work *d);
/** *out: NULL where there are no rows, or rotors or the start do not allow it.  After the ranks are learnt;
 *  `tree` is left changed. */
lw_status lwi_rcr_dense_create(lwi_rcr_work *d, lwi_arena *arena, lwi_rcr_dense **out);
/** Rows and factors where d->tree is placed; false where they are too close to singular. */
bool lwi_rcr_dense_factor(lwi_rcr_dense *dense, lwi_rcr_work *d, double t);
/** d->v: the state's speeds u [tree_nv], put on the rows; and V of the tree. */
void lwi_rcr_dense_speeds(lwi_rcr_dense *dense, lwi_rcr_work *d, const double *u);
/** d->vdot and d->lambda; after the velocities and the loads. */
void lwi_rcr_dense_accelerations(lwi_rcr_dense *dense, lwi_rcr_work *d, double t);
/** The rows, after their factors. */
const lwi_cut *lwi_rcr_dense_rows(const lwi_rcr_dense *dense);

#endif
