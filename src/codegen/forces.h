// forces.h -- springs and dampers between points of bodies and constant wrenches, as efforts on the speeds.
#ifndef LWI_CODEGEN_FORCES_H
#define LWI_CODEGEN_FORCES_H

#include "codegen/paths.h"

/** Refuses what is not generated.  @return LW_ERR_UNSUPPORTED naming the force */
lw_status lwi_forces_check(const lw_model *model, lw_error *error);
/** Efforts of all forces on bodies, and of springs and dampers on joints that close loops.
 *  @param load  out: [tree nv], or NULL: there are none
 *  @return LW_ERR_MEMORY */
lw_status lwi_forces_create(const lwi_walk *walk, lwi_arena *arena, const val **load);

#endif
