// ranks.c -- sweeps over the tasks by several processes.
//
// Whole subtrees of tasks go to the ranks in about equal shares, as to threads (threads.c).  A task above them is computed
// by the rank with the largest of the subtrees that it joins, so that ranks are joined in pairs where the plan is
// balanced: the longest path to the root then has messages of log2 of their number.
//
//   matrix pass   up    U of a task, to the rank of its parent
//   vector pass   up    the open part of v; in refinement also x of bodies below that edges closed above have
//                 down  v of the parent, and x of these bodies
//
// Every rank has the rows J and G, x0 and c of all bodies and edges.  At the end of the vector passes all have x and
// lambda, and after a matrix pass the states of the nodes that are not in lanes.  A matrix pass that loses a pivot or a
// direction is repeated by every rank alone, and so are the vector passes after it: what is reported then needs the
// factors of all nodes.
//
// A task has the same operations on any rank: bits do not depend on their number.
#include "elimination/lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Distributed subtrees are not larger than this share of one rank's work. */
#define PORTION 0.125

// A task and its parent, or one of them, on another rank.
typedef struct link {
    int task, parent;
    int from, to, stage; // ranks of both; stage of `task`
    bool whole;         // the first link of this task to that rank: it carries U and v of all lanes
    lwi_plan_span body; // of the lanes with this parent: those that edges closed above have
} link;

struct lwi_elim_ranks {
    lwi_ranks *ranks;
    bool
        alone; // the last matrix pass, and vector passes with its factors, are those of this process
    bool alone_next; // by the caller: of the next one
    int *owner;      // [ntask]
    int nstage;
    int *own, *first_own; // this rank's tasks by stage, [nstage + 1]
    link *link;           // by stage, from, to
    int nlink;
    int *body;
    double *buffer;                       // of one message
    lwi_ranks_gather states[2], solution; // states: node by node, and without batches in lanes
};

enum { STATE_NUMBERS = sizeof(lwi_elim_state) / sizeof(double) };
_Static_assert(sizeof(lwi_elim_state) % sizeof(double) == 0, "states are sent as numbers");

// ------------------------------------------------------------------------------------------ shares

// Parent of lane l, of a task with one parent that of all.
static int parent_of(const lwi_elim *elim, int task, int l)
{
    const int parent = elim->task[task].parent;
    return parent >= 0 ? parent : lwi_elim_task_parent(elim, task, l);
}

// Subtrees below `limit` in about equal shares, in the order of the tasks.
static void share_subtrees(const lwi_elim *elim, const double *work, double limit, int count,
                           int *owner)
{
    double all = 0, done = 0;
    for (int u = 0; u < elim->ntask; u++)
        if (work[u] <= limit) all += lwi_elim_task_work(elim, u, true);
    for (int u = elim->ntask - 1; u >= 0; u--) {
        const int parent = elim->task[u].parent;
        owner[u] = -1;
        if (work[u] > limit) continue;
        if (parent >= 0 && work[parent] <= limit) {
            owner[u] = owner[parent];
            continue;
        }
        const int part = (int)((done + 0.5 * work[u]) / all * count);
        owner[u] = part < count ? part : count - 1;
        done += work[u];
    }
}

// Tasks above them: the rank of the child with the largest finite work, the first one if several have the same.
static void share_above(const lwi_elim *elim, const double *work, double *largest, int *owner)
{
    for (int u = 0; u < elim->ntask; u++) {
        if (owner[u] < 0) owner[u] = 0; // without children
        for (int l = 0; l < elim->task[u].lanes; l++) {
            const int p = parent_of(elim, u, l);
            if (p < 0 || p == u) continue;
            const bool own = owner[p] >= 0 && largest[p] == 0; // in a subtree, with its rank
            if (own || !(work[u] > largest[p])) continue;
            owner[p] = owner[u];
            largest[p] = work[u];
        }
    }
}

static lw_status share_tasks(const lwi_elim *elim, int count, lwi_arena *scratch, int *owner)
{
    double *work = LWI_PUSH(scratch, double, elim->ntask);
    double *largest = LWI_PUSH(scratch, double, elim->ntask);
    if (!work || !largest) return LW_ERR_MEMORY;
    const double all = lwi_elim_subtree_work(elim, work);
    share_subtrees(elim, work, PORTION * all / count, count, owner);
    share_above(elim, work, largest, owner);
    return LW_OK;
}

