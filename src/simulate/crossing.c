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
#include "simulate/simulation.h"

#include "base/assert.h"
#include "system/singular.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Sines relative to the largest of the run: where windows begin, the factor within which they are reached, and the
// smallest one at a node.
#define WINDOW LWI_CROSSING_WINDOW
#define REACHED 1.3
#define MIN_AT_NODE 0.01
// Distance of the innermost nodes of the step of order 12 from its middle.
#define INNERMOST 0.238619
// Sine below which its rate is computed, and one that need not be searched for between the ends of a step.
#define CLOSE 0.25
// A step came too near below this part of WINDOW.
#define TOO_NEAR 0.5
// Minima of the sine above this part of the current sine are no singular position.
#define TURNS LWI_CROSSING_TURNS
// Motion, in radians or lengths of the mechanism: over which the rate of the sine is measured, the same where the rates over
// both differ by more than a part, one between them that decides which, between samples within a step, and the largest
// one to the position.
#define TRIAL 0.01
#define WIDE_TRIAL 0.2
#define MIDDLE_TRIAL 0.04
#define SMOOTH 0.3
#define APART 0.1
#define FARTHEST LWI_CROSSING_FARTHEST
enum { MAX_PIECES = LWI_CROSSING_PIECES, MAX_RETREATS = 3 };
// The estimated error, in tolerances, that ends the attempts, but at smallest ENOUGH; the largest one that is accepted,
// but at smallest ACCEPTED; the largest gap, in lengths.
#define SHARE 0.1
#define ENOUGH 1e-11
#define ACCEPTED 1e-8
#define LARGEST_GAP LWI_CROSSING_LARGEST_GAP
// A gap of round-off, in lengths; the largest difference of both steps, relative to one radian, length or the speeds.
#define NO_GAP LWI_CROSSING_NO_GAP
#define LARGEST_DIFFERENCE LWI_CROSSING_LARGEST_DIFFERENCE
// Distance of the position from the middle of a step, relative to its length, above which another one is computed.
#define OFF_MIDDLE 0.1
// Difference of two predictions of the time to a position, in that at the beginning of the step across, which is used then.
#define DIFFERENT 0.3
// Points at which a step across is searched for its position.
enum { POINTS = 13 };
#define FIRST_POINT 0.1
#define POINTS_APART ((1 - 2 * FIRST_POINT) / (POINTS - 1))
// Rows are shifted by the gap up to so many times, until the shift changes by this part of the mechanism's length.  Near
// the gap the polynomial on rows without a shift is a rough one.
enum { SHIFTS = 4 };
#define SAME_SHIFT 1e-12
#define LARGEST_SHIFT 1e-6
// A failed attempt is repeated where the sine has fallen to this part.
#define AGAIN 0.6
// Distance in time of a row at the position from the state that it has, relative to that across.
#define MIN_ASIDE 1e-9
#define MAX_ASIDE 1e-4
#define MAX_ASIDE_OF_START 0.03 // from rest it is squared
// If the mechanism has barely moved, the interval to the next evaluation grows by this factor.
#define LATER 2
// Largest decrease of sines per radian; 0.6 to 0.8 was measured.
#define SLOPE 0.8

// Margins (formulation.h) change by at most one per radian of a joint, so margins at both ends of a step exclude a
// singular position within it if no coordinate changes by more than this part of them [rad, m].
#define SHORT 0.5
// The sine itself is not computed where margins are above SAFE, or above SMALL and FALLEN times that of the last state
// examined, if the sine there was above FAR of the largest of the run.  It is where the margin has GROWN by this factor: the
// largest sine of the run is needed.
#define SAFE 0.6
#define SMALL 0.1
#define FALLEN 0.6
#define FAR 0.5
#define GROWN 1.5

// ------------------------------------------------------------------------------------------ create

static lw_status create_piece(lw_sim *sim, int nx, lwi_crossing_piece *piece)
{
    piece->x0 = LWI_PUSH(&sim->arena, double, nx);
    piece->rate = LWI_PUSH(&sim->arena, double, LWI_GAUSS_STAGES *nx);
    return piece->x0 && piece->rate ? LW_OK : LW_ERR_MEMORY;
}

lw_status lwi_sim_prepare_crossing(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    lwi_arena *arena = &sim->arena;
    const lwi_gauss *g = &sim->passage.gauss;
    *c = (lwi_crossing){
        .begin = -INFINITY, .end = -INFINITY, .latest = INFINITY, .outside = -INFINITY};
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
    if (!c->path.x1 || !c->best.x1 || !c->y || !c->end_x) return LW_ERR_MEMORY;
    c->active = true;
    return LW_OK;
}

