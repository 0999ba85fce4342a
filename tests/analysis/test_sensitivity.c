// test_sensitivity.c -- derivatives of a run by parameters: a four-bar against differentiated equations of motion in
// one coordinate, computed with complex numbers; failures.
#include "analysis/sensitivity_cases.h"

// The four-bar of lwt_sprung_four_bar at 1.2 rad, at rest, its lengths being parameters.
static const char model_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters:\n"
    "  crank: {value: 400, unit: mm}\n"
    "  coupler: {value: 1, unit: m}\n"
    "  rocker: {value: 0.8, unit: m, max: 0.8005}\n"
    "  base: {value: 1, unit: m}\n"
    "  line: {value: 1, unit: kg/m}\n"
    "  rate: {value: 20, unit: N m/rad}\n"
    "  nothing: {value: 0, unit: kg}\n"
    "  x1: {value: crank*cos(1.2)}\n"
    "  y1: {value: crank*sin(1.2)}\n"
    "  d: {value: \"hypot(base - x1, y1)\"}\n"
    "  a2: {value: \"atan2(-y1, base - x1) + acos((coupler^2 + d^2 - rocker^2)/(2*coupler*d))\"}\n"
    "  x2: {value: x1 + coupler*cos(a2)}\n"
    "  y2: {value: y1 + coupler*sin(a2)}\n"
    "  a3: {value: \"atan2(y2, x2 - base)\"}\n"
    "bodies:\n"
    "  crank_rod: {mass: line*crank, inertia: [0, line*crank^3/12, line*crank^3/12, 0, 0, 0],\n"
    "    position: [x1/2, y1/2, 0], orientation: [cos(0.6), 0, 0, sin(0.6)]}\n"
    "  coupler_rod: {mass: line*coupler, inertia: [0, line*coupler^3/12, line*coupler^3/12, 0, 0, "
    "0],\n"
    "    position: [(x1+x2)/2, (y1+y2)/2, 0], orientation: [cos(a2/2), 0, 0, sin(a2/2)]}\n"
    "  rocker_rod: {mass: line*rocker, inertia: [0, line*rocker^3/12, line*rocker^3/12, 0, 0, 0],\n"
    "    position: [(base+x2)/2, y2/2, 0], orientation: [cos(a3/2), 0, 0, sin(a3/2)]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank_rod], at: [0, 0, 0], axis: [0, 0, 1],\n"
    "      spring: {q0: {stiffness: rate, at: 1.0471975511965976 - 1.2}}}\n"
    "  B: {type: revolute, between: [crank_rod, coupler_rod], at: [x1, y1, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [coupler_rod, rocker_rod], at: [x2, y2, 0], axis: [0, 0, 1]}\n"
    "  D: {type: revolute, between: [ground, rocker_rod], at: [base, 0, 0], axis: [0, 0, 1]}\n"
    "measures:\n"
    "  middle: {of: body.coupler_rod.x}\n"
    "  speed: {of: joint.A.qd0}\n"
    "simulation: {duration: 2, sample: 0.5}\n";

static lw_model *four_bar(lw_options *options)
{
    return parse(model_text, options);
}

// A column at the level of poses; the other measure needs speeds.
static void test_four_bar(void **state)
{
    (void)state;
    static const char *const by[] = {"crank", "coupler", "base", "line", "rate"};
    static const double expected[] = {5.949232505844005e-3, 1.8681501726165572,
                                      -0.32444359465659717, 0.7619414256257783,
                                      -0.03809707128128109};
    lw_options options;
    lw_model *model = four_bar(&options);
    lw_sensitivity *s = differentiate(model, &options, 5, by, "measure.middle");
    assert_int_equal(lw_sensitivity_columns(s), 1);
    lwt_near(lw_sensitivity_value(s, 0, LW_STATISTIC_LAST), 0.671159599632231, 1e-11);
    for (int k = 0; k < lw_sensitivity_parameters(s); k++) {
        double error;
        const double slope = lw_sensitivity_at(s, k, 0, LW_STATISTIC_LAST, &error);
        lwt_near(slope, expected[k], 2e-9);
        assert_true(fabs(slope - expected[k]) <= error + 1e-9);
        assert_string_equal(lw_sensitivity_parameter(s, k), by[k]);
        assert_string_equal(lw_sensitivity_failure(s, k), "");
    }
    assert_true(isnan(lw_sensitivity_at(s, 5, 0, LW_STATISTIC_LAST, NULL)));
    assert_true(isnan(lw_sensitivity_at(s, 0, 1, LW_STATISTIC_LAST, NULL)));
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// The integral of the square of the crank's speed, a state of a signal: the other measure of the reference.
static void test_integral(void **state)
{
    (void)state;
    static const char *const by[] = {"crank", "coupler", "base", "line", "rate"};
    static const double expected[] = {-44.42662134586868e-3, -0.8785657202587747,
                                      -6.979560110539491, -4.518041290196964, 0.2259020645125097};
    static const char signals[] =
        "signals: {sum: {type: integral, of: joint.A.qd0^2}}\nmeasures:\n  sum: signal.sum.value\n";
    char text[sizeof model_text + sizeof signals];
    const char *at = strstr(model_text, "measures:\n");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - model_text), model_text, signals,
             at + strlen("measures:\n"));
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *s = differentiate(model, &options, 5, by, "measure.sum");
    lwt_near(lw_sensitivity_value(s, 0, LW_STATISTIC_LAST), 8.27985301791174, 1e-9);
    for (int k = 0; k < 5; k++)
        lwt_near(lw_sensitivity_at(s, k, 0, LW_STATISTIC_LAST, NULL), expected[k], 1e-8);
    lw_sensitivity_destroy(s);
    options.rtol = options.atol = 1e-13;
    s = by_adjoint(model, &options, 5, by, LW_STATISTIC_LAST);
    assert_string_equal(lw_sensitivity_column(s, 0).name, "measure.sum");
    lwt_near(lw_sensitivity_value(s, 0, LW_STATISTIC_LAST), 8.27985301791174, 1e-11);
    for (int k = 0; k < 5; k++)
        lwt_near(lw_sensitivity_at(s, k, 0, LW_STATISTIC_LAST, NULL), expected[k], 1e-8);
    same_forward(s, model, &options, 5, by, LW_STATISTIC_LAST);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// The same by the adjoint, of two columns at once.
