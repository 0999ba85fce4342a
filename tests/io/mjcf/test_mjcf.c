// test_mjcf.c -- reading MJCF: bodies with several joints, defaults, inertia from geoms,
// orientations, equalities, motors, includes, errors and notes.
#include "io/read_cases.h"
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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(LW_OK, (call))
// Products of a few rotations: some units in the last place of numbers near one.
#define NEAR(a, b) assert_true(fabs((a) - (double)(b)) <= 1e-14 * (1 + fabs((double)(b))))

static const double root = 0.70710678118654752440; // of a half
static const double degree = 3.14159265358979323846 / 180;

// ---------------------------------------------------------------------------------------- support

static lw_status read_desc(lw_builder **builder, const char *text, const lw_read_desc *desc,
                           lw_error *error)
{
    return lwt_read(lwi_read_mjcf, "bot.xml", text, desc, builder, error);
}

static lw_builder *read_with(const char *text, const lw_read_desc *desc)
{
    lw_builder *builder;
    lw_error error = {0};
    if (read_desc(&builder, text, desc, &error) != LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    return builder;
}

static lw_builder *read_mjcf(const char *text)
{
    return read_with(text, &(lw_read_desc){0});
}

static void refuse(const char *text, lw_status status, int line, const char *part)
{
    lw_builder *builder;
    lw_error error = {0};
    assert_int_equal(status, read_desc(&builder, text, &(lw_read_desc){0}, &error));
    lwt_error_is(&error, "bot.xml", line, part);
}

static lw_model *model_of(const char *text)
{
    lw_model *model = NULL;
    lw_error error = {0};
    if (lw_model_parse(text, strlen(text), "bot.xml", &(lw_read_desc){.format = "mjcf"}, &model,
                       NULL, &error))
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    return model;
}

#define MODEL(...) "<mujoco>\n" __VA_ARGS__ "</mujoco>\n"
#define WORLD(...) "<worldbody>" __VA_ARGS__ "</worldbody>\n"
#define MASS "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"

// Pose of frame 1 or 2 of a joint in its body.
static void frame_of(const lw_joint_desc *j, int side, double *R, double *r)
{
    const lw_pose *f = side == 1 ? &j->frame1 : &j->frame2;
    lwt_matrix_of(R, f->orientation);
    v3_set(r, f->position.x, f->position.y, f->position.z);
}

// ------------------------------------------------------------------------------------------- names

// Names that the file lacks derive from the bodies and never equal one of the file.
static void missing_names_are_derived(void **state)
{
    (void)state;
    lw_model *m = model_of(MODEL(
        WORLD("<body name='a'>" MASS "<body>" MASS "<joint name='joint1'/></body>"
              "<body name='body2'>" MASS "<joint/><joint axis='1 0 0'/></body></body>"
              "<body name='body3'>" MASS "<joint name='body2_joint'/></body>"
              "<body name='ground'>" MASS "<freejoint/></body><body name='ground_body'>" MASS
              "</body>") "<equality><connect name='joint1' body1='a' body2='body3' anchor='0 0 0'/>"
                         "<weld body1='body3' body2='a'/></equality>"));
    static const char *const joints[] = {"a_fixed",           "joint1",         "body2_joint_",
                                         "body2_joint2",      "body2_joint",    "ground_body__free",
                                         "ground_body_fixed", "joint1_connect", "body3_weld2"};
    static const char *const bodies[] = {"a",           "body2_",  "body2", "body3", "ground_body_",
                                         "ground_body", "body2::1"};
    for (int i = 0; i < (int)(sizeof joints / sizeof *joints); i++) {
        lw_joint found;
        if (lw_model_find_joint(m, joints[i], &found)) fail_msg("there is no joint %s", joints[i]);
    }
    for (int i = 0; i < (int)(sizeof bodies / sizeof *bodies); i++) {
        lw_body found;
        if (lw_model_find_body(m, bodies[i], &found)) fail_msg("there is no body %s", bodies[i]);
    }
    lw_model_destroy(m);
}

// ------------------------------------------------------------------------------------ orientations

// The same rotation in all notations.
static void orientations_agree(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "quat='.5 .5 .5 .5'", // 120 degrees about (1 1 1)
        "quat='2 2 2 2'",       "axisangle='1 1 1 120'", "euler='90 90 0'",
        "xyaxes='0 1 0 0 0 1'", "xyaxes='0 3 0 0 1 2'",
    };
    for (int k = 0; k < LWI_COUNT(ways); k++) {
        char text[400];
        double R[9];
        snprintf(text, sizeof text, MODEL(WORLD("<body name='a' %s>" MASS "</body>")), ways[k]);
        lw_builder *b = read_mjcf(text);
        lwt_matrix_of(R, lwt_body_of(b, "a")->pose.orientation);
        static const double expected[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
        for (int i = 0; i < 9; i++) NEAR(R[i], expected[i]);
        lw_builder_destroy(b);
    }
}

static void z_axes_take_the_smallest_rotation(void **state)
{
    (void)state;
    const struct {
        const char *axis;
        double quat[4];
    } cases[] = {{"0 0 5", {1, 0, 0, 0}},
                 {"0 0 -1", {0, 1, 0, 0}},
                 {"2 0 0", {root, 0, root, 0}},
                 {"0 -1 0", {root, root, 0, 0}}};
    for (int k = 0; k < LWI_COUNT(cases); k++) {
        char text[400];
        double R[9], Q[9];
        snprintf(text, sizeof text, MODEL(WORLD("<body name='a' zaxis='%s'>" MASS "</body>")),
                 cases[k].axis);
        lw_builder *b = read_mjcf(text);
        lwt_matrix_of(R, lwt_body_of(b, "a")->pose.orientation);
        quat_matrix(Q, cases[k].quat);
        for (int i = 0; i < 9; i++) NEAR(R[i], Q[i]);
        lw_builder_destroy(b);
    }
}

// Lower case: rotations about moving axes, upper case: about fixed axes; in radians by option.
static void euler_sequences(void **state)
{
    (void)state;
    static const struct {
        const char *sequence;
        int axis[3]; // in the order of the product R = R0 R1 R2
        int angle[3];
    } cases[] = {{"xyz", {0, 1, 2}, {0, 1, 2}},
                 {"zyx", {2, 1, 0}, {0, 1, 2}},
                 {"XYZ", {2, 1, 0}, {2, 1, 0}},
                 {"zXz", {0, 2, 2}, {1, 0, 2}}};
    static const double angle[3] = {0.3, -0.7, 1.1};
    for (int k = 0; k < LWI_COUNT(cases); k++) {
        char text[400];
        double R[9], expected[9];
        snprintf(text, sizeof text,
                 MODEL("<compiler angle='radian' eulerseq='%s'/>" WORLD(
                     "<body name='a' euler='.3 -.7 1.1'>" MASS "</body>")),
                 cases[k].sequence);
        lw_builder *b = read_mjcf(text);
        lwt_matrix_of(R, lwt_body_of(b, "a")->pose.orientation);
        m3_identity(expected);
        for (int i = 0; i < 3; i++) {
            double axis[3] = {0}, turn[9], before[9];
            axis[cases[k].axis[i]] = 1;
            rot_axis(turn, axis, angle[cases[k].angle[i]]);
            memcpy(before, expected, sizeof before);
            m3_mul(expected, before, turn);
        }
        for (int i = 0; i < 9; i++) NEAR(R[i], expected[i]);
        lw_builder_destroy(b);
    }
}

// ---------------------------------------------------------------------------------------- defaults

// Order of precedence: attribute, class, enclosing classes, childclass of the body, main.
static void defaults_are_inherited(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(
        MODEL("<default><joint damping='1' stiffness='2' armature='.5'/>"
              "<default class='leg'><joint damping='3' armature='.25'/><default "
              "class='foot'><joint axis='1 0 0'/>"
              "</default></default><default class='arm'><joint "
              "stiffness='5'/></default></default>\n" WORLD(
                  "<body name='a'>" MASS "<joint name='plain'/></body>"
                  "<body name='b' childclass='leg'>" MASS "<joint name='leg'/>"
                  "<body name='c'>" MASS "<joint name='foot' class='foot'/></body>"
                  "<body name='d' childclass='arm'>" MASS "<joint name='arm'/></body>"
                  "<body name='e'>" MASS "<joint name='own' damping='9'/></body></body>")));
    static const struct {
        const char *name;
        double damping, stiffness, rotor;
    } expected[] = {{"plain", 1, 2, .5},
                    {"leg", 3, 2, .25},
                    {"foot", 3, 2, .25},
                    {"arm", 1, 5, .5},
                    {"own", 9, 2, .25}};
    for (int i = 0; i < LWI_COUNT(expected); i++) {
        const lw_coordinate_desc *c = &lwt_joint_of(b, expected[i].name)->coordinate[0];
        NEAR(c->damping, expected[i].damping);
        NEAR(c->stiffness, expected[i].stiffness);
        NEAR(c->rotor, expected[i].rotor);
    }
    double R[9], r[3];
    frame_of(lwt_joint_of(b, "foot"), 2, R, r);
    NEAR(R[2], 1); // its z is the x axis of the class
    lw_builder_destroy(b);
}

// ----------------------------------------------------------------------------------------- inertia

// A solid of revolution about z by slices: volume, and inertia across and along of density one.
static void slices(double (*radius)(double z), double from, double to, double *v)
{
    enum { N = 20000 };
    v[0] = v[1] = v[2] = 0;
    for (int i = 0; i < N; i++) {
        const double dz = (to - from) / N, z = from + (i + 0.5) * dz, r = radius(z);
        const double area = 3.14159265358979323846 * r * r * dz;
        v[0] += area;
        v[1] += area * (r * r / 4 + z * z);
        v[2] += area * r * r / 2;
    }
}

static double ball(double z)
{
    return sqrt(0.09 - z * z);
}
static double rod(double z)
{
    return (void)z, 0.2;
}
static double capsule(double z)
{
    const double out = fabs(z) - 0.5;
    return out > 0 ? sqrt(0.04 - out * out) : 0.2;
}
static double spheroid(double z)
{
    return 0.2 * sqrt(1 - z * z / 0.25);
}

static void solids_have_the_inertia_of_their_slices(void **state)
{
    (void)state;
    static const struct {
        const char *geom;
        double (*radius)(double);
        double half;
    } cases[] = {{"type='sphere' size='.3'", ball, 0.3},
                 {"type='cylinder' size='.2 .5'", rod, 0.5},
                 {"type='capsule' size='.2 .5'", capsule, 0.7},
                 {"type='capsule' size='.2' fromto='0 0 -.5 0 0 .5'", capsule, 0.7},
                 {"type='ellipsoid' size='.2 .2 .5'", spheroid, 0.5}};
    for (int k = 0; k < LWI_COUNT(cases); k++) {
        char text[400];
        double v[3];
        snprintf(text, sizeof text,
                 MODEL(WORLD("<body name='a'><freejoint/><geom density='800' %s/></body>")),
                 cases[k].geom);
        lw_builder *b = read_mjcf(text);
        const lw_body_desc *d = lwt_body_of(b, "a");
        slices(cases[k].radius, -cases[k].half, cases[k].half, v);
        const double got[3] = {d->mass, d->inertia[0], d->inertia[2]};
        for (int i = 0; i < 3; i++) // midpoint rule; the slope at the poles is infinite
            assert_true(fabs(got[i] / (800 * v[i]) - 1) < 1e-5);
        NEAR(d->inertia[0], d->inertia[1]);
        lw_builder_destroy(b);
    }
}

// Two equal boxes side by side are one box of twice the length, in any pose.
static void geoms_add_up(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL(
        WORLD("<body name='two'><geom type='box' size='.1 .2 .3' pos='.4 0 0'/>"
              "<geom type='box' size='.2 .1 .3' pos='.6 0 0' euler='0 0 90'/></body>"
              "<body name='one'><geom type='box' size='.2 .2 .3' pos='.5 0 0' mass='48'/></body>"
              "<body name='framed'><frame pos='.5 0 0' euler='0 0 45'>"
              "<geom type='box' size='.2 .2 .3' euler='0 0 -45'/></frame></body>")));
    const lw_body_desc *two = lwt_body_of(b, "two"), *one = lwt_body_of(b, "one"),
                       *framed = lwt_body_of(b, "framed");
    NEAR(two->mass, 96);
    NEAR(one->mass, 48);
    for (int i = 0; i < 6; i++) {
        NEAR(two->inertia[i], 2 * one->inertia[i]);
        NEAR(framed->inertia[i], 2 * one->inertia[i]);
    }
    NEAR(two->com.x, 0.5);
    NEAR(framed->com.x, 0.5);
    NEAR(two->inertia[0], 96 * (0.04 + 0.09) / 3);
    lw_builder_destroy(b);
}

