// digits.c -- the 17 significant decimal digits of a double, by exact integer arithmetic.
//
// A double is x = m 2^e with m < 2^53.  For a decimal exponent X the digits are the integer next to
//
//     x 10^k = m 5^k 2^(e + k),   k = 16 - X
//
// For 0 <= k <= MAX_POWER, 5^k has at most 126 bits and the product with m at most 179: it is computed in full and
// shifted, and the part that is cut off rounds half to even, as `printf` does.  Other numbers are left to the caller.
#include "base/numbers.h"

#include "base/assert.h"

#include <stdint.h>
#include <string.h>

#ifdef __SIZEOF_INT128__

enum { DIGITS = 17, MAX_POWER = 54, MANTISSA = 52, BIAS = 1075 };
#define SMALLEST 10000000000000000u // 10^16, the smallest number with 17 digits

__extension__ typedef unsigned __int128 wide;

// 5^k
static wide power_of_five(int k)
{
    static const uint64_t power[] = {1u,
                                     5u,
                                     25u,
                                     125u,
                                     625u,
                                     3125u,
                                     15625u,
                                     78125u,
                                     390625u,
                                     1953125u,
                                     9765625u,
                                     48828125u,
                                     244140625u,
                                     1220703125u,
                                     6103515625u,
                                     30517578125u,
                                     152587890625u,
                                     762939453125u,
                                     3814697265625u,
                                     19073486328125u,
                                     95367431640625u,
                                     476837158203125u,
                                     2384185791015625u,
                                     11920928955078125u,
                                     59604644775390625u,
                                     298023223876953125u,
                                     1490116119384765625u,
                                     7450580596923828125u};
    enum { LAST = sizeof power / sizeof *power - 1 };
    LWI_ASSERT(k >= 0 && k <= 2 * LAST);
    return k <= LAST ? power[k] : (wide)power[LAST] * power[k - LAST];
}

// m 5^k 2^shift, cut off to an integer, which is below 2^64; *up: whether to the nearest is one more.
static uint64_t scaled(uint64_t m, int k, int shift, bool *up)
{
    const wide five = power_of_five(k), low = (wide)m * (uint64_t)five;
    const wide high = (wide)m * (uint64_t)(five >> 64) + (uint64_t)(low >> 64); // in units of 2^64
    const uint64_t low_bits = (uint64_t)low;
    const int cut = -shift;
    *up = false;
    if (cut <= 0) return low_bits << shift;
    wide whole, rest, half;
    bool more = false; // the rest has a part below its last bit
    if (cut < 64) {
        whole = high << (64 - cut) | low_bits >> cut;
        rest = low_bits & (((wide)1 << cut) - 1), half = (wide)1 << (cut - 1);
    } else if (cut == 64) {
        whole = high, rest = low_bits, half = (wide)1 << 63;
    } else {
        whole = high >> (cut - 64);
        rest = high & (((wide)1 << (cut - 64)) - 1), half = (wide)1 << (cut - 65);
        more = low_bits != 0;
    }
    *up = rest > half || (rest == half && (more || whole & 1));
    return (uint64_t)whole;
}

// The digits as an integer from 10^16 on, and the decimal exponent of the first one; false: beyond the powers.
static bool find_digits(double value, uint64_t *digits, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int biased = (int)(bits >> MANTISSA & 0x7ff);
    if (biased == 0 || biased == 0x7ff) return false; // zero, subnormal, infinite, not a number
    const uint64_t m = (bits & (((uint64_t)1 << MANTISSA) - 1)) | (uint64_t)1 << MANTISSA;
    const int e = biased - BIAS;
    int X = (e + MANTISSA) * 1233 / 4096; // log10 2, off by one at most
    bool up;
    for (X -= e + MANTISSA < 0;; X++) {
        const int k = DIGITS - 1 - X;
        if (k < 0 || k > MAX_POWER) return false;
        *digits = scaled(m, k, e + k, &up);
        if (*digits < 10 * (uint64_t)SMALLEST) break;
    }
    if (*digits < SMALLEST) return false;
    *digits += up;
    if (*digits == 10 * (uint64_t)SMALLEST) *digits = SMALLEST, X++;
    *exponent = X;
    return true;
}

static char *put(char *to, const char *digit, int n)
{
    memcpy(to, digit, (size_t)n);
    return to + n;
}

// As "%.17g": zeros at the end are left out; a power of ten from 1e17 on and below 1e-4.
static char *arrange(char *to, const char *digit, int n, int X)
{
    static const char zeros[] = "0.0000000000000000";
    if (X < -4) {
        *to++ = digit[0];
        if (n > 1) *to++ = '.';
        to = put(to, digit + 1, n - 1);
        *to++ = 'e', *to++ = '-';
        *to++ = (char)('0' + -X / 10), *to++ = (char)('0' + -X % 10);
    } else if (X < 0) {
        to = put(to, zeros, 1 - X);
        to = put(to, digit, n);
    } else if (n <= X + 1) {
        to = put(to, digit, n);
        to = put(to, zeros + 2, X + 1 - n);
    } else {
        to = put(to, digit, X + 1);
        *to++ = '.';
        to = put(to, digit + X + 1, n - X - 1);
    }
    return to;
}

int lwi_number_digits(double value, char text[LWI_NUMBER_DIGITS])
{
    uint64_t digits;
    char digit[DIGITS], *to = text;
    int X, n = DIGITS;
    if (!find_digits(value, &digits, &X)) return 0;
    for (int i = DIGITS - 1; i >= 0; i--, digits /= 10) digit[i] = (char)('0' + digits % 10);
    while (n > 1 && digit[n - 1] == '0') n--;
    if (value < 0) *to++ = '-';
    to = arrange(to, digit, n, X);
    LWI_ASSERT(to - text <= LWI_NUMBER_DIGITS);
    return (int)(to - text);
}

#else

int lwi_number_digits(double value, char text[LWI_NUMBER_DIGITS])
{
    (void)value, (void)text;
    return 0;
}

#endif
