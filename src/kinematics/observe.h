// observe.h -- quantities of a whole mechanism from one snapshot, the same for every formulation.
#ifndef LWI_KINEMATICS_OBSERVE_H
#define LWI_KINEMATICS_OBSERVE_H

#include "kinematics/formulation.h"
#include "kinematics/closure.h"

typedef struct lwi_totals {
    double kinetic, potential;
    double momentum[3], angular_momentum[3];
    double residual[3];
} lwi_totals;

/** Fills the merged bodies (massless, fixed to another) of a snapshot filled by the formulation
 *  and, at level REACTION, the reactions of their joints by equilibrium.
 *  @param loads  scratch [nbody], [model nv] for the forces that act on merged bodies */
void lwi_observe_merged(const lw_model *model, lw_observe level, const double *inputs,
                        lwi_loads *loads, lwi_snapshot *snapshot);
/** The reactions of the joints that hold merged bodies, from those of the others, the accelerations qdd of rotors and
 *  the loads on all bodies and coordinates, which are changed; or impulses from impulses and jumps of qd. */
void lwi_observe_merged_reactions(const lw_model *model, lwi_loads *loads, lwi_snapshot *snapshot);
/** Energies, momenta and residuals of a snapshot at `level`. */
void lwi_observe_system(const lw_model *model, lw_observe level, const lwi_snapshot *snapshot,
                        lwi_totals *system);
/** The same without residuals. */
void lwi_observe_energies(const lw_model *model, lw_observe level, const lwi_snapshot *snapshot,
                          lwi_totals *system);
/** The largest residuals of the rows of all joints and couplings: of positions, of velocities and, at level REACTION, of
 *  accelerations. */
void lwi_observe_residuals(const lw_model *model, lw_observe level, const lwi_snapshot *snapshot,
                           double largest[3]);
/** Residuals of the rows of one joint (closure.h) for the motion of its two bodies: phi, and those of
 *  velocities and accelerations (NULL: not computed).  @return the number of rows */
int lwi_joint_residual(const lw_model *model, int joint, const lwi_snapshot *snapshot,
                       double phi[LWI_CLOSURE_ROWS], double phidot[LWI_CLOSURE_ROWS],
                       double phiddot[LWI_CLOSURE_ROWS]);

#endif
