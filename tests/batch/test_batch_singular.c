// test_batch_singular.c -- states at singular positions, of batches and of simulations that run: refused by name, unless
// the option says that ordinary steps shall take them.
#include "support/given.h"
#include "support/mechanism.h"

static const char *const formulations[] = {"dca", "hdca", "rcr", "lagrange", "dense"};

// Cranks of 1 m at this angle, 2 m apart, and a coupler; they rotate with 1 rad/s.
static lw_model *parallelogram(double angle)
{
    const double c = cos(angle), s = sin(angle);
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, c, s, 1), B = lwt_rod(b, "B", c, s, 2 + c, s, 1),
                  C = lwt_rod(b, "C", 2, 0, 2 + c, s, 1);
    const struct {
        const char *name;
        lw_body body1, body2;
        double x, y, speed;
    } hinge[] = {{"j1", lwt_ground, A, 0, 0, 1},
                 {"j2", A, B, c, s, -1},
                 {"j3", B, C, 2 + c, s, 1},
                 {"j4", lwt_ground, C, 2, 0, 1}};
    for (int i = 0; i < LWI_COUNT(hinge); i++)
        lwt_add(b, &(lw_joint_desc){.name = hinge[i].name,
                                    .type = LW_JOINT_REVOLUTE,
                                    .body1 = hinge[i].body1,
                                    .body2 = hinge[i].body2,
                                    .at = {hinge[i].x, hinge[i].y, 0},
                                    .axis = {0, 0, 1},
                                    .has_qd = 1,
                                    .qd = {hinge[i].speed}});
    return lwt_model(b);
}

static lw_options options_of(const char *formulation, const char *singular)
{
    lw_options o;
    lw_options_default(&o);
    lwt_set(&o, "formulation", formulation);
    lwt_set(&o, "singular", singular);
    return o;
}

static lw_batch *batch_of(const lw_model *model, const lw_options *options)
{
    lw_batch *batch;
    lw_error error;
    const lw_batch_desc desc = {.instances = 2, .options = options, .threads = 1};
    lwt_ok(lw_batch_create(model, &desc, &batch, &error), &error);
    return batch;
}

static void refused(const char *formulation, lw_status status, const char *text)
{
    if (status != LW_ERR_SINGULAR || !strstr(text, "singular position") || !strstr(text, "'j3'") ||
        !strstr(text, "depend on each other here"))
        fail_msg("%s: status %d, '%s'", formulation, status, text);
}

// Angles and speeds of the joints, relative to the start at 1 rad; cranks at `angle`.
static void joints_at(double angle, double q[4], double v[4])
{
    static const double sign[] = {1, -1, 1, 1};
    for (int i = 0; i < 4; i++) q[i] = sign[i] * (angle - 1), v[i] = sign[i];
}

static double crank_of(lw_batch *batch, int instance)
{
    const lw_observation *o;
    lwt_ok(lw_batch_observe(batch, instance, LW_OBSERVE_POSE, &o), lw_batch_error(batch));
    return o->q[0];
}

static void instances_at_singular_positions_are_refused(void **state)
{
    (void)state;
    lw_model *model = parallelogram(1);
    double q[4], v[4];
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        const lw_options options = options_of(formulations[f], "pass");
        lw_batch *batch = batch_of(model, &options);
        joints_at(0, q, v);
        refused(formulations[f], lw_batch_set_joints(batch, 0, 0, q, v),
                lw_batch_error(batch)->text);
        lwt_ok(lw_batch_step(batch, 0.1), lw_batch_error(batch)); // both are as they were
        assert_int_equal(lw_batch_failed(batch), 0);
        assert_true(crank_of(batch, 0) == crank_of(batch, 1));
        joints_at(1e-3, q, v); // next to it
        lwt_ok(lw_batch_set_joints(batch, 0, 0.1, q, v), lw_batch_error(batch));
        lw_batch_destroy(batch);
    }
    lw_model_destroy(model);
}

static void batches_that_begin_there_are_refused(void **state)
{
    (void)state;
    lw_model *model = parallelogram(0);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        const lw_options options = options_of(formulations[f], "pass");
        lw_batch *batch = NULL;
        lw_error error = {.text = ""};
        const lw_batch_desc desc = {.instances = 2, .options = &options, .threads = 1};
        const lw_status status = lw_batch_create(model, &desc, &batch, &error);
        refused(formulations[f], status, error.text);
        assert_null(batch);
    }
    lw_model_destroy(model);
}

