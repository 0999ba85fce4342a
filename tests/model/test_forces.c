// test_forces.c -- applied forces of a model: values, energy balance, reciprocity, breaks.
#include "joint_cases.h"
#include "model/model.h"

#include <float.h>
#include <string.h>

enum { MAX_BODY = 6, MAX_V = 16 };

/** State of all bodies and joints as the force functions read it, and the loads they add to. */
typedef struct snapshot {
    double R[MAX_BODY][9], r[MAX_BODY][3], v[MAX_BODY][3], w[MAX_BODY][3];
    double q[MAX_V], qd[MAX_V];
    lwi_kin kin;
    double wrench[MAX_BODY][6], effort[MAX_V];
    lwi_loads loads;
} snapshot;

static void link_pointers(snapshot *s)
{
    s->kin = (lwi_kin){.R = (const double(*)[9])s->R,
                       .r = (const double(*)[3])s->r,
                       .v = (const double(*)[3])s->v,
                       .w = (const double(*)[3])s->w,
                       .q = s->q,
                       .qd = s->qd};
    s->loads = (lwi_loads){.wrench = s->wrench, .effort = s->effort};
}

// Random motion: forces do not depend on whether joints allow it.
static void random_state(uint64_t *seed, snapshot *s)
{
    memset(s, 0, sizeof *s);
    for (int b = 0; b < MAX_BODY; b++) {
        random_rotation(seed, s->R[b]);
        random_fill(seed, 1, s->r[b], 3);
        random_fill(seed, 1, s->v[b], 3);
        random_fill(seed, 1, s->w[b], 3);
    }
    random_fill(seed, 1, s->q, MAX_V);
    random_fill(seed, 1, s->qd, MAX_V);
    m3_identity(s->R[0]);
    v3_set(s->r[0], 0, 0, 0);
    v3_set(s->v[0], 0, 0, 0);
    v3_set(s->w[0], 0, 0, 0);
    link_pointers(s);
}

// The state after a time t at constant velocities; scalar joint coordinates follow their speeds.
static snapshot moved(const lw_model *model, const snapshot *s, double t)
{
    snapshot n = *s;
    for (int b = 1; b < MAX_BODY; b++) {
        double axis[3], turn[9];
        const double w = v3_norm(s->w[b]);
        v3_scale(axis, 1 / w, s->w[b]);
        rot_axis(turn, axis, w * t);
        m3_mul(n.R[b], turn, s->R[b]);
        v3_axpy(n.r[b], t, s->v[b]);
    }
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        for (int k = 0; joint->type->scalar && k < joint->type->nv; k++)
            n.q[joint->iq + k] += t * s->qd[joint->iv + k];
    }
    return n;
}

// ---- models

typedef struct fixture {
    lw_builder *builder;
    lw_model *model;
    lw_body a, b, massless; ///< `massless` is massless and fixed to a
    lw_joint hinge, slot, ball;
    lw_signal ramp, step, table, drive, input;
} fixture;

static void check(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s", error->text);
}

static lw_signal add_function(fixture *f, lw_function_desc desc)
{
    lw_error e = {0};
    lw_signal s = {0};
    check(lw_builder_add_function(f->builder, &desc, &s, &e), &e);
    return s;
}

static void start(fixture *f)
{
    static const double t[] = {0, 1, 2}, y[] = {1, 3, 2};
    const lw_body_desc heavy = {.mass = 2,
                                .inertia = {0.3, 0.4, 0.5, 0.01, -0.02, 0.03},
                                .com = {0.1, -0.2, 0.3},
                                .pose.position = {1, 0, 0}};
    const lw_body_desc massless = {.name = "massless", .pose.position = {1, 2, 3}};
    lw_error e = {0};
    memset(f, 0, sizeof *f);
    check(lw_builder_create(NULL, &f->builder), &e);
    lw_builder_gravity(f->builder, (lw_vec3){1, -2, -9});
    f->ramp = add_function(f, (lw_function_desc){.type = LW_FUNCTION_RAMP, .rate = 2, .from = 4});
    f->step = add_function(
        f, (lw_function_desc){.type = LW_FUNCTION_STEP, .from = 1, .to = 2, .start = 3, .end = 6});
    f->table =
        add_function(f, (lw_function_desc){.type = LW_FUNCTION_TABLE, .t = t, .y = y, .npoint = 3});
    f->drive = add_function(
        f, (lw_function_desc){.type = LW_FUNCTION_STEP, .from = 0, .to = 1, .start = 7, .end = 8});
    check(lw_builder_add_input(f->builder, "motor", &f->input, &e), &e);
    check(lw_builder_add_body(f->builder, &heavy, &f->a, &e), &e);
    check(lw_builder_add_body(f->builder, &heavy, &f->b, &e), &e);
    check(lw_builder_add_body(f->builder, &massless, &f->massless, &e), &e);
    const lw_joint_desc glue = {.type = LW_JOINT_FIXED, .body1 = f->a, .body2 = f->massless};
    check(lw_builder_add_joint(f->builder, &glue, NULL, &e), &e);
}

