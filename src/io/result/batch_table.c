// batch_table.c -- tables of the parameters that differ between instances, read into memory.
#include "io/result/hdf5_file.h"
#include "io/result/result.h"

#include <linkwork/batch.h>

#include <string.h>

struct lw_table {
    lwi_arena arena;
    int rows, columns;
    const char **name;
    double *value; ///< [rows][columns]
};

// Columns of results that do not describe an initial state.
static bool passed_over(const char *name)
{
    return !strcmp(name, "time") || !strcmp(name, "instance");
}

enum { MAX_ROWS = 100000000 };

// Copies the columns of value [n][rows] (by_column) or [rows][n].
static lw_status fill(lw_table *t, const char *path, const char *const *name, int n, long rows,
                      const double *value, bool by_column, lw_error *error)
{
    if (rows < 1 || rows > MAX_ROWS)
        return lwi_fail_at(error, LW_ERR_PARSE, path, 0, 0,
                           "the table has %ld rows, expected 1 to %d", rows, MAX_ROWS);
    int taken = 0;
    t->name = LWI_PUSH(&t->arena, const char *, n);
    t->value = LWI_PUSH(&t->arena, double, (size_t)rows *(size_t)n);
    if (!t->name || !t->value) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
    for (int k = 0; k < n; k++)
        if (!passed_over(name[k])) t->columns++;
    for (int k = 0; k < n; k++) {
        if (passed_over(name[k])) continue;
        t->name[taken] = lwi_arena_text(&t->arena, name[k]);
        if (!t->name[taken]) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
        for (long i = 0; i < rows; i++)
            t->value[i * t->columns + taken] = value[by_column ? k * rows + i : i * n + k];
        taken++;
    }
    t->rows = (int)rows;
    return LW_OK;
}

static lw_status read_csv(lw_table *t, const char *path, lw_error *error)
{
    lwi_csv_table csv;
    TRY(lwi_csv_table_read(path, false, &csv, error));
    const char **name = LWI_PUSH(&csv.arena, const char *, csv.n);
    lw_status status = LW_ERR_MEMORY;
    if (name) {
        for (int k = 0; k < csv.n; k++) name[k] = csv.column[k].name;
        status = fill(t, path, name, csv.n, csv.rows, csv.value, false, error);
    } else {
        lwi_fail(error, status, "no memory for a table");
    }
    lwi_csv_table_free(&csv);
    return status;
}

static lw_status read_hdf5(lw_table *t, const char *path, lw_error *error)
{
    lwi_arena arena;
    const char **name;
    double *value;
    int n;
    long rows;
    lwi_arena_init(&arena, NULL);
    lw_status status = lwi_hdf5_table_read(path, &arena, &name, &n, &rows, &value, error);
    if (status == LW_OK) status = fill(t, path, name, n, rows, value, true, error);
    lwi_arena_free(&arena);
    return status;
}

lw_status lw_table_read(const char *path, lw_table **table, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!path || !table) return lwi_fail(error, LW_ERR_ARGUMENT, "path and table must be given");
    lw_table *t = lwi_allocate(NULL, sizeof *t);
    if (!t) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
    *t = (lw_table){.rows = 0};
    lwi_arena_init(&t->arena, NULL);
    const lw_status status =
        lwi_hdf5_recognise(path) ? read_hdf5(t, path, error) : read_csv(t, path, error);
    if (status == LW_OK)
        *table = t;
    else
        lw_table_free(t);
    return status;
}

void lw_table_free(lw_table *table)
{
    if (!table) return;
    lwi_arena_free(&table->arena);
    lwi_release(NULL, table);
}

int lw_table_rows(const lw_table *table)
{
    if (!table) return 0;
    return table->rows;
}
int lw_table_columns(const lw_table *table)
{
    if (!table) return 0;
    return table->columns;
}
const char *const *lw_table_names(const lw_table *table)
{
    if (!table) return NULL;
    return table->name;
}
const double *lw_table_values(const lw_table *table)
{
    if (!table) return NULL;
    return table->value;
}
