// parallel_axes.h -- axes of loops that are parallel, or at right angles, except for the digits in which they are given.
#ifndef LWI_INITIAL_PARALLEL_AXES_H
#define LWI_INITIAL_PARALLEL_AXES_H

#include "model/model.h"

/** lwi_model_compile, and again with other joint frames where axes of loops are parallel or at right angles within
 *  LWI_CLOSURE_TOLERANCE, but not to round-off: these are exactly so, and a warning says it. */
lw_status lwi_compile_parallel(const lwi_description *desc, const lw_allocator *allocator,
                               lwi_unclosed *unclosed, lw_model **model, lw_error *error);

/** Joints with speeds that closures and couplings relate to others.
 *  @param skip     [nnode] scratch
 *  @param in_loop  out, [njoint] */
void lwi_mark_loops(const lw_model *model, int *skip, bool *in_loop);

#endif
