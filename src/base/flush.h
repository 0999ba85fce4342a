// flush.h -- flushes numbers below 2.2e-308 to zero between begin and end.
//
// Quantities that decay along a long chain, by a factor each link, reach this range, and processors take
// some hundred cycles for each operation on such numbers.  The effect on results is negligible.  The
// mode belongs to a thread; it is the same for scalars and vectors of any width, so bits do not depend
// on widths.  Between begin and end only call functions of other files: compilers do not take the mode
// into account.
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
