// document.h -- a YAML or JSON file as a tree of values with line and column.
//
// Scalars remain strings; the reader of a key interprets them.  Aliases share the value of their
// anchor.  The limits below count expanded aliases, so that a small file cannot become a large
// document.
#ifndef LWI_IO_DOCUMENT_H
#define LWI_IO_DOCUMENT_H

#include "base/base.h"

#include <linkwork/model.h>

enum {
    LWI_DOCUMENT_DEPTH = 64,       ///< nested maps and lists; a model needs about ten
    LWI_DOCUMENT_VALUES = 1 << 23, ///< values with aliases expanded: models of 100 000 bodies
    LWI_DOCUMENT_ANCHORS = 256     ///< searched linearly
};

typedef enum lwi_document_kind {
    LWI_DOCUMENT_SCALAR,
    LWI_DOCUMENT_LIST,
    LWI_DOCUMENT_MAP
} lwi_document_kind;

typedef struct lwi_document_value {
    lwi_document_kind kind;
    bool quoted;      ///< scalar in quotes or a block: always a string, never a number
    bool number;      ///< lwi_text_is_number of a scalar, quoted or not
    lw_place place;   ///< line and column, from 1
    const char *text; ///< scalar; no zero bytes inside
    int count;        ///< list, map
    const struct lwi_document_value **item; ///< [count]
    const char **key;                       ///< map [count], distinct
    lw_place *key_place;                    ///< map [count]
    int *order;                             ///< map [count], indices of the keys sorted by strcmp
    int weight; ///< number of values in it, including itself, aliases expanded
} lwi_document_value;

/** Parses one document; all memory is in the arena.
 *  @param name  of the file, for errors; they carry line and column
 *  @return LW_ERR_PARSE, LW_ERR_MEMORY */
lw_status lwi_document_parse(const char *text, size_t length, const char *name, lwi_arena *arena,
                             const lwi_document_value **root, lw_error *error);

/** The same of a plain JSON text, of which libyaml makes the same document (json_scan.h).
 *  @param root  NULL: left to libyaml, which has the message of a mistake
 *  @return LW_ERR_MEMORY */
lw_status lwi_document_parse_json(const char *text, size_t length, lwi_arena *arena,
                                  const lwi_document_value **root);

/** Index of a key of a map, or -1.   @cost O(log count) */
int lwi_document_find(const lwi_document_value *map, const char *key);

#endif
