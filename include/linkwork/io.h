// io.h -- model files in, results out.
#ifndef LINKWORK_IO_H
#define LINKWORK_IO_H

#include <linkwork/model.h>
#include <linkwork/simulate.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lw_base { LW_BASE_AUTO, LW_BASE_FIXED, LW_BASE_FLOATING } lw_base;

#define LW_LIMITS_TIME 0.02 ///< of `--limits auto` [s]

typedef struct lw_read_desc {
    size_t size;        ///< sizeof this struct, or 0: see linkwork.h
    const char *format; ///< "yaml", "urdf", "sdf", "mjcf"; NULL: by the ending, see lw_format_info
    lw_base base; ///< URDF: the root link is fixed to the ground (auto, fixed) or floats; SDF:
                  ///< models without a joint to the world float (auto, floating) or are fixed;
                  ///< MJCF: free joints are (auto, floating) or are fixed
    const lw_allocator *allocator;
    /** Further files that the model names (includes of SDF and MJCF, the loop file of a URDF) are read from this folder
     *  and its subfolders.  NULL: lw_model_read uses the folder of the file, lw_model_parse reads none. */
    const char *folder;
    /** With stiffness > 0 the limits of joints that have none (in URDF, SDF and MJCF all) become stops of this
     *  stiffness and damping (lower and upper are the file's); else they are only reported. */
    lw_limits_desc limits;
    /** > 0: they become stops scaled by the mechanism, critically damped with this time constant T [s], for example
     *  LW_LIMITS_TIME: stiffness I / T^2, damping 2 I / T, I the articulated inertia of the coordinate at the start. */
    double limits_time;
    const char *cut; ///< joints that close loops, "j4,j7" (lw_builder_cut); NULL: as the file says
    bool open;       ///< open loops are accepted: lw_model_create_open
    const char *
        keyframe; ///< MJCF: the <key> of this name is the initial state; NULL: the poses of the bodies
    /** Overrides `inertia_check` of all bodies: "error", "warn", "accept", "repair"; NULL: as the file says, formats of
     *  robots warn. */
    const char *inertia_check;
    /** Folders with packages, or packages themselves, separated by colons: there package://NAME/FILE and
     *  model://NAME/FILE are searched; then in the environment's ROS_PACKAGE_PATH, GZ_SIM_RESOURCE_PATH,
     *  GAZEBO_MODEL_PATH and AMENT_PREFIX_PATH, then in the folders above the model's file.  NULL: none. */
    const char *package_path;
    /** A mesh that the mass of a body depends on and that cannot be read: "error" (also NULL), or "massless": it
     *  adds no mass, with a warning.  Meshes that are only drawn may be missing. */
    const char *missing_mesh;
    /** Native files: values of parameters, "NAME=VALUE"; a number without a unit is in the parameter's. */
    const char *const *set;
    int nset;
} lw_read_desc;

/** Reads a model file.  Errors carry file, line and column.
 *  @param desc     may be NULL
 *  @param options  in: values to start from; out: those of the file's `simulation:`; may be NULL */
LW_API lw_status lw_model_read(const char *path, const lw_read_desc *desc, lw_model **model,
                               lw_options *options, lw_error *error);
/** The same from memory; `name` stands for the path in messages, and `desc` with its `format` must be given. */
LW_API lw_status lw_model_parse(const char *text, size_t length, const char *name,
                                const lw_read_desc *desc, lw_model **model, lw_options *options,
                                lw_error *error);
/** Writes the native file in canonical order, 17 digits: read again, it is the same model bit for
 *  bit.  @param options written as `simulation:`; NULL: left out.  Custom joints cannot be written. */
LW_API lw_status lw_model_write(const lw_model *model, const lw_options *options, FILE *file,
                                lw_error *error);
/** Writes a tree in a format of robots, "urdf" or "mjcf": bodies, joints, limits, dampers, linear (MJCF:
 *  polynomial) couplings.  Loops, driven coordinates and joint types that the format does not have are
 *  refused by name; everything else that it cannot express is left out and reported.
 *  @param omitted  called with a line for everything that is left out; may be NULL
 *  @return LW_ERR_UNSUPPORTED, LW_ERR_IO */
LW_API lw_status lw_model_export(const lw_model *model, const char *format, FILE *file,
                                 void (*omitted)(void *user, const char *text), void *user,
                                 lw_error *error);
/** The format in which a file of this name is written: "yaml", "urdf", "mjcf"; NULL: none of a model. */
LW_API const char *lw_model_format_of(const char *path);
/** Writes a file in the format of its ending: .yaml (lw_model_write), .urdf, .mjcf or .xml (lw_model_export).  A
 *  model that the format cannot express leaves the file as it was.
 *  @param options, omitted, user  as of these functions; may be NULL
 *  @return LW_ERR_ARGUMENT for another ending, LW_ERR_UNSUPPORTED, LW_ERR_IO */
LW_API lw_status lw_model_save(const lw_model *model, const lw_options *options, const char *path,
                               void (*omitted)(void *user, const char *text), void *user,
                               lw_error *error);
/** JSON Schema of the native file. */
LW_API lw_status lw_schema_write(FILE *file);

/** Formats of files that are read or written. */
LW_API int lw_format_count(void);
LW_API lw_part_info lw_format_info(int index);
/** Libraries this one is built on, with their versions. */
LW_API int lw_library_count(void);
LW_API lw_part_info lw_library_info(int index);

typedef struct lw_csv lw_csv;
/** Starts a CSV file with the columns of `level`; columns that are not defined are left out. */
LW_API lw_status lw_csv_create(const lw_model *model, lw_observe level, const char *path,
                               lw_csv **csv, lw_error *error);
LW_API lw_status lw_csv_row(lw_csv *csv, const lw_observation *observation);
/** Flushes and closes; a full disk is reported here or by a row. */
LW_API lw_status lw_csv_close(lw_csv *csv);

#ifdef __cplusplus
}
#endif
#endif
