// test_model.c -- the model built from a description: tree, rigidly merged bodies, initial state,
// memory.
#include "model/model.h"
#include "spatial/rotation.h"
#include "support/counted.h"
#include "support/failing.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(LW_OK, (call))
#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-13 * (1 + fabs((double)(b))))

static const double solid[6] = {0.1, 0.2, 0.25, 0.01, -0.02, 0.005};

static lw_builder *begin(void)
{
    lw_builder *b;
    OK(lw_builder_create(NULL, &b));
    return b;
}

static lw_body add_body(lw_builder *b, const char *name, double mass, lw_vec3 at)
{
    lw_body body;
    lw_body_desc d = {.name = name, .mass = mass, .pose.position = at};
    if (mass > 0) memcpy(d.inertia, solid, sizeof solid);
    OK(lw_builder_add_body(b, &d, &body, NULL));
    return body;
}

static lw_joint hinge(lw_builder *b, const char *name, lw_body one, lw_body two, lw_vec3 at)
{
    lw_joint joint;
    OK(lw_builder_add_joint(
        b,
        &(lw_joint_desc){
            .name = name, .type = LW_JOINT_REVOLUTE, .body1 = one, .body2 = two, .at = at},
        &joint, NULL));
    return joint;
}

static lw_model *finish(lw_builder *b)
{
    lw_model *model;
    lw_error error = {0};
    if (lw_model_create(b, &model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(b);
    return model;
}

static const lw_body ground = {0};

// ------------------------------------------------------------------------------------------- tests

static void sweep_order_is_depth_first_and_parents_come_first(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body base = add_body(b, "base", 1, (lw_vec3){0, 0, 0});
    lw_body left = add_body(b, "left", 1, (lw_vec3){-1, 0, 0});
    lw_body right = add_body(b, "right", 1, (lw_vec3){1, 0, 0});
    lw_body hand = add_body(b, "hand", 1, (lw_vec3){-2, 0, 0});
    hinge(b, "r", base, right, (lw_vec3){0.5, 0, 0});
    hinge(b, "l", base, left, (lw_vec3){-0.5, 0, 0});
    hinge(b, "h", hand, left, (lw_vec3){-1.5, 0, 0}); // directed towards the tree: reversed
    hinge(b, "a", ground, base, (lw_vec3){0, 0, 0});
    lw_model *m = finish(b);
    assert_int_equal(m->nnode, 4);
    const int order[] = {base.index, right.index, left.index, hand.index};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(m->node[k].body, order[k]);
        assert_true(m->node[k].parent < k);
    }
    assert_true(m->node[3].reversed);
    assert_int_equal(m->tree_nv, 4);
    lw_model_destroy(m);
}

static void the_joint_that_closes_the_loop_is_in_its_middle_or_the_preferred(void **state)
{
    (void)state;
    for (int preferred = 0; preferred < 2; preferred++) {
        lw_builder *b = begin();
        lw_body one = add_body(b, "one", 1, (lw_vec3){0, 1, 0});
        lw_body two = add_body(b, "two", 1, (lw_vec3){1, 1, 0});
        lw_joint_desc first = {.name = "first",
                               .type = LW_JOINT_REVOLUTE,
                               .body2 = one,
                               .cut = preferred ? LW_CUT_PREFER : LW_CUT_AUTO};
        OK(lw_builder_add_joint(b, &first, NULL, NULL));
        hinge(b, "second", one, two, (lw_vec3){1, 1, 0});
        hinge(b, "third", two, ground, (lw_vec3){1, 0, 0});
        lw_model *m = finish(b);
        assert_int_equal(lw_model_loop_count(m), 1);
        assert_string_equal(m->joint[m->loop[0]].name, preferred ? "first" : "second");
        lw_model_destroy(m);
    }
}

static void a_loop_of_uncuttable_joints_is_refused_by_name(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body one = add_body(b, "one", 1, (lw_vec3){0, 1, 0});
    for (int i = 0; i < 2; i++) {
        lw_joint_desc d = {.name = i ? "again" : "pin",
                           .type = LW_JOINT_REVOLUTE,
                           .body2 = one,
                           .cut = LW_CUT_NEVER,
                           .place = {7 + i, 3}};
        OK(lw_builder_add_joint(b, &d, NULL, NULL));
    }
    lw_model *m;
    lw_error error;
    assert_int_equal(LW_ERR_MODEL, lw_model_create(b, &m, &error));
    assert_non_null(strstr(error.text, "'again'"));
    assert_int_equal(error.line, 8);
    lw_builder_destroy(b);
}

static void a_massless_body_moves_with_its_carrier(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body arm = add_body(b, "arm", 2, (lw_vec3){0.5, 0, 0});
    lw_body flange = add_body(b, "flange", 0, (lw_vec3){1, 0, 0});
    lw_body tool = add_body(b, "tool", 0, (lw_vec3){1, 0, 0.3});
    lw_body load = add_body(b, "load", 1, (lw_vec3){1, 0, 0.5});
    hinge(b, "a", ground, arm, (lw_vec3){0, 0, 0});
    OK(lw_builder_add_joint(b, &(lw_joint_desc){.name = "f", .body1 = flange, .body2 = tool}, NULL,
                            NULL));
    OK(lw_builder_add_joint(b, &(lw_joint_desc){.name = "g", .body1 = arm, .body2 = flange}, NULL,
                            NULL));
    hinge(b, "h", tool, load, (lw_vec3){1, 0, 0.4});
    lw_model *m = finish(b);
    assert_int_equal(m->nnode, 2);
    assert_int_equal(m->body[flange.index].carrier, arm.index);
    assert_int_equal(m->body[tool.index].carrier, arm.index);
    assert_int_equal(lw_model_body(m, tool).moves_with, arm.index);
    assert_true(m->joint[1].merged && m->joint[2].merged);
    NEAR(m->body[tool.index].carrier_r[0], 0.5);
    NEAR(m->body[tool.index].carrier_r[2], 0.3);
    NEAR(m->joint[3].r1[2], 0.4); // joint of the tool, from the mass centre of the arm
    lw_model_destroy(m);
}

static void a_joint_that_moves_nothing_heavy_is_refused(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body arm = add_body(b, "arm", 2, (lw_vec3){0.5, 0, 0});
    lw_body ghost = add_body(b, "ghost", 0, (lw_vec3){1, 0, 0});
    hinge(b, "a", ground, arm, (lw_vec3){0, 0, 0});
    hinge(b, "g", arm, ghost, (lw_vec3){1, 0, 0});
    lw_model *m;
    lw_error error;
    assert_int_equal(LW_ERR_MODEL, lw_model_create(b, &m, &error));
    assert_non_null(strstr(error.text, "joint 'g'"));
    // with a load outboard of it a massless link is valid: two hinges form a universal joint
    lw_body load = add_body(b, "load", 1, (lw_vec3){1, 0, 0});
    OK(lw_builder_add_joint(b,
                            &(lw_joint_desc){.name = "h",
                                             .type = LW_JOINT_REVOLUTE,
                                             .body1 = ghost,
                                             .body2 = load,
                                             .at = {1, 0, 0},
                                             .axis = {1, 0, 0}},
                            NULL, NULL));
    m = finish(b);
    assert_int_equal(m->tree_nv, 3);
    lw_model_destroy(m);
}

static void given_coordinates_move_everything_behind_the_joint(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body one = add_body(b, "one", 1, (lw_vec3){1, 0, 0});
    lw_body two = add_body(b, "two", 1, (lw_vec3){2, 0, 0});
    const double turns = 4 * 3.14159265358979323846 + 0.5;
    lw_joint_desc d = {.name = "a",
                       .type = LW_JOINT_REVOLUTE,
                       .body2 = one,
                       .has_q = 1,
                       .q = {turns},
                       .has_qd = 1,
                       .qd = {2}};
    OK(lw_builder_add_joint(b, &d, NULL, NULL));
    hinge(b, "b", one, two, (lw_vec3){1.5, 0, 0});
    lw_model *m = finish(b);
    NEAR(m->q0[0], turns); // not wrapped
    const double *r = m->body[two.index].r0, *v = m->body[two.index].v0;
    NEAR(r[0], 2 * cos(0.5));
    NEAR(r[1], 2 * sin(0.5));
    NEAR(v[0], -2 * 2 * sin(0.5));
    NEAR(v[1], 2 * 2 * cos(0.5));
    NEAR(m->body[two.index].w0[2], 2);
    lw_model_destroy(m);
}

static void speeds_are_read_from_body_velocities(void **state)
{
    (void)state;
    for (int reversed = 0; reversed < 2; reversed++) {
        lw_builder *b = begin();
        lw_body_desc d = {.name = "one",
                          .mass = 1,
                          .pose.position = {1, 0, 0},
                          .has_velocity = 1,
                          .velocity = {0, 3, 0},
                          .angular_velocity = {0, 0, 3}};
        memcpy(d.inertia, solid, sizeof solid);
        lw_body one;
        OK(lw_builder_add_body(b, &d, &one, NULL));
        hinge(b, "a", reversed ? one : ground, reversed ? ground : one, (lw_vec3){0, 0, 0});
        lw_model *m = finish(b);
        NEAR(m->v0[0], reversed ? -3 : 3);
        NEAR(m->body[one.index].v0[1], 3);
        lw_model_destroy(m);
    }
}

static void velocities_that_break_a_joint_are_refused_with_the_amount(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body_desc d = {.name = "one",
                      .mass = 1,
                      .pose.position = {1, 0, 0},
                      .has_velocity = 1,
                      .velocity = {0, 3, 0.25},
                      .angular_velocity = {0, 0, 3}};
    memcpy(d.inertia, solid, sizeof solid);
    lw_body one;
    OK(lw_builder_add_body(b, &d, &one, NULL));
    hinge(b, "a", ground, one, (lw_vec3){0, 0, 0});
    lw_model *m;
    lw_error error;
    assert_int_equal(LW_ERR_MODEL, lw_model_create(b, &m, &error));
    assert_non_null(strstr(error.text, "'one'"));
    assert_non_null(strstr(error.text, "joint 'a' by 0.25 m/s"));
    lw_builder_destroy(b);
}

static void a_driven_coordinate_starts_on_its_function_and_leaves_the_state(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body one = add_body(b, "one", 1, (lw_vec3){1, 0, 0});
    lw_signal f;
    const double c[] = {0.25, 1.5};
    OK(lw_builder_add_function(
        b,
        &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL, .coefficients = c, .ncoefficient = 2},
        &f, NULL));
    lw_joint_desc d = {.name = "a", .type = LW_JOINT_CYLINDRICAL, .body2 = one};
    d.coordinate[1].motion = f;
    OK(lw_builder_add_joint(b, &d, NULL, NULL));
    lw_model *m = finish(b);
    assert_int_equal(m->tree_nv, 1);
    assert_int_equal(m->node[0].column[0], 0);
    NEAR(m->q0[1], 0.25);
    NEAR(m->v0[1], 1.5);
    NEAR(m->body[one.index].r0[0], cos(0.25));
    NEAR(m->body[one.index].v0[1], 1.5 * cos(0.25));
    assert_true(m->carries_work);
    lw_model_destroy(m);
}

