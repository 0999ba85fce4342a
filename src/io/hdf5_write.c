// hdf5_write.c -- writes a result while a run goes on.
//
// Rows gather in a block of memory, dataset by dataset; a full block, or a second without a flush,
// sends it to the file: every dataset grows and is written, the file is flushed, and only then
// /time grows.  Whatever is there of /time is there of everything.
#include "io/hdf5_common.h"
#include "io/hdf5_file.h"

#include <linkwork/io.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A block has at most so many rows and, above one row, about so many bytes.  256 rows are 2 to 14
// kB of a dataset: chunks of that size cost little to find.  Of a short run the last chunk would be
// most of the file, so that blocks are not longer than the run, if it is not a guess of almost
// nothing.
enum { MOST_ROWS = 256, FEWEST_ROWS = 16, BLOCK_BYTES = 16 << 20 };

// The library's time for a flush grows with the square of what has to be flushed; of 11 000
// datasets that were flushed together it took 3.5 s, by a thousand at a time 0.9 s.
enum { SETS_PER_FLUSH = 1024 };

// Where the caller has no wish: rows wait for a second; of a large model longer, so that flushes
// take at most a fifth of the time.
#define FLUSH_INTERVAL 1.0
#define FLUSH_SHARE 4

struct lwi_hdf5_writer {
    const char *path;
    const lwi_columns *columns;
    const lwi_result_meta *meta;
    hid_t file, *set;    // [ndataset], then the state
    hid_t link, ordered; // properties: names in UTF-8; groups keep their order
    int nset;
    int *start;    // [nset + 1] first number of a dataset in a row of the block
    double *block; // [dataset][capacity][width]
    long capacity, filled, rows;
    bool no_wish;
    double pause;   // [s] between flushes
    double flushed; // [s] of the clock
    bool begun;     // laid out, readers may come
    bool failed;
    lw_error error; // of the first failure
    lwi_arena arena;
};

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static lw_status fail(lwi_hdf5_writer *w, const char *what)
{
    if (!w->failed) lwi_hdf5_fail(&w->error, LW_ERR_IO, w->path, what);
    w->failed = true;
    return LW_ERR_IO;
}

// -------------------------------------------------------------------------------------- attributes

