// dependent.c -- solves the rows of a block for its dependent speeds, as values.
//
// Gram and Schmidt with the columns of the right-hand sides, modified: of W_y = (w_1 ... w_n),
//
//   d_j = w_j.w_j    r_jk = -w_j.w_k / d_j,  w_k += r_jk w_j  (k > j)    c_j = -w_j.b / d_j,  b += c_j w_j
//   y_j = c_j + sum r_jk y_k
//
// Redundant rows need no treatment: W_y has full column rank.  d_j is the squared distance of column j from the span
// of those before it, in any axes.  Two and three rows for as many speeds are solved by determinants.
#include "codegen/loops.h"

typedef struct system {
    lwi_codegen_graph *g;
    int rows, ny, n; // n: right-hand sides
    val *w;          // [ny][rows] columns
    val *b;          // [n][rows]
    val *r;          // [ny][ny]
    val *size;       // [ny]
    val *y;          // [n][ny] out
    // out: pivots relative to the squared lengths of their columns; NULL: pivots are checked
    val *margin;
    int nmargin;
} system_of;

// `size`: the squared length of the column, or the product of several.
static void check(system_of *s, val squared, val size, double norm2, int iv)
{
    if (s->margin) {
        s->margin[s->nmargin++] = mul(s->g, squared, inverse(s->g, size));
        return;
    }
    lwi_codegen_graph_check(s->g, squared, LWI_SMALLEST_PIVOT * LWI_SMALLEST_PIVOT * norm2, 1 + iv);
}

static val *column(const system_of *s, int k)
{
    return s->w + k * s->rows;
}

static void add_multiple(lwi_codegen_graph *g, int n, val *a, val x, const val *b)
{
    for (int i = 0; i < n; i++) a[i] = madd(g, a[i], x, b[i]);
}

// A separate sign would be moved to what reads the result, from loop to loop, and equal loops had different operations.
static val minus_inverse(lwi_codegen_graph *g, val x)
{
    return lwi_codegen_graph_op(g, LWI_OP_DIV, lit(g, -1), x);
}

static val size_of(const system_of *s, int k)
{
    return s->margin ? lwi_codegen_dot(s->g, s->rows, column(s, k), column(s, k)) : lit(s->g, 1);
}

static void orthogonalise(system_of *s, const lwi_elements *elements, const lwi_loop_block *block)
{
    lwi_codegen_graph *g = s->g;
    for (int j = 0; j < s->ny; j++) s->size[j] = size_of(s, j);
    for (int j = 0; j < s->ny; j++) {
        const val *w = column(s, j);
        const val d = lwi_codegen_dot(g, s->rows, w, w);
        check(s, d, s->size[j], elements->loops->norm2[block->y[j]], block->y[j]);
        const val Di = minus_inverse(g, d);
        for (int k = j + 1; k < s->ny; k++) {
            val *x = column(s, k), *r = &s->r[j * s->ny + k];
            *r = mul(g, lwi_codegen_dot(g, s->rows, w, x), Di);
            add_multiple(g, s->rows, x, *r, w);
        }
        for (int k = 0; k < s->n; k++) {
            val *b = s->b + k * s->rows, *c = &s->y[k * s->ny + j];
            *c = mul(g, lwi_codegen_dot(g, s->rows, w, b), Di);
            add_multiple(g, s->rows, b, *c, w);
        }
    }
    for (int k = 0; k < s->n; k++)
        for (int j = s->ny - 1; j >= 0; j--)
            for (int i = j + 1; i < s->ny; i++)
                s->y[k * s->ny + j] =
                    madd(g, s->y[k * s->ny + j], s->r[j * s->ny + i], s->y[k * s->ny + i]);
}

// Rows of the adjugate; returns the determinant.
static val adjugate(const system_of *s, val *a)
{
    lwi_codegen_graph *g = s->g;
    const val *w0 = column(s, 0), *w1 = column(s, 1);
    if (s->ny == 2) {
        a[0] = w1[1], a[1] = neg(g, w1[0]);
        a[2] = neg(g, w0[1]), a[3] = w0[0];
        return sub(g, mul(g, w0[0], w1[1]), mul(g, w0[1], w1[0]));
    }
    const val *w2 = column(s, 2);
    lwi_cross(g, a, w1, w2);
    lwi_cross(g, a + 3, w2, w0);
    lwi_cross(g, a + 6, w0, w1);
    return lwi_codegen_dot(g, 3, w0, a);
}

static void by_determinants(system_of *s, const lwi_elements *elements, const lwi_loop_block *block)
{
    lwi_codegen_graph *g = s->g;
    val a[9];
    double norm2 = 1;
    val size = lit(g, 1);
    const val det = adjugate(s, a);
    for (int k = 0; k < s->ny; k++) {
        norm2 *= elements->loops->norm2[block->y[k]];
        size = mul(g, size, size_of(s, k));
    }
    check(s, mul(g, det, det), size, norm2, block->y[0]);
    const val minus = minus_inverse(g, det);
    for (int k = 0; k < s->n; k++)
        for (int j = 0; j < s->ny; j++)
            s->y[k * s->ny + j] =
                mul(g, minus, lwi_codegen_dot(g, s->ny, a + j * s->ny, s->b + k * s->rows));
}

