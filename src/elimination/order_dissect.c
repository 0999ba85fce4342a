// order_dissect.c -- nested dissection: a set of bodies is cut in two where few rows cross and both parts
// have similar sizes, both parts are dissected in the same way, and their compounds are joined last.
//
// Candidates for a cut, each found in one pass: what a breadth-first or depth-first order from an end of the
// set has reached after any number of bodies, and the subtree below a body of the depth-first tree.  (Edges
// that are not in that tree connect a body with one of its ancestors, so the crossing rows are a sum over the
// subtree.)  The best cut has the smallest
//     rows / (bodies here * bodies there)
// which halves a chain exactly.  Single bodies then change sides if that cuts fewer rows. Cost: O(n log n)
// for graphs of bounded degree.  Halves that the edge with the fewest rows alone connects have the smallest score of
// all, and no body changes sides: the search ends with them.
#include "elimination/order.h"

#include "base/assert.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST = 4
};                   // a part has at least 1/SMALLEST of the bodies: depth O(log n) for every graph
enum { PASSES = 4 }; // of improvement; nearly all moves are in the first

// An edge at a body.
typedef struct incidence {
    int edge, rows;
    int first, n; // its bodies: of[first] ... of[first + n - 1]
} incidence;

typedef struct dissection {
    lwi_order *o;
    int leaf;
    const int *of;     // bodies of all edges
    int *body;         // [nbody] a permutation; a set is a span of it
    int *set, sets;    // [nbody] current set of each body
    int *seen, passes; // [nbody] marks of one traversal
    int *order;        // [nbody] of one traversal
    int *first, *end;  // edges of body b within its set: at[first[b]] ... at[end[b] - 1]
    incidence *at;
    int fewest;             // rows of an edge within the last set
    int *count, *counted;   // [nedge] bodies reached, and in which pass
    int *parent, *rank;     // [nbody] depth-first tree, place in the order
    int *edge_at, *body_at; // [nbody] progress through the neighbours of a body
    int *size, *crossing;   // [nbody] of the subtree below a body
    unsigned char *side;    // [nbody]
    int *spare;             // [nbody]
} dissection;

typedef struct cut {
    double score;
    int apart;       // difference of the sizes
    const int *list; // the part's bodies
    int n;
} cut;

static bool has_all(const dissection *d, const incidence *e, int set)
{
    const int *body = d->of + e->first;
    for (int i = 0; i < e->n; i++)
        if (d->set[body[i]] != set) return false;
    return true;
}

// A new set of bodies, and the edges within it: sets become smaller, so edges that leave one are left for good.
static void make_set(dissection *d, const int *body, int n)
{
    const int set = ++d->sets;
    d->fewest = INT_MAX;
    for (int k = 0; k < n; k++) d->set[body[k]] = set;
    for (int k = 0; k < n; k++) {
        const int b = body[k];
        int to = d->first[b];
        for (int i = d->first[b]; i < d->end[b]; i++) {
            if (!has_all(d, &d->at[i], set)) continue;
            if (d->at[i].rows < d->fewest) d->fewest = d->at[i].rows;
            if (to < i) d->at[to] = d->at[i];
            to++;
        }
        d->end[b] = to;
    }
}

// -------------------------------------------------------------------------------------- traversals

// Bodies of the set connected with `start`, nearest first; returns how many.
static int breadth_first(dissection *d, int start)
{
    const int pass = ++d->passes;
    int tail = 0;
    d->order[tail++] = start;
    d->seen[start] = pass;
    for (int head = 0; head < tail; head++) {
        const int b = d->order[head];
        for (int i = d->first[b]; i < d->end[b]; i++) {
            const incidence *e = &d->at[i];
            const int *body = d->of + e->first;
            for (int j = 0; j < e->n; j++) {
                if (d->seen[body[j]] == pass) continue;
                d->seen[body[j]] = pass;
                d->order[tail++] = body[j];
            }
        }
    }
    return tail;
}

// The next body of a depth-first walk from b, or -1.
static int onward(dissection *d, int b, int pass)
{
    for (; d->edge_at[b] < d->end[b]; d->edge_at[b]++, d->body_at[b] = 0) {
        const incidence *e = &d->at[d->edge_at[b]];
        while (d->body_at[b] < e->n) {
            const int next = d->of[e->first + d->body_at[b]++];
            if (d->seen[next] != pass) return next;
        }
    }
    return -1;
}

static void depth_first(dissection *d, int start)
{
    const int pass = ++d->passes;
    int n = 0;
    d->parent[start] = -1;
    for (int b = start, next; b >= 0; b = next) {
        if (d->seen[b] != pass) {
            d->seen[b] = pass;
            d->rank[b] = n;
            d->order[n++] = b;
            d->edge_at[b] = d->first[b];
            d->body_at[b] = 0;
        }
        next = onward(d, b, pass);
        if (next >= 0)
            d->parent[next] = b;
        else
            next = d->parent[b];
    }
}

// ----------------------------------------------------------------------------------------- cuts

