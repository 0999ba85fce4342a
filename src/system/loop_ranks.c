// loop_ranks.c -- generic ranks of the nodes of a plan where rows depend on others in single loops alone.
//
// Of the rows that a node closes, as many depend on others as there are self-stresses of the edges closed at the node and below
// it that those below it do not have.  Here each self-stress is a sum of wrenches along single loops, each of which acts on
// all joints of its loop.  The top of a loop is the node that closes the last of its joints; it is above the others that do,
// since the bodies of a loop are a path between its joints: the node at which all of them are inside closes one.
//
// If each loop under self-stress has a joint that is closed at its top and is in no other loop with this top, wrenches along
// these loops cannot cancel there.  Then a sum reaches the tops of all its loops that are above others, and the self-stresses of
// the edges at and below a node are the sums of those along loops with their top there:
//
//   rank of a node = its closed rows - dependent rows of the loops of which it is the top
#include "system/loop_ranks.h"

typedef struct search {
    const lwi_system *s;
    int *top;   // [nloop]
    int *loops; // [nedge] how many loops have the top that closes the edge, and pass it
} search;

// What is done at the edge of a joint of a loop.  false: the visit ends
typedef bool visit(const search *l, int loop, int edge);

// Visits the edges of a loop.  false: a joint has none, or a visit ended
static bool visit_loop(const search *l, int loop, visit *at)
{
    const lw_model *model = l->s->model;
    const int j = model->loop[loop];
    int a = model->body_node[model->joint[j].body1], b = model->body_node[model->joint[j].body2];
    if (l->s->joint_edge[j] < 0 || !at(l, loop, l->s->joint_edge[j])) return false;
    while (a != b) { // parents have lower numbers
        int *further = a > b ? &a : &b;
        const lwi_node *node = &model->node[*further];
        const int edge = node->joint < 0 ? -1 : l->s->joint_edge[node->joint];
        if (edge < 0 || !at(l, loop, edge)) return false;
        *further = node->parent;
    }
    return true;
}

static bool raise_top(const search *l, int loop, int edge)
{
    const int k = l->s->plan.closer[edge];
    if (k > l->top[loop]) l->top[loop] = k;
    return k >= 0;
}

static bool count_loop(const search *l, int loop, int edge)
{
    l->loops[edge] += l->s->plan.closer[edge] == l->top[loop];
    return true;
}

static bool is_shared(const search *l, int loop, int edge)
{
    return l->s->plan.closer[edge] != l->top[loop] || l->loops[edge] > 1;
}

static bool find_tops(const search *l, const int *dependent)
{
    const int nloop = l->s->model->nloop;
    for (int i = 0; i < nloop; i++) {
        l->top[i] = -1;
        if (dependent[i] && !visit_loop(l, i, raise_top)) return false;
    }
    for (int e = 0; e < l->s->nedge; e++) l->loops[e] = 0;
    for (int i = 0; i < nloop; i++)
        if (dependent[i]) visit_loop(l, i, count_loop);
    for (int i = 0; i < nloop; i++)
        if (dependent[i] && visit_loop(l, i, is_shared)) return false;
    return true;
}

lw_status lwi_loop_ranks(const lwi_system *s, const int *dependent, const lw_allocator *allocator,
                         int *rank, bool *found)
{
    const lw_model *model = s->model;
    const int nnode = s->plan.nnode;
    lwi_arena scratch;
    *found = false;
    if (model->ncoupling || s->nrotor || s->split.npart || s->extensions) return LW_OK;
    lwi_arena_init(&scratch, allocator);
    const search l = {.s = s,
                      .top = LWI_PUSH(&scratch, int, model->nloop),
                      .loops = LWI_PUSH(&scratch, int, s->nedge)};
    const bool room = l.top && l.loops;
    *found = room && find_tops(&l, dependent);
    for (int k = 0; k < nnode && *found; k++) rank[k] = s->plan.node[k].closed_rows;
    for (int i = 0; i < model->nloop && *found; i++)
        if (dependent[i]) rank[l.top[i]] -= dependent[i];
    for (int k = 0; k < nnode && *found; k++) *found = rank[k] >= 0;
    lwi_arena_free(&scratch);
    return room ? LW_OK : LW_ERR_MEMORY;
}

// Pivots at the start above which no row nearly depends on others there.
#define FAR_FROM_SINGULAR 1e-4

// Whether the ranks leave no small pivot at the start.
static bool are_at_start(lwi_system *s, const int *rank)
{
    lwi_elim_put_ranks(s->elim, rank);
    lwi_system_rows(s, 0);
    lwi_system_geometric(s);
    return lwi_elim_check_pivots(s->elim) == LW_OK &&
           lwi_elim_pivots(s->elim).min > FAR_FROM_SINGULAR;
}

lw_status lwi_loop_find_ranks(lwi_system *s, lwi_shared *shared, bool *found)
{
    lwi_arena scratch;
    *found = false;
    if (!shared->loop_dependent || s->nrow == 0) return LW_OK;
    lwi_arena_init(&scratch, &shared->arena.allocator);
    int *rank = LWI_PUSH(&scratch, int, s->plan.nnode);
    lw_status status = rank ? LW_OK : LW_ERR_MEMORY;
    if (status == LW_OK)
        status = lwi_loop_ranks(s, shared->loop_dependent, &scratch.allocator, rank, found);
    if (status == LW_OK && *found) *found = are_at_start(s, rank);
    if (status == LW_OK && *found) status = lwi_system_put_ranks(s, rank, shared);
    s->ranked_there = *found;
    lwi_arena_free(&scratch);
    return status;
}
