// adjoint.c -- gradients of results of a run by the adjoint of its Runge-Kutta steps.
#include "analysis/jumps.h"
#include "analysis/projection.h"
#include "analysis/variational.h"
#include "base/assert.h"
#include "base/linear.h"
#include "dynamics/dynamics.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-10 // the largest of a run
#define RELATIVE 1e-3   // of parameters

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
}

// ----------------------------------------------------------------------------------------- backward

// to [n] -= A' x, A [rows][n]
static void subtract_product(const double *A, int rows, int n, const double *x, double *to)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; x[i] != 0 && j < n; j++)
            to[j] -= A[(size_t)i * (size_t)n + (size_t)j] * x[i];
}

// What F_q'u and F_v'u of a tree need, and the diagonal of M.
static void begin_products(lwi_recording *s, double t, const double *x, const double *vdot)
{
    lwi_inverse_products_begin(s->model, &s->d, &s->tree, t, x, x + s->nq, vdot, s->inputs);
    for (int i = 0; i < s->n; i++)
        s->d.M[(size_t)i * (size_t)(s->n + 1)] =
            v6_dot(s->d.tree.screws.S[i], s->d.tree.terms[i].IS) + s->model->tree_rotor[i];
}

// X = (q, v, z) of one column -= derivatives of u'F - w'g, of a tree.
static void subtract_products(lwi_recording *s, double t, const double *x, const double *u,
                              const double *w, double *X)
{
    const lwi_force_rows rows = {u, s->nz ? w : NULL};
    double *by_q = s->out, *by_v = s->tau, *by_z = s->scratch, *z = X + 2 * s->n;
    lwi_inverse_products(s->model, &s->d, &s->tree, t, x, s->inputs, &rows, by_q, by_v, by_z);
    for (int i = 0; i < s->n; i++) X[i] -= by_q[i], X[s->n + i] -= by_v[i];
    for (int i = 0; i < s->nz; i++) z[i] -= by_z[i];
}

// F_q, F_v, rows, multipliers and their factors at a stage.
static lw_status linearise(lwi_recording *s, double t, const double *x, const double *vdot,
                           lw_error *error)
{
    s->open = lwi_inverse_has_products(s->model, &s->d, &s->tree);
    if (s->open)
        begin_products(s, t, x, vdot);
    else
        lwi_inverse_derivatives(s->model, &s->d, &s->tree, t, x, x + s->nq, vdot, s->inputs,
                                s->by_q, s->by_v, s->d.M);
    if (!s->open && !s->d.closed && s->model->nforce > 0) // at the state itself again
        lwi_generalised_forces(s->model, &s->d, &s->tree, t, x, x + s->nq, s->inputs, s->out);
    if (!s->d.closed) return LW_OK;
    TRY(lwi_loop_factor(s->model, &s->loops, &s->d, t, error));
    if (s->reduced) TRY(lwi_loop_reduce(&s->loops, &s->d, t, error));
    lwi_loop_multipliers(&s->loops, &s->d, s->d.effort, s->lambda);
    lwi_cut_derivatives_multipliers(&s->d.rows, &s->d.tree, -1, s->lambda, s->by_q);
    return LW_OK;
}

