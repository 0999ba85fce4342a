// test_simulation.c -- a simulation through the public API: closed forms, refusals, memory.
#include "simulate/sim_cases.h"
#include "support/failing.h"
#include "support/random_model.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------- against closed forms

// Period of the pendulum: 2 pi / (omega AGM(1, cos(angle/2))).
static double period(void)
{
    const double omega = sqrt(MASS * GRAVITY * ARM / (INERTIA + MASS * ARM * ARM));
    double a = 1, g = cos(ANGLE / 2);
    for (int i = 0; i < 40; i++) {
        const double mean = (a + g) / 2;
        g = sqrt(a * g);
        a = mean;
    }
    return 2 * acos(-1) / (omega * a);
}

static void pendulum_keeps_period_and_energy(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    const double T = period();
    for (int f = 0; f < lw_formulation_count(); f++)
        for (int i = 0; i < lw_integrator_count(); i++) {
            if (own_step(lw_formulation_info(f).name)) continue;
            if (own_step(lw_integrator_info(i).name)) continue;
            const char *name = lw_integrator_info(i).name;
            const double tolerance = strcmp(name, "bs3") ? 1e-10 : 1e-8;
            lw_sim *sim =
                simulate(model, OPTIONS("formulation", lw_formulation_info(f).name, "integrator",
                                        name, "rtol", strcmp(name, "bs3") ? "1e-10" : "1e-8",
                                        "atol", strcmp(name, "bs3") ? "1e-10" : "1e-8"));
            observe(sim, LW_OBSERVE_REACTION);
            step(sim, T / 4);
            const double quarter = observe(sim, LW_OBSERVE_REACTION)->q[0];
            step(sim, T);
            const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
            // errors of a period, some hundred times the tolerance of a step (bdf: per unit step)
            const double largest = 2e4 * tolerance;
            if (!(fabs(quarter) < largest && fabs(o->q[0] - ANGLE) < largest &&
                  fabs(o->qd[0]) < largest))
                fail_msg("%s, %s: %.3g %.3g %.3g", lw_formulation_info(f).name, name, quarter,
                         o->q[0] - ANGLE, o->qd[0]);
            const lw_summary s = summary_of(sim);
            assert_true(s.energy_error < 50 * largest && s.energy_scale > 1);
            assert_true(s.start == 0 && s.end == T && s.wall > 0 && s.evaluations > s.steps);
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

// E - Wnc is kept with dampers, drives, mounts, forces, in every formulation of trees.
static void random_trees_keep_energy_and_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        lw_model *model = NULL;
        assert_int_equal(lwt_random_tree(seed, 5, LWT_ALL, &model), LW_OK);
        double q[2] = {0};
        static const char *const names[] = {"aba", "momenta"};
        for (int f = 0; f < COUNT(names); f++) {
            lw_sim *sim = simulate(model, OPTIONS("formulation", names[f], "integrator", "verner87",
                                                  "duration", "0.5", "sample", "0.05", "rtol",
                                                  "1e-11", "atol", "1e-11"));
            const rows *r = run(sim, LW_OK);
            assert_int_equal(r->n, 11);
            q[f] = r->q[10];
            const lw_summary s = summary_of(sim);
            if (!(s.energy_error < 1e-7 * (1 + s.energy_scale)))
                fail_msg("seed %d, %s: energy %.3g of %.3g", (int)seed, names[f], s.energy_error,
                         s.energy_scale);
            lw_sim_destroy(sim);
        }
        if (!(fabs(q[0] - q[1]) < 1e-7 * (1 + fabs(q[0]))))
            fail_msg("seed %d: %.12g %.12g", (int)seed, q[0], q[1]);
        lw_model_destroy(model);
    }
}

// -------------------------------------------------------------------------------- small and broken

