// table.h -- a table in memory: named columns of numbers, and one column of strings.
#ifndef LWI_BATCH_TABLE_H
#define LWI_BATCH_TABLE_H

#include "base/base.h"

#include <linkwork/batch.h>

struct lw_table {
    lwi_arena arena;
    int rows, columns;
    const char **name, **unit; ///< [columns]
    double *value;             ///< [rows][columns]; NAN: not known
    const char *text_name;     ///< NULL: there is no column of strings
    const char **text;         ///< [rows]
};

/** All numbers zero, names NULL, units "".
 *  @param rows, columns  >= 0      @return LW_ERR_MEMORY */
lw_status lwi_table_create(int rows, int columns, lw_table **table, lw_error *error);
/** Names a column; both strings are copied.   @return LW_ERR_MEMORY */
lw_status lwi_table_name(lw_table *table, int column, const char *name, const char *unit);
/** Adds the column of strings, all empty; the name is copied.   @return LW_ERR_MEMORY */
lw_status lwi_table_add_strings(lw_table *table, const char *name);

static inline double *lwi_table_row(const lw_table *table, int row)
{
    return table->value + (size_t)row * (size_t)table->columns;
}

#endif
