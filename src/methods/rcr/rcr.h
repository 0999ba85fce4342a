// rcr.h -- recursive coordinate reduction in its general form: bodies of the tree are eliminated
// one after the other, loops with them.
//
// Gauss' function of the accelerations x_k = X x_parent + S_k y_k of the tree, under the rows of
// cut joints,
//
//     Z = sum_k  x_k' I_k x_k / 2 - F_k' x_k - Q_k' y_k,    sum_s J_s x_s + a = 0
//
// is made stationary body by body, the highest number first [anderson2003].  What is left of it
// after node k is a message (H, h; G, g) to the highest other body in it:
//
//     x' H x / 2 - h' x,    G x + g = 0,    x = (delayed speeds; motions of other bodies)
//
// At a node the speeds y (its own and those delayed so far) are divided by the rows:
//   dependent    a row determines it with a pivot that is large enough: y_D = P (y_I, x) + p
//   delayed      it is in a row that is left, and goes on with the message
//   independent  in no row: stationarity determines it, Cholesky
//
// Which speeds are dependent in the end is the partition; where each of them finds its row is
// decided by the numbers at every evaluation and changes nothing but rounding.
//
// Units: everything in here is divided by powers of one length of the mechanism (lwi_rcr.length),
// so that displacements and turns compare; world axes, about the origins of the link frames.
#ifndef LWI_METHODS_RCR_RCR_H
#define LWI_METHODS_RCR_RCR_H

#include "kinematics/costs.h"
#include "loops/cut_momenta.h"
#include "loops/cut_state.h"

/** What the graph alone decides about a node. */
typedef struct lwi_rcr_node {
    int up; ///< node that gets the message; -1: nothing is left
    int nbody;
    int *body;          ///< [nbody] other bodies in its system, descending: up first
    int parent_at;      ///< where the parent stands among them; -1: it is the ground
    int nchild, *child; ///< nodes whose messages come here, descending
    int *slot;          ///< [nbody] where `up` finds body[i] among its own; its nbody for itself
    int nclosure, *closure; ///< cut joints and couplings that enter here
    bool plain;             ///< no other body but the parent is in it, nor in its rows
    int rank;               ///< rows that are independent here and below, learnt
} lwi_rcr_node;

/** A node's system after its elimination.  b: what comes from above, delayed speeds then bodies. */
typedef struct lwi_rcr_front {
    int ny, nd, ni, nz, nb; ///< speeds: all, dependent, independent, delayed; nb = nz + 6 nbody
    int nin, kept, nout;    ///< rows: that came, independent ones, left
    int below;              ///< dependent speeds here and below
    bool unconstrained;     ///< all is independent, rows are only carried: unconstrained.c
    bool rows_unchanged;    ///< rows go on as they came, about another point
    int *y;                 ///< [ny] speeds: dependent, independent, delayed
    int *from;              ///< [ny] where they stood as they came: own, then those of the children
    int *pick;              ///< [kept] rows in the order of their elimination
    double *norm, *mix;     ///< [kept], [kept][nin]: how rows are made orthonormal
    double *reflect;        ///< [nd][kept + 1]: reflectors, scale first
    double *R, *P;          ///< [nd][nd] upper, [nd][ni + nb]
    double *HD;             ///< [nd][nd + ni + nb] rows of the dependent
    double *L, *Y;          ///< [ni][ni], [ni][nb]
    double *H, *G;          ///< [nb][nb], [nout][nb] the message
    double *row;            ///< [nin] right-hand sides; after a sweep [nd] then [nout]
    double *h, *hD, *p, *z; ///< [nb] message, [nd], [nd], [ni]
} lwi_rcr_front;

/** Pivots of orthonormal rows.  A choice takes what is above THETA, the largest first; a partition
 * is kept while its smallest pivot is above KEEP: the gap is the hysteresis.  A dependent speed
 * whose pivot is below DELAY waits for other rows while there are any; LAST takes all but rounding.
 */
#define LWI_RCR_THETA 0.5
#define LWI_RCR_KEEP 0.2
#define LWI_RCR_DELAY 0.1
#define LWI_RCR_LAST 1e-7
/** Where more speeds than CROWD wait, fronts grow with every node: a choice then takes what is above
 * CROWDED, which is well above KEEP still. */
