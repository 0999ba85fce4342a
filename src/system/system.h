// system.h -- a whole mechanism as bodies and rows for the engine: what dca, hdca, projections and
// assembly share.
//
// Bodies of the engine are the nodes of the spanning tree (every body that is not merged), edges
// are all joints that are not merged, tree joints too, then the couplings.  Everything in world
// axes about mass centres.
//
//     x = K (f + J' lambda),   J x = c
// accelerations: K = M^-1, f = loads - gyroscopic, c = -gamma;  velocities: f = momenta, c = -b.
// lambda has the sign of wrenches on bodies: J' lambda is what the joints do.
//
// Use: create; write the motion into R, r, v, w, q, qd (all bodies of the model); then either
// lwi_system_accelerations, or rows / rates, factor and solve one by one.  Nothing allocates after
// creation.
#ifndef LWI_SYSTEM_SYSTEM_H
#define LWI_SYSTEM_SYSTEM_H

#include "elimination/elimination.h"
#include "elimination/split.h"
#include "kinematics/formulation.h"
#include "kinematics/closure.h"
#include "kinematics/tree.h"

/** One body's block of K, world axes. */
typedef struct lwi_system_metric {
    double lin, ang[6]; ///< 1/kg; symmetric xx yy zz xy xz yz
} lwi_system_metric;

/** A pivot, a squared sine, above this counts as a new direction at positions closed to round-off.
 * There redundant rows leave 1e-16 to 1e-15, of S_rr; independent ones of mechanisms that work 0.01
 * to 1, but for the row that holds a long chain as a whole: n bodies that move as one body across
 * their plane leave 1/n^3, 1e-10 at 3000.  Where positions do not close, LWI_ELIM_RANK. */
#define LWI_SYSTEM_RANK 1e-13

/** A body of the engine for rotors of one joint, those on coordinates first .. first + 2: their speeds are
 *  its components 3 .. 5, held by rows of the joint's edge to the speeds of the coordinates. */
typedef struct lwi_system_rotor {
    int joint, first;
} lwi_system_rotor;

/** An edge of the caller's between two hosts, 0: the ground. */
typedef struct lwi_system_extra {
    int body[2], rows;
} lwi_system_extra;

typedef struct lwi_system {
    const lw_model *model;
    int nedge, nrow; ///< those of the mechanism; welds of parts are edges of the engine behind them
    int nextra;      ///< the last edges: the caller's, filled by the caller
    const lwi_system_extra *extra; ///< [nextra]
    int nrotor;              ///< rotors, the engine's bodies nnode + i; 0 unless created with them
    lwi_system_rotor *rotor; ///< [nspin] in the order of the joints
    int *joint_rotor;        ///< [njoint + 1] first of each joint
    int nbody;               ///< of the engine: nodes, twins or spins, parts
    lwi_split split;         ///< bodies with many joints: parts are the engine's last bodies
    /** Every edge but those of couplings knows each of its bodies twice: twin nnode + k of node k has
     *  what the body's unknowns are more than six, in components of the caller's choice.  Its J and G
     *  are the caller's to fill. */
    bool extensions;
    int *joint_edge; ///< [njoint] edge of each joint; -1: merged or without rows
    int *edge_joint; ///< [nedge] joint, or -1 - coupling; then for each weld one that its part has
    lwi_plan plan;   ///< plan.row[e]: first row of edge e, plan.slot[e]: first slot
    lwi_elim *elim;
    lwi_pool *pool; ///< NULL: one thread
    lwi_system_metric
        *metric;           ///< [nbody] after lwi_system_masses or lwi_system_geometric; twins: 0
    double (*mobility)[6]; ///< [nnode] inverse inertias, body axes
    double length;         ///< of the mechanism [m]: unit between displacements and turns
    // motion, filled by the caller, [nbody] of the model, world axes (w too)
    double (*R)[9], (*r)[3], (*v)[3], (*w)[3];
    double *q, *qd;                   ///< joint arrays [model nq], [model nv]
    lwi_motion motion;                ///< points at those
    lwi_loads loads;                  ///< by lwi_system_forces
    const unsigned char *const *mode; ///< of lwi_kin: that of an lwi_work; NULL: by the state
    // rows
    double *phi, *b,
        *gamma; ///< [rows of the engine], those of welds 0, by lwi_system_rows / lwi_loop_rates
    double (*Jdot)[6]; ///< as lwi_elim_J, by lwi_loop_rates: lwi_closure.Jdot
    // solutions
    double *c, *lambda;       ///< [rows of the engine]
    double (*x)[6];           ///< [nbody]: nodes first
    double (*a)[3], (*al)[3]; ///< [nbody] by lwi_system_accelerations: mass centres, world axes
    int start_rank,
        generic_rank;         ///< at the start; the largest at configurations nearby, kept by runs
    int inactive_evaluations; ///< evaluations in which rows rested, since they began
    unsigned char *unique;    ///< [njoint] 1 where a joint's reaction is unique
    double (*wrench)[6];      ///< [nbody] loads and efforts
    const double *effort;     ///< of the loads given last
    double (*y)[6], *row[6];  ///< scratch [nbody], [rows of the engine]
} lwi_system;

