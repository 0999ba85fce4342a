// elimination.h -- block elimination of constraint rows along a plan.
//
// Problem.  Each body i has six components x_i; the constraint rows r of the edges act on them:
//
//     x = x0 + G' lambda,     J x = c - eps lambda,      G = J K row by row, K symmetric
//
// hence  S lambda = c - J x0  with  S = J K J' + eps.  K is the inverse inertia of a body or another
// metric; the elimination reads J and G only.  Accelerations and reactions, velocities and impulses,
// projections and the closing of positions are all this problem.
//
// Matrix pass, node by node from the leaves to the roots.  The front of a node holds the blocks of its
// closed rows c with themselves and with its open rows o, and the updates of its children.  With
// S_cc = L D L', L of unit diagonal:
//     Z = D^-1 L^-1 S_co,    U = - Z' D Z is added to the parent's front
// Vector pass: up  z = L^-1 y_c,  y_o -= Z' z;  down  lambda_c = L'^-1 (D^-1 z - Z lambda_o).
//
// This is the assembly and disassembly of the divide-and-conquer algorithms in the space of the
// constraints: rows in place of handles, so that xi_11 ... xi_22 and delta_11 ... delta_22 appear only
// between rows, D' xi D [chadaj2017, (26)-(36)] and Phi_q delta Phi_q' [malczyk2019, (35)-(39)].
//
// If K is not symmetric everything but rank decisions works in the same way
// (lwi_elim_factor_unsymmetric).
//
// Redundant rows.  Pivots are measured by the original S_rr: a pivot is then the squared sine of the
// angle between a row and the rows eliminated before it.  At nodes that close loops S_cc may be singular.
// There rows are scaled to S_rr = 1 and eliminated with pivoting up to a fixed rank; null vectors are
// removed from right side and solution, which gives the solution of minimum norm in the scaled rows of the
// node.  It does not depend on the choice of pivots, so it is smooth along a motion (rank.c).  The generic
// rank of each node is found once, at configurations on the constraints (lwi_elim_find_ranks), and kept: a
// lower rank is a singular position (where rows may become inactive, inactive_rows.c), a higher one is drift.
//
// Isomorphic subtrees, such as equal pieces of chains, are processed side by side in vector lanes.
//
// Memory is allocated at creation; factor and solve allocate nothing.  With a thread pool they run in
// parallel by levels or by subtrees.  Each node does the same operations in the same order on any thread,
// so the bits do not depend on the number of threads.
#ifndef LWI_ELIMINATION_ELIMINATION_H
#define LWI_ELIMINATION_ELIMINATION_H

#include "elimination/plan.h"
#include "base/ranks.h"
#include "base/threads.h"

/** A pivot (squared sine) above this counts as a new direction when generic ranks are found: independent
 *  rows of ordinary mechanisms make angles of 0.1 to 1, redundant rows are tilted by the drift of positions.
 */
#define LWI_ELIM_RANK 1e-10

typedef enum lwi_elim_strategy { LWI_ELIM_BY_SUBTREE, LWI_ELIM_BY_LEVEL } lwi_elim_strategy;

typedef struct lwi_elim_pivot_info {
    double min;       ///< smallest pivot kept; 1 if there are no rows
    int edge, row;    ///< its edge, and row of the edge; -1: none
    double dropped;   ///< largest pivot dropped; 0: none
    int dropped_edge; ///< its edge; -1: none
} lwi_elim_pivot_info;

typedef struct lwi_elim lwi_elim;

/** @param plan  must outlive *elim
 *  @param elim  out, allocated in `arena`
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_create(const lwi_plan *plan, lwi_arena *arena, lwi_elim **elim);

/** Memory of a matrix pass and lists, in an arena that outlives the eliminations that use them; the first one makes them. */
typedef struct lwi_elim_updates {
    lwi_arena *arena;
    const lwi_plan_node *of; ///< nodes of its plan
    double *at;
    const lwi_elim *first; ///< in the arena, with lists that others have as well; NULL: none
} lwi_elim_updates;

