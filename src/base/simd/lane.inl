// lane.inl -- `real`: a double, or a vector of WIDTH of them.  Included once per width.
//
// In:  WIDTH.  Out: real, mask (as many 64-bit integers), NAME(f) for functions of this width.
// Vectors are those of gcc and clang; no other file depends on the compiler.  Operations are the same in
// every width, lane by lane, so results are equal bit for bit; compilers must not fuse or split any
// (-ffp-contract=off), the kernels fuse products and sums explicitly.
#undef real
#undef mask
#undef stored
#undef NAME
#undef NAME_2
#undef NAME_3
#undef AT
#define NAME_3(f, width) f##_w##width
#define NAME_2(f, width) NAME_3(f, width)
#define NAME(f) NAME_2(f, WIDTH)
#define real NAME(real)
#define mask NAME(mask)
#define stored NAME(stored)

#if WIDTH == 1
typedef double real;
typedef double stored;
typedef int64_t mask;
#else
typedef double real __attribute__((vector_size(8 * WIDTH)));
typedef double stored __attribute__((vector_size(8 * WIDTH), may_alias)); // the same in a block
typedef int64_t mask __attribute__((vector_size(8 * WIDTH)));
#endif

/** WIDTH lanes of an entry of a block, from lane `l` on. */
#define AT(entry) (*(stored *)&(entry)[l])

// the same value in every lane
static inline real NAME(splat)(double x)
{
#if WIDTH == 1
    return x;
#elif WIDTH == 4
    return (real){x, x, x, x};
#else
    return (real){x, x, x, x, x, x, x, x};
#endif
}

// the bits of a number, and back
static inline mask NAME(bits)(real x)
{
#if WIDTH == 1
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#else
    return (mask)x;
#endif
}
static inline real NAME(of_bits)(mask bits)
{
#if WIDTH == 1
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
#else
    return (real)bits;
#endif
}

// a b + c, c - a b, a b - c.  With one rounding, in every width, wherever the instruction set has
// it: everything but the oldest machines, which get other last bits (kernels of width 1 only).
static inline real NAME(fma)(real a, real b, real c)
{
#if WIDTH == 8
    return (real)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif WIDTH == 4
    return (real)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif LWI_FUSED
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}
static inline real NAME(fnma)(real a, real b, real c)
{
#if WIDTH == 8
    return (real)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif WIDTH == 4
    return (real)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return NAME(fma)(-a, b, c);
#endif
}
// Not of a c that is a fused operation itself: gcc 12 takes the sign of a zero for granted when it
// folds -c into it (width 1 only).
static inline real NAME(fms)(real a, real b, real c)
{
#if WIDTH == 8
    return (real)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif WIDTH == 4
    return (real)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return NAME(fma)(a, b, -c);
#endif
}

// all bits where a <= b, none elsewhere and where either is no number
static inline mask NAME(at_most)(real a, real b)
{
#if WIDTH == 1
    return -(int64_t)(a <= b);
#else
    return (mask)(a <= b);
#endif
}
static inline real NAME(absolute)(real x)
{
    return NAME(of_bits)(NAME(bits)(x) & INT64_MAX);
}
static inline real NAME(root)(real x)
{
#if WIDTH == 8
    return (real)_mm512_sqrt_pd((__m512d)x);
#elif WIDTH == 4
    return (real)_mm256_sqrt_pd((__m256d)x);
#else
    return __builtin_sqrt(x);
#endif
}
// a where m has all bits set, b where it has none
static inline real NAME(select)(mask m, real a, real b)
{
    return NAME(of_bits)((NAME(bits)(a) & m) | (NAME(bits)(b) & ~m));
}
// one bit per lane
static inline unsigned NAME(lanes_of)(mask m)
{
#if WIDTH == 1
    return (unsigned)(m & 1);
#elif WIDTH == 4
    return (unsigned)_mm256_movemask_pd((__m256d)m);
#else
    return (unsigned)_mm512_movepi64_mask((__m512i)m);
#endif
}
