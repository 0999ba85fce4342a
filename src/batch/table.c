// table.c -- tables in memory.
#include "batch/table.h"

#include "base/assert.h"

#include <string.h>

lw_status lwi_table_create(int rows, int columns, lw_table **table, lw_error *error)
{
    LWI_ASSERT(rows >= 0 && columns >= 0);
    lw_table *t = lwi_allocate(NULL, sizeof *t);
    if (!t) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table");
    *t = (lw_table){.rows = rows, .columns = columns};
    lwi_arena_init(&t->arena, NULL);
    t->name = LWI_PUSH(&t->arena, const char *, columns);
    t->unit = LWI_PUSH(&t->arena, const char *, columns);
    t->value = LWI_PUSH(&t->arena, double, (size_t)rows *(size_t)columns);
    if (!t->name || !t->unit || !t->value) {
        lw_table_free(t);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a table of %d rows", rows);
    }
    for (int k = 0; k < columns; k++) t->unit[k] = "";
    *table = t;
    return LW_OK;
}

lw_status lwi_table_name(lw_table *t, int column, const char *name, const char *unit)
{
    LWI_ASSERT_INDEX(column, t->columns);
    t->name[column] = lwi_arena_text(&t->arena, name);
    t->unit[column] = *unit ? lwi_arena_text(&t->arena, unit) : "";
    return t->name[column] && t->unit[column] ? LW_OK : LW_ERR_MEMORY;
}

lw_status lwi_table_add_strings(lw_table *t, const char *name)
{
    t->text_name = lwi_arena_text(&t->arena, name);
    t->text = LWI_PUSH(&t->arena, const char *, t->rows);
    if (!t->text_name || !t->text) return LW_ERR_MEMORY;
    for (int i = 0; i < t->rows; i++) t->text[i] = "";
    return LW_OK;
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
const char *lw_table_unit(const lw_table *table, int column)
{
    if (!table || column < 0 || column >= table->columns) return "";
    return table->unit[column];
}
const double *lw_table_values(const lw_table *table)
{
    if (!table) return NULL;
    return table->value;
}
const char *lw_table_string_name(const lw_table *table)
{
    if (!table || !table->text_name) return "";
    return table->text_name;
}
const char *lw_table_string(const lw_table *table, int row)
{
    if (!table || !table->text || row < 0 || row >= table->rows) return "";
    return table->text[row];
}