#define LWI_RCR_WIDE 8
#define LWI_RCR_THETA_WIDE 0.3

/** A column of rows of length one that is below this part is not there but for rounding. */
#define LWI_RCR_ABSENT 1e-12

typedef enum lwi_rcr_mode {
    LWI_RCR_FIXED,     ///< the partition is kept
    LWI_RCR_CHOOSE,    ///< a new one, at the ranks learnt
    LWI_RCR_FIND_RANKS ///< and ranks by a threshold
} lwi_rcr_mode;

/** The rotors of a joint that closes a loop, rotors.c. */
typedef struct lwi_rcr_rotor {
    int loop, entry;   ///< cut joint; node whose system they are in
    int coordinate[6]; ///< of the joint, and
    double inertia[6]; ///< by row
    double known[6];   ///< speed or its rate by what does not depend on the free speeds
    lwi_closure rows;  ///< u = J V + b
} lwi_rcr_rotor;

typedef struct lwi_rcr {
    const lw_model *model;
    const lwi_cut *cut;
    double length;            ///< of the mechanism [m]
    lwi_rcr_node *node;       ///< [nnode]
    lwi_rcr_front *front;     ///< [nnode]
    unsigned char *dependent; ///< [tree_nv] the partition; the caller's
    unsigned char *fresh;     ///< [tree_nv] scratch for a new one
    double *scale;            ///< [tree_nv] size of the motion that a unit speed makes
    double *rotor;            ///< [tree_nv] rotor inertias in the units of the sweep
    int nloop_rotor;
    lwi_rcr_rotor *loop_rotor; ///< [nloop_rotor]
    // an instant, by lwi_rcr_place
    double (*S)[6];  ///< [tree_nv] divided by scale
    double (*d)[3];  ///< [nnode] from the parent's origin
    double (*I)[36]; ///< [nnode]
    double (*c)[3];  ///< [nnode] mass centre from the origin
    // vectors of a sweep
    double (*F)[6]; ///< [nnode] in: forces
    double *Q;      ///< [tree_nv] in: efforts
    double *a;      ///< [rows of cut] in: J (what is known of x) + known part, by len and length
    double (*x)[6]; ///< [nnode] out
    double *y;      ///< [tree_nv] out (in: the independent speeds, lwi_rcr_velocities)
    double *mu;     ///< [rows of cut] out: multipliers, by lwi_rcr_multipliers
    // memory of the fronts from below and scratch from above, used anew by every elimination
    double *pool;
    size_t room, used, need; ///< need: the largest need of all eliminations
    // what the last elimination met
    double min_pivot;    ///< smallest pivot of a dependent speed; 1 where there is none
    int min_pivot_speed; ///< its speed
    double min_row;   ///< smallest part of a row that others do not contain; 1 where there are none
    int min_row_node; ///< node that met it
    int ndependent;
} lwi_rcr;

/** Structure and memory, but for ranks and pool (lwi_rcr_find_ranks). */
lw_status lwi_rcr_create(const lw_model *model, const lwi_cut *cut, lwi_tree_work *tree,
                         lwi_arena *arena, lwi_rcr *rcr);
/** Geometry and inertias of the instant in `tree` (links, world frames). */
void lwi_rcr_place(lwi_rcr *rcr, const lwi_tree_work *tree, double t);

/** The matrix pass; after lwi_rcr_place and lwi_cut_rows.
 *  @param pivot  least pivot: CHOOSE, LEARN: of a choice; FIXED: below it a speed is delayed while
 * it can be
 *  @param rank   LEARN: rows count above this part of their length
 *  @return LW_ERR_SINGULAR naming a joint; LW_ERR_MEMORY where the pool is too small */
lw_status lwi_rcr_eliminate(lwi_rcr *rcr, lwi_rcr_mode mode, double pivot, double rank, double t,
                            lw_error *error);
/** Independent rows of all cut joints and couplings, as learnt. */
int lwi_rcr_rank(const lwi_rcr *rcr);
/** Ranks of all nodes, at the model's start and near it, and the pool.  Leaves tree and cut
 * changed. */
lw_status lwi_rcr_find_ranks(lwi_rcr *rcr, lwi_cut *cut, lwi_tree_work *tree, lwi_arena *arena,
                             lw_error *error);
