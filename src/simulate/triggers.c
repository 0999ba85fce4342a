// triggers.c -- events of the model: their times are found, and what they do is done.
//
// A condition is a number G that crosses zero (model/events.h).  After each step its sign is compared with that at the
// start of the step.  If it has changed, the step is repeated from its start to times between, which regula falsi
// chooses, until the interval with the change has no more digits.  Every trial is a step of the integrator, so the state
// at the event is as accurate as any other: nothing is interpolated.  It is the one behind the event, where the sign has
// changed.
//
// Modes of stops change within the steps (events.c); those of the start of the step are set again with its state.
#include "simulate/simulation.h"

#include "base/assert.h"
#include "model/events.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// Trials of a search.  Regula falsi needs about ten, a condition that jumps 53 halves.
enum { MAX_TRIALS = 200 };
// The interval that is left of a search, relative to the time.
#define SHORTEST (4 * DBL_EPSILON)
// A condition that crosses within so small a part of the first step, or of the time between rows, was zero at the start.
#define AT_START 1e-9
// So many events follow one another within so small a part of the time, in addition to some for each event of the
// model, before they are taken for a chatter without end.
#define SOON 1e-12
enum { MAX_REPEATS = 100 };
// Events between two rows for which there is memory from the beginning.
enum { FIRST_LOG = 256 };

// ---------------------------------------------------------------------------------------- creation

static lw_status copy_of_events(lw_sim *sim)
{
    lwi_events *e = &sim->triggers.events0;
    const int n = sim->model->nmode;
    e->mode = LWI_PUSH(&sim->arena, unsigned char, n);
    e->gap = LWI_PUSH(&sim->arena, lwi_gap, n);
    return e->mode && e->gap ? LW_OK : LW_ERR_MEMORY;
}

static lw_status allocate(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    lwi_arena *arena = &sim->arena;
    const int nevent = sim->model->desc.nevent, n = g->n;
    int widest = 1;
    for (int i = 0; i < nevent; i++)
        if (sim->model->desc.event[i].nset > widest) widest = sim->model->desc.event[i].nset;
    g->value = LWI_PUSH(arena, double, widest);
    g->side = LWI_PUSH(arena, signed char, n);
    g->guard = LWI_PUSH(arena, double, n);
    g->low = LWI_PUSH(arena, double, n);
    g->high = LWI_PUSH(arena, double, n);
    g->time = LWI_PUSH(arena, double, nevent);
    g->due = LWI_PUSH(arena, bool, n);
    g->count = LWI_PUSH(arena, long, nevent);
    g->room = FIRST_LOG;
    g->log = LWI_PUSH(arena, lw_occurrence, g->room);
    g->x0 = LWI_PUSH(arena, double, sim->work->layout.nx);
    g->discrete0 = lwi_arena_push(arena, 1, sim->work->ndiscrete + 1);
    if (!g->value || !g->side || !g->guard || !g->low || !g->high || !g->time || !g->due ||
        !g->count || !g->log || !g->x0 || !g->discrete0)
        return LW_ERR_MEMORY;
    return copy_of_events(sim);
}

lw_status lwi_sim_prepare_triggers(lw_sim *sim)
{
    const lw_model *model = sim->model;
    sim->triggers = (lwi_triggers){.stopped = -1, .n = model->desc.nevent + model->nrelay};
    if (!lwi_has_events(model)) return LW_OK;
    if (sim->work->fixed_cost)
        return lwi_fail(
            &sim->error, LW_ERR_UNSUPPORTED,
            "the model has events or relays, but steps of equal cost cannot end at them: use "
            "another mode of %s, or another formulation",
            sim->work->formulation->name);
    if (allocate(sim) != LW_OK)
        return lwi_fail(&sim->error, LW_ERR_MEMORY, "no memory for the events of a simulation");
    sim->triggers.active = true;
    return LW_OK;
}

void lwi_sim_restart_triggers(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    g->begun = g->resumed = false;
    g->ndue = 0;
    for (int i = 0; g->active && i < g->n; i++) g->due[i] = false;
}

// ------------------------------------------------------------------------------------- conditions

