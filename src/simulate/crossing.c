// crossing.c -- steps across singular positions.
//
// With x the distance to the position along the branch of the motion, a state off the constraints by d has a direction
// that is wrong by d / x^2, and rates wrong by d / x^3.  Steps that end near the position follow a bend onto another branch,
// those with tight tolerances too, since they become short there.  So near the position nothing is evaluated: on
// its branch the motion is an analytic function of time, and one symmetric Gauss step of order 12 leads across.  Its
// nodes keep away from the middle, and its stages are projected onto the constraints.  It replaces integrator and
// formulation for this step.
//
// After each step the sine s of the angle between the constraints and dependence is known to be far from zero, or
// computed, also within longer steps.  s falls and the position is predicted at D = -s / (ds/dt).  The next step ends
// where the window begins, at s = WINDOW of the largest sine of the run, and the Gauss step has the length 2 D.  A
// step that has come nearer is repeated with an earlier end.
//
// crossing_ahead.c predicts positions, crossing_path.c steps across one, crossing_several.c across several.
#include "simulate/crossing.h"

#include "base/assert.h"
#include "system/singular.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Sines relative to the largest of the run: where windows begin, and the factor within which they are reached.
#define WINDOW LWI_CROSSING_WINDOW
#define REACHED 1.3
// Distance of the innermost nodes of the step of order 12 from its middle.
#define INNERMOST 0.238619
// A step came too near below this part of WINDOW.
#define TOO_NEAR 0.5
// Minima of the sine above this part of the current sine are no singular position.
#define TURNS LWI_CROSSING_TURNS
enum { MAX_RETREATS = 16 };
// Nodes of steps to rows keep so far from positions, in lengths of a piece.
#define CLEAR 0.01
// The largest motion of a step in which positions are searched for, in radians or lengths of the mechanism.
#define LONGEST (LWI_CROSSING_PIECES * LWI_CROSSING_APART)
// Difference of two predictions of the time to a position, in that at the beginning of the step across, which is used then.
#define DIFFERENT 0.3
// A failed attempt is repeated where the sine has fallen to this part.
#define AGAIN 0.6
// A run with so many ordinary steps so near to a position, in sines relative to the largest of the run, ends.
#define STUCK 1e-4
enum { MAX_STEPS_NEAR = 1000 };
// Distance in time of a row at the position from the state that it has, relative to that across.
#define MIN_ASIDE 1e-9
#define MAX_ASIDE 1e-4
#define MAX_ASIDE_OF_START 0.03 // from rest it is squared
// Below this sine at the first state others are larger.
#define SMALL_START 0.05
// If the mechanism has barely moved, the interval to the next evaluation grows by this factor.
#define LATER 2
// A step on which sines change by at most this part passes no position.
#define UNMOVED 0.1

// Margins (formulation.h) change by at most one per radian of the angle at the joint that closes a loop, and this angle by those
// of up to four joints in most loops, so margins at both ends of a step exclude a singular position within it if no coordinate
// changes by more than this part of their mean [rad, m].
#define SHORT 0.5
// Largest number of margins within a longer step.
enum { BETWEEN = 11 };
// The sine itself is not computed where margins are above SAFE, or above SMALL and FALLEN times the highest since the last
// state examined, if the sine in proportion to the margin is above FAR of the largest of the run.  It is where the margin
// has GROWN by this factor since a small sine, below HALF of the largest, or where that sine is NEARLY the largest.
#define SAFE 0.6
#define SMALL 0.1
#define FALLEN 0.4
#define FAR 0.3
#define GROWN 1.5
#define HALF 0.5
#define NEARLY 0.8

// ------------------------------------------------------------------------------------------ create

static lw_status create_piece(lw_sim *sim, int nx, lwi_crossing_piece *piece)
{
    piece->x0 = LWI_PUSH(&sim->arena, double, nx);
    piece->rate = LWI_PUSH(&sim->arena, double, LWI_GAUSS_STAGES *nx);
    return piece->x0 && piece->rate ? LW_OK : LW_ERR_MEMORY;
}

// Sines decrease faster along joints of loops with several degrees of freedom.
static double steepest_slope(const lw_sim *sim)
{
    const lwi_system *s = &sim->monitor.system;
    for (int j = 0; j < sim->model->njoint; j++)
        if (s->joint_edge[j] >= 0 && sim->model->joint[j].type->nv > 1)
            return LWI_CROSSING_STEEP_SLOPE;
    return LWI_CROSSING_SLOPE;
}

