// model.h -- describe a mechanism, check it, and get an immutable model.
//
// A mechanism is a graph: bodies are nodes, joints are edges, the ground is body 0.  Any joint may close a loop; the
// library finds the spanning tree.  Use: create a builder, add items, create the model, destroy the builder.  A model
// is immutable and may be read by any number of threads.
#ifndef LINKWORK_MODEL_H
#define LINKWORK_MODEL_H

#include <linkwork/base.h>
#include <linkwork/spatial.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_builder lw_builder; ///< a description under construction; one thread
typedef struct lw_model lw_model;     ///< immutable; shared freely

typedef struct lw_body {
    int32_t index; ///< 0 is the ground
} lw_body;
typedef struct lw_joint {
    int32_t index; ///< from 0
} lw_joint;
/** A signal: a function of time or an input.  0: none; > 0: function number n-1; < 0: input number -n-1. */
typedef struct lw_signal {
    int32_t index;
} lw_signal;

/** Where an item came from, for messages.  Zero: not from a file. */
typedef struct lw_place {
    int line, column;
} lw_place;

// ------------------------------------------------------------------------------------ functions

#define LW_FUNCTION_LIST(X)                                                                        \
    X(CONSTANT, "constant", "value")                                                               \
    X(POLYNOMIAL, "polynomial", "c0 + c1 t + c2 t^2 + ...")                                        \
    X(SINE, "sine", "offset + amplitude sin(omega t + phase)")                                     \
    X(RAMP, "ramp", "0 until `from`, then rate (t - from)")                                        \
    X(STEP, "step", "from `from` to `to` between `start` and `end`, twice differentiable")         \
    X(TABLE, "table", "curve through points (t, y)")                                               \
    X(SUM, "sum", "sum of terms")                                                                  \
    X(FORMULA, "formula",                                                                          \
      "text in t, and in quantities of the state where no derivatives are needed")                 \
    X(CURVE, "curve", "curve through points (x, y) over a formula")                                \
    X(MAP, "map", "surface through a grid of points over two formulas")                            \
    X(INTEGRAL, "integral", "integral of a formula over time, within a range")                     \
    X(LAG, "lag", "formula behind a first-order lag")                                              \
    X(RATE_LIMIT, "rate_limit", "formula with a limited rate of change")                           \
    X(TRANSFER, "transfer", "formula behind a transfer function")                                  \
    X(PID, "pid", "controller with proportional, integral and derivative action")                  \
    X(SWITCH, "switch", "number that events set")                                                  \
    X(RELAY, "relay", "one of two numbers, by a formula with hysteresis")

#define X(name, text, help) LW_FUNCTION_##name,
typedef enum lw_function_type { LW_FUNCTION_LIST(X) LW_FUNCTION_COUNT } lw_function_type;
#undef X

/** How tables, curves and maps run between their points. */
#define LW_INTERPOLATION_LIST(X)                                                                   \
    X(SPLINE, "spline") /* cubic, two derivatives continuous, none at the ends: natural */         \
    X(LINEAR, "linear")                                                                            \
    X(MONOTONE, "monotone") /* cubic, one derivative continuous, no overshoot: PCHIP */
#define X(name, text) LW_INTERPOLATION_##name,
typedef enum lw_interpolation { LW_INTERPOLATION_LIST(X) LW_INTERPOLATION_COUNT } lw_interpolation;
#undef X

/** What follows beyond the first and the last point. */
#define LW_ENDS_LIST(X)                                                                            \
    X(LINEAR, "linear")     /* a straight line */                                                  \
    X(CLAMPED, "clamped")   /* the value at the end */                                             \
    X(PERIODIC, "periodic") /* the same again; first and last value must be equal */               \
    X(ERROR, "error")       /* not a number: a run ends */
#define X(name, text) LW_ENDS_##name,
typedef enum lw_ends { LW_ENDS_LIST(X) LW_ENDS_COUNT } lw_ends;
#undef X

