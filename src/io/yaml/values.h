// values.h -- typed values of the document: numbers, vectors, words, names of items.
//
// Errors name the place (file, line, column), the item, the key, what was expected and what was
// found: "m.yaml:9:13: joint 'elbow': spring.q0.stiffness: expected a number, found 'soft'".
#ifndef LWI_IO_YAML_VALUES_H
#define LWI_IO_YAML_VALUES_H

#include "io/document.h"
#include "io/names.h"
#include "io/yaml/keys.h"

/** State of reading one file. */
typedef struct lwi_reading {
    const char *file;
    lwi_arena arena;
    lw_builder *builder;
    lw_options *options;
    lw_error *error;
    char item[192]; ///< "joint 'elbow'"
    char path[256]; ///< keys from the item inward: "spring.q0"
    // sections that names refer to; NULL: not in the file
    const lwi_document_value *functions, *bodies, *joints;
    const char **input; ///< [ninput]
    int *input_order;
    int ninput;
    lw_signal *function; ///< [functions->count] 0: not read yet
    char *function_open; ///< [functions->count] 1: being read
    int function_depth;
    int *body; ///< [bodies->count] index in the model, 0: not added yet
} lwi_reading;

lw_status lwi_read_fail(lwi_reading *r, lw_status status, lw_place place, const char *format, ...)
    LW_PRINTF(4, 5);
/** Fails with "expected ..., found ...". */
lw_status lwi_read_expected(lwi_reading *r, const lwi_document_value *found, const char *expected);
lw_status lwi_read_memory(lwi_reading *r);

/** Sets the item for errors; "": none. */
void lwi_read_item(lwi_reading *r, const char *kind, const char *name);
/** Appends a key to the path.  @return the previous length, for lwi_read_leave */
size_t lwi_read_enter(lwi_reading *r, const char *key);
void lwi_read_leave(lwi_reading *r, size_t length);

lw_status lwi_read_number(lwi_reading *r, const lwi_document_value *v, double *x);
/** An integer within the range of int. */
lw_status lwi_read_integer(lwi_reading *r, const lwi_document_value *v, int *x);
lw_status lwi_read_numbers(lwi_reading *r, const lwi_document_value *v, int count, double *x);
/** One or more numbers, in the arena. */
lw_status lwi_read_list(lwi_reading *r, const lwi_document_value *v, const double **list,
                        int *count);
lw_status lwi_read_vector(lwi_reading *r, const lwi_document_value *v, lw_vec3 *x);
lw_status lwi_read_direction(lwi_reading *r, const lwi_document_value *v, lw_vec3 *x);
lw_status lwi_read_quaternion(lwi_reading *r, const lwi_document_value *v, lw_quat *x);
lw_status lwi_read_text(lwi_reading *r, const lwi_document_value *v, const char *expected,
                        const char **text);
lw_status lwi_read_word(lwi_reading *r, const lwi_document_value *v, const char *const *words,
                        int count, int *word);
lw_status lwi_read_coordinate(lwi_reading *r, const lwi_document_value *v, int *coordinate);
lw_status lwi_read_shapes(lwi_reading *r, const lwi_document_value *v, const lw_shape **shapes,
                          int *count);
/** Number k of "qk", or -1. */
int lwi_coordinate_of(const char *text);

/** Index in the model of a body by name; all bodies must have been added. */
lw_status lwi_read_body(lwi_reading *r, const lwi_document_value *v, int32_t *index);
lw_status lwi_read_pair(lwi_reading *r, const lwi_document_value *v, lw_body pair[2]);
lw_status lwi_read_joint(lwi_reading *r, const lwi_document_value *v, int32_t *index);
/** Index in the section `map` (may be NULL); an error has the nearest name. */
lw_status lwi_read_reference(lwi_reading *r, const lwi_document_value *v, const char *kind,
                             const lwi_document_value *map, int *index);

/** ", did you mean 'x'?" or "". */
const char *lwi_hint(char *text, size_t size, const char *name, const char *const *names,
                     int count);
/** Checks that all keys of the map belong to type t of the object, and that no required one is missing.
 *  @param place  of the item */
lw_status lwi_read_keys(lwi_reading *r, const lwi_yaml_object *object, int type,
                        const lwi_document_value *map, lw_place place);

#endif