// -------------------------------------------------------------------------------------- links

// Number of messages below a task on its longest path; returns the number of stages.
static int find_stages(const lwi_elim *elim, const int *owner, int *stage)
{
    int count = 0;
    for (int u = 0; u < elim->ntask; u++) {
        if (count <= stage[u]) count = stage[u] + 1;
        for (int l = 0; l < elim->task[u].lanes; l++) {
            const int p = parent_of(elim, u, l);
            if (p < 0) continue;
            const int at = stage[u] + (owner[u] != owner[p]);
            if (stage[p] < at) stage[p] = at;
        }
    }
    return count;
}

// Bodies below the nodes of a task, of lanes with this parent, that edges closed above have.  to: NULL: counts only.
static int list_bodies(const lwi_elim *elim, int task, int parent, int *to)
{
    const lwi_plan *plan = elim->plan;
    int n = 0;
    for (int l = 0; l < elim->task[task].lanes; l++) {
        const int node = elim->task[task].node[l];
        const lwi_plan_span open = plan->node[node].open;
        for (int i = 0; i < open.n && parent_of(elim, task, l) == parent; i++) {
            const lwi_plan_edge *edge = &plan->graph.edge[plan->item[open.first + i]];
            for (int k = 0; k < edge->n; k++) {
                const int b = lwi_plan_bodies(edge)[k], enters = elim->entry_node[b];
                if (enters < elim->front[node].first || enters > node) continue;
                if (to) to[n] = b;
                n++;
            }
        }
    }
    return n;
}

static bool has_link(const link *list, int from, int n, int parent)
{
    for (int i = from; i < n; i++)
        if (list[i].parent == parent) return true;
    return false;
}

// Links of all tasks; list NULL: counts links and bodies only.
static int list_links(const lwi_elim *elim, const int *owner, const int *stage, link *list,
                      int *body, int *nbody)
{
    int n = 0, bodies = 0;
    for (int u = 0; u < elim->ntask; u++) {
        link own[LWI_ELIM_LANES];
        int nown = 0;
        for (int l = 0; l < elim->task[u].lanes; l++) {
            const int p = parent_of(elim, u, l);
            if (p < 0 || owner[p] == owner[u] || has_link(own, 0, nown, p)) continue;
            bool whole = true;
            for (int i = 0; i < nown; i++) whole = whole && own[i].to != owner[p];
            const int count = list_bodies(elim, u, p, body ? body + bodies : NULL);
            own[nown++] = (link){u, p, owner[u], owner[p], stage[u], whole, {bodies, count}};
            bodies += count;
        }
        if (list) memcpy(list + n, own, (size_t)nown * sizeof *own);
        n += nown;
    }
    *nbody = bodies;
    return n;
}

static int by_message(const void *a, const void *b)
{
    const link *x = a, *y = b;
    if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->task != y->task) return x->task < y->task ? -1 : 1;
    return x->parent < y->parent ? -1 : x->parent > y->parent;
}

static bool same_message(const link *x, const link *y)
{
    return x->stage == y->stage && x->from == y->from && x->to == y->to;
}

// The end of the message that begins with link i.
static int message_end(const lwi_elim_ranks *r, int i)
{
    int end = i + 1;
    while (end < r->nlink && same_message(&r->link[i], &r->link[end])) end++;
    return end;
}

// -------------------------------------------------------------------------------------- messages

typedef enum content { MATRIX, VECTORS_UP, VECTORS_DOWN } content;

static const lwi_elim_batch *in_lanes(const lwi_elim *elim, int task)
{
    return elim->laned ? elim->task[task].batch : NULL;
}

// Copies n numbers from the buffer, or to it; returns what follows there.
static double *copy(double *buffer, double *numbers, size_t n, bool out)
{
    if (out)
        memcpy(buffer, numbers, n * sizeof *numbers);
    else
        memcpy(numbers, buffer, n * sizeof *numbers);
    return buffer + n;
}

static double *copy_U(const lwi_elim *elim, int task, double *buffer, bool out)
{
    const lwi_elim_batch *g = in_lanes(elim, task);
    if (g) return copy(buffer, g->U[0], (size_t)(g->no * g->no) * LWI_ELIM_LANES, out);
    for (int l = 0; l < elim->task[task].lanes; l++) {
        const lwi_elim_front *N = &elim->front[elim->task[task].node[l]];
        buffer = copy(buffer, N->U, (size_t)N->no * (size_t)N->lu, out);
    }
    return buffer;
}

