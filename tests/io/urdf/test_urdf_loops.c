// test_urdf_loops.c -- loops in URDF: <loop_joint> in its variants, the companion file, errors
// and notes.
#include <linkwork/linkwork.h>

#include "model/model.h"
#include "support/scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(LW_OK, (call))

// A square of rods of 1 m in the plane x y, rod 3 free at its end: closed at (1, 0, 0) of `right`
// and (1, 0, 0) of `top`.
#define INERTIAL                                                                                   \
    "<inertial><mass value='1'/><origin xyz='.5 0 0'/>"                                            \
    "<inertia ixx='.01' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>\n"
#define JOINT(name, type, parent, child, origin)                                                   \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child        \
    "'/>" origin "<axis xyz='0 0 1'/></joint>\n"
#define SQUARE                                                                                     \
    "<link name='world'/>\n" LINK("left") LINK("top") LINK("right")                                \
        JOINT("A", "continuous", "world", "left", "<origin rpy='0 0 1.5707963267948966'/>")        \
            JOINT("B", "continuous", "left", "top",                                                \
                  "<origin xyz='1 0 0' rpy='0 0 -1.5707963267948966'/>")                           \
                JOINT("C", "continuous", "world", "right",                                         \
                      "<origin xyz='1 0 0' rpy='0 0 1.5707963267948966'/>")
#define ROBOT(more) "<robot name='r'>\n" SQUARE more "</robot>"

static lw_status parse(const char *text, lw_model **model, lw_error *error)
{
    const lw_read_desc desc = {.format = "urdf"};
    return lw_model_parse(text, strlen(text), "bot.urdf", &desc, model, NULL, error);
}

static void check_square(const char *text)
{
    lw_model *model;
    lw_error error = {0};
    lw_check check;
    if (parse(text, &model, &error) != LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    assert_int_equal(4, lw_model_joint_count(model));
    assert_int_equal(1, lw_model_loop_count(model));
    OK(lw_model_check(model, &check, NULL, &error));
    assert_int_equal(1, check.dof); // a four-bar
    assert_true(check.residual[0] < 1e-15);
    for (int i = 0; i < lw_model_warning_count(model); i++)
        print_message("%s\n", lw_model_warning(model, i));
    assert_int_equal(0, lw_model_warning_count(model)); // nothing is lost
    lw_model_destroy(model);
}

static void both_variants_of_loop_joints_close_a_four_bar(void **state)
{
    (void)state;
    // the joint frame in both links: `right` is rotated relative to `top` by a right angle
    check_square(
        ROBOT("<loop_joint name='D' type='revolute'><axis xyz='0 0 1'/>"
              "<link1 link='top' xyz='1 0 0' rpy='0 0 0'/>"
              "<link2 link='right' xyz='1 0 0' rpy='0 0 -1.5707963267948966'/></loop_joint>"));
    // the same, both ends named link1; z of both frames is the axis
    check_square(ROBOT("<loop_joint name='D' type='continuous'><axis xyz='0 0 1'/>"
                       "<link1 link='top' xyz='1 0 0'/><link1 link='right' xyz='1 0 0'/>"
                       "</loop_joint>"));
    // the joint point in both links, the axis in the parent
    check_square(
        ROBOT("<loop_joint name='D' type='revolute'><parent link='top'/>"
              "<child link='right'/><parent_origin xyz='1 0 0'/>"
              "<child_origin xyz='1 0 0'/><axis xyz='0 0 1' frame='parent'/></loop_joint>"));
}

static void a_loop_joint_has_the_type_of_its_attribute(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        lw_joint_type type;
    } types[] = {{"spherical", LW_JOINT_SPHERICAL},
                 {"ball", LW_JOINT_SPHERICAL},
                 {"planar", LW_JOINT_PLANAR},
                 {"cylindrical", LW_JOINT_CYLINDRICAL},
                 {"floating", LW_JOINT_FREE}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[4000];
        lw_model *model;
        lw_joint joint;
        lw_error error = {0};
        snprintf(text, sizeof text,
                 ROBOT("<loop_joint name='D' type='%s'><axis xyz='0 0 1'/><parent link='top'/>"
                       "<child link='right'/><parent_origin xyz='1 0 0'/>"
                       "<child_origin xyz='1 0 0'/></loop_joint>"),
                 types[i].name);
        if (parse(text, &model, &error) != LW_OK) fail_msg("%s", error.text);
        OK(lw_model_find_joint(model, "D", &joint));
        assert_int_equal(types[i].type, lw_model_joint(model, joint).type);
        lw_model_destroy(model);
    }
}

