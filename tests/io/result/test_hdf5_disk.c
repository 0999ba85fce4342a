// test_hdf5_disk.c -- HDF5 files that cannot be written, that another run writes, that are damaged, and that announce more
// than they have.
#include "base/file.h"
#include "io/result/hdf5_disk.h"
#include "support/given.h"

#include <linkwork/linkwork.h>

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char path[] = "test_hdf5_disk.h5";

static const char door[] =
    "linkwork: 1\n"
    "bodies: {door: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0]}}\n"
    "joints:\n"
    "  low: {type: revolute, between: [ground, door], at: [0, 0, 0], axis: [0, 1, 0]}\n";

static lw_status write_row(void *user, const lw_observation *o)
{
    return lw_writer_row(user, o);
}

// Status and message of a whole run into the file.
static lw_status write_run(const char *sample, lw_error *error)
{
    lw_model *model = lwt_yaml(door);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "1", "sample", sample));
    const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_REACTION, .flush = 1e-9};
    lw_writer *writer;
    lw_status status = lw_writer_create(path, &desc, &writer, error);
    if (status == LW_OK) {
        lw_sim_run(sim, LW_OBSERVE_REACTION, write_row, writer, NULL, NULL);
        status = lw_writer_close(writer, error);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return status;
}

static void write_whole(const char *sample)
{
    lw_error error;
    if (write_run(sample, &error) != LW_OK) fail_msg("%s", error.text);
}

static long rows_in_file(void)
{
    lw_result *r;
    if (lw_result_open(path, &r, NULL) != LW_OK) return -1;
    const long rows = lw_result_row_count(r);
    lw_result_close(r);
    return rows;
}

static long size_of_file(void)
{
    struct stat about;
    return stat(path, &about) ? 0 : (long)about.st_size;
}

// ------------------------------------------------------------------------------------------ writing

// Every size up to that of the whole file: an error with the reason, and the rows before it.
static void any_room_gives_rows_or_the_reason(void **state)
{
    (void)state;
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(0, getrlimit(RLIMIT_FSIZE, &before));
    write_whole("0.1");
    const long whole = size_of_file(), rows = rows_in_file();
    long best = 0, closed = 0;
    assert_int_equal(11, rows);
    for (long room = 0; room <= whole; room += room < whole - 2048 ? 509 : 64) {
        lw_error error = {0};
        limit = before, limit.rlim_cur = (rlim_t)room;
        assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &limit));
        const lw_status status = write_run("0.1", &error);
        assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &before));
        if (status == LW_OK) {
            assert_int_equal(rows, rows_in_file());
            continue;
        }
        assert_int_equal(LW_ERR_IO, status);
        assert_string_equal(path, error.file);
        assert_non_null(strstr(error.text, ": File too large"));
        const long left = rows_in_file();
        assert_true(left >= best || left == -1); // more room, no fewer rows
        if (left > best) best = left;
        lw_result *r;
        if (lw_result_open(path, &r, NULL) != LW_OK) continue;
        closed += lw_result_closed(r);
        assert_true(!lw_result_closed(r) || (left == rows && !lw_result_summary(r)));
        lw_result_close(r);
    }
    assert_int_equal(rows, best);
    assert_true(closed > 0); // no room for the summary alone: all rows are there
}

// The run that opened it first keeps it.
static void an_open_file_is_not_written_by_another(void **state)
{
    (void)state;
    static const char *const paths[] = {path, "test_hdf5_disk.csv"};
    lw_model *model = lwt_yaml(door);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "1", "sample", "0.1"));
    for (int i = 0; i < 2; i++) {
        const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_REACTION};
        lw_writer *first, *second;
        lw_error error;
        assert_int_equal(LW_OK, lw_writer_create(paths[i], &desc, &first, &error));
        assert_int_equal(LW_ERR_IO, lw_writer_create(paths[i], &desc, &second, &error));
        assert_string_equal(paths[i], error.file);
        assert_non_null(strstr(error.text, "is being written by another run"));
        assert_int_equal(LW_OK, lw_writer_close(first, &error));
        assert_int_equal(LW_OK, lw_writer_create(paths[i], &desc, &second, &error));
        assert_int_equal(LW_OK, lw_writer_close(second, &error));
    }
    remove(paths[1]);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    static const char *const pipes[] = {"test_hdf5_disk_pipe.h5", "test_hdf5_disk_pipe.csv",
                                        "test_hdf5_disk_pipe.yaml"};
    for (int i = 0; i < 3; i++) {
        lw_result *r;
        lw_table *table;
        lw_model *model;
        lw_error error;
        remove(pipes[i]);
        assert_int_equal(0, mkfifo(pipes[i], 0600));
        assert_int_equal(LW_ERR_IO, i < 2 ? lw_result_open(pipes[i], &r, &error)
                                          : lw_model_read(pipes[i], NULL, &model, NULL, &error));
        assert_string_equal("cannot be read: not a regular file", error.text);
        assert_string_equal(pipes[i], error.file);
        assert_int_equal(LW_ERR_IO, lw_table_read(pipes[i], &table, &error));
        remove(pipes[i]);
    }
}

