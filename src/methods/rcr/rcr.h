// rcr.h -- recursive coordinate reduction in its general form: nodes of the tree are eliminated one by one, loops
// with them.
//
// The accelerations x_k = X x_parent + S_k y_k of the tree's nodes make Gauss' function
//
//     Z = sum_k  x_k' I_k x_k / 2 - F_k' x_k - Q_k' y_k    under the rows    sum_s J_s x_s + a = 0
//
// of the cut joints stationary.  Nodes are eliminated in descending order [anderson2003, sections 3, 4].  Node k
// sends what remains, a message (H, h; G, g), to the highest other body in it:
//
//     x' H x / 2 - h' x,    G x + g = 0,    x = (delayed speeds; motions of other bodies)
//
// At a node the speeds y (its own and those delayed by its children) are divided into
//   dependent    a row determines it with a sufficient pivot: y_D = P (y_I, x) + p        (35), (47), (55)
//   delayed      it occurs in a remaining row and is sent with the message
//   independent  it occurs in no remaining row: stationarity determines it (Cholesky)     (61), (66), (70)
// For one loop with base b the message is the paper's virtual body (60)-(66) in absolute motions of parent and
// base: H has the blocks of (62), (63), h that of (64).  Several open loops give larger messages; redundant rows
// drop out.  Numbers (n) are those of [anderson2003]; docs/theory/rcr.md derives the method,
// docs/theory/equations.md is the index of the equations.
//
// The set of dependent speeds is the partition.  Which row determines which of them is decided by the
// numbers at every evaluation and affects rounding only.
//
// Input: geometry, inertias, forces of an instant, a partition.  Output: accelerations, multipliers.
// Cost: O(sum of cubes of the systems' sizes), O(n + m) if the number of loops open at once is bounded.
// Units: powers of one length of the mechanism (lwi_rcr.length), so that displacements and rotations compare;
// world axes, about the origins of the link frames, linear part first.
#ifndef LWI_METHODS_RCR_RCR_H
#define LWI_METHODS_RCR_RCR_H

#include "kinematics/costs.h"
#include "loops/cut_momenta.h"
#include "loops/cut_state.h"
#include "system/shared.h"

/** Structure of a node's system, from the graph alone. */
typedef struct lwi_rcr_node {
    int up; ///< node that receives the message; -1: none, nothing remains
    int nbody;
    int *body;          ///< [nbody] other bodies of its system, descending: up first
    int parent_at;      ///< index of the parent among them; -1: the ground
    int nchild, *child; ///< nodes that send their messages here, descending
    int *slot; ///< [nbody] index of body[i] in the system of `up`; nbody of `up` for `up` itself
    int nclosure, *closure; ///< [nclosure] cut joints and couplings that enter here
    bool plain;             ///< its system and its rows contain no other body than the parent
    int rank;               ///< generic rank: independent rows here and in the subtree
} lwi_rcr_node;

/** A node's system after its elimination.  Index b: unknowns from above, delayed speeds then
 *  bodies. */
typedef struct lwi_rcr_front {
    int ny, nd, ni, nz, nb; ///< speeds: all, dependent, independent, delayed; nb = nz + 6 nbody
    int nin, kept, nout;    ///< rows: received, independent, sent
    int below;              ///< dependent speeds here and in the subtree
    bool unconstrained;     ///< all its speeds are independent and occur in no row: unconstrained.c
    bool rows_unchanged;    ///< rows are sent as received, about another point
    int *y;                 ///< [ny] speeds: dependent, independent, delayed
    int *from;              ///< [ny] their indices on arrival: own, then those of the children
    int *pick;              ///< [kept] rows in the order of orthonormalisation
    double *norm, *mix;     ///< [kept], [kept][nin]: operations that make the rows orthonormal
    double *reflect;        ///< [nd][kept + 1]: Householder reflectors, scale first
    double *R, *P;          ///< [nd][nd] upper triangle, [nd][ni + nb]
    double *HD;             ///< [nd][nd + ni + nb] rows of H of the dependent speeds
    double *L, *Y;          ///< [ni][ni], [ni][nb]
    double *H, *G;          ///< [nb][nb], [nout][nb] the message
    double *row;            ///< [nin] right-hand sides of the rows; after a sweep [nd], then [nout]
    double *h, *hD, *p, *z; ///< [nb] message, [nd], [nd], [ni]
} lwi_rcr_front;