// What conditions and values may read at the present state.
static lw_status observe(lw_sim *sim, lwi_kin *kin, lwi_states *states, lwi_now *now)
{
    const lw_model *model = sim->model;
    lwi_snapshot *m = &sim->snapshot;
    TRY(lwi_sim_call_back_here(sim, "searching for an event"));
    const lw_status status = sim->work->formulation->observe(sim->work, sim->t, sim->x, sim->inputs,
                                                             LW_OBSERVE_TWIST, m);
    if (status != LW_OK) return lwi_sim_fail_work(sim, status, "searching for an event");
    lwi_observe_merged(model, LW_OBSERVE_TWIST, sim->inputs, &sim->loads, m);
    *states = (lwi_states){.value = sim->x + sim->work->layout.nx - model->nstate};
    *kin = lwi_snapshot_kin(model, m);
    kin->states = states;
    *now = lwi_now_at(kin, sim->t, sim->inputs);
    return LW_OK;
}

// "event 'tick'", "relay 'heater'"
static const char *kind_of(const lw_model *model, int i)
{
    return i < model->desc.nevent ? "event" : "relay";
}
static const char *name_of(const lw_model *model, int i)
{
    if (i < model->desc.nevent) return model->desc.event[i].name;
    const char *name = model->desc.function[model->relay[i - model->desc.nevent]].name;
    return name ? name : "";
}

// Does it depend on a condition?  Otherwise on the time.
static bool has_condition(const lw_model *model, int i)
{
    return i >= model->desc.nevent || model->event[i].when.index != 0;
}

// All conditions at the present state.
static lw_status examine(lw_sim *sim)
{
    const lw_model *model = sim->model;
    lwi_triggers *g = &sim->triggers;
    lwi_states states;
    lwi_kin kin;
    lwi_now now;
    TRY(observe(sim, &kin, &states, &now));
    for (int i = 0; i < g->n; i++) {
        if (!has_condition(model, i)) continue;
        g->guard[i] = i < model->desc.nevent ? lwi_event_guard(model, i, &now)
                                             : lwi_relay_guard(model, i - model->desc.nevent, &now);
        if (!isfinite(g->guard[i]))
            return lwi_fail(&sim->error, LW_ERR_NOT_FINITE,
                            "%s '%s': its condition is not finite at t = %.10g (%g)",
                            kind_of(model, i), name_of(model, i), sim->t, g->guard[i]);
    }
    return LW_OK;
}

static int sign_of(double x)
{
    return (x > 0) - (x < 0);
}

// Has the condition of event i crossed zero, in a direction that counts?
static bool has_crossed(const lw_sim *sim, int i, double guard)
{
    const lw_model *model = sim->model;
    const int before = sim->triggers.side[i], now = sign_of(guard);
    if (!has_condition(model, i) || before * now >= 0) return false;
    if (i >= model->desc.nevent) return now > 0;
    return now > 0 ? model->event[i].rising : model->event[i].falling;
}

static bool any_crossed(const lw_sim *sim)
{
    for (int i = 0; i < sim->triggers.n; i++)
        if (has_crossed(sim, i, sim->triggers.guard[i])) return true;
    return false;
}

static void set_due(lwi_triggers *g, int i)
{
    g->ndue += !g->due[i];
    g->due[i] = true;
}

static void take_signs(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    for (int i = 0; i < g->n; i++)
        if (has_condition(sim->model, i) && sign_of(g->guard[i]))
            g->side[i] = (signed char)sign_of(g->guard[i]);
}

// Events with conditions that have crossed are due; the others keep the sign of their condition.
static void take_sides(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    for (int i = 0; i < sim->triggers.n; i++)
        if (has_crossed(sim, i, g->guard[i])) set_due(g, i);
    take_signs(sim);
}

// ------------------------------------------------------------------------------------------- times

// The next given times; those that are reached are due.
static void take_times(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    g->next = INFINITY;
    for (int i = 0; i < sim->model->desc.nevent; i++) {
        if (has_condition(sim->model, i)) continue;
        if (g->time[i] <= sim->t) {
            set_due(g, i);
            g->time[i] = lwi_event_time(sim->model, i, sim->t, false);
        }
        g->next = fmin(g->next, g->time[i]);
    }
}

