// test_events.c -- stops of joint coordinates against closed forms, with every adaptive integrator:
// the step ends where a stop is touched and left, no touch is missed, no stop pulls, energy is
// counted.
//
// A ball of 1 kg on a vertical slide above a stop at z = 0:  m z'' = -m g,  and below
//     m z'' = -m g + max(0, -k z - c z')
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

static lw_model *slide(double z, double speed, const char *limits)
{
    char text[1000];
    lw_model *model;
    lw_error error = {0};
    snprintf(text, sizeof text,
             "linkwork: 1\nbodies: {ball: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\njoints:\n"
             "  s: {type: prismatic, between: [ground, ball], frame1: {}, frame2: {}, q: [%.17g], "
             "qd: [%.17g], limits: {q0: {%s}}}\n",
             z, speed, limits);
    const lw_read_desc desc = {.format = "yaml"};
    if (lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%d: %s", error.line, error.text);
    return model;
}

static lw_sim *sim_of(const lw_model *model, const char *integrator, const char *formulation,
                      double tolerance)
{
    lw_options options;
    lw_sim *sim;
    lw_error error = {0};
    lw_options_default(&options);
    options.rtol = options.atol = tolerance;
    OK(lw_options_set(&options, "integrator", integrator, &error));
    OK(lw_options_set(&options, "formulation", formulation, &error));
    if (lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error) != LW_OK)
        fail_msg("%s: %s", integrator, error.text);
    return sim;
}

static const lw_observation *at(lw_sim *sim, double t)
{
    const lw_observation *o;
    if (lw_sim_step(sim, t) != LW_OK) fail_msg("%s", lw_sim_error(sim)->text);
    OK(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o));
    return o;
}

static long events(const lw_sim *sim)
{
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    return summary.events;
}

/** Time, height and speed where a contact that begins with speed -v ends: the force is zero. */
typedef struct contact {
    double time, z, speed;
} contact;

// z(t) = z_s + e^(-d t) (a cos w t + b sin w t),  z_s = -m g / k,  d = c / 2 m,  w^2 = k / m - d^2
static contact contact_of(double v, double k, double c)
{
    const double zs = -G / k, d = c / 2, w = sqrt(k - d * d);
    const double a = -zs, b = (-v + d * a) / w;
    double t0 = 0.5 * 3.14159265358979 / w,
           t1 = 2.5 * t0; // the force falls, and has one zero there
    contact x = {0};
    for (int i = 0; i < 200; i++) {
        x.time = 0.5 * (t0 + t1);
        const double e = exp(-d * x.time), co = cos(w * x.time), si = sin(w * x.time);
        x.z = zs + e * (a * co + b * si);
        x.speed = e * ((b * w - d * a) * co - (a * w + d * b) * si);
        if (-k * x.z - c * x.speed > 0)
            t0 = x.time;
        else
            t1 = x.time;
    }
    return x;
}

static const char *const adaptive[] = {"dopri5", "bs3", "verner87", "fehlberg8",
                                       "adams",  "bdf", "dopri54"};

