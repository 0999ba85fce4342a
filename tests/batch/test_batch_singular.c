// test_batch_singular.c -- states at singular positions, of batches and of simulations that run: refused by name, unless
// the option says that ordinary steps shall take them.  Instances that pass such positions have the bits of single runs.
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

// ---------------------------------------------------------------- instances that pass such positions

enum { MANY = 9, ROWS = 12, NUMBERS = 3 * 3 * 3 };
#define ROW 0.1

/** Positions, velocities and accelerations of the bars at each row; zero from a failure on. */
typedef struct record {
    lw_status status;
    char failure[512]; ///< its text
    double number[ROWS][NUMBERS];
    double lowest; ///< angle of the cranks
} record;

static void add_row(record *r, int row, const lw_observation *o)
{
    const double *from[] = {o->position[1], o->velocity[1], o->acceleration[1]};
    for (int i = 0; i < 3; i++) memcpy(&r->number[row][9 * i], from[i], 9 * sizeof(double));
    r->lowest = fmin(r->lowest, o->q[0] + 1);
}

// Cranks of different angles and speeds; all pass the position at angle 0.
static void start_of(int instance, double q[4], double v[4])
{
    joints_at(0.4 + 0.15 * instance, q, v);
    for (int i = 0; i < 4; i++) v[i] *= -1 - 0.4 * instance;
}

static void run_single(const lw_model *model, const lw_options *options, int instance, record *r)
{
    double q[4], v[4];
    lw_sim *sim;
    lw_error error;
    const lw_observation *o;
    const lw_sim_desc desc = {.options = options};
    *r = (record){.lowest = 1};
    lwt_ok(lw_sim_create(model, &desc, &sim, &error), &error);
    start_of(instance, q, v);
    lwt_ok(lw_sim_set_joints(sim, 0, q, v), lw_sim_error(sim));
    for (int k = 0; k < ROWS && r->status == LW_OK; k++) {
        r->status = lw_sim_step(sim, (k + 1) * ROW);
        snprintf(r->failure, sizeof r->failure, "%s",
                 r->status == LW_OK ? "" : lw_sim_error(sim)->text);
        if (r->status != LW_OK) break;
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o), lw_sim_error(sim));
        add_row(r, k, o);
    }
    lw_sim_destroy(sim);
}

static void run_batch(const lw_model *model, const lw_options *options, int lanes, int threads,
                      record *r)
{
    double q[4], v[4];
    lw_batch *batch;
    lw_error error;
    const lw_observation *o;
    const lw_batch_desc desc = {
        .instances = MANY, .options = options, .lanes = lanes, .threads = threads};
    lwt_ok(lw_batch_create(model, &desc, &batch, &error), &error);
    for (int i = 0; i < MANY; i++) {
        r[i] = (record){.lowest = 1};
        start_of(i, q, v);
        lwt_ok(lw_batch_set_joints(batch, i, 0, q, v), lw_batch_error(batch));
    }
    for (int k = 0; k < ROWS; k++) {
        lw_batch_step(batch, (k + 1) * ROW); // ordinary steps of some end there
        for (int i = 0; i < MANY; i++) {
            r[i].status = lw_batch_status(batch, i);
            snprintf(r[i].failure, sizeof r[i].failure, "%s", lw_batch_failure(batch, i));
            if (r[i].status != LW_OK) continue;
            lwt_ok(lw_batch_observe(batch, i, LW_OBSERVE_ACCELERATION, &o), lw_batch_error(batch));
            add_row(&r[i], k, o);
        }
    }
    lw_batch_destroy(batch);
}

// Up to the pivot, which is round-off at a singular position.
static bool same_failure(const char *a, const char *b)
{
    const char *pivot = strstr(a, "(pivot ");
    return pivot ? strncmp(a, b, (size_t)(pivot - a)) == 0 : strcmp(a, b) == 0;
}

static void same_records(const record *single, const record *of_batch, const char *what)
{
    for (int i = 0; i < MANY; i++) {
        const record *a = &single[i], *b = &of_batch[i];
        for (int k = 0; k < ROWS; k++)
            for (int c = 0; c < NUMBERS; c++)
                if (memcmp(&a->number[k][c], &b->number[k][c], sizeof(double)) != 0)
                    fail_msg("%s, instance %d, row %d: number %d is %.17g, alone %.17g", what, i, k,
                             c, b->number[k][c], a->number[k][c]);
        // both name the singular position in front of which steps become too short
        if (a->status != b->status || !same_failure(a->failure, b->failure))
            fail_msg("%s, instance %d: status %d, '%s', alone %d, '%s'", what, i, b->status,
                     b->failure, a->status, a->failure);
    }
}

// Lanes take ordinary steps, as `turn` does; instances of other integrators step across, as single runs do.
static void instances_pass_with_the_bits_of_single_runs(void **state)
{
    (void)state;
    static const struct {
        const char *integrator, *singular;
    } cases[] = {{"rk4", "turn"}, {"dopri54", "turn"}, {"dopri5", "pass"}, {"verner87", "pass"}};
    static const int lanes[] = {1, 4, 8, 8}, threads[] = {1, 2, 1, 3};
    static record single[MANY], of_batch[MANY];
    lw_model *model = parallelogram(1);
    for (int f = 0; f < LWI_COUNT(formulations); f++)
        for (int c = 0; c < LWI_COUNT(cases); c++) {
            lw_options options = options_of(formulations[f], cases[c].singular);
            lwt_set(&options, "integrator", cases[c].integrator);
            if (!strcmp(cases[c].integrator, "rk4")) lwt_set(&options, "step", "0.004");
            for (int i = 0; i < MANY; i++) {
                run_single(model, &options, i, &single[i]);
                // ordinary steps of some end there, or leave the branch
                if (!(single[i].lowest < (!strcmp(cases[c].singular, "pass") ? 0 : 0.2)))
                    fail_msg("%s, %s, instance %d: down to %g rad", formulations[f],
                             cases[c].integrator, i, single[i].lowest);
            }
            for (int k = 0; k < LWI_COUNT(lanes); k++) {
                char what[128];
                snprintf(what, sizeof what, "%s, %s, %d lanes, %d threads", formulations[f],
                         cases[c].integrator, lanes[k], threads[k]);
                run_batch(model, &options, lanes[k], threads[k], of_batch);
                same_records(single, of_batch, what);
            }
        }
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
        cmocka_unit_test(instances_pass_with_the_bits_of_single_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
