// test_export.c -- trees written as URDF and MJCF, read again, are the same mechanisms: equal
// accelerations at equal coordinates.  What a format lacks is refused or reported.
#include "model/model.h"
#include "spatial/rotation.h"

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

#define OK(call) assert_int_equal(LW_OK, (call))

static lw_model *model_of(const char *text, const char *format)
{
    lw_model *model = NULL;
    lw_error error = {0};
    const lw_read_desc desc = {.format = format, .limits = {.stiffness = 1e4, .damping = 10}};
    if (lw_model_parse(text, strlen(text), format, &desc, &model, NULL, &error))
        fail_msg("%s:%d: %s\n%s", error.file, error.line, error.text, text);
    return model;
}

static void count(void *user, const char *text)
{
    (void)text;
    ++*(int *)user;
}

/** An exported model as a string; the caller frees it. */
static char *export(const lw_model *model, const char *format, lw_status expected, lw_error *error,
                    int *reported)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    int none = 0;
    const lw_status status =
        lw_model_export(model, format, file, count, reported ? reported : &none, error);
    fclose(file);
    if (status != expected) fail_msg("%s: %s", lw_status_text(status), error->text);
    return text;
}

// Every type that both formats support, in both directions, in frames other than those of the bodies; a massless
// body with a body fixed to it; limits, dampers, a coupling, an input.
#define COMMON                                                                                     \
    "linkwork: 1\ninputs: [motor]\nbodies:\n"                                                      \
    "  a: {mass: 1, inertia: [0.1, 0.2, 0.25, 0.01, 0.02, 0.03], com: [0.1, 0.2, 0.3], position: " \
    "[0, 0, 1], orientation: [0.8, 0.6, 0, 0]}\n"                                                  \
    "  b: {mass: 2, inertia: [0.2, 0.3, 0.35, 0, 0, 0.01], com: [0, 0.1, 0], position: [1, 0, "    \
    "1], orientation: [0.6, 0, 0.8, 0]}\n"                                                         \
    "  c: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1, 1, 1], shape: {box: [1, 2, "  \
    "3]}}\n"                                                                                       \
    "  d: {mass: 1.5, inertia: [0.1, 0.1, 0.15, 0, 0, 0], position: [2, 1, 1], orientation: "      \
    "[0.5, 0.5, 0.5, 0.5], shape: {capsule: [0.1, 1]}}\n"                                          \
    "  e: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [2, 2, 1], shape: {cylinder: "    \
    "[0.1, 1]}}\n"                                                                                 \
    "  tip: {mass: 0, position: [2, 2, 2], orientation: [0, 1, 0, 0]}\n"                           \
    "  tool: {mass: 0.5, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [2, 2, 3], shape: "       \
    "{sphere: 0.1}}\n"                                                                             \
    "joints:\n"                                                                                    \
    "  j1: {type: revolute, between: [ground, a], at: [0.3, 0, 1], axis: [1, 2, 3], spring: {q0: " \
    "{damping: 0.3}}, limits: {q0: {lower: -1, upper: 2, stiffness: 10000, damping: 10}}}\n"       \
    "  j2: {type: revolute, between: [b, a], at: [0.5, 0, 1.2], axis: [0, 1, 1], effort: {q0: "    \
    "motor}}\n"                                                                                    \
    "  j3: {type: cylindrical, between: [b, c], at: [1, 0.5, 1], axis: [1, 0, 1]}\n"               \
    "  j4: {type: universal, between: [d, c], at: [1.5, 1, 1], axis: [0, 0, 1], axis2: [1, 0, "    \
    "0]}\n"                                                                                        \
    "  j5: {type: planar, between: [d, e], at: [2, 1.5, 1], axis: [0, 1, 1], spring: {q1: "        \
    "{damping: 0.2}}}\n"                                                                           \
    "  j6: {type: prismatic, between: [tip, e], at: [2, 2, 2], axis: [0, 1, 2]}\n"                 \
    "  j7: {type: fixed, between: [tip, tool], at: [2, 2, 2.5]}\n"

