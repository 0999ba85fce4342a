// test_roundtrip.c -- a model written and read again is the same bit for bit, and written again gives
// the same file.
#include "io/same_model.h"
#include "io/yaml/write.h"
#include "support/random_model.h"
#include "support/rotors.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static lw_model *parse(const char *text, size_t length, lw_options *options)
{
    lw_model *model = NULL;
    lw_error error;
    const lw_read_desc desc = {.format = "yaml"};
    if (lw_model_parse(text, length, "written.yaml", &desc, &model, options, &error) != LW_OK)
        fail_msg("%s:%d:%d: %s\n%s", error.file, error.line, error.column, error.text, text);
    return model;
}

// Checks the round trip of one model.
static void check(const lw_model *model, const char *name)
{
    char why[160] = "";
    size_t length = 0, length2 = 0;
    lw_options options, options2;
    lw_options_default(&options);
    lw_options_default(&options2);
    options.duration = 1.0 / 3;
    assert_int_equal(LW_OK, lw_options_set(&options, "sample", "0.1", NULL));
    char *text = lwt_written(model, &options, &length);
    assert_non_null(text);
    lw_model *again = parse(text, length, &options2);
    if (!lwt_same_model(model, again, why)) fail_msg("%s: %s differs\n%s", name, why, text);
    assert_true(options.duration == options2.duration);
    assert_true(options.sample == options2.sample);
    char *text2 = lwt_written(again, &options2, &length2);
    assert_non_null(text2);
    assert_string_equal(text, text2);
    lw_model_destroy(again);
    free(text);
    free(text2);
}

static int has_ending(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

static int check_folder(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        lw_model *model;
        lw_error error;
        if (!has_ending(entry->d_name, ".yaml") && !has_ending(entry->d_name, ".urdf")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (lw_model_read(path, NULL, &model, NULL, &error) != LW_OK)
            fail_msg("%s:%d:%d: %s", error.file, error.line, error.column, error.text);
        check(model, path);
        lw_model_destroy(model);
        count++;
    }
    closedir(dir);
    return count;
}

static void files_round_trip(void **state)
{
    (void)state;
    assert_true(check_folder(LW_SOURCE_DIR "/tests/golden") > 0);
    assert_true(check_folder(LW_SOURCE_DIR "/examples/models") > 0);
}

// Every joint type, reversed joints, drives, mounts, forces, signals; frames with arbitrary
// bits.
static void random_models_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        lw_model *model;
        char name[32];
        snprintf(name, sizeof name, "seed %d", (int)seed);
        assert_int_equal(LW_OK, lwt_random_tree(seed, 1 + (int)(seed % 12),
                                                LWT_ALL & ~(unsigned)LWT_CUSTOM, &model));
        lw_model *rotors = lwt_with_rotors(model, seed);
        check(seed % 2 ? model : rotors, name);
        lw_model_destroy(rotors);
        lw_model_destroy(model);
    }
}

// ------------------------------------------------------------------------- built, not read

typedef struct built {
    lw_builder *builder;
    lw_body body;
} built;

static built start(void)
{
    built b;
    assert_int_equal(LW_OK, lw_builder_create(NULL, &b.builder));
    const lw_body_desc body = {.name = "a", .mass = 1, .inertia = {1, 1, 1, 0, 0, 0}};
    assert_int_equal(LW_OK, lw_builder_add_body(b.builder, &body, &b.body, NULL));
    return b;
}

