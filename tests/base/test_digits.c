// test_digits.c -- numbers as text by integer arithmetic against those of `printf`.
#include "base/numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int written; // by integers, the others are left to `printf`

static void compare(double value)
{
    char expected[64], text[LWI_NUMBER_ROOM];
    const int n = lwi_number_digits(value, text);
    if (n == 0) return;
    assert_true(n <= LWI_NUMBER_DIGITS);
    text[n] = 0;
    snprintf(expected, sizeof expected, "%.17g", value);
    if (strcmp(text, expected) != 0) fail_msg("%a: '%s', expected '%s'", value, text, expected);
    written++;
}

static void both_signs(double value)
{
    compare(value);
    compare(-value);
}

static uint64_t next(uint64_t *x) // SplitMix64
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void random_numbers_are_those_of_printf(void **state)
{
    (void)state;
    enum { N = 200000 };
    uint64_t x = 1;
    written = 0;
    for (int i = 0; i < N; i++) { // sizes of 1e-38 to 1e17
        const double mantissa = 1 + 0x1p-52 * (double)(next(&x) >> 12);
        both_signs(ldexp(mantissa, (int)(next(&x) % 182) - 125));
    }
    assert_int_equal(written, 2 * N);
    for (int i = 0; i < N; i++) { // all sizes
        const uint64_t bits = next(&x);
        double value;
        memcpy(&value, &bits, sizeof value);
        compare(value);
    }
    assert_true(written > 3 * N * 0.999);
    for (int i = 0; i < N / 10; i++)
        compare(0x1p-1074 * (double)(next(&x) >> (12 + i % 52))); // subnormal
}

// Powers of two and ten with their neighbours, where exponents change and carries run through; few digits; ties, which
// numbers with a last bit of 2^-k have at k digits behind the point.
static void special_numbers_are_those_of_printf(void **state)
{
    (void)state;
    written = 0;
    for (int e = -1074; e <= 1023; e++) {
        const double power = ldexp(1, e);
        both_signs(power), both_signs(nextafter(power, 0)), both_signs(nextafter(power, 2 * power));
    }
    for (int X = -323; X <= 308; X++) {
        const double power = pow(10, X);
        both_signs(power), both_signs(nextafter(power, 0)), both_signs(nextafter(power, 2 * power));
        for (int i = 1; i < 100; i++) both_signs(i * power);
    }
    for (int i = 0; i < 4000; i++) {
        both_signs(1e15 + i / 8.0); // 17 digits end before the last bit
        both_signs(281474976710656.0 + i / 32.0);
        both_signs(0x1p50 + i / 4.0);
        both_signs(i / 1000.0);
        both_signs(i * 0.25);
        both_signs(0x1p59 + i * 128.0), both_signs(0x1p70 + i * 0x1p18);
    }
    assert_true(written > 10000);
}

static void others_are_left(void **state)
{
    (void)state;
    char text[LWI_NUMBER_ROOM];
    const double left[] = {0, -0.0, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        assert_int_equal(lwi_number_digits(left[i], text), 0);
}

static int read; // by integers, the others are left to `strtod`

static void compare_reading(const char *text)
{
    const double expected = strtod(text, NULL), value = lwi_number_value(text);
    if (memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("'%s': %a, expected %a", text, value, expected);
}

// Also next to the middle between two numbers, with few digits, and w 10^k of any 64 bits.
static void numbers_are_read_as_by_strtod(void **state)
{
    static const char *const special[] = {"0",
                                          "-0",
                                          "0.0",
                                          "-0.000",
                                          "0e500",
                                          "1",
                                          "-1.5",
                                          "1e22",
                                          "1e23",
                                          "1e-22",
                                          "1e-23",
                                          "9007199254740993",
                                          "9007199254740993.0000001",
                                          "9007199254740992.5",
                                          "4503599627370496.5",
                                          "4503599627370497.5",
                                          "1e308",
                                          "1.7976931348623157e308",
                                          "1.7976931348623159e308",
                                          "1e309",
                                          "1e99999",
                                          "1e-99999",
                                          "2.2250738585072014e-308",
                                          "2.2250738585072011e-308",
                                          "4.9406564584124654e-324",
                                          "2e-324",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "99999999999999999999",
                                          "0.1",
                                          "0.30000000000000004",
                                          "1E+5",
                                          "1e-5",
                                          "1e00005",
                                          "-1E-00005",
                                          "2.5e+0000000000022",
                                          "1e00400",
                                          "0e00400",
                                          "1e-0000000000000",
                                          "1e99999999999999999999",
                                          "123456789012345678901234567890",
                                          "0.000000000000000000000000000000123456789012345678",
                                          "8.5e-1000000"};
    enum { N = 4000 };
    uint64_t x = 2;
    (void)state;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) compare_reading(special[i]);
    for (int i = 0; i < N; i++) {
        const uint64_t bits = next(&x);
        char text[64];
        double value;
        memcpy(&value, &bits, sizeof value);
        for (int digits = 1; digits <= 19 && isfinite(value); digits += 3) {
            snprintf(text, sizeof text, "%.*e", digits, value);
            compare_reading(text);
        }
        snprintf(text, sizeof text, "%.17g",
                 ldexp((double)(bits >> 11), (int)(next(&x) % 120) - 110));
        compare_reading(text);
        const uint64_t w = next(&x) >> next(&x) % 40;
        const int k = (int)(next(&x) % 600) - 300;
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)w, k);
        compare_reading(text);
        read += lwi_number_of_digits(w, k, &value);
    }
    assert_true(read > 0.9 * N);
}

