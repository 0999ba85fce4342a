// test_signal_steps.c -- states of signals in the steps of index3 and rattle (kinematics/signal_steps.h): orders, tolerances,
// switches that hold.
#include "simulate/controller_cases.h"

static const char slider[] =
    "  u: {type: pid, reference: 0.3, measured: rail.q0, kp: 40, ki: 30, kd: 12, filter: 0.05}\n"
    "  force: {type: lag, of: u, time: 0.02}\n";

// Position, speed, integral part, lagged error, force, 1 of the slider at t, from rest at 0.1 with a speed of -0.2.
static void slider_at(double t, double x[N])
{
    const double m = 2, kp = 40, ki = 30, kd = 12, filter = 0.05, T = 0.02, r = 0.3;
    const double w = kp + kd / filter;
    double A[N][N] = {
        {0, 1},                                                  // q
        {0, 0, 0, 0, 1 / m},                                     // v
        {-ki, 0, 0, 0, 0, ki * r},                               // integral part
        {-1 / filter, 0, 0, -1 / filter, 0, r / filter},         // lagged error
        {-w / T, 0, 1 / T, -kd / filter / T, -1 / T, w * r / T}, // force
    };
    const double start[N] = {0.1, -0.2, 0, r - 0.1, kp * (r - 0.1), 1};
    memcpy(x, start, sizeof start);
    propagate(N, A, t, x);
}

static lw_sim *with_steps(const lw_model *m, const char *formulation, int order, double step)
{
    lw_options o;
    lw_sim *sim;
    lw_error error = {0};
    lw_options_default(&o);
    snprintf(o.formulation, sizeof o.formulation, "%s", formulation);
    o.order = order, o.step = step, o.duration = 3;
    lwt_ok(lw_sim_create(m, &(lw_sim_desc){.options = &o}, &sim, &error), &error);
    return sim;
}

static double error_of_steps(const lw_model *m, const char *formulation, int steps, const double *x)
{
    lw_sim *sim = with_steps(m, formulation, 0, 1.0 / steps);
    const lw_observation *seen = at(sim, 1);
    const double by[5] = {seen->q[0] - x[0], seen->qd[0] - x[1], seen->states[0] - x[2],
                          seen->states[1] - x[3], seen->states[2] - x[4]};
    double size = 0;
    for (int i = 0; i < 5; i++) size = fmax(size, fabs(by[i]));
    lw_sim_destroy(sim);
    return size;
}

static void own_steps_integrate_states_with_order_two(void **state)
{
    (void)state;
    lw_model *m = cart_with(slider);
    static const char *const names[] = {"index3", "rattle"};
    double x[N];
    slider_at(1, x);
    for (int i = 0; i < LWI_COUNT(names); i++) {
        const double a = error_of_steps(m, names[i], 200, x),
                     b = error_of_steps(m, names[i], 400, x);
        if (!(a < 5e-3 && a / b > 3.8 && a / b < 4.2)) fail_msg("%s: %g, %g", names[i], a, b);
    }
    lw_model_destroy(m);
}

// A loop that a relay drives through a lag, with another state: which side the relay is on is a state without a
// rate, at which the value jumps.  Corrections of it had round-off, which moved it to the other side.
static const char switched_loop[] =
    "linkwork: 1\n"
    "gravity: [0, -1, 0]\n"
    "signals:\n"
    "  way: {type: switch, value: 1}\n"
    "  side: {type: relay, of: l.q0, low: 0.2, high: 0.6, below: 3, above: -3}\n"
    "  sum: {type: integral, of: way*l.qd0, range: [-0.4, 0.4]}\n"
    "  slow: {type: lag, of: side, time: 0.03}\n"
    "  u: slow - 2*sum - 0.5*l.qd0\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0.5, 0]}\n"
    "  b: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 1, 0]}\n"
    "  c: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1.3, 0.5, 0]}\n"
    "joints:\n"
    "  l: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: u}, "
    "q: [0]}\n"
    "  m: {type: revolute, between: [a, b], at: [0, 1, 0], axis: [0, 0, 1]}\n"
    "  n: {type: revolute, between: [b, c], at: [1, 1, 0], axis: [0, 0, 1]}\n"
    "  r: {type: revolute, between: [c, ground], at: [1.6, 0, 0], axis: [0, 0, 1]}\n"
    "events:\n"
    "  tick: {every: 0.3, from: 0.3, set: {way: -way}}\n";

static void own_steps_hold_switches(void **state)
{
    (void)state;
    lw_model *m = parse(switched_loop);
    static const char *const names[] = {"index3", "rattle"};
    for (int i = 0; i < LWI_COUNT(names); i++) {
        lw_sim *sim = with_steps(m, names[i], 0, 0.002);
        assert_near(signal_of(m, at(sim, 0.2), "slow"), 3, 1e-9);
        assert_near(signal_of(m, at(sim, 0.5), "slow"), 3, 1e-9);
        assert_true(signal_of(m, at(sim, 0.5), "way") == -1);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(m);
}

// The steps of index3 that errors choose: states count too.
static void steps_of_index3_keep_the_tolerance_of_states(void **state)
{
    (void)state;
    lw_model *m = cart_with("  force: 0\n  fast: {type: lag, of: sin(40*t), time: 0.01}\n");
    double error[2];
    const double w = 40, T = 0.01;
    for (int i = 0; i < 2; i++) {
        lw_sim *sim = create(m, "index3", "auto", i ? 1e-6 : 1e-4);
        const double value = at(sim, 1)->states[0];
        // the particular solution and what is left of the start, which has died out
        error[i] = fabs(value - (sin(w) - w * T * cos(w)) / (1 + w * w * T * T));
        lw_sim_destroy(sim);
    }
    if (!(error[0] < 1e-3 && error[1] < 2e-5 && error[1] < error[0]))
        fail_msg("%g, %g", error[0], error[1]);
    lw_model_destroy(m);
}

// A state that acts on nothing, in the compositions of rattle: the integral of an oscillation.
static void compositions_of_rattle_integrate_states(void **state)
{
    (void)state;
    lw_model *m = parse("linkwork: 1\n"
                        "gravity: [0, 0, 0]\n"
                        "signals: {sum: {type: integral, of: rail.q0}}\n"
                        "bodies: {cart: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                        "joints: {rail: {type: prismatic, between: [ground, cart], at: [0, 0, 0], "
                        "axis: [1, 0, 0], q: [0.1], spring: {q0: {stiffness: 50}}}}\n");
    double error[2];
    for (int i = 0; i < 2; i++) {
        lw_sim *sim = with_steps(m, "rattle", 4, i ? 0.01 : 0.02);
        error[i] = fabs(at(sim, 2)->states[0] - 0.1 * sin(10) / 5);
        lw_sim_destroy(sim);
    }
    if (!(error[0] < 1e-5 && error[0] / error[1] > 14 && error[0] / error[1] < 18))
        fail_msg("%g, %g", error[0], error[1]);
    lw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_steps_integrate_states_with_order_two),
        cmocka_unit_test(own_steps_hold_switches),
        cmocka_unit_test(steps_of_index3_keep_the_tolerance_of_states),
        cmocka_unit_test(compositions_of_rattle_integrate_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
