// test_observe.c -- energies, momenta, residuals and merged bodies from one snapshot.
#include "tree/tree_cases.h"
#include "base/simd/lanes.h"
#include "kinematics/kernels.h"
#include "support/mechanism.h"

static void near(const char *what, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s: %.17g and %.17g differ by %g > %g", what, a, b, fabs(a - b), tolerance);
}

// ------------------------------------------------------------------------------------------ system

// A body in any attitude: T = m v^2/2 + w.I w/2, V = -m g.r, p = m v, L = r x p + R I w.
static void one_body_has_its_closed_form(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lwt_body(b, &(lw_body_desc){
                    .mass = 2,
                    .inertia = {0.3, 0.4, 0.5, 0, 0, 0},
                    .pose = {.position = {1, 2, 3}, .orientation = {sqrt(0.5), 0, 0, sqrt(0.5)}},
                    .has_velocity = 1,
                    .velocity = {0.5, -1, 2},
                    .angular_velocity = {1, 2, 3}});
    lw_model *model = lwt_model(b);
    lwi_arena arena;
    lwi_snapshot m;
    lwi_totals s;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    lwi_snapshot_start(model, &m);
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &m, &s);
    near("T", s.kinetic, 0.25 + 1 + 4 + 0.5 * (0.3 + 1.6 + 4.5), 1e-14);
    near("V", s.potential, 2 * 9.81 * 2, 1e-14);
    const double p[3] = {1, -2, 4}; // I w = (0.3, 0.8, 1.5), 90 degrees about z: (-0.8, 0.3, 1.5)
    const double L[3] = {2 * 4 + 3 * 2 - 0.8, 3 * 1 - 1 * 4 + 0.3, -1 * 2 - 2 * 1 + 1.5};
    for (int i = 0; i < 3; i++) {
        near("p", s.momentum[i], p[i], 1e-14);
        near("L", s.angular_momentum[i], L[i], 1e-13);
        near("residual", s.residual[i], 0, 0);
    }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

// Momentum balance of what floats: dp/dt = m g, dL/dt = sum r x m g when only internal forces act;
// as a difference of the momenta at two times.
static void momenta_follow_newton(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 20, LWT_MULTI | LWT_QUASI)
    {
        const lw_model *model = c.model;
        lwi_work *dense = lwt_work(model, &lwi_formulation_dense);
        lwi_arena arena;
        lwi_snapshot m;
        lwi_totals s;
        lwi_arena_init(&arena, NULL);
        lwt_tree_observe(&c, &arena, &m);
        double dp[3] = {0}, dL[3] = {0}, *x = lwt_reals(dense->layout.nx);
        lwt_ok(lwi_formulation_dense.enter(dense, &m, x), &dense->error);
        for (int i = 0; i < 4; i++) {
            double *y = lwt_reals(dense->layout.nx), t = c.t;
            lwi_snapshot there;
            memcpy(y, x, (size_t)dense->layout.nx * sizeof *x);
            lwt_integrate(dense, &t, y, c.input, lwt_offset[i], 1);
            lwt_observe(dense, t, y, c.input, &arena, &there);
            lwi_observe_system(model, LW_OBSERVE_ENERGY, &there, &s);
            v3_axpy(dp, lwt_weight[i], s.momentum);
            v3_axpy(dL, lwt_weight[i], s.angular_momentum);
            free(y);
        }
        double f[3] = {0}, n[3] = {0}; // gravity and the reactions at the ground
        for (int b = 1; b < model->nbody; b++) {
            double mg[3];
            v3_scale(mg, model->body[b].mass, model->gravity);
            v3_add(f, f, mg);
            v3_cross_add(n, m.r[b], mg);
        }
        for (int j = 0; j < model->njoint; j++) {
            const lwi_joint *joint = &model->joint[j];
            if (joint->body1 != 0 && joint->body2 != 0) continue;
            const double sign = joint->body1 == 0 ? 1 : -1;
            double p[3], torque[3];
            m3_mul_v(p, m.R[joint->body2], joint->r2);
            v3_add(p, p, m.r[joint->body2]);
            v3_cross(torque, p, m.reaction[j]);
            v3_add(torque, torque, m.reaction[j] + 3);
            v3_axpy(f, sign, m.reaction[j]);
            v3_axpy(n, sign, torque);
        }
        // the difference's truncation and the Runge-Kutta step's error, both of order h^4
        for (int i = 0; i < 3; i++) {
            lwt_close(&c, "force", i, dp[i], f[i], 1e-6);
            lwt_close(&c, "torque", i, dL[i], n[i], 1e-6);
        }
        free(x);
        lwi_work_destroy(dense);
        lwi_arena_free(&arena);
    }
}

