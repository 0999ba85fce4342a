// mesh.c -- meshes of shapes: {mesh: FILE} or {mesh: {vertices: [x, y, z, ...], triangles: [0, 1, 2, ...]}}.
#include "io/yaml/values.h"

#include <math.h>
#include <string.h>

// The absolute path of a file; one that does not exist keeps its name, with a warning.
static lw_status add_file(lwi_yaml_reading *r, const lwi_document_value *v, const char *name,
                          lw_mesh *mesh)
{
    int *known = lwi_mesh_table_at(&r->meshes, name);
    if (!known) return lwi_yaml_no_memory(r);
    if (!*known) {
        const char *path = lwi_mesh_find(&r->places, name, &r->arena);
        const lw_mesh_desc d = {
            .file = path ? path : name, .uri = path ? NULL : name, .place = v->place};
        if (!path && r->places.folder)
            TRY(lw_builder_warn(r->builder, v->place, "mesh '%.200s' is not found and not drawn",
                                name));
        TRY(lw_builder_add_mesh(r->builder, &d, mesh, r->error));
        *known = mesh->index;
    }
    mesh->index = *known;
    return LW_OK;
}

static lw_status read_numbers(lwi_yaml_reading *r, const lwi_document_value *map, const char *key,
                              const double **x, int *n)
{
    const int i = lwi_document_find(map, key);
    *x = NULL, *n = 0;
    if (i < 0) return LW_OK;
    TRY(lwi_yaml_read_list(r, map->item[i], x, n));
    return *n % 3 == 0 ? LW_OK : lwi_yaml_expected(r, map->item[i], "numbers, three by three");
}

static lw_status add_inline(lwi_yaml_reading *r, const lwi_document_value *v, lw_mesh *mesh)
{
    const double *x, *t;
    int nx, nt;
    TRY(read_numbers(r, v, "vertices", &x, &nx));
    TRY(read_numbers(r, v, "triangles", &t, &nt));
    if (!x || v->count != 1 + (t != NULL))
        return lwi_yaml_expected(r, v, "a file, or {vertices: [...], triangles: [...]}");
    float *vertices = LWI_PUSH(&r->arena, float, nx);
    int *triangles = LWI_PUSH(&r->arena, int, nt);
    if (!vertices || !triangles) return lwi_yaml_no_memory(r);
    for (int i = 0; i < nx; i++) {
        vertices[i] = (float)x[i];
        if (!isfinite(vertices[i])) return lwi_yaml_expected(r, v, "vertices below 3e38");
    }
    for (int i = 0; i < nt; i++) {
        if (!(t[i] >= 0 && t[i] < nx / 3) || t[i] != rint(t[i]))
            return lwi_yaml_expected(r, v, "triangles of vertices from 0 on");
        triangles[i] = (int)t[i];
    }
    const lw_mesh_desc d = {.vertices = vertices,
                            .triangles = triangles,
                            .nvertex = nx / 3,
                            .ntriangle = nt / 3,
                            .place = v->place};
    return lw_builder_add_mesh(r->builder, &d, mesh, r->error);
}

lw_status lwi_yaml_read_mesh(lwi_yaml_reading *r, const lwi_document_value *v, lw_mesh *mesh)
{
    const char *name = NULL;
    if (v->kind == LWI_DOCUMENT_MAP) return add_inline(r, v, mesh);
    TRY(lwi_yaml_read_text(r, v, "the name of a file, or {vertices: [...], triangles: [...]}",
                           &name));
    if (!*name) return lwi_yaml_expected(r, v, "the name of a file");
    return add_file(r, v, name, mesh);
}
