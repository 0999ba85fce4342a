// test_rows.c -- rows of a run: their times, the end of a run, notices; breaks of functions.
#include "kinematics/tree_state.h"
#include "simulate/sim_cases.h"

#include <float.h>
#include <stdlib.h>
#include <time.h>

// -------------------------------------------------------------------------------------------- rows

// except for round-off: k sample is rounded twice, the row's time once
static int same_time(double a, double b)
{
    return fabs(a - b) <= 8 * DBL_EPSILON * fabs(b);
}

// The second half of a run has the rows of the whole, to the bit.
static void rows_do_not_depend_on_the_start(void **state)
{
    (void)state;
    static const struct {
        const char *half, *whole, *sample;
    } cases[] = {
        {"1", "2", "0.01"}, {"0.3", "0.6", "0.1"}, {"0.7", "1.4", "0.1"}, {"0.21", "0.42", "0.03"}};
    lw_model *model = pendulum(ANGLE, 0);
    for (int c = 0; c < COUNT(cases); c++) {
        lw_sim *sim =
            simulate(model, OPTIONS("duration", cases[c].whole, "sample", cases[c].sample));
        const rows whole = *run(sim, LW_OK);
        lw_sim_destroy(sim);
        sim = simulate(model, OPTIONS("duration", cases[c].half, "sample", cases[c].sample));
        const int n = run(sim, LW_OK)->n;
        const rows *second = run(sim, LW_OK);
        assert_int_equal(whole.n, n + second->n - 1);
        for (int k = 1; k < second->n; k++) assert_true(second->time[k] == whole.time[n - 1 + k]);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

static void rows_are_at_requested_times(void **state)
{
    (void)state;
    static const struct {
        const char *duration, *sample;
        int count;
    } cases[] = {
        {"1", "0.1", 11},   {"0.3", "0.1", 4},    {"0.35", "0.1", 5},  {"0.7", "0.7", 2},
        {"0.5", "0.7", 2},  {"0", "0.1", 1},      {"0.9", "0.01", 91}, {"0.6", "0.2", 4},
        {"1.1", "0.1", 12}, {"0.1", "1e-3", 101},
    };
    lw_model *model = pendulum(ANGLE, 0);
    for (int mode = 0; mode < 2; mode++)
        for (int c = 0; c < COUNT(cases); c++) {
            lw_sim *sim =
                simulate(model, OPTIONS("duration", cases[c].duration, "sample", cases[c].sample,
                                        "sample-mode", mode ? "interpolate" : "stop"));
            const double sample = atof(cases[c].sample), duration = atof(cases[c].duration);
            for (int again = 0; again < 2; again++) { // a second run continues the first
                const double t0 = lw_sim_time(sim);
                const rows *r = run(sim, LW_OK);
                if (again && duration > 0.85 && r->n != cases[c].count) continue; // t0 rounds
                assert_int_equal(r->n, cases[c].count);
                for (int k = 0; k < r->n - 1; k++)
                    assert_true(same_time(r->time[k], t0 + k * sample));
                assert_true(same_time(r->time[r->n - 1], t0 + duration));
                assert_true(lw_sim_time(sim) == r->time[r->n - 1]);
                if (t0 == 0) assert_true(lw_sim_time(sim) == duration);
            }
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

static void steps_as_rows(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        lw_sim *sim = simulate(model, OPTIONS("integrator", lw_integrator_info(i).name, "sample",
                                              "steps", "duration", "1", "rtol", "1e-6", "atol",
                                              "1e-6", "step", "0.02"));
        const rows *r = run(sim, LW_OK);
        assert_int_equal(r->n, summary_of(sim).steps + 1);
        for (int k = 1; k < r->n; k++)
            assert_true(r->time[k] > r->time[k - 1] &&
                        r->time[k] - r->time[k - 1] <= 0.02 * (1 + 1e-12));
        assert_true(r->time[r->n - 1] == 1);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Interpolated rows cost no steps and differ by what the interpolation is worth.
static void interpolated_rows_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"dopri5", "dopri54", "adams", "bdf"};
    lw_model *model = pendulum(ANGLE, 0);
    for (int i = 0; i < COUNT(names); i++) {
        static rows stops;
        lw_sim *a = simulate(model, OPTIONS("integrator", names[i], "duration", "1", "sample",
                                            "1e-3", "rtol", "1e-8", "atol", "1e-8"));
        lw_sim *b =
            simulate(model, OPTIONS("integrator", names[i], "duration", "1", "sample", "1e-3",
                                    "sample-mode", "interpolate", "rtol", "1e-8", "atol", "1e-8"));
        stops = *run(a, LW_OK);
        const rows *r = run(b, LW_OK);
        assert_int_equal(stops.n, r->n);
        assert_true(summary_of(b).steps < summary_of(a).steps / 2);
        for (int k = 0; k < r->n; k++)
            if (!(fabs(r->q[k] - stops.q[k]) < 1e-5))
                fail_msg("%s row %d: %.3g", names[i], k, r->q[k] - stops.q[k]);
        lw_sim_destroy(a);
        lw_sim_destroy(b);
    }
    lw_model_destroy(model);
}

static void callers_can_end_runs(void **state)
{
    (void)state;
    static rows r;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "1", "sample", "0.1"));
    r = (rows){.stop_after = 4};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_late, &r), LW_ERR_INTERRUPTED);
    assert_int_equal(r.n, 4);
    assert_true(lw_sim_time(sim) == r.time[3]);
    assert_int_equal(lw_sim_error(sim)->status, LW_ERR_INTERRUPTED);
    r = (rows){.refuse_at = 3};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_late, &r), LW_ERR_IO);
    assert_int_equal(r.n, 3);
    // the first sample is at the first row
    r = (rows){.stop_after = 1};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_late, &r), LW_ERR_INTERRUPTED);
    assert_int_equal(r.n, 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// If rows are rare the run ends between them, with a last row at its present state.
static int stop_in_between(void *user, double time, double end)
{
    (void)user, (void)end;
    return time > 1;
}

static int stop_late_in_time(void *user, double time, double end)
{
    (void)user, (void)end;
    return time > 0;
}

static void runs_end_between_rare_rows(void **state)
{
    (void)state;
    static rows r;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "100", "sample", "50", "step", "0.01"));
    r = (rows){0};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_in_between, NULL),
                     LW_ERR_INTERRUPTED);
    assert_int_equal(r.n, 2);
    assert_true(r.time[1] > 1 && r.time[1] < 3 && r.time[1] == lw_sim_time(sim));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A caller waits no longer than some steps, nor than a while where steps are slow.
