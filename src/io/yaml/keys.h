// keys.h -- the keys of the native model file: one table per object, used by the reader, the writer
// and the schema.
#ifndef LWI_IO_YAML_KEYS_H
#define LWI_IO_YAML_KEYS_H

#include <linkwork/model.h>
#include <linkwork/simulate.h>

enum { LWI_FORMAT_VERSION = 1 }; ///< `linkwork: 1`

/** The kind of value of a key, and the C field at `offset` that stores it. */
typedef enum lwi_yaml_key_kind {
    LWI_KEY_VERSION,    ///< the number 1; no field
    LWI_KEY_NUMBER,     ///< double
    LWI_KEY_NUMBERS,    ///< double [count]
    LWI_KEY_LIST,       ///< one or more numbers: const double *, their number in the int `size`
    LWI_KEY_START,      ///< double [nq of the joint's type], count 1: [nv]
    LWI_KEY_VECTOR,     ///< lw_vec3
    LWI_KEY_DIRECTION,  ///< lw_vec3, not zero
    LWI_KEY_QUATERNION, ///< lw_quat, not zero
    LWI_KEY_INTEGER,    ///< int: a whole number >= 0
    LWI_KEY_WORD,       ///< enum: which of `count` words in `more`
    LWI_KEY_SWITCH,     ///< bool: which of the two words in `more`
    LWI_KEY_BODY,       ///< lw_body by name
    LWI_KEY_FRAME,      ///< lw_body by name, or `world`; may refer to a later body
    LWI_KEY_PAIR,       ///< lw_body [2] by name
    LWI_KEY_JOINT,      ///< lw_joint by name
    LWI_KEY_COORDINATE, ///< int: "q0", "q1", ...
    LWI_KEY_SIGNAL,     ///< lw_signal: number, name or inline function; the number 0 is none
    LWI_KEY_FUNCTION,   ///< as a signal; the number 0 is a constant
    LWI_KEY_SIGNALS,    ///< lw_signal [count]
    LWI_KEY_TERMS,      ///< const lw_signal *, their number in the int `size`
    LWI_KEY_LENGTH,     ///< double > 0, or a function: lw_signal at `size`
    LWI_KEY_STRING,     ///< const char *; its place: lw_place at `size`
    LWI_KEY_SHAPES, ///< one {box: [x, y, z], position: ...} or a list: const lw_shape *, int at `size`
    LWI_KEY_OBJECT,        ///< one object, `more`, inside the struct at `offset`
    LWI_KEY_EACH,          ///< map of q0, q1, ... to what the key `more` says of lw_coordinate_desc
    LWI_KEY_OPTION,        ///< of lw_options, as text through lw_options_set and lw_options_get
    LWI_KEY_OPTION_MAP,    ///< the same of "KEY=VALUE,...", or of a map
    LWI_KEY_OPTION_NUMBER, ///< the same of a number
    LWI_KEY_NAMES,         ///< section: list of names
    LWI_KEY_ITEMS,         ///< section: map of names to the object `more`
    LWI_KEY_ITEM_LIST,     ///< section: list of the object `more`
    LWI_KEY_MECHANISMS,    ///< section: map of kinds to lwi_yaml_mechanism_object
    LWI_KEY_FORCES         ///< section: map of names to the objects of lwi_yaml_force_objects
} lwi_yaml_key_kind;

/** Alternative ways to place an item: keys of different forms exclude each other. */
typedef enum lwi_yaml_form {
    LWI_FORM_ANY,
    LWI_FORM_AT,
    LWI_FORM_FRAMES,
    LWI_FORM_POINTS,
    LWI_FORM_COUNT
} lwi_yaml_form;

typedef struct lwi_yaml_key {
    const char *name;
    lwi_yaml_key_kind kind;
    size_t offset, size; ///< fields in the object's struct, see the kinds
    size_t flag;         ///< offset of a bool, set if the key is present; 0: none
    const void *more;    ///< const lwi_yaml_object *, const lwi_yaml_key * or words
    int count;
    unsigned types;    ///< bit t: belongs to type t of the object; 0: to all
    unsigned required; ///< bit t: required by type t
    lwi_yaml_form form;
    const char *help;
} lwi_yaml_key;

