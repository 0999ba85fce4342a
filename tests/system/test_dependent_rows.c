// test_dependent_rows.c -- joints that redundant rows are charged to: in the speeds of the tree as by null vectors.
#include "support/random_loops.h"
#include "support/run.h"

#include "system/dependent_rows.h"

// The rows at the start of the model, and how many of them depend on others.
static int place(const lw_model *model, lwi_arena *arena, lwi_system *s)
{
    assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, arena, s), LW_OK);
    return s->nrow - lwi_system_start_rank(s);
}

// Both ways find the same at every joint.  Returns whether the speeds were enough; *sum: how many rows.
static bool agree(lwi_system *s, lwi_arena *arena, int *sum)
{
    int *speeds = LWI_PUSH(arena, int, s->nedge), *null = LWI_PUSH(arena, int, s->nedge);
    bool certain;
    assert_non_null(speeds);
    assert_non_null(null);
    assert_int_equal(lwi_dependent_by_speeds(s, arena, speeds, &certain), LW_OK);
    assert_int_equal(lwi_dependent_by_null_vectors(s, arena, null), LW_OK);
    *sum = 0;
    for (int e = 0; e < s->nedge; e++) {
        if (certain) assert_int_equal(speeds[e], null[e]);
        *sum += null[e];
    }
    return certain;
}

static void speeds_and_null_vectors_agree_on_random_loops(void **state)
{
    (void)state;
    int uncertain = 0, redundant = 0;
    LWT_FOR_LOOPS(c, 300, LWT_LOOP_ALL)
    {
        lwi_arena arena;
        lwi_system s;
        int sum;
        lwi_arena_init(&arena, NULL);
        const int lost = place(c.model, &arena, &s);
        assert_int_equal(lost, c.nredundant);
        uncertain += !agree(&s, &arena, &sum);
        assert_int_equal(sum, lost);
        redundant += lost > 0;
        lwi_arena_free(&arena);
    }
    assert_true(redundant > 100);
    assert_true(uncertain < 6);
}

static lw_model *mechanism(lw_mechanism kind, int n, double q0)
{
    return lwt_generated((lw_mechanism_desc){
        .mechanism = kind, .n = n, .m = kind == LW_MECHANISM_NET ? n : 0, .q = {q0}});
}

// Three rows of each planar loop, at the joint that closes it.
static void each_planar_loop_has_three_at_its_joint(void **state)
{
    (void)state;
    static const struct {
        lw_mechanism kind;
        int n;
    } cases[] = {
        {LW_MECHANISM_N_FOUR_BAR, 1}, {LW_MECHANISM_N_FOUR_BAR, 40}, {LW_MECHANISM_NET, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lw_model *model = mechanism(cases[i].kind, cases[i].n, 0.3);
        int *dependent = calloc((size_t)model->njoint, sizeof *dependent);
        lw_check check;
        lw_error error;
        assert_non_null(dependent);
        lwt_ok(lw_model_check(model, &check, dependent, &error), &error);
        assert_int_equal(check.redundant, 3 * model->nloop);
        for (int j = 0; j < model->njoint; j++)
            assert_int_equal(dependent[j], model->joint[j].node < 0 ? 3 : 0);
        free(dependent);
        lw_model_destroy(model);
    }
}

// In line, a row of four-bars has more dependent rows than elsewhere: nothing is concluded from rows that are nearly so.
static void what_is_not_certain_is_left_to_null_vectors(void **state)
{
    (void)state;
    static const double angle[] = {0, 1e-7, 1e-3};
    for (int i = 0; i < 3; i++) {
        lw_model *model = mechanism(LW_MECHANISM_N_FOUR_BAR, 6, acos(-1.0) / 2 + angle[i]);
        lwi_arena arena;
        lwi_system s;
        int sum;
        lwi_arena_init(&arena, NULL);
        const int lost = place(model, &arena, &s);
        int *dependent = LWI_PUSH(&arena, int, s.nedge);
        assert_non_null(dependent);
        const bool certain = agree(&s, &arena, &sum);
        assert_int_equal(certain, i != 1);
        assert_int_equal(lwi_dependent_rows(&s, lost, &arena, dependent), LW_OK);
        sum = 0;
        for (int e = 0; e < s.nedge; e++) sum += dependent[e];
        assert_int_equal(sum, lost);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// Links of 1 m between points of a circle, on hinges across its plane, the last one on the ground.
static lw_model *ring(int n, int rotor_at)
{
    lw_builder *b = lwt_builder();
    lw_error error;
    lw_body last = {0};
    const double turn = 2 * acos(-1.0) / (n + 1), radius = 0.5 / sin(turn / 2);
    for (int i = 0; i <= n; i++) {
        const double a = turn * i, x = radius * cos(a), y = radius * sin(a);
        const double c = cos(a + turn), d = sin(a + turn);
        const lw_body_desc rod = {
            .mass = 1,
            .inertia = {0.01, 0.1, 0.1},
            .pose = {.position = {(x + radius * c) / 2, (y + radius * d) / 2, 0}}};
        lw_body next = {0};
        if (i < n) lwt_ok(lw_builder_add_body(b, &rod, &next, &error), &error);
        const lw_joint_desc hinge = {.type = LW_JOINT_REVOLUTE,
                                     .body1 = last,
                                     .body2 = next,
                                     .at = {x, y, 0},
                                     .coordinate = {{.rotor = i == rotor_at ? 0.5 : 0}}};
        lwt_ok(lw_builder_add_joint(b, &hinge, NULL, &error), &error);
        last = next;
    }
    return lwt_model(b);
}

// In the directions across the plane, in which a long path is rigid, its compliance is round-off: up to 1e-9 of a row with
// 120 links, which is no direction more.
static void round_off_of_long_rings_is_no_rank(void **state)
{
    (void)state;
    static const int links[] = {8, 40, 60, 120};
    static const lw_plan plans[] = {LW_PLAN_COMB, LW_PLAN_MIXED, LW_PLAN_BALANCED};
    for (size_t i = 0; i < 3 * sizeof links / sizeof *links; i++)
        for (int rotor = -1; rotor < 2; rotor++) {
            const int n = links[i / 3];
            lw_model *model = ring(n, rotor == 1 ? n : rotor);
            lwi_arena arena;
            lwi_system s;
            lwi_arena_init(&arena, NULL);
            assert_int_equal(lwi_system_create_rotors(model, plans[i % 3], true, &arena, &s),
                             LW_OK);
            if (s.nrow - s.start_rank != 3 || s.nrow - s.generic_rank != 3)
                fail_msg("%d links, plan %d, rotor %d: %d rows, rank %d, %d near", n, (int)(i % 3),
                         rotor, s.nrow, s.start_rank, s.generic_rank);
            lwi_arena_free(&arena);
            lw_model_destroy(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds_and_null_vectors_agree_on_random_loops),
        cmocka_unit_test(each_planar_loop_has_three_at_its_joint),
        cmocka_unit_test(what_is_not_certain_is_left_to_null_vectors),
        cmocka_unit_test(round_off_of_long_rings_is_no_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
