// gltf.c -- glTF 2.0: bodies as nodes with meshes of their shapes, the motion as one animation.
//
// One buffer, inside the file: first every kind of surface (positions, normals, indices), which meshes of several
// colours share, then the times of the rows, then for each body its translations and rotations, then for each piece of a
// tendon translations, rotations and scales of a cylinder of length one.  Node 0 rotates the world so that y points up,
// against gravity.
#include "view/mesh.h"

#include "base/assert.h"

#include "spatial/rotation.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ROUND = 24, RINGS = 8 }; // corners of a circle, rings from a pole to the equator

/** A surface; shapes of the same type and size, or with the same mesh, share one. */
typedef struct surface {
    lw_shape_type type;
    int mesh; ///< of the model; 0: none
    double size[3];
    float (*p)[3], (*n)[3]; ///< [np]
    uint16_t *index;        ///< [nindex]; NULL: `wide`
    const int *wide;
    int np, nindex;
    size_t at; ///< of its positions in the buffer; normals and indices follow
} surface;

/** A surface of a colour. */
typedef struct mesh {
    int surface;
    double color[4];
} mesh;

typedef struct part {
    int body, mesh;
    double R[9], r[3], scale[3];
} part;

typedef struct gltf {
    const lw_model *model;
    FILE *file;
    lw_error *error;
    lwi_arena arena;
    lwi_view_motion motion;
    lwi_plot_scene scene;
    const lw_view_desc *desc;
    lwi_view_mesh *of_model; ///< [meshes + 1]
    surface *surface;
    mesh *mesh;
    part *part;
    int nsurface, nmesh, npart, max_parts;
    lwi_view_ropes ropes;
    float (*piece)[10]; ///< [nrow][pieces] translation, rotation with the scalar last, scale
    int rope;           ///< mesh of all pieces
    size_t size;        ///< of the buffer
} gltf;

// ---------------------------------------------------------------------------------------- geometry

static void add_point(surface *m, const double *p, const double *n)
{
    for (int k = 0; k < 3; k++) {
        m->p[m->np][k] = (float)p[k];
        m->n[m->np][k] = (float)n[k];
    }
    m->np++;
}

static void add_triangle(surface *m, int a, int b, int c)
{
    m->index[m->nindex++] = (uint16_t)a;
    m->index[m->nindex++] = (uint16_t)b;
    m->index[m->nindex++] = (uint16_t)c;
}

static void fill_box(surface *m)
{
    for (int face = 0; face < 6; face++) {
        const int k = face / 2, i = (k + 1) % 3, j = (k + 2) % 3, first = m->np;
        const double side = face % 2 ? 1 : -1;
        double n[3] = {0};
        n[k] = side;
        for (int c = 0; c < 4; c++) {
            double p[3];
            p[k] = side * m->size[k] / 2;
            p[i] = (c == 1 || c == 2 ? 0.5 : -0.5) * m->size[i];
            p[j] = (c >= 2 ? 0.5 : -0.5) * side * m->size[j];
            add_point(m, p, n);
        }
        add_triangle(m, first, first + 1, first + 2);
        add_triangle(m, first, first + 2, first + 3);
    }
}

// Rings of points about z from below up; each ring of (radius, height) and the slope of its normal.
static void add_ring(surface *m, double radius, double z, double slope, const double *scale)
{
    for (int i = 0; i <= ROUND; i++) { // the first point is repeated at the end
        const double a = 2 * 3.14159265358979323846 * i / ROUND, c = cos(slope), s = sin(slope);
        const double p[3] = {scale[0] * radius * cos(a), scale[1] * radius * sin(a), scale[2] * z};
        double n[3] = {c * cos(a) / scale[0], c * sin(a) / scale[1], s / scale[2]};
        v3_scale(n, 1 / v3_norm(n), n);
        add_point(m, p, n);
    }
}

static void join_rings(surface *m, int lower, int upper)
{
    for (int i = 0; i < ROUND; i++) {
        add_triangle(m, lower + i, lower + i + 1, upper + i);
        add_triangle(m, upper + i, lower + i + 1, upper + i + 1);
    }
}