static void alone(system_of *s, const lwi_elements *elements, const lwi_loop_block *block)
{
    lwi_codegen_graph *g = s->g;
    const val w = column(s, 0)[0];
    check(s, mul(g, w, w), size_of(s, 0), elements->loops->norm2[block->y[0]], block->y[0]);
    const val minus = minus_inverse(g, w);
    for (int k = 0; k < s->n; k++) s->y[k] = mul(g, minus, s->b[k * s->rows]);
}

static val length2(const system_of *s, const lwi_loop_block *block, const val *J, int nv,
                   const int *row, int iv)
{
    val sum = lit(s->g, 0);
    for (int i = 0; i < s->rows; i++) {
        const val x = J[block->row[row[i]] * nv + iv];
        sum = madd(s->g, sum, x, x);
    }
    return sum;
}

// Columns that vanish are independent of no other, though their directions may be: squared lengths relative to the mean
// of all columns of the block.
static void add_lengths(system_of *s, const lwi_loop_block *block, const val *J, int nv,
                        const int *row)
{
    lwi_codegen_graph *g = s->g;
    val sum = lit(g, 0);
    double known;
    int n = 0;
    for (int k = 0; k < block->ny + block->nz; k++) {
        const int iv = k < block->ny ? block->y[k] : block->z[k - block->ny];
        const val length = length2(s, block, J, nv, row, iv);
        if (lwi_codegen_graph_known(g, length, &known) && known == 0) continue;
        sum = add(g, sum, length);
        n++;
    }
    const val scale = mul(g, lit(g, n), inverse(g, sum));
    for (int k = 0; k < block->ny; k++) {
        const val length = length2(s, block, J, nv, row, block->y[k]);
        if (lwi_codegen_graph_known(g, length, &known) && known > 0) continue; // it never vanishes
        s->margin[s->nmargin++] = mul(g, length, scale);
    }
}

// `margin` NULL: solves; else only fills it, and returns how many there are.
static lw_status solve(system_of s, const lwi_elements *elements, const lwi_loop_block *block,
                       const val *J, const val *b, lwi_arena *arena, int *nmargin)
{
    lwi_codegen_graph *g = s.g;
    const int nv = elements->model->tree_nv, ny = block->ny, n = s.n;
    int *row = LWI_PUSH(arena, int, block->nrow);
    s.w = LWI_PUSH(arena, val, ny * block->nrow);
    s.b = LWI_PUSH(arena, val, n * block->nrow);
    s.r = LWI_PUSH(arena, val, ny * ny);
    s.size = LWI_PUSH(arena, val, ny);
    if (!row || !s.w || !s.b || !s.r || !s.size) return LW_ERR_MEMORY;
    for (int i = 0; i < block->nrow; i++) { // rows with dependent speeds
        bool any = false;
        for (int k = 0; k < ny; k++) {
            double x;
            const val W = J[block->row[i] * nv + block->y[k]];
            any |= !lwi_codegen_graph_known(g, W, &x) || x != 0;
        }
        if (any) row[s.rows++] = i;
    }
    for (int i = 0; i < s.rows; i++) {
        for (int k = 0; k < ny; k++) s.w[k * s.rows + i] = J[block->row[row[i]] * nv + block->y[k]];
        for (int k = 0; k < n; k++) s.b[k * s.rows + i] = b[k * block->nrow + row[i]];
    }
    if (s.margin) add_lengths(&s, block, J, nv, row);
    if (s.rows == ny && ny == 1)
        alone(&s, elements, block);
    else if (s.rows == ny && ny <= 3)
        by_determinants(&s, elements, block);
    else
        orthogonalise(&s, elements, block);
    *nmargin = s.nmargin;
    return g->failed ? LW_ERR_MEMORY : LW_OK;
}

lw_status lwi_block_solve(lwi_codegen_graph *g, const lwi_elements *elements,
                          const lwi_loop_block *block, const val *J, int n, val *b, val *y,
                          lwi_arena *arena)
{
    int none;
    const system_of s = {.g = g, .ny = block->ny, .n = n, .y = y};
    return solve(s, elements, block, J, b, arena, &none);
}

lw_status lwi_block_margins(lwi_codegen_graph *g, const lwi_elements *elements,
                            const lwi_loop_block *block, const val *J, val *margin, int *n,
                            lwi_arena *arena)
{
    const system_of s = {.g = g, .ny = block->ny, .margin = margin};
    return solve(s, elements, block, J, NULL, arena, n);
}
