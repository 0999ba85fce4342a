// watch.c -- singular positions that a run stands near, passes, or jumps over.
//
// Whatever the formulation, the bodies' poses tell how far the constraints are from losing a
// direction: by the smallest pivot that the engine keeps, a squared sine.  It is looked at whenever
// the mechanism has moved a little.  Where it has been smallest between two states, and its course
// suggests that it was much smaller there, the least value is searched for: joint coordinates
// between states by Hermite's cubics (angles are smooth where poses turn by several radians), put
// back on the constraints.  So a step that jumps over a singular position does not jump over the
// search, and nothing of the run is changed by it.
#include "system/singular.h"
#include "simulate/simulation.h"

#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Lengths of the mechanism, or radians, between two sights: at least, for pivots of a hundredth of
// what is usual begin a tenth away from a singular position; and at most, for the pivot may fall
// and rise twice in a longer piece.
#define APART 0.1
#define FAR_APART 0.75
// Between them, so many times the sine at hand.  Sines fall by 0.6 to 0.8 per radian where they
// fall most, so that a singular position that is jumped over is at most as far behind as it was
// ahead: the pivot there is well below LOW of what it was.
#define REACH 1.5
// So much of a piece more is not worth another one.
#define SPARE 0.1
// Pieces of a step that goes astray.
enum { MOST_PIECES = 64 };
// A minimum between sights is searched for when it is below this part of the largest pivot met, or
// the parabola through them falls below the second part of the smallest of them, or the third part
// of the largest: nearer than ten times the distance that counts, the parabola's own error does.
#define LOW 0.5
#define DEEP 0.25
#define SHALLOW (100 * LWI_WATCH_NEAR)
// Looks at a mechanism that has not moved far come so many times as late after a sight as the last one.
#define LATER 2
// Trials of the search for the least pivot: in all, and before it may be given up because nothing
// suggests any longer that there is a small one.
enum { TRIALS = 10, SURE = 2 };
// Newton steps that put a pose between sights back on the constraints: it begins near.
enum { CLOSING = 6 };

// ----------------------------------------------------------------------------------------- memory

static lw_status make_sight(const lw_model *model, lwi_arena *arena, lwi_sight *sight)
{
    const size_t n = (size_t)model->nnode;
    sight->q = LWI_PUSH(arena, double, model->nq);
    sight->rate = LWI_PUSH(arena, double, model->nq);
    sight->r = lwi_arena_push(arena, n, sizeof *sight->r);
    sight->v = lwi_arena_push(arena, n, sizeof *sight->v);
    sight->quat = lwi_arena_push(arena, n, sizeof *sight->quat);
    sight->turn = lwi_arena_push(arena, n, sizeof *sight->turn);
    return sight->q && sight->rate && sight->r && sight->v && sight->quat && sight->turn
               ? LW_OK
               : LW_ERR_MEMORY;
}

