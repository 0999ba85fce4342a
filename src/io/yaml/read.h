// read.h -- objects by tables of keys, for the items of a file.
#ifndef LWI_IO_YAML_READ_H
#define LWI_IO_YAML_READ_H

#include "io/yaml/include.h"

/** What was read before an item inside another one: a function in the key of a force. */
typedef struct lwi_yaml_outer {
    const void *base;
    const lwi_yaml_key *key;
    int kept_from, alternative;
    bool stated;
} lwi_yaml_outer;

/** Begins an item with a description; ended by lwi_yaml_end_item. */
lwi_yaml_outer lwi_yaml_begin_item(lwi_yaml_reading *r, const void *desc);
/** Adds the source strings of expressions to the item, which is number `index` of its list. */
lw_status lwi_yaml_end_item(lwi_yaml_reading *r, const lwi_yaml_outer *outer, int list, int index,
                            const lwi_yaml_object *keys, const char *name);
/** Adds the place of the item to errors of the builder without a place. */
lw_status lwi_yaml_added(lwi_yaml_reading *r, lw_status status, lw_place place);
/** The place for descriptions; none in included files: messages of the model name the main file. */
lw_place lwi_yaml_item_place(const lwi_yaml_reading *r, lw_place place);

/** Type of an object by its key `type`; 0 for objects without types. */
lw_status lwi_yaml_read_type(lwi_yaml_reading *r, const lwi_yaml_object *object,
                             const lwi_document_value *map, lw_place place, int *type);
/** Function k of the section, possibly for another function that refers to it. */
lw_status lwi_yaml_named_function(lwi_yaml_reading *r, int k, lw_place asked, lw_signal *signal);

// ---- items.c

/** The section of the file, NULL if there is none. */
lw_status lwi_yaml_section(lwi_yaml_reading *r, const lwi_document_value *root, const char *name,
                           lwi_document_kind kind, const lwi_document_value **v);
lw_status lwi_yaml_read_inputs(lwi_yaml_reading *r);
lw_status lwi_yaml_read_functions(lwi_yaml_reading *r);
lw_status lwi_yaml_read_bodies(lwi_yaml_reading *r);
lw_status lwi_yaml_read_joints(lwi_yaml_reading *r);
/** Couplings, forces, markers, impulses, generated mechanisms. */
lw_status lwi_yaml_read_others(lwi_yaml_reading *r);
lw_status lwi_yaml_read_measures(lwi_yaml_reading *r);
lw_status lwi_yaml_read_events(lwi_yaml_reading *r);

#endif