static void simulations_that_run_refuse_them(void **state)
{
    (void)state;
    lw_model *model = parallelogram(1);
    double q[4], v[4], t[2];
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", formulations[f]));
        const int n = lw_sim_state_size(sim);
        double *before = lwt_vector(n), *after = lwt_vector(n);
        lwt_ok(lw_sim_step(sim, 0.1), lw_sim_error(sim));
        lw_sim_get_state(sim, &t[0], before);
        joints_at(0, q, v);
        refused(formulations[f], lw_sim_set_joints(sim, 0.2, q, v), lw_sim_error(sim)->text);
        lw_sim_get_state(sim, &t[1], after);
        assert_true(t[0] == t[1]);
        assert_memory_equal(before, after, (size_t)n * sizeof *after);
        free(before), free(after);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The pendulum that a parallelogram is:  (2/3 + 1) q'' = -2 g cos q, with the energy of its start.
static void ordinary_steps_take_them_if_asked_to(void **state)
{
    (void)state;
    lw_model *model = parallelogram(1);
    double q[4], v[4];
    const lw_options options = options_of("hdca", "turn");
    lw_batch *batch = batch_of(model, &options);
    const lw_observation *o;
    joints_at(0, q, v);
    lwt_ok(lw_batch_set_joints(batch, 0, 0, q, v), lw_batch_error(batch));
    lwt_ok(lw_batch_step(batch, 0.2), lw_batch_error(batch));
    assert_int_equal(lw_batch_failed(batch), 0);
    lwt_ok(lw_batch_observe(batch, 0, LW_OBSERVE_TWIST, &o), lw_batch_error(batch));
    const double energy = 5.0 / 6 * o->qd[0] * o->qd[0] + 2 * 9.81 * sin(o->q[0] + 1);
    assert_true(fabs(energy - 5.0 / 6) < 1e-3);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

// lw_forward_dynamics at the same coordinates, in those of the tree; the acceleration of j1.
static lw_status forward_dynamics(const lw_model *model, lw_dynamics *dynamics, const double q[4],
                                  const double v[4], double *crank)
{
    double x[4], u[4], vdot[4];
    int at = -1;
    assert_true(model->tree_nq <= 4);
    for (int j = 0; j < 4; j++) {
        int iq, nq, iv, nv;
        if (lw_model_joint_tree(model, (lw_joint){j}, &iq, &nq, &iv, &nv) != LW_OK) continue;
        x[iq] = q[j], u[iv] = v[j]; // others close the loop
        if (j == 0) at = iv;
    }
    assert_true(at >= 0);
    const lw_status status = lw_forward_dynamics(dynamics, 0, x, u, NULL, NULL, vdot);
    *crank = vdot[at];
    return status;
}

// Near a singular position, too, batches and lw_forward_dynamics refuse what simulations refuse, with every formulation.
// Next to it accelerations are as accurate as round-off of the velocities allows.
static void all_decide_alike(void **state)
{
    (void)state;
    static const double angles[] = {0, 1e-12, 1e-11, 1e-8, 1e-7, 1e-5, 1e-4, 1e-3, 0.1};
    lw_model *model = parallelogram(1);
    lw_dynamics *dynamics;
    lw_error error;
    lwt_ok(lw_dynamics_create(model, NULL, &dynamics, &error), &error);
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        const lw_options options = options_of(formulations[f], "pass");
        lw_batch *batch = batch_of(model, &options);
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", formulations[f]));
        for (int k = 0; k < LWI_COUNT(angles); k++) {
            const lw_status wanted = angles[k] < 1e-6 ? LW_ERR_SINGULAR : LW_OK;
            double q[4], v[4];
            joints_at(angles[k], q, v);
            assert_int_equal(lw_sim_set_joints(sim, 0, q, v), wanted);
            assert_int_equal(lw_batch_set_joints(batch, 0, 0, q, v), wanted);
        }
        lw_sim_destroy(sim);
        lw_batch_destroy(batch);
    }
    for (int k = 0; k < LWI_COUNT(angles); k++) {
        double q[4], v[4], crank;
        joints_at(angles[k], q, v);
        const lw_status status = forward_dynamics(model, dynamics, q, v, &crank);
        if (angles[k] < 1e-6)
            refused("forward dynamics", status, lw_dynamics_error(dynamics)->text);
        else
            assert_int_equal(status, LW_OK);
        if (status == LW_OK)
            assert_true(fabs(crank + 1.2 * 9.81 * cos(angles[k])) <
                        1e-10 + 1e-15 / (angles[k] * angles[k]));
    }
    lw_dynamics_destroy(dynamics);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_at_singular_positions_are_refused),
        cmocka_unit_test(batches_that_begin_there_are_refused),
        cmocka_unit_test(simulations_that_run_refuse_them),
        cmocka_unit_test(ordinary_steps_take_them_if_asked_to),
        cmocka_unit_test(all_decide_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
