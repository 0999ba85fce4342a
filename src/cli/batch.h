// batch.h -- many runs at once, as `run --batch` and `sweep` ask for them.
#ifndef LWI_CLI_BATCH_H
#define LWI_CLI_BATCH_H

#include "cli/cli.h"

/** Values of one thing that differs. */
typedef struct case_range {
    char name[256];
    int n;
    double *value; ///< [n]
} case_range;

/** What differs: rows of a file, times all combinations of the ranges given. */
typedef struct cases {
    int n, columns;
    const char **name; ///< [columns]
    double *value;     ///< [n][columns]
    lw_table *table;   ///< of the file; NULL: none
    case_range *range; ///< [nrange]
    int nrange;
} cases;

cli_exit cases_read(const cli_arguments *arguments, cases *c);
void cases_free(cases *c);

/** Simulates all of them; the table of what came of it at the end. */
cli_exit cli_batch(const cli_arguments *arguments);

#endif
