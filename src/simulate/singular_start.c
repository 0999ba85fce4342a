// singular_start.c -- starts at, or next to, singular positions.
//
// Branches of the motion meet at a singular position, and rows of J depend on each other there.  Velocities select a
// branch if they are tangent to it: small motions along them, put on the constraints, have velocities that tend to
// them as the motion tends to zero.  Others change by a finite amount at once, and no motion leads on.  On its branch
// the motion is an analytic function of time.  One Gauss step leads away from the position; its nodes keep away from
// its ends, so nothing is evaluated there (gauss.c).  Formulations choose ranks and independent coordinates at a
// motion near the start.
//
// From rest, accelerations take the place of velocities.  They are those of Gauss's principle with the rows as
// they are at the position: the nearest to those of free bodies in the metric of the masses.
#include "simulate/branches.h"
#include "simulate/crossing.h"

#include "base/linear.h"
#include "spatial/motion.h"
#include "system/singular.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Sines below this are next to a singular position, if those near it are larger by this factor: others are small
// everywhere.
#define NEXT_TO 1e-3
#define RISES 3
// Motions, in radians or lengths of the mechanism: to the one at which formulations begin, and the longest step away.
#define NEARBY 0.1
#define AWAY 0.3
// The same to the first and the last state from which accelerations and reactions at the start follow.
#define NEAREST 0.04
#define FARTHEST 0.16
// Part of the motion until it reverses.
#define BEFORE_REVERSAL 0.75
// Part of the accelerations of free bodies below which the mechanism is in equilibrium.
#define BALANCED 1e-9
// Sines below this are at the position: no formulation begins there.
#define AT 1e-6
#define REST LWI_CROSSING_STANDSTILL

// ---------------------------------------------------------------------------------------- branches

// Velocities of m := the accelerations from rest; false: they are not known, or zero.
static bool accelerate(lw_sim *sim, lwi_snapshot *m)
{
    const lw_model *model = sim->model;
    lwi_system *s = &sim->monitor.system;
    lwi_assembler *a = sim->passage.gauss.assembler;
    double free = 0;
    if (model->driven || model->nrotor) return false;
    lwi_sim_take_motion(a, m);
    a->t = m->t;
    lwi_system_from_snapshot(s, m);
    lwi_system_forces(s, m->t, sim->inputs);
    lwi_system_applied(s, m->t, &s->loads, s->x);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        double I[6], L[9], *f = s->x[k];
        if (!(model->body[b].mass > 0)) return false;
        s3_rotate(I, a->R[b], model->body[b].inertia);
        s3_full(L, I);
        if (lwi_cholesky(3, L, 0) >= 0) return false;
        v3_scale(a->v[b], 1 / model->body[b].mass, f);
        v3_copy(a->w[b], f + 3);
        lwi_lower_solve(3, L, a->w[b]);
        lwi_lower_tsolve(3, L, a->w[b]);
        free = fmax(free, fmax(v3_norm(a->v[b]) / s->length, v3_norm(a->w[b])));
    }
    a->held = false;
    lwi_assembler_weigh(a);
    lwi_assembler_project(a, 0);
    a->held = true;
    lwi_sim_give_motion(a, m);
    return lwi_sine_rate(s, m) > BALANCED * free;
}

// The velocities change at once, or those of accelerations from rest do: an error that names the body of which they change most.
static lw_status refuse(lw_sim *sim, const lwi_snapshot *change, double pivot)
{
    const lwi_system *s = &sim->monitor.system;
    const int joint = s->edge_joint[sim->crossing.start_edge];
    double largest = 0;
    int body = 0;
    lw_status status;
    char choices[160];
    for (int b = 1; b < sim->model->nbody; b++) {
        const double off = fmax(v3_norm(change->v[b]), v3_norm(change->w[b]));
        if (off > largest) largest = off, body = b;
    }
    lwi_branch_choices(sim, choices, sizeof choices);
    if (sim->crossing.from_rest)
        status =
            lwi_singular_fail_rest(sim->model, joint, sim->t, pivot, choices, &sim->work->error);
    else
        status = lwi_singular_fail_speeds(sim->model, joint, sim->t, pivot, body, largest, choices,
                                          &sim->work->error);
    return lwi_sim_fail_work(sim, status, "the initial state");
}

// ----------------------------------------------------------------------------------- the step away

// Motion along the branch from the start: a velocity and an acceleration, in radians or lengths of the mechanism.
typedef struct progress {
    double rate, acceleration;
} progress;

// Time until a motion by *distance; of one that reverses, before it does: *distance is smaller then.
static double time_to(progress p, double *distance)
{
    const double u = p.rate, a = p.acceleration;
    if (a < 0) *distance = fmin(*distance, BEFORE_REVERSAL * u * u / (-2 * a));
    return 2 * *distance / (u + sqrt(u * u + 2 * a * *distance));
}

// The same after the reversal, to the other side.
static double time_after_reversal(progress p, double distance)
{
    const double u = p.rate, a = fabs(p.acceleration);
    return (u + sqrt(u * u + 2 * a * distance)) / a;
}

