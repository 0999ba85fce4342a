// functions.c -- functions of time and of the state: checks, copies, what they are made of, functions of time.
//
//   step      f = from + (to - from) (10 s^3 - 15 s^4 + 6 s^5),  s = (t - start)/(end - start):
//             the polynomial of lowest degree with f' = f'' = 0 at both ends
//   table     curve over t (table.h)
#include "model/signals/functions.h"

#include "model/signals/probe.h"
#include "model/signals/states.h"

#include <math.h>
#include <string.h>

// A sum, or a formula of others, expands to so many terms and is nested so deep at most, so that neither a chain of sums
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

static lw_status find_signal(void *user, const char *name, int length, lwi_formula_symbol *symbol,
                             lw_error *error)
{
    const lwi_signal_names *names = user;
    char word[LWI_FORMULA_LENGTH];
    (void)error;
    int index = 0;
    if (!lwi_formula_plain_name(name, length, word, sizeof word)) return LW_ERR_ARGUMENT;
    if (names->self && strcmp(names->self, word) == 0) index = names->nfunction + 1;
    // backwards: formulas name what is near
    for (int i = names->function ? names->nfunction - 1 : -1; i >= 0 && !index; i--)
        if (names->function[i].name && strcmp(names->function[i].name, word) == 0) index = i + 1;
    for (int i = 0; i < names->ninput && !index; i++)
        if (strcmp(names->input[i], word) == 0) index = -i - 1;
    if (!index) return LW_ERR_ARGUMENT;
    if (symbol) *symbol = (lwi_formula_symbol){.signal = true, .index = index};
    return LW_OK;
}

// The scope of a formula that is added to these.
static lwi_formula_scope scope_of(const lwi_signal_names *names)
{
    return (lwi_formula_scope){.user = (void *)(uintptr_t)names, .find = find_signal};
}

// The names for a formula of a function: that of an integral may name the integral.
static lwi_signal_names names_for(const lw_function_desc *d, const lwi_signal_names *names)
{
    lwi_signal_names all = *names;
    all.self = d->type == LW_FUNCTION_INTEGRAL ? d->name : NULL;
    return all;
}

static lw_status check_formula(const char *text, const lwi_signal_names *names, lw_error *error)
{
    enum { SUGGESTED = 100 };
    const char *known[SUGGESTED];
    lwi_formula_scope scope = scope_of(names);
    if (!text) return lwi_fail(error, LW_ERR_MODEL, "the formula is missing");
    scope.names = known;
    for (int i = 0; names->function && i < names->nfunction && scope.nname < SUGGESTED; i++)
        if (names->function[i].name) known[scope.nname++] = names->function[i].name;
    for (int i = 0; i < names->ninput && scope.nname < SUGGESTED; i++)
        known[scope.nname++] = names->input[i];
    return lwi_formula_check_in(text, &scope, NULL, NULL, error);
}

// Formulas and numbers of a function with states.
static lw_status check_states(const lw_function_desc *d, const lwi_signal_names *names,
                              lw_error *error)
{
    const lwi_signal_names all = names_for(d, names);
    TRY(check_formula(d->formula, &all, error));
    if (d->type == LW_FUNCTION_PID) {
        const char *const others[] = {d->formula2, d->reference_rate, d->measured_rate};
        for (int i = 0; i < LWI_COUNT(others); i++)
            if (i == 0 || others[i]) TRY(check_formula(others[i], names, error));
    }
    return lwi_signal_states_check(d, error);
}