lw_status lwi_watch_create(const lw_model *model, lwi_arena *arena, lwi_watch *watch)
{
    *watch = (lwi_watch){.least = INFINITY};
    if (model->nloop == 0 && model->ncoupling == 0) return LW_OK; // a tree has no such positions
    TRY(lwi_system_create(model, LWI_PLAN_AUTO, arena, &watch->closed));
    for (int i = 0; i < LWI_COUNT(watch->sight); i++)
        TRY(make_sight(model, arena, &watch->sight[i]));
    TRY(make_sight(model, arena, &watch->now));
    TRY(make_sight(model, arena, &watch->between));
    TRY(lwi_snapshot_create(model, arena, &watch->placed));
    lwi_snapshot_start(model, &watch->placed);
    watch->active = watch->closed.nrow > 0;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ sights

// The smallest kept pivot at the motion of `closed`; 1 where positions are no numbers.
static double pivot_here(lwi_system *s, double t, int *edge)
{
    lwi_system_rows(s, t);
    lwi_system_geometric(s);
    const lw_status status = lwi_elim_check_pivots(s->elim);
    if (status != LW_OK && status != LW_ERR_SINGULAR) return 1;
    const lwi_elim_pivot_info pivots = lwi_elim_pivots(s->elim);
    *edge = pivots.edge;
    return fmax(0, pivots.min);
}

// Hermite's cubic of n numbers and its derivative at a + x h, 0 <= x <= 1; f, g at the ends.
static void cubic(int n, double h, double x, const double *f0, const double *g0, const double *f1,
                  const double *g1, double *f, double *g)
{
    const double y = 1 - x, s = 6 * x * y / h;
    for (int i = 0; i < n; i++) {
        f[i] = y * y * ((1 + 2 * x) * f0[i] + h * x * g0[i]) +
               x * x * ((1 + 2 * y) * f1[i] - h * y * g1[i]);
        g[i] = s * (f1[i] - f0[i]) + y * (1 - 3 * x) * g0[i] + x * (1 - 3 * y) * g1[i];
    }
}

// The motion at time t between two sights: joints and floating bodies.
static void interpolate(const lw_model *model, const lwi_sight *a, const lwi_sight *b, double t,
                        lwi_sight *c)
{
    const double h = b->t - a->t, x = (t - a->t) / h;
    c->t = t;
    cubic(model->nq, h, x, a->q, a->rate, b->q, b->rate, c->q, c->rate);
    for (int k = 0; k < model->nnode; k++) {
        if (model->node[k].joint >= 0) continue;
        cubic(3, h, x, a->r[k], a->v[k], b->r[k], b->v[k], c->r[k], c->v[k]);
        cubic(4, h, x, a->quat[k], a->turn[k], b->quat[k], b->turn[k], c->quat[k], c->turn[k]);
        if (!(quat_norm2(c->quat[k]) > 0)) memcpy(c->quat[k], a->quat[k], sizeof c->quat[k]);
    }
}

// Bodies where the tree's joints put them.
static void place(lwi_watch *watch, const lwi_sight *sight)
{
    lwi_system *s = &watch->closed;
    const lw_model *model = s->model;
    lwi_snapshot *m = &watch->placed;
    if (model->nq) memcpy(m->q, sight->q, (size_t)model->nq * sizeof *m->q);
    for (int k = 0; k < model->nnode; k++) {
        if (model->node[k].joint >= 0) continue;
        v3_copy(m->r[model->node[k].body], sight->r[k]);
        memcpy(m->quat[model->node[k].body], sight->quat[k], sizeof sight->quat[k]);
    }
    lwi_snapshot_from_joints(model, sight->t, m);
    lwi_system_from_snapshot(s, m);
    lwi_system_read_loops(s, sight->t, true);
}

// The smallest pivot at time t among the three sights.
static double pivot_between(lwi_watch *watch, double t, int *edge)
{
    lwi_system *s = &watch->closed;
    const lwi_sight *sight = watch->sight, *from = t < sight[1].t ? sight : sight + 1;
    interpolate(s->model, from, from + 1, t, &watch->between);
    place(watch, &watch->between);
    lwi_system_close(s, t, 1e-9 * s->length, CLOSING);
    return pivot_here(s, t, edge);
}

static void remember(lwi_watch *watch, double t, double pivot, int edge)
{
    if (!(pivot < LWI_WATCH_NEAR * watch->most)) return;
    if (!watch->times++) watch->entry = t;
    if (!(pivot < watch->least)) return;
    watch->least = pivot;
    watch->time = t;
    watch->edge = edge;
}

// ------------------------------------------------------------------------------------------ search

// Pivots at three times, the middle one the smallest: what is searched between.
typedef struct bracket {
    double t[3], pivot[3];
    int edge;
} bracket;

// Where the parabola through the three is least, and its value there.
static double parabola_least(const bracket *b, double *value)
{
    const double h0 = b->t[1] - b->t[0], h1 = b->t[2] - b->t[1];
    const double up0 = (b->pivot[0] - b->pivot[1]) / h0, up1 = (b->pivot[2] - b->pivot[1]) / h1;
    const double bend = (up0 + up1) / (h0 + h1), slope = up1 - bend * h1;
    *value = bend > 0 ? b->pivot[1] - slope * slope / (4 * bend) : b->pivot[1];
    return bend > 0 ? b->t[1] - slope / (2 * bend) : b->t[1];
}

// A time strictly within the bracket and away from its middle: the parabola's, or a part of the
// larger side where that says nothing.
static double next_time(const bracket *b)
{
    const double small = 1e-3 * (b->t[2] - b->t[0]);
    double value;
    const double t = parabola_least(b, &value);
    if (t > b->t[0] + small && t < b->t[2] - small && fabs(t - b->t[1]) > small) return t;
    return b->t[1] - b->t[0] > b->t[2] - b->t[1] ? b->t[1] - 0.4 * (b->t[1] - b->t[0])
                                                 : b->t[1] + 0.4 * (b->t[2] - b->t[1]);
}

static void narrow(bracket *b, double t, double pivot, int edge)
{
    const int side = t < b->t[1] ? 0 : 2;
    if (pivot < b->pivot[1]) { // the middle becomes an end
        b->t[2 - side] = b->t[1], b->pivot[2 - side] = b->pivot[1];
        b->t[1] = t, b->pivot[1] = pivot, b->edge = edge;
    } else {
        b->t[side] = t, b->pivot[side] = pivot;
    }
}

// Does the course of the pivots suggest that they are much smaller in between?
static bool suspect(const lwi_watch *watch, const bracket *b)
{
    double value;
    parabola_least(b, &value);
    return value < fmax(DEEP * b->pivot[1], SHALLOW * watch->most);
}

// Pivots are smooth functions of time, also through zero: parabolas find the least one in a few
// trials.
static void search(lwi_watch *watch, bracket b)
{
    const double enough = 0.01 * LWI_WATCH_NEAR * watch->most;
    for (int i = 0; i < TRIALS && b.pivot[1] > enough; i++) {
        if (i >= SURE && !suspect(watch, &b)) return;
        int edge = 0;
        const double t = next_time(&b);
        if (!(t > b.t[0] && t < b.t[2])) break; // round-off
        const double pivot = pivot_between(watch, t, &edge);
        narrow(&b, t, pivot, edge);
    }
    remember(watch, b.t[1], b.pivot[1], b.edge);
}

// The middle one of three sights is a minimum.
static void look_back(lwi_watch *watch)
{
    const lwi_sight *s = watch->sight;
    if (!(s[1].pivot <= s[0].pivot && s[1].pivot < s[2].pivot)) return;
    bracket b = {.edge = s[1].edge};
    for (int i = 0; i < 3; i++) b.t[i] = s[i].t, b.pivot[i] = s[i].pivot;
    if (s[1].pivot < LOW * watch->most || suspect(watch, &b)) search(watch, b);
}

// ------------------------------------------------------------------------------------------- looks

// How far the bodies have gone, in radians or lengths of the mechanism.
static double distance(const lwi_system *s, const lwi_sight *a, const lwi_sight *b)
{
    double most = 0, half = 0.5 * (b->t - a->t);
    for (int k = 0; k < s->model->nnode; k++) {
        double d[3], c[4], speed = 0;
        v3_sub(d, b->r[k], a->r[k]);
        for (int i = 0; i < 4; i++) c[i] = b->quat[k][i] - a->quat[k][i];
        for (int i = 0; i < 4; i++)
            speed += fabs(a->turn[k][i]) + fabs(b->turn[k][i]); // whole turns do not show
        most = fmax(most, v3_norm(d) / s->length);
        most = fmax(most, fmax(2 * sqrt(quat_norm2(c)), half * speed));
    }
    return most;
}

static void take(const lw_model *model, const lwi_snapshot *moment, const lwi_sight *before,
                 lwi_sight *sight)
{
    sight->t = moment->t;
    if (model->nq) memcpy(sight->q, moment->q, (size_t)model->nq * sizeof *sight->q);
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        double *q = sight->q + joint->iq, *rate = sight->rate + joint->iq;
        if (joint->type->nq == 0) continue;
        if (joint->type->scalar)
            memcpy(rate, moment->qd + joint->iv, (size_t)joint->type->nv * sizeof *rate);
        else
            joint->type->kinematics(&joint->par, q, moment->qd + joint->iv, rate);
    }
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        v3_copy(sight->r[k], moment->r[b]);
        v3_copy(sight->v[k], moment->v[b]);
        memcpy(sight->quat[k], moment->quat[b], sizeof sight->quat[k]);
        if (before) quat_continue(sight->quat[k], before->quat[k]);
        quat_rate(sight->turn[k], sight->quat[k], moment->w[b]);
    }
}

