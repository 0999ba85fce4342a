// rank.c -- nodes that close loops: rows that may depend on each other.
//
// Rows are scaled, s_r = 1 / sqrt(S_rr), so that pivots are squared sines.  Elimination with pivoting
//     P' S_cc P = [R1 R2]' D [R1 R2],   R1 unit upper triangular of order r = rank
// ends after r steps.  The null space of S_cc is spanned by P [-R1^-1 R2; 1], made orthonormal: N. With the
// projection  Q = 1 - N N'
//     S_cc^+ b = Q P [R1^-1 D^-1 R1'^-1 (P' Q b)_1; 0]
// because a solution on the first r rows differs from the solution of minimum norm by null vectors, and Q b
// is the part of b that can be met.  This costs a few multiplications with N in addition to the plain elimination.
// The result does not depend on the choice of pivots, except by round-off and by what is dropped where drift
// has tilted redundant rows: along a motion it is smooth although the pivots change.  Columns S_co, which are
// in the range of S_cc in exact arithmetic, are treated like right sides.  It takes the place of the inverse
// at the base of closed chains, which does not exist for redundant constraints [chadaj2017, (44)-(45)].
//
// Nodes with many rows do the same without an orthonormal basis, in blocks (rank_large.c).
//
// All rows closed at the node share what is not determined.  Excluding rows that close no loop would be
// cheaper, but they would then carry arbitrary parts of the others, which adds up along a row of loops: in a
// hundred four-bars the round-off in J x = c grew from 7e-14 to 6e-10.
#include "elimination/lanes.h"
#include "elimination/ranked.h"
#include "base/linear.h"

#include <math.h>
#include <string.h>

/** Pivots of scaled rows are at most 1 up to round-off. */
#define MAX_PIVOT 2.0

typedef lwi_elim_ranked ranked;

static ranked ranked_of(const lwi_elim *elim, int node)
{
    LWI_ASSERT_INDEX(node, elim->nnode);
    const lwi_elim_front *N = &elim->front[node];
    const bool large = N->nc + N->no >= LWI_ELIM_LARGE;
    return (ranked){.large = large,
                    .kernels = large ? elim->dense : NULL,
                    .n = N->nc,
                    .no = N->no,
                    .ld = N->ld,
                    .R = N->R,
                    .v = N->v,
                    .S = elim->S + N->row,
                    .scale = elim->scale + N->row,
                    .C = N->loop ? N->C : NULL,
                    .null = elim->null[node],
                    .swap = elim->swap[node],
                    .factors = !elim->pivots_only,
                    .state = &elim->state[node]};
}

// Removes the null vectors [count][n] from v.
static void project(int n, int count, const double *null, double *v)
{
    for (int q = 0; q < count; q++, null += n) {
        double s = 0;
        for (int i = 0; i < n; i++) s += null[i] * v[i];
        for (int i = 0; i < n; i++) v[i] -= s * null[i];
    }
}

// The row that is at `place` after the exchanges.
static int row_at(const int *swap, int steps, int place)
{
    LWI_ASSERT(steps >= 0 && place >= 0);
    for (int k = steps - 1; k >= 0; k--) {
        if (place == k)
            place = swap[k];
        else if (place == swap[k])
            place = k;
    }
    return place;
}

// ------------------------------------------------------------------------------------ elimination

// row [n] := a row; *sum: 0 if its n numbers are finite.
LWI_INLINE void scale_entries(int n, double a, double *row, lwi_pair *sum)
{
    int j = 0;
    for (; j + 1 < n; j += 2) {
        const lwi_pair x = lwi_pair_load(row + j);
        *sum += 0 * x;
        lwi_pair_store(row + j, a * x);
    }
    if (j == n) return;
    *sum += (lwi_pair){0 * row[j], 0};
    row[j] *= a;
}

// The same with a factor scale[j] for each number.
LWI_INLINE void scale_each(int n, double a, const double *scale, double *row, lwi_pair *sum)
{
    int j = 0;
    for (; j + 1 < n; j += 2) {
        const lwi_pair x = lwi_pair_load(row + j);
        *sum += 0 * x;
        lwi_pair_store(row + j, a * lwi_pair_load(scale + j) * x);
    }
    if (j == n) return;
    *sum += (lwi_pair){0 * row[j], 0};
    row[j] *= a * scale[j];
}

