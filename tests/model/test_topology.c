// test_topology.c -- choice of the loop-closing joints: middle of the loop, lowest cost, user's
// request.
#include "support/mechanism.h"
#include "support/random_loops.h"

#include "model/model.h"

static lw_joint_desc hinge(const char *name, lw_body a, lw_body b)
{
    return (lw_joint_desc){
        .name = name, .type = LW_JOINT_REVOLUTE, .body1 = a, .body2 = b, .axis = {0, 0, 1}};
}

// A ring of n joints through the ground. Joint i connects bodies i - 1 and i. All frames are at one
// point. `order` lists the joints, `change` modifies their descriptions.
static lw_status ring(int n, const int *order, void (*change)(lw_builder *, lw_joint_desc *, int),
                      const char *cut, lw_model **model, lw_error *error)
{
    lw_builder *b = lwt_builder();
    lw_body body[16] = {{0}};
    for (int i = 1; i < n; i++)
        body[i] = lwt_body(b, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}});
    for (int k = 0; k < n; k++) {
        const int i = order ? order[k] : k;
        char name[8];
        snprintf(name, sizeof name, "j%d", i);
        lw_joint_desc desc = hinge(name, body[i], body[(i + 1) % n]);
        if (change) change(b, &desc, i);
        lwt_add(b, &desc);
    }
    lw_status status = lw_builder_cut(b, cut, error);
    if (status == LW_OK) status = lw_model_create(b, model, error);
    lw_builder_destroy(b);
    return status;
}

static lw_model *good_ring(int n, const int *order,
                           void (*change)(lw_builder *, lw_joint_desc *, int), const char *cut)
{
    lw_model *model;
    lw_error error;
    lwt_ok(ring(n, order, change, cut, &model, &error), &error);
    assert_int_equal(lw_model_loop_count(model), 1);
    return model;
}

static const char *closing(const lw_model *model)
{
    return model->joint[model->loop[0]].name;
}

static void shuffle(uint64_t *state, int *order, int n)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int k = lwt_random_below(state, i + 1), x = order[i];
        order[i] = order[k];
        order[k] = x;
    }
}

// Both branches have half the length of the loop, in any order of the joints. A ring with an odd
// number of joints has a middle joint, and that one is cut.
static void rings_are_cut_in_the_middle(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int n = 2; n <= 15; n++)
        for (int trial = 0; trial < 20; trial++) {
            int order[16], depth[16] = {0}, deepest = 0;
            shuffle(&random, order, n);
            lw_model *model = good_ring(n, trial ? order : NULL, NULL, NULL);
            for (int k = 0; k < model->nnode; k++) {
                const int parent = model->node[k].parent;
                depth[k] = parent < 0 ? 1 : depth[parent] + 1;
                deepest = depth[k] > deepest ? depth[k] : deepest;
            }
            assert_int_equal(deepest, n / 2);
            char middle[16];
            snprintf(middle, sizeof middle, "j%d", n / 2);
            if (n % 2) assert_string_equal(closing(model), middle);
            lw_model_destroy(model);
        }
}

static void one_slides(lw_builder *b, lw_joint_desc *desc, int i)
{
    (void)b;
    if (i == 2) desc->type = LW_JOINT_PRISMATIC;
}
static void one_is_sprung(lw_builder *b, lw_joint_desc *desc, int i)
{
    (void)b;
    if (i == 2) desc->coordinate[0].stiffness = 1;
}
static void one_is_driven(lw_builder *b, lw_joint_desc *desc, int i)
{
    if (i == 2)
        desc->coordinate[0].motion =
            lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT});
}
static void all_but_one_are_given(lw_builder *b, lw_joint_desc *desc, int i)
{
    (void)b;
    desc->has_q = desc->has_qd = i != 0;
}