static lw_model *finish(built b)
{
    lw_model *model;
    lw_error error;
    if (lw_model_create(b.builder, &model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(b.builder);
    return model;
}

// Names that YAML would interpret as another type, or that need quotes.
static void names_round_trip(void **state)
{
    (void)state;
    static const char *const names[] = {"1",
                                        "-1.5e3",
                                        "true",
                                        "Yes",
                                        "null",
                                        "~",
                                        "a b",
                                        " a",
                                        "a: b",
                                        "a #b",
                                        "[a]",
                                        "{a",
                                        "\"a\"",
                                        "it's",
                                        "back\\slash",
                                        "*a",
                                        "&a",
                                        "!a",
                                        "- a",
                                        "? a",
                                        "%a",
                                        "@a",
                                        "`a",
                                        "a,b",
                                        "0x10",
                                        ".5",
                                        "world",
                                        "<<",
                                        "=",
                                        "\xc3\xa4\xc3\xb6",
                                        "\xe2\x80\xa8line",
                                        ("\xef\xbb\xbf"
                                         "bom"),
                                        "\xf0\x9f\xa6\xbe",
                                        "link/arm.1-b"};
    built b = start();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const lw_body_desc body = {.name = names[i], .mass = 1, .inertia = {1, 1, 1, 0, 0, 0}};
        const lw_marker_desc marker = {.name = names[i], .body = b.body};
        const lw_function_desc function = {
            .name = names[i], .type = LW_FUNCTION_CONSTANT, .value = 3};
        lw_wrench_desc wrench = {.name = names[i], .body = b.body, .force = {1, 2, 3}};
        assert_int_equal(LW_OK, lw_builder_add_body(b.builder, &body, NULL, NULL));
        assert_int_equal(LW_OK, lw_builder_add_marker(b.builder, &marker, NULL));
        assert_int_equal(LW_OK, lw_builder_add_function(b.builder, &function, &wrench.scale, NULL));
        assert_int_equal(LW_OK, lw_builder_add_wrench(b.builder, &wrench, NULL));
    }
    lw_model *model = finish(b);
    check(model, "names");
    lw_model_destroy(model);
}

// Zeros of either sign, numbers at the ends of the range, 17 digits.
static void numbers_round_trip(void **state)
{
    (void)state;
    built b = start();
    const lw_shape shapes[] = {{.type = LW_SHAPE_SPHERE, .size = {0.1}},
                               {.type = LW_SHAPE_ELLIPSOID,
                                .size = {1.0 / 3, 2, 3},
                                .has_position = 1,
                                .position = {-0.0, 1, 2},
                                .orientation = {0.6, 0, 0.8, 0},
                                .has_color = 1,
                                .color = {0.1, 0.2, 1, 0.5}}};
    const lw_body_desc body = {.name = "b",
                               .mass = 0.1 + 0.2,
                               .inertia = {1, 0.1 + 0.2, 1, -0.0, 5e-324, -0.0},
                               .com = {-0.0, 1e-300, 5e-324},
                               .pose.position = {-0.0, 1.0 / 3, 1e22},
                               .has_velocity = 1,
                               .velocity = {-0.0, 0, 0},
                               .shapes = shapes,
                               .nshape = 2};
    const lw_wrench_desc wrench = {.name = "w", .body = b.body, .torque = {0, 0, -0.0}};
    assert_int_equal(LW_OK, lw_builder_add_body(b.builder, &body, NULL, NULL));
    assert_int_equal(LW_OK, lw_builder_add_wrench(b.builder, &wrench, NULL));
    lw_model *model = finish(b);
    check(model, "numbers");
    lw_model_destroy(model);
}

// A model of several files that is written as numbers, without its subsystems, is the same when it is read again.
static void check_numbers(const lw_model *model, const char *name)
{
    char why[160] = "", *text;
    size_t length = 0, length2 = 0;
    lw_options options;
    FILE *file = open_memstream(&text, &length);
    assert_int_equal(LW_OK, lwi_yaml_write(model, true, NULL, file, NULL));
    fclose(file);
    assert_null(strstr(text, "subsystems:"));
    lw_options_default(&options);
    lw_model *again = parse(text, length, &options);
    if (!lwt_same_model(model, again, why)) fail_msg("%s: %s differs\n%s", name, why, text);
    char *text2 = lwt_written(again, NULL, &length2);
    assert_string_equal(text, text2);
    lw_model_destroy(again);
    free(text);
    free(text2);
}

// Directions and attitudes that are made unit when a model is built: those of a model that was written are kept to the
// last bit.  A file with every kind of them is included with 60 attitudes, mirrored in half of them.
static void rotated_includes_round_trip(void **state)
{
    (void)state;
    const lw_read_desc desc = {.format = "yaml", .folder = LW_SOURCE_DIR "/tests/fuzz/corpus"};
    for (int i = 0; i < 60; i++) {
        char text[400];
        const double a = 0.37 * i, b = 0.2 + 0.61 * i, c = sin(a), s = cos(a);
        snprintf(text, sizeof text,
                 "linkwork: 1\ninclude: {x: {file: part.yaml, position: [%.3f, 0, 1], "
                 "orientation: [%.17g, %.17g, %.17g, %.17g]%s}}\n",
                 a, c * cos(b), c * sin(b), s * cos(2 * b), s * sin(2 * b),
                 i % 2 ? ", mirror: y" : "");
        lw_model *model = NULL;
        lw_error error;
        if (lw_model_parse(text, strlen(text), "outer.yaml", &desc, &model, NULL, &error) != LW_OK)
            fail_msg("%s:%d: %s\n%s", error.file, error.line, error.text, text);
        check(model, text);
        check_numbers(model, text);
        lw_model_destroy(model);
    }
}

// Functions without a name: used once, used twice, zero, deeply nested, and with a generated name that
// exists already.
static void functions_round_trip(void **state)
{
    (void)state;
    built b = start();
    lw_signal f, last;
    const lw_function_desc taken = {.name = "function1", .type = LW_FUNCTION_CONSTANT, .value = 1};
    const lw_function_desc zero = {.type = LW_FUNCTION_CONSTANT};
    assert_int_equal(LW_OK, lw_builder_add_function(b.builder, &taken, &f, NULL));
    assert_int_equal(LW_OK, lw_builder_add_function(b.builder, &zero, &f, NULL));
    const lw_spring_desc springs[] = {
        {.name = "s1", .body1 = b.body, .force = f},
        {.name = "s2", .body1 = b.body, .force = f, .point1 = {1, 0, 0}}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(LW_OK, lw_builder_add_spring(b.builder, &springs[i], NULL));
    assert_int_equal(LW_OK, lw_builder_add_function(b.builder, &zero, &f, NULL));
    const lw_spring_desc once = {.name = "s3", .body1 = b.body, .force = f, .point1 = {1, 2, 0}};
    assert_int_equal(LW_OK, lw_builder_add_spring(b.builder, &once, NULL));
    last = f;
    for (int i = 0; i < 40; i++) {
        const lw_signal terms[] = {last};
        const lw_function_desc sum = {.type = LW_FUNCTION_SUM, .terms = terms, .nterm = 1};
        assert_int_equal(LW_OK, lw_builder_add_function(b.builder, &sum, &last, NULL));
    }
    const lw_wrench_desc wrench = {.name = "w", .body = b.body, .scale = last};
    assert_int_equal(LW_OK, lw_builder_add_wrench(b.builder, &wrench, NULL));
    lw_model *model = finish(b);
    check(model, "functions");
    lw_model_destroy(model);
}

// Strings that YAML would interpret as another type, and the characters of joint names.
static void formulas_round_trip(void **state)
{
    (void)state;
    static const char *const strings[] = {
        "2", "-t", "e", "'it''s: #1'.q0", "2*sin(\n  3*t)\t", "(t > 1)*\n'\"\\\xc3\xa4'.qd0"};
    built b = start();
    for (int i = 0; i < (int)(sizeof strings / sizeof *strings); i++) {
        lw_wrench_desc wrench = {.body = b.body, .force = {1, 0, 0}};
        const lw_function_desc function = {.type = LW_FUNCTION_FORMULA, .formula = strings[i]};
        assert_int_equal(LW_OK, lw_builder_add_function(b.builder, &function, &wrench.scale, NULL));
        assert_int_equal(LW_OK, lw_builder_add_wrench(b.builder, &wrench, NULL));
    }
    const lw_joint_desc joints[] = {
        {.name = "it's: #1", .type = LW_JOINT_REVOLUTE, .body2 = b.body},
        {.name = "\"\\\xc3\xa4", .type = LW_JOINT_REVOLUTE, .body2 = b.body, .cut = LW_CUT_PREFER}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(LW_OK, lw_builder_add_joint(b.builder, &joints[i], NULL, NULL));
    lw_model *model = finish(b);
    check(model, "formulas");
    lw_model_destroy(model);
}

static void pose(const void *user, const double *q, double R[9], double r[3])
{
    (void)user;
    for (int i = 0; i < 9; i++) R[i] = i % 4 == 0;
    r[0] = q[0], r[1] = r[2] = 0;
}
static void subspace(const void *user, const double *q, double S[][6])
{
    (void)user, (void)q;
    memset(S[0], 0, sizeof S[0]);
    S[0][0] = 1;
}
static void subspace_rate(const void *user, const double *q, const double *u, double Sdot[][6])
{
    (void)user, (void)q, (void)u;
    memset(Sdot[0], 0, sizeof Sdot[0]);
}
static void read_back(const void *user, const double R[9], const double r[3], const double *near,
                      double *q)
{
    (void)user, (void)R, (void)near;
    q[0] = r[0];
}

static void models_that_the_file_cannot_express_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"a\nb", "\xff", "a\x7f"};
    lw_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        built b = start();
        const lw_marker_desc marker = {.name = bad[i], .body = b.body};
        assert_int_equal(LW_OK, lw_builder_add_marker(b.builder, &marker, NULL));
        lw_model *model = finish(b);
        FILE *null = fopen("/dev/null", "w");
        assert_int_equal(LW_ERR_UNSUPPORTED, lw_model_write(model, NULL, null, &error));
        assert_non_null(strstr(error.text, "cannot be written: its name"));
        fclose(null);
        lw_model_destroy(model);
    }
    built b = start();
    const lw_custom_joint custom = {.name = "rail",
                                    .nq = 1,
                                    .nv = 1,
                                    .pose = pose,
                                    .subspace = subspace,
                                    .subspace_rate = subspace_rate,
                                    .read = read_back};
    const lw_joint_desc joint = {
        .name = "j", .type = LW_JOINT_CUSTOM, .body2 = b.body, .custom = &custom};
    assert_int_equal(LW_OK, lw_builder_add_joint(b.builder, &joint, NULL, &error));
    lw_model *model = finish(b);
    FILE *null = fopen("/dev/null", "w");
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_model_write(model, NULL, null, &error));
    assert_non_null(strstr(error.text, "joint 'j'"));
    fclose(null);
    lw_model_destroy(model);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    lw_error error;
    FILE *full = fopen("/dev/full", "w");
    if (!full) {
        print_message("skipped: no /dev/full here\n");
        skip();
    }
    lw_model *model = finish(start());
    assert_int_equal(LW_ERR_IO, lw_model_write(model, NULL, full, &error));
    assert_non_null(strstr(error.text, "cannot be written"));
    fclose(full);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_round_trip),
        cmocka_unit_test(random_models_round_trip),
        cmocka_unit_test(names_round_trip),
        cmocka_unit_test(numbers_round_trip),
        cmocka_unit_test(rotated_includes_round_trip),
        cmocka_unit_test(functions_round_trip),
        cmocka_unit_test(formulas_round_trip),
        cmocka_unit_test(models_that_the_file_cannot_express_are_refused),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
