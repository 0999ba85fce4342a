// part.c -- one part of a study: made by a sweep of its variants, kept as a table in CSV.
//
// The last line closes it: "# 500 rows, 3 failed, sha256 HASH", the hash of all bytes before the line.  Rows have the
// bytes that a table of all variants would have.
#define _XOPEN_SOURCE 700
#include "store/store.h"

#include "base/assert.h"
#include "io/result/csv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLOSING "# %d rows, %d failed, sha256 "
enum { CLOSING_ROOM = 140 };

void lwi_part_name(const lwi_manifest *m, int part, char name[LWI_PART_NAME])
{
    char key[LWI_SHA256_SIZE + 40], hash[LWI_SHA256_SIZE];
    const int first = lwi_store_first(m, part);
    const int n = snprintf(key, sizeof key, "%s %d %d", m->hash, first, lwi_store_count(m, part));
    lwi_sha256_of(key, (size_t)n, hash);
    snprintf(name, LWI_PART_NAME, "%010d-%.16s.csv", first, hash);
}

static char *path_of(const lw_store *s, int part, lwi_arena *arena)
{
    char name[LWI_PART_NAME];
    lwi_part_name(&s->manifest, part, name);
    return lwi_folder_path(arena, s->parts, name);
}

// ------------------------------------------------------------------------------------------ reading

// The line that closes a part, at the end of a text; false: there is none.
static bool find_closing(const char *text, size_t size, size_t *at, int *rows, int *failed,
                         char hash[LWI_SHA256_SIZE])
{
    if (size < 2 || text[size - 1] != '\n') return false;
    size_t start = size - 1;
    while (start > 0 && text[start - 1] != '\n') start--;
    char again[CLOSING_ROOM];
    if (size - start >= sizeof again ||
        sscanf(text + start, CLOSING "%64s", rows, failed, hash) != 3)
        return false;
    *at = start;
    const int n = snprintf(again, sizeof again, CLOSING "%s\n", *rows, *failed, hash);
    return n == (int)(size - start) && !memcmp(again, text + start, size - start);
}

static lw_status damaged(lw_error *error, const char *path, const char *what)
{
    return lwi_fail_at(error, LW_ERR_PARSE, path, 0, 0, "is damaged: %s", what);
}

static lw_status check(const lw_store *s, int part, const char *path, const char *text, size_t size,
                       lwi_part *found, lw_error *error)
{
    char hash[LWI_SHA256_SIZE], computed[LWI_SHA256_SIZE];
    size_t end;
    int rows, lines = 0;
    if (strlen(text) != size || !find_closing(text, size, &end, &rows, &found->failed, hash))
        return damaged(error, path, "the line that closes it is missing");
    lwi_sha256_of(text, end, computed);
    if (strcmp(hash, computed) != 0)
        return damaged(error, path, "its hash is not that of its rows");
    const char *first = strchr(text, '\n') + 1;
    for (const char *c = first; c < text + end; c++) lines += *c == '\n';
    if (rows != lwi_store_count(&s->manifest, part) || lines != rows)
        return damaged(error, path, "it has another number of rows");
    if (atol(first) != lwi_store_first(&s->manifest, part))
        return damaged(error, path, "it has other rows");
    found->text = text;
    found->rows = first;
    found->size = (size_t)(text + end - first);
    return LW_OK;
}

lw_status lwi_part_read(const lw_store *s, int part, lwi_arena *arena, lwi_part *found,
                        lw_error *error)
{
    char *text;
    size_t size;
    const char *path = path_of(s, part, arena);
    if (!path) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a part");
    TRY(lwi_folder_read(path, arena, &text, &size, error));
    return check(s, part, path, text, size, found, error);
}

// The line that closes a file.
static bool read_closing(const char *path, int *rows, int *failed)
{
    char text[CLOSING_ROOM + 1], hash[LWI_SHA256_SIZE];
    struct stat about;
    size_t at;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t n = -1;
    if (!fstat(file, &about)) {
        const off_t from = about.st_size > CLOSING_ROOM ? about.st_size - CLOSING_ROOM : 0;
        n = pread(file, text, CLOSING_ROOM, from);
    }
    close(file);
    if (n < 0) return false;
    text[n] = 0;
    return find_closing(text, (size_t)n, &at, rows, failed, hash);
}

int lwi_part_rows(const char *path)
{
    int rows, failed;
    return read_closing(path, &rows, &failed) && rows > 0 ? rows : 0;
}

int lwi_part_failed(const lw_store *s, int part)
{
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const char *path = path_of(s, part, &arena);
    int rows, failed;
    const bool found = path && read_closing(path, &rows, &failed);
    lwi_arena_free(&arena);
    return found ? failed : -1;
}

bool lw_store_has(const lw_store *s, int part)
{
    if (!s || part < 0 || part >= lwi_store_parts(&s->manifest)) return false;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const char *path = path_of(s, part, &arena);
    const bool found = path && !access(path, F_OK);
    lwi_arena_free(&arena);
    return found;
}

// ------------------------------------------------------------------------------------------- making

// What one part is made with.
typedef struct making {
    lw_store *store;
    int first, count; // variants
    bool reference;   // one that can run is behind them
    lw_batch_desc desc;
    lw_progress progress;
    void *user;
    lwi_arena arena;
    lw_error *error;
} making;

