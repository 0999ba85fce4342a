// plan.h -- what the files that plan cells share: which loops are next (order.c), how a
// cell stands in the lanes (place.c), who knows whose coordinates (clusters.c), and which bodies
// are asked for (attached.c).
#ifndef LWI_METHODS_RCR_CLUSTERS_PLAN_H
#define LWI_METHODS_RCR_CLUSTERS_PLAN_H

#include "methods/rcr/clusters/clusters.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct lwi_cluster_queue_entry {
    int loop, count, next;
} lwi_cluster_queue_entry;

typedef struct lwi_cluster_scratch {
    int *introduced;   // [nv] cell that has a coordinate first; -1: none yet
    int *first, *list; // loops of each part: list[first[p] .. first[p + 1])
    bool *done;        // [nloop]
    int *count;        // [nloop] speeds that are not known; WAITING: nor those of its base
    lwi_cluster_queue_entry *entry; // stacks by count, with entries that are out of date
    int nentry, head[LWI_CLUSTER_STEPS + 1];
} lwi_cluster_scratch;

/** A cell while it is put together. */
typedef struct lwi_cluster_draft {
    int n, part[LWI_CLUSTER_STEPS];
    bool own[LWI_CLUSTER_STEPS];  // its coordinate, and the body on it, is in no cell before
    const lwi_cluster_loop *loop; // NULL: a body on its own
    lwi_cluster_shape shape;
    lwi_k_frame base;                  // base -> world: that of the first step before its motion
                                       // (on what floats: its axes -> link frame)
    int on;                            // base; -1: the ground
    double phi[LWI_CLUSTER_STEPS];     // frame -> raw frame of the part: turn about z
    lwi_k_frame in[LWI_CLUSTER_STEPS]; // frame before its own motion in the parent's
    double angle[LWI_CLUSTER_STEPS];
} lwi_cluster_draft;

/** Below this axes are parallel to round-off, as in the normal form of trees. */
static const double lwi_clusters_parallel = 16 * DBL_EPSILON;

// ------------------------------------------------------------------------------- place.c

/** Memory of the plan, zeros on a line of the cache; NULL: there is no more. */
void *lwi_clusters_push(lwi_clusters *c, size_t count, size_t size);
size_t lwi_clusters_block_bytes(const lwi_cluster_shape *s);
/** The base, and how every step stands to its parent. */
void lwi_clusters_set_frames(const lwi_clusters *c, lwi_cluster_draft *d);
/** How the loop closes, with the closing point and axis in the frames of its bodies 1 and 2. */
void lwi_clusters_close(const lwi_clusters *c, lwi_cluster_draft *d, double P[2][3],
                        double z[2][3]);
/** A lane among cells of the same shape; false: there is none. */
bool lwi_clusters_place(lwi_clusters *c, const lwi_cluster_draft *d, lwi_cluster *cluster,
                        double P[2][3], double z[2][3]);
/** Raw frame of the part of step i in the step's. */
lwi_k_frame lwi_clusters_raw(const lwi_clusters *c, const lwi_cluster_draft *d, int i);

// ------------------------------------------------------------------------------- order.c

/** Begins with all loops; those that are ready with the fewest unknown speeds come first. */
void lwi_clusters_queue_all(lwi_clusters *c);
/** The next loop; -1: none is left. */
int lwi_clusters_next_loop(lwi_clusters *c);
/** After coordinates of a loop have become known. */
void lwi_clusters_queue_neighbours(lwi_clusters *c, const lwi_cluster_loop *loop);

// --------------------------------------------------------------------------------- coupling.c

/** Couplings as loops, after those of the joints.
 *  @param all  out: false where one is between coordinates that have no parts */
lw_status lwi_clusters_create_couplings(lwi_clusters *c, const lw_model *model, lwi_arena *arena,
                                        bool *all);

// -------------------------------------------------------------------------------- base.c

/** Bodies that float, and which of them every part is on.
 *  @return LW_ERR_MEMORY */
lw_status lwi_clusters_create_bases(lwi_clusters *c, const lw_model *model, lwi_arena *arena);

// -------------------------------------------------------------------------------- attached.c

/** Seats of the nodes that are asked for.
 *  @param asked  [nnode]
 *  @return LW_ERR_MEMORY */
lw_status lwi_clusters_create_attached(lwi_clusters *c, const lw_model *model, const bool *needed,
                                       lwi_arena *arena);
/** Parts from the ends of a loop to their base; false: they are too many, or have not the same. */
bool lwi_clusters_find_path(const lwi_clusters *c, lwi_cluster_loop *loop);
/** Rotors of the tree. */
lw_status lwi_clusters_create_rotors(lwi_clusters *c, const lw_model *model, lwi_arena *arena);
/** Where those on parts that the cell introduces stand. */
void lwi_clusters_attach(lwi_clusters *c, const lwi_cluster_draft *d, int cluster);

#endif
