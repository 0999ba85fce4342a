// kernels.h -- kernels of observations, one table per ISA build; a lane is a joint.
#ifndef LWI_KINEMATICS_KERNELS_H
#define LWI_KINEMATICS_KERNELS_H

#include "kinematics/formulation.h"

/** Axes of F1 that a row may have, and vectors x with their derivatives. */
enum { LWI_RESIDUAL_LEVELS = 3 };

typedef struct lwi_observe_kernels {
    int width; ///< lanes
    /** largest[0 to levels - 1] := the maximum of itself and the residuals of the rows of joint[0 to width - 1], which
     *  have the same type, rows along axes of F1 alone (residuals.c), no mount and no drive. */
    void (*residuals)(const lw_model *model, const lwi_snapshot *snapshot, const int *joint,
                      int levels, double largest[LWI_RESIDUAL_LEVELS]);
} lwi_observe_kernels;

/** The kernels of a width: 1, 4, 8, or 0 for the widest; NULL if the processor does not support it. */
const lwi_observe_kernels *lwi_observe_kernels_of(int width);

#endif
