// events.c -- events of a model: the builder takes them; their conditions become numbers that cross zero.
//
//   a > b, a >= b    a - b          x and y    min(x, y)          not x    -x
//   a < b, a <= b    -(a - b)       x or y     max(x, y)
//
// of the numbers of both sides.  Where one side of `and`, `or` or `not` is no comparison it counts as true if it is not
// 0, as in formulas.  Any other formula is itself the number that crosses zero.
#include "model/events.h"

#include "model/description.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A truth without a number: larger than any difference, so that the other side of `and`, `or` decides.
#define CERTAIN 1e300

// ---------------------------------------------------------------------------------------- describe

static lw_status check_times(const lwi_item *it, const lw_event_desc *d)
{
    if (!(d->every >= 0 && isfinite(d->every)))
        return lwi_item_fail(it, "every is %g, expected a time > 0 [s]", d->every);
    if (!(d->from >= 0 && isfinite(d->from)))
        return lwi_item_fail(it, "from is %g, expected a time >= 0 [s]", d->from);
    if (d->nat < 0 || (d->nat && !d->at))
        return lwi_item_fail(it, "at has %d times, or none is given", d->nat);
    for (int i = 0; i < d->nat; i++)
        if (!(d->at[i] >= 0 && isfinite(d->at[i])) || (i && !(d->at[i] > d->at[i - 1])))
            return lwi_item_fail(it, "at: time %d is %g, expected times >= 0 that increase [s]",
                                 i + 1, d->at[i]);
    return LW_OK;
}

static lw_status check_set(const lwi_item *it, const lw_event_desc *d)
{
    const lwi_description *desc = &it->builder->desc;
    if (d->nset < 0 || (d->nset && !d->set))
        return lwi_item_fail(it, "%d switches change, or none is given", d->nset);
    for (int i = 0; i < d->nset; i++) {
        const int target = d->set[i].target.index;
        TRY(lwi_item_signal(it, "set", d->set[i].target, false));
        TRY(lwi_item_signal(it, "set", d->set[i].value, false));
        if (target <= 0 || desc->function[target - 1].type != LW_FUNCTION_SWITCH)
            return lwi_item_fail(it, "set: '%.80s' is no switch, expected a signal of type switch",
                                 target > 0 && desc->function[target - 1].name
                                     ? desc->function[target - 1].name
                                     : "");
        if (!d->set[i].value.index)
            return lwi_item_fail(it, "set: the value of '%.80s' is missing",
                                 desc->function[target - 1].name);
    }
    return LW_OK;
}

static lw_status check(const lwi_item *it, const lw_event_desc *d)
{
    const int ways = (d->when.index != 0) + (d->every != 0) + (d->nat != 0);
    TRY(lwi_item_signal(it, "when", d->when, false));
    TRY(check_times(it, d));
    if (ways != 1)
        return lwi_item_fail(it, "%s, expected one of `when`, `every` and `at`",
                             ways ? "has a condition and times, or times twice"
                                  : "it is missing when it happens");
    if ((int)d->crossing < 0 || d->crossing >= LW_CROSSING_COUNT)
        return lwi_item_fail(it, "crossing %d is not one of the %d", (int)d->crossing,
                             (int)LW_CROSSING_COUNT);
    if (d->crossing != LW_CROSSING_AUTO && !d->when.index)
        return lwi_item_fail(it, "`crossing` belongs to `when`");
    if (d->from != 0 && d->every == 0) return lwi_item_fail(it, "`from` belongs to `every`");
    TRY(check_set(it, d));
    if (d->stop || d->record || d->nset) return LW_OK;
    return lwi_item_fail(it, "it is missing what happens, expected `stop`, `record` or `set`");
}

bool lwi_event_desc_copy(lwi_arena *arena, lw_event_desc *d)
{
    const double *at = d->at;
    const lw_event_setting *set = d->set;
    d->name = lwi_arena_text(arena, d->name);
    if (d->nat) {
        double *copy = LWI_PUSH(arena, double, d->nat);
        if (copy) memcpy(copy, at, (size_t)d->nat * sizeof *copy);
        d->at = copy;
    }
    if (d->nset) {
        lw_event_setting *copy = LWI_PUSH(arena, lw_event_setting, d->nset);
        if (copy) memcpy(copy, set, (size_t)d->nset * sizeof *copy);
        d->set = copy;
    }
    return d->name && (d->at || !d->nat) && (d->set || !d->nset);
}

