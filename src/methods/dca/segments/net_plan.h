// net_plan.h -- long paths of hinges between hubs: how a tree with loops is divided.
//
// Problem: find the paths of a model, cut them into segments, eight to a group, and order the joins.  Bodies that are
// in no path are `hubs`: those that branch, that have joints outside the tree, driven joints, joints on moving mounts or
// joints other than revolute ones, that forces act on or formulas read, and those of paths that are too short.  A path
// begins at a hub or the ground and ends at a hub, with a cut through this hub's joint, or with a free tip.  A hinge
// outside the tree that attaches to the last body of a path ends it likewise, without a hub: such `ties` join two halves
// of a bar that a loop is cut in, or a path and a hub.
// Input: lw_model.  Output: lwi_net_plan and the constants of the bodies in blocks.  Cost: O(n log n).
//
// The plan depends on the model alone, never on threads or the processor: results do not either.
#ifndef LWI_METHODS_DCA_SEGMENTS_NET_PLAN_H
#define LWI_METHODS_DCA_SEGMENTS_NET_PLAN_H

#include "methods/dca/segments/plan.h"

/** Which paths are cut, and where; for tests. */
typedef struct lwi_net_choice {
    int minimum;  ///< hinges of all paths together, and hubs; 0: LWI_PATH_MINIMUM
    int shortest; ///< hinges of a path; 0: LWI_NET_SHORTEST
    int length;   ///< bodies of a segment, about; 0: from the lengths of all paths
    int share;    ///< hinges of paths for each hub, at least; 0: LWI_NET_SHARE
} lwi_net_choice;

enum {
    LWI_NET_SHORTEST = 16, ///< bodies of shorter paths are hubs, which cost as much as 16 bodies
    LWI_NET_SHARE = 8      ///< hinges of paths for each hub, at least
};

typedef struct lwi_net_hub {
    int node;
    int parent; ///< hub that carries it, by its own joint or by a path; -1: the ground
    int path;   ///< path with its joint at the tip; -1: none
} lwi_net_hub;

typedef struct lwi_net_path {
    int from;              ///< hub; -1: the ground
    int to;                ///< hub at the tip; -1: the tip is free
    int first, n;          ///< hinges
    int segment, nsegment; ///< consecutive ones
    int whole;             ///< end of all of them together
    int tie;               ///< joint outside the tree at its tip; -1: none
    int tip;               ///< then: node of its last body
    lwi_k_frame head;      ///< first head, in the link frame of `from`, or in the world
    double angle;          ///< of the hub at the tip: added to its q
    lwi_k_frame
        link; ///< its link frame in axes that its joint has rotated; of the last body at a tie
} lwi_net_path;

/** A hinge that closes a loop at the tips of paths. */
typedef struct lwi_net_tie {
    int loop;    ///< number among the joints that close loops
    int path[2]; ///< that ends with its body1, body2; -1: this body is a hub, or the ground
} lwi_net_tie;

/** A segment: number j of the consecutive ones of its path. */
typedef struct lwi_net_segment {
    int first, n; ///< hinges
    int path;
    int next; ///< speed of the joint at its tip in tree v; -1: the tip is free
} lwi_net_segment;

/** Up to eight joins that need each other's results nowhere: a and, beyond it, b become `to`, in its lane. */
typedef struct lwi_net_batch {
    int n, a[LWI_LANES], b[LWI_LANES];
} lwi_net_batch;

/** Where the end of a segment or compound is: lane of a block, groups first, then batches. */
typedef struct lwi_net_place {
    int block, lane;
} lwi_net_place;

typedef struct lwi_net_plan {
    int nhub, npath, ntie, nhinge, nsegment, ngroup, nbatch, nlevel;
    lwi_net_hub *hub;         ///< [nhub] parents first
    int *hub_of;              ///< [nnode] -1: in a path
    lwi_net_path *path;       ///< [npath]
    int *from_hub, *carries;  ///< [nhub + 1] places in `carries`, paths that each hub carries
    lwi_net_tie *tie;         ///< [ntie]
    int *iq, *iv;             ///< [nhinge]
    lwi_net_segment *segment; ///< [nsegment]
    int (*member)[LWI_LANES]; ///< [ngroup] segments of each group, -1: none
    int *body_at;             ///< [ngroup + 1] first block of bodies of each group
    lwi_path_body *body;
    lwi_net_batch *batch; ///< [nbatch]
    int *level;           ///< [nlevel + 1] first batch of each level, parts before compounds
    lwi_net_place *place; ///< [nsegment + 8 nbatch]
    int longest;          ///< bodies of a segment
} lwi_net_plan;

/** @param plan  out; NULL if the model has too few hinges in long paths, or couplings, or rotors on joints that close
 *               loops
 *  @return LW_ERR_MEMORY */
lw_status lwi_net_plan_create(const lw_model *model, lwi_net_choice choice, lwi_arena *arena,
                              lwi_net_plan **plan);

#endif
