// passage.c -- reactions close to singular positions.
//
// At a singular position rows of J lose their rank, but the multipliers are smooth functions of time.  Solved for,
// they are wrong by the relative error of the accelerations over the sine s of the distance.  So within s < theta
// they are not solved for: each component is the value at the row of the cubic through four states outside.  These
// states are on the same side of the position as the row, and are reached from the row's own state, projected onto
// the constraints: by a Gauss step to the first one, at s = NEAREST theta, and one to the last one, at four times
// that; the other two are its inner stages.  The nodes of Gauss steps keep away from the state they start with, so
// nothing is evaluated at the row itself, and nothing depends on rows or steps before it.
//
// theta is at least 0.01: states close to a singular position have larger errors than the tolerance.  With 1e-3, rows
// outside the band were off by 0.5 N of 18 N at a tolerance of 1e-12.
//
// A mechanism that stops or reverses within the band has no such states: its reactions are those solved for.  So are
// they where loads must be held by bars in a line: these forces grow as 1/s, and no cubic describes them.
#include "simulate/simulation.h"

#include "base/assert.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

// theta = max(MIN_BAND, BAND rtol^(1/5)), sines relative to the largest one of the run.
#define MIN_BAND 1e-2
#define BAND 0.25
#define NEAREST 1.5
enum { STAGES = LWI_PASSAGE_STAGES, NODES = LWI_PASSAGE_NODES, MAX_SWEEPS = 25 };
// Motion, in radians or lengths of the mechanism, over which the change of the sine is measured, and the largest one
// to the last state.
#define TRIAL 0.05
#define LARGEST_MOTION 0.6
// Share of the largest reaction at the nearest state that grows as 1/s.
#define POLE 0.05
// Change of the stages relative to that of the step that ends the sweeps.
#define CONVERGED 1e-13
#define NOISE 1e-3 // of accelerations close to the position: the change that need not fall any more

// ------------------------------------------------------------------------------------------ create

// Coefficients of the Gauss-Legendre step of order 8, from its nodes: A_ij and b_j are integrals of the Lagrange
// polynomials.
static void make_tableau(lwi_passage *p)
{
    const double inner = sqrt(3.0 / 7 - 2.0 / 7 * sqrt(1.2)),
                 outer = sqrt(3.0 / 7 + 2.0 / 7 * sqrt(1.2));
    const double node[STAGES] = {-outer, -inner, inner, outer};
    for (int i = 0; i < STAGES; i++) p->c[i] = 0.5 + 0.5 * node[i];
    for (int j = 0; j < STAGES; j++) {
        double l[STAGES] = {1}; // coefficients of the polynomial, from the constant on
        for (int k = 0, n = 0; k < STAGES; k++) {
            if (k == j) continue;
            const double scale = 1 / (p->c[j] - p->c[k]);
            n++;
            for (int i = n; i >= 0; i--)
                l[i] = scale * ((i > 0 ? l[i - 1] : 0) - (i < n ? p->c[k] * l[i] : 0));
        }
        p->b[j] = 0;
        for (int k = 0; k < STAGES; k++) p->b[j] += l[k] / (k + 1);
        for (int i = 0; i < STAGES; i++) {
            double power = p->c[i];
            p->A[i][j] = 0;
            for (int k = 0; k < STAGES; k++, power *= p->c[i]) p->A[i][j] += l[k] / (k + 1) * power;
        }
    }
}

// Formulations without rates leave the states outside to `dca`.  p->work is NULL if that does not accept the model.
static lw_status choose_work(lw_sim *sim, lwi_passage *p)
{
    p->work = sim->work;
    if (sim->work->formulation->rates) return LW_OK;
    const lw_status status =
        lwi_work_create(sim->model, &lwi_formulation_dca, &sim->arena.allocator, &p->own, NULL);
    p->work = status == LW_OK ? p->own : NULL;
    return status == LW_ERR_MEMORY ? status : LW_OK;
}