static double largest_of(const double *x, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

// u := (d vdot/d tau) w, symmetric, from another evaluation of the accelerations.
static lw_status evaluate_again(lwi_recording *s, double t, const double *x, const double *vdot,
                                const double *w, double *u, lw_error *error)
{
    const int n = s->n;
    double force = 1; // as large as those that act
    for (int i = 0; i < n; i++)
        force = fmax(force, fabs(vdot[i] * s->d.M[(size_t)i * (size_t)(n + 1)]));
    const double size = largest_of(w, n);
    for (int i = 0; i < n; i++) s->tau[i] = w[i] * force / size;
    const lw_status status =
        lw_forward_dynamics(s->dynamics, t, x, x + s->nq, s->tau, NULL, s->out);
    if (status != LW_OK) return lwi_fail(error, status, "%s", lw_dynamics_error(s->dynamics)->text);
    for (int i = 0; i < n; i++) u[i] = (s->out[i] - vdot[i]) * size / force;
    return LW_OK;
}

// u := (d vdot/d tau) w, symmetric; loops: J'nu = w - M u.
static lw_status solve_transposed(lwi_recording *s, double t, const double *x, const double *vdot,
                                  const double *w, double *u, double *nu, lw_error *error)
{
    const int n = s->n;
    memset(u, 0, (size_t)n * sizeof *u);
    memset(nu, 0, (size_t)s->m * sizeof *nu);
    if (largest_of(w, n) == 0) return LW_OK;
    if (s->reduced) {
        lwi_loop_column(&s->loops, &s->d, NULL, w, 1, 0);
        for (int i = 0; i < n; i++) u[i] = -s->loops.column[i];
    } else {
        TRY(evaluate_again(s, t, x, vdot, w, u, error));
    }
    if (!s->d.closed) return LW_OK;
    for (int i = 0; i < n; i++) {
        s->out[i] = w[i];
        for (int j = 0; j < n; j++) s->out[i] -= s->d.M[(size_t)i * (size_t)n + (size_t)j] * u[j];
    }
    lwi_loop_multipliers(&s->loops, &s->d, s->out, nu);
    return LW_OK;
}

// Displacements dq change with dq' = dv - [v, dq] in axes of F2.
static void add_brackets(const lwi_recording *s, const double *v, const double *kq, double *to)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_node *node = &s->model->node[k];
        if (node->type->scalar || node->type->quaternion < 0) continue;
        const double *w = kq + node->iv, *own = v + node->iv;
        double *out = to + node->iv;
        if (node->nv == 3) {
            v3_cross_add(out, own, w);
            continue;
        }
        v3_cross_add(out, own + 3, w);
        v3_cross_add(out + 3, own, w);
        v3_cross_add(out + 3, own + 3, w + 3);
    }
}

// to [n] += A' x, A [rows][n]
static void add_product(const double *A, int rows, int n, const double *x, double *to)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; x[i] != 0 && j < n; j++)
            to[j] += A[(size_t)i * (size_t)n + (size_t)j] * x[i];
}

// What states of signals add to X = (q, v, z) of one column: forces depend on them, their rates on the motion.
static void add_signals(const lwi_recording *s, const double *u, const double *w, double *X)
{
    const int n = s->n, nz = s->nz;
    if (nz == 0) return;
    add_product(s->d.rate_by_q, nz, n, w, X);
    add_product(s->d.rate_by_v, nz, n, w, X + n);
    add_product(s->d.rate_by_z, nz, nz, w, X + 2 * n);
    add_product(s->d.force_by_z, n, nz, u, X + 2 * n);
}

static void subtract_matrices(const lwi_recording *s, const double *u, const double *nu,
                              const double *w, double *X)
{
    double *v = X + s->n;
    subtract_product(s->by_q, s->n, s->n, u, X);
    subtract_product(s->by_v, s->n, s->n, u, v);
    subtract_product(s->d.rows.second_by_q, s->m, s->n, nu, X);
    subtract_product(s->d.rows.second_by_v, s->m, s->n, nu, v);
    add_signals(s, u, w, X);
}

