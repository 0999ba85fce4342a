// test_reach.c -- Jacobians against differences, inverse kinematics against closed forms.
#include "analysis/analysis_cases.h"
#include "analysis/placement.h"
#include "support/random_loops.h"

static lw_kinematics *placed(const lw_model *model)
{
    lw_kinematics *k;
    lw_error error;
    lwt_ok(lw_kinematics_create(model, NULL, &k, &error), &error);
    return k;
}

// The displacement of a point, and the rotation of its body, between two states [6].
static void displacement(const lw_point_motion *from, const lw_point_motion *to, double out[6])
{
    double back[4] = {from->quaternion[0], -from->quaternion[1], -from->quaternion[2],
                      -from->quaternion[3]},
           d[4];
    v3_sub(out, to->position, from->position);
    quat_mul(d, to->quaternion, back);
    for (int i = 0; i < 3; i++) out[3 + i] = (d[0] < 0 ? -2 : 2) * d[1 + i]; // small rotations
}

// Random mechanisms with loops: Jacobians by independent speeds are differences along the loops, and those by the speeds
// of the tree give the velocities of the state.
static void test_jacobians(void **state)
{
    (void)state;
    uint64_t seed = 7;
    LWT_FOR_LOOPS(c, 24, LWT_LOOP_ALL & ~LWT_CUSTOM)
    {
        lw_kinematics *k = placed(c.model);
        lw_error error;
        const int f = lw_kinematics_dof(k), n = c.model->tree_nv;
        const lw_body body = {1 + (int)(seed % (uint64_t)(c.model->nbody - 1))};
        const lw_vec3 point = {0.3, -0.2, 0.4};
        double *J = lwt_vector(6 * f), *T = lwt_vector(6 * n), *q = lwt_vector(c.model->tree_nq),
               *v = lwt_vector(n), *y = lwt_vector(n);
        lw_point_motion moving, side[2], still;
        assert_int_equal(f, c.dof);
        lw_model_tree_start(c.model, q, v);
        lwt_ok(lw_kinematics_set(k, 0, q, v, &error), &error);
        assert_int_equal(lw_kinematics_point(k, body, point, &moving), LW_OK);
        assert_int_equal(lw_kinematics_tree_jacobian(k, body, point, LW_AXES_WORLD, T), LW_OK);
        lwt_ok(lw_kinematics_set(k, 0, q, NULL, &error), &error);
        assert_int_equal(lw_kinematics_point(k, body, point, &still), LW_OK);
        for (int r = 0; r < 6; r++) {
            double sum = r < 3 ? still.velocity[r] : still.angular_velocity[r - 3]; // of drives
            for (int i = 0; i < n; i++) sum += T[r * n + i] * v[i];
            lwt_near(sum, r < 3 ? moving.velocity[r] : moving.angular_velocity[r - 3],
                     1e-12 * (1 + fabs(sum)));
        }
        assert_int_equal(lw_kinematics_jacobian(k, body, point, LW_AXES_WORLD, J), LW_OK);
        for (int j = 0; j < f; j++) {
            const double h = 1e-5;
            double near[6], start[6] = {0};
            for (int side_ = 0; side_ < 2; side_++) {
                double *at = lwt_vector(c.model->tree_nq);
                lwi_manifold *m = &k->at.manifold;
                memcpy(at, q, (size_t)c.model->tree_nq * sizeof *at);
                lwt_ok(lwi_placement_set(k, 0, q, NULL, &error), &error);
                for (int i = 0; i < n; i++) y[i] = (side_ ? h : -h) * m->B[j * n + i];
                lwi_manifold_move(m, at, y);
                lwt_ok(lwi_manifold_close(m, at, &error), &error);
                lwt_ok(lw_kinematics_set(k, 0, at, NULL, &error), &error);
                lw_kinematics_point(k, body, point, &side[side_]);
                free(at);
            }
            displacement(&side[0], &side[1], near);
            (void)start;
            for (int r = 0; r < 6; r++)
                lwt_near(near[r] / (2 * h), J[r * f + j], 1e-7 * (1 + fabs(J[r * f + j])));
        }
        // in axes of the body the lengths of the parts are the same
        double *own = lwt_vector(6 * f);
        lwt_ok(lw_kinematics_set(k, 0, q, NULL, &error), &error);
        lw_kinematics_jacobian(k, body, point, LW_AXES_WORLD, J);
        lw_kinematics_jacobian(k, body, point, LW_AXES_BODY, own);
        double R[9];
        quat_matrix(R, still.quaternion);
        for (int j = 0; j < f; j++)
            for (int part = 0; part < 6; part += 3) {
                double a[3], b[3];
                for (int i = 0; i < 3; i++) a[i] = own[(part + i) * f + j];
                m3_mul_v(b, R, a);
                for (int i = 0; i < 3; i++)
                    lwt_near(b[i], J[(part + i) * f + j], 1e-12 * (1 + fabs(b[i])));
            }
        lwt_random(&seed, 0, 1);
        free(J), free(T), free(q), free(v), free(y), free(own);
        lw_kinematics_destroy(k);
    }
}

