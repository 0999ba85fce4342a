// flush.h -- numbers below 2.2e-308 taken as zero, for a while.
//
// What decays along a long chain, a factor each link, ends there, and processors take some hundred
// cycles for each operation on such numbers.  Taken as zero they change nothing that is measured.  The
// mode is that of a thread; it holds for scalars and vectors of any width alike, so bits do not depend
// on widths.  Between begin and end nothing but calls of other files' functions: compilers know nothing of
// the mode.
#ifndef LWI_BASE_FLUSH_H
#define LWI_BASE_FLUSH_H

#include <stdint.h>

#if defined(__SSE2__)
enum { LWI_FLUSH_MODE = 0x8040 }; // FTZ: results, DAZ: operands
static inline uint64_t lwi_flush_get(void)
{
    return __builtin_ia32_stmxcsr();
}
static inline void lwi_flush_set(uint64_t mode)
{
    __builtin_ia32_ldmxcsr((unsigned)mode);
}
#elif defined(__aarch64__)
enum { LWI_FLUSH_MODE = 1 << 24 }; // FZ: both
static inline uint64_t lwi_flush_get(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static inline void lwi_flush_set(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" ::"r"(mode) : "memory");
}
#else
enum { LWI_FLUSH_MODE = 0 };
static inline uint64_t lwi_flush_get(void)
{
    return 0;
}
static inline void lwi_flush_set(uint64_t mode)
{
    (void)mode;
}
#endif

/** Returns the mode that `end` sets again; they may nest. */
static inline uint64_t lwi_flush_begin(void)
{
    const uint64_t mode = lwi_flush_get();
    lwi_flush_set(mode | LWI_FLUSH_MODE);
    return mode;
}
static inline void lwi_flush_end(uint64_t mode)
{
    lwi_flush_set(mode);
}

#endif
