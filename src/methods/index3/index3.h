// index3.h -- formulation `index3`: positions as unknowns of the trapezoidal rule, Newton iterations by block
// elimination, projections [malczyk2019].
//
// State x = (r, quaternion of every body; v, w in body axes; auxiliary states: coordinates of joints that
// poses do not determine; [work, power]; accelerations a, dw/dt in body axes; multipliers).  The last three
// are memory: the next step starts from them.  With seven coordinates the memory holds derivatives of Euler
// parameters in place of dw/dt (euler_parameters.c).
//
//     index3.c               state, start, observation        step.c        one step
//     tangent.c              Newton's matrix of every body    project.c     projections
//     forces.c               applied forces in Newton's equations
//     geometric_stiffness.c  distances, couplings, custom joints
//     friction.c             dry friction                     rotors.c      rotors of joints
//     euler_parameters.c     seven coordinates                regularise.c  eps of the rows
//     options.c              defaults and option string       error.c       local error of a step
//     real_time.c            timing report                    lanes.h       eight bodies at a time
//     fallback.h             scalar fallback of lanes         hinge.c       revolute joints of the fallback
//     borrowed.c             bodies without inertia       feedback.c    inputs that follow from the motion
#ifndef LWI_METHODS_INDEX3_INDEX3_H
#define LWI_METHODS_INDEX3_INDEX3_H

#include "base/assert.h"
#include "base/linear.h"
#include "base/times.h"
#include "kinematics/auxiliary.h"
#include "kinematics/signal_steps.h"
#include "system/system.h"
#include "system/transfer.h"

/** The options of a step with the defaults of its mode filled in (lwi_index3_options_resolve). */
typedef lw_index3_options lwi_index3_method;

/** A body in the current step: its state at the beginning, and its rotation. */
typedef struct lwi_index3_body {
    double r[3], v[3], a[3];  ///< at the beginning, world axes
    double R[9], w[3], al[3]; ///< at the beginning; body axes
    double theta[3];          ///< rotation vector of the step: R = R0 exp(theta~), body axes
    double vn[3], an[3], wn[3],
        aln[3]; ///< at the end, by the trapezoidal rule; wn, aln body axes
} lwi_index3_body;

/** The point of the law of dry friction at which the next iteration linearises (friction.c). */
typedef struct lwi_index3_slipping {
    double v, y, slope; ///< speed, share of the full friction, d y / d v
    double began;       ///< speed at the beginning of the step
    bool known;         ///< set by an iteration of this step
    bool sticks;        ///< friction stops the coordinate faster than the step
} lwi_index3_slipping;

/** An applied force between bodies in Newton's matrix, as rows with stiffnesses (forces.c). */
typedef struct lwi_index3_coupler {
    const lwi_force *force;    ///< NULL: a constraint's curvature (geometric_stiffness.c)
    int joint, coordinate, iv; ///< all forces on one joint coordinate together; joint < 0: none
    int first, end;            ///< they are lwi_index3.acting first .. end - 1
    int distance, coupling;    ///< 1 + number of the distance joint or coupling, or 0
    int body[LWI_EDGE_BODIES]; ///< [n] 0: the ground
    int n, rows;               ///< n: 2; of a force along a length, its moving bodies
    bool ground;               ///< a force along a length: it acts on the ground too
    double rotor;              ///< > 0: no force, but a rotor of this inertia on the coordinate
    const lwi_joint_friction_par *dry; ///< friction of the coordinate, NULL: none
    lwi_index3_slipping slip;
} lwi_index3_coupler;

/** Minus the derivative of the wrench on a body by its own motion: [force, world axes; torque in body axes,
 *  rotated to world axes] by [translation; rotation] (tangent.c). */
typedef struct lwi_index3_stiffness {
    double tr[9], rt[9], rr[9]; ///< force by rotation, torque by translation, torque by rotation
    double tt[9];               ///< force by translation
    bool coupled;               ///< tr, rt or tt is not zero
    double torque[3], virial;   ///< sums of s x F and s . F of the forces counted
} lwi_index3_stiffness;

