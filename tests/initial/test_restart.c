// test_restart.c -- the state of a simulation as the start of a model.
#include "support/mechanism.h"
#include "support/random_loops.h"

#include <linkwork/linkwork.h>

enum {
    TIMELESS = LWT_MULTI | LWT_QUASI | LWT_FIXED | LWT_REVERSED | LWT_FLOATING | LWT_REDUNDANT |
               LWT_COUPLINGS
};

static lw_sim *simulation(const lw_model *model)
{
    lw_sim *sim;
    lw_error error;
    lwt_ok(lw_sim_create(model, NULL, &sim, &error), &error);
    return sim;
}

static const lw_observation *observe(lw_sim *sim)
{
    const lw_observation *seen;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &seen), lw_sim_error(sim));
    return seen;
}

static void assert_near(const double *a, const double *b, int n, double tolerance)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * (1 + fabs(b[i]))))
            fail_msg("component %d: %.17g and %.17g", i, a[i], b[i]);
}

static void same_motion(const lw_model *model, const lw_observation *a, const lw_observation *b)
{
    const int n = lw_model_body_count(model);
    assert_near(a->position[0], b->position[0], 3 * n, 1e-11);
    assert_near(a->velocity[0], b->velocity[0], 3 * n, 1e-9);
    assert_near(a->angular_velocity[0], b->angular_velocity[0], 3 * n, 1e-9);
    assert_near(a->acceleration[0], b->acceleration[0], 3 * n, 1e-6);
    assert_near(a->q, b->q, lw_model_nq(model), 1e-9);
    assert_near(a->qd, b->qd, lw_model_nv(model), 1e-9);
}

static void test_motion_begins_again(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 30, TIMELESS)
    {
        lw_sim *sim = simulation(c.model), *again;
        lw_model *restarted;
        lw_error error;
        lwt_ok(lw_sim_step(sim, 0.05), lw_sim_error(sim));
        const lw_observation *before = observe(sim);
        lwt_ok(lw_model_restart(c.model, before, &restarted, &error), &error);
        again = simulation(restarted);
        same_motion(c.model, observe(again), before);
        lw_sim_destroy(again);
        lw_sim_destroy(sim);
        lw_model_destroy(restarted);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    lwt_loops c = lwt_loops_create(1, 6, TIMELESS);
    lw_sim *sim = simulation(c.model);
    const lw_observation *pose;
    lw_model *restarted = NULL;
    lw_error error;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &pose), lw_sim_error(sim));
    assert_int_equal(lw_model_restart(c.model, pose, &restarted, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "no velocities"));
    assert_int_equal(lw_model_restart(NULL, pose, &restarted, &error), LW_ERR_ARGUMENT);
    assert_null(restarted);
    lw_sim_destroy(sim);
    lw_model_destroy(c.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_motion_begins_again),
                                       cmocka_unit_test(test_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