/** The same for one of several eliminations; no two of them run matrix passes at the same time.
 *  @param common  used by those that have its plan; NULL: none */
lw_status lwi_elim_create_with(const lwi_plan *plan, lwi_elim_updates *common, lwi_arena *arena,
                               lwi_elim **elim);
/** Whether a pass is large enough to be worth waking threads: 200 000 multiplications in all. */
bool lwi_elim_worth_threads(const lwi_elim *elim);
/** The same of an evaluation with so many multiplications besides a pass. */
bool lwi_elim_worth_threads_with(const lwi_elim *elim, double besides);
/** Later passes run on the threads of the pool (NULL: on the calling thread only), unless they are not worth it.
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_threads(lwi_elim *elim, lwi_pool *pool, lwi_elim_strategy strategy,
                           lwi_arena *arena);

/** Later passes are shared out to ranks while these are active, unless they are not worth it; without threads.  All have
 *  the results.
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_share_ranks(lwi_elim *elim, lwi_ranks *ranks, lwi_arena *arena);
/** Whether the next matrix passes are done by each rank alone: then all factors and pivots are known to it. */
void lwi_elim_compute_alone(lwi_elim *elim, bool alone);

/** Vector lanes for isomorphic subtrees (lanes.h): 1, 4 or 8; 0: the widest of this machine, the default;
 *  -1: node by node.  The bits are the same for 1, 4 and 8.
 *  @return false, and nothing changes, if this machine has no such lanes */
bool lwi_elim_lanes(lwi_elim *elim, int width);
/** Allocates factors for K without symmetry, as much memory again: lwi_elim_factor_unsymmetric.
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_unsymmetric(lwi_elim *elim, lwi_arena *arena);

/** J and G [6 * slots][6], slots = plan->slot[nedge], to be filled by the caller: row r of edge e on its body
 *  number i is at index (plan->slot[e] + i) * 6 + r. */
double (*lwi_elim_J(lwi_elim *elim))[6];
double (*lwi_elim_G(lwi_elim *elim))[6];
/** J as it is; not to be changed. */
const double (*lwi_elim_rows(const lwi_elim *elim))[6];

/** Matrix pass from J and G at the generic ranks (at full rank before lwi_elim_find_ranks).
 *  @param eps  [nrow] >= 0 in the rows' units (an absolute addition to S_rr), or NULL for 0.  Nodes with
 *              eps > 0 for every row are regular: no rank is decided there, no row is dropped
 *  @return LW_ERR_SINGULAR: a kept pivot is not above round-off, see lwi_elim_pivots;
 *          LW_ERR_NOT_FINITE */
lw_status lwi_elim_factor(lwi_elim *elim, const double *eps);
/** The same with eps > 0 for every row, as without generic ranks: they are neither used nor changed. */
lw_status lwi_elim_factor_regular(lwi_elim *elim, const double *eps);
/** Allocates what lwi_elim_refine_extended needs.
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_extend(lwi_elim *elim, lwi_arena *arena);
/** Then: allocates factors of twice the digits for lwi_elim_factor_extended, about twice the memory of the others.
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_extend_factors(lwi_elim *elim, lwi_arena *arena);
bool lwi_elim_has_extended_factors(const lwi_elim *elim);
/** What G in doubles lacks, G + G_low = J K, indexed like G; NULL without lwi_elim_extend. */
double (*lwi_elim_G_low(lwi_elim *elim))[6];
/** As lwi_elim_factor(elim, NULL) in double-double arithmetic, on the calling thread, which takes many times as long.
 *  Solutions have no use for refinement.  Rows of J, G and G_low must not change before them. */
lw_status lwi_elim_factor_extended(lwi_elim *elim);
/** Whether the factors are those of lwi_elim_factor_extended. */
bool lwi_elim_is_extended(const lwi_elim *elim);
/** Whether the last failure of lwi_elim_factor is one that lwi_elim_factor_extended can mend: pivots are lost
 *  where no loop is closed. */
