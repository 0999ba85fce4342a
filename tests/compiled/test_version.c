// test_version.c -- a compiler that has not changed is not called for its version again; a changed one is.
#define _XOPEN_SOURCE 700
#include "compiled/compiler.h"
#include "compiled/version.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

// A folder with a cache and "compilers".
typedef struct place {
    char folder[32], program[64];
    lwi_cache cache;
} place;

static void copy(const char *from, const char *to)
{
    char text[400];
    snprintf(text, sizeof text, "cp '%s' '%s' && chmod 700 '%s'", from, to, to);
    assert_int_equal(0, system(text));
}

// `true`, under another name: it says its version, too.
static place new_place(const char *name)
{
    place p = {.folder = "version-XXXXXX"};
    char where[200], cache[300];
    assert_non_null(mkdtemp(p.folder));
    assert_non_null(getcwd(where, sizeof where));
    snprintf(cache, sizeof cache, "%s/%s/cache", where, p.folder);
    assert_int_equal(LW_OK, lwi_cache_open(cache, &p.cache, NULL));
    snprintf(p.program, sizeof p.program, "%s/%s", p.folder, name);
    copy("/bin/true", p.program);
    return p;
}

static void remove_place(const place *p)
{
    char text[100];
    snprintf(text, sizeof text, "rm -r '%s'", p->folder);
    assert_int_equal(0, system(text));
}

static void expect_version(const place *p, bool kept)
{
    lwi_compiler c;
    assert_int_equal(LW_OK, lwi_compiler_find(p->program, &p->cache, &c, NULL));
    assert_int_equal(kept, strcmp(c.version, "kept 1.0") == 0);
}

static void a_compiler_is_called_once(void **unused)
{
    (void)unused;
    char key[LWI_SHA256_SIZE], version[256];
    const place p = new_place("true-gcc");
    expect_version(&p, false);
    assert_true(lwi_version_key(p.program, key));
    assert_true(lwi_version_find(&p.cache, key, version, sizeof version));
    lwi_version_write(&p.cache, key, "kept 1.0");
    expect_version(&p, true);
    assert_false(lwi_version_find(&p.cache, key, version, 8)); // no room
    remove_place(&p);
}

// Also where its size and time of change are as before.
static void a_changed_compiler_is_called_again(void **unused)
{
    (void)unused;
    char key[LWI_SHA256_SIZE];
    struct stat about;
    const place p = new_place("true-clang");
    assert_true(lwi_version_key(p.program, key));
    lwi_version_write(&p.cache, key, "kept 1.0");
    expect_version(&p, true);
    assert_int_equal(0, stat(p.program, &about));
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); // longer than the clock of files
    copy("/bin/true", p.program);
    assert_int_equal(
        0, utimensat(AT_FDCWD, p.program, (struct timespec[]){about.st_atim, about.st_mtim}, 0));
    expect_version(&p, false);
    remove_place(&p);
}

// What may call another program is called each time.
static void scripts_and_others_are_called_each_time(void **unused)
{
    (void)unused;
    char key[LWI_SHA256_SIZE], text[100];
    const place p = new_place("ccache"), script = new_place("gcc");
    assert_false(lwi_version_key(p.program, key));
    snprintf(text, sizeof text, "echo '#!/bin/sh' > %s", script.program);
    assert_int_equal(0, system(text));
    assert_false(lwi_version_key(script.program, key));
    assert_false(lwi_version_key("no-such-gcc", key));
    remove_place(&p);
    remove_place(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_compiler_is_called_once),
                                       cmocka_unit_test(a_changed_compiler_is_called_again),
                                       cmocka_unit_test(scripts_and_others_are_called_each_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
