// test_urdf.c -- reading URDF: poses, axes, inertias, joints, errors and notes.
#include "io/read_cases.h"
#include <linkwork/dynamics.h>

#include "model/model.h"
#include "spatial/rotation.h"
#include "support/failing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(LW_OK, (call))
// Products of a few rotations: some units in the last place of numbers near one.
#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-14 * (1 + fabs(b)))

// ------------------------------------------------------------------------------------------
// support

static lw_status read_with(lw_builder **builder, const char *text, lw_base base,
                           const lw_allocator *allocator, lw_error *error)
{
    const lw_read_desc desc = {.format = "urdf", .base = base, .allocator = allocator};
    return lwt_read(lwi_read_urdf, "bot.urdf", text, &desc, builder, error);
}

static lw_builder *read_urdf(const char *text, lw_base base)
{
    lw_builder *builder;
    lw_error error = {0};
    if (read_with(&builder, text, base, NULL, &error) != LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    return builder;
}

static void refuse(const char *text, lw_status status, int line, const char *part)
{
    lw_builder *builder;
    lw_error error = {0};
    assert_int_equal(status, read_with(&builder, text, LW_BASE_FIXED, NULL, &error));
    lwt_error_is(&error, "bot.urdf", line, part);
}

#define LINK(name) "<link name='" name "'/>\n"
#define JOINT(name, type, parent, child, more)                                                     \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child        \
    "'/>" more "</joint>\n"

// -------------------------------------------------------------------------------------------
// frames

static void rpy_rotates_about_fixed_axes_and_poses_multiply(void **state)
{
    (void)state;
    lw_builder *b = read_urdf(
        "<robot name='r'>" LINK("a") LINK("b") LINK("c")
            JOINT("ab", "fixed", "a", "b", "<origin xyz='1 2 3' rpy='0.3 -0.7 1.1'/>")
                JOINT("bc", "fixed", "b", "c", "<origin xyz='0 0 2' rpy='0 0 0.5'/>") "</robot>",
        LW_BASE_FIXED);
    // row by row, R = Rz(1.1) Ry(-0.7) Rx(0.3) multiplied out by hand
    const double ca = cos(0.3), sa = sin(0.3), cb = cos(-0.7), sb = sin(-0.7);
    const double cc = cos(1.1), sc = sin(1.1);
    const double by_hand[9] = {cc * cb,
                               cc * sb * sa - sc * ca,
                               cc * sb * ca + sc * sa,
                               sc * cb,
                               sc * sb * sa + cc * ca,
                               sc * sb * ca - cc * sa,
                               -sb,
                               cb * sa,
                               cb * ca};
    double R[9];
    lwt_matrix_of(R, lwt_body_of(b, "b")->pose.orientation);
    for (int i = 0; i < 9; i++) NEAR(R[i], by_hand[i]);
    const lw_vec3 c = lwt_body_of(b, "c")->pose.position;
    NEAR(c.x, 1 + 2 * by_hand[2]);
    NEAR(c.y, 2 + 2 * by_hand[5]);
    NEAR(c.z, 3 + 2 * by_hand[8]);
    double C[9];
    lwt_matrix_of(C, lwt_body_of(b, "c")->pose.orientation);
    NEAR(C[0], cos(0.5) * by_hand[0] + sin(0.5) * by_hand[1]); // x of c
    lw_builder_destroy(b);
}

// At q = 0 both joint frames coincide, are at the origin of the child, and z is the axis.
static void joint_frames_meet_and_z_is_the_axis(void **state)
{
    (void)state;
    static const double axes[][3] = {{1, 0, 0},  {0, 1, 0},     {0, 0, 1},          {-1, 0, 0},
                                     {0, -1, 0}, {0, 0, -1},    {1, 2, 3},          {-3, 1, -2},
                                     {1, 1, 0},  {1e-9, 0, -1}, {1e200, 0, -1e200}, {0, 3e-320, 0}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "<robot name='r'>" LINK("a") LINK("b") LINK("c")
                JOINT("ab", "fixed", "a", "b", "<origin xyz='1 2 3' rpy='0.3 -0.7 1.1'/>") JOINT(
                    "bc", "continuous", "b", "c",
                    "<origin xyz='.3 -.2 .1' rpy='-1 .4 2'/><axis xyz='%g %g %g'/>") "</robot>",
            axes[i][0], axes[i][1], axes[i][2]);
        lw_builder *b = read_urdf(text, LW_BASE_FIXED);
        const lw_joint_desc *j = lwt_joint_of(b, "bc");
        const lw_body_desc *c = lwt_body_of(b, "c");
        double R1[9], r1[3], R2[9], r2[3], C[9], z[3];
        lwt_world_frame(lwt_body_of(b, "b"), j->frame1, R1, r1);
        lwt_world_frame(c, j->frame2, R2, r2);
        for (int k = 0; k < 9; k++) NEAR(R1[k], R2[k]);
        for (int k = 0; k < 3; k++) NEAR(r1[k], r2[k]);
        NEAR(r2[0], c->pose.position.x);
        double a[3] = {axes[i][0], axes[i][1], axes[i][2]};
        const double size = fmax(fmax(fabs(a[0]), fabs(a[1])), fabs(a[2]));
        v3_set(a, a[0] / size, a[1] / size, a[2] / size);
        v3_scale(a, 1 / v3_norm(a), a);
        lwt_matrix_of(C, c->pose.orientation);
        m3_mul_v(z, C, a);
        for (int k = 0; k < 3; k++) NEAR(R2[3 * k + 2], z[k]);
        lw_builder_destroy(b);
    }
}

