// events.c -- forces with modes (stops): steps of adaptive integrators end where a mode changes.
//
// During a step the modes are fixed, so that the rates are smooth for every trial of the step.  After
// it the guards show whether a mode has ended:
//
//   G(t) = the smallest guard of all forces with modes,  an event is where G becomes negative
//
// Then the step is rejected and repeated up to the event, which the Illinois rule finds: every trial is a
// step of the integrator from the same state, so the state at the event is as accurate as any other, and
// nothing is interpolated.  A mode that ends and begins again within one step is detected by the cubic
// through guard and rate at both ends.  Fixed-step integrators have no events: there the modes follow from
// the state at each evaluation, and the jump of the rates reduces their order.
#include "simulate/simulation.h"

#include "base/assert.h"
#include "spatial/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A guard this small, relative to the tolerance of coordinates, is the event: below the position error of
// the integrator.
#define CLOSE_ENOUGH 1e-3
// Steps of a search; the Illinois rule needs five to ten.
enum { MAX_TRIALS = 60 };

lw_status lwi_sim_prepare_events(lw_sim *sim, bool adaptive)
{
    lwi_events *e = &sim->events;
    *e = (lwi_events){0};
    if (!sim->model->nmode || !adaptive) return LW_OK;
    e->active = true;
    e->mode = LWI_PUSH(&sim->arena, unsigned char, sim->model->nmode);
    e->x0 = LWI_PUSH(&sim->arena, double, sim->work->layout.nx);
    return e->mode && e->x0 ? LW_OK : LW_ERR_MEMORY;
}

// ------------------------------------------------------------------------------------------ guards

static lw_status observe_motion(lw_sim *sim, lwi_kin *kin)
{
    lwi_snapshot *m = &sim->snapshot;
    const lw_status status = sim->work->formulation->observe(sim->work, sim->t, sim->x, sim->inputs,
                                                             LW_OBSERVE_TWIST, m);
    if (status != LW_OK) return lwi_sim_fail_work(sim, status, "searching for an event");
    lwi_observe_merged(sim->model, LW_OBSERVE_TWIST, sim->inputs, &sim->loads, m);
    for (int b = 0; b < sim->model->nbody; b++) m3_mul_v(m->w_world[b], m->R[b], m->w[b]);
    *kin = (lwi_kin){.R = (const double(*)[9])m->R,
                     .r = (const double(*)[3])m->r,
                     .v = (const double(*)[3])m->v,
                     .w = (const double(*)[3])m->w_world,
                     .q = m->q,
                     .qd = m->qd};
    return LW_OK;
}

// Modes from the state alone, without a history.
static lw_status begin_modes(lw_sim *sim)
{
    const lw_model *model = sim->model;
    lwi_kin kin;
    TRY(observe_motion(sim, &kin));
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (modes) sim->events.mode[modes->index(f->par)] = modes->now(f->par, &kin);
    }
    return LW_OK;
}

// The smallest guard of the present modes.
static lw_status min_guard(lw_sim *sim, lwi_guard *smallest)
{
    const lw_model *model = sim->model;
    lwi_guard guard[LWI_MOST_GUARDS];
    lwi_kin kin;
    TRY(observe_motion(sim, &kin));
    *smallest = (lwi_guard){INFINITY, NAN};
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (!modes) continue;
        const int n = modes->guards(f->par, sim->events.mode[modes->index(f->par)], &kin, guard);
        LWI_ASSERT(n >= 0 && n <= LWI_MOST_GUARDS);
        for (int k = 0; k < n; k++)
            if (!(guard[k].value >= smallest->value)) *smallest = guard[k];
    }
    return LW_OK;
}

// Every mode that has ended becomes the next one.
static lw_status change_modes(lw_sim *sim)
{
    const lw_model *model = sim->model;
    lwi_guard guard[LWI_MOST_GUARDS];
    lwi_kin kin;
    TRY(observe_motion(sim, &kin));
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *f = &model->force[i];
        const lwi_force_modes *modes = f->type->modes;
        if (!modes) continue;
        unsigned char *mode = &sim->events.mode[modes->index(f->par)];
        LWI_ASSERT_INDEX(modes->index(f->par), model->nmode);
        const int n = modes->guards(f->par, *mode, &kin, guard);
        LWI_ASSERT(n >= 0 && n <= LWI_MOST_GUARDS);
        for (int k = 0; k < n; k++)
            if (guard[k].value < 0) {
                *mode = modes->next(f->par, *mode, k, &kin);
                break;
            }
    }
    sim->events.count++;
    if (sim->pending == LWI_NOTHING) sim->pending = LWI_NEW_RATES;
    return LW_OK;
}

