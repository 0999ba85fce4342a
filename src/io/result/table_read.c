// table_read.c -- tables of files: what differs between instances, and what became of them.
#include "batch/table.h"
#include "io/result/hdf5_file.h"
#include "io/result/result.h"

#include <string.h>

enum { MAX_ROWS = 100000000 };

// A table as a file has it.
typedef struct source {
    const char *path;
    bool study;
    int n, text_column;
    long rows;
    const char *const *name, *const *unit, *const *text;
    const double *value;
    bool by_column; // value is [n][rows], else [rows][n]
} source;

// Columns of results that do not describe an initial state.
static bool passed_over(const source *s, int k)
{
    if (k == s->text_column) return true;
    return !s->study && (!strcmp(s->name[k], "time") || !strcmp(s->name[k], "instance"));
}

static lw_status fill_column(lw_table *t, const source *s, int from, int to)
{
    TRY(lwi_table_name(t, to, s->name[from], s->unit ? s->unit[from] : ""));
    for (long i = 0; i < s->rows; i++)
        lwi_table_row(t, (int)i)[to] =
            s->value[s->by_column ? from * s->rows + i : i * s->n + from];
    return LW_OK;
}

static lw_status fill(lw_table *t, const source *s)
{
    int taken = 0;
    for (int k = 0; k < s->n; k++)
        if (!passed_over(s, k)) TRY(fill_column(t, s, k, taken++));
    if (s->text_column < 0) return LW_OK;
    TRY(lwi_table_add_strings(t, s->name[s->text_column]));
    for (long i = 0; i < s->rows; i++)
        if (!(t->text[i] = lwi_arena_text(&t->arena, s->text[i]))) return LW_ERR_MEMORY;
    return LW_OK;
}

static lw_status make(const source *s, lw_table **table, lw_error *error)
{
    int columns = 0;
    if (s->rows < 1 || s->rows > MAX_ROWS)
        return lwi_fail_at(error, LW_ERR_PARSE, s->path, 0, 0,
                           "the table has %ld rows, expected 1 to %d", s->rows, MAX_ROWS);
    for (int k = 0; k < s->n; k++) columns += !passed_over(s, k);
    lw_table *t;
    TRY(lwi_table_create((int)s->rows, columns, &t, error));
    const lw_status status = fill(t, s);
    if (status == LW_OK)
        *table = t;
    else
        lw_table_free(t);
    return status == LW_OK ? LW_OK : lwi_fail(error, status, "no memory for a table");
}

static lw_status read_csv(const char *path, bool study, lw_table **table, lw_error *error)
{
    lwi_csv_table csv;
    TRY(lwi_csv_table_read(path, study ? LWI_CSV_STUDY : LWI_CSV_TABLE, &csv, error));
    const char **name = LWI_PUSH(&csv.arena, const char *, csv.n);
    lw_status status = LW_ERR_MEMORY;
    if (name) {
        for (int k = 0; k < csv.n; k++) name[k] = csv.column[k].name;
        const source s = {.path = path,
                          .study = study,
                          .n = csv.n,
                          .rows = csv.rows,
                          .name = name,
                          .value = csv.value,
                          .text_column = csv.text_column,
                          .text = csv.text};
        status = make(&s, table, error);
    } else {
        lwi_fail(error, status, "no memory for a table");
    }
    lwi_csv_table_free(&csv);
    return status;
}

static lw_status read_hdf5(const char *path, bool study, lw_table **table, lw_error *error)
{
    lwi_arena arena;
    lwi_hdf5_table h;
    lwi_arena_init(&arena, NULL);
    lw_status status = lwi_hdf5_table_read(path, study, &arena, &h, error);
    if (status == LW_OK) {
        const source s = {.path = path,
                          .study = study,
                          .n = h.n,
                          .rows = h.rows,
                          .name = h.name,
                          .unit = h.unit,
                          .value = h.value,
                          .by_column = true,
                          .text_column = h.text_column,
                          .text = h.text};
        status = make(&s, table, error);
    }
    lwi_arena_free(&arena);
    return status;
}

static lw_status read(const char *path, bool study, lw_table **table, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!path || !table) return lwi_fail(error, LW_ERR_ARGUMENT, "path and table must be given");
    return lwi_hdf5_recognise(path) ? read_hdf5(path, study, table, error)
                                    : read_csv(path, study, table, error);
}

lw_status lw_table_read(const char *path, lw_table **table, lw_error *error)
{
    return read(path, false, table, error);
}

lw_status lw_table_read_study(const char *path, lw_table **table, lw_error *error)
{
    return read(path, true, table, error);
}
