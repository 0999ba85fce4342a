// keys.h -- the keys of the native model file: one table per object, used by the reader, the writer
// and the schema.
#ifndef LWI_IO_YAML_KEYS_H
#define LWI_IO_YAML_KEYS_H

#include "model/forces/item.h"
#include "model/keys.h"

#include <linkwork/model.h>
#include <linkwork/simulate.h>

enum { LWI_FORMAT_VERSION = 1 }; ///< `linkwork: 1`

/** A function while it is read: lengths of the lists of a table, curve or map, and the places of formulas for
 *  errors. */
typedef struct lwi_yaml_function {
    lw_function_desc desc;
    int nt, ny, nrow, ncolumn;
    lw_place formula_place, formula2_place, rate_place[2];
} lwi_yaml_function;

extern const lwi_yaml_object lwi_yaml_file_object;     ///< no struct: sections
extern const lwi_yaml_object lwi_yaml_function_object; ///< lwi_yaml_function
/** A body while it is read: with a density, mass and inertia follow from its shapes. */
typedef struct lwi_yaml_body {
    lw_body_desc desc;
    double density; ///< [kg/m^3]
    bool has_density, has_mass, has_com, has_inertia, has_axes;
} lwi_yaml_body;

/** An entry of `include` while it is read. */
typedef struct lwi_yaml_include {
    const char *file, *subsystem, *prefix;
    lw_place file_place, subsystem_place, prefix_place;
    lw_pose pose;
    int mirror; ///< 0: none, then x, y, z
    const char *ground;
    lw_place ground_place;
} lwi_yaml_include;
extern const lwi_yaml_object lwi_yaml_include_object;   ///< lwi_yaml_include
extern const lwi_yaml_object lwi_yaml_parameter_object; ///< no struct: read by parameters.c
extern const lwi_yaml_key lwi_yaml_point_key;           ///< three lengths
extern const lwi_yaml_key lwi_yaml_size_key;            ///< of shapes
extern const lwi_yaml_object lwi_yaml_body_object;      ///< lwi_yaml_body
extern const lwi_yaml_object lwi_yaml_joint_object;     ///< lw_joint_desc
extern const lwi_yaml_object lwi_yaml_mount_object;     ///< lw_joint_desc
extern const lwi_yaml_object
    lwi_yaml_coordinate_object;                      ///< spring on a coordinate: lw_coordinate_desc
extern const lwi_yaml_object lwi_yaml_limits_object; ///< limits of a coordinate: lw_limits_desc
extern const lwi_yaml_object
    lwi_yaml_friction_object; ///< friction on a coordinate: lw_friction_desc
extern const lwi_yaml_object lwi_yaml_isotropic_object; ///< spring on `all`: lw_joint_desc
extern const lwi_yaml_object lwi_yaml_coupling_object;  ///< lw_coupling_desc
extern const lwi_yaml_object lwi_yaml_marker_object;    ///< lw_marker_desc
extern const lwi_yaml_object lwi_yaml_measure_object;   ///< lw_measure_desc
extern const lwi_yaml_object lwi_yaml_event_object;     ///< lw_event_desc
extern const lwi_yaml_object lwi_yaml_impulse_object;   ///< lw_impulse_desc
extern const lwi_yaml_object
    lwi_yaml_mechanism_object; ///< lw_mechanism_desc; its `type` is the key of the map
extern const lwi_yaml_object lwi_yaml_simulation_object; ///< lw_options

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
