// mobility.c -- constraint equations, their rank and the degrees of freedom of a mechanism.
//
// Rows and rank are those of the absolute coordinates (formulation/dense.h) in a metric without
// masses, so bodies without mass count like the others; residuals are those of the joint library.
#include "observe/observe.h"

#include "formulation/dense.h"

#include <linkwork/simulate.h>

#include <string.h>

typedef struct mobility {
    lwi_arena arena;
    lwi_moment moment;
    lwi_dense dense;
    double *x, *basis; ///< [n], [n][n]
} mobility;

// Adds the rows of one joint to the basis, most independent first; returns how many depend on it.
static int span_rows(lwi_dense *s, int first, int n, double *basis, int *rank)
{
    int left = n;
    while (left > 0) {
        double most = -1;
        int best = first;
        for (int i = first; i < first + left; i++) {
            const double size = lwi_reject(s->n, *rank, basis, s->J + (size_t)i * (size_t)s->n);
            if (size > most) most = size, best = i;
        }
        if (!(most > LWI_DENSE_RANK)) return left;
        const size_t bytes = (size_t)s->n * sizeof(double);
        double *row = s->J + (size_t)best * (size_t)s->n;
        double *e = basis + (size_t)*rank * (size_t)s->n;
        memcpy(e, row, bytes);
        lwi_orthonormalize(s->n, 1, e);
        (*rank)++;
        left--;
        // the last one takes its place
        memcpy(row, s->J + (size_t)(first + left) * (size_t)s->n, bytes);
    }
    return 0;
}

// Joint by joint, in the order of the model.
static void dependent_rows(mobility *my, int *dependent)
{
    lwi_dense *s = &my->dense;
    int rank = 0;
    lwi_dense_geometric(s);
    lwi_dense_start(s);
    lwi_dense_equations(s, 0);
    lwi_dense_scale(s);
    for (int j = 0; j < s->model->njoint; j++)
        dependent[j] = span_rows(s, s->first[j], s->first[j + 1] - s->first[j], my->basis, &rank);
}

static void closure_residuals(const lw_model *model, mobility *my, double residual[2])
{
    lwi_system system;
    lwi_moment_start(model, &my->moment);
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &my->moment, &system);
    residual[0] = system.residual[0];
    residual[1] = system.residual[1];
}

// Rows of a mechanism with loops or couplings; a tree's are always independent.
static lw_status closed_mechanism(const lw_model *model, mobility *my, lw_check *check,
                                  int *dependent)
{
    lwi_dense *s = &my->dense;
    TRY(lwi_dense_create(model, &my->arena, s));
    my->x = LWI_PUSH(&my->arena, double, s->n);
    my->basis = lwi_arena_push(&my->arena, (size_t)s->n * (size_t)s->n, sizeof *my->basis);
    if (!my->x || !my->basis) return LW_ERR_MEMORY;
    const lwi_dense_ranks ranks = lwi_dense_rank(s, LWI_DENSE_RANK, my->x);
    check->rank = ranks.start;
    check->dof = s->n - ranks.start;
    check->dof_generic = s->n - ranks.generic;
    if (dependent) dependent_rows(my, dependent);
    return LW_OK;
}

static lw_status run_check(const lw_model *model, mobility *my, lw_check *check, int *dependent)
{
    int bodies = 0;
    for (int b = 1; b < model->nbody; b++) bodies += model->body[b].host == b;
    TRY(lwi_moment_create(model, &my->arena, &my->moment));
    closure_residuals(model, my, check->residual);
    check->rows = check->rank = lwi_dense_row_count(model);
    check->dof = check->dof_generic = 6 * bodies - check->rows;
    for (int j = 0; dependent && j < model->njoint; j++) dependent[j] = 0;
    if (model->nloop > 0 || model->ncoupling > 0)
        TRY(closed_mechanism(model, my, check, dependent));
    check->redundant = check->rows - check->rank;
    return LW_OK;
}

lw_status lw_model_check(const lw_model *model, lw_check *check, int *dependent, lw_error *error)
{
    if (!model || !check)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_model_check: model and check must be given");
    mobility my = {0};
    lwi_arena_init(&my.arena, &model->arena.allocator);
    *check = (lw_check){0};
    const lw_status status = run_check(model, &my, check, dependent);
    lwi_arena_free(&my.arena);
    if (status != LW_OK) return lwi_fail(error, status, "no memory to check the model");
    return LW_OK;
}
