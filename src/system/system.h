// system.h -- a mechanism as bodies and constraint rows for the elimination: common to dca, hdca, index3,
// projections and assembly.
//
// Bodies of the elimination are the nodes of the spanning tree (every body that is not rigidly merged).
// Edges are all joints that are not merged, tree joints included, then the couplings.  All quantities are in
// world axes about mass centres.
//
//     x = K (f + J' lambda),   J x = c
// accelerations: K = M^-1, f = loads - gyroscopic, c = -gamma;  velocities: f = momenta, c = -b. J' lambda
// are the wrenches of the joints on the bodies, which gives the sign of lambda.
//
// Use: create; write the motion to R, r, v, w, q, qd (all bodies of the model); then either
// lwi_system_accelerations, or rows / rates, factor and solve one by one.  Nothing is allocated after
// creation.  Threads: one per lwi_system.
#ifndef LWI_SYSTEM_SYSTEM_H
#define LWI_SYSTEM_SYSTEM_H

#include "elimination/elimination.h"
#include "elimination/split.h"
#include "kinematics/auxiliary.h"
#include "kinematics/formulation.h"
#include "kinematics/closure.h"
#include "kinematics/passes.h"
#include "model/forces/shares.h"
#include "kinematics/tree_state.h"
#include "system/min_norm.h"
#include "system/shared.h"

/** Block of K of one body, world axes. */
typedef struct lwi_system_metric {
    double lin, ang[6]; ///< 1/kg; symmetric xx yy zz xy xz yz
    bool round;         ///< xx = yy = zz, the others are zero
    const double *full; ///< [6][6] in place of these (transfer.h), or NULL
} lwi_system_metric;

/** A pivot, a squared sine, above this counts as a new direction at positions closed to round-off. There
 *  redundant rows have 1e-16 to 1e-15 of S_rr, independent rows of ordinary mechanisms 0.01 to 1, except for
 *  rows that hold a long chain as a whole: n bodies that move as one body across their plane have 1/n^3,
 *  1e-10 at 3000 bodies.  Round-off of long paths may be as large; then the rows in the speeds of the tree decide (rank.c).
 *  If positions do not close: LWI_ELIM_RANK. */
#define LWI_SYSTEM_RANK 1e-13

/** A body of the elimination for the rotors of one joint on coordinates first .. first + 2: their speeds are
 *  its components 3 .. 5; rows of the joint's edge make them equal to the speeds of the coordinates. */
typedef struct lwi_system_rotor {
    int joint, first;
} lwi_system_rotor;

/** An edge defined by the caller between bodies (that are not merged), all different. */
typedef struct lwi_system_extra {
    int body[LWI_EDGE_BODIES], n, rows;
    bool ground; ///< it also acts on the ground
} lwi_system_extra;

