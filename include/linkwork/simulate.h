// simulate.h -- time integration of a model, and observation of its state.
//
// Create a simulation from a model and options; step it to a time, or run it with a callback for each output row;
// observe the same quantities for every formulation.
#ifndef LINKWORK_SIMULATE_H
#define LINKWORK_SIMULATE_H

#include <linkwork/model.h>
#include <linkwork/options.h>
#include <linkwork/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------ observation

/** What to compute; each level contains those before it. */
typedef enum lw_observe {
    LW_OBSERVE_POSE,         ///< poses, coordinates
    LW_OBSERVE_TWIST,        ///< velocities, rates
    LW_OBSERVE_ENERGY,       ///< energies, momenta, residuals of position and velocity
    LW_OBSERVE_ACCELERATION, ///< accelerations
    LW_OBSERVE_REACTION,     ///< reactions, acceleration residual
    LW_OBSERVE_FORCE,        ///< numbers of all forces and drives
    LW_OBSERVE_MOMENTUM      ///< momenta of bodies and joints, impulses of cut joints
} lw_observe;

/** Their names: X(POSE, "pose"). */
#define LW_OBSERVE_LIST(X)                                                                         \
    X(POSE, "pose")                                                                                \
    X(TWIST, "twist")                                                                              \
    X(ENERGY, "energy")                                                                            \
    X(ACCELERATION, "acceleration")                                                                \
    X(REACTION, "reaction")                                                                        \
    X(FORCE, "force")                                                                              \
    X(MOMENTUM, "momentum")

/** One number of lw_observation.output. */
typedef struct lw_output_info {
    const char *kind; ///< "spring"; of forces on coordinates of joints, and of drives: "joint"
    const char *item; ///< name of the force or the joint
    const char
        *part; ///< "length"; with `coordinate` >= 0 its name in results ends with this number
    const char *quantity, *unit, *frame; ///< as in lw_quantity_info
    int coordinate;                      ///< of the joint; -1: none
} lw_output_info;
LW_API int lw_model_output_count(const lw_model *model);
/** All empty for an index out of range.  Strings are valid as long as the model.      @cost O(log(forces)) */
LW_API lw_output_info lw_model_output(const lw_model *model, int index);

/** States of signals and of lags of servos, which are integrated with the motion. */
LW_API int lw_model_signal_states(const lw_model *model);
/** "signal.NAME.state0", "servo.NAME.state"; "" for an index out of range. */
LW_API void lw_model_signal_state_name(const lw_model *model, int index, char *text, size_t size);

enum { LW_IMPACT_NONE, LW_IMPACT_BEFORE, LW_IMPACT_AFTER };

/** An event of the model that has happened. */
typedef struct lw_occurrence {
    double time; ///< [s]
    int event;   ///< of the model, from 0
} lw_occurrence;

/** State of a mechanism at one time.  Arrays over bodies have the ground at index 0; joint arrays use q_first and
 *  v_first of lw_joint_info. */