bool lwi_elim_lost(const lwi_elim *elim);
/** The smallest pivot, as a share of its S_rr, where no loop is closed; 1 if there is none.  At 1e-16 none of its
 *  digits are left in doubles. */
double lwi_elim_tree_pivot(const lwi_elim *elim);
/** As lwi_elim_factor(elim, NULL), for lwi_elim_pivots only: the factors cannot be used to solve. */
lw_status lwi_elim_check_pivots(lwi_elim *elim);
/** Matrix pass for K without symmetry: row r of G is K J_r' (x = x0 + G' lambda as before, S = J G' + eps).
 *  About twice the work; solutions use these factors until the next matrix pass.  No rank is decided: every
 *  row needs eps > 0 or must be independent.  Rows are not exchanged, which is safe if the symmetric part of
 *  K is positive definite: then so are the symmetric parts of S and of all its Schur complements.  Otherwise
 *  the pass fails as it does for a lost pivot.
 *  @return as lwi_elim_factor; LW_ERR_INTERNAL without lwi_elim_unsymmetric */
lw_status lwi_elim_factor_unsymmetric(lwi_elim *elim, const double *eps);
/** The same where the symmetric part of the matrix need not be positive definite: pivots may be negative, only those that
 *  are round-off are lost.  Rows are not exchanged: a pivot that is small costs digits, which iterations regain. */
lw_status lwi_elim_factor_indefinite(lwi_elim *elim, const double *eps);
/** Matrix pass that decides every rank at loop nodes by `threshold` (elsewhere only rows of zeros are
 *  dropped).  The generic rank of each node becomes the larger of its rank here and before, until
 *  lwi_elim_clear_ranks.  The factors are those of this pass.
 *  @param rank  out, sum of the ranks found in this pass; may be NULL
 *  @return LW_ERR_SINGULAR, LW_ERR_NOT_FINITE */
lw_status lwi_elim_find_ranks(lwi_elim *elim, double threshold, int *rank);
void lwi_elim_clear_ranks(lwi_elim *elim);
/** rank [nodes of the plan] := the generic ranks; and these from an elimination with the same plan. */
void lwi_elim_get_ranks(const lwi_elim *elim, int *rank);
void lwi_elim_put_ranks(lwi_elim *elim, const int *rank);
/** The pivots of the last factorisation become the reference pivots of their nodes. */
void lwi_elim_set_reference(lwi_elim *elim);
/** pivot [nodes of the plan] := the reference pivots; and these from an elimination with the same plan. */
void lwi_elim_get_reference(const lwi_elim *elim, double *pivot);
void lwi_elim_put_reference(lwi_elim *elim, const double *pivot);
/** Allows rows to become inactive (at first they may not): rows that close loops, if their pivot is not above
 *  1e-10 of the smallest reference pivot of their node.  The rank of such a matrix pass is below the generic
 *  rank (inactive_rows.c).  If not allowed, the pass fails once the pivot is round-off. */
void lwi_elim_allow_inactive(lwi_elim *elim, bool allowed);
/** Whether rows may become inactive at half the pivots of this matrix pass: if not, they are the same as allowed. */
bool lwi_elim_near_inactive(const lwi_elim *elim);
/** Number of inactive rows. */
int lwi_elim_inactive_count(const lwi_elim *elim);
/** The part of c [nrow] that inactive rows cannot meet: the largest component of c, in scaled rows, along
 *  their null vectors, divided by the length of c.  0: no row is inactive, or c can be met.
 *  @param scratch  [nrow] */
