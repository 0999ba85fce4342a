// solve.c -- solutions of the elimination of a mechanism: factors, refinement, more digits where these are lost.
#include "system/system.h"

#include "base/assert.h"
#include "system/singular.h"
#include "system/transfer.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

// Rows are inactive within an angle of 1e-5 from dependence.  A mechanism that passes through gets there 1e-5
// of the prescribed rates along dependent rows; one that is driven against itself all of them.
#define MAX_UNMET 1e-2

// Maximum number of evaluations with inactive rows: a motion that passes through needs some tens, some
// hundreds with steps of high order; a motion that stays is not determined.
#define MAX_INACTIVE 500
#define AWAY 1e-6 // pivot of an angle of 1e-3: far from the singular position

static lw_status check_inactive(lwi_system *s, double t, lw_error *error)
{
    const bool inactive = lwi_elim_inactive_count(s->elim) > 0;
    if (!inactive && s->inactive_evaluations == 0) return LW_OK;
    const lwi_elim_pivot_info pivots = lwi_elim_pivots(s->elim);
    if (!inactive && pivots.min > AWAY) s->inactive_evaluations = 0;
    if (!inactive) return LW_OK;
    s->inactive_evaluations++;
    LWI_ASSERT(pivots.dropped_edge >= 0);
    if (s->inactive_evaluations <= MAX_INACTIVE &&
        lwi_elim_unmet(s->elim, s->b, s->row[0]) <= MAX_UNMET)
        return LW_OK;
    return lwi_singular_fail(s->model, s->edge_joint[pivots.dropped_edge], t, pivots.dropped,
                             error);
}

// The matrix pass in double-double arithmetic.
static lw_status factor_extended(lwi_system *s)
{
    lwi_system_multiply_low(s);
    const lw_status status = lwi_elim_factor_extended(s->elim);
    const lwi_elim_pivot_info pivots = lwi_elim_pivots(s->elim);
    if (status != LW_OK || pivots.edge < 0) return status;
    if (s->extended_count++ && s->min_pivot <= pivots.min) return status;
    s->min_pivot = pivots.min;
    s->min_pivot_edge = pivots.edge;
    return status;
}

// Refinement.  Each step reduces the error by the same factor, the size of the first correction.  Below GOOD the error
// that is left is round-off; above SLOW steps do not help, and twice the digits do.
#define GOOD 1e-14
#define SLOW 1e-2
#define CANCELLED 1e-11
enum { MAX_REFINEMENTS = 12, LARGEST = 4, MAX_RANGES = 256 };

// The bits of |value|: they are in the order of the values, and those of what is not a number are the largest.
static inline uint64_t size_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & UINT64_MAX >> 1;
}

static inline void take_larger(uint64_t *to, double value)
{
    const uint64_t size = size_of(value);
    if (size > *to) *to = size;
}

// Largest sizes over the bodies or edges: each range finds its own, and the largest of all does not depend on the ranges.
typedef struct search {
    lwi_system *s;
    const double (*x)[6];
    uint64_t (*part)[LARGEST]; // [ranges]
    int range;                 // items of a range
    void (*find)(const struct search *of, int first, int end, uint64_t *largest);
} search;

static void find_ranges(void *user, int first, int end)
{
    const search *of = user;
    for (int i = first; i < end; i++) {
        for (int k = 0; k < LARGEST; k++) of->part[i][k] = 0;
        of->find(of, i * of->range, (i + 1) * of->range, of->part[i]);
    }
}

// maximum [LARGEST] := the largest values of `find` over count items.
static void find_maximum(lwi_system *s, int count, const double (*x)[6],
                         void (*find)(const search *, int first, int end, uint64_t *largest),
                         double *maximum)
{
    uint64_t part[MAX_RANGES][LARGEST], largest[LARGEST] = {0};
    search of = {.s = s, .x = x, .part = part, .find = find};
    of.range = (count + MAX_RANGES - 1) / MAX_RANGES;
    lwi_pool_for(s->pool, MAX_RANGES, find_ranges, &of);
    for (int i = 0; i < MAX_RANGES; i++)
        for (int k = 0; k < LARGEST; k++)
            if (part[i][k] > largest[k]) largest[k] = part[i][k];
    memcpy(maximum, largest, sizeof largest);
}

