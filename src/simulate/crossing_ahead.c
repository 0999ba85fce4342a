// crossing_ahead.c -- where the next singular positions are: ahead of a motion, and within a step.
//
// Pivots, squares of sines, are parabolas in time near a singular position.
#include "simulate/crossing.h"

#include <math.h>
#include <string.h>

#define WINDOW LWI_CROSSING_WINDOW
#define TURNS LWI_CROSSING_TURNS
// Motion, in radians or lengths of the mechanism: over which the rate of the sine is measured, the same where the rates over
// both differ by more than a part, one between them that decides which, one for positions that are nearer than the first
// (the motion along constant rates is wrong by the square of that of the fastest loop, which may be more than a slow one
// moves), between samples within a step, and the largest one to the position.
#define TRIAL 0.01
#define WIDE_TRIAL 0.2
#define MIDDLE_TRIAL 0.04
#define NEAR_TRIAL 1e-4
#define SMOOTH 0.3
#define APART LWI_CROSSING_APART
#define FARTHEST LWI_CROSSING_FARTHEST
// Largest part by which the present acceleration changes the time to a position that is left at constant rates.
#define UNIFORM 0.25
// Motions to both sides of a state that show the largest sine of the run.
#define BESIDE 0.1
// Sine, relative to the largest of the run, above which a reversal that is predicted is certain: thrice that allowed at nodes.
#define REVERSES (3 * LWI_CROSSING_MIN_AT_NODE)
enum { MAX_PIECES = LWI_CROSSING_PIECES };

// ----------------------------------------------------------------------------------------- position ahead

double lwi_crossing_typical(const lw_sim *sim)
{
    return fmax(sqrt(sim->monitor.largest), sim->crossing.last.valid ? sim->crossing.last.sine : 0);
}

void lwi_crossing_find_typical(lw_sim *sim, double t, const double *x)
{
    lwi_gauss *g = &sim->passage.gauss;
    lwi_snapshot *m = &sim->crossing.from;
    const lwi_system *s = &sim->monitor.system;
    m->t = t;
    if (sim->work->formulation->observe(sim->work, t, x, sim->inputs, LW_OBSERVE_ACCELERATION, m) !=
        LW_OK)
        return;
    const bool moves = lwi_sine_rate(s, m) > LWI_CROSSING_STANDSTILL;
    if (!moves) {
        memcpy(m->v, m->a, (size_t)sim->model->nbody * sizeof *m->v);
        memcpy(m->w, m->al, (size_t)sim->model->nbody * sizeof *m->w);
    }
    const double rate = lwi_sine_rate(s, m);
    if (!(rate > 0)) return;
    lwi_gauss_keep(g);
    for (int side = -1; side <= 1; side += 2) {
        const double dt = side * BESIDE / rate;
        if (moves)
            lwi_gauss_glide(g, m, x, dt, sim->inputs);
        else
            lwi_gauss_move(g, m, dt);
        const double sine = lwi_sine_at(&sim->monitor, &g->moved);
        sim->monitor.largest = fmax(sim->monitor.largest, sine * sine);
    }
    lwi_gauss_restore(g);
}

void lwi_crossing_take_pivots(const lw_sim *sim, double sine, double *to)
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
        lwi_crossing_take_pivots(sim, lwi_sine_at(&sim->monitor, &g->moved),
                                 to + i * sim->crossing.ngroup);
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

enum { WIDE, NEXT, MIDDLE, NEAR };
static const double trials[] = {WIDE_TRIAL, TRIAL, MIDDLE_TRIAL, NEAR_TRIAL};

// Of a group, from pivots at motions of a trial.
static parabola of_trial(const lwi_crossing *c, int group, int trial, double rate)
{
    const double *before = c->pivot + c->ngroup * (1 + 2 * trial);
    return parabola_of(before[group], c->pivot[group], before[c->ngroup + group],
                       trials[trial] / rate);
}

// The same, with motions that are made once.
static parabola try_motions(lw_sim *sim, const double *x, int group, int trial, double rate,
                            bool *known)
{
    lwi_crossing *c = &sim->crossing;
    if (!*known)
        take_both_sides(sim, &c->at, x, trials[trial] / rate,
                        c->pivot + c->ngroup * (1 + 2 * trial));
    *known = true;
    return of_trial(c, group, trial, rate);
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
    to->window = WINDOW * lwi_crossing_typical(sim) / sqrt(p) * fabs(to->after);
    return lowest < TURNS * p && fabs(to->after) * rate <= FARTHEST;
}

