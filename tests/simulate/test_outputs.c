// test_outputs.c -- numbers of forces and drives: powers sum to the rate of the kinetic energy, energies to the
// potential, forces to the accelerations of the bodies; lengths of springs, efforts of drives by other routes.
#include "model/outputs.h"
#include "sim_cases.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <linkwork/dynamics.h>

#include <stdio.h>
#include <stdlib.h>

#define BODY(name, at)                                                                             \
    "  " name                                                                                      \
    ": {mass: 2, inertia: [0.3, 0.4, 0.5, 0.01, -0.02, 0.03], com: [0.1, 0.02, -0.03], position: " \
    "[" at "]}\n"
#define HEAD "linkwork: 1\ngravity: [1, -2, -9]\n"

// Every force, drive and joint type.
// clang-format off
static const struct {
    const char *name, *text;
} models[] = {
    {"pendulum with spring, damper, actuator, friction, pressed stop",
     HEAD "bodies:\n" BODY("a", "0.5, 0, 0") //
     "joints:\n"
     "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], q: [0.4], qd: [1.5],\n"
     "      spring: {q0: {stiffness: 3, damping: 0.2, at: 0.1, force: {type: sine, amplitude: 2, omega: 5, phase: 1}}},\n"
     "      limits: {q0: {lower: -1, upper: 0.3, stiffness: 500, damping: 2}},\n"
     "      friction: {q0: {coulomb: 0.3, viscous: 0.1, speed: 0.5}}, rotor: {q0: 0.2}}\n"},
    {"driven arm with a rotor and a spring between points",
     HEAD "bodies:\n" BODY("a", "0.5, 0, 0") BODY("b", "1.5, 0, 0") //
     "joints:\n"
     "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [0.5]}\n"
     "  g: {type: revolute, between: [a, b], at: [1, 0, 0], axis: [0.1, 1, 0.2], rotor: {q0: 0.3},\n"
     "      motion: {q0: {type: sine, amplitude: 0.3, omega: 4}}, friction: {q0: {coulomb: 1, viscous: 0.2, speed: 0.1}}}\n"
     "forces:\n"
     "  strut: {type: spring, between: [ground, b], from: [1, 0.2, 1], to: [1.5, 0, 0], stiffness: 60, damping: 4,\n"
     "          length: 0.6, force: {type: polynomial, coefficients: [1, 2]}}\n"
     "markers:\n"
     "  foot: {body: ground, position: [1, 0.2, 1]}\n"
     "  head: {body: b, position: [0, 0, 0]}\n"},
    {"driven four-bar with dampers",
     HEAD "bodies:\n" BODY("a", "0, 0, 0") BODY("b", "0, 0, 1") BODY("c", "3, 0, 0") //
     "joints:\n"
     "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0],\n"
     "      motion: {q0: {type: polynomial, coefficients: [0, 2, 0.5]}}}\n"
     "  B: {type: revolute, between: [a, b], at: [0, 0, 1], axis: [0, 1, 0], spring: {q0: {damping: 0.7}}}\n"
     "  C: {type: revolute, between: [b, c], at: [3, 0, 2], axis: [0, 1, 0]}\n"
     "  D: {type: revolute, between: [c, ground], at: [3, 0, 0], axis: [0, 1, 0], spring: {q0: {stiffness: 5}}}\n"
     "forces:\n"
     "  damper: {type: spring, between: [a, c], point1: [0, 0, 0.5], point2: [0.2, 0, 0.5], damping: 3}\n"},
    {"slider-crank with wrench and drag",
     HEAD "bodies:\n" BODY("crank", "0, 0, 0") BODY("rod", "0, 0, 1") BODY("slider", "2, 0, 0") //
     "joints:\n"
     "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0], qd: [3]}\n"
     "  B: {type: revolute, between: [crank, rod], at: [0, 0, 1], axis: [0, 1, 0]}\n"
     "  C: {type: revolute, between: [rod, slider], at: [2, 0, 0], axis: [0, 1, 0]}\n"
     "  D: {type: prismatic, between: [ground, slider], at: [2, 0, 0], axis: [1, 0, 0]}\n"
     "forces:\n"
     "  gas: {type: wrench, body: slider, point: [0.1, 0.2, 0], force: [-30, 1, 2], torque: [0.1, 0, 0],\n"
     "        scale: {type: sine, amplitude: 1, omega: 7, offset: 0.5}}\n"
     "  air: {type: drag, body: rod, point: [0, 0.1, 0.3], linear: 0.5, quadratic: 0.3, angular: 0.2,\n"
     "        angular_quadratic: 0.1, flow: [1, 0, -2]}\n"
     "  jet: {type: wrench, body: rod, force: [1, 2, 3], torque: [0.3, 0.2, 0.1], axes: body}\n"},
    {"ball with a damper, bushing, massless frame with a spring",
     HEAD "bodies:\n" BODY("a", "0, 0, 0")
         BODY("b", "1, 0, 0") "  eye: {mass: 0, position: [1.5, 0, 0.5]}\n"
                              "joints:\n"
                              "  s: {type: spherical, between: [ground, a], at: [0, 0, 0], qd: [1, -2, 0.5], spring: {all: {damping: 0.3}}}\n"
                              "  glue: {type: fixed, between: [b, eye], at: [1.5, 0, 0.5]}\n"
                              "forces:\n"
                              "  pad: {type: bushing, between: [a, b], at: [0.6, 0, 0.1], stiffness: [900, 800, 700, 50, 40, 30],\n"
                              "        damping: [9, 8, 7, 0.5, 0.4, 0.3]}\n"
                              "  cord: {type: spring, between: [ground, eye], from: [2, 0, 2], to: [1.5, 0, 0.5], stiffness: 50, length: 1}\n"},
    {"floating body that presses on a floor and on a ball",
     HEAD "bodies:\n" BODY("a", "0, 0, 0.08") BODY("b", "0.15, 0.1, 0.2") //
     "joints:\n"
     "  f: {type: free, between: [ground, a], at: [0, 0, 0.08], qd: [0.1, 0.2, -0.5, 1, 2, 3],\n"
     "      spring: {q0: {damping: 1}, q4: {damping: 0.4, force: 2}}}\n"
     "forces:\n"
     "  floor: {type: stop, between: [a, ground], radius: 0.1, to: [0, 0, 0], normal: [0, 0.1, 1], stiffness: 1e4,\n"
     "          dissipation: 0.3}\n"
     "  bump: {type: stop, between: [b, a], radius: 0.15, radius2: 0.1, stiffness: 2000, exponent: 1, dissipation: 0.2}\n"},
    {"universal and cylindrical joints on a mount that moves",
     HEAD "bodies:\n" BODY("a", "0, 0, 0") BODY("b", "1, 0, 0") //
     "joints:\n"
     "  u: {type: universal, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], axis2: [0, 1, 0], q: [0.2, 0.3],\n"
     "      qd: [1, -1], spring: {q1: {stiffness: 20, damping: 1, at: -0.3}}, effort: {q0: push}, rotor: {q1: 0.6},\n"
     "      mount: {shift: [0, 0, {type: sine, amplitude: 0.1, omega: 6}], turn: {type: sine, amplitude: 0.2, omega: 3},\n"
     "              about: [0, 1, 1]}}\n"
     "  c: {type: cylindrical, between: [a, b], at: [0.6, 0, 0], axis: [1, 0.2, 0], qd: [0.3, -1],\n"
     "      spring: {q0: {stiffness: 30, damping: 2}, q1: {stiffness: 90}}}\n"
     "functions:\n  push: {type: formula, of: \"-4*u.q0 - 3*u.qd0 + 2*sin(t)\"}\n"},
    {"distance joint of varying length in a loop",
     HEAD "bodies:\n" BODY("a", "1, 0, 0") BODY("b", "2, 0, 0") //
     "joints:\n"
     "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}\n"
     "  p: {type: planar, between: [a, b], at: [1.5, 0, 0], axis: [0, 1, 0], qd: [0.1, 0.2, 0.3],\n"
     "      spring: {q0: {stiffness: 50, damping: 1}, q1: {stiffness: 60}, q2: {stiffness: 4, damping: 0.3}}}\n"
     "  d: {type: distance, between: [ground, b], point1: [2, 0, 1], point2: [0, 0, 0],\n"
     "      length: {type: sine, amplitude: 0.05, omega: 9, offset: 1}}\n"},
    {"screw, gears and rotors",
     HEAD "bodies:\n" BODY("a", "0, 0, 0") BODY("b", "1, 0, 0") BODY("c", "0, 1, 0") //
     "joints:\n"
     "  s: {type: screw, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], pitch: 0.2, qd: [2], rotor: {q0: 0.1},\n"
     "      spring: {q0: {damping: 0.1, force: 3}}}\n"
     "  g: {type: revolute, between: [a, b], at: [1, 0, 0], axis: [0, 0, 1], friction: {q0: {coulomb: 0.2, speed: 0.3}}}\n"
     "  w: {type: revolute, between: [ground, c], at: [0, 1, 0], axis: [1, 0, 0], rotor: {q0: 0.4}}\n"
     "couplings:\n  - {joint: w, coordinate: q0, of: s, with: q0, polynomial: [0, 2, 0.1]}\n"},
    {"pin in a slot, driven slide with a rotor",
     HEAD "bodies:\n" BODY("a", "0, 0, 0") BODY("b", "1, 0, 0") //
     "joints:\n"
     "  d: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [0.3, 0, 1], rotor: {q0: 5},\n"
     "      motion: {q0: {type: sine, amplitude: 0.4, omega: 8, phase: 0.3, offset: 0}}}\n"
     "  p: {type: pin_slot, between: [a, b], at: [0.5, 0, 0], axis: [0, 1, 0], axis2: [1, 0, 0.2], qd: [0.4, 2],\n"
     "      limits: {q0: {lower: -0.01, upper: 0.01, stiffness: 900, damping: 5}}, spring: {q1: {stiffness: 2}}}\n"},
    {"servos on a coordinate and on a sum, on a mount",
     HEAD "bodies:\n" BODY("a", "0, 0, 0") BODY("b", "1, 0, 0") //
     "joints:\n"
     "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [1],\n"
     "      mount: {turn: {type: sine, amplitude: 0.2, omega: 3}, about: [1, 0, 0.5]}}\n"
     "  g: {type: prismatic, between: [a, b], at: [1, 0, 0], axis: [1, 0, 0.3], qd: [0.2]}\n"
     "forces:\n"
     "  turn: {type: servo, joint: h, target: {type: sine, amplitude: 1, omega: 2}, kp: 30, kd: 2, gear: 3}\n"
     "  rope: {type: servo, of: [{joint: h, factor: 0.3}, {joint: g, factor: -1}], kp: 40, target: 0.1,\n"
     "         effort_range: [-3, 3]}\n"},
    {"slider-crank with gas by a curve, a damper curve and a bump stop",
     HEAD "signals:\n"
     "  gas: {type: curve, of: A.q0, x: [0, 1, 3, 6.283185307179586], y: [9, 30, 2, 9], interpolation: monotone, ends: periodic}\n"
     "  damper: {type: curve, of: spring.strut.rate, x: [-3, -1, 0, 1, 3], y: [9, 6, 0, -8, -11], ends: linear}\n"
     "  bump: max(0, 40*(1.2 - distance(eye, foot)) - 3*distance_rate(eye, foot))\n"
     "  push: damper + bump\n"
     "bodies:\n" BODY("crank", "0, 0, 0") BODY("rod", "0, 0, 1") BODY("slider", "2, 0, 0") //
     "joints:\n"
     "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0], qd: [3]}\n"
     "  B: {type: revolute, between: [crank, rod], at: [0, 0, 1], axis: [0, 1, 0]}\n"
     "  C: {type: revolute, between: [rod, slider], at: [2, 0, 0], axis: [0, 1, 0]}\n"
     "  D: {type: prismatic, between: [ground, slider], at: [2, 0, 0], axis: [1, 0, 0]}\n"
     "forces:\n"
     "  gas: {type: wrench, body: slider, force: [1, 0, 0], force_of: [gas, 0, 0], torque_of: [0, body.rod.wy, 0]}\n"
     "  strut: {type: spring, between: [ground, rod], from: [1, 0, 2], to: [0.5, 0, 1], stiffness: 20, length: 1, force: push}\n"
     "markers:\n  eye: {body: slider, position: [0.1, 0, 0]}\n  foot: {body: ground, position: [3, 0, 0]}\n"},
    {"motor by a map of torque over speed and command, servo to a signal",
     HEAD "signals:\n"
     "  torque: {type: map, of: 20*h.qd0, of2: command + 0*h.q0, x: [-40, 0, 20, 40], x2: [-1, 0, 1],\n"
     "           rows: [[-2, 1, 4], [-3, 0, 3], [-4, -1, 2], [-5, -2, 0]], interpolation: linear, ends: clamped, ends2: clamped}\n"
     "  motor: 20*torque\n"
     "  wanted: 0.3*sin(2*t) - h.q0/4 + floor(0.7)\n"
     "functions: {command: {type: formula, of: cos(3*t)}}\n"
     "bodies:\n" BODY("a", "0.5, 0, 0") BODY("b", "1.5, 0, 0") //
     "joints:\n"
     "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [0.5], rotor: {q0: 0.6}, effort: {q0: motor}}\n"
     "  g: {type: revolute, between: [a, b], at: [1, 0, 0], axis: [0.1, 1, 0.2]}\n"
     "forces:\n  drive: {type: servo, joint: g, target: wanted, kp: 50, kd: 3, effort_range: [-20, 20]}\n"},
    {"two drives in one joint", HEAD "bodies:\n" BODY("a", "0, 0, 0") BODY("b", "1, 0, 0") //
     "joints:\n"
     "  u: {type: universal, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], axis2: [0, 1, 0],\n"
     "      motion: {q0: {type: sine, amplitude: 1, omega: 2}, q1: {type: sine, amplitude: 0.7, omega: 3}}}\n"
     "  s: {type: spherical, between: [a, b], at: [0.5, 0, 0], qd: [1, 0, 2], spring: {q1: {damping: 0.3}}}\n"},
    {"ropes round a cylinder and over a pulley, with friction and a drive",
     HEAD "bodies:\n" BODY("a", "0.5, 0, 0") BODY("b", "1.5, 0, 0") //
     "joints:\n"
     "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [0.5]}\n"
     "  g: {type: revolute, between: [a, b], at: [1, 0, 0], axis: [0.1, 1, 0.2], qd: [-1]}\n"
     "forces:\n"
     "  flexor: {type: tendon, path: [{body: ground, point: [0, 0, 1]}, {body: a, point: [0.5, 0, 0], radius: 0.1, axis: [0, 1, 0]},\n"
     "           {body: b, point: [0.2, 0, 0.1]}], stiffness: 300, damping: 4, length: 1.2, coulomb: 0.5, speed: 0.2}\n"
     "  hoist: {type: tendon, path: [{body: ground, point: [1, 0, 2]}, {body: a, point: [0.3, 0, 0.2]}, {pulley: 2},\n"
     "          {body: a, point: [0.4, 0, 0]}, {body: b, point: [0.3, 0, 0]}], kp: 20, kd: 1, target: 0.5}\n"},
    {"motor with windings under a pid controller, effort by a callback",
     HEAD "inputs: [push]\n"
     "signals:\n"
     "  control: {type: pid, reference: 0.4, measured: h.q0, measured_rate: h.qd0, kp: 40, ki: 30, kd: 2, range: [-9, 9]}\n"
     "bodies:\n" BODY("a", "0.5, 0, 0") BODY("b", "1.5, 0, 0") //
     "joints:\n"
     "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [0.5], effort: {q0: control}}\n"
     "  g: {type: revolute, between: [a, b], at: [1, 0, 0], axis: [0.1, 1, 0.2], effort: {q0: push}}\n"
     "forces:\n"
     "  motor: {type: servo, joint: g, gear: 5, rate: 3, kd: 0.7, stall: 2, no_load: 30, rotor: 0.01, lag: 0.02}\n"},
};
// clang-format on