// ------------------------------------------------------------------------------------------ reading

typedef struct contents {
    long rows, numbers;
    double *value;
    char *strings;
} contents;

// All numbers and strings; false: refused.
static bool read_all(contents *c)
{
    lw_result *r;
    if (lw_result_open(path, &r, NULL) != LW_OK) return false;
    const int n = lw_result_column_count(r), nx = lw_result_state_size(r);
    bool good = true;
    *c = (contents){.rows = lw_result_row_count(r)};
    c->numbers = c->rows * (n + nx);
    c->value = calloc((size_t)c->numbers + 1, sizeof *c->value);
    for (int i = 0; i < n && good; i++)
        good = lw_result_read(r, i, 0, c->rows, c->value + i * c->rows, NULL) == LW_OK;
    for (long k = 0; k < c->rows && good; k++)
        good = lw_result_read_state(r, k, NULL, c->value + n * c->rows + k * nx, NULL) == LW_OK;
    const char *model = lw_result_model(r), *versions = lw_result_text(r, "versions");
    const size_t room = (model ? strlen(model) : 0) + (versions ? strlen(versions) : 0) + 2;
    c->strings = calloc(1, room);
    snprintf(c->strings, room, "%s%s", model ? model : "", versions ? versions : "");
    lw_result_close(r);
    if (good) return true;
    free(c->value);
    free(c->strings);
    return false;
}

static void flip(long at, int bit)
{
    const int file = open(path, O_RDWR);
    unsigned char byte;
    assert_int_equal(1, pread(file, &byte, 1, at));
    byte = (unsigned char)(byte ^ 1 << bit);
    assert_int_equal(1, pwrite(file, &byte, 1, at));
    close(file);
}

// One changed bit anywhere: the file is refused or gives what it had.  Each try in a process: the HDF5 library leaks.
static void a_changed_bit_never_gives_other_numbers(void **state)
{
    (void)state;
    contents whole, other;
    uint64_t random = 1;
    long refused = 0;
    write_whole("0.01");
    assert_true(read_all(&whole));
    const long size = size_of_file();
    enum { TRIES = 400 };
    for (int i = 0; i < TRIES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const long at = (long)(random >> 20) % size;
        flip(at, i % 8);
        const pid_t child = fork();
        if (child == 0) {
            if (!read_all(&other)) _exit(1);
            _exit(other.rows != whole.rows || other.numbers != whole.numbers ||
                          memcmp(other.value, whole.value,
                                 (size_t)whole.numbers * sizeof *whole.value) ||
                          strcmp(other.strings, whole.strings)
                      ? 2
                      : 0);
        }
        int status;
        assert_int_equal(child, waitpid(child, &status, 0));
        if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
            fail_msg("bit %d of byte %ld of %ld: %x", i % 8, at, size, status);
        refused += WEXITSTATUS(status);
        flip(at, i % 8);
    }
    assert_true(refused > TRIES / 4);
    free(whole.value);
    free(whole.strings);
}

// A long model lies outside the checksums of the file format.
static void a_changed_model_is_found(void **state)
{
    (void)state;
    char text[8192] = "linkwork: 1\nbodies:\n";
    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  body%d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}\n", i);
    lw_model *model = lwt_yaml(text);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0"));
    const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_POSE};
    lw_writer *writer;
    lw_result *r;
    lw_error error;
    assert_int_equal(LW_OK, lw_writer_create(path, &desc, &writer, &error));
    assert_int_equal(LW_OK, lw_writer_close(writer, &error));
    assert_int_equal(LW_OK, lw_result_open(path, &r, &error));
    lw_result_close(r);
    const long size = size_of_file();
    char *bytes = malloc((size_t)size);
    const int file = open(path, O_RDWR);
    assert_int_equal(size, pread(file, bytes, (size_t)size, 0));
    long at = 0;
    while (at < size - 7 && memcmp(bytes + at, "body37:", 7) != 0) at++;
    assert_true(at < size - 7);
    free(bytes);
    close(file);
    flip(at + 4, 0); // body27
    assert_int_equal(LW_ERR_PARSE, lw_result_open(path, &r, &error));
    assert_non_null(strstr(error.text, "is damaged: model and strings"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void extend(const char *name, hsize_t rows)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t size[2] = {0, 0};
    H5Sget_simple_extent_dims(space, size, NULL);
    size[0] = rows;
    assert_true(H5Dset_extent(set, size) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

// Rows that are announced and not stored would be read as fill values, for hours.
static void announced_rows_must_be_stored(void **state)
{
    (void)state;
    static const char *const sets[] = {"/time", "/table", "/state/x"};
    lw_result *r;
    lw_error error;
    double value, x[8];
    for (int i = 0; i < 3; i++) {
        write_whole("0.1");
        extend(sets[i], 70000000000);
        if (i == 0) {
            assert_int_equal(LW_ERR_PARSE, lw_result_open(path, &r, &error));
        } else {
            assert_int_equal(LW_OK, lw_result_open(path, &r, &error));
            assert_int_equal(LW_ERR_PARSE, i == 1 ? lw_result_read(r, 1, 0, 1, &value, &error)
                                                  : lw_result_read_state(r, 0, NULL, x, &error));
            lw_result_close(r);
        }
        assert_non_null(strstr(error.text, sets[i]));
    }
}

// Adds to a number of a dataset, so that its checksum is right.
static void add_to(const char *name, int rank, hsize_t row, hsize_t column, double change)
{
    const hsize_t at[2] = {row, column}, one[2] = {1, 1};
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), there = H5Dget_space(set);
    const hid_t here = H5Screate_simple(rank, one, NULL);
    double value;
    assert_true(H5Sselect_hyperslab(there, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, &value) >= 0);
    value += change;
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, &value) >= 0);
    H5Sclose(here);
    H5Sclose(there);
    H5Dclose(set);
    H5Fclose(file);
}

