// index3.h -- positions as unknowns: the trapezoidal rule, Newton on the engine, projections.
//
// State x = (r, quaternion of every body; v, w in body axes; coordinates of joints that poses
// cannot tell; [work, power]; accelerations a, dw/dt in body axes; multipliers).  The last three
// are memory: they are what the next step begins with.  With seven coordinates a body there has
// Euler parameters' rates in place of dw/dt (euler_parameters.c).
//
//     index3.c           state, start, what is observed        options.c   the method
//     step.c      one step                              real_time.c     what it cost
//     tangent.c   Newton's matrix of every body         project.c   projections
//     forces.c    applied forces in Newton's equations  euler_parameters.c     Euler parameters
//     error.c     the error of a step                 lanes.h    eight at a time
//     friction.c  dry friction                       rotors.c    rotors of joints
//     geometric_stiffness.c    distances, couplings, custom joints
//     regularise.c  eps of the rows         fallback.h   what lanes leave to the rest
#ifndef LWI_METHODS_INDEX3_INDEX3_H
#define LWI_METHODS_INDEX3_INDEX3_H

#include "base/times.h"
#include "kinematics/auxiliary.h"
#include "system/system.h"

/** The options of a step with the defaults of its mode filled in (lwi_index3_options_resolve). */
typedef lw_index3_options lwi_index3_method;

/** A body in the step at hand: where it began, and how far it has turned. */
typedef struct lwi_index3_body {
    double r[3], v[3], a[3];  ///< at the beginning, world axes
    double R[9], w[3], al[3]; ///< at the beginning; body axes
    double theta[3];          ///< rotation vector of the step: R = R0 exp(turn~), body axes
    double vn[3], an[3], wn[3],
        aln[3]; ///< at the end, as the trapezoidal rule has them; wn, aln body axes
} lwi_index3_body;

/** The point of the law of dry friction that an iteration goes on from (friction.c). */
typedef struct lwi_index3_slipping {
    double v, y, slope; ///< speed, part of the whole friction, d y / d v
    bool known;         ///< by an iteration of this step
    bool sticks;        ///< friction stops the coordinate faster than the step
} lwi_index3_slipping;

/** An applied force between two hosts that Newton knows: rows of stiffnesses (forces.c). */
typedef struct lwi_index3_coupler {
    const lwi_force *force;    ///< NULL: a constraint's curvature (geometric_stiffness.c)
    int joint, coordinate, iv; ///< all forces on one joint coordinate together; joint < 0: none
    int first, end;            ///< these are among the model's forces first .. end - 1
    int distance, coupling;    ///< 1 + number of what is curved, or 0
    int body[2], rows;
    double rotor; ///< > 0: no force, but a rotor of this inertia on the coordinate
    const lwi_joint_friction_par *dry; ///< friction of the coordinate, NULL: none
    lwi_index3_slipping slip;
} lwi_index3_coupler;

/** How the wrench on a body changes when the body alone moves: minus the derivative of [force, world
 *  axes; moment in body axes, turned to world axes] by [displacement; turn] (tangent.c). */
typedef struct lwi_index3_stiffness {
    double tr[9], rt[9], rr[9]; ///< force by turn, moment by displacement, moment by turn
    double tt[9];               ///< force by displacement
    bool coupled;               ///< tr, rt or tt is not zero
    double moment[3], virial;   ///< of the forces counted: sums of s x F and s . F
} lwi_index3_stiffness;

/** The matrix K of a body, world axes; symmetric below level 2. */
typedef struct lwi_index3_leaf {
    double lin, ang[9];
    bool coupled; ///< displacements and turns answer together: all [6][6] is K
    double all[36];
} lwi_index3_leaf;

struct lwi_index3_euler;
struct lwi_index3_lanes;

typedef struct lwi_index3_counts {
    long steps, iterations, unconverged; ///< unconverged: steps that ended above the tolerance
    double size, t;                      ///< largest increment they ended with [m], and when
    int body, edge; ///< node and edge of the largest increment and residual then
} lwi_index3_counts;

/** Wall time of all steps [s]. */
typedef struct lwi_index3_times {
    double total, solve, projection;     ///< projection: matrix and both solutions
    double velocity, acceleration, both; ///< one after the other, or at a time
} lwi_index3_times;

