// formula_eval.c -- values and derivatives of formulas.
//
// A value f(s) along a parameter s carries f' and f'' with it (a jet, the first three Taylor
// coefficients up to factorials).  With s = t these are the time derivatives; with s one joint
// coordinate and all else held, f' is the partial derivative.  Rules:
//
//   (a b)'  = a' b + a b'                 (a b)''  = a'' b + 2 a' b' + a b''
//   (a/b)'  = (a' - (a/b) b')/b           (a/b)''  = (a'' - 2 (a/b)' b' - (a/b) b'')/b
//   f(a)'   = f1 a'                       f(a)''   = f2 a' a' + f1 a''        f1, f2: f's
//   derivatives (a^b)'  = a^b l',  l = b log a        (a^b)''  = a^b (l'' + l' l')        where b
//   changes
//
// Where a slope jumps (abs, min, max, floor) the derivatives are those of larger s.
#include "base/assert.h"
#include "model/signals/functions.h"
#include "model/signals/probe.h"
#include "model/signals/states.h"

#include <math.h>

// ---------------------------------------------------------------------------------------
// operations

static double quintic(double s)
{
    return s * s * s * (10 - s * (15 - 6 * s));
}

// 0 before `start`, 1 beyond `end`, twice differentiable between.
static double step(double x, double start, double end)
{
    const double s = (x - start) / (end - start);
    return s <= 0 ? 0 : s >= 1 ? 1 : quintic(s);
}

// x - period floor(x/period), with the sign of the period and smaller than it.
static double modulo(double x, double period)
{
    const double r = fmod(x, period);
    const double up = r != 0 && (r < 0) != (period < 0) ? r + period : r;
    return up == period ? 0 : up; // of a tiny negative x
}

double lwi_formula_operate(lwi_operation operation, const double *x)
{
    switch (operation) {
    case LWI_FORMULA_ADD:
        return x[0] + x[1];
    case LWI_FORMULA_SUBTRACT:
        return x[0] - x[1];
    case LWI_FORMULA_MULTIPLY:
        return x[0] * x[1];
    case LWI_FORMULA_DIVIDE:
        return x[0] / x[1];
    case LWI_FORMULA_POWER:
        return pow(x[0], x[1]);
    case LWI_FORMULA_NEGATE:
        return -x[0];
    case LWI_FORMULA_LESS:
        return x[0] < x[1];
    case LWI_FORMULA_LESS_EQUAL:
        return x[0] <= x[1];
    case LWI_FORMULA_GREATER:
        return x[0] > x[1];
    case LWI_FORMULA_GREATER_EQUAL:
        return x[0] >= x[1];
    case LWI_FORMULA_EQUAL:
        return x[0] == x[1];
    case LWI_FORMULA_NOT_EQUAL:
        return x[0] != x[1];
    case LWI_FORMULA_AND:
        return x[0] != 0 && x[1] != 0;
    case LWI_FORMULA_OR:
        return x[0] != 0 || x[1] != 0;
    case LWI_FORMULA_NOT:
        return x[0] == 0;
    case LWI_FORMULA_SIN:
        return sin(x[0]);
    case LWI_FORMULA_COS:
        return cos(x[0]);
    case LWI_FORMULA_TAN:
        return tan(x[0]);
    case LWI_FORMULA_ASIN:
        return asin(x[0]);
    case LWI_FORMULA_ACOS:
        return acos(x[0]);
    case LWI_FORMULA_ATAN:
        return atan(x[0]);
    case LWI_FORMULA_ATAN2:
        return atan2(x[0], x[1]);
    case LWI_FORMULA_HYPOT:
        return hypot(x[0], x[1]);
    case LWI_FORMULA_SINH:
        return sinh(x[0]);
    case LWI_FORMULA_COSH:
        return cosh(x[0]);
    case LWI_FORMULA_TANH:
        return tanh(x[0]);
    case LWI_FORMULA_EXP:
        return exp(x[0]);
    case LWI_FORMULA_LOG:
        return log(x[0]);
    case LWI_FORMULA_LOG10:
        return log10(x[0]);
    case LWI_FORMULA_SQRT:
        return sqrt(x[0]);
    case LWI_FORMULA_ABS:
        return fabs(x[0]);
    case LWI_FORMULA_SIGN:
        return x[0] > 0 ? 1 : x[0] < 0 ? -1 : x[0];
    // fmin and fmax would hide that one is not a number
    case LWI_FORMULA_MIN:
        return x[0] <= x[1] || isnan(x[0]) ? x[0] : x[1];
    case LWI_FORMULA_MAX:
        return x[0] >= x[1] || isnan(x[0]) ? x[0] : x[1];
    case LWI_FORMULA_FLOOR:
        return floor(x[0]);
    case LWI_FORMULA_CEIL:
        return ceil(x[0]);
    case LWI_FORMULA_MOD:
        return modulo(x[0], x[1]);
    case LWI_FORMULA_STEP:
        return step(x[0], x[1], x[2]);
    case LWI_FORMULA_WHERE:
        return x[0] != 0 ? x[1] : x[2];
    default:
        return NAN; // leaves
    }
}