static void refuse(const char *text, const char *part)
{
    lw_model *model = NULL;
    lw_error error = {0};
    const lw_status status = parse(text, &model, &error);
    assert_true(status == LW_ERR_PARSE || status == LW_ERR_MODEL || status == LW_ERR_UNSUPPORTED);
    assert_null(model);
    if (!strstr(error.text, part)) fail_msg("'%s' does not say '%s'", error.text, part);
}

static void mistakes_of_loop_joints_are_reported(void **state)
{
    (void)state;
    refuse(ROBOT("<loop_joint type='revolute'/>"), "name");
    refuse(ROBOT("<loop_joint name='D' type='gear'/>"), "unknown type 'gear'");
    refuse(ROBOT("<loop_joint name='D' type='revolute'><link1 link='top'/></loop_joint>"),
           "expected <link1> and <link2>");
    refuse(ROBOT("<loop_joint name='D' type='revolute'><link1 link='top'/><link2 link='tip'/>"
                 "</loop_joint>"),
           "link 'tip' does not exist");
    refuse(ROBOT("<loop_joint name='D' type='revolute'><parent link='top'/></loop_joint>"),
           "has no <child>");
    refuse(ROBOT("<loop_joint name='D' type='revolute'><axis xyz='0 0 1' frame='child'/>"
                 "<parent link='top'/><child link='right'/></loop_joint>"),
           "frame 'child'");
    // if it does not close, the message names the remedy
    refuse(ROBOT("<loop_joint name='D' type='revolute'><axis xyz='0 0 1'/>"
                 "<link1 link='top' xyz='1 0 0'/><link2 link='right' xyz='.5 0 0'/></loop_joint>"),
           "0.5 m off");
    refuse(ROBOT("<loop_joint name='D' type='revolute'><axis xyz='0 0 1'/>"
                 "<link1 link='top' xyz='1 0 0'/><link2 link='right' xyz='.5 0 0'/></loop_joint>"),
           "linkwork assemble");
    // a second parent is an error; the message names two ways to close a loop
    refuse(ROBOT(JOINT("D", "continuous", "right", "top", "")), "<loop_joint>");
}

// ----------------------------------------------------------------------- the companion file

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

// Frames at the tips of `top` and `right`, as links.
#define TIPS                                                                                       \
    "<link name='tip1'/><link name='tip2'/>"                                                       \
    "<joint name='t1' type='fixed'><parent link='top'/><child link='tip1'/>"                       \
    "<origin xyz='1 0 0'/></joint>"                                                                \
    "<joint name='t2' type='fixed'><parent link='right'/><child link='tip2'/>"                     \
    "<origin xyz='1 0 0' rpy='0 0 -1.5707963267948966'/></joint>"

static lw_status read_companion(const char *companion, lw_model **model, lw_error *error)
{
    mkdir("urdf_folder", 0777);
    write_file("urdf_folder/bot.urdf", ROBOT(TIPS));
    if (companion)
        write_file("urdf_folder/bot.yaml", companion);
    else
        remove("urdf_folder/bot.yaml");
    return lw_model_read("urdf_folder/bot.urdf", NULL, model, NULL, error);
}