// v of all nodes of a task; `open`: the part of the open rows.
static double *copy_v(const lwi_elim *elim, int task, bool open, double *buffer, bool out)
{
    const lwi_elim_batch *g = in_lanes(elim, task);
    if (g) {
        const int from = open ? g->nc : 0, n = g->nc + g->no - from;
        return n ? copy(buffer, g->v[from], (size_t)n * LWI_ELIM_LANES, out) : buffer;
    }
    for (int l = 0; l < elim->task[task].lanes; l++) {
        const lwi_elim_front *N = &elim->front[elim->task[task].node[l]];
        const int from = open ? N->nc : 0;
        buffer = copy(buffer, N->v + from, (size_t)(N->nc + N->no - from), out);
    }
    return buffer;
}

static double *copy_link(const lwi_elim *elim, const link *k, content what, bool bodies,
                         double *buffer, bool out)
{
    if (what == MATRIX) return k->whole ? copy_U(elim, k->task, buffer, out) : buffer;
    if (what == VECTORS_DOWN)
        buffer = copy_v(elim, k->parent, false, buffer, out);
    else if (k->whole)
        buffer = copy_v(elim, k->task, true, buffer, out);
    for (int i = 0; i < k->body.n && bodies; i++)
        buffer = copy(buffer, elim->x[elim->ranks->body[k->body.first + i]], 6, out);
    return buffer;
}

static size_t link_size(const lwi_elim *elim, const link *k, content what, bool bodies)
{
    const int task = what == VECTORS_DOWN ? k->parent : k->task;
    const lwi_elim_batch *g = in_lanes(elim, task);
    const lwi_elim_task *u = &elim->task[task];
    const lwi_elim_front *N = &elim->front[u->node[0]];
    const size_t lanes = g ? LWI_ELIM_LANES : (size_t)u->lanes, no = (size_t)N->no;
    if (what == MATRIX) return k->whole ? lanes * no * (g ? no : (size_t)N->lu) : 0;
    const size_t x = bodies ? 6 * (size_t)k->body.n : 0;
    if (what == VECTORS_DOWN) return lanes * ((size_t)N->nc + no) + x;
    return (k->whole ? lanes * no : 0) + x;
}

// The messages of a stage, in one order on all ranks.
static void exchange(lwi_elim *elim, int first, int end, content what, bool bodies)
{
    lwi_elim_ranks *r = elim->ranks;
    const int me = r->ranks->of.rank;
    for (int i = first, next; i < end; i = next) {
        const link *k = &r->link[i];
        const int from = what == VECTORS_DOWN ? k->to : k->from;
        const int to = what == VECTORS_DOWN ? k->from : k->to;
        next = message_end(r, i);
        if (me != from && me != to) continue;
        double *at = r->buffer;
        size_t size = 0;
        for (int j = i; j < next; j++) {
            size += link_size(elim, &r->link[j], what, bodies);
            if (me == from) at = copy_link(elim, &r->link[j], what, bodies, at, true);
        }
        LWI_ASSERT(me != from || at == r->buffer + size);
        if (me == from)
            lwi_ranks_send(r->ranks, to, r->buffer, size * sizeof *at);
        else
            lwi_ranks_receive(r->ranks, from, r->buffer, size * sizeof *at);
        for (int j = i; j < next && me == to; j++)
            at = copy_link(elim, &r->link[j], what, bodies, at, false);
    }
}

// ---------------------------------------------------------------------------------------- sweeps

static void eliminate(lwi_elim *elim, int task)
{
    lwi_elim_task_eliminate(elim, task, &LWI_ALONE);
}

static void sweep_up(lwi_elim *elim, content what, bool bodies,
                     void (*visit)(lwi_elim *elim, int task))
{
    const lwi_elim_ranks *r = elim->ranks;
    for (int s = 0, first = 0, end; s < r->nstage; s++, first = end) {
        for (int i = r->first_own[s]; i < r->first_own[s + 1]; i++) visit(elim, r->own[i]);
        for (end = first; end < r->nlink && r->link[end].stage == s;) end++;
        exchange(elim, first, end, what, bodies);
    }
}

