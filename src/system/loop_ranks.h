// loop_ranks.h -- generic ranks of the nodes of a plan where rows depend on others in single loops alone.
#ifndef LWI_SYSTEM_LOOP_RANKS_H
#define LWI_SYSTEM_LOOP_RANKS_H

#include "system/system.h"

/** Ranks of the nodes from what is known of each loop.
 *  @param dependent  [nloop] how many rows of each joint outside the tree depend on those of the other joints of its loop;
 *                    no other rows depend on each other
 *  @param rank       out, [plan.nnode]
 *  @param found      out; false: they do not follow from that, and `rank` has anything
 *  @return LW_ERR_MEMORY         @cost O(joints of all loops + bodies) */
lw_status lwi_loop_ranks(const lwi_system *system, const int *dependent,
                         const lw_allocator *allocator, int *rank, bool *found);
/** Sets the generic ranks of a system at the start to those that follow from the loops of `shared`, if no row nearly depends on
 *  others there.  The pivots of the elimination are then those of the start (ranked_there).
 *  @param found  out; false: nothing is set      @return LW_ERR_MEMORY */
lw_status lwi_loop_find_ranks(lwi_system *system, lwi_shared *shared, bool *found);

#endif
