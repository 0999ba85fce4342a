// dense.inl -- part of lanes.c: the product of dense blocks, for nodes with many rows (dense.h).
//
//     C [m][n] -= s A diag(d) B,    A [m][k], B [k][n]
//
// Four rows of C and two registers of columns are kept in registers; products are subtracted in the order of k.  An entry
// does not depend on the width of the registers, nor on the rows and columns that are computed with it.  Cost: m n k.
#define WIDE(f) NAME_2(f, WIDEST)
#define ONE(f) NAME_2(f, 1)

#if WIDEST == 1
typedef double wide, several;
#else
typedef double wide __attribute__((vector_size(8 * WIDEST)));
typedef double several __attribute__((vector_size(8 * WIDEST), may_alias, aligned(8))); // in memory
#endif

enum { ROWS = 4, DEPTH = 32 }; // of A at a time

static INLINE void tile(const int rows, const int nwide, int k, const double *a, const double *B,
                        int lb, double *C, int lc)
{
    wide c[ROWS][2];
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < nwide; v++) c[i][v] =
        *(const several *)&C[i * lc + v * WIDEST];
    for (int q = 0; q < k; q++, a += ROWS, B += lb) {
        wide b[2];
        UNROLL for (int v = 0; v < nwide; v++) b[v] = *(const several *)&B[v * WIDEST];
        UNROLL for (int i = 0; i < rows; i++)
        {
            const wide x = WIDE(splat)(a[i]);
            UNROLL for (int v = 0; v < nwide; v++) c[i][v] = WIDE(fnma)(x, b[v], c[i][v]);
        }
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < nwide; v++) *
        (several *)&C[i * lc + v * WIDEST] = c[i][v];
}

static double less_products(int k, const double *a, const double *b, int lb, double c)
{
    for (int q = 0; q < k; q++) c = ONE(fnma)(a[q * ROWS], b[q * lb], c);
    return c;
}

// Some rows of C, their columns first ... n - 1.
static INLINE void strip(const int rows, int first, int n, int k, const double *a, const double *B,
                         int lb, double *C, int lc)
{
    int j = first;
    for (; j + 2 * WIDEST <= n; j += 2 * WIDEST) tile(rows, 2, k, a, B + j, lb, C + j, lc);
    for (; j + WIDEST <= n; j += WIDEST) tile(rows, 1, k, a, B + j, lb, C + j, lc);
    for (; j < n; j++)
        for (int i = 0; i < rows; i++)
            C[i * lc + j] = less_products(k, a + i, B + j, lb, C[i * lc + j]);
}

// Rows i ... i + rows - 1 of p, the products q ... q + k - 1.
static void subtract_rows(const lwi_elim_product *p, int i, int rows, int q, int k)
{
    double a[DEPTH * ROWS], *C = p->C + i * p->lc;
    const double *B = p->B + q * p->lb;
    for (int c = 0; c < k; c++)
        for (int r = 0; r < rows; r++) {
            const double x = p->s * p->A[(i + r) * p->down + (q + c) * p->right];
            a[c * ROWS + r] = p->d ? x * p->d[(q + c) * p->step] : x;
        }
    const int first = p->above < 0 ? 0 : i + rows < p->n ? i + rows : p->n;
    for (int r = 0; r < rows; r++) // the triangle at the diagonal
        for (int j = i + r + p->above; j < first && p->above >= 0; j++)
            C[r * p->lc + j] = less_products(k, a + r, B + j, p->lb, C[r * p->lc + j]);
    if (rows == ROWS)
        strip(ROWS, first, p->n, k, a, B, p->lb, C, p->lc);
    else
        for (int r = 0; r < rows; r++)
            strip(1, first, p->n, k, a + r, B, p->lb, C + r * p->lc, p->lc);
}

static void subtract_product(const lwi_elim_product *p)
{
    for (int q = 0; q < p->k; q += DEPTH)
        for (int i = 0; i < p->m; i += ROWS)
            subtract_rows(p, i, p->m - i < ROWS ? p->m - i : ROWS, q,
                          p->k - q < DEPTH ? p->k - q : DEPTH);
}
