// version.h -- what compilers said of their version, kept in the cache: to start one takes as long as thousands of evaluations.
//
// A file is named by the hash of the command and of what changes when its program does: path, device, inode, size, times of change.
#ifndef LWI_COMPILED_VERSION_H
#define LWI_COMPILED_VERSION_H

#include "base/sha256.h"
#include "compiled/cache.h"

/** The name for a command of one word.
 *  @return false: its program is not known to be a compiler itself (a script, ccache), so another one may be behind it */
bool lwi_version_key(const char *command, char key[LWI_SHA256_SIZE]);
bool lwi_version_find(const lwi_cache *cache, const char *key, char *version, size_t size);
/** Keeps it, if that is possible. */
void lwi_version_write(const lwi_cache *cache, const char *key, const char *version);

#endif
