// frames.h -- rotations and poses in the notations of XML robot formats.
#ifndef LWI_IO_FRAMES_H
#define LWI_IO_FRAMES_H

#include <linkwork/model.h>

#include <stdbool.h>

/** R = Rz(yaw) Ry(pitch) Rx(roll): rotations about the fixed axes x, y, z in this order. */
void lwi_frame_rpy(double *R, const double *rpy);
/** a := a / |a|, without overflow.  @return false: a is zero */
bool lwi_frame_normalize(double *a);

/** The rotation by the smallest angle that takes z to `axis`, a vector of any length.  For an axis in the lower
 *  half space it starts from -z, after half a revolution about x, where it is well defined.
 *  @return false: axis is zero */
bool lwi_frame_to_axis(double *R, const double *axis);
lw_pose lwi_frame_pose(const double *R, const double *r);
/** (R, r) = (R1, r1) (R2, r2); the output may alias an input. */
void lwi_frame_mul(double *R, double *r, const double *R1, const double *r1, const double *R2,
                   const double *r2);
/** (R, r) = (R1, r1)^-1 (R2, r2). */
void lwi_frame_between(double *R, double *r, const double *R1, const double *r1, const double *R2,
                       const double *r2);

#endif