static int end_of(int end, int count)
{
    return end < count ? end : count;
}

// Entries of x, translations and rotations.
static void find_entries(const search *of, int first, int end, uint64_t *maximum)
{
    uint64_t largest[2] = {0};
    for (int k = first; k < end_of(end, of->s->nbody); k++)
        for (int i = 0; i < 6; i++) take_larger(&largest[i / 3], of->x[k][i]);
    memcpy(maximum, largest, sizeof largest);
}

// Entries of x, x0 and changes, each of translations and rotations.
static void find_changes(const search *of, int first, int end, uint64_t *maximum)
{
    const lwi_system *s = of->s;
    uint64_t largest[LARGEST] = {0};
    for (int k = first; k < end_of(end, s->nbody); k++)
        for (int i = 0; i < 6; i++) {
            take_larger(&largest[i / 3], s->x[k][i]);
            take_larger(&largest[i / 3], s->x0[k][i]);
            take_larger(&largest[2 + i / 3], s->x[k][i] - s->before[6 * k + i]);
        }
    memcpy(maximum, largest, sizeof largest);
}

// Multipliers, and their changes.
static void find_multipliers(const search *of, int first, int end, uint64_t *maximum)
{
    const lwi_system *s = of->s;
    const double *before = s->before + 6 * s->nbody;
    uint64_t largest[2] = {0};
    for (int i = first; i < end_of(end, s->plan.nrow); i++) {
        take_larger(&largest[0], s->lambda[i]);
        take_larger(&largest[1], s->lambda[i] - before[i]);
    }
    memcpy(maximum, largest, sizeof largest);
}

// Terms of G' lambda.
static void find_terms(const search *of, int first, int end, uint64_t *maximum)
{
    const lwi_system *s = of->s;
    uint64_t largest[2] = {0};
    for (int e = first; e < end_of(end, s->plan.graph.nedge); e++) {
        const lwi_plan_edge *edge = &s->plan.graph.edge[e];
        const double *lambda = s->lambda + s->plan.row[e];
        for (int i = 0; i < edge->n; i++) {
            const double(*G)[6] = lwi_elim_G(s->elim) + 6 * (s->plan.slot[e] + i);
            for (int k = 0; k < edge->rows; k++)
                for (int j = 0; j < 6; j++) take_larger(&largest[j / 3], lambda[k] * G[k][j]);
        }
    }
    memcpy(maximum, largest, sizeof largest);
}

// Largest change of each kind (translations, rotations, multipliers) by its largest value.  `load`: of the forces;
// where a solution is zero its round-off is that of x0 and of these.
// @param bodies [LARGEST]  out: find_changes
static double change(lwi_system *s, const double load[2], double *bodies)
{
    double rows[LARGEST], largest = 0;
    find_maximum(s, s->nbody, NULL, find_changes, bodies);
    find_maximum(s, s->plan.nrow, NULL, find_multipliers, rows);
    const double off[3] = {bodies[2], bodies[3], rows[1]};
    const double maximum[3] = {bodies[0], bodies[1], fmax(rows[0], fmax(load[0], load[1]))};
    for (int i = 0; i < 3; i++)
        if (!(off[i] <= largest * maximum[i]))
            largest = maximum[i] > 0 ? off[i] / maximum[i] : INFINITY;
    return largest;
}

static void remember(const lwi_system *s)
{
    memcpy(s->before, s->x, (size_t)s->nbody * sizeof *s->x);
    memcpy(s->before + 6 * s->nbody, s->lambda, (size_t)s->plan.nrow * sizeof *s->lambda);
}

// Round-off of x by its largest value, of translations and rotations: that of G' lambda, which may cancel.
static double cancelled(lwi_system *s, const double *bodies)
{
    double terms[LARGEST], largest = 0;
    find_maximum(s, s->plan.graph.nedge, NULL, find_terms, terms);
    for (int i = 0; i < 2; i++)
        if (bodies[i] > 0) largest = fmax(largest, terms[i] / bodies[i]);
    return DBL_EPSILON * largest;
}

