// index3_adapt.h -- step control for formulations with their own time steps and an error estimate.
#ifndef LWI_INTEGRATE_INDEX3_ADAPT_H
#define LWI_INTEGRATE_INDEX3_ADAPT_H

#include "integrate/integrator.h"

/** History kept from step to step. */
typedef struct lwi_adapt {
    double h;              ///< proposed; 0: none yet
    double last_h;         ///< of the last accepted step; 0: none
    double *before, *last; ///< [n] x at the start of this step and of the last one
} lwi_adapt;

/** One accepted step from (*t, x) to `to` at most.  On failure *t and x are unchanged. */
lw_status lwi_adapt_step(lwi_adapt *adapt, const lwi_problem *problem, double *t, double *x,
                         double to, lwi_integrator_stats *stats, lw_error *error);
/** Continues from another state. */
void lwi_adapt_restart(lwi_adapt *adapt, lwi_jump jump);

#endif
