// csv_write.c -- results as CSV: a header line, then a line of %.17g numbers for each row.
#define _XOPEN_SOURCE 700
#include "base/file.h"
#include "io/result/csv.h"
#include "io/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lw_csv {
    FILE *file;
    lwi_result_columns columns;
    lwi_result_rows rows;
    lwi_arena arena;
};

// ------------------------------------------------------------------------------------------ header

#define SPECIAL ",\"\r\n"

static void put_escaped(FILE *file, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '"') fputc('"', file);
        fputc(*p, file);
    }
}

// One field of the header, quoted if it contains a comma, a quote or a line end.  [rfc4180, 2]
static void put_name(FILE *file, const char *stem, const char *end)
{
    const bool quoted = strpbrk(stem, SPECIAL) || strpbrk(end, SPECIAL);
    if (quoted) fputc('"', file);
    put_escaped(file, stem);
    put_escaped(file, end);
    if (quoted) fputc('"', file);
}

void lwi_csv_header(FILE *file, const char *const *names, int n)
{
    for (int i = 0; i < n; i++) {
        if (i) fputc(',', file);
        put_name(file, names[i], "");
    }
    fputc('\n', file);
}

// -------------------------------------------------------------------------------------------- rows

void lwi_csv_numbers(FILE *file, const double *row, int n)
{
    char block[1 << 14], *end = block + 1; // a row without numbers is a line as well
    for (int i = 0; i < n;) {
        i += lwi_numbers_put(row + i, n - i, block, sizeof block, &end);
        if (i < n) fwrite(block, 1, (size_t)(end - block), file);
    }
    end[-1] = '\n'; // in place of the last comma
    fwrite(block, 1, (size_t)(end - block), file);
}

lw_status lw_csv_row(lw_csv *csv, const lw_observation *observation)
{
    lwi_numbers numbers;
    if (!csv || !observation || observation->level < csv->rows.level) return LW_ERR_ARGUMENT;
    TRY(lwi_result_rows_fill(&csv->rows, observation));
    if (!lwi_numbers_begin(&numbers)) return LW_ERR_MEMORY;
    lwi_csv_numbers(csv->file, csv->rows.row, csv->rows.n);
    lwi_numbers_end(&numbers);
    return ferror(csv->file) ? LW_ERR_IO : LW_OK;
}

lw_status lwi_csv_flush(lw_csv *csv)
{
    return fflush(csv->file) ? LW_ERR_IO : LW_OK;
}
lwi_result_rows *lwi_csv_rows(lw_csv *csv)
{
    return &csv->rows;
}
const lwi_result_columns *lwi_csv_columns(const lw_csv *csv)
{
    return &csv->columns;
}
lw_status lwi_csv_name_columns(lw_csv *csv, const lw_model *model)
{
    return csv->columns.column ? LW_OK : lwi_result_columns_name(&csv->columns, model);
}

// ------------------------------------------------------------------------------------ open, close

static void discard(lw_csv *c)
{
    lwi_result_columns_free(&c->columns);
    lwi_arena_free(&c->arena);
    lwi_release(NULL, c);
}

// Names are written in blocks: a call for each would take most of the time.
typedef struct header {
    FILE *file;
    bool begun, plain; // a name has been written; the stem needs no quotes
    bool is_short;     // and is one piece
    size_t used;
    char block[1 << 14];
} header;

static void flush_header(header *h)
{
    fwrite(h->block, 1, h->used, h->file);
    h->used = 0;
}

static inline char *put_end(char *to, const char *end)
{
    for (; *end; end++) *to++ = *end;
    return to;
}

// Names that need no quotes, each after a comma: stems in pieces of constant size.
static void put_block(header *h, const lwi_result_names *names)
{
    const size_t length = names->length;
    const int n = names->n;
    char *to = h->block + h->used;
    for (int k = 0; k < n && h->is_short; k++) {
        *to = ',';
        memcpy(to + 1, names->stem, LWI_STEM_PIECE);
        to = put_end(to + 1 + length, names->end[k]);
    }
    for (int k = 0; k < n && !h->is_short; k++) {
        *to++ = ',';
        for (size_t i = 0; i < length; i += LWI_STEM_PIECE)
            memcpy(to + i, names->stem + i, LWI_STEM_PIECE);
        to = put_end(to + length, names->end[k]);
    }
    h->used = (size_t)(to - h->block);
}

static void put_names(void *user, const lwi_result_names *names)
{
    header *h = user;
    const size_t room =
        (names->length + LWI_STEM_PIECE + sizeof names->numbered) * (size_t)(names->n + 1);
    if (!names->same) {
        h->plain = !strpbrk(names->stem, SPECIAL);
        h->is_short = names->length <= LWI_STEM_PIECE;
    }
    if (room > sizeof h->block - h->used) flush_header(h);
    if (h->begun && h->plain && !names->elsewhere && room <= sizeof h->block) {
        put_block(h, names);
        return;
    }
    flush_header(h);
    for (int k = 0; k < names->n; k++) {
        if (h->begun) fputc(',', h->file);
        h->begun = true;
        put_name(h->file, names->stem, names->end[k]);
    }
}

static lw_status put_header(const lw_csv *c, const lw_model *model)
{
    header h = {.file = c->file};
    TRY(lwi_result_columns_visit(&c->columns, model, put_names, &h));
    flush_header(&h);
    fputc('\n', c->file);
    return LW_OK;
}

