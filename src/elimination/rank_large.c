// rank_large.c -- nodes that close loops and have many rows, in blocks.
//
// The equations are those of rank.c.  With W = R1^-1 R2 the null space of S_cc is spanned by P [-W; 1], its range by
// P [1; W'].  Neither basis is made orthonormal: a vector [b1; b2] = P' b has the part [c1; W' c1] in the range, which is
// the part of b that can be met,
//     c1 = b1 + G^-1 W (b2 - W' b1),    G = 1 + W W'           = b1 + W H^-1 (b2 - W' b1),  H = 1 + W' W
// and with y = R1^-1 D^-1 R1'^-1 c1 the solution of minimum norm is
//     S_cc^+ b = P [y - W t; t],   t = W' G^-1 y = H^-1 W' y
// The smaller of G and H is factored.  b2 - W' b1 is round-off and drift where b can be met: the conditions of G
// and H do not matter, nor do they for t, of which an error adds null vectors.
//
// The front afterwards, r = rank, d = n - r:   [ R1  W  Z ]
//                                              [ W'  -  - ]
// All products are of dense blocks (dense.h), shared by a team.  Cost of the columns: (2 r d + min(r, d)^2 + r^2 / 2) no and
// r no^2 / 2, where projections with d orthonormal vectors take 2 n d no.
#include "elimination/ranked.h"

#include <math.h>
#include <string.h>

// What an elimination has left: W and W', and the factors of G or H.
typedef struct redundancy {
    int rank, count, ld;
    const double *W, *transposed; // [rank][ld], [count][ld]
    bool by_range;                // G, else H
    int n;                        // rows of it
    double *gram, *rest;          // [n][n], and scratch for `rank` numbers if by_range
    double *columns;              // the same for [rank][open rows]
} redundancy;

static redundancy redundancy_of(const lwi_elim_ranked *t)
{
    const int rank = t->state->kept, count = t->n - rank;
    redundancy w = {.rank = rank, .count = count, .ld = t->ld};
    LWI_ASSERT(rank >= 0 && count >= 0);
    w.W = t->R + rank;
    w.transposed = t->R + rank * t->ld;
    const size_t scratch = (size_t)rank * (size_t)t->no, all = (size_t)t->n * (size_t)t->n;
    const size_t square = (size_t)rank * (size_t)rank;
    const bool fits = rank <= count && square + scratch <= all;
    w.by_range = fits || (rank <= count && t->C && rank <= t->no);
    w.n = w.by_range ? rank : count;
    w.gram = t->null;
    w.rest = t->null + w.n * w.n;
    w.columns = fits ? w.rest : t->C;
    return w;
}

// Some of several columns or rows.
typedef struct range {
    int at, n;
} range;

// Those of one thread; it begins at a multiple of eight.
static range share(int n, const lwi_team *team)
{
    const int at = n * team->part / team->parts / 8 * 8;
    const int end = team->part + 1 == team->parts ? n : n * (team->part + 1) / team->parts / 8 * 8;
    return (range){at, end - at};
}

// G or H, and its factors.
static void factor_gram(const lwi_elim_ranked *t, const redundancy *w, const lwi_team *team)
{
    const int n = w->n, ld = t->ld;
    const double *A = w->by_range ? w->W : w->transposed, *B = w->by_range ? w->transposed : w->W;
    for (lwi_elim_strip s = lwi_elim_first_strip(n, team); s.n; lwi_elim_next_strip(&s)) {
        const int i = s.at;
        for (int r = i; r < i + s.n; r++)
            for (int j = r; j < n; j++) w->gram[r * n + j] = j == r;
        lwi_elim_dense_subtract(t->kernels,
                                (lwi_elim_product){.m = s.n,
                                                   .n = n - i,
                                                   .k = w->by_range ? w->count : w->rank,
                                                   .s = -1,
                                                   .A = A + i * ld,
                                                   .down = ld,
                                                   .right = 1,
                                                   .B = B + i,
                                                   .lb = ld,
                                                   .C = w->gram + i * (n + 1),
                                                   .lc = n,
                                                   .above = 0});
    }
    lwi_team_meet(team);
    const lwi_elim_dense gram = {.kernels = t->kernels, .n = n, .ld = n, .A = w->gram};
    lwi_elim_dense_eliminate(&gram, n, true, NULL, team);
    lwi_elim_dense_scale(&gram, n, team);
}

