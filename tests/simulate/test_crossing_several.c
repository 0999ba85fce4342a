// test_crossing_several.c -- loops that share no joint pass singular positions one soon after the other.
//
// Without gravity the cranks of a parallelogram rotate at a constant speed, and all of its rods are in a line where they lie on
// the ground's.  Each loop has to pass there as if it were alone.
#include "simulate/independent_loops.h"
#include "simulate/simulation.h"
#include "support/given.h"
#include "support/mechanism.h"
#include "support/random_model.h"

#include <float.h>

#define SPEED 5.0
// Angles may be off by so many tolerances at the end.
#define TOLERANCES 100
#define FIRST 0.24 // time of the first position [s]

static void add_hinge(lw_builder *b, const char *name, lw_body body1, lw_body body2, double x,
                      double y, double speed)
{
    lwt_add(b, &(lw_joint_desc){.name = name,
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = body1,
                                .body2 = body2,
                                .at = {x, y, 0},
                                .axis = {0, 0, 1},
                                .has_qd = speed != 0,
                                .qd = {speed}});
}

// A rod of 1 kg without inertia about its axis.
static lw_body thin_rod(lw_builder *b, const char *name, double x1, double y1, double x2, double y2,
                        double mass)
{
    const double l2 = (x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1);
    const double half = 0.5 * atan2(y2 - y1, x2 - x1);
    return lwt_body(b, &(lw_body_desc){.name = name,
                                       .mass = mass,
                                       .inertia = {0, mass * l2 / 12, mass * l2 / 12, 0, 0, 0},
                                       .pose = {.position = {(x1 + x2) / 2, (y1 + y2) / 2, 0},
                                                .orientation = {cos(half), 0, 0, sin(half)}}});
}

typedef lw_body make_rod(lw_builder *b, const char *name, double x1, double y1, double x2,
                         double y2, double mass);

// A parallelogram on `base`.
static void add_rods_of(lw_builder *b, make_rod *make, int k, lw_body base, double angle,
                        double speed, double crank, double ground)
{
    const double x0 = 3 * k, x = x0 + crank * cos(angle), y = crank * sin(angle);
    char name[7][64];
    static const char *const part[] = {"crank", "coupler", "rocker", "A", "B", "C", "D"};
    for (int i = 0; i < 7; i++) snprintf(name[i], sizeof name[i], "%s%d", part[i], k);
    const lw_body rod[] = {make(b, name[0], x0, 0, x, y, 1),
                           make(b, name[1], x, y, x + ground, y, 1),
                           make(b, name[2], x0 + ground, 0, x + ground, y, 1)};
    add_hinge(b, name[3], base, rod[0], x0, 0, speed);
    add_hinge(b, name[4], rod[0], rod[1], x, y, 0);
    add_hinge(b, name[5], rod[1], rod[2], x + ground, y, 0);
    add_hinge(b, name[6], base, rod[2], x0 + ground, 0, 0);
}

static void add_rods(lw_builder *b, int k, lw_body base, double angle, double speed, double crank,
                     double ground)
{
    add_rods_of(b, lwt_rod, k, base, angle, speed, crank, ground);
}

// The same with its rods in a line at the time `passes`.
static void add_parallelogram(lw_builder *b, int k, lw_body base, double passes)
{
    add_rods(b, k, base, SPEED * passes, -SPEED, 0.6, 1 + 0.1 * k);
}

static lw_model *parallelograms(int n, const double *passes)
{
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    for (int k = 0; k < n; k++) add_parallelogram(b, k, lwt_ground, passes[k]);
    return lwt_model(b);
}

static lw_sim *simulation(const lw_model *model, const char *formulation, const char *tolerance,
                          const char *threads)
{
    const char *integrator = strtod(tolerance, NULL) < 1e-9 ? "verner87" : "dopri5";
    return lwt_simulate(model, LWT_SETTINGS("formulation", formulation, "integrator", integrator,
                                            "rtol", tolerance, "atol", tolerance, "threads",
                                            threads, "max_steps", "3000"));
}