static lw_status start(lw_csv *c, const lw_model *model, lw_observe level, const char *patterns,
                       const char *path, lw_error *error)
{
    TRY(lwi_result_columns_unnamed(model, level, patterns, &c->columns, error));
    if (lwi_result_rows_create(model, &c->columns, &c->arena, &c->rows) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a row of the CSV file");
    TRY(lwi_open_output_stream(path, &c->file, error));
    if (put_header(c, model) == LW_OK) return LW_OK;
    fclose(c->file);
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the header of the CSV file");
}

// ------------------------------------------------------------------------------------------ continue

typedef struct continuing {
    lw_csv *csv;
    const char *path;
    char *line; // of getline
    size_t room;
    lw_error *error;
} continuing;

static lw_status other_file(const continuing *c, const char *what)
{
    return lwi_fail_at(c->error, LW_ERR_ARGUMENT, c->path, 0, 0,
                       "is not the result of the run that is to be continued: %s", what);
}

// The header line that the file must have.
static lw_status check_header(continuing *c, const lw_model *model)
{
    char *expected = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&expected, &size), *file = c->csv->file;
    if (!memory) return lwi_fail(c->error, LW_ERR_MEMORY, "no memory for the header");
    c->csv->file = memory;
    lw_status status = put_header(c->csv, model);
    c->csv->file = file;
    if (fclose(memory) || !expected) status = LW_ERR_MEMORY;
    const bool same =
        status == LW_OK && getline(&c->line, &c->room, file) > 0 && !strcmp(c->line, expected);
    free(expected);
    if (status != LW_OK) return lwi_fail(c->error, status, "no memory for the header");
    return same ? LW_OK : other_file(c, "it has other columns");
}

// Passes over rows; the last one is the previous row of those that follow.
static lw_status keep_rows(continuing *c, long keep)
{
    lw_csv *csv = c->csv;
    for (long i = 0; i < keep; i++) {
        const ssize_t n = getline(&c->line, &c->room, csv->file);
        if (n < 1 || c->line[n - 1] != '\n') return other_file(c, "rows are missing");
    }
    char *at = c->line;
    for (int i = 0; i < csv->rows.n; i++) {
        char *end = at;
        csv->rows.row[i] = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\n'))
            return other_file(c, "its last row is damaged");
        at = end + 1;
    }
    const off_t length = ftello(csv->file);
    if (length >= 0 && !ftruncate(fileno(csv->file), length) &&
        !fseeko(csv->file, length, SEEK_SET))
        return LW_OK;
    return lwi_fail_at(c->error, LW_ERR_IO, c->path, 0, 0, "cannot be written: %s",
                       strerror(errno));
}

static lw_status start_again(continuing *c, const lw_model *model, lw_observe level,
                             const char *patterns, long keep)
{
    lw_csv *csv = c->csv;
    lwi_numbers numbers;
    TRY(lwi_result_columns_unnamed(model, level, patterns, &csv->columns, c->error));
    if (lwi_result_rows_create(model, &csv->columns, &csv->arena, &csv->rows) != LW_OK ||
        lwi_csv_name_columns(csv, model) != LW_OK)
        return lwi_fail(c->error, LW_ERR_MEMORY, "no memory for a row of the CSV file");
    TRY(lwi_reopen_output_stream(c->path, &csv->file, c->error));
    lw_status status = check_header(c, model);
    if (status == LW_OK && !lwi_numbers_begin(&numbers))
        status = lwi_fail(c->error, LW_ERR_MEMORY, "no memory for a row of the CSV file");
    if (status == LW_OK) {
        status = keep_rows(c, keep);
        lwi_numbers_end(&numbers);
    }
    if (status != LW_OK) fclose(csv->file);
    return status;
}

lw_status lwi_csv_continue(const lw_model *model, lw_observe level, const char *patterns,
                           const char *path, long keep, lw_csv **csv, lw_error *error)
{
    continuing c = {.csv = lwi_allocate(NULL, sizeof *c.csv), .path = path, .error = error};
    if (!c.csv) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a CSV file");
    memset(c.csv, 0, sizeof *c.csv);
    lwi_arena_init(&c.csv->arena, NULL);
    const lw_status status = start_again(&c, model, level, patterns, keep);
    free(c.line);
    if (status == LW_OK)
        *csv = c.csv;
    else
        discard(c.csv);
    return status;
}

lw_status lwi_csv_sync(lw_csv *csv)
{
    if (fflush(csv->file)) return LW_ERR_IO;
    return fsync(fileno(csv->file)) && errno != EINVAL && errno != EROFS ? LW_ERR_IO : LW_OK;
}

lw_status lw_csv_create(const lw_model *model, lw_observe level, const char *path, lw_csv **csv,
                        lw_error *error)
{
    return lwi_csv_create(model, level, NULL, path, csv, error);
}

lw_status lwi_csv_create(const lw_model *model, lw_observe level, const char *patterns,
                         const char *path, lw_csv **csv, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!model || !path || !csv || (int)level < 0 || level > LW_OBSERVE_MOMENTUM)
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, level, path and csv must be given");
    lw_csv *c = lwi_allocate(NULL, sizeof *c);
    if (!c) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a CSV file");
    memset(c, 0, sizeof *c);
    lwi_arena_init(&c->arena, NULL);
    const lw_status status = start(c, model, level, patterns, path, error);
    if (status != LW_OK) {
        discard(c);
        return status;
    }
    *csv = c;
    return LW_OK;
}

lw_status lw_csv_close(lw_csv *csv)
{
    if (!csv) return LW_OK;
    const bool failed = ferror(csv->file) != 0;
    const bool lost = fclose(csv->file) != 0;
    discard(csv);
    return failed || lost ? LW_ERR_IO : LW_OK;
}