static void a_coupling_that_the_start_breaks_is_refused_with_the_required_value(void **state)
{
    (void)state;
    for (int given = 0; given < 2; given++) {
        lw_builder *b = begin();
        lw_body one = add_body(b, "one", 1, (lw_vec3){1, 0, 0});
        lw_body two = add_body(b, "two", 1, (lw_vec3){2, 0, 0});
        lw_joint_desc d = {.name = "a",
                           .type = LW_JOINT_REVOLUTE,
                           .body2 = one,
                           .has_q = 1,
                           .q = {0.2},
                           .has_qd = 1,
                           .qd = {3}};
        lw_joint_desc e = {.name = "b",
                           .type = LW_JOINT_REVOLUTE,
                           .body1 = one,
                           .body2 = two,
                           .has_q = given,
                           .q = {0.1 + 0.4 - 0.12},
                           .has_qd = 1,
                           .qd = {3 * (2 - 1.2)}};
        lw_joint ja, jb;
        OK(lw_builder_add_joint(b, &d, &ja, NULL));
        OK(lw_builder_add_joint(b, &e, &jb, NULL));
        const double c[] = {0.1, 2, -3};
        OK(lw_builder_add_coupling(
            b, &(lw_coupling_desc){.joint = jb, .of = ja, .polynomial = c, .npolynomial = 3},
            NULL));
        lw_model *m = NULL;
        lw_error error = {0};
        const lw_status status = lw_model_create(b, &m, &error);
        assert_int_equal(status, given ? LW_OK : LW_ERR_MODEL);
        if (!given) assert_non_null(strstr(error.text, "joint 'a' requires 0.38"));
        lw_model_destroy(m);
        lw_builder_destroy(b);
    }
}

