// test_functions.c -- functions of time: exact derivatives, smoothness, breaks, refusals.
#include "model/signals/functions.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_FUNCTIONS = 16 };

typedef struct set {
    lwi_arena arena;
    lwi_function f[MAX_FUNCTIONS];
    lw_function_desc desc[MAX_FUNCTIONS];
    int n;
} set;

static void set_start(set *s)
{
    memset(s, 0, sizeof *s);
    lwi_arena_init(&s->arena, NULL);
}

static lw_signal add(set *s, lw_function_desc desc)
{
    lw_error error = {0};
    assert_true(s->n < MAX_FUNCTIONS);
    if (lwi_function_check(&desc, &(lwi_signal_names){.nfunction = s->n}, &error) != LW_OK)
        fail_msg("%s", error.text);
    assert_int_equal(
        lwi_function_build(&desc, &(lwi_signal_names){.nfunction = s->n}, &s->arena, &s->f[s->n]),
        LW_OK);
    s->desc[s->n] = s->f[s->n].desc;
    return (lw_signal){++s->n};
}

static double value(const set *s, lw_signal signal, double t, int derivative)
{
    double f[3];
    lwi_function_eval(s->f, signal, t, f);
    return f[derivative];
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g and %.17g differ by more than %g", a, b, tolerance);
}

static const double table_t[] = {-1, 0, 0.5, 2, 2.25, 4};
static const double table_y[] = {3, -1, 2, 2, 0.5, 7};

static lw_signal add_table(set *s)
{
    return add(
        s, (lw_function_desc){.type = LW_FUNCTION_TABLE, .t = table_t, .y = table_y, .npoint = 6});
}

static void add_all(set *s)
{
    static const double c[] = {1, -2, 0.5, 0.25, -0.125};
    static const lw_signal terms[] = {{2}, {3}, {3}, {6}};
    add(s, (lw_function_desc){.type = LW_FUNCTION_CONSTANT, .value = 4});
    add(s,
        (lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL, .coefficients = c, .ncoefficient = 5});
    add(s, (lw_function_desc){
               .type = LW_FUNCTION_SINE, .offset = 1, .amplitude = 2, .omega = 3, .phase = 0.4});
    add(s, (lw_function_desc){.type = LW_FUNCTION_RAMP, .rate = 2.5, .from = 1});
    add(s, (lw_function_desc){
               .type = LW_FUNCTION_STEP, .from = -1, .to = 3, .start = 0.25, .end = 1.75});
    add_table(s);
    add(s, (lw_function_desc){.type = LW_FUNCTION_SUM, .terms = terms, .nterm = 4});
}

// Every derivative is that of the value: fourth-order central differences, truncation h^4/30 times
// the fifth derivative (of f and of f': below 2 * 2 * 3^6 = 2916, for the sines of the sum), plus
// rounding eps/h.
static void derivatives_match_differences(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    add_all(&s);
    const double h = 1e-3;
    const double tolerance = 2916 * h * h * h * h / 30 + 100 * DBL_EPSILON / h;
    for (int i = 1; i <= s.n; i++) {
        const lw_signal f = {i};
        for (double t = -1.513; t < 5; t += 0.0731) {
            const double next = lwi_function_next_break(s.f, f, t - 2 * h);
            if (next <= t + 2 * h) continue; // no break inside the stencil
            for (int k = 0; k < 2; k++) {
                const double slope = (8 * (value(&s, f, t + h, k) - value(&s, f, t - h, k)) -
                                      value(&s, f, t + 2 * h, k) + value(&s, f, t - 2 * h, k)) /
                                     (12 * h);
                assert_near(value(&s, f, t, k + 1), slope, tolerance);
            }
        }
    }
    lwi_arena_free(&s.arena);
}

