// test_compiled_runs.c -- runs and batches with compiled rates: those of the library, and the bits of single runs.
#include "support/counted_malloc.h"

#include "compile.h"

enum { RCR_NUMBERS = 5 }; // of a state of few speeds: which are independent

// Coordinates, speeds, angles of joints that close loops and the work, compared with those of the run by the library.
static void expect_run(lw_model *model, const char *file, const char *formulation, int extra,
                       double end, double tolerance)
{
    lw_compiled *c = compiled(model, desc_of(1, true));
    lw_sim *by_library = simulation(model, formulation, "1e-10");
    lw_sim *sim = simulation(model, formulation, "1e-10");
    const int nx = lw_sim_state_size(sim);
    for (int i = 0; i < lw_model_input_count(model); i++) {
        OK(lw_sim_set_input(sim, i, 0.3 + 0.4 * i));
        OK(lw_sim_set_input(by_library, i, 0.3 + 0.4 * i));
    }
    double x[2 * MOST], expected[2 * MOST];
    assert_true(nx <= 2 * MOST);
    OK(lw_sim_use_compiled(sim, c));
    OK(lw_sim_step(sim, 0.5 * end));
    const long before = counted_allocations;
    OK(lw_sim_step(sim, end));
    if (COUNTS_ALLOCATIONS) assert_int_equal(before, counted_allocations);
    OK(lw_sim_step(by_library, end));
    lw_sim_get_state(sim, NULL, x);
    lw_sim_get_state(by_library, NULL, expected);
    assert_memory_not_equal(x, expected, (size_t)nx * sizeof *x); // by other code
    expect_close(file, "state", x, expected, nx - extra, tolerance);
    const lw_observation *o, *p;
    OK(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o));
    OK(lw_sim_observe(by_library, LW_OBSERVE_REACTION, &p));
    expect_close(file, "coordinate", o->q, p->q, lw_model_joint_count(model), tolerance);
    expect_close(file, "work", &o->work, &p->work, 1, tolerance);
    lw_sim_destroy(sim);
    lw_sim_destroy(by_library);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void runs_agree_within_tolerances(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("runs");
    static const char ur5[] = "examples/models/ur5.urdf", bar[] = "examples/models/four_bar.yaml";
    expect_run(read_model(ur5, LW_BASE_AUTO), ur5, "aba", 0, 0.5, 1e-7);
    expect_run(read_model(bar, LW_BASE_AUTO), bar, "rcr", RCR_NUMBERS, 0.7, 1e-7);
}

// A row after compiled rates is found as one of the library at that state: by loop clusters, not by an elimination.
static void rows_have_the_bits_of_the_library(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("rows");
    lw_model *model = four_bar();
    lw_compiled *c = compiled(model, desc_of(1, true));
    lw_sim *by_library = simulation(model, "rcr", "1e-6");
    lw_sim *sim = simulation(model, "rcr", "1e-6");
    double x[2 * MOST], rate[2 * MOST], t;
    const lw_observation *o, *p;
    OK(lw_sim_use_compiled(sim, c));
    for (int k = 1; k <= 3; k++) {
        OK(lw_sim_step(sim, 0.1 * k));
        lw_sim_get_state(sim, &t, x);
        OK(lw_sim_set_state(by_library, t, x));
        OK(lw_sim_rates(by_library, rate));
        OK(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o));
        OK(lw_sim_observe(by_library, LW_OBSERVE_REACTION, &p));
        const size_t n = (size_t)lw_model_joint_count(model);
        assert_memory_equal(o->qd, p->qd, n * sizeof *o->qd);
        assert_memory_equal(o->qdd, p->qdd, n * sizeof *o->qdd);
        assert_memory_equal(o->reaction, p->reaction, n * sizeof *o->reaction);
    }
    lw_sim_destroy(sim);
    lw_sim_destroy(by_library);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

