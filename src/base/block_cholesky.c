// block_cholesky.c -- by columns, each of which is subtracted from those that it acts on as soon as it is known.
//
// The rows of column k are those of A, and of every column with k as its first row below the diagonal, but k itself.  So the
// rows of a column are among those of each column that it acts on.
//
// Of a divided matrix a column acts at once on those of the same piece only.  What it does to others they take over at the
// beginning of their stage.
#include "base/block_cholesky.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 6, HALF = 3 };

// The size is a constant in each place that calls them.
#define INLINED static inline __attribute__((always_inline))

// ------------------------------------------------------------------------------------------ create

typedef struct pattern {
    int *start, *in;   // rows of A of column k: in[start[k]] ... in[start[k + 1] - 1]
    int **row, *count; // [n] rows of each column
    int *child,
        *next; // [n] columns by their first row: child[k], next[child[k]] ...; plus one, 0: none
    int *mark, *found, nfound; // [n] k + 1: found for column k
    lwi_arena arena;
} pattern;

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

// Columns have few blocks, as a rule.
static void sort(int *list, int n)
{
    enum { FEW = 16 };
    if (n > FEW) {
        qsort(list, (size_t)n, sizeof *list, compare);
        return;
    }
    for (int i = 1; i < n; i++) {
        const int item = list[i];
        int k = i;
        for (; k > 0 && list[k - 1] > item; k--) list[k] = list[k - 1];
        list[k] = item;
    }
}

static void find(pattern *p, int k, int n, const int *row)
{
    for (int i = 0; i < n; i++) {
        if (row[i] <= k || p->mark[row[i]] == k + 1) continue;
        p->mark[row[i]] = k + 1;
        p->found[p->nfound++] = row[i];
    }
}

static lw_status find_rows(pattern *p, int k)
{
    p->nfound = 0;
    find(p, k, p->start[k + 1] - p->start[k], p->in + p->start[k]);
    for (int c = p->child[k]; c; c = p->next[c - 1]) find(p, k, p->count[c - 1], p->row[c - 1]);
    sort(p->found, p->nfound);
    p->count[k] = p->nfound;
    if (!(p->row[k] = LWI_PUSH(&p->arena, int, p->nfound))) return LW_ERR_MEMORY;
    if (p->nfound == 0) return LW_OK;
    memcpy(p->row[k], p->found, (size_t)p->nfound * sizeof *p->found);
    p->next[k] = p->child[p->found[0]];
    p->child[p->found[0]] = k + 1;
    return LW_OK;
}

static lw_status sort_pairs(pattern *p, int n, int npair, const int (*pair)[2])
{
    int *fill = LWI_PUSH(&p->arena, int, n);
    p->start = LWI_PUSH(&p->arena, int, n + 1);
    p->in = LWI_PUSH(&p->arena, int, npair);
    if (!fill || !p->start || !p->in) return LW_ERR_MEMORY;
    for (int i = 0; i < npair; i++) p->start[pair[i][1] + 1]++;
    for (int k = 0; k < n; k++) p->start[k + 1] += p->start[k];
    for (int i = 0; i < npair; i++) p->in[p->start[pair[i][1]] + fill[pair[i][1]]++] = pair[i][0];
    return LW_OK;
}

static lw_status find_pattern(pattern *p, int n, int npair, const int (*pair)[2])
{
    TRY(sort_pairs(p, n, npair, pair));
    p->row = LWI_PUSH(&p->arena, int *, n);
    p->count = LWI_PUSH(&p->arena, int, n);
    p->child = LWI_PUSH(&p->arena, int, n);
    p->next = LWI_PUSH(&p->arena, int, n);
    p->mark = LWI_PUSH(&p->arena, int, n);
    p->found = LWI_PUSH(&p->arena, int, n);
    if (!p->row || !p->count || !p->child || !p->next || !p->mark || !p->found)
        return LW_ERR_MEMORY;
    for (int k = 0; k < n; k++) TRY(find_rows(p, k));
    return LW_OK;
}

static lw_status store(const pattern *p, int n, lwi_arena *arena, lwi_block_cholesky *A)
{
    A->n = n;
    if (!(A->first = LWI_PUSH(arena, int, n + 1))) return LW_ERR_MEMORY;
    for (int k = 0; k < n; k++) A->first[k + 1] = A->first[k] + p->count[k];
    A->row = LWI_PUSH(arena, int, A->first[n]);
    A->below = lwi_arena_push(arena, (size_t)A->first[n], sizeof *A->below);
    A->diagonal = lwi_arena_push(arena, (size_t)n, sizeof *A->diagonal);
    if (!A->row || !A->below || !A->diagonal) return LW_ERR_MEMORY;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < p->count[k]; i++) A->row[A->first[k] + i] = p->row[k][i];
    return LW_OK;
}

