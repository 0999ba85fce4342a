// passage.c -- accelerations and reactions close to singular positions.
//
// At a singular position rows of J lose their rank, but accelerations and multipliers are smooth functions of time.
// Solved for, accelerations are wrong by the error of the state over s^3, with s the sine of the distance, and
// multipliers by that over s once more.  So within s < theta they are not solved for: each component is the value at
// the row of the quintic through six states outside.  These
// states are on the same side of the position as the row, and are reached from the row's own state, projected onto
// the constraints: by a Gauss step to the first one, at s = NEAREST theta, and one to the last one, at FARTHEST times
// that; the other four are its stages.  The nodes of Gauss steps keep away from the state they start with, so
// nothing is evaluated at the row itself, and nothing depends on rows or steps before it.
//
// theta: states close to a singular position have larger errors than the tolerance.  One that is off by d has
// multipliers that are off by d / s^4, times the sum of the weights of the quintic, 128; d is round-off at least.  The
// quintic's own error grows with theta.  Rows of a Sarrus linkage with forces that rise and fall in 40 ms are off by
// 2e-6 of the largest force by a cubic at theta = 0.01, 1e-6 by the quintic at 0.02, 5e-6 at 0.04.
//
// A mechanism that stops or reverses within the band has no such states.  Within a step across it has values at the
// nodes of Gauss's rules on that step, which keep away from positions: the polynomial through the outer ones, if it
// meets the inner ones, or through all.  Else its reactions are those solved for.  So are they where loads must be held
// by bars in a line: these forces grow as 1/s, and no polynomial describes them.
#include "simulate/crossing.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// theta = max(MIN_BAND, BAND rtol^(1/5)), sines relative to the largest one of the run.
#define MIN_BAND 2e-2
#define BAND 0.25
#define NEAREST 1.5
#define FARTHEST 4
enum { NODES = LWI_PASSAGE_NODES };
// States on a step across or away from a start: the nodes of both rules.
enum { PATH_NODES = 10, OUTER_NODES = 8, MAX_NODES = PATH_NODES };
// Motion, in radians or lengths of the mechanism, over which the change of the sine is measured, and the largest one
// to the last state.
#define TRIAL 0.05
#define LARGEST_MOTION 0.6
// Speed of a row, relative to that at the begin of the step across, below which the mechanism reverses.
#define SLOW 0.5
// Sine above which the inner nodes of such a step are exact enough for the polynomial, which a long step needs.
#define EXACT 5e-3
// Share of the largest reaction at the nearest state that grows as 1/s, or that the polynomial misses at an inner node.
#define POLE 0.05

// ------------------------------------------------------------------------------------------ create

lw_status lwi_sim_prepare_passage(lw_sim *sim)
{
    lwi_passage *p = &sim->passage;
    lwi_arena *arena = &sim->arena;
    const lw_model *model = sim->model;
    if (!sim->monitor.active || sim->work->own_output) return LW_OK;
    TRY(lwi_gauss_create(sim->work, sim->projection.active ? &sim->projection.assembler : NULL,
                         arena, &p->gauss));
    if (!p->gauss.work) return LW_OK;
    TRY(lwi_sine_create(model, arena, &p->last));
    p->band = fmax(MIN_BAND, BAND * pow(sim->options.rtol, 0.2));
    p->active = true;
    return LW_OK;
}

void lwi_sim_release_passage(lw_sim *sim)
{
    lwi_gauss_release(&sim->passage.gauss);
}

// ------------------------------------------------------------------------------------------- sines

// Whether the state follows a step across at time t, rather than the path away from the start.
static bool is_across(const lwi_crossing *c, double t)
{
    return c->active && !lwi_crossing_from_start(c) && t < c->end;
}

