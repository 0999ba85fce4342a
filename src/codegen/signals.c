// signals.c -- values of signals, and rates of their states: model/signals as values.
//
// A formula is executed on a stack of values.  Conditions are 1 or 0, choices are selections: where a slope or a value
// jumps the code has the pieces of the library.
#include "codegen/signals.h"

#include "codegen/curve.h"
#include "codegen/jacobian.h"
#include "codegen/joints.h"
#include "codegen/refuse.h"
#include "model/signals/probe.h"
#include "model/signals/states.h"

#include <math.h>

// --------------------------------------------------------------------------------------- which ones

static lw_status check_curve(const lw_model *m, const lwi_function *f, const char *user,
                             lw_error *error)
{
    if (f->desc.type == LW_FUNCTION_MAP)
        return lwi_refuse(m, f->desc.place, error, "%s follows the map '%s'", user, f->desc.name);
    if (f->table.axis[0].n <= LWI_CURVE_POINTS) return LW_OK;
    return lwi_refuse(m, f->desc.place, error, "%s follows '%s', which has %d points, more than %d",
                      user, f->desc.name ? f->desc.name : "a table", f->table.axis[0].n,
                      (int)LWI_CURVE_POINTS);
}

static lw_status check_name(const lw_model *m, const lwi_function *f, const lwi_formula_name *name,
                            const char *user, lw_error *error)
{
    if (name->kind != LWI_READ_JOINT) return LW_OK;
    if (lwi_joint_reading_exists(m, name->speed, name->index)) return LW_OK;
    return lwi_refuse(m, f->desc.place, error,
                      "%s follows '%s', which reads %s%d of joint '%s', which closes a loop", user,
                      f->desc.name ? f->desc.name : f->desc.formula, name->speed ? "qd" : "q",
                      name->coordinate, name->joint);
}

lw_status lwi_signals_check(const lw_model *m, lw_signal signal, const char *user, lw_error *error)
{
    if (signal.index <= 0) return LW_OK;
    const lwi_function *f = &m->function[signal.index - 1];
    const lw_function_type type = f->desc.type;
    if (type == LW_FUNCTION_TABLE || type == LW_FUNCTION_CURVE || type == LW_FUNCTION_MAP)
        TRY(check_curve(m, f, user, error));
    for (int i = 0; i < LWI_FUNCTION_FORMULAS; i++) {
        const lwi_formula *formula = lwi_function_formula(f, i);
        for (int k = 0; formula && k < formula->nname; k++)
            TRY(check_name(m, f, &formula->name[k], user, error));
    }
    for (int i = 0; i < f->desc.nterm; i++)
        if (f->desc.terms[i].index != signal.index)
            TRY(lwi_signals_check(m, f->desc.terms[i], user, error));
    return LW_OK;
}

// --------------------------------------------------------------------------------------- operations

static val less(lwi_codegen_graph *g, val a, val b, double yes, double no)
{
    return lwi_codegen_graph_select(g, sub(g, a, b), lit(g, yes), lit(g, no));
}
static val same(lwi_codegen_graph *g, val a, val b, double yes, double no)
{
    return lwi_codegen_graph_select(g, sub(g, a, b), lit(g, no), less(g, b, a, no, yes));
}
static val function(lwi_codegen_graph *g, lwi_op op, val a)
{
    return lwi_codegen_graph_op(g, op, a, a);
}

val lwi_within(lwi_codegen_graph *g, val x, const double range[2])
{
    if (range[0] > -INFINITY) {
        const val low = lit(g, range[0]);
        x = lwi_codegen_graph_select(g, sub(g, x, low), low, x);
    }
    if (range[1] < INFINITY) {
        const val high = lit(g, range[1]);
        x = lwi_codegen_graph_select(g, sub(g, high, x), high, x);
    }
    return x;
}

static val quintic(lwi_codegen_graph *g, val s)
{
    const val inner = msub(g, lit(g, 15), lit(g, 6), s), cube = mul(g, mul(g, s, s), s);
    return mul(g, cube, msub(g, lit(g, 10), s, inner));
}

