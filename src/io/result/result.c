// result.c -- one interface to results of all formats.
#include "base/file.h"
#include "io/result/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool lwi_result_path_ends(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n > m && !strcasecmp(path + n - m, ending);
}

static int by_name(const void *a, const void *b)
{
    const lwi_result_name *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : x->column - y->column; // equal names: the first
}

lw_status lwi_result_sort_names(lw_result *r)
{
    r->by_name = LWI_PUSH(&r->arena, lwi_result_name, r->n);
    if (!r->by_name) return LW_ERR_MEMORY;
    for (int i = 0; i < r->n; i++) r->by_name[i] = (lwi_result_name){r->column[i].name, i};
    qsort(r->by_name, (size_t)r->n, sizeof *r->by_name, by_name);
    return LW_OK;
}

static lw_status open_any(const char *path, lw_result *r, lw_error *error)
{
    if (lwi_hdf5_recognise(path)) {
        lw_column_info time = {.name = "time"};
        lwi_result_column_meaning(time.name, &time.unit, &time.frame);
        TRY(lwi_hdf5_open(path, time, &r->hdf5, error));
        r->column = lwi_hdf5_columns(r->hdf5, &r->n);
        r->rows = lwi_hdf5_rows(r->hdf5);
        r->meta = *lwi_hdf5_meta(r->hdf5);
        return LW_OK;
    }
    if (lwi_result_path_ends(path, ".h5")) { // killed before the first write, or not HDF5
        FILE *file;
        TRY(lwi_open_input_stream(path, &file, error));
        errno = 0;
        const bool empty = fgetc(file) == EOF;
        const int failure = ferror(file) ? errno : 0;
        fclose(file);
        if (failure)
            return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be read: %s",
                               strerror(failure));
        return lwi_fail_at(error, LW_ERR_PARSE, path, 0, 0,
                           empty ? "is empty" : "is not an HDF5 file");
    }
    TRY(lwi_csv_table_read(path, LWI_CSV_RESULT, &r->csv, error));
    r->column = r->csv.column, r->n = r->csv.n, r->rows = r->csv.rows;
    return LW_OK;
}

lw_status lw_result_open(const char *path, lw_result **result, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!path || !result) return lwi_fail(error, LW_ERR_ARGUMENT, "path and result must be given");
    lw_result *r = lwi_allocate(NULL, sizeof *r);
    if (!r) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    memset(r, 0, sizeof *r);
    lwi_arena_init(&r->arena, NULL);
    r->path = lwi_arena_text(&r->arena, path);
    lw_status status = r->path ? open_any(path, r, error)
                               : lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    if (status == LW_OK && lwi_result_sort_names(r) != LW_OK)
        status = lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    if (status == LW_OK)
        *result = r;
    else
        lw_result_close(r);
    return status;
}

void lw_result_close(lw_result *result)
{
    if (!result) return;
    if (result->hdf5) lwi_hdf5_end(result->hdf5);
    lwi_result_memory_free(result->memory);
    lwi_csv_table_free(&result->csv);
    lwi_release(NULL, result->picked);
    lwi_release(NULL, result->picked_event);
    lwi_arena_free(&result->arena);
    lwi_release(NULL, result);
}

// ----------------------------------------------------------------------------------------- content

long lw_result_row_count(const lw_result *result)
{
    if (!result) return 0;
    return result->picked ? result->npicked : result->rows;
}
int lw_result_column_count(const lw_result *result)
{
    if (!result) return 0;
    return result->n;
}

lw_column_info lw_result_column(const lw_result *result, int index)
{
    if (!result) return (lw_column_info){"", "", "", 0};
    return index >= 0 && index < result->n ? result->column[index]
                                           : (lw_column_info){"", "", "", 0};
}

