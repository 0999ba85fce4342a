// shapes.c -- the kernels of loop clusters (clusters.c) for the constant shapes of shapes.h.
//
// Loops over a shape are unrolled here, and branches on it known, so that none is left, and most intermediate results stay
// in registers.  Operations and their order are those for any shape, and so are the bits.  Shapes of robots are large, and
// unrolled for one lane only.
// Equations, input, output and cost: those of clusters.c.
//
// Compiled once per ISA build (base/cpu.h) with WIDTH = WIDEST.  Defines lwi_cluster_shape_kernels_<ISA>.
#include "methods/rcr/clusters/kernels.h"
#include "methods/rcr/clusters/shapes.h"

#include "base/assert.h"
#include "base/simd/sums.h"

#include <string.h>

#if WIDEST == 1 && defined __AVX2__ // for sines and cosines
#include <immintrin.h>
#define WIDTH 4
#include "base/simd/lane.inl"
#include "base/simd/sincos.inl"
#undef WIDTH
#endif

#define WIDTH WIDEST
#include "base/simd/lane.inl"
#if defined __clang__
#pragma clang diagnostic ignored "-Wpass-failed" // a few loops of robots remain
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif
#include "methods/rcr/clusters/simd/space.inl"
#include "methods/rcr/clusters/simd/pivots.inl"

#define X(name, variant)                                                                           \
    static bool place_##name(const lwi_cluster_block *b, const double *q, double per_length2,      \
                             double *max_ratio2, int l)                                            \
    {                                                                                              \
        lwi_cluster_block known = *b;                                                              \
        real ratio2 = NAME(splat)(0);                                                              \
        known.shape = &lwi_cluster_shape_##name;                                                   \
        const mask valid = NAME(variant##_place)(&known, q, NAME(splat)(per_length2), &ratio2, l); \
        return NAME(cluster_reduce)(valid, ratio2, max_ratio2);                                    \
    }                                                                                              \
    static void force_##name(const lwi_cluster_block *b, const double *v, const double *tau,       \
                             double per_length2, int l)                                            \
    {                                                                                              \
        lwi_cluster_block known = *b;                                                              \
        known.shape = &lwi_cluster_shape_##name;                                                   \
        NAME(variant##_force)(&known, v, tau, NAME(splat)(per_length2), l);                        \
    }                                                                                              \
    static double pivot_##name(const lwi_cluster_block *b, int l)                                  \
    {                                                                                              \
        lwi_cluster_block known = *b;                                                              \
        known.shape = &lwi_cluster_shape_##name;                                                   \
        return NAME(lowest_lane)(NAME(block_pivot)(&known, l));                                    \
    }
LWI_CLUSTER_SHAPE_LIST(X)
#if WIDEST == 1
LWI_CLUSTER_ROBOT_LIST(X)
#endif
#undef X

#define X(name, variant) {place_##name, force_##name, pivot_##name},
#define ANY(name, variant) {NULL, NULL, NULL},
#define TABLE_2(isa) lwi_cluster_shape_kernels_##isa
#define TABLE(isa) TABLE_2(isa)
extern const lwi_cluster_phases TABLE(ISA)[];
const lwi_cluster_phases TABLE(ISA)[] = {
#if WIDEST == 1
    LWI_CLUSTER_SHAPE_LIST(X) LWI_CLUSTER_ROBOT_LIST(X)
#else
    LWI_CLUSTER_SHAPE_LIST(X) LWI_CLUSTER_ROBOT_LIST(ANY)
#endif
};
#undef X