// Appends the sight, whose memory is exchanged for another one's.
static void append(lwi_watch *watch, lwi_sight *fresh)
{
    lwi_sight *sight = watch->sight;
    if (watch->count == LWI_COUNT(watch->sight)) { // the oldest one goes
        const lwi_sight oldest = sight[0];
        sight[0] = sight[1], sight[1] = sight[2], sight[2] = oldest;
        watch->count--;
    }
    lwi_sight *last = &sight[watch->count++];
    const lwi_sight memory = *last;
    *last = *fresh;
    *fresh = memory;
    place(watch, last);
    last->pivot = pivot_here(&watch->closed, last->t, &last->edge);
    watch->most = fmax(watch->most, last->pivot);
    if (watch->count == LWI_COUNT(watch->sight)) look_back(watch);
}

// Far from a singular position the next one is far, too.
static double spacing(const lwi_sight *sight)
{
    return fmin(FAR_APART, fmax(APART, REACH * sqrt(sight->pivot)));
}

static void look(lwi_watch *watch, const lwi_snapshot *moment, bool last_one)
{
    lwi_system *s = &watch->closed;
    if (!watch->active) return;
    const lwi_sight *last = watch->count ? &watch->sight[watch->count - 1] : NULL;
    if (last && !(moment->t > last->t)) return;
    take(s->model, moment, last, &watch->now);
    if (last) {
        const double moved = distance(s, last, &watch->now);
        const double apart = spacing(last);
        if (!(moved > apart) && !last_one) return;
        const int pieces = (int)fmin(fmax(1, ceil(moved / apart - SPARE)), MOST_PIECES);
        const double t = last->t, h = (watch->now.t - t) / pieces;
        for (int i = 1; i < pieces; i++) {
            last = &watch->sight[watch->count - 1];
            interpolate(s->model, last, &watch->now, t + i * h, &watch->between);
            append(watch, &watch->between);
        }
    }
    append(watch, &watch->now);
}

