// events.c -- forces with modes (stops): steps of adaptive integrators end where a mode changes.
//
// During a step the modes are fixed, so that the rates are smooth for every trial of the step.  After
// it the guards show whether a mode has ended:
//
//   G(t) = the smallest guard of all forces with modes,  an event is where G becomes negative
//
// Then the step is rejected and repeated up to the event, which the Illinois rule finds: every trial is a
// step of the integrator from the same state, so the state at the event is as accurate as any other, and
// nothing is interpolated.  A step without an event at its end may still have passed through a contact.  Where gaps and
// speeds do not exclude this, each gap is interpolated with its accelerations (gap.c), and if it may close the step is
// repeated up to where it is smallest: either an event is before that, or this is the end of a shorter step.
// Fixed-step integrators have no events: there the modes follow from the state at each evaluation, and the jump of the
// rates reduces their order.
#include "simulate/simulation.h"

#include "base/assert.h"
#include "simulate/gap.h"
#include "spatial/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A guard this small, relative to the tolerance of coordinates, is the event: below the position error of
// the integrator.
#define CLOSE_ENOUGH 1e-3
// Steps of a search; the Illinois rule needs five to ten.
enum { MAX_TRIALS = 60 };
// Ends of one step, each before the last one.
enum { MAX_SHORTER = 40 };

lw_status lwi_sim_prepare_events(lw_sim *sim, bool adaptive)
{
    lwi_events *e = &sim->events;
    *e = (lwi_events){0};
    if (!sim->model->nmode || !adaptive) return LW_OK;
    e->active = true;
    e->mode = LWI_PUSH(&sim->arena, unsigned char, sim->model->nmode);
    e->x0 = LWI_PUSH(&sim->arena, double, sim->work->layout.nx);
    e->gap0 = LWI_PUSH(&sim->arena, lwi_gap, sim->model->nmode);
    e->gap = LWI_PUSH(&sim->arena, lwi_gap, sim->model->nmode);
    e->al = lwi_arena_push(&sim->arena, (size_t)sim->model->nbody, sizeof *e->al);
    return e->mode && e->x0 && e->gap0 && e->gap && e->al ? LW_OK : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------------------ guards

static lw_status observe_motion(lw_sim *sim, double t, const double *x, lw_observe level,
                                lwi_kin *kin)
{
    lwi_snapshot *m = &sim->snapshot;
    TRY(sim->work->formulation->observe(sim->work, t, x, sim->inputs, level, m));
    lwi_observe_merged(sim->model, level, sim->inputs, &sim->loads, m);
    *kin = lwi_snapshot_kin(sim->model, m);
    if (level < LW_OBSERVE_ACCELERATION) return LW_OK;
    for (int b = 0; b < sim->model->nbody; b++) m3_mul_v(sim->events.al[b], m->R[b], m->al[b]);
    kin->a = (const double(*)[3])m->a;
    kin->al = (const double(*)[3])sim->events.al;
    kin->qdd = m->qdd;
    return LW_OK;
}

static lw_status observe_here(lw_sim *sim, lwi_kin *kin)
{
    const lw_status status = observe_motion(sim, sim->t, sim->x, LW_OBSERVE_TWIST, kin);
    return status == LW_OK ? LW_OK : lwi_sim_fail_work(sim, status, "searching for an event");
}

// Modes from the state alone, without a history.
static lw_status begin_modes(lw_sim *sim)
{
    const lw_model *model = sim->model;
    lwi_kin kin;
    TRY(observe_here(sim, &kin));
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (modes) sim->events.mode[modes->index(f->par)] = modes->now(f->par, &kin);
    }
    return LW_OK;
}

static void fill_gaps(const lw_sim *sim, const lwi_kin *kin, lwi_gap *gap)
{
    for (int i = 0; i < sim->model->nforce; i++) {
        const lwi_force *f = &sim->model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (!modes) continue;
        const int k = modes->index(f->par);
        modes->gap(f->par, sim->events.mode[k], kin, &gap[k]);
    }
}

