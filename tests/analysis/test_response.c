// test_response.c -- numbers of a run as functions of parameters: a pushed mass in closed form, by differences at and
// next to the ends of ranges and by the adjoint; residuals of data; designs without a run; refused input.
#include "analysis/analysis_cases.h"

#include <linkwork/io.h>

#include <stdio.h>

// From rest: x = F t^2 / 2 m; the crank of `wall` fits only while the rod is long enough.
static const char model_text[] =
    "linkwork: 1\n"
    "gravity: [0, 0, 0]\n"
    "parameters:\n"
    "  m: {value: 500, unit: g, min: 100}\n"
    "  F: 3\n"
    "  rod: {value: 1, unit: m}\n"
    "  a: {value: 1}\n"
    "  b: {value: 0}\n"
    "functions: {push: {type: constant, value: F}}\n"
    "bodies:\n"
    "  box: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}\n"
    "  bar: {mass: (1 + 0*sqrt(rod/(1 m) - 0.5))*1 kg, inertia: [1, 1, 1, 0, 0, 0], position: [0, "
    "1, 0]}\n"
    "joints:\n"
    "  rail: {type: prismatic, between: [ground, box], at: [0, 0, 0], axis: [1, 0, 0],\n"
    "         effort: {q0: push}}\n"
    "  other: {type: prismatic, between: [ground, bar], at: [0, 1, 0], axis: [1, 0, 0]}\n"
    "measures: {way: joint.rail.q0}\n"
    "simulation: {duration: 2, sample: 1}\n";

static lw_options options;

#define lwt_contains(text, part) assert_non_null(strstr(text, part))

static lw_model *read(void)
{
    lw_error error;
    lw_model *model = NULL;
    lw_options_default(&options);
    lwt_ok(lw_model_parse(model_text, strlen(model_text), "push.yaml",
                          &(lw_read_desc){.format = "yaml"}, &model, &options, &error),
           &error);
    return model;
}

static const char *const by[] = {"m", "F"}, *const wanted[] = {"way", "way.mean",
                                                               "joint.rail.qd0.max"};

// Of rows at 0, 1, 2 s straight lines: the mean of x is (x1 + x2/2) / 2, x1 = x2 / 4.
static void check(const double *x, const double *value, const double *jacobian, double limit)
{
    const double m = x[0] / 1000, F = x[1], way = 2 * F / m, mean = 3.0 / 8 * way;
    lwt_near(value[0], way, 1e-8 * way);
    lwt_near(value[1], mean, 1e-8 * way);
    lwt_near(jacobian[0], -way / x[0], limit * way / x[0]);
    lwt_near(jacobian[1], way / F, limit * way / F);
    lwt_near(jacobian[2], -mean / x[0], limit * way / x[0]);
    lwt_near(jacobian[3], mean / F, limit * way / F);
}

static void test_differences(void **state)
{
    (void)state;
    const double lower[] = {400, 1}, upper[] = {900, 5};
    const double points[][2] = {{500, 3}, {400, 5}, {900, 1}};
    double value[3], jacobian[6];
    lw_model *model = read();
    lw_error error;
    lw_response *r;
    const lw_response_desc desc = {.options = &options,
                                   .nby = 2,
                                   .by = by,
                                   .lower = lower,
                                   .upper = upper,
                                   .nwanted = 3,
                                   .wanted = wanted};
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    assert_int_equal(lw_response_count(r), 3);
    assert_string_equal(lw_response_name(r, 0), "measure.way.last");
    assert_string_equal(lw_response_name(r, 2), "joint.rail.qd0.max");
    assert_string_equal(lw_response_unit(r, 2), "m/s");
    for (int i = 0; i < 3; i++) {
        lwt_ok(lw_response_evaluate(r, points[i], value, jacobian, &error), &error);
        check(points[i], value, jacobian, 1e-7);
        lwt_near(value[2], 2000 * points[i][1] / points[i][0], 1e-7);
        lwt_near(jacobian[5], 2000 / points[i][0], 1e-5);
    }
    assert_int_equal(lw_response_gradient(r), LW_GRADIENT_DIFFERENCES);
    assert_int_equal(lw_response_runs(r), 3 * 5);
    lwt_ok(lw_response_evaluate(r, points[0], value, NULL, &error), &error);
    assert_int_equal(lw_response_runs(r), 16);
    assert_int_equal(lw_response_evaluate(r, (double[]){399, 3}, value, NULL, &error),
                     LW_ERR_ARGUMENT);
    lwt_contains(error.text, "'m'");
    lw_response_destroy(r);
    lw_model_destroy(model);
}

