// join.inl -- part of lanes.c: nodes that join segments of a chain, in batches and single.
//
// Most nodes of chains close one edge and leave none, one or two edges of as many rows open (lwi_elim_join).
// All sizes are then constants, blocks are read from their source, and zeros are neither written nor read.
// The operations are those of `eliminate`, `block_up` and `block_down`; for one join between two compounds
// these are the two-handle formulas of the papers [chadaj2017, (26)-(36); malczyk2019, (35)-(39)].
//
// Input: diagonal blocks and updates of the children.  Output: factor and update of the node, its open vector
// part and lambda.  Cost: constant per node for each size.
//
// Macros in:  NODE, the type of a node; ENTRY, of a number in its arrays, read by AT; OF(f), names;
//      LENGTH(n), row length for n columns; OF(update) and UPDATE(u, i, j), a block of a child's update;
//      OF(update_block), such a block; OF(update_entry), entry i of the open part of a child's v.

// Pivots: a becomes L' and 1/D, b (without symmetry) the same of the transpose, d the pivots.  Returns the
// lanes in which no pivot is lost.
static INLINE mask OF(pivots)(const int nc, const bool two, double min_pivot, const real size[6],
                              real a[6][6], real b[6][6], real d[6])
{
    mask kept = ~NAME(bits)(ZERO);
    UNROLL for (int k = 0; k < nc; k++)
    {
        const real limit =
            two ? NAME(splat)(DBL_MAX) : size[k] + size[k]; // may grow without symmetry
        d[k] = a[k][k];
        kept &= NAME(at_most)(size[k] * NAME(splat)(min_pivot), d[k]);
        kept &= NAME(at_most)(d[k], limit) & ~NAME(at_most)(size[k], ZERO);
        const real inverse = NAME(splat)(1) / d[k];
        a[k][k] = inverse;
        if (two) b[k][k] = inverse;
        UNROLL for (int i = k + 1; i < nc; i++)
        {
            const real u = a[k][i] * inverse, lower = two ? b[k][i] * inverse : u;
            UNROLL for (int j = i; j < nc; j++)
            {
                a[i][j] = NMAD(lower, a[k][j], a[i][j]);
                if (two && j > i) b[i][j] = NMAD(u, b[k][j], b[i][j]);
            }
            a[k][i] = u;
            if (two) b[k][i] = lower;
        }
    }
    return kept;
}

// Pivot block: the block of the matrix and the updates of the children; of the transpose only above the
// diagonal.
static INLINE void OF(join_pivots)(const NODE *g, const int m, const int ld, const bool transposed,
                                   const ENTRY *R, real a[6][6], int l)
{
    UNROLL for (int i = 0; i < m; i++) UNROLL for (int j = i + transposed; j < m; j++) a[i][j] =
        AT(R[i * ld + j]);
    for (int c = 0; c < g->nchild; c++) {
        const OF(update) from = OF(update_block)(g, c, transposed, m, 0, 0);
        UNROLL for (int i = 0; i < m; i++) UNROLL for (int j = i + transposed; j < m; j++)
            a[i][j] += UPDATE(from, i, j);
    }
}

// D^-1 L^-1 of the columns of open edge o.
static INLINE void OF(join_columns)(const NODE *g, const int m, const int ld, const int o,
                                    const bool transposed, real a[6][6], ENTRY *R, int l)
{
    const int child = g->join.from[o];
    const OF(update) from = OF(update_block)(g, child, transposed, m, 0, 1);
    const bool own = g->join.own[o];
    R += m + o * m;
    UNROLL for (int j = 0; j < m; j++)
    {
        real f[6];
        UNROLL for (int k = 0; k < m; k++)
        {
            f[k] = ZERO;
            if (own) f[k] = AT(R[k * ld + j]);
            if (from.at) f[k] = own ? f[k] + UPDATE(from, k, j) : (real)UPDATE(from, k, j);
        }
        UNROLL for (int k = 0; k < m; k++) UNROLL for (int i = k + 1; i < m; i++) f[i] =
            NMAD(a[k][i], f[k], f[i]);
        UNROLL for (int k = 0; k < m; k++) AT(R[k * ld + j]) = a[k][k] * f[k];
    }
}

