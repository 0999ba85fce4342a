// test_yaml.c -- reading the native file: every key, every form.
#include "io/document.h"
#include "io/yaml/keys.h"
#include "io/same_model.h"
#include "io/text.h"
#include "model/model.h"
#include "support/failing.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const lw_read_desc yaml = {.format = "yaml"};

static lw_model *read_with(const char *text, lw_options *options)
{
    lw_model *model = NULL;
    lw_error error;
    if (lw_model_parse(text, strlen(text), "m.yaml", &yaml, &model, options, &error) != LW_OK)
        fail_msg("%s:%d:%d: %s", error.file, error.line, error.column, error.text);
    return model;
}

static lw_model *read_model(const char *text)
{
    return read_with(text, NULL);
}

static void refuse(const char *text, lw_status status, const char *part)
{
    lw_model *model = NULL;
    lw_error error;
    assert_int_equal(status,
                     lw_model_parse(text, strlen(text), "m.yaml", &yaml, &model, NULL, &error));
    assert_null(model);
    if (!strstr(error.text, part)) fail_msg("'%s' does not say '%s'", error.text, part);
}

static void is3(lw_vec3 v, double x, double y, double z)
{
    assert_true(v.x == x && v.y == y && v.z == z);
}

static const lw_function_desc *function_of(const lw_model *m, lw_signal s)
{
    assert_true(s.index > 0 && s.index <= m->desc.nfunction);
    return &m->desc.function[s.index - 1];
}

#define BODY "{mass: 1, inertia: [1, 1, 1, 0, 0, 0]}"

// -------------------------------------------------------------------------------------- every key

static void bodies_are_read(void **state)
{
    (void)state;
    lw_model *m = read_model("linkwork: 1\n"
                             "gravity: [1, 2, -3e0]\n"
                             "bodies:\n"
                             "  a:\n"
                             "    mass: 2.5\n"
                             "    inertia: [3, 4, 5, 0.1, 0.2, 0.3]\n"
                             "    com: [0.1, 0.2, 0.3]\n"
                             "    inertia_axes: [0.6, 0, 0.8, 0]\n"
                             "    position: [1, 2, 3]\n"
                             "    orientation: [0, 1, 0, 0]\n"
                             "    velocity: [7, 8, 9]\n"
                             "    angular_velocity: [4, 5, 6]\n"
                             "    shape: {box: [1, 2, 3]}\n"
                             "  thin: {mass: 1, inertia: [1, 1, 3, 0, 0, 0], inertia_check: warn, "
                             "shape: {sphere: 0.5}}\n"
                             "  tube: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], inertia_check: error, "
                             "shape: [{cylinder: [1, 2]}, {ellipsoid: [1, 2, 3], position: [3, 4, "
                             "5], color: [1, 0.5, 0.25]}]}\n");
    const lw_body_desc *a = &m->desc.body[1], *thin = &m->desc.body[2], *tube = &m->desc.body[3];
    const double inertia[] = {3, 4, 5, 0.1, 0.2, 0.3};
    assert_true(m->desc.gravity[0] == 1 && m->desc.gravity[1] == 2 && m->desc.gravity[2] == -3);
    assert_string_equal("a", a->name);
    assert_true(a->mass == 2.5);
    assert_memory_equal(inertia, a->inertia, sizeof inertia);
    is3(a->com, 0.1, 0.2, 0.3);
    assert_true(a->inertia_axes.w == 0.6 && a->inertia_axes.y == 0.8);
    is3(a->pose.position, 1, 2, 3);
    assert_true(a->pose.orientation.x == 1 && a->pose.orientation.w == 0);
    assert_true(a->has_velocity);
    is3(a->velocity, 7, 8, 9);
    is3(a->angular_velocity, 4, 5, 6);
    assert_true(a->nshape == 1 && a->shapes->type == LW_SHAPE_BOX && !a->shapes->has_position);
    assert_true(a->shapes->size[0] == 1 && a->shapes->size[1] == 2 && a->shapes->size[2] == 3);
    assert_int_equal(4, a->place.line);
    assert_int_equal(3, a->place.column);
    assert_true(thin->inertia_check == LW_INERTIA_WARN && !thin->has_velocity &&
                !tube->inertia_check);
    assert_int_equal(1, lw_model_warning_count(m));
    assert_non_null(strstr(lw_model_warning(m, 0), "m.yaml:14:3: body 'thin'"));
    assert_true(thin->shapes->type == LW_SHAPE_SPHERE && thin->shapes->size[0] == 0.5);
    assert_int_equal(2, tube->nshape);
    assert_true(tube->shapes[0].type == LW_SHAPE_CYLINDER && tube->shapes[0].size[1] == 2);
    assert_true(tube->shapes[1].type == LW_SHAPE_ELLIPSOID && tube->shapes[1].position.y == 4);
    assert_true(tube->shapes[1].color[2] == 0.25 && tube->shapes[1].color[3] == 1);
    lw_model_destroy(m);
}

