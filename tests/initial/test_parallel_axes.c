// test_parallel_axes.c -- axes of loops that are parallel, or at right angles, except for their last digits.
#include "support/given.h"
#include "support/mechanism.h"

#include "kinematics/planar_rows.h"

#include <linkwork/linkwork.h>

#include <math.h>

// How the axis of each joint leans, for an angle of one.
static const double lean[4][2] = {{0, 0}, {1, 0.3}, {-0.4, 0.9}, {0.5, -0.7}};

static lw_joint_desc leaning(lw_joint_type type, int i, double angle, lw_body body1, lw_body body2,
                             const double at[2])
{
    return (lw_joint_desc){.type = type,
                           .body1 = body1,
                           .body2 = body2,
                           .at = {at[0], at[1], 0},
                           .axis = {angle * lean[i][0], angle * lean[i][1], 1}};
}

// A parallelogram at 1 rad; its crank starts with 2 rad/s, and passes positions in which the bars are in a line.
static lw_model *parallelogram_with(lw_joint_type last, double angle)
{
    const double x = 0.5 * cos(1.0), y = 0.5 * sin(1.0);
    const double at[5][2] = {{0, 0}, {x, y}, {1 + x, y}, {1, 0}, {0, 0}};
    lw_builder *b = lwt_builder();
    lw_body body[4] = {lwt_ground};
    for (int i = 0; i < 3; i++)
        body[i + 1] = lwt_rod(b,
                              i == 0   ? "crank"
                              : i == 1 ? "coupler"
                                       : "rocker",
                              at[i][0], at[i][1], at[i + 1][0], at[i + 1][1], 1);
    for (int i = 0; i < 4; i++) {
        lw_joint_desc d =
            leaning(i == 3 ? last : LW_JOINT_REVOLUTE, i, angle, body[i], body[(i + 1) % 4], at[i]);
        if (i == 0 && last == LW_JOINT_REVOLUTE) d.has_qd = 1, d.qd[0] = 2;
        lwt_add(b, &d);
    }
    return lwt_model(b);
}

static lw_model *parallelogram(double angle)
{
    return parallelogram_with(LW_JOINT_REVOLUTE, angle);
}

// A crank, a rod and a block on a guide; hinges and guide lean.
static lw_model *slider(double angle)
{
    const double at[4][2] = {{0, 0}, {0, 1}, {2, 0}, {2, 0}};
    lw_builder *b = lwt_builder();
    const lw_body body[4] = {lwt_ground, lwt_rod(b, "crank", 0, 0, 0, 1, 1),
                             lwt_rod(b, "rod", 0, 1, 2, 0, 1),
                             lwt_rod(b, "block", 2, 0, 2.5, 0, 1)};
    for (int i = 0; i < 3; i++)
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .body1 = body[i],
                                    .body2 = body[i + 1],
                                    .at = {at[i][0], at[i][1], 0},
                                    .axis = {angle * lean[i][0], angle * lean[i][1], 1},
                                    .has_qd = i == 0,
                                    .qd = {i == 0}});
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_PRISMATIC,
                                .body2 = body[3],
                                .at = {2, 0, 0},
                                .axis = {1, 0, angle}});
    return lwt_model(b);
}

// Three hinges in a row, without a loop.
static lw_model *chain(double angle)
{
    static const double at[3][2] = {{0, 0}, {1, 0}, {2, 0}};
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    for (int i = 0; i < 3; i++) {
        const lw_body rod = lwt_rod(b, i == 0 ? "a" : i == 1 ? "b" : "c", i, 0, i + 1, 0, 1);
        const lw_joint_desc d = leaning(LW_JOINT_REVOLUTE, i, angle, before, rod, at[i]);
        lwt_add(b, &d);
        before = rod;
    }
    return lwt_model(b);
}

static int planar_rows(const lw_model *model)
{
    int count;
    assert_int_equal(lwi_planar_rows(model, NULL, &count, NULL), LW_OK);
    return count;
}

static int mobility(const lw_model *model)
{
    lw_check check;
    lw_error error;
    lw_redundancy joints[4];
    assert_int_equal(model->njoint, 4);
    lwt_ok(lw_model_mobility(model, &check, joints, &error), &error);
    return check.dof;
}

static bool has_warning(const lw_model *model, const char *text)
{
    for (int i = 0; i < lw_model_warning_count(model); i++)
        if (strstr(lw_model_warning(model, i), text)) return true;
    return false;
}

