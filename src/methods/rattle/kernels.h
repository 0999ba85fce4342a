// kernels.h -- kernels of rattle, one table per ISA build: the drift of bodies and the positions of joints, which each
// iteration of a step computes.  A lane is a body or a joint.
#ifndef LWI_METHODS_RATTLE_KERNELS_H
#define LWI_METHODS_RATTLE_KERNELS_H

#include "methods/rattle/rattle.h"

/** A joint with rows along axes of F1, or that hold axes of F1 normal to axes of F2. */
typedef struct lwi_rattle_joint {
    const lwi_joint *joint;
    const lwi_rattle_body *body[2]; ///< that of the ground has R1 = 1 and zeros
    double *phi;                    ///< [type nc]
} lwi_rattle_joint;

typedef struct lwi_rattle_kernels {
    int width; ///< lanes
    /** The first kick and the drift of body[0 to width - 1] by h (drift.c, newton.c): the numbers from `kick` to `off`.
     *  Newton's iterations for theta begin with that of the last call, with `first` from the momentum.  Where none below
     *  pi is found theta is not a number. */
    void (*drift)(lwi_rattle_body *body, double h, bool first);
    /** phi of the rows of joint[0 to width - 1], which have the same type. */
    void (*phi)(const lwi_rattle_joint *joint);
} lwi_rattle_kernels;

/** The kernels of a width: 1, 4, 8, or 0 for the widest; NULL if the processor does not support it. */
const lwi_rattle_kernels *lwi_rattle_kernels_of(int width);

#endif