static void test_four_bar_by_adjoint(void **state)
{
    (void)state;
    static const char *const by[] = {"crank", "coupler", "base", "line", "rate"};
    static const double expected[] = {5.949232505844005e-3, 1.8681501726165572,
                                      -0.32444359465659717, 0.7619414256257783,
                                      -0.03809707128128109};
    lw_options options;
    lw_model *model = four_bar(&options);
    options.rtol = options.atol = 1e-13;
    lw_sensitivity *s = by_adjoint(model, &options, 5, by, LW_STATISTIC_LAST);
    assert_int_equal(lw_sensitivity_columns(s), 2);
    assert_string_equal(lw_sensitivity_column(s, 1).name, "measure.speed");
    lwt_near(lw_sensitivity_value(s, 0, LW_STATISTIC_LAST), 0.671159599632231, 1e-12);
    lwt_near(lw_sensitivity_value(s, 1, LW_STATISTIC_LAST), 2.809928301935, 1e-10);
    for (int k = 0; k < 5; k++)
        lwt_near(lw_sensitivity_at(s, k, 0, LW_STATISTIC_LAST, NULL), expected[k], 1e-10);
    same_forward(s, model, &options, 5, by, LW_STATISTIC_LAST);
    assert_true(isnan(lw_sensitivity_at(s, 0, 0, LW_STATISTIC_MEAN, NULL)));
    double rtol, atol;
    lw_sensitivity_tolerances(s, &rtol, &atol);
    assert_true(rtol == 1e-13 && atol == 1e-13);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// The same on a carriage that a drive moves.
static const char carriage_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {crank: 0.4, swing: 0.05, line: 1}\n"
    "bodies:\n"
    "  carriage: {mass: 2, position: [1, 0, 0]}\n"
    "  crank_rod: {mass: line*crank, inertia: [0, 0.01, 0.01, 0, 0, 0], position: [0, crank/2, "
    "0]}\n"
    "  coupler_rod: {mass: 1, inertia: [0, 0.08, 0.08, 0, 0, 0], position: [0.5, (crank + 0.7)/2, "
    "0]}\n"
    "  rocker_rod: {mass: 1, inertia: [0.08, 0, 0.08, 0, 0, 0], position: [1, 0.35, 0]}\n"
    "joints:\n"
    "  slide: {type: prismatic, between: [ground, carriage], at: [1, 0, 0], axis: [1, 0, 0],\n"
    "    motion: {q0: {type: sine, amplitude: swing, omega: 3}}}\n"
    "  A: {type: revolute, between: [ground, crank_rod], at: [0, 0, 0], axis: [0, 0, 1],\n"
    "    spring: {q0: {stiffness: 30}}}\n"
    "  B: {type: revolute, between: [crank_rod, coupler_rod], at: [0, crank, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [coupler_rod, rocker_rod], at: [1, 0.7, 0], axis: [0, 0, 1]}\n"
    "  D: {type: revolute, between: [carriage, rocker_rod], at: [1, 0, 0], axis: [0, 0, 1]}\n"
    "measures:\n"
    "  middle: {of: body.coupler_rod.x}\n"
    "  speed: {of: joint.A.qd0}\n"
    "simulation: {duration: 20}\n";

// Derivatives of a long run with loops have the errors of its steps, not those of drift from the loops, which are thirty
// times larger and more.
static void keeps_to_loops(const char *text, int n, const char *const *by, double tolerance,
                           double within)
{
    lw_options options;
    lw_model *model = parse(text, &options);
    options.duration = options.sample = 20;
    options.rtol = options.atol = tolerance;
    lw_sensitivity *s = by_adjoint(model, &options, n, by, LW_STATISTIC_LAST);
    same_forward(s, model, &options, n, by, LW_STATISTIC_LAST);
    options.rtol = options.atol = 1e-13;
    lw_sensitivity *fine =
        by_method(model, &options, n, by, LW_STATISTIC_LAST, LW_SENSITIVITY_FORWARD);
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < n; k++) {
            const double expected = lw_sensitivity_at(fine, k, c, LW_STATISTIC_LAST, NULL);
            lwt_near(lw_sensitivity_at(s, k, c, LW_STATISTIC_LAST, NULL), expected,
                     within * fabs(expected));
        }
    lw_sensitivity_destroy(fine);
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

static void test_long_loops(void **state)
{
    (void)state;
    static const char *const by[] = {"crank", "coupler", "base", "line", "rate"};
    static const char *const carriage_by[] = {"swing", "line", "crank"};
    keeps_to_loops(model_text, 5, by, 1e-10, 1e-8);
    keeps_to_loops(carriage_text, 3, carriage_by, 1e-12, 5e-9);
}

// A free body with an arm on a ball joint, a spring and a damper between points; the start depends on a parameter.
static const char floating_text[] =
    "linkwork: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters:\n"
    "  m: {value: 2, unit: kg}\n"
    "  arm: {value: 0.3, unit: m}\n"
    "  k: {value: 80, unit: N/m}\n"
    "  c: {value: 0.7, unit: N s/m}\n"
    "  w: {value: 1.5, unit: rad/s}\n"
    "bodies:\n"
    "  base: {mass: m, inertia: [0.03, 0.04, 0.05, 0, 0, 0], position: [0, 0, 0],\n"
    "    angular_velocity: [0.3, w, -0.4], velocity: [0.2, 0, 0.1]}\n"
    "  tip: {mass: 0.5, inertia: [0.004, 0.005, 0.002, 0, 0, 0], position: [arm, 0, 0.1]}\n"
    "joints:\n"
    "  ball: {type: spherical, between: [base, tip], at: [0.1, 0, 0.05]}\n"
    "forces:\n"
    "  string: {type: spring, between: [ground, tip], point1: [0.1, 0.2, 0.8], point2: [0, 0, 0],\n"
    "    stiffness: k, damping: c, length: 0.5}\n"
    "measures:\n"
    "  height: {of: body.tip.z}\n"
    "  rate: {of: body.base.wx}\n"
    "simulation: {duration: 0.6, sample: 0.1}\n";

static void test_floating_by_adjoint(void **state)
{
    (void)state;
    static const char *const by[] = {"m", "arm", "k", "c", "w"};
    static const lw_statistic which[] = {LW_STATISTIC_LAST, LW_STATISTIC_MEAN, LW_STATISTIC_RMS};
    lw_options options;
    lw_model *model = parse(floating_text, &options);
    lw_sensitivity *differences = differentiate(model, &options, 5, by, NULL);
    options.rtol = options.atol = 1e-12;
    for (int i = 0; i < 3; i++) {
        lw_sensitivity *s = by_adjoint(model, &options, 5, by, which[i]);
        for (int c = 0; c < 2; c++) {
            lwt_near(lw_sensitivity_value(s, c, which[i]),
                     lw_sensitivity_value(differences, c, which[i]), 1e-9);
            for (int k = 0; k < 5; k++) {
                const double expected = lw_sensitivity_at(differences, k, c, which[i], NULL);
                lwt_near(lw_sensitivity_at(s, k, c, which[i], NULL), expected,
                         1e-8 * (1 + fabs(expected)));
            }
        }
        same_forward(s, model, &options, 5, by, which[i]);
        lw_sensitivity_destroy(s);
    }
    lw_sensitivity_destroy(differences);
    lw_model_destroy(model);
}

// A drive and a torque that begin later, friction that has its whole value at all speeds but small ones, and a servo
// at its limit: parameters without effect on the equations at most times.
static const char late_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {D: 0.3, F: 2, mu: 0.2, speed: 1e-3, most: 3}\n"
    "bodies:\n"
    "  a: {mass: 1.5, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}\n"
    "  b: {mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], position: [0.6, 0, "
    "0]}\n"
    "  c: {mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], position: [0, 0, 1]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1],\n"
    "    motion: {q0: {type: step, from: 0, to: D, start: 0.2, end: 0.35}}}\n"
    "  B: {type: revolute, between: [a, b], at: [0.6, 0, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [ground, c], at: [0, 0, 1], axis: [0, 0, 1],\n"
    "    friction: {q0: {coulomb: mu, viscous: 0, speed: speed}}}\n"
    "forces:\n"
    "  push: {type: wrench, body: b, point: [0.5, 0, 0], force: [0, F, 0],\n"
    "    scale: {type: step, from: 0, to: 1, start: 0.2, end: 0.35}}\n"
    "  servo: {type: servo, joint: C, target: 0.5, kp: 900, effort_range: [-2*most, most]}\n"
    "measures: {b: joint.B.q0, c: joint.C.q0}\n"
    "simulation: {duration: 0.4}\n";

static const char driven_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {D: 0.3}\n"
    "bodies:\n"
    "  a: {mass: 1.5, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}\n"
    "  b: {mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], position: [0.6, 0, "
    "0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1],\n"
    "    motion: {q0: {type: step, from: 0, to: D, start: 0.2, end: 0.35}}}\n"
    "  B: {type: revolute, between: [a, b], at: [0.6, 0, 0], axis: [0, 0, 1]}\n"
    "measures: {b: joint.B.q0}\n"
    "simulation: {duration: 0.4}\n";

static void both_methods_agree(const char *text, int n, const char *const *by)
{
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *differences = differentiate(model, &options, n, by, NULL);
    options.rtol = options.atol = 1e-13;
    lw_sensitivity *s = by_adjoint(model, &options, n, by, LW_STATISTIC_LAST);
    assert_string_equal(lw_sensitivity_warning(differences), "");
    assert_string_equal(lw_sensitivity_warning(s), "");
    for (int c = 0; c < lw_sensitivity_columns(s); c++)
        for (int k = 0; k < n; k++) {
            const double expected = lw_sensitivity_at(differences, k, c, LW_STATISTIC_LAST, NULL);
            assert_true((fabs(expected) > 1e-4) == (c == (k > 1))); // b by D and F, c by others
            lwt_near(lw_sensitivity_at(s, k, c, LW_STATISTIC_LAST, NULL), expected, 1e-8);
        }
    lw_sensitivity_destroy(s);
    lw_sensitivity_destroy(differences);
    lw_model_destroy(model);
}

static void test_late_by_adjoint(void **state)
{
    (void)state;
    static const char *const by[] = {"D", "F", "mu", "speed", "most"};
    both_methods_agree(late_text, 5, by);
    both_methods_agree(driven_text, 1, by);
}

// A loop with more degrees of freedom than rows: equations are not reduced to its independent speeds.
static const char loose_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {k: 20, c: 0.3, m: 1.5}\n"
    "bodies:\n"
    "  a: {mass: m, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}\n"
    "  b: {mass: 1, com: [0.1, 0.2, 0.1], inertia: [0.02, 0.05, 0.06, 0, 0, 0], position: [0.6, 0, "
    "0]}\n"
    "  d: {mass: 0.5, com: [0.1, 0, 0], inertia: [0.01, 0.02, 0.02, 0, 0, 0], position: [0.7, 0.2, "
    "0.1]}\n"
    "joints:\n"
    "  A: {type: spherical, between: [ground, a], at: [0, 0, 0]}\n"
    "  B: {type: spherical, between: [a, b], at: [0.6, 0, 0]}\n"
    "  C: {type: spherical, between: [b, ground], at: [0.8, 0.5, 0.2]}\n"
    "  D: {type: revolute, between: [b, d], at: [0.7, 0.2, 0.1], axis: [0, 0, 1],\n"
    "    spring: {q0: {stiffness: k, damping: c, at: 0.2}}}\n"
    "measures: {y: body.d.y, angle: joint.D.q0}\n"
    "simulation: {duration: 0.3}\n";

static void test_loose_loop_by_adjoint(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "c", "m"};
    adjoint_agrees(loose_text, LWI_COUNT(by), by, 1e-6, 1e-10);
}

