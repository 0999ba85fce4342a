// crba.h -- joint-space mass matrix by the composite-body recursion.
#ifndef LWI_TREE_CRBA_H
#define LWI_TREE_CRBA_H

#include "kinematics/tree_state.h"

/** Mass matrix M [tree_nv][tree_nv] of the free speeds, rotors included, from the positions of the links.
 *  @param link       [nnode]
 *  @param composite  [nnode] scratch      @cost O(n depth) */
void lwi_crba(const lw_model *model, const lwi_link *link, lwi_inertia *composite, double *M);

#endif