// Two half spheres at distance `gap`, their axes scaled.
static void fill_round(surface *m, double radius, double gap, const double *scale)
{
    int before = -1;
    for (int k = -RINGS; k <= RINGS; k++)
        for (int twice = 0; twice < (k == 0 && gap > 0 ? 2 : 1); twice++) {
            const double latitude = 0.5 * 3.14159265358979323846 * k / RINGS;
            const double half = k < 0 || (k == 0 && gap > 0 && !twice) ? -gap / 2 : gap / 2;
            const int ring = m->np;
            add_ring(m, radius * cos(latitude), half + radius * sin(latitude), latitude, scale);
            if (before >= 0) join_rings(m, before, ring);
            before = ring;
        }
}

static void fill_cylinder(surface *m)
{
    static const double one[3] = {1, 1, 1};
    const double quarter = 0.5 * 3.14159265358979323846, r = m->size[0], h = m->size[1] / 2;
    const double z[6] = {-h, -h, -h, h, h, h}, radius[6] = {0, r, r, r, r, 0};
    const double slope[6] = {-quarter, -quarter, 0, 0, quarter, quarter};
    for (int k = 0; k < 6; k++) {
        add_ring(m, radius[k], z[k], slope[k], one);
        if (k % 2) join_rings(m, (k - 1) * (ROUND + 1), k * (ROUND + 1));
    }
}

static lw_status fill_surface(gltf *g, surface *m)
{
    static const double one[3] = {1, 1, 1};
    const size_t points = (size_t)(2 * RINGS + 2) * (ROUND + 1) + 24, faces = 2 * points * 3;
    m->p = lwi_arena_push(&g->arena, points, sizeof *m->p);
    m->n = lwi_arena_push(&g->arena, points, sizeof *m->n);
    m->index = lwi_arena_push(&g->arena, faces, sizeof *m->index);
    if (!m->p || !m->n || !m->index)
        return lwi_fail(g->error, LW_ERR_MEMORY, "no memory for a mesh");
    switch (m->type) {
    case LW_SHAPE_BOX:
        fill_box(m);
        break;
    case LW_SHAPE_SPHERE:
        fill_round(m, m->size[0], 0, one);
        break;
    case LW_SHAPE_CAPSULE:
        fill_round(m, m->size[0], m->size[1], one);
        break;
    case LW_SHAPE_ELLIPSOID:
        fill_round(m, 1, 0, m->size);
        break;
    default:
        fill_cylinder(m);
        break;
    }
    LWI_ASSERT((size_t)m->np <= points && (size_t)m->nindex <= faces && m->np <= UINT16_MAX);
    return LW_OK;
}

static size_t index_bytes(const surface *m)
{
    return (size_t)m->nindex * (m->wide ? 4 : 2);
}