// A model without states: time moves, everything is observed.
static void nothing_moves(void **state)
{
    (void)state;
    lw_builder *b = begin(GRAVITY);
    lw_joint joint;
    lw_error error = {0};
    const lw_body body = add_body(b, "stone", (lw_vec3){1, 2, 3});
    const lw_joint_desc desc = {.name = "glue", .type = LW_JOINT_FIXED, .body2 = body};
    ok(lw_builder_add_joint(b, &desc, &joint, &error), &error);
    lw_model *model = finish(b);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        lw_sim *sim = simulate(model, OPTIONS("formulation", "aba", "integrator",
                                              lw_integrator_info(i).name, "duration", "0.1"));
        assert_int_equal(lw_sim_state_size(sim), 0);
        const rows *r = run(sim, LW_OK);
        assert_int_equal(r->n, 11);
        const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
        assert_true(o->position[1][0] == 1 && fabs(o->reaction[0][2] - MASS * GRAVITY) < 1e-9);
        ok(lw_sim_set_state(sim, 5, NULL), lw_sim_error(sim));
        assert_true(lw_sim_time(sim) == 5);
        ok(lw_sim_set_joints(sim, 6, NULL, NULL), lw_sim_error(sim));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// After a failure the last accepted state can be observed and the simulation used again.
static void failure_leaves_the_last_state(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("max-steps", "40", "step", "0.01"));
    static rows r;
    r = (rows){0};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_REACTION, keep, &r, NULL, NULL), LW_ERR_INTEGRATOR);
    assert_int_equal(lw_sim_error(sim)->status, LW_ERR_INTEGRATOR);
    assert_non_null(strstr(lw_sim_error(sim)->text, "max_steps"));
    const double t = lw_sim_time(sim);
    assert_true(t > 0 && t < 0.5);
    assert_true(observe(sim, LW_OBSERVE_REACTION)->time == t);
    assert_true(summary_of(sim).steps == 40 && summary_of(sim).end == t);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    lw_model *model = rotor(NULL);
    lw_sim *sim = simulate(model, NULL);
    const lw_observation *o;
    double x[16], nan = NAN;
    const double zero = 0;
    lw_sim_get_state(sim, NULL, x);
    assert_int_equal(lw_sim_set_input(sim, 1, 0), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_set_input(sim, -1, 0), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_set_input(sim, 0, NAN), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(lw_sim_error(sim)->text, "torque"));
    step(sim, 1);
    assert_int_equal(lw_sim_step(sim, 0.5), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_step(sim, INFINITY), LW_ERR_NOT_FINITE);
    step(sim, 1); // at the present time
    assert_int_equal(lw_sim_set_state(sim, NAN, x), LW_ERR_NOT_FINITE);
    assert_int_equal(lw_sim_set_state(sim, 0, NULL), LW_ERR_ARGUMENT);
    x[0] = INFINITY;
    assert_int_equal(lw_sim_set_state(sim, 0, x), LW_ERR_NOT_FINITE);
    assert_int_equal(lw_sim_set_joints(sim, 0, &nan, &zero), LW_ERR_NOT_FINITE);
    assert_int_equal(lw_sim_set_joints(sim, 0, NULL, &zero), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_observe(sim, (lw_observe)9, &o), LW_ERR_ARGUMENT);
    assert_true(lw_sim_time(sim) == 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A combination that does not exist names those that do.
static void combinations_are_checked(void **state)
{
    (void)state;
    lw_model *loop = four_bar();
    static const char *const trees[] = {"aba", "momenta"};
    for (int i = 0; i < COUNT(trees); i++) {
        lw_options o;
        lw_error error = {0};
        lw_sim *sim = NULL;
        lw_options_default(&o);
        set(&o, "formulation", trees[i]);
        assert_int_equal(lw_sim_create(loop, &(lw_sim_desc){.options = &o}, &sim, &error),
                         LW_ERR_UNSUPPORTED);
        assert_null(sim);
        assert_non_null(strstr(error.text, "can be simulated by dense"));
        strcpy(o.formulation, "nothing");
        assert_int_equal(lw_sim_create(loop, &(lw_sim_desc){.options = &o}, &sim, &error),
                         LW_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "auto, momenta, aba, dense"));
    }
    lw_model_destroy(loop);
    assert_int_equal(lw_sim_create(NULL, NULL, NULL, NULL), LW_ERR_ARGUMENT);
}

