// test_sdf.c -- reading SDF: frames, bodies, joints of every type, loops, couplings,
// includes, errors and notes.
#include "io/read_cases.h"
#include "model/model.h"
#include "spatial/rotation.h"
#include "support/failing.h"
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
// Products of a few rotations: some units in the last place of numbers near one.
#define NEAR(a, b) assert_true(fabs((a) - (double)(b)) <= 1e-14 * (1 + fabs((double)(b))))

// ---------------------------------------------------------------------------------------- support

static lw_status read_desc(lw_builder **builder, const char *text, const lw_read_desc *desc,
                           lw_error *error)
{
    return lwt_read(lwi_read_sdf, "bot.sdf", text, desc, builder, error);
}

static lw_builder *read_with(const char *text, const lw_read_desc *desc)
{
    lw_builder *builder;
    lw_error error = {0};
    if (read_desc(&builder, text, desc, &error) != LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    return builder;
}

static lw_builder *read_sdf(const char *text)
{
    return read_with(text, &(lw_read_desc){0});
}

static void refuse(const char *text, lw_status status, int line, const char *part)
{
    lw_builder *builder;
    lw_error error = {0};
    assert_int_equal(status, read_desc(&builder, text, &(lw_read_desc){0}, &error));
    lwt_error_is(&error, "bot.sdf", line, part);
}

// (R, r) of a joint frame in the world, by side 1 or 2
static void joint_frame(const lw_builder *b, const lw_joint_desc *j, int side, double *R, double *r)
{
    const lw_body_desc *body = &b->desc.body[side == 1 ? j->body1.index : j->body2.index];
    const lw_pose frame = side == 1 ? j->frame1 : j->frame2;
    lwt_world_frame(body, frame, R, r);
}

// Every joint closes at the poses of the file.
static void all_joints_close(const lw_builder *b)
{
    for (int i = 0; i < b->desc.njoint; i++) {
        double R1[9], r1[3], R2[9], r2[3];
        joint_frame(b, &b->desc.joint[i], 1, R1, r1);
        joint_frame(b, &b->desc.joint[i], 2, R2, r2);
        for (int k = 0; k < 9; k++) NEAR(R1[k], R2[k]);
        for (int k = 0; k < 3; k++) NEAR(r1[k], r2[k]);
    }
}

static void check_position(const lw_body_desc *body, double x, double y, double z)
{
    NEAR(body->pose.position.x, x);
    NEAR(body->pose.position.y, y);
    NEAR(body->pose.position.z, z);
}

#define INERTIAL                                                                                   \
    "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
#define LINK(name, more) "<link name='" name "'>" INERTIAL more "</link>\n"
#define JOINT(name, type, parent, child, more)                                                     \
    "<joint name='" name "' type='" type "'><parent>" parent "</parent><child>" child              \
    "</child>" more "</joint>\n"
#define AXIS(xyz, more) "<axis><xyz>" xyz "</xyz>" more "</axis>"
#define AXIS2(xyz, more) "<axis2><xyz>" xyz "</xyz>" more "</axis2>"
#define MODEL(more) "<sdf version='1.11'><model name='m'>\n" more "</model></sdf>"
#define POSE(text) "<pose>" text "</pose>"

// ------------------------------------------------------------------------------------------ frames

static void poses_are_relative_to_the_model_or_a_named_frame(void **state)
{
    (void)state;
    lw_builder *b = read_sdf(MODEL(
        POSE("1 0 0 0 0 1.5707963267948966") LINK("a", POSE("1 0 0 0 0 0"))
            LINK("b", "<pose relative_to='a'>1 0 0 0 0 0</pose>") LINK(
                "c", "<pose relative_to='f'>0 0 1 0 0 0</pose>")
                LINK("d", "<pose relative_to='j' degrees='true'>0 0 0 0 0 90</pose>") LINK(
                    "e",
                    "<pose relative_to='__model__' "
                    "rotation_format='quat_xyzw'>3 0 0 0 0 1 0</pose>") "<frame name='f' "
                                                                        "attached_to='a'"
                                                                        ">" POSE(
                                                                            "0 1 0 0 0 "
                                                                            "0") "</"
                                                                                 "frame"
                                                                                 ">" JOINT(
                                                                                     "j", "ball",
                                                                                     "a", "c",
                                                                                     POSE("0 0 1 0 "
                                                                                          "0 0"))));
    // the model is at (1, 0, 0), its x is y of the world
    check_position(lwt_body_of(b, "a"), 1, 1, 0);
    check_position(lwt_body_of(b, "b"), 1, 2, 0);
    check_position(lwt_body_of(b, "c"), 0, 1, 1); // f is at a + y of a
    check_position(lwt_body_of(b, "d"), 0, 1, 2); // j is at c + z
    check_position(lwt_body_of(b, "e"), 1, 3, 0);
    double R[9];
    lwt_matrix_of(R, lwt_body_of(b, "d")->pose.orientation); // rotated by another right angle
    NEAR(R[0], -1);
    NEAR(R[3], 0);
    lwt_matrix_of(
        R, lwt_body_of(b, "e")->pose.orientation); // rotated by another half revolution about z
    NEAR(R[3], -1);
    all_joints_close(b);
    lw_builder_destroy(b);
}

static void frames_relative_to_themselves_are_refused(void **state)
{
    (void)state;
    refuse(MODEL(LINK("a", "<pose relative_to='f'>0 0 0 0 0 0</pose>") "<frame name='f'>"
                                                                       "<pose relative_to='a'>0 0 "
                                                                       "0 0 0 0</pose></frame>"),
           LW_ERR_MODEL, 2, "relative to itself");
    refuse(
        MODEL(LINK("a", "") "<frame name='f' attached_to='g'/>"
                            "<frame name='g' attached_to='f'/>" JOINT("j", "fixed", "f", "a", "")),
        LW_ERR_MODEL, 3, "itself");
    refuse(MODEL(LINK("a", "<pose relative_to='nothing'>0 0 0 0 0 0</pose>")), LW_ERR_MODEL, 2,
           "relative_to 'nothing' does not exist");
    refuse(MODEL(LINK("a", "") LINK("a", "")), LW_ERR_MODEL, 3, "this name occurs twice");
}

static void an_axis_is_in_the_joint_frame_or_a_named_one(void **state)
{
    (void)state;
    static const struct {
        const char *version, *joint, *axis;
        double z[3]; // in the world
    } cases[] = {
        // the child is rotated by a right angle about x: its y is z of the world, its z is -y of the world
        {"1.11", "", "<xyz>0 0 1</xyz>", {0, -1, 0}},
        {"1.11", "<pose>0 0 0 0 1.5707963267948966 0</pose>", "<xyz>0 0 1</xyz>", {1, 0, 0}},
        {"1.11", "", "<xyz expressed_in='__model__'>0 0 1</xyz>", {0, 0, 1}},
        {"1.11", "", "<xyz expressed_in='b'>0 3 0</xyz>", {0, 0, 1}},
        {"1.6", "", "<xyz>0 1 0</xyz>", {0, 0, 1}},
        {"1.6",
         "",
         "<xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame>",
         {0, 1, 0}},
        {"1.4", "", "<xyz>0 1 0</xyz>", {0, 1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "<sdf version='%s'><model name='m'>" LINK("a", "")
                     LINK("b", POSE("0 0 1 1.5707963267948966 0 0"))
                         JOINT("j", "revolute", "a", "b", "%s<axis>%s</axis>") "</model></sdf>",
                 cases[i].version, cases[i].joint, cases[i].axis);
        lw_builder *b = read_sdf(text);
        double R[9], r[3];
        joint_frame(b, lwt_joint_of(b, "j"), 2, R, r);
        for (int k = 0; k < 3; k++) NEAR(R[3 * k + 2], cases[i].z[k]);
        all_joints_close(b);
        lw_builder_destroy(b);
    }
}

static void nested_models_prefix_their_names(void **state)
{
    (void)state;
    static const char inner[] =
        MODEL(LINK("base", "") "<model name='arm' placement_frame='tip'>" POSE("0 0 5 0 0 0")
                  LINK("hand", POSE("0 0 1 0 0 0")) "<frame name='tip' attached_to='hand'>" POSE(
                      "0 0 1 0 0 0") "</frame></model>" JOINT("j", "fixed", "base", "arm::hand", "")
                      JOINT("k", "fixed", "base", "arm::tip",
                            "") "<frame name='f'><pose relative_to='arm::__model__'>0 0 0 0 0 "
                                "0</pose></frame>" LINK(
                                    "end", "<pose relative_to='f'>0 0 0 0 0 0</pose>"));
    lw_builder *b = read_sdf(inner);
    check_position(lwt_body_of(b, "arm::hand"), 0, 0, 4); // the tip, one above it, is at 5
    check_position(lwt_body_of(b, "end"), 0, 0, 3);
    // a frame refers to the link it is attached to
    assert_int_equal(lwt_joint_of(b, "j")->body2.index, lwt_joint_of(b, "k")->body2.index);
    double R[9], r[3];
    joint_frame(b, lwt_joint_of(b, "k"), 2, R, r);
    NEAR(r[2], 5);
    all_joints_close(b);
    lw_builder_destroy(b);
}

// ------------------------------------------------------------------------------------------ bodies

static void missing_inertia_has_the_defaults_and_is_noted(void **state)
{
    (void)state;
    lw_builder *b = read_sdf(
        MODEL("<link name='a'><inertial><pose>.1 .2 .3 0 0 0.4</pose><mass>3</mass><inertia>"
              "<ixx>1</ixx><ixy>.4</ixy><ixz>.5</ixz><iyy>2</iyy><iyz>.6</iyz><izz>3</izz>"
              "</inertia></inertial></link><link name='b'/>"));
    const lw_body_desc *a = lwt_body_of(b, "a"), *other = lwt_body_of(b, "b");
    static const double order[6] = {1, 2, 3, .4, .5, .6}; // xx yy zz xy xz yz
    for (int k = 0; k < 6; k++) assert_true(a->inertia[k] == order[k]);
    assert_true(a->mass == 3 && a->com.x == .1 && a->com.y == .2 && a->com.z == .3);
    NEAR(a->inertia_axes.w, cos(0.2));
    NEAR(a->inertia_axes.z, sin(0.2));
    assert_true(other->mass == 1 && other->inertia[0] == 1 && other->inertia[3] == 0);
    assert_int_equal(1, lwt_warnings_with(b, "without <inertia>"));
    assert_int_equal(1, lwt_warnings_with(b, "without <mass>"));
    lw_builder_destroy(b);
}

static void models_float_are_static_or_fixed_by_option(void **state)
{
    (void)state;
    static const char world[] =
        "<sdf version='1.11'><world name='w'><gravity>0 0 -1.6</gravity>"
        "<model name='a'>" LINK("x", "") LINK("y", "")
            JOINT("xy", "ball", "x", "y",
                  "") "</model>"
                      "<model name='s'><static>true</static>" LINK(
                          "x", POSE("0 0 2 0 0 0")) "</model>"
                                                    "<model name='h'>" LINK("x", "") JOINT(
                                                        "j", "revolute", "world", "x",
                                                        AXIS("0 0 1", "")) "</model></world></sdf>";
    lw_builder *b = read_sdf(world);
    assert_int_equal(3, b->desc.njoint); // two of the file, one for the static model
    assert_int_equal(0, lwt_joint_of(b, "h::j")->body1.index);
    assert_int_equal(LW_JOINT_FIXED, lwt_joint_of(b, "s::x_to_ground")->type);
    NEAR(b->desc.gravity[2], -1.6);
    all_joints_close(b);
    lw_builder_destroy(b);
    b = read_with(world, &(lw_read_desc){.base = LW_BASE_FIXED});
    assert_int_equal(4, b->desc.njoint); // model a, at its first link
    assert_int_equal(lwt_joint_of(b, "a::xy")->body1.index,
                     lwt_joint_of(b, "a::x_to_ground")->body2.index);
    lw_builder_destroy(b);
}

// ------------------------------------------------------------------------------------------ joints

static void every_joint_type_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *more;
        lw_joint_type type;
    } types[] = {{"revolute", AXIS("0 1 0", ""), LW_JOINT_REVOLUTE},
                 {"continuous", AXIS("0 1 0", ""), LW_JOINT_REVOLUTE},
                 {"prismatic", AXIS("0 1 0", ""), LW_JOINT_PRISMATIC},
                 {"screw", AXIS("0 1 0", ""), LW_JOINT_SCREW},
                 {"universal", AXIS("0 1 0", "") AXIS2("0 0 -2", ""), LW_JOINT_UNIVERSAL},
                 {"revolute2", AXIS("0 1 0", "") AXIS2("1 0 0", ""), LW_JOINT_UNIVERSAL},
                 {"ball", "", LW_JOINT_SPHERICAL},
                 {"fixed", "", LW_JOINT_FIXED}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 MODEL(LINK("a", POSE("0 0 0 .1 .2 .3")) LINK("b", POSE("1 2 3 0 -.4 0"))
                           JOINT("j", "%s", "a", "b", POSE("0 0 .1 .2 .3 .4") "%s")),
                 types[i].name, types[i].more);
        lw_builder *b = read_sdf(text);
        const lw_joint_desc *j = lwt_joint_of(b, "j");
        assert_int_equal(types[i].type, j->type);
        assert_int_equal(1, j->body1.index);
        assert_int_equal(2, j->body2.index);
        all_joints_close(b);
        lw_model *model;
        lw_error error = {0};
        if (lw_model_create(b, &model, &error) != LW_OK) fail_msg("%s", error.text);
        lw_model_destroy(model);
        lw_builder_destroy(b);
    }
}

