// elimination.h -- the engine: block elimination of constraint rows along a plan.
//
// Bodies i have six components x_i each, rows r act on them:
//
//     x = x0 + G' lambda,     J x = c - eps lambda,      G = J K row by row, K symmetric
//
// so that  S lambda = c - J x0  with  S = J K J' + eps.  K is an inverse inertia or another metric
// of the bodies; the engine never sees it, only J and G = J K.  The same problem, with other
// meanings, is accelerations and reactions, velocities and impulses, projections, closing of
// positions.
//
// Matrix pass, node by node towards the roots.  The front of a node collects the blocks of its
// closed rows c with themselves and with its open rows o, and what its children leave; with
// S_cc = L D L', L of unit diagonal:
//     Z = D^-1 L^-1 S_co,    U = - Z' D Z to the parent.
// Vector pass: up  z = L^-1 y_c,  y_o -= Z' z;  down  lambda_c = L'^-1 (D^-1 z - Z lambda_o).
// This is the constraint-space form of [malczyk2019, (35)-(39)]; `handle form' is its test.
//
// Without symmetry of K everything but ranks works in the same way (lwi_elim_factor_unsymmetric).
//
// Redundant rows.  Pivots are measured by the original S_rr: the squared sine of the angle between
// a row and those eliminated before it.  At nodes that close loops S_cc may be singular.  There
// rows are scaled to S_rr = 1 and eliminated with pivots up to a fixed rank; null vectors are taken
// out of right side and solution: that of minimum norm in the scaled rows of the node.  It does not
// depend on the pivots chosen, so it is smooth along a motion (rank.c).  The rank of each node
// is found once, at configurations on the constraints (`lwi_elim_find_ranks`), and kept: fewer
// directions than that are a singular position (where they may rest, inactive_rows.c), more are drift.
//
// Equal subtrees, as chains in equal pieces have them, are done side by side in lanes of vectors.
//
// Memory is taken at creation; factor and solve allocate nothing.  With a pool they run in
// parallel, level by level or by subtrees; every node does the same work in the same order whoever
// does it: the bits are the same for any number of threads.
#ifndef LWI_ELIMINATION_ELIMINATION_H
#define LWI_ELIMINATION_ELIMINATION_H

#include "elimination/plan.h"
#include "base/threads.h"

/** A pivot (squared sine) above this counts as a new direction when ranks are learnt: rows of
 *  mechanisms that work make angles of 0.1 to 1, redundant rows are off by the drift of positions.
 */
#define LWI_ELIM_RANK 1e-10

typedef enum lwi_elim_strategy { LWI_ELIM_BY_SUBTREE, LWI_ELIM_BY_LEVEL } lwi_elim_strategy;

typedef struct lwi_elim_pivot_info {
    double min;     ///< smallest pivot kept, 1 where there are no rows
    int edge, row;  ///< where it is: edge, row of the edge
    double dropped; ///< largest pivot dropped, 0 where none was
    int dropped_edge;
} lwi_elim_pivot_info;

typedef struct lwi_elim lwi_elim;

/** @param plan  must live as long */
lw_status lwi_elim_create(const lwi_plan *plan, lwi_arena *arena, lwi_elim **elim);
/** Later calls run on the pool's threads (NULL: on the caller's alone). */
lw_status lwi_elim_threads(lwi_elim *elim, lwi_pool *pool, lwi_elim_strategy strategy,
                           lwi_arena *arena);

/** Lanes at once of equal subtrees (lanes.h): 1, 4, 8, 0: the widest of this machine, which is
 *  where it starts; -1: node by node.  The bits do not depend on 1, 4 or 8.
 *  @return false, and nothing changes, where the machine has no such lanes */
bool lwi_elim_lanes(lwi_elim *elim, int width);
/** Room for factors without symmetry as well, as much again: lwi_elim_factor_unsymmetric. */
lw_status lwi_elim_unsymmetric(lwi_elim *elim, lwi_arena *arena);

/** Where J and G of edge e, body number i of the edge, row r stand: at index (plan->slot[e] + i) *
 * 6 + r of arrays [6 * slots][6]; slots = plan->slot[nedge].  The caller fills them. */
double (*lwi_elim_J(lwi_elim *elim))[6];
double (*lwi_elim_G(lwi_elim *elim))[6];