typedef struct lw_observation {
    double time;
    lw_observe level; ///< what is filled
    // bodies
    const double (*position)[3];             ///< mass centre, world [m]
    const double (*quaternion)[4];           ///< body -> world, scalar first, unit
    const double (*velocity)[3];             ///< of the mass centre, world [m/s]
    const double (*angular_velocity)[3];     ///< body axes [rad/s]
    const double (*acceleration)[3];         ///< of the mass centre, world [m/s^2]
    const double (*angular_acceleration)[3]; ///< derivative of angular_velocity [rad/s^2]
    // joints
    const double *q;   ///< [model nq] coordinates, angles continuous [m, rad, quaternions 1]
    const double *qd;  ///< [model nv] speeds [m/s, rad/s]
    const double *qdd; ///< [model nv] their rates [m/s^2, rad/s^2]
    const double
        *states; ///< [lw_model_signal_states] states of signals: integrals, lags, controllers
    const double (*reaction)[6]; ///< force, torque on body2 about P2, world axes: constraint and
                                 ///< drive, not springs [N, N m]
    const unsigned char *reaction_unique; ///< [joint] 0: not unique, the one of minimum norm
    /** [joint] components of the reaction that are not unique: bits 0 to 2 of the force along x, y, z of F1, as
     *  body1 carries it, bits 3 to 5 of the torque; 0: unique */
    const unsigned char *reaction_undetermined;
    /** 1: close to a singular position, where reactions cannot be solved for: those of the quintic in time through
     *  six states outside, on the same side of the position; 0: solved for */
    int reactions_continued;
    /** LW_IMPACT_BEFORE, LW_IMPACT_AFTER: the state just before or after impulses at this time */
    int impact;
    /** [joint] impulses of the reactions in this impact: on body2 about P2, world axes [N s, N m s]; NULL in states
     *  that are not just after one */
    const double (*impulse)[6];
    /** [lw_model_output_count] numbers of forces and drives: lengths, rates, forces, powers, energies; lw_model_output
     *  describes each */
    const double *output;
    // system
    double kinetic, potential, work;         ///< T, V (gravity, springs), Wnc since the start [J]
    double momentum[3], angular_momentum[3]; ///< world, about its origin [kg m/s, kg m^2/s]
    double residual[3]; ///< largest of position [m, rad], velocity [m/s, rad/s], acceleration
    // momenta
    const double (*body_momentum)[6]; ///< of each body: linear, angular about its mass centre;
                                      ///< world axes [kg m/s, kg m^2/s]
    /** [model nv] joint momenta p along the free speeds of joints of the tree, conjugate to qd; 0 of driven coordinates
     *  and of joints that close loops [kg m/s, kg m^2/s] */
    const double *p;
    /** [joint] momentum that the joint transmits to body2: linear, angular about P2; world axes.  A joint that closes
     *  a loop transmits the impulse of its constraints in the state; a joint of the tree the momenta of all bodies
     *  behind it, less such impulses on them.  A state of speeds has no impulses.  docs/results.md, "Momenta" */
    const double (*transmitted)[6];
    int event; ///< 1 + the event of the model that the row records; 0: none
    /** [noccurrence] events of the model since the row before, its own included; outside of runs those of the last call
     *  of lw_sim_step or lw_sim_step_progress */
    const lw_occurrence *occurrence;
    int noccurrence;
} lw_observation;

// ------------------------------------------------------------------------------------ simulation

typedef struct lw_sim lw_sim; ///< one thread at a time

typedef struct lw_sim_desc {
    size_t size;               ///< sizeof this struct, or 0: see linkwork.h
    const lw_options *options; ///< NULL: defaults
    const lw_allocator *allocator;
    const lw_ranks *ranks; ///< processes that share its evaluations (ranks.h); NULL: this one alone
} lw_sim_desc;

typedef struct lw_summary {
    long steps, evaluations, rejected, restarts;
    double start, end;   ///< simulated [s]
    double wall;         ///< [s] spent in step calls
    double energy_error; ///< largest |E - Wnc - (E - Wnc at the start)| of the observed rows [J]
    double energy_scale; ///< largest kinetic energy of the observed rows [J]
    double residual[3];  ///< largest of the observed rows
    long
        projections; ///< how often positions were restored to the constraint manifold (option `project`)
    long events;         ///< changes of mode: contacts of stops that began or ended
    long late;           ///< steps that ended later than wall-clock time allows (option `pace`)
    double behind;       ///< largest delay of them [s]
    long impulses;       ///< impacts: of impulses and of drives with rates that jump
    double impulse_work; ///< of these, a part of Wnc: what they changed the kinetic energy by [J]
    /** `end`, or the time after which states are unreliable [s], where steps have no error control: of the first step of
     *  index3 that ended with an increment above a thousandth of the mechanism's length (real time), or after which
     *  E - Wnc remained off by more than half of the largest T + |V| + |Wnc| (observed rows) */
    double valid_until;
    double energy_range; ///< largest less smallest E - Wnc of the observed rows [J]
    double
        energy_drift; ///< mean of E - Wnc over the last tenth of the run less that of the first [J]; NAN: few rows
    long occurrences; ///< of events of the model (lw_event_desc), of all together
} lw_summary;

/** @param desc  may be NULL */
LW_API lw_status lw_sim_create(const lw_model *model, const lw_sim_desc *desc, lw_sim **sim,
                               lw_error *error);
