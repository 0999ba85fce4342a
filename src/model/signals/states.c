// states.c -- signals with states: their equations.  e is the formula, z a state, u the value.
//
//   integral    z' = e, held at an end of the range while e leads out of it          u = z within the range
//   lag         z' = (e - z) / time                                                  u = z
//   rate_limit  z' = (e - z) / time within -rate ... rate                            u = z
//   switch      z' = 0, set by events                                                u = z
//   relay       z' = 0, 1 above `range`, 0 below it, else as before (triggers.c)     u = to where z is 1, else from
//   transfer    b(s) / a(s), a_n = 1, in observable form:                            u = z_n + b_n e
//               z_k' = z_(k-1) - a_(k-1) z_n + (b_(k-1) - a_(k-1) b_n) e,  z_0 = 0
//   pid         e = reference - measured,  w = kp e + z_1 + kd d                     u = w within the range
//               z_1' = ki e + (u - w) / tracking                                     [astrom2006, back-calculation]
//               d = reference_rate - measured_rate where given, else d = z_2' = (e - z_2) / filter
#include "model/signals/states.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ checks

bool lwi_pid_has_rate(const lw_function_desc *d)
{
    return d->reference_rate || d->measured_rate;
}

bool lwi_pid_has_filter(const lw_function_desc *d)
{
    return d->kd != 0 && !lwi_pid_has_rate(d);
}

int lwi_signal_state_count(const lw_function_desc *d)
{
    switch (d->type) {
    case LW_FUNCTION_INTEGRAL:
    case LW_FUNCTION_LAG:
    case LW_FUNCTION_RATE_LIMIT:
    case LW_FUNCTION_SWITCH:
    case LW_FUNCTION_RELAY:
        return 1;
    case LW_FUNCTION_TRANSFER:
        return d->ndenominator - 1;
    case LW_FUNCTION_PID:
        return 1 + lwi_pid_has_filter(d);
    default:
        return 0;
    }
}

static lw_status check_positive(double value, const char *what, lw_error *error)
{
    if (value > 0 && isfinite(value)) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL, "%s is %g, expected a number > 0", what, value);
}

static lw_status check_gain(double value, const char *what, lw_error *error)
{
    if (value >= 0 && isfinite(value)) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL, "%s is %g, expected a number >= 0", what, value);
}

static lw_status check_range(const lw_function_desc *d, lw_error *error)
{
    if (!d->has_range || d->range[0] < d->range[1]) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL, "range is [%g, %g], expected lower < upper", d->range[0],
                    d->range[1]);
}

// The power of s is the place from the end.
static lw_status check_transfer(const lw_function_desc *d, lw_error *error)
{
    TRY(lwi_signal_array(d->numerator, d->nnumerator, 1, "numbers in numerator", error));
    TRY(lwi_signal_array(d->denominator, d->ndenominator, 2, "numbers in denominator", error));
    if (d->ndenominator - 1 > LWI_SIGNAL_STATES)
        return lwi_fail(error, LW_ERR_MODEL, "denominator has %d numbers, expected at most %d",
                        d->ndenominator, (int)LWI_SIGNAL_STATES + 1);
    if (d->denominator[0] == 0)
        return lwi_fail(error, LW_ERR_MODEL,
                        "the first number of denominator, the factor of the highest power of s, "
                        "is 0");
    if (d->nnumerator <= d->ndenominator) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL,
                    "numerator has %d numbers and denominator %d, expected no more in the "
                    "numerator: derivatives of the formula are not known",
                    d->nnumerator, d->ndenominator);
}

static lw_status check_pid(const lw_function_desc *d, lw_error *error)
{
    TRY(check_gain(d->kp, "kp", error));
    TRY(check_gain(d->ki, "ki", error));
    TRY(check_gain(d->kd, "kd", error));
    TRY(check_gain(d->tracking, "tracking", error));
    TRY(check_gain(d->filter, "filter", error));
    if (lwi_pid_has_filter(d) && d->filter == 0)
        return lwi_fail(error, LW_ERR_MODEL,
                        "kd is %g, but neither filter, the time constant of the derivative, nor "
                        "measured_rate is given",
                        d->kd);
    if (d->has_range && d->ki > 0 && d->kp == 0 && d->kd == 0 && d->tracking == 0)
        return lwi_fail(error, LW_ERR_MODEL,
                        "tracking, the time constant of the anti-windup, is missing: there is no "
                        "default without kp and kd");
    return check_range(d, error);
}