/** Limits of the pivots of orthonormal rows.  A choice accepts pivots above THETA, the largest first; a partition is
 *  kept while its smallest pivot is above KEEP (hysteresis).  A dependent speed with a pivot below DELAY is
 *  delayed while it can be; LAST accepts all but rounding. */
#define LWI_RCR_THETA 0.5
#define LWI_RCR_KEEP 0.2
#define LWI_RCR_DELAY 0.1
#define LWI_RCR_LAST 1e-7
/** With more than WIDE speeds in a system, fronts would grow with every node: a choice then accepts pivots above
 *  THETA_WIDE, which is well above KEEP. */
#define LWI_RCR_WIDE 8
#define LWI_RCR_THETA_WIDE 0.3
/** Near the cut of a long loop displacements are small compared with the mechanism, and so are pivots.  With more than
 *  LONG speeds in a system a choice accepts pivots above THETA_LONG, and dependent speeds are delayed below DELAY_LONG,
 *  both times (LONG / speeds)^3: systems stay small, and round-off grows by the reciprocal of the pivot.  If more than
 *  LONG speeds already wait at the node that receives the message, they count as speeds of the system. */
#define LWI_RCR_LONG 32
#define LWI_RCR_THETA_LONG 3e-3
#define LWI_RCR_DELAY_LONG 1e-3

/** A column of rows of length one that is smaller than this is zero up to rounding. */
#define LWI_RCR_ABSENT 1e-12

typedef enum lwi_rcr_mode {
    LWI_RCR_FIXED,     ///< the partition is kept
    LWI_RCR_SPEEDS,    ///< the same for velocities and pivots alone: inertias are not reduced
    LWI_RCR_CHOOSE,    ///< a new partition at the generic ranks
    LWI_RCR_FIND_RANKS ///< a new partition, and ranks by a threshold
} lwi_rcr_mode;

/** Whether the partition is kept. */
static inline bool lwi_rcr_is_fixed(lwi_rcr_mode mode)
{
    return mode == LWI_RCR_FIXED || mode == LWI_RCR_SPEEDS;
}

/** The rotors of a joint that closes a loop, rotors.c. */
typedef struct lwi_rcr_rotor {
    int loop, entry;   ///< index of the cut joint; node in which its rows enter
    int coordinate[6]; ///< coordinate of the joint, and
    double inertia[6]; ///< rotor inertia, by row
    double known[6];   ///< speed, or its rate, at zero independent speeds or accelerations
    lwi_closure rows;  ///< rotor speed u = J V + b
} lwi_rcr_rotor;

typedef struct lwi_rcr_independent lwi_rcr_independent;

typedef struct lwi_rcr {
    const lw_model *model;
    const lwi_cut *cut;
    double length;            ///< characteristic length of the mechanism [m]
    double limit;             ///< [s] of an elimination while ranks are determined; 0: none
    lwi_rcr_node *node;       ///< [nnode]
    lwi_rcr_front *front;     ///< [nnode]
    int *waiting;             ///< [nnode] speeds delayed to each node, so far
    unsigned char *dependent; ///< [tree_nv] the partition; owned by the caller
    unsigned char *fresh;     ///< [tree_nv] a new partition
    unsigned char
        *at_start;  ///< [tree_nv] that of lwi_rcr_choose at the model's start; NULL: not known
    bool as_chosen; ///< FIND_RANKS chooses to the last bit as CHOOSE at the ranks it finds
    const lwi_rcr_independent *independent; ///< coordinates that the user names; NULL: none
    double *scale;                          ///< [tree_nv] size of the motion of a unit speed
    double *rotor;                          ///< [tree_nv] rotor inertias in units of the sweep
    int nloop_rotor;
    lwi_rcr_rotor *loop_rotor; ///< [nloop_rotor]
    // geometry of an instant, by lwi_rcr_place
    double (*S)[6];  ///< [tree_nv] motion subspace, divided by scale
    double (*d)[3];  ///< [nnode] link origin from the parent's origin
    double (*I)[36]; ///< [nnode] inertia about the link origin, [6][6] row by row
    double (*c)[3];  ///< [nnode] mass centre from the link origin
    // vectors of a sweep
    double (*F)[6]; ///< [nnode] in: forces on the nodes
    double *Q;      ///< [tree_nv] in: efforts
    double *a;      ///< [rows of cut] in: known part of the rows, scaled by len and length
    double (*x)[6]; ///< [nnode] out: motions of the nodes
    double *y;      ///< [tree_nv] out: speeds (in: the independent ones, lwi_rcr_velocities)
    double *mu;     ///< [rows of cut] out: multipliers, by lwi_rcr_multipliers
    // memory of the fronts from below, scratch from above; reused by every elimination
    double *pool;
    size_t room, used, need; ///< size; in use; largest need of all eliminations
    long passes;             ///< eliminations so far
    // results of the last elimination
    bool reduced;        ///< inertias, too: lwi_rcr_solve
    double min_pivot;    ///< smallest pivot of a dependent speed; 1: there is none
    int min_pivot_speed; ///< speed with that pivot
    double min_row;      ///< smallest part of a row that is independent of the others; 1: no rows
    int min_row_node;    ///< node of that row
    double
        max_dropped; ///< FIND_RANKS: largest part of a row that is not above the threshold; 0: no such row
    int ndependent;
} lwi_rcr;

