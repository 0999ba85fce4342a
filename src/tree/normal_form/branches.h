// branches.h -- which branches of a tree are swept in parallel lanes, and the order of the sweeps.
//
// Problem: group the bodies of a tree so that sequential recursions use all SIMD lanes.
// Input: the bodies, parents first, with kind and shape.  Output: order of the outward sweep, and its
// stages.  Cost: O(n + b log b) for b branches.
//
// A branch is a maximal chain of bodies; all but its last body have exactly one child.  Branches form a
// `stage`, with one branch in each lane, if their bodies are of the same kinds, counted from the body
// that carries the branch, and if they are at the same height above the tips of the tree (two fingers,
// not a finger and an arm).  A long branch without enough similar ones is cut into segments of equal
// length, one in each lane: a separate stage (cut.h).  The result depends on the tree only, never on
// the machine, so that every register width gives the same bits.
//
// A large tree is divided into sections for threads (sections.c): section 0 is the trunk, the others have subtrees on
// it, which need nothing of each other.  Stages do not go across sections.
#ifndef LWI_TREE_NORMAL_FORM_BRANCHES_H
#define LWI_TREE_NORMAL_FORM_BRANCHES_H

#include "base/base.h"
#include "base/simd/lanes.h"

#include <stdint.h>

/** Consecutive steps of the outward order: bodies in sequence, parallel branches, or the segments of
 *  one branch.  The branches of a stage are contiguous, the longest first.  Shorter branches are padded
 *  at their tips, and so is the last segment of a branch without bodies beyond it. */
typedef struct lwi_k_stage {
    int first, end; ///< steps
    int section;
    int lanes;    ///< 4, 8: parallel branches
    int segments; ///< 4, 8: segments of a branch; bodies in sequence if both are 0
    int length;   ///< bodies of the longest branch, or of a segment
    int branches;
    int32_t branch[LWI_LANES + 1]; ///< first step of each branch, and `end`
    // of segments, set with the slots (plan.c)
    int slot; ///< of the first body, a multiple of LWI_LANES: body j of segment r has slot + segments j + r
    int segment;   ///< index in lwi_k_state.segment
    int8_t *shape; ///< [length] common shape of the bodies of all segments at a position
    /** Tree q and v of step `first + i` are those of `first` plus i, with the model's signs, and at most the last
     *  segment is padded. */
    bool straight;
} lwi_k_stage;

/** A body of the tree, parents first. */
typedef struct lwi_branch_body {
    int parent;      ///< -1: the ground
    int8_t kind;     ///< equal in all lanes of a stage
    int8_t shape;    ///< branches with equal shapes are grouped first
    bool pads;       ///< its kind has padding without effect
    bool sequential; ///< never in a stage of parallel branches
    bool segments;   ///< a hinge, which can be in a segment
    bool
        realigned; ///< has phi, b or delta (plan.h): only as the first body of a branch in segments
    bool ends;     ///< has a pivot without its children: can be the last body of a segment
} lwi_branch_body;

/** Which bodies are processed in lanes. */
typedef struct lwi_branch_choice {
    int branches;   ///< minimum number for a stage; 0: no stages; -1: by estimated gain
    int segments;   ///< number of segments of a long branch: 4, 8; 0: none; -1: by its length
    int min_length; ///< minimum number of bodies of a long branch
    int min_bodies; ///< minimum number of bodies of a tree with sections; 0: no sections
} lwi_branch_choice;

typedef struct lwi_branches {
    int *order; ///< [n] bodies in the order of the outward sweep
    lwi_k_stage *stage;
    int nstage, nsection; ///< stages of section 0 first, then those of 1 and so on
} lwi_branches;

/** Without stages of lanes the order is that of the bodies.
 *  @return LW_ERR_MEMORY */
lw_status lwi_branches_arrange(const lwi_branch_body *body, int n, lwi_branch_choice choice,
                               lwi_arena *arena, lwi_branches *branches);

/** Divides a tree into sections; the result depends on the tree only.
 *  @param of     [n] out: the section of each body
 *  @param count  out; 1: threads would gain too little
 *  @return LW_ERR_MEMORY     @cost O(n log n) */
lw_status lwi_branch_sections(const lwi_branch_body *body, int n, lwi_arena *arena, int *of,
                              int *count);

#endif
