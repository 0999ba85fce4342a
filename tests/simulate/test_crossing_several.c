// test_crossing_several.c -- loops that share no joint pass singular positions one soon after the other.
//
// Without gravity the cranks of a parallelogram rotate at a constant speed, and all of its rods are in a line where they lie on
// the ground's.  Each loop has to pass there as if it were alone.
#include "simulate/independent_loops.h"
#include "support/parallelograms.h"

// Angles may be off by so many tolerances at the end.
#define TOLERANCES 100

static void check_passages(int n, const double *passes, const char *formulation,
                           const char *tolerance)
{
    lw_model *model = lwt_passing(n, passes);
    lw_sim *sim = lwt_crossing(model, formulation, tolerance, "1");
    lwt_ok(lw_sim_step(sim, 0.45), lw_sim_error(sim));
    const double wrong = lwt_passing_error(sim, n, passes);
    if (getenv("LW_SHOW"))
        printf("%s %s %g %g: %.1e, %ld passed, estimate %.1e\n", formulation, tolerance,
               passes[1] - passes[0], passes[n - 1] - passes[0], wrong, sim->crossing.count,
               sim->crossing.estimate);
    const double limit = fmax(1e-9, TOLERANCES * strtod(tolerance, NULL));
    if (!(wrong < limit) || sim->crossing.count != n || sim->monitor.times)
        fail_msg("%s %s, positions %g and %g s after the first: %ld of %d passed, %ld times close "
                 "to one, angles off by %.2e",
                 formulation, tolerance, passes[1] - passes[0], passes[n - 1] - passes[0],
                 sim->crossing.count, n, sim->monitor.times, wrong);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static const double apart[] = {0, 1e-6, 1e-3, 4e-3, 8e-3, 0.012, 0.016, 0.02, 0.03, 0.045};

static void two_loops_pass_as_each_alone(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca"};
    for (int i = 0; i < LWI_COUNT(apart); i++)
        for (int f = 0; f < 2; f++) {
            const double passes[] = {LWT_FIRST_PASSES, LWT_FIRST_PASSES + apart[i]};
            check_passages(2, passes, formulations[f], "1e-12");
            check_passages(2, passes, formulations[f], "1e-9");
        }
}

static void three_loops_pass_as_each_alone(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(apart); i++)
        for (int k = 1; k < LWI_COUNT(apart); k += 2) {
            const double passes[] = {LWT_FIRST_PASSES, LWT_FIRST_PASSES + apart[i],
                                     LWT_FIRST_PASSES + apart[i] + apart[k]};
            check_passages(3, passes, "rcr", "1e-12");
        }
}