lw_status lwi_sim_prepare_passage(lw_sim *sim)
{
    lwi_passage *p = &sim->passage;
    lwi_arena *arena = &sim->arena;
    const lw_model *model = sim->model;
    if (!sim->monitor.active || sim->work->own_output) return LW_OK;
    TRY(choose_work(sim, p));
    if (!p->work) return LW_OK;
    const int nx = p->work->layout.nx;
    p->assembler = &sim->projection.assembler;
    if (!sim->projection.active) {
        p->assembler = LWI_PUSH(arena, lwi_assembler, 1);
        if (!p->assembler) return LW_ERR_MEMORY;
        TRY(lwi_assembler_create(model, 0, NULL, arena, p->assembler));
    }
    TRY(lwi_snapshot_create(model, arena, &p->moved));
    TRY(lwi_snapshot_create(model, arena, &p->node));
    p->r = lwi_arena_push(arena, (size_t)model->nnode, sizeof *p->r);
    p->quat = lwi_arena_push(arena, (size_t)model->nnode, sizeof *p->quat);
    p->x = LWI_PUSH(arena, double, nx);
    p->discrete = lwi_arena_push(arena, 1, p->work->ndiscrete);
    p->reaction = lwi_arena_push(arena, (size_t)NODES * (size_t)model->njoint, sizeof *p->reaction);
    p->stage = LWI_PUSH(arena, double, STAGES *nx);
    p->before = LWI_PUSH(arena, double, STAGES *nx);
    p->rate = LWI_PUSH(arena, double, STAGES *nx);
    if (!p->r || !p->quat || !p->x || !p->discrete || !p->reaction || !p->stage || !p->before ||
        !p->rate)
        return LW_ERR_MEMORY;
    make_tableau(p);
    p->band = fmax(MIN_BAND, BAND * pow(sim->options.rtol, 0.2));
    p->active = true;
    return LW_OK;
}

void lwi_sim_release_passage(lw_sim *sim)
{
    lwi_work_destroy(sim->passage.own);
}

// ------------------------------------------------------------------------------------------- sines

static double sine_of(lwi_monitor *monitor, const lwi_snapshot *m)
{
    lwi_system_from_snapshot(&monitor->system, m);
    return sqrt(lwi_monitor_pivot(monitor, m->t));
}

// Largest rate of a body, in radians or lengths of the mechanism per second.
static double rate_of(const lwi_system *s, const lwi_snapshot *m)
{
    double largest = 0;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        largest = fmax(largest, fmax(v3_norm(m->v[b]) / s->length, v3_norm(m->w[b])));
    }
    return largest;
}

// Largest motion of a body between poses at time t and m, at most.
static double motion_since(const lwi_system *s, const double (*r)[3], const double (*quat)[4],
                           double t, const lwi_snapshot *m, double rate)
{
    double largest = 0;
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        double d[3], q[4], c[4];
        v3_sub(d, m->r[b], r[k]);
        memcpy(q, m->quat[b], sizeof q);
        quat_continue(q, quat[k]);
        for (int i = 0; i < 4; i++) c[i] = q[i] - quat[k][i];
        largest = fmax(largest, fmax(v3_norm(d) / s->length, 2 * sqrt(quat_norm2(c))));
    }
    return fmax(largest, rate * fabs(m->t - t)); // counts full rotations
}

// Sines decrease by less than one per radian.  Without knowledge, 0.
static double lower_bound(const lw_sim *sim, const lwi_snapshot *m, double rate)
{
    const lwi_monitor *monitor = &sim->monitor;
    const lwi_passage *p = &sim->passage;
    const lwi_system *s = &monitor->system;
    double bound = 0;
    if (p->sampled)
        bound = p->sine - motion_since(s, (const double(*)[3])p->r, (const double(*)[4])p->quat,
                                       p->t, m, rate);
    if (monitor->count > 0) {
        const lwi_monitor_sample *last = &monitor->sample[monitor->count - 1];
        bound = fmax(bound, sqrt(last->pivot) - motion_since(s, (const double(*)[3])last->r,
                                                             (const double(*)[4])last->quat,
                                                             last->t, m, rate));
    }
    return bound;
}

