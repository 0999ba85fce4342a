// analysis.h -- kinematics, static equilibria, linearisation, modes, sensitivities of any mechanism: trees, loops, redundant
// constraints.
//
// All of them use independent coordinates: as many coordinates of joints of the spanning tree as there are degrees
// of freedom, by name.  Functions are used at one time; inputs have constant values.  The position must be regular: as
// many degrees of freedom as nearby positions have.
//
// Derivatives of inertia, gravity, joints, loops, springs, bushings, wrenches, drag and signals are exact up to rounding.
// In models with servos, tendons, stops, forces on joints that close loops, or corners in signals, those of forces are central
// differences of order six of the forces alone, with steps up to 3e-3 rad or 3e-3 lengths of the mechanism: errors of
// some 1e-12 of the largest.  Where these have corners within three such steps (stops, signals with corners)
// derivatives are those of a smoothed force.  With joints of callers all are differences along the constraint manifold.
//
// Every function may run in several threads with one model.
#ifndef LINKWORK_ANALYSIS_H
#define LINKWORK_ANALYSIS_H

#include <linkwork/result.h>
#include <linkwork/batch.h>
#include <linkwork/simulate.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// -------------------------------------------------------------------------------------- kinematics

/** Moves a mechanism with a drive for each degree of freedom, from its start at t = 0 over the `duration` of `sim`,
 *  with a row every `sample`: positions are solved for (phi(q, t) = 0, to round-off), velocities, accelerations and
 *  reactions follow from them.  Nothing is integrated, so errors do not grow; the work of drives is not computed
 *  (work 0).
 *  @return LW_ERR_ARGUMENT: the simulation is not at t = 0; LW_ERR_MODEL: degrees of freedom without drives, which are named; LW_ERR_SINGULAR: a dead point, or a time
 *          after which the loops do not close; LW_ERR_INTERRUPTED; the status of `row`; message in lw_sim_error */
LW_API lw_status lw_sim_kinematics(lw_sim *sim, lw_observe level, lw_row row, void *row_user,
                                   lw_progress progress, void *progress_user);

// ------------------------------------------------------------------------------------- equilibrium

enum { LW_COORDINATE_NAME_SIZE = 256 }; ///< bytes of the longest name of a coordinate, cut

typedef enum lw_stability {
    LW_STABLE,      ///< every small displacement raises the potential
    LW_INDIFFERENT, ///< some displacements meet no force
    LW_UNSTABLE     ///< some displacement lowers the potential
} lw_stability;

typedef struct lw_equilibrium_desc {
    size_t size;          ///< sizeof this struct, or 0: see linkwork.h
    const double *inputs; ///< [inputs]; NULL: zeros
    int iterations;       ///< upper bound; 0: 200
    bool any;    ///< the equilibrium that Newton's method finds, stable or not; else a stable one
    double time; ///< of functions of time, and of drives [s]
} lw_equilibrium_desc;

typedef struct lw_equilibrium {
    lw_stability stability;
    int dof;         ///< independent coordinates
    int iterations;  ///< steps of the search
    int indifferent; ///< independent displacements that meet no force
    int unstable;    ///< independent displacements that lower the potential
    double last;     ///< last step [rad, lengths of the mechanism]
    double softest;  ///< minimum eigenvalue of K_r in the metric of M_r [1/s^2]
    /** The independent coordinate with the largest share in the softest displacement, "joint.NAME.q0". */
    char coordinate[LW_COORDINATE_NAME_SIZE];
    int friction; ///< joints with dry friction, which is zero at rest: its range of positions is not computed
    bool relative; ///< drives move at `time`: the equilibrium is relative to them
    /** States of signals (integrals, lags, controllers) that the search solves for as well.  Where there are any, `any` holds;
     *  stability is that of the linearised equations, with their dampers and states: `unstable` counts modes
     *  that grow, `indifferent` those with s = 0 of states that are solved for; `softest` is NaN. */
    int states;
    int held; ///< states that keep the values of the start: of switches and relays, those with a rate that depends on
              ///< nothing that the search moves, and those that act on nothing
} lw_equilibrium;