// Refines until the error is round-off; false: refinement does not converge.  A solution with cancellation has its
// last steps in double-double arithmetic.
static bool refine(lwi_system *s, const double load[2])
{
    double first = 0, now = 0, bodies[LARGEST];
    bool precise = false;
    for (int i = 0, step = 0; i < MAX_REFINEMENTS; i++) {
        remember(s);
        if (precise)
            lwi_elim_refine_extended(s->elim, (const double(*)[6])s->x0, s->x, s->c, s->lambda,
                                     step++ == 0);
        else
            lwi_elim_refine(s->elim, s->x, s->c, s->lambda);
        now = change(s, load, bodies);
        if (i == 0) first = now;
        if (!(now <= SLOW)) break;
        if (!(now * first < GOOD)) continue;
        if (precise || !(cancelled(s, bodies) > CANCELLED)) return true;
        lwi_system_multiply_low(s);
        precise = true;
    }
    s->lost = fmax(s->lost, now * fmin(first, 1));
    return false;
}

// Solves, refines, and repeats it with twice the digits if that does not help.
static void solve_carefully(lwi_system *s, const double load[2])
{
    memcpy(s->x0, s->x, (size_t)s->nbody * sizeof *s->x);
    lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
    if (lwi_elim_is_extended(s->elim)) return;
    const double lost = s->lost;
    if (refine(s, load) || !lwi_elim_has_extended_factors(s->elim)) return;
    if (factor_extended(s) != LW_OK) return;
    s->lost = lost;
    memcpy(s->x, s->x0, (size_t)s->nbody * sizeof *s->x);
    lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 0);
}

void lwi_system_solve(lwi_system *s)
{
    double load[LARGEST] = {0};
    lwi_system_share(s, true, s->x);
    if (s->careful) find_maximum(s, s->nbody, (const double(*)[6])s->x, find_entries, load);
    if (s->transfer) lwi_transfer_load(s, 1, NULL, s->c, s->x);
    lwi_system_apply_metric(s, s->x);
    if (s->nrow == 0) return;
    if (s->careful)
        solve_carefully(s, load);
    else
        lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 1);
    if (s->transfer) lwi_transfer_multipliers(s, 1, NULL, (const double(*)[6])s->x, s->lambda);
}

lw_status lwi_system_factor(lwi_system *s, double t, lw_error *error)
{
    LWI_ASSERT(s->elim && s->plan.nrow >= s->nrow);
    lwi_system_masses(s);
    if (s->transfer && s->transfer->loose >= 0)
        return lwi_transfer_fails(s, t, LW_ERR_SINGULAR, error);
    if (s->nrow == 0) return LW_OK;
    lwi_elim_compute_alone(s->elim, s->inactive_evaluations > 0);
    lw_status status = lwi_elim_factor(s->elim, NULL);
    if (status == LW_ERR_SINGULAR && lwi_elim_lost(s->elim)) status = factor_extended(s);
    if (status == LW_ERR_NOT_FINITE)
        return lwi_fail(error, status, "t = %.9g s: positions are not finite numbers", t);
    if (status != LW_OK) return lwi_system_fails(s, t, status, error);
    return check_inactive(s, t, error);
}

bool lwi_system_is_regular(const lwi_system *s)
{
    return s->nrow == 0 || (s->inactive_evaluations == 0 && !lwi_elim_is_extended(s->elim) &&
                            lwi_elim_inactive_count(s->elim) == 0);
}

bool lwi_system_is_far(const lwi_system *s)
{
    return lwi_system_is_regular(s) && !(s->nrow && lwi_elim_near_inactive(s->elim));
}

lw_status lwi_system_begin(lwi_system *s, double t, lw_error *error)
{
    s->inactive_evaluations = 0;
    lwi_elim_allow_inactive(s->elim, false);
    lwi_system_rows(s, t);
    const lw_status status = lwi_system_factor(s, t, error);
    lwi_elim_allow_inactive(s->elim, true);
    return status;
}
