// test_ends.c -- runs end: times that cannot be resolved, rates that are not finite, and a caller who stops a run
// within a step.
#include "batch/batch.h"
#include "simulate/simulation.h"
#include "support/given.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char slider[] = "linkwork: 1\n"
                             "gravity: [0, 0, 0]\n"
                             "functions:\n"
                             "  ramp: {type: ramp, rate: 2, from: 5e-324}\n"
                             "  root: {type: formula, of: 'sqrt(0.3 - t)'}\n"
                             "  wall: {type: formula, of: 'sqrt(0.3 - s.q0) + 0*s.qd0'}\n"
                             "inputs: [motor]\n"
                             "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                             "joints:\n"
                             "  s: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: "
                             "[1, 0, 0], effort: {q0: %s}}\n";

static lw_model *slider_with(const char *effort)
{
    char text[sizeof slider + 32];
    snprintf(text, sizeof text, slider, effort);
    return lwt_yaml(text);
}

// A formulation for every integrator: some have their own steps.
static const char *formulation_for(const char *integrator)
{
    if (!strcmp(integrator, "gauss")) return "momenta";
    return strcmp(integrator, "index3") && strcmp(integrator, "rattle") ? "aba" : integrator;
}

// ------------------------------------------------------------------------------------------- times

// A step that does not move the time is refused before the first one.
static void steps_below_the_resolution_are_refused(void **state)
{
    (void)state;
    lw_model *model = slider_with("motor");
    for (int i = 0; i < lw_integrator_count(); i++) {
        const char *name = lw_integrator_info(i).name;
        lw_sim *sim =
            lwt_simulate(model, LWT_SETTINGS("formulation", formulation_for(name), "integrator",
                                             name, "step", "1e-18", "duration", "0.1"));
        for (int run = 0; run < 2; run++) {
            assert_int_equal(LW_ERR_ARGUMENT,
                             run ? lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL)
                                 : lw_sim_step(sim, 0.1));
            assert_non_null(strstr(lw_sim_error(sim)->text, "step: 1e-18 s"));
            assert_non_null(strstr(lw_sim_error(sim)->text, "t = 0.1 s, t + h = t"));
            assert_true(lw_sim_time(sim) == 0);
        }
        assert_int_equal(LW_OK, lw_sim_step(sim, 1e-17)); // these are ten steps
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Breaks and ends at times that have no digits for parts of a step.
static void times_without_digits_are_passed(void **state)
{
    (void)state;
    static const double times[] = {5e-324, 1e-310, 1e-200, 1e-90, 1e-3};
    lw_model *model = slider_with("ramp");
    for (int i = 0; i < lw_integrator_count(); i++) {
        const char *name = lw_integrator_info(i).name;
        lw_sim *sim =
            lwt_simulate(model, LWT_SETTINGS("formulation", formulation_for(name), "integrator",
                                             name, "step", "1e-4", "max_steps", "3000"));
        for (int k = 0; k < LWI_COUNT(times); k++) {
            if (lw_sim_step(sim, times[k]) != LW_OK)
                fail_msg("%s, %g: %s", name, times[k], lw_sim_error(sim)->text);
            assert_true(lw_sim_time(sim) == times[k]);
        }
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------- rates that are not finite

static int stop_never(void *user, double time, double end)
{
    (void)time, (void)end;
    ++*(long *)user;
    return 0;
}

// An input that gives rates that are not finite where the step begins.
static void inputs_that_overflow_end_the_step(void **state)
{
    (void)state;
    lw_model *model = slider_with("motor");
    for (int i = 0; i < lw_integrator_count(); i++) {
        const char *name = lw_integrator_info(i).name;
        long asked = 0;
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", formulation_for(name),
                                                       "integrator", name, "step", "0.01"));
        assert_int_equal(LW_OK, lw_sim_step(sim, 0.1));
        assert_int_equal(LW_OK, lw_sim_set_input(sim, 0, 1e308));
        const lw_status status = lw_sim_step_progress(sim, 0.2, stop_never, &asked);
        if (status == LW_OK) // 1e308 N move 1 kg by a finite number in that time
            assert_true(lw_sim_time(sim) == 0.2);
        else
            assert_true(lw_sim_time(sim) >= 0.1 && lw_sim_time(sim) < 0.2);
        lw_summary summary;
        lw_sim_summary(sim, &summary);
        assert_true(summary.evaluations < 100000);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// A formula that is NaN from a time on ends the run there, with the last row.
static void formulas_that_are_not_numbers_end_the_run(void **state)
{
    (void)state;
    lw_model *model = slider_with("root");
    for (int i = 0; i < lw_integrator_count(); i++) {
        const char *name = lw_integrator_info(i).name;
        lw_sim *sim =
            lwt_simulate(model, LWT_SETTINGS("formulation", formulation_for(name), "integrator",
                                             name, "step", "0.01", "duration", "1"));
        const lw_status status = lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL);
        assert_true(status == LW_ERR_NOT_FINITE || status == LW_ERR_INTEGRATOR);
        assert_non_null(strstr(lw_sim_error(sim)->text, "t = 0."));
        if (!strcmp(formulation_for(name), "aba"))
            assert_non_null(strstr(lw_sim_error(sim)->text, "function 'root' is "));
        assert_true(lw_sim_time(sim) > 0.28 && lw_sim_time(sim) <= 0.3);
        lw_summary summary;
        lw_sim_summary(sim, &summary);
        assert_true(summary.evaluations < 100000);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The joints that such a formula reads are named, with what they are.
static void formulas_of_joints_name_them(void **state)
{
    (void)state;
    lw_model *model = slider_with("wall");
    for (int i = 0; i < lw_integrator_count(); i++) {
        const char *name = lw_integrator_info(i).name;
        if (strcmp(formulation_for(name), "aba") != 0)
            continue; // solves for positions where it is finite
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "aba", "integrator", name,
                                                       "step", "0.01", "duration", "9"));
        const lw_status status = lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL);
        assert_true(status == LW_ERR_NOT_FINITE || status == LW_ERR_INTEGRATOR);
        const char *text = lw_sim_error(sim)->text;
        const char *found = strstr(text, "function 'wall' is nan at joint 's' q0 = 0.3");
        if (!found || !strstr(found, ", joint 's' qd0 = ")) fail_msg("%s: %s", name, text);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Curves and maps that end with an error state their range.
static void curves_state_their_range(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, 0, 0]\n"
        "signals:\n"
        "  f: {type: map, of: 2*s.q0, of2: 0*t, x: [-0.5, 0.25], x2: [-1, 3], rows: [[0, 0], [1, "
        "1]], "
        "ends: %s, ends2: error}\n"
        "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints:\n"
        "  s: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0], qd: [1], "
        "effort: {q0: f}}\n";
    char model_text[sizeof text + 16];
    snprintf(model_text, sizeof model_text, text, "error");
    lw_model *model = lwt_yaml(model_text);
    lw_sim *sim =
        lwt_simulate(model, LWT_SETTINGS("formulation", "aba", "duration", "1", "step", "0.01"));
    assert_true(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL) != LW_OK);
    const char *found =
        strstr(lw_sim_error(sim)->text, "function 'f' is nan at joint 's' q0 = 0.1");
    if (!found || !strstr(found, ", expected x from -0.5 to 0.25, expected x2 from -1 to 3"))
        fail_msg("%s", lw_sim_error(sim)->text);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    snprintf(model_text, sizeof model_text, text, "linear");
    model = lwt_yaml(model_text);
    sim = lwt_simulate(model, LWT_SETTINGS("formulation", "aba", "duration", "1"));
    assert_int_equal(LW_OK, lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// In a batch too, for each instance with its own numbers, by the threads' own workspaces.
static void batches_name_them(void **state)
{
    (void)state;
    enum { N = 5 };
    lw_model *model = slider_with("wall");
    static const char *const integrators[] = {"dopri54", "rk4"};
    const char *const vary[] = {"joint.s.qd0"};
    static const double speed[N] = {1, 2, 3, 4, 5};
    for (int i = 0; i < 2; i++) {
        lw_options options;
        lw_batch *batch;
        lw_options_default(&options);
        lwt_set(&options, "integrator", integrators[i]);
        lwt_set(&options, "step", "0.01");
        const lw_batch_desc desc = {.instances = N,
                                    .threads = 2,
                                    .nvary = 1,
                                    .vary = vary,
                                    .values = speed,
                                    .options = &options};
        assert_int_equal(LW_OK, lw_batch_create(model, &desc, &batch, NULL));
        assert_int_not_equal(LW_OK, lw_batch_step(batch, 9));
        for (int k = 0; k < N; k++) {
            const char *text = lw_batch_failure(batch, k);
            const char *found = strstr(text, "function 'wall' is nan at joint 's' q0 = 0.3");
            const char *qd = found ? strstr(found, ", joint 's' qd0 = ") : NULL;
            if (!qd || fabs(atof(qd + 18) - speed[k]) > 0.5)
                fail_msg("%s, %d: %s", integrators[i], k, text);
        }
        lw_batch_destroy(batch);
    }
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------ in a long step

typedef struct stopper {
    lw_sim *sim;
    lw_batch *batch;
    int calls, stop_at;
    double time; // of the state at the last call
} stopper;

// Takes the last call for long ago, as if evaluations lasted long.
static int stop_later(void *user, double time, double end)
{
    stopper *s = user;
    (void)end;
    if (s->sim) s->sim->cancel.called = -1e9;
    if (s->batch) s->batch->cancel.called = -1e9;
    s->time = time;
    return ++s->calls >= s->stop_at;
}

// The caller's function is called within a step of a large mechanism; the state remains that of the last step.
static void a_long_step_can_be_stopped(void **state)
{
    (void)state;
    static const char *const integrators[] = {"dopri5", "adams", "dopri54", "rk4"};
    lw_model *model = lwt_yaml("linkwork: 1\ngenerate: {chain: {n: 10000}}\n");
    for (int i = 0; i < LWI_COUNT(integrators); i++) {
        lw_sim *sim =
            lwt_simulate(model, LWT_SETTINGS("integrator", integrators[i], "formulation", "aba",
                                             "step", "1e-3", "duration", "1", "sample", "1"));
        stopper s = {.sim = sim, .stop_at = 2}; // after the first row
        assert_int_equal(LW_ERR_INTERRUPTED,
                         lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, stop_later, &s));
        lw_summary summary;
        lw_sim_summary(sim, &summary);
        assert_int_equal(2, s.calls);
        assert_int_equal(0, summary.steps);
        assert_true(lw_sim_time(sim) == 0);
        assert_non_null(strstr(lw_sim_error(sim)->text, "stopped by the caller"));
        assert_int_equal(LW_OK, lw_sim_step(sim, 1e-4)); // continues
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// A batch is stopped between rows: instances keep their states, and continue.
static void a_batch_can_be_stopped_between_rows(void **state)
{
    (void)state;
    static const char *const vary[] = {"joint.s.qd0"};
    static const double values[] = {1, 2, 3};
    lw_model *model = slider_with("motor");
    lw_options options;
    lw_batch *batch;
    lw_error error;
    lw_options_default(&options);
    assert_int_equal(LW_OK, lw_options_set(&options, "step", "1e-3", NULL));
    assert_int_equal(LW_OK, lw_options_set(&options, "duration", "100", NULL));
    assert_int_equal(LW_OK, lw_options_set(&options, "sample", "100", NULL));
    const lw_batch_desc desc = {
        .options = &options, .instances = 3, .nvary = 1, .vary = vary, .values = values};
    if (lw_batch_create(model, &desc, &batch, &error) != LW_OK) fail_msg("%s", error.text);
    stopper s = {.batch = batch, .stop_at = 10};
    assert_int_equal(LW_ERR_INTERRUPTED, lw_batch_run(batch, NULL, NULL, stop_later, &s));
    assert_int_equal(10, s.calls);
    assert_int_equal(0, lw_batch_failed(batch));
    const lw_observation *o;
    assert_int_equal(LW_OK, lw_batch_observe(batch, 1, LW_OBSERVE_POSE, &o));
    assert_true(o->time > 0 && o->time < 1);
    assert_int_equal(LW_OK, lw_batch_step(batch, 1));
    assert_int_equal(LW_OK, lw_batch_observe(batch, 1, LW_OBSERVE_POSE, &o));
    assert_true(o->time == 1 && fabs(o->q[0] - 2) < 1e-6);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_below_the_resolution_are_refused),
        cmocka_unit_test(times_without_digits_are_passed),
        cmocka_unit_test(inputs_that_overflow_end_the_step),
        cmocka_unit_test(formulas_that_are_not_numbers_end_the_run),
        cmocka_unit_test(formulas_of_joints_name_them),
        cmocka_unit_test(curves_state_their_range),
        cmocka_unit_test(batches_name_them),
        cmocka_unit_test(a_long_step_can_be_stopped),
        cmocka_unit_test(a_batch_can_be_stopped_between_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
