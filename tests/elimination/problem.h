// problem.h -- random graphs of every kind with numbers, and their solution by dense linear algebra.
#ifndef LW_TEST_PROBLEM_H
#define LW_TEST_PROBLEM_H

#include "elimination/elimination.h"

/** Bodies and edges in growing arrays; numbers by slot as in the elimination. */
typedef struct problem {
    lwi_plan_graph graph;
    lwi_plan_edge *edge;
    int room, nrow, nslot;
    int *row, *slot;         ///< [nedge + 1] as in a plan
    double (*K)[6][6];       ///< [nbody] metric
    double (*J)[6], (*G)[6]; ///< [6 * nslot]
    double (*x0)[6];         ///< [nbody]
    double *c;               ///< [nrow] J (something): consistent at any rank
} problem;

void problem_init(problem *p, int nbody);
void problem_free(problem *p);
/** @param n  number of bodies that follow as arguments; ground: also on the ground */
void problem_edge(problem *p, int rows, bool ground, int n, const int *body);

/** Random positive definite metrics, rows, x0 and a consistent right side. */
void problem_numbers(problem *p);
/** The same with the current J: G = J K, c = J x for a random x. */
void problem_right_side(problem *p);

// graphs; `rows` of every edge
void problem_chain(problem *p, int n, int rows);
/** Body b is attached to a random body before it; rows 1..6 random. */
void problem_tree(problem *p, int n);
/** A tree and `extra` edges of 1 row of 2 to 4 bodies. */
void problem_loops(problem *p, int n, int extra);
void problem_ladder(problem *p, int rungs, int rows);
void problem_grid(problem *p, int w, int h, int rows);
void problem_star(problem *p, int branches, int length, int rows);

/** Planar mechanism of n parallel posts on the ground, joined at their tops by couplers, all joints
 *  revolute (5 rows) with axis z: rank deficient by 3 for each of the n-1 loops.  Every post leans
 * by `angle`. */
void problem_four_bars(problem *p, int posts, double angle);

double problem_uniform(void); ///< in [-1, 1]
void problem_seed(unsigned seed);

/** Copies J and G to an elimination. */
void problem_load(const problem *p, lwi_elim *elim);
/** max |J x - c - eps lambda ...| of all rows, relative to sum |J||x| + |c|; eps may be NULL. */
double problem_residual(const problem *p, double (*x)[6], const double *eps, const double *lambda);
/** max |J' n| over bodies relative to sum |J||n|. */
double problem_null_error(const problem *p, const double *n);
/** S_rr of all rows. */
void problem_diagonal(const problem *p, double *S);

/** x and rank by complete orthogonal decomposition of K^1/2 J' (columns scaled to length one);
 * lambda of minimum norm in the scaled rows.  Returns the smallest singular direction kept,
 * relative. */
double problem_dense(const problem *p, double (*x)[6], double *lambda, int *rank);

#endif