// Xbar := f_x' kbar at a stage, gradient += f_p' kbar.
static lw_status pull_back(lwi_recording *s, lwi_adjoint *a, double t, const double *x,
                           const double *vdot, double *Xbar, lw_error *error)
{
    const size_t n = (size_t)s->n, nt = (size_t)s->nt, nnode = (size_t)s->model->nnode;
    memset(Xbar, 0, nt * (size_t)s->columns * sizeof *Xbar);
    if (largest_of(s->kbar, s->nt * s->columns) == 0) return LW_OK;
    lwi_recording_hold(s, x);
    TRY(linearise(s, t, x, vdot, error));
    const lwi_slope_state at = lwi_recording_slope_state(s, t, x, vdot);
    const lwi_number_state numbers = lwi_recording_number_state(s, &at);
    for (size_t c = 0; c < (size_t)s->columns; c++) {
        const double *kq = s->kbar + c * nt;
        double *u = s->u + c * n, *nu = s->nu + c * (size_t)s->m, *q = Xbar + c * nt, *v = q + n;
        TRY(solve_transposed(s, t, x, vdot, kq + n, u, nu, error));
        memcpy(v, kq, n * sizeof *v);
        add_brackets(s, x + s->nq, kq, q);
        if (s->open)
            subtract_products(s, t, x, u, kq + 2 * n, q);
        else
            subtract_matrices(s, u, nu, kq + 2 * n, q);
        if (s->nz) memcpy(s->w + c * (size_t)s->nz, kq + 2 * n, (size_t)s->nz * sizeof *s->w);
        lwi_number_ways(&numbers, u, s->way + c * nnode);
        lwi_number_gradient(&s->numbers, &numbers, u, nu, (const double(*)[6])(s->way + c * nnode),
                            -1, s->by_numbers + c * (size_t)s->numbers.n);
    }
    const lwi_slope_rows rows = {s->columns, s->u, s->nu, s->nz ? s->w : NULL,
                                 (const double(*)[6])s->way};
    for (int k = 0; k < a->nby; k++) {
        if (s->slope[k].local && s->slope[k].nforce == 0) continue;
        lwi_slope_products(&s->slope[k], s->model, &at, &rows, s->scratch, s->slopes);
        for (int c = 0; c < s->columns; c++) a->gradient[c * a->nby + k] -= s->slopes[c];
    }
    return LW_OK;
}

// bar of the beginning of a step becomes that before the projection there; after pull_back of its first stage.
static void project_back(lwi_recording *s, lwi_adjoint *a, double t, const double *vdot)
{
    if (!s->d.closed || largest_of(s->kbar, s->nt * s->columns) == 0) return;
    const lwi_slope_state at = lwi_recording_slope_state(s, t, s->X, vdot);
    for (int c = 0; c < s->columns; c++)
        lwi_projection_back(s, &at, c, a->nby, s->bar + (size_t)c * (size_t)s->nt,
                            a->gradient + (size_t)c * (size_t)a->nby, s->factors);
}

// bar of the end of step i becomes that of its beginning.
static lw_status step_back(lwi_recording *s, lwi_adjoint *a, long step, lw_error *error)
{
    const lwi_tableau *rk = s->tableau;
    const size_t size = (size_t)s->nt * (size_t)s->columns, nx = (size_t)s->nx,
                 count = (size_t)rk->stages;
    const double t = s->path.t[step], h = s->path.h[step], *K;
    TRY(lwi_recording_place_stages(s, step, &K, error));
    for (size_t i = count; i-- > 0;) {
        for (size_t l = 0; l < size; l++) s->kbar[l] = h * rk->b[i] * s->bar[l];
        for (size_t j = i + 1; j < count; j++) {
            const double b = h * rk->A[j * count + i];
            for (size_t l = 0; b != 0 && l < size; l++) s->kbar[l] += b * s->Xbar[j * size + l];
        }
        TRY(pull_back(s, a, t + rk->c[i] * h, s->X + i * nx, K + i * nx + s->nq, s->Xbar + i * size,
                      error));
    }
    for (size_t i = 0; i < count; i++)
        for (size_t l = 0; l < size; l++) s->bar[l] += s->Xbar[i * size + l];
    project_back(s, a, t, K + s->nq);
    return LW_OK;
}