static void integers_are_those_of_printf(void **state)
{
    static const int numbers[] = {0, 7, 9, 10, 99, 100, 12345, 999999999, 1000000000, 2147483647};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char expected[16], text[16];
        snprintf(expected, sizeof expected, "%d", numbers[i]);
        *lwi_integer_put(text, numbers[i]) = 0;
        assert_string_equal(text, expected);
    }
}

// Several numbers in rooms of every size: each number is written once, in order, and nothing behind the room.
static void rows_are_written_in_pieces(void **state)
{
    (void)state;
    static const double row[] = {0, -1.0 / 3, 1e300, -2.2250738585072014e-308, NAN, 7, 0.1, -0.0};
    enum { N = sizeof row / sizeof *row, MOST = 4 * LWI_NUMBER_ROOM };
    char expected[N * LWI_NUMBER_ROOM] = "", *to = expected;
    for (int i = 0; i < N; i++) to += snprintf(to, LWI_NUMBER_ROOM, "%.17g,", row[i]);
    for (size_t room = LWI_NUMBER_ROOM + 1; room <= MOST; room++) {
        char all[sizeof expected] = "", block[MOST + 1], *end;
        size_t used = 0;
        for (int i = 0, n; i < N; i += n, used += (size_t)(end - block)) {
            memset(block, '#', sizeof block);
            n = lwi_numbers_put(row + i, N - i, block, room, &end);
            assert_in_range(n, 1, N - i);
            assert_true(end <= block + room && block[room] == '#');
            memcpy(all + used, block, (size_t)(end - block));
        }
        assert_string_equal(all, expected);
    }
}

// No text with fewer digits reads back to the same bits.
static void shortest(double value)
{
    char text[LWI_NUMBER_ROOM], fewer[64];
    double again;
    *lwi_number_put_shortest(text, value) = 0;
    again = strtod(text, NULL);
    if (memcmp(&again, &value, sizeof value) != 0) fail_msg("%a: '%s' is %a", value, text, again);
    int digits = 0;
    for (const char *c = text + strspn(text, "-0."); *c && *c != 'e'; c++) digits += *c != '.';
    if (strcspn(text, ".e") == strlen(text)) return; // zeros of an integer are no digits of it
    snprintf(fewer, sizeof fewer, "%.*e", digits - 2 < 0 ? 0 : digits - 2, value);
    if (digits > 1 && strtod(fewer, NULL) == value)
        fail_msg("%a: '%s', also %s", value, text, fewer);
}

static void the_shortest_text_reads_back(void **state)
{
    static const struct {
        double value;
        const char *text;
    } known[] = {{0.1, "0.1"},
                 {-0.3, "-0.3"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1e-5, "1e-05"},
                 {1e22, "1e+22"},
                 {0.0001, "0.0001"},
                 {1e23, "1e+23"}, // of 17 digits 9.9999999999999992e+22
                 {0.99999999999999989, "0.9999999999999999"},
                 {5e-324, "4.94065645841247e-324"},
                 {0, "0"},
                 {-0.0, "-0"},
                 {123456, "123456"},
                 {INFINITY, "inf"}};
    enum { N = 40000 };
    uint64_t x = 3;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[LWI_NUMBER_ROOM];
        *lwi_number_put_shortest(text, known[i].value) = 0;
        assert_string_equal(text, known[i].text);
    }
    for (int i = 0; i < N; i++) {
        const uint64_t bits = next(&x);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isnormal(value)) shortest(value);
        shortest((double)(next(&x) % 100000) / 1000);
        shortest(-(double)(next(&x) % 100000000) * 1e-11);
        shortest(nextafter((double)(i + 1) / 1e4, i % 2 ? 0 : 10));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers_are_those_of_printf),
        cmocka_unit_test(special_numbers_are_those_of_printf),
        cmocka_unit_test(others_are_left),
        cmocka_unit_test(rows_are_written_in_pieces),
        cmocka_unit_test(numbers_are_read_as_by_strtod),
        cmocka_unit_test(integers_are_those_of_printf),
        cmocka_unit_test(the_shortest_text_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
