// variants.inl -- kernel variants for one width and one meaning of a lane.  Included by kernels.c.
//
// Macros in:  WIDTH, with lane.inl; SHARED: 0 if each lane has its own constants (bodies, segments or
// branches in lanes), 1 if all lanes share the constants of one body (a batch: lanes are instances);
// SEGMENTS: 1 includes the kernels of segments.  Kernels of branches in lanes come with every WIDTH > 1.
// `half` is the first lane of a block, or of the body in the first lane, on which a kernel works.
#if SHARED
#define VARIANT(f) NAME(f##_shared)
#define K(entry) NAME(splat)((entry)[kl])
#define BLOCK(slot) (slot)
#define LANE(slot) half
#define KLANE(slot) lwi_k_lane(slot)
#else
#define VARIANT(f) NAME(f)
#define K(entry) (*(const stored *)&(entry)[kl])
#define BLOCK(slot) lwi_k_block(slot)
#define LANE(slot) (lwi_k_lane(slot) + half)
#define KLANE(slot) LANE(slot)
#endif
#define AT_LANE(entry, lane) (*(const stored *)&(entry)[lane])
#define ZERO NAME(splat)(0)

#include "tree/simd/phases.inl"
#include "tree/simd/articulated.inl"
#include "tree/simd/bodies.inl"
#include "tree/simd/tree.inl"
#include "tree/simd/momenta.inl"
#if WIDTH == 1 && !SHARED
#include "tree/segments/segments_base.inl"
#endif
#if SEGMENTS
#include "tree/segments/segments.inl"
#include "tree/segments/momenta_segments.inl"
#endif
#if WIDTH > 1 && !SHARED
#include "tree/simd/branches.inl"
#endif
#if !SHARED
#include "tree/simd/rnea.inl"
#if SEGMENTS
#include "tree/segments/rnea_segments.inl"
#endif
#ifndef __cplusplus // bench_ops counts operations on `real`; these are on doubles as well
#include "tree/simd/crba.inl"
#endif
#endif

#undef VARIANT
#undef K
#undef BLOCK
#undef LANE
#undef KLANE
#undef AT_LANE
#undef ZERO
#undef CROSS
#undef ART
#undef TURN_VECTOR
#undef TURN_Z_COLUMNS
#undef TURN_BACK_X
#undef TURN_BACK_Y
#undef TURN_BACK_MORE
#undef TURN_RIGHT
#undef OF_SHAPE
#undef OF_EVERY_SHAPE
#undef OF_ROTOR_SHAPE
#undef ROTOR_SHAPES
#undef SHAPES
#undef OF_AXIS
#undef DIAGONAL
#undef TURN_SYMMETRIC
#undef TURN_GENERAL
