// hdf5_table.c -- plain tables in HDF5: one-dimensional datasets of numbers in the root.
//
// Files are untrusted: type and size of every dataset are checked before it is read.
#include "io/result/hdf5_common.h"
#include "io/result/hdf5_file.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct table {
    const char *path;
    lwi_arena *arena;
    lwi_hdf5_disk *disk;
    hid_t file;
    int n, room;
    const char **name;
    long rows; // -1: no column yet
} table;

enum { MAX_COLUMNS = 100000 };

static lw_status wrong(const table *t, lw_error *error, const char *name, const char *what)
{
    return lwi_fail_at(error, LW_ERR_PARSE, t->path, 0, 0, "'%.120s' %s", name, what);
}

// Rows of a column; -1: the dataset is not a column.
static long rows_of(hid_t set)
{
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    hsize_t rows = 0;
    const bool is = type >= 0 && space >= 0 &&
                    (H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER) &&
                    H5Sget_simple_extent_ndims(space) == 1 &&
                    H5Sget_simple_extent_dims(space, &rows, NULL) == 1 && rows < LONG_MAX / 16;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return is ? (long)rows : -1;
}

static lw_status add_column(table *t, hsize_t index, lw_error *error)
{
    const ssize_t length =
        H5Lget_name_by_idx(t->file, ".", H5_INDEX_NAME, H5_ITER_INC, index, NULL, 0, H5P_DEFAULT);
    char *name = length > 0 && length < 4096 ? LWI_PUSH(t->arena, char, (size_t)length + 1) : NULL;
    if (!name || H5Lget_name_by_idx(t->file, ".", H5_INDEX_NAME, H5_ITER_INC, index, name,
                                    (size_t)length + 1, H5P_DEFAULT) < 0)
        return wrong(t, error, "root", "has a name that cannot be read");
    const hid_t set = lwi_hdf5_open_dataset(t->file, t->disk, name, H5P_DEFAULT);
    if (set < 0)
        return wrong(t, error, name, "is not a dataset of this file, expected columns only");
    const long rows = rows_of(set);
    H5Dclose(set);
    if (rows < 0) return wrong(t, error, name, "is not a one-dimensional dataset of numbers");
    if (t->rows >= 0 && rows != t->rows)
        return wrong(t, error, name, "has another length than the others");
    t->rows = rows;
    t->name[t->n++] = name;
    return LW_OK;
}

static lw_status list_columns(table *t, lw_error *error)
{
    H5G_info_t info;
    if (H5Gget_info(t->file, &info) < 0 || info.nlinks < 1 || info.nlinks > MAX_COLUMNS)
        return wrong(t, error, "root", "has no columns");
    t->name = LWI_PUSH(t->arena, const char *, info.nlinks);
    if (!t->name) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
    for (hsize_t i = 0; i < info.nlinks; i++) TRY(add_column(t, i, error));
    return LW_OK;
}

static lw_status read_columns(table *t, double *value, lw_error *error)
{
    for (int k = 0; k < t->n; k++) {
        double *column = value + (size_t)k * (size_t)t->rows;
        const hid_t set = lwi_hdf5_open_dataset(t->file, t->disk, t->name[k], H5P_DEFAULT);
        const herr_t failed =
            set < 0 ? -1 : H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, column);
        if (set >= 0) H5Dclose(set);
        if (failed < 0) return lwi_hdf5_fail(error, LW_ERR_IO, t->path, "cannot be read");
        for (long i = 0; i < t->rows; i++)
            if (!isfinite(column[i]))
                return wrong(t, error, t->name[k], "has a number that is not finite");
    }
    return LW_OK;
}

static lw_status read_all(table *t, double **value, lw_error *error)
{
    TRY(lwi_hdf5_disk_open(t->path, &t->disk, error));
    const hid_t access = lwi_hdf5_access(t->disk);
    t->file = access < 0 ? -1 : H5Fopen(t->path, H5F_ACC_RDONLY, access);
    if (access >= 0) H5Pclose(access);
    if (t->file < 0) return lwi_hdf5_fail_open(error, t->disk, t->path);
    TRY(list_columns(t, error));
    *value = LWI_PUSH(t->arena, double, (size_t)t->n *(size_t)t->rows);
    if (!*value || !lwi_hdf5_has_room(0))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
    return read_columns(t, *value, error);
}

lw_status lwi_hdf5_table_read(const char *path, lwi_arena *arena, const char ***name, int *n,
                              long *rows, double **value, lw_error *error)
{
    lwi_hdf5_quiet quiet;
    TRY(lwi_hdf5_begin(0, &quiet, error));
    table t = {.path = path, .arena = arena, .file = -1, .rows = -1};
    const lw_status status = read_all(&t, value, error);
    const bool given_back = t.file < 0 || H5Fclose(t.file) >= 0;
    lwi_hdf5_finish_after(quiet, status);
    if (given_back) lwi_hdf5_disk_close(t.disk); // else the library uses it until the program ends
    *name = t.name, *n = t.n, *rows = t.rows;
    return status;
}
