// test_mjcf_forces.c -- reading MJCF: actuators, tendons, springs and equalities.
#include "io/mjcf/mjcf_cases.h"
#include "support/failing.h"
#include "support/mechanism.h"

#include <linkwork/dynamics.h>

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
                                                "<tendon><spatial name='rope' range='0 1'><site "
                                                "site='tip'/><site "
                                                "site='tip'/></spatial></tendon>"));
    const char *const inputs[] = {"j", "m", "thrust", "servo", "j_actuator5"};
    assert_true(lwt_joint_of(b, "j")->coordinate[0].effort.index == -1);
    assert_int_equal(b->desc.ninput, LWI_COUNT(inputs));
    for (int i = 0; i < LWI_COUNT(inputs); i++) assert_string_equal(b->desc.input[i], inputs[i]);
    NEAR(servo_of(b, "m")->law.gear, 40);
    NEAR(servo_of(b, "m")->law.gain[0], 1);
    assert_int_equal(servo_of(b, "m")->law.target.index, -2);
    NEAR(servo_of(b, "servo")->law.kp, 5);
    NEAR(servo_of(b, "servo")->law.kd, 2);
    const lw_wrench_desc *w = b->desc.force[LWI_ITEM_wrench].desc;
    NEAR(w->force.z, 3);
    NEAR(w->point.z, 1);
    assert_true(w->body_axes && w->scale.index == -3);
    assert_int_equal(lwt_warnings_with(b, "ball and free joints are not read (1): ball"), 1);
    assert_int_equal(lwt_warnings_with(b, "as <muscle>, are not read (1): thigh"), 1);
    assert_int_equal(lwt_warnings_with(b, "as <position>, are not read (1): slow"), 1);
    assert_int_equal(lwt_warnings_with(b, "limits are not enforced, tendons (1): rope"), 1);
    lw_builder_destroy(b);
}

// Limits of tendons are stops that only push back: of the given stiffness, or scaled by the inertia along the tendon.  That
// is 1 / (1/2 + 4/3) kg of the fixed one and 1 / (0.7^2 / 2 + 0.3^2 / 3) kg of the spatial one, the length of which changes as
// x + 0.6 (y - x) / 2.
static void limits_of_tendons_are_stops(void **state)
{
    (void)state;
    static const char text[] = MODEL(WORLD(
        "<site name='o' pos='-1 0 0'/><site name='o2'/>"
        "<body name='a'><joint name='x' type='slide' axis='1 0 0'/><geom size='0.1' mass='2'/>"
        "<site name='s'/></body>"
        "<body name='b'><joint name='y' type='slide' axis='1 0 0'/><geom size='0.1' mass='3'/>"
        "<site name='t' pos='3 4 0'/></body>") "<tendon><fixed name='sum' range='-0.1 0.2'><joint "
                                               "joint='x' coef='1'/>"
                                               "<joint joint='y' coef='2'/></fixed>"
                                               "<spatial name='rope' range='0 1.05'><site "
                                               "site='o'/><site site='s'/>"
                                               "<pulley divisor='2'/><site site='s'/><site "
                                               "site='t'/></spatial>"
                                               "<spatial name='still' range='0 1'><site "
                                               "site='o'/><site site='o2'/></spatial>"
                                               "</tendon>");
    const lw_read_desc given = {.limits = {.stiffness = 1e4, .damping = 10}},
                       scaled = {.limits_time = 0.02};
    lw_builder *b = read_with(text, &given);
    const lw_tendon_desc *rope = b->desc.force[LWI_ITEM_tendon].desc;
    near3(servo_of(b, "sum_upper")->law.bias, 2000, -1e4, -10);
    near3(servo_of(b, "sum_lower")->law.bias, -1000, -1e4, -10);
    assert_true(servo_of(b, "sum_upper")->law.effort_range[1] == 0);
    assert_true(servo_of(b, "sum_lower")->law.effort_range[0] == 0);
    assert_int_equal(b->desc.force[LWI_ITEM_tendon].n, 4);
    assert_string_equal(rope[1].name, "rope_upper");
    near3(rope[1].law.bias, 10500, -1e4, -10);
    assert_int_equal(lwt_warnings_with(b, "limits are stops, tendons (3): sum, rope, still"), 1);
    lw_builder_destroy(b);
    b = read_with(text, &scaled);
    const double m = 1 / (1 / 2.0 + 4 / 3.0), k = m / 4e-4;
    near3(servo_of(b, "sum_upper")->law.bias, 0.2 * k, -k, -100 * m);
    const double M = 1 / (0.49 / 2 + 0.09 / 3), K = M / 4e-4;
    rope = b->desc.force[LWI_ITEM_tendon].desc;
    assert_int_equal(b->desc.force[LWI_ITEM_tendon].n, 2);
    assert_string_equal(rope[0].name, "rope_lower");
    near3(rope[1].law.bias, 1.05 * K, -K, -100 * M);
    assert_int_equal(lwt_warnings_with(b, "limits are stops, tendons (2): sum, rope"), 1);
    assert_int_equal(lwt_warnings_with(b, "with inertia moves with the tendons (1): still"), 1);
    lw_builder_destroy(b);
}