/** A function of time [s], or of the state of the mechanism (a signal), with exact derivatives.  Arrays are copied. */
typedef struct lw_function_desc {
    size_t size;      ///< sizeof this struct, or 0: see linkwork.h
    const char *name; ///< NULL: anonymous
    lw_function_type type;
    double value;                           ///< constant; switch: at the start
    double offset, amplitude, omega, phase; ///< sine; rad/s, rad
    double rate;                            ///< ramp; starts at `from`
    double from, to, start,
        end; ///< step: values from, to; times start < end; relay: values below, above
    const double *coefficients; ///< polynomial [ncoefficient]
    int ncoefficient;
    const double *t,
        *y; ///< table, curve [npoint]: t (of a curve x) strictly increasing; map: y [npoint][npoint2]
    int npoint;
    const lw_signal *terms; ///< sum [nterm]; functions added before, no inputs
    int nterm;
    /** formula, what a curve or map is over, an integral of, a lag or limit behind, and the reference of a pid: text as docs/model-file.md says, "2*sin(3*t)"; copied.  It may name
     *  functions and inputs that were added before, and joints, bodies, markers and springs, also later ones
     *  ("-40*rope.q0 - 3*rope.qd0").  One that reads inputs or anything but t can drive forces, efforts and scales, but
     *  no motion, mount or length: these need time derivatives.  That of an integral may name the integral itself. */
    const char *formula;
    lw_place place;
    lw_interpolation interpolation; ///< table, curve, map
    lw_ends ends;                   ///< of t (of a curve x)
    const char *formula2;           ///< map: what its second axis is over; pid: what is measured
    const double *x2;               ///< map [npoint2]: strictly increasing
    int npoint2;
    lw_ends ends2; ///< map: of the second axis
    bool recorded; ///< a column of results, `signal.NAME.value`; needs a name
    // ---- with states, which are integrated with the motion: docs/controllers.md has the equations
    /** integral: value at the start, default 0; lag, rate_limit: the same, default that of the formula at the start;
     *  transfer: input of the steady state at the start, default likewise; pid: integral part at the start, default 0;
     *  relay: 1: above, 0: below, where the formula is within the range at the start */
    double initial;
    bool has_initial;
    /** Values of all states at the start, in place of `initial`: of a transfer from the lowest power of s on, of a pid the
     *  integral part and the lagged error; none of switches and relays; copied [nstate]; NULL: from `initial` */
    const double *states;
    int nstate;
    double time; ///< lag, rate_limit: time constant > 0 [s]
    double range
        [2]; ///< integral, pid: lower and upper end, where has_range; relay: of the formula, below this, above that
    bool has_range;
    double kp, ki, kd; ///< pid, >= 0: gains of the error, of its integral and of its rate
    double
        filter; ///< pid: time constant of the derivative [s], > 0 unless kd = 0 or a rate is given
    double tracking; ///< pid with ki and a range: time constant of the anti-windup [s]; 0: default
    const char *reference_rate, *measured_rate; ///< pid: formulas of the rates; NULL: unknown
    const double *numerator,
        *denominator; ///< transfer: coefficients of s, the highest power first, [nnumerator], [ndenominator]
    int nnumerator, ndenominator;
} lw_function_desc;

// ---------------------------------------------------------------------------------------- bodies

#define LW_SHAPE_LIST(X)                                                                           \
    X(NONE, "none", 0)                                                                             \
    X(BOX, "box", 3)             /* edge lengths along x, y, z [m] */                              \
    X(SPHERE, "sphere", 1)       /* radius [m] */                                                  \
    X(CYLINDER, "cylinder", 2)   /* radius, length along z [m] */                                  \
    X(CAPSULE, "capsule", 2)     /* radius, length of the cylindrical part along z [m] */          \
    X(ELLIPSOID, "ellipsoid", 3) /* half axes along x, y, z [m] */                                 \
    X(MESH, "mesh", 3)           /* scale along x, y, z of the mesh, negative: mirrored; all 0: 1 */

#define X(name, text, nsize) LW_SHAPE_##name,
typedef enum lw_shape_type { LW_SHAPE_LIST(X) LW_SHAPE_COUNT } lw_shape_type;
#undef X

/** A mesh of a model; index 0: none. */
typedef struct lw_mesh {
    int32_t index;
} lw_mesh;

/** A triangle mesh that shapes show: a file, or triangles.  Files are opened by what draws, not by the model. */
typedef struct lw_mesh_desc {
    size_t size;           ///< sizeof this struct, or 0: see linkwork.h
    const char *file;      ///< path of an STL, OBJ or MSH file, copied; NULL: the lists below
    const char *uri;       ///< what exports write, "package://arm/link.stl", copied; NULL: `file`
    const float *vertices; ///< [nvertex][3] [m], copied
    const int *triangles;  ///< [ntriangle][3] vertices, counter-clockwise seen from outside, copied
    int nvertex, ntriangle;
    lw_place place;
} lw_mesh_desc;

/** A visual shape of a body, for pictures only. */
typedef struct lw_shape {
    lw_shape_type type;
    double size[3];      ///< as LW_SHAPE_LIST says
    bool has_position;   ///< zero: on the mass centre
    lw_vec3 position;    ///< of its middle in the body frame [m]
    lw_quat orientation; ///< in the body frame; all zero: along its axes
    bool has_color;      ///< zero: the picture chooses
    double color[4];     ///< red, green, blue, opacity in [0, 1]
    lw_mesh mesh;        ///< LW_SHAPE_MESH
} lw_shape;

/** What is done about an inertia that no mass distribution has.  "error" refuses it, "warn" accepts a violated triangle
 *  inequality, "accept" also negative principal moments; "repair" adds the same moment to all three principal moments,
 *  the smallest that satisfies the inequality.  If fixed joints connect the body to others, and the inertia of all
 *  together is possible, there is only a warning. */
#define LW_INERTIA_CHECK_LIST(X)                                                                   \
    X(ERROR, "error") X(WARN, "warn") X(ACCEPT, "accept") X(REPAIR, "repair")
#define X(name, text) LW_INERTIA_##name,
typedef enum lw_inertia_check { LW_INERTIA_CHECK_LIST(X) LW_INERTIA_CHECKS } lw_inertia_check;
#undef X

typedef struct lw_body_desc {
    size_t size;       ///< sizeof this struct, or 0: see linkwork.h
    const char *name;  ///< copied; unique; NULL: "body<index>"
    double mass;       ///< [kg] >= 0
    double inertia[6]; ///< Ixx Iyy Izz Ixy Ixz Iyz [kg m^2], matrix elements about the mass centre
    lw_vec3 com;       ///< mass centre in the body frame [m]
    lw_quat inertia_axes;     ///< axes of `inertia` in the body frame
    lw_pose pose;             ///< body frame at the assembly configuration, in `in`
    lw_body in;               ///< reference of `pose`; default ground (world); must be added before
    bool has_velocity;        ///< velocity and angular_velocity are given
    lw_vec3 velocity;         ///< of the mass centre, world axes [m/s]
    lw_vec3 angular_velocity; ///< body axes [rad/s]
    lw_inertia_check inertia_check;
    const lw_shape *shapes; ///< copied [nshape]
    int nshape;
    lw_place place;
} lw_body_desc;

