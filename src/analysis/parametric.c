// parametric.c -- derivatives of the dynamics at a state by physical parameters.
//
// With F = M vdot + h - Q - J'lambda and C = J vdot + gamma, rows e_i of F and C are products u'F + nu'C with unit
// vectors, each differentiated by all numbers of the model at once (dynamics/number_gradient.h).  Of forward dynamics
//
//     M dvdot - J'dlambda = -dF,   J dvdot = -dC
#include "analysis/slope_groups.h"
#include "base/assert.h"
#include "base/linear.h"
#include "dynamics/loop_derivatives.h"

#include <linkwork/analysis.h>
#include <linkwork/dynamics.h>

#include <float.h>
#include <math.h>
#include <string.h>

#define RELATIVE 1e-3 // steps of parameters

struct lw_parametric {
    const lw_model *model;
    lwi_arena arena;
    lw_error error;
    int n, m, nby, nslope;
    lw_dynamics *dynamics;
    lwi_state_derivatives d;
    lwi_loop_derivatives loops;
    lwi_tree_work tree;
    lwi_model_numbers numbers;
    lwi_slope *slope; // [nby]
    double *inputs, *by_q, *by_v, *lambda, *force, *scratch, *column;
    double *u, *nu;                     // [n + m][n], [n + m][m] unit rows
    double *gradient, *rows, *products; // [numbers], [n + m][nby], [n + m]
    double (*way)[6];                   // [n + m][nnode]
};

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for derivatives by parameters");
}

// ------------------------------------------------------------------------------------------- create

static lw_status check(const lw_model *model, lw_error *error)
{
    char state[LW_COORDINATE_NAME_SIZE];
    if (model->nstate > 0) {
        lwi_state_name(model, 0, state, sizeof state);
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "derivatives by parameters: signals have states: %s; expected none", state);
    }
    for (int i = 0; i < model->nloop; i++)
        if (model->joint[model->loop[i]].nrotor > 0)
            return lwi_fail(error, LW_ERR_UNSUPPORTED,
                            "derivatives by parameters: joint '%s' closes a loop and has a rotor; "
                            "expected the rotor on a joint of the tree",
                            model->joint[model->loop[i]].name);
    return LW_OK;
}

static lw_status allocate(lw_parametric *p, lw_error *error)
{
    lwi_arena *arena = &p->arena;
    const size_t n = (size_t)p->n, m = (size_t)p->m, rows = n + m;
    const struct {
        double **array;
        size_t count;
    } vector[] = {{&p->inputs, (size_t)p->model->desc.ninput},
                  {&p->by_q, n * n},
                  {&p->by_v, n * n},
                  {&p->lambda, m},
                  {&p->force, n},
                  {&p->scratch, 2 * rows + 2 * (size_t)p->model->nstate},
                  {&p->column, n},
                  {&p->u, rows * n},
                  {&p->nu, rows * m},
                  {&p->gradient, (size_t)p->numbers.n},
                  {&p->rows, rows * (size_t)p->nby},
                  {&p->products, rows}};
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i].array = LWI_PUSH(arena, double, vector[i].count))) return no_memory(error);
    p->way = lwi_arena_push(arena, rows * (size_t)p->model->nnode, sizeof *p->way);
    p->slope = LWI_PUSH(arena, lwi_slope, p->nby);
    if (!p->way || !p->slope) return no_memory(error);
    for (size_t i = 0; i < n; i++) p->u[i * (n + 1)] = 1;
    for (size_t i = 0; i < m; i++) p->nu[n * m + i * (m + 1)] = 1;
    return LW_OK;
}

