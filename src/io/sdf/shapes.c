// shapes.c -- what the links of an SDF file show: primitives and meshes with poses and colours.
#include "io/sdf/sdf.h"

#include "io/frames.h"
#include "spatial/vec3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The scale and the URI of a <mesh>.
static lw_status read_mesh(const lwi_sdf *u, const lwi_sdf_item *link, const lwi_xml_element *e,
                           const char **uri, double *scale)
{
    const lwi_xml_element *name = lwi_xml_child(e, "uri"), *size = lwi_xml_child(e, "scale");
    v3_set(scale, 1, 1, 1);
    if (!name) return lwi_sdf_fail(u, link, e, LW_ERR_PARSE, "<mesh> has no <uri>");
    *uri = name->text;
    if (size) TRY(lwi_xml_text_numbers(&link->file->xml, size, 3, scale, u->error));
    if (lwi_xml_child(e, "submesh"))
        lwi_notes_add(u->notes, e, *uri, "<submesh> is not read, whole meshes are taken");
    if (scale[0] != 0 && scale[1] != 0 && scale[2] != 0) return LW_OK;
    return lwi_sdf_fail(u, link, size, LW_ERR_MODEL, "<scale>: expected numbers that are not zero");
}

// Relative names are from the folder of the file with the link.
static lwi_mesh_places places_of(const lwi_sdf *u, const lwi_sdf_item *link, const char **key,
                                 const char *uri)
{
    const char *inside = link->file->folder ? link->file->folder : "", *folder = u->desc->folder;
    const size_t n = folder ? strlen(folder) : 0, m = strlen(inside), k = strlen(uri);
    char *text = lwi_arena_chars(u->arena, n + m + k + 3);
    *key = text;
    if (!text) return (lwi_mesh_places){NULL, NULL};
    snprintf(text, n + m + k + 3, "%s/%s", folder ? folder : "", inside);
    char *whole = lwi_arena_text(u->arena, text);
    snprintf(text, n + m + k + 3, "%s:%s", inside, uri);
    if (!whole) *key = NULL;
    return (lwi_mesh_places){folder ? whole : NULL, u->desc->package_path};
}

// The file of a mesh is not opened; one that is not found or of no known kind is noted.
static lw_status draw_mesh(lwi_sdf *u, const lwi_sdf_item *link, const lwi_xml_element *e,
                           lw_shape *shape)
{
    const char *uri, *key;
    TRY(read_mesh(u, link, e, &uri, shape->size));
    const lwi_mesh_places places = places_of(u, link, &key, uri);
    int *known = key ? lwi_mesh_table_at(&u->meshes, key) : NULL;
    if (!known) return lwi_sdf_no_memory(u);
    if (!*known) {
        TRY(lwi_notes_mesh(u->notes, e, uri, &places, u->builder, link->place, &shape->mesh,
                           u->error));
        *known = shape->mesh.index ? shape->mesh.index : -1;
    }
    shape->mesh.index = *known > 0 ? *known : 0;
    shape->type = *known > 0 ? LW_SHAPE_MESH : LW_SHAPE_NONE;
    return LW_OK;
}

lw_status lwi_sdf_solid_of_mesh(const lwi_sdf *u, const lwi_sdf_item *link,
                                const lwi_xml_element *e, lwi_mesh_solid *solid, bool *known)
{
    lwi_mesh_map map = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const char *uri, *key;
    lwi_arena arena;
    lwi_mesh mesh;
    lw_error error = {0};
    TRY(read_mesh(u, link, e, &uri, map.scale));
    const lwi_mesh_places places = places_of(u, link, &key, uri);
    if (!key) return lwi_sdf_no_memory(u);
    const char *path = lwi_mesh_find(&places, uri, u->arena);
    lwi_arena_init(&arena, &u->arena->allocator);
    lw_status status = path ? lwi_mesh_read(path, &arena, &mesh, &error)
                            : lwi_fail(&error, LW_ERR_IO, "the file is not found");
    if (status == LW_OK)
        status = lwi_mesh_solid_of(&mesh, LWI_MESH_EXACT, &map, &arena.allocator, solid, &error);
    lwi_arena_free(&arena);
    *known = status == LW_OK;
    if (status == LW_OK) return LW_OK;
    if (status == LW_ERR_MEMORY) return lwi_sdf_no_memory(u);
    if (u->desc->missing_mesh && strcmp(u->desc->missing_mesh, "massless") == 0) {
        lwi_notes_add(u->notes, e, link->name,
                      "collisions with a mesh that is not read add no mass, links");
        return LW_OK;
    }
    return lwi_sdf_fail(u, link, e, LW_ERR_MODEL,
                        "<inertial auto>: the mass of the link depends on mesh '%.120s': %.200s "
                        "(`--missing-mesh massless` leaves it out)",
                        uri, error.text);
}