static void pitches_and_universal_axes(void **state)
{
    (void)state;
    lw_builder *b = read_sdf(MODEL(
        LINK("a", "") LINK("b", "") LINK("c", "") LINK("d", "") JOINT(
            "new", "screw", "a", "b",
            "<screw_thread_pitch>0.02</screw_thread_pitch>" AXIS("0 0 1", ""))
            JOINT("old", "screw", "a", "c", "<thread_pitch>-100</thread_pitch>" AXIS("0 0 1", ""))
                JOINT("u", "universal", "a", "d", AXIS("0 1 0", "") AXIS2("0 0 -2", ""))));
    assert_true(lwt_joint_of(b, "new")->pitch == 0.02);
    NEAR(lwt_joint_of(b, "old")->pitch, 2 * 3.14159265358979323846 / 100);
    double R[9], r[3];
    joint_frame(b, lwt_joint_of(b, "u"), 2, R, r);
    NEAR(R[5], 1);  // z is the first axis, y
    NEAR(R[6], -1); // x is the second one, -z
    lw_builder_destroy(b);
}

// A universal joint with oblique axes: two revolute joints, the product of two rotations.
static void oblique_axes_are_two_revolute_joints(void **state)
{
    (void)state;
    lw_builder *b = read_sdf(MODEL(
        LINK("a", "") LINK("b", POSE("1 0 0 0 0 0")) JOINT("w", "fixed", "world", "a", "")
            JOINT("j", "revolute2", "a", "b",
                  AXIS("0 0 1", "<dynamics><damping>.5</damping></dynamics>") AXIS2("0 1 1", ""))));
    assert_int_equal(3, b->desc.njoint);
    const lw_joint_desc *first = lwt_joint_of(b, "j"), *second = lwt_joint_of(b, "j::cross");
    assert_int_equal(LW_JOINT_REVOLUTE, first->type);
    assert_int_equal(LW_JOINT_REVOLUTE, second->type);
    assert_int_equal(first->body2.index, second->body1.index);
    assert_true(lwt_body_of(b, "j::cross")->mass == 0);
    assert_true(first->coordinate[0].damping == .5 && second->coordinate[0].damping == 0);
    double R[9], r[3];
    joint_frame(b, second, 1, R, r);
    NEAR(R[5], sqrt(0.5));
    NEAR(R[8], sqrt(0.5));
    all_joints_close(b);
    assert_int_equal(1, lwt_warnings_with(b, "two revolute joints"));
    lw_model *model;
    OK(lw_model_create(b, &model, NULL));
    lw_model_destroy(model);
    lw_builder_destroy(b);
}

