// readers.h -- the input formats of models: one folder and one row each.
#ifndef LWI_IO_READERS_H
#define LWI_IO_READERS_H

#include "base/base.h"

#include <linkwork/io.h>

/** Adds the contents of a file to the builder.  Input is untrusted; errors carry `name`, line, column.
 *  @param options  changed by the settings in the file, if the format has any; never NULL */
typedef lw_status (*lwi_reader)(const char *text, size_t length, const char *name,
                                const lw_read_desc *desc, lw_builder *builder, lw_options *options,
                                lw_error *error);

/** format, endings */
#define LWI_READER_LIST(X)                                                                         \
    X(yaml, ".yaml .yml .json")                                                                    \
    X(urdf, ".urdf")                                                                               \
    X(sdf, ".sdf .world")                                                                          \
    X(mjcf, ".mjcf .xml")

#define X(format, endings)                                                                         \
    lw_status lwi_read_##format(const char *text, size_t length, const char *name,                 \
                                const lw_read_desc *desc, lw_builder *builder,                     \
                                lw_options *options, lw_error *error);
LWI_READER_LIST(X)
#undef X

/** Reads the whole file into one block of the allocator. */
lw_status lwi_reader_file(const char *path, const lw_allocator *allocator, char **text,
                          size_t *length, lw_error *error);
/** The text of the file with parameters that a model was read from, and how it was read; owned by the model.
 *  @return false: the model is of no such file */
bool lwi_reader_source(const lw_model *model, const char **text, size_t *length,
                       const lw_read_desc **desc);
/** Path of a file in the folder or below it, links resolved; NULL: it does not exist or is outside, or no
 *  memory.
 *  @param name  relative to the folder */
const char *lwi_reader_path_inside(const char *folder, const char *name, lwi_arena *arena);

#endif
