// test_real_time.c -- what a program that must keep time can rely on: steps that are never split
// nor tried again, calls that take no memory, times that are counted, a run that goes with the
// clock, results that are marked where they are unreliable.
#include "base/times.h"
#include "simulate/sim_cases.h"
#include "support/failing.h"

#include <stdio.h>
#include <stdlib.h>

#define REAL_TIME "formulation", "index3", "index3", "mode=real-time"

// One step per call, also where a torque has a kink within it; the offline mode ends a step there.
static void a_call_is_one_step(void **state)
{
    (void)state;
    const lw_function_desc kink = {.type = LW_FUNCTION_RAMP, .from = 0.255, .rate = 2};
    lw_model *model = rotor(&kink);
    long steps[2];
    for (int offline = 0; offline < 2; offline++) {
        lw_sim *sim = simulate(model, OPTIONS("formulation", "index3", "index3",
                                              offline ? "mode=offline" : "mode=real-time", "step",
                                              "0.01", "duration", "1"));
        for (int k = 1; k <= 100; k++) step(sim, k / 100.0);
        steps[offline] = summary_of(sim).steps;
        // the mean torque of the one step with the kink is off by 2 * 0.005 / 2
        const double speed = 0.745 * 0.745 / INERTIA, off = 0.01 * 0.005 / INERTIA;
        assert_true(fabs(observe(sim, LW_OBSERVE_TWIST)->qd[0] - speed) <= off * (1 + 1e-9));
        lw_sim_destroy(sim);
    }
    assert_int_equal(steps[0], 100);
    assert_int_equal(steps[1], 101);
    lw_model_destroy(model);
}

