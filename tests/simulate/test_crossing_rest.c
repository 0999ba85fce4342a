// test_crossing_rest.c -- mechanisms that begin at rest, or come to rest, next to a singular position keep their branch.
#include "support/parallelograms.h"

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
                lwt_add_parallelogram(b, 0, lwt_ground, begin[i], 0, crank, 1);
                lw_model *model = lwt_model(b);
                lw_sim *sim = lwt_crossing(model, formulations[f], tolerances[k], "1");
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
static void check_falling(int n, const double *begin, lwt_make_rod *rod, const char *formulation,
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
        lwt_add_parallelogram_of(b, rod, k, lwt_ground, begin[k], 0, crank, 1);
    }
    lw_model *model = lwt_model(b);
    lw_sim *sim = lwt_crossing(model, formulation, tolerance, "1");
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
            check_falling(sets[i].n, sets[i].begin, lwt_thin_rod, formulations[f], tolerance);
        }
}

// Loops that begin next to their positions at rest while another one moves: along its velocities none of them leaves its position,
// and neither ranks nor the largest sine of the run are known from there.
static void slow_loops_beside_others_at_rest_keep_their_branches(void **state)
{
    (void)state;
    enum { MOST = 5 };
    static const char *const formulations[] = {"rcr", "dca", "dense"};
    static const struct {
        double gravity[2], begin[MOST], speed[MOST], crank[MOST];
    } sets[] = {{{-3.106, 6.96},
                 {2.704e-6, 0.8489, -9.018e-6, 6.724e-5, -3.396e-6},
                 {-1.091e-3, 0, 0, 0, -1.538e-2},
                 {0.62, 0.71, 0.4, 0.57, 0.64}},
                {{3.529, -6.538},
                 {1.284, -2.775e-4, -6.574e-6, -1.131e-5, 6.076e-4},
                 {3.256e-3, -1.435e-6, -2.86e-4, 0, 0},
                 {0.61, 0.71, 0.45, 0.39, 0.53}},
                {{7.607, -2.484},
                 {4.683e-5, 4.279e-4, -9.123e-6, 0.809, 1.474e-4},
                 {0, -1.238, -2.024e-4, 0, 1.665e-6},
                 {0.44, 0.72, 0.44, 0.45, 0.67}}};
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int i = 0; i < LWI_COUNT(sets); i++) {
            lw_builder *b = lwt_builder();
            lw_builder_gravity(b, (lw_vec3){sets[i].gravity[0], sets[i].gravity[1], 0});
            for (int k = 0; k < MOST; k++)
                lwt_add_parallelogram_of(b, lwt_thin_rod, k, lwt_ground, sets[i].begin[k],
                                         sets[i].speed[k], sets[i].crank[k], 1);
            lw_model *model = lwt_model(b);
            lw_sim *sim = lwt_crossing(model, formulations[f], "1e-10", "1");
            const lw_observation *o;
            const double energy = lwt_energy(sim);
            if (lw_sim_step(sim, 0.3) != LW_OK)
                fail_msg("%s, set %d: %s", formulations[f], i, lw_sim_error(sim)->text);
            const double wrong = fabs(lwt_energy(sim) - energy);
            double coupler = 0;
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), lw_sim_error(sim));
            for (int k = 0; k < MOST; k++)
                coupler = fmax(coupler, fabs(o->quaternion[2 + 3 * k][3]));
            if (!(coupler < 1e-7 && wrong < 1e-5))
                fail_msg("%s, set %d: couplers off by %.1e rad, energies by %.1e J",
                         formulations[f], i, 2 * coupler, wrong);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
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
    lwt_revolute(b, "A", lwt_ground, rod[0], 0, 0, 0);
    lwt_revolute(b, "B", rod[0], rod[1], x, y, 0);
    lwt_revolute(b, "C", rod[1], rod[2], ex, ey, 0);
    lwt_revolute(b, "D", lwt_ground, rod[2], ground, 0, 0);
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
            lwt_add_parallelogram(b, 1, lwt_ground, 1.2, 0, 0.5, 1.1);
            lw_model *model = lwt_model(b);
            lw_sim *sim = lwt_crossing(model, formulations[f / 2], tolerances[f % 2], "1");
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
        lwt_add_parallelogram_of(b, lwt_thin_rod, 0, car, 1.395, 0, 0.54, 0.95);
        lwt_add_parallelogram_of(b, lwt_thin_rod, 1, car, 2.3e-5, 0, 0.5, 1.1);
        lw_model *model = lwt_model(b);
        lw_sim *sim = lwt_crossing(model, formulations[f], "1e-8", "1");
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
        lwt_add_parallelogram(b, 0, lwt_ground, begin, 0, crank, 1);
        lw_model *model = lwt_model(b);
        lw_sim *sim = lwt_crossing(model, "rcr", "1e-10", "1");
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
    lw_model *model = lwt_structure("flat_parallelogram");
    double first[3] = {0};
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lw_sim *sim = lwt_crossing(model, formulations[f], "1e-8", "1");
        const lw_observation *o;
        const double energy = lwt_energy(sim);
        lwt_ok(lw_sim_step(sim, 1), lw_sim_error(sim));
        assert_true(fabs(lwt_energy(sim) - energy) < 1e-5); // of 20 J
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), lw_sim_error(sim));
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
        lwt_revolute(b, "A", lwt_ground, crank, 0, 0, 0);
        lwt_revolute(b, "B", crank, coupler, x, y, 0);
        lwt_revolute(b, "C", lwt_ground, rocker, 1.5, 0, 0);
        lwt_revolute(b, "D", rocker, half, x + 1.5, y, 0);
        lwt_joint(b, LW_JOINT_FIXED, "E", coupler, half, x + 1.5, y);
        lw_model *model = lwt_model(b);
        lw_sim *sim = lwt_crossing(model, formulation, "1e-10", "1");
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
            lwt_add_parallelogram(b, 0, lwt_ground, begin, -speed, crank, 1);
            lw_model *model = lwt_model(b);
            const char *formulation = formulations[f / 3], *tolerance = tolerances[f % 3];
            lw_sim *sim = lwt_crossing(model, formulation, tolerance, "1");
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
    lwt_add_parallelogram(b, 0, lwt_ground, 1.082365374899285 + 0.5 * acos(-1), 0.1695443702527486,
                          1, 1);
    lw_model *model = lwt_model(b);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "integrator", "dopri5",
                                                   "rtol", "1e-10", "atol", "1e-10"));
    const double energy = lwt_energy(sim);
    double wrong = 0;
    for (int k = 1; k <= 250; k++) {
        lwt_ok(lw_sim_step(sim, 0.01 * k), lw_sim_error(sim));
        wrong = fmax(wrong, fabs(lwt_energy(sim) - energy));
    }
    if (!(wrong < 1e-6)) fail_msg("energies differ by %.1e J", wrong); // of 26 J
    assert_int_equal(sim->crossing.count, 4);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The polynomial of a long step across, in which the mechanism reverses, is less accurate than its end.
