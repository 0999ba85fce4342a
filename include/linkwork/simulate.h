// simulate.h -- move a model through time and look at it.
//
// Create a simulation from a model and options; step it to a time, or run it with a callback per
// row; observe the same quantities for every formulation.
#ifndef LINKWORK_SIMULATE_H
#define LINKWORK_SIMULATE_H

#include <linkwork/model.h>
#include <linkwork/options.h>

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
    LW_OBSERVE_REACTION      ///< reactions, acceleration residual
} lw_observe;

/** One moment of a mechanism.  Arrays over bodies have the ground at index 0; joint arrays use
 *  q_first and v_first of lw_joint_info. */
typedef struct lw_observation {
    double time;
    lw_observe level; ///< how far this one is filled
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
    const double (*reaction)[6]; ///< force, torque on body2 about P2, world axes: constraint and
                                 ///< drive, not springs [N, N m]
    const unsigned char *reaction_unique; ///< [joint] 0: minimum norm of many
    // system
    double kinetic, potential, work;         ///< T, V (gravity, springs), Wnc since the start [J]
    double momentum[3], angular_momentum[3]; ///< world, about its origin [kg m/s, kg m^2/s]
    double residual[3]; ///< largest of position [m, rad], velocity [m/s, rad/s], acceleration
} lw_observation;

// ------------------------------------------------------------------------------------ simulation

typedef struct lw_sim lw_sim; ///< one thread at a time

typedef struct lw_sim_desc {
    size_t size;               ///< sizeof this struct, or 0: see linkwork.h
    const lw_options *options; ///< NULL: defaults
    const lw_allocator *allocator;
} lw_sim_desc;

typedef struct lw_summary {
    long steps, evaluations, rejected, restarts;
    double start, end;   ///< simulated [s]
    double wall;         ///< [s] spent in step calls
    double energy_error; ///< largest |E - Wnc - (E - Wnc at the start)| of the observed rows [J]
    double energy_scale; ///< largest kinetic energy of the observed rows [J]
    double residual[3];  ///< largest of the observed rows
    long projections;    ///< how often positions were put back on the joints (option `project`)
    long events;         ///< changes of mode: stops touched, left
    long late;           ///< steps that ended behind the wall's clock (option `pace`)
    double behind;       ///< by how much the latest of them [s]
} lw_summary;

LW_API lw_status lw_sim_create(const lw_model *model, const lw_sim_desc *desc, lw_sim **sim,
                               lw_error *error);
LW_API void lw_sim_destroy(lw_sim *sim);
LW_API const lw_options *lw_sim_options(const lw_sim *sim); ///< resolved: no `auto` left
/** Of the runs to come [s] >= 0. */
LW_API lw_status lw_sim_set_duration(lw_sim *sim, double duration);
LW_API const char *lw_sim_notice(const lw_sim *sim); ///< what was chosen and why; ignored
                                                     ///< options; doubts about the run done last
/** Lines about the work of the formulation so far, ended by '\n' but for the last, or "". */
LW_API void lw_sim_report(const lw_sim *sim, char *text, size_t size);
LW_API const lw_model *lw_sim_model(const lw_sim *sim);
LW_API double lw_sim_time(const lw_sim *sim);

/** The state [size]: all a restart needs beside time. */
LW_API int lw_sim_state_size(const lw_sim *sim);
LW_API void lw_sim_get_state(const lw_sim *sim, double *time, double *x);
LW_API lw_status lw_sim_set_state(lw_sim *sim, double time, const double *x);
/** Puts the tree's joints at coordinates q [model nq] and speeds v [model nv], the others follow;
 *  floating bases stay. Driven coordinates are taken from their functions. */
LW_API lw_status lw_sim_set_joints(lw_sim *sim, double time, const double *q, const double *v);
/** Puts bodies and joints in an observed motion (level TWIST or more) of the same model, whichever
 *  formulation computed it; the time and, from level ENERGY on, the work go on from it.
 *  @return LW_ERR_ARGUMENT where constraints are violated by more than 1e-3 */
LW_API lw_status lw_sim_set_motion(lw_sim *sim, const lw_observation *motion);
/** Inputs stay until set again.  `index` of lw_model_find_input. */
LW_API lw_status lw_sim_set_input(lw_sim *sim, int index, double value);

