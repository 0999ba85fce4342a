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
#include "io/yaml/place.h"
#include "model/signals/formula.h"

/** A parameter while the file is read. */
typedef struct lwi_yaml_parameter {
    bool known, has_unit;
    const char *set;          ///< text that overrides the file's; NULL: none
    const char *assigned;     ///< expression of the file that includes this one; NULL: none
    lwi_formula_result given; ///< its value
    const char *text;         ///< of the value
    const char *unit_text, *description, *minimum_text, *maximum_text; ///< NULL: none
    lwi_unit unit;                                                     ///< of numbers without one
    double value, minimum, maximum;                                    ///< SI
    lwi_dimension dimension;
    bool cycles; ///< as in lwi_formula_result
} lwi_yaml_parameter;

typedef struct lwi_yaml_point {
    bool known, open;
    double r[3];
} lwi_yaml_point;

/** A value of the item that is read, to be kept as text. */
typedef struct lwi_yaml_kept {
    const lwi_yaml_key *key;
    unsigned offset;
    const lwi_document_value *value;
} lwi_yaml_kept;

/** A point by name in a key that is in the frame of a body. */
typedef struct lwi_yaml_placed {
    lw_vec3 *x;
    int side; ///< 1, 2: of the pair of bodies; 0: of the only one
} lwi_yaml_placed;
enum { LWI_YAML_PLACED = 64 }; ///< of one item

/** Functions of the file that a formula names. */
typedef struct lwi_yaml_wanted {
    int n, function[LWI_FORMULA_NAMES];
} lwi_yaml_wanted;

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
    char *function_open; ///< [functions->count] being read, in this order from 1; 0: not
    int function_depth;
    int self;            ///< 1 + the function that is read, where its formula may name it; else 0
    int nplain_function; ///< those of the section `functions`; the others are of `signals`
    struct lwi_yaml_wanted
        *wanted; ///< functions that the formula names that is read; NULL: none is
    int *body;   ///< [bodies->count] index in the model, 0: not added yet
    bool *
        moves; ///< [bodies->count] by index in the model from first_body: the pose follows from expressions
    int first_body;
    lwi_mesh_places places;
    lwi_mesh_table meshes; ///< by the name of their file
    // expressions
    const lwi_document_value *parameters, *points;
    lwi_yaml_parameter *parameter;    ///< [parameters->count]
    lwi_yaml_point *point;            ///< [points->count]
    int open[32], nopen, npoint_open; ///< parameters that are being evaluated
    const char *const *set;           ///< [nset] "NAME=VALUE"
    int nset;
    lwi_formula_scope scope; ///< find NULL: no expressions yet
    const lwi_yaml_key *key; ///< that is read, its help has its unit; NULL: none
    int alternative;         ///< which of two units: 0 of a displacement, 1 of an angle, -1 any
    const lwi_yaml_key *dimension_key; ///< of the dimensions below
    lwi_dimension dimension[2];
    int ndimension;
    bool stated;       ///< set where an expression or a point by name is read
    char measures[96]; ///< names of those in the formula that is read: "'load', 'gap'"
    const void *base;  ///< description of the item that is read
    lwi_yaml_kept *kept;
    int nkept, kept_room, kept_from; ///< those of the present item begin at kept_from
    lwi_yaml_placed placed[LWI_YAML_PLACED];
    int nplaced;
    bool in_world; ///< `position` of the body that is read is in the world
    // files that are included
    const lwi_document_value *root;
    const char *folder;              ///< of the file; NULL: none
    const char *subsystem;           ///< its name in the section of a file; NULL: it is a file
    struct lwi_yaml_reading *parent; ///< NULL: the main file
    struct lwi_yaml_reading *child,
        *next;              ///< the first file that is included; the next one of the parent
    const char *prefix;     ///< of all names; "": none
    const char *own_prefix; ///< without that of the parent
    lwi_yaml_place placement;
    lw_body ground;            ///< stands for the ground of the file
    const char *entry;         ///< its name in the section `include` of the parent
    lw_place place_of_include; ///< in the main file or parent
    const char *ground_name;   ///< body of the parent; NULL: the ground
    lw_place ground_place;
    int *joint;                         ///< [joints->count] index in the model
    const lwi_document_value *settings; ///< of parameters, in the parent; NULL: none
    int first_input, depth, *total;     ///< number of files, of all
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
/** Lists of as many numbers each, in the arena. */
lw_status lwi_yaml_read_rows(lwi_yaml_reading *r, const lwi_document_value *v, const double **list,
                             int *nrow, int *ncolumn);
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