// Fall from 1 m, touch, spring back, and up again: half a second later the ball is where the closed
// form has it.
static void a_bounce_is_that_of_the_closed_form(void **state)
{
    (void)state;
    static const struct {
        double k, c;
        const char *limits;
    } cases[] = {{1e4, 10, "lower: 0, stiffness: 1e4, damping: 10"},
                 {1e4, 0, "lower: 0, stiffness: 1e4"},
                 {1e6, 500, "lower: 0, upper: 20, stiffness: 1e6, damping: 500"}};
    const double tolerance = 1e-10, drop = sqrt(2 / G), v = G * drop;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (size_t i = 0; i < sizeof adaptive / sizeof *adaptive; i++) {
            const contact x = contact_of(v, cases[n].k, cases[n].c);
            const double t = 0.7, s = t - drop - x.time;
            lw_model *model = slide(1, 0, cases[n].limits);
            lw_sim *sim = sim_of(model, adaptive[i], "aba", tolerance);
            const lw_observation *o = at(sim, t);
            // some hundred steps, each within the tolerance; errors of speed grow with flight time
            const double allowed = 3e3 * tolerance;
            const double z = x.z + x.speed * s - 0.5 * G * s * s;
            if (fabs(o->q[0] - z) > allowed || fabs(o->qd[0] - (x.speed - G * s)) > allowed)
                fail_msg("%s, k %g, c %g: z is off by %.2e, speed by %.2e", adaptive[i], cases[n].k,
                         cases[n].c, o->q[0] - z, o->qd[0] - (x.speed - G * s));
            // what the damper took is in the work
            const double lost = 0.5 * x.speed * x.speed + G * x.z - G;
            if (fabs(o->work - lost) > 1e2 * allowed) fail_msg("%s: %g J", adaptive[i], o->work);
            // touch and leave; where the damper lets go before the ball is above the stop, one more
            assert_int_equal(cases[n].c > 0 ? 3 : 2, events(sim));
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// Thrown from 1.0e-6 m below its peak's height the ball touches an upper stop for some microseconds
// of a motion that every integrator takes in one step.
static void a_touch_within_one_step_is_not_missed(void **state)
{
    (void)state;
    const double v = sqrt(2 * G * (1 + 1e-6)); // rises 1 + 1e-6 m
    for (size_t i = 0; i < sizeof adaptive / sizeof *adaptive; i++) {
        lw_model *model = slide(0, v, "upper: 1, stiffness: 1e5");
        lw_sim *sim = sim_of(model, adaptive[i], "aba", 1e-10);
        at(sim, 0.8);
        if (events(sim) != 2) fail_msg("%s: %ld events", adaptive[i], events(sim));
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

static lw_status min_acceleration(void *user, const lw_observation *o)
{
    double *minimum = user;
    if (o->qdd[0] < *minimum) *minimum = o->qdd[0];
    return LW_OK;
}

// A strong damper would hold the ball back when it leaves: its acceleration would be below -g.
static void a_stop_never_pulls(void **state)
{
    (void)state;
    static const char *const integrators[] = {"dopri5", "rk4", "dopri54"};
    for (int i = 0; i < 3; i++) {
        lw_model *model = slide(1, 0, "lower: 0, stiffness: 1e3, damping: 40");
        lw_options options;
        lw_sim *sim;
        double minimum = 0;
        lw_options_default(&options);
        OK(lw_options_set(&options, "integrator", integrators[i], NULL));
        OK(lw_options_set(&options, "sample", "steps", NULL));
        options.duration = 3, options.step = 1e-3;
        OK(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, NULL));
        OK(lw_sim_run(sim, LW_OBSERVE_ACCELERATION, min_acceleration, &minimum, NULL, NULL));
        assert_true(minimum >= -G - 1e-12);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// It comes to rest on the spring, -m g / k below, and energy less work is what it was.
static void a_ball_comes_to_rest(void **state)
{
    (void)state;
    lw_model *model = slide(0.2, 0, "lower: 0, stiffness: 1e4, damping: 40");
    lw_sim *sim = sim_of(model, "dopri5", "aba", 1e-9);
    const lw_observation *o = at(sim, 0);
    const double before = o->kinetic + o->potential - o->work;
    o = at(sim, 5);
    assert_true(fabs(o->q[0] + G / 1e4) < 1e-8 && fabs(o->qd[0]) < 1e-7);
    assert_true(fabs(o->kinetic + o->potential - o->work - before) < 1e-6);
    const long count = events(sim);
    at(sim, 6); // no chatter
    assert_int_equal(count, events(sim));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The first step detects a start beyond the stop, on it, or at rest against it.
static void starts_at_and_beyond_a_stop(void **state)
{
    (void)state;
    static const struct {
        double z, speed;
    } starts[] = {{0, 0}, {0, -1}, {0, 1}, {-0.01, 0}, {-0.01, 2}, {-G / 1e4, 0}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        lw_model *model = slide(starts[i].z, starts[i].speed, "lower: 0, stiffness: 1e4");
        lw_sim *sim = sim_of(model, "dopri5", "aba", 1e-10);
        const double z = starts[i].z, u = starts[i].speed;
        const double E = 0.5 * u * u + G * z + (z < 0 ? 5e3 * z * z : 0);
        const lw_observation *o = at(sim, 0.5);
        if (fabs(o->kinetic + o->potential - E) > 1e-6)
            fail_msg("start %zu: energy is off by %g", i, o->kinetic + o->potential - E);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// The acceleration that is observed where no step has been done yet, at the start and after a jump
// of the state: -g + k * 0.01 m.
static void stops_act_before_the_first_step(void **state)
{
    (void)state;
    lw_model *model = slide(-0.01, 0, "lower: 0, stiffness: 1e4");
    lw_sim *sim = sim_of(model, "dopri5", "aba", 1e-10);
    double pressed[8], t;
    assert_true(fabs(at(sim, 0)->qdd[0] - (1e4 * 0.01 - G)) < 1e-9);
    lw_sim_get_state(sim, &t, pressed);
    assert_true(fabs(at(sim, 0.1)->qdd[0] + G) < 1e-9); // it has left the stop
    OK(lw_sim_set_state(sim, 0.1, pressed));
    assert_true(fabs(at(sim, 0.1)->qdd[0] - (1e4 * 0.01 - G)) < 1e-9);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Two links that swing into their stops: every formulation moves the same.
static void formulations_agree_on_stops(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\ngravity: [0, -9.81, 0]\nbodies:\n"
        "  a: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], com: [0.5, 0, 0]}\n"
        "  b: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], com: [0.5, 0, 0], "
        "position: [1, 0, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], limits: {q0: {lower: -1, "
        "upper: "
        "0.2, stiffness: 1e4, damping: 20}}}\n"
        "  B: {type: revolute, between: [a, b], at: [1, 0, 0], limits: {q0: {lower: -0.3, upper: "
        "0.3, stiffness: 1e4, damping: 5}}}\n";
    static const char *const formulations[] = {"aba", "momenta", "dense",
                                               "dca", "hdca",    "lagrange"};
    const lw_read_desc desc = {.format = "yaml"};
    double q[2] = {0};
    long count = 0;
    lw_model *model;
    OK(lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, NULL));
    for (size_t i = 0; i < sizeof formulations / sizeof *formulations; i++) {
        lw_options options;
        lw_options_default(&options);
        if (lw_options_set(&options, "formulation", formulations[i], NULL) != LW_OK) continue;
        lw_sim *sim = sim_of(model, "verner87", formulations[i], 1e-11);
        const lw_observation *o = at(sim, 1);
        if (i == 0) {
            q[0] = o->q[0], q[1] = o->q[1], count = events(sim);
            assert_true(count > 4); // the stops are touched
        }
        for (int k = 0; k < 2; k++)
            if (fabs(o->q[k] - q[k]) > 1e-7)
                fail_msg("%s: q%d is off by %.2e", formulations[i], k, o->q[k] - q[k]);
        assert_int_equal(count, events(sim));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Rows do not change what happens between them, by which steps are cut there.
static void rows_steps_and_restarts_agree(void **state)
{
    (void)state;
    lw_model *model = slide(1, 0, "lower: 0, stiffness: 1e4, damping: 10");
    lw_sim *once = sim_of(model, "dopri5", "aba", 1e-10),
           *often = sim_of(model, "dopri5", "aba", 1e-10);
    const double z = at(once, 1.5)->q[0];
    double x[8], t;
    for (int i = 1; i <= 1500; i++) {
        at(often, i * 1e-3);
        if (i % 100) continue; // continues from the stored state alone
        lw_sim_get_state(often, &t, x);
        OK(lw_sim_set_state(often, t, x));
    }
    assert_true(fabs(at(often, 1.5)->q[0] - z) < 1e-6);
    lw_sim_destroy(once);
    lw_sim_destroy(often);
    lw_model_destroy(model);
}

static void limits_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *limits, *part;
    } cases[] = {
        {"q0: {stiffness: 1}", "neither `lower` nor `upper`"},
        {"q0: {lower: 0}", "stiffness"},
        {"q0: {lower: 0, stiffness: -1}", "stiffness is -1, expected a number >= 0"},
        {"q0: {lower: 0, stiffness: 0, damping: 1}", "damping of stops with stiffness"},
        {"q0: {lower: 0, stiffness: 1, damping: -1}", "damping is -1, expected a number >= 0"},
        {"q0: {lower: 1, upper: 0, stiffness: 1}", "above the upper"},
        {"q1: {lower: 1, stiffness: 1}", "q0"},
        {"q0: {lower: 1, stiffness: 1, hard: 1}", "unknown key 'hard'"}};
    const lw_read_desc desc = {.format = "yaml"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        lw_model *model;
        lw_error error = {0};
        snprintf(
            text, sizeof text,
            "linkwork: 1\nbodies: {b: {mass: 1}}\njoints:\n"
            "  s: {type: prismatic, between: [ground, b], frame1: {}, frame2: {}, limits: {%s}}\n",
            cases[i].limits);
        assert_int_not_equal(
            LW_OK, lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, &error));
        if (!strstr(error.text, cases[i].part)) fail_msg("%s", error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bounce_is_that_of_the_closed_form),
        cmocka_unit_test(a_touch_within_one_step_is_not_missed),
        cmocka_unit_test(a_stop_never_pulls),
        cmocka_unit_test(a_ball_comes_to_rest),
        cmocka_unit_test(starts_at_and_beyond_a_stop),
        cmocka_unit_test(stops_act_before_the_first_step),
        cmocka_unit_test(formulations_agree_on_stops),
        cmocka_unit_test(rows_steps_and_restarts_agree),
        cmocka_unit_test(limits_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
