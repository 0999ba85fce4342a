// displacement.h -- positions of a tree moved along its speeds.
//
// Increments of scalar coordinates are those of the coordinates; of balls and free motions rotations and displacements in
// axes of F2, as their speeds.
#ifndef LWI_KINEMATICS_DISPLACEMENT_H
#define LWI_KINEMATICS_DISPLACEMENT_H

#include "model/model.h"

/** q += N(q) du; quaternions are normalised.
 *  @param q  [tree_nq] in, out      @param du  [tree_nv] */
void lwi_displace(const lw_model *model, double *q, const double *du);
/** The same of the coordinates q [type nq] of one joint, du [type nv]. */
void lwi_displace_joint(const lwi_joint *joint, double *q, const double *du);
/** The displacement of each speed that counts as one: 1 rad, or the length of the mechanism.  unit [tree_nv] out. */
void lwi_displacement_units(const lw_model *model, double *unit);

#endif