LW_API void lw_sim_destroy(lw_sim *sim);
LW_API const lw_options *lw_sim_options(const lw_sim *sim); ///< resolved: without `auto`
/** Duration of the next runs [s], >= 0. */
LW_API lw_status lw_sim_set_duration(lw_sim *sim, double duration);
LW_API const char *lw_sim_notice(const lw_sim *sim); ///< choices and their reasons, ignored
                                                     ///< options, warnings about the last run
/** Statistics of the formulation so far: lines separated by '\n', or "". */
LW_API void lw_sim_report(const lw_sim *sim, char *text, size_t size);
LW_API const lw_model *lw_sim_model(const lw_sim *sim);
LW_API double lw_sim_time(const lw_sim *sim);

/** The state x [size]: with the time and the inputs, all that a restart needs.  First the integrator's, in the order of
 *  the layout that results name; then numbers of rcr (which coordinates are independent) and of dopri54 (its step).  If
 *  these are zero they are chosen again. */
LW_API int lw_sim_state_size(const lw_sim *sim);
/** @param time, x  out; may be NULL */
LW_API void lw_sim_get_state(const lw_sim *sim, double *time, double *x);
/** @return LW_ERR_ARGUMENT where constraints are violated by more than 1e-3, or a quaternion has a length beyond 0.5 to
 *          2; the state is then unchanged.  With the option `project` never any drift is accepted */
LW_API lw_status lw_sim_set_state(lw_sim *sim, double time, const double *x);
/** Rates x' = f(t, x) of the present state and inputs, as integrators get them, for other integrators.
 *  @param xdot  out [size]; zeros for the numbers that are not the integrator's
 *  @return LW_ERR_UNSUPPORTED: a formulation with own steps (index3); LW_ERR_SINGULAR, LW_ERR_NOT_FINITE; xdot
 *          is then undefined */
LW_API lw_status lw_sim_rates(lw_sim *sim, double *xdot);
/** Sets the joints of the spanning tree to coordinates q [model nq] and speeds v [model nv]; the other joints follow.
 *  Floating bases are unchanged; driven coordinates come from their functions.
 *  @return LW_ERR_SINGULAR at a singular position, where more than one motion may continue, with the joints; the state is then
 *          unchanged.  Accepted with LW_SINGULAR_TURN, in real-time mode and by index3 */
LW_API lw_status lw_sim_set_joints(lw_sim *sim, double time, const double *q, const double *v);
/** The same with the vectors of lw_forward_dynamics: q [tree nq] and v [tree nv], floating bases included
 *  (lw_model_joint_tree, lw_model_base).  Quaternions are normalised. */
LW_API lw_status lw_sim_set_tree(lw_sim *sim, double time, const double *q, const double *v);
/** The present q [tree nq] and v [tree nv].   @return errors of the formulation */
LW_API lw_status lw_sim_get_tree(lw_sim *sim, double *q, double *v);
/** Sets bodies and joints to an observation (level TWIST or more) of the same model by any formulation, and continues
 *  from its time, its states of signals (NULL: those of the start) and, from level ENERGY on, its work.
 *  @return LW_ERR_ARGUMENT where constraints are violated by more than 1e-3; LW_ERR_SINGULAR as lw_sim_set_joints */
LW_API lw_status lw_sim_set_motion(lw_sim *sim, const lw_observation *motion);
/** An input keeps its value until it is set again.  `index` of lw_model_find_input. */
LW_API lw_status lw_sim_set_input(lw_sim *sim, int index, double value);
/** Inputs as functions of the state: forces and signals of users.
 *  @param state   at the level TWIST: time, motion of bodies, coordinates and speeds; valid during the call
 *  @param inputs  [inputs] in: their present values; out
 *  It must give the same values for the same state, as forces do: it is called in every evaluation of the rates, also of
 *  steps that are rejected and of differences that implicit integrators form, and before observations.  Between two
 *  rows it may so be called for times in any order.  It is called by the thread that steps the simulation, and must not
 *  use the simulation.
 *  @return LW_OK; LW_ERR_NOT_FINITE: no values there, the step is repeated with a shorter one; any other status ends
 *          the run with it, after a row of the last accepted state */
