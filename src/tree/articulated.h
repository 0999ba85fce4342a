// articulated.h -- the articulated-body recursion of a tree: factors, wrenches inward, accelerations outward
//                                                                                [featherstone2008]
//
// A node with all bodies beyond it responds to an acceleration A with the wrench F = M A + p at its joint.
// The joint leaves S'F = tau free, so that (I_r: rotors, diagonal)
//
//     U = M S,   D = S'U + I_r = L L',   Y = L^-1 U'                           [anderson2003, (19)]
//     articulated inertia   M' = M - Y'Y,  M_parent += X' M' X           [anderson2003, (14), (18)]
//     wrench inward         e = L^-1 (S'f + tau),  f_parent += X' (f - Y'e)    [anderson2003, (16)]
//     motion outward        s = L'^-1 (L^-1 (b - U'X A_parent) + y)      [anderson2003, (27), (29)]
//                           A = X A_parent + c + S s                     [anderson2003, (26), (28)]
//
// The factor N of the tree's mass matrix M = N N' is never formed: e of all nodes is N^-1 applied to forces, s
// with b = 0 is N'^-1 applied to y.  Everything is in link frames about their origins, linear part first.
// Cost: O(n) for n nodes, about 300 multiplications per node with one degree of freedom.
#ifndef LWI_TREE_ARTICULATED_H
#define LWI_TREE_ARTICULATED_H

#include "base/assert.h"
#include "kinematics/tree_state.h"

/** One node between the sweeps.  The factor sweep needs M on entry and leaves U and L. */
typedef struct lwi_articulated {
    lwi_inertia M;  ///< articulated inertia
    double p[6];    ///< bias wrench: F = M A + p
    double c[6];    ///< bias acceleration
    double U[6][6]; ///< [nv] M S
    double L[6][6]; ///< [nv][nv] Cholesky factor of D, reciprocals on its diagonal
    double b[6];    ///< [nv] efforts left to accelerate: tau - S'p - U'c
} lwi_articulated;

/** Y [nv][6] := L^-1 U' and M := M - Y'Y.  U and Y may be the same array. */
static inline void articulated_reduce(int nv, double (*L)[6], double (*U)[6], lwi_inertia *M,
                                      double (*Y)[6])
{
    for (int j = 0; j < nv; j++) {
        double y[6];
        LWI_ASSERT(L[j][j] > 0); // reciprocal of a pivot
        v6_copy(y, U[j]);
        for (int i = 0; i < j; i++) v6_axpy(y, -L[j][i], Y[i]);
        for (int i = 0; i < 6; i++) Y[j][i] = L[j][j] * y[i];
        inertia_reduce(M, 1, Y[j]);
    }
}

/** U, L of node k.
 *  @param rotor  [nv] inertias of the rotors of node k
 *  @return LW_ERR_SINGULAR, LW_ERR_NOT_FINITE naming the joint and the time */
lw_status lwi_articulated_factor(const lw_model *model, const lwi_tree_work *work,
                                 lwi_articulated *node, int k, double t, const double *rotor,
                                 lw_error *error);
/** Adds the reduced inertia of node k to its parent's M; after its factors.
 *  @param Y  [nv][6] out; undefined at a root */
void lwi_articulated_give(const lw_model *model, const lwi_tree_work *work, lwi_articulated *node,
                          int k, double (*Y)[6]);

/** e [nv] := L^-1 (S'f + tau) of node k, and f := f - U L'^-1 e where there is a parent to transmit it to.
 *  @param tau  [nv] or NULL: zeros */
void lwi_articulated_inward(const lwi_node *node, const lwi_link *link, lwi_articulated *a,
                            const double *tau, double f[6], double *e);

/** s [nv] := L'^-1 (L^-1 (b - U'A) + y) with A = X A_parent, then A := A + c + S s.
 *  @param b, c, y  [nv], [6], [nv] or NULL: zeros */
void lwi_articulated_outward(const lwi_node *node, const lwi_link *link, lwi_articulated *a,
                             const double *b, const double *c, const double *y, double A[6],
                             double *s);

#endif
