// hdf5_read.c -- reads results, complete or not.
//
// Files are untrusted: type and size of every object are checked before it is read.
#include "base/assert.h"
#include "base/numbers.h"
#include "io/result/hdf5_common.h"
#include "io/result/hdf5_file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 1 << 26, LONGEST_TEXT = 256 << 20, LONGEST_NAME = 4096 };

// What an event does names all switches that it sets.
enum { LONGEST_ACTION = 1 << 20 };

// Elements of /columns that are read at once; units and frames that are stored once each.
enum { ELEMENTS = 4096, SHARED = 32 };

// Reading a column reads the other columns of its chunks too; they are cached, up to this many numbers for
// the rows requested.
enum { BAND_NUMBERS = 4 << 20 };

// Buffers of the library for the largest objects of a file, the text of a model for example; at most as long as it [bytes].
enum { LARGE_OBJECT = 64 << 20 };

// Cached rows first ..., columns from ... of the table.
typedef struct band {
    long first, rows, from, columns;
    double *value; // [rows][columns]
    size_t room;
} band;

struct lwi_hdf5_reader {
    const char *path;
    lwi_hdf5_disk *disk;
    lw_column_info of_time;
    hid_t file;
    bool closed;      ///< by its writer
    lw_status unread; ///< why an attribute could not be read; LW_OK: all could
    long rows;
    int n;
    lw_column_info *column;   // [n]
    hid_t time, table, state; // -1: not open
    long chunk;               // columns of /table in a chunk; 0: not known yet
    band kept;
    void *reserve;              // for closing
    const char *shared[SHARED]; // strings of the columns
    int nshared;
    lwi_result_meta meta;
    lw_summary summary;
    lw_options options;
    lwi_arena arena;
};

long lwi_hdf5_rows(const lwi_hdf5_reader *r)
{
    return r->rows;
}
bool lwi_hdf5_closed(const lwi_hdf5_reader *r)
{
    return r->closed;
}
const lwi_result_meta *lwi_hdf5_meta(const lwi_hdf5_reader *r)
{
    return &r->meta;
}
const lw_column_info *lwi_hdf5_columns(const lwi_hdf5_reader *r, int *n)
{
    *n = r->n;
    return r->column;
}

// The first bytes of the superblock: signature, version, two sizes, flags.  The flags are set while a writer
// has the file open.  [HDF5 File Format, II.A]
enum { HEAD = 12 };

static lw_status invalid(const lwi_hdf5_reader *r, lw_error *error, const char *what)
{
    return lwi_fail_at(error, LW_ERR_PARSE, r->path, 0, 0, "is not a result of Linkwork: %s", what);
}

// ------------------------------------------------------------------------------------------ blocks

// Opens a dataset of rows of numbers; *rows and *width: its present size, a series has width 1.
static hid_t open_numbers(const lwi_hdf5_reader *r, const char *path, long *rows, long *width)
{
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    if (access < 0 || H5Pset_chunk_cache(access, 1, 1 << 16, 1) < 0) return -1;
    const hid_t set = lwi_hdf5_open_dataset(r->file, r->disk, path, access);
    H5Pclose(access);
    if (set < 0) return -1;
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    hsize_t size[2] = {0, 1};
    const int rank = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
    const bool fits = type >= 0 && H5Tget_class(type) == H5T_FLOAT && (rank == 1 || rank == 2) &&
                      H5Sget_simple_extent_dims(space, size, NULL) == rank && size[0] <= LONG_MAX &&
                      size[1] <= MAX_COLUMNS;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (!fits) {
        H5Dclose(set);
        return -1;
    }
    *rows = (long)size[0];
    *width = (long)size[1];
    return set;
}

// Rows and columns of an open dataset in one chunk; 1: it is not in chunks.
static void chunk_size(hid_t set, long *rows, long *width)
{
    const hid_t create = H5Dget_create_plist(set);
    hsize_t size[2] = {1, 1};
    if (create >= 0 && H5Pget_layout(create) == H5D_CHUNKED && H5Pget_chunk(create, 2, size) < 1)
        size[0] = size[1] = 1;
    if (create >= 0) H5Pclose(create);
    *rows = size[0] >= 1 && size[0] <= LONG_MAX ? (long)size[0] : 1;
    *width = size[1] >= 1 && size[1] <= MAX_COLUMNS ? (long)size[1] : 1;
}