static void consider(cut *best, int rows, int part, int n, const int *list)
{
    LWI_ASSERT(part > 0 && part < n && rows >= 0);
    const int smaller = part < n - part ? part : n - part;
    if (SMALLEST * smaller < n && smaller < n / 2) return;
    const cut c = {(double)rows / ((double)part * (n - part)), abs(n - 2 * part), list, part};
    if (!best->list || c.score < best->score || (c.score <= best->score && c.apart < best->apart))
        *best = c;
}

// The bodies reached after any number of steps of the order; ends with one of the smallest possible score.
static void consider_order(dissection *d, int n, double smallest, cut *best)
{
    const int pass = ++d->passes;
    int rows = 0;
    for (int k = 0; k < n - 1 && !(best->list && best->score <= smallest); k++) {
        const int b = d->order[k];
        for (int i = d->first[b]; i < d->end[b]; i++) {
            const incidence *at = &d->at[i];
            const int e = at->edge;
            if (d->counted[e] != pass) {
                d->counted[e] = pass;
                d->count[e] = 0;
                rows += at->rows;
            }
            if (++d->count[e] == at->n) rows -= at->rows;
        }
        consider(best, rows, k + 1, n, d->order);
    }
}

// An edge between a body and an ancestor crosses every cut between them; edges of more bodies count as
// several.
static void consider_subtrees(dissection *d, int n, cut *best)
{
    for (int k = 0; k < n; k++) d->size[d->order[k]] = 1, d->crossing[d->order[k]] = 0;
    for (int k = 0; k < n; k++) {
        const int b = d->order[k];
        for (int i = d->first[b]; i < d->end[b]; i++) {
            const incidence *e = &d->at[i];
            const int *body = d->of + e->first;
            if (body[0] != b) continue; // count each edge once
            for (int j = 0; j + 1 < e->n; j++) {
                const int u = body[j], v = body[j + 1];
                const bool u_below = d->rank[u] > d->rank[v];
                d->crossing[u_below ? u : v] += e->rows;
                d->crossing[u_below ? v : u] -= e->rows;
            }
        }
    }
    for (int k = n - 1; k > 0; k--) {
        const int b = d->order[k];
        consider(best, d->crossing[b], d->size[b], n, d->order + k);
        d->size[d->parent[b]] += d->size[b];
        d->crossing[d->parent[b]] += d->crossing[b];
    }
}

// ------------------------------------------------------------------------------------ improvement

// Decrease of the crossing rows when b changes sides.
static int gain(const dissection *d, int b)
{
    int rows = 0;
    for (int i = d->first[b]; i < d->end[b]; i++) {
        const incidence *e = &d->at[i];
        const int *body = d->of + e->first;
        int here = 0;
        for (int j = 0; j < e->n; j++) here += d->side[body[j]] == d->side[b];
        if (here == 1) rows += e->rows;
        if (here == e->n) rows -= e->rows;
    }
    return rows;
}

static void improve(dissection *d, const int *body, int n)
{
    int size[2] = {0, 0};
    for (int k = 0; k < n; k++) size[d->side[body[k]]]++;
    bool moved = true;
    for (int pass = 0; pass < PASSES && moved; pass++) {
        moved = false;
        for (int k = 0; k < n; k++) {
            const int b = body[k], here = d->side[b];
            if (size[here] < 2 || SMALLEST * (size[here] - 1) < n || gain(d, b) <= 0) continue;
            d->side[b] = (unsigned char)!here;
            size[here]--, size[!here]++;
            moved = true;
        }
    }
}

// ------------------------------------------------------------------------------------- dissection

// Moves the bodies of side 1 to the front, otherwise in their order; returns how many.
static int part_sides(dissection *d, int *body, int n)
{
    int front = 0, back = 0;
    for (int k = 0; k < n; k++) {
        if (d->side[body[k]])
            body[front++] = body[k];
        else
            d->spare[back++] = body[k];
    }
    memcpy(body + front, d->spare, (size_t)back * sizeof *body);
    return front;
}

// What bisect finds for two bodies, half of all sets.
static int separate(int *body)
{
    const int first = body[0];
    body[0] = body[1], body[1] = first;
    return 1;
}

// Cuts a connected set, of which d->order is the breadth-first order; returns the size of the first part.
static int bisect(dissection *d, int *body, int n)
{
    cut best = {.list = NULL};
    const int end = d->order[n - 1]; // far from everything: an end
    const double smallest = d->fewest / ((double)(n / 2) * (n - n / 2));
    LWI_ASSERT(n > 2);
    depth_first(d, end);
    consider_order(d, n, smallest, &best);
    if (best.score > smallest) consider_subtrees(d, n, &best);
    for (int k = 0; k < n; k++) d->side[body[k]] = 0;
    for (int k = 0; k < best.n; k++) d->side[best.list[k]] = 1;
    if (best.score <= smallest) return part_sides(d, body, n);
    breadth_first(d, end);
    cut broad = best;
    consider_order(d, n, smallest, &broad);
    if (broad.score < best.score) {
        for (int k = 0; k < n; k++) d->side[body[k]] = 0;
        for (int k = 0; k < broad.n; k++) d->side[d->order[k]] = 1;
    }
    improve(d, body, n);
    return part_sides(d, body, n);
}

