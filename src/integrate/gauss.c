// gauss.c -- Gauss collocation with 2, 3 or 4 stages, of order 4, 6 or 8, equal steps between the requested times.
//
//     Y_i = y + h sum_j a_ij f(t + c_j h, Y_j),   y1 = y + h sum_i b_i f_i                [hairer2006, II.1.3]
// The method is symmetric and keeps quadratic invariants; on canonical coordinates and momenta it is symplectic.  The
// stages are found by fixed-point iteration from the rates of the step before, until the change falls no more: what a
// tolerance would leave is no random error and adds up.  y carries what its additions round off.
//
// Input: a problem with rates.  Output: x at the requested times.  Cost: 9 to 12 sweeps of s evaluations in a step.
#include "integrate/integrator.h"

#include "base/assert.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_STAGES = 4, MAX_SWEEPS = 100, DEFAULT_ORDER = 4 };

typedef struct gauss {
    lwi_integrator head;
    lwi_problem problem;
    lw_allocator allocator;
    int stages;
    double c[MAX_STAGES], b[MAX_STAGES], A[MAX_STAGES][MAX_STAGES];
    double *f[MAX_STAGES]; ///< [n] rates of the stages
    double *Y[MAX_STAGES]; ///< [n]
    double *left;          ///< [n] what additions have rounded off
    double *memory;
    bool begun; ///< f are those of the step before
    lwi_integrator_stats stats;
} gauss;

// ------------------------------------------------------------------------------------------- method

// Nodes and weights on [-1, 1] of the positive half; an odd number of stages has 0 as well.
static const struct {
    double node[2], weight[2], middle;
} rules[] = {
    {{0.57735026918962576451}, {1}, 0},
    {{0.77459666924148337704}, {5.0 / 9}, 8.0 / 9},
    {{0.86113631159405257522, 0.33998104358485626480},
     {0.34785484513745385737, 0.65214515486254614263},
     0},
};

// Lagrange's polynomial j of the nodes.
static double lagrange(const gauss *g, int j, double t)
{
    double product = 1;
    for (int k = 0; k < g->stages; k++)
        if (k != j) product *= (t - g->c[k]) / (g->c[j] - g->c[k]);
    return product;
}

// a_ij = integral of polynomial j up to c_i, which the rule itself has exactly.
static void make_method(gauss *g)
{
    const int s = g->stages;
    for (int i = 0; i < s; i++) {
        const int mirrored = s - 1 - i, half = i < mirrored ? i : mirrored;
        const bool middle = i == mirrored;
        const double node = middle ? 0 : rules[s - 2].node[half];
        g->c[i] = 0.5 * (1 + (i < mirrored ? -node : node));
        g->b[i] = 0.5 * (middle ? rules[s - 2].middle : rules[s - 2].weight[half]);
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            g->A[i][j] = 0;
            for (int k = 0; k < s; k++)
                g->A[i][j] += g->c[i] * g->b[k] * lagrange(g, j, g->c[i] * g->c[k]);
        }
}

// ------------------------------------------------------------------------------------------- create

static void destroy(lwi_integrator *head)
{
    gauss *self = (gauss *)head;
    const lw_allocator allocator = self->allocator;
    lwi_release(&allocator, self->memory);
    lwi_release(&allocator, self);
}

static lw_status create(const lwi_integrator_type *type, const lwi_problem *problem, double t,
                        const double *x, const lw_allocator *allocator, lwi_integrator **out,
                        lw_error *error)
{
    (void)t, (void)x;
    const size_t n = (size_t)problem->n;
    const int order = problem->order ? problem->order : DEFAULT_ORDER;
    if (order != 4 && order != 6 && order != 8)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "order: %d is none of integrator gauss, expected 4, 6 or 8", order);
    gauss *self = lwi_allocate(allocator, sizeof *self);
    if (!self) return lwi_fail(error, LW_ERR_MEMORY, "no memory for an integrator");
    *self = (gauss){.head = {.type = type}, .problem = *problem, .stages = order / 2};
    if (allocator) self->allocator = *allocator;
    self->memory = lwi_allocate(allocator, (9 * n + 1) * sizeof *self->memory);
    if (!self->memory) {
        destroy(&self->head);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for an integrator");
    }
    memset(self->memory, 0, (9 * n + 1) * sizeof *self->memory);
    for (int i = 0; i < MAX_STAGES; i++) {
        self->f[i] = self->memory + (size_t)i * n;
        self->Y[i] = self->memory + (size_t)(MAX_STAGES + i) * n;
    }
    self->left = self->memory + 8 * n;
    make_method(self);
    *out = &self->head;
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- steps

// Y from the rates; returns the largest change, relative to the components.
static double put_stages(gauss *g, double h, const double *x)
{
    double largest = 0;
    for (int i = 0; i < g->stages; i++)
        for (int k = 0; k < g->problem.n; k++) {
            double sum = g->left[k];
            for (int j = 0; j < g->stages; j++) sum += h * g->A[i][j] * g->f[j][k];
            const double y = x[k] + sum, change = fabs(y - g->Y[i][k]) / (1 + fabs(y));
            g->Y[i][k] = y;
            if (!(change <= largest)) largest = change;
        }
    return largest;
}

static lw_status put_rates(gauss *g, double t, double h, lw_error *why)
{
    for (int i = 0; i < g->stages; i++) {
        TRY(lwi_problem_rates(&g->problem, t + g->c[i] * h, g->Y[i], g->f[i], why));
        g->stats.evaluations++;
    }
    return LW_OK;
}

// Rates from which the first iteration starts.
static lw_status begin(gauss *g, double t, const double *x, lw_error *why)
{
    if (g->begun) return LW_OK;
    TRY(lwi_problem_rates(&g->problem, t, x, g->f[0], why));
    g->stats.evaluations++;
    for (int i = 1; i < g->stages; i++)
        memcpy(g->f[i], g->f[0], (size_t)g->problem.n * sizeof *g->f[i]);
    return LW_OK;
}

