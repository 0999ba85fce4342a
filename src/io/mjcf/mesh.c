// mesh.c -- meshes of an MJCF file: their files or vertices, what fills them, and what the geoms draw.
//
// The compiler of MuJoCo moves a mesh to its principal axes and its geom against it; the pose of the geom in the file is
// that of the mesh's own axes, so nothing moves here.  A geom of another type with a mesh is a solid that is fitted to it.
#include "io/mjcf/mjcf.h"

#include "io/frames.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------- the assets

// "b" of "a/b.stl"
static const char *stem_of(const lwi_mjcf *u, const char *file)
{
    const char *slash = strrchr(file, '/');
    char *stem = lwi_arena_text(u->arena, slash ? slash + 1 : file);
    char *dot = stem ? strrchr(stem, '.') : NULL;
    if (dot) *dot = 0;
    return stem;
}

// As MuJoCo: without folders where `strippath` says so; in `meshdir`, unless it is absolute.
static const char *path_of(const lwi_mjcf *u, const char *file)
{
    const char *slash = u->strip_path ? strrchr(file, '/') : NULL;
    if (slash) file = slash + 1;
    const size_t n = strlen(u->mesh_folder), m = strlen(file);
    char *path = lwi_arena_chars(u->arena, n + m + 2);
    if (!path || *file == '/' || !n) return path ? file : NULL;
    snprintf(path, n + m + 2, "%s/%s", u->mesh_folder, file);
    return path;
}

// Numbers of a long attribute; *x is NULL where it is missing.
static lw_status read_list(const lwi_mjcf *u, const lwi_xml_element *e, const char *attribute,
                           double **x, int *n)
{
    const char *text = lwi_xml_get(e, attribute);
    *x = NULL, *n = 0;
    if (!text) return LW_OK;
    const size_t room = strlen(text) / 2 + 1;
    *x = LWI_PUSH(u->arena, double, room);
    if (!*x) return lwi_mjcf_no_memory(u);
    *n = lwi_xml_list(text, (int)room, *x);
    if (*n > 0 && *n % 3 == 0) return LW_OK;
    return lwi_mjcf_fail(u, e, LW_ERR_PARSE, "<mesh %s>: expected finite numbers, three by three",
                         attribute);
}

static lw_status read_inline(const lwi_mjcf *u, lwi_mjcf_mesh *m)
{
    double *vertex, *face;
    int nv, nf;
    TRY(read_list(u, m->at.e, "vertex", &vertex, &nv));
    TRY(read_list(u, m->at.e, "face", &face, &nf));
    if (!vertex) return LW_OK;
    if (m->file)
        return lwi_mjcf_fail(u, m->at.e, LW_ERR_PARSE,
                             "<mesh>: both file and vertex, expected one");
    m->own.nvertex = nv / 3, m->own.ntriangle = nf / 3;
    m->own.vertex = lwi_arena_push(u->arena, (size_t)nv / 3, sizeof *m->own.vertex);
    m->own.triangle = lwi_arena_push(u->arena, (size_t)nf / 3, sizeof *m->own.triangle);
    if (!m->own.vertex || !m->own.triangle) return lwi_mjcf_no_memory(u);
    for (int i = 0; i < nv; i++) m->own.vertex[i / 3][i % 3] = (float)vertex[i];
    for (int i = 0; i < nf; i++) {
        if (!(face[i] >= 0 && face[i] < nv / 3) || face[i] != rint(face[i]))
            return lwi_mjcf_fail(u, m->at.e, LW_ERR_MODEL,
                                 "<mesh face>: vertex %g does not exist, expected 0 to %d", face[i],
                                 nv / 3 - 1);
        m->own.triangle[i / 3][i % 3] = (int)face[i];
    }
    for (int i = 0; i < nv; i++)
        if (!isfinite(m->own.vertex[i / 3][i % 3]))
            return lwi_mjcf_fail(u, m->at.e, LW_ERR_MODEL, "<mesh vertex>: %g is too large",
                                 vertex[i]);
    return LW_OK;
}

