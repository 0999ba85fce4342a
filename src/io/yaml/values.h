// values.h -- typed values of the document: numbers, vectors, words, names of items.
//
// Errors name the place (file, line, column), the item, the key, what was expected and what was
// found: "m.yaml:9:13: joint 'elbow': spring.q0.stiffness: expected a number, found 'soft'".
#ifndef LWI_IO_YAML_VALUES_H
#define LWI_IO_YAML_VALUES_H

#include "io/document.h"
#include "io/mesh/paths.h"
#include "io/names.h"
#include "io/yaml/keys.h"

/** State of reading one file. */
typedef struct lwi_yaml_reading {
    const char *file;
    lwi_arena arena;
    lw_builder *builder;
    lw_options *options;
    lw_error *error;
    char item[192]; ///< "joint 'elbow'"
    char path[256]; ///< keys from the item inward: "spring.q0"
    // sections that names refer to; NULL: not in the file
    const lwi_document_value *functions, *bodies, *joints;
    lwi_names inputs;
    lw_signal *function; ///< [functions->count] 0: not read yet
    char *function_open; ///< [functions->count] 1: being read
    int function_depth;
    int *body; ///< [bodies->count] index in the model, 0: not added yet
    lwi_mesh_places places;
    lwi_mesh_table meshes; ///< by the name of their file
} lwi_yaml_reading;

lw_status lwi_yaml_fail(lwi_yaml_reading *r, lw_status status, lw_place place, const char *format,
                        ...) LW_PRINTF(4, 5);
/** Fails with "expected ..., found ...". */
lw_status lwi_yaml_expected(lwi_yaml_reading *r, const lwi_document_value *found,
                            const char *expected);
lw_status lwi_yaml_no_memory(lwi_yaml_reading *r);

/** Sets the item for errors; "": none. */
void lwi_yaml_set_item(lwi_yaml_reading *r, const char *kind, const char *name);
/** Appends a key to the path.  @return the previous length, for lwi_yaml_leave */
size_t lwi_yaml_enter(lwi_yaml_reading *r, const char *key);
void lwi_yaml_leave(lwi_yaml_reading *r, size_t length);

lw_status lwi_yaml_read_number(lwi_yaml_reading *r, const lwi_document_value *v, double *x);
/** An integer within the range of int. */
lw_status lwi_yaml_read_integer(lwi_yaml_reading *r, const lwi_document_value *v, int *x);
/** Is one of the key's numbers in its range?  The message names the key. */
lw_status lwi_yaml_check_range(lwi_yaml_reading *r, const lwi_yaml_key *key,
                               const lwi_document_value *v, double x);
lw_status lwi_yaml_read_numbers(lwi_yaml_reading *r, const lwi_document_value *v, int count,
                                double *x);
/** One or more numbers, in the arena. */
lw_status lwi_yaml_read_list(lwi_yaml_reading *r, const lwi_document_value *v, const double **list,
                             int *count);
lw_status lwi_yaml_read_vector(lwi_yaml_reading *r, const lwi_document_value *v, lw_vec3 *x);
lw_status lwi_yaml_read_direction(lwi_yaml_reading *r, const lwi_document_value *v, lw_vec3 *x);
lw_status lwi_yaml_read_quaternion(lwi_yaml_reading *r, const lwi_document_value *v, lw_quat *x);
lw_status lwi_yaml_read_text(lwi_yaml_reading *r, const lwi_document_value *v, const char *expected,
                             const char **text);
lw_status lwi_yaml_read_word(lwi_yaml_reading *r, const lwi_document_value *v,
                             const char *const *words, int count, int *word);
lw_status lwi_yaml_read_coordinate(lwi_yaml_reading *r, const lwi_document_value *v,
                                   int *coordinate);
/** Adds a mesh, a file only once. */
lw_status lwi_yaml_read_mesh(lwi_yaml_reading *r, const lwi_document_value *v, lw_mesh *mesh);
lw_status lwi_yaml_read_shapes(lwi_yaml_reading *r, const lwi_document_value *v,
                               const lw_shape **shapes, int *count);
/** Number k of "qk", or -1. */
int lwi_yaml_coordinate_number(const char *text);

/** Index in the model of a body by name; all bodies must have been added. */
lw_status lwi_yaml_read_body(lwi_yaml_reading *r, const lwi_document_value *v, int32_t *index);
lw_status lwi_yaml_read_pair(lwi_yaml_reading *r, const lwi_document_value *v, lw_body pair[2]);
lw_status lwi_yaml_read_joint(lwi_yaml_reading *r, const lwi_document_value *v, int32_t *index);
/** Index in the section `map` (may be NULL); an error has the nearest name. */
lw_status lwi_yaml_read_reference(lwi_yaml_reading *r, const lwi_document_value *v,
                                  const char *kind, const lwi_document_value *map, int *index);

/** ", did you mean 'x'?" or "". */
const char *lwi_yaml_hint(char *text, size_t size, const char *name, const char *const *names,
                          int count);
/** Checks that all keys of the map belong to type t of the object, and that no required one is missing.
 *  @param place  of the item */
lw_status lwi_yaml_check_keys(lwi_yaml_reading *r, const lwi_yaml_object *object, int type,
                              const lwi_document_value *map, lw_place place);

#endif
