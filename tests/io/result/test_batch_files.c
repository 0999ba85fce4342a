// test_batch_files.c -- tables of parameters, and results of batches: rows, columns, refused input.
#include <linkwork/linkwork.h>

#include <hdf5.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void ok(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s: %s", lw_status_text(status), error ? error->text : "");
}

// ------------------------------------------------------------------------------------------ tables

static lw_status read_text(const char *text, lw_table **table, lw_error *error)
{
    FILE *file = fopen("batch_table.csv", "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return lw_table_read("batch_table.csv", table, error);
}

static void csv_tables_are_read(void **state)
{
    (void)state;
    lw_table *t;
    lw_error error;
    // columns of results are ignored; the last line needs no terminator
    ok(read_text("instance,joint.a.q0,time,\"body.x,y.mass\"\n0,1.5,9,-2e-3\n1,2,9,4", &t, &error),
       &error);
    assert_int_equal(lw_table_rows(t), 2);
    assert_int_equal(lw_table_columns(t), 2);
    assert_string_equal(lw_table_names(t)[0], "joint.a.q0");
    assert_string_equal(lw_table_names(t)[1], "body.x,y.mass");
    const double expected[4] = {1.5, -2e-3, 2, 4};
    assert_memory_equal(lw_table_values(t), expected, sizeof expected);
    lw_table_free(t);
    lw_table_free(NULL);
}

static void same_tables(const lw_table *a, const lw_table *b, bool units)
{
    assert_int_equal(lw_table_rows(a), lw_table_rows(b));
    assert_int_equal(lw_table_columns(a), lw_table_columns(b));
    for (int k = 0; k < lw_table_columns(a); k++) {
        assert_string_equal(lw_table_names(a)[k], lw_table_names(b)[k]);
        if (units) assert_string_equal(lw_table_unit(a, k), lw_table_unit(b, k));
        for (int i = 0; i < lw_table_rows(a); i++) {
            const int at = i * lw_table_columns(a) + k;
            const double x = lw_table_values(a)[at], y = lw_table_values(b)[at];
            assert_true(x == y || (isnan(x) && isnan(y)));
        }
    }
    for (int i = 0; i < lw_table_rows(a); i++)
        assert_string_equal(lw_table_string(a, i), lw_table_string(b, i));
}

// A sweep of which some fail, its table in memory, as CSV and as HDF5.
static void studies_are_written_and_read(void **state)
{
    (void)state;
    static const char model_text[] =
        "linkwork: 1\n"
        "parameters: {l: {value: 500, unit: mm}}\n"
        "bodies: {arm: {mass: 2, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [l, 0, 0]}}\n"
        "joints: {A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
        "measures: {swing: {of: A.q0, unit: deg}}\n";
    static const char *const names[] = {"l", "option.max_steps"};
    static const double values[4][2] = {{400, 0}, {500, 3}, {600, 0}, {700, 0}};
    lw_model *model;
    lw_error error = {0};
    lw_sweep *sweep;
    lw_study *study;
    lw_table *table, *read;
    const lw_read_desc native = {.format = "yaml"};
    ok(lw_model_parse(model_text, strlen(model_text), "m", &native, &model, NULL, &error), &error);
    lw_options o;
    lw_options_default(&o);
    o.duration = 0.5;
    const lw_batch_desc desc = {
        .options = &o, .instances = 4, .nvary = 2, .vary = names, .values = values[0]};
    ok(lw_sweep_create(model, &desc, &sweep, &error), &error);
    assert_int_equal(lw_study_create(sweep, "sys.Q", &study, &error), LW_ERR_ARGUMENT);
    ok(lw_study_create(sweep, NULL, &study, &error), &error);
    assert_int_equal(lw_study_columns(study), 1);
    assert_string_equal(lw_study_column(study, 0).name, "measure.swing");
    ok(lw_sweep_run(sweep, lw_study_row, study, NULL, NULL), lw_sweep_error(sweep));
    ok(lw_study_table(study, &table, &error), &error);
    assert_int_equal(lw_table_rows(table), 4);
    assert_int_equal(lw_table_columns(table), 1 + 2 + 9 + 4);
    assert_string_equal(lw_table_unit(table, 1), "mm");
    assert_string_equal(lw_table_names(table)[3], "measure.swing.min");
    assert_string_equal(lw_table_unit(table, 3), "deg");
    assert_string_equal(lw_table_unit(table, 10), "s");
    assert_string_equal(lw_table_unit(table, 11), "deg s");
    assert_string_equal(lw_table_string_name(table), "failure");
    for (int i = 0; i < 4; i++) {
        const double *row = lw_table_values(table) + 16 * i;
        const lw_statistics swing = lw_study_statistics(study, i, 0);
        assert_true(row[0] == i && row[1] == values[i][0] && row[4] == swing.max);
        assert_true(i == 1 ? row[12] < 0.5 : row[12] == 0.5);
        assert_true(row[11] == swing.integral);
        assert_int_equal(lw_table_string(table, i)[0] != 0, i == 1);
    }
    ok(lw_table_write(table, "study.csv", &error), &error);
    ok(lw_table_write(table, "study.h5", &error), &error);
    ok(lw_table_read_study("study.csv", &read, &error), &error);
    same_tables(table, read, false);
    lw_table_free(read);
    ok(lw_table_read_study("study.h5", &read, &error), &error);
    same_tables(table, read, true);
    lw_table_free(read);
    assert_int_equal(lw_table_write(table, "study.txt", &error), LW_ERR_ARGUMENT);
    assert_int_equal(lw_table_write(table, "nowhere/study.csv", &error), LW_ERR_IO);
    assert_int_equal(lw_table_write(table, "nowhere/study.h5", &error), LW_ERR_IO);
    lw_table_free(table);
    lw_study_destroy(study);
    lw_sweep_destroy(sweep);
    lw_model_destroy(model);
}

static void wrong_studies_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"a,failure\n1,\"x\n", "closing quote"},
        {"a,failure\n1,\"x\"y\n", "expected a comma"},
        {"a,failure\nb,\"x\"\n", "'b' in column 'a' is not a finite number"},
        {"a,failure\n1\n", "the row has 1 fields, the header 2"},
        {"a,failure\n1,x,2\n", "more fields"},
        {"a,failure\ninf,x\n", "not a finite number"},
    };
    lw_table *t = NULL;
    lw_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        FILE *file = fopen("batch_table.csv", "w");
        fputs(wrong[i].text, file);
        fclose(file);
        assert_int_equal(lw_table_read_study("batch_table.csv", &t, &error), LW_ERR_PARSE);
        assert_null(t);
        if (!strstr(error.text, wrong[i].part)) fail_msg("%s: %s", wrong[i].text, error.text);
    }
    FILE *file = fopen("batch_table.csv", "w");
    fputs("a,failure,b\n,no quotes,2\n3,\"with \"\"quotes\"\", and a comma\",\n", file);
    fclose(file);
    ok(lw_table_read_study("batch_table.csv", &t, &error), &error);
    assert_int_equal(lw_table_columns(t), 2);
    assert_true(isnan(lw_table_values(t)[0]) && lw_table_values(t)[1] == 2);
    assert_true(lw_table_values(t)[2] == 3 && isnan(lw_table_values(t)[3]));
    assert_string_equal(lw_table_string(t, 0), "no quotes");
    assert_string_equal(lw_table_string(t, 1), "with \"quotes\", and a comma");
    assert_string_equal(lw_table_string(t, 2), "");
    lw_table_free(t);
}

