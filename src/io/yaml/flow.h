// flow.h -- values of a document as text that reads back to the same document.
#ifndef LWI_IO_YAML_FLOW_H
#define LWI_IO_YAML_FLOW_H

#include "io/yaml/values.h"

/** A text that is measured first and then written: lwi_yaml_text_room between two equal series of calls. */
typedef struct lwi_yaml_text {
    char *text;          ///< NULL: it is measured
    size_t length, room; ///< characters so far, and those that there is room for
    const lwi_mesh_places
        *places; ///< files of meshes are written by their absolute paths; NULL: as they are stated
    lwi_arena *arena; ///< for these paths
} lwi_yaml_text;
/** Makes room for what was measured.  @return false: no memory */
bool lwi_yaml_text_room(lwi_yaml_text *t, lwi_arena *arena);

void lwi_yaml_put(lwi_yaml_text *t, const char *text);
/** A string, in quotes where it needs them. */
void lwi_yaml_put_name(lwi_yaml_text *t, const char *name);
/** A value on one line. */
void lwi_yaml_put_flow(lwi_yaml_text *t, const lwi_document_value *v);
/** "key: value" on separate lines, maps with a line for each entry as long as they are items or long. */
void lwi_yaml_put_entry(lwi_yaml_text *t, int indent, const char *key, const lwi_document_value *v);

#endif