typedef lw_status (*lw_input_callback)(void *user, const lw_observation *state, double *inputs);
/** Sets the function that computes all inputs; NULL: they keep their values.  Inputs that it leaves alone keep theirs.
 *  Across singular positions (option `singular`: pass) inputs are those of the state before.
 *  Each evaluation of the rates costs the kinematics of the state in addition.  Formulations with own steps (index3,
 *  rattle) call the function wherever they evaluate forces, in Newton's iterations too.  Its memory is allocated here.
 *  @return LW_ERR_ARGUMENT: the model has no inputs */
LW_API lw_status lw_sim_set_callback(lw_sim *sim, lw_input_callback callback, void *user);

/** Derivatives of inputs by what an lw_input_callback reads.  All are zero on entry; of what it does not read they stay
 *  so.  Each is partial, by one member of the lw_observation alone: a function of `q` has no derivative by poses, though
 *  the joint's angle determines them. */
typedef struct lw_input_slopes {
    int ninput, nv, nstate, nbody; ///< sizes; ground is body 0
    /** [inputs][nv] by joint coordinates, along the joint speeds: of coordinates in quaternions by the rotation vector (and
     *  displacement) in the axes of `qd` */
    double *by_q;
    double *by_qd;        ///< [inputs][nv] by joint speeds
    double *by_states;    ///< [inputs][nstate] by states of signals
    double (*by_pose)[6]; ///< [inputs][nbody] by the position, world axes; by a rotation, body axes
    double (*by_twist)[6]; ///< [inputs][nbody] by the velocity, world axes; angular one, body axes
} lw_input_slopes;
/** Jacobian of an lw_input_callback, with its `user`.
 *  @param state   as of the callback       @param slopes  out
 *  @return as of the callback; LW_ERR_NOT_FINITE too where an entry is not finite */
typedef lw_status (*lw_input_jacobian)(void *user, const lw_observation *state,
                                       const lw_input_slopes *slopes);
/** Sets the Jacobian of the callback; NULL: it is not known.  It is read where integrators need derivatives: by index3 in
 *  Newton's matrix, by bdf in place of calls of the callback for differences.  The others do not call it.  What the
 *  equations are does not depend on it: a wrong one costs iterations and steps.  Setting a callback removes it.
 *  Its memory is allocated here.      @return LW_ERR_ARGUMENT: there is no callback */
LW_API lw_status lw_sim_set_jacobian(lw_sim *sim, lw_input_jacobian jacobian);
/** Compares the Jacobian with central differences of the callback at the present state, by each number that it may
 *  read.
 *  @param tolerance  of an entry relative to the largest of its input and kind; 0: 1e-5
 *  @param largest    out: the largest such deviation; may be NULL
 *  @cost  two calls of the callback for each number
 *  @return LW_ERR_ARGUMENT: there is no Jacobian, or it differs; the message names input, number and both values */
LW_API lw_status lw_sim_check_jacobian(lw_sim *sim, double tolerance, double *largest);

/** What an impact did. */
typedef struct lw_impact {
    double time;
    double kinetic_before, kinetic_after; ///< [J]
    double
        work; ///< of the impulses, and of drives with rates that jump [J]; joints that hold do none
    const double (*reaction)[6]; ///< [joint] impulse on body2 about P2, world axes [N s, N m s];
                                 ///< the one of minimum norm where it is not unique
    const unsigned char *reaction_undetermined; ///< [joint] as in lw_observation
} lw_impact;
/** Lets `count` impulses act now, all at once: the velocities of all bodies jump, through all joints and loops, by one
 *  linear solve; positions stay.  The first call allocates memory, unless the model has impulses.
 *  @param impulse  [count]; in their `size`, if not 0, sizeof *impulse; `time`, `name` and `place` are not read except in
 *                  messages; points are in body frames
 *  @param impact   out, owned by the simulation, valid until the next impact; may be NULL
 *  @cost  O(n), with bodies without mass or inertia O(n^3)
 *  @return LW_ERR_ARGUMENT, LW_ERR_MODEL: an impulse that is not possible; LW_ERR_SINGULAR; the state is then unchanged */
LW_API lw_status lw_sim_apply_impulse(lw_sim *sim, int count, const lw_impulse_desc *impulse,
                                      const lw_impact **impact);

/** Integrates to `time` exactly, impulses and events at this time included, or to an event of the model that stops
 *  (lw_sim_stopped).  After a failure the state is the last accepted one. */
