// test_hdf5.c -- HDF5 results: contents of the file by the HDF5 library; readers during
// writing; files that cannot be written or read.
#include "io/result/hdf5_file.h"
#include "support/given.h"

#include <linkwork/linkwork.h>

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "test_hdf5.h5";

#define UNIT "mass: 1, inertia: [1, 1, 1, 0, 0, 0]"
static const char names_model[] =
    "linkwork: 1\n"
    "bodies: {a/b: {" UNIT "}, 100%: {" UNIT "}, '.': {" UNIT "}, 'über c': {" UNIT "}}\n"
    "joints:\n"
    "  C/1: {type: cylindrical, between: [ground, a/b], at: [0, 0, 0]}\n"
    "  S: {type: spherical, between: [a/b, 100%], at: [0, 0, 1]}\n"
    "  F: {type: free, between: [ground, '.'], at: [0, 0, 0]}\n"
    "  W: {type: fixed, between: ['.', 'über c'], at: [0, 0, 0]}\n"
    "markers: {tip: {body: a/b, position: [0, 0, 1]}}\n";

static const char redundant_model[] = // two revolute joints on one axis
    "linkwork: 1\n"
    "bodies: {door: {" UNIT ", position: [1, 0, 0]}}\n"
    "joints:\n"
    "  low: {type: revolute, between: [ground, door], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  high: {type: revolute, between: [ground, door], at: [0, 0, 1], axis: [0, 0, 1]}\n";

static lw_writer *start(const lw_sim *sim, double flush)
{
    const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_REACTION, .flush = flush};
    lw_writer *writer;
    lw_error error;
    if (lw_writer_create(path, &desc, &writer, &error) != LW_OK) fail_msg("%s", error.text);
    return writer;
}

static lw_status write_row(void *user, const lw_observation *o)
{
    return lw_writer_row(user, o);
}

static void write_run(lw_sim *sim)
{
    lw_writer *writer = start(sim, 0);
    lw_error error;
    assert_int_equal(LW_OK, lw_sim_run(sim, LW_OBSERVE_REACTION, write_row, writer, NULL, NULL));
    if (lw_writer_close(writer, &error) != LW_OK) fail_msg("%s", error.text);
}

// --------------------------------------------------------------------------- with the library
// alone

static void assert_shape(hid_t file, const char *name, int rank, hsize_t rows, hsize_t width)
{
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0) fail_msg("%s is not there", name);
    const hid_t space = H5Dget_space(set), create = H5Dget_create_plist(set);
    hsize_t size[2] = {0, 0}, max[2] = {0, 0};
    assert_int_equal(rank, H5Sget_simple_extent_dims(space, size, max));
    assert_int_equal(rows, size[0]);
    assert_true(max[0] == H5S_UNLIMITED);
    assert_int_equal(H5D_CHUNKED, H5Pget_layout(create));
    if (rank == 2) assert_int_equal(width, size[1]);
    H5Pclose(create);
    H5Sclose(space);
    H5Dclose(set);
}

// An element of /columns, as any program can read it.
typedef struct element {
    char name[64], unit[16], frame[16], kind[16], item[16], quantity[32];
    int undetermined;
} element;

static element *elements_of(hid_t file, hsize_t *n)
{
    static const struct {
        const char *name;
        size_t at, size;
    } member[] = {
        {"name", offsetof(element, name), 64},   {"unit", offsetof(element, unit), 16},
        {"frame", offsetof(element, frame), 16}, {"kind", offsetof(element, kind), 16},
        {"item", offsetof(element, item), 16},   {"quantity", offsetof(element, quantity), 32}};
    const hid_t set = H5Dopen2(file, "/columns", H5P_DEFAULT), space = H5Dget_space(set);
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(element));
    for (int k = 0; k < LWI_COUNT(member); k++) {
        const hid_t text = H5Tcopy(H5T_C_S1);
        assert_true(H5Tset_size(text, member[k].size) >= 0 &&
                    H5Tset_cset(text, H5T_CSET_UTF8) >= 0);
        assert_true(H5Tinsert(type, member[k].name, member[k].at, text) >= 0);
        H5Tclose(text);
    }
    assert_true(H5Tinsert(type, "undetermined", offsetof(element, undetermined), H5T_NATIVE_INT) >=
                0);
    assert_int_equal(1, H5Sget_simple_extent_dims(space, n, NULL));
    element *e = calloc(*n, sizeof *e);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, e) >= 0);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    return e;
}