void lwi_sim_leave_crossing(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    c->begin = c->end = c->outside = -INFINITY;
    c->latest = INFINITY;
    c->near = c->failed = c->last.valid = false;
    c->margin = 0;
    c->retreats = 0;
}

// ----------------------------------------------------------------------------------------- position ahead

static double typical(const lw_sim *sim)
{
    return lwi_crossing_typical(sim);
}

double lwi_crossing_typical(const lw_sim *sim)
{
    return fmax(sqrt(sim->monitor.largest), sim->crossing.last.valid ? sim->crossing.last.sine : 0);
}

static bool observe(lw_sim *sim, double t, const double *x, lw_observe level, lwi_snapshot *m)
{
    m->t = t;
    return sim->work->formulation->observe(sim->work, t, x, sim->inputs, level, m) == LW_OK;
}

// to := the pivots of all groups of loops at the motion with that sine, which was computed last.
static void take_pivots(const lw_sim *sim, double sine, double *to)
{
    const lwi_monitor *monitor = &sim->monitor;
    if (monitor->ngroup)
        memcpy(to, monitor->here, (size_t)monitor->ngroup * sizeof *to);
    else
        to[0] = sine * sine;
}

// Pivot p, squared sine, and its derivatives in time at a motion.
typedef struct parabola {
    double p, slope, bend;
} parabola;

// Pivots at motions to both sides: to[0 ... n - 1] before, to[n ... 2 n - 1] after.
static void take_both_sides(lw_sim *sim, const lwi_snapshot *m, const double *x, double dt,
                            double *to)
{
    lwi_gauss *g = &sim->passage.gauss;
    for (int i = 0; i < 2; i++) {
        lwi_gauss_glide(g, m, x, (2 * i - 1) * dt, sim->inputs);
        take_pivots(sim, lwi_sine_at(&sim->monitor, &g->moved), to + i * sim->crossing.ngroup);
    }
}

static parabola parabola_of(double before, double middle, double after, double dt)
{
    return (parabola){middle, (after - before) / (2 * dt),
                      (before - 2 * middle + after) / (dt * dt)};
}

static double lowest_of(const parabola *at)
{
    return at->bend > 0 ? at->p - at->slope * at->slope / (2 * at->bend) : 0;
}

static const double trials[] = {WIDE_TRIAL, TRIAL, MIDDLE_TRIAL};

// Of a group, from pivots at motions of a trial.
static parabola of_trial(const lwi_crossing *c, int group, int trial, double rate)
{
    const double *before = c->pivot + c->ngroup * (1 + 2 * trial);
    return parabola_of(before[group], c->pivot[group], before[c->ngroup + group],
                       trials[trial] / rate);
}

static bool agree(const parabola *a, const parabola *b)
{
    return !(fabs(a->slope - b->slope) > SMOOTH * fabs(b->slope));
}

// The position next to a motion, from pivots near it and farther away.
// Where two pivots are nearly equal round-off chooses between them, and the next ones have steps of some percent, more than
// a short motion changes them: then those farther away are taken.  But loops with small sines differ over a wide motion
// from what they do near it; those are smooth up to the motion between both.
static bool find_zero(const lw_sim *sim, const parabola *at, const parabola *wide, double rate,
                      lwi_crossing_ahead *to)
{
    if (at->slope == 0) return false;
    const double p = at->p, lowest = fmin(lowest_of(at), lowest_of(wide));
    to->after = -2 * p / at->slope; // s / (ds/dt)
    to->window = WINDOW * typical(sim) / sqrt(p) * fabs(to->after);
    return lowest < TURNS * p && fabs(to->after) * rate <= FARTHEST;
}

// crossing->ahead := the positions close to a motion, the state x of the run, one of each group of loops that is wanted:
// the time to it, negative if the sine rises, and the window, half its width in time.  Not those where the minimum of the
// sine is no singular position.  Pivots, squares of sines, are parabolas near their minimum.
static void estimate_positions(lw_sim *sim, const lwi_snapshot *m, const double *x, double rate)
{
    lwi_gauss *g = &sim->passage.gauss;
    lwi_crossing *c = &sim->crossing;
    const int n = c->ngroup;
    double *here = c->pivot, *sides = here + n;
    bool known = false; // pivots of the middle trial
    c->nahead = 0;
    if (!(rate > 0)) return;
    take_pivots(sim, lwi_sine_at(&sim->monitor, m), here);
    lwi_gauss_keep(g);
    for (int i = 0; i < 2; i++) take_both_sides(sim, m, x, trials[i] / rate, sides + 2 * n * i);
    for (int k = 0; k < n; k++) {
        if (!c->wanted[k]) continue;
        parabola wide = of_trial(c, k, 0, rate), at = of_trial(c, k, 1, rate);
        if (!agree(&at, &wide)) {
            if (!known) take_both_sides(sim, m, x, trials[2] / rate, sides + 4 * n);
            known = true;
            const parabola middle = of_trial(c, k, 2, rate);
            if (agree(&at, &middle))
                wide = middle;
            else
                at = wide;
        }
        c->ahead[c->nahead].group = k;
        c->nahead += find_zero(sim, &at, &wide, rate, &c->ahead[c->nahead]);
    }
    lwi_gauss_restore(g);
}

