// dae.c -- COLLADA: the triangles and polygons of its geometries, placed by the nodes of its scene, in metres.
//
// A node has transformations, which apply in the order of the file from the outermost on, geometries, and other nodes.
// As in RViz the axis that is up in the file has no effect.  Materials, lines, curves and controllers are not read.
#include "io/mesh/mesh.h"
#include "io/mesh/paths.h"

#include "io/xml.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_VISITS = 100000, MAX_OFFSET = 31 };
enum { MAX_ELEMENTS = 10 * 1000 * 1000 }; // that are read, once for each instance
#define MAX_BYTES 6e8                     // of numbers and urls, once for each instance

/** x -> A x + b */
typedef struct place {
    double A[9], b[3];
} place;

/** Positions of a geometry. */
typedef struct geometry {
    const lwi_xml_element *mesh;
    double *position; ///< [n][stride]
    int n, stride;
} geometry;

typedef struct reading {
    lwi_xml xml;
    const char *name;
    lw_error *error;
    lwi_mesh_table geometries, nodes; ///< by id: index from 1
    geometry *geometry;
    const lwi_xml_element **node;
    int visits, elements; ///< nodes and elements that this pass has read
    double bytes;         ///< of their numbers and urls
    double tests;         ///< of concave polygons
    // the first pass counts, the second fills
    lwi_mesh *mesh;
    bool fills;
    double nvertex, ntriangle;
} reading;

static lw_status no_memory(const reading *r)
{
    return lwi_fail(r->error, LW_ERR_MEMORY, "no memory for a mesh");
}

static lw_status fail(const reading *r, const lwi_xml_element *e, const char *what)
{
    return lwi_xml_fail(&r->xml, e, LW_ERR_PARSE, r->error, "<%.60s>: %s", e->name, what);
}

static lw_status count_bytes(reading *r, const lwi_xml_element *e, const char *text)
{
    r->bytes += (double)strlen(text);
    return r->bytes <= MAX_BYTES ? LW_OK : fail(r, e, "too many numbers in all instances together");
}

static lw_status count_element(reading *r, const lwi_xml_element *e)
{
    return ++r->elements <= MAX_ELEMENTS
               ? LW_OK
               : fail(r, e, "all instances together have more than 10 million elements");
}

// All numbers of a text, in the arena.
static lw_status numbers_of(reading *r, const lwi_xml_element *e, lwi_arena *arena, double **x,
                            int *n)
{
    const size_t room = strlen(e->text) / 2 + 1;
    TRY(count_bytes(r, e, e->text));
    *x = LWI_PUSH(arena, double, room);
    if (!*x) return no_memory(r);
    *n = lwi_xml_list(e->text, (int)room, *x);
    return *n >= 0 ? LW_OK : fail(r, e, "expected finite numbers");
}

static lw_status fixed_numbers(reading *r, const lwi_xml_element *e, int count, double *x)
{
    TRY(count_bytes(r, e, e->text));
    return lwi_xml_list(e->text, count, x) == count ? LW_OK
                                                    : fail(r, e, "has another number of numbers");
}

// "#id" without its first letter
static const char *target(const lwi_xml_element *e, const char *attribute)
{
    const char *url = lwi_xml_get(e, attribute);
    return url && *url == '#' ? url + 1 : "";
}

static int number_of(const lwi_xml_element *e, const char *attribute, int missing)
{
    double x;
    const char *text = lwi_xml_get(e, attribute);
    const bool known = text && lwi_xml_list(text, 1, &x) == 1 && x >= 0 && x <= MAX_OFFSET;
    return known ? (int)x : missing;
}

// -------------------------------------------------------------------------------------- geometries

static const lwi_xml_element *child_with(const lwi_xml_element *e, const char *name,
                                         const char *attribute, const char *value)
{
    for (const lwi_xml_element *c = lwi_xml_child(e, name); c; c = lwi_xml_next(c, name)) {
        const char *has = lwi_xml_get(c, attribute);
        if (has && strcmp(has, value) == 0) return c;
    }
    return NULL;
}

