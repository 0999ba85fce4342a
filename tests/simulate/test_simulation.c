// test_simulation.c -- a simulation through the public API: closed forms, rows, state, refusals.
#include "formulation/tree_state.h"
#include "simulate/simulation.h"
#include "support/random_model.h"

#include <linkwork/linkwork.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ------------------------------------------------------------------------------------------ models

#define MASS 2.0
#define ARM 0.5
#define INERTIA 0.05
#define GRAVITY 9.81
#define ANGLE 2.0 // [rad] of the pendulum at the start

// Formulation and integrator of one name, which go with each other only.
static bool own_step(const char *name)
{
    return !strcmp(name, "index3");
}

static void ok(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s: %s", lw_status_text(status), error ? error->text : "");
}

static lw_builder *begin(double gravity)
{
    lw_builder *b = NULL;
    assert_int_equal(lw_builder_create(NULL, &b), LW_OK);
    lw_builder_gravity(b, (lw_vec3){0, 0, -gravity});
    return b;
}

static lw_body add_body(lw_builder *b, const char *name, lw_vec3 at)
{
    lw_body body;
    lw_error error = {0};
    const lw_body_desc desc = {.name = name,
                               .mass = MASS,
                               .inertia = {INERTIA, INERTIA, INERTIA},
                               .pose.position = at};
    ok(lw_builder_add_body(b, &desc, &body, &error), &error);
    return body;
}

static lw_joint add_hinge(lw_builder *b, const lw_joint_desc *given)
{
    lw_joint joint;
    lw_error error = {0};
    lw_joint_desc desc = *given;
    desc.type = LW_JOINT_REVOLUTE;
    desc.axis = (lw_vec3){0, 1, 0};
    ok(lw_builder_add_joint(b, &desc, &joint, &error), &error);
    return joint;
}

static lw_model *finish(lw_builder *b)
{
    lw_model *model = NULL;
    lw_error error = {0};
    ok(lw_model_create(b, &model, &error), &error);
    lw_builder_destroy(b);
    return model;
}

// One body on a hinge at the origin, its mass centre ARM below at q = 0.
static lw_model *pendulum(double angle, double damping)
{
    lw_builder *b = begin(GRAVITY);
    const lw_body body = add_body(b, "bob", (lw_vec3){0, 0, -ARM});
    add_hinge(b, &(lw_joint_desc){.name = "pivot",
                                  .body2 = body,
                                  .has_q = 1,
                                  .q = {angle},
                                  .coordinate[0].damping = damping});
    return finish(b);
}

// A rotor about a vertical-free axis: J qdd = torque, with an input and a function as torque.
static lw_model *rotor(const lw_function_desc *function)
{
    lw_builder *b = begin(0);
    lw_signal input, torque = {0};
    lw_error error = {0};
    const lw_body body = add_body(b, "rotor", (lw_vec3){0, 0, 0});
    ok(lw_builder_add_input(b, "torque", &input, &error), &error);
    if (function) ok(lw_builder_add_function(b, function, &torque, &error), &error);
    add_hinge(b, &(lw_joint_desc){.name = "axle",
                                  .body2 = body,
                                  .coordinate[0] = {.effort = input, .force = torque}});
    return finish(b);
}

// Four bars of a parallelogram: hinges at (0,0,0), (0,0,1), (1,0,1), (1,0,0).
static lw_model *four_bar(void)
{
    lw_builder *b = begin(GRAVITY);
    const lw_body crank = add_body(b, "crank", (lw_vec3){0, 0, 0.5});
    const lw_body coupler = add_body(b, "coupler", (lw_vec3){0.5, 0, 1});
    const lw_body rocker = add_body(b, "rocker", (lw_vec3){1, 0, 0.5});
    add_hinge(b, &(lw_joint_desc){.name = "A", .body2 = crank});
    add_hinge(b, &(lw_joint_desc){.name = "B", .body1 = crank, .body2 = coupler, .at = {0, 0, 1}});
    add_hinge(b, &(lw_joint_desc){.name = "C", .body1 = coupler, .body2 = rocker, .at = {1, 0, 1}});
    add_hinge(b, &(lw_joint_desc){.name = "D", .body2 = rocker, .at = {1, 0, 0}});
    return finish(b);
}

