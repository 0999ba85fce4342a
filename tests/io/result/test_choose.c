// test_choose.c -- columns that patterns choose have the bits of all columns; reactions elsewhere are the same wrench.
#include "io/result/columns.h"
#include "support/given.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct run {
    lw_model *model;
    lw_sim *sim;
    const lw_observation *seen;
    lwi_result_columns columns;
    lwi_result_rows rows;
    lwi_arena arena;
} run;

static void start(run *r, const char *model)
{
    *r = (run){.model = lwt_read(model)};
    lwi_arena_init(&r->arena, NULL);
    assert_int_equal(LW_OK, lw_sim_create(r->model, &(lw_sim_desc){0}, &r->sim, NULL));
    assert_int_equal(LW_OK, lw_sim_step(r->sim, 0.1));
    assert_int_equal(LW_OK, lw_sim_observe(r->sim, LW_OBSERVE_MOMENTUM, &r->seen));
}

static const double *row(run *r, lw_observe level, const char *patterns)
{
    lw_error error = {0};
    lwi_result_columns_free(&r->columns);
    if (lwi_result_columns_choose(r->model, level, patterns, &r->columns, &error) != LW_OK)
        fail_msg("%s", error.text);
    assert_int_equal(LW_OK, lwi_result_rows_create(r->model, &r->columns, &r->arena, &r->rows));
    assert_int_equal(LW_OK, lwi_result_rows_fill(&r->rows, r->seen));
    assert_int_equal(r->rows.n, r->columns.n);
    return r->rows.row;
}

static void finish(run *r)
{
    lwi_result_columns_free(&r->columns);
    lwi_arena_free(&r->arena);
    lw_sim_destroy(r->sim);
    lw_model_destroy(r->model);
}

static int column(const lwi_result_columns *c, const char *name)
{
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->column[i].name, name)) return i;
    return -1;
}

static const char *const models[] = {"tests/golden/P8_mixed_joint_arm.yaml",
                                     "tests/golden/P9_floating_tree.yaml",
                                     "examples/models/crane.yaml", "examples/models/cart_arm.yaml"};

// Every column chosen alone, and patterns, have the values, units and frames that all columns have.
static void chosen_columns_have_the_bits_of_all(void **state)
{
    (void)state;
    static const char *const patterns[] = {"*",     "body.*.x,joint.*.q*", "*.f?",
                                           "sys.*", "body.*.q?,*0",        "joint.*.?x, *.vy"};
    for (int i = 0; i < LWI_COUNT(models); i++) {
        run all, some;
        start(&all, models[i]);
        start(&some, models[i]);
        const double *expected = row(&all, LW_OBSERVE_MOMENTUM, "auto");
        const int n = all.columns.n;
        for (int k = 0; k < n + LWI_COUNT(patterns); k++) {
            const char *pattern = k < n ? all.columns.column[k].name : patterns[k - n];
            const double *found = row(&some, LW_OBSERVE_MOMENTUM, pattern);
            if (k < n) assert_true(column(&some.columns, pattern) >= 0);
            if (k == n) assert_int_equal(some.columns.n, n);
            assert_true(some.columns.n <= n);
            for (int c = 0, last = -1; c < some.columns.n; c++) {
                const lwi_result_column *own = &some.columns.column[c];
                const int at = column(&all.columns, own->name);
                assert_true(at > last); // in their order, each once
                last = at;
                assert_memory_equal(&found[c], &expected[at], sizeof *found);
                assert_string_equal(own->unit, all.columns.column[at].unit);
                assert_string_equal(own->frame, all.columns.column[at].frame);
                assert_ptr_equal(own->quantity, all.columns.column[at].quantity);
                assert_int_equal(own->joint, all.columns.column[at].joint);
            }
        }
        finish(&all);
        finish(&some);
    }
}

static void patterns_choose_at_their_level_first(void **state)
{
    (void)state;
    run r;
    start(&r, "examples/models/cart_arm.yaml");
    row(&r, LW_OBSERVE_REACTION, "joint.*");
    assert_int_equal(column(&r.columns, "joint.rail.damper0"), -1);
    assert_int_equal(r.columns.level, LW_OBSERVE_REACTION);
    row(&r, LW_OBSERVE_REACTION, "joint.rail.damper0,body.*.x");
    assert_true(column(&r.columns, "joint.rail.damper0") > 0);
    assert_int_equal(r.columns.n, 1 + 3 + 1);
    assert_int_equal(r.columns.level, LW_OBSERVE_FORCE);
    row(&r, LW_OBSERVE_REACTION, "sys.cpos");
    assert_int_equal(r.columns.level, LW_OBSERVE_ENERGY);
    row(&r, LW_OBSERVE_REACTION, "sys.cacc");
    assert_int_equal(r.columns.level, LW_OBSERVE_REACTION);
    row(&r, LW_OBSERVE_POSE, "body.cart.qx"); // with the other three
    assert_int_equal(r.columns.n, 1 + 4);
    finish(&r);
}

static void refused(lw_model *model, const char *patterns, const char *text)
{
    lwi_result_columns columns;
    lw_error error = {0};
    assert_int_equal(
        lwi_result_columns_choose(model, LW_OBSERVE_REACTION, patterns, &columns, &error),
        LW_ERR_ARGUMENT);
    if (!strstr(error.text, text)) fail_msg("'%s' instead of '%s'", error.text, text);
}