// The sine on the step across that the state follows, interpolated between its nodes, and its rate; false: it follows none,
// or begins at the position.  With the sign of the distance from the position it is a smooth function of time.
static bool find_on_path(const lw_sim *sim, double t, double *sine, double *slope)
{
    const lwi_crossing *c = &sim->crossing;
    const lwi_gauss_rule *rule = &sim->passage.gauss.rule6;
    if (!is_across(c, t)) return false;
    const lwi_crossing_path *path = &c->best;
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    const double at = (t - piece->t) / piece->h, middle = (path->position - piece->t) / piece->h;
    if (!(at >= rule->c[0] && at <= rule->c[rule->stages - 1])) return false;
    int i = 0;
    while (at > rule->c[i + 1]) i++;
    const double below = copysign(path->sine_at[i], rule->c[i] - middle);
    const double above = copysign(path->sine_at[i + 1], rule->c[i + 1] - middle);
    const double part = (at - rule->c[i]) / (rule->c[i + 1] - rule->c[i]);
    *sine = below + part * (above - below);
    *slope = (above - below) / ((rule->c[i + 1] - rule->c[i]) * piece->h);
    return true;
}

// Smallest sine that is possible here, if sines decrease by at most one per radian.  Couplers on spherical joints may exceed
// that (LWI_CROSSING_STEEP_SLOPE); the bound was not above the sine in their tests.  0: nothing is known.
static double lower_bound(const lw_sim *sim, const lwi_snapshot *m, double rate)
{
    const lwi_monitor *monitor = &sim->monitor;
    const lwi_sine *last = &sim->passage.last;
    const lwi_system *s = &monitor->system;
    double on_path, slope;
    double bound = find_on_path(sim, m->t, &on_path, &slope) ? 0.5 * fabs(on_path) : 0;
    if (last->valid) bound = fmax(bound, last->sine - lwi_sine_motion(s, last, m, rate));
    const lwi_sine *accepted = &sim->crossing.last;
    if (accepted->valid)
        bound = fmax(bound, accepted->sine - lwi_sine_motion(s, accepted, m, rate));
    if (monitor->count > 0) {
        const lwi_monitor_sample *sample = &monitor->sample[monitor->count - 1];
        const lwi_sine here = {.t = sample->t, .r = sample->r, .quat = sample->quat};
        bound = fmax(bound, sqrt(sample->pivot) - lwi_sine_motion(s, &here, m, rate));
    }
    return bound;
}

// ------------------------------------------------------------------------------------------ states

// Accelerations and reactions of the snapshot: `next` is called with each array of n numbers.
typedef void visitor(void *user, double *values, int n);

static void visit(const lwi_passage *p, const lw_model *model, lw_observe level, lwi_snapshot *m,
                  visitor *next, void *user)
{
    if (p->accelerations) {
        next(user, m->a[0], 3 * model->nbody);
        next(user, m->al[0], 3 * model->nbody);
        next(user, m->qdd, model->nv);
    }
    if (level >= LW_OBSERVE_REACTION && model->njoint)
        next(user, m->reaction[0], 6 * model->njoint);
}

static void keep(void *user, double *values, int n)
{
    double **to = user;
    if (n) memcpy(*to, values, (size_t)n * sizeof **to);
    *to += n;
}

// Values of the state x at time t become those of a node.
static bool observe_node(lw_sim *sim, lw_observe level, int node, double t, const double *x)
{
    lwi_passage *p = &sim->passage;
    lwi_snapshot *m = &p->gauss.node;
    lwi_work *work = p->gauss.work;
    double *to = p->value + (size_t)node * (size_t)p->nvalue;
    m->t = t;
    if (work->formulation->observe(work, t, x, sim->inputs, level, m) != LW_OK) return false;
    visit(p, sim->model, level, m, keep, &to);
    return true;
}

// The six states: dt from the motion m, in the order of their distance.
static bool find_nodes(lw_sim *sim, lw_observe level, const lwi_snapshot *m, double first,
                       double last, double dt[NODES])
{
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_gauss_rule *rule = &g->rule4;
    const int nx = g->work->layout.nx;
    const double h = last - first;
    LWI_ASSERT(rule->stages == NODES - 2);
    dt[0] = first, dt[NODES - 1] = last;
    for (int i = 0; i < NODES - 2; i++) dt[1 + i] = first + rule->c[i] * h;
    if (!lwi_gauss_enter(g, m, 0, g->x) ||
        !lwi_gauss_step(g, rule, LWI_GUESS_MOTION, m, 0, first, sim->inputs) ||
        !observe_node(sim, level, 0, m->t + first, g->x) ||
        !lwi_gauss_step(g, rule, LWI_GUESS_MOTION, m, first, h, sim->inputs))
        return false;
    for (int i = 0; i < NODES - 2; i++)
        if (!observe_node(sim, level, 1 + i, m->t + dt[1 + i], g->stage + (size_t)i * (size_t)nx))
            return false;
    return observe_node(sim, level, NODES - 1, m->t + last, g->x);
}

