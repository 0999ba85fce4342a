// test_parameters.c -- parameters, points, expressions and units of native files: values, mistakes, overrides, and the
// file that is written again.
#include "io/same_model.h"
#include "model/model.h"
#include "support/failing.h"

#include <linkwork/io.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const lw_read_desc yaml = {.format = "yaml"};

static const char rods[] =
    "linkwork: 1\n"
    "parameters:\n"
    "  rho: 7850 kg/m^3\n"
    "  r: {value: 10, unit: mm, description: \"radius\", min: 1, max: 50}\n"
    "  l: 2*half\n"
    "  half: 0.25 m\n"
    "  k: 45 N/mm\n"
    "  zeta: 0.1\n"
    "points:\n"
    "  A: [0, 0, 0]\n"
    "  B: [A.x + l, 0, 0]\n"
    "  front left: [B.x + l*cos(30 deg), -l/2, 0]\n"
    "gravity: [0, -9.81 m/s^2, 0]\n"
    "functions:\n"
    "  push: k*1 mm\n"
    "  wave: {type: formula, of: \"zeta*sin(3*t)*k*1 mm - zeta*a.qd0\"}\n"
    "  sine: {type: sine, amplitude: 2*zeta, omega: 300 rpm, phase: 12 deg}\n"
    "  table: {type: table, t: [0, 1 s, 2000 ms], y: [0, zeta, 2*zeta]}\n"
    "bodies:\n"
    "  crank:\n"
    "    mass: rho*pi*r^2*l\n"
    "    inertia: [0.001, 0.001 kg m^2, 1/1000, 0, 0, 0]\n"
    "    com: [l/2, 0, 0]\n"
    "    position: A\n"
    "  rod:\n"
    "    mass: 2 kg\n"
    "    inertia: [0.001, 0.001, 0.001, 0, 0, 0]\n"
    "    in: crank\n"
    "    position: [l, 0, 0]\n"
    "    orientation: [cos(15 deg), 0, 0, -sin(15 deg)]\n"
    "    com: front left\n"
    "    shape: {capsule: [r, l], position: B}\n"
    "  slider: {mass: zeta, inertia: [zeta, zeta, zeta, 0, 0, 0], position: front left}\n"
    "  ball: {mass: zeta, inertia: [zeta, zeta, zeta, 0, 0, 0], position: front left}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, crank], at: A, qd: [30 rpm],\n"
    "      spring: {q0: {stiffness: 2 N m/rad, damping: zeta}}}\n"
    "  b: {type: revolute, between: [crank, rod], at: B, axis: [0, 0, 2*half]}\n"
    "  c: {type: spherical, between: [rod, slider], frame1: {position: front left},\n"
    "      frame2: {position: front left}}\n"
    "  d: {type: distance, between: [ground, ball], point1: [0, 0, 0], point2: B}\n"
    "couplings:\n"
    "  - {joint: b, coordinate: q0, of: a, with: q0, polynomial: [0, 20*zeta]}\n"
    "forces:\n"
    "  s: {type: spring, between: [rod, ground], from: front left, to: [2*l, 0, 0], stiffness: k,\n"
    "      length: l/3, force: wave}\n"
    "  w: {type: wrench, body: crank, point: B, force: [k*r, 0, 0], scale: 2*zeta}\n"
    "markers:\n"
    "  tip: {body: rod, position: front left}\n"
    "impulses:\n"
    "  late: {time: 0.9 s, joint: a, effort: zeta*1 N s*1 m}\n"
    "  early: {time: 0.5 s, body: rod, at: front left, impulse: [zeta*1 N s, 0, 0]}\n"
    "simulation: {duration: 1000 ms}\n";

static lw_model *read_set(const char *text, const char *const *set, int nset)
{
    const lw_read_desc desc = {.format = "yaml", .set = set, .nset = nset};
    lw_model *model = NULL;
    lw_error error = {0};
    if (lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    return model;
}

static void same(const lw_model *a, const lw_model *b)
{
    char why[160];
    if (!lwt_same_model(a, b, why)) fail_msg("%s", why);
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 4e-16 * fabs(b))) fail_msg("%.17g, not %.17g", a, b);
}

// ----------------------------------------------------------------------------------------- values

static void expressions_are_read(void **state)
{
    (void)state;
    lw_model *m = read_set(rods, NULL, 0);
    const lwi_description *d = &m->desc;
    near(d->body[1].mass, 7850 * 3.14159265358979323846 * 1e-4 * 0.5);
    assert_true(d->body[1].inertia[1] == 0.001 && d->body[1].inertia[2] == 0.001);
    assert_true(d->body[1].com.x == 0.25 && d->body[2].pose.position.x == 0.5);
    assert_true(d->gravity[1] == -9.81);
    assert_true(d->function[0].value == 45);
    near(d->function[2].omega, 10 * 3.14159265358979323846);
    assert_true(d->function[3].t[2] == 2);
    assert_true(d->body[2].shapes[0].size[0] == 0.01);
    near(d->joint[0].qd[0], 3.14159265358979323846);
    assert_true(lwi_spring_desc(d, 0)->stiffness == 45000);
    assert_true(d->impulse[0].time == 0.5 && d->impulse[1].effort == 0.1);
    assert_string_equal(d->function[1].formula, "0.10000000000000001*sin(3*t)*45000*1 mm - "
                                                "0.10000000000000001*a.qd0");
    lw_model_destroy(m);
}

