// test_sensitivity_events.c -- derivatives of runs with states of signals, events, impacts and stops, against differences of
// runs and closed forms.
#include "analysis/adjoint.h"
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

// Rows a third of a period before and after a maximum have the same value, the later one less by 2.6e-11.
static void test_tie(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\n"
                               "gravity: [0, 0, 0]\n"
                               "parameters: {m: 1}\n"
                               "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                               "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], "
                               "axis: [1, 0, 0], q: [1],\n"
                               "  spring: {q0: {stiffness: 4.38649084488474}}}}\n"
                               "measures: {q: joint.A.q0}\n"
                               "simulation: {duration: 3, sample: 1}\n";
    static const char *const by[] = {"m"};
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *s = by_adjoint(model, &options, 1, by, LW_STATISTIC_MIN);
    assert_string_equal(lw_sensitivity_warning(s),
                        "min of 'measure.q': the rows at t = 1 s and t = 2 s have the same value: "
                        "the derivative is that at t = 2 s");
    // q = cos(w t), dq/dm = t sin(w t) w / 2 at m = 1
    const double w = sqrt(4.38649084488474);
    lwt_near(lw_sensitivity_at(s, 0, 0, LW_STATISTIC_MIN, NULL), w * sin(2 * w), 1e-9);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// A double pendulum that an event stops.
static const char stopped_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {m: 1, L: 1, angle: 0.3, w0: 1, c: 0.2}\n"
    "bodies:\n"
    "  bob: {mass: m, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -L, 0]}\n"
    "  arm: {mass: 0.5, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -L/2, 0], position: [0, -L, "
    "0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1], q: [-1], qd: "
    "[w0], spring: {q0: {damping: c}}}\n"
    "  B: {type: revolute, between: [bob, arm], at: [0, -L, 0], axis: [0, 0, 1]}\n"
    "events:\n"
    "  end: {when: A.q0 > angle, stop: true}\n"
    "measures: {w: joint.A.qd0, x: body.arm.x, q: joint.A.q0}\n"
    "simulation: {duration: 5, sample: 0.1}\n";

static void test_stop(void **state)
{
    (void)state;
    static const char *const by[] = {"m", "L", "angle", "w0", "c"};
    all_methods_agree(stopped_text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-9);
    all_methods_agree(stopped_text, 3, by, LW_STATISTIC_RMS, 1e-9);
}