// ----------------------------------------------------------------------------------------- helpers

static void set(lw_options *o, const char *key, const char *value)
{
    lw_error error = {0};
    ok(lw_options_set(o, key, value, &error), &error);
}

// Options from pairs "key", "value", ..., NULL.
static lw_sim *simulate(const lw_model *model, const char *const *pairs)
{
    lw_options options;
    lw_options_default(&options);
    for (int i = 0; pairs && pairs[i]; i += 2) set(&options, pairs[i], pairs[i + 1]);
    lw_sim *sim = NULL;
    lw_error error = {0};
    ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    return sim;
}
#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const lw_observation *observe(lw_sim *sim, lw_observe level)
{
    const lw_observation *o = NULL;
    ok(lw_sim_observe(sim, level, &o), lw_sim_error(sim));
    return o;
}

static void step(lw_sim *sim, double time) { ok(lw_sim_step(sim, time), lw_sim_error(sim)); }

static lw_summary summary_of(const lw_sim *sim)
{
    lw_summary s;
    lw_sim_summary(sim, &s);
    return s;
}

// Rows as they come.
enum { MOST_ROWS = 4096 };
typedef struct rows {
    double time[MOST_ROWS], q[MOST_ROWS];
    int n, refuse_at, stop_after;
} rows;

static lw_status keep(void *user, const lw_observation *o)
{
    rows *r = user;
    assert_true(r->n < MOST_ROWS);
    if (r->refuse_at && r->n == r->refuse_at) return LW_ERR_IO;
    r->time[r->n] = o->time;
    r->q[r->n++] = o->q ? o->q[0] : 0;
    return LW_OK;
}

static int stop_late(void *user, double time, double end)
{
    const rows *r = user;
    assert_true(time <= end);
    return r->stop_after && r->n >= r->stop_after;
}

static rows *run(lw_sim *sim, lw_status expected)
{
    static rows r;
    r = (rows){0};
    const lw_status status = lw_sim_run(sim, LW_OBSERVE_REACTION, keep, &r, NULL, NULL);
    if (status != expected) fail_msg("%d: %s", status, lw_sim_error(sim)->text);
    return &r;
}

// ---------------------------------------------------------------------------- against closed forms

// Period of the pendulum: 2 pi / (omega AGM(1, cos(angle/2))).
static double period(void)
{
    const double omega = sqrt(MASS * GRAVITY * ARM / (INERTIA + MASS * ARM * ARM));
    double a = 1, g = cos(ANGLE / 2);
    for (int i = 0; i < 40; i++) {
        const double mean = (a + g) / 2;
        g = sqrt(a * g);
        a = mean;
    }
    return 2 * acos(-1) / (omega * a);
}

