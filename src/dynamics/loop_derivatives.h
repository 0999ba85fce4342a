// loop_derivatives.h -- derivatives of the accelerations of a mechanism with loops.
//
// Problem: vdot(q, v, tau) of   M vdot + h = tau + J'lambda,   J vdot + gamma = 0.   Both rows are differentiated at
// constant lambda; with N the null space of J, d a particular solution of J d = -d(J vdot + gamma),
//
//     dvdot = N z + d,    (N'M N) z = -N'(d(M vdot + h - J'lambda) + M d)
//
// One decomposition of J at its generic rank serves all columns; rows may be redundant.  Whole matrices are products: with
// d = -G d(J vdot + gamma), B = (N'M N)^-1 N',
//
//     dvdot = -N W - G d(J vdot + gamma),     W = B d(M vdot + h - J'lambda) - B M G d(J vdot + gamma)
//
// Cost: O(n^2 (m + f)) and O(n m^2) with f degrees of freedom.
#ifndef LWI_DYNAMICS_LOOP_DERIVATIVES_H
#define LWI_DYNAMICS_LOOP_DERIVATIVES_H

#include "dynamics/state_derivatives.h"

typedef struct lwi_loop_derivatives {
    lwi_cut cut; ///< with its generic rank
    lwi_articulated *node;
    lwi_cod cod;            ///< of J', rows of length one, columns in units of displacement
    int nrow, *row;         ///< [m] rows that are not zero: the others constrain nothing
    double *unit;           ///< [n]
    double *lambda;         ///< [m]
    double *rhs;            ///< [max(n, m)]
    double *N;              ///< [f][n] basis of the null space
    double *NM;             ///< [f][n] N'M
    double *reduced;        ///< [f][f] Cholesky factor of N'M N
    double *column, *force; ///< [n]
    double *z;              ///< [f]
    // of whole matrices
    double *outward; ///< [n][f] -N
    double *B;       ///< [f][n]
    double *BM;      ///< [f][n]
    double *G;       ///< [n][nrow] -G
    double *H;       ///< [f][nrow] -B M G
    double *W;       ///< [f][n]
    double *rows;    ///< [nrow][n] of the rows that are not zero
    double *scratch; ///< [m][m]
} lwi_loop_derivatives;

/** @return LW_ERR_MEMORY, LW_ERR_SINGULAR, LW_ERR_UNSUPPORTED */
lw_status lwi_loop_derivatives_create(const lw_model *model, lwi_arena *arena, lwi_tree_work *tree,
                                      lwi_loop_derivatives *l, lw_error *error);
/** Factors the rows of d.  @return LW_ERR_SINGULAR: their rank drops */
lw_status lwi_loop_factor(const lw_model *model, lwi_loop_derivatives *l,
                          const lwi_state_derivatives *d, double t, lw_error *error);
/** lambda [m] with J'lambda = force [n] in the sense of least squares; after lwi_loop_factor. */
void lwi_loop_multipliers(lwi_loop_derivatives *l, const lwi_state_derivatives *d,
                          const double *force, double *lambda);
/** out [n] := the smallest speeds with J out = rows [m]; after lwi_loop_factor.  Its transpose is lwi_loop_multipliers. */
void lwi_loop_particular(lwi_loop_derivatives *l, const lwi_state_derivatives *d,
                         const double *rows, double *out);
/** N and the factor of N'M N, for lwi_loop_column; after lwi_loop_factor.  @return LW_ERR_SINGULAR: no mass moves with some
 *  direction */
lw_status lwi_loop_reduce(lwi_loop_derivatives *l, const lwi_state_derivatives *d, double t,
                          lw_error *error);
/** l->column [n] := N z + d, with J d = -rows and (N'M N) z = -N'(force + M d).
 *  @param rows, force  column j of matrices with `stride` columns; rows may be NULL */
void lwi_loop_column(lwi_loop_derivatives *l, const lwi_state_derivatives *d, const double *rows,
                     const double *force, int stride, int j);
/** @param d  for this model      @param vdot  [n] accelerations at the state with efforts tau [n], or NULL
 *  @param by_q, by_v, by_tau  [n][n] out
 *  @return LW_ERR_SINGULAR: no mass moves with some direction, or the rank of J drops */
lw_status lwi_loop_forward_derivatives(const lw_model *model, lwi_loop_derivatives *l,
                                       lwi_state_derivatives *d, lwi_tree_work *work, double t,
                                       const double *q, const double *v, const double *tau,
                                       const double *vdot, const double *inputs, double *by_q,
                                       double *by_v, double *by_tau, lw_error *error);

#endif