static lw_model *parse(const char *text)
{
    lw_model *model;
    lw_error error;
    ok(lw_model_parse(text, strlen(text), "model", &(lw_read_desc){.format = "yaml"}, &model, NULL,
                      &error),
       &error);
    return model;
}

// Of the inputs of models that have some.
static lw_status push(void *user, const lw_observation *o, double *inputs)
{
    (void)user;
    inputs[0] = 3 * sin(o->q[0]) - 2 * o->qd[1] - o->velocity[2][2];
    return LW_OK;
}

static lw_sim *sim_of(const lw_model *model, const char *formulation)
{
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&options);
    ok(lw_options_set(&options, "formulation", formulation, &error), &error);
    ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    if (lw_model_input_count(model)) ok(lw_sim_set_callback(sim, push, NULL), lw_sim_error(sim));
    return sim;
}

static const lw_observation *outputs(lw_sim *sim)
{
    const lw_observation *o;
    ok(lw_sim_observe(sim, LW_OBSERVE_FORCE, &o), lw_sim_error(sim));
    return o;
}

static double number(const lw_model *m, const lw_observation *o, const char *item, const char *part,
                     int coordinate)
{
    for (int i = 0; i < lw_model_output_count(m); i++) {
        const lw_output_info k = lw_model_output(m, i);
        if (!strcmp(k.item, item) && !strcmp(k.part, part) && k.coordinate == coordinate)
            return o->output[i];
    }
    fail_msg("there is no output %s %s %d", item, part, coordinate);
    return NAN;
}

