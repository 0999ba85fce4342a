// subtrees.h -- recursions over a tree, the subtrees of which are shared by the threads of a pool.
//
// The nodes, in depth-first order, are divided into subtrees of a small part of one thread's share, each a range of
// consecutive nodes, and the nodes above them.  A recursion towards the ground takes the subtrees at once and then the
// rest; one away from it the other way round.  What the root of a subtree gives to its parent is added with the nodes
// above, in the order of one thread: results have its bits.
// Trees with few nodes in subtrees, such as chains, gain nothing; passes.h is for these.
#ifndef LWI_KINEMATICS_SUBTREES_H
#define LWI_KINEMATICS_SUBTREES_H

#include "base/threads.h"
#include "model/model.h"

typedef struct lwi_subtrees lwi_subtrees; ///< used by one thread at a time

/** @param subtrees  out; NULL without a pool
 *  @return LW_ERR_MEMORY */
lw_status lwi_subtrees_create(const lw_model *model, lwi_pool *pool, lwi_arena *arena,
                              lwi_subtrees **subtrees);

/** Calls nodes(user, first, end) for ranges that make up all nodes, parents first.  NULL: one range. */
void lwi_subtrees_outward(lwi_subtrees *subtrees, const lw_model *model,
                          void (*nodes)(void *user, int first, int end), void *user);

/** A recursion towards the ground. */
typedef struct lwi_inward {
    /** From the last node of a subtree to its root `first`: each gives to its parent, but the root does not.
     *  @return false: it fails, and with it the recursion */
    bool (*nodes)(void *user, int first, int end);
    void (*give)(void *user, int root); ///< to its parent, if it has one
} lwi_inward;
/** @return false if a call of nodes has */
bool lwi_subtrees_inward(lwi_subtrees *subtrees, const lw_model *model, lwi_inward of, void *user);
/** The same after start(user, first, end) of all nodes.  One that fails in threads is done again by one thread, which says
 *  why.
 *  @param alone  out: one thread does it */
bool lwi_subtrees_inward_from(lwi_subtrees *subtrees, lwi_pool *pool, const lw_model *model,
                              void (*start)(void *user, int first, int end), lwi_inward of,
                              bool *alone, void *user);

#endif
