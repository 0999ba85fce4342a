// functions.c -- functions of time with exact first and second derivatives.
//
//   step      f = from + (to - from) (10 s^3 - 15 s^4 + 6 s^5),  s = (t - start)/(end - start):
//             the polynomial of lowest degree with f' = f'' = 0 at both ends
//   table     cubic spline with f'' = 0 at the first and the last point (natural), continued by
//             straight lines.  With h_i = t_{i+1} - t_i and m_i = f''(t_i):
//             h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1}
//                 = 6 ((y_{i+1} - y_i)/h_i - (y_i - y_{i-1})/h_{i-1})
#include "model/signals/functions.h"

#include <math.h>
#include <string.h>

// A sum expands to so many terms and is nested so deep at most, so that neither a chain of sums
// that doubles at every link nor a long one can stall an evaluation or exhaust the stack.
enum { MAX_SUM_TERMS = 4096, MAX_SUM_DEPTH = 64 };

static const char *const type_name[LW_FUNCTION_COUNT] = {
#define X(name, text, help) [LW_FUNCTION_##name] = text,
    LW_FUNCTION_LIST(X)
#undef X
};

// ------------------------------------------------------------------------------------------ checks

static lw_status check_finite(double value, const char *what, lw_error *error)
{
    if (isfinite(value)) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL, "%s is %g, expected a finite number", what, value);
}

static lw_status check_array(const double *values, int n, int minimum, const char *what,
                             lw_error *error)
{
    if (n < minimum || !values)
        return lwi_fail(error, LW_ERR_MODEL, "has %d %s, expected at least %d", values ? n : 0,
                        what, minimum);
    for (int i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return lwi_fail(error, LW_ERR_MODEL, "number %d of %s is %g, expected a finite number",
                            i + 1, what, values[i]);
    return LW_OK;
}

static lw_status check_table(const lw_function_desc *d, lw_error *error)
{
    TRY(check_array(d->t, d->npoint, 2, "times", error));
    TRY(check_array(d->y, d->npoint, 2, "values", error));
    for (int i = 1; i < d->npoint; i++)
        if (!(d->t[i] > d->t[i - 1]))
            return lwi_fail(error, LW_ERR_MODEL,
                            "time %d of the table is %.17g, expected more than %.17g before it",
                            i + 1, d->t[i], d->t[i - 1]);
    return LW_OK;
}

static lw_status check_sum(const lw_function_desc *d, int ndefined, lw_error *error)
{
    if (d->nterm < 1 || !d->terms)
        return lwi_fail(error, LW_ERR_MODEL, "is a sum without terms, expected at minimum 1");
    for (int i = 0; i < d->nterm; i++) {
        const int term = d->terms[i].index;
        if (term < 0)
            return lwi_fail(error, LW_ERR_MODEL,
                            "term %d of the sum is an input, expected a "
                            "function",
                            i + 1);
        if (term == 0 || term > ndefined)
            return lwi_fail(error, LW_ERR_MODEL,
                            "term %d of the sum is function number %d, "
                            "expected one of the %d added before",
                            i + 1, term, ndefined);
    }
    return LW_OK;
}

lw_status lwi_function_check(const lw_function_desc *d, int ndefined, lw_error *error)
{
    switch (d->type) {
    case LW_FUNCTION_CONSTANT:
        return check_finite(d->value, "value", error);
    case LW_FUNCTION_POLYNOMIAL:
        return check_array(d->coefficients, d->ncoefficient, 1, "coefficients", error);
    case LW_FUNCTION_SINE:
        TRY(check_finite(d->offset, "offset", error));
        TRY(check_finite(d->amplitude, "amplitude", error));
        TRY(check_finite(d->omega, "omega", error));
        return check_finite(d->phase, "phase", error);
    case LW_FUNCTION_RAMP:
        TRY(check_finite(d->rate, "rate", error));
        return check_finite(d->from, "from", error);
    case LW_FUNCTION_STEP:
        TRY(check_finite(d->from, "from", error));
        TRY(check_finite(d->to, "to", error));
        TRY(check_finite(d->start, "start", error));
        TRY(check_finite(d->end, "end", error));
        if (d->start < d->end) return LW_OK;
        return lwi_fail(error, LW_ERR_MODEL, "step ends at %g, expected after its start at %g",
                        d->end, d->start);
    case LW_FUNCTION_TABLE:
        return check_table(d, error);
    case LW_FUNCTION_SUM:
        return check_sum(d, ndefined, error);
    case LW_FUNCTION_FORMULA:
        return lwi_formula_check(d->formula, error);
    case LW_FUNCTION_COUNT:
        break;
    }
    return lwi_fail(error, LW_ERR_ARGUMENT, "type %d is not one of the %d function types",
                    (int)d->type, (int)LW_FUNCTION_COUNT);
}

// How many evaluations `d` costs, or more than MAX_SUM_TERMS when it is too many or too deep.
static int expand(const lw_function_desc *all, const lw_function_desc *d, int depth)
{
    if (d->type != LW_FUNCTION_SUM) return 1;
    if (depth > MAX_SUM_DEPTH) return MAX_SUM_TERMS + 1;
    int n = 1;
    for (int i = 0; i < d->nterm && n <= MAX_SUM_TERMS; i++)
        n += expand(all, &all[d->terms[i].index - 1], depth + 1);
    return n;
}

lw_status lwi_function_check_sum(const lw_function_desc *all, const lw_function_desc *d,
                                 lw_error *error)
{
    if (expand(all, d, 1) <= MAX_SUM_TERMS) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL,
                    "%s is too large, expected at most %d terms in all and %d sums inside sums",
                    type_name[d->type], (int)MAX_SUM_TERMS, (int)MAX_SUM_DEPTH);
}

