// file.h -- files that are read, and files that one run writes.
#ifndef LWI_BASE_FILE_H
#define LWI_BASE_FILE_H

#include "base/base.h"

#include <stdio.h>

/** Opens a regular file for reading: a pipe would wait for its writer, a device may have no end.
 *  @return LW_ERR_IO with path and reason */
lw_status lwi_open_input(const char *path, int *file, lw_error *error);
lw_status lwi_open_input_stream(const char *path, FILE **file, lw_error *error);

/** Opens an empty file for writing.  It is locked before its content is removed: until it is closed, opening it again
 *  by this function fails, in this program and in others.  Pipes and devices are not locked.
 *  @param update  for reading too: a regular file
 *  @return LW_ERR_IO with path and reason */
lw_status lwi_open_output(const char *path, bool update, int *file, lw_error *error);
lw_status lwi_open_output_stream(const char *path, FILE **file, lw_error *error);
/** Opens a file that was written before, to continue it: locked in the same way, its content remains. */
lw_status lwi_reopen_output_stream(const char *path, FILE **file, lw_error *error);
/** Closes it.  @return LW_ERR_IO with path and reason, also of an earlier failure to write */
lw_status lwi_close_output(FILE *file, const char *path, lw_error *error);

#endif