typedef struct lwi_yaml_object {
    const char *title; ///< "joint"
    const char *help;
    const char *const *type; ///< words of the key `type`, in the order of the enum; NULL: none,
                             ///< a NULL among them: a type that files do not have
    int ntype;
    const lwi_yaml_key *key;
    int nkey;
    const char *const *later_type; ///< reserved types, not supported yet; ends with NULL
} lwi_yaml_object;

/** A function while it is read: lengths of the two lists of a table, and the place of the formula for
 *  errors. */
typedef struct lwi_yaml_function {
    lw_function_desc desc;
    int nt, ny;
    lw_place formula_place;
} lwi_yaml_function;

extern const lwi_yaml_object lwi_yaml_file_object;     ///< no struct: sections
extern const lwi_yaml_object lwi_yaml_function_object; ///< lwi_yaml_function
extern const lwi_yaml_object lwi_yaml_body_object;     ///< lw_body_desc
extern const lwi_yaml_object lwi_yaml_joint_object;    ///< lw_joint_desc
extern const lwi_yaml_object lwi_yaml_pose_object;     ///< lw_pose
extern const lwi_yaml_object lwi_yaml_mount_object;    ///< lw_joint_desc
extern const lwi_yaml_object
    lwi_yaml_coordinate_object;                      ///< spring on a coordinate: lw_coordinate_desc
extern const lwi_yaml_object lwi_yaml_limits_object; ///< limits of a coordinate: lw_limits_desc
extern const lwi_yaml_object
    lwi_yaml_friction_object; ///< friction on a coordinate: lw_friction_desc
extern const lwi_yaml_object lwi_yaml_isotropic_object; ///< spring on `all`: lw_joint_desc
extern const lwi_yaml_object lwi_yaml_coupling_object;  ///< lw_coupling_desc
extern const lwi_yaml_object lwi_yaml_spring_object;    ///< lw_spring_desc
extern const lwi_yaml_object lwi_yaml_wrench_object;    ///< lw_wrench_desc
extern const lwi_yaml_object lwi_yaml_bushing_object;   ///< lw_bushing_desc
extern const lwi_yaml_object lwi_yaml_stop_object;      ///< lw_stop_desc
extern const lwi_yaml_object lwi_yaml_marker_object;    ///< lw_marker_desc
extern const lwi_yaml_object
    lwi_yaml_mechanism_object; ///< lw_mechanism_desc; its `type` is the key of the map
extern const lwi_yaml_object lwi_yaml_simulation_object; ///< lw_options
enum { LWI_FORCE_OBJECTS = 4 };
extern const lwi_yaml_object
    *const lwi_yaml_force_objects[LWI_FORCE_OBJECTS]; ///< their `type` is their title

/** The two required keys (or twice the same) of each form. */
extern const char *const lwi_yaml_form_keys[LWI_FORM_COUNT][2];

/** Kinds of mechanisms, in the order of the enum. */
extern const char *const lwi_yaml_mechanism_names[LW_MECHANISM_COUNT];

/** Names of the shapes, numbers of their sizes. */
extern const char *const lwi_yaml_shape_names[LW_SHAPE_COUNT];
extern const int lwi_yaml_shape_sizes[LW_SHAPE_COUNT];

/** The row of a key by name, or NULL. */
const lwi_yaml_key *lwi_yaml_key_find(const lwi_yaml_object *object, const char *name);
/** Does the key belong to type t of its object? */
int lwi_yaml_key_belongs(const lwi_yaml_key *key, int type);
/** Coordinates and speeds of a joint type. */
int lwi_yaml_joint_nq(lw_joint_type type);
int lwi_yaml_joint_nv(lw_joint_type type);

#endif
