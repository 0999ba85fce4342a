// test_formula_model.c -- formulas in models: motions, forces, efforts and scales by formula
// against an equivalent model without formulas, in every formulation; undefined names; what a
// formula cannot drive.
#include "model/model.h"
#include "support/mechanism.h"

#include <linkwork/dynamics.h>

// ----------------------------------------------------------------------------------------------
// runs

/** A cart on a rail with a pendulum on it. With `loop`, another rod connects the end of the
 *  pendulum to the ground by a slot; the slot or another joint closes the loop. */
typedef struct cart {
    lw_builder *b;
    lw_body cart, rod, third;
    lw_joint_desc rail, hinge;
} cart;

static cart start(void)
{
    cart c = {.b = lwt_builder()};
    c.cart =
        lwt_body(c.b, &(lw_body_desc){.name = "cart", .mass = 2, .inertia = {1, 1, 1, 0, 0, 0}});
    c.rod = lwt_rod(c.b, "rod", 0, 0, 0.6, -0.8, 1);
    c.rail = (lw_joint_desc){.name = "rail",
                             .type = LW_JOINT_PRISMATIC,
                             .body1 = lwt_ground,
                             .body2 = c.cart,
                             .axis = {1, 0, 0}};
    c.hinge = (lw_joint_desc){.name = "the hinge",
                              .type = LW_JOINT_REVOLUTE,
                              .body1 = c.cart,
                              .body2 = c.rod,
                              .axis = {0, 0, 1},
                              .has_qd = 1,
                              .qd = {0.7}};
    return c;
}

static lw_model *finish(cart *c)
{
    lwt_add(c->b, &c->rail);
    lwt_add(c->b, &c->hinge);
    return lwt_model(c->b);
}

// A rod to the ground closes a loop.
static void close_loop(cart *c)
{
    c->third = lwt_rod(c->b, "third", 0.6, -0.8, 1.8, 0, 0.5);
    lwt_joint(c->b, LW_JOINT_REVOLUTE, "knee", c->rod, c->third, 0.6, -0.8);
    lwt_add(c->b, &(lw_joint_desc){.name = "slot",
                                   .type = LW_JOINT_CYLINDRICAL,
                                   .body1 = lwt_ground,
                                   .body2 = c->third,
                                   .at = {1.8, 0, 0},
                                   .axis = {0, 0, 1},
                                   .cut = LW_CUT_PREFER});
    c->hinge.has_qd = 0;
}

static lw_signal formula(lw_builder *b, const char *text)
{
    return lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_FORMULA, .formula = text});
}

enum { MOST = 16 };
typedef struct result {
    double q[MOST], qd[MOST], reaction[6], energy_error;
} result;

// The state after 2 s; both models of a comparison use the same steps.
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
    lwt_ok(lw_options_set(&options, "duration", "2", &error), &error);
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    const lw_status status = lw_sim_run(sim, LW_OBSERVE_REACTION, NULL, NULL, NULL, NULL);
    lwt_ok(status, lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
    lw_sim_summary(sim, &summary);
    assert_true(lw_model_nq(model) <= MOST);
    memcpy(r.q, o->q, (size_t)lw_model_nq(model) * sizeof(double));
    memcpy(r.qd, o->qd, (size_t)lw_model_nv(model) * sizeof(double));
    memcpy(r.reaction, o->reaction[1], sizeof r.reaction);
    r.energy_error = summary.energy_error;
    lw_sim_destroy(sim);
    return r;
}

static const char *const formulations[] = {"aba", "momenta", "dense"};

// Both models have the same motion. Destroys both models. Tolerance: rounding, amplified over 400
// steps.
static void assert_same_motion(lw_model *a, lw_model *b, bool loop)
{
    for (int f = loop ? 2 : 0; f < 3; f++) {
        const result x = run(a, formulations[f]), y = run(b, formulations[f]);
        for (int k = 0; k < MOST; k++) {
            assert_true(fabs(x.q[k] - y.q[k]) < 1e-11);
            assert_true(fabs(x.qd[k] - y.qd[k]) < 1e-11);
        }
        for (int k = 0; k < 6; k++) assert_true(fabs(x.reaction[k] - y.reaction[k]) < 1e-9);
        // both integrate the work: truncation error of RK4 at this step
        assert_true(x.energy_error < 1e-6 && y.energy_error < 1e-6);
    }
    lw_model_destroy(a);
    lw_model_destroy(b);
}