// A change below ROUND_OFF that falls no more is round-off.  The largest change need not fall in every sweep: the iteration
// ends after MAX_STALLS sweeps without a new smallest change, and after one if that is within LAST_PLACES.
#define ROUND_OFF 1e-9
#define LAST_PLACES (8 * DBL_EPSILON)
enum { MAX_STALLS = 3 };

// The stages of a step; *ratio: of the last two changes.
static lw_status solve(gauss *g, double t, double h, const double *x, bool *found, double *ratio,
                       lw_error *why)
{
    double last = INFINITY, smallest = INFINITY;
    int stalls = 0;
    *found = false;
    TRY(begin(g, t, x, why));
    put_stages(g, h, x);
    for (int i = 0; i < MAX_SWEEPS; i++) {
        const lw_status status = put_rates(g, t, h, why);
        if (status == LW_ERR_NOT_FINITE && i > 0) return LW_OK; // the iterates have left all bounds
        TRY(status);
        const double change = put_stages(g, h, x);
        *ratio = change / last;
        if (!isfinite(change)) return LW_OK;
        stalls = change < smallest ? 0 : stalls + 1;
        smallest = fmin(smallest, change);
        *found = smallest <= ROUND_OFF && stalls >= (smallest <= LAST_PLACES ? 1 : MAX_STALLS);
        if (*found) return LW_OK;
        last = change;
    }
    return LW_OK;
}

static void take_step(gauss *g, double h, double *x)
{
    for (int k = 0; k < g->problem.n; k++) {
        double sum = g->left[k];
        for (int i = 0; i < g->stages; i++) sum += h * g->b[i] * g->f[i][k];
        const double y = x[k] + sum;
        g->left[k] = sum - (y - x[k]);
        x[k] = y;
    }
}

static lw_status step(gauss *g, double t, double h, double *x, lw_error *error)
{
    lw_error why = {0};
    bool found = false;
    double ratio = 0;
    const lw_status status = solve(g, t, h, x, &found, &ratio, &why);
    if (status == LW_OK && found) {
        take_step(g, h, x);
        g->begun = true;
        return LW_OK;
    }
    g->begun = false;
    if (status != LW_OK) return lwi_integrator_fail(error, status, t, h, "%s", why.text);
    return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, t, h,
                               "the iteration does not converge, step too long: largest rate about "
                               "%.2g/s; try a smaller --step",
                               ratio / h);
}

static lw_status whole_step(gauss *g, double *t, double *x, double to, lw_error *error)
{
    const lwi_problem *p = &g->problem;
    bool changed = false;
    if (p->max_steps > 0 && g->stats.steps >= p->max_steps)
        return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, *t, p->max_step,
                                   "max_steps: %ld steps are done", p->max_steps);
    double count;
    const double h = lwi_equal_step(*t, to, p->max_step, &count);
    if (!(*t + h > *t))
        return lwi_integrator_fail(error, LW_ERR_INTEGRATOR, *t, h,
                                   "the step is below the resolution of time");
    if (p->pre_step) TRY(p->pre_step(p->user, *t, x, &changed));
    if (changed) g->begun = false;
    TRY(step(g, *t, h, x, error));
    g->stats.steps++;
    *t = count == 1 ? to : *t + h;
    return LW_OK;
}

static lw_status advance(lwi_integrator *head, double *t, double *x, double to, double limit,
                         bool one_step, lw_error *error)
{
    LWI_ASSERT(to >= *t && limit >= to);
    (void)limit;
    while (*t < to) {
        TRY(whole_step((gauss *)head, t, x, to, error));
        if (one_step) break;
    }
    return LW_OK;
}

static lw_status restart(lwi_integrator *head, double t, const double *x, lwi_jump jump,
                         lw_error *error)
{
    (void)t, (void)x, (void)error;
    gauss *self = (gauss *)head;
    self->stats.restarts++;
    if (jump == LWI_JUMP_RATES) return LW_OK; // those of the last step are a start as well
    self->begun = false;
    memset(self->left, 0, (size_t)self->problem.n * sizeof *self->left);
    return LW_OK;
}

// Whether there are rates of the last step, these, and what sums have rounded off.
static int numbers(int n, int order)
{
    return 1 + ((order ? order : DEFAULT_ORDER) / 2 + 1) * n;
}

static void keep(const lwi_integrator *head, double *kept)
{
    const gauss *self = (const gauss *)head;
    const size_t n = (size_t)self->problem.n;
    *kept++ = self->begun;
    for (int i = 0; i < self->stages; i++, kept += n) memcpy(kept, self->f[i], n * sizeof *kept);
    memcpy(kept, self->left, n * sizeof *kept);
}

static void recall(lwi_integrator *head, const double *kept)
{
    gauss *self = (gauss *)head;
    const size_t n = (size_t)self->problem.n;
    self->begun = *kept++ != 0;
    for (int i = 0; i < self->stages; i++, kept += n) memcpy(self->f[i], kept, n * sizeof *kept);
    memcpy(self->left, kept, n * sizeof *kept);
}

static void stats(const lwi_integrator *head, lwi_integrator_stats *out)
{
    *out = ((const gauss *)head)->stats;
}

const lwi_integrator_type lwi_integrator_gauss = {
    .name = "gauss",
    .summary =
        "Gauss collocation, order 4, 6 or 8, equal steps; symplectic on the momenta of trees",
    .cite = "hairer2006",
    .order = 8,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .restart = restart,
    .stats = stats,
    .numbers = numbers,
    .keep = keep,
    .recall = recall,
};
