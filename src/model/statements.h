// statements.h -- what a model file states otherwise than by numbers: parameters, points, values by expressions.
//
// The numbers of a description are the values; these are the strings from which they were computed, for writing the
// file again.  A text counts as long as its value is unchanged: a guard has a hash of it.
#ifndef LWI_MODEL_STATEMENTS_H
#define LWI_MODEL_STATEMENTS_H

#include "base/base.h"
#include "model/keys.h"

/** Lists of items; forces are at LWI_STATED_FORCES and following, in the order of lwi_force_items. */
enum {
    LWI_STATED_GRAVITY,
    LWI_STATED_FUNCTION,
    LWI_STATED_BODY,
    LWI_STATED_JOINT,
    LWI_STATED_COUPLING,
    LWI_STATED_MARKER,
    LWI_STATED_MEASURE,
    LWI_STATED_OPTION, ///< of a run: `name` is its key, the guard that of its text
    LWI_STATED_IMPULSE,
    LWI_STATED_EVENT,
    LWI_STATED_FORCES
};

typedef struct lwi_statement {
    int list, item;          ///< of an impulse -1: `name` is its name
    unsigned offset;         ///< of the field in the item's description
    const lwi_yaml_key *key; ///< of that field
    size_t text;             ///< where the value's text begins in lwi_statements.text
    size_t name;             ///< where the name of an impulse begins
    uint64_t guard;
} lwi_statement;

/** A parameter, or a point: the text is its value. */
typedef struct lwi_named_statement {
    const char *name, *text, *unit, *description; ///< NULL: none
    double unit_value;                            ///< of the unit in SI; 1 without one
    double value, minimum, maximum; ///< SI; the last two infinite where there is no bound
    const char *minimum_text, *maximum_text;
    bool unit_stated; ///< by the key `unit`, otherwise the text has it
} lwi_named_statement;

typedef struct lwi_statements {
    lwi_statement *entry; ///< [n]
    char *text;           ///< [length] all strings, each ended by a zero byte
    lwi_named_statement *parameter, *point;
    const char
        *files; ///< of a model of several files: their text as one file without `parameters` and
                ///< `simulation` of the main one; NULL: of one file
    int n, room, nparameter, npoint;
    size_t length, text_room;
} lwi_statements;

/** Appends an entry with a copy of its text and name (NULL: none).   @return LW_ERR_MEMORY */
lw_status lwi_statements_add(lwi_statements *statements, lwi_arena *arena, lwi_statement entry,
                             const char *text, const char *name);
/** Replaces parameters and points by copies in the arena.  @return false: no memory */
bool lwi_statements_own(lwi_statements *statements, lwi_arena *arena);
/** Replaces everything by copies in the arena.  @return false: no memory */
bool lwi_statements_copy(lwi_statements *statements, lwi_arena *arena);

#endif