// Numbers for which there are words too.
static void options_are_expressions(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\nparameters: {rate: 50, sample: 4}\n"
                               "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                               "simulation: {duration: 2/rate, sample: %s, kappa: %s}\n";
    static const struct {
        const char *sample, *kappa;
        double interval, rate;
    } cases[] = {{"1/rate", "2*rate", 0.02, 100},
                 {"sample", "none", 4, LW_KAPPA_NONE}, // the parameter, not a word
                 {"steps", "auto", LW_SAMPLE_STEPS, LW_KAPPA_AUTO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[400];
        snprintf(file, sizeof file, text, cases[i].sample, cases[i].kappa);
        lw_options options;
        lw_options_default(&options);
        const lw_read_desc desc = {.format = "yaml"};
        lw_model *model = NULL;
        lw_error error = {0};
        if (lw_model_parse(file, strlen(file), "m.yaml", &desc, &model, &options, &error) != LW_OK)
            fail_msg("%d:%d: %s", error.line, error.column, error.text);
        assert_true(options.duration == 0.04);
        assert_true(options.sample == cases[i].interval && options.kappa == cases[i].rate);
        lw_model_destroy(model);
    }
}

// A point by name is a place in the world, also in keys of a body's frame.
static void points_are_places_in_the_world(void **state)
{
    (void)state;
    lw_model *m = read_set(rods, NULL, 0);
    const lw_pose *rod = &m->desc.body[2].pose;
    const double c = sqrt(3) / 2, s = -0.5; // of the rod's orientation, -30 degrees
    const double x = 0.5 + 0.5 * sqrt(3) / 2, y = -0.25;
    const lw_vec3 com = m->desc.body[2].com, tip = m->desc.marker[0].pose.position;
    assert_true(fabs(rod->position.x + c * com.x - s * com.y - x) < 1e-15);
    assert_true(fabs(rod->position.y + s * com.x + c * com.y - y) < 1e-15);
    const lw_vec3 frame1 = m->desc.joint[2].frame1.position;
    if (!(fabs(com.x - tip.x) + fabs(com.y - tip.y) < 4e-15))
        fail_msg("%.17g %.17g, not %.17g %.17g", com.x, com.y, tip.x, tip.y);
    assert_memory_equal(&frame1, &tip, sizeof tip);
    const lw_vec3 at =
        m->desc.joint[2].frame2.position; // of the slider, which has its origin there
    assert_true(fabs(at.x) + fabs(at.y) + fabs(at.z) < 1e-15);
    lw_model_destroy(m);
}

// ------------------------------------------------------------------------------------- written again

static void expressions_are_written(void **state)
{
    (void)state;
    size_t length, again_length;
    lw_model *m = read_set(rods, NULL, 0);
    char *text = lwt_written(m, NULL, &length);
    static const char *const kept[] = {
        "  rho: \"7850 kg/m^3\"\n",
        "  r: {value: 10, unit: \"mm\", description: \"radius\", min: 1, max: 50}\n",
        "  l: \"2*half\"\n",
        "  B: [A.x + l, 0, 0]\n",
        "gravity: [0, -9.81 m/s^2, 0]\n",
        "  push: k*1 mm\n",
        "of: \"zeta*sin(3*t)*k*1 mm - zeta*a.qd0\"}",
        "amplitude: 2*zeta, omega: 300 rpm, phase: 12 deg}",
        "t: [0, 1 s, 2000 ms], y: [0, zeta, 2*zeta]}",
        "mass: rho*pi*r^2*l\n",
        "inertia: [0.001, 0.001 kg m^2, 1/1000, 0, 0, 0]",
        "position: A\n",
        "    position: [l, 0, 0]\n    orientation: [cos(15 deg), 0, 0, -sin(15 deg)]\n    in: "
        "crank\n",
        "com: front left\n",
        "shape: {capsule: [r, l], position: B}",
        "    at: A\n",
        "qd: [30 rpm]\n",
        "spring: {q0: {stiffness: 2 N m/rad, damping: zeta}}",
        "    at: B\n    axis: [0, 0, 2*half]\n",
        "frame1: {position: front left}\n    frame2: {position: front left}\n",
        "    point1: [0, 0, 0]\n    point2: B\n",
        "polynomial: [0, 20*zeta]",
        "    from: front left\n    to: [2*l, 0, 0]\n",
        "    stiffness: k\n    length: l/3\n    force: wave\n",
        "    force: [k*r, 0, 0]\n",
        "    scale: 2*zeta\n",
        "effort: zeta*1 N s*1 m\n",
        "impulse: [zeta*1 N s, 0, 0]\n",
        "time: 0.9 s\n",
    };
    for (int i = 0; i < LWI_COUNT(kept); i++)
        if (!strstr(text, kept[i])) {
            fputs(text, stderr);
            fail_msg("no %s", kept[i]);
        }
    lw_model *again = read_set(text, NULL, 0);
    same(m, again);
    char *other = lwt_written(again, NULL, &again_length);
    assert_string_equal(text, other);
    free(text);
    free(other);
    lw_model_destroy(m);
    lw_model_destroy(again);
}

// Text of a value that has changed since is not written: it would be another model.
static void changed_values_are_numbers(void **state)
{
    (void)state;
    size_t length;
    lw_model *m = read_set(rods, NULL, 0);
    m->desc.body[1].mass *= 2;
    m->desc.body[2].pose.position.x += 1; // on it depend places of joint, force, impulse and marker
    char *text = lwt_written(m, NULL, &length);
    static const char *const gone[] = {"mass: rho*pi*r^2*l\n",
                                       "in: crank",
                                       "from: front left",
                                       "com: front left",
                                       "at: B",
                                       "body: rod\n    position: front left",
                                       "at: front left",
                                       "frame1: {position: front left}"};
    for (int i = 0; i < LWI_COUNT(gone); i++)
        if (strstr(text, gone[i])) fail_msg("'%s' in\n%s", gone[i], text);
    assert_non_null(strstr(text, "stiffness: k\n"));
    assert_non_null(strstr(text, "    at: A\n"));
    free(text);
    lw_model_destroy(m);
}

// Bodies move with a parameter; joints, forces, impulses and other bodies have places without expressions.
static const char moving[] =
    "linkwork: 1\n"
    "parameters: {l: 1, h: 0.5}\n"
    "points: {P: [1, 0, 0]}\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [l/2, 0, 0]}\n"
    "  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0.125, 0], in: a}\n"
    "  c: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], in: b}\n"
    "  d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [3, 0, 0],\n"
    "      orientation: [cos(h), 0, 0, sin(h)]}\n"
    "  e: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [4, 0, 0]}\n"
    "joints:\n"
    "  revolute: {type: revolute, between: [ground, a], at: [0, 0, 0]}\n"
    "  universal: {type: universal, between: [b, c], at: [1, 1, 0], axis: [1, 0, 0],\n"
    "              axis2: [0, 1, 0]}\n"
    "  distance: {type: distance, between: [ground, c], point1: [1, 2, 3], point2: [0, 0, 0]}\n"
    "  fixed: {type: fixed, between: [ground, d], at: [3, 0, 0]}\n"
    "  still: {type: revolute, between: [ground, e], at: [5, 0, 0]}\n"
    "forces:\n"
    "  spring: {type: spring, between: [ground, a], from: [0, 1, 0], to: [1, 0, 0], stiffness: 3}\n"
    "  bushing: {type: bushing, between: [a, b], at: [1, 0, 0], stiffness: [1, 1, 1, 1, 1, 1]}\n"
    "  held: {type: bushing, between: [e, ground], at: P, stiffness: [1, 1, 1, 1, 1, 1]}\n"
    "  wrench: {type: wrench, body: c, at: [1, 0, 0], force: [1, 1, 1]}\n"
    "  stop: {type: stop, between: [c, d], from: [0, 1, 0], to: [1, 0, 0], normal: [0, 1, 0],\n"
    "         radius: 0.125, stiffness: 100}\n"
    "  drag: {type: drag, body: b, at: [1, 0, 0], linear: 1}\n"
    "  rope: {type: tendon, stiffness: 10, length: 1, path: [{body: ground, point: [1, 1, 0]},\n"
    "         {body: a, point: [l, h, 0]}, {body: e, point: P}, {body: c, point: P}]}\n"
    "  servo: {type: servo, kp: 2, of: [{joint: revolute, factor: 2*l}, {joint: still, factor: "
    "h}]}\n"
    "impulses:\n"
    "  kick: {time: 1, body: a, at: [0, 2, 0], impulse: [1, 0, 0]}\n";

static void places_move_with_parameters(void **state)
{
    (void)state;
    static const char *const set[] = {"l=1.25", "h=0.75"};
    size_t length;
    lw_model *m = read_set(moving, NULL, 0);
    char *text = lwt_written(m, NULL, &length);
    assert_null(strstr(text, "at: [5, 0, 0]")); // numbers suffice where nothing moves
    lw_model_destroy(m);
    for (int n = 0; n <= LWI_COUNT(set); n++) {
        lw_model *original = read_set(moving, set, n), *again = read_set(text, set, n);
        same(original, again);
        lw_model_destroy(original);
        lw_model_destroy(again);
    }
    free(text);
}

// ----------------------------------------------------------------------------------------- density

static void close_to(double a, double b, double scale)
{
    if (!(fabs(a - b) <= 1e-14 * scale)) fail_msg("%.17g, not %.17g", a, b);
}

// A box is the sum of its eight octants, wherever it lies; a mesh of the same box has the same mass.
static void mass_follows_from_shapes(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {rho: 2700 kg/m^3, a: 0.2 m}\n"
        "bodies:\n"
        "  whole: {density: rho, shape: {box: [a, 2*a, 3*a], position: [0.1, 0.2, 0.3], "
        "orientation: [0.8, 0, 0.6, 0]}}\n"
        "  parts:\n"
        "    density: rho\n"
        "    shape:\n"
        "      - {box: [a/2, a, 1.5*a], position: [0.05, 0.1, 0.15]}\n"
        "      - {box: [a/2, a, 1.5*a], position: [-0.05, 0.1, 0.15]}\n"
        "      - {box: [a/2, a, 1.5*a], position: [0.05, -0.1, 0.15]}\n"
        "      - {box: [a/2, a, 1.5*a], position: [-0.05, -0.1, 0.15]}\n"
        "      - {box: [a/2, a, 1.5*a], position: [0.05, 0.1, -0.15]}\n"
        "      - {box: [a/2, a, 1.5*a], position: [-0.05, 0.1, -0.15]}\n"
        "      - {box: [a/2, a, 1.5*a], position: [0.05, -0.1, -0.15]}\n"
        "      - {box: [a/2, a, 1.5*a], position: [-0.05, -0.1, -0.15]}\n"
        "  scaled: {density: 1, mass: 5 kg, shape: [{box: [a, 2*a, 3*a]}]}\n"
        "  mesh: {density: rho, shape: {mesh: {vertices: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], "
        "triangles: [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]}, scale: [0.1, 0.2, 0.3]}}\n"
        "  ball: {density: 1000, shape: {sphere: 0.1}}\n"
        "  rod: {density: 1000, shape: {cylinder: [0.1, 0.5]}}\n"
        "  egg: {density: 1000, shape: {ellipsoid: [0.1, 0.2, 0.3]}}\n"
        "  pill: {density: 1000, shape: [{capsule: [0.1, 0.5]}]}\n"
        "  pieces: {density: 1000, shape: [{cylinder: [0.1, 0.5]}, {sphere: 0.1, position: [0, 0, "
        "0.25]}, {sphere: 0.1, position: [0, 0, -0.25]}]}\n";
    const double pi = 3.14159265358979323846;
    lw_model *m = read_set(text, NULL, 0);
    const lw_body_desc *b = m->desc.body;
    const double mass = 2700 * 0.2 * 0.4 * 0.6;
    close_to(b[1].mass, mass, mass);
    close_to(b[2].mass, mass, mass);
    const double I[3] = {mass * (0.16 + 0.36) / 12, mass * (0.04 + 0.36) / 12,
                         mass * (0.04 + 0.16) / 12};
    for (int k = 0; k < 6; k++) {
        close_to(b[2].inertia[k], k < 3 ? I[k] : 0, mass);
        close_to(b[3].inertia[k], (k < 3 ? I[k] : 0) * 5 / mass, 5);
    }
    const double c = 1 - 2 * 0.6 * 0.6, s = 2 * 0.8 * 0.6; // rotated about y
    close_to(b[1].inertia[0], c * c * I[0] + s * s * I[2], mass);
    close_to(b[1].inertia[1], I[1], mass);
    close_to(b[1].inertia[4], c * s * (I[2] - I[0]), mass);
    close_to(b[1].com.x - 0.1 + b[1].com.y - 0.2 + b[1].com.z - 0.3, 0, 1);
    assert_true(b[3].mass == 5);
    const double tet = 2700 * 0.1 * 0.2 * 0.3 /
                       6; // corner at the origin: centre at a quarter, I_xx = m 3/80 (y^2 + z^2)
    close_to(b[4].mass, tet, tet);
    close_to(b[4].com.x, 0.025, 1);
    close_to(b[4].inertia[0], tet * 3. / 80 * (0.04 + 0.09), tet);
    close_to(b[5].inertia[0], 0.4 * b[5].mass * 0.01, b[5].mass);
    close_to(b[5].mass, 4. / 3 * pi * 1, 10);
    close_to(b[6].inertia[2], 0.5 * b[6].mass * 0.01, b[6].mass);
    close_to(b[7].inertia[0], 0.2 * b[7].mass * (0.04 + 0.09), b[7].mass);
    close_to(b[8].mass, 1000 * pi * 0.01 * (0.5 + 0.4 / 3), b[8].mass);
    close_to(b[9].mass, b[6].mass + 2 * b[5].mass, b[9].mass); // overlaps count twice
    close_to(b[9].inertia[0], b[6].inertia[0] + 2 * (b[5].inertia[0] + b[5].mass * 0.0625),
             b[9].mass);

    size_t length;
    char *written = lwt_written(m, NULL, &length);
    static const char *const kept[] = {
        "    density: rho\n    shape: {box: [a, 2*a, 3*a], position: [0.1, 0.2, 0.3]",
        "  scaled:\n    mass: 5 kg\n    density: 1\n    shape: ",
        "  ball:\n    density: 1000\n    shape: "};
    for (int i = 0; i < LWI_COUNT(kept); i++)
        if (!strstr(written, kept[i])) {
            fputs(written, stderr);
            fail_msg("no %s", kept[i]);
        }
    lw_model *again = read_set(written, NULL, 0);
    same(m, again);
    m->desc.body[1].mass *= 2;
    free(written);
    written = lwt_written(m, NULL, &length);
    assert_non_null(strstr(written, "  whole:\n    mass: 259.2"));
    free(written);
    lw_model_destroy(m);
    lw_model_destroy(again);
}

// --------------------------------------------------------------------------------------- overrides

static void parameters_are_set(void **state)
{
    (void)state;
    const char *const set[] = {"r=12", "half=30 cm", "k=50", "zeta=0.1/2", "r=20"};
    lw_model *m = read_set(rods, set, LWI_COUNT(set));
    static const double expected[] = {7850, 0.02, 0.6, 0.3, 50e3, 0.05};
    assert_int_equal(lw_model_parameter_count(m), LWI_COUNT(expected));
    for (int i = 0; i < LWI_COUNT(expected); i++)
        near(lw_model_parameter_at(m, i).value, expected[i]);
    const lw_parameter_info r = lw_model_parameter_at(m, 1), k = lw_model_parameter_at(m, 4);
    assert_string_equal(r.name, "r");
    assert_string_equal(r.unit, "mm");
    assert_string_equal(r.text, "20");
    assert_string_equal(r.description, "radius");
    assert_true(r.minimum == 0.001 && r.maximum == 0.05 && r.unit_value == 0.001);
    assert_string_equal(k.text, "50 N/mm");
    assert_true(isinf(k.minimum) && isinf(k.maximum));
    assert_null(lw_model_parameter_at(m, 6).name);
    near(m->desc.body[1].mass, 7850 * 3.14159265358979323846 * 4e-4 * 0.6);

    // the same by lw_model_remake, which keeps what was set before
    const char *const more[] = {"rho=1000"};
    lw_model *other = NULL;
    lw_error error = {0};
    assert_int_equal(lw_model_remake(m, more, 1, NULL, &other, &error), LW_OK);
    near(other->desc.body[1].mass, 1000 * 3.14159265358979323846 * 4e-4 * 0.6);
    lw_model *third = NULL;
    assert_int_equal(lw_model_remake(other, NULL, 0, NULL, &third, &error), LW_OK);
    same(other, third);
    const char *const wrong[] = {"rh=1000"};
    lw_model *none = NULL;
    assert_int_equal(lw_model_remake(m, wrong, 1, NULL, &none, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "there is no parameter 'rh', did you mean 'rho'?"));
    lw_model_destroy(m);
    lw_model_destroy(other);
    lw_model_destroy(third);

    static const char plain[] =
        "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n";
    m = read_set(plain, NULL, 0);
    assert_int_equal(lw_model_remake(m, more, 1, NULL, &none, &error), LW_ERR_UNSUPPORTED);
    assert_int_equal(lw_model_parameter_count(m), 0);
    lw_model_destroy(m);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *set, *message;
        lw_status status;
        int line;
    } cases[] = {
        {"rh=1", "there is no parameter 'rh', did you mean 'rho'?", LW_ERR_ARGUMENT, 0},
        {"r", "'r': expected NAME=VALUE of a parameter", LW_ERR_ARGUMENT, 0},
        {"=5", "'=5': expected NAME=VALUE of a parameter", LW_ERR_ARGUMENT, 0},
        {"r=60", "parameter 'r': is 60 mm, expected at most 50 mm", LW_ERR_MODEL, 4},
        {"r=0.1 mm", "parameter 'r': is 0.1 mm, expected at least 1 mm", LW_ERR_MODEL, 4},
        {"r=2 kg", "parameter 'r': '2 kg' is a mass [kg], expected a length [m]", LW_ERR_MODEL, 4},
        {"r=", "parameter 'r': the formula is empty", LW_ERR_MODEL, 4},
        {"half=l", "parameter 'l': depends on itself: l -> half -> l", LW_ERR_MODEL, 5},
        {"r=half/50 + 5", "parameter 'r': 'half/50 + 5' combines a quantity and a number",
         LW_ERR_MODEL, 4},
        {"zeta=t", "parameter 'zeta': 't' varies during a run", LW_ERR_MODEL, 8},
        {"half=-1", "expected", LW_ERR_MODEL, 0},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        const lw_read_desc desc = {.format = "yaml", .set = &cases[i].set, .nset = 1};
        lw_model *model = NULL;
        lw_error error = {0};
        if (lw_model_parse(rods, strlen(rods), "m.yaml", &desc, &model, NULL, &error) !=
                cases[i].status ||
            !strstr(error.text, cases[i].message) || (cases[i].line && error.line != cases[i].line))
            fail_msg("%s: line %d: '%s'", cases[i].set, error.line, error.text);
    }
    const char *const set[] = {"a=1"};
    const lw_read_desc desc = {.format = "urdf", .set = set, .nset = 1};
    lw_model *model = NULL;
    lw_error error = {0};
    assert_int_equal(lw_model_parse("<robot/>", 8, "m", &desc, &model, NULL, &error),
                     LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "only native model files have parameters, this is urdf"));
}