// bar after a jump becomes that before it.  by_time [columns]: derivatives by the time of a jump that follows at the same
// time, out: 0.
static void jump_back(lwi_recording *s, lwi_adjoint *a, const lwi_recorded_jump *jump,
                      const lwi_jump_derivatives *d, double *by_time)
{
    const size_t nt = (size_t)s->nt;
    for (size_t c = 0; c < (size_t)s->columns; c++) {
        double *bar = s->bar + c * nt, *before = s->kbar;
        const double sigma = lwi_dot(s->nt, d->flow, bar) + d->end[c] + by_time[c];
        memset(before, 0, nt * sizeof *before);
        add_product(d->reset, s->nt, s->nt, bar, before);
        by_time[c] = jump->follows ? sigma : 0;
        for (size_t i = 0; i < nt && !jump->follows; i++) before[i] += sigma * d->time[i];
        for (int k = 0; k < a->nby; k++)
            a->gradient[c * (size_t)a->nby + (size_t)k] +=
                lwi_dot(s->nt, d->reset_by + (size_t)k * nt, bar) +
                (jump->follows ? 0 : sigma * d->time_by[k]);
        memcpy(bar, before, nt * sizeof *bar);
    }
}

// All jumps before step `step`; *last: the last one that was not differentiated.
static lw_status jumps_back(lwi_recording *s, lwi_adjoint *a, long step, long *last,
                            lwi_jump_derivatives *d, lw_error *error)
{
    memset(s->slopes, 0, (size_t)s->columns * sizeof *s->slopes);
    for (; *last >= 0 && s->jump[*last].step == step; --*last) {
        TRY(lwi_jump_differentiate(s, *last, d, error));
        jump_back(s, a, &s->jump[*last], d, s->slopes);
    }
    return LW_OK;
}

static lw_status sweep_back(lwi_recording *s, lwi_adjoint *a, lwi_jump_derivatives *d,
                            lw_error *error)
{
    long row = s->rows - 1, jump = s->njump - 1;
    for (long step = s->path.count; step >= 0; step--) {
        if (step < s->path.count) TRY(step_back(s, a, step, error));
        for (; row >= 0 && s->at[row] == step; row--)
            TRY(lwi_recording_add_row(s, a->nby, row, a->gradient, error));
        TRY(jumps_back(s, a, step, &jump, d, error));
        if (s->desc->progress && s->desc->progress(s->desc->progress_user,
                                                   s->duration - s->path.t[step] / 2, s->duration))
            return lwi_fail(error, LW_ERR_INTERRUPTED, "interrupted");
    }
    return LW_OK;
}

static lw_status run_backward(lwi_recording *s, lwi_adjoint *a, lw_error *error)
{
    lwi_jump_derivatives jump;
    lw_status status = lwi_jumps_create(s, a->nby, &jump, error);
    if (status == LW_OK) status = sweep_back(s, a, &jump, error);
    lwi_jumps_destroy(&jump);
    TRY(status);
    for (size_t c = 0; c < (size_t)s->columns; c++)
        for (size_t k = 0; k < (size_t)a->nby; k++) {
            double *to = &a->gradient[c * (size_t)a->nby + k];
            *to += lwi_slope_by_numbers(&s->slope[k], s->by_numbers + c * (size_t)s->numbers.n);
            for (size_t i = 0; i < (size_t)s->nt; i++)
                *to += s->bar[c * (size_t)s->nt + i] * s->slope[k].start[i];
        }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- create

static const char *method_of(const lw_sensitivity_desc *desc)
{
    return desc->method == LW_SENSITIVITY_FORWARD ? "forward" : "adjoint";
}

static lw_status check_rotors(const lw_model *model, const lw_sensitivity_desc *desc,
                              lw_error *error)
{
    for (int i = 0; i < model->nloop; i++)
        if (model->joint[model->loop[i]].nrotor > 0)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "method %s: joint '%s' closes a loop and has a rotor; expected method "
                            "`differences`",
                            method_of(desc), model->joint[model->loop[i]].name);
    return LW_OK;
}

static lw_status check(const lw_model *model, const lw_sensitivity_desc *desc, lw_error *error)
{
    TRY(check_rotors(model, desc, error));
    if (!desc->columns && model->desc.nmeasure == 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "of what? The model has no `measures:`; expected columns of results");
    return LW_OK;
}

