// equilibrium_signals.c -- equilibria of mechanisms with states c of signals (integrals, lags, controllers):
//
//     r(y, c) = 0,   c' = g(y, c) = 0,   at rest
//
// by Newton's method in the independent coordinates y and in c together, with derivatives by differences.  Rows and columns
// are scaled by their largest entries, for units differ; the step is that of least squares and minimum norm.  Of c take
// part those that act on something, at a rate that changes with y or c, or on themselves: the integral of a measured
// quantity that nothing reads, or the constant part of a controller without ki, keeps its value.
//
// Stability is that of the linearised equations of motion: an integral part may make a mechanism unstable that springs
// hold.
#include "analysis/equilibrium.h"

#include "initial/restart.h"
#include "loops/cut.h"
#include "model/signals/states.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 0.3     // of a step [rad, lengths of the mechanism]
#define CONVERGED 1e-12 // steps of this size are round-off
#define SMALL 1e-8      // steps of this size that fall no more are round-off, too
#define RANK 1e-10      // of the scaled matrix
#define BALANCED 1e-9   // of a row's largest term
#define NO_RATE 1e-12   // in SI units: none, where the terms of a row are zero, too
#define NO_EFFECT 1e-13 // of the largest entry of a row or column: none
#define GROWS 1e-9      // of the largest |s|: the real part of an eigenvalue that is not zero
enum { ITERATIONS = 200, SWEEPS = 5 };

typedef struct search {
    const lw_model *model;
    const lw_equilibrium_desc *desc;
    lw_equilibrium *report;
    double *q, *c, *cdot; ///< [tree nq], [nstate]: the present state; the rates of an evaluation
    double *near_c;       ///< [nstate]
    int *signal, nsignal; ///< states that are integrated
    bool *held;           ///< [nsignal]
    int kept;             ///< number of those
    double step;          ///< last one [units; relative]
    lwi_arena arena;      ///< of one step
    // of one step
    lwi_analysis_state state;
    int f, n;                             ///< coordinates; with nsignal
    double *y, *z, *R, *J, *row, *column; ///< [f], [f], [n], [n][n], scales [n], [n]
    double *scratch, *by, *dx;            ///< [4 n], [n], [n]
    lwi_cod cod;
} search;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for an equilibrium");
}

// ------------------------------------------------------------------------------------------- residual

// Forces along the coordinates, then rates of the states.
static lw_status residual_at(void *user, lwi_analysis_vary what, int k, double by, double *out,
                             lw_error *error)
{
    search *const s = user;
    memset(s->y, 0, (size_t)s->f * sizeof *s->y);
    memcpy(s->near_c, s->c, (size_t)s->model->nstate * sizeof *s->c);
    if (what == LWI_VARY_POSITION) s->y[k] = by;
    if (what == LWI_VARY_SIGNAL) s->near_c[s->signal[k]] += by;
    s->state.manifold.states = (lwi_states){.value = s->near_c, .rate = s->cdot};
    TRY(lwi_analysis_near(&s->state, s->y, s->z, true, out, error));
    for (int i = 0; i < s->nsignal; i++) out[s->f + i] = s->cdot[s->signal[i]];
    return LW_OK;
}

static lw_status derivatives(search *s, lw_error *error)
{
    const size_t n = (size_t)s->n;
    TRY(residual_at(s, LWI_VARY_POSITION, 0, 0, s->R, error));
    for (int k = 0; k < s->n; k++) {
        const bool signal = k >= s->f;
        const int which = signal ? k - s->f : k;
        TRY(lwi_analysis_difference(residual_at, s, signal ? LWI_VARY_SIGNAL : LWI_VARY_POSITION,
                                    which, signal ? 1 : lwi_analysis_step(&s->state, k), s->n,
                                    s->scratch, s->by, error));
        for (size_t i = 0; i < n; i++) s->J[i * n + (size_t)k] = s->by[i];
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------- what takes part

static double largest(const search *s, int at, bool column)
{
    const size_t n = (size_t)s->n;
    double size = 0;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, fabs(s->J[column ? i * n + (size_t)at : (size_t)at * n + i]));
    return size;
}

// Does state i act on a coordinate or another state that takes part?
static bool acts(const search *s, int i)
{
    const size_t n = (size_t)s->n, at = (size_t)(s->f + i);
    const double floor = NO_EFFECT * largest(s, s->f + i, true);
    for (size_t k = 0; k < n; k++) {
        const bool held = k >= (size_t)s->f && s->held[k - (size_t)s->f];
        if (k != at && !held && fabs(s->J[k * n + at]) > floor) return true;
    }
    return false;
}

// States that keep their values: again from the start, for the effects differ from position to position.
static void find_held(search *s)
{
    const size_t n = (size_t)s->n;
    for (int i = 0; i < s->nsignal; i++)
        s->held[i] = !(largest(s, s->f + i, false) > 0) && s->R[s->f + i] == 0;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < s->nsignal; i++) {
            const size_t at = (size_t)(s->f + i);
            if (s->held[i] || s->J[at * n + at] != 0 || acts(s, i)) continue;
            s->held[i] = more = true;
        }
    }
    for (int i = 0; i < s->nsignal; i++) {
        const size_t at = (size_t)(s->f + i);
        if (!s->held[i]) continue;
        s->R[at] = 0;
        for (size_t k = 0; k < n; k++) s->J[at * n + k] = s->J[k * n + at] = 0;
    }
}

