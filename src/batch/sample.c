// sample.c -- random points, Latin hypercubes [mckay1979], Sobol sequences [joe2008] with scrambling [owen1995].
//
// All randomness is a hash of seed, dimension and index: a number depends on nothing else.
#include "batch/sample.h"

#include "base/assert.h"

#include <math.h>

// ------------------------------------------------------------------------------------------ hashes

// Finaliser of splitmix64: every bit of the result depends on all bits of z.
static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t hash(uint64_t seed, int dimension, uint64_t index)
{
    return mix(mix(mix(seed) ^ (uint64_t)dimension) ^ index);
}

// 53 bits, 0 <= u < 1.
static double unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

static void fill_random(uint64_t seed, int n, int dimensions, double *u)
{
    for (int i = 0; i < n; i++)
        for (int d = 0; d < dimensions; d++)
            u[(size_t)i * (size_t)dimensions + (size_t)d] = unit(hash(seed, d, (uint64_t)i));
}

// ---------------------------------------------------------------------------------- Latin hypercube

// A number below `count` >= 1 from 64 random bits; the bias is below count / 2^32.
static int below(uint64_t bits, int count)
{
    return (int)(((bits >> 32) * (uint64_t)count) >> 32);
}

static lw_status fill_latin(uint64_t seed, int n, int dimensions, double *u, lwi_arena *scratch)
{
    int *interval = LWI_PUSH(scratch, int, n);
    if (!interval) return LW_ERR_MEMORY;
    for (int d = 0; d < dimensions; d++) {
        for (int i = 0; i < n; i++) interval[i] = i;
        for (int i = n - 1; i > 0; i--) {
            const int k = below(hash(seed, d, (uint64_t)i << 1), i + 1), kept = interval[i];
            interval[i] = interval[k];
            interval[k] = kept;
        }
        for (int i = 0; i < n; i++) {
            const double within = // of so few bits that the sum is below n
                (double)(hash(seed, d, ((uint64_t)i << 1) + 1) >> 36) * 0x1p-28;
            u[(size_t)i * (size_t)dimensions + (size_t)d] = (interval[i] + within) / n;
        }
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- Sobol

enum { BITS = 32, MAX_DEGREE = 8 };

typedef struct polynomial {
    int degree, coefficients;
    uint32_t m[MAX_DEGREE];
} polynomial;

static const polynomial polynomials[] = {
#define X(s, a, ...) {s, a, {__VA_ARGS__}},
#include "batch/sobol.def"
#undef X
};
_Static_assert(LWI_SOBOL_DIMENSIONS == 1 + LWI_COUNT(polynomials), "sobol.def");

// Direction numbers v_1 ... v_32 of a dimension, v_k in the upper bits.
static void find_directions(int dimension, uint32_t v[BITS])
{
    if (dimension == 0) {
        for (int k = 0; k < BITS; k++) v[k] = 1u << (BITS - 1 - k);
        return;
    }
    const polynomial *p = &polynomials[dimension - 1];
    const int s = p->degree;
    for (int k = 0; k < s; k++) v[k] = p->m[k] << (BITS - 1 - k);
    for (int k = s; k < BITS; k++) {
        v[k] = v[k - s] ^ (v[k - s] >> s);
        for (int j = 1; j < s; j++)
            if (p->coefficients >> (s - 1 - j) & 1) v[k] ^= v[k - j];
    }
}

// Nested uniform scrambling: each bit is inverted or not by a hash of all bits above it.            [owen1995]
static uint32_t scramble(uint64_t seed, int dimension, uint32_t x)
{
    uint32_t y = x;
    for (int k = 0; k < BITS; k++) {
        const uint64_t above = k ? x >> (BITS - k) : 0; // with a mark of their number
        y ^= (uint32_t)(hash(seed, dimension, above | (uint64_t)1 << k) & 1) << (BITS - 1 - k);
    }
    return y;
}

static void fill_sobol(uint64_t seed, int n, int dimensions, double *u)
{
    for (int d = 0; d < dimensions; d++) {
        uint32_t v[BITS], x = 0;
        find_directions(d, v);
        for (int i = 0; i < n; i++) {
            const double bits = seed ? scramble(seed, d, x) : x;
            const double within = // of so few bits that the sum is exact
                seed ? (double)(hash(~seed, d, (uint64_t)i) >> 44) * 0x1p-20 : 0;
            u[(size_t)i * (size_t)dimensions + (size_t)d] = (bits + within) * 0x1p-32;
            int zero = 0; // the next point in the order of the Gray code
            while ((uint32_t)i >> zero & 1) zero++;
            x ^= v[zero];
        }
    }
}

lw_status lwi_sample_fill(lwi_sampling kind, uint64_t seed, int n, int dimensions, double *u,
                          lwi_arena *scratch)
{
    LWI_ASSERT(kind != LWI_SAMPLE_SOBOL || dimensions <= LWI_SOBOL_DIMENSIONS);
    if (kind == LWI_SAMPLE_LATIN) return fill_latin(seed, n, dimensions, u, scratch);
    if (kind == LWI_SAMPLE_SOBOL)
        fill_sobol(seed, n, dimensions, u);
    else
        fill_random(seed, n, dimensions, u);
    return LW_OK;
}

// ---------------------------------------------------------------------------- normal distribution

// Start with an absolute error of 4.5e-4 (Abramowitz and Stegun, 26.2.23), then Halley's method on the distribution
// function erfc(-x/sqrt 2)/2, which triples the digits.
double lwi_normal_quantile(double u)
{
    LWI_ASSERT(u > 0 && u < 1);
    if (u == 0.5) return 0;
    const double p = u < 0.5 ? u : 1 - u, t = sqrt(-2 * log(p));
    double x = -t + (2.515517 + t * (0.802853 + t * 0.010328)) /
                        (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int k = 0; k < 3; k++) {
        const double density = exp(-x * x / 2) / sqrt(2 * acos(-1));
        const double e = (erfc(-x / sqrt(2)) / 2 - p) / density;
        x -= e / (1 + x * e / 2);
    }
    return u < 0.5 ? x : -x;
}
