// recording.c -- a run by Runge-Kutta steps that are kept for their derivatives.
#include "analysis/projection.h"

#include "base/assert.h"
#include "base/differences.h"
#include "kinematics/displacement.h"
#include "model/forces/item.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIE 1e-10 // of the range of a column: values of two rows are the same
#define STEP 1e-3 // of differences of columns [rad, lengths], of speeds relative to 1 + |v|

// ------------------------------------------------------------------------------------------ forward

void lwi_recording_hold(lwi_recording *s, const double *x)
{
    s->states = (lwi_states){.value = x + s->nq + s->n, .rate = s->zdot};
}

lw_status lwi_recording_rates(lwi_recording *s, double t, const double *x, double *k,
                              lw_error *error)
{
    lwi_recording_hold(s, x);
    s->states.rate = k + s->nq + s->n;
    lwi_tree_kinematics_free(s->model, x, x + s->nq, k);
    const lw_status status =
        lw_forward_dynamics(s->dynamics, t, x, x + s->nq, NULL, NULL, k + s->nq);
    return status == LW_OK ? LW_OK
                           : lwi_fail(error, status, "%s", lw_dynamics_error(s->dynamics)->text);
}

void lwi_recording_place_stage(const lwi_recording *s, size_t i, double h, const double *x,
                               const double *K)
{
    const lwi_tableau *rk = s->tableau;
    const size_t nx = (size_t)s->nx, count = (size_t)rk->stages;
    double *X = s->X + i * nx;
    memcpy(X, x, nx * sizeof *X);
    for (size_t j = 0; j < i; j++) {
        const double a = h * rk->A[i * count + j];
        for (size_t l = 0; a != 0 && l < nx; l++) X[l] += a * K[j * nx + l];
    }
}

// The stages of a step from (t, x) by h: s->X, s->K.
static lw_status stages(lwi_recording *s, double t, double h, const double *x, lw_error *error)
{
    const size_t nx = (size_t)s->nx;
    for (size_t i = 0; i < (size_t)s->tableau->stages; i++) {
        lwi_recording_place_stage(s, i, h, x, s->K);
        TRY(lwi_recording_rates(s, t + s->tableau->c[i] * h, s->X + i * nx, s->K + i * nx, error));
    }
    return LW_OK;
}

static void normalise(const lw_model *model, double *q)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const int e = node->type->quaternion;
        if (e >= 0) quat_normalize(q + node->iq + e, q + node->iq + e);
    }
}

// s->next := end of the step; *size: its estimated error in units of the tolerances.
static void finish_step(lwi_recording *s, double h, const double *x, double *size)
{
    const lwi_tableau *rk = s->tableau;
    const size_t nx = (size_t)s->nx;
    double sum = 0;
    for (size_t l = 0; l < nx; l++) {
        double step = 0, off = 0;
        for (size_t i = 0; i < (size_t)rk->stages; i++) {
            step += rk->b[i] * s->K[i * nx + l];
            off += (rk->b[i] - rk->d[i]) * s->K[i * nx + l];
        }
        s->next[l] = x[l] + h * step;
        const double scale = s->atol + s->rtol * fmax(fabs(x[l]), fabs(s->next[l]));
        sum += h * off / scale * (h * off / scale);
    }
    *size = nx ? sqrt(sum / (double)nx) : 0;
    normalise(s->model, s->next);
}

// Pieces of the laws of forces, then of kinked functions that are read, at a state.
static void find_pieces(lwi_recording *s, double t, const double *x, int *piece)
{
    const lw_model *model = s->model;
    lwi_recording_hold(s, x);
    lwi_generalised_forces(model, &s->d, &s->tree, t, x, x + s->nq, s->inputs, s->out);
    const lwi_kin kin = lwi_tree_kin(&s->tree);
    lwi_now now = lwi_now_at(&kin, t, s->inputs);
    int k = 0;
    now.functions = model->function;
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *force = &model->force[i];
        if (force->type->piece)
            piece[k++] = force->type->piece(model, force->par, &kin, t, s->inputs);
    }
    for (int i = 0; i < model->desc.nfunction; i++)
        if (model->function[i].kinked) piece[k++] = lwi_function_piece(&model->function[i], &now);
}

const char *lwi_recording_item(const lw_model *model, const lwi_force *force)
{
    for (int o = 0; o < model->noutput; o++)
        if (model->output[o].first == force->output) return model->output[o].item;
    return "";
}