static void patterns_without_columns_are_refused(void **state)
{
    (void)state;
    lw_model *model = lwt_read("examples/models/cart_arm.yaml");
    refused(model, "joint.*.g*", "no column matches 'joint.*.g*'");
    refused(model, "time,sprig.wall.force", "did you mean 'spring.wall.force'?");
    refused(model, "joint.elbow.fx@F3", "after @");
    refused(model, "body.cart.x@F1", "no column matches 'body.cart.x'");
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------- reactions elsewhere

static void view_of(run *r, const char *joint, const char *where, double W[6])
{
    char patterns[300];
    static const char *const parts[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
    snprintf(patterns, sizeof patterns, "joint.%s.f?@%s,joint.%s.t?@%s", joint, where, joint,
             where);
    const double *values = row(r, LW_OBSERVE_REACTION, patterns);
    assert_int_equal(r->columns.n, 7);
    for (int i = 0; i < 6; i++) {
        char name[100];
        const char *unit, *frame;
        int length;
        snprintf(name, sizeof name, "joint.%s.%s@%s", joint, parts[i], where);
        const int k = column(&r->columns, name);
        assert_true(k > 0);
        W[i] = values[k];
        lwi_result_column_meaning(name, &unit, &frame);
        assert_string_equal(unit, i < 3 ? "N" : "N m");
        assert_string_equal(frame, r->columns.column[k].frame);
        assert_memory_equal(lwi_result_column_item(&r->columns.column[k], &length), joint,
                            strlen(joint));
        assert_int_equal(length, strlen(joint));
    }
}

// W in axes of a quaternion about a point, to world axes about the origin of the world.
static void to_world(double W[6], const double *quaternion, const double *point)
{
    double R[9], f[3], t[3];
    quat_matrix(R, quaternion);
    m3_mul_v(f, R, W);
    m3_mul_v(t, R, W + 3);
    v3_cross_add(t, point, f);
    v3_copy(W, f);
    v3_copy(W + 3, t);
}

static void close_to(const double *a, const double *b, double sign)
{
    for (int i = 0; i < 6; i++)
        if (!(fabs(a[i] - sign * b[i]) <= 1e-12 * (1 + fabs(a[i]))))
            fail_msg("component %d: %.15g, %.15g", i, a[i], sign * b[i]);
}

// Frames and points are taken from the file of the model: the elbow is where the upper arm ends, body frames are those
// of markers, mass centres 0.25 and 0.2 below them.
static void reactions_elsewhere_are_the_same_wrench(void **state)
{
    (void)state;
    run r;
    double world[6], W[6], point[3], R[9];
    start(&r, "examples/models/cart_arm.yaml");
    const lw_observation *o = r.seen;
    const int upper = 2, fore = 3, elbow = 2;
    const double end[3] = {0, 0, -0.25};
    quat_matrix(R, o->quaternion[upper]);
    m3_mul_v(point, R, end);
    v3_add(point, point, o->position[upper]);
    v3_copy(world, o->reaction[elbow]);
    v3_copy(world + 3, o->reaction[elbow] + 3);
    v3_cross_add(world + 3, point, world);
    assert_true(v3_norm(world) > 1);

    view_of(&r, "elbow", "body1", W);
    to_world(W, o->quaternion[upper], point);
    close_to(W, world, -1);
    view_of(&r, "elbow", "body2", W);
    to_world(W, o->quaternion[fore], point);
    close_to(W, world, 1);
    // the marker at the end of the fore arm, 0.2 behind its mass centre
    double tip[3];
    const double behind[3] = {0, 0, -0.2};
    quat_matrix(R, o->quaternion[fore]);
    m3_mul_v(tip, R, behind);
    v3_add(tip, tip, o->position[fore]);
    view_of(&r, "elbow", "tip", W);
    to_world(W, o->quaternion[fore], tip);
    close_to(W, world, 1);
    // z of both joint frames is the hinge's axis, world y; along it there is no torque but that of the marker's arm
    for (int k = 0; k < 2; k++) {
        view_of(&r, "elbow", k ? "F2" : "F1", W);
        assert_true(fabs(W[2] - o->reaction[elbow][1]) <= 1e-12);
        assert_true(fabs(W[5] - o->reaction[elbow][4]) <= 1e-12);
        assert_true(fabs(v3_norm(W) - v3_norm(o->reaction[elbow])) <= 1e-12);
    }
    finish(&r);
}

// F1 of a hinge is that of body1: rotated against F2 by the angle of the joint, about its axis.
static void frames_of_a_joint_differ_by_its_angle(void **state)
{
    (void)state;
    run r;
    double A[6], B[6];
    start(&r, "examples/models/cart_arm.yaml");
    const double q = r.seen->q[2];
    view_of(&r, "elbow", "F1", A);
    view_of(&r, "elbow", "F2", B);
    for (int i = 0; i < 6; i += 3) {
        assert_true(fabs(A[i] - (cos(q) * B[i] - sin(q) * B[i + 1])) <= 1e-12);
        assert_true(fabs(A[i + 1] - (sin(q) * B[i] + cos(q) * B[i + 1])) <= 1e-12);
    }
    assert_true(fabs(A[0] - B[0]) > 1e-3);
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_columns_have_the_bits_of_all),
        cmocka_unit_test(patterns_choose_at_their_level_first),
        cmocka_unit_test(patterns_without_columns_are_refused),
        cmocka_unit_test(reactions_elsewhere_are_the_same_wrench),
        cmocka_unit_test(frames_of_a_joint_differ_by_its_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