/** The static equilibrium that is reached from the model's start downhill: r(q) = B'Q = 0, Q the generalised forces
 *  at rest (gravity, springs, inputs; functions and drives at `time`).  With states c of signals that are integrated it is
 *  the nearest by Newton's method of r(q, c) = 0, c' = 0; `balanced` starts with them.  Events are left out.
 *  @param desc       may be NULL
 *  @param balanced    out: the same mechanism with the equilibrium as its start, at rest; may be NULL
 *  @param report     out: may be NULL
 *  @return LW_ERR_SINGULAR: a singular position on the way, or no equilibrium: the coordinate that runs away is named
 *  @cost   O(f n^3) a step, with f dof and n coordinates of the tree */
LW_API lw_status lw_model_equilibrium(const lw_model *model, const lw_equilibrium_desc *desc,
                                      lw_model **balanced, lw_equilibrium *report, lw_error *error);

// -------------------------------------------------------------------------------- inverse dynamics

/** The same mechanism with an input for the effort of each named coordinate, and with the same start.
 *  @param actuators  "JOINT,JOINT.q1,INPUT": coordinates of joints, of loop-closing ones too; `effort` of each (`force`, if
 *                    a function drives that) becomes an input "joint.JOINT.actuatorK", a name of results, unless it is an
 *                    input already.  Drives of these coordinates are removed.  Names of inputs are accepted and change
 *                    nothing.  NULL or "": the driven coordinates, if `release`
 *  @param release    no coordinate is driven any more
 *  @return LW_ERR_ARGUMENT: a name, or a coordinate with two functions; LW_ERR_MODEL, LW_ERR_MEMORY */
LW_API lw_status lw_model_actuate(const lw_model *model, const char *actuators, bool release,
                                  lw_model **actuated, lw_error *error);

typedef struct lw_inverse lw_inverse; ///< workspace; one thread at a time

typedef struct lw_inverse_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    /** As of lw_model_actuate.  NULL or "": the driven coordinates, released; all inputs where none is driven. */
    const char *actuators;
    bool keep_drives; ///< drives of coordinates that are not named remain; else all are released
    const double *inputs;    ///< [inputs of the model], of those that are no actuators; NULL: zeros
    const char *independent; ///< as of lw_linear_desc; NULL: chosen, again where they become bad
    /** A result, or any table with columns "time" and "joint.NAME.q0", ...; lw_inverse_row solves its rows; read by
     *  create alone.  Speeds and accelerations that it does not have are derivatives of the columns.  NULL: none */
    lw_result *motion;
} lw_inverse_desc;

typedef enum lw_inverse_kind {
    LW_INVERSE_UNIQUE,       ///< no other efforts of these actuators give the motion
    LW_INVERSE_MINIMUM_NORM, ///< others do too: these have the minimum weighted norm
    LW_INVERSE_INFEASIBLE    ///< none do: these leave the smallest residual
} lw_inverse_kind;

typedef struct lw_inverse_solution {
    double time; ///< [s]
    lw_inverse_kind kind;
    int dof, actuators, rank; ///< rank: independent generalised forces that the actuators can give
    double condition;     ///< last pivot of the actuators kept; 1: one moves as fast as the fastest
                          ///< coordinate, in rad and lengths; small near dead points
    const double *effort; ///< [actuators] values of the inputs [N, N m]
    const unsigned char *redundant; ///< [actuators] 1: the motion does not determine it alone
    const double *required; ///< [dof] B'(M a + h) along the independent coordinates [N, N m]
    const double *missing;  ///< [dof] the part of it that the actuators cannot give; 0 if feasible
    double residual; ///< of `missing` in the metric of the masses, relative to inertia and loads
    const char *coordinate; ///< independent coordinate with the largest part of `missing`
    const double *tau;      ///< [tree nv] M a + h: without loops what lw_inverse_dynamics gives
    /** [joint] force, torque on body2 about P2, world axes: constraints and remaining drives, without actuators, springs
     *  and `missing`; of minimum norm where not unique [N, N m] */
    const double (*reaction)[6];
    const unsigned char *reaction_undetermined; ///< [joint] as in lw_observation
} lw_inverse_solution;

