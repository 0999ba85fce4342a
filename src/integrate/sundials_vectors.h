// sundials_vectors.h -- operations of SUNDIALS on vectors, with the bits of its serial ones.
#ifndef LWI_INTEGRATE_SUNDIALS_VECTORS_H
#define LWI_INTEGRATE_SUNDIALS_VECTORS_H

#include <sundials/sundials_nvector.h>

/** Replaces the operations on serial vectors that steps take most often. */
void lwi_sundials_set_vectors(struct _generic_N_Vector_Ops *operations);

#endif
