// document.h -- a YAML or JSON text as a tree of values that know their place.
//
// Scalars stay text: what a scalar means is decided where it stands.  Aliases share the value of
// their anchor; the limits below count what they would expand to, so that a small text cannot
// become a large document.
#ifndef LWI_IO_DOCUMENT_H
#define LWI_IO_DOCUMENT_H

#include "base/base.h"

#include <linkwork/model.h>

enum {
    LWI_DOCUMENT_DEPTH = 64,       ///< maps and lists inside each other; a model needs about ten
    LWI_DOCUMENT_VALUES = 1 << 23, ///< values with aliases expanded: models of 100 000 bodies
    LWI_DOCUMENT_ANCHORS = 256     ///< they are looked up one by one
};

typedef enum lwi_document_kind {
    LWI_DOCUMENT_SCALAR,
    LWI_DOCUMENT_LIST,
    LWI_DOCUMENT_MAP
} lwi_document_kind;

typedef struct lwi_document_value {
    lwi_document_kind kind;
    bool quoted;      ///< scalar in quotes or a block: always text, never a number
    lw_place place;   ///< from 1
    const char *text; ///< scalar; no zero bytes inside
    int count;        ///< list, map
    const struct lwi_document_value **item; ///< [count]
    const char **key;                       ///< map [count], each once
    lw_place *key_place;                    ///< map [count]
    int *order;                             ///< map [count], keys in the order of strcmp
    int weight;                             ///< values in it, itself included, aliases expanded
} lwi_document_value;

/** Parses one document; everything lives in the arena.
 *  @param name  of the file, for errors; they carry line and column
 *  @return LW_ERR_PARSE, LW_ERR_MEMORY */
lw_status lwi_document_parse(const char *text, size_t length, const char *name, lwi_arena *arena,
                             const lwi_document_value **root, lw_error *error);

/** Index of a key of a map, or -1.   @cost O(log count) */
int lwi_document_find(const lwi_document_value *map, const char *key);

/** Order of names by strcmp, equal ones by index; then the index of a name in them, or -1. */
void lwi_names_sort(const char *const *names, int count, int *order);
int lwi_names_find(const char *const *names, const int *order, int count, const char *name);

#endif