static void choices_and_ignored_options_are_reported(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, NULL);
    assert_string_equal(lw_sim_options(sim)->formulation, "aba");
    assert_string_equal(lw_sim_options(sim)->integrator, "dopri5");
    assert_non_null(strstr(lw_sim_notice(sim), "formulation aba: the joints form a tree"));
    assert_non_null(strstr(lw_sim_notice(sim), "integrator dopri5"));
    assert_ptr_equal(lw_sim_model(sim), model);
    lw_sim_destroy(sim);

    sim = simulate(model, OPTIONS("formulation", "aba", "integrator", "dopri5"));
    assert_string_equal(lw_sim_notice(sim), ""); // nothing to say
    lw_sim_destroy(sim);

    sim = simulate(model, OPTIONS("integrator", "rk4", "rtol", "1e-5", "atol", "1e-5", "atol-p",
                                  "1e-5", "sample-mode", "interpolate"));
    assert_true(lw_sim_options(sim)->step == 1e-3);
    static const char *const reported[] = {"step 0.001", "rtol is ignored", "atol is ignored",
                                           "atol_p is ignored", "sample_mode is ignored"};
    for (int i = 0; i < COUNT(reported); i++)
        assert_non_null(strstr(lw_sim_notice(sim), reported[i]));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Flags are what code outside of a formulation relies on: one for each kind of state and of option.
static void flags_fit_the_formulations(void **state)
{
#define X(name) &lwi_formulation_##name,
    static const lwi_formulation *const all[] = {LWI_FORMULATION_LIST(X)};
#undef X
    (void)state;
    lw_model *model = pendulum(ANGLE, 0.1);
    for (int i = 0; i < COUNT(all); i++) {
        const lwi_formulation *f = all[i];
        lwi_work *work = NULL;
        lw_error error;
        assert_true(!f->rates == (f->step != NULL)); // one of both
        if (lwi_work_create(model, f, NULL, &work, &error) != LW_OK) fail_msg("%s", error.text);
        const bool momenta = lwi_layout_has(&work->layout, LWI_MOMENTUM);
        if (!(f->flags & (momenta ? LWI_HAS_MOMENTA : LWI_HAS_SPEEDS)))
            fail_msg("%s: no flag for its state", f->name);
        if (f->flags & LWI_HAS_KAPPA && !(f->flags & LWI_HAS_MOMENTA))
            fail_msg("%s: sums impulses without momenta", f->name);
        lwi_work_destroy(work);
    }
    lw_model_destroy(model);
}

// Each ignored option is reported with the formulations that have it.
static void ignored_options_name_formulations(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0.1);
    lw_sim *sim = simulate(model, OPTIONS("formulation", "aba", "integrator", "dopri5", "kappa",
                                          "10", "baumgarte", "5,5", "index3", "iterations=4"));
    static const char *const expected[] = {
        "kappa is ignored: it is an option of hdca, rcr with momenta",
        "baumgarte is ignored: it is an option of lagrange",
        "index3 is ignored: it is an option of index3"};
    for (int i = 0; i < COUNT(expected); i++)
        if (!strstr(lw_sim_notice(sim), expected[i])) fail_msg("%s", lw_sim_notice(sim));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Levels hold what they say and nothing beyond.
