// test_result.c -- the interface to results: columns, numbers, conversion, resuming.
#include "base/base.h"
#include "support/given.h"

#include <linkwork/linkwork.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

// ---------------------------------------------------------------------------------------- support

static lw_model *read_file(const char *name, lw_options *options)
{
    char path[512];
    lw_model *model;
    lw_error error;
    lw_options_default(options);
    snprintf(path, sizeof path, "%s/%s", LW_SOURCE_DIR, name);
    if (lw_model_read(path, NULL, &model, options, &error) != LW_OK) fail_msg("%s", error.text);
    return model;
}

static lw_sim *simulate(const lw_model *model, const lw_options *options)
{
    lw_sim *sim;
    lw_error error;
    const lw_sim_desc desc = {.options = options};
    if (lw_sim_create(model, &desc, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    return sim;
}

static lw_result *open_result(const char *path)
{
    lw_result *r;
    lw_error error;
    if (lw_result_open(path, &r, &error) != LW_OK)
        fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.text);
    return r;
}

typedef struct writers {
    lw_writer *writer[3];
    int n;
} writers;

static lw_status write_row(void *user, const lw_observation *o)
{
    writers *w = user;
    for (int i = 0; i < w->n; i++) TRY(lw_writer_row(w->writer[i], o));
    return LW_OK;
}

// A run into up to two files, from the present state of `sim`.
static void run(lw_sim *sim, lw_result *after, const char *first, const char *second)
{
    const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_REACTION, .after = after};
    const char *const path[2] = {first, second};
    writers w = {.n = second ? 2 : 1};
    lw_error error;
    for (int i = 0; i < w.n; i++)
        if (lw_writer_create(path[i], &desc, &w.writer[i], &error) != LW_OK)
            fail_msg("%s", error.text);
    if (lw_sim_run(sim, LW_OBSERVE_REACTION, write_row, &w, NULL, NULL) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    for (int i = 0; i < w.n; i++)
        if (lw_writer_close(w.writer[i], &error) != LW_OK) fail_msg("%s", error.text);
}

static double *read_column(lw_result *r, int column, long first, long count)
{
    double *values = malloc((size_t)(count + 1) * sizeof *values);
    lw_error error;
    assert_non_null(values);
    if (lw_result_read(r, column, first, count, values, &error) != LW_OK)
        fail_msg("%s", error.text);
    return values;
}

// Compares every column by name, rows `from` on of `a` with all of `b`; the largest difference relative to
// its scale.
static double difference(lw_result *a, long from, lw_result *b)
{
    double largest = 0;
    const long n = lw_result_row_count(b);
    assert_int_equal(lw_result_column_count(a), lw_result_column_count(b));
    assert_int_equal(lw_result_row_count(a), from + n);
    for (int i = 0; i < lw_result_column_count(a); i++) {
        const char *name = lw_result_column(a, i).name;
        int k;
        assert_int_equal(LW_OK, lw_result_find_column(b, name, &k, NULL));
        double *x = read_column(a, i, from, n), *y = read_column(b, k, 0, n), scale = 1;
        for (long j = 0; j < n; j++) scale = fmax(scale, fabs(x[j]));
        for (long j = 0; j < n; j++) largest = fmax(largest, fabs(x[j] - y[j]) / scale);
        free(x);
        free(y);
    }
    return largest;
}

static void assert_same_file(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    assert_non_null(x);
    assert_non_null(y);
    for (long at = 0;; at++) {
        const int p = fgetc(x), q = fgetc(y);
        if (p != q) fail_msg("%s and %s differ at byte %ld", a, b, at);
        if (p == EOF) break;
    }
    fclose(x);
    fclose(y);
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// --------------------------------------------------------------------------------- both formats

static const char *const models[] = {
    "tests/golden/P8_mixed_joint_arm.yaml", "tests/golden/P9_floating_tree.yaml",
    "tests/golden/P10_spatial_slider_crank.yaml", "examples/models/crane.yaml"};

static void both_formats_hold_the_same_numbers(void **state)
{
    (void)state;
    for (int m = 0; m < LWI_COUNT(models); m++) {
        lw_options options;
        lw_model *model = read_file(models[m], &options);
        lwt_set(&options, "duration", "0.5");
        lwt_set(&options, "sample", "0.01");
        lw_sim *sim = simulate(model, &options);
        run(sim, NULL, "test_result.h5", "test_result.csv");
        lw_result *h5 = open_result("test_result.h5"), *csv = open_result("test_result.csv");
        assert_int_equal(51, lw_result_row_count(h5));
        assert_true(difference(h5, 0, csv) == 0);
        for (int i = 0; i < lw_result_column_count(h5); i++)
            assert_string_equal(lw_result_column(csv, i).name, lw_result_column(h5, i).name);
        assert_true(lw_result_closed(h5) && lw_result_closed(csv));
        lw_error error;
        if (lw_result_convert(h5, "test_result_2.csv", &error) != LW_OK) fail_msg("%s", error.text);
        assert_same_file("test_result.csv", "test_result_2.csv");
        lw_result_close(h5);
        // from CSV, which has names only, and back
        if (lw_result_convert(csv, "test_result.h5", &error) != LW_OK) fail_msg("%s", error.text);
        h5 = open_result("test_result.h5");
        if (lw_result_convert(h5, "test_result_2.csv", &error) != LW_OK) fail_msg("%s", error.text);
        assert_same_file("test_result.csv", "test_result_2.csv");
        lw_result_close(h5);
        lw_result_close(csv);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Warnings of a run are known after its last row, when the notice has long been in the file.
static void warnings_of_the_run_are_in_the_notice(void **state)
{
    (void)state;
    lw_options options;
    lw_model *model = read_file("examples/models/four_bar.yaml", &options);
    lwt_set(&options, "formulation", "index3");
    lwt_set(&options, "index3", "mode=real-time");
    lwt_set(&options, "duration", "2");
    lwt_set(&options, "step", "0.1");
    lwt_set(&options, "sample", "0.1");
    lw_sim *sim = simulate(model, &options);
    char before[1600];
    snprintf(before, sizeof before, "%s", lw_sim_notice(sim));
    run(sim, NULL, "test_result.h5", NULL);
    lw_result *r = open_result("test_result.h5"); // its strings match their check sum, or it fails
    assert_null(strstr(before, "did not converge"));
    assert_non_null(strstr(lw_result_text(r, "notice"), "did not converge"));
    assert_string_equal(lw_sim_notice(sim), lw_result_text(r, "notice"));
    lw_result_close(r);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void the_run_is_in_the_attributes(void **state)
{
    (void)state;
    lw_options options;
    lw_model *model = read_file(models[0], &options);
    lwt_set(&options, "duration", "0.1");
    lwt_set(&options, "rtol", "1e-7");
    lw_sim *sim = simulate(model, &options);
    run(sim, NULL, "test_result.h5", NULL);
    lw_result *r = open_result("test_result.h5");
    const lw_options *stored = lw_result_options(r);
    assert_non_null(stored);
    assert_memory_equal(lw_sim_options(sim), stored, sizeof *stored);
    assert_string_equal(lw_sim_notice(sim), lw_result_text(r, "notice"));
    assert_non_null(strstr(lw_result_text(r, "versions"), "linkwork "));
    assert_non_null(strstr(lw_result_text(r, "versions"), "HDF5 1."));
    assert_non_null(strstr(lw_result_text(r, "versions"), "SUNDIALS "));
    assert_null(lw_result_text(r, "nothing"));
    lw_summary cost;
    lw_sim_summary(sim, &cost);
    const lw_summary *reported = lw_result_summary(r);
    assert_non_null(reported);
    assert_true(reported->evaluations == cost.evaluations && reported->steps == cost.steps &&
                reported->wall == cost.wall);
    assert_true(reported->end == cost.end && cost.evaluations > 0 && cost.wall > 0);
    lw_model *again = lwt_yaml(lw_result_model(r));
    assert_int_equal(lw_model_body_count(model), lw_model_body_count(again));
    lw_model_destroy(again);

    // a copy is complete
    lw_error error;
    if (lw_result_convert(r, "test_result_2.h5", &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(LW_ERR_ARGUMENT, lw_result_convert(r, "test_result.h5", &error));
    assert_non_null(strstr(error.text, "is the input file"));
    lw_result *copy = open_result("test_result_2.h5");
    assert_true(difference(r, 0, copy) == 0);
    assert_string_equal(lw_result_model(r), lw_result_model(copy));
    assert_memory_equal(stored, lw_result_options(copy), sizeof *stored);
    assert_true(lw_result_summary(copy)->evaluations == cost.evaluations);
    const int nx = lw_result_state_size(copy);
    double x[64], y[64], t;
    assert_int_equal(lw_sim_state_size(sim), nx);
    lw_sim_get_state(sim, NULL, x);
    assert_int_equal(LW_OK, lw_result_read_state(copy, lw_result_row_count(copy) - 1, &t, y, NULL));
    assert_true(t == 0.1);
    assert_memory_equal(x, y, (size_t)nx * sizeof *x);
    lw_result_close(copy);
    lw_result_close(r);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void columns_have_unit_and_frame(void **state)
{
    (void)state;
    static const struct {
        const char *name, *unit, *frame;
    } cases[] = {{"time", "s", ""},
                 {"body.a.qw", "1", "world"},
                 {"body.a.wx", "rad/s", "body"},
                 {"body.a.az", "m/s^2", "world"},
                 {"joint.C.q0", "m", "joint"},
                 {"joint.C.qd1", "rad/s", "joint"},
                 {"joint.S.qz", "1", "F1"},
                 {"joint.S.aly", "rad/s^2", "F2"},
                 {"joint.F.x", "m", "F1"},
                 {"joint.F.vx", "m/s", "F2"},
                 {"joint.C.ty", "N m", "world"},
                 {"marker.tip.wz", "rad/s", "marker"},
                 {"sys.Wnc", "J", ""},
                 {"sys.lx", "kg m^2/s", "world"}};
    lw_model *model = lwt_yaml(
        "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]},\n"
        "  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}, c: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints:\n  C: {type: cylindrical, between: [ground, a], at: [0, 0, 0]}\n"
        "  S: {type: spherical, between: [a, b], at: [0, 0, 0]}\n"
        "  F: {type: free, between: [ground, c], at: [0, 0, 0]}\n"
        "markers: {tip: {body: b, position: [0, 0, 1]}}\n");
    lw_options options;
    lw_options_default(&options);
    lwt_set(&options, "duration", "0");
    lw_sim *sim = simulate(model, &options);
    run(sim, NULL, "test_result.h5", "test_result.csv");
    lw_result *r[2] = {open_result("test_result.h5"), open_result("test_result.csv")};
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < LWI_COUNT(cases); i++) {
            int k;
            lw_error error;
            if (lw_result_find_column(r[f], cases[i].name, &k, &error) != LW_OK)
                fail_msg("%s", error.text);
            const lw_column_info c = lw_result_column(r[f], k);
            assert_string_equal(cases[i].frame, c.frame);
            if (f == 0 || !strstr(cases[i].name, ".q")) assert_string_equal(cases[i].unit, c.unit);
        }
    int k;
    lw_error error;
    assert_int_equal(LW_ERR_ARGUMENT, lw_result_find_column(r[0], "joint.C.qq0", &k, &error));
    assert_non_null(strstr(error.text, "did you mean 'joint.C.q0'?"));
    double x;
    assert_int_equal(LW_ERR_ARGUMENT, lw_result_read(r[0], -1, 0, 1, &x, &error));
    assert_int_equal(LW_ERR_ARGUMENT, lw_result_read(r[0], 0, 1, 1, &x, &error));
    assert_int_equal(LW_ERR_ARGUMENT, lw_result_read(r[1], 0, 0, 2, &x, &error));
    assert_int_equal(LW_ERR_ARGUMENT, lw_result_read_state(r[1], 0, NULL, &x, &error));
    assert_string_equal("", lw_result_column(r[0], 100000).name);
    lw_result_close(r[0]);
    lw_result_close(r[1]);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------ CSV of
// others

static void columns_of_any_name_are_kept(void **state)
{
    (void)state;
    // known columns in another order, incomplete, and unknown ones
    static const char text[] =
        "time,body.a.z,body.a.x,body.a.y,body.b.x,\"s,1\",sys.E,joint.J.q1,"
        "joint.J.q0,joint.K.q1,a/b,body..x,joint.L.qw,joint.L.q0,\"say \"\"x\"\"\"\n"
        "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\n"
        "0.5,-1,-2,-3,-4,-5,1e-300,0.1,-8,-9,-10,-11,-12,-13,-14.25\n";
    put_text("test_result.csv", text);
    lw_result *csv = open_result("test_result.csv");
    lw_error error;
    assert_int_equal(15, lw_result_column_count(csv));
    assert_string_equal("s,1", lw_result_column(csv, 5).name);
    assert_string_equal("say \"x\"", lw_result_column(csv, 14).name);
    if (lw_result_convert(csv, "test_result.h5", &error) != LW_OK) fail_msg("%s", error.text);
    lw_result *h5 = open_result("test_result.h5");
    assert_true(difference(csv, 0, h5) == 0);
    assert_null(lw_result_model(h5));
    assert_null(lw_result_options(h5));
    assert_int_equal(0, lw_result_state_size(h5));
    lw_result_close(h5);
    lw_result_close(csv);
}

static void assert_refused(const char *text, int line, int column, const char *why)
{
    lw_result *r;
    lw_error error;
    put_text("test_result.csv", text);
    assert_int_equal(LW_ERR_PARSE, lw_result_open("test_result.csv", &r, &error));
    assert_string_equal("test_result.csv", error.file);
    if (!strstr(error.text, why)) fail_msg("%s", error.text);
    assert_int_equal(line, error.line);
    assert_int_equal(column, error.column);
}

static void bad_csv_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_refused("", 1, 1, "header is missing");
    assert_refused("\n", 1, 1, "header is missing");
    assert_refused("x,time\n1,2\n", 1, 1, "expected 'time'");
    assert_refused("time,a,,b\n", 1, 8, "no name");
    assert_refused("time,a,b,a\n", 1, 1, "two columns have the name 'a'");
    assert_refused("time,\"a\n1,2\n", 1, 6, "closing quote is missing");
    assert_refused("time,\"a\"b\n1,2\n", 1, 9, "expected a comma");
    assert_refused("time,a\n1,2\n2,x\n", 3, 3, "'x' in column 'a' is not a finite number");
    assert_refused("time,a\n1,\n", 2, 3, "is not a finite number");
    assert_refused("time,a\n1,nan\n", 2, 3, "'nan'");
    assert_refused("time,a\n1,1e999\n", 2, 3, "'1e999'");
    assert_refused("time,a\n1\n", 2, 2, "has 1 fields, the header 2");
    assert_refused("time,a\n1,2,3\n", 2, 4, "more fields than the header");
    assert_refused("time,a\n\n1,2\n", 2, 1, "is not a finite number");
}

static void an_incomplete_row_is_ignored(void **state)
{
    (void)state;
    put_text("test_result.csv", "time,a\r\n0,1\r\n1,2\r\n2,3");
    lw_result *r = open_result("test_result.csv");
    assert_int_equal(2, lw_result_row_count(r));
    assert_int_equal(0, lw_result_closed(r));
    lw_result_close(r);
    put_text("test_result.csv", "time,a\n");
    r = open_result("test_result.csv");
    assert_int_equal(0, lw_result_row_count(r));
    assert_int_equal(1, lw_result_closed(r));
    lw_result_close(r);
}

// ---------------------------------------------------------------------------------------- resuming

// A run over two seconds, and the same in two halves.
static double two_halves(const char *file, const char *formulation, const char *integrator,
                         const char *sample, lw_result **whole, lw_result **second)
{
    lw_options options;
    char how[512];
    lw_error error;
    lw_model *model = read_file(file, &options);
    lwt_set(&options, "formulation", formulation);
    lwt_set(&options, "integrator", integrator);
    if (!strcmp(integrator, "rk4"))
        lwt_set(&options, "step", "0.003"); // does not divide the sample
    lwt_set(&options, "sample", sample);
    lwt_set(&options, "duration", "2");
    lw_sim *sim = simulate(model, &options);
    run(sim, NULL, "test_result.h5", NULL);
    lw_sim_destroy(sim);

    lwt_set(&options, "duration", "1");
    sim = simulate(model, &options);
    run(sim, NULL, "test_result_1.h5", NULL);
    lw_sim_destroy(sim);

    sim = simulate(model, &options);
    lw_result *first = open_result("test_result_1.h5");
    if (lw_result_restore(first, -1, sim, how, sizeof how, &error) != LW_OK)
        fail_msg("%s", error.text);
    assert_non_null(strstr(how, "bit for bit"));
    assert_true(lw_sim_time(sim) == 1);
    run(sim, first, "test_result_2.h5", NULL);
    lw_result_close(first);
    lw_sim_destroy(sim);
    lw_model_destroy(model);

    *whole = open_result("test_result.h5");
    *second = open_result("test_result_2.h5");
    return difference(*whole, lw_result_row_count(*whole) - lw_result_row_count(*second), *second);
}

static void assert_same_states(lw_result *whole, lw_result *second)
{
    const int nx = lw_result_state_size(whole);
    const long n = lw_result_row_count(second), from = lw_result_row_count(whole) - n;
    double *x = calloc(2 * (size_t)nx + 1, sizeof *x);
    assert_true(nx > 0);
    for (long k = 0; k < n; k++) {
        assert_int_equal(LW_OK, lw_result_read_state(whole, from + k, NULL, x, NULL));
        assert_int_equal(LW_OK, lw_result_read_state(second, k, NULL, x + nx, NULL));
        assert_memory_equal(x, x + nx, (size_t)nx * sizeof *x);
    }
    free(x);
}

static void a_fixed_step_run_resumes_bit_for_bit(void **state)
{
    (void)state;
    static const struct {
        const char *file, *formulation, *sample;
    } cases[] = {{"tests/golden/P8_mixed_joint_arm.yaml", "aba", "0.01"},
                 {"tests/golden/P8_mixed_joint_arm.yaml", "momenta", "0.1"},
                 {"tests/golden/P9_floating_tree.yaml", "momenta", "0.05"},
                 {"tests/golden/P10_spatial_slider_crank.yaml", "dense", "0.1"},
                 {"examples/models/cart_arm.yaml", "aba", "0.02"}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        lw_result *whole, *second;
        const double largest = two_halves(cases[i].file, cases[i].formulation, "rk4",
                                          cases[i].sample, &whole, &second);
        assert_same_states(whole, second);
        if (largest != 0) fail_msg("%s %s: %g", cases[i].file, cases[i].formulation, largest);
        lw_result_close(whole);
        lw_result_close(second);
    }
}

// The step control starts again, so that the two differ within the tolerance of 1e-9.
static void an_adaptive_run_resumes_within_its_tolerance(void **state)
{
    (void)state;
    static const char *const integrators[] = {"dopri5", "adams"};
    for (int i = 0; i < LWI_COUNT(integrators); i++) {
        lw_result *whole, *second;
        const double largest = two_halves("tests/golden/P8_mixed_joint_arm.yaml", "momenta",
                                          integrators[i], "0.1", &whole, &second);
        if (!(largest < 1e-5)) fail_msg("%s: %g", integrators[i], largest);
        lw_result_close(whole);
        lw_result_close(second);
    }
}

// Errors have the reason: an empty file, a folder with the name of a result.
static void empty_files_and_folders_are_reported(void **state)
{
    (void)state;
    static const char *const paths[] = {"test_result_bad.csv", "test_result_bad.h5"};
    for (int i = 0; i < LWI_COUNT(paths); i++)
        for (int folder = 0; folder < 2; folder++) {
            lw_error error;
            lw_result *r;
            if (folder) {
                assert_int_equal(0, mkdir(paths[i], 0700));
            } else {
                FILE *file = fopen(paths[i], "wb");
                assert_non_null(file);
                fclose(file);
            }
            assert_int_equal(lw_result_open(paths[i], &r, &error),
                             folder ? LW_ERR_IO : LW_ERR_PARSE);
            if (!strstr(error.text, folder ? "cannot be read: Is a directory" : "is empty"))
                fail_msg("%s: '%s'", paths[i], error.text);
            assert_string_equal(error.file, paths[i]);
            assert_int_equal(0, remove(paths[i]));
        }
}

// Any formulation resumes from any other, and from CSV: the first row of the new run is the last of the
// old.
static void another_formulation_resumes_from_the_motion(void **state)
{
    (void)state;
    static const char *const names[] = {"aba", "momenta", "dense"};
    static const char *const files[] = {"tests/golden/P8_mixed_joint_arm.yaml",
                                        "tests/golden/P9_floating_tree.yaml",
                                        "examples/models/cart_arm.yaml"};
    for (int f = 0; f < LWI_COUNT(files); f++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                lw_options options;
                char how[512];
                lw_error error;
                lw_model *model = read_file(files[f], &options);
                lwt_set(&options, "duration", "0.4");
                lwt_set(&options, "sample", "0.2");
                lwt_set(&options, "formulation", names[a]);
                lw_sim *sim = simulate(model, &options);
                run(sim, NULL, "test_result.h5", "test_result.csv");
                lw_sim_destroy(sim);
                lw_result *r = open_result(a == b ? "test_result.csv" : "test_result.h5");

                lwt_set(&options, "formulation", names[b]);
                lwt_set(&options, "duration", "0");
                sim = simulate(model, &options);
                if (lw_result_restore(r, 2, sim, how, sizeof how, &error) != LW_OK)
                    fail_msg("%s", error.text);
                assert_non_null(strstr(how, ": motion"));
                run(sim, r, "test_result_2.h5", NULL);
                lw_result *second = open_result("test_result_2.h5");
                const double largest = difference(r, 2, second);
                if (!(largest < 1e-8))
                    fail_msg("%s: %s, %s: %g", files[f], names[a], names[b], largest);
                lw_result_close(second);
                lw_result_close(r);
                lw_sim_destroy(sim);
                lw_model_destroy(model);
            }
}

static const char swing[] =
    "linkwork: 1\n"
    "bodies: {rod: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, -1]}}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], "
    "axis: [0, 1, 0], q: [0.5]}\n";

// A model that differs takes the motion of what has the same names, from t = 0; the difference is reported.
static void another_model_takes_the_motion_by_names(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"mass: 1", "mass: 2", "bodies/rod/mass is 1 in the result, 2 in this model"},
        {"hinge", "pivot", "it has joints/hinge where this one has joints/pivot"},
        {"type: revolute", "type: screw, pitch: 0.1",
         "joints/hinge/type is revolute in the result, screw in this model"},
        {", q: [0.5]", "", "joints/hinge/q"},
        {"linkwork: 1\n", "linkwork: 1\ngravity: [0, 0, -1]\n", "gravity is [0, 0, -9.8"},
    };
    lw_options options;
    lw_options_default(&options);
    lwt_set(&options, "duration", "0");
    lw_model *model = lwt_yaml(swing);
    lw_sim *sim = simulate(model, &options);
    run(sim, NULL, "test_result.h5", "test_result.csv");
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    lw_result *h5 = open_result("test_result.h5"), *csv = open_result("test_result.csv");
    lw_error error;
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        char text[512], how[1024] = "";
        const char *at = strstr(swing, cases[i].from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - swing), swing, cases[i].to,
                 at + strlen(cases[i].from));
        model = lwt_yaml(text);
        sim = simulate(model, &options);
        if (lw_result_restore(h5, -1, sim, how, sizeof how, &error) != LW_OK)
            fail_msg("%d: %s", i, error.text);
        if (!strstr(how, cases[i].why) || !strstr(how, "starts at t = 0 with the motion of"))
            fail_msg("%s", how);
        if (i == 1) assert_non_null(strstr(how, "not in the result: pivot"));
        assert_true(lw_sim_time(sim) == 0);
        const lw_observation *now;
        assert_int_equal(lw_sim_observe(sim, LW_OBSERVE_TWIST, &now), LW_OK);
        assert_true(fabs(now->q[0] - 0.5) < 1e-9);
        if (i == 1) { // CSV has names only
            assert_int_equal(LW_ERR_ARGUMENT, lw_result_restore(csv, -1, sim, NULL, 0, &error));
            assert_non_null(strstr(error.text, "there is no column 'joint.pivot.q0'"));
        }
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
    model = lwt_yaml(swing);
    sim = simulate(model, &options);
    assert_int_equal(LW_ERR_ARGUMENT, lw_result_restore(h5, 1, sim, NULL, 0, &error));
    assert_non_null(strstr(error.text, "row 1: the result has 1"));
    lw_result_close(h5);
    lw_result_close(csv);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void a_motion_that_violates_joints_is_refused(void **state)
{
    (void)state;
    lw_options options;
    lw_options_default(&options);
    lw_model *model = lwt_yaml(swing);
    lw_sim *sim = simulate(model, &options);
    const lw_observation *o;
    assert_int_equal(LW_OK, lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
    double place[2][3] = {{0, 0, 0}, {0, 0, -1.5}}, turn[2][4] = {{1, 0, 0, 0}, {1, 0, 0, 0}};
    double none[2][3] = {{0}}, q = 0, v = 0;
    lw_observation motion = {.time = 3,
                             .level = LW_OBSERVE_TWIST,
                             .q = &q,
                             .qd = &v,
                             .position = (const double(*)[3])place,
                             .quaternion = (const double(*)[4])turn,
                             .velocity = (const double(*)[3])none,
                             .angular_velocity = (const double(*)[3])none};
    assert_int_equal(LW_ERR_ARGUMENT, lw_sim_set_motion(sim, &motion));
    assert_non_null(strstr(lw_sim_error(sim)->text, "largest residual of position is 0.5"));
    place[1][2] = -1;
    assert_int_equal(LW_OK, lw_sim_set_motion(sim, &motion));
    assert_true(lw_sim_time(sim) == 3);
    turn[1][0] = 0;
    assert_int_equal(LW_ERR_ARGUMENT, lw_sim_set_motion(sim, &motion));
    turn[1][0] = 1, q = NAN;
    assert_int_equal(LW_ERR_NOT_FINITE, lw_sim_set_motion(sim, &motion));
    motion.level = LW_OBSERVE_POSE;
    assert_int_equal(LW_ERR_ARGUMENT, lw_sim_set_motion(sim, &motion));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// A result in memory has the numbers, states and strings of the file of the same run; written, it is that
// file.  It outlives model and simulation.
static void results_in_memory_have_the_content_of_files(void **state)
{
    (void)state;
    for (int m = 0; m < LWI_COUNT(models); m++) {
        lw_options options;
        lw_model *model = read_file(models[m], &options);
        lwt_set(&options, "duration", "0.3"); // 301 rows: the memory grows
        lwt_set(&options, "sample", "0.001");
        lwt_set(&options, "rtol", "1e-6");
        lw_sim *sim = simulate(model, &options);
        const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_REACTION};
        writers w = {.n = 3};
        static const char *const path[3] = {NULL, "test_result.h5", "test_result.csv"};
        lw_error error;
        lw_result *kept;
        for (int i = 0; i < 3; i++)
            assert_int_equal(LW_OK, lw_writer_create(path[i], &desc, &w.writer[i], &error));
        assert_int_equal(LW_OK, lw_sim_run(sim, LW_OBSERVE_REACTION, write_row, &w, NULL, NULL));
        assert_int_equal(LW_ERR_ARGUMENT, lw_writer_finish(w.writer[1], &kept, &error));
        assert_int_equal(LW_OK, lw_writer_finish(w.writer[0], &kept, &error));
        for (int i = 1; i < 3; i++) assert_int_equal(LW_OK, lw_writer_close(w.writer[i], &error));
        lw_sim_destroy(sim);
        lw_model_destroy(model);

        lw_result *h5 = open_result("test_result.h5");
        assert_int_equal(301, lw_result_row_count(kept));
        assert_true(difference(kept, 0, h5) == 0);
        assert_null(lw_result_values(h5));
        assert_true(lw_result_values(kept)[lw_result_column_count(kept)] == 0.001);
        for (int i = 0; i < lw_result_column_count(kept); i++) {
            const lw_column_info a = lw_result_column(kept, i), b = lw_result_column(h5, i);
            assert_string_equal(a.name, b.name);
            assert_string_equal(a.unit, b.unit);
            assert_string_equal(a.frame, b.frame);
            assert_int_equal(a.undetermined, b.undetermined);
        }
        const int nx = lw_result_state_size(h5);
        double *x = calloc((size_t)nx, sizeof *x), *y = calloc((size_t)nx, sizeof *y), t;
        assert_int_equal(nx, lw_result_state_size(kept));
        assert_int_equal(LW_OK, lw_result_read_state(kept, 77, &t, x, &error));
        assert_int_equal(LW_OK, lw_result_read_state(h5, 77, &t, y, &error));
        assert_memory_equal(x, y, (size_t)nx * sizeof *x);
        assert_memory_equal(x, lw_result_states(kept) + 77 * nx, (size_t)nx * sizeof *x);
        assert_string_equal(lw_result_model(kept), lw_result_model(h5));
        assert_string_equal(lw_result_text(kept, "notice"), lw_result_text(h5, "notice"));
        assert_memory_equal(lw_result_options(kept), lw_result_options(h5), sizeof options);
        assert_true(lw_result_closed(kept));
        assert_int_equal(LW_OK, lw_result_convert(kept, "test_result_2.csv", &error));
        assert_same_file("test_result.csv", "test_result_2.csv");
        assert_int_equal(LW_OK, lw_result_convert(kept, "test_result_2.h5", &error));
        lw_result *again = open_result("test_result_2.h5");
        assert_true(difference(again, 0, h5) == 0);
        assert_int_equal(LW_OK, lw_result_read_state(again, 300, &t, y, &error));
        assert_memory_equal(lw_result_states(kept) + 300 * nx, y, (size_t)nx * sizeof *y);

        // a simulation resumes from it
        model = read_file(models[m], &options);
        sim = simulate(model, lw_result_options(kept));
        char how[256];
        if (lw_result_restore(kept, 77, sim, how, sizeof how, &error) != LW_OK)
            fail_msg("%s", error.text);
        lw_sim_get_state(sim, &t, y);
        assert_true(t == lw_result_values(kept)[77 * lw_result_column_count(kept)]);
        assert_memory_equal(x, y, (size_t)nx * sizeof *x);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
        lw_result_close(again);
        lw_result_close(h5);
        lw_result_close(kept);
        free(x);
        free(y);
    }
}

static int clean(void **state)
{
    (void)state;
    static const char *const files[] = {"test_result.h5", "test_result_1.h5", "test_result_2.h5",
                                        "test_result.csv", "test_result_2.csv"};
    for (int i = 0; i < LWI_COUNT(files); i++) remove(files[i]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_formats_hold_the_same_numbers),
        cmocka_unit_test(the_run_is_in_the_attributes),
        cmocka_unit_test(warnings_of_the_run_are_in_the_notice),
        cmocka_unit_test(columns_have_unit_and_frame),
        cmocka_unit_test(columns_of_any_name_are_kept),
        cmocka_unit_test(bad_csv_is_refused_with_its_place),
        cmocka_unit_test(an_incomplete_row_is_ignored),
        cmocka_unit_test(a_fixed_step_run_resumes_bit_for_bit),
        cmocka_unit_test(an_adaptive_run_resumes_within_its_tolerance),
        cmocka_unit_test(another_formulation_resumes_from_the_motion),
        cmocka_unit_test(empty_files_and_folders_are_reported),
        cmocka_unit_test(another_model_takes_the_motion_by_names),
        cmocka_unit_test(a_motion_that_violates_joints_is_refused),
        cmocka_unit_test(results_in_memory_have_the_content_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