// ----------------------------------------------------------------------------------------- balance

typedef struct sums {
    double power, energy, size; // sizes of powers and energies together
} sums;

// All powers, the drives' by joint: one of `power` and `drive_power` is enough.
static sums sums_of(const lw_model *m, const lw_observation *o)
{
    sums s = {0};
    for (int i = 0; i < lw_model_output_count(m); i++) {
        const lw_output_info k = lw_model_output(m, i);
        const bool power = strstr(k.part, "power") && strcmp(k.part, "drive_power") != 0;
        if (power) s.power += o->output[i];
        if (strstr(k.part, "energy")) s.energy += o->output[i];
        if (!strcmp(k.unit, "W") || !strcmp(k.unit, "J")) s.size += fabs(o->output[i]);
    }
    return s;
}

// With the rotors of servos, where the coordinate is free.
static double rotor_of(const lw_model *m, int j, int k)
{
    return m->joint[j].motion[k].index ? m->desc.joint[j].coordinate[k].rotor
                                       : m->joint[j].rotor[k];
}

// dT/dt less the power of gravity, from velocities and accelerations.
static double kinetic_rate(const lw_model *m, const lw_observation *o, double *size)
{
    double rate = 0;
    for (int b = 1; b < m->nbody; b++) {
        double L[3], g[3];
        v3_scale(g, m->body[b].mass, m->gravity);
        s3_mul_v(L, m->body[b].inertia, o->angular_acceleration[b]);
        const double terms[] = {m->body[b].mass * v3_dot(o->velocity[b], o->acceleration[b]),
                                v3_dot(o->angular_velocity[b], L), -v3_dot(g, o->velocity[b])};
        for (int i = 0; i < 3; i++) rate += terms[i], *size += fabs(terms[i]);
    }
    for (int j = 0; j < m->njoint; j++)
        for (int k = 0; k < m->joint[j].type->nv; k++) {
            const int i = m->joint[j].iv + k;
            rate += rotor_of(m, j, k) * o->qd[i] * o->qdd[i];
            *size += fabs(rotor_of(m, j, k) * o->qd[i] * o->qdd[i]);
        }
    return rate;
}