// values = rows first ..., columns from ... of an open dataset; rank 1: of a series.
static herr_t read_block(hid_t set, hid_t type, int rank, long first, long count, long from,
                         long width, hid_t transfer, void *values)
{
    const hsize_t start[2] = {(hsize_t)first, (hsize_t)from};
    const hsize_t size[2] = {(hsize_t)count, (hsize_t)width};
    const hid_t there = H5Dget_space(set), here = H5Screate_simple(rank, size, NULL);
    herr_t done = -1;
    if (there >= 0 && here >= 0 && H5Sget_simple_extent_ndims(there) == rank &&
        H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, size, NULL) >= 0)
        done = H5Dread(set, type, here, there, transfer, values);
    if (here >= 0) H5Sclose(here);
    if (there >= 0) H5Sclose(there);
    return done;
}

// The same without verifying checksums.
static herr_t read_unverified(hid_t set, int rank, long first, long count, long from, long width,
                              double *values)
{
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    herr_t done = -1;
    if (transfer >= 0 && H5Pset_edc_check(transfer, H5Z_DISABLE_EDC) >= 0)
        done =
            read_block(set, H5T_NATIVE_DOUBLE, rank, first, count, from, width, transfer, values);
    if (transfer >= 0) H5Pclose(transfer);
    return done;
}

// Rows of /time, /table or /state/x.  While the writer has the file open it rewrites the last block; that of a killed
// writer may be half written.  Its rows up to the number in /time are complete, its checksum is not.
static herr_t read_rows(const lwi_hdf5_reader *r, hid_t set, int rank, long first, long count,
                        long from, long width, double *values)
{
    long chunk, columns, verified = LONG_MAX;
    if (!r->closed) {
        chunk_size(set, &chunk, &columns);
        verified = r->rows > 0 ? (r->rows - 1) / chunk * chunk : 0;
    }
    const long before = verified <= first ? 0 : count < verified - first ? count : verified - first;
    if (before && read_block(set, H5T_NATIVE_DOUBLE, rank, first, before, from, width, H5P_DEFAULT,
                             values) < 0)
        return -1;
    if (before == count) return 0;
    return read_unverified(set, rank, first + before, count - before, from, width,
                           values + before * width);
}

// -------------------------------------------------------------------------------------- attributes

// < 0: there is none, or it cannot be read.
static hid_t open_attribute(lwi_hdf5_reader *r, hid_t object, const char *name)
{
    const htri_t exists = H5Aexists(object, name);
    const hid_t attribute = exists > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    if (exists < 0 || (exists > 0 && attribute < 0)) r->unread = LW_ERR_PARSE;
    return attribute;
}

// Reads a numeric scalar attribute; false: there is none.
static bool read_number(lwi_hdf5_reader *r, hid_t object, const char *name, H5T_class_t class,
                        hid_t type, void *value)
{
    const hid_t attribute = open_attribute(r, object, name);
    if (attribute < 0) return false;
    const hid_t stored = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const bool fits = stored >= 0 && space >= 0 && H5Tget_class(stored) == class &&
                      H5Sget_simple_extent_npoints(space) == 1;
    const bool done = fits && H5Aread(attribute, type, value) >= 0;
    if (fits && !done) r->unread = LW_ERR_PARSE;
    if (space >= 0) H5Sclose(space);
    if (stored >= 0) H5Tclose(stored);
    H5Aclose(attribute);
    return done;
}

// Size of a type of strings of fixed length; 0: another type, or longer than the file.
static size_t text_bytes(const lwi_hdf5_reader *r, hid_t type)
{
    const bool fits = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    const size_t bytes = fits ? H5Tget_size(type) : 0;
    return bytes <= LONGEST_TEXT && bytes <= lwi_hdf5_disk_length(r->disk) ? bytes : 0;
}