static void wrong_tables_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
        int line;
    } wrong[] = {
        {"", "header is missing", 1},
        {"a\n", "0 rows", 0},
        {"a,b\n1\n", "1 fields, the header 2", 2},
        {"a,b\n1,2\n1,x\n", "'x' in column 'b'", 3},
        {"a,b\n1,nan\n", "not a finite number", 2},
        {"a,b\n1, 1e-400\n", "too small", 2},
        {"a,a\n1,2\n", "two columns", 1},
        {"a,\n1,2\n", "no name", 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lw_table *t = NULL;
        lw_error error = {0};
        assert_int_equal(read_text(wrong[i].text, &t, &error), LW_ERR_PARSE);
        if (!strstr(error.text, wrong[i].part)) fail_msg("%s: %s", wrong[i].text, error.text);
        assert_int_equal(error.line, wrong[i].line);
        assert_null(t);
    }
    lw_table *t = NULL;
    lw_error error;
    assert_int_equal(lw_table_read("nowhere/table.csv", &t, &error), LW_ERR_IO);
    assert_int_equal(lw_table_read(NULL, &t, &error), LW_ERR_ARGUMENT);
}

static void put_set(hid_t file, const char *name, int rank, hsize_t rows, const double *values)
{
    const hsize_t size[2] = {rows, 1};
    const hid_t space = H5Screate_simple(rank, size, NULL);
    const hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void hdf5_tables_are_read(void **state)
{
    (void)state;
    static const double values[3] = {1, 2, 3}, broken[3] = {1, INFINITY, 3};
    static const struct {
        const char *name;
        int rank;
        hsize_t rows;
        const double *values;
        const char *part;
    } more[] = {{"gravity.z", 1, 3, values, NULL},
                {"gravity.z", 1, 2, values, "another length than the others"},
                {"gravity.z", 2, 3, values, "one-dimensional"},
                {"gravity.z", 1, 3, broken, "not finite"}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        const hid_t file = H5Fcreate("batch_table.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        put_set(file, "a.b", 1, 3, values);
        put_set(file, more[i].name, more[i].rank, more[i].rows, more[i].values);
        H5Fclose(file);
        lw_table *t = NULL;
        lw_error error = {0};
        const lw_status status = lw_table_read("batch_table.h5", &t, &error);
        if (more[i].part) {
            assert_int_equal(status, LW_ERR_PARSE);
            if (!strstr(error.text, more[i].part)) fail_msg("%s", error.text);
            continue;
        }
        ok(status, &error);
        assert_int_equal(lw_table_rows(t), 3);
        assert_int_equal(lw_table_columns(t), 2);
        assert_string_equal(lw_table_names(t)[0], "a.b");
        assert_true(lw_table_values(t)[3] == 2);
        lw_table_free(t);
    }
}

// ----------------------------------------------------------------------------------------- results

static const char swing[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  rod: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, -1]}\n"
    "functions:\n"
    "  push: {type: formula, of: \"0.01*sqrt(2 - hinge.q0)\"}\n"
    "joints:\n"
    "  hinge:\n"
    "    {type: revolute, between: [ground, rod], at: [0, 0, 0],\n"
    "     axis: [0, 1, 0], spring: {q0: {force: push}}}\n";

enum { N = 3, SINGLE = 1 };

static lw_batch *make_batch(lw_model **model)
{
    static const char *const names[] = {"joint.hinge.qd0", "gravity.z"};
    static const double values[N][2] = {{0.5, -9.81}, {1, -5}, {9, -9.81}}; // the last one fails
    lw_options o;
    lw_batch *batch;
    lw_error error = {0};
    const lw_read_desc read = {.format = "yaml"};
    ok(lw_model_parse(swing, strlen(swing), "swing", &read, model, NULL, &error), &error);
    lw_options_default(&o);
    o.duration = 0.5;
    o.sample = 0.1;
    const lw_batch_desc desc = {
        .options = &o, .instances = N, .nvary = 2, .vary = names, .values = values[0]};
    ok(lw_batch_create(*model, &desc, &batch, &error), &error);
    return batch;
}

static lw_status write_rows(void *user, lw_batch *batch, double time)
{
    (void)batch, (void)time;
    for (lw_batch_writer **w = user; *w; w++) {
        const lw_status status = lw_batch_writer_rows(*w);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

static int column_of(const lw_result *r, const char *name)
{
    int column = -1;
    lw_error error;
    ok(lw_result_find_column(r, name, &column, &error), &error);
    return column;
}

static void check_rows(const char *path)
{
    lw_result *r;
    lw_error error;
    ok(lw_result_open(path, &r, &error), &error);
    // 6 rows of two instances, 3 of the one that fails at 0.237 s
    assert_int_equal(lw_result_row_count(r), 2 * 6 + 3);
    assert_string_equal(lw_result_column(r, 0).name, "time");
    assert_string_equal(lw_result_column(r, 1).name, "instance");
    assert_string_equal(lw_result_column(r, 2).name, "vary.joint.hinge.qd0");
    assert_string_equal(lw_result_column(r, 3).name, "vary.gravity.z");
    double time[15], instance[15], speed[15], gravity[15], start[15];
    ok(lw_result_read(r, 0, 0, 15, time, &error), &error);
    ok(lw_result_read(r, 1, 0, 15, instance, &error), &error);
    ok(lw_result_read(r, 2, 0, 15, start, &error), &error);
    ok(lw_result_read(r, 3, 0, 15, gravity, &error), &error);
    ok(lw_result_read(r, column_of(r, "joint.hinge.qd0"), 0, 15, speed, &error), &error);
    for (int i = 0; i < 15; i++) {
        const int k = i < 9 ? i % 3 : (i - 9) % 2;
        assert_true(instance[i] == k);
        assert_true(gravity[i] == (k == 1 ? -5 : -9.81));
        assert_true(start[i] == (k == 0 ? 0.5 : k == 1 ? 1 : 9));
        if (i < 3) assert_true(time[i] == 0 && speed[i] == start[i]);
    }
    assert_true(time[14] == 0.5 && time[9] == 0.3);
    lw_result_close(r);
}

static void results_have_a_row_for_each_instance(void **state)
{
    (void)state;
    lw_model *model;
    lw_batch *batch = make_batch(&model);
    lw_batch_writer *w[3] = {NULL};
    lw_error error;
    ok(lw_batch_writer_create("batch_result.csv", batch, LW_OBSERVE_REACTION, &w[0], &error),
       &error);
    ok(lw_batch_writer_create("batch_result.h5", batch, LW_OBSERVE_REACTION, &w[1], &error),
       &error);
    assert_null(lw_batch_writer_last(w[0], 0));
    ok(lw_batch_run(batch, write_rows, w, NULL, NULL), lw_batch_error(batch));
    assert_int_equal(lw_batch_failed(batch), 1);
    const double *last = lw_batch_writer_last(w[1], SINGLE);
    assert_true(last[0] == 0.5 && last[1] == SINGLE && last[3] == -5);
    assert_string_equal(lw_batch_writer_column(w[1], 3).name, "vary.gravity.z");
    for (int i = 0; i < 2; i++) ok(lw_batch_writer_close(w[i], &error), &error);
    check_rows("batch_result.csv");
    check_rows("batch_result.h5");

    lw_batch_writer *none;
    assert_int_equal(lw_batch_writer_create("batch.txt", batch, LW_OBSERVE_POSE, &none, &error),
                     LW_ERR_ARGUMENT);
    assert_int_equal(lw_batch_writer_create("nowhere/b.csv", batch, LW_OBSERVE_POSE, &none, &error),
                     LW_ERR_IO);
    ok(lw_batch_writer_create(NULL, batch, LW_OBSERVE_POSE, &none, &error), &error); // no file
    ok(lw_batch_writer_rows(none), NULL);
    ok(lw_batch_writer_close(none, &error), &error);
    ok(lw_batch_writer_close(NULL, NULL), NULL);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

// Rows and states of an instance are those of a single run.
static lw_status keep(void *user, const lw_observation *o)
{
    double **at = user;
    *(*at)++ = o->time;
    *(*at)++ = o->q[0];
    *(*at)++ = o->kinetic;
    return LW_OK;
}

static lw_status compare(void *user, lw_batch *batch, double time)
{
    double **at = user;
    const lw_observation *o;
    ok(lw_batch_observe(batch, SINGLE, LW_OBSERVE_ENERGY, &o), lw_batch_error(batch));
    assert_true(time == (*at)[0] && o->time == (*at)[0] && o->q[0] == (*at)[1] &&
                o->kinetic == (*at)[2]);
    *at += 3;
    return LW_OK;
}

static void runs_are_those_of_a_simulation(void **state)
{
    (void)state;
    lw_model *model;
    lw_batch *batch = make_batch(&model);
    lw_sim *sim;
    const lw_sim_desc desc = {.options = lw_batch_options(batch)};
    ok(lw_sim_create(lw_batch_model(batch, SINGLE), &desc, &sim, NULL), NULL);
    const double q = 0, v = 1;
    double expected[3 * 6], *at = expected;
    ok(lw_sim_set_joints(sim, 0, &q, &v), lw_sim_error(sim));
    ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, keep, &at, NULL, NULL), lw_sim_error(sim));
    at = expected;
    ok(lw_batch_run(batch, compare, &at, NULL, NULL), lw_batch_error(batch));
    assert_ptr_equal(at, expected + 18);
    lw_sim_destroy(sim);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

static int stop(void *user, double time, double end)
{
    (void)user, (void)end;
    return time >= 0.2;
}

static void runs_can_be_stopped(void **state)
{
    (void)state;
    lw_model *model;
    lw_batch *batch = make_batch(&model);
    assert_int_equal(lw_batch_run(batch, NULL, NULL, stop, NULL), LW_ERR_INTERRUPTED);
    assert_true(lw_batch_time(batch, 0) == 0.2);
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_tables_are_read),
        cmocka_unit_test(wrong_tables_are_reported),
        cmocka_unit_test(hdf5_tables_are_read),
        cmocka_unit_test(studies_are_written_and_read),
        cmocka_unit_test(wrong_studies_are_reported),
        cmocka_unit_test(results_have_a_row_for_each_instance),
        cmocka_unit_test(runs_are_those_of_a_simulation),
        cmocka_unit_test(runs_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