// vertices -> source -> float_array; its numbers of a vertex are `stride` apart.
static lw_status read_positions(reading *r, geometry *g)
{
    const lwi_xml_element *vertices = lwi_xml_child(g->mesh, "vertices");
    const lwi_xml_element *input =
        vertices ? child_with(vertices, "input", "semantic", "POSITION") : NULL;
    const lwi_xml_element *source =
        input ? child_with(g->mesh, "source", "id", target(input, "source")) : NULL;
    const lwi_xml_element *array = source ? lwi_xml_child(source, "float_array") : NULL;
    if (!array) return fail(r, g->mesh, "has no positions of vertices");
    const lwi_xml_element *common = lwi_xml_child(source, "technique_common");
    const lwi_xml_element *accessor = common ? lwi_xml_child(common, "accessor") : NULL;
    g->stride = accessor ? number_of(accessor, "stride", 3) : 3;
    if (g->stride < 3) return fail(r, accessor, "expected a stride of 3 or more");
    TRY(numbers_of(r, array, &r->xml.arena, &g->position, &g->n));
    g->n /= g->stride;
    return LW_OK;
}

static lw_status add_polygon(reading *r, const lwi_xml_element *e, const geometry *g,
                             const double *p, int stride, int n)
{
    int corner[LWI_MESH_MAX_CORNERS];
    if (n > LWI_MESH_MAX_CORNERS) return fail(r, e, "a polygon has more than 1000 corners");
    if (n < 3) return LW_OK;
    r->ntriangle += n - 2;
    for (int i = 0; i < n; i++) {
        const double index = p[(size_t)i * (size_t)stride];
        if (!(index >= 0 && index < g->n)) return fail(r, e, "a vertex does not exist");
        corner[i] = (int)r->nvertex + (int)index;
    }
    if (r->fills && !lwi_mesh_polygon(r->mesh, corner, n, &r->tests))
        return fail(r, e, LWI_MESH_TOO_CONCAVE);
    return LW_OK;
}

// <triangles>, <polylist> with the corners of each polygon in <vcount>, and <polygons> with a <p> for each.
static lw_status read_primitive(reading *r, const lwi_xml_element *e, const geometry *g,
                                lwi_arena *arena)
{
    const lwi_xml_element *counts = lwi_xml_child(e, "vcount");
    const bool list = strcmp(e->name, "polylist") == 0, each = strcmp(e->name, "polygons") == 0;
    int offset = -1, stride = 1, nc = 0;
    double *count = NULL;
    for (const lwi_xml_element *i = lwi_xml_child(e, "input"); i; i = lwi_xml_next(i, "input")) {
        const char *semantic = lwi_xml_get(i, "semantic");
        const int at = number_of(i, "offset", 0);
        if (at + 1 > stride) stride = at + 1;
        if (semantic && strcmp(semantic, "VERTEX") == 0) offset = at;
    }
    for (const lwi_xml_element *c = e->first; c; c = c->next) TRY(count_element(r, c));
    if (offset < 0) return fail(r, e, "has no input of vertices");
    if (list && !counts) return fail(r, e, "has no <vcount>");
    if (list) TRY(numbers_of(r, counts, arena, &count, &nc));
    for (const lwi_xml_element *p = lwi_xml_child(e, "p"); p; p = lwi_xml_next(p, "p")) {
        double *x;
        int n, k = 0;
        TRY(numbers_of(r, p, arena, &x, &n));
        n /= stride;
        for (int at = 0, corners; at < n; at += corners) {
            corners = each ? n : 3;
            if (list) {
                if (k == nc) break;
                if (!(count[k] >= 1 && count[k] <= n - at))
                    return fail(r, e, "<vcount> has other numbers of corners than <p>");
                corners = (int)count[k++];
            } else if (corners > n - at) {
                break;
            }
            const size_t first = (size_t)at * (size_t)stride + (size_t)offset;
            TRY(add_polygon(r, e, g, x + first, stride, corners));
        }
    }
    return LW_OK;
}

static lw_status add_primitive(reading *r, const lwi_xml_element *e, const geometry *g)
{
    lwi_arena work; // an instance may be one of many
    lwi_arena_init(&work, &r->xml.arena.allocator);
    const lw_status status = read_primitive(r, e, g, &work);
    lwi_arena_free(&work);
    return status;
}

