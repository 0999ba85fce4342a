// plan.h -- in which order the bodies of a mechanism are joined: the assembly tree.
//
// Nothing here knows mechanics or numbers.  A graph has bodies and edges; an edge is a group of
// constraint rows between one to four bodies, perhaps with the ground (a joint: two bodies or one
// and the ground; a coupling of two joints: up to four).  A plan joins bodies to compounds until
// one is left for each connected part.  A node of the plan merges compounds (its children) and
// bodies; edges whose bodies are then all inside are closed (eliminated) there, edges with bodies
// still outside stay open.  What a node costs is set by its front: rows closed and rows open.
//
// Any order gives the same solution [featherstone1999; malczyk2019, (35)-(39)]:
//   comb      one body after the other, from the tips: O(n) in sequence, the least work
//   balanced  nested dissection, halves of halves: O(log n) levels, for threads and lanes
//   mixed     long chains in equal pieces that the engine does side by side (lanes.h), combs
//             above; graphs that are no chains: combs of a few bodies below, balanced above
// The order follows from the graph alone, never from the machine.
#ifndef LWI_ELIMINATION_PLAN_H
#define LWI_ELIMINATION_PLAN_H

#include "base/base.h"

enum { LWI_EDGE_BODIES = 4, LWI_EDGE_ROWS = 6 };

typedef struct lwi_plan_edge {
    int rows; ///< constraint equations, 0..6; none: a free joint
    int n;    ///< bodies, 1..4, all different
    int body[LWI_EDGE_BODIES];
    bool ground; ///< the ground takes part too
} lwi_plan_edge;

typedef struct lwi_plan_graph {
    int nbody, nedge;
    const lwi_plan_edge *edge;
} lwi_plan_graph;

typedef enum lwi_plan_kind {
    LWI_PLAN_AUTO,
    LWI_PLAN_SEQUENTIAL,
    LWI_PLAN_BALANCED,
    LWI_PLAN_MIXED
} lwi_plan_kind;

/** A list of items in the plan's `item`. */
typedef struct lwi_plan_span {
    int first, n;
} lwi_plan_span;

typedef struct lwi_plan_node {
    int parent;           ///< -1: a root
    int level;            ///< longest way down to a node without children
    lwi_plan_span child;  ///< nodes merged
    lwi_plan_span body;   ///< bodies that enter here
    lwi_plan_span closed; ///< edges eliminated here, in this order
    lwi_plan_span open;   ///< edges left; those of a root are none
    int closed_rows, open_rows;
    bool loop; ///< an edge closed here joins what is connected already (the ground counts as
               ///< connected to itself): only here can rows be dependent
} lwi_plan_node;

typedef struct lwi_plan {
    lwi_plan_graph graph; ///< copied
    lwi_plan_kind kind;   ///< as chosen: never AUTO
    bool pieces;          ///< of a mixed plan: there are long chains, cut into equal pieces
    int nnode, nlevel, nrow;
    lwi_plan_node *node; ///< [nnode] children before parents
    int *item;           ///< lists of all nodes
    int *row;            ///< [nedge + 1] first row of each edge, in the order of the graph
    int *slot;           ///< [nedge + 1] first slot of each edge: slot[e] + i is its body number i
    int *closer;         ///< [nedge] node that closes it; -1: edges without rows
    // what it costs
    int width;       ///< rows of the largest front
    int max_open;    ///< edges open at the node with the most
    double work;     ///< multiplications of a factorisation, all nodes
    double critical; ///< the same along the longest way from a leaf to a root
} lwi_plan;

/** @param kind  AUTO: MIXED where most bodies are in long chains, else the cheaper in sequence, ties
 *               to COMB
 *  @return LW_ERR_MEMORY, LW_ERR_ARGUMENT (an edge names a body twice or one that is not there) */
lw_status lwi_plan_create(const lwi_plan_graph *graph, lwi_plan_kind kind, lwi_arena *arena,
                          lwi_plan *plan);
/** Text of a kind and back; NULL, -1 for what is none. */
const char *lwi_plan_kind_name(lwi_plan_kind kind);
int lwi_plan_kind_find(const char *name);

/** Multiplications of the elimination of c of c + o rows. */
double lwi_plan_elimination(int c, int o);

#endif