static const char mechanism[] =
    "linkwork: 1\n"
    "functions:\n"
    "  wave: {type: sum, terms: [slow, {type: sine, amplitude: 0.3, omega: 3, phase: 1, offset: "
    "2}, 4]}\n"
    "  slow: {type: polynomial, coefficients: [0, 1, 0.8]}\n"
    "  five: 5\n"
    "inputs: [motor, wind]\n"
    "bodies:\n"
    "  a: " BODY "\n"
    "  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0]}\n"
    "  c: " BODY "\n"
    "joints:\n"
    "  J1: {type: cylindrical, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 2],\n"
    "       q: [0, 0.1], qd: [0.2, 0.4], cut: never,\n"
    "       spring: {q0: {stiffness: 100, damping: 1, at: 0.5, force: slow}, q1: {damping: 2}},\n"
    "       effort: {q1: motor}}\n"
    "  J2: {type: spherical, between: [a, b], frame1: {position: [1, 0, 0]},\n"
    "       frame2: {orientation: [0, 0, 0, 1]}, spring: {all: {damping: 0.05},\n"
    "       q1: {force: {type: ramp, rate: 0.1, from: 1}}}}\n"
    "  J3: {type: revolute, between: [b, c], at: [0, 1, 0], axis: [1, 0, 0], axis2: [0, 0, 1],\n"
    "       motion: {q0: {type: step, to: 1, start: 1, end: 2}},\n"
    "       mount: {shift: [0, 0, {type: sine, amplitude: 0.1, omega: 2}], turn: {type: table, t: "
    "[0, 1, 2],\n"
    "               y: [0, 1, 0]}, about: [0, 1, 0]}}\n"
    "couplings:\n"
    "  - {joint: J1, coordinate: q1, of: J1, with: q0, polynomial: [0.1, 2]}\n"
    "forces:\n"
    "  s: {type: spring, between: [c, ground], point1: [1, 2, 3], to: [4, 5, 6], stiffness: 7, "
    "damping: 8,\n"
    "      length: 9, force: five}\n"
    "  w: {type: wrench, body: c, at: [1, 2, 3], force: [4, 5, 6], torque: [7, 8, 9], axes: body,\n"
    "      scale: wind}\n"
    "  z: {type: wrench, body: c, scale: 0}\n"
    "markers:\n"
    "  tip: {body: c, position: [1, 2, 3], orientation: [0, 1, 0, 0]}\n"
    "simulation: {duration: 2.5, formulation: dense, integrator: rk4, rtol: 1e-7, atol: 1e-8, "
    "step: 0.01,\n"
    "             sample: steps, atol_p: 0.1}\n";

static void joints_are_read(void **state)
{
    (void)state;
    lw_model *m = read_model(mechanism);
    assert_int_equal(3, lw_model_joint_count(m));
    const lw_joint_desc *j1 = &m->desc.joint[0], *j2 = &m->desc.joint[1], *j3 = &m->desc.joint[2];
    assert_int_equal(LW_JOINT_CYLINDRICAL, j1->type);
    assert_true(j1->body1.index == 0 && j1->body2.index == 1 && j1->cut == LW_CUT_NEVER);
    assert_true(j1->has_q && j1->q[0] == 0 && j1->q[1] == 0.1);
    assert_true(j1->has_qd && j1->qd[0] == 0.2 && j1->qd[1] == 0.4);
    assert_true(j1->coordinate[0].stiffness == 100 && j1->coordinate[0].damping == 1);
    assert_true(j1->coordinate[0].at == 0.5 && j1->coordinate[1].damping == 2);
    assert_string_equal("slow", function_of(m, j1->coordinate[0].force)->name);
    assert_int_equal(-1, j1->coordinate[1].effort.index);
    assert_int_equal(LW_JOINT_SPHERICAL, j2->type);
    is3(j2->frame1.position, 1, 0, 0);
    assert_true(j2->frame1.orientation.w == 1 && j2->frame2.orientation.z == 1);
    assert_true(j2->damping == 0.05);
    const lw_function_desc *step = function_of(m, j3->coordinate[0].motion);
    assert_true(step->type == LW_FUNCTION_STEP && step->from == 0 && step->to == 1);
    assert_true(step->start == 1 && step->end == 2);
    assert_true(j3->mount_shift[0].index == 0 && j3->mount_shift[1].index == 0);
    assert_int_equal(LW_FUNCTION_SINE, function_of(m, j3->mount_shift[2])->type);
    const lw_function_desc *ramp = function_of(m, j2->coordinate[1].force);
    assert_true(ramp->type == LW_FUNCTION_RAMP && ramp->rate == 0.1 && ramp->from == 1);
    const lw_function_desc *table = function_of(m, j3->mount_turn);
    assert_true(table->type == LW_FUNCTION_TABLE && table->npoint == 3 && table->y[1] == 1);
    is3(j3->mount_about, 0, 1, 0);
    assert_int_equal(19, j3->place.line);
    lw_model_destroy(m);
}

