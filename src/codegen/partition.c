// partition.c -- chooses independent and dependent speeds of loops, and the blocks in which rows are solved.
//
// Numbers of the rows come from their graph, evaluated at the start.  Loop by loop, the one with the fewest new
// independent speeds first, the columns with the largest pivots become dependent; columns of no other loop are
// preferred, which leaves a block for each loop.  Where a loop has more rows than it determines speeds (two loops
// determine each other), all loops that share speeds with it become one block.
//
// A run chooses another one at its configuration where a pivot has become small.  Its text has to be the same wherever it
// is chosen: lengths of columns are those near the start, and dependent speeds of a block are in ascending order.
#include "codegen/loops.h"

#include "base/linear.h"
#include "codegen/functions.h"
#include "codegen/refuse.h"
#include "kinematics/displacement.h"

#include <math.h>
#include <string.h>

// Sines of angles between columns: above, a column is a new direction (LWI_CUT_RANK of src/loops/cut.h).
#define NEW_DIRECTION 1e-5

// A column of other loops, too, is chosen where it is so many times larger than those of this loop alone; where a pivot has
// become small less if margins are below GOOD, squared.
#define SHARED 8
#define SHARED_LATER 2
#define GOOD 0.16

// Of given dependent speeds: no column is shorter near the start than this part of the mean of its block, squared.
#define SHORTEST 1e-2

typedef struct chooser {
    const lwi_elements *elements;
    lwi_loops *loops;
    lwi_arena *arena;
    lwi_codegen_graph graph;
    lwi_walk walk;
    lwi_closures closures;
    double *value;                 // of the graph
    double *A;                     // [m][nv] rows, in lengths of the mechanism
    bool *structure;               // [m][nv] not a zero
    int *shared;                   // [nv] loops with this column
    bool *known;                   // [nv] independent, or determined
    bool *taken;                   // [n] loops in blocks
    double *work, *norm;           // [nv + 1][m] columns; [nv] their lengths, -1: not known
    int *filled;                   // [m] scratch: rows that are not zero
    int *candidate, *chosen, *row; // [nv], [nv], [m]
    int nv, m;
    double time, shared_factor;
    bool ascending; // dependent speeds of a block
} chooser;

// ----------------------------------------------------------------------------------------- numbers

static void evaluate(chooser *c, const double *q, double *phi)
{
    const double *input[LWI_GRAPH_ARRAYS] = {0};
    input[c->walk.q] = q;
    if (c->walk.t >= 0) input[c->walk.t] = &c->time;
    const double length = c->elements->model->length;
    lwi_codegen_graph_evaluate(&c->graph, input, c->value);
    for (int i = 0; i < c->m; i++) {
        const double scale = lwi_closing_row_is_length(c->elements, i) ? 1 / length : 1;
        for (int j = 0; j < c->nv; j++)
            c->A[i * c->nv + j] = scale * c->value[c->closures.J[i * c->nv + j].index];
        if (phi) phi[i] = scale * c->value[c->closures.phi[i].index];
    }
}

// Chooses among the candidate columns those that are new directions, over the rows of the list.
static int choose(chooser *c, int nrow, const int *row, int n, const int *candidate, int *chosen)
{
    int count = 0, *filled = c->filled;
    double first = 0;
    for (int k = 0; k < n; k++) c->norm[k] = -1;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < nrow; i++) c->work[k * c->m + i] = c->A[row[i] * c->nv + candidate[k]];
    bool *used = c->known + c->nv; // scratch
    memset(used, 0, (size_t)c->nv * sizeof *used);
    while (count < n && count < nrow) {
        int best = -1;
        double highest = 0, largest = 0;
        for (int k = 0; k < n; k++) {
            if (used[k]) continue;
            const double *x = c->work + k * c->m;
            if (c->norm[k] < 0) {
                double sum = 0;
                for (int i = 0; i < nrow; i++) sum += x[i] * x[i];
                c->norm[k] = sqrt(sum);
            }
            const double norm = c->norm[k];
            largest = fmax(largest, norm);
            const double preference = norm / (c->shared[candidate[k]] > 1 ? c->shared_factor : 1);
            if (norm > NEW_DIRECTION * first && preference > highest)
                highest = preference, best = k;
        }
        if (count == 0) first = largest;
        if (best < 0 || largest <= NEW_DIRECTION * first) break;
        used[best] = true;
        chosen[count++] = candidate[best];
        const double *p = c->work + best * c->m;
        double pp = 0;
        int nfilled = 0; // rows of a loop have few columns, and columns few rows
        for (int i = 0; i < nrow; i++) {
            pp += p[i] * p[i];
            if (p[i] != 0) filled[nfilled++] = i;
        }
        for (int k = 0; k < n; k++) {
            if (used[k]) continue;
            double *x = c->work + k * c->m, px = 0;
            for (int i = 0; i < nfilled; i++) px += p[filled[i]] * x[filled[i]];
            if (px == 0) continue;
            for (int i = 0; i < nfilled; i++) x[filled[i]] -= px / pp * p[filled[i]];
            c->norm[k] = -1;
        }
    }
    return count;
}

