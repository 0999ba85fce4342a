// mobility.h -- degrees of freedom and redundancy, with what a simulation has found.
#ifndef LWI_INITIAL_MOBILITY_H
#define LWI_INITIAL_MOBILITY_H

#include "system/shared.h"

#include <linkwork/simulate.h>

/** lw_model_mobility with the plan and the generic ranks of a simulation.
 *  @param shared  NULL: they are searched for */
lw_status lwi_mobility(const lw_model *model, lwi_shared *shared, lw_check *check,
                       lw_redundancy *joints, lw_error *error);

#endif