static void sweep_down(lwi_elim *elim)
{
    const lwi_elim_ranks *r = elim->ranks;
    for (int s = r->nstage - 1, end = r->nlink, first; s >= 0; s--, end = first) {
        for (first = end; first > 0 && r->link[first - 1].stage == s;) first--;
        exchange(elim, first, end, VECTORS_DOWN, true);
        for (int i = r->first_own[s + 1] - 1; i >= r->first_own[s]; i--)
            lwi_elim_task_down(elim, r->own[i]);
    }
}

// Has every node of this rank the directions that it has generically?
static bool all_whole(const lwi_elim *elim)
{
    const lwi_elim_ranks *r = elim->ranks;
    bool whole = true;
    for (int i = 0; i < r->first_own[r->nstage]; i++) {
        const lwi_elim_task *u = &elim->task[r->own[i]];
        if (u->batch && elim->laned) {
            whole = whole && !u->batch->failed;
            continue;
        }
        for (int l = 0; l < u->lanes; l++) {
            const int k = u->node[l], rank = elim->generic_rank[k];
            const lwi_elim_state *state = &elim->state[k];
            whole = whole && state->status == LW_OK &&
                    state->kept == (rank < 0 ? elim->front[k].nc : rank);
        }
    }
    return whole;
}

bool lwi_elim_on_ranks(const lwi_elim *elim)
{
    const lwi_elim_ranks *r = elim->ranks;
    return r && r->ranks->active && !r->alone;
}

void lwi_elim_compute_alone(lwi_elim *elim, bool alone)
{
    if (elim->ranks) elim->ranks->alone_next = alone;
}

bool lwi_elim_ranks_matrix(lwi_elim *elim)
{
    lwi_elim_ranks *r = elim->ranks;
    if (!r || !r->ranks->active) return false;
    r->alone = r->alone_next || elim->find_ranks;
    if (r->alone) return false;
    sweep_up(elim, MATRIX, false, eliminate);
    for (int u = 0; u < elim->nbatch && elim->laned; u++) // those of other ranks, if they are valid
        if (r->owner[u] != r->ranks->of.rank) elim->task[u].batch->failed = false;
    double *const state[1] = {(double *)(void *)elim->state};
    r->alone = !lwi_ranks_gather_all(r->ranks, &r->states[elim->laned], state, all_whole(elim));
    return !r->alone;
}

void lwi_elim_ranks_vectors(lwi_elim *elim, int first, int last)
{
    lwi_elim_ranks *r = elim->ranks;
    for (int i = first; i <= last; i++) {
        lwi_elim_begin_pass(elim, i);
        sweep_up(elim, VECTORS_UP, i > first, lwi_elim_task_up);
        sweep_down(elim);
    }
    double *const array[2] = {elim->x[0], elim->lambda};
    lwi_ranks_gather_all(r->ranks, &r->solution, array, true);
}

// ---------------------------------------------------------------------------------------- creation

static lw_status list_own(const lwi_elim *elim, const int *stage, lwi_arena *arena,
                          lwi_elim_ranks *r)
{
    int n = 0;
    r->own = LWI_PUSH(arena, int, elim->ntask);
    r->first_own = LWI_PUSH(arena, int, r->nstage + 1);
    if (!r->own || !r->first_own) return LW_ERR_MEMORY;
    for (int s = 0; s < r->nstage; s++) {
        r->first_own[s] = n;
        for (int u = 0; u < elim->ntask; u++)
            if (stage[u] == s && r->owner[u] == r->ranks->of.rank) r->own[n++] = u;
    }
    r->first_own[r->nstage] = n;
    return LW_OK;
}

static lw_status make_links(const lwi_elim *elim, const int *stage, lwi_arena *arena,
                            lwi_elim_ranks *r)
{
    int nbody;
    r->nlink = list_links(elim, r->owner, stage, NULL, NULL, &nbody);
    r->link = LWI_PUSH(arena, link, r->nlink);
    r->body = LWI_PUSH(arena, int, nbody);
    if (!r->link || !r->body) return LW_ERR_MEMORY;
    list_links(elim, r->owner, stage, r->link, r->body, &nbody);
    if (r->nlink) qsort(r->link, (size_t)r->nlink, sizeof *r->link, by_message);
    return LW_OK;
}

