// hdca.h -- what is known of the Hamiltonian formulation beside its interface.
//
// State: x = (tree q, tree p, [work], angles of the joints outside the tree).  Equations: hdca.c.
#ifndef LWI_METHODS_DCA_HDCA_H
#define LWI_METHODS_DCA_HDCA_H

#include "system/system.h"
#include "loops/gauge.h"

/** Leaves positions and velocities as they are and makes p the momenta of the velocities
 * themselves: the impulses that the loops have gathered are taken out of p.  A jump of the state:
 * multistep integrators start again after it. */
lw_status lwi_hdca_reset(lwi_work *work, double t, double *x);

/** Rate at which the loops' impulses leak [1/s]; 0: never. */
double lwi_hdca_kappa(const lwi_work *work);
/** Impulses of the rows at the last evaluation: closed->lambda; with closed->edge_joint for whose.
 */
const lwi_system *lwi_hdca_system(const lwi_work *work);

#endif
