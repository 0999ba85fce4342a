// ranks.h -- evaluations of dca and hdca by several processes.
//
// Problem: who shares what: segments of long paths, paths between hubs, or the tasks of the elimination.  Poses,
// velocities, rows and loads are computed by every rank.
#ifndef LWI_METHODS_DCA_RANKS_H
#define LWI_METHODS_DCA_RANKS_H

#include "methods/dca/segments/net.h"
#include "methods/dca/segments/path.h"

/** Shares them out, if the work belongs to a simulation by several processes.
 *  @param path, net  NULL: there is none     @return LW_ERR_MEMORY */
lw_status lwi_dca_share_ranks(lwi_work *work, lwi_system *system, lwi_path *path, lwi_net *net);
/** Whether the present evaluation is shared out: then factors are not complete after it. */
bool lwi_dca_on_ranks(const lwi_work *work);

#endif
