// digits.c -- the 17 significant decimal digits of a double, by integer arithmetic.
//
// A double is x = m 2^e.  For a decimal exponent X the digits are the integer next to
//
//     x 10^k = m 5^k 2^(e + k),   k = 16 - X
//
// m has 53 bits, 5^k the first 128 of its bits.  With m moved by up to ten bits their product has the integer above its
// lowest 128 bits.  Up to 5^54 it is exact: ties are rounded to even, as by `printf`.  Beyond, the rest of 5^k is below 8
// units of 2^64 in the product.  Numbers that are so close to the middle between two results are left to the caller.
#include "base/numbers.h"

#include "base/assert.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __SIZEOF_INT128__

enum { DIGITS = 17, MANTISSA = 52, BIAS = 1075, EXACT = 54, STEP = 27, FIRST = -11, CLOSE = 8 };
#define SMALLEST 10000000000000000u // 10^16, the smallest number with 17 digits
#define EIGHT 100000000u            // 10^8
#define HALF ((uint64_t)1 << 63)    // of 2^64

__extension__ typedef unsigned __int128 wide;

// floor(k / STEP)
static int step_of(int k)
{
    return (k - FIRST * STEP) / STEP + FIRST;
}

// The first 128 bits of 5^k, for -297 <= k <= 350, as a product of 5^(27 a) and 5^b.
__attribute__((noinline)) static wide any_power_of_five(int k)
{
    static const uint64_t large[][2] = {
        {0xa76c582338ed2621u, 0xaf2af2b80af6f24eu}, {0x873e4f75e2224e68u, 0x5a7744a6e804a291u},
        {0xda7f5bf590966848u, 0xaf39a475506a899eu}, {0xb080392cc4349decu, 0xbd8d794d96aacfb3u},
        {0x8e938662882af53eu, 0x547eb47b7282ee9cu}, {0xe65829b3046b0afau, 0x0cb4a5a3112a5112u},
        {0xba121a4650e4ddebu, 0x92f34d62616ce413u}, {0x964e858c91ba2655u, 0x3a6a07f8d510f86fu},
        {0xf2d56790ab41c2a2u, 0xfae27299423fb9c3u}, {0xc428d05aa4751e4cu, 0xaa97e14c3c26b886u},
        {0x9e74d1b791e07e48u, 0x775ea264cf55347du}, {0x8000000000000000u, 0x0000000000000000u},
        {0xcecb8f27f4200f3au, 0x0000000000000000u}, {0xa70c3c40a64e6c51u, 0x999090b65f67d924u},
        {0x86f0ac99b4e8dafdu, 0x69a028bb3ded71a3u}, {0xda01ee641a708de9u, 0xe80e6f4820cc9495u},
        {0xb01ae745b101e9e4u, 0x5ec05dcff72e7f8fu}, {0x8e41ade9fbebc27du, 0x14588f13be847307u},
        {0xe5d3ef282a242e81u, 0x8f1668c8a86da5fau}, {0xb9a74a0637ce2ee1u, 0x6d953e2bd7173692u},
        {0x95f83d0a1fb69cd9u, 0x4abdaf101564f98eu}, {0xf24a01a73cf2dccfu, 0xbc633b39673c8cecu},
        {0xc3b8358109e84f07u, 0x0a862f80ec4700c8u}, {0x9e19db92b4e31ba9u, 0x6c07a2c26a8346d1u},
    };
    static const uint64_t small[STEP] = {
        1u,
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
    };
    const int a = step_of(k), b = k - STEP * a;
    LWI_ASSERT(a >= FIRST && a - FIRST < (int)(sizeof large / sizeof *large));
    const uint64_t *from = large[a - FIRST], five = small[b] << __builtin_clzll(small[b]);
    const wide low = (wide)from[1] * five, high = (wide)from[0] * five + (uint64_t)(low >> 64);
    return high >> 127 ? high : high << 1 | (uint64_t)low >> 63;
}

