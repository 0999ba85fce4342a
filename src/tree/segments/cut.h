// cut.h -- where a limb is cut into runs.
#ifndef LWI_TREE_SEGMENTS_CUT_H
#define LWI_TREE_SEGMENTS_CUT_H

#include "tree/normal_form/branches.h"

/** Bodies of a limb that are cut into runs. */
typedef struct lwi_segment_cut {
    int first, count; ///< consecutive bodies of the limb
    int length;       ///< of a run; runs x length is `count`, or more where the last one is padded
} lwi_segment_cut;

/** @param limb    [n] bodies, each on the one before
 *  @param beyond  other bodies hang on the last
 *  @return false: no `choice.least` bodies of it can be cut into `choice.runs` */
bool lwi_segment_cut_branch(const lwi_branch_body *body, const int *branch, int n, bool beyond,
                            lwi_branch_choice choice, lwi_segment_cut *cut);

#endif
