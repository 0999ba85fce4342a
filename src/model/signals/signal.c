// signal.c -- values of signals at a state, and derivatives along a line of states.
//
//   curve   f(a(s)):        f' = f1 a',                f'' = f11 a' a' + f1 a''
//   map     f(a(s), b(s)):  f' = f1 a' + f2 b',        f'' = f11 a' a' + 2 f12 a' b' + f22 b' b' + f1 a'' + f2 b''
#include "model/signals/functions.h"

#include "model/signals/states.h"

const lwi_seed lwi_seed_time = {.t = 1, .iq = -1, .iv = -1, .spring = -1};

// Values through curves and maps; `now` has the functions.
static double value_of(const lwi_function *function, const lwi_now *now)
{
    double f[6], x[2];
    if (function->nstate > 0) return lwi_signal_states_value(function, now);
    switch (function->desc.type) {
    case LW_FUNCTION_FORMULA:
        return lwi_formula_value(function->formula, now);
    case LW_FUNCTION_CURVE:
        lwi_curve_eval(&function->table, lwi_formula_value(function->formula, now), f);
        return f[0];
    default:
        x[0] = lwi_formula_value(function->formula, now);
        x[1] = lwi_formula_value(function->formula2, now);
        lwi_map_eval(&function->table, x, f);
        return f[0];
    }
}

static bool reads(const lwi_function *function)
{
    const lw_function_type type = function->desc.type;
    return type == LW_FUNCTION_FORMULA || type == LW_FUNCTION_CURVE || type == LW_FUNCTION_MAP ||
           function->nstate > 0;
}

double lwi_signal_value(const lwi_function *all, lw_signal s, const lwi_now *now, double none)
{
    if (s.index == 0) return none;
    if (s.index < 0) return now->inputs ? now->inputs[-s.index - 1] : 0;
    const lwi_function *function = &all[s.index - 1];
    if (reads(function)) {
        lwi_now here = *now;
        here.functions = all;
        return value_of(function, &here);
    }
    double f[3];
    if (function->desc.type == LW_FUNCTION_SUM) {
        double sum = 0;
        for (int i = 0; i < function->desc.nterm; i++)
            sum += lwi_signal_value(all, function->desc.terms[i], now, 0);
        return sum;
    }
    lwi_function_eval(all, s, now->t, f);
    return f[0];
}

// ------------------------------------------------------------------------------------------- jets

static void jet_of_curve(const lwi_function *function, const lwi_now *now, const lwi_seed *seed,
                         double f[3])
{
    double a[3], g[3];
    lwi_formula_jet(function->formula, now, seed, a);
    lwi_curve_eval(&function->table, a[0], g);
    f[0] = g[0];
    f[1] = g[1] * a[1];
    f[2] = g[2] * a[1] * a[1] + g[1] * a[2];
}

static void jet_of_map(const lwi_function *function, const lwi_now *now, const lwi_seed *seed,
                       double f[3])
{
    double a[3], b[3], g[6];
    lwi_formula_jet(function->formula, now, seed, a);
    lwi_formula_jet(function->formula2, now, seed, b);
    lwi_map_eval(&function->table, (double[]){a[0], b[0]}, g);
    f[0] = g[0];
    f[1] = g[1] * a[1] + g[2] * b[1];
    f[2] = g[3] * a[1] * a[1] + 2 * g[4] * a[1] * b[1] + g[5] * b[1] * b[1] + g[1] * a[2] +
           g[2] * b[2];
}

static void jet_of_sum(const lwi_function *all, const lw_function_desc *d, const lwi_now *now,
                       const lwi_seed *seed, double f[3])
{
    for (int i = 0; i < d->nterm; i++) {
        double g[3];
        lwi_signal_jet(all, d->terms[i], now, seed, g);
        for (int k = 0; k < 3; k++) f[k] += g[k];
    }
}

void lwi_signal_jet(const lwi_function *all, lw_signal s, const lwi_now *now, const lwi_seed *seed,
                    double f[3])
{
    f[0] = f[1] = f[2] = 0;
    if (s.index < 0) f[0] = now->inputs ? now->inputs[-s.index - 1] : 0;
    if (s.index <= 0) return;
    const lwi_function *function = &all[s.index - 1];
    lwi_now here = *now;
    here.functions = all;
    if (function->nstate > 0) {
        lwi_signal_states_jet(function, &here, seed, f);
        return;
    }
    switch (function->desc.type) {
    case LW_FUNCTION_FORMULA:
        lwi_formula_jet(function->formula, &here, seed, f);
        return;
    case LW_FUNCTION_CURVE:
        jet_of_curve(function, &here, seed, f);
        return;
    case LW_FUNCTION_MAP:
        jet_of_map(function, &here, seed, f);
        return;
    case LW_FUNCTION_SUM:
        jet_of_sum(all, &function->desc, now, seed, f);
        return;
    default:
        lwi_function_eval(all, s, now->t, f);
        f[1] *= seed->t;
        f[2] *= seed->t * seed->t;
        return;
    }
}

// --------------------------------------------------------------------------------------- gradients

static bool formula_has_gradient(const lwi_function *all, const lwi_formula *formula)
{
    bool has = !formula || formula->ncode <= LWI_GRADIENT_SIZE;
    for (int k = 0; has && formula && k < formula->nname; k++)
        if (formula->name[k].kind == LWI_READ_SIGNAL)
            has = lwi_signal_has_gradient(all, (lw_signal){formula->name[k].index});
    return has;
}

bool lwi_signal_has_gradient(const lwi_function *all, lw_signal s)
{
    if (s.index <= 0) return true;
    const lwi_function *function = &all[s.index - 1];
    bool has = function->nstate == 0;
    for (int i = 0; has && i < LWI_FUNCTION_FORMULAS; i++)
        has = formula_has_gradient(all, lwi_function_formula(function, i));
    if (function->desc.type == LW_FUNCTION_SUM)
        for (int i = 0; has && i < function->desc.nterm; i++)
            has = lwi_signal_has_gradient(all, function->desc.terms[i]);
    return has;
}

void lwi_signal_gradient(const lwi_function *all, lw_signal s, const lwi_now *now, double by,
                         const lwi_gradient_sink *to)
{
    if (s.index <= 0 || by == 0) return;
    const lwi_function *function = &all[s.index - 1];
    lwi_now here = *now;
    double f[6], x[2];
    here.functions = all;
    switch (function->desc.type) {
    case LW_FUNCTION_FORMULA:
        lwi_formula_gradient(function->formula, &here, by, to);
        return;
    case LW_FUNCTION_CURVE:
        lwi_curve_eval(&function->table, lwi_formula_value(function->formula, &here), f);
        lwi_formula_gradient(function->formula, &here, by * f[1], to);
        return;
    case LW_FUNCTION_MAP:
        x[0] = lwi_formula_value(function->formula, &here);
        x[1] = lwi_formula_value(function->formula2, &here);
        lwi_map_eval(&function->table, x, f);
        lwi_formula_gradient(function->formula, &here, by * f[1], to);
        lwi_formula_gradient(function->formula2, &here, by * f[2], to);
        return;
    case LW_FUNCTION_SUM:
        for (int i = 0; i < function->desc.nterm; i++)
            lwi_signal_gradient(all, function->desc.terms[i], now, by, to);
        return;
    default: // of time
        return;
    }
}
