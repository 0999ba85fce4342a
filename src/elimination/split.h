// split.h -- bodies with many edges as chains of parts that are welded together.
//
// All edges of a body are open until the body is joined, and then eliminated at once: the cube of
// their number.  A body of many edges is therefore taken as a chain of equal parts, each with some
// of the edges, neighbours held together by six rows, a weld: so no part has more than a few edges,
// and what is left open between two pieces of the body are the six rows of one weld.
//
// Parts have the same share of the body's inertia: that of n parts has n times the body's mobility
// K, and what acts on the body acts on each by an n-th.  Together they move as the body does, and
// edges transmit what they would; redundant are the same rows, for welds form a tree.
#ifndef LWI_ELIMINATION_SPLIT_H
#define LWI_ELIMINATION_SPLIT_H

#include "elimination/plan.h"

/** A part of a body beside the first, which is the body of the graph itself. */
typedef struct lwi_split_part {
    int body;   ///< that it is a part of
    int before; ///< the part that it is welded to, as a body of the graph that was split
    int edge;   ///< its first edge
} lwi_split_part;

typedef struct lwi_split {
    lwi_plan_graph graph; ///< part i is its body nbody + i, the weld to `before` its edge nedge + i
    int npart;            ///< 0: the graph is as it was
    lwi_split_part *part; ///< [npart] those of a body together
    int *count;           ///< [nbody] parts of each body, itself one of them
} lwi_split;

/** @param graph  edges with rows count; sound, or the plan of what comes out says so
 *  @return LW_ERR_MEMORY */
lw_status lwi_split_create(const lwi_plan_graph *graph, lwi_arena *arena, lwi_split *split);

#endif
