// functions.h -- the generated functions: each builds its values in a graph.
#ifndef LWI_CODEGEN_FUNCTIONS_H
#define LWI_CODEGEN_FUNCTIONS_H

#include "codegen/elements.h"
#include "codegen/graph.h"
#include "codegen/walk.h"

#include <linkwork/codegen.h>

/** Builds outputs from inputs; parameters are arrays of the graph, in this order.
 *  @return LW_ERR_UNSUPPORTED naming the joint without inertia, LW_ERR_MEMORY */
typedef lw_status lwi_generate(lwi_codegen_graph *graph, const lwi_elements *elements,
                               lwi_arena *arena, lw_error *error);

#define X(name, summary) lwi_generate lwi_generate_##name;
LW_CODEGEN_LIST(X)
#undef X

/** Functions that are generated for compiled models alone, after those of the list. */
enum { LWI_CODEGEN_DERIVATIVES = LW_CODEGEN_COUNT, LWI_CODEGEN_FUNCTIONS };

/** The function `derivatives` (derivatives.c).  In: the parameters of inverse_dynamics with vdot [NV]; with loops also
 *  load [dependent], efforts of inverse_dynamics less tau.  Out: term [LWI_TERMS][NV] (speed_terms.h); by_q, by_v [NV][NV] of
 *  minus the model's forces; with loops also y_by_q, y_by_v [dependent][NV] of dependent accelerations, N [dependent][free],
 *  z_by_q [free][NV] of N' load.  Entries of matrices that are always 0 are not written: the caller sets them to zero. */
lwi_generate lwi_generate_derivatives;
/** The function `rates` with efforts, an array `tau` after `u`. */
lwi_generate lwi_generate_loaded_rates;
/** The function `rates` with one more result, `power` [1]: of the parts of forces without a potential and of
 *  prescribed motions. */
lwi_generate lwi_generate_working_rates;

/** Outputs the rates of the coordinates to an array. */
void lwi_coordinate_rates(const lwi_walk *walk, int qdot);

#endif
