// order.c -- compounds of bodies, and joining them.
#include "elimination/order.h"

#include "base/assert.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static lw_status incidence(lwi_order *o)
{
    const lwi_plan_graph *g = o->graph;
    o->first = LWI_PUSH(&o->arena, int, g->nbody + 1);
    if (!o->first) return LW_ERR_MEMORY;
    int total = 0;
    for (int e = 0; e < g->nedge; e++)
        for (int i = 0; i < g->edge[e].n && g->edge[e].rows; i++, total++)
            o->first[lwi_plan_bodies(&g->edge[e])[i] + 1]++;
    for (int b = 0; b < g->nbody; b++) o->first[b + 1] += o->first[b];
    o->edge = LWI_PUSH(&o->arena, int, total);
    int *fill = LWI_PUSH(&o->arena, int, g->nbody);
    if (!o->edge || !fill) return LW_ERR_MEMORY;
    for (int e = 0; e < g->nedge; e++)
        for (int i = 0; i < g->edge[e].n && g->edge[e].rows; i++) {
            const int b = lwi_plan_bodies(&g->edge[e])[i];
            o->edge[o->first[b] + fill[b]++] = e;
        }
    return LW_OK;
}

static lw_status prepare(lwi_order *o)
{
    const int nbody = o->graph->nbody, nedge = o->graph->nedge;
    TRY(incidence(o));
    o->up = LWI_PUSH(&o->arena, int, nbody);
    o->node_of = LWI_PUSH(&o->arena, int, nbody);
    o->root = LWI_PUSH(&o->arena, int, nbody);
    o->found = LWI_PUSH(&o->arena, int, nbody);
    o->next_body = LWI_PUSH(&o->arena, int, nbody);
    o->next_edge = LWI_PUSH(&o->arena, int, nedge);
    o->closer = LWI_PUSH(&o->arena, int, nedge);
    o->stamp = LWI_PUSH(&o->arena, int, nedge);
    // a node closes an edge or is a single body
    o->node = LWI_PUSH(&o->arena, lwi_order_node, (size_t)nedge + (size_t)nbody);
    o->next_node = LWI_PUSH(&o->arena, int, (size_t)nedge + (size_t)nbody);
    if (!o->up || !o->node_of || !o->root || !o->found || !o->next_body || !o->next_edge ||
        !o->closer || !o->stamp || !o->node || !o->next_node)
        return LW_ERR_MEMORY;
    for (int b = 0; b < nbody; b++) o->up[b] = b, o->node_of[b] = -1;
    for (int e = 0; e < nedge; e++) o->closer[e] = -1;
    return LW_OK;
}

lw_status lwi_order_create(const lwi_plan_graph *graph, const lw_allocator *allocator, lwi_order *o)
{
    memset(o, 0, sizeof *o);
    o->graph = graph;
    o->limit = INFINITY;
    lwi_arena_init(&o->arena, allocator);
    const lw_status status = prepare(o);
    if (status != LW_OK) lwi_order_free(o);
    return status;
}

void lwi_order_free(lwi_order *o)
{
    lwi_release(&o->arena.allocator, o->pool);
    o->pool = NULL;
    lwi_arena_free(&o->arena);
}

int lwi_order_find(lwi_order *o, int body)
{
    LWI_ASSERT_INDEX(body, o->graph->nbody);
    int *up = o->up;
    while (up[body] != body) body = up[body] = up[up[body]];
    return body;
}

const int *lwi_order_open(const lwi_order *o, int root, int *n)
{
    LWI_ASSERT_INDEX(root, o->graph->nbody);
    const int node = o->node_of[root];
    if (node < 0) {
        *n = o->first[root + 1] - o->first[root];
        return o->edge + o->first[root];
    }
    *n = o->node[node].open.n;
    return o->pool + o->node[node].open.first;
}

int lwi_order_roots(lwi_order *o, const lwi_plan_edge *edge)
{
    const int *body = lwi_plan_bodies(edge);
    int n = 0;
    o->searches++;
    for (int i = 0; i < edge->n; i++) {
        const int root = lwi_order_find(o, body[i]);
        if (o->found[root] == o->searches) continue;
        o->found[root] = o->searches;
        o->root[n++] = root;
    }
    return n;
}

static void append(lwi_order_list *list, int *next, int item)
{
    next[item] = -1;
    if (list->first < 0)
        list->first = item;
    else
        next[list->last] = item;
    list->last = item;
}

static int new_node(lwi_order *o)
{
    const lwi_order_list none = {-1, -1};
    LWI_ASSERT_INDEX(o->nnode, o->graph->nedge + o->graph->nbody);
    o->node[o->nnode] = (lwi_order_node){.parent = -1, .child = none, .body = none, .closed = none};
    return o->nnode++;
}