// Between breaks the functions are smooth. At the breaks of steps and tables value, slope and
// curvature are continuous and the third derivative jumps; at the break of a ramp the slope jumps.
static void breaks_are_where_smoothness_ends(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    add_all(&s);
    const double e = 1e-7; // third derivatives here are below 200
    for (int i = 5; i <= 6; i++) {
        const lw_signal f = {i};
        for (double t = -2; (t = lwi_function_next_break(s.f, f, t)) < INFINITY;) {
            for (int k = 0; k < 3; k++)
                assert_near(value(&s, f, t - e, k), value(&s, f, t + e, k), 400 * e);
            const double before = (value(&s, f, t, 2) - value(&s, f, t - e, 2)) / e;
            const double after = (value(&s, f, t + e, 2) - value(&s, f, t, 2)) / e;
            assert_true(fabs(after - before) > 0.1);
        }
    }
    assert_near(value(&s, (lw_signal){4}, 1 - e, 1), 0, 0);
    assert_near(value(&s, (lw_signal){4}, 1 + e, 1), 2.5, 0);
    lwi_arena_free(&s.arena);
}

static void next_break_lists_every_break_once(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    add_all(&s);
    for (int i = 1; i <= 3; i++)
        assert_true(isinf(lwi_function_next_break(s.f, (lw_signal){i}, -10)));
    assert_true(lwi_function_next_break(s.f, (lw_signal){4}, 0.5) == 1);
    assert_true(isinf(lwi_function_next_break(s.f, (lw_signal){4}, 1)));
    assert_true(lwi_function_next_break(s.f, (lw_signal){5}, 0) == 0.25);
    assert_true(lwi_function_next_break(s.f, (lw_signal){5}, 0.25) == 1.75);
    assert_true(isinf(lwi_function_next_break(s.f, (lw_signal){5}, 1.75)));
    double t = -2;
    for (int i = 0; i < 6; i++) {
        const double next = lwi_function_next_break(s.f, (lw_signal){6}, t);
        assert_true(next == table_t[i]);
        assert_true(lwi_function_next_break(s.f, (lw_signal){7}, t) == next); // the sum has it too
        t = next;
    }
    assert_true(isinf(lwi_function_next_break(s.f, (lw_signal){6}, t)));
    assert_true(isinf(lwi_function_next_break(s.f, (lw_signal){0}, 0)));
    assert_true(isinf(lwi_function_next_break(s.f, (lw_signal){-1}, 0)));
    lwi_arena_free(&s.arena);
}

static void step_is_the_quintic_with_flat_ends(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    const lw_signal f = add(
        &s,
        (lw_function_desc){.type = LW_FUNCTION_STEP, .from = -1, .to = 3, .start = 2, .end = 5});
    for (double t = 0; t <= 7; t += 0.25) {
        const double x = fmin(fmax((t - 2) / 3, 0), 1);
        const double expected = -1 + 4 * (6 * pow(x, 5) - 15 * pow(x, 4) + 10 * pow(x, 3));
        assert_near(value(&s, f, t, 0), expected, 200 * DBL_EPSILON);
    }
    for (int k = 1; k < 3; k++) {
        assert_near(value(&s, f, 2, k), 0, 0);
        assert_near(value(&s, f, 5, k), 0, 0);
    }
    assert_near(value(&s, f, 5, 0), 3, 0);
    lwi_arena_free(&s.arena);
}

static void table_interpolates_with_natural_ends(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    const lw_signal f = add_table(&s);
    for (int i = 0; i < 6; i++)
        assert_near(value(&s, f, table_t[i], 0), table_y[i], 16 * DBL_EPSILON);
    assert_near(value(&s, f, -1, 2), 0, 0);
    assert_near(value(&s, f, 4, 2), 0, 0);
    // straight lines outside
    for (int end = 0; end < 2; end++) {
        const double t = end ? 4 : -1, beyond = end ? 9 : -6;
        assert_near(value(&s, f, beyond, 0), value(&s, f, t, 0) + value(&s, f, t, 1) * (beyond - t),
                    200 * DBL_EPSILON);
        assert_near(value(&s, f, beyond, 1), value(&s, f, t, 1), 0);
        assert_near(value(&s, f, beyond, 2), 0, 0);
    }
    lwi_arena_free(&s.arena);
}

