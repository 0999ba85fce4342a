// cpu.h -- the ISA builds of the SIMD kernels: which ones this library has, and which one a call takes.
//
// CMake compiles each file of LW_SIMD_SOURCES once per ISA build, with the macros ISA (its name) and WIDEST
// (doubles in its widest register).  Every such file defines one table of entry points, <table>_<ISA>.
//
//     scalar   1 lane, any processor
//     fma      1 lane, with fused multiply-add: the bits of the wide builds
//     avx2     4 lanes, AVX2 and FMA
//     avx512   8 lanes, AVX-512 F, VL and DQ
#ifndef LWI_BASE_CPU_H
#define LWI_BASE_CPU_H

typedef enum lwi_isa {
    LWI_ISA_SCALAR,
    LWI_ISA_FMA,
    LWI_ISA_AVX2,
    LWI_ISA_AVX512,
    LWI_ISA_COUNT
} lwi_isa;

/** The ISA build for `width` lanes (1, 4, 8; 0: the widest) that both the library and the processor have; -1: none. */
int lwi_isa_of(int width);
/** Lanes of an ISA build. */
int lwi_isa_width(int isa);

// LWI_HAVE_<ISA> come from CMake (option LW_ISA).
#if LWI_HAVE_SCALAR
#define LWI_IF_SCALAR(...) __VA_ARGS__
#else
#define LWI_IF_SCALAR(...)
#endif
#if LWI_HAVE_FMA
#define LWI_IF_FMA(...) __VA_ARGS__
#else
#define LWI_IF_FMA(...)
#endif
#if LWI_HAVE_AVX2
#define LWI_IF_AVX2(...) __VA_ARGS__
#else
#define LWI_IF_AVX2(...)
#endif
#if LWI_HAVE_AVX512
#define LWI_IF_AVX512(...) __VA_ARGS__
#else
#define LWI_IF_AVX512(...)
#endif

/** Defines `static const type *const builds[LWI_ISA_COUNT]`: <table>_<ISA> of each build, NULL where there is none. */
#define LWI_ISA_BUILDS(type, table)                                                                \
    LWI_IF_SCALAR(extern const type table##_scalar;)                                               \
    LWI_IF_FMA(extern const type table##_fma;)                                                     \
    LWI_IF_AVX2(extern const type table##_avx2;)                                                   \
    LWI_IF_AVX512(extern const type table##_avx512;)                                               \
    static const type *const builds[LWI_ISA_COUNT] = {                                             \
        LWI_IF_SCALAR([LWI_ISA_SCALAR] = &table##_scalar, )                                        \
            LWI_IF_FMA([LWI_ISA_FMA] = &table##_fma, )                                             \
                LWI_IF_AVX2([LWI_ISA_AVX2] = &table##_avx2, )                                      \
                    LWI_IF_AVX512([LWI_ISA_AVX512] = &table##_avx512)}

#endif
