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

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Sines below these, moving and at rest, are next to a singular position, if those near it are larger by this factor: others
// are small everywhere.
#define NEXT_TO 1e-3
#define NEXT_TO_AT_REST 1e-2
#define RISES 3
// Motions, in radians or lengths of the mechanism: to the one at which formulations begin, and the longest step away.
#define NEARBY 0.1
#define AWAY 0.3
// Part of the motion until it reverses.
#define BEFORE_REVERSAL 0.75
// Part of the accelerations of free bodies below which the mechanism is in equilibrium.
#define BALANCED 1e-9
// Sines below this are at the position: no formulation begins there.
#define AT 1e-6
// Pivots above which rows at the start determine a branch, and their compliance there.
#define LOST_PIVOT 1e-13
#define COMPLIANCE 1e-14
// Minima before this part of a path from the start may be round-off, if the pivots next to them are not larger by this factor.
#define BEGIN 0.03
#define DEPTH 0.1
// The error of a path of which a node is x from a position, in radians or lengths of the mechanism: this times
// DBL_EPSILON / x^3; 5e-3 was measured.
#define NODE_ERROR 5e-3
// The largest one where no path is as accurate as those across.
#define LARGEST_ERROR 1e-6
// Lengths of paths that are tried before nodes need keep away from positions on them.
enum { FEW = 5 };
// The acceleration next to the start differs by this factor at most.
#define CHANGES 3
// Sines above this are away from positions.
#define REGULAR 0.03
#define REST LWI_CROSSING_STANDSTILL

// ---------------------------------------------------------------------------------------- branches

// Velocities of m := the accelerations from rest; false: they are not known, or zero.
// @param compliance  0, or that of rows next to a position, which determine its branch
static bool accelerate(lw_sim *sim, double compliance, lwi_snapshot *m)
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
    a->held = false;
    lwi_assembler_weigh(a);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        double I[6], L[9], *f = s->x[k];
        if (!(model->body[b].mass > 0)) return false;
        s3_rotate(I, a->R[b], model->body[b].inertia);
        s3_full(L, I);
        v3_scale(a->v[b], 1 / model->body[b].mass, f);
        v3_copy(a->w[b], f + 3);
        if (lwi_cholesky(3, L, 0) >= 0) { // a thin rod: as in the metric of the projection
            s3_mul_v(a->w[b], a->metric[k].ang, f + 3);
        } else {
            lwi_lower_solve(3, L, a->w[b]);
            lwi_lower_tsolve(3, L, a->w[b]);
        }
        free = fmax(free, fmax(v3_norm(a->v[b]) / s->length, v3_norm(a->w[b])));
    }
    a->compliance = compliance;
    lwi_assembler_project(a, 0);
    a->compliance = 0;
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

// Distance from the start to a position at which it is [radians or lengths of the mechanism].
static double at_position(const lwi_crossing *c)
{
    return c->from_rest ? AT : NEXT_TO;
}

// The largest error of rates at a node of the path that is near a position on it, or near the start.
static double error_at_nodes(const lw_sim *sim, const lwi_crossing_path *path, double distance)
{
    const lwi_gauss *g = &sim->passage.gauss;
    const lwi_gauss_rule *rules[] = {&g->rule4, &g->rule6};
    const lwi_crossing_piece *piece = &path->piece[0];
    const double power = sim->crossing.from_rest ? 2 : 1; // of time, with which motions grow
    double nearest = INFINITY;
    for (int r = 0; r < LWI_COUNT(rules); r++)
        for (int i = 0; i < rules[r]->stages; i++)
            for (int k = -1; k < path->npassed; k++) {
                const double at = k < 0 ? 0 : (path->passed[k] - piece->t) / piece->h;
                nearest = fmin(nearest, fabs(pow(rules[r]->c[i], power) - pow(at, power)));
            }
    return NODE_ERROR * DBL_EPSILON / pow(nearest * distance, 3);
}

