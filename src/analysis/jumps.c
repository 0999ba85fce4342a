// jumps.c -- derivatives of what happens between two steps of a recorded run.
#include "analysis/jumps.h"

#include "analysis/state.h"
#include "base/differences.h"
#include "kinematics/displacement.h"
#include "model/events.h"
#include "simulate/simulation.h"

#include <math.h>
#include <string.h>

// of differences [rad, lengths], of speeds and states of signals relative to 1 + |x|
#define STEP 1e-3
#define GRAZE 1e-5 // of the rate of a condition in the steps before: it touches zero
enum { BEFORE = 5 };

struct lwi_jump_room {
    lwi_recording *s;
    int nby, count;                   // count: of the values e, v+, z+
    lwi_cut cut;                      // rows of the model
    lw_sim **sim;                     // [nby][sides], created by the first impact
    double *state;                    // [state of a simulation]
    double *moved, *direction, *unit; // [nx], [nt], [n]
    double *values, *scratch, *out;   // [count], [4 count], [count]
    double *before, *after;           // [nt] rates along the speeds
    double *k;                        // [nx]
    // of one evaluation
    const lwi_recorded_jump *jump;
    lwi_jump_place place;
    lw_sim *own; // simulation of the place's model
    double t, dt;
    const double *x;
};

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
}

const char *lwi_jump_method(const lwi_recording *s)
{
    return s->desc->method == LW_SENSITIVITY_FORWARD ? "forward" : "adjoint";
}

const char *lwi_jump_event_name(const lw_model *model, int event)
{
    const char *name = event < model->desc.nevent
                           ? model->desc.event[event].name
                           : model->desc.function[model->relay[event - model->desc.nevent]].name;
    return name ? name : "";
}

// -------------------------------------------------------------------------------------------- places

void lwi_jump_place_main(const lwi_recording *s, lwi_jump_place *place)
{
    *place = (lwi_jump_place){.model = s->model,
                              .tree = (lwi_tree_work *)&s->tree,
                              .cut = (lwi_cut *)&s->cut,
                              .mode = s->mode,
                              .inputs = s->inputs,
                              .nq = s->nq,
                              .n = s->n};
}

static void place_side(const lwi_recording *s, lwi_slope_side *side, lwi_jump_place *place)
{
    lwi_jump_place_main(s, place);
    place->model = side->model;
    place->tree = &side->tree;
    place->cut = &side->cut;
}

lwi_kin lwi_jump_motion(lwi_jump_place *p, double t, const double *x)
{
    const lw_model *model = p->model;
    memcpy(p->tree->joint_q, model->q0, (size_t)model->nq * sizeof *p->tree->joint_q);
    lwi_cut_place(p->cut, p->tree, t, x, x + p->nq);
    lwi_kin kin = lwi_tree_kin(p->tree);
    p->states = (lwi_states){.value = x + p->nq + p->n};
    kin.states = &p->states;
    kin.mode = p->mode;
    return kin;
}

// ---------------------------------------------------------------------------- conditions and resets

static bool has_condition(const lw_model *model, int i)
{
    return i >= model->desc.nevent || model->event[i].when.index != 0;
}

// The condition of an event or relay, as a number that crosses zero.
static double condition(const lw_model *model, int i, const lwi_now *now)
{
    return i < model->desc.nevent ? lwi_event_guard(model, i, now)
                                  : lwi_relay_guard(model, i - model->desc.nevent, now);
}

// z := states of signals after the events of a jump, one after the other; those of one event change at once.
static void apply_events(const lwi_recorded_jump *jump, const lw_model *model, lwi_now now,
                         double *z)
{
    double value[LWI_FORMULA_NAMES];
    for (int i = 0; i < jump->nitem; i++) {
        const int event = jump->item[i];
        if (event >= model->desc.nevent) {
            double *side = &z[model->function[model->relay[event - model->desc.nevent]].state];
            *side = *side == 0;
            continue;
        }
        const lw_event_desc *d = &model->desc.event[event];
        now.states = z;
        for (int first = 0; first < d->nset; first += LWI_FORMULA_NAMES) {
            const int end =
                d->nset < first + LWI_FORMULA_NAMES ? d->nset : first + LWI_FORMULA_NAMES;
            for (int k = first; k < end; k++)
                value[k - first] = lwi_signal_value(model->function, d->set[k].value, &now, 0);
            for (int k = first; k < end; k++)
                z[model->function[d->set[k].target.index - 1].state] = value[k - first];
        }
    }
}

