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
// The order is one of the elimination: in the graph of its plan edge k is body k with six rows, body e is joint e.  Small
// mechanisms have the sequential one, with the fewest multiplications in rows of loops and in nets; large ones nested
// dissection, with twice as many, which threads share, where there may be threads.  All else goes by bodies or by edges,
// each on one thread.
//
// Rows of mechanisms that move in a plane across an axis of the world act either on motions in the plane, two translations
// and a rotation, or on motions across it.  A is two matrices then, of which the second is factored where forces across the
// plane ask for it: without such forces their multipliers are zero.  What is left out are operations with zeros.
#include "system/min_norm.h"

#include "base/assert.h"
#include "base/block_cholesky.h"
#include "base/flush.h"

#include <math.h>
#include <stdint.h>
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

// What the parts of a team agree on: largest numbers, and whether all is well.
typedef struct found {
    double change, left, enough; // J v, changes of it, close lambda
    bool ok;
} found;

// Pairs of joints at a body, on average, above which the order is the sequential one.
#define MAX_PAIRS 100

struct lwi_min_norm {
    int nbody, nedge, nnode;
    int *row; // [nedge + 1] first multiplier of each edge
    int *
        first; // [nedge + 1] first slot of each edge: one for each of its bodies, none without rows
    int *at;   // [slots] node of each
    int *node; // [nbody] -1: no edge has rows there
    int *rows; // [slots] first row of J of each
    int *edge; // [slots] of each
    int *
        first_slot; // [nnode + 1] slots at each node: slot[first_slot[k]] ... slot[first_slot[k + 1] - 1], by edge
    int *slot;
    int *pair;                   // [nedge + 1] first pair of bodies of each edge in `block`
    double (*J)[6];              // [rows of all slots]
    double (*soft)[2];           // [nnode] a D, translations and rotations
    double (*v)[6];              // [nnode]
    double *rest, *before, *sum; // [multipliers]
    double *part;                // [multipliers]
    double (*f)[6];              // [nbody]
    lwi_block_cholesky A;
    int *block; // blocks of A of the pairs of bodies of each edge, in order
    // of the rows that were put last
    int across;       // axis across the plane of the motion; -1: there is no such plane
    int *order;       // [multipliers] rows of each edge, those in the plane first
    int *inside;      // [nedge] how many these are
    double (*P)[3];   // [rows of all slots] components of the rows in this order
    bool factored[2]; // halves of A
    bool used[2];     // halves that a solution has; its multipliers have that order, too
    // threads
    bool threads;   // there may be some
    lwi_pool *pool; // NULL: one
    lwi_barrier barrier;
    uint64_t mode;                                            // flush.h
    void (*task)(lwi_min_norm *solver, const lwi_team *team); // what they do
    found *found;                                             // [LWI_MAX_THREADS] of each
    const double (*given)[6], *lambda_in;                     // of a task
    double *out, (*wrench)[6], close;
    bool finite;
};

// Components of motions in the plane, and of those across it, by the axis across.
static const int component[3][2][3] = {
    {{1, 2, 3}, {0, 4, 5}}, {{0, 2, 4}, {1, 3, 5}}, {{0, 1, 5}, {2, 3, 4}}};

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
    GET(l->edge, l->first[graph->nedge]);
    GET(l->rows, l->first[graph->nedge]);
    for (int e = 0; e < graph->nedge; e++)
        for (int s = l->first[e]; s < l->first[e + 1]; s++, total += graph->edge[e].rows)
            l->rows[s] = total, l->edge[s] = e;
    GET(l->J, total);
    GET(l->P, total);
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

static bool may_divide(const lwi_min_norm *l)
{
    return l->threads && l->nnode >= LWI_MIN_NORM_SHARED;
}

// Whether there is work for several threads.  A dissection takes as long as pairs of joints at bodies.
static bool is_shared(const lwi_min_norm *l, const lwi_plan_graph *graph, const int *first)
{
    double pairs = 0;
    for (int b = 0; b < graph->nbody; b++) {
        const double n = first[b + 1] - first[b];
        pairs += n * n;
    }
    return may_divide(l) && pairs < MAX_PAIRS * l->nnode;
}