typedef struct lwi_system {
    const lw_model *model;
    int nedge, nrow; ///< edges and rows of the mechanism; links of split bodies come after them
    int nextra;      ///< the last edges, defined and filled by the caller
    const lwi_system_extra *extra; ///< [nextra]
    int nrotor; ///< rotor bodies, numbers nnode + i of the elimination; 0 unless created with them
    lwi_system_rotor *rotor; ///< [nrotor] in the order of the joints
    int *joint_rotor;        ///< [njoint + 1] first rotor body of each joint
    int nbody;               ///< bodies of the elimination: nodes, extensions or rotors, parts
    lwi_split split;         ///< split bodies: their parts are the last bodies
    /** Whether every edge except couplings has each of its bodies twice: extension nnode + k holds the
     *  unknowns of node k beyond six, in components defined by the caller, who also fills their J and G. */
    bool extensions;
    int *joint_edge; ///< [njoint] edge of each joint; -1: merged or without rows
    int *
        edge_joint; ///< [nedge] joint, or -1 - coupling; then for each link of split bodies a joint of its part
    lwi_plan plan; ///< plan.row[e]: first row of edge e, plan.slot[e]: first slot
    lwi_elim *elim;
    lwi_pool *pool; ///< NULL: one thread, always for systems too small to be worth waking others
    lwi_force_shares *shares; ///< of the model's forces, by lwi_system_threads; NULL: one thread
    lwi_system_metric
        *metric; ///< [nbody] by lwi_system_masses or lwi_system_geometric; extensions: 0
    const double (*mobility)[6]; ///< [nnode] inverse inertias, body axes; 0: not positive definite
    struct lwi_transfer *transfer; ///< for bodies without inertia; NULL: there are none
    double length; ///< length of the mechanism [m]: unit between translations and rotations
    // motion, filled by the caller, [model nbody], world axes (w too)
    double (*R)[9], (*r)[3], (*v)[3], (*w)[3];
    double *q, *qd;                   ///< joint arrays [model nq], [model nv]
    lwi_motion motion;                ///< points at those
    lwi_loads loads;                  ///< by lwi_system_forces
    const unsigned char *const *mode; ///< modes of an lwi_work for lwi_kin; NULL: from the state
    const lwi_states *states;         ///< the same of signals
    // rows
    double *phi, *b,
        *gamma; ///< [plan.nrow], 0 for links, by lwi_system_rows / lwi_system_rates
    // solutions
    double *c, *lambda;       ///< [plan.nrow]
    double (*x)[6];           ///< [nbody] nodes first
    double (*a)[3], (*al)[3]; ///< [nbody] by lwi_system_accelerations: mass centres, world axes
    int start_rank,
        generic_rank;         ///< rank at the start; maximum at configurations nearby, used by runs
    int inactive_evaluations; ///< evaluations with inactive rows since they became inactive
    double
        tree_pivot; ///< lwi_elim_tree_pivot in the metric of masses, by lwi_system_find_reference; 0: not known
    bool careful; ///< by lwi_system_choose_digits: solutions are checked for lost digits
    double (*x0)[6],
        *before; ///< then: [nbody] x of the right side; [6 nbody + plan.nrow] before a refinement
    double lost; ///< largest relative error that refinement left
    int extended_count;          ///< matrix passes in double-double arithmetic
    double min_pivot;            ///< smallest pivot of these, as a share of its S_rr
    int min_pivot_edge;          ///< its edge
    unsigned char *undetermined; ///< [njoint] as in lwi_snapshot, by lwi_system_prepare_reactions
    lwi_feedback *feedback; ///< of the work, where forces are evaluated; NULL: inputs are constant
    lwi_min_norm *min_norm; ///< NULL: no row is redundant, or without lwi_system_prepare_reactions
    lwi_shared
        *common; ///< that with its plan and generic ranks; NULL: there is none.  At creation only
    double (*generic_R)[9], (*generic_r)[3],
        *generic_q;   ///< configuration of the generic ranks; NULL: that of the start
    double generic_t; ///< its time: 0, or shortly after where drives are
    bool
        ranked_there; ///< at creation: the pivots of the elimination are those at this configuration, in the metric of
    ///< lwi_system_geometric
    double (*wrench)[6];     ///< [nbody] loads and efforts
    const double *effort;    ///< efforts of the last loads
    double (*y)[6], *row[2]; ///< scratch [nbody], [plan.nrow]
} lwi_system;

/** Calls item(user, i) for i = 0 ... count - 1, on the threads of the system. */
void lwi_system_for(lwi_system *system, int count, void (*item)(void *user, int i), void *user);

/** Creates graph, plan and elimination; finds the generic ranks at the model's start and nearby
 *  configurations (closed to round-off).  The motion is then that of the model's start.
 *  @return LW_ERR_MEMORY */
lw_status lwi_system_create(const lw_model *model, lw_plan kind, lwi_arena *arena,
                            lwi_system *system);
/** The same with the rotors of the model: edges then have more rows than closures, by lwi_joint_rotor_rows.
 *  @param splits  split bodies with many joints into parts, as lwi_system_create does (elimination/split.h) */
lw_status lwi_system_create_rotors(const lw_model *model, lw_plan kind, bool splits,
                                   lwi_arena *arena, lwi_system *system);
/** lwi_system_create_rotors, which splits bodies, with plan and generic ranks of `shared`, or for it; NULL: alone. */
lw_status lwi_system_create_shared(const lw_model *model, lw_plan kind, bool rotors,
                                   lwi_shared *shared, lwi_arena *arena, lwi_system *system);
/** The same without rotors and before lwi_system_find_ranks; its elimination may be that of other parts of the simulation
 *  (lwi_shared_elim): rows and factors are valid until another one is used. */
