// manifold.c -- independent coordinates, positions and speeds along the manifold, reduced equations.
#include "analysis/manifold.h"

#include "analysis/names.h"
#include "base/assert.h"
#include "base/linear.h"
#include "kinematics/displacement.h"
#include "system/singular.h"

#include <linkwork/analysis.h>
#include <linkwork/simulate.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NEWTON = 30 };
// Positions count as closed below this residual [m per length of the mechanism, rad]: Newton's method continues until
// the residual no longer falls, which is 1e-16 to 1e-14.
#define CLOSED 1e-10
#define ROUND_OFF 1e-16 // no residual can be smaller
#define STILL 1e-13     // a correction, in units, that is round-off
// Sine of the angle between a column and those before that makes a good choice, and size of a column, in units.
#define GOOD_PART 0.3
// Rows with a smallest pivot below this part of the largest depend on each other at a position that is closed to
// round-off, 1e-16: it may be the root of that away from a singular one.
#define SINGULAR 1e-7

// ------------------------------------------------------------------------------------- coordinates

void lwi_manifold_move(const lwi_manifold *s, double *q, const double *increment)
{
    lwi_displace(s->model, q, increment);
}

double lwi_manifold_unit(const lwi_manifold *s, int speed)
{
    return s->unit[speed];
}

// ----------------------------------------------------------------------------------------- closing

static double largest(int n, const double *x)
{
    double maximum = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= maximum)) maximum = fabs(x[i]); // NaN stays
    return maximum;
}

// "joint 'a' and those of 'b', 'c'" of row i.
static void name_rows(const lwi_manifold *s, int i, char *text, size_t size)
{
    lwi_singular_names(s->model, lwi_cut_row_owner(&s->constraints->cut, i), text, size);
}

// The row with the largest residual.
static int widest(const lwi_manifold *s)
{
    int worst = 0;
    for (int i = 1; i < s->m; i++)
        if (!(fabs(s->phi[i]) <= fabs(s->phi[worst]))) worst = i;
    return worst;
}

lw_status lwi_manifold_rows(lwi_manifold *s, const double *q, const double *v, lw_error *error)
{
    if (!v) v = memset(s->bias, 0, (size_t)s->n * sizeof *s->bias);
    const lw_status status =
        lw_constraints_evaluate(s->constraints, s->t, q, v, s->phi, NULL, s->J, NULL);
    return status == LW_OK ? LW_OK : lwi_fail(error, status, "the state is not finite");
}

static void factor_dependent(lwi_manifold *s)
{
    const size_t m = (size_t)s->m, n = (size_t)s->n;
    const int r = s->n - s->f;
    for (int k = 0; k < r; k++)
        for (size_t i = 0; i < m; i++)
            s->dependent_rows.a[(size_t)k * m + i] = s->J[i * n + (size_t)s->dependent[k]];
    lwi_cod_factor(&s->dependent_rows, r, 0);
}

void lwi_manifold_dependent(lwi_manifold *s, double *target, double *x)
{
    const int r = s->n - s->f;
    if (r == 0) return;
    lwi_cod_solve(&s->dependent_rows, target, s->force);
    for (int k = 0; k < r; k++) x[s->dependent[k]] = s->force[k];
}

// Does the last correction move nothing?  What is left of the residual is then the difference of redundant rows, which
// coordinates rounded in a file do not satisfy together.
static bool is_still(const lwi_manifold *s)
{
    for (int j = 0; j < s->n; j++)
        if (!(fabs(s->step[j]) <= STILL * s->unit[j])) return false;
    return true;
}

// Repeats `correct`, which sets s->step from s->phi and s->J, until the residual no longer falls.
static lw_status newton(lwi_manifold *s, double *q, void (*correct)(lwi_manifold *, void *),
                        void *user, lw_error *error)
{
    double last = INFINITY;
    if (s->m == 0) return LW_OK;
    for (int i = 0; i < MAX_NEWTON; i++) {
        TRY(lwi_manifold_rows(s, q, NULL, error));
        const double now = largest(s->m, s->phi);
        if (now <= ROUND_OFF * (1 + s->model->length)) return LW_OK;
        if (now >= last / 2 && now <= CLOSED * (1 + s->model->length)) return LW_OK;
        last = now;
        correct(s, user);
        if (now <= LWI_CLOSURE_TOLERANCE * (1 + s->model->length) && is_still(s)) return LW_OK;
        lwi_manifold_move(s, q, s->step);
    }
    if (last <= CLOSED * (1 + s->model->length)) return LW_OK;
    char names[400];
    name_rows(s, widest(s), names, sizeof names);
    return lwi_fail(error, LW_ERR_SINGULAR,
                    "the loops close to %.3g m or rad only (%d iterations), the worst at %s: the "
                    "position is near a singular one, where constraints depend on each other",
                    last, MAX_NEWTON, names);
}