// The same: the position with the window that begins first.
static bool estimate_position(lw_sim *sim, const lwi_snapshot *m, const double *x, double rate,
                              double *after, double *window)
{
    const lwi_crossing *c = &sim->crossing;
    double first = INFINITY;
    estimate_positions(sim, m, x, rate);
    for (int i = 0; i < c->nahead; i++) {
        const lwi_crossing_ahead *a = &c->ahead[i];
        if (!(a->after - a->window < first)) continue;
        *after = a->after, *window = a->window, first = a->after - a->window;
    }
    return first < INFINITY;
}

// ------------------------------------------------------------------------------------ within a step

// The minimum of the sine of a group within a step that is longer than APART, between c->from and c->at.
typedef struct dip {
    bool found;
    int group;
    double t, sine; // of the minimum, by a parabola through pivots
    double slope;   // of the sine next to it [1/s]
    double sampled; // smallest sample
} dip;

static double sample_time(const lwi_crossing *c, int i, int n)
{
    const double t0 = c->from.t, t1 = c->at.t;
    return i < n ? t0 + i * (t1 - t0) / n : t1;
}

// Pivots of all groups at n + 1 times.
static void sample_step(lw_sim *sim, int n)
{
    lwi_crossing *c = &sim->crossing;
    lwi_monitor *monitor = &sim->monitor;
    int edge;
    take_pivots(sim, lwi_sine_at(monitor, &c->from), c->sample);
    lwi_monitor_set_piece(monitor, &c->from, &c->at);
    for (int i = 1; i < n; i++) {
        const double pivot = lwi_monitor_piece_pivot(monitor, sample_time(c, i, n), &edge);
        double *to = c->sample + i * c->ngroup;
        take_pivots(sim, 0, to);
        if (!monitor->ngroup) to[0] = pivot;
    }
    take_pivots(sim, lwi_sine_at(monitor, &c->at), c->sample + n * c->ngroup);
}

static dip dip_of(const lwi_crossing *c, int group, int n)
{
    dip best = {.sampled = INFINITY, .group = group};
    for (int i = 2; i <= n; i++) {
        double t[3], p[3];
        for (int k = 0; k < 3; k++) {
            t[k] = sample_time(c, i - 2 + k, n);
            p[k] = c->sample[(i - 2 + k) * c->ngroup + group];
        }
        if (p[1] <= p[0] && p[1] < p[2] && sqrt(p[1]) < best.sampled) {
            const double h = t[2] - t[1], bend = (p[0] - 2 * p[1] + p[2]) / (h * h);
            const double slope = (p[2] - p[0]) / (2 * h);
            best.found = true;
            best.sampled = sqrt(p[1]);
            best.t = t[1] - slope / bend;
            best.sine = sqrt(fmax(0, p[1] - slope * slope / (2 * bend)));
            best.slope = sqrt(bend / 2); // of s where it reaches zero
        }
    }
    return best;
}

// The first one with a small sine.
static dip find_dip(lw_sim *sim, double moved, double largest)
{
    lwi_crossing *c = &sim->crossing;
    const int n = (int)fmin(fmax(2, ceil(moved / APART)), MAX_PIECES);
    dip best = {.sampled = INFINITY};
    sample_step(sim, n);
    for (int k = 0; k < c->ngroup; k++) {
        const dip d = dip_of(c, k, n);
        const bool small = d.found && d.sampled < CLOSE * largest;
        if (small && (!best.found || d.t < best.t)) best = d;
    }
    return best;
}

// Newton's steps of the position from the samples next to it: the parabola's error decreases with its width.
static void refine(lw_sim *sim, dip *d)
{
    const lwi_crossing *c = &sim->crossing;
    lwi_monitor *monitor = &sim->monitor;
    for (int i = 0; i < 3; i++) {
        const double h = 0.3 * WINDOW * typical(sim) / d->slope;
        double p[3];
        int edge;
        if (!(d->t - h > c->from.t && d->t + h < c->at.t)) return;
        for (int k = 0; k < 3; k++) {
            p[k] = lwi_monitor_piece_pivot(monitor, d->t + (k - 1) * h, &edge);
            if (monitor->ngroup) p[k] = monitor->here[d->group];
        }
        const double bend = (p[0] - 2 * p[1] + p[2]) / (h * h), slope = (p[2] - p[0]) / (2 * h);
        if (!(bend > 0)) return;
        d->sine = sqrt(fmax(0, p[1] - slope * slope / (2 * bend)));
        d->slope = sqrt(bend / 2);
        d->t = fmin(fmax(d->t - slope / bend, c->from.t), c->at.t);
    }
}

