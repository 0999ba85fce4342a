// functions.h -- functions of time with exact derivatives; formulas may read joints too.
#ifndef LWI_MODEL_SIGNALS_FUNCTIONS_H
#define LWI_MODEL_SIGNALS_FUNCTIONS_H

#include "base/base.h"
#include "model/signals/formula.h"

#include <linkwork/model.h>

typedef struct lwi_function {
    lw_function_desc desc; ///< arrays owned by the arena
    const double *slope2;  ///< table: second derivatives at the points [npoint]
    lwi_formula *formula;  ///< formula: its program
} lwi_function;

/** Checks values (counts, finite numbers, increasing times) of one description. */
lw_status lwi_function_check(const lw_function_desc *desc, int ndefined, lw_error *error);
/** A sum must not expand to too many terms or nest too deep; `all` are the functions before it. */
lw_status lwi_function_check_sum(const lw_function_desc *all, const lw_function_desc *desc,
                                 lw_error *error);
/** Deep copy with what evaluation needs. */
lw_status lwi_function_build(const lw_function_desc *desc, lwi_arena *arena,
                             lwi_function *function);
/** The first formula that reads joints among what signal s is made of, or NULL. */
const lw_function_desc *lwi_function_of_state(const lw_function_desc *all, lw_signal s);
/** The same for formulas with a slope that may jump. */
const lw_function_desc *lwi_function_kinked(const lw_function_desc *all, lw_signal s);
/** f[0..2]: value and first two derivatives at t of signal s > 0 among `all`, which must be one of
 *  time alone; zeros for s == 0. */
void lwi_function_eval(const lwi_function *all, lw_signal s, double t, double f[3]);
/** Next time after t at which a derivative up to the third jumps; INFINITY when never.  Those of
 *  formulas are not known. */
double lwi_function_next_break(const lwi_function *all, lw_signal s, double t);
/** Next time after t at which the first derivative jumps; INFINITY: never.  Those of formulas are not known. */
double lwi_function_next_jump(const lwi_function *all, lw_signal s, double t);
/** Value of a function, of an input (inputs NULL: 0), or `none` for no signal. */
double lwi_signal_value(const lwi_function *all, lw_signal s, const lwi_now *now, double none);

#endif
