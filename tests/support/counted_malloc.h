// counted_malloc.h -- counts the allocations of a test and of all libraries: include it in one source of the executable.
#ifndef LW_SUPPORT_COUNTED_MALLOC_H
#define LW_SUPPORT_COUNTED_MALLOC_H

#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature) // clang reports sanitizers by this macro
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

// A test may read one of the two only.
__attribute__((unused)) static long counted_allocations;
__attribute__((unused)) static size_t counted_bytes;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&       \
    !defined(SANITIZED)
#define COUNTS_ALLOCATIONS 1
// A malloc defined in the executable has precedence over that of the C library, in all libraries.
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
static inline void *uncounted_malloc(size_t bytes)
{
    return __libc_malloc(bytes);
}
void *malloc(size_t bytes)
{
    counted_allocations++;
    counted_bytes += bytes;
    return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes)
{
    counted_allocations++;
    counted_bytes += count * bytes;
    return __libc_calloc(count, bytes);
}
void *realloc(void *block, size_t bytes)
{
    counted_allocations++;
    counted_bytes += bytes;
    return __libc_realloc(block, bytes);
}
#else
#define COUNTS_ALLOCATIONS 0
static inline void *uncounted_malloc(size_t bytes)
{
    return malloc(bytes);
}
#endif

#endif