// Bodies as edges of six rows between the joints that they have: l->node is the place of each in the order in which a
// plan closes them.
static lw_status sort_nodes(lwi_min_norm *l, const lwi_plan_graph *graph, lwi_arena *scratch,
                            lwi_arena *arena)
{
    lwi_plan_edge *edge = LWI_PUSH(scratch, lwi_plan_edge, graph->nbody);
    int *place = LWI_PUSH(scratch, int, graph->nbody), *first, *list;
    TRY(incidence(graph, scratch, &first, &list));
    GET(l->node, graph->nbody);
    if (!edge || !place) return LW_ERR_MEMORY;
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
    const lw_plan kind = is_shared(l, graph, first) ? LW_PLAN_BALANCED : LW_PLAN_COMB;
    TRY(lwi_plan_closing_order(&swapped, kind, &scratch->allocator, place));
    for (int b = 0; b < l->nbody; b++)
        if (l->node[b] >= 0) l->node[b] = place[l->node[b]];
    return LW_OK;
}

// The pairs of nodes of each edge, the later one first.
static int list_pairs(lwi_min_norm *l, int (*pair)[2])
{
    int n = 0;
    for (int e = 0; e < l->nedge; l->pair[++e] = n)
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
    GET(l->pair, l->nedge + 1);
    const int n = list_pairs(l, NULL);
    int(*pair)[2] = lwi_arena_push(scratch, (size_t)n, sizeof *pair);
    if (!pair) return LW_ERR_MEMORY;
    list_pairs(l, pair);
    GET(l->block, n);
    TRY(lwi_block_cholesky_create(l->nnode, n, (const int(*)[2])pair, arena, &l->A));
    for (int i = 0; i < n; i++)
        l->block[i] = lwi_block_cholesky_find(&l->A, pair[i][0], pair[i][1]);
    return may_divide(l) ? lwi_block_cholesky_divide(arena, &l->A) : LW_OK;
}

static lw_status sort_slots(lwi_min_norm *l, lwi_arena *scratch, lwi_arena *arena)
{
    int *fill = LWI_PUSH(scratch, int, l->nnode);
    const int nslot = l->first[l->nedge];
    GET(l->first_slot, l->nnode + 1);
    GET(l->slot, nslot);
    if (!fill) return LW_ERR_MEMORY;
    for (int s = 0; s < nslot; s++) l->first_slot[l->at[s] + 1]++;
    for (int k = 0; k < l->nnode; k++) l->first_slot[k + 1] += l->first_slot[k];
    for (int s = 0; s < nslot; s++) l->slot[l->first_slot[l->at[s]] + fill[l->at[s]]++] = s;
    return LW_OK;
}

static lw_status make(lwi_min_norm *l, const lwi_plan_graph *graph, lwi_arena *scratch,
                      lwi_arena *arena)
{
    TRY(make_slots(l, graph, arena));
    TRY(sort_nodes(l, graph, scratch, arena));
    for (int e = 0; e < graph->nedge; e++)
        for (int s = l->first[e]; s < l->first[e + 1]; s++)
            l->at[s] = l->node[lwi_plan_bodies(&graph->edge[e])[s - l->first[e]]];
    TRY(sort_slots(l, scratch, arena));
    return make_blocks(l, scratch, arena);
}

lw_status lwi_min_norm_create(const lwi_plan_graph *graph, bool threads, lwi_arena *arena,
                              lwi_min_norm **out)
{
    lwi_min_norm *l;
    lwi_arena scratch;
    GET(l, 1);
    l->threads = threads;
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
    GET(l->order, l->row[l->nedge]);
    GET(l->inside, l->nedge);
    GET(l->found, LWI_MAX_THREADS);
    *out = l;
    return LW_OK;
#undef GET
}

double lwi_min_norm_work(const lwi_min_norm *l)
{
    return lwi_block_cholesky_work(&l->A);
}

// ----------------------------------------------------------------------------------------- threads

void lwi_min_norm_threads(lwi_min_norm *l, lwi_pool *pool)
{
    l->pool = may_divide(l) ? pool : NULL;
    if (l->pool) lwi_barrier_init(pool, &l->barrier);
}

// In the floating-point mode of the calling thread: the same bits for any number of threads.
static void run_part(void *user, int part)
{
    lwi_min_norm *l = user;
    const uint64_t mode = lwi_flush_get();
    const lwi_team team = {.part = part, .parts = lwi_pool_count(l->pool), .barrier = &l->barrier};
    lwi_flush_set(l->mode);
    l->task(l, &team);
    lwi_flush_set(mode);
}

