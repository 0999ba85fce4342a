// hdf5_write.c -- writes a result during a run.
//
// Rows are collected in a block of memory.  When it is full, or a second after the last flush, it is written:
// /table and /state/x are extended and written, the file is flushed, and only then /time is extended.
// Every row in /time is therefore complete.
//
// All numbers of a row are side by side in /table: to extend thousands of datasets costs a thousand times as
// much as one.
#include "base/assert.h"
#include "io/result/hdf5_common.h"
#include "base/numbers.h"
#include "io/result/hdf5_file.h"

#include <linkwork/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// Limits of a block: rows, and bytes if it has more than one row.  A block has no more rows than expected of
// the run, because the last chunk would dominate a short file, but at least the minimum
// if these are few numbers.
enum { MAX_ROWS = 256, FEWEST_ROWS = 16, FEW_NUMBERS = 1 << 16, BLOCK_BYTES = 16 << 20 };

// Minimum numbers of /table or /state/x in a chunk, if a block has so many, and minimum columns.  Reading a
// column reads its whole chunks; a row of a million numbers lies in a hundred of them.
enum { CHUNK_NUMBERS = 8192, CHUNK_COLUMNS = 64 };

// Elements of /columns that are written at once, a chunk each; compressed, because names are much alike.
enum { ELEMENTS = 4096, COMPRESSION = 1 };

// Elements of /events in a chunk.
enum { EVENTS_IN_CHUNK = 256 };

// Copies that the library makes of an attribute.
enum { ATTRIBUTE_COPIES = 4 };

// A process killed while it writes leaves complete pages of 4096 bytes.  The header of a dataset must not lie
// across two pages, or half of it may be from an incomplete flush.  Headers that change take 300 to 700
// bytes.
#define MIN_ALIGNED 256
#define ALIGNMENT 1024

// Default interval between flushes [s]; longer for large models, so that flushes take at limit a fifth of the
// time.
#define FLUSH_INTERVAL 1.0
#define FLUSH_SHARE 4

// Datasets that are extended.
enum { TIME, TABLE, STATE, NGROWING };

struct lwi_hdf5_writer {
    const char *path;
    const lwi_result_columns *columns;
    const lwi_result_meta *meta;
    lwi_hdf5_disk *disk;
    hid_t file, set[NGROWING]; // -1: does not exist
    int width[NGROWING];       // numbers per row; 0: not written
    double *block[NGROWING];   // [capacity][width]
    long capacity, filled, rows;
    size_t room;   // [bytes] of the largest objects, for the library's copies
    void *reserve; // for closing
    bool no_wish;
    double pause;                   // [s] between flushes
    double flushed;                 // [s] monotonic clock
    lwi_hdf5_event_element element; // of /events
    hid_t events, event_type;       // -1: there are none
    char *event;                    // [nevent, event_room] elements that are not written yet
    long nevent, event_room, events_written;
    bool begun;     // the layout is written, readers may open the file
    unsigned check; // lwi_hdf5_strings_check when the file was created
    bool failed;
    lw_error error;         // of the first failure
    lw_interrupt interrupt; // may be NULL
    void *interrupt_user;
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
    const int failure = w->disk ? lwi_hdf5_disk_failure(w->disk) : 0;
    if (!w->failed && failure)
        lwi_fail_at(&w->error, LW_ERR_IO, w->path, 0, 0, "%s: %s", what, strerror(failure));
    else if (!w->failed)
        lwi_hdf5_fail(&w->error, LW_ERR_IO, w->path, what);
    w->failed = true;
    return w->error.status;
}

static void fail_without_memory(lwi_hdf5_writer *w, const char *what)
{
    if (!w->failed) lwi_fail_at(&w->error, LW_ERR_MEMORY, w->path, 0, 0, "no memory for %s", what);
    w->failed = true;
}

// Has everything that was written reached the file?  The library gets no failures.
static bool is_kept(const lwi_hdf5_writer *w)
{
    return !lwi_hdf5_disk_failure(w->disk);
}