// A tree, and with a joint more a loop: dampers, a servo with a lag, a controller, a bushing, an input.
static lw_model *driven_by_forces(const char *joint, const char *of)
{
    char text[4000];
    snprintf(text, sizeof text,
             "linkwork: 1\ninputs: [u1]\n"
             "bodies:\n"
             "  a: {mass: 1.3, inertia: [0.02, 0.03, 0.04, 0, 0, 0], position: [0.15, 0, 0.2]}\n"
             "  b: {mass: 0.9, inertia: [0.03, 0.02, 0.03, 0, 0, 0], position: [0.55, 0, 0.3]}\n"
             "  c: {mass: 0.6, inertia: [0.01, 0.02, 0.02, 0, 0, 0], position: [0.8, 0, 0.1]}\n"
             "joints:\n"
             "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}\n"
             "  B: {type: revolute, between: [a, b], at: [0.3, 0, 0.4], axis: [0, 1, 0]}\n"
             "  C: {type: revolute, between: [b, c], at: [0.8, 0, 0.2], axis: [0, 1, 0]}\n"
             "%s"
             "signals: {w: {type: pid, reference: u1, measured: %s, kp: 4, ki: 3, kd: 0.2, filter: "
             "50 ms}}\n"
             "forces:\n"
             "  f: {type: servo, joint: A, target: u1, kp: 3, kd: 1, lag: 20 ms}\n"
             "  g: {type: wrench, body: b, torque_of: [0, w, 0]}\n"
             "  h: {type: bushing, between: [ground, c], stiffness: [10, 10, 10, 0, 0, 0], "
             "damping: [1, 1, 1, 0, 0, 0]}\n",
             joint, of);
    return lwt_yaml(text);
}

static lw_model *forced_loop(void)
{
    return driven_by_forces(
        "  D: {type: prismatic, between: [ground, c], at: [0.9, 0, 0], axis: [1, 0, 0]}\n", "A.q0");
}

static void forces_signals_and_their_work_agree(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("forces");
    expect_run(driven_by_forces("", "B.q0"), "forces", "aba", 0, 0.5, 1e-7);
    expect_run(forced_loop(), "forces in a loop", "rcr", RCR_NUMBERS, 0.5, 1e-7);
}

// What forces read besides coordinates and speeds is no parameter of forward dynamics.
static void forward_dynamics_of_models_with_signals_are_refused(void **state)
{
    (void)state;
    double q[MOST], v[MOST], vdot[MOST], expected[MOST], qdot[MOST], x[MOST] = {0}, xdot[MOST];
    const double u[1] = {0.7};
    unsigned char failed[1];
    skip_without_compiler();
    new_cache("signals");
    lw_model *model = driven_by_forces("", "B.q0");
    lw_compiled *c = compiled(model, desc_of(4, false));
    const int nv = lw_model_tree_nv(model);
    states(c, model, 1, q, v);
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_forward_dynamics(c, q, v, NULL, vdot));
    assert_int_equal(LW_ERR_UNSUPPORTED,
                     lw_compiled_forward_dynamics_many(c, 1, q, v, NULL, vdot, failed));
    OK(lw_compiled_rates(c, 0, q, v, x, NULL, qdot, expected, xdot));
    OK(lw_compiled_rates(c, 0, q, v, x, u, qdot, vdot, xdot));
    double change = 0;
    for (int i = 0; i < nv; i++) change = fmax(change, fabs(vdot[i] - expected[i]));
    assert_true(change > 0.1); // the input reaches the wrench
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static const char carriage[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  carriage: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}\n"
    "  bob: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"
    "functions: {push: {type: polynomial, coefficients: [0, 0, 2]}}\n"
    "joints:\n"
    "  rail: {type: prismatic, between: [ground, carriage], at: [0, 0, 0], axis: [1, 0, 0], %s}\n"
    "  hinge: {type: revolute, between: [carriage, bob], at: [0, 0, 0], axis: [0, 1, 0]}\n";

static lw_model *on_rail(const char *rail)
{
    char text[1000];
    snprintf(text, sizeof text, carriage, rail);
    return lwt_yaml(text);
}

// A crank that is driven against its spring, a loop on it with a rotor and a moving mount, a damper in the loop.
static lw_model *driven_loop(void)
{
    return lwt_yaml(
        "linkwork: 1\n"
        "bodies:\n"
        "  a: {mass: 1.3, inertia: [0.02, 0.03, 0.04, 0, 0, 0], position: [0.15, 0, 0.2]}\n"
        "  b: {mass: 0.9, inertia: [0.03, 0.02, 0.03, 0, 0, 0], position: [0.55, 0, 0.3]}\n"
        "  c: {mass: 0.6, inertia: [0.01, 0.02, 0.02, 0, 0, 0], position: [0.8, 0, 0.1]}\n"
        "  d: {mass: 0.4, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [1, 0, 0.3]}\n"
        "functions: {angle: {type: polynomial, coefficients: [0, 0.5, 2]}}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], motion: {q0: "
        "angle},\n"
        "      spring: {q0: {stiffness: 30, damping: 2}}}\n"
        "  B: {type: revolute, between: [a, b], at: [0.3, 0, 0.4], axis: [0, 1, 0]}\n"
        "  C: {type: revolute, between: [b, c], at: [0.8, 0, 0.2], axis: [0, 1, 0],\n"
        "      spring: {q0: {damping: 0.7}}}\n"
        "  D: {type: revolute, between: [ground, c], at: [0.9, 0, 0], axis: [0, 1, 0], rotor: {q0: "
        "0.02}}\n"
        "  E: {type: revolute, between: [c, d], at: [0.9, 0, 0.2], axis: [1, 0, 0]}\n");
}

