// lanes_join.inl -- part of lanes.inl: nodes that join runs of a chain.
//
// Most nodes of chains close one edge and leave one or two of as many rows open (lwi_group_join).
// All sizes are constants then, blocks are read where they come from, and what is known to be zero is
// neither written nor read.  The operations are those of `eliminate`, `block_up` and `block_down`.

// What child i leaves between its blocks of rows p and q.
INLINE const lwi_lane *left_by(const lwi_dual_group *g, int i, const bool transposed, const int m,
                               const int p, const int q)
{
    const lwi_dual_group *c = g->child[i].group;
    return (transposed ? c->V : c->U) + p * m * c->no + q * m;
}

// Pivot block: that of the matrix and what children leave; of the transpose what is above the diagonal.
INLINE void join_pivots(const lwi_dual_group *g, const int m, const int ld, const bool transposed,
                        const lwi_lane *R, real a[6][6], int l)
{
    UNROLL for (int i = 0; i < m; i++) UNROLL for (int j = i + transposed; j < m; j++) a[i][j] =
        AT(R[i * ld + j]);
    for (int c = 0; c < g->nchild; c++) {
        const lwi_lane *from = left_by(g, c, transposed, m, 0, 0);
        const int lu = g->child[c].group->no;
        UNROLL for (int i = 0; i < m; i++) UNROLL for (int j = i + transposed; j < m; j++) a[i][j] +=
            AT(from[i * lu + j]);
    }
}

// D^-1 L^-1 of the columns of open edge o.
INLINE void join_columns(const lwi_dual_group *g, const int m, const int ld, const int o,
                         const bool transposed, real a[6][6], lwi_lane *R, int l)
{
    const int child = g->join.from[o];
    const lwi_lane *from = child < 0 ? NULL : left_by(g, child, transposed, m, 0, 1);
    const int lu = child < 0 ? 0 : g->child[child].group->no;
    const bool own = g->join.own[o];
    R += m + o * m;
    UNROLL for (int j = 0; j < m; j++)
    {
        real f[6];
        UNROLL for (int k = 0; k < m; k++)
        {
            f[k] = ZERO;
            if (own) f[k] = AT(R[k * ld + j]);
            if (from) f[k] = own ? f[k] + AT(from[k * lu + j]) : (real)AT(from[k * lu + j]);
        }
        UNROLL for (int k = 0; k < m; k++) UNROLL for (int i = k + 1; i < m; i++) f[i] =
            NMAD(a[k][i], f[k], f[i]);
        UNROLL for (int k = 0; k < m; k++) AT(R[k * ld + j]) = a[k][k] * f[k];
    }
}

// What is left of open edges o and p: -Y D Z, and what the child with both rows had there.
INLINE void join_update(const lwi_dual_group *g, const int m, const int nb, const int o, const int p,
                        const bool transposed, const lwi_lane *Y, const lwi_lane *Z,
                        const real d[6], lwi_lane *U, int l)
{
    const int ld = m + nb * m, no = nb * m, child = o == p ? g->join.from[o] : -1;
    const lwi_lane *from = child < 0 ? NULL : left_by(g, child, transposed, m, 1, 1);
    const int lu = child < 0 ? 0 : g->child[child].group->no;
    Y += m + o * m, Z += m + p * m, U += o * m * no + p * m;
    UNROLL for (int i = 0; i < m; i++)
    {
        const int first = o == p ? i + transposed : 0;
        real y[6], s[6];
        UNROLL for (int k = 0; k < m; k++) y[k] = -AT(Y[k * ld + i]) * d[k];
        if (from)
            UNROLL for (int j = first; j < m; j++) s[j] = MAD(y[0], AT(Z[j]), AT(from[i * lu + j]));
        else
            UNROLL for (int j = first; j < m; j++) s[j] = y[0] * AT(Z[j]);
        UNROLL for (int k = 1; k < m; k++) UNROLL for (int j = first; j < m; j++) s[j] =
            MAD(y[k], AT(Z[k * ld + j]), s[j]);
        UNROLL for (int j = first; j < m; j++) AT(U[i * no + j]) = s[j];
    }
}

