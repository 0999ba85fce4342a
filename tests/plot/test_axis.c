// test_axis.c -- scales: round tick values inside the range, distinct labels, extreme data.
#include "plot/axis.h"

#include <float.h>
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

static lwi_plot_axis fit(double lo, double hi, int max_ticks)
{
    lwi_plot_range range = lwi_plot_range_empty();
    lwi_plot_range_add(&range, lo);
    lwi_plot_range_add(&range, hi);
    return lwi_plot_axis_fit(range, false, 0, max_ticks);
}

// A pseudo-random number in (0, 1), the same sequence in every run.
static double next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static void steps_are_1_2_5(void **state)
{
    (void)state;
    uint64_t seed = 1;
    check_near(lwi_plot_nice_step(10, 5), 2, 0);
    check_near(lwi_plot_nice_step(9.9, 4), 5, 0);
    check_near(lwi_plot_nice_step(0.3, 3), 0.1, 1e-16);
    for (int i = 0; i < 2000; i++) {
        const double length = pow(10, 40 * next(&seed) - 20);
        const int max_ticks = 2 + (int)(20 * next(&seed));
        const double step = lwi_plot_nice_step(length, max_ticks);
        const double lead = step / pow(10, floor(log10(step) + 1e-9));
        assert_true(fabs(lead - 1) < 1e-9 || fabs(lead - 2) < 1e-9 || fabs(lead - 5) < 1e-9);
        assert_true(length / step <= max_ticks * (1 + 1e-8));
        assert_true(length / step >= max_ticks / 2.5 - 1e-6); // a minimum number of ticks
    }
}

// The number that a label represents.
static double value_of(const lwi_plot_axis *a, int i)
{
    char plain[64] = "";
    const char *label = a->label[i];
    const bool minus = !strncmp(label, "\u2212", 3);
    strcpy(plain, label + (minus ? 3 : 0));
    return a->offset + (minus ? -1 : 1) * strtod(plain, NULL) * pow(10, a->exponent);
}

static void labels_say_where_the_ticks_are(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 5000; i++) {
        const double size = pow(10, 30 * next(&seed) - 15);
        const double middle = (next(&seed) - 0.5) * size;
        const double length = size * pow(10, -11 * next(&seed));
        const lwi_plot_axis a = fit(middle - length / 2, middle + length / 2, 8);
        assert_in_range(a.ntick, 2, 10);
        for (int k = 0; k < a.ntick; k++) {
            assert_true(a.tick[k] >= a.lo - 1e-5 * length && a.tick[k] <= a.hi + 1e-5 * length);
            const double rounding = 1e-3 * a.step + 4 * DBL_EPSILON * fabs(a.tick[k]);
            check_near(value_of(&a, k), a.tick[k], rounding);
            assert_true(strlen(a.label[k]) <= 12);
            if (k) assert_string_not_equal(a.label[k], a.label[k - 1]);
        }
    }
}

static void ordinary_numbers_are_written_as_they_are(void **state)
{
    (void)state;
    const lwi_plot_axis a = fit(-0.1, 0.3, 5);
    assert_int_equal(a.exponent, 0);
    assert_int_equal(a.ntick, 5);
    assert_string_equal(a.label[0], "\u22120.1");
    assert_string_equal(a.label[1], "0.0"); // not "-0.0", not 2.8e-17
    check_near(a.tick[1], 0, 0);
    const lwi_plot_axis b = fit(0, 40000, 5);
    assert_int_equal(b.exponent, 0);
    assert_string_equal(b.label[b.ntick - 1], "40000");
}

static void small_and_large_numbers_share_a_power_of_ten(void **state)
{
    (void)state;
    const lwi_plot_axis drift = fit(-9e-10, 0, 6);
    assert_int_equal(drift.exponent, -12);
    const lwi_plot_axis energy = fit(0, 4.1e6, 6);
    assert_int_equal(energy.exponent, 6);
    assert_string_equal(energy.label[1], "1");
    char power[32];
    lwi_plot_put_power(power, sizeof power, -12);
    assert_string_equal(power, "10\u207B\u00B9\u00B2");
}

