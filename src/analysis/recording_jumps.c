// recording_jumps.c -- a run with events, impacts or modes of forces, recorded from the steps of a simulation.
//
// The simulation finds the times of events and does what they do; each of its steps, and each change between two steps, is
// recorded.  Its formulation has the coordinates and speeds of the tree as state, its integrator is that of the recording, so
// that the stages of its steps can be computed again.
#include "analysis/jumps.h"
#include "model/events.h"
#include "simulate/simulation.h"

#include <math.h>
#include <string.h>

bool lwi_recording_has_jumps(const lw_model *model)
{
    return model->jumps || model->nmode > 0 || lwi_has_events(model) || model->desc.nimpulse > 0;
}

lw_status lwi_recording_simulation(const lwi_recording *s, const lw_model *model, lw_sim **sim,
                                   lw_error *error)
{
    lw_options options;
    lw_options_default(&options);
    strcpy(options.formulation, model->nloop + model->ncoupling == 0 ? "aba" : "rcr");
    strcpy(options.integrator, "verner87");
    options.state = LW_STATE_SPEEDS;
    options.rtol = s->rtol, options.atol = s->atol;
    options.duration = s->duration, options.sample = s->sample;
    options.project = LW_PROJECT_NEVER;
    options.singular = LW_SINGULAR_TURN; // ordinary steps
    return lw_sim_create(model, &(lw_sim_desc){.options = &options}, sim, error);
}

// x [nx] := the state of a simulation.
static void take_state(const lwi_recording *s, const lw_sim *sim, double *x)
{
    memcpy(x, sim->x, (size_t)(s->nq + s->n) * sizeof *x);
    if (s->nz)
        memcpy(x + s->nq + s->n, sim->x + sim->work->layout.nx - s->nz, (size_t)s->nz * sizeof *x);
}

// Powers of the depth in laws of contacts are singular where it is zero: the steps there are divided, so that derivatives
// of the law are integrated as exactly as the law: by halves towards the contact's end, so often.
enum { HALVES = 12 };

/** The simulation and what its next call starts from. */
typedef struct driver {
    lwi_recording *s;
    lw_sim *sim;
    double *x;           // [nx]
    unsigned char *mode; // [nmode]
    bool *due;           // [events and relays]
    int *fired, room;
    long impacts;
} driver;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
}

static lw_status of_simulation(const driver *d, lw_status status, lw_error *error)
{
    if (status == LW_OK) return LW_OK;
    return lwi_fail(error, status, "%s", lw_sim_error(d->sim)->text);
}

static lw_status create(driver *d, lw_error *error)
{
    lwi_arena *arena = &d->s->arena;
    const int n = d->s->model->desc.nevent + d->s->model->nrelay;
    d->x = LWI_PUSH(arena, double, d->s->nx);
    d->mode = LWI_PUSH(arena, unsigned char, d->s->model->nmode);
    d->due = LWI_PUSH(arena, bool, n);
    return d->x && d->mode && d->due ? LW_OK : no_memory(error);
}

// --------------------------------------------------------------------------------------------- modes

// Those of the next step: at the start, and after a jump of the state, they follow from the state alone.
static void find_modes(driver *d)
{
    const lw_model *model = d->s->model;
    const lw_sim *sim = d->sim;
    if (model->nmode == 0) return;
    if (sim->events.begun && sim->pending != LWI_NEW_STATE) {
        memcpy(d->mode, sim->events.mode, (size_t)model->nmode);
        return;
    }
    take_state(d->s, sim, d->x);
    lwi_jump_place place;
    lwi_jump_place_main(d->s, &place);
    const lwi_kin kin = lwi_jump_motion(&place, sim->t, d->x);
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        if (f->type->modes)
            d->mode[f->type->modes->index(f->par)] = f->type->modes->now(f->par, &kin);
    }
}

// --------------------------------------------------------------------------------------------- jumps