static void add_joint(fixture *f, lw_joint_desc desc, lw_joint *joint)
{
    lw_error e = {0};
    check(lw_builder_add_joint(f->builder, &desc, joint, &e), &e);
}

static void add_spring(fixture *f, lw_spring_desc desc)
{
    lw_error e = {0};
    check(lw_builder_add_spring(f->builder, &desc, &e), &e);
}

static void add_wrench(fixture *f, lw_wrench_desc desc)
{
    lw_error e = {0};
    check(lw_builder_add_wrench(f->builder, &desc, &e), &e);
}

static void build(fixture *f)
{
    lw_error e = {0};
    check(lw_model_create(f->builder, &f->model, &e), &e);
    assert_true(f->model->nbody <= MAX_BODY && f->model->nv <= MAX_V && f->model->nq <= MAX_V);
}

static void finish(fixture *f)
{
    lw_model_destroy(f->model);
    lw_builder_destroy(f->builder);
}

// Springs and dampers on joints and between points, actuators driven by functions and by an input,
// wrenches in body and world axes; on separate bodies, on a merged body and on the ground.
static void start_with_everything(fixture *f)
{
    start(f);
    lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE, .body2 = f->a};
    hinge.coordinate[0] = (lw_coordinate_desc){
        .stiffness = 5, .damping = 0.5, .at = 0.3, .force = f->table, .effort = f->input};
    lw_joint_desc slot = {.type = LW_JOINT_CYLINDRICAL, .body1 = f->a, .body2 = f->b};
    slot.coordinate[0] = (lw_coordinate_desc){.stiffness = 40, .damping = 2, .at = -0.1};
    slot.coordinate[1] = (lw_coordinate_desc){.damping = 0.2};
    const lw_joint_desc ball = {
        .type = LW_JOINT_SPHERICAL, .body2 = f->b, .damping = 0.7, .cut = LW_CUT_PREFER};
    add_joint(f, hinge, &f->hinge);
    add_joint(f, slot, &f->slot);
    add_joint(f, ball, &f->ball);
    add_spring(f, (lw_spring_desc){.body1 = f->a,
                                   .body2 = f->b,
                                   .point1 = {0.3, 0.1, 0},
                                   .point2 = {0, 0, -0.4},
                                   .stiffness = 30,
                                   .damping = 3,
                                   .length = 0.6,
                                   .force = f->step});
    add_spring(f, (lw_spring_desc){.body2 = f->massless,
                                   .point1 = {0, 0, 2},
                                   .stiffness = 12,
                                   .point2 = {0.1, 0.2, 0.3},
                                   .length = 1});
    add_wrench(f, (lw_wrench_desc){.body = f->b,
                                   .point = {0.1, 0.4, 0},
                                   .force = {1, 2, 3},
                                   .torque = {0.1, 0, -0.3},
                                   .scale = f->ramp});
    add_wrench(f, (lw_wrench_desc){.body = f->massless,
                                   .point = {0, 0.4, 1},
                                   .force = {3, 0, 1},
                                   .torque = {0, 2, 0},
                                   .body_axes = 1,
                                   .scale = f->input});
    build(f);
}

// ---- tests