static lw_status check_relay(const lw_function_desc *d, lw_error *error)
{
    if (!(isfinite(d->range[0]) && isfinite(d->range[1]) && d->range[0] < d->range[1]))
        return lwi_fail(error, LW_ERR_MODEL, "low is %g and high %g, expected low < high",
                        d->range[0], d->range[1]);
    if (!isfinite(d->from) || !isfinite(d->to))
        return lwi_fail(error, LW_ERR_MODEL, "below or above is not finite");
    if (d->initial == 0 || d->initial == 1) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL, "initial is %g, expected 0 (below) or 1 (above)",
                    d->initial);
}

static lw_status check_start(const lw_function_desc *d, lw_error *error)
{
    const int n = lwi_signal_state_count(d);
    if (!d->states) return LW_OK;
    if (d->has_initial)
        return lwi_fail(error, LW_ERR_MODEL, "both initial and states are given, expected one");
    if (d->nstate != n)
        return lwi_fail(error, LW_ERR_MODEL, "states has %d number%s, expected %d", d->nstate,
                        d->nstate == 1 ? "" : "s", n);
    return lwi_signal_array(d->states, n, 1, "numbers in states", error);
}

lw_status lwi_signal_states_check(const lw_function_desc *d, lw_error *error)
{
    TRY(check_start(d, error));
    if (d->has_initial && !isfinite(d->initial))
        return lwi_fail(error, LW_ERR_MODEL, "initial is %g, expected a finite number", d->initial);
    switch (d->type) {
    case LW_FUNCTION_INTEGRAL:
        return check_range(d, error);
    case LW_FUNCTION_RATE_LIMIT:
        TRY(check_positive(d->rate, "rate", error));
        return check_positive(d->time, "time", error);
    case LW_FUNCTION_LAG:
        return check_positive(d->time, "time", error);
    case LW_FUNCTION_TRANSFER:
        return check_transfer(d, error);
    case LW_FUNCTION_PID:
        return check_pid(d, error);
    case LW_FUNCTION_RELAY:
        return check_relay(d, error);
    default:
        return LW_OK;
    }
}

// ------------------------------------------------------------------------------------------- build

static lw_status copy_numbers(lwi_arena *arena, const double *from, int n, const double **to)
{
    double *copy = LWI_PUSH(arena, double, n);
    if (!copy) return LW_ERR_MEMORY;
    memcpy(copy, from, (size_t)n * sizeof *copy);
    *to = copy;
    return LW_OK;
}

// a_0 ... a_(n-1), b_0 ... b_n
static lw_status build_transfer(const lw_function_desc *d, lwi_arena *arena, lwi_function *f)
{
    const int n = d->ndenominator - 1;
    double *linear = LWI_PUSH(arena, double, 2 * n + 1);
    if (!linear) return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++) linear[i] = d->denominator[n - i] / d->denominator[0];
    for (int i = 0; i < d->nnumerator; i++)
        linear[n + i] = d->numerator[d->nnumerator - 1 - i] / d->denominator[0];
    f->linear = linear;
    TRY(copy_numbers(arena, d->numerator, d->nnumerator, &f->desc.numerator));
    TRY(copy_numbers(arena, d->denominator, d->ndenominator, &f->desc.denominator));
    f->desc.nnumerator = d->nnumerator, f->desc.ndenominator = d->ndenominator;
    return LW_OK;
}

lw_status lwi_signal_states_build(const lw_function_desc *d, lwi_arena *arena, lwi_function *f)
{
    f->nstate = lwi_signal_state_count(d);
    f->start = LWI_PUSH(arena, double, f->nstate);
    if (!f->start) return LW_ERR_MEMORY;
    f->desc.nstate = d->states ? d->nstate : 0;
    if (d->states) TRY(copy_numbers(arena, d->states, d->nstate, &f->desc.states));
    return d->type == LW_FUNCTION_TRANSFER ? build_transfer(d, arena, f) : LW_OK;
}