// Names that formulas use for the time and for numbers are none of inputs.
static void inputs_have_names_that_formulas_can_use(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL(WORLD(
        "<body name='a'>" MASS "<joint name='e'/></body>") "<actuator><motor joint='e'/>"
                                                           "<motor name='t' joint='e' gear='2'/>"
                                                           "<motor name='t_' joint='e' gear='2'/>"
                                                           "</actuator>"));
    const char *const inputs[] = {"e_", "t__", "t_"};
    assert_int_equal(b->desc.ninput, LWI_COUNT(inputs));
    for (int i = 0; i < LWI_COUNT(inputs); i++) assert_string_equal(b->desc.input[i], inputs[i]);
    assert_int_equal(lwt_warnings_with(b, "are named t_, pi_ and e_ (2): e, t"), 1);
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
        NEAR(m->law.gear, 3);
        near3(m->law.gain, 1, 0, 0);
        near3(m->law.bias, 0, 0, 0);
        NEAR(p->law.kp, 9);
        NEAR(p->law.kd, i == 1 ? 4 : i == 3 ? 1 : i == 2 ? 1 : 0); // <velocity> has kv = gain = 1
        lw_builder_destroy(b);
    }
}

static void laws_and_ranges_of_actuators(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL("<compiler angle='radian'/>" WORLD(
        "<body name='a'>" MASS
        "<joint name='j' range='-1 3' actuatorfrcrange='-8 6' armature='.1' damping='.2'/></body>"
        "<body name='b'>" MASS "<joint name='k' range='0 2'/></body>"
        "<body name='c'>" MASS
        "<joint name='l'/></body>") "<actuator>"
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
                                    "<general name='t' tendon='pair' gainprm='2' "
                                    "biastype='affine' biasprm='0 -2 -1'/>"
                                    "</actuator><default><tendon "
                                    "damping='.3'/></default>"
                                    "<tendon><fixed name='both' stiffness='10'><joint "
                                    "joint='j' coef='.5'/>"
                                    "<joint joint='k' coef='-2'/></fixed>"
                                    "<fixed name='pair'><joint joint='l' coef='.5'/>"
                                    "<joint joint='k' coef='-2'/></fixed></tendon>"));
    const lw_servo_desc *v = servo_of(b, "v"), *d = servo_of(b, "d"), *g = servo_of(b, "g");
    const lw_servo_desc *p = servo_of(b, "p"), *t = servo_of(b, "t_");
    near3(v->law.gain, 3, 0, 0);
    NEAR(v->law.kd, 3);
    assert_false(v->law.has_effort_range || v->law.has_target_range);
    near3(d->law.gain, 0, 0, -4);
    assert_true(d->law.has_target_range && d->law.target_range[1] == 1);
    near3(g->law.gain, 1, 2, 3);
    near3(g->law.bias, 4, 5, 6);
    assert_true(g->law.has_effort_range && g->law.effort_range[0] == -7 &&
                g->law.target_range[0] == -1);
    NEAR(p->law.kp, 2);
    NEAR(p->law.target_range[0], 0); // half of the range, about its middle
    NEAR(p->law.target_range[1], 2);
    // -2 f within [-8, 6] is f within [-3, 4], and f within [-5, 3.5]
    NEAR(p->law.effort_range[0], -3);
    NEAR(p->law.effort_range[1], 3.5);
    NEAR(lwt_joint_of(b, "j")->coordinate[0].rotor, 0.1 + 4 * 0.25);
    NEAR(lwt_joint_of(b, "j")->coordinate[0].damping, 0.2 + 4 * 0.5);
    assert_int_equal(t->nterm, 2);
    NEAR(t->terms[1].factor, -2);
    NEAR(t->law.kp, 2);
    near3(servo_of(b, "both_spring")->law.bias, 0, -10, -0.3);
    lw_builder_destroy(b);
}

