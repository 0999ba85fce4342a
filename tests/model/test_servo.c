// test_servo.c -- servos: their law against the same law as formulas, in every formulation; a regulated joint against
// its closed form; limits; what a file may not say.
#include "methods/index3/index3_cases.h"
#include "methods/rcr/rcr_cases.h"
#include "support/given.h"

#include <linkwork/dynamics.h>

static const char *const names[] = {"aba", "dense", "dca", "hdca", "rcr", "momenta"};

#define ARM                                                                                        \
    "linkwork: 1\n"                                                                                \
    "functions: {wish: {type: formula, of: 2*sin(3*t)}}\n"                                         \
    "bodies:\n"                                                                                    \
    "  a: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"                   \
    "  b: {mass: 2, inertia: [0.1, 0.2, 0.1, 0, 0, 0], position: [1.5, 0, 0]}\n"                   \
    "joints:\n"                                                                                    \
    "  j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [1]%s}\n"     \
    "  k: {type: cylindrical, between: [a, b], at: [1, 0, 0], axis: [0, 1, 0], qd: [2, -3]%s}\n"

static lw_model *arm(const char *on_j, const char *on_k, const char *forces)
{
    char text[2048];
    snprintf(text, sizeof text, ARM "%s", on_j, on_k, forces);
    return lwt_yaml(text);
}

// All parts of the law, a limited target, a gear, a sum of coordinates.
static lw_model *with_servos(void)
{
    return arm("", "",
               "forces:\n"
               "  one: {type: servo, joint: j, target: wish, target_range: [-1, 1.5], rate: 0.7,\n"
               "    gear: -3, kp: 5, kd: 0.5, gain: [1, 0.2, 0.3], bias: [2, -1, 0.4]}\n"
               "  two: {type: servo, of: [{joint: j, factor: 0.5}, {joint: k, coordinate: q1}],\n"
               "    target: 0.4, kp: 20, kd: 2, effort_range: [-3, 2.5]}\n");
}

static lw_model *with_formulas(void)
{
#define U "min(max(2*sin(3*t), -1), 1.5)"
#define L "(-3*j.q0)"
#define DL "(-3*j.qd0)"
#define ONE                                                                                        \
    "-3*(5*(" U " - " L ") + 0.5*(0.7 - " DL ") + (1 + 0.2*" L " + 0.3*" DL ")*" U " + 2 - " L     \
    " + 0.4*" DL ")"
#define TWO "min(max(20*(0.4 - 0.5*j.q0 - k.q1) - 2*(0.5*j.qd0 + k.qd1), -3), 2.5)"
    return arm(", effort: {q0: {type: formula, of: \"" ONE " + 0.5*" TWO "\"}}",
               ", effort: {q1: {type: formula, of: \"" TWO "\"}}", "");
}

// The limits of the second servo act in some of the states and not in others.
static void the_law_is_that_of_formulas(void **state)
{
    (void)state;
    lw_error error = {0};
    lw_model *model[2] = {with_servos(), with_formulas()};
    lw_dynamics *d[2];
    for (int m = 0; m < 2; m++) lwt_ok(lw_dynamics_create(model[m], NULL, &d[m], &error), &error);
    int limited = 0;
    for (int i = 0; i < 50; i++) {
        const double q[3] = {sin(i), 0.3 * cos(3 * i), sin(5 * i)},
                     v[3] = {cos(2 * i), sin(i), 2 * sin(7 * i)}, t = 0.1 * i;
        double a[2][3];
        for (int m = 0; m < 2; m++)
            assert_int_equal(lw_forward_dynamics(d[m], t, q, v, NULL, NULL, a[m]), LW_OK);
        for (int k = 0; k < 3; k++) lwt_near("acceleration", i, a[0][k], a[1][k], 1e-11);
        const double f = 20 * (0.4 - 0.5 * q[0] - q[2]) - 2 * (0.5 * v[0] + v[2]);
        limited += f < -3 || f > 2.5;
    }
    assert_in_range(limited, 5, 45);
    for (int m = 0; m < 2; m++) lw_dynamics_destroy(d[m]), lw_model_destroy(model[m]);
}

static void every_formulation_has_its_effort(void **state)
{
    (void)state;
    lw_model *model = with_servos();
    lwt_run dense = lwt_run_start(model, DENSE);
    lwt_run_observe(&dense);
    for (int i = 0; i < LWI_COUNT(names); i++) {
        lwt_run r = lwt_run_start(model, lwi_formulation_find(names[i]));
        lwt_run_observe(&r);
        lwt_near(names[i], 0, lwt_acceleration_error(model, &r.now, &dense.now), 0, 1e-10);
        lwt_run_end(&r);
    }
    lwt_run_end(&dense);
    lw_model_destroy(model);
}

