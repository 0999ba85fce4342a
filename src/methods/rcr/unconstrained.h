// unconstrained.h -- elimination of nodes without rows for their own speeds, see unconstrained.c.
#ifndef LWI_METHODS_RCR_UNCONSTRAINED_H
#define LWI_METHODS_RCR_UNCONSTRAINED_H

#include "methods/rcr/rcr.h"

/** Eliminates node k if it is unconstrained; after its children.
 *  @param fails  out: its first speed without inertia, -1: none
 *  @return false: it is constrained, or memory is short; only counts and `unconstrained` have changed */
bool lwi_rcr_unconstrained(lwi_rcr *e, int k, lwi_rcr_mode mode, int *fails);
/** The parts of lwi_rcr_solve at such a node: its message of forces; its speeds, after the parent's
 *  motion. */
void lwi_rcr_unconstrained_inward(lwi_rcr *e, int k);
void lwi_rcr_unconstrained_outward(lwi_rcr *e, int k);

#endif