// --------------------------------------------------------------------------------------- residuals

static void residuals_vanish_on_the_constraints(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_ALL)
    {
        lwi_arena arena;
        lwi_snapshot m;
        lwi_totals s;
        lwi_arena_init(&arena, NULL);
        lwt_tree_observe(&c, &arena, &m);
        lwi_observe_system(c.model, LW_OBSERVE_REACTION, &m, &s);
        // world positions and velocities up to 1e2, accelerations up to 1e3
        lwt_close(&c, "position", 0, s.residual[0], 0, 1e-12);
        lwt_close(&c, "velocity", 0, s.residual[1], 0, 1e-11);
        lwt_close(&c, "acceleration", 0, s.residual[2], 0, 1e-9);
        lwi_arena_free(&arena);
    }
}

// Bodies in any motion at constant accelerations, up to t^3; what is merged follows its carrier.
static void drift(const lw_model *model, const lwi_snapshot *from, double t, lwi_snapshot *to)
{
    to->t = from->t + t;
    memcpy(to->q, from->q, (size_t)model->nq * sizeof *to->q);
    for (int b = 1; b < model->nbody; b++) {
        if (model->body[b].carrier != b) continue;
        double axis[3], turn[9];
        v3_copy(to->r[b], from->r[b]);
        v3_axpy(to->r[b], t, from->v[b]);
        v3_axpy(to->r[b], 0.5 * t * t, from->a[b]);
        v3_scale(axis, t, from->w[b]);
        v3_axpy(axis, 0.5 * t * t, from->al[b]);
        const double angle = v3_norm(axis);
        v3_scale(axis, angle != 0 ? 1 / angle : 0, axis);
        rot_axis(turn, axis, angle);
        m3_mul(to->R[b], from->R[b], turn);
        v3_copy(to->v[b], from->v[b]);
        v3_axpy(to->v[b], t, from->a[b]);
        v3_copy(to->w[b], from->w[b]);
        v3_axpy(to->w[b], t, from->al[b]);
        v3_copy(to->a[b], from->a[b]);
        v3_copy(to->al[b], from->al[b]);
    }
}

static void same_residuals_in_every_width(const lw_model *model, const lwi_snapshot *m, int j)
{
    const lwi_joint *joint = &model->joint[j];
    const lwi_observe_kernels *widest = lwi_observe_kernels_of(0);
    int lanes[LWI_LANES];
    if (!widest || !joint->type->points || joint->merged || joint->ndriven || joint->mount.present)
        return;
    for (int k = 0; k < joint->type->nc; k++)
        if (joint->type->row[k].kind == LWI_ROW_ATTITUDE) return;
    for (int l = 0; l < LWI_LANES; l++) lanes[l] = j;
    for (int width = 1; width <= LWI_LANES; width *= 2) {
        const lwi_observe_kernels *kernels = lwi_observe_kernels_of(width);
        double a[3] = {0}, b[3] = {0};
        if (!kernels) continue;
        widest->residuals(model, m, lanes, 3, a);
        kernels->residuals(model, m, lanes, 3, b);
        assert_memory_equal(a, b, sizeof a);
    }
}