// m x'' = kp (u - x) - kd x' without gravity: a damped oscillation about u; its energy goes where Wnc says.
static void a_regulated_slider_has_its_closed_form(void **state)
{
    (void)state;
    const double m = 2, kp = 50, kd = 4, u = 0.3, T = 1.5;
    const double s = kd / (2 * m), w = sqrt(kp / m - s * s);
    lw_model *model =
        lwt_yaml("linkwork: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "bodies: {a: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}\n"
                 "joints: {guide: {type: prismatic, between: [ground, a], at: [0, 0, 0]}}\n"
                 "forces: {drive: {type: servo, joint: guide, target: 0.3, kp: 50, kd: 4}}\n");
    lwt_run r = lwt_run_start(model, lwi_formulation_find("aba"));
    lwt_integrate(r.work, &r.t, r.x, NULL, 1e-3, 1500);
    lwt_run_observe(&r);
    const double e = exp(-s * T);
    const double x = u - u * e * (cos(w * T) + s / w * sin(w * T));
    const double v = u * e * (s * s / w + w) * sin(w * T);
    lwt_near("position", 0, r.now.q[0], x, 1e-11);
    lwt_near("speed", 0, r.now.qd[0], v, 1e-10);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// Of order two in the step; a stiff servo, kp h^2 / m = 500, stays stable and ends at its target.
static void index3_takes_it_into_its_tangent(void **state)
{
    (void)state;
    lw_options options;
    lw_options_default(&options);
    lwt_set(&options, "formulation", "index3");
    lwt_set(&options, "duration", "1");
    lwt_set(&options, "step", "0.01");
    lwt_set(&options, "sample", "1");
    lw_model *model =
        lwt_yaml("linkwork: 1\n"
                 "bodies: {a: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}\n"
                 "joints: {guide: {type: prismatic, between: [ground, a], at: [0, 0, 0]}}\n"
                 "forces: {drive: {type: servo, joint: guide, target: 0.3, kp: 1e7, kd: 1e6}}\n");
    track k = run(model, &options);
    lwt_near("position", 0, k.r[3 * 2 * (k.nrow - 1) + 5], 0.3 - 2 * 9.81 / 1e7, 1e-4);
    drop(&k);
    lw_model_destroy(model);
}

// Energy and the work of the servos balance, also where they are limited.
static void its_work_is_counted(void **state)
{
    (void)state;
    lw_options options;
    lw_options_default(&options);
    lwt_set(&options, "formulation", "aba");
    lwt_set(&options, "duration", "2");
    lwt_set(&options, "rtol", "1e-10");
    lwt_set(&options, "atol", "1e-10");
    lw_model *model = with_servos();
    track k = run(model, &options);
    lwt_near("energy", 0, k.energy_end, 0, 1e-7);
    lwt_near("energy", 1, k.energy_min, 0, 1e-7);
    drop(&k);
    lw_model_destroy(model);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"kp: 1", "servo 's': what it drives is missing, expected `joint` or `of`"},
        {"joint: j, of: [{joint: k}]", "'joint' and 'of' are alternatives"},
        {"joint: ball", "joint 'ball' has no scalar coordinate q0, a spherical joint has 0"},
        {"joint: j, coordinate: q1", "has no scalar coordinate q1, a revolute joint has 1"},
        {"of: [{joint: k, coordinate: q2}]", "has no scalar coordinate q2"},
        {"of: []", "expected a list of one or more maps"},
        {"joint: j, kp: -1", "expected a number >= 0"},
        {"joint: j, target_range: [1, 0]", "target_range is [1, 0], expected lower <= upper"},
        {"joint: j, effort_range: [1, 0]", "effort_range is [1, 0], expected lower <= upper"},
        {"joint: j, gear: 0", "servo 's': gear is 0, expected a number that is not 0"},
        {"of: [{joint: j, factor: 0}]", "of.0.factor is 0, expected a number that is not 0"},
        {"joint: j, target: missing", "there is no function or input 'missing'"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 ARM "  ball: {type: spherical, between: [ground, c], at: [0, 0, 0]}\n"
                     "forces: {s: {type: servo, %s}}\n",
                 "", "", cases[i][0]);
        char *at = strstr(text, "joints:");
        char whole[2200];
        snprintf(whole, sizeof whole, "%.*s  c: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}\n%s",
                 (int)(at - text), text, at);
        lw_model *model = NULL;
        lw_error error = {0};
        const lw_read_desc desc = {.format = "yaml"};
        assert_int_not_equal(
            lw_model_parse(whole, strlen(whole), "servo.yaml", &desc, &model, NULL, &error), LW_OK);
        if (!strstr(error.text, cases[i][1])) fail_msg("%s: %s", cases[i][0], error.text);
    }
}

// In C a description without terms drives its joint, by default the first coordinate of the first one.
static void in_c_the_list_is_copied(void **state)
{
    (void)state;
    lw_builder *b;
    lw_error error = {0};
    lw_body body;
    lw_model *model;
    assert_int_equal(lw_builder_create(NULL, &b), LW_OK);
    lwt_ok(lw_builder_add_body(b, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1}}, &body, &error),
           &error);
    lwt_ok(lw_builder_add_joint(b,
                                &(lw_joint_desc){.type = LW_JOINT_PRISMATIC,
                                                 .body2 = body,
                                                 .placement = LW_PLACED_FRAMES},
                                NULL, &error),
           &error);
    lwt_ok(lw_builder_add_servo(b, &(lw_servo_desc){.law = {.bias = {3}}}, &error), &error);
    {
        lw_servo_term terms[1] = {{.factor = 2}};
        lwt_ok(lw_builder_add_servo(
                   b, &(lw_servo_desc){.terms = terms, .nterm = 1, .law = {.bias = {1}}}, &error),
               &error);
        terms[0].factor = 1e9;
    }
    lwt_ok(lw_model_create(b, &model, &error), &error);
    lw_builder_destroy(b);
    lw_dynamics *d;
    lwt_ok(lw_dynamics_create(model, NULL, &d, &error), &error);
    const double zero = 0;
    double a;
    assert_int_equal(lw_forward_dynamics(d, 0, &zero, &zero, NULL, NULL, &a), LW_OK);
    lwt_near("acceleration", 0, a, 3 + 2 - 9.81, 1e-14);
    lw_dynamics_destroy(d);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_is_that_of_formulas),
        cmocka_unit_test(every_formulation_has_its_effort),
        cmocka_unit_test(a_regulated_slider_has_its_closed_form),
        cmocka_unit_test(index3_takes_it_into_its_tangent),
        cmocka_unit_test(its_work_is_counted),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(in_c_the_list_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
