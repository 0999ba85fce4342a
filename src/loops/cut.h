// cut.h -- cut joints and couplings as constraint rows in the speeds of the spanning tree.
//
// The traditional treatment of loops [anderson2003, section 2]: joints are cut until a tree is left.
// The cut joints and the couplings give the m constraint rows of kinematics/closure.h,
//     phi = 0,   J V + b = 0,   J A + gamma = 0
// between the bodies of the tree with the velocities V = W u + ..., u the n speeds.
// With the tree's mass matrix M = N N' (articulated.h) a multiplier vector lambda accelerates the tree by
//     vdot = N'^-1 E' lambda,   E = J W N'^-1,   J M^-1 J' = E E'      [anderson2003, (13), (28)-(32)]
// E is the m x n matrix of the scaled columns zeta.  One inward sweep computes a row of E, one outward sweep
// applies N'^-1: O(n) each, O(n m) for all rows.  A complete orthogonal decomposition of E' at the
// generic rank solves for the multipliers in O(n m^2); the rows may be redundant.
//
// The rotor of a cut joint has a speed that a row sets equal to that of its coordinate.  It adds one
// entry to E and to y, -1/sqrt(I) in its row.  (The rotor of a joint of the tree is part of N.)
//
// Only the rows of the joints are shared with src/elimination and with the formulation `dense`.
#ifndef LWI_LOOPS_CUT_H
#define LWI_LOOPS_CUT_H

#include "base/linear.h"
#include "tree/aba.h"
#include "kinematics/closure.h"

/** When the generic rank is determined, a pivot counts as a new direction above this part of the largest one.
 *
 *  Pivots are close to the sines of the angles between rows (geometric metric).  The angles between redundant
 *  rows are as large as the position error, at most 1e-6 (LWI_CLOSURE_TOLERANCE); between independent rows
 *  of working mechanisms they are 0.1 to 1.  A factor of 10 in either direction changes no rank
 *  (tests/methods/lagrange/test_lagrange.c). */
#define LWI_CUT_RANK 1e-5

/** Rows of a closure that go inward together. */
enum { LWI_CUT_ROWS = 4 };

typedef struct lwi_cut {
    const lw_model *model;
    int count;  ///< cut joints, then couplings
    int m, n;   ///< rows; speeds of the tree, then of the rotors of cut joints
    int nrotor; ///< rotors of cut joints, in the order of their rows; 0 unless created with them
    int *rotor_row; ///< [nrotor] row of each; the last rows of its joint
    double *
        rotor_scale; ///< [nrotor] inertia^-1/2 [kg, kg m^2]; while ranks are determined: dimensionless
    int *first;      ///< [count + 1] first row of each
    lwi_closure *closure; ///< [count]
    double *phi, *rate;   ///< [m] position residuals; velocity residuals J V + b
    double *b, *gamma;    ///< [m]
    double *len;          ///< [m] length of each row in the geometric metric of the bodies
    double length; ///< characteristic length of the mechanism [m], between displacements and angles
    lwi_cod cod;   ///< of E' [n][m], columns divided by len
    double *y, *lambda;                 ///< [n], [m]
    double (*inward)[6 * LWI_CUT_ROWS]; ///< [nnode] wrenches of rows at the nodes, scratch
    double (*transmitted)[6]; ///< [nnode] wrenches or motions of the nodes, scratch of the sweeps
    bool *reached;            ///< [nnode] scratch: the wrench of the node is not zero
    double (*wrench)[6]; ///< [nbody] scratch: wrenches of the efforts of cut joints, world axes
    double (*a)[3],
        (*al)
            [3]; ///< [nbody] linear accelerations of mass centres, angular accelerations; world axes
    bool
        closed; ///< speeds and accelerations satisfy the rows: those of hinges are read about one axis
    int rank;         ///< generic rank: the largest at the start and at configurations near it
    double *no_rotor; ///< [tree_nv] zeros
    bool *at_rest;    ///< [model nloop] of lwi_cut_use_axes_at_rest; NULL: none
} lwi_cut;

/** Memory for the rows, not for their decomposition. @return LW_ERR_MEMORY */
lw_status lwi_cut_create_rows(const lw_model *model, lwi_arena *arena, lwi_cut *cut);
/** As lwi_cut_create_rows, with the rows of the rotors of cut joints after those of their joints. */
lw_status lwi_cut_create_rows_rotors(const lw_model *model, lwi_arena *arena, lwi_cut *cut);
/** Rows of points that meet, of loops with the ground as base, along axes at rest in place of those of body 1.  Then
 *  forces act on each body at its own point: at a distance d of the points, within the errors of a step, those of body 1
 *  would have the couple d x f on it, which is a large acceleration of a small ball.  The ground takes that couple; the rows of
 *  other loops stay, where forces would not balance.  At levels up to POSITION, and in lwi_cut_gamma_at_rest.
 *  @param hinges  also of hinges
 *  @return LW_ERR_MEMORY */
