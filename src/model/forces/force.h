// force.h -- what a force type is: one file per type, one row in LWI_FORCE_LIST.
#ifndef LWI_MODEL_FORCES_FORCE_H
#define LWI_MODEL_FORCES_FORCE_H

#include "model/quantity.h"

#include <linkwork/model.h>

#include <stdbool.h>

struct lw_model;

#define X(name) LWI_ITEM_##name,
enum { LW_FORCE_LIST(X) LWI_FORCE_ITEMS };
#undef X

/** States of signals, which integrators carry with the motion. */
typedef struct lwi_states {
    const double *value; ///< [model nstate]; NULL: those of the start
    double *rate;        ///< [model nstate] out; NULL: not asked for
} lwi_states;

/** A law f(x, dx/dt) next to a state: f + by_x (x - x0) + by_rate (dx/dt - rate0). */
typedef struct lwi_law_tangent {
    double x, rate; ///< at the state
    double f, by_x, by_rate;
} lwi_law_tangent;

/** What forces may see.  World axes; bodies by index, mass centres. */
typedef struct lwi_kin {
    const double (*R)[9]; ///< [nbody] body -> world
    const double (*r)[3]; ///< [nbody] mass centre
    const double (*v)[3]; ///< [nbody] its velocity
    const double (*w)[3]; ///< [nbody] angular velocity, WORLD axes
    const double *q, *qd; ///< [model nq], [model nv] coordinates and speeds of all joints
    /** [model nmode] in which mode the forces are that have modes (stops in contact or not), so that rates
     *  are smooth during a step; NULL: each decides by the state. */
    const unsigned char *mode;
    /** [model nmode] for differences: laws that are singular at the end of their mode are replaced by these; NULL: none
     *  is. */
    const lwi_law_tangent *tangent;
    /** World axes, and of the joints; NULL: unknown. */
    const double (*a)[3], (*al)[3], *qdd;
    const lwi_states *states; ///< of signals; NULL: those of the start
} lwi_kin;

/** What forces add to. */
typedef struct lwi_loads {
    double (*wrench)[6]; ///< [nbody] force, moment about the mass centre, world axes
    double *effort;      ///< [model nv] on the joints' speeds: +on body2, -on body1
    double power;        ///< of the non-conservative parts [W]
    /** [nbody] Which thread takes the loads of a body (shares.h); NULL: there is one thread. */
    const int *part;
    int own;             ///< this one takes those of bodies with part == own
    double elsewhere[6]; ///< the loads of other bodies, of no use
} lwi_loads;

/** Where the wrench on a body is added. */
static inline double *lwi_load_on(lwi_loads *loads, int body)
{
    return loads->part && loads->part[body] != loads->own ? loads->elsewhere : loads->wrench[body];
}

enum { LWI_NEEDS_POSE = 1, LWI_NEEDS_TWIST = 2, LWI_NEEDS_JOINT = 4 };

/** What a force acts on, and reads where it reads poses: one speed of a joint, or bodies. */
typedef struct lwi_force_place {
    int iv;         ///< in the joint arrays; -1: bodies
    int n, body[2]; ///< iv < 0 and n = 0: unknown
} lwi_force_place;

/** A force of a model at a state.  World axes. */
typedef struct lwi_force_state {
    const lwi_kin *kin;
    const double
        *load[2]; ///< [6] what this force alone does to its bodies, about their mass centres
    double two;   ///< 2 / h: rate of a velocity by a position in the trapezoidal rule
    const struct lw_model *model; ///< of its signals
    double t;
    const double *inputs;
} lwi_force_state;

/** A length or angle phi that a force f(phi, dphi/dt) depends on: a unit force n on body 2 at point 2 and
 *  the opposite on body 1 at point 1, or a unit couple.  rate = -(df/dphi + two df/dphidot); where it is not
 *  positive the row is left out. */
typedef struct lwi_force_row {
    bool couple;
    double n[3], point1[3], point2[3], rate;
} lwi_force_row;
enum { LWI_FORCE_ROWS = 6 }; ///< maximum