// Power of all loads and of gravity = -dV/dt + power of the non-conservative parts.
static void energy_balance_closes(void **unused)
{
    (void)unused;
    fixture f;
    start_with_everything(&f);
    const double h = 1e-4; // truncation h^4/30 V^(5) with V^(5) below 1e5; rounding eps V/h
    const double inputs[] = {1.7};
    uint64_t seed = 42;
    for (int trial = 0; trial < 50; trial++) {
        snapshot s;
        random_state(&seed, &s);
        const double t = 4 + 2 * random_unit(&seed);
        lwi_forces_apply(f.model, &s.kin, t, inputs, &s.loads);
        double power = 0, V[4];
        for (int b = 1; b < f.model->nbody; b++) {
            power += v3_dot(s.wrench[b], s.v[b]) + v3_dot(s.wrench[b] + 3, s.w[b]);
            power += f.model->body[b].mass * v3_dot(f.model->gravity, s.v[b]);
        }
        for (int k = 0; k < f.model->nv; k++) power += s.effort[k] * s.qd[k];
        for (int k = 0; k < 4; k++) {
            snapshot n = moved(f.model, &s, (double[]){-2, -1, 1, 2}[k] * h);
            link_pointers(&n);
            V[k] = lwi_forces_potential(f.model, &n.kin);
        }
        const double rate = (8 * (V[2] - V[1]) - (V[3] - V[0])) / (12 * h);
        assert_near("power", trial, power, -rate + s.loads.power, 1e-8);
    }
    finish(&f);
}

// Springs alone apply equal and opposite forces on one line: net force and net torque are zero.
static void springs_have_no_resultant(void **unused)
{
    (void)unused;
    fixture f;
    start(&f);
    add_joint(&f, (lw_joint_desc){.type = LW_JOINT_REVOLUTE, .body2 = f.a}, NULL);
    add_joint(&f, (lw_joint_desc){.type = LW_JOINT_REVOLUTE, .body1 = f.a, .body2 = f.b}, NULL);
    add_spring(&f, (lw_spring_desc){.body1 = f.a,
                                    .body2 = f.b,
                                    .point1 = {0.3, 0.1, 0},
                                    .stiffness = 30,
                                    .damping = 3,
                                    .force = f.step});
    add_spring(&f,
               (lw_spring_desc){.body1 = f.massless, .stiffness = 12, .damping = 1, .length = 1});
    build(&f);
    uint64_t seed = 43;
    for (int trial = 0; trial < 20; trial++) {
        snapshot s;
        random_state(&seed, &s);
        lwi_forces_apply(f.model, &s.kin, 1, NULL, &s.loads);
        double sum[6] = {0};
        for (int b = 0; b < f.model->nbody; b++) {
            v6_axpy(sum, 1, s.wrench[b]);
            v3_cross_add(sum + 3, s.r[b], s.wrench[b]);
        }
        for (int i = 0; i < 6; i++) assert_near("resultant", i, sum[i], 0, 1e-13);
    }
    finish(&f);
}

// Two mass centres on the x axis, 3 m apart, separating at 2 m/s:
// f = -30 (3 - 1) - 4 * 2 + 1 = -67.
static void spring_has_the_documented_force(void **unused)
{
    (void)unused;
    fixture f;
    start(&f);
    add_joint(&f, (lw_joint_desc){.type = LW_JOINT_REVOLUTE, .body2 = f.a}, NULL);
    add_joint(&f, (lw_joint_desc){.type = LW_JOINT_REVOLUTE, .body1 = f.a, .body2 = f.b}, NULL);
    add_spring(&f, (lw_spring_desc){.body1 = f.a,
                                    .body2 = f.b,
                                    .point1 = {0.1, -0.2, 0.3},
                                    .point2 = {0.1, -0.2, 0.3},
                                    .stiffness = 30,
                                    .damping = 4,
                                    .length = 1,
                                    .force = f.step}); // 1 before t = 3
    build(&f);
    snapshot s;
    memset(&s, 0, sizeof s);
    link_pointers(&s);
    for (int b = 0; b < MAX_BODY; b++) m3_identity(s.R[b]);
    v3_set(s.r[f.b.index], 3, 0, 0);
    v3_set(s.v[f.b.index], 2, 5, 0); // the component normal to the line has no effect
    lwi_forces_apply(f.model, &s.kin, 0, NULL, &s.loads);
    assert_near("force on 2", 0, s.wrench[f.b.index][0], -67, 1e-13);
    assert_near("force on 1", 0, s.wrench[f.a.index][0], 67, 1e-13);
    assert_near("power", 0, s.loads.power, (-4 * 2 + 1) * 2, 1e-13);
    assert_near("potential", 0, lwi_forces_potential(f.model, &s.kin), 0.5 * 30 * 4 - 2 * 1 * 3,
                1e-12); // spring, and b raised by 3 along g_x = 1
    // coincident points have no direction and no force
    v3_set(s.r[f.b.index], 0, 0, 0);
    lwi_forces_apply(f.model, &s.kin, 0, NULL, &s.loads);
    for (int i = 0; i < 6; i++) assert_near("coincident", i, s.wrench[f.b.index][i], 0, 0);
    assert_near("coincident", 6, s.loads.power, 0, 0);
    finish(&f);
}

