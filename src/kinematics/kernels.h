// kernels.h -- kernels of observations, one table per ISA build; a lane is a joint or a body.
#ifndef LWI_KINEMATICS_KERNELS_H
#define LWI_KINEMATICS_KERNELS_H

#include "kinematics/tree_state.h"

enum { LWI_RESIDUAL_LEVELS = 3 };

typedef struct lwi_observe_kernels {
    int width; ///< lanes
    /** largest[0 to levels - 1] := the maximum of itself and the residuals of the rows of joint[0 to width - 1], which
     *  have the same type, rows along axes of F1 alone (residuals.c), no mount and no drive. */
    void (*residuals)(const lw_model *model, const lwi_snapshot *snapshot, const int *joint,
                      int levels, double largest[LWI_RESIDUAL_LEVELS]);
    /** Poses, velocities and, with `accelerations`, accelerations of the bodies of node[0 to width - 1], from R, r, V
     *  and A of the nodes; with `wrenches` their F = M A + V x* M V - wrench too. */
    void (*bodies)(const lw_model *model, const lwi_tree_work *work, const int *node,
                   bool accelerations, bool wrenches, lwi_snapshot *snapshot);
} lwi_observe_kernels;

/** The kernels of a width: 1, 4, 8, or 0 for the widest; NULL if the processor does not support it. */
const lwi_observe_kernels *lwi_observe_kernels_of(int width);

#endif
