// unconstrained.h -- a shorter text for nodes that carry loops, or are in none, see unconstrained.c.
#ifndef LWI_METHODS_RCR_UNCONSTRAINED_H
#define LWI_METHODS_RCR_UNCONSTRAINED_H

#include "methods/rcr/rcr.h"

/** Eliminates node k where it is such a node; its children are.
 *  @param fails  out: its speed that nothing resists, -1
 *  @return false: it is none, or memory is short; nothing but counts and `light` has changed */
bool lwi_rcr_unconstrained(lwi_rcr *e, int k, lwi_rcr_mode mode, int *fails);
/** Its part of lwi_rcr_solve: the message of forces; its speeds, where its parent's motion is known. */
void lwi_rcr_unconstrained_inward(lwi_rcr *e, int k);
void lwi_rcr_unconstrained_outward(lwi_rcr *e, int k);

#endif
