// hdf5_file.h -- result files in HDF5: the only place that knows the library.
//
//   /time                          [rows]
//   /table                         [rows][numbers]  all others, side by side
//   /state/x                       [rows][nx]   state of the formulation, bit for bit
//   /body/NAME/position ...        [rows][3]    datasets of lwi_result_columns: views of the table
//   /columns                       [columns]    name, dataset, component of every column, in order;
//                                               and its place in the table
//
// The writer works in single-writer-multiple-reader mode: metadata reach the file in an order in
// which it is consistent at any moment, /time last.  So a reader sees whole rows only, beside a
// writer at work or after its death.  Formats of HDF5 1.10, whatever the library: the first with
// this mode.
#ifndef LWI_IO_RESULT_HDF5_FILE_H
#define LWI_IO_RESULT_HDF5_FILE_H

#include "io/result/columns.h"

/** What a result knows beside its table.  NULL, 0: nothing. */
typedef struct lwi_result_meta {
    const char *model, *notice, *warnings, *versions;
    const lw_options *options;
    const char *formulation, *layout; ///< of the state: "coordinate 7, speed 7, work 1"
    int nx;
    const lw_summary *summary; ///< of a writer: as it is at close
} lwi_result_meta;

// ---- hdf5_write.c

typedef struct lwi_hdf5_writer lwi_hdf5_writer;

/** @param columns, meta  must outlive the writer
 *  @param expected  rows, about: a file of few has small chunks; 0: not known
 *  @param flush     [s] between flushes; 0: 1 s, more where a flush takes long */
lw_status lwi_hdf5_create(const char *path, const lwi_result_columns *columns,
                          const lwi_result_meta *meta, double expected, double flush,
                          lwi_hdf5_writer **writer, lw_error *error);
/** @param unique  [joint] as in lw_observation; NULL: all are.  Of the first row it is recorded.
 *  @param x       [nx] */
lw_status lwi_hdf5_row(lwi_hdf5_writer *writer, const double *row, const double *x,
                       const unsigned char *unique);
/** Flushes when the interval is over. */
lw_status lwi_hdf5_poll(lwi_hdf5_writer *writer);
/** Frees the writer in any case; the error is that of the first failure. */
lw_status lwi_hdf5_close(lwi_hdf5_writer *writer, lw_error *error);

// ---- hdf5_read.c

typedef struct lwi_hdf5_reader lwi_hdf5_reader;

/** Does the file begin like HDF5? */
bool lwi_hdf5_recognise(const char *path);
lw_status lwi_hdf5_open(const char *path, lwi_hdf5_reader **reader, lw_error *error);
void lwi_hdf5_end(lwi_hdf5_reader *reader);

long lwi_hdf5_rows(const lwi_hdf5_reader *reader);
bool lwi_hdf5_closed(const lwi_hdf5_reader *reader); ///< by its writer
/** Columns and their number; texts live as long as the reader. */
const lw_column_info *lwi_hdf5_columns(const lwi_hdf5_reader *reader, int *n);
const lwi_result_meta *lwi_hdf5_meta(const lwi_hdf5_reader *reader);

lw_status lwi_hdf5_read(lwi_hdf5_reader *reader, int column, long first, long count, double *values,
                        lw_error *error);
lw_status lwi_hdf5_read_state(lwi_hdf5_reader *reader, long row, double *x, lw_error *error);
/** Everything into a new file, whole rows only. */
lw_status lwi_hdf5_copy(lwi_hdf5_reader *reader, const char *path, lw_error *error);

// ---- hdf5_table.c

/** Reads a plain table: every link of the root must be a one-dimensional dataset of finite numbers,
 * all equally long.   @param name [n], value [n][rows]  out, in `arena` */
lw_status lwi_hdf5_table_read(const char *path, lwi_arena *arena, const char ***name, int *n,
                              long *rows, double **value, lw_error *error);

#endif
