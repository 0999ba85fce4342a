// test_batch.c -- a batch is what its instances are alone, bit for bit: lanes, threads, padding,
// rejections, breaks, inputs, parameters; failures stay with the instance that fails.
#include "support/random_model.h"

#include "batch/batch.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void ok(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s: %s", lw_status_text(status), error ? error->text : "");
}

static lw_options options(const char *integrator, double tolerance)
{
    lw_options o;
    lw_options_default(&o);
    snprintf(o.integrator, sizeof o.integrator, "%s", integrator);
    o.rtol = o.atol = tolerance;
    if (!strcmp(integrator, "rk4")) o.step = 0.01;
    return o;
}

// ------------------------------------------------------------------------------------------ starts

enum { MOST = 64 };

// Coordinates and speeds of an instance: those of the model, moved by a random amount.  Later
// instances are livelier, so that numbers of steps and rejections differ widely.
static void start_of(const lw_model *model, uint64_t seed, int instance, int count, double *q,
                     double *v)
{
    uint64_t state = seed * 1000003u + (uint64_t)instance;
    const double spread = 3.0 * (instance + 1) / count;
    memcpy(q, model->q0, (size_t)model->nq * sizeof *q);
    memcpy(v, model->v0, (size_t)model->nv * sizeof *v);
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        if (joint->node < 0) continue;
        for (int k = 0; k < joint->type->nv; k++) {
            const double dq = lwt_random(&state, -1, 1), dv = spread * lwt_random(&state, -2, 2);
            if (joint->motion[k].index) continue;
            if (joint->type->scalar) q[joint->iq + k] += dq;
            v[joint->iv + k] += dv;
        }
    }
}

typedef struct end {
    double t, x[MOST];
    lw_summary summary;
    lw_status status;
    lw_error error;
} end;

// Instance alone: a simulation, stepped to the rows.
static end alone(const lw_model *model, const lw_options *o, uint64_t seed, int instance, int count,
                 const double *rows, int nrow)
{
    static double q[256], v[256];
    end e = {.status = LW_OK};
    lw_sim *sim;
    lw_error error = {0};
    const lw_sim_desc desc = {.options = o};
    ok(lw_sim_create(model, &desc, &sim, &error), &error);
    assert_true(lw_sim_state_size(sim) <= MOST);
    start_of(model, seed, instance, count, q, v);
    ok(lw_sim_set_joints(sim, 0, q, v), lw_sim_error(sim));
    if (lw_model_input_count(model))
        ok(lw_sim_set_input(sim, 0, 0.1 * instance), lw_sim_error(sim));
    for (int k = 0; k < nrow && e.status == LW_OK; k++) e.status = lw_sim_step(sim, rows[k]);
    e.error = *lw_sim_error(sim);
    lw_sim_get_state(sim, &e.t, e.x);
    lw_sim_summary(sim, &e.summary);
    lw_sim_destroy(sim);
    return e;
}

static lw_batch *make_batch(const lw_model *model, const lw_options *o, uint64_t seed, int count,
                            int threads, int lanes)
{
    static double q[256], v[256];
    lw_batch *batch;
    lw_error error = {0};
    const lw_batch_desc desc = {
        .options = o, .instances = count, .threads = threads, .lanes = lanes};
    ok(lw_batch_create(model, &desc, &batch, &error), &error);
    for (int i = 0; i < count; i++) {
        start_of(model, seed, i, count, q, v);
        ok(lw_batch_set_joints(batch, i, 0, q, v), lw_batch_error(batch));
        if (lw_model_input_count(model))
            ok(lw_batch_set_input(batch, i, 0, 0.1 * i), lw_batch_error(batch));
    }
    return batch;
}

static void same_end(const end *expected, const lw_batch *batch, int i, const char *what)
{
    double t, x[MOST];
    lw_summary s;
    assert_int_equal(lw_batch_get_state(batch, i, &t, x), LW_OK);
    lw_batch_summary(batch, i, &s);
    const size_t bytes = (size_t)lw_batch_state_size(batch, i) * sizeof *x;
    if (t != expected->t || memcmp(x, expected->x, bytes) != 0 ||
        s.steps != expected->summary.steps || s.rejected != expected->summary.rejected ||
        s.evaluations != expected->summary.evaluations)
        fail_msg("%s, instance %d: t %.17g %.17g, x0 %.17g %.17g, steps %ld %ld, rejected %ld %ld, "
                 "evaluations %ld %ld",
                 what, i, t, expected->t, x[0], expected->x[0], s.steps, expected->summary.steps,
                 s.rejected, expected->summary.rejected, s.evaluations,
                 expected->summary.evaluations);
}

// ----------------------------------------------------------------- the same bits, however computed

static const double rows[] = {0.1, 0.25, 0.7, 1.0};

