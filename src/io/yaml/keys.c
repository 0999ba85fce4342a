// keys.c -- the tables of keys of the native model file.  A new key is one row.
#include "io/yaml/keys.h"

#include "base/base.h"

#include <string.h>

#define ONE 1u      // bit of the only type of an object without types
#define EVERY (~0u) // bits of all types

// clang-format off
// --------------------------------------------------------------------------------------- functions

#define X(name, text, help) text,
static const char *const function_types[] = {LW_FUNCTION_LIST(X)};
#undef X

#define X(name, text) text,
static const char *const interpolations[] = {LW_INTERPOLATION_LIST(X)};
static const char *const ends[] = {LW_ENDS_LIST(X)};
#undef X

#define F(name) (1u << LW_FUNCTION_##name)
#define STATES (F(INTEGRAL) | F(LAG) | F(RATE_LIMIT) | F(TRANSFER))
#define AT(field) .offset = offsetof(lwi_yaml_function, field)
static const lwi_yaml_key function_keys[] = {
    {"value", LWI_KEY_NUMBER, AT(desc.value), .types = F(CONSTANT) | F(SWITCH), .required = F(CONSTANT) | F(SWITCH),
     .help = "the constant; of a switch at the start"},
    {"coefficients", LWI_KEY_LIST, AT(desc.coefficients),
     .size = offsetof(lwi_yaml_function, desc.ncoefficient), .types = F(POLYNOMIAL),
     .required = F(POLYNOMIAL), .help = "c0, c1, ...: c0 + c1 t + c2 t^2 + ..."},
    {"amplitude", LWI_KEY_NUMBER, AT(desc.amplitude), .types = F(SINE), .required = F(SINE),
     .help = "offset + amplitude sin(omega t + phase)"},
    {"omega", LWI_KEY_NUMBER, AT(desc.omega), .types = F(SINE), .required = F(SINE),
     .help = "angular frequency [rad/s]"},
    {"phase", LWI_KEY_NUMBER, AT(desc.phase), .types = F(SINE), .help = "phase [rad]; default 0"},
    {"offset", LWI_KEY_NUMBER, AT(desc.offset), .types = F(SINE), .help = "mean value; default 0"},
    {"rate", LWI_KEY_NUMBER, AT(desc.rate), .types = F(RAMP) | F(RATE_LIMIT), .required = F(RAMP) | F(RATE_LIMIT),
     .help = "ramp: slope after `from`, rate (t - from); rate_limit: largest rate of change, > 0"},
    {"from", LWI_KEY_NUMBER, AT(desc.from), .types = F(RAMP) | F(STEP),
     .help = "ramp: time it begins [s]; step: value before `start`; default 0"},
    {"to", LWI_KEY_NUMBER, AT(desc.to), .types = F(STEP), .required = F(STEP),
     .help = "value after `end`"},
    {"start", LWI_KEY_NUMBER, AT(desc.start), .types = F(STEP), .required = F(STEP),
     .help = "time the step begins [s]"},
    {"end", LWI_KEY_NUMBER, AT(desc.end), .types = F(STEP), .required = F(STEP),
     .help = "time the step ends [s], after `start`"},
    {"t", LWI_KEY_LIST, AT(desc.t), .size = offsetof(lwi_yaml_function, nt), .types = F(TABLE),
     .required = F(TABLE), .help = "times of the points [s], increasing"},
    {"x", LWI_KEY_LIST, AT(desc.t), .size = offsetof(lwi_yaml_function, nt), .types = F(CURVE) | F(MAP),
     .required = F(CURVE) | F(MAP), .help = "values of `of` at the points, increasing"},
    {"x2", LWI_KEY_LIST, AT(desc.x2), .size = offsetof(lwi_yaml_function, desc.npoint2), .types = F(MAP),
     .required = F(MAP), .help = "values of `of2` at the points, increasing"},
    {"y", LWI_KEY_LIST, AT(desc.y), .size = offsetof(lwi_yaml_function, ny), .types = F(TABLE) | F(CURVE),
     .required = F(TABLE) | F(CURVE), .help = "values at the points, as many as in `t` or `x`"},
    {"rows", LWI_KEY_ROWS, AT(desc.y), .size = offsetof(lwi_yaml_function, nrow), .flag = offsetof(lwi_yaml_function, ncolumn),
     .types = F(MAP), .required = F(MAP), .help = "a list for each number of `x`, of a value for each number of `x2`"},
    {"interpolation", LWI_KEY_WORD, AT(desc.interpolation), .more = interpolations, .count = LWI_COUNT(interpolations),
     .types = F(TABLE) | F(CURVE) | F(MAP), .help = "between the points: `spline`, `linear`, or `monotone`, a cubic without overshoot; default spline"},
    {"ends", LWI_KEY_WORD, AT(desc.ends), .more = ends, .count = LWI_COUNT(ends), .types = F(TABLE) | F(CURVE) | F(MAP),
     .help = "before the first and after the last point of `t` or `x`: a straight line, `clamped`, `periodic`, or `error`; default linear"},
    {"ends2", LWI_KEY_WORD, AT(desc.ends2), .more = ends, .count = LWI_COUNT(ends), .types = F(MAP),
     .help = "the same of `x2`"},
    {"terms", LWI_KEY_TERMS, AT(desc.terms), .size = offsetof(lwi_yaml_function, desc.nterm),
     .types = F(SUM), .required = F(SUM), .help = "functions that are added"},
    {"of", LWI_KEY_STRING, AT(desc.formula), .size = offsetof(lwi_yaml_function, formula_place),
     .types = F(FORMULA) | F(CURVE) | F(MAP) | STATES | F(RELAY), .required = F(FORMULA) | F(CURVE) | F(MAP) | STATES | F(RELAY),
     .help = "formula in t; in forces, efforts and scales also in joints: \"2*sin(3*t) - 4*A.qd0\"; of a curve or map what it is over; what is "
             "integrated, delayed or limited, where an integral may name itself"},
    {"of2", LWI_KEY_STRING, AT(desc.formula2), .size = offsetof(lwi_yaml_function, formula2_place),
     .types = F(MAP), .required = F(MAP), .help = "formula: what the second axis of the map is over"},
    {"reference", LWI_KEY_STRING, AT(desc.formula), .size = offsetof(lwi_yaml_function, formula_place),
     .types = F(PID), .required = F(PID), .help = "formula: what `measured` should be"},
    {"measured", LWI_KEY_STRING, AT(desc.formula2), .size = offsetof(lwi_yaml_function, formula2_place),
     .types = F(PID), .required = F(PID), .help = "formula: what is controlled; the error e is `reference` - `measured`"},
    {"reference_rate", LWI_KEY_STRING, AT(desc.reference_rate), .size = offsetof(lwi_yaml_function, rate_place[0]),
     .types = F(PID), .help = "formula: rate of `reference`; default 0 where `measured_rate` is given"},
    {"measured_rate", LWI_KEY_STRING, AT(desc.measured_rate), .size = offsetof(lwi_yaml_function, rate_place[1]),
     .types = F(PID), .help = "formula: rate of `measured`, for the derivative part without a filter; default 0 where `reference_rate` is given"},
    {"kp", LWI_KEY_NUMBER, AT(desc.kp), .types = F(PID), .range = LWI_RANGE_NOT_NEGATIVE, .help = "gain of the error, >= 0; default 0"},
    {"ki", LWI_KEY_NUMBER, AT(desc.ki), .types = F(PID), .range = LWI_RANGE_NOT_NEGATIVE, .help = "gain of its integral over time [1/s], >= 0; default 0"},
    {"kd", LWI_KEY_NUMBER, AT(desc.kd), .types = F(PID), .range = LWI_RANGE_NOT_NEGATIVE, .help = "gain of its rate [s], >= 0; default 0"},
    {"filter", LWI_KEY_NUMBER, AT(desc.filter), .types = F(PID), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "time constant of the rate without `measured_rate` and `reference_rate` [s]: (e - z)/filter with z behind e by this lag"},
    {"tracking", LWI_KEY_NUMBER, AT(desc.tracking), .types = F(PID), .range = LWI_RANGE_NOT_NEGATIVE,
     .help = "time constant in which the integral returns while the value is at an end of `range` [s]; default sqrt(kd/ki), or kp/ki without kd"},
    {"time", LWI_KEY_NUMBER, AT(desc.time), .types = F(LAG) | F(RATE_LIMIT), .required = F(LAG) | F(RATE_LIMIT), .range = LWI_RANGE_POSITIVE,
     .help = "time constant of a first-order lag behind `of` [s], > 0"},
    {"numerator", LWI_KEY_LIST, AT(desc.numerator), .size = offsetof(lwi_yaml_function, desc.nnumerator), .types = F(TRANSFER),
     .required = F(TRANSFER), .help = "coefficients of the powers of s, the highest first: [b1, b0] is b1 s + b0"},
    {"denominator", LWI_KEY_LIST, AT(desc.denominator), .size = offsetof(lwi_yaml_function, desc.ndenominator), .types = F(TRANSFER),
     .required = F(TRANSFER), .help = "the same of the denominator, of at least the degree of the numerator"},
    {"range", LWI_KEY_NUMBERS, AT(desc.range), .count = 2, .flag = offsetof(lwi_yaml_function, desc.has_range), .types = F(INTEGRAL) | F(PID),
     .help = "[lower, upper] of the value; an integral stays at an end while what it integrates leads beyond; default: any"},
    {"low", LWI_KEY_NUMBER, AT(desc.range[0]), .types = F(RELAY), .required = F(RELAY), .help = "value of `of` where the relay changes to `below`"},
    {"high", LWI_KEY_NUMBER, AT(desc.range[1]), .types = F(RELAY), .required = F(RELAY), .help = "value of `of` where it changes to `above`, > low"},
    {"below", LWI_KEY_NUMBER, AT(desc.from), .types = F(RELAY), .required = F(RELAY), .help = "value of the relay since `of` was at `low`"},
    {"above", LWI_KEY_NUMBER, AT(desc.to), .types = F(RELAY), .required = F(RELAY), .help = "value of the relay since `of` was at `high`"},
    {"initial", LWI_KEY_NUMBER, AT(desc.initial), .flag = offsetof(lwi_yaml_function, desc.has_initial), .types = STATES | F(PID) | F(RELAY),
     .help = "integral: value at the start, default 0; lag, rate_limit: likewise, default the value of `of`; transfer: value of `of` in the steady "
             "state at the start, default that of `of`; pid: integral part at the start, default 0; relay: 1, above, or 0, below, where `of` is between at the start, default 0"},
    {"states", LWI_KEY_LIST, AT(desc.states), .size = offsetof(lwi_yaml_function, desc.nstate), .types = STATES | F(PID),
     .help = "instead of `initial`: the values of all states at the start, as `convert --at` writes them; pid: the integral part and, with "
             "`filter`, the lagged error; transfer: as many as its degree, in observable form"},
};
#undef STATES
#undef AT
const lwi_yaml_object lwi_yaml_function_object = {
    .title = "function", .help = "a function of time [s], or of the state",
    .type = function_types, .ntype = LWI_COUNT(function_types),
    .key = function_keys, .nkey = LWI_COUNT(function_keys)};