static void functions_forces_and_other_items_are_read(void **state)
{
    (void)state;
    lw_options options;
    lw_options_default(&options);
    lw_model *m = read_with(mechanism, &options);
    const lw_function_desc *wave = NULL;
    for (int i = 0; i < m->desc.nfunction; i++)
        if (m->desc.function[i].name && strcmp(m->desc.function[i].name, "wave") == 0)
            wave = &m->desc.function[i];
    assert_non_null(wave);
    assert_int_equal(3, wave->nterm);
    assert_string_equal("slow", function_of(m, wave->terms[0])->name);
    assert_true(function_of(m, wave->terms[0])->coefficients[2] == 0.8);
    const lw_function_desc *sine = function_of(m, wave->terms[1]);
    assert_true(sine->amplitude == 0.3 && sine->omega == 3 && sine->phase == 1 &&
                sine->offset == 2);
    assert_true(function_of(m, wave->terms[2])->value == 4);
    assert_string_equal("motor", lw_model_input_name(m, 0));
    assert_string_equal("wind", lw_model_input_name(m, 1));
    const lw_coupling_desc *coupling = &m->desc.coupling[0];
    assert_true(coupling->joint.index == 0 && coupling->coordinate == 1 && coupling->of.index == 0);
    assert_true(coupling->with == 0 && coupling->npolynomial == 2 && coupling->polynomial[1] == 2);
    const lw_spring_desc *s = lwi_spring_desc(&m->desc, 0);
    is3(s->point1, 1, 2, 3);
    is3(s->point2, 4, 5, 6);
    assert_true(s->stiffness == 7 && s->damping == 8 && s->length == 9);
    assert_true(s->body1.index == 3 && s->body2.index == 0 && function_of(m, s->force)->value == 5);
    const lw_wrench_desc *w = lwi_wrench_desc(&m->desc, 0);
    is3(w->point, 1, 2, 3);
    is3(w->force, 4, 5, 6);
    is3(w->torque, 7, 8, 9);
    assert_true(w->body_axes == 1 && w->scale.index == -2 && w->body.index == 3);
    // a scale of 0 is a constant, not the default of 1
    assert_true(function_of(m, lwi_wrench_desc(&m->desc, 1)->scale)->value == 0);
    const lw_marker_desc *tip = &m->desc.marker[0];
    assert_true(tip->body.index == 3 && tip->pose.orientation.x == 1);
    is3(tip->pose.position, 1, 2, 3);
    assert_true(options.duration == 2.5 && options.rtol == 1e-7 && options.step == 0.01);
    assert_true(options.atol == 1e-8 && options.atol_p == 0.1);
    assert_string_equal("dense", options.formulation);
    assert_string_equal("rk4", options.integrator);
    assert_true(options.sample == LW_SAMPLE_STEPS);
    lw_model_destroy(m);
}

static void distance_joints_and_pitch_are_read(void **state)
{
    (void)state;
    lw_model *m = read_model(
        "linkwork: 1\n"
        "bodies: {a: " BODY ", b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, 3]}}\n"
        "joints:\n"
        "  d: {type: distance, between: [ground, a], point1: [3, 0, 0], point2: [0, 0, 0], length: "
        "3}\n"
        "  e: {type: distance, between: [ground, a], frame1: {position: [0, 4, 0]}, frame2: {}}\n"
        "  f: {type: distance, between: [ground, a], point1: [0, 0, 5], point2: [0, 0, 0],\n"
        "      length: {type: polynomial, coefficients: [5]}}\n"
        "  s: {type: screw, between: [ground, b], at: [0, 0, 0], pitch: 0.01}\n");
    const lw_joint_desc *j = m->desc.joint;
    is3(j[0].frame1.position, 3, 0, 0);
    assert_true(j[0].length == 3 && j[0].length_of.index == 0);
    assert_true(j[1].frame1.position.y == 4 && j[1].length == 0);
    assert_int_equal(LW_FUNCTION_POLYNOMIAL, function_of(m, j[2].length_of)->type);
    assert_true(j[3].pitch == 0.01);
    lw_model_destroy(m);
}

