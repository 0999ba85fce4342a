// derivatives.h -- derivatives of inverse and forward dynamics of a tree by coordinates and speeds.
//
// Problem: tau = ID(q, v, vdot) without the forces of the model, its derivatives by q along the speeds (a displacement
// of the joints by `delta` speeds: axes of F2 for balls and free motions), and by v; the mass matrix comes with them.
// Input: a tree evaluated at a state.  Output: square matrices [tree_nv][tree_nv], row: effort, column: coordinate.
// Cost: O(n depth); M^-1 times a column O(n) in deep trees, O(n depth) in others.    [carpentier2018, singh2022]
#ifndef LWI_TREE_DERIVATIVES_H
#define LWI_TREE_DERIVATIVES_H

#include "tree/screws.h"
#include "tree/simd/derivatives.h"

typedef struct lwi_tree_derivatives {
    lwi_screws screws;
    lwi_subtree *subtree;    ///< [nnode]
    lwi_speed_arrays arrays; ///< of the speeds: screws S, psi (its angular part), psi2, drift
    double (*rate)[6];       ///< [tree_nv] psi
    int *next,
        *next_run; ///< [tree_nv] speed before it on the way to the ground, -1: none; first of its run
    int *lower, *run; ///< the same in the order of the nodes: next lower index on this way
    double *column_q, *column_v;  ///< [tree_nv]^2 columns, transposed
    lwi_speed_terms *terms;       ///< [tree_nv]
    double (*way)[6], (*load)[9]; ///< [elements] its sums: from the ground outward, and inward
    double *
        block; ///< [tree_nv][LWI_DERIVATIVE_STRIDE(tree_nv)] scratch; deep: [tree_nv][LWI_DERIVATIVE_COLUMNS]
    lwi_articulated_tree articulated;
    lwi_inertia *inertia; ///< [nnode] articulated; NULL: the tree is shallow, so M is factored
} lwi_tree_derivatives;

/** @return LW_ERR_UNSUPPORTED for a joint with callbacks, which is named; LW_ERR_MEMORY */
lw_status lwi_tree_derivatives_create(const lw_model *model, lwi_arena *arena,
                                      lwi_tree_derivatives *d, lw_error *error);
/** dID/dq, dID/dv and M, rotors included, at the state of `work`: after lwi_tree_position, lwi_tree_rates and
 *  lwi_tree_world at (t, q, v).
 *  @param vdot        [tree_nv]
 *  @param by_q, by_v  [tree_nv][tree_nv] out      @param M  the same, or NULL */
void lwi_tree_inertial_derivatives(const lw_model *model, lwi_tree_derivatives *d,
                                   const lwi_tree_work *work, double t, const double *v,
                                   const double *vdot, double *by_q, double *by_v, double *M);

/** by_q := (dID/dq)'u and by_v := (dID/dv)'u [tree_nv] at the same state, without the matrices.
 *  lwi_tree_inertial_begin prepares any number of products at one state.      @cost O(n) */
void lwi_tree_inertial_begin(const lw_model *model, lwi_tree_derivatives *d,
                             const lwi_tree_work *work, double t, const double *v,
                             const double *vdot);
void lwi_tree_inertial_products(const lw_model *model, lwi_tree_derivatives *d, const double *u,
                                double *by_q, double *by_v);
/** Wrench I A + V x* I V about the world's origin of a mass, first moment and inertia about the origin of a link (10
 *  numbers, axes of the link) with the world frame (R, r): linear in them.  @param last  the element that carries it */
void lwi_tree_inertial_wrench(const double inertia[10], const double R[9], const double r[3],
                              const lwi_screw *last, double f[6]);
/** Prepares M^-1 at the state of the last lwi_tree_inertial_derivatives.  A shallow tree factors M = L'L in place, L
 *  lower triangular with the pattern of the tree and an inverse diagonal: entry (i, j) is not zero only if speed j is
 *  on the way from speed i to the ground [featherstone2008].  A deep one finds its articulated inertias instead; M is
 *  not read and may be NULL.
 *  @return -1, or the first speed with a pivot that is not positive */
int lwi_tree_factor_mass(const lw_model *model, lwi_tree_derivatives *d, double *M);
/** by_q := -M^-1 by_q, by_v the same, inverse := M^-1 [n][n]; M is the factor L. */
void lwi_tree_solve_mass(lwi_tree_derivatives *d, int n, const double *L, double *by_q,
                         double *by_v, double *inverse);
/** Y += A X;  A [rows][inner], X [inner][n], Y [rows][n]. */
void lwi_derivative_multiply(int rows, int inner, int n, const double *A, const double *X,
                             double *Y);
/** Is M factored, so that lwi_tree_factor_mass reads it? */
static inline bool lwi_tree_factors_mass(const lwi_tree_derivatives *d)
{
    return !d->inertia;
}

#endif
