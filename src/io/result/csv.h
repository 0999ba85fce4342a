// csv.h -- parts of the CSV writer that other writers of results use.
#ifndef LWI_IO_RESULT_CSV_H
#define LWI_IO_RESULT_CSV_H

#include "io/result/columns.h"

#include <linkwork/io.h>

/** Header line, names quoted where they must. */
void lwi_csv_header(FILE *file, const char *const *names, int n);
/** One line of numbers, 17 digits; between lwi_numbers_begin and _end. */
void lwi_csv_numbers(FILE *file, const double *row, int n);

lw_status lwi_csv_flush(lw_csv *csv);
lwi_result_rows *lwi_csv_rows(lw_csv *csv);
const lwi_result_columns *lwi_csv_columns(const lw_csv *csv);

#endif
