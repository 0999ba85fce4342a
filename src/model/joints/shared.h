// shared.h -- what the files of the joint types share: macros of descriptors, defaults, building blocks of rows.
#ifndef LWI_MODEL_JOINTS_SHARED_H
#define LWI_MODEL_JOINTS_SHARED_H

#include "model/joints/joint.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

// Each type is the object lwi_joint_type_NAME of the file of its name; NAME is that of LW_JOINT_LIST.
#define X(NAME, text, nq, nv, nc, help) extern const lwi_joint_type lwi_joint_type_##NAME;
LW_JOINT_LIST(X)
#undef X

// The numbers of the list as constants: LWI_JOINT_SCREW_NQ, ..._NV, ..._NC.
#define X(NAME, text, nq, nv, nc, help)                                                            \
    LWI_JOINT_##NAME##_NQ = (nq), LWI_JOINT_##NAME##_NV = (nv), LWI_JOINT_##NAME##_NC = (nc),
enum { LW_JOINT_LIST(X) LWI_JOINT_NUMBERS_END };
#undef X

/** Begins the descriptor of a type: what the list says of it. */
#define LWI_JOINT_LISTED(NAME)                                                                     \
    .id = LW_JOINT_##NAME, .nq = LWI_JOINT_##NAME##_NQ, .nv = LWI_JOINT_##NAME##_NV,               \
    .nc = LWI_JOINT_##NAME##_NC, .scalar = LWI_JOINT_##NAME##_NQ == LWI_JOINT_##NAME##_NV

/** The declarative facts of a type.  None can be left out: the compiler counts them, and warns of one that
 *  is given twice. */
#define LWI_JOINT_FACTS(motion, quaternion, rows, coordinates, cut, sign, names)                   \
    motion, quaternion, rows, coordinates, cut, sign, names

#define LWI_MOTION(n, ...) .nfactor = (n), .factor = {__VA_ARGS__}
#define LWI_MOTION_UNKNOWN .nfactor = -1
#define LWI_TURN(coordinate, axis)                                                                 \
    {                                                                                              \
        LWI_FACTOR_TURN, axis, coordinate                                                          \
    }
#define LWI_SLIDE(coordinate, axis)                                                                \
    {                                                                                              \
        LWI_FACTOR_SLIDE, axis, coordinate                                                         \
    }
#define LWI_SCREW(coordinate, axis)                                                                \
    {                                                                                              \
        LWI_FACTOR_SCREW, axis, coordinate                                                         \
    }
#define LWI_PLACE(coordinate)                                                                      \
    {                                                                                              \
        LWI_FACTOR_PLACE, 0, coordinate                                                            \
    }
#define LWI_BALL(coordinate)                                                                       \
    {                                                                                              \
        LWI_FACTOR_BALL, 0, coordinate                                                             \
    }

#define LWI_QUATERNION_AT(k) .quaternion = (k)
#define LWI_NO_QUATERNION .quaternion = -1

#define LWI_ROWS(...) .row = {__VA_ARGS__}
#define LWI_POINTS                                                                                 \
    {LWI_ROW_POINT, LWI_X, 0}, {LWI_ROW_POINT, LWI_Y, 0},                                          \
    {                                                                                              \
        LWI_ROW_POINT, LWI_Z, 0                                                                    \
    }
#define LWI_ALONG(i)                                                                               \
    {                                                                                              \
        LWI_ROW_ALONG, i, 0                                                                        \
    }
#define LWI_AXES(i, j)                                                                             \
    {                                                                                              \
        LWI_ROW_AXES, i, j                                                                         \
    }
#define LWI_ATTITUDE                                                                               \
    {LWI_ROW_ATTITUDE, LWI_X, 0}, {LWI_ROW_ATTITUDE, LWI_Y, 0},                                    \
    {                                                                                              \
        LWI_ROW_ATTITUDE, LWI_Z, 0                                                                 \
    }
#define LWI_NO_ROWS .row = {{0, 0, 0}}

#define LWI_COORDINATES(...) .coordinate = {__VA_ARGS__}
#define LWI_NO_COORDINATES .coordinate = {{0, 0, 0, 0, 0}}
#define LWI_LENGTH(i)                                                                              \
    {                                                                                              \
        LWI_COORDINATE_LENGTH, i, 0, 0, 0                                                          \
    }
#define LWI_TURN_ANGLE                                                                             \
    {                                                                                              \
        LWI_COORDINATE_TURN, 0, 0, 0, 0                                                            \
    }
#define LWI_ARC(i, j, k, l)                                                                        \
    {                                                                                              \
        LWI_COORDINATE_ARC, i, j, k, l                                                             \
    }

#define LWI_CUT_COST(cost) .cut_cost = (cost)
/** Rows of points that slide have more terms. */
enum { LWI_POINTS_STAY = 0, LWI_POINTS_SLIDE = 6 };

#define LWI_SIGN(shape, apart, ...)                                                                \
    .sign = LWI_JOINT_##shape, .separates = (apart), .drawn = {__VA_ARGS__}
#define LWI_NO_AXIS                                                                                \
    {                                                                                              \
        0, 0, false                                                                                \
    }
#define LWI_TURN_AXIS(frame, axis)                                                                 \
    {                                                                                              \
        frame, axis, false                                                                         \
    }
#define LWI_SLIDE_AXIS(frame, axis)                                                                \
    {                                                                                              \
        frame, axis, true                                                                          \
    }

#define LWI_NAMES(...) .names = {__VA_ARGS__}
#define LWI_NO_NAMES .names = {{NULL, NULL, NULL, NULL}}

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
// no degree of freedom: nothing to write
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
 *  are parallel, its Jacobian regular below 180 degrees (three rows, axes of F2). */
void lwi_row_attitude(const lwi_rows_in *in, lwi_rows *rows, int k);
/** phi = atan2(B, A), each a1 . a2 with an axis of F1 and one of F2; continued from `near`. */
void lwi_row_arc(const lwi_rows_in *in, const int A[2], const int B[2], double near, lwi_rows *rows,
                 int k);
/** phi = the angle from F1 to F2 about z, best fit as in angle_z. */
void lwi_row_angle(const lwi_rows_in *in, double near, lwi_rows *rows, int k);

#endif
