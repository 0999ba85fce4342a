// test_momentum_errors.c -- digits of speeds that round-off of momenta takes: where runs say so, and where there is no such loss.
#include "simulate/simulation.h"
#include "support/given.h"
#include "support/mechanism.h"

#include <linkwork/batch.h>

#include <time.h>

static void set(lw_options *options, const char *key, const char *value)
{
    lw_error error;
    lwt_ok(lw_options_set(options, key, value, &error), &error);
}

// Round-off of momenta and coordinates moves the speeds of a long straight chain, by the square of its length; the run
// says so.  States of speeds have no such loss.
static void lost_digits_of_momenta_are_reported(void **state)
{
    (void)state;
    static const struct {
        int n;
        const char *formulation;
        bool warned;
    } cases[] = {{3000, "momenta", true},
                 {3000, "hdca", true},
                 {3000, "aba", false},
                 {300, "momenta", false}};
    double lost[LWI_COUNT(cases)];
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model =
            lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = cases[i].n});
        lw_options options;
        lw_error error;
        lw_sim *sim;
        lw_options_default(&options);
        set(&options, "formulation", cases[i].formulation);
        set(&options, "integrator", "rk4");
        set(&options, "step", "5e-5");
        set(&options, "duration", "1e-4");
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        lwt_ok(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        lost[i] = lwi_momentum_rounding(sim);
        if ((strstr(lw_sim_notice(sim), "a state of speeds (aba) has no such loss") != NULL) !=
            cases[i].warned)
            fail_msg("%d rods, %s: %s", cases[i].n, cases[i].formulation, lw_sim_notice(sim));
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
    assert_true(lost[2] <= 0);
    assert_true(lost[0] > 30 * lost[3] && lost[0] < 300 * lost[3]);
}

// A carriage at constant speed with two rods that are attached to it: all momenta are those of the drive, and the speeds of the
// hinges are round-off.  That is no loss.
static void rods_on_drives_have_their_digits(void **state)
{
    static const char *const formulations[] = {"momenta", "hdca"};
    (void)state;
    for (int i = 0; i < LWI_COUNT(formulations); i++) {
        const double c[] = {0, 1.3};
        lw_builder *b = lwt_builder();
        lw_options options;
        lw_error error;
        lw_sim *sim;
        lw_builder_gravity(b, (lw_vec3){0, -10, 0});
        const lw_body carriage = lwt_rod(b, "carriage", -1, 0, 1, 0, 1),
                      A = lwt_rod(b, "A", 0, 0, 0, -1, 1), B = lwt_rod(b, "B", 0, -1, 0, -2, 1);
        lw_joint_desc slide = {.name = "slide",
                               .type = LW_JOINT_PRISMATIC,
                               .body1 = lwt_ground,
                               .body2 = carriage,
                               .axis = {1, 0, 0}};
        slide.coordinate[0].motion = lwt_function(
            b, &(lw_function_desc){
                   .type = LW_FUNCTION_POLYNOMIAL, .coefficients = c, .ncoefficient = 2});
        lwt_add(b, &slide);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j1", carriage, A, 0, 0);
        lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, 0, -1);
        lw_model *model = lwt_model(b);
        lw_options_default(&options);
        set(&options, "formulation", formulations[i]);
        set(&options, "duration", "0.1");
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        lwt_ok(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        const double lost = lwi_momentum_rounding(sim);
        if (!(lost > 0 && lost < 1e-13)) fail_msg("%s: %.1e", formulations[i], lost);
        if (strstr(lw_sim_notice(sim), "round-off")) fail_msg("%s", lw_sim_notice(sim));
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A rope of balls: its state has as many blocks as joints.
static lw_model *rope(int n)
{
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    for (int i = 0; i < n; i++) {
        const lw_body rod = lwt_rod(b, NULL, 0.1 * i, -i, 0.1 * (i + 1), -i - 1, 1);
        lwt_joint(b, LW_JOINT_SPHERICAL, NULL, before, rod, 0.1 * i, -i);
        before = rod;
    }
    return lwt_model(b);
}

// Smallest processor time of a comparison, or of an evaluation [s].
static double shortest_time(lw_sim *sim, bool comparison)
{
    double shortest = 1e30;
    for (int i = 0; i < 5; i++) {
        const clock_t before = clock();
        if (comparison)
            assert_true(lwi_momentum_errors(sim) > 0);
        else
            assert_int_equal(
                sim->work->formulation->rates(sim->work, 0, sim->x, NULL, sim->rates[1]), LW_OK);
        shortest = fmin(shortest, (double)(clock() - before) / CLOCKS_PER_SEC);
    }
    return shortest;
}

// It takes two evaluations and little more; a search in the blocks for every component took 180 at this length.
static void comparisons_are_linear(void **state)
{
    (void)state;
    lw_model *model = rope(4000);
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&options);
    set(&options, "formulation", "hdca");
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    const double evaluation = shortest_time(sim, false), comparison = shortest_time(sim, true);
    if (comparison > 20 * evaluation)
        fail_msg("%.1e s, an evaluation %.1e s", comparison, evaluation);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Steps that a state of speeds takes are too long for momenta: the message says so.
static void diverging_momenta_are_the_reason(void **state)
{
    (void)state;
    static const char *const formulations[] = {"momenta", "hdca", "aba"};
    for (int i = 0; i < LWI_COUNT(formulations); i++) {
        lw_model *model = lwt_generated(
            (lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 3000, .seed = 1});
        lw_options options;
        lw_error error;
        lw_sim *sim;
        lw_options_default(&options);
        set(&options, "formulation", formulations[i]);
        set(&options, "integrator", "rk4");
        set(&options, "step", "1e-4");
        set(&options, "duration", "1e-3");
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        const lw_status status = lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL);
        assert_int_equal(status, i < 2 ? LW_ERR_NOT_FINITE : LW_OK);
        const char *text = lw_sim_error(sim)->text;
        if (i < 2 && (!strstr(text, "is not a finite number") ||
                      !strstr(text, "the momenta diverge, as steps of 0.0001 s are too long")))
            fail_msg("%s", lw_sim_error(sim)->text);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A rope of rods with a load of 1e10 times their mass, pushed by that force; NULL: none.
static lw_model *heavy_rope(const char *force)
{
    enum { RODS = 5 };
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    lw_builder_gravity(b, (lw_vec3){0.3, 1, -9.81});
    for (int i = 0; i < RODS; i++) {
        const double mass = i == RODS - 1 ? 1e10 : 1;
        const lw_body rod =
            lwt_body(b, &(lw_body_desc){.mass = mass,
                                        .inertia = {mass / 40, mass / 12, mass / 12},
                                        .pose = {.position = {i + 0.5, 0, -0.1 * i}}});
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_SPHERICAL,
                                    .body1 = before,
                                    .body2 = rod,
                                    .at = {i, 0, -0.1 * i}});
        before = rod;
    }
    if (force) {
        lw_error error;
        const lw_signal f =
            lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_FORMULA, .formula = force});
        lwt_ok(lw_builder_add_wrench(b, &(lw_wrench_desc){.body = before, .force_of = {f}}, &error),
               &error);
    }
    return lwt_model(b);
}