/** Efforts u of chosen actuators for a motion, of any mechanism:
 *      M a + h = S'u + J'lambda,   B'S'u = B'(M a + h)
 *  @return LW_ERR_ARGUMENT: a name; LW_ERR_SINGULAR: the start is singular; LW_ERR_UNSUPPORTED, LW_ERR_MEMORY */
LW_API lw_status lw_inverse_create(const lw_model *model, const lw_inverse_desc *desc,
                                   lw_inverse **inverse, lw_error *error);
LW_API void lw_inverse_destroy(lw_inverse *inverse);
/** The model with inputs for the actuators, of which q, v and vdot are coordinates of the tree; owned by `inverse`. */
LW_API const lw_model *lw_inverse_model(const lw_inverse *inverse);
LW_API int lw_inverse_actuators(const lw_inverse *inverse);
LW_API const char *lw_inverse_actuator_name(const lw_inverse *inverse, int index);
LW_API int lw_inverse_actuator_input(const lw_inverse *inverse, int index); ///< of lw_inverse_model
LW_API int lw_inverse_dof(const lw_inverse *inverse);
/** The present independent coordinate `index`, and its speed in v. */
LW_API lw_status lw_inverse_coordinate_name(const lw_inverse *inverse, int index, char *text,
                                            size_t size);
LW_API int lw_inverse_coordinate_speed(const lw_inverse *inverse, int index);

/** Of all efforts with the same motion, those of minimum sum (weight * effort)^2 are taken.  The weights are 1 over the
 *  largest effort that a servo with `effort_range` allows an input, else 1, unless they are set.
 *  @param actuator  a name as in the list of actuators; of a joint: all its coordinates
 *  @return LW_ERR_ARGUMENT: no such actuator, or a weight that is not > 0 */
LW_API lw_status lw_inverse_set_weight(lw_inverse *inverse, const char *actuator, double weight,
                                       lw_error *error);

/** @param q, v, vdot  [tree nq], [tree nv] of lw_inverse_model; they must satisfy all joints
 *  @param solution    out, valid until the next call
 *  @return LW_ERR_ARGUMENT: they do not, with the joint and the residual; LW_ERR_SINGULAR: a singular position;
 *          LW_ERR_UNSUPPORTED: efforts are not proportional to an input; LW_ERR_NOT_FINITE
 *  @cost   O(n^3), n speeds of the tree */
LW_API lw_status lw_inverse_solve(lw_inverse *inverse, double t, const double *q, const double *v,
                                  const double *vdot, const lw_inverse_solution **solution,
                                  lw_error *error);
/** Makes q, v and vdot satisfy all joints: their independent entries are kept, the dependent ones follow. */
LW_API lw_status lw_inverse_complete(lw_inverse *inverse, double t, double *q, double *v,
                                     double *vdot, lw_error *error);
/** The same at a motion of a model with the same bodies and joints, for example of lw_sim_kinematics with drives.
 *  @param motion  level ACCELERATION or more */
LW_API lw_status lw_inverse_motion(lw_inverse *inverse, const lw_observation *motion,
                                   const lw_inverse_solution **solution, lw_error *error);
/** Rows of the motion of the description; 0: there is none. */
LW_API long lw_inverse_rows(const lw_inverse *inverse);
/** The same at a row of it; rows in their order, for the loops begin from the row before. */
LW_API lw_status lw_inverse_row(lw_inverse *inverse, long row, const lw_inverse_solution **solution,
                                lw_error *error);
/** The coordinate of the rows so far that deviates most from what the loops give, by more than 1e-4 rad or lengths of the
 *  mechanism; "": none.  Dependent coordinates of a motion only choose the branch of the loops. */