lw_status lwi_system_create_common(const lw_model *model, lwi_shared *shared, lwi_arena *arena,
                                   lwi_system *system);
/** lwi_system_create_shared with `nextra` edges of the caller, who fills J, phi, b and gamma of them, and with extensions;
 *  ranks are not found: only for factors with eps > 0.  Without extensions bodies with many edges are split. */
lw_status lwi_system_create_extra(const lw_model *model, lw_plan kind, int nextra,
                                  const lwi_system_extra *extra, bool extensions, lwi_arena *arena,
                                  lwi_system *system);
/** Node of a body of the elimination without extensions and rotors: of a part that of the split body. */
int lwi_system_node_of(const lwi_system *system, int body);
/** Number of the parts of a node's body, 1: not split. */
int lwi_system_parts_of(const lwi_system *system, int node);
/** Motion, graph and plan only, without elimination. */
lw_status lwi_system_plan(const lw_model *model, lw_plan kind, lwi_shared *shared, lwi_arena *arena,
                          lwi_system *system);
/** Creation with rotors and the options of the work: plan, and threads if lwi_elim_worth_threads.  The pool
 *  system->pool must be destroyed by the caller, after a failure too.
 *  @return LW_ERR_MEMORY, or the error of lwi_pool_create */
lw_status lwi_system_prepare(lwi_work *work, lwi_system *system);
/** Finds out from the pivots at the start, in the metric of masses, and from the length of chains whether the
 *  elimination may lose digits.  lwi_system_solve then refines until they are recovered, or takes double-double
 *  arithmetic, for which memory is allocated.  Changes J and factors.
 *  @return LW_ERR_MEMORY */
lw_status lwi_system_choose_digits(lwi_system *system, lwi_arena *arena);
/** Rows and passes run on the threads of the pool from now on, if lwi_elim_worth_threads. */
lw_status lwi_system_threads(lwi_system *system, lwi_pool *pool, lwi_arena *arena);
/** Finds the generic ranks; leaves the motion at the start (rank.c). */
lw_status lwi_system_find_ranks(lwi_system *system, lwi_shared *shared, lwi_arena *arena);
/** Takes generic ranks of the nodes that are known to be those at the start, for as many redundant rows as `shared` has.
 *  @return LW_ERR_MEMORY */
lw_status lwi_system_put_ranks(lwi_system *system, const int *rank, lwi_shared *shared);
/** Number of rows of joints and couplings that depend on others generically, by a temporary system: for formulations
 *  with other searches, which close positions in other ways and may not leave the start, where many rows are lost.
 *  @param redundant  in: what these found; out: the smaller of both
 *  @return LW_ERR_MEMORY */
lw_status lwi_system_fewest_redundant(const lw_model *model, const lwi_arena *arena,
                                      int *redundant);
/** Finds the reference pivots (elimination/inactive_rows.c) at the configuration of the generic ranks; leaves the
 *  motion at the start.  Needed before lwi_system_begin.
 *  @return LW_ERR_MEMORY */
lw_status lwi_system_find_reference(lwi_system *system);
/** Memory for reactions of minimum norm, and which components are not unique in the configuration of the
 *  generic ranks; leaves the motion at the start.  Needed where redundant reactions are observed.
 *  @return LW_ERR_MEMORY */
lw_status lwi_system_prepare_reactions(lwi_system *system, lwi_arena *arena);
/** Memory for reactions of minimum norm and null vectors only. */
lw_status lwi_system_prepare_min_norm(lwi_system *system, lwi_arena *arena);
/** Motion of the model's start, with positions closed to round-off if Levenberg-Marquardt steps converge, and its rows. */
void lwi_system_start_closed(lwi_system *system);
/** The same, then its rank as by lwi_system_rank. */
int lwi_system_start_rank(lwi_system *system);
/** Number k of the pseudorandom sequence `seed`, in [-1/2, 1/2). */
double lwi_system_pseudorandom(int k, int seed);
/** Finds the ranks of the nodes at the current positions and t = 0, in place of the earlier ones, and the
 *  factors in the geometric metric.  Returns the rank; -1: not finite. */
int lwi_system_rank(lwi_system *system);
/** Whether the elimination accepts the model: bodies without mass or inertia must get some from others (transfer.h).
 *  @return LW_ERR_UNSUPPORTED naming the body and its joints; LW_ERR_MEMORY */
