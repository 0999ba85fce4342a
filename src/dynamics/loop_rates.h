// loop_rates.h -- accelerations of a mechanism with loops at a given state, by coordinate reduction.
//
// What comes out is a function of the state alone: the partition into independent and dependent speeds
// is that of the model's start where it is good at the state, else one that is chosen for the state.
#ifndef LWI_DYNAMICS_LOOP_RATES_H
#define LWI_DYNAMICS_LOOP_RATES_H

#include "methods/rcr/rcr.h"

typedef struct lwi_loop_rates {
    lwi_work *work;
    lwi_tree_work *tree;
    lwi_snapshot snapshot; ///< for coordinates of cut joints that the model's forces read
    double *start;         ///< [nx] what is carried is continued from here
    double *x, *xdot;      ///< [nx]
    double *zeros;         ///< [tree_nv] efforts of nobody
    unsigned char
        *start_partition; ///< [ndiscrete] partition of the start; all zero where it has none
} lwi_loop_rates;

/** Memory from `arena` but for the formulation's own.  @return what `rcr` refuses a model with */
lw_status lwi_loop_rates_create(const lw_model *model, const lw_allocator *allocator,
                                lwi_arena *arena, lwi_loop_rates *rates, lw_error *error);
void lwi_loop_rates_destroy(lwi_loop_rates *rates);
/** vdot [tree_nv] at (t, q, v) with efforts tau [tree_nv] (NULL: none) beside those of the model's forces.
 *  Positions must be on the loops; v is put on them, as `rcr` does it.
 *  @param inputs  [inputs]     @return LW_ERR_SINGULAR, LW_ERR_NOT_FINITE; work->error says where */
lw_status lwi_loop_rates_evaluate(lwi_loop_rates *rates, double t, const double *q, const double *v,
                                  const double *tau, const double *inputs, double *vdot);
/** As lwi_formulation.gap at coordinates q [tree_nq]; infinite, too, where couplings read joints outside the tree. */
double lwi_loop_rates_gap(lwi_loop_rates *rates, double t, const double *q);

#endif