// Scales S_cc and S_co.  A row with an entry that is not finite gets a pivot that is not a number: comparisons of pivots do
// not detect all of them.  The team shares the rows.
static void scale_rows(const ranked *t, const lwi_team *team)
{
    const int n = t->n, ld = t->ld;
    double *s = t->scale;
    for (int r = team->part; r < n; r += team->parts)
        s[r] = t->S[r] > 0 ? 1 / sqrt(t->S[r]) : 1; // a row of zeros
    lwi_team_meet(team);
    for (int i = team->part; i < n; i += team->parts) {
        lwi_pair sum = {0 * t->S[i], 0}; // of products with 0: 0, or not a number
        double *row = t->R + i * ld;
        scale_each(n - i, s[i], s + i, row + i, &sum);
        scale_entries(t->no, s[i], row + n, &sum);
        if (sum[0] + sum[1] != 0) row[i] = NAN;
    }
}

static bool pivots_are_numbers(const ranked *t)
{
    double sum = 0;
    for (int i = 0; i < t->n; i++) sum += 0 * t->R[i * (t->ld + 1)];
    return sum == 0;
}

// Exchanges rows and columns a < b of a symmetric matrix stored as its upper triangle.
static void exchange_both(int n, double *R, int ld, int a, int b)
{
    LWI_ASSERT(0 <= a && a < b && b < n && n <= ld);
    for (int i = 0; i < a; i++) lwi_elim_exchange(&R[i * ld + a], &R[i * ld + b]);
    lwi_elim_exchange(&R[a * ld + a], &R[b * ld + b]);
    for (int i = a + 1; i < b; i++) lwi_elim_exchange(&R[a * ld + i], &R[i * ld + b]);
    lwi_elim_exchange_rows(n - b - 1, R + a * ld + b + 1, R + b * ld + b + 1);
}

static int largest(int n, const double *R, int ld, int from)
{
    int best = from;
    double top = R[from * (ld + 1)];
    const double *R_ii = R + (from + 1) * (ld + 1);
    for (int i = from + 1; i < n; i++, R_ii += ld + 1)
        if (*R_ii > top) best = i, top = *R_ii;
    return best;
}

// One elimination step of S_cc: the rows below row k, then row k becomes a row of [R1 R2] with 1/D on the diagonal.
LWI_INLINE void step(int n, double *R, int ld, int k)
{
    double *pivot = R + k * ld;
    const double inverse = 1 / pivot[k];
    for (int j = k + 1; j < n; j++)
        if (pivot[j] != 0) lwi_subtract(n - j, pivot[j] * inverse, pivot + j, R + j * ld + j);
    int i = k + 1;
    for (; i + 1 < n; i += 2) lwi_pair_store(pivot + i, inverse * lwi_pair_load(pivot + i));
    if (i < n) pivot[i] *= inverse;
    pivot[k] = inverse;
}

// Brings the largest pivot to place k.  False: it is not above min_pivot.
static bool take_pivot(const ranked *t, int k, double min_pivot)
{
    const int p = largest(t->n, t->R, t->ld, k);
    const double pivot = t->R[p * (t->ld + 1)];
    if (!(pivot > min_pivot && pivot <= MAX_PIVOT)) return false;
    t->swap[k] = p;
    if (p != k) exchange_both(t->n, t->R, t->ld, k, p);
    return true;
}

// Notes the largest of the rows that are left after k pivots; with `must`, too few pivots are LW_ERR_SINGULAR.
static void note_dropped(const ranked *t, int k, int rank, bool must)
{
    lwi_elim_state *state = t->state;
    if (k == t->n) return;
    const int p = largest(t->n, t->R, t->ld, k), row = row_at(t->swap, k, p);
    const double next = t->R[p * (t->ld + 1)];
    state->dropped = next > 0 ? next : 0;
    state->dropped_row = row;
    if (k == rank || !must) return;
    state->status = LW_ERR_SINGULAR;
    state->max_ratio = next > 0 ? 1 / next : HUGE_VAL;
    state->max_ratio_row = row;
}