/** The matrix K of a body, world axes; symmetric for tangent < 2: delta_11 = delta_12 of a single body, -K
 *  [malczyk2019, (26)]. */
typedef struct lwi_index3_leaf {
    double lin, ang[9];
    bool coupled; ///< translations and rotations are coupled: K is all [6][6]
    double all[36];
} lwi_index3_leaf;

struct lwi_index3_euler;
struct lwi_index3_lanes;

typedef struct lwi_index3_counts {
    long steps, iterations, unconverged; ///< unconverged: steps that ended above the tolerance
    double size, t;                      ///< largest final increment of these [m], and its time
    int body, edge; ///< node and edge of the largest increment and residual at that time
} lwi_index3_counts;

/** Wall time of all steps [s]. */
typedef struct lwi_index3_times {
    double total, solve, projection; ///< projection: matrix and both solutions
    double velocity, acceleration;
} lwi_index3_times;

/** Inputs that follow from the motion, in Newton's equations (feedback.c). */
typedef struct lwi_index3_inputs {
    int n;                   ///< inputs; 0: without memory
    bool active;             ///< the columns are those of the present matrix
    double (*x)[6], *lambda; ///< [n][nbody of system], [n][plan.nrow] solutions of unit inputs
    double (*base)[6], (*kept)[6], *inputs, *y, *matrix; ///< scratch
    double (*motion)[3], *still; ///< velocities of the step; [model nv] speeds of joints at rest
    lwi_cod cod;                 ///< of 1 - K Z
} lwi_index3_inputs;

typedef struct lwi_index3 {
    lwi_system system; ///< system of the step: couplers are its last edges
    lwi_system own,
        *plain; ///< `plain`: system without couplers, for observation; `system` if there are none
    lwi_index3_method method;
    lwi_index3_body *body;           ///< [nnode]
    lwi_index3_stiffness *stiffness; ///< [nnode]
    lwi_index3_leaf *leaf;           ///< [nnode]; not of bodies in system.transfer
    double (*borrowed)[36];          ///< K of these, in their order; NULL: there are none
    double (*base)[6], (*given)[6];  ///< then: [nbody of system] scratch
    struct lwi_index3_euler *euler;  ///< NULL: six coordinates
    struct lwi_index3_lanes *lanes;  ///< NULL: not for this model or method
    bool in_lanes;                   ///< the current iteration is in lanes
    double *lambda;   ///< [nrow] multipliers; those of point rows in world axes (step.c)
    double *relative; ///< [nedge] eps relative to the mean diagonal of the rows
    bool *follows,
        any_follows; ///< [nedge] the next step starts from the multipliers of the projection (regularise.c)
    const double *start;            ///< [nrow] multipliers that the step started from
    double *eps, *row;              ///< [plan.nrow], `row` 0 for links of split bodies
    double (*force)[6];             ///< [nnode]
    int ncoupler, first_compliance; ///< first row of the couplers
    int nrotor;                     ///< the last couplers are rotors
    lwi_index3_coupler *coupler;
    int *speed_joint, ///< [model nv] joint of a speed; -1: merged
        *acting, ///< the model's forces that depend on the coordinate or speed they act on, by speed,
        *first_acting;                       ///< [model nv + 1] those of each
    lwi_system_extra *ends;                  ///< [ncoupler]
    double *compliance;                      ///< [rows of couplers]
    bool efforts;                            ///< some forces act on joint coordinates
    double (*velocity)[6], *speed, *impulse; ///< of the velocity projection: x, c, lambda
    bool keeps;         ///< the projections use the factors of the last iteration
    bool controls;      ///< steps have an error control
    int min_iterations; ///< minimum number of iterations of Newton in a step
    bool *points;       ///< [nedge] rows 0 to 2 are point rows: two points coincide
    double mass;        ///< mass of the lightest body [kg]
    double *reach;      ///< [nnode] distance of a body's farthest joint from its mass centre [m]
    bool coordinates;   ///< rows or forces depend on coordinates of joints, read in each iteration
    int at_speed, at_work, at_acceleration, at_lambda; ///< indices in x; at_work < 0: none
    int at_output;            ///< index in x of the multipliers that are observed; < 0: none
    int nmemory;              ///< memory of a body: 6; with Euler parameters 12: a, p', p'', mu
    lwi_auxiliary auxiliary;  ///< auxiliary states of all joints
    lwi_signal_steps signals; ///< states of signals; the rates of the beginning of the last step
    lwi_pool *pool;
    double *inputs; ///< [ninput] zeros, for the start
    lwi_index3_inputs fed;
    lwi_index3_counts counts;
    lwi_index3_times times;
} lwi_index3;