static int rank_of_all(chooser *c)
{
    for (int i = 0; i < c->m; i++) c->row[i] = i;
    for (int j = 0; j < c->nv; j++) c->candidate[j] = j;
    return choose(c, c->m, c->row, c->nv, c->candidate, c->chosen);
}

// ------------------------------------------------------------------------------------------ blocks

static int columns_of(const chooser *c, int nrow, const int *row, bool unknown_only, int *list)
{
    int n = 0;
    for (int j = 0; j < c->nv; j++) {
        bool here = false;
        for (int i = 0; i < nrow; i++) here |= c->structure[row[i] * c->nv + j];
        if (here && !(unknown_only && c->known[j])) list[n++] = j;
    }
    return n;
}

static double squared_length(const chooser *c, int nrow, const int *row, int j)
{
    double sum = 0;
    for (int i = 0; i < nrow; i++) {
        const double x = c->value[c->closures.J[row[i] * c->nv + j].index];
        sum += x * x;
    }
    return sum;
}

static void sort(int n, int *list)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && list[k - 1] > list[k]; k--) {
            const int x = list[k];
            list[k] = list[k - 1], list[k - 1] = x;
        }
}

// A block of these rows.  y [ny]: its dependent speeds; NULL: they are chosen.
static lw_status commit(chooser *c, int nrow, const int *row, int ny, const int *y)
{
    lwi_loops *l = c->loops;
    lwi_loop_block *b = &l->block[l->nblock];
    b->row = LWI_PUSH(c->arena, int, nrow);
    b->y = LWI_PUSH(c->arena, int, c->nv);
    b->z = LWI_PUSH(c->arena, int, c->nv);
    if (!b->row || !b->y || !b->z) return LW_ERR_MEMORY;
    memcpy(b->row, row, (size_t)nrow * sizeof *row);
    b->nrow = nrow;
    if (y) {
        b->ny = ny;
        memcpy(b->y, y, (size_t)ny * sizeof *y);
    } else {
        const int n = columns_of(c, nrow, row, true, c->candidate);
        b->ny = choose(c, nrow, row, n, c->candidate, b->y);
    }
    if (c->ascending) sort(b->ny, b->y);
    for (int k = 0; k < b->ny; k++) {
        l->dependent[b->y[k]] = true;
        l->norm2[b->y[k]] = squared_length(c, nrow, row, b->y[k]);
    }
    const int all = columns_of(c, nrow, row, false, c->candidate);
    b->nz = 0;
    for (int k = 0; k < all; k++) {
        const int j = c->candidate[k];
        const bool own = !c->known[j] && l->dependent[j];
        if (!own) b->z[b->nz++] = j;
        c->known[j] = true;
    }
    l->nblock++;
    return LW_OK;
}

static int rows_of(const chooser *c, int loop, int *row)
{
    int n = 0;
    for (int i = c->loops->first[loop]; i < c->loops->first[loop + 1]; i++) row[n++] = i;
    return n;
}

