// test_plan.c -- every plan joins every body once and closes every edge once, at the lowest common ancestor
// of its bodies; costs of plans of common graphs.
#include "elimination/problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const lw_plan kinds[] = {LW_PLAN_AUTO, LW_PLAN_COMB, LW_PLAN_BALANCED, LW_PLAN_MIXED};

static int find(int *up, int i)
{
    while (up[i] != i) i = up[i];
    return i;
}

// ---------------------------------------------------------------------------------- what must hold

typedef struct walk {
    const lwi_plan *plan;
    int *up;      ///< union of the bodies below each node
    bool *inside; ///< [nbody] entered so far
    int *seen;    ///< [nedge] how often closed
} walk;

// Whether an edge has a body inside the compound; whether all.
static void reach(const walk *w, int e, int root, bool *some, bool *all)
{
    const lwi_plan_edge *edge = &w->plan->graph.edge[e];
    *some = false, *all = true;
    for (int i = 0; i < edge->n; i++) {
        const bool in = w->inside[edge->body[i]] && find(w->up, edge->body[i]) == root;
        *some |= in, *all &= in;
    }
}

static void check_node(walk *w, int k)
{
    const lwi_plan *plan = w->plan;
    const lwi_plan_node *node = &plan->node[k];
    int root = -1, level = 0;
    for (int i = 0; i < node->child.n; i++) {
        const int child = plan->item[node->child.first + i];
        assert_true(child < k);
        assert_int_equal(plan->node[child].parent, k);
        if (level <= plan->node[child].level) level = plan->node[child].level + 1;
    }
    assert_int_equal(node->level, level);
    for (int i = 0; i < node->body.n; i++) {
        const int b = plan->item[node->body.first + i];
        assert_false(w->inside[b]);
        w->inside[b] = true;
        if (root < 0) root = b;
        w->up[b] = root;
    }
    // children's bodies: any body of the subtree represents it; a closed edge supplies one
    for (int i = 0; i < node->child.n; i++) {
        int c = plan->item[node->child.first + i];
        while (!plan->node[c].body.n) c = plan->item[plan->node[c].child.first];
        const int b = find(w->up, plan->item[plan->node[c].body.first]);
        if (root < 0) root = b;
        w->up[b] = root;
    }
    int rows = 0;
    bool some, all;
    for (int i = 0; i < node->closed.n; i++) {
        const int e = plan->item[node->closed.first + i];
        assert_int_equal(w->seen[e]++, 0);
        assert_int_equal(plan->closer[e], k);
        rows += plan->graph.edge[e].rows;
        reach(w, e, root, &some, &all);
        assert_true(all);
    }
    assert_int_equal(node->closed_rows, rows);
    rows = 0;
    int open = 0;
    for (int e = 0; e < plan->graph.nedge; e++) { // the open ones are those half inside
        if (!plan->graph.edge[e].rows) continue;
        reach(w, e, root, &some, &all);
        if (some && !all) open++, rows += plan->graph.edge[e].rows;
        if (all) assert_true(w->seen[e] == 1);
    }
    assert_int_equal(node->open.n, open);
    assert_int_equal(node->open_rows, rows);
    for (int i = 0; i < node->open.n; i++) {
        reach(w, plan->item[node->open.first + i], root, &some, &all);
        assert_true(some && !all);
        if (i) { // in the order of elimination
            const int a = plan->item[node->open.first + i - 1];
            assert_true(plan->closer[a] <= plan->closer[plan->item[node->open.first + i]]);
        }
    }
    if (node->parent < 0) assert_int_equal(node->open.n, 0);
}

