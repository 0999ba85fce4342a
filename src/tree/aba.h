// aba.h -- accelerations by the articulated-body algorithm.
#ifndef LWI_TREE_ABA_H
#define LWI_TREE_ABA_H

#include "tree/articulated.h"

/** Accelerations vdot [tree_nv] of the free speeds; fills work->A.  After lwi_tree_evaluate at (t, q, v).
 *  @param node  [nnode] workspace; keeps the factors U, L
 *  @param tau   [tree_nv] efforts added to those of the model, or NULL
 *  @return LW_ERR_SINGULAR naming the joint, LW_ERR_NOT_FINITE         @cost O(n) */
lw_status lwi_aba(const lw_model *model, lwi_tree_work *work, lwi_articulated *node, double t,
                  const double *v, const double *tau, double *vdot, lw_error *error);
/** Power of all drives and moving frame mounts [W]; after lwi_aba. */
double lwi_aba_drive_power(const lw_model *model, const lwi_tree_work *work,
                           const lwi_articulated *node);

#endif