lw_status lwi_sim_prepare_crossing(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    lwi_arena *arena = &sim->arena;
    const lwi_gauss *g = &sim->passage.gauss;
    *c = (lwi_crossing){.begin = -INFINITY,
                        .end = -INFINITY,
                        .latest = INFINITY,
                        .due = -INFINITY,
                        .stop = INFINITY,
                        .outside = -INFINITY};
    const lwi_integrator_type *type = lwi_integrator_find(sim->options.integrator);
    if (sim->options.singular == LW_SINGULAR_TURN) return LW_OK;
    if (!sim->passage.active || !type->crosses || !sim->work->formulation->rates) return LW_OK;
    const int nx = g->work->layout.nx;
    TRY(lwi_sine_create(sim->model, arena, &c->last));
    TRY(lwi_snapshot_create(sim->model, arena, &c->at));
    TRY(lwi_snapshot_create(sim->model, arena, &c->from));
    for (int i = 0; i < LWI_COUNT(c->path.piece); i++) {
        TRY(create_piece(sim, nx, &c->path.piece[i]));
        TRY(create_piece(sim, nx, &c->best.piece[i]));
    }
    c->path.shift = LWI_PUSH(arena, double, g->assembler->nrow);
    c->best.shift = LWI_PUSH(arena, double, g->assembler->nrow);
    if (!c->path.shift || !c->best.shift) return LW_ERR_MEMORY;
    c->path.x1 = LWI_PUSH(arena, double, nx);
    c->best.x1 = LWI_PUSH(arena, double, nx);
    c->y = LWI_PUSH(arena, double, nx);
    c->end_x = LWI_PUSH(arena, double, sim->work->layout.nx);
    TRY(lwi_crossing_create_groups(sim));
    c->slope = steepest_slope(sim);
    c->between = LWI_PUSH(arena, double, 2 * sim->work->layout.nx);
    if (!c->path.x1 || !c->best.x1 || !c->y || !c->end_x || !c->between) return LW_ERR_MEMORY;
    c->active = c->margin_wanted = true;
    return LW_OK;
}

// How many positions of the path are at time t or before it, and the first of them.
static int passed_until(const lwi_crossing_path *path, double t, double *first)
{
    int n = 0;
    *first = INFINITY;
    for (int i = 0; i < path->npassed; i++)
        if (path->passed[i] <= t) *first = fmin(*first, path->passed[i]), n++;
    return n;
}

void lwi_sim_count_back(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    double first;
    if (sim->options.singular != LW_SINGULAR_STOP)
        c->count -= c->best.npassed - passed_until(&c->best, sim->t, &first);
    c->best.npassed = 0;
}

void lwi_sim_leave_crossing(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    if (sim->t < c->end) lwi_sim_count_back(sim);
    c->begin = c->end = c->outside = c->due = -INFINITY;
    c->latest = c->stop = INFINITY;
    for (int k = 0; k < c->ngroup; k++) c->regular[k] = false;
    c->near = c->failed = c->last.valid = false;
    c->margin = 0;
    c->margin_wanted = c->active;
    c->retreats = c->steps_near = 0;
}

// ------------------------------------------------------------------------------------ steps of the run

static bool observe(lw_sim *sim, double t, const double *x, lw_observe level, lwi_snapshot *m)
{
    m->t = t;
    return sim->work->formulation->observe(sim->work, t, x, sim->inputs, level, m) == LW_OK;
}

// Groups with a sine that falls to the end of a step, where it is below `allowed`.
static bool want_falling(lwi_crossing *c, double allowed)
{
    bool any = false;
    for (int k = 0; k < c->ngroup; k++) {
        c->wanted[k] = sqrt(c->at_pivot[k]) < allowed && !(c->at_pivot[k] > c->last_pivot[k]) &&
                       !c->regular[k];
        any |= c->wanted[k];
    }
    return any;
}

// The next step begins at t and ends at the latest at `end`, or, with `near`, is the step across to 2 position - t.
static void plan_step(lwi_crossing *c, double t, double position, double window)
{
    c->known = t;
    c->position = position;
    c->near = position - t <= REACHED * window;
    c->latest = c->near ? t : position - window;
    c->estimated = NAN;
}