static lw_status add_jump(driver *d, lwi_jump_kind kind, int nitem, lwi_recorded_jump **added,
                          lw_error *error)
{
    lwi_recording *s = d->s;
    const size_t nmode = (size_t)s->model->nmode;
    if (s->njump == s->jump_room) {
        const size_t more = 2 * (size_t)s->njump + 16;
        lwi_recorded_jump *made = LWI_PUSH(&s->arena, lwi_recorded_jump, more);
        if (!made) return no_memory(error);
        if (s->njump) memcpy(made, s->jump, (size_t)s->njump * sizeof *made);
        s->jump = made, s->jump_room = (long)more;
    }
    lwi_recorded_jump *jump = &s->jump[s->njump];
    *jump = (lwi_recorded_jump){.kind = kind,
                                .step = s->path.count,
                                .t = d->sim->t,
                                .x = LWI_PUSH(&s->arena, double, s->nx),
                                .mode = LWI_PUSH(&s->arena, unsigned char, nmode),
                                .after = LWI_PUSH(&s->arena, unsigned char, nmode),
                                .item = LWI_PUSH(&s->arena, int, nitem),
                                .nitem = nitem};
    if (!jump->x || !jump->mode || !jump->after || !jump->item) return no_memory(error);
    take_state(s, d->sim, jump->x);
    if (nmode) memcpy(jump->mode, d->mode, nmode), memcpy(jump->after, d->mode, nmode);
    s->njump++;
    *added = jump;
    return LW_OK;
}

// The guard of force i that has run out; the smallest one, where none is negative.
static int spent_guard(const lwi_recording *s, int i, const lwi_recorded_jump *jump)
{
    const lwi_force *f = &s->model->force[i];
    double guard[LWI_MAX_GUARDS];
    lwi_jump_place place;
    lwi_jump_place_main(s, &place);
    const lwi_kin kin = lwi_jump_motion(&place, jump->t, jump->x);
    const int n =
        f->type->modes->guards(f->par, jump->mode[f->type->modes->index(f->par)], &kin, guard);
    int best = 0;
    for (int k = 0; k < n; k++) {
        if (guard[k] < 0) return k;
        if (guard[k] < guard[best]) best = k;
    }
    return best;
}

// Modes that differ from those of the step that has ended, one after the other.
static lw_status add_mode_jumps(driver *d, lw_error *error)
{
    const lw_model *model = d->s->model;
    if (model->nmode == 0 || !d->sim->events.begun) return LW_OK;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        lwi_recorded_jump *jump;
        if (!f->type->modes) continue;
        const int k = f->type->modes->index(f->par);
        if (d->mode[k] == d->sim->events.mode[k]) continue;
        TRY(add_jump(d, LWI_JUMP_MODE, 1, &jump, error));
        d->mode[k] = jump->after[k] = d->sim->events.mode[k];
        jump->item[0] = i;
        jump->guard = spent_guard(d->s, i, jump);
    }
    return LW_OK;
}

// Does it change anything but the rows?
static bool acts(const lw_model *model, int i)
{
    return i >= model->desc.nevent || model->desc.event[i].nset > 0 || model->desc.event[i].stop;
}

static lw_status check_causes(const driver *d, const lwi_recorded_jump *jump, lw_error *error)
{
    const lw_model *model = d->s->model;
    if (jump->ncause < 2 || jump->timed || jump->follows) return LW_OK;
    return lwi_fail(error, LW_ERR_UNSUPPORTED,
                    "method %s: %s '%s' and '%s' happen at the same time, t = %.9g s: which is the "
                    "first depends on parameters; expected method `differences`",
                    lwi_jump_method(d->s), jump->item[0] < model->desc.nevent ? "events" : "relays",
                    lwi_jump_event_name(model, jump->item[0]),
                    lwi_jump_event_name(model, jump->item[1]), jump->t);
}

static lw_status push_fired(driver *d, int event, int *n, lw_error *error)
{
    if (*n == d->room) {
        const int more = 2 * d->room + 8;
        int *made = LWI_PUSH(&d->s->arena, int, more);
        if (!made) return no_memory(error);
        if (d->room) memcpy(made, d->fired, (size_t)d->room * sizeof *made);
        d->fired = made, d->room = more;
    }
    d->fired[(*n)++] = event;
    return LW_OK;
}

