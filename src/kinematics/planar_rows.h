// planar_rows.h -- rows that depend on others because bodies move in a plane.
#ifndef LWI_KINEMATICS_PLANAR_ROWS_H
#define LWI_KINEMATICS_PLANAR_ROWS_H

#include "model/model.h"

/** Rows of joints that depend on others in every configuration, because the joints of their loops rotate about
 *  parallel axes and slide across these: three for each loop that a
 *  joint outside the tree closes.  Where no other rows depend at a configuration, the
 *  rows of every part of the mechanism have their generic rank there (planar_rows.c).
 *  @param count  out: a lower bound of the dependent rows of the mechanism; loops in more than a few planes, and those of
 *                bodies that move in parallel planes for other reasons, are not counted
 *  @param undetermined  out, [njoint] as in lwi_snapshot: components of reactions that are not unique where no other rows
 *                depend; NULL: not wanted
 *  @return LW_ERR_MEMORY */
lw_status lwi_planar_rows(const lw_model *model, const lw_allocator *allocator, int *count,
                          unsigned char *undetermined);

/** Whether all joints with rows move in one plane, in every configuration: their rows are either within it or across it, and
 *  rows of one kind do not meet those of the other.  lwi_planar_is_across has which.
 *  @param axis  out, [njoint] axis of F1 across the plane; -1: a joint without rows
 *  @return LW_ERR_MEMORY */
lw_status lwi_planar_axes(const lw_model *model, const lw_allocator *allocator, signed char *axis,
                          bool *planar);
/** Whether row k of the joint is across the plane; rows of driven coordinates are within. */
bool lwi_planar_is_across(const lwi_joint *joint, int k, int axis);

#endif