// ------------------------------------------------------------------------------------ equal forms

static void expect_same(const char *one, const char *other)
{
    char why[160];
    lw_model *a = read_model(one), *b = read_model(other);
    if (!lwt_same_model(a, b, why)) fail_msg("%s differs in\n%s\n%s", why, one, other);
    lw_model_destroy(a);
    lw_model_destroy(b);
}

static void json_is_read(void **state)
{
    (void)state;
    expect_same(
        "linkwork: 1\nbodies: {a: " BODY "}\njoints:\n"
        "  j: {type: revolute, between: [ground, a], at: [0, 0, 1], axis: [0, 1, 0],\n"
        "      effort: {q0: {type: constant, value: -1.5e-3}}}\n",
        "{\"linkwork\":1,\"bodies\":{\"a\":{\"mass\":1,\"inertia\":[1,1,1,0,0,0]}},\r\n"
        "\t\"joints\":\t{\"\\u006a\" : {\"type\":\"revolute\",\"between\":[\"ground\",\"a\"],\n"
        "\t\t\"at\":[0,0,1],\"axis\":[0,1,0],\n"
        "\t\t\"effort\":{\"q0\":{\"type\":\"constant\",\"value\":-1.5E-3}}}}}\n");
}

static void surrogate_pairs_of_json_are_characters(void **state)
{
    (void)state;
    lw_model *m =
        read_model("{\"linkwork\": 1, \"bodies\": {\"\\ud83d\\uDE00 \\\\ud83d\\\\ude00\": " BODY
                   ", \"\\u00e4\": " BODY "}}");
    assert_string_equal("\xf0\x9f\x98\x80 \\ud83d\\ude00", m->desc.body[1].name);
    assert_string_equal("\xc3\xa4", m->desc.body[2].name);
    lw_model_destroy(m);
    m = read_model("linkwork: 1\nbodies: {'\\ud83d\\ude00': " BODY "}\n"); // no escape here
    assert_string_equal("\\ud83d\\ude00", m->desc.body[1].name);
    lw_model_destroy(m);
    static const char *const halves[] = {"\\ud83d", "\\ude00", "\\ud83d\\ud83d", "\\ud83d\\u00",
                                         "\\ude00\\ud83d"};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        char text[100];
        snprintf(text, sizeof text, "linkwork: 1\nbodies: {\"%s\": " BODY "}\n", halves[i]);
        refuse(text, LW_ERR_PARSE, "while parsing a quoted scalar");
    }
}

static void settings_have_either_hyphen_or_underscore(void **state)
{
    (void)state;
    lw_options options;
    lw_options_default(&options);
    lw_model_destroy(
        read_with("linkwork: 1\nbodies: {a: " BODY "}\n"
                  "simulation: {sample-mode: interpolate, max-steps: 7, atol_p: 1e-3}\n",
                  &options));
    assert_int_equal(LW_SAMPLE_INTERPOLATE, options.sample_mode);
    assert_true(options.max_steps == 7 && options.atol_p == 1e-3);
    lw_model_destroy(read_with("linkwork: 1\nbodies: {a: " BODY "}\n"
                               "simulation: {index3: {tangent: 1, penalty: 1e9, newton: full}}\n",
                               &options));
    char text[LW_OPTION_STRING_SIZE];
    assert_int_equal(LW_OK, lw_options_get(&options, "index3", text, sizeof text));
    assert_string_equal("penalty=1000000000,tangent=1", text); // values other than the defaults
    refuse("linkwork: 1\nbodies: {a: " BODY "}\nsimulation: {index3: {tangnet: 1}}\n", LW_ERR_PARSE,
           "tangent");
    refuse("linkwork: 1\nbodies: {a: " BODY "}\nsimulation: {index3: {tangent: [1]}}\n",
           LW_ERR_PARSE, "a word or a number");
    refuse("linkwork: 1\nbodies: {a: " BODY "}\nsimulation: {index3: {tangent: '1,stop=x'}}\n",
           LW_ERR_PARSE, "separate pairs");
    refuse("linkwork: 1\nbodies: {a: " BODY "}\nsimulation: {index3: {tangent: '1'}}\n",
           LW_ERR_PARSE, "a word or a number");
    refuse("linkwork: 1\nbodies: {a: " BODY "}\nsimulation: {max-steps: 7, max_steps: 8}\n",
           LW_ERR_PARSE, "'max-steps' and 'max_steps' are the same key");
    refuse("linkwork: 1\nbodies: {a-a: " BODY "}\nsimulation: {max+steps: 7}\n", LW_ERR_PARSE,
           "unknown key 'max+steps'");
}

