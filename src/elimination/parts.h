// parts.h -- what the files of the engine share: fronts, and lists in the order of the sweeps.
//
// The rows closed by a node are eliminated as S_cc = L D L', L of unit diagonal.  A front keeps
//     R = [ L'  Z ],  Z = D^-1 L^-1 S_co     [nc][ld]: the strict upper part of L', 1/D on the
//     diagonal U = - Z' D Z + those of the children   [no][lu]: upper part; what is added to the
//     parent's front
// No square roots, and half of the divisions of L L'.  The blocks J G' of the matrix itself are put
// into the front where the first of their two edges is closed, so that U holds nothing but
// corrections.
//
// Without symmetry S_cc = L D U, and a front keeps also
//     Q = [ L'  Y' ],  Y = S_oc U^-1 D^-1        Z as above, L' of R is U, U of above is -Y D Z,
//     V                                          the upper part of its transpose
// so that everything is done twice with the roles of J and G, R and Q, U and V exchanged, and the
// vector pass reads Q upwards and R downwards.
//
// Vectors: v = [y_c  w]: up   z = L^-1 y_c,  w -= Z' z;   down  lambda_c = L'^-1 (D^-1 z - Z
// lambda_o).
#ifndef LWI_ELIMINATION_PARTS_H
#define LWI_ELIMINATION_PARTS_H

#include "elimination/elimination.h"

/** A pivot below this share of its S_rr is round-off: S_rr and what is subtracted from it are sums
 *  of some tens of products, each rounded to 1.1e-16 of S_rr. */
#define LWI_ELIM_ROUND 1e-14

/** A row with a pivot below this share of the smallest that is usual at its node rests: an angle of
 *  1e-5 (inactive_rows.c).  A hundredth of it would let noise grow until steps become short, a hundred
 *  times as much would show in the motion. */
#define LWI_ELIM_INACTIVE 1e-10

/** A block J G' of the matrix: rows of one edge, columns of another, both at the same body. */
typedef struct lwi_elim_block {
    int J, G; ///< slots
    int at;   ///< place in R
    unsigned char m, n;
    bool add; ///< to a block there already
} lwi_elim_block;

/** An edge where it is closed. */
typedef struct lwi_elim_edge {
    int edge, row; ///< row: the first in the graph's order
    int m, slot, n;
    int body[LWI_EDGE_BODIES];
} lwi_elim_edge;

/** Open rows of a child are rows of its parent's front: from, from + 1, ... -> to, to + 1, ... */
typedef struct lwi_elim_move {
    int from, to, n;
} lwi_elim_move;

typedef struct lwi_elim_front {
    int nc, no, ld, lu;
    double *R, *U, *v; ///< v [nc + no]
    double *Q, *V;     ///< NULL but for an engine with room for no symmetry
    double *C;         ///< [no][no] where loops close: what open rows yield to each other
    int *perm;         ///< [no] its rows are exchanged
    int row;           ///< number of the first closed row in the order of elimination
    int parent, first; ///< first: the subtree is nodes first ... this one
    lwi_plan_span edge, block, child;
    lwi_plan_span move; ///< of this node's open rows to the parent
    bool loop;
    bool bare;  ///< no child adds to U
    bool clear; ///< not all blocks of S_cc, S_co are there: R starts from 0
} lwi_elim_front;

/** What the last factorisation found at a node. */
typedef struct lwi_elim_state {
    lw_status status;
    int kept;          ///< rank
    bool ranked;       ///< factors are those of rank.c
    double max_ratio;  ///< largest S_rr / pivot
    int max_ratio_row; ///< of the node's rows
    double dropped;    ///< largest pivot dropped
    int dropped_row;
} lwi_elim_state;

enum { LWI_ELIM_LANES = 8, LWI_ELIM_MIN_LANES = 2 }; ///< of a group

/** What a sweep visits: a node, or a group of equal ones (lanes.h). */
typedef struct lwi_elim_task {
    int lanes;                      ///< 1: a node alone
    int parent;                     ///< unit; -1: none, or one for each lane
    int node[LWI_ELIM_LANES];       ///< the last one repeated
    struct lwi_elim_batch *batch;   ///< NULL: a node alone
    struct lwi_elim_single *single; ///< of a node alone that is a join, else NULL
} lwi_elim_task;

