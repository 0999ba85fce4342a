// single.inl -- part of lanes.c: single nodes that join segments of a chain, one number at a time.
//
// The joins of the pieces of a chain depend on one another and have no isomorphic counterparts: their time is
// the latency of the operations.  A real-time step of index3 takes 23 % less time with them on chains of 64
// links, 15 % of 128, 2 % of 1024.  Equations, input and output: join.inl, with one lane.  Cost: constant per node.
#if WIDEST > 1
#undef WIDTH
#define WIDTH 1
#include "base/simd/lane.inl"
#endif
#undef AT
#define AT(entry) (&(entry))[l] // l: 0

// A block of a child's update: entries of a row `step` apart, rows `ld`.
typedef struct update_of_single {
    const double *at;
    int ld, step;
} update_of_single;

static INLINE update_of_single update_block_of_single(const lwi_elim_single *g, int i,
                                                      const bool transposed, const int m,
                                                      const int p, const int q)
{
    if (i < 0) return (update_of_single){.at = NULL};
    const lwi_elim_single_child *c = &g->child[i];
    update_of_single x = {
        .at = transposed ? c->front->V : c->front->U, .ld = c->front->lu, .step = 1};
    if (c->batch && g->elim->laned) {
        x.at = (transposed ? c->batch->V : c->batch->U)[0] + c->lane;
        x.ld = LWI_ELIM_LANES * c->batch->no;
        x.step = LWI_ELIM_LANES;
    }
    x.at += p * m * x.ld + q * m * x.step;
    return x;
}

static INLINE real update_entry_of_single(const lwi_elim_single *g, int i, int at, int l)
{
    (void)l;
    const lwi_elim_single_child *c = &g->child[i];
    return c->batch && g->elim->laned ? c->batch->v[c->batch->nc + at][c->lane]
                                      : c->front->v[c->front->nc + at];
}

#undef NODE
#undef ENTRY
#undef OF
#undef LENGTH
#undef UPDATE
#define NODE lwi_elim_single
#define ENTRY double
#define OF(f) f##_of_single
#define LENGTH(n) lwi_elim_row_length(n)
#define UPDATE(from, i, j) (from).at[(i) * (from).ld + (j) * (from).step]
#include "elimination/simd/join.inl"

// Returns whether all pivots were kept.
static bool single_matrix(const lwi_elim_single *g, double *S, bool two)
{
    mask kept;
#define JOIN(m, nb, two) kept = join_of_single(g, m, nb, two, LWI_ELIM_ROUND, S, 0)
    if (two)
        WITH_JOIN(g->join, JOIN, true)
    else
        WITH_JOIN(g->join, JOIN, false)
#undef JOIN
    return kept != 0;
}

static void single_up(const lwi_elim_single *g, bool two)
{
    const double *R = two ? g->Q : g->R;
#define UP(m, nb, unused) join_up_of_single(g, m, nb, R, 0)
    WITH_JOIN(g->join, UP, 0)
#undef UP
}

static void single_down(const lwi_elim_single *g)
{
#define DOWN(m, nb, unused) join_down_of_single(g, m, nb, 0)
    WITH_JOIN(g->join, DOWN, 0)
#undef DOWN
}