static void motion_by_formula_is_that_of_the_sine(void **state)
{
    (void)state;
    cart a = start(), b = start();
    a.rail.coordinate[0].motion = formula(a.b, "0.2 + 0.3*sin(4*t + 0.5)");
    b.rail.coordinate[0].motion = lwt_function(
        b.b,
        &(lw_function_desc){
            .type = LW_FUNCTION_SINE, .offset = 0.2, .amplitude = 0.3, .omega = 4, .phase = 0.5});
    assert_same_motion(finish(&a), finish(&b), false);
}

static void mount_by_formula_is_that_of_the_polynomial(void **state)
{
    (void)state;
    static const double c[] = {0, 0, 0.5, -0.125};
    cart a = start(), b = start();
    a.hinge.mount_shift[1] = a.hinge.mount_turn = formula(a.b, "(t/2)^2*2 - t^3/8");
    b.hinge.mount_shift[1] = b.hinge.mount_turn = lwt_function(
        b.b,
        &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL, .coefficients = c, .ncoefficient = 4});
    assert_same_motion(finish(&a), finish(&b), false);
}

static void feedback_by_formula_is_that_of_the_joint_spring(void **state)
{
    (void)state;
    cart a = start(), b = start();
    a.hinge.coordinate[0].effort = formula(a.b, "-40*('the hinge'.q0 - 0.1) - 3*'the hinge'.qd0");
    b.hinge.coordinate[0].stiffness = 40;
    b.hinge.coordinate[0].damping = 3;
    b.hinge.coordinate[0].at = 0.1;
    assert_same_motion(finish(&a), finish(&b), false);
}

// A joint outside the tree has coordinates too.
static void feedback_reads_joints_that_close_loops(void **state)
{
    (void)state;
    cart a = start(), b = start();
    close_loop(&a);
    close_loop(&b);
    a.rail.coordinate[0].force = formula(a.b, "-5*slot.q1 - 2*slot.qd1");
    b.rail.coordinate[0].force = formula(b.b, "-5*('the hinge'.q0 + knee.q0) - "
                                              "2*('the hinge'.qd0 + knee.qd0)");
    assert_same_motion(finish(&a), finish(&b), true);
}

// A wrench along the rail, scaled by the state, equals an effort on the rail; also in a sum, and
// where no other force reads joint coordinates.
static void scale_by_formula_is_the_effort_it_makes(void **state)
{
    (void)state;
    cart a = start(), b = start();
    lw_error error;
    const lw_signal terms[] = {formula(a.b, "-7*rail.q0"),
                               formula(a.b, "step(t, 0, 1) - rail.qd0")};
    const lw_signal sum =
        lwt_function(a.b, &(lw_function_desc){.type = LW_FUNCTION_SUM, .terms = terms, .nterm = 2});
    lwt_ok(lw_builder_add_wrench(
               a.b, &(lw_wrench_desc){.body = a.cart, .force = {2, 0, 0}, .scale = sum}, &error),
           &error);
    b.rail.coordinate[0].effort = formula(b.b, "-14*rail.q0 + 2*step(t, 0, 1) - 2*rail.qd0");
    lw_model *one = finish(&a);
    assert_true(one->force_needs & LWI_NEEDS_JOINT);
    assert_true(one->carries_work);
    assert_same_motion(one, finish(&b), false);
}

// A spring between points along the rail has the same effect as the effort.
static void spring_force_by_formula_is_the_effort_it_makes(void **state)
{
    (void)state;
    cart a = start(), b = start();
    lw_error error;
    lwt_ok(lw_builder_add_spring(a.b,
                                 &(lw_spring_desc){.body1 = lwt_ground,
                                                   .body2 = a.cart,
                                                   .point1 = {-9, 0, 0},
                                                   .force = formula(a.b, "-6*rail.q0")},
                                 &error),
           &error);
    b.rail.coordinate[0].stiffness = 6;
    assert_same_motion(finish(&a), finish(&b), false);
}

static void dynamics_of_a_state_see_formulas(void **state)
{
    (void)state;
    cart a = start(), b = start();
    a.hinge.coordinate[0].effort = formula(a.b, "-40*'the hinge'.q0 - 3*'the hinge'.qd0*rail.q0");
    lw_model *model[2] = {finish(&a), finish(&b)};
    const double q[] = {0.4, -0.6}, v[] = {0.3, 1.1};
    const double tau[] = {0, 40 * 0.6 - 3 * 1.1 * 0.4};
    double vdot[2][2];
    for (int i = 0; i < 2; i++) {
        lw_dynamics *dynamics;
        lw_error error = {0};
        lwt_ok(lw_dynamics_create(model[i], NULL, &dynamics, &error), &error);
        lwt_ok(lw_forward_dynamics(dynamics, 0, q, v, i ? tau : NULL, NULL, vdot[i]), &error);
        lw_dynamics_destroy(dynamics);
        lw_model_destroy(model[i]);
    }
    for (int k = 0; k < 2; k++) assert_true(fabs(vdot[0][k] - vdot[1][k]) < 1e-12);
}

