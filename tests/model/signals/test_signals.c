// test_signals.c -- signals that read bodies, markers, springs and one another: against equivalent formulas of joint
// coordinates in every formulation; derivatives; outputs; power; refusals.
#include "methods/index3/index3.h"
#include "model/model.h"
#include "model/outputs.h"
#include "simulate/simulation.h"
#include "support/mechanism.h"

#include <linkwork/dynamics.h>

// A cart on a rail with a pendulum, from (0, 0) to (0.6, -0.8); with `loop`, a rod from its end to the ground.
typedef struct cart {
    lw_builder *b;
    lw_joint_desc rail, hinge;
    lw_body cart, rod;
    bool loop;
} cart;

static cart start(bool loop)
{
    cart c = {.b = lwt_builder(), .loop = loop};
    lw_error error;
    c.cart =
        lwt_body(c.b, &(lw_body_desc){.name = "cart", .mass = 2, .inertia = {1, 1, 1, 0, 0, 0}});
    c.rod = lwt_rod(c.b, "rod", 0, 0, 0.6, -0.8, 1);
    c.rail = (lw_joint_desc){.name = "rail",
                             .type = LW_JOINT_PRISMATIC,
                             .body1 = lwt_ground,
                             .body2 = c.cart,
                             .axis = {1, 0, 0}};
    c.hinge = (lw_joint_desc){.name = "hinge",
                              .type = LW_JOINT_REVOLUTE,
                              .body1 = c.cart,
                              .body2 = c.rod,
                              .axis = {0, 0, 1},
                              .has_qd = !loop,
                              .qd = {0.7}};
    lwt_ok(lw_builder_add_marker(
               c.b,
               &(lw_marker_desc){.name = "tip", .body = c.rod, .pose = {{0.5, 0, 0}, {1, 0, 0, 0}}},
               &error),
           &error);
    lwt_ok(lw_builder_add_marker(c.b,
                                 &(lw_marker_desc){.name = "home",
                                                   .body = lwt_ground,
                                                   .pose = {{0, 0, 0}, {1, 0, 0, 0}}},
                                 &error),
           &error);
    lwt_spring(c.b,
               &(lw_spring_desc){
                   .name = "wire", .body1 = lwt_ground, .body2 = c.cart, .point1 = {-9, 0, 0}});
    return c;
}

static lw_model *finish(cart *c)
{
    lwt_add(c->b, &c->rail);
    lwt_add(c->b, &c->hinge);
    if (c->loop) {
        const lw_body third = lwt_rod(c->b, "third", 0.6, -0.8, 1.8, 0, 0.5);
        lwt_joint(c->b, LW_JOINT_REVOLUTE, "knee", c->rod, third, 0.6, -0.8);
        lwt_joint(c->b, LW_JOINT_REVOLUTE, "foot", lwt_ground, third, 1.8, 0);
    }
    return lwt_model(c->b);
}

static lw_signal named(lw_builder *b, const char *name, const char *text)
{
    return lwt_function(
        b, &(lw_function_desc){.name = name, .type = LW_FUNCTION_FORMULA, .formula = text});
}

typedef struct result {
    double q[8], energy_error;
} result;