// Drives do work, which is integrated, too; the law of a stop is that of the state where the run has a mode.
static void prescribed_motions_and_modes_agree(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("modes");
    expect_run(on_rail("motion: {q0: push}"), "driven", "aba", 0, 0.5, 1e-7);
    expect_run(on_rail("qd: [1], limits: {q0: {lower: -1, upper: 0.05, stiffness: 1e4}}"), "stop",
               "aba", 0, 0.5, 1e-6);
    expect_run(driven_loop(), "driven loop", "rcr", RCR_NUMBERS, 0.3, 1e-7);
}

enum { INSTANCES = 13 };

// Speeds of instance i are those of the start times a factor.
static void speeds_of(const lw_model *model, const char *formulation, int i, double q[MOST],
                      double v[MOST])
{
    lw_sim *sim = simulation(model, formulation, "1e-6");
    const lw_observation *o;
    OK(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o));
    for (int k = 0; k < lw_model_joint_count(model); k++)
        q[k] = o->q[k], v[k] = (1 + 0.37 * i) * o->qd[k];
    lw_sim_destroy(sim);
}

static void expect_batch(const lw_model *model, const char *formulation, int lanes, int threads,
                         double end, const char *step, int partitions, double (*expected)[MOST])
{
    lw_options options;
    lw_batch *batch = NULL;
    lw_error error = {0};
    lw_compiled *c = compiled(model, desc_of(lanes, true));
    lw_options_default(&options);
    OK(lw_options_set(&options, "formulation", formulation, NULL));
    OK(lw_options_set(&options, "integrator", "dopri54", NULL));
    OK(lw_options_set(&options, "step", step, NULL));
    const lw_batch_desc desc = {
        .options = &options, .instances = INSTANCES, .threads = threads, .lanes = lanes};
    if (lw_batch_create(model, &desc, &batch, &error) != LW_OK) fail_msg("%s", error.text);
    if (lw_batch_use_compiled(batch, c) != LW_OK) fail_msg("%s", lw_batch_error(batch)->text);
    for (int i = 0; i < INSTANCES; i++) {
        double q[MOST], v[MOST];
        speeds_of(model, formulation, i, q, v);
        OK(lw_batch_set_joints(batch, i, 0, q, v));
    }
    OK(lw_batch_step(batch, end));
    for (int i = 0; i < INSTANCES; i++) {
        double x[MOST];
        lw_batch_get_state(batch, i, NULL, x);
        assert_memory_equal(x, expected[i], (size_t)lw_batch_state_size(batch, i) * sizeof *x);
    }
    assert_true(lw_compiled_about(c).partitions >= partitions);
    lw_batch_destroy(batch);
    lw_compiled_destroy(c);
}

static void expect_same_bits(lw_model *model, const char *formulation, double end, const char *step,
                             int partitions)
{
    static double x[INSTANCES][MOST];
    double by_library[MOST];
    lw_compiled *c = compiled(model, desc_of(1, true));
    for (int i = 0; i < INSTANCES; i++) {
        double q[MOST], v[MOST];
        speeds_of(model, formulation, i, q, v);
        for (int k = 0; k < 2; k++) {
            lw_options options;
            lw_sim *sim = NULL;
            lw_options_default(&options);
            OK(lw_options_set(&options, "formulation", formulation, NULL));
            OK(lw_options_set(&options, "integrator", "dopri54", NULL));
            OK(lw_options_set(&options, "step", step, NULL));
            OK(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, NULL));
            if (k == 1) OK(lw_sim_use_compiled(sim, c));
            OK(lw_sim_set_joints(sim, 0, q, v));
            OK(lw_sim_step(sim, end));
            lw_sim_get_state(sim, NULL, k ? x[i] : by_library);
            lw_sim_destroy(sim);
        }
        assert_memory_not_equal(x[i], by_library, 4 * sizeof *by_library);
        expect_close("batch", "state", x[i], by_library, 4, 1e-4);
    }
    expect_batch(model, formulation, 1, 1, end, step, partitions, x);
    expect_batch(model, formulation, 4, 1, end, step, partitions, x);
    expect_batch(model, formulation, 8, 3, end, step, partitions, x);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void instances_in_lanes_have_the_bits_of_single_runs(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("batch");
    expect_same_bits(four_bar(), "rcr", 0.5, "0.01", 1);
    expect_same_bits(read_model("examples/models/ur5.urdf", LW_BASE_AUTO), "aba", 0.5, "0.01", 0);
    expect_same_bits(forced_loop(), "rcr", 0.5, "0.01", 1);
    expect_same_bits(driven_by_forces("", "B.q0"), "aba", 0.5, "0.01", 0);
}

