// test_equilibrium.c -- static equilibria: closed forms, stability, and refusals that say why.
#include "analysis/analysis_cases.h"
#include "support/random_loops.h"

static void assert_at_rest(const lw_model *model, double tolerance)
{
    lw_dynamics *dynamics;
    lw_error error;
    double *v = lwt_vector(model->tree_nv), *vdot = lwt_vector(model->tree_nv);
    lwt_ok(lw_dynamics_create(model, NULL, &dynamics, &error), &error);
    lwt_ok(lw_forward_dynamics(dynamics, 0, model->tree_q0, v, NULL, NULL, vdot),
           lw_dynamics_error(dynamics));
    for (int i = 0; i < model->tree_nv; i++) lwt_near(vdot[i], 0, tolerance);
    free(v), free(vdot);
    lw_dynamics_destroy(dynamics);
}

// Computed in minimal coordinates with complex numbers, by another program.
static void test_four_bar(void **state)
{
    (void)state;
    const double drawn[] = {0.9, 1.3, 0.5};
    for (int i = 0; i < 3; i++) { // any start
        lw_equilibrium report;
        lw_model *model = lwt_sprung_four_bar(drawn[i], 0),
                 *balanced = lwt_balance(model, false, &report);
        assert_int_equal(report.stability, LW_STABLE);
        assert_int_equal(report.dof, 1);
        assert_string_equal(report.coordinate, "joint.A.q0");
        lwt_near(drawn[i] + balanced->q0[0], 0.9532432576031371, 1e-12);
        lw_linear *linear = lwt_linearize(balanced, NULL);
        const double M = lw_linear_mass(linear)[0];
        lwt_near(M, 0.13136266455296938, 1e-12);
        lwt_near(-M * lw_linear_A(linear)[2], 17.80378035671408, 1e-9); // K_r
        lwt_near(report.softest, 17.80378035671408 / M, 1e-8);
        lw_linear_destroy(linear);
        lw_model_destroy(balanced);
        lw_model_destroy(model);
    }
}

// Downhill from almost upright; with `any` the upright position itself.
static void test_stable_and_unstable(void **state)
{
    (void)state;
    const double angle[] = {LWT_PI - 0.01, LWT_PI + 0.02};
    lw_equilibrium report;
    lw_model *model = lwt_pendulum(2, angle), *balanced = lwt_balance(model, false, &report);
    assert_int_equal(report.stability, LW_STABLE);
    lwt_near(balanced->body[2].r0[1], -2, 1e-12);
    lw_model_destroy(balanced);
    balanced = lwt_balance(model, true, &report);
    assert_int_equal(report.stability, LW_UNSTABLE);
    assert_int_equal(report.unstable, 2);
    lwt_near(balanced->body[2].r0[1], 2, 1e-12);
    lwt_near(report.softest, -(2 + sqrt(2)) * 9.81, 1e-8);
    lw_model_destroy(balanced);
    lw_model_destroy(model);
    const double upright[] = {LWT_PI, LWT_PI}; // exactly: it is left all the same
    model = lwt_pendulum(2, upright);
    balanced = lwt_balance(model, false, &report);
    assert_int_equal(report.stability, LW_STABLE);
    lwt_near(balanced->body[2].r0[1], -2, 1e-12);
    lw_model_destroy(balanced);
    lw_model_destroy(model);
}

// What floats without forces is indifferent; what falls has no equilibrium, and the coordinate is named.
static void test_free_bodies(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_equilibrium report;
    lw_error error;
    const lw_body a = lwt_rod(b, "a", 0, 0, 1, 0, 1), c = lwt_rod(b, "c", 1, 0, 2, 0.1, 1);
    lwt_add(b, &(lw_joint_desc){.name = "j",
                                .type = LW_JOINT_REVOLUTE,
                                .body1 = a,
                                .body2 = c,
                                .at = {1, 0, 0},
                                .axis = {0, 0, 1},
                                .coordinate[0] = {.stiffness = 3, .at = 0.2}});
    lw_model *balanced = NULL, *falling;
    lwt_ok(lw_model_create(b, &falling, &error), &error);
    assert_int_equal(lw_model_equilibrium(falling, NULL, &balanced, &report, &error),
                     LW_ERR_SINGULAR);
    assert_null(balanced);
    assert_non_null(strstr(error.text, "forces still move body.a.d"));
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    lw_model *floating = lwt_model(b);
    balanced = lwt_balance(floating, false, &report);
    assert_int_equal(report.stability, LW_INDIFFERENT);
    assert_int_equal(report.dof, 7);
    assert_int_equal(report.indifferent, 6);
    lwt_near(balanced->q0[0], 0.2, 1e-12);
    lw_model_destroy(balanced);
    lw_model_destroy(floating);
    lw_model_destroy(falling);
}

// Random loops with springs: where the search ends, nothing accelerates.
static void test_random_mechanisms(void **state)
{
    (void)state;
    int found = 0;
    const lw_equilibrium_desc desc = {.iterations = 40};
    LWT_FOR_LOOPS(c, 8, LWT_MULTI | LWT_QUASI | LWT_REVERSED | LWT_REDUNDANT)
    {
        lw_equilibrium report;
        lw_model *balanced = NULL;
        lw_error error;
        const lw_status status = lw_model_equilibrium(c.model, &desc, &balanced, &report, &error);
        if (status == LW_ERR_SINGULAR) continue; // falls, or passes a singular position: it says so
        lwt_ok(status, &error);
        assert_int_not_equal(report.stability, LW_UNSTABLE);
        assert_at_rest(balanced, 1e-6);
        found++;
        lw_model_destroy(balanced);
    }
    assert_true(found >= 3);
}