// A controller at an end of its range answers to nothing: the search begins with an integral part in the middle of the
// range, as if there were no error.
static void leave_limits(search *s)
{
    lw_constraints *const rows = s->state.manifold.constraints;
    const lwi_states states = {.value = s->c};
    lw_constraints_evaluate(rows, s->desc->time, s->state.q, s->state.v, s->state.manifold.phi,
                            NULL, NULL, NULL);
    lwi_kin kin = lwi_tree_kin(&rows->tree);
    kin.states = &states;
    lwi_now now = lwi_now_at(&kin, s->desc->time, s->desc->inputs);
    now.functions = s->model->function;
    for (int i = 0; i < s->model->desc.nfunction; i++) {
        const lwi_function *f = &s->model->function[i];
        const lw_function_desc *d = &f->desc;
        if (d->type != LW_FUNCTION_PID || !d->has_range || d->ki == 0) continue;
        const double w = lwi_signal_states_unlimited(f, &now);
        if (w <= d->range[0] || w >= d->range[1])
            s->c[f->state] += (d->range[0] + d->range[1]) / 2 - w;
    }
}

// -------------------------------------------------------------------------------------------- steps

static void find_scales(search *s)
{
    const size_t n = (size_t)s->n;
    for (size_t i = 0; i < n; i++) s->row[i] = s->column[i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (size_t i = 0; i < n; i++) {
            double size = 0;
            for (size_t j = 0; j < n; j++)
                size = fmax(size, fabs(s->J[i * n + j]) * s->row[i] * s->column[j]);
            if (size > 0) s->row[i] /= sqrt(size);
        }
        for (size_t j = 0; j < n; j++) {
            double size = 0;
            for (size_t i = 0; i < n; i++)
                size = fmax(size, fabs(s->J[i * n + j]) * s->row[i] * s->column[j]);
            if (size > 0) s->column[j] /= sqrt(size);
        }
    }
}

// dx := -J^-1 R; no coordinate of the tree moves further than the longest step.
static void newton_step(search *s)
{
    const size_t n = (size_t)s->n;
    find_scales(s);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            s->cod.a[j * n + i] = s->row[i] * s->J[i * n + j] * s->column[j];
    lwi_cod_factor(&s->cod, -1, RANK);
    for (size_t i = 0; i < n; i++) s->by[i] = -s->row[i] * s->R[i];
    lwi_cod_solve(&s->cod, s->by, s->dx);
    for (size_t j = 0; j < n; j++) s->dx[j] *= s->column[j];
}

// The largest displacement of a coordinate of the tree in its unit by the step.
static double displacement(const search *s)
{
    const lwi_manifold *m = &s->state.manifold;
    double size = 0;
    for (int i = 0; i < m->n; i++) {
        double sum = 0;
        for (int k = 0; k < m->f; k++)
            sum += s->state.B[(size_t)k * (size_t)m->n + (size_t)i] * s->dx[k];
        size = fmax(size, fabs(sum) / lwi_manifold_unit(m, i));
    }
    return size;
}

// The step of the states relative to their sizes.
static double change(const search *s)
{
    double size = 0;
    for (int i = 0; i < s->nsignal; i++) {
        const double dc = s->dx[s->f + i], c = s->c[s->signal[i]];
        if (dc != 0) size = fmax(size, fabs(dc) / (fabs(c) + fabs(dc) + s->column[s->f + i]));
    }
    return size;
}