static void aliases_have_the_value_of_their_anchor(void **state)
{
    (void)state;
    expect_same("linkwork: 1\nbodies: {a: &b " BODY
                ", c: *b}\nmarkers: {m: {body: c, position: [1, 2, 3]}}\n",
                "linkwork: 1\nbodies: {a: " BODY ", c: " BODY "}\n"
                "markers: {m: {body: c, position: [1, 2, 3]}}\n");
}

// Bodies may be placed relative to later bodies; poses multiply.
static void poses_in_other_bodies_are_resolved(void **state)
{
    (void)state;
    lw_model *m = read_model(
        "linkwork: 1\n"
        "bodies:\n"
        "  c: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], in: b, position: [1, 0, 0]}\n"
        "  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], in: a, position: [0, 1, 0], orientation: [0, "
        "0, 0, 1]}\n"
        "  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], in: world, position: [0, 0, 1]}\n"
        "  d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], in: ground, position: [5, 0, 0]}\n");
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) assert_string_equal(names[i], m->desc.body[i + 1].name);
    is3(m->desc.body[2].pose.position, 0, 1, 1);
    is3(m->desc.body[3].pose.position, -1, 1, 1); // x of b is -x of the world
    assert_true(m->desc.body[3].pose.orientation.z == 1);
    is3(m->desc.body[4].pose.position, 5, 0, 0);
    lw_model_destroy(m);
}

static void mechanism_round_trips(void **state)
{
    (void)state;
    size_t length;
    lw_options options;
    lw_options_default(&options);
    lw_model *m = read_with(mechanism, &options);
    char *text = lwt_written(m, &options, &length);
    assert_non_null(text);
    expect_same(mechanism, text);
    free(text);
    lw_model_destroy(m);
}

// --------------------------------------------------------------------------------- numbers, limits

static void numbers_are_those_of_json(void **state)
{
    (void)state;
    static const char *const good[] = {"0",   "-0",   "1",       "10",    "0.5",
                                       "1e3", "1E+3", "1.5e-30", "5e-324"};
    static const char *const bad[] = {"",    "+1",    ".5",  "1.",   "01",   "0x10",
                                      "0o7", "1_000", "1e",  ".inf", ".nan", "inf",
                                      "nan", "-",     "1 2", "1e+",  "0b1",  "1:30"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(lwi_text_is_number(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[80];
        assert_false(lwi_text_is_number(bad[i]));
        snprintf(text, sizeof text, "linkwork: 1\nbodies: {a: {mass: %s}}\n", bad[i]);
        lw_model *model;
        assert_int_equal(LW_ERR_PARSE,
                         lw_model_parse(text, strlen(text), "m", &yaml, &model, NULL, NULL));
    }
    refuse("linkwork: 1\nbodies: {a: {mass: \"1\"}}\n", LW_ERR_PARSE, "found the string '1'");
    refuse("linkwork: 1\nbodies: {a: {mass: 1e999}}\n", LW_ERR_PARSE, "below 1.8e308");
    refuse("linkwork: 1\nbodies: {a: {mass: 1e-400}}\n", LW_ERR_PARSE, "at least 4.9e-324");
    refuse("linkwork: 1\nbodies: {a: {mass: -0.0001e-400}}\n", LW_ERR_PARSE, "at least 4.9e-324");
    refuse("linkwork: 1\nbodies: {a: {mass: 1e-400 kg}}\n", LW_ERR_PARSE, "at least 4.9e-324");
}

// A program that writes decimal commas reads and writes the same files.
static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    size_t length;
    lw_model *m =
        read_model("linkwork: 1\nbodies: {a: {mass: 2.5, inertia: [1, 1, 1, 0, 0, 0]}}\n");
    assert_true(m->desc.body[1].mass == 2.5);
    char *text = lwt_written(m, NULL, &length);
    assert_non_null(strstr(text, "mass: 2.5\n"));
    free(text);
    lw_model_destroy(m);
    setlocale(LC_ALL, "C");
}

// A drive that moves at the start where the others are stated to be at rest is named.
static void a_drive_with_a_speed_is_named(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "bodies:\n"
        "  crank: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], com: [0, 0, 0.1]}\n"
        "  coupler: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, 0.2]}\n"
        "  rocker: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.4, 0, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0],\n"
        "      motion: {q0: {type: polynomial, coefficients: [0, 10]}}}\n"
        "  B: {type: revolute, between: [crank, coupler], at: [0, 0, 0.2], axis: [0, 1, 0], qd: "
        "[0]}\n"
        "  C: {type: spherical, between: [coupler, rocker], at: [0.4, 0, 0.2]}\n"
        "  D: {type: revolute, between: [ground, rocker], at: [0.4, 0, 0], axis: [0, 1, 0], qd: "
        "[0]}\n";
    refuse(text, LW_ERR_MODEL,
           "the motion of joint 'A' starts with qd0 = 10: leave out the speeds");
}

// A loop that cannot move: the message names the drive, and no given speed.
static void a_drive_of_a_loop_without_mobility_is_named(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0.5, 0, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, a], at: [0, 0, 0],\n"
        "      motion: {q0: {type: polynomial, coefficients: [0, 2]}}}\n"
        "  C: {type: revolute, between: [a, ground], at: [1, 0, 0]}\n";
    refuse(text, LW_ERR_MODEL,
           "joint 'C' closes a loop that the initial velocities break by 2 m/s and 0 rad/s; "
           "expected velocities that keep every loop closed; the motion of joint 'A' starts with "
           "qd0 = 2, which the others cannot follow: start it at rest, or free a joint");
}

