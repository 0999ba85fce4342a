// lane.inl -- a `real` that counts its operations; replaces src/base/simd/lane.inl.
//
// C++, because the counting type needs operators.  It has the layout of a double, so it fits the blocks
// of the kernels.  One lane.  A fused operation counts as a multiplication and an addition.  Loads,
// stores, selections and signs are not counted; multiplications by 0 or 1 are.
#include <math.h>

struct counts {
    long multiplications, additions, divisions, comparisons, fused;
};
static counts counted;
static bool one_rounding; // whether fused operations round once, as in the library's kernel

struct number {
    double x;
    number() = default;
    number(double value) : x(value) {}
    number operator-() const { return number(-x); }
    number &operator+=(number b) { return counted.additions++, x += b.x, *this; }
    number &operator-=(number b) { return counted.additions++, x -= b.x, *this; }
    number &operator*=(number b) { return counted.multiplications++, x *= b.x, *this; }
};
static inline number operator+(number a, number b)
{
    return counted.additions++, number(a.x + b.x);
}
static inline number operator-(number a, number b)
{
    return counted.additions++, number(a.x - b.x);
}
static inline number operator*(number a, number b)
{
    return counted.multiplications++, number(a.x * b.x);
}
static inline number operator/(number a, number b)
{
    return counted.divisions++, number(a.x / b.x);
}

#define NAME(f) f##_w1
typedef number real;
typedef number stored;
typedef int64_t mask;

#define AT(entry) (*(stored *)&(entry)[l])

static inline real splat_w1(double x)
{
    return x;
}
static inline mask bits_w1(real a)
{
    int64_t bits;
    memcpy(&bits, &a.x, sizeof bits);
    return bits;
}
static inline real of_bits_w1(mask bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline real fma_w1(real a, real b, real c)
{
    counted.multiplications++, counted.additions++, counted.fused++;
    return one_rounding ? fma(a.x, b.x, c.x) : a.x * b.x + c.x;
}
static inline real fnma_w1(real a, real b, real c)
{
    return fma_w1(-a, b, c);
}
static inline real fms_w1(real a, real b, real c)
{
    return fma_w1(a, b, -c);
}
static inline mask at_most_w1(real a, real b)
{
    counted.comparisons++;
    return -(int64_t)(a.x <= b.x);
}
static inline real absolute_w1(real a)
{
    return of_bits_w1(bits_w1(a) & INT64_MAX);
}
static inline real select_w1(mask m, real a, real b)
{
    return of_bits_w1((bits_w1(a) & m) | (bits_w1(b) & ~m));
}
static inline unsigned lanes_of_w1(mask m)
{
    return (unsigned)(m & 1);
}