static void types_map_and_the_default_axis_is_x(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        lw_joint_type type;
    } types[] = {{"revolute", LW_JOINT_REVOLUTE},   {"continuous", LW_JOINT_REVOLUTE},
                 {"prismatic", LW_JOINT_PRISMATIC}, {"planar", LW_JOINT_PLANAR},
                 {"floating", LW_JOINT_FREE},       {"fixed", LW_JOINT_FIXED}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "<robot>" LINK("a") LINK("b") JOINT("j", "%s", "a", "b", "") "</robot>",
                 types[i].name);
        lw_builder *b = read_urdf(text, LW_BASE_FIXED);
        const lw_joint_desc *j = lwt_joint_of(b, "j");
        assert_int_equal(types[i].type, j->type);
        assert_int_equal(1, j->body1.index);
        assert_int_equal(2, j->body2.index);
        double R[9];
        lwt_matrix_of(R, j->frame2.orientation);
        if (i < 4)
            NEAR(R[2], 1.0); // z2 = x
        else
            NEAR(R[8], 1.0);
        lw_builder_destroy(b);
    }
}

// -------------------------------------------------------------------------------------------
// bodies

static void inertia_is_read_in_its_own_axes(void **state)
{
    (void)state;
    lw_builder *b = read_urdf("<robot><link name='a'><inertial>"
                              "<origin xyz='.1 .2 .3' rpy='0 0 0.4'/><mass value='2'/>"
                              "<inertia ixx='1' ixy='4' ixz='5' iyy='2' iyz='6' izz='3'/>"
                              "</inertial></link></robot>",
                              LW_BASE_FIXED);
    const lw_body_desc *a = lwt_body_of(b, "a");
    static const double order[6] = {1, 2, 3, 4, 5, 6}; // xx yy zz xy xz yz
    for (int k = 0; k < 6; k++) assert_true(a->inertia[k] == order[k]);
    assert_true(a->mass == 2 && a->com.x == .1 && a->com.y == .2 && a->com.z == .3);
    NEAR(a->inertia_axes.w, cos(0.2));
    NEAR(a->inertia_axes.z, sin(0.2));
    lw_builder_destroy(b);
}

static void links_without_inertia_are_massless_and_noted(void **state)
{
    (void)state;
    lw_builder *b =
        read_urdf("<robot>" LINK("a") "<link name='b'><inertial><mass value='3'/></inertial></link>"
                                      "<link name='c'><inertial>"
                                      "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
                                      "</inertial></link>" JOINT("ab", "fixed", "a", "b", "")
                                          JOINT("ac", "fixed", "a", "c", "") "</robot>",
                  LW_BASE_FIXED);
    assert_true(lwt_body_of(b, "a")->mass == 0);
    assert_true(lwt_body_of(b, "b")->mass == 3 && lwt_body_of(b, "b")->inertia[0] == 0);
    assert_true(lwt_body_of(b, "c")->mass == 0);
    assert_int_equal(2, b->desc.nwarning);
    assert_int_equal(1, lwt_warnings_with(b, "without <inertia>: point masses (1): b"));
    assert_int_equal(1, lwt_warnings_with(b, "without <mass>: massless (1): c"));
    lw_builder_destroy(b);
}