static const char *read_text(lwi_hdf5_reader *r, hid_t object, const char *name)
{
    const hid_t attribute = open_attribute(r, object, name);
    if (attribute < 0) return NULL;
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const bool one = type >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    const size_t bytes = one ? text_bytes(r, type) : 0;
    char *text = bytes ? LWI_PUSH(&r->arena, char, bytes + 1) : NULL;
    if (bytes && !text) r->unread = LW_ERR_MEMORY;
    if (text && H5Aread(attribute, type, text) < 0) text = NULL, r->unread = LW_ERR_PARSE;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    return text;
}

static void read_options(lwi_hdf5_reader *r)
{
    lw_options_default(&r->options);
    int found = 0;
    for (int i = 0; i < lw_option_count(); i++) {
        const lw_option_info o = lw_option_at(i);
        char name[64], text[LW_OPTION_STRING_SIZE];
        double number;
        snprintf(name, sizeof name, "settings.%s", o.key);
        if (o.is_real || o.is_integer) {
            if (!read_number(r, r->file, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, &number)) continue;
            lwi_number_write(number, text, sizeof text);
        } else {
            const char *word = read_text(r, r->file, name);
            if (!word) continue;
            lwi_copy_text(text, sizeof text, word);
        }
        found += lw_options_set(&r->options, o.key, text, NULL) == LW_OK;
    }
    if (found) r->meta.options = &r->options;
}

static void read_summary(lwi_hdf5_reader *r)
{
    bool whole = true;
#define X(key, kind)                                                                               \
    whole = read_number(r, r->file, "summary." #key, KIND_##kind, H5T_NATIVE_##kind,               \
                        &r->summary.key) &&                                                        \
            whole;
#define KIND_LONG H5T_INTEGER
#define KIND_DOUBLE H5T_FLOAT
    LWI_HDF5_SUMMARY_LIST(X)
#undef KIND_LONG
#undef KIND_DOUBLE
#undef X
    if (!read_number(r, r->file, "summary.valid_until", H5T_FLOAT, H5T_NATIVE_DOUBLE,
                     &r->summary.valid_until))
        r->summary.valid_until = r->summary.end; // files of earlier versions have none
    if (whole) r->meta.summary = &r->summary;
}

// Long attributes have no checksum in the file format.
static lw_status check_strings(lwi_hdf5_reader *r, lw_error *error)
{
    unsigned stored;
    if (!read_number(r, r->file, LWI_HDF5_STRINGS_CHECK, H5T_INTEGER, H5T_NATIVE_UINT, &stored) ||
        stored == lwi_hdf5_strings_check(&r->meta))
        return LW_OK;
    return lwi_fail_at(error, LW_ERR_PARSE, r->path, 0, 0,
                       "is damaged: model and strings do not have the checksum of their writer");
}

static lw_status read_meta(lwi_hdf5_reader *r, lw_error *error)
{
    int version = 0;
    const char *format = read_text(r, r->file, "format");
    if (r->unread == LW_ERR_MEMORY) return LW_OK; // reported by the caller
    if (!format || strcmp(format, LWI_HDF5_FORMAT) != 0)
        return invalid(r, error, "attribute 'format' is not '" LWI_HDF5_FORMAT "'");
    read_number(r, r->file, "format_version", H5T_INTEGER, H5T_NATIVE_INT, &version);
    if (version != LWI_HDF5_FORMAT_VERSION)
        return lwi_fail_at(error, LW_ERR_PARSE, r->path, 0, 0,
                           "version %d of the format is not supported, expected %d", version,
                           LWI_HDF5_FORMAT_VERSION);
    r->meta.model = read_text(r, r->file, "model");
    r->meta.notice = read_text(r, r->file, "notice");
    r->meta.warnings = read_text(r, r->file, "warnings");
    r->meta.versions = read_text(r, r->file, "versions");
    TRY(check_strings(r, error));
    read_options(r);
    read_summary(r);
    if (!lwi_hdf5_is_own(r->file, "/state")) return LW_OK;
    const hid_t group = H5Gopen2(r->file, "/state", H5P_DEFAULT);
    if (group < 0) return invalid(r, error, "/state is not a group");
    r->meta.formulation = read_text(r, group, "formulation");
    r->meta.layout = read_text(r, group, "layout");
    read_number(r, group, "size", H5T_INTEGER, H5T_NATIVE_INT, &r->meta.nx);
    H5Gclose(group);
    return r->meta.nx < 0 ? invalid(r, error, "the size of the state is negative") : LW_OK;
}