// <inertial> is used if present, unless the file selects geoms; groups and total mass are respected.
static void inertia_is_from_inertial_or_geoms_by_the_settings(void **state)
{
    (void)state;
#define TWO                                                                                        \
    WORLD("<body name='a'><inertial pos='1 0 0' mass='3' fullinertia='1 2 3 .1 .2 .3'/>"           \
          "<geom size='1' mass='5'/></body>"                                                       \
          "<body name='b'><geom size='1' mass='7'/><geom size='1' mass='11' group='3'/></body>")
    static const struct {
        const char *compiler;
        double a, b;
    } cases[] = {{"", 3, 18},
                 {"<compiler inertiafromgeom='true'/>", 5, 18},
                 {"<compiler inertiafromgeom='false'/>", 3, 0},
                 {"<compiler inertiagrouprange='0 2'/>", 3, 7},
                 {"<compiler boundmass='10'/>", 10, 18},
                 {"<compiler settotalmass='2.1'/>", 0.3, 1.8}};
    for (int k = 0; k < LWI_COUNT(cases); k++) {
        char text[800];
        snprintf(text, sizeof text, "<mujoco>%s" TWO "</mujoco>", cases[k].compiler);
        lw_builder *b = read_mjcf(text);
        NEAR(lwt_body_of(b, "a")->mass, cases[k].a);
        NEAR(lwt_body_of(b, "b")->mass, cases[k].b);
        lw_builder_destroy(b);
    }
    lw_builder *b = read_mjcf(MODEL(TWO));
    static const double full[6] = {1, 2, 3, 0.1, 0.2, 0.3};
    for (int i = 0; i < 6; i++) NEAR(lwt_body_of(b, "a")->inertia[i], full[i]);
    NEAR(lwt_body_of(b, "a")->com.x, 1);
    lw_builder_destroy(b);
}