static void visual_primitives_are_shapes(void **state)
{
    (void)state;
    lw_builder *b = read_urdf(
        "<robot><link name='a'><visual><geometry><mesh filename='missing.stl'/></geometry></visual>"
        "<visual><origin xyz='1 2 3' rpy='0 0 3.14159265358979'/>"
        "<geometry><cylinder length='2' radius='.5'/></geometry><material name='red'/></visual>"
        "<visual><geometry><box size='1 2 3'/></geometry></visual>"
        "<collision><geometry><sphere radius='1'/></geometry></collision></link>"
        "<material name='red'><color rgba='1 0 0 .5'/></material></robot>",
        LW_BASE_FIXED);
    const lw_body_desc *a = lwt_body_of(b, "a");
    const lw_shape *s = a->shapes;
    assert_int_equal(2, a->nshape);
    assert_int_equal(LW_SHAPE_CYLINDER, s[0].type);
    assert_true(s[0].size[0] == .5 && s[0].size[1] == 2);
    assert_true(s[0].position.z == 3 && fabs(fabs(s[0].orientation.z) - 1) < 1e-14);
    assert_true(s[0].has_color && s[0].color[0] == 1 && s[0].color[3] == .5);
    assert_int_equal(LW_SHAPE_BOX, s[1].type);
    assert_true(s[1].position.x == 0 && !s[1].has_color);
    assert_int_equal(2, b->desc.nwarning); // a missing mesh is not an error
    assert_int_equal(1, lwt_warnings_with(b, "not found and not drawn (1): missing.stl"));
    assert_int_equal(1, lwt_warnings_with(b, "1 <collision> elements are not read"));
    lw_builder_destroy(b);
}

// ------------------------------------------------------------------------------------------- the
// base

static void the_root_is_fixed_floats_or_is_the_ground(void **state)
{
    (void)state;
    static const char robot[] = "<robot>" LINK("base") LINK("a")
        JOINT("base_to_ground", "revolute", "base", "a", "") "</robot>";
    lw_builder *b = read_urdf(robot, LW_BASE_AUTO);
    const lw_joint_desc *j = lwt_joint_of(b, "base_to_ground_"); // a generated name
    assert_int_equal(LW_JOINT_FIXED, j->type);
    assert_int_equal(0, j->body1.index);
    assert_int_equal(1, j->body2.index);
    assert_int_equal(1, b->desc.nwarning);
    assert_int_equal(1, lwt_warnings_with(b, "--base floating"));
    lw_builder_destroy(b);
    b = read_urdf(robot, LW_BASE_FIXED); // by option: no warning
    assert_int_equal(2, b->desc.njoint);
    assert_int_equal(0, b->desc.nwarning);
    lw_builder_destroy(b);
    b = read_urdf(robot, LW_BASE_FLOATING);
    assert_int_equal(1, b->desc.njoint);
    lw_builder_destroy(b);

    b = read_urdf("<robot>" LINK("world") LINK("a")
                      JOINT("j", "floating", "world", "a", "") "</robot>",
                  LW_BASE_AUTO);
    assert_int_equal(2, b->desc.nbody); // the ground and a
    assert_int_equal(0, lwt_joint_of(b, "j")->body1.index);
    assert_int_equal(0, b->desc.nwarning);
    lw_builder_destroy(b);
}

// ----------------------------------------------------------------------------------------- joints

static void damping_and_friction_are_read_limits_are_noted_once(void **state)
{
    (void)state;
    lw_builder *b =
        read_urdf("<robot>" LINK("a") LINK("b") LINK("c") LINK("d")
                      JOINT("j1", "revolute", "a", "b",
                            "<limit lower='-1' upper='1' effort='5' velocity='2'/>"
                            "<dynamics damping='0.5' friction='0.1'/>")
                          JOINT("j2", "prismatic", "b", "c",
                                "<limit effort='5' velocity='2'/><dynamics damping='2'/>")
                              JOINT("j3", "planar", "c", "d", "<dynamics damping='2'/>") "</robot>",
                  LW_BASE_FIXED);
    assert_true(lwt_joint_of(b, "j1")->coordinate[0].damping == 0.5);
    assert_true(lwt_joint_of(b, "j2")->coordinate[0].damping == 2);
    assert_true(lwt_joint_of(b, "j3")->coordinate[0].damping == 0);
    assert_int_equal(3, b->desc.nwarning);
    assert_int_equal(1, lwt_warnings_with(b, "limits are not enforced, joints (2): j1, j2"));
    const lw_friction_desc *f = &lwt_joint_of(b, "j1")->coordinate[0].friction;
    assert_true(f->coulomb == 0.1 && f->viscous == 0 && f->speed == 0.01);
    assert_int_equal(1, lwt_warnings_with(b, "acts as -F tanh(qd / 0.01), joints (1): j1"));
    assert_int_equal(1, lwt_warnings_with(b, "not used for joints (1): j3"));
    lw_builder_destroy(b);
}