// A position so close ahead that no node of a step as long as its window keeps away from it: nearer than some thousandths of a
// radian the step away from the start passes it, farther away a longer step, with the error that it reports, or that of speeds
// so near to it.
static void positions_next_to_the_start_are_passed(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca"};
    static const double first[] = {3e-4,   2.1e-4, 2.6e-4, 3.7e-4, 5e-4, 8e-4,
                                   1.2e-3, 1.6e-3, 2.2e-3, 3e-3,   4e-3, 6e-3};
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < LWI_COUNT(first); i++) {
            const double passes[] = {first[i], 0.3};
            lw_model *model = lwt_passing(2, passes);
            lw_sim *sim = lwt_crossing(model, formulations[f], "1e-12", "1");
            lwt_ok(lw_sim_step(sim, 0.45), lw_sim_error(sim));
            const double estimate = sim->crossing.estimate,
                         wrong = lwt_passing_error(sim, 2, passes);
            if (sim->crossing.count != 2 ||
                !(estimate < 1e-6 && wrong < fmax(i ? 1e-8 : 1e-10, estimate)))
                fail_msg("%s, position at %g s: %ld of 2 passed, off by %.1e, estimate %.1e",
                         formulations[f], first[i], sim->crossing.count, wrong, estimate);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// A position that one loop passes slowly, while another one moves fast: within the motion of a step across, sines change
// little.
static void slow_loops_pass_beside_a_fast_one(void **state)
{
    (void)state;
    long expected;
    lw_model *model = lwt_random_parallelograms(24, true, 0.6, &expected);
    lw_sim *sim = lwt_crossing(model, "rcr", "1e-12", "1");
    lwt_ok(lw_sim_step(sim, 0.6), lw_sim_error(sim));
    assert_int_equal(sim->crossing.count, expected);
    assert_true(sim->crossing.estimate < 1e-6);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// On a beam that rotates, loops move it and each other.  One is so near to its position and so slow that a motion along constant
// rates takes it there by its error, and shows neither where its position is nor how large sines become.
static void slow_loops_pass_on_a_moving_base(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca"};
    static const struct {
        double turn, mass;   // of the beam
        double angle, speed; // of the first loop
        double before, slow; // of the second one: angle to its position, speed
        int passed;
    } cases[] = {{0.84, 1, 3.238, 0.84, 7.7e-4, 0.017, 3},
                 {0.44, 3, 3.216, 0.44, 4e-4, 0.013, 3},
                 {0.85, 1, 3.126, 0.69, 6.9e-4, 0.0069, 4},
                 {-0.29, 3, 3.039, 0.94, 7.7e-4, 0.007, 4},
                 // exactly where the second one passes the first one's pivots may seem small
                 {0.63, 1, 3.163, 0.95, 3.4e-5, 0.0068, 3}};
    for (int i = 0; i < LWI_COUNT(cases); i++)
        for (int f = 0; f < 2; f++) {
            lw_builder *b = lwt_builder();
            lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
            const lw_body beam = lwt_rod(b, "beam", -1, 0, 6, 0, cases[i].mass);
            lwt_revolute(b, "pivot", lwt_ground, beam, 0, 1, cases[i].turn);
            lwt_add_parallelogram(b, 0, beam, cases[i].angle, cases[i].speed, 0.6, 1.1);
            lwt_add_parallelogram(b, 1, beam, acos(-1) - cases[i].before, cases[i].slow, 0.5, 0.8);
            lw_model *model = lwt_model(b);
            lw_sim *sim = lwt_crossing(model, formulations[f], "1e-10", "1");
            const double energy = lwt_energy(sim);
            lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
            const double wrong = fabs(lwt_energy(sim) - energy);
            if (sim->crossing.count != cases[i].passed || sim->monitor.times || !(wrong < 1e-6))
                fail_msg(
                    "case %d, %s: %ld of %d positions passed, %ld times close to one, energies "
                    "differ by %.1e J",
                    i, formulations[f], sim->crossing.count, cases[i].passed, sim->monitor.times,
                    wrong);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// Parallelograms in a plane with a weight; of the seeds below a loop reverses in front of its position, next to which another one
// passes its own.
static lw_model *loaded_set(int seed)
{
    uint64_t random = (uint64_t)seed;
    long positions;
    const int n = 2 + lwt_random_below(&random, 3);
    lw_builder *b = lwt_builder();
    const double gx = lwt_random(&random, -10, 10), gy = lwt_random(&random, -10, 10);
    lw_builder_gravity(b, (lw_vec3){gx, gy, 0});
    return lwt_add_random_parallelograms(&random, b, n, 0, 1, 7, 0, &positions);
}

static void loops_that_reverse_are_no_obstacles(void **state)
{
    (void)state;
    static const struct {
        int seed;
        const char *formulation;
    } cases[] = {{10, "rcr"}, {33, "rcr"}, {33, "dca"}, {64, "dca"}, {96, "dca"}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = loaded_set(cases[i].seed);
        lw_sim *sim = lwt_crossing(model, cases[i].formulation, "1e-12", "1");
        const double energy = lwt_energy(sim);
        lwt_ok(lw_sim_step(sim, 1.5), lw_sim_error(sim));
        const double wrong = fabs(lwt_energy(sim) - energy);
        if (!(wrong < 1e-6)) // of 10 to 70 J
            fail_msg("seed %d, %s: energies differ by %.1e J", cases[i].seed, cases[i].formulation,
                     wrong);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// The margin of rcr does not depend on the order of the columns of a loop: next to one of the positions the pivots of one order
// are large.
static void margins_see_all_positions(void **state)
{
    (void)state;
    lw_model *model = lwt_structure("short_lever");
    lw_sim *sim = lwt_crossing(model, "rcr", "1e-10", "1");
    for (int k = 1; k <= 200; k++) lwt_ok(lw_sim_step(sim, 0.01 * k), lw_sim_error(sim));
    assert_int_equal(sim->crossing.count, 5);
    assert_int_equal(sim->monitor.times, 0);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The same bits on any number of threads.
static void passages_do_not_depend_on_threads(void **state)
{
    (void)state;
    const double passes[] = {LWT_FIRST_PASSES, LWT_FIRST_PASSES + 0.012, LWT_FIRST_PASSES + 0.02};
    lw_model *model = lwt_passing(3, passes);
    double kept[2][64];
    for (int i = 0; i < 2; i++) {
        lw_sim *sim = lwt_crossing(model, "dca", "1e-12", i ? "3" : "1");
        lwt_ok(lw_sim_step(sim, 0.45), lw_sim_error(sim));
        assert_int_equal(sim->crossing.count, 3);
        assert_true(sim->work->layout.nx <= 64);
        memset(kept[i], 0, sizeof kept[i]);
        memcpy(kept[i], sim->x, (size_t)sim->work->layout.nx * sizeof *sim->x);
        lw_sim_destroy(sim);
    }
    assert_memory_equal(kept[0], kept[1], sizeof kept[0]);
    lw_model_destroy(model);
}

// Chains of loops that share a rod are one group; others, also on the same body, are not.
static void loops_that_share_joints_are_a_group(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    int group[64], count;
    const lw_body car = lwt_rod(b, "car", -1, -1, 9, -1, 5);
    lwt_revolute(b, "axle", lwt_ground, car, 0, -1, 0);
    lwt_add_passing(b, 0, car, LWT_FIRST_PASSES);
    lwt_add_passing(b, 1, car, LWT_FIRST_PASSES);
    lwt_add_passing(b, 2, lwt_ground, LWT_FIRST_PASSES);
    // a second coupler of loop 2, and a tail without a loop
    const double angle = LWT_PASSING_SPEED * LWT_FIRST_PASSES, x = 6 + 0.3 * cos(angle),
                 y = 0.3 * sin(angle);
    const lw_body more = lwt_rod(b, "more", x, y, x + 1.2, y, 1),
                  tail = lwt_rod(b, "tail", x, y, x, y - 1, 1);
    lwt_revolute(b, "E", (lw_body){8}, more, x, y, 0);
    lwt_revolute(b, "F", more, (lw_body){10}, x + 1.2, y, 0);
    lwt_revolute(b, "G", more, tail, x, y, 0);
    lw_model *model = lwt_model(b);
    assert_int_equal(model->njoint, 1 + 12 + 3);
    assert_int_equal(lwi_independent_loops(model, NULL, group, &count), LW_OK);
    assert_int_equal(count, 3);
    for (int k = 0; k < 3; k++)
        for (int i = 1; i < 4; i++) assert_int_equal(group[1 + 4 * k + i], group[1 + 4 * k]);
    assert_int_equal(group[0], -1);
    assert_true(group[1] >= 0 && group[5] >= 0 && group[9] >= 0);
    assert_true(group[1] != group[5] && group[5] != group[9] && group[1] != group[9]);
    assert_int_equal(group[13], group[9]);
    assert_int_equal(group[14], group[9]);
    assert_int_equal(group[15], -1);
    lw_model_destroy(model);
}

// A gear between two loops makes them one group.
static void couplings_join_loops(void **state)
{
    (void)state;
    int group[64], count;
    lw_builder *b = lwt_builder();
    lwt_add_passing(b, 0, lwt_ground, LWT_FIRST_PASSES);
    lwt_add_passing(b, 1, lwt_ground, LWT_FIRST_PASSES);
    const double ratio[] = {0, 1};
    lwt_coupling(
        b, &(lw_coupling_desc){.joint = {4}, .of = {0}, .polynomial = ratio, .npolynomial = 2});
    lw_model *model = lwt_model(b);
    assert_int_equal(lwi_independent_loops(model, NULL, group, &count), LW_OK);
    assert_int_equal(count, 1);
    for (int i = 0; i < 9; i++) assert_int_equal(group[i], 0);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_loops_pass_as_each_alone),
        cmocka_unit_test(three_loops_pass_as_each_alone),
        cmocka_unit_test(positions_next_to_the_start_are_passed),
        cmocka_unit_test(slow_loops_pass_beside_a_fast_one),
        cmocka_unit_test(slow_loops_pass_on_a_moving_base),
        cmocka_unit_test(loops_that_reverse_are_no_obstacles),
        cmocka_unit_test(margins_see_all_positions),
        cmocka_unit_test(passages_do_not_depend_on_threads),
        cmocka_unit_test(loops_that_share_joints_are_a_group),
        cmocka_unit_test(couplings_join_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
