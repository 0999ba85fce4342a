// test_real_time.c -- what a program that must keep time can rely on: steps that are never split
// nor tried again, calls that take no memory, times that are counted, a run that goes with the
// clock.
#include "base/times.h"
#include "simulate/sim_cases.h"
#include "support/failing.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_one_step),
        cmocka_unit_test(a_failed_step_is_reported_at_once),
        cmocka_unit_test(no_call_takes_memory),
        cmocka_unit_test(times_are_counted),
        cmocka_unit_test(a_run_goes_with_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