static void dynamics_are_read_other_properties_are_noted(void **state)
{
    (void)state;
    static const char text[] = MODEL(
        LINK("a", "<gravity>false</gravity><sensor name='eye'/>") LINK("b", "") LINK("c", "")
            JOINT("j", "revolute", "a", "b",
                  AXIS("0 0 1", "<limit><lower>-1</lower><upper>2</upper></limit><dynamics>"
                                "<damping>.5</damping><friction>.1</friction>"
                                "<spring_stiffness>30</spring_stiffness>"
                                "<spring_reference>.25</spring_reference></dynamics>"))
                JOINT("k", "ball", "b", "c",
                      AXIS("0 0 1",
                           "<limit><lower>-1e16</lower><upper>inf</upper></limit>"
                           "<dynamics><damping>.01</damping></dynamics>")) "<plugin name='brain' "
                                                                           "filename='x.so'/>");
    lw_builder *b = read_sdf(text);
    const lw_coordinate_desc *c = &lwt_joint_of(b, "j")->coordinate[0];
    assert_true(c->damping == .5 && c->stiffness == 30 && c->at == .25);
    assert_true(lwt_joint_of(b, "k")->damping == .01);
    assert_true(c->limits.stiffness == 0); // the range is kept, without stops
    assert_int_equal(1, lwt_warnings_with(b, "limits are not enforced, joints (1): j"));
    assert_true(c->friction.coulomb == .1 && c->friction.viscous == 0 && c->friction.speed == .01);
    assert_int_equal(1, lwt_warnings_with(b, "acts as -F tanh(qd / 0.01), joints (1): j"));
    assert_int_equal(1, lwt_warnings_with(b, "<plugin> in <model> is not read (1): brain"));
    assert_int_equal(1, lwt_warnings_with(b, "<sensor> in <link> is not read (1): eye"));
    assert_int_equal(1, lwt_warnings_with(b, "gravity acts on all links, also on (1): a"));
    assert_int_equal(5, b->desc.nwarning);
    lw_builder_destroy(b);
    b = read_with(text, &(lw_read_desc){.limits = {.stiffness = 1e4, .damping = 3}});
    const lw_limits_desc *l = &lwt_joint_of(b, "j")->coordinate[0].limits;
    assert_true(l->has_lower && l->has_upper && l->lower == -1 && l->upper == 2);
    assert_true(l->stiffness == 1e4 && l->damping == 3);
    assert_int_equal(0, lwt_warnings_with(b, "limits"));
    lw_builder_destroy(b);
}

