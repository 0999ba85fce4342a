// accumulate.c -- Jacobians of values of a graph by vertex elimination [griewank2008].
//
// An edge leads from an operand to the value that is computed from it and carries the partial derivative.  To eliminate a value v,
// each pair of edges u -> v, v -> w becomes an edge u -> w, c_uw += c_uv c_vw.  When no value is left, the edges lead from
// variables to results and are the Jacobian.  The value with the fewest pairs of edges is eliminated next (Markowitz).  Forward
// differentiation would repeat the chain rule of a common subexpression for each variable; here it is applied once.
#include "codegen/accumulate.h"

#include "base/assert.h"
#include "codegen/jacobian.h"

#include <string.h>

/** An edge is in two lists: the edges that leave `from` and those that enter `to`. */
typedef struct edge {
    int32_t from, to;
    int32_t next_out, before_out, next_in, before_in; ///< -1: none
    lwi_codegen_value by;                             ///< the derivative of `to` by `from`
} edge;

/** The edges of a value, a variable or a result. */
typedef struct place {
    int32_t out, in; ///< first edges that leave and enter it, -1: none
    int32_t nout, nin;
} place;

/** A value to be eliminated, with the number of its pairs of edges when it entered the heap; out of date if that has changed. */
typedef struct candidate {
    int64_t pairs;
    int32_t value;
} candidate;

typedef struct elimination {
    lwi_codegen_graph *graph;
    int nvalue, nplace;
    place *at; ///< [nplace]: values, then variables, then results
    edge *edge;
    int nedge, room, unused; ///< `unused`: first of the removed edges, a list by next_out; -1: none
    candidate *heap;         ///< the smallest one first
    int nheap, heap_room;
    bool failed; ///< an allocation failed
} elimination;

// ------------------------------------------------------------------------------------------- lists

static bool grow(elimination *e, void **list, int count, int *room, size_t size)
{
    if (count < *room) return true;
    const int larger = 2 * *room;
    void *copy = lwi_allocate(e->graph->allocator, (size_t)larger * size);
    if (!copy) {
        e->failed = true;
        return false;
    }
    memcpy(copy, *list, (size_t)count * size);
    lwi_release(e->graph->allocator, *list);
    *list = copy;
    *room = larger;
    return true;
}

static edge *find(const elimination *e, int32_t from, int32_t to)
{
    if (e->at[from].nout <= e->at[to].nin) {
        for (int32_t i = e->at[from].out; i >= 0; i = e->edge[i].next_out)
            if (e->edge[i].to == to) return &e->edge[i];
    } else {
        for (int32_t i = e->at[to].in; i >= 0; i = e->edge[i].next_in)
            if (e->edge[i].from == from) return &e->edge[i];
    }
    return NULL;
}

static int32_t new_edge(elimination *e)
{
    const int32_t i = e->unused;
    if (i >= 0) {
        e->unused = e->edge[i].next_out;
        return i;
    }
    if (!grow(e, (void **)&e->edge, e->nedge, &e->room, sizeof *e->edge)) return -1;
    return e->nedge++;
}

static bool is_number(const lwi_codegen_graph *g, lwi_codegen_value a, double number)
{
    double x;
    return lwi_codegen_graph_known(g, a, &x) && x == number;
}

// Adds `by` to the derivative of an edge, creating the edge if needed.
static void add(elimination *e, int32_t from, int32_t to, lwi_codegen_value by)
{
    if (e->failed || is_number(e->graph, by, 0)) return;
    edge *old = find(e, from, to);
    if (old) {
        old->by = lwi_codegen_graph_op(e->graph, LWI_OP_ADD, old->by, by);
        return;
    }
    const int32_t i = new_edge(e);
    if (i < 0) return;
    place *a = &e->at[from], *b = &e->at[to];
    e->edge[i] = (edge){from, to, a->out, -1, b->in, -1, by};
    if (a->out >= 0) e->edge[a->out].before_out = i;
    if (b->in >= 0) e->edge[b->in].before_in = i;
    a->out = b->in = i;
    a->nout++, b->nin++;
}

