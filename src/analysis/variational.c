// variational.c -- derivatives of a run by parameters, forward along its steps.
#include "analysis/variational.h"

#include "analysis/jumps.h"
#include "analysis/projection.h"

#include "base/linear.h"
#include "spatial/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

/** What the sweep needs in addition to the recording. */
typedef struct variation {
    lwi_recording *s;
    int nby;
    double *S;              // [nby][nt]
    double *dK;             // [stages][nby][nt]
    double *dX;             // [nt]
    double *u, *nu, *w;     // [n], [m], [nz] a unit row
    double *rows;           // [n + m + nz][nby] of F, C and minus the rates of z by the parameters
    double *gradient;       // [numbers]
    double *projected;      // [2 m][nby] rows of the projection by the parameters
    double *force, *second; // [n], [m] one column
    double *time;           // [nby] of the last jump by the parameters
    double *column;         // [n + m + nz]
} variation;

static lw_status allocate(variation *r, lw_error *error)
{
    const lwi_recording *s = r->s;
    lwi_arena *arena = &r->s->arena;
    const size_t n = (size_t)s->n, m = (size_t)s->m, k = (size_t)r->nby, nt = (size_t)s->nt,
                 nz = (size_t)s->nz;
    const struct {
        double **array;
        size_t count;
    } vector[] = {{&r->S, nt * k},
                  {&r->dK, nt * k * (size_t)s->tableau->stages},
                  {&r->dX, nt},
                  {&r->u, n},
                  {&r->nu, m},
                  {&r->w, nz},
                  {&r->rows, (n + m + nz) * k},
                  {&r->gradient, (size_t)s->numbers.n},
                  {&r->projected, 2 * m * k},
                  {&r->force, n},
                  {&r->second, m},
                  {&r->time, k},
                  {&r->column, n + m + nz}};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i].array = LWI_PUSH(arena, double, vector[i].count)))
            return lwi_fail(error, LW_ERR_MEMORY, "no memory for sensitivities");
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ stages

static lw_status factor_mass(lwi_recording *s, double t, lw_error *error)
{
    double size = 0;
    for (int i = 0; i < s->n; i++) size = fmax(size, s->d.M[(size_t)i * (size_t)(s->n + 1)]);
    if (lwi_cholesky(s->n, s->d.M, DBL_EPSILON * DBL_EPSILON * size) < 0) return LW_OK;
    return lwi_fail(error, LW_ERR_SINGULAR,
                    "derivatives: no mass or inertia resists a motion at t = %.9g s", t);
}

// F_q, F_v, rows, and their factors at a stage.
static lw_status linearise(lwi_recording *s, double t, const double *x, const double *vdot,
                           lw_error *error)
{
    const double *v = x + s->nq;
    lwi_recording_hold(s, x);
    lwi_inverse_derivatives(s->model, &s->d, &s->tree, t, x, v, vdot, s->inputs, s->by_q, s->by_v,
                            s->d.M);
    if (!s->d.closed) {
        lwi_generalised_forces(s->model, &s->d, &s->tree, t, x, v, s->inputs,
                               s->out); // at the state
        return factor_mass(s, t, error);
    }
    TRY(lwi_loop_factor(s->model, &s->loops, &s->d, t, error));
    TRY(lwi_loop_reduce(&s->loops, &s->d, t, error));
    lwi_loop_multipliers(&s->loops, &s->d, s->d.effort, s->lambda);
    lwi_cut_derivatives_multipliers(&s->d.rows, &s->d.tree, -1, s->lambda, s->by_q);
    return LW_OK;
}

// Row i of F, C and the rates of signals, of which n are of F and m of C, by all parameters.
static void fill_row(variation *r, const lwi_number_state *numbers, const lwi_slope_state *at,
                     int i)
{
    lwi_recording *s = r->s;
    const int rate = i - s->n - s->m;
    double *unit = rate >= 0  ? r->w + rate
                   : i < s->n ? r->u + i
                              : r->nu + i - s->n,
           *row = r->rows + (size_t)i * (size_t)r->nby;
    *unit = 1;
    lwi_number_ways(numbers, r->u, s->way);
    const double(*way)[6] = (const double(*)[6])s->way;
    memset(r->gradient, 0, (size_t)s->numbers.n * sizeof *r->gradient);
    lwi_number_gradient(&s->numbers, numbers, r->u, r->nu, way, 1, r->gradient);
    const lwi_slope_rows rows = {1, r->u, r->nu, s->nz ? r->w : NULL, way};
    for (int k = 0; k < r->nby; k++) {
        double rest = 0;
        if (s->slope[k].local && s->slope[k].nforce > 0)
            lwi_slope_products(&s->slope[k], s->model, at, &rows, s->scratch, &rest);
        row[k] = lwi_slope_by_numbers(&s->slope[k], r->gradient) + rest;
    }
    *unit = 0;
}