// -------------------------------------------------------------------------------------- parameters

static const lwi_yaml_key parameter_keys[] = {
    {"value", LWI_KEY_NUMBER, .required = ONE, .help = "a number, a quantity or an expression"},
    {"unit", LWI_KEY_STRING, .help = "of numbers without a unit: of `value`, `min`, `max`, and of those that override the value"},
    {"description", LWI_KEY_STRING, .help = "what it is"},
    {"min", LWI_KEY_NUMBER, .help = "the smallest value allowed; default: none"},
    {"max", LWI_KEY_NUMBER, .help = "the largest value allowed; default: none"},
};
const lwi_yaml_object lwi_yaml_parameter_object = {
    .title = "parameter", .help = "a number that expressions use by its name",
    .key = parameter_keys, .nkey = LWI_COUNT(parameter_keys)};
static const char *const mirrors[] = {"none", "x", "y", "z"};
#define AT(field) .offset = offsetof(lwi_yaml_include, field)
static const lwi_yaml_key include_keys[] = {
    {"file", LWI_KEY_STRING, AT(file), .size = offsetof(lwi_yaml_include, file_place),
     .help = "a native model file, in the folder of this one or below; this key or `subsystem` is needed"},
    {"subsystem", LWI_KEY_STRING, AT(subsystem), .size = offsetof(lwi_yaml_include, subsystem_place),
     .help = "in place of `file`: the name of an entry of `subsystems`"},
    {"prefix", LWI_KEY_STRING, AT(prefix), .size = offsetof(lwi_yaml_include, prefix_place),
     .help = "of all names of the file; default: the name of the entry and a dot"},
    {"position", LWI_KEY_VECTOR, AT(pose.position), .help = "of the origin of the file's world [m]; default 0 0 0"},
    {"orientation", LWI_KEY_QUATERNION, AT(pose.orientation),
     .help = "of the axes of the file's world, unit quaternion; default 1 0 0 0"},
    {"mirror", LWI_KEY_WORD, AT(mirror), .more = mirrors, .count = LWI_COUNT(mirrors),
     .help = "coordinate of the file's world that changes its sign, before it is placed; default none"},
    {"ground", LWI_KEY_STRING, AT(ground), .size = offsetof(lwi_yaml_include, ground_place),
     .help = "the body of this file to which the ground of the file is fixed; default: the ground"},
    {"parameters", LWI_KEY_SETTINGS, .help = "values of parameters of the file"},
};
#undef AT
const lwi_yaml_object lwi_yaml_include_object = {
    .title = "include", .help = "a native model file; its items are added to those of this file",
    .key = include_keys, .nkey = LWI_COUNT(include_keys)};