static void pendulum_keeps_period_and_energy(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    const double T = period();
    for (int f = 0; f < lw_formulation_count(); f++)
        for (int i = 0; i < lw_integrator_count(); i++) {
            if (own_step(lw_formulation_info(f).name)) continue;
            if (own_step(lw_integrator_info(i).name)) continue;
            const char *name = lw_integrator_info(i).name;
            const double tolerance = strcmp(name, "bs3") ? 1e-10 : 1e-8;
            lw_sim *sim =
                simulate(model, OPTIONS("formulation", lw_formulation_info(f).name, "integrator",
                                        name, "rtol", strcmp(name, "bs3") ? "1e-10" : "1e-8",
                                        "atol", strcmp(name, "bs3") ? "1e-10" : "1e-8"));
            observe(sim, LW_OBSERVE_REACTION);
            step(sim, T / 4);
            const double quarter = observe(sim, LW_OBSERVE_REACTION)->q[0];
            step(sim, T);
            const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
            // errors of a period, some hundred times the tolerance of a step (bdf: per unit step)
            const double most = 2e4 * tolerance;
            if (!(fabs(quarter) < most && fabs(o->q[0] - ANGLE) < most && fabs(o->qd[0]) < most))
                fail_msg("%s, %s: %.3g %.3g %.3g", lw_formulation_info(f).name, name, quarter,
                         o->q[0] - ANGLE, o->qd[0]);
            const lw_summary s = summary_of(sim);
            assert_true(s.energy_error < 50 * most && s.energy_scale > 1);
            assert_true(s.start == 0 && s.end == T && s.wall > 0 && s.evaluations > s.steps);
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

// E - Wnc is kept with dampers, drives, mounts, forces, in every formulation of trees.
static void random_trees_keep_energy_and_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        lw_model *model = NULL;
        assert_int_equal(lwt_random_tree(seed, 5, LWT_ALL, &model), LW_OK);
        double q[2] = {0};
        static const char *const names[] = {"aba", "momenta"};
        for (int f = 0; f < COUNT(names); f++) {
            lw_sim *sim = simulate(model, OPTIONS("formulation", names[f], "integrator", "verner87",
                                                  "duration", "0.5", "sample", "0.05", "rtol",
                                                  "1e-11", "atol", "1e-11"));
            const rows *r = run(sim, LW_OK);
            assert_int_equal(r->n, 11);
            q[f] = r->q[10];
            const lw_summary s = summary_of(sim);
            if (!(s.energy_error < 1e-7 * (1 + s.energy_scale)))
                fail_msg("seed %d, %s: energy %.3g of %.3g", (int)seed, names[f], s.energy_error,
                         s.energy_scale);
            lw_sim_destroy(sim);
        }
        if (!(fabs(q[0] - q[1]) < 1e-7 * (1 + fabs(q[0]))))
            fail_msg("seed %d: %.12g %.12g", (int)seed, q[0], q[1]);
        lw_model_destroy(model);
    }
}

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

