// derivatives.h -- derivatives of inverse and forward dynamics of a tree by coordinates and speeds.
//
// Problem: tau = ID(q, v, vdot) without the forces of the model, its derivatives by q along the speeds (a displacement
// of the joints by `delta` speeds: axes of F2 for balls and free motions), and by v; the mass matrix comes with them.
// Input: a tree evaluated at a state.  Output: square matrices [tree_nv][tree_nv], row: effort, column: coordinate.
// Cost: O(n depth).                                                      [carpentier2018, singh2022]
#ifndef LWI_TREE_DERIVATIVES_H
#define LWI_TREE_DERIVATIVES_H

#include "tree/screws.h"

/** Mass, first moment and inertia about the world's origin of a subtree, world axes; the matrix B of velocities; the
 *  wrench that inertia needs. */
typedef struct lwi_subtree {
    double m, h[3], J[6];
    double p[3];  ///< linear momentum: the upper half of B is -2 p x
    double Ba[9]; ///< lower half of B, which acts on angular velocities
    double f[6];
} lwi_subtree;

/** What one speed contributes to its column and row. */
typedef struct lwi_column {
    double S[6];     ///< screw
    double rate[6];  ///< psi: velocity of the bodies beyond, less that of rotating with them, by q
    double rate2[6]; ///< the same of the acceleration
    double drift[6]; ///< the part of the acceleration by v
    int next;        ///< speed before it on the way to the ground; -1: none
    int lower; ///< speed with the next lower index on this way, in the order of the nodes; -1: none
    bool shares; ///< its axes and those of `next` are of one element that they follow
} lwi_column;

typedef struct lwi_tree_derivatives {
    lwi_screws screws;
    lwi_subtree *subtree; ///< [nnode]
    lwi_column *column;   ///< [tree_nv]
} lwi_tree_derivatives;

/** @return LW_ERR_UNSUPPORTED for a joint with callbacks, which is named; LW_ERR_MEMORY */
lw_status lwi_tree_derivatives_create(const lw_model *model, lwi_arena *arena,
                                      lwi_tree_derivatives *d, lw_error *error);
/** dID/dq, dID/dv and M, rotors included, at the state of `work`: after lwi_tree_position, lwi_tree_rates and
 *  lwi_tree_world at (t, q, v).
 *  @param vdot        [tree_nv]
 *  @param by_q, by_v  [tree_nv][tree_nv] out      @param M  the same */
void lwi_tree_inertial_derivatives(const lw_model *model, lwi_tree_derivatives *d,
                                   const lwi_tree_work *work, double t, const double *v,
                                   const double *vdot, double *by_q, double *by_v, double *M);

/** Factors M = L'L in place, L lower triangular and with the pattern of the tree: entry (i, j) is not zero only if
 *  speed j is on the way from speed i to the ground.                       [featherstone2008]
 *  @return -1, or the first speed with a pivot that is not positive */
int lwi_tree_factor_mass(const lwi_tree_derivatives *d, int n, double *M);
/** X := M^-1 X for X [n][columns], with the factor L. */
void lwi_tree_solve_mass(const lwi_tree_derivatives *d, int n, const double *L, double *X,
                         int columns);

#endif
