// write.c -- writes results: during a simulation, or from another result.
#include "base/assert.h"
#include "base/file.h"
#include "io/result/csv.h"
#include "io/result/result.h"
#include "io/text.h"
#include "simulate/options.h"
#include "simulate/simulation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Interval between flushes of CSV [s]: rows that are lost if the program is killed.
#define FLUSH_INTERVAL 1.0

struct lw_writer {
    const lw_sim *sim;
    const char *path;
    lw_csv *csv;               // or
    lwi_result_memory *memory; // or
    lwi_hdf5_writer *hdf5;
    lwi_result_columns columns;
    lwi_result_rows rows;
    lwi_result_meta meta;
    lw_summary summary;
    double *x;       // [nx]
    long count;      // rows
    double interval; // [s] between flushes; 0: default
    double flushed;  // CSV: time of the last flush, monotonic clock [s]
    lw_error error;  // CSV: the first failure
    lwi_arena arena;
};

// ------------------------------------------------------------------------------ model, options

// The model as a native file; NULL if it cannot be written because it has custom joints.
static lw_status model_text(const lw_model *model, lwi_arena *arena, const char **text)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&buffer, &size);
    if (!file) return LW_ERR_MEMORY;
    const lw_status status = lw_model_write(model, NULL, file, NULL);
    const bool lost = fclose(file) != 0 || !buffer; // NULL: no memory when it was closed
    *text = status == LW_OK && !lost ? lwi_arena_text(arena, buffer) : NULL;
    free(buffer);
    return lost || (status == LW_OK && !*text) ? LW_ERR_MEMORY : LW_OK;
}

// Concatenation in an arena; NULL: no memory.
static const char *join(lwi_arena *arena, const char *before, const char *between, const char *more)
{
    if (!before) return NULL;
    const size_t room = strlen(before) + strlen(between) + strlen(more) + 1;
    char *text = LWI_PUSH(arena, char, room);
    if (text) snprintf(text, room, "%s%s%s", before, *before ? between : "", more);
    return text;
}

static const char *warnings_text(const lw_model *model, lwi_arena *arena)
{
    const char *text = "";
    for (int i = 0; i < lw_model_warning_count(model); i++)
        text = join(arena, text, "\n", lw_model_warning(model, i));
    return text;
}

static const char *versions_text(lwi_arena *arena)
{
    const char *text = join(arena, "linkwork", " ", lw_version());
    for (int i = 0; i < lw_library_count(); i++) {
        const lw_part_info library = lw_library_info(i);
        text = join(arena, text, "\n", library.name);
        text = join(arena, text, " ", library.summary);
    }
    return text;
}

const char *lwi_result_layout_text(const lw_sim *sim, lwi_arena *arena)
{
    const lwi_layout *layout = &sim->work->layout;
    const int kept = sim->work->nkept, step = lwi_sim_step_numbers(sim);
    static const char *const kinds[] = {
        [LWI_COORDINATE] = "coordinate", [LWI_QUATERNION] = "quaternion", [LWI_SPEED] = "speed",
        [LWI_MOMENTUM] = "momentum",     [LWI_ANGLE] = "angle",           [LWI_WORK] = "work",
        [LWI_SIGNAL] = "signal",         [LWI_MEMORY] = "memory"};
    const char *text = "";
    char block[48];
    for (int i = 0; i < layout->nblock; i++) {
        snprintf(block, sizeof block, "%s %d", kinds[layout->block[i].kind], layout->block[i].n);
        text = join(arena, text, ", ", block);
    }
    snprintf(block, sizeof block, "partition %d", kept);
    if (kept) text = join(arena, text, ", ", block);
    snprintf(block, sizeof block, "step %d", step);
    if (step) text = join(arena, text, ", ", block);
    return text;
}

lw_status lwi_result_meta_of(const lw_sim *sim, const lw_model *model, lwi_arena *arena,
                             lwi_result_meta *meta)
{
    meta->options = lw_sim_options(sim);
    meta->notice = lw_sim_notice(sim);
    meta->formulation = meta->options->formulation;
    meta->nx = lw_sim_state_size(sim);
    meta->versions = versions_text(arena);
    meta->warnings = warnings_text(model, arena);
    meta->layout = lwi_result_layout_text(sim, arena);
    lwi_result_event_room(model, meta->event_room);
    if (!meta->versions || !meta->warnings || !meta->layout) return LW_ERR_MEMORY;
    return model_text(model, arena, &meta->model);
}