static lw_status read_fill(const lwi_mjcf *u, lwi_mjcf_mesh *m)
{
#define X(name, text) text,
    static const char *const words[] = {LWI_MESH_FILL_LIST(X)};
#undef X
    const lwi_xml_element *from;
    const char *text = lwi_mjcf_get(u, &m->at, "inertia", &from);
    m->fill = u->exact_meshes ? LWI_MESH_EXACT : LWI_MESH_LEGACY; // the default of the format
    if (!text) return LW_OK;
    for (int i = 0; i < LWI_COUNT(words); i++)
        if (strcmp(text, words[i]) == 0) {
            m->fill = (lwi_mesh_fill)i;
            return LW_OK;
        }
    return lwi_mjcf_fail(u, from, LW_ERR_PARSE,
                         "<mesh inertia>: '%.60s', expected convex, exact, legacy or shell", text);
}

static lw_status read_map(const lwi_mjcf *u, lwi_mjcf_mesh *m)
{
    double q[4] = {1, 0, 0, 0};
    double *scale = m->map.scale;
    v3_set(scale, 1, 1, 1);
    TRY(lwi_mjcf_numbers(u, &m->at, "scale", 3, 3, scale, NULL));
    TRY(lwi_mjcf_numbers(u, &m->at, "refpos", 3, 3, m->map.position, NULL));
    TRY(lwi_mjcf_numbers(u, &m->at, "refquat", 4, 4, q, NULL));
    if (scale[0] == 0 || scale[1] == 0 || scale[2] == 0)
        return lwi_mjcf_fail(u, m->at.e, LW_ERR_MODEL, "<mesh scale>: expected numbers not zero");
    const double norm = sqrt(quat_norm2(q));
    if (!(norm > 0) || !isfinite(norm))
        return lwi_mjcf_fail(u, m->at.e, LW_ERR_MODEL, "<mesh refquat>: its length is %g", norm);
    quat_matrix(m->map.R, q);
    return LW_OK;
}

static lw_status read_mesh(const lwi_mjcf *u, const lwi_xml_element *e, lwi_mjcf_mesh *m)
{
    *m = (lwi_mjcf_mesh){.at = {e, LWI_MJCF_MESH, u->main_class}, .name = lwi_xml_get(e, "name")};
    TRY(lwi_mjcf_find_class(u, e, "class", &m->at.of_class));
    m->file = lwi_xml_get(e, "file");
    if (!m->name && m->file) m->name = stem_of(u, m->file);
    TRY(read_map(u, m));
    TRY(read_fill(u, m));
    TRY(read_inline(u, m));
    if (!m->file) return LW_OK;
    const lwi_mesh_places places = {u->desc->folder, u->desc->package_path};
    const char *path = path_of(u, m->file);
    if (!path) return lwi_mjcf_no_memory(u);
    m->path = lwi_mesh_find(&places, path, u->arena);
    return LW_OK;
}

// Elements of a kind in <asset>; with `each`, that is called for each.
static lw_status each_asset(lwi_mjcf *u, const char *kind, int *count,
                            lw_status (*each)(lwi_mjcf *u, const lwi_xml_element *e))
{
    *count = 0;
    for (const lwi_xml_element *a = lwi_xml_child(u->xml.root, "asset"); a;
         a = lwi_xml_next(a, "asset"))
        for (const lwi_xml_element *e = lwi_xml_child(a, kind); e; e = lwi_xml_next(e, kind)) {
            if (each) TRY(each(u, e));
            ++*count;
        }
    return LW_OK;
}

static lw_status add_material(lwi_mjcf *u, const lwi_xml_element *e)
{
    lwi_mjcf_at *at = &u->material[u->material_names.count];
    const char *name = lwi_xml_get(e, "name");
    *at = (lwi_mjcf_at){e, LWI_MJCF_MATERIAL, u->main_class};
    TRY(lwi_mjcf_find_class(u, e, "class", &at->of_class));
    lwi_names_add(&u->material_names, name, u->material_names.count);
    return LW_OK;
}