// One piece.
static lw_status do_not_divide(lwi_arena *arena, lwi_block_cholesky *A)
{
    A->npiece = A->nstage = 1;
    A->stage = LWI_PUSH(arena, int, 2);
    A->piece = LWI_PUSH(arena, int, 2);
    A->column = LWI_PUSH(arena, int, A->n);
    if (!A->stage || !A->piece || !A->column) return LW_ERR_MEMORY;
    A->stage[1] = 1, A->piece[1] = A->n;
    for (int k = 0; k < A->n; k++) A->column[k] = k;
    A->inside = A->first + 1;
    return LW_OK;
}

lw_status lwi_block_cholesky_create(int n, int npair, const int (*pair)[2], lwi_arena *arena,
                                    lwi_block_cholesky *A)
{
    pattern p = {0};
    lwi_arena_init(&p.arena, &arena->allocator);
    lw_status status = find_pattern(&p, n, npair, pair);
    *A = (lwi_block_cholesky){0};
    if (status == LW_OK) status = store(&p, n, arena, A);
    if (status == LW_OK) status = do_not_divide(arena, A);
    lwi_arena_free(&p.arena);
    return status;
}

int lwi_block_cholesky_find(const lwi_block_cholesky *A, int row, int column)
{
    const int first = A->first[column], n = A->first[column + 1] - first;
    const int *at = bsearch(&row, A->row + first, (size_t)n, sizeof row, compare);
    LWI_ASSERT(at);
    return (int)(at - A->row);
}

void lwi_block_cholesky_clear(lwi_block_cholesky *A)
{
    if (A->first[A->n]) memset(A->below, 0, (size_t)A->first[A->n] * sizeof *A->below);
    if (A->n) memset(A->diagonal, 0, (size_t)A->n * sizeof *A->diagonal);
}

double lwi_block_cholesky_column_work(const lwi_block_cholesky *A, int column)
{
    const double n = SIZE * (A->first[column + 1] - A->first[column]);
    return SIZE * SIZE * SIZE / 6 + n * SIZE * SIZE / 2 + n * n * SIZE / 2;
}

double lwi_block_cholesky_work(const lwi_block_cholesky *A)
{
    double work = 0;
    for (int k = 0; k < A->n; k++) work += lwi_block_cholesky_column_work(A, k);
    return work;
}

// ------------------------------------------------------------------------------------------ factor

// y -= s x
INLINED void subtract(int n, double *restrict y, double s, const double *restrict x)
{
    for (int r = 0; r < n; r++) y[r] -= s * x[r];
}

// L of a diagonal block of n x n, by columns; reciprocals on the diagonal.
INLINED bool factor_columns(int n, double *a)
{
    for (int c = 0; c < n; c++) {
        double *column = a + n * c;
        for (int m = 0; m < c; m++) subtract(n, column, a[n * m + c], a + n * m);
        if (!(column[c] > 0 && column[c] < INFINITY)) return false;
        const double scale = 1 / sqrt(column[c]);
        for (int r = 0; r < n; r++) column[r] *= scale;
        column[c] = scale;
        for (int r = 0; r < c; r++) column[r] = 0; // columns are subtracted whole
    }
    return true;
}

// X := X L'^-1
INLINED void divide_columns(int n, double *x, const double *l)
{
    for (int c = 0; c < n; c++) {
        double *column = x + n * c;
        for (int m = 0; m < c; m++) subtract(n, column, l[n * m + c], x + n * m);
        for (int r = 0; r < n; r++) column[r] *= l[n * c + c];
    }
}

static bool factor_diagonal(double a[36])
{
    return factor_columns(SIZE, a);
}

static void divide(double x[36], const double l[36])
{
    divide_columns(SIZE, x, l);
}

// z -= X y, with the entries of y `step` apart, rows from `from` on, which is even.
static inline void subtract_columns(double z[SIZE], const double x[36], const double *y, int step,
                                    int from)
{
    lwi_pair sum[3];
    for (int k = from / 2; k < 3; k++) sum[k] = lwi_pair_load(z + 2 * k);
    for (int m = 0; m < SIZE; m++)
        for (int k = from / 2; k < 3; k++)
            sum[k] -= y[step * m] * lwi_pair_load(x + SIZE * m + 2 * k);
    memcpy(z + from, sum + from / 2, (size_t)(SIZE - from) * sizeof *z);
}

