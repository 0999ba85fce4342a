// test_kinematics.c -- fully driven mechanisms: positions to round-off, torques of drives, dead points.
#include "analysis/analysis_cases.h"
#include "support/given.h"
#include "support/random_loops.h"

static lw_sim *simulation(const lw_model *model, double duration, double sample)
{
    lw_options options;
    lw_sim *sim;
    lw_error error;
    lw_options_default(&options);
    options.duration = duration, options.sample = sample;
    const lw_sim_desc desc = {.options = &options};
    lwt_ok(lw_sim_create(model, &desc, &sim, &error), &error);
    return sim;
}

// A slider-crank of 0.1 and 0.3 m at 100 rad/s: the torques are those of another program.
static lw_status check_torque(void *user, const lw_observation *o)
{
    static const double known[][2] = {
        {0, 0.7848}, {1, 49.645149287266214}, {2.5, -38.56427634640168}, {4, 49.25245502379041}};
    int *found = user;
    for (int i = 0; i < 4; i++)
        if (fabs(o->q[0] - known[i][0]) < 1e-9) {
            lwt_near(o->reaction[0][5], known[i][1], 1e-9);
            (*found)++;
        }
    assert_true(o->residual[0] <= 1e-14 && o->residual[1] <= 1e-12);
    return LW_OK;
}

static void test_slider_crank(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const double turn[] = {0, 100};
    const lw_signal motion = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                                                 .coefficients = turn,
                                                                 .ncoefficient = 2});
    const double J = 0.01 / 12;
    const lw_body crank = lwt_body(b, &(lw_body_desc){.name = "crank",
                                                      .mass = 1,
                                                      .inertia = {1e-6, J, J, 0, 0, 0},
                                                      .pose.position = {0.05, 0, 0}}),
                  rod = lwt_rod(b, "rod", 0.1, 0, 0.4, 0, 0.6),
                  piston = lwt_body(
                      b,
                      &(lw_body_desc){.name = "piston", .mass = 0.8, .pose.position = {0.4, 0, 0}});
    lwt_add(b, &(lw_joint_desc){.name = "A",
                                .type = LW_JOINT_REVOLUTE,
                                .body2 = crank,
                                .axis = {0, 0, 1},
                                .coordinate[0].motion = motion});
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", crank, rod, 0.1, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "C", rod, piston, 0.4, 0);
    lwt_add(b, &(lw_joint_desc){.name = "D",
                                .type = LW_JOINT_PRISMATIC,
                                .body2 = piston,
                                .at = {0.4, 0, 0},
                                .axis = {1, 0, 0}});
    lw_model *model = lwt_model(b);
    int found = 0;
    lw_sim *sim = simulation(model, 0.04, 0.005);
    lwt_ok(lw_sim_kinematics(sim, LW_OBSERVE_REACTION, check_torque, &found, NULL, NULL),
           lw_sim_error(sim));
    assert_int_equal(found, 4);
    lw_sim_destroy(sim);
    sim = simulation(model, 2, 1); // rows some 16 revolutions apart
    lwt_ok(lw_sim_kinematics(sim, LW_OBSERVE_REACTION, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    const lw_observation *last;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &last), lw_sim_error(sim));
    lwt_near(last->q[0], 200, 1e-10);
    const double x = 0.1 * cos(200), y = 0.1 * sin(200);
    lwt_near(last->position[3][0], x + sqrt(0.09 - y * y), 1e-11);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The rocker is driven beyond its extreme position: the crank's dead point ends the motion.
static void test_dead_point(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const double swing[] = {0, 0.5};
    const lw_signal motion = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                                                 .coefficients = swing,
                                                                 .ncoefficient = 2});
    const lw_body crank = lwt_rod(b, "crank", 0, 0, 0, 0.4, 1),
                  coupler = lwt_rod(b, "coupler", 0, 0.4, 1, 0.8, 1),
                  rocker = lwt_rod(b, "rocker", 1, 0, 1, 0.8, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "A", lwt_ground, crank, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", crank, coupler, 0, 0.4);
    lwt_joint(b, LW_JOINT_REVOLUTE, "C", coupler, rocker, 1, 0.8);
    lwt_add(b, &(lw_joint_desc){.name = "D",
                                .type = LW_JOINT_REVOLUTE,
                                .body2 = rocker,
                                .at = {1, 0, 0},
                                .axis = {0, 0, 1},
                                .coordinate[0].motion = motion});
    lw_model *model = lwt_model(b);
    lw_sim *sim = simulation(model, 10, 0.01);
    assert_int_equal(lw_sim_kinematics(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL),
                     LW_ERR_SINGULAR);
    const char *text = lw_sim_error(sim)->text;
    assert_true(strstr(text, "dead point") || strstr(text, "lead no further"));
    // crank and coupler folded: a triangle of their difference, 1 and 0.8
    const double c = sqrt(1.16) - 0.4, angle = LWT_PI - acos((1 + 0.64 - c * c) / (2 * 0.8));
    lwt_near(lw_sim_time(sim), (angle - LWT_PI / 2) / 0.5, 0.01);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void test_free_coordinates(void **state)
{
    (void)state;
    const double angle[] = {0.1, 0.2};
    lw_model *model = lwt_pendulum(2, angle);
    lw_sim *sim = simulation(model, 1, 0.1);
    assert_int_equal(lw_sim_kinematics(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), LW_ERR_MODEL);
    assert_string_equal(lw_sim_error(sim)->text,
                        "kinematics needs a `motion` for each degree of freedom; 2 have none: "
                        "joint.j1.q0, joint.j2.q0");
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// They would have to be integrated.
static void test_states_of_signals(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(
        "linkwork: 1\n"
        "signals: {slow: {type: lag, of: \"20*A.q0\", time: 0.05}}\n"
        "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: revolute, between: [ground, a], at: [0, 0, 0], effort: {q0: slow}}}\n");
    lw_sim *sim = simulation(model, 1, 0.1);
    assert_int_equal(lw_sim_kinematics(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL),
                     LW_ERR_UNSUPPORTED);
    assert_non_null(strstr(lw_sim_error(sim)->text, "does not integrate: signal.slow.state0;"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slider_crank), cmocka_unit_test(test_dead_point),
        cmocka_unit_test(test_free_coordinates), cmocka_unit_test(test_states_of_signals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