// 0 before `start`, 1 beyond `end`.
static val step(lwi_codegen_graph *g, val x, val start, val end)
{
    const val one = lit(g, 1);
    const val s = lwi_codegen_graph_op(g, LWI_OP_DIV, sub(g, x, start), sub(g, end, start));
    const val up = lwi_codegen_graph_select(g, sub(g, s, one), quintic(g, s), one);
    return lwi_codegen_graph_select(g, s, lit(g, 0), up);
}

static val modulo(lwi_codegen_graph *g, val x, val period)
{
    const val turns = lwi_codegen_graph_op(g, LWI_OP_DIV, x, period);
    return msub(g, x, period, function(g, LWI_OP_FLOOR, turns));
}

// a where c is not 0.
static val where(lwi_codegen_graph *g, val c, val a, val b)
{
    return lwi_codegen_graph_where(g, c, a, b);
}

static const struct {
    lwi_operation operation;
    lwi_op op;
} plain[] = {
    {LWI_FORMULA_ADD, LWI_OP_ADD},      {LWI_FORMULA_SUBTRACT, LWI_OP_SUB},
    {LWI_FORMULA_MULTIPLY, LWI_OP_MUL}, {LWI_FORMULA_DIVIDE, LWI_OP_DIV},
    {LWI_FORMULA_POWER, LWI_OP_POW},    {LWI_FORMULA_NEGATE, LWI_OP_NEG},
    {LWI_FORMULA_SIN, LWI_OP_SIN},      {LWI_FORMULA_COS, LWI_OP_COS},
    {LWI_FORMULA_TAN, LWI_OP_TAN},      {LWI_FORMULA_ASIN, LWI_OP_ASIN},
    {LWI_FORMULA_ACOS, LWI_OP_ACOS},    {LWI_FORMULA_ATAN, LWI_OP_ATAN},
    {LWI_FORMULA_ATAN2, LWI_OP_ATAN2},  {LWI_FORMULA_SINH, LWI_OP_SINH},
    {LWI_FORMULA_COSH, LWI_OP_COSH},    {LWI_FORMULA_TANH, LWI_OP_TANH},
    {LWI_FORMULA_EXP, LWI_OP_EXP},      {LWI_FORMULA_LOG, LWI_OP_LOG},
    {LWI_FORMULA_SQRT, LWI_OP_SQRT},    {LWI_FORMULA_FLOOR, LWI_OP_FLOOR},
};

// Operations that are made of others.
static val composed(lwi_codegen_graph *g, lwi_operation operation, const val *x)
{
    const val zero = lit(g, 0), one = lit(g, 1);
    switch (operation) {
    case LWI_FORMULA_LESS:
        return less(g, x[0], x[1], 1, 0);
    case LWI_FORMULA_LESS_EQUAL:
        return less(g, x[1], x[0], 0, 1);
    case LWI_FORMULA_GREATER:
        return less(g, x[1], x[0], 1, 0);
    case LWI_FORMULA_GREATER_EQUAL:
        return less(g, x[0], x[1], 0, 1);
    case LWI_FORMULA_EQUAL:
        return same(g, x[0], x[1], 1, 0);
    case LWI_FORMULA_NOT_EQUAL:
        return same(g, x[0], x[1], 0, 1);
    case LWI_FORMULA_AND:
        return where(g, x[0], where(g, x[1], one, zero), zero);
    case LWI_FORMULA_OR:
        return where(g, x[0], one, where(g, x[1], one, zero));
    case LWI_FORMULA_NOT:
        return where(g, x[0], zero, one);
    case LWI_FORMULA_HYPOT:
        return function(g, LWI_OP_SQRT, madd(g, mul(g, x[0], x[0]), x[1], x[1]));
    case LWI_FORMULA_LOG10:
        return mul(g, lit(g, 1 / log(10)), function(g, LWI_OP_LOG, x[0]));
    case LWI_FORMULA_ABS:
        return lwi_codegen_graph_select(g, x[0], neg(g, x[0]), x[0]);
    case LWI_FORMULA_SIGN:
        return lwi_codegen_graph_select(g, x[0], lit(g, -1), less(g, zero, x[0], 1, 0));
    case LWI_FORMULA_MIN:
        return lwi_codegen_graph_select(g, sub(g, x[1], x[0]), x[1], x[0]);
    case LWI_FORMULA_MAX:
        return lwi_codegen_graph_select(g, sub(g, x[0], x[1]), x[1], x[0]);
    case LWI_FORMULA_CEIL:
        return neg(g, function(g, LWI_OP_FLOOR, neg(g, x[0])));
    case LWI_FORMULA_MOD:
        return modulo(g, x[0], x[1]);
    case LWI_FORMULA_STEP:
        return step(g, x[0], x[1], x[2]);
    case LWI_FORMULA_WHERE:
        return where(g, x[0], x[1], x[2]);
    default:
        return lit(g, NAN); // variables, which formulas of models do not have
    }
}