static char *repeated(const char *before, const char *part, int count, const char *after)
{
    const size_t size = strlen(before) + strlen(after) + (size_t)count * strlen(part) + 1;
    char *text = malloc(size), *p = text;
    assert_non_null(text);
    p += sprintf(p, "%s", before);
    for (int i = 0; i < count; i++) p += sprintf(p, "%s", part);
    sprintf(p, "%s", after);
    return text;
}

static void hostile_documents_are_refused(void **state)
{
    (void)state;
    char *deep = repeated("linkwork: 1\nbodies: ", "[", 5000, "");
    refuse(deep, LW_ERR_PARSE, "more than 64 maps and lists inside each other");
    free(deep);
    char bomb[1024] = "linkwork: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; i++) {
        char line[80];
        snprintf(line, sizeof line, "a%d: &a%d [", i, i);
        strcat(bomb, line);
        for (int k = 0; k < 10; k++) {
            snprintf(line, sizeof line, "%s*a%d", k ? ", " : "", i - 1);
            strcat(bomb, line);
        }
        strcat(bomb, "]\n");
    }
    refuse(bomb, LW_ERR_PARSE, "an alias counts as the values of its anchor");
    char *anchors = repeated("[", "&a 1, ", 300, "]");
    refuse(anchors, LW_ERR_PARSE, "more than 256 anchors");
    free(anchors);
    refuse("linkwork: 1\nbodies: &b {a: *b}\n", LW_ERR_PARSE, "inside its own anchor");
    refuse("linkwork: 1\nbodies: *b\n", LW_ERR_PARSE, "has no anchor before it");
    refuse("linkwork: 1\nbodies: !!map {}\n", LW_ERR_PARSE, "tags are not part of this format");
    refuse("linkwork: 1\nbodies: {\"a\\0b\": 1}\n", LW_ERR_PARSE, "zero byte");
    refuse("linkwork: 1\n---\nlinkwork: 1\n", LW_ERR_PARSE, "a second document");
    refuse("", LW_ERR_PARSE, "the file is empty");
    refuse("# nothing\n", LW_ERR_PARSE, "the file is empty");
    refuse("linkwork: 1\nbodies: {\"a\xff\": 1}\n", LW_ERR_PARSE, "expected UTF-8");
    refuse("linkwork: 1\nbodies: {[a]: 1}\n", LW_ERR_PARSE, "expected a name");
}

// A chain of 20 000 bodies placed in each other, last one first: no recursion.
static void long_chains_are_read(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *text = malloc(N * 96 + 100), *p = text;
    assert_non_null(text);
    p += sprintf(p, "linkwork: 1\nbodies:\n");
    for (int i = N; i > 0; i--)
        p += sprintf(
            p, "  b%d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0], in: %s%.0d}\n",
            i, i > 1 ? "b" : "world", i - 1);
    lw_model *m = read_model(text);
    assert_true(m->desc.body[N].pose.position.x == N);
    lw_model_destroy(m);
    free(text);
}