bool lwi_watch_waits(const lwi_watch *watch, double t)
{
    return watch->active && watch->count > 0 && t < watch->due &&
           t > watch->sight[watch->count - 1].t;
}

// As `distance`, without the speeds at the end: those at the beginning stand for them.
bool lwi_watch_rests(lwi_watch *watch, const lwi_snapshot *moment)
{
    const lwi_system *s = &watch->closed;
    const lwi_sight *last = watch->count ? &watch->sight[watch->count - 1] : NULL;
    if (!watch->active) return true;
    if (!last || !(moment->t > last->t)) return false;
    const double apart = spacing(last), h = moment->t - last->t;
    double moved = 0; // of what is apart
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double d[3], quat[4], c[4], speed = 0;
        v3_sub(d, moment->r[b], last->r[k]);
        memcpy(quat, moment->quat[b], sizeof quat);
        quat_continue(quat, last->quat[k]);
        for (int i = 0; i < 4; i++)
            c[i] = quat[i] - last->quat[k][i], speed += fabs(last->turn[k][i]);
        moved = fmax(moved, v3_norm(d) / s->length);
        moved = fmax(moved, fmax(2 * sqrt(quat_norm2(c)), h * speed));
    }
    if (moved > apart) return false;
    // as fast as until now it will have moved so far; what gathers speed has more looks
    watch->due = last->t + h * fmin(LATER, apart / moved);
    return true;
}

void lwi_watch_look(lwi_watch *watch, const lwi_snapshot *moment)
{
    look(watch, moment, false);
}

void lwi_watch_end(lwi_watch *watch, const lwi_snapshot *moment)
{
    if (!watch->active) return;
    look(watch, moment, true);
    const lwi_sight *last = &watch->sight[watch->count - 1];
    remember(watch, last->t, last->pivot, last->edge);
    watch->count = 0;
}

void lwi_watch_tell(const lwi_watch *watch, char *text, size_t size)
{
    char which[320];
    text[0] = 0;
    if (!watch->active || !watch->times) return;
    lwi_singular_names(watch->closed.model, watch->closed.edge_joint[watch->edge], which,
                       sizeof which);
    snprintf(text, size,
             "passed close to a singular position at t = %.6g s (times in all: %ld, closest at "
             "%.6g s): "
             "the constraints of %s almost depended on each other there (pivot %.1e, %.1e at "
             "most); what follows may be another branch of the motion",
             watch->entry, watch->times, watch->time, which, watch->least, watch->most);
}

// --------------------------------------------------------------------------------- in a simulation

lw_status lwi_sim_prepare_watch(lw_sim *sim)
{
    lwi_watch *watch = &sim->watch;
    if (sim->work->fixed_cost) return LW_OK; // looks make one step longer than another
    TRY(lwi_watch_create(sim->model, &sim->arena, watch));
    if (!watch->active || sim->projection.active) return LW_OK;
    return lwi_snapshot_create(sim->model, &sim->arena, &watch->moment);
}

// What cannot be observed is not looked at: the run ends soon enough.
static bool observe(lw_sim *sim, double t, const double *x, lw_observe level, lwi_snapshot *moment)
{
    moment->t = t;
    return sim->work->formulation->observe(sim->work, t, x, sim->inputs, level, moment) == LW_OK;
}

// The model has accepted velocities that miss its joints by 1e-6 (LWI_CLOSURE_TOLERANCE); putting them right
// may change them by this much [m/s, rad/s] where rows are a thousandth or more away from dependence.  Nearer,
// velocities of no branch of the motion pass as well, and those that are put in their place have little to
// do with them.
#define MOST_CHANGE 1e-3