// user: the sum of all corrections [n], or NULL.
static void correct_dependent(lwi_manifold *s, void *user)
{
    double *const moved = user;
    factor_dependent(s);
    memset(s->step, 0, (size_t)s->n * sizeof *s->step);
    for (int i = 0; i < s->m; i++) s->rhs[i] = -s->phi[i];
    lwi_manifold_dependent(s, s->rhs, s->step);
    for (int i = 0; moved && i < s->n; i++) moved[i] += s->step[i];
}

lw_status lwi_manifold_close(lwi_manifold *s, double *q, lw_error *error)
{
    return newton(s, q, correct_dependent, NULL, error);
}

lw_status lwi_manifold_close_counting(lwi_manifold *s, double *q, double *moved, lw_error *error)
{
    return newton(s, q, correct_dependent, moved, error);
}

// ------------------------------------------------------------------------- choice of the coordinates

// Scratch of the choice.
typedef struct choice {
    lwi_manifold *s;
    double *column;     // [n][m] J with rows of length 1, displacements in lengths of the mechanism
    double *basis;      // [m][m] orthonormal, of the columns chosen as dependent
    const double *unit; // [n] of the manifold
    int *order;         // [n] speeds in the order of the model's joints
    bool *named;        // [n] must be independent
    bool *chosen;       // [n] dependent
    lwi_cod cod;        // of the rows, [n x m]
    int rank;
} choice;

// What counts as one in row i: the row in the metric of the bodies, for displacements of the mechanism's length.
static double row_unit(const lwi_manifold *s, int i)
{
    return s->constraints->cut.len[i] * s->model->length;
}

static void scale_columns(choice *c)
{
    const lwi_manifold *s = c->s;
    const size_t m = (size_t)s->m, n = (size_t)s->n;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            c->column[j * m + i] = s->J[i * n + j] * c->unit[j] / row_unit(s, (int)i);
}

static void factor_rows(choice *c, int rank)
{
    const size_t m = (size_t)c->s->m, n = (size_t)c->s->n;
    scale_columns(c);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) c->cod.a[i * n + j] = c->column[j * m + i];
    lwi_cod_factor(&c->cod, rank, LWI_CUT_RANK);
}

// Factors as many independent rows as the mechanism has in general; false: fewer of them are independent here, which
// are factored.
static bool factor_generic(choice *c)
{
    factor_rows(c, c->rank);
    if (c->cod.rank == c->rank && c->cod.small > SINGULAR) return true;
    factor_rows(c, -1);
    return false;
}

// The smallest increment, in lengths and angles, that closes the loops at first order.
static void correct_all(lwi_manifold *s, void *user)
{
    choice *const c = user;
    factor_generic(c);
    for (int i = 0; i < s->m; i++) s->rhs[i] = -s->phi[i] / row_unit(s, i);
    lwi_cod_solve_t(&c->cod, s->rhs, s->step);
    for (int j = 0; j < s->n; j++) s->step[j] *= c->unit[j];
}

// Speeds by the index of their joint; floating bases first.
static void order_speeds(choice *c)
{
    const lw_model *model = c->s->model;
    int n = 0;
    for (int k = 0; k < model->nnode; k++)
        for (int i = 0; model->node[k].joint < 0 && i < model->node[k].nv; i++)
            c->order[n++] = model->node[k].iv + i;
    for (int j = 0; j < model->njoint; j++) {
        if (model->joint[j].merged || model->joint[j].node < 0) continue;
        const lwi_node *node = &model->node[model->joint[j].node];
        for (int i = 0; i < node->nv; i++) c->order[n++] = node->iv + i;
    }
    LWI_ASSERT(n == c->s->n);
}

// The part of column j outside of the span of those chosen before, in v; 0: it is none of a dependent one.
static double outside(const choice *c, int j, int count, double *v, double *size)
{
    const size_t m = (size_t)c->s->m;
    double sum = 0;
    memcpy(v, c->column + (size_t)j * m, m * sizeof *v);
    for (size_t k = 0; k < m; k++) sum += v[k] * v[k];
    *size = sqrt(sum);
    return c->named[j] || c->chosen[j] || !(*size > LWI_CUT_RANK)
               ? 0
               : lwi_reject(c->s->m, count, c->basis, v);
}