// ---------------------------------------------------------------------------------------- joints

/** Joint types: name, coordinates nq, speeds nv, constrained directions nc, help.
 *  Coordinates q0, q1, ... of F2 relative to F1, in this order.  z1 is the z axis of F1. */
#define LW_JOINT_LIST(X)                                                                           \
    X(FIXED, "fixed", 0, 0, 6, "no degree of freedom")                                             \
    X(REVOLUTE, "revolute", 1, 1, 5, "angle about z1")                                             \
    X(PRISMATIC, "prismatic", 1, 1, 5, "displacement along z1")                                    \
    X(SCREW, "screw", 1, 1, 5, "angle about z1, displacement pitch*angle/(2 pi)")                  \
    X(CYLINDRICAL, "cylindrical", 2, 2, 4, "displacement along z1, angle about z1")                \
    X(UNIVERSAL, "universal", 2, 2, 4, "angles about z1 and x2: R(F2 in F1) = Rz(q0) Rx(q1)")      \
    X(SPHERICAL, "spherical", 4, 3, 3,                                                             \
      "unit quaternion of F2 in F1; speeds: angular velocity in F2")                               \
    X(PLANAR, "planar", 3, 3, 3, "displacements along x1, y1, angle about z1")                     \
    X(FREE, "free", 7, 6, 0,                                                                       \
      "position in F1, quaternion; speeds: velocity, angular velocity in F2")                      \
    X(DISTANCE, "distance", 0, 0, 1, "distance of P1 and P2 is `length`; always closes a loop")    \
    X(CUSTOM, "custom", 0, 0, 0, "by a table of C callbacks")                                      \
    X(PIN_SLOT, "pin_slot", 2, 2, 4, "displacement along x1, angle about z1: a pin in a slot")

#define X(name, text, nq, nv, nc, help) LW_JOINT_##name,
typedef enum lw_joint_type { LW_JOINT_LIST(X) LW_JOINT_COUNT } lw_joint_type;
#undef X

#define LW_JOINT_MAX_NQ 8
#define LW_JOINT_MAX_NV 6

/** A joint type defined by the caller.  Spatial vectors linear part first, in axes of F2 about its origin.
 *  Every callback is pure: the result depends on the arguments only.  `user` is shared by threads. */
typedef struct lw_custom_joint {
    const char *name;
    int nq, nv; ///< 1..8, 1..6; with nq == nv the speeds are the derivatives of the coordinates
    /** Pose of F2 in F1: row-major rotation (F2 -> F1 components) and origin in F1 axes. */
    void (*pose)(const void *user, const double *q, double R[9], double r[3]);
    /** Motion subspace [nv][6]: velocity of F2 relative to F1 = sum_j S[j] u[j]. */
    void (*subspace)(const void *user, const double *q, double S[][6]);
    /** Time derivative of its components [nv][6]. */
    void (*subspace_rate)(const void *user, const double *q, const double *u, double Sdot[][6]);
    /** Coordinate rates [nq]; NULL where nq == nv. */
    void (*kinematics)(const void *user, const double *q, const double *u, double *qdot);
    /** Coordinates from a pose, continued from `near` (angles do not wrap). */
    void (*read)(const void *user, const double R[9], const double r[3], const double *near,
                 double *q);
    const void *user;
} lw_custom_joint;

/** Stops at the ends of a coordinate's range: beyond an end by x > 0 the effort is
 *  -max(0, stiffness x + damping dx/dt), towards the range; it never pulls back.  Without stiffness there are no stops:
 *  the range only shows where the mechanism works, and lw_model_assemble tries starts in it. */
typedef struct lw_limits_desc {
    double lower, upper;       ///< [m, rad]
    bool has_lower, has_upper; ///< zero: no stop at that end
    double stiffness;          ///< [N/m, N m/rad] >= 0; 0: no stops, only the range is known
    double damping;            ///< [N s/m, N m s/rad] >= 0
} lw_limits_desc;

/** Effort -coulomb tanh(qd / speed) - viscous qd. */
typedef struct lw_friction_desc {
    double coulomb; ///< [N, N m] >= 0
    double viscous; ///< [N s/m, N m s/rad] >= 0
    double speed; ///< [m/s, rad/s] at a few times this all of `coulomb` acts; > 0 where coulomb is
} lw_friction_desc;

/** What acts on, or prescribes, one joint coordinate. */
typedef struct lw_coordinate_desc {
    lw_signal motion; ///< the coordinate follows this function (not an input)
    double stiffness; ///< [N/m, N m/rad] effort -stiffness (q - at) - damping qd + force
    double damping;   ///< [N s/m, N m s/rad]
    double at;        ///< [m, rad]
    lw_signal force;  ///< [N, N m]
    lw_signal effort; ///< [N, N m] a second signal, by convention an input
    lw_limits_desc limits;
    lw_friction_desc friction;
    /** Inertia [kg, kg m^2] >= 0 reflected to the coordinate, for example of a motor: gear ratio squared times the
     *  inertia of the rotor.  Kinetic energy rotor qd^2 / 2. */
    double rotor;
} lw_coordinate_desc;