// A step from (t0, x0) to the motion c->at, the state x1, passes or reaches the middle of a window: true, and the next
// attempt is planned.
static bool retreats(lw_sim *sim, double t0, const double *x0, const double *x1, double sine,
                     double largest)
{
    lwi_crossing *c = &sim->crossing;
    if (c->failed || c->retreats >= MAX_RETREATS) return false;
    const lwi_system *s = &sim->monitor.system;
    const double allowed = TOO_NEAR * WINDOW * largest;
    if (c->last.valid && t0 >= c->last.t) {
        const double since = lwi_sine_motion(s, &c->last, &c->at, c->last.rate);
        if (0.5 * (c->last.sine + sine - c->slope * since) > allowed) return false;
    }
    if (!observe(sim, t0, x0, LW_OBSERVE_TWIST, &c->from)) return false;
    lwi_sine_take(s, &c->from, 0, &c->last);
    const double rate = fmax(c->last.rate, lwi_sine_rate(s, &c->at));
    const double moved = lwi_sine_motion(s, &c->last, &c->at, rate);
    if (0.5 * (sine - c->slope * moved) > allowed) return false; // for any sine there
    const double begin = c->last.sine = lwi_sine_at(&sim->monitor, &c->from);
    c->sampled_margin = 0;
    lwi_crossing_take_pivots(sim, begin, c->last_pivot);
    if (0.5 * (begin + sine - c->slope * moved) > allowed) return false;
    if (c->slope * moved < UNMOVED * begin) return false; // minima among its samples are round-off
    // to be repeated with an end at which samples within it suffice, or from a standstill, where motions grow with the square of time,
    // at which it has not come to a position
    const bool still = !(c->last.rate > LWI_CROSSING_STANDSTILL), far = c->slope * moved > begin;
    if (moved > LONGEST || (still && far)) {
        c->retreats++;
        c->known = t0, c->near = false;
        const double part = still ? sqrt(0.5 * begin / (c->slope * moved)) : 0.9 * LONGEST / moved;
        c->latest = t0 + part * (c->at.t - t0);
        return c->latest > t0; // else no step is short enough: the motion diverges
    }
    lwi_crossing_dip d;
    double position, window, after;
    const bool found = !still && lwi_crossing_find_dip(sim, moved, largest, &d);
    if (!(found && !d.ends) && want_falling(c, allowed) && // it falls to the end, or nearly
        lwi_crossing_estimate(sim, x1, lwi_sine_rate(s, &c->at), &after, &window)) {
        position = c->at.t + after;
    } else {
        if (!found || !(d.sine < TURNS * WINDOW * largest)) return false;
        position = d.t, window = WINDOW * largest / d.slope;
    }
    if (!(position > t0)) return false;
    c->retreats++;
    plan_step(c, t0, position, window);
    return true;
}

// Whether it is known before poses are that is_far is false at time t: the sine is small, or the motion long by its rate.
static bool is_not_far(const lwi_crossing *c, double t, double largest)
{
    if (!c->last.valid || !(t > c->last.t)) return true;
    return !(c->slope * c->last.rate * (t - c->last.t) < c->last.sine - WINDOW * largest);
}

// Sines decrease by at most c->slope per radian: has the motion since the last sample been too short to reach a window?
static bool is_far(lwi_crossing *c, const lwi_system *s, double largest)
{
    if (!c->last.valid || !(c->at.t > c->last.t)) return false;
    const double room = c->last.sine - WINDOW * largest, h = c->at.t - c->last.t;
    const double moved = lwi_sine_motion(s, &c->last, &c->at, c->last.rate);
    if (!(c->slope * moved < room)) return false;
    // at the present acceleration
    c->due = c->last.t + h * fmin(LATER, 0.9 * sqrt(room / (c->slope * moved)));
    return true;
}

// Largest change of a coordinate [rad, m].
static double change_of(const lwi_layout *layout, const double *x0, const double *x1)
{
    double largest = 0;
    for (int b = 0; b < layout->nblock; b++) {
        const lwi_block *block = &layout->block[b];
        if (block->kind != LWI_COORDINATE && block->kind != LWI_QUATERNION) continue;
        for (int i = block->first; i < block->first + block->n; i++)
            largest = fmax(largest, fabs(x1[i] - x0[i]));
    }
    return largest;
}