static val operate(lwi_codegen_graph *g, lwi_operation operation, const val *x)
{
    for (int i = 0; i < LWI_COUNT(plain); i++)
        if (plain[i].operation == operation)
            return lwi_codegen_graph_op(g, plain[i].op, x[0],
                                        lwi_formula_operands(operation) > 1 ? x[1] : x[0]);
    return composed(g, operation, x);
}

// ---------------------------------------------------------------------------------------- formulas

// A component of the motion of a point of a body.
static val of_point(const lwi_sources *s, const lwi_probe *p)
{
    const int k = p->component % 3;
    lwi_sides *sides = s->sides;
    val w[3];
    lwi_sides_point(sides, p->body[0], p->point[0]);
    const lwi_place *at = &sides->frame[1];
    if (p->component / 3 == 0) return at->r[k];
    if (p->component / 3 == 1) return at->v[k];
    val axes[9];
    lwi_literals(s->walk->graph, 9, axes, p->axes);
    lwi_rotate_back(s->walk->graph, w, at->R, at->w);
    lwi_rotate_back(s->walk->graph, w, axes, w);
    return w[k];
}

// The distance of two points, or its rate; 0 where they meet.
static val between(const lwi_sources *s, const lwi_probe *p)
{
    lwi_codegen_graph *g = s->walk->graph;
    lwi_sides *sides = s->sides;
    val v[3];
    lwi_sides_points(sides, p->body[0], p->point[0], p->body[1], p->point[1]);
    const val length = function(g, LWI_OP_SQRT, lwi_codegen_dot(g, 3, sides->d, sides->d));
    if (!p->component) return length;
    lwi_difference(g, v, sides->frame[1].v, sides->frame[0].v);
    const val rate =
        lwi_codegen_graph_op(g, LWI_OP_DIV, lwi_codegen_dot(g, 3, sides->d, v), length);
    return lwi_codegen_graph_select(g, neg(g, length), rate, lit(g, 0));
}

static val reading(const lwi_sources *s, const lwi_formula_name *name)
{
    if (name->kind == LWI_READ_SIGNAL) return lwi_signal_of(s, (lw_signal){name->index}, 0);
    const bool point = name->kind == LWI_READ_BODY || name->kind == LWI_READ_MARKER;
    return point ? of_point(s, name->probe) : between(s, name->probe);
}

static val leaf(const lwi_sources *s, const lwi_formula *formula, const lwi_instruction *in)
{
    switch (in->operation) {
    case LWI_FORMULA_NUMBER:
        return lit(s->walk->graph, in->value);
    case LWI_FORMULA_TIME:
        return lwi_walk_time(s->walk);
    case LWI_FORMULA_COORDINATE:
        return lwi_joint_reading(s->sides, false, in->index);
    case LWI_FORMULA_SPEED:
        return lwi_joint_reading(s->sides, true, in->index);
    default:
        return reading(s, &formula->name[in->index]);
    }
}

static val formula_of(const lwi_sources *s, const lwi_formula *formula)
{
    val stack[LWI_FORMULA_STACK] = {{0}};
    int n = 0;
    for (int i = 0; i < formula->ncode; i++) {
        const lwi_instruction *in = &formula->code[i];
        const int operands = lwi_formula_operands(in->operation);
        n -= operands;
        stack[n] =
            operands > 0 ? operate(s->walk->graph, in->operation, stack + n) : leaf(s, formula, in);
        n++;
    }
    return stack[0];
}

// A formula, or 0.
static val optional(const lwi_sources *s, const lwi_formula *formula)
{
    return formula ? formula_of(s, formula) : lit(s->walk->graph, 0);
}

// ------------------------------------------------------------------------------------------ states