static lw_status create(lw_parametric *p, const char *const *by, lw_error *error)
{
    const lw_model *model = p->model;
    TRY(check(model, error));
    TRY(lw_dynamics_create(model, NULL, &p->dynamics, error));
    TRY(lwi_state_derivatives_create(model, &p->arena, &p->d, error));
    TRY(lwi_tree_work_create(model, &p->arena, &p->tree));
    if (p->d.closed) {
        TRY(lwi_loop_derivatives_create(model, &p->arena, &p->tree, &p->loops, error));
        p->m = p->d.rows.m;
    }
    TRY(lwi_numbers_create(model, &p->arena, &p->numbers));
    TRY(allocate(p, error));
    const lwi_slopes_desc desc = {.model = model,
                                  .numbers = &p->numbers,
                                  .d = &p->d,
                                  .work = &p->tree,
                                  .inputs = p->inputs,
                                  .by = by,
                                  .nby = p->nby,
                                  .relative = RELATIVE,
                                  .together = true,
                                  .any = true};
    TRY(lwi_slopes_create(&desc, &p->arena, p->slope, &p->nslope, error));
    lwi_slopes_choose_numbers(p->slope, p->nslope, &p->numbers);
    return LW_OK;
}

lw_status lw_parametric_create(const lw_model *model, const char *const *by, int nby,
                               lw_parametric **parametric, lw_error *error)
{
    if (!model || !parametric || !by)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, by or parametric is NULL");
    if (nby < 1)
        return lwi_fail(error, LW_ERR_ARGUMENT, "derivatives: expected at least one parameter");
    for (int k = 0; k < nby; k++)
        if (!by[k]) return lwi_fail(error, LW_ERR_ARGUMENT, "derivatives: parameter %d is NULL", k);
    lw_parametric *p = lwi_allocate(NULL, sizeof *p);
    if (!p) return no_memory(error);
    *p = (lw_parametric){.model = model, .n = model->tree_nv, .nby = nby};
    lwi_arena_init(&p->arena, NULL);
    const lw_status status = create(p, by, error);
    if (status == LW_OK)
        *parametric = p;
    else
        lw_parametric_destroy(p);
    return status == LW_ERR_MEMORY ? no_memory(error) : status;
}

void lw_parametric_destroy(lw_parametric *p)
{
    if (!p) return;
    const lw_allocator allocator = p->arena.allocator;
    for (int k = 0; k < p->nslope; k++) lwi_slope_destroy(&p->slope[k]);
    lw_dynamics_destroy(p->dynamics);
    lwi_arena_free(&p->arena);
    lwi_release(&allocator, p);
}

const lw_error *lw_parametric_error(const lw_parametric *p)
{
    return p ? &p->error : NULL;
}

int lw_parametric_is_exact(const lw_parametric *p, int parameter)
{
    return p && parameter >= 0 && parameter < p->nby && p->slope[parameter].local;
}

// -------------------------------------------------------------------------------------------- rows

// p->rows [n + m][nby] := dF, dC, where lambda and the derivatives at the state are set.
static lw_status fill_rows(lw_parametric *p, double t, const double *q, const double *v,
                           const double *vdot, const double *inputs)
{
    const size_t n = (size_t)p->n, m = (size_t)p->m, nnode = (size_t)p->model->nnode,
                 nby = (size_t)p->nby;
    const lwi_number_state at = {p->model, &p->d, &p->tree, t, v, p->lambda, inputs};
    lwi_generalised_forces(p->model, &p->d, &p->tree, t, q, v, inputs, p->force); // at the state
    for (size_t i = 0; i < n + m; i++) {
        double(*way)[6] = p->way + i * nnode;
        lwi_number_ways(&at, p->u + i * n, way);
        memset(p->gradient, 0, (size_t)p->numbers.n * sizeof *p->gradient);
        lwi_number_gradient(&p->numbers, &at, p->u + i * n, p->nu + i * m, (const double(*)[6])way,
                            1, p->gradient);
        for (size_t k = 0; k < nby; k++)
            p->rows[i * nby + k] = lwi_slope_by_numbers(&p->slope[k], p->gradient);
    }
    const lwi_slope_state state = {t, q, v, vdot, p->lambda, inputs, &p->tree, NULL, NULL};
    const lwi_slope_rows rows = {
        .count = (int)(n + m), .u = p->u, .nu = p->nu, .way = (const double(*)[6])p->way};
    for (size_t k = 0; k < nby; k++) {
        if (p->slope[k].local && p->slope[k].nforce == 0) continue;
        lwi_slope_products(&p->slope[k], p->model, &state, &rows, p->scratch, p->products);
        for (size_t i = 0; i < n + m; i++) p->rows[i * nby + k] += p->products[i];
    }
    for (size_t i = 0; i < (n + m) * nby; i++)
        if (!isfinite(p->rows[i]))
            return lwi_fail(&p->error, LW_ERR_NOT_FINITE,
                            "a derivative by a parameter is not finite at t = %.9g s", t);
    return LW_OK;
}

