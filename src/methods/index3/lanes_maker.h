// lanes_maker.h -- creation of a step of index3 in lanes: state shared by lanes.c (blocks), lanes_order.c (order of
// items) and lanes_constants.c (constants of blocks).
#ifndef LWI_METHODS_INDEX3_LANES_MAKER_H
#define LWI_METHODS_INDEX3_LANES_MAKER_H

#include "methods/index3/fallback.h"

/** Kinds of blocks of single joints and pairs: by axis rows, or by the numbers of rows. */
enum { LWI_INDEX3_BLOCK_KINDS = 9 + 2 * (LWI_INDEX3_MAX_ROWS + 1) * (LWI_INDEX3_MAX_ROWS + 1) };

/** State of the creation; blocks are filled lane by lane. */
typedef struct lwi_index3_lane_maker {
    const lwi_index3 *d;
    lwi_index3_lanes *s;
    lwi_arena arena; ///< temporary
    lwi_elim_assembled_block *block;
    lwi_elim_assembled_edge *edge;
    int *pair_of; ///< [nblock] -1: a diagonal one
    int nblock, nedge;
    int threads;                      ///< at most
    bool *full;                       ///< [nnode] K is full
    bool *mixed;                      ///< [nedge] rows of all kinds
    bool *shares_mixed, *shares_full; ///< [nblock] one of its edges is mixed; K of its body is full
    int open
        [LWI_INDEX3_BLOCK_KINDS]; ///< block of single ones of each kind with free lanes, -1: none
} lwi_index3_lane_maker;

/** The joint of an edge; NULL: a coupling, a force. */
const lwi_joint *lwi_index3_lane_joint_of(const lwi_system *s, int e);
/** Number of axis rows of an edge with point rows and axis rows only; -1: it has other rows. */
int lwi_index3_lane_axis_rows(const lwi_system *s, int e);
/** Node of an edge at a side; -1: the ground, or no such side. */
int lwi_index3_lane_node(const lwi_system *s, int edge, int side);
/** Lists all items in the order of a pass, with the places and tasks of the threads (lanes_order.c).
 *  @return LW_ERR_MEMORY */
lw_status lwi_index3_lane_order(lwi_index3_lane_maker *m, lwi_arena *arena);
/** Constants of bodies and edges, and their offsets in x (lanes_constants.c).
 *  @return LW_ERR_MEMORY */
lw_status lwi_index3_lane_constants(const lwi_index3 *d, lwi_arena *arena, lwi_index3_lanes *s);

#endif