// The same; those that are exact, of numbers from 1e-38 to 1e17, are stored.
static inline wide power_of_five(int k)
{
    static const uint64_t exact[EXACT + 1][2] = {
        {0x8000000000000000u, 0x0000000000000000u}, {0xa000000000000000u, 0x0000000000000000u},
        {0xc800000000000000u, 0x0000000000000000u}, {0xfa00000000000000u, 0x0000000000000000u},
        {0x9c40000000000000u, 0x0000000000000000u}, {0xc350000000000000u, 0x0000000000000000u},
        {0xf424000000000000u, 0x0000000000000000u}, {0x9896800000000000u, 0x0000000000000000u},
        {0xbebc200000000000u, 0x0000000000000000u}, {0xee6b280000000000u, 0x0000000000000000u},
        {0x9502f90000000000u, 0x0000000000000000u}, {0xba43b74000000000u, 0x0000000000000000u},
        {0xe8d4a51000000000u, 0x0000000000000000u}, {0x9184e72a00000000u, 0x0000000000000000u},
        {0xb5e620f480000000u, 0x0000000000000000u}, {0xe35fa931a0000000u, 0x0000000000000000u},
        {0x8e1bc9bf04000000u, 0x0000000000000000u}, {0xb1a2bc2ec5000000u, 0x0000000000000000u},
        {0xde0b6b3a76400000u, 0x0000000000000000u}, {0x8ac7230489e80000u, 0x0000000000000000u},
        {0xad78ebc5ac620000u, 0x0000000000000000u}, {0xd8d726b7177a8000u, 0x0000000000000000u},
        {0x878678326eac9000u, 0x0000000000000000u}, {0xa968163f0a57b400u, 0x0000000000000000u},
        {0xd3c21bcecceda100u, 0x0000000000000000u}, {0x84595161401484a0u, 0x0000000000000000u},
        {0xa56fa5b99019a5c8u, 0x0000000000000000u}, {0xcecb8f27f4200f3au, 0x0000000000000000u},
        {0x813f3978f8940984u, 0x4000000000000000u}, {0xa18f07d736b90be5u, 0x5000000000000000u},
        {0xc9f2c9cd04674edeu, 0xa400000000000000u}, {0xfc6f7c4045812296u, 0x4d00000000000000u},
        {0x9dc5ada82b70b59du, 0xf020000000000000u}, {0xc5371912364ce305u, 0x6c28000000000000u},
        {0xf684df56c3e01bc6u, 0xc732000000000000u}, {0x9a130b963a6c115cu, 0x3c7f400000000000u},
        {0xc097ce7bc90715b3u, 0x4b9f100000000000u}, {0xf0bdc21abb48db20u, 0x1e86d40000000000u},
        {0x96769950b50d88f4u, 0x1314448000000000u}, {0xbc143fa4e250eb31u, 0x17d955a000000000u},
        {0xeb194f8e1ae525fdu, 0x5dcfab0800000000u}, {0x92efd1b8d0cf37beu, 0x5aa1cae500000000u},
        {0xb7abc627050305adu, 0xf14a3d9e40000000u}, {0xe596b7b0c643c719u, 0x6d9ccd05d0000000u},
        {0x8f7e32ce7bea5c6fu, 0xe4820023a2000000u}, {0xb35dbf821ae4f38bu, 0xdda2802c8a800000u},
        {0xe0352f62a19e306eu, 0xd50b2037ad200000u}, {0x8c213d9da502de45u, 0x4526f422cc340000u},
        {0xaf298d050e4395d6u, 0x9670b12b7f410000u}, {0xdaf3f04651d47b4cu, 0x3c0cdd765f114000u},
        {0x88d8762bf324cd0fu, 0xa5880a69fb6ac800u}, {0xab0e93b6efee0053u, 0x8eea0d047a457a00u},
        {0xd5d238a4abe98068u, 0x72a4904598d6d880u}, {0x85a36366eb71f041u, 0x47a6da2b7f864750u},
        {0xa70c3c40a64e6c51u, 0x999090b65f67d924u},
    };
    if (k < 0 || k > EXACT) return any_power_of_five(k);
    return (wide)exact[k][0] << 64 | exact[k][1];
}

// floor(log2 5^k), |k| <= 350
static int power_bits(int k)
{
    return (int)((int64_t)k * 1217359 >> 19);
}

// m 2^e 10^k to the nearest integer, for m below 2^53 and products below 2^60 that are not below 2^53.  False: too close to
// a tie.
static inline bool scaled(uint64_t m, int e, int k, uint64_t *whole)
{
    const wide five = power_of_five(k);
    const int move = e + k + power_bits(k) + 1;
    LWI_ASSERT(move >= 0 && move < 11);
    const uint64_t moved = m << move;
    const wide low = (wide)moved * (uint64_t)five;
    const wide high = (wide)moved * (uint64_t)(five >> 64) + (uint64_t)(low >> 64);
    const uint64_t rest = (uint64_t)high, above = rest - (HALF - CLOSE);
    *whole = (uint64_t)(high >> 64) + (rest >> 63);
    if (above > 2 * CLOSE) return true; // the rest is neither half nor close to it
    if (k < 0 || k > EXACT) return false;
    *whole -= rest == HALF && !(uint64_t)low && *whole & 1; // a tie to the even one
    return true;
}