// The state of the path that the run follows at time t.
static bool observe_on_path(lw_sim *sim, lw_observe level, int node, double t)
{
    const lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_crossing_piece *piece = &c->best.piece[c->best.npiece - 1];
    lwi_gauss_polynomial(&g->rule6, g->work->layout.nx, piece->h, (t - piece->t) / piece->h,
                         piece->x0, piece->rate, c->y);
    return lwi_gauss_satisfy(g, t, c->y, sim->inputs, g->x) &&
           observe_node(sim, level, node, t, g->x);
}

// The same on the path of a step across, if it has all states.
static bool find_nodes_on_path(lw_sim *sim, lw_observe level, double t, double first, double last,
                               double dt[NODES])
{
    const lwi_crossing *c = &sim->crossing;
    const lwi_gauss_rule *rule = &sim->passage.gauss.rule4;
    if (!c->active || !(c->end > -INFINITY)) return false;
    const lwi_crossing_piece *piece = &c->best.piece[c->best.npiece - 1];
    if (t + fmin(first, last) < piece->t || t + fmax(first, last) > c->end) return false;
    dt[0] = first, dt[NODES - 1] = last;
    for (int i = 0; i < NODES - 2; i++) dt[1 + i] = first + rule->c[i] * (last - first);
    for (int i = 0; i < NODES; i++)
        if (!observe_on_path(sim, level, i, t + dt[i])) return false;
    return true;
}

// At the nodes of both rules on the last piece of the path, dt from the time t: these keep away from all positions.
// `place`: numbers that the nodes get.
static bool find_nodes_of_piece(lw_sim *sim, lw_observe level, double t,
                                const int place[PATH_NODES], double dt[PATH_NODES])
{
    const lwi_crossing_path *path = &sim->crossing.best;
    const lwi_crossing_piece *piece = &path->piece[path->npiece - 1];
    const lwi_gauss *g = &sim->passage.gauss;
    const lwi_gauss_rule *rules[] = {&g->rule6, &g->rule4};
    int n = 0;
    for (int r = 0; r < LWI_COUNT(rules); r++)
        for (int i = 0; i < rules[r]->stages; i++, n++) {
            const double at = rules[r]->c[i] * piece->h;
            dt[place[n]] = at - (t - piece->t);
            if (!observe_on_path(sim, level, place[n], piece->t + at)) return false;
        }
    LWI_ASSERT(n == PATH_NODES);
    return true;
}

// Of the values at n nodes in that of the polynomial at `at`.
static void find_weights(int n, const double *dt, double at, double *weight)
{
    for (int i = 0; i < n; i++) {
        weight[i] = 1;
        for (int k = 0; k < n; k++)
            if (k != i) weight[i] *= (dt[k] - at) / (dt[k] - dt[i]);
    }
}

// Whether a reaction grows as c / x with the distance x [s] from the position: c is the value at x = 0 of the polynomial
// through x times the reaction.
static bool grows(const lwi_passage *p, const lw_model *model, double position, int n,
                  const double *dt)
{
    double weight[MAX_NODES], pole = 0, size = 0;
    find_weights(n, dt, position, weight);
    for (int i = 0; i < n; i++) weight[i] *= dt[i] - position;
    for (int c = p->nvalue - 6 * model->njoint; c < p->nvalue; c++) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            const double value = p->value[(size_t)i * (size_t)p->nvalue + (size_t)c];
            sum += weight[i] * value;
            size = fmax(size, fabs(value));
        }
        pole = fmax(pole, fabs(sum / (dt[0] - position)));
    }
    return pole > POLE * size;
}

// Whether the polynomial through the outer nodes misses a reaction at one of the others.
static bool misses(const lwi_passage *p, const lw_model *model, const double dt[PATH_NODES])
{
    double weight[MAX_NODES], off = 0, size = 0;
    for (int k = OUTER_NODES; k < PATH_NODES; k++) {
        find_weights(OUTER_NODES, dt, dt[k], weight);
        for (int c = p->nvalue - 6 * model->njoint; c < p->nvalue; c++) {
            const double *value = p->value + c;
            double sum = 0;
            for (int i = 0; i < OUTER_NODES; i++)
                sum += weight[i] * value[(size_t)i * (size_t)p->nvalue];
            const double there = value[(size_t)k * (size_t)p->nvalue];
            off = fmax(off, fabs(sum - there)), size = fmax(size, fabs(there));
        }
    }
    return !(off <= POLE * size);
}