static lw_status read_options(lwi_recording *s, lw_error *error)
{
    lw_options options;
    lw_options_default(&options);
    if (s->desc->options) options = *s->desc->options;
    s->rtol = fmin(options.rtol, TOLERANCE);
    s->atol = fmin(options.atol, TOLERANCE);
    s->duration = s->end = options.duration;
    bool last = !s->row_number; // other rows have no weight
    for (int c = 0; c < s->columns; c++) last &= s->wanted[c].statistic == LW_STATISTIC_LAST;
    if (!last && options.sample == LW_SAMPLE_STEPS)
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "method %s: sample: rows are at times only, expected an interval",
                        method_of(s->desc));
    s->sample = options.sample > 0 && !last ? options.sample : options.duration;
    s->tableau = &lwi_tableau_verner87;
    if (!(s->duration > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT, "method %s: expected a duration above 0",
                        method_of(s->desc));
    if (!s->row_number) s->rows = 1 + (long)ceil(s->duration / s->sample - 1e-9);
    return LW_OK;
}

static lw_status allocate(lwi_recording *s, lw_error *error)
{
    lwi_arena *arena = &s->arena;
    const size_t n = (size_t)s->n, nx = (size_t)s->nx, m = (size_t)s->m, c = (size_t)s->columns,
                 shown = (size_t)s->shown, stage = (size_t)s->tableau->stages,
                 rows = (size_t)s->rows, nt = (size_t)s->nt, nz = (size_t)s->nz;
    const struct {
        double **array;
        size_t count;
    } vector[] = {{&s->values, rows * shown},
                  {&s->K, stage * nx},
                  {&s->X, stage * nx},
                  {&s->x, nx},
                  {&s->next, nx},
                  {&s->inputs, (size_t)s->model->desc.ninput},
                  {&s->by_q, n * n},
                  {&s->by_v, n * n},
                  {&s->lambda, m},
                  {&s->kbar, nt * c},
                  {&s->Xbar, stage * nt * c},
                  {&s->bar, nt * c},
                  {&s->u, n * c},
                  {&s->nu, m * c},
                  {&s->w, nz * c},
                  {&s->factors, 2 * m + n},
                  {&s->zdot, nz},
                  {&s->tau, n},
                  {&s->out, n},
                  {&s->scratch, 2 * (n + m + nz)},
                  {&s->slopes, c > shown ? c : shown},
                  {&s->increment, n},
                  {&s->by_numbers, c * (size_t)s->numbers.n}};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i].array = LWI_PUSH(arena, double, vector[i].count))) return no_memory(error);
    s->at = LWI_PUSH(arena, long, rows);
    s->mode_here = LWI_PUSH(arena, unsigned char, s->model->nmode);
    s->extreme = LWI_PUSH(arena, long, c);
    for (int i = 0; i < s->model->nforce; i++) s->npiece += s->model->force[i].type->piece != NULL;
    s->nforce_piece = s->npiece;
    for (int i = 0; i < s->model->desc.nfunction; i++) s->npiece += s->model->function[i].kinked;
    s->piece = LWI_PUSH(arena, int, s->npiece);
    s->other = LWI_PUSH(arena, int, s->npiece);
    if (!s->piece || !s->other) return no_memory(error);
    s->way = lwi_arena_push(arena, c * (size_t)s->model->nnode, sizeof *s->way);
    return s->at && s->extreme && s->mode_here && s->way ? LW_OK : no_memory(error);
}

// Are all columns coordinates of joints and motions of bodies?
static bool shows_motion_alone(const lwi_result_columns *columns)
{
    for (int c = 1; c < columns->n; c++) {
        const char *name = columns->column[c].name, *dot = strrchr(name, '.');
        const bool joint = !strncmp(name, "joint.", 6) && dot && dot[1] == 'q';
        if (!joint && strncmp(name, "body.", 5) != 0) return false;
    }
    return columns->level <= LW_OBSERVE_TWIST;
}

