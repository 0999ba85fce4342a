// cut.h -- the joints outside the tree as constraint equations of the tree's speeds.
//
// The traditional treatment of loops [anderson2003, section 2]: joints are cut until a tree is
// left; the cut joints and the couplings are rows
//     phi = 0,   J V + b = 0,   J A + gamma = 0
// of kinematics/closure.h between bodies of the tree.  With M the tree's mass matrix, V = W u + ... and
// the factors of one articulated-body recursion M = N N', a wrench J' lambda on the bodies answers
//     vdot = N'^-1 E' lambda,   E = J W N'^-1,   J M^-1 J' = E E'
// One inward sweep makes a row of E, one outward sweep applies N'^-1: O(n) each, O(n m) for all
// rows. A complete orthogonal decomposition of E' at a fixed rank solves for the multipliers, O(n
// m^2); rows may be redundant.
//
// A rotor on a cut joint is a speed of its own that a row holds to that of its coordinate, one more
// entry of E and of y: -1/sqrt(I) in its row.  (One on a joint of the tree is in N.)
//
// Nothing here is shared with the engine (src/elimination) or with `dense` but the rows of joints.
#ifndef LWI_LOOPS_CUT_H
#define LWI_LOOPS_CUT_H

#include "base/linear.h"
#include "tree/aba.h"
#include "kinematics/closure.h"

/** A pivot of the rows counts as a new direction above this part of the largest, when the rank is
 *  learnt in the geometric metric.
 *
 *  Pivots are about the sines of the angles between rows; redundant rows make angles as large as
 *  positions are off their constraints, 1e-6 at most (LWI_CLOSURE_TOLERANCE), independent rows of
 *  mechanisms that work 0.1 to 1.  A decade either way changes nothing
 *  (tests/methods/lagrange/test_lagrange.c). */
#define LWI_CUT_RANK 1e-5

typedef struct lwi_cut {
    const lw_model *model;
    int count;  ///< cut joints, then couplings
    int m, n;   ///< rows, speeds of the tree and of the rotors
    int nrotor; ///< rotors on cut joints, in the order of their rows; 0 unless created with them
    int *rotor_row;           ///< [nspin] the last rows of their joints
    double *rotor_scale;      ///< [nspin] inertia^-1/2 [kg, kg m^2], or of no size in geometry
    int *first;               ///< [count + 1] first row of each
    lwi_closure *closure;     ///< [count]
    double *phi, *rate;       ///< [m] and J V + b
    double *b, *gamma;        ///< [m]
    double *len;              ///< [m] length of each row in the geometric metric of the bodies
    double length;            ///< of the mechanism [m]: unit between displacements and angles
    lwi_cod cod;              ///< of E', its columns divided by len; [n][m]
    double *y, *lambda;       ///< [n], [m]
    double (*transmitted)[6]; ///< [nnode] scratch of the sweeps
    bool *reached;            ///< [nnode]
    double (*wrench)[6];      ///< [nbody] scratch of the efforts of cut joints, world axes
    double (*a)[3], (*al)[3]; ///< [nbody] accelerations, world axes
    int rank;                 ///< generic: the most found at the start and nearby
    double *no_rotor;         ///< [tree_nv] zeros
} lwi_cut;

/** Rows and their memory; nothing that decomposes them. */
lw_status lwi_cut_create_rows(const lw_model *model, lwi_arena *arena, lwi_cut *cut);
/** The same with the rotors of cut joints: their rows come last in the closures of their joints. */
lw_status lwi_cut_create_rows_rotors(const lw_model *model, lwi_arena *arena, lwi_cut *cut);
/** Memory for all rows, and the generic rank, found at the model's start and at a few configurations near it.
 *  @param tree, node  workspaces, left changed
 *  @return LW_ERR_MEMORY, or why the tree cannot be evaluated at the start */
lw_status lwi_cut_create(const lw_model *model, double threshold, lwi_arena *arena,
                         lwi_tree_work *tree, lwi_articulated *node, lwi_cut *cut, lw_error *error);

/** Positions, velocities, world poses, coordinates and speeds of all joints at (t, q, v); those of
 *  cut joints continue from what tree->joint_q holds. */
void lwi_cut_place(lwi_cut *cut, lwi_tree_work *tree, double t, const double *q, const double *v);
/** Coordinates of the cut joints from the poses, continued from what tree->joint_q holds, and speeds unless
 *  `place_only`. */
void lwi_cut_read(const lwi_cut *cut, lwi_tree_work *tree, double t, bool place_only);
/** The model's forces, those of cut joints included; after lwi_cut_place.
 *  @return power that efforts of cut joints have across their mounts [W] */
double lwi_cut_loads(lwi_cut *cut, lwi_tree_work *tree, double t, const double *v,
                     const double *inputs);
/** The rows; after lwi_cut_place. */
void lwi_cut_rows(lwi_cut *cut, const lwi_tree_work *tree, double t, lwi_closure_level level);
/** The factors N of the tree: M of all nodes is given, what hangs on them is added; U, L.
 *  @param rotor  [tree_nv] inertias of rotors */
lw_status lwi_cut_factor_tree(const lw_model *model, lwi_tree_work *tree, lwi_articulated *node,
                              double t, const double *rotor, lw_error *error);
/** E and its decomposition at `rank` (negative: by the threshold), with the factors in `node`. */
void lwi_cut_factor(lwi_cut *cut, const lwi_tree_work *tree, lwi_articulated *node, int rank,
                    double threshold);
/** The largest of all phi, at less cost than the rows; after poses alone. */
double lwi_cut_gap(const lwi_cut *cut, const lwi_tree_work *tree, double t);
/** y := the smallest with E y = target [m], lambda := multipliers with y = E' lambda, of minimum
 * norm in rows of length one.  Destroys target. */
void lwi_cut_solve(lwi_cut *cut, double *target);
/** v := v + N'^-1 y; leaves the motions of the nodes that this alone makes in cut->felt. */
void lwi_cut_apply(const lwi_cut *cut, const lwi_tree_work *tree, lwi_articulated *node,
                   const double *y, double *v);
/** J A [m] of the accelerations in tree->A, without gamma. */
void lwi_cut_accelerations(lwi_cut *cut, const lwi_tree_work *tree, double *JA);
/** wrench [nnode] (link axes) += J' lambda. */
void lwi_cut_wrenches(const lwi_cut *cut, const lwi_tree_work *tree, const double *lambda,
                      double (*wrench)[6]);
/** The joint that row i belongs to, or -1 - coupling. */
int lwi_cut_row_owner(const lwi_cut *cut, int i);
/** The motion of a tree, as the rows read it. */
lwi_motion lwi_cut_motion(const lwi_tree_work *tree);

#endif