// The columns of a quantity: their number, and the first of them.
static int find_quantity(const element *e, hsize_t n, const char *kind, const char *item,
                         const char *quantity, int *first)
{
    int count = 0;
    for (int i = (int)n; i-- > 0;)
        if (!strcmp(e[i].kind, kind) && !strcmp(e[i].item, item) &&
            !strcmp(e[i].quantity, quantity))
            *first = i, count++;
    return count;
}

static void assert_quantity(const element *e, hsize_t n, int count, const char *kind,
                            const char *item, const char *quantity, const char *unit,
                            const char *frame)
{
    int first = -1;
    assert_int_equal(count, find_quantity(e, n, kind, item, quantity, &first));
    assert_string_equal(unit, e[first].unit);
    assert_string_equal(frame, e[first].frame);
}

static void assert_text(hid_t file, const char *object, const char *name, const char *expected)
{
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) fail_msg("%s has no attribute %s", object, name);
    const hid_t type = H5Aget_type(attribute);
    char *text = calloc(1, H5Tget_size(type) + 1);
    assert_true(H5Aread(attribute, type, text) >= 0);
    assert_string_equal(expected, text);
    free(text);
    H5Tclose(type);
    H5Aclose(attribute);
}

static int integer_of(hid_t file, const char *object, const char *name)
{
    int value = -1;
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) fail_msg("%s has no attribute %s", object, name);
    assert_true(H5Aread(attribute, H5T_NATIVE_INT, &value) >= 0);
    H5Aclose(attribute);
    return value;
}

static void tables_and_their_columns(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(names_model);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0.5", "sample", "0.1"));
    write_run(sim);
    lw_result *r;
    hsize_t n;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0); // closed: tools open it like any file
    element *e = elements_of(file, &n);
    H5Fclose(file);
    assert_int_equal(LW_OK, lw_result_open(path, &r, NULL));
    assert_int_equal(lw_result_column_count(r), n + 1);
    for (int i = 0; i < (int)n; i++)
        assert_string_equal(lw_result_column(r, i + 1).name, e[i].name);
    lw_result_close(r);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_shape(file, "/time", 1, 6, 0);
    assert_shape(file, "/table", 2, 6, n);
    assert_shape(file, "/state/x", 2, 6, (hsize_t)lw_sim_state_size(sim));
    static const char *const bodies[] = {"a/b", "100%", ".", "über c"};
    for (int b = 0; b < 4; b++) {
        assert_quantity(e, n, 3, "body", bodies[b], "position", "m", "world");
        assert_quantity(e, n, 4, "body", bodies[b], "quaternion", "1", "world");
        assert_quantity(e, n, 3, "body", bodies[b], "angular_velocity", "rad/s", "body");
        assert_quantity(e, n, 3, "body", bodies[b], "acceleration", "m/s^2", "world");
    }
    assert_quantity(e, n, 2, "joint", "C/1", "q", "m", "joint");
    assert_quantity(e, n, 2, "joint", "C/1", "qdd", "m/s^2", "joint");
    assert_quantity(e, n, 4, "joint", "S", "q", "1", "F1");
    assert_quantity(e, n, 3, "joint", "S", "qd", "rad/s", "F2");
    assert_quantity(e, n, 7, "joint", "F", "q", "m", "F1");
    assert_quantity(e, n, 6, "joint", "F", "qdd", "m/s^2", "F2");
    assert_quantity(e, n, 3, "joint", "W", "torque", "N m", "world");
    assert_quantity(e, n, 4, "marker", "tip", "quaternion", "1", "world");
    assert_quantity(e, n, 1, "sys", "", "kinetic", "J", "");
    assert_quantity(e, n, 3, "sys", "", "angular_momentum", "kg m^2/s", "world");
    assert_quantity(e, n, 3, "sys", "", "residual", "m or rad", "");
    int first = -1;
    assert_int_equal(0, find_quantity(e, n, "joint", "W", "q", &first));
    for (int i = 0; i < (int)n; i++) assert_int_equal(0, e[i].undetermined);

    assert_text(file, "/time", "unit", "s");
    assert_text(file, "/", "format", "linkwork-result");
    assert_int_equal(4, integer_of(file, "/", "format_version"));
    assert_text(file, "/", "settings.formulation", "aba");
    assert_text(file, "/", "settings.integrator", "dopri5");
    assert_text(file, "/", "settings.sample", "0.1");
    assert_text(file, "/", "notice", lw_sim_notice(sim));
    assert_text(file, "/", "warnings", "");
    assert_text(file, "/state", "formulation", "aba");
    assert_int_equal(lw_sim_state_size(sim), integer_of(file, "/state", "size"));
    H5Fclose(file);
    free(e);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The time to create a file grows with the number of its objects: that does not depend on the model.
