// test_trace.c -- reduction of curves: the kept points show the same curve; placed labels cover no
// curve.
#include "plot/labels.h"
#include "plot/trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g, expected %.17g", value, expected);
}

static double next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static double distance_to_segment(const double *p, const double *a, const double *b)
{
    const double d[2] = {b[0] - a[0], b[1] - a[1]}, n2 = d[0] * d[0] + d[1] * d[1];
    double at = n2 > 0 ? ((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / n2 : 0;
    at = fmin(fmax(at, 0), 1);
    return hypot(p[0] - a[0] - at * d[0], p[1] - a[1] - at * d[1]);
}

static double distance_to(const lwi_plot_trace *t, const double *p)
{
    double nearest = INFINITY;
    for (int i = 0; i + 1 < t->n; i++)
        nearest = fmin(nearest, distance_to_segment(p, t->p[i], t->p[i + 1]));
    return nearest;
}

// Every point is within the width of a column (0.5) and the tolerance (0.1) of the polyline of kept
// points.
static void check_same_curve(const double (*p)[2], int n, int max_points)
{
    lwi_plot_trace t = {0};
    for (int i = 0; i < n; i++) lwi_plot_trace_add(&t, p[i][0], p[i][1]);
    lwi_plot_trace_end(&t);
    assert_false(t.full);
    assert_in_range(t.n, 2, max_points);
    assert_memory_equal(t.p[0], p[0], sizeof *p);
    assert_memory_equal(t.p[t.n - 1], p[n - 1], sizeof *p);
    for (int i = 0; i < n; i++) assert_true(distance_to(&t, p[i]) <= 0.5 + 0.1 + 1e-9);
    lwi_plot_trace_free(&t);
}

static void the_curve_keeps_its_shape(void **state)
{
    (void)state;
    enum { N = 2000 };
    static double p[N][2];
    uint64_t seed = 3;
    for (int kind = 0; kind < 6; kind++) {
        double x = 300, y = 300;
        for (int i = 0; i < N; i++) {
            const double s = (double)i / (N - 1);
            switch (kind) {
            case 0:
                p[i][0] = 850 * s, p[i][1] = 300 + 200 * sin(20 * s);
                break; // smooth
            case 1:
                p[i][0] = 850 * s, p[i][1] = 500 * next(&seed);
                break; // noise
            case 2:
                p[i][0] = 300 * cos(40 * s) * s, p[i][1] = 300 * sin(40 * s) * s; // spiral
                break;
            case 3:
                p[i][0] = 850 * s, p[i][1] = i % 500 ? 10 : 400;
                break; // spikes
            case 4:
                p[i][0] = 100 * (i % 2), p[i][1] = 300 * s;
                break; // back and forth
            default:
                x += 6 * (next(&seed) - 0.5), y += 6 * (next(&seed) - 0.5);
                p[i][0] = x, p[i][1] = y;
            }
        }
        check_same_curve((const double(*)[2])p, N, kind == 0 ? 200 : kind == 3 ? 20 : N);
    }
}

static void many_rows_become_a_small_number_of_points(void **state)
{
    (void)state;
    uint64_t seed = 5;
    lwi_plot_trace t = {0};
    for (int i = 0; i < 1000000; i++) lwi_plot_trace_add(&t, 850 * (i / 1e6), 500 * next(&seed));
    lwi_plot_trace_end(&t);
    assert_in_range(t.n, 850, 4 * 1701); // four points per column of half a unit
    double lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < t.n; i++) lo = fmin(lo, t.p[i][1]), hi = fmax(hi, t.p[i][1]);
    assert_true(lo < 0.01 && hi > 499.99); // extremes are kept
    lwi_plot_trace_clear(&t);
    for (int i = 0; i < 1000; i++) lwi_plot_trace_add(&t, i, 2.5 * i);
    lwi_plot_trace_end(&t);
    assert_int_equal(t.n, 2); // a straight line keeps its two end points
    lwi_plot_trace_clear(&t);
    lwi_plot_trace_add(&t, 1, 2);
    lwi_plot_trace_end(&t);
    assert_int_equal(t.n, 1);
    lwi_plot_trace_clear(&t);
    lwi_plot_trace_end(&t);
    assert_int_equal(t.n, 0);
    lwi_plot_trace_free(&t);
}

static void thinned_rows_keep_extremes_ends_and_gaps(void **state)
{
    (void)state;
    enum { N = 100000, BUCKETS = 100 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    assert_true(x && y);
    for (int i = 0; i < N; i++) x[i] = i, y[i] = sin(0.01 * i);
    y[12345] = 7, y[54321] = -7, y[70000] = NAN;
    const long n = lwi_plot_thin_rows(x, y, N, BUCKETS);
    assert_in_range(n, 2 * BUCKETS, 4 * BUCKETS);
    check_near(x[0], 0, 0);
    check_near(x[n - 1], N - 1, 0);
    bool high = false, low = false, gap = false;
    for (long i = 0; i < n; i++) {
        if (i) assert_true(x[i] > x[i - 1]);
        high = high || (x[i] == 12345 && y[i] == 7);
        low = low || (x[i] == 54321 && y[i] == -7);
        gap = gap || (x[i] == 70000 && isnan(y[i]));
    }
    assert_true(high && low && gap);
    assert_int_equal(lwi_plot_thin_rows(x, y, 4 * BUCKETS, BUCKETS), 4 * BUCKETS);
    free(x);
    free(y);
}

// ------------------------------------------------------------------------------------------ labels

static void names_do_not_overlap(void **state)
{
    (void)state;
    enum { N = 60 };
    double segment[1][4] = {{0, 0, 0, 0}}, mark[N][3], placed[N][4];
    uint64_t seed = 11;
    lwi_plot_labels l = {
        .width = 400, .height = 300, .segment = segment, .mark = mark, .placed = placed};
    int shown = 0;
    for (int i = 0; i < N; i++) {
        lwi_plot_label_place place;
        mark[i][0] = 400 * next(&seed), mark[i][1] = 300 * next(&seed), mark[i][2] = 4;
        l.nmark = i + 1;
        shown += lwi_plot_label_place_beside(&l, mark[i][0], mark[i][1], 4, 40, 11, &place);
    }
    assert_true(shown > N / 2);
    assert_int_equal(l.nplaced, shown);
    for (int i = 0; i < shown; i++) {
        const double *a = placed[i];
        assert_true(a[0] >= 0 && a[1] >= 0 && a[0] + a[2] <= 400 && a[1] + a[3] <= 300);
        for (int k = 0; k < i; k++) {
            const double *b = placed[k];
            assert_true(a[0] >= b[0] + b[2] || b[0] >= a[0] + a[2] || a[1] >= b[1] + b[3] ||
                        b[1] >= a[1] + a[3]);
        }
    }
}

static void a_name_avoids_a_line(void **state)
{
    (void)state;
    double segment[1][4] = {{100, 100, 300, 100}}, mark[1][3] = {{100, 100, 4}}, placed[1][4];
    lwi_plot_labels l = {.width = 400,
                         .height = 300,
                         .segment = segment,
                         .nsegment = 1,
                         .mark = mark,
                         .nmark = 1,
                         .placed = placed};
    lwi_plot_label_place place;
    assert_true(lwi_plot_label_place_beside(&l, 100, 100, 4, 40, 11, &place));
    assert_true(placed[0][1] > 100 || placed[0][1] + placed[0][3] < 100 ||
                placed[0][0] + placed[0][2] < 100); // not on the line on its right
    assert_false(place.leader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_keeps_its_shape),
        cmocka_unit_test(many_rows_become_a_small_number_of_points),
        cmocka_unit_test(thinned_rows_keep_extremes_ends_and_gaps),
        cmocka_unit_test(names_do_not_overlap),
        cmocka_unit_test(a_name_avoids_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