static lwi_impact_time impact_of(const lw_model *model, int number)
{
    lwi_impact_time next = lwi_model_next_impact(model, 0);
    for (int i = 0; i < number; i++) next = lwi_model_next_impact(model, next.t);
    return next;
}

// v := the speeds after the impact.
static lw_status strike(struct lwi_jump_room *r, double t, const double *x, double *v,
                        lw_error *error)
{
    const lwi_recording *s = r->s;
    lw_sim *sim = r->own;
    const lwi_impact_time impact = impact_of(r->place.model, r->jump->item[0]);
    lw_sim_get_state(sim, NULL, r->state);
    memcpy(r->state, x, (size_t)(s->nq + s->n) * sizeof *x);
    if (s->nz)
        memcpy(r->state + sim->work->layout.nx - s->nz, x + s->nq + s->n,
               (size_t)s->nz * sizeof *x);
    const double before = impact.jumps ? nextafter(t, -INFINITY) : t;
    lw_status status = lw_sim_set_state(sim, before, r->state);
    sim->impacts.next = impact;
    sim->impacts.next.t = t;
    sim->impacts.due = true;
    if (status == LW_OK) status = lwi_sim_strike(sim);
    if (status != LW_OK) return lwi_fail(error, status, "%s", lw_sim_error(sim)->text);
    memcpy(v, sim->x + s->nq, (size_t)s->n * sizeof *v);
    return LW_OK;
}

// out [count] := e, the speeds and the states of signals after the jump, from the state x at t.
static lw_status evaluate(struct lwi_jump_room *r, double t, const double *x, double *out,
                          lw_error *error)
{
    const lwi_recording *s = r->s;
    const lwi_recorded_jump *jump = r->jump;
    const lw_model *model = r->place.model;
    double *v = out + 1, *z = v + s->n;
    out[0] = 0;
    memcpy(v, x + s->nq, (size_t)(s->n + s->nz) * sizeof *v);
    if (jump->kind == LWI_JUMP_IMPACT) return strike(r, t, x, v, error);
    const lwi_kin kin = lwi_jump_motion(&r->place, t, x);
    if (jump->kind == LWI_JUMP_MODE) {
        const lwi_force *f = &model->force[jump->item[0]];
        double guard[LWI_MAX_GUARDS] = {0};
        f->type->modes->guards(f->par, jump->mode[f->type->modes->index(f->par)], &kin, guard);
        out[0] = guard[jump->guard];
        return LW_OK;
    }
    const lwi_now now = lwi_now_at(&kin, t, s->inputs);
    if (has_condition(model, jump->item[0])) out[0] = condition(model, jump->item[0], &now);
    lwi_now reading = now;
    reading.functions = model->function;
    apply_events(jump, model, reading, z);
    return LW_OK;
}

// ----------------------------------------------------------------------------- differences in t and x

// x by a part of the direction, t by the same part of dt.
static void move(struct lwi_jump_room *r, double by)
{
    const lwi_recording *s = r->s;
    double *q = r->moved, *v = q + s->nq, *increment = s->increment;
    memcpy(q, r->x, (size_t)s->nx * sizeof *q);
    for (int i = 0; i < s->n; i++) increment[i] = by * r->direction[i];
    lwi_displace(s->model, q, increment);
    for (int i = 0; i < s->n + s->nz; i++) v[i] += by * r->direction[s->n + i];
}

static lw_status at_displacement(void *user, lwi_analysis_vary what, int k, double by, double *out,
                                 lw_error *error)
{
    struct lwi_jump_room *r = user;
    (void)what, (void)k;
    move(r, by);
    return evaluate(r, r->t + by * r->dt, r->moved, out, error);
}

