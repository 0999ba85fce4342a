// equilibrium.c -- static equilibria: r(y) = B'Q = 0 along the constraint manifold, Q the generalised forces at rest.
//
// A step uses the tangent stiffness K = -dr/dy in the metric of the reduced mass matrix,
//     M_r = L L',   L^-1 sym(K) L'^-1 = U diag(k) U',   step = L'^-1 U diag(1/|k|) U' L^-1 r.
// Jacobi's method finds U close to the solution; farther away, where small eigenvalues may lose digits, QL iterations do.
// Because B moves with y, K contains the geometric stiffness of loads and constraints.  |k| in place of k leads
// Newton's method away from unstable equilibria; the search continues downhill if the work of the forces along the step,
//     W = integral of r dy  (Simpson's rule),
// is positive, which needs no potential.  Close to the solution the plain step K^-1 r is taken, with the unsymmetric
// part that following forces have.
#include "analysis/equilibrium.h"
#include "analysis/reduced.h"
#include "base/eigen.h"
#include "initial/restart.h"

#include <linkwork/analysis.h>

#include <float.h>
#include <math.h>
#include <string.h>

#define LONGEST 0.3 // of a step [rad, lengths of the mechanism]
#define NEAR 1e-3   // below this step Newton's own step is taken, with the derivatives as they are
#define BALANCED 1e-7   // displacement that the force on a mode would still cause
#define CONVERGED 1e-12 // steps of this size are round-off
#define RANK 1e-10      // of K, scaled by its diagonal
#define LOST 1e-4       // largest error of an eigenvalue far from the equilibrium, relative
#define PUSH 0.02       // off an unstable equilibrium [rad, lengths]
// A force below this part of those that begin the search, or of the weight of all bodies, is no force.
#define NO_FORCE 1e-9
enum { ITERATIONS = 200, HALVINGS = 30 };

typedef struct search {
    const lw_model *model;
    const lw_equilibrium_desc *desc;
    lwi_arena arena; ///< of the present coordinates
    lwi_analysis_state state;
    double *q;                                      ///< [tree nq] the present position
    double *unit;                                   ///< [f] of the coordinates
    double *noise;                                  ///< [f] eigenvalues below it are zero
    double *K, *L, *C, *U, *k;                      ///< [f][f] and [f]
    double *g, *y, *z, *r, *middle, *end, *scratch; ///< [f], [2 f]
    lwi_cod cod;                                    ///< of K
    double weight;                                  ///< of the forces, in the metric [N kg^-1/2]
    double step;                                    ///< last step [units]
    int iterations;
    lw_equilibrium *report;
} search;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for an equilibrium");
}

// The independent coordinates at the present position, and memory for them.
static lw_status enter(search *s, lw_error *error)
{
    lwi_arena_init(&s->arena, &s->model->arena.allocator);
    TRY(lwi_analysis_state_create(s->model, s->desc->time, s->q, NULL, s->desc->inputs, NULL,
                                  &s->arena, &s->state, error));
    const size_t f = (size_t)s->state.manifold.f;
    double **const square[] = {&s->K, &s->L, &s->C, &s->U};
    double **const vector[] = {&s->unit, &s->noise, &s->k,      &s->g,  &s->y,
                               &s->z,    &s->r,     &s->middle, &s->end};
    for (int i = 0; i < LWI_COUNT(square); i++)
        if (!(*square[i] = LWI_PUSH(&s->arena, double, f *f))) return no_memory(error);
    for (int i = 0; i < LWI_COUNT(vector); i++)
        if (!(*vector[i] = LWI_PUSH(&s->arena, double, f))) return no_memory(error);
    s->scratch = LWI_PUSH(&s->arena, double, 4 * f);
    double *a = LWI_PUSH(&s->arena, double, f *f),
           *rest = LWI_PUSH(&s->arena, double, lwi_cod_doubles((int)f, (int)f));
    int *pivot = LWI_PUSH(&s->arena, int, f);
    if (!s->scratch || !a || !rest || !pivot) return no_memory(error);
    lwi_cod_init(&s->cod, (int)f, (int)f, a, rest, pivot);
    for (size_t k = 0; k < f; k++)
        s->unit[k] = lwi_manifold_unit(&s->state.manifold, s->state.manifold.independent[k]);
    return LW_OK;
}

static void leave(search *s)
{
    lwi_analysis_state_destroy(&s->state);
    lwi_arena_free(&s->arena);
}

// ---------------------------------------------------------------------------------------- stiffness

