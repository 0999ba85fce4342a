// test_limits.c -- limits without stiffness: ranges, of a given stiffness, or scaled by the mechanism, where the second
// route to the articulated inertia is a unit effort on the mechanism; the formats agree; what is saved where.
#define _XOPEN_SOURCE 700 // mkdtemp
#include "methods/rcr/rcr_cases.h"
#include "support/given.h"

#include <linkwork/dynamics.h>
#include <linkwork/io.h>

#include <unistd.h>

#define BODIES                                                                                     \
    "linkwork: 1\ngravity: [0, 0, 0]\nbodies:\n"                                                   \
    "  a: {mass: 2, inertia: [0.1, 0.2, 0.3, 0, 0, 0], com: [0.2, 0, 0.5]}\n"                      \
    "  b: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], com: [0, 0.3, 0], position: [0, 0, 1]}\n"   \
    "  c: {mass: 3, inertia: [0.2, 0.1, 0.1, 0, 0, 0], com: [0.1, 0, 0], position: [1, 0, 1]}\n"   \
    "joints:\n"

static const char tree[] = BODIES
    "  p: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [1, 2, 0], rotor: {q0: "
    "0.5},\n"
    "      q: [0.3], limits: {q0: {lower: -1, upper: 2, stiffness: 0}}}\n"
    "  r: {type: cylindrical, between: [a, b], at: [0, 0, 1], axis: [0, 1, 1],\n"
    "      limits: {q0: {upper: 0.1, stiffness: 0}, q1: {lower: -0.1, upper: -0.05, stiffness: "
    "0}}}\n"
    "  s: {type: prismatic, between: [b, c], at: [1, 0, 1], axis: [1, 0, 0], motion: {q0: 0},\n"
    "      limits: {q0: {lower: 0, stiffness: 0}}}\n";

static lw_status read_limits(const char *text, const lw_read_desc *desc, lw_model **model,
                             lw_error *error)
{
    lw_read_desc d = *desc;
    d.format = "yaml";
    return lw_model_parse(text, strlen(text), "limits.yaml", &d, model, NULL, error);
}

static const lw_limits_desc *limits_of(const lw_model *m, const char *name, int k)
{
    lw_joint joint;
    assert_int_equal(lw_model_find_joint(m, name, &joint), LW_OK);
    return &m->desc.joint[joint.index].coordinate[k].limits;
}

static bool warned(const lw_model *m, const char *text)
{
    for (int i = 0; i < lw_model_warning_count(m); i++)
        if (strstr(lw_model_warning(m, i), text)) return true;
    return false;
}

// Without stiffness they are ranges; a number is the stiffness of all.
static void they_are_ranges_or_of_one_stiffness(void **state)
{
    (void)state;
    lw_model *m;
    lw_error error = {0};
    lwt_ok(read_limits(tree, &(lw_read_desc){0}, &m, &error), &error);
    assert_true(limits_of(m, "p", 0)->has_upper && limits_of(m, "p", 0)->stiffness == 0);
    assert_int_equal(m->nmode, 0); // no stop
    assert_int_equal(lw_model_warning_count(m), 0);
    lw_model_destroy(m);
    lwt_ok(
        read_limits(tree, &(lw_read_desc){.limits = {.stiffness = 70, .damping = 2}}, &m, &error),
        &error);
    assert_true(limits_of(m, "r", 1)->stiffness == 70 && limits_of(m, "r", 1)->damping == 2);
    assert_true(limits_of(m, "s", 0)->stiffness == 0); // it is driven
    lw_model_destroy(m);
}

// The inertia of p by another route: a unit effort gives it the acceleration 1 / I, with all joints beyond it free.
static double inertia_by_effort(const char *joint)
{
    lw_model *m;
    lw_error error = {0};
    double q[8], v[8] = {0}, tau[8] = {0}, a[8];
    int at, nq, first, nv;
    lw_joint j;
    lw_dynamics *d;
    lwt_ok(read_limits(tree, &(lw_read_desc){0}, &m, &error), &error);
    lwt_ok(lw_dynamics_create(m, NULL, &d, &error), &error);
    assert_int_equal(lw_model_find_joint(m, joint, &j), LW_OK);
    assert_int_equal(lw_model_joint_tree(m, j, &at, &nq, &first, &nv), LW_OK);
    lw_model_tree_start(m, q, a);
    tau[first] = 1;
    assert_int_equal(lw_forward_dynamics(d, 0, q, v, tau, NULL, a), LW_OK);
    const double result = 1 / a[first];
    lw_dynamics_destroy(d);
    lw_model_destroy(m);
    return result;
}

