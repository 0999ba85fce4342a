// readers.h -- the formats that models are read from: one file and one row each.
#ifndef LWI_IO_READERS_H
#define LWI_IO_READERS_H

#include "base/base.h"

#include <linkwork/io.h>

/** Adds what the text says to the builder.  All input is hostile; errors carry `name`, line, column.
 *  @param options  changed by the file's settings where the format has them; never NULL */
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

/** The whole file in one block of the allocator. */
lw_status lwi_file_text(const char *path, const lw_allocator *allocator, char **text,
                        size_t *length, lw_error *error);
/** Path of a file that lies in the folder or below it, whatever links say; NULL: there is none, it lies
 *  outside, or no memory.
 *  @param name  relative to the folder */
const char *lwi_file_inside(const char *folder, const char *name, lwi_arena *arena);

#endif
