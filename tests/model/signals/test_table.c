// test_table.c -- curves and maps: values at the points, derivatives, ends, overshoot, orders, refusals.
#include "model/signals/table.h"
#include "support/mechanism.h"

enum { N = 7, N2 = 5 };
static const double at[N] = {-1, -0.4, 0.1, 0.9, 1.2, 2.5, 3};
static const double at2[N2] = {0, 1, 1.5, 3, 4};

typedef struct table {
    lwi_arena arena;
    lwi_table t;
} table;

static table build(lw_function_desc d)
{
    table t;
    lw_error error = {0};
    lwi_arena_init(&t.arena, NULL);
    lwt_ok(lwi_table_check(&d, &error), &error);
    assert_int_equal(lwi_table_build(&d, &t.arena, &t.t), LW_OK);
    return t;
}

static table curve(const double *x, const double *y, int n, lw_interpolation how, lw_ends ends)
{
    return build((lw_function_desc){.type = LW_FUNCTION_CURVE,
                                    .t = x,
                                    .y = y,
                                    .npoint = n,
                                    .interpolation = how,
                                    .ends = ends});
}

static double value(const table *t, double x)
{
    double f[3];
    lwi_curve_eval(&t->t, x, f);
    return f[0];
}

static void assert_close(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g, expected %.17g", a, b);
}

// The wave has the period of the points, so that all ends may follow it.
static double wave(double x)
{
    return sin(3.14159265358979323846 / 2 * (x + 1));
}

static void curves_pass_through_their_points(void **state)
{
    (void)state;
    double y[N];
    for (int i = 0; i < N; i++) y[i] = i == N - 1 ? wave(at[0]) : wave(at[i]);
    for (int how = 0; how < LW_INTERPOLATION_COUNT; how++)
        for (int ends = 0; ends < LW_ENDS_COUNT; ends++) {
            table t = curve(at, y, N, (lw_interpolation)how, (lw_ends)ends);
            for (int i = 0; i < N; i++) assert_close(value(&t, at[i]), y[i], 1e-15);
            lwi_arena_free(&t.arena);
        }
}

// First and second derivatives by differences; h^2/6 f''' with f''' < 1e3, rounding 1e-16/h^2.
static void derivatives_match_differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    double y[N];
    for (int i = 0; i < N; i++) y[i] = i == N - 1 ? wave(at[0]) : wave(at[i]);
    for (int how = 0; how < LW_INTERPOLATION_COUNT; how++)
        for (int ends = 0; ends < LW_ENDS_ERROR; ends++) {
            table t = curve(at, y, N, (lw_interpolation)how, (lw_ends)ends);
            for (double x = -6.0371; x < 8; x += 0.0517) {
                double f[3], a[3], b[3];
                bool kink = false;
                for (int i = 0; i < N; i++)
                    for (int k = -2; k <= 2; k++) kink |= fabs(x - at[i] - 4 * k) < 2 * h;
                if (kink) continue;
                lwi_curve_eval(&t.t, x, f);
                lwi_curve_eval(&t.t, x - h, a);
                lwi_curve_eval(&t.t, x + h, b);
                assert_close(f[1], (b[0] - a[0]) / (2 * h), 1e-7);
                assert_close(f[2], (b[1] - a[1]) / (2 * h), 1e-6);
            }
            lwi_arena_free(&t.arena);
        }
}

// The order of convergence: spline 4, monotone 3 where the slope has no sign change, linear 2.
static void orders_are_those_of_the_theory(void **state)
{
    (void)state;
    static const double order[LW_INTERPOLATION_COUNT] = {4, 2, 3};
    for (int how = 0; how < LW_INTERPOLATION_COUNT; how++) {
        double error[2] = {0};
        for (int k = 0; k < 2; k++) {
            double x[129], y[129];
            const int n = k ? 129 : 65;
            // a spline that is not natural has errors at its ends: the middle counts
            for (int i = 0; i < n; i++) x[i] = (double)i / (n - 1), y[i] = exp(x[i]);
            table t = curve(x, y, n, (lw_interpolation)how, LW_ENDS_LINEAR);
            for (double u = 0.401; u < 0.6; u += 0.00071)
                error[k] = fmax(error[k], fabs(value(&t, u) - exp(u)));
            lwi_arena_free(&t.arena);
        }
        const double seen = log2(error[0] / error[1]);
        if (!(seen > order[how] - 0.2)) fail_msg("interpolation %d has order %g", how, seen);
    }
}