static herr_t put_attribute(hid_t object, const char *name, hid_t type, const void *value)
{
    const hid_t scalar = H5Screate(H5S_SCALAR);
    if (scalar < 0) return -1;
    const hid_t attribute = H5Acreate2(object, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    herr_t done = -1;
    if (attribute >= 0) {
        done = H5Awrite(attribute, type, value);
        H5Aclose(attribute);
    }
    H5Sclose(scalar);
    return done;
}

static herr_t put_text(hid_t object, const char *name, const char *text)
{
    if (!text) return 0;
    const hid_t type = lwi_hdf5_text_type(strlen(text) + 1);
    if (type < 0) return -1;
    const herr_t done = put_attribute(object, name, type, text);
    H5Tclose(type);
    return done;
}

static herr_t put_integer(hid_t object, const char *name, int value)
{
    return put_attribute(object, name, H5T_NATIVE_INT, &value);
}

static herr_t put_options(hid_t object, const lw_options *options)
{
    herr_t failed = 0;
    if (!options) return 0;
#define PUT_WORD(key) failed |= put_text(object, "settings." #key, options->key);
#define PUT_TEXT(key) PUT_WORD(key)
#define PUT_REAL(key)                                                                              \
    failed |= put_attribute(object, "settings." #key, H5T_NATIVE_DOUBLE, &options->key);
#define X(key, kind, fallback, value, help) PUT_##kind(key)
    LW_OPTION_LIST(X)
#undef X
    return failed;
}

static herr_t put_meta(hid_t file, const lwi_result_meta *meta)
{
    return put_text(file, "format", LWI_HDF5_FORMAT) |
           put_integer(file, "format_version", LWI_HDF5_FORMAT_VERSION) |
           put_text(file, "versions", meta->versions) | put_options(file, meta->options) |
           put_text(file, "notice", meta->notice) | put_text(file, "warnings", meta->warnings) |
           put_text(file, "model", meta->model);
}

// ------------------------------------------------------------------------------------------ layout

// The groups that a path leads through.
static herr_t make_groups(const lwi_hdf5_writer *w, const char *path, char *scratch)
{
    herr_t failed = 0;
    for (const char *p = strchr(path + 1, '/'); p && failed >= 0; p = strchr(p + 1, '/')) {
        memcpy(scratch, path, (size_t)(p - path));
        scratch[p - path] = 0;
        if (H5Lexists(w->file, scratch, H5P_DEFAULT) > 0) continue;
        const hid_t group = H5Gcreate2(w->file, scratch, w->link, w->ordered, H5P_DEFAULT);
        failed = group < 0 ? -1 : H5Gclose(group);
    }
    return failed;
}

// Empty, growing along the rows.  Rows of /time that were never written are no numbers.
static hid_t make_dataset(const lwi_hdf5_writer *w, const char *path, int width)
{
    const hsize_t columns = (hsize_t)(width ? width : 1);
    const hsize_t now[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns};
    const hsize_t chunk[2] = {(hsize_t)w->capacity, columns};
    const double nothing = !strcmp(path, "/time") ? NAN : 0;
    const hid_t space = H5Screate_simple(width ? 2 : 1, now, most);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE), access = H5Pcreate(H5P_DATASET_ACCESS);
    const size_t bytes = (size_t)chunk[0] * (size_t)columns * sizeof(double);
    hid_t set = -1;
    if (space >= 0 && create >= 0 && access >= 0 &&
        H5Pset_chunk(create, width ? 2 : 1, chunk) >= 0 &&
        H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &nothing) >= 0 &&
        H5Pset_obj_track_times(create, false) >= 0 && H5Pset_chunk_cache(access, 1, bytes, 1) >= 0)
        set = H5Dcreate2(w->file, path, H5T_IEEE_F64LE, space, w->link, create, access);
    if (access >= 0) H5Pclose(access);
    if (create >= 0) H5Pclose(create);
    if (space >= 0) H5Sclose(space);
    return set;
}

static lw_status lay_out_datasets(lwi_hdf5_writer *w, const unsigned char *unique)
{
    const lwi_columns *c = w->columns;
    size_t longest = 0;
    for (int d = 0; d < c->ndataset; d++) {
        const size_t length = strlen(c->dataset[d].path);
        longest = length > longest ? length : longest;
    }
    char *scratch = LWI_PUSH(&w->arena, char, longest + 1);
    if (!scratch) return fail(w, "no memory for the datasets");
    for (int d = 0; d < c->ndataset; d++) {
        const lwi_dataset *s = &c->dataset[d];
        herr_t failed = make_groups(w, s->path, scratch);
        if (failed >= 0) w->set[d] = make_dataset(w, s->path, s->width);
        if (failed < 0 || w->set[d] < 0) return fail(w, "a dataset cannot be made");
        if (*s->unit) failed |= put_text(w->set[d], "unit", s->unit);
        if (*s->frame) failed |= put_text(w->set[d], "frame", s->frame);
        if (s->joint >= 0) failed |= put_integer(w->set[d], "unique", !unique || unique[s->joint]);
        if (failed < 0) return fail(w, "a dataset cannot be described");
    }
    return LW_OK;
}

static lw_status lay_out_state(lwi_hdf5_writer *w)
{
    if (!w->meta->formulation) return LW_OK;
    const hid_t group = H5Gcreate2(w->file, "/state", w->link, w->ordered, H5P_DEFAULT);
    if (group < 0) return fail(w, "the state cannot be made");
    const herr_t failed = put_text(group, "formulation", w->meta->formulation) |
                          put_text(group, "layout", w->meta->layout) |
                          put_integer(group, "size", w->meta->nx) | H5Gclose(group);
    if (failed < 0) return fail(w, "the state cannot be described");
    if (!w->meta->nx) return LW_OK;
    w->set[w->nset - 1] = make_dataset(w, "/state/x", w->meta->nx);
    return w->set[w->nset - 1] < 0 ? fail(w, "the state cannot be made") : LW_OK;
}

