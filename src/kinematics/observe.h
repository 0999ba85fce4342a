// observe.h -- quantities of a whole mechanism from one moment, the same for every formulation.
#ifndef LWI_KINEMATICS_OBSERVE_H
#define LWI_KINEMATICS_OBSERVE_H

#include "kinematics/formulation.h"
#include "kinematics/closure.h"

typedef struct lwi_totals {
    double kinetic, potential;
    double momentum[3], angular_momentum[3];
    double residual[3];
} lwi_totals;

/** Fills the merged bodies (massless, fixed to another) of a moment that the formulation has filled
 *  and, at level REACTION, the reactions of their joints by equilibrium.
 *  @param loads  scratch [nbody], [model nv] for the forces that act on merged bodies */
void lwi_observe_merged(const lw_model *model, lw_observe level, const double *inputs,
                        lwi_loads *loads, lwi_snapshot *moment);
/** Energies, momenta and residuals of a moment at `level`. */
void lwi_observe_system(const lw_model *model, lw_observe level, const lwi_snapshot *moment,
                        lwi_totals *system);
/** Residuals of the rows of one joint (closure.h) on the motion of its two bodies; returns how many.
 *  phi, and where asked (may be NULL) those of velocities and accelerations. */
int lwi_joint_residual(const lw_model *model, int joint, const lwi_snapshot *moment,
                       double phi[LWI_CLOSURE_ROWS], double phidot[LWI_CLOSURE_ROWS],
                       double phiddot[LWI_CLOSURE_ROWS]);

#endif
