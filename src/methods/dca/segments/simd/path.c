// path.c -- the kernels of paths in segments (blocks.h), one ISA build of them.
//
// Problem: the passes over the bodies of eight segments side by side, and the joins of segments.
// Input and output: blocks of a path.  Cost: O(length) per group, constant per join.
//
// Compiled once per ISA build (base/cpu.h) with WIDTH = WIDEST.  Defines lwi_path_kernels_<ISA>.
#include "methods/dca/segments/blocks.h"

#include "base/simd/sums.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

/** Place of entry (i, k) of a symmetric 3 x 3 matrix: xx yy zz xy xz yz. */
#define ENTRY(i, k) ((i) == (k) ? (i) : (i) + (k) + 2)
/** Place of entry (i, k) in the lower triangle of a symmetric matrix. */
#define TRIANGLE(i, k) ((i) >= (k) ? (i) * ((i) + 1) / 2 + (k) : (k) * ((k) + 1) / 2 + (i))

#define WIDTH WIDEST
#include "base/simd/lane.inl"
#include "base/simd/sincos.inl"
#include "methods/dca/segments/simd/vectors.inl"
#include "methods/dca/segments/simd/pose.inl"
#include "methods/dca/segments/simd/segment.inl"
#include "methods/dca/segments/simd/join.inl"

enum { ALL = (1 << WIDTH) - 1 };

// ------------------------------------------------------------------------------------------ passes

// A pass, of groups with joints of one kind and of others; `kinds`: NAME(kinds) in the text.
#define ARGUMENTS                                                                                  \
    const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end, const lwi_path_rows *rows,  \
        int n
