// min_norm.h -- reactions of minimum norm, and which reactions are unique, by one factorisation.
//
// Redundant rows leave the multipliers of a mechanism undetermined up to n with J' n = 0.  Those of minimum
// norm with the wrenches f = J' lambda on the bodies are lambda = J w, J'J w = f: every joint acts as a spring
// of unit stiffness in its rows.  J'J + a D, D = diag(J'J), has one block of six rows for each body and blocks
// where bodies share a joint, and is factored in these blocks (base/block_cholesky.h).
//
// Use: create; lwi_min_norm_put for every edge and body; factor; solve.  Nothing is allocated after creation.
//
// Large ones are factored by nested dissection (base/block_cholesky_divide.c), and threads share all their work, where
// there may be threads.
#ifndef LWI_SYSTEM_MIN_NORM_H
#define LWI_SYSTEM_MIN_NORM_H

#include "base/threads.h"
#include "elimination/plan.h"

typedef struct lwi_min_norm lwi_min_norm;

/** @param graph    edges and bodies of the mechanism; multipliers are numbered by the rows of its edges in order
 *  @param threads  may follow, lwi_min_norm_threads: large ones are divided for them, and take up to twice as long on one
 *  @return LW_ERR_MEMORY */
lw_status lwi_min_norm_create(const lwi_plan_graph *graph, bool threads, lwi_arena *arena,
                              lwi_min_norm **out);
/** Multiplications of a factorisation. */
double lwi_min_norm_work(const lwi_min_norm *solver);
/** Bodies with rows from which on a solver has work for several threads. */
enum { LWI_MIN_NORM_SHARED = 1000 };
/** Factors and solutions by the threads of a pool from now on; NULL: by the caller's, as at first and of small ones.  The
 *  bits are the same. */
void lwi_min_norm_threads(lwi_min_norm *solver, lwi_pool *pool);
/** J [rows][6] of an edge at its body number i; of several edges at the same time. */
void lwi_min_norm_put(lwi_min_norm *solver, int edge, int i, const double (*J)[6]);
/** Factors from all J.  False: a number is not finite; then solve must not be called. */
bool lwi_min_norm_factor(lwi_min_norm *solver);
/** Axis of the world, 0 to 2, across the plane that the mechanism moves in: the last factorisation is in blocks of 3 x 3.
 *  -1: there is none, blocks are of 6 x 6. */
int lwi_min_norm_axis(const lwi_min_norm *solver);
/** f [nbody][6] := J' lambda. */
void lwi_min_norm_wrenches(lwi_min_norm *solver, const double *lambda, double (*f)[6]);
/** f := J' lambda of one edge, lambda [its rows], on its body number i. */
void lwi_min_norm_wrench(const lwi_min_norm *solver, int edge, int i, const double *lambda,
                         double f[6]);
/** lambda [rows] := the multipliers of minimum norm with J' lambda = f. */
void lwi_min_norm_solve(lwi_min_norm *solver, const double (*f)[6], double *lambda);
/** n [rows] := its part along the null vectors, J' n = 0. */
void lwi_min_norm_null(lwi_min_norm *solver, double *n);

/** Random vectors, with entries up to one, of which the parts along the null vectors show what these change.  One is
 *  enough, unless a component of it happens to be near zero. */
enum { LWI_MIN_NORM_PROBES = 2 };
/** Marks the components of a reaction F that such a part changes: bit i of *undetermined.
 *  @return whether a component is neither clearly changed nor clearly round-off: another vector is needed */
bool lwi_min_norm_mark(const double F[6], unsigned char *undetermined);

#endif