// ------------------------------------------------------------------------------------------ values

static const double *states_of(const lwi_function *f, const lwi_now *now)
{
    return now->states ? now->states + f->state : f->start;
}

static double within(double x, const lw_function_desc *d)
{
    return d->has_range ? fmin(fmax(x, d->range[0]), d->range[1]) : x;
}

static double formula_value(const lwi_formula *formula, const lwi_now *now)
{
    return formula ? lwi_formula_value(formula, now) : 0;
}

// Parts of a controller at a state.
typedef struct control {
    double e, d, w; // error, its rate, value without the range
} control;

static control control_of(const lwi_function *f, const lwi_now *now)
{
    const lw_function_desc *d = &f->desc;
    const double *z = states_of(f, now);
    control c = {.e = lwi_formula_value(f->formula, now) - lwi_formula_value(f->formula2, now)};
    if (lwi_pid_has_rate(d))
        c.d = formula_value(f->rate[0], now) - formula_value(f->rate[1], now);
    else if (lwi_pid_has_filter(d))
        c.d = (c.e - z[1]) / d->filter;
    c.w = d->kp * c.e + z[0] + d->kd * c.d;
    return c;
}

double lwi_signal_states_value(const lwi_function *f, const lwi_now *now)
{
    const double *z = states_of(f, now);
    const int n = f->nstate;
    switch (f->desc.type) {
    case LW_FUNCTION_INTEGRAL:
        return within(z[0], &f->desc);
    case LW_FUNCTION_TRANSFER:
        if (f->linear[2 * n] == 0) return z[n - 1];
        return z[n - 1] + f->linear[2 * n] * lwi_formula_value(f->formula, now);
    case LW_FUNCTION_PID:
        return within(control_of(f, now).w, &f->desc);
    case LW_FUNCTION_RELAY:
        return z[0] != 0 ? f->desc.to : f->desc.from;
    default:
        return z[0];
    }
}

double lwi_signal_states_unlimited(const lwi_function *f, const lwi_now *now)
{
    return control_of(f, now).w;
}

// ------------------------------------------------------------------------------------------- jets

static void add_jet(const lwi_formula *formula, const lwi_now *now, const lwi_seed *seed,
                    double factor, double f[3])
{
    double g[3];
    if (!formula) return;
    lwi_formula_jet(formula, now, seed, g);
    for (int k = 1; k < 3; k++) f[k] += factor * g[k];
}

// Change of state k of a function along the seed.
static double state_slope(const lwi_function *f, const lwi_seed *seed, int k)
{
    return seed->state == f->state + k + 1 ? 1 : 0;
}

// f[1] of a state, which may be one of a range.
static double own_slope(const lwi_function *f, const lwi_now *now, const lwi_seed *seed)
{
    const double z = states_of(f, now)[0];
    if (f->desc.type == LW_FUNCTION_INTEGRAL && within(z, &f->desc) != z) return 0;
    return state_slope(f, seed, 0);
}

void lwi_signal_states_jet(const lwi_function *function, const lwi_now *now, const lwi_seed *seed,
                           double f[3])
{
    const lw_function_desc *d = &function->desc;
    const int n = function->nstate;
    f[0] = lwi_signal_states_value(function, now);
    f[1] = f[2] = 0;
    if (d->type == LW_FUNCTION_TRANSFER) {
        f[1] = state_slope(function, seed, n - 1);
        add_jet(function->formula, now, seed, function->linear[2 * n], f);
        return;
    }
    if (d->type != LW_FUNCTION_PID) {
        f[1] = d->type == LW_FUNCTION_RELAY ? 0 : own_slope(function, now, seed);
        return;
    }
    if (control_of(function, now).w != f[0]) return; // at an end of the range
    f[1] = state_slope(function, seed, 0);
    if (lwi_pid_has_filter(d)) f[1] -= d->kd / d->filter * state_slope(function, seed, 1);
    const double gain = d->kp + (lwi_pid_has_filter(d) ? d->kd / d->filter : 0);
    add_jet(function->formula, now, seed, gain, f);
    add_jet(function->formula2, now, seed, -gain, f);
    add_jet(function->rate[0], now, seed, d->kd, f);
    add_jet(function->rate[1], now, seed, -d->kd, f);
}

