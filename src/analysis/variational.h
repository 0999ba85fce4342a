// variational.h -- derivatives of results of a run by parameters, forward along its Runge-Kutta steps.
//
// With S_k = dx/dp_k along the speeds, every step of the run is differentiated with its step size as a constant:
//
//     dX_i = S + h sum_j a_ij dk_j,   dk_i = f_x dX_i + f_p,   S += h sum_i b_i dk_i
//
// with f_x, f_p by the derivatives at a state, loops included.  The same derivatives as those of the adjoint, up to
// round-off.                        Cost: of each stage some evaluations of f_x, and two products for each parameter.
#ifndef LWI_ANALYSIS_VARIATIONAL_H
#define LWI_ANALYSIS_VARIATIONAL_H

#include "analysis/recording.h"

/** After lwi_recording_run: a->gradient.  @return LW_ERR_MEMORY, LW_ERR_SINGULAR */
lw_status lwi_variational_run(lwi_recording *recording, lwi_adjoint *a, lw_error *error);

#endif
