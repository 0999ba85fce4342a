// mesh.c -- the meshes of a model ready to draw.
//
// The normal of a corner of a triangle is the sum of the normals, by area, of the triangles at this vertex that are
// within 40 degrees of the first of them; corners of one sum share a vertex.  So round surfaces are drawn smooth, and edges
// sharp.
#include "view/mesh.h"

#include "io/mesh/mesh.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EDGE 0.766                 // cosine of 40 degrees
enum { MAX_SUMS = 16, NONE = -1 }; // normals of one vertex; more are joined with the last

// ----------------------------------------------------------------------------------------- normals

typedef struct corners {
    const lwi_mesh *mesh;
    lwi_view_mesh *to;
    int *first, *next; // lists of corners by vertex: [nvertex], [3 ntriangle]
} corners;

// Normal of a triangle, its length the double area.
static void normal_of(const lwi_mesh *m, int triangle, double *n)
{
    const int *t = m->triangle[triangle];
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (double)m->vertex[t[1]][k] - (double)m->vertex[t[0]][k];
        v[k] = (double)m->vertex[t[2]][k] - (double)m->vertex[t[0]][k];
    }
    v3_cross(n, u, v);
}

static bool list_corners(corners *c, lwi_arena *work)
{
    const lwi_mesh *m = c->mesh;
    c->first = LWI_PUSH(work, int, m->nvertex);
    c->next = LWI_PUSH(work, int, 3 * (size_t)m->ntriangle);
    if (!c->first || !c->next) return false;
    for (int i = 0; i < m->nvertex; i++) c->first[i] = NONE;
    for (int i = 3 * m->ntriangle - 1; i >= 0; i--) {
        int *list = &c->first[m->triangle[i / 3][i % 3]];
        c->next[i] = *list;
        *list = i;
    }
    return true;
}

// Vertices of the result for one vertex: sums of the normals of its corners.
static void split(const corners *c, int vertex)
{
    lwi_view_mesh *to = c->to;
    double sum[MAX_SUMS][3], lead[MAX_SUMS][3];
    const int base = to->np;
    int count = 0;
    for (int i = c->first[vertex]; i != NONE; i = c->next[i]) {
        double n[3], unit[3];
        normal_of(c->mesh, i / 3, n);
        const double length = v3_norm(n);
        v3_scale(unit, length > 0 ? 1 / length : 0, n);
        int k = 0;
        while (k < count && !(v3_dot(unit, lead[k]) > EDGE) && length > 0) k++;
        if (k == MAX_SUMS) k--;
        if (k == count) {
            v3_set(sum[k], 0, 0, 0);
            v3_copy(lead[k], unit);
            memcpy(to->p[to->np++], c->mesh->vertex[vertex], sizeof *to->p);
            count++;
        }
        v3_add(sum[k], sum[k], n);
        to->t[i / 3][i % 3] = base + k;
    }
    for (int k = 0; k < count; k++) {
        const double length = v3_norm(sum[k]);
        for (int j = 0; j < 3; j++)
            to->n[base + k][j] = length > 0 ? (float)(sum[k][j] / length) : (float)(j == 2);
    }
}

static bool smooth(const lwi_mesh *m, lwi_arena *arena, lwi_arena *work, lwi_view_mesh *to)
{
    corners c = {.mesh = m, .to = to};
    const size_t n = 3 * (size_t)m->ntriangle; // at most one vertex for each corner
    to->p = lwi_arena_push(arena, n, sizeof *to->p);
    to->n = lwi_arena_push(arena, n, sizeof *to->n);
    to->t = lwi_arena_push(arena, (size_t)m->ntriangle, sizeof *to->t);
    if (!to->p || !to->n || !to->t || !list_corners(&c, work)) return false;
    to->nt = m->ntriangle;
    for (int i = 0; i < m->nvertex; i++) split(&c, i);
    return true;
}

static void centre(lwi_view_mesh *m)
{
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < m->np; i++) low = fmin(low, m->p[i][k]), high = fmax(high, m->p[i][k]);
        m->middle[k] = low / 2 + high / 2;
        m->half[k] = high / 2 - low / 2;
        for (int i = 0; i < m->np; i++) m->p[i][k] = (float)(m->p[i][k] - m->middle[k]);
    }
}

// ----------------------------------------------------------------------------------------- reading

typedef struct loading {
    const lw_model *model;
    const lw_view_desc *desc;
    lwi_arena *arena;
    lw_error *error;
    double bytes, max_bytes;
} loading;

