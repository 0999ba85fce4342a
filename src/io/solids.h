// solids.h -- volume and inertia of the shapes that robot formats know.
#ifndef LWI_IO_SOLIDS_H
#define LWI_IO_SOLIDS_H

#include <linkwork/model.h>

/** Volume, and inertia of one kilogram about the mass centre along the axes of the shape; zero: it has no volume.
 *  @param size  as LW_SHAPE_LIST says */
void lwi_solid_of_shape(lw_shape_type type, const double *size, double *volume, double unit[3]);

#endif
