// derivatives.h -- kernels of the derivatives of trees, one table per ISA build; plain loops, the same bits in each.
//
// Speeds are numbered as in the tree.  A run is a sequence of speeds first ... last, each the one before the next on
// the way to the ground: `lower` of speed i is i - 1 inside a run.
#ifndef LWI_TREE_SIMD_DERIVATIVES_H
#define LWI_TREE_SIMD_DERIVATIVES_H

#include "tree/screws.h"

/** Arrays over the speeds, [n + LWI_DERIVATIVE_BLOCK] each, one for each component. */
typedef struct lwi_speed_arrays {
    double *S[6], *rate_w[3], *rate2[6], *drift[6];
} lwi_speed_arrays;

enum { LWI_DERIVATIVE_BLOCK = 8, LWI_DERIVATIVE_ARRAYS = 21, LWI_DERIVATIVE_COLUMNS = 32 };
#define LWI_DERIVATIVE_STRIDE(n)                                                                   \
    ((3 * (n) + 7) / 8 * 8) // columns of three matrices, for whole registers

/** The articulated inertia I_A outboard of a speed against its screw S: Y = r I_A S, r = (S'I_A S + rotor)^-1/2; world
 *  axes about the world's origin. */
typedef struct lwi_articulated_speed {
    double S[6], Y[6], r;
} lwi_articulated_speed;

typedef struct lwi_articulated_tree {
    int n;
    const int *lower;             ///< [n] next lower speed on the way to the ground, -1: none
    lwi_articulated_speed *speed; ///< [n]
    unsigned char *branches; ///< [n] 1: it is the next lower speed of another than the one after it
    double *block;           ///< [n][LWI_DERIVATIVE_COLUMNS]
    double *load;            ///< [n][6][LWI_DERIVATIVE_COLUMNS] of speeds with branches
} lwi_articulated_tree;

/** Mass, first moment and inertia about the world's origin of a subtree, world axes; the matrix B of velocities; the
 *  wrench that inertia needs. */
typedef struct lwi_subtree {
    double m, h[3], J[6];
    double p[3];  ///< linear momentum: the upper half of B is -2 p x
    double Ba[9]; ///< lower half of B, which acts on angular velocities
    double f[6];
} lwi_subtree;

/** What a speed i contributes to its column (q, v) and to its row (IS, Bt); derivatives.c. */
typedef struct lwi_speed_terms {
    double q[6], v[6], IS[6], Bt[3];
    double tilt[6]; ///< S x* f of the subtree
} lwi_speed_terms;

/** Matrices [n][n]: entries of row i and, transposed, of column i, at the index of the other speed. */
typedef struct lwi_speed_entries {
    double *row_q, *row_v, *M, *column_q, *column_v;
} lwi_speed_entries;

typedef struct lwi_derivative_kernels {
    /** The bodies of nodes alone, with link frames (R, r); then sums over those outboard. */
    void (*find_subtrees)(const lw_model *model, const lwi_screws *screws, double (*R)[9],
                          double (*r)[3], lwi_subtree *subtree);
    void (*sum_subtrees)(const lw_model *model, lwi_subtree *subtree);
    /** S, psi, psi2 and drift of all speeds.  @param rate  psi again */
    void (*fill_speeds)(const lw_model *model, const lwi_screws *screws,
                        const lwi_speed_arrays *arrays, double (*rate)[6]);
    void (*fill_terms)(const lw_model *model, const lwi_screws *screws, const lwi_subtree *subtree,
                       const lwi_speed_arrays *arrays, double (*rate)[6], lwi_speed_terms *terms);
    /** Entries of all speeds on the way from each to the ground; those of M only where it is not NULL.
     *  @param next, run  [n] of lwi_tree_derivatives: next, next_run */
    void (*entries)(int n, const int *next, const int *run, const lwi_speed_arrays *arrays,
                    const lwi_speed_terms *terms, const lwi_speed_entries *entries);
    /** to[k][i] := from[i][k] for the speeds k on the way from speed i to the ground, [n][n]. */
    void (*mirror)(int n, const int *next, const int *run, const double *from, double *to);
    /** M = L'L; M [n][n], its lower triangle is read and becomes L, with inverse diagonal.
     *  @param lower  [n] next lower speed on the way to the ground, -1: none;  @param run  [n] first of its run
     *  @return -1, or the first speed with a pivot that is not positive */
    int (*factor)(int n, const int *lower, const int *run, double *M);
    /** X[0] := -M^-1 X[0], X[1] the same, inverse := M^-1, all [n][n], with the factor L.
     *  @param block  scratch [n][LWI_DERIVATIVE_STRIDE(n)] */
    void (*solve)(int n, const int *lower, const double *L, double *const X[2], double *inverse,
                  double *block);
    /** X := scale M^-1 X for X [n][n], in O(n) for each column. */
    void (*solve_articulated)(const lwi_articulated_tree *tree, double scale, double *X);
    /** X := M^-1 [n][n], in half the time, symmetric to the bit. */
    void (*inverse_articulated)(const lwi_articulated_tree *tree, double *X);
    /** Y += A X;  A [rows][inner], X [inner][n], Y [rows][n], none of which overlap. */
    void (*multiply)(int rows, int inner, int n, const double *A, const double *X, double *Y);
} lwi_derivative_kernels;

/** Those of an ISA build (lwi_isa of base/cpu.h); NULL: the library has none.  All give the same bits. */
const lwi_derivative_kernels *lwi_derivative_kernels_of(int isa);

#endif
