// limits.h -- limits of joints without stiffness, after a file is read.
#ifndef LWI_IO_LIMITS_H
#define LWI_IO_LIMITS_H

#include "model/description.h"

/** Makes stops of the limits that have no stiffness, and reports what was chosen; with neither they remain ranges.
 *  @param given  stiffness and damping, both 0: not given
 *  @param T      time constant of stops that are scaled by the mechanism [s]; 0: they are not */
lw_status lwi_limits_apply(lw_builder *builder, const lw_limits_desc *given, double T,
                           lw_error *error);

#endif