static double gravity_potential(const lw_model *m, const lw_observation *o)
{
    double V = 0;
    for (int b = 1; b < m->nbody; b++) V -= m->body[b].mass * v3_dot(m->gravity, o->position[b]);
    return V;
}

// f [nbody] += k times a force in axes of frame R of body `axes`, or of the world.
static void add(double (*f)[3], int body, double k, const double *force, const double *R)
{
    double w[3];
    v3_copy(w, force);
    if (R) m3_mul_v(w, R, force);
    v3_axpy(f[body], k, w);
}

// What servos do on coordinate k of joint j: gear times factor times their efforts.
static double servo_effort(const lw_model *m, const lw_observation *o, int j, int k)
{
    double sum = 0;
    for (int i = 0; i < m->desc.force[LWI_ITEM_servo].n; i++) {
        const lw_servo_desc *d = lwi_force_desc(&m->desc, LWI_ITEM_servo, i);
        const double gear = d->law.gear != 0 ? d->law.gear : 1;
        const double effort = number(m, o, d->name, "effort", -1);
        if (d->nterm == 0 && d->joint.index == j && d->coordinate == k) sum += gear * effort;
        for (int n = 0; n < d->nterm; n++)
            if (d->terms[n].joint.index == j && d->terms[n].coordinate == k)
                sum += gear * d->terms[n].factor * effort;
    }
    return sum;
}