static void rows_within_a_step_across_are_as_accurate_as_its_end(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca", "hdca"};
    static const double speed[] = {0.01, 0.05, 0.15};
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int i = 0; i < LWI_COUNT(speed); i++) {
            lw_builder *b = lwt_builder();
            lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
            lwt_add_parallelogram(b, 0, lwt_ground, 0, speed[i], 0.6, 1.1);
            lw_model *model = lwt_model(b);
            lw_sim *sim = lwt_crossing(model, formulations[f], "1e-10", "1");
            const double energy = lwt_energy(sim);
            double wrong = 0;
            for (int k = 1; k <= 130; k++) {
                lwt_ok(lw_sim_step(sim, 0.01 * k), lw_sim_error(sim));
                wrong = fmax(wrong, fabs(lwt_energy(sim) - energy));
            }
            if (!(wrong < 2e-6)) // of 12 J; 5e-5 to 6e-4 by the polynomial
                fail_msg("%s, %g rad/s: energies differ by %.1e J", formulations[f], speed[i],
                         wrong);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// Arithmetic-geometric mean of 1 and b.
static double agm(double b)
{
    double a = 1;
    for (int i = 0; i < 8; i++) {
        const double mean = 0.5 * (a + b);
        b = sqrt(a * b), a = mean;
    }
    return a;
}

// From rest next to the position it swings to the one on the other side and back: rows where it reverses have the accelerations and
// reactions of rest there, by all formulations.  Solved for, those differed by up to 3.5 rad/s^2 and 1e6 N, or were refused.
static void rows_at_a_reversal_at_a_position_have_accelerations(void **state)
{
    (void)state;
    static const char *const formulations[] = {"rcr", "dca", "hdca", "dense", "lagrange"};
    static const double begin[] = {1e-7, 1e-6, 1e-5};
    const double crank = 0.6, rate = 6 * 9.81 / (5 * crank);     // rad/s^2
    const double swing = acos(-1) / agm(sqrt(0.5)) / sqrt(rate); // of 180 degrees [s]
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int i = 0; i < LWI_COUNT(begin); i++) {
            lw_builder *b = lwt_builder();
            lwt_add_parallelogram(b, 0, lwt_ground, begin[i], 0, crank, 1.1);
            lw_model *model = lwt_model(b);
            lw_sim *sim = lwt_crossing(model, formulations[f], "1e-9", "1");
            const lw_observation *o;
            for (int k = 1; k <= 3; k++) {
                lwt_ok(lw_sim_step(sim, k * swing), lw_sim_error(sim));
                if (lw_sim_observe(sim, LW_OBSERVE_REACTION, &o) != LW_OK)
                    fail_msg("%s, from %g rad: %s", formulations[f], begin[i],
                             lw_sim_error(sim)->text);
                const double off = o->angular_acceleration[1][2] - (k % 2 ? rate : -rate);
                const double coupler = o->angular_acceleration[2][2];
                const double x = o->reaction[0][0], y = o->reaction[0][1] - 0.3 * 9.81;
                if (!(fabs(off) < 1e-4 && fabs(coupler) < 1e-4 && fabs(x) < 1e-3 && fabs(y) < 1e-3))
                    fail_msg("%s, from %g rad, row %d: off by %.1e rad/s^2, %.1e rad/s^2, %.1e N, "
                             "%.1e N",
                             formulations[f], begin[i], k, off, coupler, x, y);
            }
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_at_a_reversal_at_a_position_have_accelerations),
        cmocka_unit_test(rows_within_a_step_across_are_as_accurate_as_its_end),
        cmocka_unit_test(a_mechanism_starts_from_rest_next_to_a_position),
        cmocka_unit_test(loops_at_rest_next_to_positions_pass_theirs),
        cmocka_unit_test(slow_loops_beside_others_at_rest_keep_their_branches),
        cmocka_unit_test(crossed_parallelograms_keep_their_branch),
        cmocka_unit_test(loops_on_a_sliding_body_keep_their_rows),
        cmocka_unit_test(a_mechanism_moves_away_in_small_steps),
        cmocka_unit_test(a_flat_parallelogram_falls_from_rest),
        cmocka_unit_test(a_parallelogram_closed_by_a_fixed_joint_comes_back),
        cmocka_unit_test(a_mechanism_that_reverses_keeps_its_branch),
        cmocka_unit_test(a_mechanism_passes_after_it_turns_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