// Up to `rank` pivots above min_pivot.
static void take_pivots(const ranked *t, int rank, double min_pivot, const lwi_team *team)
{
    int *kept = &t->state->kept;
    if (team->part == 0) *kept = 0;
    if (!t->large) {
        LWI_ASSERT(team->parts == 1);
        for (; *kept < rank && take_pivot(t, *kept, min_pivot); ++*kept)
            step(t->n, t->R, t->ld, *kept);
        return;
    }
    const lwi_elim_dense S = {.kernels = t->kernels,
                              .n = t->n,
                              .ld = t->ld,
                              .A = t->R,
                              .swap = t->swap,
                              .min = min_pivot,
                              .max = MAX_PIVOT};
    const int found = lwi_elim_dense_eliminate(&S, rank, false, kept, team);
    lwi_elim_dense_scale(&S, found, team);
}

// Eliminates until the rank is reached or pivots are below min_pivot; with `must`, too few pivots are
// LW_ERR_SINGULAR.
static void find_pivots(const ranked *t, int rank, double min_pivot, bool must,
                        const lwi_team *team)
{
    LWI_ASSERT(rank >= 0 && rank <= t->n && min_pivot > 0);
    lwi_elim_state *state = t->state;
    take_pivots(t, rank, min_pivot, team);
    for (int k = 0; k < state->kept && team->part == 0; k++) {
        const double share = t->R[k * (t->ld + 1)];
        if (share > state->max_ratio)
            state->max_ratio = share, state->max_ratio_row = row_at(t->swap, k + 1, k);
    }
    if (team->part == 0) note_dropped(t, state->kept, rank, must);
    lwi_team_meet(team);
}

enum { BLOCK = 8 };

// Removes the vectors before number q from q ... end - 1.
static void reject_block(const ranked *t, int q, int end)
{
    const int n = t->n;
    double product[LWI_ELIM_LARGE][BLOCK];
    for (int j = 0; j < q; j++)
        for (int k = q; k < end; k++)
            product[j][k - q] = lwi_pairs_dot(n, t->null + j * n, t->null + k * n);
    for (int k = q; k < end; k++)
        for (int j = 0; j < q; j++)
            lwi_subtract(n, product[j][k - q], t->null + j * n, t->null + k * n);
}

// Makes the null vectors orthonormal, some at a time: what they have of those before is removed twice.
static void orthonormalize(const ranked *t)
{
    const int n = t->n, count = n - t->state->kept;
    for (int q = 0; q < count; q += BLOCK) {
        const int end = q + BLOCK < count ? q + BLOCK : count;
        for (int pass = 0; pass <= (q > 0); pass++) {
            if (q > 0) reject_block(t, q, end);
            lwi_orthonormalize(n, end - q, t->null + q * n);
        }
    }
}

static void find_null(const ranked *t)
{
    const int n = t->n, ld = t->ld, rank = t->state->kept, count = n - rank;
    LWI_ASSERT(rank >= 0 && count >= 0);
    for (int q = 0; q < count; q++) {
        double *null = t->null + q * n;
        memset(null, 0, (size_t)n * sizeof *null);
        null[rank + q] = 1;
        for (int k = rank - 1; k >= 0; k--) {
            const double *row = t->R + k * ld;
            double sum = -row[rank + q];
            for (int j = k + 1; j < rank; j++) sum -= row[j] * null[j];
            null[k] = sum;
        }
        lwi_elim_swap_back(rank, t->swap, null);
    }
    orthonormalize(t);
}

// y -= a x of a row.  In mechanisms that move in planes rows within and across them do not meet: half of all factors are 0.
LWI_INLINE void subtract(int n, double a, const double *x, double *y)
{
    if (a != 0) lwi_subtract_row(n, a, x, y);
}

// Removes the null vectors from the columns of S_co.
LWI_INLINE void project_columns(const ranked *t, const int no)
{
    double *Sco = t->R + t->n, *along = t->v; // v is not used in the matrix pass
    const double *null = t->null;
    for (int q = t->state->kept; q < t->n; q++, null += t->n) {
        for (int j = 0; j < no + no % 2; j++) along[j] = 0;
        for (int i = 0; i < t->n; i++) subtract(no, -null[i], Sco + i * t->ld, along);
        for (int i = 0; i < t->n; i++) subtract(no, null[i], along, Sco + i * t->ld);
    }
}

