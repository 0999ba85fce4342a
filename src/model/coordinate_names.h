// coordinate_names.h -- coordinates of joints as users name them: "JOINT", "JOINT.q1".
#ifndef LWI_MODEL_COORDINATE_NAMES_H
#define LWI_MODEL_COORDINATE_NAMES_H

#include "model/model.h"

/** A joint, or one of its coordinates. */
typedef struct lwi_coordinate_name {
    int joint;
    int coordinate; ///< counted as the speeds; -1: all of the joint
} lwi_coordinate_name;

/** Index of a joint; -1: there is none of this name. */
int lwi_find_joint(const lw_model *model, const char *name);
/** Reads "JOINT", "JOINT.qK" or the name of a column, "joint.JOINT.qK"; dK (increments of rotations) as qK.
 *  @return false: there is no such joint */
bool lwi_coordinate_name_find(const lw_model *model, const char *text, lwi_coordinate_name *name);
/** The same; LW_ERR_ARGUMENT "<what>: there is no joint ..." with the nearest name. */
lw_status lwi_coordinate_name_read(const lw_model *model, const char *what, const char *text,
                                   lwi_coordinate_name *name, lw_error *error);

/** Takes one name of a list. */
typedef lw_status (*lwi_take_name)(void *user, const char *name, lw_error *error);
/** Calls `take` for the names of a list with commas between, without the blanks around them.
 *  @param what  begins the message about a name that is missing: "independent" */
lw_status lwi_names_each(const char *what, const char *list, lwi_take_name take, void *user,
                         lw_error *error);

#endif
