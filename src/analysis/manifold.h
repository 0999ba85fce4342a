// manifold.h -- a mechanism in as many independent coordinates as it has degrees of freedom.
//
// With the joints that close loops cut, v are the speeds of the tree that is left [n], and
//     J v + b = 0,   v = B z + c,   J B = 0
// J [m][n] are the rows of loops, couplings and drives, of rank n - f; z [f] are the speeds of the independent
// coordinates, which are speeds of the tree with a name.  B [n][f] is the unit matrix in their rows.
// Reduced equations, of the accelerations zdot with vdot = B zdot + d:
//     M_r zdot = B'(S u - h - M d),   M_r = B'M B
//
// A position moves along the manifold by independent increments: q + B y, then the dependent coordinates are closed
// by Newton's method.  Increments of quaternions are rotations in axes of F2, those of free joints displacements in
// axes of F2 too, as their speeds.
#ifndef LWI_ANALYSIS_MANIFOLD_H
#define LWI_ANALYSIS_MANIFOLD_H

#include "base/linear.h"
#include "dynamics/constraints.h"

typedef struct lwi_manifold {
    const lw_model *model;
    lw_constraints *constraints;
    int n;            ///< speeds of the tree
    int m;            ///< rows
    int f;            ///< independent speeds
    int *independent; ///< [f] speeds of the tree, in the order of the model's joints
    int *dependent;   ///< [n - f]
    double t;
    const double *inputs; ///< of the caller, [inputs]; NULL: zeros
    lwi_states
        states; ///< of signals, read and their rates set by lwi_manifold_force; zero: those of the start
    // at the position of the last lwi_manifold_tangent
    double *J;              ///< [m][n]
    double *B;              ///< [f][n] row k: column k of B
    double *M, *h;          ///< [n][n], [n]
    double *reduced;        ///< [f][f] M_r
    lwi_cod dependent_rows; ///< of J in the dependent columns
    double
        *unit; ///< [n] displacement of speed i that counts as one: 1 rad, or the mechanism's length
    // scratch
    double *phi, *rate, *gamma, *rhs; ///< [m]
    double *step, *force, *bias;      ///< [n]
    double *factor;                   ///< [f][f] Cholesky factor of M_r
} lwi_manifold;

/** Chooses the independent coordinates at the state (t, q): the first ones in the order of the model's joints that
 *  leave the others well determined.
 *  @param names  "JOINT,JOINT.qK,..." must be among them; NULL or "": any
 *  @return LW_ERR_SINGULAR: a singular position; LW_ERR_ARGUMENT: names; LW_ERR_UNSUPPORTED, LW_ERR_MEMORY */
lw_status lwi_manifold_create(const lw_model *model, double t, const double *q, const char *names,
                              lwi_arena *arena, lwi_manifold *manifold, lw_error *error);
void lwi_manifold_destroy(lwi_manifold *manifold);

/** 1 of angular speeds, the mechanism's length of others. */
double lwi_manifold_unit(const lwi_manifold *manifold, int speed);
/** q := q + the increment, step by step: [tree nq], [tree nv].  Quaternions stay unit. */
void lwi_manifold_move(const lwi_manifold *manifold, double *q, const double *increment);
/** Closes the dependent coordinates of q.  @return LW_ERR_SINGULAR: Newton's method does not converge */
lw_status lwi_manifold_close(lwi_manifold *manifold, double *q, lw_error *error);
/** The same; adds the whole correction to `moved` [tree nv]. */
lw_status lwi_manifold_close_counting(lwi_manifold *manifold, double *q, double *moved,
                                      lw_error *error);
/** The rows at q: phi and J; the bodies move at speeds v [n], NULL: zeros. */
lw_status lwi_manifold_rows(lwi_manifold *manifold, const double *q, const double *v,
                            lw_error *error);
/** The factors of J, and B; after lwi_manifold_rows. */
void lwi_manifold_factor(lwi_manifold *manifold);
/** Both, at zero speeds. */
lw_status lwi_manifold_tangent(lwi_manifold *manifold, const double *q, lw_error *error);
/** x [n] in the dependent speeds with J x = target [m]; `target` is destroyed, the independent entries are kept; after
 *  lwi_manifold_tangent. */
void lwi_manifold_dependent(lwi_manifold *manifold, double *target, double *x);
/** The speeds v [n] with the independent ones z [f]; after lwi_manifold_tangent at q. */
void lwi_manifold_speeds(lwi_manifold *manifold, const double *q, const double *z, double *v);
/** M_r and the reduced force  B'(S u - h - M d)  [f] at (q, v); after lwi_manifold_tangent at q. */
lw_status lwi_manifold_force(lwi_manifold *manifold, const double *q, const double *v,
                             double *force, lw_error *error);
/** The factor of M_r; after lwi_manifold_force. */
lw_status lwi_manifold_factor_mass(lwi_manifold *manifold, lw_error *error);
/** zdot [f] from the reduced force, in place; after lwi_manifold_factor_mass. */
void lwi_manifold_accelerations(const lwi_manifold *manifold, double *force);
/** The name of independent coordinate k: "JOINT.q0", of rotations and floating bases "JOINT.d0" with the number of
 *  the speed. */
void lwi_manifold_name(const lwi_manifold *manifold, int k, bool rate, char *text, size_t size);
/** The same of dependent coordinate k. */
void lwi_manifold_dependent_name(const lwi_manifold *manifold, int k, char *text, size_t size);

#endif
