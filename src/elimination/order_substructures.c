// order_substructures.c -- long chains, and branches that are chains, cut into equal pieces: isomorphic
// subtrees that the elimination processes side by side (lanes.h).
//
// A path is a sequence of bodies with two edges each, all with the same number of rows.  It is cut into
// LWI_ORDER_PIECES pieces of equal size; remaining bodies are left at the end that is farther from the
// ground.  Pieces are halved down to bodies, which gives threads independent work as well.  No node of a
// piece closes an edge to a neighbour of the piece: that would make the shapes of the pieces differ.
#include "elimination/order.h"

#include "base/assert.h"

#include <string.h>

/** Minimum number of bodies in a piece: below, the joins of the pieces cost what lanes save. */
enum { SHORTEST = 4 };

typedef struct paths {
    lwi_order *o;
    int *body;  ///< [nbody] the paths one after the other
    int *first; ///< [n + 1] in `body`
    int n;
    bool *seen; ///< [nbody]
} paths;

// Whether a body belongs to a path: two edges with equal numbers of rows.
static bool regular(const lwi_order *o, int body)
{
    const int *edge = o->edge + o->first[body];
    if (o->first[body + 1] - o->first[body] != 2) return false;
    for (int i = 0; i < 2; i++) {
        const lwi_plan_edge *e = &o->graph->edge[edge[i]];
        if (e->n + e->ground != 2 || e->rows != o->graph->edge[edge[0]].rows) return false;
    }
    return true;
}

// The next body along the path from `body` over its edge number *way; -1: the path ends here.  *way becomes
// the number of the following edge there.
static int next(const paths *p, int body, int *way)
{
    const lwi_order *o = p->o;
    const int edge = o->edge[o->first[body] + *way];
    const lwi_plan_edge *e = &o->graph->edge[edge];
    if (e->n == 1) return -1;
    const int other = e->body[e->body[0] == body];
    if (!regular(o, other)) return -1;
    *way = o->edge[o->first[other]] == edge;
    return other;
}

static bool on_ground(const lwi_order *o, int body)
{
    const int *edge = o->edge + o->first[body];
    return o->graph->edge[edge[0]].n == 1 || o->graph->edge[edge[1]].n == 1;
}

static void reverse(int *list, int n)
{
    for (int i = 0; i < n - 1 - i; i++) {
        const int t = list[i];
        list[i] = list[n - 1 - i], list[n - 1 - i] = t;
    }
}

// Lists the path through a body, starting at the ground if it has one; rings are not paths.
static void walk(paths *p, int start)
{
    int *list = p->body + p->first[p->n], n = 0, end = start, way = 0, at, back;
    while (back = way, (at = next(p, end, &way)) >= 0) {
        end = at;
        if (end == start) break;
    }
    way = !back;
    for (int b = end; b >= 0; b = next(p, b, &way)) {
        if (p->seen[b]) break;
        p->seen[b] = true;
        LWI_ASSERT(p->first[p->n] + n < p->o->graph->nbody);
        list[n++] = b;
    }
    if (at == start) return; // a ring
    const int last = list[n - 1];
    const bool near = on_ground(p->o, end), far = on_ground(p->o, last);
    if (!near && (far || last < end)) reverse(list, n);
    // a body on the ground closes its edge to the ground at any node: it is left out
    n -= near && far;
    if ((near || far) && --n > 0) memmove(list, list + 1, (size_t)n * sizeof *list);
    if (n < LWI_ORDER_PIECES * SHORTEST) return;
    p->first[p->n + 1] = p->first[p->n] + n;
    p->n++;
}

// Joins a segment of bodies, halves first.
static lw_status halves(lwi_order *o, const int *body, int n)
{
    LWI_ASSERT(n >= 1);
    if (n == 1) return LW_OK;
    TRY(halves(o, body, n / 2));
    TRY(halves(o, body + n / 2, n - n / 2));
    const int roots[] = {lwi_order_find(o, body[0]), lwi_order_find(o, body[n - 1])};
    return lwi_order_join(o, roots, 2);
}

static lw_status cut(lwi_order *o, const int *body, int n)
{
    const int size = n / LWI_ORDER_PIECES;
    LWI_ASSERT(size >= SHORTEST);
    for (int i = 0; i < LWI_ORDER_PIECES; i++, body += size) {
        TRY(halves(o, body, size));
        o->node[o->node_of[lwi_order_find(o, body[0])]].sealed = true;
    }
    return LW_OK;
}

lw_status lwi_order_pieces(lwi_order *o, bool *found)
{
    const int nbody = o->graph->nbody;
    paths p = {.o = o,
               .body = LWI_PUSH(&o->arena, int, nbody),
               .first = LWI_PUSH(&o->arena, int, nbody + 1),
               .seen = LWI_PUSH(&o->arena, bool, nbody)};
    if (!p.body || !p.first || !p.seen) return LW_ERR_MEMORY;
    for (int b = 0; b < nbody; b++)
        if (!p.seen[b] && regular(o, b)) walk(&p, b);
    *found = 2 * p.first[p.n] > nbody;
    for (int i = 0; i < p.n && *found; i++)
        TRY(cut(o, p.body + p.first[i], p.first[i + 1] - p.first[i]));
    return LW_OK;
}