static result run(const lw_model *model, const char *formulation)
{
    lw_sim *sim;
    lw_error error = {0};
    lw_options options;
    lw_summary summary;
    const lw_observation *o;
    result r = {0};
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", formulation, &error), &error);
    lwt_ok(lw_options_set(&options, "integrator", "rk4", &error), &error);
    lwt_ok(lw_options_set(&options, "step", "0.005", &error), &error);
    lwt_ok(lw_options_set(&options, "duration", "0.5", &error), &error);
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    const lw_status status = lw_sim_run(sim, LW_OBSERVE_REACTION, NULL, NULL, NULL, NULL);
    lwt_ok(status, lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
    lw_sim_summary(sim, &summary);
    memcpy(r.q, o->q, (size_t)lw_model_nq(model) * sizeof(double));
    r.energy_error = summary.energy_error;
    lw_sim_destroy(sim);
    return r;
}

// The effort on the rail by what signals read equals that by coordinates of the joints.
static const struct {
    const char *read, *joints;
} equal[] = {
    {"-5*body.cart.x - 2*body.cart.vx", "-5*rail.q0 - 2*rail.qd0"},
    {"-3*marker.tip.x*marker.tip.y", "-3*(rail.q0 + 0.6*cos(hinge.q0) + 0.8*sin(hinge.q0))"
                                     "*(0.6*sin(hinge.q0) - 0.8*cos(hinge.q0))"},
    {"-2*marker.tip.vy + body.rod.wz",
     "-2*hinge.qd0*(0.6*cos(hinge.q0) + 0.8*sin(hinge.q0)) + hinge.qd0"},
    {"marker.tip.wz*joint.rail.q0", "hinge.qd0*rail.q0"},
    {"-4*(spring.wire.length - 9) - spring.wire.rate", "-4*rail.q0 - rail.qd0"},
    {"-distance(home, tip) - 3*distance_rate(tip, home)",
     "-hypot(rail.q0 + 0.6*cos(hinge.q0) + 0.8*sin(hinge.q0), 0.6*sin(hinge.q0) - "
     "0.8*cos(hinge.q0))"
     " - 3*((rail.q0 + 0.6*cos(hinge.q0) + 0.8*sin(hinge.q0))*(rail.qd0 + "
     "hinge.qd0*(0.8*cos(hinge.q0)"
     " - 0.6*sin(hinge.q0))) + (0.6*sin(hinge.q0) - 0.8*cos(hinge.q0))*hinge.qd0*(0.6*cos(hinge.q0)"
     " + 0.8*sin(hinge.q0)))/hypot(rail.q0 + 0.6*cos(hinge.q0) + 0.8*sin(hinge.q0),"
     " 0.6*sin(hinge.q0) - 0.8*cos(hinge.q0))"},
    {"-reach^2 + half*home_is", "-(2*rail.q0 + hinge.q0)^2 + (2*rail.q0 + hinge.q0)/2"},
};

static lw_model *with_effort(const char *text, bool loop)
{
    cart c = start(loop);
    named(c.b, "reach", "2*rail.q0 + hinge.q0");
    named(c.b, "half", "reach/2");
    lwt_function(c.b, &(lw_function_desc){.name = "home_is", .value = 1});
    c.rail.coordinate[0].effort = named(c.b, "push", text);
    return finish(&c);
}

static void readings_are_those_of_the_coordinates(void **state)
{
    (void)state;
    static const char *const trees[] = {"aba", "momenta", "dense", "dca", "hdca", "lagrange"};
    static const char *const loops[] = {"dense", "dca", "hdca", "rcr", "lagrange"};
    for (int i = 0; i < LWI_COUNT(equal); i++)
        for (int loop = 0; loop < 2; loop++) {
            lw_model *a = with_effort(equal[i].read, loop);
            lw_model *b = with_effort(equal[i].joints, loop);
            const char *const *list = loop ? loops : trees;
            for (int f = 0; f < (loop ? LWI_COUNT(loops) : LWI_COUNT(trees)); f++) {
                const result x = run(a, list[f]), y = run(b, list[f]);
                for (int k = 0; k < lw_model_nq(a); k++)
                    // joints of `dense` have gaps as large as the truncation error of RK4
                    if (!(fabs(x.q[k] - y.q[k]) < 1e-9))
                        fail_msg("%s of '%s', joint coordinate %d: %.17g, expected %.17g", list[f],
                                 equal[i].read, k, x.q[k], y.q[k]);
                assert_true(x.energy_error <
                            1e-6); // the work is that of the power: truncation of RK4
            }
            lw_model_destroy(a);
            lw_model_destroy(b);
        }
}

// A straight curve over the rate of the spring is its damper, in every element that takes a signal.
static void curves_and_maps_are_laws_of_forces(void **state)
{
    (void)state;
    static const double x[] = {-50, -1, 2, 50}, y[] = {150, 3, -6, -150}, z[] = {-9, 0, 30};
    double rows[4][3];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) rows[i][j] = y[i] + 0 * z[j];
    for (int how = 0; how < LW_INTERPOLATION_COUNT; how++)
        for (int map = 0; map < 2; map++) {
            cart a = start(false), b = start(false);
            const lw_signal law = lwt_function(
                a.b, &(lw_function_desc){.name = "law",
                                         .type = map ? LW_FUNCTION_MAP : LW_FUNCTION_CURVE,
                                         .t = x,
                                         .y = map ? &rows[0][0] : y,
                                         .npoint = 4,
                                         .x2 = z,
                                         .npoint2 = 3,
                                         .formula = "spring.damper.rate",
                                         .formula2 = "rail.q0",
                                         .interpolation = (lw_interpolation)how});
            lwt_spring(a.b, &(lw_spring_desc){.name = "damper",
                                              .body1 = lwt_ground,
                                              .body2 = a.cart,
                                              .point1 = {-9, 0, 0},
                                              .force = law});
            lwt_spring(b.b, &(lw_spring_desc){.name = "damper",
                                              .body1 = lwt_ground,
                                              .body2 = b.cart,
                                              .point1 = {-9, 0, 0},
                                              .damping = 3});
            lw_model *one = finish(&a), *other = finish(&b);
            const result p = run(one, "dense"), q = run(other, "dense");
            for (int k = 0; k < 2; k++) assert_true(fabs(p.q[k] - q.q[k]) < 1e-11);
            lw_model_destroy(one);
            lw_model_destroy(other);
        }
}