// All events that are due, and those that follow from them.
static lw_status fire(driver *d, lw_error *error)
{
    lwi_recording *s = d->s;
    const lw_model *model = s->model;
    lw_sim *sim = d->sim;
    const lwi_recorded_jump *last = s->njump ? &s->jump[s->njump - 1] : NULL;
    const int count = model->desc.nevent + model->nrelay;
    int causes = 0, n = 0;
    bool timed = true;
    lwi_recorded_jump *jump;
    for (int i = 0; i < count; i++) {
        d->due[i] = sim->triggers.due[i];
        if (!d->due[i] || !acts(model, i)) continue;
        causes++;
        timed = timed && i < model->desc.nevent && model->event[i].when.index == 0;
    }
    if (causes == 0) return of_simulation(d, lwi_sim_fire_all(sim), error); // rows alone
    find_modes(d);
    TRY(add_jump(d, LWI_JUMP_EVENTS, 0, &jump, error));
    for (int event; (event = lwi_sim_due_event(sim)) >= 0;) {
        TRY(of_simulation(d, lwi_sim_fire(sim, event), error));
        if (acts(model, event)) TRY(push_fired(d, event, &n, error));
        if (!sim->triggers.ndue) TRY(of_simulation(d, lwi_sim_end_firing(sim), error));
    }
    jump->item = LWI_PUSH(&s->arena, int, n);
    if (!jump->item) return no_memory(error);
    memcpy(jump->item, d->fired, (size_t)n * sizeof *d->fired);
    jump->nitem = n, jump->ncause = causes;
    jump->timed = timed = timed || s->path.count == 0; // what holds at the start happens there
    jump->follows = !timed && last && last->step == jump->step && last->kind == LWI_JUMP_IMPACT;
    jump->stops = sim->triggers.stopped >= 0;
    return check_causes(d, jump, error);
}

static lw_status strike(driver *d, lw_error *error)
{
    lwi_recorded_jump *jump;
    find_modes(d);
    TRY(add_jump(d, LWI_JUMP_IMPACT, 1, &jump, error));
    jump->item[0] = (int)d->impacts++;
    jump->timed = true;
    TRY(of_simulation(d, lwi_sim_strike(d->sim), error));
    jump->t = d->sim->t; // steps end before rates that jump
    find_modes(d);
    if (d->s->model->nmode) memcpy(jump->after, d->mode, (size_t)d->s->model->nmode);
    return LW_OK;
}

// --------------------------------------------------------------------------------------------- steps

// Does a law that is singular at the end of its mode have another mode than in the last step?
static bool singular_end(const driver *d)
{
    const lw_model *model = d->s->model;
    for (int i = 0; i < model->nforce && d->sim->events.begun; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (!modes || !modes->measure) continue;
        const int k = modes->index(f->par);
        if (d->mode[k] != d->sim->events.mode[k]) return true;
    }
    return false;
}

static bool singular_start(const driver *d)
{
    const lwi_recording *s = d->s;
    for (long j = s->njump - 1; j >= 0 && s->jump[j].step == s->path.count; j--)
        if (s->jump[j].kind == LWI_JUMP_MODE &&
            s->model->force[s->jump[j].item[0]].type->modes->measure)
            return true;
    return false;
}

// Ends of the pieces as parts of a step.  @return how many
static int divide(bool start, bool end, double part[2 * HALVES + 1])
{
    const double share = start && end ? 0.5 : 1;
    int n = 0;
    for (int k = HALVES; start && k > 0; k--) part[n++] = ldexp(share, -k);
    if (start && end) part[n++] = share;
    for (int k = 1; end && k <= HALVES; k++) part[n++] = 1 - ldexp(share, -k);
    part[n++] = 1;
    return n;
}

