// batch.c -- results of a batch or a sweep as one table: rows of all instances, ordered by time.
//
// The rows of a sweep that is divided into groups are written group by group, each ordered by time.  None waits for
// other groups: a sweep can be stopped or killed at any time and what had come remains.
#include "base/assert.h"
#include "base/numbers.h"
#include "batch/batch.h"
#include "base/file.h"
#include "io/result/csv.h"
#include "io/result/measures.h"
#include "io/result/result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct lw_batch_writer {
    lwi_arena arena;
    lw_batch *batch;     // of a sweep the one of `group`
    lw_sweep *sweep;     // NULL: rows are those of one batch
    int group, capacity; // instances of the largest group
    lw_observe level;
    const char *patterns; // NULL: the option `columns`
    const char *path;
    FILE *csv; // or
    lwi_hdf5_writer *hdf5;
    lwi_result_columns columns;
    lwi_result_meta meta;
    lw_options options;
    lwi_result_rows rows;
    lwi_arena of_group; // memory of the formulas
    const lwi_formula *
        *formulas;  // [capacity] of measures with numbers of the instance; NULL: of the model
    int nown;       // columns of a single run, including the time
    double *own;    // [capacity][nown] last row of each: quaternions take their sign from it
    double *last;   // [capacity][columns]
    bool *written;  // [capacity]
    long count;     // rows
    lw_error error; // of the first failure
};

// ----------------------------------------------------------------------------------------- columns

enum { FLUSH = 1 }; // [s] between flushes of HDF5

// Columns of batches only: "instance", "vary.NAME".
static lw_status own_column(lwi_result_columns *c, int at, const char *before, const char *name)
{
    const char *unit = "", *frame = "";
    const size_t room = strlen(before) + strlen(name) + 1;
    char *whole = LWI_PUSH(&c->arena, char, room);
    if (!whole) return LW_ERR_MEMORY;
    snprintf(whole, room, "%s%s", before, name);
    if (*before) lwi_result_column_meaning(name, &unit, &frame);
    c->column[at] = (lwi_result_column){.name = whole, .unit = unit, .frame = frame, .joint = -1};
    return LW_OK;
}

// Inserts them after the time.
static lw_status make_columns(lw_batch_writer *w, lw_error *error)
{
    lwi_result_columns *c = &w->columns;
    const lw_batch *b = w->batch;
    const char *patterns = w->patterns ? w->patterns : lw_batch_options(b)->columns;
    TRY(lwi_result_columns_choose(b->model, w->level, patterns, c, error));
    w->level = c->level;
    w->nown = c->n;
    const int more = 1 + b->nvary;
    lwi_result_column *column = LWI_PUSH(&c->arena, lwi_result_column, c->n + more);
    if (!column) return LW_ERR_MEMORY;
    column[0] = c->column[0];
    for (int i = 1; i < c->n; i++) column[i + more] = c->column[i];
    c->column = column, c->n += more;
    TRY(own_column(c, 1, "", "instance"));
    for (int k = 0; k < b->nvary; k++) TRY(own_column(c, 2 + k, "vary.", b->vary[k]));
    return LW_OK;
}

int lw_batch_writer_columns(const lw_batch_writer *writer)
{
    if (!writer) return 0;
    return writer->columns.n;
}

lw_column_info lw_batch_writer_column(const lw_batch_writer *writer, int index)
{
    if (!writer) return (lw_column_info){"", "", "", 0};
    if (index < 0 || index >= writer->columns.n) return (lw_column_info){"", "", "", 0};
    const lwi_result_column *c = &writer->columns.column[index];
    return (lw_column_info){c->name, c->unit, c->frame, 0};
}

// -------------------------------------------------------------------------------------------- rows

static lw_status io_failed(lw_batch_writer *w, const char *what)
{
    if (w->error.status == LW_OK)
        lwi_fail_at(&w->error, LW_ERR_IO, w->path, 0, 0, "%s: %s", what,
                    strerror(errno ? errno : EIO));
    return LW_ERR_IO;
}

static lw_status write_row(lw_batch_writer *w, const double *row, const unsigned char *undetermined)
{
    if (w->hdf5) return lwi_hdf5_row(w->hdf5, row, NULL, undetermined);
    if (!w->csv) return LW_OK;
    errno = 0;
    lwi_csv_numbers(w->csv, row, w->columns.n);
    return ferror(w->csv) ? io_failed(w, "cannot be written") : LW_OK;
}

// Of the first row of an instance: parameters may be numbers in its measures.
static lw_status find_formulas(lw_batch_writer *w, int i)
{
    if (!w->columns.measures || w->written[i]) return LW_OK;
    return lwi_measures_of_variant(w->columns.measures, lw_batch_model(w->batch, i), &w->of_group,
                                   &w->formulas[i], &w->error);
}