static void texts_of(const lwi_columns *c, int i, const char *text[LWI_HDF5_TEXTS])
{
    text[LWI_HDF5_NAME] = c->column[i].name;
    text[LWI_HDF5_DATASET] = c->dataset[c->column[i].dataset].path;
    text[LWI_HDF5_UNIT] = c->column[i].unit;
    text[LWI_HDF5_FRAME] = c->column[i].frame;
}

// The elements of /columns, one behind the other.
static char *make_table(lwi_hdf5_writer *w, const unsigned char *unique, const lwi_hdf5_element *e)
{
    const lwi_columns *c = w->columns;
    char *table = lwi_arena_push(&w->arena, (size_t)c->n, e->bytes), *at = table;
    for (int i = 0; table && i < c->n; i++, at += e->bytes) {
        const char *text[LWI_HDF5_TEXTS];
        const int joint = c->column[i].joint, sure = joint < 0 || !unique || unique[joint];
        texts_of(c, i, text);
        for (int k = 0; k < LWI_HDF5_TEXTS; k++) strcpy(at + e->text[k], text[k]);
        memcpy(at + e->component, &c->column[i].component, sizeof(int));
        memcpy(at + e->unique, &sure, sizeof(int));
    }
    return table;
}

static lw_status lay_out_columns(lwi_hdf5_writer *w, const unsigned char *unique)
{
    const lwi_columns *c = w->columns;
    const hsize_t n = (hsize_t)c->n;
    lwi_hdf5_element element = {0};
    for (int i = 0; i < c->n; i++) {
        const char *text[LWI_HDF5_TEXTS];
        texts_of(c, i, text);
        for (int k = 0; k < LWI_HDF5_TEXTS; k++)
            if (strlen(text[k]) >= element.room[k]) element.room[k] = strlen(text[k]) + 1;
    }
    const hid_t type = lwi_hdf5_element_type(&element), space = H5Screate_simple(1, &n, NULL);
    const char *table = type < 0 ? NULL : make_table(w, unique, &element);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE); // no times: the same run, the same bytes
    hid_t set = -1;
    if (table && space >= 0 && create >= 0 && H5Pset_obj_track_times(create, false) >= 0)
        set = H5Dcreate2(w->file, "/columns", type, space, w->link, create, H5P_DEFAULT);
    herr_t failed = set < 0 ? -1 : H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, table);
    failed |= set < 0 ? -1 : H5Dclose(set);
    if (create >= 0) H5Pclose(create);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return failed < 0 ? fail(w, "the columns cannot be written") : LW_OK;
}