typedef enum lwi_index3_type {
    LWI_INDEX3_REAL,
    LWI_INDEX3_WHOLE,
    LWI_INDEX3_CHOICE
} lwi_index3_type;

/** A field of lw_index3_options: a number from `min` to `max`, or one of `word`. */
typedef struct lwi_index3_key {
    const char *name;
    size_t offset;
    lwi_index3_type type;
    double min, max;
    const char *const *word;
    const char *expected;
} lwi_index3_key;
const lwi_index3_key *lwi_index3_keys(int *count);

/** The method of an empty option, and that of a text KEY=VALUE,... or `auto`. */
lw_status lwi_index3_options_read(const char *text, lw_index3_options *options, lw_error *error);
/** "auto", or key=value,... of what differs from the defaults. */
void lwi_index3_options_write(const lw_index3_options *options, char *text, size_t size);
lw_status lwi_index3_options_check(const lw_index3_options *options, lw_error *error);
/** What a run does: Newton's iterations and tolerance by mode.  @param options  NULL: defaults */
lwi_index3_method lwi_index3_options_resolve(const lw_index3_options *options);
/** Poses, velocities and auxiliary states of x into the motion of a system (`system` or `plain`); other
 *  coordinates by lwi_system_read_joints. */
void lwi_index3_read(const lwi_index3 *d, lwi_system *system, const double *x);
/** Number of the body of node `node`, or of a part of it, among those of edge e. */
int lwi_index3_body_of_edge(const lwi_index3 *d, int e, int node);
/** Wrench of row k of edge e, a joint's, on its second body at unit multiplier, about the mass centre of the
 *  body of the slot used. */
void lwi_index3_row_wrench(const lwi_index3 *d, int e, int k, double w[6]);

// ---- Newton's matrices (tangent.c)

// Stiffness of a force F at arm s from the mass centre, world axes: F fixed in space at a point of the body
// (`point`); F rotating with the body at a point of it (`follower`); F rotating with the body at a point in
// space (`direction`); both fixed in space (`fixed`).
void lwi_index3_stiff_point(lwi_index3_stiffness *K, const double s[3], const double F[3]);
void lwi_index3_stiff_follower(lwi_index3_stiffness *K, const double s[3], const double F[3]);
void lwi_index3_stiff_direction(lwi_index3_stiffness *K, const double s[3], const double F[3]);
void lwi_index3_stiff_fixed(lwi_index3_stiffness *K, const double s[3], const double F[3]);
/** A torque: `part` of it is fixed in space, the remainder rotates with the body. */
void lwi_index3_stiff_torque(lwi_index3_stiffness *K, double part, const double T[3]);
/** Stiffnesses of joints at multipliers lambda and of applied forces; after rows and forces. */
void lwi_index3_stiffnesses(lwi_index3 *d, double t, const double *inputs, const double *lambda);
/** Parts of it: of one joint with its efforts, rows without multipliers omitted; of couplings and of forces
 *  that do not act on joints. */
void lwi_index3_joint_stiffness(lwi_index3 *d, int joint, double t, const double *lambda);
void lwi_index3_other_stiffnesses(lwi_index3 *d, double t, const double *inputs,
                                  const double *lambda);