// The rope with universal joints, in a vertical plane along an arc.
static lw_model *rope_in_a_plane(double ratio)
{
    enum { RODS = 5 };
    double angle = -1, x = 0, z = 0;
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    for (int i = 0; i < RODS; i++, angle += 1. / 6) {
        const double mass = i == RODS - 1 ? ratio : 1, dx = cos(angle), dz = sin(angle);
        const lw_body rod = lwt_body(
            b, &(lw_body_desc){.mass = mass,
                               .inertia = {mass / 40, mass / 12, mass / 12},
                               .pose = {.position = {x + dx / 2, 0, z + dz / 2},
                                        .orientation = {cos(angle / 2), 0, -sin(angle / 2), 0}}});
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_UNIVERSAL,
                                    .body1 = before,
                                    .body2 = rod,
                                    .at = {x, 0, z},
                                    .axis = {1, 0, 0},
                                    .axis2 = {0, 1, 0}});
        before = rod;
        x += dx, z += dz;
    }
    return lwt_model(b);
}

// Momenta across the plane are zero except for the round-off of those within it, 1e11 times their tolerances: steps that resolve
// these are 1e-8 s and shorter.  Tolerances are raised to the round-off, and runs say so.  Without great ratios none is.
static void tolerances_below_round_off_do_not_shorten_steps(void **state)
{
    (void)state;
    static const struct {
        const char *integrator, *max_steps;
    } cases[] = {{"dopri5", "10000"}, {"verner87", "20000"}, {"adams", "20000"}, {"bdf", "40000"}};
    for (int i = 0; i < LWI_COUNT(cases); i++)
        for (int heavy = 0; heavy < 2; heavy++) {
            lw_model *model = rope_in_a_plane(heavy ? 1e10 : 1e4);
            lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "momenta", "integrator",
                                                           cases[i].integrator, "duration",
                                                           heavy ? "1e-3" : "0.5", "max_steps",
                                                           cases[i].max_steps));
            if (lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL) != LW_OK)
                fail_msg("%s: %s", cases[i].integrator, lw_sim_error(sim)->text);
            if (sim->raised != heavy ||
                (strstr(lw_sim_notice(sim), "below their round-off") != NULL) != heavy)
                fail_msg("%s: %s", cases[i].integrator, lw_sim_notice(sim));
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// A batch has one set of tolerances for all instances of a model: `dopri54` does not raise them, or the bits of a run would be others
// than in a batch, and others after a state was resumed.
static void dopri54_has_the_bits_of_batches(void **state)
{
    (void)state;
    enum { MOST = 32 };
    double t[2], x[2][MOST];
    lw_batch *batch;
    lw_error error;
    lw_options options;
    lw_model *model = rope_in_a_plane(1e10);
    lw_options_default(&options);
    set(&options, "formulation", "momenta");
    set(&options, "integrator", "dopri54");
    set(&options, "max_steps", "1200");
    const lw_batch_desc desc = {.options = &options, .instances = 1};
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "momenta", "integrator",
                                                   "dopri54", "max_steps", "1200"));
    lwt_ok(lw_batch_create(model, &desc, &batch, &error), &error);
    assert_int_equal(lw_sim_step(sim, 1), LW_ERR_INTEGRATOR);
    assert_int_equal(lw_batch_step(batch, 1), LW_ERR_INTEGRATOR);
    assert_true(lw_sim_state_size(sim) <= MOST);
    lw_sim_get_state(sim, &t[0], x[0]);
    lwt_ok(lw_batch_get_state(batch, 0, &t[1], x[1]), lw_batch_error(batch));
    if (t[0] != t[1]) fail_msg("%.17g s, in a batch %.17g s", t[0], t[1]);
    assert_memory_equal(x[0], x[1], (size_t)lw_sim_state_size(sim) * sizeof **x);
    lw_batch_destroy(batch);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A state that is set has the bits that it had before, although tolerances were raised after it.