// Derivatives along joint coordinates, speeds, time and the length of a spring: fourth-order differences.
static void jets_match_differences(void **state)
{
    (void)state;
    static const double x[] = {-2, -1, 0, 0.5, 2}, y[] = {1, 3, 2, -1, 4}, z[] = {0, 1, 3};
    static const double rows[5][3] = {{0, 1, 2}, {1, 0, 4}, {2, 2, 2}, {3, 1, 0}, {1, 2, 5}};
    cart c = start(false);
    lw_signal s[5];
    s[0] = named(c.b, "f", "sin(2*hinge.q0)*rail.qd0 + t^2");
    s[1] = lwt_function(c.b, &(lw_function_desc){.name = "curve",
                                                 .type = LW_FUNCTION_CURVE,
                                                 .t = x,
                                                 .y = y,
                                                 .npoint = 5,
                                                 .formula = "f/2 + hinge.q0"});
    s[2] = lwt_function(c.b, &(lw_function_desc){.name = "map",
                                                 .type = LW_FUNCTION_MAP,
                                                 .t = x,
                                                 .y = &rows[0][0],
                                                 .npoint = 5,
                                                 .x2 = z,
                                                 .npoint2 = 3,
                                                 .formula = "curve - f",
                                                 .formula2 = "1 + rail.qd0^2"});
    s[3] = named(c.b, "g", "map*curve + floor(2.5) + mod(t, 10)");
    const lw_signal terms[] = {s[3], s[1]};
    s[4] =
        lwt_function(c.b, &(lw_function_desc){.type = LW_FUNCTION_SUM, .terms = terms, .nterm = 2});
    lw_model *m = finish(&c);
    const int iq = m->joint[1].iq, iv = m->joint[0].iv;
    const double h = 1e-4, way[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    for (int i = 0; i < LWI_COUNT(s); i++)
        for (int along = 0; along < 3; along++) {
            double q[2] = {0}, qd[2] = {0}, f[3], d = 0, d2 = 0;
            q[iq] = 0.31, qd[iv] = 0.57;
            lwi_now now = {.t = 0.43, .q = q, .qd = qd};
            const lwi_seed seed = {.t = along == 0,
                                   .iq = along == 1 ? iq : -1,
                                   .q = 1,
                                   .iv = along == 2 ? iv : -1,
                                   .qd = 1,
                                   .spring = -1};
            lwi_signal_jet(m->function, s[i], &now, &seed, f);
            for (int k = 0; k < 4; k++) {
                double *moved = along == 0 ? &now.t : along == 1 ? &q[iq] : &qd[iv], g[3];
                const double before = *moved;
                *moved += way[k] * h;
                lwi_signal_jet(m->function, s[i], &now, &seed, g);
                assert_true(g[0] == lwi_signal_value(m->function, s[i], &now, 0));
                d += weight[k] * g[0] / (12 * h), d2 += weight[k] * g[1] / (12 * h);
                *moved = before;
            }
            if (!(fabs(f[1] - d) < 1e-9 * (1 + fabs(d))) ||
                !(fabs(f[2] - d2) < 1e-8 * (1 + fabs(d2))))
                fail_msg("signal %d along %d: %.12g %.12g, differences %.12g %.12g", i, along, f[1],
                         f[2], d, d2);
        }
    lw_model_destroy(m);
}

// Newton's iterations of index3 for a stiff law by signals, and by the springs that these are.
static double iterations(bool signals)
{
    cart c = start(false);
    lw_sim *sim;
    lw_error error = {0};
    lw_options options;
    static const double x[] = {-2, 0, 2}, y[] = {2e5, 0, -2e5};
    if (signals) {
        c.hinge.coordinate[0].effort =
            lwt_function(c.b, &(lw_function_desc){.type = LW_FUNCTION_CURVE,
                                                  .t = x,
                                                  .y = y,
                                                  .npoint = 3,
                                                  .formula = "hinge.q0 + hinge.qd0/100"});
        lwt_spring(c.b,
                   &(lw_spring_desc){.name = "rod",
                                     .body1 = lwt_ground,
                                     .body2 = c.cart,
                                     .point1 = {-2, 0, 0},
                                     .force = named(c.b, NULL, "-1e6*(spring.rod.length - 2)")});
    } else {
        c.hinge.coordinate[0].stiffness = 1e5, c.hinge.coordinate[0].damping = 1e3;
        lwt_spring(c.b, &(lw_spring_desc){.name = "rod",
                                          .body1 = lwt_ground,
                                          .body2 = c.cart,
                                          .point1 = {-2, 0, 0},
                                          .stiffness = 1e6,
                                          .length = 2});
    }
    lw_model *m = finish(&c);
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", "index3", &error), &error);
    lwt_ok(lw_options_set(&options, "step", "0.01", &error), &error);
    lwt_ok(lw_sim_create(m, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    lwt_ok(lw_sim_step(sim, 0.3), lw_sim_error(sim));
    const lwi_index3_counts *n = &((const lwi_index3 *)sim->work->data)->counts;
    const double per_step = (double)n->iterations / (double)n->steps;
    lw_sim_destroy(sim);
    lw_model_destroy(m);
    return per_step;
}

static void implicit_steps_have_the_derivatives_of_signals(void **state)
{
    (void)state;
    const double by_signals = iterations(true), by_springs = iterations(false);
    if (!(fabs(by_signals - by_springs) < 0.3 && by_springs > 1))
        fail_msg("%g iterations per step, of springs %g", by_signals, by_springs);
}

// Recorded signals are outputs.
static void signals_are_outputs(void **state)
{
    (void)state;
    cart c = start(false);
    const lw_signal push = lwt_function(c.b, &(lw_function_desc){.name = "push",
                                                                 .type = LW_FUNCTION_FORMULA,
                                                                 .formula = "-3*marker.tip.x",
                                                                 .recorded = true});
    lwt_spring(c.b, &(lw_spring_desc){.name = "drive",
                                      .body1 = lwt_ground,
                                      .body2 = c.cart,
                                      .point1 = {-9, 0, 0},
                                      .force = push});
    lw_model *m = finish(&c);
    int signal = -1, force = -1;
    for (int i = 0; i < lw_model_output_count(m); i++) {
        const lw_output_info info = lw_model_output(m, i);
        if (!strcmp(info.kind, "signal") && !strcmp(info.item, "push") &&
            !strcmp(info.part, "value"))
            signal = i;
        if (!strcmp(info.item, "drive") && !strcmp(info.part, "force")) force = i;
    }
    assert_true(signal >= 0 && force >= 0);
    lw_sim *sim;
    lw_error error = {0};
    const lw_observation *o;
    lwt_ok(lw_sim_create(m, NULL, &sim, &error), &error);
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_MOMENTUM, &o), lw_sim_error(sim));
    assert_true(fabs(o->output[signal] + 3 * 0.6) < 1e-14);
    assert_true(o->output[signal] == o->output[force]);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// ---------------------------------------------------------------------------------------- refusals

static void refuse(lw_status status, const lw_error *error, const char *says)
{
    assert_int_equal(status, LW_ERR_MODEL);
    if (!strstr(error->text, says)) fail_msg("'%s' does not say '%s'", error->text, says);
}

static void names_are_resolved(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } list[] = {
        {"body.crt.x", "function 'f': there is no body 'crt', did you mean 'cart'? (character 1)"},
        {"1 + marker.tipp.x", "there is no marker 'tipp', did you mean 'tip'? (character 5)"},
        {"spring.wir.length", "there is no spring 'wir', did you mean 'wire'?"},
        {"distance(tip, hom)", "there is no marker 'hom', did you mean 'home'?"},
        {"joint.rial.q0", "there is no joint 'rial', did you mean 'rail'?"},
    };
    for (int i = 0; i < LWI_COUNT(list); i++) {
        cart c = start(false);
        lw_model *model = NULL;
        lw_error error = {0};
        named(c.b, "f", list[i].text);
        lwt_add(c.b, &c.rail);
        lwt_add(c.b, &c.hinge);
        refuse(lw_model_create(c.b, &model, &error), &error, list[i].says);
        lw_builder_destroy(c.b);
    }
}

static void wrong_formulas_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } list[] = {
        {"later + 1", "unknown name 'later'"},
        {"body.cart.y2",
         "expected a component of the body: x, y, z, vx, vy, vz, wx, wy or wz, found 'y2'"},
        {"spring.wire.force", "expected length or rate of the spring, found 'force'"},
        {"distance(tip)", "expected ',' and a second marker, found ')'"},
        {"distance", "'distance' is a function, expected distance(marker, marker)"},
        {"distance_rate(tip, 3)", "expected the name of a marker, found '3'"},
        {"joint.rail.x", "expected a coordinate (q0, q1, ...) or a speed"},
        {"mod(t)", "'mod' has too few arguments, expected mod(x, period)"},
    };
    cart c = start(false);
    for (int i = 0; i < LWI_COUNT(list); i++) {
        lw_error error = {0};
        const lw_function_desc d = {
            .name = "f", .type = LW_FUNCTION_FORMULA, .formula = list[i].text};
        refuse(lw_builder_add_function(c.b, &d, NULL, &error), &error, list[i].says);
    }
    lw_builder_destroy(c.b);
}

