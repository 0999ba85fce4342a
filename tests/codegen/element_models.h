// element_models.h -- small models with one kind of force, signal, prescribed motion or mount each.
#ifndef LWT_ELEMENT_MODELS_H
#define LWT_ELEMENT_MODELS_H

#include "support/given.h"

// A tree of all kinds of coordinates, floating or not, and one with a loop; the elements follow.
static const char element_arm[] =
    "linkwork: 1\n"
    "inputs: [u1, u2]\n"
    "bodies:\n"
    "  a: {mass: 1.3, inertia: [0.02, 0.03, 0.04, 0.001, 0.002, 0.003], position: [0.3, 0.1, "
    "-0.2]}\n"
    "  b: {mass: 0.9, inertia: [0.03, 0.02, 0.03, 0.001, 0, 0.002], position: [0.5, 0.2, 0.1]}\n"
    "  c: {mass: 0.6, inertia: [0.01, 0.02, 0.02, 0, 0.001, 0], position: [0.7, 0.4, 0.3]}\n"
    "joints:\n"
    "  shoulder: {type: universal, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0], axis2: "
    "[0, "
    "0.6, 0.8]%s}\n"
    "  slide: {type: cylindrical, between: [a, b], at: [0.4, 0.2, 0], axis: [0.6, 0, 0.8]%s}\n"
    "  wrist: {type: spherical, between: [b, c], at: [0.6, 0.3, 0.2]}\n"
    "%s";

// A four-bar across the plane with a slider, which closes with a hinge and a prismatic joint.
static const char element_loop[] =
    "linkwork: 1\n"
    "inputs: [u1, u2]\n"
    "bodies:\n"
    "  a: {mass: 1.3, inertia: [0.02, 0.03, 0.04, 0, 0, 0], position: [0.15, 0, 0.2]}\n"
    "  b: {mass: 0.9, inertia: [0.03, 0.02, 0.03, 0, 0, 0], position: [0.55, 0, 0.3]}\n"
    "  c: {mass: 0.6, inertia: [0.01, 0.02, 0.02, 0, 0, 0], position: [0.8, 0, 0.1]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]%s}\n"
    "  B: {type: revolute, between: [a, b], at: [0.3, 0, 0.4], axis: [0, 1, 0]}\n"
    "  C: {type: revolute, between: [b, c], at: [0.8, 0, 0.2], axis: [0, 1, 0]}\n"
    "  D: {type: prismatic, between: [ground, c], at: [0.9, 0, 0], axis: [1, 0, 0]%s}\n"
    "%s";

// A crank moves a slider by a rod with a spherical joint at one end and a universal one, which closes the loop, at the other.
static const char element_spatial[] =
    "linkwork: 1\n"
    "inputs: [u1, u2]\n"
    "bodies:\n"
    "  a: {mass: 1.3, inertia: [0.02, 0.03, 0.04, 0, 0, 0], position: [0.15, 0, 0.2]}\n"
    "  b: {mass: 0.9, inertia: [0.03, 0.02, 0.03, 0, 0, 0], position: [0.55, 0.1, 0.3]}\n"
    "  c: {mass: 0.6, inertia: [0.01, 0.02, 0.02, 0, 0, 0], position: [0.8, 0.2, 0.1]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]%s}\n"
    "  B: {type: spherical, between: [a, b], at: [0.3, 0, 0.4]}\n"
    "  C: {type: universal, between: [b, c], at: [0.8, 0.2, 0.2], axis: [0, 1, 0], axis2: [0.6, 0, "
    "0.8], cut: always%s}\n"
    "  D: {type: prismatic, between: [ground, c], at: [0.9, 0.2, 0], axis: [1, 0, 0]}\n"
    "%s";

typedef struct element {
    const char *name, *base, *first, *second, *rest;
} element;

#define TREE(name, rest)                                                                           \
    {                                                                                              \
        name, element_arm, "", "", rest                                                            \
    }
