// test_response.c -- numbers of a run as functions of parameters: a pushed mass in closed form, by differences at and
// next to the ends of ranges and by the adjoint; residuals of data, also by forward sensitivities, in closed form and against
// differences of order six; designs without a run; refused input.
#include "analysis/adjoint.h"
#include "analysis/sensitivity_cases.h"

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

// Four parameters: the adjoint of one or two measures costs less; a parameter at zero, too.
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
    assert_int_equal(lw_response_gradient(r), LW_GRADIENT_ADJOINT);
    assert_int_equal(lw_response_runs(r), 3); // with the values at zero itself
    lw_response_destroy(r);
    desc.nby = 3;
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
    assert_int_equal(lw_response_gradient(r), LW_GRADIENT_DIFFERENCES);
    lw_response_destroy(r);
    desc.nby = 4, desc.nwanted = 1;
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

// A measure may have the name of a statistic, which is none behind "measure.".
static void test_measure_named_max(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\nparameters: {m: 2}\n"
        "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
        "measures: {max: joint.A.qd0}\n";
    static const char *const names[][2] = {{"measure.max", "measure.max.last"},
                                           {"max", "measure.max.last"},
                                           {"max.max", "measure.max.max"},
                                           {"measure.max.min", "measure.max.min"},
                                           {"joint.A.q0.max", "joint.A.q0.max"}};
    static const char *const m[] = {"m"};
    lw_error error;
    lw_model *model = NULL;
    lwt_ok(lw_model_parse(text, strlen(text), "max.yaml", &(lw_read_desc){.format = "yaml"}, &model,
                          &options, &error),
           &error);
    for (int i = 0; i < LWI_COUNT(names); i++) {
        lw_response *r;
        const lw_response_desc desc = {.options = &options,
                                       .nby = 1,
                                       .by = m,
                                       .lower = (const double[]){1},
                                       .upper = (const double[]){4},
                                       .nwanted = 1,
                                       .wanted = &names[i][0]};
        lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
        assert_string_equal(lw_response_name(r, 0), names[i][1]);
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

// The same forward, from four parameters of which one is zero; a column without weight, and the first row at t = 0.
static void test_residuals_forward(void **state)
{
    (void)state;
    const char *const four[] = {"m", "F", "a", "b"};
    const double lower[] = {400, 1, -1, -1}, upper[] = {900, 5, 1, 1}, x[] = {600, 3, 0.5, 0},
                 weight[] = {1, 2, 0}, time[] = {0, 0.5, 0.75, 1.5};
    static const char *const text[] = {
        "time,joint.rail.q0,joint.rail.qd0\n0,0,7\n0.5,1,2\n0.75,2,3\n1.5,3,4\n",
        "time,joint.rail.q0,joint.rail.qd0\n0.5,1,2\n0.75,2,3\n1.5,3,4\n"};
    double value[8], jacobian[32];
    lw_model *model = read();
    lw_error error;
    lw_response *r;
    for (int from = 0; from < 2; from++) {
        lw_result *rows = data(text[from]);
        const lw_response_desc desc = {.options = &options,
                                       .nby = 4,
                                       .by = four,
                                       .lower = lower,
                                       .upper = upper,
                                       .data = rows,
                                       .weight = weight,
                                       .gradient = LW_GRADIENT_FORWARD};
        lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
        lw_result_close(rows);
        assert_int_equal(lw_response_count(r), 2 * (4 - from));
        lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
        assert_int_equal(lw_response_gradient(r), LW_GRADIENT_FORWARD);
        for (int i = 0; i < 4 - from; i++) {
            const double t = time[i + from], way = 2.5 * t * t, at[] = {0, 1, 2, 3};
            lwt_near(value[2 * i], 2 * (way - at[i + from]), 1e-10);
            lwt_near(jacobian[8 * i], -2 * way / 600, 1e-12);
            lwt_near(jacobian[8 * i + 1], 2 * way / 3, 1e-10);
            for (int k = 2; k < 4; k++) lwt_near(jacobian[8 * i + k], 0, 1e-14);
            lwt_near(value[2 * i + 1], 0, 0);
            for (int k = 4; k < 8; k++) lwt_near(jacobian[8 * i + k], 0, 0);
        }
        lw_response_destroy(r);
    }
    lw_model_destroy(model);
}

// The push ends after a distance d, at t1 = sqrt(2 d m/F): x = d + v (t - t1), v = sqrt(2 F d/m).
static void test_residuals_after_an_event(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, 0, 0]\n"
        "parameters: {m: 2, F: 3, d: 0.75}\n"
        "signals: {on: {type: switch, value: 1}, push: {type: formula, of: F*on}}\n"
        "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0],\n"
        "  effort: {q0: push}}}\n"
        "events: {end: {when: A.q0 > d, set: {on: 0}}}\n";
    static const char *const three[] = {"m", "F", "d"};
    static const double x[] = {2, 3, 0.75}, time[] = {0.6, 1.6, 2.2};
    double value[3], jacobian[9];
    lw_error error;
    lw_response *r;
    lw_model *model = parse(text, &options);
    lw_result *rows = data("time,joint.A.q0\n0.6,0\n1.6,0\n2.2,0\n");
    const lw_response_desc desc = {.options = &options,
                                   .nby = 3,
                                   .by = three,
                                   .lower = (const double[]){1, 1, 0.5},
                                   .upper = (const double[]){4, 4, 2},
                                   .data = rows,
                                   .gradient = LW_GRADIENT_FORWARD};
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lw_result_close(rows);
    lwt_ok(lw_response_evaluate(r, x, value, jacobian, &error), &error);
    assert_int_equal(lw_response_gradient(r), LW_GRADIENT_FORWARD);
    for (int i = 0; i < 3; i++) { // at 1.6 and 2.2 s x = v t - d, v = 1.5
        const double t = time[i], v = 1.5;
        const bool pushed = i == 0;
        lwt_near(value[i], pushed ? 0.75 * t * t : v * t - 0.75, 1e-9);
        lwt_near(jacobian[3 * i], pushed ? -0.375 * t * t : -v * t / 4, 1e-9);
        lwt_near(jacobian[3 * i + 1], pushed ? 0.25 * t * t : v * t / 6, 1e-9);
        lwt_near(jacobian[3 * i + 2], pushed ? 0 : v * t / 1.5 - 1, 1e-9);
    }
    lw_response_destroy(r);
    lw_model_destroy(model);
}

// A four-bar with springs; its length `l` moves the loop.
static const char loop_text[] =
    "linkwork: 1\n"
    "parameters: {k: 30, c: 0.4, m: 1.2, l: 0.5, g: 9.5}\n"
    "gravity: [0, -g, 0]\n"
    "bodies:\n"
    "  a: {mass: m, inertia: [0.02, 0.02, m*0.02, 0, 0, 0], position: [0, l/2, 0]}\n"
    "  b: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, l, 0]}\n"
    "  c: {mass: 0.8, inertia: [0.03, 0.03, 0.03, 0, 0, 0], position: [1, l/2, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1],\n"
    "      spring: {q0: {stiffness: k, damping: c, at: -0.6}}}\n"
    "  B: {type: revolute, between: [a, b], at: [0, l, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [b, c], at: [1, l, 0], axis: [0, 0, 1]}\n"
    "  D: {type: revolute, between: [ground, c], at: [1, 0, 0], axis: [0, 0, 1]}\n";
static const char *const loop_by[] = {"k", "c", "m", "l", "g"};
static const double loop_lower[] = {10, 0.1, 0.5, 0.3, 5}, loop_upper[] = {60, 1, 2, 0.8, 12},
                    loop_x[] = {30, 0.4, 1.2, 0.5, 9.5};
static const char loop_rows[] =
    "time,joint.A.q0,body.b.vx\n0.1,-0.01,0.3\n0.25,-0.2,0.7\n0.5,-0.5,0.1\n";

// Jacobian [6][nby] of the four-bar; @return how it was computed
static lw_gradient loop_jacobian(const lw_model *model, int nby, lw_gradient gradient, int threads,
                                 double *value, double *jacobian)
{
    lw_error error;
    lw_response *r;
    lw_result *rows = data(loop_rows);
    options.threads = threads;
    const lw_response_desc desc = {.options = &options,
                                   .nby = nby,
                                   .by = loop_by,
                                   .lower = loop_lower,
                                   .upper = loop_upper,
                                   .data = rows,
                                   .gradient = gradient};
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lw_result_close(rows);
    lwt_ok(lw_response_evaluate(r, loop_x, value, jacobian, &error), &error);
    const lw_gradient used = lw_response_gradient(r);
    lw_response_destroy(r);
    return used;
}

// Each row is the end of a run, with its derivatives by differences of order six.
static void test_forward_against_differences(void **state)
{
    (void)state;
    static const double time[] = {0.1, 0.25, 0.5}, measured[] = {-0.01, 0.3, -0.2, 0.7, -0.5, 0.1};
    double value[6], jacobian[30];
    lw_model *model = parse(loop_text, &options);
    assert_int_equal(loop_jacobian(model, 5, LW_GRADIENT_FORWARD, 1, value, jacobian),
                     LW_GRADIENT_FORWARD);
    for (int i = 0; i < 3; i++) {
        lw_options run = options;
        run.duration = run.sample = time[i];
        lw_sensitivity *s = differentiate(model, &run, 5, loop_by, "joint.A.q0,body.b.vx");
        for (int c = 0; c < 2; c++) {
            const int column = !strcmp(lw_sensitivity_column(s, c).name, "joint.A.q0") ? 0 : 1;
            const int at = 2 * i + column;
            lwt_near(value[at] + measured[at], lw_sensitivity_value(s, c, LW_STATISTIC_LAST), 1e-8);
            for (int k = 0; k < 5; k++) {
                const double expected = lw_sensitivity_at(s, k, c, LW_STATISTIC_LAST, NULL);
                assert_true(fabs(expected) > 1e-6);
                lwt_near(jacobian[5 * at + k], expected, 1e-7 * (1 + fabs(expected)));
            }
        }
        lw_sensitivity_destroy(s);
    }
    lw_model_destroy(model);
}

// By default what costs less: the same for any number of threads, with the same bits.
static void test_choice_for_data(void **state)
{
    (void)state;
    double one[6], four[6], by_one[30], by_four[30];
    lw_model *model = parse(loop_text, &options);
    assert_int_equal(loop_jacobian(model, 1, LW_GRADIENT_AUTO, 1, one, by_one),
                     LW_GRADIENT_DIFFERENCES);
    assert_int_equal(loop_jacobian(model, 5, LW_GRADIENT_AUTO, 1, one, by_one),
                     LW_GRADIENT_FORWARD);
    assert_int_equal(loop_jacobian(model, 5, LW_GRADIENT_AUTO, 4, four, by_four),
                     LW_GRADIENT_FORWARD);
    assert_memory_equal(one, four, sizeof one);
    assert_memory_equal(by_one, by_four, sizeof by_one);
    lw_model_destroy(model);
}

// Rows of a long run, of which most steps are computed again, have the same bits.
static void test_memory_of_rows(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {k: 400, m: 1.5, c: 0.01}\n"
        "bodies: {a: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0], q: "
        "[1],\n"
        "  spring: {q0: {stiffness: k, damping: c}}}}\n"
        "simulation: {rtol: 1e-12, atol: 1e-12, duration: 15, sample: 1}\n";
    static const char *const three[] = {"k", "m", "c"};
    const long row[] = {2, 3, 8, 15};
    lw_error error;
    lw_model *model = parse(text, &options);
    const lw_sensitivity_desc desc = {.options = &options,
                                      .nby = 3,
                                      .by = three,
                                      .columns = "joint.A.q0",
                                      .method = LW_SENSITIVITY_FORWARD};
    lwi_adjoint *all = NULL, *some = NULL;
    lwt_ok(lwi_adjoint_create_rows(model, &desc, LWI_ADJOINT_MEMORY, row, 4, &all, &error), &error);
    lwt_ok(lwi_adjoint_create_rows(model, &desc, 1, row, 4, &some, &error), &error); // 512 states
    for (int i = 0; i < 4; i++) {
        const double t = (double)row[i], rate = 0.005 / 1.5, w = sqrt(400 / 1.5 - rate * rate);
        lwt_near(lwi_adjoint_row_value(all, i, 0),
                 exp(-rate * t) * (cos(w * t) + rate / w * sin(w * t)), 1e-9);
        assert_true(lwi_adjoint_row_value(all, i, 0) == lwi_adjoint_row_value(some, i, 0));
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(lwi_adjoint_row_gradient(all, i, 0, k)) > 1e-4);
            assert_true(lwi_adjoint_row_gradient(all, i, 0, k) ==
                        lwi_adjoint_row_gradient(some, i, 0, k));
        }
    }
    lwi_adjoint_destroy(all);
    lwi_adjoint_destroy(some);
    lw_model_destroy(model);
}

