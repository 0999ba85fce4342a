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

// A ball on a vertical rail, with more of the joint in its map; and NO_GRAVITY behind it.
#define SLIDER(joint)                                                                              \
    "linkwork: 1\n"                                                                                \
    "bodies: {ball: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"                                     \
    "joints: {s: {type: prismatic, between: [ground, ball], frame1: {}, frame2: {}" joint "}}\n"
#define NO_GRAVITY "gravity: [0, 0, 0]\n"

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

// The rows of a run, with this step where the method has steps of equal length.
static lw_sim *run_by(const lw_model *model, const method *m, double step, rows *r)
{
    lw_sim *sim =
        sim_of(model, m->formulation, m->integrator, m->tolerance, m->step > 0 ? step : 0);
    run(sim, r);
    return sim;
}

static void a_pendulum_passes_an_angle_in_the_time_of_the_elliptic_integral(void **state)
{
    (void)state;
    lw_model *model = parse(pendulum_text, "  passed: {when: joint.A.q0 > 30 deg, stop: true}\n"
                                           "  bottom: {when: A.q0, record: true}\n");
    static rows r;
    const double bottom = time_to(0), passed = time_to(acos(-1) / 6);
    for (int i = 0; i < (int)(sizeof methods / sizeof *methods); i++) {
        const method *m = &methods[i];
        lw_sim *sim = run_by(model, m, m->step, &r);
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

// The rows of the samples are there as well, at their times.
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
    for (int i = 0; i < r.n; i++)
        if (r.time[i] == samples / 10.0) samples++;
    assert_int_equal(samples, 31);
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

// Of methods that find velocities from differences of positions, which have no digits over such intervals.
static void events_next_to_rows_do_not_change_a_motion(void **state)
{
    static const struct {
        const char *method;
        double tolerance, step, within;
    } way[] = {{"index3", 0, 0.002, 1e-6}, {"index3", 1e-7, 0, 1e-6}, {"rattle", 0, 0.002, 1e-6}};
    static rows r;
    double q[2];
    (void)state;
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        for (int i = 0; i < 2; i++) {
            lw_model *model = parse(
                pendulum_text,
                i ? "  a: {at: [0.3, 0.30000000000000004, 0.7000000000001, 1], record: true}\n"
                    "  b: {when: A.q0 > 0.25, record: true}\n"
                    "  c: {when: A.q0 - 0.3 > -0.05, record: true}\n"
                  : "  a: {at: [0.3], record: true}\n");
            lw_sim *sim =
                sim_of(model, way[k].method, way[k].method, way[k].tolerance, way[k].step);
            run(sim, &r);
            q[i] = r.q[r.n - 1];
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
        assert_float_equal(of_event(&r, 1, 1), 0.30000000000000004, 0);
        assert_float_equal(of_event(&r, 2, 0), of_event(&r, 3, 0), 1e-13);
        assert_float_equal(q[0], q[1], way[k].within);
    }
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

// Conditions that are zero at the start except for round-off are no events, for any first step; others are.
static void round_off_at_the_start_is_no_event(void **state)
{
    (void)state;
    static const struct {
        const char *start;
        long up, down;
    } known[] = {{"q: [0], qd: [1]", 0, 0},      {"q: [-1e-17], qd: [1]", 0, 0},
                 {"q: [-1e-12], qd: [1]", 0, 0}, {"q: [1e-12], qd: [-1]", 0, 0},
                 {"q: [1e-12], qd: [1]", 0, 0},  {"q: [-1e-8], qd: [1]", 1, 0},
                 {"q: [1e-8], qd: [-1]", 0, 1}};
    static const char *const integrators[] = {"dopri5", "rk4", "bdf"};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < (int)(sizeof known / sizeof *known); i++) {
            char text[1000];
            snprintf(text, sizeof text, SLIDER(", %s") NO_GRAVITY, known[i].start);
            lw_model *model = parse(text, "  up: {when: s.q0 > 0, record: true}\n"
                                          "  down: {when: s.q0, crossing: falling, record: true}\n"
                                          "  later: {when: s.q0*s.q0 > 0.01, record: true}\n");
            lw_sim *sim = sim_of(model, "aba", integrators[k], 1e-8, k == 1 ? 0.01 : 0);
            OK(lw_sim_step(sim, 1));
            assert_int_equal(lw_sim_event_count(sim, 0), known[i].up);
            assert_int_equal(lw_sim_event_count(sim, 1), known[i].down);
            assert_int_equal(lw_sim_event_count(sim, 2), 1);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// Measures and parameters with the names of units, where a unit can be and where it cannot.
static void names_of_units_are_measures_where_no_unit_is(void **state)
{
    (void)state;
    static const struct {
        const char *when;
        double time;
    } known[] = {{"s.q0 > 0.5 m", 0.5},         {"s.q0 > 0.75 m/s*(1 s)", 0.75},
                 {"1 - m < -2.25 m", 0.25},     {"s.q0 > 500mm^2/s/(1 mm^2/s)/1000", 0.5},
                 {"s.q0*1 m^-1 > kg/4", 0.625}, {"s.q0 > 0.5 m*m/(1 m)", 0.5},
                 {"measure.m > 3.875 m", 0.875}};
    for (int i = 0; i < (int)(sizeof known / sizeof *known); i++) {
        char when[100];
        snprintf(when, sizeof when, "  e: {when: \"%s\", stop: true}\n", known[i].when);
        lw_model *model =
            parse(SLIDER(", qd: [1]") NO_GRAVITY
                  "parameters: {g: 0.5}\n"
                  "measures: {m: s.q0 + 3 m, s: 2*s.q0, kg: 3 - g + 0*s.q0, mm: s.q0}\n",
                  when);
        lw_sim *sim = sim_of(model, "aba", "dopri5", 1e-10, 0);
        OK(lw_sim_step(sim, 2));
        if (!(fabs(lw_sim_time(sim) - known[i].time) < 1e-9))
            fail_msg("%s: %.12g, not %g", known[i].when, lw_sim_time(sim), known[i].time);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// z = 1 - g t^2/2: the conditions hold from known times on.
static void conditions_are_joined(void **state)
{
    (void)state;
    static const char text[] = SLIDER(", q: [1]") "signals: {below: 0.5 - s.q0, late: 't > 0.4', "
                                                  "rest: {type: table, t: [0, 1], y: [1, "
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
    static const char text[] = SLIDER(", q: [-0.5], qd: [1]") NO_GRAVITY
        "impulses: {hit: {time: 0.75, joint: s, effort: -2}}\n";
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

// So is one at the very end of a run, or of a step.
static void a_jump_at_the_end_is_an_event(void **state)
{
    (void)state;
    static const char text[] = SLIDER(", q: [-0.5], qd: [1]") NO_GRAVITY
        "impulses: {hit: {time: 0.75, joint: s, effort: -2}}\n";
    lw_model *model = parse(text, "  back: {when: s.qd0, record: true, stop: true}\n");
    for (int stepped = 0; stepped < 3; stepped++) {
        lw_sim *sim = sim_of(model, "auto", "dopri54", 1e-9, 0);
        static rows r;
        OK(lw_sim_set_duration(sim, 0.75));
        if (stepped == 0) {
            run(sim, &r);
            assert_true(of_event(&r, 1, 0) == 0.75 && isnan(of_event(&r, 1, 1)));
            assert_true(r.time[r.n - 1] == 0.75);
        } else {
            OK(stepped == 1 ? lw_sim_step(sim, 0.75) : lw_sim_step_progress(sim, 0.75, NULL, NULL));
        }
        assert_int_equal(lw_sim_event_count(sim, 0), 1);
        assert_int_equal(lw_sim_stopped(sim), 0);
        OK(lw_sim_step(sim, 1));
        assert_int_equal(lw_sim_event_count(sim, 0), 1); // once
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
    lw_model *model = parse(text, "  fast: {when: body.coupler.vx < -1, record: true}\n"
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
            if (!(off < (own ? 1e-5 : 1e-8)))
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
    static const char text[] = SLIDER(", q: [1], limits: {q0: {lower: 0, stiffness: 1e4}}");
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

// ---------------------------------------------------------------------------------------- switches

// A cart of 1 kg with a force that is sampled every T: x and v of the next sample follow in closed form.
static void a_sampled_controller_holds_its_output(void **state)
{
    (void)state;
    static const char text[] = SLIDER(", q: [1], effort: {q0: u}") NO_GRAVITY
        "parameters: {T: 0.1}\nsignals: {u: {type: switch, value: 0}}\n";
    lw_model *model = parse(text, "  sample: {every: T, set: {u: -4*s.q0 - 3*s.qd0}}\n");
    double x = 1, v = 0;
    const double T = 0.1;
    for (int k = 0; k < 30; k++) {
        const double u = -4 * x - 3 * v;
        x += T * v + 0.5 * T * T * u;
        v += T * u;
    }
    static rows r;
    for (int i = 0; i < (int)(sizeof methods / sizeof *methods); i++) {
        const method *m = &methods[i];
        lw_sim *sim = run_by(model, m, 0.01, &r);
        // the motion between samples is a parabola, which each method integrates exactly or within its tolerance
        if (!(fabs(r.q[r.n - 1] - x) < 1e-9))
            fail_msg("%s %s: %.15g, expected %.15g", m->formulation, m->integrator, r.q[r.n - 1],
                     x);
        assert_int_equal(lw_sim_event_count(sim, 0), 31);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// x'' = -+a by a relay of x within -d ... d, from rest at 0 with below: the cart passes d with the speed sqrt(2 a d).
// From there it needs 2 v/a for the way out and back to d, and the time s for the way from d to -d:
// v s + a s^2/2 = 2 d.  Each half cycle begins faster.
static void a_relay_changes_where_its_range_ends(void **state)
{
    (void)state;
    static const char text[] = SLIDER(", effort: {q0: push}") NO_GRAVITY
        "signals: {push: {type: relay, of: s.q0, low: -0.1, high: 0.1, below: 2, above: -2}}\n";
    lw_model *model = parse(text, "  change: {when: push, record: true}\n");
    const double a = 2, d = 0.1;
    double expected[3] = {sqrt(2 * d / a)}, v = sqrt(2 * a * d);
    for (int k = 1; k < 3; k++) {
        const double s = (sqrt(v * v + 4 * a * d) - v) / a;
        expected[k] = expected[k - 1] + 2 * v / a + s;
        v += a * s;
    }
    static rows r;
    for (int i = 0; i < (int)(sizeof methods / sizeof *methods); i++) {
        const method *m = &methods[i];
        lw_sim *sim = run_by(model, m, 0.01, &r);
        for (int k = 0; k < 3; k++)
            if (!(fabs(of_event(&r, 1, k) - expected[k]) < 1e-9))
                fail_msg("%s %s: change %d at %.15g, expected %.15g", m->formulation, m->integrator,
                         k, of_event(&r, 1, k), expected[k]);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// One event sets what another waits for, at the same time; all values of one event are those before it.
static void events_follow_one_another_at_one_time(void **state)
{
    (void)state;
    static const char text[] = SLIDER(", q: [1]") "signals: {a: {type: switch, value: 1}, b: "
                                                  "{type: switch, value: 2}, c: {type: switch, "
                                                  "value: 0}}\n";
    lw_model *model = parse(text, "  third: {when: c > 5, record: true}\n"
                                  "  first: {at: [1], set: {a: b, b: a}}\n"
                                  "  second: {when: a > 1.5, set: {c: 10*a + b}, record: true}\n");
    lw_sim *sim = sim_of(model, "auto", "auto", 1e-8, 0);
    static rows r;
    run(sim, &r);
    assert_true(of_event(&r, 1, 0) == 1 && of_event(&r, 3, 0) == 1);
    int at[2] = {0};
    for (int i = 0; i < r.n; i++) {
        if (r.event[i] == 3) at[0] = i;
        if (r.event[i] == 1) at[1] = i;
    }
    assert_int_equal(at[1], at[0] + 1); // the third one after the second
    assert_true(r.time[at[1] + 1] == 1 && r.event[at[1] + 1] == 0); // the row after them
    const lw_observation *o;
    OK(lw_sim_observe(sim, LW_OBSERVE_FORCE, &o));
    assert_true(o->output[0] == 2 && o->output[1] == 1 && o->output[2] == 21); // a, b, c
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The input of a relay rises and falls again at one time: the relay ends where it began.
static void a_relay_follows_an_input_that_returns_at_once(void **state)
{
    (void)state;
    static const char text[] = SLIDER(", q: [1]") "signals: {u: {type: switch, value: 0}, r: "
                                                  "{type: relay, of: u, low: 0.2, high: 0.8, "
                                                  "below: 3, above: 5}}\n";
    lw_model *model = parse(text, "  up: {at: [1], set: {u: 1}}\n"
                                  "  down: {when: u > 0.5, set: {u: 0}}\n");
    lw_sim *sim = sim_of(model, "auto", "auto", 1e-8, 0);
    static rows r;
    run(sim, &r);
    assert_true(lw_sim_event_count(sim, 1) == 1);
    const lw_observation *o;
    OK(lw_sim_observe(sim, LW_OBSERVE_FORCE, &o));
    assert_true(o->output[0] == 0 && o->output[1] == 3);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Steps of index3 begin with the acceleration of the inputs as they are, also after an event and where an input has changed:
// under a constant force they are exact.
static void steps_after_events_begin_with_the_inputs(void **state)
{
    (void)state;
    lw_model *model = parse("inputs: [push]\n" SLIDER(", effort: {q0: push}") NO_GRAVITY
                            "signals: {u: {type: switch, value: 0}}\n",
                            "  tick: {every: 0.1, set: {u: 1 - u}}\n");
    lw_options o;
    lw_sim *sim;
    lw_error error = {0};
    const lw_observation *seen;
    lw_options_default(&o);
    snprintf(o.formulation, sizeof o.formulation, "index3");
    o.rtol = o.atol = 1e-6;
    OK(lw_sim_create(model, &(lw_sim_desc){.options = &o}, &sim, &error));
    OK(lw_sim_set_input(sim, 0, 30));
    OK(lw_sim_step(sim, 0.45));
    OK(lw_sim_set_input(sim, 0, -30));
    OK(lw_sim_step(sim, 0.75));
    OK(lw_sim_observe(sim, LW_OBSERVE_TWIST, &seen));
    assert_true(fabs(seen->q[0] - 15 * (0.45 * 0.45 + 0.9 * 0.3 - 0.3 * 0.3)) < 1e-9);
    assert_true(fabs(seen->qd[0] - 30 * 0.15) < 1e-9);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A force against the sign of the position, without hysteresis: the sign changes without end.
static void chatter_ends_with_a_message(void **state)
{
    (void)state;
    static const char text[] =
        SLIDER(", q: [1], effort: {q0: u}") NO_GRAVITY "signals: {u: {type: switch, value: -1}}\n";
    lw_model *model = parse(text, "  up: {when: s.qd0 + s.q0 < 0, set: {u: 1}}\n"
                                  "  down: {when: s.qd0 + s.q0 > 0, set: {u: -1}}\n");
    lw_sim *sim = sim_of(model, "aba", "verner87", 1e-10, 0);
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), LW_ERR_INTEGRATOR);
    assert_non_null(strstr(lw_sim_error(sim)->text, "they chatter"));
    assert_non_null(strstr(lw_sim_error(sim)->text, "event '"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A run that is resumed from a state continues with the same bits; what has happened at its time does not happen again.
static void a_resumed_run_has_the_same_bits(void **state)
{
    (void)state;
    static const char text[] = SLIDER(", q: [1], effort: {q0: u + push}") NO_GRAVITY
        "signals:\n  u: {type: switch, value: 0}\n  n: {type: switch, value: 0}\n"
        "  push: {type: relay, of: s.q0, low: -0.1, high: 0.1, below: 2, above: -2}\n";
    lw_model *model = parse(text, "  sample: {every: 0.25, set: {u: -4*s.q0 - s.qd0, n: n + 1}}\n");
    lw_sim *whole = sim_of(model, "aba", "rk4", 0, 0.01),
           *part = sim_of(model, "aba", "rk4", 0, 0.01);
    enum { ROOM = 40 };
    double x[ROOM], y[ROOM], t;
    assert_true(lw_sim_state_size(whole) < ROOM);
    OK(lw_sim_step(whole, 1.5));
    lw_sim_get_state(whole, &t, x);
    OK(lw_sim_set_state(part, t, x));
    OK(lw_sim_step(whole, 3));
    OK(lw_sim_step(part, 3));
    lw_sim_get_state(whole, &t, x);
    lw_sim_get_state(part, &t, y);
    for (int i = 0; i < lw_sim_state_size(whole); i++) assert_true(x[i] == y[i]);
    assert_int_equal(lw_sim_event_count(whole, 0), 13);
    assert_int_equal(lw_sim_event_count(part, 0), 6);
    lw_sim_destroy(whole);
    lw_sim_destroy(part);
    lw_model_destroy(model);
}

// Each instance of a batch ends at its own event; the bits are those of single runs, for any number of threads.
static void instances_of_a_batch_have_their_events(void **state)
{
    (void)state;
    lw_model *model = parse(SLIDER(", q: [1]"), "  hit: {when: s.q0 < 0, stop: true}\n");
    const double height[] = {0.5, 1, 2, 100};
    lw_options options;
    lw_options_default(&options);
    const lw_batch_desc desc = {.options = &options,
                                .instances = 4,
                                .threads = 2,
                                .nvary = 1,
                                .vary = (const char *const[]){"joint.s.q0"},
                                .values = height};
    lw_batch *batch;
    lw_error error = {0};
    if (lw_batch_create(model, &desc, &batch, &error) != LW_OK) fail_msg("%s", error.text);
    OK(lw_batch_step(batch, 0.5));
    OK(lw_batch_step(batch, 2));
    for (int i = 0; i < 3; i++)
        assert_true(fabs(lw_batch_time(batch, i) - sqrt(2 * height[i] / G)) < 1e-12);
    assert_true(lw_batch_time(batch, 3) == 2);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

// As of a single run: the first row has what happens at the start.
static void batches_begin_with_events_at_the_start(void **state)
{
    (void)state;
    lw_model *model = parse(SLIDER(", q: [1]"), "  tick: {every: 0.5, record: true}\n");
    lw_options options;
    lw_options_default(&options);
    const lw_batch_desc desc = {.options = &options, .instances = 2};
    lw_batch *batch;
    lw_error error = {0};
    if (lw_batch_create(model, &desc, &batch, &error) != LW_OK) fail_msg("%s", error.text);
    for (int row = 0; row < 2; row++) {
        OK(lw_batch_step(batch, 0.5 * row));
        const lw_observation *o;
        for (int i = 0; i < 2; i++) {
            OK(lw_batch_observe(batch, i, LW_OBSERVE_POSE, &o));
            assert_int_equal(o->noccurrence, 1);
            assert_true(o->occurrence[0].time == 0.5 * row);
        }
    }
    lw_batch_destroy(batch);
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
        {"{at: [1], set: {gone: 1}}", "there is no switch 'gone', did you mean 'gong'?"},
        {"{at: [1], set: {plain: 1}}", "'plain' is no switch"},
        {"{at: [1], set: {}}", "expected a map of switches"},
        {"{at: [1], set: {gong: B.q0}}", "there is no joint 'B'"},
        {"{when: A.q0, stopp: true}", "unknown key 'stopp', did you mean 'stop'?"},
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        char all[2000];
        lw_model *model = NULL;
        lw_error error = {0};
        snprintf(all, sizeof all,
                 "%sevents: {x: %s}\nsignals: {gong: {type: switch, value: 0}, plain: t}\n",
                 pendulum_text, cases[i].event);
        const lw_read_desc desc = {.format = "yaml"};
        const lw_status status =
            lw_model_parse(all, strlen(all), "m.yaml", &desc, &model, NULL, &error);
        if (status == LW_OK || !strstr(error.text, cases[i].message) || error.line != 5)
            fail_msg("%s: line %d: '%s', expected '%s'", cases[i].event, error.line, error.text,
                     cases[i].message);
    }
}

// Formulas would read something else.
static void names_of_constants_are_refused(void **state)
{
    (void)state;
    static const char *const sections[] = {"signals: {e: 1}", "functions: {pi: 3}", "inputs: [t]",
                                           "signals: {t: {type: switch, value: 1}}"};
    for (int i = 0; i < 4; i++) {
        char all[2000];
        lw_model *model = NULL;
        lw_error error = {0};
        snprintf(all, sizeof all, "%s%s\n", pendulum_text, sections[i]);
        const lw_read_desc desc = {.format = "yaml"};
        assert_int_equal(lw_model_parse(all, strlen(all), "m.yaml", &desc, &model, NULL, &error),
                         LW_ERR_PARSE);
        assert_non_null(strstr(error.text, "formulas use this name for"));
        assert_int_equal(error.line, 5);
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
    const int count = lw_model_function_count(model);
    assert_true(count > 0); // of the condition
    assert_string_equal(lw_model_function(model, 0).type_name, "formula");
    assert_null(lw_model_function(model, 0).name);
    assert_false(lw_model_function(model, 0).recorded);
    assert_null(lw_model_function(model, count).type_name);
    assert_null(lw_model_function(model, -1).type_name);
    free(text[0]);
    free(text[1]);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_passes_an_angle_in_the_time_of_the_elliptic_integral),
        cmocka_unit_test(rows_of_events_are_between_the_samples),
        cmocka_unit_test(events_next_to_rows_do_not_change_a_motion),
        cmocka_unit_test(steps_of_a_program_end_at_a_stop_and_continue),
        cmocka_unit_test(round_off_at_the_start_is_no_event),
        cmocka_unit_test(names_of_units_are_measures_where_no_unit_is),
        cmocka_unit_test(conditions_are_joined),
        cmocka_unit_test(a_jump_through_zero_is_an_event),
        cmocka_unit_test(a_jump_at_the_end_is_an_event),
        cmocka_unit_test(events_of_loops_agree),
        cmocka_unit_test(events_lie_within_contacts),
        cmocka_unit_test(a_sampled_controller_holds_its_output),
        cmocka_unit_test(a_relay_changes_where_its_range_ends),
        cmocka_unit_test(events_follow_one_another_at_one_time),
        cmocka_unit_test(a_relay_follows_an_input_that_returns_at_once),
        cmocka_unit_test(steps_after_events_begin_with_the_inputs),
        cmocka_unit_test(chatter_ends_with_a_message),
        cmocka_unit_test(a_resumed_run_has_the_same_bits),
        cmocka_unit_test(instances_of_a_batch_have_their_events),
        cmocka_unit_test(batches_begin_with_events_at_the_start),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(names_of_constants_are_refused),
        cmocka_unit_test(models_are_written_with_their_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