// Parameters of different bodies and joints are varied together, those of places alone.
static const char grouped_text[] =
    "linkwork: 1\n"
    "parameters: {k: 3, L: 0.5, m: 2, g: 9.81, c: 0.1, second: 1, x: m/4, both: 0.02, tilt: 0.2}\n"
    "gravity: [0, 0, -g]\n"
    "bodies:\n"
    "  a: {mass: m, inertia: [0.1, m*L^2/10, 0.1, 0, 0, 0], com: [L/2, 0, 0]}\n"
    "  b: {mass: second, inertia: [0.1, 0.1, 0.1 + both, 0, 0, 0], position: [L, 0, 0]}\n"
    "  c: {mass: 0.4, inertia: [0.01, 0.01 + both, 0.025, 0, 0, 0], position: [L, 0, -L]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [1],\n"
    "    spring: {q0: {stiffness: k, damping: c, at: L}}}\n"
    "  B: {type: universal, between: [b, a], at: [L, 0, 0], axis: [0, 1, tilt], axis2: [1, 0, 0]}\n"
    "  C: {type: prismatic, between: [b, c], at: [L, 0, -0.1], axis: [0, tilt, 1],\n"
    "    spring: {q0: {stiffness: 90*x, damping: x}}}\n"
    "measures: {angle: joint.A.q0, z: body.c.z, v: body.b.vz}\n"
    "simulation: {duration: 0.3}\n";

