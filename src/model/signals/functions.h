// functions.h -- functions of time and of the state (signals) with exact derivatives.
#ifndef LWI_MODEL_SIGNALS_FUNCTIONS_H
#define LWI_MODEL_SIGNALS_FUNCTIONS_H

#include "base/base.h"
#include "model/signals/formula.h"
#include "model/signals/table.h"

#include <linkwork/model.h>

typedef struct lwi_function {
    lw_function_desc desc; ///< arrays owned by the arena
    lwi_table table;       ///< table, curve, map
    lwi_formula *formula;  ///< formula: its program; curve, map: what they are over
    lwi_formula *formula2; ///< map: what the second axis is over
    lwi_formula *rate[2];  ///< pid: rates of reference and measured; NULL: none
    int nstate, state;     ///< states; the first one in lwi_now.states
    double *start;         ///< [nstate] states at the start
    const double *linear;  ///< transfer: coefficients of its states (states.c)
    bool read;             ///< by forces or rates of signals
    bool moves;            ///< its value depends on the state
    bool kinked; ///< read, and its value, slope or second derivative may jump with the state
} lwi_function;

/** Has it states with rates?  Switches and relays have none: events set them. */
static inline bool lwi_function_is_integrated(const lwi_function *f)
{
    return f->nstate > 0 && f->desc.type != LW_FUNCTION_SWITCH && f->desc.type != LW_FUNCTION_RELAY;
}
enum { LWI_FUNCTION_FORMULAS = 4 };
/** Formula i of a function, i < LWI_FUNCTION_FORMULAS, or NULL. */
static inline lwi_formula *lwi_function_formula(const lwi_function *f, int i)
{
    return i == 0 ? f->formula : i == 1 ? f->formula2 : f->rate[i - 2];
}

/** What formulas may name: the functions and inputs that were added before. */
typedef struct lwi_signal_names {
    const lw_function_desc *function;
    int nfunction;
    const char *const *input;
    int ninput;
    const char *self; ///< name of the function itself, where its formula may read it; else NULL
} lwi_signal_names;

extern const lwi_seed lwi_seed_time; ///< along t

/** Checks values (counts, finite numbers, increasing times, names of formulas) of one description. */
lw_status lwi_function_check(const lw_function_desc *desc, const lwi_signal_names *names,
                             lw_error *error);
/** A function must not expand to too many terms or nest too deep; `all` are the functions before it. */
lw_status lwi_function_check_sum(const lw_function_desc *all, const lw_function_desc *desc,
                                 lw_error *error);
/** Deep copy with what evaluation needs.  `terms` are then all functions and inputs that it is made of. */
lw_status lwi_function_build(const lw_function_desc *desc, const lwi_signal_names *names,
                             lwi_arena *arena, lwi_function *function);
/** The first formula that reads the state among what signal s is made of, or NULL. */
const char *lwi_function_of_state(const lw_function_desc *all, lw_signal s);
/** The same for formulas and curves with a slope that may jump. */
const char *lwi_function_kinked(const lw_function_desc *all, lw_signal s);
/** Marks signal s, and all that its value is made of, as read by forces or rates: see lwi_function. */
void lwi_function_mark_read(lwi_function *all, const lw_function_desc *desc, lw_signal s);
/** Is it an interpolation with second derivatives that jump at its points? */
bool lwi_function_is_monotone(const lw_function_desc *d);
/** On which smooth piece a function is: another number where it has passed a corner or a jump with the state. */
int lwi_function_piece(const lwi_function *function, const lwi_now *now);
/** The first input among what signal s is made of; index 0: none. */
lw_signal lwi_function_input(const lw_function_desc *all, lw_signal s);
/** LWI_NEEDS_* of everything that signal s is made of. */
unsigned lwi_function_needs(const lwi_function *all, lw_signal s);
/** f[0..2]: value and first two derivatives at t of signal s > 0 among `all`, which must be one of
 *  time alone; zeros for s == 0. */
void lwi_function_eval(const lwi_function *all, lw_signal s, double t, double f[3]);
/** Next time after t at which a derivative up to the third jumps; INFINITY when never.  Those of
 *  formulas are not known. */
double lwi_function_next_break(const lwi_function *all, lw_signal s, double t);
/** Next time after t at which the first derivative jumps; INFINITY: never.  Those of formulas are not known. */
double lwi_function_next_jump(const lwi_function *all, lw_signal s, double t);
/** f[0..2]: value and first two derivatives along the seed. */
void lwi_signal_jet(const lwi_function *all, lw_signal s, const lwi_now *now, const lwi_seed *seed,
                    double f[3]);
/** Has the signal, with all that it names, a gradient?  States of signals have none. */
bool lwi_signal_has_gradient(const lwi_function *all, lw_signal s);
/** Adds `by` times the derivatives by everything that the signal reads of a motion. */
void lwi_signal_gradient(const lwi_function *all, lw_signal s, const lwi_now *now, double by,
                         const lwi_gradient_sink *to);
/** Value of a function, of an input (inputs NULL: 0), or `none` for no signal. */
double lwi_signal_value(const lwi_function *all, lw_signal s, const lwi_now *now, double none);

#endif