// ---------------------------------------------------------------------------------------- mistakes

#define BODY(keys)                                                                                 \
    "linkwork: 1\nparameters: {rho: 7850 kg/m^3, l: 1 m, n: 3}\npoints: {A: [0, 0, 0]}\nbodies: "  \
    "{a: {" keys "}}\n"
#define JOINT(keys)                                                                                \
    "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\njoints: {j: {between: "     \
    "[ground, a], at: [0, 0, 0], " keys "}}\n"

static void mistakes_are_located(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        int line, column;
    } cases[] = {
        {BODY("mass: roh*l^3"),
         "body 'a': mass: unknown name 'roh', did you mean 'rho'? (character 1)", 4, 20},
        {BODY("mass: 2 m"), "body 'a': mass: '2 m' is a length [m], expected a mass [kg]", 4, 20},
        {BODY("mass: 2*l"), "body 'a': mass: '2*l' is a length [m], expected a mass [kg]", 4, 20},
        {BODY("mass: rho*l^3 + l"), "'+' of a mass [kg] and a length [m]", 4, 20},
        {BODY("mass: 1, com: [0, 2 kg, 0]"),
         "body 'a': com: '2 kg' is a mass [kg], expected a length [m]", 4, 32},
        {BODY("mass: 1, com: B"),
         "body 'a': com: there is no point 'B', expected a list of 3 numbers or the name", 4, 28},
        {BODY("mass: A.x"), "body 'a': mass: 'A.x' is a length [m], expected a mass [kg]", 4, 20},
        {BODY("mass: 1, velocity: A"),
         "body 'a': velocity: 'A' is a point, expected a list of 3 numbers", 4, 33},
        {BODY("mass: 1, shape: {box: [1 kg, 1, 1]}"),
         "shape.box: '1 kg' is a mass [kg], expected a length [m]", 4, 37},
        {BODY("mass: -rho*l^3"), "mass is -7850, expected a number >= 0", 4, 20},
        {BODY("mass: 1, cog: [0, 0, 0]"), "unknown key 'cog', did you mean 'com'?", 4, 23},
        {JOINT("type: hinge"), "unknown word 'hinge', did you mean 'revolute'?", 3, 0},
        {JOINT("type: ball"), "unknown word 'ball', did you mean 'spherical'?", 3, 0},
        {JOINT("type: revolute, damping: 1"), "unknown key 'damping', did you mean 'spring'?", 3,
         0},
        {JOINT("type: revolute, stiffness: 1"), "unknown key 'stiffness', did you mean 'spring'?",
         3, 0},
        {JOINT("type: revolute, armature: {q0: 1}"),
         "unknown key 'armature', did you mean 'rotor'?", 3, 0},
        {JOINT("type: revolute, parent: a"), "unknown key 'parent', did you mean 'between'?", 3, 0},
        {"linkwork: 1\nbodies: {a: {mass: 1}}\njoints: {j: {type: fixed, between: [world, a], at: "
         "[0, 0, 0]}}\n",
         "there is no body 'world', did you mean 'ground'?", 3, 0},
        {"linkwork: 1\nbodies: {a: {mass: 1}}\nactuator: {}\n",
         "unknown key 'actuator', did you mean 'forces'?", 3, 1},
        {"linkwork: 1\nbodies: {a: {mass: 1}}\nforces: {f: {type: damper}}\n",
         "unknown word 'damper', did you mean 'spring'?", 3, 0},
        {"linkwork: 1\nbodies: {a: {mass: 1}}\nsprings: {}\n",
         "unknown key 'springs', did you mean 'forces'?", 3, 1},
        {"linkwork: 1\nbodies: {a: {mass: 1, parent: ground}}\n",
         "unknown key 'parent', did you mean 'in'?", 2, 0},
        {"linkwork: 1\nbodies: {a: {mass: 1}}\nforces: {f: {type: servo, joint: j, kp: 1, "
         "saturation: [-1, 1]}}\n",
         "unknown key 'saturation', did you mean 'effort_range'?", 3, 0},
        {"linkwork: 1\nbodies: {a: {mass: 1}}\nforces: {f: {type: servo, joint: j, kp: 1, ratio: "
         "5}}\n",
         "unknown key 'ratio', did you mean 'gear'?", 3, 0},
        {BODY("com: [0, 0, 0]"), "body 'a': key 'mass' is missing: mass [kg], >= 0; or `density`",
         4, 10},
        {BODY("density: 1"),
         "body 'a': density: the shapes have the mass 0, expected shapes with a volume", 4, 10},
        {BODY("density: 1, shape: {mesh: {vertices: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], "
              "triangles: [0, "
              "2, 1, 0, 1, 3, 0, 3, 2]}}"),
         "body 'a': density: mesh 'of the file': the surface is open at the edge from "
         "(1, 0, 0) to (0, 1, 0), expected a closed one",
         4, 10},
        {BODY("density: 1, shape: {sphere: 1}, com: A"),
         "'density' and 'com': mass centre and inertia follow", 4, 10},
        {BODY("density: 2 kg, shape: {sphere: 1}"),
         "density: '2 kg' is a mass [kg], expected a density [kg/m^3]", 4, 23},
        {BODY("mass: +1"), "body 'a': mass: expected a number, written as in JSON", 4, 20},
        {JOINT("type: revolute, qd: [50 Hz]"),
         "joint 'j': qd: '50 Hz' is a frequency [Hz], expected", 3, 0},
        {JOINT("type: revolute, spring: {q0: {stiffness: 5 N/m}}"),
         "stiffness: '5 N/m' is a stiffness [N/m], expected a rotational stiffness [N m/rad]", 3,
         0},
        {JOINT("type: prismatic, spring: {q0: {at: 5 deg}}"),
         "spring.q0.at: '5 deg' is an angle [rad], expected a length [m]", 3, 0},
        {JOINT("type: screw, pitch: 5 deg"),
         "pitch: '5 deg' is an angle [rad], expected a length [m]", 3, 0},
        {JOINT("type: revolute, qd: [2*25 Hz]"),
         "joint 'j': qd: '2*25 Hz' is a frequency [Hz], expected", 3, 0},
        {"linkwork: 1\nparameters: {f: 50 Hz}\nfunctions: {s: {type: sine, amplitude: 1, omega: "
         "f}}\nbodies: {}\n",
         "omega: 'f' is a frequency [Hz], expected an angular speed", 3, 0},
        {"linkwork: 1\nparameters: {f: {value: 50, unit: Hz}, g: 2*f}\nfunctions: {s: {type: sine, "
         "amplitude: 1, omega: g}}\nbodies: {}\n",
         "omega: 'g' is a frequency [Hz], expected an angular speed", 3, 0},
        {"linkwork: 1\nparameters: {push: 1}\ninputs: [push]\nbodies: {}\n",
         "input 'push': this is the name of a parameter; names are unique", 3, 10},
        {"linkwork: 1\nparameters: {m: 1}\nbodies: {a: {mass: 1, com: [5 N/m, 0, 0]}}\n",
         "'m' is a unit and a name here: for the parameter write `(5 N)/m`, for the unit `5 N "
         "m^-1`",
         3, 0},
        {JOINT("type: revolute, effort: {q0: 5*x}"), "effort.q0: unknown name 'x'", 3, 0},
        {JOINT("type: revolute, effort: {q0: psuh}"), "there is no function or input 'psuh'", 3, 0},
        {"linkwork: 1\nparameters: {t: 1}\nbodies: {}\n", "parameter 't': formulas use this name",
         2, 14},
        {"linkwork: 1\nparameters: {sin: 1}\nbodies: {}\n",
         "parameter 'sin': formulas use this name", 2, 14},
        {"linkwork: 1\nparameters: {a b: 1}\nbodies: {}\n",
         "parameter 'a b': expected a name of letters, digits and _", 2, 14},
        {"linkwork: 1\nparameters: {f: 1}\nfunctions: {f: 2}\nbodies: {}\n",
         "parameter 'f': this is the name of a function", 2, 14},
        {"linkwork: 1\nparameters: {a: {vaule: 1}}\nbodies: {}\n",
         "parameter 'a': unknown key 'vaule', did you mean 'value'?", 2, 18},
        {"linkwork: 1\nparameters: {a: {unit: mm}}\nbodies: {}\n",
         "parameter 'a': key 'value' is missing", 2, 14},
        {"linkwork: 1\nparameters: {a: {value: 1, unit: rmp}}\nbodies: {}\n",
         "parameter 'a': unit: unknown unit 'rmp', did you mean 'rpm'?", 2, 34},
        {"linkwork: 1\nparameters: {a: {value: 1 kg, unit: mm}}\nbodies: {}\n",
         "parameter 'a': '1 kg' is a mass [kg], expected a length [m]", 2, 25},
        {"linkwork: 1\nparameters: {a: [1]}\nbodies: {}\n",
         "parameter 'a': expected a number, an expression, or a map with `value`, found a list of "
         "1",
         2, 17},
        {"linkwork: 1\nparameters: {a: b, b: c, c: a}\nbodies: {}\n",
         "depends on itself: a -> b -> c -> a", 2, 0},
        {"linkwork: 1\nparameters: {a: b, b: 1 + x}\nbodies: {}\n",
         "parameter 'b': unknown name 'x'", 2, 23},
        {"linkwork: 1\npoints: {A: [B.x, 0, 0], B: [A.x, 0, 0]}\nbodies: {}\n", "depends on itself",
         2, 0},
        {"linkwork: 1\npoints: {A: [1 kg, 0, 0]}\nbodies: {}\n",
         "point 'A': '1 kg' is a mass [kg], expected a length [m]", 2, 14},
        {"linkwork: 1\npoints: {A: [0, 0]}\nbodies: {}\n",
         "point 'A': expected a list of 3 numbers, found a list of 2", 2, 13},
        {"linkwork: 1\nparameters: {d: 20 mm, x: {value: d + 5, unit: mm}}\nbodies: {}\n",
         "parameter 'x': 'd + 5' combines a quantity and a number without a unit, expected a unit "
         "for each, like `5 mm`",
         2, 0},
        {"linkwork: 1\nparameters: {d: 20 mm, n: 3, x: {value: d*n, unit: mm}}\nbodies: {}\n",
         "parameter 'x': 'd*n' combines a quantity and a number without a unit", 2, 0},
        {"linkwork: 1\nparameters: {a: 20 deg, x: {value: a + 5, unit: deg}}\nbodies: {}\n",
         "like `5 deg`", 2, 0},
        {"linkwork: 1\nparameters: {d: 20 mm, x: {value: 1, unit: mm, max: 2*(d + 5)}}\nbodies: "
         "{}\n",
         "parameter 'x': max: '2*(d + 5)' combines", 2, 0},
        {"linkwork: 1\ngravity: [0, 0, -9.81 m/s]\nbodies: {}\n",
         "gravity: '-9.81 m/s' is a speed [m/s], expected an acceleration [m/s^2]", 2, 17},
        {"linkwork: 1\nparameters: {m: 1}\nbodies: {a: {mass: 1, com: [5 mm*m, 0, 0]}}\n",
         "'m' is a unit and a name here", 3, 29},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = NULL;
        lw_error error = {0};
        const lw_status status = lw_model_parse(cases[i].text, strlen(cases[i].text), "m.yaml",
                                                &yaml, &model, NULL, &error);
        if ((status != LW_ERR_PARSE && status != LW_ERR_MODEL) ||
            !strstr(error.text, cases[i].message) || error.line != cases[i].line ||
            (cases[i].column && error.column != cases[i].column))
            fail_msg("%s%d:%d: '%s', not '%s'", cases[i].text, error.line, error.column, error.text,
                     cases[i].message);
    }
}