// The largest difference between the model's velocities and those of the moment, by *speed, the largest of
// both, where that is more than 1; of which body.
static double largest_change(const lw_model *model, const lwi_snapshot *moment, double *speed,
                             int *body)
{
    double most = 0;
    *speed = 1;
    *body = 0;
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        double dv[3], dw[3];
        v3_sub(dv, moment->v[b], model->body[b].v0);
        v3_sub(dw, moment->w[b], model->body[b].w0);
        const double change = fmax(v3_norm(dv), v3_norm(dw));
        *speed = fmax(*speed, fmax(v3_norm(model->body[b].v0), v3_norm(model->body[b].w0)));
        if (change > most) most = change, *body = b;
    }
    return most;
}

lw_status lwi_sim_check_begin(lw_sim *sim)
{
    lwi_watch *watch = &sim->watch;
    double speed;
    int body, edge = 0;
    if (!watch->active || !observe(sim, sim->t, sim->x, LW_OBSERVE_TWIST, &sim->moment))
        return LW_OK;
    const double change = largest_change(sim->model, &sim->moment, &speed, &body);
    if (!(change > MOST_CHANGE * speed)) return LW_OK;
    lwi_system_from_snapshot(&watch->closed, &sim->moment);
    const double pivot = pivot_here(&watch->closed, sim->t, &edge);
    const lw_status status = lwi_singular_fail_speeds(
        sim->model, watch->closed.edge_joint[edge], sim->t, pivot, body, change, &sim->work->error);
    return lwi_sim_fail_work(sim, status, "the initial state");
}

void lwi_sim_watch(lw_sim *sim, double t, const double *x)
{
    lwi_watch *watch = &sim->watch;
    if (!watch->active) return;
    const bool poses = sim->work->formulation->can & LWI_POSES_FIRST;
    const bool seen = sim->projection.active && sim->projection.seen;
    lwi_snapshot *moment = sim->projection.active ? &sim->projection.moment : &watch->moment;
    if (lwi_watch_waits(watch, t)) return;
    if (!seen && poses && !observe(sim, t, x, LW_OBSERVE_POSE, moment)) return;
    if (poses && lwi_watch_rests(watch, moment)) return;
    if (seen && !sim->projection.poses)
        lwi_watch_look(watch, moment);
    else if (observe(sim, t, x, LW_OBSERVE_TWIST, moment))
        lwi_watch_look(watch, moment);
}

// A mechanism that goes through a singular position asks no more of the rows that depend there than the sine by
// which they miss it, 1e-2 at most where that counts as near; one that is driven against itself a good part of all
// that its drives ask.
#define MOST_UNMET 0.05

lw_status lwi_sim_explain(lw_sim *sim, lw_status status)
{
    lwi_watch *watch = &sim->watch;
    lwi_system *s = &watch->closed;
    lwi_integrator_stats stats;
    int edge = 0;
    if (status != LW_ERR_INTEGRATOR && status != LW_ERR_SINGULAR) return status;
    sim->integrator->type->stats(sim->integrator, &stats);
    if (sim->options.max_steps > 0 && stats.steps >= sim->options.max_steps) return status;
    if (!watch->active || !observe(sim, sim->t, sim->x, LW_OBSERVE_POSE, &sim->moment))
        return status;
    lwi_system_from_snapshot(s, &sim->moment);
    // as it is: beside a dead point positions that are off by d go sqrt(d) away to be closed
    const double pivot = pivot_here(s, sim->t, &edge);
    if (!(pivot < LWI_WATCH_NEAR * watch->most)) return status;
    const int joint = s->edge_joint[edge];
    if (sim->model->driven && lwi_system_unmet(s, pivot) > MOST_UNMET)
        lwi_singular_fail_driven(sim->model, joint, sim->t, pivot, &sim->work->error);
    else if (status == LW_ERR_INTEGRATOR && !sim->work->formulation->step)
        lwi_singular_fail(sim->model, joint, sim->t, pivot, &sim->work->error);
    else
        return status;
    return lwi_fail(&sim->error, LW_ERR_SINGULAR, "integration stops at t = %.10g: %s", sim->t,
                    sim->work->error.text);
}

void lwi_sim_end_watch(lw_sim *sim)
{
    if (sim->watch.active && observe(sim, sim->t, sim->x, LW_OBSERVE_TWIST, &sim->moment))
        lwi_watch_end(&sim->watch, &sim->moment);
}