static lw_status force_at(void *user, lwi_analysis_vary what, int k, double by, double *out,
                          lw_error *error)
{
    search *const s = user;
    (void)what;
    memset(s->y, 0, (size_t)s->state.manifold.f * sizeof *s->y);
    s->y[k] = by;
    return lwi_analysis_near(&s->state, s->y, s->z, true, out, error);
}

static lw_status stiffness_by_differences(search *s, lw_error *error)
{
    const int f = s->state.manifold.f;
    const size_t F = (size_t)f;
    for (int k = 0; k < f; k++) {
        TRY(lwi_analysis_difference(force_at, s, LWI_VARY_POSITION, k,
                                    lwi_analysis_step(&s->state, k), f, s->scratch, s->r, error));
        for (size_t i = 0; i < F; i++) s->K[i * F + (size_t)k] = s->r[i];
    }
    return LW_OK;
}

// K = -dr/dy.
static lw_status stiffness(search *s, lw_error *error)
{
    const size_t F = (size_t)s->state.manifold.f;
    lwi_reduced reduced;
    lw_error why;
    const lw_status status = lwi_reduced_create(&s->state, &s->arena, &reduced, &why);
    if (status == LW_OK)
        TRY(lwi_reduced_derivatives(&reduced, NULL, s->K, NULL, NULL, error));
    else if (status == LW_ERR_UNSUPPORTED) // joints of callers
        TRY(stiffness_by_differences(s, error));
    else
        return lwi_fail(error, status, "%s", why.text);
    for (size_t i = 0; i < F * F; i++) s->K[i] = -s->K[i];
    return LW_OK;
}

// The columns of L^-1 X, X [f][f] symmetric, as rows of X; twice: L^-1 X L'^-1.
static void to_metric(search *s, double *X)
{
    const int f = s->state.manifold.f;
    const size_t F = (size_t)f;
    for (int twice = 0; twice < 2; twice++) {
        for (size_t k = 0; k < F; k++) lwi_lower_solve(f, s->L, X + k * F);
        for (size_t i = 0; i < F; i++)
            for (size_t j = 0; j < i; j++) {
                const double x = X[i * F + j];
                X[i * F + j] = X[j * F + i], X[j * F + i] = x;
            }
    }
}

static void find_noise(search *s);

// L with M_r = L L'.
static lw_status factor_metric(search *s, lw_error *error)
{
    const int f = s->state.manifold.f;
    const size_t F = (size_t)f;
    double maximum = 0;
    for (size_t i = 0; i < F; i++) maximum = fmax(maximum, s->state.M[i * F + i]);
    memcpy(s->L, s->state.M, F * F * sizeof *s->L);
    const int bad = lwi_cholesky(f, s->L, DBL_EPSILON * DBL_EPSILON * maximum);
    if (bad >= 0) {
        char name[200];
        lwi_manifold_name(&s->state.manifold, bad, false, name, sizeof name);
        return lwi_fail(error, LW_ERR_SINGULAR,
                        "no mass or inertia moves with the independent coordinate %s", name);
    }
    return LW_OK;
}

// C := L^-1 sym K L'^-1.
static void take_stiffness(search *s)
{
    const size_t F = (size_t)s->state.manifold.f;
    for (size_t i = 0; i < F; i++)
        for (size_t j = 0; j < F; j++) s->C[i * F + j] = (s->K[i * F + j] + s->K[j * F + i]) / 2;
    to_metric(s, s->C);
}

// Eigenvalues by the fast method; false: round-off of the largest may be more than a part of the smallest.
static bool decompose_fast(search *s)
{
    const int f = s->state.manifold.f;
    double smallest = INFINITY, largest = 0;
    take_stiffness(s);
    if (!lwi_eigen_symmetric_ql(f, s->C, s->k, s->U, s->scratch)) return false;
    for (int i = 0; i < f; i++) {
        smallest = fmin(smallest, fabs(s->k[i]));
        largest = fmax(largest, fabs(s->k[i]));
    }
    return LOST * smallest > f * DBL_EPSILON * largest;
}

// Eigenvalues k and vectors U of sym K in the metric of M_r, and g = U' L^-1 r.
static void decompose(search *s, bool fast)
{
    const int f = s->state.manifold.f;
    const size_t F = (size_t)f;
    if (!fast || !decompose_fast(s)) {
        take_stiffness(s);
        lwi_eigen_symmetric(f, s->C, s->k, s->U);
    }
    memcpy(s->r, s->state.force, F * sizeof *s->r);
    lwi_lower_solve(f, s->L, s->r);
    for (size_t i = 0; i < F; i++) {
        s->g[i] = 0;
        for (size_t j = 0; j < F; j++) s->g[i] += s->U[i * F + j] * s->r[j];
    }
    find_noise(s);
}