static void take(choice *c, int j, int *count)
{
    double size, *const v = c->basis + (size_t)*count * (size_t)c->s->m;
    const double left = outside(c, j, *count, v, &size);
    for (int k = 0; k < c->s->m; k++) v[k] /= left;
    c->chosen[j] = true;
    (*count)++;
}

// From the last joint to the first, a speed becomes dependent if a good part of its column is new; where these do not
// suffice, those with the largest new part.
static void choose_dependent(choice *c, int *count)
{
    lwi_manifold *s = c->s;
    double size;
    for (int i = s->n - 1; i >= 0 && *count < c->rank; i--) {
        const double left = outside(c, c->order[i], *count, s->rhs, &size);
        if (left > GOOD_PART * fmax(size, GOOD_PART)) take(c, c->order[i], count);
    }
    while (*count < c->rank) {
        int best = -1;
        double maximum = SINGULAR;
        for (int j = 0; j < s->n; j++) {
            const double left = outside(c, j, *count, s->rhs, &size);
            if (left > maximum) maximum = left, best = j;
        }
        if (best < 0) return;
        take(c, best, count);
    }
}

// "joint.A.q0, joint.D.q0" of the coordinates named; the joint of the last one, -1: none.
static int list_named(const choice *c, char *text, size_t size)
{
    const lw_model *model = c->s->model;
    int joint = -1;
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < c->s->n && used < size; i++) {
        const int j = c->order[i];
        char name[LW_COORDINATE_NAME_SIZE];
        if (!c->named[j]) continue;
        lwi_analysis_name(model, j, false, name, sizeof name);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        for (int k = 0; k < model->nnode; k++)
            if (j >= model->node[k].iv && j < model->node[k].iv + model->node[k].nv)
                joint = model->node[k].joint;
    }
    return joint;
}

static lw_status named_depend(const choice *c, lw_error *error)
{
    char names[200];
    const int joint = list_named(c, names, sizeof names);
    lwi_fail(error, LW_ERR_ARGUMENT,
             "independent: %s depend on each other, or do not move the mechanism at this position; "
             "expected at most %d, one for each degree of freedom, which determine the others",
             names, c->s->f);
    return joint < 0 ? LW_ERR_ARGUMENT
                     : lwi_analysis_at_joint(c->s->model, joint, LW_ERR_ARGUMENT, error);
}

static lw_status choose(choice *c, lw_error *error)
{
    lwi_manifold *s = c->s;
    int count = 0;
    choose_dependent(c, &count);
    if (count < c->rank) return named_depend(c, error);
    int f = 0, r = 0;
    for (int i = 0; i < s->n; i++) {
        const int j = c->order[i];
        if (c->chosen[j])
            s->dependent[r++] = j;
        else
            s->independent[f++] = j;
    }
    LWI_ASSERT(f == s->f && r == s->n - s->f);
    return LW_OK;
}

// The rank that the rows have in general.
static lw_status find_rank(choice *c, lw_error *error)
{
    lw_check check;
    if (c->s->m == 0) return LW_OK;
    TRY(lw_model_check(c->s->model, &check, NULL, error));
    c->rank = c->s->n - check.dof_generic;
    return LW_OK;
}

// Fewer dof nearby than here: the rank of the rows drops at this position.
static lw_status check_regular(choice *c, lw_error *error)
{
    const int n = c->s->n;
    if (c->s->m == 0 || factor_generic(c)) return LW_OK;
    char names[400];
    name_rows(c->s, c->cod.pivot[c->cod.rank], names, sizeof names);
    const int owner = lwi_cut_row_owner(&c->s->constraints->cut, c->cod.pivot[c->cod.rank]);
    const lw_model *model = c->s->model;
    lwi_fail(
        error, LW_ERR_SINGULAR,
        "singular position: constraints of %s depend on each other: %d degrees of freedom here, "
        "%d nearby; analyses need a position where both are equal",
        names, n - c->cod.rank, n - c->rank);
    return lwi_analysis_at_joint(model, owner >= 0 ? owner : model->coupling[-1 - owner].joint,
                                 LW_ERR_SINGULAR, error);
}

static lw_status no_memory(const lwi_manifold *s, lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY,
                    "no memory for an analysis: its matrices are dense, those of %d speeds and %d "
                    "equations of loops take at least %.3g GB",
                    s->n, s->m, 1e-9 * sizeof(double) * 2 * s->n * s->m);
}

