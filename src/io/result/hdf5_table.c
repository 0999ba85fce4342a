// hdf5_table.c -- plain tables in HDF5: one-dimensional datasets of numbers in the root, and one of strings.
//
// Files are untrusted: type and size of every dataset are checked before it is read.
#include "io/result/hdf5_common.h"
#include "io/result/hdf5_file.h"
#include "io/result/result.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct table {
    const char *path;
    lwi_arena *arena;
    lwi_hdf5_disk *disk;
    hid_t file;
    bool study;
    lwi_hdf5_table *to; // rows: -1: no column yet
} table;

enum { MAX_COLUMNS = 100000, MAX_UNIT = 80, MAX_STRING = 4096 };

static lw_status wrong(const table *t, lw_error *error, const char *name, const char *what)
{
    return lwi_fail_at(error, LW_ERR_PARSE, t->path, 0, 0, "'%.120s' %s", name, what);
}

// Bytes of a string of fixed length; 0: the type is another one.
static size_t string_bytes(hid_t type)
{
    if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) return 0;
    const size_t bytes = H5Tget_size(type);
    return bytes <= MAX_STRING ? bytes : 0;
}

// Rows of a column; -1: the dataset is not a column.
static long rows_of(hid_t set, bool text)
{
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    hsize_t rows = 0;
    const bool kind =
        type >= 0 && (text ? string_bytes(type) > 0
                           : H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER);
    const bool is = kind && space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                    H5Sget_simple_extent_dims(space, &rows, NULL) == 1 && rows < LONG_MAX / 16;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return is ? (long)rows : -1;
}

// The attribute `unit` of a dataset; "" where there is none.
static const char *unit_of(table *t, hid_t set)
{
    char text[MAX_UNIT + 1] = "";
    if (!t->study || H5Aexists(set, "unit") <= 0) return "";
    const hid_t attribute = H5Aopen(set, "unit", H5P_DEFAULT);
    const hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    const hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    const size_t bytes = string_bytes(type);
    const bool read = bytes > 0 && bytes <= MAX_UNIT && space >= 0 &&
                      H5Sget_simple_extent_npoints(space) == 1 &&
                      H5Aread(attribute, type, text) >= 0;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
    const char *kept = read ? lwi_arena_text(t->arena, text) : "";
    return kept ? kept : "";
}

static lw_status add_column(table *t, H5_index_t order, hsize_t index, lw_error *error)
{
    lwi_hdf5_table *to = t->to;
    const ssize_t length =
        H5Lget_name_by_idx(t->file, ".", order, H5_ITER_INC, index, NULL, 0, H5P_DEFAULT);
    char *name = length > 0 && length < 4096 ? LWI_PUSH(t->arena, char, (size_t)length + 1) : NULL;
    if (!name || H5Lget_name_by_idx(t->file, ".", order, H5_ITER_INC, index, name,
                                    (size_t)length + 1, H5P_DEFAULT) < 0)
        return wrong(t, error, "root", "has a name that cannot be read");
    const hid_t set = lwi_hdf5_open_dataset(t->file, t->disk, name, H5P_DEFAULT);
    if (set < 0)
        return wrong(t, error, name, "is not a dataset of this file, expected columns only");
    const bool text = t->study && !strcmp(name, LWI_STRING_COLUMN);
    const long rows = rows_of(set, text);
    const char *unit = rows < 0 || text ? "" : unit_of(t, set);
    H5Dclose(set);
    if (rows < 0) return wrong(t, error, name, "is not a one-dimensional dataset of numbers");
    if (to->rows >= 0 && rows != to->rows)
        return wrong(t, error, name, "has another length than the others");
    to->rows = rows;
    if (text) to->text_column = to->n;
    to->unit[to->n] = unit;
    to->name[to->n++] = name;
    return LW_OK;
}

// Files of ours know the order in which their columns were made.
static H5_index_t order_of(const table *t)
{
    unsigned flags = 0;
    const hid_t root = t->study ? H5Gopen2(t->file, "/", H5P_DEFAULT) : -1;
    const hid_t properties = root < 0 ? -1 : H5Gget_create_plist(root);
    const bool known = properties >= 0 && H5Pget_link_creation_order(properties, &flags) >= 0 &&
                       flags & H5P_CRT_ORDER_INDEXED;
    if (properties >= 0) H5Pclose(properties);
    if (root >= 0) H5Gclose(root);
    return known ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
}

static lw_status list_columns(table *t, lw_error *error)
{
    H5G_info_t info;
    if (H5Gget_info(t->file, &info) < 0 || info.nlinks < 1 || info.nlinks > MAX_COLUMNS)
        return wrong(t, error, "root", "has no columns");
    t->to->name = LWI_PUSH(t->arena, const char *, info.nlinks);
    t->to->unit = LWI_PUSH(t->arena, const char *, info.nlinks);
    if (!t->to->name || !t->to->unit)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
    const H5_index_t order = order_of(t);
    for (hsize_t i = 0; i < info.nlinks; i++) TRY(add_column(t, order, i, error));
    return LW_OK;
}