static val state_of(const lwi_sources *s, const lwi_function *f, int k)
{
    return lwi_codegen_graph_input(s->walk->graph, s->walk->x, f->state + k);
}

static val in_range(lwi_codegen_graph *g, const lw_function_desc *d, val x)
{
    return d->has_range ? lwi_within(g, x, d->range) : x;
}

typedef struct control {
    val e, d, w;
} control;

static control control_of(const lwi_sources *s, const lwi_function *f)
{
    lwi_codegen_graph *g = s->walk->graph;
    const lw_function_desc *d = &f->desc;
    control c = {.e = sub(g, formula_of(s, f->formula), formula_of(s, f->formula2)),
                 .d = lit(g, 0)};
    if (lwi_pid_has_rate(d))
        c.d = sub(g, optional(s, f->rate[0]), optional(s, f->rate[1]));
    else if (lwi_pid_has_filter(d))
        c.d = mul(g, lit(g, 1 / d->filter), sub(g, c.e, state_of(s, f, 1)));
    c.w = madd(g, madd(g, state_of(s, f, 0), lit(g, d->kp), c.e), lit(g, d->kd), c.d);
    return c;
}

static val with_states(const lwi_sources *s, const lwi_function *f)
{
    lwi_codegen_graph *g = s->walk->graph;
    const lw_function_desc *d = &f->desc;
    const int n = f->nstate;
    switch (d->type) {
    case LW_FUNCTION_INTEGRAL:
        return in_range(g, d, state_of(s, f, 0));
    case LW_FUNCTION_TRANSFER:
        if (f->linear[2 * n] == 0) return state_of(s, f, n - 1);
        return madd(g, state_of(s, f, n - 1), lit(g, f->linear[2 * n]), formula_of(s, f->formula));
    case LW_FUNCTION_PID:
        return in_range(g, d, control_of(s, f).w);
    case LW_FUNCTION_RELAY:
        return where(g, state_of(s, f, 0), lit(g, d->to), lit(g, d->from));
    default:
        return state_of(s, f, 0);
    }
}

static void pid_rates(const lwi_sources *s, const lwi_function *f, val *rate)
{
    lwi_codegen_graph *g = s->walk->graph;
    const lw_function_desc *d = &f->desc;
    const control c = control_of(s, f);
    rate[0] = mul(g, lit(g, d->ki), c.e);
    if (d->has_range && d->ki > 0)
        rate[0] = madd(g, rate[0], lit(g, 1 / lwi_pid_tracking_time(d)),
                       sub(g, in_range(g, d, c.w), c.w));
    if (lwi_pid_has_filter(d)) rate[1] = c.d;
}

static void transfer_rates(const lwi_sources *s, const lwi_function *f, val *rate)
{
    lwi_codegen_graph *g = s->walk->graph;
    const int n = f->nstate;
    const double *a = f->linear, *b = f->linear + n;
    const val e = formula_of(s, f->formula), last = state_of(s, f, n - 1);
    for (int k = 0; k < n; k++) {
        const val before = k ? state_of(s, f, k - 1) : lit(g, 0);
        rate[k] = madd(g, msub(g, before, lit(g, a[k]), last), lit(g, b[k] - a[k] * b[n]), e);
    }
}

// Of an integral, which stays at the ends of its range.
static val integral_rate(lwi_codegen_graph *g, const lw_function_desc *d, val z, val e)
{
    const val zero = lit(g, 0);
    if (!d->has_range) return e;
    const val low = lit(g, d->range[0]), high = lit(g, d->range[1]);
    const val down = lwi_codegen_graph_select(g, sub(g, low, z), e, zero); // where e < 0
    const val up = lwi_codegen_graph_select(g, sub(g, z, high), e, zero);  // where e > 0
    return lwi_codegen_graph_select(g, e, down, up);
}