// The same of parameters that change more than numbers and forces: whole models give all rows at once.
static void fill_columns(variation *r, const lwi_slope_state *at)
{
    lwi_recording *s = r->s;
    const size_t n = (size_t)(s->n + s->m + s->nz), nby = (size_t)r->nby;
    for (size_t k = 0; k < nby; k++) {
        if (s->slope[k].local) continue;
        lwi_slope_residuals(&s->slope[k], at, s->scratch, r->column);
        for (size_t i = 0; i < n; i++) r->rows[i * nby + k] = r->column[i];
    }
}

// dq' = dv - [v, dq] in axes of F2.
static void displacement_rates(const lwi_recording *s, const double *v, const double *dX,
                               double *out)
{
    memcpy(out, dX + s->n, (size_t)s->n * sizeof *out);
    for (int k = 0; k < s->model->nnode; k++) {
        const lwi_node *node = &s->model->node[k];
        if (node->type->scalar || node->type->quaternion < 0) continue;
        const double *dq = dX + node->iv, *own = v + node->iv;
        double *to = out + node->iv, part[3];
        const double *w = node->nv == 6 ? own + 3 : own;
        v3_cross(part, dq, w);
        v3_add(to, to, part);
        if (node->nv < 6) continue;
        v3_cross(part, dq + 3, own); // of the displacement: -(w x rho + v x theta)
        v3_add(to, to, part);
        v3_cross(part, dq + 3, w);
        v3_add(to + 3, to + 3, part);
    }
}

// Rates of signals; force -= what their states add to the forces.
static void differentiate_signals(variation *r, int k, double *zdot)
{
    const lwi_recording *s = r->s;
    const size_t n = (size_t)s->n, nz = (size_t)s->nz, nby = (size_t)r->nby;
    const double *dq = r->dX, *dv = dq + n, *dz = dv + n;
    for (size_t i = 0; i < nz; i++)
        zdot[i] = lwi_dot(s->n, s->d.rate_by_q + i * n, dq) +
                  lwi_dot(s->n, s->d.rate_by_v + i * n, dv) +
                  lwi_dot(s->nz, s->d.rate_by_z + i * nz, dz) -
                  r->rows[(n + (size_t)s->m + i) * nby + (size_t)k];
    for (size_t i = 0; nz && i < n; i++)
        r->force[i] -= lwi_dot(s->nz, s->d.force_by_z + i * nz, dz);
}

// dk [nt] := f_x dX + f_p of parameter k.
static void differentiate(variation *r, const double *v, int k, double *dk)
{
    lwi_recording *s = r->s;
    const size_t n = (size_t)s->n, m = (size_t)s->m, nby = (size_t)r->nby;
    const double *dq = r->dX, *dv = dq + n;
    displacement_rates(s, v, r->dX, dk);
    for (size_t i = 0; i < n; i++)
        r->force[i] = r->rows[i * nby + (size_t)k] + lwi_dot(s->n, s->by_q + i * n, dq) +
                      lwi_dot(s->n, s->by_v + i * n, dv);
    for (size_t i = 0; i < m; i++)
        r->second[i] = r->rows[(n + i) * nby + (size_t)k] +
                       lwi_dot(s->n, s->d.rows.second_by_q + i * n, dq) +
                       lwi_dot(s->n, s->d.rows.second_by_v + i * n, dv);
    differentiate_signals(r, k, dk + 2 * n);
    if (s->d.closed) {
        lwi_loop_column(&s->loops, &s->d, r->second, r->force, 1, 0);
        memcpy(dk + n, s->loops.column, n * sizeof *dk);
        return;
    }
    for (size_t i = 0; i < n; i++) dk[n + i] = -r->force[i];
    lwi_lower_solve(s->n, s->d.M, dk + n);
    lwi_lower_tsolve(s->n, s->d.M, dk + n);
}

// r->S at the beginning of a step, on the manifold.
static void project(variation *r, const lwi_slope_state *at)
{
    lwi_recording *s = r->s;
    if (!s->d.closed) return;
    lwi_projection_rows(s, at, r->nby, r->gradient, s->factors, r->projected);
    for (int k = 0; k < r->nby; k++)
        lwi_projection_forward(s, r->nby, k, r->projected, r->S + (size_t)k * (size_t)s->nt,
                               s->factors);
}

