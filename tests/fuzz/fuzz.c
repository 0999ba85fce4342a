// fuzz.c -- libFuzzer's entry, for one kind of input: FUZZ_INPUT is yaml, urdf, closures, sdf, mjcf, formula, csv, hdf5,
// table, stl, obj, msh, dae.
//
// What is wrong ends the process, and libFuzzer keeps the input.  tools/fuzz builds and runs all of them.
#include "fuzz/check_closures.h"
#include "fuzz/check_formula.h"
#include "fuzz/check_mesh.h"
#include "fuzz/check_reader.h"

#include <linkwork/linkwork.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void stop(const char *wrong)
{
    fprintf(stderr, "WRONG: %s\n", wrong);
    abort();
}

static void check_refusal(const lw_error *error, lw_status status)
{
    if (error->status != status) stop("the error has another status");
    if (!*error->text) stop("the error says nothing");
}

static inline void fuzz_mesh(const uint8_t *data, size_t size, const char *ending)
{
    bool is_read;
    const char *wrong = check_mesh((const char *)data, size, ending, &is_read);
    if (wrong) stop(wrong);
}

// ------------------------------------------------------------------------------------ model files

static inline void fuzz_model(const uint8_t *data, size_t size, const char *format)
{
    bool is_read;
    lw_error error;
    const char *wrong = check_reader((const char *)data, size, format, &is_read, &error);
    if (wrong) stop(wrong);
}

static inline void fuzz_closures(const uint8_t *data, size_t size)
{
    bool is_read;
    lw_error error;
    const char *wrong = check_closures((const char *)data, size, &is_read, &error);
    if (wrong) stop(wrong);
}

static inline void fuzz_formula(const uint8_t *data, size_t size)
{
    long count[2] = {0};
    char *text = calloc(size + 1, 1);
    if (text && size) memcpy(text, data, size);
    if (text && check_formula(text, count)) stop("formula");
    free(text);
}

// ------------------------------------------------------------------------ results and tables, by path

// A file in memory, at `path`.
static int file_with(const uint8_t *data, size_t size, char path[64])
{
    const int file = memfd_create("input", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) stop("no file in memory");
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

static void read_values(lw_result *result)
{
    enum { ROWS = 16 };
    double values[ROWS];
    const long rows = lw_result_row_count(result), first = rows > ROWS ? rows - ROWS : 0;
    const int columns = lw_result_column_count(result);
    lw_error error;
    for (int i = 0; i < columns && i < 256; i++) {
        const lw_column_info info = lw_result_column(result, i);
        if (!info.name || !info.unit) stop("a column without name or unit");
        const lw_status status = lw_result_read(result, i, first, rows - first, values, &error);
        if (status != LW_OK) check_refusal(&error, status);
    }
}

static void read_state(lw_result *result)
{
    const int n = lw_result_state_size(result);
    double *x = n > 0 ? calloc((size_t)n, sizeof *x) : NULL;
    double time;
    lw_error error;
    if (x &&
        lw_result_read_state(result, lw_result_row_count(result) - 1, &time, x, &error) != LW_OK &&
        !*error.text)
        stop("the error says nothing");
    free(x);
}

// The model that a result has, with a simulation that continues it.
static void restore(lw_result *result)
{
    const char *text = lw_result_model(result);
    const lw_read_desc desc = {.format = "yaml"};
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    char how[256];
    if (text && lw_model_parse(text, strlen(text), "result", &desc, &model, NULL, NULL) == LW_OK &&
        lw_sim_create(model, &(lw_sim_desc){.options = lw_result_options(result)}, &sim, NULL) ==
            LW_OK)
        lw_result_restore(result, -1, sim, how, sizeof how, NULL);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static inline void read_events(lw_result *result)
{
    const lw_result_event *event;
    long n;
    lw_error error = {0};
    const lw_status status = lw_result_events(result, &event, &n, &error);
    if (status != LW_OK) check_refusal(&error, status);
    for (long i = 0; status == LW_OK && i < n; i++)
        if (event[i].row < 0 || event[i].row >= lw_result_row_count(result)) abort();
}

static inline void fuzz_result(const uint8_t *data, size_t size)
{
    char path[64];
    lw_error error = {0};
    lw_result *result = NULL;
    const int file = file_with(data, size, path);
    const lw_status status = lw_result_open(path, &result, &error);
    if (status == LW_OK) {
        read_values(result);
        read_state(result);
        restore(result);
        read_events(result);
        lw_result_close(result);
    } else {
        check_refusal(&error, status);
    }
    close(file);
}

static inline void fuzz_table(const uint8_t *data, size_t size)
{
    char path[64];
    lw_error error = {0};
    lw_table *table = NULL;
    const int file = file_with(data, size, path);
    lw_status status = lw_table_read(path, &table, &error);
    if (status != LW_OK) check_refusal(&error, status);
    lw_table_free(table);
    table = NULL;
    status = lw_table_read_study(path, &table, &error);
    if (status != LW_OK) check_refusal(&error, status);
    lw_table_free(table);
    close(file);
}

// ------------------------------------------------------------------------------------------- inputs

#define KIND(name, call)                                                                           \
    static inline void kind_##name(const uint8_t *data, size_t size)                               \
    {                                                                                              \
        call;                                                                                      \
    }
KIND(yaml, fuzz_model(data, size, "yaml"))
KIND(urdf, fuzz_model(data, size, "urdf"))
KIND(closures, fuzz_closures(data, size))
KIND(sdf, fuzz_model(data, size, "sdf"))
KIND(mjcf, fuzz_model(data, size, "mjcf"))
KIND(formula, fuzz_formula(data, size))
KIND(csv, fuzz_result(data, size))
KIND(hdf5, fuzz_result(data, size))
KIND(table, fuzz_table(data, size))
KIND(stl, fuzz_mesh(data, size, "stl"))
KIND(obj, fuzz_mesh(data, size, "obj"))
KIND(msh, fuzz_mesh(data, size, "msh"))
KIND(dae, fuzz_mesh(data, size, "dae"))

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    JOIN(kind_, FUZZ_INPUT)(data, size);
    return 0;
}