// Two rods of 0.5 and 0.4 m.
static lw_model *two_rods(bool limited)
{
    lw_builder *b = lwt_builder();
    const lw_body upper = lwt_rod(b, "upper", 0, 0, 0.5, 0, 1),
                  lower = lwt_rod(b, "lower", 0.5, 0, 0.5, 0.4, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "shoulder", lwt_ground, upper, 0, 0);
    lw_joint_desc elbow = {.name = "elbow",
                           .type = LW_JOINT_REVOLUTE,
                           .body1 = upper,
                           .body2 = lower,
                           .at = {0.5, 0, 0},
                           .axis = {0, 0, 1}};
    if (limited)
        elbow.coordinate[0].limits =
            (lw_limits_desc){.lower = -0.5, .upper = 0.5, .has_lower = true, .has_upper = true};
    lwt_add(b, &elbow);
    return lwt_model(b);
}

static lw_reach_report reach(lw_kinematics *k, int count, const lw_goal *goals,
                             const lw_reach_desc *desc, double *q, double *gaps)
{
    lw_reach_report report;
    lw_error error;
    lwt_ok(lw_kinematics_reach(k, count, goals, desc, q, gaps, &report, &error), &error);
    return report;
}

static void test_two_rods(void **state)
{
    (void)state;
    lw_model *model = two_rods(false), *limited = two_rods(true);
    lw_kinematics *k = placed(model), *l = placed(limited);
    const lw_vec3 tip = {0.2, 0, 0};
    double q[2] = {0, 0}, gap;
    lw_point_motion at;
    // the angle between the rods is that of the triangle 0.5, 0.4, 0.7
    lw_goal goal = {.body = {2}, .point = tip, .position = {0.7 * cos(1.1), 0.7 * sin(1.1), 0}};
    lw_reach_report r = reach(k, 1, &goal, NULL, q, &gap);
    assert_int_equal(r.outcome, LW_REACHED);
    assert_true(gap <= 1e-9 && r.iterations < 20);
    lw_kinematics_point(k, goal.body, tip, &at);
    lwt_near(at.position[0], goal.position.x, 1e-9);
    const double inside = acos((0.25 + 0.16 - 0.49) / (2 * 0.5 * 0.4)); // at the elbow
    lwt_near(fabs(q[1] + LWT_PI / 2), LWT_PI - inside, 1e-8);

    // out of reach: stretched towards the goal, 0.3 m short
    goal.position = (lw_vec3){1.2 * cos(2.0), 1.2 * sin(2.0), 0};
    r = reach(k, 1, &goal, NULL, q, &gap);
    assert_int_equal(r.outcome, LW_REACH_MINIMUM);
    lwt_near(gap, 0.3, 1e-9);
    r = reach(k, 1, &goal, &(lw_reach_desc){.starts = 4}, q, &gap);
    assert_int_equal(r.outcome, LW_REACH_UNREACHABLE);
    assert_int_equal(r.starts, 4);

    // the elbow moves 0.5 rad at most: the tip comes no nearer to the shoulder than so
    double p[2] = {0, 0};
    goal.position = (lw_vec3){0.1, 0, 0};
    r = reach(l, 1, &goal, NULL, p, &gap);
    assert_int_equal(r.outcome, LW_REACH_LIMITS);
    assert_int_equal(r.active, 1);
    assert_string_equal(r.limit, "joint.elbow.q0");
    lwt_near(p[1], 0.5, 1e-9);
    const double d = sqrt(0.25 + 0.16 - 2 * 0.5 * 0.4 * cos(LWT_PI / 2 - 0.5));
    lwt_near(gap, d - 0.1, 1e-8);
    r = reach(l, 1, &goal, &(lw_reach_desc){.ignore_limits = true}, p, &gap);
    assert_int_equal(r.outcome, LW_REACHED);

    // weights: a point that two goals want, shared in the ratio of the squares
    const lw_goal both[] = {{.body = {2}, .point = tip, .position = {0.6, 0.1, 0}, .weight = 2},
                            {.body = {2}, .point = tip, .position = {0.6, 0.2, 0}}};
    double gaps[2];
    r = reach(k, 2, both, NULL, q, gaps);
    lwt_near(gaps[0], 0.02, 1e-8);
    lwt_near(gaps[1], 0.08, 1e-8);
    const lw_goal angle = {.type = LW_GOAL_JOINT, .joint = {1}, .value = 0.3};
    r = reach(k, 1, &angle, NULL, q, gaps);
    assert_int_equal(r.outcome, LW_REACHED);
    lwt_near(q[1], 0.3, 1e-9);
    lw_kinematics_destroy(k), lw_kinematics_destroy(l);
    lw_model_destroy(model), lw_model_destroy(limited);
}

