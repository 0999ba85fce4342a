// test_mjcf.c -- reading MJCF: bodies with several joints, defaults, inertia from geoms,
// orientations, includes, keyframes, errors and notes.
#include "io/mjcf/mjcf_cases.h"
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
    refuse(BODY("<joint springdamper='1 0'/>"), LW_ERR_MODEL, 3, "both > 0");
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

static void every_failing_allocation_of(const char *text)
{
    lw_status status = LW_ERR_MEMORY;
    long n = 0;
    for (; status != LW_OK; n++) {
        lwt_failing f = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&f);
        lw_builder *b = NULL;
        status = read_desc(&b, text, &(lw_read_desc){.allocator = &allocator}, NULL);
        if (status != LW_OK) assert_int_equal(LW_ERR_MEMORY, status);
        lw_builder_destroy(b);
        assert_int_equal(0, f.live);
    }
    assert_true(n > 3);
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    every_failing_allocation_of(TIED("<connect body1='a' body2='b' anchor='.5 0 0'/>"
                                     "<weld body1='a'/><joint joint1='ja' joint2='jb'/>"));
    every_failing_allocation_of(
        MODEL(WORLD("<body name='a'>" MASS "<joint name='j' springdamper='.1 .5'/></body>")));
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
        cmocka_unit_test(includes_stay_in_the_folder),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(elements_that_occur_once_are_refused_twice),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(a_requested_keyframe_is_the_initial_state),
        cmocka_unit_test(keyframes_are_used_on_request_only),
        cmocka_unit_test(invalid_keyframes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
