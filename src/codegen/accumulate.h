// accumulate.h -- the Jacobian of values of a graph, as further values of it, by elimination of the values between.
#ifndef LWI_CODEGEN_ACCUMULATE_H
#define LWI_CODEGEN_ACCUMULATE_H

#include "codegen/graph.h"

/** The derivative of a value, an input, by a variable. */
typedef struct lwi_codegen_seed {
    lwi_codegen_value value;
    int variable;
    lwi_codegen_value by;
} lwi_codegen_seed;

/** Derivatives of values `f` by the variables on which values depend as the seeds say.
 *  @param f         [n] may name a value more than once
 *  @param jacobian  [n][variables] out; literals 0 where there is no dependence
 *  @return LW_ERR_MEMORY */
lw_status lwi_codegen_accumulate(lwi_codegen_graph *graph, int nseed, const lwi_codegen_seed *seed,
                                 int variables, int n, const lwi_codegen_value *f,
                                 lwi_codegen_value *jacobian);

#endif