// A step from (t, d->x) by h in pieces.
static lw_status append_pieces(driver *d, double t, double h, bool start, bool end, lw_error *error)
{
    lwi_recording *s = d->s;
    double part[2 * HALVES + 1], from = t;
    const int n = divide(start, end, part);
    for (int i = 0; i < n; i++) {
        const double to = i == n - 1 ? t + h : t + part[i] * h;
        if (i < n - 1 && !(to - from > 1e-14 * t)) continue;
        TRY(lwi_recording_append(s, from, to - from, d->x, error));
        TRY(lwi_recording_step(s, from, to - from, d->x, error));
        memcpy(d->x, s->next, (size_t)s->nx * sizeof *d->x);
        from = to;
    }
    return LW_OK;
}

static lw_status append_step(driver *d, double t, double h, lw_error *error)
{
    lwi_recording *s = d->s;
    const bool start = singular_start(d), end = singular_end(d);
    if (s->model->nmode) memcpy(s->mode_here, d->mode, (size_t)s->model->nmode);
    if (start || end) return append_pieces(d, t, h, start, end, error);
    TRY(lwi_recording_append(s, t, h, d->x, error));
    return lwi_recording_find_corners(s, t, h, d->x, error);
}

static lw_status advance(driver *d, double to, lw_error *error)
{
    lwi_recording *s = d->s;
    lw_sim *sim = d->sim;
    const double t = sim->t;
    if (lwi_sim_due_event(sim) >= 0) return fire(d, error);
    if (sim->impacts.due) return strike(d, error);
    find_modes(d);
    take_state(s, sim, d->x);
    TRY(of_simulation(d, lwi_sim_advance(sim, to, to, true), error));
    if (sim->t > t) TRY(append_step(d, t, sim->t - t, error));
    return add_mode_jumps(d, error);
}

// What is due at the present time happens before its row.
static lw_status end_row(driver *d, double to, lw_error *error)
{
    lw_sim *sim = d->sim;
    while (lwi_sim_due_event(sim) >= 0) TRY(fire(d, error));
    if (!sim->impacts.due || sim->impacts.next.t > to) return LW_OK;
    TRY(strike(d, error));
    TRY(of_simulation(d, lwi_sim_take_jump(sim), error));
    while (lwi_sim_due_event(sim) >= 0) TRY(fire(d, error));
    return LW_OK;
}

static lw_status read_row(driver *d, long row, lw_error *error)
{
    take_state(d->s, d->sim, d->s->x);
    return lwi_recording_read_row(d->s, row, d->sim->t, error);
}

static lw_status run(driver *d, lw_error *error)
{
    lwi_recording *s = d->s;
    lw_sim *sim = d->sim;
    long row = 0;
    TRY(of_simulation(d, lwi_sim_begin_triggers(sim), error));
    TRY(end_row(d, 0, error));
    TRY(read_row(d, 0, error));
    while (++row < s->rows && lw_sim_stopped(sim) < 0) {
        const double time = lwi_recording_row_time(s, row);
        while (sim->t < time && lw_sim_stopped(sim) < 0) TRY(advance(d, time, error));
        TRY(end_row(d, time, error));
        TRY(read_row(d, row, error));
        if (s->desc->progress && s->desc->progress(s->desc->progress_user, sim->t / 2, s->duration))
            return lwi_fail(error, LW_ERR_INTERRUPTED, "interrupted");
    }
    s->rows = row, s->end = sim->t;
    if (!(s->end > 0))
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "method %s: an event stops the run at its start",
                        lwi_jump_method(s));
    find_modes(d);
    if (s->model->nmode) memcpy(s->mode_here, d->mode, (size_t)s->model->nmode);
    TRY(lwi_recording_append(s, sim->t, 0, s->x, error)); // the end
    s->path.count--;
    lwi_recording_finish(s);
    return LW_OK;
}

lw_status lwi_recording_run_jumps(lwi_recording *s, lw_error *error)
{
    driver d = {.s = s, .sim = s->sim};
    TRY(create(&d, error));
    const lw_status status = run(&d, error);
    return status == LW_ERR_MEMORY ? no_memory(error) : status;
}