static lw_status make_slopes(lwi_recording *s, int nby, lw_error *error)
{
    const lwi_slopes_desc desc = {.model = s->model,
                                  .numbers = &s->numbers,
                                  .d = &s->d,
                                  .work = &s->tree,
                                  .inputs = s->inputs,
                                  .z = s->model->state0,
                                  .by = s->desc->by,
                                  .nby = nby,
                                  .relative = s->desc->step > 0 ? s->desc->step : RELATIVE,
                                  .moving = shows_motion_alone(&s->run->columns),
                                  .together = !s->sim && s->run->columns.level <= LW_OBSERVE_TWIST};
    TRY(lwi_slopes_create(&desc, &s->arena, s->slope, &s->nslope, error));
    lwi_slopes_choose_numbers(s->slope, s->nslope, &s->numbers);
    return LW_OK;
}

static lw_status observe_slopes(lwi_recording *s, lw_error *error)
{
    for (int k = 0; k < s->nslope; k++)
        if (s->slope[k].side[0].model && (s->run->columns.level > LW_OBSERVE_TWIST ||
                                          lwi_slope_changes_motion(&s->slope[k], s->model, true)))
            TRY(lwi_slope_observe(&s->slope[k], s->patterns, &s->arena, error));
    return LW_OK;
}

// Has a run with these options momenta as state?
static bool with_momenta(const lw_options *o)
{
    const lwi_formulation *f = o ? lwi_formulation_find(o->formulation) : NULL;
    return (o && o->state == LW_STATE_MOMENTA) ||
           (f && (f->flags & LWI_HAS_MOMENTA) && !(f->flags & LWI_HAS_SPEEDS));
}

// Joint momenta and what joints transmit: joint.NAME.p0, px, lz, sfx, sty; measures may be of these.
static bool depends_on_gauge(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!strncmp(name, "measure.", 8)) return true;
    if (strncmp(name, "joint.", 6) != 0 || !dot) return false;
    const size_t n = strlen(dot + 1);
    return (n == 2 && strchr("pl", dot[1]) && strchr("0123456789xyz", dot[2])) ||
           (n == 3 && dot[1] == 's' && strchr("ft", dot[2]) && strchr("xyz", dot[3]));
}

// The steps are those of speeds: with momenta as state, joint momenta of loops contain impulses of cut joints.
static lw_status check_momenta(const lwi_recording *s, lw_error *error)
{
    const lwi_result_columns *columns = &s->run->columns;
    if (columns->level < LW_OBSERVE_MOMENTUM || !s->d.closed || !with_momenta(s->desc->options))
        return LW_OK;
    for (int c = 1; c < columns->n; c++)
        if (depends_on_gauge(columns->column[c].name))
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "method %s: column '%.200s': with momenta as state, joint momenta of "
                            "mechanisms with loops contain the impulses of cut joints, a gauge; "
                            "expected speeds as state, with p = dT/du",
                            method_of(s->desc), columns->column[c].name);
    return LW_OK;
}

// Forces have the states of signals and the modes of the recording.
static void hold(lwi_recording *s)
{
    if (s->model->nmode) s->mode = s->mode_here;
    if (s->nz) s->tree.states = &s->states;
    s->tree.mode = &s->mode;
    lwi_dynamics_hold(s->dynamics, s->nz ? &s->states : NULL, s->mode);
}

static const char *column_name(const void *columns, int i)
{
    return ((const lwi_result_columns *)columns)->column[i + 1].name;
}

static lw_status choose_results(lwi_recording *s, lwi_adjoint *a, lw_error *error)
{
    const lw_statistic other = s->row_number ? LW_STATISTIC_LAST : s->desc->statistic;
    TRY(lwi_wanted_read(s->model, s->desc->columns, other, &a->arena, &a->wanted, error));
    s->patterns = a->wanted.patterns ? a->wanted.patterns : "measure.*";
    TRY(lwi_probe_run_create(s->model, s->patterns, &a->arena, &a->run, error));
    s->run = &a->run;
    s->shown = a->run.columns.n - 1;
    TRY(lwi_wanted_choose(s->model, s->shown, column_name, &a->run.columns, &a->arena, &a->wanted,
                          error));
    s->wanted = a->wanted.at;
    s->columns = a->columns = a->wanted.n;
    return LW_OK;
}

