// cache.h -- the private folder in which compiled models are kept, one file for each key.
//
// A file is built in a separate folder, gets a checksum at its end and is renamed: other processes see it complete
// or not at all.  What is damaged is not found, and so built again.
#ifndef LWI_COMPILED_CACHE_H
#define LWI_COMPILED_CACHE_H

#include "base/base.h"

enum { LWI_CACHE_PATH = 1024 };

typedef struct lwi_cache {
    char path[LWI_CACHE_PATH]; ///< "": there is none
} lwi_cache;

/** What a file contains: a shared object, code for a GPU, the key of a shared object (index.h), the version of a compiler
 *  (version.h). */
typedef enum lwi_cache_kind {
    LWI_CACHE_OBJECT,
    LWI_CACHE_GPU,
    LWI_CACHE_INDEX,
    LWI_CACHE_VERSION
} lwi_cache_kind;

/** Finds or creates the folder.
 *  @param given  NULL: $XDG_CACHE_HOME/linkwork, else $HOME/.cache/linkwork
 *  @return LW_ERR_IO: it is another's, or others can write in it */
lw_status lwi_cache_open(const char *given, lwi_cache *cache, lw_error *error);
/** The path of a key's shared object, if it is there, this user's and whole. */
bool lwi_cache_find(const lwi_cache *cache, const char *key, char path[LWI_CACHE_PATH]);
/** The bytes of a key's file, if it is there, this user's and whole; the caller releases them (lwi_release). */
bool lwi_cache_read(const lwi_cache *cache, lwi_cache_kind kind, const char *key,
                    const lw_allocator *allocator, char **bytes, size_t *size);
/** Keeps such bytes, if that is possible. */
void lwi_cache_write(const lwi_cache *cache, lwi_cache_kind kind, const char *key,
                     const char *bytes, size_t size);
/** A new private folder to build in: in the cache, or where files are temporary.
 *  @return LW_ERR_IO with the reason */
lw_status lwi_cache_begin(const lwi_cache *cache, char folder[LWI_CACHE_PATH], lw_error *error);
/** Moves the file `built` of that folder into the cache; `path` is then its path, which is `built` where it cannot be kept. */
void lwi_cache_keep(const lwi_cache *cache, const char *key, const char *built,
                    char path[LWI_CACHE_PATH]);
/** Removes the folder with its files. */
void lwi_cache_end(const char *folder);

#endif
