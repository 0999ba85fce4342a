// test_codegen.c -- generated code computes the same values as the library.
//
// The code of every model is generated, all sources are compiled into one shared object by the
// available compiler (-Wall -Wextra -Wpedantic -Werror), and the functions are compared with those
// of the library. Without a compiler the tests that need one are skipped with a message.
#include "generated.h"
#include "support/given.h"
#include "support/random_model.h"
#include "support/rotors.h"

enum { NTREES = 16, NSTATES = 4, MOST = 64 };

typedef void unary(const double *, double *);
typedef void binary(const double *, const double *, double *);
typedef void ternary(const double *, const double *, const double *, double *);

// --------------------------------------------------------------------------------------- comparing

typedef struct bench {
    const char *name;
    const lw_model *model;
    lw_dynamics *dynamics;
    void *code; ///< handle from dlopen
    int nq, nv;
    double q[MOST], v[MOST], tau[MOST], expected[MOST * MOST], got[MOST * MOST];
} bench;

// The two recursions round differently: the tolerance is in units in the last place of the largest
// result, times the condition number of the joint inertias.
static void compare(const bench *b, const char *what, int n, double tolerance)
{
    expect_close(b->name, what, b->got, b->expected, n, tolerance);
}

static void random_state(bench *b, uint64_t *seed, double turns)
{
    lw_model_tree_start(b->model, b->q, b->v);
    for (int i = 0; i < b->nv; i++) b->v[i] = lwt_random(seed, -1, 1);
    for (int i = 0; i < b->nv; i++) b->tau[i] = lwt_random(seed, -3, 3);
    for (int i = 0; i < b->nq; i++) b->q[i] += turns * lwt_random(seed, -1, 1);
}

static void check_accelerations(bench *b, double tolerance)
{
    ternary *forward, *inverse;
    binary *rates;
    double a[MOST];
    find(b->code, b->name, "forward_dynamics", &forward);
    find(b->code, b->name, "inverse_dynamics", &inverse);
    find(b->code, b->name, "coordinate_rates", &rates);
    OK(lw_forward_dynamics(b->dynamics, 0, b->q, b->v, b->tau, NULL, b->expected));
    forward(b->q, b->v, b->tau, b->got);
    compare(b, "acceleration", b->nv, tolerance);
    memcpy(a, b->expected, sizeof a);
    OK(lw_inverse_dynamics(b->dynamics, 0, b->q, b->v, a, NULL, b->expected));
    inverse(b->q, b->v, a, b->got);
    compare(b, "effort", b->nv, tolerance * (1 + largest(a, b->nv)));
}

static void check_momenta(bench *b, double tolerance)
{
    double p[MOST], v[MOST], qdot[MOST], pdot[MOST];
    binary *momenta, *rates;
    void (*momenta_rates)(const double *, const double *, const double *, double *, double *);
    find(b->code, b->name, "momenta", &momenta);
    find(b->code, b->name, "momenta_rates", &momenta_rates);
    find(b->code, b->name, "coordinate_rates", &rates);
    OK(lw_momenta(b->dynamics, 0, b->q, b->v, b->expected));
    momenta(b->q, b->v, b->got);
    compare(b, "momentum", b->nv, tolerance);
    memcpy(p, b->expected, sizeof p);
    OK(lw_momenta_rates(b->dynamics, 0, b->q, p, b->tau, NULL, v, qdot, pdot));
    momenta_rates(b->q, p, b->tau, b->got, b->got + MOST);
    memcpy(b->expected, v, sizeof v);
    compare(b, "speed", b->nv, tolerance);
    memcpy(b->expected, pdot, sizeof pdot);
    memcpy(b->got, b->got + MOST, sizeof pdot);
    compare(b, "rate of momentum", b->nv, tolerance);
    memcpy(b->expected, qdot, sizeof qdot);
    rates(b->q, v, b->got);
    compare(b, "rate of coordinate", b->nq, tolerance);
}

static void check_mass_matrix(bench *b, double tolerance)
{
    unary *mass_matrix;
    find(b->code, b->name, "mass_matrix", &mass_matrix);
    OK(lw_mass_matrix(b->dynamics, 0, b->q, b->expected));
    mass_matrix(b->q, b->got);
    compare(b, "mass matrix", b->nv * b->nv, tolerance);
}

