// auxiliary.h -- auxiliary states, the coordinates of cut joints, in states of the tree with joints that close loops:
// x = (tree q, tree u or p, [work], auxiliary states).
//
// A pose determines an angle up to full revolutions.  So angles of cut joints are integrated in x with their rates,
// and coordinates that are read from the poses continue from them.  Cost: O(number of auxiliary states).
#ifndef LWI_KINEMATICS_AUXILIARY_H
#define LWI_KINEMATICS_AUXILIARY_H

#include "kinematics/tree_state.h"
#include "kinematics/closure.h"

/** A coordinate that poses determine up to full revolutions, or that its type reads near a previous value. */
typedef struct lwi_auxiliary_item {
    int joint, coordinate;
} lwi_auxiliary_item;

typedef struct lwi_auxiliary {
    int n;                    ///< auxiliary states
    lwi_auxiliary_item *item; ///< [n]
    int at, at_work;          ///< first indices in x; at_work < 0: none
} lwi_auxiliary;

/** Lists the coordinates of cut joints; `all`: of all joints. */
lw_status lwi_auxiliary_list(const lw_model *model, bool all, lwi_arena *arena,
                             lwi_auxiliary *auxiliary);
/** Lists the coordinates of cut joints and fills the layout of x; `second` is LWI_SPEED or LWI_MOMENTUM. */
lw_status lwi_auxiliary_create(const lw_model *model, lwi_block_kind second, lwi_arena *arena,
                               lwi_auxiliary *auxiliary, lwi_layout *layout);
/** The layout of states in absolute coordinates, x = (r and quaternion of nbody bodies; six speeds or momenta of each;
 *  auxiliary states; [work]), with room for two more blocks.   @return LW_ERR_MEMORY */
lw_status lwi_auxiliary_layout(const lw_model *model, int nbody, lwi_block_kind second,
                               lwi_arena *arena, lwi_auxiliary *auxiliary, lwi_layout *layout);
/** Copies them from x to joint coordinates q [model nq], or back. */
void lwi_auxiliary_load(const lw_model *model, const lwi_auxiliary *auxiliary, const double *x,
                        double *q);
void lwi_auxiliary_store(const lw_model *model, const lwi_auxiliary *auxiliary, const double *q,
                         double *x);
/** Their rates in xdot from coordinates q [model nq] and speeds qd [model nv] of all joints. */
void lwi_auxiliary_rates(const lw_model *model, const lwi_auxiliary *auxiliary, const double *q,
                         const double *qd, double *xdot);

#endif
