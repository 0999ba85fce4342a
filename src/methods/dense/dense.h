// dense.h -- all bodies in absolute coordinates, all joints as constraint equations.
//
// The second, independent route: it shares with the recursive formulations the model, the forces
// and the vectors, and neither the tree nor the joint types' rows.  rows.c writes the
// equations of one joint, system.c those of a mechanism, dense.c solves them.
//
// Motion of a mechanism: per moving body that is not merged, velocity of the mass centre in world
// axes and angular velocity in body axes, nbodies = 6 * (moving bodies); then the speed of each rotor,
// n = nbodies + rotors, which a row holds to the speed of its joint's coordinate.
#ifndef LWI_METHODS_DENSE_DENSE_H
#define LWI_METHODS_DENSE_DENSE_H

#include "base/linear.h"
#include "kinematics/auxiliary.h"

/** A pivot of the rows, each scaled to length one, counts as a new direction above this.
 *
 *  The pivots are about the sines of the angles between a row and the rows before it.  Redundant
 *  rows make that angle as large as positions are off their constraints: 1e-16 when a model is
 *  exact, 1e-6 at most when it is read from a file with few digits (lw_model_create refuses more).
 *  Independent rows of mechanisms that work make angles of 0.1 to 1.  A decade either way changes
 *  nothing (tests/methods/dense/test_dense.c). */
#define LWI_DENSE_RANK 1e-5

/** A joint frame in world axes; F1 already moved by its mount. */
typedef struct lwi_dense_frame {
    double R[9];          ///< frame -> world
    double axis[3][3];    ///< x, y, z: the columns of R
    double p[3];          ///< origin
    double arm[3];        ///< origin from the body's mass centre
    double v[3], w[3];    ///< velocity of the origin, angular velocity
    double a[6];          ///< acceleration of the frame when the body has none: centripetal, mount
    double prescribed[6]; ///< the mount's part of v, w
} lwi_dense_frame;

/** A function s of the two frames, with its derivatives in time:
 *      sdot  = J1 V1 + J2 V2 + own,   sddot = J1 A1 + J2 A2 + bias
 *  V = [velocity of the origin; angular velocity], A its derivative, world axes. */
typedef struct lwi_dense_scalar {
    double value, rate, bias, own, J1[6], J2[6];
} lwi_dense_scalar;

/** The type's constraint equations s = 0; returns how many.
 *  @param q       coordinates of the joint (angles continuous; what `near` is for custom types)
 *  @param length  distance: length and two derivatives */
int lwi_dense_joint_rows(const lwi_joint *joint, const lwi_dense_frame *f1,
                         const lwi_dense_frame *f2, const double *q, const double length[3],
                         lwi_dense_scalar *row);
/** The joint's speeds as scalars: rate is the speed; value is the coordinate where the type is
 *  scalar.
 *  @param q  in: near; out: coordinates.  Quaternions of standard types are the caller's: not
 *            touched */
void lwi_dense_joint_speeds(const lwi_joint *joint, const lwi_dense_frame *f1,
                            const lwi_dense_frame *f2, double *q, lwi_dense_scalar *speed);

/** One body's block of the metric: K = diag(lin^2 1, ang ang'), ang lower triangular. */
typedef struct lwi_dense_weight {
    double lin, ang[9];
} lwi_dense_weight;

/** The constraint equations of a mechanism at one instant. */
typedef struct lwi_dense {
    const lw_model *model;
    int nbody, n, m; ///< moving bodies, 6 nbody + nrotor, constraint equations with those of rotors
    int nrotor;      ///< rotors on free coordinates; their rows are the last
    int *rotor;      ///< [nrotor] joint of each, and
    int *rotor_speed;     ///< [nrotor] its speed among those of all joints
    double *rotor_weight; ///< [nrotor] root of its weight in the metric
    int *body, *slot;     ///< [nbody] their indices; [model nbody] the way back, -1 for others
    int *first;           ///< [njoint + 1] first row of each joint; couplings come after the last
    double length;        ///< of the mechanism [m]: unit between displacements and angles
    // motion, of all bodies of the model, world axes; written by the caller for moving ones
    double (*quat)[4], (*r)[3], (*v)[3], (*w)[3];
    double (*R)[9];                  ///< by lwi_dense_place
    double *q, *qd;                  ///< joint arrays; q is read as `near`
    lwi_dense_frame (*frame)[2];     ///< [njoint]
    lwi_dense_scalar *speed;         ///< [model nv]
    double (*quat1)[4], (*quat2)[4]; ///< [njoint] joint frames on their bodies
    double *sign;                    ///< [njoint] of the joint's quaternion
    // rows: sdot = J V + b, sddot = J Vdot + gamma
    double *phi, *rate, *gamma, *b; ///< [m]
    double *J;                      ///< [m][n]; after lwi_dense_scale: unit rows in the metric
    double (*J1)[6], (*J2)[6];      ///< [m] on the frames of the row's joint
    double *len;                    ///< [m] lengths of the rows in the metric
    lwi_dense_weight *weight;       ///< [nbody]
    lwi_cod cod;                    ///< of the scaled rows; its matrix is J
} lwi_dense;

