// min_norm.c -- reactions of minimum norm by a block Cholesky factorisation over bodies.
//
// With A = J'J + a D and g = J A^-1 J', the multipliers of minimum norm are those of the iteration
//
//     lambda += p(g) g g (lambda_0 - lambda),      g lambda_0 = J A^-1 f
//
// g keeps a direction of sine s in the scaled rows by s^2 / (s^2 + a): all of it if s is that of independent
// rows (some 1e-3 in large nets), nothing if s is round-off or the drift of positions, which tilts redundant
// rows by 1e-6 and less.  Applied twice it separates the two by (s^2 / a)^2.  What it leaves of independent rows,
// h = 1 - g = a / (s^2 + a), is removed by the series of 1 / g^2: from e = lambda_0 - lambda
//
//     lambda += g (1 + 2 h + ... + n h^(n - 1)) g e   leaves   ((n + 1) h^n - n h^(n + 1)) e = (n + 1) g h^n e + ...
//
// with one solution for each term.  Directions without stiffness in A, the degrees of freedom, have no part in f, and J
// removes what round-off puts there.
//
// The graph of the elimination: edge k is body k with six rows, body e is joint e with its rows as
// components, and G = J, so that x = x0 + J A^-1 (c - J' x0) is one vector pass.
#include "system/min_norm.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// Share a of D that is added to J'J: the square of 3e-5, between the sines of independent rows, 1e-3, and those of
// drift, 1e-6.
#define SOFT 1e-9
// Iterations, terms of the series in each, and the term or the remainder, relative to the largest entry of lambda, that
// ends them.  More iterations than FEW are made only while each leaves less than half of what the one before left: rows
// close to a singular position, with sines down to 2e-5, need up to ten; of drift each leaves almost all.
enum { FEW = 3, MAX_STEPS = 40, TERMS = 4 };
#define CLOSE_ENOUGH 1e-13
// Of null vectors, which are compared with 1e-8.
#define NULL_ENOUGH 1e-10

struct lwi_min_norm {
    int nbody, nedge;
    int *row;   // [nedge + 1] first multiplier of each edge
    int *first; // [nedge + 1] first entry of each edge in `slot`
    int *slot;  // slot in the plan of each edge at each of its bodies
    int *node;  // [nbody] edge of the plan of each body; -1: no edge has rows there
    lwi_plan plan;
    lwi_elim *elim;
    double *eps;                           // [plan.nrow]
    double *c, *w;                         // [plan.nrow] right side and solution of A
    double (*x)[6], (*rest)[6], (*sum)[6]; // [nedge]
    double (*f)[6];                        // [nbody]
    double *part;                          // [rows]
};

// ------------------------------------------------------------------------------------------ create

#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY

// The edges at each body, with rows: list[first[b]] ... list[first[b + 1] - 1].
static lw_status incidence(const lwi_plan_graph *graph, lwi_arena *arena, int **first, int **list)
{
    int *at, total = 0;
    GET(*first, graph->nbody + 1);
    GET(at, graph->nbody);
    for (int e = 0; e < graph->nedge; e++)
        for (int i = 0; i < graph->edge[e].n && graph->edge[e].rows; i++, total++)
            (*first)[lwi_plan_bodies(&graph->edge[e])[i] + 1]++;
    GET(*list, total);
    for (int b = 0; b < graph->nbody; b++) (*first)[b + 1] += (*first)[b];
    for (int e = 0; e < graph->nedge; e++)
        for (int i = 0; i < graph->edge[e].n && graph->edge[e].rows; i++) {
            const int b = lwi_plan_bodies(&graph->edge[e])[i];
            (*list)[(*first)[b] + at[b]++] = e;
        }
    return LW_OK;
}

// Bodies as edges of six rows between the joints that they have.
static lw_status make_plan(lwi_min_norm *l, const lwi_plan_graph *graph, lwi_arena *scratch,
                           lwi_arena *arena)
{
    lwi_plan_edge *edge = LWI_PUSH(scratch, lwi_plan_edge, graph->nbody);
    int *first, *list, count = 0;
    TRY(incidence(graph, scratch, &first, &list));
    GET(l->node, graph->nbody);
    if (!edge) return LW_ERR_MEMORY;
    for (int b = 0; b < graph->nbody; b++) {
        const int n = first[b + 1] - first[b];
        l->node[b] = n ? count : -1;
        if (n == 0) continue;
        edge[count] = (lwi_plan_edge){.rows = 6, .n = n, .more = list + first[b]};
        for (int i = 0; i < n && n <= LWI_EDGE_BODIES; i++)
            edge[count].body[i] = list[first[b] + i];
        count++;
    }
    const lwi_plan_graph swapped = {.nbody = graph->nedge, .nedge = count, .edge = edge};
    TRY(lwi_plan_create(&swapped, LW_PLAN_BALANCED, arena, &l->plan));
    // every row has eps > 0: no node needs what loops need
    for (int k = 0; k < l->plan.nnode; k++) l->plan.node[k].loop = false;
    return LW_OK;
}

