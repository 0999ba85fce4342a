// test_callback_jacobian.c -- derivatives of callbacks of inputs: the check, Newton's method of index3, the matrix of bdf.
#include "simulate/controller_cases.h"

#include "spatial/rotation.h"

// ------------------------------------------------------------------------------------------- check

// A ball, a slider, a body that floats, and the state of a signal.
static const char several[] =
    "linkwork: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "inputs: [first, second]\n"
    "signals:\n"
    "  sum: {type: integral, of: \"rail.q0\", initial: 0.4}\n"
    "bodies:\n"
    "  arm: {mass: 2, inertia: [0.02, 0.1, 0.1, 0, 0, 0], com: [0.3, 0, 0]}\n"
    "  cart: {mass: 1.5, inertia: [0.01, 0.06, 0.06, 0, 0, 0], position: [0, 2, 0]}\n"
    "  bird: {mass: 0.5, inertia: [0.004, 0.005, 0.006, 0, 0, 0], position: [1.3, 0, 2], "
    "orientation: [0.9, 0.3, -0.2, 0.2449489742783178], velocity: [0.3, 2, -1], angular_velocity: "
    "[1, 2, 3]}\n"
    "joints:\n"
    "  ball: {type: spherical, between: [ground, arm], at: [0, 0, 0], q: [0.8, 0.4, 0.3, "
    "-0.33166247903554], "
    "qd: [0.5, -1, 2]}\n"
    "  rail: {type: prismatic, between: [ground, cart], at: [0, 2, 0], axis: [1, 0, 0], q: [0.3], "
    "qd: [0.7], effort: {q0: first}}\n";

enum { ARM = 1, CART, BIRD };

typedef struct probe {
    double wrong; ///< added to one derivative
    int entry;
    bool corner;
    long calls, jacobians;
    lw_status status;
    double value; ///< NAN: of an entry
} probe;

static lw_status inputs_of(void *user, const lw_observation *o, double *u)
{
    probe *p = user;
    double R[9];
    quat_matrix(R, o->quaternion[BIRD]);
    p->calls++;
    u[0] = 3 * o->q[1] + 2 * o->q[4] * o->q[4] - 0.5 * o->qd[2] * o->qd[3] + 4 * sin(o->states[0]) +
           o->position[BIRD][0] * o->position[BIRD][2];
    if (p->corner) u[0] += fabs(o->q[4] - 0.3);
    u[1] = 5 * R[6] + 2 * sin(o->position[CART][0]) + 7 * o->velocity[BIRD][1] -
           o->angular_velocity[BIRD][0] * o->angular_velocity[BIRD][2];
    return LW_OK;
}

static lw_status slopes_of(void *user, const lw_observation *o, const lw_input_slopes *by)
{
    probe *p = user;
    double R[9];
    quat_matrix(R, o->quaternion[BIRD]);
    p->jacobians++;
    assert_int_equal(by->ninput, 2);
    assert_int_equal(by->nv, 4);
    assert_int_equal(by->nstate, 1);
    assert_int_equal(by->nbody, 4);
    for (int i = 0; i < 2 * 4; i++) assert_true(by->by_q[i] == 0 && by->by_qd[i] == 0);
    // the quaternion's rate is q (0, w)/2
    by->by_q[0] = 1.5 * o->q[0], by->by_q[1] = -1.5 * o->q[3], by->by_q[2] = 1.5 * o->q[2];
    by->by_q[3] = 4 * o->q[4];
    by->by_qd[2] = -0.5 * o->qd[3], by->by_qd[3] = -0.5 * o->qd[2];
    by->by_states[0] = 4 * cos(o->states[0]);
    by->by_pose[BIRD][0] = o->position[BIRD][2], by->by_pose[BIRD][2] = o->position[BIRD][0];
    double *second = by->by_pose[by->nbody + BIRD];
    second[4] = -5 * R[8], second[5] = 5 * R[7]; // of R (theta x e_x)
    by->by_pose[by->nbody + CART][0] = 2 * cos(o->position[CART][0]);
    by->by_twist[by->nbody + BIRD][1] = 7;
    by->by_twist[by->nbody + BIRD][3] = -o->angular_velocity[BIRD][2];
    by->by_twist[by->nbody + BIRD][5] = -o->angular_velocity[BIRD][0];
    double *const entry[] = {by->by_q + 2,  by->by_qd + 4,
                             by->by_states, by->by_pose[BIRD] + 1,
                             second + 4,    by->by_twist[by->nbody + ARM] + 2};
    *entry[p->entry] += p->wrong;
    return p->status;
}