/** Structure and memory, except ranks and pool (lwi_rcr_find_ranks); no limit.  @return LW_ERR_MEMORY */
lw_status lwi_rcr_create(const lw_model *model, const lwi_cut *cut, lwi_tree_work *tree,
                         lwi_arena *arena, lwi_rcr *rcr);
/** Geometry and inertias from the links and world frames in `tree`. */
void lwi_rcr_place(lwi_rcr *rcr, const lwi_tree_work *tree, double t);

/** The matrix pass; after lwi_rcr_place and lwi_cut_rows.  FIXED alone reduces inertias: after the others there are
 *  velocities, but no lwi_rcr_solve.
 *  @param pivot  smallest pivot: CHOOSE, FIND_RANKS: of an accepted choice; FIXED, SPEEDS: below it a speed is delayed
 *                while it can be
 *  @param rank   FIND_RANKS: rows are independent above this part of their length
 *  @return LW_ERR_SINGULAR naming a joint; LW_ERR_MEMORY if the pool is too small; LW_ERR_UNSUPPORTED above the
 *          limit */
lw_status lwi_rcr_eliminate(lwi_rcr *rcr, lwi_rcr_mode mode, double pivot, double rank, double t,
                            lw_error *error);
/** Generic rank: independent rows of all cut joints and couplings. */
int lwi_rcr_rank(const lwi_rcr *rcr);
typedef struct lwi_rcr_reactions lwi_rcr_reactions;
/** Generic ranks of all nodes, from the model's start and configurations near it, and the pool.  Overwrites tree and
 *  cut.
 *  @param shared  keeps the ranks; or NULL
 *  @param reactions  out: of redundant rows; NULL: there are none */
lw_status lwi_rcr_find_ranks(lwi_rcr *rcr, lwi_cut *cut, lwi_tree_work *tree, lwi_arena *arena,
                             lwi_shared *shared, lwi_rcr_reactions **reactions, lw_error *error);
/** A partition into `fresh`, with pivots above `pivot` if there is one; LWI_RCR_CHOOSE. */
lw_status lwi_rcr_choose(lwi_rcr *rcr, double pivot, double t, lw_error *error);
/** The elimination with the present partition.  @param mode  LWI_RCR_FIXED or LWI_RCR_SPEEDS */
lw_status lwi_rcr_factor(lwi_rcr *rcr, lwi_rcr_mode mode, double t, lw_error *error);

/** Motions x and all speeds y from the independent speeds in y, with rows J x + a = 0.
 *  @param rheonomic  a is read, else it is zero */
void lwi_rcr_velocities(lwi_rcr *rcr, bool rheonomic);
/** x, y at the stationary point for F, Q, a. */
void lwi_rcr_solve(lwi_rcr *rcr);
/** x of the speeds y, without prescribed motion. */
void lwi_rcr_move_nodes(lwi_rcr *rcr);
/** Multipliers mu of the rows: I x + sum J' mu = F in units of the sweep; after lwi_rcr_solve. */
void lwi_rcr_multipliers(lwi_rcr *rcr);

// ------------------------------------------- rotors on joints that close loops (rotors.c)