void lwi_sim_note_margin(lw_sim *sim, double t, const double *x)
{
    lwi_crossing *c = &sim->crossing;
    if (t != sim->t || memcmp(x, sim->x, (size_t)sim->work->layout.nx * sizeof *x)) return;
    c->margin = lwi_work_margin(sim->work, t, x);
    c->margin_time = t;
    c->margin_wanted = false;
}

// The sine of c->last was computed where the margin was this.
static void take_margin(lwi_crossing *c, double margin)
{
    c->sampled_margin = c->highest_margin = margin;
}

// The margin at the state c->between; -INFINITY: it cannot be evaluated.
static double margin_between(lw_sim *sim, double t)
{
    lwi_work *work = sim->work;
    double *x = sim->crossing.between, *xdot = x + work->layout.nx;
    const double margin = lwi_work_margin_at(work, t, x);
    if (margin >= 0) return margin;
    const lw_status status = lwi_work_rates(work, t, x, sim->inputs, xdot);
    return status == LW_OK ? lwi_work_margin(work, t, x) : -INFINITY;
}

// Do margins at both ends of a piece, over which no coordinate changes by more than `change`, exclude a singular position?
static bool is_short(double change, double a, double b)
{
    return change <= SHORT * 0.5 * (a + b);
}

/** The straight line between the ends of a step. */
typedef struct line {
    double t0, t1;
    const double *x0, *x1;
    double change; ///< the largest one of a coordinate [rad, m]
    int left;      ///< number of margins that may still be evaluated
} line;

// The same of a piece of a line: where it is too long, a margin in the middle halves it.
static bool is_piece_independent(lw_sim *sim, line *of, double from, double before, double to,
                                 double after)
{
    const double change = (to - from) * of->change, part = 0.5 * (from + to);
    if (is_short(change, before, after)) return true;
    if (!(change <= SHORT * fmin(before, after) * (of->left + 1)) || of->left == 0) return false;
    of->left--;
    double *x = sim->crossing.between;
    for (int i = 0; i < sim->work->layout.nx; i++)
        x[i] = of->x0[i] + part * (of->x1[i] - of->x0[i]);
    const double margin = margin_between(sim, of->t0 + part * (of->t1 - of->t0));
    return is_piece_independent(sim, of, from, before, part, margin) &&
           is_piece_independent(sim, of, part, margin, to, after);
}

// Do margins exclude a singular position within a step?
static bool is_independent(lw_sim *sim, double t0, const double *x0, double before, double t1,
                           const double *x1)
{
    line all = {t0, t1, x0, x1, change_of(&sim->work->layout, x0, x1), BETWEEN};
    return is_piece_independent(sim, &all, 0, before, 1, sim->crossing.margin);
}

// Do the margins of evaluations exclude that the step comes near a singular position?  Notes that at its end.
static bool is_safe(lw_sim *sim, double t0, const double *x0, double t1, const double *x1)
{
    lwi_crossing *c = &sim->crossing;
    const double before = t0 == c->margin_time ? c->margin : 0, sampled = c->sampled_margin;
    c->margin = lwi_work_margin(sim->work, t1, x1);
    c->margin_time = t1;
    if (sim->monitor.count == 0 || !c->last.valid || !(sampled > 0)) return false;
    const double lower = fmin(before, c->margin), typical = lwi_crossing_typical(sim);
    const double sine = c->last.sine * c->margin / sampled;
    if (c->margin > GROWN * sampled && (c->last.sine < HALF * typical || sine > NEARLY * typical))
        return false;
    const bool still =
        lower >= SMALL && c->margin >= FALLEN * c->highest_margin && sine >= FAR * typical;
    return (lower >= SAFE || still) && is_independent(sim, t0, x0, before, t1, x1);
}