LW_API lw_status lw_sim_step(lw_sim *sim, double time);
/** Called at intervals during a run, between steps and within steps that take long; nonzero ends it with
 *  LW_ERR_INTERRUPTED, after a last row.  Must not change the simulation. */
typedef int (*lw_progress)(void *user, double time, double end);
/** Like lw_sim_step, with the same bits, calling `progress`; on cancellation the state is that of the last step. */
LW_API lw_status lw_sim_step_progress(lw_sim *sim, double time, lw_progress progress, void *user);
/** @param observation  owned by the simulation, valid until the next call on it */
LW_API lw_status lw_sim_observe(lw_sim *sim, lw_observe level, const lw_observation **observation);
LW_API const lw_error *lw_sim_error(const lw_sim *sim); ///< of the last failed call
LW_API void lw_sim_summary(const lw_sim *sim, lw_summary *summary);
/** How often an event of the model has happened; 0 for an index out of range. */
LW_API long lw_sim_event_count(const lw_sim *sim, int event);
/** The event that ended the last call of lw_sim_step or lw_sim_run before its time; -1: none.  The next call continues. */
LW_API int lw_sim_stopped(const lw_sim *sim);

/** Wall times of the calls of lw_sim_step, and of the steps within lw_sim_run [s].  Quantiles are at
 *  most 3 % too large; minimum and maximum are exact. */
typedef struct lw_step_times {
    long steps;
    double total, min, median, p99, p999, max;
    long slow; ///< those that took longer than the time they simulated
} lw_step_times;
LW_API void lw_sim_times(const lw_sim *sim, lw_step_times *times);
/** Resets the counts, for example after a warm-up. */
LW_API void lw_sim_times_reset(lw_sim *sim);

/** Called for every row of a run; a negative status ends the run with it.  May set inputs. */
typedef lw_status (*lw_row)(void *user, const lw_observation *observation);

/** Runs from the present time over `duration` of the options, with output rows by `sample`, or to an event of the model
 *  that stops (lw_sim_stopped), of which there is a row.  A run that fails has a last
 *  row at its last accepted state if that can be observed. */
LW_API lw_status lw_sim_run(lw_sim *sim, lw_observe level, lw_row row, void *row_user,
                            lw_progress progress, void *progress_user);

// -------------------------------------------------------------------- lists of what is available

typedef struct lw_part_info {
    const char *name, *summary, *cite;
} lw_part_info;
LW_API int lw_formulation_count(void);
LW_API lw_part_info lw_formulation_info(int index);
/** Properties of a formulation: bits of lw_formulation_flags. */
typedef enum lw_formulation_flag {
    LW_FORMULATION_CUBIC =
        1, ///< factors one dense matrix: cost O(n^3) in its bodies or loop constraints
    LW_FORMULATION_OWN_STEP =
        2, ///< has a time step in place of rates, for the integrator of its name only
    LW_FORMULATION_COMPILED =
        4, ///< its runs can have compiled rates (lw_sim_use_compiled), without momenta
} lw_formulation_flag;
/** The flags of formulation `index`, joined by |; 0 for an index out of range. */
LW_API unsigned lw_formulation_flags(int index);
LW_API int lw_integrator_count(void);
LW_API lw_part_info lw_integrator_info(int index);
LW_API int lw_joint_type_count(void);
LW_API lw_part_info lw_joint_type_info(int index);
LW_API int lw_force_type_count(void);
LW_API lw_part_info lw_force_type_info(int index);

// --------------------------------------------------------------------------------------- check