static lw_status fill(gltf *g, surface *m)
{
    if (m->mesh) {
        const lwi_view_mesh *from = &g->of_model[m->mesh];
        m->p = from->p, m->n = from->n, m->np = from->np;
        m->wide = from->t[0], m->nindex = 3 * from->nt;
    } else {
        TRY(fill_surface(g, m));
    }
    m->at = g->size;
    g->size += (size_t)m->np * 24 + (index_bytes(m) + 3) / 4 * 4;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- parts

static void default_color(const gltf *g, int body, double *color)
{
    const unsigned rgb = lwi_view_colour(g->scene.group[body]);
    for (int k = 0; k < 3; k++) color[k] = (rgb >> (16 - 8 * k) & 255) / 255.0;
    color[3] = 1;
}

// The surface of a shape, created if it is new.
static lw_status surface_of(gltf *g, const surface *wanted, int *index)
{
    for (int i = 0; i < g->nsurface; i++)
        if (g->surface[i].type == wanted->type && g->surface[i].mesh == wanted->mesh &&
            (wanted->mesh || memcmp(g->surface[i].size, wanted->size, sizeof wanted->size) == 0)) {
            *index = i;
            return LW_OK;
        }
    LWI_ASSERT_INDEX(g->nsurface, g->max_parts);
    *index = g->nsurface++;
    g->surface[*index] = *wanted;
    return fill(g, &g->surface[*index]);
}

// The mesh of a surface and colour, created if it is new.
static lw_status mesh_of(gltf *g, const surface *wanted, const double *color, int *index)
{
    int of;
    TRY(surface_of(g, wanted, &of));
    for (int i = 0; i < g->nmesh; i++)
        if (g->mesh[i].surface == of &&
            memcmp(g->mesh[i].color, color, sizeof g->mesh[i].color) == 0) {
            *index = i;
            return LW_OK;
        }
    LWI_ASSERT_INDEX(g->nmesh, g->max_parts);
    *index = g->nmesh++;
    g->mesh[*index].surface = of;
    memcpy(g->mesh[*index].color, color, sizeof g->mesh[*index].color);
    return LW_OK;
}

static bool degenerate(const lw_shape *s)
{
    if (s->type == LW_SHAPE_BOX || s->type == LW_SHAPE_MESH) return false; // a plate is visible
    return !(s->size[0] > 0) ||
           (s->type == LW_SHAPE_ELLIPSOID && !(s->size[1] > 0 && s->size[2] > 0));
}

static lw_status add_shape(gltf *g, int body, const lw_shape *s)
{
    LWI_ASSERT_INDEX(g->npart, g->max_parts);
    part *p = &g->part[g->npart];
    const bool is_mesh = s->type == LW_SHAPE_MESH;
    surface wanted = {.type = s->type, .mesh = is_mesh ? s->mesh.index : 0};
    double color[4];
    if (!lwi_view_shows(g->of_model, s)) return LW_OK;
    if (degenerate(s) || (s->has_color && s->color[3] == 0)) return LW_OK;
    default_color(g, body, color);
    if (s->has_color) memcpy(color, s->color, sizeof color);
    p->body = body;
    lwi_view_place(&g->model->desc.body[body], s, g->of_model, p->R, p->r);
    v3_set(p->scale, 1, 1, 1);
    memcpy(is_mesh ? p->scale : wanted.size, s->size, sizeof p->scale);
    g->npart++;
    return mesh_of(g, &wanted, color, &p->mesh);
}

// A box along a line of a body.
static lw_status add_line(gltf *g, const lwi_plot_link *l, double thick)
{
    LWI_ASSERT_INDEX(g->npart, g->max_parts);
    part *p = &g->part[g->npart];
    double along[3], color[4];
    v3_sub(along, l->p[1], l->p[0]);
    const double length = v3_norm(along);
    if (!(length > 0)) return LW_OK;
    v3_scale(along, 1 / length, along);
    // rotation from z to the line; to -z: 180 degrees about x
    double q[4] = {1 + along[2], -along[1], along[0], 0};
    if (q[0] < 1e-12) q[0] = 0, q[1] = 1, q[2] = 0;
    quat_normalize(q, q);
    quat_matrix(p->R, q);
    v3_add(p->r, l->p[0], l->p[1]);
    v3_scale(p->r, 0.5, p->r);
    p->body = l->body;
    g->npart++;
    default_color(g, l->body, color);
    v3_set(p->scale, 1, 1, 1);
    const surface box = {.type = LW_SHAPE_BOX, .size = {thick, thick, length}};
    return mesh_of(g, &box, color, &p->mesh);
}

// Extent of all pieces at the start.
static double extent(const lwi_view_ropes *ropes)
{
    double largest = 0;
    for (int i = 0; i < ropes->n; i++) {
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = (double)(ropes->p[i][1][k] - ropes->p[0][0][k]);
        largest = fmax(largest, v3_norm(d));
    }
    return largest;
}

// The shortest rotation from a unit vector to another.
static void rotation_to(const double a[3], const double b[3], double q[4])
{
    const double other[3] = {fabs(a[0]) < 0.9, fabs(a[0]) >= 0.9, 0};
    q[0] = 1 + v3_dot(a, b);
    v3_cross(q + 1, a, b);
    if (q[0] < 1e-12) q[0] = 0, v3_cross(q + 1, a, other); // opposite: about any axis across
    quat_normalize(q, q);
}

// Places a cylinder of length one along z; q: its rotation before, and here.
static void place_piece(const float p[2][3], double q[4], float to[10])
{
    double along[3], z[3], R[9], step[4], product[4];
    for (int k = 0; k < 3; k++) along[k] = (double)(p[1][k] - p[0][k]);
    const double length = v3_norm(along);
    quat_matrix(R, q);
    v3_set(z, R[2], R[5], R[8]);
    if (length > 0) {
        v3_scale(along, 1 / length, along);
        rotation_to(z, along, step);
        quat_mul(product, step, q);
        quat_normalize(q, product);
    }
    for (int k = 0; k < 3; k++) {
        to[k] = 0.5F * (p[0][k] + p[1][k]);
        to[3 + k] = (float)q[1 + k];
        to[7 + k] = k < 2 ? 1 : fmaxf((float)length, 1e-9F);
    }
    to[6] = (float)q[0];
}

static lw_status make_ropes(gltf *g, double radius)
{
    static const double brown[4] = {0.63, 0.44, 0.24, 1};
    const size_t n = (size_t)g->ropes.n, rows = (size_t)g->motion.nrow;
    if (!n) return LW_OK;
    g->piece = lwi_arena_push(&g->arena, n * rows, sizeof *g->piece);
    if (!g->piece) return lwi_fail(g->error, LW_ERR_MEMORY, "no memory for tendons");
    for (size_t i = 0; i < n; i++) {
        double q[4] = {1, 0, 0, 0};
        for (size_t r = 0; r < rows; r++)
            place_piece((const float(*)[3])g->ropes.p[n * r + i], q, g->piece[n * r + i]);
    }
    if (!(radius > 0)) radius = 0.005 * extent(&g->ropes);
    const surface wanted = {.type = LW_SHAPE_CYLINDER, .size = {radius > 0 ? radius : 1, 1}};
    return mesh_of(g, &wanted, brown, &g->rope);
}

static lw_status make_parts(gltf *g)
{
    const lw_model *m = g->model;
    size_t max_parts = (size_t)g->scene.nline + 2;
    double longest = 0;
    for (int b = 0; b < m->nbody; b++) max_parts += (size_t)m->desc.body[b].nshape;
    g->mesh = lwi_arena_push(&g->arena, max_parts, sizeof *g->mesh);
    g->part = lwi_arena_push(&g->arena, max_parts, sizeof *g->part);
    g->surface = lwi_arena_push(&g->arena, max_parts, sizeof *g->surface);
    bool *shown = LWI_PUSH(&g->arena, bool, m->nbody);
    g->max_parts = (int)max_parts;
    if (!g->mesh || !g->part || !g->surface || !shown)
        return lwi_fail(g->error, LW_ERR_MEMORY, "no memory for the parts");
    for (int b = 0; b < m->nbody; b++)
        for (int k = 0; k < m->desc.body[b].nshape; k++) {
            const lw_shape *s = &m->desc.body[b].shapes[k];
            shown[b] = shown[b] || lwi_view_shows(g->of_model, s);
            TRY(add_shape(g, b, s));
        }
    for (int i = 0; i < g->scene.nline; i++) {
        const lwi_plot_link *l = &g->scene.line[i];
        double d[3];
        v3_sub(d, l->p[1], l->p[0]);
        longest = fmax(longest, v3_norm(d));
    }
    for (int i = 0; i < g->scene.nline; i++)
        if (!shown[g->scene.line[i].body]) TRY(add_line(g, &g->scene.line[i], 0.04 * longest));
    return make_ropes(g, 0.006 * longest);
}

// ------------------------------------------------------------------------------------------- JSON

static void put_meshes(const gltf *g)
{
    if (!g->nmesh) return; // glTF does not allow empty lists
    fputs("\"materials\":[", g->file);
    for (int i = 0; i < g->nmesh; i++) {
        fprintf(g->file, "%s{\"pbrMetallicRoughness\":{\"baseColorFactor\":", i ? "," : "");
        lwi_view_numbers(g->file, g->mesh[i].color, 4);
        fprintf(g->file, ",\"metallicFactor\":0,\"roughnessFactor\":0.7}%s}",
                g->mesh[i].color[3] < 1 ? ",\"alphaMode\":\"BLEND\"" : "");
    }
    fputs("],\n\"meshes\":[", g->file);
    for (int i = 0; i < g->nmesh; i++)
        fprintf(g->file,
                "%s{\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},\"indices\":%d,"
                "\"material\":%d}]}",
                i ? "," : "", 3 * g->mesh[i].surface, 3 * g->mesh[i].surface + 1,
                3 * g->mesh[i].surface + 2, i);
    fputs("],\n", g->file);
}

static void put_pose(const gltf *g, const double *r, const double *q)
{
    const double xyzw[4] = {q[1], q[2], q[3], q[0]}; // glTF: scalar last
    fputs("\"translation\":", g->file);
    lwi_view_numbers(g->file, r, 3);
    fputs(",\"rotation\":", g->file);
    lwi_view_numbers(g->file, xyzw, 4);
}

// Node 0: the world.  Nodes 1 ... n - 1: bodies (parts of the ground are children of the world).  Then the parts.
static void put_nodes(const gltf *g)
{
    const lw_model *m = g->model;
    const double *gravity = m->gravity, size = v3_norm(gravity);
    double up[3] = {0, 0, 1}, q[4], own[4];
    static const double nowhere[3] = {0, 0, 0};
    if (size > 0) v3_scale(up, -1 / size, gravity);
    // rotation from up to y; from -y: 180 degrees about x
    double turn[4] = {1 + up[1], -up[2], 0, up[0]};
    if (turn[0] < 1e-12) turn[0] = 0, turn[1] = 1, turn[3] = 0;
    quat_normalize(q, turn);
    fputs("\"nodes\":[{\"name\":\"world\",", g->file);
    put_pose(g, nowhere, q);
    if (m->nbody > 1 || g->npart || g->ropes.n) {
        const char *between = "";
        fputs(",\"children\":[", g->file);
        for (int b = 1; b < m->nbody; b++, between = ",") fprintf(g->file, "%s%d", between, b);
        for (int i = 0; i < g->npart; i++)
            if (g->part[i].body == 0)
                fprintf(g->file, "%s%d", between, m->nbody + i), between = ",";
        for (int i = 0; i < g->ropes.n; i++, between = ",")
            fprintf(g->file, "%s%d", between, m->nbody + g->npart + i);
        fputs("]", g->file);
    }
    fputs("}", g->file);
    for (int b = 1; b < m->nbody; b++) {
        const float *p = g->motion.position + 3 * b, *o = g->motion.rotation + 4 * b;
        const char *between = ",\"children\":[";
        fputs(",\n{\"name\":", g->file);
        lwi_view_text(g->file, m->body[b].name);
        fputc(',', g->file);
        put_pose(g, (const double[3]){p[0], p[1], p[2]}, (const double[4]){o[0], o[1], o[2], o[3]});
        for (int i = 0; i < g->npart; i++)
            if (g->part[i].body == b) {
                fprintf(g->file, "%s%d", between, m->nbody + i);
                between = ",";
            }
        fprintf(g->file, "%s}", *between == ',' && between[1] == 0 ? "]" : "");
    }
    for (int i = 0; i < g->npart; i++) {
        quat_from_matrix(own, g->part[i].R);
        fprintf(g->file, ",\n{\"mesh\":%d,", g->part[i].mesh);
        put_pose(g, g->part[i].r, own);
        const double *scale = g->part[i].scale;
        if (scale[0] != 1 || scale[1] != 1 || scale[2] != 1) {
            fputs(",\"scale\":", g->file);
            lwi_view_numbers(g->file, scale, 3);
        }
        fputs("}", g->file);
    }
    for (int i = 0; i < g->ropes.n; i++) {
        double x[10];
        for (int k = 0; k < 10; k++) x[k] = (double)g->piece[i][k];
        fprintf(g->file, ",\n{\"name\":\"tendon\",\"mesh\":%d,", g->rope);
        put_pose(g, x, (const double[4]){x[6], x[3], x[4], x[5]});
        fputs(",\"scale\":", g->file);
        lwi_view_numbers(g->file, x + 7, 3);
        fputs("}", g->file);
    }
    fputs("],\n", g->file);
}

static int series_count(const gltf *g)
{
    return 2 * (g->model->nbody - 1) + 3 * g->ropes.n;
}

// What is moved: bodies have translations and rotations, pieces of tendons scales in addition.  Series k of them.
static int series_width(const gltf *g, int k)
{
    const int body = 2 * (g->model->nbody - 1);
    return k < body ? 3 + k % 2 : (k - body) % 3 == 1 ? 4 : 3;
}

static bool moves(const gltf *g)
{
    return g->motion.nrow > 1 && series_count(g) > 0;
}

static void put_animation(const gltf *g)
{
    static const char *const path[] = {"translation", "rotation", "scale"};
    const int first = 3 * g->nsurface, n = series_count(g), body = 2 * (g->model->nbody - 1);
    if (!moves(g)) return;
    fputs("\"animations\":[{\"name\":\"motion\",\"channels\":[", g->file);
    for (int k = 0; k < n; k++) {
        const int rope = k - body;
        const int node = rope < 0 ? 1 + k / 2 : g->model->nbody + g->npart + rope / 3;
        fprintf(g->file, "%s{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}",
                k ? "," : "", k, node, path[rope < 0 ? k % 2 : rope % 3]);
    }
    fputs("],\"samplers\":[", g->file);
    for (int k = 0; k < n; k++)
        fprintf(g->file, "%s{\"input\":%d,\"output\":%d}", k ? "," : "", first, first + 1 + k);
    fputs("]}],\n", g->file);
}

// Accessor i has bufferView i.
static void put_accessors(gltf *g)
{
    const int n = moves(g) ? 1 + series_count(g) : 0; // the times first
    const size_t rows = (size_t)g->motion.nrow;
    size_t at = g->size;
    fputs("\"accessors\":[", g->file);
    for (int i = 0; i < g->nsurface; i++) {
        const surface *m = &g->surface[i];
        double low[3], high[3];
        for (int k = 0; k < 3; k++) low[k] = high[k] = m->p[0][k];
        for (int p = 0; p < m->np; p++)
            for (int k = 0; k < 3; k++)
                low[k] = fmin(low[k], m->p[p][k]), high[k] = fmax(high[k], m->p[p][k]);
        fprintf(
            g->file,
            "%s{\"bufferView\":%d,\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\",\"min\":",
            i ? ",\n" : "", 3 * i, m->np);
        lwi_view_numbers(g->file, low, 3);
        fputs(",\"max\":", g->file);
        lwi_view_numbers(g->file, high, 3);
        fprintf(g->file,
                "},{\"bufferView\":%d,\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"},"
                "{\"bufferView\":%d,\"componentType\":%d,\"count\":%d,\"type\":\"SCALAR\"}",
                3 * i + 1, m->np, 3 * i + 2, m->wide ? 5125 : 5123, m->nindex);
    }
    for (int k = 0; k < n; k++) {
        const char *type = k == 0 ? "SCALAR" : series_width(g, k - 1) == 3 ? "VEC3" : "VEC4";
        fprintf(g->file,
                "%s{\"bufferView\":%d,\"componentType\":5126,\"count\":%zu,\"type\":\"%s\"",
                g->nsurface || k ? ",\n" : "", 3 * g->nsurface + k, rows, type);
        if (k == 0)
            fprintf(g->file, ",\"min\":[%.9g],\"max\":[%.9g]",
                    (double)(float)(g->motion.time[0] - g->motion.time[0]),
                    (double)(float)(g->motion.time[rows - 1] - g->motion.time[0]));
        fputs("}", g->file);
    }
    fputs("],\n\"bufferViews\":[", g->file);
    for (int i = 0; i < g->nsurface; i++) {
        const surface *m = &g->surface[i];
        const size_t points = (size_t)m->np * 12;
        fprintf(g->file,
                "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"target\":34962},"
                "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"target\":34962},"
                "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"target\":34963}",
                i ? ",\n" : "", m->at, points, m->at + points, points, m->at + 2 * points,
                index_bytes(m));
    }
    for (int k = 0; k < n; k++) {
        const size_t bytes = rows * (k == 0 ? 4 : 4 * (size_t)series_width(g, k - 1));
        fprintf(g->file, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}",
                g->nsurface || k ? ",\n" : "", at, bytes);
        at += bytes;
    }
    g->size = at;
    fputs("],\n", g->file);
}

