// dependent_rows.h -- the joints that redundant rows are charged to.
//
// The joints of the tree are independent, so every redundant row can be charged to a joint that closes a loop: to the last
// one, in the order of the model, that a null vector reaches.  That is as many rows of each joint as depend on those of the
// tree and of the joints before it.
#ifndef LWI_SYSTEM_DEPENDENT_ROWS_H
#define LWI_SYSTEM_DEPENDENT_ROWS_H

#include "system/system.h"

/** How many rows of each joint that closes a loop depend on the others, by the rows in the speeds of the tree.  Needs the
 *  rows at the motion of the system.  Rows of rotors are independent.
 *  @param dependent  [nedge] out
 *  @param certain    out: every row is clearly independent or clearly dependent, and there are not too many to do so
 *  @cost   linear in bodies where each loop shares speeds with a few others; limited for others
 *  @return LW_ERR_MEMORY */
lw_status lwi_dependent_by_speeds(const lwi_system *system, lwi_arena *scratch, int *dependent,
                                  bool *certain);
/** The same by the null vectors of the elimination, after lwi_system_rank at the motion of the system.
 *  @cost   a part of a vector pass for each redundant row */
lw_status lwi_dependent_by_null_vectors(lwi_system *system, lwi_arena *scratch, int *dependent);
/** By speeds, if that is certain and finds as many as the elimination has; else by null vectors.
 *  @param redundant  rows that lwi_system_rank found to depend on others */
lw_status lwi_dependent_rows(lwi_system *system, int redundant, lwi_arena *scratch, int *dependent);

#endif
