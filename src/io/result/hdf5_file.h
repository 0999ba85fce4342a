// hdf5_file.h -- result files in HDF5; only its implementation includes the HDF5 library.
//
//   /time     [rows]
//   /table    [rows][columns]  all others, side by side in the order of a CSV file
//   /columns  [columns]        name, unit, frame and the like of every column of /table
//   /state/x  [rows][nx]       state of the formulation, bit for bit
//   /events   [events]         models with events: time, row, instance, name and action of each that has happened
//
// The number of objects does not depend on the model: creating a dataset costs more time the more there are.
//
// Every block has a checksum.
//
// The writer uses the single-writer-multiple-reader mode: metadata are written in an order that keeps the
// file consistent at any time, /time last.  A reader gets complete rows only, while the writer runs or
// after it was killed.  The file format is that of HDF5 1.10, the first version with this mode.
#ifndef LWI_IO_RESULT_HDF5_FILE_H
#define LWI_IO_RESULT_HDF5_FILE_H

#include "io/result/columns.h"

#include <linkwork/result.h>

/** Contents of a result in addition to its table.  NULL, 0: not available. */
typedef struct lwi_result_meta {
    const char *model, *notice, *warnings, *versions;
    const lw_options *options;
    const char *formulation, *layout; ///< of the state: "coordinate 7, speed 7, work 1"
    int nx;
    const lw_summary *summary; ///< writer: read at close
    /** writer: bytes of names and of actions of events, terminators included; 0: there are no events */
    int event_room[2];
} lwi_result_meta;

// ---- hdf5_write.c

typedef struct lwi_hdf5_writer lwi_hdf5_writer;

/** @param columns, meta  must outlive the writer
 *  @param expected  approximate number of rows, for the chunk size; 0: unknown
 *  @param flush     [s] between flushes; 0: 1 s, more if a flush takes long */
lw_status lwi_hdf5_create(const char *path, const lwi_result_columns *columns,
                          const lwi_result_meta *meta, double expected, double flush,
                          lwi_hdf5_writer **writer, lw_error *error);
/** `interrupt` is polled while the first row is written; NULL: none. */
void lwi_hdf5_set_interrupt(lwi_hdf5_writer *writer, lw_interrupt interrupt, void *user);
/** Appends a row.
 *  @param undetermined  [joint] as in lw_observation, recorded with the first row; NULL: all are unique
 *  @param x       [nx] */
lw_status lwi_hdf5_row(lwi_hdf5_writer *writer, const double *row, const double *x,
                       const unsigned char *undetermined);
/** Adds an event, before its row; without effect where the file has none. */
lw_status lwi_hdf5_event(lwi_hdf5_writer *writer, const lw_result_event *event);
/** Flushes if the interval has passed. */
lw_status lwi_hdf5_poll(lwi_hdf5_writer *writer);
/** Writes all rows and forces them to the disk. */
lw_status lwi_hdf5_sync(lwi_hdf5_writer *writer);
/** Closes the file and frees the writer in any case; the error is that of the first failure. */
lw_status lwi_hdf5_close(lwi_hdf5_writer *writer, lw_error *error);

// ---- hdf5_read.c

typedef struct lwi_hdf5_reader lwi_hdf5_reader;

/** @param time  the first column, which the file does not describe */
lw_status lwi_hdf5_open(const char *path, lw_column_info time, lwi_hdf5_reader **reader,
                        lw_error *error);
void lwi_hdf5_end(lwi_hdf5_reader *reader); ///< not NULL

long lwi_hdf5_rows(const lwi_hdf5_reader *reader);
bool lwi_hdf5_closed(const lwi_hdf5_reader *reader); ///< was it closed by its writer?
/** Columns and their number; valid as long as the reader. */
const lw_column_info *lwi_hdf5_columns(const lwi_hdf5_reader *reader, int *n);
const lwi_result_meta *lwi_hdf5_meta(const lwi_hdf5_reader *reader);

lw_status lwi_hdf5_read(lwi_hdf5_reader *reader, int column, long first, long count, double *values,
                        lw_error *error);
lw_status lwi_hdf5_read_state(lwi_hdf5_reader *reader, long row, double *x, lw_error *error);

/** The events of the rows; memory in `arena`. */
lw_status lwi_hdf5_events(lwi_hdf5_reader *reader, lwi_arena *arena, const lw_result_event **events,
                          long *count, lw_error *error);

// ---- hdf5_signature.c, without the library

/** Do the first bytes have the HDF5 signature? */
enum { LWI_HDF5_SIGNATURE = 8 };
bool lwi_hdf5_is_signed(const unsigned char head[LWI_HDF5_SIGNATURE]);
/** The same of a file, which need not exist; allocates nothing. */
bool lwi_hdf5_recognise(const char *path);

// ---- hdf5_table.c

/** A plain table: all memory is the caller's. */
typedef struct lwi_hdf5_table {
    int n, text_column; ///< -1: none
    long rows;
    const char **name, **unit; ///< [n]; units "" where there are none
    double *value;             ///< [n][rows]
    const char **text;         ///< [rows]
} lwi_hdf5_table;

/** Reads a plain table: every link of the root must be a one-dimensional dataset of finite numbers,
 *  all of the same length.
 *  @param study  numbers may be NAN, and LWI_STRING_COLUMN is a dataset of strings of fixed length */
lw_status lwi_hdf5_table_read(const char *path, bool study, lwi_arena *arena, lwi_hdf5_table *table,
                              lw_error *error);
/** Writes one.  @return LW_ERR_IO, LW_ERR_MEMORY; the file is then removed by the caller */
lw_status lwi_hdf5_table_write(const char *path, const lwi_hdf5_table *table, lw_error *error);

typedef struct lwi_hdf5_matrix {
    const char *name;
    int rows, columns;
    const double *value; ///< [rows][columns]
} lwi_hdf5_matrix;
typedef struct lwi_hdf5_strings_list {
    const char *name;
    int n;
    const char *const *text; ///< [n]
} lwi_hdf5_strings_list;
/** Datasets of matrices and of strings, as those of tables. */
typedef struct lwi_hdf5_matrices {
    int nmatrix, nlist;
    const lwi_hdf5_matrix *matrix;
    const lwi_hdf5_strings_list *list;
} lwi_hdf5_matrices;
/** Writes them.  @return as lwi_hdf5_table_write */
lw_status lwi_hdf5_matrices_write(const char *path, const lwi_hdf5_matrices *all, lw_error *error);

#endif