// r->out := the derivative of the values along the direction.
static lw_status differentiate_along(struct lwi_jump_room *r, lw_error *error)
{
    return lwi_analysis_difference(at_displacement, r, LWI_VARY_POSITION, 0, 1, r->count,
                                   r->scratch, r->out, error);
}

// The step of a displacement that counts as small.
static double step_of(const struct lwi_jump_room *r, int i)
{
    const lwi_recording *s = r->s;
    return STEP * (i < s->n ? r->unit[i] : 1 + fabs(r->x[s->nq + i - s->n]));
}

// r->out := the derivative of the values by displacement i.
static lw_status by_displacement(struct lwi_jump_room *r, int i, lw_error *error)
{
    memset(r->direction, 0, (size_t)r->s->nt * sizeof *r->direction);
    r->direction[i] = step_of(r, i);
    r->dt = 0;
    TRY(differentiate_along(r, error));
    for (int k = 0; k < r->count; k++) r->out[k] /= step_of(r, i);
    return LW_OK;
}

// The time in which no displacement becomes larger than its step.
static double time_step(const struct lwi_jump_room *r, const double *rate)
{
    double fastest = 1 / fmax(r->s->end, 1e-3);
    for (int i = 0; i < r->s->nt; i++)
        fastest = fmax(fastest, STEP * fabs(rate[i]) / step_of(r, i));
    return STEP / fastest;
}

// r->out := the derivative of the values by the time along the rates; `explicit`: t changes too.
static lw_status by_time(struct lwi_jump_room *r, const double *rate, bool explicit_time,
                         lw_error *error)
{
    const double h = time_step(r, rate);
    for (int i = 0; i < r->s->nt; i++) r->direction[i] = h * rate[i];
    r->dt = explicit_time ? h : 0;
    TRY(differentiate_along(r, error));
    for (int k = 0; k < r->count; k++) r->out[k] /= h;
    return LW_OK;
}

