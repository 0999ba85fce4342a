// reduced.h -- accelerations of a tree with closed loops, as values: coordinate reduction on a fixed partition.
#ifndef LWI_CODEGEN_REDUCED_H
#define LWI_CODEGEN_REDUCED_H

#include "codegen/articulated.h"
#include "codegen/loops.h"

/** The dependent accelerations of a block from those it depends on, y' = K z' + kappa.
 *  @param closures  with gamma
 *  @param K  [block ny][block nz] out;  @param kappa  [tree nv], entries of the dependent speeds out
 *  @return LW_ERR_MEMORY */
lw_status lwi_dependent_accelerations(lwi_codegen_graph *graph, const lwi_elements *elements,
                                      const lwi_closures *closures, const lwi_loop_block *block,
                                      val *K, val *kappa, lwi_arena *arena);

/** Accelerations of the speeds.
 *  @param sweep     with poses and velocities, `bias` set
 *  @param closures  with gamma
 *  @param vdot      [tree nv] out
 *  @return LW_ERR_UNSUPPORTED naming a joint without inertia, LW_ERR_MEMORY */
lw_status lwi_reduced_accelerations(lwi_sweep *sweep, const lwi_closures *closures, val *vdot,
                                    lwi_arena *arena, lw_error *error);

#endif