static void put_ropes(const gltf *g, lwi_view_base64 *b)
{
    static const int from[] = {0, 3, 7, 10};
    const size_t n = (size_t)g->ropes.n, rows = (size_t)g->motion.nrow;
    for (size_t i = 0; rows > 1 && i < n; i++)
        for (int k = 0; k < 3; k++)
            for (size_t r = 0; r < rows; r++)
                lwi_view_base64_put(b, g->piece[n * r + i] + from[k],
                                    (size_t)(from[k + 1] - from[k]) * sizeof(float));
}

static void put_buffer(const gltf *g)
{
    const int n = g->model->nbody;
    const long rows = g->motion.nrow;
    static const unsigned char zero[4] = {0};
    lwi_view_base64 b = {.file = g->file};
    fprintf(g->file,
            "\"buffers\":[{\"byteLength\":%zu,\"uri\":\"data:application/octet-stream;base64,",
            g->size);
    for (int i = 0; i < g->nsurface; i++) {
        const surface *m = &g->surface[i];
        lwi_view_base64_put(&b, m->p, (size_t)m->np * 12);
        lwi_view_base64_put(&b, m->n, (size_t)m->np * 12);
        lwi_view_base64_put(&b, m->wide ? (const void *)m->wide : m->index, index_bytes(m));
        if (index_bytes(m) % 4) lwi_view_base64_put(&b, zero, 2);
    }
    for (long r = 0; moves(g) && r < rows; r++) {
        const float t = (float)(g->motion.time[r] - g->motion.time[0]);
        lwi_view_base64_put(&b, &t, sizeof t);
    }
    for (int body = 1; rows > 1 && body < n; body++) {
        for (long r = 0; r < rows; r++)
            lwi_view_base64_put(&b, g->motion.position + 3 * ((size_t)r * (size_t)n + (size_t)body),
                                12);
        for (long r = 0; r < rows; r++) {
            const float *q = g->motion.rotation + 4 * ((size_t)r * (size_t)n + (size_t)body);
            const float xyzw[4] = {q[1], q[2], q[3], q[0]};
            lwi_view_base64_put(&b, xyzw, sizeof xyzw);
        }
    }
    put_ropes(g, &b);
    lwi_view_base64_end(&b);
    fputs("\"}]\n", g->file);
}