/** Graph, plan, engine; ranks are learnt at the model's start and nearby configurations (closed to
 *  round-off).  The motion is then the model's start.
 *  @return LW_ERR_MEMORY */
lw_status lwi_system_create(const lw_model *model, lwi_plan_kind kind, lwi_arena *arena,
                            lwi_system *system);
/** The same with the rotors of the model: rows of edges are then more than those of closures, by
 *  lwi_joint_rotor_rows.
 *  @param splits  as the others: bodies with many joints in parts, elimination/split.h */
lw_status lwi_system_create_rotors(const lw_model *model, lwi_plan_kind kind, bool splits,
                                   lwi_arena *arena, lwi_system *system);
/** The same with edges of the caller's, whose J, phi, b and gamma the caller fills, and with twins;
 *  ranks are not learnt: for factors with eps > 0 only. */
lw_status lwi_system_create_extra(const lw_model *model, lwi_plan_kind kind, int nextra,
                                  const lwi_system_extra *extra, bool extensions, lwi_arena *arena,
                                  lwi_system *system);
/** Its first part: motion, graph and plan, no engine. */
lw_status lwi_system_plan(const lw_model *model, lwi_plan_kind kind, lwi_arena *arena,
                          lwi_system *system);
/** With rotors and the options of the work: their plan, and for their threads a pool, closed->pool, that
 *  the caller destroys, after a failure too. */
lw_status lwi_system_prepare(lwi_work *work, lwi_system *system);
/** Rows and passes run on the pool from now on. */
lw_status lwi_system_threads(lwi_system *system, lwi_pool *pool, lwi_arena *arena);
/** Finds the ranks and `unique`, leaves the motion at the start (rank.c). */
lw_status lwi_system_find_ranks(lwi_system *system, lwi_arena *arena);
/** The motion at the model's start, positions closed to round-off where Levenberg-Marquardt steps
 * can. */
void lwi_system_start_closed(lwi_system *system);
/** Number k of the sequence `seed` of numbers in [-1/2, 1/2) without pattern. */
double lwi_system_pseudorandom(int k, int seed);
/** Ranks of the nodes at the motion at hand and t = 0, in place of what was known, and the factors,
 * in the geometric metric; -1: no numbers. */
int lwi_system_rank(lwi_system *system);
/** Does the engine take the model?  Every body needs a positive mass and inertia.  Names the body.
 */
lw_status lwi_system_accepts(const lw_model *model, lw_error *why);

// ----------------------------------------------------------------------------------------- motion

/** The motion at the model's start. */
void lwi_system_start(lwi_system *system);
/** Merged bodies from their hosts. */
void lwi_system_place_merged(lwi_system *system);
/** Coordinates, continued, and speeds of all joints from the motion of the bodies. */
void lwi_system_read_joints(lwi_system *system, double t);
void lwi_system_read_joint(lwi_system *system, int joint, double t);
/** Motion of a tree: poses, tree joints' q; velocities where v is not NULL.  Link positions (and V)
 *  must be there.  Loop joints' coordinates are not touched: see lwi_system_read_loops. */
void lwi_system_from_tree(lwi_system *system, const lwi_link *link, const double (*V)[6],
                          double (*node_R)[9], double (*node_r)[3], const double *v);
/** The same from a moment (its w are in body axes). */
void lwi_system_from_snapshot(lwi_system *system, const lwi_snapshot *snapshot);
/** Coordinates (continued from what q holds) of loop joints, and their speeds unless `place_only`.
 */
void lwi_system_read_loops(lwi_system *system, double t, bool place_only);

// ------------------------------------------------------------------------------ rows and solutions

/** J, phi, b of all rows from R, r, q (and v, w) at time t. */
void lwi_system_rows(lwi_system *system, double t);
/** The same, and gamma and Jdot. */
void lwi_system_rates(lwi_system *system, double t);
/** gamma alone, of joints and couplings, at other velocities than the rows at hand. */
void lwi_system_gammas(lwi_system *system, double t);
/** Rows, and gamma, of one edge. */
void lwi_system_edge_rows(lwi_system *system, int edge, double t);
void lwi_system_edge_gamma(lwi_system *system, int edge, double t);
/** metric := inverse inertias at R, G := J K.  After rows or rates. */
void lwi_system_masses(lwi_system *system);
/** metric := the geometric one: 1 for displacements, 1/length^2 for turns; G := J K. */
void lwi_system_geometric(lwi_system *system);
/** lwi_system_masses, then the matrix pass at the ranks learnt.
 *  @return LW_ERR_SINGULAR naming the joints whose rows are dependent, time and pivot */
