// names.h -- names of the coordinates of the spanning tree, in results of analyses and in lists of users.
#ifndef LWI_ANALYSIS_NAMES_H
#define LWI_ANALYSIS_NAMES_H

#include "model/model.h"

/** "joint.NAME.q0" of speed `speed` of the tree, "joint.NAME.qd0" its rate; of rotations with quaternions and of free
 *  joints the increment "joint.NAME.d0", of floating bases "body.NAME.d0" and "body.NAME.qd0". */
void lwi_analysis_name(const lw_model *model, int speed, bool rate, char *text, size_t size);
/** Marks the speeds of a list "JOINT, JOINT.q1".
 *  @param list   NULL or "": none
 *  @param named  [tree nv]      @return LW_ERR_ARGUMENT with the nearest name */
lw_status lwi_analysis_names(const lw_model *model, const char *list, bool *named, lw_error *error);

/** Sets the place of a joint in the model's file, for the message that `error` has.  @return status */
lw_status lwi_analysis_at_joint(const lw_model *model, int joint, lw_status status,
                                lw_error *error);

#endif
