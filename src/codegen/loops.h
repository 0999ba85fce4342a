// loops.h -- the partition of the speeds of loops into independent and dependent ones, chosen once.
//
// Rows are solved block by block: those of some loops for as many dependent speeds y, in terms of speeds z that are
// independent or that blocks before determine,  W_y y + W_z z + gamma = 0.
#ifndef LWI_CODEGEN_LOOPS_H
#define LWI_CODEGEN_LOOPS_H

#include "codegen/closures.h"
#include "codegen/sources.h"

typedef struct lwi_loop_block {
    int *row, nrow;
    int *y, ny; ///< speeds of the tree
    int *z, nz;
    int nmargin; ///< numbers of the function `margins`
    int top;     ///< element on which the messages of all of them are (-1: the ground)
} lwi_loop_block;

typedef struct lwi_loops {
    int n;                 ///< joints that close loops, then couplings
    int m, *first;         ///< rows; [n + 1] the first one of each
    lwi_loop_block *block; ///< [nblock] in the order of solution
    int nblock;
    bool *dependent; ///< [tree nv]
    double
        *norm2; ///< [tree nv] of dependent ones: squared length of its column where it was chosen
    int ndependent;
} lwi_loops;

/** A dependent speed has no pivot below this part of the length of its column at the start: the round-off of the
 *  velocities is then multiplied by as much. */
#define LWI_SMALLEST_PIVOT 1e-4

/** Chooses the partition from the rows at the start and near it.
 *  @param given  NULL; or the partition to take
 *  @return LW_ERR_UNSUPPORTED naming a joint, LW_ERR_MEMORY */
lw_status lwi_partition_create(const lwi_elements *elements, const lwi_partition *given,
                               const lw_allocator *allocator, lwi_arena *arena, lw_error *error);

/** Name of the joint that closes its first loop. */
const char *lwi_block_name(const lwi_elements *elements, const lwi_loop_block *block);

/** Solves  W_y y = -b  of a block for several right-hand sides, in the sense of least squares; checks the pivots.
 *  @param J  [m][tree nv];  @param b  [n][block nrow], overwritten;  @param y  [n][block ny] out
 *  @return LW_ERR_MEMORY */
lw_status lwi_block_solve(lwi_codegen_graph *g, const lwi_elements *elements,
                          const lwi_loop_block *block, const val *J, int n, val *b, val *y,
                          lwi_arena *arena);

/** Squared parts of the dependent motions of a block, in its rows, that are independent of the others, relative to their
 *  lengths, and their squared lengths relative to the mean of the block: 0 where the block has no solution.
 *  @param margin  [2 block ny] out;  @param n  out: how many of them
 *  @return LW_ERR_MEMORY */
lw_status lwi_block_margins(lwi_codegen_graph *g, const lwi_elements *elements,
                            const lwi_loop_block *block, const val *J, val *margin, int *n,
                            lwi_arena *arena);

#endif