// ----------------------------------------------------------------------------------------- columns

// A copy of a string, shared with the columns that have the same.
static const char *share(lwi_hdf5_reader *r, const char *text)
{
    for (int i = 0; i < r->nshared; i++)
        if (!strcmp(r->shared[i], text)) return r->shared[i];
    const char *copy = lwi_arena_text(&r->arena, text);
    if (copy && r->nshared < SHARED) r->shared[r->nshared++] = copy;
    return copy;
}

static lw_status take_elements(lwi_hdf5_reader *r, char *element, const lwi_hdf5_element *e,
                               int first, int count, lw_error *error)
{
    for (int i = first; i < first + count; i++, element += e->bytes) {
        for (int k = 0; k < LWI_HDF5_READ; k++) element[e->text[k] + e->room[k] - 1] = 0;
        int undetermined;
        memcpy(&undetermined, element + e->undetermined, sizeof undetermined);
        LWI_ASSERT_INDEX(i, r->n);
        r->column[i] = (lw_column_info){lwi_arena_text(&r->arena, element + e->text[LWI_HDF5_NAME]),
                                        share(r, element + e->text[LWI_HDF5_UNIT]),
                                        share(r, element + e->text[LWI_HDF5_FRAME]),
                                        (unsigned char)undetermined};
        if (!r->column[i].name || !r->column[i].unit || !r->column[i].frame)
            return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
        if (!*r->column[i].name) return invalid(r, error, "/columns has an element without a name");
    }
    return LW_OK;
}

// Sizes of the stored strings; false: unexpected members.
static bool stored_element(const lwi_hdf5_reader *r, hid_t stored, lwi_hdf5_element *e)
{
    for (int k = 0; k < LWI_HDF5_READ; k++) {
        const int member = H5Tget_member_index(stored, lwi_hdf5_strings[k]);
        const hid_t type = member < 0 ? -1 : H5Tget_member_type(stored, (unsigned)member);
        e->room[k] = type < 0 ? 0 : text_bytes(r, type);
        if (type >= 0) H5Tclose(type);
        if (e->room[k] == 0 || e->room[k] > LONGEST_NAME) return false;
    }
    return true;
}

static lw_status read_elements(lwi_hdf5_reader *r, hid_t set, hid_t type, const lwi_hdf5_element *e,
                               lw_error *error)
{
    char *elements = lwi_allocate(NULL, ELEMENTS * e->bytes);
    lw_status status =
        elements ? LW_OK : lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    for (int first = 1; first < r->n && status == LW_OK; first += ELEMENTS) {
        const int count = r->n - first < ELEMENTS ? r->n - first : ELEMENTS;
        if (read_block(set, type, 1, first - 1, count, 0, 1, H5P_DEFAULT, elements) < 0)
            status = lwi_hdf5_fail(error, LW_ERR_PARSE, r->path, "/columns cannot be read");
        else
            status = take_elements(r, elements, e, first, count, error);
    }
    lwi_release(NULL, elements);
    return status;
}

// Column 0 is the time, which is not in /columns.
static lw_status take_columns(lwi_hdf5_reader *r, hid_t set, hid_t stored, lw_error *error)
{
    lwi_hdf5_element element = {0};
    if (!stored_element(r, stored, &element))
        return invalid(r, error, "/columns has unexpected members");
    r->column = LWI_PUSH(&r->arena, lw_column_info, r->n);
    if (!r->column) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    r->column[0] = r->of_time;
    const hid_t type = lwi_hdf5_element_type(&element, LWI_HDF5_READ);
    if (type < 0) return lwi_hdf5_fail(error, LW_ERR_PARSE, r->path, "/columns cannot be read");
    const lw_status status = read_elements(r, set, type, &element, error);
    H5Tclose(type);
    return status;
}