static lw_status gather_meta(lw_writer *w)
{
    TRY(lwi_result_meta_of(w->sim, w->sim->model, &w->arena, &w->meta));
    lw_sim_summary(w->sim, &w->summary);
    w->meta.summary = &w->summary;
    w->x = LWI_PUSH(&w->arena, double, w->meta.nx);
    return w->x ? LW_OK : LW_ERR_MEMORY;
}

// -------------------------------------------------------------------------------------------- rows

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static lw_status csv_failed(lw_writer *w, lw_status status)
{
    if (status == LW_ERR_IO && w->error.status == LW_OK)
        lwi_fail_at(&w->error, LW_ERR_IO, w->path, 0, 0, "cannot be written: %s",
                    strerror(errno ? errno : EIO));
    return status;
}

static lw_status csv_poll(lw_writer *w)
{
    const double now = clock_seconds();
    if (now - w->flushed < (w->interval > 0 ? w->interval : FLUSH_INTERVAL)) return LW_OK;
    w->flushed = now;
    errno = 0;
    return csv_failed(w, lwi_csv_flush(w->csv));
}

// The events of the first `rows` rows of a result.
static lw_status copy_events(lw_result *from, long rows, lwi_hdf5_writer *to, lw_error *error)
{
    const lw_result_event *event = NULL;
    long n = 0;
    TRY(lw_result_events(from, &event, &n, error));
    for (long i = 0; i < n; i++)
        if (event[i].row < rows) TRY(lwi_hdf5_event(to, &event[i]));
    return LW_OK;
}

lw_status lw_writer_row(lw_writer *writer, const lw_observation *observation)
{
    if (!writer || !observation || observation->level < writer->rows.level) return LW_ERR_ARGUMENT;
    if (writer->csv) {
        errno = 0;
        TRY(csv_failed(writer, lw_csv_row(writer->csv, observation)));
        return csv_poll(writer);
    }
    if (writer->memory) return lwi_result_memory_row(writer->memory, writer->sim, observation);
    TRY(lwi_result_rows_fill(&writer->rows, observation));
    TRY(lwi_result_write_events(lw_sim_model(writer->sim), observation, writer->count++, 0,
                                writer->hdf5));
    lw_sim_get_state(writer->sim, NULL, writer->x);
    lw_sim_summary(writer->sim, &writer->summary); // of the rows, not of steps after the last one
    return lwi_hdf5_row(writer->hdf5, writer->rows.row, writer->x,
                        observation->reaction_undetermined);
}

lw_observe lw_writer_level(const lw_writer *writer)
{
    return writer ? writer->rows.level : LW_OBSERVE_POSE;
}

lw_status lw_writer_poll(lw_writer *writer)
{
    if (!writer) return LW_ERR_ARGUMENT;
    if (writer->memory) return LW_OK;
    return writer->csv ? csv_poll(writer) : lwi_hdf5_poll(writer->hdf5);
}

// ------------------------------------------------------------------------------------ open, close

lw_status lw_writer_flush(lw_writer *writer)
{
    if (!writer) return LW_ERR_ARGUMENT;
    if (writer->memory) return LW_OK;
    if (writer->hdf5) return lwi_hdf5_sync(writer->hdf5);
    writer->flushed = clock_seconds();
    errno = 0;
    return csv_failed(writer, lwi_csv_sync(writer->csv));
}

lw_status lw_writer_set_sim(lw_writer *writer, const lw_sim *sim)
{
    if (!writer || !sim || lw_sim_state_size(sim) != lw_sim_state_size(writer->sim) ||
        writer->memory)
        return LW_ERR_ARGUMENT;
    writer->sim = sim;
    if (!writer->hdf5) return LW_OK;
    writer->meta.options = lw_sim_options(sim);
    writer->meta.notice = lw_sim_notice(sim);
    writer->meta.formulation = writer->meta.options->formulation;
    return LW_OK;
}

// Initializes the previous row with the last row of the result that the run resumes.
static lw_status go_on(lwi_result_rows *rows, const lwi_result_columns *columns, lw_result *after,
                       lw_error *error)
{
    if (!after || after->rows == 0) return LW_OK;
    for (int i = 0; i < columns->n; i++) {
        const char *name = columns->column[i].name;
        int k = i; // if both have the same columns
        const bool same = k < after->n && !strcmp(after->column[k].name, name);
        if (!same && lw_result_find_column(after, name, &k, NULL) != LW_OK) continue;
        TRY(lw_result_read(after, k, after->rows - 1, 1, rows->row + i, error));
    }
    return LW_OK;
}