// An event ends the run before the last row: residuals of earlier designs must not stand for what is missing.
static void test_run_that_ends_before_the_data(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "parameters: {F: 3}\n"
        "functions: {push: {type: constant, value: F}}\n"
        "bodies: {a: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {A: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0],\n"
        "  effort: {q0: push}}}\n"
        "events: {end: {when: A.q0 > 1.5, stop: true}}\n";
    static const char *const one[] = {"F"};
    static const lw_gradient method[] = {LW_GRADIENT_AUTO, LW_GRADIENT_DIFFERENCES,
                                         LW_GRADIENT_FORWARD};
    double value[2], jacobian[2];
    lw_error error;
    lw_response *r;
    lw_model *model = parse(text, &options);
    for (int i = 0; i < 3; i++) {
        lw_result *rows = data("time,joint.A.q0\n1,0.2\n2,0.9\n");
        const lw_response_desc desc = {.options = &options,
                                       .nby = 1,
                                       .by = one,
                                       .lower = (const double[]){0.5},
                                       .upper = (const double[]){6},
                                       .data = rows,
                                       .gradient = method[i]};
        lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
        lw_result_close(rows);
        lwt_ok(lw_response_evaluate(r, (double[]){1}, value, jacobian, &error), &error);
        lwt_near(value[1], 1 - 0.9, 1e-8);
        lwt_near(jacobian[1], 1, 1e-7);
        assert_int_equal(lw_response_evaluate(r, (double[]){6}, value, jacobian, &error),
                         LW_ERR_MODEL);
        assert_true(lw_response_infeasible(LW_ERR_MODEL));
        lwt_contains(error.text, "ends the run at t = 1 s, before the last row, t = 2 s");
        // next to an end of the run: one side is enough
        lwt_ok(lw_response_evaluate(r, (double[]){1.4999}, value, jacobian, &error), &error);
        lwt_near(jacobian[1], 1, 1e-6);
        lw_response_destroy(r);
    }
    lw_model_destroy(model);
}

