// base.c -- messages of statuses, errors, arena, nearest name.
#include "base/base.h"

#include "base/assert.h"
#include "base/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lw_status_text(lw_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case LW_##name:                                                                                \
        return text;
        LW_STATUS_LIST(X)
#undef X
    default:
        return "unknown status";
    }
}

const char *lw_version(void)
{
    return LWI_VERSION;
}

// ---------------------------------------------------------------------------------------- errors

lw_status lwi_fail_v(lw_error *error, lw_status status, const char *format, va_list arguments)
{
    if (error) {
        memset(error, 0, sizeof *error);
        error->status = status;
        vsnprintf(error->text, sizeof error->text, format, arguments);
    }
    return status;
}

lw_status lwi_fail(lw_error *error, lw_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lwi_fail_v(error, status, format, arguments);
    va_end(arguments);
    return status;
}

lw_status lwi_fail_at(lw_error *error, lw_status status, const char *file, int line, int column,
                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lwi_fail_v(error, status, format, arguments);
    va_end(arguments);
    if (error) {
        lwi_copy_text(error->file, sizeof error->file, file ? file : "");
        error->line = line;
        error->column = column;
    }
    return status;
}

void lwi_copy_text(char *to, size_t size, const char *from)
{
    LWI_ASSERT(size > 0);
    const size_t length = strlen(from) < size - 1 ? strlen(from) : size - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

// ------------------------------------------------------------------------------------------ names

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

// Levenshtein distance of the first 63 bytes.
static int edit_distance(const char *a, const char *b)
{
    enum { LIMIT = 64 };
    int row[LIMIT];
    const int na = smaller((int)strnlen(a, LIMIT - 1), LIMIT - 1);
    const int nb = smaller((int)strnlen(b, LIMIT - 1), LIMIT - 1);
    for (int j = 0; j <= nb; j++) row[j] = j;
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            const int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(change, 1 + smaller(row[j], row[j - 1]));
        }
    }
    return row[nb];
}

const char *lwi_nearest(const char *name, const char *const *names, int count)
{
    const char *best = NULL;
    const int letters = (int)strnlen(name, 63);
    // more than half the letters differ, or all of them: not near
    int nearest = smaller(letters, 1 + (letters + 1) / 2);
    for (int i = 0; i < count; i++) {
        if (!names[i]) continue;
        const int distance = edit_distance(name, names[i]);
        if (distance < nearest) {
            nearest = distance;
            best = names[i];
        }
    }
    return best;
}

const char *lw_nearest(const char *name, const char *const *names, int count)
{
    return name && names ? lwi_nearest(name, names, count) : NULL;
}

bool lw_number_read(const char *text, double *value)
{
    return text && value && lwi_number_read(text, value);
}

// ----------------------------------------------------------------------------------------- memory

typedef struct lwi_chunk {
    struct lwi_chunk *next;
    size_t used, size; // of the bytes behind the header
} lwi_chunk;

enum { ALIGNMENT = 64, SMALLEST = 1 << 12, LARGEST = 1 << 16 }; // bytes of a chunk

void *lwi_allocate(const lw_allocator *allocator, size_t bytes)
{
    return allocator && allocator->allocate ? allocator->allocate(allocator->user, bytes)
                                            : malloc(bytes);
}

