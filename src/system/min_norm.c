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
// with one solution for each term: h^n g e = J v_n with A v_0 = f - J' lambda, A v_n = a D v_(n - 1), so that
//
//     lambda += J (v_0 + ... + v_(n - 1) - n v_n)
//
// Directions without stiffness in A, the degrees of freedom, have no part in f, and J removes what round-off puts there.
//
// A is sparse, with a block of six rows for each body and one for each pair of bodies of an edge (base/block_cholesky.h).
// The order is the sequential one of the elimination, which has the fewest multiplications in rows of loops and in nets:
// in the graph of its plan edge k is body k with six rows, body e is joint e.
#include "system/min_norm.h"

#include "base/assert.h"
#include "base/block_cholesky.h"

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
    int nbody, nedge, nnode;
    int *row; // [nedge + 1] first multiplier of each edge
    int *
        first; // [nedge + 1] first slot of each edge: one for each of its bodies, none without rows
    int *at;   // [slots] node of each
    int *node; // [nbody] -1: no edge has rows there
    int *rows; // [slots] first row of J of each
    double (*J)[6];              // [rows of all slots]
    double (*soft)[2];           // [nnode] a D, translations and rotations
    double (*v)[6];              // [nnode]
    double *rest, *before, *sum; // [multipliers]
    double *part;                // [multipliers]
    double (*f)[6];              // [nbody]
    lwi_block_cholesky A;
    int *block; // blocks of A of the pairs of bodies of each edge, in order
};

// ------------------------------------------------------------------------------------------ create

#define GET(field, count)                                                                          \
    if (!((field) = lwi_arena_push(arena, (size_t)(count), sizeof *(field)))) return LW_ERR_MEMORY

static int rows_of(const lwi_min_norm *l, int edge)
{
    return l->row[edge + 1] - l->row[edge];
}

static lw_status make_slots(lwi_min_norm *l, const lwi_plan_graph *graph, lwi_arena *arena)
{
    int total = 0;
    GET(l->row, graph->nedge + 1);
    GET(l->first, graph->nedge + 1);
    for (int e = 0; e < graph->nedge; e++) {
        l->row[e + 1] = l->row[e] + graph->edge[e].rows;
        l->first[e + 1] = l->first[e] + (graph->edge[e].rows ? graph->edge[e].n : 0);
    }
    GET(l->at, l->first[graph->nedge]);
    GET(l->rows, l->first[graph->nedge]);
    for (int e = 0; e < graph->nedge; e++)
        for (int s = l->first[e]; s < l->first[e + 1]; s++, total += graph->edge[e].rows)
            l->rows[s] = total;
    GET(l->J, total);
    return LW_OK;
}

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

// Bodies as edges of six rows between the joints that they have; l->node: edge of each body.
static lw_status make_plan(lwi_min_norm *l, const lwi_plan_graph *graph, lwi_arena *scratch,
                           lwi_arena *arena, lwi_plan *plan)
{
    lwi_plan_edge *edge = LWI_PUSH(scratch, lwi_plan_edge, graph->nbody);
    int *first, *list;
    TRY(incidence(graph, scratch, &first, &list));
    GET(l->node, graph->nbody);
    if (!edge) return LW_ERR_MEMORY;
    for (int b = 0; b < graph->nbody; b++) {
        const int n = first[b + 1] - first[b];
        l->node[b] = n ? l->nnode : -1;
        if (n == 0) continue;
        edge[l->nnode] = (lwi_plan_edge){.rows = 6, .n = n, .more = list + first[b]};
        for (int i = 0; i < n && n <= LWI_EDGE_BODIES; i++)
            edge[l->nnode].body[i] = list[first[b] + i];
        l->nnode++;
    }
    const lwi_plan_graph swapped = {.nbody = graph->nedge, .nedge = l->nnode, .edge = edge};
    return lwi_plan_create(&swapped, LW_PLAN_COMB, scratch, plan);
}

