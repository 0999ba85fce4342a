// limbs.h -- which limbs of a tree can be swept side by side, and the order of the sweeps.
//
// A limb is a longest chain of bodies, none but the last of which has other than one child.  Limbs
// whose bodies are of the same kinds, counted from where they hang, and that are as far from the
// tips of the tree (a finger and a finger, not a finger and an arm) form a `stage`, a limb in each
// lane.  It depends on the tree alone, never on the machine, so that every width has the same bits.
#ifndef LWI_LIMBS_H
#define LWI_LIMBS_H

#include "base/base.h"

#include <stdint.h>

enum { LWI_LANES = 8 };

/** Consecutive steps of the outward order: bodies one after the other, or limbs side by side.  The
 *  limbs of a stage follow each other, the longest first; shorter ones are padded at their tips. */
typedef struct lwi_k_stage {
    int first, end; ///< steps
    int lanes;      ///< 0: one after the other; 4, 8: limbs side by side
    int length;     ///< bodies of the longest limb
    int limbs;
    int32_t limb[LWI_LANES + 1]; ///< first step of each limb, and `end`
} lwi_k_stage;

/** A body of the tree, parents first. */
typedef struct lwi_limb_body {
    int parent;   ///< -1: the ground
    int8_t kind;  ///< only equal ones stand side by side
    int8_t shape; ///< those that are equal first
    bool pads;    ///< its kind has padding that does nothing
    bool alone;   ///< never side by side
} lwi_limb_body;

typedef struct lwi_limbs {
    int *order; ///< [n] bodies in the order of the outward sweep
    lwi_k_stage *stage;
    int nstage;
} lwi_limbs;

/** @param least  fewest limbs of a stage; 0: none, in the order of the bodies; -1: as pays
 *  @return LW_ERR_MEMORY */
lw_status lwi_limbs_arrange(const lwi_limb_body *body, int n, int least, lwi_arena *arena,
                            lwi_limbs *limbs);

#endif