// The sine where a step begins, of which that of a state that was set, or sampled, is known.
static void begin_sine(lw_sim *sim, double t0, const double *x0)
{
    lwi_crossing *c = &sim->crossing;
    lwi_monitor *monitor = &sim->monitor;
    const lwi_snapshot *m = lwi_sim_sampled_motion(sim, t0);
    if (c->last.valid || (!m && !observe(sim, t0, x0, LW_OBSERVE_TWIST, &c->from))) return;
    if (!m) m = &c->from;
    const lwi_monitor_sample *sample = monitor->count ? &monitor->sample[monitor->count - 1] : NULL;
    const bool known = sample && sample->t == t0 && monitor->ngroup == 0;
    const double sine = known ? sqrt(sample->pivot) : lwi_sine_at(monitor, m);
    lwi_crossing_take_pivots(sim, sine, c->last_pivot);
    lwi_sine_take(&monitor->system, m, sine, &c->last);
    take_margin(c, t0 == c->margin_time ? c->margin : 0);
    if (sine < SMALL_START && sine >= sqrt(monitor->largest))
        lwi_crossing_find_typical(sim, t0, x0);
}

// Steps end at the latest at the next attempt to step across; INFINITY: none is planned.
static double next_attempt(const lwi_crossing *c, double t)
{
    return c->failed && t < c->again ? c->again : INFINITY;
}

bool lwi_sim_accept(lw_sim *sim, double t0, const double *x0, double t1, const double *x1,
                    double *end)
{
    lwi_crossing *c = &sim->crossing;
    lwi_monitor *monitor = &sim->monitor;
    const lwi_system *s = &monitor->system;
    c->known = t1, c->latest = next_attempt(c, t1), c->near = false;
    begin_sine(sim, t0, x0);
    if (is_safe(sim, t0, x0, t1, x1)) {
        c->highest_margin = fmax(c->highest_margin, c->margin);
        c->skipped = true;
        c->outside = t1;
        return true;
    }
    if (c->last.valid && t0 >= c->last.t && t1 < c->due) return true;
    const double largest = lwi_crossing_typical(sim);
    const bool poses =
        sim->work->formulation->flags & LWI_POSES_FIRST && !is_not_far(c, t1, largest);
    if (!observe(sim, t1, x1, poses ? LW_OBSERVE_POSE : LW_OBSERVE_TWIST, &c->at)) return true;
    if (is_far(c, s, largest)) {
        c->outside = t1;
        return true;
    }
    if (poses && !observe(sim, t1, x1, LW_OBSERVE_TWIST, &c->at)) return true;
    int edge = 0;
    const double pivot = lwi_monitor_pivot(monitor, &c->at, &edge), sine = sqrt(pivot);
    lwi_crossing_take_pivots(sim, sine, c->at_pivot);
    if (retreats(sim, t0, x0, x1, sine, largest)) {
        *end = c->latest;
        return false;
    }
    const bool falls = c->last.valid && want_falling(c, LWI_CROSSING_CLOSE * largest);
    for (int k = 0; k < c->ngroup; k++) c->regular[k] &= !(c->at_pivot[k] > c->last_pivot[k]);
    memcpy(c->last_pivot, c->at_pivot, (size_t)c->ngroup * sizeof *c->at_pivot);
    lwi_sine_take(s, &c->at, sine, &c->last);
    lwi_sim_end_skipping(sim);
    take_margin(c, c->margin);
    lwi_monitor_add_known(monitor, &c->at, pivot, edge);
    c->due = t1;
    c->retreats = 0;
    if (!(c->failed && sine < STUCK * largest)) c->steps_near = 0;
    if (c->failed &&
        (sine > REACHED * WINDOW * largest || sine < AGAIN * c->failed_sine || t1 >= c->again))
        c->failed = false;
    c->known = t1, c->latest = next_attempt(c, t1), c->near = false;
    double after, window;
    if (c->steps_near++ > MAX_STEPS_NEAR) c->near = true, c->latest = t1;
    if (c->failed || !falls) return true;
    if (lwi_crossing_estimate(sim, x1, c->last.rate, &after, &window) && after > 0) {
        plan_step(c, t1, t1 + after, window);
        c->estimated = t1;
    }
    return true;
}

void lwi_sim_end_skipping(lw_sim *sim)
{
    if (sim->crossing.skipped) sim->monitor.count = 0; // its samples are from before
    sim->crossing.skipped = false;
}

double lwi_sim_bound(const lw_sim *sim, double t)
{
    const lwi_crossing *c = &sim->crossing;
    return c->known == t ? c->latest : INFINITY;
}

// ---------------------------------------------------------------------------------- the step across