/** leaf := eta (M + eta stiffness)^-1 for a step h;  leaf := M^-1. */
void lwi_index3_leaves(lwi_index3 *d, double h);
void lwi_index3_mass_leaves(lwi_index3 *d, double h);
/** K := A^-1 [n][n], n <= 8, of a matrix with positive definite symmetric part; false: a pivot is not
 *  positive. */
bool lwi_index3_invert(int n, const double *A, double *K);
/** K := eta (M + eta stiffness / parts)^-1 of a body in a step h, M [6][6] in world axes; without the stiffness where
 *  that outweighs the inertia.  K is M^-1 on entry. */
void lwi_index3_add_stiffness(const lwi_index3 *d, int node, double h, int parts,
                              const double M[36], double K[36]);
/** Row r of G := K J_r;  x := K x, from wrenches on bodies to motions of bodies and parts. */
void lwi_index3_multiply(lwi_index3 *d);
void lwi_index3_apply(const lwi_index3 *d, double (*x)[6]);

// ---- bodies without inertia (borrowed.c)

/** Memory, after the system of the step. */
lw_status lwi_index3_borrowed_create(lwi_index3 *d, lwi_arena *arena);
/** Mass of a body, of one that borrows with what it has borrowed. */
double lwi_index3_body_mass(const lwi_index3 *d, int node);
/** Whether a body borrows or gives. */
bool lwi_index3_is_borrowed(const lwi_index3 *d, int node);
/** K of these bodies in a step h, or M^-1; part of the leaves. */
void lwi_index3_borrowed_leaves(lwi_index3 *d, double h, bool mass);
/** Rows of G := K J_r of a body of the elimination; false: it is none of these. */
bool lwi_index3_multiply_borrowed(const lwi_index3 *d, int body, int rows, const double (*J)[6],
                                  double (*G)[6]);
/** lwi_index3_apply with what is transferred, for J x = c; unit: 1 over eta of K. */
void lwi_index3_apply_borrowed(lwi_index3 *d, double unit, const double *c, double (*x)[6]);
/** x += what is transferred, for J x = c of a projection of x; and after the solution, into the multipliers. */
void lwi_index3_borrow_motion(lwi_index3 *d, double unit, const double *c, double (*x)[6]);
void lwi_index3_return_motion(lwi_index3 *d, double unit, const double (*x)[6], double *lambda);

// ---- applied forces (forces.c)

/** Fills speed_joint, acting and first_acting for the model of d->system. */
lw_status lwi_index3_sort_forces(lwi_index3 *d, lwi_arena *arena);
/** Lists the forces of the model that are edges, after that; list may be NULL.  Returns how many.
 *  @param limit  bodies of an edge */
int lwi_index3_couplers(const lwi_index3 *d, int limit, lwi_index3_coupler *list);
/** Rows J and compliances in a step h at the current motion; and rows of zeros. */
void lwi_index3_force_rows(lwi_index3 *d, double t, double h, const double *inputs);
void lwi_index3_no_force_rows(lwi_index3 *d);
/** Adds their effect on each body separately to `stiffness`. */
void lwi_index3_force_stiffness(lwi_index3 *d, double t, const double *inputs);

/** Wrenches of a unit effort on the coordinate of c on both bodies, about their mass centres. */
void lwi_index3_unit_effort(lwi_index3 *d, const lwi_index3_coupler *c, double t,
                            double wrench[2][6]);

// ---- curved constraints (geometric_stiffness.c)

/** Lists those with rows; list may be NULL.  Returns how many. */
int lwi_index3_geometric(const lw_model *model, lwi_index3_coupler *list);
/** Stiffness of a distance joint across its line, - lambda / l; of a coupling's polynomial. */
double lwi_index3_tension(const lwi_index3 *d, int joint, const double *lambda);
double lwi_index3_curvature(const lwi_index3 *d, int coupling, const double *lambda);
/** Efforts of the coupling's row on both coordinates. */
void lwi_index3_coupling_efforts(const lwi_index3 *d, int coupling, const double *lambda,
                                 double effort[2]);