// Groups with a sine that falls to the end of a step, where it is below `allowed`.
static bool want_falling(lwi_crossing *c, double allowed)
{
    bool any = false;
    for (int k = 0; k < c->ngroup; k++) {
        c->wanted[k] = sqrt(c->at_pivot[k]) < allowed && !(c->at_pivot[k] > c->last_pivot[k]);
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
        if (0.5 * (c->last.sine + sine - SLOPE * since) > allowed) return false;
    }
    if (!observe(sim, t0, x0, LW_OBSERVE_TWIST, &c->from)) return false;
    lwi_sine_take(s, &c->from, 0, &c->last);
    const double rate = fmax(c->last.rate, lwi_sine_rate(s, &c->at));
    const double moved = lwi_sine_motion(s, &c->last, &c->at, rate);
    if (0.5 * (sine - SLOPE * moved) > allowed) return false; // for any sine there
    const double begin = c->last.sine = lwi_sine_at(&sim->monitor, &c->from);
    take_pivots(sim, begin, c->last_pivot);
    if (0.5 * (begin + sine - SLOPE * moved) > allowed) return false;
    dip d = find_dip(sim, moved, largest);
    double position, window;
    if (d.found) {
        refine(sim, &d);
        if (!(d.sine < TURNS * WINDOW * largest)) return false;
        position = d.t, window = WINDOW * largest / d.slope;
    } else { // it falls to the end, or nearly
        double after;
        if (!want_falling(c, allowed)) return false;
        if (!estimate_position(sim, &c->at, x1, lwi_sine_rate(s, &c->at), &after, &window))
            return false;
        position = c->at.t + after;
    }
    if (!(position > t0)) return false;
    c->retreats++;
    plan_step(c, t0, position, window);
    return true;
}