// Four parameters: one adjoint costs less, two more; a parameter at zero, too.
static void test_adjoint(void **state)
{
    (void)state;
    const char *const four[] = {"m", "F", "a", "b"};
    const double lower[] = {400, 1, -1, -1}, upper[] = {900, 5, 1, 1}, x[] = {500, 3, 0, 0.5};
    double value[2], jacobian[8];
    lw_model *model = read();
    lw_error error;
    lw_response *r;
    lw_response_desc desc = {.options = &options,
                             .nby = 4,
                             .by = four,
                             .lower = lower,
                             .upper = upper,
                             .nwanted = 2,
                             .wanted = wanted};
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
    assert_int_equal(lw_response_gradient(r), LW_GRADIENT_DIFFERENCES); // two adjoints cost more
    lw_response_destroy(r);
    desc.nwanted = 1;
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
    assert_int_equal(lw_response_gradient(r), LW_GRADIENT_ADJOINT);
    lw_response_destroy(r);
    desc.nwanted = 2, desc.gradient = LW_GRADIENT_ADJOINT;
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
    assert_int_equal(lw_response_gradient(r), LW_GRADIENT_ADJOINT);
    check(x, value, (double[]){jacobian[0], jacobian[1], jacobian[4], jacobian[5]}, 1e-9);
    lw_response_destroy(r);
    const char *const columns[] = {"way", "joint.rail.qd0.mean"}; // of each statistic another one
    desc.wanted = columns;
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
    const double m = x[0] / 1000, F = x[1];
    lwt_near(value[0], 2 * F / m, 1e-7);
    lwt_near(jacobian[1], 2 / m, 1e-7);
    lwt_near(value[1], F / m, 1e-7);
    lwt_near(jacobian[4], -F / m / x[0], 1e-9);
    lwt_near(jacobian[5], 1 / m, 1e-7);
    lw_response_destroy(r);
    desc.lower =
        (const double[]){400, -1, -1, -1}; // values at a force of zero are not those next to it
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    const double still[] = {500, 0, 0.5, 0.5};
    lwt_ok(lw_response_evaluate(r, still, value, jacobian, &error), &error);
    assert_int_equal(lw_response_gradient(r), LW_GRADIENT_ADJOINT);
    for (int i = 0; i < 2; i++) assert_true(fabs(value[i]) < 1e-14);
    lw_response_destroy(r);
    lw_model_destroy(model);
}

// An event ends the run after a distance d: v = sqrt(2 F d / m), the largest speed too.
static void test_adjoint_of_events(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {m: 2, F: 3, d: 0.75, k: 1}\n"
        "functions: {push: {type: constant, value: F}}\n"
        "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0],\n"
        "  effort: {q0: push}}}\n"
        "events: {end: {when: A.q0 > d*k, stop: true}}\n"
        "measures: {v: joint.A.qd0}\n"
        "simulation: {duration: 5, sample: 0.1}\n";
    static const char *const four[] = {"m", "F", "d", "k"}, *const names[] = {"v", "v.max"};
    static const double x[] = {2, 3, 0.75, 1}, expected[] = {-0.375, 0.25, 1, 0.75};
    double value[1], jacobian[4];
    lw_error error;
    lw_model *model = NULL;
    lw_response *r;
    lwt_ok(lw_model_parse(text, strlen(text), "event.yaml", &(lw_read_desc){.format = "yaml"},
                          &model, &options, &error),
           &error);
    for (int i = 0; i < 2; i++) {
        const lw_response_desc desc = {.options = &options,
                                       .nby = 4,
                                       .by = four,
                                       .lower = (const double[]){1, 1, 0.5, 0.5},
                                       .upper = (const double[]){4, 4, 2, 2},
                                       .nwanted = 1,
                                       .wanted = names + i};
        lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
        lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
        assert_int_equal(lw_response_gradient(r), LW_GRADIENT_ADJOINT);
        lwt_near(value[0], 1.5, 1e-9);
        for (int k = 0; k < 4; k++) lwt_near(jacobian[k], expected[k], 1e-9);
        lw_response_destroy(r);
    }
    lw_model_destroy(model);
}