static void axes_become_parallel(void **state)
{
    (void)state;
    static const double angle[] = {1e-10, 1e-8, 1e-7, 3e-7};
    for (size_t i = 0; i < sizeof angle / sizeof *angle; i++)
        for (int k = 0; k < 2; k++) {
            lw_model *model = k ? slider(angle[i]) : parallelogram(angle[i]);
            assert_int_equal(planar_rows(model), 3);
            assert_int_equal(mobility(model), 1);
            assert_int_equal(lw_model_warning_count(model), 1);
            assert_true(has_warning(model, "are taken to be exactly so"));
            lw_model_destroy(model);
        }
}

// What is exact, and what is no loop of hinges, keeps its bits.
static void others_stay(void **state)
{
    (void)state;
    lw_model *const model[] = {parallelogram(0), slider(0), chain(1e-8), chain(0),
                               parallelogram_with(LW_JOINT_SPHERICAL, 1e-8)};
    for (size_t i = 0; i < sizeof model / sizeof *model; i++)
        assert_int_equal(lw_model_warning_count(model[i]), 0);
    for (int j = 0; j < model[2]->njoint; j++) {
        const lwi_joint *joint = &model[2]->joint[j];
        const double norm = sqrt(1 + 1e-16 * (lean[j][0] * lean[j][0] + lean[j][1] * lean[j][1]));
        assert_true(fabs(joint->R1[2] - 1e-8 * lean[j][0] / norm) < 1e-15);
        assert_true(fabs(joint->R1[5] - 1e-8 * lean[j][1] / norm) < 1e-15);
    }
    for (size_t i = 0; i < sizeof model / sizeof *model; i++) lw_model_destroy(model[i]);
}

// Axes that are farther from parallel are left, and said where they were perhaps meant to be.
static void axes_may_be_almost_parallel(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_error error;
    lw_model *model;
    const lw_body rod = lwt_rod(b, "rod", 0, 0, 1, 0, 1);
    for (int i = 0; i < 2; i++)
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .body2 = rod,
                                    .at = {0, 0, i},
                                    .axis = {4e-6 * i, 0, 1}});
    lwt_ok(lw_model_create(b, &model, &error), &error);
    lw_builder_destroy(b);
    assert_true(has_warning(model, "4.0e-06 rad"));
    assert_false(has_warning(model, "are taken to be exactly so"));
    lw_model_destroy(model);
}

// A tiller in a sleeve on a block (Rapson slide): no body has both hinges, a guide keeps their axes parallel.
static lw_model *rapson_slide(double angle)
{
    lw_builder *b = lwt_builder();
    const lw_body body[4] = {lwt_ground, lwt_rod(b, "tiller", 0, -1, 1, 0, 1),
                             lwt_rod(b, "sleeve", 0.8, -0.2, 1.2, 0.2, 1),
                             lwt_rod(b, "block", 0.9, 0, 1.1, 0, 1)};
    static const double at[4][2] = {{0, -1}, {1, 0}, {1, 0}, {1, 0}};
    for (int i = 0; i < 4; i++) {
        lw_joint_desc d = leaning(i % 2 ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE, i, angle, body[i],
                                  body[(i + 1) % 4], at[i]);
        if (i % 2) d.axis = i == 1 ? (lw_vec3){1, 1, 0} : (lw_vec3){1, 0, 0};
        if (i == 0) d.has_qd = 1, d.qd[0] = 0.5;
        lwt_add(b, &d);
    }
    return lwt_model(b);
}

static void guides_keep_axes_parallel(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        lw_model *model = rapson_slide(k * 1e-8);
        assert_int_equal(planar_rows(model), 3);
        assert_int_equal(mobility(model), 1);
        assert_int_equal(lw_model_warning_count(model), k);
        lw_model_destroy(model);
    }
}

// A crank, a rod and a block on a guide, displaced by 10 m from where its frame on the ground is.
static void displaced_guides_keep_loops_closed(void **state)
{
    (void)state;
    const double at[4][2] = {{0, 0}, {0, 1}, {2, 0}, {2, 0}}, angle = 5e-7;
    lw_builder *b = lwt_builder();
    const lw_body body[4] = {lwt_ground, lwt_rod(b, "crank", 0, 0, 0, 1, 1),
                             lwt_rod(b, "rod", 0, 1, 2, 0, 1),
                             lwt_rod(b, "block", 2, 0, 2.5, 0, 1)};
    for (int i = 0; i < 3; i++) {
        const lw_joint_desc d = leaning(LW_JOINT_REVOLUTE, i, 0, body[i], body[i + 1], at[i]);
        lwt_add(b, &d);
    }
    const double half = 0.70710678118654752440;
    const lw_quat along = {half, 0, half * (1 - angle), 0}; // z along x, and -angle of it along z
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_PRISMATIC,
                                .body2 = body[3],
                                .placement = LW_PLACED_FRAMES,
                                .frame1 = {{-8, 0, -10 * angle}, along},
                                .frame2 = {{0, 0, 0}, along}});
    lw_model *model = lwt_model(b);
    assert_int_equal(planar_rows(model), 3);
    assert_int_equal(mobility(model), 1);
    assert_int_equal(lw_model_warning_count(model), 1);
    assert_true(has_warning(model, "are taken to be exactly so"));
    lw_model_destroy(model);
}

