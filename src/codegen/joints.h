// joints.h -- coordinates and speeds of single joints, and efforts on them.
#ifndef LWI_CODEGEN_JOINTS_H
#define LWI_CODEGEN_JOINTS_H

#include "codegen/sides.h"

/** Entry `index` of the coordinates of all joints, one of a free speed of the tree, in those of the tree. */
int lwi_tree_coordinate(const lwi_elements *elements, int index);
/** Is there a value for entry `index` of the coordinates (speeds) of all joints?  Of joints that close loops there are
 *  lengths, and all speeds: an angle would need the number of revolutions. */
bool lwi_joint_reading_exists(const lw_model *model, bool speed, int index);
/** Is the joint one without dynamics, inside a rigid group? */
bool lwi_joint_is_still(const lw_model *model, bool speed, int index);
/** "joint 'elbow'", and where the model file has it. */
void lwi_joint_user(const lw_model *model, bool speed, int index, char *user, size_t size,
                    lw_place *place);
val lwi_joint_reading(lwi_sides *sides, bool speed, int index);
/** load [tree nv] += the effort on entry `iv` of the speeds of all joints, which exists as a reading.
 *  @param J  [tree nv] scratch */
void lwi_joint_push(lwi_sides *sides, int iv, val effort, val *J, val *load);

#endif
