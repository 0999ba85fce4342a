// joint.h -- what a joint type is: one file per type, one row in the list.
//
// A joint relates frame F2 (on body2) to frame F1 (on body1).  (R, r) is the pose of F2 in F1: R takes
// F2-components to F1-components, r is the origin of F2 in F1-components.  Spatial vectors are linear
// part first, in F2-components about the origin of F2, unless said otherwise.
#ifndef LWI_MODEL_JOINTS_JOINT_H
#define LWI_MODEL_JOINTS_JOINT_H

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
    const double *v1, *w1, *v2, *w2; ///< velocities of the origins, angular velocities; world [3].
                                     ///< v1 NULL: gamma and Jdot are not wanted
    const double *q;                 ///< [nq] present coordinates (of the joint's own read)
    double length[3];                ///< distance: length and its two time derivatives
} lwi_rows_in;

/** nc constraint rows.  Each is a wrench J on F2, about its origin, in world axes; F1 takes the
 *  opposite one.  With d = r2 - r1
 *      phi = 0
 *      J.V + b = 0,       V = [v2 - v1 - w1 x d; w2 - w1]     velocity of F2 relative to F1
 *      J.A + gamma = 0,   A = [a2 - a1 - al1 x d; al2 - al1]  (a = dv/dt, al = dw/dt)
 *  Jdot is the time derivative of J (components in world axes, about the moving origin of F2), up to
 *  what the rows themselves span. */
typedef struct lwi_rows {
    double phi[6], J[6][6], b[6], gamma[6], Jdot[6][6];
} lwi_rows;

// Rows whose components in F2 are known (rows.c): of custom joints, and speeds T.V.

/** Motion of F2 relative to F1 in F2-components. */
typedef struct lwi_relative {
    double V[6];    ///< R2'[v2 - v1 - w1 x d; w2 - w1]
    double bias[6]; ///< of dV/dt: the part without accelerations
} lwi_relative;
void lwi_rows_relative(const lwi_rows_in *in, lwi_relative *relative);
/** The row c.V of components c whose derivative is cdot; sets J, and gamma and Jdot unless `relative`
 *  is NULL, not phi and b. */
void lwi_row_component(const lwi_rows_in *in, const lwi_relative *relative, const double c[6],
                       const double cdot[6], lwi_rows *rows, int k);

/** The sign of a joint type in drawings (src/plot/view.c) and in the page of the viewer. */
#define LWI_JOINT_SIGN_LIST(X)                                                                     \
    X(HIDDEN, "hidden")   /* not drawn */                                                          \
    X(CIRCLE, "circle")   /* a rotation */                                                         \
    X(SLIDER, "slider")   /* a rectangle: a translation */                                         \
    X(SLEEVE, "sleeve")   /* a rectangle with a circle: both along one axis */                     \
    X(THREAD, "thread")   /* the same, the circle filled: one determines the other */              \
    X(BALL, "ball")       /* a ring around a disc */                                               \
    X(PLATE, "plate")     /* a flat rectangle */                                                   \
    X(BAR, "bar")         /* a line between two discs */                                           \
    X(SQUARE, "square")   /* rigid */                                                              \
    X(DIAMOND, "diamond") /* defined by the caller */

#define X(name, text) LWI_JOINT_##name,
typedef enum lwi_joint_sign { LWI_JOINT_UNSIGNED, LWI_JOINT_SIGN_LIST(X) } lwi_joint_sign;
#undef X

typedef struct lwi_joint_type {
    const char *name;
    lw_joint_type id;
    lwi_joint_sign sign;
    int axes_drawn; ///< 0; 1: z of F2; 2: z of F1 and x of F2
    bool separates; ///< the two points of the joint move apart: drawings connect them
    int nq, nv, nc;
    bool scalar;        ///< speeds are the derivatives of the coordinates, one by one
    unsigned angles;    ///< bit k: scalar coordinate k is an angle
    bool points;        ///< rows 0 to 2 make the two points meet (lwi_row_points)
    bool constant_axis; ///< one freedom, S constant and invariant under the joint's own motion

    void (*neutral)(const lwi_joint_par *, double *q);
    void (*pose)(const lwi_joint_par *, const double *q, double R[9], double r[3]);
    /** Motion subspace [nv][6]: relative velocity of F2 = sum_j S[j] u[j]. */
    void (*subspace)(const lwi_joint_par *, const double *q, double S[][6]);
    /** Time derivative of its components. */
    void (*subspace_rate)(const lwi_joint_par *, const double *q, const double *u,
                          double Sdot[][6]);
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
    /** The nv coordinates of a scalar type as rows, phi = q: exact derivatives off the joint too; on it
     *  J is the effort's wrench.  NULL where speeds are T.V only. */
    void (*coordinates)(const lwi_joint_par *, const lwi_rows_in *, lwi_rows *);
} lwi_joint_type;

/** The type's table; custom joints get theirs from lwi_joint_custom_type. */
const lwi_joint_type *lwi_joint_type_of(lw_joint_type id);
/** Fills *type for a custom joint (callbacks dispatch through par->custom). */
void lwi_joint_custom_type(const lw_custom_joint *custom, lwi_joint_type *type);

#endif