// The first name in sorted order that is not before `name`; n: none.
static int place_of(const lw_result *r, const char *name)
{
    int low = 0, high = r->n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (strcmp(r->by_name[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

lw_status lw_result_find_column(const lw_result *result, const char *name, int *column,
                                lw_error *error)
{
    if (!result) return lwi_fail(error, LW_ERR_ARGUMENT, "result is NULL");
    if (!name || !column) return lwi_fail(error, LW_ERR_ARGUMENT, "name and column must be given");
    const int place = place_of(result, name);
    if (place < result->n && !strcmp(result->by_name[place].name, name)) {
        *column = result->by_name[place].column;
        return LW_OK;
    }
    if (!error) return LW_ERR_ARGUMENT; // to compare all names takes time
    const char **names = lwi_allocate(NULL, (size_t)result->n * sizeof *names), *nearest = NULL;
    for (int i = 0; names && i < result->n; i++) names[i] = result->column[i].name;
    if (names) nearest = lwi_nearest(name, names, result->n);
    lwi_release(NULL, names);
    return lwi_fail_at(error, LW_ERR_ARGUMENT, result->path, 0, 0,
                       "there is no column '%.100s'%s%s%s", name, nearest ? ", did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?" : "");
}

static const double *values_of(const lw_result *result)
{
    return result->memory ? lwi_result_memory_values(result->memory) : result->csv.value;
}

static lw_status read_rows(lw_result *result, int column, long first, long count, double *values,
                           lw_error *error)
{
    if (result->hdf5) return lwi_hdf5_read(result->hdf5, column, first, count, values, error);
    const double *table = values_of(result);
    for (long i = 0; i < count; i++) values[i] = table[(first + i) * result->n + column];
    return LW_OK;
}

// Of the rows of an instance, which are not far from each other: what is between them is read, too.
static lw_status read_picked(lw_result *result, int column, long first, long count, double *values,
                             lw_error *error)
{
    const long *row = result->picked + first, from = row[0], n = row[count - 1] - from + 1;
    double *all = lwi_allocate(NULL, (size_t)n * sizeof *all);
    if (!all) return lwi_fail(error, LW_ERR_MEMORY, "no memory for %ld rows", n);
    const lw_status status = read_rows(result, column, from, n, all, error);
    for (long i = 0; i < count && status == LW_OK; i++) values[i] = all[row[i] - from];
    lwi_release(NULL, all);
    return status;
}

static lw_status pick(lw_result *r, long instance, lw_error *error)
{
    int column;
    long n = 0;
    if (lw_result_find_column(r, "instance", &column, NULL) != LW_OK)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, r->path, 0, 0,
                           "has no instances: it is the result of a single run");
    double *number = lwi_allocate(NULL, ((size_t)r->rows + 1) * sizeof *number);
    long *row = lwi_allocate(NULL, ((size_t)r->rows + 1) * sizeof *row);
    lw_status status = number && row ? read_rows(r, column, 0, r->rows, number, error)
                                     : lwi_fail(error, LW_ERR_MEMORY, "no memory for rows");
    for (long i = 0; i < r->rows && status == LW_OK; i++)
        if (number[i] == (double)instance) row[n++] = i;
    lwi_release(NULL, number);
    if (status == LW_OK && n == 0)
        status = lwi_fail_at(error, LW_ERR_ARGUMENT, r->path, 0, 0, "has no rows of instance %ld",
                             instance);
    if (status == LW_OK)
        r->picked = row, r->npicked = n;
    else
        lwi_release(NULL, row);
    return status;
}

lw_status lw_result_read(lw_result *result, int column, long first, long count, double *values,
                         lw_error *error)
{
    if (!result) return lwi_fail(error, LW_ERR_ARGUMENT, "result is NULL");
    if (column < 0 || column >= result->n)
        return lwi_fail(error, LW_ERR_ARGUMENT, "column %d: the result has %d", column, result->n);
    const long rows = lw_result_row_count(result);
    if (first < 0 || count < 0 || first > rows || count > rows - first)
        return lwi_fail(error, LW_ERR_ARGUMENT, "rows %ld and %ld more: the result has %ld", first,
                        count, rows);
    if (count && !values) return lwi_fail(error, LW_ERR_ARGUMENT, "values must be given");
    if (result->picked && count) return read_picked(result, column, first, count, values, error);
    return read_rows(result, column, first, count, values, error);
}

lw_status lw_result_select_instance(lw_result *result, long instance, lw_error *error)
{
    if (!result) return lwi_fail(error, LW_ERR_ARGUMENT, "result is NULL");
    lwi_release(NULL, result->picked);
    result->picked = NULL, result->npicked = 0;
    return instance < 0 ? LW_OK : pick(result, instance, error);
}

const double *lw_result_values(const lw_result *result)
{
    if (!result || result->picked) return NULL;
    if (result->hdf5) return NULL;
    return result->memory ? lwi_result_memory_values(result->memory) : result->csv.value;
}
const double *lw_result_states(const lw_result *result)
{
    if (!result) return NULL;
    return result->memory ? lwi_result_memory_states(result->memory) : NULL;
}

const char *lw_result_model(const lw_result *result)
{
    if (!result) return NULL;
    return result->meta.model;
}
const lw_options *lw_result_options(const lw_result *result)
{
    if (!result) return NULL;
    return result->meta.options;
}

const lw_summary *lw_result_summary(const lw_result *result)
{
    if (!result) return NULL;
    return result->meta.summary;
}

const char *lw_result_text(const lw_result *result, const char *name)
{
    if (!result) return NULL;
    if (!name) return NULL;
    if (!strcmp(name, "notice")) return result->meta.notice;
    if (!strcmp(name, "warnings")) return result->meta.warnings;
    return !strcmp(name, "versions") ? result->meta.versions : NULL;
}

bool lw_result_closed(const lw_result *result)
{
    if (!result) return false;
    if (result->hdf5) return lwi_hdf5_closed(result->hdf5);
    return result->memory || result->csv.whole;
}

int lw_result_state_size(const lw_result *result)
{
    if (!result) return 0;
    return result->meta.nx;
}

lw_status lw_result_read_state(lw_result *result, long row, double *time, double *x,
                               lw_error *error)
{
    if (!result || !x) return lwi_fail(error, LW_ERR_ARGUMENT, "result or x is NULL");
    double t;
    if (!result->meta.formulation)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, result->path, 0, 0, "has no states");
    TRY(lw_result_read(result, 0, row, 1, &t, error));
    if (result->memory)
        memcpy(x, lwi_result_memory_states(result->memory) + row * result->meta.nx,
               (size_t)result->meta.nx * sizeof *x);
    else
        TRY(lwi_hdf5_read_state(result->hdf5, row, x, error));
    if (time) *time = t;
    return LW_OK;
}
