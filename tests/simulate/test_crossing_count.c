// test_crossing_count.c -- runs report each singular position that they pass, and no other.
#include "support/parallelograms.h"

// A run that ends within a step across has not passed what is ahead.
static void positions_behind_the_end_are_not_reported(void **state)
{
    (void)state;
    const double passes[] = {LWT_FIRST_PASSES, 0.6},
                 end[] = {LWT_FIRST_PASSES - 0.01, LWT_FIRST_PASSES + 0.01};
    for (int i = 0; i < 2; i++) {
        lw_model *model = lwt_passing(2, passes);
        lw_sim *sim = lwt_crossing(model, "rcr", "1e-9", "1");
        char text[512];
        lwt_ok(lw_sim_step(sim, LWT_FIRST_PASSES - 0.02), lw_sim_error(sim)); // in the window
        lwt_ok(lw_sim_step(sim, end[i]), lw_sim_error(sim));
        assert_int_equal(sim->crossing.count, 1);
        lwi_crossing_message(sim, text, sizeof text);
        assert_int_equal(strstr(text, "passed 1 singular position ") != NULL, i == 1);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// What the run reports.
static void check_counted(const lw_sim *sim, int seed, const char *tolerance, long expected)
{
    char text[512], count[64] = "";
    lwi_crossing_message(sim, text, sizeof text);
    if (expected) snprintf(count, sizeof count, "passed %ld singular position", expected);
    if (strncmp(text, count, expected ? strlen(count) : 1) != 0)
        fail_msg("seed %d, %s: '%s', expected '%s'", seed, tolerance, text, count);
}

static void check_count(int seed, const char *tolerance)
{
    long expected;
    lw_model *model = lwt_random_parallelograms(seed, true, 1.2, &expected);
    lw_sim *sim = lwt_crossing(model, "rcr", tolerance, "1");
    lwt_ok(lw_sim_step(sim, 1.2), lw_sim_error(sim));
    check_counted(sim, seed, tolerance, expected);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Also on the way of a long step across the position of a slow one, which it passes twice.
static void a_fast_loop_passes_within_the_step_of_a_slow_one(void **state)
{
    (void)state;
    static const int seeds[] = {5, 101, 116};
    for (int i = 0; i < LWI_COUNT(seeds); i++) check_count(seeds[i], "1e-9");
}

// Without loads ordinary steps are as long as several revolutions.  A position is counted in front of their end, or of that of a step
// across (seeds 70 and 76), or behind it (200).
static void counts_do_not_depend_on_steps(void **state)
{
    (void)state;
    static const int seeds[] = {0, 3, 70, 76, 166, 200, 212, 219, 794};
    static const char *const tolerances[] = {"1e-4", "1e-6", "1e-9"};
    for (int i = 0; i < LWI_COUNT(seeds); i++)
        for (int k = 0; k < LWI_COUNT(tolerances); k++) check_count(seeds[i], tolerances[k]);
}

// A position is counted where another one has just been passed, or it lies next to the begin or the end of a step, or steps were repeated
// before; a run that ends between two positions of one step has passed the first.  Seeds of sets that passed more or fewer.
static void positions_of_random_sets_are_counted(void **state)
{
    (void)state;
    static const int seeds[] = {27, 39, 100, 145, 156, 201, 268, 319, 487, 740, 774, 1403, 1477};
    const double end = 1.2;
    for (int i = 0; i < LWI_COUNT(seeds); i++) {
        long expected;
        lw_model *model = lwt_random_parallelograms(seeds[i], false, end, &expected);
        lw_sim *sim = lwt_crossing(model, "rcr", "1e-9", "1");
        lwt_ok(lw_sim_step(sim, end), lw_sim_error(sim));
        check_counted(sim, seeds[i], "1e-9", expected);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// At a position that is found exactly the pivot is round-off, and not kept: it is that of a state next to it.
static void positions_found_exactly_are_counted(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca", "hdca"};
    lw_model *model = lwt_structure("loops_on_a_body");
    for (int i = 0; i < LWI_COUNT(formulations); i++) {
        lw_sim *sim = lwt_crossing(model, formulations[i], "1e-8", "1");
        lwt_ok(lw_sim_step(sim, 1.2), lw_sim_error(sim));
        assert_int_equal(sim->crossing.count, 3);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// An impulse in front of the position returns the cranks, which do not come to it; behind it they pass it again.
static void positions_behind_an_impulse_are_not_counted(void **state)
{
    (void)state;
    static const double before[] = {0.02, 1e-3, 1e-5, -1e-5, -1e-3, -0.02};
    // of the cranks' speed, of three rods of 1 kg
    const lw_impulse_desc returns = {.on_joint = true,
                                     .effort = 2 * LWT_PASSING_SPEED * 5.0 / 3 * 0.6 * 0.6};
    const double passes[] = {LWT_FIRST_PASSES};
    for (int i = 0; i < LWI_COUNT(before); i++) {
        lw_model *model = lwt_passing(1, passes);
        lw_sim *sim = lwt_crossing(model, "rcr", "1e-9", "1");
        const lw_impact *impact;
        lwt_ok(lw_sim_step(sim, LWT_FIRST_PASSES - before[i]), lw_sim_error(sim));
        lwt_ok(lw_sim_apply_impulse(sim, 1, &returns, &impact), lw_sim_error(sim));
        lwt_ok(lw_sim_step(sim, 0.45), lw_sim_error(sim));
        if (sim->crossing.count != (before[i] > 0 ? 0 : 2))
            fail_msg("%g s before: %ld passed", before[i], sim->crossing.count);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// The search for the time of an event repeats steps across.
static void positions_next_to_an_event_are_counted_once(void **state)
{
    (void)state;
    static const double before[] = {0.02, 1e-3, -1e-3, -0.02};
    for (int i = 0; i < LWI_COUNT(before); i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  a: {mass: 1, inertia: [0.03, 0, 0.03, 0, 0, 0], position: [0, 0.3, 0]}\n"
                 "  b: {mass: 1, inertia: [0, 0.08, 0.08, 0, 0, 0], position: [0.5, 0.6, 0]}\n"
                 "  c: {mass: 1, inertia: [0.03, 0, 0.03, 0, 0, 0], position: [1, 0.3, 0]}\n"
                 "joints:\n"
                 "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], "
                 "qd: [-5]}\n"
                 "  B: {type: revolute, between: [a, b], at: [0, 0.6, 0], axis: [0, 0, 1]}\n"
                 "  C: {type: revolute, between: [b, c], at: [1, 0.6, 0], axis: [0, 0, 1]}\n"
                 "  D: {type: revolute, between: [ground, c], at: [1, 0, 0], axis: [0, 0, 1]}\n"
                 "events:\n"
                 "  e: {when: A.q0 + %.17g, record: true}\n",
                 0.5 * acos(-1) - LWT_PASSING_SPEED * before[i]);
        lw_model *model = lwt_yaml(text);
        lw_sim *sim = lwt_crossing(model, "rcr", "1e-9", "1");
        lwt_ok(lw_sim_step(sim, 0.45), lw_sim_error(sim));
        assert_int_equal(sim->crossing.count, 1);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A run that ends in front of the position, within the window, does not stop; one that comes to it does.
static void a_run_stops_at_positions_that_it_reaches(void **state)
{
    (void)state;
    const double passes[] = {LWT_FIRST_PASSES, LWT_FIRST_PASSES + 0.012};
    lw_model *model = lwt_passing(2, passes);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "rtol", "1e-9", "atol",
                                                   "1e-9", "singular", "stop"));
    lwt_ok(lw_sim_step(sim, LWT_FIRST_PASSES - 0.03), lw_sim_error(sim));
    for (int k = 3; k > 0; k--) {
        lwt_ok(lw_sim_step(sim, LWT_FIRST_PASSES - k * 1e-3), lw_sim_error(sim));
        assert_true(lwt_passing_error(sim, 2, passes) < 1e-7);
    }
    assert_int_equal(lw_sim_step(sim, LWT_FIRST_PASSES + 1e-3), LW_ERR_SINGULAR);
    assert_true(lw_sim_time(sim) < LWT_FIRST_PASSES);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A weight takes the cranks to an angle next to the position, and back: nothing is passed.  Over it and back: two are.
static void a_mechanism_that_reverses_has_not_passed(void **state)
{
    (void)state;
    static const double highest[] = {5e-3,  2e-3,  5e-4,  1e-4, -1e-4, -5e-4,
                                     -0.03, -0.05, -0.07, -0.1, -0.15, -0.2};
    const double crank = 0.6, g = 9.81, begin = 1;
    for (int i = 0; i < LWI_COUNT(highest); i++) {
        lw_builder *b = lwt_builder();
        lw_builder_gravity(b, (lw_vec3){0, g, 0});
        // 5/6 m a^2 speed^2 = 2 m g a (sin begin - sin highest), of three rods
        const double speed = sqrt(2.4 * g / crank * (sin(begin) - sin(highest[i])));
        lwt_add_parallelogram(b, 0, lwt_ground, begin, -speed, crank, 1);
        lw_model *model = lwt_model(b);
        lw_sim *sim = lwt_crossing(model, "rcr", "1e-10", "1");
        const lw_observation *o;
        double smallest = begin;
        for (int k = 1; k <= 100; k++) {
            lwt_ok(lw_sim_step(sim, 0.01 * k), lw_sim_error(sim));
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
            smallest = fmin(smallest, 2 * atan2(o->quaternion[1][3], o->quaternion[1][0]));
            assert_true(fabs(o->quaternion[2][3]) < 1e-7);
        }
        assert_true(fabs(smallest - highest[i]) < 1e-3); // between rows
        if (sim->crossing.count != (highest[i] < 0 ? 2 : 0))
            fail_msg("up to %g rad: %ld passed", highest[i], sim->crossing.count);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Bricard's linkage, which only its symmetry lets move: angles t and u of its hinges in turn have, twisted by a,
//     cos^2 a + sin^2 a (cos t + cos u) + (1 + cos^2 a) cos t cos u - 2 cos a sin t sin u = 0
static void overconstrained_loops_keep_their_motion(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca", "hdca", "dense", "lagrange"};
    const double t0 = 0.7, u0 = 3.8827278401201095, c = 0.5,
                 s2 = 0.75; // of the file; a = 60 degrees
    lw_model *model = lwt_structure("bricard");
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lw_sim *sim = lwt_crossing(model, formulations[f], "1e-9", "1");
        const double energy = lwt_energy(sim);
        double off = 0, wrong = 0;
        for (int i = 1; i <= 100; i++) {
            const lw_observation *o;
            lwt_ok(lw_sim_step(sim, 0.02 * i), lw_sim_error(sim));
            wrong = fmax(wrong, fabs(lwt_energy(sim) - energy));
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), lw_sim_error(sim));
            const double t = t0 + o->q[0], u = u0 + o->q[1];
            off = fmax(off, fabs(c * c + s2 * (cos(t) + cos(u)) + (1 + c * c) * cos(t) * cos(u) -
                                 2 * c * sin(t) * sin(u)));
            for (int k = 2; k < 6; k++) off = fmax(off, fabs(o->q[k] - o->q[k - 2]));
        }
        if (sim->crossing.count != 2 || !(off < 1e-7 && wrong < 1e-5)) // of 73 J
            fail_msg("%s: %ld positions, off by %.1e, energies differ by %.1e J", formulations[f],
                     sim->crossing.count, off, wrong);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overconstrained_loops_keep_their_motion),
        cmocka_unit_test(positions_behind_the_end_are_not_reported),
        cmocka_unit_test(a_fast_loop_passes_within_the_step_of_a_slow_one),
        cmocka_unit_test(counts_do_not_depend_on_steps),
        cmocka_unit_test(positions_of_random_sets_are_counted),
        cmocka_unit_test(positions_found_exactly_are_counted),
        cmocka_unit_test(positions_behind_an_impulse_are_not_counted),
        cmocka_unit_test(positions_next_to_an_event_are_counted_once),
        cmocka_unit_test(a_run_stops_at_positions_that_it_reaches),
        cmocka_unit_test(a_mechanism_that_reverses_has_not_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