/** Index of a speed of an exported joint that has the coordinate of the joint: JOINT or JOINT_qk. */
static int speed_of(const lw_model *m, const char *joint, int k, bool several)
{
    char name[300];
    lw_joint j;
    int q, nq, v, nv;
    snprintf(name, sizeof name, several ? "%s_q%d" : "%s", joint, k);
    if (lw_model_find_joint(m, name, &j)) fail_msg("no joint '%s'", name);
    OK(lw_model_joint_tree(m, j, &q, &nq, &v, &nv));
    assert_int_equal(nv, 1);
    return v;
}

// Speed i of `a` is speed to[i] of `b`; quaternions have the same index in both.
static void map_speeds(const lw_model *a, const lw_model *b, int *to)
{
    for (int j = 0; j < lw_model_joint_count(a); j++) {
        const lw_joint_info info = lw_model_joint(a, (lw_joint){j});
        int q, nq, v, nv;
        if (info.merged || lw_model_joint_tree(a, (lw_joint){j}, &q, &nq, &v, &nv)) continue;
        for (int k = 0; k < nv; k++) to[v + k] = speed_of(b, info.name, k, nv > 1);
    }
}

static double accelerations_differ(const lw_model *a, const lw_model *b, double input)
{
    enum { MAX_ITEMS = 64 };
    const int n = lw_model_tree_nv(a);
    double q[2][MAX_ITEMS], v[2][MAX_ITEMS], vdot[2][MAX_ITEMS], worst = 0, largest = 0;
    int to[MAX_ITEMS];
    lw_dynamics *d[2];
    assert_true(n < MAX_ITEMS && n == lw_model_tree_nv(b) && n == lw_model_tree_nq(b));
    map_speeds(a, b, to);
    OK(lw_dynamics_create(a, NULL, &d[0], NULL));
    OK(lw_dynamics_create(b, NULL, &d[1], NULL));
    for (int sample = 0; sample < 20; sample++) {
        for (int i = 0; i < n; i++) {
            q[0][i] = q[1][to[i]] = sin(1.7 * i + sample); // all different
            v[0][i] = v[1][to[i]] = cos(2.3 * i - sample);
        }
        OK(lw_forward_dynamics(d[0], 0, q[0], v[0], NULL, &input, vdot[0]));
        OK(lw_forward_dynamics(d[1], 0, q[1], v[1], NULL, &input, vdot[1]));
        for (int i = 0; i < n; i++) {
            worst = fmax(worst, fabs(vdot[0][i] - vdot[1][to[i]]));
            largest = fmax(largest, fabs(vdot[0][i]));
        }
    }
    lw_dynamics_destroy(d[0]);
    lw_dynamics_destroy(d[1]);
    return worst / largest;
}

static void a_tree_read_again_moves_the_same(void **state)
{
    (void)state;
    static const char *const formats[] = {"urdf", "mjcf"};
    lw_model *model = model_of(COMMON, "yaml");
    for (int f = 0; f < LWI_COUNT(formats); f++) {
        lw_error error;
        int reported = 0;
        char *text = export(model, formats[f], LW_OK, &error, &reported);
        assert_int_equal(reported, f ? 1 : 2); // stiffness of limits; URDF: the effort
        lw_model *again = model_of(text, formats[f]);
        // URDF has no inputs; a hundred units in the last place times the ratio of inertias
        const double differ = accelerations_differ(model, again, f ? 0.7 : 0);
        if (!(differ < 1e-11)) fail_msg("%s: %.3g\n%s", formats[f], differ, text);
        lw_model_destroy(again);
        free(text);
    }
    lw_model_destroy(model);
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text++) count++;
    return count;
}

