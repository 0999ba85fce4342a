// joint.h -- what a joint type is: one file per type, one row in the list.
//
// A joint relates frame F2 (on body2) to frame F1 (on body1).  (R, r) is the pose of F2 in F1: R takes
// F2-components to F1-components, r is the origin of F2 in F1-components.  Spatial vectors are linear
// part first, in F2-components about the origin of F2, unless said otherwise.
#ifndef LWI_JOINT_H
#define LWI_JOINT_H

#include <linkwork/model.h>

#include <stdbool.h>

typedef struct lwi_joint_par {
    double pitch;  ///< screw: metres per radian
    double length; ///< distance [m]; for a length that follows time the caller passes it in rows_in
    lw_custom_joint custom;
} lwi_joint_par;

/** World-axes state of both joint frames, for constraint rows. */
typedef struct lwi_rows_in {
    const double *R1, *r1, *R2, *r2; ///< F1, F2 -> world rotations [9], origins [3]
    const double *v1, *w1, *v2, *w2; ///< velocities of the origins, angular velocities; world [3]
    const double *q;                 ///< [nq] present coordinates (of the joint's own read)
    double length[3];                ///< distance: length and its two time derivatives
} lwi_rows_in;

/** nc constraint rows: phi = 0, J1 V1 + J2 V2 + b = 0, J1 A1 + J2 A2 + gamma = 0 with
 *  V = [velocity of the frame's origin; angular velocity], A = its time derivative, world axes. */
typedef struct lwi_rows {
    double phi[6], J1[6][6], J2[6][6], b[6], gamma[6];
} lwi_rows;

typedef struct lwi_joint_type {
    const char *name;
    lw_joint_type id;
    int nq, nv, nc;
    bool scalar;        ///< speeds are the derivatives of the coordinates, one by one
    unsigned angles;    ///< bit k: scalar coordinate k is an angle
    bool constant_axis; ///< one freedom, S constant and invariant under the joint's own motion

    void (*neutral)(const lwi_joint_par *, double *q);
    void (*pose)(const lwi_joint_par *, const double *q, double R[9], double r[3]);
    /** Motion subspace [nv][6]: relative velocity of F2 = sum_j S[j] u[j]. */
    void (*subspace)(const lwi_joint_par *, const double *q, double S[][6]);
    /** Time derivative of its components. */
    void (*subspace_rate)(const lwi_joint_par *, const double *q, const double *u, double Sdot[][6]);
    /** qdot [nq] from u. */
    void (*kinematics)(const lwi_joint_par *, const double *q, const double *u, double *qdot);
    /** Coordinates of a pose that is on the joint or near it, continued from `near`. */
    void (*read)(const lwi_joint_par *, const double R[9], const double r[3], const double *near,
                 double *q);
    /** Wrenches on F2 of unit efforts [nv][6]: S[i].T[j] = (i == j). */
    void (*effort)(const lwi_joint_par *, const double *q, double T[][6]);
    /** Constrained directions [nc][6], orthonormal, S[i].D[j] = 0. */
    void (*complement)(const lwi_joint_par *, const double *q, double D[][6]);
    void (*rows)(const lwi_joint_par *, const lwi_rows_in *, lwi_rows *);
} lwi_joint_type;

/** The type's table; custom joints get theirs from lwi_joint_custom_type. */
const lwi_joint_type *lwi_joint_type_of(lw_joint_type id);
/** Fills *type for a custom joint (callbacks dispatch through par->custom). */
void lwi_joint_custom_type(const lw_custom_joint *custom, lwi_joint_type *type);

#endif