// Zeroed memory.  Large blocks of calloc occupy no memory until they are written to.
static void *allocate_zeroed(const lw_allocator *allocator, size_t bytes)
{
    if (!allocator->allocate) return calloc(1, bytes);
    void *block = allocator->allocate(allocator->user, bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

void lwi_release(const lw_allocator *allocator, void *block)
{
    if (!block) return;
    if (allocator && allocator->allocate)
        allocator->release(allocator->user, block);
    else
        free(block);
}

void lwi_arena_init(lwi_arena *arena, const lw_allocator *allocator)
{
    memset(arena, 0, sizeof *arena);
    if (allocator) arena->allocator = *allocator;
}

void lwi_arena_free(lwi_arena *arena)
{
    for (lwi_chunk *chunk = arena->chunks; chunk;) {
        lwi_chunk *next = chunk->next;
        lwi_release(&arena->allocator, chunk);
        chunk = next;
    }
    arena->chunks = NULL;
}

// Chunks above LARGEST have one block, except the first chunk.
void lwi_arena_drop(lwi_arena *arena, const void *block)
{
    const uintptr_t at = (uintptr_t)block;
    if (!block || !arena->chunks) return;
    for (lwi_chunk **next = &arena->chunks->next, *chunk; (chunk = *next); next = &chunk->next) {
        const uintptr_t begin = (uintptr_t)(chunk + 1);
        if (at < begin || at >= begin + chunk->size) continue;
        if (chunk->size <= LARGEST) return;
        *next = chunk->next;
        lwi_release(&arena->allocator, chunk);
        return;
    }
}

void lwi_arena_take(lwi_arena *to, lwi_arena *from)
{
    lwi_chunk **end = to->chunks ? &to->chunks->next : &to->chunks; // the first remains in use
    lwi_chunk *rest = *end;
    for (*end = from->chunks; *end;) end = &(*end)->next;
    *end = rest;
    from->chunks = NULL;
}

static uintptr_t aligned(uintptr_t x, size_t alignment)
{
    return (x + alignment - 1) & ~(uintptr_t)(alignment - 1);
}

// A chunk with room for so many bytes at least.  Chunks double, so an arena takes memory in proportion to what is in it.  A
// large block has a chunk to itself, which does not become the first: what is left of the first remains in use.
static lwi_chunk *add_chunk(lwi_arena *arena, size_t bytes)
{
    lwi_chunk *first = arena->chunks;
    const size_t twice = first ? 2 * first->size : SMALLEST,
                 next = twice < LARGEST ? twice : LARGEST;
    const bool large = bytes > next / 4;
    const size_t room = large ? bytes : next;
    lwi_chunk *chunk = allocate_zeroed(&arena->allocator, sizeof *chunk + room);
    if (!chunk) return NULL;
    chunk->size = room;
    lwi_chunk **place = first && large ? &first->next : &arena->chunks;
    chunk->next = *place;
    *place = chunk;
    return chunk;
}

static void *push(lwi_arena *arena, size_t count, size_t size, size_t alignment)
{
    if (size && count > (SIZE_MAX / 4) / size) return NULL;
    const size_t bytes = count * size + alignment;
    lwi_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < bytes) chunk = add_chunk(arena, bytes);
    if (!chunk) return NULL;
    const uintptr_t base = (uintptr_t)(chunk + 1);
    const uintptr_t start = aligned(base + chunk->used, alignment);
    chunk->used = (size_t)(start - base) + count * size;
    LWI_ASSERT(chunk->used <= chunk->size);
    return (void *)start;
}

void *lwi_arena_push(lwi_arena *arena, size_t count, size_t size)
{
    return push(arena, count, size, ALIGNMENT);
}

char *lwi_arena_chars(lwi_arena *arena, size_t count)
{
    return push(arena, count, 1, 1);
}

char *lwi_arena_text(lwi_arena *arena, const char *text)
{
    const size_t length = strlen(text);
    char *copy = lwi_arena_chars(arena, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

// ------------------------------------------------------------------------------------ descriptions

lw_status lwi_read_desc(void *to, size_t size, const void *from, const char *type, lw_error *error)
{
    size_t given;
    if (!from) return lwi_fail(error, LW_ERR_ARGUMENT, "the %s is NULL", type);
    memcpy(&given, from, sizeof given); // first member of every description
    if (given == 0) given = size;
    if (given < sizeof given || given > 64 * size)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "%s.size is %zu, expected sizeof(%s), here %zu, or 0; was it set to zero?",
                        type, given, type, size);
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)from)[i])
            return lwi_fail(error, LW_ERR_ARGUMENT,
                            "%s has fields beyond %zu bytes that this library, version %s, does "
                            "not know",
                            type, size, lw_version());
    memset(to, 0, size);
    memcpy(to, from, given < size ? given : size);
    memset(to, 0, sizeof given);
    return LW_OK;
}
