// updates.c -- memory of what nodes leave to their parents, used again further up.
//
// The update U of a node is read by its parent only, and its C (rank.c) by the node itself, once the updates of its
// children are in its front.  There are two areas.  Those of a node at an even depth are U in the first and C in the
// second, at the other depths they are exchanged.  A subtree has a range of each area, the ranges of its children side by
// side.  A node uses them again from their first entry on: its children's updates, which it reads while it writes its own,
// are in the other area, and all below is not read any more:
//
//     area    first         second
//     node    U             C
//     child         C             U         of each child, side by side
//
// Nodes that close no rows leave nothing: their updates are one block of zeros, which is never written to.
//
// This depends on nothing but the tree: nodes that do not depend on each other have different memory, so any number of
// threads may eliminate in any order.
#include "elimination/parts.h"

enum { AREAS = 2, LINE = 8 }; // doubles of a cache line, which threads do not share

typedef struct layout {
    unsigned char *depth;  // [nnode] of a node, modulo 2
    size_t (*size)[AREAS]; // [nnode] entries of the range of its subtree
    size_t (*free)[AREAS]; // [nnode] first entry of its range that no child has yet
    size_t all[AREAS];     // entries of the areas
    size_t no_rows;        // entries of the largest update of nodes that close no rows
} layout;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t entries(int rows, int length)
{
    return ((size_t)rows * (size_t)length + LINE - 1) / LINE * LINE;
}

// From the leaves to the roots; l->size has the sums of the children's before.
static void measure(const lwi_elim *elim, layout *l)
{
    for (int k = elim->nnode - 1; k >= 0; k--) {
        const int parent = elim->front[k].parent;
        l->depth[k] = parent < 0 ? 0 : !l->depth[parent];
    }
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        const size_t U = entries(N->no, N->lu);
        size_t *own = &l->size[k][l->depth[k]], *other = &l->size[k][!l->depth[k]];
        *(N->nc ? own : &l->no_rows) = larger(N->nc ? *own : l->no_rows, U);
        if (N->loop) *other = larger(*other, entries(N->no, N->no));
        for (int a = 0; a < AREAS; a++)
            *(N->parent < 0 ? &l->all[a] : &l->size[N->parent][a]) += l->size[k][a];
    }
}

// From the roots to the leaves.
static void place(lwi_elim *elim, layout *l, double *room)
{
    size_t root[AREAS] = {0, l->all[0]};
    for (int k = elim->nnode - 1; k >= 0; k--) {
        lwi_elim_front *N = &elim->front[k];
        for (int a = 0; a < AREAS; a++) {
            size_t *next = N->parent < 0 ? &root[a] : &l->free[N->parent][a];
            l->free[k][a] = *next;
            *next += l->size[k][a];
        }
        N->U = room + (N->nc ? l->free[k][l->depth[k]] : l->all[0] + l->all[1]);
        if (N->loop) N->C = room + l->free[k][!l->depth[k]];
    }
}

// Eliminations of one plan have the same places.
static double *take_room(const lwi_elim *elim, lwi_arena *arena)
{
    lwi_elim_updates *common = elim->common;
    const lwi_plan_node *node = elim->plan->node;
    if (!common || elim->nnode == 0 || (common->of && common->of != node))
        return LWI_PUSH(arena, double, elim->nupdate);
    if (!common->of) {
        common->at = LWI_PUSH(common->arena, double, elim->nupdate);
        common->of = common->at ? node : NULL;
    }
    return common->at;
}

static lw_status make(lwi_elim *elim, lwi_arena *scratch, lwi_arena *arena)
{
    layout l = {.depth = LWI_PUSH(scratch, unsigned char, elim->nnode)};
    l.size = lwi_arena_push(scratch, (size_t)elim->nnode, sizeof *l.size);
    l.free = lwi_arena_push(scratch, (size_t)elim->nnode, sizeof *l.free);
    if (!l.depth || !l.size || !l.free) return LW_ERR_MEMORY;
    measure(elim, &l);
    elim->nupdate = l.all[0] + l.all[1] + l.no_rows;
    elim->update = take_room(elim, arena);
    if (!elim->update) return LW_ERR_MEMORY;
    place(elim, &l, elim->update);
    return LW_OK;
}

lw_status lwi_elim_update_room(lwi_elim *elim, lwi_arena *arena)
{
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = make(elim, &scratch, arena);
    lwi_arena_free(&scratch);
    return status;
}

lw_status lwi_elim_update_room_unsymmetric(lwi_elim *elim, lwi_arena *arena)
{
    double *V = LWI_PUSH(arena, double, elim->nupdate);
    if (!V) return LW_ERR_MEMORY;
    for (int k = 0; k < elim->nnode; k++) elim->front[k].V = V + (elim->front[k].U - elim->update);
    return LW_OK;
}