// Has the caller stopped the first row?
static lw_status check_interrupt(lwi_hdf5_writer *w)
{
    if (!w->interrupt || !w->interrupt(w->interrupt_user)) return LW_OK;
    w->failed = true;
    return lwi_fail_at(&w->error, LW_ERR_INTERRUPTED, w->path, 0, 0,
                       "stopped before its first row was written");
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
    for (int i = 0; i < lw_option_count(); i++) {
        const lw_option_info o = lw_option_at(i);
        char name[64], text[LW_OPTION_STRING_SIZE];
        double number;
        snprintf(name, sizeof name, "settings.%s", o.key);
        lw_options_get(options, o.key, text, sizeof text);
        if ((o.is_real || o.is_integer) && lwi_number_read(text, &number))
            failed |= put_attribute(object, name, H5T_NATIVE_DOUBLE, &number);
        else
            failed |= put_text(object, name, text);
    }
    return failed;
}

static herr_t put_meta(hid_t file, const lwi_result_meta *meta)
{
    const unsigned check = lwi_hdf5_strings_check(meta);
    return put_text(file, "format", LWI_HDF5_FORMAT) |
           put_integer(file, "format_version", LWI_HDF5_FORMAT_VERSION) |
           put_text(file, "versions", meta->versions) | put_options(file, meta->options) |
           put_text(file, "notice", meta->notice) | put_text(file, "warnings", meta->warnings) |
           put_text(file, "model", meta->model) |
           put_attribute(file, LWI_HDF5_STRINGS_CHECK, H5T_NATIVE_UINT, &check);
}

// ------------------------------------------------------------------------------------------ layout

// An empty dataset that can be extended by rows; rank 1 or 2.  Rows of /time that are not written are NaN.
static hid_t make_growing(const lwi_hdf5_writer *w, const char *path, int rank, int width)
{
    const hsize_t columns = (hsize_t)width, rows = (hsize_t)w->capacity;
    const hsize_t now[2] = {0, columns}, limit[2] = {H5S_UNLIMITED, columns};
    const hsize_t wanted =
        CHUNK_NUMBERS / rows > CHUNK_COLUMNS ? CHUNK_NUMBERS / rows : CHUNK_COLUMNS;
    const hsize_t chunk[2] = {rows, columns < wanted ? columns : wanted}; // rows: a block
    const size_t across = (size_t)((columns + chunk[1] - 1) / chunk[1]);
    const size_t bytes =
        across * (size_t)(rows * chunk[1]) * sizeof(double); // the cache holds one block
    const double nothing = rank == 1 ? NAN : 0;
    const hid_t space = H5Screate_simple(rank, now, limit);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE), access = H5Pcreate(H5P_DATASET_ACCESS);
    hid_t set = -1;
    if (space >= 0 && create >= 0 && access >= 0 && H5Pset_chunk(create, rank, chunk) >= 0 &&
        H5Pset_fill_value(create, H5T_NATIVE_DOUBLE, &nothing) >= 0 &&
        H5Pset_obj_track_times(create, false) >= 0 && H5Pset_fletcher32(create) >= 0 &&
        H5Pset_chunk_cache(access, 16 * across + 1, bytes, 1) >= 0)
        set = H5Dcreate2(w->file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, access);
    if (access >= 0) H5Pclose(access);
    if (create >= 0) H5Pclose(create);
    if (space >= 0) H5Sclose(space);
    return set;
}

static lw_status lay_out_state(lwi_hdf5_writer *w)
{
    if (!w->meta->formulation) return LW_OK;
    const hid_t ordered = lwi_hdf5_ordered(H5P_GROUP_CREATE);
    const hid_t group =
        ordered < 0 ? -1 : H5Gcreate2(w->file, "/state", H5P_DEFAULT, ordered, H5P_DEFAULT);
    if (ordered >= 0) H5Pclose(ordered);
    if (group < 0) return fail(w, "the state cannot be created");
    const herr_t failed = put_text(group, "formulation", w->meta->formulation) |
                          put_text(group, "layout", w->meta->layout) |
                          put_integer(group, "size", w->meta->nx) | H5Gclose(group);
    return failed < 0 ? fail(w, "the state cannot be described") : LW_OK;
}

static lw_status lay_out_growing(lwi_hdf5_writer *w)
{
    static const char *const path[NGROWING] = {"/time", "/table", "/state/x"};
    for (int s = 0; s < NGROWING; s++) {
        if (!w->width[s]) continue;
        w->set[s] = make_growing(w, path[s], s == TIME ? 1 : 2, w->width[s]);
        if (w->set[s] < 0) return fail(w, "a table cannot be created");
    }
    return put_text(w->set[TIME], "unit", w->columns->column[0].unit) < 0
               ? fail(w, "the time cannot be described")
               : LW_OK;
}

