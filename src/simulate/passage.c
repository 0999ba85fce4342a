// passage.c -- reactions close to singular positions.
//
// At a singular position rows of J lose their rank, but the multipliers are smooth functions of time.  Solved for,
// they are wrong by the relative error of the accelerations over the sine s of the distance.  So within s < theta
// they are not solved for: each component is the value at the row of the quintic through six states outside.  These
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
// A mechanism that stops or reverses within the band has no such states: its reactions are those solved for.  So are
// they where loads must be held by bars in a line: these forces grow as 1/s, and no polynomial describes them.
#include "simulate/simulation.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// theta = max(MIN_BAND, BAND rtol^(1/5)), sines relative to the largest one of the run.
#define MIN_BAND 2e-2
#define BAND 0.25
#define NEAREST 1.5
#define FARTHEST 4
enum { NODES = LWI_PASSAGE_NODES };
// Motion, in radians or lengths of the mechanism, over which the change of the sine is measured, and the largest one
// to the last state.
#define TRIAL 0.05
#define LARGEST_MOTION 0.6
// Share of the largest reaction at the nearest state that grows as 1/s.
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
    p->reaction = lwi_arena_push(arena, (size_t)NODES * (size_t)model->njoint, sizeof *p->reaction);
    if (!p->reaction) return LW_ERR_MEMORY;
    p->band = fmax(MIN_BAND, BAND * pow(sim->options.rtol, 0.2));
    p->active = true;
    return LW_OK;
}

void lwi_sim_release_passage(lw_sim *sim)
{
    lwi_gauss_release(&sim->passage.gauss);
}

// ------------------------------------------------------------------------------------------- sines

// Sines decrease by less than one per radian.  Without knowledge, 0.
static double lower_bound(const lw_sim *sim, const lwi_snapshot *m, double rate)
{
    const lwi_monitor *monitor = &sim->monitor;
    const lwi_sine *last = &sim->passage.last;
    const lwi_system *s = &monitor->system;
    double bound = 0;
    if (last->valid) bound = last->sine - lwi_sine_motion(s, last, m, rate);
    if (monitor->count > 0) {
        const lwi_monitor_sample *sample = &monitor->sample[monitor->count - 1];
        const lwi_sine here = {.t = sample->t, .r = sample->r, .quat = sample->quat};
        bound = fmax(bound, sqrt(sample->pivot) - lwi_sine_motion(s, &here, m, rate));
    }
    return bound;
}

// ------------------------------------------------------------------------------------------ states

// Reactions of the state x at time t become those of a node.
static bool observe_node(lw_sim *sim, int node, double t, const double *x)
{
    lwi_passage *p = &sim->passage;
    lwi_snapshot *m = &p->gauss.node;
    lwi_work *work = p->gauss.work;
    const int njoint = sim->model->njoint;
    m->t = t;
    if (work->formulation->observe(work, t, x, sim->inputs, LW_OBSERVE_REACTION, m) != LW_OK)
        return false;
    memcpy(p->reaction + (size_t)node * (size_t)njoint, m->reaction,
           (size_t)njoint * sizeof *p->reaction);
    return true;
}

// The six states: dt from the motion m, in the order of their distance.
static bool find_nodes(lw_sim *sim, const lwi_snapshot *m, double first, double last,
                       double dt[NODES])
{
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_gauss_rule *rule = &g->rule4;
    const int nx = g->work->layout.nx;
    const double h = last - first;
    LWI_ASSERT(rule->stages == NODES - 2);
    dt[0] = first, dt[NODES - 1] = last;
    for (int i = 0; i < NODES - 2; i++) dt[1 + i] = first + rule->c[i] * h;
    if (!lwi_gauss_enter(g, m, 0, g->x) || !lwi_gauss_step(g, rule, m, 0, first, sim->inputs) ||
        !observe_node(sim, 0, m->t + first, g->x) ||
        !lwi_gauss_step(g, rule, m, first, h, sim->inputs))
        return false;
    for (int i = 0; i < NODES - 2; i++)
        if (!observe_node(sim, 1 + i, m->t + dt[1 + i], g->stage + (size_t)i * (size_t)nx))
            return false;
    return observe_node(sim, NODES - 1, m->t + last, g->x);
}

