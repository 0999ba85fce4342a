// jacobian.h -- derivatives of a generated function, in its graph.
#ifndef LWI_CODEGEN_JACOBIAN_H
#define LWI_CODEGEN_JACOBIAN_H

#include "codegen/graph.h"

/** Replaces the outputs of a graph, one array, by their derivatives by the entries of input arrays 0 .. ninput - 1: an
 *  output array for each of them, `jac_0`, ..., column by column: [input entry][output entry].
 *  @param size     [ninput] entries of the input arrays
 *  @param noutput  entries of the output array; its number is `ninput`
 *  @return LW_ERR_MEMORY */
lw_status lwi_codegen_differentiate(lwi_codegen_graph *graph, int ninput, const int *size,
                                    int noutput);
/** The derivative of a value by an entry of an input array; `failed` without memory. */
lwi_codegen_value lwi_codegen_derivative(lwi_codegen_graph *graph, lwi_codegen_value f, int array,
                                         int entry);
/** The partial derivative of an operation by its operand k, 0, 1 or 2. */
lwi_codegen_value lwi_codegen_partial(lwi_codegen_graph *graph, lwi_codegen_value f, int k);

#endif
