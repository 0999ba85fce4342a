// test_signal_states.c -- analyses of mechanisms with states of signals: equilibria, linear systems and modes against
// closed forms; models that start with the states of a motion.
#include "analysis/analysis_cases.h"
#include "support/given.h"

#include <linkwork/assemble.h>
#include <linkwork/io.h>

#include <complex.h>

// A pendulum of 1 kg at 1 m under a controller and a lag, with a meter that acts on nothing and a switch.
static lw_model *pendulum(const char *controller)
{
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, -10, 0]\n"
        "signals:\n"
        "  u: {type: pid, measured: A.q0, measured_rate: A.qd0, %s}\n"
        "  act: {type: lag, of: u, time: 0.02}\n"
        "  meter: {type: integral, of: u + 3}\n"
        "  sw: {type: switch, value: 7}\n"
        "bodies:\n"
        "  bob: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -1, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1], effort: "
        "{q0: "
        "act}}\n";
    char whole[2000];
    snprintf(whole, sizeof whole, text, controller);
    return lwt_yaml(whole);
}

static lw_status balance(const lw_model *model, lw_model **balanced, lw_equilibrium *report,
                         lw_error *error)
{
    return lw_model_equilibrium(model, NULL, balanced, report, error);
}

// sin q = u / (m g l), and the lag has the value of the controller.
static void test_equilibrium(void **state)
{
    (void)state;
    static const struct {
        const char *controller;
        double q, u;
        int states;
    } known[] = {
        {"reference: 0.6, kp: 40, ki: 30, kd: 12", 0.6, 5.6464247339503535, 2},
        {"reference: 2.5, kp: 40, ki: 30, kd: 12, range: [-60, 60]", 2.5, 5.984721441039564,
         2}, // on the other side of the top
        {"reference: 0.6, kp: 40, ki: 30, kd: 12, range: [-5, 5]", 0.5235987755982989, 5,
         2}, // at the end of the range
        {"reference: 0.5235987755982989, kp: 40, kd: 12, initial: 5", 0.5235987755982989, 5, 1}};
    for (int i = 0; i < (int)(sizeof known / sizeof *known); i++) {
        lw_model *model = pendulum(known[i].controller), *balanced;
        lw_equilibrium report;
        lw_error error;
        lwt_ok(balance(model, &balanced, &report, &error), &error);
        double q, v;
        lw_model_tree_start(balanced, &q, &v);
        lwt_near(q, known[i].q, 1e-11);
        assert_int_equal(report.stability, LW_STABLE);
        assert_int_equal(report.states, known[i].states);
        assert_int_equal(report.held, 4 - known[i].states);
        lw_linear *linear = lwt_linearize(balanced, NULL);
        lwt_near(lw_linear_accelerations(linear)[0], 0, 1e-10);
        assert_int_equal(lw_linear_states(linear), 5); // without the switch
        assert_string_equal(lw_linear_state_name(linear, 4), "signal.meter.state0");
        lw_linear_destroy(linear);
        lw_sim *sim;
        const lw_observation *seen;
        lwt_ok(lw_sim_create(balanced, NULL, &sim, &error), &error);
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &seen), lw_sim_error(sim));
        lwt_near(seen->states[1], known[i].u, 1e-9);
        assert_true(seen->states[2] == 0 && seen->states[3] == 7); // meter, switch
        lw_sim_destroy(sim);
        lw_model_destroy(balanced);
        lw_model_destroy(model);
    }
}

// An integral part that is too strong: the mechanism without it is stable.  Roots by Routh: unstable where
// (kd/J) (kp + c)/J < ki/J without the lag.
static void test_unstable(void **state)
{
    (void)state;
    lw_model *model = pendulum("reference: 0.6, kp: 40, ki: 3000, kd: 12"), *balanced;
    lw_equilibrium report;
    lw_error error;
    lwt_ok(balance(model, &balanced, &report, &error), &error);
    assert_int_equal(report.stability, LW_UNSTABLE);
    assert_int_equal(report.unstable, 1);
    lw_model_destroy(balanced);
    lw_model_destroy(model);
}