typedef struct lwi_index3 {
    lwi_system system;      ///< of the step: couplers are its last edges
    lwi_system own, *plain; ///< without couplers: what is observed; `closed` where there are none
    lwi_index3_method method;
    lwi_index3_body *body;           ///< [nnode]
    lwi_index3_stiffness *stiffness; ///< [nnode]
    lwi_index3_leaf *leaf;           ///< [nnode]
    struct lwi_index3_euler *euler;  ///< NULL: six coordinates
    struct lwi_index3_lanes *lanes;  ///< NULL: not for this model or method
    bool in_lanes;                   ///< the iteration at hand
    double *lambda;                  ///< [nrow] held: forces of point rows in world axes (step.c)
    double *relative;                ///< [nedge] eps relative to the mean diagonal of the rows
    double *eps, *row;               ///< [nrow]
    double (*force)[6];              ///< [nnode]
    int ncoupler, first_compliance;  ///< the first row of theirs
    int nrotor;                      ///< the last couplers are rotors
    lwi_index3_coupler *coupler;
    lwi_system_extra *ends;                  ///< [ncoupler]
    double *compliance;                      ///< [rows of couplers]
    bool efforts;                            ///< forces act on joint coordinates
    double (*velocity)[6], *speed, *impulse; ///< of the projection: x, c, lambda
    lwi_elim *view[2];  ///< for both projections at a time; NULL: one after the other
    int min_iterations; ///< of Newton in a step, whatever its increments
    bool *points;       ///< [nedge] rows 0 to 2 make two points meet
    double mass;        ///< of the lightest body [kg]
    bool coordinates;   ///< rows or forces ask for coordinates of joints: read in each iteration
    int at_speed, at_work, at_acceleration, at_lambda; ///< in x; at_work < 0: none
    int nmemory; ///< of a body at at_acceleration: 6; with Euler parameters 12: a, p', p'', mu
    lwi_auxiliary auxiliary; ///< of all joints
    lwi_pool *pool;
    double *inputs; ///< [ninput] zeros, of the start
    lwi_index3_counts counts;
    lwi_index3_times times;
} lwi_index3;

/** The method of an empty option, and that of a text KEY=VALUE,... or `auto`. */
lw_status lwi_index3_options_read(const char *text, lw_index3_options *options, lw_error *error);
/** "auto", or key=value,... of what differs from the defaults. */
void lwi_index3_options_write(const lw_index3_options *options, char *text, size_t size);
lw_status lwi_index3_options_check(const lw_index3_options *options, lw_error *error);
/** What a run does: Newton's iterations and tolerance by mode.  @param options  NULL: defaults */
lwi_index3_method lwi_index3_options_resolve(const lw_index3_options *options);
/** Bodies' poses, velocities, carried coordinates of x into the motion of `closed` or `plain`; the
 * other coordinates are for lwi_system_read_joints. */
void lwi_index3_read(const lwi_index3 *d, lwi_system *system, const double *x);
/** Wrench of row k of edge e, a joint's, on its second body at unit multiplier, as the slot of the
 *  body that moves has it (about that body's mass centre). */
void lwi_index3_row_wrench(const lwi_index3 *d, int e, int k, double w[6]);

// ---- Newton's matrices (tangent.c)

// A force F at arm s from the mass centre, world axes: at a point of the body and fixed in space; the
// same but turning with the body; at a point in space and turning; at a point in space and fixed.
void lwi_index3_stiff_point(lwi_index3_stiffness *K, const double s[3], const double F[3]);
void lwi_index3_stiff_follower(lwi_index3_stiffness *K, const double s[3], const double F[3]);
void lwi_index3_stiff_direction(lwi_index3_stiffness *K, const double s[3], const double F[3]);
void lwi_index3_stiff_fixed(lwi_index3_stiffness *K, const double s[3], const double F[3]);
/** A torque: `part` of it stands in space, the rest turns with the body. */
void lwi_index3_stiff_torque(lwi_index3_stiffness *K, double part, const double T[3]);
/** Of joints at multipliers lambda and of applied forces; after rows and forces. */
void lwi_index3_stiffnesses(lwi_index3 *d, double t, const double *inputs, const double *lambda);
/** Its parts: of one joint with its efforts, rows without multipliers left out; of couplings and of forces
 *  that are none on joints. */