// The strings of an element, in the order of lwi_hdf5_strings, and their lengths.
static void strings_of(const lwi_result_column *c, const char *text[LWI_HDF5_STRINGS],
                       size_t length[LWI_HDF5_STRINGS])
{
    const lwi_quantity *q = c->quantity;
    int item;
    text[LWI_HDF5_NAME] = c->name;
    text[LWI_HDF5_UNIT] = c->unit;
    text[LWI_HDF5_FRAME] = c->frame;
    text[LWI_HDF5_KIND] = q ? lwi_result_column_prefix(q) : "";
    text[LWI_HDF5_ITEM] = lwi_result_column_item(c, &item);
    text[LWI_HDF5_QUANTITY] = q ? q->name : "";
    for (int k = 0; k < LWI_HDF5_STRINGS; k++)
        length[k] = k == LWI_HDF5_ITEM ? (size_t)item : strlen(text[k]);
}

// Elements first ... of /columns, which does not contain the time.
static void fill_elements(const lwi_hdf5_writer *w, const unsigned char *undetermined, int first,
                          int count, const lwi_hdf5_element *e, char *elements)
{
    const lwi_result_column *column = w->columns->column + 1 + first;
    LWI_ASSERT(first + count < w->columns->n);
    memset(elements, 0, (size_t)count * e->bytes);
    for (int i = 0; i < count; i++, column++, elements += e->bytes) {
        const char *text[LWI_HDF5_STRINGS];
        size_t length[LWI_HDF5_STRINGS];
        const int axes = column->joint < 0 || !undetermined ? 0 : undetermined[column->joint];
        strings_of(column, text, length);
        for (int k = 0; k < LWI_HDF5_STRINGS; k++) {
            LWI_ASSERT(length[k] < e->room[k]);
            memcpy(elements + e->text[k], text[k], length[k]);
        }
        memcpy(elements + e->undetermined, &axes, sizeof axes);
    }
}

static herr_t write_elements(lwi_hdf5_writer *w, const unsigned char *undetermined, hid_t set,
                             hid_t type, const lwi_hdf5_element *e)
{
    const int n = w->columns->n - 1, block = n < ELEMENTS ? n : ELEMENTS;
    char *elements = lwi_allocate(NULL, (size_t)block * e->bytes);
    herr_t failed = elements ? 0 : -1;
    if (!elements) fail_without_memory(w, "the columns");
    for (int first = 0; first < n && failed >= 0; first += block) {
        if (check_interrupt(w) != LW_OK) break;
        const hsize_t from = (hsize_t)first,
                      count = (hsize_t)(n - first < block ? n - first : block);
        const hid_t there = H5Dget_space(set), here = H5Screate_simple(1, &count, NULL);
        fill_elements(w, undetermined, first, (int)count, e, elements);
        failed = there < 0 || here < 0 ||
                         H5Sselect_hyperslab(there, H5S_SELECT_SET, &from, NULL, &count, NULL) < 0
                     ? -1
                     : H5Dwrite(set, type, here, there, H5P_DEFAULT, elements);
        if (here >= 0) H5Sclose(here);
        if (there >= 0) H5Sclose(there);
    }
    lwi_release(NULL, elements);
    return failed;
}