static lw_status instance_row(lw_batch_writer *w, int i)
{
    lw_batch *b = w->batch;
    const lw_observation *o;
    const int number = lw_batch_number(b, i);
    if (w->level >= LW_OBSERVE_FORCE &&
        lw_batch_model(b, i)->output_code != w->batch->model->output_code)
        return lwi_fail(&w->error, LW_ERR_UNSUPPORTED,
                        "instance %d: its model has forces that the model of the sweep does not "
                        "have, or the other way round, and with them other columns; expected "
                        "values other than 0 in the model",
                        number);
    TRY(find_formulas(w, i));
    lw_status status = lw_batch_observe(b, i, w->level, &o);
    if (status == LW_OK) {
        w->rows.model = lw_batch_model(b, i); // markers and joint frames may differ
        w->rows.formulas = w->formulas[i];
        w->rows.row = w->own + (size_t)i * (size_t)w->nown;
        status = lwi_result_rows_fill(&w->rows, o);
        if (status != LW_OK)
            lwi_fail(&b->error, status, "instance %d: a number of its row is not finite", number);
    }
    if (status != LW_OK) {
        if (w->error.status == LW_OK) w->error = b->error;
        return status;
    }
    LWI_ASSERT_INDEX(i, w->capacity);
    double *row = w->last + (size_t)i * (size_t)w->columns.n;
    int n = 0;
    row[n++] = w->rows.row[0];
    row[n++] = number;
    for (int k = 0; k < b->nvary; k++)
        row[n++] = b->values[(size_t)i * (size_t)b->nvary + (size_t)k];
    LWI_ASSERT(n + w->nown - 1 == w->columns.n && w->rows.n == w->nown);
    memcpy(row + n, w->rows.row + 1, (size_t)(w->nown - 1) * sizeof *row);
    w->written[i] = true;
    if (w->hdf5) TRY(lwi_result_write_events(w->batch->model, o, w->count++, number, w->hdf5));
    return write_row(w, row, o->reaction_undetermined);
}

// The rows of another group begin: no instance has a row before.
static void find_group(lw_batch_writer *w)
{
    if (!w->sweep) return;
    w->batch = lwi_sweep_batch(w->sweep);
    if (lwi_sweep_group(w->sweep) == w->group) return;
    w->group = lwi_sweep_group(w->sweep);
    lwi_arena_free(&w->of_group);
    lwi_arena_init(&w->of_group, NULL);
    memset(w->own, 0, (size_t)w->capacity * (size_t)w->nown * sizeof *w->own);
    memset(w->written, 0, (size_t)w->capacity * sizeof *w->written);
}

lw_status lw_batch_writer_rows(lw_batch_writer *w)
{
    lwi_numbers numbers;
    if (!w) return LW_ERR_ARGUMENT;
    if (w->error.status != LW_OK) return w->error.status;
    find_group(w);
    if (!w->batch) return lwi_fail(&w->error, LW_ERR_ARGUMENT, "rows of a sweep that does not run");
    if (!lwi_numbers_begin(&numbers))
        return lwi_fail(&w->error, LW_ERR_MEMORY, "no memory for rows");
    lw_status status = LW_OK;
    for (int i = 0; i < w->batch->n && status == LW_OK; i++)
        if (w->batch->instance[i].status == LW_OK && !w->batch->instance[i].over)
            status = instance_row(w, i);
    lwi_numbers_end(&numbers);
    return status;
}

lw_status lw_batch_writer_set_interrupt(lw_batch_writer *w, lw_interrupt interrupt, void *user)
{
    if (!w) return LW_ERR_ARGUMENT;
    if (w->hdf5) lwi_hdf5_set_interrupt(w->hdf5, interrupt, user);
    return LW_OK;
}

const double *lw_batch_writer_last(const lw_batch_writer *w, int i)
{
    if (!w) return NULL;
    if (i < 0 || i >= w->capacity || !w->written[i]) return NULL;
    return w->last + (size_t)i * (size_t)w->columns.n;
}

// ------------------------------------------------------------------------------------- open, close

static lw_status begin_csv(lw_batch_writer *w, lw_error *error)
{
    const char **name = LWI_PUSH(&w->arena, const char *, w->columns.n);
    if (!name) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    for (int i = 0; i < w->columns.n; i++) name[i] = w->columns.column[i].name;
    TRY(lwi_open_output_stream(w->path, &w->csv, error));
    lwi_csv_header(w->csv, name, w->columns.n);
    return LW_OK;
}