// MuJoCo refuses moving bodies without mass: between two joints they are written as joints in series, others
// are reported.
static void massless_bodies_become_joints_in_series(void **state)
{
    (void)state;
    static const char row[] =
        "linkwork: 1\nbodies:\n"
        "  arm: {mass: 1, inertia: [0.1, 0.2, 0.25, 0, 0, 0], position: [0, 0, 1], orientation: "
        "[0.8, 0.6, 0, 0]}\n"
        "  u: {mass: 0, position: [1, 0, 1], orientation: [0.6, 0, 0.8, 0]}\n"
        "  v: {mass: 0, position: [1.2, 0.1, 1], orientation: [0.5, 0.5, 0.5, 0.5]}\n"
        "  hand: {mass: 2, inertia: [0.2, 0.3, 0.35, 0, 0, 0.01], com: [0, 0.1, 0], position: [2, "
        "0, 1], orientation: [0, 0.6, 0.8, 0]}\n"
        "%s"
        "joints:\n"
        "  j1: {type: revolute, between: [ground, arm], at: [0.3, 0, 1], axis: [1, 2, 3]}\n"
        "  j2: {type: revolute, between: [arm, u], at: [0.5, 0, 1.2], axis: [0, 1, 1]}\n"
        "  j3: {type: prismatic, between: [v, u], at: [1, 0.5, 1], axis: [1, 0, 1]}\n"
        "  j4: {type: revolute, between: [v, hand], at: [1.5, 1, 1], axis: [0, 0, 1]}\n"
        "%s";
    char text[2000];
    lw_error error;
    int reported = 0;
    snprintf(text, sizeof text, row, "", "");
    lw_model *model = model_of(text, "yaml");
    char *written = export(model, "mjcf", LW_OK, &error, &reported);
    assert_int_equal(occurrences(written, "<body"), 2);
    assert_int_equal(reported, 0);
    lw_model *again = model_of(written, "mjcf");
    assert_true(accelerations_differ(model, again, 0) < 1e-12);
    lw_model_destroy(again);
    lw_model_destroy(model);
    free(written);

    snprintf(text, sizeof text, row,
             "  thumb: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [2, 1, 1]}\n",
             "  j5: {type: revolute, between: [v, thumb], at: [2, 0.5, 1], axis: [0, 1, 0]}\n");
    model = model_of(text, "yaml");
    written = export(model, "mjcf", LW_OK, &error, &reported);
    assert_int_equal(occurrences(written, "<body"), 4); // u goes into v, which carries two
    assert_int_equal(reported, 1);
    again = model_of(written, "mjcf");
    assert_true(accelerations_differ(model, again, 0) < 1e-12);
    lw_model_destroy(again);
    lw_model_destroy(model);
    free(written);
}

// MJCF supports rotors, URDF does not.
static void rotors_are_written_or_reported(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies:\n"
        "  a: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0]}\n"
        "  b: {mass: 1, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [2, 0, 0]}\n"
        "joints:\n"
        "  j1: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], rotor: {q0: "
        "0.75}}\n"
        "  j2: {type: cylindrical, between: [a, b], at: [1.5, 0, 0], axis: [0, 1, 0], rotor: {q0: "
        "3, q1: 0.0625}}\n";
    lw_model *model = model_of(text, "yaml");
    lw_error error;
    int reported = 0;
    char *mjcf = export(model, "mjcf", LW_OK, &error, &reported);
    assert_int_equal(reported, 0);
    assert_non_null(strstr(mjcf, " armature=\"0.75\""));
    lw_model *again = model_of(mjcf, "mjcf");
    assert_true(accelerations_differ(model, again, 0) < 1e-13);
    free(mjcf);
    lw_model_destroy(again);
    free(export(model, "urdf", LW_OK, &error, &reported));
    assert_int_equal(reported, 3);
    lw_model_destroy(model);
}

// Floating bases, balls and the initial state: poses of the bodies from the keyframe.
static void floating_bases_and_balls(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies:\n"
        "  base: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], position: [1, 2, 3], orientation: [0.6, "
        "0.8, 0, 0]}\n"
        "  arm: {mass: 1, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [2, 2, 3]}\n"
        "joints:\n"
        "  ball: {type: spherical, between: [base, arm], at: [1.5, 2, 3], axis: [1, 0, 0]}\n";
    lw_model *model = model_of(text, "yaml");
    lw_error error;
    char *mjcf = export(model, "mjcf", LW_OK, &error, NULL);
    lw_model *again = model_of(mjcf, "mjcf");
    assert_int_equal(lw_model_tree_nv(again), 9);
    assert_non_null(strstr(mjcf, "<freejoint/>"));
    for (int i = 1; i < 3; i++) {
        const lw_body_info info = lw_model_body(model, (lw_body){i});
        lw_body body;
        OK(lw_model_find_body(again, info.name, &body));
        for (int k = 0; k < 3; k++)
            assert_true(fabs(model->body[i].r0[k] - again->body[body.index].r0[k]) < 1e-14);
        assert_true(info.mass == lw_model_body(again, body).mass);
    }
    free(export(model, "urdf", LW_ERR_UNSUPPORTED, &error, NULL));
    assert_non_null(strstr(error.text, "joint 'ball' is spherical"));
    free(mjcf);
    lw_model_destroy(again);
    lw_model_destroy(model);
}

