// adjoint.h -- gradients of results of a run by parameters, by the adjoint of its Runge-Kutta steps.
//
// Problem: x' = f(x, p), x = (q, v) of the spanning tree.  Every step, and for each its stages X_i, k_i = f(X_i), is
// differentiated backwards:
//
//     kbar_i = h (b_i xbar + sum_j a_ji Xbar_j),   Xbar_i = f_x' kbar_i,   pbar += f_p' kbar_i,   xbar += sum Xbar_i
//
// with step sizes as constants.  Steps that are too many to be stored are computed again (recorded_steps.c).  f_x' and f_p' by the
// derivatives at a state (dynamics/state_derivatives.h, slopes.h); displacements of quaternions along the speeds.
// Cost: for any number of parameters that change inertia alone some evaluations of f_x for each of f.
#ifndef LWI_ANALYSIS_ADJOINT_H
#define LWI_ANALYSIS_ADJOINT_H

#include <linkwork/analysis.h>

typedef struct lwi_adjoint lwi_adjoint;
enum { LWI_ADJOINT_WARNING = 400 }; ///< size of its text
#define LWI_ADJOINT_MEMORY 8388608  ///< for rates of the run's steps [bytes]

/** @param desc    of LW_SENSITIVITY_ADJOINT or _FORWARD
 *  @param memory  LWI_ADJOINT_MEMORY, or less in tests */
lw_status lwi_adjoint_create(const lw_model *model, const lw_sensitivity_desc *desc, size_t memory,
                             lwi_adjoint **adjoint, lw_error *error);
/** The same of LW_SENSITIVITY_FORWARD with values and derivatives of rows, without those of a statistic.
 *  @param row  [rows] their numbers in intervals of the options' `sample`, in rising order, the last one at the end
 *  @return LW_ERR_MODEL: an event ends the run before the last row */
lw_status lwi_adjoint_create_rows(const lw_model *model, const lw_sensitivity_desc *desc,
                                  size_t memory, const long *row, long rows, lwi_adjoint **adjoint,
                                  lw_error *error);
double lwi_adjoint_row_value(const lwi_adjoint *adjoint, long row, int column);
double lwi_adjoint_row_gradient(const lwi_adjoint *adjoint, long row, int column, int parameter);
void lwi_adjoint_destroy(lwi_adjoint *adjoint);
int lwi_adjoint_columns(const lwi_adjoint *adjoint);
lw_column_info lwi_adjoint_column(const lwi_adjoint *adjoint, int column);
lw_statistic lwi_adjoint_statistic(const lwi_adjoint *adjoint, int column);
void lwi_adjoint_tolerances(const lwi_adjoint *adjoint, double *rtol, double *atol);
/** Why the derivatives may be far from exact; "": nothing is known. */
const char *lwi_adjoint_warning(const lwi_adjoint *adjoint);
double lwi_adjoint_value(const lwi_adjoint *adjoint, int column);
double lwi_adjoint_gradient(const lwi_adjoint *adjoint, int column, int parameter);

#endif
