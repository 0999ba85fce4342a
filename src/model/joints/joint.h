// joint.h -- the descriptor of a joint type: one file per type, one row in LW_JOINT_LIST.
//
// Everything that depends on the type of a joint is stated here or follows from what is stated here, so that
// a new type needs its own file and its row in the list only.  `motion`, `row`, `coordinate`, `sign` and
// `names` are declarative: kernels, the dense path, index3, generated code, drawings and file formats read
// them and do their own arithmetic.
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

// Rows with known components in F2 (rows.c): of custom joints, and speeds T.V.

/** Motion of F2 relative to F1 in F2-components. */
typedef struct lwi_relative {
    double V[6];    ///< R2'[v2 - v1 - w1 x d; w2 - w1]
    double bias[6]; ///< of dV/dt: the part without accelerations
} lwi_relative;
void lwi_rows_relative(const lwi_rows_in *in, lwi_relative *relative);
/** The row c.V of components c with the derivative cdot; sets J, and gamma and Jdot unless `relative`
 *  is NULL, not phi and b. */
void lwi_row_component(const lwi_rows_in *in, const lwi_relative *relative, const double c[6],
                       const double cdot[6], lwi_rows *rows, int k);

// ---- declarative facts

enum { LWI_X, LWI_Y, LWI_Z }; ///< axes of a joint frame

typedef enum lwi_factor_kind {
    LWI_FACTOR_TURN = 1, ///< rotation about `axis`, one angle
    LWI_FACTOR_SLIDE,    ///< displacement along `axis`, one length
    LWI_FACTOR_SCREW, ///< rotation about `axis` and a displacement of par->pitch per radian along it
    LWI_FACTOR_PLACE, ///< displacement, three coordinates in F1 axes; speeds: velocity in F2 axes
    LWI_FACTOR_BALL   ///< rotation, unit quaternion; speeds: angular velocity in F2 axes
} lwi_factor_kind;

/** An elementary motion.  The pose of F2 in F1 is the product of those of its type, in their order. */
typedef struct lwi_joint_factor {
    lwi_factor_kind kind;
    signed char axis;       ///< of the motion, in the frame that the factors before it give
    signed char coordinate; ///< the first it has
} lwi_joint_factor;

typedef enum lwi_row_kind {
    LWI_ROW_POINT = 1, ///< axis i of F1 . d; three rows make the points meet
    LWI_ROW_ALONG,     ///< axis i of F1 . d
    LWI_ROW_AXES,      ///< axis i of F1 . axis j of F2
    LWI_ROW_ATTITUDE, ///< rotation of F2 against F1 about axis i; three rows make the frames parallel
    LWI_ROW_THREAD,   ///< axis z of F1 . d - pitch * (angle about it)
    LWI_ROW_LENGTH,   ///< |d| - length
    LWI_ROW_CALLBACK ///< of a caller's joint
} lwi_row_kind;

/** What one constraint row keeps zero; d = r2 - r1. */
typedef struct lwi_row_form {
    lwi_row_kind kind;
    signed char i, j;
} lwi_row_form;

typedef enum lwi_coordinate_kind {
    LWI_COORDINATE_LENGTH = 1, ///< axis i of F1 . d
    LWI_COORDINATE_TURN,       ///< the angle from F1 to F2 about z, for R = Rz(angle) or near it
    LWI_COORDINATE_ARC         ///< atan2(axis k of F1 . axis l of F2, axis i of F1 . axis j of F2)
} lwi_coordinate_kind;

/** A scalar coordinate as a function of the two frames. */
typedef struct lwi_coordinate_form {
    lwi_coordinate_kind kind;
    signed char i, j, k, l;
} lwi_coordinate_form;

/** The sign of a joint type in drawings (src/plot/view.c) and in the page of the viewer. */
#define LWI_JOINT_SIGN_LIST(X)                                                                     \
    X(HIDDEN, "hidden")   /* not drawn */                                                          \
    X(CIRCLE, "circle")   /* a rotation */                                                         \
    X(SLIDER, "slider")   /* a rectangle along the first axis: a translation */                    \
    X(SLEEVE, "sleeve")   /* a rectangle with a circle: a translation and a rotation */            \
    X(THREAD, "thread")   /* the same, the circle filled: one determines the other */              \
    X(BALL, "ball")       /* a ring around a disc */                                               \
    X(PLATE, "plate")     /* a flat rectangle across the first axis */                             \
    X(BAR, "bar")         /* a line between two discs */                                           \
    X(SQUARE, "square")   /* rigid */                                                              \
    X(DIAMOND, "diamond") /* defined by the caller */

#define X(name, text) LWI_JOINT_##name,
typedef enum lwi_joint_sign { LWI_JOINT_UNSIGNED, LWI_JOINT_SIGN_LIST(X) } lwi_joint_sign;
#undef X

/** An axis that drawings show. */
typedef struct lwi_joint_axis {
    signed char frame; ///< 1, 2: of F1, F2; 0: none
    signed char axis;
    bool slides; ///< it is the direction of a displacement, else of a rotation
} lwi_joint_axis;

