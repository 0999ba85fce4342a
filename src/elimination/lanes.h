// lanes.h -- isomorphic subtrees of a plan side by side in vector lanes.
//
// Subtrees of the same shape (fronts, edges, blocks, children) need the same operations on different numbers.
// Up to LWI_ELIM_LANES of them form a batch: node i of each is in lane 0, 1, ... of batch i.  Numbers of a
// batch are blocks x[entry][lane] on every machine; unused lanes repeat the last one.  A lane's result
// depends neither on the other lanes nor on the vector width: which nodes form batches follows from the plan.
//
// The kernels (simd/lanes.c) are compiled once for each instruction set.  They treat nodes without decisions:
// no loop is closed, at most six rows.  If a pivot is lost in any lane, the whole pass is repeated node by
// node, which then reports the error.
#ifndef LWI_ELIMINATION_LANES_H
#define LWI_ELIMINATION_LANES_H

#include "elimination/parts.h"

typedef double lwi_elim_lane[LWI_ELIM_LANES];

/** Rows of an edge at a body: source, and place in the batch. */
typedef struct lwi_elim_batch_slot {
    int from[LWI_ELIM_LANES]; ///< slots
    int body[LWI_ELIM_LANES]; ///< bodies of the slots of edges closed here
    int at, m;                ///< first row, number of rows
} lwi_elim_batch_slot;

typedef struct lwi_elim_batch_edge {
    int row[LWI_ELIM_LANES]; ///< first row in the order of the graph
    int at, m;               ///< first row in the front, number of rows
    int slot, n;             ///< first slot in the batch, number of slots
} lwi_elim_batch_edge;

/** A block J G' of the front. */
typedef struct lwi_elim_batch_block {
    int J, G; ///< first rows of J and G
    int at;   ///< index of the first entry in R
    int m, n;
    bool add, upper; ///< upper: a diagonal block, of which the upper triangle is enough
} lwi_elim_batch_block;

typedef struct lwi_elim_batch_child {
    const struct lwi_elim_batch *batch;
    const lwi_elim_move *move;
    int nmove;
} lwi_elim_batch_child;

/** A node that closes one edge of m rows and leaves n edges of m rows open; each open edge comes from at most
 *  one child, and the edge closed here is the first open edge of every child (join.inl). */
typedef struct lwi_elim_join {
    int m, n;     ///< m = 0: not such a node
    bool own[2];  ///< the matrix has an off-diagonal block of the closed and this open edge
    int from[2];  ///< child with this edge as its second open one, -1: none
    int above[2]; ///< first row of the open edge in the parent's front
} lwi_elim_join;

typedef struct lwi_elim_batch {
    // read in every pass, therefore adjacent
    int lanes, nc, no, nchild;
    double min_pivot; ///< a pivot below this share of its S_rr is lost
    bool bare, clear;
    bool failed;                  ///< a pivot was lost
    lwi_elim_lane *R, *U, *Q, *V; ///< R, Q [nc][nc + no]; U, V [no][no], upper part, for the parent
    lwi_elim_lane *v, *S;         ///< [nc + no], [nc]
    lwi_elim_batch_child *child;
    const struct lwi_elim_batch *parent; ///< NULL: parents are single nodes, or there is none
    lwi_elim_join join;
    const lwi_elim_lane *over[2]; ///< lambda of the open edges: in the parent's v, else in v
    // not used by joins with caller-assembled blocks and a batch as parent
    int nslot, nown, rows; ///< nown: slots of edges closed here, which come first
    int nedge, nblock;
    int row[LWI_ELIM_LANES]; ///< first row in the order of elimination
    lwi_elim_batch_slot *slot;
    lwi_elim_batch_edge *edge;
    lwi_elim_batch_block *block;
    double *above[LWI_ELIM_LANES]; ///< v of the parents, or NULL
    const lwi_elim_move *move;     ///< of the open rows to the parent, of lane 0
    int nmove;
    const lwi_elim_move *to[LWI_ELIM_LANES]; ///< the same of every lane if the parent is no batch
    lwi_elim_lane *J, *G;                    ///< [rows][6]
} lwi_elim_batch;