static lw_status prepare(lwi_recording *s, lwi_adjoint *a, lw_error *error)
{
    const lw_model *model = s->model;
    TRY(choose_results(s, a, error));
    TRY(read_options(s, error));
    a->rtol = s->rtol, a->atol = s->atol;
    s->corner = a->warning;
    TRY(lw_dynamics_create(model, NULL, &s->dynamics, error));
    TRY(lwi_state_derivatives_create(model, &s->arena, &s->d, error));
    TRY(lwi_tree_work_create(model, &s->arena, &s->tree));
    if (s->nz) TRY(lwi_state_derivatives_add_signals(model, &s->arena, &s->d));
    if (s->d.closed) {
        TRY(lwi_loop_derivatives_create(model, &s->arena, &s->tree, &s->loops, error));
        s->m = s->d.rows.m;
        s->reduced = s->n - s->loops.cut.rank <= s->m;
    }
    s->d.along_run = true;
    TRY(lwi_numbers_create(model, &s->arena, &s->numbers));
    TRY(allocate(s, error));
    TRY(check_momenta(s, error));
    hold(s);
    if (lwi_recording_has_jumps(model)) {
        TRY(lwi_cut_create_rows(model, &s->arena, &s->cut));
        TRY(lwi_recording_simulation(s, model, &s->sim, error));
    }
    a->value = LWI_PUSH(&a->arena, double, a->columns);
    a->gradient = LWI_PUSH(&a->arena, double, (size_t)a->columns *(size_t)a->nby);
    const size_t numbers = (size_t)a->rows * (size_t)a->columns;
    a->row_value = LWI_PUSH(&a->arena, double, numbers);
    a->row_gradient = LWI_PUSH(&a->arena, double, numbers *(size_t)a->nby);
    if (!a->row_value || !a->row_gradient) return no_memory(error);
    s->slope = LWI_PUSH(&s->arena, lwi_slope, a->nby);
    if (!a->value || !a->gradient || !s->slope) return no_memory(error);
    s->states = (lwi_states){.value = model->state0, .rate = s->zdot};
    TRY(make_slopes(s, a->nby, error));
    TRY(lwi_recording_find_moved_corners(s));
    return observe_slopes(s, error);
}

static void release(lwi_recording *s)
{
    for (int k = 0; k < s->nslope; k++) lwi_slope_destroy(&s->slope[k]);
    lwi_recording_release(s);
    lw_sim_destroy(s->sim);
    lw_dynamics_destroy(s->dynamics);
    lwi_arena_free(&s->arena);
}

// Values of the rows that are wanted; a run that an event has ended lacks some.
static lw_status take_rows(const lwi_recording *s, const lwi_adjoint *a, lw_error *error)
{
    const size_t columns = (size_t)s->columns;
    const long first = s->rows - a->rows;
    LWI_ASSERT(s->columns == s->shown); // their last values
    if (s->end < s->duration)
        return lwi_fail(error, LW_ERR_MODEL,
                        "an event ends the run at t = %.9g s, before the last row, t = %.9g s",
                        s->end, s->duration);
    memcpy(a->row_value, s->values + (size_t)first * columns,
           (size_t)a->rows * columns * sizeof *a->row_value);
    return LW_OK;
}

static lw_status differentiate(lwi_recording *s, lwi_adjoint *a, lw_error *error)
{
    TRY(check(s->model, s->desc, error));
    TRY(prepare(s, a, error));
    TRY(s->sim ? lwi_recording_run_jumps(s, error) : lwi_recording_run(s, error));
    for (int c = 0; c < a->columns; c++) a->value[c] = lwi_recording_result(s, c);
    s->result = a->value;
    if (s->row_number) TRY(take_rows(s, a, error));
    return s->desc->method == LW_SENSITIVITY_FORWARD ? lwi_variational_run(s, a, error)
                                                     : run_backward(s, a, error);
}

