// test_elimination_threads.c -- the same bits for any number of threads and any distribution of the nodes.
#include "elimination/problem.h"
#include "elimination/parts.h" // to check that threads are used

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// All results of an elimination for a problem.
typedef struct answer {
    double (*x)[6], *lambda, *null;
    int *dependent, rank, nulls;
    lwi_elim_pivot_info pivots;
} answer;

static answer answer_room(const problem *p, lwi_arena *arena)
{
    answer a = {.x = (double(*)[6])LWI_PUSH(arena, double, 6 * p->graph.nbody),
                .lambda = LWI_PUSH(arena, double, p->nrow),
                .null = LWI_PUSH(arena, double, p->nrow),
                .dependent = LWI_PUSH(arena, int, p->graph.nedge)};
    assert_true(a.x && a.lambda && a.null && a.dependent);
    return a;
}

static answer ask(const problem *p, lwi_elim *elim, const double *eps, lwi_arena *arena)
{
    answer a = answer_room(p, arena);
    lwi_elim_clear_ranks(elim);
    assert_int_equal(lwi_elim_find_ranks(elim, LWI_ELIM_RANK, &a.rank), LW_OK);
    assert_int_equal(lwi_elim_factor(elim, eps), LW_OK);
    memcpy(a.x, p->x0, (size_t)p->graph.nbody * sizeof *a.x);
    lwi_elim_solve(elim, a.x, p->c, a.lambda, 2);
    a.pivots = lwi_elim_pivots(elim);
    a.nulls = lwi_elim_null_count(elim);
    if (a.nulls) lwi_elim_null(elim, a.nulls / 2, a.null);
    lwi_elim_dependent(elim, a.dependent);
    return a;
}

static void same(const problem *p, const answer *a, const answer *b)
{
    assert_memory_equal(a->x, b->x, (size_t)p->graph.nbody * sizeof *a->x);
    assert_memory_equal(a->lambda, b->lambda, (size_t)p->nrow * sizeof *a->lambda);
    assert_memory_equal(a->null, b->null, (size_t)p->nrow * sizeof *a->null);
    assert_memory_equal(a->dependent, b->dependent, (size_t)p->graph.nedge * sizeof *a->dependent);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->nulls, b->nulls);
    assert_true(a->pivots.min == b->pivots.min && a->pivots.edge == b->pivots.edge &&
                a->pivots.row == b->pivots.row && a->pivots.dropped == b->pivots.dropped &&
                a->pivots.dropped_edge == b->pivots.dropped_edge);
}

// Returns how many of the schedules used their threads.
static int all_schedules(const problem *p, lw_plan kind, bool regular)
{
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    lwi_plan plan;
    lwi_elim *elim;
    assert_int_equal(lwi_plan_create(&p->graph, kind, &arena, &plan), LW_OK);
    assert_int_equal(lwi_elim_create(&plan, &arena, &elim), LW_OK);
    problem_load(p, elim);
    double *eps = regular ? LWI_PUSH(&arena, double, p->nrow) : NULL;
    for (int r = 0; r < p->nrow && regular; r++) eps[r] = 1e-3 * (1 + r % 3);
    const answer alone = ask(p, elim, eps, &arena);
    int used = 0;
    const int counts[] = {1, 2, 3, 4, 8};
    for (int i = 0; i < LWI_COUNT(counts); i++) {
        lwi_pool *pool;
        assert_int_equal(lwi_pool_create(counts[i], NULL, &pool, NULL), LW_OK);
        for (int s = 0; s < 2; s++) {
            const lwi_elim_strategy strategy = s ? LWI_ELIM_BY_LEVEL : LWI_ELIM_BY_SUBTREE;
            assert_int_equal(lwi_elim_threads(elim, pool, strategy, &arena), LW_OK);
            used += elim->team != NULL;
            for (int again = 0; again < 2; again++) {
                const answer a = ask(p, elim, eps, &arena);
                same(p, &alone, &a);
            }
        }
        assert_int_equal(lwi_elim_threads(elim, NULL, LWI_ELIM_BY_LEVEL, &arena), LW_OK);
        lwi_pool_destroy(pool);
    }
    lwi_arena_free(&arena);
    return used;
}