// Line of a force in the model's file; 0: unknown.
static int line_of(const lw_model *model, int force)
{
    const lwi_force_type *type = model->force[force].type;
    int item = 0;
    for (int i = 0; i < force; i++) item += model->force[i].type == type;
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) {
        const lwi_force_item *list = lwi_force_items[k];
        if (list->type != type || item >= model->desc.force[k].n) continue;
        return lwi_force_item_place(list, lwi_force_desc(&model->desc, k, item)).line;
    }
    return 0;
}

// The force that number k of those with corners is; -1: a function.
static int force_of_piece(const lw_model *model, int k)
{
    for (int i = 0; i < model->nforce; i++)
        if (model->force[i].type->piece && k-- == 0) return i;
    return -1;
}

static int function_of_piece(const lwi_recording *s, int k)
{
    int i = 0;
    k -= s->nforce_piece;
    while (!s->model->function[i].kinked || k-- > 0) i++;
    return i;
}

static void name_force(const lw_model *model, int i, char *text, size_t size)
{
    const int line = line_of(model, i);
    const int n = line ? snprintf(text, size, "line %d: ", line) : 0;
    snprintf(text + n, size - (size_t)n, "%s '%.60s'", model->force[i].type->name,
             lwi_recording_item(model, &model->force[i]));
}

void lwi_recording_name_function(const lw_model *model, int i, char *text, size_t size)
{
    const lw_function_desc *f = &model->desc.function[i];
    const int n = f->place.line ? snprintf(text, size, "line %d: ", f->place.line) : 0;
    if (f->name)
        snprintf(text + n, size - (size_t)n, "function '%.60s'", f->name);
    else // where it is used
        snprintf(text + n, size - (size_t)n, "formula '%.60s'", f->formula);
}

// What number k passes from s->piece to s->other.
static int passage(const lwi_recording *s, int k)
{
    if (s->piece[k] == s->other[k]) return LWI_DERIVATIVES_RIGHT;
    const int force = force_of_piece(s->model, k);
    if (force >= 0) {
        const lwi_force_type *type = s->model->force[force].type;
        static const int kind[] = {[LWI_PASSES_NOTHING] = LWI_DERIVATIVES_RIGHT,
                                   [LWI_PASSES_CORNER] = LWI_DERIVATIVES_CORNER,
                                   [LWI_PASSES_JUMP] = LWI_DERIVATIVES_JUMP};
        return type->passes ? kind[type->passes(s->piece[k], s->other[k])] : LWI_DERIVATIVES_CORNER;
    }
    const int i = function_of_piece(s, k);
    const lw_function_desc *all = s->model->desc.function;
    const bool kinked = lwi_function_kinked(all, (lw_signal){i + 1}) != NULL;
    return s->model->function[i].nstate == 0 && !kinked && lwi_function_is_monotone(&all[i])
               ? LWI_DERIVATIVES_FEWER_DIGITS
               : LWI_DERIVATIVES_CORNER;
}

#define MAY_BE_WRONG ": derivatives may be wrong in the third or fourth digit"

static void warn_of_force(lwi_recording *s, int force, int kind, double t)
{
    const lwi_force_type *type = s->model->force[force].type;
    char name[160];
    name_force(s->model, force, name, sizeof name);
    if (kind == LWI_DERIVATIVES_JUMP)
        snprintf(s->corner, LWI_ADJOINT_WARNING,
                 "%s passes %s at about t = %.4g s, where %s jumps: derivatives are wrong; compare "
                 "with method `differences`",
                 name, type->jump[0], t, type->jump[1]);
    else
        snprintf(s->corner, LWI_ADJOINT_WARNING,
                 "%s passes a corner of its law at about t = %.4g s (%s)" MAY_BE_WRONG
                 "; compare with method `differences`",
                 name, t, type->corner);
}

static void warn_of_function(lwi_recording *s, int i, int kind, double t)
{
    static const char *const of[][2] = {
        {"a limit, a corner or a jump",
         MAY_BE_WRONG ", altogether where a rate or the value jumps"},
        {"a point of its curve", ", where the second derivative jumps: derivatives have fewer "
                                 "digits than the tolerance promises (a spline loses less)"},
        {"a corner or a jump",
         " (abs, min, where, ...)" MAY_BE_WRONG ", altogether where its value jumps"}};
    const int which = s->model->function[i].nstate > 0       ? 0
                      : kind == LWI_DERIVATIVES_FEWER_DIGITS ? 1
                                                             : 2;
    char name[160];
    lwi_recording_name_function(s->model, i, name, sizeof name);
    snprintf(s->corner, LWI_ADJOINT_WARNING,
             "%s passes %s at about t = %.4g s%s; compare with method `differences`", name,
             of[which][0], t, of[which][1]);
}