// Forces of outputs, reactions, efforts and gravity on each body.
static void forces_on(const lw_model *m, const lw_observation *o, double (*f)[3])
{
    for (int b = 1; b < m->nbody; b++) v3_axpy(f[b], m->body[b].mass, m->gravity);
    for (int j = 0; j < m->njoint; j++) {
        const lwi_joint *joint = &m->joint[j];
        const int body1 = m->desc.joint[j].body1.index, body2 = m->desc.joint[j].body2.index;
        double T[LW_JOINT_MAX_NV][6], R[9], R2[9];
        add(f, body2, 1, o->reaction[j], NULL);
        add(f, body1, -1, o->reaction[j], NULL);
        if (joint->type->nv == 0) continue;
        joint->type->effort(&joint->par, o->q + joint->iq, T);
        quat_matrix(R, o->quaternion[joint->body2]);
        m3_mul(R2, R, joint->R2);
        for (int k = 0; k < joint->type->nv; k++) {
            double effort = 0;
            for (int i = 0; i < lw_model_output_count(m); i++) {
                const lw_output_info of = lw_model_output(m, i);
                static const char *const parts[] = {"spring", "damper", "actuator",
                                                    "stop",   "rotor",  "friction"};
                for (int p = 0; p < COUNT(parts); p++)
                    if (!strcmp(of.item, joint->name) && of.coordinate == k &&
                        !strcmp(of.part, parts[p]) && !strcmp(of.kind, "joint"))
                        effort += o->output[i];
            }
            effort += servo_effort(m, o, j, k);
            if (!joint->motion[k].index) effort -= rotor_of(m, j, k) * o->qdd[joint->iv + k];
            add(f, body2, effort, T[k], R2);
            add(f, body1, -effort, T[k], R2);
        }
    }
    for (int i = 0; i < m->nforce; i++) {
        const lwi_force_place place = lwi_force_acts_on(&m->force[i]);
        const char *type = m->force[i].type->name;
        const double *x = o->output + m->force[i].output;
        if (place.iv >= 0 || place.n == 0) continue; // efforts
        if (!strcmp(type, "spring")) {
            add(f, place.body[1], 1, x + 3, NULL);
            add(f, place.body[0], -1, x + 3, NULL);
        } else if (!strcmp(type, "stop")) {
            add(f, place.body[0], 1, x + 3, NULL);
            add(f, place.body[1], -1, x + 3, NULL);
        } else if (!strcmp(type, "bushing")) {
            const lwi_bushing_par *p = m->force[i].par;
            double R[9], R1[9];
            quat_matrix(R, o->quaternion[p->body1]);
            m3_mul(R1, R, p->R1);
            add(f, p->body2, 1, x + 12, R1);
            add(f, p->body1, -1, x + 12, R1);
        } else if (!strcmp(type, "drag")) {
            add(f, place.body[0], 1, x + 3, NULL);
        } else if (strcmp(type, "signal_states") != 0) { // no force
            assert_string_equal(type, "wrench");
            add(f, place.body[0], 1, x, NULL);
        }
    }
}