#define PASS(name)                                                                                 \
    static INLINE bool NAME(name##_pass)(ARGUMENTS, NAME(kinds) kinds);                            \
    static bool name(ARGUMENTS)                                                                    \
    {                                                                                              \
        if (rows->all == LWI_PATH_HINGE)                                                           \
            return NAME(name##_pass)(body, link, end, rows, n,                                     \
                                     (NAME(kinds)){NULL, LWI_PATH_HINGE});                         \
        if (rows->all == LWI_PATH_BALL)                                                            \
            return NAME(name##_pass)(body, link, end, rows, n,                                     \
                                     (NAME(kinds)){NULL, LWI_PATH_BALL});                          \
        if (rows->all == LWI_PATH_SOME_BALLS)                                                      \
            return NAME(name##_pass)(body, link, end, rows, n,                                     \
                                     (NAME(kinds)){NULL, LWI_PATH_SOME_BALLS});                    \
        return NAME(name##_pass)(body, link, end, rows, n,                                         \
                                 (NAME(kinds)){rows->kind, LWI_PATH_MIXED});                       \
    }                                                                                              \
    static INLINE bool NAME(name##_pass)(ARGUMENTS, NAME(kinds) kinds)
#define EACH_LANES(count) for (int l = 0; l < (count); l += WIDTH)

PASS(inward)
{
    mask valid = ~NAME(bits)(ZERO);
    EACH_LANES(LWI_LANES)
    {
        valid &= NAME(pose)(body, link, end, kinds, rows->q, n, l);
        valid &= NAME(inward)(body, link, end, kinds, rows->in, n, true, l);
    }
    return NAME(lanes_of)(valid) == ALL;
}

PASS(again)
{
    EACH_LANES(LWI_LANES) NAME(again)(body, link, end, kinds, rows->in, n, false, l);
    return true;
}

static bool is_finite(real nothing)
{
    return NAME(lanes_of)(NAME(at_most)(NAME(absolute)(nothing), ZERO)) == ALL;
}

PASS(outward)
{
    real nothing = ZERO;
    EACH_LANES(LWI_LANES)
    {
        nothing += NAME(speeds)(body, link, end, kinds, rows->out, n, true, l);
        nothing += NAME(rates)(body, link, end, kinds, rows->rate, n, false, l);
    }
    return is_finite(nothing);
}

PASS(speeds)
{
    real nothing = ZERO;
    EACH_LANES(LWI_LANES)
    nothing += NAME(speeds)(body, link, end, kinds, rows->out, n, true, l);
    return is_finite(nothing);
}

PASS(rates)
{
    real nothing = ZERO;
    EACH_LANES(LWI_LANES)
    nothing += NAME(rates)(body, link, end, kinds, rows->rate, n, true, l);
    return is_finite(nothing);
}

PASS(factor)
{
    mask valid = ~NAME(bits)(ZERO);
    EACH_LANES(LWI_LANES)
    {
        valid &= NAME(pose)(body, link, end, kinds, rows->q, n, l);
        valid &= NAME(inward)(body, link, end, kinds, rows->in, n, false, l);
        NAME(velocity)(body, link, end, kinds, rows->u, n, l);
    }
    return NAME(lanes_of)(valid) == ALL;
}

PASS(velocity)
{
    EACH_LANES(LWI_LANES) NAME(velocity)(body, link, end, kinds, rows->u, n, l);
    return true;
}

PASS(bias)
{
    EACH_LANES(LWI_LANES)
    {
        for (int i = 0; i < LWI_PATH_HANDLE; i++) AT(end->V0[i]) = AT(end->f0[i]) = ZERO;
        NAME(bias)(body, link, end, kinds, rows->u, n, l);
        NAME(again)(body, link, end, kinds, rows->in, n, true, l);
    }
    return true;
}

PASS(again_bias)
{
    EACH_LANES(LWI_LANES) NAME(again)(body, link, end, kinds, rows->in, n, true, l);
    return true;
}

PASS(response)
{
    EACH_LANES(LWI_LANES)
    {
        for (int i = 0; i < LWI_PATH_HANDLE; i++) AT(end->V0[i]) = AT(end->f0[i]) = ZERO;
        for (int i = 0; i < 6; i++) AT(end->c[i]) = ZERO;
        NAME(again)(body, link, end, kinds, rows->in, n, false, l);
    }
    return true;
}

PASS(accelerate)
{
    real nothing = ZERO;
    EACH_LANES(LWI_LANES)
    {
        nothing += NAME(speeds)(body, link, end, kinds, rows->out, n, false, l);
        AT(end->turning[2]) += AT(end->c[5]);
        for (int c = 0; lwi_path_only_balls(kinds.all) && c < 2; c++)
            AT(end->turning[c]) += AT(end->c[c]);
    }
    return is_finite(nothing);
}

// --------------------------------------------------------------------------------------- exchanges

// An exchange between all five components, and between the forces at balls; `first`: of the components.
#define UP(name)                                                                                   \
    static INLINE void NAME(name##_up)(const lwi_path_end *A, const lwi_path_end *B,               \
                                       lwi_path_end *to, int first, int lanes);                    \
    static void name(const lwi_path_end *A, const lwi_path_end *B, lwi_path_end *to, int lanes)    \
    {                                                                                              \
        NAME(name##_up)(A, B, to, 0, lanes);                                                       \
    }                                                                                              \
    static void name##_balls(const lwi_path_end *A, const lwi_path_end *B, lwi_path_end *to,       \
                             int lanes)                                                            \
    {                                                                                              \
        NAME(name##_up)(A, B, to, LWI_PATH_FORCES, lanes);                                         \
    }                                                                                              \
    static INLINE void NAME(name##_up)(const lwi_path_end *A, const lwi_path_end *B,               \
                                       lwi_path_end *to, int first, int lanes)
#define DOWN(name)                                                                                 \
    static INLINE void NAME(name##_down)(lwi_path_end * A, lwi_path_end * B,                       \
                                         const lwi_path_end *from, int first, int lanes);          \
    static void name(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *from, int lanes)        \
    {                                                                                              \
        NAME(name##_down)(A, B, from, 0, lanes);                                                   \
    }                                                                                              \
    static void name##_balls(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *from,           \
                             int lanes)                                                            \
    {                                                                                              \
        NAME(name##_down)(A, B, from, LWI_PATH_FORCES, lanes);                                     \
    }                                                                                              \
    static INLINE void NAME(name##_down)(lwi_path_end * A, lwi_path_end * B,                       \
                                         const lwi_path_end *from, int first, int lanes)
// The same for both.
#define UP_OF_ALL(name)                                                                            \
    static void name(const lwi_path_end *A, const lwi_path_end *B, lwi_path_end *to, int lanes)
#define DOWN_OF_ALL(name)                                                                          \
    static void name(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *from, int lanes)

UP(join)
{
    EACH_LANES(lanes)
    {
        NAME(join_matrices)(A, B, to, first, l);
        NAME(join_poses)(A, B, to, l);
        NAME(join_vectors)(A, B, to, false, first, l);
    }
}
UP(join_again)
{
    EACH_LANES(lanes) NAME(join_vectors)(A, B, to, true, first, l);
}
UP(join_factors)
{
    EACH_LANES(lanes)
    {
        NAME(join_matrices)(A, B, to, first, l);
        NAME(join_poses)(A, B, to, l);
        NAME(join_velocities)(A, B, to, l);
    }
}
UP_OF_ALL(join_velocities)
{
    EACH_LANES(lanes) NAME(join_velocities)(A, B, to, l);
}
UP(join_vectors)
{
    EACH_LANES(lanes) NAME(join_vectors)(A, B, to, false, first, l);
}

DOWN(split)
{
    EACH_LANES(lanes)
    {
        NAME(split_poses)(A, B, from, l);
        NAME(split_vectors)(A, B, from, false, first, l);
    }
}
DOWN(split_again)
{
    EACH_LANES(lanes) NAME(split_vectors)(A, B, from, true, first, l);
}
DOWN_OF_ALL(split_velocities)
{
    EACH_LANES(lanes) NAME(split_velocities)(A, B, from, l);
}
DOWN(split_vectors)
{
    EACH_LANES(lanes) NAME(split_vectors)(A, B, from, false, first, l);
}
DOWN_OF_ALL(split_loads)
{
    EACH_LANES(lanes) NAME(split_loads)(A, B, from, l);
}

#define TABLE_2(isa) lwi_path_kernels_##isa
#define TABLE(isa) TABLE_2(isa)
extern const lwi_path_kernels TABLE(ISA);
const lwi_path_kernels TABLE(ISA) = {
    .width = WIDTH,
    .pass = {[LWI_PATH_INWARD] = inward,
             [LWI_PATH_AGAIN] = again,
             [LWI_PATH_OUTWARD] = outward,
             [LWI_PATH_SPEEDS] = speeds,
             [LWI_PATH_RATES] = rates,
             [LWI_PATH_FACTOR] = factor,
             [LWI_PATH_VELOCITY] = velocity,
             [LWI_PATH_BIAS] = bias,
             [LWI_PATH_AGAIN_BIAS] = again_bias,
             [LWI_PATH_RESPONSE] = response,
             [LWI_PATH_ACCELERATE] = accelerate},
    .up = {{[LWI_PATH_MOMENTA] = join,
            [LWI_PATH_CORRECTION] = join_again,
            [LWI_PATH_FACTORS] = join_factors,
            [LWI_PATH_VELOCITIES] = join_velocities,
            [LWI_PATH_VECTORS] = join_vectors},
           {[LWI_PATH_MOMENTA] = join_balls,
            [LWI_PATH_CORRECTION] = join_again_balls,
            [LWI_PATH_FACTORS] = join_factors_balls,
            [LWI_PATH_VELOCITIES] = join_velocities,
            [LWI_PATH_VECTORS] = join_vectors_balls}},
    .down = {{[LWI_PATH_MOMENTA] = split,
              [LWI_PATH_CORRECTION] = split_again,
              [LWI_PATH_FACTORS] = split_velocities,
              [LWI_PATH_VELOCITIES] = split_velocities,
              [LWI_PATH_VECTORS] = split_vectors,
              [LWI_PATH_LOADS] = split_loads},
             {[LWI_PATH_MOMENTA] = split_balls,
              [LWI_PATH_CORRECTION] = split_again_balls,
              [LWI_PATH_FACTORS] = split_velocities,
              [LWI_PATH_VELOCITIES] = split_velocities,
              [LWI_PATH_VECTORS] = split_vectors_balls,
              [LWI_PATH_LOADS] = split_loads}},
};
