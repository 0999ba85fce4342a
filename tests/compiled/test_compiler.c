// test_compiler.c -- the system's compiler called for one file, and ended by the caller.
#include "compiled/compiler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const sources[] = {"compiler-test.c", NULL};

static void write_source(const char *text)
{
    FILE *f = fopen(sources[0], "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// In memory with old content: all of `c` is set by the search.
static void find(lwi_compiler *c)
{
    lw_error error = {0};
    memset(c, 0xa5, sizeof *c);
    const lw_status status = lwi_compiler_find(NULL, NULL, c, &error);
    if (status == LW_ERR_UNSUPPORTED) {
        print_message("%s\n", error.text);
        skip();
    }
    assert_int_equal(status, LW_OK);
}

static lw_status build(const lwi_compiler *c, lw_error *error)
{
    const lw_status status =
        lwi_compiler_build(c, sources, "compiler-test.so", "compiler-test.log", error);
    remove(sources[0]);
    remove("compiler-test.so");
    remove("compiler-test.log");
    return status;
}

static void one_file_without_an_interrupt(void **unused)
{
    (void)unused;
    lwi_compiler c;
    lw_error error = {0};
    find(&c);
    assert_null(c.interrupt);
    assert_null(c.interrupt_user);
    write_source("int one(void) { return 1; }\n");
    assert_int_equal(build(&c, &error), LW_OK);
    write_source("int one(void) { return x; }\n");
    assert_int_equal(build(&c, &error), LW_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "x"));
}

static int count_and_stop(void *user)
{
    return ++*(int *)user > 1;
}

static void the_caller_ends_it(void **unused)
{
    (void)unused;
    lwi_compiler c;
    lw_error error = {0};
    int calls = 0;
    find(&c);
    c.interrupt = count_and_stop, c.interrupt_user = &calls;
    write_source("int one(void) { return 1; }\n");
    assert_int_equal(build(&c, &error), LW_ERR_INTERRUPTED);
    assert_true(calls > 1);
    assert_non_null(strstr(error.text, "stopped while the compiler"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_file_without_an_interrupt),
                                       cmocka_unit_test(the_caller_ends_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