// Paths of sites, geoms and pulleys; the spring, damper and friction are one tendon, each actuator is one more.
static void spatial_tendons_and_slider_cranks(void **state)
{
    (void)state;
    lw_builder *b =
        read_mjcf(MODEL("<compiler angle='radian'/>" WORLD(
            "<site name='s' pos='0 0 2'/>"
            "<body name='a' pos='1 0 0'>" MASS
            "<joint name='j'/><site name='t' pos='.1 .2 .3' euler='0 1.5707963267948966 0'/>"
            "<geom name='tube' type='cylinder' fromto='0 -1 0 0 1 0' size='.3' mass='0'/>"
            "<geom name='ball' type='sphere' pos='0 0 1' size='.2' mass='0'/>"
            "<geom name='box' type='box' size='.1 .1 .1' mass='0'/></body>") //
                        "<default><tendon stiffness='7' frictionloss='.5'/></default>"
                        "<tendon><spatial name='r' springlength='.5 .8' damping='2'>"
                        "<site site='s'/><geom geom='tube' sidesite='s'/><site "
                        "site='t'/><pulley divisor='2'/>"
                        "<site site='s'/><geom geom='ball'/><site site='t'/></spatial>"
                        "<spatial name='rest'><site site='s'/><site site='t'/></spatial>"
                        "</tendon><actuator>"
                        "<position name='p' tendon='r' kp='3' gear='2' ctrlrange='0 1'/>"
                        "<motor name='c' cranksite='s' slidersite='t' cranklength='4'/>"
                        "</actuator>"));
    assert_int_equal(b->desc.force[LWI_ITEM_tendon].n, 4);
    const lw_tendon_desc *d = b->desc.force[LWI_ITEM_tendon].desc;
    assert_string_equal(d->name, "r_spring");
    assert_int_equal(d->npath, 7);
    NEAR(d->path[0].point.z, 2);
    NEAR(d->path[1].radius, 0.3);
    NEAR(fabs(d->path[1].axis.y), 1);
    assert_true(d->path[1].has_side && d->path[1].side.z == 2 && d->path[1].side_body.index == 0);
    NEAR(d->path[3].pulley, 2);
    assert_true(d->path[5].radius == 0.2 && d->path[5].axis.z == 0 && !d->path[5].has_side);
    NEAR(d->length, 0.8);
    NEAR(d->slack, 0.3);
    NEAR(d->stiffness, 7);
    NEAR(d->damping, 2);
    NEAR(d->coulomb, 0.5);
    assert_string_equal(d[1].name, "rest_spring");
    NEAR(d[1].length, sqrt(1.1 * 1.1 + 0.2 * 0.2 + 1.7 * 1.7));
    assert_string_equal(d[2].name, "p");
    assert_true(d[2].npath == 7 && d[2].stiffness == 0 && d[2].law.has_target_range);
    NEAR(d[2].law.kp, 3);
    NEAR(d[2].law.gear, 2);
    assert_true(d[3].slider_crank.present && d[3].slider_crank.crank.index == 0);
    NEAR(d[3].slider_crank.rod, 4);
    NEAR(d[3].slider_crank.axis.x, 1);
    NEAR(d[3].law.gain[0], 1);
    lw_builder_destroy(b);
}

