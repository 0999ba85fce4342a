// evaluate.h -- rates of several instances of one model, in lanes.
#ifndef LWI_BATCH_EVALUATE_H
#define LWI_BATCH_EVALUATE_H

#include "simulate/simulation.h"

typedef struct lwi_evaluate lwi_evaluate; ///< one thread

/** Memory of a thread for the model and the formulation of `sim`.
 *  @param shared   others use the workspace of sim
 *  @param lanes    largest number of instances side by side, 1: no kernel in lanes
 *  @param motion   lwi_evaluate_motion will be called
 *  @param arena    holds everything except a separate workspace, see destroy */
lw_status lwi_evaluate_create(lw_sim *sim, bool shared, int lanes, bool motion, lwi_arena *arena,
                              lwi_evaluate **evaluate, lw_error *error);
void lwi_evaluate_destroy(lwi_evaluate *evaluate); ///< before its arena; NULL is allowed

/** The workspace with which it evaluates. */
lwi_work *lwi_evaluate_work(lwi_evaluate *evaluate);

/** Rates of the lanes in the set: bit for bit those of the formulation, by its kernel in lanes if
 * there is one.  Component i of lane l is at [i * stride + l]; inputs [lane] of each instance.
 * Status and message of lanes that fail; entries of other lanes are unchanged, their rates undefined.
 */
void lwi_evaluate_lanes(lwi_evaluate *evaluate, int stride, const double *t, const double *x,
                        const double *const *inputs, double *xdot, unsigned lanes,
                        lw_status *status, lw_error *why);
/** The lanes of the last call with rates that are not finite, although all functions are. */
unsigned lwi_evaluate_unexplained(const lwi_evaluate *evaluate);

/** Poses and velocities of one lane, x as of lwi_evaluate_lanes; the snapshot is valid until the next call. */
lw_status lwi_evaluate_motion(lwi_evaluate *evaluate, int stride, double t, const double *x,
                              int lane, const double *inputs, const lwi_snapshot **motion,
                              lw_error *why);

/** Sets the discrete states of each lane (lwi_work.discrete) for the following calls; NULL: those of the
 *  workspace. */
void lwi_evaluate_hold(lwi_evaluate *evaluate, void *const *discrete);
/** What a pre-step did. */
typedef struct lwi_pre_stepped {
    bool changed;   ///< x is another one
    bool projected; ///< positions were restored to the constraint manifold
} lwi_pre_stepped;

/** What a single run does before a step, in one lane: projection, then the formulation's pre-step; x as of
 *  lwi_evaluate_lanes. */
lw_status lwi_evaluate_pre_step(lwi_evaluate *evaluate, int stride, double t, double *x, int lane,
                                const double *inputs, lwi_pre_stepped *result, lw_error *why);

#endif