static void closed_loops_of_the_companion_file_become_joints(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        lw_joint_type type;
        int dof;
    } cases[] = {
        {"closed_loop: [[tip1, tip2]]\ntype: [revolute]\n", LW_JOINT_REVOLUTE, 1},
        {"closed_loop: [['t1', 't2']]\ntype: ['6d']\nname_mot: ['A']\n", LW_JOINT_FIXED, 0},
        {"closed_loop: [[t1, tip2]]\n", LW_JOINT_FIXED, 0}, // 6d is the default
        {"closed_loop: [[t1, t2]]\ntype: [3D]\n", LW_JOINT_SPHERICAL, 1},
        // all but one revolute joint locked: no degree of freedom
        {"closed_loop: [[t1, t2]]\ntype: [3d]\njoint_name: [A]\njoint_type: [FIXED]\n",
         LW_JOINT_SPHERICAL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lw_model *model;
        lw_joint joint = {-1};
        lw_check check;
        lw_error error = {0};
        if (read_companion(cases[i].text, &model, &error) != LW_OK)
            fail_msg("%zu: %s:%d: %s", i, error.file, error.line, error.text);
        for (int j = 0; j < lw_model_joint_count(model); j++)
            if (lw_model_joint(model, (lw_joint){j}).closes_loop) joint.index = j;
        OK(lw_model_check(model, &check, NULL, &error));
        assert_int_equal(cases[i].dof, check.dof);
        if (cases[i].type != LW_JOINT_FIXED)
            assert_int_equal(cases[i].type, lw_model_joint(model, joint).type);
        lw_model_destroy(model);
    }
}

static int warnings_with(const lw_model *model, const char *part)
{
    int count = 0;
    for (int i = 0; i < lw_model_warning_count(model); i++)
        count += strstr(lw_model_warning(model, i), part) != NULL;
    return count;
}

static void other_companion_files_are_noted_models_ignored(void **state)
{
    (void)state;
    lw_model *model;
    lw_error error = {0};
    OK(read_companion(NULL, &model, &error));
    assert_int_equal(0, lw_model_loop_count(model));
    lw_model_destroy(model);
    OK(read_companion("linkwork: 1\nbodies: {a: {mass: 1}}\n", &model,
                      &error)); // a converted model
    assert_int_equal(0, warnings_with(model, "bot.yaml"));
    lw_model_destroy(model);
    OK(read_companion("controller: {rate: 100}\n", &model, &error));
    assert_int_equal(1, warnings_with(model, "bot.yaml is not read"));
    lw_model_destroy(model);
    OK(read_companion("a: [1, 2\n", &model, &error)); // not YAML
    assert_int_equal(1, warnings_with(model, "bot.yaml is not read"));
    lw_model_destroy(model);
    OK(read_companion("closed_loop: [[t1, t2]]\ntype: [3d]\ngears: 5\n", &model, &error));
    assert_int_equal(1, warnings_with(model, "'gears' is not read"));
    lw_model_destroy(model);
}

