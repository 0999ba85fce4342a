// rows.h -- rows of a run or of kinematics into files.
#ifndef LWI_CLI_ROWS_H
#define LWI_CLI_ROWS_H

#include "cli/cli.h"

#include <stdint.h>
#include <stdio.h>

/** Checkpoints of a run (checkpoint.c). */
typedef struct cli_saving {
    const char *file; ///< NULL: there are none
    lw_checkpoint *at;
    double every, next; ///< [s]; 0: by steps
    long every_steps, next_steps;
    bool taken; ///< a row of this process is in `at`
    bool due;   ///< the run has ended to be continued from the row in `at`
} cli_saving;

/** A row that an event has recorded. */
typedef struct cli_occurrence {
    double time;
    int event; ///< of the model
} cli_occurrence;

typedef struct cli_rows {
    lw_writer *writer[CLI_MAX];
    int n;
    long rows;
    bool failed;
    lw_observe level; ///< of the rows
    const lw_model *model;
    lw_measures *measures;
    cli_progress progress;
    cli_saving saving;
    const lw_sim *sim;
    size_t said;  ///< characters of lw_sim_notice that are not printed; SIZE_MAX: all
    FILE *events; ///< of --events; NULL: none
    const char *events_path;
    bool lists_events; ///< of the rows, in `occurrence`: of --json
    cli_occurrence *occurrence;
    size_t noccurrence, room;
} cli_rows;

/** @param keep  rows of the files that stay, of a run that is continued; 0: files are new */
cli_exit cli_rows_open(const cli_arguments *arguments, const lw_sim *sim, lw_result *after,
                       long keep, cli_rows *rows);
cli_exit cli_rows_close(cli_rows *rows);
/** After cli_rows_close: the measures and events, which can be printed until then. */
void cli_rows_free(cli_rows *rows);
void cli_rows_print_measures(const cli_rows *rows);
void cli_rows_json_measures(const cli_rows *rows, cli_json *json);
/** "occurrences": events with `record`, in the order of their rows. */
void cli_rows_json_events(const cli_rows *rows, cli_json *json);
/** The level that rows need: that of the files where columns are chosen; the summary has energies. */
lw_observe cli_rows_level(const cli_arguments *arguments, const lw_sim *sim, const cli_rows *rows);
/** An lw_row; user: the rows. */
lw_status cli_rows_write(void *user, const lw_observation *observation);
/** An lw_progress; user: the rows.  Flushes files and draws the bar; a file that cannot be written ends the run, as a
 *  signal does. */
int cli_rows_poll(void *user, double time, double end);

// ---- checkpoint.c

/** The checkpoints that the arguments ask for; `from` (NULL: none) is the one that the run continues from. */
cli_exit cli_saving_begin(const cli_arguments *arguments, const lw_sim *sim,
                          const lw_checkpoint *from, cli_saving *saving);
void cli_saving_end(cli_saving *saving);
/** After a row of the run.   @return LW_ERR_INTERRUPTED: a checkpoint is due, and `due` is set */
lw_status cli_saving_row(cli_rows *rows, const lw_observation *observation);
/** Writes the checkpoint that is due, and puts a new simulation in the place of *sim. */
cli_exit cli_saving_renew(cli_rows *rows, lw_sim **sim);
/** After a signal: the checkpoint of the last row, where the run can continue from there with the same bits. */
cli_exit cli_saving_stop(cli_rows *rows);
/** Reads a checkpoint; the model, a simulation, and the arguments of the run. */
cli_exit cli_resume_read(cli_arguments *arguments, lw_checkpoint **from, lw_model **model,
                         lw_sim **sim);

// ---- events.c

/** Opens the table of events that the arguments ask for and writes its header line. */
cli_exit cli_events_open(const cli_arguments *arguments, cli_rows *rows);
/** Writes those of an observation, which is row rows->rows; false: they cannot be written. */
bool cli_events_row(const cli_rows *rows, const lw_observation *observation);
/** @param code  what is returned if the file could be written */
cli_exit cli_events_close(cli_rows *rows, cli_exit code);
/** Writes those of a result. */
cli_exit cli_events_convert(const cli_arguments *arguments, lw_result *result);

#endif