static void run(lwi_min_norm *l, void (*task)(lwi_min_norm *l, const lwi_team *team))
{
    if (!l->pool) {
        task(l, &LWI_ALONE);
        return;
    }
    l->task = task;
    l->mode = lwi_flush_get();
    lwi_pool_run(l->pool, run_part, l);
}

// Items of a part: equal numbers.
static void range_of(const lwi_team *team, int count, int *first, int *end)
{
    *first = (int)((long)count * team->part / team->parts);
    *end = (int)((long)count * (team->part + 1) / team->parts);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

// What all parts have found.  What they have written before is seen after.
static found agree(const lwi_min_norm *l, const lwi_team *team, found mine)
{
    if (team->parts == 1) return mine;
    l->found[team->part] = mine;
    lwi_team_meet(team);
    for (int i = 0; i < team->parts; i++) {
        const found *of = &l->found[i];
        mine.change = larger(of->change, mine.change);
        mine.left = larger(of->left, mine.left);
        mine.enough = larger(of->enough, mine.enough);
        mine.ok = mine.ok && of->ok;
    }
    lwi_team_meet(team);
    return mine;
}

static bool all_ok(const lwi_min_norm *l, const lwi_team *team, bool ok)
{
    return agree(l, team, (found){.ok = ok}).ok;
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
        for (int k = from / 2; k < 3; k++) sum[k] = lwi_pair_load(A + 6 * c + 2 * k);
        for (int i = 0; i < rows; i++)
            for (int k = from / 2; k < 3; k++) sum[k] += Y[i][c] * lwi_pair_load(X[i] + 2 * k);
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

// Block of A of two slots of an edge.
static int block_of(const lwi_min_norm *l, int e, int one, int other)
{
    const int i = (one > other ? one : other) - l->first[e],
              k = (one < other ? one : other) - l->first[e];
    return l->block[l->pair[e] + i * (i - 1) / 2 + k];
}

static void clear_column(lwi_min_norm *l, int k)
{
    const int n = l->A.first[k + 1] - l->A.first[k];
    if (n) memset(l->A.below[l->A.first[k]], 0, (size_t)n * sizeof *l->A.below);
    memset(l->A.diagonal[k], 0, sizeof *l->A.diagonal);
}

// Column k of J'J.
static void put_column(lwi_min_norm *l, int k)
{
    clear_column(l, k);
    for (int i = l->first_slot[k]; i < l->first_slot[k + 1]; i++) {
        const int slot = l->slot[i], e = l->edge[slot], rows = rows_of(l, e);
        const double(*J)[6] = (const double(*)[6])l->J + l->rows[slot];
        for (int s = l->first[e]; s < l->first[e + 1]; s++)
            if (l->at[s] > k)
                add_product(l->A.below[block_of(l, e, s, slot)], rows,
                            (const double(*)[6])l->J + l->rows[s], J);
        add_square(l->A.diagonal[k], rows, J);
    }
}

// a D, one number for the translations and one for the rotations of a body, so that it does not depend on the axes.
static double softness(const double *square, int step)
{
    const double trace = square[0] + square[step] + square[2 * step];
    return SOFT * (trace > 0 ? trace / 3 : 1);
}

static void add_softness(lwi_min_norm *l, int k)
{
    for (int part = 0; part < 2; part++) {
        double *first = l->A.diagonal[k] + 21 * part; // of three entries, seven apart
        l->soft[k][part] = softness(first, 7);
        for (int i = 0; i < 3; i++) first[7 * i] += l->soft[k][part];
    }
}

// All bits of three components except the signs.
static inline uint64_t bits_of(const double *J, const int at[3])
{
    uint64_t bits[3];
    for (int k = 0; k < 3; k++) memcpy(bits + k, J + at[k], sizeof bits[k]);
    return (bits[0] | bits[1] | bits[2]) << 1;
}

// l->order and l->inside, if every row of the edge is in the plane across an axis, or across it.
static bool divide_edge(lwi_min_norm *l, int e, int axis)
{
    int *order = l->order + l->row[e], ninside = 0, nacross = 0, across[LWI_EDGE_ROWS];
    LWI_ASSERT(rows_of(l, e) <= LWI_EDGE_ROWS);
    for (int i = 0; i < rows_of(l, e); i++) {
        uint64_t in = 0, out = 0;
        for (int s = l->first[e]; s < l->first[e + 1]; s++) {
            in |= bits_of(l->J[l->rows[s] + i], component[axis][0]);
            out |= bits_of(l->J[l->rows[s] + i], component[axis][1]);
        }
        if (in && out) return false;
        if (out)
            across[nacross++] = i;
        else
            order[ninside++] = i;
    }
    for (int i = 0; i < nacross; i++) order[ninside + i] = across[i];
    l->inside[e] = ninside;
    return true;
}

static bool divide_rows(lwi_min_norm *l, int axis, const lwi_team *team)
{
    int e, end;
    range_of(team, l->nedge, &e, &end);
    while (e < end && divide_edge(l, e, axis)) e++;
    return all_ok(l, team, e == end);
}

// Rows of an edge in one half: from the first one to that before the end, in their order.
static inline int first_in(const lwi_min_norm *l, int e, int half)
{
    return half ? l->inside[e] : 0;
}

static inline int end_in(const lwi_min_norm *l, int e, int half)
{
    return half ? rows_of(l, e) : l->inside[e];
}

static int find_plane(lwi_min_norm *l, const lwi_team *team)
{
    for (int axis = 2; axis >= 0; axis--)
        if (divide_rows(l, axis, team)) return axis;
    return -1;
}

// l->soft of a node, from the diagonal of J'J.
static void put_softness(lwi_min_norm *l, int k)
{
    double square[6];
    lwi_pair sum[3] = {{0}};
    for (int i = l->first_slot[k]; i < l->first_slot[k + 1]; i++) {
        const int slot = l->slot[i], rows = rows_of(l, l->edge[slot]);
        const double(*J)[6] = (const double(*)[6])l->J + l->rows[slot];
        for (int m = 0; m < rows; m++)
            for (int c = 0; c < 3; c++)
                sum[c] += lwi_pair_load(J[m] + 2 * c) * lwi_pair_load(J[m] + 2 * c);
    }
    for (int c = 0; c < 3; c++) lwi_pair_store(square + 2 * c, sum[c]);
    for (int part = 0; part < 2; part++) l->soft[k][part] = softness(square + 3 * part, 1);
}

// l->P of one half, of an edge.
static void put_half(lwi_min_norm *l, int half, int e)
{
    const int *at = component[l->across][half], a = at[0], b = at[1], c = at[2];
    const int from = first_in(l, e, half), end = end_in(l, e, half);
    for (int s = l->first[e]; s < l->first[e + 1]; s++) {
        const double(*J)[6] = (const double(*)[6])l->J + l->rows[s];
        double(*P)[3] = l->P + l->rows[s];
        for (int i = from; i < end; i++) {
            const double *row = J[l->order[l->row[e] + i]];
            P[i][0] = row[a], P[i][1] = row[b], P[i][2] = row[c];
        }
    }
}

// A += X' Y
static void add_half_product(double *restrict A, int rows, const double (*X)[3],
                             const double (*Y)[3])
{
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 3; r++) A[3 * c + r] += Y[i][c] * X[i][r];
}

static void clear_half_column(lwi_min_norm *l, int half, int k)
{
    for (int i = l->A.first[k]; i < l->A.first[k + 1]; i++)
        memset(l->A.below[i] + 9 * half, 0, 9 * sizeof(double));
    memset(l->A.diagonal[k] + 9 * half, 0, 9 * sizeof(double));
}

// Column k of the half of A.
static void put_half_column(lwi_min_norm *l, int half, int k)
{
    const int *at = component[l->across][half];
    double *diagonal = l->A.diagonal[k] + 9 * half;
    clear_half_column(l, half, k);
    for (int i = l->first_slot[k]; i < l->first_slot[k + 1]; i++) {
        const int slot = l->slot[i], e = l->edge[slot], from = first_in(l, e, half);
        const int rows = end_in(l, e, half) - from;
        const double(*P)[3] = (const double(*)[3])l->P + l->rows[slot] + from;
        for (int s = l->first[e]; s < l->first[e + 1]; s++)
            if (l->at[s] > k)
                add_half_product(l->A.below[block_of(l, e, s, slot)] + 9 * half, rows,
                                 (const double(*)[3])l->P + l->rows[s] + from, P);
        add_half_product(diagonal, rows, P, P);
    }
    for (int c = 0; c < 3; c++) diagonal[4 * c] += l->soft[k][at[c] / 3];
}

static bool factor_half(lwi_min_norm *l, int half, const lwi_team *team)
{
    int first, end;
    range_of(team, l->nedge, &first, &end);
    for (int e = first; e < end; e++) put_half(l, half, e);
    lwi_team_meet(team);
    range_of(team, l->nnode, &first, &end);
    for (int k = first; k < end; k++) put_half_column(l, half, k);
    return all_ok(l, team, lwi_block_cholesky_factor_half(&l->A, half, team));
}

static bool factor_in_plane(lwi_min_norm *l, const lwi_team *team)
{
    int first, end;
    range_of(team, l->nnode, &first, &end);
    for (int k = first; k < end; k++) put_softness(l, k);
    return factor_half(l, 0, team);
}

static bool factor_whole(lwi_min_norm *l, const lwi_team *team)
{
    int first, end;
    range_of(team, l->nnode, &first, &end);
    for (int k = first; k < end; k++) {
        put_column(l, k);
        add_softness(l, k);
    }
    return all_ok(l, team, lwi_block_cholesky_factor(&l->A, team));
}

static void factor(lwi_min_norm *l, const lwi_team *team)
{
    const int across = find_plane(l, team);
    if (team->part == 0) {
        l->across = across;
        l->factored[0] = true, l->factored[1] = false;
    }
    lwi_team_meet(team);
    const bool finite = across >= 0 ? factor_in_plane(l, team) : factor_whole(l, team);
    if (team->part == 0) l->finite = finite;
}

bool lwi_min_norm_factor(lwi_min_norm *l)
{
    run(l, factor);
    return l->finite;
}

int lwi_min_norm_axis(const lwi_min_norm *l)
{
    return l->across;
}

// ------------------------------------------------------------------------------------------- solve

// f += sign J' lambda of the rows of a slot.
static inline void add_wrench(const lwi_min_norm *l, int slot, int rows, double sign,
                              const double *lambda, double f[6])
{
    const double(*J)[6] = (const double(*)[6])l->J + l->rows[slot];
    lwi_pair sum[3];
    memcpy(sum, f, sizeof sum);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < 3; k++) sum[k] += sign * lambda[i] * lwi_pair_load(J[i] + 2 * k);
    memcpy(f, sum, sizeof sum);
}

