// observe.c -- the kernels of observations: residuals of joints, motion of bodies, motion of links.
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
#include "kinematics/simd/bodies.inl"
#if WIDEST > 1
#include "spatial/rows.inl"
#include "kinematics/simd/links.inl"
#define ROWS world, velocities, wrenches
#else
#define ROWS NULL, NULL, NULL
#endif

#define TABLE_3(isa) lwi_observe_kernels_##isa
#define TABLE_2(isa) TABLE_3(isa)
extern const lwi_observe_kernels TABLE_2(ISA);
const lwi_observe_kernels TABLE_2(ISA) = {WIDTH, residuals, bodies, reactions, energies, ROWS};
