// sundials_memory.h -- vectors, matrices and factors for SUNDIALS, in memory of a caller's allocator.
//
// SUNDIALS does not check whether a copy of a vector or matrix could be made.  So a copy is always made: where there is no
// memory it is the same spare one each time, and `exhausted` is set.  SUNDIALS copies while an integrator is created;
// its user tests `exhausted` after that, and gives up.  Where SUNDIALS fails in the middle it may destroy a vector twice:
// all is released together, at the end.
#ifndef LWI_INTEGRATE_SUNDIALS_MEMORY_H
#define LWI_INTEGRATE_SUNDIALS_MEMORY_H

#include "base/base.h"

#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nvector.h>

typedef struct lwi_sundials_memory {
    lw_allocator allocator;
    SUNContext context;
    int n;
    bool exhausted;
    struct lwi_sundials_block *blocks; // all that was taken
    N_Vector spare;
    SUNMatrix spare_matrix;
    struct _generic_N_Vector_Ops
        vector_operations; // those of serial vectors, except copy and destroy
    struct _generic_SUNMatrix_Ops matrix_operations; // likewise, of dense matrices
    struct _generic_SUNLinearSolver_Ops solver_operations;
} lwi_sundials_memory;

/** For vectors of n components.  `memory` is zero before, and stays where it is.  @return false: no memory */
bool lwi_sundials_memory_create(lwi_sundials_memory *memory, int n, const lw_allocator *allocator,
                                SUNContext context);
/** Releases all vectors, matrices and factors. */
void lwi_sundials_memory_destroy(lwi_sundials_memory *memory);

/** @param data  [n], used in place; NULL: its own
 *  @return NULL: no memory */
N_Vector lwi_sundials_vector(lwi_sundials_memory *memory, double *data);
/** [n][n] @return NULL: no memory */
SUNMatrix lwi_sundials_matrix(lwi_sundials_memory *memory);
/** LU factors with pivots, for such matrices.  @return NULL: no memory */
SUNLinearSolver lwi_sundials_solver(lwi_sundials_memory *memory);

#endif