static void rates_of(const lwi_sources *s, const lwi_function *f, val *rate)
{
    lwi_codegen_graph *g = s->walk->graph;
    const lw_function_desc *d = &f->desc;
    rate[0] = lit(g, 0);
    if (d->type == LW_FUNCTION_SWITCH || d->type == LW_FUNCTION_RELAY) return; // events set them
    if (d->type == LW_FUNCTION_TRANSFER) {
        transfer_rates(s, f, rate);
        return;
    }
    if (d->type == LW_FUNCTION_PID) {
        pid_rates(s, f, rate);
        return;
    }
    const val e = formula_of(s, f->formula), z = state_of(s, f, 0);
    if (d->type == LW_FUNCTION_INTEGRAL) {
        rate[0] = integral_rate(g, d, z, e);
        return;
    }
    rate[0] = mul(g, lit(g, 1 / d->time), sub(g, e, z));
    if (d->type == LW_FUNCTION_RATE_LIMIT)
        rate[0] = lwi_within(g, rate[0], (double[]){-d->rate, d->rate});
}

void lwi_signal_rates(const lwi_sources *s, int xdot)
{
    const lw_model *m = s->walk->elements->model;
    val rate[LWI_SIGNAL_STATES];
    for (int i = 0; i < m->desc.nfunction; i++) {
        const lwi_function *f = &m->function[i];
        if (f->nstate == 0) continue;
        rates_of(s, f, rate);
        for (int k = 0; k < f->nstate; k++)
            lwi_codegen_graph_output(s->walk->graph, xdot, f->state + k, rate[k]);
    }
}

// ------------------------------------------------------------------------------------------ values

static val polynomial(lwi_codegen_graph *g, const lw_function_desc *d, val t)
{
    val sum = lit(g, 0);
    for (int i = d->ncoefficient - 1; i >= 0; i--)
        sum = madd(g, lit(g, d->coefficients[i]), sum, t);
    return sum;
}

static val sine(lwi_codegen_graph *g, const lw_function_desc *d, val t)
{
    const val angle = madd(g, lit(g, d->phase), lit(g, d->omega), t);
    return madd(g, lit(g, d->offset), lit(g, d->amplitude), function(g, LWI_OP_SIN, angle));
}

static val ramp(lwi_codegen_graph *g, const lw_function_desc *d, val t)
{
    const val since = sub(g, t, lit(g, d->from));
    return lwi_codegen_graph_select(g, since, lit(g, 0), mul(g, lit(g, d->rate), since));
}

static val sum_of(const lwi_sources *s, const lw_function_desc *d)
{
    val sum = lit(s->walk->graph, 0);
    for (int i = 0; i < d->nterm; i++)
        sum = add(s->walk->graph, sum, lwi_signal_of(s, d->terms[i], 0));
    return sum;
}

val lwi_signal_of(const lwi_sources *s, lw_signal signal, double none)
{
    lwi_codegen_graph *g = s->walk->graph;
    if (signal.index == 0) return lit(g, none);
    if (signal.index < 0) return lwi_codegen_graph_input(g, s->walk->u, -signal.index - 1);
    const lwi_function *f = &s->walk->elements->model->function[signal.index - 1];
    const lw_function_desc *d = &f->desc;
    if (f->nstate > 0) return with_states(s, f);
    switch (d->type) {
    case LW_FUNCTION_CONSTANT:
        return lit(g, d->value);
    case LW_FUNCTION_POLYNOMIAL:
        return polynomial(g, d, lwi_walk_time(s->walk));
    case LW_FUNCTION_SINE:
        return sine(g, d, lwi_walk_time(s->walk));
    case LW_FUNCTION_RAMP:
        return ramp(g, d, lwi_walk_time(s->walk));
    case LW_FUNCTION_STEP:
        return madd(g, lit(g, d->from), lit(g, d->to - d->from),
                    step(g, lwi_walk_time(s->walk), lit(g, d->start), lit(g, d->end)));
    case LW_FUNCTION_TABLE:
        return lwi_curve_of(g, &f->table, lwi_walk_time(s->walk));
    case LW_FUNCTION_CURVE:
        return lwi_curve_of(g, &f->table, formula_of(s, f->formula));
    case LW_FUNCTION_SUM:
        return sum_of(s, d);
    default:
        return formula_of(s, f->formula);
    }
}

void lwi_signal_of_time(const lwi_walk *walk, lw_signal signal, val f[3])
{
    const lwi_sources sources = {.walk = walk};
    f[0] = lwi_signal_of(&sources, signal, 0);
    for (int k = 1; k < 3; k++) f[k] = lwi_codegen_derivative(walk->graph, f[k - 1], walk->t, 0);
}
