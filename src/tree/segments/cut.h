// cut.h -- where a branch is cut into segments.
//
// Input: the bodies of a branch.  Output: the consecutive bodies that are cut, and the length of a segment.
// Cost: O(n).
#ifndef LWI_TREE_SEGMENTS_CUT_H
#define LWI_TREE_SEGMENTS_CUT_H

#include "tree/normal_form/branches.h"

/** Minimum number of bodies that are cut into eight segments instead of four. */
enum { LWI_MIN_FOR_EIGHT_SEGMENTS = 384 };

/** Bodies of a branch that are cut into segments. */
typedef struct lwi_segment_cut {
    int first, count; ///< consecutive bodies of the branch
    int segments;     ///< 4, 8
    int length; ///< of a segment; segments x length is `count`, or more if the last one is padded
} lwi_segment_cut;

/** @param branch  [n] bodies, each one the child of the previous one
 *  @param beyond  the last body has children
 *  @return false if no `choice.min_length` bodies of it can be cut into segments */
bool lwi_segment_cut_branch(const lwi_branch_body *body, const int *branch, int n, bool beyond,
                            lwi_branch_choice choice, lwi_segment_cut *cut);

#endif
