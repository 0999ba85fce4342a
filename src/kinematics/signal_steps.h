// signal_steps.h -- states of signals in the steps of formulations that have their own.
#ifndef LWI_KINEMATICS_SIGNAL_STEPS_H
#define LWI_KINEMATICS_SIGNAL_STEPS_H

#include "base/linear.h"
#include "model/model.h"

typedef struct lwi_signal_steps {
    int n; ///< states of the model; 0: none has a rate
    double *c, *c0, *g, *g0, *near, *rhs,
        *dc;        ///< [n] states, rates; of the end and of the beginning; scratch
    double *G;      ///< [n][n] dg/dc
    bool *held;     ///< [n] without a rate: of switches, with a hysteresis too
    lwi_cod matrix; ///< 1 - h/2 G
} lwi_signal_steps;

/** Rates g [n] of the states c [n], at the present motion. */
typedef void (*lwi_signal_rates)(void *user, const double *c, double *g);

lw_status lwi_signal_steps_create(const lw_model *model, lwi_arena *arena, lwi_signal_steps *s);
/** G and the factors of 1 - h/2 G at the states s->c. */
void lwi_signal_steps_linearise(lwi_signal_steps *s, double h, lwi_signal_rates rates, void *user);
/** One iteration for s->c at the end of a trapezoidal step, from s->c0, s->g0 and the rates s->g at s->c; the largest
 *  increment, relative to the state or to 1. */
double lwi_signal_steps_trapezoidal(lwi_signal_steps *s, double h);
/** c [n] after a time h at a motion that is held, by the implicit midpoint rule. */
void lwi_signal_steps_midpoint(lwi_signal_steps *s, double h, double *c, lwi_signal_rates rates,
                               void *user);

#endif