// The smallest guard of the present modes, and all gaps.
static lw_status examine_state(lw_sim *sim)
{
    const lw_model *model = sim->model;
    lwi_events *e = &sim->events;
    double guard[LWI_MAX_GUARDS];
    lwi_kin kin;
    const bool complete =
        e->close && observe_motion(sim, sim->t, sim->x, LW_OBSERVE_ACCELERATION, &kin) == LW_OK;
    if (!complete) TRY(observe_here(sim, &kin));
    e->guard = INFINITY;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (!modes) continue;
        const int n = modes->guards(f->par, e->mode[modes->index(f->par)], &kin, guard);
        LWI_ASSERT(n >= 0 && n <= LWI_MAX_GUARDS);
        for (int k = 0; k < n; k++)
            if (!(guard[k] >= e->guard)) e->guard = guard[k];
    }
    fill_gaps(sim, &kin, e->gap);
    e->complete = complete;
    return LW_OK;
}

// Every mode that has ended becomes the next one.
static lw_status change_modes(lw_sim *sim)
{
    const lw_model *model = sim->model;
    double guard[LWI_MAX_GUARDS];
    lwi_kin kin;
    TRY(observe_here(sim, &kin));
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (!modes) continue;
        unsigned char *mode = &sim->events.mode[modes->index(f->par)];
        LWI_ASSERT_INDEX(modes->index(f->par), model->nmode);
        const int n = modes->guards(f->par, *mode, &kin, guard);
        LWI_ASSERT(n >= 0 && n <= LWI_MAX_GUARDS);
        for (int k = 0; k < n; k++)
            if (guard[k] < 0) {
                *mode = modes->next(f->par, *mode, k, &kin);
                break;
            }
    }
    sim->events.count++;
    if (sim->pending == LWI_NOTHING) sim->pending = LWI_NEW_RATES;
    return LW_OK;
}

// --------------------------------------------------------------------------------------- searching

// Repeats the step from its beginning to `to`.
static lw_status repeat_step(lw_sim *sim, double to)
{
    LWI_ASSERT(sim->events.active && to >= sim->events.t0);
    lwi_events *e = &sim->events;
    const size_t bytes = (size_t)sim->work->layout.nx * sizeof *sim->x;
    if (bytes) memcpy(sim->x, e->x0, bytes);
    sim->t = e->t0;
    const lwi_integrator_type *type = sim->integrator->type;
    TRY(type->restart(sim->integrator, sim->t, sim->x, LWI_JUMP_RATES, &sim->error));
    TRY(type->advance(sim->integrator, &sim->t, sim->x, to, to, false, &sim->error));
    return examine_state(sim);
}

// Finds the event between t0 and sim->t, where the smallest guard is negative.
static lw_status find_event(lw_sim *sim)
{
    const lwi_events *e = &sim->events;
    LWI_ASSERT(e->guard < 0 && sim->t >= e->t0);
    const double enough = CLOSE_ENOUGH * sim->options.atol;
    double a = e->t0, b = sim->t, ga = fmax(e->guard0, 0), gb = e->guard;
    int side = 0;
    for (int i = 0; i < MAX_TRIALS && -gb > enough && b - a > 4 * DBL_EPSILON * fabs(b); i++) {
        // regula falsi; the guard of an end that is kept is halved for the next time
        double t = a + (b - a) * (ga / (ga - gb));
        // bisection if it stays at the edge, so that both ends approach the event
        if (!(t > a && t < b) || i % 8 == 7) t = a + 0.5 * (b - a);
        if (!(t > a && t < b)) break;
        TRY(repeat_step(sim, t));
        if (e->guard < 0) {
            b = t, gb = e->guard;
            if (side < 0) ga *= 0.5;
            side = -1;
        } else {
            a = t, ga = e->guard;
            if (side > 0) gb *= 0.5;
            side = 1;
        }
    }
    return sim->t != b ? repeat_step(sim, b) : LW_OK;
}

