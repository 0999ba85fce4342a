// test_passage.c -- through singular positions: rows that become dependent for a short time are inactive, the
// motion continues on its branch; a mechanism that is driven against itself stops there.
#include "methods/dca/hdca_cases.h"
#include "methods/loop_cases.h"
#include "simulate/simulation.h"
#include "support/given.h"

#include <math.h>

static lw_sim *simulation(const lw_model *model, const char *formulation, const char *tolerance,
                          const char *threads)
{
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&options);
    lwt_set(&options, "formulation", formulation);
    lwt_set(&options, "rtol", tolerance);
    lwt_set(&options, "atol", tolerance);
    lwt_set(&options, "threads", threads);
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    return sim;
}

// A parallelogram: two branches continue where all its links are in a line, at multiples of pi.
static lw_model *parallelogram(bool driven)
{
    lw_builder *b = lwt_builder();
    const double angle = 0.8, x = cos(angle), y = sin(angle);
    const lw_body A = lwt_rod(b, "A", 0, 0, x, y, 1), B = lwt_rod(b, "B", x, y, 2 + x, y, 1),
                  C = lwt_rod(b, "C", 2, 0, 2 + x, y, 1);
    lw_joint_desc left = {.name = "left", .type = LW_JOINT_REVOLUTE, .body2 = A, .axis = {0, 0, 1}};
    if (driven) {
        const double rates[] = {0, -1}; // q = -t
        left.coordinate[0].motion = lwt_function(
            b, &(lw_function_desc){
                   .type = LW_FUNCTION_POLYNOMIAL, .coefficients = rates, .ncoefficient = 2});
    } else {
        left.has_qd = 1;
        left.qd[0] = -1;
    }
    lwt_add(b, &left);
    lwt_joint(b, LW_JOINT_REVOLUTE, "top left", A, B, x, y);
    lwt_joint(b, LW_JOINT_REVOLUTE, "top right", B, C, 2 + x, y);
    lwt_joint(b, LW_JOINT_REVOLUTE, "right", lwt_ground, C, 2, 0);
    return lwt_model(b);
}

// A crank of 1 m is rotated until coupler and rocker, 1.2 m and 1 m, are in a line.
static lw_model *toggle(void)
{
    lw_builder *b = lwt_builder();
    const double x = cos(0.5), y = sin(0.5), away = hypot(2 - x, y);
    const double along = (1.2 * 1.2 - 1 + away * away) / (2 * away);
    const double across = sqrt(1.2 * 1.2 - along * along);
    const double ex = (2 - x) / away, ey = -y / away;
    const double cx = x + along * ex - across * ey, cy = y + along * ey + across * ex;
    const double rates[] = {0, 0.7};
    const lw_signal turn = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                                               .coefficients = rates,
                                                               .ncoefficient = 2});
    const lw_body A = lwt_rod(b, "crank", 0, 0, x, y, 1),
                  B = lwt_rod(b, "coupler", x, y, cx, cy, 1),
                  C = lwt_rod(b, "rocker", 2, 0, cx, cy, 1);
    lwt_add(b, &(lw_joint_desc){.name = "drive",
                                .type = LW_JOINT_REVOLUTE,
                                .body2 = A,
                                .axis = {0, 0, 1},
                                .coordinate[0].motion = turn});
    lwt_joint(b, LW_JOINT_REVOLUTE, "elbow", A, B, x, y);
    lwt_joint(b, LW_JOINT_REVOLUTE, "knee", B, C, cx, cy);
    lwt_joint(b, LW_JOINT_REVOLUTE, "heel", lwt_ground, C, 2, 0);
    lw_model *model = lwt_model(b);
    return model;
}

