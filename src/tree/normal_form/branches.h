// branches.h -- which limbs of a tree can be swept side by side, and the order of the sweeps.
//
// A limb is a longest chain of bodies, none but the last of which has other than one child.  Limbs
// whose bodies are of the same kinds, counted from where they hang, and that are as far from the
// tips of the tree (a finger and a finger, not a finger and an arm) form a `stage`, a limb in each
// lane.  A long limb of which there are not enough to stand side by side is cut into runs of equal
// length, which stand in lanes: a stage by itself (cut.h).  All of it depends on the tree alone,
// never on the machine, so that every width has the same bits.
#ifndef LWI_TREE_NORMAL_FORM_BRANCHES_H
#define LWI_TREE_NORMAL_FORM_BRANCHES_H

#include "base/base.h"
#include "base/simd/lanes.h"

#include <stdint.h>

/** Consecutive steps of the outward order: bodies one after the other, limbs side by side, or one
 *  limb in runs.  The limbs of a stage follow each other, the longest first; shorter ones are
 * padded at their tips, and so is the last run of a limb with nothing beyond it. */
typedef struct lwi_k_stage {
    int first, end; ///< steps
    int lanes;      ///< 4, 8: limbs side by side
    int segments;   ///< 4, 8: runs of a limb; one after the other where neither is set
    int length;     ///< bodies of the longest limb, of a run
    int branches;
    int32_t branch[LWI_LANES + 1]; ///< first step of each limb, and `end`
    // of runs, set with the slots (plan.c)
    int slot;    ///< of the first body, a whole block's first: body j of run r at slot + runs j + r
    int segment; ///< what the runs know of each other, in lwi_k_state.run
    int8_t *shape; ///< [length] of every run's body at that position
} lwi_k_stage;

/** A body of the tree, parents first. */
typedef struct lwi_branch_body {
    int parent;      ///< -1: the ground
    int8_t kind;     ///< only equal ones stand side by side
    int8_t shape;    ///< those that are equal first
    bool pads;       ///< its kind has padding that does nothing
    bool sequential; ///< never side by side
    bool segments;   ///< a hinge, as runs are made of
    bool realigned;  ///< on a parent whose frame does not suit it: only the first of a limb in runs
    bool ends;       ///< moves if its joint is let go, with nothing beyond: the last of a run
} lwi_branch_body;

/** What is to stand side by side. */
typedef struct lwi_branch_choice {
    int branches; ///< fewest of a stage; 0: none; -1: as pays
    int segments; ///< of a long limb; 0: none
    int least;    ///< bodies of a long limb
} lwi_branch_choice;

typedef struct lwi_branches {
    int *order; ///< [n] bodies in the order of the outward sweep
    lwi_k_stage *stage;
    int nstage;
} lwi_branches;

/** In the order of the bodies where nothing stands side by side.
 *  @return LW_ERR_MEMORY */
lw_status lwi_branches_arrange(const lwi_branch_body *body, int n, lwi_branch_choice choice,
                               lwi_arena *arena, lwi_branches *branches);

#endif
