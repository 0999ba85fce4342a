// outputs.h -- the numbers that forces and drives have in results: which there are, and their values at a state.
//
// The table of a force is in its file (forces/); the drives of a joint, its mount and a length that follows time are here.
#ifndef LWI_MODEL_OUTPUTS_H
#define LWI_MODEL_OUTPUTS_H

#include "model/model.h"

/** Lists the outputs of a compiled model: joints in their order with the forces on their coordinates and their drives,
 *  then the forces between bodies.  @return LW_ERR_MEMORY */
lw_status lwi_compile_outputs(lw_model *model);

/** Quantity number `index` of all types of forces; NULL for an index out of range. */
const lwi_quantity *lwi_output_quantity_at(int index);

/** Unit of component `part` of one of its quantities. */
const char *lwi_output_unit(const lw_model *model, const lwi_force_output *output,
                            const lwi_quantity *quantity, int part);

/** Values of all outputs.
 *  @param kin       with velocities, coordinates, derivatives of speeds (rotors on mounts)
 *  @param reaction  [joint] force, torque on body2 about P2, world axes
 *  @param loads     scratch
 *  @param value     [model noutput_value] out
 *  @cost  as one evaluation of all forces */
void lwi_outputs_evaluate(const lw_model *model, const lwi_kin *kin, const double (*reaction)[6],
                          double t, const double *inputs, lwi_loads *loads, double *value);

#endif
