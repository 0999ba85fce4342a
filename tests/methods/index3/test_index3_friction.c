// test_index3_friction.c -- dry friction in steps of index3 with changes of speed far above the speed by
// which the law is smoothed: sliding, stopping, sticking, breaking loose.
#include "methods/index3/index3_cases.h"

// A block of 1 kg on a rail along x, at 1 m/s, friction of 3 N, a spring to its start.
static lw_model *block(double smooth, double stiffness)
{
    lw_builder *b = lwt_builder();
    const lw_body body = lwt_body(b, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}});
    lw_joint_desc rail = {
        .type = LW_JOINT_PRISMATIC, .body2 = body, .axis = {1, 0, 0}, .has_qd = 1, .qd = {1}};
    rail.coordinate[0].friction = (lw_friction_desc){.coulomb = 3, .speed = smooth};
    rail.coordinate[0].stiffness = stiffness;
    lwt_add(b, &rail);
    return lwt_model(b);
}

static const double smooths[] = {1e-3, 1e-4, 1e-6, 1e-9};

static void converges(const track *k, double smooth)
{
    if (strstr(k->notice, "ended before")) fail_msg("speed %g: %s", smooth, k->notice);
    assert_int_equal(k->summary.rejected, 0);
}

// It stops after v^2/(2 C) = 1/6 m, in the middle of a step, and stays: off by less than the
// 1e-4 s by which a step can miss the instant, at 1 m/s decreasing to zero.
static void a_block_stops_and_sticks(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(smooths); i++)
        for (int real_time = 0; real_time < 2; real_time++) {
            lw_model *model = block(smooths[i], 0);
            lw_options o = index3(0.01, 2, "0.01");
            if (real_time) lwt_set(&o, "index3", "mode=real-time");
            track k = run(model, &o);
            if (!real_time) converges(&k, smooths[i]);
            near("place", k.r[6 * (k.nrow - 1) + 3], 1.0 / 6, 1e-4);
            // by the smoothest law what is left falls to a tenth in each step, so that it takes two steps more
            for (int row = i == 0 ? 42 : 40; row < k.nrow; row++)
                near("rest", k.v[6 * row + 3], 0, 1e-9);
            drop(&k);
            lw_model_destroy(model);
        }
}

// x'' = -50 x -+ 3: half waves about -+3/50 of sqrt(50) rad/s, until the spring is weaker than the
// friction, |50 x| < 3.  Creep of the smooth law, v0 atanh(50 x / 3), belongs to it.
static void a_block_on_a_spring_sticks_where_it_must(void **state)
{
    (void)state;
    const double omega = sqrt(50), shift = 3.0 / 50;
    double x = sqrt(shift * shift + 1 / 50.0) - shift; // first reversal, from x = 0 at 1 m/s
    while (fabs(x) > shift) x = x > 0 ? -x + 2 * shift : -x - 2 * shift;
    for (int i = 0; i < LWI_COUNT(smooths); i++) {
        lw_model *model = block(smooths[i], 50);
        double off[2];
        for (int fine = 0; fine < 2; fine++) {
            track k = run_index3(model, fine ? 0.0025 : 0.01, 2, "0.01");
            converges(&k, smooths[i]);
            const double creep = 2 * smooths[i]; // atanh < 1, for 2 s
            off[fine] = fabs(k.r[6 * (k.nrow - 1) + 3] - x) - creep;
            drop(&k);
        }
        // the times of reversal are exact to a part of h: first order there, h^2 omega^2 elsewhere
        if (off[0] > 0.01 * omega * 0.01) fail_msg("speed %g: off by %g", smooths[i], off[0]);
        if (off[1] > 0.0025 * omega * 0.01) fail_msg("speed %g: off by %g", smooths[i], off[1]);
        lw_model_destroy(model);
    }
}