// The natural spline of points on a straight line is that line; also for two points.
static void table_of_a_line_is_the_line(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    static const double t[] = {0, 1, 1.5, 4, 10}, y[] = {2, -1, -2.5, -10, -28};
    for (int n = 2; n <= 5; n++) {
        const lw_signal f =
            add(&s, (lw_function_desc){.type = LW_FUNCTION_TABLE, .t = t, .y = y, .npoint = n});
        for (double x = -3; x < 13; x += 0.37) {
            assert_near(value(&s, f, x, 0), 2 - 3 * x, 500 * DBL_EPSILON);
            assert_near(value(&s, f, x, 1), -3, 500 * DBL_EPSILON);
        }
    }
    lwi_arena_free(&s.arena);
}

// Between two cubics the natural spline of smooth data converges: interior error below 5/384 h^4
// f'''' for data with second derivative zero at the ends.
static void table_converges_with_order_four(void **state)
{
    (void)state;
    enum { N = 41 };
    static double t[N], y[N];
    const double pi = 3.14159265358979324, h = 2 * pi / (N - 1);
    for (int i = 0; i < N; i++) t[i] = i * h, y[i] = sin(t[i]);
    set s;
    set_start(&s);
    const lw_signal f =
        add(&s, (lw_function_desc){.type = LW_FUNCTION_TABLE, .t = t, .y = y, .npoint = N});
    for (double x = 0; x < 2 * pi; x += 0.01)
        assert_near(value(&s, f, x, 0), sin(x), 5.0 / 384 * h * h * h * h + 1e-14);
    lwi_arena_free(&s.arena);
}

static void sum_adds_its_terms_with_multiplicity(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    add_all(&s);
    for (double t = -2; t < 5; t += 0.31)
        for (int k = 0; k < 3; k++) {
            const double expected = value(&s, (lw_signal){2}, t, k) +
                                    2 * value(&s, (lw_signal){3}, t, k) +
                                    value(&s, (lw_signal){6}, t, k);
            assert_near(value(&s, (lw_signal){7}, t, k), expected, 1e-13 * (1 + fabs(expected)));
        }
    lwi_arena_free(&s.arena);
}

static void signals_are_functions_inputs_or_nothing(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    add_all(&s);
    const double inputs[] = {5, 6};
    const lwi_now now = {.inputs = inputs}, alone = {0};
    assert_near(lwi_signal_value(s.f, (lw_signal){0}, &now, 1), 1, 0);
    assert_near(lwi_signal_value(s.f, (lw_signal){1}, &now, 1), 4, 0);
    assert_near(lwi_signal_value(s.f, (lw_signal){-1}, &now, 1), 5, 0);
    assert_near(lwi_signal_value(s.f, (lw_signal){-2}, &now, 1), 6, 0);
    assert_near(lwi_signal_value(s.f, (lw_signal){-2}, &alone, 1), 0, 0);
    assert_near(value(&s, (lw_signal){0}, 3, 0), 0, 0);
    lwi_arena_free(&s.arena);
}

static void copies_are_deep(void **state)
{
    (void)state;
    set s;
    set_start(&s);
    double c[] = {1, 2};
    char name[] = "speed";
    const lw_signal f = add(&s, (lw_function_desc){.name = name,
                                                   .type = LW_FUNCTION_POLYNOMIAL,
                                                   .coefficients = c,
                                                   .ncoefficient = 2});
    c[0] = c[1] = NAN;
    name[0] = 'x';
    assert_near(value(&s, f, 3, 0), 7, 0);
    assert_string_equal(s.f[0].desc.name, "speed");
    lwi_arena_free(&s.arena);
}