static void a_mimic_joint_is_a_coupling(void **state)
{
    (void)state;
    lw_builder *b = read_urdf("<robot>" LINK("a") LINK("b") LINK("c")
                                  JOINT("follower", "prismatic", "a", "b",
                                        "<mimic joint='leader' multiplier='-2' offset='0.5'/>")
                                      JOINT("leader", "revolute", "a", "c", "") "</robot>",
                              LW_BASE_FIXED);
    assert_int_equal(1, b->desc.ncoupling);
    const lw_coupling_desc *c = &b->desc.coupling[0];
    assert_string_equal("follower", b->desc.joint[c->joint.index].name);
    assert_string_equal("leader", b->desc.joint[c->of.index].name);
    assert_int_equal(2, c->npolynomial);
    assert_true(c->polynomial[0] == 0.5 && c->polynomial[1] == -2);
    assert_true(lwt_joint_of(b, "follower")->has_q && lwt_joint_of(b, "follower")->q[0] == 0.5);
    assert_false(lwt_joint_of(b, "leader")->has_q);
    assert_int_equal(0, b->desc.nwarning); // nothing is lost
    lw_builder_destroy(b);
}

static void mimics_of_mimics_are_composed_and_of_fixed_joints_fixed(void **state)
{
    (void)state;
    lw_builder *b = read_urdf(
        "<robot>" LINK("a") LINK("b") LINK("c") LINK("d") LINK("e") LINK("f") LINK("g") JOINT(
            "third", "revolute", "a", "b", "<mimic joint='second' multiplier='2' offset='1'/>")
            JOINT("second", "revolute", "a", "c",
                  "<mimic joint='first' multiplier='-3' offset='0.5'/>")
                JOINT("first", "revolute", "a", "d", "")
                    JOINT("weld", "fixed", "a", "e", "<mimic joint='nothing'/>")
                        JOINT("held", "revolute", "a", "f",
                              "<mimic joint='weld' multiplier='2' offset='0.25'/>")
                            JOINT("after", "revolute", "a", "g",
                                  "<mimic joint='held' multiplier='4' offset='1'/>") "</robot>",
        LW_BASE_FIXED);
    assert_int_equal(2, b->desc.ncoupling);
    const lw_coupling_desc *c = b->desc.coupling;
    for (int i = 0; i < 2; i++) assert_string_equal("first", b->desc.joint[c[i].of.index].name);
    assert_string_equal("third", b->desc.joint[c[0].joint.index].name);
    assert_true(c[0].polynomial[0] == 2 && c[0].polynomial[1] == -6);
    assert_true(c[1].polynomial[0] == 0.5 && c[1].polynomial[1] == -3);
    assert_true(lwt_joint_of(b, "third")->q[0] == 2 && lwt_joint_of(b, "second")->q[0] == 0.5);
    static const struct {
        const char *name;
        double q;
    } still[] = {{"held", 0.25}, {"after", 2}};
    for (int i = 0; i < 2; i++) {
        const lw_joint_desc *j = lwt_joint_of(b, still[i].name);
        const int f = j->coordinate[0].motion.index;
        assert_true(f > 0 && b->desc.function[f - 1].type == LW_FUNCTION_CONSTANT);
        assert_true(b->desc.function[f - 1].value == still[i].q && j->q[0] == still[i].q);
    }
    assert_int_equal(
        1, lwt_warnings_with(b, "<mimic> is not used for fixed joints, joints (1): weld"));
    assert_int_equal(1, lwt_warnings_with(b, "fixed at their offset, joints (1): held"));
    lw_builder_destroy(b);
}

static void a_link_named_ground_is_renamed(void **state)
{
    (void)state;
    lw_builder *b = read_urdf("<robot>" LINK("base") LINK("ground") LINK("ground_link")
                                  JOINT("j", "fixed", "base", "ground", "")
                                      JOINT("k", "fixed", "ground", "ground_link", "") "</robot>",
                              LW_BASE_FIXED);
    assert_int_equal(1, b->desc.nwarning);
    assert_int_equal(1, lwt_warnings_with(b, "link 'ground' is renamed to 'ground_link_'"));
    assert_string_equal("ground_link_", b->desc.body[lwt_joint_of(b, "j")->body2.index].name);
    assert_string_equal("ground_link", b->desc.body[lwt_joint_of(b, "k")->body2.index].name);
    lw_builder_destroy(b);
}