// From here on nothing but rows is added, and readers may come.
static lw_status lay_out(lwi_hdf5_writer *w, const unsigned char *unique)
{
    w->begun = true;
    TRY(lay_out_columns(w, unique));
    TRY(lay_out_datasets(w, unique));
    TRY(lay_out_state(w));
    if (H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0 || H5Fstart_swmr_write(w->file) < 0)
        return fail(w, "cannot be written");
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- rows

static const double *block_of(const lwi_hdf5_writer *w, int set)
{
    return w->block + w->start[set] * w->capacity;
}

static int rank_of(const lwi_hdf5_writer *w, int set)
{
    return set < w->columns->ndataset && w->columns->dataset[set].width == 0 ? 1 : 2;
}

static herr_t append(lwi_hdf5_writer *w, int set)
{
    const int rank = rank_of(w, set);
    const hsize_t width = (hsize_t)(w->start[set + 1] - w->start[set]);
    const hsize_t size[2] = {(hsize_t)(w->rows + w->filled), width};
    const hsize_t first[2] = {(hsize_t)w->rows, 0}, count[2] = {(hsize_t)w->filled, width};
    if (H5Dset_extent(w->set[set], size) < 0) return -1;
    const hid_t there = H5Dget_space(w->set[set]), here = H5Screate_simple(rank, count, NULL);
    herr_t done = -1;
    if (there >= 0 && here >= 0 &&
        H5Sselect_hyperslab(there, H5S_SELECT_SET, first, NULL, count, NULL) >= 0)
        done = H5Dwrite(w->set[set], H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, block_of(w, set));
    if (here >= 0) H5Sclose(here);
    if (there >= 0) H5Sclose(there);
    return done;
}

// Rows become visible with the time, which is the first dataset.
static lw_status flush(lwi_hdf5_writer *w)
{
    if (w->failed) return LW_ERR_IO;
    if (!w->filled) return LW_OK;
    const double began = clock_seconds();
    for (int s = 1; s < w->nset; s++)
        if (append(w, s) < 0 || (s % SETS_PER_FLUSH == 0 && H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0))
            return fail(w, "cannot be written");
    if (H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0 || append(w, 0) < 0 ||
        H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0)
        return fail(w, "cannot be written");
    w->rows += w->filled;
    w->filled = 0;
    w->flushed = clock_seconds();
    if (w->no_wish) w->pause = fmax(FLUSH_INTERVAL, FLUSH_SHARE * (w->flushed - began));
    return LW_OK;
}

static void gather(lwi_hdf5_writer *w, const double *row, const double *x)
{
    const lwi_columns *c = w->columns;
    for (int i = 0; i < c->n; i++) {
        const int d = c->column[i].dataset, width = w->start[d + 1] - w->start[d];
        w->block[w->start[d] * w->capacity + w->filled * width + c->column[i].component] = row[i];
    }
    const int nx = w->meta->nx;
    double *states = w->block + w->start[c->ndataset] * w->capacity;
    if (nx) memcpy(states + w->filled * nx, x, (size_t)nx * sizeof *x);
    w->filled++;
}

static lw_status add_row(lwi_hdf5_writer *w, const double *row, const double *x,
                         const unsigned char *unique)
{
    const bool first = !w->begun;
    if (w->failed) return LW_ERR_IO;
    if (first) TRY(lay_out(w, unique));
    gather(w, row, x);
    const bool due = clock_seconds() - w->flushed >= w->pause;
    return first || due || w->filled == w->capacity ? flush(w) : LW_OK;
}

lw_status lwi_hdf5_row(lwi_hdf5_writer *w, const double *row, const double *x,
                       const unsigned char *unique)
{
    const lwi_hdf5_quiet quiet = lwi_hdf5_begin();
    const lw_status status = add_row(w, row, x, unique);
    lwi_hdf5_finish_after(quiet, status);
    return status;
}

lw_status lwi_hdf5_poll(lwi_hdf5_writer *w)
{
    if (clock_seconds() - w->flushed < w->pause) return LW_OK;
    const lwi_hdf5_quiet quiet = lwi_hdf5_begin();
    const lw_status status = flush(w);
    lwi_hdf5_finish_after(quiet, status);
    return status;
}

// ------------------------------------------------------------------------------------ open, close

static lw_status allocate(lwi_hdf5_writer *w, double expected)
{
    const lwi_columns *c = w->columns;
    w->nset = c->ndataset + (w->meta->nx > 0);
    w->set = LWI_PUSH(&w->arena, hid_t, w->nset);
    w->start = LWI_PUSH(&w->arena, int, w->nset + 1);
    if (!w->set || !w->start) return LW_ERR_MEMORY;
    for (int s = 0; s < w->nset; s++) {
        const int width = s < c->ndataset ? c->dataset[s].width : w->meta->nx;
        w->set[s] = -1;
        w->start[s + 1] = w->start[s] + (width ? width : 1);
    }
    const long numbers = w->start[w->nset];
    const long fit = BLOCK_BYTES / (numbers * (long)sizeof(double));
    const double most = expected > 0 ? fmax(FEWEST_ROWS, fmin(expected, MOST_ROWS)) : MOST_ROWS;
    w->capacity = fit < 1 ? 1 : fit > (long)most ? (long)most : fit;
    w->block = LWI_PUSH(&w->arena, double, numbers * w->capacity);
    return w->block ? LW_OK : LW_ERR_MEMORY;
}

static lw_status open_file(lwi_hdf5_writer *w)
{
    const hid_t access = lwi_hdf5_access(), create = lwi_hdf5_ordered(H5P_FILE_CREATE);
    w->ordered = lwi_hdf5_ordered(H5P_GROUP_CREATE);
    w->link = H5Pcreate(H5P_LINK_CREATE);
    if (access >= 0 && create >= 0 && w->ordered >= 0 && w->link >= 0 &&
        H5Pset_char_encoding(w->link, H5T_CSET_UTF8) >= 0)
        w->file = H5Fcreate(w->path, H5F_ACC_TRUNC, create, access);
    const lw_status status = w->file < 0 ? fail(w, "cannot be written") : LW_OK;
    if (create >= 0) H5Pclose(create);
    if (access >= 0) H5Pclose(access);
    if (status == LW_OK && put_meta(w->file, w->meta) < 0)
        return fail(w, "what belongs to the run cannot be written");
    return status;
}

static void discard(lwi_hdf5_writer *w)
{
    if (w->link >= 0) H5Pclose(w->link);
    if (w->ordered >= 0) H5Pclose(w->ordered);
    lwi_arena_free(&w->arena);
    lwi_release(NULL, w);
}

// What is still to be written goes nowhere: a file that cannot be written cannot be closed either,
// and the library tries until the program ends.
static void let_go(lwi_hdf5_writer *w)
{
    int *descriptor = NULL;
    if (w->file < 0 || H5Fget_vfd_handle(w->file, H5P_DEFAULT, (void **)&descriptor) < 0) return;
    const int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || !descriptor) return;
    dup2(nowhere, *descriptor);
    close(nowhere);
}