static void check_model(const lw_model *model, void *library, const char *name, double tolerance)
{
    bench b = {.name = name, .model = model, .code = library};
    uint64_t seed = 5;
    lw_error error = {0};
    b.nq = lw_model_tree_nq(model), b.nv = lw_model_tree_nv(model);
    assert_true(b.nq < MOST);
    OK(lw_dynamics_create(model, NULL, &b.dynamics, &error));
    for (int i = 0; i < NSTATES; i++) {
        random_state(&b, &seed, i == 0 ? 0 : 0.4);
        check_accelerations(&b, tolerance);
        check_momenta(&b, tolerance);
        check_mass_matrix(&b, tolerance);
    }
    lw_dynamics_destroy(b.dynamics);
}

// -------------------------------------------------------------------------------------- kinematics

// Poses are those that a simulation observes in the initial state of the model.
static void check_poses(const lw_model *model, void *library, const char *name)
{
    static double R[200][9], r[200][3];
    double q[MOST], v[MOST];
    void (*kinematics)(const double *, double(*)[9], double(*)[3]);
    find(library, name, "kinematics", &kinematics);
    lw_model_tree_start(model, q, v);
    kinematics(q, R, r);
    lw_sim *sim;
    lw_error error = {0};
    const lw_observation *o;
    OK(lw_sim_create(model, NULL, &sim, &error));
    OK(lw_sim_observe(sim, LW_OBSERVE_POSE, &o));
    assert_true(lw_model_body_count(model) < 200);
    for (int b = 0; b < lw_model_body_count(model); b++) {
        const double w = o->quaternion[b][0], x = o->quaternion[b][1];
        const double y = o->quaternion[b][2], z = o->quaternion[b][3];
        const double expected[9] = {
            1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
        const double *centre = o->position[b];
        for (int i = 0; i < 9; i++) assert_true(fabs(R[b][i] - expected[i]) < 1e-12);
        for (int i = 0; i < 3; i++)
            assert_true(fabs(r[b][i] - centre[i]) < 1e-12 * (1 + fabs(centre[i])));
    }
    lw_sim_destroy(sim);
}

// ------------------------------------------------------------------------------------------ models

static void robots_agree(void **state)
{
    (void)state;
    skip_without_compiler();
    static const struct {
        const char *file, *name;
        lw_base base;
    } robots[] = {{"ur5.urdf", "ur5", LW_BASE_FIXED},
                  {"anymal_c.urdf", "anymal", LW_BASE_FIXED},
                  {"anymal_c.urdf", "floating", LW_BASE_FLOATING}};
    lw_model *model[3];
    for (int i = 0; i < 3; i++) {
        model[i] = read_robot(robots[i].file, robots[i].base);
        write_model(model[i], "robots", robots[i].name);
    }
    void *library = compile("robots");
    for (int i = 0; i < 3; i++) {
        check_model(model[i], library, robots[i].name, 1e-12);
        check_poses(model[i], library, robots[i].name);
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

// Trees of all elements that can be generated; other models are refused with a message.
static void random_trees_agree(void **state)
{
    (void)state;
    skip_without_compiler();
    enum { FLAGS = LWT_MULTI | LWT_QUASI | LWT_FIXED | LWT_REVERSED | LWT_FLOATING };
    lw_model *model[NTREES];
    char name[NTREES][20];
    int n = 0, refused = 0;
    for (uint64_t seed = 1; n < NTREES; seed++) {
        lw_error error = {0};
        OK(lwt_random_tree(seed, 1 + (int)(seed % 7), FLAGS, &model[n]));
        if (seed % 2) { // every second model has rotors on its joints
            lw_model *bare = model[n];
            model[n] = lwt_with_rotors(bare, seed);
            lw_model_destroy(bare);
        }
        snprintf(name[n], sizeof name[n], "tree%d", (int)seed);
        const lw_codegen_desc desc = {.name = name[n]};
        if (try_code(model[n], "trees", &desc, &error)) {
            assert_true(lw_model_tree_nq(model[n]) < MOST);
            n++;
            continue;
        }
        lw_model_destroy(model[n]);
        refused++;
    }
    assert_true(refused > 0);
    void *library = compile("trees");
    for (int i = 0; i < n; i++) {
        check_model(model[i], library, name[i], 1e-12);
        check_poses(model[i], library, name[i]);
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

// Slender bodies on a universal joint: its first pivot is cos^2(q1) times the inertia about the second axis.
static void products_divide(void **state)
{
    (void)state;
    skip_without_compiler();
    lw_model *model = read_model("examples/design/strut.yaml", LW_BASE_AUTO);
    write_model(model, "products", "strut");
    void *library = compile("products");
    check_model(model, library, "strut", 1e-12);
    lw_model_destroy(model);
    dlclose(library);
}

typedef struct builder {
    lw_builder *b;
    lw_body last;
} builder;

static void add(builder *x, const char *name, lw_joint_desc joint)
{
    lw_joint added;
    const lw_body_desc body = {.name = name,
                               .mass = 1.5,
                               .inertia = {0.2, 0.3, 0.25, 0.01, -0.02, 0.03},
                               .com = {0.3, 0.1, -0.2}};
    lw_body made;
    OK(lw_builder_add_body(x->b, &body, &made, NULL));
    joint.name = name;
    joint.body1 = x->last;
    joint.body2 = made;
    joint.placement = LW_PLACED_FRAMES;
    if (joint.type != LW_JOINT_FIXED) {
        joint.frame1 = (lw_pose){{0.5, 0.2, 0.1}, {0.8, 0.6, 0, 0}};
        joint.has_q = joint.coordinate[0].motion.index == 0; // q defines the pose
        joint.q[0] = joint.type == LW_JOINT_SPHERICAL ? 1 : 0.2;
    }
    OK(lw_builder_add_joint(x->b, &joint, &added, NULL));
    x->last = made;
}

static lw_model *finish(builder *x)
{
    lw_model *model;
    lw_error error = {0};
    if (lw_model_create(x->b, &model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(x->b);
    return model;
}

static lw_model *sprung(void)
{
    builder x = {0};
    lw_signal push;
    lw_body middle;
    OK(lw_builder_create(NULL, &x.b));
    const lw_function_desc constant = {.type = LW_FUNCTION_CONSTANT, .value = 2.5};
    OK(lw_builder_add_function(x.b, &constant, &push, NULL));
    add(&x, "slider",
        (lw_joint_desc){.type = LW_JOINT_PRISMATIC,
                        .coordinate[0] = {.stiffness = 30, .damping = 2, .at = 0.1}});
    add(&x, "hinge",
        (lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                        .coordinate[0] = {.damping = 0.7, .force = push}});
    middle = x.last;
    add(&x, "ball", (lw_joint_desc){.type = LW_JOINT_SPHERICAL, .damping = 0.3});
    add(&x, "cardan",
        (lw_joint_desc){.type = LW_JOINT_UNIVERSAL, .coordinate[1] = {.stiffness = 5, .at = -0.4}});
    const lw_spring_desc springs[] = {{.name = "rope",
                                       .body2 = x.last,
                                       .point1 = {1, 2, 3},
                                       .point2 = {0.1, 0.2, 0.1},
                                       .stiffness = 20,
                                       .damping = 3,
                                       .length = 1.5},
                                      {.name = "strut",
                                       .body1 = middle,
                                       .body2 = x.last,
                                       .point2 = {0.4, -0.1, 0},
                                       .stiffness = 40,
                                       .damping = 1,
                                       .length = 0.7,
                                       .force = push}};
    for (int i = 0; i < 2; i++) OK(lw_builder_add_spring(x.b, &springs[i], NULL));
    const lw_wrench_desc wrenches[] = {{.name = "wind",
                                        .body = x.last,
                                        .point = {0.1, 0, 0.2},
                                        .force = {3, -1, 2},
                                        .torque = {1, 0, 2}},
                                       {.name = "jet",
                                        .body = middle,
                                        .force = {1, 0, 5},
                                        .torque = {0, 2, 1},
                                        .body_axes = true,
                                        .scale = push}};
    for (int i = 0; i < 2; i++) OK(lw_builder_add_wrench(x.b, &wrenches[i], NULL));
    return finish(&x);
}

static void springs_and_dampers_of_joints_are_folded_in(void **state)
{
    (void)state;
    skip_without_compiler();
    lw_model *model = sprung();
    write_model(model, "sprung", "sprung");
    void *library = compile("sprung");
    check_model(model, library, "sprung", 1e-12);
    lw_model_destroy(model);
    dlclose(library);
}

// The generated example is built by the generated Makefile, and it runs.
static void the_example_runs(void **state)
{
    (void)state;
    skip_without_compiler();
    char command[400];
    lw_model *model = sprung();
    write_model(model, "example", "sprung");
    snprintf(command, sizeof command,
             "cd '%s/example/sprung' && " LW_C_COMPILER " -std=c17 -Wall -Wextra -Wpedantic -Werror"
             " -o example example.c sprung.c -lm && ./example | grep -q ball.v2",
             folder);
    assert_int_equal(0, system(command));
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------------------- refusal

static void refuses(lw_model *model, const char *name, lw_status expected, const char *text)
{
    char path[200];
    lw_error error = {0};
    snprintf(path, sizeof path, "%s/refused", folder);
    const lw_codegen_desc desc = {.name = name};
    assert_int_equal(expected, lw_codegen_write(model, &desc, path, NULL, &error));
    if (!strstr(error.text, text)) fail_msg("'%s' is not in '%s'", text, error.text);
    assert_int_not_equal(0, access(path, F_OK)); // no file was written
    lw_model_destroy(model);
}

static void refuses_joint(lw_joint_desc joint, const char *text)
{
    builder x = {0};
    OK(lw_builder_create(NULL, &x.b));
    add(&x, "elbow", joint);
    refuses(finish(&x), "m", LW_ERR_UNSUPPORTED, text);
}

// A pendulum of a file, with what follows its joint.
static lw_model *pendulum(const char *joint, const char *rest)
{
    char text[4000];
    snprintf(text, sizeof text,
             "linkwork: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, "
             "0]}\njoints:\n  elbow: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: "
             "[0, 0, 1]%s}\n%s",
             joint, rest);
    return lwt_yaml(text);
}

static void what_cannot_be_generated_is_named(void **state)
{
    (void)state;
    builder x = {0};
    refuses(
        pendulum("",
                 "signals: {lift: {type: map, of: elbow.q0, of2: t, x: [0, 1], x2: [0, 1], rows: "
                 "[[0, 1], [2, 3]]}}\nforces: {f: {type: wrench, body: a, force_of: [lift, 0, "
                 "0]}}\n"),
        "m", LW_ERR_UNSUPPORTED, "wrench 'f' follows the map 'lift'");
    refuses(pendulum("",
                     "forces: {f: {type: tendon, stiffness: 1, path: [{body: ground, point: [1, "
                     "1, 0]}, {body: ground, radius: 0.1}, {body: a, point: [1, 1, 0]}]}}\n"),
            "m", LW_ERR_UNSUPPORTED, "tendon 'f' passes round an obstacle");

    OK(lw_builder_create(NULL, &x.b));
    for (int i = 0; i <= LW_CODEGEN_MAX_SPEEDS; i++)
        add(&x, NULL, (lw_joint_desc){.type = LW_JOINT_REVOLUTE});
    refuses(finish(&x), "m", LW_ERR_UNSUPPORTED, "65 degrees of freedom, more than the 64");

    refuses_joint((lw_joint_desc){.type = LW_JOINT_FIXED}, "nothing moves");
    refuses(sprung(), "two words", LW_ERR_ARGUMENT, "name 'two words'");
    refuses(sprung(), "7up", LW_ERR_ARGUMENT, "name '7up'");
}

// A file of the user's is not overwritten, and nothing else is written; a generated one is.
static void files_of_others_are_kept(void **state)
{
    (void)state;
    char path[300], text[100] = "", command[700];
    lw_model *model = sprung();
    lw_error error = {0};
    const lw_codegen_desc desc = {.name = "m"};
    snprintf(path, sizeof path, "%s/mine", folder);
    snprintf(command, sizeof command, "mkdir %s && echo mine > %s/Makefile", path, path);
    assert_int_equal(0, system(command));
    assert_int_equal(LW_ERR_ARGUMENT, lw_codegen_write(model, &desc, path, NULL, &error));
    assert_non_null(strstr(error.text, "/mine/Makefile exists and was not generated by Linkwork"));
    snprintf(command, sizeof command, "%s/m.h", path);
    assert_int_not_equal(0, access(command, F_OK));
    snprintf(command, sizeof command, "%s/Makefile", path);
    FILE *file = fopen(command, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal("mine\n", text);
    assert_int_equal(0, remove(command));
    for (int i = 0; i < 2; i++)
        assert_int_equal(LW_OK, lw_codegen_write(model, &desc, path, NULL, &error));
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ memory

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    lw_model *model = sprung();
    fail_each_allocation(model, false);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_agree),
        cmocka_unit_test(random_trees_agree),
        cmocka_unit_test(products_divide),
        cmocka_unit_test(springs_and_dampers_of_joints_are_folded_in),
        cmocka_unit_test(the_example_runs),
        cmocka_unit_test(what_cannot_be_generated_is_named),
        cmocka_unit_test(files_of_others_are_kept),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
