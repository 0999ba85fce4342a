// test_sensitivity_events.c -- derivatives of runs with states of signals, against differences of runs.
#include "analysis/sensitivity_cases.h"

// Integrals, a controller, a lag, a filter of bodies' motion, and a servo with a lag.
static const char controlled_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {m: 1.5, kp: 40, ki: 30, tau: 0.05, w: 12, lag: 0.02, L: 0.5, goal: 0.3, x0: "
    "0.1}\n"
    "signals:\n"
    "  height: {type: integral, of: \"body.b.y^2 + 0.1*body.b.vx^2\"}\n"
    "  control: {type: pid, reference: goal, measured: A.q0, kp: kp, ki: ki, kd: 5, filter: tau}\n"
    "  slow: {type: lag, of: control, time: tau}\n"
    "  filter: {type: transfer, of: A.qd0, numerator: [1], denominator: [1/w^2, 1/w, 1]}\n"
    "  start: {type: integral, of: x0*B.q0 - start, initial: x0}\n"
    "bodies:\n"
    "  a: {mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}\n"
    "  b: {mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], position: [L, 0, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: "
    "slow}}\n"
    "  B: {type: revolute, between: [a, b], at: [L, 0, 0], axis: [0, 0, 1]}\n"
    "forces:\n"
    "  motor: {type: servo, joint: B, target: 0.4, kp: 20, kd: 2, lag: lag}\n"
    "measures: {q: joint.A.q0, h: signal.height.value, f: signal.filter.value, u: "
    "signal.control.value,\n"
    "  s: signal.start.value, e: servo.motor.effort}\n"
    "simulation: {duration: 0.2, sample: 0.1}\n";

static void test_signals(void **state)
{
    (void)state;
    static const char *const by[] = {"m", "kp", "ki", "tau", "w", "lag", "L", "goal", "x0"};
    all_methods_agree(controlled_text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-9);
}

// A double pendulum; rows between start and end have the extremes.
static const char swing_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {m: 1.5, c: 0.3, L: 0.5}\n"
    "bodies:\n"
    "  a: {mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}\n"
    "  b: {mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], position: [L, 0, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], qd: [5],\n"
    "    spring: {q0: {damping: c}}}\n"
    "  B: {type: revolute, between: [a, b], at: [L, 0, 0], axis: [0, 0, 1]}\n"
    "measures: {x: body.b.x, y: body.b.y}\n"
    "simulation: {duration: 1, sample: 0.08}\n";

static void test_extremes(void **state)
{
    (void)state;
    static const char *const by[] = {"m", "c", "L"};
    all_methods_agree(swing_text, LWI_COUNT(by), by, LW_STATISTIC_MIN, 1e-9);
    all_methods_agree(swing_text, LWI_COUNT(by), by, LW_STATISTIC_MAX, 1e-9);
}

// Rows half a period apart have the same value.
static void test_tie(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\n"
                               "gravity: [0, 0, 0]\n"
                               "parameters: {m: 1}\n"
                               "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                               "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], "
                               "axis: [1, 0, 0], q: [1],\n"
                               "  spring: {q0: {stiffness: 39.47841760435743}}}}\n"
                               "measures: {q: joint.A.q0}\n"
                               "simulation: {duration: 2, sample: 0.25}\n";
    static const char *const by[] = {"m"};
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *s = by_adjoint(model, &options, 1, by, LW_STATISTIC_MIN);
    assert_string_equal(lw_sensitivity_warning(s),
                        "min of 'measure.q': the rows at t = 0.5 s and t = 1.5 s have the same "
                        "value: the derivative is that of the first");
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signals),
                                       cmocka_unit_test(test_extremes), cmocka_unit_test(test_tie)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
