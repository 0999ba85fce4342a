// order_sequential.c -- sequential order: always the join with the smallest front.
//
// The front of edge e is the set of edges open at one of its compounds at least, counted in rows.  A heap
// holds the edges by this size; ties are broken by the distance from the ground, the farther first, then by
// the edge's number.  A chain is joined from its tip body by body, a tree branch by branch, a ladder from one
// end to the other.  A join changes only the fronts of edges open at the new compound, so that the cost is
// O(n log n) if fronts have bounded size.
#include "elimination/order.h"

#include "base/assert.h"

typedef struct lwi_order_sequence {
    lwi_order *o;
    int *cost;      // [nedge] rows of the front
    int *far;       // [nedge] distance from the ground
    int *heap, *at; // [nheap] edges; [nedge] index in the heap, -1: not in it
    int nheap;
    int *mark, marks;   // [nedge] edges counted besides those of the current compound
    int *count;         // [nedge] bodies found in the current set
    int *queue, *depth; // [nbody]
} sequence;

// ------------------------------------------------------------------------------------------- heap

static bool before(const sequence *c, int e, int f)
{
    if (c->cost[e] != c->cost[f]) return c->cost[e] < c->cost[f];
    if (c->far[e] != c->far[f]) return c->far[e] > c->far[f];
    return e < f;
}

static void put(sequence *c, int place, int edge)
{
    LWI_ASSERT_INDEX(place, c->o->graph->nedge);
    c->heap[place] = edge;
    c->at[edge] = place;
}

