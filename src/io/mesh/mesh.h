// mesh.h -- triangle meshes: reading of STL, OBJ, MSH and COLLADA files, convex hulls, volume, mass centre and inertia.
// Independent of the model; input is untrusted.
#ifndef LWI_IO_MESH_MESH_H
#define LWI_IO_MESH_MESH_H

#include "base/base.h"

enum {
    LWI_MESH_MAX_TRIANGLES = 20 * 1000 * 1000,
    LWI_MESH_MAX_VERTICES = 20 * 1000 * 1000,
    LWI_MESH_MAX_CORNERS = 1000, ///< of a polygon
    LWI_MESH_MAX_TESTS =
        100 * 1000 * 1000 ///< of corners against triangles, in the concave polygons of a file
};

typedef struct lwi_mesh {
    float (*vertex)[3]; ///< [nvertex] finite
    int (*triangle)[3]; ///< [ntriangle] vertices, counter-clockwise seen from outside
    int nvertex, ntriangle;
} lwi_mesh;

// ------------------------------------------------------------------------------------------- files

/** The formats: word, endings of files. */
#define LWI_MESH_FORMAT_LIST(X) X(stl, ".stl") X(obj, ".obj") X(msh, ".msh") X(dae, ".dae")
#define X(format, ending)                                                                          \
    lw_status lwi_mesh_read_##format(const char *bytes, size_t length, const char *name,           \
                                     lwi_arena *arena, lwi_mesh *mesh, lw_error *error);
LWI_MESH_FORMAT_LIST(X)
#undef X

/** Reads a mesh from memory.  The caller has called lwi_numbers_begin.
 *  @param name   of the file: its ending is that of the format; errors carry it, with the line of a text
 *  @param arena  of the vertices and triangles
 *  @return LW_ERR_PARSE, LW_ERR_UNSUPPORTED (the ending is not one of the formats), LW_ERR_MEMORY */
lw_status lwi_mesh_parse(const char *bytes, size_t length, const char *name, lwi_arena *arena,
                         lwi_mesh *mesh, lw_error *error);
/** Reads a file.  @return also LW_ERR_IO */
lw_status lwi_mesh_read(const char *path, lwi_arena *arena, lwi_mesh *mesh, lw_error *error);
/** Is the ending of the file one of those that are read? */
bool lwi_mesh_is_known(const char *name);
/** Checks what is common to all sources: counts, finite vertices, indices of triangles in range. */
lw_status lwi_mesh_check(const lwi_mesh *mesh, const char *name, lw_error *error);
/** Of a mesh that has as vertices the corners of its triangles, three by three: numbers the triangles' corners, and joins
 *  those with equal coordinates. */
lw_status lwi_mesh_join(lwi_mesh *mesh, const lw_allocator *allocator, lw_error *error);
/** Appends the n - 2 triangles of a polygon; there is room.  `tests` counts the tests of concave polygons, about n^2 each.
 *  @return false: more than LWI_MESH_MAX_TESTS */
bool lwi_mesh_polygon(lwi_mesh *mesh, const int *corner, int n, double *tests);
#define LWI_MESH_TOO_CONCAVE "the concave polygons have too many corners, write them as triangles"
/** Memory for a mesh of a file that states these numbers.  @return LW_ERR_PARSE: too many; LW_ERR_MEMORY */
lw_status lwi_mesh_push(lwi_mesh *mesh, double nvertex, double ntriangle, const char *name,
                        lwi_arena *arena, lw_error *error);

// -------------------------------------------------------------------------------------- convex hull

/** Triangles of the convex hull of the vertices; their corners are vertices of the mesh.
 *  @return LW_ERR_MODEL: fewer than four vertices, or all in one plane; LW_ERR_MEMORY */
lw_status lwi_mesh_hull(const lwi_mesh *mesh, lwi_arena *arena, int (**triangle)[3], int *ntriangle,
                        lw_error *error);

// ---------------------------------------------------------------------------------------- inertia

/** What a mesh is filled with, as MuJoCo's `inertia` says: `convex` its convex hull; `exact` the volume inside its
 *  surface, of which the triangles agree on inside and outside; `legacy` the pyramids from the centre of its surface to
 *  all triangles, each with positive volume; `shell` the surface alone. */
#define LWI_MESH_FILL_LIST(X)                                                                      \
    X(CONVEX, "convex") X(EXACT, "exact") X(LEGACY, "legacy") X(SHELL, "shell")
#define X(name, text) LWI_MESH_##name,
typedef enum lwi_mesh_fill { LWI_MESH_FILL_LIST(X) LWI_MESH_FILLS } lwi_mesh_fill;
#undef X

/** x -> scale (R' (x - position)), component by component: the order of MuJoCo's scale, refquat and refpos. */
typedef struct lwi_mesh_map {
    double scale[3], position[3], R[9];
} lwi_mesh_map;

/** A body of unit density, of a shell unit density per area. */
typedef struct lwi_mesh_solid {
    double volume;     ///< of a shell its area
    double com[3];     ///< mass centre
    double inertia[6]; ///< xx yy zz xy xz yz about the mass centre
} lwi_mesh_solid;

/** Is the surface closed?  Vertices with coordinates that differ by a millionth of the largest are one.
 *  @return LW_ERR_MODEL with an edge that one triangle has and no other in the opposite direction; LW_ERR_MEMORY */
lw_status lwi_mesh_check_closed(const lwi_mesh *mesh, const lw_allocator *allocator,
                                lw_error *error);

/** Volume, mass centre and inertia of a mesh after a map.  A mesh without triangles is its convex hull.
 *  @return LW_ERR_MODEL with the reason: volume too small or negative, triangles of different orientation */
lw_status lwi_mesh_solid_of(const lwi_mesh *mesh, lwi_mesh_fill fill, const lwi_mesh_map *map,
                            const lw_allocator *allocator, lwi_mesh_solid *solid, lw_error *error);
/** Axes of principal inertia, the largest first: the columns of the rotation R. */
void lwi_mesh_principal(const double *inertia, double value[3], double R[9]);
/** Extent of the vertices after a map, in axes R (columns) from `origin`. */
void lwi_mesh_extent(const lwi_mesh *mesh, const lwi_mesh_map *map, const double *origin,
                     const double *R, double low[3], double high[3]);

#endif
