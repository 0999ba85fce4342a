// accumulate.h -- Jacobians of values of a graph, as further values of the same graph, by vertex elimination.
#ifndef LWI_CODEGEN_ACCUMULATE_H
#define LWI_CODEGEN_ACCUMULATE_H

#include "codegen/graph.h"

/** The derivative `by` of an input of the graph by variable number `variable`. */
typedef struct lwi_codegen_seed {
    lwi_codegen_value value;
    int variable;
    lwi_codegen_value by;
} lwi_codegen_seed;

/** Derivatives of the values `f` by variables on which the inputs depend as the seeds state.
 *  @param seed       [nseed]; inputs without a seed are constant
 *  @param variables  number of variables
 *  @param f          [n]; a value may occur more than once
 *  @param jacobian   [n][variables] out; the literal 0 where a value does not depend on a variable
 *  @return LW_ERR_MEMORY */
lw_status lwi_codegen_accumulate(lwi_codegen_graph *graph, int nseed, const lwi_codegen_seed *seed,
                                 int variables, int n, const lwi_codegen_value *f,
                                 lwi_codegen_value *jacobian);

#endif
