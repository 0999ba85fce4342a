// reduced.c -- derivatives of the reduced equations by independent coordinates, speeds and inputs.
#include "analysis/reduced.h"

#include "base/linear.h"
#include "kinematics/displacement.h"

#include <math.h>
#include <string.h>

lw_status lwi_reduced_create(lwi_analysis_state *state, lwi_arena *arena, lwi_reduced *r,
                             lw_error *error)
{
    const lwi_manifold *m = &state->manifold;
    const lw_model *model = m->model;
    const size_t n = (size_t)m->n, f = (size_t)m->f, ninput = (size_t)model->desc.ninput;
    *r = (lwi_reduced){.state = state};
    lw_status status = lwi_state_derivatives_create(model, arena, &r->d, error);
    if (status == LW_OK) status = lwi_tree_work_create(model, arena, &r->tree);
    double **const vector[] = {&r->vdot, &r->shift, &r->force, &r->near_v, &r->increment};
    double **const square[] = {&r->by_q, &r->by_v, &r->M};
    double **const row[] = {&r->lambda, &r->rhs};
    for (int i = 0; i < LWI_COUNT(vector) && status == LW_OK; i++)
        if (!(*vector[i] = LWI_PUSH(arena, double, n))) status = LW_ERR_MEMORY;
    for (int i = 0; i < LWI_COUNT(square) && status == LW_OK; i++)
        if (!(*square[i] = LWI_PUSH(arena, double, n *n))) status = LW_ERR_MEMORY;
    for (int i = 0; i < LWI_COUNT(row) && status == LW_OK; i++)
        if (!(*row[i] = LWI_PUSH(arena, double, m->m))) status = LW_ERR_MEMORY;
    r->P = LWI_PUSH(arena, double, f *n);
    r->inputs = LWI_PUSH(arena, double, ninput);
    r->near_inputs = LWI_PUSH(arena, double, ninput);
    r->scratch = LWI_PUSH(arena, double, 4 * n);
    r->near_q = LWI_PUSH(arena, double, model->tree_nq);
    if (!r->P || !r->inputs || !r->near_inputs || !r->scratch || !r->near_q) status = LW_ERR_MEMORY;
    return status == LW_ERR_MEMORY ? lwi_fail(error, status, "no memory for derivatives") : status;
}

// ------------------------------------------------------------------------------------------ forces

static lw_status forces_at(void *user, lwi_analysis_vary what, int k, double by, double *out,
                           lw_error *error)
{
    lwi_reduced *const r = user;
    const lwi_analysis_state *s = r->state;
    const lwi_manifold *m = &s->manifold;
    const lw_model *model = m->model;
    const size_t n = (size_t)m->n;
    memcpy(r->near_q, s->q, (size_t)model->tree_nq * sizeof *r->near_q);
    memcpy(r->near_v, s->v, n * sizeof *r->near_v);
    memcpy(r->near_inputs, r->inputs, (size_t)model->desc.ninput * sizeof *r->near_inputs);
    if (what == LWI_VARY_INPUT) {
        r->near_inputs[k] += by;
    } else {
        const double *B = s->B + (size_t)k * n, *P = r->P + (size_t)k * n;
        const double *dv = what == LWI_VARY_POSITION ? P : B;
        for (size_t i = 0; i < n; i++) r->near_v[i] += by * dv[i];
        for (size_t i = 0; i < n; i++) r->increment[i] = by * B[i];
        if (what == LWI_VARY_POSITION) lwi_displace(model, r->near_q, r->increment);
    }
    lwi_generalised_forces(model, &r->d, &r->tree, m->t, r->near_q, r->near_v, r->near_inputs, out);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(out[i]))
            return lwi_fail(error, LW_ERR_NOT_FINITE, "a force is not finite near this position");
    return LW_OK;
}

// r->force := derivative of the forces of the model in all coordinates of the tree.
static lw_status vary_forces(lwi_reduced *r, lwi_analysis_vary what, int k, lw_error *error)
{
    const lwi_manifold *m = &r->state->manifold;
    memset(r->force, 0, (size_t)m->n * sizeof *r->force);
    if (m->model->nforce == 0 || m->n == 0) return LW_OK;
    const double step = what == LWI_VARY_INPUT ? 1 : lwi_analysis_step(r->state, k);
    return lwi_analysis_difference(forces_at, r, what, k, step, m->n, r->scratch, r->force, error);
}

// --------------------------------------------------------------------------------- along the manifold

// Multipliers with which the rows of the dependent coordinates balance.
static void find_multipliers(lwi_reduced *r)
{
    lwi_manifold *m = &r->state->manifold;
    for (int k = 0; k < m->n - m->f; k++) m->force[k] = r->d.effort[m->dependent[k]];
    lwi_cod_solve_t(&m->dependent_rows, m->force, r->lambda);
}

// out [n]: its dependent entries make J out = -rhs, the others are zero.
static void complete(lwi_reduced *r, double *out)
{
    lwi_manifold *m = &r->state->manifold;
    memset(out, 0, (size_t)m->n * sizeof *out);
    for (int i = 0; i < m->m; i++) r->rhs[i] = -r->rhs[i];
    lwi_manifold_dependent(m, r->rhs, out);
}

