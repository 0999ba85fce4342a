// test_design.c -- designs of studies: grids, units, Latin hypercubes, Sobol sequences, distributions; refusals.
#include "batch/sample.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const char text[] =
    "linkwork: 1\n"
    "parameters:\n"
    "  l: {value: 400, unit: mm}\n"
    "  c: 2 N m s/rad\n"
    "  n: 3\n"
    "bodies:\n"
    "  rod: {mass: n, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, -l]}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0],\n"
    "          spring: {q0: {damping: c}}}\n";

static lw_model *parse(void)
{
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.format = "yaml"};
    if (lw_model_parse(text, strlen(text), "text", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    return model;
}

static lw_table *design(const char *kind, uint64_t seed, int n, const char *const *vary)
{
    lw_model *model = parse();
    lw_table *table;
    lw_error error = {0};
    const lw_design_desc desc = {.design = kind, .seed = seed, .nvary = n, .vary = vary};
    if (lw_design_create(model, &desc, &table, &error) != LW_OK) fail_msg("%s", error.text);
    lw_model_destroy(model);
    return table;
}

static void a_grid_has_every_combination_in_the_units_of_the_file(void **state)
{
    (void)state;
    static const char *const vary[] = {"l=0.3 m:0.5 m:3", "joint.hinge.q0=0,90 deg", "n=7"};
    lw_table *t = design(NULL, 0, 3, vary);
    const double *x = lw_table_values(t);
    assert_int_equal(lw_table_rows(t), 6);
    assert_int_equal(lw_table_columns(t), 3);
    assert_string_equal(lw_table_names(t)[1], "joint.hinge.q0");
    assert_string_equal(lw_table_unit(t, 0), "mm");
    assert_string_equal(lw_table_unit(t, 1), "rad");
    assert_string_equal(lw_table_unit(t, 3), "");
    for (int i = 0; i < 6; i++) {
        assert_true(x[3 * i] == 300 + 100 * (i / 2)); // exact: powers of ten are not multiplied
        assert_true(x[3 * i + 1] == (i % 2 ? acos(0) : 0));
        assert_true(x[3 * i + 2] == 7);
    }
    lw_table_free(t);
}

static void every_row_of_a_table_meets_every_point(void **state)
{
    (void)state;
    lw_model *model = parse();
    lw_table *rows, *t;
    lw_error error = {0};
    static const char *const vary[] = {"n=1,2,3"};
    FILE *file = fopen("design.csv", "w");
    fputs("l,joint.hinge.q0\n1,2\n3,4\n", file);
    fclose(file);
    assert_int_equal(lw_table_read("design.csv", &rows, &error), LW_OK);
    lw_design_desc desc = {.nvary = 1, .vary = vary, .rows = rows};
    assert_int_equal(lw_design_create(model, &desc, &t, &error), LW_OK);
    assert_int_equal(lw_table_rows(t), 6);
    const double *x = lw_table_values(t);
    for (int i = 0; i < 6; i++) {
        assert_true(x[3 * i] == 1 + 2 * (i / 3) && x[3 * i + 1] == 2 + 2 * (i / 3));
        assert_true(x[3 * i + 2] == 1 + i % 3);
    }
    lw_table_free(t);
    static const char *const twice[] = {"l=1,2"};
    desc.vary = twice;
    assert_int_equal(lw_design_create(model, &desc, &t, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "column of the table"));
    lw_table_free(rows);
    lw_model_destroy(model);
    remove("design.csv");
}

static void a_latin_hypercube_has_one_point_in_every_interval(void **state)
{
    (void)state;
    enum { N = 37 };
    static const char *const vary[] = {"l=0:37", "n=0:37", "joint.hinge.qd0=37:0"};
    lw_table *t = design("lhs:37", 5, 3, vary);
    const double *x = lw_table_values(t);
    int same = 0;
    assert_int_equal(lw_table_rows(t), N);
    for (int k = 0; k < 3; k++) {
        bool taken[N] = {false};
        for (int i = 0; i < N; i++) {
            const int at = (int)x[3 * i + k];
            assert_true(at >= 0 && at < N);
            assert_false(taken[at]);
            taken[at] = true;
            same += k < 2 && (int)x[3 * i] == (int)x[3 * i + 1] && k == 0;
        }
    }
    assert_true(same < N / 2); // the orders of the dimensions differ
    lw_table *again = design("lhs:37", 5, 3, vary), *other = design("lhs:37", 6, 3, vary);
    assert_memory_equal(lw_table_values(again), x, 3 * N * sizeof *x);
    assert_memory_not_equal(lw_table_values(other), x, 3 * N * sizeof *x);
    lw_table_free(t);
    lw_table_free(again);
    lw_table_free(other);
}

// Of 2^m points one in each of the 2^m intervals, in every dimension, scrambled or not; and in the first two dimensions one
// in every elementary rectangle of that area.
static void sobol_points_are_evenly_spread(void **state)
{
    (void)state;
    enum { M = 8, N = 1 << M, D = LWI_SOBOL_DIMENSIONS };
    static double u[N * D];
    for (uint64_t seed = 0; seed < 3; seed++) {
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_sample_fill(LWI_SAMPLE_SOBOL, seed, N, D, u, &arena), LW_OK);
        lwi_arena_free(&arena);
        for (int d = 0; d < D; d++) {
            bool taken[N] = {false};
            for (int i = 0; i < N; i++) {
                const int at = (int)(u[i * D + d] * N);
                assert_true(at >= 0 && at < N && !taken[at]);
                taken[at] = true;
            }
        }
        for (int a = 0; a <= M; a++) {
            bool taken[N] = {false};
            for (int i = 0; i < N; i++) {
                const int at =
                    ((int)(u[i * D] * (1 << a)) << (M - a)) + (int)(u[i * D + 1] * (1 << (M - a)));
                assert_false(taken[at]);
                taken[at] = true;
            }
        }
    }
}

