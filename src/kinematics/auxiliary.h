// auxiliary.h -- coordinates that a state carries beside the poses, and states of the tree with joints
// that close loops beside it: x = (tree q, tree u or p, [work], carried coordinates of cut joints).
//
// A pose does not tell how often a joint has turned: angles of cut joints are carried in x with
// their rates, and what is read from the poses is continued from there.
#ifndef LWI_KINEMATICS_AUXILIARY_H
#define LWI_KINEMATICS_AUXILIARY_H

#include "kinematics/tree_state.h"
#include "kinematics/closure.h"

/** A coordinate that poses tell up to turns, or that its type continues from what is near. */
typedef struct lwi_auxiliary_item {
    int joint, coordinate;
} lwi_auxiliary_item;

typedef struct lwi_auxiliary {
    int n;                    ///< carried coordinates
    lwi_auxiliary_item *item; ///< [n]
    int at, at_work;          ///< in x; at_work < 0: none
} lwi_auxiliary;

/** The list: of cut joints, of all joints where `all`. */
lw_status lwi_auxiliary_list(const lw_model *model, bool all, lwi_arena *arena,
                             lwi_auxiliary *carried);
/** The list of cut joints, and the layout of x; `second` is LWI_SPEED or LWI_MOMENTUM. */
lw_status lwi_auxiliary_create(const lw_model *model, lwi_block_kind second, lwi_arena *arena,
                               lwi_auxiliary *carried, lwi_layout *layout);
/** Between x and joint coordinates q [model nq]. */
void lwi_auxiliary_load(const lw_model *model, const lwi_auxiliary *carried, const double *x,
                        double *q);
void lwi_auxiliary_store(const lw_model *model, const lwi_auxiliary *carried, const double *q,
                         double *x);
/** Their rates in xdot, from coordinates and speeds of all joints. */
void lwi_auxiliary_rates(const lw_model *model, const lwi_auxiliary *carried, const double *q,
                         const double *qd, double *xdot);

#endif
