// batch.h -- many runs at once, as `run --batch` and `sweep` ask for them.
#ifndef LWI_CLI_BATCH_H
#define LWI_CLI_BATCH_H

#include "cli/cli.h"

/** What differs: rows of a file with every point of a design. */
typedef struct cases {
    int n, columns;
    const char *const *name; ///< [columns]
    const double *value;     ///< [n][columns]
    lw_table *table;         ///< with all of them
} cases;

cli_exit cases_read(const cli_arguments *arguments, const lw_model *model, cases *c);
void cases_free(cases *c);

/** Does an option ask for a study in a folder? */
bool cli_has_folder(const cli_arguments *arguments);
/** Makes it, continues it, counts and verifies its parts, merges them. */
cli_exit cli_folder(const cli_arguments *arguments);

/** Does another executor than this process make the parts? */
bool cli_has_executor(const cli_arguments *arguments);
/** @return CLI_USE: no such executor */
cli_exit cli_check_executor(const cli_arguments *arguments);
/** The Python package makes the parts of a folder; it takes the place of this program, and returns only if it cannot. */
cli_exit cli_run_executor(const cli_arguments *arguments, const char *folder, int threads);
/** A table that is written as .parquet needs packages of Python: refused where they are missing. */
cli_exit cli_check_parquet(const char *file);
/** The Python package writes the table of a folder, which is complete, as FILE.parquet. */
cli_exit cli_write_parquet(const char *folder, const char *file);

/** Simulates all of them; the table of what came of it at the end. */
cli_exit cli_batch(const cli_arguments *arguments);

#endif