static void check_newton(const lw_model *m, const lw_observation *o, const char *name,
                         const char *formulation)
{
    double f[8][3] = {{0}}, size = 1;
    assert_true(m->nbody <= 8);
    forces_on(m, o, f);
    for (int j = 0; j < m->njoint; j++) size = fmax(size, v3_norm(o->reaction[j]));
    for (int b = 1; b < m->nbody; b++)
        for (int i = 0; i < 3; i++) {
            const double ma = m->body[b].mass * o->acceleration[b][i];
            if (!(fabs(f[b][i] - ma) <= 1e-10 * (size + fabs(ma))))
                fail_msg("%s, %s, t = %g: force on %s along %d is %.15g, m a %.15g", name,
                         formulation, o->time, m->body[b].name, i, f[b][i], ma);
        }
}

static void check_balance(const lw_model *m, const lw_observation *o, const char *name,
                          const char *formulation)
{
    const sums s = sums_of(m, o);
    double size = s.size + 1, drift = 0;
    const double rate = kinetic_rate(m, o, &size), potential = s.energy + gravity_potential(m, o);
    // round-off of some ten terms, and what reactions do along the drift of joints
    for (int j = 0; j < m->njoint; j++)
        drift += (o->residual[0] + o->residual[1]) *
                 (v3_norm(o->reaction[j]) + v3_norm(o->reaction[j] + 3));
    if (!(fabs(s.power - rate) <= 1e-13 * size + 10 * drift))
        fail_msg("%s, %s, t = %g: powers are %.15g, dT/dt less that of gravity %.15g, off by %.2g",
                 name, formulation, o->time, s.power, rate, s.power - rate);
    if (!(fabs(potential - o->potential) <= 1e-14 * size))
        fail_msg("%s, %s: energies %.15g, potential %.15g", name, formulation, potential,
                 o->potential);
    for (int j = 0; j < m->njoint; j++) { // drives alone: the sum of theirs is the joint's
        if (!m->joint[j].ndriven || m->joint[j].mount.present) continue;
        double drives = 0;
        for (int k = 0; k < m->joint[j].type->nv; k++)
            if (m->joint[j].motion[k].index)
                drives += number(m, o, m->joint[j].name, "drive_power", k);
        assert_true(fabs(drives - number(m, o, m->joint[j].name, "power", -1)) <=
                    1e-13 * size + 10 * drift);
    }
}

static bool has_tendons(const lw_model *m)
{
    for (int i = 0; i < m->nforce; i++)
        if (!strcmp(m->force[i].type->name, "tendon")) return true;
    return false;
}