lw_status lwi_system_factor(lwi_system *system, double t, lw_error *error);
/** Rows may rest from now on (elimination/elimination.h), for velocities only; but a motion cannot start where they would: which
 *  way it goes from there is not determined.  At the positions at hand; spoils J and factors.
 *  @return as lwi_system_factor */
lw_status lwi_system_begin(lwi_system *system, double t, lw_error *error);
/** x = K (f + J' lambda) with J x = c; in: f [nnode][6] in x, c in closed->c; out: x, lambda.
 *  Multiplies by K, then the vector pass with one refinement. */
void lwi_system_solve(lwi_system *system);
/** What acts on bodies to their parts, an n-th on each of n, or a motion of the bodies, which is that
 *  of their parts. */
void lwi_system_share(const lwi_system *system, bool divided, double (*x)[6]);
/** x [nbody][6] += sign * J' lambda, and J x [rows of the engine]. */
void lwi_system_add_wrenches(const lwi_system *system, double sign, const double *lambda,
                             double (*x)[6]);
void lwi_system_rates_of(const lwi_system *system, const double (*x)[6], double *rate);
/** x := K x */
void lwi_system_apply_metric(const lwi_system *system, double (*x)[6]);

/** Multipliers [rows of the engine] of minimum norm with the same J' lambda: rows as they are written (metres, radians),
 * all joints and couplings.  With the factors at hand (any metric, ranks decided); changes nothing
 * but scratch. */
void lwi_system_minimum_norm(lwi_system *system, double *lambda);
/** A null vector n, J' n = 0, near the vector n given: n := n - S^+ S n. */
void lwi_system_to_null(lwi_system *system, double *n);
/** Closes the positions (r, R of the motion, and q of all joints) at time t by Levenberg-Marquardt
 * steps on the engine, shortest way in the geometric metric; J and factors are spoilt.  True where
 *  |phi| <= tolerance (metres, radians) in the end. */
bool lwi_system_close(lwi_system *system, double t, double tolerance, int max_steps);
/** How much of what drives and mounts ask for, b, the rows that almost depend cannot do: the largest part of it, in
 *  scaled rows, that velocities damped by the square of the sine that rows are from dependence leave, by the largest
 *  part of all of b; 0: nothing is driven.  At a dead point it is of order one, elsewhere small.  After rows and
 *  lwi_system_geometric; spoils the factors.  @param pivot  the smallest, the square of that sine */
double lwi_system_unmet(lwi_system *system, double pivot);
/** Largest |phi| (metres, radians); after rows. */
double lwi_system_residual(const lwi_system *system);
/** Displaces the bodies: r += dx, R := rotation by the vector dtheta (world) times R. */
void lwi_system_move(lwi_system *system, const double (*x)[6]);

// ---------------------------------------------------------------------------------------- dynamics

/** loads := the model's forces at the motion, moved to hosts. */
void lwi_system_forces(lwi_system *system, double t, const double *inputs);
/** closed->wrench := loads and efforts of all joints. */
void lwi_system_gather(lwi_system *system, double t, const lwi_loads *loads);
/** f [nnode] := loads, efforts of all joints, weights, -w x J w at the motion.
 *  @param loads  as for lwi_system_accelerations */
void lwi_system_applied(lwi_system *system, double t, const lwi_loads *loads, double (*f)[6]);
/** Accelerations x = [a; al], a and al, and multipliers lambda at the motion: from the loads
 * (wrenches about mass centres, moved to hosts; efforts of all joints), gravity and gyroscopic
 * moments.  Rates and factor are done inside.
 *  @param loads  wrench [nbody], effort [model nv]; must live until the moment is observed
 *  @return LW_ERR_SINGULAR, LW_ERR_NOT_FINITE naming a body */
lw_status lwi_system_accelerations(lwi_system *system, double t, const lwi_loads *loads,
                                   lw_error *error);
/** Motion, accelerations, reactions, uniqueness into the moment; after the motion is there, at
 * levels ACCELERATION and REACTION after lwi_system_accelerations. */
void lwi_system_observe(lwi_system *system, double t, lw_observe level, lwi_snapshot *snapshot);
/** Power of drives and mounts; after lwi_system_accelerations. */
double lwi_system_drive_power(lwi_system *system, double t);

// --------------------------------------------------------------------------------------------
// texts

/** "joint 'a'" or "coupling of joints 'a' and 'b'". */
void lwi_system_edge_name(const lwi_system *system, int edge, char *text, size_t size);
/** What a factorisation that failed means: joints, time, pivot. */
lw_status lwi_system_fails(const lwi_system *system, double t, lw_status status, lw_error *error);

#endif