// At most log10 x, and not less by more than 0.03; x is of the highest 31 bits of its number.
static inline int decimal_exponent(int64_t high)
{
    enum { LOG = 323228496 }; // log10 2 in 2^-30, of a chord of the logarithm in 2^-20
    return (int)((high * LOG - (((int64_t)1023 << 20) * LOG + ((int64_t)1 << 31))) >> 50);
}

// The digits of m 2^e, m from 2^52 to 2^53, as an integer from 10^16 on, and the decimal exponent of the first one; X: at
// most that, and less by one at most.  False: too close to a tie.
static inline bool find_digits(uint64_t m, int e, int X, uint64_t *digits, int *exponent)
{
    if (!scaled(m, e, DIGITS - 1 - X, digits)) return false;
    if (__builtin_expect(*digits >= 10 * (uint64_t)SMALLEST, 0))
        if (!scaled(m, e, DIGITS - 1 - ++X, digits)) return false;
    LWI_ASSERT(*digits >= SMALLEST);
    *exponent = X;
    return true;
}

// The same of the bits of a double; false also for zeros, infinities and what is no number.
static inline bool find_digits_of(uint64_t bits, uint64_t *digits, int *exponent)
{
    const int biased = (int)(bits >> MANTISSA & 0x7ff);
    const uint64_t implicit = (uint64_t)1 << MANTISSA, m = bits & (implicit - 1);
    if (biased > 0 && biased < 0x7ff)
        return find_digits(m | implicit, biased - BIAS,
                           decimal_exponent((int64_t)(bits >> 32 & 0x7fffffff)), digits, exponent);
    if (biased > 0 || m == 0) return false;
    // a subnormal number as a normal one
    const int zeros = __builtin_clzll(m) - (63 - MANTISSA), e = 1 - BIAS - zeros;
    const int64_t high =
        (int64_t)(e + BIAS) * (1 << 20) + (int64_t)((m << zeros & (implicit - 1)) >> 32);
    return find_digits(m << zeros, e, decimal_exponent(high), digits, exponent);
}

// Sixteen digits of two numbers below 10^8, one in a byte, the first one in the lowest: halves, pairs and single digits side
// by side.  Quotients by multiplication: of numbers below 10^8 by 10^4, below 10^4 by 100, below 100 by 10.  With x = a q + r,
// q + 2^n r is 2^n x + (1 - 2^n a) q.
#ifdef __SSE2__

typedef __m128i sixteen;

static inline sixteen digits_of_words(uint64_t high, uint64_t low)
{
    const __m128i number = _mm_set_epi64x((int64_t)low, (int64_t)high);
    const __m128i half = _mm_srli_epi64(_mm_mul_epu32(number, _mm_set1_epi64x(3518437209)), 45);
    const __m128i second = _mm_sub_epi32(number, _mm_mul_epu32(half, _mm_set1_epi64x(10000)));
    const __m128i halves = _mm_or_si128(half, _mm_slli_epi64(second, 32));
    const __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(halves, _mm_set1_epi16(5243)), 3);
    const __m128i ones = _mm_sub_epi16(halves, _mm_madd_epi16(hundreds, _mm_set1_epi16(100)));
    const __m128i pairs = _mm_or_si128(hundreds, _mm_slli_epi32(ones, 16));
    const __m128i tenth = _mm_set1_epi16(6554), tens = _mm_mulhi_epu16(pairs, tenth);
    const __m128i last = _mm_mulhi_epu16(_mm_mullo_epi16(pairs, tenth), _mm_set1_epi16(10));
    return _mm_or_si128(tens, _mm_slli_epi16(last, 8));
}

// A bit for each digit that is not 0.
static inline unsigned not_zero(sixteen digits)
{
    return 0xffffu ^ (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128()));
}

static inline void put_sixteen(char *to, sixteen digits)
{
    _mm_storeu_si128((__m128i *)to, _mm_or_si128(digits, _mm_set1_epi8('0')));
}

#else

typedef struct sixteen {
    uint64_t word[2];
} sixteen;

