// projection.h -- states of a recorded run, and their derivatives, on the manifold of loops and couplings.
//
// Problem: steps integrate accelerations alone, so positions and speeds leave
//     phi(q, p) = 0,   J v + b = 0                                                     (rows of loops/cut.h)
// and so do derivatives, as they are integrated with the same steps: dq, dv of a motion satisfy
//     J dq + phi_p dp = 0,   J dv + (J v + b)_q dq + (J v + b)_p dp = 0
// At the end of each step the state is moved to the first, by the displacement and the change of speeds of minimum kinetic
// energy.  At the beginning of each step derivatives are moved to the second, which is the derivative of any projection at
// a state on the manifold; the adjoint takes the transpose.                                Cost: O(n m^2) for each step.
#ifndef LWI_ANALYSIS_PROJECTION_H
#define LWI_ANALYSIS_PROJECTION_H

#include "analysis/recording.h"

/** x [nx] := the nearest state on the manifold; unchanged at singular positions. */
void lwi_projection_state(lwi_recording *s, double t, double *x);
/** bar [nt] of column c after the projection becomes that before it; after the derivatives at the state.
 *  @param gradient  [nby] of this column: the part of slopes that are not local is added
 *  @param factors   [2 m + n] scratch */
void lwi_projection_back(lwi_recording *s, const lwi_slope_state *at, int c, int nby, double *bar,
                         double *gradient, double *factors);
/** rows [2 m][nby] := phi_p, (J v + b)_p.  @param factors  as there, @param by_numbers  [numbers] scratch */
void lwi_projection_rows(lwi_recording *s, const lwi_slope_state *at, int nby, double *by_numbers,
                         double *factors, double *rows);
/** S [nt], of parameter k, becomes that after the projection. */
void lwi_projection_forward(lwi_recording *s, int nby, int k, const double *rows, double *S,
                            double *factors);

#endif
