// parts.h -- data structures of the elimination: fronts, and lists in the order of the sweeps.
//
// The rows closed by a node are eliminated as S_cc = L D L', L of unit diagonal.  A front holds
//     R = [ L'  Z ],  Z = D^-1 L^-1 S_co     [nc][ld]: strict upper part of L', 1/D on the diagonal
//     U = - Z' D Z + updates of the children [no][lu]: upper part; added to the parent's front
// This takes no square roots and half of the divisions of L L'.  The blocks J G' of the matrix are added at
// the front where the first of their two edges is closed, so that U holds corrections only.
//
// Without symmetry S_cc = L D U, and a front also holds
//     Q = [ L'  Y' ],  Y = S_oc U^-1 D^-1        Z as above, L' of R is U, U of above is -Y D Z,
//     V                                          the upper part of its transpose
// Every operation is done twice, with J and G, R and Q, U and V exchanged; the vector pass reads Q upwards
// and R downwards.
//
// Vectors: v = [y_c  w]: up   z = L^-1 y_c,  w -= Z' z;   down  lambda_c = L'^-1 (D^-1 z - Z lambda_o).
#ifndef LWI_ELIMINATION_PARTS_H
#define LWI_ELIMINATION_PARTS_H

#include "base/assert.h"
#include "elimination/elimination.h"

/** A pivot below this share of its S_rr is round-off: S_rr and what is subtracted from it are sums of some
 *  tens of products, each rounded to 1.1e-16 of S_rr. */
#define LWI_ELIM_ROUND 1e-14

/** Nodes with so many rows, closed and open, decide on ranks in blocks (rank_large.c). */
#define LWI_ELIM_LARGE 40

/** LWI_ELIM_ROUND of the elimination in double-double arithmetic. */
#define LWI_ELIM_ROUND_EXTENDED 1e-28

/** A row with a pivot below this share of the reference pivot of its node becomes inactive: an angle of 1e-5
 *  (inactive_rows.c).  A hundredth of it would let noise grow until steps become short, a hundred times as
 *  much would show in the motion. */
#define LWI_ELIM_INACTIVE 1e-10

/** Calls f(m, ...) with m, the rows of an edge, a constant 1 ... LWI_EDGE_ROWS: loops over the rows have bounds
 *  known to the compiler. */
#define LWI_WITH_EDGE_ROWS(m, f, ...)                                                              \
    switch (m) {                                                                                   \
    case 1:                                                                                        \
        f(1, __VA_ARGS__);                                                                         \
        break;                                                                                     \
    case 2:                                                                                        \
        f(2, __VA_ARGS__);                                                                         \
        break;                                                                                     \
    case 3:                                                                                        \
        f(3, __VA_ARGS__);                                                                         \
        break;                                                                                     \
    case 4:                                                                                        \
        f(4, __VA_ARGS__);                                                                         \
        break;                                                                                     \
    case 5:                                                                                        \
        f(5, __VA_ARGS__);                                                                         \
        break;                                                                                     \
    default:                                                                                       \
        f(6, __VA_ARGS__);                                                                         \
        break;                                                                                     \
    }

_Static_assert(LWI_EDGE_ROWS == 6, "LWI_WITH_EDGE_ROWS has a case for every number of rows");

/** A block J G' of the matrix: rows of one edge, columns of another, both at the same body. */
typedef struct lwi_elim_block {
    int J, G; ///< first slots of the two edges at the body
    int at;   ///< index of the first entry in R, or in C
    unsigned char m, n;
    bool add; ///< added to a block written before
} lwi_elim_block;

/** An edge at the node that closes it: m rows, n bodies. */
typedef struct lwi_elim_edge {
    int edge, row; ///< row: its first row in the order of the graph
    int m, slot, n;
    const int *body; ///< [n]
} lwi_elim_edge;

/** Open rows from ... from + n - 1 of a child are rows to ... to + n - 1 of the parent's front. */
typedef struct lwi_elim_move {
    int from, to, n;
} lwi_elim_move;

typedef struct lwi_elim_front {
    int nc, no, ld, lu;
    double *R, *U, *v; ///< v [nc + no]
    double *Q, *V;     ///< NULL without lwi_elim_unsymmetric
    double *C;         ///< [no][no] at loop nodes: compliance of the open rows
    int *perm;         ///< [no] row exchanges of C
    int row;           ///< first closed row in the order of elimination
    int parent, first; ///< the subtree is nodes first ... this one
    lwi_plan_span edge, block, child;
    lwi_plan_span open; ///< of loop nodes: blocks of the open rows at bodies of the subtree, for C
    lwi_plan_span move; ///< of the open rows to the parent's front
    bool loop;
    bool bare;  ///< no child contributes to U
    bool clear; ///< not all blocks of S_cc, S_co are written: R is cleared first
    int shape;  ///< equal for isomorphic subtrees (shape.c); -1: too large
} lwi_elim_front;