// From the same state come the same bits, whatever was done in between.
static void set_state_repeats_the_bits(void **state)
{
    (void)state;
    lw_model *model = NULL;
    assert_int_equal(lwt_random_tree(3, 6, LWT_ALL, &model), LW_OK);
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < lw_integrator_count(); i++) {
            if (own_step(lw_integrator_info(i).name)) continue;
            lw_sim *sim = simulate(
                model, OPTIONS("formulation", f ? "momenta" : "aba", "integrator",
                               lw_integrator_info(i).name, "rtol", "1e-6", "atol", "1e-6"));
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

// Joints of a loop must close; the one that does not is named.
static void set_joints_checks_loops(void **state)
{
    (void)state;
    lw_model *model = four_bar();
    lw_sim *sim = simulate(model, NULL);
    assert_string_equal(lw_sim_options(sim)->formulation, "hdca");
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
        strstr(lw_sim_notice(sim), "hdca: joint 'follower' is coupled to joint 'leader'"));
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

// -------------------------------------------------------------------------------------------- rows

// but for round-off: k sample is rounded twice, the row's time once
static int same_time(double a, double b) { return fabs(a - b) <= 8 * DBL_EPSILON * fabs(b); }

// The second half of a run has the rows of the whole, to the bit.
static void rows_do_not_depend_on_the_start(void **state)
{
    (void)state;
    static const struct {
        const char *half, *whole, *sample;
    } cases[] = {{"1", "2", "0.01"}, {"0.3", "0.6", "0.1"}, {"0.7", "1.4", "0.1"}, {"0.21", "0.42", "0.03"}};
    lw_model *model = pendulum(ANGLE, 0);
    for (int c = 0; c < COUNT(cases); c++) {
        lw_sim *sim = simulate(model, OPTIONS("duration", cases[c].whole, "sample", cases[c].sample));
        const rows whole = *run(sim, LW_OK);
        lw_sim_destroy(sim);
        sim = simulate(model, OPTIONS("duration", cases[c].half, "sample", cases[c].sample));
        const int n = run(sim, LW_OK)->n;
        const rows *second = run(sim, LW_OK);
        assert_int_equal(whole.n, n + second->n - 1);
        for (int k = 1; k < second->n; k++) assert_true(second->time[k] == whole.time[n - 1 + k]);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

static void rows_stand_where_asked(void **state)
{
    (void)state;
    static const struct {
        const char *duration, *sample;
        int count;
    } cases[] = {
        {"1", "0.1", 11},   {"0.3", "0.1", 4},    {"0.35", "0.1", 5}, {"0.7", "0.7", 2},
        {"0.5", "0.7", 2},  {"0", "0.1", 1},      {"0.9", "0.01", 91}, {"0.6", "0.2", 4},
        {"1.1", "0.1", 12}, {"0.1", "1e-3", 101},
    };
    lw_model *model = pendulum(ANGLE, 0);
    for (int mode = 0; mode < 2; mode++)
        for (int c = 0; c < COUNT(cases); c++) {
            lw_sim *sim = simulate(model, OPTIONS("duration", cases[c].duration, "sample",
                                                  cases[c].sample, "sample-mode",
                                                  mode ? "interpolate" : "stop"));
            const double sample = atof(cases[c].sample), duration = atof(cases[c].duration);
            for (int again = 0; again < 2; again++) { // a second run goes on from the first
                const double t0 = lw_sim_time(sim);
                const rows *r = run(sim, LW_OK);
                if (again && duration > 0.85 && r->n != cases[c].count) continue; // t0 rounds
                assert_int_equal(r->n, cases[c].count);
                for (int k = 0; k < r->n - 1; k++) assert_true(same_time(r->time[k], t0 + k * sample));
                assert_true(same_time(r->time[r->n - 1], t0 + duration));
                assert_true(lw_sim_time(sim) == r->time[r->n - 1]);
                if (t0 == 0) assert_true(lw_sim_time(sim) == duration);
            }
            lw_sim_destroy(sim);
        }
    lw_model_destroy(model);
}

static void steps_as_rows(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        lw_sim *sim = simulate(model, OPTIONS("integrator", lw_integrator_info(i).name, "sample",
                                              "steps", "duration", "1", "rtol", "1e-6", "atol",
                                              "1e-6", "step", "0.02"));
        const rows *r = run(sim, LW_OK);
        assert_int_equal(r->n, summary_of(sim).steps + 1);
        for (int k = 1; k < r->n; k++)
            assert_true(r->time[k] > r->time[k - 1] &&
                        r->time[k] - r->time[k - 1] <= 0.02 * (1 + 1e-12));
        assert_true(r->time[r->n - 1] == 1);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Interpolated rows cost no steps and differ by what the interpolation is worth.
static void interpolated_rows_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"dopri5", "dopri54", "adams", "bdf"};
    lw_model *model = pendulum(ANGLE, 0);
    for (int i = 0; i < COUNT(names); i++) {
        static rows stops;
        lw_sim *a = simulate(model, OPTIONS("integrator", names[i], "duration", "1", "sample",
                                            "1e-3", "rtol", "1e-8", "atol", "1e-8"));
        lw_sim *b = simulate(model, OPTIONS("integrator", names[i], "duration", "1", "sample",
                                            "1e-3", "sample-mode", "interpolate", "rtol", "1e-8",
                                            "atol", "1e-8"));
        stops = *run(a, LW_OK);
        const rows *r = run(b, LW_OK);
        assert_int_equal(stops.n, r->n);
        assert_true(summary_of(b).steps < summary_of(a).steps / 2);
        for (int k = 0; k < r->n; k++)
            if (!(fabs(r->q[k] - stops.q[k]) < 1e-5))
                fail_msg("%s row %d: %.3g", names[i], k, r->q[k] - stops.q[k]);
        lw_sim_destroy(a);
        lw_sim_destroy(b);
    }
    lw_model_destroy(model);
}

static void runs_end_when_the_caller_wants(void **state)
{
    (void)state;
    static rows r;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "1", "sample", "0.1"));
    r = (rows){.stop_after = 4};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_late, &r), LW_ERR_INTERRUPTED);
    assert_int_equal(r.n, 4);
    assert_true(lw_sim_time(sim) == r.time[3]);
    assert_int_equal(lw_sim_error(sim)->status, LW_ERR_INTERRUPTED);
    r = (rows){.refuse_at = 3};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_late, &r), LW_ERR_IO);
    assert_int_equal(r.n, 3);
    // the first look is at the first row
    r = (rows){.stop_after = 1};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_late, &r), LW_ERR_INTERRUPTED);
    assert_int_equal(r.n, 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Where rows are rare the run ends between them, with a last row where it stands.
static int stop_in_between(void *user, double time, double end)
{
    (void)user, (void)end;
    return time > 1;
}

static int stop_late_in_time(void *user, double time, double end)
{
    (void)user, (void)end;
    return time > 0;
}

static void runs_end_between_rare_rows(void **state)
{
    (void)state;
    static rows r;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "100", "sample", "50", "step", "0.01"));
    r = (rows){0};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_in_between, NULL),
                     LW_ERR_INTERRUPTED);
    assert_int_equal(r.n, 2);
    assert_true(r.time[1] > 1 && r.time[1] < 3 && r.time[1] == lw_sim_time(sim));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A caller waits no longer than some steps, nor than a while where steps are slow.
