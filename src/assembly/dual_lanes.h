// dual_lanes.h -- equal subtrees of a plan side by side.
//
// Subtrees of the same shape (fronts, edges, blocks, children) do the same operations on different
// numbers.  Up to LWI_DUAL_LANES of them are a bundle: node i of each stands in lane 0, 1, ... of
// group i.  Numbers of a group are blocks x[entry][lane] whatever the width of the machine, lanes
// that are not needed repeat the last.  What a lane computes does not depend on the others nor on
// the width: which nodes are in groups follows from the plan alone.
//
// The text (lanes.inl) is compiled for several instruction sets, as src/kernel is.  It takes nodes
// where nothing is decided: no loop closes, at most six rows.  A pivot that is lost anywhere makes
// the engine do the whole pass again node by node, which then says what is wrong.
#ifndef LWI_DUAL_LANES_H
#define LWI_DUAL_LANES_H

#include "assembly/dual_parts.h"

typedef double lwi_lane[LWI_DUAL_LANES];

/** Rows of an edge at a body: where they come from, where they are in the group. */
typedef struct lwi_group_slot {
    int from[LWI_DUAL_LANES]; ///< slots
    int body[LWI_DUAL_LANES]; ///< of those that belong to edges closed here
    int at, m;                ///< first row, rows
} lwi_group_slot;

typedef struct lwi_group_edge {
    int row[LWI_DUAL_LANES]; ///< first, in the graph's order
    int at, m;               ///< first row in the front, rows
    int slot, n;             ///< first slot of the group, slots
} lwi_group_edge;

/** A block J G' of the front. */
typedef struct lwi_group_block {
    int J, G; ///< first rows
    int at;   ///< place in R
    int m, n;
    bool add, upper; ///< upper: a diagonal block, whose upper triangle is enough
} lwi_group_block;

typedef struct lwi_group_child {
    const struct lwi_dual_group *group;
    const lwi_dual_move *move;
    int nmove;
} lwi_group_child;

/** A node that closes one edge of m rows and leaves n of as many open, each of which one child has at
 *  most; every child has the closed one first (lanes_join.inl). */
typedef struct lwi_dual_join {
    int m, n;     ///< m 0: not such a node
    bool own[2];  ///< the matrix itself has a block beside the diagonal, of closed and open edge
    int from[2];  ///< child that has the open edge as its second, -1: none
    int above[2]; ///< place of the open edges in the parent's front
} lwi_dual_join;

typedef struct lwi_dual_group {
    // what every pass reads, side by side
    int lanes, nc, no, nchild;
    double least; ///< a pivot below this share of its S_rr is lost
    bool bare, clear;
    bool failed;             ///< a pivot was lost
    lwi_lane *R, *U, *Q, *V; ///< R, Q [nc][nc + no], U, V [no][no] (upper, for the parent)
    lwi_lane *v, *S;         ///< [nc + no], [nc]
    lwi_group_child *child;
    const struct lwi_dual_group *parent; ///< NULL: parents are nodes alone, or none
    lwi_dual_join join;
    const lwi_lane *over[2]; ///< lambda of the open edges: of the parent, else one's own
    // of nodes that are no joins, of their own blocks, and of those below nodes alone
    int nslot, nown, rows; ///< own: slots of edges closed here, which are the first
    int nedge, nblock;
    int row[LWI_DUAL_LANES]; ///< first row in the order of elimination
    lwi_group_slot *slot;
    lwi_group_edge *edge;
    lwi_group_block *block;
    double *above[LWI_DUAL_LANES]; ///< the parents' v, or NULL
    const lwi_dual_move *move;     ///< of the open rows to the parent, lane 0's
    int nmove;
    const lwi_dual_move
        *to[LWI_DUAL_LANES]; ///< the same of every lane where there is no group above
    lwi_lane *J, *G;         ///< [rows] rows of six
} lwi_dual_group;

typedef struct lwi_lone_child {
    const lwi_dual_front *front;
    const lwi_dual_group *group; ///< that has its numbers when groups are in lanes; or NULL
    int lane;
} lwi_lone_child;

/** A node alone that is a join: what it finds given (dual_given.h) it does in few steps. */
typedef struct lwi_dual_lone {
    const lwi_dual *dual;
    lwi_dual_join join;
    double *R, *U, *Q, *V, *v; ///< of its front
    const double *over[2];
    int nchild;
    lwi_lone_child *child;
} lwi_dual_lone;

/** The texts of one instruction set. */
typedef struct lwi_dual_texts {
    void (*matrix)(const lwi_dual *dual, lwi_dual_group *group);
    void (*rows)(const lwi_dual *dual, const lwi_dual_group *group); ///< J again
    void (*up)(const lwi_dual *dual, const lwi_dual_group *group);
    void (*down)(const lwi_dual *dual, const lwi_dual_group *group);
    bool (*lone_matrix)(const lwi_dual_lone *node, double *S, bool two); ///< are all pivots kept?
    void (*lone_up)(const lwi_dual_lone *node, bool two);
    void (*lone_down)(const lwi_dual_lone *node);
} lwi_dual_texts;

/** The texts for a number of lanes: 0 for the widest of this machine; NULL: there are none. */
const lwi_dual_texts *lwi_dual_texts_of(int width);
/** Slots of the edges closed at a node; the place of a slot among those that its blocks use, own
 * slots first. */
int lwi_dual_own_slots(const lwi_dual *dual, int node);
int lwi_dual_slot_place(const lwi_dual *dual, int node, int slot);
/** Shape of every node, -1: none; returns in *count how many there are (dual_shape.c). */
lw_status lwi_dual_shapes(const lwi_dual *dual, lwi_arena *scratch, int *shape, int *count);
/** Units of all nodes (dual_bundle.c): bundles first. */
lw_status lwi_dual_bundle(lwi_dual *dual, lwi_arena *scratch, lwi_arena *arena);
lw_status lwi_dual_group_room(const lwi_dual *dual, const int *node, int lanes, lwi_arena *arena,
                              lwi_dual_group *group);
/** The node of a unit as a join that is given what it needs, or NULL. */
const lwi_dual_lone *lwi_dual_unit_lone(const lwi_dual *dual, int unit);
/** Groups of a view with v of their own; its fronts are there. */
lw_status lwi_dual_group_view(lwi_dual *view, lwi_arena *arena);
/** J of all groups, where it may have changed since it was read. */
void lwi_dual_read_rows(lwi_dual *dual);
/** Room for what groups leave, U and V: `shared` where they are eliminated in their order. */
lw_status lwi_dual_group_leave(lwi_dual *dual, bool shared, lwi_arena *arena);
/** Q of all groups, and room for what they leave. */
lw_status lwi_dual_group_two(lwi_dual *dual, lwi_arena *arena);

#endif