// Step k of S_co: the rows below row k, the products that go to U, row k itself.
LWI_INLINE void eliminate_row(const ranked *t, int k, const int no, double *U, int lu)
{
    double *Sco = t->R + t->n, *f = Sco + k * t->ld;
    const double inverse = t->R[k * (t->ld + 1)];
    for (int i = k + 1; i < t->state->kept; i++)
        subtract(no, t->R[k * t->ld + i], f, Sco + i * t->ld);
    for (int i = 0; i < no; i++) subtract(no - i, f[i] * inverse, f + i, U + i * (lu + 1));
    for (int j = 0; j < no && t->factors; j++) f[j] *= inverse;
}

// Z from S_co, and U; no = t->no, a constant in common cases.
LWI_INLINE void eliminate_columns_of(const ranked *t, const int no, double *U, int lu)
{
    double *Sco = t->R + t->n;
    project_columns(t, no);
    for (int k = 0; k < t->state->kept; k++)
        lwi_elim_exchange_rows(no, Sco + k * t->ld, Sco + t->swap[k] * t->ld);
    for (int k = 0; k < t->state->kept; k++) eliminate_row(t, k, no, U, lu);
}

static void eliminate_columns(const ranked *t, double *U, int lu)
{
    switch (t->no) {
    case 0:
        break;
    case 2:
        eliminate_columns_of(t, 2, U, lu);
        break;
    case 3:
        eliminate_columns_of(t, 3, U, lu);
        break;
    case 5:
        eliminate_columns_of(t, 5, U, lu);
        break;
    case 6:
        eliminate_columns_of(t, 6, U, lu);
        break;
    case 10:
        eliminate_columns_of(t, 10, U, lu);
        break;
    default:
        eliminate_columns_of(t, t->no, U, lu);
        break;
    }
}

// ------------------------------------------------------------------------------------- compliance

// The compliance of a substructure at its open rows, C = A + U with A = J G' of its bodies, is zero in the
// directions in which it is rigid, up to round-off of the size of A.  Where the next loop is closed, half of
// the load passes through such a direction and half through the ground, and the round-off of one is passed on
// to the next: along a row of four-bars it grew by a factor of 8 per loop until pivots were lost.  Therefore
// the remainder of C after all pivots above LWI_ELIM_RIGID of A is also subtracted from U.

/** Round-off of a substructure at a closed loop, as a share of A: sums of tens of products, over pivots of
 *  S_cc that are above 1e-2 in ordinary mechanisms.  A substructure with a smaller compliance is rigid. */
#define LWI_ELIM_RIGID 1e-12

// C [n] := (C + U) scale[0] scale: the row of the open row of scale[0], from the diagonal on.
LWI_INLINE void put_open_row(int n, const double *scale, const double *U, double *C)
{
    int j = 0;
    for (; j + 1 < n; j += 2)
        lwi_pair_store(C + j, (lwi_pair_load(C + j) + lwi_pair_load(U + j)) * scale[0] *
                                  lwi_pair_load(scale + j));
    if (j < n) C[j] = (C[j] + U[j]) * scale[0] * scale[j];
}

// Assembles C, scaled to A_rr = 1; the scale goes to v.  The team shares its edges, then the rows.
static void put_open(const lwi_elim *elim, int node, const lwi_team *team)
{
    const lwi_elim_front *N = &elim->front[node];
    const int n = N->no;
    double *C = N->C, *scale = N->v;
    const lwi_elim_blocks own = lwi_elim_own_blocks(elim, N->open, n, n, team);
    lwi_elim_clear_upper(n, C, n, own.first, own.end, 1);
    lwi_elim_put_blocks(elim, &own, n, elim->J, elim->G, C);
    for (int i = own.first; i < own.end; i++)
        scale[i] = C[i * n + i] > 0 ? 1 / sqrt(C[i * n + i]) : 0;
    lwi_team_meet(team);
    for (int i = team->part; i < n; i += team->parts)
        put_open_row(n - i, scale + i, N->U + i * (N->lu + 1), C + i * (n + 1));
}

// Brings the largest pivot of C to place k.  False: it is round-off.
static bool take_open_pivot(int n, double *C, int k, int *perm)
{
    const int p = largest(n, C, n, k), other = perm[k];
    if (!(C[p * (n + 1)] > LWI_ELIM_RIGID)) return false;
    if (p != k) exchange_both(n, C, n, k, p);
    perm[k] = perm[p], perm[p] = other;
    return true;
}

