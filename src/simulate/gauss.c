// gauss.c -- Gauss-Legendre steps on the constraints.
//
// The stages T_i of a step from x of length h satisfy
//
//     T_i = x + h sum_j A_ij f(P T_j)
//
// where P projects positions and velocities onto the constraints.  The fixed point is found by sweeps, which start
// from stages that are predicted one from the other, or at a singular position from the motion moved along itself.  Nodes of an even number keep away from both ends and from the middle of the
// step: a singular position there is not evaluated.
#include "simulate/gauss.h"

#include "base/assert.h"
#include "simulate/simulation.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_SWEEPS = 30, MIN_SWEEPS = 4 };
// Change of the stages relative to that of the step that ends the sweeps.
#define CONVERGED 1e-14
// Of accelerations close to a singular position: the change that need not fall any more.
#define NOISE 1e-3
// Change after HOPEFUL sweeps that will not converge.
enum { HOPEFUL = 8 };
#define HOPELESS 1e-2
// Of velocities, relative to the speeds: rows that depend on each other reduce it by further repetitions without an end.
#define ROUND_OFF DBL_EPSILON
// Largest integral of Legendre's polynomial of degree six on an interval, in its length.
#define LEGENDRE 0.03
// Residual of positions, in lengths of the mechanism, of a motion that no displacement puts on the constraints: it is
// beyond a dead point.
#define OPEN 1e-5

// ------------------------------------------------------------------------------------------ create

// l := the coefficients, from the constant on, of the Lagrange polynomial j of the nodes.
static void lagrange(const lwi_gauss_rule *rule, int j, double l[LWI_GAUSS_STAGES])
{
    memset(l, 0, LWI_GAUSS_STAGES * sizeof *l);
    l[0] = 1;
    for (int k = 0, n = 0; k < rule->stages; k++) {
        if (k == j) continue;
        const double scale = 1 / (rule->c[j] - rule->c[k]);
        n++;
        for (int i = n; i >= 0; i--)
            l[i] = scale * ((i > 0 ? l[i - 1] : 0) - (i < n ? rule->c[k] * l[i] : 0));
    }
}

// Integral of a polynomial from 0 to s.
static double integral(int n, const double *l, double s)
{
    double sum = 0;
    for (int k = n - 1; k >= 0; k--) sum = s * (sum + l[k] / (k + 1));
    return sum;
}

static void make_rule(int stages, const double *half, lwi_gauss_rule *rule)
{
    double l[LWI_GAUSS_STAGES];
    *rule = (lwi_gauss_rule){.stages = stages};
    for (int i = 0; i < stages / 2; i++) {
        rule->c[stages / 2 - 1 - i] = 0.5 - 0.5 * half[i];
        rule->c[stages / 2 + i] = 0.5 + 0.5 * half[i];
    }
    for (int j = 0; j < stages; j++) {
        lagrange(rule, j, l);
        rule->b[j] = integral(stages, l, 1);
        for (int i = 0; i < stages; i++) rule->A[i][j] = integral(stages, l, rule->c[i]);
    }
}

// A state with momenta contains impulses that each projection would reset, and dense matrices decide their rank in
// each evaluation.
static lw_status choose_work(lwi_work *work, lwi_arena *arena, lwi_gauss *g)
{
    const lwi_formulation *f = work->formulation;
    const bool speeds = f->rates && !lwi_layout_has(&work->layout, LWI_MOMENTUM);
    if (speeds) g->work = work;
    if (speeds && !(f->flags & LWI_CUBIC)) return LW_OK;
    const lw_status status = lwi_work_create_shared(
        work->model, &lwi_formulation_dca, &arena->allocator, NULL, 0, work->shared, &g->own, NULL);
    if (status == LW_OK) g->work = g->own;
    return status == LW_ERR_MEMORY ? status : LW_OK;
}