static void note_sample(lwi_passage *p, const lw_model *model, const lwi_snapshot *m, double sine)
{
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        v3_copy(p->r[k], m->r[b]);
        memcpy(p->quat[k], m->quat[b], sizeof p->quat[k]);
    }
    p->t = m->t, p->sine = sine;
    p->sampled = true;
}

// ------------------------------------------------------------------------------------------ states

// p->moved := the motion of m after dt at its velocities, with positions and velocities on the constraints.
static void move(lwi_passage *p, const lwi_snapshot *m, double dt)
{
    lwi_assembler *a = p->assembler;
    lwi_sim_take_motion(a, m);
    for (int k = 0; k < a->model->nnode && dt != 0; k++) {
        const int b = a->model->node[k].body;
        const double speed = v3_norm(a->w[b]);
        double axis[3], turn[9], R[9];
        v3_axpy(a->r[b], dt, a->v[b]);
        if (!(speed > 0)) continue;
        v3_scale(axis, 1 / speed, a->w[b]);
        rot_axis(turn, axis, speed * dt);
        m3_mul(R, turn, a->R[b]);
        memcpy(a->R[b], R, sizeof R);
    }
    a->t = m->t + dt;
    lwi_assembler_correct(a);
    if (a->model->nbody) memcpy(p->moved.quat, m->quat, (size_t)a->model->nbody * sizeof *m->quat);
    lwi_sim_give_motion(a, &p->moved);
    p->moved.t = a->t;
    p->moved.work = m->work;
}

static lw_status enter(lwi_passage *p, const lwi_snapshot *m, double dt, double *x)
{
    lwi_work *work = p->work;
    move(p, m, dt);
    work->resumed = true;
    const lw_status status = work->formulation->enter(work, &p->moved, x);
    work->resumed = false;
    return status;
}

// ------------------------------------------------------------------------------------- Gauss steps

// before := x + h A rates: the stages, not yet on the constraints.  The largest change of a component, relative to the largest change over the step.
static double update(lwi_passage *p, double h)
{
    const int nx = p->work->layout.nx;
    double change = 0, step = 0;
    for (int i = 0; i < STAGES; i++)
        for (int k = 0; k < nx; k++) {
            double sum = 0;
            for (int j = 0; j < STAGES; j++) sum += p->A[i][j] * p->rate[j * nx + k];
            const double value = p->x[k] + h * sum;
            change = fmax(change, fabs(value - p->before[i * nx + k]));
            step = fmax(step, fabs(h * p->rate[i * nx + k]));
            p->before[i * nx + k] = value;
        }
    return step > 0 ? change / step : 0;
}

// to := the state x at time t, on the constraints.
static bool project(lw_sim *sim, double t, const double *x, double *to)
{
    lwi_passage *p = &sim->passage;
    p->node.t = t;
    return p->work->formulation->observe(p->work, t, x, sim->inputs, LW_OBSERVE_TWIST, &p->node) ==
               LW_OK &&
           enter(p, &p->node, 0, to) == LW_OK;
}

