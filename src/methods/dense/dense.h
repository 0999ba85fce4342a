// dense.h -- all bodies in absolute coordinates, all joints as constraint equations.
//
// The second, independent route: it shares the model, the forces and the vector algebra with the recursive
// formulations, but neither the tree nor the rows of the joint types.  rows.c has the equations of one joint,
// system.c those of a mechanism, dense.c and solve.c the formulation.
//
// Motion of a mechanism: for every moving body that is not merged the velocity of the mass centre in world
// axes and the angular velocity in body axes, 6 * nbody numbers; then the speed of each rotor, made equal to
// the speed of its joint's coordinate by a row: n = 6 * nbody + nrotor.
#ifndef LWI_METHODS_DENSE_DENSE_H
#define LWI_METHODS_DENSE_DENSE_H

#include "base/assert.h"
#include "base/linear.h"
#include "kinematics/auxiliary.h"

/** A pivot of the rows, each scaled to length one, counts as a new direction above this.
 *
 *  Pivots are about the sines of the angles between a row and the rows before it.  Redundant rows make that
 *  angle as large as positions are off their constraints: 1e-16 for an exact model, at most 1e-6 for one read
 *  from a file with few digits (lw_model_create refuses more).  Independent rows of ordinary mechanisms make
 *  angles of 0.1 to 1.  A decade either way changes nothing (tests/methods/dense/test_dense.c). */
#define LWI_DENSE_RANK 1e-5

/** A joint frame in world axes; F1 includes the motion of its mount. */
typedef struct lwi_dense_frame {
    double R[9];       ///< rotation, frame to world
    double axis[3][3]; ///< x, y, z: the columns of R
    double p[3];       ///< origin
    double arm[3];     ///< origin from the body's mass centre
    double v[3], w[3]; ///< velocity of the origin, angular velocity
    double a[6]; ///< acceleration of the frame at zero acceleration of the body: centripetal, mount
    double prescribed[6]; ///< contribution of the mount to v, w
} lwi_dense_frame;

/** A function s of the two frames, with its time derivatives:
 *      sdot  = J1 V1 + J2 V2 + own,   sddot = J1 A1 + J2 A2 + bias
 *  V = [velocity of the origin; angular velocity], A its derivative, world axes. */
typedef struct lwi_dense_scalar {
    double value, rate, bias, own, J1[6], J2[6];
} lwi_dense_scalar;

/** The constraint equations s = 0 of the joint type; returns how many.
 *  @param q       coordinates of the joint (angles continuous)
 *  @param length  [3] of a distance joint: length and two time derivatives
 *  @param row     out */
int lwi_dense_joint_rows(const lwi_joint *joint, const lwi_dense_frame *f1,
                         const lwi_dense_frame *f2, const double *q, const double length[3],
                         lwi_dense_scalar *row);
/** The joint's speeds as functions: rate is the speed; value is the coordinate if the type has scalar
 *  coordinates.
 *  @param q  in: values to continue angles from; out: coordinates, except quaternions of standard types */
void lwi_dense_joint_speeds(const lwi_joint *joint, const lwi_dense_frame *f1,
                            const lwi_dense_frame *f2, double *q, lwi_dense_scalar *speed);

/** Block of the metric of one body: K = diag(lin^2 1, ang ang'), ang lower triangular. */
typedef struct lwi_dense_weight {
    double lin, ang[9];
} lwi_dense_weight;

/** The constraint equations of a mechanism at one instant. */
typedef struct lwi_dense {
    const lw_model *model;
    int nbody, n,
        m;      ///< moving bodies; 6 nbody + nrotor; constraint equations, those of rotors included
    int nrotor; ///< rotors on free coordinates; their rows come last
    int *rotor; ///< [nrotor] joint of each
    int *rotor_speed;     ///< [nrotor] index of its speed among those of all joints
    double *rotor_weight; ///< [nrotor] square root of its weight in the metric
    int *body,
        *slot;     ///< [nbody] index in the model; [model nbody] index here, -1: not a moving body
    int *first;    ///< [njoint + 1] first row of each joint; couplings come after the last
    double length; ///< length of the mechanism [m]: unit between translations and rotations
    // motion of all bodies of the model, world axes; moving bodies are written by the caller
    double (*quat)[4], (*r)[3], (*v)[3], (*w)[3];
    double (*R)[9]; ///< by lwi_dense_place
    double *q, *qd; ///< joint arrays; q also holds the values that angles continue from
    lwi_dense_frame (*frame)[2];     ///< [njoint]
    lwi_dense_scalar *speed;         ///< [model nv]
    double (*quat1)[4], (*quat2)[4]; ///< [njoint] joint frames on their bodies
    double *sign;                    ///< [njoint] sign of the joint's quaternion
    // rows: sdot = J V + b, sddot = J Vdot + gamma
    double *phi, *rate, *gamma, *b; ///< [m]
    double *J;                 ///< [m][n]; after lwi_dense_scale: rows of unit length in the metric
    double (*J1)[6], (*J2)[6]; ///< [m] derivatives by the frames of the row's joint
    double *len;               ///< [m] lengths of the rows in the metric
    lwi_dense_weight *weight;  ///< [nbody]
    lwi_cod cod;               ///< decomposition of the scaled rows; its matrix is J
} lwi_dense;