void lwi_min_norm_wrench(const lwi_min_norm *l, int edge, int i, const double *lambda, double f[6])
{
    LWI_ASSERT_INDEX(edge, l->nedge);
    LWI_ASSERT_INDEX(i, l->first[edge + 1] - l->first[edge]);
    memset(f, 0, 6 * sizeof *f);
    add_wrench(l, l->first[edge] + i, rows_of(l, edge), 1, lambda, f);
}

// At a node.
static inline void add_wrenches(const lwi_min_norm *l, int k, double sign, const double *lambda,
                                double f[6])
{
    for (int i = l->first_slot[k]; i < l->first_slot[k + 1]; i++) {
        const int slot = l->slot[i], e = l->edge[slot];
        add_wrench(l, slot, rows_of(l, e), sign, lambda + l->row[e], f);
    }
}

static void put_wrenches(lwi_min_norm *l, const lwi_team *team)
{
    int first, end;
    range_of(team, l->nbody, &first, &end);
    for (int b = first; b < end; b++) {
        memset(l->wrench[b], 0, sizeof *l->wrench);
        if (l->node[b] >= 0) add_wrenches(l, l->node[b], 1, l->lambda_in, l->wrench[b]);
    }
}

void lwi_min_norm_wrenches(lwi_min_norm *l, const double *lambda, double (*f)[6])
{
    l->lambda_in = lambda;
    l->wrench = f;
    run(l, put_wrenches);
}