const lwi_yaml_key lwi_yaml_point_key = {"point", LWI_KEY_NUMBERS, .count = 3,
                                         .help = "three coordinates in the world [m]"};
const lwi_yaml_key lwi_yaml_size_key = {"size", LWI_KEY_NUMBER, .help = "of a shape [m]"};

// ------------------------------------------------------------------------------------------ bodies

#define X(name, text) text,
static const char *const inertia_checks[] = {LW_INERTIA_CHECK_LIST(X)};
#undef X

#define X(name, text, nsize) text,
const char *const lwi_yaml_shape_names[LW_SHAPE_COUNT] = {LW_SHAPE_LIST(X)};
#undef X
#define X(name, text, nsize) nsize,
const int lwi_yaml_shape_sizes[LW_SHAPE_COUNT] = {LW_SHAPE_LIST(X)};
#undef X

#define AT(field) .offset = offsetof(lwi_yaml_body, desc.field)
static const lwi_yaml_key body_keys[] = {
    {"mass", LWI_KEY_NUMBER, AT(mass), .range = LWI_RANGE_NOT_NEGATIVE, .help = "mass [kg], >= 0; or `density`"},
    {"density", LWI_KEY_NUMBER, .offset = offsetof(lwi_yaml_body, density), .range = LWI_RANGE_POSITIVE,
     .help = "of the shapes [kg/m^3], > 0: mass, centre of mass and inertia follow from them; with `mass`, scaled to it"},
    {"inertia", LWI_KEY_NUMBERS, AT(inertia), .count = 6,
     .help = "xx, yy, zz, xy, xz, yz about the centre of mass, matrix elements [kg m^2]; default 0"},
    {"com", LWI_KEY_VECTOR, AT(com), .help = "centre of mass in the body frame [m]; default 0 0 0"},
    {"inertia_axes", LWI_KEY_QUATERNION, AT(inertia_axes),
     .help = "axes of `inertia` in the body frame, unit quaternion; default 1 0 0 0"},
    {"position", LWI_KEY_VECTOR, AT(pose.position),
     .help = "origin of the body frame at the assembly configuration, in `in` [m]; default 0 0 0"},
    {"orientation", LWI_KEY_QUATERNION, AT(pose.orientation),
     .help = "attitude of the body frame in `in`, unit quaternion; default 1 0 0 0"},
    {"in", LWI_KEY_FRAME, AT(in), .help = "frame of reference of the pose: `world` or a body"},
    {"velocity", LWI_KEY_VECTOR, AT(velocity), .flag = offsetof(lw_body_desc, has_velocity),
     .help = "initial, of the centre of mass, world axes [m/s]"},
    {"angular_velocity", LWI_KEY_VECTOR, AT(angular_velocity),
     .flag = offsetof(lw_body_desc, has_velocity), .help = "initial, body axes [rad/s]"},
    {"shape", LWI_KEY_SHAPES, AT(shapes), .size = offsetof(lw_body_desc, nshape),
     .help = "for drawings, and for the mass where there is a `density`: one shape, or a list of shapes"},
    {"inertia_check", LWI_KEY_WORD, AT(inertia_check), .more = inertia_checks,
     .count = LWI_COUNT(inertia_checks),
     .help = "reaction to an inertia that no mass distribution has; default error"},
};
#undef AT
const lwi_yaml_object lwi_yaml_body_object = {.title = "body", .help = "a rigid body",
                                    .key = body_keys, .nkey = LWI_COUNT(body_keys)};

