// test_compiled.c -- compiled models: the numbers of the library, the folder they are kept in, and what is refused.
#include "support/counted_malloc.h"

#include "codegen/generated.h"
#include "compiled/compiled.h"
#include "support/given.h"
#include "support/random_model.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static char cache[256];

// An empty cache of this test alone.
static void new_cache(const char *name)
{
    char where[200];
    assert_non_null(getcwd(where, sizeof where));
    snprintf(cache, sizeof cache, "%.150s/%s/%.20s", where, folder, name);
}

static lw_compiled_desc desc_of(int lanes, bool rates_only)
{
    return (lw_compiled_desc){
        .compiler = LW_C_COMPILER, .cache = cache, .lanes = lanes, .rates_only = rates_only};
}

static lw_compiled *compiled(const lw_model *model, lw_compiled_desc desc)
{
    lw_compiled *c = NULL;
    lw_error error = {0};
    if (lw_compiled_create(model, &desc, &c, &error) != LW_OK) fail_msg("%s", error.text);
    return c;
}

static lw_model *four_bar(void)
{
    return read_model("examples/models/four_bar.yaml", LW_BASE_AUTO);
}

// ------------------------------------------------------------------------------------------ numbers

enum { MOST = 64, STATES = 19 };

// States that satisfy the loops, near the start.
static void states(const lw_compiled *c, const lw_model *model, int n, double q[], double v[])
{
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    uint64_t seed = 5;
    for (int k = 0; k < n; k++) {
        double *qk = q + k * nq, *vk = v + k * nv;
        lw_model_tree_start(model, qk, vk);
        for (int i = 0; i < nq; i++) qk[i] += lwt_random(&seed, -0.1, 0.1);
        for (int i = 0; i < nv; i++) vk[i] += lwt_random(&seed, -1, 1);
        OK(lw_compiled_project(c, 0, qk, vk));
    }
}

