// plan.h -- shared by the files that plan clusters: the order of loops (order.c), frames and lanes (place.c),
// coordinates and parents of clusters (clusters.c), attached bodies (attached.c).
#ifndef LWI_METHODS_RCR_CLUSTERS_PLAN_H
#define LWI_METHODS_RCR_CLUSTERS_PLAN_H

#include "methods/rcr/clusters/clusters.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct lwi_cluster_queue_entry {
    int loop, count, next;
} lwi_cluster_queue_entry;

typedef struct lwi_cluster_change {
    int place, loop; // the first part of the loop closed last that this one has, too
} lwi_cluster_change;

typedef struct lwi_cluster_scratch {
    int *introduced;             // [nv] cluster that introduces a coordinate; -1: none yet
    int *first, *list;           // loops of part p: list[first[p] .. first[p + 1])
    bool *counted;               // [nv] the counts of its loops know that it is introduced
    bool *done;                  // [nloop]
    bool *touched;               // [nloop] in `changed`
    lwi_cluster_change *changed; // [nloop] loops of which the count may have changed
    int *count; // [nloop] unknown speeds; WAITING: speeds below its branch point are unknown
    lwi_cluster_queue_entry *entry; // stacks by count, with outdated entries
    bool by_rank;                   // loops with more unknown speeds than rows determine are last
    int nentry, head[2 * LWI_CLUSTER_LOOP + 2];
} lwi_cluster_scratch;

/** A cluster under construction. */
typedef struct lwi_cluster_draft {
    int n, part[LWI_CLUSTER_STEPS];
    bool own[LWI_CLUSTER_STEPS]; // the cluster introduces its coordinate and body
    const lwi_cluster_loop *loop[LWI_CLUSTER_CLOSINGS]; // [nloop]
    int nloop;                                          // 0: a body without loop
    lwi_cluster_shape shape;
    lwi_k_frame
        base; // base -> world: frame of the first step before its motion (floating base: its axes -> link frame)
    int on;                            // base; -1: the ground
    double phi[LWI_CLUSTER_STEPS];     // frame -> frame of the part: angle about z
    lwi_k_frame in[LWI_CLUSTER_STEPS]; // frame before its own motion, in the parent's
    double angle[LWI_CLUSTER_STEPS];
} lwi_cluster_draft;

/** Closing points P and axes z, x in the frames of bodies 1 and 2. */
typedef struct lwi_cluster_draft_end {
    double P[2][3], z[2][3], x[2][3];
} lwi_cluster_draft_end;

/** Axes with a smaller sine of their angle are parallel, as in the normal form of trees. */
static const double lwi_clusters_parallel = 16 * DBL_EPSILON;

// ------------------------------------------------------------------------------- place.c

/** Zeroed memory of the plan, aligned to a cache line; NULL: none is left. */
void *lwi_clusters_push(lwi_clusters *c, size_t count, size_t size);
size_t lwi_clusters_block_bytes(const lwi_cluster_shape *s);
/** Base of the draft, and the orientation of every step in its parent. */
void lwi_clusters_set_frames(const lwi_clusters *c, lwi_cluster_draft *d);
/** Closures of the loops, `at` [nloop]. */
void lwi_clusters_close(const lwi_clusters *c, lwi_cluster_draft *d, lwi_cluster_draft_end *at);
/** Puts the cluster in a lane of a block of its shape, after axes of the draft have become general where those of a
 *  constant shape are.  @return false: memory is short */
bool lwi_clusters_place(lwi_clusters *c, lwi_cluster_draft *d, lwi_cluster *cluster,
                        const lwi_cluster_draft_end *at);
/** Frame of the part of step i, in the frame of the step. */
lwi_k_frame lwi_clusters_raw(const lwi_clusters *c, const lwi_cluster_draft *d, int i);

// ------------------------------------------------------------------------------- order.c

/** Queues all loops; then the ready loop with the fewest unknown speeds is next.  by_rank: those with more than their
 *  rows determine are last. */
void lwi_clusters_queue_all(lwi_clusters *c, bool by_rank);
/** The next loop; -1: none is ready. */
int lwi_clusters_next_loop(lwi_clusters *c);
/** Loops that together have enough rows for their unknown speeds, `loop` first.
 *  @param group  [LWI_CLUSTER_CLOSINGS] out
 *  @return their number; 0: there are none */
int lwi_clusters_group(const lwi_clusters *c, int loop, int *group);
/** Side of part p in a loop. */
int lwi_clusters_side(const lwi_cluster_loop *loop, int p);
/** Queues the neighbours of a loop with coordinates that have become known. */
void lwi_clusters_queue_neighbours(lwi_clusters *c, const lwi_cluster_loop *loop);

// --------------------------------------------------------------------------------- coupling.c

/** Couplings as loops, after those of the joints.
 *  @param all  out: false if one is between coordinates without part */
lw_status lwi_clusters_create_couplings(lwi_clusters *c, const lw_model *model, lwi_arena *arena,
                                        bool *all);

// -------------------------------------------------------------------------------- base.c

/** Floating bases, and the base of every part. */
lw_status lwi_clusters_create_bases(lwi_clusters *c, const lw_model *model, lwi_arena *arena);

// -------------------------------------------------------------------------------- attached.c

/** Attached bodies of the nodes.
 *  @param needed  [nnode]
 *  @return LW_ERR_MEMORY */
lw_status lwi_clusters_create_attached(lwi_clusters *c, const lw_model *model, const bool *needed,
                                       lwi_arena *arena);
/** Parts between the ends of a loop and its base.  @return false: too many, or two bases */
bool lwi_clusters_find_path(const lwi_clusters *c, lwi_cluster_loop *loop);
/** Rotors of the tree. */
lw_status lwi_clusters_create_rotors(lwi_clusters *c, const lw_model *model, lwi_arena *arena);
/** Assigns the attached bodies on parts that the cluster introduces. */
void lwi_clusters_attach(lwi_clusters *c, const lwi_cluster_draft *d, int cluster);

#endif