static lw_status make_choice(lwi_manifold *s, const double *q, const char *names, lwi_arena *arena,
                             lw_error *error)
{
    const int m = s->m, n = s->n;
    choice c = {.s = s};
    const size_t entries = (size_t)m * (size_t)n;
    double *a = LWI_PUSH(arena, double, entries),
           *rest = LWI_PUSH(arena, double, lwi_cod_doubles(n, m));
    int *pivot = LWI_PUSH(arena, int, m);
    double *closed = LWI_PUSH(arena, double, s->model->tree_nq);
    c.column = LWI_PUSH(arena, double, entries);
    c.basis = LWI_PUSH(arena, double, (size_t)(m < n ? m : n) * (size_t)m);
    c.unit = s->unit;
    c.order = LWI_PUSH(arena, int, n);
    c.named = LWI_PUSH(arena, bool, n);
    c.chosen = LWI_PUSH(arena, bool, n);
    if (!a || !rest || !pivot || !closed || !c.column || !c.basis || !c.order || !c.named ||
        !c.chosen)
        return no_memory(s, error);
    order_speeds(&c);
    TRY(lwi_analysis_names(s->model, names, c.named, error));
    lwi_cod_init(&c.cod, n, m, a, rest, pivot);
    memcpy(closed, q, (size_t)s->model->tree_nq * sizeof *closed);
    TRY(find_rank(&c, error));
    TRY(newton(s, closed, correct_all, &c, error));
    TRY(check_regular(&c, error));
    s->f = n - c.rank;
    return choose(&c, error);
}

// ------------------------------------------------------------------------------------------ create

static lw_status allocate(lwi_manifold *s, lwi_arena *arena)
{
    const int m = s->m, n = s->n;
    s->independent = LWI_PUSH(arena, int, n);
    s->dependent = LWI_PUSH(arena, int, n);
    double **const vector[] = {&s->h, &s->step, &s->force, &s->bias, &s->unit};
    double **const row[] = {&s->phi, &s->rate, &s->gamma, &s->rhs};
    double **const square[] = {&s->B, &s->M, &s->reduced, &s->factor};
    if (!s->independent || !s->dependent) return LW_ERR_MEMORY;
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i] = LWI_PUSH(arena, double, n))) return LW_ERR_MEMORY;
    for (int i = 0; i < LWI_COUNT(row); i++)
        if (!(*row[i] = LWI_PUSH(arena, double, m))) return LW_ERR_MEMORY;
    for (int i = 0; i < LWI_COUNT(square); i++)
        if (!(*square[i] = LWI_PUSH(arena, double, (size_t)n *(size_t)n))) return LW_ERR_MEMORY;
    s->J = LWI_PUSH(arena, double, (size_t)m *(size_t)n);
    if (!s->J) return LW_ERR_MEMORY;
    lwi_displacement_units(s->model, s->unit);
    return LW_OK;
}

static lw_status allocate_factor(lwi_manifold *s, lwi_arena *arena)
{
    const int r = s->n - s->f;
    double *a = LWI_PUSH(arena, double, (size_t)s->m *(size_t)r),
           *rest = LWI_PUSH(arena, double, lwi_cod_doubles(s->m, r));
    int *pivot = LWI_PUSH(arena, int, r);
    if (!a || !rest || !pivot) return LW_ERR_MEMORY;
    lwi_cod_init(&s->dependent_rows, s->m, r, a, rest, pivot);
    return LW_OK;
}

lw_status lwi_manifold_create(const lw_model *model, double t, const double *q, const char *names,
                              lwi_arena *arena, lwi_manifold *s, lw_error *error)
{
    *s = (lwi_manifold){.model = model, .t = t, .n = model->tree_nv};
    TRY(lw_constraints_create(model, &model->arena.allocator, &s->constraints, error));
    s->m = lw_constraints_count(s->constraints);
    s->constraints->tree.states = &s->states;
    lw_status status = allocate(s, arena);
    if (status == LW_OK) {
        status = make_choice(s, q, names, arena, error);
        if (status == LW_OK && (status = allocate_factor(s, arena)) != LW_OK) no_memory(s, error);
    } else {
        no_memory(s, error);
    }
    if (status != LW_OK) lwi_manifold_destroy(s);
    return status;
}

void lwi_manifold_destroy(lwi_manifold *s)
{
    lw_constraints_destroy(s->constraints);
    s->constraints = NULL;
}

// --------------------------------------------------------------------------------- reduced equations