// What has no equilibrium is named.
static void test_none(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "signals:\n"
        "  grows: {type: integral, of: 2}\n"
        "bodies:\n"
        "  bob: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -1, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [1, 0, 0], effort: "
        "{q0: "
        "grows}}\n";
    lw_model *model = lwt_yaml(text), *balanced = NULL;
    lw_equilibrium report;
    lw_error error;
    assert_int_equal(balance(model, &balanced, &report, &error), LW_ERR_SINGULAR);
    assert_null(balanced);
    assert_non_null(strstr(error.text, "the rate of signal.grows.state0 is still 2"));
    lw_model_destroy(model);
}

static lw_model *cart(const char *signals)
{
    static const char text[] = "linkwork: 1\n"
                               "gravity: [0, 0, 0]\n"
                               "signals:\n%s"
                               "bodies:\n"
                               "  cart: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}\n"
                               "joints:\n"
                               "  rail: {type: prismatic, between: [ground, cart], at: [0, 0, 0], "
                               "axis: [1, 0, 0], effort: "
                               "{q0: force}}\n";
    char whole[2000];
    snprintf(whole, sizeof whole, text, signals);
    return lwt_yaml(whole);
}

// Roots of 2 s^3 (s T + 1) + kd s^2 + kp s + ki = 0, and of a lag that acts on nothing.
static void test_modes(void **state)
{
    (void)state;
    const double kp = 40, ki = 30, kd = 12, T = 0.02;
    lw_model *model =
        cart("  u: {type: pid, reference: 0, measured: rail.q0, measured_rate: rail.qd0, kp: 40, "
             "ki: 30, kd: 12}\n"
             "  force: {type: lag, of: u, time: 0.02}\n"
             "  seen: {type: lag, of: rail.q0, time: 0.4}\n"
             "  sum: {type: integral, of: rail.q0}\n");
    lw_linear *linear = lwt_linearize(model, NULL);
    lw_modes *modes = lwt_modes(linear);
    int oscillating = 0, alone = 0, zeros = 0, roots = 0;
    for (int k = 0; k < lw_modes_count(modes); k++) {
        const lw_mode mode = lw_modes_at(modes, k);
        const double complex s = mode.re + mode.im * I;
        const double complex p = 2 * s * s * s * (s * T + 1) + kd * s * s + kp * s + ki;
        double re[4], im[4], shape[2][6];
        lw_modes_states(modes, k, re, im);
        lw_modes_shape(modes, k, shape, NULL);
        const bool root = cabs(p) < 1e-7 * (1 + pow(cabs(s), 4));
        roots += root;
        zeros += mode.rigid;
        oscillating += mode.im > 0;
        if (fabs(mode.re + 2.5) < 1e-9) { // the lag alone
            assert_true(shape[1][0] == 0 && fabs(re[2] - 1) < 1e-12);
            alone++;
        } else if (mode.rigid) { // the integral alone
            assert_true(shape[1][0] == 0 && fabs(re[3] - 1) < 1e-12);
        } else {
            assert_true(root);
            assert_true(fabs(shape[1][0] - 1) < 1e-12);
            // the lag of a quantity: 1/(s T + 1)
            const double complex ratio = re[2] + im[2] * I;
            assert_true(cabs(ratio * (s * 0.4 + 1) - 1) < 1e-8);
        }
    }
    assert_int_equal(roots + alone + zeros, lw_modes_count(modes));
    assert_int_equal(roots + oscillating, 4);
    assert_int_equal(alone, 1);
    assert_int_equal(zeros, 1);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    lw_model_destroy(model);
}

// A switch keeps its value: the system is that of the constant.
static void test_switch_is_constant(void **state)
{
    (void)state;
    lw_model *a = cart("  k: {type: switch, value: 3}\n  force: -k*rail.q0 - 0.5*rail.qd0\n"),
             *b = cart("  k: 3\n  force: -k*rail.q0 - 0.5*rail.qd0\n");
    lw_linear *la = lwt_linearize(a, NULL), *lb = lwt_linearize(b, NULL);
    assert_int_equal(lw_linear_states(la), 2);
    for (int i = 0; i < 4; i++) lwt_near(lw_linear_A(la)[i], lw_linear_A(lb)[i], 1e-12);
    lwt_near(lw_linear_A(la)[2], -1.5, 1e-10);
    lw_linear_destroy(la);
    lw_linear_destroy(lb);
    lw_model_destroy(a);
    lw_model_destroy(b);
}