// Sines decrease by at most SLOPE per radian: has the motion since the last sample been too short to reach a window?
static bool is_far(lwi_crossing *c, const lwi_system *s, double largest)
{
    if (!c->last.valid || !(c->at.t > c->last.t)) return false;
    const double room = c->last.sine - WINDOW * largest, h = c->at.t - c->last.t;
    const double moved = lwi_sine_motion(s, &c->last, &c->at, c->last.rate);
    if (!(SLOPE * moved < room)) return false;
    // at the present acceleration
    c->due = c->last.t + h * fmin(LATER, 0.9 * sqrt(room / (SLOPE * moved)));
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

// Do the margins of evaluations exclude that the step comes near a singular position?  Notes that at its end.
static bool is_safe(lw_sim *sim, double t0, const double *x0, double t1, const double *x1)
{
    lwi_crossing *c = &sim->crossing;
    const double before = t0 == c->margin_time ? c->margin : 0, sampled = c->sampled_margin;
    c->margin = lwi_work_margin(sim->work, x1);
    c->margin_time = t1;
    const double lower = fmin(before, c->margin);
    if (sim->monitor.count == 0 || !c->last.valid || c->margin > GROWN * sampled) return false;
    const bool still =
        lower >= SMALL && c->margin >= FALLEN * sampled && c->last.sine >= FAR * typical(sim);
    return (lower >= SAFE || still) && change_of(&sim->work->layout, x0, x1) <= SHORT * lower;
}

// The sine where a step begins, of which that of a state that was set, or sampled, is known.
static void begin_sine(lw_sim *sim, double t0, const double *x0)
{
    lwi_crossing *c = &sim->crossing;
    lwi_monitor *monitor = &sim->monitor;
    if (c->last.valid || !observe(sim, t0, x0, LW_OBSERVE_TWIST, &c->from)) return;
    const lwi_monitor_sample *sample = monitor->count ? &monitor->sample[monitor->count - 1] : NULL;
    const bool known = sample && sample->t == t0 && monitor->ngroup == 0;
    const double sine = known ? sqrt(sample->pivot) : lwi_sine_at(monitor, &c->from);
    take_pivots(sim, sine, c->last_pivot);
    lwi_sine_take(&monitor->system, &c->from, sine, &c->last);
}

bool lwi_sim_accept(lw_sim *sim, double t0, const double *x0, double t1, const double *x1,
                    double *end)
{
    lwi_crossing *c = &sim->crossing;
    lwi_monitor *monitor = &sim->monitor;
    const lwi_system *s = &monitor->system;
    const bool poses = sim->work->formulation->flags & LWI_POSES_FIRST;
    c->known = t1, c->latest = INFINITY, c->near = false;
    begin_sine(sim, t0, x0);
    if (is_safe(sim, t0, x0, t1, x1)) {
        c->skipped = true;
        c->outside = t1;
        return true;
    }
    if (c->last.valid && t0 >= c->last.t && t1 < c->due) return true;
    if (!observe(sim, t1, x1, poses ? LW_OBSERVE_POSE : LW_OBSERVE_TWIST, &c->at)) return true;
    const double largest = typical(sim);
    if (is_far(c, s, largest)) {
        c->outside = t1;
        return true;
    }
    if (poses && !observe(sim, t1, x1, LW_OBSERVE_TWIST, &c->at)) return true;
    int edge = 0;
    const double pivot = lwi_monitor_pivot(monitor, &c->at, &edge), sine = sqrt(pivot);
    take_pivots(sim, sine, c->at_pivot);
    if (retreats(sim, t0, x0, x1, sine, largest)) {
        *end = c->latest;
        return false;
    }
    const bool falls = c->last.valid && want_falling(c, CLOSE * largest);
    memcpy(c->last_pivot, c->at_pivot, (size_t)c->ngroup * sizeof *c->at_pivot);
    lwi_sine_take(s, &c->at, sine, &c->last);
    lwi_sim_end_skipping(sim);
    c->sampled_margin = c->margin;
    lwi_monitor_add_known(monitor, &c->at, pivot, edge);
    c->due = t1;
    c->known = t1, c->latest = INFINITY, c->near = false;
    c->retreats = 0;
    if (c->failed && (sine > REACHED * WINDOW * largest || sine < AGAIN * c->failed_sine))
        c->failed = false;
    double after, window;
    if (c->failed || !falls) return true;
    if (estimate_position(sim, &c->at, x1, c->last.rate, &after, &window) && after > 0) {
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

// Largest difference of two states: coordinates, and speeds relative to the largest one.
static double difference(const lwi_layout *layout, const double *a, const double *b)
{
    double largest = 0, speed = 0, apart = 0;
    for (int i = 0; i < layout->nblock; i++) {
        const lwi_block *block = &layout->block[i];
        for (int k = block->first; k < block->first + block->n; k++) {
            const double d = fabs(a[k] - b[k]);
            if (block->kind == LWI_SPEED)
                apart = fmax(apart, d), speed = fmax(speed, fabs(a[k]));
            else if (block->kind != LWI_WORK)
                largest = fmax(largest, d);
        }
    }
    return fmax(largest, speed > 0 ? apart / speed : 0);
}

// Sines at the nodes of the last step, the smallest one and the edge there: at the position itself all rows that depend on
// each other have pivots of round-off.  path->node = 0: unknown
static void find_at_nodes(lw_sim *sim, double t, double h, lwi_crossing_path *path)
{
    lwi_gauss *g = &sim->passage.gauss;
    const int nx = g->work->layout.nx;
    path->node = INFINITY;
    memset(path->sine_at, 0, sizeof path->sine_at);
    for (int i = 0; i < g->rule6.stages && path->node > 0; i++) {
        g->node.t = t + g->rule6.c[i] * h;
        const bool known =
            g->work->formulation->observe(g->work, g->node.t, g->stage + i * nx, sim->inputs,
                                          LW_OBSERVE_POSE, &g->node) == LW_OK;
        const double sine = known ? lwi_sine_at(&sim->monitor, &g->node) : 0;
        path->sine_at[i] = sine;
        take_pivots(sim, sine, sim->crossing.at_node + i * sim->crossing.ngroup);
        if (sine < path->node) path->node = sine, path->edge = sim->monitor.seen.edge;
    }
}

static void keep_piece(lwi_gauss *g, double t, double h, lwi_crossing_piece *piece)
{
    const size_t n = (size_t)g->work->layout.nx;
    piece->t = t, piece->h = h;
    memcpy(piece->rate, g->rate, LWI_GAUSS_STAGES * n * sizeof *g->rate);
}

// State and sine of the polynomial at a part s of the piece; *residual of positions, not divided by lengths.
bool lwi_crossing_sine(lw_sim *sim, const lwi_crossing_piece *piece, double s, double *sine)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const double t = piece->t + s * piece->h;
    lwi_gauss_polynomial(&g->rule6, g->work->layout.nx, piece->h, s, piece->x0, piece->rate, c->y);
    g->node.t = t;
    // velocities may not exist there
    if (g->work->formulation->observe(g->work, t, c->y, sim->inputs, LW_OBSERVE_POSE, &g->node) !=
        LW_OK)
        return false;
    *sine = lwi_sine_at(&sim->monitor, &g->node);
    return true;
}

// The part of the last piece at which the parabola through the pivots of the smallest node and its neighbours is smallest;
// false: none is.
static bool find_between_nodes(const lwi_gauss_rule *rule, const lwi_crossing_path *path,
                               double *at)
{
    int k = 1;
    for (int i = 1; i < rule->stages - 1; i++)
        if (path->sine_at[i] < path->sine_at[k]) k = i;
    double p[3], s[3];
    for (int i = 0; i < 3; i++)
        s[i] = rule->c[k - 1 + i], p[i] = path->sine_at[k - 1 + i] * path->sine_at[k - 1 + i];
    if (!(p[1] <= p[0] && p[1] <= p[2])) return false;
    const double below = (p[1] - p[0]) / (s[1] - s[0]), above = (p[2] - p[1]) / (s[2] - s[1]);
    const double bend = (above - below) / (s[2] - s[0]);
    if (!(bend > 0)) return false;
    *at = 0.5 * (s[0] + s[1] - below / bend);
    return true;
}

bool lwi_crossing_narrow(lw_sim *sim, const lwi_crossing_piece *piece, int group, int from,
                         double *at)
{
    enum { NARROWED = 3 };
    double h = POINTS_APART, sine;
    for (int k = from; k < NARROWED; k++, h *= 0.1) {
        double p[3];
        for (int i = 0; i < 3; i++) {
            if (!lwi_crossing_sine(sim, piece, *at + (i - 1) * h, &sine)) return false;
            p[i] = group < 0 ? sine * sine : sim->monitor.here[group];
        }
        const double bend = p[0] - 2 * p[1] + p[2];
        if (!(bend > 0)) break;
        *at += fmin(fmax(0.5 * h * (p[0] - p[2]) / bend, -h), h);
    }
    return true;
}

// Part of the last piece at which the sine of the polynomial is smallest: samples, then parabolas through pivots, which
// narrow.
static bool find_position(lw_sim *sim, const lwi_crossing_path *path, double *at)
{
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    double smallest = INFINITY, sine;
    const bool known = find_between_nodes(&sim->passage.gauss.rule6, path, at);
    for (int i = 0; i < POINTS && !known; i++) {
        const double s = FIRST_POINT + i * POINTS_APART;
        if (!lwi_crossing_sine(sim, piece, s, &sine)) return false;
        if (sine < smallest) smallest = sine, *at = s;
    }
    return lwi_crossing_narrow(sim, piece, -1, known, at);
}

// The position on the path, the sine there, and the gap: the residual of the polynomial.
static bool find_gap(lw_sim *sim, lwi_crossing_path *path)
{
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    double at = 0.5;
    if (!find_position(sim, path, &at) || !lwi_crossing_sine(sim, piece, at, &path->sine))
        return false;
    path->position = piece->t + at * piece->h;
    path->npassed = 1;
    lwi_sim_take_motion(g->assembler, &g->node);
    path->gap = lwi_assembler_residual(g->assembler, false, NULL) / g->assembler->length;
    return true;
}

bool lwi_sim_attempt_path(lw_sim *sim, double offset, double h)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    lwi_crossing_path *path = &c->path;
    const int nx = g->work->layout.nx;
    const size_t bytes = (size_t)nx * sizeof *g->x;
    const lwi_snapshot *m = &c->at;
    path->npiece = offset > 0 ? 2 : 1;
    const bool here = !c->first && !g->own && lwi_gauss_close(g, m->t, sim->x, g->x);
    if (!here && !lwi_gauss_enter(g, c->first ? c->first : m, 0, g->x)) return false;
    if (offset > 0) {
        memcpy(path->piece[0].x0, g->x, bytes);
        const bool begins = !c->first && lwi_gauss_begin(g, m->t, g->x, sim->inputs);
        if (!lwi_gauss_step(g, &g->rule6, begins ? &g->rule1 : NULL, m, 0, offset, sim->inputs))
            return false;
        keep_piece(g, m->t, offset, &path->piece[0]);
        c->from.t = m->t + offset;
        if (g->work->formulation->observe(g->work, c->from.t, g->x, sim->inputs, LW_OBSERVE_TWIST,
                                          &c->from) != LW_OK)
            return false;
        m = &c->from;
    }
    lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    memcpy(piece->x0, g->x, bytes);
    g->assembler->shift = path->shifted ? path->shift : NULL;
    // at a start no rates are known
    const bool begins = !c->first && lwi_gauss_begin(g, m->t, g->x, sim->inputs);
    if (!lwi_gauss_step(g, &g->rule4, begins ? &g->rule1 : NULL, m, 0, h, sim->inputs))
        return false;
    memcpy(c->y, g->x, bytes);
    memcpy(g->x, piece->x0, bytes);
    if (!lwi_gauss_step(g, &g->rule6, &g->rule4, m, 0, h, sim->inputs)) return false;
    keep_piece(g, m->t, h, piece);
    path->estimate = difference(&g->work->layout, c->y, g->x);
    memcpy(path->x1, g->x, bytes);
    find_at_nodes(sim, m->t, h, path);
    return true;
}

void lwi_crossing_keep_path(lwi_crossing *c)
{
    const lwi_crossing_path path = c->best;
    c->best = c->path;
    c->path = path;
}

bool lwi_crossing_try_path(lw_sim *sim, double offset, double h)
{
    lwi_gauss *g = &sim->passage.gauss;
    const bool done = lwi_sim_attempt_path(sim, offset, h);
    g->assembler->shift = NULL;
    return done && sim->crossing.path.node > MIN_AT_NODE * typical(sim);
}

// The error that ends the attempts, and the largest one that is accepted.
double lwi_crossing_enough(const lw_options *o)
{
    return fmax(SHARE * fmax(o->rtol, o->atol), ENOUGH);
}
double lwi_crossing_accepted(const lw_options *o)
{
    return fmax(fmax(o->rtol, o->atol), ACCEPTED);
}

// Without a gap the difference of both steps is that of the shorter rule, with an error of order nine; that of the longer
// one is thirteen.
double lwi_crossing_longer(double estimate)
{
    return pow(estimate, 13. / 9);
}

// Polynomials of long steps have residuals by themselves: shorter steps show whether there is a gap.
static bool keep_if_better(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    lwi_crossing_path *path = &c->path;
    if (!(path->estimate < LARGEST_DIFFERENCE)) return false;
    if (!find_gap(sim, path) || !(path->gap <= LARGEST_GAP)) return false;
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    if (fabs(path->position - (piece->t + 0.5 * piece->h)) > OFF_MIDDLE * piece->h) {
        c->found = path->position;
        return false;
    }
    if (path->gap <= NO_GAP) path->estimate = lwi_crossing_longer(path->estimate);
    if (!(path->estimate < fmin(lwi_crossing_accepted(&sim->options), c->best.estimate)))
        return false;
    lwi_crossing_keep_path(c);
    return true;
}

// Links with a gap have no crossing, and a step over their bend is a rough one.  On rows that are shifted by the gap there
// is one.
static bool find_shifted_path(lw_sim *sim, double offset, double h)
{
    lwi_crossing *c = &sim->crossing;
    lwi_assembler *a = sim->passage.gauss.assembler;
    double last = INFINITY;
    for (int k = 0; k <= SHIFTS; k++) {
        lwi_crossing_path *path = &c->path;
        if (!find_gap(sim, path) || !(path->gap <= LARGEST_SHIFT)) return false;
        if (path->shifted && fabs(path->gap - last) <= SAME_SHIFT) return keep_if_better(sim);
        last = path->gap;
        // the residuals are those of the position
        memcpy(path->shift, a->residual, (size_t)a->nrow * sizeof *path->shift);
        path->shifted = true;
        if (!lwi_crossing_try_path(sim, offset, h)) return false;
    }
    return keep_if_better(sim);
}

// A step from here shows where the position is, or a shorter one did: the time to it; D: none does.
static double find_middle(lw_sim *sim, double D)
{
    lwi_crossing *c = &sim->crossing;
    c->path.shifted = false;
    const bool done = lwi_sim_attempt_path(sim, 0, 2 * D) && find_gap(sim, &c->path);
    const double after = (done ? c->path.position : c->found) - sim->t;
    return after > 0 ? after : D;
}

// The best path across a position at D from the present time.
static bool find_path(lw_sim *sim, double D)
{
    static const double shrinks[] = {1, 0.6, 0.36, 0.2, 0.1};
    lwi_crossing *c = &sim->crossing;
    for (int shifted = 0; shifted < 2 && !(c->best.estimate < INFINITY); shifted++)
        for (int i = 0; i < LWI_COUNT(shrinks); i++) {
            c->path.shifted = false;
            c->path.node = INFINITY;
            const double offset = D * (1 - shrinks[i]), h = 2 * D * shrinks[i];
            const bool done = lwi_crossing_try_path(sim, offset, h);
            if (!(c->path.node > MIN_AT_NODE * typical(sim))) break;
            if (!done) continue;
            if (!(shifted ? find_shifted_path(sim, offset, h) : keep_if_better(sim))) continue;
            if (c->best.estimate <= lwi_crossing_enough(&sim->options)) break;
        }
    return c->best.estimate < INFINITY;
}

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
    if (!lwi_gauss_project(g, t, c->best.x1, sim->inputs, c->y)) return false;
    lwi_gauss_restore(g);
    return enter_moved(sim, c->y, c->end_x);
}