/** Result of the last factorisation at a node. */
typedef struct lwi_elim_state {
    lw_status status;
    int kept;          ///< rank
    bool ranked;       ///< factors are those of rank.c
    double max_ratio;  ///< largest S_rr / pivot
    int max_ratio_row; ///< the row of the node at which it occurs
    double dropped;    ///< largest pivot dropped
    int dropped_row;
    int movable; ///< directions of the open rows in which a ranked node is not rigid, while they are counted
} lwi_elim_state;

enum { LWI_ELIM_LANES = 8, LWI_ELIM_MIN_LANES = 2 }; ///< of a batch

/** A task of a sweep: a single node, or a batch of isomorphic nodes (lanes.h). */
typedef struct lwi_elim_task {
    int lanes;                      ///< 1: a single node
    int parent;                     ///< task; -1: none, or a different one for each lane
    int node[LWI_ELIM_LANES];       ///< the last one repeated
    struct lwi_elim_batch *batch;   ///< NULL: a single node
    struct lwi_elim_single *single; ///< of a single node that is a join, else NULL
} lwi_elim_task;

/** Row length of a front of n columns: at least one entry of padding, even. */
static inline int lwi_elim_row_length(int n)
{
    return (n + 2) / 2 * 2;
}

struct lwi_elim {
    const lwi_plan *plan;
    int nnode;
    int ntask, nbatch;                      ///< batches come first; children before parents
    lwi_elim_task *task;                    ///< [ntask]
    int *task_of, *lane_of;                 ///< [nnode]
    int nshape;                             ///< shapes of nodes; 0: not found
    const struct lwi_elim_kernels *kernels; ///< NULL: no lanes
    const struct lwi_elim_kernels *dense;   ///< of nodes with many rows
    bool laned;             ///< factors of batches are in lanes, else in the fronts of their nodes
    bool in_fronts;         ///< they are in the fronts as well
    bool full_rank;         ///< all nodes of batches have full generic rank
    _Atomic bool J_changed; ///< J may have changed since it was read
    bool reread_J;          ///< the current sweep reads J again
    lwi_elim_front *front;  ///< [nnode]
    double *update;         ///< [nupdate] U and C of the fronts (updates.c)
    size_t nupdate;
    lwi_elim_updates *common; ///< NULL: its own
    lwi_elim_edge *edge;
    lwi_elim_block *block; ///< of closed rows, then of open ones
    lwi_elim_move *move;
    double (*J)[6], (*G)[6];
    int *entry_node; ///< [bodies] node at which each body enters
    // by row in the order of elimination
    double *S;            ///< S_rr
    double *scale;        ///< 1 / sqrt(S_rr) at ranked nodes, 1 for rows of zeros
    double *eps;          ///< eps of the rows, or 0
    bool regular;         ///< the caller passed eps
    bool has_unsymmetric; ///< factors without symmetry are allocated
    bool unsymmetric;     ///< the current factors are not symmetric
    bool indefinite;      ///< their pivots may be negative
    bool assembled;       ///< the caller has written blocks and right sides in place (assembled.h)
    long passes;          ///< matrix passes so far
    // ranked nodes
    double **
        null; ///< [nnode] [nc - kept][nc] orthonormal null vectors of the scaled S_cc; of large nodes factors
    ///< and scratch [nc][nc] (rank_large.c)
    int **swap;              ///< [nnode] [nc] row k was exchanged with this one before step k
    int *generic_rank;       ///< [nnode] -1: not known, full rank is assumed
    const bool *pivots;      ///< [nnode] nodes that pivot at full rank too; NULL: none
    double *reference_pivot; ///< [nnode] smallest pivot of the reference factorisation, 0: none
    bool inactive_allowed;
    struct lwi_elim_extended *extended; ///< NULL: doubles only
    bool in_extended;                   ///< the factors are those of extended.c
    lwi_elim_state *state;              ///< [nnode]
    // parameters of the current sweep
    bool find_ranks;
    bool pivots_only; ///< only pivots are needed, no factors
    double threshold;
    double (*x)[6];
    const double *c;
    double *lambda;
    bool refining;                ///< refinement step: lambda is a start value and is added to
    struct lwi_elim_team *team;   ///< NULL: the calling thread only
    struct lwi_elim_ranks *ranks; ///< NULL: this process only (ranks.c)
};

/** Blocks of R or C, of row length ld: those of whole edges that are the thread's part of the team. */
typedef struct lwi_elim_blocks {
    const lwi_elim_block *block;
    int n;
    int first, end; ///< their rows, of `rows`
} lwi_elim_blocks;
lwi_elim_blocks lwi_elim_own_blocks(const lwi_elim *elim, lwi_plan_span span, int rows, int ld,
                                    const lwi_team *team);
/** Writes left right' of the blocks to R, with left = J, right = G those of S, with both exchanged those of S'. */
void lwi_elim_put_blocks(const lwi_elim *elim, const lwi_elim_blocks *blocks, int ld,
                         double (*left)[6], double (*right)[6], double *R);
/** Clears the upper triangle of n rows and their diagonal blocks, of its rows first ... end - 1 one in `step`: the rest is not
 *  used. */