static void powers_and_forces_balance(void **state)
{
    (void)state;
    static const char *const formulations[] = {"auto", "rcr", "dca", "hdca", "dense"};
    for (int i = 0; i < COUNT(models); i++)
        for (int k = 0; k < COUNT(formulations); k++) {
            lw_model *m = parse(models[i].text);
            lw_sim *sim = sim_of(m, formulations[k]);
            for (int row = 0; row < 4; row++) {
                ok(lw_sim_step(sim, 0.05 * row), lw_sim_error(sim));
                const lw_observation *o = outputs(sim);
                check_balance(m, o, models[i].name, formulations[k]);
                if (m->ncoupling == 0 && !has_tendons(m))
                    check_newton(m, o, models[i].name, formulations[k]);
            }
            lw_sim_destroy(sim);
            lw_model_destroy(m);
        }
}

// ------------------------------------------------------------------------------------ other routes

static double marker(const lw_model *m, const lw_observation *o, int i, double *velocity)
{
    const lw_marker_desc *d = &m->desc.marker[i];
    const int b = d->body.index;
    double R[9], arm[3] = {d->pose.position.x, d->pose.position.y, d->pose.position.z}, v[3];
    v3_sub(arm, arm, m->body[b].com);
    quat_matrix(R, o->quaternion[b]);
    v3_cross(v, o->angular_velocity[b], arm);
    m3_mul_v(v, R, v);
    v3_add(velocity, o->velocity[b], v);
    m3_mul_v(arm, R, arm);
    v3_add(velocity + 3, o->position[b], arm);
    return 0;
}

