// linear.h -- dense linear algebra of small and middle size: products, Cholesky, pivoted QR,
// complete orthogonal decomposition.  All functions work in memory of the caller; none allocates.
#ifndef LWI_BASE_LINEAR_H
#define LWI_BASE_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

/** a . b of n numbers, summed in order. */
static inline double lwi_dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// ------------------------------------------------------------------------------------- Cholesky

/** A = L L' of a symmetric positive definite matrix A [n][n]; only its lower triangle is read and
 *  becomes L, the upper one is unchanged.
 *  @param min_pivot  the pivots (squares of L's diagonal) must be above it
 *  @return -1, or the index of the first pivot that is not; A is then invalid */
int lwi_cholesky(int n, double *A, double min_pivot);
/** b := L^-1 b and b := L'^-1 b. */
void lwi_lower_solve(int n, const double *L, double *b);
void lwi_lower_tsolve(int n, const double *L, double *b);

// ------------------------------------------------------- complete orthogonal decomposition (COD)

/** A P = Q [T 0; 0 0] Z for A [n x m] of numerical rank r: Q, Z orthogonal, T upper triangular of
 *  order r, P a permutation.  It solves least-squares and minimum-norm problems with A and A'.
 *
 *  Entries should be of ordinary size (the squares neither overflow nor underflow). */
typedef struct lwi_cod {
    int n, m, rank;
    double *a;    ///< [m][n] columns of A in; reflectors of Q, T and reflectors of Z out
    double *tau;  ///< [min(n, m)] scales of the reflectors of Q
    double *zeta; ///< [min(n, m)] scales of the reflectors of Z
    double *norm; ///< [m]
    double *work; ///< [m]
    int *pivot;   ///< [m] column j of A P is column pivot[j] of A
    double small; ///< last pivot kept, relative to the first; 1 where the rank is 0
    double next;  ///< first pivot dropped, relative to the first; 0 where none was
} lwi_cod;

/** Number of doubles that a decomposition needs in addition to `a` (m * n) and `pivot` (m). */
size_t lwi_cod_doubles(int n, int m);
/** Places the decomposition in the caller's memory; `rest` has lwi_cod_doubles numbers. */
void lwi_cod_init(lwi_cod *cod, int n, int m, double *a, double *rest, int *pivot);
/** Factors the columns in cod->a.
 *  @param rank   number of pivots to keep, at most min(n, m); negative: those above `threshold`
 *                times the largest column
 *  Pivots that are exactly zero are never kept; cod->rank is the result. */
void lwi_cod_factor(lwi_cod *cod, int rank, double threshold);

/** Minimum-norm least-squares solution of A x = b; b [n] is destroyed, x [m]. */
void lwi_cod_solve(lwi_cod *cod, double *b, double *x);
/** Minimum-norm least-squares solution of A' y = c; c [m], y [n]. */
void lwi_cod_solve_t(lwi_cod *cod, const double *c, double *y);
/** All of lwi_cod_solve_t at once: y = Y c.  @param Y  [n][m] out; scratch [m][m] */
void lwi_cod_inverse_t(lwi_cod *cod, double *scratch, double *Y);
/** The point y nearest to f with A' y = c, and its multipliers:
 *      y + A lambda = f,  A' y = c
 *  where A' y = c is solved in the sense of least squares and lambda has minimum norm.
 *  @param y  in: f; out: y [n]       @param lambda  in: c; out: lambda [m] */
void lwi_cod_nearest(lwi_cod *cod, double *y, double *lambda);
/** y := Q y or Q' y [n].  Columns r.. of Q span the null space of A'. */
void lwi_cod_q(const lwi_cod *cod, bool transposed, double *y);
/** Orthonormal basis of the null space of A: N [m - r][m]. */
void lwi_cod_null(lwi_cod *cod, double *N);

// ------------------------------------------------------------------------------- orthonormal sets

/** Removes from v [n] its projection on the span of the orthonormal `basis` [count][n], twice because of
 *  round-off, and returns the norm of the result. */
double lwi_reject(int n, int count, const double *basis, double *v);
/** Makes the rows of `rows` [count][n] orthonormal in place; they must be independent. */
void lwi_orthonormalize(int n, int count, double *rows);

#endif