static lw_sim *sim_of(const lw_model *m, probe *p)
{
    lw_sim *sim = create(m, "aba", "bdf", 1e-9);
    lwt_ok(lw_sim_set_callback(sim, inputs_of, p), lw_sim_error(sim));
    lwt_ok(lw_sim_set_jacobian(sim, slopes_of), lw_sim_error(sim));
    return sim;
}

// Of every kind of number; and each kind of wrong entry is found and named.
static void the_check_compares_every_number(void **state)
{
    (void)state;
    static const char *const named[] = {
        "input 'first' by joint.ball.d2", "input 'second' by joint.ball.qd0",
        "input 'first' by signal.sum",    "input 'first' by body.bird.y",
        "input 'second' by body.bird.ry", "input 'second' by body.arm.vz"};
    lw_model *m = parse(several);
    probe p = {0};
    lw_sim *sim = sim_of(m, &p);
    for (int later = 0; later < 2; later++) {
        double largest = 1;
        lwt_ok(lw_sim_check_jacobian(sim, 1e-8, &largest), lw_sim_error(sim));
        assert_true(largest < 1e-8);
        for (p.entry = 0; p.entry < LWI_COUNT(named); p.entry++) {
            p.wrong = 1e-3;
            assert_int_equal(lw_sim_check_jacobian(sim, 0, &largest), LW_ERR_ARGUMENT);
            if (!strstr(lw_sim_error(sim)->text, named[p.entry]))
                fail_msg("%s in: %s", named[p.entry], lw_sim_error(sim)->text);
            assert_true(largest > 1e-5);
            p.wrong = 0;
        }
        p.entry = 0;
        lwt_ok(lw_sim_step(sim, 0.3), lw_sim_error(sim));
    }
    lw_sim_destroy(sim);
    sim = sim_of(m, &p);
    p.corner = true;
    assert_int_equal(lw_sim_check_jacobian(sim, 0, NULL), LW_OK); // its mean slope is zero
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// What is not there, not finite or fails has a message, and a run continues after it.
static void a_jacobian_that_fails_is_named(void **state)
{
    (void)state;
    lw_model *m = parse(several);
    probe p = {.wrong = NAN, .entry = 4};
    lw_sim *sim = sim_of(m, &p);
    assert_int_equal(lw_sim_check_jacobian(sim, 0, NULL), LW_ERR_NOT_FINITE);
    assert_non_null(
        strstr(lw_sim_error(sim)->text, "input 'second': its Jacobian gives nan by body.bird.ry"));
    assert_int_equal(lw_sim_step(sim, 1), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(lw_sim_error(sim)->text, "by body.bird.ry"));
    p.wrong = 0, p.status = LW_ERR_IO;
    assert_int_equal(lw_sim_check_jacobian(sim, 0, NULL), LW_ERR_IO);
    assert_int_equal(lw_sim_step(sim, 1), LW_ERR_IO);
    assert_non_null(strstr(lw_sim_error(sim)->text, "the Jacobian of inputs failed at t = "));
    p.status = LW_OK;
    lwt_ok(lw_sim_step(sim, 0.2), lw_sim_error(sim));
    assert_int_equal(lw_sim_check_jacobian(sim, NAN, NULL), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_check_jacobian(sim, 1, NULL), LW_ERR_ARGUMENT);
    lwt_ok(lw_sim_set_callback(sim, inputs_of, &p), lw_sim_error(sim)); // removes it
    assert_int_equal(lw_sim_check_jacobian(sim, 0, NULL), LW_ERR_ARGUMENT);
    const long before = p.jacobians;
    lwt_ok(lw_sim_step(sim, 0.4), lw_sim_error(sim));
    assert_int_equal(p.jacobians, before);
    lwt_ok(lw_sim_set_callback(sim, NULL, NULL), lw_sim_error(sim));
    assert_int_equal(lw_sim_set_jacobian(sim, slopes_of), LW_ERR_ARGUMENT);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// ------------------------------------------------------------------------------- stiff feedback

// A crank and a rod, held by stiff efforts: each follows numbers of the other, the first the height of the rod too.
static const char held[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "inputs: [left, right]\n"
    "bodies:\n"
    "  crank: {mass: 1.5, inertia: [0.01, 0.02, 0.03, 0, 0, 0], com: [0.4, 0, 0]}\n"
    "  rod: {mass: 1, inertia: [0.01, 0.02, 0.03, 0, 0, 0], position: [0.8, 0, 0], com: [0.3, 0, "
    "0]}\n"
    "  stop: {mass: 0.2, inertia: [0.001, 0.001, 0.001, 0, 0, 0], position: [1.4, 0, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], effort: {q0: left}}\n"
    "  B: {type: revolute, between: [crank, rod], at: [0.8, 0, 0], effort: {q0: right}}\n"
    "  W: {type: fixed, between: [rod, stop], at: [1.4, 0, 0]}\n%s";
static const char closed[] =
    "  guide: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [1.4, 0, 0]}\n";
static const char closing[] =
    "  C: {type: revolute, between: [rod, guide], at: [1.4, 0, 0]}\n"
    "  D: {type: prismatic, between: [ground, guide], at: [1.4, 0, 0], axis: [1, 0.2, 0]}\n";

typedef struct stiff {
    double k, wrong;
    long calls, jacobians;
} stiff;

static lw_status hold(void *user, const lw_observation *o, double *u)
{
    stiff *s = user;
    const double k = s->k;
    s->calls++;
    u[0] = k * (20 * (0.3 - o->q[0]) - 2 * o->qd[0] + o->q[1] + 3 * o->position[3][1]);
    u[1] = -k * (20 * o->q[1] + o->qd[1] + 0.2 * o->qd[0] + 0.1 * o->angular_velocity[2][2]);
    return LW_OK;
}

static lw_status hold_slopes(void *user, const lw_observation *o, const lw_input_slopes *by)
{
    stiff *s = user;
    const double k = s->k;
    const int nv = by->nv;
    (void)o;
    s->jacobians++;
    by->by_q[0] = -20 * k + s->wrong, by->by_q[1] = k, by->by_q[nv + 1] = -20 * k;
    by->by_qd[0] = -2 * k, by->by_qd[nv] = -0.2 * k, by->by_qd[nv + 1] = -k;
    by->by_pose[3][1] = 3 * k;
    by->by_twist[by->nbody + 2][5] = -0.1 * k;
    return LW_OK;
}

static lw_model *held_model(bool loop)
{
    char text[4000], with[4000];
    snprintf(text, sizeof text, held, loop ? closing : "");
    char *const at = strstr(text, "joints:");
    snprintf(with, sizeof with, "%.*s%s%s", (int)(at - text), text, loop ? closed : "", at);
    return parse(with);
}

static const char *const with_index3[] = {"", "newton=modified", "tangent=1", "tangent=0",
                                          "coordinates=7"};

static lw_sim *hold_by(const lw_model *m, const char *formulation, const char *integrator,
                       const char *index3, bool jacobian, stiff *s)
{
    lw_options o;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&o);
    lwt_ok(lw_options_set(&o, "formulation", formulation, &error), &error);
    lwt_ok(lw_options_set(&o, "integrator", integrator, &error), &error);
    if (*index3) lwt_ok(lw_options_set(&o, "index3", index3, &error), &error);
    if (!strcmp(formulation, "index3")) o.step = 0.01;
    o.rtol = o.atol = 1e-8;
    lwt_ok(lw_sim_create(m, &(lw_sim_desc){.options = &o}, &sim, &error), &error);
    lwt_ok(lw_sim_set_callback(sim, hold, s), lw_sim_error(sim));
    if (jacobian) lwt_ok(lw_sim_set_jacobian(sim, hold_slopes), lw_sim_error(sim));
    return sim;
}

// Stiffness and damping of other numbers than the effort's own, a body that is fixed to another, with and without a loop:
// Newton's method converges in a few iterations, where without derivatives steps are divided.
static void newton_of_index3_converges_with_stiff_feedback(void **state)
{
    (void)state;
    for (int loop = 0; loop < 2; loop++) {
        lw_model *m = held_model(loop);
        stiff exact = {.k = 100}, plain = exact;
        lw_sim *reference = hold_by(m, "auto", "bdf", "", false, &exact);
        lw_sim *without = hold_by(m, "index3", "auto", "", false, &plain);
        lwt_ok(lw_sim_step(without, 0.1), lw_sim_error(without));
        const lw_observation *r = at(reference, 0.3);
        const double q[2] = {r->q[0], r->q[1]};
        for (int i = 0; i < LWI_COUNT(with_index3); i++) {
            const bool used = !strstr(with_index3[i], "=0") && !strstr(with_index3[i], "=7");
            stiff s = {.k = 100};
            lw_sim *sim = hold_by(m, "index3", "auto", with_index3[i], true, &s);
            lwt_ok(lw_sim_check_jacobian(sim, 1e-8, NULL), lw_sim_error(sim));
            s.calls = s.jacobians = 0;
            lwt_ok(lw_sim_step(sim, 0.1), lw_sim_error(sim));
            assert_true((s.jacobians > 0) == used);
            if (used) assert_true(s.calls <= 200 && 20 * s.calls < plain.calls);
            if (used && strstr(with_index3[i], "=modified")) assert_true(2 * s.jacobians < s.calls);
            if (used) {
                const lw_observation *o = at(sim, 0.3);
                for (int k = 0; k < 2; k++) assert_near(o->q[k], q[k], 2e-4); // steps of 10 ms
            }
            lw_sim_destroy(sim);
        }
        lw_sim_destroy(reference), lw_sim_destroy(without);
        lw_model_destroy(m);
    }
}

// A wrong Jacobian costs iterations; the equations that are solved stay the same.
static void a_wrong_jacobian_does_not_change_results(void **state)
{
    (void)state;
    static const char *const names[] = {"index3", "aba"};
    lw_model *m = held_model(false);
    for (int i = 0; i < 2; i++) {
        const char *integrator = i ? "bdf" : "auto", *more = i ? "" : "tolerance=1e-12";
        double q[2][2];
        for (int wrong = 0; wrong < 2; wrong++) {
            stiff s = {.k = 1, .wrong = wrong ? 30 : 0};
            lw_sim *sim = hold_by(m, names[i], integrator, more, true, &s);
            const lw_observation *o = at(sim, 0.2);
            assert_true(s.jacobians > 0);
            for (int k = 0; k < 2; k++) q[wrong][k] = o->q[k];
            lw_sim_destroy(sim);
        }
        for (int k = 0; k < 2; k++) assert_near(q[1][k], q[0][k], i ? 1e-6 : 1e-10);
    }
    lw_model_destroy(m);
}

// Differences of bdf call the Jacobian once in place of the callback for each state, and lead to the same motion.
static void bdf_does_not_call_for_differences(void **state)
{
    (void)state;
    static const char *const names[] = {"aba", "momenta", "hdca", "dense"};
    lw_model *m = held_model(false);
    for (int i = 0; i < LWI_COUNT(names); i++) {
        double q[2];
        stiff s[2] = {{.k = 100}, {.k = 100}};
        for (int given = 0; given < 2; given++) {
            lw_sim *sim = hold_by(m, names[i], "bdf", "", given, &s[given]);
            q[given] = at(sim, 0.5)->q[0];
            lw_sim_destroy(sim);
        }
        assert_near(q[1], q[0], 1e-6);
        assert_true(s[1].jacobians > 0 && s[1].jacobians < 40);
        assert_true(s[1].calls < s[0].calls);
    }
    lw_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_compares_every_number),
        cmocka_unit_test(a_jacobian_that_fails_is_named),
        cmocka_unit_test(newton_of_index3_converges_with_stiff_feedback),
        cmocka_unit_test(a_wrong_jacobian_does_not_change_results),
        cmocka_unit_test(bdf_does_not_call_for_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