struct lwi_rcr_system;
lw_status lwi_rcr_rotors_create(lwi_rcr *e, lwi_arena *arena);
/** Rows of all rotors; after the poses, for gamma after the velocities. */
void lwi_rcr_rotors_rows(lwi_rcr *e, const lwi_tree_work *tree, double t, lwi_closure_level level);
/** True if a rotor belongs to the system of node k. */
bool lwi_rcr_rotors_at(const lwi_rcr *e, int k);
/** Adds their inertia: to K [6][6] if node k is the only body; to any system s. */
void lwi_rcr_rotors_inertia(const lwi_rcr *e, int k, double K[36]);
void lwi_rcr_rotors_fill(const lwi_rcr *e, struct lwi_rcr_system *s);
/** Subtracts from F what the rotors take at the known accelerations v, w [nbody] of bodies, or their momenta at known
 *  velocities. */
void lwi_rcr_rotors_force(lwi_rcr *e, const double (*v)[3], const double (*w)[3],
                          bool accelerations);
/** wrench [nnode] (link axes) += their efforts on bodies; after lwi_rcr_solve.
 *  @return power of these efforts across moving mounts [W] */
double lwi_rcr_rotors_efforts(lwi_rcr *e, const lwi_tree_work *tree, double (*wrench)[6]);
/** Impulses sigma, by row, of the rotors of cut joint `loop`; qd [nv]. */
void lwi_rcr_rotors_impulses(const lwi_rcr *e, int loop, const double *qd, double *sigma);

// -------------------------------------------------------------- reactions (reactions.c)

/** Memory except that of the factorisation, and which components of reactions are not unique at the configuration of the
 *  tree, which is closed to round-off.
 *  @param undetermined  [njoint] those, if they are known; NULL: they are to be found
 *  @return LW_ERR_MEMORY */
lw_status lwi_rcr_reactions_create(const lw_model *model, const lwi_tree_work *tree,
                                   const unsigned char *undetermined, lwi_arena *arena,
                                   lwi_rcr_reactions **reactions);
/** Memory of the factorisation, if there is none yet: loop clusters rarely need it.  @return LW_ERR_MEMORY */
lw_status lwi_rcr_reactions_prepare(const lw_model *model, lwi_rcr_reactions *reactions,
                                    const lwi_tree_work *tree);
/** Reactions of all joints that are not rigidly merged, with minimum norm over forces [N], torques [N m] and
 *  multipliers of couplings.  After lwi_tree_newton_euler, with tree->wrench
 *  that of the loads.  @return LW_ERR_NOT_FINITE; LW_ERR_MEMORY: the first time, as lwi_rcr_reactions_prepare */
lw_status lwi_rcr_reactions_observe(const lw_model *model, lwi_rcr_reactions *reactions,
                                    const lwi_tree_work *tree, double t, lwi_snapshot *snapshot);
/** Which components of the reactions in a snapshot are not unique. */
void lwi_rcr_reactions_mark(const lw_model *model, const lwi_rcr_reactions *reactions,
                            lwi_snapshot *snapshot);

// ------------------------------------------------------------ self-stresses of loops (self_stress.c)

/** Which components of reactions are not unique, if all redundant rows are those of single loops; after lwi_rcr_place and
 *  lwi_cut_rows, at a configuration that is closed to round-off.
 *  @param redundant     number of redundant rows of the mechanism
 *  @param undetermined  out, [njoint] as in lwi_snapshot
 *  @param dependent     out, [nloop] rows of the joint that closes each loop that depend on the others of the loop
 *  @return false: they are not, or that is not certain         @cost O(joints of all loops) */
bool lwi_rcr_self_stresses(const lwi_rcr *rcr, const lwi_tree_work *tree, int redundant,
                           unsigned char *undetermined, int *dependent);

// ----------------------------------------------------------------------- the formulation (rcr.c)

/** Discrete state in addition to x: the partition, and its history since it was first chosen, trial steps
 *  included. */
typedef struct lwi_rcr_choice {
    bool made;
    bool used_partition; ///< since the last pre-step, where the dense path evaluates otherwise
    double min_pivot;  ///< smallest pivot since the last pre-step, and of the evaluation before it
    double last_pivot; ///< of the last evaluation
    double rejected_pivot; ///< pivot at which no better partition was found; 0: no search yet.  Of
                           ///< coordinates that are named: the smallest so far, below `keep`
    int switches;
    double entry; ///< time of the first switch, or of the smallest pivot of named coordinates
    unsigned char dependent[]; ///< [tree_nv]
} lwi_rcr_choice;

/** What the speeds of a state are needed for besides rates.  A run begins with scales, velocities and a row of one
 *  state, and ends with the velocities of a row: each takes what another has found.  None takes its own, so that calls
 *  repeated at one state cost and test all that they do. */
