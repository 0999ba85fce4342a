// path.h -- a long path by divide and conquer over segments: speeds and momentum rates, accelerations.
//
// Problem: u, pdot from q, p, or udot from q, u for an open path of hinges, balls, sliders and screws on the ground or
// on a free or spherical base.
// Input and output: arrays of the model's tree.  Theory: docs/theory/segments.md.  Cost: O(n), O(log n) with threads.
//
// A path is optional: a model that is not one, or is short, has no plan (plan.h), and an evaluation returns false
// if it is not well conditioned.  The caller then evaluates the general elimination, which names the joint in its
// error.  Bits of results do not depend on threads and lanes.
#ifndef LWI_METHODS_DCA_SEGMENTS_PATH_H
#define LWI_METHODS_DCA_SEGMENTS_PATH_H

#include "base/ranks.h"
#include "base/threads.h"
#include "methods/dca/segments/plan.h"

typedef struct lwi_path lwi_path; ///< used by one thread at a time

/** @param plan   of the model; it must outlive the path
 *  @param width  lanes of a register: 1, 4, 8, or 0 for the widest of this machine
 *  @param pool   threads that share the work; NULL: one
 *  @param path   out; NULL if the machine has no lanes of this width
 *  @return LW_ERR_MEMORY */
lw_status lwi_path_create(const lw_model *model, const lwi_path_plan *plan, int width,
                          lwi_pool *pool, lwi_arena *arena, lwi_path **path);
/** The plan of the path, for reports. */
const lwi_path_plan *lwi_path_plan_of(const lwi_path *path);
/** Ranks share evaluations from now on, while they are active: each has its groups and a part of their joins, the first
 *  one the base; all have the results.  Without threads.
 *  @return LW_ERR_MEMORY */
lw_status lwi_path_ranks(lwi_path *path, lwi_ranks *ranks, lwi_arena *arena);
/** Threads or ranks that share the work, and the groups of segments that each of them has computed. */
int lwi_path_threads(const lwi_path *path);
long lwi_path_groups_done(const lwi_path *path, int thread);

/** Speeds u and rates pdot of the momenta p, without efforts.  Momenta of a free base: world axes about its origin.
 *  @param q, p, u, pdot  [tree_nq], [tree_nv]; pdot may be NULL
 *  @return false if the general elimination must be used; u and pdot are then invalid */
bool lwi_path_rates(lwi_path *path, const double *q, const double *p, double *u, double *pdot);
/** Rates udot of the speeds u, with the efforts (NULL: none).
 *  @param q, u, effort, udot  [tree_nq], [tree_nv]
 *  @param factored  the last evaluation was of the same q: its factors are used
 *  @return false if the general elimination must be used; udot is then invalid */
bool lwi_path_accelerations(lwi_path *path, const double *q, const double *u, const double *effort,
                            bool factored, double *udot);
/** What efforts alone add to udot, M du = effort: without speeds and gravity, with the factors of the last evaluation,
 *  which was at q.
 *  @return false if they are not well conditioned; du is then invalid */
bool lwi_path_response(lwi_path *path, const double *q, const double *effort, double *du);
/** Adds efforts [tree_nv] on the speeds to pdot; after lwi_path_rates. */
void lwi_path_add_efforts(const lwi_path *path, const double *effort, double *pdot);

#endif