/** A partition with pivots above `pivot` where there are such, into `fresh`; LWI_RCR_CHOOSE. */
lw_status lwi_rcr_choose(lwi_rcr *rcr, double pivot, double t, lw_error *error);
/** The elimination with the partition at hand; LWI_RCR_FIXED. */
lw_status lwi_rcr_factor(lwi_rcr *rcr, double t, lw_error *error);

/** Motion with independent speeds y and rows J x + a = 0: x, y.
 *  @param rheonomic  a is read, else it is zero */
void lwi_rcr_velocities(lwi_rcr *rcr, bool rheonomic);
/** Stationary x, y for F, Q, a. */
void lwi_rcr_solve(lwi_rcr *rcr);
/** Multipliers mu of the rows: I x + sum J' mu = F in the units of the sweep; after lwi_rcr_solve.
 */
void lwi_rcr_multipliers(lwi_rcr *rcr);

// ------------------------------------------- rotors on joints that close loops (rotors.c)

struct lwi_rcr_system;
lw_status lwi_rcr_rotors_create(lwi_rcr *e, lwi_arena *arena);
/** Rows of all; after the poses, gamma after the velocities. */
void lwi_rcr_rotors_rows(lwi_rcr *e, const lwi_tree_work *tree, double t, lwi_closure_level level);
/** Are there any in the system of node k? */
bool lwi_rcr_rotors_at(const lwi_rcr *e, int k);
/** Their inertia, where node k is the only body, and in any system. */
void lwi_rcr_rotors_inertia(const lwi_rcr *e, int k, double K[36]);
void lwi_rcr_rotors_fill(const lwi_rcr *e, struct lwi_rcr_system *s);
/** F: less what they take for known accelerations v, w [nbody] of bodies, or momenta for known velocities. */
void lwi_rcr_rotors_force(lwi_rcr *e, const double (*v)[3], const double (*w)[3],
                          bool accelerations);
/** wrench [nnode] += their efforts on bodies, link axes; after lwi_rcr_solve.
 *  @return power that these have across mounts [W] */
double lwi_rcr_rotors_efforts(lwi_rcr *e, const lwi_tree_work *tree, double (*wrench)[6]);
/** Impulses of those of one cut joint, by row; qd [nv]. */
void lwi_rcr_rotors_impulses(const lwi_rcr *e, int loop, const double *qd, double *sigma);

// -------------------------------------------------------------- reactions (reactions.c)

typedef struct lwi_rcr_reactions lwi_rcr_reactions;
lw_status lwi_rcr_reactions_create(const lwi_rcr *rcr, lwi_arena *arena,
                                   lwi_rcr_reactions **reactions);
/** The smallest reactions of all joints that are not merged, forces [N] and torques [N m] over all
 * joints and multipliers of couplings, and whether they are unique, O(n).  After
 * lwi_tree_newton_euler, with tree->wrench that of the loads.  False where numbers are not finite.
 */
bool lwi_rcr_reactions_observe(const lwi_rcr *rcr, lwi_rcr_reactions *reactions,
                               const lwi_tree_work *tree, double t, lwi_snapshot *snapshot);

// ----------------------------------------------------------------------- the formulation (rcr.c)

/** What is discrete beside x: the partition, and what was met since it was first chosen, trial
 * steps included. */
typedef struct lwi_rcr_choice {
    bool made;
    bool
        used_dense_path; ///< evaluations since the last settle went by the partition, not by few rows
    double min_pivot;    ///< smallest pivot since the last settle
    double rejected_pivot; ///< no better partition was found at this pivot; 0: none was sought
    int switches;
    double entry;              ///< time of the first switch
    unsigned char dependent[]; ///< [tree_nv]
} lwi_rcr_choice;

