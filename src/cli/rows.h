// rows.h -- rows of a run or of kinematics into files.
#ifndef LWI_CLI_ROWS_H
#define LWI_CLI_ROWS_H

#include "cli/cli.h"

typedef struct cli_rows {
    lw_writer *writer[CLI_MAX];
    int n;
    long rows;
    bool failed;
    lw_observe level; ///< of the rows
    const lw_model *model;
    lw_measures *measures;
    cli_progress progress;
} cli_rows;

cli_exit cli_rows_open(const cli_arguments *arguments, const lw_sim *sim, lw_result *after,
                       cli_rows *rows);
cli_exit cli_rows_close(cli_rows *rows);
/** After cli_rows_close: the measures, which can be printed until then. */
void cli_rows_free(cli_rows *rows);
void cli_rows_print_measures(const cli_rows *rows);
void cli_rows_json_measures(const cli_rows *rows, cli_json *json);
/** The level that rows need: that of the files where columns are chosen; the summary has energies. */
lw_observe cli_rows_level(const cli_arguments *arguments, const lw_sim *sim, const cli_rows *rows);
/** An lw_row; user: the rows. */
lw_status cli_rows_write(void *user, const lw_observation *observation);
/** An lw_progress; user: the rows.  Flushes files and draws the bar; a file that cannot be written ends the run, as a
 *  signal does. */
int cli_rows_poll(void *user, double time, double end);

#endif