// About other states: a controller at the end of its range has no gain.
static void test_given_states(void **state)
{
    (void)state;
    lw_model *model = cart("  force: {type: pid, reference: 0, measured: rail.q0, kp: 4, ki: 1, "
                           "range: [-2, 2]}\n");
    const double inside[1] = {0.5}, outside[1] = {30};
    for (int k = 0; k < 2; k++) {
        const lw_linear_desc desc = {.states = k ? outside : inside};
        lw_linear *linear;
        lw_error error;
        lwt_ok(lw_linearize(model, &desc, &linear, &error), &error);
        lwt_near(lw_linear_A(linear)[1 * 3 + 0], k ? 0 : -2, 1e-10);
        lwt_near(lw_linear_accelerations(linear)[0], k ? 1 : 0.25, 1e-12);
        lw_linear_destroy(linear);
    }
    lw_model_destroy(model);
}

// A model that starts with the states of a motion continues it, and its file is the same model.
static void test_restart(void **state)
{
    (void)state;
    lw_model *model =
        cart("  u: {type: pid, reference: 0.3, measured: rail.q0, kp: 40, ki: 30, kd: 12, filter: "
             "0.01, range: [-5, 5]}\n"
             "  smooth: {type: transfer, of: u, numerator: [1], denominator: [1/400, 0.05, 1]}\n"
             "  force: {type: rate_limit, of: smooth, rate: 100, time: 0.005}\n"
             "  sum: {type: integral, of: rail.q0, initial: 1}\n"
             "  side: {type: relay, of: rail.q0, low: 0.1, high: 0.2, below: 0, above: 1}\n");
    lw_sim *sim, *other;
    lw_error error;
    const lw_observation *o, *p;
    lw_model *again;
    lwt_ok(lw_sim_create(model, NULL, &sim, &error), &error);
    lwt_ok(lw_sim_step(sim, 0.6), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    lwt_ok(lw_model_restart(model, o, &again, &error), &error);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    lwt_ok(lw_model_write(again, NULL, file, &error), &error);
    fclose(file);
    lw_model *read = lwt_yaml(text);
    free(text);
    lwt_ok(lw_sim_create(read, NULL, &other, &error), &error);
    lwt_ok(lw_sim_observe(other, LW_OBSERVE_TWIST, &p), lw_sim_error(other));
    const int n = lw_model_signal_states(model);
    assert_int_equal(n, 7);
    for (int i = 0; i < n; i++) assert_true(o->states[i] == p->states[i]);
    assert_true(o->states[6] == 1); // the relay
    lw_sim_destroy(other);
    lw_sim_destroy(sim);
    lw_model_destroy(read);
    lw_model_destroy(again);
    lw_model_destroy(model);
}

static void test_wrong_states(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{type: pid, reference: 0, measured: rail.q0, kp: 1, states: [1, 2]}",
         "states has 2 numbers, expected 1"},
        {"{type: lag, of: rail.q0, time: 1, states: [1], initial: 2}",
         "both initial and states are given, expected one"}};
    for (int i = 0; i < 2; i++) {
        char text[1000];
        const lw_read_desc native = {.format = "yaml"};
        lw_model *model;
        lw_error error;
        snprintf(text, sizeof text,
                 "linkwork: 1\nsignals:\n  s: %s\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, "
                 "0]}}\njoints: {rail: {type: prismatic, between: [ground, a], at: [0, 0, 0]}}\n",
                 wrong[i][0]);
        assert_true(lw_model_parse(text, strlen(text), "test", &native, &model, NULL, &error) !=
                    LW_OK);
        if (!strstr(error.text, wrong[i][1])) fail_msg("%s", error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equilibrium),  cmocka_unit_test(test_unstable),
        cmocka_unit_test(test_none),         cmocka_unit_test(test_modes),
        cmocka_unit_test(test_given_states), cmocka_unit_test(test_restart),
        cmocka_unit_test(test_wrong_states), cmocka_unit_test(test_switch_is_constant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
