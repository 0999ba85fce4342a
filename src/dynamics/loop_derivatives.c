// loop_derivatives.c -- derivatives of the accelerations of a mechanism with loops.
#include "dynamics/loop_derivatives.h"

#include "base/assert.h"
#include "base/linear.h"
#include "kinematics/displacement.h"

#include <float.h>
#include <math.h>

lw_status lwi_loop_derivatives_create(const lw_model *model, lwi_arena *arena, lwi_tree_work *tree,
                                      lwi_loop_derivatives *l, lw_error *error)
{
    const size_t n = (size_t)model->tree_nv;
    *l = (lwi_loop_derivatives){.node = LWI_PUSH(arena, lwi_articulated, model->nnode)};
    if (!l->node) return LW_ERR_MEMORY;
    TRY(lwi_cut_create(model, LWI_CUT_RANK, arena, tree, l->node, &l->cut, error));
    const size_t m = (size_t)l->cut.first[l->cut.count];
    double *a = LWI_PUSH(arena, double, n *m),
           *rest = LWI_PUSH(arena, double, lwi_cod_doubles((int)n, (int)m));
    int *pivot = LWI_PUSH(arena, int, m);
    double **const vector[] = {&l->unit, &l->column, &l->force, &l->z};
    double **const square[] = {&l->N, &l->reduced};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i] = LWI_PUSH(arena, double, n))) return LW_ERR_MEMORY;
    for (int i = 0; i < LWI_COUNT(square); i++)
        if (!(*square[i] = LWI_PUSH(arena, double, n *n))) return LW_ERR_MEMORY;
    l->lambda = LWI_PUSH(arena, double, m);
    l->rhs = LWI_PUSH(arena, double, n > m ? n : m);
    if (!a || !rest || !pivot || !l->lambda || !l->rhs) return LW_ERR_MEMORY;
    lwi_cod_init(&l->cod, (int)n, (int)m, a, rest, pivot);
    lwi_displacement_units(model, l->unit);
    return LW_OK;
}

// Columns of the decomposition are the rows of J, cut.len what counts as one in each.
lw_status lwi_loop_factor(const lw_model *model, lwi_loop_derivatives *l,
                          const lwi_state_derivatives *d, double t, lw_error *error)
{
    const lwi_cut_derivatives *rows = &d->rows;
    const int n = rows->n, m = rows->m, rank = l->cut.rank - l->cut.nrotor;
    for (int i = 0; i < m; i++) {
        const double *J = rows->J + (size_t)i * (size_t)n;
        l->cut.len[i] = rows->length[i] * model->length;
        for (int j = 0; j < n; j++)
            l->cod.a[(size_t)i * (size_t)n + (size_t)j] = J[j] * l->unit[j] / l->cut.len[i];
    }
    lwi_cod_factor(&l->cod, rank, LWI_CUT_RANK);
    if (l->cod.rank == rank) return LW_OK;
    return lwi_fail(error, LW_ERR_SINGULAR,
                    "derivatives: %d of %d independent constraints are left at t = %.9g s",
                    l->cod.rank, rank, t);
}

void lwi_loop_multipliers(lwi_loop_derivatives *l, const lwi_state_derivatives *d,
                          const double *force, double *lambda)
{
    for (int i = 0; i < d->rows.n; i++) l->rhs[i] = force[i] * l->unit[i];
    lwi_cod_solve(&l->cod, l->rhs, lambda);
    for (int i = 0; i < d->rows.m; i++) lambda[i] /= l->cut.len[i];
}

void lwi_loop_particular(lwi_loop_derivatives *l, const lwi_state_derivatives *d,
                         const double *rows, double *out)
{
    memset(out, 0, (size_t)d->rows.n * sizeof *out);
    for (int i = 0; i < d->rows.m; i++) l->rhs[i] = rows[i] / l->cut.len[i];
    lwi_cod_solve_t(&l->cod, l->rhs, out);
    for (int i = 0; i < d->rows.n; i++) out[i] *= l->unit[i];
}