static lw_status begin_csv(lw_writer *w, const lw_writer_desc *desc, lw_error *error)
{
    if (desc->keep > 0) {
        w->flushed = clock_seconds();
        TRY(lwi_csv_continue(lw_sim_model(desc->sim), desc->level,
                             lw_sim_options(desc->sim)->columns, w->path, desc->keep, &w->csv,
                             error));
        w->rows.level = lwi_csv_columns(w->csv)->level;
        return LW_OK;
    }
    TRY(lwi_csv_create(lw_sim_model(desc->sim), desc->level, lw_sim_options(desc->sim)->columns,
                       w->path, &w->csv, error));
    w->rows.level = lwi_csv_columns(w->csv)->level;
    w->flushed = clock_seconds();
    if (desc->after && lwi_csv_name_columns(w->csv, lw_sim_model(desc->sim)) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    return go_on(lwi_csv_rows(w->csv), lwi_csv_columns(w->csv), desc->after, error);
}

// Number of rows by the options; 0: unknown.
static double expected_rows(const lw_options *o)
{
    const double sample = o->sample;
    return sample > 0 ? ceil(o->duration / sample) + 1 : 0;
}

static lw_status continue_hdf5(lw_writer *w, const lw_writer_desc *desc, lw_error *error);

static lw_status begin_hdf5(lw_writer *w, const lw_writer_desc *desc, lw_error *error)
{
    const lw_model *model = lw_sim_model(desc->sim);
    TRY(lwi_result_columns_choose(model, desc->level, lw_sim_options(desc->sim)->columns,
                                  &w->columns, error));
    if (gather_meta(w) != LW_OK ||
        lwi_result_rows_create(model, &w->columns, &w->arena, &w->rows) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    if (desc->keep > 0) return continue_hdf5(w, desc, error);
    TRY(go_on(&w->rows, &w->columns, desc->after, error));
    TRY(lwi_hdf5_create(w->path, &w->columns, &w->meta, expected_rows(lw_sim_options(desc->sim)),
                        w->interval, &w->hdf5, error));
    lwi_hdf5_set_interrupt(w->hdf5, desc->interrupt, desc->interrupt_user);
    return LW_OK;
}

static lw_status begin_memory(lw_writer *w, const lw_writer_desc *desc, lw_error *error)
{
    const lw_status status = lwi_result_memory_create(desc->sim, desc->level, &w->memory, error);
    if (status == LW_ERR_MEMORY) return lwi_fail(error, status, "no memory for a result");
    if (status != LW_OK) return status;
    w->rows.level = lwi_result_memory_columns(w->memory)->level;
    return go_on(lwi_result_memory_rows(w->memory), lwi_result_memory_columns(w->memory),
                 desc->after, error);
}

static void discard(lw_writer *w)
{
    lwi_result_memory_free(w->memory);
    lwi_result_columns_free(&w->columns);
    lwi_arena_free(&w->arena);
    lwi_release(NULL, w);
}

static lw_status begin(lw_writer *w, const lw_writer_desc *desc, lw_error *error)
{
    if (!w->path) return begin_memory(w, desc, error);
    if (lwi_result_path_ends(w->path, ".csv")) return begin_csv(w, desc, error);
    if (lwi_result_path_ends(w->path, ".h5")) return begin_hdf5(w, desc, error);
    return lwi_fail_at(error, LW_ERR_ARGUMENT, w->path, 0, 0,
                       "unknown ending of a result, known: .h5 .csv");
}

lw_status lw_writer_create(const char *path, const lw_writer_desc *desc, lw_writer **writer,
                           lw_error *error)
{
    LWI_DESC(lw_writer_desc, desc, error);
    if (error) memset(error, 0, sizeof *error);
    if (!desc->sim || !writer || (int)desc->level < 0 || desc->level > LW_OBSERVE_MOMENTUM ||
        !(desc->flush >= 0))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "desc with sim and level, and writer must be given");
    lw_writer *w = lwi_allocate(NULL, sizeof *w);
    if (!w) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    *w = (lw_writer){.sim = desc->sim, .interval = desc->flush};
    lwi_arena_init(&w->arena, NULL);
    w->path = path ? lwi_arena_text(&w->arena, path) : NULL;
    const lw_status status = path && !w->path
                                 ? lwi_fail(error, LW_ERR_MEMORY, "no memory for a result")
                                 : begin(w, desc, error);
    if (status == LW_OK) {
        *writer = w;
        return LW_OK;
    }
    lw_csv_close(w->csv);
    discard(w);
    return status;
}

static lw_status close_csv(lw_writer *w)
{
    errno = 0;
    const lw_status status = lw_csv_close(w->csv);
    if (status != LW_OK) csv_failed(w, LW_ERR_IO);
    return w->error.status;
}

lw_status lw_writer_close(lw_writer *writer, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!writer) return LW_OK;
    lw_status status;
    if (writer->csv) {
        status = close_csv(writer);
        if (status != LW_OK && error) *error = writer->error;
    } else if (writer->memory) {
        status = LW_OK;
    } else {
        status = lwi_hdf5_close(writer->hdf5, error);
    }
    discard(writer);
    return status;
}

