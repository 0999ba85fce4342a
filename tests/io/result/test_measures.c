// test_measures.c -- measures are their expressions of the columns; statistics of closed forms; what is refused.
#include "io/result/measures.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

// clang-format off
#define MODEL                                                                                      \
    "linkwork: 1\n"                                                                                \
    "bodies:\n"                                                                                    \
    "  a: {mass: 2, inertia: [0.1, 0.2, 0.3, 0, 0, 0], position: [0.5, 0, 0]}\n"                   \
    "  left arm: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1.5, 0, 0]}\n"            \
    "joints:\n"                                                                                    \
    "  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], qd: [0.5]}\n"     \
    "  it's: {type: revolute, between: [a, left arm], at: [1, 0, 0], axis: [0, 1, 0],\n"           \
    "         motion: {q0: {type: sine, amplitude: 0.3, omega: 6.283185307179586}}}\n"             \
    "forces:\n"                                                                                    \
    "  s: {type: spring, between: [ground, left arm], from: [1, 0, 1], to: [1.5, 0, 0],\n"         \
    "      stiffness: 30, damping: 1, length: 0.6}\n"                                              \
    "markers:\n"                                                                                   \
    "  tip: {body: left arm, position: [0.5, 0, 0]}\n"                                             \
    "measures:\n"

static const char measures[] =
    "  reach: hypot(marker.tip.x, marker.tip.z)\n"
    "  angle: {of: h.q0 + 'it''s'.q0, unit: deg}\n"
    "  drive: \"'it''s'.q0\"\n"
    "  load: {of: \"hypot(joint.h.fx@tip, joint.h.fz@F1)\", unit: kN}\n"
    "  high: \"where('body.left arm.z' > 0, 1, 0)\"\n"
    "  ratio: measure.reach / spring.s.length\n"
    "  power: -2 * spring.s.power + 1 W\n"
    "  clock: t\n";
// clang-format on

static lw_status parse(const char *more, lw_model **model, lw_error *error)
{
    char text[6000];
    snprintf(text, sizeof text, "%s%s", MODEL, more);
    return lw_model_parse(text, strlen(text), "model", &(lw_read_desc){.format = "yaml"}, model,
                          NULL, error);
}

static lw_model *read_model(void)
{
    lw_model *model;
    lw_error error;
    if (parse(measures, &model, &error) != LW_OK) fail_msg("%s", error.text);
    return model;
}

typedef struct target {
    lw_writer *writer;
    lw_measures *measures;
} target;

static lw_status on_row(void *user, const lw_observation *o)
{
    target *t = user;
    const lw_status status = lw_measures_row(t->measures, o);
    return status == LW_OK ? lw_writer_row(t->writer, o) : status;
}

// A run of one second; the statistics, and the result with these columns.
static lw_result *run(const lw_model *model, lw_observe level, const char *columns, target *t)
{
    lw_options options;
    lw_sim *sim;
    lw_result *result;
    lw_error error = {0};
    lw_options_default(&options);
    options.duration = 1;
    assert_int_equal(LW_OK, lw_options_set(&options, "columns", columns, &error));
    assert_int_equal(LW_OK,
                     lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error));
    const lw_writer_desc desc = {.sim = sim, .level = level};
    assert_int_equal(LW_OK, lw_writer_create(NULL, &desc, &t->writer, &error));
    assert_int_equal(LW_OK, lw_measures_create(model, &t->measures, &error));
    assert_int_equal(lw_writer_level(t->writer), LW_OBSERVE_FORCE);
    assert_int_equal(lw_measures_level(t->measures), LW_OBSERVE_FORCE);
    if (lw_sim_run(sim, LW_OBSERVE_FORCE, on_row, t, NULL, NULL) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    assert_int_equal(LW_OK, lw_writer_finish(t->writer, &result, &error));
    lw_sim_destroy(sim);
    return result;
}

static double number(const lw_result *r, long row, const char *name)
{
    int k;
    lw_error error;
    if (lw_result_find_column(r, name, &k, &error) != LW_OK) fail_msg("%s", error.text);
    return lw_result_values(r)[row * lw_result_column_count(r) + k];
}

static const char *unit(const lw_result *r, const char *name)
{
    int k;
    assert_int_equal(LW_OK, lw_result_find_column(r, name, &k, NULL));
    return lw_result_column(r, k).unit;
}

static void close_to(double a, double b)
{
    if (!(fabs(a - b) <= 1e-14 * (1 + fabs(b)))) fail_msg("%.17g, expected %.17g", a, b);
}

static void measures_are_their_expressions(void **state)
{
    (void)state;
    lw_model *model = read_model();
    target t;
    lw_result *r = run(model, LW_OBSERVE_FORCE, "*, joint.h.fx@tip, joint.h.fz@F1", &t);
    assert_int_equal(lw_result_row_count(r), 101);
    for (long k = 0; k < 101; k++) {
        const double x = number(r, k, "marker.tip.x"), z = number(r, k, "marker.tip.z");
        const double reach = hypot(x, z), f = number(r, k, "joint.h.fx@tip");
        close_to(number(r, k, "measure.reach"), reach);
        close_to(number(r, k, "measure.angle"),
                 (number(r, k, "joint.h.q0") + number(r, k, "joint.it's.q0")) * 180 / PI);
        close_to(number(r, k, "measure.load"), hypot(f, number(r, k, "joint.h.fz@F1")) / 1000);
        close_to(number(r, k, "measure.high"), number(r, k, "body.left arm.z") > 0);
        close_to(number(r, k, "measure.ratio"), reach / number(r, k, "spring.s.length"));
        close_to(number(r, k, "measure.power"), 1 - 2 * number(r, k, "spring.s.power"));
        close_to(number(r, k, "measure.clock"), number(r, k, "time"));
    }
    assert_string_equal(unit(r, "measure.reach"), "m");
    assert_string_equal(unit(r, "measure.angle"), "deg");
    assert_string_equal(unit(r, "measure.load"), "kN");
    assert_string_equal(unit(r, "measure.power"), "W");
    lw_measures_destroy(t.measures);
    lw_result_close(r);
    lw_model_destroy(model);
}