static const int operands[LWI_FORMULA_OPERATION_COUNT] = {
#define X(name, text, n) [LWI_FORMULA_##name] = n,
    LWI_FORMULA_OPERATOR_LIST(X)
#undef X
#define X(name, text, n, call) [LWI_FORMULA_##name] = n,
        LWI_FORMULA_FUNCTION_LIST(X)
#undef X
};

int lwi_formula_operands(lwi_operation operation)
{
    return operands[operation];
}

static double read(const double *values, int index)
{
    return values ? values[index] : NAN;
}

double lwi_formula_reading(const lwi_formula_name *name, const lwi_now *now)
{
    if (name->kind != LWI_READ_SIGNAL) return lwi_probe_value(name->probe, now->kin);
    return lwi_signal_value(now->functions, (lw_signal){name->index}, now, 0);
}

// The value of an instruction on operands x.
static inline double value_of(const lwi_formula *formula, const lwi_instruction *in,
                              const double *x, const lwi_now *now)
{
    switch (in->operation) {
    case LWI_FORMULA_NUMBER:
        return in->value;
    case LWI_FORMULA_TIME:
        return now->t;
    case LWI_FORMULA_COORDINATE:
        return read(now->q, in->index);
    case LWI_FORMULA_SPEED:
        return read(now->qd, in->index);
    case LWI_FORMULA_VARIABLE:
        return read(now->variables, in->index);
    case LWI_FORMULA_READ:
        return lwi_formula_reading(&formula->name[in->index], now);
    default:
        return lwi_formula_operate(in->operation, x);
    }
}

double lwi_formula_value(const lwi_formula *formula, const lwi_now *now)
{
    double stack[LWI_FORMULA_STACK];
    int n = 0;
    for (int i = 0; i < formula->ncode; i++) {
        const lwi_instruction *in = &formula->code[i];
        n -= operands[in->operation];
        const double value = value_of(formula, in, stack + n, now);
        stack[n++] = value;
    }
    return stack[0];
}

// ------------------------------------------------------------------------------------------ pieces

// On which side of its corner or jump an operation is; 0: it has none.
static double side_of(lwi_operation operation, const double *x)
{
    switch (operation) {
    case LWI_FORMULA_ABS:
    case LWI_FORMULA_SIGN:
        return (x[0] > 0) - (x[0] < 0);
    case LWI_FORMULA_MIN:
    case LWI_FORMULA_MAX:
        return x[0] <= x[1];
    case LWI_FORMULA_MOD:
        return floor(x[0] / x[1]);
    case LWI_FORMULA_WHERE:
        return x[0] != 0;
    case LWI_FORMULA_FLOOR:
    case LWI_FORMULA_CEIL:
        return lwi_formula_operate(operation, x);
    default:
        return operation >= LWI_FORMULA_LESS && operation <= LWI_FORMULA_NOT
                   ? lwi_formula_operate(operation, x)
                   : 0;
    }
}

static void add_side(unsigned *piece, double side)
{
    *piece = 31 * *piece + (fabs(side) < 1e9 ? (unsigned)(int)side : 0);
}

static bool moves(const lwi_formula *formula, const lwi_instruction *in, const lwi_now *now)
{
    if (in->operation == LWI_FORMULA_NUMBER || in->operation == LWI_FORMULA_TIME) return false;
    if (in->operation != LWI_FORMULA_READ) return true;
    const lwi_formula_name *name = &formula->name[in->index];
    if (name->kind != LWI_READ_SIGNAL) return true;
    return name->index > 0 && now->functions[name->index - 1].moves;
}