// The row that is not in balance, by largest_part of what its terms would be; -1: all are.
static int unbalanced(const search *s)
{
    const size_t n = (size_t)s->n;
    int worst = -1;
    double largest_part = 1;
    for (int i = 0; i < s->n; i++) {
        double terms = 0;
        for (size_t k = 0; k < n; k++) {
            const double size = k < (size_t)s->f ? s->state.manifold.model->length
                                                 : fabs(s->c[s->signal[k - (size_t)s->f]]);
            terms = fmax(terms, fabs(s->J[(size_t)i * n + k]) * size);
        }
        if (i < s->f) terms = fmax(terms, lwi_analysis_weight(s->model));
        const double part = fabs(s->R[i]) / (BALANCED * terms + NO_RATE);
        if (part > largest_part) largest_part = part, worst = i;
    }
    return worst;
}

static lw_status go(search *s, lw_error *error)
{
    const double size = displacement(s), share = size > LONGEST ? LONGEST / size : 1;
    for (int k = 0; k < s->n; k++) s->dx[k] *= share;
    for (int halving = 0; halving < 30; halving++) {
        const lw_status status = lwi_analysis_near(&s->state, s->dx, s->z, true, s->by, error);
        if (status == LW_OK) break;
        if (status != LW_ERR_SINGULAR || halving == 29) return status;
        for (int k = 0; k < s->n; k++) s->dx[k] /= 2; // the loops do not close so far away
    }
    for (int i = 0; i < s->nsignal; i++) s->c[s->signal[i]] += s->dx[s->f + i];
    memcpy(s->q, s->state.near_q, (size_t)s->model->tree_nq * sizeof *s->q);
    return LW_OK;
}

static lw_status not_found(const search *s, lw_error *error)
{
    char name[LW_COORDINATE_NAME_SIZE];
    const int row = unbalanced(s);
    if (row < 0)
        return lwi_fail(error, LW_ERR_SINGULAR,
                        "no equilibrium found in %d steps: the last one is still %.1e",
                        s->report->iterations, s->step);
    if (row < s->f) {
        lwi_manifold_name(&s->state.manifold, row, false, name, sizeof name);
        return lwi_fail(error, LW_ERR_SINGULAR,
                        "no equilibrium found in %d steps: forces still move %s; expected a joint, "
                        "spring or stop that holds it, or another start",
                        s->report->iterations, name);
    }
    lwi_state_name(s->model, s->signal[row - s->f], name, sizeof name);
    return lwi_fail(error, LW_ERR_SINGULAR,
                    "no equilibrium found in %d steps: the rate of %s is still %.3g",
                    s->report->iterations, name, s->R[row]);
}

// -------------------------------------------------------------------------------------------- search

static lw_status enter(search *s, lw_error *error)
{
    TRY(lwi_analysis_state_create(s->model, s->desc->time, s->q, NULL, s->desc->inputs, NULL,
                                  &s->arena, &s->state, error));
    s->f = s->state.manifold.f, s->n = s->f + s->nsignal;
    const size_t n = (size_t)s->n;
    double **const vector[] = {&s->y, &s->z, &s->R, &s->row, &s->column, &s->by, &s->dx};
    for (int i = 0; i < (int)LWI_COUNT(vector); i++)
        if (!(*vector[i] = LWI_PUSH(&s->arena, double, n))) return no_memory(error);
    s->J = LWI_PUSH(&s->arena, double, n *n);
    s->scratch = LWI_PUSH(&s->arena, double, 4 * n);
    double *a = LWI_PUSH(&s->arena, double, n *n),
           *rest = LWI_PUSH(&s->arena, double, lwi_cod_doubles(s->n, s->n));
    int *pivot = LWI_PUSH(&s->arena, int, n);
    if (!s->J || !s->scratch || !a || !rest || !pivot) return no_memory(error);
    lwi_cod_init(&s->cod, s->n, s->n, a, rest, pivot);
    return LW_OK;
}

// The model at the present position and states.
static lw_status restart(search *s, lw_model **balanced, lw_error *error)
{
    const lwi_analysis_state *state = &s->state;
    lw_constraints *const c = state->manifold.constraints;
    lw_constraints_evaluate(c, s->desc->time, state->q, state->v, state->manifold.phi, NULL, NULL,
                            NULL);
    lwi_motion motion = lwi_cut_motion(&c->tree);
    motion.states = s->c;
    return lwi_model_restart(s->model, &motion, c->tree.joint_qd, balanced, error);
}