static void mistakes_in_paths_are_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"<spatial/>", "<spatial>: no sites, expected two or more"},
        {"<spatial><site site='s'/><site site='z'/></spatial>", "site 'z' does not exist"},
        {"<spatial><site site='s'/><geom geom='box'/><site site='s'/></spatial>",
         "geom 'box' is no sphere or cylinder"},
        {"<spatial><site site='s'/><pulley divisor='0'/><site site='s'/></spatial>",
         "<pulley>: divisor is 0"},
        {"<spatial name='n' stiffness='1'><site site='s'/><geom geom='ball'/></spatial>",
         "an obstacle, expected one between two points"},
    };
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 MODEL(WORLD("<site name='s'/><geom name='box' type='box' size='1 1 1'/><geom "
                             "name='ball' size='1'/><body name='a'>" MASS
                             "<joint/></body>") "<tendon>%s</tendon>"),
                 cases[i][0]);
        lw_model *model = NULL;
        lw_error error = {0};
        const lw_read_desc desc = {.format = "mjcf"};
        assert_int_not_equal(
            lw_model_parse(text, strlen(text), "t.xml", &desc, &model, NULL, &error), LW_OK);
        if (!strstr(error.text, cases[i][1])) fail_msg("%s: %s", cases[i][0], error.text);
    }
}

// actuatorfrcrange limits the sum of all actuators of a joint, those of tendons among them.
static void ranges_of_joints_limit_sums(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL("<option gravity='0 0 0'/><compiler angle='radian'/>" WORLD(
        "<body name='a'><inertial mass='1' pos='0 0 0' diaginertia='2 2 2'/>"
        "<joint name='left one' actuatorfrcrange='-.5 .5'/></body>"
        "<body name='b'><inertial mass='1' pos='0 0 0' diaginertia='2 2 2'/>"
        "<joint name='right' actuatorfrcrange='-.5 .5'/></body>"
        "<body name='c'><inertial mass='1' pos='0 0 0' diaginertia='2 2 2'/>"
        "<joint name='free'/></body>") "<tendon><fixed name='forward'><joint joint='left one' "
                                       "coef='.5'/>"
                                       "<joint joint='right' coef='.5'/></fixed>"
                                       "<fixed name='turn'><joint joint='left one' "
                                       "coef='-.5'/><joint joint='right' coef='.5'/>"
                                       "<joint joint='free' coef='3'/></fixed></tendon>"
                                       "<actuator><motor name='f' tendon='forward' ctrlrange='-1 "
                                       "1' ctrllimited='true'/>"
                                       "<motor name='t' tendon='turn' gear='2'/>"
                                       "<general name='p' joint='right' gainprm='2' "
                                       "biastype='affine' biasprm='.1 -2 -.25' "
                                       "forcerange='-.3 9' forcelimited='true'/>"
                                       "<motor name='m' joint='free'/></actuator>"));
    lw_model *model;
    lw_dynamics *dynamics;
    lw_error error;
    lwt_ok(lw_model_create(b, &model, &error), &error);
    lwt_ok(lw_dynamics_create(model, NULL, &dynamics, &error), &error);
    const double q[3] = {0.2, 0.3, 0.4}, v[3] = {1, 2, 3};
    for (int k = 0; k < 3; k++) { // the control of f: within its range, above it
        const double f = k == 0 ? 0.4 : k == 1 ? 0.9 : 5, t = k == 2 ? -0.9 : 0.2, p = 0.4, m = 7;
        const double forward = fmin(f, 1), servo = fmax(-0.3, 2 * p + 0.1 - 2 * q[1] - 0.25 * v[1]);
        const double left = 0.5 * forward - 0.5 * 2 * t,
                     right = 0.5 * forward + 0.5 * 2 * t + servo;
        double vdot[3];
        const double inputs[4] = {f, t, p, m};
        lwt_ok(lw_forward_dynamics(dynamics, 0, q, v, NULL, inputs, vdot), &error);
        NEAR(vdot[0], fmax(-0.5, fmin(0.5, left)) / 2);
        NEAR(vdot[1], fmax(-0.5, fmin(0.5, right)) / 2);
        NEAR(vdot[2], (3 * 2 * t + m) / 2);
    }
    lw_dynamics_destroy(dynamics);
    lw_model_destroy(model);
    lw_builder_destroy(b);
}

