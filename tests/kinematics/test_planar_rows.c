// test_planar_rows.c -- rows that depend because loops move in planes, compared with the ranks of the elimination.
#include "support/random_loops.h"
#include "support/given.h"
#include "support/run.h"

#include "kinematics/planar_rows.h"
#include "system/system.h"

static int planar_rows(const lw_model *model)
{
    int count;
    assert_int_equal(lwi_planar_rows(model, NULL, &count, NULL), LW_OK);
    return count;
}

// As many as depend, or fewer: spherical loops are among these.
static void never_more_than_depend(void **state)
{
    (void)state;
    int equal = 0, fewer = 0;
    LWT_FOR_LOOPS(c, 300, LWT_LOOP_ALL)
    {
        const int found = planar_rows(c.model);
        assert_true(found <= c.nredundant);
        equal += found > 0 && found == c.nredundant;
        fewer += found < c.nredundant;
    }
    assert_true(equal > 20);
    assert_true(fewer > 20);
}

static void each_loop_of_a_plane_has_three(void **state)
{
    (void)state;
    static const struct {
        lw_mechanism kind;
        int n, rows;
    } cases[] = {{LW_MECHANISM_N_FOUR_BAR, 1, 3},
                 {LW_MECHANISM_N_FOUR_BAR, 40, 120},
                 {LW_MECHANISM_NET, 6, 108},
                 {LW_MECHANISM_LADDER, 6, 0},
                 {LW_MECHANISM_CHAIN, 6, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lw_model *model = lwt_generated(
            (lw_mechanism_desc){.mechanism = cases[i].kind,
                                .n = cases[i].n,
                                .m = cases[i].kind == LW_MECHANISM_NET ? cases[i].n : 0,
                                .q = {cases[i].kind == LW_MECHANISM_CHAIN ? 0 : 0.3}});
        assert_int_equal(planar_rows(model), cases[i].rows);
        lw_model_destroy(model);
    }
}

// A crank, a rod and a slider; the last hinge is tilted by `lean` against the others.  The slider has a guide, or slides in
// the plane.
static lw_model *slider(double lean, bool guide)
{
    lw_builder *b = lwt_builder();
    lw_error error;
    const lw_body crank = lwt_rod(b, "crank", 0, 0, 0, 1, 1),
                  rod = lwt_rod(b, "rod", 0, 1, 2, 0, 1),
                  block = lwt_rod(b, "block", 2, 0, 2.5, 0, 1);
    const lw_joint_desc joints[] = {{.type = LW_JOINT_REVOLUTE, .body2 = crank, .axis = {0, 0, 1}},
                                    {.type = LW_JOINT_REVOLUTE,
                                     .body1 = crank,
                                     .body2 = rod,
                                     .at = {0, 1, 0},
                                     .axis = {0, 0, -1}},
                                    {.type = LW_JOINT_REVOLUTE,
                                     .body1 = rod,
                                     .body2 = block,
                                     .at = {2, 0, 0},
                                     .axis = {sin(lean), 0, cos(lean)}},
                                    {.type = guide ? LW_JOINT_PRISMATIC : LW_JOINT_PLANAR,
                                     .body2 = block,
                                     .at = {2, 0, 0},
                                     .axis = {guide, 0, !guide}}};
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++)
        lwt_ok(lw_builder_add_joint(b, &joints[i], NULL, &error), &error);
    return lwt_model(b);
}

static void axes_have_to_be_parallel(void **state)
{
    (void)state;
    static const double lean[] = {0, 2e-6, 0.1};
    for (int guide = 0; guide < 2; guide++)
        for (size_t i = 0; i < sizeof lean / sizeof *lean; i++) {
            lw_model *model = slider(lean[i], guide);
            assert_int_equal(planar_rows(model), i == 0 ? 3 : 0);
            lw_model_destroy(model);
        }
}

// A motion of about `size` that the rows allow, closed again.
static bool move(lwi_system *s, int seed, double size)
{
    double largest = 0;
    memset(s->x, 0, (size_t)s->nbody * sizeof *s->x);
    for (int k = 0; k < s->model->nnode; k++)
        for (int i = 0; i < 6; i++) s->x[k][i] = lwi_system_pseudorandom(6 * k + i, seed);
    memset(s->c, 0, (size_t)s->plan.nrow * sizeof *s->c);
    lwi_system_share(s, false, s->x);
    lwi_elim_solve(s->elim, s->x, s->c, s->lambda, 1);
    for (int k = 0; k < s->model->nnode; k++)
        for (int i = 0; i < 6; i++) largest = fmax(largest, fabs(s->x[k][i]));
    if (!(largest > 1e-9)) return false;
    for (int k = 0; k < s->model->nnode; k++)
        for (int i = 0; i < 6; i++) s->x[k][i] *= size / largest;
    lwi_system_move(s, (const double(*)[6])s->x);
    return lwi_system_close(s, 0, 1e-11 * (1 + s->length), 30);
}

