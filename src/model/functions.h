// functions.h -- functions of time with exact derivatives.
#ifndef LWI_FUNCTIONS_H
#define LWI_FUNCTIONS_H

#include "base/base.h"

#include <linkwork/model.h>

typedef struct lwi_function {
    lw_function_desc desc; ///< arrays owned by the arena
    const double *slope2;  ///< table: second derivatives at the points [npoint]
} lwi_function;

/** Checks values (counts, finite numbers, increasing times) of one description. */
lw_status lwi_function_check(const lw_function_desc *desc, int ndefined, lw_error *error);
/** A sum must not expand to too many terms or nest too deep; `all` are the functions before it. */
lw_status lwi_function_check_sum(const lw_function_desc *all, const lw_function_desc *desc,
                                 lw_error *error);
/** Deep copy with what evaluation needs. */
lw_status lwi_function_build(const lw_function_desc *desc, lwi_arena *arena, lwi_function *function);
/** f[0..2]: value and first two derivatives at t of signal s > 0 among `all`; zeros for s == 0. */
void lwi_function_eval(const lwi_function *all, lw_signal s, double t, double f[3]);
/** Next time after t at which a derivative up to the third jumps; INFINITY when never. */
double lwi_function_next_break(const lwi_function *all, lw_signal s, double t);
/** Value of a function, of an input (inputs NULL: 0), or `none` for no signal. */
double lwi_signal_value(const lwi_function *all, lw_signal s, double t, const double *inputs,
                        double none);

#endif