static void levels_are_filled(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0.1);
    lw_sim *sim = simulate(model, NULL);
    for (int level = LW_OBSERVE_REACTION; level >= LW_OBSERVE_POSE; level--) {
        const lw_observation *o = observe(sim, (lw_observe)level);
        assert_int_equal(o->level, level);
        assert_true(o->position && o->quaternion && o->q);
        assert_int_equal(o->velocity && o->angular_velocity && o->qd, level >= LW_OBSERVE_TWIST);
        assert_int_equal(o->potential != 0, level >= LW_OBSERVE_ENERGY);
        assert_int_equal(o->acceleration && o->angular_acceleration && o->qdd,
                         level >= LW_OBSERVE_ACCELERATION);
        assert_int_equal(o->reaction && o->reaction_unique, level >= LW_OBSERVE_REACTION);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ memory

// The n-th allocation fails: a status, everything given back.  After create none is asked for.
static void allocations_fail_cleanly(void **state)
{
    (void)state;
    lw_model *model = NULL;
    assert_int_equal(lwt_random_tree(5, 6, LWT_ALL, &model), LW_OK);
    for (int f = 0; f < 3; f++)
        for (long n = 0;; n++) {
            lwt_failing b = {.left = n};
            const lw_allocator allocator = lwt_failing_allocator(&b);
            lw_options o;
            lw_error error = {0};
            lw_sim *sim = NULL;
            lw_options_default(&o);
            if (f) set(&o, "formulation", f == 1 ? "momenta" : "aba");
            set(&o, "duration", "0.05");
            const lw_sim_desc desc = {.options = &o, .allocator = &allocator};
            const lw_status status = lw_sim_create(model, &desc, &sim, &error);
            if (status == LW_OK) {
                b.left = 0;
                run(sim, LW_OK);
                lw_sim_destroy(sim);
                assert_int_equal(b.live, 0);
                break;
            }
            assert_int_equal(status, LW_ERR_MEMORY);
            assert_int_equal(b.live, 0);
            assert_true(n < 1000);
        }
    lw_model_destroy(model);
}

// A double pendulum with the first angle driven at 30 rad/s, for a second.
static lw_summary fast_drive(const char *formulation)
{
    lw_builder *b = begin(GRAVITY);
    lw_signal swing;
    lw_error error = {0};
    const lw_function_desc sine = {.type = LW_FUNCTION_SINE, .amplitude = 0.3, .omega = 30};
    ok(lw_builder_add_function(b, &sine, &swing, &error), &error);
    const lw_body first = add_body(b, "first", (lw_vec3){0, 0, -ARM});
    const lw_body second = add_body(b, "second", (lw_vec3){0.3, 0, -3 * ARM});
    add_hinge(b, &(lw_joint_desc){.body2 = first, .coordinate[0].motion = swing});
    add_hinge(b, &(lw_joint_desc){.body1 = first, .body2 = second, .at = {0, 0, -2 * ARM}});
    lw_model *model = finish(b);
    lw_sim *sim = simulate(model, OPTIONS("formulation", formulation, "integrator", "dopri5",
                                          "duration", "1", "sample", "1"));
    run(sim, LW_OK);
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return summary;
}

// The quadrature of a fast drive's work is controlled, without limiting the steps: 299, 355 at the tolerance of the
// motion.
static void work_of_fast_drives_does_not_limit_steps(void **state)
{
    (void)state;
    static const char *const formulation[] = {"momenta", "hdca"};
    for (int i = 0; i < COUNT(formulation); i++) {
        const lw_summary s = fast_drive(formulation[i]);
        if (s.steps > 325) fail_msg("%s: %ld steps", formulation[i], s.steps);
        if (!(s.energy_error < 1e-7 * s.energy_scale))
            fail_msg("%s: energy off by %g J of %g", formulation[i], s.energy_error,
                     s.energy_scale);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_keeps_period_and_energy),
        cmocka_unit_test(random_trees_keep_energy_and_agree),
        cmocka_unit_test(nothing_moves),
        cmocka_unit_test(failure_leaves_the_last_state),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(combinations_are_checked),
        cmocka_unit_test(choices_and_ignored_options_are_reported),
        cmocka_unit_test(flags_fit_the_formulations),
        cmocka_unit_test(ignored_options_name_formulations),
        cmocka_unit_test(levels_are_filled),
        cmocka_unit_test(work_of_fast_drives_does_not_limit_steps),
        cmocka_unit_test(allocations_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