void lwi_manifold_factor(lwi_manifold *s)
{
    const size_t n = (size_t)s->n;
    factor_dependent(s);
    for (int k = 0; k < s->f; k++) {
        double *const column = s->B + (size_t)k * n;
        memset(column, 0, n * sizeof *column);
        column[s->independent[k]] = 1;
        for (int i = 0; i < s->m; i++) s->rhs[i] = -s->J[(size_t)i * n + (size_t)s->independent[k]];
        lwi_manifold_dependent(s, s->rhs, column);
    }
}

lw_status lwi_manifold_tangent(lwi_manifold *s, const double *q, lw_error *error)
{
    TRY(lwi_manifold_rows(s, q, NULL, error));
    lwi_manifold_factor(s);
    return LW_OK;
}

void lwi_manifold_speeds(lwi_manifold *s, const double *q, const double *z, double *v)
{
    memset(v, 0, (size_t)s->n * sizeof *v);
    for (int k = 0; k < s->f; k++) v[s->independent[k]] = z[k];
    if (s->m == 0) return;
    lw_constraints_evaluate(s->constraints, s->t, q, v, NULL, s->rate, NULL, NULL);
    for (int i = 0; i < s->m; i++) s->rhs[i] = -s->rate[i];
    lwi_manifold_dependent(s, s->rhs, v);
}

static void reduce_mass(lwi_manifold *s)
{
    const size_t n = (size_t)s->n, f = (size_t)s->f;
    if (f == n) { // B is a permutation
        for (size_t k = 0; k < f; k++)
            for (size_t l = 0; l < f; l++)
                s->reduced[k * f + l] =
                    s->M[(size_t)s->independent[k] * n + (size_t)s->independent[l]];
        return;
    }
    for (size_t k = 0; k < f; k++) {
        for (size_t i = 0; i < n; i++) s->step[i] = lwi_dot(s->n, s->M + i * n, s->B + k * n);
        for (size_t l = 0; l <= k; l++)
            s->reduced[k * f + l] = s->reduced[l * f + k] = lwi_dot(s->n, s->step, s->B + l * n);
    }
}

lw_status lwi_manifold_force(lwi_manifold *s, const double *q, const double *v, double *force,
                             lw_error *error)
{
    const size_t n = (size_t)s->n;
    lw_status status = lw_constraints_tree(s->constraints, s->t, q, v, s->inputs, s->M, s->h);
    if (status != LW_OK) return lwi_fail(error, status, "a force is not finite at this position");
    memset(s->bias, 0, n * sizeof *s->bias);
    if (s->m > 0) {
        status = lw_constraints_evaluate(s->constraints, s->t, q, v, NULL, NULL, NULL, s->gamma);
        if (status != LW_OK) return lwi_fail(error, status, "the state is not finite");
        for (int i = 0; i < s->m; i++) s->rhs[i] = -s->gamma[i];
        lwi_manifold_dependent(s, s->rhs, s->bias);
    }
    reduce_mass(s);
    for (size_t i = 0; i < n; i++) s->step[i] = s->h[i] + lwi_dot(s->n, s->M + i * n, s->bias);
    for (int k = 0; k < s->f; k++) force[k] = -lwi_dot(s->n, s->B + (size_t)k * n, s->step);
    return LW_OK;
}

lw_status lwi_manifold_factor_mass(lwi_manifold *s, lw_error *error)
{
    const size_t f = (size_t)s->f;
    memcpy(s->factor, s->reduced, f * f * sizeof *s->factor);
    double size = 0;
    for (size_t k = 0; k < f; k++) size = fmax(size, s->factor[k * f + k]);
    const int failed = lwi_cholesky(s->f, s->factor, DBL_EPSILON * DBL_EPSILON * size);
    if (failed >= 0) {
        char name[200];
        lwi_manifold_name(s, failed, false, name, sizeof name);
        return lwi_fail(error, LW_ERR_SINGULAR,
                        "no mass or inertia moves with the independent coordinate %s", name);
    }
    return LW_OK;
}

void lwi_manifold_accelerations(const lwi_manifold *s, double *force)
{
    lwi_lower_solve(s->f, s->factor, force);
    lwi_lower_tsolve(s->f, s->factor, force);
}

void lwi_manifold_name(const lwi_manifold *s, int k, bool rate, char *text, size_t size)
{
    lwi_analysis_name(s->model, s->independent[k], rate, text, size);
}

void lwi_manifold_dependent_name(const lwi_manifold *s, int k, char *text, size_t size)
{
    lwi_analysis_name(s->model, s->dependent[k], false, text, size);
}