LW_API const char *lw_inverse_warning(const lw_inverse *inverse);
/** q, v and vdot of the last lw_inverse_motion or lw_inverse_row. */
LW_API void lw_inverse_state(const lw_inverse *inverse, const double **q, const double **v,
                             const double **vdot);

// ----------------------------------------------------------------------------------- linearisation

typedef struct lw_linear lw_linear; ///< a result; read by any thread

typedef struct lw_linear_desc {
    size_t size;          ///< sizeof this struct, or 0: see linkwork.h
    double time;          ///< of functions of time [s]
    const double *q, *v;  ///< [tree nq], [tree nv]: the state (dynamics.h); NULL: the model's start
    const double *inputs; ///< [inputs]; NULL: zeros
    const double *states; ///< [lw_model_signal_states] of signals; NULL: the model's start
    const char *independent; ///< "JOINT,JOINT.q1": must be independent coordinates; NULL: any
    const char *outputs;     ///< columns of results, "joint.A.q0,body.rod.z"; NULL: the states
    /** Inputs as functions of the motion; NULL: they are constant.  It finds `inputs`, and its values are those of the
     *  state.  A and C are then of the closed loop, A + B K and C + D K; u is what is added to the values of the callback */
    lw_input_callback callback;
    /** Of the callback; NULL: K are differences of order six of the callback.  It is compared with differences first, as
     *  by lw_sim_check_jacobian */
    lw_input_jacobian jacobian;
    void *callback_user;
} lw_linear_desc;

/** Matrices of
 *      xdot = A x + B u,   y = C x + D u
 *  for small deviations from a state: x = (y, z, c), f independent coordinates, their rates, and the states of signals
 *  (integrals, lags, controllers); u the model's inputs.  Switches and relays keep their values; events are left out.
 *  For states that are not in equilibrium A is the derivative of the rates along the motion.
 *  @param desc  may be NULL
 *  @return LW_ERR_SINGULAR, LW_ERR_ARGUMENT (a name; a Jacobian that is wrong), LW_ERR_UNSUPPORTED, LW_ERR_NOT_FINITE,
 *          LW_ERR_MEMORY; the status of the callback
 *  @cost  O(f n^3) */
LW_API lw_status lw_linearize(const lw_model *model, const lw_linear_desc *desc, lw_linear **linear,
                              lw_error *error);
LW_API void lw_linear_destroy(lw_linear *linear);
LW_API int lw_linear_states(const lw_linear *linear); ///< 2 f, and the states of signals
LW_API int lw_linear_dof(const lw_linear *linear);    ///< f
LW_API int lw_linear_inputs(const lw_linear *linear);
LW_API int lw_linear_outputs(const lw_linear *linear);
/** "joint.NAME.q0", "joint.NAME.qd0", "signal.NAME.state0", "servo.NAME.state"; increments of rotations and floating
 *  bases "joint.NAME.d0", "body.NAME.d0". */
LW_API const char *lw_linear_state_name(const lw_linear *linear, int index);
LW_API const char *lw_linear_input_name(const lw_linear *linear, int index);
LW_API const char *lw_linear_output_name(const lw_linear *linear, int index);
/** [states][states], [states][inputs], [outputs][states], [outputs][inputs] */
LW_API const double *lw_linear_A(const lw_linear *linear);
LW_API const double *lw_linear_B(const lw_linear *linear);
LW_API const double *lw_linear_C(const lw_linear *linear);
LW_API const double *lw_linear_D(const lw_linear *linear);
/** M_r [f][f], the mass matrix of the independent coordinates. */
LW_API const double *lw_linear_mass(const lw_linear *linear);
/** zdot [f] at the state: zero in equilibrium. */
LW_API const double *lw_linear_accelerations(const lw_linear *linear);
/** Writes a MAT-file of level 5 for MATLAB, Octave and SciPy: A, B, C, D, mass_matrix, accelerations, and the names states,
 *  inputs, outputs as arrays of strings.
 *  @param file  opened for binary writing      @return LW_ERR_IO */
