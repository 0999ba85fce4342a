// block_cholesky.h -- sparse Cholesky factorisation of symmetric positive definite matrices in blocks of 6 x 6.
//
// Blocks are numbered in the order of their elimination.  Which of them differ from zero, and which fill in, is found once;
// a factorisation has numbers only.  For matrices with few blocks in a column, as those of bodies in rows of loops.
//
// Large matrices may be divided for threads (block_cholesky_divide.c): into pieces of columns, in stages.  Pieces of one stage
// do not act on each other.  In each stage all columns are first changed by the columns of earlier pieces, then every piece is
// factored alone.  The pieces depend on the matrix only, and so do all bits.
//
// Matrices without entries between three of the unknowns of each block and the other three, as of motions in a plane and
// across it, are two matrices in blocks of 3 x 3, with an eighth of the multiplications each.  Their blocks lie in those of
// 6 x 6: entry (r, c) of half 0 or 1 at 9 half + 3 c + r.
#ifndef LWI_BASE_BLOCK_CHOLESKY_H
#define LWI_BASE_BLOCK_CHOLESKY_H

#include "base/base.h"
#include "base/pair.h"
#include "base/threads.h"

typedef struct lwi_block_cholesky {
    int n;
    int *first;          ///< [n + 1] first block below the diagonal of each column
    int *row;            ///< [first[n]] row of each, ascending in a column
    double (*below)[36]; ///< [first[n]] entry (r, c) of each at 6 c + r; A in, L out
    double (
        *diagonal)[36]; ///< [n] the same, lower triangles; L with the reciprocals of its diagonal
    // pieces
    int npiece, nstage;
    int *stage;  ///< [nstage + 1] first piece of each stage
    int *piece;  ///< [npiece + 1] first of each piece in `column`
    int *column; ///< [n] the columns of all pieces, ascending in each
    int *inside; ///< [n] end of the blocks of a column with rows in its piece, which come first
    int *from;   ///< [n + 1] first of each column in `acting`
    int (*acting)
        [2]; ///< [from[n]] blocks of other pieces in the row of a column, and their columns, ascending
    double *work, *gathered; ///< [n + 1] multiplications of the pieces' own part in the first
        ///< columns of `column`, and of what acts on these columns from other pieces
} lwi_block_cholesky;

/** @param n     number of block rows
 *  @param pair  [npair] row > column of the blocks below the diagonal that differ from zero, in any order; several may be
 *               the same
 *  @return LW_ERR_MEMORY */
lw_status lwi_block_cholesky_create(int n, int npair, const int (*pair)[2], lwi_arena *arena,
                                    lwi_block_cholesky *A);
/** Divides the columns into pieces: subtrees with small parts of the work, and above them columns by levels.  All in one piece
 *  before.  Changes the order of additions.
 *  @return LW_ERR_MEMORY */
lw_status lwi_block_cholesky_divide(lwi_arena *arena, lwi_block_cholesky *A);
/** Index in `below` of one of these blocks. */
int lwi_block_cholesky_find(const lwi_block_cholesky *A, int row, int column);
/** Sets all blocks to zero. */
void lwi_block_cholesky_clear(lwi_block_cholesky *A);
/** A = L L'.  False, in the part of the team that found it: a pivot is not positive, or no number.  All of this and of the
 *  following: the parts of a team call it together, what they have written before is seen in it, and what it writes after
 *  it; the same bits for any number of parts. */
bool lwi_block_cholesky_factor(lwi_block_cholesky *A, const lwi_team *team);
/** x [n][6] := A^-1 x. */
void lwi_block_cholesky_solve(const lwi_block_cholesky *A, const lwi_team *team, double (*x)[6]);
/** The same of one half. */
bool lwi_block_cholesky_factor_half(lwi_block_cholesky *A, int half, const lwi_team *team);
/** @param at  which three of the six entries of x are those of the half */
void lwi_block_cholesky_solve_half(const lwi_block_cholesky *A, int half, const int at[3],
                                   const lwi_team *team, double (*x)[6]);
/** Multiplications of a factorisation in blocks of 6 x 6, in the pieces and columns of a part of a team. */
double lwi_block_cholesky_share(const lwi_block_cholesky *A, const lwi_team *team);
/** All multiplications. */
double lwi_block_cholesky_work(const lwi_block_cholesky *A);
/** The same of one column, what it does to others included. */
double lwi_block_cholesky_column_work(const lwi_block_cholesky *A, int column);

/** a . b of six numbers. */
static inline double lwi_dot6(const double a[6], const double b[6])
{
    const lwi_pair sum = lwi_pair_load(a) * lwi_pair_load(b) +
                         lwi_pair_load(a + 2) * lwi_pair_load(b + 2) +
                         lwi_pair_load(a + 4) * lwi_pair_load(b + 4);
    return sum[0] + sum[1];
}

#endif