static lw_status read_materials(lwi_mjcf *u)
{
    int count;
    TRY(each_asset(u, "material", &count, NULL));
    u->material = LWI_PUSH(u->arena, lwi_mjcf_at, count + 1);
    if (!u->material || lwi_names_create(count, u->arena, &u->material_names) != LW_OK)
        return lwi_mjcf_no_memory(u);
    TRY(each_asset(u, "material", &count, add_material));
    lwi_names_sort(&u->material_names);
    return LW_OK;
}

static lw_status add_asset(lwi_mjcf *u, const lwi_xml_element *e)
{
    return read_mesh(u, e, &u->mesh[u->nmesh++]);
}

lw_status lwi_mjcf_read_meshes(lwi_mjcf *u)
{
    int count;
    TRY(read_materials(u));
    TRY(each_asset(u, "mesh", &count, NULL));
    u->mesh = LWI_PUSH(u->arena, lwi_mjcf_mesh, count + 1);
    if (!u->mesh || lwi_names_create(count, u->arena, &u->mesh_names) != LW_OK)
        return lwi_mjcf_no_memory(u);
    TRY(each_asset(u, "mesh", &count, add_asset));
    for (int i = 0; i < u->nmesh; i++) lwi_names_add(&u->mesh_names, u->mesh[i].name, i);
    lwi_names_sort(&u->mesh_names);
    const int twice = lwi_names_repeated(&u->mesh_names);
    if (!twice) return LW_OK;
    const int i = u->mesh_names.item[u->mesh_names.order[twice]];
    return lwi_mjcf_fail(u, u->mesh[i].at.e, LW_ERR_PARSE, "<mesh>: a second mesh '%.100s'",
                         u->mesh[i].name);
}

lw_status lwi_mjcf_mesh_of(const lwi_mjcf *u, const lwi_mjcf_at *geom, lwi_mjcf_mesh **mesh)
{
    const lwi_xml_element *from;
    const char *name = lwi_mjcf_get(u, geom, "mesh", &from);
    *mesh = NULL;
    if (!name) return LW_OK;
    const int i = lwi_names_find(&u->mesh_names, name);
    if (i >= 0) *mesh = &u->mesh[i];
    if (i >= 0) return LW_OK;
    return lwi_mjcf_fail(u, from, LW_ERR_PARSE, "<geom mesh>: mesh '%.100s' does not exist", name);
}

// ----------------------------------------------------------------------------------------- reading

static lw_status load(const lwi_mjcf *u, const lwi_mjcf_mesh *m, lwi_arena *arena, lwi_mesh *mesh,
                      lw_error *error)
{
    if (m->own.vertex) {
        *mesh = m->own;
        return LW_OK;
    }
    if (!m->file) return lwi_fail(error, LW_ERR_UNSUPPORTED, "it has neither a file nor vertices");
    if (!u->desc->folder)
        return lwi_fail(error, LW_ERR_IO,
                        "the model is parsed from memory without a folder, no file is opened");
    if (!m->path) return lwi_fail(error, LW_ERR_IO, "the file does not exist");
    return lwi_mesh_read(m->path, arena, mesh, error);
}

// Fills m->solid, and the extent in its principal axes; the reason of a failure is kept.
static lw_status find_solid(const lwi_mjcf *u, lwi_mjcf_mesh *m)
{
    lwi_mesh mesh;
    lwi_arena arena;
    lw_error error = {0};
    m->tried = true;
    lwi_arena_init(&arena, &u->arena->allocator);
    lw_status status = load(u, m, &arena, &mesh, &error);
    if (status == LW_OK)
        status = lwi_mesh_solid_of(&mesh, m->fill, &m->map, &arena.allocator, &m->solid, &error);
    if (status == LW_OK) {
        lwi_mesh_principal(m->solid.inertia, m->principal, m->axes);
        lwi_mesh_extent(&mesh, &m->map, m->solid.com, m->axes, m->low, m->high);
    }
    lwi_arena_free(&arena);
    if (status == LW_ERR_MEMORY) return lwi_mjcf_no_memory(u);
    m->known = status == LW_OK;
    const char *at = error.line ? "line " : "";
    char line[16] = "";
    if (error.line) snprintf(line, sizeof line, "%d: ", error.line);
    snprintf(m->reason, sizeof m->reason, "%s%s%.200s", at, line, error.text);
    return LW_OK;
}