// Initial poses and velocities of all bodies, and again after reading the keyframe.
static void the_start_is_a_keyframe(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\nbodies:\n"
        "  base: {mass: 2, inertia: [1, 1.1, 1.2, 0, 0, 0], com: [0.1, 0.2, 0.3], position: [1, 2, "
        "3], "
        "orientation: [0.6, 0.8, 0, 0], velocity: [0.3, -0.2, 0.1], angular_velocity: [0.5, 0.6, "
        "0.7]}\n"
        "  arm: {mass: 1, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [2, 2, 3], orientation: "
        "[0.8, 0, 0.6, 0]}\n"
        "  hand: {mass: 1, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [3, 2, 3]}\n"
        "  leg: {mass: 1, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [0, 2, 3]}\n"
        "  box: {mass: 1, inertia: [0.1, 0.2, 0.2, 0, 0, 0], com: [0, 0, 0.4], position: [9, 2, "
        "3]}\n"
        "joints:\n"
        "  ball: {type: spherical, between: [base, arm], at: [1.5, 2, 3], axis: [1, 0, 0], qd: [1, "
        "2, 3]}\n"
        "  back: {type: spherical, between: [leg, base], at: [0.5, 2, 3], axis: [1, 1, 0], qd: "
        "[-1, 0.5, 2]}\n"
        "  wrist: {type: universal, between: [arm, hand], at: [2.5, 2, 3], axis: [0, 0, 1], axis2: "
        "[1, 0, 0], qd: [0.4, -0.6]}\n"
        "  fly: {type: free, between: [ground, box], at: [9, 2, 3.2], axis: [1, 0, 1], qd: [1, 2, "
        "3, 4, 5, 6]}\n";
    lw_model *model[2] = {model_of(text, "yaml"), NULL};
    const lw_read_desc desc = {.format = "mjcf", .keyframe = "start"};
    lw_error error = {0};
    int reported = 0;
    char *mjcf = export(model[0], "mjcf", LW_OK, &error, &reported);
    assert_int_equal(reported, 0);
    if (lw_model_parse(mjcf, strlen(mjcf), "mjcf", &desc, &model[1], NULL, &error))
        fail_msg("%s\n%s", error.text, mjcf);
    lw_sim *sim[2];
    const lw_observation *o[2];
    for (int i = 0; i < 2; i++) {
        OK(lw_sim_create(model[i], NULL, &sim[i], &error));
        OK(lw_sim_observe(sim[i], LW_OBSERVE_ENERGY, &o[i]));
    }
    assert_true(o[0]->kinetic > 1);
    for (int i = 1; i < lw_model_body_count(model[0]); i++) {
        lw_body body;
        OK(lw_model_find_body(model[1], lw_model_body(model[0], (lw_body){i}).name, &body));
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(o[0]->position[i][k] - o[1]->position[body.index][k]) < 1e-13);
            assert_true(fabs(o[0]->velocity[i][k] - o[1]->velocity[body.index][k]) < 1e-13);
            assert_true(fabs(o[0]->angular_velocity[i][k] - o[1]->angular_velocity[body.index][k]) <
                        1e-13);
        }
    }
    for (int i = 0; i < 2; i++) lw_sim_destroy(sim[i]), lw_model_destroy(model[i]);
    free(mjcf);
}

static void couplings_are_mimics_and_equalities(void **state)
{
    (void)state;
    static const char *const formats[] = {"urdf", "mjcf"};
    static const char text[] =
        "linkwork: 1\nbodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}\n  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], "
        "position: [1, 0, 0]}\n"
        "joints:\n"
        "  j: {type: revolute, between: [ground, a], at: [0, 0, 0]}\n"
        "  k: {type: revolute, between: [ground, b], at: [1, 0, 0]}\n"
        "couplings: [{joint: k, coordinate: q0, of: j, with: q0, polynomial: [0, -2.5]}]\n";
    lw_model *model = model_of(text, "yaml");
    for (int f = 0; f < LWI_COUNT(formats); f++) {
        lw_error error;
        char *out = export(model, formats[f], LW_OK, &error, NULL);
        lw_model *again = model_of(out, formats[f]);
        assert_int_equal(again->ncoupling, 1);
        assert_true(again->coupling[0].c[1] == -2.5);
        lw_model_destroy(again);
        free(out);
    }
    lw_model_destroy(model);
}

