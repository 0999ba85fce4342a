// test_arena.c -- blocks of an arena that are released early, and arenas that are joined.
#include "base/base.h"
#include "support/counted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char *block_of(lwi_arena *arena, size_t bytes, int value)
{
    char *block = LWI_PUSH(arena, char, bytes);
    assert_non_null(block);
    return memset(block, value, bytes);
}

static void assert_holds(const char *block, size_t bytes, int value)
{
    for (size_t i = 0; i < bytes; i++) assert_int_equal(block[i], value);
}

static void large_blocks_are_released(void **state)
{
    (void)state;
    enum { SMALL = 100, LARGE = 1 << 20 };
    size_t live = 0;
    const lw_allocator allocator = {lwt_allocate, lwt_release, &live};
    lwi_arena arena;
    lwi_arena_init(&arena, &allocator);
    lwi_arena_drop(&arena, NULL);
    char *first = block_of(&arena, LARGE, 1); // other blocks may be in its chunk
    char *small = block_of(&arena, SMALL, 2), *large = block_of(&arena, LARGE, 3),
         *other = block_of(&arena, LARGE, 4);
    const size_t all = live;
    lwi_arena_drop(&arena, small);
    lwi_arena_drop(&arena, &live); // no block of it
    assert_true(live == all);
    lwi_arena_drop(&arena, large);
    assert_true(live < all - LARGE + 4096 && live > all - LARGE - 4096);
    assert_holds(first, LARGE, 1);
    assert_holds(small, SMALL, 2);
    assert_holds(other, LARGE, 4);
    assert_holds(block_of(&arena, SMALL, 5), SMALL, 5);
    lwi_arena_free(&arena);
    assert_true(live == 0);
}

static void arenas_are_joined(void **state)
{
    (void)state;
    enum { BYTES = 3000, N = 40 };
    for (int before = 0; before < 3; before++)
        for (int more = 0; more < N; more += 13) {
            size_t live = 0;
            const lw_allocator allocator = {lwt_allocate, lwt_release, &live};
            lwi_arena to, from;
            char *own[3], *taken[N];
            lwi_arena_init(&to, &allocator);
            lwi_arena_init(&from, &allocator);
            for (int i = 0; i < before; i++) own[i] = block_of(&to, BYTES, i);
            for (int i = 0; i < more; i++) taken[i] = block_of(&from, BYTES, 50 + i);
            lwi_arena_take(&to, &from);
            char *next = block_of(&to, BYTES, 9);
            const size_t all = live;
            lwi_arena_free(&from); // it has nothing
            assert_true(live == all);
            for (int i = 0; i < before; i++) assert_holds(own[i], BYTES, i);
            for (int i = 0; i < more; i++) assert_holds(taken[i], BYTES, 50 + i);
            assert_holds(next, BYTES, 9);
            lwi_arena_free(&to);
            assert_true(live == 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_blocks_are_released),
        cmocka_unit_test(arenas_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
