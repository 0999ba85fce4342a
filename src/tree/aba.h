// aba.h -- accelerations by the articulated-body algorithm.
#ifndef LWI_TREE_ABA_H
#define LWI_TREE_ABA_H

#include "tree/articulated.h"

/** vdot [tree_nv] from the forces of `work` (after lwi_tree_evaluate at (t, q, v)); fills work->A.
 *  @param node  [nnode]
 *  @param tau   [tree_nv] added to the model's efforts, or NULL
 *  @return LW_ERR_SINGULAR naming the joint, LW_ERR_NOT_FINITE         @cost O(n) */
lw_status lwi_aba(const lw_model *model, lwi_tree_work *work, lwi_articulated *node, double t,
                  const double *v, const double *tau, double *vdot, lw_error *error);
/** Power of all drives and mounts, after lwi_aba. */
double lwi_aba_drive_power(const lw_model *model, const lwi_tree_work *work,
                           const lwi_articulated *node);

#endif
