// derivatives.h -- kernels of the derivatives of trees, one table per ISA build; plain loops, the same bits in each.
//
// Speeds are numbered as in the tree.  A run is a sequence of speeds first ... last, each the one before the next on
// the way to the ground: `lower` of speed i is i - 1 inside a run.
#ifndef LWI_TREE_SIMD_DERIVATIVES_H
#define LWI_TREE_SIMD_DERIVATIVES_H

/** Arrays over the speeds, [n + LWI_DERIVATIVE_BLOCK] each, one for each component. */
typedef struct lwi_speed_arrays {
    double *S[6], *rate_w[3], *rate2[6], *drift[6];
} lwi_speed_arrays;

enum { LWI_DERIVATIVE_BLOCK = 8, LWI_DERIVATIVE_ARRAYS = 21, LWI_DERIVATIVE_COLUMNS = 32 };

/** What a speed i contributes to its column (q, v) and to its row (IS, Bt); derivatives.c. */
typedef struct lwi_speed_terms {
    double q[6], v[6], IS[6], Bt[3];
} lwi_speed_terms;

/** Entries of row i and, transposed, of column i, at the index of the other speed. */
typedef struct lwi_speed_entries {
    double *row_q, *row_v, *M, *column_q, *column_v;
} lwi_speed_entries;

typedef struct lwi_derivative_kernels {
    /** The entries of speeds first ... first + count - 1. */
    void (*entries)(const lwi_speed_arrays *arrays, const lwi_speed_terms *terms, int first,
                    int count, lwi_speed_entries entries);
    /** M = L'L; M [n][n], its lower triangle is read and becomes L, with inverse diagonal.
     *  @param lower  [n] next lower speed on the way to the ground, -1: none;  @param run  [n] first of its run
     *  @return -1, or the first speed with a pivot that is not positive */
    int (*factor)(int n, const int *lower, const int *run, double *M);
    /** X := scale M^-1 X for X [n][n] with the factor L.  @param block  scratch [n][LWI_DERIVATIVE_COLUMNS] */
    void (*solve)(int n, const int *lower, const double *L, double scale, double *X, double *block);
} lwi_derivative_kernels;

#endif
