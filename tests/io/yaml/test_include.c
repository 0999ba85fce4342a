// test_include.c -- files in files: names, parameters, places, mirrors, mistakes.
//
// A mirrored subsystem must move as the mirror image of the one that it is made from: both are in one model, on the ground,
// and independent of each other.
#include <linkwork/linkwork.h>

#include "io/yaml/include_files.h"
#include "model/model.h"
#include "support/scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

// ----------------------------------------------------------------------------------------- mirrors

static const char mirrors[] =
    "linkwork: 1\n"
    "gravity: [0, 0, 0]\n"
    "include:\n"
    "  a: {file: part.yaml}\n"
    "  x: {file: part.yaml, mirror: x}\n"
    "  y: {file: part.yaml, mirror: y}\n"
    "  z: {file: part.yaml, mirror: z}\n"
    "  placed: {file: part.yaml, position: [1, 2, 3], orientation: [0.5, 0.5, -0.5, 0.5]}\n"
    "  both: {file: part.yaml, mirror: y, position: [1, 2, 3], orientation: [0.8, 0, 0.6, 0]}\n"
    "  twice: {file: outer.yaml, mirror: x, position: [1, 0, 2], orientation: [0.8, 0.6, 0, 0]}\n"
    "simulation: {integrator: rk4, step: 0.002, duration: 0.6}\n";
static const char outer[] = "linkwork: 1\n"
                            "include:\n"
                            "  in: {file: part.yaml, mirror: y, prefix: in_, position: [0, 1, 0], "
                            "orientation: [0.6, 0, 0, 0.8]}\n";

// x -> r + R S x
typedef struct placing {
    const char *prefix;
    double S[3], q[4], r[3];
} placing;

static void rotate(const double *q, const double *x, double *y)
{
    const double w = q[0], *v = q + 1;
    const double t[3] = {2 * (v[1] * x[2] - v[2] * x[1]), 2 * (v[2] * x[0] - v[0] * x[2]),
                         2 * (v[0] * x[1] - v[1] * x[0])};
    y[0] = x[0] + w * t[0] + v[1] * t[2] - v[2] * t[1];
    y[1] = x[1] + w * t[1] + v[2] * t[0] - v[0] * t[2];
    y[2] = x[2] + w * t[2] + v[0] * t[1] - v[1] * t[0];
}

static void image(const placing *p, const double *x, bool place, double *y)
{
    const double m[3] = {p->S[0] * x[0], p->S[1] * x[1], p->S[2] * x[2]};
    rotate(p->q, m, y);
    for (int i = 0; i < 3 && place; i++) y[i] += p->r[i];
}

static int body_named(const lw_model *m, const char *prefix, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    for (int b = 1; b < m->nbody; b++)
        if (!strcmp(m->body[b].name, full)) return b;
    fail_msg("no body '%s'", full);
    return 0;
}

static void is_image(const lw_model *m, const lw_observation *o, const placing *p, int a,
                     double tolerance)
{
    double x[3], v[3], acc[3], w[3], e[3], arm[3];
    const int b = body_named(m, p->prefix, m->body[a].name + 2);
    const double det = p->S[0] * p->S[1] * p->S[2];
    image(p, o->position[a], true, x);
    image(p, o->velocity[a], false, v);
    image(p, o->acceleration[a], false, acc);
    double worst = 0;
    for (int i = 0; i < 3; i++) {
        w[i] = det * p->S[i] * o->angular_velocity[a][i]; // in axes of the mirrored body
        worst = fmax(worst, fabs(x[i] - o->position[b][i]));
        worst = fmax(worst, fabs(v[i] - o->velocity[b][i]));
        worst = fmax(worst, fabs(w[i] - o->angular_velocity[b][i]));
        worst = fmax(worst, 1e-2 * fabs(acc[i] - o->acceleration[b][i]));
    }
    for (int k = 0; k < 3; k++) { // the axes: S R S
        const double unit[3] = {k == 0, k == 1, k == 2},
                     mine[3] = {p->S[0] * unit[0], p->S[1] * unit[1], p->S[2] * unit[2]};
        rotate(o->quaternion[a], mine, arm);
        image(p, arm, false, e);
        rotate(o->quaternion[b], unit, arm);
        for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(e[i] - arm[i]));
    }
    if (!(worst <= tolerance))
        fail_msg("t = %g: body '%s' is off by %g", o->time, m->body[b].name, worst);
}