// A step of length h from p->x at time t; `offset`: of t from the motion m, from which the stages start.
static bool gauss_step(lw_sim *sim, const lwi_snapshot *m, double offset, double h)
{
    lwi_passage *p = &sim->passage;
    lwi_work *work = p->work;
    const int nx = work->layout.nx;
    const double t = m->t + offset;
    double last = INFINITY;
    for (int i = 0; i < STAGES; i++)
        if (enter(p, m, offset + p->c[i] * h, p->stage + i * nx) != LW_OK) return false;
    memcpy(p->before, p->stage, (size_t)(STAGES * nx) * sizeof *p->before);
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        for (int i = 0; i < STAGES; i++)
            if (work->formulation->rates(work, t + p->c[i] * h, p->stage + i * nx, sim->inputs,
                                         p->rate + i * nx) != LW_OK)
                return false;
        const double change = update(p, h);
        if (!(change < 1e3)) return false;
        for (int i = 0; i < STAGES; i++)
            if (!project(sim, t + p->c[i] * h, p->before + i * nx, p->stage + i * nx)) return false;
        if (change < CONVERGED || (sweep > 3 && change < NOISE && change >= last)) break;
        if (sweep == MAX_SWEEPS - 1 && change > NOISE) return false;
        last = change;
    }
    for (int k = 0; k < nx; k++)
        for (int j = 0; j < STAGES; j++) p->x[k] += h * p->b[j] * p->rate[j * nx + k];
    return project(sim, t + h, p->x, p->x);
}

// Reactions of the state x at time t become those of a node.
static bool observe_node(lw_sim *sim, int node, double t, const double *x)
{
    lwi_passage *p = &sim->passage;
    lwi_work *work = p->work;
    const int njoint = sim->model->njoint;
    p->node.t = t;
    if (work->formulation->observe(work, t, x, sim->inputs, LW_OBSERVE_REACTION, &p->node) != LW_OK)
        return false;
    memcpy(p->reaction + (size_t)node * (size_t)njoint, p->node.reaction,
           (size_t)njoint * sizeof *p->reaction);
    return true;
}

// The four states: dt from the motion m, in the order of their distance.
static bool find_nodes(lw_sim *sim, const lwi_snapshot *m, double first, double last,
                       double dt[NODES])
{
    lwi_passage *p = &sim->passage;
    const int nx = p->work->layout.nx;
    const double h = last - first;
    dt[0] = first, dt[1] = first + p->c[1] * h, dt[2] = first + p->c[2] * h, dt[3] = last;
    return enter(p, m, 0, p->x) == LW_OK && gauss_step(sim, m, 0, first) &&
           observe_node(sim, 0, m->t + dt[0], p->x) && gauss_step(sim, m, first, h) &&
           observe_node(sim, 1, m->t + dt[1], p->stage + nx) &&
           observe_node(sim, 2, m->t + dt[2], p->stage + 2 * nx) &&
           observe_node(sim, 3, m->t + dt[3], p->x);
}

// Whether a reaction grows as c / x with the distance x [s] from the position: c is the value at x = 0 of the cubic
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

// Reactions of m := the cubic through the nodes, at dt = 0.
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
        move(p, m, (side ? -TRIAL : TRIAL) / rate);
        after[side] = sine_of(&sim->monitor, &p->moved);
    }
    const double slope = (fmax(after[0], after[1]) - sine) * rate / TRIAL;
    return after[0] >= after[1] ? slope : -slope;
}

static bool continue_reactions(lw_sim *sim, lwi_snapshot *m, double sine, double typical,
                               double rate)
{
    lwi_passage *p = &sim->passage;
    const double slope = growth(sim, m, sine, rate), nearest = NEAREST * p->band * typical;
    const double first = (nearest - sine) / slope, last = (NODES * nearest - sine) / slope;
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
    const double typical = fmax(sqrt(monitor->largest), p->sampled ? p->sine : 0);
    const double rate = rate_of(&monitor->system, m);
    if (lower_bound(sim, m, rate) > p->band * typical) return false;
    const double sine = sine_of(monitor, m);
    note_sample(p, sim->model, m, sine);
    if (!(sine < p->band * fmax(typical, sine))) return false;
    lwi_work *work = p->work;
    if (work->ndiscrete) memcpy(p->discrete, work->discrete, work->ndiscrete);
    const bool done = continue_reactions(sim, m, sine, typical, rate);
    if (work->ndiscrete) memcpy(work->discrete, p->discrete, work->ndiscrete);
    if (done && !p->count++) p->entry = m->t;
    return done;
}