static double determinant(const double *A)
{
    double n[3];
    v3_cross(n, A, A + 3);
    return v3_dot(n, A + 6);
}

static void put_vertices(reading *r, const geometry *g, const place *at)
{
    for (int i = 0; i < g->n; i++) {
        double x[3];
        m3_mul_v(x, at->A, g->position + (size_t)i * (size_t)g->stride);
        for (int k = 0; k < 3; k++)
            r->mesh->vertex[(int)r->nvertex + i][k] = (float)(x[k] + at->b[k]);
    }
}

static lw_status add_geometry(reading *r, geometry *g, const place *at)
{
    static const char *const kinds[] = {"triangles", "polylist", "polygons"};
    const int first = r->fills ? r->mesh->ntriangle : 0;
    if (!g->mesh) return LW_OK; // a curve
    if (!g->position) TRY(read_positions(r, g));
    if (r->fills) put_vertices(r, g, at);
    for (const lwi_xml_element *e = g->mesh->first; e; e = e->next) TRY(count_element(r, e));
    for (int k = 0; k < LWI_COUNT(kinds); k++)
        for (const lwi_xml_element *e = lwi_xml_child(g->mesh, kinds[k]); e;
             e = lwi_xml_next(e, kinds[k]))
            TRY(add_primitive(r, e, g));
    r->nvertex += g->n;
    if (r->nvertex > LWI_MESH_MAX_VERTICES || r->ntriangle > LWI_MESH_MAX_TRIANGLES)
        return fail(r, g->mesh, "too many vertices or triangles in all instances together");
    if (!r->fills || determinant(at->A) >= 0) return LW_OK;
    for (int i = first; i < r->mesh->ntriangle; i++) { // mirrored
        int *t = r->mesh->triangle[i], swap = t[1];
        t[1] = t[2], t[2] = swap;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- nodes

// at := at x -> A x + b
static void apply(place *at, const double *A, const double *b)
{
    double product[9], shift[3];
    m3_mul(product, at->A, A);
    m3_mul_v(shift, at->A, b);
    v3_add(at->b, at->b, shift);
    memcpy(at->A, product, sizeof product);
}

static lw_status transform(reading *r, const lwi_xml_element *e, place *at)
{
    static const double zero[3] = {0};
    double x[16], A[9], b[3];
    m3_identity(A);
    if (strcmp(e->name, "matrix") == 0) {
        TRY(fixed_numbers(r, e, 16, x));
        for (int i = 0; i < 3; i++)
            memcpy(A + 3 * i, x + 4 * i, 3 * sizeof *A), b[i] = x[4 * i + 3];
        apply(at, A, b);
    } else if (strcmp(e->name, "translate") == 0) {
        TRY(fixed_numbers(r, e, 3, x));
        apply(at, A, x);
    } else if (strcmp(e->name, "rotate") == 0) {
        TRY(fixed_numbers(r, e, 4, x));
        const double length = v3_norm(x);
        if (!(length > 0)) return LW_OK;
        v3_scale(x, 1 / length, x);
        rot_axis(A, x, x[3] * acos(-1) / 180);
        apply(at, A, zero);
    } else if (strcmp(e->name, "scale") == 0) {
        TRY(fixed_numbers(r, e, 3, x));
        A[0] = x[0], A[4] = x[1], A[8] = x[2];
        apply(at, A, zero);
    }
    return LW_OK;
}

static lw_status visit(reading *r, const lwi_xml_element *node, place at, int depth)
{
    if (depth > MAX_DEPTH || ++r->visits > MAX_VISITS)
        return fail(r, node, "nodes are nested too deeply, or there are too many");
    for (const lwi_xml_element *e = node->first; e; e = e->next) {
        TRY(count_element(r, e));
        TRY(transform(r, e, &at));
        if (strcmp(e->name, "node") == 0) TRY(visit(r, e, at, depth + 1));
        const bool shown = strcmp(e->name, "instance_geometry") == 0;
        if (!shown && strcmp(e->name, "instance_node") != 0) continue;
        const int *index = lwi_mesh_table_at(shown ? &r->geometries : &r->nodes, target(e, "url"));
        if (!index) return no_memory(r);
        if (!*index) return fail(r, e, "its url does not exist in the file");
        if (shown)
            TRY(add_geometry(r, &r->geometry[*index - 1], &at));
        else
            TRY(visit(r, r->node[*index - 1], at, depth + 1));
    }
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- file

// Elements `kind` of the libraries `library`, by id; their places are in `list`.
static lw_status index_library(reading *r, const char *library, const char *kind,
                               lwi_mesh_table *table, const lwi_xml_element ***list)
{
    int count = 0;
    table->arena = &r->xml.arena;
    for (int pass = 0; pass < 2; pass++) {
        int n = 0;
        for (const lwi_xml_element *l = lwi_xml_child(r->xml.root, library); l;
             l = lwi_xml_next(l, library))
            for (const lwi_xml_element *e = lwi_xml_child(l, kind); e; e = lwi_xml_next(e, kind)) {
                n++;
                if (pass == 0) continue;
                const char *id = lwi_xml_get(e, "id");
                int *index = lwi_mesh_table_at(table, id ? id : "");
                if (!index) return no_memory(r);
                (*list)[n - 1] = e;
                if (!*index) *index = n;
            }
        if (pass == 0) *list = LWI_PUSH(&r->xml.arena, const lwi_xml_element *, n + 1);
        if (!*list) return no_memory(r);
        count = n;
    }
    r->geometry = LWI_PUSH(&r->xml.arena, geometry, count + 1);
    return r->geometry ? LW_OK : no_memory(r);
}

static double unit_of(const reading *r)
{
    double x;
    const lwi_xml_element *asset = lwi_xml_child(r->xml.root, "asset");
    const lwi_xml_element *unit = asset ? lwi_xml_child(asset, "unit") : NULL;
    const char *meter = unit ? lwi_xml_get(unit, "meter") : NULL;
    return meter && lwi_xml_list(meter, 1, &x) == 1 && x > 0 ? x : 1;
}

// The scenes of the file, or all geometries where there is none.
static lw_status pass(reading *r, int ngeometry)
{
    const double unit = unit_of(r);
    const place whole = {.A = {unit, 0, 0, 0, unit, 0, 0, 0, unit}};
    int scenes = 0;
    r->visits = r->elements = 0;
    r->bytes = 0;
    r->nvertex = r->ntriangle = 0;
    for (const lwi_xml_element *l = lwi_xml_child(r->xml.root, "library_visual_scenes"); l;
         l = lwi_xml_next(l, "library_visual_scenes"))
        for (const lwi_xml_element *s = lwi_xml_child(l, "visual_scene"); s;
             s = lwi_xml_next(s, "visual_scene")) {
            TRY(visit(r, s, whole, 0));
            scenes++;
        }
    for (int i = 0; i < ngeometry && !scenes; i++) TRY(add_geometry(r, &r->geometry[i], &whole));
    return LW_OK;
}

static lw_status read_file(reading *r, lwi_arena *arena)
{
    const lwi_xml_element **list;
    int n = 0;
    if (strcmp(r->xml.root->name, "COLLADA") != 0)
        return fail(r, r->xml.root, "expected <COLLADA>");
    TRY(index_library(r, "library_nodes", "node", &r->nodes, &r->node));
    TRY(index_library(r, "library_geometries", "geometry", &r->geometries, &list));
    for (; list[n]; n++) r->geometry[n].mesh = lwi_xml_child(list[n], "mesh");
    TRY(pass(r, n));
    TRY(lwi_mesh_push(r->mesh, r->nvertex, r->ntriangle, r->name, arena, r->error));
    r->mesh->ntriangle = 0;
    r->fills = true;
    TRY(pass(r, n));
    if (r->mesh->ntriangle) return LW_OK;
    return lwi_fail_at(r->error, LW_ERR_PARSE, r->name, 0, 0, "there is no triangle");
}

lw_status lwi_mesh_read_dae(const char *bytes, size_t length, const char *name, lwi_arena *arena,
                            lwi_mesh *m, lw_error *error)
{
    reading r = {.name = name, .error = error, .mesh = m};
    TRY(lwi_xml_parse(&r.xml, bytes, length, name, &arena->allocator, error));
    const lw_status status = read_file(&r, arena);
    lwi_xml_free(&r.xml);
    return status;
}