// Slider-cranks on the ground, in as many planes: each has axes in two other directions.
static void many_mechanisms_share_the_ground(void **state)
{
    (void)state;
    enum { PLANES = 4 };
    lw_builder *b = lwt_builder();
    for (int p = 0; p < PLANES; p++) {
        const double c = cos(0.4 * p), s = sin(0.4 * p), far = 10 * p;
        const double at[4][2] = {{0, 0}, {0, 1}, {2, 0}, {2, 0}}; // along (c, s, 0), along z
        lw_body body[4] = {lwt_ground};
        for (int i = 1; i < 4; i++) {
            const char name[] = {(char)('a' + p), (char)('0' + i), 0};
            body[i] = lwt_rod(b, name, far + i, 0, far + i + 1, 0, 1);
        }
        for (int i = 0; i < 4; i++)
            lwt_add(b, &(lw_joint_desc){.type = i == 3 ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE,
                                        .body1 = body[i],
                                        .body2 = body[(i + 1) % 4],
                                        .at = {far + c * at[i][0], s * at[i][0], at[i][1]},
                                        .axis = i == 3 ? (lw_vec3){c - 1e-8 * s, s + 1e-8 * c, 0}
                                                       : (lw_vec3){-s, c, 0}});
    }
    lw_model *model = lwt_model(b);
    assert_int_equal(planar_rows(model), 3 * PLANES);
    lw_model_destroy(model);
}

// Six bars: those that follow each other are within the tolerance, opposite ones are not.
static void angles_may_add_up(void **state)
{
    (void)state;
    static const double at[6][2] = {{0, 0}, {1, 0}, {2, 1}, {1, 2}, {0, 2}, {-1, 1}};
    static const double angle[6] = {0, 8e-7, 1.6e-6, 2.4e-6, 1.6e-6, 8e-7};
    lw_builder *b = lwt_builder();
    lw_body body[6] = {lwt_ground};
    for (int i = 1; i < 6; i++) {
        const char name[] = {(char)('a' + i), 0};
        const int k = i - 1;
        body[i] = lwt_rod(b, name, at[k][0], at[k][1], at[i][0], at[i][1], 1);
    }
    for (int i = 0; i < 6; i++)
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .body1 = body[i],
                                    .body2 = body[(i + 1) % 6],
                                    .at = {at[i][0], at[i][1], 0},
                                    .axis = {angle[i], 0, 1}});
    lw_model *model = lwt_model(b);
    assert_int_equal(lw_model_warning_count(model), 1);
    assert_true(has_warning(model, "2.4e-06 rad"));
    lw_model_destroy(model);
}

// Runs of all formulations are those of the exact mechanism, through positions in which its bars are in a line.
static void runs_are_those_of_the_exact_mechanism(void **state)
{
    (void)state;
    static const char *const formulation[] = {"rcr", "dca", "hdca", "lagrange", "dense"};
    lw_model *model[2] = {parallelogram(0), parallelogram(1e-8)};
    for (size_t f = 0; f < sizeof formulation / sizeof *formulation; f++) {
        double angle[2];
        for (int m = 0; m < 2; m++) {
            const lw_observation *o;
            lw_sim *sim = lwt_simulate(model[m], LWT_SETTINGS("formulation", formulation[f], "rtol",
                                                              "1e-9", "atol", "1e-9"));
            const double energy = lwt_energy(sim);
            lwt_ok(lw_sim_step(sim, 2), lw_sim_error(sim));
            assert_true(fabs(lwt_energy(sim) - energy) < 1e-6);
            lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
            angle[m] = o->q[0];
            lw_sim_destroy(sim);
        }
        print_message("%s: off by %.1e rad\n", formulation[f], fabs(angle[1] - angle[0]));
        assert_true(fabs(angle[1] - angle[0]) < 1e-6);
    }
    lw_model_destroy(model[0]);
    lw_model_destroy(model[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_become_parallel),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(axes_may_be_almost_parallel),
        cmocka_unit_test(guides_keep_axes_parallel),
        cmocka_unit_test(displaced_guides_keep_loops_closed),
        cmocka_unit_test(many_mechanisms_share_the_ground),
        cmocka_unit_test(angles_may_add_up),
        cmocka_unit_test(runs_are_those_of_the_exact_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