// (R2 S2)(R1 S1) of `twice`: R = R2 S2 R1 S2, S = S2 S1, r = r2 + R2 S2 r1
static placing composed(void)
{
    placing p = {"twice.in_", {-1, -1, 1}, {0}, {0}};
    const double q2[4] = {0.8, 0.6, 0, 0}, q1[4] = {0.6, 0, 0, -0.8}; // q1 mirrored by x
    const double r1[3] = {0, 1, 0};
    p.q[0] = q2[0] * q1[0] - q2[1] * q1[1] - q2[2] * q1[2] - q2[3] * q1[3];
    p.q[1] = q2[0] * q1[1] + q2[1] * q1[0] + q2[2] * q1[3] - q2[3] * q1[2];
    p.q[2] = q2[0] * q1[2] - q2[1] * q1[3] + q2[2] * q1[0] + q2[3] * q1[1];
    p.q[3] = q2[0] * q1[3] + q2[1] * q1[2] - q2[2] * q1[1] + q2[3] * q1[0];
    rotate(q2, r1, p.r);
    p.r[0] += 1, p.r[2] += 2;
    return p;
}

typedef struct compared {
    const lw_model *model;
    int rows;
    double moved;
} compared;

static int compare_row(void *user, const lw_observation *o)
{
    compared *w = user;
    const placing places[] = {
        {"x.", {-1, 1, 1}, {1, 0, 0, 0}, {0}},
        {"y.", {1, -1, 1}, {1, 0, 0, 0}, {0}},
        {"z.", {1, 1, -1}, {1, 0, 0, 0}, {0}},
        {"placed.", {1, 1, 1}, {0.5, 0.5, -0.5, 0.5}, {1, 2, 3}},
        {"both.", {1, -1, 1}, {0.8, 0, 0.6, 0}, {1, 2, 3}},
        composed(),
    };
    for (int k = 0; k < (int)(sizeof places / sizeof places[0]); k++)
        for (int b = 1; b < w->model->nbody; b++)
            if (!strncmp(w->model->body[b].name, "a.", 2))
                is_image(w->model, o, &places[k], b, 1e-10);
    w->rows++;
    for (int i = 0; i < 3; i++) w->moved = fmax(w->moved, fabs(o->velocity[1][i]));
    return 0;
}