static lw_status make_slots(lwi_min_norm *l, const lwi_plan_graph *graph, lwi_arena *scratch,
                            lwi_arena *arena)
{
    int *met = LWI_PUSH(scratch, int, graph->nbody);
    GET(l->row, graph->nedge + 1);
    GET(l->first, graph->nedge + 1);
    if (!met) return LW_ERR_MEMORY;
    for (int e = 0; e < graph->nedge; e++) {
        l->row[e + 1] = l->row[e] + graph->edge[e].rows;
        l->first[e + 1] = l->first[e] + (graph->edge[e].rows ? graph->edge[e].n : 0);
    }
    GET(l->slot, l->first[graph->nedge]);
    for (int e = 0; e < graph->nedge; e++)
        for (int i = 0; i < l->first[e + 1] - l->first[e]; i++) {
            const int b = lwi_plan_bodies(&graph->edge[e])[i];
            l->slot[l->first[e] + i] = l->plan.slot[l->node[b]] + met[b]++;
        }
    return LW_OK;
}

lw_status lwi_min_norm_create(const lwi_plan_graph *graph, lwi_pool *pool, lwi_arena *arena,
                              lwi_min_norm **out)
{
    lwi_min_norm *l;
    lwi_arena scratch;
    GET(l, 1);
    l->nbody = graph->nbody;
    l->nedge = graph->nedge;
    lwi_arena_init(&scratch, &arena->allocator);
    lw_status status = make_plan(l, graph, &scratch, arena);
    if (status == LW_OK) status = make_slots(l, graph, &scratch, arena);
    lwi_arena_free(&scratch);
    TRY(status);
    TRY(lwi_elim_create_plain(&l->plan, arena, &l->elim));
    if (pool) TRY(lwi_elim_threads(l->elim, pool, LWI_ELIM_BY_SUBTREE, arena));
    GET(l->eps, l->plan.nrow);
    GET(l->c, l->plan.nrow);
    GET(l->w, l->plan.nrow);
    GET(l->x, l->nedge);
    GET(l->rest, l->nedge);
    GET(l->sum, l->nedge);
    GET(l->f, l->nbody);
    GET(l->part, l->row[l->nedge]);
    *out = l;
    return LW_OK;
#undef GET
}

double lwi_min_norm_work(const lwi_min_norm *l)
{
    return l->plan.work;
}

// ------------------------------------------------------------------------------------------ factor

void lwi_min_norm_put(lwi_min_norm *l, int edge, int i, const double (*J)[6])
{
    LWI_ASSERT_INDEX(edge, l->nedge);
    LWI_ASSERT_INDEX(i, l->first[edge + 1] - l->first[edge]);
    const int at = 6 * l->slot[l->first[edge] + i], rows = l->row[edge + 1] - l->row[edge];
    double(*to)[6] = lwi_elim_J(l->elim) + at;
    for (int k = 0; k < 6; k++)
        for (int r = 0; r < rows; r++) to[k][r] = J[r][k];
}

// eps = a D, one number for the translations and one for the rotations of a body, so that it does not depend on
// the axes.
static void put_diagonal(lwi_min_norm *l)
{
    const double(*J)[6] = lwi_elim_rows(l->elim);
    for (int k = 0; k < l->plan.graph.nedge; k++)
        for (int part = 0; part < 6; part += 3) {
            double trace = 0;
            for (int s = l->plan.slot[k]; s < l->plan.slot[k + 1]; s++)
                for (int r = part; r < part + 3; r++)
                    for (int i = 0; i < 6; i++) trace += J[6 * s + r][i] * J[6 * s + r][i];
            for (int r = part; r < part + 3; r++)
                l->eps[l->plan.row[k] + r] = SOFT * (trace > 0 ? trace / 3 : 1);
        }
}

bool lwi_min_norm_factor(lwi_min_norm *l)
{
    put_diagonal(l);
    return lwi_elim_factor(l->elim, l->eps) == LW_OK;
}

// ------------------------------------------------------------------------------------------- solve

static void put_wrenches(lwi_min_norm *l, const double (*f)[6])
{
    for (int b = 0; b < l->nbody; b++)
        if (l->node[b] >= 0) memcpy(l->c + l->plan.row[l->node[b]], f[b], sizeof f[b]);
}

