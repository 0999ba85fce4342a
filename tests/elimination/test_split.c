// test_split.c -- bodies with many edges in parts: few edges on each part, every edge at its body, rigid
// links that connect the parts; bodies with few edges are not split.
#include "elimination/split.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { EDGES = 100, BODIES = EDGES + 2, FEW = 12, MOST = 8 }; ///< six edges and two links

// Bodies 0 and 1 with `n` and 12 edges, to the ground, to each other, to others; some without rows.
static lwi_plan_graph star(int n, lwi_plan_edge edge[EDGES + FEW])
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        edge[count] = (lwi_plan_edge){.rows = 1 + i % 6, .n = 2, .body = {2 + i, 0}};
        if (i % 7 == 0)
            edge[count] = (lwi_plan_edge){.rows = 5, .n = 1, .body = {0}, .ground = true};
        if (i == 3) edge[count] = (lwi_plan_edge){.rows = 3, .n = 3, .body = {5, 1, 0}};
        count++;
    }
    for (int i = 1; i < FEW; i++)
        edge[count++] = (lwi_plan_edge){.rows = 3, .n = 2, .body = {1, 1 + i}};
    edge[4].rows = 0;
    return (lwi_plan_graph){.nbody = BODIES, .nedge = count, .edge = edge};
}

// The split body of a body of the new graph.
static int whole(const lwi_split *split, int body)
{
    return body < BODIES ? body : split->part[body - BODIES].body;
}

static void parts_have_a_bounded_number_of_edges(void **state)
{
    (void)state;
    lwi_plan_edge edge[EDGES + FEW];
    lwi_arena arena;
    lwi_split split;
    int degree[2 * BODIES] = {0};
    const lwi_plan_graph graph = star(EDGES, edge);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_split_create(&graph, &arena, &split), LW_OK);
    assert_int_equal(split.npart, 16); // 99 edges with rows: 17 parts
    assert_int_equal(split.graph.nbody, BODIES + split.npart);
    assert_int_equal(split.graph.nedge, graph.nedge + split.npart);
    for (int e = 0; e < split.graph.nedge; e++)
        for (int i = 0; i < split.graph.edge[e].n && split.graph.edge[e].rows; i++)
            degree[split.graph.edge[e].body[i]]++;
    for (int b = 0; b < split.graph.nbody; b++) assert_true(degree[b] <= (b == 1 ? FEW : MOST));
    for (int e = 0; e < graph.nedge; e++) { // unchanged, up to the parts at which they act
        const lwi_plan_edge *is = &split.graph.edge[e], *was = &edge[e];
        assert_int_equal(is->rows, was->rows);
        assert_int_equal(is->n, was->n);
        assert_int_equal(is->ground, was->ground);
        for (int i = 0; i < was->n; i++) assert_int_equal(whole(&split, is->body[i]), was->body[i]);
    }
    lwi_arena_free(&arena);
}

static void rigid_links_hold_the_parts_together(void **state)
{
    (void)state;
    lwi_plan_edge edge[EDGES + FEW];
    lwi_arena arena;
    lwi_split split;
    const lwi_plan_graph graph = star(EDGES, edge);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_split_create(&graph, &arena, &split), LW_OK);
    assert_int_equal(split.count[0], split.npart + 1);
    assert_int_equal(split.count[1], 1);
    for (int i = 0; i < split.npart; i++) {
        const lwi_plan_edge *link = &split.graph.edge[graph.nedge + i], *own;
        const lwi_split_part *part = &split.part[i];
        bool has = false;
        assert_int_equal(link->rows, 6);
        assert_int_equal(link->n, 2);
        assert_int_equal(link->body[0], part->before);
        assert_int_equal(link->body[1], BODIES + i);
        assert_int_equal(part->before,
                         i ? BODIES + i - 1 : part->body); // a chain starting at the body
        own = &split.graph.edge[part->edge];
        for (int k = 0; k < own->n; k++) has = has || own->body[k] == BODIES + i;
        assert_true(has);
    }
    lwi_arena_free(&arena);
}

static void bodies_with_a_small_number_of_edges_stay_whole(void **state)
{
    (void)state;
    lwi_plan_edge edge[EDGES + FEW];
    lwi_arena arena;
    lwi_split split;
    const lwi_plan_graph graph = star(FEW + 1, edge); // one has no rows
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_split_create(&graph, &arena, &split), LW_OK);
    assert_int_equal(split.npart, 0);
    assert_int_equal(split.graph.nbody, graph.nbody);
    assert_ptr_equal(split.graph.edge, graph.edge);
    lwi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_a_bounded_number_of_edges),
        cmocka_unit_test(rigid_links_hold_the_parts_together),
        cmocka_unit_test(bodies_with_a_small_number_of_edges_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
