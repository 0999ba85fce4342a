// cut_state.h -- state and results in the coordinates of a tree with cut joints: what `lagrange`
// and `rcr` share, x = (tree q, tree u or p, [work], carried coordinates of cut joints).
#ifndef LWI_LOOPS_CUT_STATE_H
#define LWI_LOOPS_CUT_STATE_H

#include "kinematics/auxiliary.h"
#include "loops/cut.h"

/** x from a moment: coordinates, the speeds of the tree in place of its second block, work. */
void lwi_cut_state_enter(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_snapshot *snapshot, lwi_tree_work *tree, double *x);
/** xdot from the speeds and the rates of the second block; after lwi_tree_rates and the reading of
 * the cut joints.  Not that of work. */
void lwi_cut_state_rates(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_tree_work *tree, const double *v, const double *second,
                         double *xdot);
/** Power of forces, drives and mounts [W]: `forces` is that of the forces; a cut joint's wrenches
 * J'lambda have -lambda.b.  Where something is driven, tree->wrench and F are those of vdot then.
 */
double lwi_cut_state_power(const lwi_cut *cut, lwi_tree_work *tree, const double *lambda,
                           const double *v, const double *vdot, double forces);
/** The moment up to `level` with the speeds v and their rates: the tree, the cut joints but for their
 *  reactions, work.  After the reading of the cut joints, as lwi_tree_observe. */
void lwi_cut_state_observe(lwi_cut *cut, const lwi_auxiliary *auxiliary, lwi_tree_work *tree,
                           double t, const double *x, const double *v, const double *vdot,
                           lw_observe level, lwi_snapshot *snapshot);
/** Tolerances: everything is in metres, radians and seconds but the work; after the velocities. */
void lwi_cut_state_scale(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_tree_work *tree, const lwi_layout *layout, double *factor);
/** q += N(q) du, quaternions made unit; after lwi_tree_position. */
void lwi_cut_state_displace(const lw_model *model, const lwi_tree_work *tree, const double *du,
                            double *q);
/** Directions [n] for probing: multiples of an irrational number, modulo 1, less a half.  None is
 * left out or repeated; `seed` tells one from another. */
void lwi_cut_scatter(int n, int seed, double *x);

#endif