static void what_hardly_changes_gets_an_offset(void **state)
{
    (void)state;
    const lwi_plot_axis a = fit(-123.456789 - 1e-9, -123.456789 + 1e-9, 6);
    assert_true(a.offset != 0);
    assert_true(fabs(a.offset + 123.456789) < 1e-8);
    assert_int_equal(a.exponent, -9);
}

static void constants_get_room(void **state)
{
    (void)state;
    const double constants[] = {0, 1, -3.5, 1e-12, -9.81, 1e15, 1e-300, DBL_MIN, 1e299};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        const lwi_plot_axis a = fit(constants[i], constants[i], 6);
        assert_true(a.lo < constants[i] && constants[i] < a.hi);
        assert_in_range(a.ntick, 1, 12);
    }
    // the rounding error of a constant is not drawn
    const lwi_plot_axis noise = fit(9.81, 9.81 * (1 + 4 * DBL_EPSILON), 6);
    assert_true(noise.hi - noise.lo > 1);
    check_near(noise.offset, 0, 0);
}

static void numbers_that_are_none_are_left_out(void **state)
{
    (void)state;
    lwi_plot_range range = lwi_plot_range_empty();
    lwi_plot_range_add(&range, NAN);
    lwi_plot_range_add(&range, INFINITY);
    lwi_plot_range_add(&range, -1e305);
    assert_true(lwi_plot_range_is_empty(&range));
    const lwi_plot_axis empty = lwi_plot_axis_fit(range, true, 0.1, 5);
    check_near(empty.lo, 0, 0);
    check_near(empty.hi, 1, 0);
    const lwi_plot_axis widest = fit(-1e300, 1e300, 5);
    assert_true(isfinite(widest.hi - widest.lo));
    assert_in_range(widest.ntick, 2, 6);
}

static void logarithms_have_decades(void **state)
{
    (void)state;
    lwi_plot_range range = lwi_plot_range_empty();
    const double residuals[] = {0, 3e-16, 2e-9};
    for (int i = 0; i < 3; i++) lwi_plot_range_add(&range, residuals[i]);
    const lwi_plot_axis a = lwi_plot_axis_fit(range, true, 0, 20);
    assert_true(a.log);
    check_near(log10(a.lo), -16, 1e-9);
    check_near(log10(a.hi), -8, 1e-9);
    assert_int_equal(a.ntick, 9);
    check_near(lwi_plot_axis_at(&a, 1e-12), 0.5, 1e-12);
    check_near(lwi_plot_axis_at(&a, 0), 0, 0); // zeros are drawn at the lower end
    check_near(lwi_plot_axis_at(&a, -1), 0, 0);
    lwi_plot_range zero = lwi_plot_range_empty();
    lwi_plot_range_add(&zero, 0);
    assert_false(lwi_plot_axis_fit(zero, true, 0, 5).log);
    lwi_plot_range tiny = lwi_plot_range_empty(); // 1e-200 is negligible compared with 1
    lwi_plot_range_add(&tiny, 1e-200);
    lwi_plot_range_add(&tiny, 1);
    assert_true(lwi_plot_axis_fit(tiny, true, 0, 5).lo > 1e-25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_1_2_5),
        cmocka_unit_test(labels_say_where_the_ticks_are),
        cmocka_unit_test(ordinary_numbers_are_written_as_they_are),
        cmocka_unit_test(small_and_large_numbers_share_a_power_of_ten),
        cmocka_unit_test(what_hardly_changes_gets_an_offset),
        cmocka_unit_test(constants_get_room),
        cmocka_unit_test(numbers_that_are_none_are_left_out),
        cmocka_unit_test(logarithms_have_decades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