static void what_a_format_lacks_is_refused_or_reported(void **state)
{
    (void)state;
#define ONE(joint, rest)                                                                           \
    "linkwork: 1\nfunctions:\n  f: {type: sine, amplitude: 0, omega: 1}\nbodies:\n  a: {mass: 1, " \
    "inertia: [1, 1, 1, 0, 0, 0]}\n"                                                               \
    "joints:\n  j: {between: [ground, a], at: [0, 0, 0], " joint "}\n" rest
    static const struct {
        const char *text, *format, *part; // NULL: written, and reported
    } cases[] = {
        {ONE("type: revolute, motion: {q0: f}", ""), "urdf", "coordinate q0 is driven"},
        {ONE("type: screw, pitch: 1", ""), "mjcf", "joint 'j' is of a type"},
        {ONE("type: revolute, mount: {shift: [0, 0, f]}", ""), "mjcf", "its mount moves"},
        {ONE("type: revolute", "  k: {type: revolute, between: [ground, a], at: [0, 0, 0]}\n"),
         "urdf", "closes a loop"},
        {ONE("type: revolute, spring: {q0: {force: f}}", ""), "mjcf", NULL},
        {ONE("type: revolute", "forces:\n  s: {type: spring, between: [ground, a], from: [0, 0, "
                               "1], to: [1, 0, 0], stiffness: 1}\n"),
         "urdf", NULL},
        {ONE("type: revolute, spring: {q0: {stiffness: 2}}", ""), "urdf", NULL},
        {ONE("type: revolute, qd: [1]", ""), "urdf", NULL},
        {ONE("type: revolute, effort: {q0: f}", ""), "mjcf", NULL},
        {ONE("type: revolute, effort: {q0: f}", ""), "urdf", NULL},
        {ONE("type: revolute, friction: {q0: {coulomb: 1, speed: 0.1}}", ""), "mjcf", NULL},
        {ONE("type: revolute", "markers:\n  m: {body: a, position: [0, 0, 0]}\n"), "mjcf", NULL},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_model *model = model_of(cases[i].text, "yaml");
        lw_error error;
        int reported = 0;
        free(export(model, cases[i].format, cases[i].part ? LW_ERR_UNSUPPORTED : LW_OK, &error,
                    &reported));
        if (cases[i].part && !strstr(error.text, cases[i].part)) fail_msg("%s", error.text);
        assert_int_equal(reported, cases[i].part ? 0 : 1);
        lw_model_destroy(model);
    }
    lw_error error;
    assert_int_equal(lw_model_export(NULL, "urdf", stdout, NULL, NULL, &error), LW_ERR_ARGUMENT);
    lw_model *model = model_of(ONE("type: revolute", ""), "yaml");
    assert_int_equal(lw_model_export(model, "sdf", stdout, NULL, NULL, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "urdf mjcf"));
    lw_model_destroy(model);
}

// Bodies of MJCF are nested: as deep as they are read again, and no deeper; the file grows linearly with them.
static void deep_trees_are_read_again_or_refused(void **state)
{
    (void)state;
    static const int lengths[] = {250, 997, 998};
    size_t size[LWI_COUNT(lengths)] = {0};
    for (int i = 0; i < LWI_COUNT(lengths); i++) {
        char text[80];
        snprintf(text, sizeof text, "linkwork: 1\ngenerate: {chain: {n: %d}}\n", lengths[i]);
        lw_model *model = model_of(text, "yaml");
        lw_error error;
        char *out = export(model, "mjcf", i < 2 ? LW_OK : LW_ERR_UNSUPPORTED, &error, NULL);
        if (i < 2) {
            lw_model *again = model_of(out, "mjcf");
            assert_int_equal(again->nbody, model->nbody);
            size[i] = strlen(out);
            lw_model_destroy(again);
        } else {
            assert_non_null(strstr(error.text, "nested deeper than 997 bodies"));
        }
        free(out);
        lw_model_destroy(model);
    }
    assert_true(size[1] < 5 * size[0]);
}