static lw_status read_columns(lwi_hdf5_reader *r, lw_error *error)
{
    if (H5Lexists(r->file, "/columns", H5P_DEFAULT) <= 0)
        return invalid(r, error,
                       "there is no /columns; was the writer killed before the first row?");
    const hid_t set = lwi_hdf5_open_dataset(r->file, r->disk, "/columns", H5P_DEFAULT);
    if (set < 0) return invalid(r, error, "/columns is not a table");
    const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    hsize_t n = 0;
    lw_status status;
    if (space < 0 || type < 0 || H5Tget_class(type) != H5T_COMPOUND ||
        H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &n, NULL) != 1 ||
        n >= MAX_COLUMNS) {
        status = invalid(r, error, "/columns is not a table");
    } else {
        r->n = 1 + (int)n;
        status = take_columns(r, set, type, error);
    }
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    H5Dclose(set);
    return status;
}

// ----------------------------------------------------------------------------------------- numbers

// Opens a dataset once; it must have the announced width, and rows.
static lw_status open_once(lwi_hdf5_reader *r, const char *path, hid_t *set, long expected,
                           lw_error *error)
{
    long rows, width;
    if (*set >= 0) return LW_OK;
    *set = open_numbers(r, path, &rows, &width);
    if (*set < 0)
        return lwi_fail_at(error, LW_ERR_PARSE, r->path, 0, 0,
                           "%s is missing or not a table of numbers", path);
    lw_status status = LW_OK;
    if (rows < r->rows)
        status = lwi_fail_at(error, LW_ERR_PARSE, r->path, 0, 0, "%s has %ld rows, /time %ld", path,
                             rows, r->rows);
    else if (width != expected)
        status = lwi_fail_at(error, LW_ERR_PARSE, r->path, 0, 0, "%s has %ld columns, expected %ld",
                             path, width, expected);
    if (status == LW_OK) return LW_OK;
    H5Dclose(*set);
    *set = -1;
    return status;
}

// Caches these rows of a column and of the other columns in its chunks.
static lw_status fill_band(lwi_hdf5_reader *r, long first, long count, long place, lw_error *error)
{
    long columns = r->chunk;
    while (columns > 1 && count > BAND_NUMBERS / columns) columns = (columns + 1) / 2;
    const long from = place / columns * columns, width = r->n - 1;
    if (columns > width - from) columns = width - from;
    LWI_ASSERT(count > 0 && columns > 0);
    LWI_ASSERT(place >= from && place < from + columns);
    const size_t numbers = (size_t)count * (size_t)columns;
    band *k = &r->kept;
    k->rows = 0;
    if (numbers > k->room) {
        lwi_release(NULL, k->value);
        k->room = 0;
        k->value = lwi_allocate(NULL, numbers * sizeof *k->value);
        if (!k->value || !lwi_hdf5_has_room(0))
            return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
        k->room = numbers;
    }
    if (read_rows(r, r->table, 2, first, count, from, columns, k->value) < 0)
        return lwi_hdf5_fail(error, LW_ERR_IO, r->path, "cannot be read");
    k->first = first, k->rows = count, k->from = from, k->columns = columns;
    return LW_OK;
}

// From the rows and columns that are cached; false: they are not.
static bool read_band(const band *k, long place, long first, long count, double *values)
{
    if (first < k->first || first + count > k->first + k->rows || place < k->from ||
        place >= k->from + k->columns)
        return false;
    LWI_ASSERT((size_t)k->rows * (size_t)k->columns <= k->room);
    const double *from = k->value + (first - k->first) * k->columns + (place - k->from);
    for (long i = 0; i < count; i++) values[i] = from[i * k->columns];
    return true;
}

static lw_status read_column(lwi_hdf5_reader *r, int column, long first, long count, double *values,
                             lw_error *error)
{
    const bool time = column == 0;
    if (time)
        TRY(open_once(r, "/time", &r->time, 1, error));
    else
        TRY(open_once(r, "/table", &r->table, r->n - 1, error));
    long rows;
    if (!time && !r->chunk) chunk_size(r->table, &rows, &r->chunk);
    if (count == 0) return LW_OK;
    if (!time) TRY(fill_band(r, first, count, column - 1, error));
    const bool done = time ? read_rows(r, r->time, 1, first, count, 0, 1, values) >= 0
                           : read_band(&r->kept, column - 1, first, count, values);
    return done ? LW_OK : lwi_hdf5_fail(error, LW_ERR_IO, r->path, "cannot be read");
}