static void mistakes_of_the_companion_file_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
        int line;
    } cases[] = {
        {"closed_loop: [[t1, t2]]\ntype: [3d, 3d]\n", "expected equal numbers", 2},
        {"closed_loop: [[t1, t9]]\n", "no joint or link 't9'", 1},
        {"closed_loop: [[t1]]\n", "pairs", 1},
        {"closed_loop: [[t1, tip1]]\n", "both frames are of link 'tip1'", 1},
        {"closed_loop: [[tip1, tup2]]\n", "(did you mean 'tip2'?)", 1},
        {"closed_loop: t1\n", "a list", 1},
        {"closed_loop: [[t1, t2]]\ntype: [5d]\n", "'5d'", 2},
        {"closed_loop: [[t1, t2]]\njoint_name: [A]\n", "together", 2},
        {"closed_loop: []\njoint_name: [Q]\njoint_type: [FIXED]\n", "no joint 'Q'", 2},
        {"closed_loop: []\njoint_name: [t3]\njoint_type: [FIXED]\n", "(did you mean 't1'?)", 2},
        {"closed_loop: []\njoint_name: [A]\njoint_type: [GLUE]\n", "'GLUE'", 3},
        {"joint_name: [A]\njoint_type: [UJOINT_XX]\n", "two different letters", 2},
        {"joint_name: [A]\njoint_type: [UJOINT_XYZ]\n", "two different letters", 2},
        {"joint_name: [A]\njoint_type: [UJOINT_]\n", "two different letters", 2},
        {"closures:\n- {link_a: top, point: [1, 1, 0]}\n", "`link_b`", 2},
        {"closures:\n- [top, right]\n", "`link_a`", 2},
        {"closures: {link_a: top}\n", "a list", 1},
        {"closures:\n- {link_a: top, link_b: rihgt, point: [1, 1, 0], axis: [0, 0, 1]}\n",
         "no link 'rihgt' (did you mean 'right'?)", 2},
        {"closures:\n- {link_a: top, link_b: right, point: [1, 1], axis: [0, 0, 1]}\n",
         "point is not a list of three numbers", 2},
        {"closures:\n- {link_a: top, link_b: right, point: [1, 1, .nan], axis: [0, 0, 1]}\n",
         "point has a component that is not a finite number", 2},
        {"closures:\n- {link_a: top, link_b: right, point: [1, 1, 0], axis: [0, 0, 0]}\n",
         "axis is the zero vector", 2},
        {"closures:\n- {link_a: top, link_b: top, point: [1, 1, 0], axis: [0, 0, 1]}\n",
         "both frames are of link 'top'", 2},
        {"ball_loops:\n- {parent: top, child: right}\n", "`name`", 2},
        {"pin_loops:\n- {name: D, parent: top, child: right, parent_xyz: [1, 0, 0]}\n", "`axis`",
         2},
        {"ball_upgrades: [B, Z9]\n", "ball_upgrades: there is no joint 'Z9'", 1},
        {"pin_loops:\n- {name: D, parent: top, child: right\n", "", 3},
        {"ball_upgrades: [B\n", "", 2},
        {"closed_loop: [[t1, t2]\n", "", 2}, // a misprint does not lose a loop
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lw_model *model = NULL;
        lw_error error = {0};
        assert_int_not_equal(LW_OK, read_companion(cases[i].text, &model, &error));
        assert_string_equal("urdf_folder/bot.yaml", error.file);
        if (!strstr(error.text, cases[i].part)) fail_msg("'%s': '%s'", error.text, cases[i].part);
        assert_int_equal(cases[i].line, error.line);
    }
}

// A cardan joint rotates about x, then y of the joint frame in the file.
static void the_companion_file_changes_joint_types(void **state)
{
    (void)state;
    lw_model *model;
    lw_joint joint;
    lw_error error = {0};
    OK(read_companion("closed_loop: []\njoint_name: [B, C]\njoint_type: [CARDAN, SPHERICAL]\n",
                      &model, &error));
    OK(lw_model_find_joint(model, "B", &joint));
    assert_int_equal(LW_JOINT_UNIVERSAL, lw_model_joint(model, joint).type);
    const double *R = model->joint[joint.index].R2; // the frames of link and rod agree
    assert_true(fabs(R[2] - 1) < 1e-15 && fabs(R[3] - 1) < 1e-15); // z2 = x, x2 = y
    OK(lw_model_find_joint(model, "C", &joint));
    assert_int_equal(LW_JOINT_SPHERICAL, lw_model_joint(model, joint).type);
    lw_model_destroy(model);
}