// Rate at which the speeds of a group of loops grow at the motion crossing->at, with accelerations [1/s].
static double growth_of(const lw_sim *sim, int group)
{
    const lwi_monitor *monitor = &sim->monitor;
    const lwi_system *s = &monitor->system;
    const lwi_snapshot *m = &sim->crossing.at;
    double sum = 0, squares = 0;
    for (int j = 0; j < sim->model->njoint; j++) {
        const lwi_joint *joint = &sim->model->joint[j];
        if (s->joint_edge[j] < 0 || monitor->group[s->joint_edge[j]] != group) continue;
        for (int i = joint->iv; i < joint->iv + joint->type->nv; i++) {
            sum += m->qd[i] * m->qdd[i];
            squares += m->qd[i] * m->qd[i];
        }
    }
    return squares > 0 ? sum / squares : 0;
}

// Times to positions and windows at the present acceleration, where it changes them much; false: the loops reverse before, with
// a sine above `small`, where the present one is `sine`.  Nearer it is not known whether they do.
static bool accelerate(lwi_crossing_ahead *a, double growth, double sine, double small)
{
    const double square = 1 + 2 * growth * a->after;
    if (square < 0 && -square / (1 - square) * sine > small) return false;
    const double
        part = // after * part + growth / 2 * (after * part)^2 = after; or that of the reversal
        square >= 0 ? 2 / (1 + sqrt(square)) : 2 / (1 - square);
    if (fabs(part - 1) < UNIFORM) return true;
    // where the motion speeds up the window behind the position is shorter
    const double speed = sqrt(fmax(0, square)),
                 end = sqrt(fmax(0, square + 2 * growth * a->window));
    const double behind = growth > 0 ? 2 * a->window / (speed + end) : INFINITY;
    a->after *= part, a->window *= part;
    a->window = fmin(a->window, fmax(a->after, behind));
    return true;
}

// Corrects the times of positions ahead of the motion crossing->at, the state x, for which rates are constant.
static void accelerate_all(lw_sim *sim, const double *x)
{
    lwi_crossing *c = &sim->crossing;
    const double small = REVERSES * lwi_crossing_typical(sim);
    int n = 0;
    if (sim->work->formulation->observe(sim->work, c->at.t, x, sim->inputs, LW_OBSERVE_ACCELERATION,
                                        &c->at) != LW_OK)
        return;
    for (int i = 0; i < c->nahead; i++) {
        lwi_crossing_ahead a = c->ahead[i];
        if (a.after > 0 && !accelerate(&a, growth_of(sim, a.group), sqrt(c->pivot[a.group]), small))
            continue;
        c->ahead[n++] = a;
    }
    c->nahead = n;
}

// crossing->ahead := the positions close to the motion crossing->at, the state x of the run, one of each group of loops that is wanted:
// the time to it, negative if the sine rises, and the window, half its width in time.  Not those where the minimum of the
// sine is no singular position.  Pivots, squares of sines, are parabolas near their minimum.
static void estimate_positions(lw_sim *sim, const double *x, double rate)
{
    lwi_gauss *g = &sim->passage.gauss;
    lwi_crossing *c = &sim->crossing;
    const lwi_snapshot *m = &c->at;
    const int n = c->ngroup;
    bool known[LWI_COUNT(trials)] = {false};
    c->nahead = 0;
    if (!(rate > 0)) return;
    lwi_crossing_take_pivots(sim, lwi_sine_at(&sim->monitor, m), c->pivot);
    lwi_gauss_keep(g);
    for (int k = 0; k < n; k++) {
        if (!c->wanted[k]) continue;
        parabola wide = try_motions(sim, x, k, WIDE, rate, &known[WIDE]);
        parabola at = try_motions(sim, x, k, NEXT, rate, &known[NEXT]);
        if (!agree(&at, &wide)) {
            const parabola middle = try_motions(sim, x, k, MIDDLE, rate, &known[MIDDLE]);
            if (agree(&at, &middle))
                wide = middle;
            else
                at = wide;
        }
        lwi_crossing_ahead *a = &c->ahead[c->nahead];
        a->group = k;
        bool found = find_zero(sim, &at, &wide, rate, a);
        if (found && n > 1 && fabs(a->after) * rate < TRIAL) {
            at = try_motions(sim, x, k, NEAR, rate, &known[NEAR]);
            found = find_zero(sim, &at, &wide, rate, a);
        }
        c->nahead += found;
    }
    lwi_gauss_restore(g);
    if (c->nahead) accelerate_all(sim, x);
}