/** May a joint be a loop-closing joint, left out of the spanning tree?  LW_CUT_ALWAYS is an error where the joint is in
 *  no loop. */
typedef enum lw_cut { LW_CUT_AUTO, LW_CUT_PREFER, LW_CUT_NEVER, LW_CUT_ALWAYS } lw_cut;
typedef enum lw_placement {
    LW_PLACED_AT,    ///< `at`, `axis`, `axis2`: world, at the assembly configuration
    LW_PLACED_FRAMES ///< `frame1`, `frame2` in the body frames
} lw_placement;

typedef struct lw_joint_desc {
    size_t size;      ///< sizeof this struct, or 0: see linkwork.h
    const char *name; ///< copied; unique; NULL: "joint<index>"
    lw_joint_type type;
    lw_body body1, body2; ///< `between`; coordinates are those of F2 (on body2) relative to F1
    lw_placement placement;
    lw_vec3 at;    ///< joint point [m]
    lw_vec3 axis;  ///< z1 (all zero: z)
    lw_vec3 axis2; ///< universal: x2, normal to axis; others: direction of x1 (all zero: any,
                   ///< except for pin_slot)
    lw_pose frame1, frame2;
    double pitch;        ///< screw [m per turn]
    double length;       ///< distance [m]; 0: from the assembly configuration
    lw_signal length_of; ///< distance: length as a function of time
    bool has_q, has_qd;
    double q[LW_JOINT_MAX_NQ];  ///< coordinates at the start (else: from the bodies' poses)
    double qd[LW_JOINT_MAX_NV]; ///< speeds at the start (else: from the bodies' velocities)
    lw_coordinate_desc coordinate[LW_JOINT_MAX_NV];
    double damping; ///< spherical, free: wrench -damping times the relative velocity
    // mount: F1 is moved on body1 by a rotation about `mount_about`, then a shift (body1's F1 axes)
    lw_signal mount_shift[3]; ///< [m]
    lw_signal mount_turn;     ///< [rad]
    lw_vec3 mount_about;      ///< all zero: z
    lw_cut cut;
    const lw_custom_joint *custom; ///< copied; for LW_JOINT_CUSTOM
    lw_place place;
} lw_joint_desc;

// ---------------------------------------------------------------------------------- forces, more

/** Forces of model files.  Each has a description lw_<name>_desc and a function lw_builder_add_<name>. */
#define LW_FORCE_LIST(X) X(spring) X(wrench) X(bushing) X(stop) X(drag) X(servo) X(tendon)

typedef struct lw_spring_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    lw_body body1, body2;
    lw_vec3 point1, point2; ///< body frames [m]
    bool world1, world2;    ///< the point is given in the world, at the assembly configuration
    double stiffness, damping, length; ///< [N/m] [N s/m] [m]
    lw_signal force;                   ///< [N] added; positive pushes the points apart
    lw_place place;
} lw_spring_desc;

typedef struct lw_wrench_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    lw_body body;
    lw_vec3 point;         ///< where `force` acts, body frame [m]
    bool world_point;      ///< `point` is given in the world, at the assembly configuration
    lw_vec3 force, torque; ///< [N], [N m]
    bool body_axes;        ///< components in body axes; default world axes
    lw_signal scale;       ///< multiplies both; none: 1
    lw_place place;
    lw_signal force_of[3], torque_of[3]; ///< functions or inputs that are added to their components
} lw_wrench_desc;

/** Springs and dampers in six directions between frames of two bodies, in axes of F1: along x, y, z against
 *  the displacement of F2, about x, y, z against its rotation vector. */
typedef struct lw_bushing_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    lw_body body1, body2;
    lw_vec3 at;             ///< both frames here, with world axes, at the assembly configuration
    bool has_at;            ///< `at` counts, frame1 and frame2 do not
    lw_pose frame1, frame2; ///< in the body frames
    double stiffness[6], damping[6]; ///< [N/m, N m/rad], [N s/m, N m s/rad] >= 0
    lw_place place;
} lw_bushing_desc;

/** A sphere on body 1 against a plane or a sphere on body 2: stiffness x^exponent max(0, 1 + dissipation
 *  dx/dt) pushes them apart where they overlap by x > 0. */
typedef struct lw_stop_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    lw_body body1, body2;
    lw_vec3 point1, point2; ///< centre of the sphere; point of the plane or centre of the other one
    bool world1, world2;    ///< the point is given in the world, at the assembly configuration
    double radius;          ///< [m] > 0
    double radius2;         ///< of the sphere on body 2 [m]; 0: a plane
    lw_vec3 normal;         ///< of the plane, out of body 2, in its frame
    bool world_normal;      ///< in world axes, at the assembly configuration
    double stiffness;       ///< [N/m^exponent] > 0
    double exponent;        ///< >= 1; 0: 1.5, that of elastic spheres
    double dissipation;     ///< [s/m] >= 0
    lw_place place;
} lw_stop_desc;

/** Resistance of a medium to a body: force -(linear + quadratic |v|) v at a point with velocity v relative to
 *  the medium, torque -(angular + angular_quadratic |w|) w. */