// ------------------------------------------------------------------------------------- allocation

// Each failing allocation is reported, and nothing leaks.
static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    lw_status status = LW_ERR_MEMORY;
    long n = 0;
    for (; status != LW_OK && n < 10000; n++) {
        lwt_failing f = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&f);
        const lw_read_desc desc = {.format = "yaml", .allocator = &allocator};
        lw_options options;
        lw_options_default(&options);
        lw_model *model = NULL;
        lw_error error;
        status = lw_model_parse(mechanism, strlen(mechanism), "m", &desc, &model, &options, &error);
        if (status == LW_OK) {
            lw_model_destroy(model);
        } else {
            assert_int_equal(LW_ERR_MEMORY, status);
            assert_int_equal(LW_ERR_MEMORY, error.status);
            assert_null(model);
            assert_true(options.duration == 10); // the options of the caller are unchanged
        }
        assert_int_equal(0, f.live);
    }
    assert_int_equal(LW_OK, status);
    assert_true(n > 2);
}

// ------------------------------------------------------------------------------------------- files

static void files_that_cannot_be_read_report_why(void **state)
{
    (void)state;
    lw_model *model;
    lw_error error;
    assert_int_equal(LW_ERR_IO, lw_model_read("/nowhere/m.yaml", NULL, &model, NULL, &error));
    assert_string_equal("/nowhere/m.yaml", error.file);
    assert_non_null(strstr(error.text, "No such file"));
    assert_int_equal(LW_ERR_ARGUMENT, lw_model_read("m.txt", NULL, &model, NULL, &error));
    assert_non_null(strstr(error.text, ".yaml .yml .json .urdf"));
    const lw_read_desc other = {.format = "collada"};
    assert_int_equal(LW_ERR_ARGUMENT, lw_model_read("m.xml", &other, &model, NULL, &error));
    assert_non_null(strstr(error.text, "'collada', known: yaml urdf sdf mjcf"));
    assert_int_equal(LW_ERR_IO, lw_model_read("/", &yaml, &model, NULL, &error)); // a folder
    assert_int_equal(LW_ERR_ARGUMENT, lw_model_parse(NULL, 0, "m", &yaml, &model, NULL, &error));
}

// ------------------------------------------------------------------------------------------ schema

static char *schema_text(size_t *length)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, length);
    assert_non_null(file);
    assert_int_equal(LW_OK, lw_schema_write(file));
    fclose(file);
    return text;
}

// Strict JSON, by recursive descent; returns the end of the value or NULL.
static const char *space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *json_string(const char *p)
{
    if (*p++ != '"') return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20) return NULL;
        if (*p == '\\' && !strchr("\"\\/bfnrt", *++p)) return NULL;
    }
    return p + 1;
}

static const char *json_value(const char *p)
{
    p = space(p);
    if (*p == '"') return json_string(p);
    if (*p == '{' || *p == '[') {
        const char close = *p == '{' ? '}' : ']';
        p = space(p + 1);
        if (*p == close) return p + 1;
        for (;;) {
            if (close == '}') {
                p = json_string(space(p));
                if (!p) return NULL;
                p = space(p);
                if (*p++ != ':') return NULL;
            }
            p = json_value(p);
            if (!p) return NULL;
            p = space(p);
            if (*p == close) return p + 1;
            if (*p++ != ',') return NULL;
        }
    }
    if (strncmp(p, "true", 4) == 0) return p + 4;
    if (strncmp(p, "false", 5) == 0) return p + 5;
    char number[64] = "";
    const size_t n = strspn(p, "-+.0123456789eE");
    if (n == 0 || n >= sizeof number) return NULL;
    memcpy(number, p, n);
    return lwi_text_is_number(number) ? p + n : NULL;
}

static void schema_is_json(void **state)
{
    (void)state;
    size_t length;
    char *text = schema_text(&length);
    const char *end = json_value(text);
    assert_non_null(end);
    assert_true(*space(end) == 0);
    free(text);
}

static const lwi_document_value *member(const lwi_document_value *map, const char *key)
{
    const int k = lwi_document_find(map, key);
    if (k < 0) fail_msg("the schema has no '%s'", key);
    return map->item[k];
}