/** Memory for everything; the metric is the geometric one. */
lw_status lwi_dense_create(const lw_model *model, lwi_arena *arena, lwi_dense *dense);
/** The model's start: motion and coordinates. */
void lwi_dense_start(lwi_dense *dense);
/** Merged bodies, joint frames, speeds and coordinates from the motion. */
void lwi_dense_place(lwi_dense *dense, double t);
/** Signs of joint quaternions as in q; after lwi_dense_place.  (q and -q are one attitude.) */
void lwi_dense_match(lwi_dense *dense, const double *q);
/** The rows; after lwi_dense_place. */
void lwi_dense_equations(lwi_dense *dense, double t);
/** J := rows of J K^-1/2, each of length one; len keeps the lengths. */
void lwi_dense_scale(lwi_dense *dense);
/** x [n] := K^-1/2 x: forces to the metric's coordinates; and back, motions: K'^-1/2 x. */
void lwi_dense_to_metric(const lwi_dense *dense, double *x);
void lwi_dense_from_metric(const lwi_dense *dense, double *x);
/** Displaces the moving bodies by x [n] (world, body axes). */
void lwi_dense_move(lwi_dense *dense, const double *x);
/** K = identity for displacements, length^2 for rotations: rank is a matter of geometry. */
void lwi_dense_geometric(lwi_dense *dense);

typedef struct lwi_dense_ranks {
    int start;   ///< independent rows at the start
    int generic; ///< the most found at the start and nearby
} lwi_dense_ranks;
/** Rank at the start and at a few configurations near it on the constraints, reached along the
 *  freedoms.  Leaves motion and metric changed: call lwi_dense_start after it.
 *  @param threshold  LWI_DENSE_RANK       @param x  scratch [n] */
lwi_dense_ranks lwi_dense_rank(lwi_dense *dense, double threshold, double *x);

// ----------------------------------------------------------------- the formulation (solve.c)

/** The formulation at work. */
typedef struct lwi_dense_work {
    lwi_dense s;
    int rank, dof;           ///< dof = n - rank
    int at_speed;            ///< in x
    lwi_auxiliary auxiliary; ///< of all joints
    lwi_loads loads;
    double *y, *lambda;         ///< [n], [m] out: Vdot, multipliers in the rows' units
    double *null;               ///< [m - rank][m]
    int nsingular;              ///< bodies whose own inertia is singular
    double *mass_excess;        ///< [nbody] kg
    double *inertia_excess;     ///< [nbody] kg m^2 about every axis
    double *W, *B, *z, *y0, *e; ///< [dof][n], [dof][dof], [dof], [n], [n] where nlight > 0
} lwi_dense_work;

/** The metric of the masses, with excess where a body's own inertia is singular. */
void lwi_dense_weigh(lwi_dense_work *d);
/** Fails naming the joint or coupling that row i belongs to. */
lw_status lwi_dense_row_fails(lwi_work *work, int i, double t, lw_status status, const char *what,
                              double value);
/** Scales the rows and decomposes them at the rank of the run.
 *  @return LW_ERR_SINGULAR naming a joint */
lw_status lwi_dense_factor(lwi_work *work, double t);
/** Rows, forces, accelerations y and multipliers lambda at the motion placed last.
 *  lambda has minimum norm in rows of length one. */
lw_status lwi_dense_solve(lwi_work *work, double t, const double *inputs);
/** Power of dampers, signals and wrenches, drives and mounts; after lwi_dense_solve. */
double lwi_dense_power(const lwi_dense_work *d);

#endif
