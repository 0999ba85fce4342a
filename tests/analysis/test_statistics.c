// test_statistics.c -- derivatives of several statistics of one run: the same numbers as one after the other.
#include "analysis/sensitivity_cases.h"

// A four-bar with a damped spring, from rest.
static const char four_bar[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {line: 1, rate: 20, loss: 0.1}\n"
    "bodies:\n"
    "  a: {mass: 0.4*line, inertia: [0, 0.005*line, 0.005*line, 0, 0, 0], position: [0, 0.2, 0]}\n"
    "  b: {mass: line, inertia: [0, 0.08*line, 0.08*line, 0, 0, 0], position: [0.5, 0.4, 0]}\n"
    "  c: {mass: 0.5*line, inertia: [0, 0.01*line, 0.01*line, 0, 0, 0], position: [1, 0.2, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1],\n"
    "      spring: {q0: {stiffness: rate, at: 0.4, damping: loss}}}\n"
    "  B: {type: revolute, between: [a, b], at: [0, 0.4, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [b, c], at: [1, 0.4, 0], axis: [0, 0, 1]}\n"
    "  D: {type: revolute, between: [ground, c], at: [1, 0, 0], axis: [0, 0, 1]}\n"
    "measures: {middle: body.b.x, speed: joint.A.qd0,\n"
    "  pull: \"hypot(joint.D.fx, joint.D.fy)\"}\n"
    "simulation: {duration: 1, sample: 0.05}\n";

// A run moves forward once.
static int count_runs(void *user, double time, double end)
{
    double *last = user;
    (void)end;
    if (time < last[0]) last[1]++;
    last[0] = time;
    return 0;
}

static lw_sensitivity *of(const lw_model *model, const lw_options *options, int n,
                          const char *const *by, const char *columns, lw_statistic statistic,
                          lw_sensitivity_method method, double *runs)
{
    lw_error error;
    lw_sensitivity *s = NULL;
    const lw_sensitivity_desc desc = {.options = options,
                                      .nby = n,
                                      .by = by,
                                      .columns = columns,
                                      .method = method,
                                      .statistic = statistic,
                                      .progress = runs ? count_runs : NULL,
                                      .progress_user = runs};
    lwt_ok(lw_sensitivity_create(model, &desc, &s, &error), &error);
    return s;
}

// The column of a name that may end in a statistic.
static void column_of(const char *name, char *column, size_t size)
{
    snprintf(column, size, "%s", name);
    char *dot = strrchr(column, '.');
    for (int i = 0; dot && i < LW_STATISTIC_COUNT; i++)
        if (!strcmp(dot + 1, lw_statistic_name((lw_statistic)i))) *dot = 0;
}

// Each result of `columns` is that of a call for it alone; last values alone have a run with other steps.
static void same_alone(const char *text, int n, const char *const *by, const char *columns,
                       int results, lw_sensitivity_method method, double same)
{
    lw_options options;
    lw_model *model = parse(text, &options);
    double runs[2] = {0, 0};
    options.rtol = options.atol = 1e-13;
    lw_sensitivity *all = of(model, &options, n, by, columns, LW_STATISTIC_LAST, method, runs);
    assert_int_equal(lw_sensitivity_columns(all), results);
    assert_true(runs[0] > 0 && runs[1] == 0);
    for (int c = 0; c < results; c++) {
        char column[100];
        const lw_statistic which = lw_sensitivity_statistic(all, c),
                           other = which == LW_STATISTIC_MAX ? LW_STATISTIC_MIN : LW_STATISTIC_MAX;
        column_of(lw_sensitivity_column(all, c).name, column, sizeof column);
        lw_sensitivity *one = of(model, &options, n, by, column, which, method, NULL);
        const double tolerance = which == LW_STATISTIC_LAST ? 1e-11 : same;
        assert_int_equal(lw_sensitivity_columns(one), 1);
        assert_string_equal(lw_sensitivity_column(one, 0).name, column);
        assert_string_equal(lw_sensitivity_column(all, c).unit, lw_sensitivity_column(one, 0).unit);
        lwt_near(lw_sensitivity_value(all, c, which), lw_sensitivity_value(one, 0, which),
                 tolerance);
        for (int k = 0; k < n; k++) {
            const double expected = lw_sensitivity_at(one, k, 0, which, NULL);
            assert_true(fabs(expected) > 1e-6);
            lwt_near(lw_sensitivity_at(all, k, c, which, NULL), expected,
                     tolerance * (1 + fabs(expected)));
            assert_true(method == LW_SENSITIVITY_DIFFERENCES ||
                        isnan(lw_sensitivity_at(all, k, c, other, NULL)));
        }
        lw_sensitivity_destroy(one);
    }
    lw_sensitivity_destroy(all);
    lw_model_destroy(model);
}

static const char *const of_four_bar[] = {"line", "rate", "loss"}, *const of_cart[] = {"m", "F",
                                                                                       "d"};

static void test_four_bar(void **state)
{
    (void)state;
    static const char columns[] = "middle.min, speed.rms, measure.speed.mean, middle, "
                                  "joint.A.q0.max, measure.pull.mean, measure.pull.max";
    for (int method = LW_SENSITIVITY_ADJOINT; method <= LW_SENSITIVITY_FORWARD; method++)
        same_alone(four_bar, 3, of_four_bar, columns, 7, (lw_sensitivity_method)method,
                   1e-12); // coordinates alone are observed without forces
}

static void test_differences(void **state)
{
    (void)state;
    same_alone(four_bar, 3, of_four_bar, "speed.rms,middle.last,pull.max", 3,
               LW_SENSITIVITY_DIFFERENCES, 0);
    same_alone(four_bar, 3, of_four_bar, "speed.rms,middle.last,pull.max,joint.?.q0.mean", 7,
               LW_SENSITIVITY_DIFFERENCES, 1e-12); // coordinates alone are observed without forces
}

static void test_end_by_event(void **state)
{
    (void)state;
    for (int method = LW_SENSITIVITY_ADJOINT; method <= LW_SENSITIVITY_FORWARD; method++)
        same_alone(cart, 3, of_cart, "v,v.mean,v.rms,v.max", 4, (lw_sensitivity_method)method, 0);
}

// v = sqrt(2 F d/m) at the end; the mean is half of it.
static void test_known(void **state)
{
    (void)state;
    lw_options options;
    lw_model *model = parse(cart, &options);
    lw_sensitivity *s = of(model, &options, 3, of_cart, "v.mean,measure.v", LW_STATISTIC_LAST,
                           LW_SENSITIVITY_ADJOINT, NULL);
    static const double expected[] = {-0.375, 0.25, 1}; // of 1.5 m/s
    assert_string_equal(lw_sensitivity_column(s, 0).name, "measure.v");
    assert_string_equal(lw_sensitivity_column(s, 1).name, "measure.v.mean");
    assert_int_equal(lw_sensitivity_statistic(s, 1), LW_STATISTIC_MEAN);
    assert_int_equal(lw_sensitivity_statistic(s, 2), LW_STATISTIC_COUNT);
    for (int k = 0; k < 3; k++) {
        lwt_near(lw_sensitivity_at(s, k, 0, LW_STATISTIC_LAST, NULL), expected[k], 1e-9);
        lwt_near(lw_sensitivity_at(s, k, 1, LW_STATISTIC_MEAN, NULL), expected[k] / 2, 1e-9);
    }
    lw_sensitivity_destroy(s);
    lw_model_destroy(model);
}

// A name with a statistic and the same without one are two results, with equal values where the statistics are.
static void test_twice(void **state)
{
    (void)state;
    static const char *const names[] = {"measure.v", "measure.v.last", "measure.v.max"};
    lw_options options;
    lw_model *model = parse(cart, &options);
    for (int method = 0; method <= LW_SENSITIVITY_FORWARD; method++) {
        lw_sensitivity *s = of(model, &options, 1, of_cart, "v.last,v.max,v", LW_STATISTIC_LAST,
                               (lw_sensitivity_method)method, NULL);
        assert_int_equal(lw_sensitivity_columns(s), 3);
        for (int c = 0; c < 3; c++) {
            assert_string_equal(lw_sensitivity_column(s, c).name, names[c]);
            lwt_near(lw_sensitivity_value(s, c, lw_sensitivity_statistic(s, c)), 1.5, 1e-9);
        }
        lwt_near(lw_sensitivity_at(s, 0, 1, LW_STATISTIC_LAST, NULL),
                 lw_sensitivity_at(s, 0, 0, LW_STATISTIC_LAST, NULL), 0);
        lw_sensitivity_destroy(s);
    }
    lw_model_destroy(model);
}

// A measure named max: its last value by its name, the maxima of all measures by a pattern.
static void test_measure_with_the_name_of_a_statistic(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {m: 2}\n"
        "functions: {push: {type: sine, amplitude: 1, omega: 6}}\n"
        "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0],\n"
        "  at: [0, 0, 0], effort: {q0: push}}}\n"
        "measures: {max: joint.A.qd0, way: joint.A.q0}\n"
        "simulation: {duration: 0.9, sample: 0.1}\n";
    static const struct {
        const char *columns;
        int n;
        lw_statistic statistic;
        const char *name;
    } of_text[] = {{"max", 1, LW_STATISTIC_LAST, "measure.max"},
                   {"measure.max", 1, LW_STATISTIC_LAST, "measure.max"},
                   {"max.max", 1, LW_STATISTIC_MAX, "measure.max.max"},
                   {"measure.*.max", 2, LW_STATISTIC_MAX, "measure.max.max"},
                   {"measure.m?x", 1, LW_STATISTIC_LAST, "measure.max"},
                   {"m*.max, max.max", 2, LW_STATISTIC_MAX, "measure.max.max"}};
    static const char *const by[] = {"m"};
    lw_options options;
    lw_model *model = parse(text, &options);
    for (int i = 0; i < LWI_COUNT(of_text); i++) {
        lw_sensitivity *s = of(model, &options, 1, by, of_text[i].columns, LW_STATISTIC_LAST,
                               LW_SENSITIVITY_FORWARD, NULL);
        assert_int_equal(lw_sensitivity_columns(s), of_text[i].n);
        assert_int_equal(lw_sensitivity_statistic(s, 0), of_text[i].statistic);
        assert_string_equal(lw_sensitivity_column(s, 0).name, of_text[i].name);
        lw_sensitivity_destroy(s);
    }
    lw_model_destroy(model);
}

static void refused(const char *of, const char *columns, lw_statistic statistic, const char *text)
{
    lw_options options;
    lw_error error;
    lw_model *model = parse(of, &options);
    lw_sensitivity *s;
    for (int method = 0; method <= LW_SENSITIVITY_FORWARD; method++) {
        const lw_sensitivity_desc desc = {.options = &options,
                                          .nby = 1,
                                          .by = of == cart ? of_cart : of_four_bar,
                                          .columns = columns,
                                          .statistic = statistic,
                                          .method = (lw_sensitivity_method)method};
        assert_int_equal(lw_sensitivity_create(model, &desc, &s, &error), LW_ERR_ARGUMENT);
        if (!strstr(error.text, text)) fail_msg("'%s' lacks '%s'", error.text, text);
    }
    lw_model_destroy(model);
}

static void test_wrong_use(void **state)
{
    (void)state;
    refused(cart, "v.mean,v.median", LW_STATISTIC_LAST,
            "'v.median': 'median' is no statistic of measure 'v'; expected last, mean, rms, min or "
            "max");
    refused(cart, "measure.v.sum", LW_STATISTIC_LAST, "'sum' is no statistic of measure 'v'");
    refused(four_bar, "midle.max", LW_STATISTIC_LAST,
            "no column matches 'midle', did you mean 'measure.middle'?");
    refused(cart, "joint.A.q9.max", LW_STATISTIC_LAST, "did you mean 'joint.A.q0'?");
    refused(cart, "time.max,v", LW_STATISTIC_LAST,
            "'time.max' is a statistic of the time alone; expected columns of results or measures");
    refused(cart, "v", LW_STATISTIC_COUNT, "statistic 5");
    assert_string_equal(lw_statistic_name(LW_STATISTIC_RMS), "rms");
    assert_string_equal(lw_statistic_name((lw_statistic)-1), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_bar),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_end_by_event),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_measure_with_the_name_of_a_statistic),
        cmocka_unit_test(test_wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