// UJOINT_AB rotates about A, then B of the joint frame in the file: z2 = A, x2 = B.
static void universal_joints_have_the_axes_of_their_names(void **state)
{
    (void)state;
    static const char *const names[] = {"XY", "XZ", "YX", "YZ", "ZX", "ZY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[100];
        lw_model *model;
        lw_joint joint;
        lw_error error = {0};
        snprintf(text, sizeof text, "joint_name: [B]\njoint_type: [UJOINT_%s]\n", names[i]);
        if (read_companion(text, &model, &error) != LW_OK) fail_msg("%s", error.text);
        OK(lw_model_find_joint(model, "B", &joint));
        assert_int_equal(LW_JOINT_UNIVERSAL, lw_model_joint(model, joint).type);
        const double *R = model->joint[joint.index].R2;
        assert_true(fabs(R[3 * (names[i][0] - 'X') + 2] - 1) < 1e-15);
        assert_true(fabs(R[3 * (names[i][1] - 'X')] - 1) < 1e-15);
        lw_model_destroy(model);
    }
}

// The four-bar, closed in the dialects of loop_closures.yaml.
static void check_closed(const lw_model *model, const char *name, lw_joint_type type)
{
    lw_joint joint;
    lw_check check;
    lw_error error = {0};
    OK(lw_model_find_joint(model, name, &joint));
    assert_int_equal(type, lw_model_joint(model, joint).type);
    OK(lw_model_check(model, &check, NULL, &error));
    assert_int_equal(1, lw_model_loop_count(model));
    assert_int_equal(1, check.dof);
    assert_true(check.residual[0] < 1e-15);
    assert_int_equal(0, warnings_with(model, "not read"));
}

static void closures_become_joints(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        lw_joint_type type;
    } cases[] = {
        {"closures:\n- {link_a: top, link_b: right, point: [1.0, 1, 0], axis: [0, 0, 2]}\n"
         "dependent: [B, C]\nindependent: [A]\n",
         "top_right", LW_JOINT_REVOLUTE},
        {"pin_loops:\n- {name: D, parent: top, child: right, parent_xyz: [1, 0, 0], "
         "child_xyz: [1, 0, 0], axis: [0, 0, 1]}\n",
         "D", LW_JOINT_REVOLUTE},
        {"ball_loops:\n- {name: D, parent: top, child: right, parent_xyz: [1, 0, 0], "
         "child_xyz: [1, 0, 0]}\nball_limit_deg: 60\n",
         "D", LW_JOINT_SPHERICAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lw_model *model;
        lw_error error = {0};
        if (read_companion(cases[i].text, &model, &error) != LW_OK)
            fail_msg("%zu: %s:%d: %s", i, error.file, error.line, error.text);
        check_closed(model, cases[i].name, cases[i].type);
        lw_model_destroy(model);
    }
}

// In one folder: bot.yaml before loop_closures.yaml before robot.yaml, which is that of robot.urdf.
static void the_names_of_companion_files_have_an_order(void **state)
{
    (void)state;
    static const char closes[] =
        "closures:\n- {link_a: top, link_b: right, point: [1, 1, 0], axis: [0, 0, 1]}\n";
    static const struct {
        const char *name, *text;
        int loops;
    } files[] = {{"robot.yaml", closes, 1},
                 {"robot.urdf", ROBOT(TIPS), 0}, // robot.yaml is of this one
                 {"loop_closures.yaml", closes, 1},
                 {"bot.yaml", "linkwork: 1\nbodies: {a: {mass: 1}}\n", 1}, // a converted model
                 {"bot.yaml", "closed_loop: []\n", 0}};
    char path[100];
    mkdir("urdf_names", 0777);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "urdf_names/%s", files[i].name);
        remove(path);
    }
    write_file("urdf_names/bot.urdf", ROBOT(TIPS));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        lw_model *model;
        lw_error error = {0};
        snprintf(path, sizeof path, "urdf_names/%s", files[i].name);
        write_file(path, files[i].text);
        OK(lw_model_read("urdf_names/bot.urdf", NULL, &model, NULL, &error));
        if (lw_model_loop_count(model) != files[i].loops) fail_msg("after %s", files[i].name);
        lw_model_destroy(model);
    }
}