static void remove_edge(elimination *e, int32_t i)
{
    const edge *it = &e->edge[i];
    place *a = &e->at[it->from], *b = &e->at[it->to];
    if (it->next_out >= 0) e->edge[it->next_out].before_out = it->before_out;
    if (it->next_in >= 0) e->edge[it->next_in].before_in = it->before_in;
    *(it->before_out >= 0 ? &e->edge[it->before_out].next_out : &a->out) = it->next_out;
    *(it->before_in >= 0 ? &e->edge[it->before_in].next_in : &b->in) = it->next_in;
    a->nout--, b->nin--;
    e->edge[i].next_out = e->unused;
    e->unused = i;
}

// ------------------------------------------------------------------------------------------- order

static int64_t pairs_of(const elimination *e, int32_t value)
{
    return (int64_t)e->at[value].nin * e->at[value].nout;
}

// Among candidates with equally many pairs the last value of the graph is the first.
static bool precedes(candidate a, candidate b)
{
    return a.pairs < b.pairs || (a.pairs == b.pairs && a.value > b.value);
}

static void enter(elimination *e, int32_t value)
{
    const candidate new = {pairs_of(e, value), value};
    if (!grow(e, (void **)&e->heap, e->nheap, &e->heap_room, sizeof *e->heap)) return;
    int i = e->nheap++;
    for (; i > 0 && precedes(new, e->heap[(i - 1) / 2]); i = (i - 1) / 2)
        e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = new;
}

static candidate take_first(elimination *e)
{
    const candidate first = e->heap[0], last = e->heap[--e->nheap];
    int i = 0;
    for (int k = 1; k < e->nheap; k = 2 * i + 1) {
        if (k + 1 < e->nheap && precedes(e->heap[k + 1], e->heap[k])) k++;
        if (!precedes(e->heap[k], last)) break;
        e->heap[i] = e->heap[k];
        i = k;
    }
    e->heap[i] = last;
    return first;
}

// ------------------------------------------------------------------------------------- elimination

// a b.  Where a factor selects between 0 and another value, the product selects 0, also if the other factor is not finite.
static lwi_codegen_value product(lwi_codegen_graph *g, lwi_codegen_value a, lwi_codegen_value b)
{
    for (int k = 0; k < 2; k++) {
        const lwi_codegen_value gate = k ? b : a, other = k ? a : b;
        const lwi_vertex v = g->vertex[gate.index];
        const lwi_codegen_value x = {v.a}, yes = {v.b}, no = {v.c};
        if (v.op != LWI_OP_SELECT) continue;
        if (is_number(g, no, 0)) return lwi_codegen_graph_select(g, x, product(g, yes, other), no);
        if (is_number(g, yes, 0)) return lwi_codegen_graph_select(g, x, yes, product(g, no, other));
    }
    return lwi_codegen_graph_op(g, LWI_OP_MUL, a, b);
}

// Not a variable or a result.
static bool is_value(const elimination *e, int32_t i)
{
    return i < e->nvalue;
}

static void eliminate(elimination *e, int32_t value)
{
    for (int32_t i = e->at[value].in; i >= 0; i = e->edge[i].next_in)
        for (int32_t k = e->at[value].out; k >= 0 && !e->failed; k = e->edge[k].next_out)
            add(e, e->edge[i].from, e->edge[k].to, product(e->graph, e->edge[i].by, e->edge[k].by));
    while (e->at[value].in >= 0) {
        const int32_t i = e->at[value].in, from = e->edge[i].from;
        remove_edge(e, i);
        if (is_value(e, from)) enter(e, from);
    }
    while (e->at[value].out >= 0) {
        const int32_t i = e->at[value].out, to = e->edge[i].to;
        remove_edge(e, i);
        if (is_value(e, to)) enter(e, to);
    }
}

static void eliminate_all(elimination *e)
{
    for (int32_t i = 0; i < e->nvalue; i++)
        if (e->at[i].nin > 0) enter(e, i);
    while (e->nheap > 0 && !e->failed && !e->graph->failed) {
        const candidate c = take_first(e);
        const place *p = &e->at[c.value];
        if (p->nin + p->nout > 0 && c.pairs == pairs_of(e, c.value)) eliminate(e, c.value);
    }
}