static void check_plan(const lwi_plan *plan)
{
    const int nbody = plan->graph.nbody, nedge = plan->graph.nedge;
    walk w = {plan, calloc((size_t)nbody + 1, sizeof(int)), calloc((size_t)nbody + 1, sizeof(bool)),
              calloc((size_t)nedge + 1, sizeof(int))};
    assert_true(w.up && w.inside && w.seen);
    for (int b = 0; b < nbody; b++) w.up[b] = b;
    int row = 0, slot = 0, widest = 0, levels = 0;
    for (int k = 0; k < plan->nnode; k++) {
        check_node(&w, k);
        const lwi_plan_node *node = &plan->node[k];
        if (widest < node->closed_rows + node->open_rows)
            widest = node->closed_rows + node->open_rows;
        if (levels <= node->level) levels = node->level + 1;
    }
    for (int b = 0; b < nbody; b++) assert_true(w.inside[b]);
    for (int e = 0; e < nedge; e++) {
        assert_int_equal(w.seen[e], plan->graph.edge[e].rows > 0);
        if (!plan->graph.edge[e].rows) assert_int_equal(plan->closer[e], -1);
        assert_int_equal(plan->row[e], row);
        assert_int_equal(plan->slot[e], slot);
        row += plan->graph.edge[e].rows;
        slot += plan->graph.edge[e].n;
    }
    assert_int_equal(plan->row[nedge], row);
    assert_int_equal(plan->slot[nedge], slot);
    assert_int_equal(plan->nrow, row);
    assert_int_equal(plan->width, widest);
    assert_int_equal(plan->nlevel, levels);
    assert_true(plan->critical <= plan->work * (1 + 1e-12));
    free(w.up), free(w.inside), free(w.seen);
}

// Rows can depend on each other only at marked nodes: in a plan with as many loops as the graph has.
static int loops(const lwi_plan *plan)
{
    int count = 0;
    for (int k = 0; k < plan->nnode; k++) count += plan->node[k].loop;
    return count;
}

static lwi_plan plan_of(const problem *p, lw_plan kind, lwi_arena *arena)
{
    lwi_plan plan;
    assert_int_equal(lwi_plan_create(&p->graph, kind, arena, &plan), LW_OK);
    return plan;
}

// The order alone is that of the plan.
static void check_closing_order(const lwi_plan *plan, const problem *p)
{
    const int nedge = plan->graph.nedge;
    int *place = calloc((size_t)nedge + 1, sizeof *place), n = 0;
    assert_non_null(place);
    assert_int_equal(lwi_plan_closing_order(&p->graph, plan->kind, NULL, place), LW_OK);
    for (int k = 0; k < plan->nnode; k++)
        for (int i = 0; i < plan->node[k].closed.n; i++)
            assert_int_equal(place[plan->item[plan->node[k].closed.first + i]], n++);
    for (int e = 0; e < nedge; e++)
        if (plan->closer[e] < 0) assert_int_equal(place[e], -1);
    free(place);
}

static void all_plans(problem p)
{
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        const lwi_plan plan = plan_of(&p, kinds[k], &arena);
        assert_true(plan.kind != LW_PLAN_AUTO);
        if (kinds[k] != LW_PLAN_AUTO) assert_int_equal(plan.kind, kinds[k]);
        check_plan(&plan);
        check_closing_order(&plan, &p);
        lwi_arena_free(&arena);
    }
    problem_free(&p);
}

static void every_body_and_edge_once(void **state)
{
    (void)state;
    problem p;
    for (int n = 1; n <= 33; n++) problem_chain(&p, n, 5), all_plans(p);
    for (int i = 0; i < 30; i++) {
        problem_seed((unsigned)i);
        problem_tree(&p, 1 + 3 * i), all_plans(p);
        problem_loops(&p, 2 + 2 * i, 1 + i), all_plans(p);
        problem_loops(&p, 2 + i, 5 * i), all_plans(p); // dense, edges with all bodies
    }
    for (int i = 1; i <= 12; i++) {
        problem_ladder(&p, i, 5), all_plans(p);
        problem_four_bars(&p, i, 0.3), all_plans(p);
        problem_grid(&p, i, 13 - i, 3), all_plans(p);
        problem_star(&p, i, 1 + i % 3, 5), all_plans(p);
    }
}

static void empty_and_unconnected(void **state)
{
    (void)state;
    problem p;
    problem_init(&p, 0), all_plans(p);
    problem_init(&p, 5), all_plans(p); // five bodies, no edges
    problem_init(&p, 7);               // a floating chain, a pair, a body on the ground, a free one
    problem_edge(&p, 5, false, 2, (const int[]){4, 1});
    problem_edge(&p, 0, true, 1, (const int[]){1});
    problem_edge(&p, 5, false, 2, (const int[]){1, 6});
    problem_edge(&p, 3, false, 2, (const int[]){0, 2});
    problem_edge(&p, 4, true, 1, (const int[]){3});
    problem_edge(&p, 2, true, 1, (const int[]){3});
    problem_edge(&p, 0, false, 2, (const int[]){5, 6}); // no rows: nothing is joined
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lwi_plan plan = plan_of(&p, LW_PLAN_AUTO, &arena);
    int roots = 0;
    for (int k = 0; k < plan.nnode; k++) roots += plan.node[k].parent < 0;
    assert_int_equal(roots, 4);
    lwi_arena_free(&arena);
    all_plans(p);
}