bool lwi_crossing_estimate(lw_sim *sim, const double *x, double rate, double *after, double *window)
{
    const lwi_crossing *c = &sim->crossing;
    double first = INFINITY;
    estimate_positions(sim, x, rate);
    for (int i = 0; i < c->nahead; i++) {
        const lwi_crossing_ahead *a = &c->ahead[i];
        if (!(a->after - a->window < first)) continue;
        *after = a->after, *window = a->window, first = a->after - a->window;
    }
    return first < INFINITY;
}

// ------------------------------------------------------------------------------------ within a step

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
    lwi_crossing_take_pivots(sim, lwi_sine_at(monitor, &c->from), c->sample);
    lwi_monitor_set_piece(monitor, &c->from, &c->at);
    for (int i = 1; i < n; i++) {
        const double pivot = lwi_monitor_piece_pivot(monitor, sample_time(c, i, n), &edge);
        double *to = c->sample + i * c->ngroup;
        lwi_crossing_take_pivots(sim, 0, to);
        if (!monitor->ngroup) to[0] = pivot;
    }
    lwi_crossing_take_pivots(sim, lwi_sine_at(monitor, &c->at), c->sample + n * c->ngroup);
}

// The first one that may be a position, else the smallest.
static lwi_crossing_dip dip_of(const lwi_crossing *c, int group, int n, double position)
{
    lwi_crossing_dip best = {.sampled = INFINITY, .group = group};
    for (int i = 2; i <= n; i++) {
        double t[3], p[3];
        for (int k = 0; k < 3; k++) {
            t[k] = sample_time(c, i - 2 + k, n);
            p[k] = c->sample[(i - 2 + k) * c->ngroup + group];
        }
        const double h = t[2] - t[1], bend = (p[0] - 2 * p[1] + p[2]) / (h * h);
        const double slope = (p[2] - p[0]) / (2 * h), at = t[1] - slope / bend;
        const double smallest = sqrt(fmin(fmin(p[0], p[1]), p[2]));
        // between the first two or the last two samples the smallest of three is an end of the step
        const bool begins = i == 2 && p[0] < p[1] && bend > 0 && at > t[0] && at < t[1];
        const bool ends = i == n && p[2] < p[1] && bend > 0 && at > t[1] && at < t[2];
        const bool middle = p[1] <= p[0] && p[1] < p[2];
        if (best.found && best.sine < position) break;
        if ((middle || begins || ends) && smallest < best.sampled) {
            best.found = true;
            best.ends = ends;
            best.sampled = smallest;
            best.t = at;
            best.sine = sqrt(fmax(0, p[1] - slope * slope / (2 * bend)));
            best.slope = sqrt(bend / 2); // of s where it reaches zero
        }
    }
    return best;
}

// The first one with a small sine; next to the end only where no other is.
static lwi_crossing_dip find_dip(lw_sim *sim, double moved, double largest)
{
    lwi_crossing *c = &sim->crossing;
    const int n = (int)fmin(fmax(2, ceil(moved / APART)), MAX_PIECES);
    lwi_crossing_dip best = {.sampled = INFINITY};
    sample_step(sim, n);
    for (int k = 0; k < c->ngroup; k++) {
        const lwi_crossing_dip d = dip_of(c, k, n, TURNS * WINDOW * largest);
        const bool small = d.found && !c->regular[k] && d.sampled < LWI_CROSSING_CLOSE * largest;
        if (small && (!best.found || d.ends < best.ends || (d.ends == best.ends && d.t < best.t)))
            best = d;
    }
    return best;
}

// Newton's steps of the position from the samples next to it: the parabola's error decreases with its width.
static void refine(lw_sim *sim, lwi_crossing_dip *d)
{
    const lwi_crossing *c = &sim->crossing;
    lwi_monitor *monitor = &sim->monitor;
    for (int i = 0; i < 3; i++) {
        const double h = 0.3 * WINDOW * lwi_crossing_typical(sim) / d->slope;
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

bool lwi_crossing_find_dip(lw_sim *sim, double moved, double largest, lwi_crossing_dip *dip)
{
    *dip = find_dip(sim, moved, largest);
    if (dip->found) refine(sim, dip);
    return dip->found;
}