static void test_groups_by_adjoint(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "c", "m", "second", "both", "x", "L", "g", "tilt"};
    adjoint_agrees(grouped_text, LWI_COUNT(by), by, 1e-7, 1e-8);
}

// Derivatives of columns of motions, for which parameters are varied together.
static void columns_agree(const char *text, const char *columns, int n, const char *const *by)
{
    lw_options options;
    lw_model *model = parse(text, &options);
    lw_sensitivity *s[2];
    lw_error error;
    for (int m = 0; m < 2; m++) {
        options.rtol = options.atol = 1e-13;
        const lw_sensitivity_desc desc = {.size = sizeof desc,
                                          .by = by,
                                          .nby = n,
                                          .columns = columns,
                                          .options = &options,
                                          .method = m ? LW_SENSITIVITY_ADJOINT
                                                      : LW_SENSITIVITY_DIFFERENCES};
        lwt_ok(lw_sensitivity_create(model, &desc, &s[m], &error), &error);
    }
    for (int c = 0; c < lw_sensitivity_columns(s[0]); c++)
        for (int k = 0; k < n; k++) {
            const double expected = lw_sensitivity_at(s[0], k, c, LW_STATISTIC_LAST, NULL);
            assert_true(fabs(expected) > 1e-6);
            lwt_near(lw_sensitivity_at(s[1], k, c, LW_STATISTIC_LAST, NULL), expected, 1e-9);
        }
    for (int m = 0; m < 2; m++) lw_sensitivity_destroy(s[m]);
    lw_model_destroy(model);
}