static lw_status begin(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    TRY(examine(sim));
    for (int i = 0; i < g->n; i++) {
        g->side[i] = (signed char)(has_condition(sim->model, i) ? sign_of(g->guard[i]) : 0);
        if (i >= sim->model->desc.nevent && g->side[i] > 0) set_due(g, i);
    }
    for (int i = 0; i < sim->model->desc.nevent; i++)
        g->time[i] = has_condition(sim->model, i)
                         ? INFINITY
                         : lwi_event_time(sim->model, i, sim->t, !g->resumed);
    g->begun = g->fresh = true;
    g->begun_at = sim->t;
    g->repeats = 0;
    take_times(sim);
    return LW_OK;
}

lw_status lwi_sim_begin_triggers(lw_sim *sim)
{
    return sim->triggers.active && !sim->triggers.begun ? begin(sim) : LW_OK;
}

// ------------------------------------------------------------------------------------------ search

static void keep_modes(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    const size_t n = (size_t)sim->model->nmode;
    unsigned char *mode = g->events0.mode;
    lwi_gap *gap = g->events0.gap;
    if (!sim->events.active) return;
    memcpy(mode, sim->events.mode, n * sizeof *mode);
    memcpy(gap, sim->events.gap, n * sizeof *gap);
    g->events0 = sim->events;
    g->events0.mode = mode, g->events0.gap = gap;
}

static void keep_start(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    const size_t nx = (size_t)sim->work->layout.nx;
    g->t0 = sim->t;
    if (nx) memcpy(g->x0, sim->x, nx * sizeof *g->x0);
    if (sim->work->ndiscrete) memcpy(g->discrete0, sim->work->discrete, sim->work->ndiscrete);
    keep_modes(sim);
}

static void return_modes(lw_sim *sim)
{
    const lwi_events *e = &sim->triggers.events0;
    const size_t n = (size_t)sim->model->nmode;
    const lwi_events now = sim->events;
    if (!now.active) return;
    memcpy(now.mode, e->mode, n * sizeof *now.mode);
    memcpy(now.gap, e->gap, n * sizeof *now.gap);
    sim->events = *e;
    sim->events.mode = now.mode;
    sim->events.gap = now.gap, sim->events.gap0 = now.gap0;
    if (e->begun) sim->work->mode = now.mode;
}

// Back to the start of the step.
static void return_to_start(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    const size_t nx = (size_t)sim->work->layout.nx;
    sim->t = g->t0;
    if (nx) memcpy(sim->x, g->x0, nx * sizeof *g->x0);
    if (sim->work->ndiscrete) memcpy(sim->work->discrete, g->discrete0, sim->work->ndiscrete);
    return_modes(sim);
    // a path across a singular position is followed again; the integrator starts again
    sim->pending = sim->t < sim->crossing.end ? LWI_NOTHING : LWI_NEW_RATES;
    if (sim->pending == LWI_NEW_RATES) lwi_sim_count_back(sim);
    lwi_sim_find_break(sim);
}

// The state at time t of the step.
static lw_status repeat_to(lw_sim *sim, double t)
{
    return_to_start(sim);
    while (sim->t < t) TRY(lwi_sim_advance_plain(sim, t, t, true));
    return LW_OK;
}

// The earliest zero of the lines through both ends, of the conditions that have crossed at the end b.
static double next_trial(const lw_sim *sim, double a, double b)
{
    const lwi_triggers *g = &sim->triggers;
    double t = b;
    for (int i = 0; i < sim->triggers.n; i++)
        if (has_crossed(sim, i, g->high[i]))
            t = fmin(t, a + (b - a) * (g->low[i] / (g->low[i] - g->high[i])));
    return t + 0.5 * SHORTEST * fabs(b); // rather behind the event
}

static void copy_guards(const lw_sim *sim, double *to)
{
    for (int i = 0; i < sim->triggers.n; i++) to[i] = sim->triggers.guard[i];
}

// An end of the interval that has stayed twice counts less.
static void halve_guards(const lw_sim *sim, double *end)
{
    for (int i = 0; i < sim->triggers.n; i++) end[i] *= 0.5;
}

