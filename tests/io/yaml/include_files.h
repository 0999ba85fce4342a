// include_files.h -- for tests of models of several files: a file with items of every kind, and its readers.
#ifndef LWT_INCLUDE_FILES_H
#define LWT_INCLUDE_FILES_H

#include <linkwork/linkwork.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static inline void lwt_write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/** Reads a main file of this folder, which may include others there. */
static inline lw_status lwt_parse_main(const char *text, lw_model **model, lw_error *error)
{
    const lw_read_desc desc = {.format = "yaml", .folder = "."};
    *model = NULL;
    return lw_model_parse(text, strlen(text), "main.yaml", &desc, model, NULL, error);
}

static inline lw_model *lwt_read_main(const char *text)
{
    lw_model *model;
    lw_error error = {0};
    if (lwt_parse_main(text, &model, &error) != LW_OK)
        fail_msg("%s:%d:%d: %s", error.file, error.line, error.column, error.text);
    return model;
}

#define LWT_BODY(name, x, y, z)                                                                    \
    "  " name ": {mass: 1.3, inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.01], com: [0.05, 0.03, "      \
    "-0.04], position: [" x ", " y ", " z                                                          \
    "], orientation: [0.9689124217106447, 0.1, -0.2, 0.1]}\n"

// Every type of joint and force, functions, formulas, springs, limits, mounts, couplings, impulses.
static const char lwt_part[] =
    "linkwork: 1\n"
    "parameters: {k: 40 N m/rad, c: 0.4}\n"
    "points: {P: [0.3, 0.2, 0.1]}\n"
    "inputs: [motor]\n"
    "functions:\n"
    "  wave: {type: sine, amplitude: 0.3, omega: 3, phase: 0.2, offset: 0.1}\n"
    "  ease: {type: step, from: 0.1, to: 0.4, start: 0, end: 1}\n"
    "  table: {type: table, t: [0, 0.5, 1], y: [0, 0.3, 0.1]}\n"
    "  poly: {type: polynomial, coefficients: [0.1, 0.2, -0.1]}\n"
    "  ramp: {type: ramp, rate: 2, from: 0.2}\n"
    "  all: {type: sum, terms: [wave, ease, ramp, table, poly, {type: formula, of: "
    "\"0.1*sin(2*t)\"}, 0.05]}\n"
    "  feed: {type: formula, of: \"-k*1 rad*c.q1/(1 N m) - c*c.qd0 + 0.3*u.q1\"}\n"
    "bodies:\n" LWT_BODY("r", "0.1", "0.5", "0.2") LWT_BODY("p", "0.4", "0.6", "0.1") LWT_BODY(
        "s", "0.3", "0.9", "0.2") LWT_BODY("c", "-0.2", "0.5",
                                           "0.3") LWT_BODY("u", "-0.5", "0.7",
                                                           "0.4") LWT_BODY("b", "-0.3", "1.1",
                                                                           "0.2")
        LWT_BODY("pl", "1.1", "0.4", "0.3") LWT_BODY("ps", "1.4", "0.5", "0.2") LWT_BODY(
            "f", "2.1", "0.4",
            "0.3") "  d: {mass: 1, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [3, 1, 1], "
                   "velocity: [0.1, 0.2, 0.3], angular_velocity: [0.3, 0.2, 0.1]}\n"
                   "  w: {mass: 1, inertia: [0.1, 0.2, 0.2, 0.01, 0, 0], in: p, position: [0.2, "
                   "0.3, 0.1], orientation: [0.8, 0, 0.6, 0]}\n"
                   "joints:\n"
                   "  r: {type: revolute, between: [ground, r], at: P, axis: [0.2, 0.5, 1], qd: "
                   "[0.7], spring: {q0: {stiffness: k, damping: 0.1, at: 0.2, force: wave}}, "
                   "rotor: {q0: 0.05}, friction: {q0: {coulomb: 0.1, viscous: 0.02, speed: "
                   "0.05}}}\n"
                   "  p: {type: prismatic, between: [r, p], at: [0.4, 0.5, 0.2], axis: [1, 0.4, "
                   "0.1], qd: [0.4], spring: {q0: {stiffness: 50, at: -0.1}}, limits: {q0: {lower: "
                   "-0.02, upper: 0.3, stiffness: 200, damping: 3}}}\n"
                   "  s: {type: screw, between: [p, s], at: [0.3, 0.8, 0.2], axis: [0.1, 1, 0.2], "
                   "pitch: 0.3, q: [0.2052], effort: {q0: wave}}\n"
                   "  c: {type: cylindrical, between: [r, c], at: [0, 0.4, 0.2], axis: [1, 0.2, "
                   "0.3], q: [0.05, 0.1], qd: [0.2, 0.6],\n"
                   "      spring: {q0: {stiffness: 30, at: 0.1, force: wave}, q1: {stiffness: 20, "
                   "at: 0.3, force: all, damping: 0.2}},\n"
                   "      limits: {q1: {lower: -0.2, upper: 0.15, stiffness: 100}}, effort: {q1: "
                   "ease, q0: feed}}\n"
                   "  u: {type: universal, between: [c, u], at: [-0.4, 0.6, 0.3], axis: [0, 0.6, "
                   "0.8], axis2: [1, 0, 0], qd: [0.3, -0.4], spring: {q1: {stiffness: 10, at: "
                   "0.2}}}\n"
                   "  b: {type: spherical, between: [u, b], at: [-0.4, 0.9, 0.3], axis: [0.3, 1, "
                   "0], qd: [0.2, 0.3, 0.4], spring: {all: {damping: 0.3}}, effort: {q0: wave}}\n"
                   "  pl: {type: planar, between: [ground, pl], at: [1, 0.3, 0.2], axis: [0.1, "
                   "0.2, 1], qd: [0.2, 0.3, 0.4], spring: {q0: {stiffness: 30, at: 0.1}, q1: "
                   "{stiffness: 40}, q2: {stiffness: 50, force: ease}}, mount: {shift: [wave, "
                   "ease, poly], turn: wave, about: [0.2, 1, 0.3]}}\n"
                   "  ps: {type: pin_slot, between: [pl, ps], at: [1.3, 0.4, 0.2], axis: [0, 0.2, "
                   "1], axis2: [1, 0, 0], q: [0.1, 0.2], qd: [0.2, 0.3], spring: {q0: {stiffness: "
                   "30}}}\n"
                   "  f: {type: free, between: [ground, f], frame1: {position: [1, 0.2, 0.1], "
                   "orientation: [0.8, 0.6, 0, 0]}, frame2: {}, q: [1, 0.3, 0.4, 0.9, 0.1, -0.2, "
                   "0.37416573867739417], qd: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], effort: {q1: wave, "
                   "q4: ease}}\n"
                   "  w: {type: fixed, between: [p, w], frame1: {position: [0.2, 0.3, 0.1], "
                   "orientation: [0.8, 0, 0.6, 0]}, frame2: {}}\n"
                   "couplings:\n"
                   "  - {joint: s, coordinate: q0, of: c, with: q1, polynomial: [0.1, 1, 0.5, "
                   "0.2]}\n"
                   "forces:\n"
                   "  spring: {type: spring, between: [r, ground], from: [0.2, 0.6, 0.3], to: "
                   "[0.5, 1.5, 1], stiffness: 30, damping: 0.5, length: 0.4}\n"
                   "  spring2: {type: spring, between: [f, ground], point1: [0.2, 0.6, 0.3], "
                   "point2: P, stiffness: 30, damping: 0.5, length: 0.4, force: feed}\n"
                   "  wrench: {type: wrench, body: u, at: [0.1, 0.2, 0.3], force: [1, 2, 3], "
                   "torque: [0.4, 0.5, 0.6], scale: wave}\n"
                   "  wrench2: {type: wrench, body: d, point: [0.1, 0.2, 0.3], force: [1, 2, 3], "
                   "torque: [0.4, 0.5, 0.6], axes: body}\n"
                   "  bushing: {type: bushing, between: [ground, d], at: [3.1, 1.1, 1], stiffness: "
                   "[10, 20, 30, 4, 5, 6], damping: [1, 2, 3, 0.1, 0.2, 0.3]}\n"
                   "  bushing2: {type: bushing, between: [ps, d], frame1: {position: [1.5, 0.4, "
                   "0.5], orientation: [0.8, 0.6, 0, 0]}, frame2: {position: [0.1, 0.2, 0.3]}, "
                   "stiffness: [1, 2, 3, 0.4, 0.5, 0.6]}\n"
                   "  stop: {type: stop, between: [b, ground], radius: 0.3, to: [0, 1.2, 0], "
                   "normal: [0.1, -1, 0.2], stiffness: 100}\n"
                   "  stop2: {type: stop, between: [d, ground], point1: [0.1, 0.2, 0], radius: "
                   "0.3, point2: [0, 1.3, 0], normal2: [0.1, -1, 0.2], stiffness: 100}\n"
                   "  drag: {type: drag, body: f, point: [0.1, 0.2, 0.3], linear: 0.3, quadratic: "
                   "0.2, angular: 0.1, flow: [1, 2, 3]}\n"
                   "  servo: {type: servo, joint: c, coordinate: q1, target: wave, kp: 20, kd: 1}\n"
                   "  servo2: {type: servo, of: [{joint: c, coordinate: q1, factor: 2}, {joint: r, "
                   "coordinate: q0, factor: 1}], target: wave, kp: 10}\n"
                   "  servo3: {type: servo, of: [{joint: c, coordinate: q1}, {joint: r}], "
                   "target: wave, kp: 7}\n"
                   "  rope: {type: tendon, path: [{point: P}, {body: r, point: [0.1, 0.2, 0.3], "
                   "radius: 0.2, axis: [0.1, 0.2, 1], side: [0.3, 0.1, 0.2]}, {body: b, point: "
                   "[0.1, 0.3, 0.1]}, {point: [0.3, 0.4, 0.2], radius: 0.1, side: [0.2, 0.1, 0], "
                   "side_body: d}, {body: d, point: [0.2, 0, 0.1]}], stiffness: 10, damping: 0.3}\n"
                   "  rod: {type: tendon, slider_crank: {crank: b, crank_point: [0.1, 0.2, 0.3], "
                   "slider_point: [0.3, 0.2, 0.1], axis: [1, 0.2, 0.3], rod: 5}, kp: 3, target: "
                   "1}\n"
                   "markers:\n"
                   "  tip: {body: b, position: [0.1, 0.2, 0.3], orientation: [0.8, 0, 0.6, 0]}\n"
                   "  post: {body: ground, position: [0.1, 0.2, 0.3], orientation: [0.8, 0.6, 0, "
                   "0]}\n"
                   "impulses:\n"
                   "  one: {time: 0.2, joint: c, coordinate: q1, effort: 0.1}\n"
                   "  two: {time: 0.3, body: d, at: [3, 1, 1.2], impulse: [0.1, 0.2, 0.3], "
                   "angular_impulse: [0.03, 0.02, 0.01]}\n"
                   "  three: {time: 0.4, body: f, point: [0.1, 0, 0], impulse: [0.1, 0.2, 0.3], "
                   "angular_impulse: [0.03, 0.02, 0.01], axes: body}\n";

#endif