// ---------------------------------------------------------------------------------------- formulas

static bool reads_state(const char *formula)
{
    return lwi_formula_facts_of(formula).reads_state;
}
static bool is_kinked(const char *formula)
{
    return lwi_formula_facts_of(formula).kinked;
}

// The first formula of a kind in signal s; sums have been checked not to explode.
static const lw_function_desc *find_formula(const lw_function_desc *all, lw_signal s,
                                            bool (*is)(const char *))
{
    if (s.index <= 0) return NULL;
    const lw_function_desc *d = &all[s.index - 1], *found = NULL;
    if (d->type == LW_FUNCTION_FORMULA) return is(d->formula) ? d : NULL;
    for (int i = 0; d->type == LW_FUNCTION_SUM && i < d->nterm && !found; i++)
        found = find_formula(all, d->terms[i], is);
    return found;
}

const lw_function_desc *lwi_function_of_state(const lw_function_desc *all, lw_signal s)
{
    return find_formula(all, s, reads_state);
}

const lw_function_desc *lwi_function_kinked(const lw_function_desc *all, lw_signal s)
{
    return find_formula(all, s, is_kinked);
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

// Second derivatives of the natural spline: elimination of the tridiagonal equations above, which
// are diagonally dominant, so no pivots are needed.
static lw_status spline(const lw_function_desc *d, lwi_arena *arena, const double **slope2)
{
    const int n = d->npoint;
    const double *t = d->t, *y = d->y;
    double *m = LWI_PUSH(arena, double, n), *c = LWI_PUSH(arena, double, n);
    if (!m || !c) return LW_ERR_MEMORY;
    // m_i = m[i] - c[i] m_{i+1} after elimination of m_{i-1}; c[0] = m[0] = 0 by the end condition
    for (int i = 1; i < n - 1; i++) {
        const double h0 = t[i] - t[i - 1], h1 = t[i + 1] - t[i];
        const double pivot = 2 * (h0 + h1) - h0 * c[i - 1];
        const double bend = 6 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
        c[i] = h1 / pivot;
        m[i] = (bend - h0 * m[i - 1]) / pivot;
    }
    for (int i = n - 2; i > 0; i--) m[i] -= c[i] * m[i + 1];
    *slope2 = m;
    return LW_OK;
}

static lw_status build_formula(const lw_function_desc *desc, lwi_arena *arena, lwi_function *f)
{
    f->formula = LWI_PUSH(arena, lwi_formula, 1);
    if (!f->formula) return LW_ERR_MEMORY;
    TRY(lwi_formula_build(desc->formula, NULL, arena, f->formula, NULL));
    f->desc.formula = f->formula->text;
    return LW_OK;
}

lw_status lwi_function_build(const lw_function_desc *desc, lwi_arena *arena, lwi_function *function)
{
    lwi_function f = {.desc = *desc};
    if (desc->name && !(f.desc.name = lwi_arena_text(arena, desc->name))) return LW_ERR_MEMORY;
    // arrays that do not belong to the type are the caller's business and not kept
    f.desc.coefficients = f.desc.t = f.desc.y = NULL;
    f.desc.terms = NULL;
    f.desc.formula = NULL;
    f.desc.ncoefficient = f.desc.npoint = f.desc.nterm = 0;

    if (desc->type == LW_FUNCTION_POLYNOMIAL) {
        f.desc.ncoefficient = desc->ncoefficient;
        TRY(copy_numbers(arena, desc->coefficients, desc->ncoefficient, &f.desc.coefficients));
    } else if (desc->type == LW_FUNCTION_TABLE) {
        f.desc.npoint = desc->npoint;
        TRY(copy_numbers(arena, desc->t, desc->npoint, &f.desc.t));
        TRY(copy_numbers(arena, desc->y, desc->npoint, &f.desc.y));
        TRY(spline(&f.desc, arena, &f.slope2));
    } else if (desc->type == LW_FUNCTION_SUM) {
        lw_signal *terms = LWI_PUSH(arena, lw_signal, desc->nterm);
        if (!terms) return LW_ERR_MEMORY;
        memcpy(terms, desc->terms, (size_t)desc->nterm * sizeof *terms);
        f.desc.terms = terms;
        f.desc.nterm = desc->nterm;
    } else if (desc->type == LW_FUNCTION_FORMULA) {
        TRY(build_formula(desc, arena, &f));
    }
    *function = f;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ values

// Horner's rule for the value, the derivative and half the second derivative together.
static void eval_polynomial(const lw_function_desc *d, double t, double f[3])
{
    double a = 0, b = 0, c = 0;
    for (int i = d->ncoefficient - 1; i >= 0; i--) {
        c = c * t + b;
        b = b * t + a;
        a = a * t + d->coefficients[i];
    }
    f[0] = a, f[1] = b, f[2] = 2 * c;
}

static void eval_sine(const lw_function_desc *d, double t, double f[3])
{
    const double angle = d->omega * t + d->phase;
    const double s = d->amplitude * sin(angle), c = d->amplitude * cos(angle);
    f[0] = d->offset + s;
    f[1] = d->omega * c;
    f[2] = -d->omega * d->omega * s;
}

static void eval_ramp(const lw_function_desc *d, double t, double f[3])
{
    const bool on = t >= d->from; // at the start itself the rate is that to come
    f[0] = on ? d->rate * (t - d->from) : 0;
    f[1] = on ? d->rate : 0;
    f[2] = 0;
}

static void eval_step(const lw_function_desc *d, double t, double f[3])
{
    f[1] = f[2] = 0;
    if (t <= d->start) {
        f[0] = d->from;
    } else if (t >= d->end) {
        f[0] = d->to;
    } else {
        const double T = d->end - d->start, rise = d->to - d->from;
        const double s = (t - d->start) / T, r = 1 - s;
        f[0] = d->from + rise * (s * s * s * (10 - s * (15 - 6 * s)));
        f[1] = rise * 30 * s * s * r * r / T;
        f[2] = rise * 60 * s * r * (1 - 2 * s) / (T * T);
    }
}

// Number of table points at or before t: the first point after t.
static int points_until(const lw_function_desc *d, double t)
{
    int low = 0, high = d->npoint; // t[low-1] <= t < t[high]
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (d->t[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// On [t_i, t_{i+1}] with a = (t_{i+1} - t)/h, b = (t - t_i)/h:
//   f = a y_i + b y_{i+1} + h^2/6 ((a^3 - a) m_i + (b^3 - b) m_{i+1})
static void eval_table(const lwi_function *table, double t, double f[3])
{
    const lw_function_desc *d = &table->desc;
    const double *m = table->slope2;
    const int last = d->npoint - 1;
    int i = points_until(d, t) - 1;
    i = i < 0 ? 0 : i > last - 1 ? last - 1 : i;

    // beyond the ends: from the end point with the slope there
    const double inside = t < d->t[0] ? d->t[0] : t > d->t[last] ? d->t[last] : t;
    const double h = d->t[i + 1] - d->t[i];
    const double a = (d->t[i + 1] - inside) / h, b = (inside - d->t[i]) / h;
    f[0] = a * d->y[i] + b * d->y[i + 1] +
           h * h / 6 * ((a * a - 1) * a * m[i] + (b * b - 1) * b * m[i + 1]);
    f[1] =
        (d->y[i + 1] - d->y[i]) / h + h / 6 * ((1 - 3 * a * a) * m[i] + (3 * b * b - 1) * m[i + 1]);
    f[2] = a * m[i] + b * m[i + 1];
    f[0] += f[1] * (t - inside);
}

static void eval_sum(const lwi_function *all, const lw_function_desc *d, double t, double f[3])
{
    f[0] = f[1] = f[2] = 0;
    for (int i = 0; i < d->nterm; i++) {
        double g[3];
        lwi_function_eval(all, d->terms[i], t, g);
        for (int k = 0; k < 3; k++) f[k] += g[k];
    }
}

void lwi_function_eval(const lwi_function *all, lw_signal s, double t, double f[3])
{
    f[0] = f[1] = f[2] = 0;
    if (s.index <= 0) return;
    const lwi_function *function = &all[s.index - 1];
    const lw_function_desc *d = &function->desc;
    switch (d->type) {
    case LW_FUNCTION_CONSTANT:
        f[0] = d->value;
        break;
    case LW_FUNCTION_POLYNOMIAL:
        eval_polynomial(d, t, f);
        break;
    case LW_FUNCTION_SINE:
        eval_sine(d, t, f);
        break;
    case LW_FUNCTION_RAMP:
        eval_ramp(d, t, f);
        break;
    case LW_FUNCTION_STEP:
        eval_step(d, t, f);
        break;
    case LW_FUNCTION_TABLE:
        eval_table(function, t, f);
        break;
    case LW_FUNCTION_SUM:
        eval_sum(all, d, t, f);
        break;
    case LW_FUNCTION_FORMULA:
        lwi_formula_rates(function->formula, t, f);
        break;
    case LW_FUNCTION_COUNT:
        break;
    }
}

// ------------------------------------------------------------------------------------------ breaks

double lwi_function_next_break(const lwi_function *all, lw_signal s, double t)
{
    if (s.index <= 0) return INFINITY;
    const lw_function_desc *d = &all[s.index - 1].desc;
    double next = INFINITY;
    switch (d->type) {
    case LW_FUNCTION_RAMP:
        if (t < d->from && d->rate != 0) next = d->from;
        break;
    case LW_FUNCTION_STEP: // the third derivative jumps at both ends
        if (d->from != d->to && t < d->end) next = t < d->start ? d->start : d->end;
        break;
    case LW_FUNCTION_TABLE: { // and at every point of a spline
        const int i = points_until(d, t);
        if (i < d->npoint) next = d->t[i];
        break;
    }
    case LW_FUNCTION_SUM:
        for (int i = 0; i < d->nterm; i++)
            next = fmin(next, lwi_function_next_break(all, d->terms[i], t));
        break;
    default:
        break; // smooth
    }
    return next;
}

double lwi_function_next_jump(const lwi_function *all, lw_signal s, double t)
{
    if (s.index <= 0) return INFINITY;
    const lw_function_desc *d = &all[s.index - 1].desc;
    double next = INFINITY;
    if (d->type == LW_FUNCTION_RAMP && t < d->from && d->rate != 0) next = d->from;
    for (int i = 0; d->type == LW_FUNCTION_SUM && i < d->nterm; i++)
        next = fmin(next, lwi_function_next_jump(all, d->terms[i], t));
    return next;
}

double lwi_signal_value(const lwi_function *all, lw_signal s, const lwi_now *now, double none)
{
    if (s.index == 0) return none;
    if (s.index < 0) return now->inputs ? now->inputs[-s.index - 1] : 0;
    const lwi_function *function = &all[s.index - 1];
    if (function->desc.type == LW_FUNCTION_FORMULA)
        return lwi_formula_value(function->formula, now);
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