static void check_object(const lwi_document_value *schema, const lwi_yaml_object *object)
{
    const lwi_document_value *properties = member(schema, "properties");
    for (int i = 0; i < object->nkey; i++) {
        const lwi_document_value *key = member(properties, object->key[i].name);
        assert_string_equal(object->key[i].help, member(key, "description")->text);
    }
    assert_int_equal(object->nkey + (object->type != NULL), properties->count);
    assert_string_equal("false", member(schema, "additionalProperties")->text);
    if (!object->type) return;
    const lwi_document_value *types = member(member(properties, "type"), "enum");
    int n = 0;
    for (int t = 0; t < object->ntype; t++)
        if (object->type[t]) assert_string_equal(object->type[t], types->item[n++]->text);
    assert_int_equal(n, types->count);
}

enum { OBJECTS = 14 + LWI_FORCE_ITEMS };

static void all_objects(const lwi_yaml_object *objects[OBJECTS])
{
    static const lwi_yaml_object *const own[] = {
        &lwi_yaml_function_object,   &lwi_yaml_body_object,      &lwi_yaml_joint_object,
        &lwi_yaml_pose_object,       &lwi_yaml_mount_object,     &lwi_yaml_coordinate_object,
        &lwi_yaml_isotropic_object,  &lwi_yaml_coupling_object,  &lwi_yaml_limits_object,
        &lwi_yaml_friction_object,   &lwi_yaml_mechanism_object, &lwi_yaml_marker_object,
        &lwi_yaml_simulation_object, &lwi_yaml_parameter_object};
    memcpy(objects, own, sizeof own);
    for (int i = 0; i < LWI_FORCE_ITEMS; i++)
        objects[OBJECTS - LWI_FORCE_ITEMS + i] = lwi_force_items[i]->keys;
}

static void schema_has_every_key(void **state)
{
    (void)state;
    size_t length;
    lwi_arena arena;
    const lwi_document_value *root;
    const lwi_yaml_object *objects[OBJECTS];
    all_objects(objects);
    char *text = schema_text(&length);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(LW_OK, lwi_document_parse(text, length, "schema", &arena, &root, NULL));
    check_object(root, &lwi_yaml_file_object);
    const lwi_document_value *defs = member(root, "$defs");
    for (size_t i = 0; i < OBJECTS; i++) check_object(member(defs, objects[i]->title), objects[i]);
    lwi_arena_free(&arena);
    free(text);
}

// docs/model-file.md has every key and every type: as `key`, in an example or in a list of words.
static int is_named(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)); p += n)
        if (p > text && strchr("` {,", p[-1]) && strchr("` },:", p[n])) return 1;
    return 0;
}

static void the_manual_names_every_key(void **state)
{
    (void)state;
    const lwi_yaml_object *objects[OBJECTS];
    all_objects(objects);
    FILE *file = fopen(LW_SOURCE_DIR "/docs/model-file.md", "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 17);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 17) - 1, file) > 0);
    fclose(file);
    for (int i = 0; i < lwi_yaml_file_object.nkey; i++)
        if (!is_named(text, lwi_yaml_file_object.key[i].name))
            fail_msg("no '%s'", lwi_yaml_file_object.key[i].name);
    for (size_t i = 0; i < OBJECTS; i++) {
        for (int k = 0; k < objects[i]->nkey; k++)
            if (!is_named(text, objects[i]->key[k].name))
                fail_msg("no '%s' of a %s", objects[i]->key[k].name, objects[i]->title);
        for (int t = 0; t < objects[i]->ntype; t++)
            if (objects[i]->type[t] && !is_named(text, objects[i]->type[t]))
                fail_msg("no type '%s'", objects[i]->type[t]);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_read),
        cmocka_unit_test(joints_are_read),
        cmocka_unit_test(functions_forces_and_other_items_are_read),
        cmocka_unit_test(distance_joints_and_pitch_are_read),
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(surrogate_pairs_of_json_are_characters),
        cmocka_unit_test(settings_have_either_hyphen_or_underscore),
        cmocka_unit_test(aliases_have_the_value_of_their_anchor),
        cmocka_unit_test(poses_in_other_bodies_are_resolved),
        cmocka_unit_test(mechanism_round_trips),
        cmocka_unit_test(numbers_are_those_of_json),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(a_drive_with_a_speed_is_named),
        cmocka_unit_test(a_drive_of_a_loop_without_mobility_is_named),
        cmocka_unit_test(hostile_documents_are_refused),
        cmocka_unit_test(long_chains_are_read),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(files_that_cannot_be_read_report_why),
        cmocka_unit_test(schema_is_json),
        cmocka_unit_test(schema_has_every_key),
        cmocka_unit_test(the_manual_names_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