// Eliminates C as far as its pivots are not round-off; returns their number.
static int eliminate_open(const lwi_elim_front *N, const ranked *t, const lwi_team *team)
{
    const int n = N->no;
    int *perm = N->perm, *movable = &t->state->movable, k = 0;
    for (int i = 0; i < n && team->part == 0; i++) perm[i] = i;
    if (!t->large) {
        while (k < n && take_open_pivot(n, N->C, k, perm)) step(n, N->C, n, k++);
        return *movable = k;
    }
    lwi_team_meet(team);
    const lwi_elim_dense C = {.kernels = t->kernels,
                              .n = n,
                              .ld = n,
                              .A = N->C,
                              .perm = perm,
                              .min = LWI_ELIM_RIGID,
                              .max = HUGE_VAL};
    return lwi_elim_dense_eliminate(&C, n, true, movable, team);
}

static void make_rigid(const lwi_elim *elim, int node, const ranked *t, const lwi_team *team)
{
    const lwi_elim_front *N = &elim->front[node];
    const int n = N->no, *perm = N->perm;
    LWI_ASSERT(N->loop && N->C && perm);
    put_open(elim, node, team);
    const int k = eliminate_open(N, t, team);
    for (int a = k + team->part; a < n; a += team->parts)
        for (int b = a; b < n; b++) {
            const int i = perm[a] < perm[b] ? perm[a] : perm[b], j = perm[a] + perm[b] - i;
            const double scale = N->v[i] * N->v[j];
            if (scale > 0) N->U[i * N->lu + j] -= N->C[a * n + b] / scale;
        }
}

// Elimination with rank decisions; also at the base of closed chains [chadaj2017, (44)-(45)].
void lwi_elim_rank_eliminate(lwi_elim *elim, int node, const lwi_team *team)
{
    const lwi_elim_front *N = &elim->front[node];
    const ranked t = ranked_of(elim, node);
    const int generic_rank = elim->generic_rank[node] < 0 ? N->nc : elim->generic_rank[node];
    const double inactive_below = lwi_elim_inactive_below(elim, node);
    scale_rows(&t, team);
    for (int i = team->part; i < N->no && N->bare; i += team->parts)
        memset(N->U + i * (N->lu + 1), 0, (size_t)(N->lu - i) * sizeof *N->U);
    lwi_team_meet(team);
    if (team->part == 0 && !pivots_are_numbers(&t)) {
        t.state->status = LW_ERR_NOT_FINITE;
        t.state->max_ratio = HUGE_VAL;
    }
    lwi_team_meet(team);
    if (t.state->status != LW_OK) return;
    // where no loop is closed, the only dependent rows are rows of zeros
    if (elim->find_ranks)
        find_pivots(&t, t.n, N->loop ? elim->threshold : LWI_ELIM_ROUND, false, team);
    else if (inactive_below > 0)
        find_pivots(&t, generic_rank, fmax(LWI_ELIM_ROUND, inactive_below), false, team);
    else
        find_pivots(&t, generic_rank, LWI_ELIM_ROUND, true, team);
    if (t.state->status != LW_OK) return;
    if (elim->pivots_only && N->no == 0) return; // no ancestor needs its null space
    if (t.large) {
        lwi_elim_large_null(&t, team);
        lwi_elim_large_columns(&t, N->U, N->lu, team);
    } else {
        find_null(&t);
        eliminate_columns(&t, N->U, N->lu);
    }
    if (N->loop && N->no) make_rigid(elim, node, &t, team);
}

// ---------------------------------------------------------------------------------------- vectors

void lwi_elim_rank_up(lwi_elim *elim, int node)
{
    const ranked t = ranked_of(elim, node);
    const int n = t.n, rank = t.state->kept;
    double *v = t.v;
    for (int r = 0; r < n; r++) v[r] *= t.scale[r];
    if (t.large) {
        lwi_elim_large_up(&t);
        return;
    }
    project(n, n - rank, t.null, v);
    lwi_elim_swap_rows(rank, t.swap, v);
    for (int k = 0; k < rank; k++) {
        const double *R = t.R + k * t.ld;
        for (int j = k + 1; j < rank; j++) v[j] -= R[j] * v[k];
        for (int j = n; j < n + t.no; j++) v[j] -= R[j] * v[k];
    }
}