// ------------------------------------------------------------------------------------------
// refusals

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
        {"2*rial.q0", "function 'f': there is no joint 'rial', did you mean 'rail'? (character 3)\n"
                      "    2*rial.q0\n      ^^^^^^^"},
        {"'the hinge'.q1", "joint 'the hinge' has no coordinate q1; it is revolute and has 1"},
        {"rail.qd1", "joint 'rail' has no speed qd1; it is prismatic and has 1"},
        {"1 + ball.qd3", "joint 'ball' has no speed qd3; it is spherical and has 3 (character 5)"},
    };
    for (int i = 0; i < LWI_COUNT(list); i++) {
        cart c = start();
        lw_model *model = NULL;
        lw_error error = {0};
        const lw_body free =
            lwt_body(c.b, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}});
        lwt_joint(c.b, LW_JOINT_SPHERICAL, "ball", lwt_ground, free, 0, 0);
        lwt_function(c.b, &(lw_function_desc){
                              .name = "f", .type = LW_FUNCTION_FORMULA, .formula = list[i].text});
        lwt_function(c.b, &(lw_function_desc){.type = LW_FUNCTION_FORMULA, .formula = "ball.q3"});
        lwt_add(c.b, &c.rail);
        lwt_add(c.b, &c.hinge);
        refuse(lw_model_create(c.b, &model, &error), &error, list[i].says);
        lw_builder_destroy(c.b);
    }
}

static void what_needs_derivatives_follows_time_alone(void **state)
{
    (void)state;
    cart c = start();
    lw_error error = {0};
    lw_joint_desc d;
    const lw_signal plain = formula(c.b, "t"), reads = formula(c.b, "t*'the hinge'.qd0");
    const lw_signal terms[] = {plain, reads};
    const lw_signal sum =
        lwt_function(c.b, &(lw_function_desc){.type = LW_FUNCTION_SUM, .terms = terms, .nterm = 2});
    d = c.rail, d.coordinate[0].motion = reads;
    refuse(lw_builder_add_joint(c.b, &d, NULL, &error), &error,
           "joint 'rail': motion follows a formula that reads 'the hinge'.qd0, expected one of t "
           "alone");
    d = c.rail, d.coordinate[0].motion = sum;
    refuse(lw_builder_add_joint(c.b, &d, NULL, &error), &error, "motion follows a formula");
    d = c.rail, d.mount_shift[2] = reads;
    refuse(lw_builder_add_joint(c.b, &d, NULL, &error), &error, "mount shift follows a formula");
    d = c.rail, d.mount_turn = sum;
    refuse(lw_builder_add_joint(c.b, &d, NULL, &error), &error, "mount turn follows a formula");
    d = (lw_joint_desc){.name = "rod",
                        .type = LW_JOINT_DISTANCE,
                        .body1 = c.cart,
                        .body2 = c.rod,
                        .placement = LW_PLACED_FRAMES,
                        .length_of = reads};
    refuse(lw_builder_add_joint(c.b, &d, NULL, &error), &error, "length follows a formula");
    lw_builder_destroy(c.b);
}

static void a_motion_with_a_kink_is_reported(void **state)
{
    (void)state;
    cart c = start();
    c.rail.coordinate[0].motion = formula(c.b, "where(t < 1, 0, (t - 1)^3)");
    c.hinge.coordinate[0].effort = formula(c.b, "abs(t)");
    lw_model *model = finish(&c);
    assert_int_equal(lw_model_warning_count(model), 1);
    assert_non_null(
        strstr(lw_model_warning(model, 0), "joint 'rail': motion follows the formula where("));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_by_formula_is_that_of_the_sine),
        cmocka_unit_test(mount_by_formula_is_that_of_the_polynomial),
        cmocka_unit_test(feedback_by_formula_is_that_of_the_joint_spring),
        cmocka_unit_test(feedback_reads_joints_that_close_loops),
        cmocka_unit_test(scale_by_formula_is_the_effort_it_makes),
        cmocka_unit_test(spring_force_by_formula_is_the_effort_it_makes),
        cmocka_unit_test(dynamics_of_a_state_see_formulas),
        cmocka_unit_test(names_are_resolved),
        cmocka_unit_test(what_needs_derivatives_follows_time_alone),
        cmocka_unit_test(a_motion_with_a_kink_is_reported),
    };
    return cmocka_run_group_tests_name("formula in models", tests, NULL, NULL);
}
