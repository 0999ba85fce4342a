// test_times.c -- histogram of times: quantiles of known samples, samples outside the bins.
#include "base/times.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// A bin is 1/32 of an octave wide: this bounds the relative distance of its upper end to a time in
// it.
#define WIDTH (1.0 / 32)

static void quantiles_are_upper_ends_of_bins(void **state)
{
    (void)state;
    enum { N = 1000 };
    for (double scale = 1e-7; scale < 1; scale *= 3.7) {
        lwi_times times = {0};
        double total = 0;
        for (int i = N; i >= 1; i--) {
            const double seconds = scale * ((double)i / N);
            lwi_times_add(&times, seconds);
            total += seconds;
        }
        assert_true(times.count == N && times.maximum == scale &&
                    times.minimum == scale * (1.0 / N));
        assert_true(fabs(times.total - total) <= 1e-12 * total);
        for (int k = 1; k <= N; k += 37) {
            // half a sample below: the selected sample does not depend on round-off
            const double p = (k - 0.5) / N, q = lwi_times_quantile(&times, p),
                         exact = scale * k / N;
            // times below the end of the first bin are not resolved
            if (exact > 1e-8 &&
                !(q >= exact * (1 - 1e-12) && q <= exact * (1 + WIDTH) * (1 + 1e-12)))
                fail_msg("%g of %g: %g, expected %g", p, scale, q, exact);
        }
        assert_true(lwi_times_quantile(&times, 1) == scale);
    }
}

static void nothing_lies_outside(void **state)
{
    (void)state;
    lwi_times times = {0};
    assert_true(lwi_times_quantile(&times, 0.5) == 0);
    const double extreme[] = {0, -1, 1e-300, 1e-9, 33, 1e300};
    for (int i = 0; i < 6; i++) lwi_times_add(&times, extreme[i]);
    assert_int_equal(times.bin[0], 4);
    assert_int_equal(times.bin[LWI_TIMES_BINS - 1], 2);
    assert_true(times.maximum == 1e300);
}

static void the_clock_runs_forward(void **state)
{
    (void)state;
    double last = lwi_clock();
    for (int i = 0; i < 1000; i++) {
        const double now = lwi_clock();
        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_upper_ends_of_bins),
        cmocka_unit_test(nothing_lies_outside),
        cmocka_unit_test(the_clock_runs_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