// ------------------------------------------------------------------------------------------ joints

// A type without numbers, `custom`, exists in programs only.
#define X(name, text, nq, nv, nc, help) (nq) + (nv) + (nc) ? text : NULL,
static const char *const joint_types[] = {LW_JOINT_LIST(X)};
#undef X
#define X(name, text, nq, nv, nc, help) nq,
static const int joint_nq[] = {LW_JOINT_LIST(X)};
#undef X
#define X(name, text, nq, nv, nc, help) nv,
static const int joint_nv[] = {LW_JOINT_LIST(X)};
#undef X

int lwi_yaml_joint_nq(lw_joint_type type) { return joint_nq[type]; }
int lwi_yaml_joint_nv(lw_joint_type type) { return joint_nv[type]; }

#define AT(field) .offset = offsetof(lw_coordinate_desc, field)
static const lwi_yaml_key coordinate_keys[] = {
    {"stiffness", LWI_KEY_NUMBER, AT(stiffness),
     .help = "effort -stiffness (q - at) - damping qd + force [N/m, N m/rad]; default 0"},
    {"damping", LWI_KEY_NUMBER, AT(damping), .help = "[N s/m, N m s/rad]; default 0"},
    {"at", LWI_KEY_NUMBER, AT(at), .help = "coordinate without effort [m, rad]; default 0"},
    {"force", LWI_KEY_SIGNAL, AT(force), .help = "additional effort [N, N m]"},
};
// Elements of `motion` and `effort`.
static const lwi_yaml_key motion_key = {"motion", LWI_KEY_FUNCTION, AT(motion),
                                   .help = "function of time"};
static const lwi_yaml_key rotor_key = {"rotor", LWI_KEY_NUMBER, AT(rotor),
                                  .range = LWI_RANGE_NOT_NEGATIVE, .help = "inertia [kg, kg m^2], >= 0"};
static const lwi_yaml_key effort_key = {"effort", LWI_KEY_SIGNAL, AT(effort),
                                   .help = "function or input"};
#undef AT
const lwi_yaml_object lwi_yaml_coordinate_object = {
    .title = "coordinate_spring", .help = "spring and damper on a joint coordinate",
    .key = coordinate_keys, .nkey = LWI_COUNT(coordinate_keys)};
static const lwi_yaml_key spring_key = {"spring", LWI_KEY_OBJECT, .more = &lwi_yaml_coordinate_object,
                                   .help = "spring and damper on the coordinate"};

#define AT(field) .offset = offsetof(lw_limits_desc, field)
static const lwi_yaml_key limits_keys[] = {
    {"lower", LWI_KEY_NUMBER, AT(lower), .flag = offsetof(lw_limits_desc, has_lower),
     .help = "lower end [m, rad]; default: none"},
    {"upper", LWI_KEY_NUMBER, AT(upper), .flag = offsetof(lw_limits_desc, has_upper),
     .help = "upper end [m, rad]; default: none"},
    {"stiffness", LWI_KEY_NUMBER, AT(stiffness), .required = ONE,
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "beyond an end by x the effort is -max(0, stiffness x + damping dx/dt), towards the "
             "range [N/m, N m/rad], >= 0; 0: no stops unless the reader is asked for them, the range only helps assembly"},
    {"damping", LWI_KEY_NUMBER, AT(damping), .range = LWI_RANGE_NOT_NEGATIVE, .help = "[N s/m, N m s/rad], >= 0; default 0"},
};
#undef AT
const lwi_yaml_object lwi_yaml_limits_object = {.title = "limits",
                                      .help = "stops at the ends of a coordinate's range",
                                      .key = limits_keys,
                                      .nkey = LWI_COUNT(limits_keys)};
static const lwi_yaml_key limits_key = {"limits", LWI_KEY_OBJECT,
                                   .offset = offsetof(lw_coordinate_desc, limits),
                                   .more = &lwi_yaml_limits_object,
                                   .help = "stops at the ends of its range"};

#define AT(field) .offset = offsetof(lw_friction_desc, field)
static const lwi_yaml_key friction_keys[] = {
    {"coulomb", LWI_KEY_NUMBER, AT(coulomb),
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "dry friction: effort -coulomb tanh(qd / speed) [N, N m], >= 0; default 0"},
    {"viscous", LWI_KEY_NUMBER, AT(viscous),
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "effort -viscous qd [N s/m, N m s/rad], >= 0; default 0"},
    {"speed", LWI_KEY_NUMBER, AT(speed),
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "speed scale of tanh: 96 % of the dry friction at twice this speed [m/s, rad/s], > 0"},
};
#undef AT
const lwi_yaml_object lwi_yaml_friction_object = {.title = "friction",
                                        .help = "dry and viscous friction on a coordinate",
                                        .key = friction_keys,
                                        .nkey = LWI_COUNT(friction_keys)};