// Where accelerations cannot be observed gaps are interpolated without.
static void add_accelerations(lw_sim *sim, double t, const double *x, lwi_gap *gap, bool *complete)
{
    lwi_kin kin;
    if (!*complete && observe_motion(sim, t, x, LW_OBSERVE_ACCELERATION, &kin) == LW_OK)
        fill_gaps(sim, &kin, gap);
    *complete = true;
}

// A time within the step at which a gap may be closed; false: none.
static bool find_closed_gap(lw_sim *sim, double *closed)
{
    lwi_events *e = &sim->events;
    const double h = sim->t - e->t0, tolerance = CLOSE_ENOUGH * sim->options.atol;
    for (int k = 0; k < sim->model->nmode; k++) {
        double s;
        if (!e->gap[k].n || lwi_gap_is_wide(&e->gap0[k], &e->gap[k], h)) continue;
        e->close = true;
        add_accelerations(sim, e->t0, e->x0, e->gap0, &e->complete0);
        add_accelerations(sim, sim->t, sim->x, e->gap, &e->complete);
        if (!lwi_gap_may_close(&e->gap0[k], &e->gap[k], h, tolerance, &s)) continue;
        *closed = e->t0 + s * h;
        if (*closed > e->t0 && *closed < sim->t) return true;
    }
    return false;
}

// Ends the step at the first event; *found: there is one.
static lw_status shorten_step(lw_sim *sim, bool *found)
{
    lwi_events *e = &sim->events;
    for (int i = 0;; i++) {
        double closed;
        *found = e->guard < 0;
        if (*found) TRY(find_event(sim));
        if (i == MAX_SHORTER || !find_closed_gap(sim, &closed)) return LW_OK;
        TRY(repeat_step(sim, closed));
    }
}

// Checks a step for events.
static lw_status check_step(lw_sim *sim)
{
    lwi_events *e = &sim->events;
    bool found;
    TRY(examine_state(sim));
    e->close = false;
    // modes that end immediately after they begin, repeatedly: accept the step
    if (e->guard < 0 && e->repeats > 4 * sim->model->nmode) {
        e->repeats = 0;
        TRY(begin_modes(sim));
        sim->pending = LWI_NEW_RATES;
        return examine_state(sim);
    }
    TRY(shorten_step(sim, &found));
    if (!found) {
        e->repeats = 0;
        return LW_OK;
    }
    TRY(change_modes(sim));
    e->repeats = sim->t - e->t0 > 4 * DBL_EPSILON * fabs(sim->t) ? 0 : e->repeats + 1;
    return examine_state(sim);
}

// The latest end of a step from the present state.
static double latest_end(const lw_sim *sim, double stop)
{
    for (int k = 0; k < sim->model->nmode; k++) {
        const lwi_gap *gap = &sim->events.gap[k];
        if (gap->n && gap->step > 0 && sim->t + gap->step > sim->t)
            stop = fmin(stop, sim->t + gap->step);
    }
    return stop;
}

lw_status lwi_sim_advance_events(lw_sim *sim, double stop)
{
    LWI_ASSERT(sim->events.active);
    LWI_ASSERT(stop >= sim->t);
    lwi_events *e = &sim->events;
    const size_t bytes = (size_t)sim->work->layout.nx * sizeof *sim->x;
    if (!e->begun) {
        e->begun = true;
        e->repeats = 0;
        TRY(begin_modes(sim));
        sim->work->mode = e->mode;
        TRY(examine_state(sim));
    }
    stop = latest_end(sim, stop);
    lwi_gap *const gap = e->gap0;
    e->t0 = sim->t;
    e->guard0 = e->guard;
    e->gap0 = e->gap;
    e->gap = gap;
    e->complete0 = e->complete;
    if (bytes) memcpy(e->x0, sim->x, bytes);
    TRY(sim->integrator->type->advance(sim->integrator, &sim->t, sim->x, stop, stop, true,
                                       &sim->error));
    if (sim->t == e->t0 && sim->crossing.near) { // a step across begins here
        e->gap = e->gap0;
        e->gap0 = gap;
        return LW_OK;
    }
    return check_step(sim);
}