lw_status lwi_system_accepts(const lw_model *model, lw_error *why);

// ----------------------------------------------------------------------------------------- motion

/** The motion at the model's start. */
void lwi_system_start(lwi_system *system);
/** Whether a step depends on coordinates of joints: forces on joints, couplings, rotors and rows of custom types continue
 *  from them. */
bool lwi_system_needs_coordinates(const lw_model *model);
/** Motion of merged bodies from the bodies that they are merged into. */
void lwi_system_place_merged(lwi_system *system);
/** Coordinates (continued from q) and speeds of all joints from the motion of the bodies. */
void lwi_system_read_joints(lwi_system *system, double t);
void lwi_system_read_joint(lwi_system *system, int joint, double t);
/** Angle of a revolute joint without mount from the poses of its bodies, near a previous one; n: what a relative rotation
 *  (world axes) changes it by. */
double lwi_system_hinge_angle(const lwi_system *system, const lwi_joint *joint, double near,
                              double n[3]);
/** Continues the coordinates, in q, of the joints of auxiliary states first ... end - 1 from the poses.  Calls for other
 *  states may run at the same time. */
void lwi_system_carry_coordinates(lwi_system *system, const lwi_auxiliary *auxiliary, int first,
                                  int end, double t);
/** The motion of a tree from its coordinates q [tree_nq] and free speeds v [tree_nv]: links and world frames of `tree`,
 *  bodies, coordinates of tree joints; then velocities V of `tree`, of the bodies, and the speeds of these joints.
 *  Coordinates of joints outside the tree are not changed: lwi_system_read_loops. */
void lwi_system_place_tree(lwi_system *system, lwi_tree_passes *passes, double t, const double *q,
                           lwi_tree_work *tree);
void lwi_system_move_tree(lwi_system *system, lwi_tree_passes *passes, const double *v,
                          lwi_tree_work *tree);
/** Velocities of merged bodies from those of the bodies that they are merged into. */
void lwi_system_move_merged(lwi_system *system);
/** The motion of a snapshot (w in body axes there). */
void lwi_system_from_snapshot(lwi_system *system, const lwi_snapshot *snapshot);
/** Coordinates (continued from q) of joints outside the tree, and their speeds unless `place_only`. */
void lwi_system_read_loops(lwi_system *system, double t, bool place_only);

// ------------------------------------------------------------------------------ rows and solutions

/** J, phi, b of all rows from R, r, q (and v, w) at time t. */
void lwi_system_rows(lwi_system *system, double t);
/** The same, with gamma. */
void lwi_system_rates(lwi_system *system, double t);
/** Only gamma, of joints and couplings, at changed velocities. */
void lwi_system_gammas(lwi_system *system, double t);
/** Rows, and gamma, of one edge. */
void lwi_system_edge_rows(lwi_system *system, int edge, double t);
void lwi_system_edge_gamma(lwi_system *system, int edge, double t);
/** metric := inverse inertias at R; G := J K.  After lwi_system_rows or lwi_system_rates. */
void lwi_system_masses(lwi_system *system);
/** metric := the geometric metric: 1 for translations, 1/length^2 for rotations; G := J K. */
void lwi_system_geometric(lwi_system *system);
/** What G lacks in doubles, for double-double arithmetic: J K less G. */
void lwi_system_multiply_low(lwi_system *system);
/** lwi_system_masses, then the matrix pass at the generic ranks; in double-double arithmetic where doubles lose
 *  too many digits.
 *  @return LW_ERR_SINGULAR naming the joints with dependent rows, time and pivot; LW_ERR_NOT_FINITE */
lw_status lwi_system_factor(lwi_system *system, double t, lw_error *error);
/** Checks a start and allows rows to become inactive from now on (elimination/elimination.h), for velocities
 *  only.  A motion cannot start where rows would be inactive: its continuation is not determined there.  Uses
 *  the current positions; J and factors are changed.
 *  @return as lwi_system_factor */
lw_status lwi_system_begin(lwi_system *system, double t, lw_error *error);
/** Whether the last factors are in doubles without inactive rows, and none were inactive just before: another matrix
 *  pass at these positions finds the same. */