static void compare_all(const lw_model *model, const lw_options *o, uint64_t seed, int count)
{
    static const struct {
        int threads, lanes;
    } ways[] = {{1, 8}, {1, 1}, {1, 4}, {2, 8}, {3, 4}, {8, 8}, {5, 1}};
    end *expected = calloc((size_t)count, sizeof *expected);
    assert_non_null(expected);
    for (int i = 0; i < count; i++)
        expected[i] = alone(model, o, seed, i, count, rows, COUNT(rows));
    for (int w = 0; w < COUNT(ways); w++) {
        char what[80];
        snprintf(what, sizeof what, "seed %d, %s, %d threads, %d lanes", (int)seed, o->integrator,
                 ways[w].threads, ways[w].lanes);
        lw_batch *batch = make_batch(model, o, seed, count, ways[w].threads, ways[w].lanes);
        for (int k = 0; k < COUNT(rows); k++) lw_batch_step(batch, rows[k]);
        for (int i = 0; i < count; i++) same_end(&expected[i], batch, i, what);
        lw_batch_destroy(batch);
    }
    free(expected);
}

// Trees of every kind of joint and force; 11 instances leave lanes empty.
static void a_batch_is_its_instances(void **state)
{
    (void)state;
    static const unsigned kinds[] = {0, LWT_MULTI, LWT_QUASI | LWT_FLOATING,
                                     LWT_FORCES | LWT_MULTI | LWT_REVERSED, LWT_ALL};
    for (int k = 0; k < COUNT(kinds); k++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            lw_model *model;
            const uint64_t drawn = seed + 10 * (uint64_t)k;
            assert_int_equal(lwt_random_tree(drawn, 3 + (int)seed, kinds[k], &model), LW_OK);
            const lw_options dopri54 = options("dopri54", 1e-6), rk4 = options("rk4", 1e-6);
            compare_all(model, &dopri54, drawn, 11);
            compare_all(model, &rk4, drawn, 11);
            lw_model_destroy(model);
        }
}