// to := the state of the run at the motion gauss->moved, of which y is the state of the Gauss steps.
static bool enter_moved(lw_sim *sim, const double *y, double *to)
{
    const lwi_gauss *g = &sim->passage.gauss;
    lwi_work *work = sim->work;
    if (!g->own) {
        memcpy(to, y, (size_t)work->layout.nx * sizeof *y);
        return true;
    }
    work->resumed = true;
    const lw_status status = work->formulation->enter(work, &g->moved, to);
    work->resumed = false;
    return status == LW_OK;
}

bool lwi_sim_enter_path_end(lw_sim *sim, double t)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    if (!g->own && lwi_gauss_close(g, t, c->best.x1, c->end_x)) return true;
    if (!lwi_gauss_project(g, t, c->best.x1, sim->inputs, c->y)) return false;
    lwi_gauss_restore(g);
    return enter_moved(sim, c->y, c->end_x);
}

// Of n positions ahead one has remained, and no step across is accurate yet.
static bool one_is_left(const lw_sim *sim, int n, double limit)
{
    const lwi_crossing *c = &sim->crossing;
    return n > 1 && c->nahead == 1 && sim->t + 2 * c->ahead[0].after <= limit &&
           !(c->best.estimate <= lwi_crossing_enough(&sim->options));
}

static bool cross(lw_sim *sim, double limit)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    double D = c->position - sim->t, here, window;
    if (!observe(sim, sim->t, sim->x, LW_OBSERVE_TWIST, &c->at)) return false;
    const double rate = lwi_sine_rate(&sim->monitor.system, &c->at);
    const bool known = c->estimated == sim->t && c->ngroup == 1; // crossing.ahead too
    for (int k = 0; k < c->ngroup; k++) c->wanted[k] = !c->regular[k];
    if (!known && lwi_crossing_estimate(sim, sim->x, rate, &here, &window) && here > 0 &&
        fabs(here - D) > DIFFERENT * here && sim->t + 2 * here <= limit)
        D = here;
    if (g->own) g->work->mode = sim->work->mode;
    lwi_gauss_keep(g);
    c->best.estimate = INFINITY;
    c->best.npiece = 1;
    c->found = -INFINITY;
    bool found = !lwi_crossing_several(sim, D) &&
                 INNERMOST * c->last.sine > LWI_CROSSING_MIN_AT_NODE * lwi_crossing_typical(sim);
    if (found && !lwi_crossing_single(sim, D)) {
        const double after = lwi_crossing_find_middle(sim, D);
        found = after != D && sim->t + 2 * after <= limit && lwi_crossing_single(sim, after);
    }
    if (!found) {
        const int n = c->nahead;
        found = lwi_crossing_across_several(sim, rate, limit);
        if (one_is_left(sim, n, limit)) found |= lwi_crossing_single(sim, c->ahead[0].after);
    }
    const lwi_crossing_piece *last = &c->best.piece[c->best.npiece - 1];
    const double end = last->t + last->h;
    found = found && lwi_sim_enter_path_end(sim, end);
    lwi_gauss_restore(g);
    if (!found) return false;
    c->begin = sim->t, c->end = end;
    return true;
}

static void note(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    const lwi_crossing_path *p = &c->best;
    double first;
    passed_until(p, INFINITY, &first);
    if (c->count == 0) c->entry = first, c->edge = p->edge;
    c->count += p->npassed;
    c->estimate = fmax(c->estimate, p->estimate);
    c->gap = fmax(c->gap, p->gap);
}

void lwi_crossing_take_passed(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    c->stop = INFINITY;
    if (c->best.npassed == 0) return;
    if (sim->options.singular == LW_SINGULAR_STOP)
        passed_until(&c->best, INFINITY, &c->stop);
    else
        note(sim);
}

static lw_status stop_before(lw_sim *sim)
{
    const lwi_crossing_path *p = &sim->crossing.best;
    const lwi_system *s = &sim->monitor.system;
    lwi_singular_fail_stop(sim->model, s->edge_joint[p->edge], sim->crossing.stop,
                           p->sine * p->sine, "the run ends before it", &sim->work->error);
    lwi_sim_leave_crossing(sim);
    return lwi_sim_fail_work(sim, LW_ERR_SINGULAR, "the run stops");
}