/** How a force or torque on a body changes as the body moves. */
typedef enum lwi_force_follows {
    LWI_FOLLOWS_POINT,     ///< force at a point of the body, direction fixed in space
    LWI_FOLLOWS_BODY,      ///< the same, direction fixed in the body
    LWI_FOLLOWS_DIRECTION, ///< at a point in space, direction fixed in the body
    LWI_FOLLOWS_NOTHING,   ///< at a point in space, direction fixed in space
    LWI_FOLLOWS_TORQUE     ///< torque fixed in space; the point does not count
} lwi_force_follows;

typedef struct lwi_force_action {
    int side; ///< 0, 1: on body 1, 2 of the force's place
    lwi_force_follows follows;
    double point[3], F[3];
} lwi_force_action;
enum { LWI_FORCE_ACTIONS = 4 }; ///< maximum

/** A change of the motion of the bodies of a force's place (change.h), world axes. */
typedef struct lwi_motion_pair {
    double pose[2][6];  ///< of the mass centre, and rotation
    double twist[2][6]; ///< of its velocity, and of the angular velocity
} lwi_motion_pair;

enum { LWI_FORCE_SIGNALS = 7, LWI_FORCE_NUMBERS = 12 }; ///< maxima
/** A signal that a force reads, and what its unit does to the bodies of the force's place, as `load` of
 *  lwi_force_state. */
typedef struct lwi_force_signal {
    lw_signal signal;
    double load[2][6];
} lwi_force_signal;

/** What results contain of a force: the numbers of its quantities, side by side. */
typedef struct lwi_force_outputs {
    const lwi_quantity *quantity; ///< [n] rows of LWI_OUTPUT, or of LWI_COORDINATE_OUTPUT
    int n;
    /** Adds its numbers to `value`, zero or those of another force of this type on the same coordinate. */
    void (*add)(const struct lw_model *, const void *par, const lwi_kin *, double t,
                const double *inputs, double *value);
} lwi_force_outputs;

/** Derivatives along a run are less exact where it passes a corner, and wrong where it passes a jump. */
typedef enum lwi_force_passage {
    LWI_PASSES_NOTHING,
    LWI_PASSES_CORNER,
    LWI_PASSES_JUMP
} lwi_force_passage;

/** A straight piece of what drawings show of a force, between points of the world. */
typedef void lwi_drawn_piece(void *user, const double from[3], const double to[3]);

/** The facts of a force; none can be left out: the compiler counts them. */
#define LWI_FORCE_FACTS(place, potential, dissipates, next_break, modes, varies, rate, nrow, rows, \
                        actions, outputs)                                                          \
    place, potential, dissipates, next_break, modes, varies, rate, nrow, rows, actions, outputs