static void solve_down(const ranked *t)
{
    const int n = t->n, rank = t->state->kept;
    double *v = t->v;
    for (int r = rank; r < n; r++) v[r] = 0;
    for (int k = rank - 1; k >= 0; k--) {
        const double *R = t->R + k * t->ld;
        v[k] *= R[k];
        for (int j = k + 1; j < rank; j++) v[k] -= R[j] * v[j];
        for (int j = n; j < n + t->no; j++) v[k] -= R[j] * v[j];
    }
    lwi_elim_swap_back(rank, t->swap, v);
    project(n, n - rank, t->null, v);
}

void lwi_elim_rank_down(lwi_elim *elim, int node)
{
    const ranked t = ranked_of(elim, node);
    (t.large ? lwi_elim_large_down : solve_down)(&t);
    for (int r = 0; r < t.n; r++) t.v[r] *= t.scale[r];
}

// --------------------------------------------------------------------------------- what was found

void lwi_elim_dependent(const lwi_elim *elim, int *dependent)
{
    memset(dependent, 0, (size_t)elim->plan->graph.nedge * sizeof *dependent);
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        if (elim->state[k].kept == N->nc) continue;
        const ranked t = ranked_of(elim, k);
        for (int place = t.state->kept; place < t.n; place++) {
            int row = row_at(t.swap, t.state->kept, place);
            const lwi_elim_edge *e = lwi_elim_edge_of_row(elim, k, &row);
            dependent[e->edge]++;
        }
    }
}

void lwi_elim_dropped_rows(const lwi_elim *elim, bool *rows)
{
    memset(rows, 0, (size_t)elim->plan->nrow * sizeof *rows);
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        if (elim->state[k].kept == N->nc) continue;
        const ranked t = ranked_of(elim, k);
        for (int place = t.state->kept; place < t.n; place++) {
            int row = row_at(t.swap, t.state->kept, place);
            const lwi_elim_edge *e = lwi_elim_edge_of_row(elim, k, &row);
            rows[e->row + row] = true;
        }
    }
}

static int dropped(const lwi_elim *elim, int node)
{
    return elim->front[node].nc - elim->state[node].kept;
}

int lwi_elim_null_count(const lwi_elim *elim)
{
    int count = 0;
    for (int k = 0; k < elim->nnode; k++) count += dropped(elim, k);
    return count;
}

// A null vector that has decayed to this part of its largest row is not followed further down.
#define NEGLIGIBLE 1e-10

// Null vectors are found node by node: factors in lanes are computed in the fronts as well.
static void expand_batches(lwi_elim *elim)
{
    if (!elim->laned || elim->in_fronts) return;
    elim->laned = false;
    for (int u = 0; u < elim->nbatch; u++) lwi_elim_task_eliminate(elim, u, &LWI_ALONE);
    elim->laned = elim->in_fronts = true;
}

// Null vector q of the node's rows in its v, in the rows' units.
static void put_null(const ranked *t, int q)
{
    double *v = t->v;
    memset(v, 0, (size_t)(t->n + t->no + 1) * sizeof *v);
    if (t->large)
        lwi_elim_large_vector(t, q, v);
    else
        memcpy(v, t->null + q * t->n, (size_t)t->n * sizeof *v);
    for (int r = 0; r < t->n; r++) v[r] *= t->scale[r];
}

// A null vector of a node's rows is continued down to the rows eliminated before, by back substitution
// without a right side.  Rows eliminated later have zeros there, because S is positive semidefinite.
void lwi_elim_null(lwi_elim *elim, int i, double *n)
{
    memset(n, 0, (size_t)elim->plan->nrow * sizeof *n);
    expand_batches(elim);
    LWI_ASSERT_INDEX(i, lwi_elim_null_count(elim));
    int node = 0;
    while (i >= dropped(elim, node)) i -= dropped(elim, node++);
    const ranked top = ranked_of(elim, node);
    double sum = 0;
    for (int k = node; k >= elim->front[node].first; k--) {
        const lwi_elim_front *N = &elim->front[k];
        memset(N->v, 0, (size_t)(N->nc + N->no + 1) * sizeof *N->v);
        if (k == node)
            put_null(&top, i);
        else
            lwi_elim_back_substitute(elim, k);
        const lwi_elim_edge *e = elim->edge + N->edge.first;
        for (int r = 0, at = 0; r < N->nc; r++) {
            if (r - at == e->m) at = r, e++;
            n[e->row + r - at] = N->v[r];
            const double S = elim->S[N->row + r];
            sum += (S > 0 ? S : 1) * N->v[r] * N->v[r];
        }
    }
    if (!(sum > 0)) return;
    const double scale = 1 / sqrt(sum);
    for (int r = 0; r < elim->plan->nrow; r++) n[r] *= scale;
}