static void refuse(lw_function_desc desc, int ndefined, const char *part)
{
    lw_error error = {0};
    if (lwi_function_check(&desc, &(lwi_signal_names){.nfunction = ndefined}, &error) == LW_OK)
        fail_msg("accepted; not: %s", part);
    if (!strstr(error.text, part)) fail_msg("'%s' does not say '%s'", error.text, part);
}

static void bad_descriptions_are_refused_with_the_value(void **state)
{
    (void)state;
    const double c[] = {1, NAN}, t[] = {0, 1, 1}, y[] = {0, 1, 2};
    const lw_signal late[] = {{1}, {4}}, input[] = {{-1}}, none[] = {{0}};
    refuse((lw_function_desc){.value = INFINITY}, 0, "value is inf");
    refuse((lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL}, 0, "0 coefficients");
    refuse((lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL, .coefficients = c, .ncoefficient = 2},
           0, "number 2 of coefficients is nan");
    refuse((lw_function_desc){.type = LW_FUNCTION_SINE, .omega = NAN}, 0, "omega");
    refuse((lw_function_desc){.type = LW_FUNCTION_RAMP, .rate = NAN}, 0, "rate");
    refuse((lw_function_desc){.type = LW_FUNCTION_STEP, .start = 2, .end = 2}, 0, "ends at 2");
    refuse((lw_function_desc){.type = LW_FUNCTION_TABLE, .t = t, .y = y, .npoint = 1}, 0,
           "has 1 times");
    refuse((lw_function_desc){.type = LW_FUNCTION_TABLE, .t = t, .y = y, .npoint = 3}, 0, "time 3");
    refuse((lw_function_desc){.type = LW_FUNCTION_SUM}, 3, "without terms");
    refuse((lw_function_desc){.type = LW_FUNCTION_SUM, .terms = late, .nterm = 2}, 3,
           "function number 4");
    refuse((lw_function_desc){.type = LW_FUNCTION_SUM, .terms = input, .nterm = 1}, 3, "input");
    refuse((lw_function_desc){.type = LW_FUNCTION_SUM, .terms = none, .nterm = 1}, 3, "number 0");
    refuse((lw_function_desc){.type = (lw_function_type)99}, 0, "type 99");
}

// Long chains of nested sums are refused: with two equal terms in each, an evaluation costs 2^n.
static void exploding_sums_are_refused(void **state)
{
    (void)state;
    enum { N = 200 };
    static lw_function_desc all[N];
    static lw_signal terms[N][2];
    lw_error error;
    int accepted = 0;
    for (int width = 1; width <= 2; width++) {
        all[0] = (lw_function_desc){.type = LW_FUNCTION_CONSTANT, .value = 1};
        for (accepted = 0; accepted + 1 < N; accepted++) {
            const int i = accepted + 1;
            terms[i][0].index = terms[i][1].index = i;
            all[i] = (lw_function_desc){.type = LW_FUNCTION_SUM, .terms = terms[i], .nterm = width};
            if (lwi_function_check_sum(all, &all[i], &error) != LW_OK) break;
        }
        assert_true(accepted >= 8 && accepted < 100);
        assert_non_null(strstr(error.text, "too large"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(breaks_are_where_smoothness_ends),
        cmocka_unit_test(next_break_lists_every_break_once),
        cmocka_unit_test(step_is_the_quintic_with_flat_ends),
        cmocka_unit_test(table_interpolates_with_natural_ends),
        cmocka_unit_test(table_of_a_line_is_the_line),
        cmocka_unit_test(table_converges_with_order_four),
        cmocka_unit_test(sum_adds_its_terms_with_multiplicity),
        cmocka_unit_test(signals_are_functions_inputs_or_nothing),
        cmocka_unit_test(copies_are_deep),
        cmocka_unit_test(bad_descriptions_are_refused_with_the_value),
        cmocka_unit_test(exploding_sums_are_refused),
    };
    return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