// No value of a monotone curve lies beyond those of the points around it; a spline overshoots here.
static void monotone_curves_do_not_overshoot(void **state)
{
    (void)state;
    static const double y[N] = {0, 0, 0.1, 5, 5, 5.1, 9};
    table t = curve(at, y, N, LW_INTERPOLATION_MONOTONE, LW_ENDS_LINEAR);
    table spline = curve(at, y, N, LW_INTERPOLATION_SPLINE, LW_ENDS_LINEAR);
    bool beyond = false;
    for (int i = 0; i < N - 1; i++)
        for (double b = 0; b <= 1; b += 1.0 / 64) {
            const double x = at[i] + b * (at[i + 1] - at[i]), v = value(&t, x);
            assert_true(v >= y[i] - 1e-15 && v <= y[i + 1] + 1e-15);
            beyond =
                beyond || value(&spline, x) < y[i] - 0.01 || value(&spline, x) > y[i + 1] + 0.01;
        }
    assert_true(beyond);
    lwi_arena_free(&t.arena);
    lwi_arena_free(&spline.arena);
}

static void ends_are_as_asked(void **state)
{
    (void)state;
    double y[N], f[3], g[3];
    for (int i = 0; i < N; i++) y[i] = i == N - 1 ? wave(at[0]) : wave(at[i]);
    for (int how = 0; how < LW_INTERPOLATION_COUNT; how++) {
        table line = curve(at, y, N, (lw_interpolation)how, LW_ENDS_LINEAR);
        table hold = curve(at, y, N, (lw_interpolation)how, LW_ENDS_CLAMPED);
        table again = curve(at, y, N, (lw_interpolation)how, LW_ENDS_PERIODIC);
        table none = curve(at, y, N, (lw_interpolation)how, LW_ENDS_ERROR);
        lwi_curve_eval(&line.t, 3, f);
        assert_close(value(&line, 4.5), y[N - 1] + 1.5 * f[1], 1e-14);
        assert_true(value(&hold, 4.5) == y[N - 1] && value(&hold, -7) == y[0]);
        assert_true(isnan(value(&none, 3.1)) && isnan(value(&none, -1.1)));
        assert_close(value(&none, 3), y[N - 1], 1e-15);
        for (double x = -0.97; x < 3; x += 0.11)
            assert_close(value(&again, x + 8), value(&again, x), 1e-13);
        // the slope is continuous where the period closes; of a spline the curvature too
        lwi_curve_eval(&again.t, 3 - 1e-9, f);
        lwi_curve_eval(&again.t, -1 + 1e-9, g);
        if (how != LW_INTERPOLATION_LINEAR) assert_close(f[1], g[1], 1e-7);
        if (how == LW_INTERPOLATION_SPLINE) assert_close(f[2], g[2], 1e-6);
        lwi_arena_free(&line.arena);
        lwi_arena_free(&hold.arena);
        lwi_arena_free(&again.arena);
        lwi_arena_free(&none.arena);
    }
}

static void a_short_period_is_a_spline_too(void **state)
{
    (void)state;
    // symmetric about 0 and about 1: it passes through 1/2 in the middle
    const double x[] = {0, 1, 2}, y[] = {0, 1, 0};
    double f[3], g[3];
    table t = curve(x, y, 3, LW_INTERPOLATION_SPLINE, LW_ENDS_PERIODIC);
    lwi_curve_eval(&t.t, 1e-9, f);
    lwi_curve_eval(&t.t, 2 - 1e-9, g);
    assert_close(f[1], g[1], 1e-7);
    assert_close(f[2], g[2], 1e-7);
    assert_close(value(&t, 0.5), 0.5, 1e-15);
    lwi_arena_free(&t.arena);
}

// ------------------------------------------------------------------------------------------- maps

static double surface(double x, double z)
{
    return sin(x) * cos(0.7 * z) + 0.2 * x * z;
}

static table map(lw_interpolation how, lw_ends ends, double y[N][N2])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N2; j++) y[i][j] = surface(at[i], at2[j]);
    return build((lw_function_desc){.type = LW_FUNCTION_MAP,
                                    .t = at,
                                    .x2 = at2,
                                    .y = &y[0][0],
                                    .npoint = N,
                                    .npoint2 = N2,
                                    .interpolation = how,
                                    .ends = ends,
                                    .ends2 = ends});
}