// The value, and the sides of all operations on what depends on the state.
static double add_formula(unsigned *piece, const lwi_formula *formula, const lwi_now *now)
{
    double stack[LWI_FORMULA_STACK];
    bool moving[LWI_FORMULA_STACK];
    int n = 0;
    for (int i = 0; i < formula->ncode; i++) {
        const lwi_instruction *in = &formula->code[i];
        const int count = operands[in->operation];
        bool any = count == 0 && moves(formula, in, now);
        n -= count;
        for (int k = 0; k < count; k++) any = any || moving[n + k];
        if (any && count) add_side(piece, side_of(in->operation, stack + n));
        const double value = value_of(formula, in, stack + n, now);
        stack[n] = value, moving[n++] = any;
    }
    return stack[0];
}

// Between which corners of an axis x is.
static void add_axis(unsigned *piece, const lwi_axis *axis, bool linear, double x)
{
    const double first = axis->x[0], last = axis->x[axis->n - 1];
    int side = 0;
    if (axis->ends == LW_ENDS_PERIODIC && linear) {
        const double turns = floor((x - first) / (last - first));
        add_side(piece, turns);
        x -= turns * (last - first);
    }
    for (int k = 1; linear && k < axis->n - 1; k++) side += x > axis->x[k];
    if (axis->ends == LW_ENDS_CLAMPED) side += (x > first) + (x > last);
    add_side(piece, side);
}

// Does an operation act on time and on a number that changes, but on no motion?  Its side at the time of `now`.
static bool side_in_time(const lwi_formula *formula, const lwi_now *now, const bool *changes,
                         int which, double *side)
{
    double stack[LWI_FORMULA_STACK];
    struct {
        bool time, change, moves;
    } of[LWI_FORMULA_STACK];
    int n = 0;
    for (int i = 0; i <= which; i++) {
        const lwi_instruction *in = &formula->code[i];
        const int count = operands[in->operation];
        bool time = in->operation == LWI_FORMULA_TIME, change = changes[i],
             moving = count == 0 && moves(formula, in, now);
        if (in->operation == LWI_FORMULA_READ && !moving) time = true; // a signal of time
        n -= count;
        for (int k = 0; k < count; k++) {
            time = time || of[n + k].time;
            change = change || of[n + k].change;
            moving = moving || of[n + k].moves;
        }
        if (i == which) {
            *side = count ? side_of(in->operation, stack + n) : 0;
            return count > 0 && time && change && !moving;
        }
        stack[n] = value_of(formula, in, stack + n, now);
        of[n].time = time, of[n].change = change, of[n++].moves = moving;
    }
    return false;
}

double lwi_formula_moved_corner(const lwi_formula *formula, const lwi_now *now, const bool *changes,
                                double from, double to)
{
    enum { PARTS = 2000 };
    double first = INFINITY;
    for (int i = 0; i < formula->ncode; i++) {
        lwi_now at = *now;
        double before, side;
        at.t = from;
        if (!side_in_time(formula, &at, changes, i, &before)) continue;
        for (int k = 1; k <= PARTS && at.t < first; k++) {
            at.t = from + (to - from) * k / PARTS;
            side_in_time(formula, &at, changes, i, &side);
            if (side != before) first = fmin(first, at.t - (to - from) / (2 * PARTS));
        }
    }
    return first;
}

int lwi_function_piece(const lwi_function *function, const lwi_now *now)
{
    const lw_function_type type = function->desc.type;
    const bool linear = function->table.how != LW_INTERPOLATION_SPLINE;
    unsigned piece = 0;
    if (function->nstate > 0) add_side(&piece, lwi_signal_states_side(function, now));
    for (int i = 0; i < LWI_FUNCTION_FORMULAS; i++) {
        const lwi_formula *formula = lwi_function_formula(function, i);
        if (!formula) continue;
        const double x = add_formula(&piece, formula, now);
        if (type == LW_FUNCTION_MAP || (type == LW_FUNCTION_CURVE && i == 0))
            add_axis(&piece, &function->table.axis[i], linear, x);
    }
    return (int)(piece & INT32_MAX);
}

// -------------------------------------------------------------------------------------------- jets

