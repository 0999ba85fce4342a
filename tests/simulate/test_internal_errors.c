// test_internal_errors.c -- a broken invariant reaches the caller as LW_ERR_INTERNAL, in every build.
#include "simulate/sim_cases.h"

#include "batch/batch.h"

static void assert_internal(lw_status status, const lw_error *error, const char *file)
{
    assert_int_equal(status, LW_ERR_INTERNAL);
    if (!error) return;
    assert_int_equal(error->status, LW_ERR_INTERNAL);
    if (!strstr(error->text, file) || !strstr(error->text, "internal error"))
        fail_msg("'%s', expected a place in %s", error->text, file);
}

static lw_status stays(lwi_integrator *self, double *t, double *x, double to, double limit,
                       bool one_step, lw_error *error)
{
    (void)self, (void)t, (void)x, (void)to, (void)limit, (void)one_step, (void)error;
    return LW_OK;
}

static lw_status goes_too_far(lwi_integrator *self, double *t, double *x, double to, double limit,
                              bool one_step, lw_error *error)
{
    (void)self, (void)x, (void)to, (void)one_step, (void)error;
    *t = limit + 1;
    return LW_OK;
}

static int carry_on(void *user, double time, double end)
{
    (void)user, (void)time, (void)end;
    return 0;
}

// Without the checks the first one would not end.
static void an_integrator_that_does_not_arrive(void **state)
{
    (void)state;
    lw_model *m = pendulum(ANGLE, 0);
    for (int way = 0; way < 2; way++) {
        lw_sim *sim;
        lw_error error = {0};
        const lw_sim_desc desc = {0};
        assert_int_equal(lw_sim_create(m, &desc, &sim, &error), LW_OK);
        const lwi_integrator_type *type = sim->integrator->type;
        lwi_integrator_type broken = *type;
        broken.advance = way ? goes_too_far : stays;
        sim->integrator->type = &broken;
        assert_internal(lw_sim_step(sim, 1), lw_sim_error(sim), "simulation.c");
        if (!way) {
            assert_internal(lw_sim_step_progress(sim, 1, carry_on, NULL), lw_sim_error(sim),
                            "simulation.c");
            assert_internal(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL),
                            lw_sim_error(sim), "simulation.c");
        }
        sim->integrator->type = type;
        lw_sim_destroy(sim);
    }
    lw_model_destroy(m);
}

static void an_instance_that_does_not_arrive(void **state)
{
    (void)state;
    lw_model *m = pendulum(ANGLE, 0);
    lw_batch *batch;
    lw_error error = {0};
    const lw_batch_desc desc = {.instances = 3, .threads = 1};
    assert_int_equal(lw_batch_create(m, &desc, &batch, &error), LW_OK);
    lw_batch *idle;
    assert_int_equal(lw_batch_create(m, &desc, &idle, &error), LW_OK);
    lwi_worker *worker = batch->worker[0];
    batch->worker[0] = idle->worker[0]; // moves the instances of the other batch
    assert_internal(lw_batch_step(batch, 1), lw_batch_error(batch), "batch.c");
    assert_internal(lw_batch_run(batch, NULL, NULL, NULL, NULL), lw_batch_error(batch), "batch.c");
    batch->worker[0] = worker;
    lw_batch_destroy(idle);
    lw_batch_destroy(batch);
    lw_model_destroy(m);
}

static void an_index_out_of_range(void **state)
{
    (void)state;
    lw_model *m = pendulum(ANGLE, 0);
    int first, n;
    assert_int_equal(lw_model_joint_tree(m, (lw_joint){0}, &first, &n, NULL, NULL), LW_OK);
    m->node[0].iq = m->tree_nq;
    assert_internal(lw_model_joint_tree(m, (lw_joint){0}, &first, &n, NULL, NULL), NULL, NULL);
    m->node[0].iq = 0;
    lw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_integrator_that_does_not_arrive),
        cmocka_unit_test(an_instance_that_does_not_arrive),
        cmocka_unit_test(an_index_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