// --------------------------------------------------------------------------------------------- steps

// The largest displacement of a coordinate of the tree in its unit for independent increments y.
static double size_of(const search *s, const double *y)
{
    const lwi_manifold *m = &s->state.manifold;
    double maximum = 0, *const sum = s->state.increment;
    lwi_analysis_increment(&s->state, y);
    for (int i = 0; i < m->n; i++) maximum = fmax(maximum, fabs(sum[i]) / lwi_manifold_unit(m, i));
    return maximum;
}

// y := L'^-1 U' c of modal amplitudes c.
static void from_modes(search *s, const double *c, double *y)
{
    const size_t F = (size_t)s->state.manifold.f;
    memset(y, 0, F * sizeof *y);
    for (size_t i = 0; i < F; i++)
        for (size_t j = 0; j < F; j++) y[j] += c[i] * s->U[i * F + j];
    lwi_lower_tsolve((int)F, s->L, y);
}

static void unit_mode(search *s, int i, double *y)
{
    const size_t F = (size_t)s->state.manifold.f;
    memcpy(y, s->U + (size_t)i * F, F * sizeof *y);
    lwi_lower_tsolve((int)F, s->L, y);
}

static void find_noise(search *s)
{
    for (int i = 0; i < s->state.manifold.f; i++) {
        unit_mode(s, i, s->y);
        s->noise[i] = lwi_analysis_noise(s->state.manifold.f, s->K, s->y, s->unit,
                                         lwi_analysis_weight(s->model));
    }
}

static bool is_soft(const search *s, int i)
{
    return !(fabs(s->k[i]) > s->noise[i]);
}

// Displacement of modal amplitude 1 of mode i, in units.
static double size_of_mode(search *s, int i, double *y)
{
    unit_mode(s, i, y);
    return size_of(s, y);
}

// The downhill step, or with `any` Newton's step in the symmetric part; no mode moves more than the longest step, so
// that soft ones do not stop the others.
static void modal_step(search *s, double *y)
{
    const int f = s->state.manifold.f;
    for (int i = 0; i < f; i++) {
        const double k = s->desc->any ? s->k[i] : fabs(s->k[i]);
        const bool soft = is_soft(s, i);
        double amplitude = s->g[i] / (soft ? (s->noise[i] > 0 ? s->noise[i] : 1) : k);
        if (soft && fabs(s->g[i]) <= NO_FORCE * s->weight) amplitude = 0;
        const double size = fabs(amplitude) * size_of_mode(s, i, y);
        s->middle[i] = size > LONGEST ? amplitude * LONGEST / size : amplitude;
    }
    from_modes(s, s->middle, y);
}

// K^-1 r, with rows and columns scaled by the diagonal, so that soft coordinates near stiff ones are kept.
static void newton_step(search *s, double *y)
{
    const size_t F = (size_t)s->state.manifold.f;
    double *const scale = s->middle, *const unit = s->end;
    memset(unit, 0, F * sizeof *unit);
    for (size_t i = 0; i < F; i++) {
        const double size = fabs(s->K[i * F + i]);
        unit[i] = 1;
        const double noise =
            lwi_analysis_noise((int)F, s->K, unit, s->unit, lwi_analysis_weight(s->model));
        unit[i] = 0;
        scale[i] = size > noise ? 1 / sqrt(size) : 0; // 0: no force, it stays
    }
    for (size_t i = 0; i < F; i++)
        for (size_t j = 0; j < F; j++) s->cod.a[j * F + i] = scale[i] * s->K[i * F + j] * scale[j];
    lwi_cod_factor(&s->cod, -1, RANK);
    for (size_t i = 0; i < F; i++) s->r[i] = scale[i] * s->state.force[i];
    lwi_cod_solve(&s->cod, s->r, y);
    for (size_t i = 0; i < F; i++) y[i] *= scale[i];
}

// Does no force move any mode?
static bool is_balanced(search *s, double *y)
{
    for (int i = 0; i < s->state.manifold.f; i++) {
        if (is_soft(s, i) && fabs(s->g[i]) > NO_FORCE * s->weight) return false;
        if (is_soft(s, i)) continue;
        if (fabs(s->g[i] / s->k[i]) * size_of_mode(s, i, y) > BALANCED) return false;
    }
    return true;
}