// -----------------------------------------------------------------------------------------
// searching

// Repeats the step from its beginning to `to`.
static lw_status repeat_step(lw_sim *sim, double to, lwi_guard *guard)
{
    LWI_ASSERT(sim->events.active && to >= sim->events.t0);
    lwi_events *e = &sim->events;
    const size_t bytes = (size_t)sim->work->layout.nx * sizeof *sim->x;
    if (bytes) memcpy(sim->x, e->x0, bytes);
    sim->t = e->t0;
    const lwi_integrator_type *type = sim->integrator->type;
    TRY(type->restart(sim->integrator, sim->t, sim->x, LWI_JUMP_RATES, &sim->error));
    TRY(type->advance(sim->integrator, &sim->t, sim->x, to, to, false, &sim->error));
    return min_guard(sim, guard);
}

// Finds the event between t0, with the smallest guard `before`, and sim->t, where it is `after` < 0.
static lw_status find_event(lw_sim *sim, double before, double after)
{
    LWI_ASSERT(after < 0);
    LWI_ASSERT(sim->t >= sim->events.t0);
    const double enough = CLOSE_ENOUGH * sim->options.atol;
    double a = sim->events.t0, b = sim->t, ga = fmax(before, 0), gb = after;
    lwi_guard guard;
    int side = 0;
    for (int i = 0; i < MAX_TRIALS && -gb > enough && b - a > 4 * DBL_EPSILON * fabs(b); i++) {
        // regula falsi; the guard of an end that is kept is halved for the next time
        double t = a + (b - a) * (ga / (ga - gb));
        // bisection if it stays at the edge, so that both ends approach the event
        if (!(t > a && t < b) || i % 8 == 7) t = a + 0.5 * (b - a);
        if (!(t > a && t < b)) break;
        TRY(repeat_step(sim, t, &guard));
        if (guard.value < 0) {
            b = t, gb = guard.value;
            if (side < 0) ga *= 0.5;
            side = -1;
        } else {
            a = t, ga = guard.value;
            if (side > 0) gb *= 0.5;
            side = 1;
        }
    }
    if (sim->t != b) TRY(repeat_step(sim, b, &guard));
    return change_modes(sim);
}

// Time of the minimum of the cubic through both ends within the step; NAN if it is at an end or not negative.
static double cubic_minimum(double t0, double t1, lwi_guard a, lwi_guard b)
{
    const double h = t1 - t0, da = h * a.rate, db = h * b.rate, rise = b.value - a.value;
    if (!isfinite(da) || !isfinite(db) || !(da < 0 && db > 0)) return NAN;
    // g = a + da s + c2 s^2 + c3 s^3, g' = 0
    const double c2 = 3 * rise - 2 * da - db, c3 = da + db - 2 * rise;
    const double root = sqrt(fmax(0, c2 * c2 - 3 * c3 * da));
    const double s = -da / (c2 + root); // the root where g'' = 2 root > 0
    if (!(s > 0 && s < 1)) return NAN;
    return a.value + s * (da + s * (c2 + s * c3)) < 0 ? t0 + s * h : NAN;
}

// Checks a step for events.
static lw_status check_step(lw_sim *sim, lwi_guard before)
{
    lwi_events *e = &sim->events;
    lwi_guard after;
    TRY(min_guard(sim, &after));
    if (!(after.value < 0)) {
        const double between = cubic_minimum(e->t0, sim->t, before, after);
        if (!(between > e->t0 && between < sim->t)) {
            e->guard = after;
            e->repeats = 0;
            return LW_OK;
        }
        TRY(repeat_step(sim, between, &after)); // without an event there, this is a shorter step
        e->guard = after;
        if (!(after.value < 0)) return LW_OK;
    }
    // modes that end immediately after they begin, repeatedly: accept the step
    if (e->repeats > 4 * sim->model->nmode) {
        e->repeats = 0;
        TRY(begin_modes(sim));
        sim->pending = LWI_NEW_RATES;
        return min_guard(sim, &e->guard);
    }
    TRY(find_event(sim, before.value, after.value));
    e->repeats = sim->t - e->t0 > 4 * DBL_EPSILON * fabs(sim->t) ? 0 : e->repeats + 1;
    return min_guard(sim, &e->guard);
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
        TRY(min_guard(sim, &e->guard));
    }
    e->t0 = sim->t;
    if (bytes) memcpy(e->x0, sim->x, bytes);
    TRY(sim->integrator->type->advance(sim->integrator, &sim->t, sim->x, stop, stop, true,
                                       &sim->error));
    if (sim->t == e->t0 && sim->crossing.near) return LW_OK; // a step across begins here
    return check_step(sim, e->guard);
}
