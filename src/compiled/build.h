// build.h -- from generated files to a shared object that is kept and loaded.
#ifndef LWI_COMPILED_BUILD_H
#define LWI_COMPILED_BUILD_H

#include "compiled/cache.h"
#include "compiled/compiler.h"

/** A file to write: `head`, then `text`. */
typedef struct lwi_source_file {
    const char *name, *head, *text; ///< head NULL: none; text NULL: no file
} lwi_source_file;

/** Writes the files in a new folder, compiles those named *.c, keeps the shared object under the key, loads it by
 *  load(object, path, error) and removes the folder: what is loaded stays in memory.
 *  @return LW_ERR_IO, or as lwi_compiler_build and `load` */
lw_status lwi_build(const lwi_source_file *files, int n, const lwi_compiler *compiler,
                    const lwi_cache *cache, const char *key,
                    lw_status (*load)(void *object, const char *path, lw_error *error),
                    void *object, lw_error *error);

#endif