static void mirror_images_move_as_such(void **state)
{
    (void)state;
    lw_error error = {0};
    lw_model *model = NULL;
    lw_options options;
    const lw_read_desc desc = {.format = "yaml", .folder = "."};
    lwt_write_file("part.yaml", lwt_part);
    lwt_write_file("outer.yaml", outer);
    lw_options_default(&options);
    if (lw_model_parse(mirrors, strlen(mirrors), "main.yaml", &desc, &model, &options, &error) !=
        LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    lw_sim *sim;
    const lw_sim_desc run = {.options = &options};
    if (lw_sim_create(model, &run, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    compared w = {.model = model};
    if (lw_sim_run(sim, LW_OBSERVE_ACCELERATION, compare_row, &w, NULL, NULL) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    assert_true(w.rows > 50 && w.moved > 0.1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static int compare_wrapped(void *user, const lw_observation *o)
{
    compared *w = user;
    const placing x = {"x.", {-1, 1, 1}, {1, 0, 0, 0}, {0}},
                  z = {"z.", {1, 1, -1}, {1, 0, 0, 0}, {0}};
    for (int b = 1; b < w->model->nbody; b++) {
        if (strncmp(w->model->body[b].name, "a.", 2) != 0) continue;
        is_image(w->model, o, &x, b, 1e-10);
        is_image(w->model, o, &z, b, 1e-10);
    }
    w->rows++;
    return 0;
}

// Formulas of a mirrored file read joints of a file that it includes, itself mirrored or not.
static void formulas_read_joints_of_included_files(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\n"
                               "include: {a: {file: wrap.yaml}, x: {file: wrap.yaml, mirror: x}, "
                               "z: {file: wrap.yaml, mirror: z}}\n"
                               "gravity: [0, 0, 0]\n";
    lwt_write_file("wrap.yaml",
                   "linkwork: 1\n"
                   "include: {in: {file: two.yaml}, my: {file: two.yaml, mirror: y}}\n"
                   "forces:\n"
                   "  w1: {type: wrench, body: in.c, torque: [0, 0, 1], scale: {type: formula, of: "
                   "\"2 + 3*'in.c'.q1 - 'in.f'.qd0 + 'my.c'.qd1\"}}\n"
                   "  w2: {type: wrench, body: my.f, force: [1, 2, 3], scale: {type: formula, of: "
                   "\"1 + 3*'my.c'.q1 - 2*'my.f'.qd0 + 'my.f'.qd1 + 'my.f'.qd2 + 'in.f'.qd2\"}}\n");
    lwt_write_file(
        "two.yaml",
        "linkwork: 1\n"
        "bodies:\n" LWT_BODY("c", "0.1", "0.5", "0.2") LWT_BODY(
            "f", "1", "0.3",
            "0.4") "joints:\n"
                   "  c: {type: cylindrical, between: [ground, c], at: [0, 0, 0], axis: [0.2, 0.1, "
                   "1], "
                   "qd: [0.2, 0.6]}\n"
                   "  f: {type: free, between: [ground, f], frame1: {}, frame2: {}, q: [1, 0.3, "
                   "0.4, 0.9, 0.1, -0.2, 0.37416573867739417], qd: [0.1, 0.2, 0.3, 0.4, 0.5, "
                   "0.6]}\n");
    lw_model *model = lwt_read_main(text);
    lw_options options;
    lw_error error = {0};
    lw_sim *sim;
    lw_options_default(&options);
    options.duration = 0.3;
    assert_int_equal(lw_options_set(&options, "rtol", "1e-13", NULL), LW_OK);
    assert_int_equal(lw_options_set(&options, "atol", "1e-13", NULL), LW_OK);
    const lw_sim_desc run = {.options = &options};
    if (lw_sim_create(model, &run, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    compared w = {.model = model};
    if (lw_sim_run(sim, LW_OBSERVE_ACCELERATION, compare_wrapped, &w, NULL, NULL) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    assert_true(w.rows > 3);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The ground of a subsystem is a body of the model: the same as with that body at the ground.
static void grounds_are_bodies(void **state)
{
    (void)state;
    static const char on_body[] =
        "linkwork: 1\n"
        "include: {s: {file: part.yaml, ground: base, mirror: y, position: [0.1, 0.2, 0.3], "
        "orientation: [0.8, 0.6, 0, 0]}}\n"
        "bodies: {base: {mass: 5, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0.5, 0.2], "
        "orientation: [0.6, 0, 0.8, 0]}}\n"
        "joints: {base: {type: fixed, between: [ground, base], at: [0, 0, 0]}}\n"
        "simulation: {integrator: rk4, step: 0.002, duration: 0.3}\n";
    static const char on_ground[] = "linkwork: 1\n"
                                    "include: {s: {file: part.yaml, mirror: y, position: [0.1, "
                                    "0.2, 0.3], orientation: [0.8, 0.6, 0, 0]}}\n"
                                    "simulation: {integrator: rk4, step: 0.002, duration: 0.3}\n";
    lw_model *model[2] = {lwt_read_main(on_body), lwt_read_main(on_ground)};
    double end[2][16][3] = {0};
    for (int i = 0; i < 2; i++) {
        lw_options options;
        lw_sim *sim;
        lw_error error = {0};
        lw_options_default(&options);
        assert_int_equal(lw_options_set(&options, "integrator", "rk4", NULL), LW_OK);
        options.step = 0.002, options.duration = 0.3;
        const lw_sim_desc run = {.options = &options};
        if (lw_sim_create(model[i], &run, &sim, &error) != LW_OK) fail_msg("%s", error.text);
        assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), LW_OK);
        const lw_observation *o;
        assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), LW_OK);
        const int first = 1 + (i == 0);
        for (int b = first; b < model[i]->nbody; b++)
            memcpy(end[i][b - first], o->position[b], sizeof end[i][0]);
        lw_sim_destroy(sim);
    }
    for (int b = 0; b < model[1]->nbody - 1; b++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(end[0][b][k] - end[1][b][k]) < 1e-11))
                fail_msg("body %d: %.17g, not %.17g", b, end[0][b][k], end[1][b][k]);
    lw_model_destroy(model[0]);
    lw_model_destroy(model[1]);
}

// ------------------------------------------------------------------------------ names, parameters

static const char rod[] =
    "linkwork: 1\n"
    "parameters: {l: {value: 500, unit: mm, min: 100}, k: 20 N/mm}\n"
    "inputs: [push]\n"
    "bodies: {rod: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], com: [l/2, 0, 0]}}\n"
    "joints: {hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], effort: {q0: push}}}\n"
    "forces: {s: {type: spring, between: [ground, rod], from: [0, 1, 0], to: [l, 0, 0], stiffness: "
    "k}}\n"
    "simulation: {duration: 77}\n"
    "gravity: [1, 2, 3]\n";

static void names_have_prefixes_and_parameters_values(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {size: 0.3 m}\n"
        "include:\n"
        "  one: {file: rod.yaml, parameters: {l: 2*size, k: 30}}\n"
        "  other: {file: rod.yaml, prefix: 'other_'}\n"
        "bodies: {bob: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.6, 0, 0]}}\n"
        "joints: {ball: {type: spherical, between: [one.rod, bob], at: [0.6, 0, 0]}}\n"
        "couplings: [{joint: other_hinge, coordinate: q0, of: one.hinge, with: q0, polynomial: [0, "
        "1]}]\n"
        "forces: {w: {type: wrench, body: other_rod, force: [0, 1, 0], scale: {type: formula, of: "
        "\"'one.hinge'.q0\"}}}\n";
    lwt_write_file("rod.yaml", rod);
    lw_model *m = lwt_read_main(text);
    static const char *const bodies[] = {"ground", "bob", "one.rod", "other_rod"};
    assert_int_equal(m->desc.nbody, 4);
    for (int i = 0; i < 4; i++) assert_string_equal(m->desc.body[i].name, bodies[i]);
    assert_string_equal(m->desc.input[0], "one.push");
    assert_string_equal(m->desc.input[1], "other_push");
    assert_true(m->desc.body[2].com.x == 0.3 && m->desc.body[3].com.x == 0.25);
    assert_true(lwi_spring_desc(&m->desc, 0)->stiffness == 30000);
    assert_true(lwi_spring_desc(&m->desc, 1)->stiffness == 20000);
    assert_true(m->desc.gravity[0] == 0); // of the main file
    assert_int_equal(m->desc.joint[1].coordinate[0].effort.index, -1);
    assert_int_equal(m->desc.joint[2].coordinate[0].effort.index, -2);
    assert_int_equal(lw_model_parameter_count(m), 1);
    const char *const set[] = {"size=1"};
    lw_model *other;
    lw_error error = {0};
    assert_int_equal(lw_model_remake(m, set, 1, NULL, &other, &error), LW_OK);
    assert_true(other->desc.body[2].com.x == 1);
    lw_model_destroy(other);
    lw_model_destroy(m);
}

// An expression of the including file without a unit is in the unit of the parameter, as a number is.
static void expressions_are_in_the_parameters_unit(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        double l;
    } cases[] = {{"350", 0.35},
                 {"300 + 50", 0.35},
                 {"n", 0.35},
                 {"2*n - 350", 0.35},
                 {"q", 0.35},
                 {"q + 50 mm", 0.4},
                 {"q + 0", 0.35},
                 {"\"max(q, 0)\"", 0.35},
                 {"q*(q/1 m + 1)", 0.4725},
                 {"3*q*2", 2.1}};
    lwt_write_file("rod.yaml", rod);
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "linkwork: 1\nparameters: {n: 350, q: 350 mm}\ninclude: {one: {file: rod.yaml, "
                 "parameters: {l: %s}}}\n",
                 cases[i].value);
        lw_model *m = lwt_read_main(text);
        if (fabs(m->desc.body[1].com.x - cases[i].l / 2) > 1e-15)
            fail_msg("%s: %.17g", cases[i].value, m->desc.body[1].com.x);
        lw_model_destroy(m);
    }
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *include, *message, *file;
        int line;
    } cases[] = {
        {"{file: nowhere.yaml}", "there is no file 'nowhere.yaml'", "main.yaml", 2},
        {"{file: ../part.yaml}", "there is no file '../part.yaml' in the folder", "main.yaml", 2},
        {"{file: main.yaml}", "there is no file", "main.yaml", 2},
        {"{file: self.yaml}", "self.yaml' includes itself", "./self.yaml", 2},
        {"{file: ping.yaml}", "ping.yaml' includes itself through others", "./pong.yaml", 2},
        {"{fiel: rod.yaml}", "include 's': unknown key 'fiel', did you mean 'file'?", "main.yaml",
         2},
        {"{position: [0, 0, 0]}", "key 'file' is missing", "main.yaml", 2},
        {"{file: rod.yaml, mirror: w}", "include 's': mirror: unknown word 'w'", "main.yaml", 2},
        {"{file: rod.yaml, ground: base}", "there is no body 'base'", "main.yaml", 2},
        {"{file: rod.yaml, ground: s.rod}",
         "include 's': ground: body 's.rod' is of the included file itself", "main.yaml", 2},
        {"{file: rod.yaml, ground: w.rod}, w: {file: rod.yaml}",
         "include 's': ground: body 'w.rod' is of a file included later", "main.yaml", 2},
        {"{file: rod.yaml, parameters: {l: 200 mm + 50}}",
         "'200 mm + 50' combines a quantity and a number without a unit, expected a unit for each, "
         "like `5 mm`",
         "./rod.yaml", 2},
        {"{file: rod.yaml, parameters: {ll: 1}}",
         "rod.yaml has no parameter 'll', did you mean 'l'?", "main.yaml", 2},
        {"{file: rod.yaml, parameters: {l: 50}}",
         "parameter 'l': is 50 mm, expected at least 100 mm", "./rod.yaml", 2},
        {"{file: rod.yaml, parameters: {l: 2 kg}}",
         "parameter 'l': '2 kg' is a mass [kg], expected a length [m]", "./rod.yaml", 2},
        {"{file: rod.yaml, parameters: {l: 2*3 kg}}",
         "parameter 'l': is set to a mass [kg], expected a length [m]", "./rod.yaml", 2},
        {"{file: rod.yaml, parameters: {l: 2*x}}", "unknown name 'x'", "main.yaml", 2},
        {"{file: bad.yaml}", "body 's.rod': mass: unknown name 'ma'", "./bad.yaml", 3},
        {"{file: chain.yaml}", "generate: not in a file that is included", "./chain.yaml", 2},
        {"{file: same.yaml, prefix: ''}", "expected", "main.yaml", 2},
    };
    lwt_write_file("rod.yaml", rod);
    lwt_write_file("bad.yaml", "linkwork: 1\nbodies:\n  rod: {mass: ma}\n");
    lwt_write_file("chain.yaml", "linkwork: 1\ngenerate: {chain: {n: 3}}\n");
    lwt_write_file("self.yaml", "linkwork: 1\ninclude: {s: {file: self.yaml}}\n");
    lwt_write_file("ping.yaml", "linkwork: 1\ninclude: {s: {file: pong.yaml}}\n");
    lwt_write_file("pong.yaml", "linkwork: 1\ninclude: {s: {file: ping.yaml}}\n");
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        char text[256];
        lw_model *model;
        lw_error error = {0};
        snprintf(text, sizeof text, "linkwork: 1\ninclude: {s: %s}\n", cases[i].include);
        assert_int_not_equal(lwt_parse_main(text, &model, &error), LW_OK);
        if (!strstr(error.text, cases[i].message) || strcmp(error.file, cases[i].file) != 0 ||
            error.line != cases[i].line)
            fail_msg("%s: %s:%d: '%s'", cases[i].include, error.file, error.line, error.text);
    }
    lw_model *model;
    lw_error error = {0};
    assert_int_not_equal(
        lwt_parse_main("linkwork: 1\ninclude: {a: {file: rod.yaml, prefix: l}, b: {file: "
                       "rod.yaml, prefix: left}}\n",
                       &model, &error),
        LW_OK);
    assert_non_null(strstr(error.text, "the prefixes 'l' and 'left' begin alike"));
    const lw_read_desc alone = {.format = "yaml"};
    const char *text = "linkwork: 1\ninclude: {a: {file: rod.yaml}}\n";
    assert_int_equal(lw_model_parse(text, strlen(text), "m", &alone, &model, NULL, &error),
                     LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "the folder of this model is not known"));
}