// W in place of R2, and W'.
void lwi_elim_large_null(const lwi_elim_ranked *t, const lwi_team *team)
{
    const redundancy w = redundancy_of(t);
    const range own = share(w.count, team);
    double *W = t->R + w.rank + own.at;
    if (w.count == 0) return;
    if (own.n > 0) lwi_elim_dense_backward(t->kernels, w.rank, t->R, t->ld, own.n, W, t->ld);
    for (int j = 0; j < own.n; j++) {
        double *row = t->R + (w.rank + own.at + j) * t->ld;
        for (int i = 0; i < w.rank; i++) row[i] = W[i * t->ld + j];
    }
    lwi_team_meet(team);
    factor_gram(t, &w, team);
}

// [rank][columns] C += W E
static void add_range(const lwi_elim_ranked *t, const redundancy *w, int columns, const double *E,
                      int le, double *C, int lc)
{
    lwi_elim_dense_subtract(t->kernels, (lwi_elim_product){.m = w->rank,
                                                           .n = columns,
                                                           .k = w->count,
                                                           .s = -1,
                                                           .A = w->W,
                                                           .down = w->ld,
                                                           .right = 1,
                                                           .B = E,
                                                           .lb = le,
                                                           .C = C,
                                                           .lc = lc,
                                                           .above = -1});
}

// Columns of S_co become what can be met of them, in the first rows, then L^-1 of that.
static void eliminate_own(const lwi_elim_ranked *t, const range own)
{
    const redundancy w = redundancy_of(t);
    const int ld = t->ld;
    double *X = t->R + t->n + own.at, *E = X + w.rank * ld;
    for (int k = 0; k < w.rank; k++) lwi_elim_exchange_rows(own.n, X + k * ld, X + t->swap[k] * ld);
    lwi_elim_dense_subtract(t->kernels, (lwi_elim_product){.m = w.count,
                                                           .n = own.n,
                                                           .k = w.rank,
                                                           .s = 1,
                                                           .A = w.transposed,
                                                           .down = ld,
                                                           .right = 1,
                                                           .B = X,
                                                           .lb = ld,
                                                           .C = E,
                                                           .lc = ld,
                                                           .above = -1});
    if (w.by_range && w.count > 0) {
        double *F = w.columns + own.at;
        for (int i = 0; i < w.rank; i++) memset(F + i * t->no, 0, (size_t)own.n * sizeof *F);
        add_range(t, &w, own.n, E, ld, F, t->no);
        lwi_elim_dense_solve(t->kernels, w.n, w.gram, w.n, own.n, F, t->no);
        for (int i = 0; i < w.rank; i++)
            for (int j = 0; j < own.n; j++) X[i * ld + j] += F[i * t->no + j];
    } else {
        lwi_elim_dense_solve(t->kernels, w.n, w.gram, w.n, own.n, E, ld);
        add_range(t, &w, own.n, E, ld, X, ld);
    }
    lwi_elim_dense_forward(t->kernels, w.rank, t->R, ld, own.n, X, ld);
}

