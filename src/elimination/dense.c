// dense.c -- panels of a symmetric matrix, and triangular systems in blocks of rows.
#include "elimination/dense.h"

enum { PANEL = 16 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

// ---------------------------------------------------------------------------------------- pivots

int lwi_elim_dense_largest(const lwi_elim_dense *A, int from)
{
    const double *R = A->A;
    int best = from;
    for (int i = from + 1; i < A->n; i++)
        if (R[i * A->ld + i] > R[best * A->ld + best]) best = i;
    return best;
}

static void exchange(double *a, double *b)
{
    const double t = *a;
    *a = *b;
    *b = t;
}

// Exchanges rows and columns a <= b.
static void exchange_both(const lwi_elim_dense *A, int a, int b)
{
    const int n = A->n, ld = A->ld;
    double *R = A->A;
    LWI_ASSERT(0 <= a && a <= b && b < n && n <= ld);
    if (a == b) return;
    for (int i = 0; i < a; i++) exchange(&R[i * ld + a], &R[i * ld + b]);
    exchange(&R[a * ld + a], &R[b * ld + b]);
    for (int i = a + 1; i < b; i++) exchange(&R[a * ld + i], &R[i * ld + b]);
    for (int j = b + 1; j < n; j++) exchange(&R[a * ld + j], &R[b * ld + j]);
}

// Brings the largest pivot to place k.  False: it is not within its limits.
static bool take_pivot(const lwi_elim_dense *A, int k)
{
    const int p = lwi_elim_dense_largest(A, k);
    const double pivot = A->A[p * (A->ld + 1)];
    if (!(pivot > A->min && pivot <= A->max)) return false;
    if (A->swap) A->swap[k] = p;
    if (A->perm) {
        const int other = A->perm[k];
        A->perm[k] = A->perm[p], A->perm[p] = other;
    }
    exchange_both(A, k, p);
    return true;
}

// Pivots first ... end - 1; returns the number of pivots taken so far.
static int eliminate_panel(const lwi_elim_dense *A, int first, int end)
{
    const int n = A->n, ld = A->ld;
    for (int k = first; k < end; k++) {
        if ((A->swap || A->perm) && !take_pivot(A, k)) return k;
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
        const double inverse = 1 / row[k];
        for (int i = k + 1; i < n; i++) A->A[i * ld + i] -= row[i] * inverse * row[i];
        row[k] = inverse;
    }
    return end;
}

// Subtracts the rows of a panel from those behind it, above the diagonal.
static void update_behind(const lwi_elim_dense *A, int first, int end, const lwi_team *team)
{
    const int n = A->n, ld = A->ld;
    const double *panel = A->A + first * ld;
    for (int i = end + PANEL * team->part; i < n; i += PANEL * team->parts)
        lwi_elim_dense_subtract(A->kernels, (lwi_elim_product){.m = smaller(PANEL, n - i),
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

int lwi_elim_dense_eliminate(const lwi_elim_dense *A, int rank, bool rest, int *reached,
                             const lwi_team *team)
{
    LWI_ASSERT(rank >= 0 && rank <= A->n);
    int k = 0;
    while (k < rank) {
        const int end = smaller(k + PANEL, rank);
        int taken = end;
        if (team->part == 0) taken = eliminate_panel(A, k, end);
        if (team->part == 0 && reached) *reached = taken;
        lwi_team_meet(team);
        if (reached) taken = *reached;
        if (taken > k && (rest || (taken == end && end < rank))) update_behind(A, k, taken, team);
        lwi_team_meet(team);
        k = taken;
        if (taken < end) break;
    }
    return k;
}

void lwi_elim_dense_scale(const lwi_elim_dense *A, int rank, const lwi_team *team)
{
    for (int k = team->part; k < rank; k += team->parts) {
        double *row = A->A + k * A->ld;
        for (int j = k + 1; j < A->n; j++) row[j] *= row[k];
    }
    lwi_team_meet(team);
}

// ----------------------------------------------------------------------------- triangular systems

void lwi_elim_dense_forward(const lwi_elim_kernels *kernels, int n, const double *L, int ll,
                            int columns, double *X, int lx)
{
    for (int b = 0; b < n; b += PANEL) {
        const int end = smaller(b + PANEL, n);
        lwi_elim_dense_subtract(kernels, (lwi_elim_product){.m = end - b,
                                                            .n = columns,
                                                            .k = b,
                                                            .s = 1,
                                                            .A = L + b,
                                                            .down = 1,
                                                            .right = ll,
                                                            .B = X,
                                                            .lb = lx,
                                                            .C = X + b * lx,
                                                            .lc = lx,
                                                            .above = -1});
        for (int k = b + 1; k < end; k++)
            lwi_elim_dense_subtract(kernels, (lwi_elim_product){.m = 1,
                                                                .n = columns,
                                                                .k = k - b,
                                                                .s = 1,
                                                                .A = L + b * ll + k,
                                                                .right = ll,
                                                                .B = X + b * lx,
                                                                .lb = lx,
                                                                .C = X + k * lx,
                                                                .lc = lx,
                                                                .above = -1});
    }
}

void lwi_elim_dense_backward(const lwi_elim_kernels *kernels, int n, const double *L, int ll,
                             int columns, double *X, int lx)
{
    for (int b = (n - 1) / PANEL * PANEL; b >= 0; b -= PANEL) {
        const int end = smaller(b + PANEL, n);
        lwi_elim_dense_subtract(kernels, (lwi_elim_product){.m = end - b,
                                                            .n = columns,
                                                            .k = n - end,
                                                            .s = 1,
                                                            .A = L + b * ll + end,
                                                            .down = ll,
                                                            .right = 1,
                                                            .B = X + end * lx,
                                                            .lb = lx,
                                                            .C = X + b * lx,
                                                            .lc = lx,
                                                            .above = -1});
        for (int k = end - 2; k >= b; k--)
            lwi_elim_dense_subtract(kernels, (lwi_elim_product){.m = 1,
                                                                .n = columns,
                                                                .k = end - k - 1,
                                                                .s = 1,
                                                                .A = L + k * ll + k + 1,
                                                                .right = 1,
                                                                .B = X + (k + 1) * lx,
                                                                .lb = lx,
                                                                .C = X + k * lx,
                                                                .lc = lx,
                                                                .above = -1});
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
