// plan.h -- how a path is cut into segments.
//
// Problem: cut a model into segments of equal length, eight to a group.  Its tree is one row of bodies on joints that
// are products of rotations and displacements, or balls; the first of them is on the ground or on a body with a free or
// spherical joint to the ground.
// Input: lw_model.  Output: lwi_path_plan and the constants of the bodies in blocks.  Cost: O(n).
//
// The plan depends on the model alone, never on threads or the processor: results do not either.
#ifndef LWI_METHODS_DCA_SEGMENTS_PLAN_H
#define LWI_METHODS_DCA_SEGMENTS_PLAN_H

#include "methods/dca/segments/blocks.h"
#include "model/model.h"
#include "tree/normal_form/parts.h"

/** The smallest number of joints of a path that is cut: shorter ones gain nothing (docs/theory/segments.md). */
enum { LWI_PATH_MINIMUM = 256 };

/** Which paths are cut, and where; for tests. */
typedef struct lwi_path_choice {
    int minimum; ///< joints; 0: LWI_PATH_MINIMUM
    int length;  ///< most joints of a segment; 0: from the length of the path
} lwi_path_choice;

/** The body on the ground that carries the path. */
typedef struct lwi_path_base {
    int nv; ///< 6: on a free joint, 3: on a spherical one, 0: there is none, the path is on the ground
    int iq, iv;           ///< its quaternion in tree q; first speed in tree v
    lwi_k_frame in;       ///< its joint frame on the ground
    double m, h[3], J[6]; ///< about its frame's origin, in its axes
    lwi_k_frame head;     ///< first head: in axes of the base, or of the ground
} lwi_path_base;

/** A joint of the path: one with several coordinates is several of them, except a ball. */
typedef struct lwi_path_joint {
    lwi_path_kind kind;
    int iq, iv; ///< first coordinate and speed in tree q, tree v
} lwi_path_joint;

typedef struct lwi_path_plan {
    int n;                 ///< joints
    int length, largest;   ///< of a segment: most places, with padding; largest number of joints
    int groups;            ///< of eight segments; lane l of group g is segment l groups + g
    int *first;            ///< [8 groups + 1] first joint of each segment, along the path
    lwi_path_joint *joint; ///< [n]
    int *places;           ///< [groups] of its segments
    signed char *kind;     ///< [groups][length] lwi_path_kind of the places
    int *all;              ///< [groups] as in lwi_path_rows
    bool balls;            ///< all joints are
    int *place;            ///< [8 groups][length] joint at a place of a segment, -1: padding
    lwi_path_base base;
    lwi_path_body *body; ///< [groups][length] blocks
} lwi_path_plan;

/** @param plan  out; NULL if the model is not such a path, is too short, has loops, couplings, drives, mounts, or no
 *               joint at which it can be cut.  At a cut the joint needs to be a hinge or a ball without rotor,
 *               and the body before it inertia along and about its own joint's axes
 *  @return LW_ERR_MEMORY */
lw_status lwi_path_plan_create(const lw_model *model, lwi_path_choice choice, lwi_arena *arena,
                               lwi_path_plan **plan);
/** Joints of a path that can be cut, by kind; all 0: the model is none. */
typedef struct lwi_path_counts {
    int balls;
    int square; ///< hinges and screws with an axis parallel to the next one, or at a right angle, and the last one
    int others; ///< hinges and screws
} lwi_path_counts;

/** What a plan has, without making it.  @return LW_ERR_MEMORY */
lw_status lwi_path_count(const lw_model *model, const lw_allocator *allocator,
                         lwi_path_counts *counts);
/** Number of joints of segment s. */
static inline int lwi_path_segment_size(const lwi_path_plan *plan, int s)
{
    return plan->first[s + 1] - plan->first[s];
}
/** Speeds of a joint, and places. */
static inline int lwi_path_nv(const lwi_path_joint *joint)
{
    return joint->kind == LWI_PATH_BALL ? 3 : 1;
}

// ---- parts of plans of several paths (net_plan.h)

/** Consecutive parts on hinges, each one carried by the one before it. */
typedef struct lwi_path_row {
    const lw_model *model;
    const lwi_k_part *part; ///< [n]
    int n;
    const lwi_k_part *beyond; ///< the hinge that the last one carries; NULL: none
} lwi_path_row;

/** Constants of hinges first ... first + n - 1 of the row, in lane l of the blocks, and padding up to `length`.
 *  @param angle  in: left over by the twist of the body before; out: for the next one */
void lwi_path_set_bodies(const lwi_path_row *row, int first, int n, double *angle,
                         lwi_path_body *block, int length, int l);
/** Rotation from axes of the part to those in which its joint rotates forwards. */
void lwi_path_flip(double R[9], const lwi_k_part *part);
/** Whether the last body of a segment has enough inertia for its joint. */
bool lwi_path_may_end(const lwi_k_part *last);
/** Whether a path may be cut between two bodies, through the joint of `after`. */
bool lwi_path_may_cut(const lw_model *model, const lwi_k_part *before, const lwi_k_part *after);
/** Most bodies of a segment, of n hinges; `choice`: 0, or this number. */
int lwi_path_longest_segment(int n, int choice);

#endif