// Work of the forces along y from the state, by Simpson's rule.
static lw_status work_along(search *s, const double *y, double *work, lw_error *error)
{
    const int f = s->state.manifold.f;
    double *const half = s->scratch;
    for (int k = 0; k < f; k++) half[k] = y[k] / 2;
    TRY(lwi_analysis_near(&s->state, half, s->z, true, s->middle, error));
    TRY(lwi_analysis_near(&s->state, y, s->z, true, s->end, error));
    *work = 0;
    for (int k = 0; k < f; k++)
        *work += y[k] * (s->state.force[k] + 4 * s->middle[k] + s->end[k]) / 6;
    return LW_OK;
}

static void halve(int f, double *y)
{
    for (int k = 0; k < f; k++) y[k] /= 2;
}

// Shortens y until the forces do work along it, and goes there: near_q is the end of it.
static lw_status go(search *s, double *y, bool checked, lw_error *error)
{
    const int f = s->state.manifold.f;
    const double size = size_of(s, y);
    for (int k = 0; size > LONGEST && k < f; k++) y[k] *= LONGEST / size;
    for (int i = 0; i < HALVINGS; i++) {
        double work = 0;
        const lw_status status = work_along(s, y, &work, error);
        if (status != LW_OK && status != LW_ERR_SINGULAR) return status;
        if (status == LW_OK && (!checked || work >= 0)) return LW_OK;
        halve(f, y);
    }
    return lwi_fail(error, LW_ERR_SINGULAR, "no step of the search lowers the potential");
}

// ------------------------------------------------------------------------------------------- outcome

// The independent coordinate with the largest displacement, in its unit, of modal displacement i.
static int coordinate_of(search *s, int i)
{
    const int f = s->state.manifold.f;
    memset(s->r, 0, (size_t)f * sizeof *s->r);
    s->r[i] = 1;
    from_modes(s, s->r, s->y);
    int maximum = 0;
    double largest = -1;
    for (int k = 0; k < f; k++) {
        const double x =
            fabs(s->y[k]) / lwi_manifold_unit(&s->state.manifold, s->state.manifold.independent[k]);
        if (x > largest * (1 + 1e-6)) largest = x, maximum = k;
    }
    return maximum;
}

static void classify(search *s)
{
    lw_equilibrium *const report = s->report;
    const int f = s->state.manifold.f;
    report->dof = f;
    report->indifferent = report->unstable = 0;
    for (int i = 0; i < f; i++) {
        if (is_soft(s, i))
            report->indifferent++;
        else if (s->k[i] < 0)
            report->unstable++;
    }
    report->stability = report->unstable      ? LW_UNSTABLE
                        : report->indifferent ? LW_INDIFFERENT
                                              : LW_STABLE;
    report->softest = f ? s->k[0] : INFINITY;
    report->coordinate[0] = 0;
    if (f)
        lwi_manifold_name(&s->state.manifold, coordinate_of(s, 0), false, report->coordinate,
                          sizeof report->coordinate);
}

static lw_status runs_away(search *s, lw_error *error)
{
    int maximum = 0;
    char name[LW_COORDINATE_NAME_SIZE];
    for (int i = 1; i < s->state.manifold.f; i++)
        if (fabs(s->g[i]) > fabs(s->g[maximum])) maximum = i;
    lwi_manifold_name(&s->state.manifold, coordinate_of(s, maximum), false, name, sizeof name);
    return lwi_fail(error, LW_ERR_SINGULAR,
                    "no equilibrium found in %d steps: forces still move %s; expected a joint, "
                    "spring or stop that holds it, or another start",
                    s->iterations, name);
}

// Off an unstable equilibrium, along its softest displacement.
static void push(search *s, double *y)
{
    const int f = s->state.manifold.f;
    memset(s->r, 0, (size_t)f * sizeof *s->r);
    s->r[0] = 1;
    from_modes(s, s->r, y);
    const double size = size_of(s, y);
    for (int k = 0; k < f; k++) y[k] *= PUSH / size;
}

