// csv_write.c -- results as CSV: a header line, then a line of %.17g numbers for each row.
#include "base/file.h"
#include "io/result/csv.h"
#include "io/text.h"

#include <stdio.h>
#include <string.h>

struct lw_csv {
    FILE *file;
    lwi_result_columns columns;
    lwi_result_rows rows;
    lwi_arena arena;
};

// ------------------------------------------------------------------------------------------ header

#define SPECIAL ",\"\r\n"

// One field of the header, quoted if it contains a comma, a quote or a line end.  [rfc4180, 2]
static void put_name(FILE *file, const char *name)
{
    if (!strpbrk(name, SPECIAL)) {
        fputs(name, file);
        return;
    }
    fputc('"', file);
    for (const char *p = name; *p; p++) {
        if (*p == '"') fputc('"', file);
        fputc(*p, file);
    }
    fputc('"', file);
}

void lwi_csv_header(FILE *file, const char *const *names, int n)
{
    for (int i = 0; i < n; i++) {
        if (i) fputc(',', file);
        put_name(file, names[i]);
    }
    fputc('\n', file);
}

// -------------------------------------------------------------------------------------------- rows

void lwi_csv_numbers(FILE *file, const double *row, int n)
{
    char block[1 << 14], *to = block;
    for (int i = 0; i < n; i++) {
        if (i) *to++ = ',';
        to = lwi_number_put(to, row[i]);
        if (block + sizeof block - to > 2 * LWI_NUMBER_ROOM) continue;
        fwrite(block, 1, (size_t)(to - block), file);
        to = block;
    }
    *to++ = '\n';
    fwrite(block, 1, (size_t)(to - block), file);
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
    bool begun;
    size_t used;
    char block[1 << 14];
} header;

static void flush_header(header *h)
{
    fwrite(h->block, 1, h->used, h->file);
    h->used = 0;
}

static void put_next(void *user, const char *name)
{
    header *h = user;
    const size_t n = strcspn(name, SPECIAL);
    if (sizeof h->block - h->used < n + 1) flush_header(h);
    if (h->begun) h->block[h->used++] = ',';
    h->begun = true;
    if (!name[n] && n <= sizeof h->block - h->used) {
        memcpy(h->block + h->used, name, n);
        h->used += n;
        return;
    }
    flush_header(h);
    put_name(h->file, name);
}

static lw_status put_header(const lw_csv *c, const lw_model *model)
{
    header h = {.file = c->file};
    TRY(lwi_result_columns_visit(&c->columns, model, put_next, &h));
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