static bool cross(lw_sim *sim, double limit)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    double D = c->position - sim->t, here, window;
    if (!observe(sim, sim->t, sim->x, LW_OBSERVE_TWIST, &c->at)) return false;
    const double rate = lwi_sine_rate(&sim->monitor.system, &c->at);
    const bool known = c->estimated == sim->t && c->ngroup == 1; // crossing.ahead too
    for (int k = 0; k < c->ngroup; k++) c->wanted[k] = true;
    if (!known && estimate_position(sim, &c->at, sim->x, rate, &here, &window) && here > 0 &&
        fabs(here - D) > DIFFERENT * here && sim->t + 2 * here <= limit)
        D = here;
    if (g->own) g->work->mode = sim->work->mode;
    lwi_gauss_keep(g);
    c->best.estimate = INFINITY;
    c->best.npiece = 1;
    c->found = -INFINITY;
    bool found =
        !lwi_crossing_several(sim, D) && INNERMOST * c->last.sine > MIN_AT_NODE * typical(sim);
    if (found && !find_path(sim, D)) {
        const double after = find_middle(sim, D);
        found = after != D && sim->t + 2 * after <= limit && find_path(sim, after);
    }
    if (!found) found = lwi_crossing_find_path(sim, rate, limit);
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
    if (c->count == 0) c->entry = p->position, c->edge = p->edge;
    c->count += p->npassed;
    c->estimate = fmax(c->estimate, p->estimate);
    c->gap = fmax(c->gap, p->gap);
}