// The largest message, in lanes or node by node.
static lw_status make_buffer(lwi_elim *elim, lwi_arena *arena, lwi_elim_ranks *r)
{
    const bool laned = elim->laned;
    size_t largest = 0;
    for (int mode = 0; mode < 6; mode++) {
        elim->laned = mode >= 3;
        for (int i = 0, next; i < r->nlink; i = next) {
            size_t size = 0;
            next = message_end(r, i);
            for (int j = i; j < next; j++)
                size += link_size(elim, &r->link[j], (content)(mode % 3), true);
            if (size > largest) largest = size;
        }
    }
    elim->laned = laned;
    r->buffer = LWI_PUSH(arena, double, largest);
    return r->buffer ? LW_OK : LW_ERR_MEMORY;
}

static void add_states(const lwi_elim *elim, int rank, bool laned, lwi_elim_ranks *r, int *nrun)
{
    lwi_ranks_gather *of = &r->states[laned];
    for (int u = laned ? elim->nbatch : 0; u < elim->ntask; u++)
        for (int l = 0; l < elim->task[u].lanes && r->owner[u] == rank; l++)
            lwi_ranks_add(of->run, of->first[rank], nrun, 0, STATE_NUMBERS * elim->task[u].node[l],
                          STATE_NUMBERS);
}

// x of a body belongs to the rank of the node where it enters, lambda of an edge to that of the node that closes it.
static void add_solution(const lwi_elim *elim, int rank, lwi_elim_ranks *r, int *nrun)
{
    const lwi_plan *plan = elim->plan;
    lwi_ranks_gather *of = &r->solution;
    for (int b = 0; b < plan->graph.nbody; b++)
        if (r->owner[elim->task_of[elim->entry_node[b]]] == rank)
            lwi_ranks_add(of->run, of->first[rank], nrun, 0, 6 * b, 6);
    for (int e = 0; e < plan->graph.nedge; e++)
        if (plan->closer[e] >= 0 && r->owner[elim->task_of[plan->closer[e]]] == rank)
            lwi_ranks_add(of->run, of->first[rank], nrun, 1, plan->row[e],
                          plan->graph.edge[e].rows);
}

static lw_status list_numbers(const lwi_elim *elim, lwi_arena *arena, lwi_elim_ranks *r)
{
    const lwi_plan *plan = elim->plan;
    int n[3] = {0};
    for (int laned = 0; laned < 2; laned++)
        TRY(lwi_ranks_gather_create(r->ranks, elim->nnode, arena, &r->states[laned]));
    TRY(lwi_ranks_gather_create(r->ranks, plan->graph.nbody + plan->graph.nedge, arena,
                                &r->solution));
    lwi_ranks_gather *const of[3] = {&r->states[0], &r->states[1], &r->solution};
    for (int rank = 0; rank <= r->ranks->of.count; rank++) {
        for (int i = 0; i < 3; i++) of[i]->first[rank] = n[i];
        if (rank == r->ranks->of.count) break;
        add_states(elim, rank, false, r, &n[0]);
        add_states(elim, rank, true, r, &n[1]);
        add_solution(elim, rank, r, &n[2]);
    }
    for (int i = 0; i < 3; i++) TRY(lwi_ranks_gather_end(r->ranks, arena, of[i]));
    return LW_OK;
}

static lw_status make(lwi_elim *elim, lwi_arena *scratch, lwi_arena *arena, lwi_elim_ranks *r)
{
    int *stage = LWI_PUSH(scratch, int, elim->ntask);
    r->owner = LWI_PUSH(arena, int, elim->ntask);
    if (!stage || !r->owner) return LW_ERR_MEMORY;
    TRY(share_tasks(elim, r->ranks->of.count, scratch, r->owner));
    r->nstage = find_stages(elim, r->owner, stage);
    TRY(list_own(elim, stage, arena, r));
    TRY(make_links(elim, stage, arena, r));
    TRY(make_buffer(elim, arena, r));
    return list_numbers(elim, arena, r);
}

lw_status lwi_elim_share_ranks(lwi_elim *elim, lwi_ranks *ranks, lwi_arena *arena)
{
    LWI_ASSERT(!elim->team);
    if (!lwi_elim_worth_threads(elim)) return LW_OK;
    lwi_elim_ranks *r = LWI_PUSH(arena, lwi_elim_ranks, 1);
    if (!r) return LW_ERR_MEMORY;
    r->ranks = ranks;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = make(elim, &scratch, arena, r);
    lwi_arena_free(&scratch);
    if (status != LW_OK) return status;
    elim->ranks = r;
    return lwi_elim_batch_updates(elim, false, arena);
}
