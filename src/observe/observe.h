// observe.h -- quantities of a whole mechanism from one moment, the same for every formulation.
#ifndef LWI_OBSERVE_H
#define LWI_OBSERVE_H

#include "formulation/formulation.h"

typedef struct lwi_system {
    double kinetic, potential;
    double momentum[3], angular_momentum[3];
    double residual[3];
} lwi_system;

/** Fills the merged bodies (massless, fixed to another) of a moment that the formulation has filled
 *  and, at level REACTION, the reactions of their joints by equilibrium.
 *  @param loads  scratch [nbody], [model nv] for the forces that act on merged bodies */
void lwi_observe_merged(const lw_model *model, lw_observe level, const double *inputs,
                        lwi_loads *loads, lwi_moment *moment);
/** Energies, momenta and residuals of a moment at `level`. */
void lwi_observe_system(const lw_model *model, lw_observe level, const lwi_moment *moment,
                        lwi_system *system);
/** Constraint rows of one joint on the motion of its two bodies, with mount and drives as rows behind
 *  those of the type; returns how many.  phi, and where asked (may be NULL) the rows' velocity
 *  residual and acceleration residual. */
int lwi_joint_residual(const lw_model *model, int joint, const lwi_moment *moment, double phi[12],
                       double phidot[12], double phiddot[12]);

#endif