// One step.  *found: the position is an equilibrium, and s->k those of it.
static lw_status iterate(search *s, bool *found, lw_error *error)
{
    const int f = s->state.manifold.f;
    double *const y = LWI_PUSH(&s->arena, double, f);
    if (!y) return no_memory(error);
    TRY(stiffness(s, error));
    TRY(factor_metric(s, error));
    decompose(s, true);
    double norm = 0;
    for (int i = 0; i < f; i++) norm += s->g[i] * s->g[i];
    s->weight = fmax(s->weight, sqrt(norm));
    modal_step(s, y);
    const double before = s->step;
    bool checked = !s->desc->any;
    s->step = size_of(s, y);
    if (s->step < NEAR) {
        decompose(s, false);
        newton_step(s, y);
        s->step = size_of(s, y);
        checked = false;
        const bool small = s->step <= CONVERGED || (s->step < 1e-8 && s->step >= before / 2);
        const bool balanced = small && is_balanced(s, s->scratch + f);
        if (balanced && (s->desc->any || is_soft(s, 0) || s->k[0] > 0)) {
            *found = true;
            return LW_OK;
        }
        if (balanced)
            push(s, y);
        else if (small)
            modal_step(s, y);
    }
    TRY(go(s, y, checked, error));
    memcpy(s->q, s->state.near_q, (size_t)s->model->tree_nq * sizeof *s->q);
    return LW_OK;
}

// Weight of all bodies in the metric: |g| sqrt(m).
static double weight_of(const lw_model *model)
{
    double mass = 0;
    for (int k = 0; k < model->nnode; k++) mass += model->node[k].mass;
    const double *g = model->gravity;
    return sqrt(mass * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
}

static lw_status restart(search *s, lw_model **balanced, lw_error *error)
{
    lwi_analysis_state *const state = &s->state;
    lw_constraints *const c = state->manifold.constraints;
    lw_constraints_evaluate(c, s->desc->time, state->q, state->v, state->manifold.phi, NULL, NULL,
                            NULL);
    const lwi_motion motion = lwi_cut_motion(&c->tree);
    return lwi_model_restart(s->model, &motion, c->tree.joint_qd, balanced, error);
}

static lw_status find(search *s, lw_model **balanced, lw_error *error)
{
    const int maximum = s->desc->iterations > 0 ? s->desc->iterations : ITERATIONS;
    bool found = false;
    lw_status status = LW_OK;
    s->weight = weight_of(s->model);
    s->step = INFINITY;
    while (status == LW_OK && !found) {
        status = enter(s, error);
        if (status == LW_OK) status = iterate(s, &found, error);
        if (status == LW_OK && !found && ++s->iterations >= maximum) status = runs_away(s, error);
        if (status == LW_OK && found) {
            classify(s);
            if (balanced) status = restart(s, balanced, error);
        }
        leave(s);
    }
    s->report->iterations = s->iterations;
    s->report->last = s->step;
    return status;
}

static int count_friction(const lw_model *model)
{
    int n = 0;
    for (int i = 0; i < model->nforce; i++)
        n += !strcmp(model->force[i].type->name, "joint_friction");
    return n;
}

static bool drives_move(const lw_model *model, double t)
{
    double sum = 0;
    for (int j = 0; j < model->njoint; j++)
        for (int k = 0; k < model->joint[j].type->nv; k++)
            if (model->joint[j].motion[k].index > 0) {
                double f[3];
                lwi_function_eval(model->function, model->joint[j].motion[k], t, f);
                sum += fabs(f[1]) + fabs(f[2]);
            }
    return sum > 0;
}

lw_status lw_model_equilibrium(const lw_model *model, const lw_equilibrium_desc *desc,
                               lw_model **balanced, lw_equilibrium *report, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_equilibrium_desc, desc, error);
    if (!model) return lwi_fail(error, LW_ERR_ARGUMENT, "lw_model_equilibrium: a model is needed");
    lw_equilibrium own = {0};
    search s = {.model = model, .desc = desc, .report = report ? report : &own};
    *s.report = (lw_equilibrium){.friction = count_friction(model),
                                 .relative = drives_move(model, desc->time),
                                 .held = model->nstate};
    lwi_arena arena;
    lwi_arena_init(&arena, &model->arena.allocator);
    int *signal = LWI_PUSH(&arena, int, model->nstate);
    if (!signal || lwi_analysis_signals(model, signal) > 0) {
        lwi_arena_free(&arena);
        return signal ? lwi_equilibrium_of_signals(model, desc, balanced, s.report, error)
                      : no_memory(error);
    }
    s.q = LWI_PUSH(&arena, double, model->tree_nq);
    lw_status status = s.q ? LW_OK : no_memory(error);
    if (status == LW_OK) {
        memcpy(s.q, model->tree_q0, (size_t)model->tree_nq * sizeof *s.q);
        status = find(&s, balanced, error);
    }
    lwi_arena_free(&arena);
    return status;
}