lw_status lw_builder_add_event(lw_builder *b, const lw_event_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_event_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_event_desc", error));
    d.name = lwi_builder_name(b, desc->name, "event", b->desc.nevent);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "event", d.name, d.place, error};
    TRY(check(&item, &d));
    if (!lwi_event_desc_copy(&b->arena, &d)) return lwi_builder_no_memory(error);
    LWI_GROW(b, LWI_LIST_EVENTS, event, nevent);
    b->desc.event[b->desc.nevent++] = d;
    return LW_OK;
}

// -------------------------------------------------------------------------------------- conditions

/** The program of a condition while it is made from that of a formula. */
typedef struct rewriting {
    const lwi_instruction *from;
    lwi_instruction *to; ///< [ROOM] times as many as `from` has
    int n, stack, deepest;
    bool compares, equal; ///< there is a comparison; it is == or !=
} rewriting;

enum { ROOM = 4 }; // of an operand that is no comparison three instructions follow

static void put(rewriting *r, lwi_instruction in)
{
    r->to[r->n++] = in;
    r->stack += 1 - lwi_formula_operands(in.operation);
    if (r->stack > r->deepest) r->deepest = r->stack;
}

static void put_operation(rewriting *r, lwi_operation operation)
{
    put(r, (lwi_instruction){.operation = operation});
}

static void put_number(rewriting *r, double value)
{
    put(r, (lwi_instruction){.operation = LWI_FORMULA_NUMBER, .value = value});
}

// Where the operand that ends at instruction `end` begins.
static int beginning(const lwi_instruction *code, int end)
{
    for (int missing = 1;; end--) {
        missing += lwi_formula_operands(code[end].operation) - 1;
        if (missing == 0) return end;
    }
}

static void put_span(rewriting *r, int first, int last)
{
    for (int i = first; i <= last; i++) put(r, r->from[i]);
}

// The condition that ends at instruction `end`; inner: an operand of `and`, `or`, `not`.
static void put_condition(rewriting *r, int end, bool inner)
{
    const lwi_operation operation = r->from[end].operation;
    switch (operation) {
    case LWI_FORMULA_GREATER:
    case LWI_FORMULA_GREATER_EQUAL:
    case LWI_FORMULA_LESS:
    case LWI_FORMULA_LESS_EQUAL:
        r->compares = true;
        put_span(r, beginning(r->from, end), end - 1);
        put_operation(r, LWI_FORMULA_SUBTRACT);
        if (operation == LWI_FORMULA_LESS || operation == LWI_FORMULA_LESS_EQUAL)
            put_operation(r, LWI_FORMULA_NEGATE);
        return;
    case LWI_FORMULA_AND:
    case LWI_FORMULA_OR:
        put_condition(r, beginning(r->from, end - 1) - 1, true);
        put_condition(r, end - 1, true);
        put_operation(r, operation == LWI_FORMULA_AND ? LWI_FORMULA_MIN : LWI_FORMULA_MAX);
        r->compares = true;
        return;
    case LWI_FORMULA_NOT:
        put_condition(r, end - 1, true);
        put_operation(r, LWI_FORMULA_NEGATE);
        r->compares = true;
        return;
    default:
        r->equal |= operation == LWI_FORMULA_EQUAL || operation == LWI_FORMULA_NOT_EQUAL;
        put_span(r, beginning(r->from, end), end);
        if (!inner) return;
        put_number(r, CERTAIN);
        put_number(r, -CERTAIN);
        put_operation(r, LWI_FORMULA_WHERE);
        return;
    }
}

static lw_status compile_condition(lw_model *m, const lw_event_desc *d, lwi_event *e,
                                   lw_error *error)
{
    const lwi_formula *f = d->when.index > 0 ? m->function[d->when.index - 1].formula : NULL;
    e->when = d->when;
    e->rising = d->crossing != LW_CROSSING_FALLING;
    e->falling = d->crossing == LW_CROSSING_FALLING || d->crossing == LW_CROSSING_BOTH ||
                 d->crossing == LW_CROSSING_AUTO;
    if (!f || m->function[d->when.index - 1].desc.type != LW_FUNCTION_FORMULA) return LW_OK;
    lwi_formula *copy = LWI_PUSH(&m->arena, lwi_formula, 1);
    lwi_instruction *code = LWI_PUSH(&m->arena, lwi_instruction, ROOM * (size_t)f->ncode);
    if (!copy || !code) return lwi_fail(error, LW_ERR_MEMORY, "no memory for events");
    rewriting r = {.from = f->code, .to = code};
    put_condition(&r, f->ncode - 1, false);
    if (r.equal)
        return lwi_model_fail(&m->desc, d->place, error,
                              "event '%s': when: '%.80s' holds at single points only, expected a "
                              "comparison with < or >, or a number that crosses zero",
                              d->name, f->text);
    if (r.deepest > LWI_FORMULA_STACK)
        return lwi_model_fail(&m->desc, d->place, error, "event '%s': when: too involved", d->name);
    if (!r.compares) return LW_OK;
    *copy = *f;
    copy->code = code, copy->ncode = r.n;
    e->formula = copy;
    if (d->crossing == LW_CROSSING_AUTO) e->falling = false;
    return LW_OK;
}

