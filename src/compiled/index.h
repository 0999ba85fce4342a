// index.h -- which shared object a model has, without generating its text.
//
// Shared objects are named by the text that they are compiled from.  An entry of the index has the name of one, and is
// itself named by all that the text follows from: the model as a file with all of its numbers, this build of the library,
// and what is generated.  Entries are memory alone: without one the text is generated.
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
    int lanes;
    const struct lwi_partition *partition; ///< NULL: that of the start
} lwi_index_entry;

/** The name of an entry.  @return false: it has none, for a file cannot express the model, or this build has no mark */
bool lwi_index_key(const lwi_index_entry *entry, const lwi_compiler *compiler,
                   char key[LWI_SHA256_SIZE]);
/** The name of the shared object and the length of its text. */
bool lwi_index_find(const lwi_cache *cache, const char *key, char object[LWI_SHA256_SIZE],
                    size_t *letters);
void lwi_index_write(const lwi_cache *cache, const char *key, const char *object, size_t letters);

#endif