typedef struct lwi_force_type {
    const char *name, *summary;
    unsigned needs; ///< of lwi_kin: POSE (R, r), TWIST (v, w), JOINT (q, qd)
    void (*apply)(const struct lw_model *, const void *par, const lwi_kin *, double t,
                  const double *inputs, lwi_loads *);
    /** NULL: unknown; it may act on anything. */
    lwi_force_place (*place)(const void *par);
    /** NULL: it has none. */
    double (*potential)(const struct lw_model *, const void *par, const lwi_kin *);
    /** Does it add non-conservative power (so that the state contains its work)?  NULL: never. */
    int (*dissipates)(const void *par);
    /** Next time after t at which the force is not smooth, INFINITY when never; NULL: never. */
    double (*next_break)(const struct lw_model *, const void *par, double t);
    const struct lwi_force_modes *modes; ///< NULL: smooth wherever the state is
    // ---- for implicit integrators; NULL: not part of their tangent
    /** Of a force on a coordinate: does it ever change with it? */
    bool (*varies)(const void *par);
    /** The same: -(df/dq + two df/dqd); the loads of the state are not set. */
    double (*rate)(const void *par, const lwi_force_state *);
    int nrow; ///< of a force between bodies, at most
    void (*rows)(const void *par, const lwi_force_state *, lwi_force_row *);
    /** What it does to its bodies; returns how many actions. */
    int (*actions)(const void *par, const lwi_force_state *, lwi_force_action *);
    const lwi_force_outputs *outputs;
    /** For implicit integrators, where the place is unknown: the length along which it acts (length.h).  NULL: none. */
    const struct lwi_force_length *length;
    /** Which smooth piece of a continuous law acts: taut or slack, limited or not.  NULL: the law is smooth, or has modes. */
    int (*piece)(const struct lw_model *, const void *par, const lwi_kin *, double t,
                 const double *inputs);
    /** What a motion from one piece to another, different one passes.  NULL: a corner. */
    lwi_force_passage (*passes)(int from, int to);
    /** For warnings: what may have a corner; the place of a jump, and what jumps there. */
    const char *corner, *jump[2];
    /** Derivatives of the loads on the bodies of its place, at constant signals: load [n] := those along the changes
     *  [n].  NULL: unknown. */
    void (*differentiate)(const void *par, const lwi_force_state *, int n,
                          const lwi_motion_pair *change, double (*load)[2][6]);
    /** The transpose: derivatives of  x[0].load[0] + x[1].load[1]  by `pose` and `twist` of both bodies, all of them
     *  written.  NULL: by `differentiate` */
    void (*pull_back)(const void *par, const lwi_force_state *, const double x[2][6],
                      lwi_motion_pair *by);
    /** The signals it reads.  @return how many.  NULL: none */
    int (*signals)(const void *par, const lwi_force_state *, lwi_force_signal *);
    /** Numbers (double) of its parameters by which loads have derivatives: where they are in these, and how many. */
    const size_t *load_number;
    int nload_number;
    /** load [nload_number] := derivatives of the loads by them. */
    void (*by_numbers)(const void *par, const lwi_force_state *, double (*load)[2][6]);
    /** Of a force along a path: calls `piece` (may be NULL) for each straight piece that drawings show, in the same number
     *  at any poses (R, r).  @return how many.  NULL: it has no path */
    int (*draw)(const void *par, const lwi_kin *, lwi_drawn_piece *piece, void *user);
} lwi_force_type;

enum { LWI_MAX_GUARDS = 2 };

/** What must not close between the ends of a step, in m or rad: a length y (n = 1), or the distance of a point from
 *  another at y (n = 3) less a radius. */
typedef struct lwi_gap {
    int n; ///< 0: no gap
    double radius;
    double
        step; ///< longest step from here, so that the rates within the contact are evaluated [s]; 0: any
    double y[3][3]; ///< [derivative][component]; the second NAN: unknown
} lwi_gap;

/** A force with a law that depends on a mode: it is smooth while the mode lasts, and the simulation
 *  ends a step where the mode changes. */
typedef struct lwi_force_modes {
    int (*index)(const void *par); ///< its index in lwi_kin.mode
    /** Mode at a state, independent of the past. */
    unsigned char (*now)(const void *par, const lwi_kin *);
    /** Guards of a mode: what must stay positive for it to last, in m or rad; returns how many. */
    int (*guards)(const void *par, unsigned char mode, const lwi_kin *, double *guard);
    /** The first guard with its derivatives. */
    void (*gap)(const void *par, unsigned char mode, const lwi_kin *, lwi_gap *gap);
    /** Of a law that is singular at the end of a mode: x and its rate; and the tangent at given ones.  NULL: it is smooth
     *  beyond its mode, too. */
    void (*measure)(const void *par, const lwi_kin *, double *x, double *rate);
    void (*tangent)(const void *par, unsigned char mode, double x, double rate, lwi_law_tangent *);
    /** Mode after guard number k of `mode` has run out. */
    unsigned char (*next)(const void *par, unsigned char mode, int k, const lwi_kin *);
} lwi_force_modes;

/** One force of a model. */
typedef struct lwi_force {
    const lwi_force_type *type;
    const void *par;
    int output; ///< its first number in lw_observation.output
} lwi_force;