// The loop with the fewest new independent speeds; -1: all determine speeds that are known.
static int next_loop(chooser *c)
{
    int best = -1, fewest = 0;
    for (int k = 0; k < c->loops->n; k++) {
        if (c->taken[k]) continue;
        const int nrow = rows_of(c, k, c->row);
        const int all = columns_of(c, nrow, c->row, false, c->candidate);
        const int whole = choose(c, nrow, c->row, all, c->candidate, c->chosen);
        const int n = columns_of(c, nrow, c->row, true, c->candidate);
        const int rank = choose(c, nrow, c->row, n, c->candidate, c->chosen);
        if (rank < whole) continue;
        const int score = (n - rank) * (c->nv + 1) + n;
        if (best < 0 || score < fewest) best = k, fewest = score;
    }
    return best;
}

// All loops that share speeds with a loop that is left over, as one block in place of theirs.
static lw_status merge(chooser *c)
{
    lwi_loops *l = c->loops;
    int *member = LWI_PUSH(c->arena, int, l->n), nrow = 0, left = 0;
    int *rows = LWI_PUSH(c->arena, int, c->m);
    bool *column = LWI_PUSH(c->arena, bool, c->nv), grown = true;
    if (!member || !rows || !column) return LW_ERR_MEMORY;
    while (c->taken[left]) left++;
    memset(member, 0, (size_t)l->n * sizeof *member);
    memset(column, 0, (size_t)c->nv * sizeof *column);
    member[left] = 1;
    while (grown) {
        grown = false;
        for (int k = 0; k < l->n; k++) {
            bool touches = member[k];
            for (int i = l->first[k]; i < l->first[k + 1]; i++)
                for (int j = 0; j < c->nv; j++) touches |= column[j] && c->structure[i * c->nv + j];
            if (!touches) continue;
            grown |= !member[k];
            member[k] = 1;
            for (int i = l->first[k]; i < l->first[k + 1]; i++)
                for (int j = 0; j < c->nv; j++) {
                    const bool is = c->structure[i * c->nv + j];
                    grown |= is && !column[j];
                    column[j] |= is;
                }
        }
    }
    int kept = 0;
    for (int b = 0; b < l->nblock; b++) // blocks of these loops
        if (!column[l->block[b].y[0]]) l->block[kept++] = l->block[b];
    l->nblock = kept;
    for (int j = 0; j < c->nv; j++)
        if (column[j]) c->known[j] = l->dependent[j] = false;
    for (int k = 0; k < l->n; k++) {
        if (!member[k]) continue;
        c->taken[k] = true;
        for (int i = l->first[k]; i < l->first[k + 1]; i++) rows[nrow++] = i;
    }
    return commit(c, nrow, rows, 0, NULL);
}

static lw_status choose_blocks(chooser *c)
{
    lwi_loops *l = c->loops;
    for (int left = l->n; left > 0;) {
        const int k = next_loop(c);
        if (k < 0) {
            TRY(merge(c));
        } else {
            c->taken[k] = true;
            const int nrow = rows_of(c, k, c->row);
            int *row = LWI_PUSH(c->arena, int, nrow);
            if (!row) return LW_ERR_MEMORY;
            memcpy(row, c->row, (size_t)nrow * sizeof *row);
            TRY(commit(c, nrow, row, 0, NULL));
            if (l->block[l->nblock - 1].ny == 0) l->nblock--; // nothing that moves
        }
        left = 0;
        for (int i = 0; i < l->n; i++) left += !c->taken[i];
    }
    return LW_OK;
}

// The blocks of given numbers.  Where their columns are short at the start, their pivots are compared with longer ones.
static lw_status take_blocks(chooser *c, const lwi_partition *given)
{
    lwi_loops *l = c->loops;
    for (const int *at = given->code, *end = at + given->n; at < end;) {
        const int nrow = at[0], *row = at + 1, ny = row[nrow], *y = row + nrow + 1;
        TRY(commit(c, nrow, row, ny, y));
        const lwi_loop_block *b = &l->block[l->nblock - 1];
        double sum = 0;
        for (int k = 0; k < b->ny; k++) sum += squared_length(c, nrow, row, b->y[k]);
        for (int k = 0; k < b->nz; k++) sum += squared_length(c, nrow, row, b->z[k]);
        for (int k = 0; k < b->ny; k++)
            l->norm2[b->y[k]] = fmax(l->norm2[b->y[k]], SHORTEST * sum / (b->ny + b->nz));
        at = y + ny;
    }
    return LW_OK;
}