// Files that include two others each, and so on: limited in depth and number.
static void hostile_trees_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char name[32], text[160];
        snprintf(name, sizeof name, "deep%d.yaml", i);
        snprintf(text, sizeof text,
                 "linkwork: 1\ninclude: {a: {file: deep%d.yaml}, b: {file: deep%d.yaml}}\n", i + 1,
                 i + 1);
        lwt_write_file(name, i < 14 ? text : rod);
    }
    lw_model *model;
    lw_error error = {0};
    assert_int_not_equal(
        lwt_parse_main("linkwork: 1\ninclude: {a: {file: deep0.yaml}}\n", &model, &error), LW_OK);
    assert_non_null(strstr(error.text, "more than 1000 files are included"));
    for (int i = 0; i < 20; i++) {
        char name[32], text[160];
        snprintf(name, sizeof name, "deep%d.yaml", i);
        snprintf(text, sizeof text, "linkwork: 1\ninclude: {a: {file: deep%d.yaml}}\n", i + 1);
        lwt_write_file(name, i < 19 ? text : rod);
    }
    assert_int_not_equal(
        lwt_parse_main("linkwork: 1\ninclude: {a: {file: deep0.yaml}}\n", &model, &error), LW_OK);
    assert_non_null(strstr(error.text, "more than 16 files inside each other"));
}

