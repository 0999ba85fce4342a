// reduced.h -- accelerations of a tree with closed loops, as values: coordinate reduction on a fixed partition.
#ifndef LWI_CODEGEN_REDUCED_H
#define LWI_CODEGEN_REDUCED_H

#include "codegen/articulated.h"
#include "codegen/loops.h"

/** Accelerations of the speeds.
 *  @param sweep     with poses and velocities, `bias` set
 *  @param closures  with gamma
 *  @param vdot      [tree nv] out
 *  @return LW_ERR_UNSUPPORTED naming a joint without inertia, LW_ERR_MEMORY */
lw_status lwi_reduced_accelerations(lwi_sweep *sweep, const lwi_closures *closures, val *vdot,
                                    lwi_arena *arena, lw_error *error);

#endif
