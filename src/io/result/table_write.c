// table_write.c -- tables as CSV and HDF5.
#include "base/file.h"
#include "base/numbers.h"
#include "batch/table.h"
#include "io/result/csv.h"
#include "io/result/hdf5_file.h"
#include "io/result/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------------- CSV

// In quotes, on one line.                                                                      [rfc4180, 2]
static void put_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"') fputc('"', file);
        fputc(*c == '\n' || *c == '\r' ? ' ' : *c, file);
    }
    fputc('"', file);
}

static void put_row(FILE *file, const lw_table *t, int i)
{
    const double *row = lwi_table_row(t, i);
    for (int k = 0; k < t->columns; k++) {
        if (k) fputc(',', file);
        if (isfinite(row[k])) lwi_number_print(file, row[k]);
    }
    if (t->text) {
        if (t->columns) fputc(',', file);
        put_text(file, t->text[i]);
    }
    fputc('\n', file);
}

lw_status lwi_csv_table_put(FILE *file, const lw_table *t, lw_error *error)
{
    lwi_numbers numbers;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const char **name = LWI_PUSH(&arena, const char *, t->columns + 1);
    const bool ready = name && lwi_numbers_begin(&numbers);
    if (ready) {
        for (int k = 0; k < t->columns; k++) name[k] = t->name[k];
        if (t->text) name[t->columns] = t->text_name;
        lwi_csv_header(file, name, t->columns + (t->text != NULL));
        for (int i = 0; i < t->rows; i++) put_row(file, t, i);
        lwi_numbers_end(&numbers);
    }
    lwi_arena_free(&arena);
    return ready ? LW_OK : lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
}

static lw_status write_csv(const lw_table *t, const char *path, lw_error *error)
{
    FILE *file;
    TRY(lwi_open_output_stream(path, &file, error));
    const lw_status put = lwi_csv_table_put(file, t, error);
    const lw_status closed = lwi_close_output(file, path, put == LW_OK ? error : NULL);
    return put != LW_OK ? put : closed;
}

// -------------------------------------------------------------------------------------------- HDF5

static lw_status write_hdf5(const lw_table *t, const char *path, lw_error *error)
{
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const int n = t->columns + (t->text != NULL);
    const size_t rows = (size_t)t->rows;
    lwi_hdf5_table h = {.n = n,
                        .rows = t->rows,
                        .text_column = t->text ? t->columns : -1,
                        .name = LWI_PUSH(&arena, const char *, n),
                        .unit = LWI_PUSH(&arena, const char *, n),
                        .value = LWI_PUSH(&arena, double, (size_t)n *rows),
                        .text = t->text};
    lw_status status = LW_ERR_MEMORY;
    const char *slash = NULL;
    for (int k = 0; k < t->columns; k++)
        if (strchr(t->name[k], '/')) slash = t->name[k];
    if (slash) {
        status = lwi_fail_at(error, LW_ERR_UNSUPPORTED, path, 0, 0,
                             "column '%.120s' has a slash, which names in HDF5 cannot have; "
                             "expected a table as .csv",
                             slash);
    } else if (h.name && h.unit && h.value) {
        for (int k = 0; k < n; k++) {
            h.name[k] = k < t->columns ? t->name[k] : t->text_name;
            h.unit[k] = k < t->columns ? t->unit[k] : "";
        }
        for (size_t k = 0; k < (size_t)t->columns; k++)
            for (size_t i = 0; i < rows; i++) h.value[k * rows + i] = lwi_table_row(t, (int)i)[k];
        status = lwi_hdf5_table_write(path, &h, error);
    } else {
        lwi_fail(error, status, "no memory for a table");
    }
    lwi_arena_free(&arena);
    return status;
}

lw_status lw_table_write(const lw_table *t, const char *path, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!t || !path) return lwi_fail(error, LW_ERR_ARGUMENT, "table and path must be given");
    if (lwi_result_path_ends(path, ".csv")) return write_csv(t, path, error);
    if (lwi_result_path_ends(path, ".h5")) return write_hdf5(t, path, error);
    return lwi_fail_at(error, LW_ERR_ARGUMENT, path, 0, 0,
                       "unknown ending of a table, known: .csv .h5");
}