static lw_status slow_rates(lwi_work *work, double t, const double *x, const double *inputs, double *xdot)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return lwi_formulation_find("aba")->rates(work, t, x, inputs, xdot);
}

static void slow_runs_end_soon(void **state)
{
    (void)state;
    static rows r;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "100", "sample", "50", "step", "0.01"));
    lwi_formulation slow = *sim->work->formulation;
    slow.rates = slow_rates;
    sim->work->formulation = &slow;
    r = (rows){0};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_POSE, keep, &r, stop_late_in_time, NULL),
                     LW_ERR_INTERRUPTED);
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    assert_true(summary.steps < 10);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A run tells that its energy is far from where its tolerances should hold it, once.
static lw_status wrong_rates(lwi_work *work, double t, const double *x, const double *inputs, double *xdot)
{
    const lw_status status = lwi_formulation_find("aba")->rates(work, t, x, inputs, xdot);
    xdot[0] *= 0.9;
    return status;
}

static void doubtful_energy_is_told(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "1", "sample", "0.1"));
    ok(lw_sim_run(sim, LW_OBSERVE_REACTION, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    assert_null(strstr(lw_sim_notice(sim), "E - Wnc"));
    lwi_formulation wrong = *sim->work->formulation;
    wrong.rates = wrong_rates;
    sim->work->formulation = &wrong;
    for (int i = 0; i < 2; i++) {
        ok(lw_sim_run(sim, LW_OBSERVE_REACTION, NULL, NULL, NULL, NULL), lw_sim_error(sim));
        const char *told = strstr(lw_sim_notice(sim), "E - Wnc");
        assert_non_null(told);
        assert_null(strstr(told + 1, "E - Wnc"));
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void a_number_that_is_not_finite_is_named(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    lw_error error = {0};
    const double v = NAN;
    assert_int_equal(lwi_tree_finite(model, 0, &v, "acceleration", &error), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(error.text, "joint 'pivot': component 0 of its acceleration is not"));
    lw_model_destroy(model);
}

// A run that fails keeps the state it failed at, and the audit sees it.
static void failed_runs_have_a_last_row(void **state)
{
    (void)state;
    static rows r;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("duration", "100", "sample", "50", "max_steps", "20"));
    r = (rows){0};
    assert_true(lw_sim_run(sim, LW_OBSERVE_REACTION, keep, &r, NULL, NULL) < LW_OK);
    assert_int_equal(r.n, 2);
    assert_true(r.time[1] > 0 && r.time[1] == lw_sim_time(sim));
    assert_non_null(strstr(lw_sim_error(sim)->text, "20"));
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    assert_true(summary.energy_error > 0 && summary.energy_scale > 0);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ breaks

static int stands_at(const rows *r, double time)
{
    for (int k = 0; k < r->n; k++)
        if (r->time[k] == time) return 1;
    return 0;
}

// Every integrator ends a step where a function is not smooth, and gets the impulse of the torque
// right: a step from 0 to 2 between 0.3 and 0.7 is 1 on average, then 2.
static void steps_end_on_breaks(void **state)
{
    (void)state;
    const lw_function_desc smooth = {
        .type = LW_FUNCTION_STEP, .from = 0, .to = 2, .start = 0.3, .end = 0.7};
    lw_model *model = rotor(&smooth);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        lw_sim *sim = simulate(model, OPTIONS("integrator", lw_integrator_info(i).name, "sample",
                                              "steps", "duration", "1", "step", "0.05"));
        const rows *r = run(sim, LW_OK);
        assert_true(stands_at(r, 0.3) && stands_at(r, 0.7));
        const double speed = (0.4 * 1 + 0.3 * 2) / INERTIA;
        const lw_observation *o = observe(sim, LW_OBSERVE_TWIST);
        if (!(fabs(o->qd[0] - speed) < 2e-6 * speed))
            fail_msg("%s: %.12g for %.12g", lw_integrator_info(i).name, o->qd[0], speed);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The same at the kink of a ramp, where the torque's first derivative jumps; no restart is needed.
static void kinks_are_met_without_restart(void **state)
{
    (void)state;
    const lw_function_desc kink = {.type = LW_FUNCTION_RAMP, .from = 0.25, .rate = 2};
    lw_model *model = rotor(&kink);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        const char *name = lw_integrator_info(i).name;
        lw_sim *sim =
            simulate(model, OPTIONS("integrator", name, "duration", "1", "sample", "0.4"));
        run(sim, LW_OK);
        assert_int_equal(summary_of(sim).restarts, 0);
        const double speed = 0.75 * 0.75 / INERTIA;
        const lw_observation *o = observe(sim, LW_OBSERVE_TWIST);
        if (!(fabs(o->qd[0] - speed) < 1e-6 * speed))
            fail_msg("%s: %.12g for %.12g", name, o->qd[0], speed);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------- small and broken

// A model without states: time moves, everything is observed.
static void nothing_moves(void **state)
{
    (void)state;
    lw_builder *b = begin(GRAVITY);
    lw_joint joint;
    lw_error error = {0};
    const lw_body body = add_body(b, "stone", (lw_vec3){1, 2, 3});
    const lw_joint_desc desc = {.name = "glue", .type = LW_JOINT_FIXED, .body2 = body};
    ok(lw_builder_add_joint(b, &desc, &joint, &error), &error);
    lw_model *model = finish(b);
    for (int i = 0; i < lw_integrator_count(); i++) {
        if (own_step(lw_integrator_info(i).name)) continue;
        lw_sim *sim = simulate(model, OPTIONS("formulation", "aba", "integrator",
                                              lw_integrator_info(i).name, "duration", "0.1"));
        assert_int_equal(lw_sim_state_size(sim), 0);
        const rows *r = run(sim, LW_OK);
        assert_int_equal(r->n, 11);
        const lw_observation *o = observe(sim, LW_OBSERVE_REACTION);
        assert_true(o->position[1][0] == 1 && fabs(o->reaction[0][2] - MASS * GRAVITY) < 1e-9);
        ok(lw_sim_set_state(sim, 5, NULL), lw_sim_error(sim));
        assert_true(lw_sim_time(sim) == 5);
        ok(lw_sim_set_joints(sim, 6, NULL, NULL), lw_sim_error(sim));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// After a failure the last accepted state can be observed and the simulation used again.
static void failure_leaves_the_last_state(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, OPTIONS("max-steps", "40", "step", "0.01"));
    static rows r;
    r = (rows){0};
    assert_int_equal(lw_sim_run(sim, LW_OBSERVE_REACTION, keep, &r, NULL, NULL),
                     LW_ERR_INTEGRATOR);
    assert_int_equal(lw_sim_error(sim)->status, LW_ERR_INTEGRATOR);
    assert_non_null(strstr(lw_sim_error(sim)->text, "max_steps"));
    const double t = lw_sim_time(sim);
    assert_true(t > 0 && t < 0.5);
    assert_true(observe(sim, LW_OBSERVE_REACTION)->time == t);
    assert_true(summary_of(sim).steps == 40 && summary_of(sim).end == t);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    lw_model *model = rotor(NULL);
    lw_sim *sim = simulate(model, NULL);
    const lw_observation *o;
    double x[16], nan = NAN;
    const double zero = 0;
    lw_sim_get_state(sim, NULL, x);
    assert_int_equal(lw_sim_set_input(sim, 1, 0), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_set_input(sim, -1, 0), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_set_input(sim, 0, NAN), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(lw_sim_error(sim)->text, "torque"));
    step(sim, 1);
    assert_int_equal(lw_sim_step(sim, 0.5), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_step(sim, INFINITY), LW_ERR_NOT_FINITE);
    step(sim, 1); // where it stands
    assert_int_equal(lw_sim_set_state(sim, NAN, x), LW_ERR_NOT_FINITE);
    assert_int_equal(lw_sim_set_state(sim, 0, NULL), LW_ERR_ARGUMENT);
    x[0] = INFINITY;
    assert_int_equal(lw_sim_set_state(sim, 0, x), LW_ERR_NOT_FINITE);
    assert_int_equal(lw_sim_set_joints(sim, 0, &nan, &zero), LW_ERR_NOT_FINITE);
    assert_int_equal(lw_sim_set_joints(sim, 0, NULL, &zero), LW_ERR_ARGUMENT);
    assert_int_equal(lw_sim_observe(sim, (lw_observe)9, &o), LW_ERR_ARGUMENT);
    assert_true(lw_sim_time(sim) == 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A combination that does not exist names those that do.
static void combinations_are_checked(void **state)
{
    (void)state;
    lw_model *loop = four_bar();
    static const char *const trees[] = {"aba", "momenta"};
    for (int i = 0; i < COUNT(trees); i++) {
        lw_options o;
        lw_error error = {0};
        lw_sim *sim = NULL;
        lw_options_default(&o);
        set(&o, "formulation", trees[i]);
        assert_int_equal(lw_sim_create(loop, &(lw_sim_desc){.options = &o}, &sim, &error),
                         LW_ERR_UNSUPPORTED);
        assert_null(sim);
        assert_non_null(strstr(error.text, "can be simulated by dense"));
        strcpy(o.formulation, "nothing");
        assert_int_equal(lw_sim_create(loop, &(lw_sim_desc){.options = &o}, &sim, &error),
                         LW_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "auto, momenta, aba, dense"));
    }
    lw_model_destroy(loop);
    assert_int_equal(lw_sim_create(NULL, NULL, NULL, NULL), LW_ERR_ARGUMENT);
}

static void choices_and_ignored_options_are_told(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0);
    lw_sim *sim = simulate(model, NULL);
    assert_string_equal(lw_sim_options(sim)->formulation, "aba");
    assert_string_equal(lw_sim_options(sim)->integrator, "dopri5");
    assert_non_null(strstr(lw_sim_notice(sim), "formulation aba: the joints form a tree"));
    assert_non_null(strstr(lw_sim_notice(sim), "integrator dopri5"));
    assert_ptr_equal(lw_sim_model(sim), model);
    lw_sim_destroy(sim);

    sim = simulate(model, OPTIONS("formulation", "aba", "integrator", "dopri5"));
    assert_string_equal(lw_sim_notice(sim), ""); // nothing to say
    lw_sim_destroy(sim);

    sim = simulate(model, OPTIONS("integrator", "rk4", "rtol", "1e-5", "atol", "1e-5", "atol-p",
                                  "1e-5", "sample-mode", "interpolate"));
    assert_true(lw_sim_options(sim)->step == 1e-3);
    static const char *const told[] = {"step 0.001", "rtol is ignored", "atol is ignored",
                                       "atol_p is ignored", "sample_mode is ignored"};
    for (int i = 0; i < COUNT(told); i++) assert_non_null(strstr(lw_sim_notice(sim), told[i]));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Levels hold what they say and nothing beyond.
static void levels_are_filled(void **state)
{
    (void)state;
    lw_model *model = pendulum(ANGLE, 0.1);
    lw_sim *sim = simulate(model, NULL);
    for (int level = LW_OBSERVE_REACTION; level >= LW_OBSERVE_POSE; level--) {
        const lw_observation *o = observe(sim, (lw_observe)level);
        assert_int_equal(o->level, level);
        assert_true(o->position && o->quaternion && o->q);
        assert_int_equal(o->velocity && o->angular_velocity && o->qd, level >= LW_OBSERVE_TWIST);
        assert_int_equal(o->potential != 0, level >= LW_OBSERVE_ENERGY);
        assert_int_equal(o->acceleration && o->angular_acceleration && o->qdd,
                         level >= LW_OBSERVE_ACCELERATION);
        assert_int_equal(o->reaction && o->reaction_unique, level >= LW_OBSERVE_REACTION);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ memory

typedef struct budget {
    long left, used;
} budget;

static void *allocate(void *user, size_t bytes)
{
    budget *b = user;
    if (b->left-- <= 0) return NULL;
    b->used++;
    return malloc(bytes);
}

static void release(void *user, void *block)
{
    ((budget *)user)->used--;
    free(block);
}

// The n-th allocation fails: a status, everything given back.  After create none is asked for.
static void allocations_fail_cleanly(void **state)
{
    (void)state;
    lw_model *model = NULL;
    assert_int_equal(lwt_random_tree(5, 6, LWT_ALL, &model), LW_OK);
    for (int f = 0; f < 3; f++)
        for (long n = 0;; n++) {
            budget b = {.left = n};
            const lw_allocator allocator = {.allocate = allocate, .release = release, .user = &b};
            lw_options o;
            lw_error error = {0};
            lw_sim *sim = NULL;
            lw_options_default(&o);
            if (f) set(&o, "formulation", f == 1 ? "momenta" : "aba");
            set(&o, "duration", "0.05");
            const lw_sim_desc desc = {.options = &o, .allocator = &allocator};
            const lw_status status = lw_sim_create(model, &desc, &sim, &error);
            if (status == LW_OK) {
                b.left = 0;
                run(sim, LW_OK);
                lw_sim_destroy(sim);
                assert_int_equal(b.used, 0);
                break;
            }
            assert_int_equal(status, LW_ERR_MEMORY);
            assert_int_equal(b.used, 0);
            assert_true(n < 1000);
        }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_keeps_period_and_energy),
        cmocka_unit_test(random_trees_keep_energy_and_agree),
        cmocka_unit_test(inputs_act_from_when_they_are_set),
        cmocka_unit_test(set_state_repeats_the_bits),
        cmocka_unit_test(set_joints_moves_the_tree),
        cmocka_unit_test(set_joints_checks_loops),
        cmocka_unit_test(set_joints_checks_couplings),
        cmocka_unit_test(rows_do_not_depend_on_the_start),
        cmocka_unit_test(rows_stand_where_asked),
        cmocka_unit_test(steps_as_rows),
        cmocka_unit_test(interpolated_rows_agree),
        cmocka_unit_test(runs_end_when_the_caller_wants),
        cmocka_unit_test(runs_end_between_rare_rows),
        cmocka_unit_test(slow_runs_end_soon),
        cmocka_unit_test(doubtful_energy_is_told),
        cmocka_unit_test(a_number_that_is_not_finite_is_named),
        cmocka_unit_test(failed_runs_have_a_last_row),
        cmocka_unit_test(steps_end_on_breaks),
        cmocka_unit_test(kinks_are_met_without_restart),
        cmocka_unit_test(nothing_moves),
        cmocka_unit_test(failure_leaves_the_last_state),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(combinations_are_checked),
        cmocka_unit_test(choices_and_ignored_options_are_told),
        cmocka_unit_test(levels_are_filled),
        cmocka_unit_test(allocations_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