// Notes the worst passage so far, of equals the first, between the beginning of a step, with its s->piece, and a state of
// it.
static void compare_pieces(lwi_recording *s, double t, const double *x)
{
    find_pieces(s, t, x, s->other);
    for (int k = 0; k < s->npiece; k++) {
        const int kind = passage(s, k), force = force_of_piece(s->model, k);
        if (kind <= s->worst) continue;
        s->worst = kind;
        if (force >= 0)
            warn_of_force(s, force, kind, t);
        else
            warn_of_function(s, function_of_piece(s, k), kind, t);
    }
}

// Of a step from t by h, of which the stages and the end are there.
static void find_corners(lwi_recording *s, double t, double h)
{
    if (s->npiece == 0 || s->worst == LWI_DERIVATIVES_JUMP) return;
    find_pieces(s, t, s->x, s->piece);
    for (int i = 1; i < s->tableau->stages; i++)
        compare_pieces(s, t + s->tableau->c[i] * h, s->X + (size_t)i * (size_t)s->nx);
    compare_pieces(s, t + h, s->next);
}

lw_status lwi_recording_step(lwi_recording *s, double t, double h, const double *x, lw_error *error)
{
    double size;
    TRY(stages(s, t, h, x, error));
    finish_step(s, h, x, &size);
    lwi_projection_state(s, t + h, s->next);
    return LW_OK;
}

lw_status lwi_recording_find_corners(lwi_recording *s, double t, double h, const double *x,
                                     lw_error *error)
{
    if (s->npiece == 0 || s->worst == LWI_DERIVATIVES_JUMP) return LW_OK;
    memcpy(s->x, x, (size_t)s->nx * sizeof *x);
    TRY(lwi_recording_step(s, t, h, x, error));
    find_corners(s, t, h);
    return LW_OK;
}

void lwi_recording_take_modes(lwi_recording *s, long step)
{
    const size_t n = (size_t)s->model->nmode;
    if (n) memcpy(s->mode_here, s->path.mode + (size_t)step * n, n);
}

// From *t to `end` exactly; *h: the step proposed.
static lw_status advance(lwi_recording *s, double *t, double end, double *h, lw_error *error)
{
    const double shortest = LWI_SHORT_STEP * (1 + s->duration);
    while (end - *t > shortest) {
        const bool last = *h >= (end - *t) * (1 - 1e-12);
        const double step = last ? end - *t : *h;
        double size = NAN;
        const lw_status status = stages(s, *t, step, s->x, error);
        if (status == LW_OK)
            finish_step(s, step, s->x, &size);
        else if (status != LW_ERR_NOT_FINITE || 0.1 * step < shortest) // a shorter step may be
            return status;
        const double factor = 0.9 * pow(fmax(size, 1e-8), -1.0 / s->tableau->order);
        if (!(size <= 1)) {
            *h = step * (isfinite(size) ? fmax(0.2, factor) : 0.1);
            if (*h < shortest)
                return lwi_fail(error, LW_ERR_NOT_FINITE,
                                "the adjoint's run stops at t = %.9g s: steps become too short",
                                *t);
            continue;
        }
        find_corners(s, *t, step);
        TRY(lwi_recording_append(s, *t, step, s->x, error));
        lwi_projection_state(s, *t + step, s->next);
        memcpy(s->x, s->next, (size_t)s->nx * sizeof *s->x);
        *t = last ? end : *t + step;
        if (!last || factor < 1) *h = step * fmin(5, fmax(0.2, factor));
    }
    return LW_OK;
}

lw_status lwi_recording_read_row(lwi_recording *s, long row, double t, lw_error *error)
{
    TRY(lwi_probe_run_at(s->run, t, s->x, s->x + s->nq, s->x + s->nq + s->n, error));
    memcpy(s->values + (size_t)row * (size_t)s->shown, s->run->rows.row + 1,
           (size_t)s->shown * sizeof *s->values);
    s->at[row] = s->path.count;
    return LW_OK;
}

double lwi_recording_row_time(const lwi_recording *s, long row)
{
    if (row == s->rows - 1) return s->end;
    return (double)(s->row_number ? s->row_number[row] : row) * s->sample;
}

// Of the column of result c.
static double value_at(const lwi_recording *s, long row, int c)
{
    return s->values[(size_t)row * (size_t)s->shown + (size_t)s->wanted[c].column];
}

static bool is_extreme(const lwi_recording *s, int c)
{
    const lw_statistic statistic = s->wanted[c].statistic;
    return statistic == LW_STATISTIC_MIN || statistic == LW_STATISTIC_MAX;
}