static void scaled_stops_have_the_articulated_inertia(void **state)
{
    (void)state;
    const double T = 0.05;
    lw_model *m;
    lw_error error = {0};
    lwt_ok(read_limits(tree, &(lw_read_desc){.limits_time = T}, &m, &error), &error);
    const lw_limits_desc *p = limits_of(m, "p", 0);
    const double I = inertia_by_effort("p");
    lwt_near("stiffness", 0, p->stiffness / (I / (T * T)), 1, 1e-12);
    lwt_near("damping", 0, p->damping / (2 * I / T), 1, 1e-12);
    // the other coordinate of the same joint is held
    for (int k = 0; k < 2; k++) {
        const lw_limits_desc *r = limits_of(m, "r", k);
        assert_true(r->stiffness > 0);
        lwt_near("ratio", k, r->damping / r->stiffness, 2 * T, 1e-12);
    }
    lwt_near("slide", 0, limits_of(m, "r", 0)->stiffness * T * T, 4,
             1e-12); // the masses of b and c
    assert_true(limits_of(m, "s", 0)->stiffness == 0);
    assert_true(warned(m, "critically damped with a time constant of 0.05 s"));
    assert_true(warned(m, "joints (3): p, r, r"));
    assert_true(warned(m, "joints start beyond their limits (1): r"));
    lw_model_destroy(m);
}

// A joint pressed into its stop by a constant effort comes to a stop where stiffness times depth is the effort.
static void a_stop_is_critically_damped(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "bodies: {a: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {j: {type: prismatic, between: [ground, a], at: [0, 0, 0],\n"
        "  limits: {q0: {lower: 0, stiffness: 0}}}}\n"
        "simulation: {duration: 1, rtol: 1e-10, atol: 1e-12}\n";
    const double T = 0.1;
    lw_model *m;
    lw_sim *sim;
    lw_options options;
    lw_error error = {0};
    lw_options_default(&options);
    lwt_ok(read_limits(text, &(lw_read_desc){.limits_time = T}, &m, &error), &error);
    lwt_ok(lw_sim_create(m, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    // from rest at the end: x = -g T^2 (1 - (1 + t / T) exp(-t / T)); it never comes back
    for (int i = 1; i <= 5; i++) {
        const double t = 0.15 * i;
        lwt_ok(lw_sim_step(sim, t), lw_sim_error(sim));
        const lw_observation *o;
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &o), lw_sim_error(sim));
        lwt_near("depth", i, o->q[0], -9.81 * T * T * (1 - (1 + t / T) * exp(-t / T)), 1e-6);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// URDF, SDF and MJCF of one pendulum: the same stops; a singular tree and a closed loop have none and say so.
static void every_format_has_them(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"urdf",
         "<robot name='r'><link name='w'/><link name='a'><inertial><origin xyz='0 0 2'/>"
         "<mass value='3'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
         "</link><joint name='j' type='revolute'><parent link='w'/><child link='a'/>"
         "<axis xyz='0 1 0'/><limit lower='-1' upper='2' effort='1' "
         "velocity='1'/></joint></robot>"},
        {"sdf",
         "<sdf version='1.10'><model name='m'><link name='a'><inertial><pose>0 0 2 0 0 0</pose>"
         "<mass>3</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>"
         "<joint name='j' type='revolute'><parent>world</parent><child>a</child><axis><xyz>0 1 0"
         "</xyz><limit><lower>-1</lower><upper>2</upper></limit></axis></joint></model></sdf>"},
        {"mjcf",
         "<mujoco><compiler angle='radian'/><worldbody><body name='a'><joint name='j' axis='0 1 0'"
         " range='-1 2'/><inertial pos='0 0 2' mass='3' diaginertia='1 1 1'/></body></worldbody>"
         "</mujoco>"}};
    for (int i = 0; i < LWI_COUNT(files); i++) {
        lw_model *m;
        lw_error error = {0};
        const lw_read_desc desc = {.format = files[i][0], .limits_time = LW_LIMITS_TIME};
        lwt_ok(lw_model_parse(files[i][1], strlen(files[i][1]), "file", &desc, &m, NULL, &error),
               &error);
        const lw_limits_desc *l = limits_of(m, "j", 0);
        assert_true(l->lower == -1 && l->upper == 2 && l->has_lower && l->has_upper);
        lwt_near(files[i][0], 0, l->stiffness, 13 / (0.02 * 0.02), 1e-9);
        lwt_near(files[i][0], 1, l->damping, 2 * 13 / 0.02, 1e-9);
        lw_model_destroy(m);
    }
}