typedef struct lw_drag_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    lw_body body;
    lw_vec3 point;            ///< where the force acts, body frame [m]
    bool world_point;         ///< `point` is given in the world, at the assembly configuration
    double linear;            ///< [N s/m] >= 0
    double quadratic;         ///< [N s^2/m^2] >= 0
    double angular;           ///< [N m s/rad] >= 0
    double angular_quadratic; ///< [N m s^2/rad^2] >= 0
    lw_vec3 flow;             ///< velocity of the medium, world axes [m/s]
    lw_place place;
} lw_drag_desc;

/** The law of a force f along a length l:
 *    u = target(t), within target_range
 *    f = kp (u - l) + kd (rate(t) - dl/dt) + (gain[0] + gain[1] l + gain[2] dl/dt) u
 *        + bias[0] + bias[1] l + bias[2] dl/dt, within effort_range
 *  Its work is not conservative. */
typedef struct lw_servo_law {
    double gear;             ///< factor of the length; 0: 1
    lw_signal target;        ///< u: of a position servo the length [m, rad]
    lw_signal rate;          ///< wanted dl/dt [m/s, rad/s]
    double kp;               ///< [N/m, N m/rad] >= 0
    double kd;               ///< [N s/m, N m s/rad] >= 0
    double gain[3], bias[3]; ///< coefficients of 1, l, dl/dt
    bool has_target_range;   ///< zero: u is not limited
    bool has_effort_range;   ///< zero: f is not limited
    double target_range[2];  ///< lower <= upper
    double effort_range[2];  ///< lower <= upper [N, N m]
} lw_servo_law;

/** A coordinate that a servo drives. */
typedef struct lw_servo_term {
    lw_joint joint;
    int coordinate; ///< which one of the joint; a scalar one
    double factor;  ///< its share of the length
} lw_servo_term;

/** A controlled drive of a joint coordinate, or of a weighted sum of several, as a tendon over pulleys: the law along
 *    l = gear q, or gear sum factor q
 *  A motor can do no more than, along its speed s = dl/dt (torque over speed is a straight line),
 *    f <= stall min(1, max(0, 1 - s/no_load)),   f >= -stall min(1, max(0, 1 + s/no_load))
 *  and may be behind this by a lag, y' = (f - y)/lag within -effort_rate ... effort_rate, y = `initial` at the start.
 *  The effort on a coordinate is f dl/dq, or y dl/dq. */
typedef struct lw_servo_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    lw_joint joint; ///< the driven coordinate, unless there are terms
    int coordinate;
    bool on_joint;              ///< set by the library: there are no terms
    const lw_servo_term *terms; ///< copied [nterm]
    int nterm;
    lw_servo_law law;
    lw_place place;
    double stall; ///< effort at rest [N, N m] > 0; 0: not limited
    double
        no_load; ///< speed at which no effort is left [m/s, rad/s] > 0; 0: the effort does not depend on it
    double lag;         ///< time constant of the effort [s]; 0: none
    double effort_rate; ///< largest rate of the effort, with a lag [N/s, N m/s] > 0; 0: not limited
    double
        rotor; ///< inertia that moves with l, of a servo on one free coordinate [kg, kg m^2]; 0: none
    double initial; ///< y at the start, with a lag [N, N m]
} lw_servo_desc;

/** A part of the path of a tendon: a point of a body, or an obstacle between two points, around which the path goes the
 *  shortest way where it would cut it, or a pulley, after which all lengths are divided. */
typedef struct lw_path_element {
    lw_body body;
    lw_vec3 point; ///< the point, or the centre of the obstacle, body frame [m]
    double radius; ///< of the obstacle [m]; 0: a point
    lw_vec3
        axis; ///< the obstacle is a cylinder about this direction, body frame; all zero: a sphere
    bool
        has_side; ///< the path passes the obstacle on the side of a point; if that is inside, so is the path
    bool has_side_body; ///< the point is on another body
    lw_body side_body;
    lw_vec3 side;  ///< body frame [m]
    double pulley; ///< divisor of the lengths from here to the next pulley; 0: no pulley
} lw_path_element;

/** In place of a path: L is the position along the axis of the slider, from its point, of the end of a rod of which the
 *  other end is the crank's point, the smaller one of two; where the rod does not reach the axis, the position next to
 *  the crank's point. */
typedef struct lw_slider_crank {
    bool present;
    lw_body crank, slider;
    lw_vec3 crank_point, slider_point, axis; ///< body frames [m]; the axis: not zero
    double rod;                              ///< length [m] > 0
} lw_slider_crank;

/** A tendon, rope or belt along a path over bodies, which pulls at its points with the tension -f.  Its length L is the
 *  sum of those of the straight and wound parts, each over the divisor of its pulley.
 *    f = -stiffness x - damping dL/dt - coulomb tanh(dL/dt / speed) + gear f_law(l = gear L)
 *  where x = L - length, or L - length + slack if that is negative, and zero between. */
typedef struct lw_tendon_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    const lw_path_element *path; ///< copied [npath]; the first and the last one are points
    int npath;
    lw_slider_crank slider_crank;
    double stiffness, damping; ///< [N/m], [N s/m] >= 0
    bool has_length;           ///< else: that of the assembly configuration
    double length,
        slack; ///< without force of the spring from length - slack to length [m] slack >= 0
    double coulomb, speed; ///< dry friction [N] >= 0, [m/s] > 0 or 0: 0.01
    lw_servo_law law;
    lw_place place;
} lw_tendon_desc;