// ------------------------------------------------------------------------------------------ joints

// Joints of a body are in series with massless bodies between them, the first next to the parent.
static void joints_of_a_body_are_in_series(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(
        MODEL(WORLD("<body name='p'>" MASS "<joint name='base'/>"
                    "<body name='a' pos='1 0 0'>" MASS
                    "<joint name='j1' axis='1 0 0' pos='0 0 .5'/><joint name='j2' type='slide'/>"
                    "<joint name='j3' axis='0 1 0'/></body></body>")));
    const lw_joint_desc *j1 = lwt_joint_of(b, "j1"), *j2 = lwt_joint_of(b, "j2"),
                        *j3 = lwt_joint_of(b, "j3");
    assert_string_equal(b->desc.body[j1->body1.index].name, "p");
    assert_string_equal(b->desc.body[j1->body2.index].name, "a::j1");
    assert_int_equal(j2->body1.index, j1->body2.index);
    assert_string_equal(b->desc.body[j2->body2.index].name, "a::j2");
    assert_string_equal(b->desc.body[j3->body2.index].name, "a");
    assert_int_equal(j2->type, LW_JOINT_PRISMATIC);
    NEAR(j1->frame1.position.x, 1); // in the parent
    NEAR(j1->frame1.position.z, 0.5);
    NEAR(j2->frame1.position.x, 0); // in the previous body, which has the same pose
    NEAR(lwt_body_of(b, "a::j1")->mass, 0);
    lw_builder_destroy(b);
}

// A coordinate is `ref` at the poses of the file; limits and springs are in the unit of angles of the file.
static void coordinates_are_those_of_the_file(void **state)
{
    (void)state;
    static const char text[] = MODEL(WORLD(
        "<body name='a' pos='0 0 1'>" MASS
        "<joint name='turn' axis='0 1 0' ref='30' springref='10' stiffness='4' range='-90 90'/>"
        "<body name='b' pos='1 0 0'>" MASS
        "<joint name='shift' type='slide' axis='1 0 0' ref='.25' range='0 1'/></body></body>"));
    const lw_read_desc desc = {.limits = {.stiffness = 1e4, .damping = 10}};
    lw_builder *b = read_with(text, &desc);
    const lw_joint_desc *turn = lwt_joint_of(b, "turn"), *shift = lwt_joint_of(b, "shift");
    NEAR(turn->coordinate[0].at, 10 * degree);
    NEAR(turn->coordinate[0].limits.lower, -90 * degree);
    NEAR(shift->coordinate[0].limits.upper, 1);
    lw_builder_destroy(b);
    lw_model *model = model_of(text);
    lw_sim *sim = NULL;
    const lw_observation *o;
    lw_error error;
    OK(lw_sim_create(model, &(lw_sim_desc){0}, &sim, &error));
    OK(lw_sim_observe(sim, LW_OBSERVE_POSE, &o));
    NEAR(o->q[0], 30 * degree);
    NEAR(o->q[1], 0.25);
    lw_sim_destroy(sim);
    // at those coordinates the poses are those of the file
    lw_body body;
    OK(lw_model_find_body(model, "b", &body));
    NEAR(model->body[body.index].r0[0], 1);
    NEAR(model->body[body.index].r0[2], 1);
    lw_model_destroy(model);
}

static void bases(void **state)
{
    (void)state;
    static const char text[] =
        MODEL(WORLD("<body name='a' pos='1 2 3'><freejoint name='root'/>" MASS
                    "</body><body name='still'>" MASS "</body>"
                    "<body name='hand' mocap='true'/>"));
    lw_builder *b = read_mjcf(text);
    assert_int_equal(lwt_joint_of(b, "root")->type, LW_JOINT_FREE);
    assert_int_equal(lwt_warnings_with(b, "motion capture"), 1);
    lw_builder_destroy(b);
    b = read_with(text, &(lw_read_desc){.base = LW_BASE_FIXED});
    assert_int_equal(lwt_joint_of(b, "root")->type, LW_JOINT_FIXED);
    lw_builder_destroy(b);
}

// ---------------------------------------------------------------------------------------- actuators

static const lw_servo_desc *servo_of(const lw_builder *b, const char *name)
{
    const lwi_force_list *list = &b->desc.force[LWI_ITEM_servo];
    for (int i = 0; i < list->n; i++) {
        const lw_servo_desc *s = (const lw_servo_desc *)list->desc + i;
        if (strcmp(s->name, name) == 0) return s;
    }
    fail_msg("no servo %s", name);
    return NULL;
}

static void near3(const double *x, double a, double b, double c)
{
    NEAR(x[0], a), NEAR(x[1], b), NEAR(x[2], c);
}

// A plain motor is the effort of its joint; every other actuator with an affine law is a servo, at a site a wrench.
static void actuators_are_inputs(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL(WORLD(
        "<body name='a'>" MASS "<joint name='j'/><site name='tip' pos='0 0 1'/></body>"
        "<body name='b'>" MASS
        "<joint name='k' type='ball'/></body>") "<actuator><motor joint='j'/>"
                                                "<motor name='m' joint='j' gear='40'/>"
                                                "<motor name='ball' joint='k'/>"
                                                "<motor name='thrust' site='tip' gear='0 0 3'/>"
                                                "<position name='servo' joint='j' kp='5' kv='2'/>"
                                                "<muscle name='thigh' joint='j'/>"
                                                "<motor joint='j'/>"
                                                "<position name='slow' joint='j' timeconst='1'/>"
                                                "</actuator>"
                                                "<tendon><spatial name='rope'/></tendon>"));
    const char *const inputs[] = {"j", "m", "thrust", "servo", "j_actuator5"};
    assert_true(lwt_joint_of(b, "j")->coordinate[0].effort.index == -1);
    assert_int_equal(b->desc.ninput, LWI_COUNT(inputs));
    for (int i = 0; i < LWI_COUNT(inputs); i++) assert_string_equal(b->desc.input[i], inputs[i]);
    NEAR(servo_of(b, "m")->gear, 40);
    NEAR(servo_of(b, "m")->gain[0], 1);
    assert_int_equal(servo_of(b, "m")->target.index, -2);
    NEAR(servo_of(b, "servo")->kp, 5);
    NEAR(servo_of(b, "servo")->kd, 2);
    const lw_wrench_desc *w = b->desc.force[LWI_ITEM_wrench].desc;
    NEAR(w->force.z, 3);
    NEAR(w->point.z, 1);
    assert_true(w->body_axes && w->scale.index == -3);
    assert_int_equal(lwt_warnings_with(b, "ball and free joints are not read (1): ball"), 1);
    assert_int_equal(lwt_warnings_with(b, "as <muscle>, are not read (1): thigh"), 1);
    assert_int_equal(lwt_warnings_with(b, "as <position>, are not read (1): slow"), 1);
    assert_int_equal(lwt_warnings_with(b, "<spatial> tendons are not read (1): rope"), 1);
    lw_builder_destroy(b);
}