// Stops of negative stiffness are refused, not ignored.
static void stops_of_negative_stiffness_are_refused(void **state)
{
    (void)state;
    const char *text = "<robot name='r'><link name='a'/></robot>";
    const double wrong[][2] = {{-1, 0}, {1e4, -5}, {NAN, 0}, {INFINITY, 0}};
    for (int i = 0; i < LWI_COUNT(wrong); i++) {
        lw_model *model = NULL;
        lw_error error;
        const lw_read_desc desc = {.format = "urdf",
                                   .limits = {.stiffness = wrong[i][0], .damping = wrong[i][1]}};
        assert_int_equal(lw_model_parse(text, strlen(text), "r.urdf", &desc, &model, NULL, &error),
                         LW_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "expected finite numbers >= 0"));
        assert_null(model);
    }
}

static void limits_that_are_not_numbers_are_noted(void **state)
{
    (void)state;
    lw_builder *b =
        read_urdf("<robot>" LINK("a") LINK("b") LINK("c")
                      JOINT("j", "revolute", "a", "b",
                            "<limit lower='-inf' upper='inf' effort='' velocity='1'/>")
                          JOINT("k", "fixed", "b", "c", "<limit lower='low'/>") "</robot>",
                  LW_BASE_FIXED);
    assert_int_equal(2, b->desc.nwarning);
    assert_int_equal(
        1, lwt_warnings_with(b, "an unused value that is not a finite number, joints (2): j, k"));
    assert_int_equal(1, lwt_warnings_with(b, "limits are not enforced, joints (1): j"));
    lw_builder_destroy(b);
}

static void what_is_not_read_is_noted_by_name_line_and_count(void **state)
{
    (void)state;
    lw_builder *b =
        read_urdf("<robot name='r' xmlns:xacro='x'>\n<link name='a' color='red'/>\n"
                  "<gazebo/><gazebo><deep><deeper/></deep></gazebo>\n"
                  "<transmission name='t1'/>\n"
                  "<link name='b'><inertial><mass value='1'>heavy</mass></inertial>\n"
                  "<inertial/></link>\n" JOINT("j", "fixed", "a", "b",
                                               "<axis xyz='0 0 1' frame='x'/>"
                                               "<safety_controller k_velocity='1'/>") "</robot>",
                  LW_BASE_FIXED);
    static const char *const reported[] = {
        "bot.urdf:2:1: attribute 'color' of <link> is not read (1 times",
        "bot.urdf:3:1: <gazebo> in <robot> is not read (2 times",
        "bot.urdf:4:1: <transmission> in <robot> is not read (1): t1",
        "bot.urdf:5:26: text inside <mass> is not read",
        "bot.urdf:6:1: a second <inertial> in <link> is not read",
        "attribute 'frame' of <axis> is not read",
        "<safety_controller> in <joint> is not read",
        "without <inertia>",
    };
    for (size_t i = 0; i < sizeof reported / sizeof *reported; i++)
        if (lwt_warnings_with(b, reported[i]) != 1) fail_msg("not reported: %s", reported[i]);
    assert_int_equal(sizeof reported / sizeof *reported, b->desc.nwarning);
    lw_builder_destroy(b);
}

static void many_names_are_listed_and_the_rest_counted(void **state)
{
    (void)state;
    char *text = malloc(60000), *end = text + sprintf(text, "<robot><link name='l0'/>");
    for (int i = 1; i <= 200; i++)
        end += sprintf(end,
                       "<link name='l%d'/><joint name='joint_number_%d' type='revolute'><parent "
                       "link='l0'/><child link='l%d'/><limit/></joint>",
                       i, i, i);
    sprintf(end, "</robot>");
    lw_builder *b = read_urdf(text, LW_BASE_FIXED);
    assert_int_equal(1, b->desc.nwarning);
    assert_int_equal(1, lwt_warnings_with(b, "joints (200): joint_number_1, joint_number_2,"));
    const char *rest = strstr(b->desc.warning[0], " and ");
    assert_non_null(rest);
    int more = 0, listed = 1;
    assert_int_equal(1, sscanf(rest, " and %d more", &more));
    for (const char *comma = strstr(b->desc.warning[0], ", joint_"); comma;
         comma = strstr(comma + 1, ", joint_"))
        listed++;
    assert_int_equal(200, listed + more);
    assert_true(listed > 50 && strcmp(rest + strlen(rest) - 5, " more") == 0);
    for (char name[32]; listed; listed--) { // each complete
        snprintf(name, sizeof name, " joint_number_%d%s", listed, listed + more == 200 ? " " : ",");
        assert_int_equal(1, lwt_warnings_with(b, name));
        more = 0;
    }
    lw_builder_destroy(b);
    free(text);
}