// Three formats of one hinge of inertia 2 with dry friction 1.5 and a damper 0.3, at speeds below and above the scale:
// 2 dv/dt = -1.5 tanh(v / 0.01) - 0.3 v.
static void friction_of_robots_acts(void **state)
{
    (void)state;
#define INERTIA "<inertia ixx='2' iyy='2' izz='2' ixy='0' ixz='0' iyz='0'/>"
    static const struct {
        const char *format, *text;
    } files[] = {
        {"urdf",
         "<robot name='r'><link name='w'/><link name='a'><inertial><mass value='1'/>" INERTIA
         "</inertial></link><joint name='j' type='continuous'><parent link='w'/><child link='a'/>"
         "<axis xyz='0 0 1'/><dynamics damping='0.3' friction='1.5'/></joint></robot>"},
        {"sdf",
         "<sdf version='1.7'><model name='r'><link name='a'><inertial><mass>1</mass><inertia>"
         "<ixx>2</ixx><iyy>2</iyy><izz>2</izz></inertia></inertial></link><joint name='j' "
         "type='revolute'><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz><dynamics>"
         "<damping>0.3</damping><friction>1.5</friction></dynamics></axis></joint></model></sdf>"},
        {"mjcf",
         "<mujoco><worldbody><body name='a'><inertial pos='0 0 0' mass='1' diaginertia='2 2 2'/>"
         "<joint name='j' axis='0 0 1' damping='0.3' frictionloss='1.5'/></body></worldbody>"
         "</mujoco>"},
        {"yaml",
         ONE("type: revolute, friction: {q0: {coulomb: 0.75, viscous: 0.15, speed: 0.01}}", "")}};
    for (int f = 0; f < LWI_COUNT(files); f++) {
        lw_model *model = model_of(files[f].text, files[f].format);
        lw_dynamics *d;
        OK(lw_dynamics_create(model, NULL, &d, NULL));
        for (int i = -4; i <= 4; i++) {
            const double q = 0.3, v = i < 0 ? -pow(10, i) : i * i * 0.004;
            double rate;
            OK(lw_forward_dynamics(d, 0, &q, &v, NULL, NULL, &rate));
            const double expected = -(1.5 * tanh(v / 0.01) + 0.3 * v) / 2;
            if (!(fabs(rate - expected) < 1e-14))
                fail_msg("%s: %.17g, expected %.17g", files[f].format, rate, expected);
        }
        lw_dynamics_destroy(d);
        lw_model_destroy(model);
    }
    // A file that was written for other programs is read with the same friction and the default speed scale.
    lw_error error;
    lw_model *model = model_of(files[3].text, "yaml");
    for (int f = 0; f < 2; f++) {
        static const char *const formats[] = {"urdf", "mjcf"};
        int reported = 0;
        char *text = export(model, formats[f], LW_OK, &error, &reported);
        lw_model *again = model_of(text, formats[f]);
        assert_true(accelerations_differ(model, again, 0) < 1e-13);
        lw_model_destroy(again);
        free(text);
    }
    lw_model_destroy(model);
    static const char *const negative[] = {
        "<robot name='r'><link name='w'/><link name='a'><inertial><mass value='1'/>" INERTIA
        "</inertial></link><joint name='j' type='continuous'><parent link='w'/><child link='a'/>"
        "<dynamics friction='-1'/></joint></robot>"};
    const lw_read_desc desc = {.format = "urdf"};
    assert_int_equal(
        lw_model_parse(negative[0], strlen(negative[0]), "n", &desc, &model, NULL, &error),
        LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "friction is -1, expected a number >= 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_of_robots_acts),
        cmocka_unit_test(a_tree_read_again_moves_the_same),
        cmocka_unit_test(massless_bodies_become_joints_in_series),
        cmocka_unit_test(rotors_are_written_or_reported),
        cmocka_unit_test(floating_bases_and_balls),
        cmocka_unit_test(the_start_is_a_keyframe),
        cmocka_unit_test(couplings_are_mimics_and_equalities),
        cmocka_unit_test(what_a_format_lacks_is_refused_or_reported),
        cmocka_unit_test(deep_trees_are_read_again_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
