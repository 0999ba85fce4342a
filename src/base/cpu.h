// cpu.h -- which instructions this processor has: 8 with AVX-512, 4 with AVX2, 1 with neither; by
// the doubles that fit into a register.
#ifndef LWI_CPU_H
#define LWI_CPU_H

static inline int lwi_cpu_lanes(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
        return 8;
    if (__builtin_cpu_supports("avx2")) return 4;
#endif
    return 1;
}

#endif
