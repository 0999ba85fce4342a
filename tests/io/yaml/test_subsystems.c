// test_subsystems.c -- models of several files as one file: what is written needs no other file, and parameters act in it as in
// the files.
#include <linkwork/linkwork.h>

#include "io/yaml/include_files.h"
#include "io/yaml/write.h"
#include "model/model.h"
#include "support/scratch.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *written(const lw_model *model, bool flat)
{
    char *text;
    size_t size;
    lw_error error = {0};
    FILE *file = open_memstream(&text, &size);
    const lw_status status = flat ? lwi_yaml_write(model, true, NULL, file, &error)
                                  : lw_model_write(model, NULL, file, &error);
    fclose(file);
    if (status != LW_OK) fail_msg("%s", error.text);
    return text;
}

// As numbers, all items of the model with another value of a parameter.
static char *remade(const lw_model *model, const char *set)
{
    lw_model *other;
    lw_error error = {0};
    if (lw_model_remake(model, &set, 1, NULL, &other, &error) != LW_OK)
        fail_msg("%s: %s", set, error.text);
    char *text = written(other, true);
    lw_model_destroy(other);
    return text;
}

// The written model needs no other file, and parameters act in it as in the files.
static void check_written(const lw_model *model, const char *const *sets, int n)
{
    const lw_read_desc alone = {.format = "yaml"};
    lw_error error = {0};
    lw_model *again;
    char *text = written(model, false), *before = written(model, true);
    if (lw_model_parse(text, strlen(text), "written", &alone, &again, NULL, &error) != LW_OK)
        fail_msg("%d: %s in\n%s", error.line, error.text, text);
    char *second = written(again, false), *after = written(again, true);
    assert_string_equal(text, second);
    assert_string_equal(before, after);
    for (int i = 0; i < n; i++) {
        char *a = remade(model, sets[i]), *b = remade(again, sets[i]);
        if (strcmp(a, before) == 0) fail_msg("%s changes nothing", sets[i]);
        assert_string_equal(a, b);
        free(a), free(b);
    }
    lw_model_destroy(again);
    free(text), free(before), free(second), free(after);
}

// Each parameter by itself, with a value so near that mechanisms close.
static void check_all_parameters(const lw_model *model)
{
    enum { MOST = 20, LENGTH = 64 };
    char set[MOST][LENGTH];
    const char *sets[MOST];
    const int n = lw_model_parameter_count(model);
    assert_in_range(n, 1, MOST);
    for (int i = 0; i < n; i++) {
        const lw_parameter_info p = lw_model_parameter_at(model, i);
        snprintf(set[i], sizeof set[i], "%s=%.17g", p.name, p.value * (1 + 1e-11) / p.unit_value);
        sets[i] = set[i];
    }
    check_written(model, sets, n);
}

