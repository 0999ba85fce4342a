// paths.h -- where the files of meshes are.
#ifndef LWI_IO_MESH_PATHS_H
#define LWI_IO_MESH_PATHS_H

#include "base/base.h"

/** Where the files that a model names are searched. */
typedef struct lwi_mesh_places {
    const char *folder;   ///< of the model's file; NULL: no file is opened
    const char *packages; ///< folders with packages, or packages, separated by colons; NULL: none
} lwi_mesh_places;

/** Absolute path of the regular file with a name in a model; NULL: there is none, or no memory.
 *      a/b.stl, file://a/b.stl    from the folder of the model; or an absolute path
 *      package://NAME/b.stl,      in package NAME: one of `packages` or in one of them; in those of the variables
 *      model://NAME/b.stl         ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH of the
 *                                 environment; in a folder above the model's file */
const char *lwi_mesh_find(const lwi_mesh_places *places, const char *name, lwi_arena *arena);

/** Values by text. */
typedef struct lwi_mesh_table {
    lwi_arena *arena;
    const char **key; ///< [room] NULL: empty
    int *value;       ///< [room]
    int count, room;
} lwi_mesh_table;
/** The value of a text, 0 where it is new; NULL: no memory.  It is valid until the next call. */
int *lwi_mesh_table_at(lwi_mesh_table *table, const char *key);

#endif
