// gauge.h -- how the impulses of loops are taken out of momenta (gauge.c): for every
// formulation whose state is the momenta of a tree.
#ifndef LWI_LOOPS_GAUGE_H
#define LWI_LOOPS_GAUGE_H

#include "kinematics/closure.h"

#include <linkwork/simulate.h>

typedef enum lwi_gauge_reason {
    LWI_GAUGE_GRAVITY,
    LWI_GAUGE_SPEED,   ///< no gravity: by the speeds at the start
    LWI_GAUGE_NOMINAL, ///< neither: as if there were gravity
    LWI_GAUGE_OPTION,
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
/** l of a cut: the rate at which its impulses sigma leave for the momenta, beside the reaction that
 * feeds them.
 *  @param joint   that is cut; negative: a coupling
 *  @param length  unit between displacements and turns [m]
 *  @param rows    at level RATES, by the poses of `motion` */
void lwi_gauge_leak(const lw_model *model, const lwi_motion *motion, double length,
                    const lwi_gauge *gauge, int joint, const lwi_closure *rows, const double *sigma,
                    double *leak);
/** "kappa 1.2 1/s: ..." */
void lwi_gauge_about(const lwi_gauge *gauge, char *text, size_t size);

#endif