// Largest error of a rod's angle.
static double error_of(lw_sim *sim, int n, const double *passes)
{
    const lw_observation *o;
    double largest = 0;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) {
            const double *quat = o->quaternion[1 + 3 * k + i];
            const double angle = i == 1 ? 0 : SPEED * (passes[k] - lw_sim_time(sim));
            const double off = remainder(2 * atan2(quat[3], quat[0]) - angle, 2 * acos(-1));
            largest = fmax(largest, fabs(off));
        }
    return largest;
}

static void check_passages(int n, const double *passes, const char *formulation,
                           const char *tolerance)
{
    lw_model *model = parallelograms(n, passes);
    lw_sim *sim = simulation(model, formulation, tolerance, "1");
    lwt_ok(lw_sim_step(sim, 0.45), lw_sim_error(sim));
    const double wrong = error_of(sim, n, passes);
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
            const double passes[] = {FIRST, FIRST + apart[i]};
            check_passages(2, passes, formulations[f], "1e-12");
            check_passages(2, passes, formulations[f], "1e-9");
        }
}

static void three_loops_pass_as_each_alone(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(apart); i++)
        for (int k = 1; k < LWI_COUNT(apart); k += 2) {
            const double passes[] = {FIRST, FIRST + apart[i], FIRST + apart[i] + apart[k]};
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
            lw_model *model = parallelograms(2, passes);
            lw_sim *sim = simulation(model, formulations[f], "1e-12", "1");
            lwt_ok(lw_sim_step(sim, 0.45), lw_sim_error(sim));
            const double estimate = sim->crossing.estimate, wrong = error_of(sim, 2, passes);
            if (sim->crossing.count != 2 ||
                !(estimate < 1e-6 && wrong < fmax(i ? 1e-8 : 1e-10, estimate)))
                fail_msg("%s, position at %g s: %ld of 2 passed, off by %.1e, estimate %.1e",
                         formulations[f], first[i], sim->crossing.count, wrong, estimate);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// A run that ends within a step across has not passed what is ahead.
static void positions_behind_the_end_are_not_reported(void **state)
{
    (void)state;
    const double passes[] = {FIRST, 0.6}, end[] = {FIRST - 0.01, FIRST + 0.01};
    for (int i = 0; i < 2; i++) {
        lw_model *model = parallelograms(2, passes);
        lw_sim *sim = simulation(model, "rcr", "1e-9", "1");
        char text[512];
        lwt_ok(lw_sim_step(sim, FIRST - 0.02), lw_sim_error(sim)); // in the window
        lwt_ok(lw_sim_step(sim, end[i]), lw_sim_error(sim));
        assert_int_equal(sim->crossing.count, 1);
        lwi_crossing_message(sim, text, sizeof text);
        assert_int_equal(strstr(text, "passed 1 singular position ") != NULL, i == 1);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// n parallelograms of random lengths, angles and directions, and how many positions they come to without gravity; those from the
// second on have speeds between slowest and fastest.
static lw_model *random_loops(uint64_t *random, lw_builder *b, int n, double first, double slowest,
                              double fastest, double end, long *expected)
{
    const double pi = acos(-1);
    *expected = 0;
    for (int k = 0; k < n; k++) {
        double angle = lwt_random(random, 0.3, 2.8);
        double speed = first > 0 && k == 0 ? first : lwt_random(random, slowest, fastest);
        if (!lwt_random_below(random, 2)) speed = -speed;
        const double crank = lwt_random(random, 0.3, 0.8);
        const double ground = lwt_random(random, 0.9, 1.3);
        if (lwt_random_below(random, 2)) angle = -angle;
        *expected += labs(lrint(floor((angle + speed * end) / pi) - floor(angle / pi)));
        add_rods(b, k, lwt_ground, angle, speed, crank, ground);
    }
    return lwt_model(b);
}

// Up to five, and how many positions they come to; `slow`: the first one is fast, the others are slow.
static lw_model *random_set(int seed, bool slow, double end, long *expected)
{
    uint64_t random = (uint64_t)seed;
    const int n = 1 + lwt_random_below(&random, 5);
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    return random_loops(&random, b, n, slow ? 30 : 0, slow ? 0.3 : 3, slow ? 1.5 : 7, end,
                        expected);
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

// A position that one loop passes slowly, while another one moves fast: within the motion of a step across, sines change
// little.
static void slow_loops_pass_beside_a_fast_one(void **state)
{
    (void)state;
    long expected;
    lw_model *model = random_set(24, true, 0.6, &expected);
    lw_sim *sim = simulation(model, "rcr", "1e-12", "1");
    lwt_ok(lw_sim_step(sim, 0.6), lw_sim_error(sim));
    assert_int_equal(sim->crossing.count, expected);
    assert_true(sim->crossing.estimate < 1e-6);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void check_count(int seed, const char *tolerance)
{
    long expected;
    lw_model *model = random_set(seed, true, 1.2, &expected);
    lw_sim *sim = simulation(model, "rcr", tolerance, "1");
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
    return random_loops(&random, b, n, 0, 1, 7, 0, &positions);
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
        lw_sim *sim = simulation(model, cases[i].formulation, "1e-12", "1");
        const lw_observation *o;
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        const double energy = o->kinetic + o->potential;
        lwt_ok(lw_sim_step(sim, 1.5), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        const double wrong = fabs(o->kinetic + o->potential - energy);
        if (!(wrong < 1e-6)) // of 10 to 70 J
            fail_msg("seed %d, %s: energies differ by %.1e J", cases[i].seed, cases[i].formulation,
                     wrong);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
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
        lw_model *model = random_set(seeds[i], false, end, &expected);
        lw_sim *sim = simulation(model, "rcr", "1e-9", "1");
        lwt_ok(lw_sim_step(sim, end), lw_sim_error(sim));
        check_counted(sim, seeds[i], "1e-9", expected);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

static lw_model *structure(const char *name)
{
    char path[512];
    lw_model *model;
    lw_error error;
    snprintf(path, sizeof path, "%s/tests/models/structure/%s.yaml", LW_SOURCE_DIR, name);
    if (lw_model_read(path, NULL, &model, NULL, &error) != LW_OK) fail_msg("%s", error.text);
    return model;
}

// At a position that is found exactly the pivot is round-off, and not kept: it is that of a state next to it.
static void positions_found_exactly_are_counted(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca", "hdca"};
    lw_model *model = structure("loops_on_a_body");
    for (int i = 0; i < LWI_COUNT(formulations); i++) {
        lw_sim *sim = simulation(model, formulations[i], "1e-8", "1");
        lwt_ok(lw_sim_step(sim, 1.2), lw_sim_error(sim));
        assert_int_equal(sim->crossing.count, 3);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The margin of rcr does not depend on the order of the columns of a loop: next to one of the positions the pivots of one order
// are large.
static void margins_see_all_positions(void **state)
{
    (void)state;
    lw_model *model = structure("short_lever");
    lw_sim *sim = simulation(model, "rcr", "1e-10", "1");
    for (int k = 1; k <= 200; k++) lwt_ok(lw_sim_step(sim, 0.01 * k), lw_sim_error(sim));
    assert_int_equal(sim->crossing.count, 5);
    assert_int_equal(sim->monitor.times, 0);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// An impulse in front of the position returns the cranks, which do not come to it; behind it they pass it again.
static void positions_behind_an_impulse_are_not_counted(void **state)
{
    (void)state;
    static const double before[] = {0.02, 1e-3, 1e-5, -1e-5, -1e-3, -0.02};
    // of the cranks' speed, of three rods of 1 kg
    const lw_impulse_desc returns = {.on_joint = true, .effort = 2 * SPEED * 5.0 / 3 * 0.6 * 0.6};
    const double passes[] = {FIRST};
    for (int i = 0; i < LWI_COUNT(before); i++) {
        lw_model *model = parallelograms(1, passes);
        lw_sim *sim = simulation(model, "rcr", "1e-9", "1");
        const lw_impact *impact;
        lwt_ok(lw_sim_step(sim, FIRST - before[i]), lw_sim_error(sim));
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
                 0.5 * acos(-1) - SPEED * before[i]);
        lw_model *model = lwt_yaml(text);
        lw_sim *sim = simulation(model, "rcr", "1e-9", "1");
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
    const double passes[] = {FIRST, FIRST + 0.012};
    lw_model *model = parallelograms(2, passes);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "rtol", "1e-9", "atol",
                                                   "1e-9", "singular", "stop"));
    lwt_ok(lw_sim_step(sim, FIRST - 0.03), lw_sim_error(sim));
    for (int k = 3; k > 0; k--) {
        lwt_ok(lw_sim_step(sim, FIRST - k * 1e-3), lw_sim_error(sim));
        assert_true(error_of(sim, 2, passes) < 1e-7);
    }
    assert_int_equal(lw_sim_step(sim, FIRST + 1e-3), LW_ERR_SINGULAR);
    assert_true(lw_sim_time(sim) < FIRST);
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
        add_rods(b, 0, lwt_ground, begin, -speed, crank, 1);
        lw_model *model = lwt_model(b);
        lw_sim *sim = simulation(model, "rcr", "1e-10", "1");
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

// The crank's angle of a parallelogram with a weight after a time, by Runge and Kutta's method, and how many positions it has
// passed:  5/3 a angle'' = -2 g cos(angle), of three rods.
static double angle_of_pendulum(double angle, double crank, double time, long *passed)
{
    enum { STEPS = 20000 };
    const double h = time / STEPS, k = -1.2 * 9.81 / crank, pi = acos(-1);
    double speed = 0;
    *passed = 0;
    for (int i = 0; i < STEPS; i++) {
        const double v1 = speed, a1 = k * cos(angle);
        const double v2 = speed + h / 2 * a1, a2 = k * cos(angle + h / 2 * v1);
        const double v3 = speed + h / 2 * a2, a3 = k * cos(angle + h / 2 * v2);
        const double v4 = speed + h * a3, a4 = k * cos(angle + h * v3);
        const double before = floor(angle / pi);
        angle += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
        speed += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        *passed += before != floor(angle / pi);
    }
    return angle;
}

// From rest, next to the position: it falls over it, or away from it.  The largest sine of the run is not known there, and the
// time to the position follows from accelerations.
static void a_mechanism_starts_from_rest_next_to_a_position(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "lagrange", "dca", "hdca"};
    static const char *const tolerances[] = {"1e-6", "1e-9"};
    static const double begin[] = {0.05, 0.01, 5e-3, 2e-3,  1e-3,  5e-4,
                                   2e-4, 1e-4, 1e-5, -1e-5, -1e-3, -0.01};
    const double crank = 0.6, end = 1;
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < LWI_COUNT(begin); i++) {
                long expected;
                const double exact = angle_of_pendulum(begin[i], crank, end, &expected);
                lw_builder *b = lwt_builder();
                lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
                add_rods(b, 0, lwt_ground, begin[i], 0, crank, 1);
                lw_model *model = lwt_model(b);
                lw_sim *sim = simulation(model, formulations[f], tolerances[k], "1");
                const lw_observation *o;
                lwt_ok(lw_sim_step(sim, end), lw_sim_error(sim));
                lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
                const double *quat = o->quaternion[1];
                const double off = remainder(2 * atan2(quat[3], quat[0]) - exact, 2 * acos(-1));
                if (!(fabs(off) < 3e-5 && fabs(o->quaternion[2][3]) < 1e-7) ||
                    sim->crossing.count != expected)
                    fail_msg("%s %s, from %g rad: off by %.1e, the coupler by %.1e rad, %ld of %ld "
                             "passed",
                             formulations[f], tolerances[k], begin[i], off, 2 * o->quaternion[2][3],
                             sim->crossing.count, expected);
                lw_sim_destroy(sim);
                lw_model_destroy(model);
            }
}

// Loops at rest next to a position: each falls over it or away from it as if it were alone, and is counted where it
// was not at the position, nearer than 1e-6 rad.
static void check_falling(int n, const double *begin, make_rod *rod, const char *formulation,
                          const char *tolerance)
{
    const double end = 0.6; // before they come to rest on the other side
    double exact[4];
    long expected = 0;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
    for (int k = 0; k < n; k++) {
        long passed;
        const double crank = 0.6 - 0.07 * k;
        exact[k] = angle_of_pendulum(begin[k], crank, end, &passed);
        expected += passed - (begin[k] > 0 && begin[k] < 1e-6);
        add_rods_of(b, rod, k, lwt_ground, begin[k], 0, crank, 1);
    }
    lw_model *model = lwt_model(b);
    lw_sim *sim = simulation(model, formulation, tolerance, "1");
    const lw_observation *o;
    if (lw_sim_step(sim, end) != LW_OK)
        fail_msg("%s %s, from %g, %g, ...: %s", formulation, tolerance, begin[0], begin[1],
                 lw_sim_error(sim)->text);
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    double off = 0, coupler = 0;
    for (int k = 0; k < n; k++) {
        const double *quat = o->quaternion[1 + 3 * k];
        off = fmax(off, fabs(remainder(2 * atan2(quat[3], quat[0]) - exact[k], 2 * acos(-1))));
        coupler = fmax(coupler, fabs(o->quaternion[2 + 3 * k][3]));
    }
    const double drift = fmax(1e-7, 3 * strtod(tolerance, NULL));
    if (!(off < 3e-5 && coupler < drift) || sim->crossing.count != expected)
        fail_msg("%s %s, from %g, %g, ...: off by %.1e, couplers by %.1e rad, %ld of %ld passed",
                 formulation, tolerance, begin[0], begin[1], off, 2 * coupler, sim->crossing.count,
                 expected);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Positions of some lie behind the first step of others; thin rods have no inertia about their axes.
static void loops_at_rest_next_to_positions_pass_theirs(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca", "hdca", "dense"};
    static const char *const tolerances[] = {"1e-6", "1e-10"};
    static const struct {
        int n;
        double begin[4];
    } sets[] = {{2, {3e-10, 1.2e-6}},      {2, {-9e-6, -1e-5}},    {3, {5e-5, 2e-6, 3e-4}},
                {3, {8e-6, 1e-3, -9e-10}}, {3, {2e-9, 2.2, 5e-3}}, {4, {1e-6, -4e-4, 3e-8, 1.4}}};
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int i = 0; i < LWI_COUNT(sets); i++) {
            const char *tolerance = tolerances[(f + i) % 2];
            check_falling(sets[i].n, sets[i].begin, lwt_rod, formulations[f], tolerance);
            check_falling(sets[i].n, sets[i].begin, thin_rod, formulations[f], tolerance);
        }
}

// A crossed parallelogram on the ground, its crank at `angle`: the end of the coupler is that of a parallelogram, mirrored about
// the line from the end of the crank to the rocker's pivot.  On its branch tan(rocker / 2) is proportional to tan(crank / 2).
static void add_crossed_rods(lw_builder *b, double angle, double crank, double ground)
{
    const double x = crank * cos(angle), y = crank * sin(angle), dx = ground - x, dy = -y;
    const double along = 2 * ground * dx / (dx * dx + dy * dy);
    const double ex = x + along * dx - ground, ey = y + along * dy;
    const lw_body rod[] = {lwt_rod(b, "crank", 0, 0, x, y, 1),
                           lwt_rod(b, "coupler", x, y, ex, ey, 1),
                           lwt_rod(b, "rocker", ground, 0, ex, ey, 1)};
    add_hinge(b, "A", lwt_ground, rod[0], 0, 0, 0);
    add_hinge(b, "B", rod[0], rod[1], x, y, 0);
    add_hinge(b, "C", rod[1], rod[2], ex, ey, 0);
    add_hinge(b, "D", lwt_ground, rod[2], ground, 0, 0);
}

static double half_tangents(lw_sim *sim)
{
    const lw_observation *o;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    const double *crank = o->quaternion[1], *rocker = o->quaternion[3];
    return rocker[3] / rocker[0] * crank[0] / crank[3];
}

// At rest some 1e-5 rad from the position their accelerations are those of their branch, with a direction that rows
// determine which almost depend on each other.
static void crossed_parallelograms_keep_their_branch(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca", "dense"};
    static const char *const tolerances[] = {"1e-6", "1e-10"};
    static const double begin[] = {1e-4, 1e-5, 4e-6, -3e-6, -2e-5, -5e-4};
    const double crank = 0.6, ground = 1;
    const double expected = (crank + ground) / (crank - ground);
    for (int f = 0; f < 6; f++)
        for (int i = 0; i < LWI_COUNT(begin); i++) {
            lw_builder *b = lwt_builder();
            lw_builder_gravity(b, (lw_vec3){3, -9, 0});
            add_crossed_rods(b, begin[i], crank, ground);
            add_rods(b, 1, lwt_ground, 1.2, 0, 0.5, 1.1);
            lw_model *model = lwt_model(b);
            lw_sim *sim = simulation(model, formulations[f / 2], tolerances[f % 2], "1");
            assert_true(fabs(half_tangents(sim) - expected) < 1e-5);
            if (lw_sim_step(sim, 0.3) != LW_OK)
                fail_msg("%s %s, from %g rad: %s", formulations[f / 2], tolerances[f % 2], begin[i],
                         lw_sim_error(sim)->text);
            const double ratio = half_tangents(sim);
            if (!(fabs(ratio - expected) < 1e-5))
                fail_msg("%s %s, from %g rad: the ratio is %g instead of %g", formulations[f / 2],
                         tolerances[f % 2], begin[i], ratio, expected);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// Two loops on a body that slides, one of them at rest 2.3e-5 rad from its position: all of its rows hold, although they almost
// depend on each other at configurations near the start that move the other one.
static void loops_on_a_sliding_body_keep_their_rows(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca"};
    double kept[2][3];
    for (int f = 0; f < 2; f++) {
        lw_builder *b = lwt_builder();
        lw_builder_gravity(b, (lw_vec3){4.41, 2.69, 0});
        const lw_body car = lwt_rod(b, "car", -1, -1, 1, -1, 5);
        lwt_joint(b, LW_JOINT_PRISMATIC, "J", lwt_ground, car, 0, -1);
        add_rods_of(b, thin_rod, 0, car, 1.395, 0, 0.54, 0.95);
        add_rods_of(b, thin_rod, 1, car, 2.3e-5, 0, 0.5, 1.1);
        lw_model *model = lwt_model(b);
        lw_sim *sim = simulation(model, formulations[f], "1e-8", "1");
        const lw_observation *o;
        lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        assert_true(o->residual[0] < 1e-12);
        assert_true(fabs(o->quaternion[6][3]) < 1e-7);
        for (int k = 0; k < 3; k++) kept[f][k] = o->quaternion[2 + 2 * k][3];
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
    for (int k = 0; k < 3; k++) assert_true(fabs(kept[0][k] - kept[1][k]) < 1e-6);
}

// From rest it falls away from the position.  First steps of tight tolerances move it by less than round-off, which has minima
// of its sine.
static void a_mechanism_moves_away_in_small_steps(void **state)
{
    (void)state;
    const double crank = 0.6, end = 0.1;
    for (int i = 0; i < 24; i++) {
        const double begin = -5e-3 * pow(0.8, i);
        long expected;
        const double exact = angle_of_pendulum(begin, crank, end, &expected);
        lw_builder *b = lwt_builder();
        lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
        add_rods(b, 0, lwt_ground, begin, 0, crank, 1);
        lw_model *model = lwt_model(b);
        lw_sim *sim = simulation(model, "rcr", "1e-10", "1");
        const lw_observation *o;
        lwi_integrator_stats stats;
        lwt_ok(lw_sim_step(sim, end), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
        sim->integrator->type->stats(sim->integrator, &stats);
        const double off = 2 * atan2(o->quaternion[1][3], o->quaternion[1][0]) - exact;
        if (!(fabs(off) < 1e-8) || stats.steps > 100 || sim->crossing.count != 0 || expected != 0)
            fail_msg("from %g rad: off by %.1e after %ld steps, %ld of %ld passed", begin, off,
                     stats.steps, sim->crossing.count, expected);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A parallelogram in space that a fixed joint closes, 1e-3 rad in front of the position, at rest.
static void a_flat_parallelogram_falls_from_rest(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca", "lagrange", "dense"};
    lw_model *model = structure("flat_parallelogram");
    double first[3] = {0};
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lw_sim *sim = simulation(model, formulations[f], "1e-8", "1");
        const lw_observation *o;
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        const double energy = o->kinetic + o->potential;
        lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        assert_true(fabs(o->kinetic + o->potential - energy) < 1e-5); // of 20 J
        assert_int_equal(sim->crossing.count, 1);
        if (f == 0) memcpy(first, o->position[1], sizeof first);
        for (int i = 0; i < 3; i++) assert_true(fabs(o->position[1][i] - first[i]) < 1e-6);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The same of rods with a short body on the rocker that a fixed joint closes, from a few thousandths of a radian on: it passes,
// and passes again next to the reversal on the other side, where the first steps that are tried do not converge.
static void a_parallelogram_closed_by_a_fixed_joint_comes_back(void **state)
{
    (void)state;
    static const double begin[] = {1.5e-3,  2e-3,    3e-3, 3.5e-3,  4e-3, 4.44e-3, 5.02e-3,
                                   5.71e-3, 6.75e-3, 7e-3, 7.34e-3, 9e-3, 0.012,   0.02};
    for (int i = 0; i < 2 * LWI_COUNT(begin); i++) {
        const char *formulation = i < LWI_COUNT(begin) ? "hdca" : "rcr";
        const double from = begin[i % LWI_COUNT(begin)];
        const double x = cos(from), y = sin(from), end = 1.5;
        lw_builder *b = lwt_builder();
        lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
        const lw_body crank = lwt_rod(b, "crank", 0, 0, x, y, 1),
                      coupler = lwt_rod(b, "coupler", x, y, x + 1.5, y, 1),
                      rocker = lwt_rod(b, "rocker", 1.5, 0, x + 1.5, y, 1),
                      half = lwt_rod(b, "half", x + 1.5, y, x + 1.6, y, 0.1);
        add_hinge(b, "A", lwt_ground, crank, 0, 0, 0);
        add_hinge(b, "B", crank, coupler, x, y, 0);
        add_hinge(b, "C", lwt_ground, rocker, 1.5, 0, 0);
        add_hinge(b, "D", rocker, half, x + 1.5, y, 0);
        lwt_joint(b, LW_JOINT_FIXED, "E", coupler, half, x + 1.5, y);
        lw_model *model = lwt_model(b);
        lw_sim *sim = simulation(model, formulation, "1e-10", "1");
        const lw_observation *o;
        if (lw_sim_step(sim, end) != LW_OK)
            fail_msg("%s, from %g rad: %s", formulation, from, lw_sim_error(sim)->text);
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
        assert_true(fabs(o->quaternion[2][3]) < 1e-7);
        assert_int_equal(sim->crossing.count, 3);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Over it by up to two hundredths of a radian and back: ordinary steps there end on another branch, or at the position.
static void a_mechanism_that_reverses_keeps_its_branch(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "lagrange", "dca"};
    static const char *const tolerances[] = {"1e-6", "1e-8", "1e-9"};
    const double crank = 0.6, g = 9.81, begin = 1;
    for (int f = 0; f < 9; f++)
        for (int i = 1; i <= 20; i++) {
            lw_builder *b = lwt_builder();
            lw_builder_gravity(b, (lw_vec3){0, g, 0});
            const double speed = sqrt(2.4 * g / crank * (sin(begin) - sin(-0.001 * i)));
            add_rods(b, 0, lwt_ground, begin, -speed, crank, 1);
            lw_model *model = lwt_model(b);
            const char *formulation = formulations[f / 3], *tolerance = tolerances[f % 3];
            lw_sim *sim = simulation(model, formulation, tolerance, "1");
            const lw_observation *o;
            for (int k = 1; k <= 10; k++) {
                lwt_ok(lw_sim_step(sim, 0.1 * k), lw_sim_error(sim));
                lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
                if (!(fabs(o->quaternion[2][3]) < 1e-7))
                    fail_msg("%s %s, by %g rad: the coupler is off by %.1e rad", formulation,
                             tolerance, 0.001 * i, 2 * o->quaternion[2][3]);
            }
            if (sim->crossing.count != 2)
                fail_msg("%s %s, by %g rad: %ld passed", formulation, tolerance, 0.001 * i,
                         sim->crossing.count);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// It comes to rest inside of a window, behind the position, and passes it again: the time to that follows from the acceleration.
static void a_mechanism_passes_after_it_turns_back(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){-2.120384766605456, -9.81, 0});
    add_rods(b, 0, lwt_ground, 1.082365374899285 + 0.5 * acos(-1), 0.1695443702527486, 1, 1);
    lw_model *model = lwt_model(b);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "integrator", "dopri5",
                                                   "rtol", "1e-10", "atol", "1e-10"));
    const lw_observation *o;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
    const double energy = o->kinetic + o->potential;
    double wrong = 0;
    for (int k = 1; k <= 250; k++) {
        lwt_ok(lw_sim_step(sim, 0.01 * k), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        wrong = fmax(wrong, fabs(o->kinetic + o->potential - energy));
    }
    if (!(wrong < 1e-6)) fail_msg("energies differ by %.1e J", wrong); // of 26 J
    assert_int_equal(sim->crossing.count, 4);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The same bits on any number of threads.
static void passages_do_not_depend_on_threads(void **state)
{
    (void)state;
    const double passes[] = {FIRST, FIRST + 0.012, FIRST + 0.02};
    lw_model *model = parallelograms(3, passes);
    double kept[2][64];
    for (int i = 0; i < 2; i++) {
        lw_sim *sim = simulation(model, "dca", "1e-12", i ? "3" : "1");
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

// ------------------------------------------------------------------------------------------- groups

// Chains of loops that share a rod are one group; others, also on the same body, are not.
static void loops_that_share_joints_are_a_group(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    int group[64], count;
    const lw_body car = lwt_rod(b, "car", -1, -1, 9, -1, 5);
    add_hinge(b, "axle", lwt_ground, car, 0, -1, 0);
    add_parallelogram(b, 0, car, FIRST);
    add_parallelogram(b, 1, car, FIRST);
    add_parallelogram(b, 2, lwt_ground, FIRST);
    // a second coupler of loop 2, and a tail without a loop
    const double angle = SPEED * FIRST, x = 6 + 0.3 * cos(angle), y = 0.3 * sin(angle);
    const lw_body more = lwt_rod(b, "more", x, y, x + 1.2, y, 1),
                  tail = lwt_rod(b, "tail", x, y, x, y - 1, 1);
    add_hinge(b, "E", (lw_body){8}, more, x, y, 0);
    add_hinge(b, "F", more, (lw_body){10}, x + 1.2, y, 0);
    add_hinge(b, "G", more, tail, x, y, 0);
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
    add_parallelogram(b, 0, lwt_ground, FIRST);
    add_parallelogram(b, 1, lwt_ground, FIRST);
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
        cmocka_unit_test(positions_behind_the_end_are_not_reported),
        cmocka_unit_test(slow_loops_pass_beside_a_fast_one),
        cmocka_unit_test(a_fast_loop_passes_within_the_step_of_a_slow_one),
        cmocka_unit_test(counts_do_not_depend_on_steps),
        cmocka_unit_test(loops_that_reverse_are_no_obstacles),
        cmocka_unit_test(positions_of_random_sets_are_counted),
        cmocka_unit_test(positions_found_exactly_are_counted),
        cmocka_unit_test(margins_see_all_positions),
        cmocka_unit_test(positions_behind_an_impulse_are_not_counted),
        cmocka_unit_test(positions_next_to_an_event_are_counted_once),
        cmocka_unit_test(a_run_stops_at_positions_that_it_reaches),
        cmocka_unit_test(a_mechanism_that_reverses_has_not_passed),
        cmocka_unit_test(a_mechanism_starts_from_rest_next_to_a_position),
        cmocka_unit_test(loops_at_rest_next_to_positions_pass_theirs),
        cmocka_unit_test(crossed_parallelograms_keep_their_branch),
        cmocka_unit_test(loops_on_a_sliding_body_keep_their_rows),
        cmocka_unit_test(a_mechanism_moves_away_in_small_steps),
        cmocka_unit_test(a_flat_parallelogram_falls_from_rest),
        cmocka_unit_test(a_parallelogram_closed_by_a_fixed_joint_comes_back),
        cmocka_unit_test(a_mechanism_that_reverses_keeps_its_branch),
        cmocka_unit_test(a_mechanism_passes_after_it_turns_back),
        cmocka_unit_test(passages_do_not_depend_on_threads),
        cmocka_unit_test(loops_that_share_joints_are_a_group),
        cmocka_unit_test(couplings_join_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