// actuatorgravcomp: the compensation w of gravity counts as effort of the actuators, within the range of the joint; without
// actuators there is none.  A site has the name of the marker on the axis, a body that of its joint.
static void compensation_counts_as_effort(void **state)
{
    (void)state;
    static const char world[] =
        "<mujoco><compiler angle='radian'/><option gravity='0 0 -10'/><worldbody>"
        "<body name='j' gravcomp='1'><inertial mass='2' pos='.5 0 0' diaginertia='1 1 1'/>"
        "<joint name='j' axis='0 -1 0' actuatorfrcrange='-4 6' actuatorgravcomp='true'/>"
        "<site name='j_anchor'/></body>"
        "<body name='b' gravcomp='.5'><inertial mass='3' pos='0 0 0' diaginertia='1 1 1'/>"
        "<joint name='s' type='slide' actuatorfrcrange='-20 20' actuatorgravcomp='true'/></body>"
        "</worldbody>";
    char text[2048];
    for (int acts = 0; acts <= 1; acts++) {
        snprintf(text, sizeof text, "%s%s</mujoco>", world,
                 acts ? "<actuator><position name='p' joint='j' kp='8' dampratio='.5'/>"
                        "<motor name='m' joint='s'/></actuator>"
                      : "");
        lw_builder *b = read_mjcf(text);
        assert_int_equal(lwt_warnings_with(b, "compensation"), 0);
        lw_model *model;
        lw_dynamics *dynamics;
        lw_error error;
        lwt_ok(lw_model_create(b, &model, &error), &error);
        lwt_ok(lw_dynamics_create(model, NULL, &dynamics, &error), &error);
        const double q[2] = {0.3, 0.2}, v[2] = {0.7, -0.2}, J = 1 + 2 * 0.25;
        const double weight = 2 * 10 * 0.5 * cos(q[0]), kd = 2 * 0.5 * sqrt(8 * J);
        for (int k = 0; k < 3; k++) {                        // below, within and above the ranges
            const double inputs[2] = {k - 1.5, 40 * k - 60}; // controls
            const double p = 8 * (inputs[0] - q[0]) - kd * v[0] + weight, m = inputs[1] + 15;
            double vdot[2];
            lwt_ok(lw_forward_dynamics(dynamics, 0, q, v, NULL, inputs, vdot), &error);
            NEAR(vdot[0], ((acts ? fmax(-4, fmin(6, p)) : 0) - weight) / J);
            NEAR(vdot[1], (acts ? fmax(-20, fmin(20, m)) : 0) / 3 - 10);
            assert_true(k != 1 || (p > -4 && p < 6 && m > -20 && m < 20));
        }
        lw_dynamics_destroy(dynamics);
        lw_model_destroy(model);
        lw_builder_destroy(b);
    }
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
    NEAR(servo_of(b, "p")->law.kd, 2 * 0.7 * sqrt(4 * 25 / 4.0));
    NEAR(servo_of(b, "q")->law.kd, 2 * 0.7 * sqrt(4 * (19 + 4 * 25.0)));
    lw_builder_destroy(b);
}