/** q_joint = c0 + c1 q_of + c2 q_of^2 + ... */
typedef struct lw_coupling_desc {
    size_t size;              ///< sizeof this struct, or 0: see linkwork.h
    lw_joint joint, of;       ///< the one that follows, the one it follows; scalar coordinates
    int coordinate, with;     ///< which coordinate of `joint`, of `of`
    const double *polynomial; ///< copied [npolynomial]
    int npolynomial;
    lw_place place;
} lw_coupling_desc;

/** An impulse at one time, on a body at a point or on a coordinate of a joint: the integral of a force that acts so
 *  shortly that nothing moves meanwhile.  Velocities jump, those of all other bodies through their joints. */
typedef struct lw_impulse_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    double time;      ///< at which it acts [s] > 0; not read by lw_sim_apply_impulse
    lw_body body;     ///< unless it acts on a joint
    lw_vec3 point;    ///< where `impulse` acts, body frame [m]
    bool world_point; ///< `point` is given in the world, at the assembly configuration
    lw_vec3 impulse, angular_impulse; ///< [N s], angular impulse [N m s]
    bool body_axes;                   ///< components in body axes; default world axes
    bool on_joint;                    ///< `joint`, `coordinate` and `effort` count instead
    lw_joint joint;
    int coordinate; ///< which speed of the joint
    double effort;  ///< on this speed [N s, N m s]
    lw_place place;
} lw_impulse_desc;

/** A point and axes of a body to be observed: results have its motion. */
typedef struct lw_marker_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    lw_body body;
    lw_pose pose; ///< in the body frame
    lw_place place;
} lw_marker_desc;

/** A named expression of columns of results and of the time t, which results have as `measure.NAME`.  It is compared with
 *  the model where results are written (lw_measures_create). */
typedef struct lw_measure_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    const char *formula; ///< "hypot(joint.A.fx, joint.A.fz)": docs/results.md, "Measures"
    const char *unit;    ///< in which its values are given, "deg", "mm"; NULL: SI
    lw_place place;
} lw_measure_desc;

/** Which crossings of an event's condition count. */
#define LW_CROSSING_LIST(X)                                                                        \
    X(AUTO, "auto")       /* a comparison: where it becomes true; a number: both */                \
    X(RISING, "rising")   /* becomes true; from negative to positive */                            \
    X(FALLING, "falling") /* becomes false; from positive to negative */                           \
    X(BOTH, "both")
#define X(name, text) LW_CROSSING_##name,
typedef enum lw_crossing { LW_CROSSING_LIST(X) LW_CROSSING_COUNT } lw_crossing;
#undef X

/** What a switch becomes at an event. */
typedef struct lw_event_setting {
    lw_signal target; ///< a function of type LW_FUNCTION_SWITCH
    lw_signal value;  ///< evaluated at the event
} lw_event_setting;

/** Something that happens in a run at a time that a condition on the motion decides, or at given times: the run ends, a
 *  row is written at exactly this time, switches change.  Several at one time happen in the order of the model. */
typedef struct lw_event_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    const char *name;
    /** A signal that crosses zero, or a formula with a comparison, "arm.q0 > 0.5", perhaps several with `and`, `or` and
     *  `not`; index 0: at times */
    lw_signal when;
    lw_crossing crossing; ///< of `when`
    double every;         ///< [s] > 0: at from + k every, k = 0, 1, ...; 0: not periodic
    double from;          ///< of `every` [s] >= 0
    const double *at;     ///< copied [nat] times, increasing [s] >= 0
    int nat;
    bool stop;   ///< the run ends
    bool record; ///< a row of the results at this time, with the number of the event in sys.event
    const lw_event_setting *set; ///< copied [nset]: all change at once
    int nset;
    lw_place place;
} lw_event_desc;

// ------------------------------------------------------------------------------------ mechanisms

/** Mechanisms of many equal rods: cylinders, their joints at the ends; gravity is not changed.
 *    chain       n rods end to end from the origin along x
 *    tree        n rods, rod i > 0 at the end of rod (i-1)/2, rotated by +-0.5 rad about z
 *    loop        n rods end to end and back to the ground: a regular polygon of n + 1 sides
 *    n_four_bar  n + 1 rods along y on hinges about z at (i, 0, 0), n couplers between their tips
 *    ladder      n + 1 posts along z on universal joints (x, then y) at (i, 0, 0), n rungs between tips,
 *                hinged about y: two degrees of freedom, 2 n redundant constraints
 *    net         n by m meshes in the plane x, y: rods along y from (i, 0, 0) on, m one after the other, and
 *                rods along x between their tips */
#define LW_MECHANISM_LIST(X)                                                                       \
    X(CHAIN, "chain")                                                                              \
    X(TREE, "tree") X(LOOP, "loop") X(N_FOUR_BAR, "n_four_bar") X(LADDER, "ladder") X(NET, "net")

#define X(name, text) LW_MECHANISM_##name,
typedef enum lw_mechanism { LW_MECHANISM_LIST(X) LW_MECHANISM_COUNT } lw_mechanism;
#undef X