// ------------------------------------------------------------------------------------------ rates

// The geometric mean of the times of integral and derivative, or the former.
double lwi_pid_tracking_time(const lw_function_desc *d)
{
    if (d->tracking > 0) return d->tracking;
    return d->kd > 0 ? sqrt(d->kd / d->ki) : d->kp / d->ki;
}

static void pid_rates(const lwi_function *f, const lwi_now *now, double *rate)
{
    const lw_function_desc *d = &f->desc;
    const control c = control_of(f, now);
    rate[0] = d->ki * c.e;
    if (d->has_range && d->ki > 0) rate[0] += (within(c.w, d) - c.w) / lwi_pid_tracking_time(d);
    if (lwi_pid_has_filter(d)) rate[1] = c.d;
}

static void transfer_rates(const lwi_function *f, const lwi_now *now, double *rate)
{
    const int n = f->nstate;
    const double *z = states_of(f, now), *a = f->linear, *b = f->linear + n;
    const double e = lwi_formula_value(f->formula, now);
    for (int k = 0; k < n; k++)
        rate[k] = (k ? z[k - 1] : 0) - a[k] * z[n - 1] + (b[k] - a[k] * b[n]) * e;
}

void lwi_signal_states_rates(const lwi_function *f, const lwi_now *now, double *rate)
{
    const lw_function_desc *d = &f->desc;
    const double z = states_of(f, now)[0];
    LWI_ASSERT(f->nstate > 0 && f->nstate <= LWI_SIGNAL_STATES);
    switch (d->type) {
    case LW_FUNCTION_TRANSFER:
        transfer_rates(f, now, rate);
        return;
    case LW_FUNCTION_PID:
        pid_rates(f, now, rate);
        return;
    case LW_FUNCTION_SWITCH:
    case LW_FUNCTION_RELAY:
        rate[0] = 0;
        return;
    default:
        break;
    }
    const double e = lwi_formula_value(f->formula, now);
    if (d->type == LW_FUNCTION_INTEGRAL) {
        const bool out =
            d->has_range && ((z <= d->range[0] && e < 0) || (z >= d->range[1] && e > 0));
        rate[0] = out ? 0 : e;
        return;
    }
    rate[0] = (e - z) / d->time;
    if (d->type == LW_FUNCTION_RATE_LIMIT) rate[0] = fmin(fmax(rate[0], -d->rate), d->rate);
}

// ----------------------------------------------------------------------------------- slopes of rates

static double slope_of(const lwi_formula *formula, const lwi_now *now, const lwi_seed *seed)
{
    double f[3] = {0};
    if (formula) lwi_formula_jet(formula, now, seed, f);
    return f[1];
}

static void pid_slopes(const lwi_function *f, const lwi_now *now, const lwi_seed *seed,
                       double *slope)
{
    const lw_function_desc *d = &f->desc;
    const control c = control_of(f, now);
    const double e = slope_of(f->formula, now, seed) - slope_of(f->formula2, now, seed);
    double rate = 0;
    if (lwi_pid_has_rate(d))
        rate = slope_of(f->rate[0], now, seed) - slope_of(f->rate[1], now, seed);
    else if (lwi_pid_has_filter(d))
        rate = (e - state_slope(f, seed, 1)) / d->filter;
    slope[0] = d->ki * e;
    if (d->has_range && d->ki > 0 && within(c.w, d) != c.w)
        slope[0] -= (d->kp * e + state_slope(f, seed, 0) + d->kd * rate) / lwi_pid_tracking_time(d);
    if (lwi_pid_has_filter(d)) slope[1] = rate;
}

static void transfer_slopes(const lwi_function *f, const lwi_now *now, const lwi_seed *seed,
                            double *slope)
{
    const int n = f->nstate;
    const double *a = f->linear, *b = f->linear + n, e = slope_of(f->formula, now, seed);
    for (int k = 0; k < n; k++)
        slope[k] = (k ? state_slope(f, seed, k - 1) : 0) - a[k] * state_slope(f, seed, n - 1) +
                   (b[k] - a[k] * b[n]) * e;
}