LW_API lw_status lw_linear_write_mat(const lw_linear *linear, FILE *file, lw_error *error);
/** Writes the same as HDF5: datasets of matrices, row by row, and of names.  A file that was there is replaced.
 *  @return LW_ERR_IO, LW_ERR_MEMORY, LW_ERR_UNSUPPORTED: built without HDF5; a file that was begun remains */
LW_API lw_status lw_linear_write_hdf5(const lw_linear *linear, const char *path, lw_error *error);

// ------------------------------------------------------------------------------------------- modes

/** A natural motion exp(s t). */
typedef struct lw_mode {
    double frequency; ///< |Im s| / 2 pi [Hz]; 0: no oscillation
    double
        damping_ratio; ///< -Re s / |s|: 0 undamped, 1 decays without oscillation, below 0 grows; 0 for s = 0
    double re, im; ///< s [1/s]; im >= 0
    bool rigid;    ///< s = 0 up to round-off: bodies move without resistance
} lw_mode;

typedef struct lw_modes lw_modes; ///< a result; read by any thread

/** The modes of a linearised mechanism, by rising frequency, then rising |s|: two for each degree of freedom that does
 *  not oscillate (one where s = 0), one for each that does; with states of signals the eigenvalues of all of A.
 *  @return LW_ERR_SINGULAR: eigenvalues do not converge; LW_ERR_MEMORY */
LW_API lw_status lw_modes_create(const lw_linear *linear, lw_modes **modes, lw_error *error);
LW_API void lw_modes_destroy(lw_modes *modes);
LW_API int lw_modes_count(const lw_modes *modes);
LW_API lw_mode lw_modes_at(const lw_modes *modes,
                           int index); ///< all zero for an index out of range
/** Shape: complex displacements and rotations of the bodies [body][6] about their mass centres, world axes, the largest
 *  of all displacements [m], where there are none the largest rotation [rad], being 1.
 *  @param re, im  [body count][6] out, may be NULL; ground and bodies fixed to others have those of their carrier */
LW_API void lw_modes_shape(const lw_modes *modes, int index, double (*re)[6], double (*im)[6]);
/** Share of each body in the kinetic energy of the mode [body count]; their sum is 1. */
LW_API void lw_modes_energy(const lw_modes *modes, int index, double *share);
/** Complex amplitudes of the independent coordinates [f], in the scale of the shape.  @param re, im  may be NULL */
LW_API void lw_modes_coordinates(const lw_modes *modes, int index, double *re, double *im);
/** The same of the states of signals, those behind the coordinates and rates in lw_linear_state_name.  The shape of a mode
 *  in which nothing but signals moves is zero; then the largest of these is 1. */
LW_API void lw_modes_states(const lw_modes *modes, int index, double *re, double *im);
/** Poses of all bodies along a mode, for drawings: at equal phases of one period, of which the last is the first again.
 *  Displacements are at most 0.15 of the mechanism's length and rotations 0.35 rad; both are halved
 *  until the loops close.  Growth and decay are left out.
 *  @param model  that was linearised      @param desc  as given to lw_linearize; may be NULL
 *  @param rows   at least 2
 *  @param r      [rows][body count] mass centres, world axes, m
 *  @param quat   [rows][body count] body frames to world, scalar first; both may change on failure
 *  @return LW_ERR_ARGUMENT, LW_ERR_SINGULAR: the loops do not close, LW_ERR_MEMORY */
LW_API lw_status lw_modes_motion(const lw_modes *modes, int index, const lw_model *model,
                                 const lw_linear_desc *desc, int rows, double (*r)[3],
                                 double (*quat)[4], lw_error *error);

// -------------------------------------------------------- derivatives at a state by physical parameters

/** Derivatives of inverse and forward dynamics by parameters; used by one thread at a time. */
typedef struct lw_parametric lw_parametric;

