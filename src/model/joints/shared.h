// shared.h -- what the joint types share: the list of types, defaults, building blocks of rows.
#ifndef LWI_MODEL_JOINTS_SHARED_H
#define LWI_MODEL_JOINTS_SHARED_H

#include "model/joints/joint.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

/** Enumerator, object: one line per file of this folder that is a joint type. */
#define LWI_JOINT_TYPE_LIST(X)                                                                     \
    X(FIXED, fixed)                                                                                \
    X(REVOLUTE, revolute)                                                                          \
    X(PRISMATIC, prismatic)                                                                        \
    X(SCREW, screw)                                                                                \
    X(CYLINDRICAL, cylindrical)                                                                    \
    X(UNIVERSAL, universal)                                                                        \
    X(SPHERICAL, spherical)                                                                        \
    X(PLANAR, planar)                                                                              \
    X(FREE, free)                                                                                  \
    X(DISTANCE, distance)                                                                          \
    X(CUSTOM, custom)

#define X(NAME, name) extern const lwi_joint_type lwi_joint_##name;
LWI_JOINT_TYPE_LIST(X)
#undef X

// ---- defaults (joint.c), named by the number of coordinates they are for

// q = 0
void lwi_joint_zero_0(const lwi_joint_par *par, double *q);
void lwi_joint_zero_1(const lwi_joint_par *par, double *q);
void lwi_joint_zero_2(const lwi_joint_par *par, double *q);
void lwi_joint_zero_3(const lwi_joint_par *par, double *q);
// qdot = u
void lwi_joint_same_0(const lwi_joint_par *par, const double *q, const double *u, double *qdot);
void lwi_joint_same_1(const lwi_joint_par *par, const double *q, const double *u, double *qdot);
void lwi_joint_same_2(const lwi_joint_par *par, const double *q, const double *u, double *qdot);
void lwi_joint_same_3(const lwi_joint_par *par, const double *q, const double *u, double *qdot);
// constant components of S: Sdot = 0, by number of speeds
void lwi_joint_still_0(const lwi_joint_par *par, const double *q, const double *u, double Sd[][6]);
void lwi_joint_still_1(const lwi_joint_par *par, const double *q, const double *u, double Sd[][6]);
void lwi_joint_still_2(const lwi_joint_par *par, const double *q, const double *u, double Sd[][6]);
void lwi_joint_still_3(const lwi_joint_par *par, const double *q, const double *u, double Sd[][6]);
void lwi_joint_still_6(const lwi_joint_par *par, const double *q, const double *u, double Sd[][6]);
// no freedom: nothing to write
void lwi_joint_none(const lwi_joint_par *par, const double *q, double S[][6]);
void lwi_joint_read_none(const lwi_joint_par *par, const double R[9], const double r[3],
                         const double *near, double *q);

/** Unit vector number k of the six: 0..2 linear, 3..5 angular. */
static inline void v6_unit(double e[6], int k)
{
    v6_zero(e);
    e[k] = 1;
}
/** Angle of R about z, for R = Rz(angle) or near it: the best fit in the least-squares sense. */
static inline double angle_z(const double R[9], double near)
{
    return angle_continue(atan2(R[3] - R[1], R[0] + R[4]), near);
}

// ---- building blocks of constraint rows (rows.c).  They set phi, J, b of row k on and, where
// velocities are given, gamma and Jdot.  d = r2 - r1.  Every phi is an exact function of the two
// poses, also off the joint, and J, gamma and Jdot are its exact derivatives.

/** phi = d in axes of F1 (three rows). */
void lwi_row_points(const lwi_rows_in *in, lwi_rows *rows, int k);
/** phi = a1 . d with a1 the axis i of F1. */
void lwi_row_along(const lwi_rows_in *in, lwi_rows *rows, int k, int i);
/** phi = a1 . a2 with the axes i of F1 and j of F2. */
void lwi_row_axes(const lwi_rows_in *in, lwi_rows *rows, int k, int i, int j);
/** phi = 2 (vector part of the quaternion of F2 in F1, scalar part >= 0): zero only where F1 and F2
 *  are parallel, its Jacobian regular below half a turn (three rows, axes of F2). */
void lwi_row_attitude(const lwi_rows_in *in, lwi_rows *rows, int k);
/** phi = atan2 of the rows 1 and 0 of `of`, which have no forces; continued from `near`. */
void lwi_row_arc(const lwi_rows_in *in, const lwi_rows *of, double near, lwi_rows *rows, int k);
/** phi = the angle from F1 to F2 about z, best fit as in angle_z. */
void lwi_row_angle(const lwi_rows_in *in, double near, lwi_rows *rows, int k);

#endif