lw_status lwi_gauss_create(lwi_work *work, lwi_assembler *assembler, lwi_arena *arena, lwi_gauss *g)
{
    // positive zeros of Legendre's polynomials of degrees 4 and 6
    static const double half4[] = {0.33998104358485626480, 0.86113631159405257522};
    static const double half6[] = {0.23861918608319690863, 0.66120938646626451366,
                                   0.93246951420315202781};
    const lw_model *model = work->model;
    TRY(choose_work(work, arena, g));
    if (!g->work) return LW_OK;
    const int nx = g->work->layout.nx;
    g->assembler = assembler;
    if (!assembler) {
        g->assembler = LWI_PUSH(arena, lwi_assembler, 1);
        if (!g->assembler) return LW_ERR_MEMORY;
        TRY(lwi_assembler_create(model, 0, NULL, work->shared, arena, g->assembler));
    }
    TRY(lwi_snapshot_create(model, arena, &g->moved));
    TRY(lwi_snapshot_create(model, arena, &g->node));
    g->x = LWI_PUSH(arena, double, nx);
    g->discrete = lwi_arena_push(arena, 1, g->work->ndiscrete);
    g->stage = LWI_PUSH(arena, double, LWI_GAUSS_STAGES *nx);
    g->before = LWI_PUSH(arena, double, LWI_GAUSS_STAGES *nx);
    g->rate = LWI_PUSH(arena, double, LWI_GAUSS_STAGES *nx);
    g->begin = LWI_PUSH(arena, double, nx);
    if (!g->begin || !g->x || !g->discrete || !g->stage || !g->before || !g->rate)
        return LW_ERR_MEMORY;
    g->rule1 = (lwi_gauss_rule){.stages = 1, .c = {0.5}, .b = {1}, .A = {{0.5}}};
    make_rule(4, half4, &g->rule4);
    make_rule(6, half6, &g->rule6);
    return LW_OK;
}

void lwi_gauss_release(lwi_gauss *g)
{
    lwi_work_destroy(g->own);
}

void lwi_gauss_keep(lwi_gauss *g)
{
    if (g->work->ndiscrete) memcpy(g->discrete, g->work->discrete, g->work->ndiscrete);
}

void lwi_gauss_restore(lwi_gauss *g)
{
    if (g->work->ndiscrete) memcpy(g->work->discrete, g->discrete, g->work->ndiscrete);
}

// ----------------------------------------------------------------------------------------- motions

// The motion m to the assembler, each body moved at its velocities.
static void take_moved(lwi_assembler *a, const lwi_snapshot *m, double dt)
{
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
}

// gauss->moved := the motion of the assembler, which comes from m.
static void give_moved(lwi_gauss *g, const lwi_snapshot *m)
{
    const lwi_assembler *a = g->assembler;
    if (a->model->nbody && m != &g->moved)
        memcpy(g->moved.quat, m->quat, (size_t)a->model->nbody * sizeof *m->quat);
    lwi_sim_give_motion(a, &g->moved);
    g->moved.t = a->t;
    g->moved.work = m->work;
    if (a->model->nstate && m != &g->moved)
        memcpy(g->moved.states, m->states, (size_t)a->model->nstate * sizeof *m->states);
}

void lwi_gauss_move(lwi_gauss *g, const lwi_snapshot *m, double dt)
{
    take_moved(g->assembler, m, dt);
    lwi_assembler_correct(g->assembler, ROUND_OFF);
    give_moved(g, m);
}

bool lwi_gauss_enter(lwi_gauss *g, const lwi_snapshot *m, double dt, double *x)
{
    lwi_work *work = g->work;
    lwi_gauss_move(g, m, dt);
    if (!(lwi_assembler_residual(g->assembler, false, NULL) <= OPEN * g->assembler->length))
        return false;
    work->resumed = true;
    const lw_status status = work->formulation->enter(work, &g->moved, x);
    work->resumed = false;
    return status == LW_OK;
}

// Quaternions of x and their opposites are the same attitudes: those near the ones of the state `from`.
static void continue_quaternions(const lwi_layout *layout, const double *from, double *x)
{
    for (int i = 0; i < layout->nblock; i++) {
        const lwi_block *block = &layout->block[i];
        if (block->kind != LWI_QUATERNION) continue;
        for (int k = block->first; k < block->first + block->n; k += 4)
            quat_continue(x + k, from + k);
    }
}

bool lwi_gauss_project(lwi_gauss *g, double t, const double *x, const double *inputs, double *to)
{
    LWI_ASSERT(to != x);
    g->node.t = t;
    if (g->work->formulation->observe(g->work, t, x, inputs, LW_OBSERVE_TWIST, &g->node) != LW_OK ||
        !lwi_gauss_enter(g, &g->node, 0, to))
        return false;
    continue_quaternions(&g->work->layout, x, to); // rates at the stages of a step are added
    return true;
}

bool lwi_gauss_close(const lwi_gauss *g, double t, const double *x, double *to)
{
    lwi_work *work = g->work;
    if (!work->formulation->close || g->assembler->shift) return false;
    LWI_ASSERT(to != x);
    memcpy(to, x, (size_t)work->layout.nx * sizeof *x);
    return work->formulation->close(work, t, to, 0, false);
}