// splitmix64
static unsigned long long next(unsigned long long *seed)
{
    unsigned long long z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Companion files with random changes: a model, or an error that names the file and says what is wrong.
static void changed_companion_files_are_read_or_refused(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "closed_loop: [[t1, t2]]\ntype: [3d]\njoint_name: [A, B]\njoint_type: [FIXED, UJOINT_ZY]\n",
        "closures:\n- {link_a: top, link_b: right, point: [1, 1, 0], axis: [0, 0, 1]}\n",
        "pin_loops:\n- {name: D, parent: top, child: right, parent_xyz: [1, 0, 0], child_xyz: [1, "
        "0, "
        "0], axis: [0, 0, 1]}\nball_upgrades: [B]\nball_loops: []\n"};
    static const char *const parts[] = {"[",  "]",   "{",    "}",         ": ",     ", ", "- ",
                                        "\n", "nan", "-1e3", "UJOINT_XX", "ground", "'",  "link_a"};
    unsigned long long seed = 1;
    int read = 0, refused = 0;
    for (int i = 0; i < 1500; i++) {
        char text[600];
        snprintf(text, sizeof text, "%s", sources[i % 3]);
        for (int changes = 1 + (int)(next(&seed) % 3); changes > 0; changes--) {
            const size_t n = strlen(text), at = next(&seed) % n, cut = next(&seed) % 6;
            const char *part = next(&seed) % 2 ? parts[next(&seed) % 14] : "";
            char rest[600];
            snprintf(rest, sizeof rest, "%s", text + (at + cut < n ? at + cut : n));
            snprintf(text + at, sizeof text - at, "%s%s", part, rest);
            if (!*text) break;
        }
        lw_model *model = NULL;
        lw_error error = {0};
        if (read_companion(text, &model, &error) == LW_OK) {
            read++;
            lw_model_destroy(model);
            continue;
        }
        refused++;
        if (!*error.text || !strstr(error.file, "urdf_folder/bot") || model)
            fail_msg("%d: '%s' of '%s' for:\n%s", i, error.text, error.file, text);
    }
    assert_true(read > 100 && refused > 500);
}

// --------------------------------------------------------------------------------------- real ones

// The loops of the parallel robots are read.  None closes where all coordinates are zero; the message says so
// and names `linkwork assemble`.
static void parallel_robots_are_read_and_reported_as_open(void **state)
{
    (void)state;
    static const struct {
        const char *name, *first;
    } robots[] = {{"5bar_linkage", "closedloop1_A_closedloop1_B"},
                  {"cassie_like", "closedloop1_B_closedloop1_A"},
                  {"robot_delta", "closedloop1_A_closedloop1_B"}};
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
        char path[500];
        lw_model *model = NULL;
        lw_error error = {0};
        snprintf(path, sizeof path, LW_SOURCE_DIR "/tests/models/parallel/%s/robot.urdf",
                 robots[i].name);
        assert_int_equal(LW_ERR_MODEL, lw_model_read(path, NULL, &model, NULL, &error));
        assert_non_null(strstr(error.text, robots[i].first));
        assert_non_null(strstr(error.text, "does not close its loop"));
        assert_non_null(strstr(error.text, "linkwork assemble"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_variants_of_loop_joints_close_a_four_bar),
        cmocka_unit_test(a_loop_joint_has_the_type_of_its_attribute),
        cmocka_unit_test(mistakes_of_loop_joints_are_reported),
        cmocka_unit_test(closed_loops_of_the_companion_file_become_joints),
        cmocka_unit_test(other_companion_files_are_noted_models_ignored),
        cmocka_unit_test(mistakes_of_the_companion_file_are_reported),
        cmocka_unit_test(the_companion_file_changes_joint_types),
        cmocka_unit_test(universal_joints_have_the_axes_of_their_names),
        cmocka_unit_test(closures_become_joints),
        cmocka_unit_test(the_names_of_companion_files_have_an_order),
        cmocka_unit_test(changed_companion_files_are_read_or_refused),
        cmocka_unit_test(parallel_robots_are_read_and_reported_as_open),
    };
    return cmocka_run_group_tests(tests, lwt_scratch_enter, lwt_scratch_leave);
}