// Z -= X Y'
static void subtract_product(double z[36], const double x[36], const double y[36])
{
    for (int c = 0; c < SIZE; c++) subtract_columns(z + SIZE * c, x, y + c, SIZE, 0);
}

// The lower triangle of Z -= X X'; of what is above it only parts.
static void subtract_square(double z[36], const double x[36])
{
    for (int c = 0; c < 2; c++) subtract_columns(z + SIZE * c, x, x + c, SIZE, 0);
    for (int c = 2; c < 4; c++) subtract_columns(z + SIZE * c, x, x + c, SIZE, 2);
    for (int c = 4; c < 6; c++) subtract_columns(z + SIZE * c, x, x + c, SIZE, 4);
}

// Block i of a column on the diagonal of its row, and with each one below it on the block of both rows.
static void subtract_block(lwi_block_cholesky *A, int i, int end)
{
    const int column = A->row[i];
    int at = A->first[column];
    subtract_square(A->diagonal[column], A->below[i]);
    for (int k = i + 1; k < end; k++, at++) {
        while (A->row[at] != A->row[k]) at++;
        subtract_product(A->below[at], A->below[k], A->below[i]);
    }
}

// Pieces of a stage, or places in `column`, of one part of a team.
typedef struct span {
    int first, end;
} span;

// The first item from `first` on with its middle behind `sum`; all [n + 1] at the beginning of each.
static int behind(const double *all, const int *at, span items, double sum)
{
    while (items.first < items.end) {
        const int middle = items.first + (items.end - items.first) / 2;
        const double begin = all[at ? at[middle] : middle],
                     end = all[at ? at[middle + 1] : middle + 1];
        if (begin + end < 2 * sum)
            items.first = middle + 1;
        else
            items.end = middle;
    }
    return items.first;
}

// Equal parts of the work of the items.
static span part_of(const double *all, const int *at, span items, const lwi_team *team)
{
    if (team->parts == 1) return items;
    const double begin = all[at ? at[items.first] : items.first];
    const double each = (all[at ? at[items.end] : items.end] - begin) / team->parts;
    const int first = behind(all, at, items, begin + each * team->part);
    const bool last = team->part == team->parts - 1;
    return (span){first,
                  last ? items.end : behind(all, at, items, begin + each * (team->part + 1))};
}

static span pieces_of(const lwi_block_cholesky *A, int stage, const lwi_team *team)
{
    const span all = {A->stage[stage], A->stage[stage + 1]};
    if (A->work) return part_of(A->work, A->piece, all, team);
    return team->part ? (span){0, 0} : all;
}

// Places of the columns of a stage; there are none in the first.
static span columns_of(const lwi_block_cholesky *A, int stage, const lwi_team *team)
{
    const span all = {A->piece[A->stage[stage]], A->piece[A->stage[stage + 1]]};
    return part_of(A->gathered, NULL, all, team);
}

double lwi_block_cholesky_share(const lwi_block_cholesky *A, const lwi_team *team)
{
    double sum = 0;
    if (!A->work) return team->part ? 0 : lwi_block_cholesky_work(A);
    for (int s = 0; s < A->nstage; s++) {
        const span u = pieces_of(A, s, team), c = columns_of(A, s, team);
        sum += A->work[A->piece[u.end]] - A->work[A->piece[u.first]];
        sum += A->gathered[c.end] - A->gathered[c.first];
    }
    return sum;
}

static bool factor_column(lwi_block_cholesky *A, int k)
{
    const int begin = A->first[k], end = A->first[k + 1];
    const bool positive = factor_diagonal(A->diagonal[k]);
    for (int i = begin; i < end && positive; i++) divide(A->below[i], A->diagonal[k]);
    for (int i = begin; i < A->inside[k] && positive; i++) subtract_block(A, i, end);
    return positive;
}

bool lwi_block_cholesky_factor(lwi_block_cholesky *A, const lwi_team *team)
{
    bool positive = true;
    for (int s = 0; s < A->nstage; s++) {
        lwi_team_meet(team);
        for (span c = s ? columns_of(A, s, team) : (span){0}; c.first < c.end; c.first++)
            for (int i = A->from[A->column[c.first]]; i < A->from[A->column[c.first] + 1]; i++)
                subtract_block(A, A->acting[i][0], A->first[A->acting[i][1] + 1]);
        if (s) lwi_team_meet(team);
        const span u = pieces_of(A, s, team);
        for (int i = A->piece[u.first]; i < A->piece[u.end]; i++)
            positive = factor_column(A, A->column[i]) && positive;
    }
    lwi_team_meet(team);
    return positive;
}

