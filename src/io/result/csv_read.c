// csv_read.c -- reads a CSV result into memory.
#include "base/file.h"
#include "io/result/result.h"
#include "io/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const char *path;
    FILE *file;
    char *line; // allocated by getline
    size_t room;
    long length;   // of the line, without its terminator
    int number;    // of the line, from 1
    bool ended;    // the line has a terminator
    long capacity; // rows
    lwi_csv_kind kind;
} parser;

static lw_status fail_at(const parser *p, lw_error *error, const char *at, const char *format, ...)
    LW_PRINTF(4, 5);
static lw_status fail_at(const parser *p, lw_error *error, const char *at, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lwi_fail_at(error, LW_ERR_PARSE, p->path, p->number, (int)(at - p->line) + 1, "%s",
                       text);
}

// The next line, without "\n" or "\r\n"; false at the end of the file.
static bool next_line(parser *p)
{
    p->length = getline(&p->line, &p->room, p->file);
    if (p->length < 0) return false;
    p->number++;
    p->ended = p->length > 0 && p->line[p->length - 1] == '\n';
    if (p->ended) p->line[--p->length] = 0;
    if (p->length > 0 && p->line[p->length - 1] == '\r') p->line[--p->length] = 0;
    return true;
}

// Distinguishes the end of the file from a failure to read (bad disk, a folder).
static lw_status check_read(const parser *p, lw_error *error)
{
    if (!ferror(p->file)) return LW_OK;
    return lwi_fail_at(error, LW_ERR_IO, p->path, 0, 0, "cannot be read: %s", strerror(errno));
}

// ------------------------------------------------------------------------------------------ header

static int count_fields(const char *line)
{
    int n = 1;
    bool quoted = false;
    for (; *line; line++) {
        if (*line == '"') quoted = !quoted;
        if (*line == ',' && !quoted) n++;
    }
    return n;
}

// Reads one name, quoted or not, in place; *at is then after it.                     [rfc4180, 2]
static lw_status take_name(parser *p, char **at, char **name, lw_error *error)
{
    char *from = *at, *to = *at;
    *name = to;
    if (*from != '"') {
        from += strcspn(from, ",");
        *at = from;
        return LW_OK;
    }
    for (from++; *from && !(*from == '"' && from[1] != '"'); from++) {
        if (*from == '"') from++; // "" is a quote
        *to++ = *from;
    }
    if (*from != '"') return fail_at(p, error, *at, "the closing quote is missing");
    from++;
    if (*from && *from != ',')
        return fail_at(p, error, from, "expected a comma after a quoted name");
    *at = from;
    *to = 0;
    return LW_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const lw_column_info *const *)a)->name,
                  (*(const lw_column_info *const *)b)->name);
}

static lw_status check_distinct(const parser *p, lwi_csv_table *t, lw_error *error)
{
    const lw_column_info **list = LWI_PUSH(&t->arena, const lw_column_info *, t->n);
    if (!list) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the header");
    for (int i = 0; i < t->n; i++) list[i] = &t->column[i];
    qsort(list, (size_t)t->n, sizeof(void *), by_name);
    for (int i = 1; i < t->n; i++)
        if (!strcmp(list[i - 1]->name, list[i]->name))
            return fail_at(p, error, p->line, "two columns have the name '%s'", list[i]->name);
    return LW_OK;
}

// A byte order mark is passed over in UTF-8, and names another encoding.
static lw_status skip_mark(parser *p, lw_error *error)
{
    if (!strncmp(p->line, "\xFF\xFE", 2) || !strncmp(p->line, "\xFE\xFF", 2))
        return lwi_fail_at(error, LW_ERR_PARSE, p->path, 1, 1, "is in UTF-16, expected UTF-8");
    if (strncmp(p->line, "\xEF\xBB\xBF", 3) != 0) return LW_OK;
    p->length -= 3;
    memmove(p->line, p->line + 3, (size_t)p->length + 1);
    return LW_OK;
}

static lw_status read_header(parser *p, lwi_csv_table *t, lw_error *error)
{
    const bool there = next_line(p);
    TRY(check_read(p, error));
    if (!there)
        return lwi_fail_at(error, LW_ERR_PARSE, p->path, 1, 1,
                           "the header is missing: the file is empty");
    TRY(skip_mark(p, error));
    if (!p->length) return lwi_fail_at(error, LW_ERR_PARSE, p->path, 1, 1, "the header is missing");
    t->n = count_fields(p->line);
    t->column = LWI_PUSH(&t->arena, lw_column_info, t->n);
    if (!t->column) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the header");
    char *at = p->line;
    for (int i = 0; i < t->n; i++) {
        char *taken;
        TRY(take_name(p, &at, &taken, error));
        const bool last = !*at;
        *at++ = 0;
        if (last != (i == t->n - 1) || !*taken)
            return fail_at(p, error, taken, "a column has no name");
        const char *name = lwi_arena_text(&t->arena, taken);
        if (!name) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the header");
        t->column[i] = (lw_column_info){.name = name};
        lwi_result_column_meaning(name, &t->column[i].unit, &t->column[i].frame);
        if (p->kind == LWI_CSV_STUDY && !strcmp(name, LWI_STRING_COLUMN)) t->text_column = i;
    }
    if (p->kind == LWI_CSV_RESULT && strcmp(t->column[0].name, "time") != 0)
        return fail_at(p, error, p->line, "the first column is '%.60s', expected 'time'",
                       t->column[0].name);
    return check_distinct(p, t, error);
}