// The state goes to the first crossing in the step that ends at sim->t.  The conditions at its start are in `low`.
static lw_status find_first(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    double a = g->t0, b = sim->t, before = INFINITY;
    int side = 0;
    copy_guards(sim, g->high);
    for (int i = 0; i < MAX_TRIALS && b - a > SHORTEST * fabs(b); i++) {
        double t = next_trial(sim, a, b);
        // halves, where three trials have not made the interval half as long
        if (i % 3 == 2) {
            if (b - a > 0.5 * before) t = a + 0.5 * (b - a);
            before = b - a;
        }
        if (t >= b) t = b - SHORTEST * fabs(b); // the end is the event
        if (!(t > a && t < b)) t = a + 0.5 * (b - a);
        if (!(t > a && t < b)) break;
        TRY(repeat_to(sim, t));
        TRY(examine(sim));
        if (any_crossed(sim)) {
            b = sim->t;
            copy_guards(sim, g->high);
            if (side < 0) halve_guards(sim, g->low);
            side = -1;
        } else {
            a = sim->t;
            copy_guards(sim, g->low);
            if (side > 0) halve_guards(sim, g->high);
            side = 1;
        }
    }
    if (sim->t == b) return LW_OK;
    TRY(repeat_to(sim, b));
    return examine(sim);
}

// ------------------------------------------------------------------------------------------- steps

static double interval_of_rows(const lw_sim *sim)
{
    return sim->options.sample > 0 ? sim->options.sample : sim->options.duration;
}

static lw_status step(lw_sim *sim, double stop)
{
    lwi_triggers *g = &sim->triggers;
    copy_guards(sim, g->low);
    keep_start(sim);
    TRY(lwi_sim_advance_plain(sim, stop, stop, true));
    if (sim->t == g->t0) return LW_OK; // an impact, or a step across begins
    TRY(examine(sim));
    const double length = sim->t - g->t0;
    if (any_crossed(sim)) TRY(find_first(sim));
    // zero at the start except for round-off: no crossing; first steps may be as short as that
    const double since = sim->t - g->begun_at;
    if (g->fresh && since <= AT_START * fmax(length, interval_of_rows(sim)))
        take_signs(sim);
    else
        g->fresh = false;
    take_sides(sim);
    if (sim->t >= g->next) take_times(sim);
    return LW_OK;
}

lw_status lwi_sim_take_jump(lw_sim *sim)
{
    const lwi_triggers *g = &sim->triggers;
    if (!g->active || !g->begun || g->ndue || sim->pending == LWI_NOTHING) return LW_OK;
    TRY(examine(sim));
    take_sides(sim);
    return LW_OK;
}

lw_status lwi_sim_advance_triggers(lw_sim *sim, double to, bool one_step)
{
    const lwi_triggers *g = &sim->triggers;
    if (g->ndue) return lwi_sim_fire_all(sim);
    if (!g->begun) TRY(begin(sim));
    TRY(lwi_sim_take_jump(sim));
    if (g->ndue) return LW_OK;
    do TRY(step(sim, fmin(to, g->next)));
    while (!one_step && !g->ndue && !sim->impacts.due && sim->t < to);
    return LW_OK;
}

// ------------------------------------------------------------------------------------- what happens

int lwi_sim_due_event(const lw_sim *sim)
{
    const lwi_triggers *g = &sim->triggers;
    for (int i = 0; g->ndue && i < g->n; i++)
        if (g->due[i]) return i;
    return -1;
}

// Events that follow one another with almost no time between them.
static lw_status check_chatter(lw_sim *sim, int event)
{
    lwi_triggers *g = &sim->triggers;
    const bool soon = g->repeats && sim->t - g->last <= SOON * fabs(sim->t);
    g->repeats = soon ? g->repeats + 1 : 1;
    g->last = sim->t;
    if (g->repeats <= MAX_REPEATS + 2 * g->n) return LW_OK;
    return lwi_fail(&sim->error, LW_ERR_INTEGRATOR,
                    "%s '%s': %d events at t = %.10g, with no time between them: they chatter; a "
                    "relay with a hysteresis separates them",
                    kind_of(sim->model, event), name_of(sim->model, event), g->repeats, sim->t);
}

static void set_state(lw_sim *sim, int function, double value)
{
    const lwi_function *f = &sim->model->function[function];
    double *z = &sim->x[sim->work->layout.nx - sim->model->nstate + f->state];
    sim->triggers.changed |= *z != value;
    *z = value;
}