// ------------------------------------------------------------------------------------------- loops

// Without loops no node is marked; with them as many edges close loops as the graph has cycles, so
// that at most that many nodes are marked, and at least one in each part that has one.
static void loop_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < LWI_COUNT(kinds); k++) {
            problem tree, ladder, bars;
            problem_seed((unsigned)i);
            problem_tree(&tree, 2 + i);
            problem_ladder(&ladder, 2 + i, 3);
            problem_four_bars(&bars, 2 + i, 0.2);
            lwi_arena arena;
            lwi_arena_init(&arena, NULL);
            lwi_plan plan = plan_of(&tree, kinds[k], &arena);
            assert_int_equal(loops(&plan), 0);
            plan = plan_of(&ladder, kinds[k], &arena);
            assert_true(loops(&plan) >= 1 && loops(&plan) <= 1 + i);
            plan = plan_of(&bars, kinds[k], &arena); // the ground counts as one body
            assert_true(loops(&plan) >= 1 && loops(&plan) <= 1 + i);
            problem_edge(&tree, 1, true, 1, (const int[]){1 + i}); // a second way to the ground
            plan = plan_of(&tree, kinds[k], &arena);
            assert_int_equal(loops(&plan), 1);
            lwi_arena_free(&arena);
            problem_free(&tree), problem_free(&ladder), problem_free(&bars);
        }
}

// ------------------------------------------------------------------------------------------- costs

static int ceil_log2(int n)
{
    int bits = 0;
    while ((1 << bits) < n) bits++;
    return bits;
}

static void chains(void **state)
{
    (void)state;
    double first = 0;
    for (int n = 2; n <= 4096; n = n < 40 ? n + 1 : 2 * n - 3) {
        problem p;
        problem_chain(&p, n, 5);
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        const lwi_plan sequential = plan_of(&p, LW_PLAN_COMB, &arena);
        assert_true(sequential.width <= 10 && sequential.max_open <= 1);
        // sequential, from the tip to the ground
        for (int k = 0; k < sequential.nnode; k++) {
            assert_int_equal(sequential.node[k].body.n, k ? 1 : 2);
            assert_int_equal(
                sequential.item[sequential.node[k].body.first + sequential.node[k].body.n - 1],
                n - 2 - k + (sequential.item[sequential.node[k].body.first] == n - 2 && !k));
        }
        if (n == 39) first = sequential.work; // every further body costs the same
        if (n > 39) assert_true(fabs((sequential.work - first) / (n - 39) - 510) < 1e-9);
        const lwi_plan balanced = plan_of(&p, LW_PLAN_BALANCED, &arena);
        assert_true(balanced.nlevel <= ceil_log2(n) + 1);
        assert_true(balanced.width <= 15 && balanced.max_open <= 2);
        // three blocks of 5 at each level
        assert_true(balanced.critical <= (ceil_log2(n) + 1) * (5 * 10.0 * 10 + 3 * 25 * 6.0 * 2));
        const lwi_plan mixed = plan_of(&p, LW_PLAN_MIXED, &arena);
        assert_true(mixed.width <= 15);
        // pieces: halves of an eighth, then the remaining bodies and the pieces one by one
        assert_true(mixed.nlevel <= ceil_log2(n) + (mixed.pieces ? 16 : 8));
        assert_int_equal(mixed.pieces, n >= 34); // 32 bodies between the ends
        assert_true(mixed.work <= balanced.work * 1.05);
        const lwi_plan chosen = plan_of(&p, LW_PLAN_AUTO, &arena);
        assert_int_equal(chosen.kind, mixed.pieces ? LW_PLAN_MIXED : LW_PLAN_COMB);
        lwi_arena_free(&arena);
        problem_free(&p);
    }
}