static const lwi_yaml_key friction_key = {"friction", LWI_KEY_OBJECT,
                                     .offset = offsetof(lw_coordinate_desc, friction),
                                     .more = &lwi_yaml_friction_object,
                                     .help = "dry and viscous friction"};

#define AT(field) .offset = offsetof(lw_joint_desc, field)
static const lwi_yaml_key isotropic_keys[] = {
    {"damping", LWI_KEY_NUMBER, AT(damping), .required = ONE,
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "wrench -damping times the relative velocity [N s/m, N m s/rad], >= 0"},
};
const lwi_yaml_object lwi_yaml_isotropic_object = {.title = "isotropic_spring",
                                         .help =
                                             "damper on all speeds of a spherical or free joint",
                                         .key = isotropic_keys,
                                         .nkey = LWI_COUNT(isotropic_keys)};

static const lwi_yaml_key mount_keys[] = {
    {"shift", LWI_KEY_SIGNALS, AT(mount_shift), .count = 3,
     .help = "translation of F1 on body 1, F1 axes [m]"},
    {"turn", LWI_KEY_SIGNAL, AT(mount_turn), .help = "rotation of F1 about `about` [rad]"},
    {"about", LWI_KEY_DIRECTION, AT(mount_about),
     .help = "axis of the rotation, F1 axes; default 0 0 1"},
};
const lwi_yaml_object lwi_yaml_mount_object = {.title = "mount", .help = "frame F1 moves on body 1",
                                     .key = mount_keys, .nkey = LWI_COUNT(mount_keys)};

const char *const lwi_yaml_form_keys[LWI_FORM_COUNT][2] = {
    [LWI_FORM_AT] = {"at", "at"},
    [LWI_FORM_FRAMES] = {"frame1", "frame2"},
    [LWI_FORM_POINTS] = {"point1", "point2"},
};

static const char *const cuts[] = {"auto", "prefer", "never", "always"};

#define J(name) (1u << LW_JOINT_##name)
#define X(name, text, nq, nv, nc, help) | ((nv) && (nq) == (nv) ? J(name) : 0)
enum { SCALAR = 0 LW_JOINT_LIST(X) };
#undef X
#define X(name, text, nq, nv, nc, help) | ((nv) ? J(name) : 0)
enum { MOVING = 0 LW_JOINT_LIST(X) };
#undef X
static const lwi_yaml_key joint_keys[] = {
    {"between", LWI_KEY_PAIR, AT(body1), .required = EVERY,
     .help = "body 1 and body 2; coordinates are those of F2 on body 2 relative to F1 on body 1"},
    {"at", LWI_KEY_VECTOR, AT(at), .types = EVERY & ~J(DISTANCE), .form = LWI_FORM_AT,
     .help = "joint point in the world at the assembly configuration [m]"},
    {"axis", LWI_KEY_DIRECTION, AT(axis), .types = EVERY & ~J(DISTANCE), .form = LWI_FORM_AT,
     .help = "first axis z1, world axes, any length; default 0 0 1"},
    {"axis2", LWI_KEY_DIRECTION, AT(axis2), .types = EVERY & ~J(DISTANCE), .form = LWI_FORM_AT,
     .help =
         "universal: axis x2 fixed in body 2, normal to `axis`, must be given with `at`; pin_slot: "
         "direction of the slot, likewise; others: direction of x1"},
    {"frame1", LWI_KEY_OBJECT, AT(frame1), .more = &lwi_yaml_pose_object, .form = LWI_FORM_FRAMES,
     .help = "joint frame F1 in the frame of body 1"},
    {"frame2", LWI_KEY_OBJECT, AT(frame2), .more = &lwi_yaml_pose_object, .form = LWI_FORM_FRAMES,
     .help = "joint frame F2 in the frame of body 2"},
    {"point1", LWI_KEY_VECTOR, AT(frame1.position), .types = J(DISTANCE), .form = LWI_FORM_POINTS,
     .help = "point in the frame of body 1 [m]"},
    {"point2", LWI_KEY_VECTOR, AT(frame2.position), .types = J(DISTANCE), .form = LWI_FORM_POINTS,
     .help = "point in the frame of body 2 [m]"},
    {"pitch", LWI_KEY_NUMBER, AT(pitch), .types = J(SCREW), .required = J(SCREW),
     .help = "displacement per revolution [m]"},
    {"length", LWI_KEY_LENGTH, AT(length), .size = offsetof(lw_joint_desc, length_of),
     .types = J(DISTANCE), .help = "distance [m], a number or a function; default: as assembled"},
    {"q", LWI_KEY_START, AT(q), .flag = offsetof(lw_joint_desc, has_q), .types = MOVING,
     .help = "initial coordinates [m, rad]; default: from the poses of the bodies"},
    {"qd", LWI_KEY_START, AT(qd), .flag = offsetof(lw_joint_desc, has_qd), .count = 1,
     .types = MOVING,
     .help = "initial speeds [m/s, rad/s]; default: from the velocities of the bodies"},
    {"motion", LWI_KEY_EACH, AT(coordinate), .more = &motion_key, .types = SCALAR,
     .help = "prescribed coordinates: functions of time"},
    {"spring", LWI_KEY_EACH, AT(coordinate), .more = &spring_key, .types = MOVING,
     .help = "springs and dampers on coordinates; `all` of spherical and free joints: a damper"},
    {"limits", LWI_KEY_EACH, AT(coordinate), .more = &limits_key, .types = SCALAR,
     .help = "stops at the ends of coordinates' ranges: one-sided springs and dampers"},
    {"friction", LWI_KEY_EACH, AT(coordinate), .more = &friction_key, .types = MOVING,
     .help = "dry and viscous friction on coordinates"},
    {"rotor", LWI_KEY_EACH, AT(coordinate), .more = &rotor_key, .types = SCALAR,
     .help = "inertias that move with coordinates, gear ratio squared times that of a motor's "
             "rotor"},
    {"effort", LWI_KEY_EACH, AT(coordinate), .more = &effort_key, .types = MOVING,
     .help = "efforts on coordinates, functions or inputs [N, N m]"},
    {"mount", LWI_KEY_OBJECT, .more = &lwi_yaml_mount_object, .help = "motion of F1 on body 1"},
    {"cut", LWI_KEY_WORD, AT(cut), .more = cuts, .count = LWI_COUNT(cuts),
     .help = "whether this joint closes a loop; default auto"},
};
#undef AT
const lwi_yaml_object lwi_yaml_joint_object = {
    .title = "joint", .help = "a joint between two bodies; any joint may close a loop",
    .type = joint_types, .ntype = LW_JOINT_COUNT,
    .key = joint_keys, .nkey = LWI_COUNT(joint_keys)};

