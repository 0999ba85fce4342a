// test_modes.c -- frequencies and shapes against closed forms.
#include "analysis/analysis_cases.h"

#include <linkwork/io.h>

// n masses on rods, by another program; two masses: sqrt((2 -+ sqrt(2)) g / l) / 2 pi.
static void test_pendulums(void **state)
{
    (void)state;
    static const struct {
        int n;
        double frequency[5];
    } known[] = {{1, {0.498487916486281}},
                 {2, {0.38152613374698435, 0.9210855664917412}},
                 {5,
                  {0.25591435543678465, 0.5926354806393181, 0.9453446829061664, 1.3269341980464116,
                   1.7723191491364032}}};
    for (int i = 0; i < 3; i++) {
        const double angle[5] = {0.3, -0.1, 0.2, 0.5, 0.4};
        lw_equilibrium report;
        lw_model *model = lwt_pendulum(known[i].n, angle),
                 *balanced = lwt_balance(model, false, &report);
        lw_linear *linear = lwt_linearize(balanced, NULL);
        lw_modes *modes = lwt_modes(linear);
        assert_int_equal(lw_modes_count(modes), known[i].n);
        for (int k = 0; k < known[i].n; k++) {
            const lw_mode mode = lw_modes_at(modes, k);
            lwt_near(mode.frequency, known[i].frequency[k], 1e-11);
            assert_true(mode.damping_ratio == 0 && !mode.rigid);
        }
        lw_modes_destroy(modes);
        lw_linear_destroy(linear);
        lw_model_destroy(balanced);
        lw_model_destroy(model);
    }
}