static void joint_springs_act_on_their_speed(void **unused)
{
    (void)unused;
    fixture f;
    start_with_everything(&f);
    const double inputs[] = {1.7};
    uint64_t seed = 44;
    snapshot s;
    random_state(&seed, &s);
    lwi_forces_apply(f.model, &s.kin, 1, inputs, &s.loads);
    const lwi_joint *hinge = &f.model->joint[f.hinge.index], *slot = &f.model->joint[f.slot.index];
    const lwi_joint *ball = &f.model->joint[f.ball.index];
    assert_near("hinge", 0, s.effort[hinge->iv], // table is 3 at t = 1
                -5 * (s.q[hinge->iq] - 0.3) - 0.5 * s.qd[hinge->iv] + 3 + 1.7, 1e-14);
    assert_near("slot", 0, s.effort[slot->iv], -40 * (s.q[slot->iq] + 0.1) - 2 * s.qd[slot->iv],
                1e-14);
    assert_near("slot", 1, s.effort[slot->iv + 1], -0.2 * s.qd[slot->iv + 1], 0);
    for (int k = 0; k < 3; k++)
        assert_near("ball", k, s.effort[ball->iv + k], -0.7 * s.qd[ball->iv + k], 0);
    finish(&f);
}

// A force at a point is the same wrench in world axes and, rotated, in body axes.
static void wrench_axes_and_scale(void **unused)
{
    (void)unused;
    for (int body_axes = 0; body_axes < 2; body_axes++) {
        fixture f;
        start(&f);
        add_joint(&f, (lw_joint_desc){.type = LW_JOINT_REVOLUTE, .body2 = f.a}, NULL);
        add_joint(&f, (lw_joint_desc){.type = LW_JOINT_REVOLUTE, .body1 = f.a, .body2 = f.b}, NULL);
        add_wrench(&f, (lw_wrench_desc){.body = f.b,
                                        .point = {0.3, -0.2, 0.3},
                                        .force = {0, 5, 0},
                                        .torque = {1, 0, 0},
                                        .body_axes = body_axes});
        build(&f);
        snapshot s;
        memset(&s, 0, sizeof s);
        link_pointers(&s);
        for (int b = 0; b < MAX_BODY; b++) m3_identity(s.R[b]);
        rot_z(s.R[f.b.index], 0, 1); // 90 degrees: body x is world y, body y is world -x
        lwi_forces_apply(f.model, &s.kin, 0, NULL, &s.loads);
        // the arm from the mass centre is 0.2 along body x, which is 0.2 along world y
        const double world[6] = {0, 5, 0, 1, 0, 0}, body[6] = {-5, 0, 0, 0, 1, 0.2 * 5};
        for (int i = 0; i < 6; i++)
            assert_near("wrench", i, s.wrench[f.b.index][i], body_axes ? body[i] : world[i], 1e-15);
        finish(&f);
    }
}

