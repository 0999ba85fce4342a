// aba.h -- accelerations by the articulated-body algorithm.
#ifndef LWI_TREE_ABA_H
#define LWI_TREE_ABA_H

#include "kinematics/tree_state.h"

/** What the recursion keeps of one node between its two sweeps. */
typedef struct lwi_aba_node {
    lwi_inertia M;  ///< articulated inertia
    double p[6];    ///< bias wrench: F = M A + p
    double c[6];    ///< bias acceleration
    double U[6][6]; ///< [nv] M S
    double L[6][6]; ///< Cholesky factor of S'MS
    double b[6];    ///< [nv] efforts left to accelerate: tau - S'p - U'c
} lwi_aba_node;

/** vdot [tree_nv] from the forces of `work` (after lwi_tree_evaluate at (t, q, v)); fills work->A.
 *  @param node  [nnode]
 *  @param tau   [tree_nv] added to the model's efforts, or NULL
 *  @return LW_ERR_SINGULAR naming the joint, LW_ERR_NOT_FINITE         @cost O(n) */
lw_status lwi_aba(const lw_model *model, lwi_tree_work *work, lwi_aba_node *node, double t,
                  const double *v, const double *tau, double *vdot, lw_error *error);
/** Power of all drives and mounts, after lwi_aba. */
double lwi_aba_drive_power(const lw_model *model, const lwi_tree_work *work,
                           const lwi_aba_node *node);

#endif