// Of the two joints of the body opposite the ground the cheaper one to close is cut. Joints with a
// drive or a prescribed initial coordinate remain in the tree, even in the middle.
static void joints_are_chosen_by_what_they_cost(void **state)
{
    (void)state;
    void (*const change[])(lw_builder *, lw_joint_desc *, int) = {one_slides, one_is_sprung,
                                                                  one_is_driven};
    uint64_t random = 4;
    for (int trial = 0; trial < 30; trial++) {
        int order[4];
        shuffle(&random, order, 4);
        lw_model *model = good_ring(4, order, change[trial % 3], NULL);
        assert_string_equal(closing(model), "j1");
        lw_model_destroy(model);
    }
    lw_model *model = good_ring(5, NULL, one_is_driven, NULL);
    assert_string_not_equal(closing(model), "j2");
    lw_model_destroy(model);
    model = good_ring(5, NULL, one_slides, NULL); // the middle counts before the type
    assert_string_equal(closing(model), "j2");
    lw_model_destroy(model);
    model = good_ring(5, NULL, all_but_one_are_given, NULL);
    assert_string_equal(closing(model), "j0");
    lw_model_destroy(model);
}

static void hint_first(lw_builder *b, lw_joint_desc *desc, int i)
{
    (void)b;
    if (i == 0) desc->cut = LW_CUT_PREFER;
    if (i == 2) desc->cut = LW_CUT_NEVER;
}
static void hint_never(lw_builder *b, lw_joint_desc *desc, int i)
{
    (void)b;
    if (i != 3) desc->cut = LW_CUT_NEVER;
}

// Hints have priority over the choice by cost, joints named in the options over hints.
static void hints_and_names_decide(void **state)
{
    (void)state;
    lw_model *model = good_ring(5, NULL, hint_first, NULL);
    assert_string_equal(closing(model), "j0");
    lw_model_destroy(model);
    model = good_ring(5, NULL, hint_never, NULL);
    assert_string_equal(closing(model), "j3");
    lw_model_destroy(model);
    model = good_ring(5, NULL, hint_first, "j2");
    assert_string_equal(closing(model), "j2");
    lw_model_destroy(model);
    model = good_ring(5, NULL, NULL, "");
    assert_string_equal(closing(model), "j2");
    lw_model_destroy(model);
}

// A joint with a speed stays in the tree, also where the speeds of the others follow from it.
static void joints_with_a_start_are_not_cut(void **state)
{
    (void)state;
    for (int given = 0; given < 4; given++) {
        static const char *const keys[] = {"qd: [2]", "q: [0]"};
        for (int k = 0; k < LWI_COUNT(keys); k++) {
            const char *start[4] = {"cut: auto", "cut: auto", "cut: auto", "cut: auto"};
            char text[1500], name[2] = {(char)('A' + given), 0};
            start[given] = keys[k];
            snprintf(
                text, sizeof text,
                "linkwork: 1\nbodies:\n"
                "  crank: {mass: 0.2, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, 0.05]}\n"
                "  coupler: {mass: 0.6, inertia: [1, 1, 1, 0, 0, 0], position: [0.15, 0, 0.15]}\n"
                "  rocker: {mass: 0.4, inertia: [1, 1, 1, 0, 0, 0], position: [0.3, 0, 0.1]}\n"
                "joints:\n"
                "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0], "
                "%s}\n"
                "  B: {type: revolute, between: [crank, coupler], at: [0, 0, 0.1], axis: [0, 1, "
                "0], %s}\n"
                "  C: {type: revolute, between: [coupler, rocker], at: [0.3, 0, 0.2], axis: [0, 1, "
                "0], %s}\n"
                "  D: {type: revolute, between: [ground, rocker], at: [0.3, 0, 0], axis: [0, 1, "
                "0], %s}\n",
                start[0], start[1], start[2], start[3]);
            lw_model *model;
            lw_error error = {0};
            lwt_ok(lw_model_parse(text, strlen(text), "four-bar", &(lw_read_desc){.format = "yaml"},
                                  &model, NULL, &error),
                   &error);
            assert_int_equal(lw_model_loop_count(model), 1);
            assert_string_not_equal(closing(model), name);
            assert_int_equal(model->desc.joint[model->loop[0]].cut, LW_CUT_AUTO);
            lw_model_destroy(model);
        }
    }
}