lw_status lwi_loop_reduce(lwi_loop_derivatives *l, const lwi_state_derivatives *d, double t,
                          lw_error *error)
{
    const int n = d->rows.n, r = l->cod.rank, f = n - r;
    for (int k = 0; k < f; k++) {
        double *const row = l->N + (size_t)k * (size_t)n;
        memset(row, 0, (size_t)n * sizeof *row);
        row[r + k] = 1;
        lwi_cod_q(&l->cod, false, row);
        for (int i = 0; i < n; i++) row[i] *= l->unit[i];
    }
    double size = 0;
    for (int k = 0; k < f; k++) {
        for (int i = 0; i < n; i++)
            l->column[i] = lwi_dot(n, d->M + (size_t)i * (size_t)n, l->N + (size_t)k * (size_t)n);
        for (int j = 0; j < f; j++)
            l->reduced[(size_t)j * (size_t)f + (size_t)k] =
                lwi_dot(n, l->column, l->N + (size_t)j * (size_t)n);
        size = fmax(size, l->reduced[(size_t)k * (size_t)(f + 1)]);
    }
    if (lwi_cholesky(f, l->reduced, DBL_EPSILON * DBL_EPSILON * size) < 0) return LW_OK;
    return lwi_fail(
        error, LW_ERR_SINGULAR,
        "derivatives: no mass or inertia resists a motion of the mechanism at t = %.9g s", t);
}

void lwi_loop_column(lwi_loop_derivatives *l, const lwi_state_derivatives *d, const double *rows,
                     const double *force, int stride, int j)
{
    const int n = d->rows.n, m = d->rows.m, f = n - l->cod.rank;
    const size_t N = (size_t)n, by = (size_t)stride, at = (size_t)j;
    memset(l->column, 0, N * sizeof *l->column);
    for (int i = 0; rows && i < m; i++) l->rhs[i] = -rows[(size_t)i * by + at] / l->cut.len[i];
    if (rows) lwi_cod_solve_t(&l->cod, l->rhs, l->column);
    for (int i = 0; i < n; i++) l->column[i] *= l->unit[i];
    for (int i = 0; i < n; i++)
        l->force[i] =
            force[(size_t)i * by + at] + (rows ? lwi_dot(n, d->M + (size_t)i * N, l->column) : 0);
    for (int k = 0; k < f; k++) l->z[k] = -lwi_dot(n, l->N + (size_t)k * N, l->force);
    lwi_lower_solve(f, l->reduced, l->z);
    lwi_lower_tsolve(f, l->reduced, l->z);
    for (int k = 0; k < f; k++)
        for (int i = 0; i < n; i++) l->column[i] += l->z[k] * l->N[(size_t)k * N + (size_t)i];
}

static void solve_matrix(lwi_loop_derivatives *l, const lwi_state_derivatives *d,
                         const double *rows, double *matrix)
{
    const size_t n = (size_t)d->rows.n;
    for (size_t j = 0; j < n; j++) {
        lwi_loop_column(l, d, rows, matrix, (int)n, (int)j);
        for (size_t i = 0; i < n; i++) matrix[i * n + j] = l->column[i];
    }
}

lw_status lwi_loop_forward_derivatives(const lw_model *model, lwi_loop_derivatives *l,
                                       lwi_state_derivatives *d, lwi_tree_work *work, double t,
                                       const double *q, const double *v, const double *tau,
                                       const double *vdot, const double *inputs, double *by_q,
                                       double *by_v, double *by_tau, lw_error *error)
{
    const size_t n = (size_t)model->tree_nv;
    lwi_inverse_derivatives(model, d, work, t, q, v, vdot, inputs, by_q, by_v, d->M);
    TRY(lwi_loop_factor(model, l, d, t, error));
    TRY(lwi_loop_reduce(l, d, t, error));
    for (size_t i = 0; i < n; i++) l->force[i] = d->effort[i] - (tau ? tau[i] : 0);
    lwi_loop_multipliers(l, d, l->force, l->lambda);
    lwi_cut_derivatives_multipliers(&d->rows, &d->tree, -1, l->lambda, by_q);
    memset(by_tau, 0, n * n * sizeof *by_tau);
    for (size_t i = 0; i < n; i++) by_tau[i * (n + 1)] = -1;
    solve_matrix(l, d, d->rows.second_by_q, by_q);
    solve_matrix(l, d, d->rows.second_by_v, by_v);
    solve_matrix(l, d, NULL, by_tau);
    return LW_OK;
}