static void states_that_are_set_have_their_tolerances(void **state)
{
    (void)state;
    static const char *const integrators[] = {"dopri5", "adams"};
    lw_model *model = rope_in_a_plane(1e10);
    for (int i = 0; i < LWI_COUNT(integrators); i++) {
        lw_sim *sim = lwt_simulate(
            model, LWT_SETTINGS("formulation", "momenta", "integrator", integrators[i]));
        double x[3][64], t;
        const size_t bytes = (size_t)lw_sim_state_size(sim) * sizeof x[0][0];
        assert_true(bytes <= sizeof x[0]);
        lw_sim_get_state(sim, &t, x[0]);
        for (int run = 1; run < 3; run++) {
            lwt_ok(lw_sim_set_state(sim, t, x[0]), lw_sim_error(sim));
            assert_false(sim->raised);
            lwt_ok(lw_sim_step(sim, 1e-3), lw_sim_error(sim));
            assert_true(sim->raised);
            lw_sim_get_state(sim, NULL, x[run]);
        }
        assert_memory_equal(x[1], x[2], bytes);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Round-off of momenta is an estimate: it is not named where the reason is known.
static void known_reasons_are_not_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *force, *max_steps, *expected;
    } cases[] = {{NULL, "20", "max_steps: 20 steps are done"},
                 {"sqrt(1e-6 - t)", "0", "a formula is nan"}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = heavy_rope(cases[i].force);
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "momenta", "duration", "1e-3",
                                                       "max_steps", cases[i].max_steps));
        assert_int_not_equal(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), LW_OK);
        assert_true(lwi_momentum_rounding(sim) > 1e-4);
        if (!strstr(lw_sim_error(sim)->text, cases[i].expected))
            fail_msg("%s", lw_sim_error(sim)->text);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Time of the row from which on the notice has the warning; 0: none so far.
typedef struct first_warning {
    const lw_sim *sim;
    double time;
} first_warning;

static lw_status find_warning(void *user, const lw_observation *row)
{
    first_warning *first = user;
    if (first->time == 0 && strstr(lw_sim_notice(first->sim), "momenta diverge between"))
        first->time = row->time;
    return LW_OK;
}

// With the first row of energies that are off there is a warning, and one at the end; a state of speeds has none.
static void divergence_is_reported_when_it_arises(void **state)
{
    (void)state;
    static const char *const formulations[] = {"momenta", "aba"};
    for (int i = 0; i < LWI_COUNT(formulations); i++) {
        lw_model *model =
            lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = 30});
        lw_options options;
        lw_error error;
        first_warning first = {0};
        lw_sim *sim;
        lw_options_default(&options);
        set(&options, "formulation", formulations[i]);
        set(&options, "integrator", "rk4");
        set(&options, "step", "0.02");
        set(&options, "sample", "0.02");
        set(&options, "duration", "2");
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        first.sim = sim;
        const lw_status status =
            lw_sim_run(sim, LW_OBSERVE_ENERGY, find_warning, &first, NULL, NULL);
        const char *at_end = strstr(lw_sim_notice(sim), "momenta diverge between");
        if (getenv("LW_SHOW"))
            printf("%s: %g, %s\n", formulations[i], first.time, lw_sim_notice(sim));
        assert_int_equal(status, i < 1 ? LW_ERR_NOT_FINITE : LW_OK);
        assert_int_equal(at_end != NULL, i < 1);
        if (at_end) {
            assert_null(strstr(at_end + 1, "momenta diverge between"));
            assert_true(first.time > 0 && first.time < lw_sim_time(sim));
            assert_null(strstr(lw_sim_notice(sim), "round-off"));
        }
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_digits_of_momenta_are_reported),
        cmocka_unit_test(diverging_momenta_are_the_reason),
        cmocka_unit_test(tolerances_below_round_off_do_not_shorten_steps),
        cmocka_unit_test(dopri54_has_the_bits_of_batches),
        cmocka_unit_test(states_that_are_set_have_their_tolerances),
        cmocka_unit_test(known_reasons_are_not_replaced),
        cmocka_unit_test(divergence_is_reported_when_it_arises),
        cmocka_unit_test(rods_on_drives_have_their_digits),
        cmocka_unit_test(comparisons_are_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
