// spatial.h -- plain values of mechanics: vectors, unit quaternions, poses.
//
// Right-handed frames, SI units, radians.  Quaternions are scalar first and map body axes to
// reference axes: v_reference = R(q) v_body.  q and -q are the same attitude.
#ifndef LINKWORK_SPATIAL_H
#define LINKWORK_SPATIAL_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_vec3 {
    double x, y, z;
} lw_vec3;

/** Scalar first.  All zero stands for the identity in descriptions. */
typedef struct lw_quat {
    double w, x, y, z;
} lw_quat;

/** Place of a frame: origin [m] and attitude in a reference frame. */
typedef struct lw_pose {
    lw_vec3 position;
    lw_quat orientation;
} lw_pose;

#ifdef __cplusplus
}
#endif
#endif