// Dimensions 1, 2, 3, 10, 31, 53 of points 77 and 200, by scipy.stats.qmc.Sobol(53, scramble=False, bits=32).
static void sobol_points_are_those_of_others(void **state)
{
    (void)state;
    static const int dimension[] = {0, 1, 2, 9, 30, 52};
    static const double expected[2][6] = {
        {0.8359375, 0.8359375, 0.0078125, 0.4296875, 0.9765625, 0.3359375},
        {0.20703125, 0.38671875, 0.41015625, 0.62109375, 0.88671875, 0.09765625}};
    static double u[201 * LWI_SOBOL_DIMENSIONS];
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_sample_fill(LWI_SAMPLE_SOBOL, 0, 201, LWI_SOBOL_DIMENSIONS, u, &arena),
                     LW_OK);
    lwi_arena_free(&arena);
    for (int k = 0; k < 6; k++) {
        assert_true(u[77 * LWI_SOBOL_DIMENSIONS + dimension[k]] == expected[0][k]);
        assert_true(u[200 * LWI_SOBOL_DIMENSIONS + dimension[k]] == expected[1][k]);
    }
}

static void more_random_points_begin_with_fewer(void **state)
{
    (void)state;
    static const char *const vary[] = {"l=0:1", "c=log:0.01:100", "n=1,2,3,4"};
    for (int kind = 0; kind < 2; kind++) {
        lw_table *fewer = design(kind ? "random:50" : "sobol:50", 1, 3, vary);
        lw_table *many = design(kind ? "random:80" : "sobol:80", 1, 3, vary);
        const double *x = lw_table_values(fewer);
        assert_memory_equal(x, lw_table_values(many), 150 * sizeof *x);
        int below = 0, count[5] = {0};
        for (int i = 0; i < 50; i++) {
            assert_true(x[3 * i + 1] >= 0.01 && x[3 * i + 1] <= 100);
            below += x[3 * i + 1] < 1; // half of them, of the logarithm
            count[(int)x[3 * i + 2]]++;
        }
        assert_true(below > 15 && below < 35);
        for (int n = 1; n <= 4; n++) assert_true(count[n] > 3);
        lw_table_free(fewer);
        lw_table_free(many);
    }
}