/** Numbers to a row of n in a front: one of padding at least, even. */
static inline int lwi_elim_row_length(int n)
{
    return (n + 2) / 2 * 2;
}

struct lwi_elim {
    const lwi_plan *plan;
    int nnode;
    int ntask, nbatch;                      ///< groups are the first units; children before parents
    lwi_elim_task *task;                    ///< [nunit]
    int *task_of, *lane_of;                 ///< [nnode]
    const struct lwi_elim_kernels *kernels; ///< NULL: no lanes
    bool laned;             ///< the factors of groups are in lanes, else in their nodes' fronts
    bool in_fronts;         ///< they are in the fronts too
    bool full_rank;         ///< no node of a group has lost rows of zeros
    _Atomic bool J_changed; ///< J may have changed since it was read
    bool reread_J;          ///< the sweep at hand reads it again
    lwi_elim_front *front;  ///< [nnode]
    lwi_elim_edge *edge;
    lwi_elim_block *block;
    lwi_elim_move *move;
    double (*J)[6], (*G)[6];
    int *entry_node; ///< [bodies] node at which a body enters
    // by row in the order of elimination
    double *S;            ///< S_rr
    double *scale;        ///< 1 / sqrt(S_rr) at ranked nodes, 1 for rows of zeros
    double *eps;          ///< as given, or 0
    bool regular;         ///< some eps was given
    bool has_unsymmetric; ///< room for factors without symmetry
    bool unsymmetric;     ///< the factors are those without symmetry
    bool
        assembled; ///< the sweep at hand finds blocks and right sides in their places (assembled.h)
    // ranked nodes
    double **null;     ///< [nnode] [nc - kept][nc] orthonormal null vectors of the scaled S_cc
    int **swap;        ///< [nnode] [nc] row k was exchanged with this one before step k
    int *generic_rank; ///< [nnode] rank, or -1
    double *reference_pivot; ///< [nnode] smallest pivot of the factorisation noted, 0: none
    bool inactive_allowed;
    lwi_elim_state *state; ///< [nnode]
    // what a sweep does at the nodes
    bool find_ranks;
    bool pivots_only; ///< pivots are all that is asked for
    double threshold;
    double (*x)[6];
    const double *c;
    double *lambda;
    bool refining;              ///< a step of refinement: lambda counts and is added to
    struct lwi_elim_team *team; ///< NULL: the caller's thread alone
};

/** Matrix pass of one node; vector pass of one node, up and down. */
void lwi_elim_eliminate(lwi_elim *elim, int node);
void lwi_elim_up(lwi_elim *elim, int node);
void lwi_elim_down(lwi_elim *elim, int node);

/** The parts of these that a ranked node does in another way: S_cc and S_co stand in R. */
void lwi_elim_rank_eliminate(lwi_elim *elim, int node);
void lwi_elim_rank_up(lwi_elim *elim, int node);
void lwi_elim_rank_down(lwi_elim *elim, int node);
/** Has every row of the node an eps? */
bool lwi_elim_regular(const lwi_elim *elim, const lwi_elim_front *front);
/** The pivot at which rows of the node rest in this matrix pass (inactive_rows.c); 0: none does. */
double lwi_elim_inactive_below(const lwi_elim *elim, int node);

/** lambda_c from z and lambda_o in v. */
void lwi_elim_back_substitute(lwi_elim *elim, int node);

/** The same of a unit. */
void lwi_elim_task_eliminate(lwi_elim *elim, int task);
void lwi_elim_task_up(lwi_elim *elim, int task);
void lwi_elim_task_down(lwi_elim *elim, int task);
/** The unit of lane l's parent, -1: none. */
int lwi_elim_task_parent(const lwi_elim *elim, int task, int l);
/** Multiplications of its matrix pass, near enough to share out: lanes cost what one does. */
double lwi_elim_task_work(const lwi_elim *elim, int task);

/** Groups in lanes, or node by node;  did the matrix pass keep all pivots? */
void lwi_elim_set_laned(lwi_elim *elim, bool laned);
bool lwi_elim_all_kept(const lwi_elim *elim);

/** What groups keep, to their nodes' states. */
void lwi_elim_note_batches(const lwi_elim *elim);

/** All nodes, children first; all nodes up and down, 1 + refine times. */
void lwi_elim_sweep_matrix(lwi_elim *elim);
void lwi_elim_sweep_vectors(lwi_elim *elim, int refine);

#endif