/** Prepares derivatives by parameters of the model's file, and by numbers of its description: names of lw_vary_at like
 *  body.NAME.mass, body.NAME.com_x, joint.NAME.stiffness0, spring.NAME.length, gravity.z.  Derivatives by masses, mass
 *  centres, inertias, springs and dampers of joints, places of joints, lengths of distances and gravity are exact
 *  (u'F with one recursion, src/dynamics/number_gradient.c), those by other forces differences of order four of these
 *  forces, all others of the equations.  Parameters of the list are independent of each other.
 *  @param by  [nby] names
 *  @cost  four variants of the model for each parameter; of different bodies and joints for all together
 *  @return LW_ERR_ARGUMENT: a name, or a parameter of the file with value 0; LW_ERR_UNSUPPORTED: joints of callers,
 *          rotors on joints that close loops, signals with states, a parameter that changes the spanning tree */
LW_API lw_status lw_parametric_create(const lw_model *model, const char *const *by, int nby,
                                      lw_parametric **parametric, lw_error *error);
LW_API void lw_parametric_destroy(lw_parametric *parametric);
/** Is the derivative by a parameter of the list free of differences of the equations?  (Numbers of the model and forces
 *  by themselves.) */
LW_API int lw_parametric_is_exact(const lw_parametric *parametric, int parameter);
/** Of the efforts of the spanning tree, M vdot + h less the forces of the model, at fixed q, v, vdot.
 *  @param inputs  [inputs] or NULL for zeros
 *  @param by_p    [tree nv][nby] out, units of efforts per unit of the parameter
 *  @cost  O(nv) recursions for all parameters
 *  @return LW_ERR_NOT_FINITE; LW_ERR_ARGUMENT */
LW_API lw_status lw_parametric_inverse(lw_parametric *parametric, double t, const double *q,
                                       const double *v, const double *vdot, const double *inputs,
                                       double *by_p);
/** Of the accelerations at fixed q, v, tau.  With loops both M vdot + h = tau + J'lambda and J vdot + gamma = 0 are
 *  differentiated, rows may be redundant.  Where a parameter moves the joints of a loop, q and v move with it: add
 *  by_q dq + by_v dv (lw_forward_dynamics_derivatives) of the motion that keeps it closed.
 *  @param tau   [tree nv] or NULL for zeros
 *  @param vdot  [tree nv] out, the accelerations
 *  @param by_p  [tree nv][nby] out, units of accelerations per unit of the parameter
 *  @return as lw_forward_dynamics; LW_ERR_SINGULAR */
LW_API lw_status lw_parametric_forward(lw_parametric *parametric, double t, const double *q,
                                       const double *v, const double *tau, const double *inputs,
                                       double *vdot, double *by_p);
/** Details of the last failure; valid until the next call. */
LW_API const lw_error *lw_parametric_error(const lw_parametric *parametric);

// ---------------------------------------------------------------------------- sensitivities of a run

/** Derivatives of results of a run by parameters of the model's file. */
typedef struct lw_sensitivity lw_sensitivity; ///< a result; read by any thread

/** Which number of a column: that of the last row, over the time (straight lines between rows), of the rows. */
typedef enum lw_statistic {
    LW_STATISTIC_LAST,
    LW_STATISTIC_MEAN,
    LW_STATISTIC_RMS,
    LW_STATISTIC_MIN,
    LW_STATISTIC_MAX,
    LW_STATISTIC_COUNT
} lw_statistic;
/** "last", "mean", "rms", "min" or "max"; "" for another number. */
LW_API const char *lw_statistic_name(lw_statistic statistic);

typedef enum lw_sensitivity_method {
    LW_SENSITIVITY_DIFFERENCES, ///< of order six over whole runs: 1 + 6 nby runs, any model
    LW_SENSITIVITY_ADJOINT,     ///< one run and one sweep back, for any number of parameters
    LW_SENSITIVITY_FORWARD      ///< variational equations along one run, for any number of columns
} lw_sensitivity_method;