// Parameters of the same force and of the same formula share two variations; numbers of several parameters do not.
static void test_shared_items_by_adjoint(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {k: 40, c: 0.5, l: 0.6, g: 3, h: 0.4, kx: 30, kr: 2, cx: 0.3, E: 20, A: 1.5, "
        "r: 0.7, w: 2}\n"
        "signals:\n"
        "  u: {type: formula, of: \"-g*sin(P.q0 - Q.q0) - h*P.qd0*body.b.z\"}\n"
        "  v: {type: formula, of: \"MORE\"}\n"
        "bodies:\n"
        "  a: {mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}\n"
        "  b: {mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], position: [0.6, 0, "
        "0]}\n"
        "joints:\n"
        "  P: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], effort: {q0: "
        "u}}\n"
        "  Q: {type: revolute, between: [a, b], at: [0.6, 0, 0], axis: [0, 1, 0], effort: {q0: "
        "v}}\n"
        "forces:\n"
        "  S: {type: spring, between: [ground, b], point1: [0.5, 0, 1], point2: [0.2, 0, 0], "
        "stiffness: k, "
        "damping: c, length: l}\n"
        "  T: {type: spring, between: [ground, a], point1: [0.5, 0.1, -1], point2: [0.2, 0, 0], "
        "stiffness: E*A/1.3, damping: c2*A}\n"
        "  B: {type: bushing, between: [a, b], at: [0.8, 0.1, 0.1], stiffness: [kx, kx, 2*kx, kr, "
        "kr, kr], "
        "damping: [cx, cx, cx, 0.1, 0.1, 0.1]}\n"
        "simulation: {duration: 0.4}\n";
    static const struct {
        const char *more, *damping;
    } of[] = {{"-r*Q.qd0 - w*Q.q0", "0.1"},      // each number of one parameter, but of T
              {"-r*w*Q.qd0 - w*Q.q0", "0.1*A"}}; // not so
    static const char *const by[] = {"k", "c", "l", "g", "h", "kx", "kr", "cx", "E", "A", "r", "w"};
    for (int i = 0; i < LWI_COUNT(of); i++)
        for (int n = 8; n <= LWI_COUNT(by); n += 4) { // without E, A, r, w; with them
            char all[2 * sizeof text];
            const char *more = strstr(text, "MORE"), *c2 = strstr(text, "c2*A");
            snprintf(all, sizeof all, "%.*s%s%.*s%s%s", (int)(more - text), text, of[i].more,
                     (int)(c2 - more - 4), more + 4, of[i].damping, c2 + 4);
            columns_agree(all, "body.b.x,joint.P.qd0", n, by);
        }
}

// Numbers of two parameters, which a third one shares a formula with: equal steps of both appear as a step between them or
// as none.
static void test_products_by_adjoint(void **state)
{
    (void)state;
    static const char *const formula[] = {"-a*c*A.q0 - b*A.qd0", "-a/c*A.q0 - b*A.qd0",
                                          "-(a + c/7*2)*A.q0 - b*A.qd0",
                                          "-(a + 4e-4*c)*A.q0 - b*A.qd0"};
    static const char *const by[] = {"a", "b", "c"};
    for (int i = 0; i < LWI_COUNT(formula); i++) {
        char text[800];
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "parameters: {a: 2, b: 5, c: 7}\n"
                 "functions: {u: {type: formula, of: \"%s\"}}\n"
                 "bodies: {r: {mass: 2, com: [0.5, 0, 0], inertia: [0.01, 0.2, 0.2, 0, 0, 0]}}\n"
                 "joints: {A: {type: revolute, between: [ground, r], at: [0, 0, 0],\n"
                 "    axis: [0, 1, 0], q: [0.3], qd: [1.1], effort: {q0: u}}}\n"
                 "simulation: {duration: 0.5}\n",
                 formula[i]);
        columns_agree(text, "joint.A.q0", LWI_COUNT(by), by);
    }
}

// A rope becomes taut: the derivative is wrong by more than the tolerance, and the warning names it.
static const char rope_text[] =
    "linkwork: 1\n"
    "parameters: {k: 400}\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies: {a: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0], com: [0.5, 0, 0]}}\n"
    "joints: {A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
    "forces:\n"
    "  rope: {type: tendon, stiffness: k, length: 0.62, slack: 10,\n"
    "    path: [{body: ground, point: [0.5, 0, 0.4]}, {body: a, point: [0.5, 0, 0]}]}\n"
    "measures: {a: joint.A.q0}\n"
    "simulation: {duration: 0.5}\n";