// l->node: place of each body in the order in which the plan closes them.
static lw_status sort_nodes(lwi_min_norm *l, const lwi_plan *plan, lwi_arena *scratch)
{
    int *place = LWI_PUSH(scratch, int, l->nnode), n = 0;
    if (!place) return LW_ERR_MEMORY;
    for (int k = 0; k < plan->nnode; k++)
        for (int i = 0; i < plan->node[k].closed.n; i++)
            place[plan->item[plan->node[k].closed.first + i]] = n++;
    LWI_ASSERT(n == l->nnode);
    for (int b = 0; b < l->nbody; b++)
        if (l->node[b] >= 0) l->node[b] = place[l->node[b]];
    return LW_OK;
}

// The pairs of nodes of each edge, the later one first.
static int list_pairs(const lwi_min_norm *l, int (*pair)[2])
{
    int n = 0;
    for (int e = 0; e < l->nedge; e++)
        for (int i = l->first[e]; i < l->first[e + 1]; i++)
            for (int k = l->first[e]; k < i; k++, n++) {
                if (!pair) continue;
                const bool later = l->at[i] > l->at[k];
                pair[n][0] = l->at[later ? i : k];
                pair[n][1] = l->at[later ? k : i];
            }
    return n;
}

static lw_status make_blocks(lwi_min_norm *l, lwi_arena *scratch, lwi_arena *arena)
{
    const int n = list_pairs(l, NULL);
    int(*pair)[2] = lwi_arena_push(scratch, (size_t)n, sizeof *pair);
    if (!pair) return LW_ERR_MEMORY;
    list_pairs(l, pair);
    GET(l->block, n);
    TRY(lwi_block_cholesky_create(l->nnode, n, (const int(*)[2])pair, arena, &l->A));
    for (int i = 0; i < n; i++)
        l->block[i] = lwi_block_cholesky_find(&l->A, pair[i][0], pair[i][1]);
    return LW_OK;
}

static lw_status make(lwi_min_norm *l, const lwi_plan_graph *graph, lwi_arena *scratch,
                      lwi_arena *arena)
{
    lwi_plan plan;
    TRY(make_slots(l, graph, arena));
    TRY(make_plan(l, graph, scratch, arena, &plan));
    TRY(sort_nodes(l, &plan, scratch));
    for (int e = 0; e < graph->nedge; e++)
        for (int s = l->first[e]; s < l->first[e + 1]; s++)
            l->at[s] = l->node[lwi_plan_bodies(&graph->edge[e])[s - l->first[e]]];
    return make_blocks(l, scratch, arena);
}

lw_status lwi_min_norm_create(const lwi_plan_graph *graph, lwi_arena *arena, lwi_min_norm **out)
{
    lwi_min_norm *l;
    lwi_arena scratch;
    GET(l, 1);
    l->nbody = graph->nbody;
    l->nedge = graph->nedge;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = make(l, graph, &scratch, arena);
    lwi_arena_free(&scratch);
    TRY(status);
    GET(l->soft, l->nnode);
    GET(l->v, l->nnode);
    GET(l->f, l->nbody);
    GET(l->rest, l->row[l->nedge]);
    GET(l->before, l->row[l->nedge]);
    GET(l->sum, l->row[l->nedge]);
    GET(l->part, l->row[l->nedge]);
    *out = l;
    return LW_OK;
#undef GET
}

double lwi_min_norm_work(const lwi_min_norm *l)
{
    return lwi_block_cholesky_work(&l->A);
}

// ------------------------------------------------------------------------------------------ factor

void lwi_min_norm_put(lwi_min_norm *l, int edge, int i, const double (*J)[6])
{
    LWI_ASSERT_INDEX(edge, l->nedge);
    LWI_ASSERT_INDEX(i, l->first[edge + 1] - l->first[edge]);
    memcpy(l->J + l->rows[l->first[edge] + i], J, (size_t)rows_of(l, edge) * sizeof *J);
}