// A run resumes from a motion of its mechanism and a time that can be advanced, or not at all.
static void states_of_files_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *set, *reason;
        hsize_t row;
        double change;
        bool at_run;
    } tries[] = {
        {"/state/x", "the joints do not hold in this motion", 10, 0.05, false},
        {"/state/x", "of the state is nan", 10, NAN, false},
        {"/time", "number 10 of time is nan", 10, NAN, false},
        {"/time", "number 10 of time is inf", 10, INFINITY, false},
        {"/time", "duration: 1 s is below the resolution of time", 10, 1e300, true},
    };
    lw_model *model;
    lw_error error;
    assert_int_equal(LW_OK, lw_model_read(LW_SOURCE_DIR "/examples/models/four_bar.yaml", NULL,
                                          &model, NULL, &error));
    for (int i = 0; i < LWI_COUNT(tries); i++) {
        const char *const settings[] = {"duration",    "1",   "sample", "0.1",
                                        "formulation", "rcr", NULL};
        lw_sim *sim = lwt_simulate(model, settings);
        const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_REACTION};
        lw_writer *writer;
        lw_result *r;
        assert_int_equal(LW_OK, lw_writer_create(path, &desc, &writer, &error));
        assert_int_equal(LW_OK,
                         lw_sim_run(sim, LW_OBSERVE_REACTION, write_row, writer, NULL, NULL));
        assert_int_equal(LW_OK, lw_writer_close(writer, &error));
        lw_sim_destroy(sim);
        add_to(tries[i].set, strcmp(tries[i].set, "/time") ? 2 : 1, tries[i].row, 0,
               tries[i].change);
        sim = lwt_simulate(model, settings);
        assert_int_equal(LW_OK, lw_result_open(path, &r, &error));
        lw_status status = lw_result_restore(r, -1, sim, NULL, 0, &error);
        if (tries[i].at_run) {
            assert_int_equal(LW_OK, status);
            status = lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL);
            error = *lw_sim_error(sim);
        }
        assert_int_not_equal(LW_OK, status);
        if (!strstr(error.text, tries[i].reason)) fail_msg("%s", error.text);
        lw_result_close(r);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Columns of a plain table are datasets of its file, with as many numbers as are announced.
static void tables_hold_their_columns(void **state)
{
    (void)state;
    static const char *const other = "test_hdf5_disk_other.h5";
    for (int i = 0; i < 3; i++) {
        const hsize_t rows = i == 1 ? 100000000 : 4;
        const double values[4] = {1, 2, 3, 4};
        const hid_t file = H5Fcreate(i ? path : other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t space = H5Screate_simple(1, &rows, NULL);
        const hid_t set = H5Dcreate2(file, "gravity.x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT);
        if (i != 1)
            assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >=
                        0);
        H5Dclose(set);
        if (i == 2)
            assert_true(H5Lcreate_external(other, "gravity.x", file, "gravity.y", H5P_DEFAULT,
                                           H5P_DEFAULT) >= 0);
        H5Sclose(space);
        H5Fclose(file);
        lw_table *table;
        lw_error error;
        if (i == 0) { // the one that is linked is good
            assert_int_equal(LW_OK, lw_table_read(other, &table, &error));
            assert_int_equal(4, lw_table_rows(table));
            lw_table_free(table);
            continue;
        }
        assert_int_equal(LW_ERR_PARSE, lw_table_read(path, &table, &error));
        assert_non_null(strstr(error.text, i == 1 ? "'gravity.x' is not a dataset of this file"
                                                  : "'gravity.y' is not a dataset of this file"));
    }
    remove(other);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_room_gives_rows_or_the_reason),
        cmocka_unit_test(an_open_file_is_not_written_by_another),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(a_changed_bit_never_gives_other_numbers),
        cmocka_unit_test(a_changed_model_is_found),
        cmocka_unit_test(announced_rows_must_be_stored),
        cmocka_unit_test(states_of_files_are_checked),
        cmocka_unit_test(tables_hold_their_columns),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove(path);
    return failed;
}