// Actuators of all kinds share their defaults; the element is applied after those of its classes, the outer ones first.
static void actuators_share_their_defaults(void **state)
{
    (void)state;
    static const char *const defaults[] = {
        "<general gear='3'/>", "<motor gear='3'/><position kp='7' kv='4'/>",
        "<default class='strong'><velocity gear='3'/></default>",
        "<velocity gear='2' kv='1'/><default class='strong'><general gear='3'/></default>"};
    for (int i = 0; i < 4; i++) {
        char text[1200];
        snprintf(text, sizeof text,
                 MODEL("<default>%s</default>" WORLD(
                     "<body name='a'>" MASS
                     "<joint name='j'/></body>") "<actuator>"
                                                 "<motor name='m' joint='j'%s/><position name='p' "
                                                 "joint='j' kp='9'%s/>"
                                                 "</actuator>"),
                 defaults[i], i > 1 ? " class='strong'" : "", i > 1 ? " class='strong'" : "");
        lw_builder *b = read_mjcf(text);
        const lw_servo_desc *m = servo_of(b, "m"), *p = servo_of(b, "p");
        NEAR(m->gear, 3);
        near3(m->gain, 1, 0, 0);
        near3(m->bias, 0, 0, 0);
        NEAR(p->kp, 9);
        NEAR(p->kd, i == 1 ? 4 : i == 3 ? 1 : i == 2 ? 1 : 0); // <velocity> has kv = gain = 1
        lw_builder_destroy(b);
    }
}

static void laws_and_ranges_of_actuators(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL("<compiler angle='radian'/>" WORLD(
        "<body name='a'>" MASS
        "<joint name='j' range='-1 3' actuatorfrcrange='-8 6' armature='.1' damping='.2'/></body>"
        "<body name='b'>" MASS
        "<joint name='k' range='0 2'/></body>") "<actuator>"
                                                "<velocity name='v' joint='k' kv='3' "
                                                "forcerange='-2 2' forcelimited='false'/>"
                                                "<damper name='d' joint='k' kv='4' ctrlrange='0 "
                                                "1'/>"
                                                "<general name='g' joint='k' gaintype='affine' "
                                                "gainprm='1 2 3' biastype='affine' "
                                                "biasprm='4 5 6' ctrlrange='-1 2' forcerange='-7 "
                                                "7'/>"
                                                "<position name='p' joint='j' kp='2' "
                                                "inheritrange='.5' gear='-2' forcerange='-5 3.5' "
                                                "armature='.25' damping='.5'/>"
                                                "<general name='t' tendon='both' gainprm='2' "
                                                "biastype='affine' biasprm='0 -2 -1'/>"
                                                "</actuator><default><tendon "
                                                "damping='.3'/></default>"
                                                "<tendon><fixed name='both' stiffness='10'><joint "
                                                "joint='j' coef='.5'/>"
                                                "<joint joint='k' coef='-2'/></fixed></tendon>"));
    const lw_servo_desc *v = servo_of(b, "v"), *d = servo_of(b, "d"), *g = servo_of(b, "g");
    const lw_servo_desc *p = servo_of(b, "p"), *t = servo_of(b, "t");
    near3(v->gain, 3, 0, 0);
    NEAR(v->kd, 3);
    assert_false(v->has_effort_range || v->has_target_range);
    near3(d->gain, 0, 0, -4);
    assert_true(d->has_target_range && d->target_range[1] == 1);
    near3(g->gain, 1, 2, 3);
    near3(g->bias, 4, 5, 6);
    assert_true(g->has_effort_range && g->effort_range[0] == -7 && g->target_range[0] == -1);
    NEAR(p->kp, 2);
    NEAR(p->target_range[0], 0); // half of the range, about its middle
    NEAR(p->target_range[1], 2);
    // -2 f within [-8, 6] is f within [-3, 4], and f within [-5, 3.5]
    NEAR(p->effort_range[0], -3);
    NEAR(p->effort_range[1], 3.5);
    NEAR(lwt_joint_of(b, "j")->coordinate[0].rotor, 0.1 + 4 * 0.25);
    NEAR(lwt_joint_of(b, "j")->coordinate[0].damping, 0.2 + 4 * 0.5);
    assert_int_equal(t->nterm, 2);
    NEAR(t->terms[1].factor, -2);
    NEAR(t->kp, 2);
    near3(servo_of(b, "both_spring")->bias, 0, -10, -0.3);
    lw_builder_destroy(b);
}

// A pendulum of mass 2 at distance 3 with inertia about its centre 1: about the hinge 1 + 18, and a rotor of 6.  The
// second one swings freely beyond: the mass of its bob of 4 counts, which its hinge does not hold across.
static void a_damping_ratio_is_of_the_effective_inertia(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL(
        WORLD("<body name='a' pos='0 1 0' euler='0 0 30'><inertial mass='2' pos='3 0 1' "
              "diaginertia='1 1 1'/>"
              "<joint name='j' axis='0 0 1' armature='6' ref='20'/></body>"
              "<body name='b' pos='9 0 0'><inertial mass='2' pos='3 0 1' diaginertia='1 1 1'/>"
              "<joint name='k' axis='0 0 1' ref='20'/>"
              "<body name='c' pos='5 0 0'><inertial mass='4' pos='0 0 0' diaginertia='2 2 2'/>"
              "<joint name='l' axis='0 0 1'/></body></body>") "<actuator>"
                                                              "<position name='p' joint='j' kp='4' "
                                                              "dampratio='.7' gear='2'/>"
                                                              "<position name='q' joint='k' kp='4' "
                                                              "dampratio='.7'/></actuator>"));
    NEAR(servo_of(b, "p")->kd, 2 * 0.7 * sqrt(4 * 25 / 4.0));
    NEAR(servo_of(b, "q")->kd, 2 * 0.7 * sqrt(4 * (19 + 4 * 25.0)));
    lw_builder_destroy(b);
}

