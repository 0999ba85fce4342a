// power.h -- the power that bodies and rotors take up.
#ifndef LWI_CODEGEN_POWER_H
#define LWI_CODEGEN_POWER_H

#include "codegen/motion.h"

/** Rate of the kinetic energy, and of the potential one of gravity, at the accelerations of all bodies and of the speeds.
 *  @param motion  with velocities and A
 *  @param vdot    [tree nv]
 *  @return LW_ERR_MEMORY */
lw_status lwi_codegen_inertial_power(const lwi_codegen_motion *motion, const val *vdot,
                                     lwi_arena *arena, val *power);

#endif