// Instances differ in steps and rejections (else the test above would show little).
static void instances_have_separate_step_sizes(void **state)
{
    (void)state;
    lw_model *model;
    assert_int_equal(lwt_random_tree(3, 5, 0, &model), LW_OK);
    const lw_options o = options("dopri54", 1e-7);
    lw_batch *batch = make_batch(model, &o, 3, 24, 1, 8);
    ok(lw_batch_step(batch, 2), lw_batch_error(batch));
    long minimum = 1000000, maximum = 0, rejected[2] = {1000000, 0};
    for (int i = 0; i < 24; i++) {
        lw_summary s;
        lw_batch_summary(batch, i, &s);
        minimum = s.steps < minimum ? s.steps : minimum;
        maximum = s.steps > maximum ? s.steps : maximum;
        rejected[0] = s.rejected < rejected[0] ? s.rejected : rejected[0];
        rejected[1] = s.rejected > rejected[1] ? s.rejected : rejected[1];
    }
    print_message("steps %ld to %ld, rejected %ld to %ld\n", minimum, maximum, rejected[0],
                  rejected[1]);
    assert_true(maximum > minimum && rejected[1] > rejected[0]);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

static void every_number_of_instances_and_threads(void **state)
{
    (void)state;
    lw_model *model;
    assert_int_equal(lwt_random_tree(5, 3, LWT_FORCES, &model), LW_OK);
    const lw_options o = options("dopri54", 1e-5);
    end expected[20];
    for (int i = 0; i < 20; i++) expected[i] = alone(model, &o, 5, i, 20, rows, 1);
    for (int threads = 1; threads <= 8; threads++)
        for (int n = 1; n <= 20; n += threads == 1 ? 1 : 6) {
            lw_batch *batch = make_batch(model, &o, 5, 20, threads, 8);
            lw_batch_destroy(batch);
            batch = make_batch(model, &o, 5, 20, threads, n % 2 ? 8 : 4);
            for (int i = n; i < 20; i++) // the others stay
                ok(lw_batch_set_state(batch, i, rows[0], expected[i].x), lw_batch_error(batch));
            ok(lw_batch_step(batch, rows[0]), lw_batch_error(batch));
            for (int i = 0; i < n; i++) same_end(&expected[i], batch, i, "some");
            lw_batch_destroy(batch);
        }
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------- restarts and inputs

// Inputs and states that are set between steps act as in a simulation.
static void settings_act_as_alone(void **state)
{
    (void)state;
    lw_model *model;
    assert_int_equal(lwt_random_tree(8, 4, LWT_FORCES, &model), LW_OK);
    assert_true(lw_model_input_count(model) > 0);
    const lw_options o = options("dopri54", 1e-7);
    const lw_sim_desc desc = {.options = &o};
    enum { N = 9 };
    static double q[256], v[256];
    lw_batch *batch = make_batch(model, &o, 8, N, 2, 8);
    lw_sim *sim[N];
    lw_error error;
    double x[MOST];
    for (int i = 0; i < N; i++) {
        ok(lw_sim_create(model, &desc, &sim[i], &error), &error);
        start_of(model, 8, i, N, q, v);
        ok(lw_sim_set_joints(sim[i], 0, q, v), NULL);
        ok(lw_sim_set_input(sim[i], 0, 0.1 * i), NULL);
    }
    for (int k = 1; k <= 6; k++) {
        for (int i = 0; i < N; i++) {
            if ((i + k) % 3 == 0) {
                ok(lw_sim_set_input(sim[i], 0, sin(i + k)), NULL);
                ok(lw_batch_set_input(batch, i, 0, sin(i + k)), NULL);
            }
            if ((i + k) % 5 == 0) {
                lw_sim_get_state(sim[i], NULL, x);
                x[0] += 0.1;
                ok(lw_sim_set_state(sim[i], 0.1 * (k - 1), x), NULL);
                ok(lw_batch_set_state(batch, i, 0.1 * (k - 1), x), NULL);
            }
        }
        ok(lw_batch_step(batch, 0.1 * k), lw_batch_error(batch));
        for (int i = 0; i < N; i++) {
            end e = {.status = lw_sim_step(sim[i], 0.1 * k)};
            assert_int_equal(e.status, LW_OK);
            lw_sim_get_state(sim[i], &e.t, e.x);
            lw_sim_summary(sim[i], &e.summary);
            same_end(&e, batch, i, "set");
            lw_summary s;
            lw_batch_summary(batch, i, &s);
            assert_int_equal(s.restarts, e.summary.restarts);
        }
    }
    for (int i = 0; i < N; i++) lw_sim_destroy(sim[i]);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

static void observations_are_those_of_a_simulation(void **state)
{
    (void)state;
    lw_model *model;
    assert_int_equal(lwt_random_tree(4, 4, LWT_FORCES | LWT_FLOATING, &model), LW_OK);
    const lw_options o = options("dopri54", 1e-6);
    const lw_sim_desc desc = {.options = &o};
    lw_batch *batch = make_batch(model, &o, 4, 3, 1, 8);
    for (int i = 0; i < 3; i++) {
        lw_sim *sim;
        static double q[256], v[256];
        const lw_observation *a, *b;
        ok(lw_sim_create(model, &desc, &sim, NULL), NULL);
        start_of(model, 4, i, 3, q, v);
        ok(lw_sim_set_joints(sim, 0, q, v), NULL);
        ok(lw_sim_set_input(sim, 0, 0.1 * i), NULL);
        for (int k = 0; k < 3; k++) {
            ok(lw_sim_step(sim, 0.2 * k), NULL);
            if (i == 0) ok(lw_batch_step(batch, 0.2 * k), NULL);
        }
        ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &a), NULL);
        ok(lw_batch_observe(batch, i, LW_OBSERVE_REACTION, &b), lw_batch_error(batch));
        const size_t nbody = (size_t)lw_model_body_count(model),
                     njoint = (size_t)lw_model_joint_count(model);
        assert_true(a->time == b->time && a->kinetic == b->kinetic && a->work == b->work);
        assert_memory_equal(a->position, b->position, nbody * sizeof *a->position);
        assert_memory_equal(a->acceleration, b->acceleration, nbody * sizeof *a->acceleration);
        assert_memory_equal(a->reaction, b->reaction, njoint * sizeof *a->reaction);
        lw_sim_destroy(sim);
    }
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------- parameters

static const char pendulums[] =
    "linkwork: 1\n"
    "inputs: [torque]\n"
    "bodies:\n"
    "  rod: {mass: 2, inertia: [0.1, 0.1, 0.06, 0, 0, 0], position: [0, 0, -1]}\n"
    "  bob: {mass: 1, inertia: [0.02, 0.02, 0.02, 0, 0, 0], position: [0, 0, -2]}\n"
    "joints:\n"
    "  hinge:\n"
    "    {type: revolute, between: [ground, rod], at: [0, 0, 0],\n"
    "     axis: [0, 1, 0], spring: {q0: {damping: 0.01}}, effort: {q0: torque}}\n"
    "  elbow:\n"
    "    {type: revolute, between: [rod, bob], at: [0, 0, -1.5],\n"
    "     axis: [0, 1, 0], spring: {q0: {stiffness: 1, damping: 0.01}}}\n";

static lw_model *parse(const char *text)
{
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    ok(lw_model_parse(text, strlen(text), "text", &desc, &model, NULL, &error), &error);
    return model;
}

// Everything that can be named: against a model of which the file says it.
static void parameters_are_those_of_a_file(void **state)
{
    (void)state;
    static const char changed[] =
        "linkwork: 1\n"
        "gravity: [0.5, 0, -3]\n"
        "inputs: [torque]\n"
        "bodies:\n"
        "  rod: {mass: 3, inertia: [0.15, 0.1, 0.06, 0, 0, 0], position: [0, 0, -1]}\n"
        "  bob: {mass: 2, inertia: [0.04, 0.04, 0.04, 0, 0, 0], position: [0, 0, -2]}\n"
        "joints:\n"
        "  hinge:\n"
        "    {type: revolute, between: [ground, rod], at: [0, 0, 0],\n"
        "     axis: [0, 1, 0], spring: {q0: {damping: 0.02}}, effort: {q0: torque}}\n"
        "  elbow:\n"
        "    {type: revolute, between: [rod, bob], at: [0, 0, -1.5],\n"
        "     axis: [0, 1, 0], spring: {q0: {stiffness: 4, damping: 0.01}}, rotor: {q0: 0.05}}\n";
    static const char *const names[] = {"gravity.x",
                                        "gravity.z",
                                        "body.rod.mass",
                                        "body.rod.Ixx",
                                        "body.bob.scale",
                                        "joint.hinge.damping0",
                                        "joint.elbow.stiffness0",
                                        "joint.hinge.q0",
                                        "joint.elbow.qd0",
                                        "input.torque",
                                        "joint.elbow.rotor0"};
    static const double values[3][COUNT(names)] = {
        {0, -9.81, 2, 0.1, 1, 0.01, 1, 0, 0, 0, 0},
        {0.5, -3, 3, 0.15, 2, 0.02, 4, 0.3, -0.2, 0.7, 0.05},
        {0.5, -3, 3, 0.15, 2, 0.02, 4, 0.1, 1, 0, 0.05},
    };
    lw_model *plain = parse(pendulums), *other = parse(changed);
    const lw_options o = options("dopri54", 1e-8);
    const lw_batch_desc desc = {
        .options = &o, .instances = 3, .nvary = COUNT(names), .vary = names, .values = values[0]};
    lw_batch *batch;
    lw_error error = {0};
    ok(lw_batch_create(plain, &desc, &batch, &error), &error);
    assert_ptr_not_equal(lw_batch_model(batch, 0), lw_batch_model(batch, 1));
    assert_ptr_equal(lw_batch_model(batch, 2), lw_batch_model(batch, 1));
    ok(lw_batch_step(batch, 1), lw_batch_error(batch));
    for (int i = 0; i < 3; i++) {
        lw_sim *sim;
        const lw_sim_desc sim_desc = {.options = &o};
        end e = {.status = LW_OK};
        ok(lw_sim_create(i ? other : plain, &sim_desc, &sim, &error), &error);
        const double q[2] = {values[i][7], 0}, v[2] = {0, values[i][8]};
        ok(lw_sim_set_joints(sim, 0, q, v), lw_sim_error(sim));
        ok(lw_sim_set_input(sim, 0, values[i][9]), lw_sim_error(sim));
        ok(lw_sim_step(sim, 1), lw_sim_error(sim));
        lw_sim_get_state(sim, &e.t, e.x);
        lw_sim_summary(sim, &e.summary);
        same_end(&e, batch, i, "parameters");
        lw_sim_destroy(sim);
    }
    lw_batch_destroy(batch);
    lw_model_destroy(plain);
    lw_model_destroy(other);
}

static void expect_refusal(const lw_model *model, const char *name, double value, const char *part)
{
    lw_batch *batch = NULL;
    lw_error error = {0};
    const double values[2] = {0.5, value};
    const lw_batch_desc desc = {.instances = 2, .nvary = 1, .vary = &name, .values = values};
    const lw_status status = lw_batch_create(model, &desc, &batch, &error);
    if (status == LW_OK || !strstr(error.text, part))
        fail_msg("%s = %g: %s, expected '%s'", name, value, error.text, part);
    assert_int_equal(status, error.status);
    assert_null(batch);
}

// Forces with every parameter they have, by its name behind the NAME of the force, and the values of two files.
static const struct {
    const char *name;
    double value[2];
} force_values[] = {
    {"spring.coil.stiffness", {20, 30}},
    {"spring.coil.damping", {0.1, 0.2}},
    {"spring.coil.length", {0.9, 0.7}},
    {"wrench.push.fx", {1, -2}},
    {"wrench.push.fy", {0.5, 3}},
    {"wrench.push.fz", {2, 1.5}},
    {"wrench.push.tx", {0.1, -0.3}},
    {"wrench.push.ty", {0.2, 0.4}},
    {"wrench.push.tz", {0.3, 0.6}},
    {"bushing.pad.stiffness_x", {50, 55}},
    {"bushing.pad.stiffness_y", {60, 66}},
    {"bushing.pad.stiffness_z", {70, 77}},
    {"bushing.pad.stiffness_rx", {8, 8.5}},
    {"bushing.pad.stiffness_ry", {9, 9.5}},
    {"bushing.pad.stiffness_rz", {7, 7.5}},
    {"bushing.pad.damping_x", {0.5, 0.55}},
    {"bushing.pad.damping_y", {0.6, 0.66}},
    {"bushing.pad.damping_z", {0.7, 0.77}},
    {"bushing.pad.damping_rx", {0.1, 0.2}},
    {"bushing.pad.damping_ry", {0.3, 0.4}},
    {"bushing.pad.damping_rz", {0.5, 0.6}},
    {"stop.floor.radius", {0.3, 0.35}},
    {"stop.floor.stiffness", {900, 800}},
    {"stop.floor.exponent", {1.5, 2}},
    {"stop.floor.dissipation", {0.1, 0.3}},
    {"drag.air.linear", {0.2, 0.4}},
    {"drag.air.quadratic", {0.1, 0.3}},
    {"drag.air.angular", {0.02, 0.04}},
    {"drag.air.angular_quadratic", {0.01, 0.03}},
    {"drag.air.flow_x", {0.5, 0.7}},
    {"drag.air.flow_y", {-0.5, 0.1}},
    {"drag.air.flow_z", {0.2, 0.3}},
    {"servo.drive.kp", {2, 3}},
    {"servo.drive.kd", {0.2, 0.3}},
    {"servo.drive.gain", {1, 1.2}},
    {"servo.drive.bias", {0.1, 0.2}},
    {"servo.drive.stall", {1.5, 1.2}},
    {"servo.drive.no_load", {4, 3}},
    {"tendon.rope.stiffness", {20, 25}},
    {"tendon.rope.damping", {0.5, 0.4}},
    {"tendon.rope.coulomb", {0.3, 0.2}},
    {"tendon.rope.kp", {2, 3}},
    {"tendon.rope.kd", {0.2, 0.3}},
    {"tendon.rope.gain", {1, 1.2}},
    {"tendon.rope.bias", {0.1, 0.2}},
};
enum { FORCE_VALUES = COUNT(force_values) };

static lw_model *with_forces(int k)
{
    char text[3072];
    const double *v[FORCE_VALUES];
    for (int i = 0; i < FORCE_VALUES; i++) v[i] = &force_values[i].value[k];
    snprintf(
        text, sizeof text,
        "linkwork: 1\n"
        "bodies:\n"
        "  a: {mass: 2, inertia: [0.1, 0.2, 0.3, 0, 0, 0], position: [0, 0, 0.2],\n"
        "      angular_velocity: [1, 2, 3]}\n"
        "  b: {mass: 1, inertia: [0.1, 0.1, 0.2, 0, 0, 0], position: [1, 0, 0.5]}\n"
        "  c: {mass: 1, inertia: [0.1, 0.1, 0.2, 0, 0, 0], position: [9, 0, 0]}\n"
        "joints: {swing: {type: revolute, between: [ground, c], at: [9, 0, 1]}}\n"
        "forces:\n"
        "  coil: {type: spring, between: [a, b], stiffness: %g, damping: %g, length: %g}\n"
        "  push: {type: wrench, body: b, force: [%g, %g, %g], torque: [%g, %g, %g]}\n"
        "  pad: {type: bushing, between: [a, b], at: [0.5, 0, 0.3],\n"
        "    stiffness: [%g, %g, %g, %g, %g, %g], damping: [%g, %g, %g, %g, %g, %g]}\n"
        "  floor: {type: stop, between: [a, ground], normal: [0, 0, 1], to: [0, 0, 0],\n"
        "    radius: %g, stiffness: %g, exponent: %g, dissipation: %g}\n"
        "  air: {type: drag, body: a, linear: %g, quadratic: %g, angular: %g,\n"
        "    angular_quadratic: %g, flow: [%g, %g, %g]}\n"
        "  drive: {type: servo, joint: swing, target: 0.5, rate: 0.2, kp: %g, kd: %g,\n"
        "    gain: [%g, 0, 0], bias: [%g, 0, 0], stall: %g, no_load: %g}\n"
        "  rope: {type: tendon, path: [{body: a}, {body: b, radius: 0.1}, {point: [2, 0, 0]}],\n"
        "    length: 1, stiffness: %g, damping: %g, coulomb: %g, target: 0.5, rate: 0.2,\n"
        "    kp: %g, kd: %g, gain: [%g, 0, 0], bias: [%g, 0, 0]}\n",
        *v[0], *v[1], *v[2], *v[3], *v[4], *v[5], *v[6], *v[7], *v[8], *v[9], *v[10], *v[11],
        *v[12], *v[13], *v[14], *v[15], *v[16], *v[17], *v[18], *v[19], *v[20], *v[21], *v[22],
        *v[23], *v[24], *v[25], *v[26], *v[27], *v[28], *v[29], *v[30], *v[31], *v[32], *v[33],
        *v[34], *v[35], *v[36], *v[37], *v[38], *v[39], *v[40], *v[41], *v[42], *v[43], *v[44]);
    return parse(text);
}

// All of them at once, then each with the others as in the file, which must change the motion.
static void parameters_of_forces_are_those_of_a_file(void **state)
{
    (void)state;
    enum { RUNS = FORCE_VALUES + 2 };
    static double values[RUNS][FORCE_VALUES];
    const char *names[FORCE_VALUES];
    for (int i = 0; i < FORCE_VALUES; i++) names[i] = force_values[i].name;
    for (int r = 0; r < RUNS; r++)
        for (int i = 0; i < FORCE_VALUES; i++)
            values[r][i] = force_values[i].value[r == 1 || r == i + 2];
    lw_model *model[2] = {with_forces(0), with_forces(1)};
    const lw_options o = options("dopri54", 1e-6);
    const lw_batch_desc desc = {.options = &o,
                                .instances = RUNS,
                                .nvary = FORCE_VALUES,
                                .vary = names,
                                .values = values[0]};
    lw_batch *batch;
    lw_error error = {0};
    ok(lw_batch_create(model[0], &desc, &batch, &error), &error);
    ok(lw_batch_step(batch, 0.25), lw_batch_error(batch));
    double t, first[MOST], x[MOST];
    const size_t bytes = (size_t)lw_batch_state_size(batch, 0) * sizeof *x;
    ok(lw_batch_get_state(batch, 0, &t, first), NULL);
    for (int r = 1; r < RUNS; r++) {
        ok(lw_batch_get_state(batch, r, &t, x), NULL);
        if (!memcmp(x, first, bytes)) fail_msg("%s has no effect", r == 1 ? "all" : names[r - 2]);
    }
    for (int k = 0; k < 2; k++) {
        lw_sim *sim;
        const lw_sim_desc sim_desc = {.options = &o};
        end e = {.status = LW_OK};
        ok(lw_sim_create(model[k], &sim_desc, &sim, &error), &error);
        ok(lw_sim_step(sim, 0.25), lw_sim_error(sim));
        lw_sim_get_state(sim, &e.t, e.x);
        lw_sim_summary(sim, &e.summary);
        same_end(&e, batch, k, "parameters of forces");
        lw_sim_destroy(sim);
    }
    lw_batch_destroy(batch);

    // the list has each of them, and no more
    int listed = 0;
    for (int i = 0; i < lw_vary_count(); i++)
        for (int k = 0; k < lw_force_type_count(); k++) {
            const size_t n = strlen(lw_force_type_info(k).name);
            const char *name = lw_vary_at(i).name;
            listed += !strncmp(name, lw_force_type_info(k).name, n) && name[n] == '.';
        }
    assert_int_equal(listed, FORCE_VALUES);
    expect_refusal(model[0], "stop.floor.stiffness", 0, "expected a number > 0");
    expect_refusal(model[0], "stop.floor.exponent", 0.5, "expected a number >= 1");
    expect_refusal(model[0], "drag.air.linear", -1, "expected a number >= 0");
    expect_refusal(model[0], "bushing.pad.stiffnes_x", 1, "did you mean 'stiffness_x'");
    for (int k = 0; k < 2; k++) lw_model_destroy(model[k]);
}

static void wrong_names_and_values_are_reported(void **state)
{
    (void)state;
    lw_model *model = parse(pendulums);
    expect_refusal(model, "joint.hinge.q1", 0, "no parameter or coordinate 'q1'");
    expect_refusal(model, "joint.hing.q0", 0, "did you mean 'hinge'");
    expect_refusal(model, "joint.hinge.stifness0", 0, "did you mean 'stiffness'");
    expect_refusal(model, "joint.hinge.stiffness1", 0, "1 coordinates");
    expect_refusal(model, "body.rod.mas", 0, "did you mean 'mass'");
    expect_refusal(model, "body.rod.x", 0, "floating");
    expect_refusal(model, "input.torqe", 0, "did you mean 'torque'");
    expect_refusal(model, "gravity.w", 0, "no parameter or coordinate 'w'");
    expect_refusal(model, "bodies.rod.mass", 0, "did you mean 'body'");
    expect_refusal(model, "nonsense", 0, "is not of the form");
    expect_refusal(model, "body.rod.mass", -1, "instance 1: body.rod.mass is -1");
    expect_refusal(model, "joint.hinge.rotor0", -1, "instance 1: joint.hinge.rotor0 is -1");
    expect_refusal(model, "joint.hinge.rotor1", 1, "1 coordinates");
    expect_refusal(model, "body.rod.Ixx", 100, "body 'rod': inertia");
    expect_refusal(model, "gravity.x", NAN, "instance 1: gravity.x is not finite");
    lw_error error;
    assert_int_equal(lw_vary_check(model, "joint.hinge.qd0", &error), LW_OK);
    assert_int_equal(lw_vary_check(model, "joint.hinge.pith", &error), LW_ERR_ARGUMENT);
    for (int i = 0; i < lw_vary_count(); i++)
        assert_true(lw_vary_at(i).name[0] && lw_vary_at(i).unit[0]);
    assert_string_equal(lw_vary_at(-1).name, "");
    lw_model_destroy(model);
}

static void wrong_descriptions_are_reported(void **state)
{
    (void)state;
    lw_model *model = parse(pendulums);
    lw_batch *batch = NULL;
    lw_error error;
    lw_options o = options("dopri54", 1e-6);
    o.pace = 1; // only a single run waits for the clock
    const lw_batch_desc wrong[] = {
        {.instances = 0},
        {.instances = 1, .threads = -1},
        {.instances = 1, .lanes = 3},
        {.instances = 1, .nvary = 1},
        {.instances = 1, .options = &o},
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        assert_int_not_equal(lw_batch_create(model, &wrong[i], &batch, &error), LW_OK);
        assert_true(error.text[0]);
        assert_null(batch);
    }
    const lw_batch_desc one = {.instances = 1};
    ok(lw_batch_create(model, &one, &batch, &error), &error);
    assert_string_equal(lw_batch_options(batch)->integrator, "dopri54");
    assert_int_equal(lw_batch_set_input(batch, 1, 0, 0), LW_ERR_ARGUMENT);
    assert_non_null(strstr(lw_batch_error(batch)->text, "the batch has 1"));
    assert_int_equal(lw_batch_set_input(batch, 0, 1, 0), LW_ERR_ARGUMENT);
    assert_int_equal(lw_batch_step(batch, INFINITY), LW_ERR_NOT_FINITE);
    assert_null(lw_batch_model(batch, 1));
    lw_batch_destroy(batch);
    lw_batch_destroy(NULL);
    lw_model_destroy(model);
}

// ---------------------------------------------------------------------------------------- failures

// A formula that is no number from its input's time on: instance by instance.
static const char fuse[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  rod: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, -1]}\n"
    "functions:\n"
    "  push: {type: formula, of: \"1 + 0.01*sqrt(2 - hinge.q0)\"}\n"
    "joints:\n"
    "  hinge:\n"
    "    {type: revolute, between: [ground, rod], at: [0, 0, 0],\n"
    "     axis: [0, 1, 0], spring: {q0: {force: push}}}\n";

static void a_failure_stays_where_it_is(void **state)
{
    (void)state;
    lw_model *model = parse(fuse);
    enum { N = 13 };
    static const char *const names[] = {"joint.hinge.qd0"};
    static double values[N]; // those from 5 on rotate past the angle of 2 rad
    for (int i = 0; i < N; i++) values[i] = i == 5 || i == 11 ? 9 : 0.1 * i;
    for (int lanes = 1; lanes <= 8; lanes += lanes == 1 ? 3 : 4) {
        const lw_options o = options("dopri54", 1e-6);
        const lw_batch_desc desc = {.options = &o,
                                    .instances = N,
                                    .threads = 2,
                                    .lanes = lanes,
                                    .nvary = 1,
                                    .vary = names,
                                    .values = values};
        lw_batch *batch;
        lw_error error = {0};
        ok(lw_batch_create(model, &desc, &batch, &error), &error);
        assert_int_equal(lw_batch_step(batch, 1), LW_ERR_NOT_FINITE);
        const char *text = lw_batch_error(batch)->text;
        if (strncmp(text, "instance 5: integration stops at t = 0.", 39) != 0) fail_msg("%s", text);
        assert_int_equal(lw_batch_failed(batch), 2);
        for (int i = 0; i < N; i++) {
            const bool broken = i == 5 || i == 11;
            assert_int_equal(lw_batch_status(batch, i), broken ? LW_ERR_NOT_FINITE : LW_OK);
            assert_int_equal(lw_batch_failure(batch, i)[0] != 0, broken);
            assert_true(broken ? lw_batch_time(batch, i) < 1 : lw_batch_time(batch, i) == 1);
            lw_sim *sim;
            const lw_sim_desc sim_desc = {.options = &o};
            const double q[1] = {0};
            end e;
            ok(lw_sim_create(model, &sim_desc, &sim, &error), &error);
            ok(lw_sim_set_joints(sim, 0, q, &values[i]), NULL);
            assert_int_equal(lw_sim_step(sim, 1), lw_batch_status(batch, i));
            lw_sim_get_state(sim, &e.t, e.x);
            lw_sim_summary(sim, &e.summary);
            same_end(&e, batch, i, "failing");
            lw_sim_destroy(sim);
        }
        const lw_observation *observation; // the last accepted state can be seen
        ok(lw_batch_observe(batch, 5, LW_OBSERVE_TWIST, &observation), lw_batch_error(batch));
        assert_int_equal(lw_batch_status(batch, 5), LW_ERR_NOT_FINITE);
        assert_int_equal(lw_batch_step(batch, 1.1), LW_OK); // reported once
        assert_true(lw_batch_time(batch, 5) < 1);
        const double q[1] = {0}, v[1] = {0};
        ok(lw_batch_set_joints(batch, 5, 1.1, q, v), lw_batch_error(batch));
        assert_int_equal(lw_batch_failed(batch), 1);
        assert_int_equal(lw_batch_step(batch, 1.2), LW_OK); // and continues
        assert_true(lw_batch_time(batch, 5) == 1.2);
        lw_batch_destroy(batch);
    }
    lw_model_destroy(model);
}

// Instances without losses have one state less, the work; they run in the arrays of those that failed with numbers that are not
// finite there.
static void a_failure_leaves_nothing_to_smaller_states(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "bodies:\n"
        "  rod: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, -1]}\n"
        "joints:\n"
        "  hinge:\n"
        "    {type: revolute, between: [ground, rod], at: [0, 0, 0],\n"
        "     axis: [0, 1, 0], spring: {q0: {damping: 0.1}}}\n";
    enum { N = 4 };
    static const char *const names[] = {"joint.hinge.damping0", "joint.hinge.qd0"};
    static const double values[N][2] = {{1e300, 1e200}, {1e300, 1e200}, {0, 1}, {0, 2}};
    lw_model *model = parse(text);
    for (int each = 1; each <= N / 2; each++) { // alone, in lanes
        const lw_options o = options("dopri54", 1e-6);
        const lw_batch_desc desc = {.options = &o,
                                    .instances = 2 * each,
                                    .threads = 1,
                                    .nvary = COUNT(names),
                                    .vary = names,
                                    .values = values[N / 2 - each]};
        lw_batch *batch;
        lw_error error = {0};
        ok(lw_batch_create(model, &desc, &batch, &error), &error);
        assert_int_equal(lw_batch_state_size(batch, 0),
                         lw_batch_state_size(batch, 2 * each - 1) + 1);
        assert_int_equal(lw_batch_step(batch, 1), LW_ERR_NOT_FINITE);
        for (int i = 0; i < 2 * each; i++)
            assert_int_equal(lw_batch_status(batch, i), i < each ? LW_ERR_NOT_FINITE : LW_OK);
        lw_batch_destroy(batch);
    }
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ memory

typedef struct meter {
    long allowed, taken, live;
} meter;

static void *measured(void *user, size_t bytes)
{
    meter *m = user;
    if (m->taken++ >= m->allowed) return NULL;
    m->live++;
    return malloc(bytes);
}
static void release(void *user, void *block)
{
    ((meter *)user)->live--;
    free(block);
}

static void no_memory_is_a_status_and_steps_take_none(void **state)
{
    (void)state;
    lw_model *model = parse(pendulums);
    static const char *const names[] = {"body.rod.mass"};
    static const double values[] = {1, 2, 3};
    for (long allowed = 0;; allowed++) {
        meter m = {.allowed = allowed};
        const lw_allocator allocator = {.allocate = measured, .release = release, .user = &m};
        const lw_batch_desc desc = {.instances = 3,
                                    .threads = 2,
                                    .nvary = 1,
                                    .vary = names,
                                    .values = values,
                                    .allocator = &allocator};
        lw_batch *batch = NULL;
        lw_error error = {0};
        const lw_status status = lw_batch_create(model, &desc, &batch, &error);
        if (status != LW_OK) {
            assert_int_equal(status, LW_ERR_MEMORY);
            assert_null(batch);
            assert_int_equal(m.live, 0);
            continue;
        }
        m.allowed = 0;
        ok(lw_batch_step(batch, 0.5), lw_batch_error(batch));
        lw_batch_destroy(batch);
        assert_int_equal(m.live, 0);
        assert_true(allowed > 3);
        break;
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_its_instances),
        cmocka_unit_test(instances_have_separate_step_sizes),
        cmocka_unit_test(every_number_of_instances_and_threads),
        cmocka_unit_test(settings_act_as_alone),
        cmocka_unit_test(observations_are_those_of_a_simulation),
        cmocka_unit_test(parameters_are_those_of_a_file),
        cmocka_unit_test(parameters_of_forces_are_those_of_a_file),
        cmocka_unit_test(wrong_names_and_values_are_reported),
        cmocka_unit_test(wrong_descriptions_are_reported),
        cmocka_unit_test(a_failure_stays_where_it_is),
        cmocka_unit_test(a_failure_leaves_nothing_to_smaller_states),
        cmocka_unit_test(no_memory_is_a_status_and_steps_take_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
