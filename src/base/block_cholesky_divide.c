// block_cholesky_divide.c -- pieces of columns that threads factor side by side.
//
// Each column has a parent, the first row below its diagonal, and acts on its ancestors only.  Pieces of the first stage are
// the largest subtrees with a small part of all work.  The columns above them are cut where several subtrees meet; the
// number of such pieces on the way down is the stage.  The last stages, with little work together, are one piece.
#include "base/block_cholesky.h"

#include "base/assert.h"

#include <string.h>

/** Subtrees are not larger than such a part of the work: some for each of many threads; nor is the last piece. */
enum { SUBTREES = 48, LAST = 32 };

/** Multiplications of two blocks of 6 x 6. */
#define PRODUCT 216.0

enum { NONE = -1 };

typedef struct division {
    const lwi_block_cholesky *A;
    double *work, *below; // [n] multiplications of each column, and of its subtree
    double all;
    int *piece;  // [n] a number of the piece of each column: that of one of its columns
    int *stage;  // [n] of each column
    int *child;  // [n] the child above the subtrees if there is one, NONE: none or several
    int *level;  // [n] the highest stage of the children, plus one
    int *number; // [n] of the pieces, by these numbers
} division;

static int parent_of(const lwi_block_cholesky *A, int k)
{
    return A->first[k] < A->first[k + 1] ? A->row[A->first[k]] : NONE;
}

static void measure(division *d)
{
    const lwi_block_cholesky *A = d->A;
    for (int k = 0; k < A->n; k++) {
        const int parent = parent_of(A, k);
        d->work[k] = lwi_block_cholesky_column_work(A, k);
        d->below[k] += d->work[k];
        d->all += d->work[k];
        if (parent >= 0) d->below[parent] += d->below[k];
    }
}

static bool is_low(const division *d, int k)
{
    return d->below[k] * SUBTREES <= d->all;
}

// Subtrees by their roots, ancestors first.
static void find_subtrees(division *d)
{
    for (int k = d->A->n - 1; k >= 0; k--) {
        const int parent = parent_of(d->A, k);
        if (is_low(d, k)) d->piece[k] = parent >= 0 && is_low(d, parent) ? d->piece[parent] : k;
    }
}

// Columns above them, children first.  Returns the number of stages.
static int find_levels(division *d)
{
    int count = 1, *several = d->number; // children above the subtrees, before it has another use
    for (int k = 0; k < d->A->n; k++) {
        const int parent = parent_of(d->A, k);
        if (!is_low(d, k)) {
            const bool goes_on = several[k] == 1;
            d->piece[k] = goes_on ? d->piece[d->child[k]] : k;
            d->stage[k] = goes_on ? d->stage[d->child[k]] : d->level[k] > 1 ? d->level[k] : 1;
            if (count <= d->stage[k]) count = d->stage[k] + 1;
            if (parent >= 0) {
                several[parent]++;
                d->child[parent] = k;
                if (d->level[parent] <= d->stage[k]) d->level[parent] = d->stage[k] + 1;
            }
        }
    }
    return count;
}

// Joins the last stages.  Returns how many are left.
static int join_last(division *d, double *work, int count)
{
    double sum = 0;
    int last = count - 1;
    for (int k = 0; k < d->A->n; k++) work[d->stage[k]] += d->work[k];
    sum = work[last];
    while (last > 1 && (sum += work[last - 1]) * LAST <= d->all) last--;
    int piece = NONE;
    for (int k = 0; k < d->A->n && last < count - 1; k++) {
        if (d->stage[k] < last) continue;
        if (piece < 0) piece = k;
        d->stage[k] = last, d->piece[k] = piece;
    }
    return last + 1;
}

// Pieces by stage, in the order of the numbers that they have.
static lw_status number_pieces(division *d, int nstage, lwi_arena *arena, lwi_block_cholesky *A)
{
    A->nstage = nstage;
    A->npiece = 0;
    if (!(A->stage = LWI_PUSH(arena, int, nstage + 1))) return LW_ERR_MEMORY;
    for (int k = 0; k < A->n; k++)
        if (d->piece[k] == k) A->stage[d->stage[k] + 1]++, A->npiece++;
    for (int s = 0; s < nstage; s++) A->stage[s + 1] += A->stage[s];
    int *next = d->level; // of each stage
    for (int s = 0; s < nstage; s++) next[s] = A->stage[s];
    for (int k = 0; k < A->n; k++)
        if (d->piece[k] == k) d->number[k] = next[d->stage[k]]++;
    return LW_OK;
}