// The momentum form keeps its branch at any tolerance: the coupler does not rotate, energy is kept within a
// thousandth of the moving energy, and the run reports the position.
static void momenta_go_straight_on(void **state)
{
    (void)state;
    static const char *const tolerance[] = {"1e-3", "1e-5", "1e-7", "1e-9"};
    lw_model *model = parallelogram(false);
    for (int k = 0; k < LWI_COUNT(tolerance); k++) {
        lw_sim *sim = simulation(model, "hdca", tolerance[k], "1");
        const lw_observation *o;
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        const double energy = o->kinetic + o->potential;
        double max = 0, wrong = 0;
        for (int row = 1; row <= 60; row++) {
            lwt_ok(lw_sim_step(sim, 0.1 * row), lw_sim_error(sim));
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
            max = fmax(max, o->kinetic);
            wrong = fmax(wrong, fabs(o->kinetic + o->potential - energy));
            lwt_near("rotation of the coupler", row, o->quaternion[2][3], 0, 5e-3);
            for (int b = 1; b < 4; b++)
                for (int i = 0; i < 3; i++)
                    assert_true(isfinite(o->acceleration[b][i]) && isfinite(o->reaction[b][i]));
        }
        lwt_near("energy", k, wrong, 0, 1e-3 * max);
        lwi_sim_add_warnings(sim);
        assert_non_null(strstr(lw_sim_notice(sim), "singular"));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Same bits for any number of threads there too.
static void threads_rest_alike(void **state)
{
    (void)state;
    lw_model *model = parallelogram(false);
    double speed[3][2];
    static const char *const threads[] = {"1", "2", "5"};
    for (int k = 0; k < 3; k++) {
        lw_sim *sim = simulation(model, "hdca", "1e-9", threads[k]);
        const lw_observation *o;
        lwt_ok(lw_sim_step(sim, 3), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        speed[k][0] = o->qd[0], speed[k][1] = o->q[0];
        lw_sim_destroy(sim);
        assert_memory_equal(speed[k], speed[0], sizeof speed[0]);
    }
    lw_model_destroy(model);
}

// A drive takes the parallelogram through the position at a prescribed speed: inactive rows have no effect,
// and all bodies follow the drive.
static void drives_go_through(void **state)
{
    (void)state;
    lw_model *model = parallelogram(true);
    lw_sim *sim = simulation(model, "hdca", "1e-9", "1");
    for (int row = 1; row <= 30; row++) { // in line at 0.8 s
        const lw_observation *o;
        const double t = 0.1 * row, angle = 0.8 - t;
        lwt_ok(lw_sim_step(sim, t), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        lwt_near("x", row, o->position[2][0], 1 + cos(angle), 1e-6);
        lwt_near("y", row, o->position[2][1], sin(angle), 1e-6);
        lwt_near("speed along x", row, o->velocity[2][0], sin(angle), 1e-5);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A drive that takes coupler and rocker into a line and would take them farther cannot: the run
// ends there, reports the time, the joints that lock and the driven joint, for any formulation and
// tolerance.  (Rates grow with the inverse of the square root of the time that is left: it ends within 1e-4 s.)
static void drives_against_the_mechanism_stop(void **state)
{
    (void)state;
    static const char *const formulations[] = {"dense", "lagrange", "dca", "hdca", "rcr"};
    static const char *const tolerance[] = {"1e-3", "1e-6", "1e-8", "1e-10"};
    const double locked = (acos((1 + 4 - 2.2 * 2.2) / 4) - 0.5) / 0.7;
    lw_model *model = toggle();
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int k = 0; k < LWI_COUNT(tolerance); k++) {
            lw_sim *sim = simulation(model, formulations[f], tolerance[k], "1");
            lw_status status = LW_OK;
            for (int row = 1; row <= 20 && status == LW_OK; row++)
                status = lw_sim_step(sim, 0.1 * row);
            const char *why = lw_sim_error(sim)->text;
            if (status != LW_ERR_SINGULAR ||
                !strstr(why, "the constraints of joint 'elbow' and ") ||
                !strstr(why, "the drive of joint 'drive' is at a dead point"))
                fail_msg("%s, %s: %s", formulations[f], tolerance[k], why);
            lwt_near("time", k, lw_sim_time(sim), locked, 1e-4);
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

// Runs towards the dead point with a limit on the number of steps; 0: without one.  Is the limit named as the reason?
static bool run_to_dead_point(const lw_model *model, long max, long *steps)
{
    lw_options options;
    lw_summary summary;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&options);
    lwt_set(&options, "formulation", "rcr");
    options.max_steps = max;
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    const lw_status status = lw_sim_step(sim, 2);
    const bool limited = strstr(lw_sim_error(sim)->text, "max_steps") != NULL;
    assert_int_equal(status, limited ? LW_ERR_INTEGRATOR : LW_ERR_SINGULAR);
    lw_sim_summary(sim, &summary);
    *steps = summary.steps;
    lw_sim_destroy(sim);
    return limited;
}

// A limit on the number of steps is reported as the reason there, too: at each of the last steps, where the position is
// near enough to be named, and at some of those before.
static void steps_run_out_at_dead_points(void **state)
{
    (void)state;
    enum { EACH = 40, SOME = 20 };
    lw_model *model = toggle();
    long all, steps;
    assert_false(run_to_dead_point(model, 0, &all));
    assert_true(all > EACH + SOME);
    for (long i = 0; i < SOME + EACH; i++) {
        const long max = i < SOME ? 1 + i * (all - EACH) / SOME : all - EACH + i - SOME;
        assert_true(run_to_dead_point(model, max, &steps));
        assert_int_equal(max, steps);
    }
    for (long max = all + 1; max < all + 3; max++)
        assert_false(run_to_dead_point(model, max, &steps));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momenta_go_straight_on),
        cmocka_unit_test(threads_rest_alike),
        cmocka_unit_test(drives_go_through),
        cmocka_unit_test(drives_against_the_mechanism_stop),
        cmocka_unit_test(steps_run_out_at_dead_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
