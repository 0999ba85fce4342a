// plan.h -- the assembly tree: in which order the bodies of a mechanism are joined.
//
// Only the topology is used here, no mechanics and no numbers.  A graph has bodies and edges; an edge is a
// set of constraint rows between one or more bodies, possibly with the ground (a joint: two bodies or one and
// the ground; a coupling of two joints: up to four).  A plan joins bodies to compounds until one is left in
// each connected component.  A node of the plan merges compounds (its children) and bodies; edges are closed
// (eliminated) there once all their bodies are inside; edges with bodies outside stay open.  The cost of a node is set by its front: closed rows and open rows.
//
// Every order gives the same solution [featherstone1999; malczyk2019, (35)-(39)]:
//   comb      sequential: one body after the other from the tips, O(n), the fewest operations on one thread
//   balanced  nested dissection, halves of halves: O(log n) levels, for threads and lanes
//   mixed     long chains in equal pieces that are processed side by side (lanes.h), sequential above; other
//             graphs: sequential for a few bodies below, balanced above
// The plan depends on the graph only, never on the machine.
#ifndef LWI_ELIMINATION_PLAN_H
#define LWI_ELIMINATION_PLAN_H

#include "base/base.h"

#include <linkwork/options.h>

/** Rows of an edge, and bodies of an edge of a mechanism. */
enum { LWI_EDGE_BODIES = 4, LWI_EDGE_ROWS = 6 };

typedef struct lwi_plan_edge {
    int rows; ///< constraint rows, 0..6; 0: a free joint
    int n;    ///< number of bodies, at least 1, all different
    int body[LWI_EDGE_BODIES];
    const int *more; ///< [n] the bodies if there are more than LWI_EDGE_BODIES, instead of `body`
    bool ground;     ///< the edge also acts on the ground
} lwi_plan_edge;

/** The bodies of an edge, [n]. */
static inline const int *lwi_plan_bodies(const lwi_plan_edge *edge)
{
    return edge->n > LWI_EDGE_BODIES ? edge->more : edge->body;
}

typedef struct lwi_plan_graph {
    int nbody, nedge;
    const lwi_plan_edge *edge;
} lwi_plan_graph;

/** A list: plan->item[first] ... plan->item[first + n - 1]. */
typedef struct lwi_plan_span {
    int first, n;
} lwi_plan_span;

typedef struct lwi_plan_node {
    int parent;           ///< -1: a root
    int level;            ///< longest path down to a leaf
    lwi_plan_span child;  ///< nodes merged here
    lwi_plan_span body;   ///< bodies that enter here
    lwi_plan_span closed; ///< edges eliminated here, in this order
    lwi_plan_span open;   ///< edges left open; a root has none
    int closed_rows, open_rows;
    bool
        loop; ///< an edge closed here connects what is connected already (the ground counts as connected to itself): only here can rows be dependent
} lwi_plan_node;

typedef struct lwi_plan {
    lwi_plan_graph graph; ///< copied
    lw_plan kind;         ///< never LW_PLAN_AUTO
    bool pieces;          ///< mixed plan with long chains, cut into equal pieces
    int nnode, nlevel, nrow;
    lwi_plan_node *node; ///< [nnode] children before parents
    int *item;           ///< the lists of all nodes
    int *row;            ///< [nedge + 1] first row of each edge in the order of the graph
    int *slot;           ///< [nedge + 1] first slot of each edge: slot[e] + i is its body number i
    int *closer;         ///< [nedge] node that closes the edge; -1: edges without rows
    // costs
    int width;       ///< rows of the largest front
    int max_open;    ///< maximum number of open edges of a node
    double work;     ///< multiplications of a factorisation, over all nodes
    double critical; ///< the same along the most expensive path from a leaf to a root
} lwi_plan;

/** Creates a plan in `arena`.
 *  @param kind  LW_PLAN_AUTO: mixed if most bodies are in long chains, else the cheaper one on one thread,
 *  sequential if equal
 *  @param plan  out, undefined on failure
 *  @return LW_ERR_MEMORY; LW_ERR_ARGUMENT: an edge has a body twice, or one that does not exist */
lw_status lwi_plan_create(const lwi_plan_graph *graph, lw_plan kind, lwi_arena *arena,
                          lwi_plan *plan);
/** The same order for fewer rows of each edge, none without any that had some.  Costs, except the width, are those of the
 *  plan, which must outlive *fewer.
 *  @param rows  [nedge]      @return LW_ERR_MEMORY */
lw_status lwi_plan_with_rows(const lwi_plan *plan, const int *rows, lwi_arena *arena,
                             lwi_plan *fewer);
/** The order alone in which a plan of this kind, not LW_PLAN_AUTO, closes the edges.
 *  @param place  out, [nedge] 0, 1, ...; -1: edges without rows
 *  @return as lwi_plan_create */
lw_status lwi_plan_closing_order(const lwi_plan_graph *graph, lw_plan kind,
                                 const lw_allocator *allocator, int *place);
/** Name of a kind (the value of the option `plan`), and back; NULL, -1: no such kind. */
const char *lwi_plan_kind_name(lw_plan kind);
int lwi_plan_kind_find(const char *name);

/** Multiplications to eliminate c of c + o rows. */
double lwi_plan_elimination(int c, int o);

#endif