// Z from S_co, and U.  A team shares the columns, then the rows of U; each entry is computed as by one thread.
void lwi_elim_large_columns(const lwi_elim_ranked *t, double *U, int lu, const lwi_team *team)
{
    const int rank = t->state->kept, no = t->no, ld = t->ld;
    const range own = share(no, team);
    double *X = t->R + t->n;
    if (own.n > 0) eliminate_own(t, own);
    lwi_team_meet(team);
    for (lwi_elim_strip s = lwi_elim_first_strip(no, team); s.n; lwi_elim_next_strip(&s))
        lwi_elim_dense_subtract(t->kernels, (lwi_elim_product){.m = s.n,
                                                               .n = no - s.at,
                                                               .k = rank,
                                                               .s = 1,
                                                               .A = X + s.at,
                                                               .down = 1,
                                                               .right = ld,
                                                               .d = t->R,
                                                               .step = ld + 1,
                                                               .B = X + s.at,
                                                               .lb = ld,
                                                               .C = U + s.at * (lu + 1),
                                                               .lc = lu,
                                                               .above = 0});
    lwi_team_meet(team);
    for (int k = 0; k < rank; k++)
        for (int j = own.at; j < own.at + own.n; j++) X[k * ld + j] *= t->R[k * (ld + 1)];
}

// c1 in place of b1.
static void meet_range(const redundancy *w, double *v)
{
    double *e = v + w->rank, *f = w->rest;
    for (int i = 0; i < w->count; i++) e[i] -= lwi_pairs_dot(w->rank, w->transposed + i * w->ld, v);
    if (!w->by_range) lwi_elim_dense_solve_vector(w->n, w->gram, w->n, e);
    for (int i = 0; i < w->rank && w->count > 0; i++) {
        const double along = lwi_pairs_dot(w->count, w->W + i * w->ld, e);
        *(w->by_range ? &f[i] : &v[i]) = w->by_range ? along : v[i] + along;
    }
    if (!w->by_range || w->count == 0) return;
    lwi_elim_dense_solve_vector(w->n, w->gram, w->n, f);
    for (int i = 0; i < w->rank; i++) v[i] += f[i];
}

// The solution of minimum norm from y.
static void leave_null(const redundancy *w, double *v)
{
    double *to = v + w->rank;
    const double *y = v;
    if (w->count == 0) return;
    if (w->by_range) {
        memcpy(w->rest, v, (size_t)w->rank * sizeof *v);
        lwi_elim_dense_solve_vector(w->n, w->gram, w->n, w->rest);
        y = w->rest;
    }
    for (int i = 0; i < w->count; i++) to[i] = lwi_pairs_dot(w->rank, w->transposed + i * w->ld, y);
    if (!w->by_range) lwi_elim_dense_solve_vector(w->n, w->gram, w->n, to);
    for (int i = 0; i < w->rank; i++) v[i] -= lwi_pairs_dot(w->count, w->W + i * w->ld, to);
}

void lwi_elim_large_up(const lwi_elim_ranked *t)
{
    const redundancy w = redundancy_of(t);
    double *v = t->v;
    lwi_elim_swap_rows(w.rank, t->swap, v);
    meet_range(&w, v);
    for (int k = 0; k < w.rank; k++) {
        const double *R = t->R + k * t->ld;
        lwi_subtract(w.rank - k - 1, v[k], R + k + 1, v + k + 1);
        lwi_subtract(t->no, v[k], R + t->n, v + t->n);
    }
}

void lwi_elim_large_down(const lwi_elim_ranked *t)
{
    const redundancy w = redundancy_of(t);
    double *v = t->v;
    for (int k = w.rank - 1; k >= 0; k--) {
        const double *R = t->R + k * t->ld;
        v[k] = v[k] * R[k] - lwi_pairs_dot(w.rank - k - 1, R + k + 1, v + k + 1) -
               lwi_pairs_dot(t->no, R + t->n, v + t->n);
    }
    leave_null(&w, v);
    lwi_elim_swap_back(w.rank, t->swap, v);
}

void lwi_elim_large_vector(const lwi_elim_ranked *t, int q, double *null)
{
    const redundancy w = redundancy_of(t);
    double sum = 1;
    memset(null, 0, (size_t)t->n * sizeof *null);
    for (int i = 0; i < w.rank; i++) {
        null[i] = -w.W[i * w.ld + q];
        sum += null[i] * null[i];
    }
    null[w.rank + q] = 1;
    lwi_elim_swap_back(w.rank, t->swap, null);
    for (int r = 0; r < t->n; r++) null[r] /= sqrt(sum);
}