#define LOOP(name, rest)                                                                           \
    {                                                                                              \
        name, element_loop, "", "", rest                                                           \
    }
static const element elements[] = {
    TREE("spring",
         "forces: {f: {type: spring, between: [a, c], from: [0.3, 0.2, 0], to: [0.7, 0.5, "
         "0.3], stiffness: 30, damping: 2, length: 0.2, force: u1}}\n"),
    TREE("wrench", "functions: {wave: {type: sine, amplitude: 2, omega: 4, phase: 0.3}}\n"
                   "forces: {f: {type: wrench, body: b, at: [0.4, 0.3, 0.2], force_of: [wave, u1, "
                   "0], force: [0, 0, 2], "
                   "torque: [0.3, 0, 0], torque_of: [0, u2, wave], scale: u1}, g: {type: wrench, "
                   "body: c, axes: body, force: "
                   "[1, 0, 2], torque_of: [0, wave, 0]}}\n"),
    TREE("bushing", "forces: {f: {type: bushing, between: [a, c], at: [0.6, 0.2, 0.2], stiffness: "
                    "[30, 20, 10, 3, 2, 1], damping: [3, 2, 1, 0.3, 0.2, 0.1]}, g: {type: bushing, "
                    "between: [ground, b], stiffness: [1, 2, 3, 0, 0, 0]}}\n"),
    TREE("drag", "forces: {f: {type: drag, body: b, at: [0.2, 0.3, 0.1], linear: 0.5, quadratic: "
                 "0.8, angular: 0.3, angular_quadratic: 0.7, flow: [1, 2, -1]}}\n"),
    TREE("stop",
         "forces: {f: {type: stop, between: [c, ground], from: [0.7, 0.4, 0.3], radius: 0.3, "
         "to: [0.1, 0.2, 0.1], normal: [0, 0.6, 0.8], stiffness: 200, dissipation: 0.3}, g: "
         "{type: stop, between: [c, a], from: [0.7, 0.4, 0.3], to: [0.3, 0.1, -0.2], radius: "
         "0.4, radius2: 0.35, stiffness: 100, exponent: 2, dissipation: 0.8}}\n"),
    TREE("tendon",
         "forces: {f: {type: tendon, path: [{body: ground, point: [0, 0.3, 0.2]}, {body: "
         "a, point: [0.3, 0.3, 0]}, {body: a, point: [0.2, 0.3, 0.1]}, {body: c, point: "
         "[0.6, 0.5, 0.3]}], stiffness: 30, damping: 2, length: 0.8, coulomb: 0.5, speed: "
         "0.1, target: u1, kp: 3, kd: 0.2, gear: 1.3, target_range: [-1, 1]}}\n"),
    TREE("crank",
         "forces: {f: {type: tendon, slider_crank: {crank: c, crank_point: [0.1, 0.2, 0.3], "
         "slider: a, slider_point: [0.3, 0.2, 0.1], axis: [0.1, 0.2, 1], rod: 2}, kp: 3, "
         "target: u1}}\n"),
    TREE("servo",
         "forces: {f: {type: servo, joint: shoulder, coordinate: q1, target: u1, rate: u2, "
         "kp: 3, kd: 1, gain: [0.1, 0.2, 0.3], bias: [1, 0.4, 0.2], gear: 2, effort_range: "
         "[-3, 3], target_range: [-1, 1.5], stall: 4, no_load: 3}, g: {type: servo, of: "
         "[{joint: slide, factor: 2}, {joint: shoulder, factor: -1}], target: u2, kp: 2, "
         "lag: 20 ms, effort_rate: 15, initial: 0.3}}\n"),
    {"limits", element_arm,
     ", limits: {q1: {lower: -0.05, upper: 0.02, stiffness: 100, damping: 4}}, friction: {q0: "
     "{coulomb: 0.6, viscous: 0.2, speed: 0.1}}",
     ", limits: {q0: {lower: -0.1, upper: 0.1, stiffness: 10, damping: 1}}, spring: {q0: "
     "{stiffness: 3, force: wave}, q1: {damping: 2}}",
     "functions: {wave: {type: step, from: 0.3, to: 2, start: 0.4, end: 1.5}}\n"},
    {"drives", element_arm,
     ", motion: {q1: swing}, rotor: {q0: 0.05}, spring: {q0: {stiffness: 3}}",
     ", motion: {q0: push}",
     "functions: {swing: {type: sine, amplitude: 0.4, omega: 3.6, phase: 0.2}, push: {type: "
     "table, t: [0, 0.4, 1.1, 1.7, 2.2], y: [0, 0.2, -0.1, 0.3, 0.2]}}\n"
     "forces: {f: {type: spring, between: [ground, c], from: [0.9, 0.2, 0], to: [0.7, 0.5, 0.3], "
     "stiffness: 30, damping: 2}, g: {type: drag, body: b, quadratic: 0.8}}\n"},
    {"mounts", element_arm, ", mount: {shift: [0, shake, push], turn: swing, about: [0.6, 0, 0.8]}",
     ", mount: {shift: [shake, 0, 0]}",
     "functions: {swing: {type: formula, of: 0.3*sin(2*t)}, push: {type: polynomial, coefficients: "
     "[0, 0.1, 0.2, -0.1]}, shake: {type: ramp, rate: 0.2, from: 0.5}}\n"
     "forces: {f: {type: spring, between: [ground, c], from: [0.9, 0.2, 0], to: [0.7, 0.5, 0.3], "
     "stiffness: 30, damping: 2}}\n"},
    TREE("formulas",
         "markers: {m: {body: c, position: [0.1, 0.2, 0.3], orientation: [0.8, 0, 0.6, 0]}}\n"
         "signals:\n"
         "  one: 2*sin(shoulder.q0) - 3*slide.qd1*exp(-t) + min(shoulder.q1, 0.1)*u1^2\n"
         "  two: where(slide.q0 > 0 and t < 1, atan2(one, 2), tanh(one)) + mod(t, 0.3) + abs(u2)\n"
         "  three: body.c.x*body.c.vy + body.b.wz + marker.m.wx*marker.m.vz - marker.m.y + "
         "spring.f.length*spring.f.rate\n"
         "  four: step(t, 0.2, 1.7)*sqrt(1 + u1^2) + log(2 + sign(u2)) + hypot(u1, u2)^1.3 + "
         "floor(3*t) + max(u1, u2, 0.3)\n"
         "forces: {f: {type: spring, between: [a, c], from: [0.3, 0.2, 0], to: [0.7, 0.5, 0.3], "
         "stiffness: 3, force: one}, g: {type: wrench, body: b, force_of: [two, three, four]}}\n"),
    TREE("curves",
         "signals:\n"
         "  c1: {type: curve, of: 3*shoulder.q0, x: [-0.4, -0.1, 0.05, 0.3, 0.6], y: [1, 2, -1, "
         "0.5, "
         "3]}\n"
         "  c2: {type: curve, of: u1, x: [-1, -0.4, 0.3, 0.9], y: [1, 2, -1, 0.5], interpolation: "
         "monotone, ends: clamped}\n"
         "  c3: {type: curve, of: u2, x: [-0.7, -0.4, 0.3, 0.9], y: [1, 2, -1, 1], interpolation: "
         "linear, ends: periodic}\n"
         "  c4: {type: curve, of: u2 + u1, x: [-0.7, -0.4, 0.3, 0.9], y: [1, 2, -1, 1], "
         "interpolation: monotone, ends: linear}\n"
         "  c5: {type: curve, of: 2*u2, x: [-0.7, 0.1, 0.3, 0.9], y: [1, 2, -1, 1], ends: "
         "periodic}\n"
         "forces: {g: {type: wrench, body: b, force_of: [c1, c2, c3], torque_of: [c4, c5, 0]}}\n"),
    TREE(
        "states",
        "signals:\n"
        "  zi: {type: integral, of: 0.4 - zi - shoulder.q0, range: [-0.2, 0.3]}\n"
        "  la: {type: lag, of: 3*u1, time: 50 ms}\n"
        "  ra: {type: rate_limit, of: u2, rate: 3, time: 20 ms}\n"
        "  ha: {type: transfer, of: u1 + slide.q0, numerator: [2, 1, 3], denominator: [1, 0.4, "
        "2]}\n"
        "  pa: {type: pid, reference: u1, measured: shoulder.q1, kp: 4, ki: 3, kd: 0.2, filter: 50 "
        "ms, range: [-3, 3]}\n"
        "  va: {type: pid, reference: 0.3, measured: slide.q0, measured_rate: slide.qd0, kp: 4, "
        "ki: "
        "3, kd: 0.2, range: [-0.5, 0.5]}\n"
        "forces: {g: {type: wrench, body: b, force_of: [zi, la, ra], torque_of: [ha, pa, va]}}\n"),
    LOOP("loop_forces",
         "forces: {f: {type: bushing, between: [a, c], at: [0.6, 0, 0.2], stiffness: [30, 20, 10, "
         "3, "
         "2, 1], damping: [3, 2, 1, 0.3, 0.2, 0.1]}, g: {type: servo, joint: A, target: u1, kp: 3, "
         "kd: 1}, h: {type: servo, joint: D, target: u2, kp: 30, kd: 1, lag: 10 ms}}\n"),
    {"loop_drive", element_loop, ", motion: {q0: angle}",
     ", spring: {q0: {stiffness: 20, damping: 2}}, friction: "
     "{q0: {coulomb: 0.6, viscous: 0.2, speed: 0.1}}, limits: {q0: {lower: -0.02, upper: 0.02, "
     "stiffness: 100, damping: 4}}",
     "functions: {angle: {type: formula, of: 0.4*(1 - cos(1.3*t))}}\n"
     "forces: {f: {type: wrench, body: c, force: [1, 0, 0], force_of: [0, 0, u1]}}\n"},
    {"loop_turn", element_loop, ", motion: {q0: angle}, cut: always",
     ", spring: {q0: {stiffness: 3}}",
     "functions: {angle: {type: formula, of: 0.4*(1 - cos(1.3*t))}}\n"
     "forces: {f: {type: wrench, body: c, force: [1, 0, 0], force_of: [0, 0, u1]}}\n"},
    {"loop_universal", element_spatial, ", qd: [0.4]",
     ", spring: {q0: {damping: 0.4}, q1: {damping: 0.7}}, friction: {q1: {coulomb: 0.2, speed: "
     "0.1}}",
     "forces: {f: {type: servo, joint: A, target: u1, kp: 3, kd: 1}}\n"},
    {"loop_bar", element_loop, "",
     "}\n  bar: {type: distance, between: [ground, b], point1: [0.5, 0, 0.9], point2: [0, 0, 0], "
     "length: long",
     "functions: {long: {type: formula, of: sqrt(0.3625) + 0.02*(1 - cos(1.3*t))}}\n"},
    {"loop_slide", element_loop, "", ", motion: {q0: push}, cut: always",
     "functions: {push: {type: formula, of: 0.05*(1 - cos(1.3*t))}}\n"
     "forces: {f: {type: wrench, body: b, force: [1, 0, 0], force_of: [0, 0, u1]}}\n"},
    {"loop_mount", element_loop, ", mount: {shift: [push, 0, 0]}",
     ", cut: always, mount: {shift: [0, 0, push]}",
     "functions: {push: {type: formula, of: 0.05*(1 - cos(1.3*t))}}\n"
     "forces: {f: {type: wrench, body: b, force: [1, 0, 0], force_of: [0, 0, u1]}}\n"},
};

enum { ELEMENTS = sizeof elements / sizeof *elements };

static inline lw_model *element_model(const element *e)
{
    char text[6000];
    snprintf(text, sizeof text, e->base, e->first, e->second, e->rest);
    return lwt_yaml(text);
}

#endif