typedef struct lw_sensitivity_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const lw_options
        *options; ///< of the runs; NULL: defaults.  Tolerances: lw_sensitivity_tolerances
    int nby;
    const char *const *by; ///< [nby] names of parameters, not of value 0
    /** Patterns as of the option `columns`, each with or without a statistic, and names of measures:
     *  "load.max,joint.A.q*.rms,body.b.x"; NULL: the measures of the model, if it has any */
    const char *columns;
    double step;          ///< relative to the value of each parameter; 0: 1e-3
    lw_progress progress; ///< may be NULL
    void *progress_user;
    lw_sensitivity_method method;
    lw_statistic statistic; ///< of columns without one; MIN, MAX: of the row that has it
} lw_sensitivity_desc;

/** Runs the model, and six variants for each parameter: central differences of order six over whole runs, loops
 *  assembled in each.  Exact up to the error that lw_sensitivity_at estimates where results are smooth functions
 *  of the parameters; impacts and stops make kinks.
 *  @return LW_ERR_ARGUMENT: a name, a column; the status of the run, if the model itself fails
 *  @cost   1 + 6 nby runs, in lanes and threads as lw_sweep
 *
 *  The adjoint differentiates the Runge-Kutta steps (verner87, tolerances of at most 1e-10, speeds of the tree) of one run
 *  backwards, step sizes taken as constants, so that its error is of the order of the tolerance, but larger where forces
 *  have corners that depend on the state (slack tendons, limits of servos).  Parameters that change numbers of which
 *  lw_parametric_create has exact derivatives cost little; others need four evaluations at each stage.  One sweep has the
 *  adjoints of all columns and statistics; variants of each parameter give the change of the start and of the columns.
 *  FORWARD differentiates the same steps forward, with the same result up to round-off: its cost grows with the number of
 *  parameters instead of that of columns.
 *  States of signals are differentiated with the motion, and so are events, impacts and changes of contacts with their
 *  times (docs/analysis.md has the equations).
 *  @return the same, and LW_ERR_UNSUPPORTED: a condition that touches zero, two events at one time in an order that depends on
 *          parameters, rotors on joints that close loops, joints of callers; rows at the steps */
LW_API lw_status lw_sensitivity_create(const lw_model *model, const lw_sensitivity_desc *desc,
                                       lw_sensitivity **sensitivity, lw_error *error);
LW_API void lw_sensitivity_destroy(lw_sensitivity *sensitivity);
LW_API int lw_sensitivity_parameters(const lw_sensitivity *sensitivity);
LW_API const char *lw_sensitivity_parameter(const lw_sensitivity *sensitivity, int parameter);
/** How many results: a column with two statistics is two of them. */
LW_API int lw_sensitivity_columns(const lw_sensitivity *sensitivity);
/** Its name ends in the statistic where the description names one: "measure.load.max". */
LW_API lw_column_info lw_sensitivity_column(const lw_sensitivity *sensitivity, int column);
/** That of the column's name, else that of the description; LW_STATISTIC_COUNT for an index out of range. */
LW_API lw_statistic lw_sensitivity_statistic(const lw_sensitivity *sensitivity, int column);
/** Of the run of the model itself; NAN for an index out of range, and from adjoint and forward for another statistic than
 *  that of the column. */
LW_API double lw_sensitivity_value(const lw_sensitivity *sensitivity, int column,
                                   lw_statistic statistic);
/** The derivative, in the unit of the column per unit of the parameter in its file; NAN if a variant has failed, and for
 *  an index out of range, and from adjoint and forward for another statistic than that of the column.
 *  @param error  out: the difference to order four, a bound of the error of a smooth result, NAN from adjoint and forward;
 *                may be NULL */
LW_API double lw_sensitivity_at(const lw_sensitivity *sensitivity, int parameter, int column,
                                lw_statistic statistic, double *error);
/** rtol and atol of the runs: those of the options, at most 1e-12 for differences, 1e-10 for adjoint and forward. */
LW_API void lw_sensitivity_tolerances(const lw_sensitivity *sensitivity, double *rtol,
                                      double *atol);
