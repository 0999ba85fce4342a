// density.c -- mass, mass centre and inertia of a body from its shapes and a density.
//
// Each shape counts in full, also where shapes overlap.  About the origin of the body frame
//
//   m = sum rho V_i,   m c = sum rho V_i r_i,   J = sum rho (R_i I_i R_i' + V_i (r_i' r_i 1 - r_i r_i'))
//
// and then J about c.  A `mass` in addition to the density scales m and J.
#include "io/yaml/density.h"

#include "io/mesh/mesh.h"
#include "io/solids.h"
#include "model/model.h"
#include "spatial/rotation.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

typedef struct sums {
    double mass, first[3], inertia[6];
} sums;

// Volume, mass centre and inertia of unit density of a mesh, in the axes of the shape.
static lw_status solid_of_mesh(lwi_yaml_reading *r, const lw_shape *shape, lw_place place,
                               lwi_mesh_solid *solid)
{
    const lw_mesh_desc *d = &r->builder->desc.mesh[shape->mesh.index - 1];
    lwi_mesh_map map = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    lwi_arena arena;
    lwi_mesh mesh = {.vertex = NULL};
    lw_error why = {0};
    const bool scaled = shape->size[0] != 0 || shape->size[1] != 0 || shape->size[2] != 0;
    for (int k = 0; k < 3; k++) map.scale[k] = scaled ? shape->size[k] : 1;
    lwi_arena_init(&arena, &r->arena.allocator);
    lw_status status = LW_OK;
    if (d->file) {
        status = lwi_mesh_read(d->file, &arena, &mesh, &why);
    } else {
        mesh.vertex = lwi_arena_push(&arena, (size_t)d->nvertex, sizeof *mesh.vertex);
        mesh.triangle = lwi_arena_push(&arena, (size_t)d->ntriangle, sizeof *mesh.triangle);
        mesh.nvertex = d->nvertex, mesh.ntriangle = d->ntriangle;
        if (!mesh.vertex || !mesh.triangle) status = LW_ERR_MEMORY;
        if (status == LW_OK) {
            memcpy(mesh.vertex, d->vertices, (size_t)d->nvertex * sizeof *mesh.vertex);
            if (d->ntriangle)
                memcpy(mesh.triangle, d->triangles, (size_t)d->ntriangle * sizeof *mesh.triangle);
        }
    }
    if (status == LW_OK) // orientations first: where they differ, the edges do not match either
        status = lwi_mesh_solid_of(&mesh, LWI_MESH_EXACT, &map, &arena.allocator, solid, &why);
    if (status == LW_OK && mesh.ntriangle > 0)
        status = lwi_mesh_check_closed(&mesh, &arena.allocator, &why);
    lwi_arena_free(&arena);
    if (status == LW_OK) return LW_OK;
    if (status == LW_ERR_MEMORY) return lwi_yaml_no_memory(r);
    return lwi_yaml_fail(r, LW_ERR_MODEL, place, "density: mesh '%.100s': %.200s",
                         d->file ? d->file : "of the file", why.text);
}

static lw_status add_shape(lwi_yaml_reading *r, const lw_shape *shape, double density,
                           lw_place place, sums *s)
{
    const lw_quat *q = &shape->orientation;
    double quat[4] = {q->w, q->x, q->y, q->z}, R[9], J[6], unit[3], c[3];
    lwi_mesh_solid solid = {.volume = 0};
    if (quat_norm2(quat) == 0) quat[0] = 1;
    quat_normalize(quat, quat);
    quat_matrix(R, quat);
    if (shape->type == LW_SHAPE_MESH) {
        TRY(solid_of_mesh(r, shape, place, &solid));
    } else {
        lwi_solid_of_shape(shape->type, shape->size, &solid.volume, unit);
        for (int k = 0; k < 3; k++) solid.inertia[k] = solid.volume * unit[k];
    }
    m3_mul_v(c, R, solid.com);
    c[0] += shape->position.x, c[1] += shape->position.y, c[2] += shape->position.z;
    s3_rotate(J, R, solid.inertia);
    const double m = density * solid.volume;
    s->mass += m;
    v3_axpy(s->first, m, c);
    for (int k = 0; k < 6; k++) s->inertia[k] += density * J[k];
    s3_add_point(s->inertia, m, c);
    return LW_OK;
}

lw_status lwi_yaml_mass_of_shapes(lwi_yaml_reading *r, lwi_yaml_body *body, lw_place place)
{
    lw_body_desc *d = &body->desc;
    sums s = {.mass = 0};
    if (!body->has_density) return LW_OK;
    if (body->has_com || body->has_inertia || body->has_axes)
        return lwi_yaml_fail(r, LW_ERR_PARSE, place,
                             "'density' and '%s': mass centre and inertia follow from the shapes, "
                             "expected one of both",
                             body->has_com       ? "com"
                             : body->has_inertia ? "inertia"
                                                 : "inertia_axes");
    lw_shape *shape = LWI_PUSH(&r->arena, lw_shape, d->nshape);
    if (!shape) return lwi_yaml_no_memory(r);
    for (int i = 0; i < d->nshape; i++) {
        shape[i] = d->shapes[i];
        shape[i].has_position = true; // of the mass centre nothing is known yet
        TRY(add_shape(r, &shape[i], body->density, place, &s));
    }
    if (!(s.mass > 0) || !isfinite(s.mass))
        return lwi_yaml_fail(r, LW_ERR_MODEL, place,
                             "density: the shapes have the mass %g, expected shapes with a volume",
                             s.mass);
    const double scale = body->has_mass ? d->mass / s.mass : 1;
    const double c[3] = {s.first[0] / s.mass, s.first[1] / s.mass, s.first[2] / s.mass};
    s3_add_point(s.inertia, -s.mass, c);
    for (int k = 0; k < 6; k++) d->inertia[k] = scale * s.inertia[k];
    if (!body->has_mass) d->mass = s.mass;
    d->com = (lw_vec3){c[0], c[1], c[2]};
    d->shapes = shape;
    return LW_OK;
}