static void examples_are_written_with_their_parameters(void **state)
{
    (void)state;
    glob_t files;
    int models = 0;
    assert_int_equal(glob(LW_SOURCE_DIR "/examples/*/*.yaml", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        lw_model *model;
        lw_error error = {0};
        if (lw_model_read(files.gl_pathv[i], NULL, &model, NULL, &error) != LW_OK)
            fail_msg("%s: %s", files.gl_pathv[i], error.text);
        if (model->desc.stated.files) {
            check_all_parameters(model);
            models++;
        }
        lw_model_destroy(model);
    }
    globfree(&files);
    assert_true(models >= 5);
}

// Files in files, under prefixes, placed, mirrored, two of the same name; parameters that reach all of them.
static void nested_files_are_written_with_their_parameters(void **state)
{
    (void)state;
    static const char *const sets[] = {"a=3", "k=50"};
    lwt_write_file("part.yaml", lwt_part);
    lwt_write_file(
        "inner.yaml",
        "linkwork: 1\n"
        "parameters: {b: 1 m, k: 40 N m/rad}\n"
        "include:\n"
        "  in: {file: part.yaml, mirror: y, prefix: in_, position: [0, 2*b, 1], parameters: "
        "{k: 2*k}}\n");
    lw_model *m = lwt_read_main("linkwork: 1\n"
                                "parameters: {a: 2 m, k: 45 N m/rad}\n"
                                "subsystems:\n"
                                "  part: {linkwork: 1, parameters: {l: 1 m}, bodies: {rod: {mass: "
                                "2, inertia: [1, 1, 1, 0, 0, 0], com: [l, 0, 0]}}}\n"
                                "include:\n"
                                "  one: {file: inner.yaml, orientation: [0.6, 0, 0.8, 0], "
                                "parameters: {b: a/3, k: k}}\n"
                                "  two: {subsystem: part, mirror: z, position: [a, 0, -a], "
                                "parameters: {l: a/2}}\n"
                                "  three: {file: part.yaml, ground: two.rod}\n");
    char *text = written(m, false);
    assert_non_null(strstr(text, "  one: {subsystem: inner, "));
    assert_non_null(strstr(text, "      in: {subsystem: part, mirror: y"));
    assert_non_null(strstr(text, "  two: {subsystem: part_2, mirror: z"));
    assert_non_null(strstr(text, "  three: {subsystem: part, ground: two.rod}\n"));
    free(text);
    check_written(m, sets, 2);
    lw_model_destroy(m);
}

// Where the model is no longer that of its files it is written as numbers: never as what it is not.
static void changed_models_are_written_as_numbers(void **state)
{
    (void)state;
    static const char main_file[] = "linkwork: 1\n"
                                    "parameters: {m: 2 kg}\n"
                                    "include: {one: {file: pendulum.yaml, parameters: {m: m}}}\n";
    lwt_write_file(
        "pendulum.yaml",
        "linkwork: 1\n"
        "parameters: {m: 1 kg}\n"
        "bodies: {bob: {mass: m, inertia: [1, 1, 1, 0, 0, 0], com: [0, 0, -1]}}\n"
        "joints: {hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, "
        "1, 0], limits: {q0: {lower: -1, upper: 1, stiffness: 0}}}}\n");
    const lw_read_desc desc = {.format = "yaml", .folder = "."},
                       soft = {.format = "yaml", .folder = ".", .limits.stiffness = 50};
    for (int i = 0; i < 2; i++) {
        lw_model *model;
        lw_error error = {0};
        if (lw_model_parse(main_file, strlen(main_file), "main.yaml", i ? &soft : &desc, &model,
                           NULL, &error) != LW_OK)
            fail_msg("%s", error.text);
        char *text = written(model, false);
        assert_int_equal(strstr(text, "subsystems:") != NULL, !i);
        assert_int_equal(strstr(text, "stiffness: 50") != NULL, i);
        free(text);
        lw_model_destroy(model);
    }
}

static void subsystems_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        int line;
    } cases[] = {
        {"include:\n  s: {subsystem: rod}\n",
         "include 's': there is no subsystem 'rod' in the section `subsystems`", 3},
        {"include:\n  s: {subsystem: a, file: rod.yaml}\n",
         "include 's': both 'file' and 'subsystem', expected one of them", 3},
        {"subsystems: {a: {bodies: {}}}\ninclude:\n  s: {subsystem: a}\n",
         "the key `linkwork: 1` is missing", 1},
        {"subsystems: {a: {linkwork: 1, bodies: {rod: {mas: 1}}}}\ninclude:\n  s: {subsystem: a}\n",
         "body 's.rod': unknown key 'mas', did you mean 'mass'?", 2},
        {"subsystems:\n  a:\n    linkwork: 1\n    include: {b: {subsystem: a}}\ninclude: {s: "
         "{subsystem: a}}\n",
         "'a' includes itself", 5},
        {"subsystems: [1]\ninclude:\n  s: {subsystem: a}\n", "there is no subsystem 'a'", 4},
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        char text[512];
        lw_model *model;
        lw_error error = {0};
        snprintf(text, sizeof text, "linkwork: 1\n%s", cases[i].text);
        assert_int_not_equal(lwt_parse_main(text, &model, &error), LW_OK);
        if (!strstr(error.text, cases[i].message) || error.line != cases[i].line ||
            strcmp(error.file, "main.yaml") != 0)
            fail_msg("%d: %s:%d: %s", i, error.file, error.line, error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_written_with_their_parameters),
        cmocka_unit_test(nested_files_are_written_with_their_parameters),
        cmocka_unit_test(changed_models_are_written_as_numbers),
        cmocka_unit_test(subsystems_are_checked),
    };
    return cmocka_run_group_tests(tests, lwt_scratch_enter, lwt_scratch_leave);
}