static lw_status put_gltf(gltf *g, double max_bytes, lw_result *result)
{
    int pieces;
    TRY(lwi_view_rope_count(g->model, &g->arena, &pieces, g->error));
    // a piece of a tendon takes 24 bytes here and 40 in the file
    const double poses = lwi_view_row_bytes(g->model), all = poses + 64.0 * pieces;
    TRY(lwi_view_motion_read(g->model, result, max_bytes * poses / all, &g->arena, &g->motion,
                             g->error));
    TRY(lwi_view_ropes_read(g->model, &g->motion, &g->arena, &g->ropes, g->error));
    TRY(lwi_view_scene(g->model, &g->arena, &g->scene, g->error));
    TRY(lwi_view_meshes(g->model, g->desc, &g->arena, &g->of_model, g->error));
    TRY(make_parts(g));
    if (!g->nmesh && (g->motion.nrow < 2 || g->model->nbody < 2))
        return lwi_fail(g->error, LW_ERR_UNSUPPORTED,
                        "the model has nothing to draw: no shape, no joint, no motion");
    fputs("{\"asset\":{\"version\":\"2.0\",\"generator\":\"linkwork\"},\n\"scene\":0,\n"
          "\"scenes\":[{\"nodes\":[0]}],\n",
          g->file);
    put_nodes(g);
    put_meshes(g);
    put_animation(g);
    put_accessors(g);
    put_buffer(g);
    fputs("}\n", g->file);
    if (ferror(g->file)) return lwi_fail(g->error, LW_ERR_IO, "the file cannot be written whole");
    return LW_OK;
}

lw_status lw_view_gltf(const lw_model *model, lw_result *result, const lw_view_desc *desc,
                       FILE *file, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_view_desc, desc, error);
    lw_error none;
    lwi_numbers numbers;
    if (!error) error = &none;
    *error = (lw_error){0};
    if (!model || !file) return lwi_fail(error, LW_ERR_ARGUMENT, "model and file must be given");
    gltf g = {.model = model, .file = file, .error = error, .desc = desc};
    if (!lwi_numbers_begin(&numbers)) return lwi_fail(error, LW_ERR_MEMORY, "out of memory");
    lwi_arena_init(&g.arena, &model->arena.allocator);
    const lw_status status =
        put_gltf(&g, desc->max_bytes > 0 ? desc->max_bytes : LWI_VIEW_MAX_BYTES, result);
    lwi_arena_free(&g.arena);
    lwi_numbers_end(&numbers);
    return status;
}