void lwi_elim_clear_upper(int n, double *A, int ld, int first, int end, int step);

/** Matrix pass of one node, by one thread or by a team, with the same bits; vector pass of one node, up and down. */
void lwi_elim_eliminate(lwi_elim *elim, int node, const lwi_team *team);
void lwi_elim_up(lwi_elim *elim, int node);
void lwi_elim_down(lwi_elim *elim, int node);

/** The same for a ranked node; S_cc and S_co are in R (rank.c). */
void lwi_elim_rank_eliminate(lwi_elim *elim, int node, const lwi_team *team);
void lwi_elim_rank_up(lwi_elim *elim, int node);
void lwi_elim_rank_down(lwi_elim *elim, int node);
/** Memory of all fronts, after the rooms of batches: pages of fronts in lanes then remain untouched. */
lw_status lwi_elim_front_room(lwi_elim *elim, lwi_arena *arena);
/** Memory of U and C of all fronts, and of V with the same places (updates.c). */
lw_status lwi_elim_update_room(lwi_elim *elim, lwi_arena *arena);
lw_status lwi_elim_update_room_unsymmetric(lwi_elim *elim, lwi_arena *arena);
/** Edge of a node's row; *row becomes the row of that edge. */
const lwi_elim_edge *lwi_elim_edge_of_row(const lwi_elim *elim, int node, int *row);
/** Whether every row of the node has eps > 0. */
bool lwi_elim_regular(const lwi_elim *elim, const lwi_elim_front *front);
/** Rows of the node with a pivot below this are inactive in this matrix pass (inactive_rows.c); 0: none. */
double lwi_elim_inactive_below(const lwi_elim *elim, int node);

/** lambda_c from z and lambda_o, all in v. */
void lwi_elim_back_substitute(lwi_elim *elim, int node);

/** The same for a task. */
void lwi_elim_task_eliminate(lwi_elim *elim, int task, const lwi_team *team);
void lwi_elim_task_up(lwi_elim *elim, int task);
void lwi_elim_task_down(lwi_elim *elim, int task);
/** Task of the parent of lane l, -1: none. */
int lwi_elim_task_parent(const lwi_elim *elim, int task, int l);
/** Estimated multiplications of its matrix pass, for sharing the work; all lanes cost what one does.
 *  @param ranks  ranks are found where loops are closed, which takes longer */
double lwi_elim_task_work(const lwi_elim *elim, int task, bool ranks);
/** The same with ranks, of all tasks; adds that of its whole subtree to work [ntask] of each; infinite above batches with
 *  several parents. */
double lwi_elim_subtree_work(const lwi_elim *elim, double *work);

/** Stage and part of every task: a schedule (threads.c). */
typedef struct lwi_elim_draft {
    int parts, nstage;
    int *stage, *part; ///< [ntask]
    bool *together;    ///< [ntask] several threads compute it together; separate stages
    bool shared;       ///< more than one thread has tasks
    bool ranks;        ///< as in lwi_elim_task_work
} lwi_elim_draft;

/** Stages from d->nstage on, for the tasks with work[u] > above, level by level; small ones on part 0 alone, tasks
 *  too large for one thread together.
 *  @return LW_ERR_MEMORY */
lw_status lwi_elim_add_levels(const lwi_elim *elim, const double *work, double above,
                              lwi_arena *scratch, lwi_elim_draft *d);

/** Tasks that several threads eliminate together; groups of threads that do so side by side, at most. */
int lwi_elim_together(const lwi_elim *elim);
int lwi_elim_subteams(const lwi_elim *elim);

/** Batches in lanes, or node by node;  whether the matrix pass kept all pivots. */
void lwi_elim_set_laned(lwi_elim *elim, bool laned);
bool lwi_elim_all_kept(const lwi_elim *elim);

/** Matrix pass and vector pass in double-double arithmetic, after lwi_elim_extend (extended.c). */
void lwi_elim_extended_matrix(lwi_elim *elim);
void lwi_elim_extended_vectors(lwi_elim *elim);

/** Copies the pivots of batches in lanes to the states of their nodes. */
void lwi_elim_note_batches(const lwi_elim *elim);

/** All nodes, children first; all nodes up and down, passes first ... last: number 0 solves, others refine. */
void lwi_elim_sweep_matrix(lwi_elim *elim);
void lwi_elim_sweep_vectors(lwi_elim *elim, int first, int last);
/** Starts pass number i over the vectors; i > 0: refinement. */
void lwi_elim_begin_pass(lwi_elim *elim, int i);

typedef struct lwi_elim_ranks lwi_elim_ranks;
/** Whether the next sweep is shared out to ranks (ranks.c); both sweeps by them.
 *  @return false: the matrix pass has to be done by this process alone */
bool lwi_elim_on_ranks(const lwi_elim *elim);
bool lwi_elim_ranks_matrix(lwi_elim *elim);
void lwi_elim_ranks_vectors(lwi_elim *elim, int first, int last);

#endif
