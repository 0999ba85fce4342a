// test_accumulate.c -- Jacobians by vertex elimination: equal to those of the chain rule, value by value in forward order, on graphs
// at random, and to differences.
#include "codegen/accumulate.h"
#include "codegen/jacobian.h"
#include "support/failing.h"
#include "support/mechanism.h"
#include "support/random_model.h"

enum { GRAPHS = 300, INPUTS = 5, VARIABLES = 4, OPERATIONS = 40, RESULTS = 6, SEEDS = 8 };

/** A graph, the seeds of its inputs, and results among its values. */
typedef struct sample {
    lwi_codegen_graph graph;
    lwi_codegen_value value[INPUTS + OPERATIONS];
    lwi_codegen_seed seed[SEEDS];
    double by[SEEDS];
    lwi_codegen_value f[RESULTS];
    double input[INPUTS];
} sample;

// An operation on previous values: all of them are smooth and of moderate size.
static lwi_codegen_value random_operation(lwi_codegen_graph *g, uint64_t *random,
                                          const lwi_codegen_value *value, int n)
{
    const lwi_codegen_value a = value[lwt_random_below(random, n)];
    const lwi_codegen_value b = value[lwt_random_below(random, n)], none = {0};
    const lwi_codegen_value sine = lwi_codegen_graph_op(g, LWI_OP_SIN, b, none);
    switch (lwt_random_below(random, 7)) {
    case 0:
        return lwi_codegen_graph_op(g, LWI_OP_ADD, a, b);
    case 1:
        return lwi_codegen_graph_op(g, LWI_OP_SUB, a, b);
    case 2:
        return lwi_codegen_graph_op(g, LWI_OP_MUL, a, sine);
    case 3:
        return lwi_codegen_graph_op(
            g, LWI_OP_DIV, a,
            lwi_codegen_graph_op(g, LWI_OP_ADD, lwi_codegen_graph_literal(g, 2), sine));
    case 4:
        return lwi_codegen_graph_op(g, LWI_OP_COS, a, none);
    case 5:
        return lwi_codegen_graph_select(g, sine, a, b);
    default:
        return lwi_codegen_graph_literal(g, lwt_random(random, -1, 1));
    }
}

// Inputs depend on several variables, or on one, or on none; a result may be an input, a literal, or twice the same value.
static void make(sample *s, uint64_t seed, const lw_allocator *allocator)
{
    uint64_t random = seed + 1;
    lwi_codegen_graph_init(&s->graph, allocator);
    const int array = lwi_codegen_graph_array(&s->graph, "x");
    for (int i = 0; i < INPUTS; i++) {
        s->value[i] = lwi_codegen_graph_input(&s->graph, array, i);
        s->input[i] = lwt_random(&random, -1, 1);
    }
    for (int i = 0; i < OPERATIONS; i++)
        s->value[INPUTS + i] = random_operation(&s->graph, &random, s->value, INPUTS + i);
    for (int i = 0; i < SEEDS; i++) {
        s->by[i] = lwt_random(&random, -1, 1);
        s->seed[i] = (lwi_codegen_seed){s->value[lwt_random_below(&random, INPUTS - 1)],
                                        lwt_random_below(&random, VARIABLES),
                                        lwi_codegen_graph_literal(&s->graph, s->by[i])};
    }
    for (int i = 0; i < RESULTS; i++)
        s->f[i] = s->value[i < 2 ? lwt_random_below(&random, INPUTS)
                                 : INPUTS + lwt_random_below(&random, OPERATIONS)];
    s->f[RESULTS - 1] = s->f[RESULTS - 2];
}

// The derivatives of all values by the variables, in forward order, as numbers.
static void chain_rule(sample *s, int nvalue, const double *number, const int32_t (*partial)[3],
                       double (*d)[VARIABLES])
{
    for (int i = 0; i < nvalue; i++) {
        const lwi_vertex *v = &s->graph.vertex[i];
        const int32_t operand[3] = {v->a, v->b, v->c};
        for (int j = 0; j < VARIABLES; j++) d[i][j] = 0;
        for (int k = 0; k < SEEDS; k++)
            if (s->seed[k].value.index == i) d[i][s->seed[k].variable] += s->by[k];
        for (int k = 0; k < lwi_codegen_operands(v->op); k++)
            for (int j = 0; j < VARIABLES; j++) d[i][j] += number[partial[i][k]] * d[operand[k]][j];
    }
}

static double *evaluate(const sample *s, const double *input)
{
    double *number = lwt_vector(s->graph.nvertex);
    const double *const arrays[] = {input};
    lwi_codegen_graph_evaluate(&s->graph, arrays, number);
    return number;
}

