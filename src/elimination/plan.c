// plan.c -- plans: checks of the graph, numbering of the nodes, fronts, costs.
#include "elimination/order.h"

#include "base/assert.h"

#include <limits.h>
#include <string.h>

// Eight bodies in sequence are enough to make the joins above few, and few enough to leave parallel work for
// threads and lanes.
enum { MIXED_LEAF = 8 };

#define X(name, text) text,
static const char *const kind_names[] = {LW_PLAN_LIST(X)};
#undef X

const char *lwi_plan_kind_name(lw_plan kind)
{
    return (int)kind >= 0 && (int)kind < LWI_COUNT(kind_names) ? kind_names[kind] : NULL;
}

int lwi_plan_kind_find(const char *name)
{
    for (int i = 0; name && i < LWI_COUNT(kind_names); i++)
        if (!strcmp(name, kind_names[i])) return i;
    return -1;
}

// ------------------------------------------------------------------------------------------ checks

static bool sound(const lwi_plan_edge *e, int nbody)
{
    const int *body = lwi_plan_bodies(e);
    if (e->n < 1 || !body || e->rows < 0 || e->rows > LWI_EDGE_ROWS) return false;
    for (int i = 0; i < e->n; i++) {
        if (body[i] < 0 || body[i] >= nbody) return false;
        for (int k = 0; k < i; k++)
            if (body[k] == body[i]) return false;
    }
    return true;
}

static lw_status check(const lwi_plan_graph *graph)
{
    // rows, slots and nodes are counted by int
    if (graph->nbody < 0 || graph->nedge < 0 || graph->nedge > INT_MAX / 16 - graph->nbody)
        return LW_ERR_ARGUMENT;
    for (int e = 0; e < graph->nedge; e++)
        if (!sound(&graph->edge[e], graph->nbody)) return LW_ERR_ARGUMENT;
    return LW_OK;
}

// --------------------------------------------------------------------------------------- numbering

// New numbers [nnode] of the nodes: children before parents, a node right behind its last child, so that
// sweeps access memory in order.
static void number(const lwi_order *o, int *name)
{
    int count = 0;
    for (int top = 0; top < o->nnode; top++) {
        if (o->node[top].parent >= 0) continue;
        int node = top;
        for (;;) {
            while (o->node[node].child.first >= 0) node = o->node[node].child.first;
            name[node] = count++;
            while (node != top && o->next_node[node] < 0) {
                node = o->node[node].parent;
                name[node] = count++;
            }
            if (node == top) break;
            node = o->next_node[node];
        }
    }
    LWI_ASSERT(count == o->nnode);
}

static lwi_plan_span gather(lwi_plan *plan, const lwi_order_list *list, const int *next,
                            const int *name, int *used)
{
    lwi_plan_span span = {*used, 0};
    for (int i = list->first; i >= 0; i = next[i], span.n++)
        plan->item[(*used)++] = name ? name[i] : i;
    return span;
}

// Lists of all nodes except `open`.
static void fill_nodes(const lwi_order *o, const int *name, lwi_plan *plan, int *used)
{
    for (int k = 0; k < o->nnode; k++) {
        const lwi_order_node *from = &o->node[k];
        lwi_plan_node *to = &plan->node[name[k]];
        to->parent = from->parent < 0 ? -1 : name[from->parent];
        to->child = gather(plan, &from->child, o->next_node, name, used);
        to->body = gather(plan, &from->body, o->next_body, NULL, used);
        to->closed = gather(plan, &from->closed, o->next_edge, NULL, used);
        for (int i = 0; i < to->closed.n; i++) {
            const int e = plan->item[to->closed.first + i];
            LWI_ASSERT(plan->closer[e] < 0);
            plan->closer[e] = name[k];
            to->closed_rows += plan->graph.edge[e].rows;
        }
    }
}

// ------------------------------------------------------------------------------------------- loops