static void report(const loading *l, const lw_mesh_desc *d, const char *why)
{
    char text[600];
    if (!l->desc->report) return;
    snprintf(text, sizeof text, "mesh '%.300s' is not drawn: %.250s", d->file ? d->file : "", why);
    l->desc->report(l->desc->user, text);
}

static lw_status load(const lw_mesh_desc *d, lwi_arena *work, lwi_mesh *m, lw_error *error)
{
    if (d->file) {
        TRY(lwi_mesh_read(d->file, work, m, error));
    } else {
        m->vertex = lwi_arena_push(work, (size_t)d->nvertex, sizeof *m->vertex);
        m->triangle = lwi_arena_push(work, (size_t)d->ntriangle, sizeof *m->triangle);
        if (!m->vertex || !m->triangle)
            return lwi_fail(error, LW_ERR_MEMORY, "no memory for a mesh");
        m->nvertex = d->nvertex, m->ntriangle = d->ntriangle;
        memcpy(m->vertex, d->vertices, (size_t)m->nvertex * sizeof *m->vertex);
        if (m->ntriangle)
            memcpy(m->triangle, d->triangles, (size_t)m->ntriangle * sizeof *m->triangle);
    }
    return m->ntriangle ? LW_OK : lwi_mesh_hull(m, work, &m->triangle, &m->ntriangle, error);
}

static lw_status add(loading *l, const lw_mesh_desc *d, lwi_arena *work, lwi_view_mesh *to)
{
    enum { CORNER = 2 * 3 * 4 + 4 }; // bytes, before packing: position, normal, index
    lwi_mesh m = {0};
    lw_error error = {0};
    const lw_status status = load(d, work, &m, &error);
    if (status == LW_ERR_MEMORY) return lwi_fail(l->error, LW_ERR_MEMORY, "no memory for a mesh");
    if (status != LW_OK) {
        char text[300];
        const int n = error.line ? snprintf(text, sizeof text, "line %d: ", error.line) : 0;
        snprintf(text + n, sizeof text - (size_t)n, "%.230s", error.text);
        report(l, d, text);
        return LW_OK;
    }
    const double bytes = 3.0 * m.ntriangle * CORNER;
    if (l->bytes + bytes > l->max_bytes) {
        char text[200];
        snprintf(text, sizeof text, "its %d triangles exceed the limit of %.0f MB for all meshes",
                 m.ntriangle, l->max_bytes / 1e6);
        report(l, d, text);
        return LW_OK;
    }
    if (!smooth(&m, l->arena, work, to))
        return lwi_fail(l->error, LW_ERR_MEMORY, "no memory for a mesh");
    centre(to);
    l->bytes += bytes;
    to->drawn = true;
    return LW_OK;
}

lw_status lwi_view_meshes(const lw_model *model, const lw_view_desc *desc, lwi_arena *arena,
                          lwi_view_mesh **list, lw_error *error)
{
    loading l = {.model = model,
                 .desc = desc,
                 .arena = arena,
                 .error = error,
                 .max_bytes = desc->max_bytes > 0 ? desc->max_bytes : LWI_VIEW_MAX_BYTES};
    bool *tried = LWI_PUSH(arena, bool, model->desc.nmesh + 1);
    *list = LWI_PUSH(arena, lwi_view_mesh, model->desc.nmesh + 1);
    if (!*list || !tried) return lwi_fail(error, LW_ERR_MEMORY, "no memory for meshes");
    for (int b = 0; b < model->nbody; b++)
        for (int k = 0; k < model->desc.body[b].nshape; k++) {
            const lw_shape *s = &model->desc.body[b].shapes[k];
            const int i = s->mesh.index;
            if (s->type != LW_SHAPE_MESH || tried[i]) continue;
            lwi_arena work;
            tried[i] = true;
            lwi_arena_init(&work, &model->arena.allocator);
            const lw_status status = add(&l, &model->desc.mesh[i - 1], &work, &(*list)[i]);
            lwi_arena_free(&work);
            TRY(status);
        }
    return LW_OK;
}

void lwi_view_place(const lw_body_desc *d, const lw_shape *s, const lwi_view_mesh *meshes,
                    double *R, double *r)
{
    lwi_view_shape(d, s, R, r);
    if (s->type != LW_SHAPE_MESH) return;
    double middle[3], shift[3];
    for (int k = 0; k < 3; k++) middle[k] = s->size[k] * meshes[s->mesh.index].middle[k];
    m3_mul_v(shift, R, middle);
    v3_add(r, r, shift);
}