// A wrist of three hinges that are not normal to each other: an orientation some 1 rad away, in few steps; of two
// orientations the mean of the rotations.
static void test_wrist(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    static const lw_vec3 axis[] = {{0, 0, 1}, {1, 0, 0.2}, {0.3, 1, 0}};
    lw_body last = lwt_ground;
    for (int i = 0; i < 3; i++) {
        const lw_body next =
            lwt_body(b, &(lw_body_desc){.mass = 1, .inertia = {0.1, 0.1, 0.1, 0, 0, 0}});
        lwt_add(b, &(lw_joint_desc){
                       .type = LW_JOINT_REVOLUTE, .body1 = last, .body2 = next, .axis = axis[i]});
        last = next;
    }
    lw_model *model = lwt_model(b);
    lw_kinematics *k = placed(model);
    lw_error error;
    lw_point_motion there;
    double q[] = {0.9, -0.7, 0.8}, start[3] = {0}, gap;
    lwt_ok(lw_kinematics_set(k, 0, q, NULL, &error), &error);
    lw_kinematics_point(k, last, (lw_vec3){0}, &there);
    const double *o = there.quaternion;
    const lw_goal goal = {
        .type = LW_GOAL_ORIENTATION, .body = last, .orientation = {o[0], o[1], o[2], o[3]}};
    const lw_reach_report r = reach(k, 1, &goal, NULL, start, &gap);
    assert_int_equal(r.outcome, LW_REACHED);
    for (int i = 0; i < 3; i++) lwt_near(start[i], q[i], 1e-8);
    assert_true(r.iterations <= 10);
    lw_goal both[] = {
        goal, {.type = LW_GOAL_ORIENTATION, .body = last}}; // the second one is that of the start
    double gaps[2];
    const double angle = 2 * acos(fabs(o[0]));
    assert_int_equal(reach(k, 2, both, NULL, start, gaps).outcome, LW_REACH_MINIMUM);
    lwt_near(gaps[0], angle / 2, 1e-6);
    lwt_near(gaps[1], angle / 2, 1e-6);
    lw_kinematics_destroy(k);
    lw_model_destroy(model);
}

