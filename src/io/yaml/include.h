// include.h -- native files in native files: prefixes of names, places, parameters.
#ifndef LWI_IO_YAML_INCLUDE_H
#define LWI_IO_YAML_INCLUDE_H

#include "io/yaml/place.h"
#include "io/yaml/values.h"

/** Opens the files of the section `include`, and theirs; all are in r->child then, with their parameters known.
 *  @param read_header  checks a file and finds its sections */
lw_status lwi_yaml_open_includes(lwi_yaml_reading *r, const lwi_document_value *section,
                                 lw_status (*open)(lwi_yaml_reading *r,
                                                   const lwi_document_value *root));
void lwi_yaml_close_includes(lwi_yaml_reading *r);
/** An entry of the section `subsystems` of this file or of one that includes it; NULL: there is none.
 *  @param r  in: the file that names it; out: the file that has it */
const lwi_document_value *lwi_yaml_find_subsystem(const lwi_yaml_reading **r, const char *name);
/** Keeps the main file and all that it includes as one string, with which the model is written again (subsystems.c). */
lw_status lwi_yaml_keep_files(lwi_yaml_reading *r);

/** The name with the prefix of its file; NULL: no memory. */
const char *lwi_yaml_full_name(lwi_yaml_reading *r, const char *name);
/** A body or a joint by its name in this file, or with a prefix in those that it includes.
 *  @return index in the model, -1: there is none; 0: a body of a file that is not read yet */
int lwi_yaml_find_body(const lwi_yaml_reading *r, const char *name);
int lwi_yaml_find_joint(const lwi_yaml_reading *r, const char *name);
/** The entry of a joint in this file or in those that it includes; NULL: there is none.
 *  @param r  in: the file that names it; out: the file that has it */
const lwi_document_value *lwi_yaml_find_joint_entry(const lwi_yaml_reading **r, const char *name);

// ---- include_items.c: items at their place

lw_status lwi_yaml_place_joint(lwi_yaml_reading *r, lw_joint_desc *desc);
lw_status lwi_yaml_place_coupling(lwi_yaml_reading *r, lw_coupling_desc *desc);
/** @param item  LWI_ITEM_... */
lw_status lwi_yaml_place_force(lwi_yaml_reading *r, int item, void *desc);
void lwi_yaml_place_marker(const lwi_yaml_reading *r, lw_marker_desc *desc);
void lwi_yaml_place_impulse(const lwi_yaml_reading *r, lw_impulse_desc *desc);
lw_status lwi_yaml_place_shapes(lwi_yaml_reading *r, lw_body_desc *desc);
/** The formula of a measure with the values of parameters and, in an included file, the prefix in the names of columns
 *  and the signs of a mirror (include_columns.c). */
lw_status lwi_yaml_place_columns(lwi_yaml_reading *r, const char **formula);
/** Formulas of measures, in brackets, in place of their names; names of signals, inputs and parameters come first. */
lw_status lwi_yaml_expand_measures(lwi_yaml_reading *r, const char **formula);
/** For lwi_formula_scope.negated; user: the reading. */
bool lwi_yaml_is_negated(void *user, const char *joint, int coordinate, bool speed);

#endif