/** Integrates to `time` exactly.  After a failure the state is the last accepted one. */
LW_API lw_status lw_sim_step(lw_sim *sim, double time);
/** Called now and then; nonzero ends the call with LW_ERR_INTERRUPTED: a run after a last row. */
typedef int (*lw_progress)(void *user, double time, double end);
/** The same, bit for bit, between whose steps `progress` is asked; stopped, it stands where it was. */
LW_API lw_status lw_sim_step_watched(lw_sim *sim, double time, lw_progress progress, void *user);
/** @param observation  owned by the simulation, valid until the next call on it */
LW_API lw_status lw_sim_observe(lw_sim *sim, lw_observe level, const lw_observation **observation);
LW_API const lw_error *lw_sim_error(const lw_sim *sim); ///< of the last failed call
LW_API void lw_sim_summary(const lw_sim *sim, lw_summary *summary);

/** Wall times of the calls of lw_sim_step, and of the steps within lw_sim_run [s].  The quantiles are
 *  at most 3 % too large, the least and the worst are exact. */
typedef struct lw_step_times {
    long steps;
    double total, least, median, p99, p999, worst;
    long slow; ///< those that took longer than the time they simulated
} lw_step_times;
LW_API void lw_sim_times(const lw_sim *sim, lw_step_times *times);
/** Begins to count anew, when a program has warmed up. */
LW_API void lw_sim_times_reset(lw_sim *sim);

/** Called for every row of a run; a negative status ends the run with it.  May set inputs. */
typedef lw_status (*lw_row)(void *user, const lw_observation *observation);

/** Runs from the present time over `duration` of the options, rows by `sample`.  A run that fails has a
 *  last row where it stands, if that can be observed. */
LW_API lw_status lw_sim_run(lw_sim *sim, lw_observe level, lw_row row, void *row_user,
                            lw_progress progress, void *progress_user);

// ----------------------------------------------------------------------------- what there is

typedef struct lw_part_info {
    const char *name, *summary, *cite;
} lw_part_info;
LW_API int lw_formulation_count(void);
LW_API lw_part_info lw_formulation_info(int index);
LW_API int lw_integrator_count(void);
LW_API lw_part_info lw_integrator_info(int index);
LW_API int lw_joint_type_count(void);
LW_API lw_part_info lw_joint_type_info(int index);
LW_API int lw_force_type_count(void);
LW_API lw_part_info lw_force_type_info(int index);

// --------------------------------------------------------------------------------------- check

/** What `check` tells of a model at its start. */
typedef struct lw_check {
    int rows;           ///< constraint equations of all joints
    int rank;           ///< independent ones at the start
    int dof;            ///< 6 * bodies - rank: degrees of freedom now (driven ones are constraints)
    int dof_generic;    ///< largest rank found at configurations nearby
    int redundant;      ///< rows - rank
    double residual[2]; ///< position, velocity
    int followed;    ///< joints whose speeds at the start follow from those given (lw_model_create)
    double kept;     ///< smallest pivot of the independent rows, a squared sine: the angle
                     ///< between a row and those eliminated before it; near 0 in singular
                     ///< positions; 1 without rows
    double dropped;  ///< largest pivot of the redundant rows, round-off; 0 without any
    double conflict; ///< accelerations: largest residual that no motion can take away, relative
                     ///< to 1 plus the largest demand; above round-off where drives, or
                     ///< velocities at a singular start, ask for what the loops forbid
    int conflict_joint; ///< where that is; -1: a coupling, or nowhere
} lw_check;
/** @param dependent  [joint count] out: how many rows of each joint depend on others; or NULL.  Each
 *                    redundant row counts once, at a joint that closes a loop, the last that can have it */
LW_API lw_status lw_model_check(const lw_model *model, lw_check *check, int *dependent,
                                lw_error *error);

/** Redundancy at one joint at the start. */
typedef struct lw_redundancy {
    int rows;      ///< constraint equations of the joint: its type's and one per driven coordinate
    int dependent; ///< as in lw_model_check
    int open; ///< directions of its reaction that the constraints leave undetermined; 0: it is unique
    unsigned axes; ///< those of them along axes of F1: bits 0 to 2 force along x, y, z, 3 to 5
                   ///< torque
} lw_redundancy;
/** @param joints  [joint count] out */
LW_API lw_status lw_model_redundancy(const lw_model *model, lw_redundancy *joints, lw_error *error);

/** What a plan costs: the order in which dca and hdca join bodies (option `plan`). */
typedef struct lw_plan_info {
    const char *kind; ///< comb, balanced, mixed
    int nodes;        ///< joins
    int depth;        ///< of the longest way from a leaf to the root: what threads cannot shorten
    int width;        ///< constraint equations of the widest node
    int open;         ///< joints still open at the node with the most
    double work;      ///< multiplications of one factorisation
    double critical;  ///< of them along the longest way
} lw_plan_info;
/** @param kind  auto, comb, balanced or mixed      @return LW_ERR_ARGUMENT, LW_ERR_MEMORY */
LW_API lw_status lw_model_plan(const lw_model *model, const char *kind, lw_plan_info *info,
                               lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