/** Formats with names for joint types. */
typedef enum lwi_joint_format {
    LWI_NAMES_URDF,
    LWI_NAMES_URDF_LOOP, ///< of <loop_joint> and of the extra file of a robot
    LWI_NAMES_SDF,
    LWI_NAMES_MJCF,
    LWI_NAMES_FORMATS
} lwi_joint_format;
enum { LWI_MAX_NAMES = 4 };

typedef struct lwi_joint_type {
    const char *name;
    lw_joint_type id;
    int nq, nv, nc;
    bool scalar;        ///< speeds are the derivatives of the coordinates, one by one
    unsigned angles;    ///< bit k: scalar coordinate k is an angle
    bool points;        ///< rows 0 to 2 are LWI_ROW_POINT
    bool constant_axis; ///< one speed, S constant and invariant under the joint's own motion
    bool callbacks;     ///< of a caller's joint: what depends on coordinates is not known
    bool loop_only;     ///< has no coordinates that place F2: always closes a loop
    bool has_pitch;     ///< par->pitch counts
    bool has_length;    ///< par->length and the function of the length count
    const char *axis2;  ///< what `axis2` is where it must be given; NULL: any direction across z1

    int nfactor; ///< -1: the pose is not a product
    lwi_joint_factor factor[3];
    int quaternion; ///< first coordinate of the unit quaternion; -1: none
    lwi_row_form row[6];
    lwi_coordinate_form coordinate[6]; ///< [nv] of scalar types; kind 0: not known
    int cut_cost;                      ///< cost as a cut joint in addition to its rows
    lwi_joint_sign sign;
    bool separates; ///< the two points of the joint move apart: drawings connect them
    lwi_joint_axis drawn[2];
    const char *names[LWI_NAMES_FORMATS][LWI_MAX_NAMES]; ///< unused ones NULL

    // ---- arithmetic; none is NULL unless it says so
    void (*neutral)(const lwi_joint_par *, double *q);
    void (*pose)(const lwi_joint_par *, const double *q, double R[9],
                 double r[3]); ///< NULL: loop_only
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
    /** Constrained directions [nc][6], orthonormal, S[i].D[j] = 0.  NULL: loop_only. */
    void (*complement)(const lwi_joint_par *, const double *q, double D[][6]);
    /** The rows where `row` does not give them (THREAD, LENGTH, CALLBACK), else NULL. */
    void (*rows)(const lwi_joint_par *, const lwi_rows_in *, lwi_rows *);
} lwi_joint_type;

/** All rows are components of d or of an axis of F2 along axes of F1. */
bool lwi_joint_has_simple_rows(const lwi_joint_type *type);
/** The nc rows of a joint. */
void lwi_joint_rows(const lwi_joint_type *type, const lwi_joint_par *par, const lwi_rows_in *in,
                    lwi_rows *out);
/** The nv coordinates of a scalar type as rows, phi = q: exact derivatives off the joint too; on it J is the
 *  effort's wrench.  false: the type states none, speeds are T.V only. */
bool lwi_joint_coordinate_rows(const lwi_joint_type *type, const lwi_rows_in *in, lwi_rows *out);

/** The type that a format calls so; NULL: it has none.  *name: the text in the descriptor. */
const lwi_joint_type *lwi_joint_named(lwi_joint_format format, const char *text, const char **name);
/** All names that a format has, in the order of the types; [LW_JOINT_COUNT * LWI_MAX_NAMES].  How many. */
int lwi_joint_known_names(lwi_joint_format format, const char **names);

/** Is its direction one axis, z1? */
static inline bool lwi_joint_has_axis(const lwi_joint_type *type)
{
    return type->scalar && type->nv > 0 && !type->axis2;
}
/** One rotation about z1. */
static inline bool lwi_joint_is_hinge(const lwi_joint_type *type)
{
    return type->nfactor == 1 && type->factor[0].kind == LWI_FACTOR_TURN;
}
/** Six degrees of freedom: position and quaternion. */
static inline bool lwi_joint_is_free(const lwi_joint_type *type)
{
    return type->nfactor == 2 && type->factor[0].kind == LWI_FACTOR_PLACE;
}
/** Three degrees of freedom: a quaternion alone. */
static inline bool lwi_joint_is_ball(const lwi_joint_type *type)
{
    return type->nfactor == 1 && type->factor[0].kind == LWI_FACTOR_BALL;
}

/** Two rotations: about z1, then about x2. */
static inline bool lwi_joint_is_universal(const lwi_joint_type *type)
{
    return type->nfactor == 2 && type->factor[0].kind == LWI_FACTOR_TURN &&
           type->factor[1].kind == LWI_FACTOR_TURN;
}

/** No degree of freedom. */
static inline bool lwi_joint_is_rigid(const lwi_joint_type *type)
{
    return type->nfactor == 0;
}

/** The type's table; custom joints get theirs from lwi_joint_custom_type. */
const lwi_joint_type *lwi_joint_type_of(lw_joint_type id);
/** Fills *type for a custom joint (callbacks dispatch through par->custom). */
void lwi_joint_custom_type(const lw_custom_joint *custom, lwi_joint_type *type);

#endif