// --------------------------------------------------------------------------------- forces and more

#define AT(field) .offset = offsetof(lw_coupling_desc, field)
static const lwi_yaml_key coupling_keys[] = {
    {"joint", LWI_KEY_JOINT, AT(joint), .required = ONE, .help = "joint of the dependent coordinate"},
    {"coordinate", LWI_KEY_COORDINATE, AT(coordinate), .required = ONE,
     .help = "the dependent coordinate: q_joint = c0 + c1 q_of + c2 q_of^2 + ..."},
    {"of", LWI_KEY_JOINT, AT(of), .required = ONE, .help = "joint of the independent coordinate"},
    {"with", LWI_KEY_COORDINATE, AT(with), .required = ONE, .help = "the independent coordinate"},
    {"polynomial", LWI_KEY_LIST, AT(polynomial), .size = offsetof(lw_coupling_desc, npolynomial),
     .required = ONE, .help = "c0, c1, ..."},
};
#undef AT
const lwi_yaml_object lwi_yaml_coupling_object = {
    .title = "coupling", .help = "a polynomial relation of two joint coordinates",
    .key = coupling_keys, .nkey = LWI_COUNT(coupling_keys)};

#define AT(field) .offset = offsetof(lw_marker_desc, field)
static const lwi_yaml_key marker_keys[] = {
    {"body", LWI_KEY_BODY, AT(body), .required = ONE, .help = "body in which it is fixed"},
    {"position", LWI_KEY_VECTOR, AT(pose.position),
     .help = "origin in the body frame [m]; default 0 0 0"},
    {"orientation", LWI_KEY_QUATERNION, AT(pose.orientation),
     .help = "attitude in the body frame, unit quaternion; default 1 0 0 0"},
};
#undef AT
const lwi_yaml_object lwi_yaml_marker_object = {.title = "marker",
                                      .help = "a frame that is recorded like a body",
                                      .key = marker_keys,
                                      .nkey = LWI_COUNT(marker_keys)};

#define AT(field) .offset = offsetof(lw_measure_desc, field)
static const lwi_yaml_key measure_keys[] = {
    {"of", LWI_KEY_STRING, AT(formula), .size = offsetof(lw_measure_desc, place), .required = ONE,
     .help = "expression of columns of results and t: hypot(joint.A.fx, joint.A.fz)"},
    {"unit", LWI_KEY_STRING, AT(unit), .size = offsetof(lw_measure_desc, place),
     .help = "in which its values are given: deg, mm, kN; default SI"},
};
#undef AT
const lwi_yaml_object lwi_yaml_measure_object = {.title = "measure",
                                      .help = "a number that results have, with statistics",
                                      .key = measure_keys,
                                      .nkey = LWI_COUNT(measure_keys)};

static const char *const impulse_axes[] = {"world", "body"};

#define AT(field) .offset = offsetof(lw_impulse_desc, field)
static const lwi_yaml_key impulse_keys[] = {
    {"time", LWI_KEY_NUMBER, AT(time), .required = ONE, .range = LWI_RANGE_POSITIVE, .help = "at which it acts [s], > 0"},
    {"body", LWI_KEY_BODY, AT(body), .help = "body on which it acts; or `joint`"},
    {"at", LWI_KEY_VECTOR, AT(point), .flag = offsetof(lw_impulse_desc, world_point),
     .help = "point of application of `impulse`, in the world at the assembly configuration [m]"},
    {"point", LWI_KEY_VECTOR, AT(point),
     .help = "instead of `at`: in the body frame [m]; default 0 0 0"},
    {"impulse", LWI_KEY_VECTOR, AT(impulse), .help = "[N s]; default 0 0 0"},
    {"angular_impulse", LWI_KEY_VECTOR, AT(angular_impulse), .help = "[N m s]; default 0 0 0"},
    {"axes", LWI_KEY_SWITCH, AT(body_axes), .more = impulse_axes, .count = LWI_COUNT(impulse_axes),
     .help = "axes of the components; default world"},
    {"joint", LWI_KEY_JOINT, AT(joint), .flag = offsetof(lw_impulse_desc, on_joint),
     .help = "joint on which it acts, in place of a body"},
    {"coordinate", LWI_KEY_COORDINATE, AT(coordinate),
     .help = "which speed of the joint; default q0"},
    {"effort", LWI_KEY_NUMBER, AT(effort), .help = "impulse on this speed [N s, N m s]"},
};
#undef AT
const lwi_yaml_object lwi_yaml_impulse_object = {
    .title = "impulse", .help = "an impulse at one time, on a body at a point or on a joint",
    .key = impulse_keys, .nkey = LWI_COUNT(impulse_keys)};