// Positions of loops that begin at one are not passed.  Those that begin next to one and move away have minima of round-off.
static void discard_start(const lwi_crossing *c, lwi_crossing_path *path, double distance)
{
    const lwi_crossing_piece *piece = &path->piece[0];
    int n = 0;
    for (int i = 0; i < path->npassed; i++) {
        const double at = (path->passed[i] - piece->t) / piece->h;
        const double from = c->from_rest ? at * at * distance : at * distance;
        if (from < at_position(c) || (at < BEGIN && path->depth[i] > DEPTH)) continue;
        path->depth[n] = path->depth[i], path->passed[n++] = path->passed[i];
    }
    path->npassed = n;
}

// Tries a path from the start by `distance` along m in the time h; true: its error is small enough.
static bool try_path(lw_sim *sim, const lwi_snapshot *m, double distance, double h, double allowed)
{
    lwi_crossing *c = &sim->crossing;
    lwi_crossing_path *path = &c->path;
    const lw_options *o = &sim->options;
    guess(sim, m, distance / (h * lwi_sine_rate(&sim->monitor.system, m)));
    path->shifted = false;
    if (!lwi_sim_attempt_path(sim, 0, h)) return false;
    path->estimate = lwi_crossing_longer(path->estimate);
    if (!(path->estimate < fmin(allowed, c->best.estimate))) return false;
    if (!lwi_crossing_count_passed(sim, path)) return false;
    if (lwi_crossing_find_gaps(sim) && !(path->gap <= LWI_CROSSING_LARGEST_GAP)) return false;
    const double at_nodes = error_at_nodes(sim, path, fabs(distance));
    discard_start(c, path, fabs(distance));
    if (path->npassed) {
        path->estimate = fmax(path->estimate, at_nodes);
        if (!(path->estimate < fmin(allowed, c->best.estimate))) return false;
    }
    lwi_crossing_keep_path(c);
    return c->best.estimate <= lwi_crossing_enough(o);
}