// A four-bar: the coupler's midpoint as near as possible to a point, and the angle of the joint that closes the loop.
static void test_four_bar(void **state)
{
    (void)state;
    lw_model *model = lwt_sprung_four_bar(0.9, 0);
    lw_kinematics *k = placed(model);
    double *q = lwt_vector(model->tree_nq), *v = lwt_vector(model->tree_nv), gap;
    int cut = model->loop[0];
    lw_model_tree_start(model, q, v);
    const double start = k->at.manifold.constraints->tree.joint_q[model->joint[cut].iq];
    lw_goal goal = {.type = LW_GOAL_JOINT, .joint = {cut}, .value = start + 0.2};
    lw_reach_report r = reach(k, 1, &goal, NULL, q, &gap);
    assert_int_equal(r.outcome, LW_REACHED);
    lw_error error;
    lwt_ok(lw_kinematics_set(k, 0, q, NULL, &error), &error); // the loops are closed
    lwt_near(k->at.manifold.constraints->tree.joint_q[model->joint[cut].iq], start + 0.2, 1e-9);
    // one degree of freedom: the midpoint comes near to a point off its curve; there its way is normal to the gap
    goal = (lw_goal){.body = {2}, .position = {0.6, 1.2, 0}};
    r = reach(k, 1, &goal, NULL, q, &gap);
    assert_int_equal(r.outcome, LW_REACH_MINIMUM);
    double J[6];
    lw_point_motion at;
    lw_kinematics_point(k, goal.body, goal.point, &at);
    lw_kinematics_jacobian(k, goal.body, goal.point, LW_AXES_WORLD, J);
    lwt_near(J[0] * (at.position[0] - 0.6) + J[1] * (at.position[1] - 1.2), 0, 1e-7);
    free(q), free(v);
    lw_kinematics_destroy(k);
    lw_model_destroy(model);
}

static void test_refusals(void **state)
{
    (void)state;
    lw_model *model = lwt_sprung_four_bar(0.9, 0);
    lw_kinematics *k = placed(model), *none = NULL;
    lw_error error;
    double q[4], v[4];
    lw_model_tree_start(model, q, v);
    q[0] += 0.1;
    lwt_refused(lw_kinematics_set(k, 0, q, NULL, &error), LW_ERR_ARGUMENT, &error,
                "coordinates do not satisfy joint");
    lw_point_motion motion;
    double J[24];
    const lw_vec3 nowhere = {0, NAN, 0};
    assert_int_equal(lw_kinematics_point(k, (lw_body){1}, nowhere, &motion), LW_ERR_NOT_FINITE);
    assert_int_equal(lw_kinematics_jacobian(k, (lw_body){1}, nowhere, LW_AXES_WORLD, J),
                     LW_ERR_NOT_FINITE);
    assert_int_equal(lw_kinematics_tree_jacobian(k, (lw_body){1}, nowhere, LW_AXES_WORLD, J),
                     LW_ERR_NOT_FINITE);
    assert_int_equal(lw_kinematics_point(k, (lw_body){4}, (lw_vec3){0}, &motion), LW_ERR_ARGUMENT);
    lw_goal goal = {.body = {9}};
    lwt_refused(lw_kinematics_reach(k, 1, &goal, NULL, q, NULL, NULL, &error), LW_ERR_ARGUMENT,
                &error, "goal 0: body 9, expected 1 to 3");
    goal = (lw_goal){.type = LW_GOAL_POSE, .body = {1}, .orientation = {2, 0, 0, 0}};
    lwt_refused(lw_kinematics_reach(k, 1, &goal, NULL, q, NULL, NULL, &error), LW_ERR_ARGUMENT,
                &error, "orientation has length 2");
    goal = (lw_goal){.type = LW_GOAL_JOINT, .joint = {0}, .coordinate = 1};
    lwt_refused(lw_kinematics_reach(k, 1, &goal, NULL, q, NULL, NULL, &error), LW_ERR_ARGUMENT,
                &error, "joint 'A' has no scalar coordinate 1");
    lwt_refused(lw_kinematics_create(model, "X", &none, &error), LW_ERR_ARGUMENT, &error,
                "there is no joint 'X'");
    lw_kinematics_destroy(k);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jacobians), cmocka_unit_test(test_two_rods),
        cmocka_unit_test(test_wrist), cmocka_unit_test(test_four_bar),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