// The largest residuals of the mechanism are those of its joints one by one, also off the constraints.
static void largest_residuals_are_those_of_joints(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_ALL)
    {
        const lw_model *model = c.model;
        double e[3][LWI_CLOSURE_ROWS], largest[3] = {0}, all[3];
        lwi_arena arena;
        lwi_snapshot m;
        lwi_arena_init(&arena, NULL);
        lwt_tree_observe(&c, &arena, &m);
        for (int b = 1; b < model->nbody; b++)
            for (int i = 0; i < 3; i++) {
                m.r[b][i] += lwt_random(&c.state, -1, 1);
                m.v[b][i] += lwt_random(&c.state, -1, 1);
                m.w[b][i] += lwt_random(&c.state, -1, 1);
                m.a[b][i] += lwt_random(&c.state, -1, 1);
                m.al[b][i] += lwt_random(&c.state, -1, 1);
            }
        lwi_observe_residuals(model, LW_OBSERVE_REACTION, &m, all);
        for (int j = 0; j < model->njoint; j++) {
            const int n = lwi_joint_residual(model, j, &m, e[0], e[1], e[2]);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < n; k++) largest[i] = fmax(largest[i], fabs(e[i][k]));
        }
        for (int i = 0; i < 3; i++)
            lwt_close(&c, "largest residual", i, all[i], largest[i], 1e-12 * (1 + largest[i]));
        for (int j = 0; j < model->njoint; j++) same_residuals_in_every_width(model, &m, j);
        lwi_arena_free(&arena);
    }
}

// Off the constraints residuals show what is wrong, and each level is the derivative of the one
// above, with drives and mounts in motion.
static void residuals_differentiate_each_other(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 40, LWT_ALL & ~LWT_CUSTOM) // custom rows promise it on the joint only
    {
        const lw_model *model = c.model;
        lwi_arena arena;
        lwi_snapshot m, there;
        lwi_arena_init(&arena, NULL);
        lwt_tree_observe(&c, &arena, &m);
        assert_int_equal(lwi_snapshot_create(model, &arena, &there), LW_OK);
        for (int b = 1; b < model->nbody; b++)
            for (int i = 0; i < 3; i++) {
                m.r[b][i] += lwt_random(&c.state, -0.05, 0.05);
                m.v[b][i] = lwt_random(&c.state, -1, 1);
                m.w[b][i] = lwt_random(&c.state, -1, 1);
                m.a[b][i] = lwt_random(&c.state, -1, 1);
                m.al[b][i] = lwt_random(&c.state, -1, 1);
            }
        for (int j = 0; j < model->njoint; j++) {
            double e[3][LWI_CLOSURE_ROWS], x[3][LWI_CLOSURE_ROWS], d[2][LWI_CLOSURE_ROWS] = {{0}};
            const int n = lwi_joint_residual(model, j, &m, e[0], e[1], e[2]);
            assert_int_equal(
                n, model->joint[j].merged ? 0 : model->joint[j].type->nc + model->joint[j].ndriven);
            for (int i = 0; i < 4; i++) {
                drift(model, &m, lwt_offset[i], &there);
                lwi_joint_residual(model, j, &there, x[0], x[1], x[2]);
                for (int k = 0; k < n; k++) {
                    d[0][k] += lwt_weight[i] * x[0][k];
                    d[1][k] += lwt_weight[i] * x[1][k];
                }
            }
            for (int k = 0; k < n; k++) {
                lwt_close(&c, "phidot of joint", j, e[1][k], d[0][k], LWT_DERIVATIVE_TOLERANCE);
                lwt_close(&c, "phiddot of joint", j, e[2][k], d[1][k], LWT_DERIVATIVE_TOLERANCE);
            }
        }
        lwi_arena_free(&arena);
    }
}

