// forces.h -- the forces of a model, as efforts on the speeds of the tree.
#ifndef LWI_CODEGEN_FORCES_H
#define LWI_CODEGEN_FORCES_H

#include "codegen/signals.h"

/** Refuses what is not generated.  @return LW_ERR_UNSUPPORTED naming the force, or what it follows */
lw_status lwi_forces_check(const lw_model *model, lw_error *error);
/** Efforts of all forces, without the linear part of springs and dampers on joints of the tree.
 *  @param load   out: [tree nv], or NULL: there are none
 *  @param power  out: of all parts without a potential; where motions are prescribed, the rate of the potential energy in
 *                its place; NULL: not wanted
 *  @param xdot   array for the rates of the states of servos; -1: not wanted
 *  @return LW_ERR_MEMORY */
lw_status lwi_forces_create(const lwi_walk *walk, lwi_arena *arena, int xdot, val *power,
                            const val **load);

#endif