bool lwi_gauss_satisfy(lwi_gauss *g, double t, const double *x, const double *inputs, double *to)
{
    return lwi_gauss_close(g, t, x, to) || lwi_gauss_project(g, t, x, inputs, to);
}

bool lwi_gauss_begin(lwi_gauss *g, double t, const double *x, const double *inputs)
{
    if (x != g->x) memcpy(g->x, x, (size_t)g->work->layout.nx * sizeof *x);
    return g->work->formulation->rates(g->work, t, g->x, inputs, g->rate) == LW_OK;
}

void lwi_gauss_glide(lwi_gauss *g, const lwi_snapshot *m, const double *x, double dt,
                     const double *inputs)
{
    lwi_work *work = g->work;
    if (!g->own && work->formulation->close && lwi_gauss_begin(g, m->t, x, inputs)) {
        lwi_gauss_polynomial(&g->rule1, work->layout.nx, dt, 1, g->x, g->rate, g->stage);
        g->moved.t = m->t + dt;
        if (lwi_gauss_close(g, g->moved.t, g->stage, g->before) &&
            work->formulation->observe(work, g->moved.t, g->before, inputs, LW_OBSERVE_POSE,
                                       &g->moved) == LW_OK)
            return;
    }
    take_moved(g->assembler, m, dt);
    lwi_assembler_correct_positions(g->assembler, ROUND_OFF);
    give_moved(g, m);
}

// ------------------------------------------------------------------------------------------- steps

// before := x + h A rates: the stages, not yet on the constraints.  The largest change of a component, relative to
// the largest change over the step.
static double update(lwi_gauss *g, const lwi_gauss_rule *rule, double h)
{
    const int nx = g->work->layout.nx;
    double change = 0, step = 0;
    for (int i = 0; i < rule->stages; i++)
        for (int k = 0; k < nx; k++) {
            double sum = 0;
            for (int j = 0; j < rule->stages; j++) sum += rule->A[i][j] * g->rate[j * nx + k];
            const double value = g->x[k] + h * sum;
            change = fmax(change, fabs(value - g->before[i * nx + k]));
            step = fmax(step, fabs(h * g->rate[i * nx + k]));
            g->before[i * nx + k] = value;
        }
    return step > 0 ? change / step : 0;
}

// Stages from one to the next, from the rates at the beginning, gauss->rate: rates are the polynomial through those at the
// beginning and at the stages before (Adams).  A stage next to a singular position is then on its branch already.
static bool predict_stages(lwi_gauss *g, const lwi_gauss_rule *rule, double t, double h,
                           const double *inputs)
{
    const int nx = g->work->layout.nx;
    lwi_gauss_rule known = {.stages = 1};
    memcpy(g->begin, g->rate, (size_t)nx * sizeof *g->begin);
    for (int i = 0; i < rule->stages; i++) {
        double l[LWI_GAUSS_STAGES], *y = g->before + i * nx, *x = g->stage + i * nx;
        memcpy(y, g->x, (size_t)nx * sizeof *y);
        for (int j = 0; j <= i; j++) {
            lagrange(&known, j, l);
            const double weight = h * integral(known.stages, l, rule->c[i]);
            const double *rate = j ? g->rate + (j - 1) * nx : g->begin;
            for (int k = 0; k < nx; k++) y[k] += weight * rate[k];
        }
        if (!lwi_gauss_satisfy(g, t + rule->c[i] * h, y, inputs, x)) return false;
        if (i == rule->stages - 1) break;
        if (g->work->formulation->rates(g->work, t + rule->c[i] * h, x, inputs, g->rate + i * nx) !=
            LW_OK)
            return false;
        known.c[known.stages++] = rule->c[i];
    }
    return true;
}

// The stages before the first sweep, on the constraints.
static bool guess_stages(lwi_gauss *g, const lwi_gauss_rule *rule, lwi_gauss_guess guess,
                         const lwi_snapshot *m, double offset, double h, const double *inputs)
{
    if (guess == LWI_GUESS_RATES) return predict_stages(g, rule, m->t + offset, h, inputs);
    const int nx = g->work->layout.nx;
    for (int i = 0; i < rule->stages; i++) {
        const double after = offset + rule->c[i] * h;
        double *y = g->before + i * nx, *x = g->stage + i * nx;
        if (guess == LWI_GUESS_MOTION) {
            if (!lwi_gauss_enter(g, m, after, x)) return false;
            continue_quaternions(&g->work->layout, g->x, x);
            memcpy(y, x, (size_t)nx * sizeof *y);
        } else {
            lwi_gauss_polynomial(g->last, nx, h, rule->c[i], g->x, g->rate, y);
            if (!lwi_gauss_satisfy(g, m->t + after, y, inputs, x)) return false;
        }
    }
    return true;
}

