// test_partitions.c -- partitions of closed loops on demand: taken, refused by the compiler, interrupted.
#include "compile.h"

static double energy_of(const lw_model *model)
{
    lw_sim *sim = simulation(model, "rcr", "1e-9");
    const lw_observation *o;
    OK(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
    const double energy = o->kinetic + o->potential;
    lw_sim_destroy(sim);
    return energy;
}

static void a_run_takes_another_partition_at_dead_points(void **state)
{
    (void)state;
    const double end = 60;
    double x[MOST], expected[MOST];
    skip_without_compiler();
    new_cache("dead-points");
    lw_model *model = slider_crank();
    lw_compiled *c = compiled(model, desc_of(1, true));
    lw_sim *by_library = simulation(model, "rcr", "1e-9"), *sim = simulation(model, "rcr", "1e-9");
    OK(lw_sim_use_compiled(sim, c));
    assert_int_equal(1, lw_compiled_about(c).partitions);
    OK(lw_sim_step(sim, end));
    OK(lw_sim_step(by_library, end));
    lw_sim_get_state(sim, NULL, x);
    lw_sim_get_state(by_library, NULL, expected);
    assert_int_equal(2, lw_compiled_about(c).partitions);
    expect_close("slider-crank", "state", x, expected, 6, 1e-5);
    const lw_observation *o;
    const double start = energy_of(model);
    OK(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
    const double energy = o->kinetic + o->potential;
    // ten times as much as the library; 1 J with the first partition alone
    if (!(fabs(energy - start) < 2e-4)) fail_msg("energy: %g J more", energy - start);
    lw_sim_destroy(sim);
    lw_sim_destroy(by_library);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

// Dead points of the crank, where the slider is at its end: known accelerations of the library.
static void calls_take_another_partition_on_demand(void **state)
{
    (void)state;
    enum { BAD = 7 };
    static double q[STATES * MOST], v[STATES * MOST], a[STATES * MOST], rate[STATES * MOST];
    static double one[MOST], qdot[MOST], before[MOST], expected[MOST], t[STATES];
    unsigned char failed[STATES];
    skip_without_compiler();
    new_cache("on-demand");
    lw_model *model = slider_crank();
    lw_compiled_desc desc = desc_of(4, false);
    lw_compiled *fixed = compiled(model, desc);
    desc.on_demand = true;
    lw_compiled *c = compiled(model, desc);
    lw_dynamics *dynamics = NULL;
    OK(lw_dynamics_create(model, NULL, &dynamics, NULL));
    states(fixed, model, STATES, q, v);
    int iq[3], iv[3], n;
    for (int k = 0; k < 3; k++)
        OK(lw_model_joint_tree(model, (lw_joint){k < 2 ? k : 3}, &iq[k], &n, &iv[k], &n));
    double *bad_q = q + 3 * BAD, *bad_v = v + 3 * BAD;
    dead_point(model, bad_q, bad_v);
    memcpy(before, bad_q, 3 * sizeof *before);
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_project(fixed, 0, bad_q, bad_v));
    assert_memory_equal(before, bad_q, 3 * sizeof *before);
    assert_true(bad_v[iv[2]] == 0.5);
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_project_many(fixed, STATES, t, q, v, failed));
    assert_true(failed[BAD] && bad_v[iv[2]] == 0.5);
    OK(lw_compiled_project(c, 0, bad_q, bad_v));
    assert_true(bad_v[iv[1]] == -3 && fabs(bad_v[iv[2]]) < 1e-12);
    expect_close("crank", "speed", &bad_v[iv[0]], (double[]){2}, 1, 1e-12); // the rod has -1
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_forward_dynamics(fixed, bad_q, bad_v, NULL, one));
    OK(lw_compiled_forward_dynamics_many(c, STATES, q, v, NULL, a, failed));
    for (int k = 0; k < STATES; k++) {
        assert_int_equal(0, failed[k]);
        OK(lw_forward_dynamics(dynamics, 0, q + 3 * k, v + 3 * k, NULL, NULL, expected));
        expect_close("slider-crank", "acceleration", a + 3 * k, expected, 3, 1e-10);
        OK(lw_compiled_forward_dynamics(c, q + 3 * k, v + 3 * k, NULL, one));
        assert_memory_equal(one, a + 3 * k, 3 * sizeof *one);
    }
    OK(lw_compiled_rates_many(c, STATES, t, q, v, NULL, NULL, rate, a, NULL, NULL));
    OK(lw_compiled_rates(c, 0, bad_q, bad_v, NULL, NULL, qdot, one, NULL));
    assert_memory_equal(one, a + 3 * BAD, 3 * sizeof *one);
    assert_memory_equal(qdot, rate + 3 * BAD, 3 * sizeof *qdot);
    assert_int_equal(2, lw_compiled_about(c).partitions);
    assert_int_equal(1, lw_compiled_about(fixed).partitions);
    bad_q[0] = NAN;
    assert_int_equal(LW_ERR_SINGULAR,
                     lw_compiled_rates(c, 0, bad_q, bad_v, NULL, NULL, qdot, one, NULL));
    lw_compiled_destroy(c);
    desc.compiler = LW_C_COMPILER;
    c = compiled(model, desc); // found again, both of them
    OK(lw_compiled_forward_dynamics(c, before, v + 3 * BAD, NULL, one));
    assert_true(lw_compiled_about(c).found && lw_compiled_about(c).compiling == 0);
    assert_int_equal(2, lw_compiled_about(c).partitions);
    lw_dynamics_destroy(dynamics);
    lw_compiled_destroy(fixed);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

// The compiler refuses all but the first partition.
static const char choosy[] =
    "if [ -e \"$(dirname \"$0\")/refuse\" ]; then echo 'x.c:3: error: no more' >&2; exit 3; fi";

static void set_refused(bool refused)
{
    char path[300];
    snprintf(path, sizeof path, "%s/refuse", folder);
    if (!refused)
        assert_int_equal(0, unlink(path));
    else
        fclose(fopen(path, "w"));
}

static void a_partition_that_the_compiler_refuses_is_reported(void **state)
{
    (void)state;
    const double end = 60;
    double x[MOST], expected[MOST];
    char script[300];
    skip_without_compiler();
    new_cache("refused");
    write_compiler("choosy", choosy, script);
    lw_model *model = slider_crank();
    lw_compiled_desc desc = desc_of(1, true);
    desc.compiler = script;
    lw_compiled *c = compiled(model, desc);
    assert_null(lw_compiled_about(c).refused);
    set_refused(true);
    lw_sim *by_library = simulation(model, "rcr", "1e-9"), *sim = simulation(model, "rcr", "1e-9");
    OK(lw_sim_use_compiled(sim, c));
    OK(lw_sim_step(sim, 0.75 * end));
    set_refused(false); // it is not tried again
    OK(lw_sim_step(sim, end));
    OK(lw_sim_step(by_library, end));
    lw_sim_get_state(sim, NULL, x);
    lw_sim_get_state(by_library, NULL, expected);
    expect_close("slider-crank", "state", x, expected, 6, 1e-5);
    assert_int_equal(1, lw_compiled_about(c).partitions);
    static const char reason[] = "fails with code 3: x.c:3: error: no more";
    assert_non_null(strstr(lw_compiled_about(c).refused, reason));
    OK(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL,
                  NULL)); // has ended: it adds its warnings
    const char *notice = lw_sim_notice(sim);
    const char *said = strstr(notice, reason);
    if (!said || strstr(said + 1, reason)) fail_msg("%s", notice);
    assert_non_null(strstr(notice, "partitions: 1); the formulation evaluates where"));
    assert_non_null(strstr(notice, "in the loop of joint 'C'"));
    lw_sim_destroy(sim);
    lw_sim_destroy(by_library);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

// A run that ends near its first dead point, some steps after the formulation took over.
static void a_run_that_ends_before_a_partition_is_chosen_says_so(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("short");
    lw_model *model = slider_crank();
    lw_compiled *c = compiled(model, desc_of(1, true));
    lw_options options;
    lw_sim *sim = NULL;
    lw_summary summary;
    lw_options_default(&options);
    OK(lw_options_set(&options, "formulation", "rcr", NULL));
    OK(lw_options_set(&options, "duration", "0.25", NULL));
    const lw_sim_desc desc = {.options = &options};
    OK(lw_sim_create(model, &desc, &sim, NULL));
    OK(lw_sim_use_compiled(sim, c));
    OK(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL));
    lw_sim_summary(sim, &summary);
    const char *notice = lw_sim_notice(sim);
    if (!strstr(notice, "evaluates: after 300 such steps a partition is chosen"))
        fail_msg("%ld steps: %s", summary.steps, notice);
    assert_true(summary.steps < 300);
    lw_sim_destroy(sim);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static int asked(void *user)
{
    return *(int *)user;
}

static void an_interrupted_partition_is_compiled_when_it_is_needed_again(void **state)
{
    (void)state;
    int stop = 0;
    double q[3], v[3], vdot[3];
    skip_without_compiler();
    new_cache("interrupted");
    lw_model *model = slider_crank();
    lw_compiled_desc desc = desc_of(1, false);
    desc.on_demand = true, desc.interrupt = asked, desc.interrupt_user = &stop;
    lw_compiled *c = compiled(model, desc);
    dead_point(model, q, v);
    stop = 1;
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_forward_dynamics(c, q, v, NULL, vdot));
    assert_int_equal(1, lw_compiled_about(c).partitions);
    assert_null(lw_compiled_about(c).refused);
    stop = 0;
    OK(lw_compiled_project(c, 0, q, v));
    OK(lw_compiled_forward_dynamics(c, q, v, NULL, vdot));
    assert_int_equal(2, lw_compiled_about(c).partitions);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_takes_another_partition_at_dead_points),
        cmocka_unit_test(calls_take_another_partition_on_demand),
        cmocka_unit_test(a_partition_that_the_compiler_refuses_is_reported),
        cmocka_unit_test(a_run_that_ends_before_a_partition_is_chosen_says_so),
        cmocka_unit_test(an_interrupted_partition_is_compiled_when_it_is_needed_again),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