// relpose: its point in body 1 is the anchor in body 2; without it both are as placed.
static void welds_have_anchors(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL(
        WORLD("<body name='a' pos='1 0 0'>" MASS "<freejoint/></body>"
              "<body name='b' pos='0 2 0' quat='0 0 0 1'>" MASS
              "<freejoint/></body>") "<equality>"
                                     "<weld name='one' body1='a' body2='b' anchor='.1 .2 .3'/>"
                                     "<weld name='two' body1='a' body2='b' anchor='.1 .2 .3' "
                                     "relpose='4 5 6 0 1 0 0'/>"
                                     "</equality>"));
    const lw_joint_desc *one = lwt_joint_of(b, "one"), *two = lwt_joint_of(b, "two");
    NEAR(one->frame2.position.x, 0.1);
    NEAR(one->frame1.position.x, -1 - 0.1); // half a revolution about z
    NEAR(one->frame1.position.y, 2 - 0.2);
    NEAR(fabs(one->frame1.orientation.z), 1);
    NEAR(two->frame2.position.z, 0.3);
    NEAR(two->frame1.position.y, 5);
    NEAR(two->frame1.orientation.x, 1);
    lw_builder_destroy(b);
}

// Springs, armature and dry friction of free and ball joints; gravity compensation; polynomial laws.
static void free_and_ball_joints_have_forces(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL("<option gravity='0 0 -10'/>" WORLD(
        "<body name='a' gravcomp='.5'>" MASS
        "<joint name='base' type='free' armature='.2' damping='3' frictionloss='.4' stiffness='7'/>"
        "<body name='b'>" MASS "<joint name='ball' type='ball' armature='1' stiffness='2'/></body>"
        "<body name='c'>" MASS "<joint name='j' stiffness='1 2 3' damping='4 5 6' springref='90'/>"
        "</body></body>")));
    NEAR(lwt_joint_of(b, "base")->damping, 3);
    NEAR(lwt_joint_of(b, "base")->coordinate[5].friction.coulomb, 0.4);
    lw_body extra = {b->desc.nbody - 1};
    assert_string_equal(b->desc.body[extra.index].name, "a::armature");
    NEAR(b->desc.body[extra.index].mass, 0.2);
    NEAR(b->desc.body[extra.index].inertia[2], 0.2);
    const lw_wrench_desc *w = b->desc.force[LWI_ITEM_wrench].desc;
    assert_int_equal(b->desc.force[LWI_ITEM_wrench].n, 2);
    NEAR(w[0].force.z, 2); // armature without weight
    NEAR(w[1].force.z, 0.5 * 10 * b->desc.body[1].mass);
    const lw_bushing_desc *s = b->desc.force[LWI_ITEM_bushing].desc;
    near3(s[0].stiffness, 7, 7, 7);
    near3(s[1].stiffness, 0, 0, 0);
    near3(s[1].stiffness + 3, 2, 2, 2);
    const lw_coordinate_desc *c = lwt_joint_of(b, "j")->coordinate;
    NEAR(c->stiffness, 1);
    NEAR(c->damping, 4);
    assert_true(c->force.index > 0);
    assert_int_equal(lwt_warnings_with(b, "armature of ball joints is not used, joints (1): ball"),
                     1);
    lw_builder_destroy(b);
}

// A site with fromto is in the middle of the points, z from the second to the first, like a geom.
static void sites_are_in_the_middle_of_fromto(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL(
        WORLD("<body name='a'>" MASS
              "<joint/><site name='s' type='capsule' size='.1' fromto='1 0 2 0 0 2'/></body>")));
    const lw_pose pose = b->desc.marker[0].pose;
    assert_true(pose.position.x == 0.5 && pose.position.y == 0 && pose.position.z == 2);
    double R[9];
    quat_matrix(R, (double[4]){pose.orientation.w, pose.orientation.x, pose.orientation.y,
                               pose.orientation.z});
    assert_true(fabs(R[2] - 1) < 1e-15); // z is the body's x
    lw_builder_destroy(b);
}

// -------------------------------------------------------------------------------------- equalities

#define TWO_ARMS                                                                                   \
    "<body name='a'>" MASS                                                                         \
    "<joint name='ja' axis='0 1 0' ref='20'/><site name='sa' pos='0 0 1'/></body>"                 \
    "<body name='b' pos='1 0 0'>" MASS "<joint name='jb' axis='0 1 0' ref='-10'/></body>"

static void connect_and_weld_are_joints(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL(WORLD(
        TWO_ARMS) "<equality><connect name='c' body1='a' body2='b' anchor='.5 0 0'/>"
                  "<weld name='w' body1='a' body2='b'/><weld name='g' body1='a' relpose='1 0 0 1 0 "
                  "0 0'/>"
                  "<connect name='off' body1='a' anchor='0 0 0' active='false'/></equality>"));
    const lw_joint_desc *c = lwt_joint_of(b, "c"), *w = lwt_joint_of(b, "w"),
                        *g = lwt_joint_of(b, "g");
    assert_int_equal(c->type, LW_JOINT_SPHERICAL);
    NEAR(c->frame1.position.x, 0.5);
    NEAR(c->frame2.position.x, -0.5); // b is one metre away
    assert_int_equal(w->type, LW_JOINT_FIXED);
    NEAR(w->frame1.position.x, 1); // at the poses of the file
    assert_int_equal(g->body2.index, 0);
    NEAR(g->frame1.position.x, 1);
    assert_int_equal(lwt_warnings_with(b, "inactive equalities are not read (1): off"), 1);
    lw_builder_destroy(b);
}

static void two_connects_are_a_revolute_joint(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL(
        WORLD(TWO_ARMS) "<equality><connect name='one' body1='a' body2='b' anchor='.5 0 0'/>"
                        "<connect name='two' body1='b' body2='a' anchor='-.5 2 0'/></equality>"));
    const lw_joint_desc *j = lwt_joint_of(b, "one");
    double R[9], r[3];
    assert_int_equal(j->type, LW_JOINT_REVOLUTE);
    for (int side = 1; side <= 2; side++) {
        frame_of(j, side, R, r);
        NEAR(fabs(R[5]), 1); // about y
        NEAR(r[0], side == 1 ? 0.5 : -0.5);
    }
    for (int i = 0; i < b->desc.njoint; i++)
        if (b->desc.joint[i].name) assert_string_not_equal(b->desc.joint[i].name, "two");
    assert_int_equal(lwt_warnings_with(b, "are one revolute joint (1): one"), 1);
    lw_builder_destroy(b);
}

// q1 - ref1 = a0 + a1 (q2 - ref2) + a2 (q2 - ref2)^2 as a polynomial in q2.
static void joint_equalities_are_couplings(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL("<compiler angle='radian'/>" WORLD(
        TWO_ARMS) "<equality><joint joint1='jb' joint2='ja' polycoef='0 2 3'/></equality>"));
    assert_int_equal(b->desc.ncoupling, 1);
    const lw_coupling_desc *c = &b->desc.coupling[0];
    const double ref1 = -10, ref2 = 20;
    assert_int_equal(c->npolynomial, 3);
    NEAR(c->polynomial[0], ref1 - 2 * ref2 + 3 * ref2 * ref2);
    NEAR(c->polynomial[1], 2 - 6 * ref2);
    NEAR(c->polynomial[2], 3);
    lw_builder_destroy(b);
    b = read_mjcf(MODEL("<compiler angle='radian'/>" WORLD(
        TWO_ARMS) "<equality><joint joint1='ja' polycoef='.5'/></equality>"));
    const lw_joint_desc *held = lwt_joint_of(b, "ja");
    NEAR(b->desc.function[held->coordinate[0].motion.index - 1].value, 20.5);
    NEAR(held->q[0], 20.5);
    lw_builder_destroy(b);
}