static hid_t make_columns(const lwi_hdf5_writer *w, hid_t type)
{
    const hsize_t n = (hsize_t)w->columns->n - 1, chunk = n < ELEMENTS ? n : ELEMENTS;
    const hid_t space = H5Screate_simple(1, &n, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = -1;
    // no time stamps: the same run gives the same bytes
    if (space >= 0 && create >= 0 && H5Pset_obj_track_times(create, false) >= 0 &&
        (!n || H5Pset_chunk(create, 1, &chunk) >= 0) &&
        (!n || H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0 ||
         H5Pset_deflate(create, COMPRESSION) >= 0) &&
        (!n || H5Pset_fletcher32(create) >= 0))
        set = H5Dcreate2(w->file, "/columns", type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    if (create >= 0) H5Pclose(create);
    if (space >= 0) H5Sclose(space);
    return set;
}

static lw_status lay_out_columns(lwi_hdf5_writer *w, const unsigned char *undetermined)
{
    lwi_hdf5_element element = {0};
    for (int k = 0; k < LWI_HDF5_STRINGS; k++) element.room[k] = 1;
    for (int i = 1; i < w->columns->n; i++) {
        const char *text[LWI_HDF5_STRINGS];
        size_t length[LWI_HDF5_STRINGS];
        strings_of(&w->columns->column[i], text, length);
        for (int k = 0; k < LWI_HDF5_STRINGS; k++)
            if (length[k] >= element.room[k]) element.room[k] = length[k] + 1;
    }
    const hid_t type = lwi_hdf5_element_type(&element, LWI_HDF5_STRINGS);
    const hid_t set = type < 0 ? -1 : make_columns(w, type);
    herr_t failed = set < 0 ? -1 : write_elements(w, undetermined, set, type, &element);
    if (set >= 0 && H5Dclose(set) < 0) failed = -1;
    if (type >= 0) H5Tclose(type);
    if (failed < 0) return fail(w, "the columns cannot be written");
    return w->error.status;
}

// /events is extended as the rows are.  Names and actions are the same again and again, and long: they are compressed.
static lw_status lay_out_events(lwi_hdf5_writer *w)
{
    const hsize_t none = 0, all = H5S_UNLIMITED, chunk = EVENTS_IN_CHUNK;
    if (!w->meta->event_room[0]) return LW_OK;
    w->event_type = lwi_hdf5_event_type(&w->element);
    const hid_t space = H5Screate_simple(1, &none, &all), create = H5Pcreate(H5P_DATASET_CREATE);
    if (w->event_type >= 0 && space >= 0 && create >= 0 && H5Pset_chunk(create, 1, &chunk) >= 0 &&
        (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0 || H5Pset_deflate(create, COMPRESSION) >= 0) &&
        H5Pset_obj_track_times(create, false) >= 0 && H5Pset_fletcher32(create) >= 0)
        w->events =
            H5Dcreate2(w->file, "/events", w->event_type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    if (create >= 0) H5Pclose(create);
    if (space >= 0) H5Sclose(space);
    return w->events < 0 ? fail(w, "the events cannot be described") : LW_OK;
}

// From now on only rows are added, and readers may open the file.
static lw_status lay_out(lwi_hdf5_writer *w, const unsigned char *undetermined)
{
    w->begun = true;
    TRY(lay_out_columns(w, undetermined));
    TRY(lay_out_state(w));
    TRY(lay_out_growing(w));
    TRY(lay_out_events(w));
    if (H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0 || H5Fstart_swmr_write(w->file) < 0 || !is_kept(w))
        return fail(w, "cannot be written");
    return check_interrupt(w);
}

// -------------------------------------------------------------------------------------------- rows

static herr_t append(lwi_hdf5_writer *w, int set)
{
    const int rank = set == TIME ? 1 : 2;
    LWI_ASSERT(w->filled <= w->capacity && w->rows >= 0);
    const hsize_t width = (hsize_t)w->width[set];
    const hsize_t size[2] = {(hsize_t)(w->rows + w->filled), width};
    const hsize_t first[2] = {(hsize_t)w->rows, 0}, count[2] = {(hsize_t)w->filled, width};
    if (!width) return 0;
    if (H5Dset_extent(w->set[set], size) < 0) return -1;
    const hid_t there = H5Dget_space(w->set[set]), here = H5Screate_simple(rank, count, NULL);
    herr_t done = -1;
    if (there >= 0 && here >= 0 &&
        H5Sselect_hyperslab(there, H5S_SELECT_SET, first, NULL, count, NULL) >= 0)
        done = H5Dwrite(w->set[set], H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, w->block[set]);
    if (here >= 0) H5Sclose(here);
    if (there >= 0) H5Sclose(there);
    return done;
}

static herr_t append_events(lwi_hdf5_writer *w)
{
    const hsize_t first = (hsize_t)w->events_written, count = (hsize_t)w->nevent,
                  size = first + count;
    if (!w->nevent) return 0;
    if (H5Dset_extent(w->events, &size) < 0) return -1;
    const hid_t there = H5Dget_space(w->events), here = H5Screate_simple(1, &count, NULL);
    herr_t done = -1;
    if (there >= 0 && here >= 0 &&
        H5Sselect_hyperslab(there, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0)
        done = H5Dwrite(w->events, w->event_type, here, there, H5P_DEFAULT, w->event);
    if (here >= 0) H5Sclose(here);
    if (there >= 0) H5Sclose(there);
    w->events_written += w->nevent;
    w->nevent = 0;
    return done;
}

lw_status lwi_hdf5_event(lwi_hdf5_writer *w, const lw_result_event *event)
{
    const lwi_hdf5_event_element *e = &w->element;
    if (w->failed) return w->error.status;
    if (!w->meta->event_room[0]) return LW_OK;
    if (w->nevent == w->event_room) {
        const long room = w->event_room ? 2 * w->event_room : EVENTS_IN_CHUNK;
        char *longer = lwi_allocate(NULL, (size_t)room * e->bytes);
        if (!longer) {
            fail_without_memory(w, "events");
            return LW_ERR_MEMORY;
        }
        if (w->nevent) memcpy(longer, w->event, (size_t)w->nevent * e->bytes);
        lwi_release(NULL, w->event);
        w->event = longer, w->event_room = room;
    }
    char *to = w->event + (size_t)w->nevent++ * e->bytes;
    memset(to, 0, e->bytes);
    memcpy(to + e->time, &event->time, sizeof event->time);
    memcpy(to + e->row, &event->row, sizeof event->row);
    memcpy(to + e->instance, &event->instance, sizeof event->instance);
    lwi_copy_text(to + e->text[0], e->room[0], event->name);
    lwi_copy_text(to + e->text[1], e->room[1], event->action);
    return LW_OK;
}

// Extending /time makes the rows visible to readers.
static lw_status flush(lwi_hdf5_writer *w)
{
    if (w->failed) return w->error.status;
    if (!w->filled) return LW_OK;
    const double began = clock_seconds();
    if (append(w, TABLE) < 0 || append(w, STATE) < 0 || append_events(w) < 0 ||
        H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0 || append(w, TIME) < 0 ||
        H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0 || !is_kept(w))
        return fail(w, "cannot be written");
    w->rows += w->filled;
    w->filled = 0;
    w->flushed = clock_seconds();
    if (w->no_wish) w->pause = fmax(FLUSH_INTERVAL, FLUSH_SHARE * (w->flushed - began));
    return LW_OK;
}

static void gather(lwi_hdf5_writer *w, const double *row, const double *x)
{
    const int n = w->width[TABLE], nx = w->width[STATE];
    LWI_ASSERT_INDEX(w->filled, w->capacity);
    LWI_ASSERT(!nx || x);
    w->block[TIME][w->filled] = row[0];
    if (n) memcpy(w->block[TABLE] + w->filled * n, row + 1, (size_t)n * sizeof *row);
    if (nx) memcpy(w->block[STATE] + w->filled * nx, x, (size_t)nx * sizeof *x);
    w->filled++;
}

// Begins calls of the library.
static lw_status enter(lwi_hdf5_writer *w, lwi_hdf5_quiet *quiet)
{
    const lw_status status = lwi_hdf5_begin(w->room, quiet, &w->error);
    if (status != LW_OK) w->failed = true;
    return status;
}

static lw_status begin_rows(lwi_hdf5_writer *w, const unsigned char *undetermined)
{
    lwi_hdf5_quiet quiet;
    TRY(enter(w, &quiet));
    const lw_status status = lay_out(w, undetermined);
    lwi_hdf5_finish_after(quiet, status);
    return status;
}

static lw_status write_block(lwi_hdf5_writer *w)
{
    lwi_hdf5_quiet quiet;
    TRY(enter(w, &quiet));
    const lw_status status = flush(w);
    lwi_hdf5_finish_after(quiet, status);
    return status;
}

void lwi_hdf5_set_interrupt(lwi_hdf5_writer *w, lw_interrupt interrupt, void *user)
{
    w->interrupt = interrupt, w->interrupt_user = user;
}

lw_status lwi_hdf5_row(lwi_hdf5_writer *w, const double *row, const double *x,
                       const unsigned char *undetermined)
{
    const bool first = !w->begun;
    if (w->failed) return w->error.status;
    if (first) TRY(begin_rows(w, undetermined));
    gather(w, row, x);
    const bool due = clock_seconds() - w->flushed >= w->pause;
    return first || due || w->filled == w->capacity ? write_block(w) : LW_OK;
}

lw_status lwi_hdf5_poll(lwi_hdf5_writer *w)
{
    if (w->failed) return w->error.status;
    return w->filled && clock_seconds() - w->flushed >= w->pause ? write_block(w) : LW_OK;
}

lw_status lwi_hdf5_sync(lwi_hdf5_writer *w)
{
    if (w->failed) return w->error.status;
    if (w->filled) TRY(write_block(w));
    if (lwi_hdf5_disk_sync(w->disk)) return fail(w, "cannot be written");
    return LW_OK;
}

// ------------------------------------------------------------------------------------ open, close

static lw_status allocate(lwi_hdf5_writer *w, double expected)
{
    w->width[TIME] = 1;
    w->width[TABLE] = w->columns->n - 1;
    w->width[STATE] = w->meta->formulation ? w->meta->nx : 0;
    const long numbers = 1 + w->width[TABLE] + w->width[STATE];
    const long fit = BLOCK_BYTES / (numbers * (long)sizeof(double));
    const double fewest = fmin(FEWEST_ROWS, fmax(1, (double)(FEW_NUMBERS / numbers)));
    const double max_rows = expected > 0 ? fmax(fewest, fmin(expected, MAX_ROWS)) : MAX_ROWS;
    w->capacity = fit < 1 ? 1 : fit > (long)max_rows ? (long)max_rows : fit;
    LWI_ASSERT(w->capacity >= 1 && w->capacity <= MAX_ROWS);
    for (int s = 0; s < NGROWING; s++) {
        w->block[s] = LWI_PUSH(&w->arena, double, w->capacity * w->width[s] + 1);
        if (!w->block[s]) return LW_ERR_MEMORY;
    }
    lwi_hdf5_event_offsets(&w->element);
    w->room = (size_t)(w->capacity * numbers) * sizeof(double) + EVENTS_IN_CHUNK * w->element.bytes;
    const char *const strings[] = {w->meta->model, w->meta->notice, w->meta->warnings};
    for (int i = 0; i < LWI_COUNT(strings); i++)
        if (strings[i]) w->room += ATTRIBUTE_COPIES * strlen(strings[i]);
    w->reserve = lwi_hdf5_reserve();
    return w->reserve ? LW_OK : LW_ERR_MEMORY;
}

static lw_status open_file(lwi_hdf5_writer *w)
{
    if (lwi_hdf5_disk_create(w->path, &w->disk, &w->error) != LW_OK) {
        w->failed = true;
        return w->error.status;
    }
    const hid_t access = lwi_hdf5_access(w->disk), create = lwi_hdf5_ordered(H5P_FILE_CREATE);
    if (access >= 0 && create >= 0 && H5Pset_alignment(access, MIN_ALIGNED, ALIGNMENT) >= 0)
        w->file = H5Fcreate(w->path, H5F_ACC_TRUNC, create, access);
    const lw_status status = w->file < 0 ? fail(w, "cannot be written") : LW_OK;
    if (create >= 0) H5Pclose(create);
    if (access >= 0) H5Pclose(access);
    if (status == LW_OK && (put_meta(w->file, w->meta) < 0 || !is_kept(w)))
        return fail(w, "the attributes of the run cannot be written");
    return status;
}

static void discard(lwi_hdf5_writer *w)
{
    lwi_release(NULL, w->reserve);
    lwi_release(NULL, w->event);
    lwi_arena_free(&w->arena);
    lwi_release(NULL, w);
}

// Replaces the notice if the run has added warnings to it.
static herr_t put_warnings(const lwi_hdf5_writer *w, hid_t file)
{
    const unsigned check = lwi_hdf5_strings_check(w->meta);
    if (check == w->check) return 0;
    return H5Adelete(file, "notice") | H5Adelete(file, LWI_HDF5_STRINGS_CHECK) |
           put_text(file, "notice", w->meta->notice) |
           put_attribute(file, LWI_HDF5_STRINGS_CHECK, H5T_NATIVE_UINT, &check);
}

// Attributes cannot be created in single-writer-multiple-reader mode: the file is opened again for them.  A file without
// room for them remains a closed result.
static herr_t put_summary(lwi_hdf5_writer *w)
{
    const lw_summary *summary = w->meta->summary;
    lwi_hdf5_disk_hold(w->disk);
    const hid_t access = lwi_hdf5_access(w->disk);
    const hid_t file = access < 0 ? -1 : H5Fopen(w->path, H5F_ACC_RDWR, access);
    herr_t failed = file < 0 ? -1 : 0;
#define X(key, kind)                                                                               \
    if (file >= 0) failed |= put_attribute(file, "summary." #key, H5T_NATIVE_##kind, &summary->key);
    LWI_HDF5_SUMMARY_LIST(X)
    X(valid_until, DOUBLE)
#undef X
    if (file >= 0) failed |= put_warnings(w, file);
    if (access >= 0) H5Pclose(access);
    if (file >= 0) failed |= H5Fclose(file);
    if (failed >= 0) lwi_hdf5_disk_release(w->disk);
    return failed;
}

static void close_library(lwi_hdf5_writer *w)
{
    for (int s = 0; s < NGROWING; s++)
        if (w->set[s] >= 0 && H5Dclose(w->set[s]) < 0) fail(w, "cannot be written completely");
    if (w->events >= 0 && H5Dclose(w->events) < 0) fail(w, "cannot be written completely");
    if (w->event_type >= 0) H5Tclose(w->event_type);
    if (w->file < 0 || H5Fclose(w->file) >= 0) return;
    fail(w, "cannot be written completely");
    w->disk = NULL; // the library uses it until the program ends
}

static lw_status close_file(lwi_hdf5_writer *w)
{
    if (!w->begun && !w->failed) lay_out(w, NULL); // a table without rows
    flush(w);
    close_library(w);
    if (!w->failed && !is_kept(w)) fail(w, "cannot be written completely");
    if (!w->failed && w->meta->summary && (put_summary(w) < 0 || !is_kept(w)))
        fail(w, "the summary of the run cannot be written");
    const int failure = lwi_hdf5_disk_close(w->disk);
    w->disk = NULL;
    if (failure && !w->failed) {
        lwi_fail_at(&w->error, LW_ERR_IO, w->path, 0, 0, "cannot be written completely: %s",
                    strerror(failure));
        w->failed = true;
    }
    return w->error.status;
}

lw_status lwi_hdf5_close(lwi_hdf5_writer *w, lw_error *error)
{
    if (!w) return LW_OK;
    const lwi_hdf5_quiet quiet = lwi_hdf5_begin_close(w->reserve);
    w->reserve = NULL;
    const lw_status status = close_file(w);
    lwi_hdf5_finish_after(quiet, status);
    if (status != LW_OK && error) *error = w->error;
    discard(w);
    return status;
}

lw_status lwi_hdf5_create(const char *path, const lwi_result_columns *columns,
                          const lwi_result_meta *meta, double expected, double flush_interval,
                          lwi_hdf5_writer **writer, lw_error *error)
{
    lwi_hdf5_writer *w = lwi_allocate(NULL, sizeof *w);
    if (!w) return lwi_fail(error, LW_ERR_MEMORY, "no memory for an HDF5 file");
    *w = (lwi_hdf5_writer){
        .columns = columns,
        .meta = meta,
        .no_wish = flush_interval == 0,
        .pause = flush_interval > 0 ? flush_interval : FLUSH_INTERVAL,
        .file = -1,
        .set = {-1, -1, -1},
        .events = -1,
        .event_type = -1,
        .element.room = {(size_t)meta->event_room[0], (size_t)meta->event_room[1]},
        .check = lwi_hdf5_strings_check(meta)};
    lwi_arena_init(&w->arena, NULL);
    w->path = lwi_arena_text(&w->arena, path);
    if (!w->path || allocate(w, expected) != LW_OK) {
        discard(w);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for rows of an HDF5 file");
    }
    lwi_hdf5_quiet quiet;
    if (lwi_hdf5_begin(w->room, &quiet, error) != LW_OK) {
        discard(w);
        return LW_ERR_MEMORY;
    }
    const lw_status status = open_file(w);
    if (status != LW_OK) {
        close_library(w);
        lwi_hdf5_disk_close(w->disk);
    }
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
