// index.h -- which shared object a model has, without generating its text.
//
// A shared object is named by the hash of the text that it is compiled from.  An entry of the index contains such a name; its own
// name is the hash of everything that determines the text: the model as a file with all of its numbers, this build of the
// library, the functions and lanes, and the compiler.  Entries only save time: without one the text is generated.
#ifndef LWI_COMPILED_INDEX_H
#define LWI_COMPILED_INDEX_H

#include "compiled/cache.h"
#include "compiled/compiler.h"

#include <linkwork/model.h>

struct lwi_partition;

/** What is generated of a model. */
typedef struct lwi_index_entry {
    const lw_model *model;
    unsigned functions; ///< bits 1u << LW_CODEGEN_...
    int lanes;          ///< states side by side
    int packs;          ///< equal parts of one state side by side
    const struct lwi_partition
        *partition; ///< of the speeds of closed loops; NULL: that of the start
} lwi_index_entry;

/** The name of an entry.
 *  @return false: there is none, because a file does not determine the model or this build has no
 *          build ID (base/build_id.h) */
bool lwi_index_key(const lwi_index_entry *entry, const lwi_compiler *compiler,
                   char key[LWI_SHA256_SIZE]);
/** Reads an entry: the name of the shared object and the length of its text.
 *  @return false: there is no valid entry */
bool lwi_index_find(const lwi_cache *cache, const char *key, char object[LWI_SHA256_SIZE],
                    size_t *letters);
/** Writes an entry, if that is possible. */
void lwi_index_write(const lwi_cache *cache, const char *key, const char *object, size_t letters);

#endif