// First mode of the double pendulum: the lower angle from straight down is sqrt(2) times the upper one.
static void test_shape(void **state)
{
    (void)state;
    const double down[2] = {0};
    lw_model *model = lwt_pendulum(2, down);
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    double re[3][6], im[3][6], share[3], q[2], qi[2];
    lw_modes_shape(modes, 0, re, im);
    lw_modes_energy(modes, 0, share);
    lw_modes_coordinates(modes, 0, q, qi);
    lwt_near(re[2][0], 1, 1e-9); // the largest displacement
    lwt_near(re[1][0], 1 / (1 + sqrt(2)), 1e-9);
    lwt_near(re[2][1], 0, 1e-9);
    lwt_near(im[2][0], 0, 1e-12);
    lwt_near((q[0] + q[1]) / q[0], sqrt(2), 1e-9); // joint 2 counts from the first rod
    lwt_near(share[1] + share[2], 1, 1e-14);
    lwt_near(share[1] / share[2], pow(re[1][0], 2), 1e-9);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// A mass on a spring and a damper.
static void test_damping(void **state)
{
    (void)state;
    static const double damping[] = {0.4, 20};
    for (int i = 0; i < 2; i++) {
        lw_builder *b = lwt_builder();
        const lw_body mass = lwt_body(b, &(lw_body_desc){.name = "mass", .mass = 2});
        lwt_add(b, &(lw_joint_desc){.name = "slide",
                                    .type = LW_JOINT_PRISMATIC,
                                    .body2 = mass,
                                    .axis = {0, 1, 0},
                                    .coordinate[0] = {.stiffness = 8, .damping = damping[i]}});
        lw_model *model = lwt_model(b);
        lw_equilibrium report;
        lw_model *balanced = lwt_balance(model, false, &report);
        lwt_near(balanced->q0[0], -2 * 9.81 / 8, 1e-12);
        lw_linear *linear = lwt_linearize(balanced, NULL);
        lw_modes *modes = lwt_modes(linear);
        const double zeta = damping[i] / (2 * sqrt(8.0 * 2));
        const lw_mode mode = lw_modes_at(modes, 0);
        if (zeta < 1) {
            assert_int_equal(lw_modes_count(modes), 1);
            lwt_near(mode.damping_ratio, zeta, 1e-9);
            lwt_near(mode.frequency, 2 * sqrt(1 - zeta * zeta) / (2 * LWT_PI), 1e-10);
        } else {
            assert_int_equal(lw_modes_count(modes), 2);
            lwt_near(mode.re, -5 + sqrt(21), 1e-9);
            lwt_near(lw_modes_at(modes, 1).re, -5 - sqrt(21), 1e-9);
            lwt_near(mode.damping_ratio, 1, 0);
        }
        lw_modes_destroy(modes);
        lw_linear_destroy(linear);
        lw_model_destroy(balanced);
        lw_model_destroy(model);
    }
}

// Upright double pendulum: each displacement grows and decays.
static void test_unstable(void **state)
{
    (void)state;
    const double up[2] = {LWT_PI, LWT_PI};
    lw_model *model = lwt_pendulum(2, up);
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    assert_int_equal(lw_modes_count(modes), 4);
    const double slow = sqrt((2 - sqrt(2)) * 9.81), fast = sqrt((2 + sqrt(2)) * 9.81);
    lwt_near(fabs(lw_modes_at(modes, 0).re), slow, 1e-9);
    lwt_near(lw_modes_at(modes, 0).re + lw_modes_at(modes, 1).re, 0, 1e-12);
    lwt_near(fabs(lw_modes_at(modes, 3).re), fast, 1e-9);
    lwt_near(fabs(lw_modes_at(modes, 2).damping_ratio), 1, 0);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// A four-bar that floats: six rigid motions, one vibration.
static void test_rigid_motions(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body rod[] = {lwt_rod(b, "frame", 0, 0, 1, 0, 1), lwt_rod(b, "crank", 0, 0, 0, 0.4, 1),
                           lwt_rod(b, "coupler", 0, 0.4, 1, 0.8, 1),
                           lwt_rod(b, "rocker", 1, 0, 1, 0.8, 1)};
    lwt_add(b, &(lw_joint_desc){.name = "A",
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = rod[0],
                                .body2 = rod[1],
                                .axis = {0, 0, 1},
                                .coordinate[0].stiffness = 5});
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", rod[1], rod[2], 0, 0.4);
    lwt_joint(b, LW_JOINT_REVOLUTE, "C", rod[2], rod[3], 1, 0.8);
    lwt_joint(b, LW_JOINT_REVOLUTE, "D", rod[0], rod[3], 1, 0);
    lw_model *model = lwt_model(b);
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    int rigid = 0;
    for (int i = 0; i < lw_modes_count(modes); i++) rigid += lw_modes_at(modes, i).rigid;
    assert_int_equal(rigid, 6);
    assert_int_equal(lw_modes_count(modes), 7);
    assert_true(lw_modes_at(modes, 6).frequency > 0.1);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// A soft pendulum near a stiff slider: neither is taken for a motion without resistance.
static void test_soft_near_stiff(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body slider =
        lwt_body(b, &(lw_body_desc){.name = "slider", .mass = 1e-3, .pose.position = {5, 0, 0}});
    const lw_body bob = lwt_body(
        b, &(lw_body_desc){.name = "bob", .mass = 1, .pose.position = {sin(0.5), -cos(0.5), 0}});
    lwt_add(b, &(lw_joint_desc){.name = "slide",
                                .type = LW_JOINT_PRISMATIC,
                                .body2 = slider,
                                .at = {5, 0, 0},
                                .axis = {0, 1, 0},
                                .coordinate[0].stiffness = 1e9});
    lwt_joint(b, LW_JOINT_REVOLUTE, "hinge", lwt_ground, bob, 0, 0);
    lw_model *model = lwt_model(b);
    lw_equilibrium report;
    lw_model *balanced = lwt_balance(model, false, &report);
    assert_int_equal(report.stability, LW_STABLE);
    lwt_near(balanced->body[2].r0[1], -1, 1e-12);
    lw_linear *linear = lwt_linearize(balanced, NULL);
    lw_modes *modes = lwt_modes(linear);
    assert_false(lw_modes_at(modes, 0).rigid);
    lwt_near(lw_modes_at(modes, 0).frequency, sqrt(9.81) / (2 * LWT_PI), 1e-9);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(balanced);
    lw_model_destroy(model);
}

// Two equal damped oscillators, and one with a damper alone: independent shapes, one zero.
static void test_equal_modes(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    for (int i = 0; i < 3; i++) {
        const char *const name[] = {"a", "b", "c"};
        const lw_body mass =
            lwt_body(b, &(lw_body_desc){.name = name[i], .mass = 1, .pose.position = {i, 0, 0}});
        lwt_add(b, &(lw_joint_desc){.name = name[i],
                                    .type = LW_JOINT_PRISMATIC,
                                    .body2 = mass,
                                    .at = {i, 0, 0},
                                    .axis = {0, 1, 0},
                                    .coordinate[0] = {.stiffness = i < 2 ? 4 : 0, .damping = 0.2}});
    }
    lw_model *model = lwt_model(b);
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    assert_int_equal(lw_modes_count(modes), 4);
    assert_true(lw_modes_at(modes, 0).rigid && !lw_modes_at(modes, 1).rigid);
    lwt_near(lw_modes_at(modes, 1).re, -0.2, 1e-9);
    double x[3], y[3], u[3], v[3];
    lw_modes_coordinates(modes, 2, x, y);
    lw_modes_coordinates(modes, 3, u, v);
    const double re = x[0] * u[1] - y[0] * v[1] - x[1] * u[0] + y[1] * v[0],
                 im = x[0] * v[1] + y[0] * u[1] - x[1] * v[0] - y[1] * u[0];
    assert_true(hypot(re, im) > 0.5); // the determinant of both shapes
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// A symmetric top on a ball, at rest in no direction: in axes of the body, directions fixed in space rotate with all of
// its angular velocity, and it nutates with 1 - Ja/Jt of it.  No load depends on its attitude, but only its own axis is a
// motion without resistance.
static void test_gyroscopic(void **state)
{
    (void)state;
    const double Jt = 0.3, Ja = 0.1, rate = 7;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body top = lwt_body(b, &(lw_body_desc){.name = "top",
                                                    .mass = 2,
                                                    .inertia = {Jt, Jt, Ja, 0, 0, 0},
                                                    .has_velocity = true,
                                                    .angular_velocity = {0, 0, rate}});
    lwt_joint(b, LW_JOINT_SPHERICAL, "ball", lwt_ground, top, 0, 0);
    lw_model *model = lwt_model(b);
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    assert_int_equal(lw_modes_count(modes), 3);
    assert_true(lw_modes_at(modes, 0).rigid && !lw_modes_at(modes, 1).rigid);
    lwt_near(lw_modes_at(modes, 1).im, rate * (1 - Ja / Jt), 1e-8);
    lwt_near(lw_modes_at(modes, 2).im, rate, 1e-8);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// The same in a gimbal: in its angles the top nutates with Ja/Jt of its rate.  Three angles meet no resistance, and their
// shapes are independent, though that of the rotation has a double zero.
static void test_gimbal(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\ngravity: [0, 0, 0]\n"
        "bodies: {top: {mass: 1, inertia: [0.02, 0.02, 0.03, 0, 0, 0]}, outer: {mass: 0}, inner: "
        "{mass: 0}}\n"
        "joints:\n"
        "  X: {type: revolute, between: [ground, outer], at: [0, 0, 0], axis: [1, 0, 0]}\n"
        "  Y: {type: revolute, between: [outer, inner], at: [0, 0, 0], axis: [0, 1, 0]}\n"
        "  Z: {type: revolute, between: [inner, top], at: [0, 0, 0], axis: [0, 0, 1], qd: [40]}\n";
    lw_model *model;
    lw_error error;
    double v[3][3], imaginary[3];
    lwt_ok(lw_model_parse(text, strlen(text), "top.yaml", &(lw_read_desc){.format = "yaml"}, &model,
                          NULL, &error),
           &error);
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    assert_int_equal(lw_modes_count(modes), 4);
    for (int k = 0; k < 3; k++) {
        assert_true(lw_modes_at(modes, k).rigid);
        lw_modes_coordinates(modes, k, v[k], imaginary);
    }
    lwt_near(lw_modes_at(modes, 3).im, 40 * 0.03 / 0.02, 1e-9);
    double across[3];
    for (int i = 0; i < 3; i++)
        across[i] = v[1][(i + 1) % 3] * v[2][(i + 2) % 3] - v[1][(i + 2) % 3] * v[2][(i + 1) % 3];
    assert_true(fabs(v[0][0] * across[0] + v[0][1] * across[1] + v[0][2] * across[2]) > 0.5);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// Efforts that follow the other coordinate, 40 N/m and `back` of it: the stiffness has no diagonal, and yet full rank.
static void test_follower(void **state)
{
    (void)state;
    static const double back[] = {-40, 40};
    for (int i = 0; i < 2; i++) {
        char text[600];
        lw_model *model;
        lw_error error;
        snprintf(text, sizeof text,
                 "linkwork: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 1}, b: {mass: 1}}\njoints:\n"
                 "  A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0],"
                 " spring: {q0: {damping: 0.1}}, effort: {q0: 40*B.q0}}\n"
                 "  B: {type: prismatic, between: [ground, b], at: [0, 0, 0], axis: [0, 1, 0],"
                 " spring: {q0: {damping: 0.1}}, effort: {q0: %g*A.q0}}\n",
                 back[i]);
        lwt_ok(lw_model_parse(text, strlen(text), "follower.yaml",
                              &(lw_read_desc){.format = "yaml"}, &model, NULL, &error),
               &error);
        lw_linear *linear = lwt_linearize(model, NULL);
        lw_modes *modes = lwt_modes(linear);
        for (int k = 0; k < lw_modes_count(modes); k++) { // s^2 + 0.1 s = -+40 i, or -+40
            const lw_mode m = lw_modes_at(modes, k);
            const double re = m.re * m.re - m.im * m.im + 0.1 * m.re,
                         im = 2 * m.re * m.im + 0.1 * m.im;
            assert_false(m.rigid);
            lwt_near(i == 0 ? fabs(im) : fabs(re), 40, 1e-8);
            lwt_near(i == 0 ? re : im, 0, 1e-8);
        }
        assert_int_equal(lw_modes_count(modes), i == 0 ? 2 : 3);
        lw_modes_destroy(modes);
        lw_linear_destroy(linear);
        lw_model_destroy(model);
    }
}

// World position of a point of a body, given from its mass centre.
static void point_at(const double r[3], const double q[4], double x, double y, double out[2])
{
    const double angle = 2 * atan2(q[3], q[0]);
    out[0] = r[0] + x * cos(angle) - y * sin(angle);
    out[1] = r[1] + x * sin(angle) + y * cos(angle);
}

// The four-bar's coupler and rocker stay joined along the mode, which moves to both sides and comes back.
static void test_motion(void **state)
{
    (void)state;
    enum { ROWS = 9, BODIES = 4 };
    static double r[ROWS][BODIES][3], quat[ROWS][BODIES][4];
    lw_error error;
    lw_model *four_bar = lwt_sprung_four_bar(0.9, 0), *model = lwt_balance(four_bar, false, NULL);
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    assert_int_equal(lw_model_body_count(model), BODIES);
    lwt_ok(lw_modes_motion(modes, 0, model, NULL, ROWS, r[0], quat[0], &error), &error);
    double largest = 0;
    for (int i = 0; i < ROWS; i++) {
        double coupler[2], rocker[2];
        point_at(r[i][2], quat[i][2], 0.5, 0, coupler);
        point_at(r[i][3], quat[i][3], 0.4, 0, rocker);
        for (int k = 0; k < 2; k++) lwt_near(coupler[k], rocker[k], 1e-9);
        largest = fmax(largest, hypot(r[i][2][0] - r[2][2][0], r[i][2][1] - r[2][2][1]));
    }
    assert_true(largest > 0.02 && largest < 0.5); // m, of a mechanism of 1 m
    for (int k = 0; k < 2; k++) {
        lwt_near(r[ROWS - 1][1][k], r[0][1][k], 1e-12);
        lwt_near(r[2][1][k], r[6][1][k], 1e-12); // a quarter and three quarters: the equilibrium
        assert_true((r[0][1][k] - r[2][1][k]) * (r[4][1][k] - r[2][1][k]) < 0);
    }
    assert_int_equal(lw_modes_motion(modes, 1, model, NULL, ROWS, r[0], quat[0], &error),
                     LW_ERR_ARGUMENT);
    assert_int_equal(lw_modes_motion(modes, 0, model, NULL, 1, r[0], quat[0], &error),
                     LW_ERR_ARGUMENT);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
    lw_model_destroy(four_bar);
}

// Modes of one model and another model: with other bodies, or other degrees of freedom.
static void test_motion_of_another_model(void **state)
{
    (void)state;
    enum { ROWS = 3, BODIES = 6 };
    static double r[ROWS][BODIES][3], quat[ROWS][BODIES][4];
    static const char *const others[] = {
        "linkwork: 1\nbodies: {a: {mass: 1}, b: {mass: 1, position: [1, 0, 0]}}\n"
        "joints:\n  A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}\n"
        "  B: {type: fixed, between: [a, b], at: [1, 0, 0]}\n",
        "linkwork: 1\nbodies: {a: {mass: 1}, b: {mass: 1, position: [1, 0, 0]}, c: {mass: 1}}\n"
        "joints:\n  A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}\n"
        "  B: {type: prismatic, between: [a, b], at: [1, 0, 0], axis: [1, 0, 0]}\n"
        "  C: {type: fixed, between: [a, c], at: [0, 0, 0]}\n"};
    lw_error error;
    lw_model *four_bar = lwt_sprung_four_bar(0.9, 0), *model = lwt_balance(four_bar, false, NULL);
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    for (int i = 0; i < LWI_COUNT(others); i++) {
        lw_model *other;
        lw_options options;
        const lw_read_desc desc = {.format = "yaml"};
        lwt_ok(
            lw_model_parse(others[i], strlen(others[i]), "m.yaml", &desc, &other, &options, &error),
            &error);
        assert_int_equal(lw_modes_motion(modes, 0, other, NULL, ROWS, r[0], quat[0], &error),
                         LW_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "3 bodies and 1 degrees of freedom"));
        lw_model_destroy(other);
    }
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
    lw_model_destroy(four_bar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_motion),          cmocka_unit_test(test_motion_of_another_model),
        cmocka_unit_test(test_pendulums),       cmocka_unit_test(test_shape),
        cmocka_unit_test(test_gyroscopic),      cmocka_unit_test(test_gimbal),
        cmocka_unit_test(test_follower),        cmocka_unit_test(test_damping),
        cmocka_unit_test(test_unstable),        cmocka_unit_test(test_rigid_motions),
        cmocka_unit_test(test_soft_near_stiff), cmocka_unit_test(test_equal_modes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