static void objects_do_not_depend_on_the_model(void **state)
{
    (void)state;
    static const char *const models[] = {names_model, "linkwork: 1\ngenerate: {chain: {n: 200}}\n"};
    for (int i = 0; i < 2; i++) {
        lw_model *model = lwt_yaml(models[i]);
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0"));
        H5G_info_t info;
        write_run(sim);
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(H5Gget_info(file, &info) >= 0);
        assert_int_equal(4, info.nlinks); // time, table, columns, state
        assert_true(H5Gget_info_by_name(file, "/state", &info, H5P_DEFAULT) >= 0);
        assert_int_equal(1, info.nlinks);
        H5Fclose(file);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

static void reactions_that_are_not_unique_are_marked(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(redundant_model);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0"));
    write_run(sim);
    enum { ALL_BUT_TZ = 037 }; // along the axis of the hinges both carry nothing
    const lw_observation *o;
    assert_int_equal(LW_OK, lw_sim_observe(sim, LW_OBSERVE_REACTION, &o));
    for (int j = 0; j < 2; j++) assert_int_equal(ALL_BUT_TZ, o->reaction_undetermined[j]);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hsize_t n;
    element *e = elements_of(file, &n);
    for (int i = 0; i < (int)n; i++)
        assert_int_equal(
            !strcmp(e[i].quantity, "force") || !strcmp(e[i].quantity, "torque") ? ALL_BUT_TZ : 0,
            e[i].undetermined);
    free(e);
    H5Fclose(file);
    lw_result *r;
    int fx, q;
    assert_int_equal(LW_OK, lw_result_open(path, &r, NULL));
    assert_int_equal(LW_OK, lw_result_find_column(r, "joint.low.fx", &fx, NULL));
    assert_int_equal(LW_OK, lw_result_find_column(r, "joint.low.q0", &q, NULL));
    assert_int_equal(ALL_BUT_TZ, lw_result_column(r, fx).undetermined);
    assert_int_equal(0, lw_result_column(r, q).undetermined);
    lw_result_close(r);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The wall-clock time is the only content that differs between two runs.
static void stop_the_clock(void)
{
    const double nothing = 0;
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t wall = H5Aopen(file, "summary.wall", H5P_DEFAULT);
    assert_true(wall >= 0 && H5Awrite(wall, H5T_NATIVE_DOUBLE, &nothing) >= 0);
    H5Aclose(wall);
    H5Fclose(file);
}

// The same run gives the same file, byte for byte.
static void files_are_reproducible(void **state)
{
    (void)state;
    char *text[2];
    long size[2];
    lw_model *model = lwt_yaml(names_model);
    for (int i = 0; i < 2; i++) {
        // time stamps are in seconds: the second file is from another second
        if (i) nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0.5", "sample", "0.1"));
        write_run(sim);
        stop_the_clock();
        FILE *file = fopen(path, "rb");
        fseek(file, 0, SEEK_END);
        size[i] = ftell(file);
        rewind(file);
        text[i] = malloc((size_t)size[i]);
        assert_int_equal(size[i], fread(text[i], 1, (size_t)size[i], file));
        fclose(file);
        lw_sim_destroy(sim);
    }
    assert_int_equal(size[0], size[1]);
    for (long i = 0; i < size[0]; i++)
        if (text[0][i] != text[1][i]) fail_msg("byte %ld differs", i);
    free(text[0]);
    free(text[1]);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------ during writing

static long rows_now(void)
{
    lw_result *r;
    lw_error error;
    if (lw_result_open(path, &r, &error) != LW_OK) fail_msg("%s", error.text);
    const long rows = lw_result_row_count(r);
    assert_false(lw_result_closed(r));
    assert_null(lw_result_summary(r)); // the summary is written at the end
    double t = 0;
    assert_int_equal(LW_OK, lw_result_read(r, 0, rows - 1, 1, &t, NULL));
    assert_true(t == 0.1 * (double)(rows - 1));
    lw_result_close(r);
    return rows;
}

static void readers_get_what_is_flushed(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(names_model);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "1"));
    lw_writer *writer = start(sim, 1e-9); // each row
    const lw_observation *o;
    for (int k = 0; k < 5; k++) {
        assert_int_equal(LW_OK, lw_sim_step(sim, 0.1 * k));
        assert_int_equal(LW_OK, lw_sim_observe(sim, LW_OBSERVE_REACTION, &o));
        assert_int_equal(LW_OK, lw_writer_row(writer, o));
        assert_int_equal(k + 1, rows_now());
    }
    assert_int_equal(LW_OK, lw_writer_close(writer, NULL));

    lw_sim_destroy(sim);
    sim = lwt_simulate(model, LWT_SETTINGS("duration", "1"));
    writer = start(sim, 3600); // the first row and full blocks
    for (int k = 0; k < 200; k++) {
        assert_int_equal(LW_OK, lw_sim_step(sim, 0.1 * k));
        assert_int_equal(LW_OK, lw_sim_observe(sim, LW_OBSERVE_REACTION, &o));
        assert_int_equal(LW_OK, lw_writer_row(writer, o));
        assert_int_equal(LW_OK, lw_writer_poll(writer));
        // 1 s by 0.01 s: 101 rows are expected, one block
        if (k == 0 || k == 50 || k == 101 || k == 199)
            assert_int_equal(k < 101 ? 1 : 102, rows_now());
    }
    assert_int_equal(LW_OK, lw_writer_close(writer, NULL));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------------- in any order

// All numbers of a dataset, by the HDF5 library.
static double *numbers_of(hid_t file, const char *name, long count)
{
    double *value = calloc((size_t)count, sizeof *value);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0) fail_msg("%s is not there", name);
    const hid_t space = H5Dget_space(set);
    assert_int_equal(count, H5Sget_simple_extent_npoints(space));
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    return value;
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char block[4096];
    size_t n;
    assert_true(in && out);
    while ((n = fread(block, 1, sizeof block, in))) assert_int_equal(n, fwrite(block, 1, n, out));
    fclose(in);
    fclose(out);
}

enum { MIXED = 6, MIXED_ROWS = 700 }; // rows: two blocks and more

static double mixed_number(long row, int column)
{
    return column + 1e-3 * (double)row;
}

// Columns keep their order and names of which some are unknown; for readers in single-writer mode and of a
// closed file.
static void columns_lie_side_by_side(void **state)
{
    (void)state;
    static const char *const names[MIXED] = {"time",     "body.b.z", "sys.T",
                                             "body.b.x", "extra",    "body.b.y"};
    const lwi_result_meta meta = {0};
    lwi_result_columns columns;
    lwi_hdf5_writer *writer;
    assert_int_equal(LW_OK, lwi_result_columns_of_names(names, MIXED, &columns));
    assert_int_equal(LW_OK, lwi_hdf5_create(path, &columns, &meta, 0, 3600, &writer, NULL));
    for (long k = 0; k < MIXED_ROWS; k++) {
        double row[MIXED];
        for (int i = 0; i < MIXED; i++) row[i] = mixed_number(k, i);
        assert_int_equal(LW_OK, lwi_hdf5_row(writer, row, NULL, NULL));
    }
    for (int closed = 0; closed < 2; closed++) {
        const long rows = closed ? MIXED_ROWS : 2 * 256 + 1; // the first row, and two blocks
        if (closed) assert_int_equal(LW_OK, lwi_hdf5_close(writer, NULL));
        const unsigned mode = closed ? H5F_ACC_RDONLY : H5F_ACC_RDONLY | H5F_ACC_SWMR_READ;
        static const char *const copy = "test_hdf5_copy.h5"; // as left by a killed writer
        copy_file(path, copy);
        const hid_t file = H5Fopen(copy, mode, H5P_DEFAULT);
        assert_true(file >= 0);
        hsize_t n;
        element *e = elements_of(file, &n);
        assert_int_equal(MIXED - 1, n);
        for (int i = 1; i < MIXED; i++) assert_string_equal(names[i], e[i - 1].name);
        assert_quantity(e, n, 3, "body", "b", "position", "m", "world");
        assert_quantity(e, n, 1, "", "", "", "", ""); // extra
        double *table = numbers_of(file, "/table", rows * (MIXED - 1));
        for (long k = 0; k < rows; k++)
            for (int i = 1; i < MIXED; i++)
                assert_true(table[k * (MIXED - 1) + i - 1] == mixed_number(k, i));
        free(table);
        free(e);
        H5Fclose(file);
        remove(copy);
    }
    lwi_result_columns_free(&columns);
}

// A row of many columns lies in few chunks, and few rows of it take little space.
static void wide_tables_have_wide_chunks(void **state)
{
    (void)state;
    enum { COLUMNS = 300001 };
    static char name[COLUMNS][12];
    static const char *list[COLUMNS];
    static double row[COLUMNS];
    const lwi_result_meta meta = {0};
    lwi_result_columns columns;
    lwi_hdf5_writer *writer;
    lw_result *r;
    for (int i = 0; i < COLUMNS; i++) {
        snprintf(name[i], sizeof name[i], i ? "c%d" : "time", i);
        list[i] = name[i];
        row[i] = i;
    }
    assert_int_equal(LW_OK, lwi_result_columns_of_names(list, COLUMNS, &columns));
    assert_int_equal(LW_OK, lwi_hdf5_create(path, &columns, &meta, 0, 3600, &writer, NULL));
    assert_int_equal(LW_OK, lwi_hdf5_row(writer, row, NULL, NULL));
    assert_int_equal(LW_OK, lwi_hdf5_close(writer, NULL));
    lwi_result_columns_free(&columns);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/table", H5P_DEFAULT), create = H5Dget_create_plist(set);
    hsize_t chunk[2], bytes;
    assert_int_equal(2, H5Pget_chunk(create, 2, chunk));
    assert_true(chunk[0] * chunk[1] >= 8000 && COLUMNS / chunk[1] < 300);
    assert_true(H5Fget_filesize(file, &bytes) >= 0);
    assert_true(bytes < 20 << 20);
    H5Pclose(create);
    H5Dclose(set);
    H5Fclose(file);
    assert_int_equal(LW_OK, lw_result_open(path, &r, NULL));
    assert_int_equal(COLUMNS, lw_result_column_count(r));
    for (int i = COLUMNS; i-- > 0;) {
        double value;
        assert_string_equal(name[i], lw_result_column(r, i).name);
        assert_int_equal(LW_OK, lw_result_read(r, i, 0, 1, &value, NULL));
        assert_true(value == i);
    }
    lw_result_close(r);
}

// Any rows of any column, independent of earlier reads.
static void columns_are_read_in_any_order(void **state)
{
    (void)state;
    enum { COLUMNS = 200, ROWS = 600, READS = 3000 }; // more columns than a chunk has
    static char name[COLUMNS][16];
    const char *list[COLUMNS];
    const lwi_result_meta meta = {0};
    lwi_result_columns columns;
    lwi_hdf5_writer *writer;
    lw_result *r;
    uint64_t random = 1;
    double row[COLUMNS], value[ROWS];
    for (int i = 0; i < COLUMNS; i++) {
        snprintf(name[i], sizeof name[i], i ? "c%d" : "time", i);
        list[i] = name[i];
    }
    assert_int_equal(LW_OK, lwi_result_columns_of_names(list, COLUMNS, &columns));
    assert_int_equal(LW_OK, lwi_hdf5_create(path, &columns, &meta, ROWS, 3600, &writer, NULL));
    for (long k = 0; k < ROWS; k++) {
        for (int i = 0; i < COLUMNS; i++) row[i] = mixed_number(k, i);
        assert_int_equal(LW_OK, lwi_hdf5_row(writer, row, NULL, NULL));
    }
    assert_int_equal(LW_OK, lwi_hdf5_close(writer, NULL));
    lwi_result_columns_free(&columns);
    assert_int_equal(LW_OK, lw_result_open(path, &r, NULL));
    for (int read = 0; read < READS; read++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const long first = (long)(random >> 40) % ROWS,
                   count = (long)(random >> 20) % (ROWS - first);
        int column = (int)(random >> 50) % COLUMNS;
        if (read % 7 == 0) // by name
            assert_int_equal(LW_OK, lw_result_find_column(r, name[column], &column, NULL));
        assert_int_equal(LW_OK, lw_result_read(r, column, first, count, value, NULL));
        for (long k = 0; k < count; k++) assert_true(value[k] == mixed_number(first + k, column));
    }
    lw_result_close(r);
}

// -------------------------------------------------------------------------------------- failures

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(names_model);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "100", "sample", "0.01"));
    struct rlimit before, limit;
    assert_int_equal(0, getrlimit(RLIMIT_FSIZE, &before));
    limit = before;
    limit.rlim_cur = 600000;
    signal(SIGXFSZ, SIG_IGN); // EFBIG instead
    lw_writer *writer = start(sim, 1e-9);
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &limit));
    lw_error error;
    assert_int_equal(LW_ERR_IO,
                     lw_sim_run(sim, LW_OBSERVE_REACTION, write_row, writer, NULL, NULL));
    const lw_status status = lw_writer_close(writer, &error);
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &before));
    assert_int_equal(LW_ERR_IO, status);
    assert_string_equal(path, error.file);
    assert_non_null(strstr(error.text, "cannot be written: File too large"));
    lw_result *r; // what was flushed before is readable
    if (lw_result_open(path, &r, &error) != LW_OK) fail_msg("%s", error.text);
    assert_true(lw_result_row_count(r) > 10);
    lw_result_close(r);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void assert_refused(const char *file, lw_status expected, const char *text)
{
    lw_result *r;
    lw_error error;
    assert_int_equal(expected, lw_result_open(file, &r, &error));
    assert_string_equal(file, error.file);
    if (!strstr(error.text, text)) fail_msg("%s", error.text);
}

