// result.h -- an open result of any format.
#ifndef LWI_IO_RESULT_RESULT_H
#define LWI_IO_RESULT_RESULT_H

#include "kinematics/formulation.h"
#include "io/result/hdf5_file.h"

#include <linkwork/batch.h>

/** What a CSV file is read as. */
typedef enum lwi_csv_kind {
    LWI_CSV_TABLE, ///< finite numbers
    LWI_CSV_RESULT, ///< the first column must be "time", and a last line without terminator is ignored: it may be
                    ///< incomplete
    LWI_CSV_STUDY ///< an empty field is NAN, the column LWI_STRING_COLUMN is one of strings
} lwi_csv_kind;
#define LWI_STRING_COLUMN "failure"

/** A CSV file in memory. */
typedef struct lwi_csv_table {
    int n;
    long rows;
    bool whole;             ///< the last line is terminated
    lw_column_info *column; ///< [n]
    double *value;          ///< [rows][n]
    int text_column;        ///< -1: none
    const char **text;      ///< [rows] of that column
    lwi_arena arena;        ///< memory of all but the numbers and the list of strings
} lwi_csv_table;

/** Reads a table.  Errors carry line and column. */
lw_status lwi_csv_table_read(const char *path, lwi_csv_kind kind, lwi_csv_table *table,
                             lw_error *error);
void lwi_csv_table_free(lwi_csv_table *table);

typedef struct lwi_result_memory lwi_result_memory;

/** An entry of the index of columns by name. */
typedef struct lwi_result_name {
    const char *name;
    int column;
} lwi_result_name;

struct lw_result {
    const char *path;
    lwi_hdf5_reader *hdf5;     ///< or
    lwi_result_memory *memory; ///< or
    lwi_csv_table csv;
    long rows;
    int n;
    const lw_column_info *column; ///< [n]
    lwi_result_name *by_name;     ///< [n] sorted
    lwi_result_meta meta;
    long *picked, npicked;         ///< rows of the instance that is selected; NULL: all
    bool read_events;              ///< `event` is there
    const lw_result_event *event;  ///< [nevent] of all rows
    lw_result_event *picked_event; ///< of the instance that is selected
    long nevent;
    lwi_arena arena;
};

/** A writer of no file that keeps the last rows of a sweep, with the columns that patterns choose. */
lw_status lwi_batch_writer_choose(lw_sweep *sweep, const char *columns, lw_batch_writer **writer,
                                  lw_error *error);
const lw_error *lwi_batch_writer_error(const lw_batch_writer *writer);

/** Contents of the result of a simulation in addition to its table; strings are in `arena` or owned by the
 *  simulation. */
lw_status lwi_result_meta_of(const lw_sim *sim, const lw_model *model, lwi_arena *arena,
                             lwi_result_meta *meta);
/** Bytes of the names and actions of a model's events; 0: it has none. */
void lwi_result_event_room(const lw_model *model, int room[2]);
/** Widens result->meta.event_room to that of the events of the result. */
lw_status lwi_result_find_event_room(lw_result *result, lw_error *error);
/** Adds the events of an observation to a file, before the observation is written as row `row`. */
lw_status lwi_result_write_events(const lw_model *model, const lw_observation *observation,
                                  long row, int instance, lwi_hdf5_writer *writer);
/** Builds the index by name from result->column. */
lw_status lwi_result_sort_names(lw_result *result);
/** Blocks of a state as a string: "coordinate 7, speed 7, work 1"; NULL: no memory. */
const char *lwi_result_layout_text(const lw_sim *sim, lwi_arena *arena);

// ---- memory.c

lw_status lwi_result_memory_create(const lw_sim *sim, lw_observe level, lwi_result_memory **memory,
                                   lw_error *error);
void lwi_result_memory_free(lwi_result_memory *memory); ///< NULL is allowed
lw_status lwi_result_memory_row(lwi_result_memory *memory, const lw_sim *sim,
                                const lw_observation *observation);
/** Moves the rows into an empty result, which then owns `memory`; on failure the caller still does. */
lw_status lwi_result_memory_finish(lwi_result_memory *memory, const lw_sim *sim, lw_result *result);
lwi_result_rows *lwi_result_memory_rows(lwi_result_memory *memory);
const lwi_result_columns *lwi_result_memory_columns(const lwi_result_memory *memory);
const double *lwi_result_memory_values(const lwi_result_memory *memory); ///< [rows][columns]
/** Events; valid as long as the result. */
const lw_result_event *lwi_result_memory_events(const lwi_result_memory *memory, long *count);
const double *lwi_result_memory_states(const lwi_result_memory *memory); ///< [rows][nx]
/** Writes the HDF5 file that a writer with a path would have written. */
lw_status lwi_result_memory_write(const lwi_result_memory *memory, const char *path,
                                  lw_error *error);

/** Does the path end with `ending` (with the dot)? */
bool lwi_result_path_ends(const char *path, const char *ending);

#endif
