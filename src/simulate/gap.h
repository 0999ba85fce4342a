// gap.h -- contacts that begin and end between the ends of a step.
#ifndef LWI_SIMULATE_GAP_H
#define LWI_SIMULATE_GAP_H

#include "model/forces/force.h"

/** Is the gap too wide at both ends of a step of length h to close between them, by velocities alone?  Two gaps a and b
 *  take a path of length a + b to close and open again. */
bool lwi_gap_is_wide(const lwi_gap *a, const lwi_gap *b, double h);

/** May a gap that is open at both ends close by more than `tolerance` between them?
 *  @param s  where it is smallest, in (0, 1) of the step */
bool lwi_gap_may_close(const lwi_gap *a, const lwi_gap *b, double h, double tolerance, double *s);

#endif
