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
    double **const square[] = {&l->N, &l->NM, &l->reduced, &l->outward, &l->B, &l->BM, &l->W};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i] = LWI_PUSH(arena, double, n))) return LW_ERR_MEMORY;
    for (int i = 0; i < LWI_COUNT(square); i++)
        if (!(*square[i] = LWI_PUSH(arena, double, n *n))) return LW_ERR_MEMORY;
    double **const by_row[] = {&l->G, &l->H, &l->rows};
    for (int i = 0; i < LWI_COUNT(by_row); i++)
        if (!(*by_row[i] = LWI_PUSH(arena, double, n *m))) return LW_ERR_MEMORY;
    l->scratch = LWI_PUSH(arena, double, m *m);
    l->row = LWI_PUSH(arena, int, m);
    if (!l->scratch || !l->row) return LW_ERR_MEMORY;
    l->lambda = LWI_PUSH(arena, double, m);
    l->rhs = LWI_PUSH(arena, double, n > m ? n : m);
    if (!a || !rest || !pivot || !l->lambda || !l->rhs) return LW_ERR_MEMORY;
    lwi_cod_init(&l->cod, (int)n, (int)m, a, rest, pivot);
    lwi_displacement_units(model, l->unit);
    return LW_OK;
}

// Rows are zero where the tree already keeps what they say, as in a plane: out of it.
static void find_rows(lwi_loop_derivatives *l, const lwi_cut_derivatives *rows)
{
    const size_t n = (size_t)rows->n;
    double largest = 0;
    for (int i = 0; i < rows->m; i++) {
        const double *J = rows->J + (size_t)i * n;
        l->rhs[i] = 0;
        for (size_t j = 0; j < n; j++) l->rhs[i] = fmax(l->rhs[i], fabs(J[j] * l->unit[j]));
        l->rhs[i] /= l->cut.len[i];
        largest = fmax(largest, l->rhs[i]);
    }
    l->nrow = 0;
    for (int i = 0; i < rows->m; i++)
        if (l->rhs[i] > 10 * DBL_EPSILON * largest) l->row[l->nrow++] = i;
}

// Columns of the decomposition are the rows of J that are not zero, cut.len what counts as one in each.
lw_status lwi_loop_factor(const lw_model *model, lwi_loop_derivatives *l,
                          const lwi_state_derivatives *d, double t, lw_error *error)
{
    const lwi_cut_derivatives *rows = &d->rows;
    const int n = rows->n, rank = l->cut.rank - l->cut.nrotor;
    for (int i = 0; i < rows->m; i++) l->cut.len[i] = rows->length[i] * model->length;
    find_rows(l, rows);
    for (int k = 0; k < l->nrow; k++) {
        const double *J = rows->J + (size_t)l->row[k] * (size_t)n, len = l->cut.len[l->row[k]];
        for (int j = 0; j < n; j++)
            l->cod.a[(size_t)k * (size_t)n + (size_t)j] = J[j] * l->unit[j] / len;
    }
    l->cod.m = l->nrow;
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
    memcpy(l->rhs, lambda, (size_t)l->nrow * sizeof *lambda);
    memset(lambda, 0, (size_t)d->rows.m * sizeof *lambda);
    for (int k = 0; k < l->nrow; k++) lambda[l->row[k]] = l->rhs[k] / l->cut.len[l->row[k]];
}