// What becomes of J v: number n of the series, lambda = before - n J v; 0 begins a step.
typedef struct term {
    int n;
    double close, *lambda;
    found largest;
} term;

static inline void take_row(const lwi_min_norm *l, int i, double Jv, term *of)
{
    const double last = l->rest[i], before = of->n ? l->before[i] + last : of->lambda[i];
    const double lambda = before - of->n * Jv;
    l->before[i] = before;
    l->rest[i] = Jv;
    of->largest.change = larger(fabs(Jv - last), of->largest.change);
    of->largest.left = larger(fabs(Jv), of->largest.left);
    of->largest.enough = larger(of->close * fabs(lambda), of->largest.enough);
    of->lambda[i] = lambda;
}

static inline double dot3(const double a[3], double x, double y, double z)
{
    return a[0] * x + (a[1] * y + a[2] * z);
}

// The n rows of edge e from number `from` on.
static inline void take_edge(const lwi_min_norm *l, int e, int from, int n, const int at[3],
                             term *of)
{
    double sum[LWI_EDGE_ROWS] = {0};
    for (int s = l->first[e]; s < l->first[e + 1]; s++) {
        const double *v = l->v[l->at[s]], x = v[at[0]], y = v[at[1]], z = v[at[2]];
        const double(*P)[3] = (const double(*)[3])l->P + l->rows[s] + from;
        for (int i = 0; i < n; i++) sum[i] += dot3(P[i], x, y, z);
    }
    for (int i = 0; i < n; i++) take_row(l, l->row[e] + from + i, sum[i], of);
}

