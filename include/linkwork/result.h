// result.h -- result files: write them while a simulation runs, read them, start again from them.
//
// A result is a table: one row per output time, one named column per number, the same names in every
// format ("time", "body.rod.x", "joint.hinge.q0", "sys.E"; docs/results.md has them all).  HDF5
// results (.h5) also store the model, the options and the integrator's state, so that a run can resume exactly from their
// last row; CSV results (.csv) are the table alone.
//
// A file that is being written, or that a killed process has left, is read up to its last flush.  The HDF5 library has
// global state: use .h5 files from one thread of a process at a time.
#ifndef LINKWORK_RESULT_H
#define LINKWORK_RESULT_H

#include <linkwork/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------- quantities

/** The columns of one quantity: item.NAME.part, for each part. */
typedef struct lw_quantity_info {
    const char *item;  ///< "body", "joint", "marker", "sys"; "" for the time
    const char *name;  ///< "position"; in HDF5: `quantity` of its columns
    const char *frame; ///< as in lw_column_info
    const char
        *level; ///< lw_observe that adds it: "pose", "twist", "energy", "acceleration", "reaction",
                ///< "momentum"
    const char *summary;
    const char *last_level;  ///< `level` of the last component, which may be higher
    int size;                ///< components
    const char *const *part; ///< [size] last parts of the names: "x", "y", "z"
    const char *const *unit; ///< [size]; [1] if `same_unit`
    bool same_unit;          ///< all components have unit[0]
    bool numbered; ///< 1: a joint has any number of components, part[0] followed by 0, 1, ...
} lw_quantity_info;
LW_API int lw_quantity_count(void);
LW_API lw_quantity_info lw_quantity_at(int index); ///< all empty for an index out of range

// --------------------------------------------------------------------------------------- reading

typedef struct lw_result lw_result; ///< one thread at a time

/** Opens a result; the format is recognised by the content.  Memory: CSV files are held as numbers, of
 *  HDF5 files the column names only.
 *  @return LW_ERR_IO: cannot be opened; LW_ERR_PARSE: not a result; file, line, column in `error`
 */
LW_API lw_status lw_result_open(const char *path, lw_result **result, lw_error *error);
LW_API void lw_result_close(lw_result *result);

/** Rows at the time of opening; those a writer adds later do not show. */
LW_API long lw_result_row_count(const lw_result *result);
LW_API int lw_result_column_count(const lw_result *result);

typedef struct lw_column_info {
    const char *name; ///< "joint.hinge.qd0"
    const char *unit; ///< "rad/s"; "1" for quaternions; "" where the file has none and the
                      ///< name is not one of ours.  The coordinates of a joint in a CSV: "m or rad"
    const char *frame; ///< "world", "body", "joint", "marker"; "" for scalars
    unsigned char
        undetermined; ///< of a reaction, at the first row: its components in F1 axes that are not unique,
                      ///< as in lw_observation.reaction_undetermined; 0: unique
} lw_column_info;

/** All empty for an index out of range.  Strings are valid as long as the result. */
LW_API lw_column_info lw_result_column(const lw_result *result, int index);
/** Index of a column.  @return LW_ERR_ARGUMENT with the nearest name */
LW_API lw_status lw_result_find_column(const lw_result *result, const char *name, int *column,
                                       lw_error *error);
/** Rows first ... first+count-1 of one column.  @param values [count] out */
LW_API lw_status lw_result_read(lw_result *result, int column, long first, long count,
                                double *values, lw_error *error);

/** The table as it lies in memory, [rows][columns]; NULL for .h5 files. */
LW_API const double *lw_result_values(const lw_result *result);
/** States [rows][state size] of a result in memory (lw_writer_finish); NULL for files. */
LW_API const double *lw_result_states(const lw_result *result);

/** The model as a native file, for lw_model_parse; NULL where the file has none (CSV). */
LW_API const char *lw_result_model(const lw_result *result);
/** The resolved options of the run; NULL where the file has none (CSV). */
LW_API const lw_options *lw_result_options(const lw_result *result);
/** Other strings by name: "notice", "warnings", "versions" (lines "NAME VERSION"); NULL: not there.
 */
