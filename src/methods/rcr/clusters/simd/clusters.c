// clusters.c -- the kernels of loop clusters: closure, projected inertia and force of a block of loops.
//
// Base axes, origins of the frames; a lane is a cluster.  All lanes of a block have one shape, so branches on it
// are uniform.
//
// Rows of a closing joint, of body 2 relative to body 1 at the point P of body 2, with z its axis
// [anderson2003, (33)]:
//
//     p.:  velocity of P / length      (axes at rest: of the point of body 2 less that of body 1)
//     s.:  z x (z x angular velocity)  (revolute joints)
//     s.:  angular velocity            (fixed joints)
//     s.:  n (n . angular velocity)    (universal joints, n = z1 x x2)
//
// Five, three, six or four of them are independent, written as six or three: only W'W enters, its sum over the closing joints.
// Coordinates of one loop alone come first, so the factor of W'W has their blocks on its diagonal: the elimination loop by
// loop, before the few coordinates that loops share.
//
// Input: q, speeds, efforts of the block.  Output: K, k, C, M, f and, on a floating base, B and h (clusters.h).
// Cost: constant per block of a shape.
//
// Compiled once per ISA build (base/cpu.h) with WIDTH = WIDEST.  Defines lwi_cluster_kernels_<ISA>.  The phases are in
// space.inl, those of constant shapes are compiled in shapes.c.
#include "methods/rcr/clusters/kernels.h"

#include "base/assert.h"
#include "base/simd/sums.h"

#include <float.h>
#include <string.h>

#if WIDEST == 1 && defined __AVX2__ // for sines and cosines
#include <immintrin.h>
#define WIDTH 4
#include "base/simd/lane.inl"
#include "base/simd/sincos.inl"
#undef WIDTH
#endif

#define WIDTH 1
#include "base/simd/lane.inl"
#include "methods/rcr/clusters/simd/tree.inl"

#if WIDEST > 1
#undef WIDTH
#define WIDTH WIDEST
#include "base/simd/lane.inl"
#endif
#define UNROLL
#include "methods/rcr/clusters/simd/space.inl"

// The phases for any shape.
static bool place_any(const lwi_cluster_block *b, const double *q, double per_length2,
                      double *max_ratio2, int l)
{
    const real unit = NAME(splat)(per_length2);
    real ratio2 = NAME(splat)(0);
    const mask valid = b->shape->planar ? NAME(planar_place)(b, q, unit, &ratio2, l)
                                        : NAME(cluster_place)(b, q, unit, &ratio2, l);
    return NAME(cluster_reduce)(valid, ratio2, max_ratio2);
}
static void force_any(const lwi_cluster_block *b, const double *v, const double *tau,
                      double per_length2, int l)
{
    if (b->shape->planar)
        NAME(planar_force)(b, v, tau, NAME(splat)(per_length2), l);
    else
        NAME(cluster_force)(b, v, tau, NAME(splat)(per_length2), l);
}

#include "methods/rcr/clusters/simd/gaps.inl"
#include "methods/rcr/clusters/simd/pivots.inl"

static double pivot_any(const lwi_cluster_block *b, int l)
{
    return NAME(lowest_lane)(NAME(block_pivot)(b, l));
}

static double pivot_at(const lwi_cluster_block *b, const double *q, double per_length2, int l)
{
    enum { ALL = (1 << WIDTH) - 1 };
    real N[LWI_CLUSTER_DEPENDENT][LWI_CLUSTER_DEPENDENT], B[LWI_CLUSTER_DEPENDENT][CLUSTER_COLUMNS];
    mask valid = NAME(block_rows)(b, q, N, B, NAME(splat)(per_length2), l);
    valid &= NAME(cluster_factor)(b, N, l);
    return NAME(lanes_of)(valid) == ALL ? pivot_any(b, l) : 0;
}

#define TABLE_2(isa) lwi_cluster_kernels_##isa
#define TABLE(isa) TABLE_2(isa)
#define SHAPES_2(isa) lwi_cluster_shape_kernels_##isa
#define SHAPES(isa) SHAPES_2(isa)
extern const lwi_cluster_phases SHAPES(ISA)[];
extern const lwi_cluster_kernels TABLE(ISA);
const lwi_cluster_kernels TABLE(ISA) = {
    .width = WIDTH,
    .any = {place_any, force_any, pivot_any},
    .shape = SHAPES(ISA),
    .gap2 = clusters_gap2,
    .pivot_at = pivot_at,
    .offsets = clusters_offsets,
    .speeds = clusters_speeds,
    .solve = clusters_solve,
};
