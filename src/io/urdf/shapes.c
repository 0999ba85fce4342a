// shapes.c -- shapes of the links of a URDF model for drawing: boxes, cylinders, spheres, capsules, with
// poses and colours, and meshes.
#include "io/urdf/urdf.h"

#include "io/frames.h"
#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

// The file of a mesh is not opened; one that is not found or not of a known kind is noted.
static lw_status read_mesh(lwi_urdf *u, const lwi_xml_element *e, lw_shape *shape)
{
    const char *name;
    TRY(lwi_xml_need(u->xml, e, "filename", &name, u->error));
    v3_set(shape->size, 1, 1, 1);
    TRY(lwi_xml_numbers(u->xml, e, "scale", 3, shape->size, u->error));
    const double *scale = shape->size;
    int *known = lwi_mesh_table_at(&u->meshes, name);
    if (!known) return lwi_fail(u->error, LW_ERR_MEMORY, "out of memory");
    if (scale[0] == 0 || scale[1] == 0 || scale[2] == 0)
        return lwi_xml_fail(u->xml, e, LW_ERR_MODEL, u->error,
                            "<mesh scale>: expected numbers that are not zero");
    if (!*known) {
        TRY(lwi_notes_mesh(u->notes, e, name, &u->places, u->builder,
                           (lw_place){e->line, e->column}, &shape->mesh, u->error));
        *known = shape->mesh.index ? shape->mesh.index : -1;
    }
    shape->mesh.index = *known > 0 ? *known : 0;
    shape->type = *known > 0 ? LW_SHAPE_MESH : LW_SHAPE_NONE;
    return LW_OK;
}

// The geometry of a <visual>, if it is known.
static lw_status read_geometry(lwi_urdf *u, const lwi_xml_element *geometry, lw_shape *shape)
{
    static const struct {
        const char *element;
        lw_shape_type shape;
        const char *sizes[2];
        int count[2];
    } known[] = {{"box", LW_SHAPE_BOX, {"size", NULL}, {3, 0}},
                 {"sphere", LW_SHAPE_SPHERE, {"radius", NULL}, {1, 0}},
                 {"cylinder", LW_SHAPE_CYLINDER, {"radius", "length"}, {1, 1}},
                 {"capsule", LW_SHAPE_CAPSULE, {"radius", "length"}, {1, 1}}};
    for (int i = 0; i < LWI_COUNT(known); i++) {
        const lwi_xml_element *e = lwi_xml_child(geometry, known[i].element);
        if (!e) continue;
        int n = 0;
        for (int k = 0; k < 2 && known[i].sizes[k]; n += known[i].count[k++]) {
            const char *value;
            TRY(lwi_xml_need(u->xml, e, known[i].sizes[k], &value, u->error));
            TRY(lwi_xml_numbers(u->xml, e, known[i].sizes[k], known[i].count[k], shape->size + n,
                                u->error));
        }
        shape->type = known[i].shape;
        return LW_OK;
    }
    const lwi_xml_element *mesh = lwi_xml_child(geometry, "mesh");
    return mesh ? read_mesh(u, mesh, shape) : LW_OK;
}

// Colour of a <material>, from itself or from the material of the robot with its name.
static lw_status read_color(const lwi_urdf *u, const lwi_xml_element *visual, lw_shape *shape)
{
    const lwi_xml_element *m = lwi_xml_child(visual, "material");
    const char *name = m ? lwi_xml_get(m, "name") : NULL;
    const lwi_xml_element *color = m ? lwi_xml_child(m, "color") : NULL;
    int searched = 0; // linear search: robots have a few materials
    for (m = name && !color ? lwi_xml_child(u->xml->root, "material") : NULL; m && searched++ < 100;
         m = lwi_xml_next(m, "material")) {
        const char *other = lwi_xml_get(m, "name");
        if (!other || strcmp(name, other) != 0) continue;
        color = lwi_xml_child(m, "color");
        break;
    }
    if (!color || !lwi_xml_get(color, "rgba")) return LW_OK;
    TRY(lwi_xml_numbers(u->xml, color, "rgba", 4, shape->color, u->error));
    shape->has_color = 1;
    for (int i = 0; i < 4; i++) shape->color[i] = fmin(fmax(shape->color[i], 0), 1);
    return LW_OK;
}

// What <visual> shows, for drawing.
lw_status lwi_urdf_shapes(lwi_urdf *u, const lwi_xml_element *link, lw_body_desc *d)
{
    int room = 0;
    for (const lwi_xml_element *v = lwi_xml_child(link, "visual"); v; v = lwi_xml_next(v, "visual"))
        room++;
    lw_shape *shapes = LWI_PUSH(&u->xml->arena, lw_shape, room + 1);
    if (!shapes) return lwi_fail(u->error, LW_ERR_MEMORY, "out of memory");
    for (const lwi_xml_element *v = lwi_xml_child(link, "visual"); v;
         v = lwi_xml_next(v, "visual")) {
        lw_shape *shape = &shapes[d->nshape];
        const lwi_xml_element *geometry = lwi_xml_child(v, "geometry");
        double R[9], r[3];
        *shape = (lw_shape){.has_position = 1};
        if (geometry) TRY(read_geometry(u, geometry, shape));
        if (!shape->type) continue;
        TRY(lwi_urdf_pose(u, lwi_xml_child(v, "origin"), R, r));
        const lw_pose pose = lwi_frame_pose(R, r);
        shape->position = pose.position;
        shape->orientation = pose.orientation;
        TRY(read_color(u, v, shape));
        d->nshape++;
    }
    d->shapes = shapes;
    return LW_OK;
}