// A sequential order with one open edge at a time takes no more than the balanced one, which then is not tried.
static void narrow_orders_are_cheapest(void **state)
{
    (void)state;
    int narrow = 0, all = 0;
    for (int i = 0; i < 400; i++, all++) {
        const int n = 2 + i % 97;
        problem p;
        lwi_arena arena;
        problem_seed((unsigned)i);
        if (i % 5 == 0)
            problem_tree(&p, n);
        else if (i % 5 == 1)
            problem_loops(&p, n, 1 + i % 3);
        else if (i % 5 == 2)
            problem_four_bars(&p, n, 0.2);
        else if (i % 5 == 3)
            problem_star(&p, 2 + i % 7, 1 + i % 11, 1 + i % 6);
        else
            problem_ladder(&p, n, 1 + i % 6);
        lwi_arena_init(&arena, NULL);
        const lwi_plan sequential = plan_of(&p, LW_PLAN_COMB, &arena);
        if (sequential.max_open <= 1) {
            const lwi_plan balanced = plan_of(&p, LW_PLAN_BALANCED, &arena);
            narrow++;
            if (balanced.work < sequential.work)
                fail_msg("graph %d of %d bodies: %g, balanced %g", i, n, sequential.work,
                         balanced.work);
        }
        lwi_arena_free(&arena);
        problem_free(&p);
    }
    printf("%d of %d sequential orders have one open edge\n", narrow, all);
    assert_true(narrow > 100 && narrow < all);
}

// Fronts of bounded width at any length; balanced plans of bounded width have depth O(log n).
static void long_graphs(void **state)
{
    (void)state;
    int sequential_width[2][2] = {{0}}, balanced_width[2][2] = {{0}};
    for (int what = 0; what < 2; what++)
        for (int i = 0; i < 2; i++) {
            const int count = i ? 400 : 20;
            problem p;
            if (what)
                problem_ladder(&p, count, 5);
            else
                problem_four_bars(&p, count, 0.1);
            lwi_arena arena;
            lwi_arena_init(&arena, NULL);
            const lwi_plan sequential = plan_of(&p, LW_PLAN_COMB, &arena);
            const lwi_plan balanced = plan_of(&p, LW_PLAN_BALANCED, &arena);
            sequential_width[what][i] = sequential.width;
            balanced_width[what][i] = balanced.width;
            // two parts of at least a quarter: log(4/3) of the size at worst
            assert_true(balanced.nlevel <= 1.5 * ceil_log2(p.graph.nbody) + 2);
            lwi_arena_free(&arena);
            problem_free(&p);
        }
    for (int what = 0; what < 2; what++) {
        assert_int_equal(sequential_width[what][0], sequential_width[what][1]);
        assert_true(sequential_width[what][1] <= (what ? 25 : 15));
        assert_true(balanced_width[what][1] <= balanced_width[what][0] + 10);
        assert_true(balanced_width[what][1] <= (what ? 40 : 20));
    }
}

static void trees_and_hubs(void **state)
{
    (void)state;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    problem p;
    problem_init(&p, 255); // binary tree
    for (int b = 1; b < 255; b++) problem_edge(&p, 5, false, 2, (const int[]){(b - 1) / 2, b});
    lwi_plan plan = plan_of(&p, LW_PLAN_COMB, &arena);
    assert_true(plan.width <= 15); // a body with three joints
    plan = plan_of(&p, LW_PLAN_BALANCED, &arena);
    assert_true(plan.nlevel <= 2 * 8);
    assert_true(plan.width <= 5 * (8 + 2)); // one more neighbour at each level
    problem_free(&p);
    // a hub couples all its joints: one dense front, closed at once, the branches before it
    problem_star(&p, 40, 5, 5);
    plan = plan_of(&p, LW_PLAN_COMB, &arena);
    assert_int_equal(plan.width, 200);
    assert_int_equal(plan.node[plan.nnode - 1].closed_rows, 200);
    problem_free(&p);
    problem_star(&p, 2000, 1, 1); // planning of many of them is fast
    plan = plan_of(&p, LW_PLAN_COMB, &arena);
    assert_int_equal(plan.nnode, 1);
    assert_int_equal(plan.width, 2000);
    problem_free(&p);
    // nested dissection of a grid: fronts grow with its side
    problem_grid(&p, 32, 32, 1);
    plan = plan_of(&p, LW_PLAN_BALANCED, &arena);
    assert_true(plan.width <= 6 * 32);
    plan = plan_of(&p, LW_PLAN_COMB, &arena);
    assert_true(plan.width <= 6 * 32);
    problem_free(&p);
    lwi_arena_free(&arena);
}