// Whether a reaction grows as c / x with the distance x [s] from the position: c is the value at x = 0 of the polynomial
// through x times the reaction.
static bool grows(const lwi_passage *p, int njoint, double position, const double dt[NODES])
{
    double weight[NODES], pole = 0, size = 0;
    for (int i = 0; i < NODES; i++) {
        weight[i] = dt[i] - position;
        for (int k = 0; k < NODES; k++)
            if (k != i) weight[i] *= (dt[k] - position) / (dt[k] - dt[i]);
    }
    for (int j = 0; j < njoint; j++)
        for (int c = 0; c < 6; c++) {
            double sum = 0;
            for (int i = 0; i < NODES; i++) {
                sum += weight[i] * p->reaction[i * njoint + j][c];
                size = fmax(size, fabs(p->reaction[i * njoint + j][c]));
            }
            pole = fmax(pole, fabs(sum / (dt[0] - position)));
        }
    return pole > POLE * size;
}

// Reactions of m := the polynomial through the nodes, at dt = 0.
static void extrapolate(const lwi_passage *p, int njoint, const double dt[NODES], lwi_snapshot *m)
{
    double weight[NODES];
    for (int i = 0; i < NODES; i++) {
        weight[i] = 1;
        for (int k = 0; k < NODES; k++)
            if (k != i) weight[i] *= dt[k] / (dt[k] - dt[i]);
    }
    for (int j = 0; j < njoint; j++)
        for (int c = 0; c < 6; c++) {
            double sum = 0;
            for (int i = 0; i < NODES; i++) sum += weight[i] * p->reaction[i * njoint + j][c];
            m->reaction[j][c] = sum;
        }
}

// ---------------------------------------------------------------------------------------- reactions

// Which way the sine grows, and how fast [1/s]; 0: it does not, or hardly.
static double growth(lw_sim *sim, const lwi_snapshot *m, double sine, double rate)
{
    lwi_passage *p = &sim->passage;
    double after[2];
    if (!(rate > 0)) return 0;
    for (int side = 0; side < 2; side++) {
        lwi_gauss_move(&p->gauss, m, (side ? -TRIAL : TRIAL) / rate);
        after[side] = lwi_sine_at(&sim->monitor, &p->gauss.moved);
    }
    const double slope = (fmax(after[0], after[1]) - sine) * rate / TRIAL;
    return after[0] >= after[1] ? slope : -slope;
}

static bool continue_reactions(lw_sim *sim, lwi_snapshot *m, double sine, double typical,
                               double rate)
{
    lwi_passage *p = &sim->passage;
    const double slope = growth(sim, m, sine, rate), nearest = NEAREST * p->band * typical;
    const double first = (nearest - sine) / slope, last = (FARTHEST * nearest - sine) / slope;
    double dt[NODES];
    if (!(fabs(last) * rate <= LARGEST_MOTION)) return false;
    if (!find_nodes(sim, m, first, last, dt)) return false;
    if (grows(p, sim->model->njoint, -sine / slope, dt)) return false;
    extrapolate(p, sim->model->njoint, dt, m);
    return true;
}

bool lwi_sim_continue_reactions(lw_sim *sim, lwi_snapshot *m)
{
    lwi_passage *p = &sim->passage;
    lwi_monitor *monitor = &sim->monitor;
    if (!p->active) return false;
    const double typical = fmax(sqrt(monitor->largest), p->last.valid ? p->last.sine : 0);
    const double rate = lwi_sine_rate(&monitor->system, m);
    if (lower_bound(sim, m, rate) > p->band * typical) return false;
    const double sine = lwi_sine_at(monitor, m);
    lwi_sine_take(&monitor->system, m, sine, &p->last);
    if (!(sine < p->band * fmax(typical, sine))) return false;
    lwi_gauss_keep(&p->gauss);
    lwi_sim_shift_rows(sim, true);
    const bool done = continue_reactions(sim, m, sine, typical, rate);
    lwi_sim_shift_rows(sim, false);
    lwi_gauss_restore(&p->gauss);
    if (done && !p->count++) p->entry = m->t;
    return done;
}