void lwi_min_norm_wrenches(const lwi_min_norm *l, const double *lambda, double (*f)[6])
{
    for (int b = 0; b < l->nbody; b++) {
        memset(f[b], 0, sizeof f[b]);
        if (l->node[b] < 0) continue;
        const lwi_plan_edge *body = &l->plan.graph.edge[l->node[b]];
        const double(*J)[6] = lwi_elim_rows(l->elim) + 6 * l->plan.slot[l->node[b]];
        for (int i = 0; i < body->n; i++) {
            const int e = lwi_plan_bodies(body)[i];
            for (int k = 0; k < 6; k++)
                for (int r = 0; r < l->row[e + 1] - l->row[e]; r++)
                    f[b][k] += J[6 * i + k][r] * lambda[l->row[e] + r];
        }
    }
}

void lwi_min_norm_wrench(const lwi_min_norm *l, int edge, int i, const double *lambda, double f[6])
{
    LWI_ASSERT_INDEX(edge, l->nedge);
    LWI_ASSERT_INDEX(i, l->first[edge + 1] - l->first[edge]);
    const int rows = l->row[edge + 1] - l->row[edge];
    const double(*J)[6] = lwi_elim_rows(l->elim) + 6 * l->slot[l->first[edge] + i];
    for (int k = 0; k < 6; k++) {
        f[k] = 0;
        for (int r = 0; r < rows; r++) f[k] += lambda[r] * J[k][r];
    }
}

static double largest(int n, const double (*x)[6])
{
    double size = 0;
    for (int e = 0; e < n; e++)
        for (int r = 0; r < 6; r++) size = fabs(x[e][r]) > size ? fabs(x[e][r]) : size;
    return size;
}

// rest := g (lambda_0 - sum)
static void residual(lwi_min_norm *l, const double (*f)[6])
{
    put_wrenches(l, f);
    memcpy(l->x, l->sum, (size_t)l->nedge * sizeof *l->x);
    lwi_elim_solve(l->elim, l->x, l->c, l->w, 0);
    for (int e = 0; e < l->nedge; e++)
        for (int r = 0; r < 6; r++) l->rest[e][r] = l->x[e][r] - l->sum[e][r];
}

// sum += factor g rest, rest := (1 - g) rest.  Returns the largest entry of g rest.
static double take_part(lwi_min_norm *l, double factor)
{
    double size = 0;
    if (l->plan.nrow) memset(l->c, 0, (size_t)l->plan.nrow * sizeof *l->c);
    memcpy(l->x, l->rest, (size_t)l->nedge * sizeof *l->x);
    lwi_elim_solve(l->elim, l->x, l->c, l->w, 0); // x = rest - g rest
    for (int e = 0; e < l->nedge; e++)
        for (int r = 0; r < 6; r++) {
            const double part = l->rest[e][r] - l->x[e][r];
            l->sum[e][r] += factor * part;
            l->rest[e][r] = l->x[e][r];
            size = fabs(part) > size ? fabs(part) : size;
        }
    return size;
}

static void solve(lwi_min_norm *l, const double (*f)[6], double close, double *lambda)
{
    memset(l->sum, 0, (size_t)l->nedge * sizeof *l->sum);
    bool done = false;
    double before = HUGE_VAL;
    for (int step = 0; step < MAX_STEPS && !done; step++) {
        residual(l, f);
        const double size = largest(l->nedge, (const double(*)[6])l->rest);
        if (step >= FEW && !(size < 0.5 * before)) break;
        before = size;
        for (int k = 1; k <= TERMS && !done; k++) {
            const double change = k * take_part(l, k);
            const double left = (k + 1) * largest(l->nedge, (const double(*)[6])l->rest);
            const double enough = close * largest(l->nedge, (const double(*)[6])l->sum);
            done = !(left > enough && change > enough);
        }
    }
    for (int e = 0; e < l->nedge; e++)
        for (int i = l->row[e]; i < l->row[e + 1]; i++) lambda[i] = l->sum[e][i - l->row[e]];
}

void lwi_min_norm_solve(lwi_min_norm *l, const double (*f)[6], double *lambda)
{
    solve(l, f, CLOSE_ENOUGH, lambda);
}

void lwi_min_norm_null(lwi_min_norm *l, double *n)
{
    lwi_min_norm_wrenches(l, n, l->f);
    solve(l, (const double(*)[6])l->f, NULL_ENOUGH, l->part);
    for (int i = 0; i < l->row[l->nedge]; i++) n[i] -= l->part[i];
}