static void take_half(const lwi_min_norm *l, int half, int first, int end, term *of)
{
    const int at[3] = {component[l->across][half][0], component[l->across][half][1],
                       component[l->across][half][2]};
    term now = *of;
    for (int e = first; e < end; e++) {
        const int from = first_in(l, e, half), n = end_in(l, e, half) - from;
        if (n == 2) // hinges in the plane
            take_edge(l, e, from, 2, at, &now);
        else
            take_edge(l, e, from, n, at, &now);
    }
    *of = now;
}

static void take_whole(const lwi_min_norm *l, int first, int end, term *of)
{
    term now = *of;
    for (int e = first; e < end; e++) {
        const int rows = rows_of(l, e);
        double sum[LWI_EDGE_ROWS] = {0};
        for (int s = l->first[e]; s < l->first[e + 1]; s++)
            for (int i = 0; i < rows; i++) sum[i] += lwi_dot6(l->J[l->rows[s] + i], l->v[l->at[s]]);
        for (int i = 0; i < rows; i++) take_row(l, l->row[e] + i, sum[i], &now);
    }
    *of = now;
}

static void take_rows(const lwi_min_norm *l, const lwi_team *team, term *of)
{
    int first, end;
    range_of(team, l->nedge, &first, &end);
    if (l->across < 0) take_whole(l, first, end, of);
    for (int half = 0; half < 2 && l->across >= 0; half++)
        if (l->used[half]) take_half(l, half, first, end, of);
    of->largest = agree(l, team, of->largest);
}

// v -= J' lambda at a node, in one half.
static void subtract_half_wrenches(const lwi_min_norm *l, int half, int k, const double *lambda)
{
    const int *at = component[l->across][half], a = at[0], b = at[1], c = at[2];
    double *v = l->v[k], x = v[a], y = v[b], z = v[c];
    for (int n = l->first_slot[k]; n < l->first_slot[k + 1]; n++) {
        const int slot = l->slot[n], e = l->edge[slot];
        for (int i = first_in(l, e, half); i < end_in(l, e, half); i++) {
            const double *P = l->P[l->rows[slot] + i], m = lambda[l->row[e] + i];
            x -= m * P[0], y -= m * P[1], z -= m * P[2];
        }
    }
    v[a] = x, v[b] = y, v[c] = z;
}

// v := f - J' lambda
static void put_residual(lwi_min_norm *l, const lwi_team *team, const double *lambda)
{
    int first, end;
    range_of(team, l->nbody, &first, &end);
    for (int b = first; b < end; b++) {
        const int k = l->node[b];
        if (k < 0) continue;
        memcpy(l->v[k], l->given[b], sizeof *l->v);
        if (l->across < 0) add_wrenches(l, k, -1, lambda, l->v[k]);
        for (int half = 0; half < 2 && l->across >= 0; half++)
            if (l->used[half]) subtract_half_wrenches(l, half, k, lambda);
    }
}

// v := A^-1 v
static void divide_by_stiffness(lwi_min_norm *l, const lwi_team *team)
{
    if (l->across < 0) {
        lwi_block_cholesky_solve(&l->A, team, l->v);
        return;
    }
    for (int half = 0; half < 2; half++)
        if (l->used[half])
            lwi_block_cholesky_solve_half(&l->A, half, component[l->across][half], team, l->v);
}