// Makes room for `more` open edges behind those in use.
static lw_status reserve(lwi_order *o, int more)
{
    if (more > INT_MAX / 2 - o->used) return LW_ERR_MEMORY;
    if (o->used + more <= o->room) return LW_OK;
    const int room = 2 * (o->used + more);
    int *pool = lwi_allocate(&o->arena.allocator, (size_t)room * sizeof *pool);
    if (!pool) return LW_ERR_MEMORY;
    if (o->used) memcpy(pool, o->pool, (size_t)o->used * sizeof *pool);
    lwi_release(&o->arena.allocator, o->pool);
    o->pool = pool;
    o->room = room;
    return LW_OK;
}

// Number of edges that are open at one of the compounds at least.
static int front_size(lwi_order *o, const int *roots, int n)
{
    int size = 0;
    o->now++;
    for (int k = 0; k < n; k++) {
        int count;
        const int *open = lwi_order_open(o, roots[k], &count);
        for (int i = 0; i < count; i++) {
            size += o->stamp[open[i]] != o->now;
            o->stamp[open[i]] = o->now;
        }
    }
    return size;
}

// The node that may grow by joining the compounds: it has all edges that are open at any of them.  -1: none.
static int growing_node(const lwi_order *o, const int *roots, int n, int size)
{
    for (int k = 0; k < n; k++) {
        const int node = o->node_of[roots[k]];
        if (node < 0 || o->node[node].open.n != size || o->node[node].sealed) continue;
        bool waits = false;
        for (int i = 0; i < n; i++) {
            const int other = o->node_of[roots[i]];
            waits |= i != k && other >= 0 && o->node[other].level >= o->node[node].level;
        }
        if (o->patient || !waits) return node;
    }
    return -1;
}

// Whether all bodies of the edge are in the compound of `root`.
static bool inside(lwi_order *o, int edge, int root)
{
    const lwi_plan_edge *e = &o->graph->edge[edge];
    const int *body = lwi_plan_bodies(e);
    for (int i = 0; i < e->n; i++)
        if (lwi_order_find(o, body[i]) != root) return false;
    return true;
}

// Sorts the edges of one list into closed and open ones, and counts their rows; the latter go to the pool at *to.
static void sort_open(lwi_order *o, int node, int root, const int *edge, int n, int *to,
                      int rows[2])
{
    for (int i = 0; i < n; i++) {
        const int e = edge[i];
        if (o->stamp[e] == o->now) continue;
        o->stamp[e] = o->now;
        const bool closes = inside(o, e, root);
        rows[!closes] += o->graph->edge[e].rows;
        if (closes) {
            append(&o->node[node].closed, o->next_edge, e);
            LWI_ASSERT(o->closer[e] < 0);
            o->closer[e] = node;
        } else {
            LWI_ASSERT_INDEX(*to, o->room);
            o->pool[(*to)++] = e;
        }
    }
}

static void take(lwi_order *o, int node, const int *roots, int n)
{
    lwi_order_node *N = &o->node[node];
    for (int k = 0; k < n; k++) {
        const int child = o->node_of[roots[k]];
        if (child < 0) {
            append(&N->body, o->next_body, roots[k]);
        } else if (child != node) {
            append(&N->child, o->next_node, child);
            o->node[child].parent = node;
            if (N->level <= o->node[child].level) N->level = o->node[child].level + 1;
        }
    }
}

lw_status lwi_order_join(lwi_order *o, const int *roots, int n)
{
    LWI_ASSERT(n >= 1);
    for (int k = 0; k < n; k++) LWI_ASSERT(o->up[roots[k]] == roots[k]);
    const int size = front_size(o, roots, n);
    const int grows = growing_node(o, roots, n, size);
    const int node = grows < 0 ? new_node(o) : grows;
    int rows[2] = {0, 0}; // closed, open
    take(o, node, roots, n);
    for (int k = 1; k < n; k++) o->up[roots[k]] = roots[0];
    o->now++;
    if (grows >= 0) { // the edges that stay open are packed in place
        lwi_plan_span *open = &o->node[node].open;
        int to = open->first;
        sort_open(o, node, roots[0], o->pool + open->first, open->n, &to, rows);
        open->n = to - open->first;
    } else {
        TRY(reserve(o, size));
        int to = o->used;
        for (int k = 0; k < n; k++) {
            int count;
            const int *open = lwi_order_open(o, roots[k], &count);
            sort_open(o, node, roots[0], open, count, &to, rows);
        }
        o->node[node].open = (lwi_plan_span){o->used, to - o->used};
        o->used = to;
    }
    o->node_of[roots[0]] = node;
    o->work += lwi_plan_elimination(rows[0], rows[1]);
    return LW_OK;
}

void lwi_order_single(lwi_order *o, int body)
{
    LWI_ASSERT(o->up[body] == body && o->node_of[body] < 0);
    const int node = new_node(o);
    append(&o->node[node].body, o->next_body, body);
    o->node_of[body] = node;
}
