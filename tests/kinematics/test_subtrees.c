// test_subtrees.c -- recursions over subtrees by several threads: every node once, parents and children in order, with the
// bits of the plain recursion; several threads work.
#include "tree/tree_cases.h"

#include "kinematics/subtrees.h"
#include "spatial/motion.h"

#include <stdatomic.h>

enum { NTREES = 6, THREADS = 4 };

typedef struct sweep {
    const lw_model *model;
    double (*F)[6], (*depth)[1];
    int *visits;
    int fails; // node at which the recursion fails; -1: none
} sweep;

// Threads that have worked on more than the nodes above all subtrees, one bit each; that of main is the first.
static _Atomic unsigned working;
static _Atomic int numbers;

static void note_thread(void)
{
    static _Thread_local int number;
    if (number == 0) number = atomic_fetch_add(&numbers, 1) + 1;
    assert_true(number < 32);
    atomic_fetch_or(&working, 1u << number);
}

// Since the last call; other threads are new after it.
static int count_threads(void)
{
    numbers = 1;
    return __builtin_popcount(atomic_exchange(&working, 0));
}

static void give(void *user, int k)
{
    const sweep *s = user;
    const int parent = s->model->node[k].parent;
    for (int i = 0; parent >= 0 && i < 6; i++) s->F[parent][i] += 0.7 * s->F[k][i] + 0.1;
}

static bool inward(void *user, int first, int end)
{
    const sweep *s = user;
    if (end - first > 1) note_thread();
    for (int k = end - 1; k >= first; k--) {
        s->visits[k]++;
        if (k == s->fails) return false;
        for (int i = 0; i < 6; i++) s->F[k][i] *= 1.0 / 3;
        if (k > first) give(user, k);
    }
    return true;
}

static void outward(void *user, int first, int end)
{
    const sweep *s = user;
    if (end - first > 1) note_thread();
    for (int k = first; k < end; k++) {
        const int parent = s->model->node[k].parent;
        s->visits[k]++;
        s->depth[k][0] = parent < 0 ? 1 : s->depth[parent][0] / 3 + s->F[k][0];
    }
}

static sweep sweep_create(const lwt_tree *c)
{
    const size_t n = (size_t)c->model->nnode;
    sweep s = {c->model, lwt_zeros(n, sizeof *s.F), lwt_zeros(n, sizeof *s.depth),
               lwt_zeros(n, sizeof *s.visits), -1};
    uint64_t state = c->seed;
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 6; i++) s.F[k][i] = lwt_random(&state, -1, 1);
    return s;
}

static void sweep_destroy(sweep *s)
{
    free(s->F), free(s->depth), free(s->visits);
}

static const lwi_inward towards = {inward, give};

static void by_threads(const lwt_tree *c, int threads, sweep *s, bool valid)
{
    lwi_arena arena;
    lwi_pool *pool;
    lwi_subtrees *subtrees;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_pool_create(threads, NULL, &pool, NULL), LW_OK);
    assert_int_equal(lwi_subtrees_create(c->model, pool, &arena, &subtrees), LW_OK);
    assert_true(lwi_subtrees_inward(subtrees, c->model, towards, s) == valid);
    lwi_subtrees_outward(subtrees, c->model, outward, s);
    lwi_pool_destroy(pool);
    lwi_arena_free(&arena);
}

// Each recursion visits each node once.
static void threads_keep_the_bits_of_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= NTREES; seed++) {
        lwt_tree c = lwt_tree_create(seed, 450 + 90 * (int)seed, LWT_ALL);
        const size_t n = (size_t)c.model->nnode;
        sweep one = sweep_create(&c);
        assert_true(lwi_subtrees_inward(NULL, c.model, towards, &one));
        lwi_subtrees_outward(NULL, c.model, outward, &one);
        for (int threads = 1; threads <= 8; threads *= 2) {
            sweep all = sweep_create(&c);
            count_threads();
            by_threads(&c, threads, &all, true);
            assert_int_equal(count_threads(), threads);
            assert_memory_equal(all.F, one.F, n * sizeof *all.F);
            assert_memory_equal(all.depth, one.depth, n * sizeof *all.depth);
            for (size_t k = 0; k < n; k++) assert_int_equal(all.visits[k], 2);
            sweep_destroy(&all);
        }
        sweep_destroy(&one);
        lwt_tree_destroy(&c);
    }
}

// At the last node, of a subtree, and at the first, which is above all.
static void a_failure_of_any_thread_is_reported(void **state)
{
    (void)state;
    lwt_tree c = lwt_tree_create(1, 400, LWT_ALL);
    const int at[] = {0, c.model->nnode / 2, c.model->nnode - 1};
    for (int i = 0; i < 3; i++) {
        sweep s = sweep_create(&c);
        s.fails = at[i];
        by_threads(&c, THREADS, &s, false);
        sweep_destroy(&s);
    }
    lwt_tree_destroy(&c);
}

static void without_a_pool_there_are_none(void **state)
{
    (void)state;
    lwi_arena arena;
    lwi_subtrees *subtrees = (lwi_subtrees *)&arena;
    lwt_tree c = lwt_tree_create(1, 40, LWT_ALL);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_subtrees_create(c.model, NULL, &arena, &subtrees), LW_OK);
    assert_null(subtrees);
    lwi_arena_free(&arena);
    lwt_tree_destroy(&c);
}

int main(void)
{
    note_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_keep_the_bits_of_one),
        cmocka_unit_test(a_failure_of_any_thread_is_reported),
        cmocka_unit_test(without_a_pool_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