// ------------------------------------------------------------------------------------------- solve

// y := L^-1 y,  and  y := L'^-1 y
static void lower(const double l[36], double y[6])
{
    for (int c = 0; c < SIZE; c++) {
        y[c] *= l[SIZE * c + c];
        for (int r = c + 1; r < SIZE; r++) y[r] -= l[SIZE * c + r] * y[c];
    }
}

static void upper(const double l[36], double y[6])
{
    for (int c = SIZE - 1; c >= 0; c--) {
        for (int r = c + 1; r < SIZE; r++) y[c] -= l[SIZE * c + r] * y[r];
        y[c] *= l[SIZE * c + c];
    }
}

static void solve_lower(const lwi_block_cholesky *A, int k, double (*x)[6])
{
    lower(A->diagonal[k], x[k]);
    for (int i = A->first[k]; i < A->inside[k]; i++)
        subtract_columns(x[A->row[i]], A->below[i], x[k], 1, 0);
}

static void solve_upper(const lwi_block_cholesky *A, int k, double (*x)[6])
{
    for (int i = A->first[k]; i < A->first[k + 1]; i++)
        for (int c = 0; c < SIZE; c++) x[k][c] -= lwi_dot6(A->below[i] + SIZE * c, x[A->row[i]]);
    upper(A->diagonal[k], x[k]);
}

void lwi_block_cholesky_solve(const lwi_block_cholesky *A, const lwi_team *team, double (*x)[6])
{
    for (int s = 0; s < A->nstage; s++) {
        lwi_team_meet(team);
        for (span c = s ? columns_of(A, s, team) : (span){0}; c.first < c.end; c.first++) {
            const int k = A->column[c.first];
            for (int i = A->from[k]; i < A->from[k + 1]; i++)
                subtract_columns(x[k], A->below[A->acting[i][0]], x[A->acting[i][1]], 1, 0);
        }
        if (s) lwi_team_meet(team);
        const span u = pieces_of(A, s, team);
        for (int i = A->piece[u.first]; i < A->piece[u.end]; i++) solve_lower(A, A->column[i], x);
    }
    for (int s = A->nstage - 1; s >= 0; s--) {
        lwi_team_meet(team);
        const span u = pieces_of(A, s, team);
        for (int i = A->piece[u.end] - 1; i >= A->piece[u.first]; i--)
            solve_upper(A, A->column[i], x);
    }
    lwi_team_meet(team);
}

// ------------------------------------------------------------------------------------------ halves

// The same operations in the same order, without those on zeros.

static bool factor_half_diagonal(double a[9])
{
    return factor_columns(HALF, a);
}

static void divide_half(double x[9], const double l[9])
{
    divide_columns(HALF, x, l);
}

// Z -= X Y', the nine numbers of Z in pairs.
static void subtract_half_product(double *restrict z, const double x[9], const double y[9])
{
    lwi_pair sum[4];
    double last = z[8];
    for (int k = 0; k < 4; k++) sum[k] = lwi_pair_load(z + 2 * k);
    for (int m = 0; m < HALF; m++, x += HALF, y += HALF) {
        const lwi_pair begin = lwi_pair_load(x), end = lwi_pair_load(x + 1);
        sum[0] -= y[0] * begin;
        sum[1] -= (lwi_pair){y[0] * end[1], y[1] * begin[0]};
        sum[2] -= y[1] * end;
        sum[3] -= y[2] * begin;
        last -= y[2] * x[2];
    }
    for (int k = 0; k < 4; k++) lwi_pair_store(z + 2 * k, sum[k]);
    z[8] = last;
}

static void subtract_half_block(lwi_block_cholesky *A, int half, int i, int end)
{
    const int column = A->row[i], first = 9 * half;
    int at = A->first[column];
    subtract_half_product(A->diagonal[column] + first, A->below[i] + first, A->below[i] + first);
    for (int k = i + 1; k < end; k++, at++) {
        while (A->row[at] != A->row[k]) at++;
        subtract_half_product(A->below[at] + first, A->below[k] + first, A->below[i] + first);
    }
}

static bool factor_half_column(lwi_block_cholesky *A, int half, int k)
{
    const int first = 9 * half, begin = A->first[k], end = A->first[k + 1];
    const bool positive = factor_half_diagonal(A->diagonal[k] + first);
    for (int i = begin; i < end && positive; i++)
        divide_half(A->below[i] + first, A->diagonal[k] + first);
    for (int i = begin; i < A->inside[k] && positive; i++) subtract_half_block(A, half, i, end);
    return positive;
}