// A sweep in which no variant can run is refused: with one that can, the others are rows with their reasons.
static lw_status add_reference(making *m)
{
    const lw_table *t = m->store->variants;
    const size_t width = (size_t)t->columns, n = (size_t)m->count * width;
    double *values = LWI_PUSH(&m->arena, double, n + width);
    if (!values) return lwi_fail(m->error, LW_ERR_MEMORY, "no memory for a part");
    if (width) {
        memcpy(values, lwi_table_row(t, m->first), n * sizeof *values);
        memcpy(values + n, lwi_table_row(t, m->store->manifest.reference), width * sizeof *values);
    }
    m->desc.values = values;
    m->desc.instances = m->count + 1;
    m->reference = true;
    return LW_OK;
}

static lw_status create_sweep(making *m, lw_sweep **sweep)
{
    const lw_model *model = m->store->model;
    const lw_status status = lw_sweep_create(model, &m->desc, sweep, m->error);
    if (status == LW_OK || status == LW_ERR_MEMORY) return status;
    TRY(add_reference(m));
    return lw_sweep_create(model, &m->desc, sweep, m->error);
}

// Numbers of variants are those of the study, and the reference is none of them.
static void renumber(const making *m, lw_table *table)
{
    table->rows -= m->reference;
    for (int i = 0; i < table->rows; i++) lwi_table_row(table, i)[0] = m->first + i;
}

static lw_status put(const making *m, const lw_table *table, int failed, FILE *file,
                     const char *const *text, const size_t *size)
{
    char hash[LWI_SHA256_SIZE];
    TRY(lwi_csv_table_put(file, table, m->error));
    if (fflush(file)) return lwi_fail(m->error, LW_ERR_MEMORY, "no memory for a part");
    lwi_sha256_of(*text, *size, hash);
    fprintf(file, CLOSING "%s\n", table->rows, failed, hash);
    return LW_OK;
}

static lw_status write_part(const making *m, int part, const lw_table *table, int failed)
{
    char name[LWI_PART_NAME], *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return lwi_fail(m->error, LW_ERR_MEMORY, "no memory for a part");
    lw_status status = put(m, table, failed, file, (const char *const *)&text, &size);
    if ((fclose(file) || !text) && status == LW_OK)
        status = lwi_fail(m->error, LW_ERR_MEMORY, "no memory for a part");
    lwi_part_name(&m->store->manifest, part, name);
    if (status == LW_OK)
        status = lwi_folder_write(m->store->parts, name, text, size, false, NULL, m->error);
    free(text);
    return status;
}

static lw_status run_study(making *m, lw_sweep *sweep, lw_study *study, int part)
{
    lw_table *table;
    int failed = 0;
    const lw_status status = lw_sweep_run(sweep, lw_study_row, study, m->progress, m->user);
    if (status != LW_OK) {
        const lw_error *why = lw_study_error(study);
        *m->error = why->status == status ? *why : *lw_sweep_error(sweep);
        return status;
    }
    TRY(lw_study_table(study, &table, m->error));
    renumber(m, table);
    // one that an event of the model has stopped has not failed
    for (int i = 0; i < table->rows; i++) failed += lw_sweep_status(sweep, i) != LW_OK;
    const lw_status written = write_part(m, part, table, failed);
    lw_table_free(table);
    return written;
}

static lw_status make(making *m, int part)
{
    lw_sweep *sweep = NULL;
    lw_study *study = NULL;
    lw_status status = create_sweep(m, &sweep);
    if (status == LW_OK)
        status = lw_study_create(sweep, m->store->manifest.statistics, &study, m->error);
    if (status == LW_OK) status = run_study(m, sweep, study, part);
    lw_study_destroy(study);
    lw_sweep_destroy(sweep);
    return status;
}

lw_status lw_store_run(lw_store *s, int part, int threads, int lanes, lw_progress progress,
                       void *user)
{
    if (!s) return LW_ERR_ARGUMENT;
    const lwi_manifest *m = &s->manifest;
    if (part < 0 || part >= lwi_store_parts(m))
        return lwi_fail(&s->error, LW_ERR_ARGUMENT, "part %d: the study has %d, from 0 on", part,
                        lwi_store_parts(m));
    if (lw_store_has(s, part)) return LW_OK;
    if (strcmp(m->version, lw_version()) != 0)
        return lwi_fail_at(&s->error, LW_ERR_UNSUPPORTED, s->folder, 0, 0,
                           "the study was begun by linkwork %s; this is %s, and its numbers may "
                           "differ",
                           m->version, lw_version());
    making one = {.store = s,
                  .first = lwi_store_first(m, part),
                  .count = lwi_store_count(m, part),
                  .progress = progress,
                  .user = user,
                  .error = &s->error};
    one.desc = (lw_batch_desc){.options = &m->options,
                               .instances = one.count,
                               .threads = threads,
                               .lanes = lanes,
                               .nvary = s->variants->columns,
                               .vary = lw_table_names(s->variants),
                               .values = lwi_table_row(s->variants, one.first),
                               .unordered = true};
    lwi_arena_init(&one.arena, NULL);
    const lw_status status = make(&one, part);
    lwi_arena_free(&one.arena);
    return status;
}