// The path from the start along the branch with the direction m.
static bool find_path(lw_sim *sim, const lwi_snapshot *m, progress p)
{
    static const double parts[] = {1, 0.6, 0.36, 0.2, 0.1, 0.77, 0.46, 0.28, 0.15};
    lwi_crossing *c = &sim->crossing;
    const double accepted = lwi_crossing_accepted(&sim->options);
    bool done = false;
    c->best.estimate = INFINITY;
    c->first = &c->start;
    for (int i = 0; i < 2 * LWI_COUNT(parts) && !done; i++) {
        const bool last = i >= LWI_COUNT(parts);
        if (i >= FEW && c->best.npassed == 0 && c->best.estimate < accepted) break;
        if (i == LWI_COUNT(parts) && c->best.estimate < INFINITY) break;
        const double allowed = last ? fmax(LARGEST_ERROR, accepted) : accepted;
        double distance = parts[i % LWI_COUNT(parts)] * AWAY;
        if (p.acceleration < 0)
            done = try_path(sim, m, -distance, time_after_reversal(p, distance), allowed);
        if (done || !(p.rate > 0 || p.acceleration > 0)) continue;
        const double h = time_to(p, &distance);
        done = try_path(sim, m, distance, h, allowed);
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
    // those from rest are known; that motion may be next to the position of other loops
    if (c->from_rest && !(p.acceleration > unit / CHANGES && p.acceleration < unit * CHANGES))
        p.acceleration = unit;
    return p;
}

// gauss.moved := the start moved by a part of NEARBY along m; its sine.
static double move_by(lw_sim *sim, const lwi_snapshot *m, double part)
{
    lwi_gauss *g = &sim->passage.gauss;
    lwi_gauss_move(g, m, part * NEARBY / lwi_sine_rate(&sim->monitor.system, m));
    return lwi_sine_at(&sim->monitor, &g->moved);
}

// gauss.moved := a motion near the start, away from positions of other loops: along m, or one that moves loops that hardly do.
static void move_nearby(lw_sim *sim, const lwi_snapshot *m)
{
    static const double parts[] = {1, 0.7, 1.4, 0.5};
    static const double other_parts[] = {1, 3};
    enum { OTHERS = 4 };
    lwi_snapshot *other = &sim->crossing.from;
    double best = 0, part = 1;
    int k = -1;
    for (int i = 0; i < LWI_COUNT(parts) && best < REGULAR; i++) {
        const double sine = move_by(sim, m, parts[i]);
        if (sine > best) best = sine, part = parts[i];
    }
    for (int i = 0; i < OTHERS * LWI_COUNT(other_parts) && best < REGULAR; i++) {
        lwi_branch_velocities(sim, i % OTHERS, other);
        const double sine = move_by(sim, other, other_parts[i / OTHERS]);
        if (sine > best) best = sine, part = other_parts[i / OTHERS], k = i % OTHERS;
    }
    if (k >= 0) lwi_branch_velocities(sim, k, other);
    move_by(sim, k >= 0 ? other : m, part);
    sim->monitor.largest = fmax(sim->monitor.largest, best * best);
}

// The path along m, and the state of the run at its begin.  Formulations choose ranks and independent coordinates at a motion near the
// start, for which the state is entered there first.
static bool enter_path(lw_sim *sim, const lwi_snapshot *m)
{
    lwi_crossing *c = &sim->crossing;
    lwi_gauss *g = &sim->passage.gauss;
    const lwi_crossing_piece *piece = &c->best.piece[0];
    move_nearby(sim, m);
    if (sim->work->formulation->enter(sim->work, &g->moved, sim->x) != LW_OK) return false;
    if (g->own) g->work->mode = sim->work->mode;
    lwi_gauss_keep(g);
    const progress p = find_progress(sim, m);
    const bool found = find_path(sim, m, p) && lwi_sim_enter_path_end(sim, piece->t + piece->h);
    lwi_gauss_restore(g);
    if (!found) {
        c->best.npassed = 0; // not in the count of the run
        return false;
    }
    c->begin = piece->t, c->end = piece->t + piece->h;
    c->started = true;
    c->aside = !lwi_sim_place_on_path(sim, c->begin);
    if (!c->aside || lwi_sim_place_near(sim, c->begin)) return true;
    c->best.npassed = 0;
    lwi_sim_leave_crossing(sim);
    return false;
}

// The state of the run := that of the step away from the start along m.  false: there is none, and the state is as it was.
static bool leave(lw_sim *sim, const lwi_snapshot *m)
{
    lwi_work *work = sim->work;
    const size_t bytes = (size_t)work->layout.nx * sizeof *sim->x;
    memcpy(sim->scratch, sim->x, bytes);
    if (work->ndiscrete) memcpy(sim->spare, work->discrete, work->ndiscrete);
    if (enter_path(sim, m)) {
        lwi_crossing_take_passed(sim);
        return true;
    }
    memcpy(sim->x, sim->scratch, bytes);
    if (work->ndiscrete) memcpy(work->discrete, sim->spare, work->ndiscrete);
    return false;
}

// The direction of the branch: the start with its velocities, or with accelerations in their place; false: there is none.
static bool find_direction(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    const bool next_to = c->ngroup > 1 || c->start_pivot > LOST_PIVOT;
    lwi_snapshot_copy(sim->model, &c->start, &c->direction);
    c->from_rest = !(lwi_sine_rate(&sim->monitor.system, &c->start) > REST);
    return !c->from_rest || accelerate(sim, next_to ? COMPLIANCE : 0, &c->direction);
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
    c->start_pivot = pivot;
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
    c->start_pivot = pivot;
    const bool moves = lwi_sine_rate(s, &sim->snapshot) > REST;
    const double limit = moves ? NEXT_TO : NEXT_TO_AT_REST;
    if (!(pivot < limit * limit)) {
        if (sim->passage.active) // rows near the start need no other pivot
            lwi_sine_take(s, &sim->snapshot, sqrt(pivot), &sim->passage.last);
        if (c->ngroup < 2 || !(pivot < REGULAR * REGULAR)) return LW_OK;
        TRY(keep_start(sim));
        if (find_direction(sim)) move_nearby(sim, &c->direction);
        return LW_OK;
    }
    lwi_crossing_take_pivots(sim, sqrt(pivot), c->last_pivot);
    int nearest = 0;
    for (int k = 1; k < c->ngroup; k++)
        if (c->last_pivot[k] < c->last_pivot[nearest]) nearest = k;
    TRY(keep_start(sim));
    if (!find_direction(sim)) return LW_OK;
    const double rate = lwi_sine_rate(s, &c->direction);
    // one motion shows whether sines are small everywhere, as in a large net
    lwi_gauss_move(&sim->passage.gauss, &c->direction, LWI_BRANCH_MOTION / rate);
    const double sine = lwi_sine_at(&sim->monitor, &sim->passage.gauss.moved);
    lwi_crossing_take_pivots(sim, sine, c->at_pivot);
    if (!(sqrt(c->at_pivot[nearest]) > RISES * sqrt(pivot))) {
        // the largest sine of the run; loops that share no joint may all but one be at their positions along this motion
        if (c->ngroup > 1) move_nearby(sim, &c->direction);
        return LW_OK;
    }
    lwi_branch_change(sim, &c->direction, rate, &c->from);
    if (!(lwi_sine_rate(s, &c->from) <= LWI_BRANCH_CHANGE * rate)) {
        if (pivot < AT * AT) return refuse(sim, &c->from, pivot);
        if (c->ngroup > 1) move_nearby(sim, &c->direction);
        return LW_OK;
    }
    // sines grow in proportion
    c->begins = LWI_BRANCH_MOTION * sqrt(pivot / c->at_pivot[nearest]) < at_position(c);
    c->started = leave(sim, &c->direction);
    return LW_OK;
}

bool lwi_sim_leave_singular_again(lw_sim *sim)
{
    lwi_crossing *c = &sim->crossing;
    if (!c->started || sim->t != c->begin) return false;
    lwi_sim_count_back(sim);
    c->started = find_direction(sim) && leave(sim, &c->direction);
    return c->started;
}

bool lwi_sim_observe_singular_start(lw_sim *sim, lw_observe level)
{
    lwi_crossing *c = &sim->crossing;
    lwi_snapshot *m = &sim->snapshot;
    if (!c->started || sim->t != c->begin || !(c->begins || c->aside)) return false;
    m->t = sim->t;
    // momenta are those of the state next to it
    if (level >= LW_OBSERVE_MOMENTUM &&
        sim->work->formulation->observe(sim->work, sim->t, sim->x, sim->inputs, LW_OBSERVE_TWIST,
                                        m) != LW_OK)
        return false;
    lwi_snapshot_copy(sim->model, &c->start, m);
    if (level < LW_OBSERVE_ACCELERATION) return true;
    if (!lwi_sim_continue_start(sim, level, m)) return false;
    if (level >= LW_OBSERVE_REACTION) lwi_sim_take_uniqueness(sim);
    return true;
}

void lwi_singular_start_message(const lw_sim *sim, char *text, size_t size)
{
    const lwi_crossing *c = &sim->crossing;
    const lwi_system *s = &sim->monitor.system;
    char which[320];
    text[0] = 0;
    if (!c->active || !c->started || !c->begins) return;
    lwi_singular_names(sim->model, s->edge_joint[c->start_edge], which, sizeof which);
    snprintf(text, size,
             "starts at a singular position, where the constraints of %s depend on each other: "
             "continues along the branch of %s",
             which, c->from_rest ? "the accelerations from rest" : "the velocities given");
}