// Rows at these numbers; the run has another one at its start.
static lw_status choose_rows(lwi_recording *s, const long *row, long rows, lw_error *error)
{
    const long first = row[0] > 0;
    s->rows = first + rows;
    s->row_number = LWI_PUSH(&s->arena, long, s->rows);
    if (!s->row_number) return no_memory(error);
    memcpy(s->row_number + first, row, (size_t)rows * sizeof *row);
    return LW_OK;
}

static lw_status create(const lw_model *model, const lw_sensitivity_desc *desc, size_t memory,
                        const long *row, long rows, lwi_adjoint **adjoint, lw_error *error)
{
    lwi_adjoint *a = lwi_allocate(NULL, sizeof *a);
    if (!a) return no_memory(error);
    *a = (lwi_adjoint){.nby = desc->nby, .rows = rows};
    lwi_arena_init(&a->arena, NULL);
    lwi_recording s = {.model = model,
                       .memory = memory,
                       .desc = desc,
                       .n = model->tree_nv,
                       .nq = model->tree_nq,
                       .nz = model->nstate,
                       .nt = 2 * model->tree_nv + model->nstate,
                       .nx = model->tree_nq + model->tree_nv + model->nstate};
    lwi_arena_init(&s.arena, NULL);
    lw_status status = rows ? choose_rows(&s, row, rows, error) : LW_OK;
    if (status == LW_OK) status = differentiate(&s, a, error);
    release(&s);
    if (status == LW_OK)
        *adjoint = a;
    else
        lwi_adjoint_destroy(a);
    return status == LW_ERR_MEMORY ? no_memory(error) : status;
}

lw_status lwi_adjoint_create(const lw_model *model, const lw_sensitivity_desc *desc, size_t memory,
                             lwi_adjoint **adjoint, lw_error *error)
{
    return create(model, desc, memory, NULL, 0, adjoint, error);
}

lw_status lwi_adjoint_create_rows(const lw_model *model, const lw_sensitivity_desc *desc,
                                  size_t memory, const long *row, long rows, lwi_adjoint **adjoint,
                                  lw_error *error)
{
    LWI_ASSERT(desc->method == LW_SENSITIVITY_FORWARD && rows > 0);
    return create(model, desc, memory, row, rows, adjoint, error);
}

double lwi_adjoint_row_value(const lwi_adjoint *a, long row, int column)
{
    return a->row_value[row * a->columns + column];
}

double lwi_adjoint_row_gradient(const lwi_adjoint *a, long row, int column, int parameter)
{
    return a->row_gradient[(row * a->columns + column) * a->nby + parameter];
}

void lwi_adjoint_destroy(lwi_adjoint *a)
{
    if (!a) return;
    const lw_allocator allocator = a->arena.allocator;
    lwi_probe_run_destroy(&a->run);
    lwi_arena_free(&a->arena);
    lwi_release(&allocator, a);
}

int lwi_adjoint_columns(const lwi_adjoint *a)
{
    return a->columns;
}

lw_column_info lwi_adjoint_column(const lwi_adjoint *a, int column)
{
    if (column < 0 || column >= a->columns) return (lw_column_info){"", "", "", 0};
    const lwi_wanted *wanted = &a->wanted.at[column];
    const lwi_result_column *c = &a->run.columns.column[wanted->column + 1];
    return (lw_column_info){wanted->name, c->unit, c->frame, 0};
}

lw_statistic lwi_adjoint_statistic(const lwi_adjoint *a, int column)
{
    return a->wanted.at[column].statistic;
}

void lwi_adjoint_tolerances(const lwi_adjoint *a, double *rtol, double *atol)
{
    *rtol = a->rtol, *atol = a->atol;
}

const char *lwi_adjoint_warning(const lwi_adjoint *a)
{
    return a->warning;
}

double lwi_adjoint_value(const lwi_adjoint *a, int column)
{
    return a->value[column];
}

double lwi_adjoint_gradient(const lwi_adjoint *a, int column, int parameter)
{
    return a->gradient[column * a->nby + parameter];
}
