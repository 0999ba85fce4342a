// csv.h -- parts of the CSV writer for other writers of results.
#ifndef LWI_IO_RESULT_CSV_H
#define LWI_IO_RESULT_CSV_H

#include "io/result/columns.h"

#include <linkwork/batch.h>
#include <linkwork/io.h>

/** Writes the header line; names are quoted where necessary. */
void lwi_csv_header(FILE *file, const char *const *names, int n);
/** Writes one line of numbers, 17 digits; between lwi_numbers_begin and _end. */
void lwi_csv_numbers(FILE *file, const double *row, int n);

/** Writes a table: a header line, numbers with 17 digits, those that are not known as empty fields, strings in quotes.
 *  @return LW_ERR_MEMORY; failures to write are those of the stream */
lw_status lwi_csv_table_put(FILE *file, const lw_table *table, lw_error *error);

/** lw_csv_create with the columns that patterns choose (lwi_result_columns_choose). */
lw_status lwi_csv_create(const lw_model *model, lw_observe level, const char *patterns,
                         const char *path, lw_csv **csv, lw_error *error);
/** Opens the file of a run that is continued: rows after the first `keep` are removed, and the last of them is the
 *  previous row.   @return LW_ERR_ARGUMENT: it has other columns, or fewer rows */
lw_status lwi_csv_continue(const lw_model *model, lw_observe level, const char *patterns,
                           const char *path, long keep, lw_csv **csv, lw_error *error);
lw_status lwi_csv_flush(lw_csv *csv);
/** Flushes, and forces the rows to the disk. */
lw_status lwi_csv_sync(lw_csv *csv);
lwi_result_rows *lwi_csv_rows(lw_csv *csv);
/** Without names before lwi_csv_name_columns. */
const lwi_result_columns *lwi_csv_columns(const lw_csv *csv);
/** @return LW_ERR_MEMORY */
lw_status lwi_csv_name_columns(lw_csv *csv, const lw_model *model);

#endif