/** Adds the own-body derivatives of a custom joint to each body; NULL: the ground. */
void lwi_index3_custom(lwi_index3 *d, int joint, double t, const double *lambda,
                       lwi_index3_stiffness *K1, lwi_index3_stiffness *K2);

// ---- inputs that follow from the motion (feedback.c)

/** Memory for their derivatives. */
lw_status lwi_index3_take_slopes(lwi_work *work);
/** After the matrix, with the right side in system.x, which is unchanged: solves for unit inputs by `solve`, where their
 *  derivatives are known.      @return the status of these derivatives, which is that of the feedback too */
lw_status lwi_index3_feedback_columns(lwi_index3 *d, double t, double h, const double *inputs,
                                      void (*solve)(lwi_index3 *, double));
/** Adds what the inputs change to the solution in system.x and system.lambda. */
void lwi_index3_feedback_correct(lwi_index3 *d, double t, double h);

// ---- dry friction (friction.c)

/** J M^-1 J' of a row between the bodies of c, joints ignored. */
double lwi_index3_row_mobility(const lwi_index3 *d, const lwi_index3_coupler *c,
                               double wrench[2][6]);
/** Updates c->slip after an iteration that ended with the speed v.  Returns its stiffness 2/h C y'. */
double lwi_index3_slip(lwi_index3_coupler *c, double h, double mobility, double v);
/** Adds an effort to the residual in `system.x`. */
void lwi_index3_add_effort(lwi_index3 *d, const lwi_index3_coupler *c, double wrench[2][6],
                           double effort);
/** Before a step, with the joint speeds of its beginning in `system.qd`. */
void lwi_index3_friction_begins(lwi_index3 *d);
/** Rows of the projections that damp coordinates with dry friction, after lwi_index3_no_force_rows; unit: of K over a
 *  mobility. */
void lwi_index3_friction_rows(lwi_index3 *d, double t, double h, double unit);

// ---- rotors (rotors.c)

/** Lists the rotors of a model, which are edges too; list may be NULL.  Returns how many. */
int lwi_index3_rotors(const lw_model *model, lwi_index3_coupler *list);
/** Adds their efforts at the accelerations of the trapezoidal rule to the residual in `system.x`. */
void lwi_index3_rotor_residual(lwi_index3 *d, double t);
/** Rows in Newton's matrix of a step h, after those of forces or lwi_index3_no_force_rows. */
void lwi_index3_rotor_rows(lwi_index3 *d, double t, double h);
/** Rows in the projections, after lwi_index3_no_force_rows; unit: of K over a mobility.  The second function
 *  clears them afterwards. */
void lwi_index3_rotor_projections(lwi_index3 *d, double t, double unit);
void lwi_index3_rotors_projected(lwi_index3 *d);
/** Rows in lwi_index3_accelerations, and their c for the multipliers `found` so far. */
void lwi_index3_rotor_start(lwi_index3 *d, double t);
void lwi_index3_rotor_targets(lwi_index3 *d, const double *found);
/** Adds their efforts at the accelerations in `system.x` to system.loads. */
void lwi_index3_rotor_loads(lwi_index3 *d, double t);

// ---- seven coordinates (euler_parameters.c)

