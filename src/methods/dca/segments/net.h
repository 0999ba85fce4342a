// net.h -- long paths of hinges between hubs, by divide and conquer over segments: speeds and momentum rates of trees
// of branches, rings, nets of long bars.
//
// Problem: u, pdot from q, p.  Paths: net_paths.h, what is between them: hubs.h.  Theory: docs/theory/segments.md.
// Cost: O(n) where that of the elimination over hubs is; O(log n) with threads.
//
// Optional: net_plan.h gives no plan for a model without enough long paths, and an evaluation returns false if it is not
// well conditioned.  The caller then evaluates the general elimination.  Bits of results do not depend on threads and
// lanes.
#ifndef LWI_METHODS_DCA_SEGMENTS_NET_H
#define LWI_METHODS_DCA_SEGMENTS_NET_H

#include "methods/dca/segments/hubs.h"

typedef struct lwi_net lwi_net; ///< used by one thread at a time

/** @param plan    must outlive the net
 *  @param width   lanes of a register: 1, 4, 8, or 0 for the widest of this machine
 *  @param tree    link, R, r, V of hubs are written by evaluations
 *  @param system  with its generic ranks; of hubs R, r, v, w are written
 *  @param net     out; NULL if the machine has no such lanes, or the hubs' rows have another rank than the mechanism
 *  @return LW_ERR_MEMORY */
lw_status lwi_net_create(const lwi_net_plan *plan, int width, lwi_pool *pool, lwi_tree_work *tree,
                         lwi_system *system, lwi_arena *arena, lwi_net **net);
/** Ranks share the paths of evaluations from now on; hubs are computed by all of them.  Without threads.
 *  @return LW_ERR_MEMORY */
lw_status lwi_net_ranks(lwi_net *net, lwi_ranks *ranks, lwi_arena *arena);
const lwi_net_plan *lwi_net_plan_of(const lwi_net *net);
const lwi_net_paths *lwi_net_paths_of(const lwi_net *net);

/** Speeds u of the momenta p; motion of the hubs in tree and system, and the multipliers of their joints.
 *  @param q, p, u  [tree_nq], [tree_nv]
 *  @return false if the general elimination must be used */
bool lwi_net_speeds(lwi_net *net, double t, const double *q, const double *p, double *u);
/** Those of joint number `loop` of the ones that close loops, of the last speeds or accelerations; NULL: it has none. */
const double *lwi_net_multipliers(const lwi_net *net, int loop);
/** Rates pdot without efforts, then with them (lwi_net_add_efforts).  After lwi_net_speeds.
 *  @param load  [nbody] wrenches on hubs, world axes, mass centres
 *  @return false if the general elimination must be used */
bool lwi_net_rates(lwi_net *net, double t, const double *p, const double *u,
                   const double (*load)[6], double *pdot);
/** Motion of the hubs at speeds u, in tree and system.
 *  @param factored  the last evaluation was of the same q: its factors are used; links and bodies are placed
 *  @return false if the general elimination must be used */
bool lwi_net_move(lwi_net *net, double t, const double *q, const double *u, bool factored);
/** Rates udot of the speeds, after lwi_net_move; accelerations of hubs in system.
 *  @param effort  [tree_nv]    @param load  [nbody] wrenches on hubs, world axes, mass centres
 *  @return false if the general elimination must be used */
bool lwi_net_accelerations(lwi_net *net, double t, const double *effort, const double (*load)[6],
                           double *udot);
/** What efforts alone add to udot, M du = effort, without driven joints, with the multipliers that keep loops closed; by
 *  the factors of lwi_net_accelerations, which was at q.  Motion of hubs as if du were speeds.
 *  @return false if the general elimination must be used */
bool lwi_net_response(lwi_net *net, const double *q, const double *effort, double *du);
void lwi_net_add_efforts(const lwi_net *net, const double *effort, double *pdot);

/** Zero, and what the forces of the tree workspace put on bodies, in the loads of all hubs. */
void lwi_net_zero_loads(const lwi_net *net, double (*load)[6]);
void lwi_net_add_loads(const lwi_net *net, double (*load)[6]);
/** Power of drives and mounts, without that of efforts across mounts of loops [W]; after lwi_net_accelerations. */
double lwi_net_drive_power(const lwi_net *net);
/** Of driven and mounted joints of the tree: the sum of P . sigma [J] after lwi_net_speeds, and their power less its
 *  rate [W] after lwi_net_rates; as lwi_momenta_prescribed and lwi_momenta_prescribed_rate. */
double lwi_net_prescribed(const lwi_net *net);
double lwi_net_prescribed_rate(const lwi_net *net);

#endif
