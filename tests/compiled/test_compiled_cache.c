// test_compiled_cache.c -- the folder of what was compiled, and compilers that fail.
#include "compile.h"

#include "base/build_id.h"
#include "compiled/index.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

// ------------------------------------------------------------------------------------------- cache

static bool found(const lw_model *model)
{
    lw_compiled *c = compiled(model, desc_of(1, true));
    double q[MOST], v[MOST];
    states(c, model, 1, q, v); // it works
    const lw_compiled_info info = lw_compiled_about(c);
    assert_true(info.letters > 1000 && info.compiler[0]);
    assert_true(info.found ? info.compiling == 0 : info.compiling > 0);
    lw_compiled_destroy(c);
    return info.found;
}

// The only file of the cache with this ending.
static void find_kind(const char *ending, char path[400])
{
    char pattern[300];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/*%s", cache, ending);
    assert_int_equal(0, glob(pattern, 0, NULL, &files));
    assert_int_equal(1, files.gl_pathc);
    snprintf(path, 400, "%s", files.gl_pathv[0]);
    globfree(&files);
}

// The only shared object of the cache, and no folder that was built in is left.
static void find_file(char path[400])
{
    char pattern[300];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/new-*", cache);
    assert_int_equal(GLOB_NOMATCH, glob(pattern, 0, NULL, &files));
    find_kind(".so", path);
}

static void damage(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(0, fseek(file, at, at < 0 ? SEEK_END : SEEK_SET));
    const int byte = fgetc(file);
    assert_int_equal(0, fseek(file, -1, SEEK_CUR));
    fputc(byte ^ 1, file);
    fclose(file);
}

// As a program that is stopped while it compiles leaves it, two days ago.
static void make_abandoned_folder(void)
{
    char path[300], file[330];
    const struct timespec then[2] = {{.tv_sec = time(NULL) - 2 * 86400},
                                     {.tv_sec = time(NULL) - 2 * 86400}};
    snprintf(path, sizeof path, "%s/new-123456", cache);
    snprintf(file, sizeof file, "%s/model.c", path);
    assert_int_equal(0, mkdir(path, 0700));
    fclose(fopen(file, "w"));
    assert_int_equal(0, utimensat(AT_FDCWD, path, then, 0));
}

static void files_are_found_again_and_damaged_ones_built_again(void **state)
{
    (void)state;
    char path[400];
    struct stat about;
    skip_without_compiler();
    new_cache("files");
    lw_model *model = four_bar();
    lw_compiled_info info = {0};
    const lw_compiled_desc desc = desc_of(1, true);
    OK(lw_compiled_predict(model, &desc, &info, NULL));
    assert_true(!info.found && info.compiling > 0);
    assert_false(found(model));
    assert_int_equal(0, stat(cache, &about));
    assert_int_equal(0700, about.st_mode & 0777);
    assert_true(found(model));
    OK(lw_compiled_predict(model, &desc, &info, NULL));
    assert_true(info.found && info.compiling == 0);
    find_file(path);
    const long places[] = {3000, -40, 0}; // in the code, in the checksum, at the head
    for (int i = 0; i < 3; i++) {
        damage(path, places[i]);
        assert_false(found(model));
        assert_true(found(model));
    }
    assert_int_equal(0, truncate(path, 1000));
    assert_false(found(model));
    assert_int_equal(0, truncate(path, 0));
    assert_false(found(model));
    assert_int_equal(0, chmod(path, 0622)); // somebody may have written it
    make_abandoned_folder();
    assert_false(found(model));
    assert_true(found(model));
    find_file(path);
    lw_model_destroy(model);
}

// An entry of the index is memory alone: without it, or where it is damaged, the shared object is found by the text.
static void entries_of_the_index_may_be_missing_or_damaged(void **state)
{
    (void)state;
    char entry[400], object[400];
    const unsigned char *id;
    skip_without_compiler();
    if (lwi_build_id(&id) == 0) skip();
    new_cache("index");
    lw_model *model = four_bar();
    assert_false(found(model));
    find_kind(".index", entry);
    find_kind(".so", object);
    for (int i = 0; i < 4; i++) {
        if (i == 0) remove(entry);
        if (i == 1) damage(entry, 3);
        if (i == 2) assert_int_equal(0, truncate(entry, 20));
        if (i == 3) assert_int_equal(0, chmod(entry, 0622)); // somebody may have written it
        assert_true(found(model));
        find_kind(".index", entry); // again
    }
    remove(object); // with an entry
    assert_false(found(model));
    assert_true(found(model));
    lw_model_destroy(model);
}

// What it has of the text shows that it was read.
static void the_index_is_used(void **state)
{
    (void)state;
    const unsigned char *id;
    char path[400], key[LWI_SHA256_SIZE], object[LWI_SHA256_SIZE];
    size_t letters;
    lwi_cache place;
    skip_without_compiler();
    if (lwi_build_id(&id) == 0) skip();
    new_cache("used");
    lw_model *model = four_bar();
    assert_false(found(model));
    find_kind(".index", path);
    snprintf(key, sizeof key, "%.64s", strrchr(path, '/') + 1);
    OK(lwi_cache_open(cache, &place, NULL));
    assert_true(lwi_index_find(&place, key, object, &letters));
    assert_true(letters > 1000);
    const char *const other[] = {object, "0123456789abcdef", "../../../../etc/passwd", ""};
    for (int i = 0; i < 4; i++) { // one that is right, and no names
        lwi_index_write(&place, key, other[i], 123456789);
        lw_compiled *c = compiled(model, desc_of(1, true));
        const lw_compiled_info info = lw_compiled_about(c);
        assert_true(info.found);
        assert_int_equal(info.letters, i == 0 ? 123456789 : letters);
        lw_compiled_destroy(c);
    }
    lw_model_destroy(model);
}

static void a_folder_that_others_can_write_is_refused(void **state)
{
    (void)state;
    lw_error error = {0};
    lw_compiled *c = NULL;
    skip_without_compiler();
    new_cache("open");
    lw_model *model = four_bar();
    const lw_compiled_desc desc = desc_of(1, true);
    for (mode_t mode = 020; mode; mode = mode == 020 ? 02 : 0) {
        mkdir(cache, 0700);
        assert_int_equal(0, chmod(cache, 0700 | mode));
        assert_int_equal(LW_ERR_IO, lw_compiled_create(model, &desc, &c, &error));
        assert_non_null(strstr(error.text, cache));
        assert_non_null(strstr(error.text, "can be written by others"));
    }
    assert_int_equal(0, chmod(cache, 0755)); // to be read is harmless
    assert_false(found(model));
    lw_model_destroy(model);
}

// Also as root: where a file is in its place no folder can be made.
static void without_a_folder_it_is_compiled_each_time(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("none");
    lw_model *model = four_bar();
    fclose(fopen(cache, "w"));
    assert_false(found(model));
    assert_false(found(model));
    if (geteuid() != 0) {
        new_cache("read-only");
        assert_int_equal(0, mkdir(cache, 0500));
        assert_false(found(model));
        assert_false(found(model));
        rmdir(cache);
    }
    lw_model_destroy(model);
}

static void the_folder_is_that_of_the_variables(void **state)
{
    (void)state;
    char path[400], *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    lw_compiled *c = NULL;
    skip_without_compiler();
    new_cache("home");
    lw_model *model = four_bar();
    const lw_compiled_desc desc = {.compiler = LW_C_COMPILER, .lanes = 1, .rates_only = true};
    char before[2][400];
    snprintf(before[0], 400, "%s", xdg ? xdg : "");
    snprintf(before[1], 400, "%s", home ? home : "");
    setenv("XDG_CACHE_HOME", cache, 1);
    OK(lw_compiled_create(model, &desc, &c, NULL));
    lw_compiled_destroy(c);
    snprintf(path, sizeof path, "%s", cache);
    snprintf(cache, sizeof cache, "%.200s/linkwork", path);
    assert_true(found(model));
    setenv("HOME", path, 1);
    setenv("XDG_CACHE_HOME", "relative", 1); // to be ignored
    OK(lw_compiled_create(model, &desc, &c, NULL));
    lw_compiled_destroy(c);
    snprintf(cache, sizeof cache, "%.200s/.cache/linkwork", path);
    assert_true(found(model));
    before[0][0] ? setenv("XDG_CACHE_HOME", before[0], 1) : unsetenv("XDG_CACHE_HOME");
    before[1][0] ? setenv("HOME", before[1], 1) : unsetenv("HOME");
    lw_model_destroy(model);
}

static void two_processes_build_at_once(void **state)
{
    (void)state;
    enum { PROCESSES = 4 };
    char path[400];
    pid_t child[PROCESSES];
    skip_without_compiler();
    new_cache("several");
    lw_model *model = four_bar();
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] > 0) continue;
        lw_compiled *c = NULL;
        const lw_compiled_desc desc = desc_of(1, true);
        _exit(lw_compiled_create(model, &desc, &c, NULL) == LW_OK ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        assert_int_equal(child[i], waitpid(child[i], &status, 0));
        assert_int_equal(0, status);
    }
    assert_true(found(model));
    find_file(path);
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------------------- compilers

static void expect_failure(const lw_model *model, const char *compiler, const char *text)
{
    lw_error error = {0};
    lw_compiled *c = NULL;
    const lw_compiled_desc desc = {.compiler = compiler, .cache = cache};
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_create(model, &desc, &c, &error));
    assert_null(c);
    if (!strstr(error.text, text)) fail_msg("'%s' without '%s'", error.text, text);
}

static void compilers_that_are_missing_or_fail_are_named(void **state)
{
    (void)state;
    char script[300];
    new_cache("compilers");
    lw_model *model = four_bar();
    expect_failure(model, "/nonexistent", "'/nonexistent', cannot be called: No such file");
    expect_failure(model, "false", "'false', cannot be called");
    expect_failure(model, "  ", "expected a command of one to 16 words");
    setenv("CC", "/nonexistent too", 1);
    expect_failure(model, NULL, "the compiler of CC, '/nonexistent too', cannot be called");
    unsetenv("CC");
    snprintf(script, sizeof script, "%s/%s", folder, "failing-compiler");
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\ncase \"$*\" in *--version*) echo failing 1.0; exit 0;; esac\n"
          "echo 'a note'; echo 'x.c:3: error: nothing goes' >&2; exit 3\n",
          file);
    fclose(file);
    assert_int_equal(0, chmod(script, 0700));
    expect_failure(model, script, "fails with code 3: x.c:3: error: nothing goes");
    char pattern[300];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/*", cache);
    assert_int_equal(GLOB_NOMATCH, glob(pattern, 0, NULL, &files));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_found_again_and_damaged_ones_built_again),
        cmocka_unit_test(entries_of_the_index_may_be_missing_or_damaged),
        cmocka_unit_test(the_index_is_used),
        cmocka_unit_test(a_folder_that_others_can_write_is_refused),
        cmocka_unit_test(without_a_folder_it_is_compiled_each_time),
        cmocka_unit_test(the_folder_is_that_of_the_variables),
        cmocka_unit_test(two_processes_build_at_once),
        cmocka_unit_test(compilers_that_are_missing_or_fail_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