LW_API const char *lw_result_text(const lw_result *result, const char *name);
/** What the run cost when its last row was written; NULL where the file has none: CSV, a run that was
 *  killed or is running, files of before 0.1. */
LW_API const lw_summary *lw_result_summary(const lw_result *result);
/** False: the writer is running or was killed; the result has what was flushed. */
LW_API bool lw_result_closed(const lw_result *result);

/** State of the run's formulation at a row, bit for bit; size 0 where the file has none.
 *  @param time  out; may be NULL
 *  @param x [size] out */
LW_API int lw_result_state_size(const lw_result *result);
LW_API lw_status lw_result_read_state(lw_result *result, long row, double *time, double *x,
                                      lw_error *error);

/** Sets a simulation to the result's state at `row` (-1: the last one), with its time.  With the same formulation the state is the stored one, bit for bit; otherwise the
 *  motion of bodies and joints is set, and the work continues from the row's.
 *  @param how  out: description of what was done, for the user; may be NULL
 *  In a simulation of another model the bodies and joints of the same names get their motion, the model is assembled near it,
 *  and the time is 0: `how` has the first difference.
 *  @return LW_ERR_ARGUMENT: the models have no name in common, or no such row; LW_ERR_MODEL: loops stay open */
LW_API lw_status lw_result_restore(lw_result *result, long row, lw_sim *sim, char *how,
                                   size_t how_size, lw_error *error);

/** Of the result of a sweep (columns `instance`): restricts it to the rows of one instance, in all calls after this one.
 *  @param instance  -1: all rows again
 *  @return LW_ERR_ARGUMENT: the result has no instances, or not this one; all rows are then there */
LW_API lw_status lw_result_select_instance(lw_result *result, long instance, lw_error *error);

// ----------------------------------------------------------------------------------------- events

/** An event of the model that has happened in a run. */
typedef struct lw_result_event {
    double time;        ///< [s]
    long row;           ///< the first row that is not before it: with `record` its own
    int instance;       ///< of a sweep; else 0
    const char *name;   ///< of the event
    const char *action; ///< lw_model_event_action: "set u, record, stop"
} lw_result_event;
/** All events of the rows in the order in which they happened; of an instance that is selected its own.  CSV files have
 *  none.
 *  @param events  out [count], valid until the next call of this function or of lw_result_select_instance
 *  @return LW_ERR_PARSE: the file is damaged */
LW_API lw_status lw_result_events(lw_result *result, const lw_result_event **events, long *count,
                                  lw_error *error);

// ------------------------------------------------------------------------------------- statistics

/** Of a number over the rows of a run. */
typedef struct lw_statistics {
    long rows;
    double min, max, range;          ///< of the rows; range: max - min, peak to peak
    double mean, rms;                ///< over the time, the number a straight line between two rows
    double last;                     ///< of the last row
    double time_of_min, time_of_max; ///< of the first row that has it [s]
    double integral;                 ///< over the time, as mean: the work, of a power [unit s]
} lw_statistics;
/** Numbers from which statistics follow; zero at the start. */
typedef struct lw_running {
    long rows;
    double first, last, value; ///< times of the first and last row; its value
    double min, max, time_of_min, time_of_max;
    double integral, squares; ///< over the time
} lw_running;
/** Counts a row; times must not decrease. */
LW_API void lw_running_add(lw_running *running, double time, double value);
/** All NAN but `rows` before the first row. */
LW_API lw_statistics lw_running_statistics(const lw_running *running);
/** Of a column.   @return LW_ERR_ARGUMENT: no rows, or no such column; LW_ERR_IO */
LW_API lw_status lw_result_statistics(lw_result *result, int column, lw_statistics *statistics,
                                      lw_error *error);

/** The measures of a model (lw_measure_desc) and their statistics in a run.  Results have their values as columns
 *  measure.NAME. */
typedef struct lw_measures lw_measures; ///< one thread at a time

/** @param model  must outlive the measures
 *  @return LW_ERR_MODEL with file, line and column: a measure names what is no column, or has wrong units */