static void motions_follow_time_alone(void **state)
{
    (void)state;
    cart c = start(false);
    lw_error error = {0};
    lw_signal input;
    lwt_ok(lw_builder_add_input(c.b, "lever", &input, &error), &error);
    named(c.b, "half", "lever/2");
    named(c.b, "reads", "body.cart.x");
    lw_joint_desc d = c.rail;
    d.coordinate[0].motion = named(c.b, NULL, "2*half + t");
    refuse(lw_builder_add_joint(c.b, &d, NULL, &error), &error, "motion follows input 'lever'");
    d.coordinate[0].motion = named(c.b, NULL, "2*reads + t");
    refuse(lw_builder_add_joint(c.b, &d, NULL, &error), &error,
           "motion follows a formula that reads body.cart.x, expected one of t alone");
    // what is made of functions of time is one
    static const double x[] = {0, 1, 4}, y[] = {0, 1, -1};
    named(c.b, "wave", "sin(3*t)");
    d.coordinate[0].motion = lwt_function(
        c.b, &(lw_function_desc){
                 .type = LW_FUNCTION_CURVE, .t = x, .y = y, .npoint = 3, .formula = "2 + wave"});
    lwt_ok(lw_builder_add_joint(c.b, &d, NULL, &error), &error);
    lw_builder_destroy(c.b);
}