typedef struct polynomial {
    const double *value; // of the first node, at the component that is next
    size_t stride;       // to the next node
    int n;
    double weight[MAX_NODES];
} polynomial;

static void evaluate(void *user, double *values, int n)
{
    polynomial *f = user;
    for (int c = 0; c < n; c++) {
        double sum = 0;
        for (int i = 0; i < f->n; i++) sum += f->weight[i] * f->value[(size_t)i * f->stride];
        values[c] = sum;
        f->value++;
    }
}

// Values of m := the polynomial through the nodes, at dt = 0.
static void extrapolate(const lwi_passage *p, const lw_model *model, lw_observe level, int n,
                        const double *dt, lwi_snapshot *m)
{
    polynomial f = {.value = p->value, .stride = (size_t)p->nvalue, .n = n};
    find_weights(n, dt, 0, f.weight);
    visit(p, model, level, m, evaluate, &f);
}

// ---------------------------------------------------------------------------------------- reactions

// Which way the sine grows, and how fast [1/s]; 0: it does not, or hardly.  A step across one position has the rate; else motions to
// both sides show it.
static double growth(lw_sim *sim, const lwi_snapshot *m, double sine, double rate)
{
    lwi_passage *p = &sim->passage;
    const lwi_crossing *c = &sim->crossing;
    double after[2], on_path, along;
    if (!(rate > 0)) return 0;
    if (c->ngroup == 1 && c->best.npassed == 1 && find_on_path(sim, m->t, &on_path, &along) &&
        along > 0)
        return m->t < c->best.position ? -along : along;
    for (int side = 0; side < 2; side++) {
        lwi_gauss_glide(&p->gauss, m, sim->x, (side ? -TRIAL : TRIAL) / rate, sim->inputs);
        after[side] = lwi_sine_at(&sim->monitor, &p->gauss.moved);
    }
    const double slope = (fmax(after[0], after[1]) - sine) * rate / TRIAL;
    return after[0] >= after[1] ? slope : -slope;
}

// Whether the mechanism reverses close to the row: it is much slower there than where the step across begins.
static bool reverses(lw_sim *sim, double t, double rate)
{
    const lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    if (!is_across(c, t)) return false;
    const lwi_crossing_piece *piece = &c->best.piece[c->best.npiece - 1];
    g->node.t = piece->t;
    return g->work->formulation->observe(g->work, piece->t, piece->x0, sim->inputs,
                                         LW_OBSERVE_TWIST, &g->node) == LW_OK &&
           rate < SLOW * lwi_sine_rate(&sim->monitor.system, &g->node);
}

// A row on the last piece of a step across, by states on it.
static bool continue_on_piece(lw_sim *sim, lw_observe level, lwi_snapshot *m)
{
    // the inner nodes of the rule with six last
    static const int place[PATH_NODES] = {0, 1, 8, 9, 4, 5, 6, 7, 2, 3};
    const lwi_passage *p = &sim->passage;
    const lwi_crossing *c = &sim->crossing;
    double dt[PATH_NODES];
    if (!is_across(c, m->t) || m->t < c->best.piece[c->best.npiece - 1].t) return false;
    if (!find_nodes_of_piece(sim, level, m->t, place, dt)) return false;
    if (level >= LW_OBSERVE_REACTION && misses(p, sim->model, dt)) return false;
    extrapolate(p, sim->model, level, c->best.node > EXACT ? PATH_NODES : OUTER_NODES, dt, m);
    return true;
}