static lw_status put_blocks(const lwi_loops *l, lwi_arena *arena, lwi_partition *out)
{
    int n = 0;
    for (int k = 0; k < l->nblock; k++) n += 2 + l->block[k].nrow + l->block[k].ny;
    *out = (lwi_partition){.code = LWI_PUSH(arena, int, n)};
    if (!out->code) return LW_ERR_MEMORY;
    for (int k = 0; k < l->nblock; k++) {
        const lwi_loop_block *b = &l->block[k];
        out->code[out->n++] = b->nrow;
        for (int i = 0; i < b->nrow; i++) out->code[out->n++] = b->row[i];
        out->code[out->n++] = b->ny;
        for (int i = 0; i < b->ny; i++) out->code[out->n++] = b->y[i];
    }
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- tops

static int common(const lwi_elements *e, int a, int b)
{
    while (a != b) {
        if (a > b)
            a = e->list[a].parent;
        else
            b = e->list[b].parent;
    }
    return a;
}

static int parent_of(const lwi_elements *e, int iv)
{
    return e->list[lwi_element_of_speed(e, iv)].parent;
}

const char *lwi_block_name(const lwi_elements *e, const lwi_loop_block *block)
{
    int k = 0;
    while (block->row[0] >= e->loops->first[k + 1]) k++;
    return e->model->joint[lwi_closing_joint(e, k)].name;
}

static bool reads(const lwi_loop_block *later, const lwi_loop_block *b)
{
    for (int i = 0; i < later->nz; i++)
        for (int k = 0; k < b->ny; k++)
            if (later->z[i] == b->y[k]) return true;
    return false;
}

// A block's speeds are all on its top; those of blocks that read its dependent speeds are there or beyond.
static void set_tops(const lwi_elements *e)
{
    lwi_loops *l = e->loops;
    for (int b = l->nblock - 1; b >= 0; b--) {
        lwi_loop_block *block = &l->block[b];
        block->top = parent_of(e, block->y[0]);
        for (int k = 0; k < block->ny; k++)
            block->top = common(e, block->top, parent_of(e, block->y[k]));
        for (int k = 0; k < block->nz; k++)
            block->top = common(e, block->top, parent_of(e, block->z[k]));
        for (int later = b + 1; later < l->nblock; later++)
            if (reads(&l->block[later], block))
                block->top = common(e, block->top, l->block[later].top);
    }
}

// ----------------------------------------------------------------------------------- configurations

// Closes the loops near q by Newton's method, minimum norm; false: it does not.
static bool close_near(chooser *c, double *q, double *phi, double *room, int *pivot, double *step)
{
    lwi_cod cod;
    for (int k = 0; k < 30; k++) {
        double largest = 0;
        evaluate(c, q, phi);
        for (int i = 0; i < c->m; i++) largest = fmax(largest, fabs(phi[i]));
        if (largest < 1e-12) return true;
        if (!(largest < 1)) return false;
        double *a = room, *rest = room + c->m * c->nv;
        for (int j = 0; j < c->nv; j++)
            for (int i = 0; i < c->m; i++) a[j * c->m + i] = c->A[i * c->nv + j];
        lwi_cod_init(&cod, c->m, c->nv, a, rest, pivot);
        lwi_cod_factor(&cod, -1, NEW_DIRECTION);
        lwi_cod_solve(&cod, phi, step);
        for (int j = 0; j < c->nv; j++) step[j] = -step[j];
        lwi_displace(c->elements->model, step, q);
    }
    return false;
}

// Numbers in -1..1, the same in every run.
static double number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / (double)(1ull << 52) - 1;
}