static void impossible_cuts_are_refused(void **state)
{
    (void)state;
    lw_model *model = NULL;
    lw_error error;
    assert_int_equal(ring(5, NULL, NULL, "j1,jj4", &model, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "'jj4'"));
    assert_non_null(strstr(error.text, "did you mean 'j4'?"));
    assert_int_equal(ring(5, NULL, NULL, "zzzzzzzz", &model, &error), LW_ERR_ARGUMENT);
    assert_null(strstr(error.text, "did you mean"));
    assert_int_equal(ring(5, NULL, NULL, "j1,j3", &model, &error), LW_ERR_MODEL); // disconnected
    assert_non_null(strstr(error.text, "every joint of its loop is cut"));
    assert_null(model);
}

// A loop in which all joints must be in the tree is refused, and the error names it.
static void never_all_round(lw_builder *b, lw_joint_desc *desc, int i)
{
    (void)b, (void)i;
    desc->cut = LW_CUT_NEVER;
}
static void uncuttable_loops_are_refused(void **state)
{
    (void)state;
    lw_model *model = NULL;
    lw_error error;
    assert_int_equal(ring(5, NULL, never_all_round, NULL, &model, &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "'j2': `cut: never`"));
}

// The number of loops is the number of joints beyond a spanning tree. Each loop is a closed walk:
// consecutive joints share a body, the last one shares a body with the first, and all but the first
// are in the tree.
static void loops_of_random_mechanisms(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 60, LWT_LOOP_ALL)
    {
        const lw_model *m = c.model;
        lw_joint walk[64];
        int joints = 0, roots = 0;
        for (int j = 0; j < m->njoint; j++) joints += !m->joint[j].merged;
        for (int k = 0; k < m->nnode; k++) roots += m->node[k].joint < 0;
        assert_int_equal(m->nloop, joints - (m->nnode - roots));
        for (int i = 0; i < m->nloop; i++) {
            const int n = lw_model_loop(m, i, walk, 64);
            assert_true(n >= 2 || m->joint[m->loop[i]].body1 == m->joint[m->loop[i]].body2);
            assert_int_equal(walk[0].index, m->loop[i]);
            int at = m->joint[walk[0].index].body2;
            for (int k = 1; k < n; k++) {
                const lwi_joint *joint = &m->joint[walk[k].index];
                assert_true(joint->node >= 0);
                assert_true(joint->body1 == at || joint->body2 == at);
                at = joint->body1 == at ? joint->body2 : joint->body1;
            }
            assert_int_equal(at, m->joint[walk[0].index].body1);
        }
        assert_int_equal(lw_model_loop(m, m->nloop, walk, 64), 0);
    }
}

// The initial state is closed, its velocities are consistent, and the number of degrees of freedom
// is as stated.
static void random_mechanisms_are_consistent(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 60, LWT_LOOP_ALL)
    {
        lwi_arena arena;
        lwi_snapshot m;
        lwi_totals s;
        lw_check check;
        lw_error error;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_snapshot_create(c.model, &arena, &m), LW_OK);
        lwi_snapshot_start(c.model, &m);
        lwi_observe_system(c.model, LW_OBSERVE_ENERGY, &m, &s);
        assert_true(s.kinetic > 1e-4);
        assert_true(s.residual[0] < 1e-13); // for positions of a few metres
        assert_true(s.residual[1] < 1e-13); // for speeds of order one
        lwt_ok(lw_model_check(c.model, &check, NULL, &error), &error);
        assert_int_equal(check.rows, c.nrow);
        assert_int_equal(check.rank, c.rank);
        assert_int_equal(check.dof, c.dof);
        assert_int_equal(check.dof_generic, c.dof);
        lwi_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_are_cut_in_the_middle),
        cmocka_unit_test(joints_are_chosen_by_what_they_cost),
        cmocka_unit_test(hints_and_names_decide),
        cmocka_unit_test(joints_with_a_start_are_not_cut),
        cmocka_unit_test(impossible_cuts_are_refused),
        cmocka_unit_test(uncuttable_loops_are_refused),
        cmocka_unit_test(loops_of_random_mechanisms),
        cmocka_unit_test(random_mechanisms_are_consistent),
    };
    return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