// Error-controlled steps pass stops and reversals of any sharpness, as accurately as requested.
static void steps_by_error_pass_stops(void **state)
{
    (void)state;
    static const double sharp[] = {1e-7, 1e-8, 1e-9, 1e-12};
    const double stiffness[] = {0, 50}, want[] = {1.0 / 6, 0.12 - (sqrt(0.0236) - 0.06)};
    for (int i = 0; i < LWI_COUNT(sharp); i++)
        for (int j = 0; j < 2; j++) {
            lw_model *model = block(sharp[i], stiffness[j]);
            lw_options o = index3(0, 2, "0.1");
            o.max_steps = 5000;
            track k = run(model, &o);
            // creep, v0 atanh(50 x / 3) < v0 / 2, for 2 s
            near("place", k.r[6 * (k.nrow - 1) + 3], want[j], 1e-8 + sharp[i]);
            drop(&k);
            lw_model_destroy(model);
        }
}

// Two links with friction in both joints: held where the torque is below it, falling where above; at rest in
// the end.
static lw_model *arm(double smooth, double torque)
{
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    for (int i = 0; i < 2; i++) {
        const lw_body link = lwt_body(b, &(lw_body_desc){.mass = 1,
                                                         .inertia = {0.01, 0.08, 0.08, 0, 0, 0},
                                                         .pose.position = {i + 0.5, 0, 0}});
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                               .body1 = before,
                               .body2 = link,
                               .at = {i, 0, 0},
                               .axis = {0, 0, 1}};
        hinge.coordinate[0].friction = (lw_friction_desc){.coulomb = torque, .speed = smooth};
        lwt_add(b, &hinge);
        before = link;
    }
    return lwt_model(b);
}

// 2 g of torque at the first hinge: 40 N m hold it, once the first step's half of a free fall is
// stopped, and reactions do not swing from row to row.
static void an_arm_that_friction_holds_stays(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(smooths); i++) {
        lw_model *model = arm(smooths[i], 40);
        track k = run_index3(model, 0.01, 1, "0.01");
        converges(&k, smooths[i]);
        // 3 rates of v0 atanh(.5) for 1 s at 1.5 m; 0.04 rad/s for the first step
        near("creep", largest(k.r, k.r + 9 * (k.nrow - 1), 9), 0, 3 * smooths[i] + 1e-3);
        for (int row = 5; row < k.nrow; row++) near("force", k.f[12 * row + 1], 2 * 9.81, 2e-2);
        drop(&k);
        lw_model_destroy(model);
    }
}

// 5 N m do not: the same motion for every smoothing, and for steps of half the length.
static void an_arm_falls_and_comes_to_rest(void **state)
{
    (void)state;
    lw_model *soft = arm(1e-3, 5);
    track want = run_exact(soft, 6, "0.1");
    for (int i = 0; i < LWI_COUNT(smooths); i++) {
        lw_model *model = arm(smooths[i], 5);
        track k = run_index3(model, 0.01, 6, "0.1"), fine = run_index3(model, 0.005, 6, "0.1");
        converges(&k, smooths[i]);
        // creep: 1e-3 rad/s of part of a radius of 1.5 m, for some of the 6 s
        near("arm", largest(k.r, want.r, (size_t)(9 * k.nrow)), 0, 1e-2);
        near("arm, fine", largest(fine.r, want.r, (size_t)(9 * k.nrow)), 0, 1e-2);
        near("rest", largest(k.v + 9 * (k.nrow - 1), (double[9]){0}, 9), 0, 4 * smooths[i]);
        drop(&k), drop(&fine);
        lw_model_destroy(model);
    }
    drop(&want);
    lw_model_destroy(soft);
}

// A hanging parallelogram with friction in all four joints: rows that hold sticking coordinates are parallel
// to rows of joints.
static lw_model *parallelogram(double smooth)
{
    lw_builder *b = lwt_builder();
    const lw_body left = lwt_rod(b, "left", 0, 0, -2, -1, 1),
                  top = lwt_rod(b, "top", -2, -1, 1, -1, 1),
                  right = lwt_rod(b, "right", 3, 0, 1, -1, 1);
    const lw_body pair[4][2] = {{lwt_ground, left}, {left, top}, {right, top}, {lwt_ground, right}};
    const double at[4][2] = {{0, 0}, {-2, -1}, {1, -1}, {3, 0}};
    for (int i = 0; i < 4; i++) {
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                               .body1 = pair[i][0],
                               .body2 = pair[i][1],
                               .at = {at[i][0], at[i][1], 0},
                               .axis = {0, 0, 1}};
        hinge.coordinate[0].friction = (lw_friction_desc){.coulomb = 3, .speed = smooth};
        lwt_add(b, &hinge);
    }
    return lwt_model(b);
}

