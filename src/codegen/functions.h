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
/** The function `rates` of compiled runs, with more results: `power` [1] of the parts of forces without a potential and of
 *  prescribed motions, if some do work; with loops the dependent speeds in v are not read, `consistent` [tree nv] has those that
 *  follow from the others, and `angledot` the rates of closing_rates, if there are any. */
lwi_generate lwi_generate_run_rates;

/** Outputs the rates of the coordinates to an array. */
void lwi_coordinate_rates(const lwi_walk *walk, int qdot);
/** Outputs the rates of the angles of joints that close loops.  @return LW_ERR_MEMORY */
lw_status lwi_closing_rates(const lwi_walk *walk, int angledot, lwi_arena *arena);
/** All speeds of the tree, with loops: the dependent ones follow from the independent ones in v.
 *  @param u  [tree nv] out;  @return LW_ERR_MEMORY */
lw_status lwi_consistent_speeds(const lwi_walk *walk, val *u, lwi_arena *arena);

#endif