// A wrench on the carriage that an event switches on where the bob passes an angle.
static lw_model *with_events(void)
{
    char text[1200];
    snprintf(text, sizeof text, carriage, "qd: [1]");
    strcat(text, "signals: {u: {type: switch, value: 0}}\n"
                 "forces: {f: {type: wrench, body: carriage, force_of: [u, 0, 0]}}\n"
                 "events: {pass: {when: hinge.q0 > 0.3, set: {u: 20}}}\n");
    return lwt_yaml(text);
}

static void separate_simulations_have_the_bits_of_single_runs(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("events");
    expect_same_bits(with_events(), "aba", 0.5, "0.01", 0);
}

// Instances have different speeds, so different partitions at a time.
static void instances_take_their_own_partitions(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("own-partitions");
    expect_same_bits(slider_crank(), "rcr", 8, "1e-3", 2);
}

static void simulations_that_cannot_use_it_say_why(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("unfit");
    lw_model *model = four_bar(), *other = read_model("examples/models/ur5.urdf", LW_BASE_AUTO);
    lw_compiled *c = compiled(model, desc_of(1, true));
    lw_sim *momenta = simulation(model, "hdca", "1e-6"), *arm = simulation(other, "aba", "1e-6");
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_sim_use_compiled(momenta, c));
    const char *text = lw_sim_error(momenta)->text;
    assert_non_null(strstr(text, "hdca cannot use compiled rates"));
    assert_non_null(strstr(text, "expected one of aba, "));
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_sim_use_compiled(arm, c));
    text = lw_sim_error(arm)->text;
    assert_non_null(strstr(text, "ur5.urdf cannot use these compiled rates"));
    assert_non_null(strstr(text, "expected 6 coordinates, 6 speeds, 0 states of signals and 0 "
                                 "inputs, found 3, 3, 0 and 0"));
    lw_sim_destroy(momenta);
    lw_sim_destroy(arm);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
    lw_model_destroy(other);
    model = on_rail("qd: [1]"), other = on_rail("qd: [1], spring: {q0: {damping: 1}}");
    c = compiled(model, desc_of(1, true));
    lw_sim *damped = simulation(other, "aba", "1e-6");
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_sim_use_compiled(damped, c));
    assert_non_null(strstr(lw_sim_error(damped)->text, "its forces or motions do work"));
    lw_sim_destroy(damped);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
    lw_model_destroy(other);
}

static void batches_of_several_models_name_what_varies(void **state)
{
    (void)state;
    static const char *const vary[] = {"joint.rail.q0", "body.bob.mass"};
    static const double values[] = {0, 1, 0.1, 2};
    lw_options options;
    lw_batch *batch = NULL;
    lw_error error = {0};
    skip_without_compiler();
    new_cache("several-models");
    lw_model *model = on_rail("qd: [1]");
    lw_compiled *c = compiled(model, desc_of(1, true));
    lw_options_default(&options);
    const lw_batch_desc desc = {
        .options = &options, .instances = 2, .nvary = 2, .vary = vary, .values = values};
    if (lw_batch_create(model, &desc, &batch, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_batch_use_compiled(batch, c));
    const char *text = lw_batch_error(batch)->text;
    if (!strstr(text, "body.bob.mass changes the model")) fail_msg("%s", text);
    lw_batch_destroy(batch);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_agree_within_tolerances),
        cmocka_unit_test(rows_have_the_bits_of_the_library),
        cmocka_unit_test(forces_signals_and_their_work_agree),
        cmocka_unit_test(forward_dynamics_of_models_with_signals_are_refused),
        cmocka_unit_test(prescribed_motions_and_modes_agree),
        cmocka_unit_test(instances_in_lanes_have_the_bits_of_single_runs),
        cmocka_unit_test(separate_simulations_have_the_bits_of_single_runs),
        cmocka_unit_test(instances_take_their_own_partitions),
        cmocka_unit_test(simulations_that_cannot_use_it_say_why),
        cmocka_unit_test(batches_of_several_models_name_what_varies),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
