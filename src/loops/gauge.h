// gauge.h -- choice of the impulses of loops (gauge.c), for every formulation with the momenta of a tree as
// state.
#ifndef LWI_LOOPS_GAUGE_H
#define LWI_LOOPS_GAUGE_H

#include "kinematics/closure.h"

#include <linkwork/simulate.h>

typedef enum lwi_gauge_reason {
    LWI_GAUGE_GRAVITY,
    LWI_GAUGE_SPEED,   ///< no gravity: from the speeds at the start
    LWI_GAUGE_NOMINAL, ///< neither: as for nominal gravity
    LWI_GAUGE_OPTION,
    LWI_GAUGE_NONE
} lwi_gauge_reason;

/** Decay of the impulses in the momenta. */
typedef struct lwi_gauge {
    double kappa;  ///< [1/s]
    double extent; ///< extent of the mechanism at the start [m]
    lwi_gauge_reason reason;
} lwi_gauge;

/** Gauge by the option `kappa`; options may be NULL: auto. */
lwi_gauge lwi_gauge_choose(const lw_model *model, const lw_options *options);
/** Decay term l of a cut, sigmadot = lambda - l.
 *  @param joint   the cut joint; negative: a coupling
 *  @param length  unit between translations and rotations [m]
 *  @param rows    at level RATES, at the poses of `motion`
 *  @param sigma   [rows->n]       @param leak  [rows->n] out: l */
void lwi_gauge_leak(const lw_model *model, const lwi_motion *motion, double length,
                    const lwi_gauge *gauge, int joint, const lwi_closure *rows, const double *sigma,
                    double *leak);
/** "kappa 1.2 1/s: ..." */
void lwi_gauge_about(const lwi_gauge *gauge, char *text, size_t size);

#endif
