// assembled.h -- elimination with blocks of the matrix assembled by the caller.
//
// A caller that has the blocks of S = J K J' + eps itself, such as the bodies in lanes of index3, writes them
// to where the elimination needs them, and y = c - J x0 to where the vector pass starts; lambda is found
// there afterwards. J, G, x and c of the elimination are then neither read nor written.
//
// A task can be processed as soon as its blocks and y are written and its children are done:
//
//     lwi_elim_assembled_begin;  lwi_elim_assembled_sweep(true)
//     blocks and y of task u;  lwi_elim_assembled_up(u) ...  children first
//     lwi_elim_assembled_sweep(false);  lwi_elim_assembled_kept
//     lwi_elim_assembled_sweep(true);  lwi_elim_assembled_down(u) ...  parents first;
//     lwi_elim_assembled_sweep(false)
//     lambda
//
// and again for another y.  Several threads can process tasks concurrently, as distributed by
// lwi_elim_assembled_parts at creation.
//
// Every row must have eps > 0 in its diagonal: no rank is decided, and lwi_elim_pivots is not valid for such
// factors.
#ifndef LWI_ELIMINATION_ASSEMBLED_H
#define LWI_ELIMINATION_ASSEMBLED_H

#include "elimination/elimination.h"

/** Number of adjacent lanes. */
enum { LWI_ELIM_ASSEMBLED_LANES = 8 };

/** A block with the rows of edge `row` and the columns of edge `column`, which is not closed before it, at a
 *  body of both: entry (r, c) is R[r * down + c * right]; that of the block with rows and columns exchanged,
 *  S_(column, row), is Q[r * down + c * right] if the matrix is not symmetric. */
typedef struct lwi_elim_assembled_block {
    int row, column;           ///< edges; equal: a diagonal block
    int row_body, column_body; ///< number of the body in each edge
    bool add;                  ///< to be added to another block, of another body of both edges
    double *R, *Q;             ///< Q is NULL without lwi_elim_unsymmetric
    int down, right;
    int task;      ///< task that needs it
    int lane, set; ///< blocks of one set are adjacent, in lanes 0, 1, ...; set < 0: separate
} lwi_elim_assembled_block;

/** y and lambda of an edge: row r is v[r * step]. */
typedef struct lwi_elim_assembled_edge {
    int edge;
    double *v;
    int step;
    int task, lane, set;
} lwi_elim_assembled_edge;

/** Lists all blocks [returned count] and edges [nedge] in the order of the elimination, sets together; with
 *  block or edge NULL only counts.  After lwi_elim_find_ranks; the pointers stay valid. */
int lwi_elim_assembled_list(const lwi_elim *elim, lwi_elim_assembled_block *block,
                            lwi_elim_assembled_edge *edge);
int lwi_elim_assembled_tasks(const lwi_elim *elim);
/** Distributes the tasks over threads: part[tasks] becomes the part 0 ... parts-1 of each task, whole
 *  subtrees of about equal total work; -1: tasks above several parts.  Allocates separate updates for the
 *  batches.
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_assembled_parts(lwi_elim *elim, int parts, int *part, lwi_arena *arena);
/** Schedules the tasks with of[u] < 0, those above several parts: stage[u] of *count, to be processed in this order, and
 *  part[u] in the stage, 0 for all of a small stage.  together[u]: all threads eliminate it together; the stage has no
 *  other tasks.
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_assembled_stages(const lwi_elim *elim, int parts, const int *of, int *stage,
                                    int *part, bool *together, int *count, lwi_arena *scratch);
/** Estimated multiplications of a matrix pass. */
double lwi_elim_assembled_work(const lwi_elim *elim);
/** Sets part[] to -1 for tasks above any task of another part. */
void lwi_elim_assembled_above(const lwi_elim *elim, int *part);
/** Call before blocks are written; clears the entries between them, on the threads of the pool, if not NULL.
 *  @return LW_ERR_UNSUPPORTED: the current state does not match the lists */
lw_status lwi_elim_assembled_begin(lwi_elim *elim, bool symmetric, lwi_pool *pool);
/** To be called with true before a sweep and false after it, by one thread. */
void lwi_elim_assembled_sweep(lwi_elim *elim, bool on);
/** Upward step of a task, after its children: y, and with `matrix` also the factors, by one thread or by a team. */
void lwi_elim_assembled_up(lwi_elim *elim, int task, bool matrix, const lwi_team *team);
/** Downward step of a task, after its parents: lambda. */
void lwi_elim_assembled_down(lwi_elim *elim, int task);
/** @return LW_ERR_SINGULAR: some pivot was lost, the factors are invalid (pass J and G then; lwi_elim_factor
 *  reports the row) */
lw_status lwi_elim_assembled_kept(const lwi_elim *elim);

#endif