lw_status lwi_index3_euler_create(lwi_index3 *d, lwi_arena *arena);
/** Euler parameters and their derivatives at the start, from motion and accelerations of `system`. */
void lwi_index3_euler_enter(const lwi_index3 *d, double *x);
void lwi_index3_euler_begin(lwi_index3 *d, const double *x);
void lwi_index3_euler_predict(lwi_index3 *d, double h);
/** R of body k, and w, dw/dt of d->body, from its parameters. */
void lwi_index3_euler_move(lwi_index3 *d, int k, double h);
/** Derivatives of the rows by the length of the parameters. */
void lwi_index3_euler_rows(lwi_index3 *d);
void lwi_index3_euler_residual(lwi_index3 *d, double h);
void lwi_index3_euler_leaf(lwi_index3 *d, int k, double h, bool mass);
/** Row k of G of the bodies of an edge, with extensions;  x := K x of body k. */
void lwi_index3_euler_multiply(lwi_index3 *d, int edge, int k);
void lwi_index3_euler_apply(const lwi_index3 *d, int k, double (*x)[6]);
/** Adds the increment in x to the parameters of body k and to the multiplier of their length. */
void lwi_index3_euler_update(lwi_index3 *d, int k, double h);
/** Extension components at the start of the projections; and parameters from their result. */
void lwi_index3_euler_load(lwi_index3 *d, double h, double (*x)[6], bool accelerations);
void lwi_index3_euler_take(lwi_index3 *d, double (*x)[6], bool accelerations);
void lwi_index3_euler_finish(lwi_index3 *d, int k, double *x);
/** dw/dt of body k in a state, body axes. */
void lwi_index3_euler_angular_acceleration(const lwi_index3 *d, const double *x, int k,
                                           double al[3]);

// ---- the step

/** Solves accelerations and multipliers at the current motion, regularised: never singular. Writes system->a,
 *  al, x, lambda.
 *  @return LW_ERR_NOT_FINITE naming a body */
lw_status lwi_index3_accelerations(lwi_index3 *d, double t, const double *inputs, lw_error *error);
/** Finds d->relative, once the graph exists (regularise.c). */
lw_status lwi_index3_find_relative(lwi_index3 *d, lwi_arena *arena);
/** c -= eps/unit (lambda - those at the start of the step) where multipliers follow the motion's. */
void lwi_index3_follow(lwi_index3 *d, double unit);
/** eps of every row from the current J and G, compliances of couplers; G = K J with K of `eta` times a
 *  mobility. */
void lwi_index3_regularise(lwi_index3 *d, double eta);
/** Converts the rows of edge e from those of the closure to those of Newton's iterations (step.c). */
void lwi_index3_own_points(lwi_index3 *d, int edge);
/** G := K J, then eps and factors.
 *  @return LW_ERR_SINGULAR, LW_ERR_NOT_FINITE */
lw_status lwi_index3_factor(lwi_index3 *d, double t, double eta, bool symmetric, lw_error *error);
/** What multiplies the multipliers of the projections: K of the tangent is h^2/4 times a mobility. */
double lwi_index3_projection_unit(const lwi_index3 *d, double h);
/** Projects velocities, then accelerations at the end of a step; writes x: accelerations, lambda. */
lw_status lwi_index3_project(lwi_index3 *d, double t, double h, lw_error *error);
/** Multipliers of point rows between axes of F1 (`rows`) and world axes (`held`). */
void lwi_index3_multipliers_to_world(lwi_index3 *d, const double *rows, double *held);
void lwi_index3_multipliers_from_world(lwi_index3 *d, const double *held, double *rows);
/** Node of the largest increment and edge of the largest residual (-1: no rows) of the last iteration. */
void lwi_index3_worst(const lwi_index3 *d, int *node, int *edge);
/** "body 'a' has the largest increment, joint 'b' the largest residual" */
void lwi_index3_describe_worst(const lwi_index3 *d, int node, int edge, char *text, size_t size);
/** Accelerations of body k in x: world axes; dw/dt, body axes (error.c). */
void lwi_index3_acceleration_of(const lwi_index3 *d, const double *x, int k, double a[3],
                                double al[3]);
/** lwi_formulation.error (error.c) */
double lwi_index3_error(lwi_work *work, double h, const double *before, const double *after,
                        double last_h, const double *last, double rtol, double atol);
/** lwi_formulation.report */
void lwi_index3_report(const lwi_work *work, char *text, size_t size);
/** One step from x at time t; x is the state at t + h on return.  No allocation.
 *  @return LW_ERR_INTEGRATOR: Newton diverges; LW_ERR_NOT_FINITE; LW_ERR_SINGULAR */
lw_status lwi_index3_step(lwi_work *work, double t, double h, double *x, const double *inputs);

#endif