static void every_plan(problem p, int max_used)
{
    const lw_plan kinds[] = {LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_MIXED};
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        const int used = all_schedules(&p, kinds[k], k == 2);
        if (kinds[k] == LW_PLAN_BALANCED) assert_true(used >= max_used);
    }
    problem_free(&p);
}

// 2, 3, 4 and 8 threads in both ways: 8 schedules that can use more than one.
static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    problem p;
    problem_seed(1);
    problem_chain(&p, 3000, 5), problem_numbers(&p), every_plan(p, 8); // most of it in lanes
    problem_four_bars(&p, 200, 0.6), every_plan(p, 8);                 // redundant rows
    problem_tree(&p, 400), problem_numbers(&p), every_plan(p, 4);
    problem_star(&p, 12, 200, 5), problem_numbers(&p), every_plan(p, 4);
    problem_grid(&p, 12, 12, 2), problem_numbers(&p), every_plan(p, 4);
}

// The largest node that leaves rows open.
static int largest_node(const lwi_elim *elim)
{
    double largest = 0;
    int at = -1;
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        const double work = (double)N->nc * (N->nc + N->no) * (N->nc + N->no);
        if (N->no && work > largest) largest = work, at = k;
    }
    return at;
}

// Entries that are not finite, in columns of open rows of a node that several threads eliminate: the same failure as on one.
static void the_same_edge_fails(lwi_elim *elim, lwi_pool *pool, lwi_arena *arena)
{
    const int node = largest_node(elim);
    const lwi_elim_front *N = &elim->front[node];
    const lwi_elim_block *block = elim->block + N->block.first;
    while (block->at % N->ld < N->nc) block++;
    double *entry = &elim->G[6 * block->G][2];
    const double was = *entry;
    *entry = HUGE_VAL;
    assert_int_equal(lwi_elim_find_ranks(elim, LWI_ELIM_RANK, NULL), LW_ERR_NOT_FINITE);
    assert_int_equal(elim->state[node].status, LW_ERR_NOT_FINITE);
    const lwi_elim_pivot_info alone = lwi_elim_pivots(elim);
    assert_int_equal(lwi_elim_threads(elim, pool, LWI_ELIM_BY_SUBTREE, arena), LW_OK);
    assert_int_equal(lwi_elim_find_ranks(elim, LWI_ELIM_RANK, NULL), LW_ERR_NOT_FINITE);
    assert_int_equal(elim->state[node].status, LW_ERR_NOT_FINITE);
    const lwi_elim_pivot_info pivots = lwi_elim_pivots(elim);
    assert_true(pivots.edge == alone.edge && pivots.row == alone.row && pivots.min == alone.min);
    *entry = was;
    assert_int_equal(lwi_elim_threads(elim, NULL, LWI_ELIM_BY_SUBTREE, arena), LW_OK);
}

