// dynamics.h -- what forces of the dynamics at a state read besides coordinates and speeds.
#ifndef LWI_DYNAMICS_DYNAMICS_H
#define LWI_DYNAMICS_DYNAMICS_H

#include "model/forces/force.h"

#include <linkwork/dynamics.h>

/** lw_forward_dynamics then reads the states of signals from `states`, writes their rates to it, and uses the modes of
 *  forces [model nmode].  Both must outlive the calls.
 *  @param states  NULL: those of the start      @param mode  NULL: by the state */
void lwi_dynamics_hold(lw_dynamics *dynamics, const lwi_states *states, const unsigned char *mode);

#endif
