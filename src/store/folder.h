// folder.h -- files of a folder that are there completely or not at all.
#ifndef LWI_STORE_FOLDER_H
#define LWI_STORE_FOLDER_H

#include "base/base.h"

#define LWI_FOLDER_TEMPORARY ".part-" ///< names of files that are being written begin so

/** "folder/name" in the arena; NULL: no memory. */
char *lwi_folder_path(lwi_arena *arena, const char *folder, const char *name);
/** Creates a folder, unless it is there.  @return LW_ERR_IO */
lw_status lwi_folder_make(const char *folder, lw_error *error);
/** Reads a file; a zero byte follows its bytes.
 *  @return LW_ERR_IO with path and reason, LW_ERR_MEMORY */
lw_status lwi_folder_read(const char *path, lwi_arena *arena, char **text, size_t *size,
                          lw_error *error);
/** Writes a file into a folder: first under another name, then, when its bytes are on the disk, it gets its own.  A file
 *  of that name is replaced, or with `once` is kept, and *kept says so.
 *  @param kept  may be NULL      @return LW_ERR_IO with path and reason */
lw_status lwi_folder_write(const char *folder, const char *name, const void *text, size_t size,
                           bool once, bool *kept, lw_error *error);

#endif