// Nodes above the threshold: several threads eliminate each together, where pivots are found and where they are known; with
// many threads several nodes side by side.
static void threads_eliminate_large_nodes_together(void **state)
{
    (void)state;
    static const int counts[] = {2, 3, 8};
    for (int redundant = 0; redundant < 2; redundant++) {
        problem p;
        problem_seed(3);
        problem_grid(&p, redundant ? 36 : 18, 18, redundant ? 5 : 3);
        problem_numbers(&p);
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        lwi_plan plan;
        lwi_elim *elim;
        assert_int_equal(lwi_plan_create(&p.graph, LW_PLAN_BALANCED, &arena, &plan), LW_OK);
        assert_int_equal(lwi_elim_create(&plan, &arena, &elim), LW_OK);
        problem_load(&p, elim);
        const answer alone = ask(&p, elim, NULL, &arena);
        assert_true(redundant ? alone.nulls > 100 : alone.nulls == 0);
        assert_true(problem_residual(&p, alone.x, NULL, alone.lambda) < 1e-10);
        for (int i = 0; i < LWI_COUNT(counts); i++) {
            lwi_pool *pool;
            assert_int_equal(lwi_pool_create(counts[i], NULL, &pool, NULL), LW_OK);
            assert_int_equal(lwi_elim_threads(elim, pool, LWI_ELIM_BY_SUBTREE, &arena), LW_OK);
            assert_true(lwi_elim_together(elim) >= 1);
            if (redundant) assert_true(lwi_elim_subteams(elim) >= 2);
            const answer a = ask(&p, elim, NULL, &arena);
            same(&p, &alone, &a);
            assert_int_equal(lwi_elim_threads(elim, NULL, LWI_ELIM_BY_SUBTREE, &arena), LW_OK);
            the_same_edge_fails(elim, pool, &arena);
            lwi_pool_destroy(pool);
        }
        lwi_arena_free(&arena);
        problem_free(&p);
    }
}

// Too little work for more than one thread, or none: no thread is woken.
static void small_problems_stay_on_one_thread(void **state)
{
    (void)state;
    problem p;
    problem_chain(&p, 100, 5), problem_numbers(&p);
    assert_int_equal(all_schedules(&p, LW_PLAN_BALANCED, false), 0);
    problem_free(&p);
    problem_chain(&p, 300, 5), problem_numbers(&p); // sequential order has no parallel work
    assert_int_equal(all_schedules(&p, LW_PLAN_COMB, false), 0);
    problem_free(&p);
}

// A failure on one thread is reported as without threads: the first in the order.
static void failures_are_the_same(void **state)
{
    (void)state;
    problem p;
    problem_seed(9);
    problem_chain(&p, 900, 5);
    problem_numbers(&p);
    const int bad[] = {700, 250, 400};
    for (int i = 0; i < LWI_COUNT(bad); i++) { // a row equal to another of its edge
        const int s = 6 * p.slot[bad[i]];
        for (int j = 0; j < 2; j++) {
            memcpy(p.J[s + 6 * j + 4], p.J[s + 6 * j + 1], sizeof p.J[0]);
            memcpy(p.G[s + 6 * j + 4], p.G[s + 6 * j + 1], sizeof p.G[0]);
        }
    }
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    lwi_plan plan;
    lwi_elim *elim;
    assert_int_equal(lwi_plan_create(&p.graph, LW_PLAN_BALANCED, &arena, &plan), LW_OK);
    assert_int_equal(lwi_elim_create(&plan, &arena, &elim), LW_OK);
    problem_load(&p, elim);
    assert_int_equal(lwi_elim_factor(elim, NULL), LW_ERR_SINGULAR);
    const lwi_elim_pivot_info alone = lwi_elim_pivots(elim);
    assert_int_equal(alone.row, 4);
    for (int n = 2; n <= 4; n++) {
        lwi_pool *pool;
        assert_int_equal(lwi_pool_create(n, NULL, &pool, NULL), LW_OK);
        for (int s = 0; s < 2; s++) {
            assert_int_equal(lwi_elim_threads(elim, pool, (lwi_elim_strategy)s, &arena), LW_OK);
            assert_int_equal(lwi_elim_factor(elim, NULL), LW_ERR_SINGULAR);
            const lwi_elim_pivot_info pivots = lwi_elim_pivots(elim);
            assert_int_equal(pivots.edge, alone.edge);
            assert_int_equal(pivots.row, alone.row);
            assert_true(pivots.min == alone.min);
        }
        lwi_pool_destroy(pool);
    }
    lwi_arena_free(&arena);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(threads_eliminate_large_nodes_together),
        cmocka_unit_test(small_problems_stay_on_one_thread),
        cmocka_unit_test(failures_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