// What the messages advise; a pitch is per revolution in every unit; an angular speed of a frequency.
static void quantities_are_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *parameters, *k, *pitch, *omega;
        double value[3];
    } cases[] = {
        {"{m: 4}", "(5 N)/m", "5 mm", "314 rad/s", {1.25, 0.005, 314}},
        {"{m: 4}", "5 N m^-1", "5 mm/rev", "50 rev/s", {5, 0.005, 314.159265358979}},
        {"{p: 5 mm/rev, f: 50 Hz}", "5 N/m", "p", "2*pi*f", {5, 0.005, 314.159265358979}},
        {"{f: 50 Hz, w: 2*pi*f}",
         "5",
         "2*0.4 mm/rad",
         "w",
         {5, 0.00502654824574367, 314.159265358979}},
        {"{v: 3 m/s, r: 2 m}", "5", "5 mm/rev*1 rev", "v/r", {5, 0.005, 1.5}},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[640];
        snprintf(
            text, sizeof text,
            "linkwork: 1\nparameters: %s\nfunctions: {s: {type: sine, amplitude: 1, omega: %s}}\n"
            "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
            "joints: {j: {type: screw, between: [ground, a], at: [0, 0, 0], pitch: %s}}\n"
            "forces: {f: {type: spring, between: [ground, a], point2: [1, 0, 0], length: 1, "
            "stiffness: %s}}\n",
            cases[i].parameters, cases[i].omega, cases[i].pitch, cases[i].k);
        lw_model *m = read_set(text, NULL, 0);
        const double got[] = {lwi_spring_desc(&m->desc, 0)->stiffness, m->desc.joint[0].pitch,
                              m->desc.function[0].omega};
        for (int k = 0; k < 3; k++)
            if (!(fabs(got[k] - cases[i].value[k]) < 1e-13 * fabs(got[k]) + 1e-13))
                fail_msg("case %d, %d: %.17g", i, k, got[k]);
        lw_model_destroy(m);
    }
}