/** Why a variant of the parameter has failed; "": none has. */
LW_API const char *lw_sensitivity_failure(const lw_sensitivity *sensitivity, int parameter);
/** Why derivatives may be far from exact, of adjoint and forward: a tendon becomes slack, a servo reaches a limit, two rows
 *  have the same minimum or maximum; of differences: an impact passes a row; "": nothing is known. */
LW_API const char *lw_sensitivity_warning(const lw_sensitivity *sensitivity);

// ---- responses: numbers of a run as functions of parameters, for optimisers

typedef struct lw_response lw_response; ///< used by one thread at a time

typedef enum lw_gradient {
    LW_GRADIENT_AUTO, ///< the adjoint, of data forward, where it is possible and costs less
    LW_GRADIENT_DIFFERENCES, ///< of order two over whole runs in lanes and threads: 1 + 2 nby runs, any model
    LW_GRADIENT_ADJOINT, ///< LW_SENSITIVITY_ADJOINT: one run and one sweep back
    LW_GRADIENT_FORWARD ///< LW_SENSITIVITY_FORWARD: one run with its variational equations; of data alone
} lw_gradient;

typedef struct lw_response_desc {
    size_t size;               ///< sizeof this struct, or 0: see linkwork.h
    const lw_options *options; ///< of the runs; NULL: defaults.  rtol and atol are at most 1e-10
    int nby;
    const char *const *by;       ///< [nby] names of parameters of the file
    const double *lower, *upper; ///< [nby] ranges, in the unit of the parameter in its file
    int nwanted;
    /** [nwanted] a measure of the model, with or without "measure.", or a column of results, with its statistic:
     *  "load.max", "joint.A.q0.rms"; last, mean, rms, min or max; default: last */
    const char *const *wanted;
    lw_result *
        data; ///< measured rows, their columns those of results; NULL: none.  Read at creation only
    const double
        *weight; ///< [lw_result_column_count(data)] factors of differences to `data`; NULL: 1
    lw_gradient gradient;
    lw_progress progress; ///< of each evaluation; may be NULL
    void *progress_user;
} lw_response_desc;

/** Values of a response: those of `wanted`, then for each row and column of `data` the residual
 *  weight * (column of the run - data), row by row.  Runs end at the last time of the data and have rows at its times.
 *  @return LW_ERR_ARGUMENT: a parameter, a range, a column; LW_ERR_UNSUPPORTED: times of data without a common interval,
 *          the adjoint with data, forward without data or with measures too */
LW_API lw_status lw_response_create(const lw_model *model, const lw_response_desc *desc,
                                    lw_response **response, lw_error *error);
LW_API void lw_response_destroy(lw_response *response);
LW_API int lw_response_count(const lw_response *response);
/** "measure.load.max"; of a residual the name of its column.  "" out of range. */
LW_API const char *lw_response_name(const lw_response *response, int value);
LW_API const char *lw_response_unit(const lw_response *response, int value);
/** Runs the model with the parameters x, loops assembled again.
 *  @param x         [nby] in the unit of each parameter in its file, within its range
 *  @param value     [count] out
 *  @param jacobian  [count][nby] out, per unit of the parameter; NULL: not wanted
 *  @return LW_ERR_ARGUMENT: x is out of range; otherwise why there is no such run (lw_response_infeasible), LW_ERR_INTERRUPTED,
 *          LW_ERR_UNSUPPORTED: what the adjoint or forward cannot differentiate, by name */
LW_API lw_status lw_response_evaluate(lw_response *response, const double *x, double *value,
                                      double *jacobian, lw_error *error);
/** Is a status of lw_response_evaluate that of a design without a model or a run?  LW_ERR_MODEL, _PARSE (an expression has
 *  no value), _SINGULAR, _INTEGRATOR, _NOT_FINITE: others may have one. */
LW_API bool lw_response_infeasible(lw_status status);
LW_API long lw_response_runs(const lw_response *response); ///< so far; a sweep along a run is one
/** How the last gradient was computed; AUTO: there was none. */
LW_API lw_gradient lw_response_gradient(const lw_response *response);

#ifdef __cplusplus
}
#endif
#endif