static void a_given_coordinate_that_contradicts_its_motion_is_refused(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body one = add_body(b, "one", 1, (lw_vec3){1, 0, 0});
    lw_signal f;
    OK(lw_builder_add_function(b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT, .value = 0.5},
                               &f, NULL));
    lw_joint_desc d = {.name = "a", .type = LW_JOINT_REVOLUTE, .body2 = one, .has_q = 1, .q = {3}};
    d.coordinate[0].motion = f;
    OK(lw_builder_add_joint(b, &d, NULL, NULL));
    lw_model *m;
    lw_error error;
    assert_int_equal(LW_ERR_MODEL, lw_model_create(b, &m, &error));
    assert_non_null(strstr(error.text, "q0 is given as 3, its motion starts at 0.5"));
    lw_builder_destroy(b);
}

static void a_screw_is_read_with_its_turns(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body nut = add_body(b, "nut", 1, (lw_vec3){0, 0, 1});
    lw_joint_desc d = {.name = "s",
                       .type = LW_JOINT_SCREW,
                       .body2 = nut,
                       .pitch = 0.5,
                       .placement = LW_PLACED_FRAMES};
    OK(lw_builder_add_joint(b, &d, NULL, NULL));
    lw_model *m = finish(b);
    NEAR(m->q0[0], 4 * 3.14159265358979323846);
    lw_model_destroy(m);
}