void lwi_index3_joint_stiffness(lwi_index3 *d, int joint, double t, const double *lambda);
void lwi_index3_other_stiffnesses(lwi_index3 *d, double t, const double *inputs,
                                  const double *lambda);
/** leaf := eta (M + eta stiffness)^-1 for a step h;  leaf := M^-1 */
void lwi_index3_leaves(lwi_index3 *d, double h);
void lwi_index3_mass_leaves(lwi_index3 *d, double h);
/** K := A^-1 [n][n], n <= 8, of a matrix whose symmetric part is positive definite; false where a
 *  pivot is not positive. */
bool lwi_index3_invert(int n, const double *A, double *K);
/** Row r of G := K J_r;  x := K x. */
void lwi_index3_multiply(lwi_index3 *d);
void lwi_index3_apply(const lwi_index3 *d, double (*x)[6]);

// ---- applied forces (forces.c)

/** Those of a model that are edges; list may be NULL.  Returns how many. */
int lwi_index3_couplers(const lw_model *model, lwi_index3_coupler *list);
/** Their rows J and compliances in a step h at the motion at hand; and rows of zeros. */
void lwi_index3_force_rows(lwi_index3 *d, double t, double h, const double *inputs);
void lwi_index3_no_force_rows(lwi_index3 *d);
/** Adds what they do to each body alone to `stiffness`. */
void lwi_index3_force_stiffness(lwi_index3 *d, double t, const double *inputs);

/** Unit effort on the coordinate of c: wrenches on both bodies about their mass centres. */
void lwi_index3_unit_effort(lwi_index3 *d, const lwi_index3_coupler *c, double t,
                            double wrench[2][6]);

// ---- curved constraints (geometric_stiffness.c)

/** Those that have rows; list may be NULL.  Returns how many. */
int lwi_index3_geometric(const lw_model *model, lwi_index3_coupler *list);
/** Stiffness of a distance joint across its line, - lambda / l; of a coupling's polynomial. */
double lwi_index3_tension(const lwi_index3 *d, int joint, const double *lambda);
double lwi_index3_curvature(const lwi_index3 *d, int coupling, const double *lambda);
/** What the coupling's row does: efforts on both coordinates. */
void lwi_index3_coupling_efforts(const lwi_index3 *d, int coupling, const double *lambda,
                                 double effort[2]);
/** Adds what each body of a custom joint sees by moving alone; NULL: the ground. */
void lwi_index3_custom(lwi_index3 *d, int joint, double t, const double *lambda,
                       lwi_index3_stiffness *K1, lwi_index3_stiffness *K2);

// ---- dry friction (friction.c)

/** J M^-1 J' of a row between the bodies of c, joints left out. */
double lwi_index3_row_mobility(const lwi_index3 *d, const lwi_index3_coupler *c,
                               double wrench[2][6]);
/** c->slip of an iteration that has ended with the speed v.  Returns its stiffness 2/h C y'. */
double lwi_index3_slip(lwi_index3_coupler *c, double h, double mobility, double v);
/** Adds an effort to the residual in `closed.x`. */
void lwi_index3_add_effort(lwi_index3 *d, const lwi_index3_coupler *c, double wrench[2][6],
                           double effort);
/** Rows of the projections that hold what rests, after lwi_index3_no_force_rows; unit: of K over a
 *  mobility. */
void lwi_index3_sticking_rows(lwi_index3 *d, double t, double unit);

// ---- rotors (rotors.c)

/** Those of a model, which are edges too; list may be NULL.  Returns how many. */
int lwi_index3_rotors(const lw_model *model, lwi_index3_coupler *list);
/** Adds their efforts at the accelerations of the trapezoidal rule to the residual in `closed.x`. */
void lwi_index3_rotor_residual(lwi_index3 *d, double t);
/** Their rows in Newton's matrix of a step h, after those of forces or lwi_index3_no_force_rows. */
void lwi_index3_rotor_rows(lwi_index3 *d, double t, double h);
/** Their rows in the projections, after lwi_index3_no_force_rows; unit: of K over a mobility.  And what
 *  is cleared when these are done. */
