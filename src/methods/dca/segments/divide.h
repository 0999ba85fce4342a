// divide.h -- how a model is divided into segments: as one path (plan.h), as several between hubs (net_plan.h), or not
// at all.
//
// Forces on bodies of a path are replaced by efforts on all joints between these bodies and the ground
// (tree/body_forces.h), or the bodies become hubs.  Cost: that of the plans.
//
// The division depends on the model alone, never on threads or the processor: results do not either.
#ifndef LWI_METHODS_DCA_SEGMENTS_DIVIDE_H
#define LWI_METHODS_DCA_SEGMENTS_DIVIDE_H

#include "methods/dca/segments/net_plan.h"
#include "system/shared.h"

/** The division that `shared` has; the first call makes it.
 *  @param shared     of the simulation; NULL: a new division in `arena`
 *  @param path, net  out; at most one of them, the other is NULL
 *  @return LW_ERR_MEMORY */
lw_status lwi_divide(const lw_model *model, lwi_shared *shared, lwi_arena *arena,
                     lwi_path_plan **path, lwi_net_plan **net);
/** Whether forces read or move bodies; then a division between hubs is preferred to one path. */
bool lwi_acts_on_bodies(const lw_model *model);

#endif
