// hdf5_module.h -- functions of hdf5_file.h that call the HDF5 library, as a module (base/module.h).
#ifndef LWI_IO_RESULT_HDF5_MODULE_H
#define LWI_IO_RESULT_HDF5_MODULE_H

#include "io/result/hdf5_file.h"

/** OPEN: functions that begin, after which the others are called: name, parameters, arguments; the others have a type
 *  in front. */
// clang-format off
#define LWI_HDF5_MODULE_LIST(OPEN, OTHER)                                                          \
    OPEN(create, (const char *path, const lwi_result_columns *columns, const lwi_result_meta *meta,\
                  double expected, double flush, lwi_hdf5_writer **writer, lw_error *error),       \
         (path, columns, meta, expected, flush, writer, error))                                    \
    OPEN(open, (const char *path, lw_column_info time, lwi_hdf5_reader **reader, lw_error *error), \
         (path, time, reader, error))                                                              \
    OPEN(table_read, (const char *path, bool study, lwi_arena *arena, lwi_hdf5_table *table,       \
                      lw_error *error), (path, study, arena, table, error))                        \
    OPEN(table_write, (const char *path, const lwi_hdf5_table *table, lw_error *error),            \
         (path, table, error))                                                                     \
    OPEN(matrices_write, (const char *path, const lwi_hdf5_matrices *all, lw_error *error),        \
         (path, all, error))                                                                       \
    OTHER(void, set_interrupt, (lwi_hdf5_writer *writer, lw_interrupt interrupt, void *user),      \
          (writer, interrupt, user))                                                               \
    OTHER(lw_status, row, (lwi_hdf5_writer *writer, const double *row, const double *x,            \
                           const unsigned char *undetermined), (writer, row, x, undetermined))     \
    OTHER(lw_status, event, (lwi_hdf5_writer *writer, const lw_result_event *event),               \
          (writer, event))                                                                         \
    OTHER(lw_status, poll, (lwi_hdf5_writer *writer), (writer))                                    \
    OTHER(lw_status, sync, (lwi_hdf5_writer *writer), (writer))                                    \
    OTHER(lw_status, close, (lwi_hdf5_writer *writer, lw_error *error), (writer, error))           \
    OTHER(void, end, (lwi_hdf5_reader *reader), (reader))                                          \
    OTHER(long, rows, (const lwi_hdf5_reader *reader), (reader))                                   \
    OTHER(bool, closed, (const lwi_hdf5_reader *reader), (reader))                                 \
    OTHER(const lw_column_info *, columns, (const lwi_hdf5_reader *reader, int *n), (reader, n))   \
    OTHER(const lwi_result_meta *, meta, (const lwi_hdf5_reader *reader), (reader))                \
    OTHER(lw_status, read, (lwi_hdf5_reader *reader, int column, long first, long count,           \
                            double *values, lw_error *error),                                      \
          (reader, column, first, count, values, error))                                           \
    OTHER(lw_status, events, (lwi_hdf5_reader *reader, lwi_arena *arena,                           \
                              const lw_result_event **events, long *count, lw_error *error),       \
          (reader, arena, events, count, error))                                                   \
    OTHER(lw_status, read_state, (lwi_hdf5_reader *reader, long row, double *x, lw_error *error),  \
          (reader, row, x, error))
// clang-format on

typedef struct lwi_hdf5_functions {
    const char *version; ///< of Linkwork
#define OPEN(name, parameters, arguments) lw_status(*name) parameters;
#define OTHER(type, name, parameters, arguments) type(*name) parameters;
    LWI_HDF5_MODULE_LIST(OPEN, OTHER)
#undef OPEN
#undef OTHER
} lwi_hdf5_functions;

#endif