// ---- parameters.c

/** Evaluates the sections `parameters` and `points`, and keeps them for writing. */
lw_status lwi_yaml_begin_parameters(lwi_yaml_reading *r);
/** Values that the including file gives. */
lw_status lwi_yaml_assign_parameters(lwi_yaml_reading *r);
/** Is the value a text that can only be a number as an expression? */
bool lwi_yaml_is_expression(const lwi_yaml_reading *r, const lwi_document_value *v);
lw_status lwi_yaml_expression(lwi_yaml_reading *r, const lwi_document_value *v, double *x);
/** A point by name.  @param found  out: the value is one */
lw_status lwi_yaml_read_point(lwi_yaml_reading *r, const lwi_document_value *v, lw_vec3 *x,
                              bool *found);
/** Notes a point by name that is to be in the frame of a body; refuses one that is no place. */
lw_status lwi_yaml_place_point(lwi_yaml_reading *r, const lwi_document_value *v, lw_vec3 *x);
/** Brings the points noted into the frames of the item's bodies.
 *  @param desc  of the item, complete */
void lwi_yaml_place_points(lwi_yaml_reading *r, const lwi_yaml_object *keys, const void *desc);
/** The same of those from number `first` on, in a part of an item that states bodies. */
void lwi_yaml_place_points_of_part(lwi_yaml_reading *r, int first, const lwi_yaml_object *keys,
                                   const void *part);
/** World place -> body frame. */
void lwi_yaml_into_body(const lw_pose *body, lw_vec3 *x);
/** Dimensions of the units in brackets of the key's help.  @return how many: 0 to 2 */
int lwi_yaml_key_dimensions(const lwi_yaml_key *key, lwi_dimension dimension[2]);
/** `find` of the scope of formulas: parameters, points, functions and inputs of the file; user: the reading.  Functions
 *  are noted in `wanted`. */
lw_status lwi_yaml_find_signal(void *user, const char *name, int length, lwi_formula_symbol *symbol,
                               lw_error *error);
/** lw_signal.index of a function or input of an included file by its full name; 0: there is none. */
int lwi_yaml_find_inner_signal(const lwi_yaml_reading *r, const char *name);
/** Passes an error of a formula on, with its place. */
lw_status lwi_yaml_formula_failed(lwi_yaml_reading *r, lw_status status, lw_place place,
                                  const lw_error *why);

// ---- flow.c

/** The value on one line, in the arena; NULL: no memory. */
const char *lwi_yaml_flow(lwi_yaml_reading *r, const lwi_document_value *v);
const char *lwi_yaml_joined(lwi_yaml_reading *r, const char *a, const char *b, const char *c);

// ---- statements.c

/** Keeps the text of a key's value until the item is added. */
lw_status lwi_yaml_keep(lwi_yaml_reading *r, const lwi_yaml_key *key, const void *field,
                        const lwi_document_value *v);
/** Keeps the source of an option of a run; `value` as the file has it. */
lw_status lwi_yaml_keep_option(lwi_yaml_reading *r, const char *key, const char *value,
                               const lwi_document_value *v);
/** Adds what was kept of an item to the model's statements (model/statements.h). */
lw_status lwi_yaml_commit(lwi_yaml_reading *r, int list, int index, const lwi_yaml_object *keys,
                          const char *name);

/** ", did you mean 'x'?" or "". */
const char *lwi_yaml_hint(char *text, size_t size, const char *name, const char *const *names,
                          int count);
/** Reads the values of a map into the struct of an object (read.c). */
lw_status lwi_yaml_read_object(lwi_yaml_reading *r, const lwi_yaml_object *object, int type,
                               const lwi_document_value *map, lw_place place, void *target);
/** Checks that all keys of the map belong to type t of the object, and that no required one is missing.
 *  @param place  of the item */
lw_status lwi_yaml_check_keys(lwi_yaml_reading *r, const lwi_yaml_object *object, int type,
                              const lwi_document_value *map, lw_place place);

#endif