// v := A^-1 a D v
static void next_term(lwi_min_norm *l, const lwi_team *team)
{
    int first, end;
    range_of(team, l->nnode, &first, &end);
    for (int k = first; k < end; k++)
        for (int i = 0; i < 6; i++) l->v[k][i] *= l->soft[k][i / 3];
    divide_by_stiffness(l, team);
}

// rest := J v_0.  Returns its largest entry.
static double begin_step(lwi_min_norm *l, const lwi_team *team, double *lambda)
{
    term of = {.lambda = lambda};
    put_residual(l, team, lambda);
    divide_by_stiffness(l, team);
    take_rows(l, team, &of);
    return of.largest.left;
}

// lambda += J (v_0 + ... + v_(n - 1) - n v_n).  True: what is left is small enough.
static bool add_series(lwi_min_norm *l, const lwi_team *team, double *lambda)
{
    for (int n = 1; n <= TERMS; n++) {
        term of = {.n = n, .close = l->close, .lambda = lambda};
        next_term(l, team);
        take_rows(l, team, &of);
        const found *now = &of.largest;
        if (!((n + 1) * now->left > now->enough && n * now->change > now->enough)) return true;
    }
    return false;
}

// Forces in a half, or across the plane.
static bool has_forces(const lwi_min_norm *l, int half, const lwi_team *team)
{
    const int *at = component[l->across][half];
    const double(*f)[6] = l->given;
    int b, end;
    range_of(team, l->nbody, &b, &end);
    while (b < end && !(f[b][at[0]] != 0 || f[b][at[1]] != 0 || f[b][at[2]] != 0)) b++;
    return !all_ok(l, team, b == end);
}

// Halves with forces; multipliers of others are zero.  False: numbers are not finite.
static bool choose_halves(lwi_min_norm *l, const lwi_team *team)
{
    bool all = true;
    for (int half = 0; half < 2 && l->across >= 0; half++) {
        const bool used = has_forces(l, half, team), factors = used && !l->factored[half];
        if (factors) all = factor_half(l, half, team) && all;
        lwi_team_meet(team);
        if (team->part == 0) l->used[half] = used, l->factored[half] |= factors;
    }
    lwi_team_meet(team);
    return all;
}

static void solve(lwi_min_norm *l, const lwi_team *team)
{
    double before = HUGE_VAL;
    int first, end;
    const bool finite = choose_halves(l, team);
    range_of(team, l->nedge, &first, &end);
    for (int i = l->row[first]; i < l->row[end]; i++) l->sum[i] = 0;
    lwi_team_meet(team);
    for (int step = 0; finite && step < MAX_STEPS; step++) {
        const double size = begin_step(l, team, l->sum);
        if (step >= FEW && !(size < 0.5 * before)) break;
        before = size;
        if (add_series(l, team, l->sum)) break;
    }
    for (int e = first; e < end; e++)
        for (int i = l->row[e]; i < l->row[e + 1]; i++)
            l->out[l->across < 0 ? i : l->row[e] + l->order[i]] = finite ? l->sum[i] : NAN;
}

static void find(lwi_min_norm *l, const double (*f)[6], double close, double *lambda)
{
    l->given = f;
    l->close = close;
    l->out = lambda;
    run(l, solve);
}

void lwi_min_norm_solve(lwi_min_norm *l, const double (*f)[6], double *lambda)
{
    find(l, f, CLOSE_ENOUGH, lambda);
}

void lwi_min_norm_null(lwi_min_norm *l, double *n)
{
    lwi_min_norm_wrenches(l, n, l->f);
    find(l, (const double(*)[6])l->f, NULL_ENOUGH, l->part);
    for (int i = 0; i < l->row[l->nedge]; i++) n[i] -= l->part[i];
}

// Components below the first are round-off, of large mechanisms, too (3e-11 in 25 000 four-bars); above the second they are
// changed.
#define ROUND_OFF 1e-10
#define CHANGED 1e-8

bool lwi_min_norm_mark(const double F[6], unsigned char *undetermined)
{
    bool unclear = false;
    for (int i = 0; i < 6; i++) {
        const double size = fabs(F[i]);
        if (size > CHANGED) *undetermined |= (unsigned char)(1 << i);
        unclear = unclear || (size > ROUND_OFF && !(size > CHANGED));
    }
    return unclear;
}