static lw_status stop_before(lw_sim *sim)
{
    const lwi_crossing_path *p = &sim->crossing.best;
    const lwi_system *s = &sim->monitor.system;
    lwi_singular_fail_stop(sim->model, s->edge_joint[p->edge], p->position, p->sine * p->sine,
                           "the run ends before it", &sim->work->error);
    lwi_sim_leave_crossing(sim);
    return lwi_sim_fail_work(sim, LW_ERR_SINGULAR, "the run stops");
}

lw_status lwi_sim_cross(lw_sim *sim, double limit)
{
    lwi_crossing *c = &sim->crossing;
    const double end = 2 * c->position - sim->t;
    c->near = false;
    c->latest = INFINITY;
    // inputs may change after `limit`
    if (sim->model->desc.ninput == 0) limit = INFINITY;
    if (end > sim->t && end <= limit && cross(sim, limit)) {
        const lwi_crossing_path *p = &c->best;
        sim->monitor.count = 0; // the window is known
        c->margin = 0;
        c->last.valid = false;
        if (!(p->sine * p->sine < LWI_MONITOR_NEAR * sim->monitor.largest)) return LW_OK;
        if (sim->options.singular == LW_SINGULAR_STOP) return stop_before(sim);
        note(sim);
        return LW_OK;
    }
    c->failed = true;
    c->failed_sine = c->last.sine;
    return LW_OK;
}