lw_status lwi_cut_use_axes_at_rest(lwi_cut *cut, bool hinges, lwi_arena *arena);
/** gamma of those rows, at velocities that satisfy them. */
void lwi_cut_gamma_at_rest(lwi_cut *cut, const lwi_tree_work *tree);
/** Memory for rows and decomposition; determines the generic rank from the model's start and a few
 *  configurations near it.
 *  @param threshold   of pivots, LWI_CUT_RANK
 *  @param tree, node  workspaces; node [nnode]; overwritten
 *  @return LW_ERR_MEMORY, or the error of the tree's evaluation at the start */
lw_status lwi_cut_create(const lw_model *model, double threshold, lwi_arena *arena,
                         lwi_tree_work *tree, lwi_articulated *node, lwi_cut *cut, lw_error *error);

/** Positions, velocities, world poses, coordinates and speeds of all joints at (t, q [tree_nq], v [tree_nv]).
 *  Angles of cut joints take the winding number that is nearest to the value in tree->joint_q. */
void lwi_cut_place(lwi_cut *cut, lwi_tree_work *tree, double t, const double *q, const double *v);
/** The same without coordinates and speeds of cut joints. */
void lwi_cut_place_tree(const lw_model *model, lwi_tree_work *tree, double t, const double *q,
                        const double *v);
/** Coordinates of the cut joints from the poses, with winding numbers as lwi_cut_place; their speeds too unless
 *  `place_only`. */
void lwi_cut_read(const lwi_cut *cut, lwi_tree_work *tree, double t, bool place_only);
/** Applies the model's forces, those on cut joints included; after lwi_cut_place.
 *  @return power of the efforts of cut joints across their moving frame mounts [W] */
double lwi_cut_loads(lwi_cut *cut, lwi_tree_work *tree, double t, const double *v,
                     const double *inputs);
/** Evaluates the rows up to `level`; after lwi_cut_place. */
void lwi_cut_rows(lwi_cut *cut, const lwi_tree_work *tree, double t, lwi_closure_level level);
/** The factors N of the tree's mass matrix: U and L of all nodes.
 *  @param node   [nnode] M: in: inertia of each body; out: articulated inertia
 *  @param rotor  [tree_nv] rotor inertias
 *  @return LW_ERR_SINGULAR, LW_ERR_NOT_FINITE naming the joint */
lw_status lwi_cut_factor_tree(const lw_model *model, lwi_tree_work *tree, lwi_articulated *node,
                              double t, const double *rotor, lw_error *error);
/** E and its decomposition with the factors in `node`.
 *  @param rank  fixed rank; negative: pivots below `threshold` end the decomposition */
void lwi_cut_factor(lwi_cut *cut, const lwi_tree_work *tree, lwi_articulated *node, int rank,
                    double threshold);
/** The largest |phi| of all rows; needs poses only. */
double lwi_cut_gap(const lwi_cut *cut, const lwi_tree_work *tree, double t);
/** y [n] := minimum-norm solution of E y = target [m]; cut->lambda := multipliers with y = E' lambda, of minimum
 *  norm in rows of length one.  Overwrites target. */
void lwi_cut_solve(lwi_cut *cut, double *target);
/** v [tree_nv] += N'^-1 y [n]; cut->transmitted := the motions of the nodes due to N'^-1 y alone. */
void lwi_cut_apply(const lwi_cut *cut, const lwi_tree_work *tree, lwi_articulated *node,
                   const double *y, double *v);
/** Body accelerations in cut->a, al from tree->A, and J A [m] without gamma.  @param JA  NULL: not
 *  needed */
void lwi_cut_accelerations(lwi_cut *cut, const lwi_tree_work *tree, double *JA);
/** wrench [nnode] (link axes, about link origins) += J' lambda. */
void lwi_cut_wrenches(const lwi_cut *cut, const lwi_tree_work *tree, const double *lambda,
                      double (*wrench)[6]);
/** wrench (node k, link axes, link origin) += scale * world (world axes, mass centre). */
void lwi_cut_add_wrench(const lw_model *model, const lwi_tree_work *tree, int k, double scale,
                        const double world[6], double wrench[6]);
/** Joint of row i, or -1 - index of its coupling. */
int lwi_cut_row_owner(const lwi_cut *cut, int i);
/** View of the body and joint motions in the tree's workspace. */
lwi_motion lwi_cut_motion(const lwi_tree_work *tree);

#endif