// r->dK of stage i of a step by h, at (t, x) with the accelerations vdot.
static lw_status add_stage(variation *r, int stage, double t, double h, const double *x,
                           const double *vdot, lw_error *error)
{
    lwi_recording *s = r->s;
    const lwi_tableau *rk = s->tableau;
    const size_t size = (size_t)s->nt, all = size * (size_t)r->nby;
    TRY(linearise(s, t, x, vdot, error));
    const lwi_slope_state at = lwi_recording_slope_state(s, t, x, vdot);
    const lwi_number_state numbers = lwi_recording_number_state(s, &at);
    if (stage == 0) project(r, &at);
    for (int i = 0; i < s->n + s->m + s->nz; i++) fill_row(r, &numbers, &at, i);
    fill_columns(r, &at);
    for (int k = 0; k < r->nby; k++) {
        const size_t own = (size_t)k * size;
        memcpy(r->dX, r->S + own, size * sizeof *r->dX);
        for (int j = 0; j < stage; j++) {
            const double a = h * rk->A[stage * rk->stages + j];
            for (size_t l = 0; a != 0 && l < size; l++)
                r->dX[l] += a * r->dK[(size_t)j * all + own + l];
        }
        differentiate(r, x + s->nq, k, r->dK + (size_t)stage * all + own);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- steps

static lw_status step_forward(variation *r, long step, lw_error *error)
{
    lwi_recording *s = r->s;
    const lwi_tableau *rk = s->tableau;
    const size_t nx = (size_t)s->nx, all = (size_t)s->nt * (size_t)r->nby;
    const double t = s->path.t[step], h = s->path.h[step], *K;
    TRY(lwi_recording_place_stages(s, step, &K, error));
    for (int i = 0; i < rk->stages; i++) {
        TRY(add_stage(r, i, t + rk->c[i] * h, h, s->X + (size_t)i * nx, K + (size_t)i * nx + s->nq,
                      error));
    }
    for (int i = 0; i < rk->stages; i++)
        for (size_t l = 0; l < all; l++) r->S[l] += h * rk->b[i] * r->dK[(size_t)i * all + l];
    return LW_OK;
}

// To the derivatives of the statistic, or of this row alone.
static lw_status add_row(variation *r, lwi_adjoint *a, long row, lw_error *error)
{
    lwi_recording *s = r->s;
    const size_t size = (size_t)s->nt;
    const long own = row - (s->rows - a->rows); // of those that are wanted
    double *gradient = a->gradient;
    if (s->row_number && own < 0) return LW_OK;
    if (s->row_number) gradient = a->row_gradient + own * s->columns * r->nby;
    memset(s->bar, 0, size * (size_t)s->columns * sizeof *s->bar);
    TRY(lwi_recording_add_row(s, r->nby, row, gradient, error));
    for (int c = 0; c < s->columns; c++)
        for (int k = 0; k < r->nby; k++)
            gradient[c * r->nby + k] +=
                lwi_dot((int)size, s->bar + (size_t)c * size, r->S + (size_t)k * size);
    return LW_OK;
}

// S before a jump becomes that after it.
static void jump_forward(variation *r, lwi_adjoint *a, const lwi_recorded_jump *jump,
                         const lwi_jump_derivatives *d)
{
    const lwi_recording *s = r->s;
    const size_t nt = (size_t)s->nt;
    for (int k = 0; k < r->nby; k++) {
        double *S = r->S + (size_t)k * nt;
        if (!jump->follows) r->time[k] = lwi_dot(s->nt, d->time, S) + d->time_by[k];
        for (size_t i = 0; i < nt; i++)
            r->dX[i] = lwi_dot(s->nt, d->reset + i * nt, S) + d->reset_by[(size_t)k * nt + i] +
                       d->flow[i] * r->time[k];
        memcpy(S, r->dX, nt * sizeof *S);
        for (int c = 0; c < s->columns; c++) a->gradient[c * r->nby + k] += d->end[c] * r->time[k];
    }
}

static lw_status sweep(variation *r, lwi_adjoint *a, lwi_jump_derivatives *d, lw_error *error)
{
    lwi_recording *s = r->s;
    long row = 0, jump = 0;
    for (long step = 0; step <= s->path.count; step++) {
        for (; jump < s->njump && s->jump[jump].step == step; jump++) {
            TRY(lwi_jump_differentiate(s, jump, d, error));
            jump_forward(r, a, &s->jump[jump], d);
        }
        for (; row < s->rows && s->at[row] == step; row++) TRY(add_row(r, a, row, error));
        if (step < s->path.count) TRY(step_forward(r, step, error));
        if (s->desc->progress &&
            s->desc->progress(s->desc->progress_user, (s->duration + s->path.t[step]) / 2,
                              s->duration))
            return lwi_fail(error, LW_ERR_INTERRUPTED, "interrupted");
    }
    return LW_OK;
}

lw_status lwi_variational_run(lwi_recording *s, lwi_adjoint *a, lw_error *error)
{
    variation r = {.s = s, .nby = a->nby};
    const size_t size = (size_t)s->nt;
    TRY(allocate(&r, error));
    for (int k = 0; k < a->nby; k++)
        memcpy(r.S + (size_t)k * size, s->slope[k].start, size * sizeof *r.S);
    lwi_jump_derivatives jump;
    lw_status status = lwi_jumps_create(s, a->nby, &jump, error);
    if (status == LW_OK) status = sweep(&r, a, &jump, error);
    lwi_jumps_destroy(&jump);
    return status;
}