static lw_status read_strings(table *t, const char *name, lw_error *error)
{
    lwi_hdf5_table *to = t->to;
    const hid_t set = lwi_hdf5_open_dataset(t->file, t->disk, name, H5P_DEFAULT);
    const hid_t type = set < 0 ? -1 : H5Dget_type(set);
    const size_t bytes = string_bytes(type), rows = (size_t)to->rows;
    char *block =
        bytes && lwi_hdf5_has_room(bytes * rows) ? LWI_PUSH(t->arena, char, bytes *rows) : NULL;
    to->text = LWI_PUSH(t->arena, const char *, rows);
    const herr_t failed =
        block && to->text ? H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) : -1;
    if (type >= 0) H5Tclose(type);
    if (set >= 0) H5Dclose(set);
    if (failed < 0) return lwi_hdf5_fail(error, LW_ERR_IO, t->path, "cannot be read");
    for (size_t i = 0; i < rows; i++) {
        block[(i + 1) * bytes - 1] = 0;
        to->text[i] = block + i * bytes;
    }
    return LW_OK;
}

static lw_status read_columns(table *t, lw_error *error)
{
    lwi_hdf5_table *to = t->to;
    for (int k = 0; k < to->n; k++) {
        double *column = to->value + (size_t)k * (size_t)to->rows;
        if (k == to->text_column) {
            TRY(read_strings(t, to->name[k], error));
            continue;
        }
        const hid_t set = lwi_hdf5_open_dataset(t->file, t->disk, to->name[k], H5P_DEFAULT);
        const herr_t failed =
            set < 0 ? -1 : H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, column);
        if (set >= 0) H5Dclose(set);
        if (failed < 0) return lwi_hdf5_fail(error, LW_ERR_IO, t->path, "cannot be read");
        // statistics of a variant that fails may overflow
        for (long i = 0; i < to->rows; i++) {
            if (isfinite(column[i])) continue;
            if (!t->study) return wrong(t, error, to->name[k], "has a number that is not finite");
            column[i] = NAN; // as an empty field of CSV
        }
    }
    return LW_OK;
}

static lw_status read_all(table *t, lw_error *error)
{
    TRY(lwi_hdf5_disk_open(t->path, &t->disk, error));
    const hid_t access = lwi_hdf5_access(t->disk);
    t->file = access < 0 ? -1 : H5Fopen(t->path, H5F_ACC_RDONLY, access);
    if (access >= 0) H5Pclose(access);
    if (t->file < 0) return lwi_hdf5_fail_open(error, t->disk, t->path);
    TRY(list_columns(t, error));
    t->to->value = LWI_PUSH(t->arena, double, (size_t)t->to->n *(size_t)t->to->rows);
    if (!t->to->value || !lwi_hdf5_has_room(0))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
    return read_columns(t, error);
}

lw_status lwi_hdf5_table_read(const char *path, bool study, lwi_arena *arena, lwi_hdf5_table *to,
                              lw_error *error)
{
    lwi_hdf5_quiet quiet;
    TRY(lwi_hdf5_begin(0, &quiet, error));
    *to = (lwi_hdf5_table){.rows = -1, .text_column = -1};
    table t = {.path = path, .arena = arena, .file = -1, .study = study, .to = to};
    const lw_status status = read_all(&t, error);
    const bool given_back = t.file < 0 || H5Fclose(t.file) >= 0;
    lwi_hdf5_finish_after(quiet, status);
    if (given_back) lwi_hdf5_disk_close(t.disk); // else the library uses it until the program ends
    return status;
}

// ----------------------------------------------------------------------------------------- writing