/** Allocates everything; the metric is the geometric one.
 *  @return LW_ERR_MEMORY */
lw_status lwi_dense_create(const lw_model *model, lwi_arena *arena, lwi_dense *dense);
/** Motion and coordinates of the model's start. */
void lwi_dense_start(lwi_dense *dense);
/** Computes merged bodies, joint frames, speeds and coordinates from the motion. */
void lwi_dense_place(lwi_dense *dense, double t);
/** Chooses the signs of joint quaternions as in q (q and -q are one attitude); after lwi_dense_place. */
void lwi_dense_match(lwi_dense *dense, const double *q);
/** Computes the rows; after lwi_dense_place. */
void lwi_dense_equations(lwi_dense *dense, double t);
/** J := rows of J K^-1/2, each scaled to length one; len keeps the lengths. */
void lwi_dense_scale(lwi_dense *dense);
/** x [n] := K^-1/2 x: forces to the coordinates of the metric; and motions back: K'^-1/2 x. */
void lwi_dense_to_metric(const lwi_dense *dense, double *x);
void lwi_dense_from_metric(const lwi_dense *dense, double *x);
/** Displaces the moving bodies by x [n] (world, body axes). */
void lwi_dense_move(lwi_dense *dense, const double *x);
/** Geometric metric: K = identity for translations, length^2 for rotations, so that rank depends on geometry
 *  only. */
void lwi_dense_geometric(lwi_dense *dense);

typedef struct lwi_dense_ranks {
    int start;   ///< rank at the start
    int generic; ///< largest rank at the start and nearby
} lwi_dense_ranks;
/** Ranks at the start and at a few configurations near it on the constraints, reached along the degrees of
 *  freedom.  Changes motion and metric: call lwi_dense_start afterwards. */
lwi_dense_ranks lwi_dense_rank(lwi_dense *dense, double threshold, double *x);

// ----------------------------------------------------------------- the formulation (solve.c)

/** State of the formulation. */
typedef struct lwi_dense_work {
    lwi_dense s;
    int rank, dof;           ///< dof = n - rank
    int at_speed;            ///< in x
    lwi_auxiliary auxiliary; ///< auxiliary states of all joints
    lwi_loads loads;
    double *y, *lambda;         ///< [n], [m] out: Vdot, multipliers in the units of the rows
    double *b_before;           ///< [m] scratch of lwi_dense_impact
    double *null;               ///< [m - rank][m]
    int nsingular;              ///< bodies with singular inertia
    double *mass_excess;        ///< [nbody] kg
    double *inertia_excess;     ///< [nbody] kg m^2 about every axis
    double *W, *B, *z, *y0, *e; ///< [dof][n], [dof][dof], [dof], [n], [n] where nlight > 0
} lwi_dense_work;

/** Mass metric, with excess for bodies with singular inertia. */
void lwi_dense_weigh(lwi_dense_work *d);
/** Fails, naming the joint or coupling of row i. */
lw_status lwi_dense_row_fails(lwi_work *work, int i, double t, lw_status status, const char *what,
                              double value);
/** Scales the rows and decomposes them at the generic rank. */
lw_status lwi_dense_factor(lwi_work *work, double t);
/** Rows, forces, accelerations y and multipliers lambda at the current motion (lwi_dense_place). lambda has
 *  minimum norm in rows of length one.
 *  @return LW_ERR_SINGULAR naming a joint or body; LW_ERR_NOT_FINITE naming a body */
lw_status lwi_dense_solve(lwi_work *work, double t, const double *inputs);
/** The same for impulses: y := the jump of the velocities that puts the rates of the rows to zero, lambda: reaction
 *  impulses.
 *  @param impulse  wrench [nbody] about mass centres, of merged bodies moved to their body; effort [model nv] */
lw_status lwi_dense_solve_impulse(lwi_work *work, double t, const lwi_loads *impulse);
/** As lwi_system_impact, also for bodies without mass or inertia; O(n^3).  `work` is one of this formulation. */
lw_status lwi_dense_impact(lwi_work *work, const lwi_snapshot *before, double t_before,
                           const lwi_loads *impulse, lwi_snapshot *after, double *work_of_drives);
/** Power [W] of dampers, signals and wrenches, drives and mounts; after lwi_dense_solve. */
double lwi_dense_power(const lwi_dense_work *d);

#endif