// The switches of an event change at once.
static lw_status set_switches(lw_sim *sim, const lw_event_desc *d)
{
    lwi_triggers *g = &sim->triggers;
    lwi_states states;
    lwi_kin kin;
    lwi_now now;
    if (!d->nset) return LW_OK;
    TRY(observe(sim, &kin, &states, &now));
    for (int k = 0; k < d->nset; k++) {
        g->value[k] = lwi_signal_value(sim->model->function, d->set[k].value, &now, 0);
        if (!isfinite(g->value[k]))
            return lwi_fail(&sim->error, LW_ERR_NOT_FINITE,
                            "event '%s': the value of '%s' is not finite at t = %.10g (%g)",
                            d->name, sim->model->desc.function[d->set[k].target.index - 1].name,
                            sim->t, g->value[k]);
    }
    for (int k = 0; k < d->nset; k++) set_state(sim, d->set[k].target.index - 1, g->value[k]);
    return LW_OK;
}

// The list grows where more events than ever lie between two rows; otherwise steps allocate nothing.
static lw_status log_event(lw_sim *sim, int event)
{
    lwi_triggers *g = &sim->triggers;
    if (g->logged == g->room) {
        lw_occurrence *longer = g->room <= INT_MAX / 2
                                    ? LWI_PUSH(&sim->arena, lw_occurrence, 2 * (size_t)g->room)
                                    : NULL;
        if (!longer)
            return lwi_fail(&sim->error, LW_ERR_MEMORY,
                            "event '%s': no memory for the list of %d events since the last row",
                            name_of(sim->model, event), g->logged);
        memcpy(longer, g->log, (size_t)g->logged * sizeof *longer);
        g->log = longer, g->room *= 2;
    }
    g->log[g->logged++] = (lw_occurrence){.time = sim->t, .event = event};
    return LW_OK;
}

lw_status lwi_sim_log_due(lw_sim *sim)
{
    for (int i = 0; i < sim->model->desc.nevent; i++)
        if (sim->triggers.due[i]) TRY(log_event(sim, i));
    return LW_OK;
}

lw_status lwi_sim_fire(lw_sim *sim, int event)
{
    const lw_model *model = sim->model;
    lwi_triggers *g = &sim->triggers;
    LWI_ASSERT(g->due[event]);
    g->due[event] = false;
    g->ndue--;
    if (event >= model->desc.nevent) {
        const int f = model->relay[event - model->desc.nevent];
        const double *z = sim->x + sim->work->layout.nx - model->nstate;
        set_state(sim, f, z[model->function[f].state] == 0);
        g->side[event] = -1; // where the formula is beyond the other end already, the relay returns
        return check_chatter(sim, event);
    }
    g->count[event]++;
    g->total++;
    if (model->desc.event[event].stop && g->stopped < 0) g->stopped = event;
    TRY(set_switches(sim, &model->desc.event[event]));
    return check_chatter(sim, event);
}

// Steps that begin with the accelerations of the step before need those of the new forces.
static lw_status find_accelerations(lw_sim *sim)
{
    const lwi_formulation *f = sim->work->formulation;
    if (!f->step || sim->work->fixed_step) return LW_OK;
    lw_status status = f->enter(sim->work, &sim->snapshot, sim->x);
    if (status == LW_OK && f->refresh && sim->model->desc.ninput) // `enter` has inputs of zero
        status = f->refresh(sim->work, sim->t, sim->x, sim->inputs);
    return status == LW_OK ? LW_OK : lwi_sim_fail_work(sim, status, "after an event");
}

// Switches that have changed may make other conditions change, at the same time.
lw_status lwi_sim_end_firing(lw_sim *sim)
{
    lwi_triggers *g = &sim->triggers;
    if (!g->changed) return LW_OK;
    g->changed = false;
    if (sim->pending == LWI_NOTHING) sim->pending = LWI_NEW_RATES;
    TRY(examine(sim));
    take_sides(sim);
    return find_accelerations(sim);
}

lw_status lwi_sim_fire_all(lw_sim *sim)
{
    bool listed = false;
    for (int event; (event = lwi_sim_due_event(sim)) >= 0;) {
        if (!listed) TRY(lwi_sim_log_due(sim));
        listed = true;
        TRY(lwi_sim_fire(sim, event));
        if (sim->triggers.ndue) continue;
        TRY(lwi_sim_end_firing(sim));
        listed = false;
    }
    return LW_OK;
}
