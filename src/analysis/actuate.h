// actuate.h -- inputs that are efforts of coordinates.
#ifndef LWI_ANALYSIS_ACTUATE_H
#define LWI_ANALYSIS_ACTUATE_H

#include "model/model.h"

/** The input that is the `effort` or `force` of a coordinate of a joint; -1: none. */
int lwi_actuator_input(const lw_model *model, int joint, int coordinate);

#endif
