// signals.h -- functions of time and of the state as values: what drives and forces of a model follow.
#ifndef LWI_CODEGEN_SIGNALS_H
#define LWI_CODEGEN_SIGNALS_H

#include "codegen/sides.h"

/** What the values of signals are made of. */
typedef struct lwi_sources {
    const lwi_walk *walk;
    lwi_sides
        *sides; ///< for coordinates and motions that formulas read; NULL: functions of time only
} lwi_sources;

/** Refuses signals that are not generated, and what their formulas read.
 *  @param user  what follows them, for the message: "joint 'crank'"
 *  @return LW_ERR_UNSUPPORTED naming the function */
lw_status lwi_signals_check(const lw_model *model, lw_signal signal, const char *user,
                            lw_error *error);
/** Value of a function or an input; `none` for no signal. */
val lwi_signal_of(const lwi_sources *sources, lw_signal signal, double none);
/** f[0..2]: a function of time and its first two derivatives. */
void lwi_signal_of_time(const lwi_walk *walk, lw_signal signal, val f[3]);
/** Outputs the rates of the states of signals.  @param xdot  array */
void lwi_signal_rates(const lwi_sources *sources, int xdot);
/** x within a range, either end of which may be infinite. */
val lwi_within(lwi_codegen_graph *g, val x, const double range[2]);

#endif
