// cuts.h -- where a limb is cut into runs.
#ifndef LWI_CUTS_H
#define LWI_CUTS_H

#include "kernel/limbs.h"

/** Bodies of a limb that are cut into runs. */
typedef struct lwi_cut {
    int first, count; ///< consecutive bodies of the limb
    int length;       ///< of a run; runs x length is `count`, or more where the last one is padded
} lwi_cut;

/** @param limb    [n] bodies, each on the one before
 *  @param beyond  other bodies hang on the last
 *  @return false: no `choice.least` bodies of it can be cut into `choice.runs` */
bool lwi_cut_limb(const lwi_limb_body *body, const int *limb, int n, bool beyond,
                  lwi_limb_choice choice, lwi_cut *cut);

#endif