// Rows from `from` on, which is even, of columns c and c + 1 of A += X' Y.
static inline void add_columns(double *restrict A, int c, int from, int rows, const double (*X)[6],
                               const double (*Y)[6])
{
    for (int end = c + 2; c < end; c++) {
        lwi_pair sum[3];
        for (int k = from / 2; k < 3; k++) sum[k] = lwi_pair_at(A + 6 * c + 2 * k);
        for (int i = 0; i < rows; i++)
            for (int k = from / 2; k < 3; k++) sum[k] += Y[i][c] * lwi_pair_at(X[i] + 2 * k);
        memcpy(A + 6 * c + from, sum + from / 2, (size_t)(6 - from) * sizeof *A);
    }
}

static void add_product(double A[36], int rows, const double (*X)[6], const double (*Y)[6])
{
    for (int c = 0; c < 6; c += 2) add_columns(A, c, 0, rows, X, Y);
}

// The lower triangle of A += X' X; of what is above it only parts.
static void add_square(double A[36], int rows, const double (*X)[6])
{
    add_columns(A, 0, 0, rows, X, X);
    add_columns(A, 2, 2, rows, X, X);
    add_columns(A, 4, 4, rows, X, X);
}

static void put_stiffness(lwi_min_norm *l)
{
    int n = 0;
    lwi_block_cholesky_clear(&l->A);
    for (int e = 0; e < l->nedge; e++)
        for (int i = l->first[e]; i < l->first[e + 1]; i++) {
            const int rows = rows_of(l, e);
            const double(*J)[6] = (const double(*)[6])l->J + l->rows[i];
            for (int k = l->first[e]; k < i; k++) {
                const double(*other)[6] = (const double(*)[6])l->J + l->rows[k];
                const bool later = l->at[i] > l->at[k];
                add_product(l->A.below[l->block[n++]], rows, later ? J : other, later ? other : J);
            }
            add_square(l->A.diagonal[l->at[i]], rows, J);
        }
}

// a D, one number for the translations and one for the rotations of a body, so that it does not depend on the axes.
static void add_softness(lwi_min_norm *l)
{
    for (int k = 0; k < l->nnode; k++)
        for (int part = 0; part < 2; part++) {
            double *first = l->A.diagonal[k] + 21 * part; // of three entries, seven apart
            const double trace = first[0] + first[7] + first[14];
            l->soft[k][part] = SOFT * (trace > 0 ? trace / 3 : 1);
            for (int i = 0; i < 3; i++) first[7 * i] += l->soft[k][part];
        }
}

bool lwi_min_norm_factor(lwi_min_norm *l)
{
    put_stiffness(l);
    add_softness(l);
    return lwi_block_cholesky_factor(&l->A);
}

// ------------------------------------------------------------------------------------------- solve

// f += J' lambda of the rows of a slot.
static void add_wrench(const lwi_min_norm *l, int slot, int rows, const double *lambda, double f[6])
{
    const double(*J)[6] = (const double(*)[6])l->J + l->rows[slot];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < 6; k++) f[k] += lambda[i] * J[i][k];
}

void lwi_min_norm_wrench(const lwi_min_norm *l, int edge, int i, const double *lambda, double f[6])
{
    LWI_ASSERT_INDEX(edge, l->nedge);
    LWI_ASSERT_INDEX(i, l->first[edge + 1] - l->first[edge]);
    memset(f, 0, 6 * sizeof *f);
    add_wrench(l, l->first[edge] + i, rows_of(l, edge), lambda, f);
}

// By node.
static void add_wrenches(const lwi_min_norm *l, const double *lambda, double (*f)[6])
{
    for (int e = 0; e < l->nedge; e++)
        for (int s = l->first[e]; s < l->first[e + 1]; s++)
            add_wrench(l, s, rows_of(l, e), lambda + l->row[e], f[l->at[s]]);
}