typedef struct lwi_elim_single_child {
    const lwi_elim_front *front;
    const lwi_elim_batch *batch; ///< batch that holds its numbers if batches are in lanes; or NULL
    int lane;
} lwi_elim_single_child;

/** A single node that is a join: short path for caller-assembled blocks (assembled.h). */
typedef struct lwi_elim_single {
    const lwi_elim *elim;
    lwi_elim_join join;
    double *R, *U, *Q, *V, *v; ///< of the front of the node
    const double *over[2];
    int nchild;
    lwi_elim_single_child *child;
} lwi_elim_single;

/** C [m][n] -= s A diag(d) B: A [m][k], B [k][n]. */
typedef struct lwi_elim_product {
    int m, n, k;
    double s; ///< 1 or -1
    const double *A;
    int down, right; ///< from entry to entry of a column and of a row of A
    const double *d; ///< NULL: ones
    int step;
    const double *B;
    int lb;
    double *C;
    int lc;
    int above; ///< only entries of C so many columns right of the diagonal and more, 0 or 1; -1: all
} lwi_elim_product;

/** Kernels of one instruction set. */
typedef struct lwi_elim_kernels {
    void (*matrix)(const lwi_elim *elim, lwi_elim_batch *batch);
    void (*rows)(const lwi_elim *elim, const lwi_elim_batch *batch); ///< reads J again
    void (*up)(const lwi_elim *elim, const lwi_elim_batch *batch);
    void (*down)(const lwi_elim *elim, const lwi_elim_batch *batch);
    bool (*single_matrix)(const lwi_elim_single *node, double *S,
                          bool two); ///< returns whether all pivots were kept
    void (*single_up)(const lwi_elim_single *node, bool two);
    void (*single_down)(const lwi_elim_single *node);
    /** n blocks left right' to R. */
    void (*blocks)(const lwi_elim_block *block, int n, int ld, double (*left)[6],
                   double (*right)[6], double *R);
    /** The same bits for any lanes (simd/dense.inl). */
    void (*subtract)(const lwi_elim_product *product);
} lwi_elim_kernels;

/** Kernels for a number of lanes; 0: the widest of this machine.  NULL: there are none. */
const lwi_elim_kernels *lwi_elim_kernels_of(int width);
/** Number of slots of the edges closed at a node; index of a slot among those that its blocks use, own slots
 *  first. */
int lwi_elim_own_slots(const lwi_elim *elim, int node);
int lwi_elim_slot_place(const lwi_elim *elim, int node, int slot);
/** Shape number of every node [nnode], -1: not for lanes; *count: number of shapes (shape.c). */
lw_status lwi_elim_shapes(const lwi_elim *elim, lwi_arena *scratch, int *shape, int *count);
/** Creates the tasks of all nodes, batches first (batch.c). */
lw_status lwi_elim_create_tasks(lwi_elim *elim, lwi_arena *scratch, lwi_arena *arena);
lw_status lwi_elim_batch_room(const lwi_elim *elim, const int *node, int lanes, lwi_arena *arena,
                              lwi_elim_batch *batch);
/** The join of a single-node task if blocks are assembled by the caller, else NULL. */
const lwi_elim_single *lwi_elim_task_single(const lwi_elim *elim, int task);
/** Reads J of all batches, if it may have changed. */
void lwi_elim_read_rows(lwi_elim *elim);
/** Allocates U and V of batches.  shared: batches are eliminated in their order and can share memory. */
lw_status lwi_elim_batch_updates(lwi_elim *elim, bool shared, lwi_arena *arena);
/** Allocates Q and V of batches. */
lw_status lwi_elim_batch_unsymmetric(lwi_elim *elim, lwi_arena *arena);

#endif