/** An effort on one joint speed: -stiffness (q - at) - damping qd + force(t) + effort(t).  Where
 *  the speed is not the derivative of a coordinate (spherical, free) only damping acts. */
typedef struct lwi_joint_spring_par {
    int iq, iv; ///< in the joint arrays; iq < 0: no coordinate
    double stiffness, damping, at;
    lw_signal force, effort;
    bool follows; ///< one of them reads coordinates or speeds of joints
} lwi_joint_spring_par;

/** A stop at one end of a joint coordinate, beyond it by x = side (q - at) > 0. */
typedef struct lwi_joint_stop_par {
    int iq, iv;      ///< in the joint arrays
    int mode;        ///< in lwi_kin.mode
    double at, side; ///< +1: the upper end, -1: the lower one
    double stiffness, damping;
} lwi_joint_stop_par;

typedef struct lwi_joint_friction_par {
    int iv; ///< in the joint arrays
    double coulomb, viscous, speed;
} lwi_joint_friction_par;

/** Rotor on a driven coordinate of known acceleration. */
typedef struct lwi_joint_rotor_par {
    int iv; ///< in the joint arrays
    double inertia;
    lw_signal motion;
} lwi_joint_rotor_par;

typedef struct lwi_bushing_par {
    int body1, body2;
    double R1[9], r1[3], R2[9], r2[3]; ///< frames on the bodies, origins from their mass centres
    double stiffness[6], damping[6];
} lwi_bushing_par;

typedef struct lwi_stop_par {
    int body1, body2;
    int mode; ///< in lwi_kin.mode
    bool plane;
    double point1[3], point2[3]; ///< from the mass centre, body axes
    double normal[3];            ///< of the plane, unit, axes of body 2
    double radius;               ///< of the sphere, or of both together
    double stiffness, exponent, dissipation;
} lwi_stop_par;

typedef struct lwi_spring_par {
    int body1, body2;
    double point1[3], point2[3]; ///< from the mass centre, body axes (ground: world)
    double stiffness, damping, length;
    lw_signal force;
    int number; ///< where `force` reads lengths of springs: that of this one; else -1
} lwi_spring_par;

typedef struct lwi_drag_par {
    int body;
    double point[3]; ///< from the mass centre, body axes
    double linear, quadratic, angular, angular_quadratic;
    double flow[3];
} lwi_drag_par;

typedef struct lwi_wrench_par {
    int body, body_axes;
    double point[3]; ///< from the mass centre, body axes
    double force[3], torque[3];
    lw_signal force_of[3], torque_of[3], scale;
} lwi_wrench_par;

// Forces act on the bodies named in the description, merged (massless) ones too: arrays over bodies
// are complete, and lwi_loads_to_carriers moves what acts on merged bodies to their carriers.

/** Zeroes the loads, then adds every force of the model; does not move to carriers. */
void lwi_forces_apply(const struct lw_model *model, const lwi_kin *kin, double t,
                      const double *inputs, lwi_loads *loads);
void lwi_loads_to_carriers(const struct lw_model *model, const lwi_kin *kin, lwi_loads *loads);
void lwi_load_to_carrier(const struct lw_model *model, int body, const lwi_kin *kin,
                         lwi_loads *loads);
/** Of springs and gravity [J]. */
double lwi_forces_potential(const struct lw_model *model, const lwi_kin *kin);
lwi_force_place lwi_force_acts_on(const lwi_force *force);
bool lwi_force_dissipates(const lwi_force_type *type, const void *par);
/** Next time after t at which a force, drive or mount of the model is not smooth, or INFINITY. */
double lwi_model_next_break(const struct lw_model *model, double t);

/** Forces on joints, then those of LW_FORCE_LIST, which are items of model files (item.h); last the rates of signals,
 *  which are evaluated where forces are. */
#define LWI_FORCE_LIST(X)                                                                          \
    X(joint_spring) X(joint_stop) X(joint_friction) X(joint_rotor) LW_FORCE_LIST(X) X(signal_states)
#define X(name) extern const lwi_force_type lwi_force_##name;
LWI_FORCE_LIST(X)
#undef X

#endif