// Moves an edge from a free place of the heap to its position.
static void sift(sequence *c, int place, int edge)
{
    while (place && before(c, edge, c->heap[(place - 1) / 2])) {
        put(c, place, c->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (int child; (child = 2 * place + 1) < c->nheap; place = child) {
        if (child + 1 < c->nheap && before(c, c->heap[child + 1], c->heap[child])) child++;
        if (!before(c, c->heap[child], edge)) break;
        put(c, place, c->heap[child]);
    }
    put(c, place, edge);
}

static void remove_edge(sequence *c, int edge)
{
    LWI_ASSERT(c->nheap > 0 && c->at[edge] >= 0 && c->heap[c->at[edge]] == edge);
    const int place = c->at[edge], last = c->heap[--c->nheap];
    c->at[edge] = -1;
    if (last != edge) sift(c, place, last);
}

// ------------------------------------------------------------------------------------------ costs

// Rows open at the compound of `root` that are neither stamped nor marked; marks them.
static int more_rows(sequence *c, int root)
{
    int n, rows = 0;
    const int *open = lwi_order_open(c->o, root, &n);
    for (int i = 0; i < n; i++) {
        const int e = open[i];
        if (c->o->stamp[e] == c->o->now || c->mark[e] == c->marks) continue;
        c->mark[e] = c->marks;
        rows += c->o->graph->edge[e].rows;
    }
    return rows;
}

static int front_rows(sequence *c, int edge, int without)
{
    int rows = 0;
    const int n = lwi_order_roots(c->o, &c->o->graph->edge[edge]);
    c->marks++;
    for (int k = 0; k < n; k++)
        if (c->o->root[k] != without) rows += more_rows(c, c->o->root[k]);
    return rows;
}

// After a join: updates the fronts of the edges open at the new compound.
static void update(sequence *c, int root)
{
    lwi_order *o = c->o;
    int n, rows = 0;
    const int *open = lwi_order_open(o, root, &n);
    o->now++;
    for (int i = 0; i < n; i++) {
        o->stamp[open[i]] = o->now;
        rows += o->graph->edge[open[i]].rows;
    }
    for (int i = 0; i < n; i++) {
        const int e = open[i];
        if (c->at[e] < 0) continue;
        c->cost[e] = rows + front_rows(c, e, root);
        sift(c, c->at[e], e);
    }
}

// --------------------------------------------------------------------------------------- distances

// Breadth first from the bodies on the ground; components without ground start at their first body.
static void measure(sequence *c, const int *body, int n)
{
    int *queue = c->queue, *depth = c->depth;
    const lwi_order *o = c->o;
    int tail = 0;
    for (int k = 0; k < n; k++) {
        const int b = body[k];
        depth[b] = 0;
        for (int i = o->first[b]; i < o->first[b + 1] && !depth[b]; i++)
            if (o->graph->edge[o->edge[i]].ground) depth[b] = 1;
        if (depth[b]) queue[tail++] = b;
    }
    for (int head = 0, k = 0; head < n; head++) {
        if (head == tail) {
            while (depth[body[k]]) k++;
            depth[body[k]] = 1;
            queue[tail++] = body[k];
        }
        const int b = queue[head];
        for (int i = o->first[b]; i < o->first[b + 1]; i++) {
            const int e = o->edge[i];
            if (c->far[e] < depth[b]) c->far[e] = depth[b];
            if (c->at[e] < 0 && o->closer[e] < 0) continue; // not all of its bodies are in the set
            for (int j = 0; j < o->graph->edge[e].n; j++) {
                const int next = lwi_plan_bodies(&o->graph->edge[e])[j];
                if (depth[next]) continue;
                depth[next] = depth[b] + 1;
                queue[tail++] = next;
            }
        }
    }
}

// ------------------------------------------------------------------------------------------- order

// Puts the edges with all bodies in the set on the heap.
static void enter(sequence *c, const int *body, int n)
{
    const lwi_order *o = c->o;
    for (int k = 0; k < n; k++)
        for (int i = o->first[body[k]]; i < o->first[body[k] + 1]; i++) {
            const int e = o->edge[i];
            if (o->closer[e] < 0 && ++c->count[e] == o->graph->edge[e].n) put(c, c->nheap++, e);
        }
}

static lw_status join_all(sequence *c)
{
    lwi_order *o = c->o;
    while (c->nheap) {
        const int edge = c->heap[0];
        const int n = lwi_order_roots(o, &o->graph->edge[edge]), root = o->root[0];
        TRY(lwi_order_join(o, o->root, n));
        LWI_ASSERT(o->closer[edge] >= 0);
        const lwi_order_node *node = &o->node[o->closer[edge]];
        for (int e = node->closed.first; e >= 0; e = o->next_edge[e])
            if (c->at[e] >= 0) remove_edge(c, e);
        update(c, lwi_order_find(o, root));
    }
    return LW_OK;
}

// The workspace is created once; entries of these bodies from earlier sets are cleared.
static sequence *workspace(lwi_order *o, const int *body, int n)
{
    sequence *c = o->sequence;
    const int nedge = o->graph->nedge;
    if (!c) {
        c = LWI_PUSH(&o->arena, sequence, 1);
        if (!c) return NULL;
        *c = (sequence){.o = o,
                        .cost = LWI_PUSH(&o->arena, int, nedge),
                        .far = LWI_PUSH(&o->arena, int, nedge),
                        .count = LWI_PUSH(&o->arena, int, nedge),
                        .heap = LWI_PUSH(&o->arena, int, nedge),
                        .at = LWI_PUSH(&o->arena, int, nedge),
                        .mark = LWI_PUSH(&o->arena, int, nedge),
                        .queue = LWI_PUSH(&o->arena, int, o->graph->nbody),
                        .depth = LWI_PUSH(&o->arena, int, o->graph->nbody)};
        if (!c->cost || !c->far || !c->count || !c->heap || !c->at || !c->mark || !c->queue ||
            !c->depth)
            return NULL;
        for (int e = 0; e < nedge; e++) c->at[e] = -1;
        o->sequence = c;
    }
    for (int k = 0; k < n; k++)
        for (int i = o->first[body[k]]; i < o->first[body[k] + 1]; i++)
            c->far[o->edge[i]] = c->count[o->edge[i]] = 0;
    return c;
}

lw_status lwi_order_sequential(lwi_order *o, const int *body, int n)
{
    sequence *c = workspace(o, body, n);
    if (!c) return LW_ERR_MEMORY;
    enter(c, body, n);
    measure(c, body, n);
    const int nheap = c->nheap;
    o->now++;
    for (int i = 0; i < nheap; i++) c->cost[c->heap[i]] = front_rows(c, c->heap[i], -1);
    for (int i = 0; i < nheap; i++) {
        c->nheap = i + 1;
        sift(c, i, c->heap[i]);
    }
    return join_all(c);
}
