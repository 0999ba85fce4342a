// dense.c -- panels of a symmetric matrix, and triangular systems in blocks of rows.
#include "elimination/dense.h"

enum { PANEL = 16 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

// ---------------------------------------------------------------------------------------- strips

enum {
    ROWS = 4,
    HIGHEST = 16
}; // of a strip: what a kernel takes at a time, and what keeps B in the cache

static void take_strip(lwi_elim_strip *s)
{
    const int parts = s->team->parts, part = s->team->part;
    s->at = (s->turn * parts + (s->turn % 2 ? parts - 1 - part : part)) * s->height;
    s->n = s->at < s->rows ? smaller(s->height, s->rows - s->at) : 0;
}

lwi_elim_strip lwi_elim_first_strip(int rows, const lwi_team *team)
{
    const int even = rows / (4 * team->parts) / ROWS * ROWS; // four strips for each thread
    lwi_elim_strip s = {.team = team, .rows = rows};
    s.height = even < ROWS ? ROWS : smaller(even, HIGHEST);
    take_strip(&s);
    return s;
}

void lwi_elim_next_strip(lwi_elim_strip *s)
{
    s->turn++;
    take_strip(s);
}

// ---------------------------------------------------------------------------------------- pivots

// While pivots are taken the diagonal is side by side, left of the diagonal of the last row, where the matrix has no
// entries: each step reads and changes all of it.
static double *diagonal_of(const lwi_elim_dense *A)
{
    return A->A + (A->n - 1) * A->ld;
}

// The largest of the diagonal from k on, the first of several; k if that is not a number.
static int largest(int n, const double *D, int k)
{
    double top[4] = {D[k], D[k], D[k], D[k]};
    int i = k;
    for (; i + 3 < n; i += 4)
        for (int l = 0; l < 4; l++) top[l] = D[i + l] > top[l] ? D[i + l] : top[l];
    for (; i < n; i++) top[0] = D[i] > top[0] ? D[i] : top[0];
    for (int l = 1; l < 4; l++) top[0] = top[l] > top[0] ? top[l] : top[0];
    for (i = k; i < n; i++)
        if (D[i] >= top[0]) return i;
    return k;
}

// Exchanges rows and columns a <= b of what is behind the rows before `first`.
static void exchange_both(const lwi_elim_dense *A, int first, int a, int b)
{
    const int n = A->n, ld = A->ld;
    double *R = A->A, *D = diagonal_of(A);
    LWI_ASSERT(0 <= a && a <= b && b < n && n <= ld);
    if (a == b) return;
    for (int i = first; i < a; i++) lwi_elim_exchange(&R[i * ld + a], &R[i * ld + b]);
    lwi_elim_exchange(&D[a], &D[b]);
    double *row = R + a * ld, *column = R + (a + 1) * ld + b;
    for (int i = a + 1; i < b; i++, column += ld) lwi_elim_exchange(&row[i], column);
    lwi_elim_exchange_rows(n - b - 1, row + b + 1, R + b * ld + b + 1);
}

// Brings the largest pivot to place k.  False: it is not within its limits.
static bool take_pivot(const lwi_elim_dense *A, int first, int k)
{
    const double *D = diagonal_of(A);
    const int p = largest(A->n, D, k);
    if (!(D[p] > A->min && D[p] <= A->max)) return false;
    if (A->swap) A->swap[k] = p;
    if (A->perm) {
        const int other = A->perm[k];
        A->perm[k] = A->perm[p], A->perm[p] = other;
    }
    exchange_both(A, first, k, p);
    return true;
}

// D -= row row / pivot: what is left of the diagonal.
static void reduce_diagonal(int n, double inverse, const double *row, double *D)
{
    int i = 0;
    for (; i + 1 < n; i += 2) {
        const lwi_pair x = lwi_pair_load(row + i);
        lwi_pair_store(D + i, lwi_pair_load(D + i) - x * inverse * x);
    }
    if (i < n) D[i] -= row[i] * inverse * row[i];
}

// Pivots first ... end - 1; returns the number of pivots taken so far.
static int eliminate_panel(const lwi_elim_dense *A, int first, int end)
{
    const int n = A->n, ld = A->ld;
    double *D = diagonal_of(A);
    for (int k = first; k < end; k++) {
        if ((A->swap || A->perm) && !take_pivot(A, first, k)) return k;
        double *row = A->A + k * ld;
        const double *panel = A->A + first * ld;
        lwi_elim_dense_subtract(A->kernels, (lwi_elim_product){.m = 1,
                                                               .n = n - k - 1,
                                                               .k = k - first,
                                                               .s = 1,
                                                               .A = panel + k,
                                                               .right = ld,
                                                               .d = panel + first,
                                                               .step = ld + 1,
                                                               .B = panel + k + 1,
                                                               .lb = ld,
                                                               .C = row + k + 1,
                                                               .lc = ld,
                                                               .above = -1});
        const double inverse = 1 / D[k];
        reduce_diagonal(n - k - 1, inverse, row + k + 1, D + k + 1);
        row[k] = inverse;
    }
    return end;
}

// Subtracts the rows of a panel from those behind it, above the diagonal.
static void update_behind(const lwi_elim_dense *A, int first, int end, const lwi_team *team)
{
    const int n = A->n, ld = A->ld;
    const double *panel = A->A + first * ld;
    for (lwi_elim_strip s = lwi_elim_first_strip(n - end, team); s.n; lwi_elim_next_strip(&s)) {
        const int i = end + s.at;
        lwi_elim_dense_subtract(A->kernels, (lwi_elim_product){.m = s.n,
                                                               .n = n - i,
                                                               .k = end - first,
                                                               .s = 1,
                                                               .A = panel + i,
                                                               .down = 1,
                                                               .right = ld,
                                                               .d = panel + first,
                                                               .step = ld + 1,
                                                               .B = panel + i,
                                                               .lb = ld,
                                                               .C = A->A + i * (ld + 1),
                                                               .lc = ld,
                                                               .above = 1});
    }
}

// The exchanges of a panel in the rows of L' before it.
static void exchange_before(const lwi_elim_dense *A, int first, int end, const lwi_team *team)
{
    for (int i = team->part; i < first && A->swap; i += team->parts) {
        double *row = A->A + i * A->ld;
        for (int k = first; k < end; k++) lwi_elim_exchange(&row[k], &row[A->swap[k]]);
    }
}

// The diagonal from k on to its place, or from there.
static void move_diagonal(const lwi_elim_dense *A, int k, bool back)
{
    double *D = diagonal_of(A);
    for (int i = k; i + 1 < A->n; i++) {
        double *in = A->A + i * (A->ld + 1);
        *(back ? in : &D[i]) = back ? D[i] : *in;
    }
}

int lwi_elim_dense_eliminate(const lwi_elim_dense *A, int rank, bool rest, int *reached,
                             const lwi_team *team)
{
    LWI_ASSERT(rank >= 0 && rank <= A->n);
    int k = 0;
    if (rank == 0) return 0;
    if (team->part == 0) move_diagonal(A, 0, false);
    while (k < rank) {
        const int end = smaller(k + PANEL, rank);
        int taken = end;
        if (team->part == 0) taken = eliminate_panel(A, k, end);
        if (team->part == 0 && reached) *reached = taken;
        lwi_team_meet(team);
        if (reached) taken = *reached;
        exchange_before(A, k, taken, team);
        if (taken > k && (rest || (taken == end && end < rank))) update_behind(A, k, taken, team);
        lwi_team_meet(team);
        k = taken;
        if (taken < end) break;
    }
    if (k == A->n) return k;
    if (team->part == 0) move_diagonal(A, k, true);
    lwi_team_meet(team);
    return k;
}

void lwi_elim_dense_scale(const lwi_elim_dense *A, int rank, const lwi_team *team)
{
    for (int k = team->part; k < rank; k += team->parts) {
        double *row = A->A + k * A->ld;
        const double inverse = row[k];
        for (int j = k + 1; j < A->n; j++) row[j] *= inverse;
    }
    lwi_team_meet(team);
}

// ----------------------------------------------------------------------------- triangular systems

// Right sides of a triangular system, and how its matrix is stored.
typedef struct sides {
    const lwi_elim_kernels *kernels;
    int down, right; // steps from an entry of the matrix to the next one
    int columns, ld;
} sides;

// X -= A known: m rows of X, k known ones.
LWI_INLINE void subtract_known(const sides *s, int m, int k, const double *A, const double *known,
                               double *X)
{
    lwi_elim_dense_subtract(s->kernels, (lwi_elim_product){.m = m,
                                                           .n = s->columns,
                                                           .k = k,
                                                           .s = 1,
                                                           .A = A,
                                                           .down = s->down,
                                                           .right = s->right,
                                                           .B = known,
                                                           .lb = s->ld,
                                                           .C = X,
                                                           .lc = s->ld,
                                                           .above = -1});
}

void lwi_elim_dense_forward(const lwi_elim_kernels *kernels, int n, const double *L, int ll,
                            int columns, double *X, int lx)
{
    const sides x = {kernels, 1, ll, columns, lx};
    for (int b = 0; b < n; b += PANEL) {
        const int end = smaller(b + PANEL, n);
        subtract_known(&x, end - b, b, L + b, X, X + b * lx);
        for (int k = b + 1; k < end; k++)
            subtract_known(&x, 1, k - b, L + b * ll + k, X + b * lx, X + k * lx);
    }
}

void lwi_elim_dense_backward(const lwi_elim_kernels *kernels, int n, const double *L, int ll,
                             int columns, double *X, int lx)
{
    const sides x = {kernels, ll, 1, columns, lx};
    for (int b = (n - 1) / PANEL * PANEL; b >= 0; b -= PANEL) {
        const int end = smaller(b + PANEL, n);
        subtract_known(&x, end - b, n - end, L + b * ll + end, X + end * lx, X + b * lx);
        for (int k = end - 2; k >= b; k--)
            subtract_known(&x, 1, end - k - 1, L + k * ll + k + 1, X + (k + 1) * lx, X + k * lx);
    }
}

void lwi_elim_dense_solve(const lwi_elim_kernels *kernels, int n, const double *L, int ll,
                          int columns, double *X, int lx)
{
    lwi_elim_dense_forward(kernels, n, L, ll, columns, X, lx);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < columns; j++) X[k * lx + j] *= L[k * (ll + 1)];
    lwi_elim_dense_backward(kernels, n, L, ll, columns, X, lx);
}

void lwi_elim_dense_solve_vector(int n, const double *L, int ll, double *x)
{
    for (int k = 0; k < n; k++) lwi_subtract(n - k - 1, x[k], L + k * (ll + 1) + 1, x + k + 1);
    for (int k = n - 1; k >= 0; k--) {
        const double *row = L + k * ll;
        x[k] = x[k] * row[k] - lwi_pairs_dot(n - k - 1, row + k + 1, x + k + 1);
    }
}
