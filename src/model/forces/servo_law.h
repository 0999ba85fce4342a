// servo_law.h -- the law of servos: a force along a length l from a target and from l and dl/dt.
//
//   u = target(t), within its range
//   f = (g0 + g1 l + g2 l') u + kd rate(t) + b0 + b1 l + b2 l', within its range
//
// where the gains kp and kd of the description are part of g and b: g0 has kp, b1 has -kp, b2 has -kd.  Servos on
// coordinates (servo.c) and tendons (tendon.c) have it.
#ifndef LWI_MODEL_FORCES_SERVO_LAW_H
#define LWI_MODEL_FORCES_SERVO_LAW_H

#include "model/forces/describe.h"
#include "model/forces/length.h"
#include "model/model.h"

typedef struct lwi_servo_law {
    double gear; ///< not 0
    lw_signal target, rate;
    double kd, gain[3], bias[3];
    double target_range[2], effort_range[2]; ///< infinite: no limit
} lwi_servo_law;

typedef struct lwi_servo_share {
    int iq, iv; ///< in the joint arrays
    double c;
} lwi_servo_share;

/** A servo on joint coordinates (servo.c). */
typedef struct lwi_servo_par {
    const lwi_servo_share *share; ///< [n]
    int n;
    lwi_servo_law law;
    bool follows;                ///< target or rate read coordinates or speeds of joints
    double stall, per_speed;     ///< infinite: no limit; 1/no_load, or 0
    double per_lag, effort_rate; ///< 1/lag, or 0; infinite: no limit
    int state;                   ///< y, where there is a lag
} lwi_servo_par;

/** Numbers, ranges and signals; a gear of 1 becomes 0, as it is written. */
lw_status lwi_servo_law_check(const lwi_item *item, lw_servo_law *law);
void lwi_servo_law_compile(const lw_servo_law *from, lwi_servo_law *law);
/** u, within its range. */
double lwi_servo_target(const lw_model *model, const lwi_servo_law *law, const lwi_now *now);
/** What u is multiplied by. */
double lwi_servo_gain(const lwi_servo_law *law, double l, double dl);
/** @param u  lwi_servo_target */
double lwi_servo_force(const lw_model *model, const lwi_servo_law *law, const lwi_now *now,
                       double u, double l, double dl);
/** Which of lower limit, none, upper limit holds for the target and for the force: 0 to 8. */
int lwi_servo_piece(const lw_model *model, const lwi_servo_law *law, const lwi_now *now, double l,
                    double dl);
/** Is the force at the end of its range? */
bool lwi_servo_is_limited(const lw_model *model, const lwi_servo_law *law, const lwi_now *now,
                          double l, double dl);
/** Derivatives of lwi_servo_force; zero where it is at the end of its range.  `slopes` is zero before. */
void lwi_servo_slopes(const lw_model *model, const lwi_servo_law *law, const lwi_now *now, double l,
                      double dl, lwi_law_slopes *slopes);
/** Has the target or the force a range? */
bool lwi_servo_has_range(const lwi_servo_law *law);
double lwi_servo_next_break(const lw_model *model, const lwi_servo_law *law, double t);

/** Keys of the field `law` of the description lw_<of>_desc. */
// clang-format off
#define LWI_SERVO_AT(of, field) .offset = offsetof(lw_##of##_desc, law.field)
#define LWI_SERVO_KEYS(of)                                                                                                         \
    {"gear", LWI_KEY_NUMBER, LWI_SERVO_AT(of, gear), .range = LWI_RANGE_NOT_ZERO, .help = "not 0; default 1"},                     \
    {"target", LWI_KEY_FUNCTION, LWI_SERVO_AT(of, target),                                                                         \
     .help = "u, function or input: the wanted length where kp is given [m, rad]; default 0"},                                     \
    {"rate", LWI_KEY_FUNCTION, LWI_SERVO_AT(of, rate),                                                                             \
     .help = "wanted rate of the length, function or input [m/s, rad/s]; default 0"},                                              \
    {"kp", LWI_KEY_NUMBER, LWI_SERVO_AT(of, kp), .range = LWI_RANGE_NOT_NEGATIVE,                                                  \
     .help = "effort kp (u - l) [N/m, N m/rad], >= 0; default 0"},                                                                 \
    {"kd", LWI_KEY_NUMBER, LWI_SERVO_AT(of, kd), .range = LWI_RANGE_NOT_NEGATIVE,                                                  \
     .help = "effort kd (rate - dl/dt) [N s/m, N m s/rad], >= 0; default 0"},                                                      \
    {"gain", LWI_KEY_NUMBERS, LWI_SERVO_AT(of, gain), .count = 3,                                                                  \
     .help = "effort (gain0 + gain1 l + gain2 dl/dt) u; default 0 0 0"},                                                           \
    {"bias", LWI_KEY_NUMBERS, LWI_SERVO_AT(of, bias), .count = 3,                                                                  \
     .help = "effort bias0 + bias1 l + bias2 dl/dt; default 0 0 0"},                                                               \
    {"target_range", LWI_KEY_NUMBERS, LWI_SERVO_AT(of, target_range), .count = 2,                                                  \
     .flag = offsetof(lw_##of##_desc, law.has_target_range), .help = "[lower, upper] of u; default: any"},                         \
    {"effort_range", LWI_KEY_NUMBERS, LWI_SERVO_AT(of, effort_range), .count = 2,                                                  \
     .flag = offsetof(lw_##of##_desc, law.has_effort_range),                                                                       \
     .help = "[lower, upper] of the effort along l, the sum of all parts [N, N m]; default: any"}
// clang-format on

#endif
