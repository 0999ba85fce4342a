// observe.c -- the kernels of observations: residuals of joints, motion of bodies, motion of links, rows of results.
//
// Compiled once per ISA build (base/cpu.h) with WIDTH = WIDEST.  Defines lwi_observe_kernels_<ISA>.
#include "kinematics/kernels.h"

#include "base/simd/sums.h"
#include "spatial/vec3.h"

#include <stddef.h>
#include <string.h>

#define WIDTH WIDEST
#include "base/simd/lane.inl"
#define ZERO NAME(splat)(0)
#include "base/simd/transpose.inl"
#include "kinematics/simd/residuals.inl"
#include "base/simd/angle.inl"
#include "kinematics/simd/bodies.inl"
#include "kinematics/simd/hinges.inl"
#if WIDEST > 1
#include "spatial/rows.inl"
#include "kinematics/simd/links.inl"
#include "kinematics/simd/copies.inl"
#define ROWS                                                                                       \
    {                                                                                              \
        positions, world, velocities, accelerations, momenta, reactions, angular, wrenches,        \
            motions, ride, to_links, place, body_velocities                                        \
    }
#define COPIES copy, continue_quaternions
#else
#define ROWS                                                                                       \
    {                                                                                              \
        0                                                                                          \
    }
#define COPIES NULL, NULL
#endif

// x 0 is 0 if x is finite, otherwise no number.
static bool finite(const double *x, int n)
{
    real sum[2] = {ZERO, ZERO};
    double lane[WIDTH], rest = 0;
    int i = 0;
    for (; i + 2 * WIDTH <= n; i += 2 * WIDTH)
        for (int k = 0; k < 2; k++)
            MORE(sum[k], *(const stored_unaligned *)(x + i + k * WIDTH), ZERO);
    for (; i < n; i++) rest += x[i] * 0;
    sum[0] += sum[1];
    memcpy(lane, &sum[0], sizeof lane);
    for (int l = 0; l < WIDTH; l++) rest += lane[l];
    return rest == 0;
}

#define TABLE_3(isa) lwi_observe_kernels_##isa
#define TABLE_2(isa) TABLE_3(isa)
extern const lwi_observe_kernels TABLE_2(ISA);
const lwi_observe_kernels TABLE_2(ISA) = {
    WIDTH, residuals, bodies, reversed_reactions, hinges, energies, finite, ROWS, COPIES};
