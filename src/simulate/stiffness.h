// stiffness.h -- the fastest motions of a model and their damping: a measure of stiffness.
#ifndef LWI_SIMULATE_STIFFNESS_H
#define LWI_SIMULATE_STIFFNESS_H

#include "kinematics/formulation.h"

typedef struct lwi_stiffness {
    double rate; ///< [1/s] largest modulus of an eigenvalue of df/dx; 0: unknown
    double
        damping; ///< smallest damping ratio of the motions near that rate: 1 decays, 0 oscillates, < 0 grows
} lwi_stiffness;

/** Stiffness at the model's start, from eigenvalues of the linearised rates: springs, bushings, dampers and friction
 *  against the inertia that they move, with speeds as state.  Unknown (0) if rates are not finite.
 *  @param lowest  [1/s] smaller rates need not be exact: fewer evaluations show those far below it
 *  @cost some eight evaluations, twenty near `lowest` and above   @return LW_ERR_MEMORY */
lw_status lwi_stiffness_find(lwi_work *work, const lw_allocator *allocator, double lowest,
                             lwi_stiffness *stiffness);

#endif