// ----------------------------------------------------------------------------------------- errors

static void wrong_files_are_refused_with_line_and_name(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        lw_status status;
        int line;
        const char *part;
    } cases[] = {
        {"<sdf/>", LW_ERR_PARSE, 1, "<sdf>, expected <robot>"},
        {"<robot/>", LW_ERR_MODEL, 1, "no link"},
        {"<robot>\n<xacro:macro name='m'/></robot>", LW_ERR_PARSE, 2, "xacro source"},
        {"<robot>\n<link name='${prefix}arm'/></robot>", LW_ERR_PARSE, 2, "xacro source"},
        {"<robot>\n<link/></robot>", LW_ERR_PARSE, 2, "<link> has no attribute 'name'"},
        {"<robot>\n<link name=''/></robot>", LW_ERR_MODEL, 2, "its name is empty"},
        {"<robot>" LINK("a") LINK("a") "</robot>", LW_ERR_MODEL, 2,
         "link 'a': this name occurs twice"},
        {"<robot>" LINK("a") "<link name='b'/></robot>", LW_ERR_MODEL, 2, "expected one root"},
        {"<robot>" LINK("a") LINK("b") JOINT("j", "fixed", "a", "c", "") "</robot>", LW_ERR_MODEL,
         3, "joint 'j': child link 'c' does not exist"},
        {"<robot>" LINK("a") LINK("b") JOINT("j", "fixed", "x", "b", "") "</robot>", LW_ERR_MODEL,
         3, "joint 'j': parent link 'x' does not exist"},
        {"<robot>" LINK("a") LINK("b") JOINT("j", "hinge", "a", "b", "") "</robot>", LW_ERR_PARSE,
         3, "joint 'j': unknown type 'hinge'"},
        {"<robot>" LINK("a") LINK("b") "<joint name='j' type='fixed'><parent link='a'/></joint>"
                                       "</robot>",
         LW_ERR_PARSE, 3, "joint 'j' has no <child>"},
        {"<robot>" LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "")
             JOINT("k", "fixed", "a", "b", "") "</robot>",
         LW_ERR_MODEL, 4, "joint 'k': link 'b' is already the child of joint 'j'"},
        {"<robot>" LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "")
             JOINT("k", "fixed", "b", "a", "") "</robot>",
         LW_ERR_MODEL, 3, "joint 'j': every link is the child"},
        {"<robot>" LINK("a") LINK("b") LINK("c") JOINT("j", "fixed", "c", "b", "")
             JOINT("k", "fixed", "b", "c", "") "</robot>",
         LW_ERR_MODEL, 4, "joint 'j': there is no path from the root link 'a'"},
        {"<robot>" LINK("a") JOINT("j", "fixed", "a", "a", "") "</robot>", LW_ERR_MODEL, 2,
         "joint 'j': every link is the child"},
        {"<robot>" LINK("a") LINK("b")
             JOINT("j", "revolute", "a", "b", "\n<axis xyz='0 0 0'/>") "</robot>",
         LW_ERR_MODEL, 4, "joint 'j': axis is the zero vector"},
        {"<robot>" LINK("a") LINK("b") JOINT("j", "revolute", "a", "b", "<axis/>") "</robot>",
         LW_ERR_PARSE, 3, "<axis> has no attribute 'xyz'"},
        {"<robot>" LINK("a") LINK("b")
             JOINT("j", "fixed", "a", "b", "<origin xyz='nan 0 0'/>") "</robot>",
         LW_ERR_PARSE, 3, "<origin xyz>: 'nan 0 0' is not 3 finite numbers"},
        {"<robot><link name='a'><inertial>\n<mass value='-1'/></inertial></link></robot>",
         LW_ERR_MODEL, 1, "body 'a': mass is -1"},
        {"<robot><link name='a'><inertial>\n<mass/></inertial></link></robot>", LW_ERR_PARSE, 2,
         "<mass> has no attribute 'value'"},
        {"<robot><link name='a'><inertial><mass value='1'/>\n<inertia ixx='1' iyy='1'/>"
         "</inertial></link></robot>",
         LW_ERR_PARSE, 2, "<inertia> has no attribute 'izz'"},
        {"<robot>" LINK("a") LINK("b")
             JOINT("j", "revolute", "a", "b", "<dynamics damping='-2'/>") "</robot>",
         LW_ERR_MODEL, 3, "joint 'j': damping is -2"},
        {"<robot>" LINK("a") LINK("b")
             JOINT("j", "revolute", "a", "b", "<mimic joint='x'/>") "</robot>",
         LW_ERR_MODEL, 3, "joint 'j': mimics joint 'x', which does not exist"},
        {"<robot>" LINK("a") LINK("b") LINK("c")
             JOINT("j", "revolute", "a", "b", "<mimic joint='k'/>")
                 JOINT("k", "revolute", "b", "c", "<mimic joint='j'/>") "</robot>",
         LW_ERR_MODEL, 4, "joint 'j': mimics itself"},
        {"<robot>" LINK("a") LINK("b") LINK("c")
             JOINT("j", "revolute", "a", "b", "<mimic joint='k'/>")
                 JOINT("k", "planar", "b", "c", "") "</robot>",
         LW_ERR_MODEL, 4, "k is planar, expected revolute"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].text, cases[i].status, cases[i].line, cases[i].part);
}