typedef struct lw_mechanism_desc {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    lw_mechanism mechanism;
    const char *name;            ///< what all names begin with; NULL: nothing
    int n;                       ///< how many, >= 1
    int m;                       ///< net: meshes along y; 0: n
    double length, mass, radius; ///< of a rod; 0: 1 m, 1 kg, a twentieth of the length
    int joint;        ///< chain, tree, loop, net: 0 revolute, 1 universal (no net), 2 spherical
    const char *axes; ///< first axes of the joints in turn, letters x y z; NULL: "xyz"
    /** n_four_bar, net: angle of the rods; ladder: of the posts about x and y; chain, tree: speeds of the first
     *  joint in qd.  [rad], [rad/s] */
    double q[3], qd[3];
    int seed; ///< chain, tree: > 0: random coordinates, then speeds, in [-1, 1); 0: at rest except for qd
    lw_place place;
} lw_mechanism_desc;

// --------------------------------------------------------------------------------------- builder

/** @param allocator NULL: malloc and free; copied.   @return LW_ERR_MEMORY */
LW_API lw_status lw_builder_create(const lw_allocator *allocator, lw_builder **builder);
LW_API void lw_builder_destroy(lw_builder *builder);

/** Every `add` copies its description, checks the item by itself and fails with
 *  LW_ERR_MODEL (text names item, value and what was expected), LW_ERR_ARGUMENT or LW_ERR_MEMORY.
 *  The item added (function, input, body, joint, mesh) comes out; NULL where it is not wanted. */
LW_API void lw_builder_gravity(lw_builder *builder, lw_vec3 acceleration); ///< default 0 0 -9.81
LW_API lw_status lw_builder_add_function(lw_builder *builder, const lw_function_desc *desc,
                                         lw_signal *function, lw_error *error);
/** @param name  NULL: "input<index>" */
LW_API lw_status lw_builder_add_input(lw_builder *builder, const char *name, lw_signal *input,
                                      lw_error *error);
/** A mesh, which shapes of bodies added later may show. */
LW_API lw_status lw_builder_add_mesh(lw_builder *builder, const lw_mesh_desc *desc, lw_mesh *mesh,
                                     lw_error *error);
LW_API lw_status lw_builder_add_body(lw_builder *builder, const lw_body_desc *desc, lw_body *body,
                                     lw_error *error);
LW_API lw_status lw_builder_add_joint(lw_builder *builder, const lw_joint_desc *desc,
                                      lw_joint *joint, lw_error *error);
LW_API lw_status lw_builder_add_spring(lw_builder *builder, const lw_spring_desc *desc,
                                       lw_error *error);
LW_API lw_status lw_builder_add_wrench(lw_builder *builder, const lw_wrench_desc *desc,
                                       lw_error *error);
LW_API lw_status lw_builder_add_bushing(lw_builder *builder, const lw_bushing_desc *desc,
                                        lw_error *error);
LW_API lw_status lw_builder_add_stop(lw_builder *builder, const lw_stop_desc *desc,
                                     lw_error *error);
LW_API lw_status lw_builder_add_drag(lw_builder *builder, const lw_drag_desc *desc,
                                     lw_error *error);
LW_API lw_status lw_builder_add_servo(lw_builder *builder, const lw_servo_desc *desc,
                                      lw_error *error);
LW_API lw_status lw_builder_add_tendon(lw_builder *builder, const lw_tendon_desc *desc,
                                       lw_error *error);
LW_API lw_status lw_builder_add_coupling(lw_builder *builder, const lw_coupling_desc *desc,
                                         lw_error *error);
LW_API lw_status lw_builder_add_impulse(lw_builder *builder, const lw_impulse_desc *desc,
                                        lw_error *error);
LW_API lw_status lw_builder_add_marker(lw_builder *builder, const lw_marker_desc *desc,
                                       lw_error *error);
LW_API lw_status lw_builder_add_measure(lw_builder *builder, const lw_measure_desc *desc,
                                        lw_error *error);
LW_API lw_status lw_builder_add_event(lw_builder *builder, const lw_event_desc *desc,
                                      lw_error *error);
/** Adds the bodies and joints of a mechanism. */
LW_API lw_status lw_builder_add_mechanism(lw_builder *builder, const lw_mechanism_desc *desc,
                                          lw_error *error);
/** Records what a reader ignored; kept by the model and shown by `check`. */
LW_API lw_status lw_builder_warn(lw_builder *builder, lw_place place, const char *format, ...)
    LW_PRINTF(3, 4);
/** The file named in errors and warnings; copied. */
LW_API lw_status lw_builder_set_source(lw_builder *builder, const char *file);

/** Sets LW_CUT_ALWAYS on joints by name, "j4,j7", overriding their descriptions.
 *  @return LW_ERR_ARGUMENT, naming the nearest, for a joint that does not exist
 *  @param joints  NULL: none */
LW_API lw_status lw_builder_cut(lw_builder *builder, const char *joints, lw_error *error);

/** A parameter of the model's file. */
typedef struct lw_parameter_info {
    const char *name;
    double value;      ///< SI
    double unit_value; ///< of its unit in SI: the value is value/unit_value units; 1 without one
    const char *unit;  ///< of numbers without a unit that override it: "mm"; "": SI
    const char *text;  ///< of the value, as stated: "5 mm", "2*l"
    const char *description; ///< "" where there is none
    double minimum, maximum; ///< SI; infinite where there is no bound
} lw_parameter_info;
LW_API int lw_model_parameter_count(const lw_model *model);
/** Parameter 0 .. count - 1 in the order of the file; zeros out of range. */
LW_API lw_parameter_info lw_model_parameter_at(const lw_model *model, int index);
/** The model of the same file with other values of its parameters; the file itself is not read again, but what it
 *  includes is.
 *  @param set        [nset] "NAME=VALUE"; a number without a unit is in the parameter's; others keep their values
 *  @param allocator  NULL: malloc
 *  @return LW_ERR_ARGUMENT: no such parameter; LW_ERR_UNSUPPORTED: the model is of no native file; what reading
 *          returns */