bool lwi_block_cholesky_factor_half(lwi_block_cholesky *A, int half, const lwi_team *team)
{
    bool positive = true;
    LWI_ASSERT(half == 0 || half == 1);
    for (int s = 0; s < A->nstage; s++) {
        lwi_team_meet(team);
        for (span c = s ? columns_of(A, s, team) : (span){0}; c.first < c.end; c.first++)
            for (int i = A->from[A->column[c.first]]; i < A->from[A->column[c.first] + 1]; i++)
                subtract_half_block(A, half, A->acting[i][0], A->first[A->acting[i][1] + 1]);
        if (s) lwi_team_meet(team);
        const span u = pieces_of(A, s, team);
        for (int i = A->piece[u.first]; i < A->piece[u.end]; i++)
            positive = factor_half_column(A, half, A->column[i]) && positive;
    }
    lwi_team_meet(team);
    return positive;
}

// y := L^-1 y,  and  y := L'^-1 y
static inline void lower_half(const double l[9], double y[3])
{
    for (int c = 0; c < HALF; c++) {
        y[c] *= l[HALF * c + c];
        for (int r = c + 1; r < HALF; r++) y[r] -= l[HALF * c + r] * y[c];
    }
}

static inline void upper_half(const double l[9], double y[3])
{
    for (int c = HALF - 1; c >= 0; c--) {
        for (int r = c + 1; r < HALF; r++) y[c] -= l[HALF * c + r] * y[r];
        y[c] *= l[HALF * c + c];
    }
}

// z -= L y
static inline void subtract_half_columns(const int at[3], const double l[9], const double y[3],
                                         double z[6])
{
    z[at[0]] = z[at[0]] - y[0] * l[0] - y[1] * l[3] - y[2] * l[6];
    z[at[1]] = z[at[1]] - y[0] * l[1] - y[1] * l[4] - y[2] * l[7];
    z[at[2]] = z[at[2]] - y[0] * l[2] - y[1] * l[5] - y[2] * l[8];
}

static inline void solve_half_lower(const lwi_block_cholesky *A, int first, const int at[3], int k,
                                    double (*x)[6])
{
    double y[HALF] = {x[k][at[0]], x[k][at[1]], x[k][at[2]]};
    lower_half(A->diagonal[k] + first, y);
    for (int i = 0; i < HALF; i++) x[k][at[i]] = y[i];
    for (int i = A->first[k]; i < A->inside[k]; i++)
        subtract_half_columns(at, A->below[i] + first, y, x[A->row[i]]);
}

static inline void solve_half_upper(const lwi_block_cholesky *A, int first, const int at[3], int k,
                                    double (*x)[6])
{
    double y[HALF] = {x[k][at[0]], x[k][at[1]], x[k][at[2]]};
    for (int i = A->first[k]; i < A->first[k + 1]; i++) {
        const double *l = A->below[i] + first, *z = x[A->row[i]];
        for (int r = 0; r < HALF; r++, l += HALF)
            y[r] -= l[0] * z[at[0]] + (l[1] * z[at[1]] + l[2] * z[at[2]]);
    }
    upper_half(A->diagonal[k] + first, y);
    for (int i = 0; i < HALF; i++) x[k][at[i]] = y[i];
}

void lwi_block_cholesky_solve_half(const lwi_block_cholesky *A, int half, const int at[3],
                                   const lwi_team *team, double (*x)[6])
{
    const int first = 9 * half, in[3] = {at[0], at[1], at[2]};
    for (int s = 0; s < A->nstage; s++) {
        lwi_team_meet(team);
        for (span c = s ? columns_of(A, s, team) : (span){0}; c.first < c.end; c.first++) {
            const int k = A->column[c.first];
            for (int i = A->from[k]; i < A->from[k + 1]; i++) {
                const double *y = x[A->acting[i][1]];
                subtract_half_columns(in, A->below[A->acting[i][0]] + first,
                                      (const double[3]){y[in[0]], y[in[1]], y[in[2]]}, x[k]);
            }
        }
        if (s) lwi_team_meet(team);
        const span u = pieces_of(A, s, team);
        for (int i = A->piece[u.first]; i < A->piece[u.end]; i++)
            solve_half_lower(A, first, in, A->column[i], x);
    }
    for (int s = A->nstage - 1; s >= 0; s--) {
        lwi_team_meet(team);
        const span u = pieces_of(A, s, team);
        for (int i = A->piece[u.end] - 1; i >= A->piece[u.first]; i--)
            solve_half_upper(A, first, in, A->column[i], x);
    }
    lwi_team_meet(team);
}