// Where no others depend, each node of the elimination has the rank at the start that it has at motions away from it.
static void ranks_of_all_parts_are_generic(void **state)
{
    (void)state;
    int tried = 0;
    LWT_FOR_LOOPS(c, 300, LWT_LOOP_ALL)
    {
        lwi_arena arena;
        lwi_system s;
        const int planar = planar_rows(c.model);
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_system_create(c.model, LW_PLAN_AUTO, &arena, &s), LW_OK);
        const int start = lwi_system_start_rank(&s);
        int *ranks = LWI_PUSH(&arena, int, s.plan.nnode),
            *now = LWI_PUSH(&arena, int, s.plan.nnode);
        assert_non_null(ranks);
        assert_non_null(now);
        lwi_elim_get_ranks(s.elim, ranks);
        for (int seed = 0; planar > 0 && s.nrow - start == planar && seed < 3; seed++) {
            lwi_system_start_rank(&s);
            if (!move(&s, seed, 0.05 * s.length)) continue;
            assert_int_equal(lwi_system_rank(&s), start);
            lwi_elim_get_ranks(s.elim, now);
            for (int k = 0; k < s.plan.nnode; k++) assert_int_equal(now[k], ranks[k]);
            tried++;
        }
        lwi_arena_free(&arena);
    }
    assert_true(tried > 40);
}

// At a change point one row more depends than elsewhere, so the configuration is another one than the start.
static void a_change_point_is_no_generic_start(void **state)
{
    (void)state;
    for (int aligned = 0; aligned < 2; aligned++) {
        lw_model *model = lwt_generated((lw_mechanism_desc){
            .mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 3, .q = {aligned ? acos(-1.0) / 2 : 0.3}});
        lwi_arena arena;
        lwi_system s;
        double moved = 0;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_system_create(model, LW_PLAN_AUTO, &arena, &s), LW_OK);
        assert_int_equal(s.nrow - s.generic_rank, 9);
        for (int i = 0; i < model->nbody; i++)
            for (int k = 0; k < 3; k++) moved = fmax(moved, fabs(s.generic_r[i][k] - s.r[i][k]));
        assert_int_equal(s.generic_rank > s.start_rank, aligned);
        assert_int_equal(moved > 1e-3, aligned);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// Components of reactions at the start that are not unique; the caller's.
static unsigned char *undetermined(const lw_model *model, const char *formulation)
{
    const size_t n = (size_t)lw_model_joint_count(model);
    lw_options options;
    lw_error error;
    lw_sim *sim;
    const lw_observation *o;
    unsigned char *copy = calloc(n, 1);
    assert_non_null(copy);
    lw_options_default(&options);
    lwt_set(&options, "formulation", formulation);
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), LW_OK);
    memcpy(copy, o->reaction_undetermined, n);
    lw_sim_destroy(sim);
    return copy;
}

// `rcr` has them from the planes, `dca` from null vectors.
static int same_components(const lw_model *model)
{
    unsigned char *planes = undetermined(model, "rcr"), *numbers = undetermined(model, "dca");
    int open = 0;
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        if (planes[j] != numbers[j])
            fail_msg("joint %d: components %x by planes, %x by null vectors", j, planes[j],
                     numbers[j]);
        open += planes[j] != 0;
    }
    free(planes);
    free(numbers);
    return open;
}

static void reactions_have_the_components_of_null_vectors(void **state)
{
    (void)state;
    int tried = 0, partly = 0;
    LWT_FOR_LOOPS(c, 300, LWT_LOOP_ALL)
    {
        const int planar = planar_rows(c.model);
        if (planar == 0 || planar != c.nredundant) continue;
        const int open = same_components(c.model);
        assert_true(open > 1);
        tried++;
        partly += open < lw_model_joint_count(c.model);
    }
    assert_true(tried > 20);
    assert_true(partly > 20);
    for (int guide = 0; guide < 2; guide++) {
        lw_model *model = slider(0, guide);
        assert_int_equal(same_components(model), 4);
        unsigned char found[4];
        int count;
        assert_int_equal(lwi_planar_rows(model, NULL, &count, found), LW_OK);
        for (int j = 0; j < 3; j++) assert_int_equal(found[j], 1 << 2 | 1 << 3 | 1 << 4);
        if (!guide) assert_int_equal(found[3], 1 << 2 | 1 << 3 | 1 << 4);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_more_than_depend),
        cmocka_unit_test(each_loop_of_a_plane_has_three),
        cmocka_unit_test(axes_have_to_be_parallel),
        cmocka_unit_test(ranks_of_all_parts_are_generic),
        cmocka_unit_test(a_change_point_is_no_generic_start),
        cmocka_unit_test(reactions_have_the_components_of_null_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