static void no_inertia_no_stop(void **state)
{
    (void)state;
    lw_model *m;
    lw_error error = {0};
    lwt_ok(
        read_limits(BODIES
                    "  p: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}\n"
                    "  q: {type: revolute, between: [a, b], at: [0, 0, 1], axis: [0, 1, 0]}\n"
                    "  r: {type: revolute, between: [b, c], at: [1, 0, 1], axis: [0, 1, 0]}\n"
                    "  s: {type: revolute, between: [c, ground], at: [1, 0, 0], axis: [0, 1, 0],\n"
                    "      cut: always, limits: {q0: {lower: -1, stiffness: 0}}}\n",
                    &(lw_read_desc){.limits_time = 0.02}, &m, &error),
        &error);
    assert_true(warned(m, "close loops or have no inertia (1): s"));
    assert_true(limits_of(m, "s", 0)->stiffness == 0);
    lw_model_destroy(m);
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    lw_model *m;
    lw_error error = {0};
    assert_int_equal(read_limits(tree, &(lw_read_desc){.limits_time = -1}, &m, &error),
                     LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "time constant -1"));
}

// The format is that of the ending; what cannot be written leaves the file as it was.
static void models_are_saved_by_the_ending(void **state)
{
    (void)state;
    char folder[] = "/tmp/lw_save_XXXXXX", path[64];
    lw_model *m;
    lw_error error = {0};
    assert_non_null(mkdtemp(folder));
    lwt_ok(
        read_limits(BODIES
                    "  p: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}\n"
                    "  q: {type: revolute, between: [a, b], at: [0, 0, 1], axis: [0, 1, 0]}\n"
                    "  r: {type: revolute, between: [b, c], at: [1, 0, 1], axis: [0, 1, 0]}\n",
                    &(lw_read_desc){0}, &m, &error),
        &error);
    static const char *const endings[][2] = {{"yaml", "linkwork: 1"},
                                             {"YML", "linkwork: 1"},
                                             {"urdf", "<robot"},
                                             {"xml", "<mujoco"},
                                             {"mjcf", "<mujoco"}};
    for (int i = 0; i < LWI_COUNT(endings); i++) {
        char text[200] = "";
        snprintf(path, sizeof path, "%s/m.%s", folder, endings[i][0]);
        lwt_ok(lw_model_save(m, NULL, path, NULL, NULL, &error), &error);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        assert_true(fread(text, 1, sizeof text - 1, f) > 0);
        fclose(f);
        if (!strstr(text, endings[i][1])) fail_msg("%s: %s", path, text);
        unlink(path);
    }
    static const char *const refused[] = {"sdf", "json", "h5", "txt"};
    for (int i = 0; i < LWI_COUNT(refused); i++) {
        snprintf(path, sizeof path, "%s/m.%s", folder, refused[i]);
        assert_int_equal(lw_model_save(m, NULL, path, NULL, NULL, &error), LW_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "models are written as .yaml"));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    lw_model_destroy(m);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_ranges_or_of_one_stiffness),
        cmocka_unit_test(scaled_stops_have_the_articulated_inertia),
        cmocka_unit_test(a_stop_is_critically_damped),
        cmocka_unit_test(every_format_has_them),
        cmocka_unit_test(no_inertia_no_stop),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(models_are_saved_by_the_ending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
