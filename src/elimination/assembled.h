// assembled.h -- the engine with the matrix itself from the caller.
//
// Where the caller has the blocks of S = J K J' + eps at hand, as leaves in lanes have them, it writes
// them to where the elimination wants them, and y = c - J x0 to where the vector pass begins; lambda
// is found there afterwards.  J, G, x and c of the engine are then neither read nor written.
//
// Units are done as soon as their blocks and y are there, one after the other, while these are at hand:
//
//     lwi_elim_assembled_begin;  lwi_elim_assembled_sweep(true)
//     blocks and y of unit u;  lwi_elim_assembled_up(u) ...  children first
//     lwi_elim_assembled_sweep(false);  lwi_elim_assembled_kept
//     lwi_elim_assembled_sweep(true);  lwi_elim_assembled_down(u) ...  parents first;  lwi_elim_assembled_sweep(false)
//     lambda
//
// and again for another y.  Several threads can do units at a time where lwi_elim_assembled_parts said at
// creation which.
//
// Every row must have an eps > 0 in its diagonal: no rank is decided, and lwi_elim_pivots tells nothing of
// such factors.
#ifndef LWI_ELIMINATION_ASSEMBLED_H
#define LWI_ELIMINATION_ASSEMBLED_H

#include "elimination/elimination.h"

/** Lanes of numbers that stand side by side. */
enum { LWI_ELIM_ASSEMBLED_LANES = 8 };

/** A block of rows of edge `row` and columns of edge `column`, which is closed not before it, at a
 *  body of both: entry (r, c) stands at R[r * down + c * right], that of the block with rows and
 *  columns exchanged, S_(column, row), at Q[r * down + c * right] where the matrix is not symmetric. */
typedef struct lwi_elim_assembled_block {
    int row, column;           ///< edges; the same: a diagonal block
    int row_body, column_body; ///< number of the body in each of them
    bool add;                  ///< another block has been written there: of another body of both
    double *R, *Q;             ///< Q NULL without lwi_elim_unsymmetric
    int down, right;
    int task;      ///< which needs it
    int lane, set; ///< blocks of one set stand side by side, in lanes 0, 1, ...; set < 0: alone
} lwi_elim_assembled_block;

/** y and lambda of an edge: row r at v[r * step]. */
typedef struct lwi_elim_assembled_edge {
    int edge;
    double *v;
    int step;
    int task, lane, set;
} lwi_elim_assembled_edge;

/** How many blocks there are; lists [count], [nedge] in the order of the elimination, sets together.
 *  They hold as long as the engine; after lwi_elim_find_ranks at creation.  With lists NULL it counts. */
int lwi_elim_assembled_list(const lwi_elim *elim, lwi_elim_assembled_block *block,
                            lwi_elim_assembled_edge *edge);
int lwi_elim_assembled_tasks(const lwi_elim *elim);
/** For threads: part[units] becomes the part, 0 ... parts-1, of each unit, whole subtrees of about as
 *  much work in all; -1: of what stands above several.  Units then leave what they leave in room of
 *  their own. */
lw_status lwi_elim_assembled_parts(lwi_elim *elim, int parts, int *part, lwi_arena *arena);
/** Multiplications of a matrix pass, near enough. */
double lwi_elim_assembled_work(const lwi_elim *elim);
/** -1 for units that stand above any of another part. */
void lwi_elim_assembled_above(const lwi_elim *elim, int *part);
/** Before blocks are written: zeros between them.
 *  @return LW_ERR_UNSUPPORTED: not as the lists have it */
lw_status lwi_elim_assembled_begin(lwi_elim *elim, bool symmetric);
/** Around a sweep, by one thread. */
void lwi_elim_assembled_sweep(lwi_elim *elim, bool on);
/** y, with `matrix` the factors too, of a unit whose children are done. */
void lwi_elim_assembled_up(lwi_elim *elim, int task, bool matrix);
/** lambda of a unit whose parents are done. */
void lwi_elim_assembled_down(lwi_elim *elim, int task);
/** @return LW_ERR_SINGULAR: some pivot is not beyond doubt, the factors are void (the caller gives J
 *  and G then, and the engine says which) */
lw_status lwi_elim_assembled_kept(const lwi_elim *elim);

#endif
