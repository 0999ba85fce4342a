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
#include "methods/dca/segments/simd/segment.inl"
#include "methods/dca/segments/simd/join.inl"

enum { ALL = (1 << WIDTH) - 1 };

static bool inward(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                   const lwi_path_rows *rows, int n)
{
    mask valid = ~NAME(bits)(ZERO);
    for (int l = 0; l < LWI_LANES; l += WIDTH) {
        valid &= NAME(pose)(body, link, end, rows->q, n, l);
        valid &= NAME(inward)(body, link, end, rows->in, n, true, l);
    }
    return NAME(lanes_of)(valid) == ALL;
}

static void again(lwi_path_link *link, lwi_path_end *end, const lwi_path_rows *rows, int n)
{
    for (int l = 0; l < LWI_LANES; l += WIDTH) NAME(again)(link, end, rows->in, n, l);
}

static bool outward(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                    const lwi_path_rows *rows, int n)
{
    real nothing = ZERO;
    for (int l = 0; l < LWI_LANES; l += WIDTH) {
        nothing += NAME(speeds)(link, end, rows->out, n, l);
        nothing += NAME(rates)(body, link, end, rows->rate, n, l);
    }
    return NAME(lanes_of)(NAME(at_most)(NAME(absolute)(nothing), ZERO)) == ALL;
}

static void join(const lwi_path_end *A, const lwi_path_end *B, lwi_path_end *to, int lanes)
{
    for (int l = 0; l < lanes; l += WIDTH) {
        NAME(join_matrices)(A, B, to, l);
        NAME(join_poses)(A, B, to, l);
        NAME(join_vectors)(A, B, to, false, l);
    }
}

static void join_again(const lwi_path_end *A, const lwi_path_end *B, lwi_path_end *to, int lanes)
{
    for (int l = 0; l < lanes; l += WIDTH) NAME(join_vectors)(A, B, to, true, l);
}

static void split(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *from, int lanes)
{
    for (int l = 0; l < lanes; l += WIDTH) {
        NAME(split_poses)(A, B, from, l);
        NAME(split_vectors)(A, B, from, false, l);
    }
}

static void split_again(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *from, int lanes)
{
    for (int l = 0; l < lanes; l += WIDTH) NAME(split_vectors)(A, B, from, true, l);
}

#define TABLE_2(isa) lwi_path_kernels_##isa
#define TABLE(isa) TABLE_2(isa)
extern const lwi_path_kernels TABLE(ISA);
const lwi_path_kernels TABLE(ISA) = {
    .width = WIDTH,
    .inward = inward,
    .again = again,
    .outward = outward,
    .join = join,
    .join_again = join_again,
    .split = split,
    .split_again = split_again,
};