// crossing.at := the start with the mean velocities, along the direction m, of a motion by `distance` in the time h.
static void guess(lw_sim *sim, const lwi_snapshot *m, double scale)
{
    lwi_snapshot *at = &sim->crossing.at;
    lwi_snapshot_copy(sim->model, m, at);
    for (int b = 0; b < sim->model->nbody; b++) {
        v3_scale(at->v[b], scale, at->v[b]);
        v3_scale(at->w[b], scale, at->w[b]);
    }
    for (int i = 0; i < sim->model->nv; i++) at->qd[i] *= scale;
}

// Tries a path from the start by `distance` along m in the time h; true: its error is small enough.
static bool try_path(lw_sim *sim, const lwi_snapshot *m, double distance, double h)
{
    lwi_crossing *c = &sim->crossing;
    const lw_options *o = &sim->options;
    guess(sim, m, distance / (h * lwi_sine_rate(&sim->monitor.system, m)));
    c->path.shifted = false;
    if (!lwi_sim_attempt_path(sim, 0, h)) return false;
    c->path.estimate = lwi_crossing_longer(c->path.estimate);
    if (!(c->path.estimate < fmin(lwi_crossing_accepted(o), c->best.estimate))) return false;
    lwi_crossing_keep_path(c);
    return c->best.estimate <= lwi_crossing_enough(o);
}

// The path from the start along the branch with the direction m.
static bool find_path(lw_sim *sim, const lwi_snapshot *m, progress p)
{
    static const double parts[] = {1, 0.6, 0.36, 0.2, 0.1};
    lwi_crossing *c = &sim->crossing;
    bool done = false;
    c->best.estimate = INFINITY;
    c->first = &c->start;
    for (int i = 0; i < LWI_COUNT(parts) && !done; i++) {
        double distance = parts[i] * AWAY;
        if (p.acceleration < 0)
            done = try_path(sim, m, -distance, time_after_reversal(p, distance));
        if (done || !(p.rate > 0 || p.acceleration > 0)) continue;
        const double h = time_to(p, &distance);
        done = try_path(sim, m, distance, h);
    }
    c->first = NULL;
    return c->best.estimate < INFINITY;
}

// Velocity and acceleration along m; the latter at the motion near the start, without velocities.
static progress find_progress(lw_sim *sim, const lwi_snapshot *m)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const lw_model *model = sim->model;
    const double unit = lwi_sine_rate(&sim->monitor.system, m);
    double along = 0, square = 0;
    progress p = {.rate = c->from_rest ? 0 : unit};
    if (model->driven) return p; // without velocities drives would not be where they are
    lwi_gauss_move(g, m, NEARBY / unit);
    lwi_snapshot_copy(model, &g->moved, &c->at);
    for (int b = 0; b < model->nbody; b++) v3_set(c->at.v[b], 0, 0, 0), v3_set(c->at.w[b], 0, 0, 0);
    if (!lwi_gauss_enter(g, &c->at, 0, g->x) ||
        g->work->formulation->observe(g->work, m->t, g->x, sim->inputs, LW_OBSERVE_ACCELERATION,
                                      &g->node) != LW_OK)
        return p;
    for (int b = 1; b < model->nbody; b++) {
        along += v3_dot(g->node.a[b], m->v[b]) + v3_dot(g->node.al[b], m->w[b]);
        square += v3_dot(m->v[b], m->v[b]) + v3_dot(m->w[b], m->w[b]);
    }
    p.acceleration = along / square * unit;
    return p;
}

// The state of the run := that of the step away from the start along m.
static bool leave(lw_sim *sim, const lwi_snapshot *m)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_crossing_piece *piece = &c->best.piece[0];
    double nearest = NEAREST, farthest = FARTHEST;
    lwi_gauss_move(g, m, NEARBY / lwi_sine_rate(&sim->monitor.system, m));
    const double sine = lwi_sine_at(&sim->monitor, &g->moved);
    sim->monitor.largest = fmax(sim->monitor.largest, sine * sine);
    if (sim->work->formulation->enter(sim->work, &g->moved, sim->x) != LW_OK) return false;
    if (g->own) g->work->mode = sim->work->mode;
    lwi_gauss_keep(g);
    const progress p = find_progress(sim, m);
    const bool found = find_path(sim, m, p) && lwi_sim_enter_path_end(sim, piece->t + piece->h);
    lwi_gauss_restore(g);
    if (!found) return false;
    c->begin = piece->t, c->end = piece->t + piece->h;
    c->started = true;
    c->nearest = fmin(time_to(p, &nearest), 0.25 * piece->h);
    c->farthest = fmax(2 * c->nearest, fmin(time_to(p, &farthest), piece->h));
    if (lwi_sim_place_near(sim, c->begin)) return true;
    lwi_sim_leave_crossing(sim);
    return false;
}

// The direction of the branch: the start with its velocities, or with accelerations in their place; false: there is none.
static bool find_direction(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    lwi_snapshot_copy(sim->model, &c->start, &c->direction);
    c->from_rest = !(lwi_sine_rate(&sim->monitor.system, &c->start) > REST);
    return !c->from_rest || accelerate(sim, &c->direction);
}

