// test_model_events.c -- events of a model against closed forms: the time at which a pendulum passes an angle, with every
// integrator; ends of runs, rows, given times; conditions with `and`, `or`, `not`; loops, stops and batches.
#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(LW_OK, (call))
#define G 9.81

// 1 kg at 1 m from the hinge, released at rest at -1 rad.
static const char pendulum_text[] =
    "linkwork: 1\ngravity: [0, -9.81, 0]\n"
    "bodies: {bob: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], com: [0, -1, 0]}}\n"
    "joints: {A: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1], q: "
    "[-1]}}\n";

/** Rows of a run: times, numbers of events. */
typedef struct rows {
    int n;
    double time[4000], q[4000];
    int event[4000];
} rows;

static lw_status keep(void *user, const lw_observation *o)
{
    rows *r = user;
    assert_true(r->n < 4000);
    r->time[r->n] = o->time;
    r->q[r->n] = o->q[0];
    r->event[r->n++] = o->event;
    return LW_OK;
}

static lw_model *parse(const char *text, const char *events)
{
    char all[4000];
    lw_model *model;
    lw_error error = {0};
    snprintf(all, sizeof all, "%sevents:\n%s", text, events);
    const lw_read_desc desc = {.format = "yaml"};
    if (lw_model_parse(all, strlen(all), "m.yaml", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%d: %s", error.line, error.text);
    return model;
}

static lw_sim *sim_of(const lw_model *model, const char *formulation, const char *integrator,
                      double tolerance, double step)
{
    lw_options options;
    lw_sim *sim;
    lw_error error = {0};
    lw_options_default(&options);
    if (tolerance > 0) options.rtol = options.atol = tolerance;
    options.step = step;
    options.sample = 0.1;
    options.duration = 3;
    OK(lw_options_set(&options, "integrator", integrator, &error));
    OK(lw_options_set(&options, "formulation", formulation, &error));
    if (lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error) != LW_OK)
        fail_msg("%s %s: %s", formulation, integrator, error.text);
    return sim;
}

static void run(lw_sim *sim, rows *r)
{
    r->n = 0;
    if (lw_sim_run(sim, LW_OBSERVE_POSE, keep, r, NULL, NULL) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
}

static double of_event(const rows *r, int event, int which)
{
    for (int i = 0; i < r->n; i++)
        if (r->event[i] == event && which-- == 0) return r->time[i];
    return NAN;
}

// -------------------------------------------------------------------------------------- a pendulum

// F(phi, k) by Gauss-Legendre quadrature with five nodes in each of 200 parts.
static double elliptic(double phi, double k)
{
    static const double x[] = {0, 0.5384693101056831, -0.5384693101056831, 0.9061798459386640,
                               -0.9061798459386640};
    static const double w[] = {0.5688888888888889, 0.4786286704993665, 0.4786286704993665,
                               0.2369268850561891, 0.2369268850561891};
    double sum = 0;
    const double h = phi / 200;
    for (int i = 0; i < 200; i++)
        for (int j = 0; j < 5; j++) {
            const double s = k * sin(h * (i + 0.5 + 0.5 * x[j]));
            sum += 0.5 * h * w[j] / sqrt(1 - s * s);
        }
    return sum;
}

// Time from the release to the angle, on the way up.
static double time_to(double angle)
{
    const double k = sin(0.5), phi = asin(sin(angle / 2) / k);
    return (elliptic(0.5 * acos(-1), k) + elliptic(phi, k)) * sqrt(1.01 / G);
}

typedef struct method {
    const char *formulation, *integrator;
    double tolerance, step, error;
} method;

// Steps of fixed length have the error of their order: rk4 by a time step of 1/2000 s, the others of the second order
// by theory; gauss is of the fourth at least.
static const method methods[] = {
    {"aba", "dopri5", 1e-13, 0, 1e-11},     {"momenta", "bs3", 1e-11, 0, 1e-9},
    {"hdca", "verner87", 1e-13, 0, 1e-11},  {"dca", "fehlberg8", 1e-13, 0, 1e-11},
    {"lagrange", "adams", 1e-12, 0, 1e-10}, {"rcr", "bdf", 1e-12, 0, 1e-9},
    {"dense", "dopri54", 1e-13, 0, 1e-11},  {"aba", "rk4", 0, 5e-4, 1e-11},
    {"index3", "index3", 0, 5e-4, 1e-6},    {"rattle", "rattle", 0, 5e-4, 1e-6},
    {"momenta", "gauss", 0, 5e-3, 1e-10}};

static void a_pendulum_passes_an_angle_in_the_time_of_the_elliptic_integral(void **state)
{
    (void)state;
    lw_model *model = parse(pendulum_text, "  passed: {when: joint.A.q0 > 30 deg, stop: true}\n"
                                           "  bottom: {when: A.q0, record: true}\n");
    static rows r;
    const double bottom = time_to(0), passed = time_to(acos(-1) / 6);
    for (int i = 0; i < (int)(sizeof methods / sizeof *methods); i++) {
        const method *m = &methods[i];
        lw_sim *sim = sim_of(model, m->formulation, m->integrator, m->tolerance, m->step);
        run(sim, &r);
        const double error[] = {of_event(&r, 2, 0) - bottom, lw_sim_time(sim) - passed};
        for (int k = 0; k < 2; k++)
            if (!(fabs(error[k]) < m->error))
                fail_msg("%s %s: event %d at %.3g s from its time", m->formulation, m->integrator,
                         k, error[k]);
        assert_int_equal(lw_sim_stopped(sim), 0);
        assert_true(r.time[r.n - 1] == lw_sim_time(sim)); // the row of the end
        assert_true(fabs(r.q[r.n - 1] - acos(-1) / 6) < 1e-14);
        lw_summary summary;
        lw_sim_summary(sim, &summary);
        assert_int_equal(summary.occurrences, 2);
        assert_true(summary.end == lw_sim_time(sim));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The rows of the samples are there as well, and those of the same run without events.
static void rows_of_events_are_between_the_samples(void **state)
{
    (void)state;
    lw_model *model =
        parse(pendulum_text, "  tick: {every: 0.25, from: 0.5, record: true}\n"
                             "  marks: {at: [0, 0.3, 1.05], record: true}\n"
                             "  turn: {when: A.qd0, crossing: falling, record: true}\n"
                             "  silent: {when: A.q0, crossing: both, stop: false, record: true}\n");
    lw_sim *sim = sim_of(model, "auto", "auto", 1e-10, 0);
    static rows r;
    run(sim, &r);
    for (int i = 1; i < r.n; i++) assert_true(r.time[i] >= r.time[i - 1]);
    int samples = 0;
    for (int i = 0; i < r.n; i++) samples += fabs(r.time[i] * 10 - rint(r.time[i] * 10)) < 1e-12;
    assert_true(samples >= 31);
    for (int k = 0; k < 11; k++) assert_true(of_event(&r, 1, k) == 0.5 + 0.25 * k);
    assert_true(isnan(of_event(&r, 1, 11)));
    assert_true(of_event(&r, 2, 0) == 0 && of_event(&r, 2, 1) == 0.3 && of_event(&r, 2, 2) == 1.05);
    const double quarter = time_to(0);
    assert_true(fabs(of_event(&r, 3, 0) - 2 * quarter) < 1e-8); // the speed falls through 0
    assert_true(isnan(of_event(&r, 3, 1)));
    for (int k = 0; k < 3; k++)
        assert_true(fabs(of_event(&r, 4, k) - (2 * k + 1) * quarter) < 1e-8);
    assert_int_equal(lw_sim_event_count(sim, 0), 11);
    assert_int_equal(lw_sim_event_count(sim, 3), 3);
    assert_int_equal(lw_sim_event_count(sim, 4), 0);
    assert_int_equal(lw_sim_stopped(sim), -1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Calls between samples, and calls after an event that stopped, continue where they are.
static void steps_of_a_program_end_at_a_stop_and_continue(void **state)
{
    (void)state;
    lw_model *model = parse(pendulum_text, "  bottom: {when: A.q0, stop: true}\n");
    lw_sim *sim = sim_of(model, "aba", "verner87", 1e-12, 0);
    for (int k = 0; k < 3; k++) {
        OK(lw_sim_step(sim, 3));
        assert_int_equal(lw_sim_stopped(sim), 0);
        assert_true(fabs(lw_sim_time(sim) - (2 * k + 1) * time_to(0)) < 1e-9);
    }
    OK(lw_sim_step(sim, 3));
    assert_int_equal(lw_sim_stopped(sim), -1);
    assert_true(lw_sim_time(sim) == 3);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// z = 1 - g t^2/2: the conditions hold from known times on.
static void conditions_are_joined(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies: {ball: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\njoints:\n"
        "  s: {type: prismatic, between: [ground, ball], frame1: {}, frame2: {}, q: [1]}\n"
        "signals: {below: 0.5 - s.q0, late: 't > 0.4', rest: {type: table, t: [0, 1], y: [1, "
        "-1]}}\n";
    lw_model *model =
        parse(text, "  a: {when: s.q0 < 0.5 and t > 0.1, record: true}\n"
                    "  b: {when: s.q0 < 0.5 and late, record: true}\n"
                    "  c: {when: s.q0 < 0.9 or t > 5, record: true}\n"
                    "  d: {when: not s.q0 > 0.8, record: true}\n"
                    "  e: {when: below, record: true}\n"
                    "  f: {when: late, record: true}\n"
                    "  g: {when: 'body.ball.z <= 0.5', crossing: falling, record: true}\n"
                    "  h: {when: rest, record: true}\n"
                    "  i: {when: 'not (s.q0 > 0.5 and s.q0 > 0.8)', record: true}\n");
    lw_sim *sim = sim_of(model, "auto", "auto", 1e-10, 0);
    static rows r;
    run(sim, &r);
    const double half = sqrt(1 / G), tenth = sqrt(0.2 / G), fifth = sqrt(0.4 / G);
    const double expected[] = {half, 0.4, tenth, fifth, half, 0.4, NAN, 0.5, fifth};
    for (int i = 0; i < 9; i++) {
        const double time = of_event(&r, i + 1, 0);
        if (!(fabs(time - expected[i]) < 1e-12 || (isnan(time) && isnan(expected[i]))))
            fail_msg("event %c at %.17g, expected %.17g", 'a' + i, time, expected[i]);
        assert_true(isnan(of_event(&r, i + 1, 1)));
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// An impulse makes a speed jump through zero: the event is at its time, and that after it at its own.
static void a_jump_through_zero_is_an_event(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\ngravity: [0, 0, 0]\nbodies: {ball: {mass: 2, inertia: "
                               "[1, 1, 1, 0, 0, 0]}}\njoints:\n"
                               "  s: {type: prismatic, between: [ground, ball], frame1: {}, "
                               "frame2: {}, q: [-0.5], qd: [1]}\n"
                               "impulses: {hit: {time: 0.75, joint: s, effort: -4}}\n";
    lw_model *model = parse(text, "  back: {when: s.qd0, record: true}\n"
                                  "  zero: {when: s.q0, record: true}\n");
    for (int i = 0; i < 3; i++) {
        lw_sim *sim = sim_of(model, "auto", i ? i > 1 ? "rk4" : "dopri54" : "verner87",
                             i > 1 ? 0 : 1e-9, i > 1 ? 0.01 : 0);
        static rows r;
        run(sim, &r);
        assert_true(of_event(&r, 1, 0) == 0.75 && isnan(of_event(&r, 1, 1)));
        assert_true(fabs(of_event(&r, 2, 0) - 0.5) < 1e-14 && fabs(of_event(&r, 2, 1) - 1) < 1e-14);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------- loops, stops

// The coupler of a closed four-bar by formulations with different states.
static void events_of_loops_agree(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\ngravity: [0, -9.81, 0]\nbodies:\n"
        "  crank: {mass: 1, inertia: [0.02, 0.01, 0.02, 0, 0, 0], position: [0, 0.25, 0]}\n"
        "  coupler: {mass: 3, inertia: [0.01, 0.4, 0.4, 0, 0, 0], position: [0.6, 0.7, 0]}\n"
        "  rocker: {mass: 2, inertia: [0.1, 0.01, 0.1, 0, 0, 0], position: [1.2, 0.45, "
        "0]}\njoints:\n"
        "  a: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], qd: "
        "[0.7]}\n"
        "  b: {type: revolute, between: [crank, coupler], at: [0, 0.5, 0], axis: [0, 0, 1]}\n"
        "  c: {type: revolute, between: [coupler, rocker], at: [1.2, 0.9, 0], axis: [0, 0, 1]}\n"
        "  d: {type: revolute, between: [ground, rocker], at: [1.2, 0, 0], axis: [0, 0, 1]}\n";
    static const char *const pairs[][2] = {{"dense", "verner87"}, {"rcr", "dopri54"},
                                           {"hdca", "dopri5"},    {"dca", "verner87"},
                                           {"index3", "index3"},  {"rattle", "rattle"}};
    lw_model *model = parse(text, "  low: {when: body.coupler.vx, record: true}\n"
                                  "  end: {when: body.coupler.y < 0.5, stop: true}\n");
    double first[2] = {0};
    for (int i = 0; i < 6; i++) {
        const bool own = i >= 4;
        lw_sim *sim = sim_of(model, pairs[i][0], pairs[i][1], own ? 0 : 1e-10, own ? 1e-3 : 0);
        static rows r;
        run(sim, &r);
        const double times[2] = {of_event(&r, 1, 0), lw_sim_time(sim)};
        for (int k = 0; k < 2; k++) {
            if (i == 0) first[k] = times[k];
            const double off = fabs(times[k] - first[k]);
            if (!(off < (own ? 1e-5 : 1e-8) || (isnan(first[k]) && isnan(times[k]))))
                fail_msg("%s: event %d at %.12g, expected %.12g", pairs[i][0], k, times[k],
                         first[k]);
        }
        assert_int_equal(lw_sim_stopped(sim), 1);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// A ball on a spring that it touches: m z'' = -m g - k z below 0.  Its speed is zero where the energy of the spring is that of
// the way down; half a contact lasts (pi - atan(v w / g)) / w.
static void events_lie_within_contacts(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies: {ball: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\njoints:\n"
        "  s: {type: prismatic, between: [ground, ball], frame1: {}, frame2: {}, q: [1], "
        "limits: {q0: {lower: 0, stiffness: 1e4}}}\n";
    lw_model *model = parse(text, "  turn: {when: s.qd0, record: true}\n");
    const double w = 100, v = sqrt(2 * G), drop = v / G;
    const double half = (acos(-1) - atan(v * w / G)) / w;
    static const char *const integrators[] = {"dopri5", "verner87", "dopri54"};
    for (int i = 0; i < 3; i++) {
        lw_sim *sim = sim_of(model, "aba", integrators[i], 1e-11, 0);
        static rows r;
        run(sim, &r);
        assert_true(fabs(of_event(&r, 1, 0) - drop - half) < 1e-8);
        assert_true(fabs(of_event(&r, 1, 1) - 2 * drop - 2 * half) < 1e-8);
        lw_summary summary;
        lw_sim_summary(sim, &summary);
        assert_int_equal(summary.events, 6); // touched and left, each of three contacts
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------- files and mistakes

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *event, *message;
    } cases[] = {
        {"{when: A.q0}", "it is missing what happens"},
        {"{stop: true}", "it is missing when it happens"},
        {"{when: A.q0, every: 1, stop: true}", "has a condition and times"},
        {"{every: 0, stop: true}", "every is 0"},
        {"{at: [1, 1], stop: true}", "expected times >= 0 that increase"},
        {"{at: [-1], stop: true}", "expected times >= 0 that increase"},
        {"{every: 1, crossing: rising, stop: true}", "`crossing` belongs to `when`"},
        {"{at: [1], from: 1, stop: true}", "`from` belongs to `every`"},
        {"{when: A.q0 == 1, stop: true}", "holds at single points only"},
        {"{when: B.q0 > 1, stop: true}", "there is no joint 'B'"},
        {"{when: A.q0 >, stop: true}", "expected"},
        {"{when: [1], stop: true}", "expected a formula, or the name of a signal"},
        {"{when: A.q0 > 1 m + 1 kg, stop: true}", "1 kg"},
        {"{when: A.q0, stopp: true}", "unknown key 'stopp', did you mean 'stop'?"},
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        char all[2000];
        lw_model *model = NULL;
        lw_error error = {0};
        snprintf(all, sizeof all, "%sevents: {x: %s}\n", pendulum_text, cases[i].event);
        const lw_read_desc desc = {.format = "yaml"};
        const lw_status status =
            lw_model_parse(all, strlen(all), "m.yaml", &desc, &model, NULL, &error);
        if (status == LW_OK || !strstr(error.text, cases[i].message) || error.line != 5)
            fail_msg("%s: line %d: '%s', expected '%s'", cases[i].event, error.line, error.text,
                     cases[i].message);
    }
}

static void models_are_written_with_their_events(void **state)
{
    (void)state;
    lw_model *model =
        parse(pendulum_text, "  b: {when: 'A.q0 > 0.1', crossing: both, stop: true, record: true}\n"
                             "  a: {every: 0.1, from: 0.05, record: true}\n"
                             "  c: {at: [0.1, 0.2], record: true}\n");
    char *text[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        FILE *file = tmpfile();
        assert_non_null(file);
        OK(lw_model_write(model, NULL, file, NULL));
        const long size = ftell(file);
        rewind(file);
        text[k] = calloc((size_t)size + 1, 1);
        assert_int_equal(fread(text[k], 1, (size_t)size, file), size);
        fclose(file);
        lw_model_destroy(model);
        const lw_read_desc desc = {.format = "yaml"};
        lw_error error = {0};
        if (lw_model_parse(text[k], (size_t)size, "again.yaml", &desc, &model, NULL, &error) !=
            LW_OK)
            fail_msg("%d: %s", error.line, error.text);
    }
    assert_string_equal(text[0], text[1]);
    assert_int_equal(lw_model_event_count(model), 3);
    assert_string_equal(lw_model_event_name(model, 0), "b");
    free(text[0]);
    free(text[1]);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_passes_an_angle_in_the_time_of_the_elliptic_integral),
        cmocka_unit_test(rows_of_events_are_between_the_samples),
        cmocka_unit_test(steps_of_a_program_end_at_a_stop_and_continue),
        cmocka_unit_test(conditions_are_joined),
        cmocka_unit_test(a_jump_through_zero_is_an_event),
        cmocka_unit_test(events_of_loops_agree),
        cmocka_unit_test(events_lie_within_contacts),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(models_are_written_with_their_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