// With m = n / sum (M^-1)_ii: the damping is 2 m / T, the stiffness m / (T z)^2; they replace those that are stated, not the
// damping of an actuator.
static void springs_have_time_constants(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(
        MODEL("<default><joint springdamper='.5 .25' damping='7' stiffness='9'/></default>" WORLD(
            "<body name='a'><inertial mass='2' pos='3 0 1' diaginertia='1 1 1'/>"
            "<joint name='j' axis='0 0 1' armature='6' ref='20' springref='40'/></body>"
            "<body name='s' pos='9 0 0'><inertial mass='2' pos='3 0 1' diaginertia='1 1 1'/>"
            "<joint name='s' type='slide' springdamper='2 1'/></body>"
            "<body name='o' pos='9 0 0'><inertial mass='2' pos='0 0 0' diaginertia='1 1 2'/>"
            "<joint name='o' type='ball'/></body>"
            "<body name='k' pos='9 0 0'><inertial mass='2' pos='3 0 1' diaginertia='1 1 1'/>"
            "<joint name='k' springdamper='0 0'/></body>") "<actuator><motor joint='j' gear='2' "
                                                           "damping='3'/></actuator>"));
    const lw_coordinate_desc *j = lwt_joint_of(b, "j")->coordinate,
                             *s = lwt_joint_of(b, "s")->coordinate,
                             *k = lwt_joint_of(b, "k")->coordinate;
    const double m = 1 + 2 * 9.0 + 6, n = 3 / (1 + 1 + 0.5);
    NEAR(j->damping, 2 * m / 0.5 + 4 * 3);
    NEAR(j->stiffness, m / (0.125 * 0.125));
    NEAR(j->at, acos(-1) * 40 / 180);
    NEAR(s->damping, 2);
    NEAR(s->stiffness, 0.5);
    NEAR(lwt_joint_of(b, "o")->damping, 2 * n / 0.5);
    NEAR(((const lw_bushing_desc *)b->desc.force[LWI_ITEM_bushing].desc)->stiffness[4],
         n / (0.125 * 0.125));
    NEAR(k->damping, 7);
    NEAR(k->stiffness, 9);
    lw_builder_destroy(b);
}

// Attributes of numbers that are empty are absent.
static void empty_numbers_are_absent(void **state)
{
    (void)state;
    lw_builder *b = read_mjcf(MODEL("<default><geom rgba='1 0 .5 1'/></default>" WORLD(
        "<body name='a' pos='' quat=' '><inertial mass='2' pos='' diaginertia='1 1 1'/>"
        "<joint name='j' axis='' damping=''/><geom size='1' rgba='' mass=''/></body>")));
    const lw_body_desc *a = &b->desc.body[1];
    assert_int_equal(a->nshape, 1);
    assert_true(a->shapes[0].has_color && (float)a->shapes[0].color[2] == 0.5f);
    NEAR(lwt_joint_of(b, "j")->frame1.orientation.w, 1);
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

static void equalities_are_checked(void **state)
{
    (void)state;
    refuse(TIED("<connect body1='aa' anchor='0 0 0'/>"), LW_ERR_MODEL, 4,
           "body 'aa' does not exist (did you mean 'a'?)");
    refuse(TIED("<connect body1='a'/>"), LW_ERR_PARSE, 4, "has no anchor");
    refuse(TIED("<connect body1='a' body2='a' anchor='0 0 0'/>"), LW_ERR_MODEL, 4,
           "both ends are on one body");
    refuse(TIED("<joint joint1='jc'/>"), LW_ERR_MODEL, 4, "joint 'jc' does not exist");
    refuse(TIED("<weld site1='sa' site2='sb'/>"), LW_ERR_MODEL, 4, "site 'sb' does not exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actuators_are_inputs),
        cmocka_unit_test(limits_of_tendons_are_stops),
        cmocka_unit_test(inputs_have_names_that_formulas_can_use),
        cmocka_unit_test(actuators_share_their_defaults),
        cmocka_unit_test(laws_and_ranges_of_actuators),
        cmocka_unit_test(spatial_tendons_and_slider_cranks),
        cmocka_unit_test(mistakes_in_paths_are_named),
        cmocka_unit_test(ranges_of_joints_limit_sums),
        cmocka_unit_test(compensation_counts_as_effort),
        cmocka_unit_test(a_damping_ratio_is_of_the_effective_inertia),
        cmocka_unit_test(springs_have_time_constants),
        cmocka_unit_test(empty_numbers_are_absent),
        cmocka_unit_test(welds_have_anchors),
        cmocka_unit_test(free_and_ball_joints_have_forces),
        cmocka_unit_test(sites_are_in_the_middle_of_fromto),
        cmocka_unit_test(connect_and_weld_are_joints),
        cmocka_unit_test(two_connects_are_a_revolute_joint),
        cmocka_unit_test(joint_equalities_are_couplings),
        cmocka_unit_test(a_closed_loop_moves_as_the_native_model),
        cmocka_unit_test(equalities_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