lw_status lw_writer_finish(lw_writer *writer, lw_result **result, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!writer || !result || !writer->memory)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "a writer without a path, and result must be given");
    lw_result *r = lwi_allocate(NULL, sizeof *r);
    if (!r) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    memset(r, 0, sizeof *r);
    lwi_arena_init(&r->arena, NULL);
    const lw_status status = lwi_result_memory_finish(writer->memory, writer->sim, r);
    if (status != LW_OK) {
        lw_result_close(r);
        return lwi_fail(error, status, "no memory for a result");
    }
    writer->memory = NULL;
    discard(writer);
    *result = r;
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- convert

// Receives the rows of a result one by one.
typedef lw_status (*row_taker)(void *user, long index, const double *row);

// Columns of a result, in its order.
typedef struct columns_kept {
    int n, *column;     // [n]
    const char **names; // [n]
} columns_kept;

// Always kept: what says of which time and which variant a row is.
static bool is_index(const char *name)
{
    return !strcmp(name, "time") || !strcmp(name, "instance") || !strncmp(name, "vary.", 5);
}

static lw_status mark_columns(const lw_result *r, const char **names, char *patterns, bool *chosen,
                              lw_error *error)
{
    enum { MOST = 2000 }; // a distance costs microseconds
    if (!patterns[strspn(patterns, ", ")])
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "columns: expected auto, or names of columns with commas, 'joint.*.f*'");
    for (char *p; (p = lwi_text_next_pattern(&patterns));) {
        int found = 0;
        for (int i = 0; i < r->n; i++)
            if (lwi_text_glob(p, r->column[i].name)) chosen[i] = true, found++;
        if (found) continue;
        for (int i = 0; i < r->n; i++) names[i] = r->column[i].name;
        const char *near = lwi_nearest(p, names, r->n < MOST ? r->n : MOST);
        return lwi_fail_at(error, LW_ERR_ARGUMENT, r->path, 0, 0,
                           "columns: no column of the result matches '%.100s'%s%.100s%s", p,
                           near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return LW_OK;
}

// All columns: patterns NULL or `auto`.
static lw_status keep_columns(const lw_result *r, const char *patterns, lwi_arena *arena,
                              columns_kept *kept, lw_error *error)
{
    const bool all = !patterns || !strcmp(patterns, "auto");
    bool *chosen = LWI_PUSH(arena, bool, r->n);
    char *text = all ? NULL : lwi_arena_text(arena, patterns);
    *kept = (columns_kept){.column = LWI_PUSH(arena, int, r->n),
                           .names = LWI_PUSH(arena, const char *, r->n)};
    if (!chosen || !kept->column || !kept->names || (!all && !text))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    for (int i = 0; i < r->n; i++) chosen[i] = all || is_index(r->column[i].name);
    if (!all) TRY(mark_columns(r, kept->names, text, chosen, error));
    for (int i = 0; i < r->n; i++) {
        if (!chosen[i]) continue;
        kept->column[kept->n] = i;
        kept->names[kept->n++] = r->column[i].name;
    }
    return LW_OK;
}

static lw_status read_rows(lw_result *r, const columns_kept *kept, row_taker take, void *user,
                           lw_error *error)
{
    enum { BLOCK_BYTES = 8 << 20 };
    const int n = kept->n;
    long chunk = BLOCK_BYTES / ((long)sizeof(double) * n);
    chunk = chunk < 1 ? 1 : chunk > r->rows ? r->rows : chunk;
    double *block = lwi_allocate(NULL, (size_t)(chunk + 1) * (size_t)n * sizeof *block);
    if (!block) return lwi_fail(error, LW_ERR_MEMORY, "no memory for rows");
    double *row = block + chunk * n;
    lw_status status = LW_OK;
    for (long first = 0; first < r->rows && status == LW_OK; first += chunk) {
        LWI_ASSERT(chunk >= 1 && chunk <= r->rows);
        const long count = chunk < r->rows - first ? chunk : r->rows - first;
        for (int i = 0; i < n && status == LW_OK; i++)
            status = lw_result_read(r, kept->column[i], first, count, block + i * chunk, error);
        for (long k = 0; k < count && status == LW_OK; k++) {
            for (int i = 0; i < n; i++) row[i] = block[i * chunk + k];
            status = take(user, first + k, row);
        }
    }
    lwi_release(NULL, block);
    return status;
}

typedef struct csv_target {
    FILE *file;
    int n;
} csv_target;

static lw_status csv_take(void *user, long index, const double *row)
{
    (void)index;
    const csv_target *target = user;
    lwi_csv_numbers(target->file, row, target->n);
    return ferror(target->file) ? LW_ERR_IO : LW_OK;
}

typedef struct hdf5_target {
    lwi_hdf5_writer *writer;
    lw_result *from;
    double *x;                   // [nx] state of a row
    unsigned char *undetermined; // [columns]
    lw_error *error;
} hdf5_target;

static lw_status hdf5_take(void *user, long index, const double *row)
{
    const hdf5_target *target = user;
    const lwi_result_meta *meta = &target->from->meta;
    if (meta->formulation)
        TRY(lw_result_read_state(target->from, index, NULL, target->x, target->error));
    return lwi_hdf5_row(target->writer, row, target->x, target->undetermined);
}

static lw_status convert_to_csv(lw_result *r, const char *path, const columns_kept *kept,
                                lw_error *error)
{
    lwi_numbers numbers;
    csv_target target = {.n = kept->n};
    TRY(lwi_open_output_stream(path, &target.file, error));
    lw_status status = LW_ERR_MEMORY;
    if (lwi_numbers_begin(&numbers)) {
        lwi_csv_header(target.file, kept->names, kept->n);
        status = read_rows(r, kept, csv_take, &target, error);
        lwi_numbers_end(&numbers);
    }
    lw_error closing;
    const lw_status closed = lwi_close_output(target.file, path, &closing);
    if (closed != LW_OK && error) *error = closing; // of a failed row too
    return closed != LW_OK ? closed : status;
}

// The columns of a result as its reader has them.
static lw_status columns_of(const lw_result *r, const columns_kept *kept,
                            lwi_result_columns *columns, hdf5_target *target)
{
    TRY(lwi_result_columns_of_names(kept->names, kept->n, columns));
    target->x = LWI_PUSH(&columns->arena, double, r->meta.nx);
    target->undetermined = LWI_PUSH(&columns->arena, unsigned char, r->n);
    if (!target->x || !target->undetermined) return LW_ERR_MEMORY;
    for (int i = 0; i < kept->n; i++) {
        lwi_result_column *column = &columns->column[i];
        const int from = kept->column[i];
        column->unit = r->column[from].unit, column->frame = r->column[from].frame;
        column->joint = i;
        target->undetermined[i] = r->column[from].undetermined;
    }
    return LW_OK;
}

// Everything that the reader has is written again, so that a damaged or foreign object of the file is not
// copied.
static lw_status convert_to_hdf5(lw_result *r, const char *path, const columns_kept *kept,
                                 lw_error *error)
{
    lwi_result_columns columns = {0};
    hdf5_target target = {.from = r, .error = error};
    TRY(lwi_result_find_event_room(r, error));
    lw_status status = columns_of(r, kept, &columns, &target);
    if (status != LW_OK)
        lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    else
        status =
            lwi_hdf5_create(path, &columns, &r->meta, (double)r->rows, 0, &target.writer, error);
    if (status == LW_OK) {
        status = copy_events(r, r->rows, target.writer, error);
        if (status == LW_OK) status = read_rows(r, kept, hdf5_take, &target, error);
        lw_error closing;
        const lw_status closed = lwi_hdf5_close(target.writer, &closing);
        if (closed != LW_OK && error) *error = closing; // of a failed row too
        if (status == LW_OK) status = closed;
    }
    lwi_result_columns_free(&columns);
    return status;
}

// Rows of the file that the run continues go into a new one, which takes its place when they are in it.
static lw_status copy_rows(lw_writer *w, const lw_writer_desc *desc, lw_result *old,
                           lw_error *error)
{
    hdf5_target target = {.writer = w->hdf5, .from = old, .error = error};
    columns_kept all;
    TRY(keep_columns(old, NULL, &w->arena, &all, error));
    target.x = LWI_PUSH(&w->arena, double, old->meta.nx);
    target.undetermined = LWI_PUSH(&w->arena, unsigned char, lw_sim_model(desc->sim)->njoint);
    if (!target.x || !target.undetermined)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the columns");
    for (int i = 0; i < old->n; i++) {
        const int joint = w->columns.column[i].joint;
        if (joint >= 0) target.undetermined[joint] = old->column[i].undetermined;
    }
    TRY(copy_events(old, old->rows, w->hdf5, error));
    TRY(read_rows(old, &all, hdf5_take, &target, error));
    w->count = old->rows;
    for (int i = 0; i < old->n; i++)
        TRY(lw_result_read(old, i, old->rows - 1, 1, w->rows.row + i, error));
    return lwi_hdf5_sync(w->hdf5);
}

static lw_status check_continued(const lw_writer *w, const lw_writer_desc *desc, lw_result *old,
                                 lw_error *error)
{
    bool same = old->hdf5 && old->n == w->columns.n && old->meta.nx == w->meta.nx;
    for (int i = 0; i < w->columns.n && same; i++)
        same = !strcmp(old->column[i].name, w->columns.column[i].name);
    if (!same)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, w->path, 0, 0,
                           "is not the result of the run that is to be continued");
    if (old->rows < desc->keep)
        return lwi_fail_at(error, LW_ERR_ARGUMENT, w->path, 0, 0,
                           "has %ld rows, the run that is to be continued had %ld", old->rows,
                           desc->keep);
    old->rows = desc->keep;
    return LW_OK;
}