static void maps_pass_through_their_points_and_along_their_lines(void **state)
{
    (void)state;
    for (int how = 0; how < LW_INTERPOLATION_COUNT; how++) {
        double y[N][N2], column[N], f[6];
        table m = map((lw_interpolation)how, LW_ENDS_LINEAR, y);
        for (int j = 0; j < N2; j++) {
            for (int i = 0; i < N; i++) column[i] = y[i][j];
            table t = curve(at, column, N, (lw_interpolation)how, LW_ENDS_LINEAR);
            for (double x = -1.5; x < 3.6;
                 x += 0.093) { // the map is the curve on a line of the grid
                lwi_map_eval(&m.t, (double[]){x, at2[j]}, f);
                assert_close(f[0], value(&t, x), 1e-14);
            }
            lwi_arena_free(&t.arena);
        }
        lwi_arena_free(&m.arena);
    }
}

static void derivatives_of_maps_match_differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    for (int how = 0; how < LW_INTERPOLATION_COUNT; how++)
        for (int ends = 0; ends < LW_ENDS_PERIODIC; ends++) {
            double y[N][N2], f[6], a[6], b[6], c[6], d[6];
            table m = map((lw_interpolation)how, (lw_ends)ends, y);
            for (double x = -1.537; x < 3.6; x += 0.193)
                for (double z = -0.573; z < 5; z += 0.217) {
                    lwi_map_eval(&m.t, (double[]){x, z}, f);
                    lwi_map_eval(&m.t, (double[]){x - h, z}, a);
                    lwi_map_eval(&m.t, (double[]){x + h, z}, b);
                    lwi_map_eval(&m.t, (double[]){x, z - h}, c);
                    lwi_map_eval(&m.t, (double[]){x, z + h}, d);
                    assert_close(f[1], (b[0] - a[0]) / (2 * h), 1e-7);
                    assert_close(f[2], (d[0] - c[0]) / (2 * h), 1e-7);
                    assert_close(f[3], (b[1] - a[1]) / (2 * h), 1e-6);
                    assert_close(f[4], (d[1] - c[1]) / (2 * h), 1e-6);
                    assert_close(f[5], (d[2] - c[2]) / (2 * h), 1e-6);
                }
            lwi_arena_free(&m.arena);
        }
}

// ---------------------------------------------------------------------------------------- refusals

static void refuse(lw_function_desc d, const char *says)
{
    lw_error error = {0};
    if (lwi_table_check(&d, &error) == LW_OK) fail_msg("accepted; not: %s", says);
    if (!strstr(error.text, says)) fail_msg("'%s' does not say '%s'", error.text, says);
}

static void wrong_points_are_refused(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 1}, y[] = {0, 1, 2, 3, 4, NAN};
    lw_function_desc c = {.type = LW_FUNCTION_CURVE, .t = x, .y = y, .npoint = 3};
    refuse(c, "number 3 of x is 1, expected more than 1 before it");
    c.npoint = 2, c.ends = LW_ENDS_PERIODIC;
    refuse(c, "is periodic, but its first value is 0 and its last 1");
    c.ends = (lw_ends)9;
    refuse(c, "ends 9");
    lw_function_desc m = {
        .type = LW_FUNCTION_MAP, .t = x, .y = y, .npoint = 2, .x2 = x, .npoint2 = 1};
    refuse(m, "has 1 x2, expected at least 2");
    m.npoint2 = 2, m.ends2 = LW_ENDS_PERIODIC;
    refuse(m, "is periodic along x2, but its first value is 0 and its last 1");
    m.ends2 = LW_ENDS_LINEAR, m.y = y + 2;
    refuse(m, "number 4 of values is nan");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_pass_through_their_points),
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(orders_are_those_of_the_theory),
        cmocka_unit_test(monotone_curves_do_not_overshoot),
        cmocka_unit_test(ends_are_as_asked),
        cmocka_unit_test(a_short_period_is_a_spline_too),
        cmocka_unit_test(maps_pass_through_their_points_and_along_their_lines),
        cmocka_unit_test(derivatives_of_maps_match_differences),
        cmocka_unit_test(wrong_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