typedef double jet[3]; // f, f', f''

// f(a) with the derivatives f1, f2 of f; a constant stays one where f1 is infinite.
static void chain(const jet a, double f1, double f2, jet f)
{
    const bool still = a[1] == 0 && a[2] == 0;
    f[1] = still ? 0 : f1 * a[1];
    f[2] = still ? 0 : f2 * a[1] * a[1] + f1 * a[2];
}

// The difference that the two make when s grows: the first that is not zero decides.
static bool rises(const jet a)
{
    for (int k = 0; k < 3; k++)
        if (a[k] != 0) return a[k] > 0;
    return true;
}

static void copy(jet f, const jet a, double factor)
{
    for (int k = 1; k < 3; k++) f[k] = factor * a[k];
}

static void divide(const jet a, const jet b, jet f)
{
    f[1] = (a[1] - f[0] * b[1]) / b[0];
    f[2] = (a[2] - 2 * f[1] * b[1] - f[0] * b[2]) / b[0];
}

static void multiply(const jet a, const jet b, jet f)
{
    f[1] = a[1] * b[0] + a[0] * b[1];
    f[2] = a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2];
}

static void power(const jet a, const jet b, jet f)
{
    const double n = b[0];
    if (b[1] == 0 &&
        b[2] == 0) { // n and n (n - 1) are zero where the power behind them is not wanted
        const double f1 = n == 0 ? 0 : n * pow(a[0], n - 1);
        const double f2 = n == 0 || n == 1 ? 0 : n * (n - 1) * pow(a[0], n - 2);
        chain(a, f1, f2, f);
        return;
    }
    jet l = {log(a[0])}, e;
    chain(a, 1 / a[0], -1 / (a[0] * a[0]), l);
    e[0] = n * l[0];
    multiply(b, l, e);
    f[1] = f[0] * e[1];
    f[2] = f[0] * (e[2] + e[1] * e[1]);
}

// The angle of (x, y): (x y' - y x')/(x^2 + y^2)
static void angle(const jet y, const jet x, jet f)
{
    const double r2 = x[0] * x[0] + y[0] * y[0];
    const double turn = x[0] * y[1] - y[0] * x[1];
    f[1] = turn / r2;
    f[2] = (x[0] * y[2] - y[0] * x[2] - 2 * f[1] * (x[0] * x[1] + y[0] * y[1])) / r2;
}

// f^2 = x^2 + y^2:  f f' = x x' + y y'
static void hypotenuse(const jet x, const jet y, jet f)
{
    f[1] = (x[0] * x[1] + y[0] * y[1]) / f[0];
    f[2] = (x[1] * x[1] + x[0] * x[2] + y[1] * y[1] + y[0] * y[2] - f[1] * f[1]) / f[0];
}

static void smooth_step(const jet *x, jet f)
{
    jet s, a, b;
    f[1] = f[2] = 0;
    for (int k = 0; k < 3; k++) a[k] = x[0][k] - x[1][k], b[k] = x[2][k] - x[1][k];
    s[0] = a[0] / b[0];
    if (s[0] <= 0 || s[0] >= 1) return;
    divide(a, b, s);
    const double r = 1 - s[0];
    chain(s, 30 * s[0] * s[0] * r * r, 60 * s[0] * r * (1 - 2 * s[0]), f);
}

// Functions of one operand: their first two derivatives at x, where they have the value f.
static void slopes(lwi_operation operation, double x, double f, double *f1, double *f2)
{
    *f1 = *f2 = 0;
    switch (operation) {
    case LWI_FORMULA_SIN:
        *f1 = cos(x), *f2 = -f;
        return;
    case LWI_FORMULA_COS:
        *f1 = -sin(x), *f2 = -f;
        return;
    case LWI_FORMULA_TAN:
        *f1 = 1 + f * f, *f2 = 2 * f * *f1;
        return;
    case LWI_FORMULA_ASIN:
    case LWI_FORMULA_ACOS:
        *f1 = (operation == LWI_FORMULA_ASIN ? 1 : -1) / sqrt((1 - x) * (1 + x));
        *f2 = x * *f1 * *f1 * *f1;
        return;
    case LWI_FORMULA_ATAN:
        *f1 = 1 / (1 + x * x), *f2 = -2 * x * *f1 * *f1;
        return;
    case LWI_FORMULA_SINH:
        *f1 = cosh(x), *f2 = f;
        return;
    case LWI_FORMULA_COSH:
        *f1 = sinh(x), *f2 = f;
        return;
    case LWI_FORMULA_TANH:
        *f1 = 1 / (cosh(x) * cosh(x)), *f2 = -2 * f * *f1;
        return;
    case LWI_FORMULA_EXP:
        *f1 = *f2 = f;
        return;
    case LWI_FORMULA_LOG:
        *f1 = 1 / x, *f2 = -*f1 * *f1;
        return;
    case LWI_FORMULA_LOG10:
        *f1 = 1 / (2.30258509299404568402 * x);
        *f2 = -*f1 / x;
        return;
    case LWI_FORMULA_SQRT:
        *f1 = 0.5 / f, *f2 = -*f1 * 0.5 / x;
        return;
    default:
        return; // steps of sign and of comparisons: no slope on either side
    }
}