// A four-bar closed by two connects moves like one closed by a revolute joint in the native file.
static void a_closed_loop_moves_as_the_native_model(void **state)
{
    (void)state;
    static const char mjcf[] = MODEL("<option gravity='3 0 -9'/>" WORLD(
        "<body name='crank'><inertial pos='0 0 .5' mass='1' diaginertia='.1 .1 .01'/>"
        "<joint name='A' axis='0 1 0'/><body name='coupler' pos='0 0 1'>"
        "<inertial pos='1 0 .25' mass='2' diaginertia='.2 .7 .6'/><joint name='B' axis='0 1 0'/>"
        "</body></body>"
        "<body name='rocker' pos='2 0 0'><inertial pos='0 0 .75' mass='1' diaginertia='.2 .2 .01'/>"
        "<joint name='D' axis='0 1 0'/></body>") "<equality><connect name='C' body1='rocker' "
                                                 "body2='coupler' anchor='0 0 1.5'/>"
                                                 "<connect body1='rocker' body2='coupler' "
                                                 "anchor='0 1 1.5'/></equality>");
    static const char native[] =
        "linkwork: 1\ngravity: [3, 0, -9]\nbodies:\n"
        "  crank: {mass: 1, inertia: [0.1, 0.1, 0.01, 0, 0, 0], com: [0, 0, 0.5]}\n"
        "  coupler: {mass: 2, inertia: [0.2, 0.7, 0.6, 0, 0, 0], com: [1, 0, 0.25], position: [0, "
        "0, 1]}\n"
        "  rocker: {mass: 1, inertia: [0.2, 0.2, 0.01, 0, 0, 0], com: [0, 0, 0.75], position: [2, "
        "0, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}\n"
        "  B: {type: revolute, between: [crank, coupler], at: [0, 0, 1], axis: [0, 1, 0]}\n"
        "  D: {type: revolute, between: [ground, rocker], at: [2, 0, 0], axis: [0, 1, 0]}\n"
        "  C: {type: revolute, between: [rocker, coupler], at: [2, 0, 1.5], axis: [0, 1, 0]}\n";
    double x[2][3];
    for (int k = 0; k < 2; k++) {
        lw_model *model = NULL;
        lw_sim *sim = NULL;
        lw_error error = {0};
        lw_options options;
        const lw_observation *o;
        const char *text = k ? native : mjcf;
        const lw_read_desc desc = {.format = k ? "yaml" : "mjcf"};
        if (lw_model_parse(text, strlen(text), "native", &desc, &model, NULL, &error))
            fail_msg("%d: %s", error.line, error.text);
        lw_options_default(&options);
        OK(lw_options_set(&options, "rtol", "1e-11", NULL));
        OK(lw_options_set(&options, "atol", "1e-11", NULL));
        OK(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error));
        OK(lw_sim_step(sim, 0.5));
        OK(lw_sim_observe(sim, LW_OBSERVE_POSE, &o));
        lw_body body;
        OK(lw_model_find_body(model, "coupler", &body));
        for (int i = 0; i < 3; i++) x[k][i] = o->position[body.index][i];
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
    for (int i = 0; i < 3; i++) assert_true(fabs(x[0][i] - x[1][i]) < 1e-8); // a hundred tolerances
    assert_true(fabs(x[0][2] - 1.25) > 0.01);                                // it moves
}

// ---------------------------------------------------------------------------------------- includes

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void includes_stay_in_the_folder(void **state)
{
    (void)state;
    char folder[] = "test_mjcf_XXXXXX", inner[64];
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/in", folder);
    OK(mkdir(inner, 0777));
    write_file(inner, "leg.xml", "<x>\n<body name='leg'>" MASS "<joint name='hip'/></body></x>");
    write_file(inner, "bad.xml", "<x>\n<body name='leg'>\n<joint type='rope'/></body></x>");
    write_file(inner, "shape.xml", "<x>\n<geom size='.1'/></x>");
    write_file(folder, "outside.xml", "<x/>");
    const lw_read_desc desc = {.folder = inner};
    lw_error error = {0};
    lw_builder *b = read_with(
        MODEL(WORLD("<body name='a'>" MASS "<include file='leg.xml'/></body>") "<equality/>"),
        &desc);
    assert_string_equal(b->desc.body[lwt_joint_of(b, "hip")->body1.index].name, "a");
    lw_builder_destroy(b);
    b = read_with(MODEL(WORLD("<body name='a'><joint/><include file='shape.xml'/></body>")), &desc);
    assert_int_equal(lwt_warnings_with(b, "shape.xml: contacts are not modelled"),
                     1); // with its file
    lw_builder_destroy(b);
    static const struct {
        const char *text, *part;
    } cases[] = {
        {MODEL("<include file='../outside.xml'/>"), "does not exist in the folder"},
        {MODEL("<include file='none.xml'/>"), "'none.xml' does not exist"},
        {MODEL("<include/>"), "no attribute 'file'"},
        {MODEL(WORLD("<include file='leg.xml'/><include file='leg.xml'/>")), "a second time"},
        {MODEL(WORLD("<include file='bad.xml'/>")), "unknown type 'rope'"}};
    for (int k = 0; k < LWI_COUNT(cases); k++) {
        assert_int_not_equal(LW_OK, read_desc(&b, cases[k].text, &desc, &error));
        if (!strstr(error.text, cases[k].part)) fail_msg("%s", error.text);
    }
    assert_non_null(strstr(error.file, "bad.xml")); // the file with the mistake
    assert_int_equal(error.line, 3);
    refuse(MODEL("<include file='leg.xml'/>"), LW_ERR_PARSE, 2, "from memory without a folder");
    static const char *const made[] = {"in/leg.xml",  "in/bad.xml", "in/shape.xml",
                                       "outside.xml", "in",         ""};
    for (int k = 0; k < LWI_COUNT(made); k++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, made[k]);
        OK(remove(path));
    }
}

// ---------------------------------------------------------------------------------------- refusals

