// eigen.h -- eigenvalues of dense matrices.  All functions work in memory of the caller; none allocates.
#ifndef LWI_BASE_EIGEN_H
#define LWI_BASE_EIGEN_H

#include <stdbool.h>

/** Eigenvalues of a symmetric matrix, rising, with orthonormal eigenvectors, by Jacobi's rotations [golub2013, 8.5].
 *  @param A  [n][n] in: both triangles are read; destroyed
 *  @param w  [n] out
 *  @param V  [n][n] out: row i is the eigenvector of w[i]
 *  @cost O(n^3) */
void lwi_eigen_symmetric(int n, double *A, double *w, double *V);

/** The same by a tridiagonal form and QL iterations [golub2013, 8.3], some ten times faster.  Round-off of the largest
 *  eigenvalue is in all of them: Jacobi's are more accurate where some are far smaller than others.
 *  @param scratch  [n]
 *  @return false: an eigenvalue did not converge, or A is not finite; w and V are then not valid */
bool lwi_eigen_symmetric_ql(int n, double *A, double *w, double *V, double *scratch);

/** Eigenvalues re + i im of any real matrix, by QR iterations with two shifts on its Hessenberg form, after balancing
 *  [golub2013, 7.5].  Complex conjugates are neighbours, the one with the positive imaginary part first.
 *  @param A  [n][n] in; destroyed
 *  @param scratch  [n]
 *  @return false: an eigenvalue did not converge, or A is not finite; re and im are then not valid
 *  @cost O(n^3) */
bool lwi_eigen_values(int n, double *A, double *re, double *im, double *scratch);

/** The eigenvector x + i y of an eigenvalue of A, of norm 1, by inverse iteration.
 *  @param A  [n][n]     @param start  0, 1, ...: other first vectors, for several vectors of one eigenvalue
 *  @param scratch  [2 n (n + 1)]     @param x, y  [n] out     @cost O(n^3) */
void lwi_eigen_vector(int n, const double *A, double re, double im, int start, double *scratch,
                      double *x, double *y);

#endif
