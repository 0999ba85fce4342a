// dense.h -- dense symmetric elimination in panels, shared by a team.
//
//     A = L D L',  by the upper triangle of A: row k becomes row k of L', with 1/D on the diagonal
//
// A panel of PANEL rows is eliminated by one thread, each row when it becomes the pivot; only the diagonal behind it is
// changed at once.  What takes more follows, shared by the team: the exchanges in the rows before the panel, and the rows
// behind it, a product of dense blocks in vector lanes (simd/dense.inl).  An entry has the same operations in the same order
// for any team and any lanes.                                                                     [golub2013, 4.2]
#ifndef LWI_ELIMINATION_DENSE_H
#define LWI_ELIMINATION_DENSE_H

#include "elimination/dense_blocks.h"
#include "elimination/lanes.h"

/** C -= s A diag(d) B, without kernels in pairs: sums of rows of B. */
LWI_INLINE void lwi_elim_dense_subtract(const lwi_elim_kernels *kernels, const lwi_elim_product p)
{
    if (kernels) {
        kernels->subtract(&p);
        return;
    }
    for (int i = 0; i < p.m; i++) {
        const int first = p.above < 0 ? 0 : i + p.above;
        for (int q = 0; q < p.k && first < p.n; q++) {
            const double x = p.s * p.A[i * p.down + q * p.right];
            lwi_subtract(p.n - first, p.d ? x * p.d[q * p.step] : x, p.B + q * p.lb + first,
                         p.C + i * p.lc + first);
        }
    }
}

/** Some rows of a symmetric product, of those of one thread: its rows become shorter, so strips are dealt forth and back. */
typedef struct lwi_elim_strip {
    int at, n; ///< n = 0: no more
    int rows, height, turn;
    const lwi_team *team;
} lwi_elim_strip;
lwi_elim_strip lwi_elim_first_strip(int rows, const lwi_team *team);
void lwi_elim_next_strip(lwi_elim_strip *strip);

typedef struct lwi_elim_dense {
    const lwi_elim_kernels *kernels; ///< NULL: pairs
    int n, ld;
    double *A; ///< [n][ld]; of the last row, what is left of the diagonal is scratch
    int *
        swap; ///< [n] row and column k were exchanged with these before step k; NULL: they are not noted
    int *
        perm; ///< [n] the same as a permutation, or NULL; neither: no exchanges.  Without `swap` only the matrix behind
    ///< the pivots is exchanged, not the rows of L' of earlier panels
    double min,
        max; ///< the largest pivot is taken while it is above min and at most max; with exchanges only
} lwi_elim_dense;

/** Eliminates up to `rank` rows; all parts of the team call it together.  Rows are D L' until lwi_elim_dense_scale.
 *  @param rest     whether the matrix behind the pivots is needed; otherwise its diagonal alone is right
 *  @param reached  shared by the team, the number of pivots so far; NULL: no pivot fails
 *  @return the number of pivots */
int lwi_elim_dense_eliminate(const lwi_elim_dense *A, int rank, bool rest, int *reached,
                             const lwi_team *team);
/** The first `rank` rows become those of L', columns k + 1 ... n - 1. */
void lwi_elim_dense_scale(const lwi_elim_dense *A, int rank, const lwi_team *team);

/** X [n][columns] := L^-1 X, and L'^-1 X; L' [n][ll] as above, of unit diagonal. */
void lwi_elim_dense_forward(const lwi_elim_kernels *kernels, int n, const double *L, int ll,
                            int columns, double *X, int lx);
void lwi_elim_dense_backward(const lwi_elim_kernels *kernels, int n, const double *L, int ll,
                             int columns, double *X, int lx);
/** X := A^-1 X. */
void lwi_elim_dense_solve(const lwi_elim_kernels *kernels, int n, const double *L, int ll,
                          int columns, double *X, int lx);
/** The same of one vector. */
void lwi_elim_dense_solve_vector(int n, const double *L, int ll, double *x);

#endif
