// lanes.h -- equal subtrees of a plan side by side.
//
// Subtrees of the same shape (fronts, edges, blocks, children) do the same operations on different
// numbers.  Up to LWI_ELIM_LANES of them are a bundle: node i of each stands in lane 0, 1, ... of
// group i.  Numbers of a group are blocks x[entry][lane] whatever the width of the machine, lanes
// that are not needed repeat the last.  What a lane computes does not depend on the others nor on
// the width: which nodes are in groups follows from the plan alone.
//
// The text (lanes.c) is compiled for several instruction sets, as src/tree/simd is.  It takes nodes
// where nothing is decided: no loop closes, at most six rows.  A pivot that is lost anywhere makes
// the engine do the whole pass again node by node, which then says what is wrong.
#ifndef LWI_ELIMINATION_LANES_H
#define LWI_ELIMINATION_LANES_H

#include "elimination/parts.h"

typedef double lwi_elim_lane[LWI_ELIM_LANES];

/** Rows of an edge at a body: where they come from, where they are in the group. */
typedef struct lwi_elim_batch_slot {
    int from[LWI_ELIM_LANES]; ///< slots
    int body[LWI_ELIM_LANES]; ///< of those that belong to edges closed here
    int at, m;                ///< first row, rows
} lwi_elim_batch_slot;

typedef struct lwi_elim_batch_edge {
    int row[LWI_ELIM_LANES]; ///< first, in the graph's order
    int at, m;               ///< first row in the front, rows
    int slot, n;             ///< first slot of the group, slots
} lwi_elim_batch_edge;

/** A block J G' of the front. */
typedef struct lwi_elim_batch_block {
    int J, G; ///< first rows
    int at;   ///< place in R
    int m, n;
    bool add, upper; ///< upper: a diagonal block, whose upper triangle is enough
} lwi_elim_batch_block;

typedef struct lwi_elim_batch_child {
    const struct lwi_elim_batch *batch;
    const lwi_elim_move *move;
    int nmove;
} lwi_elim_batch_child;

/** A node that closes one edge of m rows and leaves n of as many open, each of which one child has at
 *  most; every child has the closed one first (join.inl). */
typedef struct lwi_elim_join {
    int m, n;     ///< m 0: not such a node
    bool own[2];  ///< the matrix itself has a block beside the diagonal, of closed and open edge
    int from[2];  ///< child that has the open edge as its second, -1: none
    int above[2]; ///< place of the open edges in the parent's front
} lwi_elim_join;

typedef struct lwi_elim_batch {
    // what every pass reads, side by side
    int lanes, nc, no, nchild;
    double min_pivot; ///< a pivot below this share of its S_rr is lost
    bool bare, clear;
    bool failed;                  ///< a pivot was lost
    lwi_elim_lane *R, *U, *Q, *V; ///< R, Q [nc][nc + no], U, V [no][no] (upper, for the parent)
    lwi_elim_lane *v, *S;         ///< [nc + no], [nc]
    lwi_elim_batch_child *child;
    const struct lwi_elim_batch *parent; ///< NULL: parents are nodes alone, or none
    lwi_elim_join join;
    const lwi_elim_lane *over[2]; ///< lambda of the open edges: of the parent, else one's own
    // of nodes that are no joins, of their own blocks, and of those below nodes alone
    int nslot, nown, rows; ///< own: slots of edges closed here, which are the first
    int nedge, nblock;
    int row[LWI_ELIM_LANES]; ///< first row in the order of elimination
    lwi_elim_batch_slot *slot;
    lwi_elim_batch_edge *edge;
    lwi_elim_batch_block *block;
    double *above[LWI_ELIM_LANES]; ///< the parents' v, or NULL
    const lwi_elim_move *move;     ///< of the open rows to the parent, lane 0's
    int nmove;
    const lwi_elim_move
        *to[LWI_ELIM_LANES]; ///< the same of every lane where there is no group above
    lwi_elim_lane *J, *G;    ///< [rows] rows of six
} lwi_elim_batch;

typedef struct lwi_elim_single_child {
    const lwi_elim_front *front;
    const lwi_elim_batch *batch; ///< that has its numbers when groups are in lanes; or NULL
    int lane;
} lwi_elim_single_child;

/** A node alone that is a join: what it finds given (assembled.h) it does in few steps. */
typedef struct lwi_elim_single {
    const lwi_elim *elim;
    lwi_elim_join join;
    double *R, *U, *Q, *V, *v; ///< of its front
    const double *over[2];
    int nchild;
    lwi_elim_single_child *child;
} lwi_elim_single;

/** The texts of one instruction set. */
typedef struct lwi_elim_kernels {
    void (*matrix)(const lwi_elim *elim, lwi_elim_batch *batch);
    void (*rows)(const lwi_elim *elim, const lwi_elim_batch *batch); ///< J again
    void (*up)(const lwi_elim *elim, const lwi_elim_batch *batch);
    void (*down)(const lwi_elim *elim, const lwi_elim_batch *batch);
    bool (*single_matrix)(const lwi_elim_single *node, double *S,
                          bool two); ///< are all pivots kept?
    void (*single_up)(const lwi_elim_single *node, bool two);
    void (*single_down)(const lwi_elim_single *node);
} lwi_elim_kernels;

/** The texts for a number of lanes: 0 for the widest of this machine; NULL: there are none. */
const lwi_elim_kernels *lwi_elim_kernels_of(int width);
/** Slots of the edges closed at a node; the place of a slot among those that its blocks use, own
 * slots first. */
int lwi_elim_own_slots(const lwi_elim *elim, int node);
int lwi_elim_slot_place(const lwi_elim *elim, int node, int slot);
/** Shape of every node, -1: none; returns in *count how many there are (shape.c). */
lw_status lwi_elim_shapes(const lwi_elim *elim, lwi_arena *scratch, int *shape, int *count);
/** Units of all nodes (batch.c): bundles first. */
lw_status lwi_elim_create_tasks(lwi_elim *elim, lwi_arena *scratch, lwi_arena *arena);
lw_status lwi_elim_batch_room(const lwi_elim *elim, const int *node, int lanes, lwi_arena *arena,
                              lwi_elim_batch *batch);
/** The node of a unit as a join that is given what it needs, or NULL. */
const lwi_elim_single *lwi_elim_task_single(const lwi_elim *elim, int task);
/** Groups of a view with v of their own; its fronts are there. */
lw_status lwi_elim_batch_view(lwi_elim *view, lwi_arena *arena);
/** J of all groups, where it may have changed since it was read. */
void lwi_elim_read_rows(lwi_elim *elim);
/** Room for what groups leave, U and V: `shared` where they are eliminated in their order. */
lw_status lwi_elim_batch_updates(lwi_elim *elim, bool shared, lwi_arena *arena);
/** Q of all groups, and room for what they leave. */
lw_status lwi_elim_batch_unsymmetric(lwi_elim *elim, lwi_arena *arena);

#endif
