// body_forces.h -- forces on bodies of a tree, as efforts on the joints between these bodies and the ground.
//
// Problem: the kernels (kernel.h) know forces along joints only.  A wrench on a body does the same to all other
// joints as the efforts S'F on the joints that carry it; what a joint with prescribed motion transmits is less by
// S'F.
// Input: coordinates and speeds; then the loads.  Output: motion of the bodies that forces read; efforts.
// Cost: O(number of bodies between these bodies and the ground); nothing for other bodies.
#ifndef LWI_TREE_BODY_FORCES_H
#define LWI_TREE_BODY_FORCES_H

#include "kinematics/tree_state.h"
#include "tree/kernel.h"

typedef struct lwi_body_forces lwi_body_forces;

/** Marks the bodies that forces act on or read, and the carriers of those that are merged.  @param used  [nbody] */
void lwi_body_forces_mark(const lw_model *model, bool *used);
/** @param out  NULL if all forces of the model act along joints, or if the model has no kernel
 *  @return LW_ERR_MEMORY */
lw_status lwi_body_forces_create(const lw_model *model, lwi_arena *arena, lwi_body_forces **out);
/** Pose and velocity in `work` of the bodies that forces act on.
 *  @param q, v    [tree_nq], [tree_nv]
 *  @param drives  of the kernel, by lwi_kernel_prescribe */
void lwi_body_forces_place(lwi_body_forces *forces, const double *q, const double *v,
                           const lwi_k_prescribed *drives, lwi_tree_work *work);
/** Adds the efforts of the loads on bodies to work->effort and to `outside` of the drives; after
 *  lwi_tree_joint_loads. */
void lwi_body_forces_efforts(lwi_body_forces *forces, lwi_k_prescribed *drives,
                             lwi_tree_work *work);

#endif