static lw_status check_state(lw_parametric *p, const double *q, const double *v)
{
    for (int i = 0; i < p->model->tree_nq; i++)
        if (!isfinite(q[i]))
            return lwi_fail(&p->error, LW_ERR_NOT_FINITE, "q[%d] is not finite", i);
    for (int i = 0; i < p->n; i++)
        if (!isfinite(v[i]))
            return lwi_fail(&p->error, LW_ERR_NOT_FINITE, "v[%d] is not finite", i);
    return LW_OK;
}

lw_status lw_parametric_inverse(lw_parametric *p, double t, const double *q, const double *v,
                                const double *vdot, const double *inputs, double *by_p)
{
    if (!p || !q || !v || !vdot || !by_p) return LW_ERR_ARGUMENT;
    const double *given = inputs ? inputs : p->inputs;
    TRY(check_state(p, q, v));
    lwi_inverse_derivatives(p->model, &p->d, &p->tree, t, q, v, vdot, given, p->by_q, p->by_v,
                            p->d.M);
    memset(p->lambda, 0, (size_t)p->m * sizeof *p->lambda);
    TRY(fill_rows(p, t, q, v, vdot, given));
    memcpy(by_p, p->rows, (size_t)p->n * (size_t)p->nby * sizeof *by_p);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- forward

static lw_status solve_tree(lw_parametric *p, double t, double *by_p)
{
    const size_t n = (size_t)p->n, nby = (size_t)p->nby;
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, p->d.M[i * (n + 1)]);
    if (lwi_cholesky(p->n, p->d.M, DBL_EPSILON * DBL_EPSILON * size) >= 0)
        return lwi_fail(&p->error, LW_ERR_SINGULAR,
                        "derivatives: no mass or inertia resists a motion at t = %.9g s", t);
    for (size_t k = 0; k < nby; k++) {
        for (size_t i = 0; i < n; i++) p->column[i] = -p->rows[i * nby + k];
        lwi_lower_solve(p->n, p->d.M, p->column);
        lwi_lower_tsolve(p->n, p->d.M, p->column);
        for (size_t i = 0; i < n; i++) by_p[i * nby + k] = p->column[i];
    }
    return LW_OK;
}

static void solve_loops(lw_parametric *p, double *by_p)
{
    const size_t n = (size_t)p->n, nby = (size_t)p->nby;
    for (size_t k = 0; k < nby; k++) {
        lwi_loop_column(&p->loops, &p->d, p->rows + n * nby, p->rows, p->nby, (int)k);
        for (size_t i = 0; i < n; i++) by_p[i * nby + k] = p->loops.column[i];
    }
}

lw_status lw_parametric_forward(lw_parametric *p, double t, const double *q, const double *v,
                                const double *tau, const double *inputs, double *vdot, double *by_p)
{
    if (!p || !q || !v || !vdot || !by_p) return LW_ERR_ARGUMENT;
    const double *given = inputs ? inputs : p->inputs;
    const lw_status status = lw_forward_dynamics(p->dynamics, t, q, v, tau, given, vdot);
    if (status != LW_OK)
        return lwi_fail(&p->error, status, "%s", lw_dynamics_error(p->dynamics)->text);
    lwi_inverse_derivatives(p->model, &p->d, &p->tree, t, q, v, vdot, given, p->by_q, p->by_v,
                            p->d.M);
    if (p->d.closed) {
        TRY(lwi_loop_factor(p->model, &p->loops, &p->d, t, &p->error));
        TRY(lwi_loop_reduce(&p->loops, &p->d, t, &p->error));
        for (int i = 0; i < p->n; i++) p->force[i] = p->d.effort[i] - (tau ? tau[i] : 0);
        lwi_loop_multipliers(&p->loops, &p->d, p->force, p->lambda);
    }
    TRY(fill_rows(p, t, q, v, vdot, given));
    if (!p->d.closed) return solve_tree(p, t, by_p);
    solve_loops(p, by_p);
    return LW_OK;
}