// Ordinary steps get shorter and shorter in front of it.
static lw_status give_up(lw_sim *sim)
{
    const lwi_system *s = &sim->monitor.system;
    lwi_crossing *c = &sim->crossing;
    int edge;
    if (!observe(sim, sim->t, sim->x, LW_OBSERVE_POSE, &c->at)) return LW_OK;
    const double pivot = lwi_monitor_pivot(&sim->monitor, &c->at, &edge);
    lwi_singular_fail_pass(sim->model, s->edge_joint[edge], sim->t, pivot, MAX_STEPS_NEAR,
                           &sim->work->error);
    return lwi_sim_fail_work(sim, LW_ERR_SINGULAR, "the run stops");
}

lw_status lwi_sim_cross(lw_sim *sim, double limit)
{
    lwi_crossing *c = &sim->crossing;
    const double end = 2 * c->position - sim->t;
    c->near = false;
    c->latest = INFINITY;
    if (c->steps_near > MAX_STEPS_NEAR) return give_up(sim);
    // inputs may change after `limit`
    if (sim->model->desc.ninput == 0) limit = INFINITY;
    if (end > sim->t && end <= limit && cross(sim, limit)) {
        sim->monitor.count = 0; // the window is known
        c->margin = 0;
        c->margin_wanted = true;
        c->retreats = c->steps_near = 0;
        c->last.valid = false;
        lwi_crossing_take_passed(sim);
        return LW_OK;
    }
    c->failed = true;
    c->failed_sine = c->last.sine;
    const double first = c->nahead ? sim->t + c->ahead[0].after : c->position;
    c->again = sim->t + (1 - AGAIN) * (first - sim->t);
    // nearer no step keeps its nodes away: ordinary steps may pass.  At a standstill nothing is predicted
    if (c->last.rate > LWI_CROSSING_STANDSTILL &&
        !(AGAIN * c->failed_sine >
          LWI_CROSSING_LAST * LWI_CROSSING_MIN_AT_NODE * lwi_crossing_typical(sim)))
        c->again = INFINITY;
    if (c->again > sim->t) c->known = sim->t, c->latest = c->again;
    return LW_OK;
}

void lwi_sim_shift_rows(lw_sim *sim, bool on)
{
    const lwi_crossing *c = &sim->crossing;
    if (!c->active) return;
    const bool follows = on && sim->t < c->end && c->best.shifted;
    sim->passage.gauss.assembler->shift = follows ? c->best.shift : NULL;
}

// Smallest distance of the nodes of a step between two parts of a piece from positions, in lengths of the piece.
static double clearance(const lw_sim *sim, const lwi_crossing_piece *piece, double from, double to)
{
    const lwi_crossing *c = &sim->crossing;
    const lwi_gauss_rule *rule = &sim->passage.gauss.rule6;
    double smallest = INFINITY;
    for (int i = 0; i < rule->stages; i++) {
        const double s = from + rule->c[i] * (to - from);
        if (lwi_crossing_from_start(c))
            smallest = fmin(smallest, fabs(piece->t + s * piece->h - c->begin));
        for (int k = 0; k < c->best.npassed; k++)
            smallest = fmin(smallest, fabs(piece->t + s * piece->h - c->best.passed[k]));
    }
    return smallest / piece->h;
}

/** Steps from a part of a piece to another one: from an end, and where nodes are near positions by way of a part between. */
typedef struct detour {
    double from, by; ///< by = from: none
} detour;

// The one that keeps farthest from positions; false: none keeps away.
static bool find_detour(const lw_sim *sim, const lwi_crossing_piece *piece, double to, detour *best)
{
    enum { PARTS = 16 };
    double farthest = CLEAR;
    for (int from = 0; from < 2; from++) {
        const double distance = clearance(sim, piece, from, to);
        if (distance > farthest) farthest = distance, *best = (detour){from, from};
    }
    for (int i = 1; i < PARTS && farthest == CLEAR; i++) {
        const double by = (double)i / PARTS, behind = clearance(sim, piece, by, to);
        for (int from = 0; from < 2; from++)
            if (fmin(clearance(sim, piece, from, by), behind) > CLEAR)
                farthest = INFINITY, *best = (detour){from, by};
    }
    return farthest > CLEAR;
}