static void very_small_mechanisms_and_traces_of_inertia_are_accepted(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body_desc d = {.name = "mite",
                      .mass = 1e-12,
                      .inertia = {1e-24, 1e-24, 1e-24},
                      .pose.position = {1e-6, 0, 0}};
    lw_body mite, mark;
    OK(lw_builder_add_body(b, &d, &mite, NULL));
    hinge(b, "a", ground, mite, (lw_vec3){0, 0, 0});
    lw_body_desc trace = {.name = "mark", .inertia = {0, 0, 0, 0, 2.4e-35, 0}};
    OK(lw_builder_add_body(b, &trace, &mark, NULL));
    OK(lw_builder_add_joint(b, &(lw_joint_desc){.name = "f", .body1 = mite, .body2 = mark}, NULL,
                            NULL));
    lw_model *m = finish(b);
    assert_int_equal(m->body[mark.index].carrier, mite.index);
    assert_string_equal(lw_model_joint(m, (lw_joint){99}).name, "");
    lw_model_destroy(m);
}

// A direction may have any length: the squares of these overflow or underflow.
static void directions_of_any_length_are_the_same(void **state)
{
    (void)state;
    static const double lengths[] = {1, 1e300, 1e-200};
    for (int i = 0; i < 3; i++) {
        const double s = lengths[i];
        lw_builder *b = begin();
        const lw_body body = add_body(b, "a", 1, (lw_vec3){0, 0, 0});
        const lw_joint_desc joint = {.name = "j",
                                     .type = LW_JOINT_UNIVERSAL,
                                     .body2 = body,
                                     .axis = {s, s, 0},
                                     .axis2 = {0, 0, s}};
        const lw_stop_desc stop = {
            .body1 = body, .normal = {0, 3 * s, 4 * s}, .radius = 1, .stiffness = 1};
        OK(lw_builder_add_joint(b, &joint, NULL, NULL));
        OK(lw_builder_add_stop(b, &stop, NULL));
        lw_model *m = finish(b);
        const double *R = m->joint[0].R1;
        NEAR(R[2], sqrt(0.5)), NEAR(R[5], sqrt(0.5)), NEAR(R[8], 0);
        NEAR(R[0], 0), NEAR(R[3], 0), NEAR(R[6], 1);
        NEAR(((const lw_stop_desc *)lwi_force_desc(&m->desc, LWI_ITEM_stop, 0))->normal.y, 0.6),
            NEAR(((const lw_stop_desc *)lwi_force_desc(&m->desc, LWI_ITEM_stop, 0))->normal.z, 0.8);
        lw_model_destroy(m);
    }
}

static void a_model_without_ground_joint_floats(void **state)
{
    (void)state;
    lw_builder *b = begin();
    lw_body one = add_body(b, "one", 1, (lw_vec3){1, 2, 3});
    lw_body two = add_body(b, "two", 1, (lw_vec3){2, 2, 3});
    hinge(b, "a", two, one, (lw_vec3){1.5, 2, 3});
    lw_model *m = finish(b);
    assert_int_equal(m->nnode, 2);
    assert_int_equal(m->node[0].joint, -1);
    assert_int_equal(m->tree_nv, 7);
    assert_true(m->node[1].reversed);
    NEAR(m->body[one.index].r0[2], 3);
    lw_model_destroy(m);
}

// ------------------------------------------------------------------------------ failing allocations