static void expect_numbers(const char *file, int lanes)
{
    static double q[STATES * MOST], v[STATES * MOST], tau[STATES * MOST], a[STATES * MOST];
    static double rate[STATES * MOST], b[STATES * MOST], expected[MOST], one[MOST], qdot[MOST];
    static const double t[STATES];
    unsigned char failed[STATES];
    lw_model *model = read_model(file, LW_BASE_AUTO);
    lw_compiled *c = compiled(model, desc_of(lanes, false));
    lw_dynamics *dynamics = NULL;
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    uint64_t seed = 9;
    assert_int_equal(lanes, lw_compiled_about(c).lanes);
    assert_int_equal(nq, lw_compiled_about(c).nq);
    OK(lw_dynamics_create(model, NULL, &dynamics, NULL));
    states(c, model, STATES, q, v);
    for (int i = 0; i < STATES * nv; i++) tau[i] = lwt_random(&seed, -1, 1);
    OK(lw_compiled_forward_dynamics_many(c, STATES, q, v, tau, a, failed));
    OK(lw_compiled_rates_many(c, STATES, t, q, v, NULL, NULL, rate, b, NULL, NULL));
    for (int k = 0; k < STATES; k++) {
        assert_int_equal(0, failed[k]);
        OK(lw_forward_dynamics(dynamics, 0, q + k * nq, v + k * nv, tau + k * nv, NULL, expected));
        expect_close(file, "acceleration", a + k * nv, expected, nv, 1e-10);
        OK(lw_compiled_forward_dynamics(c, q + k * nq, v + k * nv, tau + k * nv, one));
        assert_memory_equal(one, a + k * nv, (size_t)nv * sizeof *one);
        OK(lw_forward_dynamics(dynamics, 0, q + k * nq, v + k * nv, NULL, NULL, expected));
        expect_close(file, "rate of speed", b + k * nv, expected, nv, 1e-10);
        OK(lw_compiled_rates(c, 0, q + k * nq, v + k * nv, NULL, NULL, qdot, one, NULL));
        assert_memory_equal(one, b + k * nv, (size_t)nv * sizeof *one);
        assert_memory_equal(qdot, rate + k * nq, (size_t)nq * sizeof *qdot);
    }
    lw_dynamics_destroy(dynamics);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void agrees_with_the_library_and_itself_in_any_lanes(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("numbers");
    expect_numbers("examples/models/four_bar.yaml", 1);
    expect_numbers("examples/models/four_bar.yaml", 4);
    expect_numbers("examples/models/ur5.urdf", 8);
}

// One of many states cannot be evaluated: it is marked, and the others have the bits they have without it.
static void expect_mark(int lanes)
{
    enum { BAD = 6 };
    static double q[STATES * MOST], v[STATES * MOST], rate[2][STATES * MOST], a[2][STATES * MOST];
    static const double t[STATES];
    unsigned char failed[3][STATES];
    lw_model *model = four_bar();
    lw_compiled *c = compiled(model, desc_of(lanes, false));
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    states(c, model, STATES, q, v);
    OK(lw_compiled_rates_many(c, STATES, t, q, v, NULL, NULL, rate[0], a[0], NULL, failed[0]));
    for (int i = 0; i < nq; i++) q[BAD * nq + i] = NAN;
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_rates_many(c, STATES, t, q, v, NULL, NULL,
                                                             rate[1], a[1], NULL, failed[0]));
    assert_int_equal(LW_ERR_SINGULAR,
                     lw_compiled_forward_dynamics_many(c, STATES, q, v, NULL, rate[0], failed[1]));
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_project_many(c, STATES, t, q, v, failed[2]));
    for (int k = 0; k < STATES; k++) {
        for (int i = 0; i < 3; i++) assert_int_equal(k == BAD, failed[i][k]);
        if (k != BAD) assert_memory_equal(a[1] + k * nv, a[0] + k * nv, (size_t)nv * sizeof *a[0]);
    }
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void states_that_fail_are_marked_in_any_lanes(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("marks");
    expect_mark(1);
    expect_mark(4);
}

// Speeds off the loops: rates are those of the independent ones.
static void rates_need_independent_speeds_alone(void **state)
{
    (void)state;
    double q[MOST], v[MOST], w[MOST], qdot[2][MOST], vdot[2][MOST];
    skip_without_compiler();
    new_cache("speeds");
    lw_model *model = four_bar();
    lw_compiled *c = compiled(model, desc_of(1, true));
    const int nv = lw_model_tree_nv(model);
    states(c, model, 1, q, v);
    OK(lw_compiled_rates(c, 0, q, v, NULL, NULL, qdot[0], vdot[0], NULL));
    for (int i = 0; i < nv; i++) {
        double alone[MOST], p[MOST];
        memcpy(w, v, sizeof w);
        w[i] += 0.1;
        memcpy(alone, w, sizeof alone);
        memcpy(p, q, sizeof p);
        OK(lw_compiled_project(c, 0, p, alone));
        OK(lw_compiled_rates(c, 0, q, w, NULL, NULL, qdot[1], vdot[1], NULL));
        OK(lw_compiled_rates(c, 0, q, alone, NULL, NULL, qdot[0], vdot[0], NULL));
        expect_close("four-bar", "qdot", qdot[1], qdot[0], nv, 1e-12);
        expect_close("four-bar", "vdot", vdot[1], vdot[0], nv, 1e-12);
    }
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_forward_dynamics(c, q, v, NULL, vdot[0]));
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static const char parallelogram[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, 0.5]}\n"
    "  coupler: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1, 0, 1]}\n"
    "  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [2, 0, 0.5]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  B: {type: revolute, between: [crank, coupler], at: [0, 0, 1], axis: [0, 1, 0]}\n"
    "  C: {type: revolute, between: [coupler, rocker], at: [2, 0, 1], axis: [0, 1, 0], cut: "
    "prefer}\n"
    "  D: {type: revolute, between: [ground, rocker], at: [2, 0, 0], axis: [0, 1, 0]}\n";