// The largest difference of a result's change along variable j, by differences, from the Jacobian.
static double off_differences(const sample *s, const double *jacobian, int j)
{
    const double h = 1e-6;
    double to[2][INPUTS], off = 0;
    for (int side = 0; side < 2; side++) {
        memcpy(to[side], s->input, sizeof to[side]);
        for (int k = 0; k < SEEDS; k++)
            if (s->seed[k].variable == j)
                to[side][s->graph.vertex[s->seed[k].value.index].b] += (side ? h : -h) * s->by[k];
    }
    double *before = evaluate(s, to[0]), *after = evaluate(s, to[1]);
    for (int i = 0; i < RESULTS; i++) {
        const double slope = (after[s->f[i].index] - before[s->f[i].index]) / (2 * h);
        off = fmax(off, fabs(slope - jacobian[i * VARIABLES + j]) / fmax(1, fabs(slope)));
    }
    free(before), free(after);
    return off;
}

static void check(uint64_t seed, int *used)
{
    sample s;
    lwi_codegen_value jacobian[RESULTS * VARIABLES];
    make(&s, seed, NULL);
    const int nvalue = s.graph.nvertex;
    int32_t(*partial)[3] = calloc((size_t)nvalue, sizeof *partial);
    double(*d)[VARIABLES] = calloc((size_t)nvalue, sizeof *d), found[RESULTS * VARIABLES];
    assert_true(partial && d);
    assert_int_equal(
        lwi_codegen_accumulate(&s.graph, SEEDS, s.seed, VARIABLES, RESULTS, s.f, jacobian), LW_OK);
    for (int i = 0; i < nvalue; i++)
        for (int k = 0; k < lwi_codegen_operands(s.graph.vertex[i].op); k++)
            partial[i][k] = lwi_codegen_partial(&s.graph, (lwi_codegen_value){i}, k).index;
    double *number = evaluate(&s, s.input);
    chain_rule(&s, nvalue, number, (const int32_t(*)[3])partial, d);
    for (int i = 0; i < RESULTS * VARIABLES; i++) {
        const double expected = d[s.f[i / VARIABLES].index][i % VARIABLES];
        found[i] = number[jacobian[i].index];
        *used += expected != 0;
        if (!(fabs(found[i] - expected) <= 1e-12 * fmax(1, fabs(expected))))
            fail_msg("graph %d, derivative %d: %.17g, expected %.17g", (int)seed, i, found[i],
                     expected);
    }
    for (int j = 0; j < VARIABLES; j++) {
        const double off = off_differences(&s, found, j);
        if (!(off < 1e-6)) fail_msg("graph %d, variable %d: %.1e off", (int)seed, j, off);
    }
    free(number), free(partial), free(d);
    lwi_codegen_graph_free(&s.graph);
}

static void jacobians_are_those_of_the_chain_rule(void **state)
{
    (void)state;
    int used = 0;
    for (int i = 0; i < GRAPHS; i++) check((uint64_t)i, &used);
    assert_true(used > GRAPHS * RESULTS * VARIABLES / 4);
}

// Literals and inputs without a seed do not depend on variables: these entries are the literal 0.
static void independent_entries_are_literals(void **state)
{
    (void)state;
    lwi_codegen_graph g;
    double x;
    lwi_codegen_value jacobian[4];
    lwi_codegen_graph_init(&g, NULL);
    const int array = lwi_codegen_graph_array(&g, "x");
    const lwi_codegen_value a = lwi_codegen_graph_input(&g, array, 0),
                            b = lwi_codegen_graph_input(&g, array, 1),
                            f[] = {lwi_codegen_graph_literal(&g, 3),
                                   lwi_codegen_graph_op(&g, LWI_OP_MUL, a, b)};
    const lwi_codegen_seed seed = {a, 0, lwi_codegen_graph_literal(&g, 1)};
    assert_int_equal(lwi_codegen_accumulate(&g, 1, &seed, 2, 2, f, jacobian), LW_OK);
    for (int i = 0; i < 4; i++)
        if (i != 2) assert_true(lwi_codegen_graph_known(&g, jacobian[i], &x) && x == 0);
    assert_int_equal(jacobian[2].index, b.index);
    lwi_codegen_graph_free(&g);
}

// Every allocation that fails is reported, and no block is lost.
static void failed_allocations_are_reported(void **state)
{
    (void)state;
    lw_status status = LW_ERR_MEMORY;
    int failures = 0;
    for (long n = 0; status != LW_OK; n++) {
        sample s;
        lwt_failing failing = {.left = 1000000};
        const lw_allocator allocator = lwt_failing_allocator(&failing);
        lwi_codegen_value jacobian[RESULTS * VARIABLES];
        make(&s, 1, &allocator);
        assert_false(s.graph.failed);
        failing.left = n;
        status = lwi_codegen_accumulate(&s.graph, SEEDS, s.seed, VARIABLES, RESULTS, s.f, jacobian);
        failures += status == LW_ERR_MEMORY;
        lwi_codegen_graph_free(&s.graph);
        assert_int_equal(failing.live, 0);
    }
    assert_true(failures >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobians_are_those_of_the_chain_rule),
        cmocka_unit_test(independent_entries_are_literals),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