typedef enum lwi_rcr_purpose {
    LWI_RCR_FOR_NONE,
    LWI_RCR_FOR_STEP, ///< a pre-step; only the rates of its step take it
    LWI_RCR_FOR_SCALE,
    LWI_RCR_FOR_VELOCITIES,
    LWI_RCR_FOR_ROW
} lwi_rcr_purpose;

typedef struct lwi_rcr_work {
    lwi_tree_work tree;
    lwi_cut cut;
    lwi_rcr e;
    lwi_auxiliary auxiliary;
    double theta, keep;           ///< LWI_RCR_THETA, LWI_RCR_KEEP
    double *v, *vdot, *zeros;     ///< [tree_nv] all speeds, their rates, zeros
    double *lambda;               ///< [rows] M A = F + J' lambda
    lwi_rcr_reactions *reactions; ///< NULL: all reactions are unique
    double (*residual)
        [6]; ///< [nnode] forces that remain on the bodies at zero free accelerations, link axes
    double mount_power; ///< power of the efforts of cut joints across their moving mounts [W]
    double rotor_power; ///< and of their rotors [W]
    struct lwi_rcr_clusters *clusters; ///< NULL: the model has no loop clusters
    bool in_clusters;                  ///< the last rates are from them
    bool hinges_alone; ///< hinges close all loops, and nothing but rows reads the motion of bodies
    bool has_inertia;  ///< something resists every motion, with clusters
    struct lwi_rcr_dense *dense; ///< NULL: the elimination is faster
    bool by_dense;               ///< the present motion is from the dense path
    lwi_cut_momenta *momenta;    ///< NULL: the state has speeds
    double *p, *sigma;           ///< [tree_nv] momenta in link axes, [rows] impulses
    struct {
        bool
            solved; ///< factors and speeds are those of the state x at t with these dependent speeds
        bool rows;  ///< with the rows and geometry of the elimination
        bool clusters; ///< speeds are those of the clusters; else they differ by round-off
        lwi_rcr_purpose purpose; ///< of the last call that found or took them
        double t, *x;
        unsigned char *dependent;
    } last; ///< [layout.nx], [tree_nv]
    struct {
        bool made;
        unsigned char *dependent; ///< [tree_nv]
        double pivot; ///< its smallest one in the clusters at the model's start; 0: it has none
        double *x;    ///< [layout.nx] scratch
    } start;          ///< lwi_rcr_start_partition
    struct {
        bool valid;
        double t, *x;
        double off; ///< how far its speeds are from the rows, in tolerances
    } dense_at;     ///< [layout.nx] the state that the dense path has evaluated last
    struct {
        double *xdot;          ///< [layout.nx]; NULL: bodies are too similar to lose digits
        double *rotor;         ///< [tree_nv + 6 loop rotors] their inertias
        unsigned char *choice; ///< [work->ndiscrete]
    } digits;                  ///< scratch of lost_digits.c
} lwi_rcr_work;

/** The partition [tree_nv] that clusters take at the model's start, which suits most other states: it depends on nothing but
 *  the model.  Overwrites tree and elimination when it is called first.  NULL: there is none, or coordinates are named. */
const unsigned char *lwi_rcr_start_partition(lwi_work *work);

/** Kinds of evaluation, rows of the table of costs: loop clusters in lanes, dense path, elimination
 *  node by node. */
#define LWI_RCR_CLUSTERS "rcr clusters"
#define LWI_RCR_DENSE_PATH "rcr dense path"
#define LWI_RCR_ELIMINATION "rcr elimination"
/** The kind that evaluates the present state; after rates. */
const char *lwi_rcr_evaluation_name(const lwi_rcr_work *d);
/** Sizes that determine the cost of an evaluation of each kind (count.c); after an elimination, for clusters after
 *  rates.  Leaves the features of other formulations unchanged. */
void lwi_rcr_count(const lwi_rcr_work *d, lwi_cost_features *features);
/** The same from the graph alone, before anything is set up: upper bounds, since redundant rows count as independent
 *  and loop clusters are not recognised (predict.c).  Ends when the elimination and the dense path both take more
 *  than `limit` [s]; the features are then those counted so far.
 *  @param seconds  out: one evaluation by the cheaper of the two; at least this, if above `limit`
 *  @cost  below that of the evaluation      @return LW_ERR_MEMORY */
lw_status lwi_rcr_predict(const lw_model *model, double limit, const lw_allocator *allocator,
                          lwi_cost_features *features, double *seconds);