// Without states: only the result of a single run can be resumed.
static lw_status begin_hdf5(lw_batch_writer *w, lw_error *error)
{
    const lw_sim *sim = lwi_batch_sim(w->batch);
    if (!sim) return lwi_fail(error, LW_ERR_ARGUMENT, "no instance of the batch can run");
    if (lwi_result_meta_of(sim, w->batch->model, &w->arena, &w->meta) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    w->options = *w->meta.options; // the group may be gone when they are written
    w->meta.options = &w->options;
    w->meta.notice = w->sweep ? lw_sweep_notice(w->sweep) : w->batch->notice;
    w->meta.formulation = w->meta.layout = NULL;
    w->meta.nx = 0;
    return lwi_hdf5_create(w->path, &w->columns, &w->meta, 0, FLUSH, &w->hdf5, error);
}

static lw_status begin(lw_batch_writer *w, const char *path, lw_error *error)
{
    const size_t n = (size_t)w->capacity;
    const lw_status status = make_columns(w, error);
    if (status == LW_ERR_MEMORY) return lwi_fail(error, status, "no memory for a result");
    if (status != LW_OK) return status;
    w->own = LWI_PUSH(&w->arena, double, n *(size_t)w->nown);
    w->last = LWI_PUSH(&w->arena, double, n *(size_t)w->columns.n);
    w->written = LWI_PUSH(&w->arena, bool, n);
    w->formulas = LWI_PUSH(&w->arena, const lwi_formula *, n);
    if (!w->own || !w->last || !w->written || !w->formulas ||
        lwi_result_rows_create(w->batch->model, &w->columns, &w->arena, &w->rows) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    if (!path) return LW_OK;
    w->path = lwi_arena_text(&w->arena, path);
    if (!w->path) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    if (lwi_result_path_ends(path, ".csv")) return begin_csv(w, error);
    if (lwi_result_path_ends(path, ".h5")) return begin_hdf5(w, error);
    return lwi_fail_at(error, LW_ERR_ARGUMENT, path, 0, 0,
                       "unknown ending of a result, known: .h5 .csv");
}

static void discard(lw_batch_writer *w)
{
    lwi_result_columns_free(&w->columns);
    lwi_arena_free(&w->of_group);
    lwi_arena_free(&w->arena);
    lwi_release(NULL, w);
}

static lw_status create(const char *path, lw_batch *batch, lw_sweep *sweep, lw_observe level,
                        const char *patterns, lw_batch_writer **writer, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!batch || !writer || (int)level < 0 || level > LW_OBSERVE_MOMENTUM)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "batch, or sweep before its run, level and writer must be given");
    lw_batch_writer *w = lwi_allocate(NULL, sizeof *w);
    if (!w) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    *w = (lw_batch_writer){.batch = batch,
                           .sweep = sweep,
                           .capacity = sweep ? lwi_sweep_capacity(sweep) : batch->n,
                           .patterns = patterns,
                           .level = level};
    lwi_arena_init(&w->arena, NULL);
    lwi_arena_init(&w->of_group, NULL);
    const lw_status status = begin(w, path, error);
    if (status == LW_OK)
        *writer = w;
    else
        discard(w);
    return status;
}

lw_status lw_batch_writer_create(const char *path, lw_batch *batch, lw_observe level,
                                 lw_batch_writer **writer, lw_error *error)
{
    return create(path, batch, NULL, level, NULL, writer, error);
}

lw_status lw_sweep_writer_create(const char *path, lw_sweep *sweep, lw_observe level,
                                 lw_batch_writer **writer, lw_error *error)
{
    lw_batch *batch = sweep ? lwi_sweep_batch(sweep) : NULL;
    return create(path, batch, sweep, level, NULL, writer, error);
}

lw_status lwi_batch_writer_choose(lw_sweep *sweep, const char *columns, lw_batch_writer **writer,
                                  lw_error *error)
{
    return create(NULL, lwi_sweep_batch(sweep), sweep, LW_OBSERVE_REACTION, columns, writer, error);
}

const lw_error *lwi_batch_writer_error(const lw_batch_writer *writer)
{
    return &writer->error;
}

lw_status lw_batch_writer_close(lw_batch_writer *w, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!w) return LW_OK;
    lw_error closing = {0};
    lw_status closed = LW_OK;
    errno = 0;
    if (w->hdf5)
        closed = lwi_hdf5_close(w->hdf5, &closing);
    else if (w->csv && fclose(w->csv))
        closed = io_failed(w, "cannot be written completely");
    if (w->error.status != LW_OK) closing = w->error, closed = w->error.status;
    if (error && closed != LW_OK) *error = closing;
    discard(w);
    return closed;
}