bool lwi_system_is_regular(const lwi_system *system);
/** The same after lwi_system_begin, which allows rows to become inactive: none is near that. */
bool lwi_system_is_far(const lwi_system *system);
/** x = K (f + J' lambda) with J x = c.  In: f [nnode][6] in x, c in system->c; out: x, lambda. Multiplies by
 *  K, then the vector pass with refinement. */
void lwi_system_solve(lwi_system *system);
/** Extends x to the parts of split bodies: `divided`: loads, 1/n on each of n parts; else motions, equal for
 *  all. */
void lwi_system_share(const lwi_system *system, bool divided, double (*x)[6]);
/** Adds the wrenches on the parts of split bodies to those on the body, x [nbody][6]. */
void lwi_system_gather_parts(const lwi_system *system, double (*x)[6]);
/** x [nbody][6] += sign * J' lambda;  rate [plan.nrow] := J x. */
void lwi_system_add_wrenches(const lwi_system *system, double sign, const double *lambda,
                             double (*x)[6]);
void lwi_system_rates_of(const lwi_system *system, const double (*x)[6], double *rate);
/** x := K x */
void lwi_system_apply_metric(const lwi_system *system, double (*x)[6]);

/** Changes lambda [nrow] to the multipliers of minimum norm with the same J' lambda, in the units of the
 *  rows (metres, radians), over all joints and couplings.  Uses J; nothing is done without redundant rows. */
void lwi_system_minimum_norm(lwi_system *system, double *lambda);
/** Factors J of the current motion for lwi_system_null; false: no memory was prepared, or not finite. */
bool lwi_system_factor_null(lwi_system *system);
/** Changes n [nrow] to its part along the null vectors, J' n = 0. */
void lwi_system_null(lwi_system *system, double *n);
/** Finds the components of reactions that are not unique from J of the current motion. */
void lwi_system_find_undetermined(lwi_system *system);
/** Closes the positions (r, R, and q of all joints) at time t by Levenberg-Marquardt steps, on the shortest
 *  way in the geometric metric; J and factors are changed.  Returns whether |phi| <= tolerance (metres,
 *  radians) at the end. */
bool lwi_system_close(lwi_system *system, double t, double tolerance, int max_steps);
/** The share of the prescribed rates b (drives, mounts) that nearly dependent rows cannot meet: the largest
 *  part of b, in scaled rows, left by velocities damped with the squared sine from dependence, divided by the
 *  largest part of b; 0: nothing is driven.  At a dead point it is of order one, elsewhere small.  After
 *  lwi_system_rows and lwi_system_geometric; changes the factors.
 *  @param pivot  the smallest pivot: the square of that sine */
double lwi_system_unmet(lwi_system *system, double pivot);
/** Largest |phi| (metres, radians); after lwi_system_rows. */
double lwi_system_residual(const lwi_system *system);
/** Displaces the bodies: r += dx, R := rotation by the vector dtheta (world axes) times R.  x [nnode][6] */
void lwi_system_move(lwi_system *system, const double (*x)[6]);

// ---------------------------------------------------------------------------------------- dynamics

/** loads := the forces of the model at the current motion, moved to the bodies that merged ones belong to.  With
 *  feedback the inputs are those of this motion; a failure is in its status. */
void lwi_system_forces(lwi_system *system, double t, const double *inputs);
/** Where rates of states of signals are computed: at the current motion of the system. */
typedef struct lwi_signals_at {
    lwi_work *work;
    lwi_system *system;
    double t;
    const double *inputs;
} lwi_signals_at;
/** An lwi_signal_rates with an lwi_signals_at: g := rates of the states c, by lwi_system_forces. */
void lwi_system_signal_rates(void *at, const double *c, double *g);
/** system->wrench := loads and efforts of all joints. */
void lwi_system_gather(lwi_system *system, double t, const lwi_loads *loads);
/** f [nnode] := loads, efforts of all joints, weights, -w x J w at the current motion.
 *  @param loads  as for lwi_system_accelerations */
void lwi_system_applied(lwi_system *system, double t, const lwi_loads *loads, double (*f)[6]);
/** Accelerations x = [a; al], a and al, and multipliers lambda at the current motion from the loads, gravity
 *  and gyroscopic moments.  Includes rates and factor.
 *  @param loads  wrench [nbody] about mass centres, of merged bodies moved to their body; effort [model nv];
 *                must stay valid until lwi_system_observe
 *  @return LW_ERR_SINGULAR naming joints, LW_ERR_NOT_FINITE naming a body */