// What forward sensitivities cannot do is named; by default differences take their place.
static void test_forward_refused(void **state)
{
    (void)state;
    char text[sizeof loop_text + 100], *joint;
    double value[6], jacobian[30];
    lw_error error;
    lw_response *r;
    strcpy(text, loop_text);
    for (const char *name = "ABCD"; *name; name++) { // on the joint that is cut, too
        char head[64];
        const char *rotor = " rotor: {q0: 0.01},";
        snprintf(head, sizeof head, "  %c: {type: revolute,", *name);
        joint = strstr(text, head);
        assert_non_null(joint);
        joint += strlen(head);
        memmove(joint + strlen(rotor), joint, strlen(joint) + 1);
        memcpy(joint, rotor, strlen(rotor));
    }
    lw_model *model = parse(text, &options);
    assert_int_equal(loop_jacobian(model, 5, LW_GRADIENT_AUTO, 1, value, jacobian),
                     LW_GRADIENT_DIFFERENCES);
    lw_result *rows = data(loop_rows);
    const lw_response_desc desc = {.options = &options,
                                   .nby = 5,
                                   .by = loop_by,
                                   .lower = loop_lower,
                                   .upper = loop_upper,
                                   .data = rows,
                                   .gradient = LW_GRADIENT_FORWARD};
    lwt_ok(lw_response_create(model, &desc, &r, &error), &error);
    lw_result_close(rows);
    assert_int_equal(lw_response_evaluate(r, loop_x, value, jacobian, &error), LW_ERR_UNSUPPORTED);
    lwt_contains(error.text, "method forward: joint '");
    lwt_contains(error.text, "closes a loop and has a rotor; expected method `differences`");
    lwt_ok(lw_response_evaluate(r, loop_x, value, NULL, &error), &error);
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
    REFUSE(desc.gradient = LW_GRADIENT_FORWARD, "expected data, and no measures with them");
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
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_adjoint),
        cmocka_unit_test(test_adjoint_of_events),
        cmocka_unit_test(test_measure_named_max),
        cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_residuals_forward),
        cmocka_unit_test(test_residuals_after_an_event),
        cmocka_unit_test(test_forward_against_differences),
        cmocka_unit_test(test_choice_for_data),
        cmocka_unit_test(test_memory_of_rows),
        cmocka_unit_test(test_run_that_ends_before_the_data),
        cmocka_unit_test(test_forward_refused),
        cmocka_unit_test(test_infeasible),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
