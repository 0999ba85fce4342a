// loop_momenta.h -- joint momenta of a mechanism with loops and their rates at a given state, by `hdca` without
// decay of the impulses (option `kappa: none`) [chadaj2017].
//
// Momenta of floating bases are in link axes, as those of open trees; the state of `hdca` has them in world axes.
#ifndef LWI_DYNAMICS_LOOP_MOMENTA_H
#define LWI_DYNAMICS_LOOP_MOMENTA_H

#include "kinematics/formulation.h"

typedef struct lwi_loop_momenta {
    lwi_work *work; ///< NULL: not created
    lwi_arena arena;
    lw_options options;
    lw_status at_start; ///< not LW_OK: rates cannot be evaluated, for the reason in `why`
    lw_error why;       ///< of the last failed evaluation
    double *start; ///< [nx] state at the start: angles of cut joints are the nearest to those in it
    double *x, *xdot; ///< [nx]
    double *v;        ///< [tree_nv]
} lwi_loop_momenta;

/** @return LW_ERR_MEMORY, or the error of `hdca` for the model */
lw_status lwi_loop_momenta_create(const lw_model *model, const lw_allocator *allocator,
                                  lwi_loop_momenta *m, lw_error *error);
void lwi_loop_momenta_destroy(lwi_loop_momenta *m);
/** p [tree_nv] of the speeds v [tree_nv], which are not projected: M v with rotors of cut joints. */
void lwi_loop_momenta_of_speeds(lwi_loop_momenta *m, double t, const double *q, const double *v,
                                double *p);
/** Speeds v [tree_nv], qdot [tree_nq] and pdot [tree_nv] at (t, q, p); efforts tau [tree_nv] may be NULL.  Outputs are
 *  unchanged on failure.
 *  @return LW_ERR_SINGULAR, also where the model's start is singular; LW_ERR_NOT_FINITE; described in `why` */
lw_status lwi_loop_momenta_evaluate(lwi_loop_momenta *m, double t, const double *q, const double *p,
                                    const double *tau, const double *inputs, double *v,
                                    double *qdot, double *pdot);

#endif