// Rows have finite numbers only.
static lw_status check_finite(const lwi_hdf5_reader *r, const char *what, long first, long count,
                              const double *values, lw_error *error)
{
    for (long i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return lwi_fail_at(error, LW_ERR_PARSE, r->path, 0, 0,
                               "is damaged: number %ld of %.120s is %g", first + i, what,
                               values[i]);
    return LW_OK;
}

lw_status lwi_hdf5_read(lwi_hdf5_reader *r, int column, long first, long count, double *values,
                        lw_error *error)
{
    LWI_ASSERT_INDEX(column, r->n);
    LWI_ASSERT(first >= 0 && count >= 0 && first + count <= r->rows);
    const char *name = r->column[column].name;
    if (column > 0 && count > 0 && read_band(&r->kept, column - 1, first, count, values))
        return check_finite(r, name, first, count, values, error);
    lwi_hdf5_quiet quiet;
    TRY(lwi_hdf5_begin(0, &quiet, error));
    const lw_status status = read_column(r, column, first, count, values, error);
    lwi_hdf5_finish_after(quiet, status);
    return status == LW_OK ? check_finite(r, name, first, count, values, error) : status;
}

lw_status lwi_hdf5_read_state(lwi_hdf5_reader *r, long row, double *x, lw_error *error)
{
    if (r->meta.nx == 0) return LW_OK;
    lwi_hdf5_quiet quiet;
    TRY(lwi_hdf5_begin(0, &quiet, error));
    lw_status status = open_once(r, "/state/x", &r->state, r->meta.nx, error);
    if (status == LW_OK && read_rows(r, r->state, 2, row, 1, 0, r->meta.nx, x) < 0)
        status = lwi_hdf5_fail(error, LW_ERR_IO, r->path, "the state cannot be read");
    lwi_hdf5_finish_after(quiet, status);
    return status == LW_OK ? check_finite(r, "the state", 0, r->meta.nx, x, error) : status;
}

// ------------------------------------------------------------------------------------------ events

// Offsets are our own; the library converts from those of the file.
static bool stored_event(const lwi_hdf5_reader *r, hid_t stored, lwi_hdf5_event_element *e)
{
    static const struct {
        const char *name;
        H5T_class_t class;
    } number[] = {{"time", H5T_FLOAT}, {"row", H5T_INTEGER}, {"instance", H5T_INTEGER}};
    if (H5Tget_class(stored) != H5T_COMPOUND) return false;
    for (int k = 0; k < LWI_COUNT(number); k++) {
        const int member = H5Tget_member_index(stored, number[k].name);
        if (member < 0 || H5Tget_member_class(stored, (unsigned)member) != number[k].class)
            return false;
    }
    for (int k = 0; k < LWI_HDF5_EVENT_STRINGS; k++) {
        const int member = H5Tget_member_index(stored, lwi_hdf5_event_strings[k]);
        const hid_t type = member < 0 ? -1 : H5Tget_member_type(stored, (unsigned)member);
        e->room[k] = type < 0 ? 0 : text_bytes(r, type);
        if (type >= 0) H5Tclose(type);
        if (e->room[k] == 0 || e->room[k] > LONGEST_ACTION) return false;
    }
    lwi_hdf5_event_offsets(e);
    return true;
}

// Events of rows that are not in /time were not flushed completely: they are left out.
static lw_status take_events(const lwi_hdf5_reader *r, char *element,
                             const lwi_hdf5_event_element *e, long n, lw_result_event *to,
                             long *count, lw_error *error)
{
    for (long i = 0; i < n; i++, element += e->bytes) {
        lw_result_event event;
        memcpy(&event.time, element + e->time, sizeof event.time);
        memcpy(&event.row, element + e->row, sizeof event.row);
        memcpy(&event.instance, element + e->instance, sizeof event.instance);
        for (int k = 0; k < LWI_HDF5_EVENT_STRINGS; k++) element[e->text[k] + e->room[k] - 1] = 0;
        event.name = element + e->text[0], event.action = element + e->text[1];
        if (event.row >= r->rows || (!r->closed && !*event.name)) continue;
        if (!isfinite(event.time) || event.row < 0 || event.instance < 0 || !*event.name)
            return lwi_fail_at(error, LW_ERR_PARSE, r->path, 0, 0,
                               "is damaged: event %ld has time %g, row %ld, instance %d", i,
                               event.time, event.row, event.instance);
        to[(*count)++] = event;
    }
    return LW_OK;
}

static lw_status read_events(const lwi_hdf5_reader *r, hid_t set, hid_t stored, long n,
                             lwi_arena *arena, const lw_result_event **events, long *count,
                             lw_error *error)
{
    lwi_hdf5_event_element e = {0};
    if (!stored_event(r, stored, &e)) return invalid(r, error, "/events has unexpected members");
    char *elements = LWI_PUSH(arena, char, (size_t)n *e.bytes + 1);
    lw_result_event *list = LWI_PUSH(arena, lw_result_event, n + 1);
    if (!elements || !list) return lwi_fail(error, LW_ERR_MEMORY, "no memory for events");
    const hid_t type = lwi_hdf5_event_type(&e), transfer = H5Pcreate(H5P_DATASET_XFER);
    herr_t failed = type < 0 || transfer < 0 ? -1 : 0;
    if (failed >= 0 && !r->closed) failed = H5Pset_edc_check(transfer, H5Z_DISABLE_EDC);
    if (failed >= 0 && n) failed = read_block(set, type, 1, 0, n, 0, 1, transfer, elements);
    if (transfer >= 0) H5Pclose(transfer);
    if (type >= 0) H5Tclose(type);
    if (failed < 0) return lwi_hdf5_fail(error, LW_ERR_PARSE, r->path, "/events cannot be read");
    *events = list;
    return take_events(r, elements, &e, n, list, count, error);
}

static lw_status find_events(const lwi_hdf5_reader *r, lwi_arena *arena,
                             const lw_result_event **events, long *count, lw_error *error)
{
    if (H5Lexists(r->file, "/events", H5P_DEFAULT) <= 0) return LW_OK;
    const hid_t set = lwi_hdf5_open_dataset(r->file, r->disk, "/events", H5P_DEFAULT);
    if (set < 0) return invalid(r, error, "/events is not a table");
    const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    hsize_t n = 0;
    const bool table = space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                       H5Sget_simple_extent_dims(space, &n, NULL) == 1 &&
                       n < LONG_MAX / (4 * LONGEST_ACTION);
    const lw_status status = table ? read_events(r, set, type, (long)n, arena, events, count, error)
                                   : invalid(r, error, "/events is not a table");
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    H5Dclose(set);
    return status;
}

lw_status lwi_hdf5_events(lwi_hdf5_reader *r, lwi_arena *arena, const lw_result_event **events,
                          long *count, lw_error *error)
{
    lwi_hdf5_quiet quiet;
    TRY(lwi_hdf5_begin(0, &quiet, error));
    const lw_status status = find_events(r, arena, events, count, error);
    lwi_hdf5_finish_after(quiet, status);
    return status;
}

// ------------------------------------------------------------------------------------ open, close

// The number of rows is that of /time, without rows at its end that a killed writer has not filled: they are
// NaN.
static lw_status count_rows(lwi_hdf5_reader *r, lw_error *error)
{
    long width;
    const hid_t set = open_numbers(r, "/time", &r->rows, &width);
    if (set < 0) return invalid(r, error, "there is no /time with numbers");
    double t = 0;
    herr_t failed = 0;
    for (; !r->closed && r->rows > 0 && failed >= 0; r->rows--) {
        failed = read_rows(r, set, 1, r->rows - 1, 1, 0, 1, &t);
        if (failed >= 0 && isfinite(t)) break;
    }
    H5Dclose(set);
    return failed < 0 ? lwi_hdf5_fail(error, LW_ERR_PARSE, r->path, "/time cannot be read") : LW_OK;
}

// Opens a closed file, or one of a writer that is running or was killed.  Metadata that the writer is
// just changing are read again; the library waits 1, 2, 4, ... ns between attempts: 24 attempts take
// 17 ms, its default of 100 would never end.
static lw_status open_file(lwi_hdf5_reader *r, lw_error *error)
{
    enum { ATTEMPTS = 24 };
    unsigned char head[HEAD];
    TRY(lwi_hdf5_disk_open(r->path, &r->disk, error));
    const hsize_t length = lwi_hdf5_disk_length(r->disk);
    if (!lwi_hdf5_has_room((size_t)(length < LARGE_OBJECT ? length : LARGE_OBJECT)))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    const hid_t access = lwi_hdf5_access(r->disk);
    if (access < 0) return lwi_hdf5_fail(error, LW_ERR_IO, r->path, "cannot be opened");
    r->closed = lwi_hdf5_disk_peek(r->disk, head, HEAD) < HEAD || !lwi_hdf5_is_signed(head) ||
                head[8] < 3 || head[11] == 0;
    unsigned flags = H5F_ACC_RDONLY;
    if (!r->closed && H5Pset_metadata_read_attempts(access, ATTEMPTS) >= 0)
        flags |= H5F_ACC_SWMR_READ;
    r->file = H5Fopen(r->path, flags, access);
    const lw_status status = r->file < 0 ? lwi_hdf5_fail_open(error, r->disk, r->path) : LW_OK;
    H5Pclose(access);
    return status;
}

static lw_status start(lwi_hdf5_reader *r, lw_error *error)
{
    TRY(open_file(r, error));
    TRY(read_meta(r, error));
    if (r->unread == LW_ERR_MEMORY)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the attributes of a result");
    if (r->unread != LW_OK)
        return lwi_fail_at(error, r->unread, r->path, 0, 0,
                           "is damaged: an attribute cannot be read");
    TRY(read_columns(r, error));
    return count_rows(r, error);
}

static lw_status start_quietly(lwi_hdf5_reader *r, lw_error *error)
{
    lwi_hdf5_quiet quiet;
    TRY(lwi_hdf5_begin(0, &quiet, error));
    const lw_status status = start(r, error);
    lwi_hdf5_finish_after(quiet, status);
    return status;
}

lw_status lwi_hdf5_open(const char *path, lw_column_info time, lwi_hdf5_reader **reader,
                        lw_error *error)
{
    lwi_hdf5_reader *r = lwi_allocate(NULL, sizeof *r);
    if (!r) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    *r = (lwi_hdf5_reader){.of_time = time, .file = -1, .time = -1, .table = -1, .state = -1};
    lwi_arena_init(&r->arena, NULL);
    r->path = lwi_arena_text(&r->arena, path);
    r->reserve = lwi_hdf5_reserve();
    const lw_status status = r->path && r->reserve
                                 ? start_quietly(r, error)
                                 : lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    if (status == LW_OK)
        *reader = r;
    else
        lwi_hdf5_end(r);
    return status;
}

static bool close_file(lwi_hdf5_reader *r)
{
    const lwi_hdf5_quiet quiet = lwi_hdf5_begin_close(r->reserve);
    r->reserve = NULL;
    if (r->time >= 0) H5Dclose(r->time);
    if (r->table >= 0) H5Dclose(r->table);
    if (r->state >= 0) H5Dclose(r->state);
    const bool closed = H5Fclose(r->file) >= 0;
    lwi_hdf5_finish(quiet);
    return closed;
}

void lwi_hdf5_end(lwi_hdf5_reader *r)
{
    if (!r) return;
    const bool given_back = r->file < 0 || close_file(r);
    if (given_back) lwi_hdf5_disk_close(r->disk); // else the library uses it until the program ends
    lwi_release(NULL, r->reserve);
    lwi_release(NULL, r->kept.value);
    lwi_arena_free(&r->arena);
    lwi_release(NULL, r);
}
