// decay.h -- the fastest decay rate of a model, a measure of stiffness.
#ifndef LWI_SIMULATE_DECAY_H
#define LWI_SIMULATE_DECAY_H

#include "kinematics/formulation.h"

/** The fastest decay at the model's start [1/s], by power iteration on differences of the rates: dampers,
 *  friction and other forces against the inertia that they move.  0 if the fastest motion oscillates or
 *  grows (an implicit method would not take longer steps then), or if rates are not finite.
 *  @cost some twenty evaluations   @return LW_ERR_MEMORY */
lw_status lwi_decay_rate(lwi_work *work, const lw_allocator *allocator, double *rate);

#endif
