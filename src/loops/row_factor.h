// row_factor.h -- rows of cut joints in the factors of the tree, side by side in lanes, and their decomposition where
// none is redundant.
//
// E = J W N'^-1 (cut.h) has a row for each row of the closures and a column for each speed.  E' [n][m] is stored with
// its rows one after the other in blocks of eight lanes, so that one inward sweep computes eight rows, of several loops.
//
//     E' = Q R,  Q'Q = D diagonal,  R unit upper triangle          modified Gram-Schmidt [golub2013, 5.2.8]
//     y := y + Q D^-1 (R'^-1 c - Q'y)                                 the y nearest to the one before with E y = c
//
// Products and sums are not fused, and each lane has its own: the same bits in every build.
// Cost: O(n m) for the rows, O(n m^2) for the decomposition, O(n m) for a solution.
#ifndef LWI_LOOPS_ROW_FACTOR_H
#define LWI_LOOPS_ROW_FACTOR_H

#include "base/simd/lanes.h"
#include "loops/cut.h"

typedef struct lwi_row_kernels lwi_row_kernels;

typedef struct lwi_row_factor {
    const lwi_row_kernels *kernels;
    int n, m, nblock;  ///< speeds, rows, blocks of rows
    lwi_lanes *E;      ///< [n][nblock] E', then Q; zero in lanes beyond the last row
    lwi_lanes *R;      ///< [m][nblock] above the diagonal; else zero
    lwi_lanes *D;      ///< [nblock] 1 / diagonal of D; zero beyond the last row
    lwi_lanes *c, *h;  ///< [nblock] right-hand side; coefficients of Q
    double *column;    ///< [n] scratch
    lwi_lanes (*f)[6]; ///< [nnode] wrenches of the rows of a block
    bool *reached;     ///< [nnode] these are not zero
} lwi_row_factor;

struct lwi_row_kernels {
    /** Wrenches f of a block inward from node `top`, and the rows E of the speeds; clears `reached`. */
    void (*inward)(const lw_model *model, const lwi_link *link, const lwi_articulated *node,
                   const lwi_row_factor *rows, int top, int block);
    /** Q, R, D of E'.  @return the smallest length of a column of Q relative to the largest; 0: columns are dependent */
    double (*factor)(const lwi_row_factor *rows);
    /** y [n] as above, from c; h. */
    void (*nearest)(const lwi_row_factor *rows, double *y);
};

/** Those of an ISA build; NULL if there is none. */
const lwi_row_kernels *lwi_row_kernels_of(int isa);

/** Memory for the rows of a cut.  @return LW_ERR_MEMORY */
lw_status lwi_row_factor_create(const lwi_cut *cut, lwi_arena *arena, lwi_row_factor *rows);
/** Rows of length one, and their decomposition; after lwi_cut_rows with the factors in `node`.
 *  @return as factor of the kernels */
double lwi_row_factor_place(lwi_row_factor *rows, const lwi_cut *cut, const lwi_tree_work *tree,
                            const lwi_articulated *node);
/** y [n] := the nearest with E y = c [m]. */
void lwi_row_factor_nearest(const lwi_row_factor *rows, const double *c, double *y);
/** lambda [m]: E' lambda is what lwi_row_factor_nearest has taken from y. */
void lwi_row_factor_multipliers(const lwi_row_factor *rows, double *lambda);

#endif