// Update of open edges o and p: -Y D Z, and the update of the child that has both rows.
static INLINE void OF(join_update)(const NODE *g, const int m, const int ld, const int lu,
                                   const int o, const int p, const bool transposed, const ENTRY *Y,
                                   const ENTRY *Z, const real d[6], ENTRY *U, int l)
{
    const int child = o == p ? g->join.from[o] : -1;
    const OF(update) from = OF(update_block)(g, child, transposed, m, 1, 1);
    Y += m + o * m, Z += m + p * m, U += o * m * lu + p * m;
    UNROLL for (int i = 0; i < m; i++)
    {
        const int first = o == p ? i + transposed : 0;
        real y[6], s[6];
        UNROLL for (int k = 0; k < m; k++) y[k] = -AT(Y[k * ld + i]) * d[k];
        if (from.at)
            UNROLL for (int j = first; j < m; j++) s[j] = MAD(y[0], AT(Z[j]), UPDATE(from, i, j));
        else
            UNROLL for (int j = first; j < m; j++) s[j] = y[0] * AT(Z[j]);
        UNROLL for (int k = 1; k < m; k++) UNROLL for (int j = first; j < m; j++) s[j] =
            MAD(y[k], AT(Z[k * ld + j]), s[j]);
        UNROLL for (int j = first; j < m; j++) AT(U[i * lu + j]) = s[j];
    }
}

/** S: diagonal of every row before the elimination. */
static INLINE mask OF(join)(const NODE *g, const int m, const int nb, const bool two,
                            double min_pivot, ENTRY *S, int l)
{
    const int ld = LENGTH(m + nb * m), lu = LENGTH(nb * m);
    ENTRY *R = g->R, *Q = two ? g->Q : g->R;
    real a[6][6], b[6][6], d[6], size[6];
    UNROLL for (int k = 0; k < m; k++) AT(S[k]) = size[k] = AT(R[k * (ld + 1)]);
    OF(join_pivots)(g, m, ld, false, R, a, l);
    if (two) OF(join_pivots)(g, m, ld, true, Q, b, l);
    const mask kept = OF(pivots)(m, two, min_pivot, size, a, b, d);
    UNROLL for (int i = 0; i < m; i++) UNROLL for (int j = i; j < m; j++)
    {
        AT(R[i * ld + j]) = a[i][j];
        if (two && j > i) AT(Q[i * ld + j]) = b[i][j];
    }
    UNROLL for (int o = 0; o < nb; o++)
    {
        OF(join_columns)(g, m, ld, o, false, two ? b : a, R, l);
        if (two) OF(join_columns)(g, m, ld, o, true, a, Q, l);
    }
    UNROLL for (int o = 0; o < nb; o++) UNROLL for (int p = o; p < nb; p++)
    {
        OF(join_update)(g, m, ld, lu, o, p, false, Q, R, d, g->U, l);
        if (two) OF(join_update)(g, m, ld, lu, o, p, true, R, Q, d, g->V, l);
    }
    return kept;
}

static INLINE void OF(join_up)(const NODE *g, const int m, const int nb, const ENTRY *R, int l)
{
    const int ld = LENGTH(m + nb * m);
    real z[6];
    UNROLL for (int k = 0; k < m; k++) z[k] = AT(g->v[k]);
    for (int c = 0; c < g->nchild; c++)
        UNROLL for (int k = 0; k < m; k++) z[k] += OF(update_entry)(g, c, k, l);
    UNROLL for (int k = 0; k < m; k++) UNROLL for (int j = k + 1; j < m; j++) z[j] =
        NMAD(AT(R[k * ld + j]), z[k], z[j]);
    UNROLL for (int k = 0; k < m; k++) AT(g->v[k]) = z[k];
    UNROLL for (int o = 0; o < nb; o++)
    {
        const int at = m + o * m, child = g->join.from[o];
        UNROLL for (int j = 0; j < m; j++)
        {
            real s = ZERO;
            if (child >= 0) s = OF(update_entry)(g, child, m + j, l);
            UNROLL for (int k = 0; k < m; k++) s = NMAD(AT(R[k * ld + at + j]), z[k], s);
            AT(g->v[at + j]) = s;
        }
    }
}

static INLINE void OF(join_down)(const NODE *g, const int m, const int nb, int l)
{
    const int ld = LENGTH(m + nb * m);
    const ENTRY *R = g->R;
    real y[6];
    UNROLL for (int k = 0; k < m; k++) y[k] = AT(g->v[k]) * AT(R[k * ld + k]);
    UNROLL for (int o = 0; o < nb; o++)
    {
        const ENTRY *above = g->over[o];
        ENTRY *own = g->v + m + o * m;
        UNROLL for (int j = 0; j < m; j++)
        {
            const real x = AT(above[j]);
            AT(own[j]) = x;
            UNROLL for (int k = 0; k < m; k++) y[k] = NMAD(AT(R[k * ld + m + o * m + j]), x, y[k]);
        }
    }
    UNROLL for (int k = m - 1; k >= 0; k--) UNROLL for (int j = k + 1; j < m; j++) y[k] =
        NMAD(AT(R[k * ld + j]), y[j], y[k]);
    UNROLL for (int k = 0; k < m; k++) AT(g->v[k]) = y[k];
}