static lw_status keep_start(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    if (!c->start.r) {
        lw_status status = lwi_snapshot_create(sim->model, &sim->arena, &c->start);
        if (status == LW_OK && !c->from.r)
            status = lwi_snapshot_create(sim->model, &sim->arena, &c->from);
        if (status == LW_OK) status = lwi_snapshot_create(sim->model, &sim->arena, &c->direction);
        if (status != LW_OK) return lwi_fail(&sim->error, status, "no memory for a simulation");
    }
    lwi_snapshot_copy(sim->model, &sim->snapshot, &c->start);
    return LW_OK;
}

// Steps of a formulation's own follow a branch that velocities select, and stay in equilibrium.  Where no motion leads on
// they would follow round-off.
static lw_status check_own_steps(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    const lwi_system *s = &sim->monitor.system;
    if (!sim->passage.active || !sim->work->formulation->step ||
        sim->options.singular == LW_SINGULAR_TURN)
        return LW_OK;
    const double pivot = lwi_monitor_pivot(&sim->monitor, &sim->snapshot, &c->start_edge);
    if (!(pivot < AT * AT)) return LW_OK;
    TRY(keep_start(sim));
    const bool leads = find_direction(sim);
    if (!leads) return sim->model->driven ? refuse(sim, &c->start, pivot) : LW_OK;
    const double rate = lwi_sine_rate(s, &c->direction);
    lwi_branch_change(sim, &c->direction, rate, &c->from);
    if (!(lwi_sine_at(&sim->monitor, &sim->passage.gauss.moved) > RISES * sqrt(pivot)))
        return LW_OK;
    const bool tangent = lwi_sine_rate(s, &c->from) <= LWI_BRANCH_CHANGE * rate;
    return tangent ? LW_OK : refuse(sim, &c->from, pivot);
}

lw_status lwi_sim_leave_singular(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    const lwi_system *s = &sim->monitor.system;
    c->started = false;
    if (!c->active) return check_own_steps(sim);
    const double pivot = lwi_monitor_pivot(&sim->monitor, &sim->snapshot, &c->start_edge);
    // from rest, formulations begin next to one
    const double limit = lwi_sine_rate(s, &sim->snapshot) > REST ? NEXT_TO : AT;
    if (!(pivot < limit * limit)) {
        if (sim->passage.active) // rows near the start need no other pivot
            lwi_sine_take(s, &sim->snapshot, sqrt(pivot), &sim->passage.last);
        return LW_OK;
    }
    TRY(keep_start(sim));
    if (!find_direction(sim)) return LW_OK;
    const double rate = lwi_sine_rate(s, &c->direction);
    lwi_branch_change(sim, &c->direction, rate, &c->from);
    if (!(lwi_sine_at(&sim->monitor, &sim->passage.gauss.moved) > RISES * sqrt(pivot)))
        return LW_OK;
    if (!(lwi_sine_rate(s, &c->from) <= LWI_BRANCH_CHANGE * rate))
        return pivot < AT * AT ? refuse(sim, &c->from, pivot) : LW_OK;
    c->started = leave(sim, &c->direction);
    return LW_OK;
}

bool lwi_sim_leave_singular_again(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    if (!c->started || sim->t != c->begin) return false;
    c->started = find_direction(sim) && leave(sim, &c->direction);
    return c->started;
}

// Where uniqueness of reactions is observed, it is that of the last state outside.
static void take_uniqueness(lw_sim *sim)
{
    const lwi_snapshot *m = &sim->passage.gauss.node;
    const size_t n = (size_t)sim->model->njoint;
    memcpy(sim->snapshot.unique, m->unique, n * sizeof *m->unique);
    memcpy(sim->snapshot.undetermined, m->undetermined, n * sizeof *m->undetermined);
}

bool lwi_sim_observe_singular_start(lw_sim *sim, lw_observe level)
{
    lwi_crossing *c = &sim->crossing;
    lwi_snapshot *m = &sim->snapshot;
    if (!c->started || sim->t != c->begin) return false;
    m->t = sim->t;
    // momenta are those of the state next to it
    if (level >= LW_OBSERVE_MOMENTUM &&
        sim->work->formulation->observe(sim->work, sim->t, sim->x, sim->inputs, LW_OBSERVE_TWIST,
                                        m) != LW_OK)
        return false;
    lwi_snapshot_copy(sim->model, &c->start, m);
    if (level < LW_OBSERVE_ACCELERATION) return true;
    if (!lwi_sim_continue_start(sim, level, m)) return false;
    if (level >= LW_OBSERVE_REACTION) take_uniqueness(sim);
    return true;
}

void lwi_singular_start_message(const lw_sim *sim, char *text, size_t size)
{
    const lwi_crossing *c = &sim->crossing;
    const lwi_system *s = &sim->monitor.system;
    char which[320];
    text[0] = 0;
    if (!c->active || !c->started) return;
    lwi_singular_names(sim->model, s->edge_joint[c->start_edge], which, sizeof which);
    snprintf(text, size,
             "starts at a singular position, where the constraints of %s depend on each other: "
             "continues along the branch of %s",
             which, c->from_rest ? "the accelerations from rest" : "the velocities given");
}
