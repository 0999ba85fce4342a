// casadi.h -- a second source for generated code: its functions as external functions of CasADi, with Jacobians.
#ifndef LWI_CODEGEN_CASADI_H
#define LWI_CODEGEN_CASADI_H

#include "codegen/functions.h"

/** Functions that have a Jacobian: forward_dynamics, inverse_dynamics, coordinate_rates. */
enum { LWI_CASADI_JACOBIANS = 3 };

/** Builds the graphs of the Jacobians.
 *  @param graph  [LWI_CASADI_JACOBIANS] initialised */
lw_status lwi_casadi_create(const lw_model *model, const lwi_elements *elements, lwi_arena *arena,
                            lwi_codegen_graph *graph, lw_error *error);
void lwi_casadi_print(FILE *file, const char *name, const lwi_elements *elements,
                      lwi_codegen_graph *graph);

#endif