// Joins all compounds of a connected set; a single body that closes nothing remains single.
static lw_status join_set(dissection *d, const int *body, int n)
{
    lwi_order *o = d->o;
    const int pass = ++d->passes;
    int nroot = 0;
    for (int k = 0; k < n; k++) {
        const int root = lwi_order_find(o, body[k]);
        if (d->seen[root] == pass) continue;
        d->seen[root] = pass;
        d->spare[nroot++] = root;
    }
    bool closes = nroot > 1;
    for (int i = o->first[body[0]]; i < o->first[body[0] + 1] && !closes; i++)
        closes = o->node_of[body[0]] < 0 && o->graph->edge[o->edge[i]].n == 1;
    return closes ? lwi_order_join(o, d->spare, nroot) : LW_OK;
}

static lw_status dissect(dissection *d, int *body, int n);

// A set of several connected components: they are not joined; each is moved together and dissected.
static lw_status pieces(dissection *d, int *body, int n)
{
    const int whole = d->set[body[0]];
    int found = 0;
    for (int k = 0; k < n; k++) {
        if (d->set[body[k]] != whole) continue;
        const int size = breadth_first(d, body[k]), set = ++d->sets;
        for (int i = 0; i < size; i++) {
            d->set[d->order[i]] = set;
            d->spare[found++] = d->order[i];
        }
    }
    LWI_ASSERT(found == n);
    memcpy(body, d->spare, (size_t)n * sizeof *body);
    for (int k = 0; k < n;) {
        int size = 1;
        while (k + size < n && d->set[body[k + size]] == d->set[body[k]]) size++;
        TRY(dissect(d, body + k, size));
        k += size;
    }
    return LW_OK;
}

static lw_status dissect(dissection *d, int *body, int n)
{
    if (d->o->work > d->o->limit) return LW_OK;
    if (n > 1 && n <= d->leaf) return lwi_order_sequential(d->o, body, n);
    make_set(d, body, n);
    if (n > 1) {
        if (breadth_first(d, body[0]) < n) return pieces(d, body, n);
        const int part = n == 2 ? separate(body) : bisect(d, body, n);
        LWI_ASSERT(part > 0 && part < n);
        TRY(dissect(d, body, part));
        TRY(dissect(d, body + part, n - part));
        if (d->o->work > d->o->limit) return LW_OK;
    }
    return join_set(d, body, n);
}

// Edges of one body alone are in no cut.
static void list_edges(dissection *d, int *of, int *first)
{
    const lwi_order *o = d->o;
    for (int e = 0, used = 0; e < o->graph->nedge; e++) {
        const lwi_plan_edge *edge = &o->graph->edge[e];
        first[e] = used;
        memcpy(of + used, lwi_plan_bodies(edge), (size_t)edge->n * sizeof *of);
        used += edge->n;
    }
    d->of = of;
    for (int b = 0; b < o->graph->nbody; b++) {
        d->first[b] = d->end[b] = o->first[b];
        for (int i = o->first[b]; i < o->first[b + 1]; i++) {
            const int e = o->edge[i];
            const lwi_plan_edge *edge = &o->graph->edge[e];
            if (edge->n > 1) d->at[d->end[b]++] = (incidence){e, edge->rows, first[e], edge->n};
        }
    }
}

lw_status lwi_order_dissect(lwi_order *o, int leaf)
{
    const int nbody = o->graph->nbody, nedge = o->graph->nedge;
    dissection d = {.o = o, .leaf = leaf};
    int **per_body[] = {&d.body,    &d.set,     &d.seen,  &d.order,    &d.parent, &d.rank, &d.size,
                        &d.edge_at, &d.body_at, &d.spare, &d.crossing, &d.first,  &d.end};
    for (int i = 0; i < LWI_COUNT(per_body); i++)
        if (!(*per_body[i] = LWI_PUSH(&o->arena, int, nbody))) return LW_ERR_MEMORY;
    size_t bodies = 0;
    for (int e = 0; e < nedge; e++) bodies += (size_t)o->graph->edge[e].n;
    d.at = LWI_PUSH(&o->arena, incidence, o->first[nbody]);
    int *of = LWI_PUSH(&o->arena, int, bodies), *first = LWI_PUSH(&o->arena, int, nedge);
    d.count = LWI_PUSH(&o->arena, int, nedge);
    d.counted = LWI_PUSH(&o->arena, int, nedge);
    d.side = LWI_PUSH(&o->arena, unsigned char, nbody);
    if (!d.at || !of || !first || !d.count || !d.counted || !d.side) return LW_ERR_MEMORY;
    for (int b = 0; b < nbody; b++) d.body[b] = b;
    list_edges(&d, of, first);
    return nbody ? dissect(&d, d.body, nbody) : LW_OK;
}