static void warn_of_tie(lwi_recording *s, int c, long first, long other)
{
    if (*s->corner) return;
    snprintf(s->corner, LWI_ADJOINT_WARNING,
             "%s of '%.100s': the rows at t = %.9g s and t = %.9g s have the same value: the "
             "derivative is that at t = %.9g s",
             lw_statistic_name(s->wanted[c].statistic),
             s->run->columns.column[s->wanted[c].column + 1].name, lwi_recording_row_time(s, first),
             lwi_recording_row_time(s, other), lwi_recording_row_time(s, s->extreme[c]));
}

// The row with the smallest or largest value; another one with the same is named.
static void find_extreme(lwi_recording *s, int c)
{
    const double sign = s->wanted[c].statistic == LW_STATISTIC_MIN ? -1 : 1;
    long best = 0, tie = -1;
    double low = INFINITY, high = -INFINITY;
    for (long r = 0; r < s->rows; r++) {
        const double value = value_at(s, r, c);
        low = fmin(low, value), high = fmax(high, value);
        if (sign * value > sign * value_at(s, best, c)) best = r;
    }
    for (long r = 0; r < s->rows && tie < 0; r++)
        if (r != best && fabs(value_at(s, r, c) - value_at(s, best, c)) <= TIE * (high - low))
            tie = r;
    s->extreme[c] = best;
    if (tie >= 0) warn_of_tie(s, c, best < tie ? best : tie, best < tie ? tie : best);
}

// From *t to a row; no step passes a time where a function is not smooth.
static lw_status advance_to_row(lwi_recording *s, double *t, double row, double *h, lw_error *error)
{
    while (*t < row) {
        const double end = fmin(row, lwi_model_next_break(s->model, *t));
        TRY(advance(s, t, end, h, error));
        *t = end;
    }
    return LW_OK;
}

void lwi_recording_finish(lwi_recording *s)
{
    for (int c = 0; c < s->columns; c++)
        if (is_extreme(s, c)) find_extreme(s, c);
}

lw_status lwi_recording_run(lwi_recording *s, lw_error *error)
{
    double t = 0, h = 1e-3 * s->duration;
    memcpy(s->x, s->model->tree_q0, (size_t)s->nq * sizeof *s->x);
    memcpy(s->x + s->nq, s->model->tree_v0, (size_t)s->n * sizeof *s->x);
    if (s->nz) memcpy(s->x + s->nq + s->n, s->model->state0, (size_t)s->nz * sizeof *s->x);
    TRY(lwi_recording_read_row(s, 0, 0, error));
    for (long row = 1; row < s->rows; row++) {
        TRY(advance_to_row(s, &t, lwi_recording_row_time(s, row), &h, error));
        TRY(lwi_recording_read_row(s, row, t, error));
        if (s->desc->progress && s->desc->progress(s->desc->progress_user, t / 2, s->duration))
            return lwi_fail(error, LW_ERR_INTERRUPTED, "interrupted");
    }
    TRY(lwi_recording_append(s, t, 0, s->x, error)); // the end
    s->path.count--;
    lwi_recording_finish(s);
    return LW_OK;
}

// ----------------------------------------------------------------------------------- results, rows

static double length_of(const lwi_recording *s, long row)
{
    return row >= 0 && row < s->rows - 1
               ? lwi_recording_row_time(s, row + 1) - lwi_recording_row_time(s, row)
               : 0;
}

double lwi_recording_result(const lwi_recording *s, int c)
{
    const bool mean = s->wanted[c].statistic == LW_STATISTIC_MEAN;
    double sum = 0;
    if (s->wanted[c].statistic == LW_STATISTIC_LAST) return value_at(s, s->rows - 1, c);
    if (is_extreme(s, c)) return value_at(s, s->extreme[c], c);
    for (long r = 0; r < s->rows - 1; r++) {
        const double a = value_at(s, r, c), b = value_at(s, r + 1, c), dt = length_of(s, r);
        sum += mean ? dt * (a + b) / 2 : dt * (a * a + a * b + b * b) / 3;
    }
    sum /= s->end;
    return mean ? sum : sqrt(sum);
}