// Whether the rows of a node that its parent has closed or left open carry more than `tiny`.
static bool carries(const lwi_elim *elim, int node, double tiny)
{
    const lwi_elim_front *N = &elim->front[node];
    const double *above = elim->front[N->parent].v;
    const lwi_elim_move *move = elim->move + N->move.first;
    for (int a = 0; a < N->move.n; a++)
        for (int r = 0; r < move[a].n; r++)
            if (fabs(above[move[a].to + r]) > tiny) return true;
    return false;
}

static int copy_rows(const lwi_elim *elim, int node, double *n, int *edge)
{
    const lwi_elim_front *N = &elim->front[node];
    const lwi_elim_edge *e = elim->edge + N->edge.first;
    for (int i = 0, r = 0; i < N->edge.n; i++, e++) {
        edge[i] = e->edge;
        for (int k = 0; k < e->m; k++) n[e->row + k] = N->v[r++];
    }
    return N->edge.n;
}

int lwi_elim_null_next(const lwi_elim *elim, int node)
{
    while (node < elim->nnode && dropped(elim, node) == 0) node++;
    return node;
}

int lwi_elim_null_local(lwi_elim *elim, int node, int q, double *n, int *edge, int *stack)
{
    if (q >= dropped(elim, node)) return 0;
    expand_batches(elim);
    const ranked top = ranked_of(elim, node);
    double largest = 0;
    put_null(&top, q);
    for (int r = 0; r < top.n; r++) largest = fmax(largest, fabs(top.v[r]));
    int count = copy_rows(elim, node, n, edge), depth = 0;
    stack[depth++] = node;
    while (depth) {
        const lwi_plan_span child = elim->front[stack[--depth]].child;
        for (int i = 0; i < child.n; i++) {
            const int k = elim->plan->item[child.first + i];
            const lwi_elim_front *N = &elim->front[k];
            if (!carries(elim, k, NEGLIGIBLE * largest)) continue;
            memset(N->v, 0, (size_t)(N->nc + N->no + 1) * sizeof *N->v);
            lwi_elim_back_substitute(elim, k);
            count += copy_rows(elim, k, n, edge + count);
            LWI_ASSERT(count <= elim->plan->graph.nedge && depth < elim->nnode);
            stack[depth++] = k;
        }
    }
    return count;
}

// The pivot of a row of a node that is a single one in the last matrix pass; of a ranked node of the row that was exchanged
// with row r, which is returned.
static double pivot_of(const lwi_elim *elim, int node, int *r)
{
    const lwi_elim_front *N = &elim->front[node];
    const double inverse = N->R[*r * (N->ld + 1)];
    if (!elim->state[node].ranked) return 1 / (elim->S[N->row + *r] * inverse);
    *r = row_at(elim->swap[node], *r + 1, *r);
    return 1 / inverse;
}

// Notes a pivot of a node's row for the group of its edge.
static void note_group(const lwi_elim *elim, int node, int row, double pivot, const int *group,
                       double *min)
{
    const int g = group[lwi_elim_edge_of_row(elim, node, &row)->edge];
    if (g >= 0 && pivot < min[g]) min[g] = pivot;
}

void lwi_elim_loop_pivots(const lwi_elim *elim, int ngroup, const int *group, double *min)
{
    for (int g = 0; g < ngroup; g++) min[g] = 1;
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        const lwi_elim_state *state = &elim->state[k];
        const bool failed = state->status != LW_OK;
        if (!N->loop) continue;
        if (failed) note_group(elim, k, state->max_ratio_row, 1 / state->max_ratio, group, min);
        for (int r = 0; r < (state->ranked ? state->kept : N->nc); r++) {
            if (failed && !state->ranked) break;
            int row = r;
            const double pivot = pivot_of(elim, k, &row);
            note_group(elim, k, row, pivot, group, min);
        }
    }
}
