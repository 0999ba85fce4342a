// mesh.h -- the meshes of a model ready to draw: read from their files, with normals.
#ifndef LWI_VIEW_MESH_H
#define LWI_VIEW_MESH_H

#include "view/view.h"

/** A mesh about the middle of its box.  A vertex has one normal: where a surface has an edge, its vertices are
 *  repeated. */
typedef struct lwi_view_mesh {
    bool drawn;             ///< false: not used, not readable or too large
    float (*p)[3], (*n)[3]; ///< [np]
    int (*t)[3];            ///< [nt]
    int np, nt;
    double middle[3], half[3]; ///< box in the mesh's own axes
} lwi_view_mesh;

/** Reads the meshes that shapes show; list[i] is that of lw_mesh i, list[0] is empty.
 *  @param desc  its limit of bytes, and the function that is called with what is left out */
lw_status lwi_view_meshes(const lw_model *model, const lw_view_desc *desc, lwi_arena *arena,
                          lwi_view_mesh **list, lw_error *error);

/** Is a shape drawn? */
static inline bool lwi_view_shows(const lwi_view_mesh *meshes, const lw_shape *s)
{
    return s->type != LW_SHAPE_MESH || meshes[s->mesh.index].drawn;
}
/** Rotation and middle of a shape, in body axes from the mass centre; of a mesh that of its box. */
void lwi_view_place(const lw_body_desc *body, const lw_shape *shape, const lwi_view_mesh *meshes,
                    double *R, double *r);

#endif