static void find_speeds(lwi_reduced *r)
{
    const lwi_manifold *m = &r->state->manifold;
    const size_t n = (size_t)m->n;
    for (int k = 0; k < m->f; k++) {
        const double *B = r->state->B + (size_t)k * n;
        for (int i = 0; i < m->m; i++)
            r->rhs[i] = lwi_dot(m->n, r->d.rows.rate_by_q + (size_t)i * n, B);
        complete(r, r->P + (size_t)k * n);
    }
}

// Inertia, gravity and constraints at the state; before any neighbour.
static lw_status begin(lwi_reduced *r, const double *zdot, lw_error *error)
{
    lwi_analysis_state *s = r->state;
    lwi_manifold *m = &s->manifold;
    const lw_model *model = m->model;
    const size_t n = (size_t)m->n;
    for (int i = 0; i < model->desc.ninput; i++) r->inputs[i] = m->inputs ? m->inputs[i] : 0;
    TRY(lwi_manifold_tangent(m, s->q, error));
    TRY(lwi_manifold_force(m, s->q, s->v, r->force, error)); // and d
    memcpy(r->vdot, m->bias, n * sizeof *r->vdot);
    for (int k = 0; zdot && k < m->f; k++)
        for (size_t i = 0; i < n; i++) r->vdot[i] += zdot[k] * s->B[(size_t)k * n + i];
    lwi_inertial_derivatives(model, &r->d, &r->tree, m->t, s->q, s->v, r->vdot, r->by_q, r->by_v,
                             r->M);
    if (!r->d.closed) return LW_OK;
    lwi_generalised_forces(model, &r->d, &r->tree, m->t, s->q, s->v, r->inputs, r->force);
    for (size_t i = 0; i < n; i++) r->d.effort[i] -= r->force[i];
    find_multipliers(r);
    lwi_cut_derivatives_multipliers(&r->d.rows, &r->d.tree, -1, r->lambda, r->by_q);
    find_speeds(r);
    return LW_OK;
}

// `reduce` where all coordinates are independent, as in trees: B is a permutation, P and dd are zero.
static void reduce_tree(lwi_reduced *r, const double *dq, const double *dv, int k, int columns,
                        double *out)
{
    const lwi_manifold *m = &r->state->manifold;
    const size_t n = (size_t)m->n;
    const double *by = dq ? r->by_q : r->by_v; // of inputs neither
    for (size_t i = 0; (dq || dv) && i < n; i++)
        r->force[i] -= by[i * n + (size_t)m->independent[k]];
    for (int j = 0; j < m->f; j++)
        out[(size_t)j * (size_t)columns + (size_t)k] = r->force[m->independent[j]];
}

// Column k of `out` [f][columns]: -B'(by_q dq + by_v dv + M dd - dQ), dQ in r->force.
static void reduce(lwi_reduced *r, const double *dq, const double *dv, int k, int columns,
                   double *out)
{
    const lwi_manifold *m = &r->state->manifold;
    const size_t n = (size_t)m->n;
    if (m->f == m->n) {
        reduce_tree(r, dq, dv, k, columns, out);
        return;
    }
    for (int i = 0; dv && i < m->m; i++) {
        const size_t row = (size_t)i * n;
        r->rhs[i] = lwi_dot(m->n, r->d.rows.second_by_v + row, dv) +
                    (dq ? lwi_dot(m->n, r->d.rows.second_by_q + row, dq) : 0);
    }
    if (dv && r->d.closed) complete(r, r->shift);
    for (size_t i = 0; dv && i < n; i++) {
        r->force[i] -= lwi_dot(m->n, r->by_v + i * n, dv);
        if (dq) r->force[i] -= lwi_dot(m->n, r->by_q + i * n, dq);
        if (r->d.closed) r->force[i] -= lwi_dot(m->n, r->M + i * n, r->shift);
    }
    for (int j = 0; j < m->f; j++)
        out[(size_t)j * (size_t)columns + (size_t)k] =
            lwi_dot(m->n, r->state->B + (size_t)j * n, r->force);
}

lw_status lwi_reduced_derivatives(lwi_reduced *r, const double *zdot, double *by_y, double *by_z,
                                  double *by_u, lw_error *error)
{
    const lwi_manifold *m = &r->state->manifold;
    const size_t n = (size_t)m->n;
    const int f = m->f, ninput = m->model->desc.ninput;
    TRY(begin(r, zdot, error));
    for (int k = 0; k < f; k++) {
        TRY(vary_forces(r, LWI_VARY_POSITION, k, error));
        reduce(r, r->state->B + (size_t)k * n, r->P + (size_t)k * n, k, f, by_y);
    }
    for (int k = 0; by_z && k < f; k++) {
        TRY(vary_forces(r, LWI_VARY_SPEED, k, error));
        reduce(r, NULL, r->state->B + (size_t)k * n, k, f, by_z);
    }
    for (int k = 0; by_u && k < ninput; k++) {
        TRY(vary_forces(r, LWI_VARY_INPUT, k, error));
        reduce(r, NULL, NULL, k, ninput, by_u);
    }
    return LW_OK;
}
