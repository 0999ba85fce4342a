// cut_state.h -- state and results of formulations in the coordinates of a tree with cut joints (`lagrange`, `rcr`):
// x = (tree q, tree u or p, [work], auxiliary coordinates of cut joints).
#ifndef LWI_LOOPS_CUT_STATE_H
#define LWI_LOOPS_CUT_STATE_H

#include "kinematics/auxiliary.h"
#include "loops/cut.h"

/** x from a snapshot: coordinates, speeds of the tree in its second block, auxiliary states, work. */
void lwi_cut_state_enter(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_snapshot *snapshot, lwi_tree_work *tree, double *x);
/** xdot except the rate of work, from the speeds v [tree_nv] and the rates of the second block; after
 *  lwi_tree_rates and lwi_cut_read. */
void lwi_cut_state_rates(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_tree_work *tree, const double *v, const double *second,
                         double *xdot);
/** Power of forces, drives and moving frame mounts [W].
 *  @param forces  power of the forces [W]; the wrenches J' lambda of a cut joint add -lambda . b
 *  If a joint or mount is driven, tree->wrench and tree->F are overwritten with those of vdot. */
double lwi_cut_state_power(const lwi_cut *cut, lwi_tree_work *tree, const double *lambda,
                           const double *v, const double *vdot, double forces);
/** Fills the snapshot up to `level` from the speeds v and their rates vdot [tree_nv]: the tree, work, and the cut
 *  joints except their reactions.  After lwi_cut_read and the steps that lwi_tree_observe requires. */
void lwi_cut_state_observe(lwi_cut *cut, const lwi_auxiliary *auxiliary, lwi_tree_work *tree,
                           double t, const double *x, const double *v, const double *vdot,
                           lw_observe level, lwi_snapshot *snapshot);
/** Its part of the cut joints alone, without their reactions. */
void lwi_cut_state_observe_joints(lwi_cut *cut, const lwi_tree_work *tree, double t,
                                  lw_observe level, lwi_snapshot *snapshot);
/** Tolerance factors: 1 for coordinates and speeds, an energy for the work; after the velocities. */
void lwi_cut_state_scale(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_tree_work *tree, const lwi_layout *layout, double *factor);
/** Deterministic quasi-random direction x [n] in [-1/2, 1/2): fractional parts of multiples of the golden ratio.
 *  Different `seed` give different directions. */
void lwi_cut_scatter(int n, int seed, double *x);

#endif