// -------------------------------------------------------------------------------------------- rows

static lw_status make_room(parser *p, lwi_csv_table *t, lw_error *error)
{
    if (t->rows < p->capacity) return LW_OK;
    const long capacity = p->capacity ? 2 * p->capacity : 256;
    const size_t row = (size_t)t->n * sizeof *t->value;
    double *larger = lwi_allocate(NULL, (size_t)capacity * row);
    if (!larger) return lwi_fail(error, LW_ERR_MEMORY, "no memory for %ld rows", capacity);
    if (t->rows) memcpy(larger, t->value, (size_t)t->rows * row);
    lwi_release(NULL, t->value);
    t->value = larger;
    p->capacity = capacity;
    if (t->text_column < 0) return LW_OK;
    const char **strings = lwi_allocate(NULL, (size_t)capacity * sizeof *strings);
    if (!strings) return lwi_fail(error, LW_ERR_MEMORY, "no memory for %ld rows", capacity);
    if (t->rows) memcpy(strings, t->text, (size_t)t->rows * sizeof *strings);
    lwi_release(NULL, t->text);
    t->text = strings;
    return LW_OK;
}

// A field of a study that is no number: a text, or empty, which is a number that is not known.  *at is then behind it.
static lw_status read_text(parser *p, lwi_csv_table *t, int column, char **at, lw_error *error)
{
    char *taken;
    t->value[t->rows * t->n + column] = NAN;
    if (column != t->text_column) return LW_OK;
    TRY(take_name(p, at, &taken, error));
    const char after = **at; // the end of a text without quotes
    **at = 0;
    t->text[t->rows] = lwi_arena_text(&t->arena, taken);
    **at = after;
    return t->text[t->rows] ? LW_OK : lwi_fail(error, LW_ERR_MEMORY, "no memory for a text");
}

static lw_status read_row(parser *p, lwi_csv_table *t, lw_error *error)
{
    TRY(make_room(p, t, error));
    double *row = t->value + t->rows * t->n;
    char *at = p->line;
    for (int i = 0; i < t->n; i++) {
        char *end = at;
        const bool text = p->kind == LWI_CSV_STUDY && (i == t->text_column || !*at || *at == ',');
        if (text)
            TRY(read_text(p, t, i, &end, error));
        else
            row[i] = strtod(at, &end);
        if (text && (!*end || *end == ',')) {
            // as it should be
        } else if (end == at || (*end && *end != ',') || !isfinite(row[i]))
            return fail_at(p, error, at, "'%.*s' in column '%.60s' is not a finite number",
                           (int)strcspn(at, ","), at, t->column[i].name);
        // in a result, of any program, it is as good as zero; in a table it is a parameter
        if (p->kind == LWI_CSV_TABLE && lwi_number_underflows(at + strspn(at, " \t"), row[i]))
            return fail_at(p, error, at,
                           "'%.*s' in column '%.60s' is too small, expected 0 or at least 4.9e-324",
                           (int)strcspn(at, ","), at, t->column[i].name);
        if (!*end && i < t->n - 1)
            return fail_at(p, error, end, "the row has %d fields, the header %d", i + 1, t->n);
        if (*end && i == t->n - 1)
            return fail_at(p, error, end, "the row has more fields than the header, %d", t->n);
        at = end + 1;
    }
    t->rows++;
    return LW_OK;
}

static lw_status read_all(parser *p, lwi_csv_table *t, lw_error *error)
{
    TRY(read_header(p, t, error));
    t->whole = p->ended;
    while (next_line(p)) {
        t->whole = p->ended;
        if (!p->ended && (p->kind == LWI_CSV_RESULT || !p->length)) break;
        TRY(read_row(p, t, error));
    }
    return check_read(p, error);
}

lw_status lwi_csv_table_read(const char *path, lwi_csv_kind kind, lwi_csv_table *table,
                             lw_error *error)
{
    parser p = {.path = path, .kind = kind};
    lwi_numbers numbers;
    TRY(lwi_open_input_stream(path, &p.file, error));
    *table = (lwi_csv_table){.text_column = -1};
    lwi_arena_init(&table->arena, NULL);
    lw_status status = LW_ERR_MEMORY;
    if (lwi_numbers_begin(&numbers)) {
        status = read_all(&p, table, error);
        lwi_numbers_end(&numbers);
    }
    free(p.line);
    fclose(p.file);
    if (status != LW_OK) lwi_csv_table_free(table);
    return status;
}

void lwi_csv_table_free(lwi_csv_table *table)
{
    lwi_release(NULL, table->value);
    lwi_release(NULL, table->text);
    lwi_arena_free(&table->arena);
    *table = (lwi_csv_table){0};
}
