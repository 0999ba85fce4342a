// hdca.h -- the Hamiltonian formulation beyond its interface.
//
// State: x = (tree q, tree p, [work], angles of the joints outside the tree).  Equations: hdca.c.
#ifndef LWI_METHODS_DCA_HDCA_H
#define LWI_METHODS_DCA_HDCA_H

#include "system/system.h"
#include "loops/gauge.h"

/** Keeps positions and velocities and sets p to the momenta of the velocities: the impulses accumulated in
 *  loops are removed from p.  The state jumps: multistep integrators must restart.
 *  @return as the evaluation of velocities: LW_ERR_SINGULAR, LW_ERR_NOT_FINITE */
lw_status lwi_hdca_reset(lwi_work *work, double t, double *x);

/** The state x [nx] of the model's start with the momenta of its velocities as they are: what `enter` leaves up to
 *  round-off, without an elimination.  The run is to be entered after it.
 *  @return false: the start has not the generic ranks, or may not have them */
bool lwi_hdca_estimate_start(lwi_work *work, const lwi_snapshot *start, double *x);

// At a given state, with the momenta of floating bases in link axes.  x [nx] is scratch; angles of cut joints are
// the nearest to those of the state in it.

/** p [tree_nv] of the speeds v [tree_nv], without impulses of loops: M v, rotors of cut joints included. */
void lwi_hdca_link_momenta(lwi_work *work, double t, const double *q, const double *v, double *x,
                           double *p);
/** Speeds v [tree_nv], and xdot [nx] with the rates of q and p first.
 *  @return as the evaluation of velocities: LW_ERR_SINGULAR, LW_ERR_NOT_FINITE */
lw_status lwi_hdca_link_rates(lwi_work *work, double t, const double *q, const double *p,
                              const double *inputs, double *x, double *v, double *xdot);

/** Rate kappa at which impulses of loops decay [1/s]; 0: never. */
double lwi_hdca_kappa(const lwi_work *work);
/** Impulses of the rows at the last evaluation: system->lambda; system->edge_joint gives the joint of each
 *  edge. */
const lwi_system *lwi_hdca_system(const lwi_work *work);

#endif