LW_API lw_status lw_model_remake(const lw_model *model, const char *const *set, int nset,
                                 const lw_allocator *allocator, lw_model **remade, lw_error *error);

/** Checks the whole description and creates the model.  The builder may be used again or destroyed.
 *  Speeds that are not specified, of joints in loops and of coupled joints, follow from the specified ones by the
 *  constraints; where these leave a choice, kinetic energy is minimal.
 *  @return LW_ERR_MODEL with file, line, column and the name of the item in `error` */
LW_API lw_status lw_model_create(const lw_builder *builder, lw_model **model, lw_error *error);
/** Like lw_model_create, but accepts an initial state that violates the loops: for lw_model_assemble and for drawings.
 *  Simulations refuse such a model. */
LW_API lw_status lw_model_create_open(const lw_builder *builder, lw_model **model, lw_error *error);
LW_API void lw_model_destroy(lw_model *model);

// ------------------------------------------------------------------------------------ inspection

// An index that does not exist gives an empty text or a zero struct.

LW_API int lw_model_body_count(const lw_model *model); ///< with the ground
LW_API int lw_model_joint_count(const lw_model *model);
LW_API int lw_model_marker_count(const lw_model *model);
LW_API int lw_model_measure_count(const lw_model *model);
LW_API int lw_model_event_count(const lw_model *model);
LW_API int lw_model_function_count(const lw_model *model);
LW_API int lw_model_input_count(const lw_model *model);
LW_API int lw_model_warning_count(const lw_model *model);
LW_API const char *lw_model_body_name(const lw_model *model, lw_body body);
LW_API const char *lw_model_joint_name(const lw_model *model, lw_joint joint);
LW_API const char *lw_model_marker_name(const lw_model *model, int marker);
LW_API const char *lw_model_measure_name(const lw_model *model, int measure);
LW_API const char *lw_model_event_name(const lw_model *model, int event);
LW_API const char *lw_model_input_name(const lw_model *model, int input);
/** What an event does, in the words of its keys: "set u, record, stop". */
LW_API const char *lw_model_event_action(const lw_model *model, int event);
/** Text with file and line. */
LW_API const char *lw_model_warning(const lw_model *model, int index);
/** Items by name.  @return LW_ERR_ARGUMENT: there is none of that name */
LW_API lw_status lw_model_find_body(const lw_model *model, const char *name, lw_body *body);
LW_API lw_status lw_model_find_joint(const lw_model *model, const char *name, lw_joint *joint);
LW_API lw_status lw_model_find_input(const lw_model *model, const char *name, int *input);

typedef struct lw_body_info {
    const char *name;
    double mass;    ///< [kg]
    int moves_with; ///< body this massless one is fixed to and merged with; itself otherwise
    lw_vec3 com;    ///< mass centre in the body frame [m]
    const lw_shape *shapes; ///< [nshape], the model's; position and orientation are filled in
    int nshape;
} lw_body_info;

typedef struct lw_joint_info {
    const char *name;
    lw_joint_type type;
    lw_body body1, body2;
    int nq, nv;           ///< coordinates and speeds, driven ones included
    int q_first, v_first; ///< where they start in the joint arrays of an observation
    int ndriven;          ///< coordinates that follow a function
    bool closes_loop;     ///< not part of the spanning tree
    bool merged;          ///< fixed joint of a massless body that moves with another
    unsigned angles;      ///< bit k: coordinate k is an angle
    int quaternion;       ///< first coordinate of a unit quaternion; -1: none
} lw_joint_info;

typedef struct lw_function_info {
    const char *name; ///< NULL: anonymous
    lw_function_type type;
    const char *type_name; ///< "switch", "formula", ...
    bool recorded;         ///< a signal: results have it as signal.NAME.value
} lw_function_info;

/** A function, from 0 on in the order in which they were added (lw_signal has 1 more); all zero for an index out of
 *  range.  Strings are valid as long as the model. */
LW_API lw_function_info lw_model_function(const lw_model *model, int function);
LW_API lw_body_info lw_model_body(const lw_model *model, lw_body body);
LW_API int lw_model_mesh_count(const lw_model *model);
/** A mesh, from 1 on; its strings and lists are the model's. */
LW_API lw_mesh_desc lw_model_mesh(const lw_model *model, lw_mesh mesh);
LW_API lw_joint_info lw_model_joint(const lw_model *model, lw_joint joint);
LW_API int lw_model_nq(const lw_model *model); ///< joint coordinates of all joints
LW_API int lw_model_nv(const lw_model *model); ///< joint speeds of all joints
/** Degrees of freedom of the spanning tree: joint speeds that are not driven, floating bases included. */
LW_API int lw_model_tree_dof(const lw_model *model);
LW_API int lw_model_loop_count(const lw_model *model); ///< joints outside the spanning tree
/** Joints of a loop: the one outside the spanning tree, then those of the tree that lead from its second
 *  body to its first.
 *  @param joints  [room] out, as many as fit      @return how many there are; 0: no such loop */
LW_API int lw_model_loop(const lw_model *model, int loop, lw_joint *joints, int room);

#ifdef __cplusplus
}
#endif
#endif
