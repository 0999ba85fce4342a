// counted.h -- an allocator that counts the bytes that are allocated.
//
// lw_allocator {lwt_allocate, lwt_release, &live} of a size_t live = 0.
#ifndef LWT_COUNTED_H
#define LWT_COUNTED_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LWT_COUNTED_HEADER = 64 };

static inline void *lwt_allocate(void *user, size_t bytes)
{
    size_t *live = user;
    char *block = malloc(bytes + LWT_COUNTED_HEADER);
    if (!block) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    *live += bytes;
    return block + LWT_COUNTED_HEADER;
}

static inline void lwt_release(void *user, void *block)
{
    size_t *live = user, bytes;
    char *begin = (char *)block - LWT_COUNTED_HEADER;
    memcpy(&bytes, begin, sizeof bytes);
    *live -= bytes;
    free(begin);
}

#endif
