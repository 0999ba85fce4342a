// passes.h -- recursions along the spanning tree as prefix sums, by the threads of a pool.
//
// Problem: poses and velocities of nodes from their parents, sums over subtrees.  As recursions they are as deep as the
// tree.  Here the nodes, which are in depth-first order, are cut into segments of 64 consecutive ones.  A pass
//   1. composes, in each segment, what lies between its borders and the node that they are attached to (independent),
//   2. composes the borders, one after the other: one in 64 nodes of a path,
//   3. completes all nodes of each segment (independent).
// A *border* is a node with a child in another segment; its *base* is the border on which its part of the segment is attached.
// Segments depend on the tree alone, so the bits of results do not depend on the number of threads.  A tree of at most
// 256 nodes has no border, and every pass is the plain recursion.
//
// Cost: one more composition for each node on the way from a border to the head of its segment: all nodes of a path,
// few of a bushy tree.  Depth: nodes / threads + borders.
#ifndef LWI_KINEMATICS_PASSES_H
#define LWI_KINEMATICS_PASSES_H

#include "base/threads.h"
#include "kinematics/tree.h"

typedef struct lwi_tree_border {
    int node, base;    ///< base: a border, -1: the ground
    int exit;          ///< sum that its part of the segment passes on to the base
    double R[9], r[3]; ///< pose in the link frame of the base, by lwi_tree_pass_world
} lwi_tree_border;

/** What the heads of a segment that are attached to the same border pass on to it. */
typedef struct lwi_tree_exit {
    int base;
    double sum[6];
} lwi_tree_exit;

typedef struct lwi_tree_passes {
    const lw_model *model;
    lwi_pool *pool;                 ///< set by the user; NULL: one thread
    int segments, shift;            ///< a segment has 1 << shift nodes, the last one the rest
    lwi_tree_border *border;        ///< in the order of their nodes
    lwi_tree_exit *exit;            ///< by segments
    int *first_border, *first_exit; ///< [segments + 1]
    int *border_of;                 ///< [nnode] border, -1: the node is none
    int *
        exit_of; ///< [nnode] exit of heads of segments, -1: the parent is in the segment, or the ground
    bool *between;      ///< [nnode] the node or one below it in its segment is a border
    double (*carry)[6]; ///< [nnode] scratch of lwi_tree_pass_sum
} lwi_tree_passes;

/** @return LW_ERR_MEMORY */
lw_status lwi_tree_passes_create(const lw_model *model, lwi_arena *arena, lwi_tree_passes *passes);

/** World frames of all nodes, as lwi_tree_world; poses of the borders for the other passes. */
void lwi_tree_pass_world(lwi_tree_passes *passes, const lwi_link *link, double (*R)[9],
                         double (*r)[3]);
/** Velocities from the free speeds, V [nnode][6] in WORLD axes: of the link's origin, and angular; after
 *  lwi_tree_pass_world, with its R and r. */
void lwi_tree_pass_velocity(lwi_tree_passes *passes, const lwi_link *link, const double (*R)[9],
                            const double (*r)[3], const double *v, double (*V)[6]);
/** The same of any motions `own` of nodes relative to their parents, in link frames about their origins. */
void lwi_tree_pass_motion(lwi_tree_passes *passes, const double (*R)[9], const double (*r)[3],
                          const double (*own)[6], double (*V)[6]);
/** F of each node := sum of X' F over its subtree: forces or momenta in link frames about their origins, F [nnode][6];
 *  after lwi_tree_pass_world. */
void lwi_tree_pass_sum(lwi_tree_passes *passes, const lwi_link *link, double (*F)[6]);

/** Compositions on the longest path, and in all, of one pass by as many threads as there are segments: lw_model_plan. */
void lwi_tree_pass_depth(const lwi_tree_passes *passes, double *longest, double *all);

#endif