INLINE mask join(lwi_dual_group *g, const int m, const int nb, const bool two, int l)
{
    const int ld = m + nb * m;
    lwi_lane *R = g->R, *Q = two ? g->Q : g->R;
    real a[6][6], b[6][6], d[6];
    join_pivots(g, m, ld, false, R, a, l);
    if (two) join_pivots(g, m, ld, true, Q, b, l);
    const mask sure = pivots(m, two, g->least, g->S, a, b, d, l);
    UNROLL for (int i = 0; i < m; i++) UNROLL for (int j = i; j < m; j++)
    {
        AT(R[i * ld + j]) = a[i][j];
        if (two && j > i) AT(Q[i * ld + j]) = b[i][j];
    }
    UNROLL for (int o = 0; o < nb; o++)
    {
        join_columns(g, m, ld, o, false, two ? b : a, R, l);
        if (two) join_columns(g, m, ld, o, true, a, Q, l);
    }
    UNROLL for (int o = 0; o < nb; o++) UNROLL for (int p = o; p < nb; p++)
    {
        join_update(g, m, nb, o, p, false, Q, R, d, g->U, l);
        if (two) join_update(g, m, nb, o, p, true, R, Q, d, g->V, l);
    }
    return sure;
}

INLINE void join_up(const lwi_dual_group *g, const int m, const int nb, const lwi_lane *R, int l)
{
    const int ld = m + nb * m;
    real z[6];
    UNROLL for (int k = 0; k < m; k++) z[k] = AT(g->v[k]);
    for (int c = 0; c < g->nchild; c++) {
        const lwi_dual_group *child = g->child[c].group;
        UNROLL for (int k = 0; k < m; k++) z[k] += AT(child->v[child->nc + k]);
    }
    UNROLL for (int k = 0; k < m; k++) UNROLL for (int j = k + 1; j < m; j++) z[j] =
        NMAD(AT(R[k * ld + j]), z[k], z[j]);
    UNROLL for (int k = 0; k < m; k++) AT(g->v[k]) = z[k];
    UNROLL for (int o = 0; o < nb; o++)
    {
        const int at = m + o * m, i = g->join.from[o];
        const lwi_dual_group *child = i < 0 ? NULL : g->child[i].group;
        UNROLL for (int j = 0; j < m; j++)
        {
            real s = ZERO;
            if (child) s = AT(child->v[child->nc + m + j]);
            UNROLL for (int k = 0; k < m; k++) s = NMAD(AT(R[k * ld + at + j]), z[k], s);
            AT(g->v[at + j]) = s;
        }
    }
}

INLINE void join_down(const lwi_dual_group *g, const int m, const int nb, int l)
{
    const int ld = m + nb * m;
    const lwi_lane *R = g->R;
    real y[6];
    UNROLL for (int k = 0; k < m; k++) y[k] = AT(g->v[k]) * AT(R[k * ld + k]);
    UNROLL for (int o = 0; o < nb; o++)
    {
        const lwi_lane *above = g->join.above[o];
        lwi_lane *own = g->v + m + o * m;
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

// Calls f(m, nb, ...) with constants; other sizes are no joins (lwi_dual_bundle).
#define WITH_JOIN(g, f, ...)                                                                       \
    if ((g)->join.m == 3 && (g)->join.n == 2)                                                      \
        f(3, 2, __VA_ARGS__);                                                                      \
    else if ((g)->join.m == 3)                                                                     \
        f(3, 1, __VA_ARGS__);                                                                      \
    else if ((g)->join.m == 5 && (g)->join.n == 2)                                                 \
        f(5, 2, __VA_ARGS__);                                                                      \
    else                                                                                           \
        f(5, 1, __VA_ARGS__)
