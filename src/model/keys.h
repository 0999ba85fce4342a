// keys.h -- the keys of a thing in native model files: one table per struct of the public interface, read by
// the reader, the writer and the schema (src/io/yaml).  Forces state theirs in their own files.
#ifndef LWI_MODEL_KEYS_H
#define LWI_MODEL_KEYS_H

#include <linkwork/model.h>

#include <stddef.h>

/** The kind of value of a key, and the C field at `offset` that stores it. */
typedef enum lwi_yaml_key_kind {
    LWI_KEY_VERSION, ///< the number 1; no field
    LWI_KEY_NUMBER,  ///< double
    LWI_KEY_NUMBERS, ///< double [count]
    LWI_KEY_LIST,    ///< one or more numbers: const double *, their number in the int `size`
    LWI_KEY_ROWS, ///< lists of as many numbers: const double *, their numbers in the ints `size` and `flag`
    LWI_KEY_START,      ///< double [nq of the joint's type], count 1: [nv]
    LWI_KEY_VECTOR,     ///< lw_vec3
    LWI_KEY_DIRECTION,  ///< lw_vec3, not zero
    LWI_KEY_QUATERNION, ///< lw_quat, not zero
    LWI_KEY_INTEGER,    ///< int: a whole number
    LWI_KEY_WORD,       ///< enum: which of `count` words in `more`
    LWI_KEY_SWITCH,     ///< bool: which of the two words in `more`
    LWI_KEY_BODY,       ///< lw_body by name
    LWI_KEY_FRAME,      ///< lw_body by name, or `world`; may refer to a later body
    LWI_KEY_PAIR,       ///< lw_body [2] by name
    LWI_KEY_JOINT,      ///< lw_joint by name
    LWI_KEY_COORDINATE, ///< int: "q0", "q1", ...
    LWI_KEY_SIGNAL,     ///< lw_signal: number, name or inline function; the number 0 is none
    LWI_KEY_FUNCTION,   ///< as a signal; the number 0 is a constant
    LWI_KEY_FORMULA,    ///< lw_signal: a formula, or as a function
    LWI_KEY_SET, ///< map of switches to formulas: const lw_event_setting *, their number in the int `size`
    LWI_KEY_SIGNALS, ///< lw_signal [count]
    LWI_KEY_TERMS,   ///< const lw_signal *, their number in the int `size`
    LWI_KEY_LENGTH,  ///< double > 0, or a function: lw_signal at `size`
    LWI_KEY_STRING,  ///< const char *; its place: lw_place at `size`
    LWI_KEY_SHAPES, ///< one {box: [x, y, z], position: ...} or a list: const lw_shape *, int at `size`
    LWI_KEY_OBJECT, ///< one object, `more`, inside the struct at `offset`
    LWI_KEY_OBJECTS, ///< one or more objects `more`: const struct *, of `count` bytes each, their number at `size`
    LWI_KEY_EACH,          ///< map of q0, q1, ... to what the key `more` says of lw_coordinate_desc
    LWI_KEY_OPTION,        ///< of lw_options, as text through lw_options_set and lw_options_get
    LWI_KEY_OPTION_MAP,    ///< the same of "KEY=VALUE,...", or of a map
    LWI_KEY_OPTION_NUMBER, ///< the same of a number
    LWI_KEY_OPTION_EITHER, ///< the same of a number, or of a word in place of it: `steps`
    LWI_KEY_NAMES,         ///< section: list of names
    LWI_KEY_POINTS,        ///< section: map of names to three numbers
    LWI_KEY_SETTINGS,      ///< map of names to numbers
    LWI_KEY_FILES,         ///< section: map of names to models
    LWI_KEY_ITEMS,         ///< section: map of names to the object `more`
    LWI_KEY_ITEM_LIST,     ///< section: list of the object `more`
    LWI_KEY_MECHANISMS,    ///< section: map of kinds to lwi_mechanism_object
    LWI_KEY_FORCES         ///< section: map of names to the keys of forces (model/forces/item.h)
} lwi_yaml_key_kind;

/** Alternative ways to place an item: keys of different forms exclude each other. */
typedef enum lwi_yaml_form {
    LWI_FORM_ANY,
    LWI_FORM_AT,
    LWI_FORM_FRAMES,
    LWI_FORM_POINTS,
    LWI_FORM_COUNT
} lwi_yaml_form;

/** Which values the numbers of a key may have. */
typedef enum lwi_yaml_range {
    LWI_RANGE_ANY,
    LWI_RANGE_NOT_NEGATIVE, ///< >= 0
    LWI_RANGE_POSITIVE,     ///< > 0
    LWI_RANGE_FROM_ONE,     ///< >= 1
    LWI_RANGE_NOT_ZERO
} lwi_yaml_range;

typedef struct lwi_yaml_key {
    const char *name;
    lwi_yaml_key_kind kind;
    size_t offset, size; ///< fields in the object's struct, see the kinds
    size_t flag;         ///< offset of a bool, set if the key is present; 0: none; see ROWS
    const void *more;    ///< const lwi_yaml_object *, const lwi_yaml_key * or words
    int count;
    unsigned types;    ///< bit t: belongs to type t of the object; 0: to all
    unsigned required; ///< bit t: required by type t
    lwi_yaml_form form;
    lwi_yaml_range range; ///< of LWI_KEY_NUMBER, LWI_KEY_NUMBERS and LWI_KEY_INTEGER
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

/** `required` of an object without types. */
#define LWI_KEY_REQUIRED 1u

extern const lwi_yaml_object lwi_yaml_pose_object; ///< lw_pose

#endif