// Signals of mirrored files get the prefix in all their names and are the mirror image; formulas of the file that includes
// them may name them.
static void signals_of_included_files_have_prefixes(void **state)
{
    (void)state;
    static const char leg[] =
        "linkwork: 1\n"
        "parameters: {k: 30}\n"
        "signals:\n"
        "  push: -k*hip.q0 - 2*spring.wire.rate\n"
        "  law: {type: curve, of: push + joint.hip.qd0, x: [-1, 1], y: [-2, 2]}\n"
        "bodies: {thigh: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0], com: [0, 0, -0.2], position: "
        "[0, "
        "0.2, 0]}}\n"
        "joints: {hip: {type: revolute, between: [ground, thigh], at: [0, 0.2, 0], axis: [1, 0, "
        "0], qd: "
        "[0.3], effort: {q0: law}}}\n"
        "forces:\n"
        "  wire: {type: spring, between: [ground, thigh], from: [0, 0.5, 0], to: [0, 0.2, -0.4]}\n"
        "  side: {type: wrench, body: thigh, point: [0, 0, -0.1], force_of: [0, push, law]}\n"
        "markers: {foot: {body: thigh, position: [0, 0, -0.4]}}\n";
    lwt_write_file("leg.yaml", leg);
    lw_model *m =
        lwt_read_main("linkwork: 1\n"
                      "include: {left: {file: leg.yaml}, right: {file: leg.yaml, mirror: y}}\n"
                      "signals: {gap: \"distance('left.foot', 'right.foot') + 0*'left.law'\"}\n");
    lw_sim *sim;
    lw_error error = {0};
    const lw_observation *o;
    assert_int_equal(lw_sim_create(m, NULL, &sim, &error), LW_OK);
    assert_int_equal(lw_sim_step(sim, 0.4), LW_OK);
    assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_MOMENTUM, &o), LW_OK);
    double value[5];
    for (int i = 0, n = 0; i < lw_model_output_count(m); i++)
        if (!strcmp(lw_model_output(m, i).kind, "signal")) value[n++] = o->output[i];
    assert_true(fabs(value[0]) > 0.01);
    assert_true(fabs(value[0] - value[2]) < 1e-12 && fabs(value[1] - value[3]) < 1e-12);
    assert_true(fabs(o->q[0] - o->q[1]) < 1e-14 && fabs(o->q[0]) > 1e-3);
    assert_true(fabs(o->position[1][1] + o->position[2][1]) < 1e-14);
    assert_true(fabs(value[4] - 2 * (0.2 + 0.4 * sin(o->q[0]))) < 1e-12);
    lw_sim_destroy(sim);
    lw_model_destroy(m);

    lwt_write_file(
        "axes.yaml",
        "linkwork: 1\nsignals: {s: marker.foot.z}\nbodies: {thigh: {mass: 1, inertia: [1, 1, "
        "1, 0, 0, 0]}}\nmarkers: {foot: {body: thigh}}\n");
    assert_int_not_equal(
        lwt_parse_main("linkwork: 1\ninclude: {a: {file: axes.yaml, mirror: y}}\n", &m, &error),
        LW_OK);
    assert_non_null(strstr(error.text, "signal 's': marker.foot.z is in axes of the world"));
    m = lwt_read_main("linkwork: 1\ninclude: {a: {file: axes.yaml}}\n");
    lw_model_destroy(m);
}