lw_status lwi_function_check(const lw_function_desc *d, const lwi_signal_names *names,
                             lw_error *error)
{
    if (d->recorded && !d->name)
        return lwi_fail(error, LW_ERR_MODEL, "is recorded, but has no name");
    switch (d->type) {
    case LW_FUNCTION_CONSTANT:
        return check_finite(d->value, "value", error);
    case LW_FUNCTION_POLYNOMIAL:
        return lwi_signal_array(d->coefficients, d->ncoefficient, 1, "coefficients", error);
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
        return lwi_table_check(d, error);
    case LW_FUNCTION_SUM:
        return check_sum(d, names->nfunction, error);
    case LW_FUNCTION_FORMULA:
        return check_formula(d->formula, names, error);
    case LW_FUNCTION_MAP:
        TRY(check_formula(d->formula2, names, error));
        TRY(check_formula(d->formula, names, error));
        return lwi_table_check(d, error);
    case LW_FUNCTION_CURVE:
        TRY(check_formula(d->formula, names, error));
        return lwi_table_check(d, error);
    case LW_FUNCTION_INTEGRAL:
    case LW_FUNCTION_LAG:
    case LW_FUNCTION_RATE_LIMIT:
    case LW_FUNCTION_TRANSFER:
    case LW_FUNCTION_PID:
    case LW_FUNCTION_RELAY:
        return check_states(d, names, error);
    case LW_FUNCTION_SWITCH:
        if (!d->name) return lwi_fail(error, LW_ERR_MODEL, "a switch without a name");
        return check_finite(d->value, "value", error);
    case LW_FUNCTION_COUNT:
        break;
    }
    return lwi_fail(error, LW_ERR_ARGUMENT, "type %d is not one of the %d function types",
                    (int)d->type, (int)LW_FUNCTION_COUNT);
}