lw_status lwi_sdf_geometry(const lwi_sdf *u, const lwi_sdf_item *link,
                           const lwi_xml_element *geometry, lw_shape *shape)
{
    static const struct {
        const char *element;
        lw_shape_type shape;
        const char *sizes[2];
        int count;
    } known[] = {{"box", LW_SHAPE_BOX, {"size", NULL}, 3},
                 {"sphere", LW_SHAPE_SPHERE, {"radius", NULL}, 1},
                 {"cylinder", LW_SHAPE_CYLINDER, {"radius", "length"}, 1},
                 {"capsule", LW_SHAPE_CAPSULE, {"radius", "length"}, 1},
                 {"ellipsoid", LW_SHAPE_ELLIPSOID, {"radii", NULL}, 3}};
    for (int i = 0; i < LWI_COUNT(known); i++) {
        const lwi_xml_element *e = lwi_xml_child(geometry, known[i].element);
        if (!e) continue;
        for (int k = 0; k < 2 && known[i].sizes[k]; k++) {
            const lwi_xml_element *size = lwi_xml_child(e, known[i].sizes[k]);
            if (!size)
                return lwi_sdf_fail(u, link, e, LW_ERR_PARSE, "<%s> has no <%s>", known[i].element,
                                    known[i].sizes[k]);
            TRY(lwi_xml_text_numbers(&link->file->xml, size, known[i].count, shape->size + k,
                                     u->error));
        }
        shape->type = known[i].shape;
        return LW_OK;
    }
    return LW_OK;
}

static lw_status read_color(const lwi_sdf *u, const lwi_sdf_item *link,
                            const lwi_xml_element *visual, lw_shape *shape)
{
    const lwi_xml_element *material = lwi_xml_child(visual, "material");
    const lwi_xml_element *diffuse = material ? lwi_xml_child(material, "diffuse") : NULL;
    if (!diffuse) return LW_OK;
    double x[4] = {0, 0, 0, 1};
    const int n = lwi_xml_list(diffuse->text, 4, x);
    if (n < 3)
        return lwi_sdf_fail(u, link, diffuse, LW_ERR_PARSE, "<diffuse>: '%.60s' is no colour",
                            diffuse->text);
    shape->has_color = 1;
    for (int i = 0; i < 4; i++) shape->color[i] = fmin(fmax(x[i], 0), 1);
    return LW_OK;
}

// Primitives and meshes of <visual>, for drawing.
lw_status lwi_sdf_shapes(lwi_sdf *u, const lwi_sdf_item *link, lw_body_desc *d)
{
    int room = 0;
    const lwi_xml_element *v = lwi_xml_child(link->e, "visual");
    for (; v; v = lwi_xml_next(v, "visual")) room++;
    lw_shape *shapes = LWI_PUSH(u->arena, lw_shape, room + 1);
    if (!shapes) return lwi_sdf_no_memory(u);
    for (v = lwi_xml_child(link->e, "visual"); v; v = lwi_xml_next(v, "visual")) {
        const lwi_xml_element *geometry = lwi_xml_child(v, "geometry");
        lw_shape *shape = &shapes[d->nshape];
        double R[9], r[3];
        *shape = (lw_shape){.has_position = 1};
        const lwi_xml_element *mesh = geometry ? lwi_xml_child(geometry, "mesh") : NULL;
        if (geometry) TRY(lwi_sdf_geometry(u, link, geometry, shape));
        if (mesh) TRY(draw_mesh(u, link, mesh, shape));
        if (!shape->type) continue;
        TRY(lwi_sdf_pose(u, link->file, v, R, r));
        const lw_pose pose = lwi_frame_pose(R, r);
        shape->position = pose.position;
        shape->orientation = pose.orientation;
        TRY(read_color(u, link, v, shape));
        d->nshape++;
    }
    d->shapes = shapes;
    return LW_OK;
}