static lw_status slow_rates(lwi_work *work, double t, const double *x, const double *inputs,
                            double *xdot)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return lwi_formulation_find("aba")->rates(work, t, x, inputs, xdot);
}

static void slow_runs_end_soon(void **state)
{
    (void)state;
    static rows r;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "100", "sample", "50", "step", "0.01"));
    lwi_formulation slow = *sim->work->formulation;
    slow.rates = slow_rates;
    sim->work->formulation = &slow;
    r = (rows){0};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_late_in_time, NULL),
                     LW_ERR_INTERRUPTED);
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    assert_true(summary.steps < 10);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A run reports once that its energy error exceeds what its tolerances suggest.
static lw_status wrong_rates(lwi_work *work, double t, const double *x, const double *inputs,
                             double *xdot)
{
    const lw_status status = lwi_formulation_find("aba")->rates(work, t, x, inputs, xdot);
    xdot[0] *= 0.9;
    return status;
}

static void energy_errors_are_reported(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "1", "sample", "0.1"));
    ok(lw_sim_run(sim, LW_OBSERVE_REACTION, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    assert_null(strstr(lw_sim_notice(sim), "E - Wnc"));
    lwi_formulation wrong = *sim->work->formulation;
    wrong.rates = wrong_rates;
    sim->work->formulation = &wrong;
    for (int i = 0; i < 2; i++) {
        ok(lw_sim_run(sim, LW_OBSERVE_REACTION, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        const char *reported = strstr(lw_sim_notice(sim), "E - Wnc");
        assert_non_null(reported);
        assert_null(strstr(reported + 1, "E - Wnc"));
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void a_number_that_is_not_finite_is_named(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    lw_error error = {0};
    const double v = NAN;
    assert_int_equal(lwi_tree_finite(model, 0, &v, "acceleration", &error), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(error.text, "joint 'pivot': component 0 of its acceleration is not"));
    lw_model_destroy(model);
}

// A run that fails keeps its last state, and the audit includes it.
static void failed_runs_have_a_last_row(void **state)
{
    (void)state;
    static rows r;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "100", "sample", "50", "max_steps", "20"));
    r = (rows){0};
    assert_true(lw_sim_run(sim, LW_OBSERVE_REACTION, keep, &r, NULL, NULL) < LW_OK);
    assert_int_equal(r.n, 2);
    assert_true(r.time[1] > 0 && r.time[1] == lw_sim_time(sim));
    assert_non_null(strstr(lw_sim_error(sim)->text, "20"));
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    assert_true(summary.energy_error > 0 && summary.energy_scale > 0);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ breaks

static int is_at(const rows *r, double time)
{
    for (int k = 0; k < r->n; k++)
        if (r->time[k] == time) return 1;
    return 0;
}

// Every integrator ends a step where a function is not smooth, and gets the impulse of the torque
// right: a step from 0 to 2 between 0.3 and 0.7 is 1 on average, then 2.
static void steps_end_on_breaks(void **state)
{
    (void)state;
    const lw_function_desc smooth = {
        .type = LW_FUNCTION_STEP, .from = 0, .to = 2, .start = 0.3, .end = 0.7};
    lw_model *model = rotor(&smooth);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        lw_sim *sim = simulate(model, OPTIONS("integrator", lw_integrator_info(i).name, "sample",
                                              "steps", "duration", "1", "step", "0.05"));
        const rows *r = run(sim, LW_OK);
        assert_true(is_at(r, 0.3) && is_at(r, 0.7));
        const double speed = (0.4 * 1 + 0.3 * 2) / INERTIA;
        const lw_observation *o = observe(sim, LW_OBSERVE_TWIST);
        if (!(fabs(o->qd[0] - speed) < 2e-6 * speed))
            fail_msg("%s: %.12g for %.12g", lw_integrator_info(i).name, o->qd[0], speed);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The same at the kink of a ramp, where the torque's first derivative jumps; no restart is needed.
static void kinks_are_met_without_restart(void **state)
{
    (void)state;
    const lw_function_desc kink = {.type = LW_FUNCTION_RAMP, .from = 0.25, .rate = 2};
    lw_model *model = rotor(&kink);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        const char *name = lw_integrator_info(i).name;
        lw_sim *sim =
            simulate(model, OPTIONS("integrator", name, "duration", "1", "sample", "0.4"));
        run(sim, LW_OK);
        assert_int_equal(summary_of(sim).restarts, 0);
        const double speed = 0.75 * 0.75 / INERTIA;
        const lw_observation *o = observe(sim, LW_OBSERVE_TWIST);
        if (!(fabs(o->qd[0] - speed) < 1e-6 * speed))
            fail_msg("%s: %.12g for %.12g", name, o->qd[0], speed);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

static int stop_at_thirty(void *user, double time, double end)
{
    (void)end;
    *(int *)user += 1;
    return time > 30;
}

// A step with progress calls has the bits of one without, ends on request, and can be continued.
static void steps_are_watched(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        const char *const *options =
            OPTIONS("integrator", lw_integrator_info(i).name, "step", "0.01", "rtol", "1e-6");
        double t[2], x[3][16];
        lw_sim *sim[2] = {simulate(model, options), simulate(model, options)};
        int asked = 0;
        assert_true(lw_sim_state_size(sim[0]) <= 16);
        const size_t bytes = (size_t)lw_sim_state_size(sim[0]) * sizeof(double);
        step(sim[0], 20);
        assert_int_equal(LW_OK, lw_sim_step_progress(sim[1], 20, stop_at_thirty, &asked));
        for (int k = 0; k < 2; k++) lw_sim_get_state(sim[k], &t[k], x[k]);
        assert_true(asked > 5 && t[0] == 20 && t[1] == 20);
        assert_memory_equal(x[0], x[1], bytes);
        assert_int_equal(LW_ERR_INTERRUPTED,
                         lw_sim_step_progress(sim[1], 50, stop_at_thirty, &asked));
        assert_true(lw_sim_time(sim[1]) > 30 && lw_sim_time(sim[1]) < 50);
        assert_int_equal(LW_OK, lw_sim_step_progress(sim[1], 50, NULL, NULL));
        assert_int_equal(LW_ERR_ARGUMENT, lw_sim_step_progress(sim[1], 49, NULL, NULL));
        for (int k = 0; k < 2; k++) lw_sim_destroy(sim[k]);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_do_not_depend_on_the_start),
        cmocka_unit_test(rows_are_at_requested_times),
        cmocka_unit_test(steps_as_rows),
        cmocka_unit_test(interpolated_rows_agree),
        cmocka_unit_test(callers_can_end_runs),
        cmocka_unit_test(runs_end_between_rare_rows),
        cmocka_unit_test(slow_runs_end_soon),
        cmocka_unit_test(energy_errors_are_reported),
        cmocka_unit_test(a_number_that_is_not_finite_is_named),
        cmocka_unit_test(failed_runs_have_a_last_row),
        cmocka_unit_test(steps_end_on_breaks),
        cmocka_unit_test(kinks_are_met_without_restart),
        cmocka_unit_test(steps_are_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
