// states.h -- signals with states, which are integrated together with the motion: integrals, lags, controllers.
#ifndef LWI_MODEL_SIGNALS_STATES_H
#define LWI_MODEL_SIGNALS_STATES_H

#include "model/signals/functions.h"

enum { LWI_SIGNAL_STATES = 16 }; ///< maximum of one signal

/** States of a function of this description; 0: its type has none. */
int lwi_signal_state_count(const lw_function_desc *desc);
/** Numbers of the description; its formulas are checked elsewhere. */
lw_status lwi_signal_states_check(const lw_function_desc *desc, lw_error *error);
/** Copies lists and what evaluation needs of them. */
lw_status lwi_signal_states_build(const lw_function_desc *desc, lwi_arena *arena,
                                  lwi_function *function);
/** Value of a function with states; `now` has the functions. */
double lwi_signal_states_value(const lwi_function *function, const lwi_now *now);
/** Of a pid: the value that it would have without its range. */
double lwi_signal_states_unlimited(const lwi_function *function, const lwi_now *now);
/** f[0..2]: the same with derivatives along the seed. */
void lwi_signal_states_jet(const lwi_function *function, const lwi_now *now, const lwi_seed *seed,
                           double f[3]);
/** Rates of its states, rate [nstate]. */
void lwi_signal_states_rates(const lwi_function *function, const lwi_now *now, double *rate);
/** Their derivatives along the seed. */
void lwi_signal_states_rate_slopes(const lwi_function *function, const lwi_now *now,
                                   const lwi_seed *seed, double *slope);
/** Of a pid: has it the rates of reference or measured?  Has it a derivative behind a filter, with a state? */
bool lwi_pid_has_rate(const lw_function_desc *desc);
bool lwi_pid_has_filter(const lw_function_desc *desc);
/** Of the anti-windup of a pid with a range [s]. */
double lwi_pid_tracking_time(const lw_function_desc *desc);
/** States at the start, [nstate]. */
void lwi_signal_states_start(const lwi_function *function, const lwi_now *now, double *state);

/** On which side of its limits a signal is; 0: it has none, or is between them. */
double lwi_signal_states_side(const lwi_function *function, const lwi_now *now);

#endif