double lwi_elim_unmet(lwi_elim *elim, const double *c, double *scratch);
/** Sum of the ranks that a factorisation keeps. */
int lwi_elim_rank(const lwi_elim *elim);
lwi_elim_pivot_info lwi_elim_pivots(const lwi_elim *elim);
/** The smallest kept pivot of each group of edges at nodes that close loops; 1 if a group has none there.
 *  @param group  [edges of the plan's graph] of each edge; -1: none
 *  @param min    out, [ngroup] */
void lwi_elim_loop_pivots(const lwi_elim *elim, int ngroup, const int *group, double *min);
/** Later matrix passes pivot at these nodes [nodes of the plan], though their rows are independent. */
void lwi_elim_pivot_at(lwi_elim *elim, const bool *nodes);
/** The smallest pivot of a node that closes loops, as a share of the reference pivot of this node; 1 if there is none. */
double lwi_elim_relative_pivot(const lwi_elim *elim);
/** Which rows the last factorisation has left out because they depend on others: the others are independent.
 *  @param dropped  [nrow], out */
void lwi_elim_dropped_rows(const lwi_elim *elim, bool *dropped);
/** Rows of each edge that depend on others, by the last factorisation.
 *  @param dependent  [nedge], out */
void lwi_elim_dependent(const lwi_elim *elim, int *dependent);

/** Vector pass: x and lambda of J x = c - eps lambda.  J may have changed since the matrix pass and is read
 *  again; G must not change while subtrees are in lanes.
 *  @param x       [nbody][6] in: x0; out: x
 *  @param c       [nrow]
 *  @param lambda  [nrow] out
 *  @param refine  steps of iterative refinement with the same factors; one makes J x = c to the round-off
 *                 of x itself
 *  @pre   the last matrix pass returned LW_OK */
void lwi_elim_solve(lwi_elim *elim, double (*x)[6], const double *c, double *lambda, int refine);
/** One more step of refinement of x and lambda, after lwi_elim_solve with the same c. */
void lwi_elim_refine(lwi_elim *elim, double (*x)[6], const double *c, double *lambda);
/** The same with residual, x and lambda in double-double arithmetic; G_low must be current.
 *  @param x0     [nbody][6] the x of lwi_elim_solve on entry
 *  @param first  the first step after lwi_elim_solve: the low parts start at zero */
void lwi_elim_refine_extended(lwi_elim *elim, const double (*x0)[6], double (*x)[6],
                              const double *c, double *lambda, bool first);

/** Work of a matrix pass, from the plan alone, for cost estimates. */
typedef struct lwi_elim_counts {
    double tasks;   ///< nodes; a batch of isomorphic ones counts once
    double loops;   ///< those that close loops
    double plain;   ///< multiplications at nodes that close no loop
    double closing; ///< at those that do, where rows are eliminated with pivoting
    double large;   ///< at those of LWI_ELIM_LARGE rows and more, in panels
    double laned;   ///< in lanes, once for all lanes
} lwi_elim_counts;
lwi_elim_counts lwi_elim_count(const lwi_elim *elim);

/** Number of matrix passes so far. */
long lwi_elim_matrix_passes(const lwi_elim *elim);

/** Number of directions dropped by the last factorisation, and null vector number i of them: J' n = 0 up to
 *  drift.
 *  @param n  [nrow] out, of unit length in the scaled rows */
int lwi_elim_null_count(const lwi_elim *elim);
void lwi_elim_null(lwi_elim *elim, int i, double *n);
/** Null vectors of one node each, where they are not negligible: most decay within a few nodes.
 *  lwi_elim_null_next: the first node from `node` on that has some; the number of nodes: none.
 *  @param q      number of the null vector at its node
 *  @param n      [nrow] out: rows of the edges listed, in the rows' units; others are unchanged
 *  @param edge   [nedge] out: those edges
 *  @param stack  [number of nodes] scratch
 *  @return number of edges; 0: the node has no null vector q */
int lwi_elim_null_next(const lwi_elim *elim, int node);
int lwi_elim_null_local(lwi_elim *elim, int node, int q, double *n, int *edge, int *stack);

#endif
