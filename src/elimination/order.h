// order.h -- how plans are made: compounds of bodies that are joined until none is left to join.
//
// A compound is a root of the forest `up` over the bodies.  One that is a body alone has no node
// yet; it gets one when it closes an edge, or enters the node of the compound that it is joined to.
#ifndef LWI_ELIMINATION_ORDER_H
#define LWI_ELIMINATION_ORDER_H

#include "elimination/plan.h"

/** A list through an array of successors: items of a node in the order they came. */
typedef struct lwi_order_list {
    int first, last; ///< -1: empty
} lwi_order_list;

enum { LWI_ORDER_PIECES = 8 }; ///< as many as the engine's lanes

typedef struct lwi_order_node {
    int parent, level;
    lwi_order_list child, body, closed;
    lwi_plan_span open; ///< in `pool`
    bool sealed;        ///< closes nothing more
} lwi_order_node;

typedef struct lwi_order {
    const lwi_plan_graph *graph;
    lwi_arena arena;
    int *first, *edge; ///< edges with rows of body b: edge[first[b]] ... edge[first[b + 1] - 1]
    int *up;           ///< [nbody]
    int *node_of;      ///< [nbody] at roots: the compound's node; -1: a body alone
    bool patient; ///< a node may grow although it then waits for others (sequence is all one way)
    int nnode;
    lwi_order_node *node;                   ///< [nedge + nbody]
    int *next_node, *next_body, *next_edge; ///< successors in the lists
    int *closer;                            ///< [nedge] node, or -1
    int *stamp, now;                        ///< [nedge] marks of one pass
    int *pool, used, room;                  ///< open edges of all nodes
    struct lwi_order_sequence *sequence;    ///< workspace of lwi_order_sequential
} lwi_order;

/** @param graph  checked */
lw_status lwi_order_create(const lwi_plan_graph *graph, const lw_allocator *allocator,
                           lwi_order *order);
void lwi_order_free(lwi_order *order);

int lwi_order_find(lwi_order *order, int body);
/** Edges with rows that stand open at the compound of a root. */
const int *lwi_order_open(const lwi_order *order, int root, int *n);
/** Roots of the bodies of an edge, each once; returns how many. */
int lwi_order_roots(lwi_order *order, const lwi_plan_edge *edge, int roots[LWI_EDGE_BODIES]);
/** Joins compounds to one and closes the edges that are then inside.  Where these and the open ones
 *  are just those open at one of the compounds, its node grows; else there is a new one.  */
lw_status lwi_order_join(lwi_order *order, const int *roots, int n);
/** A node of its own for a body that no edge with rows holds. */
void lwi_order_single(lwi_order *order, int body);

/** Joins the bodies (all edges must be among them that are to be closed), the smallest front first.
 */
lw_status lwi_order_sequential(lwi_order *order, const int *body, int n);
/** Equal pieces of long paths, where these are most of the graph: *found. */
lw_status lwi_order_pieces(lwi_order *o, bool *found);
/** Nested dissection down to sets of `leaf` bodies, which are combs. */
lw_status lwi_order_dissect(lwi_order *order, int leaf);

#endif