lw_status lwi_system_accelerations(lwi_system *system, double t, const lwi_loads *loads,
                                   lw_error *error);
/** The same with the rows and factors that lwi_system_rows and lwi_system_factor left at these positions: gamma
 *  and one vector pass.
 *  @param tree  the spanning tree of this motion with the rates of its links; A becomes their bias
 *               accelerations  @param u  [tree_nv] its speeds */
lw_status lwi_system_accelerations_factored(lwi_system *system, double t, const lwi_loads *loads,
                                            lwi_tree_work *tree, const double *u, lw_error *error);
/** gamma of all joints and couplings; as above. */
void lwi_system_tree_gammas(lwi_system *system, double t, lwi_tree_work *tree, const double *u);
/** Rates udot [tree_nv] of the speeds of the tree; after lwi_system_accelerations_factored.  Overwrites tree->F. */
void lwi_system_speed_rates(lwi_system *system, lwi_tree_work *tree, double *udot);
/** qdd of the joints of the tree; after lwi_system_speed_rates. */
void lwi_system_tree_qdd(const lwi_system *system, const lwi_tree_work *tree, const double *udot,
                         double *qdd);
/** Largest residuals of positions, velocities and, at level REACTION, accelerations over all rows, by the rows
 *  of this motion; after lwi_system_rows, with R, r, v, w, a, al of this motion. */
void lwi_system_residuals(const lwi_system *system, lw_observe level, double largest[3]);
/** lwi_joint_reaction by the rows of this motion; the joint has rows.  @param lambda  [nrow] */
void lwi_system_reaction(const lwi_system *system, int joint, const double *lambda, double F[6]);
/** Writes the reactions of lambda [nrow], by the rows of this motion, and uniqueness to the snapshot.
 *  @param undetermined  [njoint] */
void lwi_system_put_reactions(lwi_system *system, const double *lambda,
                              const unsigned char *undetermined, lwi_snapshot *snapshot);
/** Writes motion, accelerations, reactions and uniqueness to the snapshot; needs the motion, at levels
 *  ACCELERATION and REACTION also lwi_system_accelerations. */
void lwi_system_observe(lwi_system *system, double t, lw_observe level, lwi_snapshot *snapshot);
/** The same; qdd of the joints of the tree from lwi_system_speed_rates. */
void lwi_system_observe_tree(lwi_system *system, double t, lw_observe level,
                             const lwi_tree_work *tree, const double *udot, lwi_snapshot *snapshot);
/** The velocities after impulses at the motion `before`, and the reaction impulses of all joints that are not merged,
 *  of minimum norm where they are not unique (impulse.c).  Poses and coordinates in `after` are not changed.
 *  @param t_before  a time just before before->t, if rates of drives jump at that time; else the same
 *  @param impulse   wrench [nbody] about mass centres, of merged bodies moved to their body; effort [model nv]
 *  @param work_of_drives  out [J]      @return LW_ERR_SINGULAR naming joints, LW_ERR_NOT_FINITE naming a body */
lw_status lwi_system_impact(lwi_system *system, const lwi_snapshot *before, double t_before,
                            const lwi_loads *impulse, lwi_snapshot *after, double *work_of_drives,
                            lw_error *error);
/** Power of drives and mounts [W]; after lwi_system_accelerations. */
double lwi_system_drive_power(lwi_system *system, double t);
/** Power of the effort of a joint with a moving mount beyond effort times speed [W].
 *  @param effort  [model nv] */
double lwi_system_mount_power(lwi_system *system, int joint, double t, const double *effort);

// ---------------------------------------------------------------------------------------- messages

/** "joint 'a'" or "coupling of joints 'a' and 'b'". */
void lwi_system_edge_name(const lwi_system *system, int edge, char *text, size_t size);
/** Reports in `text` that solutions were computed in double-double arithmetic, and what avoids it; "": they were
 *  not. */
void lwi_system_notice(const lwi_system *system, char *text, size_t size);
/** Error of a failed factorisation: joints, time, pivot. */
lw_status lwi_system_fails(const lwi_system *system, double t, lw_status status, lw_error *error);

#endif