LW_API lw_status lw_measures_create(const lw_model *model, lw_measures **measures, lw_error *error);
LW_API void lw_measures_destroy(lw_measures *measures);
/** The level that observations must have at least. */
LW_API lw_observe lw_measures_level(const lw_measures *measures);
/** Of a measure, 0 ... lw_model_measure_count - 1: "mm"; "" if unknown, or for an index out of range. */
LW_API const char *lw_measures_unit(const lw_measures *measures, int measure);
/** Counts a row.   @return LW_ERR_NOT_FINITE: a value is not finite */
LW_API lw_status lw_measures_row(lw_measures *measures, const lw_observation *observation);
/** Of the rows so far; all zero for an index out of range. */
LW_API lw_statistics lw_measures_statistics(const lw_measures *measures, int measure);

// --------------------------------------------------------------------------------------- writing

typedef struct lw_writer lw_writer; ///< one thread at a time

/** Polled while the first row of a file is written, which describes all columns and takes time for large models:
 *  nonzero ends it with LW_ERR_INTERRUPTED.  The file then has no rows. */
typedef int (*lw_interrupt)(void *user);

typedef struct lw_writer_desc {
    size_t size;       ///< sizeof this struct, or 0: see linkwork.h
    const lw_sim *sim; ///< model, options, notice; its state is stored with every row of .h5
    lw_observe
        level; ///< columns it does not contain are left out; the option `columns` of the simulation
               ///< chooses among them, and where it names others needs a higher level
    lw_result *after; ///< the result that this run resumes: quaternions keep their signs; may be
                      ///< NULL; not used after create
    double flush;     ///< [s] after which rows are flushed; 0: 1 s, more where a flush takes long
    lw_interrupt interrupt; ///< may be NULL
    void *interrupt_user;
    long
        keep; ///< > 0: the file is that of the same run; its first `keep` rows stay, and rows follow them
} lw_writer_desc;

/** Starts a result file, its format by the ending: .h5 or .csv.  An existing file is replaced.
 *  @param path  NULL: rows are kept in memory, for lw_writer_finish
 *  @return LW_ERR_ARGUMENT: the option `columns` has a pattern that matches nothing, with the nearest name; LW_ERR_IO */
LW_API lw_status lw_writer_create(const char *path, const lw_writer_desc *desc, lw_writer **writer,
                                  lw_error *error);
/** The level that observations for its rows must have at least. */
LW_API lw_observe lw_writer_level(const lw_writer *writer);
/** One row, of the simulation's present state.  A row may be buffered until the next flush. */
LW_API lw_status lw_writer_row(lw_writer *writer, const lw_observation *observation);
/** Flushes rows that are older than the interval: for progress callbacks, when rows are rare. */
LW_API lw_status lw_writer_poll(lw_writer *writer);
/** Flushes all rows, and forces them to the disk: they are there after a crash of the machine. */
LW_API lw_status lw_writer_flush(lw_writer *writer);
/** Rows are those of another simulation of the same model and options, which continues the run. */
LW_API lw_status lw_writer_set_sim(lw_writer *writer, const lw_sim *sim);
/** Flushes and closes; NULL is allowed.  The simulation must still exist: its warnings of the run are stored.
 *  @return LW_ERR_IO with the system's reason, of now or of an earlier row: the disk is full, for example */
LW_API lw_status lw_writer_close(lw_writer *writer, lw_error *error);
/** Ends a writer without a path: its rows become a result, which needs neither model nor simulation.
 *  The simulation must still exist.  On failure the writer is unchanged. */
LW_API lw_status lw_writer_finish(lw_writer *writer, lw_result **result, lw_error *error);

/** Writes a result in another format, given by the ending of `path`: every column bit for bit.  What
 *  the other format cannot hold (model, options, state in CSV) is left out; .h5 to .h5 writes all
 *  of it again, and closes what a killed writer left open. */
LW_API lw_status lw_result_convert(lw_result *result, const char *path, lw_error *error);
/** The same of the columns that patterns choose, "joint.*.f*,spring.strut.*", and of `time`, `instance` and `vary.*`.
 *  @param columns  NULL or "auto": all     @return LW_ERR_ARGUMENT: a pattern matches no column of the result */
LW_API lw_status lw_result_convert_columns(lw_result *result, const char *columns, const char *path,
                                           lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
