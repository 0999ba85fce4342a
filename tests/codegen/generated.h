// generated.h -- generated code of models, compiled into one shared object by the available compiler.
#ifndef LWT_GENERATED_H
#define LWT_GENERATED_H

#include <linkwork/linkwork.h>

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/failing.h"

#define OK(call) assert_int_equal(LW_OK, (call))

static char folder[] = "codegen-XXXXXX";

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

// --------------------------------------------------------------------------------------- compiling

static inline bool has_compiler(void)
{
    return system(LW_C_COMPILER " --version >/dev/null 2>&1") == 0;
}

static inline void skip_without_compiler(void)
{
    if (has_compiler()) return;
    print_message("SKIPPED: no C compiler '%s' here, so generated code is not compiled\n",
                  LW_C_COMPILER);
    skip();
}

// Compiles all sources generated into `folder`/`group`, and `more` arguments there.  For this processor: its
// instructions for lanes take half the time to compile.
static inline void *compile_with(const char *group, const char *more)
{
    char command[600], path[200];
    snprintf(command, sizeof command,
             "cd '%s/%s' && " LW_C_COMPILER
             " -std=c17 -Wall -Wextra -Wpedantic -Wshadow -Werror -O0 -march=native"
             " -ffp-contract=off -fPIC -shared -o all.so */[!e]*.c %s -lm",
             folder, group, more);
    assert_int_equal(0, system(command));
    snprintf(path, sizeof path, "./%s/%s/all.so", folder, group);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    return library;
}

static inline void *compile(const char *group)
{
    return compile_with(group, "");
}

// ISO C has no conversion from object pointers to function pointers.
static inline void find(void *library, const char *name, const char *function, void *pointer)
{
    char symbol[128];
    snprintf(symbol, sizeof symbol, "%s_%s", name, function);
    void *found = dlsym(library, symbol);
    if (!found) fail_msg("%s is missing", symbol);
    memcpy(pointer, &found, sizeof found);
}

// Into `folder`/`group`.  false: refused, with a message.
static inline bool try_code(const lw_model *model, const char *group, const lw_codegen_desc *desc,
                            lw_error *error)
{
    char path[200];
    snprintf(path, sizeof path, "mkdir -p '%s/%s'", folder, group);
    assert_int_equal(0, system(path));
    snprintf(path, sizeof path, "%s/%s/%s", folder, group, desc->name);
    const lw_status status = lw_codegen_write(model, desc, path, NULL, error);
    if (status == LW_OK) return true;
    if (status != LW_ERR_UNSUPPORTED) fail_msg("%s: %s", desc->name, error->text);
    assert_non_null(strstr(error->text, "no code can be generated: "));
    return false;
}

static inline void write_code(const lw_model *model, const char *group, const lw_codegen_desc *desc)
{
    lw_error error = {0};
    if (!try_code(model, group, desc, &error)) fail_msg("%s: %s", desc->name, error.text);
}

static inline void write_lanes(const lw_model *model, const char *group, const char *name,
                               int lanes)
{
    const lw_codegen_desc desc = {.name = name, .lanes = lanes};
    write_code(model, group, &desc);
}

static inline void write_model(const lw_model *model, const char *group, const char *name)
{
    write_lanes(model, group, name, 0);
}

static inline lw_model *read_robot(const char *file, lw_base base)
{
    char path[500];
    lw_model *model;
    lw_error error = {0};
    const lw_read_desc desc = {.base = base};
    snprintf(path, sizeof path, LW_SOURCE_DIR "/examples/models/%s", file);
    if (lw_model_read(path, &desc, &model, NULL, &error) != LW_OK) fail_msg("%s", error.text);
    return model;
}

/** A model with its loops closed. */
static inline lw_model *read_model(const char *file, lw_base base)
{
    char path[500];
    lw_model *model, *assembled;
    lw_error error = {0};
    const lw_read_desc desc = {.base = base, .open = true};
    snprintf(path, sizeof path, LW_SOURCE_DIR "/%s", file);
    if (lw_model_read(path, &desc, &model, NULL, &error) != LW_OK) fail_msg("%s", error.text);
    if (lw_model_assemble(model, NULL, &assembled, NULL, &error) != LW_OK)
        fail_msg("%s: %s", file, error.text);
    lw_model_destroy(model);
    return assembled;
}

typedef struct source {
    const char *file, *name;
    lw_base base;
} source;

/** Reads models and compiles the code of all.  @param model  [n] out */
static inline void *compile_models(const char *group, int n, const source *from, lw_model **model)
{
    for (int i = 0; i < n; i++) {
        model[i] = read_model(from[i].file, from[i].base);
        write_model(model[i], group, from[i].name);
    }
    return compile(group);
}

// --------------------------------------------------------------------------------------- comparing

static inline double largest(const double *x, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

/** Fails unless all are within the tolerance, relative to one more than the largest expected. */
static inline void expect_close(const char *name, const char *what, const double *got,
                                const double *expected, int n, double tolerance)
{
    const double scale = 1 + largest(expected, n);
    for (int i = 0; i < n; i++)
        if (!(fabs(got[i] - expected[i]) <= tolerance * scale))
            fail_msg("%s: %s %d: %.17g, expected %.17g (%.3g off, largest %.3g)", name, what, i,
                     got[i], expected[i], got[i] - expected[i], scale - 1);
}

/** Lets each allocation fail in turn: LW_ERR_MEMORY, and nothing is left. */
static inline void fail_each_allocation(const lw_model *model, bool casadi)
{
    char path[200];
    snprintf(path, sizeof path, "%s/memory", folder);
    lw_status status = LW_ERR_MEMORY;
    int n = 0;
    for (; status != LW_OK; n++) {
        lwt_failing f = {.left = n};
        const lw_allocator allocator = lwt_failing_allocator(&f);
        const lw_codegen_desc desc = {.name = "m", .allocator = &allocator, .casadi = casadi};
        lw_error error = {0};
        status = lw_codegen_write(model, &desc, path, NULL, &error);
        if (status != LW_OK) assert_int_equal(LW_ERR_MEMORY, status);
        assert_int_equal(0, f.live);
    }
    assert_true(n > 10);
}

#endif
