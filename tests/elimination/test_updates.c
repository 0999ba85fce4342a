// test_updates.c -- memory of updates: nodes that may be eliminated at the same time, and what a node reads, have
// different memory; the rest is used again.
#include "elimination/bench.h"
#include "elimination/parts.h"

#include <stdlib.h>

#include <cmocka.h>

typedef struct range {
    const double *first, *end;
} range;

static range update_of(const lwi_elim_front *N)
{
    return (range){N->U, N->U + (size_t)N->no * (size_t)N->lu};
}

static range compliance_of(const lwi_elim_front *N)
{
    return (range){N->C, N->C + (size_t)N->no * (size_t)N->no};
}

static bool apart(range a, range b)
{
    return a.first == a.end || b.first == b.end || a.end <= b.first || b.end <= a.first;
}

// Of different branches: neither is above the other.
static bool unrelated(const lwi_elim *elim, int a, int b)
{
    return b < elim->front[a].first || (a < b && elim->front[b].first > a);
}

// b < a
static void check_pair(const lwi_elim *elim, int a, int b)
{
    const lwi_elim_front *A = &elim->front[a], *B = &elim->front[b];
    if (!A->nc || !B->nc) return;
    if (B->parent == a) {
        assert_true(apart(update_of(A), update_of(B)));
        if (B->loop) assert_true(apart(update_of(B), compliance_of(B)));
    }
    if (!unrelated(elim, a, b)) return;
    assert_true(apart(update_of(A), update_of(B)));
    if (A->loop) assert_true(apart(compliance_of(A), update_of(B)));
    if (B->loop) assert_true(apart(update_of(A), compliance_of(B)));
    if (A->loop && B->loop) assert_true(apart(compliance_of(A), compliance_of(B)));
}

// Everything within the room, V in the places of U; returns what the updates would take without common memory.
static size_t check_nodes(const lwi_elim *elim)
{
    size_t all = 0;
    const range room = {elim->update, elim->update + elim->nupdate};
    const double *V = NULL;
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        const range U = update_of(N), C = N->loop ? compliance_of(N) : U;
        assert_true(room.first <= U.first && U.end <= room.end);
        assert_true(room.first <= C.first && C.end <= room.end);
        if (N->loop) assert_true(apart(U, C));
        if (!V) V = N->V - (N->U - room.first);
        assert_true(N->V - V == N->U - room.first);
        all += (size_t)(U.end - U.first) + (N->loop ? (size_t)(C.end - C.first) : 0);
        for (const double *u = U.first; !N->nc && u < U.end; u++) assert_true(*u == 0);
        for (int b = 0; b < k; b++) check_pair(elim, k, b);
    }
    return all;
}

static void every_plan(problem p, double minimum)
{
    const lw_plan kinds[] = {LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_MIXED};
    for (int i = 0; i < LWI_COUNT(kinds); i++) {
        problem_bench b = {.p = p};
        problem_setup(&b, kinds[i]);
        for (int lanes = -1; lanes <= 0; lanes++) { // nodes without rows keep their zeros
            assert_true(lwi_elim_lanes(b.elim, lanes));
            assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
            const size_t all = check_nodes(b.elim);
            assert_true((double)all >= minimum * (double)b.elim->nupdate);
        }
        lwi_arena_free(&b.arena);
    }
    problem_free(&p);
}

static void memory_is_used_again(void **state)
{
    (void)state;
    problem p;
    problem_seed(811);
    problem_chain(&p, 300, 5), problem_numbers(&p), every_plan(p, 1.4);
    problem_tree(&p, 300), problem_numbers(&p), every_plan(p, 1);
    problem_grid(&p, 12, 12, 1), problem_numbers(&p), every_plan(p, 3);
    problem_ladder(&p, 60, 2), problem_numbers(&p), every_plan(p, 1.6);
    problem_star(&p, 9, 20, 3), problem_numbers(&p), every_plan(p, 1.3);
}

static void solve(const problem *p, lwi_elim *elim, double *x, double *lambda)
{
    memcpy(x, p->x0, (size_t)p->graph.nbody * sizeof *p->x0);
    lwi_elim_solve(elim, (double(*)[6])x, p->c, lambda, 1);
}

// Passes of eliminations of one plan follow each other: factors stay those of each, lists are made once, of another plan
// nothing is shared.
static void eliminations_share_their_updates(void **state)
{
    (void)state;
    problem_bench b = {0};
    problem_seed(812);
    problem_grid(&b.p, 9, 7, 1), problem_numbers(&b.p);
    problem_setup(&b, LW_PLAN_BALANCED);
    const size_t n = 6 * (size_t)b.p.graph.nbody, m = (size_t)b.p.nrow;
    double *x = LWI_PUSH(&b.arena, double, 2 * n), *lambda = LWI_PUSH(&b.arena, double, 2 * m);
    lwi_elim_updates common = {.arena = &b.arena};
    lwi_elim *elim[2], *other;
    lwi_plan plan;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lwi_elim_create_with(&b.plan, &common, &b.arena, &elim[i]), LW_OK);
        problem_load(&b.p, elim[i]);
    }
    assert_ptr_equal(elim[0]->update, elim[1]->update);
    assert_ptr_not_equal(elim[0]->update, b.elim->update);
    assert_ptr_equal(elim[0]->block, elim[1]->block);
    assert_ptr_not_equal(elim[0]->front, elim[1]->front);
    assert_int_equal(lwi_plan_create(&b.p.graph, LW_PLAN_COMB, &b.arena, &plan), LW_OK);
    assert_int_equal(lwi_elim_create_with(&plan, &common, &b.arena, &other), LW_OK);
    assert_ptr_not_equal(elim[0]->update, other->update);
    assert_ptr_not_equal(elim[0]->block, other->block);
    assert_int_equal(lwi_elim_factor(b.elim, NULL), LW_OK);
    assert_int_equal(lwi_elim_factor(elim[0], NULL), LW_OK);
    assert_int_equal(lwi_elim_factor(elim[1], NULL), LW_OK);
    solve(&b.p, b.elim, x, lambda);
    solve(&b.p, elim[1], x + n, lambda + m);
    assert_memory_equal(x, x + n, n * sizeof *x);
    assert_int_equal(lwi_elim_factor(elim[1], b.eps), LW_OK);
    solve(&b.p, elim[0], x + n, lambda + m);
    assert_memory_equal(x, x + n, n * sizeof *x);
    assert_memory_equal(lambda, lambda + m, m * sizeof *lambda);
    lwi_arena_free(&b.arena);
    problem_free(&b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_used_again),
                                       cmocka_unit_test(eliminations_share_their_updates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
