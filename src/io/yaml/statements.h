// statements.h -- source strings of values that a file states by expressions: kept by the reader, found by the writer.
#ifndef LWI_IO_YAML_STATEMENTS_H
#define LWI_IO_YAML_STATEMENTS_H

#include "io/yaml/keys.h"
#include "model/model.h"

/** An item that is read or written. */
typedef struct lwi_yaml_item {
    int list, index;             ///< LWI_STATED_..., in its list; -1: none
    const lwi_yaml_object *keys; ///< of the item itself
    const char *name;            ///< of an impulse
} lwi_yaml_item;

/** Hash of the value of a key and, where it is a place or a direction, of the poses that it depends on. */
uint64_t lwi_yaml_guard(const lwi_description *desc, const lwi_yaml_item *item, unsigned offset,
                        const lwi_yaml_key *key);

/** What the file states of an option of a run by an expression; NULL: nothing, or its value has changed. */
const char *lwi_yaml_stated_option(const lwi_description *desc, const char *key, const char *value);

/** Index of statements by item and field. */
typedef struct lwi_yaml_statements {
    const lwi_description *desc;
    const lwi_statement **sorted; ///< [desc->stated.n]
} lwi_yaml_statements;
/** @return LW_ERR_MEMORY */
lw_status lwi_yaml_statements_sort(const lwi_description *desc, lwi_arena *arena,
                                   lwi_yaml_statements *index);
/** The statement of the field; NULL: there is none, or its value has changed. */
const lwi_statement *lwi_yaml_statement(const lwi_yaml_statements *index, const lwi_yaml_item *item,
                                        unsigned offset);

#endif
