// cut_reactions.h -- reactions of all joints from the multipliers of cut joints: those of minimum norm, and which of
// their components the motion determines.
#ifndef LWI_LOOPS_CUT_REACTIONS_H
#define LWI_LOOPS_CUT_REACTIONS_H

#include "loops/cut.h"

typedef struct lwi_cut_reactions {
    int nnull, nfield; ///< multipliers that do not change the motion; 6 njoint + couplings
    double *null;      ///< [nnull][m]
    double *field;     ///< [nnull][nfield]
    double *actual;    ///< [nfield]
} lwi_cut_reactions;

/** @param nnull  redundant rows      @return LW_ERR_MEMORY */
lw_status lwi_cut_reactions_create(const lwi_cut *cut, int nnull, lwi_arena *arena,
                                   lwi_cut_reactions *reactions);
/** Among all reactions with the motion, those of minimum norm over forces [N] and torques [N m] of all joints and the
 *  multipliers of couplings.  After lwi_tree_observe at level REACTION with J' lambda among the wrenches.
 *  @param cod     of J' or E' [any][m], columns divided by cut->len: its null space is that of the multipliers
 *  @param lambda  [m] */
void lwi_cut_reactions_find(lwi_cut_reactions *reactions, lwi_cut *cut, lwi_tree_work *tree,
                            lwi_cod *cod, const double *lambda, lwi_snapshot *snapshot);

#endif