// Measures of an included file are of its items, with parts of names in quotes; those of the file itself may use them.
static void measures_of_included_files(void **state)
{
    (void)state;
    static const char strut[] =
        "linkwork: 1\n"
        "bodies: {arm: {mass: 2, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [0.5, 0, 0]}}\n"
        "joints: {'A b': {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, "
        "0]}}\n"
        "forces: {strut: {type: spring, between: [ground, arm], from: [0.8, 0, 1], to: [0.8, 0, "
        "0],\n"
        "                 stiffness: 400, length: 1}}\n"
        "markers: {'my tip': {body: arm, position: [0.5, 0, 0]}}\n"
        "measures:\n"
        "  load: hypot(joint.'A b'.fx, joint.'A b'.fz)\n"
        "  swing: {of: 1.5e0*'A b'.q0, unit: deg}\n"
        "  there: joint.'A b'.fx@'my tip' + 'joint.A b.fx@F1'\n"
        "  share: measure.load/(20 N + abs(spring.strut.force)) + sys.T/1 J + marker.'my tip'.z/1 "
        "m\n";
    lwt_write_file("strut.yaml", strut);
    lw_model *one = lwt_read_main(strut);
    lw_model *both =
        lwt_read_main("linkwork: 1\n"
                      "include:\n"
                      "  left: {file: strut.yaml}\n"
                      "  it's: {file: strut.yaml, position: [0, 2, 0]}\n"
                      "measures: {most: \"max(measure.left.load, 'measure.it''s.load')\"}\n");
    remove("strut.yaml");
    lw_measures *a, *b;
    lw_error error;
    if (lw_measures_create(one, &a, &error) != LW_OK) fail_msg("%s", error.text);
    if (lw_measures_create(both, &b, &error) != LW_OK) fail_msg("%s", error.text);
    lw_model *const models[] = {one, both};
    lw_measures *const measures[] = {a, b};
    for (int k = 0; k < 2; k++) {
        lw_sim *sim;
        const lw_observation *o;
        lw_options options;
        lw_options_default(&options);
        assert_int_equal(lw_options_set(&options, "formulation", "aba", &error), LW_OK);
        assert_int_equal(lw_options_set(&options, "integrator", "rk4", &error), LW_OK);
        assert_int_equal(lw_options_set(&options, "step", "0.01", &error), LW_OK);
        assert_int_equal(
            lw_sim_create(models[k], &(lw_sim_desc){.options = &options}, &sim, &error), LW_OK);
        assert_int_equal(lw_sim_step(sim, 0.5), LW_OK);
        assert_int_equal(lw_sim_observe(sim, lw_measures_level(measures[k]), &o), LW_OK);
        assert_int_equal(lw_measures_row(measures[k], o), LW_OK);
        lw_sim_destroy(sim);
    }
    assert_int_equal(lw_model_measure_count(both), 9);
    for (int i = 0; i < 3; i++) // not share, which has the energy of all
        for (int side = 0; side < 2; side++) {
            const double x = lw_measures_statistics(a, i).last,
                         y = lw_measures_statistics(b, 4 * side + i).last;
            assert_true(fabs(x - y) <= 1e-9 * (1 + fabs(x)) && x != 0);
        }
    assert_true(fabs(lw_measures_statistics(b, 8).last - lw_measures_statistics(a, 0).last) < 1e-9);
    lw_measures_destroy(a);
    lw_measures_destroy(b);
    lw_model_destroy(one);
    lw_model_destroy(both);
}