// f' and f'' of an operation with the value f[0].
static void derive(lwi_operation operation, const jet *x, jet f)
{
    double f1, f2;
    jet difference;
    switch (operation) {
    case LWI_FORMULA_ADD:
        for (int k = 1; k < 3; k++) f[k] = x[0][k] + x[1][k];
        return;
    case LWI_FORMULA_SUBTRACT:
        for (int k = 1; k < 3; k++) f[k] = x[0][k] - x[1][k];
        return;
    case LWI_FORMULA_MULTIPLY:
        multiply(x[0], x[1], f);
        return;
    case LWI_FORMULA_DIVIDE:
        divide(x[0], x[1], f);
        return;
    case LWI_FORMULA_POWER:
        power(x[0], x[1], f);
        return;
    case LWI_FORMULA_NEGATE:
        copy(f, x[0], -1);
        return;
    case LWI_FORMULA_ATAN2:
        angle(x[0], x[1], f);
        return;
    case LWI_FORMULA_HYPOT:
        hypotenuse(x[0], x[1], f);
        return;
    case LWI_FORMULA_ABS:
        copy(f, x[0], rises(x[0]) ? 1 : -1);
        return;
    case LWI_FORMULA_MIN:
    case LWI_FORMULA_MAX:
        for (int k = 0; k < 3; k++) difference[k] = x[1][k] - x[0][k];
        copy(f, x[rises(difference) == (operation == LWI_FORMULA_MAX)], 1);
        return;
    case LWI_FORMULA_MOD: // between its jumps: x less a multiple of the period
        for (int k = 1; k < 3; k++)
            f[k] = x[0][k] - (x[1][k] != 0 ? x[1][k] * floor(x[0][0] / x[1][0]) : 0);
        return;
    case LWI_FORMULA_STEP:
        smooth_step(x, f);
        return;
    case LWI_FORMULA_WHERE:
        copy(f, x[x[0][0] != 0 ? 1 : 2], 1);
        return;
    default:
        slopes(operation, x[0][0], f[0], &f1, &f2);
        chain(x[0], f1, f2, f);
        return;
    }
}

static double along(int index, int seeded, double derivative)
{
    return index == seeded ? derivative : 0;
}

static void read_jet(const lwi_formula_name *name, const lwi_now *now, const lwi_seed *seed, jet f)
{
    if (name->kind == LWI_READ_SIGNAL) {
        lwi_signal_jet(now->functions, (lw_signal){name->index}, now, seed, f);
        return;
    }
    f[0] = lwi_probe_value(name->probe, now->kin);
    f[1] = lwi_probe_slope(name->probe, seed);
    f[2] = 0;
}