void lwi_loop_particular(lwi_loop_derivatives *l, const lwi_state_derivatives *d,
                         const double *rows, double *out)
{
    memset(out, 0, (size_t)d->rows.n * sizeof *out);
    for (int k = 0; k < l->nrow; k++) l->rhs[k] = rows[l->row[k]] / l->cut.len[l->row[k]];
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
    memset(l->NM, 0, (size_t)f * (size_t)n * sizeof *l->NM);
    lwi_derivative_multiply(f, n, n, l->N, d->M, l->NM);
    for (int k = 0; k < f; k++) {
        for (int j = 0; j < f; j++)
            l->reduced[(size_t)j * (size_t)f + (size_t)k] =
                lwi_dot(n, l->NM + (size_t)k * (size_t)n, l->N + (size_t)j * (size_t)n);
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
    const int n = d->rows.n, f = n - l->cod.rank;
    const size_t N = (size_t)n, by = (size_t)stride, at = (size_t)j;
    memset(l->column, 0, N * sizeof *l->column);
    for (int k = 0; rows && k < l->nrow; k++)
        l->rhs[k] = -rows[(size_t)l->row[k] * by + at] / l->cut.len[l->row[k]];
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

// -G and -B M G.
static void find_particular(lwi_loop_derivatives *l, int n, int f)
{
    const size_t m = (size_t)l->nrow;
    lwi_cod_inverse_t(&l->cod, l->scratch, l->G);
    for (size_t k = 0; k < m; k++) l->rhs[k] = -1 / l->cut.len[l->row[k]];
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t k = 0; k < m; k++) l->G[i * m + k] *= l->unit[i] * l->rhs[k];
    memset(l->H, 0, (size_t)f * m * sizeof *l->H);
    lwi_derivative_multiply(f, n, l->nrow, l->BM, l->G, l->H);
}

static void subtract(size_t n, double s, const double *from, double *to)
{
    for (size_t i = 0; i < n; i++) to[i] -= s * from[i];
}

// B [f][n] := (N'M N)^-1 B
static void solve_reduced(const lwi_loop_derivatives *l, int n, int f, double *B)
{
    const size_t N = (size_t)n, F = (size_t)f;
    for (size_t k = 0; k < F; k++) {
        double *own = B + k * N;
        const double *L = l->reduced + k * F;
        for (size_t j = 0; j < k; j++) subtract(N, L[j], B + j * N, own);
        for (size_t i = 0; i < N; i++) own[i] /= L[k];
    }
    for (size_t k = F; k-- > 0;) {
        double *own = B + k * N;
        for (size_t j = k + 1; j < F; j++) subtract(N, l->reduced[j * F + k], B + j * N, own);
        for (size_t i = 0; i < N; i++) own[i] /= l->reduced[k * F + k];
    }
}

// After lwi_loop_reduce.
static void find_operators(lwi_loop_derivatives *l, int n, int f)
{
    const size_t N = (size_t)n, F = (size_t)f;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < F; k++) l->outward[i * F + k] = -l->N[k * N + i];
    memcpy(l->B, l->N, F * N * sizeof *l->B);
    solve_reduced(l, n, f, l->B);
    memcpy(l->BM, l->NM, F * N * sizeof *l->BM);
    solve_reduced(l, n, f, l->BM);
    find_particular(l, n, f);
}

// matrix [n][n] of d(M vdot + h - J'lambda) := dvdot; second [m][n]: d(J vdot + gamma).
static void solve_matrix(lwi_loop_derivatives *l, int n, int f, const double *second,
                         double *matrix)
{
    const size_t N = (size_t)n;
    for (int k = 0; k < l->nrow; k++)
        memcpy(l->rows + (size_t)k * N, second + (size_t)l->row[k] * N, N * sizeof *l->rows);
    memset(l->W, 0, (size_t)f * N * sizeof *l->W);
    lwi_derivative_multiply(f, n, n, l->B, matrix, l->W);
    lwi_derivative_multiply(f, l->nrow, n, l->H, l->rows, l->W);
    memset(matrix, 0, N * N * sizeof *matrix);
    lwi_derivative_multiply(n, f, n, l->outward, l->W, matrix);
    lwi_derivative_multiply(n, l->nrow, n, l->G, l->rows, matrix);
}

static void inverse(lwi_loop_derivatives *l, int n, int f, double *by_tau)
{
    const size_t size = (size_t)n * (size_t)n;
    memset(by_tau, 0, size * sizeof *by_tau);
    lwi_derivative_multiply(n, f, n, l->outward, l->B, by_tau);
    for (size_t i = 0; i < size; i++) by_tau[i] = -by_tau[i];
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
    const int f = (int)n - l->cod.rank;
    find_operators(l, (int)n, f);
    solve_matrix(l, (int)n, f, d->rows.second_by_q, by_q);
    solve_matrix(l, (int)n, f, d->rows.second_by_v, by_v);
    inverse(l, (int)n, f, by_tau);
    return LW_OK;
}