// Doubling the bodies doubles the work of a plan and the time to create it: nothing is quadratic.
static void sizes_are_linear(void **state)
{
    (void)state;
    for (int k = 1; k < LWI_COUNT(kinds); k++) {
        double work[2];
        for (int i = 0; i < 2; i++) {
            problem p;
            problem_chain(&p, i ? 16384 : 8192, 5);
            lwi_arena arena;
            lwi_arena_init(&arena, NULL);
            const lwi_plan plan = plan_of(&p, kinds[k], &arena);
            work[i] = plan.work;
            assert_true(plan.nnode <= 2 * p.graph.nbody);
            lwi_arena_free(&arena);
            problem_free(&p);
        }
        assert_true(fabs(work[1] / work[0] - 2) < 0.01);
    }
}

// ------------------------------------------------------------------------------------------ errors

static void faults_are_refused(void **state)
{
    (void)state;
    static const lwi_plan_edge bad[] = {
        {.rows = 3, .n = 2, .body = {1, 1}}, {.rows = 3, .n = 2, .body = {0, 3}},
        {.rows = 3, .n = 1, .body = {-1}},   {.rows = 3, .n = 0},
        {.rows = 3, .n = 5, .body = {0, 1}}, {.rows = 7, .n = 1, .body = {0}},
        {.rows = -1, .n = 1, .body = {0}},   {.rows = 1, .n = 3, .body = {0, 1, 0}},
    };
    for (int i = 0; i < LWI_COUNT(bad); i++) {
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        lwi_plan plan = {.nnode = -7};
        const lwi_plan_graph graph = {3, 1, &bad[i]};
        assert_int_equal(lwi_plan_create(&graph, LW_PLAN_COMB, &arena, &plan), LW_ERR_ARGUMENT);
        assert_int_equal(plan.nnode, -7); // untouched
        lwi_arena_free(&arena);
    }
    const lwi_plan_graph none = {1, 0, NULL};
    lwi_plan plan;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_plan_create(&none, (lw_plan)9, &arena, &plan), LW_ERR_ARGUMENT);
    lwi_arena_free(&arena);
    for (int k = 0; k < LWI_COUNT(kinds); k++)
        assert_int_equal(lwi_plan_kind_find(lwi_plan_kind_name(kinds[k])), kinds[k]);
    assert_int_equal(lwi_plan_kind_find("combs"), -1);
    assert_int_equal(lwi_plan_kind_find(NULL), -1);
    assert_null(lwi_plan_kind_name((lw_plan)4));
}

// An allocator that fails at its n-th block and counts blocks that are not released.
typedef struct poor {
    int left, held;
} poor;

static void *poor_allocate(void *user, size_t bytes)
{
    poor *p = user;
    if (p->left-- <= 0) return NULL;
    p->held++;
    return malloc(bytes);
}

static void poor_release(void *user, void *block)
{
    if (block) ((poor *)user)->held--;
    free(block);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        problem p;
        problem_loops(&p, 1500, 700); // more than one chunk of an arena
        lw_status status = LW_ERR_MEMORY;
        for (int n = 0; status != LW_OK; n++) {
            poor purse = {n, 0};
            const lw_allocator allocator = {poor_allocate, poor_release, &purse};
            lwi_arena arena;
            lwi_arena_init(&arena, &allocator);
            lwi_plan plan;
            lwi_elim *elim;
            status = lwi_plan_create(&p.graph, kinds[k], &arena, &plan);
            if (status == LW_OK) status = lwi_elim_create(&plan, &arena, &elim);
            assert_true(status == LW_OK || status == LW_ERR_MEMORY);
            lwi_arena_free(&arena);
            assert_int_equal(purse.held, 0);
            assert_true(n < 1000);
        }
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_body_and_edge_once),
        cmocka_unit_test(empty_and_unconnected),
        cmocka_unit_test(loop_nodes),
        cmocka_unit_test(chains),
        cmocka_unit_test(narrow_orders_are_cheapest),
        cmocka_unit_test(long_graphs),
        cmocka_unit_test(trees_and_hubs),
        cmocka_unit_test(sizes_are_linear),
        cmocka_unit_test(faults_are_refused),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