// 0.3 sin(2 pi t) over a period, by 101 rows: mean 0, rms of straight lines between them, extremes at 0.25 and 0.75.
static void statistics_are_those_of_closed_forms(void **state)
{
    (void)state;
    lw_model *model = read_model();
    target t;
    lw_statistics again;
    lw_result *r = run(model, LW_OBSERVE_POSE, "measure.*", &t);
    const lw_statistics s = lw_measures_statistics(t.measures, 2);
    int column;
    assert_string_equal(lw_model_measure_name(model, 2), "drive");
    assert_string_equal(lw_measures_unit(t.measures, 2), "rad");
    assert_int_equal(lw_result_column_count(r), 1 + lw_model_measure_count(model));
    assert_int_equal(s.rows, 101);
    assert_true(fabs(s.max - 0.3) <= 1e-15 && fabs(s.min + 0.3) <= 1e-15);
    assert_true(fabs(s.range - 0.6) <= 1e-15 && fabs(s.last) <= 1e-15 && fabs(s.mean) <= 1e-15);
    assert_true(fabs(s.time_of_max - 0.25) <= 1e-12 && fabs(s.time_of_min - 0.75) <= 1e-12);
    // the mean square of the interpolant: (2 + cos h) / 3 of that of the sine
    const double h = 2 * PI / 100;
    assert_true(fabs(s.rms - 0.3 * sqrt((2 + cos(h)) / 6)) <= 1e-14);
    const lw_statistics clock = lw_measures_statistics(t.measures, 7);
    assert_true(fabs(clock.mean - 0.5) <= 1e-15 && fabs(clock.rms - sqrt(1.0 / 3)) <= 1e-15);
    assert_int_equal(LW_OK, lw_result_find_column(r, "measure.drive", &column, NULL));
    assert_int_equal(LW_OK, lw_result_statistics(r, column, &again, NULL));
    assert_memory_equal(&s, &again, sizeof s);
    assert_int_equal(lw_measures_statistics(t.measures, -1).rows, 0);
    lw_measures_destroy(t.measures);
    lw_result_close(r);
    lw_model_destroy(model);
}

static void written_measures_read_back(void **state)
{
    (void)state;
    lw_model *model = read_model(), *again;
    char *text = NULL;
    size_t size = 0;
    lw_error error;
    FILE *file = open_memstream(&text, &size);
    assert_int_equal(LW_OK, lw_model_write(model, NULL, file, &error));
    fclose(file);
    assert_int_equal(LW_OK, lw_model_parse(text, size, "again", &(lw_read_desc){.format = "yaml"},
                                           &again, NULL, &error));
    target a, b;
    lw_result *x = run(model, LW_OBSERVE_POSE, "measure.*", &a),
              *y = run(again, LW_OBSERVE_POSE, "measure.*", &b);
    const size_t n = (size_t)lw_result_row_count(x) * (size_t)lw_result_column_count(x);
    assert_memory_equal(lw_result_values(x), lw_result_values(y), n * sizeof(double));
    lw_measures_destroy(a.measures);
    lw_measures_destroy(b.measures);
    lw_result_close(x);
    lw_result_close(y);
    free(text);
    lw_model_destroy(model);
    lw_model_destroy(again);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"  m: joint.h.fq\n", "no column 'joint.h.fq', did you mean 'joint.h.fx'"},
        {"  m: h.q0 + spring.s.force\n", "an angle [rad] and a force [N]"},
        {"  m: {of: h.q0, unit: mm}\n", "not in mm"},
        {"  m: {of: h.q0, unit: furlong}\n", "unknown unit 'furlong'"},
        {"  m: {unit: mm}\n", "key 'of' is missing"},
        {"  m: {of: t, units: mm}\n", "unknown key 'units'"},
        {"  m: [1, 2]\n", "expected an expression"},
        {"  m: knee.q0\n", "there is no joint 'knee'"},
        {"  m: measure.n\n  n: t\n", "there is no column 'measure.n'"},
        {"  m: joint.h.fx@nowhere\n", "no column 'joint.h.fx@nowhere'"},
        {"  m: body.a.x@tip\n", "there is no column 'body.a.x@tip'"},
        {"  m: 2*push\nsignals: {push: t}\n",
         "'push' is a signal, its column is 'signal.push.value'"},
        {"  m: signal.pus.value\nsignals: {push: t}\n",
         "there is no column 'signal.pus.value', did you mean 'signal.push.value'"},
        {"  m: sqrt(\n", "the formula ends"},
        {"  m: t\n  m: t\n", "twice"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = NULL;
        lw_error error;
        if (parse(cases[i][0], &model, &error) == LW_OK) fail_msg("%s was read", cases[i][0]);
        if (!strstr(error.text, cases[i][1]))
            fail_msg("'%s' instead of '%s'", error.text, cases[i][1]);
        assert_true(error.line >= 14);
        assert_true(error.status == LW_ERR_MODEL || error.status == LW_ERR_PARSE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_are_their_expressions),
        cmocka_unit_test(statistics_are_those_of_closed_forms),
        cmocka_unit_test(written_measures_read_back),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