static inline uint64_t digits_of_word(uint64_t number)
{
    const uint64_t half = number * 3518437209u >> 45;
    const uint64_t halves = (number << 32) + (1 - ((uint64_t)10000 << 32)) * half;
    const uint64_t hundreds = halves * 5243 >> 19 & 0x0000007f0000007fu;
    const uint64_t pairs = (halves << 16) + (1 - ((uint64_t)100 << 16)) * hundreds;
    const uint64_t tens = pairs * 103 >> 10 & 0x000f000f000f000fu;
    return (pairs << 8) + (1 - ((uint64_t)10 << 8)) * tens;
}

static inline sixteen digits_of_words(uint64_t high, uint64_t low)
{
    return (sixteen){{digits_of_word(high), digits_of_word(low)}};
}

// Its highest bit is that of the last digit that is not 0.
static inline unsigned not_zero(sixteen digits)
{
    const bool low = digits.word[1] != 0;
    const uint64_t word = digits.word[low];
    return word ? 1u << ((63 ^ __builtin_clzll(word)) / 8 + 8 * low) : 0;
}

static inline void put_word(char *to, uint64_t digits)
{
    digits |= 0x3030303030303030u;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    digits = __builtin_bswap64(digits);
#endif
    memcpy(to, &digits, sizeof digits);
}

static inline void put_sixteen(char *to, sixteen digits)
{
    put_word(to, digits.word[0]), put_word(to + 8, digits.word[1]);
}

#endif

// The 17 digits of a number: the first one and the others; and how many there are without the zeros at the end.
typedef struct figures {
    sixteen others;
    int first, n;
} figures;

// Of a number from 10^16 to 10^17.
static inline figures figures_of(uint64_t number)
{
    const uint64_t nine = number / EIGHT, first = nine / EIGHT;
    const sixteen others = digits_of_words(nine - EIGHT * first, number - EIGHT * nine);
    const unsigned marks = 2 * not_zero(others) + 1;
    return (figures){others, (int)first, 32 - __builtin_clz(marks)};
}

// The first digit at `to`, the others at `others`.
static inline void put_figures(char *to, char *others, const figures *f)
{
    *to = (char)('0' + f->first);
    put_sixteen(others, f->others);
}

// An exponent of at least two digits.
static inline char *put_exponent(char *to, int X)
{
    int size = X < 0 ? -X : X;
    to[0] = 'e', to[1] = X < 0 ? '-' : '+';
    if (size >= 100) {
        const int hundreds = size * 41 >> 12; // of numbers below 400
        to[2] = (char)('0' + hundreds);
        size -= 100 * hundreds;
        to++;
    }
    const int tens = size * 103 >> 10;
    to[2] = (char)('0' + tens), to[3] = (char)('0' + size - 10 * tens);
    return to + 4;
}

// Digits 10^(X - 16) as "%.17g" writes them: zeros at the end are left out; a power of ten from 1e17 on and below 1e-4.
// Copies have constant sizes: what they write behind the end is overwritten or ignored.
static inline char *arrange(char *to, uint64_t digits, int X)
{
    const figures f = figures_of(digits);
    const int n = f.n;
    if (X > 0 && X < DIGITS) {
        put_figures(to, to + 1, &f);
        char *point = to + X + 1;
        if (n <= X + 1) return point; // an integer: digits behind the n are zeros
        memmove(point + 1, point, DIGITS - 1);
        *point = '.';
        return to + n + 1;
    }
    if (X < 0 && X >= -4) {
        memcpy(to, "0.000", 5);
        to += 1 - X;
        put_figures(to, to + 1, &f);
        return to + n;
    }
    put_figures(to, to + 2, &f);
    to[1] = '.';
    to += n + (n > 1);
    return X ? put_exponent(to, X) : to;
}

// Writes the number of these bits; its end. NULL: left to `printf`.
static inline char *put_bits(char *to, uint64_t bits)
{
    uint64_t digits;
    int X;
    if (!find_digits_of(bits, &digits, &X)) return NULL;
    *to = '-';
    return arrange(to + (bits >> 63), digits, X);
}

static inline char *arrange_rounded(char *to, uint64_t digits, int X)
{
    const bool carry = digits == 10 * (uint64_t)SMALLEST;
    return arrange(to, carry ? SMALLEST : digits, X + carry);
}

// The same with 15 or 16 digits if they read back to the value.  Digits that end with 5 may be those of a number below: they
// are rounded both ways.
static char *put_shortest(char *to, double value)
{
    uint64_t bits, digits;
    int X;
    memcpy(&bits, &value, sizeof bits);
    if (!find_digits_of(bits, &digits, &X)) return NULL;
    *to = '-';
    char *first = to + (bits >> 63);
    for (uint64_t unit = 100; unit > 1; unit /= 10) {
        const uint64_t up = (digits + unit / 2) / unit, down = (digits + unit / 2 - 1) / unit;
        for (uint64_t rounded = up; rounded >= down; rounded--) {
            char *end = arrange_rounded(first, rounded * unit, X);
            *end = 0;
            if (lwi_number_value(to) == value) return end;
        }
    }
    return arrange(first, digits, X);
}

