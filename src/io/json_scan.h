// json_scan.h -- the values of a plain JSON text, one after the other.
//
// Models that programs write are JSON with ASCII strings and no escapes.  Their values are those that libyaml finds, in a
// tenth of the instructions.  All else is left to libyaml, and so are mistakes.
#ifndef LWI_IO_JSON_SCAN_H
#define LWI_IO_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linkwork/model.h>

typedef enum lwi_json_kind {
    LWI_JSON_SCALAR,
    LWI_JSON_LIST, ///< begins
    LWI_JSON_MAP,  ///< begins; keys and values follow in turn
    LWI_JSON_CLOSE,
    LWI_JSON_END,
    LWI_JSON_OTHER ///< left to libyaml
} lwi_json_kind;

typedef struct lwi_json_token {
    lwi_json_kind kind;
    bool quoted;
    bool number;      ///< without quotes; not true, false or null
    const char *text; ///< [length] of a scalar, in the scanned text
    size_t length;
    lw_place place;
} lwi_json_token;

typedef struct lwi_json_scan {
    const char *at, *end, *line; ///< next character; end of the text; start of the line
    int number;                  ///< of the line, from 1
    int depth;
    uint64_t maps; ///< bit i: the level at depth i is a map
    bool first, complete,
        value; ///< of a level: nothing yet; a value has ended; a key has been read
} lwi_json_scan;

/** @param text  [length] */
lwi_json_scan lwi_json_begin(const char *text, size_t length);
void lwi_json_next(lwi_json_scan *scan, lwi_json_token *token);

#endif