static lw_result *data(const char *text)
{
    lw_error error;
    lw_result *result = NULL;
    FILE *file = fopen("response-data.csv", "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    lwt_ok(lw_result_open("response-data.csv", &result, &error), &error);
    remove("response-data.csv");
    return result;
}

// Rows that are not evenly spaced, a column with a weight.
static void test_residuals(void **state)
{
    (void)state;
    const double lower[] = {400, 1}, upper[] = {900, 5}, x[] = {600, 3}, weight[] = {1, 1, 10};
    const double time[] = {0, 0.5, 0.75, 1.5};
    double value[8], jacobian[16];
    lw_model *model = read();
    lw_error error;
    lw_response *r;
    lw_result *rows =
        data("time,joint.rail.q0,joint.rail.qd0\n0,0,0\n0.5,1,2\n0.75,2,3\n1.5,3,4\n");
    const lw_response_desc desc = {.options = &options,
                                   .nby = 2,
                                   .by = by,
                                   .lower = lower,
                                   .upper = upper,
                                   .data = rows,
                                   .weight = weight};
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lw_result_close(rows);
    assert_int_equal(lw_response_count(r), 8);
    assert_string_equal(lw_response_name(r, 3), "joint.rail.qd0");
    lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
    for (int i = 0; i < 4; i++) {
        const double t = time[i], at[] = {0, 1, 2, 3}, speed[] = {0, 2, 3, 4};
        lwt_near(value[2 * i], 2.5 * t * t - at[i], 1e-8);
        lwt_near(value[2 * i + 1], 10 * (5 * t - speed[i]), 1e-7);
        lwt_near(jacobian[4 * i + 1], 2.5 * t * t / 3, 1e-6);
        lwt_near(jacobian[4 * i + 2], -10 * 5 * t / 600, 1e-6);
    }
    lw_response_destroy(r);
    lw_model_destroy(model);
}

// A rod of less than 0.5 m: there is no such model.
static void test_infeasible(void **state)
{
    (void)state;
    const char *const one[] = {"rod"};
    const double lower[] = {0.1}, upper[] = {2}, good[] = {1}, edge[] = {0.5}, bad[] = {0.3};
    double value[1], jacobian[1];
    lw_model *model = read();
    lw_error error;
    lw_response *r;
    const lw_response_desc desc = {.options = &options,
                                   .nby = 1,
                                   .by = one,
                                   .lower = lower,
                                   .upper = upper,
                                   .nwanted = 1,
                                   .wanted = wanted};
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    const lw_status status = lw_response_evaluate(r, bad, value, jacobian, &error);
    assert_true(lw_response_infeasible(status));
    assert_true(strstr(error.text, "body 'bar'") == error.text);
    assert_false(lw_response_infeasible(LW_OK));
    assert_false(lw_response_infeasible(LW_ERR_ARGUMENT));
    lwt_ok(lw_response_evaluate(r, edge, value, jacobian, &error), &error); // one side is enough
    lwt_near(jacobian[0], 0, 1e-9);
    lwt_ok(lw_response_evaluate(r, good, value, jacobian, &error), &error);
    lw_response_destroy(r);
    lw_model_destroy(model);
}

static void refuse(const lw_model *model, lw_response_desc desc, const char *text)
{
    lw_error error;
    lw_response *r = NULL;
    assert_int_not_equal(lw_response_create(model, &desc, &r, &error), LW_OK);
    if (!strstr(error.text, text)) print_error("%s\n", error.text);
    lwt_contains(error.text, text);
    assert_null(r);
}

static void test_refusals(void **state)
{
    (void)state;
    const double lower[] = {400, 1}, upper[] = {900, 5}, low[] = {50, 1}, nan[] = {NAN, 1};
    const char *const twice[] = {"m", "m"}, *const unknown[] = {"mm", "F"},
                      *const body[] = {"body.box.mass", "F"};
    const char *const no_column[] = {"joint.rail.q7"}, *const pattern[] = {"joint.*"};
    lw_model *model = read();
    const lw_response_desc good = {.options = &options,
                                   .nby = 2,
                                   .by = by,
                                   .lower = lower,
                                   .upper = upper,
                                   .nwanted = 1,
                                   .wanted = wanted};
    lw_response_desc desc;
#define REFUSE(change, text)                                                                       \
    do {                                                                                           \
        desc = good;                                                                               \
        change;                                                                                    \
        refuse(model, desc, text);                                                                 \
    } while (0)
    REFUSE(desc.nby = 0, "at least one parameter");
    REFUSE(desc.nwanted = 0, "measures, or data");
    REFUSE(desc.by = twice, "'m' is given twice");
    REFUSE(desc.by = unknown, "mm");
    REFUSE(desc.by = body, "'body.box.mass' is no parameter of the model's file");
    REFUSE(desc.lower = upper, "the first below");
    REFUSE(desc.lower = nan, "finite");
    REFUSE(desc.lower = low, "'m': range 50:900; its file allows 100:");
    REFUSE(desc.wanted = no_column, "joint.rail.q7");
    REFUSE(desc.wanted = pattern, "NAME.STATISTIC");
    const struct {
        const char *rows, *text;
    } bad[] = {{"time,joint.rail.q0\n1,0\n1,0\n", "row 2 has the time 1 s"},
               {"time,joint.rail.q0\n-1,0\n1,0\n", "row 1 has the time -1 s"},
               {"time,joint.rail.q0\n0,0\n", "above 0"},
               {"time,joint.rail.q0\n0,0\n0.1234567,0\n1,0\n", "no common interval"},
               {"time,joint.rail.q9\n0,0\n1,0\n", "joint.rail.q9"},
               {"time\n0\n1\n", "in addition to `time`"}};
    for (int i = 0; i < (int)(sizeof bad / sizeof bad[0]); i++) {
        lw_result *rows = data(bad[i].rows);
        REFUSE(desc.data = rows, bad[i].text);
        lw_result_close(rows);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),       cmocka_unit_test(test_adjoint),
        cmocka_unit_test(test_adjoint_of_events), cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_infeasible),        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
