// lanes.c -- kernels of lanes.h: one node of isomorphic subtrees in all lanes.  Compiled once for each
// instruction set.
//
// Problem: factor the front of a node and eliminate its vectors, for LWI_ELIM_LANES nodes at once.  The
// equations are those of matrix.c [chadaj2017, (26)-(36); malczyk2019, (35)-(39)].  Symmetry (`two`:
// without) and the common sizes are compile-time constants.
// Input: J, G, c of the bodies, updates of the children.  Output: factors and updates of the batch; lambda, x.
// Cost: per node cubic in its rows for the matrix, quadratic for a vector.
//
// Macros in:  ISA, name of the instruction set; WIDEST, lanes of its registers.  Out: lwi_elim_kernels_<ISA>.
#include "elimination/dense_blocks.h"
#include "elimination/lanes.h"

#include "base/simd/sums.h"

#include <float.h>
#include <string.h>

#define WIDTH WIDEST
#include "base/simd/lane.inl"

#define ZERO NAME(splat)(0)
#include "base/simd/transpose.inl"

// Unrolls loops with constant bounds, so that arrays indexed by them become registers.  clang does so without
// a pragma; sanitizer and debug builds do without.
#if defined(__clang__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||         \
    !defined(__OPTIMIZE__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

// ------------------------------------------------------------------------------- lanes in and out

// Reads m rows of six, m constant, into lanes.
static INLINE void take_rows(const int m, const double (*from)[6], const int *slot,
                             lwi_elim_lane *to, int l)
{
    const double *lane[WIDTH];
    for (int i = 0; i < WIDTH; i++) lane[i] = from[6 * slot[l + i]];
    UNROLL for (int i = 0; i < 6 * m; i += WIDTH)
    {
        real r[WIDTH];
        const int n = 6 * m - i < WIDTH ? 6 * m - i : WIDTH;
        from_rows(lane, n, r);
        UNROLL for (int k = 0; k < n; k++) AT(to[i + k]) = r[k];
        for (int k = 0; k < WIDTH; k++) lane[k] += WIDTH;
    }
}

// Reads J; that of edges closed elsewhere is needed for S' only.
static void gather_J(const lwi_elim *elim, const lwi_elim_batch *g, int l)
{
    const int n = elim->unsymmetric ? g->nslot : g->nown;
    for (int i = 0; i < n; i++) {
        const lwi_elim_batch_slot *s = &g->slot[i];
        LWI_WITH_EDGE_ROWS(s->m, take_rows, (const double(*)[6])elim->J, s->from, g->J + 6 * s->at,
                           l)
    }
}

static void gather_G(const lwi_elim *elim, const lwi_elim_batch *g, int l)
{
    for (int i = 0; i < g->nslot; i++) {
        const lwi_elim_batch_slot *s = &g->slot[i];
        LWI_WITH_EDGE_ROWS(s->m, take_rows, (const double(*)[6])elim->G, s->from, g->G + 6 * s->at,
                           l)
    }
}

// ------------------------------------------------------------------------------------- the matrix

// [m][n] = J G' or += J G'
static INLINE void product(const int m, const int n, const lwi_elim_lane *J, const lwi_elim_lane *G,
                           lwi_elim_lane *R, int ld, bool add, bool upper, int l)
{
    for (int c = 0; c < n; c++, G += 6) {
        real b[6];
        UNROLL for (int k = 0; k < 6; k++) b[k] = AT(G[k]);
        UNROLL for (int r = 0; r < m; r++)
        {
            const lwi_elim_lane *a = J + 6 * r;
            if (upper && r > c) break;
            real s = AT(a[0]) * b[0];
            if (add) s += AT(R[r * ld + c]);
            UNROLL for (int k = 1; k < 6; k++) s = MAD(AT(a[k]), b[k], s);
            AT(R[r * ld + c]) = s;
        }
    }
}

// Writes the blocks J G' of the rows closed here; `swap`: with J and G exchanged, those of S'.
static void put_blocks(const lwi_elim_batch *g, bool swap, lwi_elim_lane *R, int l)
{
    const int ld = g->nc + g->no;
    if (g->clear)
        for (int i = 0; i < g->nc * ld; i++) AT(R[i]) = ZERO;
    for (int i = 0; i < g->nblock; i++) {
        const lwi_elim_batch_block *b = &g->block[i];
        const lwi_elim_lane *left = (swap ? g->G : g->J) + 6 * b->J;
        const lwi_elim_lane *right = (swap ? g->J : g->G) + 6 * b->G;
        lwi_elim_lane *to = R + b->at;
        if (b->m == 3 && b->n == 3)
            product(3, 3, left, right, to, ld, b->add, b->upper, l);
        else if (b->m == 5 && b->n == 5)
            product(5, 5, left, right, to, ld, b->add, b->upper, l);
        else
            product(b->m, b->n, left, right, to, ld, b->add, b->upper, l);
    }
}

// Adds the update of a child to [R U].
static INLINE void add_child(const lwi_elim_batch_child *c, const int nc, const int no,
                             const lwi_elim_lane *leaves, lwi_elim_lane *R, lwi_elim_lane *U, int l)
{
    const int lu = c->batch->no;
    for (int a = 0; a < c->nmove; a++)
        for (int r = 0; r < c->move[a].n; r++) {
            const int row = c->move[a].to + r;
            lwi_elim_lane *to = row < nc ? R + row * (nc + no) : U + (row - nc) * no - nc;
            const lwi_elim_lane *from = leaves + (c->move[a].from + r) * lu;
            for (int b = a; b < c->nmove; b++)
                for (int s = b == a ? r : 0; s < c->move[b].n; s++)
                    AT(to[c->move[b].to + s]) += AT(from[c->move[b].from + s]);
        }
}

// A block of a child's update; at: NULL without a child.
typedef struct update_of_batch {
    const lwi_elim_lane *at;
    int ld;
} update_of_batch;

static INLINE update_of_batch update_block_of_batch(const lwi_elim_batch *g, int i,
                                                    const bool transposed, const int m, const int p,
                                                    const int q)
{
    if (i < 0) return (update_of_batch){.at = NULL};
    const lwi_elim_batch *c = g->child[i].batch;
    return (update_of_batch){(transposed ? c->V : c->U) + p * m * c->no + q * m, c->no};
}

// Entry i of the open part of a child's v.
static INLINE real update_entry_of_batch(const lwi_elim_batch *g, int child, int i, int l)
{
    const lwi_elim_batch *c = g->child[child].batch;
    return AT(c->v[c->nc + i]);
}

#define NODE lwi_elim_batch
#define ENTRY lwi_elim_lane
#define OF(f) f##_of_batch
#define LENGTH(n) (n)
#define UPDATE(from, i, j) AT((from).at[(i) * (from).ld + (j)])
#include "elimination/simd/join.inl"

// Calls f(m, n, ...) with constants; joins have no other sizes (lwi_elim_create_tasks).
#define WITH_JOIN(join, f, ...)                                                                    \
    switch (3 * ((join).m == 5) + (join).n) {                                                      \
    case 0:                                                                                        \
        f(3, 0, __VA_ARGS__);                                                                      \
        break;                                                                                     \
    case 1:                                                                                        \
        f(3, 1, __VA_ARGS__);                                                                      \
        break;                                                                                     \
    case 2:                                                                                        \
        f(3, 2, __VA_ARGS__);                                                                      \
        break;                                                                                     \
    case 3:                                                                                        \
        f(5, 0, __VA_ARGS__);                                                                      \
        break;                                                                                     \
    case 4:                                                                                        \
        f(5, 1, __VA_ARGS__);                                                                      \
        break;                                                                                     \
    default:                                                                                       \
        f(5, 2, __VA_ARGS__);                                                                      \
        break;                                                                                     \
    }

// D^-1 L^-1 of the columns after the first nc of R; a: L' and 1/D.
static INLINE void columns(const int nc, const int no, real a[6][6], lwi_elim_lane *R, int l)
{
    const int ld = nc + no;
    for (int j = nc; j < ld; j++) {
        real f[6];
        UNROLL for (int k = 0; k < nc; k++) f[k] = AT(R[k * ld + j]);
        UNROLL for (int k = 0; k < nc; k++) UNROLL for (int i = k + 1; i < nc; i++) f[i] =
            NMAD(a[k][i], f[k], f[i]);
        UNROLL for (int k = 0; k < nc; k++) AT(R[k * ld + j]) = a[k][k] * f[k];
    }
}

// U -= Y D Z, or = -Y D Z: upper part, Y' and Z from column nc on.
static INLINE void update(const int nc, const int no, const lwi_elim_lane *Y,
                          const lwi_elim_lane *Z, const real d[6], lwi_elim_lane *U, bool bare,
                          int l)
{
    const int ld = nc + no;
    for (int i = 0; i < no; i++, U += no) {
        real p[6];
        UNROLL for (int k = 0; k < nc; k++) p[k] = -AT(Y[k * ld + nc + i]) * d[k];
        for (int j = i; j < no; j++) {
            real s = p[0] * AT(Z[nc + j]);
            if (!bare) s += AT(U[j]);
            UNROLL for (int k = 1; k < nc; k++) s = MAD(p[k], AT(Z[k * ld + nc + j]), s);
            AT(U[j]) = s;
        }
    }
}

static INLINE mask eliminate(lwi_elim_batch *g, const int nc, const int no, const bool two, int l)
{
    const int ld = nc + no;
    lwi_elim_lane *R = g->R, *Q = two ? g->Q : g->R;
    real a[6][6], b[6][6], d[6];
    UNROLL for (int i = 0; i < nc; i++) UNROLL for (int j = i; j < nc; j++)
    {
        a[i][j] = AT(R[i * ld + j]);
        if (two) b[i][j] = AT(Q[i * ld + j]);
    }
    real size[6];
    UNROLL for (int k = 0; k < nc; k++) size[k] = AT(g->S[k]);
    const mask kept = pivots_of_batch(nc, two, g->min_pivot, size, a, b, d);
    UNROLL for (int i = 0; i < nc; i++) UNROLL for (int j = i; j < nc; j++)
    {
        AT(R[i * ld + j]) = a[i][j];
        if (two) AT(Q[i * ld + j]) = b[i][j];
    }
    columns(nc, no, two ? b : a, R, l);
    if (two) columns(nc, no, a, Q, l);
    update(nc, no, Q, R, d, g->U, g->bare, l);
    if (two) update(nc, no, R, Q, d, g->V, g->bare, l);
    return kept;
}

// Calls f(nc, no, ...), nc constant, and no constant for common sizes: chains and trees of spherical and
// revolute joints.
#define WITH_NO(g, nc, no_1, no_2, f, ...)                                                         \
    if ((g)->no == (no_1))                                                                         \
        f(nc, no_1, __VA_ARGS__);                                                                  \
    else if ((g)->no == (no_2))                                                                    \
        f(nc, no_2, __VA_ARGS__);                                                                  \
    else                                                                                           \
        f(nc, (g)->no, __VA_ARGS__)
#define WITH_SIZES(g, f, ...)                                                                      \
    switch ((g)->nc) {                                                                             \
    case 1:                                                                                        \
        f(1, (g)->no, __VA_ARGS__);                                                                \
        break;                                                                                     \
    case 2:                                                                                        \
        f(2, (g)->no, __VA_ARGS__);                                                                \
        break;                                                                                     \
    case 3:                                                                                        \
        WITH_NO(g, 3, 3, 6, f, __VA_ARGS__);                                                       \
        break;                                                                                     \
    case 4:                                                                                        \
        f(4, (g)->no, __VA_ARGS__);                                                                \
        break;                                                                                     \
    case 5:                                                                                        \
        WITH_NO(g, 5, 5, 10, f, __VA_ARGS__);                                                      \
        break;                                                                                     \
    default:                                                                                       \
        f(6, (g)->no, __VA_ARGS__);                                                                \
        break;                                                                                     \
    }

// Adds eps to S_rr.
static void put_eps(const lwi_elim *elim, const lwi_elim_batch *g, int l)
{
    const int step = g->nc + g->no + 1;
    real eps[6];
    const double *from[WIDTH];
    for (int i = 0; i < WIDTH; i++) from[i] = elim->eps + g->row[l + i];
    from_rows(from, g->nc, eps);
    for (int r = 0; r < g->nc; r++) AT(g->R[r * step]) += eps[r];
}

static void note_diagonal(const lwi_elim_batch *g, int l)
{
    const int step = g->nc + g->no + 1;
    for (int r = 0; r < g->nc; r++) AT(g->S[r]) = AT(g->R[r * step]);
}

// Adds the updates of all children to the front.
static void add_children(const lwi_elim *elim, lwi_elim_batch *g, int l)
{
    for (int r = 0; r < g->no && !g->bare; r++) // upper triangles
        for (int i = r * g->no + r; i < (r + 1) * g->no; i++) {
            AT(g->U[i]) = ZERO;
            if (elim->unsymmetric) AT(g->V[i]) = ZERO;
        }
    for (int i = 0; i < g->nchild; i++) {
        const lwi_elim_batch_child *c = &g->child[i];
        add_child(c, g->nc, g->no, c->batch->U, g->R, g->U, l);
        if (elim->unsymmetric) add_child(c, g->nc, g->no, c->batch->V, g->Q, g->V, l);
    }
}

static void put_front(const lwi_elim *elim, lwi_elim_batch *g, int l)
{
    if (!elim->assembled) {
        gather_J(elim, g, l);
        gather_G(elim, g, l);
        put_blocks(g, false, g->R, l);
        if (elim->unsymmetric) put_blocks(g, true, g->Q, l);
    }
    if (elim->regular) put_eps(elim, g, l);
    if (g->join.m) return;
    note_diagonal(g, l);
    add_children(elim, g, l);
}

static void matrix(const lwi_elim *elim, lwi_elim_batch *g)
{
    g->failed = false;
    for (int l = 0; l < g->lanes; l += WIDTH) {
        mask kept;
        if (!elim->assembled || !g->join.m) put_front(elim, g, l);
#define ELIMINATE(nc, no, two) kept = eliminate(g, nc, no, two, l)
#define JOIN(m, nb, two) kept = join_of_batch(g, m, nb, two, g->min_pivot, g->S, l)
        if (g->join.m && elim->unsymmetric) {
            WITH_JOIN(g->join, JOIN, true)
        } else if (g->join.m) {
            WITH_JOIN(g->join, JOIN, false)
        } else if (elim->unsymmetric) {
            WITH_SIZES(g, ELIMINATE, true);
        } else {
            WITH_SIZES(g, ELIMINATE, false);
        }
#undef ELIMINATE
#undef JOIN
        const unsigned all = (1u << WIDTH) - 1;
        if (NAME(lanes_of)(kept) != all) g->failed = true;
    }
}

// ------------------------------------------------------------------------------------ the vectors

// y = c - eps lambda - J x of the rows closed here.
static INLINE void right_side(const lwi_elim *elim, const lwi_elim_batch *g,
                              const lwi_elim_batch_edge *e, const int m, int l)
{
    const double *c[WIDTH], *lambda[WIDTH], *eps[WIDTH], *x[WIDTH];
    real y[6], was[6], soft[6];
    for (int i = 0; i < WIDTH; i++) c[i] = elim->c + e->row[l + i];
    from_rows(c, m, y);
    if (elim->refining && elim->regular) {
        for (int i = 0; i < WIDTH; i++) {
            lambda[i] = elim->lambda + e->row[l + i];
            eps[i] = elim->eps + g->row[l + i] + e->at;
        }
        from_rows(lambda, m, was);
        from_rows(eps, m, soft);
        for (int r = 0; r < m; r++) y[r] = NMAD(soft[r], was[r], y[r]);
    }
    for (int k = e->slot; k < e->slot + e->n; k++) {
        const lwi_elim_batch_slot *s = &g->slot[k];
        const lwi_elim_lane *J = g->J + 6 * s->at;
        real b[6];
        for (int i = 0; i < WIDTH; i++) x[i] = elim->x[s->body[l + i]];
        from_rows(x, 6, b);
        for (int r = 0; r < m; r++, J += 6)
            UNROLL for (int i = 0; i < 6; i++) y[r] = NMAD(AT(J[i]), b[i], y[r]);
    }
    for (int r = 0; r < m; r++) AT(g->v[e->at + r]) = y[r];
}

// z = L^-1 y_c, y_o -= Y z
static INLINE void block_up(const lwi_elim_batch *g, const int nc, const int no,
                            const lwi_elim_lane *R, int l)
{
    const int ld = nc + no;
    real z[6];
    UNROLL for (int k = 0; k < nc; k++) z[k] = AT(g->v[k]);
    UNROLL for (int k = 0; k < nc; k++) UNROLL for (int j = k + 1; j < nc; j++) z[j] =
        NMAD(AT(R[k * ld + j]), z[k], z[j]);
    UNROLL for (int k = 0; k < nc; k++) AT(g->v[k]) = z[k];
    for (int j = nc; j < ld; j++) {
        real s = AT(g->v[j]);
        UNROLL for (int k = 0; k < nc; k++) s = NMAD(AT(R[k * ld + j]), z[k], s);
        AT(g->v[j]) = s;
    }
}

static void rows(const lwi_elim *elim, const lwi_elim_batch *g)
{
    for (int l = 0; l < g->lanes; l += WIDTH) gather_J(elim, g, l);
}

static void up(const lwi_elim *elim, const lwi_elim_batch *g)
{
    for (int l = 0; l < g->lanes; l += WIDTH) {
        if (elim->reread_J && !elim->assembled) gather_J(elim, g, l);
        for (int i = 0; i < g->nedge && !elim->assembled; i++) {
            const lwi_elim_batch_edge *e = &g->edge[i];
#define RIGHT_SIDE(m, unused) right_side(elim, g, e, m, l)
            LWI_WITH_EDGE_ROWS(e->m, RIGHT_SIDE, 0)
#undef RIGHT_SIDE
        }
        const lwi_elim_lane *R = elim->unsymmetric ? g->Q : g->R;
        if (g->join.m) {
#define UP(m, nb, unused) join_up_of_batch(g, m, nb, R, l)
            WITH_JOIN(g->join, UP, 0)
#undef UP
            continue;
        }
        for (int j = g->nc; j < g->nc + g->no; j++) AT(g->v[j]) = ZERO;
        for (int i = 0; i < g->nchild; i++) {
            const lwi_elim_batch_child *c = &g->child[i];
            const lwi_elim_lane *from = c->batch->v + c->batch->nc;
            for (int a = 0; a < c->nmove; a++)
                for (int r = 0; r < c->move[a].n; r++)
                    AT(g->v[c->move[a].to + r]) += AT(from[c->move[a].from + r]);
        }
#define UP(nc, no, unused) block_up(g, nc, no, R, l)
        WITH_SIZES(g, UP, 0);
#undef UP
    }
}

// Reads lambda_o from the parents.
static void from_above(const lwi_elim_batch *g, int l)
{
    lwi_elim_lane *v = g->v + g->nc;
    if (g->parent) {
        for (int a = 0; a < g->nmove; a++)
            for (int r = 0; r < g->move[a].n; r++)
                AT(v[g->move[a].from + r]) = AT(g->parent->v[g->move[a].to + r]);
        return;
    }
    for (int i = l; i < l + WIDTH; i++) {
        const lwi_elim_move *move = g->to[i];
        for (int r = 0, a = 0; r < g->no; a++)
            for (int k = 0; k < move[a].n; k++, r++) v[r][i] = g->above[i][move[a].to + k];
    }
}

// lambda_c = U^-1 (D^-1 z - Z lambda_o)
static INLINE void block_down(const lwi_elim_batch *g, const int nc, const int no, int l)
{
    const int ld = nc + no;
    const lwi_elim_lane *R = g->R;
    real y[6];
    UNROLL for (int k = 0; k < nc; k++) y[k] = AT(g->v[k]) * AT(R[k * ld + k]);
    for (int j = nc; j < ld; j++) {
        const real o = AT(g->v[j]);
        UNROLL for (int k = 0; k < nc; k++) y[k] = NMAD(AT(R[k * ld + j]), o, y[k]);
    }
    UNROLL for (int k = nc - 1; k >= 0; k--) UNROLL for (int j = k + 1; j < nc; j++) y[k] =
        NMAD(AT(R[k * ld + j]), y[j], y[k]);
    UNROLL for (int k = 0; k < nc; k++) AT(g->v[k]) = y[k];
}

// lambda, and x += G' lambda of the rows of an edge.
static INLINE void put_out(const lwi_elim *elim, const lwi_elim_batch *g,
                           const lwi_elim_batch_edge *e, const int m, int l)
{
    double *to[WIDTH];
    real y[6], sum[6], b[6];
    for (int r = 0; r < m; r++) y[r] = AT(g->v[e->at + r]);
    for (int i = 0; i < WIDTH; i++) to[i] = elim->lambda + e->row[l + i];
    if (elim->refining) from_rows((const double *const *)to, m, sum);
    for (int r = 0; r < m; r++) sum[r] = elim->refining ? sum[r] + y[r] : y[r];
    to_rows(sum, m, to);
    for (int k = e->slot; k < e->slot + e->n; k++) {
        const lwi_elim_batch_slot *s = &g->slot[k];
        const lwi_elim_lane *G = g->G + 6 * s->at;
        for (int i = 0; i < WIDTH; i++) to[i] = elim->x[s->body[l + i]];
        from_rows((const double *const *)to, 6, b);
        for (int r = 0; r < m; r++, G += 6)
            UNROLL for (int i = 0; i < 6; i++) b[i] = MAD(AT(G[i]), y[r], b[i]);
        to_rows(b, 6, to);
    }
}

static void down(const lwi_elim *elim, const lwi_elim_batch *g)
{
    for (int l = 0; l < g->lanes; l += WIDTH) {
        if (!g->join.m || !g->parent) from_above(g, l);
        if (g->join.m) {
#define DOWN(m, nb, unused) join_down_of_batch(g, m, nb, l)
            WITH_JOIN(g->join, DOWN, 0)
#undef DOWN
        } else {
#define DOWN(nc, no, unused) block_down(g, nc, no, l)
            WITH_SIZES(g, DOWN, 0);
#undef DOWN
        }
        for (int i = 0; i < g->nedge && !elim->assembled; i++) {
            const lwi_elim_batch_edge *e = &g->edge[i];
#define PUT_OUT(m, unused) put_out(elim, g, e, m, l)
            LWI_WITH_EDGE_ROWS(e->m, PUT_OUT, 0)
#undef PUT_OUT
        }
    }
}

// ---------------------------------------------------------------------------------- blocks of a node

// to [n] = x, or += x: the first n lanes.
static INLINE void put_row(real x, int n, bool add, double *to)
{
#if WIDTH == 1
    *to = add ? *to + x : x;
    (void)n;
#else
    if (add) x += n < WIDTH ? some(to, n) : (real) * (const stored_unaligned *)to;
    if (n < WIDTH)
        put_some(x, to, n);
    else
        *(stored_unaligned *)to = x;
#endif
}

// F [m][n] = J G', or += J G', n constant: the columns side by side, with the bits of lwi_block_product.
static INLINE void block(const int n, int m, const double (*J)[6], const double (*G)[6], double *F,
                         int ld, bool add)
{
    enum { CHUNKS = (LWI_EDGE_ROWS + WIDTH - 1) / WIDTH };
    const int chunks = (n + WIDTH - 1) / WIDTH;
    real g[CHUNKS][6];
    UNROLL for (int c = 0; c < chunks; c++)
    {
        const double *row[WIDTH];
        for (int i = 0; i < WIDTH; i++) row[i] = G[c * WIDTH + i < n ? c * WIDTH + i : n - 1];
        from_rows(row, 6, g[c]);
    }
    for (int r = 0; r < m; r++, F += ld) {
        real sum[CHUNKS];
        UNROLL for (int c = 0; c < chunks; c++) sum[c] = ZERO;
        UNROLL for (int k = 0; k < 6; k++)
        {
            const real j = NAME(splat)(J[r][k]);
            UNROLL for (int c = 0; c < chunks; c++) sum[c] += j * g[c][k];
        }
        UNROLL for (int c = 0; c < chunks; c++)
        {
            put_row(sum[c], n - c * WIDTH, add, F + c * WIDTH);
        }
    }
}

static void put_node_blocks(const lwi_elim_block *first, int n, int ld, double (*left)[6],
                            double (*right)[6], double *R)
{
    for (const lwi_elim_block *b = first; b < first + n; b++) {
        const double(*J)[6] = (const double(*)[6])(left + 6 * b->J);
        const double(*G)[6] = (const double(*)[6])(right + 6 * b->G);
        // two columns are no more than a pair
#define BLOCK(n, unused)                                                                           \
    if (n <= 2)                                                                                    \
        lwi_block_product(b->m, n, J, G, R + b->at, ld, b->add);                                   \
    else                                                                                           \
        block(n, b->m, J, G, R + b->at, ld, b->add)
        LWI_WITH_EDGE_ROWS(b->n, BLOCK, 0)
#undef BLOCK
    }
}

#include "elimination/simd/single.inl"
#include "elimination/simd/dense.inl"

#define KERNELS_2(isa) lwi_elim_kernels_##isa
#define KERNELS_1(isa) KERNELS_2(isa)
extern const lwi_elim_kernels KERNELS_1(ISA);
const lwi_elim_kernels KERNELS_1(ISA) = {matrix,          rows,      up,          down,
                                         single_matrix,   single_up, single_down, put_node_blocks,
                                         subtract_product};
