// net_paths.h -- the passes over all paths of a net: groups of segments, joins in the order of each path.
//
// Problem: from states of the hinges to the ends of whole paths, and from the solution at these ends to the hinges.
// Input: lwi_net_plan, arrays of the tree.  Cost: O(n), O(log n) with threads.
// Bits of results do not depend on threads and lanes.
#ifndef LWI_METHODS_DCA_SEGMENTS_NET_PATHS_H
#define LWI_METHODS_DCA_SEGMENTS_NET_PATHS_H

#include "base/ranks.h"
#include "base/threads.h"
#include "methods/dca/segments/net_plan.h"

typedef struct lwi_net_pair {
    lwi_path_end a, b;
} lwi_net_pair;

/** Whether the kernels use the arrays of the tree where they are, or copies of a segment's numbers. */
typedef enum lwi_net_rows {
    LWI_NET_IN_PLACE,
    LWI_NET_SHORT,    ///< copied: consecutive, but fewer than in the longest segment of the group
    LWI_NET_SCATTERED ///< copied: not consecutive
} lwi_net_rows;

typedef struct lwi_net_paths {
    const lwi_net_plan *plan;
    const lwi_path_kernels *kernels;
    lwi_pool *pool;      ///< NULL: one thread
    int threads;         ///< that have groups; those of the pool beyond have none
    int *first;          ///< [threads + 1] first group of each
    long *done;          ///< [threads] groups computed by each since creation
    lwi_path_link *link; ///< [plan->body_at[ngroup]]
    lwi_path_end *block; ///< [ngroup + nbatch]
    lwi_net_pair *pair;  ///< [nbatch] what is joined
    lwi_net_rows *rows;  ///< [nsegment]
    double *row;         ///< rows that are copied: q, in, u, out, rate
    double *zeros;       ///< [longest]
    double *
        tip; ///< [npath] effort that a path without a hub at its tip transmits there, about the tip's axis
    lwi_ranks *ranks;                          ///< that `threads` are then; NULL: threads
    lwi_ranks_gather ends[LWI_PATH_EXCHANGES]; ///< of ranks: ends of their groups, that go up,
    lwi_ranks_gather
        results[2]; ///< and their speeds or accelerations, with angular speeds of tips; rates
    // of the evaluation, arrays of the tree
    const double *q, *in, *u;
    double *out, *rate; ///< rate may be NULL
    // of the pass
    lwi_path_pass_kind pass;
    int up, down, level;
} lwi_net_paths;

enum { LWI_NET_NOTHING = LWI_PATH_EXCHANGES };

/** @param width  lanes of a register: 1, 4, 8, or 0 for the widest of this machine
 *  @return LW_ERR_MEMORY */
lw_status lwi_net_paths_create(const lwi_net_plan *plan, const lwi_path_kernels *kernels,
                               int tree_nv, lwi_pool *pool, lwi_arena *arena, lwi_net_paths *paths);
/** Ranks share the passes over groups from now on, while they are active; joins are computed by all of them.
 *  @return LW_ERR_MEMORY */
lw_status lwi_net_paths_ranks(lwi_net_paths *paths, lwi_ranks *ranks, lwi_arena *arena);
/** One pass over the groups: ends of the segments from those of whole paths, bodies, ends of whole paths.
 *  @param down, up  lwi_path_exchange_kind, or LWI_NET_NOTHING
 *  @return false: a result is not well conditioned */
bool lwi_net_paths_run(lwi_net_paths *paths, int down, lwi_path_pass_kind pass, int up);
/** Ends alone, downwards. */
void lwi_net_paths_down(lwi_net_paths *paths, int down);
/** Speeds, or accelerations, of first joints of segments, which are relative to the ground: less that of the segment
 *  before.  Those of paths remain. */
void lwi_net_paths_correct(const lwi_net_paths *paths);
/** Where the end of a segment, or of a compound, is: entries [..][lane] of the block. */
static inline lwi_path_end *lwi_net_end(const lwi_net_paths *paths, int end, int *lane)
{
    const lwi_net_place *at = &paths->plan->place[end];
    *lane = at->lane;
    return &paths->block[at->block];
}

#endif