// A force that follows its body has no potential: Newton's step takes the unsymmetric part of the stiffness.
static void test_following_force(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body one = lwt_rod(b, "one", 0, 0, 1, 0, 1), two = lwt_rod(b, "two", 1, 0, 2, 0, 1);
    lw_joint_desc joint = {.type = LW_JOINT_REVOLUTE,
                           .name = "j1",
                           .body2 = one,
                           .axis = {0, 0, 1},
                           .coordinate[0].stiffness = 10};
    lwt_add(b, &joint);
    joint.name = "j2", joint.body1 = one, joint.body2 = two, joint.at.x = 1;
    lwt_add(b, &joint);
    lwt_wrench(b, &(lw_wrench_desc){
                      .body = two, .point = {0.5, 0, 0}, .force = {-3, 2, 0}, .body_axes = true});
    lw_model *model = lwt_model(b);
    lw_equilibrium report;
    lw_model *balanced = lwt_balance(model, false, &report);
    // the moment about j2 does not depend on the position; that about j1 has the arm along the first rod too
    const double q2 = 2.0 / 10, q1 = (2 + 2 * cos(q2) - 3 * sin(q2)) / 10;
    lwt_near(balanced->q0[1], q2, 1e-12);
    lwt_near(balanced->q0[0], q1, 1e-12);
    assert_true(report.iterations <= 12);
    lw_model_destroy(balanced);
    lw_model_destroy(model);
}

static void test_singular_position(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder(); // a parallelogram in a line
    const lw_body rod[] = {lwt_rod(b, "crank", 0, 0, 1, 0, 1), lwt_rod(b, "coupler", 1, 0, 3, 0, 1),
                           lwt_rod(b, "rocker", 2, 0, 3, 0, 1)};
    lwt_joint(b, LW_JOINT_REVOLUTE, "A", lwt_ground, rod[0], 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", rod[0], rod[1], 1, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "C", rod[1], rod[2], 3, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "D", lwt_ground, rod[2], 2, 0);
    lw_model *model = lwt_model(b);
    lw_linear *linear = NULL;
    lw_error error;
    assert_int_equal(lw_linearize(model, NULL, &linear, &error), LW_ERR_SINGULAR);
    assert_non_null(strstr(error.text, "singular position: constraints of joint 'C' and those of "
                                       "'D', 'A', 'B' depend on each other"));
    assert_non_null(strstr(error.text, "2 degrees of freedom here, 1 nearby"));
    assert_null(linear);
    lw_model_destroy(model);
}

// Cassie held at the pelvis: coordinates rounded to nine digits, loops that are redundant and near a singular position.
static void test_rounded_loops(void **state)
{
    (void)state;
    lw_error error;
    lw_model *model;
    const lw_read_desc fixed = {.base = LW_BASE_FIXED};
    lwt_ok(lw_model_read(LW_SOURCE_DIR "/tests/models/cassie_v2.sdf", &fixed, &model, NULL, &error),
           &error);
    lw_equilibrium report;
    lw_model *balanced = lwt_balance(model, false, &report);
    assert_int_equal(report.stability, LW_STABLE);
    assert_at_rest(balanced, 1e-7);
    lw_model_destroy(balanced);
    lw_model_destroy(model);
}

// Light bodies on stiff springs, on a heavy one on a soft spring: eigenvalues from 10 to 1e20, of which round-off of the largest
// must not be in the others.
static void test_light_bodies_on_stiff_springs(void **state)
{
    (void)state;
    static const struct {
        double mass, axis[2], stiffness;
    } of[] = {{1e3, {0, 1}, 1e4}, {1e-6, {0.6, 0.8}, 1e14}, {1e-6, {0.8, 0.6}, 1e13}};
    static const char *const name[] = {"a", "b", "c"};
    lw_builder *b = lwt_builder();
    lw_body last = lwt_ground;
    double moving = 0;
    lw_equilibrium report;
    for (int i = 0; i < 3; i++) {
        const lw_body next = lwt_rod(b, name[i], 0, 0, 1, 0, of[i].mass);
        lwt_add(b, &(lw_joint_desc){.name = name[i],
                                    .type = LW_JOINT_PRISMATIC,
                                    .body1 = last,
                                    .body2 = next,
                                    .axis = {of[i].axis[0], of[i].axis[1], 0},
                                    .coordinate[0].stiffness = of[i].stiffness});
        last = next;
    }
    lw_model *model = lwt_model(b), *balanced = lwt_balance(model, false, &report);
    assert_int_equal(report.stability, LW_STABLE);
    for (int i = 2; i >= 0; i--) {
        moving += of[i].mass;
        const double expected = -moving * 9.81 * of[i].axis[1] / of[i].stiffness;
        lwt_near(balanced->q0[i] / expected, 1, 1e-10);
    }
    lw_model_destroy(balanced);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_four_bar),
                                       cmocka_unit_test(test_stable_and_unstable),
                                       cmocka_unit_test(test_free_bodies),
                                       cmocka_unit_test(test_random_mechanisms),
                                       cmocka_unit_test(test_following_force),
                                       cmocka_unit_test(test_singular_position),
                                       cmocka_unit_test(test_rounded_loops),
                                       cmocka_unit_test(test_light_bodies_on_stiff_springs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