static lw_status continue_from(lw_writer *w, const lw_writer_desc *desc, lw_result *old,
                               lw_error *error)
{
    const size_t room = strlen(w->path) + 40;
    char *temporary = lwi_arena_chars(&w->arena, room);
    if (!temporary) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a result");
    snprintf(temporary, room, "%s.part-%ld.h5", w->path, (long)getpid());
    TRY(check_continued(w, desc, old, error));
    TRY(lwi_hdf5_create(temporary, &w->columns, &w->meta, expected_rows(lw_sim_options(desc->sim)),
                        w->interval, &w->hdf5, error));
    lw_status status = copy_rows(w, desc, old, error);
    if (status == LW_OK && rename(temporary, w->path))
        status =
            lwi_fail_at(error, LW_ERR_IO, w->path, 0, 0, "cannot be written: %s", strerror(errno));
    if (status == LW_OK) {
        lwi_hdf5_set_interrupt(w->hdf5, desc->interrupt, desc->interrupt_user);
        return LW_OK;
    }
    lwi_hdf5_close(w->hdf5, error && error->status == LW_OK ? error : NULL);
    unlink(temporary);
    return status;
}

static lw_status continue_hdf5(lw_writer *w, const lw_writer_desc *desc, lw_error *error)
{
    lw_result *old;
    TRY(lw_result_open(w->path, &old, error));
    const lw_status status = continue_from(w, desc, old, error);
    lw_result_close(old);
    return status;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static lw_status convert(lw_result *result, const char *columns, const char *path, lwi_arena *arena,
                         lw_error *error)
{
    columns_kept kept;
    if (same_file(result->path, path))
        return lwi_fail_at(error, LW_ERR_ARGUMENT, path, 0, 0, "is the input file");
    const bool to_csv = lwi_result_path_ends(path, ".csv");
    if (!to_csv && !lwi_result_path_ends(path, ".h5"))
        return lwi_fail_at(error, LW_ERR_ARGUMENT, path, 0, 0,
                           "unknown ending of a result, known: .h5 .csv");
    TRY(keep_columns(result, columns, arena, &kept, error));
    if (to_csv) return convert_to_csv(result, path, &kept, error);
    if (result->memory && kept.n == result->n)
        return lwi_result_memory_write(result->memory, path, error);
    return convert_to_hdf5(result, path, &kept, error);
}

lw_status lw_result_convert_columns(lw_result *result, const char *columns, const char *path,
                                    lw_error *error)
{
    lwi_arena arena;
    if (error) memset(error, 0, sizeof *error);
    if (!result || !path) return lwi_fail(error, LW_ERR_ARGUMENT, "result and path must be given");
    lwi_arena_init(&arena, NULL);
    const lw_status status = convert(result, columns, path, &arena, error);
    lwi_arena_free(&arena);
    return status;
}

lw_status lw_result_convert(lw_result *result, const char *path, lw_error *error)
{
    return lw_result_convert_columns(result, NULL, path, error);
}
