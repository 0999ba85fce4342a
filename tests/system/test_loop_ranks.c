// test_loop_ranks.c -- ranks of the nodes of a plan from single loops, compared with those of an elimination.
#include "methods/rcr/rcr.h"
#include "support/given.h"
#include "support/mechanism.h"
#include "support/random_loops.h"
#include "support/run.h"

#include "system/loop_ranks.h"

// Dependent rows of each loop at the start; false: others are, too, or it is not certain.
static bool dependent_in_loops(const lw_model *model, int *dependent, int *redundant)
{
    lwt_run r = lwt_run_start(model, &lwi_formulation_rcr);
    lwi_rcr_work *d = r.work->data;
    unsigned char *marks = LWI_PUSH(&r.arena, unsigned char, model->njoint);
    *redundant = d->cut.m - lwi_rcr_rank(&d->e);
    lwi_cut_rows(&d->cut, &d->tree, 0, LWI_CLOSURE_POSITION);
    lwi_rcr_place(&d->e, &d->tree, 0);
    const bool single = lwi_rcr_self_stresses(&d->e, &d->tree, *redundant, marks, dependent);
    lwt_run_end(&r);
    return single;
}

// What became of a model.
enum { HAS_OTHERS, NOT_FOUND, FOUND };

// Compares the ranks with those of an elimination by the same plan, and destroys the model.
static int compare(lw_model *model, lw_plan kind)
{
    lwi_arena arena;
    lwi_system s;
    int redundant, result = HAS_OTHERS;
    bool found;
    lwi_arena_init(&arena, NULL);
    int *dependent = LWI_PUSH(&arena, int, model->nloop);
    if (dependent_in_loops(model, dependent, &redundant)) {
        assert_int_equal(lwi_system_create(model, kind, &arena, &s), LW_OK);
        int *rank = LWI_PUSH(&arena, int, s.plan.nnode),
            *expected = LWI_PUSH(&arena, int, s.plan.nnode);
        assert_int_equal(lwi_loop_ranks(&s, dependent, &arena.allocator, rank, &found), LW_OK);
        lwi_elim_get_ranks(s.elim, expected);
        for (int k = 0; k < s.plan.nnode && found; k++) // -1: all of its rows
            assert_int_equal(rank[k], expected[k] < 0 ? s.plan.node[k].closed_rows : expected[k]);
        assert_int_equal(s.nrow - s.generic_rank, redundant);
        result = found && redundant ? FOUND : NOT_FOUND;
    }
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    return result;
}

static void ranks_of_nested_loops_are_those_of_an_elimination(void **state)
{
    (void)state;
    static const lw_plan kinds[] = {LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_AUTO};
    int count[3] = {0};
    for (int k = 0; k < LWI_COUNT(kinds); k++)
        for (int seed = 1; seed <= 120; seed++) {
            const int bodies = 4 + seed % 12;
            const unsigned flags = LWT_REDUNDANT | LWT_MULTI | LWT_FIXED | LWT_REVERSED;
            count[compare(lwt_loops_create((uint64_t)seed, bodies, flags).model, kinds[k])]++;
        }
    print_message("others %d, not found %d, found %d\n", count[0], count[1], count[2]);
    assert_true(count[FOUND] > 200 && count[HAS_OTHERS] > 0 && count[NOT_FOUND] > 0);
}

static lw_model *ladder(int n)
{
    return lwt_generated((lw_mechanism_desc){
        .mechanism = LW_MECHANISM_LADDER, .n = n, .q = {0.2, 0.3}, .qd = {0.5, 1}});
}

static void ranks_of_ladders_and_nets_are_those_of_an_elimination(void **state)
{
    (void)state;
    static const lw_plan kinds[] = {LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_MIXED};
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        assert_int_equal(compare(ladder(1), kinds[k]), FOUND);
        assert_int_equal(compare(ladder(7), kinds[k]), FOUND);
        assert_int_equal(compare(ladder(40), kinds[k]), FOUND);
    }
    // loops that share tops: known by one plan, not by another
    const lw_mechanism_desc net = {.mechanism = LW_MECHANISM_NET, .n = 3, .m = 3, .q = {0.4}};
    assert_int_equal(compare(lwt_generated(net), LW_PLAN_COMB), NOT_FOUND);
    assert_int_equal(compare(lwt_generated(net), LW_PLAN_BALANCED), FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_nested_loops_are_those_of_an_elimination),
        cmocka_unit_test(ranks_of_ladders_and_nets_are_those_of_an_elimination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