void lwi_signal_states_rate_slopes(const lwi_function *f, const lwi_now *now, const lwi_seed *seed,
                                   double *slope)
{
    const lw_function_desc *d = &f->desc;
    const double z = states_of(f, now)[0];
    double rate;
    switch (d->type) {
    case LW_FUNCTION_TRANSFER:
        transfer_slopes(f, now, seed, slope);
        return;
    case LW_FUNCTION_PID:
        pid_slopes(f, now, seed, slope);
        return;
    case LW_FUNCTION_SWITCH:
    case LW_FUNCTION_RELAY:
        slope[0] = 0;
        return;
    default:
        break;
    }
    const double e = slope_of(f->formula, now, seed);
    lwi_signal_states_rates(f, now, &rate);
    if (d->type == LW_FUNCTION_INTEGRAL) {
        const bool held = rate == 0 && d->has_range && (z <= d->range[0] || z >= d->range[1]);
        slope[0] = held ? 0 : e;
        return;
    }
    const bool limited = d->type == LW_FUNCTION_RATE_LIMIT && fabs(rate) >= d->rate;
    slope[0] = limited ? 0 : (e - state_slope(f, seed, 0)) / d->time;
}

// ------------------------------------------------------------------------------------------ start

void lwi_signal_states_start(const lwi_function *f, const lwi_now *now, double *z)
{
    const lw_function_desc *d = &f->desc;
    const int n = f->nstate;
    memset(z, 0, (size_t)n * sizeof *z);
    if (d->states) {
        memcpy(z, d->states, (size_t)n * sizeof *z);
        if (d->type == LW_FUNCTION_INTEGRAL) z[0] = within(z[0], d);
        return;
    }
    if (d->type == LW_FUNCTION_INTEGRAL || d->type == LW_FUNCTION_PID) {
        z[0] = d->type == LW_FUNCTION_INTEGRAL ? within(d->initial, d) : d->initial;
        if (n > 1) z[1] = lwi_formula_value(f->formula, now) - lwi_formula_value(f->formula2, now);
        return;
    }
    if (d->type == LW_FUNCTION_SWITCH) {
        z[0] = d->value;
        return;
    }
    if (d->type == LW_FUNCTION_RELAY) {
        const double x = lwi_formula_value(f->formula, now);
        z[0] = x >= d->range[1] ? 1 : x <= d->range[0] ? 0 : d->initial;
        return;
    }
    const double e = d->has_initial ? d->initial : lwi_formula_value(f->formula, now);
    if (d->type != LW_FUNCTION_TRANSFER) {
        z[0] = e;
        return;
    }
    const double *a = f->linear, *b = f->linear + n;
    if (a[0] == 0) return; // no steady state
    const double u = b[0] / a[0] * e;
    for (int k = 0; k < n - 1; k++) z[k] = a[k + 1] * u - b[k + 1] * e;
    z[n - 1] = u - b[n] * e;
}

// ------------------------------------------------------------------------------------------ limits

static double side_of(double x, double lower, double upper)
{
    return (x >= upper) - (x <= lower);
}

double lwi_signal_states_side(const lwi_function *f, const lwi_now *now)
{
    const lw_function_desc *d = &f->desc;
    switch (d->type) {
    case LW_FUNCTION_RATE_LIMIT:
        return side_of((lwi_formula_value(f->formula, now) - states_of(f, now)[0]) / d->time,
                       -d->rate, d->rate);
    case LW_FUNCTION_PID:
        return d->has_range ? side_of(control_of(f, now).w, d->range[0], d->range[1]) : 0;
    case LW_FUNCTION_INTEGRAL: {
        if (!d->has_range) return 0;
        const double side = side_of(states_of(f, now)[0], d->range[0], d->range[1]);
        return side * (lwi_formula_value(f->formula, now) * side > 0 ? 2 : 1); // held there
    }
    default:
        return 0;
    }
}