void lwi_min_norm_wrenches(const lwi_min_norm *l, const double *lambda, double (*f)[6])
{
    memset(l->v, 0, (size_t)l->nnode * sizeof *l->v);
    add_wrenches(l, lambda, l->v);
    for (int b = 0; b < l->nbody; b++)
        if (l->node[b] >= 0)
            memcpy(f[b], l->v[l->node[b]], sizeof f[b]);
        else
            memset(f[b], 0, sizeof f[b]);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

// to := J v.  Returns the largest entry of the change.
static double put_rows(const lwi_min_norm *l, double *to, double *largest)
{
    double change = 0;
    *largest = 0;
    for (int e = 0; e < l->nedge; e++) {
        const int rows = rows_of(l, e);
        double sum[6] = {0}, *entry = to + l->row[e];
        for (int s = l->first[e]; s < l->first[e + 1]; s++)
            for (int i = 0; i < rows; i++) sum[i] += lwi_dot6(l->J[l->rows[s] + i], l->v[l->at[s]]);
        for (int i = 0; i < rows; i++) {
            change = larger(fabs(sum[i] - entry[i]), change);
            *largest = larger(fabs(sum[i]), *largest);
            entry[i] = sum[i];
        }
    }
    return change;
}

// v := f - J' lambda
static void put_residual(lwi_min_norm *l, const double (*f)[6], const double *lambda)
{
    for (int i = 0; i < l->row[l->nedge]; i++) l->rest[i] = -lambda[i];
    for (int b = 0; b < l->nbody; b++)
        if (l->node[b] >= 0) memcpy(l->v[l->node[b]], f[b], sizeof f[b]);
    add_wrenches(l, l->rest, l->v);
}

// v := A^-1 a D v
static void next_term(lwi_min_norm *l)
{
    for (int k = 0; k < l->nnode; k++)
        for (int i = 0; i < 6; i++) l->v[k][i] *= l->soft[k][i / 3];
    lwi_block_cholesky_solve(&l->A, l->v);
}

// rest := J v_0.  Returns its largest entry.
static double begin_step(lwi_min_norm *l, const double (*f)[6], const double *lambda)
{
    double size;
    put_residual(l, f, lambda);
    lwi_block_cholesky_solve(&l->A, l->v);
    put_rows(l, l->rest, &size);
    return size;
}

// lambda += J (v_0 + ... + v_(n - 1) - n v_n).  True: what is left is small enough.
static bool add_series(lwi_min_norm *l, double close, double *lambda)
{
    const int nrow = l->row[l->nedge];
    bool done = false;
    if (nrow) memcpy(l->before, lambda, (size_t)nrow * sizeof *lambda);
    for (int n = 1; n <= TERMS && !done; n++) {
        double left, enough = 0;
        for (int i = 0; i < nrow; i++) l->before[i] += l->rest[i];
        next_term(l);
        const double change = n * put_rows(l, l->rest, &left);
        for (int i = 0; i < nrow; i++) {
            lambda[i] = l->before[i] - n * l->rest[i];
            enough = larger(close * fabs(lambda[i]), enough);
        }
        done = !((n + 1) * left > enough && change > enough);
    }
    return done;
}

static void solve(lwi_min_norm *l, const double (*f)[6], double close, double *lambda)
{
    double before = HUGE_VAL;
    if (l->row[l->nedge]) memset(l->sum, 0, (size_t)l->row[l->nedge] * sizeof *l->sum);
    for (int step = 0; step < MAX_STEPS; step++) {
        const double size = begin_step(l, f, l->sum);
        if (step >= FEW && !(size < 0.5 * before)) break;
        before = size;
        if (add_series(l, close, l->sum)) break;
    }
    if (l->row[l->nedge]) memcpy(lambda, l->sum, (size_t)l->row[l->nedge] * sizeof *lambda);
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