static void mistakes_are_refused(void **state)
{
    (void)state;
    refuse("<robot/>", LW_ERR_PARSE, 1, "expected <mujoco>");
    refuse(MODEL(""), LW_ERR_MODEL, 1, "there is no <body>");
#define BODY(...) MODEL(WORLD("\n<body name='a'>" MASS __VA_ARGS__ "</body>"))
    refuse(BODY("<joint type='hing'/>"), LW_ERR_PARSE, 3, "unknown type 'hing'");
    refuse(BODY("<joint axis='0 0 0'/>"), LW_ERR_MODEL, 3, "zero vector");
    refuse(BODY("<joint axis='0 0'/>"), LW_ERR_PARSE, 3, "'0 0' is not 3 finite numbers");
    refuse(BODY("<joint damping='-1'/>"), LW_ERR_MODEL, 3, "damping is -1");
    refuse(BODY("<joint armature='-1'/>"), LW_ERR_MODEL, 3, "rotor of q0 has the inertia -1");
    refuse(BODY("<joint range='0 1' limited='maybe'/>"), LW_ERR_PARSE, 3,
           "expected true, false or auto");
    refuse(BODY("<joint class='leg'/>"), LW_ERR_MODEL, 3, "class 'leg' does not exist");
    refuse(BODY("<body><freejoint/></body>"), LW_ERR_MODEL, 3, "in bodies of the world only");
    refuse(BODY("<freejoint/><joint/>"), LW_ERR_MODEL, 3, "combined with another joint");
    refuse(BODY("<geom type='cone'/>"), LW_ERR_PARSE, 3, "unknown type 'cone'");
    refuse(MODEL(WORLD("<body><geom type='box' size='1 1'/></body>")), LW_ERR_MODEL, 2,
           "a box needs 3 positive numbers");
    refuse(MODEL(WORLD("<body><geom type='sphere' size='1' fromto='0 0 0 1 0 0'/></body>")),
           LW_ERR_PARSE, 2, "a sphere has no ends");
    refuse(MODEL(WORLD("<body><geom size='1' mass='-1'/></body>")), LW_ERR_MODEL, 2, "mass is -1");
    refuse(BODY("<body quat='0 0 0 0'/>"), LW_ERR_MODEL, 3, "its length is 0");
    refuse(BODY("<body quat='1 0 0 0' euler='0 0 0'/>"), LW_ERR_PARSE, 3, "both quat and euler");
    refuse(BODY("<body xyaxes='1 0 0 2 0 0'/>"), LW_ERR_MODEL, 3, "parallel");
    refuse(MODEL(WORLD("<body><inertial mass='1'/></body>")), LW_ERR_PARSE, 2,
           "no attribute 'pos'");
    refuse(MODEL(WORLD("<body><inertial pos='0 0 0' mass='1'/></body>")), LW_ERR_PARSE, 2,
           "one of diaginertia and fullinertia");
    refuse(BODY("<replicate count='3'/>"), LW_ERR_UNSUPPORTED, 3,
           "creates bodies that are not read");
    refuse(MODEL("<compiler coordinate='global'/>"), LW_ERR_UNSUPPORTED, 2, "global");
    refuse(MODEL("<compiler angle='grad'/>"), LW_ERR_PARSE, 2, "expected degree or radian");
    refuse(MODEL("<compiler eulerseq='xyw'/>"), LW_ERR_PARSE, 2, "three of xyzXYZ");
    refuse(MODEL("<default><default/></default>"), LW_ERR_PARSE, 2, "has no class");
}

// The schema of MuJoCo allows these at most once ("unique element 'joint' found 2 times"), included ones too;
// actuators share their defaults, and sections may be repeated.
static void elements_that_occur_once_are_refused_twice(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "joint",       "geom",   "site",     "motor",  "general",  "position", "velocity",
        "intvelocity", "damper", "cylinder", "muscle", "adhesion", "equality", "tendon",
        "mesh",        "camera", "light",    "pair",   "material"};
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        char text[400], part[200];
        snprintf(text, sizeof text,
                 MODEL("<default><default class='leg'>\n<%s/>\n<%s/></default></default>" WORLD(
                     "<body name='a'>" MASS "</body>")),
                 kinds[k], kinds[k]);
        snprintf(part, sizeof part,
                 "<default> of class 'leg': a second <%s>, the first is in line 3", kinds[k]);
        refuse(text, LW_ERR_PARSE, 4, part);
    }
    refuse(MODEL("<default><joint/><site/>\n<joint/></default>"), LW_ERR_PARSE, 3,
           "<default> of class 'main': a second <joint>");
    refuse(MODEL("<option>\n<flag/>\n<flag/></option>"), LW_ERR_PARSE, 4,
           "<option>: a second <flag>, the first is in line 3");
    refuse(BODY("\n" MASS), LW_ERR_PARSE, 4, "<body> 'a': a second <inertial>");
    refuse(MODEL("<default><default class='leg'/>\n<default class='leg'/></default>" WORLD(
               "<body name='a'>" MASS "</body>")),
           LW_ERR_PARSE, 3, "a second class 'leg', the first is in line 2");
    refuse(MODEL("<default>\n<default class='main'/></default>" WORLD("<body>" MASS "</body>")),
           LW_ERR_PARSE, 3, "a second class 'main', the first is in line 2");
    lw_builder_destroy(read_mjcf(
        MODEL("<compiler/><compiler/><option/><option/>"
              "<default><joint/><motor/><general/></default><default><joint/></default>" WORLD(
                  "<body name='a'>" MASS "</body>") "<worldbody/><equality/><equality/>")));
}

static void equalities_are_checked(void **state)
{
    (void)state;
#define TIED(...) MODEL(WORLD(TWO_ARMS) "<equality>\n" __VA_ARGS__ "</equality>")
    refuse(TIED("<connect body1='aa' anchor='0 0 0'/>"), LW_ERR_MODEL, 4,
           "body 'aa' does not exist (did you mean 'a'?)");
    refuse(TIED("<connect body1='a'/>"), LW_ERR_PARSE, 4, "has no anchor");
    refuse(TIED("<connect body1='a' body2='a' anchor='0 0 0'/>"), LW_ERR_MODEL, 4,
           "both ends are on one body");
    refuse(TIED("<joint joint1='jc'/>"), LW_ERR_MODEL, 4, "joint 'jc' does not exist");
    refuse(TIED("<weld site1='sa' site2='sb'/>"), LW_ERR_MODEL, 4, "site 'sb' does not exist");
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    lw_status status = LW_ERR_MEMORY;
    long n = 0;
    for (; status != LW_OK; n++) {
        lwt_failing f = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&f);
        lw_builder *b = NULL;
        status = read_desc(&b,
                           TIED("<connect body1='a' body2='b' anchor='.5 0 0'/><weld body1='a'/>"
                                "<joint joint1='ja' joint2='jb'/>"),
                           &(lw_read_desc){.allocator = &allocator}, NULL);
        if (status != LW_OK) assert_int_equal(LW_ERR_MEMORY, status);
        lw_builder_destroy(b);
        assert_int_equal(0, f.live);
    }
    assert_true(n > 3);
}

// ------------------------------------------------------------------------------------- keyframes