// out [nt] := rates at (t, x) along the speeds, with modes of forces.
static lw_status rates(struct lwi_jump_room *r, double t, const double *x,
                       const unsigned char *mode, double *out, lw_error *error)
{
    lwi_recording *s = r->s;
    if (s->model->nmode) memcpy(s->mode_here, mode, (size_t)s->model->nmode);
    TRY(lwi_recording_rates(s, t, x, r->k, error));
    memcpy(out, x + s->nq, (size_t)s->n * sizeof *out);
    memcpy(out + s->n, r->k + s->nq, (size_t)(s->n + s->nz) * sizeof *out);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- the time

static lw_status touches(const lwi_recording *s, const lwi_recorded_jump *jump, lw_error *error)
{
    const lw_model *model = s->model;
    char name[200];
    if (jump->kind == LWI_JUMP_MODE) {
        const lwi_force *f = &model->force[jump->item[0]];
        snprintf(name, sizeof name, "%s '%.150s'", f->type->name, lwi_recording_item(model, f));
    } else {
        snprintf(name, sizeof name, "%s '%.150s'",
                 jump->item[0] < model->desc.nevent ? "event" : "relay",
                 lwi_jump_event_name(model, jump->item[0]));
    }
    return lwi_fail(error, LW_ERR_UNSUPPORTED,
                    "method %s: %s at t = %.9g s: its condition touches zero there, or hardly "
                    "crosses it, so that its time has no derivative; expected method `differences`",
                    lwi_jump_method(s), name, jump->t);
}

// The largest rate of the condition at the beginnings of the last steps before a jump.
static lw_status rate_before(struct lwi_jump_room *r, double *largest, lw_error *error)
{
    lwi_recording *s = r->s;
    const lwi_recorded_jump *jump = r->jump;
    *largest = 0;
    for (long step = jump->step - 1; step >= 0 && step >= jump->step - BEFORE; step--) {
        const unsigned char *mode = s->path.mode + (size_t)step * (size_t)s->model->nmode;
        TRY(lwi_recording_state(s, step, &r->x, error));
        r->t = s->path.t[step];
        TRY(rates(r, r->t, r->x, mode, r->after, error));
        TRY(by_time(r, r->after, true, error));
        *largest = fmax(*largest, fabs(r->out[0]));
    }
    r->x = jump->x, r->t = jump->t;
    return LW_OK;
}

// d->time, of a condition; r->before are the rates.
static lw_status time_of_condition(struct lwi_jump_room *r, lwi_jump_derivatives *d, double *rate,
                                   lw_error *error)
{
    lwi_recording *s = r->s;
    double terms = 0, largest;
    TRY(rate_before(r, &largest, error));
    TRY(by_time(r, r->before, true, error));
    *rate = r->out[0];
    for (int i = 0; i < s->nt; i++) {
        TRY(by_displacement(r, i, error));
        terms += fabs(r->out[0] * r->before[i]);
        d->time[i] = r->out[0];
    }
    if (!(fabs(*rate) > GRAZE * fmax(largest, terms))) return touches(s, r->jump, error);
    for (int i = 0; i < s->nt; i++) d->time[i] /= -*rate;
    return LW_OK;
}

// The given time of event i of another model, of which the jump is at t in the recorded one.
static double time_of_event(const lw_model *model, const lw_model *other, int i, double t)
{
    const lw_event_desc *a = &model->desc.event[i], *b = &other->desc.event[i];
    if (a->every != 0) return b->from + rint((t - a->from) / a->every) * b->every;
    for (int k = 0; k < a->nat && k < b->nat; k++)
        if (a->at[k] == t) return b->at[k];
    return t;
}

static double given_time(const lwi_recording *s, const lwi_recorded_jump *jump, int cause,
                         const lw_model *other)
{
    if (jump->kind == LWI_JUMP_IMPACT) return impact_of(other, jump->item[0]).t;
    const int event = jump->item[cause];
    return has_condition(s->model, event) ? jump->t
                                          : time_of_event(s->model, other, event, jump->t);
}

static lw_status different_times(const lwi_recording *s, const lwi_recorded_jump *jump, int k,
                                 lw_error *error)
{
    return lwi_fail(
        error, LW_ERR_UNSUPPORTED,
        "method %s: events '%s' and '%s' happen at t = %.9g s, and parameter '%s' moves "
        "them apart; expected method `differences`",
        lwi_jump_method(s), lwi_jump_event_name(s->model, jump->item[0]),
        lwi_jump_event_name(s->model, jump->item[1]), jump->t, s->desc->by[k]);
}

// d->time_by of given times.
static lw_status given_times(struct lwi_jump_room *r, int k, lwi_jump_derivatives *d,
                             lw_error *error)
{
    const lwi_recording *s = r->s;
    const lwi_recorded_jump *jump = r->jump;
    const lwi_slope *slope = &s->slope[k];
    const int causes = jump->kind == LWI_JUMP_EVENTS ? jump->ncause : 1;
    for (int cause = 0; cause < causes; cause++) {
        double by = 0;
        for (int side = 0; side < LWI_SLOPE_SIDES; side++)
            by += lwi_slope_weight(slope, side) *
                  (given_time(s, jump, cause, slope->side[side].model) - jump->t);
        if (cause == 0) d->time_by[k] = by;
        const double apart = fabs(by - d->time_by[k]);
        if (apart > 1e-9 * (fabs(by) + fabs(d->time_by[k])))
            return different_times(s, jump, k, error);
    }
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- parameters

static lw_status own_simulation(struct lwi_jump_room *r, int k, int side, lw_error *error)
{
    const lwi_recording *s = r->s;
    r->own = s->sim;
    if (r->jump->kind != LWI_JUMP_IMPACT || k < 0) return LW_OK;
    lw_sim **sim = &r->sim[k * LWI_SLOPE_SIDES + side];
    if (!*sim) TRY(lwi_recording_simulation(s, s->slope[k].side[side].model, sim, error));
    r->own = *sim;
    return LW_OK;
}

// d->reset_by and, of a condition with this rate, d->time_by of parameter k.  Values at given times are those at the times
// that the variants have.
static lw_status by_parameter(struct lwi_jump_room *r, int k, double rate, lwi_jump_derivatives *d,
                              lw_error *error)
{
    const lwi_recording *s = r->s;
    lwi_slope *slope = &s->slope[k];
    const lwi_recorded_jump *jump = r->jump;
    double *to = d->reset_by + (size_t)k * (size_t)s->nt;
    double condition_by = 0;
    memset(to, 0, (size_t)s->nt * sizeof *to);
    d->time_by[k] = 0;
    if (!slope->side[0].model) return LW_OK;
    if (jump->timed) TRY(given_times(r, k, d, error));
    for (int side = 0; side < LWI_SLOPE_SIDES; side++) {
        const lw_model *model = slope->side[side].model;
        const double unit = lwi_slope_weight(slope, side);
        place_side(s, &slope->side[side], &r->place);
        TRY(own_simulation(r, k, side, error));
        TRY(evaluate(r, jump->timed ? given_time(s, jump, 0, model) : jump->t, jump->x, r->values,
                     error));
        condition_by += unit * r->values[0];
        for (int i = 0; i < s->n + s->nz; i++) to[s->n + i] += unit * r->values[1 + i];
    }
    if (!jump->timed && !jump->follows) d->time_by[k] = -condition_by / rate;
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- the jump

static bool resets(const lwi_recorded_jump *jump, const lwi_recording *s, int i)
{
    if (jump->kind == LWI_JUMP_IMPACT) return i < s->n;
    return jump->kind == LWI_JUMP_EVENTS && i >= s->n;
}

// d->reset; positions stay, and so do speeds but by impacts, and states of signals but by events.
static lw_status find_reset(struct lwi_jump_room *r, lwi_jump_derivatives *d, lw_error *error)
{
    const lwi_recording *s = r->s;
    const size_t nt = (size_t)s->nt;
    memset(d->reset, 0, nt * nt * sizeof *d->reset);
    for (size_t i = 0; i < nt; i++) d->reset[i * (nt + 1)] = 1;
    if (r->jump->kind == LWI_JUMP_MODE) return LW_OK;
    for (size_t j = 0; j < nt; j++) {
        TRY(by_displacement(r, (int)j, error));
        for (int i = 0; i < s->n + s->nz; i++)
            if (resets(r->jump, s, i)) d->reset[(size_t)(s->n + i) * nt + j] = r->out[1 + i];
    }
    return LW_OK;
}

// d->flow: what changes along the rates before, less the rates after.
static lw_status find_flow(struct lwi_jump_room *r, lwi_jump_derivatives *d, lw_error *error)
{
    lwi_recording *s = r->s;
    const lwi_recorded_jump *jump = r->jump;
    const bool explicit_time = !jump->timed && !jump->follows;
    TRY(by_time(r, r->before, explicit_time, error));
    memcpy(d->flow, r->before, (size_t)s->nt * sizeof *d->flow);
    for (int i = 0; i < s->n + s->nz; i++)
        if (resets(jump, s, i)) d->flow[s->n + i] = r->out[1 + i];
    TRY(evaluate(r, jump->t, jump->x, r->values, error));
    memcpy(r->moved, jump->x, (size_t)s->nx * sizeof *r->moved);
    memcpy(r->moved + s->nq, r->values + 1, (size_t)(s->n + s->nz) * sizeof *r->moved);
    TRY(rates(r, jump->t, r->moved, jump->after, r->after, error));
    for (int i = 0; i < s->nt; i++) d->flow[i] -= r->after[i];
    return LW_OK;
}

// d->end, from the rates after the event that ends the run.
static lw_status find_end(struct lwi_jump_room *r, lwi_jump_derivatives *d, lw_error *error)
{
    lwi_recording *s = r->s;
    const long last = s->rows - 1;
    TRY(lwi_recording_state(s, s->path.count, &r->x, error));
    const double t = r->jump->t, h = time_step(r, r->after);
    for (int c = 0; c < s->columns; c++) d->end[c] = lwi_recording_by_end(s, c);
    for (int i = 0; i < s->nt; i++) r->direction[i] = h * r->after[i];
    for (int far = 0; far < LWI_DIFFERENCE_SIDES; far++)
        for (int side = -1; side <= 1; side += 2) {
            const double by = side * (far + 1);
            move(r, by);
            TRY(lwi_probe_run_at(s->run, t + by * h, r->moved, r->moved + s->nq,
                                 r->moved + s->nq + s->n, error));
            for (int c = 0; c < s->columns; c++)
                d->end[c] += lwi_recording_weight(s, last, c) * side * lwi_difference_weight[far] /
                             h * s->run->rows.row[s->wanted[c].column + 1];
        }
    r->x = r->jump->x;
    return LW_OK;
}

lw_status lwi_jump_differentiate(lwi_recording *s, long number, lwi_jump_derivatives *d,
                                 lw_error *error)
{
    struct lwi_jump_room *r = d->of;
    const lwi_recorded_jump *jump = r->jump = &s->jump[number];
    double rate = 0;
    r->x = jump->x, r->t = jump->t;
    lwi_displacement_units(s->model, r->unit);
    lwi_jump_place_main(s, &r->place);
    TRY(own_simulation(r, -1, 0, error));
    const double t = jump->timed ? nextafter(jump->t, -INFINITY) : jump->t;
    memset(d->time, 0, (size_t)s->nt * sizeof *d->time);
    TRY(rates(r, t, jump->x, jump->mode, r->before, error));
    if (!jump->timed && !jump->follows) TRY(time_of_condition(r, d, &rate, error));
    TRY(find_reset(r, d, error));
    TRY(find_flow(r, d, error));
    memset(d->end, 0, (size_t)s->columns * sizeof *d->end);
    if (jump->stops) TRY(find_end(r, d, error));
    for (int k = 0; k < r->nby; k++) TRY(by_parameter(r, k, rate, d, error));
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- create

lw_status lwi_jumps_create(lwi_recording *s, int nby, lwi_jump_derivatives *d, lw_error *error)
{
    lwi_arena *arena = &s->arena;
    const size_t nt = (size_t)s->nt, nx = (size_t)s->nx, by = (size_t)nby;
    *d = (lwi_jump_derivatives){0};
    if (!s->sim) return LW_OK;
    struct lwi_jump_room *r = LWI_PUSH(arena, struct lwi_jump_room, 1);
    if (!r) return no_memory(error);
    *r = (struct lwi_jump_room){.s = s, .nby = nby, .count = 1 + s->n + s->nz};
    const size_t count = (size_t)r->count;
    const struct {
        double **array;
        size_t count;
    } vector[] = {{&d->reset, nt * nt},
                  {&d->flow, nt},
                  {&d->time, nt},
                  {&d->time_by, by},
                  {&d->reset_by, by * nt},
                  {&d->end, (size_t)s->columns},
                  {&r->moved, nx},
                  {&r->direction, nt},
                  {&r->unit, (size_t)s->n},
                  {&r->values, count},
                  {&r->scratch, 4 * count},
                  {&r->out, count},
                  {&r->before, nt},
                  {&r->after, nt},
                  {&r->k, nx},
                  {&r->state, (size_t)lw_sim_state_size(s->sim)}};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i].array = LWI_PUSH(arena, double, vector[i].count))) return no_memory(error);
    r->sim = LWI_PUSH(arena, lw_sim *, by * LWI_SLOPE_SIDES);
    if (!r->sim) return no_memory(error);
    for (size_t i = 0; i < by * LWI_SLOPE_SIDES; i++) r->sim[i] = NULL;
    d->of = r;
    return LW_OK;
}

void lwi_jumps_destroy(lwi_jump_derivatives *d)
{
    const struct lwi_jump_room *r = d->of;
    for (int i = 0; r && i < r->nby * LWI_SLOPE_SIDES; i++) lw_sim_destroy(r->sim[i]);
}
