// split.h -- bodies with many edges split into chains of rigidly linked parts.
//
// All edges of a body are open until the body is joined, and then eliminated at once, at the cube of their
// number.  A body with many edges is therefore represented by a chain of equal parts, each with some of the
// edges, neighbours connected by a rigid link of six rows: no part has more than a few edges, and between two
// parts only the six rows of one link are open.
//
// Parts have equal shares of the body's inertia: each of n parts has n times the body's mobility K, and a
// load on the body acts on each part by 1/n.  Together they move as the body does, and edges transmit the
// same wrenches; the same rows are redundant, because the links form a tree.
#ifndef LWI_ELIMINATION_SPLIT_H
#define LWI_ELIMINATION_SPLIT_H

#include "elimination/plan.h"

/** A part of a body other than the first, which is the body of the graph. */
typedef struct lwi_split_part {
    int body;   ///< the split body
    int before; ///< the part that it is linked to, as a body of the graph before the split
    int edge;   ///< its first edge
} lwi_split_part;

typedef struct lwi_split {
    lwi_plan_graph graph; ///< part i is body nbody + i, its link to `before` is edge nedge + i
    int npart;            ///< 0: the graph is unchanged
    lwi_split_part *part; ///< [npart] the parts of one body are adjacent
    int *count;           ///< [nbody] number of parts of each body, itself included
} lwi_split;

/** @param graph  edges with rows count; must be valid, or lwi_plan_create rejects the result
 *  @return LW_ERR_MEMORY */
lw_status lwi_split_create(const lwi_plan_graph *graph, lwi_arena *arena, lwi_split *split);

#endif