// crossing.y := the state at the part s of a piece of the path, by steps from an end x1 or x0.
static bool step_to(lw_sim *sim, const lwi_crossing_piece *piece, const double *x1, double s)
{
    lwi_gauss *g = &sim->passage.gauss;
    const size_t bytes = (size_t)g->work->layout.nx * sizeof *g->x;
    detour d;
    if (!(s > 0 && s < 1) || !find_detour(sim, piece, s, &d)) return false;
    memcpy(g->x, d.from > 0 ? x1 : piece->x0, bytes);
    if (d.by != d.from &&
        !lwi_gauss_part(g, piece->t, piece->h, piece->x0, piece->rate, d.from, d.by, sim->inputs))
        return false;
    if (!lwi_gauss_part(g, piece->t, piece->h, piece->x0, piece->rate, d.by, s, sim->inputs))
        return false;
    memcpy(sim->crossing.y, g->x, bytes);
    return true;
}

// crossing.y := the state at time t on the path, not yet on the constraints.  The polynomial of a piece has a lower order than the
// step: where it is not accurate enough the state comes from a step from either end.
static void find_on_path(lw_sim *sim, double t)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_crossing_path *path = &c->best;
    const int k = path->npiece > 1 && t > path->piece[0].t + path->piece[0].h;
    const lwi_crossing_piece *piece = &path->piece[k];
    const double *x1 = k + 1 < path->npiece ? path->piece[k + 1].x0 : path->x1;
    const double s = (t - piece->t) / piece->h;
    const double allowed = fmax(sim->options.rtol, sim->options.atol);
    const bool rough = !path->shifted && lwi_gauss_inside(g, piece->h, piece->rate) > allowed;
    if (!rough || !step_to(sim, piece, x1, s))
        lwi_gauss_polynomial(&g->rule6, g->work->layout.nx, piece->h, s, piece->x0, piece->rate,
                             c->y);
}

bool lwi_sim_place_on_path(lw_sim *sim, double t)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    lwi_gauss_keep(g);
    find_on_path(sim, t);
    lwi_sim_shift_rows(sim, true);
    const bool closed = !g->own && lwi_gauss_close(g, t, c->y, sim->x);
    const bool done = closed || lwi_gauss_project(g, t, c->y, sim->inputs, g->before);
    lwi_sim_shift_rows(sim, false);
    lwi_gauss_restore(g);
    return closed || (done && enter_moved(sim, g->before, sim->x));
}

bool lwi_sim_place_near(lw_sim *sim, double t)
{
    const lwi_crossing *c = &sim->crossing;
    const double h = c->end - c->begin;
    const double largest = lwi_crossing_from_start(c) ? MAX_ASIDE_OF_START : MAX_ASIDE;
    double aside = 0;
    while (!lwi_sim_place_on_path(sim, fmin(t + aside, c->end))) {
        aside = fmax(3 * aside, MIN_ASIDE * h);
        if (aside > largest * h) return false;
    }
    return true;
}

lw_status lwi_sim_follow_crossing(lw_sim *sim, double to)
{
    lwi_crossing *c = &sim->crossing;
    if (to >= c->stop) return stop_before(sim);
    if (to >= c->end) {
        memcpy(sim->x, c->end_x, (size_t)sim->work->layout.nx * sizeof *sim->x);
        sim->t = c->end;
        c->begin = c->end = -INFINITY;
        sim->pending = LWI_NEW_RATES;
        return LW_OK;
    }
    if (!lwi_sim_place_near(sim, to))
        return lwi_sim_fail_work(sim, LW_ERR_SINGULAR, "the step across a singular position");
    sim->t = to;
    return LW_OK;
}

void lwi_crossing_message(const lw_sim *sim, char *text, size_t size)
{
    const lwi_crossing *c = &sim->crossing;
    const lwi_system *s = &sim->monitor.system;
    char which[320];
    double first;
    long count = c->count;
    if (sim->t < c->end) // the run ends within a step across
        count -= c->best.npassed - passed_until(&c->best, sim->t, &first);
    text[0] = 0;
    if (!c->active || count <= 0) return;
    lwi_singular_names(sim->model, s->edge_joint[c->edge], which, sizeof which);
    snprintf(text, size,
             "passed %ld singular position%s straight on, first at t = %.6g s: there the "
             "constraints of %s depend on each other (error estimate %.0e, gap %.0e m)",
             count, count > 1 ? "s" : "", c->entry, which, c->estimate,
             c->gap * sim->passage.gauss.assembler->length);
}
