// order.h -- construction of plans: compounds of bodies are joined until none is left to join.
//
// A compound is a root of the forest `up` over the bodies.  A compound of one body has no node at first; it
// gets one when it closes an edge, or enters the node of the compound that it is joined to.
#ifndef LWI_ELIMINATION_ORDER_H
#define LWI_ELIMINATION_ORDER_H

#include "elimination/plan.h"

/** A linked list through an array of successors, in order of insertion. */
typedef struct lwi_order_list {
    int first, last; ///< -1: empty
} lwi_order_list;

enum { LWI_ORDER_PIECES = 8 }; ///< number of vector lanes of the elimination

typedef struct lwi_order_node {
    int parent, level;
    lwi_order_list child, body, closed;
    lwi_plan_span open; ///< in `pool`
    bool sealed;        ///< no further edge may be closed here
} lwi_order_node;

typedef struct lwi_order {
    const lwi_plan_graph *graph;
    lwi_arena arena;
    int *first, *edge; ///< edges with rows at body b: edge[first[b]] ... edge[first[b + 1] - 1]
    int *up;           ///< [nbody]
    int *node_of;      ///< [nbody] node of the compound, at its root; -1: a single body
    int *root, *found, searches; ///< [nbody] roots of an edge; marks of one search for them
    bool patient;                ///< a node may grow even if its level rises (sequential order)
    int nnode;
    lwi_order_node *node;                   ///< [nedge + nbody]
    int *next_node, *next_body, *next_edge; ///< successors of the lists
    int *closer;                            ///< [nedge] node that closes it, or -1
    int *stamp, now;                        ///< [nedge] marks of one pass
    int *pool, used, room;                  ///< storage of the open edges of all nodes
    double work;  ///< multiplications so far: lwi_plan_elimination of all joins
    double limit; ///< of `work`, above which a dissection ends
    struct lwi_order_sequence *sequence; ///< workspace of lwi_order_sequential
} lwi_order;

/** @param graph  checked */
lw_status lwi_order_create(const lwi_plan_graph *graph, const lw_allocator *allocator,
                           lwi_order *order);
void lwi_order_free(lwi_order *order);

int lwi_order_find(lwi_order *order, int body);
/** Edges with rows that are open at the compound of a root; *n: how many. */
const int *lwi_order_open(const lwi_order *order, int root, int *n);
/** order->root := roots of the bodies of an edge, without duplicates; returns how many. */
int lwi_order_roots(lwi_order *order, const lwi_plan_edge *edge);
/** Joins n compounds to one and closes the edges that are then inside.  If the open edges of one compound are
 *  all open edges, its node grows; else there is a new node.
 *  @return LW_ERR_MEMORY */
lw_status lwi_order_join(lwi_order *order, const int *roots, int n);
/** Adds a node for a body without edges with rows. */
void lwi_order_single(lwi_order *order, int body);

/** Joins n bodies (which must have all bodies of the edges to be closed), the smallest front first:
 *  order_sequential.c.
 *  @return LW_ERR_MEMORY */
lw_status lwi_order_sequential(lwi_order *order, const int *body, int n);
/** Cuts long paths into equal pieces if these are most of the graph: *found.  order_substructures.c. */
lw_status lwi_order_pieces(lwi_order *o, bool *found);
/** Nested dissection down to sets of `leaf` bodies, which are joined sequentially: order_dissect.c.  Not complete if
 *  order->work is above the limit then. */
lw_status lwi_order_dissect(lwi_order *order, int leaf);

#endif
