// base.h -- errors, memory and names, used by all rooms.  Contains no mechanics.
#ifndef LWI_BASE_BASE_H
#define LWI_BASE_BASE_H

#include <linkwork/base.h>

#include <stdarg.h>
#include <stdbool.h>

/** Returns a failure to the caller. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const lw_status try_status_ = (call);                                                      \
        if (try_status_ != LW_OK) return try_status_;                                              \
    } while (0)

/** "MAJOR.MINOR.PATCH" */
#define LWI_STRING_(x) #x
#define LWI_STRING(x) LWI_STRING_(x)
#define LWI_VERSION                                                                                \
    LWI_STRING(LW_VERSION_MAJOR) "." LWI_STRING(LW_VERSION_MINOR) "." LWI_STRING(LW_VERSION_PATCH)

#define LWI_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/** Fills *error (may be NULL) and returns `status`.  File, line and column are cleared. */
lw_status lwi_fail(lw_error *error, lw_status status, const char *format, ...) LW_PRINTF(3, 4);
lw_status lwi_fail_v(lw_error *error, lw_status status, const char *format, va_list arguments);
/** The same with a place in a file; `file` may be NULL. */
lw_status lwi_fail_at(lw_error *error, lw_status status, const char *file, int line, int column,
                      const char *format, ...) LW_PRINTF(6, 7);

/** Copies a caller's description (linkwork.h) into *to [size]: fields that the caller's version does not have are zero.
 *  The copy's size is 0.
 *  @return LW_ERR_ARGUMENT: `from` is NULL; it has fields set that this library does not know; its size is not one */
lw_status lwi_read_desc(void *to, size_t size, const void *from, const char *type, lw_error *error);
/** At the head of a public function: its parameter `desc` is replaced by such a copy, of what may be NULL by one
 *  that is all zero. */
#define LWI_DESC(type, desc, error)                                                                \
    type desc##_copy;                                                                              \
    TRY(lwi_read_desc(&desc##_copy, sizeof desc##_copy, desc, #type, error));                      \
    desc = &desc##_copy
#define LWI_OPTIONAL_DESC(type, desc, error)                                                       \
    type desc##_copy = {0};                                                                        \
    if (desc) TRY(lwi_read_desc(&desc##_copy, sizeof desc##_copy, desc, #type, error));            \
    desc = &desc##_copy

/** Copies at most `size`-1 bytes and always ends the string. */
void lwi_copy_text(char *to, size_t size, const char *from);

/** The nearest of `names` to `name` by edit distance, or NULL if none is near. */
const char *lwi_nearest(const char *name, const char *const *names, int count);

// ---------------------------------------------------------------------------------------- memory

/** Blocks that are released together.  Everything is zeroed and aligned to 64 bytes. */
typedef struct lwi_arena {
    lw_allocator allocator;
    struct lwi_chunk *chunks;
} lwi_arena;

void lwi_arena_init(lwi_arena *arena, const lw_allocator *allocator);
void lwi_arena_free(lwi_arena *arena);
/** Releases a block that has been replaced, if it is a large one; a small one stays until the end. */
void lwi_arena_drop(lwi_arena *arena, const void *block);
/** All that is in `from`, of the same allocator, is in `to` now; `from` is empty. */
void lwi_arena_take(lwi_arena *to, lwi_arena *from);
/** Zeroed memory, aligned for kernels.  NULL when the allocator fails; count 0 gives a valid pointer. */
void *lwi_arena_push(lwi_arena *arena, size_t count, size_t size);
/** The same for characters, not aligned: strings take their length. */
char *lwi_arena_chars(lwi_arena *arena, size_t count);
char *lwi_arena_text(lwi_arena *arena, const char *text);
#define LWI_PUSH(arena, type, count)                                                               \
    ((type *)lwi_arena_push((arena), (size_t)(count), sizeof(type)))

/** One plain block from an allocator. */
void *lwi_allocate(const lw_allocator *allocator, size_t bytes);
void lwi_release(const lw_allocator *allocator, void *block);

#endif