// A constant force pushes a mass over a distance d: v = sqrt(2 F d / m).
static void test_stop_in_closed_form(void **state)
{
    (void)state;
    static const char *const by[] = {"m", "F", "d"};
    static const double expected[] = {-0.375, 0.25, 1};
    lw_options options;
    lw_model *model = parse(cart, &options);
    lw_sensitivity *s = by_adjoint(model, &options, 3, by, LW_STATISTIC_LAST);
    lwt_near(lw_sensitivity_value(s, 0, LW_STATISTIC_LAST), 1.5, 1e-12);
    for (int k = 0; k < 3; k++)
        lwt_near(lw_sensitivity_at(s, k, 0, LW_STATISTIC_LAST, NULL), expected[k], 1e-10);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// Switches: at a condition, at one that follows at the same time, and periodically.
static const char switched_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {m: 1, L: 1, on: -0.4, u0: 2, T: 0.25, kd: 0.7, k: 3, c: 0.2}\n"
    "signals:\n"
    "  u: {type: switch, value: 0}\n"
    "  s: {type: switch, value: 0}\n"
    "  total: {type: integral, of: \"u*A.qd0\"}\n"
    "bodies:\n"
    "  bob: {mass: m, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -L, 0]}\n"
    "  arm: {mass: 0.5, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -L/2, 0], position: [0, -L, "
    "0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1], q: [-1], "
    "effort: {q0: u}, spring: {q0: {damping: c}}}\n"
    "  B: {type: revolute, between: [bob, arm], at: [0, -L, 0], axis: [0, 0, 1], effort: {q0: s}}\n"
    "events:\n"
    "  push: {when: A.q0 > on, set: {u: \"u0 + k*B.q0 + t*t\"}}\n"
    "  chained: {when: \"u > 0.5\", set: {u: \"u + 0.1*A.qd0\"}}\n"
    "  tick: {every: T, from: T, set: {s: \"-kd*B.qd0 - k*B.q0\"}}\n"
    "measures: {w: joint.A.qd0, x: body.arm.x, W: signal.total.value, s: signal.s.value}\n"
    "simulation: {duration: 0.8, sample: 0.1}\n";

static void test_switches(void **state)
{
    (void)state;
    static const char *const by[] = {"L", "on", "u0", "T", "k"};
    all_methods_agree(switched_text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-8);
}

// A four-bar with impulses at times that are parameters.
static const char struck_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {m: 1, P: 2, T: 0.3, ef: 0.5, L: 0.5}\n"
    "bodies:\n"
    "  crank:   {mass: m, inertia: [0.02, 0.01, 0.02, 0, 0, 0], position: [0, 0.25, 0]}\n"
    "  coupler: {mass: 3, inertia: [0.01, 0.4, 0.4, 0, 0, 0], position: [0.6, 0.7, 0]}\n"
    "  rocker:  {mass: 2, inertia: [0.1, 0.01, 0.1, 0, 0, 0], position: [1.2, 0.45, 0]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], qd: [0.7]}\n"
    "  b: {type: revolute, between: [crank, coupler], at: [0, 0.5, 0], axis: [0, 0, 1]}\n"
    "  c: {type: revolute, between: [coupler, rocker], at: [1.2, 0.9, 0], axis: [0, 0, 1]}\n"
    "  d: {type: revolute, between: [ground, rocker], at: [1.2, 0, 0], axis: [0, 0, 1]}\n"
    "impulses:\n"
    "  hammer: {time: T, body: coupler, point: [0.1, 0, 0], impulse: [-P, 0, 0]}\n"
    "  motor:  {time: 0.4, joint: a, coordinate: q0, effort: ef}\n"
    "measures: {q: joint.a.q0, w: joint.a.qd0}\n"
    "simulation: {duration: 0.6, sample: 0.1}\n";

static void test_impulses(void **state)
{
    (void)state;
    static const char *const by[] = {"m", "P", "T", "ef"};
    all_methods_agree(struck_text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-9);
}

// An impulse at a row: what the row shows jumps as the impulse passes it, which differences say.  Between rows they agree.
static void test_impulse_at_row(void **state)
{
    (void)state;
    static const char *const by[] = {"T", "m"};
    lw_options options;
    lw_model *model = parse(struck_text, &options);
    lw_sensitivity *s = differentiate(model, &options, 2, by, NULL);
    const char *warning = lw_sensitivity_warning(s);
    assert_non_null(strstr(warning, "parameter 'T' moves an impact across the row at t = 0.3 s"));
    assert_non_null(strstr(warning, "--sample"));
    lw_sensitivity_destroy(s);
    s = differentiate(model, &options, 1, by + 1, NULL);
    assert_string_equal(lw_sensitivity_warning(s), "");
    lw_sensitivity_destroy(s);
    options.sample = 0.25;
    s = differentiate(model, &options, 2, by, NULL);
    assert_string_equal(lw_sensitivity_warning(s), "");
    lw_sensitivity *adjoint = by_adjoint(model, &options, 2, by, LW_STATISTIC_MEAN);
    for (int c = 0; c < 2; c++)
        lwt_near(lw_sensitivity_at(s, 0, c, LW_STATISTIC_MEAN, NULL),
                 lw_sensitivity_at(adjoint, 0, c, LW_STATISTIC_MEAN, NULL), 1e-8);
    lw_sensitivity_destroy(adjoint);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// A four-bar with a relay; a drive with a rate that jumps.
static const char relay_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {m: 1, lo: -0.2, hi: 0.1, push: 1.5, D: 0.4, T: 0.2, rate: 2}\n"
    "signals:\n"
    "  th: {type: relay, of: \"a.q0 - 0.2\", low: lo, high: hi, below: push, above: -1.5}\n"
    "bodies:\n"
    "  crank:   {mass: m, inertia: [0.02, 0.01, 0.02, 0, 0, 0], position: [0, 0.25, 0]}\n"
    "  coupler: {mass: 3, inertia: [0.01, 0.4, 0.4, 0, 0, 0], position: [0.6, 0.7, 0]}\n"
    "  rocker:  {mass: 2, inertia: [0.1, 0.01, 0.1, 0, 0, 0], position: [1.2, 0.45, 0]}\n"
    "  slide: {mass: 1, inertia: [1,1,1,0,0,0], position: [5, 0, 0]}\n"
    "  bob: {mass: 1, inertia: [0.1,0.1,0.1,0,0,0], com: [0,-0.5,0], position: [5, 0, 0]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], qd: [0.7], "
    "effort: {q0: th}, spring: {q0: {stiffness: 80, at: 0.2}}}\n"
    "  b: {type: revolute, between: [crank, coupler], at: [0, 0.5, 0], axis: [0, 0, 1]}\n"
    "  c: {type: revolute, between: [coupler, rocker], at: [1.2, 0.9, 0], axis: [0, 0, 1]}\n"
    "  d: {type: revolute, between: [ground, rocker], at: [1.2, 0, 0], axis: [0, 0, 1]}\n"
    "  s: {type: prismatic, between: [ground, slide], at: [5, 0, 0], axis: [1, 0, 0], motion: {q0: "
    "{type: ramp, rate: rate, from: T}}}\n"
    "  h: {type: revolute, between: [slide, bob], at: [5, 0, 0], axis: [0, 0, 1]}\n"
    "events:\n"
    "  end: {when: \"c.q0 < -0.9\", stop: true}\n"
    "measures: {q: joint.a.q0, w: joint.a.qd0, hq: joint.h.q0, c: joint.c.q0}\n"
    "simulation: {duration: 0.4, sample: 0.1}\n";

static void test_relay_and_ramp(void **state)
{
    (void)state;
    static const char *const by[] = {"lo", "push", "rate", "T"};
    all_methods_agree(relay_text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-8);
}

// A relay that begins above its range.
static void test_relay_at_start(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, 0, 0]\n"
        "parameters: {push: 2, q0: 0.5, m: 1.5}\n"
        "signals: {u: {type: relay, of: A.q0 + 0.1*A.qd0, low: -0.2, high: 0.1, below: push,\n"
        "  above: -1, initial: 0}}\n"
        "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0], q: "
        "[q0],\n"
        "  qd: [-0.3], effort: {q0: u}}}\n"
        "measures: {q: joint.A.q0, v: joint.A.qd0}\n"
        "simulation: {duration: 2}\n";
    static const char *const by[] = {"push", "q0", "m"};
    all_methods_agree(text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-9);

    // The same motion, where the relay has to change its side at the start; it does so there for any parameters.
    lw_options options;
    lw_model *model = parse(text, &options), *late = parse(text, &options);
    assert_int_equal(late->nstate, 1);
    assert_true(late->state0[0] == 1);
    late->state0[0] = late->function[0].start[0] = 0;
    for (int forward = 0; forward < 2; forward++) {
        const lw_sensitivity_method method =
            forward ? LW_SENSITIVITY_FORWARD : LW_SENSITIVITY_ADJOINT;
        lw_sensitivity *s = by_method(late, &options, 3, by, LW_STATISTIC_LAST, method),
                       *expected = by_method(model, &options, 3, by, LW_STATISTIC_LAST, method);
        for (int c = 0; c < 2; c++)
            for (int k = 0; k < 3; k++)
                lwt_near(lw_sensitivity_at(s, k, c, LW_STATISTIC_LAST, NULL),
                         lw_sensitivity_at(expected, k, c, LW_STATISTIC_LAST, NULL), 1e-12);
        lw_sensitivity_destroy(s);
        lw_sensitivity_destroy(expected);
    }
    lw_model_destroy(late);
    lw_model_destroy(model);
}

// A pendulum against a stop of its joint, a ball that jumps on a plane.  Differences of such runs have six digits: the
// motion of the ball depends on the difference of height and radius alone.
static const char bounce_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {m: 1, k: 500, c: 3, up: 0.2, h: 0.4, kb: 4000, d: 0.3, n: 1.5, r: 0.1}\n"
    "bodies:\n"
    "  bob: {mass: m, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -1, 0]}\n"
    "  ball: {mass: 0.5, inertia: [0.002, 0.002, 0.002, 0, 0, 0], position: [2, h, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1], q: [-1], "
    "limits: {q0: {upper: up, lower: -3, stiffness: k, damping: c}}}\n"
    "forces:\n"
    "  floor: {type: stop, between: [ball, ground], radius: r, to: [0, 0, 0], normal: [0, 1, 0], "
    "stiffness: kb, exponent: n, dissipation: d}\n"
    "measures: {w: joint.A.qd0, q: joint.A.q0, y: body.ball.y, v: body.ball.vy}\n"
    "simulation: {duration: 0.55, sample: 0.1}\n";

static void test_stops(void **state)
{
    (void)state;
    static const char *const by[] = {"c", "up", "d", "n", "h", "r"};
    enum { H = 4, R = 5 };
    lw_options options;
    lw_model *model = parse(bounce_text, &options);
    lw_sensitivity *differences = differentiate(model, &options, LWI_COUNT(by), by, NULL);
    options.rtol = options.atol = 1e-12;
    lw_sensitivity *s = by_adjoint(model, &options, LWI_COUNT(by), by, LW_STATISTIC_LAST);
    double by_h[4], by_r[4];
    for (int c = 0; c < 4; c++) {
        for (int k = 0; k < LWI_COUNT(by); k++)
            lwt_near(lw_sensitivity_at(s, k, c, LW_STATISTIC_LAST, NULL),
                     lw_sensitivity_at(differences, k, c, LW_STATISTIC_LAST, NULL), 2e-5);
        by_h[c] = lw_sensitivity_at(s, H, c, LW_STATISTIC_LAST, NULL);
        by_r[c] = lw_sensitivity_at(s, R, c, LW_STATISTIC_LAST, NULL);
    }
    assert_true(fabs(by_h[3]) > 1);
    lwt_near(by_r[2], 1 - by_h[2], 1e-9); // measure.y
    lwt_near(by_r[3], -by_h[3], 1e-9);    // measure.v
    same_forward(s, model, &options, LWI_COUNT(by), by, LW_STATISTIC_LAST);
    lw_sensitivity_destroy(s);
    lw_sensitivity_destroy(differences);
    lw_model_destroy(model);
}

// A ball on an elastic plane keeps its energy E = m (v^2/2 + g y): so do derivatives, dE/dh = m g, of others zero.
static void test_bounce_in_closed_form(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "parameters: {h: 0.4, k: 4000, n: 1.5}\n"
        "bodies: {ball: {mass: 0.5, inertia: [0.002, 0.002, 0.002, 0, 0, 0], position: [0, h, "
        "0]}}\n"
        "forces: {floor: {type: stop, between: [ball, ground], radius: 0.1, to: [0, 0, 0],\n"
        "  normal: [0, 1, 0], stiffness: k, exponent: n}}\n"
        "measures: {y: body.ball.y, v: body.ball.vy}\n"
        "simulation: {duration: 0.4}\n";
    static const char *const by[] = {"h", "k", "n"};
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *s = by_adjoint(model, &options, 3, by, LW_STATISTIC_LAST);
    const double v = lw_sensitivity_value(s, 1, LW_STATISTIC_LAST);
    assert_true(v > 0); // it has left the plane
    for (int k = 0; k < 3; k++) {
        const double dy = lw_sensitivity_at(s, k, 0, LW_STATISTIC_LAST, NULL),
                     dv = lw_sensitivity_at(s, k, 1, LW_STATISTIC_LAST, NULL);
        lwt_near(v * dv + 9.81 * dy, k == 0 ? 9.81 : 0, 1e-5); // 1e-3 without shorter steps
    }
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// A mass on a spring, with events; @ stands for them.
static void refused(const char *events, const char *by, double duration, const char *expected)
{
    static const char before[] =
        "linkwork: 1\n"
        "gravity: [0, 0, 0]\n"
        "parameters: {k: 4, T: 0.1}\n"
        "signals: {u: {type: switch, value: 0}, w: {type: switch, value: 0}}\n"
        "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0], q: "
        "[-1],\n"
        "  spring: {q0: {stiffness: k}}, effort: {q0: u}}}\n"
        "measures: {q: joint.A.q0}\n"
        "events: {";
    char text[sizeof before + 300];
    snprintf(text, sizeof text, "%s%s}\n", before, events);
    lw_options options;
    lw_error error;
    lw_sensitivity *s = NULL;
    lw_model *model = parse(text, &options);
    options.duration = duration;
    lw_sensitivity_desc desc = {
        .options = &options, .nby = 1, .by = &by, .method = LW_SENSITIVITY_ADJOINT};
    assert_int_equal(lw_sensitivity_create(model, &desc, &s, &error), LW_ERR_UNSUPPORTED);
    if (!strstr(error.text, expected)) fail_msg("%s", error.text);
    desc.method = LW_SENSITIVITY_FORWARD;
    assert_int_equal(lw_sensitivity_create(model, &desc, &s, &error), LW_ERR_UNSUPPORTED);
    if (!strstr(error.text, expected)) fail_msg("%s", error.text);
    assert_null(s);
    lw_model_destroy(model);
}

static void test_no_derivative(void **state)
{
    (void)state;
    refused("top: {when: A.q0 > 0.999999999999, stop: true}", "k", 1.5707963,
            "event 'top' at t = 1.5707956 s: its condition touches zero");
    refused("one: {when: A.q0 > 0.1, set: {u: 1}}, two: {when: A.q0 > 0.1, set: {w: A.qd0}}", "k",
            1, "events 'one' and 'two' happen at the same time, t = 0.83548");
    refused("one: {at: [0.1], set: {u: 1}}, two: {every: T, from: T, set: {w: 3}}", "T", 0.3,
            "events 'one' and 'two' happen at t = 0.1 s, and parameter 'T' moves them apart");
    refused("begin: {at: [0], stop: true}", "k", 1, "an event stops the run at its start");
}

// Steps that are computed again give the same derivatives: bit for bit without jumps, up to round-off with them, where the
// steps of a simulation are recorded.
static void check_memory(const char *text, int n, const char *const *by, double duration,
                         lw_sensitivity_method method, double tolerance)
{
    lw_options options;
    lw_error error;
    lw_model *model = parse(text, &options);
    options.duration = duration;
    const lw_sensitivity_desc desc = {.options = &options, .nby = n, .by = by, .method = method};
    lwi_adjoint *all = NULL, *some = NULL;
    lwt_ok(lwi_adjoint_create(model, &desc, LWI_ADJOINT_MEMORY, &all, &error), &error);
    lwt_ok(lwi_adjoint_create(model, &desc, 1, &some, &error), &error); // 512 states
    for (int c = 0; c < lwi_adjoint_columns(all); c++)
        for (int k = 0; k < n; k++) {
            const double expected = lwi_adjoint_gradient(all, c, k);
            lwt_near(lwi_adjoint_gradient(some, c, k), expected, tolerance * (1 + fabs(expected)));
        }
    lwi_adjoint_destroy(all);
    lwi_adjoint_destroy(some);
    lw_model_destroy(model);
}

static void test_memory(void **state)
{
    (void)state;
    static const char oscillator[] = "linkwork: 1\n"
                                     "parameters: {k: 400, m: 1.5, c: 0.01, on: 0.1}\n"
                                     "signals: {u: {type: switch, value: 0}}\n"
                                     "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                                     "joints: {A: {type: prismatic, between: [ground, a], at: [0, "
                                     "0, 0], axis: [1, 0, 0], q: [1],\n"
                                     "  spring: {q0: {stiffness: k, damping: c}}EFFORT}}\n"
                                     "measures: {q: joint.A.q0}\n"
                                     "simulation: {rtol: 1e-12, atol: 1e-12}\n";
    static const char *const by[] = {"k", "m", "c", "on"};
    char text[sizeof oscillator + 200];
    const char *at = strstr(oscillator, "EFFORT");
    snprintf(text, sizeof text, "%.*s%s", (int)(at - oscillator), oscillator, at + 6);
    check_memory(text, 3, by, 15, LW_SENSITIVITY_ADJOINT, 0);
    check_memory(text, 3, by, 15, LW_SENSITIVITY_FORWARD, 0);
    snprintf(text, sizeof text,
             "%.*s, effort: {q0: u}%sevents:\n"
             "  on: {when: A.q0 > on and t > 10, set: {u: 1 + u - 0.1*A.qd0}}\n",
             (int)(at - oscillator), oscillator, at + 6);
    check_memory(text, 4, by, 15, LW_SENSITIVITY_ADJOINT, 1e-9);
}

// Momenta of a run by hdca, of which they are the state, by those of speeds; in loops they contain a gauge.
static void test_momenta(void **state)
{
    (void)state;
    static const char *const by[] = {"m", "c", "L"};
    static const char columns[] = "joint.*.p0,body.b.py,joint.B.sfx";
    lw_options options;
    lw_error error;
    lw_sensitivity *s = NULL;
    lw_model *model = parse(swing_text, &options);
    strcpy(options.formulation, "hdca");
    options.duration = 0.2;
    lw_sensitivity *differences = differentiate(model, &options, 3, by, columns);
    options.rtol = options.atol = 1e-12;
    lw_sensitivity_desc desc = {.options = &options,
                                .nby = 3,
                                .by = by,
                                .columns = columns,
                                .method = LW_SENSITIVITY_ADJOINT};
    lwt_ok(lw_sensitivity_create(model, &desc, &s, &error), &error);
    assert_int_equal(lw_sensitivity_columns(s), 4);
    same_derivatives(s, differences, 3, 1e-3, 1e-8);
    lw_sensitivity_destroy(s);
    lw_sensitivity_destroy(differences);
    lw_model_destroy(model);
    model = parse(struck_text, &options);
    options.state = LW_STATE_MOMENTA;
    desc.nby = 1, desc.columns = "body.*.px,joint.a.p0";
    assert_int_equal(lw_sensitivity_create(model, &desc, &s, &error), LW_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "column 'joint.a.p0': with momenta as state"));
    desc.columns = "body.coupler.px";
    lwt_ok(lw_sensitivity_create(model, &desc, &s, &error), &error);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// The first step, a thousandth of the duration, leads to states where the force is not a number.
static void test_long_run(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\n"
                               "gravity: [0, 0, 0]\n"
                               "parameters: {C: 2000}\n"
                               "signals: {f: \"C/A.q0^2 + 0*sqrt(A.q0)\"}\n"
                               "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                               "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], "
                               "axis: [1, 0, 0], q: [1],\n"
                               "  qd: [-200], effort: {q0: f}}}\n"
                               "measures: {v: joint.A.qd0}\n"
                               "simulation: {duration: 20}\n";
    static const char *const by[] = {"C"};
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *s = by_adjoint(model, &options, 1, by, LW_STATISTIC_LAST);
    // v^2/2 + C/q is constant
    const double q = 1 + 200 * 20, v = lw_sensitivity_value(s, 0, LW_STATISTIC_LAST);
    lwt_near(v, 209.76, 0.01);
    assert_true(fabs(lw_sensitivity_at(s, 0, 0, LW_STATISTIC_LAST, NULL) - (1 - 1 / q) / v) < 1e-5);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// Servos behind a lag, on the sum of two coordinates and on a joint that closes a loop: they have no effort at the start,
// where a factor has no effect.
static const char lag_of_sum[] =
    "linkwork: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {factor: 1.3, gear: 1.1, kp: 7}\n"
    "functions: {wanted: {type: constant, value: 0.5}}\n"
    "bodies:\n"
    "  a: {mass: 1, com: [0.3, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0]}\n"
    "  b: {mass: 1, com: [0.3, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.6, 0, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], q: [0.3]}\n"
    "  B: {type: revolute, between: [a, b], at: [0.6, 0, 0], axis: [0, 1, 0], q: [0.3]}\n"
    "forces:\n"
    "  servo: {type: servo, of: [{joint: A, factor: factor}, {joint: B, factor: 2}], gear: gear,\n"
    "    target: wanted, kp: kp, kd: 1, lag: 0.1}\n"
    "measures: {a: joint.A.q0, b: joint.B.qd0}\n"
    "simulation: {duration: 0.4}\n";

static const char lag_on_cut[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {gear: 3, mass: 1}\n"
    "functions: {wanted: {type: constant, value: 0.5}}\n"
    "bodies:\n"
    "  a: {mass: 0.4, inertia: [0, 0.005, 0.005, 0, 0, 0], position: [0, 0.2, 0]}\n"
    "  b: {mass: mass, inertia: [0, 0.08, 0.08, 0, 0, 0], position: [0.5, 0.4, 0]}\n"
    "  c: {mass: 0.5, inertia: [0, 0.01, 0.01, 0, 0, 0], position: [1, 0.2, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  B: {type: revolute, between: [a, b], at: [0, 0.4, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [b, c], at: [1, 0.4, 0], axis: [0, 0, 1], cut: always}\n"
    "  D: {type: revolute, between: [ground, c], at: [1, 0, 0], axis: [0, 0, 1]}\n"
    "forces:\n"
    "  servo: {type: servo, joint: C, gear: gear, target: wanted, kp: 5, kd: 1, lag: 0.1}\n"
    "measures: {a: joint.A.q0, y: body.b.y}\n"
    "simulation: {duration: 0.4}\n";

// A limit of a joint that closes a loop, out of contact at the start.
static const char limit_on_cut[] =
    "linkwork: 1\n"
    "gravity: [3, -9.81, 0]\n"
    "parameters: {k: 300}\n"
    "bodies:\n"
    "  a: {mass: 0.4, inertia: [0, 0.005, 0.005, 0, 0, 0], position: [0, 0.2, 0]}\n"
    "  b: {mass: 1, inertia: [0, 0.08, 0.08, 0, 0, 0], position: [0.5, 0.4, 0]}\n"
    "  c: {mass: 0.5, inertia: [0, 0.01, 0.01, 0, 0, 0], position: [1, 0.2, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  B: {type: revolute, between: [a, b], at: [0, 0.4, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [b, c], at: [1, 0.4, 0], axis: [0, 0, 1], cut: always,\n"
    "    limits: {q0: {lower: -0.3, upper: 0.3, stiffness: k}}}\n"
    "  D: {type: revolute, between: [ground, c], at: [1, 0, 0], axis: [0, 0, 1]}\n"
    "measures: {a: joint.A.q0}\n"
    "simulation: {duration: 0.5}\n";

static void test_servos_behind_a_lag(void **state)
{
    (void)state;
    static const char *const of_sum[] = {"factor", "gear", "kp"}, *const on_cut[] = {"gear",
                                                                                     "mass"};
    adjoint_agrees(lag_of_sum, 3, of_sum, 1e-4, 1e-8);
    adjoint_agrees(lag_on_cut, 2, on_cut, 5e-4, 1e-8);
}

static void test_limit_on_cut(void **state)
{
    (void)state;
    static const char *const by[] = {"k"};
    adjoint_agrees(limit_on_cut, 1, by, 1e-5, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signals),
                                       cmocka_unit_test(test_servos_behind_a_lag),
                                       cmocka_unit_test(test_limit_on_cut),
                                       cmocka_unit_test(test_extremes),
                                       cmocka_unit_test(test_tie),
                                       cmocka_unit_test(test_stop),
                                       cmocka_unit_test(test_stop_in_closed_form),
                                       cmocka_unit_test(test_switches),
                                       cmocka_unit_test(test_impulses),
                                       cmocka_unit_test(test_impulse_at_row),
                                       cmocka_unit_test(test_relay_and_ramp),
                                       cmocka_unit_test(test_relay_at_start),
                                       cmocka_unit_test(test_stops),
                                       cmocka_unit_test(test_bounce_in_closed_form),
                                       cmocka_unit_test(test_no_derivative),
                                       cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_momenta),
                                       cmocka_unit_test(test_long_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
