// rattle.c -- the kernels of rattle: drift of bodies, positions of joints.
//
// Compiled once per ISA build (base/cpu.h) with WIDTH = WIDEST.  Defines lwi_rattle_kernels_<ISA>.
#include "methods/rattle/kernels.h"

#include "base/simd/sums.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define WIDTH WIDEST
#include "base/simd/lane.inl"
#define ZERO NAME(splat)(0)
#include "base/simd/sincos.inl"
#include "base/simd/transpose.inl"
#define C(x) NAME(splat)(x)

static INLINE real dot(const real *a, const real *b)
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}

// c = a x b
static INLINE void cross(real *c, const real *a, const real *b)
{
    const real x = DIFF(a[1], b[2], a[2], b[1]), y = DIFF(a[2], b[0], a[0], b[2]);
    c[2] = DIFF(a[0], b[1], a[1], b[0]);
    c[0] = x, c[1] = y;
}

// c = A b
static INLINE void times(real *c, const real *A, const real *b)
{
    const real x = dot(A, b), y = dot(A + 3, b), z = dot(A + 6, b);
    c[0] = x, c[1] = y, c[2] = z;
}

// c = A' b
static INLINE void transposed_times(real *c, const real *A, const real *b)
{
    for (int i = 0; i < 3; i++) c[i] = SUM3(A[i], b[0], A[3 + i], b[1], A[6 + i], b[2]);
}

// c = J b, J symmetric: xx yy zz xy xz yz
static INLINE void symmetric_times(real *c, const real *J, const real *b)
{
    c[0] = SUM3(J[0], b[0], J[3], b[1], J[4], b[2]);
    c[1] = SUM3(J[3], b[0], J[1], b[1], J[5], b[2]);
    c[2] = SUM3(J[4], b[0], J[5], b[1], J[2], b[2]);
}

// y + (change + *left); *left := what this addition rounds off
static INLINE real add(real y, real change, real *left)
{
    const real whole = change + *left, sum = y + whole;
    *left = whole - (sum - y);
    return sum;
}

#include "methods/rattle/simd/drift.inl"
#include "methods/rattle/simd/phi.inl"

#define TABLE_3(isa) lwi_rattle_kernels_##isa
#define TABLE_2(isa) TABLE_3(isa)
extern const lwi_rattle_kernels TABLE_2(ISA);
const lwi_rattle_kernels TABLE_2(ISA) = {.width = WIDTH, .drift = drift, .phi = phi};