static void a_loop_with_friction_in_every_hinge_stops(void **state)
{
    (void)state;
    lw_model *soft = parallelogram(1e-3);
    track want = run_exact(soft, 8, "0.1");
    for (int i = 0; i < LWI_COUNT(smooths); i++) {
        lw_model *model = parallelogram(smooths[i]);
        track k = run_index3(model, 0.01, 8, "0.1");
        // where two hinges stop at once an iteration is missing
        assert_int_equal(k.summary.rejected, 0);
        near("loop", largest(k.r, want.r, (size_t)(12 * k.nrow)), 0, 2e-2);
        near("rest", largest(k.v + 12 * (k.nrow - 1), (double[12]){0}, 12), 0, 6 * smooths[i]);
        assert_true(k.summary.residual[0] < 1e-10 && k.summary.residual[1] < 1e-6);
        drop(&k);
        lw_model_destroy(model);
    }
    drop(&want);
    lw_model_destroy(soft);
}

// A pendulum of 1 kg on two hinges with a body of 1e-3 kg between them, as wrists of robots have, from rest at a torque a
// little above the friction: speeds increase through the smooth part of the law for some tenths of a second.  By the
// mobility of the light body alone friction would be a hundred times stiffer than the steps; by that of the mechanism
// shorter steps resolve it.
static lw_model *wrist(double torque)
{
    lw_builder *b = lwt_builder();
    const lw_body between =
        lwt_body(b, &(lw_body_desc){.mass = 1e-3, .inertia = {1e-6, 1e-6, 1e-6, 0, 0, 0}});
    const lw_body heavy = lwt_body(b, &(lw_body_desc){.mass = 1,
                                                      .inertia = {0.01, 0.08, 0.08, 0, 0, 0},
                                                      .pose.position = {0.5, 0, 0}});
    const lw_body pair[2][2] = {{lwt_ground, between}, {between, heavy}};
    for (int i = 0; i < 2; i++) {
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                               .body1 = pair[i][0],
                               .body2 = pair[i][1],
                               .axis = {0, i, !i},
                               .has_q = 1,
                               .q = {0.3}};
        hinge.coordinate[0].friction = (lw_friction_desc){.coulomb = torque, .speed = 0.01};
        lwt_add(b, &hinge);
    }
    return lwt_model(b);
}

static void friction_is_of_order_two(void **state)
{
    (void)state;
    static const double torque[] = {4.6, 5, 2};
    for (int i = 0; i < LWI_COUNT(torque); i++) {
        lw_model *model = wrist(torque[i]);
        track want = run_exact(model, 0.5, "0.1");
        double off[3];
        for (int j = 0; j < 3; j++) {
            track k = run_index3(model, 2e-3 / (1 << j), 0.5, "0.1");
            off[j] = between(&k, &want).r;
            drop(&k);
        }
        if (off[0] > 1e-3) fail_msg("torque %g: off by %g", torque[i], off[0]);
        if (off[1] > 0.3 * off[0] || off[2] > 0.3 * off[1])
            fail_msg("torque %g: off by %g, %g, %g", torque[i], off[0], off[1], off[2]);
        drop(&want);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_stops_and_sticks),
        cmocka_unit_test(a_block_on_a_spring_sticks_where_it_must),
        cmocka_unit_test(steps_by_error_pass_stops),
        cmocka_unit_test(an_arm_that_friction_holds_stays),
        cmocka_unit_test(an_arm_falls_and_comes_to_rest),
        cmocka_unit_test(a_loop_with_friction_in_every_hinge_stops),
        cmocka_unit_test(friction_is_of_order_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