// Measures of coordinates of a mirrored file are those of the file, and know its parameters; events read them.
static void measures_of_mirror_images_are_the_same(void **state)
{
    (void)state;
    static const char leg[] =
        "linkwork: 1\n"
        "parameters: {big: 0.2 rad, m: 3}\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [0.01, 0.02, 0.03, 0, 0, 0], position: [0, 1, 0], com: [0.3, 0.4, "
        "-1]}\n"
        "  b: {mass: 1, inertia: [0.01, 0.02, 0.03, 0, 0, 0], position: [0, 3, 0], com: [0.3, 0.4, "
        "-1]}\n"
        "joints:\n"
        "  U: {type: universal, between: [ground, a], at: [0, 1, 0], axis: [1, 0, 0], axis2: [0, "
        "1, "
        "0], q: [0.5, 0.2]}\n"
        "  C: {type: cylindrical, between: [ground, b], at: [0, 3, 0], axis: [0, 1, 0.3], q: [0.1, "
        "0.2]}\n"
        "measures:\n"
        "  u0: joint.U.q0 - big + 0*m*1 rad\n"
        "  u1: U.qd1\n"
        "  c0: joint.C.qdd0/(2 m)\n"
        "  c1: C.qd1\n";
    lwt_write_file("mirror.yaml", leg);
    lw_model *both =
        lwt_read_main("linkwork: 1\n"
                      "include:\n"
                      "  left: {file: mirror.yaml}\n"
                      "  right: {file: mirror.yaml, mirror: y}\n"
                      "events: {e: {when: \"'right.c1' > 0.1 rad/s and measure.left.u0 < "
                      "1\", stop: true}}\n");
    remove("mirror.yaml");
    lw_measures *b;
    lw_sim *sim;
    lw_error error = {0};
    const lw_observation *o;
    lw_options options;
    lw_options_default(&options);
    options.rtol = options.atol = 1e-11;
    if (lw_measures_create(both, &b, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(lw_sim_create(both, &(lw_sim_desc){.options = &options}, &sim, &error), LW_OK);
    assert_int_equal(lw_sim_step(sim, 0.5), LW_OK);
    assert_int_equal(lw_sim_stopped(sim), 0);
    assert_int_equal(lw_sim_observe(sim, lw_measures_level(b), &o), LW_OK);
    assert_int_equal(lw_measures_row(b, o), LW_OK);
    for (int i = 0; i < 4; i++) {
        const double x = lw_measures_statistics(b, i).last,
                     y = lw_measures_statistics(b, 4 + i).last;
        if (!(fabs(x - y) < 1e-9 && fabs(x) > 1e-4)) fail_msg("%d: %.17g, %.17g", i, x, y);
    }
    assert_true(fabs(lw_measures_statistics(b, 7).last - 0.1) < 1e-9);
    assert_true(fabs(lw_measures_statistics(b, 0).last - (o->q[0] - 0.2)) < 1e-14);
    lw_sim_destroy(sim);
    lw_measures_destroy(b);
    lw_model_destroy(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_of_mirror_images_are_the_same),
        cmocka_unit_test(measures_of_included_files),
        cmocka_unit_test(mirror_images_move_as_such),
        cmocka_unit_test(formulas_read_joints_of_included_files),
        cmocka_unit_test(grounds_are_bodies),
        cmocka_unit_test(names_have_prefixes_and_parameters_values),
        cmocka_unit_test(expressions_are_in_the_parameters_unit),
        cmocka_unit_test(signals_of_included_files_have_prefixes),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(hostile_trees_are_refused),
    };
    return cmocka_run_group_tests(tests, lwt_scratch_enter, lwt_scratch_leave);
}