/** Matrix pass from J and G at the ranks learnt (all rows until then).
 *  @param eps  [nrow] >= 0 in the rows' own units (an absolute addition to S_rr), or NULL for 0.
 *              Nodes whose rows all have one are regular: no rank is decided, none dropped
 *  @return LW_ERR_SINGULAR: a kept pivot is not above round-off (lwi_elim_pivots tells where);
 *          LW_ERR_NOT_FINITE */
lw_status lwi_elim_factor(lwi_elim *elim, const double *eps);
/** The same with eps NULL for lwi_elim_pivots alone: nothing can be solved with its factors. */
lw_status lwi_elim_check_pivots(lwi_elim *elim);
/** Matrix pass where K is not symmetric: row r of G is K J_r' (x = x0 + G' lambda as ever, S = J G' +
 *  eps).  About twice the work; solutions then use these factors, until the next matrix pass.  No
 *  rank is decided: every row needs its eps, or must be independent.  Without exchanges of rows,
 *  which is safe where the symmetric part of K is positive: then that of S and of all that is left
 *  of it is, too.  Anything else is an error as a pivot that is lost is.
 *  @return as lwi_elim_factor; LW_ERR_ARGUMENT without lwi_elim_unsymmetric */
lw_status lwi_elim_factor_unsymmetric(lwi_elim *elim, const double *eps);
/** Matrix pass that decides every rank at loop nodes by `threshold` (elsewhere only rows of zeros
 *  are left out), and remembers at each node the larger of this and what was learnt before (until
 *  lwi_elim_clear_ranks).  Returns by `rank` the sum over all nodes as found in this pass.  The factors
 *  are those of this pass. */
lw_status lwi_elim_find_ranks(lwi_elim *elim, double threshold, int *rank);
void lwi_elim_clear_ranks(lwi_elim *elim);
/** The pivots of the last factorisation are usual ones. */
void lwi_elim_set_reference(lwi_elim *elim);
/** May rows rest from now on (at first they may not)?  Those do where loops close and whose pivot is
 *  not above 1e-10 of the smallest that is usual at their node.  The rank of such a matrix pass is
 *  less than the one learnt (inactive_rows.c says what that means); without this the pass fails once the
 *  pivot is round-off. */
void lwi_elim_allow_inactive(lwi_elim *elim, bool may);
/** How many rows rest. */
int lwi_elim_inactive_count(const lwi_elim *elim);
/** What resting rows cannot do of c [nrow]: the largest part of c, in scaled rows, along their null
 *  vectors, by the length of c; 0: no row rests, or all of c can be had.  scratch [nrow]. */
double lwi_elim_unmet(lwi_elim *elim, const double *c, double *scratch);
/** Sum of the ranks that a factorisation keeps. */
int lwi_elim_rank(const lwi_elim *elim);
lwi_elim_pivot_info lwi_elim_pivots(const lwi_elim *elim);
/** Rows of each edge that depend on others, by the last factorisation: [nedge]. */
void lwi_elim_dependent(const lwi_elim *elim, int *dependent);

/** Vector pass.  J is read again where it may have changed since the matrix pass; G is that of the
 *  matrix pass where subtrees are in lanes.
 *  @param x   [nbody][6] in: x0; out: x
 *  @param c   [nrow]
 *  @param lambda [nrow] out
 *  @param refine  steps of iterative refinement with the factors at hand; one makes J x = c to the
 *                 round-off of x itself */
void lwi_elim_solve(lwi_elim *elim, double (*x)[6], const double *c, double *lambda, int refine);

/** The factors of `elim` for a solution on another thread at the same time: with vectors of its own,
 *  on one thread.  After lwi_elim_unsymmetric.  `take` before the solutions that follow a matrix
 *  pass. */
lw_status lwi_elim_view_create(const lwi_elim *elim, lwi_arena *arena, lwi_elim **view);
void lwi_elim_view_take(lwi_elim *view, lwi_elim *elim);

/** What a matrix pass works on, from the plan alone, for estimates of what it costs. */
typedef struct lwi_elim_counts {
    double tasks;   ///< nodes, equal ones in lanes once
    double loops;   ///< of them close loops
    double plain;   ///< multiplications at nodes that close none
    double closing; ///< at those that do, where rows are eliminated with pivots
    double laned;   ///< in lanes, once for all of them
} lwi_elim_counts;
lwi_elim_counts lwi_elim_count(const lwi_elim *elim);

/** How many directions the last factorisation dropped, and null vector number i: J' n = 0 up to
 *  drift; n [nrow], unit length in the scaled rows. */
int lwi_elim_null_count(const lwi_elim *elim);
void lwi_elim_null(lwi_elim *elim, int i, double *n);

#endif