static void long_chains_of_parameters_are_limited(void **state)
{
    (void)state;
    static char text[100000];
    for (int forward = 0; forward < 2; forward++) {
        size_t n = (size_t)snprintf(text, sizeof text, "linkwork: 1\nparameters:\n");
        for (int i = 0; i < 1000; i++) {
            const int k = forward ? i : 999 - i;
            n += k == 999
                     ? (size_t)snprintf(text + n, sizeof text - n, "  p%d: 1\n", k)
                     : (size_t)snprintf(text + n, sizeof text - n, "  p%d: p%d + 1\n", k, k + 1);
        }
        snprintf(text + n, sizeof text - n,
                 "bodies: {a: {mass: p0, inertia: [1, 1, 1, 0, 0, 0]}}\n");
        lw_model *model = NULL;
        lw_error error = {0};
        const lw_status status =
            lw_model_parse(text, strlen(text), "m.yaml", &yaml, &model, NULL, &error);
        assert_int_equal(status, forward ? LW_ERR_MODEL : LW_OK);
        if (forward) assert_non_null(strstr(error.text, "more than 32 parameters refer to later"));
        if (model) assert_true(model->desc.body[1].mass == 1000);
        lw_model_destroy(model);
    }
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    lw_status status = LW_ERR_MEMORY;
    long n = 0;
    for (; status != LW_OK && n < 10000; n++) {
        lwt_failing f = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&f);
        const lw_read_desc desc = {.format = "yaml", .allocator = &allocator};
        lw_model *model = NULL;
        status = lw_model_parse(rods, strlen(rods), "m", &desc, &model, NULL, NULL);
        if (status != LW_OK) assert_int_equal(LW_ERR_MEMORY, status);
        lw_model_destroy(model);
        assert_int_equal(0, f.live);
    }
    assert_int_equal(LW_OK, status);
}