// How many evaluations `d` costs, or more than MAX_SUM_TERMS when it is too many or too deep.
static int expand(const lw_function_desc *all, const lw_function_desc *d, int depth)
{
    if (d->nterm == 0) return 1;
    if (depth > MAX_SUM_DEPTH) return MAX_SUM_TERMS + 1;
    int n = 1;
    for (int i = 0; i < d->nterm && n <= MAX_SUM_TERMS; i++)
        n += d->terms[i].index > 0 ? expand(all, &all[d->terms[i].index - 1], depth + 1) : 1;
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

// ---------------------------------------------------------------------------- what they are made of

// The string of a description that is of a kind; NULL: none is.
typedef const char *(*finder)(const lw_function_desc *d);

static const char *state_text(const lw_function_desc *d)
{
    if (lwi_signal_state_count(d) > 0) return d->formula ? d->formula : d->name; // its own states
    if (d->formula && lwi_formula_facts_of(d->formula).reads_state) return d->formula;
    return d->formula2 && lwi_formula_facts_of(d->formula2).reads_state ? d->formula2 : NULL;
}

static const char *kinked_text(const lw_function_desc *d)
{
    const bool over = d->type == LW_FUNCTION_CURVE || d->type == LW_FUNCTION_MAP;
    if (over && (d->interpolation == LW_INTERPOLATION_LINEAR || d->ends == LW_ENDS_CLAMPED))
        return d->formula;
    if (d->type == LW_FUNCTION_MAP && d->ends2 == LW_ENDS_CLAMPED) return d->formula2;
    if (d->formula && lwi_formula_facts_of(d->formula).kinked) return d->formula;
    return d->formula2 && lwi_formula_facts_of(d->formula2).kinked ? d->formula2 : NULL;
}

// The first of a kind in signal s; what functions expand to has been checked not to explode.
static const char *find_text(const lw_function_desc *all, lw_signal s, finder found_in)
{
    if (s.index <= 0) return NULL;
    const lw_function_desc *d = &all[s.index - 1];
    const char *found = found_in(d);
    for (int i = 0; i < d->nterm && !found; i++) found = find_text(all, d->terms[i], found_in);
    return found;
}

const char *lwi_function_of_state(const lw_function_desc *all, lw_signal s)
{
    return find_text(all, s, state_text);
}

// Are there limits of its states, or of its value by these?
static bool has_limits(const lw_function_desc *d)
{
    return d->type == LW_FUNCTION_RATE_LIMIT ||
           ((d->type == LW_FUNCTION_PID || d->type == LW_FUNCTION_INTEGRAL) && d->has_range);
}

bool lwi_function_is_monotone(const lw_function_desc *d)
{
    return (d->type == LW_FUNCTION_CURVE || d->type == LW_FUNCTION_MAP) &&
           d->interpolation == LW_INTERPOLATION_MONOTONE;
}

// Events set switches and relays: these are not kinked.
void lwi_function_mark_read(lwi_function *all, const lw_function_desc *desc, lw_signal s)
{
    if (s.index <= 0 || all[s.index - 1].read) return;
    lwi_function *f = &all[s.index - 1];
    f->read = true;
    if (f->nstate > 0 && !lwi_function_is_integrated(f)) return;
    const lw_function_desc *d = &desc[s.index - 1];
    f->kinked = f->moves && (kinked_text(d) || has_limits(d) || lwi_function_is_monotone(d));
    for (int i = 0; i < f->desc.nterm; i++) lwi_function_mark_read(all, desc, f->desc.terms[i]);
}

const char *lwi_function_kinked(const lw_function_desc *all, lw_signal s)
{
    return find_text(all, s, kinked_text);
}

lw_signal lwi_function_input(const lw_function_desc *all, lw_signal s)
{
    if (s.index <= 0) return s;
    const lw_function_desc *d = &all[s.index - 1];
    lw_signal found = {0};
    for (int i = 0; i < d->nterm && !found.index; i++) found = lwi_function_input(all, d->terms[i]);
    return found;
}

static unsigned formula_needs(const lwi_formula *formula)
{
    unsigned needs = 0;
    for (int k = 0; formula && k < formula->nname; k++) {
        const lwi_formula_name *name = &formula->name[k];
        if (name->kind == LWI_READ_JOINT) needs |= LWI_NEEDS_JOINT;
        if (name->probe) needs |= lwi_probe_needs(name->probe);
    }
    return needs;
}

unsigned lwi_function_needs(const lwi_function *all, lw_signal s)
{
    if (s.index <= 0) return 0;
    const lwi_function *f = &all[s.index - 1];
    unsigned needs = 0;
    for (int i = 0; i < LWI_FUNCTION_FORMULAS; i++)
        needs |= formula_needs(lwi_function_formula(f, i));
    for (int i = 0; i < f->desc.nterm; i++) needs |= lwi_function_needs(all, f->desc.terms[i]);
    return needs;
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

static lw_status copy_formula(const char *text, const lwi_signal_names *names, lwi_arena *arena,
                              lwi_formula **formula)
{
    const lwi_formula_scope scope = scope_of(names);
    *formula = LWI_PUSH(arena, lwi_formula, 1);
    if (!*formula) return LW_ERR_MEMORY;
    return lwi_formula_build(text, &scope, arena, *formula, NULL);
}

// Appends the functions and inputs that a formula names, without the function itself.
static int add_terms(const lwi_formula *formula, int self, lw_signal *terms, int n)
{
    for (int k = 0; formula && k < formula->nname; k++)
        if (formula->name[k].kind == LWI_READ_SIGNAL && formula->name[k].index != self)
            terms[n++] = (lw_signal){formula->name[k].index};
    return n;
}

static lw_status build_formulas(const lw_function_desc *desc, const lwi_signal_names *names,
                                lwi_arena *arena, lwi_function *f)
{
    const lwi_signal_names all = names_for(desc, names);
    const bool second = desc->type == LW_FUNCTION_MAP || desc->type == LW_FUNCTION_PID;
    const char *const given[] = {desc->formula, second ? desc->formula2 : NULL,
                                 desc->type == LW_FUNCTION_PID ? desc->reference_rate : NULL,
                                 desc->type == LW_FUNCTION_PID ? desc->measured_rate : NULL};
    lwi_formula **const built[] = {&f->formula, &f->formula2, &f->rate[0], &f->rate[1]};
    const char **const kept[] = {&f->desc.formula, &f->desc.formula2, &f->desc.reference_rate,
                                 &f->desc.measured_rate};
    int n = 0;
    for (int i = 0; i < LWI_FUNCTION_FORMULAS; i++) {
        if (!given[i]) continue;
        TRY(copy_formula(given[i], &all, arena, built[i]));
        *kept[i] = (*built[i])->text;
        n += (*built[i])->nname;
    }
    lw_signal *terms = LWI_PUSH(arena, lw_signal, n);
    if (!terms) return LW_ERR_MEMORY;
    n = 0;
    for (int i = 0; i < LWI_FUNCTION_FORMULAS; i++)
        n = add_terms(lwi_function_formula(f, i), names->nfunction + 1, terms, n);
    f->desc.terms = terms;
    f->desc.nterm = n;
    return LW_OK;
}

static lw_status build_table(const lw_function_desc *desc, lwi_arena *arena, lwi_function *f)
{
    const bool map = desc->type == LW_FUNCTION_MAP;
    f->desc.npoint = desc->npoint;
    f->desc.npoint2 = map ? desc->npoint2 : 0;
    TRY(copy_numbers(arena, desc->t, desc->npoint, &f->desc.t));
    TRY(copy_numbers(arena, desc->y, desc->npoint * (map ? desc->npoint2 : 1), &f->desc.y));
    if (map) TRY(copy_numbers(arena, desc->x2, desc->npoint2, &f->desc.x2));
    return lwi_table_build(&f->desc, arena, &f->table);
}

lw_status lwi_function_build(const lw_function_desc *desc, const lwi_signal_names *names,
                             lwi_arena *arena, lwi_function *function)
{
    lwi_function f = {.desc = *desc};
    const bool over = desc->type == LW_FUNCTION_CURVE || desc->type == LW_FUNCTION_MAP;
    if (desc->name && !(f.desc.name = lwi_arena_text(arena, desc->name))) return LW_ERR_MEMORY;
    // arrays that do not belong to the type are the caller's business and not kept
    f.desc.coefficients = f.desc.t = f.desc.y = f.desc.x2 = NULL;
    f.desc.terms = NULL;
    f.desc.formula = f.desc.formula2 = f.desc.reference_rate = f.desc.measured_rate = NULL;
    f.desc.numerator = f.desc.denominator = NULL;
    f.desc.nnumerator = f.desc.ndenominator = 0;
    f.desc.states = NULL;
    f.desc.nstate = 0;
    f.desc.ncoefficient = f.desc.npoint = f.desc.npoint2 = f.desc.nterm = 0;

    if (desc->type == LW_FUNCTION_POLYNOMIAL) {
        f.desc.ncoefficient = desc->ncoefficient;
        TRY(copy_numbers(arena, desc->coefficients, desc->ncoefficient, &f.desc.coefficients));
    } else if (desc->type == LW_FUNCTION_SUM) {
        lw_signal *terms = LWI_PUSH(arena, lw_signal, desc->nterm);
        if (!terms) return LW_ERR_MEMORY;
        memcpy(terms, desc->terms, (size_t)desc->nterm * sizeof *terms);
        f.desc.terms = terms;
        f.desc.nterm = desc->nterm;
    }
    const bool states = lwi_signal_state_count(desc) > 0;
    if (over || (states && desc->formula) || desc->type == LW_FUNCTION_FORMULA)
        TRY(build_formulas(desc, names, arena, &f));
    if (states) TRY(lwi_signal_states_build(desc, arena, &f));
    if (over || desc->type == LW_FUNCTION_TABLE) TRY(build_table(desc, arena, &f));
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
        lwi_curve_eval(&function->table, t, f);
        break;
    case LW_FUNCTION_SUM:
        eval_sum(all, d, t, f);
        break;
    case LW_FUNCTION_FORMULA:
    case LW_FUNCTION_CURVE:
    case LW_FUNCTION_MAP:
    case LW_FUNCTION_INTEGRAL:
    case LW_FUNCTION_LAG:
    case LW_FUNCTION_RATE_LIMIT:
    case LW_FUNCTION_TRANSFER:
    case LW_FUNCTION_PID:
    case LW_FUNCTION_SWITCH:
    case LW_FUNCTION_RELAY:
        lwi_signal_jet(all, s, &(lwi_now){.t = t}, &lwi_seed_time, f);
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
    case LW_FUNCTION_TABLE: // and at every point
        next = lwi_curve_next(&all[s.index - 1].table, t);
        break;
    case LW_FUNCTION_SUM:
        for (int i = 0; i < d->nterm; i++)
            next = fmin(next, lwi_function_next_break(all, d->terms[i], t));
        break;
    default:
        break; // smooth
    }
    return next;
}

// May the rate of a table jump at its points?
static bool has_corners(const lw_function_desc *d)
{
    return d->interpolation == LW_INTERPOLATION_LINEAR || d->ends == LW_ENDS_CLAMPED;
}

double lwi_function_next_jump(const lwi_function *all, lw_signal s, double t)
{
    if (s.index <= 0) return INFINITY;
    const lw_function_desc *d = &all[s.index - 1].desc;
    double next = INFINITY;
    if (d->type == LW_FUNCTION_RAMP && t < d->from && d->rate != 0) next = d->from;
    if (d->type == LW_FUNCTION_TABLE && has_corners(d))
        next = lwi_curve_next(&all[s.index - 1].table, t);
    for (int i = 0; d->type == LW_FUNCTION_SUM && i < d->nterm; i++)
        next = fmin(next, lwi_function_next_jump(all, d->terms[i], t));
    return next;
}
