// cut_derivatives.h -- derivatives of the constraint rows of cut joints and couplings by coordinates and speeds of the tree.
//
// Problem: of the rows  J v + b = 0  and  J vdot + gamma = 0  by q along the speeds, by v, and of J'lambda by q at
// constant multipliers; also off the constraints.  A row depends on the motion of F2 relative to F1 alone
// (kinematics/row_derivatives.h), so that only speeds between the two bodies of its joint have entries.  With the
// screw S of such a speed, psi, psi2 and drift of tree/derivatives.c, V, A of the frames about the world's origin,
// and e = 1 where the speed moves F2, -1 where it moves F1, in axes of F1
//
//     eta = e S,  dU = e (S x V2 + psi),  dUdot = e (S x A2 + psi x V2 + psi2 - V1 x (S x V2 + psi))       by q
//                 dU = e S,               dUdot = e (S x V2 + drift - V1 x S)                              by v
//
// Input: derivatives of the tree at a state.  Cost: O(length of the loop) a row, its square for J'lambda.
#ifndef LWI_LOOPS_CUT_DERIVATIVES_H
#define LWI_LOOPS_CUT_DERIVATIVES_H

#include "kinematics/row_derivatives.h"
#include "loops/cut.h"
#include "tree/derivatives.h"

/** Rows that depend on the relative motion of the frames of one joint.  A coupling has two such parts. */
typedef struct lwi_row_part {
    int joint;
    int coupling;      ///< index; -1: rows of the joint
    bool of;           ///< of a coupling: its second joint
    bool rotors;       ///< rows of the speeds of rotors on the cut joint
    int first, nrow;   ///< rows of the cut, or rotors
    int column, count; ///< columns: speeds between the bodies, in the lists below
} lwi_row_part;

/** The two frames of a joint: F1 in the world, velocities and accelerations about the world's origin. */
typedef struct lwi_row_sides {
    double R[9], p[3]; ///< F1 -> world, its mount included
    double V1[6];
    double V2[6], A2[6];
    lwi_relative_motion relative;
} lwi_row_sides;

typedef struct lwi_cut_derivatives {
    int npart, nrotor, m, n;
    lwi_row_part *part;            ///< [npart]
    int *speed;                    ///< of all columns: speed of the tree
    signed char *sign;             ///< 1: moves F2, -1: F1
    double (*eta)[6];              ///< of all columns, at the state
    lwi_row_derivatives (*row)[6]; ///< [npart]
    // results, rows of the cut, then of the rotors: [m + nrotor][n]
    double *J;
    double *
        length; ///< [m] of each row in the geometric metric: of forces, and of torques by the mechanism's length
    double *rate_by_q;                 ///< of J v + b
    double *second_by_q, *second_by_v; ///< of J vdot + gamma
    double *rotor_rate;                ///< [nrotor] J vdot + gamma of the rotors
    double *inertia;                   ///< [nrotor]
} lwi_cut_derivatives;

/** @return LW_ERR_UNSUPPORTED for rows of a caller's joint, which is named; LW_ERR_MEMORY */
lw_status lwi_cut_derivatives_create(const lw_model *model, const lwi_cut *cut, lwi_arena *arena,
                                     lwi_cut_derivatives *d, lw_error *error);
/** J and the derivatives of the rows, after lwi_tree_inertial_derivatives at (t, q, v, vdot).
 *  @param work  placed by lwi_cut_place */
void lwi_cut_derivatives_evaluate(const lw_model *model, lwi_cut_derivatives *d,
                                  const lwi_tree_derivatives *tree, const lwi_tree_work *work,
                                  double t);
/** The frames of a joint; `work` is placed and `screws` are evaluated at time t. */
void lwi_row_sides_place(const lw_model *model, const lwi_screws *screws, const lwi_tree_work *work,
                         const lwi_joint *joint, double t, lwi_row_sides *s);
/** by_q [n][n] += scale d(J'lambda)/dq, lambda [m]. */
void lwi_cut_derivatives_multipliers(const lwi_cut_derivatives *d, const lwi_tree_derivatives *tree,
                                     double scale, const double *lambda, double *by_q);
/** Adds what rotors on cut joints, u = s'v + b, contribute to the effort M vdot + h and its derivatives: I s du/dt.
 *  @param effort  [n] */
void lwi_cut_derivatives_rotors(const lwi_cut_derivatives *d, const lwi_tree_derivatives *tree,
                                double *by_q, double *by_v, double *M, double *effort);

#endif