// Measures, events that read them and options are written as stated, and follow the parameters.
static void measures_events_and_options_keep_expressions(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {T: 0.5 s, low: 30 deg}\n"
        "bodies:\n"
        "  bob: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -1, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1], q: [-1]}\n"
        "measures:\n"
        "  over: joint.A.q0 - low\n"
        "  twice: 2*measure.over + 0 deg\n"
        "events:\n"
        "  e: {when: twice < low, record: true}\n"
        "simulation: {duration: 4*T, sample: 0.25, rtol: 1e-6}\n";
    static const char *const kept[] = {"of: joint.A.q0 - low\n", "of: \"2*measure.over + 0 deg\"\n",
                                       "when: \"twice < low\"\n", "  duration: 4*T\n",
                                       "  sample: 0.25\n"};
    char *written[2];
    for (int k = 0; k < 2; k++) {
        const lw_read_desc native = {.format = "yaml"};
        const char *from = k ? written[0] : text;
        lw_options options;
        lw_model *m;
        lw_error error = {0};
        size_t size;
        lw_options_default(&options);
        if (lw_model_parse(from, strlen(from), "test", &native, &m, &options, &error) != LW_OK)
            fail_msg("%s", error.text);
        assert_true(options.duration == 2);
        FILE *file = open_memstream(&written[k], &size);
        assert_int_equal(lw_model_write(m, &options, file, &error), LW_OK);
        fclose(file);
        for (int i = 0; i < (int)(sizeof kept / sizeof *kept); i++)
            if (!strstr(written[k], kept[i])) fail_msg("%s in\n%s", kept[i], written[k]);
        if (k == 0) { // another value is not that of the expression
            char *other;
            options.duration = 3;
            file = open_memstream(&other, &size);
            assert_int_equal(lw_model_write(m, &options, file, &error), LW_OK);
            fclose(file);
            assert_non_null(strstr(other, "  duration: 3\n"));
            free(other);
        }
        lw_model_destroy(m);
    }
    assert_string_equal(written[0], written[1]);
    free(written[0]), free(written[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_events_and_options_keep_expressions),
        cmocka_unit_test(expressions_are_read),
        cmocka_unit_test(options_are_expressions),
        cmocka_unit_test(points_are_places_in_the_world),
        cmocka_unit_test(expressions_are_written),
        cmocka_unit_test(changed_values_are_numbers),
        cmocka_unit_test(places_move_with_parameters),
        cmocka_unit_test(mass_follows_from_shapes),
        cmocka_unit_test(parameters_are_set),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(mistakes_are_located),
        cmocka_unit_test(quantities_are_what_they_say),
        cmocka_unit_test(long_chains_of_parameters_are_limited),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