static lw_status close_file(lwi_hdf5_writer *w)
{
    if (!w->begun && !w->failed) lay_out(w, NULL); // a table without rows
    flush(w);
    if (w->failed) let_go(w);
    for (int s = 0; s < w->nset; s++)
        if (w->set[s] >= 0 && H5Dclose(w->set[s]) < 0) fail(w, "cannot be written whole");
    if (w->file >= 0 && H5Fclose(w->file) < 0) fail(w, "cannot be written whole");
    return w->failed ? LW_ERR_IO : LW_OK;
}

lw_status lwi_hdf5_close(lwi_hdf5_writer *w, lw_error *error)
{
    if (!w) return LW_OK;
    const lwi_hdf5_quiet quiet = lwi_hdf5_begin();
    const lw_status status = close_file(w);
    lwi_hdf5_finish_after(quiet, status);
    if (status != LW_OK && error) *error = w->error;
    discard(w);
    return status;
}

lw_status lwi_hdf5_create(const char *path, const lwi_columns *columns, const lwi_result_meta *meta,
                          double expected, double flush_interval, lwi_hdf5_writer **writer,
                          lw_error *error)
{
    lwi_hdf5_writer *w = lwi_allocate(NULL, sizeof *w);
    if (!w) return lwi_fail(error, LW_ERR_MEMORY, "no memory for an HDF5 file");
    *w = (lwi_hdf5_writer){.columns = columns,
                           .meta = meta,
                           .no_wish = flush_interval == 0,
                           .pause = flush_interval > 0 ? flush_interval : FLUSH_INTERVAL,
                           .file = -1,
                           .link = -1,
                           .ordered = -1};
    lwi_arena_init(&w->arena, NULL);
    w->path = lwi_arena_text(&w->arena, path);
    if (!w->path || allocate(w, expected) != LW_OK) {
        discard(w);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for rows of an HDF5 file");
    }
    const lwi_hdf5_quiet quiet = lwi_hdf5_begin();
    const lw_status status = open_file(w);
    if (status != LW_OK && w->file >= 0) H5Fclose(w->file);
    lwi_hdf5_finish_after(quiet, status);
    if (status == LW_OK) {
        w->flushed = clock_seconds();
        *writer = w;
        return LW_OK;
    }
    if (error) *error = w->error;
    discard(w);
    return status;
}