static lw_status build(lw_builder *b, lw_model **model, lw_error *error)
{
    lw_body last = {0};
    for (int i = 0; i < 120; i++) {
        lw_body_desc d = {.mass = 1,
                          .inertia = {1, 1, 3}, // a warning
                          .inertia_check = LW_INERTIA_WARN,
                          .pose.position = {i, 0, 0}};
        lw_body next;
        TRY(lw_builder_add_body(b, &d, &next, error));
        TRY(lw_builder_add_joint(
            b,
            &(lw_joint_desc){
                .type = LW_JOINT_REVOLUTE, .body1 = last, .body2 = next, .at = {i, 0, 0}},
            NULL, error));
        error->status = LW_OK, error->text[0] = 0;
        TRY(lw_builder_warn(b, (lw_place){i, 1}, "warning %d", i));
        last = next;
    }
    const lw_status status = lw_model_create(b, model, error);
    if (status != LW_OK && (error->status != status || !error->text[0]))
        fail_msg("lw_model_create returns %d without a message", (int)status);
    return status;
}

// Among many names, wherever the two are.
static void two_bodies_of_one_name_are_refused(void **state)
{
    enum { MANY = 300 };
    (void)state;
    for (int same = -1; same < MANY - 1; same += 37) { // -1: all differ
        lw_builder *b = begin();
        lw_model *model = NULL;
        lw_error error = {0};
        char name[32], text[64];
        for (int i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "rod%d", i == MANY - 1 && same >= 0 ? same : i);
            add_body(b, name, 1, (lw_vec3){i, 0, 0});
        }
        assert_int_equal(lw_model_create(b, &model, &error), same < 0 ? LW_OK : LW_ERR_MODEL);
        snprintf(text, sizeof text, "body 'rod%d': this name is", same);
        assert_true(same < 0 || strstr(error.text, text));
        lw_builder_destroy(b);
        lw_model_destroy(model);
    }
}

// Of a list that has grown only its last place remains, also while functions read others of their list.
static void lists_that_have_grown_are_kept_once(void **state)
{
    (void)state;
    enum { N = 20000 };
    size_t live = 0;
    const lw_allocator allocator = {lwt_allocate, lwt_release, &live};
    lw_builder *b = NULL;
    lw_error error = {0};
    assert_int_equal(LW_OK, lw_builder_create(&allocator, &b));
    for (int i = 0; i < N; i++) {
        const lw_body_desc body = {.mass = 1};
        assert_int_equal(LW_OK, lw_builder_add_body(b, &body, NULL, &error));
    }
    assert_in_range(live, N * sizeof(lw_body_desc), 2.4 * N * sizeof(lw_body_desc));
    for (int i = 0; i < 3000; i++) {
        const lw_function_desc one = {.type = LW_FUNCTION_CONSTANT, .name = i ? NULL : "one"},
                               sum = {.type = LW_FUNCTION_FORMULA, .formula = "one + t"};
        assert_int_equal(LW_OK, lw_builder_add_function(b, i ? &sum : &one, NULL, &error));
    }
    lw_builder_destroy(b);
    assert_true(live == 0);
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    bool done = false;
    for (long n = 0; !done && n < 1000; n++) {
        lwt_failing c = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&c);
        lw_builder *b = NULL;
        lw_model *m = NULL;
        lw_error error = {0};
        lw_status status = lw_builder_create(&allocator, &b);
        if (status == LW_OK) {
            status = build(b, &m, &error);
            done = status == LW_OK;
        }
        if (!done) assert_int_equal(status, LW_ERR_MEMORY);
        lw_model_destroy(m);
        lw_builder_destroy(b);
        assert_int_equal(c.live, 0);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_order_is_depth_first_and_parents_come_first),
        cmocka_unit_test(the_joint_that_closes_the_loop_is_in_its_middle_or_the_preferred),
        cmocka_unit_test(a_loop_of_uncuttable_joints_is_refused_by_name),
        cmocka_unit_test(a_massless_body_moves_with_its_carrier),
        cmocka_unit_test(a_joint_that_moves_nothing_heavy_is_refused),
        cmocka_unit_test(given_coordinates_move_everything_behind_the_joint),
        cmocka_unit_test(speeds_are_read_from_body_velocities),
        cmocka_unit_test(velocities_that_break_a_joint_are_refused_with_the_amount),
        cmocka_unit_test(a_driven_coordinate_starts_on_its_function_and_leaves_the_state),
        cmocka_unit_test(a_coupling_that_the_start_breaks_is_refused_with_the_required_value),
        cmocka_unit_test(a_given_coordinate_that_contradicts_its_motion_is_refused),
        cmocka_unit_test(a_screw_is_read_with_its_turns),
        cmocka_unit_test(very_small_mechanisms_and_traces_of_inertia_are_accepted),
        cmocka_unit_test(directions_of_any_length_are_the_same),
        cmocka_unit_test(a_model_without_ground_joint_floats),
        cmocka_unit_test(two_bodies_of_one_name_are_refused),
        cmocka_unit_test(lists_that_have_grown_are_kept_once),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