// -------------------------------------------------------------------------------------- robustness

static const char robot_text[] =
    "<?xml version='1.0'?>\n<robot name='r'><link name='a'><inertial><origin xyz='0 0 1' "
    "rpy='0 1 0'/><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
    "</inertial><visual><geometry><box size='1 1 1'/></geometry></visual></link>" LINK("b")
        LINK("c") JOINT("j", "revolute", "a", "b", "<origin xyz='0 0 1'/><axis xyz='0 1 0'/>")
            JOINT("k", "prismatic", "a", "c",
                  "<mimic joint='j'/><dynamics damping='1'/>") "<gazebo/></robot>";

// Every truncated file, and every file with one byte changed, is read or refused.
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    char text[sizeof robot_text];
    lw_builder *b;
    for (size_t n = 0; n + 1 < sizeof robot_text; n++) {
        memcpy(text, robot_text, n);
        text[n] = 0;
        assert_int_not_equal(LW_OK, read_with(&b, text, LW_BASE_AUTO, NULL, NULL));
    }
    static const char bytes[] = "<>'/ &x0-\xff";
    for (size_t n = 0; n + 1 < sizeof robot_text; n++)
        for (const char *byte = bytes; *byte; byte++) {
            memcpy(text, robot_text, sizeof text);
            text[n] = *byte;
            if (read_with(&b, text, LW_BASE_AUTO, NULL, NULL) == LW_OK) lw_builder_destroy(b);
        }
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    lw_status status = LW_ERR_MEMORY;
    int n = 0;
    for (; status != LW_OK; n++) {
        lwt_failing f = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&f);
        lw_builder *b;
        status = read_with(&b, robot_text, LW_BASE_AUTO, &allocator, NULL);
        if (status == LW_OK)
            lw_builder_destroy(b);
        else
            assert_int_equal(LW_ERR_MEMORY, status);
        assert_int_equal(0, f.live);
    }
    assert_true(n > 3);
}

static void a_long_chain_is_read_in_linear_time(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *text = malloc(200 * (size_t)N), *end = text + sprintf(text, "<robot><link name='l0'/>");
    for (int i = 1; i < N; i++)
        end += sprintf(end,
                       "<link name='l%d'/><joint name='j%d' type='revolute'><parent link='l%d'/>"
                       "<child link='l%d'/><origin xyz='0 0 1'/></joint>",
                       i, i, i - 1, i);
    sprintf(end, "</robot>");
    lw_builder *b = read_urdf(text, LW_BASE_FIXED);
    assert_true(lwt_body_of(b, "l19999")->pose.position.z == N - 1);
    lw_builder_destroy(b);
    free(text);
}

// ------------------------------------------------------------------------------------------ robots