#define X(name, text) text,
static const char *const crossings[] = {LW_CROSSING_LIST(X)};
#undef X
static const char *const truths[] = {"false", "true"};

#define AT(field) .offset = offsetof(lw_event_desc, field)
static const lwi_yaml_key event_keys[] = {
    {"when", LWI_KEY_FORMULA, AT(when),
     .help = "condition: a comparison of formulas, or a formula or signal that crosses zero; or `every`, or `at`"},
    {"crossing", LWI_KEY_WORD, AT(crossing), .more = crossings, .count = LWI_COUNT(crossings),
     .help = "of `when`; default: a comparison becomes true, a number crosses zero either way"},
    {"every", LWI_KEY_NUMBER, AT(every), .range = LWI_RANGE_POSITIVE, .help = "period [s] > 0: at `from` and after each period"},
    {"from", LWI_KEY_NUMBER, AT(from), .range = LWI_RANGE_NOT_NEGATIVE, .help = "first time of `every` [s]; default 0"},
    {"at", LWI_KEY_LIST, AT(at), .size = offsetof(lw_event_desc, nat), .help = "times [s], increasing"},
    {"stop", LWI_KEY_SWITCH, AT(stop), .more = truths, .count = LWI_COUNT(truths), .help = "the run ends; default false"},
    {"set", LWI_KEY_SET, AT(set), .size = offsetof(lw_event_desc, nset),
     .help = "switches that change: each with its new value, a formula"},
    {"record", LWI_KEY_SWITCH, AT(record), .more = truths, .count = LWI_COUNT(truths),
     .help = "a row of the results at this time; default false"},
};
#undef AT
const lwi_yaml_object lwi_yaml_event_object = {
    .title = "event", .help = "something that happens where a condition becomes true, or at given times",
    .key = event_keys, .nkey = LWI_COUNT(event_keys)};

static const char *const mechanism_joints[] = {"revolute", "universal", "spherical"};

#define M(name) (1u << LW_MECHANISM_##name)
#define RODS (M(CHAIN) | M(TREE) | M(LOOP))
#define AT(field) .offset = offsetof(lw_mechanism_desc, field)
static const lwi_yaml_key mechanism_keys[] = {
    {"n", LWI_KEY_INTEGER, AT(n), .required = EVERY,
     .range = LWI_RANGE_FROM_ONE, .help = "rods of a chain, tree or loop; loops of an n_four_bar or ladder; meshes of a net along x"},
    {"m", LWI_KEY_INTEGER, AT(m), .types = M(NET), .range = LWI_RANGE_FROM_ONE, .help = "meshes of a net along y; default n"},
    {"name", LWI_KEY_STRING, AT(name), .size = offsetof(lw_mechanism_desc, place),
     .help = "prefix of all names; default: none"},
    {"joint", LWI_KEY_WORD, AT(joint), .types = RODS | M(NET), .more = mechanism_joints,
     .count = LWI_COUNT(mechanism_joints), .help = "type of the joints; default revolute"},
    {"axes", LWI_KEY_STRING, AT(axes), .size = offsetof(lw_mechanism_desc, place), .types = RODS,
     .help = "first axes of the joints in turn; default xyz"},
    {"length", LWI_KEY_NUMBER, AT(length), .range = LWI_RANGE_POSITIVE, .help = "of a rod [m]; default 1"},
    {"mass", LWI_KEY_NUMBER, AT(mass), .range = LWI_RANGE_POSITIVE, .help = "of a rod [kg]; default 1"},
    {"radius", LWI_KEY_NUMBER, AT(radius), .range = LWI_RANGE_POSITIVE, .help = "of a rod, a cylinder [m]; default length / 20"},
    {"seed", LWI_KEY_INTEGER, AT(seed), .types = M(CHAIN) | M(TREE),
     .range = LWI_RANGE_NOT_NEGATIVE, .help = "random coordinates and speeds in [-1, 1) [rad, rad/s]; default: at rest and straight"},
    {"q", LWI_KEY_NUMBERS, AT(q), .count = 3,
     .types = M(N_FOUR_BAR) | M(LADDER) | M(NET),
     .help = "angles of the uprights [rad]: n_four_bar, net [angle, 0, 0], ladder [about x, about y, 0]"},
    {"qd", LWI_KEY_NUMBERS, AT(qd), .count = 3, .types = EVERY & ~M(LOOP),
     .help = "speeds of the uprights, or of the first joint of a chain or tree [rad/s]"},
};
#undef AT
const lwi_yaml_object lwi_yaml_mechanism_object = {.title = "mechanism",
                                         .help = "a mechanism of many equal rods",
                                         .key = mechanism_keys,
                                         .nkey = LWI_COUNT(mechanism_keys)};
