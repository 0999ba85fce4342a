// sums.h -- sums of products on the vectors of lane.inl; included first by every SIMD kernel file.
//
// The order of the operands is the order of the operations; MAD and related macros round once wherever the ISA build has a
// fused multiply-add.
#ifndef LWI_BASE_SIMD_SUMS_H
#define LWI_BASE_SIMD_SUMS_H

#include "base/simd/lanes.h"

#include <stdint.h>

#if WIDEST > 1
#include <immintrin.h>
#endif

// Is a fused multiply-add one instruction?
#if defined(__FMA__) || defined(__aarch64__)
#define LWI_FUSED 1
#else
#define LWI_FUSED 0
#endif

#define MAD(a, b, c) NAME(fma)((a), (b), (c))              // a b + c
#define NMAD(a, b, c) NAME(fnma)((a), (b), (c))            // c - a b
#define MSUB(a, b, c) NAME(fms)((a), (b), (c))             // a b - c
#define SUM2(a, b, c, d) MAD(c, d, (a) * (b))              // a b + c d
#define SUM3(a, b, c, d, e, f) MAD(e, f, SUM2(a, b, c, d)) // a b + c d + e f
#define DIFF(a, b, c, d) NMAD(c, d, (a) * (b))             // a b - c d
#define MORE(x, a, b) ((x) = MAD(a, b, x))                 // x += a b
#define LESS(x, a, b) ((x) = NMAD(a, b, x))                // x -= a b

// Angles up to this one have products with the parts of pi/2 that are exact (sincos.inl).
#define LWI_K_LARGEST_ANGLE 1.0e6

// Sanitizer builds leave inlining to the compiler: kernels that are inlined completely take five times as long to compile.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INLINE inline
#else
#define INLINE inline __attribute__((always_inline))
#endif

#endif
