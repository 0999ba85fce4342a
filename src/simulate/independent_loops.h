// independent_loops.h -- loops that share no joint: each of them has separate singular positions.
#ifndef LWI_SIMULATE_INDEPENDENT_LOOPS_H
#define LWI_SIMULATE_INDEPENDENT_LOOPS_H

#include "model/model.h"

/** Groups of loops, numbered from 0: loops are in the same group if they share a joint, or a coupling relates their
 *  joints (the biconnected components of the graph of bodies and joints).
 *  @param group  out, [njoint + ncoupling] group of each joint, then of each coupling; -1: in no loop
 *  @param count  out, number of groups
 *  @return LW_ERR_MEMORY */
lw_status lwi_independent_loops(const lw_model *model, const lw_allocator *allocator, int *group,
                                int *count);

#endif
