// test_build_id.c -- the mark of this build against that of the file it is in.
#define _GNU_SOURCE // dladdr
#include "base/build_id.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void the_mark_is_in_the_file_of_the_library(void **unused)
{
    (void)unused;
    const unsigned char *id, *again;
    const size_t size = lwi_build_id(&id);
    if (size == 0) skip(); // a linker without marks
    assert_true(size >= 8);
    assert_int_equal(size, lwi_build_id(&again));
    assert_ptr_equal(id, again);
    Dl_info about;
    assert_true(dladdr((void *)(uintptr_t)lwi_build_id, &about) != 0);
    FILE *file = fopen(about.dli_fname, "rb");
    assert_non_null(file);
    unsigned char head[4096]; // notes are in front
    const size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    bool found = false;
    for (size_t i = 0; i + size <= n; i++) found |= !memcmp(head + i, id, size);
    assert_true(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_mark_is_in_the_file_of_the_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