lw_status lwi_mjcf_solid_of_mesh(const lwi_mjcf *u, lwi_mjcf_mesh *m, bool *known)
{
    if (!m->tried) TRY(find_solid(u, m));
    *known = m->known;
    return LW_OK;
}

lw_status lwi_mjcf_mesh_missing(const lwi_mjcf *u, const lwi_mjcf_body *b, const lwi_mjcf_at *geom,
                                const lwi_mjcf_mesh *m)
{
    const char *name = lwi_xml_get(geom->e, "name");
    const char *file = m->file ? m->file : m->name ? m->name : "";
    lwi_mjcf_begin_notes(u, geom->e);
    if (u->desc->missing_mesh && strcmp(u->desc->missing_mesh, "massless") == 0) {
        lwi_notes_add(u->notes, geom->e, b->name,
                      "geoms with a mesh that is not read add no mass, bodies");
        return LW_OK;
    }
    return lwi_mjcf_fail(u, geom->e, LW_ERR_MODEL,
                         "geom%s%.60s%s of body '%.60s': the mass of the body depends on mesh "
                         "'%.120s': %s (`--missing-mesh massless` leaves it out)",
                         name ? " '" : "", name ? name : "", name ? "'" : "",
                         b->name ? b->name : "", file, m->reason);
}

// ----------------------------------------------------------------------------------------- drawing

// Why a mesh cannot be drawn, or NULL.
static const char *undrawn(const lwi_mjcf_mesh *m)
{
    const double *s = m->map.scale, *R = m->map.R;
    const bool rotated = fabs(R[0]) + fabs(R[4]) + fabs(R[8]) < 3;
    if (!m->file && !m->own.vertex) return "meshes without a file and vertices are not drawn";
    if (m->file && !lwi_mesh_is_known(m->file))
        return "meshes other than STL, OBJ, MSH and COLLADA are not read and not drawn";
    if (m->file && !m->path) return "meshes are not found and not drawn";
    if (rotated && (s[0] != s[1] || s[1] != s[2]))
        return "meshes rotated by refquat and scaled by different factors are not drawn";
    return NULL;
}

static lw_status add_mesh(const lwi_mjcf *u, lwi_mjcf_mesh *m)
{
    if (m->added.index) return LW_OK;
    const lw_mesh_desc d = {.file = m->path,
                            .vertices = m->own.vertex ? m->own.vertex[0] : NULL,
                            .triangles = m->own.triangle ? m->own.triangle[0] : NULL,
                            .nvertex = m->own.nvertex,
                            .ntriangle = m->own.ntriangle,
                            .place = lwi_mjcf_place(u, m->at.e)};
    return lw_builder_add_mesh(u->builder, &d, &m->added, u->error);
}

// scale (R' (x - p)) = R' scale x - scale R' p, for equal scales, or R = 1
lw_status lwi_mjcf_draw_mesh(const lwi_mjcf *u, const lwi_xml_element *geom, lwi_mjcf_mesh *m,
                             const double *R, const double *r, lw_shape *shape)
{
    const char *why = undrawn(m);
    double turn[9], shift[3];
    shape->type = LW_SHAPE_NONE;
    if (why) {
        lwi_mjcf_begin_notes(u, geom);
        lwi_notes_add(u->notes, geom, m->file ? m->file : m->name, "%s", why);
        return LW_OK;
    }
    TRY(add_mesh(u, m));
    m3_transpose(turn, m->map.R);
    m3_mul_v(shift, turn, m->map.position);
    for (int k = 0; k < 3; k++) shift[k] *= -m->map.scale[k];
    lwi_frame_mul(turn, shift, R, r, turn, shift);
    const lw_pose pose = lwi_frame_pose(turn, shift);
    shape->type = LW_SHAPE_MESH;
    shape->mesh = m->added;
    shape->position = pose.position;
    shape->orientation = pose.orientation;
    v3_copy(shape->size, m->map.scale);
    return LW_OK;
}