void lwi_index3_rotor_projections(lwi_index3 *d, double t, double unit);
void lwi_index3_rotors_projected(lwi_index3 *d);
/** Their rows in lwi_index3_accelerations, and c there when multipliers `found` have been found. */
void lwi_index3_rotor_start(lwi_index3 *d, double t);
void lwi_index3_rotor_targets(lwi_index3 *d, const double *found);
/** Adds their efforts at the accelerations in `closed.x` to closed.loads. */
void lwi_index3_rotor_loads(lwi_index3 *d, double t);

// ---- seven coordinates (euler_parameters.c)

lw_status lwi_index3_euler_create(lwi_index3 *d, lwi_arena *arena);
/** Euler parameters and their rates at the start, from the motion and accelerations of `closed`. */
void lwi_index3_euler_enter(const lwi_index3 *d, double *x);
void lwi_index3_euler_begin(lwi_index3 *d, const double *x);
void lwi_index3_euler_predict(lwi_index3 *d, double h);
/** Of body k from its parameters: R, and w, dw/dt of d->body. */
void lwi_index3_euler_move(lwi_index3 *d, int k, double h);
/** Rows' derivatives by the length of the parameters. */
void lwi_index3_euler_rows(lwi_index3 *d);
void lwi_index3_euler_residual(lwi_index3 *d, double h);
void lwi_index3_euler_leaf(lwi_index3 *d, int k, double h, bool mass);
/** Of the bodies of an edge, with twins: row k of G;  of body k: x := K x. */
void lwi_index3_euler_multiply(lwi_index3 *d, int edge, int k);
void lwi_index3_euler_apply(const lwi_index3 *d, int k, double (*x)[6]);
/** Adds the increment in x to body k's parameters and the multiplier of their length. */
void lwi_index3_euler_update(lwi_index3 *d, int k, double h);
/** What projections start from beside velocities or accelerations in x, and what they have found. */
void lwi_index3_euler_load(lwi_index3 *d, double h, double (*x)[6], bool accelerations);
void lwi_index3_euler_take(lwi_index3 *d, double (*x)[6], bool accelerations);
void lwi_index3_euler_finish(lwi_index3 *d, int k, double *x);
/** dw/dt of body k in a state, body axes. */
void lwi_index3_euler_angular_acceleration(const lwi_index3 *d, const double *x, int k,
                                           double al[3]);

// ---- the step

/** Solves accelerations and multipliers at the motion at hand, regularised: never singular.
 *  closed->a, al, x, lambda. */
lw_status lwi_index3_accelerations(lwi_index3 *d, double t, const double *inputs, lw_error *error);
/** d->relative, once the graph is known (regularise.c). */
lw_status lwi_index3_find_relative(lwi_index3 *d, lwi_arena *arena);
/** eps of every row from J and G at hand, compliances of couplers; G = K J with K of `eta` times a
 *  mobility. */
void lwi_index3_regularise(lwi_index3 *d, double eta);
/** Rows of edge e, as the closure has them, to those of Newton's iterations (step.c). */
void lwi_index3_own_points(lwi_index3 *d, int edge);
/** G := K J, then eps and factors. */
lw_status lwi_index3_factor(lwi_index3 *d, double t, double eta, bool symmetric, lw_error *error);
/** Velocities, then accelerations onto the joints at the end of a step; x: accelerations, lambda. */
lw_status lwi_index3_project(lwi_index3 *d, double t, double h, lw_error *error);
/** Between multipliers of rows and those that are held. */
void lwi_index3_multipliers_to_world(lwi_index3 *d, const double *rows, double *held);
void lwi_index3_multipliers_from_world(lwi_index3 *d, const double *held, double *rows);
/** Where Newton is far from its end: node of the largest increment, edge of the largest residual
 * (-1: no rows). */
void lwi_index3_worst(const lwi_index3 *d, int *node, int *edge);
/** "body 'a' moves most, the constraints of joint 'b' are off most (1e-3)" */
void lwi_index3_describe_worst(const lwi_index3 *d, int node, int edge, char *text, size_t size);
/** lwi_formulation.error (error.c) */
double lwi_index3_error(lwi_work *work, double h, const double *before, const double *after,
                        double last_h, const double *last, double rtol, double atol);
/** lwi_formulation.report */
void lwi_index3_report(const lwi_work *work, char *text, size_t size);
/** One step; x and t are those of its beginning, x of its end on return. */
lw_status lwi_index3_step(lwi_work *work, double t, double h, double *x, const double *inputs);

#endif