// ----------------------------------------------------------------------------------- loops,
// couplings

// Two joints of the same link: the model has a loop.
#define FOUR_BAR                                                                                   \
    LINK("crank", POSE("0 0 0 0 0 1.2"))                                                           \
    LINK("rod", "<pose relative_to='crank'>1 0 0 0 0 -1.2</pose>")                                 \
    LINK("rocker", POSE("2 0 0 0 0 1.2"))                                                          \
    JOINT("A", "revolute", "world", "crank", AXIS("0 0 1", ""))                                    \
    JOINT("B", "revolute", "crank", "rod", AXIS("0 0 1", ""))                                      \
    JOINT("C", "revolute", "world", "rocker", AXIS("0 0 1", ""))                                   \
    JOINT("D", "revolute", "rocker", "rod", POSE("2 0 0 0 0 0") AXIS("0 0 1", ""))

static void a_link_with_two_parents_closes_a_loop(void **state)
{
    (void)state;
    lw_builder *b = read_sdf(MODEL(FOUR_BAR));
    assert_int_equal(4, b->desc.njoint);
    assert_int_equal(lwt_joint_of(b, "B")->body2.index, lwt_joint_of(b, "D")->body2.index);
    all_joints_close(b);
    lw_model *model;
    lw_error error = {0};
    if (lw_model_create(b, &model, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(1, lw_model_loop_count(model));
    lw_check check;
    OK(lw_model_check(model, &check, NULL, &error));
    assert_int_equal(1, check.dof);
    assert_int_equal(3, check.redundant);
    lw_model_destroy(model);
    lw_builder_destroy(b);
}

static void a_mimic_is_a_coupling_with_a_dependent_start(void **state)
{
    (void)state;
    lw_builder *b = read_sdf(MODEL(
        LINK("a", "") LINK("b", "") LINK("c", "") LINK("d", "")
            JOINT("j", "revolute", "a", "b",
                  AXIS("0 0 1", "<mimic joint='u' axis='axis2'><multiplier>3</multiplier>"
                                "<offset>.5</offset><reference>.25</reference></mimic>"))
                JOINT("u", "universal", "a", "c", AXIS("0 0 1", "") AXIS2("1 0 0", ""))
                    JOINT("k", "prismatic", "a", "d",
                          AXIS("0 0 1", "<mimic joint='j'><multiplier>2</multiplier></mimic>"))));
    assert_int_equal(2, b->desc.ncoupling);
    const lw_coupling_desc *c = &b->desc.coupling[0];
    assert_string_equal("j", b->desc.joint[c->joint.index].name);
    assert_string_equal("u", b->desc.joint[c->of.index].name);
    assert_int_equal(1, c->with);
    assert_true(c->polynomial[0] == .5 - 3 * .25 && c->polynomial[1] == 3);
    assert_true(lwt_joint_of(b, "j")->has_q && lwt_joint_of(b, "j")->q[0] == -.25);
    assert_true(lwt_joint_of(b, "k")->q[0] == -.5); // a mimic of a mimic
    lw_builder_destroy(b);
    refuse(MODEL(LINK("a", "") LINK("b", "")
                     JOINT("j", "revolute", "a", "b", AXIS("0 0 1", "<mimic joint='j'/>"))),
           LW_ERR_MODEL, 4, "mimics itself");
    refuse(MODEL(LINK("a", "") LINK("b", "")
                     JOINT("j", "revolute", "a", "b", AXIS("0 0 1", "<mimic joint='x'/>"))),
           LW_ERR_MODEL, 4, "does not exist");
}

// theta_2 = -ratio theta_1, angles of the parent and the child relative to the reference body,
// for both directions of the two revolute joints.
static void a_gearbox_couples_two_revolute_joints(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        double factor; // q of the second revolute joint per q of the first
    } cases[] = {
        {JOINT("p", "revolute", "base", "a", AXIS("0 0 1", "")),
         JOINT("q", "revolute", "base", "b", AXIS("0 0 1", "")), -4},
        {JOINT("p", "revolute", "a", "base", AXIS("0 0 1", "")), // opposite direction
         JOINT("q", "revolute", "base", "b", AXIS("0 0 1", "")), 4},
        {JOINT("p", "revolute", "base", "a", AXIS("0 0 1", "")),
         JOINT("q", "revolute", "base", "b", AXIS("0 0 -1", "")), 4},
        {JOINT("p", "revolute", "base", "a", AXIS("0 0 -1", "")),
         JOINT("q", "revolute", "b", "base", AXIS("0 0 1", "")), -4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4000];
        snprintf(text, sizeof text,
                 MODEL(LINK("base", "") LINK("a", "") LINK("b", "") "%s%s" JOINT(
                     "g", "gearbox", "a", "b",
                     "<gearbox_ratio>4</gearbox_ratio>"
                     "<gearbox_reference_body>base</gearbox_reference_body>" AXIS("0 0 1", "")
                         AXIS2("0 0 1", ""))),
                 cases[i].first, cases[i].second);
        lw_builder *b = read_sdf(text);
        assert_int_equal(2, b->desc.njoint); // the gearbox is not a joint
        assert_int_equal(1, b->desc.ncoupling);
        const lw_coupling_desc *c = &b->desc.coupling[0];
        assert_string_equal("q", b->desc.joint[c->joint.index].name);
        assert_string_equal("p", b->desc.joint[c->of.index].name);
        NEAR(c->polynomial[1], cases[i].factor);
        lw_builder_destroy(b);
    }
    lw_builder *b = read_sdf(
        MODEL(LINK("base", "") LINK("a", "") LINK("b", "") JOINT("p", "ball", "base", "a", "")
                  JOINT("g", "gearbox", "a", "b",
                        "<gearbox_reference_body>base</gearbox_reference_body>" AXIS("0 0 1", "")
                            AXIS2("0 0 1", ""))));
    assert_int_equal(0, b->desc.ncoupling);
    assert_int_equal(1, lwt_warnings_with(b, "gearboxes need a revolute joint")); // not silently
    assert_int_equal(1, lwt_warnings_with(b, "(1): g"));
    lw_builder_destroy(b);
}

// ---------------------------------------------------------------------------------------- includes

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void includes_are_read_below_the_folder_and_nowhere_else(void **state)
{
    (void)state;
    lw_model *model;
    lw_error error = {0};
    mkdir("sdf_folder", 0777);
    mkdir("sdf_folder/wheel", 0777);
    write_file("sdf_folder/wheel/model.config",
               "<model><sdf version='1.5'>old.sdf</sdf><sdf version='1.11'>new.sdf</sdf></model>");
    write_file("sdf_folder/wheel/new.sdf", MODEL(LINK("rim", POSE("0 0 1 0 0 0"))));
    write_file("sdf_outside.sdf", MODEL(LINK("thief", "")));
    write_file("sdf_folder/main.sdf",
               MODEL(LINK("base", "") "<include><uri>model://wheel</uri><name>left</name>"
                                      "<pose relative_to='base'>1 0 0 0 0 0</pose></include>"
                                      "<include><uri>model://wheel</uri><name>right</name>"
                                      "<pose>-1 0 0 0 0 0</pose></include>" JOINT(
                                          "l", "revolute", "base", "left::rim", AXIS("1 0 0", ""))
                                          JOINT("r", "revolute", "base", "right::rim",
                                                AXIS("1 0 0", ""))));
    if (lw_model_read("sdf_folder/main.sdf", NULL, &model, NULL, &error) != LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    assert_int_equal(4, lw_model_body_count(model)); // base, two rims, the ground
    lw_body left;
    OK(lw_model_find_body(model, "left::rim", &left));
    NEAR(model->body[left.index].r0[0], 1);
    NEAR(model->body[left.index].r0[2], 1);
    lw_model_destroy(model);
    // a mechanism without a part of it is not simulated
    static const char *const missing[] = {"../sdf_outside.sdf", "model://nowhere",
                                          "wheel/none.sdf"};
    for (int i = 0; i < 3; i++) {
        char text[2000], expected[200];
        snprintf(text, sizeof text, MODEL(LINK("a", "") "<include><uri>%s</uri></include>"),
                 missing[i]);
        write_file("sdf_folder/missing.sdf", text);
        assert_int_equal(LW_ERR_PARSE,
                         lw_model_read("sdf_folder/missing.sdf", NULL, &model, NULL, &error));
        snprintf(expected, sizeof expected,
                 "<include>: '%s' does not exist below the folder of the file", missing[i]);
        assert_string_equal(expected, error.text);
        assert_true(error.line > 0);
    }
    // a file that includes itself ends
    write_file("sdf_folder/self.sdf",
               MODEL(LINK("a", "") "<include><uri>self.sdf</uri></include>"));
    assert_int_equal(LW_ERR_PARSE,
                     lw_model_read("sdf_folder/self.sdf", NULL, &model, NULL, &error));
    assert_non_null(strstr(error.text, "more than"));
    // from memory nothing else is read
    refuse(MODEL(LINK("a", "") "<include><uri>model://wheel</uri></include>"), LW_ERR_PARSE, 3,
           "'model://wheel' cannot be read: the model is parsed from memory");
}

// ------------------------------------------------------------------------------------------ errors

static void mistakes_are_reported_with_their_place(void **state)
{
    (void)state;
    refuse("<robot/>", LW_ERR_PARSE, 1, "expected <sdf>");
    refuse("<sdf/>", LW_ERR_PARSE, 1, "version");
    refuse("<sdf version='1.11'/>", LW_ERR_MODEL, 1, "no link");
    refuse(MODEL(LINK("a", "") "<link/>"), LW_ERR_PARSE, 3, "name");
    refuse(MODEL(LINK("a", POSE("1 2 3"))), LW_ERR_PARSE, 2, "6 finite numbers");
    refuse(MODEL(LINK("a", "<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 2</pose>")), LW_ERR_MODEL,
           2, "length 2");
    refuse(MODEL(LINK("a", "") LINK("b", "") JOINT("j", "hinge", "a", "b", "")), LW_ERR_PARSE, 4,
           "unknown type 'hinge'");
    refuse(MODEL(LINK("a", "") LINK("b", "") JOINT("j", "revolute", "a", "b", "")), LW_ERR_PARSE, 4,
           "no <axis>");
    refuse(MODEL(LINK("a", "") LINK("b", "") JOINT("j", "revolute", "a", "b", AXIS("0 0 0", ""))),
           LW_ERR_MODEL, 4, "zero vector");
    refuse(MODEL(LINK("a", "") LINK("b", "") JOINT("j", "ball", "a", "x", "")), LW_ERR_MODEL, 4,
           "'x' does not exist");
    refuse(MODEL(LINK("a", "") LINK("b", "") JOINT("j", "ball", "y", "b", "")), LW_ERR_MODEL, 4,
           "'y' does not exist");
    refuse(MODEL(LINK("a", "") LINK("b", "")
                     JOINT("j", "universal", "a", "b", AXIS("0 0 1", "") AXIS2("0 0 2", ""))),
           LW_ERR_MODEL, 4, "parallel");
    refuse(MODEL(LINK("a", "") "<include merge='true'><uri>x</uri></include>"), LW_ERR_UNSUPPORTED,
           3, "merge");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    lw_status status = LW_ERR_MEMORY;
    for (long n = 0; status != LW_OK; n++) {
        lwt_failing f = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&f);
        const lw_read_desc desc = {.allocator = &allocator};
        lw_builder *b = NULL;
        status = read_desc(&b, MODEL(FOUR_BAR "<plugin name='x'/>"), &desc, NULL);
        if (status != LW_OK) assert_int_equal(LW_ERR_MEMORY, status);
        lw_builder_destroy(b);
        assert_int_equal(0, f.live);
    }
}

// ---------------------------------------------------------------------------------------- a real
// one

// Cassie: four links have two parents, the rods to heels and feet.  The file closes to round-off although its
// poses have five digits, because joints are placed by the poses of their links.
static void cassie_closes_and_keeps_its_energy(void **state)
{
    (void)state;
    static const char path[] = LW_SOURCE_DIR "/tests/models/cassie_v2.sdf";
    lw_model *model;
    lw_error error = {0};
    if (lw_model_read(path, NULL, &model, NULL, &error) != LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    assert_int_equal(24, lw_model_body_count(model));
    assert_int_equal(26, lw_model_joint_count(model));
    assert_int_equal(4, lw_model_loop_count(model));
    lw_check check;
    OK(lw_model_check(model, &check, NULL, &error));
    // 13 degrees of freedom in the spanning tree of each leg minus 7 by its loops, and 6 of the pelvis
    assert_int_equal(18, check.dof);
    assert_true(check.residual[0] < 1e-14);

    lw_options options;
    lw_sim *sim;
    const lw_observation *o;
    lw_options_default(&options);
    OK(lw_options_set(&options, "formulation", "dense", &error));
    OK(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error));
    OK(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
    const double before = o->kinetic + o->potential - o->work;
    OK(lw_sim_step(sim, 0.02));
    OK(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
    // springs of 1500 N m/rad and dampers work; the default tolerance is 1e-9 of numbers up to 300
    // J
    assert_true(fabs(o->kinetic + o->potential - o->work - before) < 1e-7);
    assert_true(o->residual[0] < 1e-9 && o->residual[1] < 1e-9);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_are_relative_to_the_model_or_a_named_frame),
        cmocka_unit_test(frames_relative_to_themselves_are_refused),
        cmocka_unit_test(an_axis_is_in_the_joint_frame_or_a_named_one),
        cmocka_unit_test(nested_models_prefix_their_names),
        cmocka_unit_test(missing_inertia_has_the_defaults_and_is_noted),
        cmocka_unit_test(models_float_are_static_or_fixed_by_option),
        cmocka_unit_test(every_joint_type_is_read),
        cmocka_unit_test(pitches_and_universal_axes),
        cmocka_unit_test(oblique_axes_are_two_revolute_joints),
        cmocka_unit_test(dynamics_are_read_other_properties_are_noted),
        cmocka_unit_test(a_link_with_two_parents_closes_a_loop),
        cmocka_unit_test(a_mimic_is_a_coupling_with_a_dependent_start),
        cmocka_unit_test(a_gearbox_couples_two_revolute_joints),
        cmocka_unit_test(includes_are_read_below_the_folder_and_nowhere_else),
        cmocka_unit_test(mistakes_are_reported_with_their_place),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(cassie_closes_and_keeps_its_energy),
    };
    return cmocka_run_group_tests(tests, lwt_scratch_enter, lwt_scratch_leave);
}