void lwi_formula_jet(const lwi_formula *formula, const lwi_now *now, const lwi_seed *seed,
                     double result[3])
{
    jet stack[LWI_FORMULA_STACK];
    int n = 0;
    for (int i = 0; i < formula->ncode; i++) {
        const lwi_instruction *in = &formula->code[i];
        double x[3];
        jet f = {0};
        n -= operands[in->operation];
        for (int k = 0; k < operands[in->operation]; k++) x[k] = stack[n + k][0];
        switch (in->operation) {
        case LWI_FORMULA_NUMBER:
            f[0] = in->value;
            f[1] = seed->number == in;
            break;
        case LWI_FORMULA_TIME:
            f[0] = now->t;
            f[1] = seed->t;
            break;
        case LWI_FORMULA_COORDINATE:
            f[0] = read(now->q, in->index);
            f[1] = along(in->index, seed->iq, seed->q);
            break;
        case LWI_FORMULA_SPEED:
            f[0] = read(now->qd, in->index);
            f[1] = along(in->index, seed->iv, seed->qd);
            break;
        case LWI_FORMULA_VARIABLE:
            f[0] = read(now->variables, in->index);
            break;
        case LWI_FORMULA_READ:
            read_jet(&formula->name[in->index], now, seed, f);
            break;
        default:
            f[0] = lwi_formula_operate(in->operation, x);
            derive(in->operation, (const jet *)(stack + n), f);
            break;
        }
        for (int k = 0; k < 3; k++) stack[n][k] = f[k];
        n++;
    }
    for (int k = 0; k < 3; k++) result[k] = stack[0][k];
}

/** A program with the values of all instructions. */
typedef struct trace {
    double value[LWI_GRADIENT_SIZE];
    short operand[LWI_GRADIENT_SIZE][3];
    bool moves[LWI_GRADIENT_SIZE]; // depends on a motion
} trace;

static void evaluate(const lwi_formula *formula, const lwi_now *now, trace *t)
{
    short stack[LWI_FORMULA_STACK];
    int n = 0;
    for (int i = 0; i < formula->ncode; i++) {
        const lwi_instruction *in = &formula->code[i];
        const lwi_operation op = in->operation;
        double x[3] = {0};
        t->moves[i] =
            op == LWI_FORMULA_COORDINATE || op == LWI_FORMULA_SPEED || op == LWI_FORMULA_READ;
        n -= operands[op];
        for (int k = 0; k < operands[op]; k++) {
            t->operand[i][k] = stack[n + k];
            x[k] = t->value[stack[n + k]];
            t->moves[i] = t->moves[i] || t->moves[stack[n + k]];
        }
        t->value[i] = value_of(formula, in, x, now);
        stack[n++] = (short)i;
    }
}

void lwi_formula_gradient(const lwi_formula *formula, const lwi_now *now, double by,
                          const lwi_gradient_sink *to)
{
    trace t;
    double bar[LWI_GRADIENT_SIZE];
    LWI_ASSERT(formula->ncode <= LWI_GRADIENT_SIZE);
    evaluate(formula, now, &t);
    for (int i = 0; i < formula->ncode; i++) bar[i] = 0;
    bar[formula->ncode - 1] = by;
    for (int i = formula->ncode - 1; i >= 0; i--) {
        const lwi_instruction *in = &formula->code[i];
        const int n = operands[in->operation];
        if (!t.moves[i] || bar[i] == 0) continue;
        if (n == 0) {
            const lwi_formula_name *name =
                in->operation == LWI_FORMULA_READ ? &formula->name[in->index] : NULL;
            if (name && name->kind == LWI_READ_SIGNAL)
                lwi_signal_gradient(now->functions, (lw_signal){name->index}, now, bar[i], to);
            else
                to->add(to->user, formula, in, bar[i]);
        }
        for (int k = 0; k < n; k++) {
            jet x[3] = {{0}}, f = {t.value[i]};
            if (!t.moves[t.operand[i][k]]) continue;
            for (int o = 0; o < n; o++) x[o][0] = t.value[t.operand[i][o]];
            x[k][1] = 1;
            derive(in->operation, (const jet *)x, f);
            bar[t.operand[i][k]] += bar[i] * f[1];
        }
    }
}

void lwi_formula_rates(const lwi_formula *formula, double t, double f[3])
{
    const lwi_now now = {.t = t};
    lwi_formula_jet(formula, &now, &lwi_seed_time, f);
}

double lwi_formula_partial(const lwi_formula *formula, const lwi_now *now, int k)
{
    const lwi_formula_name *name = &formula->name[k];
    if (name->kind != LWI_READ_JOINT) return NAN;
    const lwi_seed seed = name->speed
                              ? (lwi_seed){.iq = -1, .iv = name->index, .qd = 1, .spring = -1}
                              : (lwi_seed){.iq = name->index, .iv = -1, .q = 1, .spring = -1};
    jet f;
    lwi_formula_jet(formula, now, &seed, f);
    return f[1];
}
