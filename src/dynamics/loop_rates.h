// loop_rates.h -- accelerations of a mechanism with loops at a given state, by coordinate reduction (`rcr`).
//
// The result depends on the state alone: the partition into independent and dependent speeds is that of the
// model's start if it is well conditioned at the state, else one chosen for the state.
#ifndef LWI_DYNAMICS_LOOP_RATES_H
#define LWI_DYNAMICS_LOOP_RATES_H

#include "methods/rcr/rcr.h"

typedef struct lwi_loop_rates {
    lwi_work *work;
    lwi_tree_work *tree;
    lwi_snapshot snapshot; ///< scratch: coordinates of cut joints for the model's forces
    double *
        start; ///< [nx] state at the start: winding numbers of auxiliary coordinates are relative to it
    double *x, *xdot;               ///< [nx]
    double *zeros;                  ///< [tree_nv] zero efforts
    const lwi_states *states;       ///< of signals, set by the user; NULL: those of the start
    bool local;                     ///< no force reads coordinates of joints that close loops
    unsigned char *start_partition; ///< [ndiscrete] partition of the start; all zero: none
} lwi_loop_rates;

/** Memory from `arena`; the formulation's work has its own.  @return the error of `rcr` for the
 *  model */
lw_status lwi_loop_rates_create(const lw_model *model, const lw_allocator *allocator,
                                lwi_arena *arena, lwi_loop_rates *rates, lw_error *error);
void lwi_loop_rates_destroy(lwi_loop_rates *rates);
/** vdot [tree_nv] at (t, q [tree_nq], v [tree_nv]) with efforts tau [tree_nv] (NULL: zeros) added to those of the
 *  model's forces.  Positions must satisfy the loops; v is completed from its independent speeds as in `rcr`.
 *  @param inputs  [inputs]     @return LW_ERR_SINGULAR, LW_ERR_NOT_FINITE, described in work->error */
lw_status lwi_loop_rates_evaluate(lwi_loop_rates *rates, double t, const double *q, const double *v,
                                  const double *tau, const double *inputs, double *vdot);
/** As lwi_formulation.gap at q [tree_nq]; infinite if a coupling reads a joint outside the tree. */
double lwi_loop_rates_gap(lwi_loop_rates *rates, double t, const double *q);

#endif