// w 10^k by the first 192 bits of the product.  False: too close to the middle between two numbers, or not normal.
static bool read_scaled(uint64_t w, int k, double *value)
{
    enum { LARGEST = 290 };
    if (k < -LARGEST || k > LARGEST) return false;
    const int zeros = __builtin_clzll(w);
    const wide five = power_of_five(k), m = (wide)(w << zeros);
    const wide high = m * (uint64_t)(five >> 64) + (uint64_t)(m * (uint64_t)five >> 64);
    const uint64_t first = (uint64_t)(high >> 64);
    const int cut = 64 - (MANTISSA + 1) - !(first >> 63);
    const uint64_t one = (uint64_t)1 << cut, up = first + one / 2, whole = up >> cut;
    if (up < first || ((up + 1) & (one - 1)) <= 1) return false;
    // whole 2^e; a whole of 2^53 adds one to the exponent, too
    const int e = 1 + cut - zeros + power_bits(k) + k, biased = e + BIAS;
    if (biased < 1 || biased > 0x7fd) return false;
    const uint64_t bits = ((uint64_t)(biased - 1) << MANTISSA) + whole;
    memcpy(value, &bits, sizeof bits);
    return true;
}

#else

static bool read_scaled(uint64_t w, int k, double *value)
{
    (void)w, (void)k, (void)value;
    return false;
}

static char *put_bits(char *to, uint64_t bits)
{
    (void)to, (void)bits;
    return NULL;
}

static char *put_shortest(char *to, double value)
{
    (void)to, (void)value;
    return NULL;
}

#endif

static inline uint64_t bits_of(const double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits;
}

int lwi_number_digits(double value, char text[LWI_NUMBER_ROOM])
{
    const char *end = put_bits(text, bits_of(&value));
    LWI_ASSERT(!end || end - text <= LWI_NUMBER_DIGITS);
    return end ? (int)(end - text) : 0;
}

// Zeros, as of motions in a plane, take no conversion.
static inline char *put(char *text, uint64_t bits)
{
    double value;
    if (!(bits << 1)) {
        *text = '-';
        text += bits >> 63;
        *text = '0';
        return text + 1;
    }
    char *end = put_bits(text, bits);
    if (__builtin_expect(end != NULL, 1)) return end;
    memcpy(&value, &bits, sizeof value);
    return text + snprintf(text, LWI_NUMBER_ROOM, "%.17g", value);
}

char *lwi_number_put_shortest(char text[LWI_NUMBER_ROOM], double value)
{
    if (value == 0) return put(text, bits_of(&value));
    char *end = put_shortest(text, value);
    for (int digits = 15; !end; digits++) {
        char *last = text + snprintf(text, LWI_NUMBER_ROOM, "%.*g", digits, value);
        if (digits >= 17 || strtod(text, NULL) == value) end = last;
    }
    return end;
}

int lwi_numbers_put(const double *value, int n, char *text, size_t room, char **end)
{
    LWI_ASSERT(room > LWI_NUMBER_ROOM);
    const double *from = value, *const last = value + n;
    while (from < last && room > LWI_NUMBER_ROOM) {
        // as many as certainly fit
        const size_t fit = 1 + (room - LWI_NUMBER_ROOM - 1) / (LWI_NUMBER_DIGITS + 1);
        const double *const to = (size_t)(last - from) < fit ? last : from + fit;
        const char *const begin = text;
        for (; from < to; from++) {
            text = put(text, bits_of(from));
            *text++ = ',';
        }
        room -= (size_t)(text - begin);
    }
    *end = text;
    return (int)(from - value);
}

char *lwi_integer_put(char *text, int number)
{
    char digits[16];
    int n = 0;
    LWI_ASSERT(number >= 0);
    do digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0) *text++ = digits[--n];
    return text;
}

bool lwi_number_of_digits(uint64_t w, int k, double *value)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { EXACTLY = 22 }; // powers of ten that are doubles
    if (w >> 53 || k < -EXACTLY || k > EXACTLY) return w > 0 && read_scaled(w, k, value);
    *value = k < 0 ? (double)w / ten[-k] : (double)w * ten[k];
    return true;
}