void lwi_sim_shift_rows(lw_sim *sim, bool on)
{
    const lwi_crossing *c = &sim->crossing;
    if (!c->active) return;
    const bool follows = on && sim->t < c->end && c->best.shifted;
    sim->passage.gauss.assembler->shift = follows ? c->best.shift : NULL;
}

bool lwi_sim_place_on_path(lw_sim *sim, double t)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_crossing_piece *piece = c->best.piece;
    if (c->best.npiece > 1 && t > piece->t + piece->h) piece++;
    lwi_gauss_polynomial(&g->rule6, g->work->layout.nx, piece->h, (t - piece->t) / piece->h,
                         piece->x0, piece->rate, c->y);
    lwi_gauss_keep(g);
    lwi_sim_shift_rows(sim, true);
    const bool closed = !g->own && lwi_gauss_close(g, t, c->y, sim->x);
    const bool done = closed || lwi_gauss_project(g, t, c->y, sim->inputs, c->y);
    lwi_sim_shift_rows(sim, false);
    lwi_gauss_restore(g);
    return closed || (done && enter_moved(sim, c->y, sim->x));
}

bool lwi_sim_place_near(lw_sim *sim, double t)
{
    const lwi_crossing *c = &sim->crossing;
    const double h = c->end - c->begin, largest = c->started ? MAX_ASIDE_OF_START : MAX_ASIDE;
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
    const bool ahead = sim->t < fmin(c->end, c->best.position); // the run ends within a step across
    const long count = c->count - (ahead ? c->best.npassed : 0);
    text[0] = 0;
    if (!c->active || count <= 0) return;
    lwi_singular_names(sim->model, s->edge_joint[c->edge], which, sizeof which);
    snprintf(text, size,
             "passed %ld singular position%s straight on, first at t = %.6g s: there the "
             "constraints of %s depend on each other (error estimate %.0e, gap %.0e m)",
             count, count > 1 ? "s" : "", c->entry, which, c->estimate,
             c->gap * sim->passage.gauss.assembler->length);
}