static herr_t put_unit(hid_t set, const char *unit)
{
    if (!*unit) return 0;
    const hid_t type = lwi_hdf5_text_type(strlen(unit) + 1), space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        type < 0 || space < 0 ? -1 : H5Acreate2(set, "unit", type, space, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t done = attribute < 0 ? -1 : H5Awrite(attribute, type, unit);
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return done;
}

// A dataset with the name of a column; slashes in names would be groups.
static herr_t put_dataset(hid_t file, const char *name, const char *unit, hid_t type, int rank,
                          const hsize_t *size, const void *data)
{
    const hid_t space = H5Screate_simple(rank, size, NULL);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = -1;
    // no time stamps: the same table gives the same bytes
    if (space >= 0 && type >= 0 && create >= 0 && H5Pset_obj_track_times(create, false) >= 0)
        set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    herr_t done = set < 0 ? -1 : H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    if (done >= 0) done = put_unit(set, unit);
    if (set >= 0) H5Dclose(set);
    if (create >= 0) H5Pclose(create);
    if (space >= 0) H5Sclose(space);
    return done;
}

static herr_t put_column(hid_t file, const char *name, const char *unit, hid_t type, long rows,
                         const void *data)
{
    return put_dataset(file, name, unit, type, 1, &(hsize_t){(hsize_t)rows}, data);
}

static herr_t put_strings(hid_t file, const char *name, long rows, const char *const *text,
                          lwi_arena *arena)
{
    size_t bytes = 2;
    for (long i = 0; i < rows; i++)
        if (strlen(text[i]) + 1 > bytes) bytes = strlen(text[i]) + 1;
    if (bytes > MAX_STRING) bytes = MAX_STRING;
    char *block = LWI_PUSH(arena, char, bytes *(size_t)rows + 1);
    const hid_t type = lwi_hdf5_text_type(bytes);
    for (long i = 0; block && i < rows; i++)
        lwi_copy_text(block + (size_t)i * bytes, bytes, text[i]);
    const herr_t done = block ? put_column(file, name, "", type, rows, block) : -1;
    if (type >= 0) H5Tclose(type);
    return done;
}

static herr_t put_columns(hid_t file, const void *columns)
{
    const lwi_hdf5_table *t = columns;
    lwi_arena arena;
    herr_t done = 0;
    lwi_arena_init(&arena, NULL);
    for (int k = 0; k < t->n && done >= 0; k++)
        done = k == t->text_column ? put_strings(file, t->name[k], t->rows, t->text, &arena)
                                   : put_column(file, t->name[k], t->unit[k], H5T_NATIVE_DOUBLE,
                                                t->rows, t->value + (size_t)k * (size_t)t->rows);
    lwi_arena_free(&arena);
    return done;
}

static herr_t put_matrices(hid_t file, const void *matrices)
{
    const lwi_hdf5_matrices *all = matrices;
    static const double nothing = 0; // of an empty matrix
    lwi_arena arena;
    herr_t done = 0;
    lwi_arena_init(&arena, NULL);
    for (int k = 0; k < all->nmatrix && done >= 0; k++) {
        const lwi_hdf5_matrix *m = &all->matrix[k];
        const hsize_t size[2] = {(hsize_t)m->rows, (hsize_t)m->columns};
        done = put_dataset(file, m->name, "", H5T_NATIVE_DOUBLE, 2, size,
                           m->value ? m->value : &nothing);
    }
    for (int k = 0; k < all->nlist && done >= 0; k++)
        done = put_strings(file, all->list[k].name, all->list[k].n, all->list[k].text, &arena);
    lwi_arena_free(&arena);
    return done;
}

// A file with what `put` writes of `from`; it needs so many bytes.
static lw_status write_file(const char *path, size_t bytes, herr_t (*put)(hid_t, const void *),
                            const void *from, lw_error *error)
{
    lwi_hdf5_quiet quiet;
    lwi_hdf5_disk *disk;
    TRY(lwi_hdf5_disk_create(path, &disk, error));
    const lw_status begun = lwi_hdf5_begin(bytes, &quiet, error);
    if (begun != LW_OK) {
        lwi_hdf5_disk_close(disk);
        return begun;
    }
    const hid_t access = lwi_hdf5_access(disk), create = lwi_hdf5_ordered(H5P_FILE_CREATE);
    hid_t file = access < 0 || create < 0 ? -1 : H5Fcreate(path, H5F_ACC_TRUNC, create, access);
    herr_t done = file < 0 ? -1 : put(file, from);
    if (create >= 0) H5Pclose(create);
    if (access >= 0) H5Pclose(access);
    const lw_status failed =
        done < 0 ? lwi_hdf5_fail(error, LW_ERR_IO, path, "cannot be written") : LW_OK;
    if (file >= 0 && H5Fclose(file) < 0) done = -1;
    lwi_hdf5_finish_after(quiet, failed);
    const int trouble = lwi_hdf5_disk_close(disk);
    if (trouble)
        return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written: %s",
                           strerror(trouble));
    if (failed != LW_OK || done >= 0) return failed;
    return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written completely");
}

lw_status lwi_hdf5_table_write(const char *path, const lwi_hdf5_table *t, lw_error *error)
{
    return write_file(path, 16 * sizeof(double) * (size_t)t->rows, put_columns, t, error);
}

lw_status lwi_hdf5_matrices_write(const char *path, const lwi_hdf5_matrices *all, lw_error *error)
{
    size_t bytes = 0;
    for (int k = 0; k < all->nmatrix; k++)
        bytes += sizeof(double) * (size_t)all->matrix[k].rows * (size_t)all->matrix[k].columns;
    return write_file(path, 4 * bytes, put_matrices, all, error);
}
