// factor.h -- L D L' of small symmetric matrices of values, and solutions with it.
#ifndef LWI_CODEGEN_FACTOR_H
#define LWI_CODEGEN_FACTOR_H

#include "codegen/algebra.h"

/** D = L diag(1/inverse) L', L with unit diagonal. */
typedef struct lwi_factor {
    int n;
    val L[6][6], inverse[6];
} lwi_factor;

/** @return false if a pivot is a literal that is not positive */
bool lwi_factorise(lwi_codegen_graph *g, int n, val D[6][6], lwi_factor *factor);
/** x = L^-1 x, x = L'^-1 x */
void lwi_factor_forward(lwi_codegen_graph *g, const lwi_factor *factor, val *x);
void lwi_factor_backward(lwi_codegen_graph *g, const lwi_factor *factor, val *x);

#endif