// A chain of formulas that each name the one before twice would double at every link.
static void exploding_formulas_are_refused(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_error error = {0};
    char name[2][32] = {"", "f0"}, text[128];
    named(b, "f0", "t");
    lw_status status = LW_OK;
    int i = 1;
    for (; i < 200 && status == LW_OK; i++) {
        memcpy(name[0], name[1], sizeof name[0]);
        snprintf(name[1], sizeof name[1], "f%d", i);
        snprintf(text, sizeof text, "%s + body.a.x", name[0]);
        const lw_function_desc d = {.name = name[1], .type = LW_FUNCTION_FORMULA, .formula = text};
        status = lw_builder_add_function(b, &d, NULL, &error);
    }
    refuse(status, &error, "is too large");
    lw_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readings_are_those_of_the_coordinates),
        cmocka_unit_test(curves_and_maps_are_laws_of_forces),
        cmocka_unit_test(jets_match_differences),
        cmocka_unit_test(implicit_steps_have_the_derivatives_of_signals),
        cmocka_unit_test(signals_are_outputs),
        cmocka_unit_test(names_are_resolved),
        cmocka_unit_test(wrong_formulas_are_refused_with_their_place),
        cmocka_unit_test(motions_follow_time_alone),
        cmocka_unit_test(exploding_formulas_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