// The dependent speeds are those of crank and rocker; their lever arms to the cut joint, from A and D to C, are in line where
// all bodies are.
static void margins_are_squared_sines_and_lengths_of_lever_arms(void **state)
{
    (void)state;
    lw_model *model = NULL;
    lw_error error = {0};
    skip_without_compiler();
    new_cache("margins");
    if (lw_model_parse(parallelogram, strlen(parallelogram), "text",
                       &(lw_read_desc){.format = "yaml"}, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    lw_compiled *c = compiled(model, desc_of(1, true));
    for (double angle = 0; angle < 1.57; angle += 0.1) {
        double q[3] = {0}, v[3] = {0};
        int a, b, d, n;
        OK(lw_model_joint_tree(model, (lw_joint){0}, &a, &n, NULL, NULL));
        OK(lw_model_joint_tree(model, (lw_joint){1}, &b, &n, NULL, NULL));
        OK(lw_model_joint_tree(model, (lw_joint){3}, &d, &n, NULL, NULL));
        q[a] = q[d] = angle, q[b] = -angle;
        OK(lw_compiled_project(c, 0, q, v));
        const double arm[2][2] = {{2 + sin(angle), cos(angle)}, {sin(angle), cos(angle)}};
        const double cross = arm[0][0] * arm[1][1] - arm[0][1] * arm[1][0];
        const double lengths2 = (arm[0][0] * arm[0][0] + arm[0][1] * arm[0][1]);
        // that of the rocker is 1, of the coupler 2: its square relative to the mean of the loop
        const double length2 = 3 / (lengths2 + 1 + 4);
        const double margin = c->calls->margin(0, q),
                     expected = fmin(cross * cross / lengths2, length2);
        if (!(fabs(margin - expected) < 1e-12)) fail_msg("%g: %g, %g", angle, margin, expected);
    }
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------------- runs

static lw_sim *simulation(const lw_model *model, const char *formulation, const char *tolerance)
{
    lw_options options;
    lw_sim *sim = NULL;
    lw_error error = {0};
    lw_options_default(&options);
    OK(lw_options_set(&options, "formulation", formulation, NULL));
    OK(lw_options_set(&options, "rtol", tolerance, NULL));
    OK(lw_options_set(&options, "atol", tolerance, NULL));
    const lw_sim_desc desc = {.options = &options};
    if (lw_sim_create(model, &desc, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    return sim;
}

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

// The library evaluates the work, and with it the forces, in addition to the compiled rates.
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

// ---------------------------------------------------------------------------------------- partitions

// A crank of 10 m on a slider: its angles are dependent at the start, for their lever arms are the longest, and the position
// of the slider is independent, which it is not at the dead points of each revolution.
static lw_model *slider_crank(void)
{
    return lwt_yaml(
        "linkwork: 1\n"
        "parameters: {a: 60 deg, x: 10*cos(a) + sqrt(400 - 100*sin(a)^2)}\n"
        "bodies:\n"
        "  crank: {mass: 3, inertia: [30, 30, 30, 0, 0, 0], position: [5*cos(a), 0, 5*sin(a)]}\n"
        "  rod: {mass: 2, inertia: [60, 60, 60, 0, 0, 0], position: [5*cos(a) + x/2, 0, "
        "5*sin(a)]}\n"
        "  piston: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [x, 0, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0], qd: [3]}\n"
        "  B: {type: revolute, between: [crank, rod], at: [10*cos(a), 0, 10*sin(a)], axis: [0, 1, "
        "0]}\n"
        "  C: {type: revolute, between: [rod, piston], at: [x, 0, 0], axis: [0, 1, 0], cut: "
        "prefer}\n"
        "  D: {type: prismatic, between: [ground, piston], at: [0, 0, 0], axis: [1, 0, 0]}\n");
}

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

// Instances have different speeds, so different partitions at a time.
static void instances_take_their_own_partitions(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("own-partitions");
    expect_same_bits(slider_crank(), "rcr", 8, "1e-3", 2);
}

#define THIRD 1.0471975511965976 // pi / 3

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
    bad_q[iq[0]] = THIRD;
    bad_q[iq[1]] = -THIRD - asin(0.5 * sin(THIRD));
    bad_q[iq[2]] = 30 - 5 - sqrt(400 - 75);
    bad_v[iv[0]] = 3, bad_v[iv[1]] = -3, bad_v[iv[2]] = 0.5; // the last one is not consistent
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

static void simulations_that_cannot_use_it_say_why(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("unfit");
    lw_model *model = four_bar(), *other = read_model("examples/models/ur5.urdf", LW_BASE_AUTO);
    lw_compiled *c = compiled(model, desc_of(1, true));
    lw_sim *momenta = simulation(model, "hdca", "1e-6"), *arm = simulation(other, "aba", "1e-6");
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_sim_use_compiled(momenta, c));
    assert_non_null(strstr(lw_sim_error(momenta)->text, "hdca cannot use compiled rates"));
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_sim_use_compiled(arm, c));
    assert_non_null(strstr(lw_sim_error(arm)->text, "another model"));
    lw_sim_destroy(momenta);
    lw_sim_destroy(arm);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
    lw_model_destroy(other);
}

// ------------------------------------------------------------------------------------------- cache

static bool found(const lw_model *model)
{
    lw_compiled *c = compiled(model, desc_of(1, true));
    double q[MOST], v[MOST];
    states(c, model, 1, q, v); // it works
    const lw_compiled_info info = lw_compiled_about(c);
    assert_true(info.letters > 1000 && info.compiler[0]);
    assert_true(info.found ? info.compiling == 0 : info.compiling > 0);
    lw_compiled_destroy(c);
    return info.found;
}

// The only file of the cache.
static void find_file(char path[400])
{
    char pattern[300];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/*", cache);
    assert_int_equal(0, glob(pattern, 0, NULL, &files));
    assert_int_equal(1, files.gl_pathc); // no folder that was built in is left
    snprintf(path, 400, "%s", files.gl_pathv[0]);
    globfree(&files);
}

static void damage(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(0, fseek(file, at, at < 0 ? SEEK_END : SEEK_SET));
    const int byte = fgetc(file);
    assert_int_equal(0, fseek(file, -1, SEEK_CUR));
    fputc(byte ^ 1, file);
    fclose(file);
}

// As a program that is stopped while it compiles leaves it, two days ago.
static void make_abandoned_folder(void)
{
    char path[300], file[330];
    const struct timespec then[2] = {{.tv_sec = time(NULL) - 2 * 86400},
                                     {.tv_sec = time(NULL) - 2 * 86400}};
    snprintf(path, sizeof path, "%s/new-123456", cache);
    snprintf(file, sizeof file, "%s/model.c", path);
    assert_int_equal(0, mkdir(path, 0700));
    fclose(fopen(file, "w"));
    assert_int_equal(0, utimensat(AT_FDCWD, path, then, 0));
}

static void files_are_found_again_and_damaged_ones_built_again(void **state)
{
    (void)state;
    char path[400];
    struct stat about;
    skip_without_compiler();
    new_cache("files");
    lw_model *model = four_bar();
    lw_compiled_info info = {0};
    const lw_compiled_desc desc = desc_of(1, true);
    OK(lw_compiled_predict(model, &desc, &info, NULL));
    assert_true(!info.found && info.compiling > 0);
    assert_false(found(model));
    assert_int_equal(0, stat(cache, &about));
    assert_int_equal(0700, about.st_mode & 0777);
    assert_true(found(model));
    OK(lw_compiled_predict(model, &desc, &info, NULL));
    assert_true(info.found && info.compiling == 0);
    find_file(path);
    const long places[] = {3000, -40, 0}; // in the code, in the checksum, at the head
    for (int i = 0; i < 3; i++) {
        damage(path, places[i]);
        assert_false(found(model));
        assert_true(found(model));
    }
    assert_int_equal(0, truncate(path, 1000));
    assert_false(found(model));
    assert_int_equal(0, truncate(path, 0));
    assert_false(found(model));
    assert_int_equal(0, chmod(path, 0622)); // somebody may have written it
    make_abandoned_folder();
    assert_false(found(model));
    assert_true(found(model));
    find_file(path);
    lw_model_destroy(model);
}

static void a_folder_that_others_can_write_is_refused(void **state)
{
    (void)state;
    lw_error error = {0};
    lw_compiled *c = NULL;
    skip_without_compiler();
    new_cache("open");
    lw_model *model = four_bar();
    const lw_compiled_desc desc = desc_of(1, true);
    for (mode_t mode = 020; mode; mode = mode == 020 ? 02 : 0) {
        mkdir(cache, 0700);
        assert_int_equal(0, chmod(cache, 0700 | mode));
        assert_int_equal(LW_ERR_IO, lw_compiled_create(model, &desc, &c, &error));
        assert_non_null(strstr(error.text, cache));
        assert_non_null(strstr(error.text, "can be written by others"));
    }
    assert_int_equal(0, chmod(cache, 0755)); // to be read is harmless
    assert_false(found(model));
    lw_model_destroy(model);
}

// Also as root: where a file is in its place no folder can be made.
static void without_a_folder_it_is_compiled_each_time(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("none");
    lw_model *model = four_bar();
    fclose(fopen(cache, "w"));
    assert_false(found(model));
    assert_false(found(model));
    if (geteuid() != 0) {
        new_cache("read-only");
        assert_int_equal(0, mkdir(cache, 0500));
        assert_false(found(model));
        assert_false(found(model));
        rmdir(cache);
    }
    lw_model_destroy(model);
}

static void the_folder_is_that_of_the_variables(void **state)
{
    (void)state;
    char path[400], *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    lw_compiled *c = NULL;
    skip_without_compiler();
    new_cache("home");
    lw_model *model = four_bar();
    const lw_compiled_desc desc = {.compiler = LW_C_COMPILER, .lanes = 1, .rates_only = true};
    char before[2][400];
    snprintf(before[0], 400, "%s", xdg ? xdg : "");
    snprintf(before[1], 400, "%s", home ? home : "");
    setenv("XDG_CACHE_HOME", cache, 1);
    OK(lw_compiled_create(model, &desc, &c, NULL));
    lw_compiled_destroy(c);
    snprintf(path, sizeof path, "%s", cache);
    snprintf(cache, sizeof cache, "%.200s/linkwork", path);
    assert_true(found(model));
    setenv("HOME", path, 1);
    setenv("XDG_CACHE_HOME", "relative", 1); // to be ignored
    OK(lw_compiled_create(model, &desc, &c, NULL));
    lw_compiled_destroy(c);
    snprintf(cache, sizeof cache, "%.200s/.cache/linkwork", path);
    assert_true(found(model));
    before[0][0] ? setenv("XDG_CACHE_HOME", before[0], 1) : unsetenv("XDG_CACHE_HOME");
    before[1][0] ? setenv("HOME", before[1], 1) : unsetenv("HOME");
    lw_model_destroy(model);
}

static void two_processes_build_at_once(void **state)
{
    (void)state;
    enum { PROCESSES = 4 };
    char path[400];
    pid_t child[PROCESSES];
    skip_without_compiler();
    new_cache("several");
    lw_model *model = four_bar();
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] > 0) continue;
        lw_compiled *c = NULL;
        const lw_compiled_desc desc = desc_of(1, true);
        _exit(lw_compiled_create(model, &desc, &c, NULL) == LW_OK ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        assert_int_equal(child[i], waitpid(child[i], &status, 0));
        assert_int_equal(0, status);
    }
    assert_true(found(model));
    find_file(path);
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------------------- compilers

static void expect_failure(const lw_model *model, const char *compiler, const char *text)
{
    lw_error error = {0};
    lw_compiled *c = NULL;
    const lw_compiled_desc desc = {.compiler = compiler, .cache = cache};
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_create(model, &desc, &c, &error));
    assert_null(c);
    if (!strstr(error.text, text)) fail_msg("'%s' without '%s'", error.text, text);
}

static void compilers_that_are_missing_or_fail_are_named(void **state)
{
    (void)state;
    char script[300];
    new_cache("compilers");
    lw_model *model = four_bar();
    expect_failure(model, "/nonexistent", "'/nonexistent', cannot be called: No such file");
    expect_failure(model, "false", "'false', cannot be called");
    expect_failure(model, "  ", "expected a command of one to 16 words");
    setenv("CC", "/nonexistent too", 1);
    expect_failure(model, NULL, "the compiler of CC, '/nonexistent too', cannot be called");
    unsetenv("CC");
    snprintf(script, sizeof script, "%s/%s", folder, "failing-compiler");
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\ncase \"$*\" in *--version*) echo failing 1.0; exit 0;; esac\n"
          "echo 'a note'; echo 'x.c:3: error: nothing goes' >&2; exit 3\n",
          file);
    fclose(file);
    assert_int_equal(0, chmod(script, 0700));
    expect_failure(model, script, "fails with code 3: x.c:3: error: nothing goes");
    char pattern[300];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/*", cache);
    assert_int_equal(GLOB_NOMATCH, glob(pattern, 0, NULL, &files));
    lw_model_destroy(model);
}

static void what_is_not_generated_is_named(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\ngenerate: {chain: {n: 65}}\n";
    lw_model *model = NULL;
    lw_error error = {0};
    lw_compiled *c = NULL;
    const lw_read_desc read = {.format = "yaml"};
    skip_without_compiler();
    new_cache("refused");
    if (lw_model_parse(text, strlen(text), "text", &read, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    const lw_compiled_desc desc = desc_of(0, false);
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_create(model, &desc, &c, &error));
    assert_non_null(strstr(error.text, "65"));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_library_and_itself_in_any_lanes),
        cmocka_unit_test(states_that_fail_are_marked_in_any_lanes),
        cmocka_unit_test(rates_need_independent_speeds_alone),
        cmocka_unit_test(margins_are_squared_sines_and_lengths_of_lever_arms),
        cmocka_unit_test(runs_agree_within_tolerances),
        cmocka_unit_test(forces_signals_and_their_work_agree),
        cmocka_unit_test(forward_dynamics_of_models_with_signals_are_refused),
        cmocka_unit_test(prescribed_motions_and_modes_agree),
        cmocka_unit_test(instances_in_lanes_have_the_bits_of_single_runs),
        cmocka_unit_test(separate_simulations_have_the_bits_of_single_runs),
        cmocka_unit_test(a_run_takes_another_partition_at_dead_points),
        cmocka_unit_test(instances_take_their_own_partitions),
        cmocka_unit_test(calls_take_another_partition_on_demand),
        cmocka_unit_test(simulations_that_cannot_use_it_say_why),
        cmocka_unit_test(files_are_found_again_and_damaged_ones_built_again),
        cmocka_unit_test(a_folder_that_others_can_write_is_refused),
        cmocka_unit_test(without_a_folder_it_is_compiled_each_time),
        cmocka_unit_test(the_folder_is_that_of_the_variables),
        cmocka_unit_test(two_processes_build_at_once),
        cmocka_unit_test(compilers_that_are_missing_or_fail_are_named),
        cmocka_unit_test(what_is_not_generated_is_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