static void put_file(const char *file, const char *text, size_t size)
{
    FILE *out = fopen(file, "wb");
    assert_non_null(out);
    fwrite(text, 1, size, out);
    fclose(out);
}

// An HDF5 file that is not a result.
static void make_foreign(const char *format, int version, bool columns)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, format ? strlen(format) + 1 : 1);
    if (format) {
        const hid_t a = H5Acreate2(file, "format", type, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(a, type, format);
        H5Aclose(a);
        const hid_t v =
            H5Acreate2(file, "format_version", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(v, H5T_NATIVE_INT, &version);
        H5Aclose(v);
    }
    if (columns) {
        const hsize_t n = 3;
        const hid_t line = H5Screate_simple(1, &n, NULL);
        H5Dclose(H5Dcreate2(file, "columns", H5T_NATIVE_DOUBLE, line, H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT));
        H5Sclose(line);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Fclose(file);
}

static void files_that_are_not_results_are_refused(void **state)
{
    (void)state;
    assert_refused("nowhere/x.h5", LW_ERR_IO, "No such file");
    put_file(path, "", 0);
    assert_refused(path, LW_ERR_PARSE, "is empty");
    put_file(path, "time\n1\n", 7);
    assert_refused(path, LW_ERR_PARSE, "not an HDF5 file");
    put_file(path, "\211HDF\r\n\032\n and nothing behind", 27);
    assert_refused(path, LW_ERR_IO, "cannot be opened");
    make_foreign(NULL, 0, false);
    assert_refused(path, LW_ERR_PARSE, "attribute 'format'");
    make_foreign("something", 1, false);
    assert_refused(path, LW_ERR_PARSE, "attribute 'format'");
    make_foreign("linkwork-result", 99, false);
    assert_refused(path, LW_ERR_PARSE, "version 99");
    make_foreign("linkwork-result", 2, false);
    assert_refused(path, LW_ERR_PARSE, "version 2 of the format is not supported, expected 4");
    make_foreign("linkwork-result", 4, false);
    assert_refused(path, LW_ERR_PARSE, "there is no /columns");
    make_foreign("linkwork-result", 4, true);
    assert_refused(path, LW_ERR_PARSE, "/columns is not a table");
}

// A result may not make the program read other files.
static void links_to_other_files_are_not_followed(void **state)
{
    (void)state;
    static const char *const other = "test_hdf5_copy.h5", *const linked[] = {"/time", "/columns"};
    lw_model *model = lwt_yaml(redundant_model);
    for (int i = 0; i < 2; i++) {
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0.1"));
        write_run(sim);
        copy_file(path, other);
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(file, linked[i], H5P_DEFAULT) >= 0);
        assert_true(
            H5Lcreate_external(other, linked[i], file, linked[i], H5P_DEFAULT, H5P_DEFAULT) >= 0);
        H5Fclose(file);
        assert_refused(path, LW_ERR_PARSE, linked[i]);
        lw_sim_destroy(sim);
    }
    remove(other);
    lw_model_destroy(model);
}

static void read_damaged(void)
{
    lw_result *r;
    if (lw_result_open("test_hdf5_damaged.h5", &r, NULL) != LW_OK) return;
    const long rows = lw_result_row_count(r);
    double *values = calloc((size_t)rows + 1, sizeof *values);
    for (int c = 0; c < lw_result_column_count(r) && values; c++)
        lw_result_read(r, c, 0, rows, values, NULL);
    free(values);
    lw_result_close(r);
}

// Truncated files and files with changed bytes give an error or a result, never a crash.  Each is read in a
// separate process, because the HDF5 library leaks memory on some.
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(redundant_model);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0.1"));
    write_run(sim);
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    char *whole = malloc(size), *copy = malloc(size);
    assert_int_equal(size, fread(whole, 1, size, file));
    fclose(file);
    uint64_t random = 1;
    for (int i = 0; i < 150; i++) {
        memcpy(copy, whole, size);
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t at = (size_t)(random >> 20) % size;
        if (i % 3) copy[at] = (char)(copy[at] ^ (1 << i % 8));
        put_file("test_hdf5_damaged.h5", copy, i % 3 ? size : at);
        const pid_t child = fork();
        if (child == 0) {
            read_damaged();
            _exit(0);
        }
        int status;
        assert_int_equal(child, waitpid(child, &status, 0));
        if (!WIFEXITED(status) || WEXITSTATUS(status))
            fail_msg("byte %zu %s", at, i % 3 ? "changed" : "the end");
    }
    remove("test_hdf5_damaged.h5");
    free(whole);
    free(copy);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void files_that_cannot_be_created_are_reported(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(redundant_model);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0.1"));
    const lw_writer_desc desc = {.sim = sim, .level = LW_OBSERVE_REACTION};
    lw_writer *writer;
    lw_error error;
    assert_int_equal(LW_ERR_IO, lw_writer_create("nowhere/x.h5", &desc, &writer, &error));
    assert_string_equal("nowhere/x.h5", error.file);
    assert_non_null(strstr(error.text, "No such file"));
    assert_int_equal(LW_ERR_ARGUMENT, lw_writer_create("x.hdf", &desc, &writer, &error));
    assert_non_null(strstr(error.text, "known: .h5 .csv"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Counts its calls and stops at one of them.
typedef struct stop_at {
    int calls, at;
} stop_at;

static int stop(void *user)
{
    stop_at *s = user;
    return s->calls++ == s->at;
}

// A run that its writer stops at that call, and what its file then is.  @return the number of calls
static int stopped_run(const char *model_text, int at)
{
    lw_model *model = lwt_yaml(model_text);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("duration", "0.1"));
    stop_at s = {.at = at};
    const lw_writer_desc desc = {
        .sim = sim, .level = LW_OBSERVE_REACTION, .interrupt = stop, .interrupt_user = &s};
    lw_writer *writer;
    lw_error error;
    assert_int_equal(LW_OK, lw_writer_create(path, &desc, &writer, &error));
    const bool stops = at >= 0;
    assert_int_equal(stops ? LW_ERR_INTERRUPTED : LW_OK,
                     lw_sim_run(sim, LW_OBSERVE_REACTION, write_row, writer, NULL, NULL));
    assert_int_equal(stops ? LW_ERR_INTERRUPTED : LW_OK, lw_writer_close(writer, &error));
    if (stops) assert_non_null(strstr(error.text, "stopped before its first row"));
    lw_result *result;
    const lw_status opened = lw_result_open(path, &result, &error);
    if (opened == LW_OK) {
        if (stops) assert_int_equal(0, lw_result_row_count(result));
        lw_result_close(result);
    } else {
        assert_true(stops && error.text[0]);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return s.calls;
}

static void the_first_row_can_be_stopped(void **state)
{
    (void)state;
    const int calls = stopped_run(redundant_model, -1);
    assert_true(calls >= 2);
    for (int at = 0; at < calls; at++) assert_int_equal(at + 1, stopped_run(redundant_model, at));
    // often enough in a large model
    const int large = stopped_run("linkwork: 1\ngenerate: {chain: {n: 1000}}\n", -1);
    assert_true(large > calls + 5);
    stopped_run("linkwork: 1\ngenerate: {chain: {n: 1000}}\n", large / 2);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_and_their_columns),
        cmocka_unit_test(objects_do_not_depend_on_the_model),
        cmocka_unit_test(reactions_that_are_not_unique_are_marked),
        cmocka_unit_test(files_are_reproducible),
        cmocka_unit_test(readers_get_what_is_flushed),
        cmocka_unit_test(columns_lie_side_by_side),
        cmocka_unit_test(wide_tables_have_wide_chunks),
        cmocka_unit_test(columns_are_read_in_any_order),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(files_that_are_not_results_are_refused),
        cmocka_unit_test(links_to_other_files_are_not_followed),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(files_that_cannot_be_created_are_reported),
        cmocka_unit_test(the_first_row_can_be_stopped),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove(path);
    return failed;
}