const char *const lwi_yaml_mechanism_names[LW_MECHANISM_COUNT] = {
#define X(name, text) text,
    LW_MECHANISM_LIST(X)
#undef X
};

// How an option is written in the file: a map of key: value pairs, a number, a number or a
// word, else a word.
#define KIND_NAME LWI_KEY_OPTION
#define KIND_REAL LWI_KEY_OPTION_NUMBER
#define KIND_INTEGER LWI_KEY_OPTION_NUMBER
#define KIND_STATE LWI_KEY_OPTION
#define KIND_KAPPA LWI_KEY_OPTION_EITHER
#define KIND_JOINTS LWI_KEY_OPTION
#define KIND_COLUMNS LWI_KEY_OPTION
#define KIND_SAMPLE LWI_KEY_OPTION_EITHER
#define KIND_SAMPLE_MODE LWI_KEY_OPTION
#define KIND_GAINS LWI_KEY_OPTION
#define KIND_PROJECT LWI_KEY_OPTION
#define KIND_SINGULAR LWI_KEY_OPTION
#define KIND_PLAN LWI_KEY_OPTION
#define KIND_INDEX3 LWI_KEY_OPTION_MAP
#define KIND_COMPILED LWI_KEY_OPTION
#define X(name, type, fallback, tier, word, text) {#name, KIND_##type, .help = text},
static const lwi_yaml_key simulation_keys[] = {LW_OPTION_LIST(X)};
#undef X
const lwi_yaml_object lwi_yaml_simulation_object = {
    .title = "simulation", .help = "settings of a run; the program's options override them",
    .key = simulation_keys, .nkey = LWI_COUNT(simulation_keys)};

// -------------------------------------------------------------------------------------------- file

static const lwi_yaml_key file_keys[] = {
    {"linkwork", LWI_KEY_VERSION, .required = ONE, .help = "version of the format: 1"},
    {"gravity", LWI_KEY_VECTOR, .help = "acceleration, world axes [m/s^2]; default 0 0 -9.81"},
    {"parameters", LWI_KEY_ITEMS, .more = &lwi_yaml_parameter_object,
     .help = "numbers that expressions use, by name"},
    {"points", LWI_KEY_POINTS,
     .help = "places in the world at the assembly configuration by name; any position may be one [m]"},
    {"include", LWI_KEY_ITEMS, .more = &lwi_yaml_include_object,
     .help = "native model files that are parts of this model, by name"},
    {"subsystems", LWI_KEY_FILES,
     .help = "the same in place of files: models, as in separate files, which `include` names"},
    {"functions", LWI_KEY_ITEMS, .more = &lwi_yaml_function_object, .help = "named functions of time"},
    {"signals", LWI_KEY_ITEMS, .more = &lwi_yaml_function_object,
     .help = "the same, recorded as columns `signal.NAME.value`; a text is a formula"},
    {"inputs", LWI_KEY_NAMES, .help = "values that a program sets while running"},
    {"bodies", LWI_KEY_ITEMS, .more = &lwi_yaml_body_object,
     .help = "bodies by name; needed where nothing is generated"},
    {"joints", LWI_KEY_ITEMS, .more = &lwi_yaml_joint_object, .help = "joints by name"},
    {"couplings", LWI_KEY_ITEM_LIST, .more = &lwi_yaml_coupling_object,
     .help = "relations between joint coordinates"},
    {"forces", LWI_KEY_FORCES, .help = "forces by name"},
    {"impulses", LWI_KEY_ITEMS, .more = &lwi_yaml_impulse_object,
     .help = "impulses by name: velocities jump at their times"},
    {"events", LWI_KEY_ITEMS, .more = &lwi_yaml_event_object,
     .help = "events by name: a run ends or records where conditions become true"},
    {"generate", LWI_KEY_MECHANISMS, .help = "mechanisms of many equal rods, by kind"},
    {"markers", LWI_KEY_ITEMS, .more = &lwi_yaml_marker_object, .help = "recorded frames by name"},
    {"measures", LWI_KEY_ITEMS, .more = &lwi_yaml_measure_object,
     .help = "expressions of columns of results by name"},
    {"simulation", LWI_KEY_OBJECT, .more = &lwi_yaml_simulation_object, .help = "settings of a run"},
};
const lwi_yaml_object lwi_yaml_file_object = {.title = "file", .help = "Linkwork model file",
                                    .key = file_keys, .nkey = LWI_COUNT(file_keys)};

// ----------------------------------------------------------------------------------------- look-up

// Options of the program have '-' (--sample-mode), keys of the file '_' or '-'.
static int same_setting(const char *key, const char *name)
{
    while (*key && (*key == *name || (*key == '_' && *name == '-'))) key++, name++;
    return *key == *name;
}

const lwi_yaml_key *lwi_yaml_key_find(const lwi_yaml_object *object, const char *name)
{
    const int setting = object == &lwi_yaml_simulation_object;
    for (int i = 0; i < object->nkey; i++) {
        const char *key = object->key[i].name;
        if (*key == *name && (setting ? same_setting(key, name) : strcmp(key, name) == 0))
            return &object->key[i];
    }
    return NULL;
}

int lwi_yaml_key_belongs(const lwi_yaml_key *key, int type)
{
    return key->types == 0 || (key->types >> type & 1u);
}
// clang-format on
