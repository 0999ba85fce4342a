// test_state.c -- stepping by the caller: inputs, states and joints that are set.
#include "support/given.h"
#include "support/mechanism.h"
#include "simulate/sim_cases.h"
#include "support/random_model.h"

// ------------------------------------------------------------------------------------ the step API

// create, set input, step, observe: constant torques give parabolas, exactly where they change.
static void inputs_act_from_when_they_are_set(void **state)
{
    (void)state;
    lw_model *model = rotor(NULL);
    int torque;
    assert_int_equal(lw_model_find_input(model, "torque", &torque), LW_OK);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        const char *name = lw_integrator_info(i).name;
        const int multistep = !strcmp(name, "adams") || !strcmp(name, "bdf");
        lw_sim *sim = simulate(model, OPTIONS("integrator", name));
        double q = 0, v = 0;
        for (int k = 0; k < 6; k++) {
            const double value = k % 2 ? -1 : 2;
            ok(lw_sim_set_input(sim, torque, value), lw_sim_error(sim));
            ok(lw_sim_set_input(sim, torque, value), lw_sim_error(sim)); // no news
            const double h = 0.3, a = value / INERTIA;
            step(sim, (k + 1) * h);
            q += v * h + a * h * h / 2, v += a * h;
            const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
            assert_true(lw_sim_time(sim) == (k + 1) * h && o->time == lw_sim_time(sim));
            if (!(fabs(o->q[0] - q) < 1e-6 && fabs(o->qd[0] - v) < 1e-6))
                fail_msg("%s: %.12g for %.12g", name, o->q[0], q);
            assert_true(fabs(o->qdd[0] - a) < 1e-9);
        }
        assert_int_equal(summary_of(sim).restarts, multistep ? 6 : 0);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// From the same state come the same bits, for any steps in between.
static void set_state_repeats_the_bits(void **state)
{
    (void)state;
    lw_model *model = NULL;
    assert_int_equal(lwt_random_tree(3, 6, LWT_ALL, &model), LW_OK);
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < lw_integrator_count(); i++) {
            if (own_step(lw_integrator_info(i).name)) continue;
            lw_sim *sim = simulate(model, OPTIONS("formulation", f ? "momenta" : "aba",
                                                  "integrator", lw_integrator_info(i).name, "rtol",
                                                  "1e-6", "atol", "1e-6"));
            double x[3][128], t;
            const size_t bytes = (size_t)lw_sim_state_size(sim) * sizeof x[0][0];
            assert_true(bytes <= sizeof x[0]);
            lw_sim_get_state(sim, &t, x[0]);
            step(sim, 0.2);
            lw_sim_get_state(sim, NULL, x[1]);
            step(sim, 0.27);
            observe(sim, LW_OBSERVE_REACTION);
            ok(lw_sim_set_state(sim, t, x[0]), lw_sim_error(sim));
            step(sim, 0.2);
            lw_sim_get_state(sim, NULL, x[2]);
            assert_memory_equal(x[1], x[2], bytes);
            assert_int_equal(summary_of(sim).restarts, 1);
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

static void set_joints_moves_the_tree(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    for (int f = 0; f < lw_formulation_count(); f++) {
        lw_sim *sim = simulate(model, OPTIONS("formulation", lw_formulation_info(f).name));
        observe(sim, LW_OBSERVE_REACTION);
        const double q = 0.3, v = -0.7;
        ok(lw_sim_set_joints(sim, 1.5, &q, &v), lw_sim_error(sim));
        assert_true(lw_sim_time(sim) == 1.5);
        const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
        assert_true(fabs(o->q[0] - q) < 1e-14 && fabs(o->qd[0] - v) < 1e-13);
        assert_true(fabs(o->position[1][0] + ARM * sin(q)) < 1e-14);
        assert_true(summary_of(sim).energy_error == 0); // a jump is no error
        step(sim, 2);
        observe(sim, LW_OBSERVE_REACTION);
        assert_true(summary_of(sim).energy_error < 1e-6);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// A rod that floats, with an arm: the vectors of lw_forward_dynamics go in and come out, by every formulation, and a base
// moves too.
static void set_tree_moves_bases_too(void **state)
{
    (void)state;
    lw_model *model =
        lwt_yaml("linkwork: 1\nbodies:\n  base: {mass: 2, inertia: [1, 2, 2, 0, 0, 0], position: "
                 "[1, 0, 0]}\n"
                 "  arm: {mass: 1, inertia: [1, 1, 0.5, 0, 0, 0], position: [1.5, 1, 0]}\njoints:\n"
                 "  elbow: {type: revolute, between: [base, arm], at: [1.5, 0, 0]}\n");
    assert_int_equal(1, lw_model_base_count(model));
    const lw_base_info info = lw_model_base(model, 0);
    const int iq = info.q_first, body = info.body.index;
    assert_string_equal("base", lw_model_body_name(model, info.body));
    assert_int_equal(-1, info.joint.index);
    assert_int_equal(0, lw_model_base(model, 1).body.index);
    assert_int_equal(0, lw_model_base(model, -1).body.index);
    assert_int_equal(0, lw_model_base(NULL, 0).body.index);
    assert_int_equal(8, lw_model_tree_nq(model));
    const double quat[4] = {0.5, 0.5, -0.5, 0.5};
    double q[8], v[7], q2[8], v2[7];
    for (int i = 0; i < 8; i++) q[i] = 0.1 * i - 0.3;
    for (int i = 0; i < 7; i++) v[i] = 0.3 - 0.2 * i;
    memcpy(q + iq + 3, quat, sizeof quat);
    for (int f = 0; f < lw_formulation_count(); f++) {
        lw_sim *sim = simulate(model, OPTIONS("formulation", lw_formulation_info(f).name));
        ok(lw_sim_set_tree(sim, 1.5, q, v), lw_sim_error(sim));
        const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
        for (int i = 0; i < 3; i++) assert_true(fabs(o->position[body][i] - q[iq + i]) < 1e-14);
        ok(lw_sim_get_tree(sim, q2, v2), lw_sim_error(sim));
        for (int i = 0; i < 8; i++) assert_true(fabs(q2[i] - q[i]) < 1e-13);
        for (int i = 0; i < 7; i++) assert_true(fabs(v2[i] - v[i]) < 1e-12);
        const double zero[8] = {0};
        assert_int_equal(LW_ERR_ARGUMENT, lw_sim_set_tree(sim, 0, zero, v));
        assert_non_null(strstr(lw_sim_error(sim)->text, "quaternion of body 'base' is zero"));
        assert_int_equal(LW_ERR_ARGUMENT, lw_sim_set_tree(sim, 0, q, NULL));
        assert_int_equal(LW_ERR_ARGUMENT, lw_sim_get_tree(sim, NULL, v2));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Joints of a loop must close; the one that does not is named.
static void set_joints_checks_loops(void **state)
{
    (void)state;
    lw_model *model = four_bar();
    lw_sim *sim = simulate(model, NULL);
    assert_string_equal(lw_sim_options(sim)->formulation, "rcr");
    assert_non_null(strstr(lw_sim_notice(sim), "closes a loop"));
    const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
    assert_true(o->residual[0] < 1e-12);
    double x[128], after[128];
    lw_sim_get_state(sim, NULL, x);
    const double open[4] = {0.2, 0, 0, 0}, rest[4] = {0};
    assert_int_equal(lw_sim_set_joints(sim, 0, open, rest), LW_ERR_ARGUMENT);
    assert_non_null(strstr(lw_sim_error(sim)->text, "does not close at these coordinates"));
    const double turning[4] = {0, 1, 0, 0};
    assert_int_equal(lw_sim_set_joints(sim, 0, rest, turning), LW_ERR_ARGUMENT);
    assert_non_null(strstr(lw_sim_error(sim)->text, "does not close at these speeds"));
    lw_sim_get_state(sim, NULL, after);
    assert_memory_equal(x, after, (size_t)lw_sim_state_size(sim) * sizeof *x); // left alone
    const double closed[4] = {0.4, -0.4, 0.4, 0.4}, moving[4] = {2, -2, 2, 2};
    ok(lw_sim_set_joints(sim, 0, closed, moving), lw_sim_error(sim));
    o = observe(sim, LW_OBSERVE_REACTION);
    for (int k = 0; k < 4; k++) {
        assert_true(fabs(o->q[k] - closed[k]) < 1e-12);
        assert_true(fabs(o->qd[k] - moving[k]) < 1e-10);
    }
    ok(lw_sim_step(sim, 0.5), lw_sim_error(sim));
    assert_true(observe(sim, LW_OBSERVE_REACTION)->residual[0] < 1e-6);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Coupled joints too: q2 = 1 + 2 q1 + 3 q1^2.
static void set_joints_checks_couplings(void **state)
{
    (void)state;
    lw_builder *b = begin(GRAVITY);
    lw_joint joint[2];
    for (int i = 0; i < 2; i++) {
        const lw_body body = add_body(b, i ? "second" : "first", (lw_vec3){2 * i, 0, -ARM});
        joint[i] = add_hinge(b, &(lw_joint_desc){.name = i ? "follower" : "leader",
                                                 .body2 = body,
                                                 .at = {2 * i, 0, 0},
                                                 .has_q = 1,
                                                 .q = {i}});
    }
    static const double law[] = {1, 2, 3};
    lw_error error = {0};
    const lw_coupling_desc desc = {
        .joint = joint[1], .of = joint[0], .polynomial = law, .npolynomial = 3};
    ok(lw_builder_add_coupling(b, &desc, &error), &error);
    lw_model *model = finish(b);
    lw_sim *sim = simulate(model, NULL);
    assert_non_null(
        strstr(lw_sim_notice(sim), "rcr: joint 'follower' is coupled to joint 'leader'"));
    const double q[2] = {0.1, 1.23}, v[2] = {0.5, 1.3}, off[2] = {0.1, 1.3}, slow[2] = {0.5, 1};
    assert_int_equal(lw_sim_set_joints(sim, 0, off, v), LW_ERR_ARGUMENT);
    assert_non_null(strstr(lw_sim_error(sim)->text, "'follower' is coupled to joint 'leader'"));
    assert_int_equal(lw_sim_set_joints(sim, 0, q, slow), LW_ERR_ARGUMENT);
    ok(lw_sim_set_joints(sim, 0, q, v), lw_sim_error(sim));
    observe(sim, LW_OBSERVE_REACTION);
    step(sim, 0.5);
    const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
    assert_true(fabs(o->q[1] - (1 + o->q[0] * (2 + 3 * o->q[0]))) < 1e-7);
    assert_true(summary_of(sim).energy_error < 1e-6);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static const char door[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0]}\n"
    "  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [2, 0, 1]}\n"
    "  c: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [3, 0, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  B: {type: revolute, between: [a, b], at: [1, 0, 1], axis: [0, 1, 0]}\n"
    "  C: {type: revolute, between: [b, c], at: [3, 0, 1], axis: [0, 1, 0]}\n"
    "  D: {type: revolute, between: [c, ground], at: [3, 0, -1], axis: [0, 1, 0]}\n";

// A state from elsewhere may break the loops: it is refused, and the simulation continues as if nothing was set.
static void set_state_checks_loops(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(door);
    for (int i = 0; i < lw_formulation_count(); i++) {
        const char *name = lw_formulation_info(i).name;
        lw_options options;
        lw_sim *sim, *alone;
        lw_error error;
        double t, x[256], other[256], then[256];
        lw_options_default(&options);
        lwt_set(&options, "formulation", name);
        const lw_sim_desc desc = {.options = &options};
        if (lw_sim_create(model, &desc, &sim, &error) != LW_OK) continue; // of trees
        ok(lw_sim_create(model, &desc, &alone, &error), &error);
        const int n = lw_sim_state_size(sim);
        assert_true(n <= 256);
        ok(lw_sim_step(sim, 0.1), lw_sim_error(sim));
        ok(lw_sim_step(alone, 0.1), lw_sim_error(alone));
        lw_sim_get_state(sim, &t, x);
        int refused = 0;
        for (int k = 0; k < n; k++) {
            memcpy(other, x, sizeof x);
            other[k] += 0.05;
            if (lw_sim_set_state(sim, t, other) == LW_OK) { // a component that may change
                ok(lw_sim_set_state(sim, t, x), lw_sim_error(sim));
                ok(lw_sim_set_state(alone, t, x), lw_sim_error(alone));
                continue;
            }
            refused++;
            assert_true(strstr(lw_sim_error(sim)->text, "the joints do not hold") ||
                        strstr(lw_sim_error(sim)->text, "the independent coordinates"));
            lw_sim_get_state(sim, NULL, then);
            assert_memory_equal(x, then, (size_t)n * sizeof *x);
        }
        assert_true(refused >= 3); // the coordinates of the tree at least
        ok(lw_sim_step(sim, 0.2), lw_sim_error(sim));
        ok(lw_sim_step(alone, 0.2), lw_sim_error(alone));
        lw_sim_get_state(sim, NULL, x);
        lw_sim_get_state(alone, NULL, then);
        assert_memory_equal(x, then, (size_t)n * sizeof *x);
        lw_sim_destroy(sim);
        lw_sim_destroy(alone);
    }
    lw_model_destroy(model);
}

static void set_state_checks_quaternions(void **state)
{
    (void)state;
    lw_model *model =
        lwt_yaml("linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n");
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "aba"));
    double t, x[16];
    lw_sim_get_state(sim, &t, x);
    assert_true(x[3] == 1);
    x[3] = 0.7; // of any length near 1
    ok(lw_sim_set_state(sim, t, x), lw_sim_error(sim));
    x[3] = 1e-3;
    assert_int_equal(LW_ERR_ARGUMENT, lw_sim_set_state(sim, t, x));
    assert_non_null(strstr(lw_sim_error(sim)->text, "quaternion has length 0.001"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// t + duration = t: no run, and no success.
static void durations_below_the_resolution_are_refused(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(door);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0.05", "formulation", "rcr"));
    double x[64];
    lw_sim_get_state(sim, NULL, x);
    ok(lw_sim_set_state(sim, 1e300, x), lw_sim_error(sim));
    assert_int_equal(LW_ERR_ARGUMENT, lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL));
    assert_non_null(strstr(lw_sim_error(sim)->text, "duration: 0.05 s is below the resolution"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A step of the classical Runge-Kutta method written here, with rates at the states that are set, is that of rk4.
static void rates_serve_other_integrators(void **state)
{
    (void)state;
    enum { MOST = 128 };
    static const char *const names[] = {"aba", "momenta", "dca", "hdca", "lagrange"};
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1}, h = 0.01;
    lw_model *model = NULL;
    assert_int_equal(lwt_random_tree(3, 6, LWT_ALL, &model), LW_OK);
    for (int f = 0; f < LWI_COUNT(names); f++) {
        lw_sim *sim =
            simulate(model, OPTIONS("formulation", names[f], "integrator", "rk4", "step", "0.01"));
        const int n = lw_sim_state_size(sim);
        double x0[MOST], x[MOST], sum[MOST] = {0}, k[MOST] = {0};
        assert_true(n <= MOST);
        lw_sim_get_state(sim, NULL, x0);
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < n; i++) x[i] = x0[i] + at[s] * h * k[i];
            ok(lw_sim_set_state(sim, at[s] * h, x), lw_sim_error(sim));
            ok(lw_sim_rates(sim, k), lw_sim_error(sim));
            for (int i = 0; i < n; i++) sum[i] += h / 6 * weight[s] * k[i];
        }
        ok(lw_sim_set_state(sim, 0, x0), lw_sim_error(sim));
        step(sim, h);
        lw_sim_get_state(sim, NULL, x);
        for (int i = 0; i < n; i++)
            if (!(fabs(x[i] - x0[i] - sum[i]) < 1e-9 * (1 + fabs(x[i]))))
                fail_msg("%s, component %d: %.12g, rk4 %.12g", names[f], i, x0[i] + sum[i], x[i]);
        assert_int_equal(lw_sim_rates(sim, NULL), LW_ERR_ARGUMENT);
        lw_sim_destroy(sim);
    }
    lw_sim *sim = simulate(model, OPTIONS("formulation", "index3"));
    double x[4 * MOST];
    assert_int_equal(lw_sim_rates(sim, x), LW_ERR_UNSUPPORTED);
    assert_non_null(strstr(lw_sim_error(sim)->text, "index3 has own steps"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A slider-crank of which the hinge of the crank closes the loop.
static lw_model *cut_slider_crank(void)
{
    const double crank = 0.3, rod = 1;
    lw_builder *b = lwt_builder();
    lw_body_desc body = {.mass = 1, .inertia = {0.1, 0.1, 0.1}};
    body.pose.position.x = crank / 2;
    const lw_body turning = lwt_body(b, &body);
    body.pose.position.x = crank + rod / 2;
    const lw_body coupler = lwt_body(b, &body);
    body.pose.position.x = crank + rod;
    const lw_body slider = lwt_body(b, &body);
    lwt_add(b, &(lw_joint_desc){.name = "crank",
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = lwt_ground,
                                .body2 = turning,
                                .axis = {0, 0, 1},
                                .has_qd = true,
                                .qd = {8},
                                .cut = LW_CUT_PREFER});
    lwt_joint(b, LW_JOINT_REVOLUTE, "a", turning, coupler, crank, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "b", coupler, slider, crank + rod, 0);
    lwt_add(b, &(lw_joint_desc){.name = "s",
                                .type = LW_JOINT_PRISMATIC,
                                .body1 = lwt_ground,
                                .body2 = slider,
                                .at = {crank + rod, 0, 0},
                                .axis = {1, 0, 0}});
    return lwt_model(b);
}

// The revolutions of a joint that closes a loop are not among the coordinates of the tree: they stay.
static void set_tree_keeps_turns(void **state)
{
    static const char *const formulations[] = {"rcr", "lagrange", "dca"};
    (void)state;
    lw_model *model = cut_slider_crank();
    for (int f = 0; f < LWI_COUNT(formulations); f++) {
        double q[8], v[8];
        lw_sim *sim = simulate(model, OPTIONS("formulation", formulations[f]));
        assert_true(lw_model_tree_nq(model) <= 8);
        step(sim, 1);
        ok(lw_sim_get_tree(sim, q, v), lw_sim_error(sim));
        const double before = observe(sim, LW_OBSERVE_POSE)->q[0];
        lw_sim *same = simulate(model, OPTIONS("formulation", formulations[f]));
        step(same, 2);
        const double angle = observe(same, LW_OBSERVE_POSE)->q[0];
        step(sim, 2); // and is not observed there
        ok(lw_sim_set_tree(sim, 1, q, v), lw_sim_error(sim));
        const double now = observe(sim, LW_OBSERVE_POSE)->q[0];
        const double turns = (now - before) / (2 * acos(-1));
        if (!(fabs(now - angle) < 3.15 && fabs(turns - round(turns)) < 1e-9 && turns > 0.9))
            fail_msg("%s: %.12g rad for %.12g near %.12g", formulations[f], now, before, angle);
        lw_sim_destroy(same);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The first step after joints were set takes the bodies placed by them, not those of a motion that was refused since.
static void a_refused_motion_is_no_sample(void **state)
{
    (void)state;
    lw_model *model = cut_slider_crank();
    lw_sim *sim = simulate(model, OPTIONS("formulation", "rcr"));
    double q[8], v[8], moved[4][3];
    ok(lw_sim_get_tree(sim, q, v), lw_sim_error(sim));
    ok(lw_sim_set_tree(sim, 0, q, v), lw_sim_error(sim));
    lw_observation o = *observe(sim, LW_OBSERVE_TWIST);
    assert_int_equal(lw_model_body_count(model), LWI_COUNT(moved));
    memcpy(moved, o.position, sizeof moved);
    for (int b = 1; b < LWI_COUNT(moved); b++) moved[b][0] += 0.1 * b;
    o.position = (const double(*)[3])moved;
    assert_int_equal(lw_sim_set_motion(sim, &o), LW_ERR_ARGUMENT);
    step(sim, 1e-4);
    const lwi_monitor_sample *sample = &sim->monitor.sample[0];
    assert_true(sim->monitor.count > 0 && sample->t == 0);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        const double off = sample->r[k][0] + 0.1 * b - moved[b][0];
        if (!(fabs(off) < 1e-9)) fail_msg("body %d: off by %g m", b, off);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_act_from_when_they_are_set),
        cmocka_unit_test(set_state_repeats_the_bits),
        cmocka_unit_test(rates_serve_other_integrators),
        cmocka_unit_test(set_joints_moves_the_tree),
        cmocka_unit_test(set_tree_moves_bases_too),
        cmocka_unit_test(set_tree_keeps_turns),
        cmocka_unit_test(a_refused_motion_is_no_sample),
        cmocka_unit_test(set_joints_checks_loops),
        cmocka_unit_test(set_joints_checks_couplings),
        cmocka_unit_test(set_state_checks_loops),
        cmocka_unit_test(set_state_checks_quaternions),
        cmocka_unit_test(durations_below_the_resolution_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