/** Mobility and consistency of a model's initial state. */
typedef struct lw_check {
    int rows;           ///< constraint equations of all joints
    int rank;           ///< independent ones at the start
    int dof;            ///< 6 * bodies - rank: degrees of freedom now (driven ones are constraints)
    int dof_generic;    ///< largest rank found at configurations nearby
    int redundant;      ///< rows - rank
    double residual[2]; ///< position, velocity
    int followed;       ///< joints with speeds determined by specified ones (lw_model_create)
    double kept;        ///< smallest pivot of the independent rows, a squared sine: the angle
                        ///< between a row and those eliminated before it; near 0 in singular
                        ///< positions; 1 without rows
    int kept_joint;     ///< joint of that row; -1: a coupling, or none
    double dropped;     ///< largest pivot of the redundant rows, round-off; 0 without any
    double
        conflict; ///< accelerations: largest residual that no motion can remove, relative to 1 plus the largest
    ///< right side; above round-off where drives, or velocities at a singular start, contradict
    ///< the loops
    int conflict_joint; ///< joint of that residual; -1: a coupling, or none
    int drive_joint;    ///< the first joint with a motion that starts with a speed; -1: none
    int drive_coordinate;
    double drive_speed; ///< [m/s, rad/s]
} lw_check;
/** @param dependent  [joint count] out: how many rows of each joint depend on others; or NULL.  Each
 *                    redundant row counts once, at the last loop-closing joint that can have it */
LW_API lw_status lw_model_check(const lw_model *model, lw_check *check, int *dependent,
                                lw_error *error);

/** Redundancy at one joint at the start. */
typedef struct lw_redundancy {
    int rows;      ///< constraint equations of the joint: its type's and one per driven coordinate
    int dependent; ///< as in lw_model_check
    int open; ///< directions of its reaction that are not determined by the constraints; 0: the reaction is unique
    unsigned axes; ///< which of these are along axes of F1: bits 0 to 2 force along x, y, z, 3 to 5
                   ///< torque
} lw_redundancy;
/** @param joints  [joint count] out */
LW_API lw_status lw_model_redundancy(const lw_model *model, lw_redundancy *joints, lw_error *error);
/** lw_model_check and lw_model_redundancy by one search for the ranks, which takes most of the time of each. */
LW_API lw_status lw_model_mobility(const lw_model *model, lw_check *check, lw_redundancy *joints,
                                   lw_error *error);
/** The same of the simulation's model, without the search: it has found the ranks.  The simulation stays as it is. */
LW_API lw_status lw_sim_mobility(lw_sim *sim, lw_check *check, lw_redundancy *joints,
                                 lw_error *error);

/** Cost of an elimination order of dca, hdca and index3 (option `plan`). */
typedef struct lw_plan_info {
    const char *kind; ///< comb, balanced, mixed
    int nodes;        ///< joins
    int depth; ///< nodes on the longest path from a leaf to the root: a lower bound with any number of threads
    int width;       ///< constraint equations of the widest node
    int open;        ///< largest number of joints open at a node
    double work;     ///< multiplications of one factorisation
    double critical; ///< of them along the longest path
    /** Longest path of a whole evaluation by dca or hdca without segments, with any number of threads: `critical`, two
     *  passes along the tree (poses; velocities or rates of momenta) and the forces. */
    double
        evaluation; ///< multiplications on that path; those of solves with the factors are not counted
    int pass;       ///< bodies one after the other in a pass
    int forces;     ///< forces and efforts, which one thread computes one after the other
    /** Long paths of hinges, balls, sliders and screws, which dca and hdca evaluate in segments instead of this order; 0:
     *  there are none. */
    int segments;
    int segment_length; ///< bodies of a segment, the longest sequence of dependent steps
    int segment_groups; ///< that threads share, of eight segments each
    int segment_joins;  ///< from a segment to the whole path, one after the other
    int segment_hubs;   ///< bodies between several such paths; 0: there is one path
} lw_plan_info;
/** @param kind  auto, comb, balanced or mixed      @return LW_ERR_ARGUMENT, LW_ERR_MEMORY */
LW_API lw_status lw_model_plan(const lw_model *model, const char *kind, lw_plan_info *info,
                               lw_error *error);

/** Predicted time of one evaluation of each formulation, of one step if it has its own, from counts of operations and
 *  the table of costs that `auto` uses: nothing is set up or evaluated.  The times are those of the machine of the
 *  calibration; only their ratios matter.  Those of `rcr`, `lagrange` and `dense` are upper bounds, except that
 *  counting `rcr` and `lagrange` ends at a hundred times the smallest, if that is less.
 *  @param seconds  [lw_formulation_count()] out; NAN: the formulation refuses the model
 *  @cost  O(n) as creating the model, more where bodies have many joints      @return LW_ERR_MEMORY */
LW_API lw_status lw_model_costs(const lw_model *model, double *seconds, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