static const char *switch_name(const lw_model *m, const lw_event_setting *set)
{
    const char *name = m->desc.function[set->target.index - 1].name;
    return name ? name : "a switch";
}

// What an event does, in the words of its keys.
static lw_status name_action(lw_model *m, const lw_event_desc *d, lwi_event *e, lw_error *error)
{
    size_t room = sizeof "record, stop";
    for (int k = 0; k < d->nset; k++) room += strlen(switch_name(m, &d->set[k])) + sizeof "set , ";
    char *text = LWI_PUSH(&m->arena, char, room);
    if (!text) return lwi_fail(error, LW_ERR_MEMORY, "no memory for events");
    size_t n = 0;
    for (int k = 0; k < d->nset; k++)
        n += (size_t)snprintf(text + n, room - n, "%sset %s", n ? ", " : "",
                              switch_name(m, &d->set[k]));
    if (d->record) n += (size_t)snprintf(text + n, room - n, "%srecord", n ? ", " : "");
    if (d->stop) snprintf(text + n, room - n, "%sstop", n ? ", " : "");
    e->action = text;
    return LW_OK;
}

lw_status lwi_compile_events(lw_model *m, lw_error *error)
{
    m->event = LWI_PUSH(&m->arena, lwi_event, m->desc.nevent);
    if (!m->event) return lwi_fail(error, LW_ERR_MEMORY, "no memory for events");
    for (int i = 0; i < m->desc.nevent; i++) {
        TRY(compile_condition(m, &m->desc.event[i], &m->event[i], error));
        TRY(name_action(m, &m->desc.event[i], &m->event[i], error));
    }
    m->relay = LWI_PUSH(&m->arena, int, m->desc.nfunction);
    if (!m->relay) return lwi_fail(error, LW_ERR_MEMORY, "no memory for events");
    for (int i = 0; i < m->desc.nfunction; i++)
        if (m->desc.function[i].type == LW_FUNCTION_RELAY) m->relay[m->nrelay++] = i;
    return LW_OK;
}

double lwi_event_guard(const lw_model *m, int i, const lwi_now *now)
{
    const lwi_event *e = &m->event[i];
    lwi_now here = *now;
    here.functions = m->function;
    return e->formula ? lwi_formula_value(e->formula, &here)
                      : lwi_signal_value(m->function, e->when, &here, 0);
}

double lwi_relay_guard(const lw_model *m, int i, const lwi_now *now)
{
    const lwi_function *f = &m->function[m->relay[i]];
    lwi_now here = *now;
    here.functions = m->function;
    const double x = lwi_formula_value(f->formula, &here);
    return here.states[f->state] != 0 ? f->desc.range[0] - x : x - f->desc.range[1];
}

// ------------------------------------------------------------------------------------------- times

// k every, rounded once where a second has a whole number of periods: 3 * 0.1 is 0.3.
static double multiple(double every, double k)
{
    const double rate = rint(1 / every);
    return rate * every == 1 ? k / rate : k * every;
}

// Of times that increase: the first one that is not over, by halving.
static double next_of(const lw_event_desc *d, double t, bool now)
{
    int first = 0, n = d->nat;
    while (n > 0) {
        const int half = n / 2;
        const double at = d->at[first + half];
        const bool over = at < t || (at == t && !now);
        if (over) first += half + 1;
        n = over ? n - half - 1 : half;
    }
    return first < d->nat ? d->at[first] : INFINITY;
}

double lwi_event_time(const lw_model *m, int i, double t, bool now)
{
    const lw_event_desc *d = &m->desc.event[i];
    if (d->every == 0) return next_of(d, t, now);
    double k = fmax(0, floor((t - d->from) / d->every) - 1);
    double time = d->from + multiple(d->every, k);
    while (time < t || (time == t && !now)) {
        const double next = d->from + multiple(d->every, ++k);
        if (!(next > time)) return INFINITY; // the period has no digits at this time
        time = next;
    }
    return time;
}