static void springs_have_the_length_between_their_points(void **state)
{
    (void)state;
    lw_model *m = parse(models[1].text);
    lw_sim *sim = sim_of(m, "auto");
    ok(lw_sim_step(sim, 0.3), lw_sim_error(sim));
    const lw_observation *o = outputs(sim);
    double foot[6], head[6], d[3], v[3], n[3], force[3];
    marker(m, o, 0, foot);
    marker(m, o, 1, head);
    v3_sub(v, head, foot);
    v3_sub(d, head + 3, foot + 3);
    const double length = v3_norm(d), rate = v3_dot(d, v) / length;
    const double f = -60 * (length - 0.6) - 4 * rate + 1 + 2 * 0.3;
    v3_scale(n, 1 / length, d);
    v3_scale(force, f, n);
    assert_true(fabs(number(m, o, "strut", "length", -1) - length) <= 1e-14);
    assert_true(fabs(number(m, o, "strut", "rate", -1) - rate) <= 1e-13);
    assert_true(fabs(number(m, o, "strut", "force", -1) - f) <= 1e-11);
    static const char *const parts[] = {"fx", "fy", "fz"};
    for (int i = 0; i < 3; i++)
        assert_true(fabs(number(m, o, "strut", parts[i], -1) - force[i]) <= 1e-11);
    assert_true(fabs(number(m, o, "strut", "power", -1) - f * rate) <= 1e-11);
    assert_true(fabs(number(m, o, "strut", "energy", -1) - 30 * pow(length - 0.6, 2)) <= 1e-12);
    // of the joint: -coulomb tanh(qd / speed) - viscous qd with the speed of the drive
    const double qd = 0.3 * 4 * cos(4 * 0.3), qdd = -0.3 * 16 * sin(4 * 0.3);
    assert_true(fabs(number(m, o, "g", "friction", 0) + tanh(qd / 0.1) + 0.2 * qd) <= 1e-12);
    assert_true(fabs(number(m, o, "g", "rotor", 0) + 0.3 * qdd) <= 1e-12);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// The same motion with the coordinate free: the effort that inverse dynamics gives it is the drive's.
static void drives_do_what_inverse_dynamics_gives(void **state)
{
    (void)state;
    static const char text[] = HEAD "bodies:\n" BODY("a", "0.5, 0, 0") BODY("b", "1.5, 0, 0") //
        "joints:\n"
        "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [0.5]}\n"
        "  g: {type: revolute, between: [a, b], at: [1, 0, 0], axis: [0.1, 1, 0.2], rotor: {q0: "
        "0.3}%s}\n";
    char driven[2000], free[2000];
    snprintf(driven, sizeof driven, text,
             ",\n      motion: {q0: {type: sine, amplitude: 0.3, omega: 4}}");
    snprintf(free, sizeof free, text, "");
    lw_model *a = parse(driven), *b = parse(free);
    lw_sim *sim = sim_of(a, "auto");
    lw_dynamics *dynamics;
    lw_error error;
    double tau[2];
    ok(lw_sim_step(sim, 0.7), lw_sim_error(sim));
    const lw_observation *o = outputs(sim);
    ok(lw_dynamics_create(b, NULL, &dynamics, &error), &error);
    ok(lw_inverse_dynamics(dynamics, 0.7, o->q, o->qd, o->qdd, NULL, tau), NULL);
    assert_true(fabs(tau[0]) <= 1e-11);
    assert_true(fabs(tau[1]) > 1);
    assert_true(fabs(number(a, o, "g", "drive", 0) - tau[1]) <= 1e-12 * fabs(tau[1]));
    assert_true(fabs(number(a, o, "g", "drive_power", 0) - tau[1] * o->qd[1]) <= 1e-11);
    lw_dynamics_destroy(dynamics);
    lw_sim_destroy(sim);
    lw_model_destroy(a);
    lw_model_destroy(b);
}

// ------------------------------------------------------------------------------------------- names

static void units_are_those_of_the_coordinate(void **state)
{
    (void)state;
    lw_model *m = parse(models[5].text), *c = parse(models[6].text);
    bool force = false, torque = false;
    for (int i = 0; i < lw_model_output_count(m); i++) {
        const lw_output_info k = lw_model_output(m, i);
        if (strcmp(k.part, "damper") != 0) continue;
        assert_string_equal(k.unit, k.coordinate < 3 ? "N" : "N m");
        force |= k.coordinate == 0, torque |= k.coordinate == 4;
    }
    assert_true(force && torque);
    for (int i = 0; i < lw_model_output_count(c); i++) {
        const lw_output_info k = lw_model_output(c, i);
        if (strcmp(k.part, "spring") != 0 || strcmp(k.item, "c") != 0) continue;
        const bool angle = c->joint[1].type->angles >> k.coordinate & 1;
        assert_string_equal(k.unit, angle ? "N m" : "N");
    }
    assert_string_equal(lw_model_output(m, -1).kind, "");
    assert_string_equal(lw_model_output(m, lw_model_output_count(m)).kind, "");
    lw_model_destroy(m);
    lw_model_destroy(c);
}

// A chain with so many springs that threads share them.
static void threads_do_not_change_the_bits(void **state)
{
    (void)state;
    enum { N = 600, ROOM = 500 };
    char *text = malloc((size_t)N * ROOM + 200);
    size_t at = (size_t)sprintf(text, HEAD "bodies:\n");
    for (int i = 1; i <= N; i++)
        at += (size_t)sprintf(
            text + at,
            "  b%d: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [%d, 0, 0]}\n", i, i);
    at += (size_t)sprintf(text + at, "joints:\n");
    for (int i = 1; i <= N; i++)
        at += (size_t)sprintf(
            text + at,
            "  j%d: {type: revolute, between: [%s%.0d, b%d], at: [%d, 0, -0.1], axis: [0, 1, 0]}\n",
            i, i > 1 ? "b" : "ground", i - 1, i, i - 1);
    at += (size_t)sprintf(text + at, "forces:\n");
    for (int i = 1; i <= N; i++)
        at += (size_t)sprintf(text + at,
                              "  s%d: {type: spring, between: [ground, b%d], from: [%d, 0.5, 1], "
                              "point2: [0.1, 0, 0], stiffness: 30, damping: 2}\n",
                              i, i, i);
    lw_model *m = parse(text);
    double *first = NULL;
    const size_t bytes = (size_t)lw_model_output_count(m) * sizeof *first;
    for (int threads = 1; threads <= 3; threads += 2) {
        lw_options options;
        lw_sim *sim;
        lw_error error;
        lw_options_default(&options);
        options.threads = threads;
        strcpy(options.formulation, "dca");
        strcpy(options.integrator, "rk4");
        options.step = 1e-3;
        ok(lw_sim_create(m, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        ok(lw_sim_step(sim, 0.005), lw_sim_error(sim));
        const lw_observation *o = outputs(sim);
        if (threads == 1) {
            first = malloc(bytes);
            memcpy(first, o->output, bytes);
        } else {
            assert_memory_equal(first, o->output, bytes);
        }
        lw_sim_destroy(sim);
    }
    free(first);
    free(text);
    lw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_and_forces_balance),
        cmocka_unit_test(springs_have_the_length_between_their_points),
        cmocka_unit_test(drives_do_what_inverse_dynamics_gives),
        cmocka_unit_test(units_are_those_of_the_coordinate),
        cmocka_unit_test(threads_do_not_change_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