// The start; or a closed configuration near it where more rows are independent there.
static lw_status take_configuration(chooser *c)
{
    const lw_model *m = c->elements->model;
    const int columns = c->m + c->nv;
    double *q = LWI_PUSH(c->arena, double, m->tree_nq), *step = LWI_PUSH(c->arena, double, c->nv);
    double *phi = LWI_PUSH(c->arena, double, columns),
           *best = LWI_PUSH(c->arena, double, m->tree_nq);
    double *room =
        LWI_PUSH(c->arena, double, (size_t)c->m *(size_t)c->nv + lwi_cod_doubles(c->m, c->nv));
    int *pivot = LWI_PUSH(c->arena, int, c->nv);
    uint64_t seed = 1;
    if (!q || !step || !phi || !best || !room || !pivot) return LW_ERR_MEMORY;
    memcpy(best, m->tree_q0, (size_t)m->tree_nq * sizeof *best);
    evaluate(c, best, NULL);
    int highest = rank_of_all(c);
    for (int k = 0; k < 3; k++) {
        memcpy(q, m->tree_q0, (size_t)m->tree_nq * sizeof *q);
        for (int j = 0; j < c->nv; j++) step[j] = 0.02 * number(&seed);
        lwi_displace(m, step, q);
        if (!close_near(c, q, phi, room, pivot, step)) continue;
        evaluate(c, q, NULL);
        const int rank = rank_of_all(c);
        if (rank <= highest) continue;
        highest = rank;
        memcpy(best, q, (size_t)m->tree_nq * sizeof *best);
    }
    evaluate(c, best, NULL);
    c->loops->ndependent = highest;
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- call

static lw_status make_room(chooser *c)
{
    lwi_loops *l = c->loops;
    const size_t nv = (size_t)c->nv, m = (size_t)c->m;
    c->A = LWI_PUSH(c->arena, double, m *nv);
    c->structure = LWI_PUSH(c->arena, bool, m *nv);
    c->shared = LWI_PUSH(c->arena, int, nv);
    c->known = LWI_PUSH(c->arena, bool, 2 * nv);
    c->taken = LWI_PUSH(c->arena, bool, l->n);
    c->work = LWI_PUSH(c->arena, double, (nv + 1) * m);
    c->norm = LWI_PUSH(c->arena, double, nv);
    c->filled = LWI_PUSH(c->arena, int, m);
    c->candidate = LWI_PUSH(c->arena, int, nv);
    c->chosen = LWI_PUSH(c->arena, int, nv);
    c->row = LWI_PUSH(c->arena, int, m);
    l->block = LWI_PUSH(c->arena, lwi_loop_block, l->n + 1);
    l->dependent = LWI_PUSH(c->arena, bool, nv);
    l->norm2 = LWI_PUSH(c->arena, double, nv);
    if (!c->A || !c->structure || !c->shared || !c->known || !c->taken || !c->work || !c->norm ||
        !c->filled || !c->candidate || !c->chosen || !c->row || !l->block || !l->dependent ||
        !l->norm2)
        return LW_ERR_MEMORY;
    memset(c->known, 0, 2 * nv * sizeof *c->known);
    memset(c->taken, 0, (size_t)l->n * sizeof *c->taken);
    memset(c->shared, 0, nv * sizeof *c->shared);
    memset(l->dependent, 0, nv * sizeof *l->dependent);
    return LW_OK;
}

static void read_structure(chooser *c)
{
    for (int k = 0; k < c->loops->n; k++)
        for (int j = 0; j < c->nv; j++) {
            bool here = false;
            for (int i = c->loops->first[k]; i < c->loops->first[k + 1]; i++) {
                double x;
                const val J = c->closures.J[i * c->nv + j];
                const bool is = !lwi_codegen_graph_known(&c->graph, J, &x) || x != 0;
                c->structure[i * c->nv + j] = is;
                here |= is;
            }
            c->shared[j] += here;
        }
}

static lw_status read_rows(chooser *c)
{
    TRY(lwi_walk_begin(&c->graph, c->elements, 0, c->arena, &c->walk));
    TRY(lwi_closures_create(&c->walk, c->arena, &c->closures));
    c->value = LWI_PUSH(c->arena, double, c->graph.nvertex);
    if (!c->value) return LW_ERR_MEMORY;
    TRY(make_room(c));
    read_structure(c);
    return take_configuration(c);
}

static lw_status check_blocks(const chooser *c, lw_error *error)
{
    const lwi_loops *l = c->loops;
    int n = 0;
    for (int b = 0; b < l->nblock; b++) n += l->block[b].ny;
    if (n != l->ndependent) {
        const lw_model *m = c->elements->model;
        const int joint = lwi_closing_joint(c->elements, 0);
        return lwi_refuse(m, lwi_joint_place(m, joint), error,
                          "no fixed set of dependent speeds is found for the loop of joint '%s'%s: "
                          "%d of %d",
                          m->joint[joint].name, l->n > 1 ? " and the others" : "", n,
                          l->ndependent);
    }
    return LW_OK;
}

static chooser begin(const lwi_elements *elements, lwi_arena *arena)
{
    return (chooser){.elements = elements,
                     .loops = elements->loops,
                     .arena = arena,
                     .nv = elements->model->tree_nv,
                     .m = elements->loops->m,
                     .shared_factor = SHARED};
}

lw_status lwi_partition_create(const lwi_elements *elements, const lwi_partition *given,
                               const lw_allocator *allocator, lwi_arena *arena, lw_error *error)
{
    chooser c = begin(elements, arena);
    lwi_codegen_graph_init(&c.graph, allocator);
    lw_status status = read_rows(&c);
    if (status == LW_OK) status = given ? take_blocks(&c, given) : choose_blocks(&c);
    lwi_codegen_graph_free(&c.graph);
    TRY(status);
    TRY(check_blocks(&c, error));
    set_tops(elements);
    return LW_OK;
}

// The smallest margin at a configuration, by the expressions of the generated function.
static lw_status smallest_margin(const lwi_elements *elements, double t, const double *q,
                                 lwi_arena *arena, lwi_codegen_graph *g, double *margin)
{
    const double *input[LWI_GRAPH_ARRAYS] = {0};
    TRY(lwi_generate_margins(g, elements, arena, NULL));
    double *value = LWI_PUSH(arena, double, g->nvertex);
    if (!value || g->failed) return LW_ERR_MEMORY;
    input[0] = elements->timed ? &t : q; // the arrays of a function of positions
    if (elements->timed) input[1] = q;
    lwi_codegen_graph_evaluate(g, input, value);
    *margin = 1;
    for (int i = 0; i < g->noutput; i++) {
        const double x = value[g->output[i].value.index];
        *margin = x > 0 ? fmin(*margin, x) : 0;
        if (!(x > 0)) break;
    }
    return LW_OK;
}

static lw_status choose_at(chooser *c, double t, const double *q, double shared_factor,
                           lw_error *error)
{
    TRY(read_rows(c));
    c->time = t;
    c->shared_factor = shared_factor;
    c->ascending = true;
    evaluate(c, q, NULL);
    TRY(choose_blocks(c));
    return check_blocks(c, error);
}

static lw_status partition_at(const lw_model *model, double t, const double *q, double shared,
                              lwi_arena *arena, lwi_partition *partition, double *margin,
                              lw_error *error)
{
    lwi_elements elements;
    lwi_codegen_graph graph;
    TRY(lwi_elements_read(model, arena, &elements, error));
    if (!elements.loops)
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "the model has no closed loops");
    chooser c = begin(&elements, arena);
    lwi_codegen_graph_init(&c.graph, &arena->allocator);
    lw_status status = choose_at(&c, t, q, shared, error);
    lwi_codegen_graph_free(&c.graph);
    TRY(status);
    TRY(put_blocks(c.loops, arena, partition));
    lwi_codegen_graph_init(&graph, &arena->allocator);
    status = smallest_margin(&elements, t, q, arena, &graph, margin);
    lwi_codegen_graph_free(&graph);
    return status;
}

lw_status lwi_codegen_partition_at(const lw_model *model, double t, const double *q,
                                   lwi_arena *arena, lwi_partition *partition, double *margin,
                                   lw_error *error)
{
    lwi_partition other;
    double its;
    TRY(partition_at(model, t, q, SHARED, arena, partition, margin, error));
    if (*margin >= GOOD) return LW_OK;
    TRY(partition_at(model, t, q, SHARED_LATER, arena, &other, &its, error));
    if (its > *margin) *partition = other, *margin = its;
    return LW_OK;
}
