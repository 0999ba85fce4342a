// cpu.c -- the one dispatch of ISA builds.
#include "base/cpu.h"

#include "base/assert.h"

#include <stdbool.h>

#if defined(__x86_64__)
static bool has_fma(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static bool has_avx512(void)
{
    return has_fma() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}
#else
static bool has_fma(void)
{
    return false;
}
static bool has_avx512(void)
{
    return false;
}
#endif

int lwi_isa_width(int isa)
{
    static const int width[LWI_ISA_COUNT] = {1, 1, 4, 8};
    LWI_ASSERT_INDEX(isa, LWI_ISA_COUNT);
    return width[isa];
}

int lwi_isa_of(int width)
{
    LWI_IF_AVX512(if ((width == 0 || width == 8) && has_avx512()) return LWI_ISA_AVX512;)
    LWI_IF_AVX2(if ((width == 0 || width == 4) && has_fma()) return LWI_ISA_AVX2;)
    LWI_IF_FMA(if (width <= 1 && has_fma()) return LWI_ISA_FMA;)
    LWI_IF_SCALAR(if (width <= 1) return LWI_ISA_SCALAR;)
    (void)has_fma, (void)has_avx512, (void)width;
    return -1;
}