// For a rigid motion of a body and the bodies merged with it, moving loads to the carrier preserves
// power.
static void loads_move_to_carriers_with_the_same_power(void **unused)
{
    (void)unused;
    fixture f;
    start_with_everything(&f);
    const int a = f.a.index, massless = f.massless.index;
    assert_int_equal(f.model->body[massless].carrier, a);
    uint64_t seed = 45;
    for (int trial = 0; trial < 20; trial++) {
        snapshot s;
        double arm[3];
        random_state(&seed, &s);
        m3_mul_v(arm, s.R[a], f.model->body[massless].carrier_r);
        v3_add(s.r[massless], s.r[a], arm);
        m3_mul(s.R[massless], s.R[a], f.model->body[massless].carrier_R);
        v3_copy(s.w[massless], s.w[a]);
        v3_cross(s.v[massless], s.w[a], arm);
        v3_add(s.v[massless], s.v[massless], s.v[a]);
        lwi_forces_apply(f.model, &s.kin, 5, (double[]){2}, &s.loads);
        double power[2] = {0};
        for (int k = 0; k < 2; k++) {
            for (int b = 1; b < f.model->nbody; b++)
                power[k] += v3_dot(s.wrench[b], s.v[b]) + v3_dot(s.wrench[b] + 3, s.w[b]);
            if (k == 0) lwi_loads_to_carriers(f.model, &s.kin, &s.loads);
        }
        assert_near("power", trial, power[0], power[1], 1e-12);
        for (int i = 0; i < 6; i++) assert_near("merged", i, s.wrench[massless][i], 0, 0);
    }
    finish(&f);
}

static void work_is_a_state_only_where_something_does_work(void **unused)
{
    (void)unused;
    for (int k = 0; k < 5; k++) {
        fixture f;
        start(&f);
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE, .body2 = f.a};
        hinge.coordinate[0].stiffness = 1;
        if (k == 1) hinge.coordinate[0].damping = 1;
        if (k == 2) hinge.coordinate[0].effort = f.input;
        add_joint(&f, hinge, NULL);
        add_joint(&f, (lw_joint_desc){.type = LW_JOINT_REVOLUTE, .body1 = f.a, .body2 = f.b}, NULL);
        add_spring(&f, (lw_spring_desc){.body1 = f.a, .stiffness = 1, .damping = k == 3});
        if (k == 4) add_wrench(&f, (lw_wrench_desc){.body = f.b, .force = {1, 0, 0}});
        build(&f);
        assert_int_equal(f.model->carries_work, k > 0);
        finish(&f);
    }
}

static void breaks(const fixture *f, const double *expected, int n)
{
    double t = -1;
    for (int i = 0; i < n; i++) {
        const double next = lwi_model_next_break(f->model, t);
        assert_near("break", i, next, expected[i], 0);
        t = next;
    }
    assert_true(isinf(lwi_model_next_break(f->model, t)));
}

// The break times of functions in forces, drives, mounts and lengths end smooth intervals; inputs
// do not.
static void next_break_includes_every_function(void **unused)
{
    (void)unused;
    fixture f;
    start_with_everything(&f);
    breaks(&f, (double[]){0, 1, 2, 3, 4, 6}, 6);
    finish(&f);

    for (int k = 0; k < 4; k++) {
        start(&f);
        lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE, .body2 = f.a};
        lw_joint_desc rod = {.type = LW_JOINT_DISTANCE,
                             .body2 = f.b,
                             .length = 1,
                             .frame2.position = {0, 0, 1},
                             .placement = LW_PLACED_FRAMES};
        if (k == 0) hinge.coordinate[0].motion = f.drive;
        if (k == 1) hinge.mount_shift[2] = f.drive;
        if (k == 2) hinge.mount_turn = f.drive;
        if (k == 3) rod.length_of = f.step;
        add_joint(&f, hinge, NULL);
        add_joint(&f, (lw_joint_desc){.type = LW_JOINT_SPHERICAL, .body1 = f.a, .body2 = f.b},
                  NULL);
        if (k == 3) {
            rod.frame1.position = (lw_vec3){2, 0, 1}; // b's point is at (1, 0, 1): length 1
            add_joint(&f, rod, NULL);
        }
        build(&f);
        breaks(&f, k == 3 ? (double[]){3, 6} : (double[]){7, 8}, 2);
        finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_balance_closes),
        cmocka_unit_test(springs_have_no_resultant),
        cmocka_unit_test(spring_has_the_documented_force),
        cmocka_unit_test(joint_springs_act_on_their_speed),
        cmocka_unit_test(wrench_axes_and_scale),
        cmocka_unit_test(loads_move_to_carriers_with_the_same_power),
        cmocka_unit_test(work_is_a_state_only_where_something_does_work),
        cmocka_unit_test(next_break_includes_every_function),
    };
    return cmocka_run_group_tests_name("forces", tests, NULL, NULL);
}