// ------------------------------------------------------------------------------------------- edges

// Edges of the values on which a result depends; needed [nvalue] is scratch, all false.
static void add_edges(elimination *e, int nseed, const lwi_codegen_seed *seed, int n,
                      const lwi_codegen_value *f, bool *needed)
{
    lwi_codegen_graph *g = e->graph;
    const int32_t first = e->nvalue, results = e->nplace - n;
    for (int i = 0; i < n; i++) needed[f[i].index] = true;
    for (int32_t i = e->nvalue - 1; i >= 0; i--) {
        const lwi_vertex *v = &g->vertex[i];
        const int32_t operand[3] = {v->a, v->b, v->c};
        for (int k = 0; k < lwi_codegen_operands(v->op) && needed[i]; k++)
            needed[operand[k]] = true;
    }
    for (int i = 0; i < nseed; i++) {
        LWI_ASSERT_INDEX(seed[i].variable, results - first);
        if (needed[seed[i].value.index])
            add(e, first + seed[i].variable, seed[i].value.index, seed[i].by);
    }
    for (int32_t i = 0; i < e->nvalue && !g->failed; i++) {
        const lwi_vertex v = g->vertex[i]; // a copy: the list may move
        const int32_t operand[3] = {v.a, v.b, v.c};
        for (int k = 0; k < lwi_codegen_operands(v.op) && needed[i]; k++)
            if (e->at[operand[k]].nin > 0)
                add(e, operand[k], i, lwi_codegen_partial(g, (lwi_codegen_value){i}, k));
    }
    for (int i = 0; i < n; i++)
        if (e->at[f[i].index].nin > 0)
            add(e, f[i].index, results + i, lwi_codegen_graph_literal(g, 1));
}

static bool make_room(elimination *e)
{
    const lw_allocator *allocator = e->graph->allocator;
    e->room = e->heap_room = 4 * e->nplace + 16;
    e->at = lwi_allocate(allocator, (size_t)e->nplace * sizeof *e->at);
    e->edge = lwi_allocate(allocator, (size_t)e->room * sizeof *e->edge);
    e->heap = lwi_allocate(allocator, (size_t)e->heap_room * sizeof *e->heap);
    if (!e->at || !e->edge || !e->heap) return false;
    for (int i = 0; i < e->nplace; i++) e->at[i] = (place){.out = -1, .in = -1};
    return true;
}

static void read_edges(const elimination *e, int variables, int n, lwi_codegen_value *jacobian)
{
    const lwi_codegen_value none = lwi_codegen_graph_literal(e->graph, 0);
    for (int i = 0; i < n * variables; i++) jacobian[i] = none;
    for (int k = 0; k < variables; k++)
        for (int32_t i = e->at[e->nvalue + k].out; i >= 0; i = e->edge[i].next_out)
            jacobian[(e->edge[i].to - e->nvalue - variables) * variables + k] = e->edge[i].by;
}

lw_status lwi_codegen_accumulate(lwi_codegen_graph *g, int nseed, const lwi_codegen_seed *seed,
                                 int variables, int n, const lwi_codegen_value *f,
                                 lwi_codegen_value *jacobian)
{
    if (g->failed) return LW_ERR_MEMORY;
    elimination e = {
        .graph = g, .nvalue = g->nvertex, .nplace = g->nvertex + variables + n, .unused = -1};
    bool *needed = lwi_allocate(g->allocator, (size_t)g->nvertex * sizeof *needed);
    e.failed = !needed || !make_room(&e);
    if (!e.failed) {
        memset(needed, 0, (size_t)g->nvertex * sizeof *needed);
        add_edges(&e, nseed, seed, n, f, needed);
        eliminate_all(&e);
        if (!e.failed) read_edges(&e, variables, n, jacobian);
    }
    lwi_release(g->allocator, needed);
    lwi_release(g->allocator, e.at);
    lwi_release(g->allocator, e.edge);
    lwi_release(g->allocator, e.heap);
    return e.failed || g->failed ? LW_ERR_MEMORY : LW_OK;
}