static bool continue_outside(lw_sim *sim, lw_observe level, lwi_snapshot *m, double sine,
                             double typical, double rate)
{
    lwi_passage *p = &sim->passage;
    const double slope = growth(sim, m, sine, rate), nearest = NEAREST * p->band * typical;
    const double first = (nearest - sine) / slope, last = (FARTHEST * nearest - sine) / slope;
    double dt[NODES];
    if (!(fabs(last) * rate <= LARGEST_MOTION)) return false;
    if (!find_nodes_on_path(sim, level, m->t, first, last, dt) &&
        !find_nodes(sim, level, m, first, last, dt))
        return false;
    if (level >= LW_OBSERVE_REACTION && grows(p, sim->model, -sine / slope, NODES, dt))
        return false;
    extrapolate(p, sim->model, level, NODES, dt, m);
    return true;
}

static bool continue_values(lw_sim *sim, lw_observe level, lwi_snapshot *m, double sine,
                            double typical, double rate)
{
    const bool on_piece = reverses(sim, m->t, rate);
    if (on_piece && continue_on_piece(sim, level, m)) return true;
    return continue_outside(sim, level, m, sine, typical, rate) ||
           (!on_piece && continue_on_piece(sim, level, m));
}

// Rows within the band are few: their memory is allocated by the first one.
static bool allocate(lw_sim *sim)
{
    const lw_model *model = sim->model;
    lwi_passage *p = &sim->passage;
    const size_t n = sim->crossing.active ? PATH_NODES : NODES;
    p->nvalue = (p->accelerations ? 6 * model->nbody + model->nv : 0) + 6 * model->njoint;
    if (!p->value) p->value = lwi_arena_push(&sim->arena, n * (size_t)p->nvalue, sizeof *p->value);
    return p->value != NULL;
}

bool lwi_sim_continue_values(lw_sim *sim, lw_observe level, lwi_snapshot *m)
{
    lwi_passage *p = &sim->passage;
    lwi_monitor *monitor = &sim->monitor;
    // ordinary steps, as those of batches, have rows with the accelerations that they take
    p->accelerations = sim->crossing.active;
    if (!p->active || level < (p->accelerations ? LW_OBSERVE_ACCELERATION : LW_OBSERVE_REACTION))
        return false;
    const double typical = fmax(sqrt(monitor->largest), p->last.valid ? p->last.sine : 0);
    const double rate = lwi_sine_rate(&monitor->system, m);
    if (sim->crossing.outside == m->t) return false;
    if (lower_bound(sim, m, rate) > p->band * typical) return false;
    const double sine = lwi_sine_at(monitor, m);
    lwi_sine_take(&monitor->system, m, sine, &p->last);
    if (!(sine < p->band * fmax(typical, sine)) || !allocate(sim)) return false;
    lwi_gauss_keep(&p->gauss);
    lwi_sim_shift_rows(sim, true);
    const bool done = continue_values(sim, level, m, sine, typical, rate);
    lwi_sim_shift_rows(sim, false);
    lwi_gauss_restore(&p->gauss);
    if (done && !p->count++) p->entry = m->t;
    return done;
}

bool lwi_sim_continue_start(lw_sim *sim, lw_observe level, lwi_snapshot *m)
{
    lwi_passage *p = &sim->passage;
    static const int place[PATH_NODES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    double dt[PATH_NODES];
    p->accelerations = true;
    if (!allocate(sim)) return false;
    lwi_gauss_keep(&p->gauss);
    const bool done = find_nodes_of_piece(sim, level, sim->crossing.begin, place, dt);
    lwi_gauss_restore(&p->gauss);
    if (!done) return false;
    const bool reactions = level >= LW_OBSERVE_REACTION && !grows(p, sim->model, 0, PATH_NODES, dt);
    extrapolate(p, sim->model, reactions ? level : LW_OBSERVE_ACCELERATION, PATH_NODES, dt, m);
    // those that grow have no value at the position: as those 0.05 rad away
    const int nearby = sim->crossing.from_rest ? 2 : 1;
    if (level >= LW_OBSERVE_REACTION && !reactions)
        memcpy(m->reaction, p->value + (nearby + 1) * p->nvalue - 6 * sim->model->njoint,
               (size_t)sim->model->njoint * sizeof *m->reaction);
    return true;
}

void lwi_sim_take_uniqueness(lw_sim *sim)
{
    const lwi_snapshot *m = &sim->passage.gauss.node;
    const size_t n = (size_t)sim->model->njoint;
    memcpy(sim->snapshot.unique, m->unique, n * sizeof *m->unique);
    memcpy(sim->snapshot.undetermined, m->undetermined, n * sizeof *m->undetermined);
}
