// hdca.h -- what is known of the Hamiltonian formulation beside its interface: the gauge of
// impulses.
//
// State: x = (tree q, tree p, [work], angles of the joints outside the tree).  Equations: hdca.c.
#ifndef LWI_HDCA_H
#define LWI_HDCA_H

#include "formulation/closed.h"

/** Leaves positions and velocities as they are and makes p the momenta of the velocities
 * themselves: the impulses that the loops have gathered are taken out of p.  A jump of the state:
 * multistep integrators start again after it. */
lw_status lwi_hdca_reset(lwi_work *work, double t, double *x);

// ------------------------------------------------------------------------------ gauge
// (hdca_gauge.c)

typedef enum lwi_gauge_reason {
    LWI_GAUGE_GRAVITY,
    LWI_GAUGE_SPEED,   ///< no gravity: by the speeds at the start
    LWI_GAUGE_NOMINAL, ///< neither: as if there were gravity
    LWI_GAUGE_GIVEN,
    LWI_GAUGE_NONE
} lwi_gauge_reason;

/** How impulses are taken out of momenta. */
typedef struct lwi_gauge {
    double kappa;  ///< [1/s]
    double extent; ///< of the mechanism at the start [m]
    lwi_gauge_reason reason;
} lwi_gauge;

/** By the option `kappa`; options may be NULL. */
lwi_gauge lwi_gauge_choose(const lw_model *model, const lw_options *options);
/** l of edge e: the rate at which its impulses sigma leave for the momenta, beside the reaction
 * that feeds them. rows: of the edge, at level RATES. */
void lwi_gauge_leak(const lwi_closed *closed, const lwi_gauge *gauge, int e,
                    const lwi_closure *rows, const double *sigma, double *leak);
/** "kappa 1.2 1/s: ..." */
void lwi_gauge_about(const lwi_gauge *gauge, char *text, size_t size);

/** Rate at which the loops' impulses leak [1/s]; 0: never. */
double lwi_hdca_kappa(const lwi_work *work);
/** Impulses of the rows at the last evaluation: closed->lambda; with closed->edge_joint for whose.
 */
const lwi_closed *lwi_hdca_closed(const lwi_work *work);

#endif