static void normal_values_have_their_mean_and_deviation(void **state)
{
    (void)state;
    static const char *const vary[] = {"l=normal:400:5 mm", "n=normal:3:0.1"};
    lw_table *t = design("lhs:1000", 2, 2, vary);
    const double *x = lw_table_values(t);
    double sum = 0, squares = 0;
    for (int i = 0; i < 1000; i++) sum += x[2 * i], squares += pow(x[2 * i] - 400, 2);
    assert_true(fabs(sum / 1000 - 400) < 0.01);
    assert_true(fabs(sqrt(squares / 1000) - 5) < 0.05);
    lw_table_free(t);
    for (double u = 1e-300; u < 1; u = u < 0.1 ? u * 7 : u + 0.01) { // inverse of the distribution
        const double back = erfc(-lwi_normal_quantile(u) / sqrt(2)) / 2;
        assert_true(fabs(back - u) < 1e-12 * u * (1 + fabs(log(u))));
        if (u > 0.01) // where 1 - u is exact enough
            assert_true(fabs(lwi_normal_quantile(u) + lwi_normal_quantile(1 - u)) < 1e-12);
    }
}

static void expect_refusal(const char *kind, const char *vary, const char *message)
{
    lw_model *model = parse();
    lw_table *table = NULL;
    lw_error error = {0};
    const char *const both[] = {vary, "c=1:2:2"};
    const lw_design_desc desc = {.design = kind, .nvary = vary ? 2 : 0, .vary = both};
    assert_int_not_equal(lw_design_create(model, &desc, &table, &error), LW_OK);
    assert_null(table);
    if (!strstr(error.text, message)) fail_msg("%s: %s", vary ? vary : kind, error.text);
    lw_model_destroy(model);
}

static void wrong_designs_are_refused(void **state)
{
    (void)state;
    expect_refusal("lhs", "l=1:2", "expected grid, lhs:N");
    expect_refusal("lhs:0", "l=1:2", "expected grid, lhs:N");
    expect_refusal("lhs:1.5", "l=1:2", "expected grid, lhs:N");
    expect_refusal("lhs:1e9", "l=1:2", "expected grid, lhs:N");
    expect_refusal("halton:5", "l=1:2", "expected grid, lhs:N");
    expect_refusal("lhs:5", NULL, "nothing varies");
    expect_refusal(NULL, "l=1:2", "for a grid");
    expect_refusal(NULL, "l=normal:1:2", "for a grid");
    expect_refusal(NULL, "l", "expected NAME=FROM:TO:COUNT");
    expect_refusal(NULL, "=1,2", "expected NAME=FROM:TO:COUNT");
    expect_refusal(NULL, "l=", "numbers");
    expect_refusal(NULL, "l=1,,2", "numbers");
    expect_refusal(NULL, "l=1:2:3:4", "expected NAME=FROM:TO:COUNT");
    expect_refusal(NULL, "l=1:2:0", "whole COUNT");
    expect_refusal(NULL, "l=1:2:2.5", "whole COUNT");
    expect_refusal(NULL, "l=1 mm,2", "a unit behind the last value");
    expect_refusal(NULL, "l=1 kg,2 kg", "a value in kg, expected mm");
    expect_refusal(NULL, "l=1 furlong", "'furlong' is no unit");
    expect_refusal(NULL, "n=1 mm", "expected a number without a unit");
    expect_refusal(NULL, "joint.hinge.q0=1 mm", "a value in mm, expected rad");
    expect_refusal(NULL, "joint.hinge.stiffness0=1 N/mm", "expected N m/rad");
    expect_refusal(NULL, "l=nan,inf", "numbers");
    expect_refusal(NULL, "l=log:0:2:3", "positive values");
    expect_refusal("lhs:4", "l=normal:1:0", "a positive deviation");
    expect_refusal("lhs:4", "l=normal:1:2:3", "expected NAME=FROM:TO:COUNT");
    expect_refusal(NULL, "c=5", "'c' is there twice");
    expect_refusal(NULL, "m=5", "no parameter 'm'");
    expect_refusal(NULL, "option.rtl=5", "did you mean 'rtol'");
    expect_refusal(NULL, "l=0:1:9999999", "cases are too many");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_has_every_combination_in_the_units_of_the_file),
        cmocka_unit_test(every_row_of_a_table_meets_every_point),
        cmocka_unit_test(a_latin_hypercube_has_one_point_in_every_interval),
        cmocka_unit_test(sobol_points_are_evenly_spread),
        cmocka_unit_test(sobol_points_are_those_of_others),
        cmocka_unit_test(more_random_points_begin_with_fewer),
        cmocka_unit_test(normal_values_have_their_mean_and_deviation),
        cmocka_unit_test(wrong_designs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