static const char
    keyed[] = // a free body, a ball in a rotated <frame>, a hinge with a reference, a slide
    MODEL("<compiler angle='degree'/>\n" WORLD(
        "<body name='a' pos='0 0 1'><freejoint name='f'/>" MASS
        "<body name='b' pos='1 0 0'><frame euler='0 0 90'><joint name='ball' "
        "type='ball'/></frame>" MASS
        "<body name='c' pos='1 0 0'><joint name='h' axis='0 1 0' ref='30'/>"
        "<joint name='s' type='slide' axis='1 0 0'/>" MASS
        "</body></body></body>") "<keyframe><key name='rest'/>"
                                 "<key name='home' time='3' qpos='1 2 3 0 0 0 2  0.6 0.8 0 0  0.5 "
                                 "0.25' "
                                 "qvel='1 0 0 0 0 1  0 0.1 0  7 8'/></keyframe>\n"
                                 "<keyframe><key name='short' qpos='1 2'/>"
                                 "<key name='none' qpos='1 2 3 0 0 0 0  1 0 0 0  0 "
                                 "0'/></keyframe>\n");

static lw_builder *read_key(const char *key, lw_status expected, const char *part)
{
    lw_builder *builder = NULL;
    lw_error error = {0};
    const lw_status status = read_desc(&builder, keyed, &(lw_read_desc){.keyframe = key}, &error);
    if (status != expected) fail_msg("%d: %s", status, error.text);
    if (part && !strstr(error.text, part)) fail_msg("%s", error.text);
    return builder;
}

// Numbers in the order of the file, in radians, quaternions normalized, velocities in our axes; other initial
// values are unchanged.
static void a_requested_keyframe_is_the_initial_state(void **state)
{
    (void)state;
    lw_builder *builder = read_key("home", LW_OK, NULL);
    const lw_joint_desc *j = builder->desc.joint;
    static const double free_q[7] = {1, 2, 3, 0, 0, 0, 1}; // half a revolution about z
    static const double free_qd[6] = {-1, 0, 0, 0, 0, 1};  // 1 along x of the world
    static const double ball_q[4] = {0.6, 0, -0.8, 0};     // x of the body is -y of the joint
    static const double ball_qd[3] = {0.1, 0, 0};          // y of the body is x of the joint
    for (int k = 0; k < 7; k++) NEAR(j[0].q[k], free_q[k]);
    for (int k = 0; k < 6; k++) NEAR(j[0].qd[k], free_qd[k]);
    for (int k = 0; k < 4; k++) NEAR(j[1].q[k], ball_q[k]);
    for (int k = 0; k < 3; k++) NEAR(j[1].qd[k], ball_qd[k]);
    NEAR(j[2].q[0], 0.5);
    NEAR(j[2].qd[0], 7);
    NEAR(j[3].q[0], 0.25);
    NEAR(j[3].qd[0], 8);
    lw_model *model;
    lw_error error = {0};
    if (lw_model_create(builder, &model, &error) != LW_OK) fail_msg("%s", error.text);
    const lwi_body *a = &model->body[1], *b = &model->body[2];
    NEAR(a->r0[2], 3);
    NEAR(a->v0[0], 1);
    NEAR(b->r0[0], 0); // a metre along x of a, which is -x of the world
    NEAR(b->quat0[0] * b->quat0[0] + b->quat0[1] * b->quat0[1],
         0); // half a revolution, then about x of b
    NEAR(b->quat0[2] / b->quat0[3], 0.8 / 0.6);
    lw_model_destroy(model);
    lw_builder_destroy(builder);
}

static void keyframes_are_used_on_request_only(void **state)
{
    (void)state;
    lw_builder *builder = read_key(NULL, LW_OK, NULL);
    NEAR(builder->desc.joint[2].q[0], 30 * degree);
    assert_false(builder->desc.joint[0].has_q);
    lw_builder_destroy(builder);
    lw_model *model = model_of(keyed);
    bool reported = false;
    for (int i = 0; i < lw_model_warning_count(model); i++) {
        const char *text = lw_model_warning(model, i);
        reported = reported || (strstr(text, "requested by name") && strstr(text, "home"));
    }
    assert_true(reported);
    lw_model_destroy(model);
    builder = read_key("rest", LW_OK, NULL); // empty
    NEAR(builder->desc.joint[2].q[0], 30 * degree);
    lw_builder_destroy(builder);
}

static void invalid_keyframes_are_refused(void **state)
{
    (void)state;
    read_key("hom", LW_ERR_MODEL, "did you mean 'home'?");
    read_key("short", LW_ERR_PARSE, "is not 13 finite numbers");
    read_key("none", LW_ERR_MODEL, "the quaternion of joint 'f' is zero");
    lw_model *model;
    lw_error error = {0};
    static const char native[] =
        "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n";
    const lw_read_desc desc = {.format = "yaml", .keyframe = "home"};
    assert_int_equal(LW_ERR_ARGUMENT,
                     lw_model_parse(native, strlen(native), "m.yaml", &desc, &model, NULL, &error));
    assert_non_null(strstr(error.text, "only MJCF has keyframes"));
    // the base is fixed: its numbers are ignored
    lw_builder *builder = NULL;
    OK(read_desc(&builder, keyed, &(lw_read_desc){.keyframe = "home", .base = LW_BASE_FIXED},
                 &error));
    NEAR(builder->desc.joint[3].q[0], 0.25);
    lw_builder_destroy(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_names_are_derived),
        cmocka_unit_test(orientations_agree),
        cmocka_unit_test(z_axes_take_the_smallest_rotation),
        cmocka_unit_test(euler_sequences),
        cmocka_unit_test(defaults_are_inherited),
        cmocka_unit_test(solids_have_the_inertia_of_their_slices),
        cmocka_unit_test(geoms_add_up),
        cmocka_unit_test(inertia_is_from_inertial_or_geoms_by_the_settings),
        cmocka_unit_test(joints_of_a_body_are_in_series),
        cmocka_unit_test(coordinates_are_those_of_the_file),
        cmocka_unit_test(bases),
        cmocka_unit_test(actuators_are_inputs),
        cmocka_unit_test(actuators_share_their_defaults),
        cmocka_unit_test(laws_and_ranges_of_actuators),
        cmocka_unit_test(a_damping_ratio_is_of_the_effective_inertia),
        cmocka_unit_test(welds_have_anchors),
        cmocka_unit_test(free_and_ball_joints_have_forces),
        cmocka_unit_test(sites_are_in_the_middle_of_fromto),
        cmocka_unit_test(connect_and_weld_are_joints),
        cmocka_unit_test(two_connects_are_a_revolute_joint),
        cmocka_unit_test(joint_equalities_are_couplings),
        cmocka_unit_test(a_closed_loop_moves_as_the_native_model),
        cmocka_unit_test(includes_stay_in_the_folder),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(elements_that_occur_once_are_refused_twice),
        cmocka_unit_test(equalities_are_checked),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(a_requested_keyframe_is_the_initial_state),
        cmocka_unit_test(keyframes_are_used_on_request_only),
        cmocka_unit_test(invalid_keyframes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