typedef struct lwi_rcr_work {
    lwi_tree_work tree;
    lwi_cut cut;
    lwi_rcr e;
    lwi_auxiliary auxiliary;
    double theta, keep;           ///< LWI_RCR_THETA, LWI_RCR_KEEP
    double *v, *vdot, *zeros;     ///< [tree_nv] all speeds, their rates, zeros
    double *lambda;               ///< [rows] M A = F + J' lambda
    lwi_rcr_reactions *reactions; ///< NULL: all are unique
    double (*residual)[6]; ///< [nnode] forces on the bodies at the accelerations without free ones
    double mount_power;    ///< of efforts of cut joints across their mounts [W]
    double rotor_power;    ///< of their rotors
    struct lwi_rcr_clusters *clusters; ///< NULL: not for this model
    struct lwi_rcr_dense *dense;       ///< NULL: the elimination is the faster one
    bool by_dense;                     ///< the motion at hand
    lwi_cut_momenta *momenta;          ///< NULL: the state has speeds
    double *p, *sigma;                 ///< [tree_nv] momenta in link axes, [rows] impulses
} lwi_rcr_work;

/** How evaluations go: loops in lanes, all rows at once, body by body; rows of the table of costs. */
#define LWI_RCR_CLUSTERS "rcr clusters"
#define LWI_RCR_DENSE_PATH "rcr dense path"
#define LWI_RCR_ELIMINATION "rcr elimination"
/** Of the state at hand; after rates. */
const char *lwi_rcr_evaluation_name(const lwi_rcr_work *d);
/** What an evaluation at the state at hand works on, by any of the ways (count.c); after an elimination, cells
 *  after rates.  Features of other formulations are left alone. */
void lwi_rcr_count(const lwi_rcr_work *d, lwi_cost_features *features);

/** Velocities of the bodies in the tree, after lwi_tree_velocity; merged ones are left to the forces. */
void lwi_rcr_body_velocities(const lw_model *model, lwi_tree_work *tree);
/** tree->A: accelerations without those of the free speeds, in the falling frame, as
 *  lwi_tree_newton_euler; left: what is left of the forces then, in link axes; after the loads. */
void lwi_rcr_residual_forces(lwi_rcr_work *d);
/** gamma of all rows; after the rows and the velocities. */
void lwi_rcr_gamma(lwi_cut *cut, const lwi_tree_work *tree, double t);

/** In F of the sweep: a wrench on node k in link axes about its origin [N, N m]. */
void lwi_rcr_force(lwi_rcr *e, const lwi_tree_work *tree, int k, const double wrench[6]);
/** Multipliers in the rows' own units, M A = F + J' lambda; after lwi_rcr_solve. */
void lwi_rcr_lambda(lwi_rcr_work *d, double *lambda);

// ---- momenta.c: momenta as state

/** v and sigma of the state's momenta; after the elimination, with V of what is prescribed. */
void lwi_rcr_momenta_speeds(lwi_rcr_work *d, const double *state);
/** pdot [tree_nv]; after lwi_rcr_momenta_speeds, the velocities and the loads. */
void lwi_rcr_momenta_rates(lwi_rcr_work *d, double t, const double *state, double *pdot);

// ---- rows.c: rows of one front, [n][stride] row by row

/** Makes rows orthonormal in their first `columns`, the longest first, until `kept` of them are
 *  (negative: all above `threshold`).  Kept rows come first.  Returns how many.
 *  @param mix [most kept][n], norm, pick: as of the front       @param scratch  [2 n] */
int lwi_rcr_orthonormal(int n, int columns, int stride, double *G, int kept, double threshold,
                        double *mix, double *norm, int *pick, double *scratch);
/** The same on one number of each row: b [n] in, [kept] out; and its transpose, b [kept] in, [n]
 * out. */
void lwi_rcr_mix(int n, int kept, const double *mix, const double *norm, const int *pick, double *b,
                 double *scratch);
void lwi_rcr_mix_t(int n, int kept, const double *mix, const double *norm, const int *pick,
                   double *b, double *scratch);
/** Of all multipliers b [n] of the rows that do the same the least: whichever rows were left away, it
 * is the same, so that it changes smoothly with them.
 *  @param null  scratch [n - kept][n]    @param scratch  [n] */
void lwi_rcr_minimum_norm(int n, int kept, const double *mix, const double *norm, const int *pick,
                          double *b, double *null, double *scratch);
/** A reflector that makes column j of rows s.. vanish below row s, applied to all columns: [scale,
 *  vector]. */
void lwi_rcr_reflect(int n, int s, int columns, int stride, double *G, int j, double *reflector,
                     double *scratch);
void lwi_rcr_reflect_vector(int n, int s, const double *reflector, double *b);

#endif