// A model from the file of a shipped robot.
static void read_robot(const char *path, lw_base base)
{
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.base = base};
    if (lw_model_read(path, &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    assert_true(lw_model_body_count(model) > 2);
    lw_model_destroy(model);
}

static void shipped_robots_are_read(void **state)
{
    (void)state;
    read_robot(LW_SOURCE_DIR "/examples/models/ur5.urdf", LW_BASE_AUTO);
    read_robot(LW_SOURCE_DIR "/examples/models/anymal_c.urdf", LW_BASE_FIXED);
    read_robot(LW_SOURCE_DIR "/examples/models/anymal_c.urdf", LW_BASE_FLOATING);
    read_robot(LW_SOURCE_DIR "/tests/models/double_pendulum.urdf", LW_BASE_FIXED);
    read_robot(LW_SOURCE_DIR "/tests/models/double_pendulum.urdf", LW_BASE_FLOATING);
}

// Names of files and items may be long: warnings are not truncated.
// The base of a floating robot is its root link, wherever it is in the file, or the body with which it moves.
static void the_base_is_the_root_link(void **state)
{
    (void)state;
    static const char *const roots[][2] = {
        {"<link name='root'><inertial><mass value='3'/><inertia ixx='1' iyy='1' "
         "izz='1'/></inertial></link>",
         "root"},
        {"<link name='root'/><link name='trunk'><inertial><mass value='3'/><inertia ixx='1' "
         "iyy='1' "
         "izz='1'/></inertial></link><joint name='T' type='fixed'><parent link='root'/><child "
         "link='trunk'/></joint>",
         "trunk"}};
    for (int i = 0; i < LWI_COUNT(roots); i++) {
        char text[2000];
        lw_model *model;
        lw_error error = {0};
        snprintf(
            text, sizeof text,
            "<robot name='r'><link name='arm'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
            "izz='1'/></inertial></link>%s<joint name='A' type='continuous'><parent link='root'/>"
            "<child link='arm'/></joint></robot>",
            roots[i][0]);
        const lw_read_desc desc = {.format = "urdf", .base = LW_BASE_FLOATING};
        if (lw_model_parse(text, strlen(text), "r.urdf", &desc, &model, NULL, &error) != LW_OK)
            fail_msg("%s", error.text);
        assert_int_equal(1, lw_model_base_count(model));
        assert_string_equal(roots[i][1], lw_model_body_name(model, lw_model_base(model, 0).body));
        lw_model_destroy(model);
    }
}

static void warnings_are_not_truncated(void **state)
{
    (void)state;
    lw_builder *b;
    char *path = malloc(5000), *item = malloc(5000);
    assert_true(path && item);
    memset(path, 'p', 4000), path[4000] = 0;
    memset(item, 'i', 3000), item[3000] = 0;
    OK(lw_builder_create(NULL, &b));
    OK(lw_builder_set_source(b, path));
    OK(lw_builder_warn(b, (lw_place){7, 9}, "about '%s': the end", item));
    OK(lw_builder_warn(b, (lw_place){0, 0}, "the end of %d", 2));
    const char *text = b->desc.warning[0];
    assert_int_equal(4000 + strlen(":7:9: about '") + 3000 + strlen("': the end"), strlen(text));
    assert_non_null(strstr(text, "p:7:9: about 'i"));
    assert_non_null(strstr(text, "i': the end"));
    assert_string_equal("p: the end of 2", b->desc.warning[1] + 3999);
    lw_builder_destroy(b);
    free(item);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rpy_rotates_about_fixed_axes_and_poses_multiply),
        cmocka_unit_test(joint_frames_meet_and_z_is_the_axis),
        cmocka_unit_test(types_map_and_the_default_axis_is_x),
        cmocka_unit_test(inertia_is_read_in_its_own_axes),
        cmocka_unit_test(links_without_inertia_are_massless_and_noted),
        cmocka_unit_test(visual_primitives_are_shapes),
        cmocka_unit_test(the_root_is_fixed_floats_or_is_the_ground),
        cmocka_unit_test(damping_and_friction_are_read_limits_are_noted_once),
        cmocka_unit_test(a_mimic_joint_is_a_coupling),
        cmocka_unit_test(mimics_of_mimics_are_composed_and_of_fixed_joints_fixed),
        cmocka_unit_test(a_link_named_ground_is_renamed),
        cmocka_unit_test(stops_of_negative_stiffness_are_refused),
        cmocka_unit_test(limits_that_are_not_numbers_are_noted),
        cmocka_unit_test(what_is_not_read_is_noted_by_name_line_and_count),
        cmocka_unit_test(many_names_are_listed_and_the_rest_counted),
        cmocka_unit_test(wrong_files_are_refused_with_line_and_name),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(a_long_chain_is_read_in_linear_time),
        cmocka_unit_test(shipped_robots_are_read),
        cmocka_unit_test(the_base_is_the_root_link),
        cmocka_unit_test(warnings_are_not_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