static void test_corner_by_adjoint(void **state)
{
    (void)state;
    static const char *const by[] = {"k"};
    lw_options options;
    lw_model *model = parse(rope_text, &options);
    lw_sensitivity *s = by_adjoint(model, &options, 1, by, LW_STATISTIC_LAST);
    assert_non_null(strstr(lw_sensitivity_warning(s), "tendon 'rope' passes a corner of its law"));
    lw_sensitivity_destroy(s);
    options.duration = 0.05; // before
    s = by_adjoint(model, &options, 1, by, LW_STATISTIC_LAST);
    assert_string_equal(lw_sensitivity_warning(s), "");
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// A taut rope meets a cylinder, a sphere at 0.23 s: the second derivative of its length jumps.
static void warns_of_obstacle(const char *axis)
{
    static const char *const by[] = {"k"};
    char text[800];
    lw_options options;
    snprintf(text, sizeof text,
             "linkwork: 1\ngravity: [0, 0, -9.81]\nparameters: {k: 30}\n"
             "bodies: {a: {mass: 1, com: [0.3, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}\n"
             "joints: {A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
             "forces:\n"
             "  rope: {type: tendon, stiffness: k, length: 0.1, path: [{point: [-0.3, 0, 0.12]},\n"
             "    {point: [0, 0, 0], radius: 0.1%s}, {body: a, point: [0.4, 0, 0.12]}]}\n"
             "measures: {a: joint.A.q0}\nsimulation: {duration: 0.4}\n",
             axis);
    lw_model *model = parse(text, &options);
    lw_sensitivity *s = by_adjoint(model, &options, 1, by, LW_STATISTIC_LAST);
    const char *const at = strstr(lw_sensitivity_warning(s), "tendon 'rope' passes a corner");
    assert_non_null(at);
    lwt_near(strtod(strstr(at, "t = ") + 4, NULL), 0.23, 0.01);
    lw_sensitivity_destroy(s);
    options.duration = 0.2;
    s = by_adjoint(model, &options, 1, by, LW_STATISTIC_LAST);
    assert_string_equal(lw_sensitivity_warning(s), "");
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

static void test_obstacle_by_adjoint(void **state)
{
    (void)state;
    warns_of_obstacle(", axis: [0, 1, 0]");
    warns_of_obstacle("");
}

// Behind a lag of 0.1 s the effort of a servo on a heavy body approaches 3.5 N, by no more than `rate` per second: until
// 3.5 N/rate - 0.1 s.
static double corner_of_rate(const char *rate)
{
    static const char *const by[] = {"kp"};
    char text[600];
    lw_options options;
    snprintf(
        text, sizeof text,
        "linkwork: 1\nparameters: {kp: 7}\ngravity: [0, 0, 0]\n"
        "functions: {wanted: {type: constant, value: 0.5}}\n"
        "bodies: {a: {mass: 1e6, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
        "forces: {push: {type: servo, joint: A, target: wanted, kp: kp, lag: 0.1, "
        "effort_rate: %s}}\n"
        "measures: {a: joint.A.qdd0}\nsimulation: {duration: 0.4}\n",
        rate);
    lw_model *model = parse(text, &options);
    lw_sensitivity *s = by_adjoint(model, &options, 1, by, LW_STATISTIC_LAST);
    const char *const at = strstr(lw_sensitivity_warning(s), "servo 'push' passes a corner");
    const double t = at ? strtod(strstr(at, "t = ") + 4, NULL) : -1;
    assert_true(!at || strstr(at, " s (a limit of its target, its effort or its rate): "));
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
    return t;
}

static void test_rate_of_effort_by_adjoint(void **state)
{
    (void)state;
    lwt_near(corner_of_rate("10"), 0.25, 0.02);
    lwt_near(corner_of_rate("7.5"), 3.5 / 7.5 - 0.1, 0.02);
    assert_true(corner_of_rate("100") < 0);
}

// A slide with a force at 1 m/s from 0.01 m on.
static lw_model *pushed(const char *functions, const char *effort, lw_options *options)
{
    char text[900];
    snprintf(text, sizeof text,
             "linkwork: 1\ngravity: [0, 0, 0]\nparameters: {m: 2}\n"
             "functions: {push: %s}\n"
             "bodies: {a: {mass: m, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}\n"
             "joints: {P: {type: prismatic, between: [ground, a], at: [0, 0, 0], "
             "axis: [1, 0, 0], q: [0.01], qd: [1], effort: {q0: \"%s\"}}}\n"
             "measures: {a: joint.P.q0}\nsimulation: {duration: 0.2}\n",
             functions, effort);
    return parse(text, options);
}

// "" expects none; any other one is at about 0.04 s.
static void assert_warning(const lw_model *model, const lw_options *options, const char *expected)
{
    static const char *const by[] = {"m"};
    lw_sensitivity *s = by_adjoint(model, options, 1, by, LW_STATISTIC_LAST);
    const char *warning = lw_sensitivity_warning(s);
    const char *about = "at about t = ", *at = strstr(warning, about);
    if (*expected ? !strstr(warning, expected) || !at ||
                        fabs(strtod(at + strlen(about), NULL) - 0.04) > 4e-3
                  : *warning)
        fail_msg("'%s', expected '%s'", warning, expected);
    lw_sensitivity_destroy(s);
}

// A signal with a jump or corner that a force reads is named; one that does not reach it is not.
static void test_jump_by_adjoint(void **state)
{
    (void)state;
    static const struct {
        const char *function, *effort;
        const char *warning; // at 0.04 s
    } of[] = {
        {"{type: formula, of: '-30*where(P.q0 > 0.05, 1, 0)'}", "push", "line 4: function 'push'"},
        {"{type: formula, of: '-3*abs(P.q0 - 0.05)'}", "2*push", "line 4: function 'push'"},
        {"0", "-0.3*sign(P.q0 - 0.05)", "line 6: formula '-0.3*sign(P.q0 - 0.05)'"},
        {"0", "-3*max(P.q0, 0.05)", "line 6: formula"},
        {"0", "floor(20*P.q0)", "line 6: formula"},
        {"0", "mod(P.q0, 0.05)", "line 6: formula"},
        {"{type: curve, of: P.q0, x: [0, 0.05, 1], y: [0, 1, 3], interpolation: linear}", "push",
         "line 4: function 'push'"},
        {"{type: curve, of: P.q0, x: [-1, 0, 0.05], y: [0, 1, 3], ends: clamped}", "push",
         "line 4: function 'push'"},
        {"{type: curve, of: P.q0, x: [-1, -0.95], y: [1, 1], interpolation: linear, "
         "ends: periodic}",
         "push", "line 4: function 'push'"},
        {"{type: map, of: P.q0, of2: P.q0, x: [-1, 0, 2], x2: [-1, 0, 0.05], rows: [[1, 2, 3], "
         "[2, 3, 5], [0, 1, 1]], ends2: clamped}",
         "push", "line 4: function 'push'"},
        {"{type: integral, of: 'where(P.q0 > 0.05, 1, 0)'}", "0*t", "line 4: function 'push'"},
        {"{type: pid, reference: 0.05, measured: P.q0, kp: 3, range: [-1, 0]}", "push",
         "line 4: function 'push' passes a limit"},
        {"{type: rate_limit, of: P.q0, rate: 0.6321, time: 0.04, initial: 0.01}", "push",
         "line 4: function 'push' passes a limit"},
        {"{type: integral, of: P.q0, range: [-1, 0.0012]}", "push",
         "line 4: function 'push' passes a limit"},
        {"{type: curve, of: P.q0, x: [0, 0.05, 1], y: [0, 1, 3], interpolation: monotone}", "push",
         "line 4: function 'push' passes a point of its curve"},
        {"0", "-30*where(t > 0.02*m, 1, 0)", "parameter 'm' moves a corner or a jump in time"},
        {"{type: formula, of: 'abs(t - 0.02*m)'}", "0.3*min(push, 7)",
         "line 4: function 'push': parameter 'm' moves"},
        // no force or rate reads it, time alone, smooth pieces
        {"{type: formula, of: 'where(t > 0.02*m, 1, 0)'}", "-P.q0", ""},
        {"0", "-30*where(P.q0 < m, 1, 0)*sin(m*t)", ""},
        {"{type: formula, of: 'where(P.q0 > 0.05, 1, 0)'}", "-P.q0", ""},
        {"0", "-30*where(t > 0.04, 1, 0)*P.q0", ""},
        {"{type: curve, of: P.q0, x: [0, 0.05, 1], y: [0, 1, 3]}", "push", ""},
    };
    for (int i = 0; i < LWI_COUNT(of); i++) {
        lw_options options;
        lw_model *model = pushed(of[i].function, of[i].effort, &options);
        assert_warning(model, &options, of[i].warning);
        options.duration = 0.03; // before
        assert_warning(model, &options, "");
        lw_model_destroy(model);
    }
}

// A force that jumps at an angle of `jump`, at 0.04 s; `effort` may have a corner at 0.02 s.
static void warns_of_jump(const char *axis, double jump, const char *effort, const char *force,
                          const char *expected)
{
    char text[900];
    lw_options options;
    snprintf(text, sizeof text,
             "linkwork: 1\ngravity: [0, 0, 0]\nparameters: {m: 2}\n"
             "bodies: {a: {mass: m, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}\n"
             "joints: {P: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: %s, "
             "q: [%.17g], qd: [1], effort: {q0: \"%s\"}}}\n"
             "forces:\n  B: %s\nmeasures: {a: joint.P.q0}\nsimulation: {duration: 0.2}\n",
             axis, jump - 0.04, effort, force);
    lw_model *model = parse(text, &options);
    assert_warning(model, &options, expected);
    options.duration = 0.01; // before
    assert_warning(model, &options, "");
    lw_model_destroy(model);
}

// A bushing at an angle beyond 180 degrees, and a rope that goes over to the other side of a cylinder, are named, also
// after a corner.
static void test_jumps_are_named_first(void **state)
{
    (void)state;
    static const char bushing[] = "{type: bushing, between: [ground, a], at: [0, 0, 0], "
                                  "stiffness: [1, 1, 1, 1e-3, 1e-3, 1e-3]}",
                      rope[] = "{type: tendon, stiffness: 0.1, length: 0.1, "
                               "path: [{point: [-0.3, 0, 0]}, {point: [0, 0, 0], radius: 0.1, "
                               "axis: [0, 1, 0]}, {body: a, point: [0.4, 0, 0]}]}",
                      *const of_bushing = "line 7: bushing 'B' passes an angle of 180 degrees at",
                      *const of_rope =
                          "line 7: tendon 'B' passes a change of sides of an obstacle at";
    const double pi = acos(-1);
    warns_of_jump("[0.3, 0.2, 1]", pi, "-1e-3*P.q0", bushing, of_bushing);
    warns_of_jump("[0.3, 0.2, 1]", pi, "1e-3*abs(P.q0 - 3.1216)", bushing, of_bushing);
    warns_of_jump("[0, 1, 0]", 0, "-1e-3*P.q0", rope, of_rope);
    warns_of_jump("[0, 1, 0]", 0, "1e-3*abs(P.q0 + 0.02)", rope, of_rope);
}

// Numbers of formulas act on forces, on rates of states, on events, and on columns themselves.
static void test_formulas_by_adjoint(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "parameters: {g: 3, h: 0.4, k: 30, r: 2, m: 1.2, on: 0.35}\n"
        "signals:\n"
        "  u: {type: formula, of: \"-g*sin(A.q0 - B.q0) + h*body.b.vx\"}\n"
        "  total: {type: integral, of: \"r*u^2 - 0.3*total\"}\n"
        "  s: {type: switch, value: 0}\n"
        "bodies:\n"
        "  a: {mass: m, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0]}\n"
        "  b: {mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], position: [0.6, 0, "
        "0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: "
        "u}}\n"
        "  B: {type: revolute, between: [a, b], at: [0.6, 0, 0], axis: [0, 0, 1], effort: {q0: "
        "s}}\n"
        "forces:\n"
        "  S: {type: spring, between: [ground, b], point1: [0.5, 1, 0], point2: [0.2, 0, 0], "
        "stiffness: k,\n"
        "    damping: 0.5, length: 0.6, force: total}\n"
        "events: {kick: {when: A.q0 < -on, set: {s: r*A.qd0}}}\n"
        "measures: {u: signal.u.value, total: signal.total.value, x: body.b.x}\n"
        "simulation: {duration: 0.8, sample: 0.2}\n";
    static const char *const by[] = {"g", "h", "k", "r", "m", "on"};
    all_methods_agree(text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-8);
    all_methods_agree(text, LWI_COUNT(by), by, LW_STATISTIC_RMS, 1e-8);
}

// Places and directions of markers change columns alone.
static void test_markers(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {u: 0.4, w: 0.1, turn: 0.3, k: 12}\n"
        "bodies: {arm: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}}\n"
        "joints: {A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0], "
        "q: [0.3],\n"
        "  spring: {q0: {stiffness: k}}}}\n"
        "markers: {tip: {body: arm, position: [u, 0, w], orientation: [cos(turn), 0, sin(turn), "
        "0]}}\n"
        "measures: {x: marker.tip.x, vz: marker.tip.vz, q: marker.tip.qy}\n"
        "simulation: {duration: 0.5, sample: 0.1}\n";
    static const char *const by[] = {"u", "w", "turn", "k"};
    all_methods_agree(text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-8);
    all_methods_agree(text, LWI_COUNT(by), by, LW_STATISTIC_RMS, 1e-8);
}

// Formulas of measures have the values of parameters, which change measures of the same motion.
static void test_parameters_of_measures(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {target: 20 deg, m: 1.5, k: 12, g: 0.7}\n"
        "bodies: {'left arm': {mass: m, inertia: [0.1, 0.1, 0.1, 0, 0, 0], "
        "position: [0.5, 0, 0]}}\n"
        "joints: {A: {type: revolute, between: [ground, 'left arm'], at: "
        "[0, 0, 0], axis: [0, 1, 0], "
        "q: [0.3],\n"
        "  spring: {q0: {stiffness: k}}}}\n"
        "measures:\n"
        "  q: A.q0\n"
        "  miss: {of: (joint.A.q0 - target)^2}\n"
        "  cost: measure.miss + g*m*body.'left arm'.vz^2/(1 m/s)^2*(1 rad)^2\n"
        "simulation: {duration: 0.5, sample: 0.1}\n";
    static const char *const by[] = {"target", "m", "k", "g"};
    static const lw_sensitivity_method methods[] = {LW_SENSITIVITY_DIFFERENCES,
                                                    LW_SENSITIVITY_ADJOINT, LW_SENSITIVITY_FORWARD};
    const double degree = acos(-1) / 180;
    lw_options options;
    lw_model *model = parse(text, &options);
    for (int i = 0; i < LWI_COUNT(methods); i++) {
        lw_sensitivity *s = by_method(model, &options, 1, by, LW_STATISTIC_LAST, methods[i]);
        const double q = lw_sensitivity_value(s, 0, LW_STATISTIC_LAST),
                     slope = -2 * (q - 20 * degree) * degree;
        assert_true(fabs(slope) > 1e-3);
        lwt_near(lw_sensitivity_at(s, 0, 0, LW_STATISTIC_LAST, NULL), 0, 1e-12);
        lwt_near(lw_sensitivity_at(s, 0, 1, LW_STATISTIC_LAST, NULL), slope, 1e-11);
        lwt_near(lw_sensitivity_at(s, 0, 2, LW_STATISTIC_LAST, NULL), slope, 1e-11);
        lw_sensitivity_destroy(s);
    }
    lw_model_destroy(model);
    all_methods_agree(text, LWI_COUNT(by), by, LW_STATISTIC_LAST, 1e-8);
    all_methods_agree(text, LWI_COUNT(by), by, LW_STATISTIC_MEAN, 1e-8);
}

// The rocker may not become longer: its derivative is not known, the other one is.
static void test_failed_variant(void **state)
{
    (void)state;
    static const char *const by[] = {"rocker", "rate"};
    lw_options options;
    lw_model *model = four_bar(&options);
    options.duration = 0.1;
    lw_sensitivity *s = differentiate(model, &options, 2, by, NULL);
    assert_int_equal(lw_sensitivity_columns(s), 2);
    assert_true(isnan(lw_sensitivity_at(s, 0, 0, LW_STATISTIC_MEAN, NULL)));
    assert_non_null(strstr(lw_sensitivity_failure(s, 0), "rocker"));
    assert_true(isfinite(lw_sensitivity_at(s, 1, 1, LW_STATISTIC_MAX, NULL)));
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

static void refused(const lw_model *model, const char *by, const char *columns, const char *text)
{
    lw_error error;
    lw_sensitivity *s = NULL;
    const lw_sensitivity_desc desc = {.nby = 1, .by = &by, .columns = columns};
    assert_int_equal(lw_sensitivity_create(model, &desc, &s, &error), LW_ERR_ARGUMENT);
    if (!strstr(error.text, text)) fail_msg("'%s' does not contain '%s'", error.text, text);
    assert_null(s);
}

static void test_wrong_use(void **state)
{
    (void)state;
    lw_options options;
    lw_model *model = four_bar(&options);
    refused(model, "crnk", NULL, "crank");
    refused(model, "gravity.x", NULL, "no parameter of the model's file");
    refused(model, "nothing", NULL, "parameter 'nothing' is 0");
    refused(model, "rate", "joint.X.q0", "joint.X.q0");
    lw_error error;
    lw_sensitivity *s = NULL;
    const char *const by[] = {"rate"};
    lw_sensitivity_desc desc = {.options = &options,
                                .nby = 1,
                                .by = by,
                                .method = LW_SENSITIVITY_ADJOINT,
                                .statistic = LW_STATISTIC_MEAN};
    options.sample = LW_SAMPLE_STEPS;
    assert_int_equal(lw_sensitivity_create(model, &desc, &s, &error), LW_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "rows are at times only"));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_four_bar),
                                       cmocka_unit_test(test_integral),
                                       cmocka_unit_test(test_four_bar_by_adjoint),
                                       cmocka_unit_test(test_long_loops),
                                       cmocka_unit_test(test_floating_by_adjoint),
                                       cmocka_unit_test(test_late_by_adjoint),
                                       cmocka_unit_test(test_loose_loop_by_adjoint),
                                       cmocka_unit_test(test_groups_by_adjoint),
                                       cmocka_unit_test(test_shared_items_by_adjoint),
                                       cmocka_unit_test(test_products_by_adjoint),
                                       cmocka_unit_test(test_corner_by_adjoint),
                                       cmocka_unit_test(test_obstacle_by_adjoint),
                                       cmocka_unit_test(test_rate_of_effort_by_adjoint),
                                       cmocka_unit_test(test_jump_by_adjoint),
                                       cmocka_unit_test(test_jumps_are_named_first),
                                       cmocka_unit_test(test_formulas_by_adjoint),
                                       cmocka_unit_test(test_markers),
                                       cmocka_unit_test(test_parameters_of_measures),
                                       cmocka_unit_test(test_failed_variant),
                                       cmocka_unit_test(test_wrong_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