// A step of length h from g->x at time t; its stages are guessed.
static bool sweep_stages(lwi_gauss *g, const lwi_gauss_rule *rule, double t, double h,
                         const double *inputs)
{
    lwi_work *work = g->work;
    const int nx = work->layout.nx, s = rule->stages;
    double last = INFINITY;
    g->last = rule;
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        for (int i = 0; i < s; i++)
            if (work->formulation->rates(work, t + rule->c[i] * h, g->stage + i * nx, inputs,
                                         g->rate + i * nx) != LW_OK)
                return false;
        const double change = update(g, rule, h);
        if (!(change < (sweep < HOPEFUL ? 1e3 : HOPELESS))) return false;
        for (int i = 0; i < s; i++)
            if (!lwi_gauss_satisfy(g, t + rule->c[i] * h, g->before + i * nx, inputs,
                                   g->stage + i * nx))
                return false;
        if (change < CONVERGED || (sweep >= MIN_SWEEPS && change < NOISE && change >= last)) break;
        if (sweep == MAX_SWEEPS - 1 && change > NOISE) return false;
        last = change;
    }
    for (int k = 0; k < nx; k++)
        for (int j = 0; j < s; j++) g->x[k] += h * rule->b[j] * g->rate[j * nx + k];
    if (!lwi_gauss_satisfy(g, t + h, g->x, inputs, g->before)) return false;
    memcpy(g->x, g->before, (size_t)nx * sizeof *g->x);
    return true;
}

bool lwi_gauss_step(lwi_gauss *g, const lwi_gauss_rule *rule, lwi_gauss_guess guess,
                    const lwi_snapshot *m, double offset, double h, const double *inputs)
{
    return guess_stages(g, rule, guess, m, offset, h, inputs) &&
           sweep_stages(g, rule, m->t + offset, h, inputs);
}

bool lwi_gauss_part(lwi_gauss *g, double t, double h, const double *x0, const double *rate,
                    double from, double to, const double *inputs)
{
    const lwi_gauss_rule *rule = &g->rule6;
    const int nx = g->work->layout.nx;
    for (int i = 0; i < rule->stages; i++) {
        const double s = from + rule->c[i] * (to - from);
        double *y = g->before + i * nx;
        lwi_gauss_polynomial(rule, nx, h, s, x0, rate, y);
        if (!lwi_gauss_satisfy(g, t + s * h, y, inputs, g->stage + i * nx)) return false;
    }
    return sweep_stages(g, rule, t + from * h, (to - from) * h, inputs);
}

double lwi_gauss_inside(const lwi_gauss *g, double h, const double *rate)
{
    const lwi_gauss_rule *rule = &g->rule6;
    const int nx = g->work->layout.nx;
    double largest[3] = {0}; // coefficients of degrees 3, 4, 5
    for (int k = 0; k < nx; k++) {
        double sum[3] = {0};
        for (int i = 0; i < rule->stages; i++) {
            const double x = 2 * rule->c[i] - 1, weighted = rule->b[i] * rate[i * nx + k];
            double p = x, before = 1;
            for (int n = 2; n <= 5; n++) {
                const double next = ((2 * n - 1) * x * p - (n - 1) * before) / n;
                before = p, p = next;
                if (n >= 3) sum[n - 3] += (2 * n + 1) * p * weighted;
            }
        }
        for (int n = 0; n < 3; n++) largest[n] = fmax(largest[n], fabs(sum[n]));
    }
    if (!(largest[0] > 0)) return 0;
    const double ratio = fmin(1, sqrt(largest[2] / largest[0]));
    return LEGENDRE * fabs(h) * ratio * fmax(largest[2], ratio * largest[1]);
}

void lwi_gauss_polynomial(const lwi_gauss_rule *rule, int n, double h, double s, const double *x0,
                          const double *rate, double *y)
{
    double weight[LWI_GAUSS_STAGES], l[LWI_GAUSS_STAGES];
    for (int j = 0; j < rule->stages; j++) {
        lagrange(rule, j, l);
        weight[j] = h * integral(rule->stages, l, s);
    }
    for (int k = 0; k < n; k++) {
        y[k] = x0[k];
        for (int j = 0; j < rule->stages; j++) y[k] += weight[j] * rate[j * n + k];
    }
}