static int find(int *up, int i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

// Connects the bodies of the edge; false if two of them were connected before.
static bool connect(int *up, const lwi_plan_edge *e, int ground)
{
    const int *body = lwi_plan_bodies(e);
    bool apart = true;
    const int root = find(up, e->ground ? ground : body[0]);
    for (int j = e->ground ? 0 : 1; j < e->n; j++) {
        const int other = find(up, body[j]);
        apart &= other != root;
        up[other] = root;
    }
    return apart;
}

// Marks nodes that close loops.  Bodies, and the ground as number nbody, are connected edge by edge in the
// order of elimination.  An edge between components that were all separate is independent of all rows before
// it: the wrench it transmits moves at least the component without ground.
static lw_status mark_loops(lwi_arena *scratch, lwi_plan *plan)
{
    const int nbody = plan->graph.nbody;
    int *up = LWI_PUSH(scratch, int, nbody + 1);
    if (!up) return LW_ERR_MEMORY;
    for (int i = 0; i <= nbody; i++) up[i] = i;
    for (int k = 0; k < plan->nnode; k++) {
        lwi_plan_node *node = &plan->node[k];
        for (int i = 0; i < node->closed.n; i++)
            if (!connect(up, &plan->graph.edge[plan->item[node->closed.first + i]], nbody))
                node->loop = true;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ fronts

// Open edges of every node in the order of their elimination; the open edges of a child are then in the same
// order in its parent's front.
static lw_status fill_open(const lwi_order *o, const int *name, lwi_arena *scratch, lwi_plan *plan,
                           int *used)
{
    const int nedge = plan->graph.nedge;
    int *first = LWI_PUSH(scratch, int, nedge + 1);
    if (!first) return LW_ERR_MEMORY;
    int total = 0;
    for (int k = 0; k < o->nnode; k++) {
        const lwi_plan_span open = o->node[k].open;
        for (int i = 0; i < open.n; i++) first[o->pool[open.first + i]]++;
        lwi_plan_node *to = &plan->node[name[k]];
        to->open = (lwi_plan_span){*used, 0};
        *used += open.n;
        total += open.n;
    }
    int *where = LWI_PUSH(scratch, int, total);
    if (!where) return LW_ERR_MEMORY;
    for (int e = 0; e < nedge; e++) first[e + 1] += first[e]; // ends of the lists; filled backwards
    for (int k = 0; k < o->nnode; k++) {
        const lwi_plan_span open = o->node[k].open;
        for (int i = 0; i < open.n; i++) where[--first[o->pool[open.first + i]]] = name[k];
    }
    for (int k = 0; k < o->nnode; k++) {
        const lwi_plan_span closed = plan->node[k].closed;
        for (int i = 0; i < closed.n; i++) {
            const int e = plan->item[closed.first + i];
            for (int j = first[e]; j < first[e + 1]; j++) {
                lwi_plan_node *at = &plan->node[where[j]];
                LWI_ASSERT(at->open.first + at->open.n < *used && plan->closer[e] > where[j]);
                plan->item[at->open.first + at->open.n++] = e;
                at->open_rows += plan->graph.edge[e].rows;
            }
        }
    }
    return LW_OK;
}

static lw_status copy_graph(const lwi_plan_graph *graph, lwi_arena *arena, lwi_plan *plan)
{
    lwi_plan_edge *edge = LWI_PUSH(arena, lwi_plan_edge, graph->nedge);
    plan->row = LWI_PUSH(arena, int, graph->nedge + 1);
    plan->slot = LWI_PUSH(arena, int, graph->nedge + 1);
    plan->closer = LWI_PUSH(arena, int, graph->nedge);
    if (!edge || !plan->row || !plan->slot || !plan->closer) return LW_ERR_MEMORY;
    for (int e = 0; e < graph->nedge; e++) {
        edge[e] = graph->edge[e];
        if (edge[e].n > LWI_EDGE_BODIES) {
            int *more = LWI_PUSH(arena, int, edge[e].n);
            if (!more) return LW_ERR_MEMORY;
            memcpy(more, graph->edge[e].more, (size_t)edge[e].n * sizeof *more);
            edge[e].more = more;
        }
        plan->row[e + 1] = plan->row[e] + edge[e].rows;
        plan->slot[e + 1] = plan->slot[e] + edge[e].n;
        plan->closer[e] = -1;
    }
    plan->graph = (lwi_plan_graph){graph->nbody, graph->nedge, edge};
    plan->nrow = plan->row[graph->nedge];
    return LW_OK;
}

static lw_status fill(lwi_order *o, lwi_arena *arena, lwi_plan *plan)
{
    TRY(copy_graph(o->graph, arena, plan));
    size_t items = (size_t)o->nnode + (size_t)o->graph->nbody + (size_t)o->graph->nedge;
    for (int k = 0; k < o->nnode; k++) items += (size_t)o->node[k].open.n;
    if (items > INT_MAX) return LW_ERR_MEMORY;
    plan->nnode = o->nnode;
    plan->node = LWI_PUSH(arena, lwi_plan_node, o->nnode);
    plan->item = LWI_PUSH(arena, int, items);
    int *name = LWI_PUSH(&o->arena, int, o->nnode);
    if (!plan->node || !plan->item || !name) return LW_ERR_MEMORY;
    number(o, name);
    int used = 0;
    fill_nodes(o, name, plan, &used);
    TRY(mark_loops(&o->arena, plan));
    TRY(fill_open(o, name, &o->arena, plan, &used));
    LWI_ASSERT((size_t)used <= items);
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- costs

double lwi_plan_elimination(int c, int o)
{
    double sum = 0;
    for (int s = o; s < c + o; s++) sum += s + 0.5 * s * (s + 1);
    return sum;
}

// Adds the products J G' to the work of the nodes: 6 multiplications for each entry of a block, half of that
// for diagonal blocks.
static void products(const lwi_order *o, const int *place, lwi_plan *plan, double *work)
{
    for (int b = 0; b < plan->graph.nbody; b++)
        for (int i = o->first[b]; i < o->first[b + 1]; i++)
            for (int j = o->first[b]; j <= i; j++) {
                const int e = o->edge[i], f = o->edge[j];
                const int m = plan->graph.edge[e].rows, n = plan->graph.edge[f].rows;
                const int at = plan->closer[place[e] < place[f] ? e : f];
                LWI_ASSERT_INDEX(at, plan->nnode);
                work[at] += 6.0 * (i == j ? m * (m + 1) / 2 : m * n);
            }
}

static lw_status measure(lwi_order *o, lwi_plan *plan)
{
    int *place = LWI_PUSH(&o->arena, int, plan->graph.nedge);
    double *work = LWI_PUSH(&o->arena, double, plan->nnode);
    double *longest = LWI_PUSH(&o->arena, double, plan->nnode);
    if (!place || !work || !longest) return LW_ERR_MEMORY;
    for (int k = 0, count = 0; k < plan->nnode; k++)
        for (int i = 0; i < plan->node[k].closed.n; i++)
            place[plan->item[plan->node[k].closed.first + i]] = count++;
    products(o, place, plan, work);
    for (int k = 0; k < plan->nnode; k++) {
        lwi_plan_node *node = &plan->node[k];
        const int front = node->closed_rows + node->open_rows;
        LWI_ASSERT(node->parent >= 0 ? node->parent > k : node->open_rows == 0);
        work[k] += lwi_plan_elimination(node->closed_rows, node->open_rows);
        for (int i = 0; i < node->child.n; i++) {
            const int child = plan->item[node->child.first + i];
            LWI_ASSERT(child < k && plan->node[child].parent == k);
            if (node->level <= plan->node[child].level) node->level = plan->node[child].level + 1;
            if (longest[k] < longest[child]) longest[k] = longest[child];
        }
        longest[k] += work[k];
        plan->work += work[k];
        if (plan->critical < longest[k]) plan->critical = longest[k];
        if (plan->width < front) plan->width = front;
        if (plan->max_open < node->open.n) plan->max_open = node->open.n;
        if (plan->nlevel <= node->level) plan->nlevel = node->level + 1;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- plans

static lw_status sequence(lwi_order *o)
{
    int *body = LWI_PUSH(&o->arena, int, o->graph->nbody);
    if (!body) return LW_ERR_MEMORY;
    for (int b = 0; b < o->graph->nbody; b++) body[b] = b;
    o->patient = true;
    return lwi_order_sequential(o, body, o->graph->nbody);
}

// pieces: paths have been joined in pieces before
static lw_status join_all(lwi_order *o, lw_plan kind, bool pieces)
{
    TRY(pieces || kind == LW_PLAN_COMB
            ? sequence(o)
            : lwi_order_dissect(o, kind == LW_PLAN_MIXED ? MIXED_LEAF : 1));
    for (int b = 0; b < o->graph->nbody; b++)
        if (o->up[b] == b && o->node_of[b] < 0) lwi_order_single(o, b);
    return LW_OK;
}

static lw_status arrange(lwi_order *o, lw_plan kind, bool *pieces)
{
    *pieces = false;
    if (kind == LW_PLAN_MIXED) TRY(lwi_order_pieces(o, pieces));
    return join_all(o, kind, *pieces);
}

// Multiplications of the nodes, without products: those of the joins, however a node has grown.
static double work_of_nodes(const lwi_plan *plan)
{
    double work = 0;
    for (int k = 0; k < plan->nnode; k++)
        work += lwi_plan_elimination(plan->node[k].closed_rows, plan->node[k].open_rows);
    return work;
}

static lw_status make(lwi_order *o, lw_plan kind, bool pieces, lwi_arena *arena, lwi_plan *plan)
{
    *plan = (lwi_plan){.kind = kind, .pieces = pieces};
    TRY(fill(o, arena, plan));
    LWI_ASSERT(work_of_nodes(plan) == o->work);
    return measure(o, plan);
}

static lw_status create(const lwi_plan_graph *graph, lw_plan kind, lwi_arena *arena, lwi_plan *plan)
{
    lwi_order order;
    bool pieces;
    TRY(lwi_order_create(graph, &arena->allocator, &order));
    lw_status status = arrange(&order, kind, &pieces);
    if (status == LW_OK) status = make(&order, kind, pieces, arena, plan);
    lwi_order_free(&order);
    return status;
}

// A balanced order that takes less than `limit` multiplications; above it is not complete.
static lw_status arrange_below(const lwi_plan_graph *graph, double limit, const lwi_arena *arena,
                               lwi_order *o)
{
    TRY(lwi_order_create(graph, &arena->allocator, o));
    o->limit = limit;
    return join_all(o, LW_PLAN_BALANCED, false);
}

// Whether each node of an order has one open edge at most: then no other takes less.  What is joined before its neighbours
// are has one, and halves that lie between others have two.
static bool is_narrow(const lwi_order *o)
{
    bool narrow = true;
    for (int k = 0; k < o->nnode; k++) narrow = narrow && o->node[k].open.n <= 1;
    return narrow;
}

// Pieces, where there are any; else the cheaper one of the sequential and the balanced order: products J G' are the same
// in both.
static lw_status choose(const lwi_plan_graph *graph, lwi_arena *arena, lwi_plan *plan)
{
    bool pieces, balanced = false;
    lwi_order order[2] = {0};
    TRY(lwi_order_create(graph, &arena->allocator, &order[0]));
    lw_status status = lwi_order_pieces(&order[0], &pieces); // nothing is joined if there are none
    if (status == LW_OK) status = join_all(&order[0], LW_PLAN_COMB, pieces);
    if (status == LW_OK && !pieces && !is_narrow(&order[0])) {
        status = arrange_below(graph, order[0].work, arena, &order[1]);
        balanced = order[1].work < order[0].work;
    }
    const lw_plan kind = pieces ? LW_PLAN_MIXED : balanced ? LW_PLAN_BALANCED : LW_PLAN_COMB;
    if (status == LW_OK) status = make(&order[balanced], kind, pieces, arena, plan);
    for (int i = 0; i < 2; i++) lwi_order_free(&order[i]);
    return status;
}

// The edges node by node, as `fill` numbers these.
static lw_status list_closed(lwi_order *o, int *place)
{
    int *name = LWI_PUSH(&o->arena, int, o->nnode), *node = LWI_PUSH(&o->arena, int, o->nnode);
    int count = 0;
    if (!name || !node) return LW_ERR_MEMORY;
    number(o, name);
    for (int k = 0; k < o->nnode; k++) node[name[k]] = k;
    for (int e = 0; e < o->graph->nedge; e++) place[e] = -1;
    for (int k = 0; k < o->nnode; k++)
        for (int e = o->node[node[k]].closed.first; e >= 0; e = o->next_edge[e]) place[e] = count++;
    return LW_OK;
}

lw_status lwi_plan_closing_order(const lwi_plan_graph *graph, lw_plan kind,
                                 const lw_allocator *allocator, int *place)
{
    lwi_order order;
    bool pieces;
    LWI_ASSERT(kind != LW_PLAN_AUTO);
    TRY(check(graph));
    TRY(lwi_order_create(graph, allocator, &order));
    lw_status status = arrange(&order, kind, &pieces);
    if (status == LW_OK) status = list_closed(&order, place);
    lwi_order_free(&order);
    return status;
}

lw_status lwi_plan_create(const lwi_plan_graph *graph, lw_plan kind, lwi_arena *arena,
                          lwi_plan *plan)
{
    TRY(check(graph));
    if (!lwi_plan_kind_name(kind)) return LW_ERR_ARGUMENT;
    lwi_plan made;
    TRY(kind == LW_PLAN_AUTO ? choose(graph, arena, &made) : create(graph, kind, arena, &made));
    *plan = made;
    return LW_OK;
}

static int rows_of(const lwi_plan *plan, lwi_plan_span span)
{
    int rows = 0;
    for (int i = 0; i < span.n; i++) rows += plan->graph.edge[plan->item[span.first + i]].rows;
    return rows;
}

lw_status lwi_plan_with_rows(const lwi_plan *plan, const int *rows, lwi_arena *arena,
                             lwi_plan *fewer)
{
    const int nedge = plan->graph.nedge;
    lwi_plan_edge *edge = LWI_PUSH(arena, lwi_plan_edge, nedge);
    lwi_plan_node *node = LWI_PUSH(arena, lwi_plan_node, plan->nnode);
    int *row = LWI_PUSH(arena, int, nedge + 1);
    if (!edge || !node || !row) return LW_ERR_MEMORY;
    for (int e = 0; e < nedge; e++) {
        LWI_ASSERT(rows[e] <= plan->graph.edge[e].rows && (rows[e] > 0) == (plan->closer[e] >= 0));
        edge[e] = plan->graph.edge[e];
        edge[e].rows = rows[e];
        row[e + 1] = row[e] + rows[e];
    }
    *fewer = *plan;
    fewer->graph.edge = edge, fewer->node = node, fewer->row = row;
    fewer->nrow = row[nedge];
    fewer->width = 0;
    for (int k = 0; k < plan->nnode; k++) {
        node[k] = plan->node[k];
        node[k].closed_rows = rows_of(fewer, node[k].closed);
        node[k].open_rows = rows_of(fewer, node[k].open);
        const int front = node[k].closed_rows + node[k].open_rows;
        if (fewer->width < front) fewer->width = front;
    }
    return LW_OK;
}