/** Nodes of the moving bodies of cut joint i, or of coupling i - nloop; their number. */
int lwi_rcr_closure_nodes(const lw_model *model, int i, int node[LWI_CLOSURE_BODIES]);
/** Bodies on the paths between n nodes of a closure and the ground, each once; stops at `limit`. */
int lwi_rcr_bodies_below(const lw_model *model, int n, const int *node, int limit);
/** Multiplications of the decomposition of m rows in n speeds at rank r and of one solution with it. */
double lwi_rcr_reflections(double n, double m, double r);
/** row_paths, row_products of so many rows, from the features before them. */
void lwi_rcr_count_rows(double rows, bool redundant, lwi_cost_features *features);

// ---- accelerations.c: accelerations by the elimination

/** tree->A: accelerations at zero free accelerations, with gravity as in lwi_tree_newton_euler.
 *  d->residual: the forces that remain then, link axes.  After the loads. */
void lwi_rcr_residual_forces(lwi_rcr_work *d);
/** gamma of all rows; after the rows and the velocities. */
void lwi_rcr_gamma(lwi_cut *cut, const lwi_tree_work *tree, double t);

/** F of the sweep from a wrench on node k, link axes about its origin [N, N m]. */
void lwi_rcr_force(lwi_rcr *e, const lwi_tree_work *tree, int k, const double wrench[6]);
/** Multipliers lambda [rows] in the units of the rows, M A = F + J' lambda; after lwi_rcr_solve. */
void lwi_rcr_lambda(lwi_rcr_work *d, double *lambda);
/** vdot and rotor_power by the elimination; after the loads and the velocities. */
void lwi_rcr_accelerations(lwi_rcr_work *d, double t);
/** tree->A, and tree->F of the nodes without rows (tree->has_F), link axes, as the sweep has found them.  Computed again
 *  from vdot, accelerations add up its round-off along a chain, and reactions have many times as much.  After
 *  lwi_rcr_accelerations. */
void lwi_rcr_take_accelerations(lwi_rcr_work *d);

// ---- momenta.c: momenta as state

/** v and sigma from the state's momenta; after the elimination, with V of the prescribed motion. */
void lwi_rcr_momenta_speeds(lwi_rcr_work *d, const double *state);
/** The impulses of the cuts and the momenta that the joints transmit; after lwi_rcr_momenta_speeds and the
 *  velocities. */
void lwi_rcr_momenta_impulses(lwi_rcr_work *d, double t);
/** `impulses` of the formulation; none, if the state has speeds. */
bool lwi_rcr_state_impulses(const lwi_work *work, int i, int n, double *sigma);

// ---- rows.c: rows of one front, [n][stride] row by row

/** Makes rows orthonormal in their first `columns`, the longest first, until `kept` of them are (negative: all
 *  above `threshold`).  Kept rows come first.  @return number of kept rows
 *  @param mix      [max. kept or `columns`][n]; norm, pick: as in lwi_rcr_front
 *  @param scratch  [2 n] */
int lwi_rcr_orthonormal(int n, int columns, int stride, double *G, int kept, double threshold,
                        double *mix, double *norm, int *pick, double *scratch);
/** The same operations on one number of each row, b [n] in, [kept] out; and their transpose, b
 *  [kept] in, [n] out. */
void lwi_rcr_mix(int n, int kept, const double *mix, const double *norm, const int *pick, double *b,
                 double *scratch);
void lwi_rcr_mix_t(int n, int kept, const double *mix, const double *norm, const int *pick,
                   double *b, double *scratch);
/** b [n] := the multipliers of minimum norm with the same effect on the rows, independent of which rows were dropped,
 *  hence smooth in time.
 *  Cost: n times the square of the number of kept or of dropped rows, about the smaller.
 *  @param basis  scratch [lwi_rcr_minimum_norm_basis][n]    @param scratch  [n] */
void lwi_rcr_minimum_norm(int n, int kept, const double *mix, const double *norm, const int *pick,
                          double *b, double *basis, double *scratch);
int lwi_rcr_minimum_norm_basis(int n, int kept);
/** A reflector [scale, vector] that zeroes column j of rows s + 1 ..., applied to all columns; to a
 *  vector. */
void lwi_rcr_reflect(int n, int s, int columns, int stride, double *G, int j, double *reflector,
                     double *scratch);
void lwi_rcr_reflect_vector(int n, int s, const double *reflector, double *b);

#endif