// A body moved off its joint: the residual is how far; a joint driven wrongly: by how much.
static void residuals_measure_what_is_wrong(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1);
    lw_joint_desc desc = {.type = LW_JOINT_REVOLUTE, .body2 = A, .axis = {0, 0, 1}};
    desc.coordinate[0].motion = lwt_function(
        b, &(lw_function_desc){.type = LW_FUNCTION_SINE, .amplitude = 0.5, .omega = 2});
    desc.has_q = desc.has_qd = 1;
    desc.qd[0] = 1;
    lwt_add(b, &desc);
    lw_model *model = lwt_model(b);
    lwi_arena arena;
    lwi_snapshot m;
    lwi_totals s;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    lwi_snapshot_start(model, &m);
    v3_set(m.a[1], -0.5, 0, 0); // w = 1, no angular acceleration: sin'' = 0 at t = 0
    lwi_observe_system(model, LW_OBSERVE_REACTION, &m, &s);
    for (int i = 0; i < 3; i++) near("on the constraints", s.residual[i], 0, 1e-15);
    m.r[1][1] += 1e-3;
    m.v[1][2] -= 2e-3;
    m.a[1][1] += 3e-3;
    lwi_observe_system(model, LW_OBSERVE_REACTION, &m, &s);
    near("position", s.residual[0], 1e-3, 1e-15);
    near("velocity", s.residual[1], 2e-3, 1e-15);
    near("acceleration", s.residual[2], 3e-3, 1e-15);
    lwi_snapshot_start(model, &m);
    m.t = 0.1; // the drive has advanced, the body has not
    lwi_observe_system(model, LW_OBSERVE_ENERGY, &m, &s);
    near("drive", s.residual[0], 0.5 * sin(0.2), 1e-15);
    near("drive", s.residual[1], 1 - cos(0.2), 1e-15);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------ merged

