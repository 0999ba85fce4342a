// failing.h -- an allocator with failures: the n-th allocation fails; blocks in use are counted.
#ifndef LWT_FAILING_H
#define LWT_FAILING_H

#include <linkwork/base.h>

#include <stddef.h>
#include <stdlib.h>

typedef struct lwt_failing {
    long left; ///< allocations that still succeed
    long live; ///< blocks in use
} lwt_failing;

static inline void *lwt_failing_allocate(void *user, size_t bytes)
{
    lwt_failing *f = user;
    if (f->left-- <= 0) return NULL;
    void *block = malloc(bytes);
    f->live += block != NULL;
    return block;
}

static inline void lwt_failing_release(void *user, void *block)
{
    if (block) ((lwt_failing *)user)->live--;
    free(block);
}

static inline lw_allocator lwt_failing_allocator(lwt_failing *f)
{
    return (lw_allocator){lwt_failing_allocate, lwt_failing_release, f};
}

#endif
