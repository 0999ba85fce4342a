// test_assert.c -- failed assertions print the file and line and abort; violated invariants of the
// API return LW_ERR_INTERNAL.
#include "base/assert.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef NDEBUG
// Runs the assertion in a child process and collects what it writes to stderr.
static void a_failed_assertion_names_its_place(void **state)
{
    (void)state;
    int ends[2], status;
    char text[256] = "";
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); // cmocka installs a handler for it
        dup2(ends[1], 2);
        LWI_ASSERT_INDEX(3, 2);
        _exit(0);
    }
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "test_assert.c:"));
    assert_non_null(strstr(text, "assertion failed: (3) >= 0 && (3) < (2)"));
}
#endif

static void a_true_assertion_does_nothing(void **state)
{
    (void)state;
    LWI_ASSERT(1 + 1 == 2);
    LWI_ASSERT_INDEX(1, 2);
}

static lw_status edge(int n, lw_error *error)
{
    LWI_INVARIANT(n > 0, error);
    return LW_OK;
}

static void a_broken_invariant_is_an_error(void **state)
{
    (void)state;
    lw_error error = {0};
    assert_int_equal(edge(1, &error), LW_OK);
    assert_int_equal(edge(0, &error), LW_ERR_INTERNAL);
    assert_int_equal(edge(0, NULL), LW_ERR_INTERNAL);
    assert_non_null(strstr(error.text, "n > 0 does not hold"));
    assert_non_null(strstr(error.text, "test_assert.c:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef NDEBUG
        cmocka_unit_test(a_failed_assertion_names_its_place),
#endif
        cmocka_unit_test(a_true_assertion_does_nothing),
        cmocka_unit_test(a_broken_invariant_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
