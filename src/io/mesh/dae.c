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

// "#id" without its first letter; "": it is missing or another file.
static const char *target(const lwi_xml_element *e, const char *attribute)
{
    const char *url = lwi_xml_get(e, attribute);
    return url && *url == '#' ? url + 1 : "";
}

// A whole number from `minimum` to `maximum`; `x` stays where the attribute is missing.
static lw_status whole_number(reading *r, const lwi_xml_element *e, const char *attribute,
                              int minimum, int maximum, int *x)
{
    double value;
    const char *text = lwi_xml_get(e, attribute);
    if (!text) return LW_OK;
    TRY(count_bytes(r, e, text));
    if (lwi_xml_list(text, 1, &value) != 1 || value < minimum || value > maximum ||
        value != floor(value))
        return lwi_xml_fail(&r->xml, e, LW_ERR_PARSE, r->error,
                            "<%.60s>: %s '%.40s', expected a whole number from %d to %d", e->name,
                            attribute, text, minimum, maximum);
    *x = (int)value;
    return LW_OK;
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
    int first = 0, n;
    double *x;
    g->stride = 3;
    if (accessor) {
        TRY(whole_number(r, accessor, "stride", 3, MAX_OFFSET, &g->stride));
        TRY(whole_number(r, accessor, "offset", 0, LWI_XML_MAX_BYTES, &first));
    }
    TRY(numbers_of(r, array, &r->xml.arena, &x, &n));
    if (first > n) return fail(r, accessor, "its offset is behind the end of the numbers");
    g->position = x + first;
    g->n = first ? (n - first + g->stride - 3) / g->stride : n / g->stride;
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

// The corners of a primitive: `p` [n][stride], of which one of each `stride` is the index of a vertex.
typedef struct corners {
    int stride, offset, n;
    const double *p;
} corners;

static lw_status read_inputs(reading *r, const lwi_xml_element *e, corners *c)
{
    c->offset = -1, c->stride = 1;
    for (const lwi_xml_element *i = lwi_xml_child(e, "input"); i; i = lwi_xml_next(i, "input")) {
        const char *semantic = lwi_xml_get(i, "semantic");
        int at = 0;
        TRY(whole_number(r, i, "offset", 0, MAX_OFFSET, &at));
        if (at + 1 > c->stride) c->stride = at + 1;
        if (semantic && strcmp(semantic, "VERTEX") == 0) c->offset = at;
    }
    return c->offset >= 0 ? LW_OK : fail(r, e, "has no input of vertices");
}

static lw_status add_corners(reading *r, const lwi_xml_element *e, const geometry *g,
                             const corners *c, int first, int n)
{
    const size_t at = (size_t)first * (size_t)c->stride + (size_t)c->offset;
    return add_polygon(r, e, g, c->p + at, c->stride, n);
}

static lw_status add_triangles(reading *r, const lwi_xml_element *e, const geometry *g,
                               const corners *c)
{
    for (int i = 0; i + 3 <= c->n; i += 3) TRY(add_corners(r, e, g, c, i, 3));
    return LW_OK;
}

static lw_status add_whole(reading *r, const lwi_xml_element *e, const geometry *g,
                           const corners *c)
{
    return c->n ? add_corners(r, e, g, c, 0, c->n) : LW_OK;
}

// Corner i and the two behind it, of every second triangle in the other order.
static lw_status add_strip(reading *r, const lwi_xml_element *e, const geometry *g,
                           const corners *c)
{
    for (int i = 0; i + 3 <= c->n; i++) {
        double t[3];
        for (int k = 0; k < 3; k++) {
            const int from = i % 2 && k < 2 ? i + 1 - k : i + k;
            t[k] = c->p[(size_t)from * (size_t)c->stride + (size_t)c->offset];
        }
        TRY(add_polygon(r, e, g, t, 1, 3));
    }
    return LW_OK;
}

static lw_status add_fan(reading *r, const lwi_xml_element *e, const geometry *g, const corners *c)
{
    for (int i = 1; i + 2 <= c->n; i++) {
        double t[3];
        for (int k = 0; k < 3; k++) {
            const int from = k ? i + k - 1 : 0;
            t[k] = c->p[(size_t)from * (size_t)c->stride + (size_t)c->offset];
        }
        TRY(add_polygon(r, e, g, t, 1, 3));
    }
    return LW_OK;
}

// One <p> with the corners of each polygon in <vcount>.
static lw_status add_list(reading *r, const lwi_xml_element *e, const geometry *g, const corners *c,
                          const double *count, int ncount)
{
    for (int k = 0, at = 0; at < c->n && k < ncount; at += (int)count[k++]) {
        if (!(count[k] >= 1 && count[k] <= c->n - at))
            return fail(r, e, "<vcount> has other numbers of corners than <p>");
        TRY(add_corners(r, e, g, c, at, (int)count[k]));
    }
    return LW_OK;
}

/** The primitives that have surfaces, and how the corners of one <p> are read; NULL: with <vcount>. */
typedef struct primitive {
    const char *name;
    lw_status (*add)(reading *, const lwi_xml_element *, const geometry *, const corners *);
} primitive;

static const primitive primitives[] = {{"triangles", add_triangles},
                                       {"polylist", NULL},
                                       {"polygons", add_whole},
                                       {"tristrips", add_strip},
                                       {"trifans", add_fan}};

static lw_status read_primitive(reading *r, const lwi_xml_element *e, const geometry *g,
                                const primitive *kind, lwi_arena *arena)
{
    const lwi_xml_element *counts = lwi_xml_child(e, "vcount");
    corners c = {0};
    int ncount = 0;
    double *count = NULL, *x;
    for (const lwi_xml_element *i = e->first; i; i = i->next) TRY(count_element(r, i));
    TRY(read_inputs(r, e, &c));
    if (lwi_xml_child(e, "ph")) return fail(r, e, "polygons with holes, <ph>, are not read");
    if (!kind->add && !counts) return fail(r, e, "has no <vcount>");
    if (!kind->add) TRY(numbers_of(r, counts, arena, &count, &ncount));
    for (const lwi_xml_element *p = lwi_xml_child(e, "p"); p; p = lwi_xml_next(p, "p")) {
        TRY(numbers_of(r, p, arena, &x, &c.n));
        c.n /= c.stride;
        c.p = x;
        TRY(kind->add ? kind->add(r, e, g, &c) : add_list(r, e, g, &c, count, ncount));
    }
    return LW_OK;
}

static lw_status add_primitive(reading *r, const lwi_xml_element *e, const geometry *g,
                               const primitive *kind)
{
    lwi_arena work; // an instance may be one of many
    lwi_arena_init(&work, &r->xml.arena.allocator);
    const lw_status status = read_primitive(r, e, g, kind, &work);
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
    const int first = r->fills ? r->mesh->ntriangle : 0;
    if (!g->mesh) return LW_OK; // a curve
    if (!g->position) TRY(read_positions(r, g));
    if (r->fills) put_vertices(r, g, at);
    for (const lwi_xml_element *e = g->mesh->first; e; e = e->next) TRY(count_element(r, e));
    for (int k = 0; k < LWI_COUNT(primitives); k++)
        for (const lwi_xml_element *e = lwi_xml_child(g->mesh, primitives[k].name); e;
             e = lwi_xml_next(e, primitives[k].name))
            TRY(add_primitive(r, e, g, &primitives[k]));
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
        if (!*target(e, "url")) return fail(r, e, "expected url='#id' of an element of this file");
        TRY(count_bytes(r, e, target(e, "url")));
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

// The scene that <scene> names, all scenes where it names none, or all geometries where there is no scene.
static lw_status pass(reading *r, int ngeometry)
{
    const double unit = unit_of(r);
    const place whole = {.A = {unit, 0, 0, 0, unit, 0, 0, 0, unit}};
    const lwi_xml_element *scene = lwi_xml_child(r->xml.root, "scene");
    const lwi_xml_element *instance = scene ? lwi_xml_child(scene, "instance_visual_scene") : NULL;
    int scenes = 0;
    r->visits = r->elements = 0;
    r->bytes = 0;
    r->nvertex = r->ntriangle = 0;
    for (const lwi_xml_element *l = lwi_xml_child(r->xml.root, "library_visual_scenes"); l;
         l = lwi_xml_next(l, "library_visual_scenes"))
        for (const lwi_xml_element *s = lwi_xml_child(l, "visual_scene"); s;
             s = lwi_xml_next(s, "visual_scene")) {
            const char *id = lwi_xml_get(s, "id");
            if (instance && strcmp(id ? id : "", target(instance, "url")) != 0) continue;
            TRY(visit(r, s, whole, 0));
            scenes++;
        }
    if (instance && !scenes) return fail(r, instance, "its url does not exist in the file");
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