// Massless bodies on a rotating arm, one behind the other, with a force on the outer one and a rod
// hanging on it: they move as points of the arm, and every body is balanced.
static void merged_bodies_follow_and_balance(void **state)
{
    (void)state;
    for (int reversed = 0; reversed < 2; reversed++) {
        lw_builder *b = lwt_builder();
        const lw_body arm = lwt_rod(b, "arm", 0, 0, 1, 0, 2);
        const lw_body inner =
            lwt_body(b, &(lw_body_desc){.name = "inner", .pose.position = {1, 0.2, 0.1}});
        const lw_body outer =
            lwt_body(b, &(lw_body_desc){.name = "outer",
                                        .pose = {.position = {1.2, 0.5, 0},
                                                 .orientation = {2 / sqrt(5), 0, 1 / sqrt(5), 0}}});
        const lw_body wall =
            lwt_body(b, &(lw_body_desc){.name = "bracket", .pose.position = {-1, 0, 0}});
        const lw_body rod = lwt_rod(b, "rod", 1.2, 0.5, 1.2, -0.5, 1);
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                               .body1 = wall,
                               .body2 = arm,
                               .has_qd = 1,
                               .has_q = 1,
                               .axis = {0, 0, 1}};
        hinge.qd[0] = 3;
        lwt_add(b, &(lw_joint_desc){.name = "w", .type = LW_JOINT_FIXED, .body2 = wall});
        lwt_add(b, &hinge);
        lwt_add(b, &(lw_joint_desc){.name = "i",
                                    .type = LW_JOINT_FIXED,
                                    .at = {1, 0, 0},
                                    .body1 = reversed ? inner : arm,
                                    .body2 = reversed ? arm : inner});
        lwt_add(b, &(lw_joint_desc){.name = "o",
                                    .type = LW_JOINT_FIXED,
                                    .at = {1.1, 0.3, 0},
                                    .body1 = reversed ? outer : inner,
                                    .body2 = reversed ? inner : outer});
        lw_joint_desc last = {.type = LW_JOINT_UNIVERSAL,
                              .body1 = outer,
                              .body2 = rod,
                              .at = {1.2, 0.5, 0},
                              .axis = {0, 0, 1},
                              .axis2 = {1, 0, 0},
                              .has_qd = 1,
                              .has_q = 1};
        last.coordinate[1].stiffness = 3, last.coordinate[1].at = 0.4;
        last.coordinate[0].damping = 0.2;
        last.qd[0] = -1, last.qd[1] = 2;
        lwt_add(b, &last);
        lwt_wrench(b, &(lw_wrench_desc){.body = outer,
                                        .point = {0.1, 0.2, 0.3},
                                        .force = {1, 2, 3},
                                        .torque = {-1, 0, 2}});
        lwt_spring(b,
                   &(lw_spring_desc){.body1 = inner, .body2 = rod, .stiffness = 10, .damping = 1});
        lw_model *model = lwt_model(b);
        assert_int_equal(model->nmerged, 3);
        const lwi_formulation *formulations[] = {&lwi_formulation_aba, &lwi_formulation_dense};
        for (int f = 0; f < 2; f++) {
            lwi_work *work = lwt_work(model, formulations[f]);
            lwi_arena arena;
            lwi_snapshot m;
            lwi_arena_init(&arena, NULL);
            assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
            double *x = lwt_reals(work->layout.nx), t = 0;
            lwi_snapshot_start(model, &m);
            lwt_ok(work->formulation->enter(work, &m, x), &work->error);
            lwt_integrate(work, &t, x, NULL, 1e-3, 200);
            lwt_observe(work, t, x, NULL, &arena, &m);
            const double q = m.q[model->joint[1].iq], qd = m.qd[model->joint[1].iv];
            const double qdd = m.qdd[model->joint[1].iv];
            const double p[3] = {1.2 * cos(q) - 0.5 * sin(q), 1.2 * sin(q) + 0.5 * cos(q), 0};
            near("x", m.r[outer.index][0], p[0], 1e-9);
            near("y", m.r[outer.index][1], p[1], 1e-9);
            near("vx", m.v[outer.index][0], -qd * p[1], 1e-8);
            near("vy", m.v[outer.index][1], qd * p[0], 1e-8);
            near("ax", m.a[outer.index][0], -qdd * p[1] - qd * qd * p[0], 1e-7);
            near("ay", m.a[outer.index][1], qdd * p[0] - qd * qd * p[1], 1e-7);
            // outer's own axes: rotated by 2 atan(1/2) about y
            near("wx", m.w[outer.index][0], -0.8 * qd, 1e-8);
            near("wz", m.w[outer.index][2], 0.6 * qd, 1e-8);
            near("alz", m.al[outer.index][2], 0.6 * qdd, 1e-7);
            double R[9];
            quat_matrix(R, m.quat[outer.index]);
            for (int i = 0; i < 9; i++) near("R", R[i], m.R[outer.index][i], 1e-14);
            near("bracket", m.r[wall.index][0], -1, 0);
            near("bracket", v3_norm(m.v[wall.index]), 0, 0);
            near("balance", lwt_imbalance(model, NULL, &m), 0, 1e-8); // drift of dense, order four
            for (int j = 0; j < model->njoint; j++) assert_int_equal(m.unique[j], 1);
            free(x);
            lwi_work_destroy(work);
            lwi_arena_free(&arena);
        }
        lw_model_destroy(model);
    }
}

// Every body of random trees, merged ones too, is balanced by what is observed.
static void every_body_is_balanced(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 60, LWT_ALL)
    {
        lwi_arena arena;
        lwi_snapshot m;
        lwi_arena_init(&arena, NULL);
        lwt_tree_observe(&c, &arena, &m);
        double size = 1; // forces and moments about mass centres some lengths apart
        for (int j = 0; j < c.model->njoint; j++)
            size = fmax(size, sqrt(v6_dot(m.reaction[j], m.reaction[j])));
        lwt_close(&c, "balance", 0, lwt_imbalance(c.model, c.input, &m) / size, 0, 1e-12);
        lwi_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_body_has_its_closed_form),
        cmocka_unit_test(momenta_follow_newton),
        cmocka_unit_test(residuals_vanish_on_the_constraints),
        cmocka_unit_test(largest_residuals_are_those_of_joints),
        cmocka_unit_test(residuals_differentiate_each_other),
        cmocka_unit_test(residuals_measure_what_is_wrong),
        cmocka_unit_test(merged_bodies_follow_and_balance),
        cmocka_unit_test(every_body_is_balanced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
