// evaluate.h -- rates of several instances of one model, in lanes.
#ifndef LWI_BATCH_EVALUATE_H
#define LWI_BATCH_EVALUATE_H

#include "simulate/simulation.h"

typedef struct lwi_evaluate lwi_evaluate; ///< one thread

/** Memory of a thread for the model and the formulation of `sim`.
 *  @param shared   others use sim's own workspace
 *  @param lanes    how many instances will stand side by side at most, 1: no kernel in lanes
 *  @param arena    holds everything but a workspace of its own, see destroy */
lw_status lwi_evaluate_create(lw_sim *sim, bool shared, int lanes, lwi_arena *arena,
                              lwi_evaluate **evaluate, lw_error *error);
void lwi_evaluate_destroy(lwi_evaluate *evaluate); ///< before its arena; NULL is allowed

/** Rates of the lanes in the set: the formulation's own, bit for bit, by its kernel in lanes where
 * there is one.  Component i of lane l stands at [i * stride + l]; inputs [lane] of each instance.
 * Status and text of lanes that fail; entries of other lanes are left alone, their rates are void.
 */
void lwi_evaluate_lanes(lwi_evaluate *evaluate, int stride, const double *t, const double *x,
                        const double *const *inputs, double *xdot, unsigned lanes,
                        lw_status *status, lw_error *why);

/** Holds what is discrete beside x for each lane (lwi_work.discrete) in the calls that follow; NULL: the
 *  workspace's own. */
void lwi_evaluate_hold(lwi_evaluate *evaluate, void *const *discrete);
/** The formulation's `settle` of one lane, where it has one; x as of lwi_evaluate_lanes.
 *  @param changed  false on entry */
lw_status lwi_evaluate_settle(lwi_evaluate *evaluate, int stride, double t, double *x, int lane,
                              bool *changed, lw_error *why);

#endif