static lw_status iterate(search *s, bool *found, lw_model **balanced, lw_error *error)
{
    const double before = s->step;
    TRY(derivatives(s, error));
    find_held(s);
    newton_step(s);
    s->step = fmax(displacement(s), change(s));
    const bool small = s->step <= CONVERGED || (s->step < SMALL && s->step >= before / 2);
    if (small) {
        if (unbalanced(s) >= 0) return not_found(s, error);
        *found = true;
        s->report->dof = s->f;
        for (int i = 0; i < s->nsignal; i++) s->report->states += !s->held[i];
        s->kept = s->nsignal - s->report->states;
        return restart(s, balanced, error);
    }
    if (s->report->iterations >= (s->desc->iterations > 0 ? s->desc->iterations : ITERATIONS))
        return not_found(s, error);
    s->report->iterations++;
    return go(s, error);
}

static lw_status find(search *s, lw_model **balanced, lw_error *error)
{
    bool found = false;
    lw_status status = LW_OK;
    s->step = INFINITY;
    while (status == LW_OK && !found) {
        lwi_arena_init(&s->arena, &s->model->arena.allocator);
        status = enter(s, error);
        if (status == LW_OK && s->report->iterations == 0) leave_limits(s);
        if (status == LW_OK) status = iterate(s, &found, balanced, error);
        lwi_analysis_state_destroy(&s->state);
        lwi_arena_free(&s->arena);
    }
    s->report->last = s->step;
    return status;
}

// -------------------------------------------------------------------------------------------- outcome

static lw_status classify(const search *s, const lw_model *balanced, lw_error *error)
{
    lw_equilibrium *const report = s->report;
    const lw_linear_desc about = {.time = s->desc->time, .inputs = s->desc->inputs};
    lw_linear *linear = NULL;
    lw_modes *modes = NULL;
    lw_status status = lw_linearize(balanced, &about, &linear, error);
    if (status == LW_OK) status = lw_modes_create(linear, &modes, error);
    double size = 0;
    for (int i = 0; i < lw_modes_count(modes); i++) {
        const lw_mode mode = lw_modes_at(modes, i);
        size = fmax(size, hypot(mode.re, mode.im));
    }
    for (int i = 0; i < lw_modes_count(modes); i++) {
        const lw_mode mode = lw_modes_at(modes, i);
        report->indifferent += mode.rigid;
        report->unstable += !mode.rigid && mode.re > GROWS * size;
    }
    // the zeros of states that keep their values are not motions that meet no force
    report->indifferent = report->indifferent > s->kept ? report->indifferent - s->kept : 0;
    report->stability = report->unstable      ? LW_UNSTABLE
                        : report->indifferent ? LW_INDIFFERENT
                                              : LW_STABLE;
    report->softest = NAN;
    report->held = s->model->nstate - report->states;
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    return status;
}

static lw_status solve(search *s, lwi_arena *arena, lw_model **balanced, lw_error *error)
{
    const lw_model *model = s->model;
    s->q = LWI_PUSH(arena, double, model->tree_nq);
    s->c = LWI_PUSH(arena, double, model->nstate);
    s->cdot = LWI_PUSH(arena, double, model->nstate);
    s->near_c = LWI_PUSH(arena, double, model->nstate);
    s->signal = LWI_PUSH(arena, int, model->nstate);
    s->held = LWI_PUSH(arena, bool, model->nstate);
    if (!s->q || !s->c || !s->cdot || !s->near_c || !s->signal || !s->held) return no_memory(error);
    memcpy(s->q, model->tree_q0, (size_t)model->tree_nq * sizeof *s->q);
    memcpy(s->c, model->state0, (size_t)model->nstate * sizeof *s->c);
    s->nsignal = lwi_analysis_signals(model, s->signal);
    TRY(find(s, balanced, error));
    return classify(s, *balanced, error);
}

lw_status lwi_equilibrium_of_signals(const lw_model *model, const lw_equilibrium_desc *desc,
                                     lw_model **balanced, lw_equilibrium *report, lw_error *error)
{
    search s = {.model = model, .desc = desc, .report = report};
    lw_model *made = NULL;
    lwi_arena arena;
    lwi_arena_init(&arena, &model->arena.allocator);
    const lw_status status = solve(&s, &arena, &made, error);
    lwi_arena_free(&arena);
    if (status == LW_OK && balanced)
        *balanced = made;
    else
        lw_model_destroy(made);
    return status;
}