// Its derivative by the value at a row.
double lwi_recording_weight(const lwi_recording *s, long row, int c)
{
    const double before = length_of(s, row - 1), after = length_of(s, row);
    if (s->row_number) return 1;
    switch (s->wanted[c].statistic) {
    case LW_STATISTIC_LAST:
        return row == s->rows - 1;
    case LW_STATISTIC_MEAN:
        return (before + after) / (2 * s->end);
    case LW_STATISTIC_RMS:
        break;
    case LW_STATISTIC_MIN:
    case LW_STATISTIC_MAX:
        return row == s->extreme[c];
    case LW_STATISTIC_COUNT:
        LWI_ASSERT(false);
    }
    const double rms = s->result[c], a = value_at(s, row, c);
    double sum = 0;
    if (before > 0) sum += before * (2 * a + value_at(s, row - 1, c)) / 3;
    if (after > 0) sum += after * (2 * a + value_at(s, row + 1, c)) / 3;
    return rms > 0 ? sum / (2 * rms * s->end) : 0;
}

double lwi_recording_by_end(const lwi_recording *s, int c)
{
    const lw_statistic which = s->wanted[c].statistic;
    if (s->rows < 2 || (which != LW_STATISTIC_MEAN && which != LW_STATISTIC_RMS)) return 0;
    const double a = value_at(s, s->rows - 2, c), b = value_at(s, s->rows - 1, c),
                 result = s->result[c];
    if (which == LW_STATISTIC_MEAN) return ((a + b) / 2 - result) / s->end;
    return result > 0 ? ((a * a + a * b + b * b) / 3 - result * result) / (2 * result * s->end) : 0;
}

lwi_slope_state lwi_recording_slope_state(const lwi_recording *s, double t, const double *x,
                                          const double *vdot)
{
    return (lwi_slope_state){.t = t,
                             .q = x,
                             .v = x + s->nq,
                             .vdot = vdot,
                             .lambda = s->lambda,
                             .inputs = s->inputs,
                             .work = &s->tree,
                             .z = x + s->nq + s->n,
                             .tangent = s->d.tangent};
}

lwi_number_state lwi_recording_number_state(const lwi_recording *s, const lwi_slope_state *at)
{
    return (lwi_number_state){s->model, &s->d, &s->tree, at->t, at->v, at->lambda, at->inputs};
}

// bar += the derivative of the columns at a row by displacement i of the state, times their weights; s->tau: units.
static lw_status add_displacement(lwi_recording *s, long row, int i, double t, const double *x,
                                  lw_error *error)
{
    const size_t n = (size_t)s->n, nt = (size_t)s->nt;
    const double *v = x + s->nq; // then the states of signals
    const double step = i < s->n ? STEP * s->tau[i] : STEP * (1 + fabs(v[i - s->n]));
    for (int far = 0; far < LWI_DIFFERENCE_SIDES; far++)
        for (int side = -1; side <= 1; side += 2) {
            const double by = side * (far + 1) * step;
            memcpy(s->next, x, (size_t)s->nx * sizeof *x);
            memset(s->increment, 0, n * sizeof *s->increment);
            if (i < s->n) {
                s->increment[i] = by;
                lwi_displace(s->model, s->next, s->increment);
            } else {
                s->next[s->nq + i - s->n] += by;
            }
            TRY(lwi_probe_run_at(s->run, t, s->next, s->next + s->nq, s->next + s->nq + n, error));
            for (int c = 0; c < s->columns; c++)
                s->bar[(size_t)c * nt + (size_t)i] += lwi_recording_weight(s, row, c) * side *
                                                      lwi_difference_weight[far] / step *
                                                      s->run->rows.row[s->wanted[c].column + 1];
        }
    return LW_OK;
}

lw_status lwi_recording_add_row(lwi_recording *s, int nby, long row, double *gradient,
                                lw_error *error)
{
    const double t = lwi_recording_row_time(s, row), *x;
    double largest = 0;
    for (int c = 0; c < s->columns; c++)
        largest = fmax(largest, fabs(lwi_recording_weight(s, row, c)));
    if (largest == 0) return LW_OK;
    TRY(lwi_recording_state(s, s->at[row], &x, error));
    lwi_displacement_units(s->model, s->tau);
    const bool speeds = s->run->columns.level >= LW_OBSERVE_TWIST;
    for (int i = 0; i < s->nt; i++)
        if (speeds || i < s->n || i >= 2 * s->n) TRY(add_displacement(s, row, i, t, x, error));
    for (int k = 0; k < nby; k++) {
        if (!lwi_probe_run_exists(&s->slope[k].side[0].run)) continue; // they do not change
        TRY(lwi_slope_columns(&s->slope[k], t, x, x + s->nq, x + s->nq + s->n, s->slopes, error));
        for (int c = 0; c < s->columns; c++)
            gradient[c * nby + k] +=
                lwi_recording_weight(s, row, c) * s->slopes[s->wanted[c].column];
    }
    return LW_OK;
}