// A torque beyond all numbers.  Offline a failing step is tried in halves first.
static void a_failed_step_is_reported_at_once(void **state)
{
    (void)state;
    lw_model *model = rotor(NULL);
    for (int offline = 0; offline < 2; offline++) {
        lw_sim *sim =
            simulate(model, OPTIONS("formulation", "index3", "index3",
                                    offline ? "mode=offline" : "mode=real-time", "step", "0.01"));
        step(sim, 0.01);
        ok(lw_sim_set_input(sim, 0, 1e308), lw_sim_error(sim));
        assert_int_equal(lw_sim_step(sim, 0.02), LW_ERR_NOT_FINITE);
        lw_summary s = summary_of(sim);
        assert_true(s.steps == 1 && s.end == 0.01); // the state is that before the step
        if (offline)
            assert_true(s.rejected > 1);
        else
            assert_int_equal(s.rejected, 1);
        ok(lw_sim_set_input(sim, 0, 1), lw_sim_error(sim));
        step(sim, 0.02); // and continues
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Inputs in, a step, everything observed: no call allocates memory.  A loop, an input, a thread.
static void no_call_takes_memory(void **state)
{
    (void)state;
    lw_model *models[] = {rotor(NULL), four_bar()};
    for (int m = 0; m < COUNT(models); m++) {
        lwt_failing b = {.left = 100000};
        const lw_allocator allocator = lwt_failing_allocator(&b);
        lw_options o;
        lw_error error = {0};
        lw_sim *sim = NULL;
        lw_options_default(&o);
        set(&o, "formulation", "index3");
        set(&o, "index3", "mode=real-time");
        set(&o, "step", "0.01");
        ok(lw_sim_create(models[m], &(lw_sim_desc){.options = &o, .allocator = &allocator}, &sim,
                         &error),
           &error);
        const long live = b.live;
        b.left = 0;
        for (int k = 1; k <= 50; k++) {
            if (m == 0) ok(lw_sim_set_input(sim, 0, sin(k)), lw_sim_error(sim));
            step(sim, k / 100.0);
            for (int level = LW_OBSERVE_POSE; level <= LW_OBSERVE_REACTION; level++)
                observe(sim, (lw_observe)level);
        }
        assert_int_equal(b.live, live);
        lw_sim_destroy(sim);
        assert_int_equal(b.live, 0);
        lw_model_destroy(models[m]);
    }
}

static void times_are_counted(void **state)
{
    (void)state;
    lw_model *model = four_bar();
    lw_sim *sim = simulate(model, OPTIONS(REAL_TIME, "step", "0.01"));
    lw_step_times t;
    lw_sim_times(sim, &t);
    assert_true(t.steps == 0 && t.median == 0 && t.max == 0);
    for (int k = 1; k <= 200; k++) step(sim, k / 100.0);
    lw_sim_times(sim, &t);
    assert_int_equal(t.steps, 200);
    assert_true(t.min > 0 && t.min <= t.median && t.median <= t.p99 && t.p99 <= t.p999 &&
                t.p999 <= t.max);
    assert_true(t.max <= t.total && t.total <= summary_of(sim).wall * (1 + 1e-12));
    assert_true(t.slow >= 0 && (t.slow > 0) == (t.max > 0.01));
    lw_sim_times_reset(sim);
    step(sim, 2.01);
    lw_sim_times(sim, &t);
    assert_int_equal(t.steps, 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// With `pace` 4 a run does not end before a quarter of its time, on any machine; its last step is
// late or its end has been waited for.
static void a_run_goes_with_the_clock(void **state)
{
    (void)state;
    lw_model *model = four_bar();
    lw_sim *sim =
        simulate(model, OPTIONS(REAL_TIME, "step", "0.01", "duration", "0.2", "pace", "4"));
    const double began = lwi_clock();
    run(sim, LW_OK);
    assert_true(lwi_clock() - began >= 0.05);
    const lw_summary s = summary_of(sim);
    assert_int_equal(s.steps, 20);
    assert_true(s.late >= 0 && s.late <= 20 && (s.late > 0) == (s.behind > 0));
    lw_sim_destroy(sim);

    // a million times faster than the clock: every step is late
    sim = simulate(model, OPTIONS(REAL_TIME, "step", "0.01", "duration", "0.2", "pace", "1e6"));
    run(sim, LW_OK);
    assert_int_equal(summary_of(sim).late, 20);
    assert_true(summary_of(sim).behind > 0);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Rods of 10 g between the ground and 100 kg that a stretched spring of 1e7 N/m pulls.  Its mode is faster than the
// step, and Newton's increments are many lengths of the chain.
static lw_model *light_chain(void)
{
    enum { RODS = 6 };
    lw_builder *b = begin(GRAVITY);
    lw_error error = {0};
    lw_body previous = {0}, body;
    for (int i = 0; i <= RODS; i++) {
        const bool load = i == RODS;
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        const lw_body_desc desc = {
            .name = name,
            .mass = load ? 100 : 0.01,
            .inertia = {load ? 1 : 1e-6, load ? 1 : 2.1e-4, load ? 1 : 2.1e-4},
            .pose.position = {0.5 * i + (load ? 0.2 : 0.25), 0, 0}};
        ok(lw_builder_add_body(b, &desc, &body, &error), &error);
        const lw_joint_desc ball = {
            .type = LW_JOINT_SPHERICAL, .body1 = previous, .body2 = body, .at = {0.5 * i, 0, 0}};
        lw_joint joint;
        ok(lw_builder_add_joint(b, &ball, &joint, &error), &error);
        previous = body;
    }
    const lw_spring_desc spring = {.name = "spring",
                                   .body2 = body,
                                   .point1 = {0, 0, 5},
                                   .stiffness = 1e7,
                                   .damping = 10,
                                   .length = 5};
    ok(lw_builder_add_spring(b, &spring, &error), &error);
    return finish(b);
}

// An increment larger than the mechanism is no motion of it, also where it is smaller than the first.
static void a_step_that_leaves_the_mechanism_fails(void **state)
{
    (void)state;
    lw_model *model = light_chain();
    static const char *const modes[] = {"mode=real-time", "mode=real-time,iterations=1",
                                        "mode=real-time,iterations=6"};
    for (int m = 0; m < COUNT(modes); m++) {
        lw_sim *sim = simulate(model, OPTIONS("formulation", "index3", "index3", modes[m], "step",
                                              "0.01", "duration", "3"));
        run(sim, LW_ERR_INTEGRATOR);
        assert_non_null(strstr(lw_sim_error(sim)->text, "diverges"));
        assert_non_null(strstr(lw_sim_error(sim)->text, "a smaller step helps"));
        const lw_summary s = summary_of(sim);
        if (!(s.end == 0 && s.valid_until == 0 && s.energy_error == 0))
            fail_msg("%s: %g s, %g s, %g J", modes[m], s.end, s.valid_until, s.energy_error);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Up to `until` they are those of more iterations, a step later not.
static void check_angles(const lw_model *model, const char *h, double until)
{
    lw_sim *exact =
        simulate(model, OPTIONS("formulation", "index3", "step", h, "index3", "iterations=20"));
    lw_sim *sim = simulate(model, OPTIONS(REAL_TIME, "step", h));
    assert_true(until > 0);
    for (int after = 0; after < 2; after++) {
        const double t = until + after * strtod(h, NULL);
        step(exact, t), step(sim, t);
        const double off =
            observe(exact, LW_OBSERVE_POSE)->q[0] - observe(sim, LW_OBSERVE_POSE)->q[0];
        if ((fabs(off) < 1e-5) == (after > 0)) fail_msg("t = %g s: off by %g", t, off);
    }
    lw_sim_destroy(exact);
    lw_sim_destroy(sim);
}

// In real time a step that does not converge is kept; the summary and the warnings have its time.
static void results_after_a_large_increment_are_unreliable(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    const struct {
        const char *step, *index3;
        bool reliable;
    } cases[] = {{"0.01", "mode=real-time", true},
                 {"0.2", "mode=real-time", false},
                 {"0.2", "mode=real-time,iterations=8", true},
                 {"0.2", "mode=offline", true}};
    for (int i = 0; i < COUNT(cases); i++) {
        lw_sim *sim =
            simulate(model, OPTIONS("formulation", "index3", "index3", cases[i].index3, "step",
                                    cases[i].step, "duration", "4", "sample", cases[i].step));
        double x[64];
        assert_true(lw_sim_state_size(sim) <= COUNT(x));
        lw_sim_get_state(sim, NULL, x);
        run(sim, LW_OK);
        const lw_summary s = summary_of(sim);
        assert_true((s.valid_until == s.end) == cases[i].reliable);
        assert_true((strstr(lw_sim_notice(sim), "are unreliable") == NULL) == cases[i].reliable);
        if (!cases[i].reliable) check_angles(model, cases[i].step, s.valid_until);
        ok(lw_sim_set_state(sim, 0, x), lw_sim_error(sim));
        assert_true(summary_of(sim).valid_until == 0);
        if (cases[i].reliable) step(sim, 0.2);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Fixed steps of an explicit method that are too long for a spring: the rows have energy from nowhere.
static void energy_from_nowhere_is_reported(void **state)
{
    (void)state;
    lw_builder *b = begin(0);
    const lw_body body = add_body(b, "rotor", (lw_vec3){0, 0, 0});
    add_hinge(b, &(lw_joint_desc){.name = "axle",
                                  .body2 = body,
                                  .has_q = 1,
                                  .q = {0.1},
                                  .coordinate[0].stiffness = INERTIA * 1e4}); // 100 rad/s
    lw_model *model = finish(b);
    for (int stable = 0; stable < 2; stable++) {
        lw_sim *sim =
            simulate(model, OPTIONS("integrator", "rk4", "step", stable ? "0.005" : "0.04",
                                    "duration", "0.4", "sample", "0.04"));
        run(sim, LW_OK);
        const lw_summary s = summary_of(sim);
        assert_true(stable ? s.valid_until == s.end : s.valid_until == 0);
        assert_true((strstr(lw_sim_notice(sim), "results after t = 0 s are unreliable") == NULL) ==
                    stable);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_one_step),
        cmocka_unit_test(a_failed_step_is_reported_at_once),
        cmocka_unit_test(no_call_takes_memory),
        cmocka_unit_test(times_are_counted),
        cmocka_unit_test(a_run_goes_with_the_clock),
        cmocka_unit_test(a_step_that_leaves_the_mechanism_fails),
        cmocka_unit_test(results_after_a_large_increment_are_unreliable),
        cmocka_unit_test(energy_from_nowhere_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