static lw_status sort_columns(division *d, lwi_arena *arena, lwi_block_cholesky *A)
{
    int *next = d->child;
    A->piece = LWI_PUSH(arena, int, A->npiece + 1);
    A->column = LWI_PUSH(arena, int, A->n);
    A->inside = LWI_PUSH(arena, int, A->n);
    A->from = LWI_PUSH(arena, int, A->n + 1);
    if (!A->piece || !A->column || !A->inside || !A->from) return LW_ERR_MEMORY;
    for (int k = 0; k < A->n; k++) A->piece[d->number[d->piece[k]] + 1]++;
    for (int u = 0; u < A->npiece; u++) A->piece[u + 1] += A->piece[u];
    memcpy(next, A->piece, (size_t)A->npiece * sizeof *next);
    for (int k = 0; k < A->n; k++) A->column[next[d->number[d->piece[k]]]++] = k;
    return LW_OK;
}

// What acts on columns of other pieces.
static lw_status find_acting(division *d, lwi_arena *arena, lwi_block_cholesky *A)
{
    int *next = d->child;
    for (int k = 0; k < A->n; k++) {
        A->inside[k] = A->first[k];
        for (int i = A->first[k]; i < A->first[k + 1]; i++)
            if (d->piece[A->row[i]] != d->piece[k]) {
                A->from[A->row[i] + 1]++;
            } else {
                LWI_ASSERT(A->inside[k] == i);
                A->inside[k]++;
            }
    }
    for (int k = 0; k < A->n; k++) A->from[k + 1] += A->from[k];
    memcpy(next, A->from, (size_t)A->n * sizeof *next);
    A->acting = lwi_arena_push(arena, (size_t)A->from[A->n], sizeof *A->acting);
    if (!A->acting) return LW_ERR_MEMORY;
    for (int k = 0; k < A->n; k++)
        for (int i = A->inside[k]; i < A->first[k + 1]; i++) {
            int *to = A->acting[next[A->row[i]]++];
            to[0] = i, to[1] = k;
        }
    return LW_OK;
}

// Multiplications of a column by what acts on it from other pieces: a product for each block from the acting one on.
static double gathered_by(const lwi_block_cholesky *A, int k)
{
    double products = 0;
    for (int i = A->from[k]; i < A->from[k + 1]; i++)
        products += A->first[A->acting[i][1] + 1] - A->acting[i][0] - 0.5;
    return PRODUCT * products;
}

// Multiplications of the rest: the column itself, and what it does to those of its piece.
static double own_of(const division *d, int k)
{
    const double outside = d->A->first[k + 1] - d->A->inside[k];
    return d->work[k] - PRODUCT * outside * outside / 2;
}

static lw_status add_up(const division *d, lwi_arena *arena, lwi_block_cholesky *A)
{
    A->work = LWI_PUSH(arena, double, A->n + 1);
    A->gathered = LWI_PUSH(arena, double, A->n + 1);
    if (!A->work || !A->gathered) return LW_ERR_MEMORY;
    for (int i = 0; i < A->n; i++) {
        A->work[i + 1] = A->work[i] + own_of(d, A->column[i]);
        A->gathered[i + 1] = A->gathered[i] + gathered_by(A, A->column[i]);
    }
    return LW_OK;
}

static lw_status divide(lwi_arena *scratch, lwi_arena *arena, lwi_block_cholesky *A)
{
    division d = {.A = A};
    double *work = LWI_PUSH(scratch, double, A->n + 1);
    d.work = LWI_PUSH(scratch, double, A->n);
    d.below = LWI_PUSH(scratch, double, A->n);
    d.piece = LWI_PUSH(scratch, int, A->n);
    d.stage = LWI_PUSH(scratch, int, A->n);
    d.child = LWI_PUSH(scratch, int, A->n);
    d.level = LWI_PUSH(scratch, int, A->n + 1);
    d.number = LWI_PUSH(scratch, int, A->n);
    if (!work || !d.work || !d.below || !d.piece || !d.stage || !d.child || !d.level || !d.number)
        return LW_ERR_MEMORY;
    measure(&d);
    find_subtrees(&d);
    const int count = find_levels(&d);
    TRY(number_pieces(&d, join_last(&d, work, count), arena, A));
    TRY(sort_columns(&d, arena, A));
    TRY(find_acting(&d, arena, A));
    return add_up(&d, arena, A);
}

lw_status lwi_block_cholesky_divide(lwi_arena *arena, lwi_block_cholesky *A)
{
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = divide(&scratch, arena, A);
    lwi_arena_free(&scratch);
    return status;
}
