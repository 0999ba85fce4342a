// solid.c -- volume, mass centre and inertia of a mesh by integrals over its triangles.
//
// The pyramid from an apex o to a triangle a b c has the volume V = (a-o) . ((b-o) x (c-o)) / 6, its centre is
// o + (a + b + c - 3o) / 4, and the integral of x x' over it, from the apex, is
//     V/20 (2 (a a' + b b' + c c') + a b' + b a' + b c' + c b' + c a' + a c')
// [tonon2004].  Signed, they add up to the volume inside a closed surface for any apex.  `legacy` takes the amounts, from
// the centre of the surface for the volume's centre, then from this one for the inertia, as MuJoCo does.  A shell has
// areas in place of volumes, and 12 in place of 20.
#include "io/mesh/mesh.h"

#include "spatial/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Smaller volumes [m^3] and areas [m^2] are refused, as by MuJoCo. */
#define SMALLEST 1e-15

typedef struct integrals {
    const double (*x)[3];
    const int (*t)[3];
    int n;
    lwi_mesh_fill fill;
    bool mirrored; ///< the scale mirrors, and reverses the triangles
} integrals;

// Corners of a triangle from an origin; returns its signed volume, or its area.
static double corners(const integrals *s, int i, const double *from, double c[3][3])
{
    double n[3], u[3], v[3];
    for (int k = 0; k < 3; k++) v3_sub(c[k], s->x[s->t[i][k]], from);
    v3_sub(u, c[1], c[0]);
    v3_sub(v, c[2], c[0]);
    v3_cross(n, u, v);
    if (s->fill == LWI_MESH_SHELL) return v3_norm(n) / 2;
    const double volume = v3_dot(c[0], n) / (s->mirrored ? -6 : 6);
    return s->fill == LWI_MESH_LEGACY ? fabs(volume) : volume;
}

// Centre of the area.
static double surface(const integrals *s, double *centre)
{
    static const double zero[3] = {0};
    integrals shell = *s;
    double area = 0, c[3][3];
    shell.fill = LWI_MESH_SHELL;
    v3_set(centre, 0, 0, 0);
    for (int i = 0; i < s->n; i++) {
        const double part = corners(&shell, i, zero, c);
        area += part;
        for (int k = 0; k < 3; k++) v3_axpy(centre, part / 3, c[k]);
    }
    if (area > 0) v3_scale(centre, 1 / area, centre);
    return area;
}

// Centre of the volume, from pyramids with this apex.
static double volume_of(const integrals *s, const double *apex, double *centre)
{
    double volume = 0, c[3][3], sum[3] = {0};
    for (int i = 0; i < s->n; i++) {
        const double part = corners(s, i, apex, c);
        volume += part;
        for (int k = 0; k < 3; k++) v3_axpy(sum, part / 4, c[k]);
    }
    v3_scale(sum, volume != 0 ? 1 / volume : 0, sum);
    v3_add(centre, apex, sum);
    return volume;
}

// Inertia about a point; also returns the volume again, from pyramids with this apex.
static double inertia_about(const integrals *s, const double *apex, double *I)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const double share = s->fill == LWI_MESH_SHELL ? 12 : 20;
    double volume = 0, c[3][3], P[6] = {0};
    for (int i = 0; i < s->n; i++) {
        const double part = corners(s, i, apex, c);
        double sum[3];
        for (int k = 0; k < 3; k++) sum[k] = c[0][k] + c[1][k] + c[2][k];
        volume += part;
        for (int j = 0; j < 6; j++) {
            double product = sum[row[j]] * sum[column[j]];
            for (int k = 0; k < 3; k++) product += c[k][row[j]] * c[k][column[j]];
            P[j] += part / share * product;
        }
    }
    I[0] = P[1] + P[2], I[1] = P[0] + P[2], I[2] = P[0] + P[1];
    I[3] = -P[3], I[4] = -P[4], I[5] = -P[5];
    return volume;
}

// ----------------------------------------------------------------------------------------- meshes

static void map_vertex(const lwi_mesh_map *map, const float *v, double *x)
{
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = (double)v[k] - map->position[k];
    m3_tmul_v(x, map->R, d);
    for (int k = 0; k < 3; k++) x[k] *= map->scale[k];
}

static int by_edge(const void *a, const void *b)
{
    const int *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

// An edge that two triangles pass in the same direction separates triangles of different orientation.
static lw_status check_orientation(const integrals *s, lwi_arena *arena, lw_error *error)
{
    static const double zero[3] = {0};
    int(*edge)[2] = lwi_arena_push(arena, 3 * (size_t)s->n, sizeof *edge);
    integrals shell = *s;
    double c[3][3];
    int n = 0;
    if (!edge) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a mesh");
    shell.fill = LWI_MESH_SHELL;
    for (int i = 0; i < s->n; i++) {
        if (corners(&shell, i, zero, c) < sqrt(SMALLEST)) continue; // as MuJoCo does
        for (int k = 0; k < 3; k++) edge[n][0] = s->t[i][k], edge[n][1] = s->t[i][(k + 1) % 3], n++;
    }
    qsort(edge, (size_t)n, sizeof *edge, by_edge);
    for (int i = 1; i < n; i++)
        if (by_edge(edge[i - 1], edge[i]) == 0)
            return lwi_fail(error, LW_ERR_MODEL,
                            "two triangles pass the edge from vertex %d to %d in the same "
                            "direction, so that inside and outside are not defined",
                            edge[i][0] + 1, edge[i][1] + 1);
    return LW_OK;
}

// --------------------------------------------------------------------------------- closed surfaces

// Vertices with coordinates that differ by less, relative to the largest, are the same: some eight steps of single precision.
#define SAME 1e-6

typedef struct place {
    float value;   // of the coordinate that is sorted
    int number[3]; // of each coordinate: the number of its value among those that differ
    int vertex;
} place;

static int by_value(const void *a, const void *b)
{
    const place *p = a, *q = b;
    return (p->value > q->value) - (p->value < q->value);
}

static int by_numbers(const void *a, const void *b)
{
    const place *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->number[k] != q->number[k])
            return (p->number[k] > q->number[k]) - (p->number[k] < q->number[k]);
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

// Of each vertex the first one that has its place.
static int *joined_vertices(const lwi_mesh *m, lwi_arena *arena)
{
    const size_t n = (size_t)m->nvertex;
    place *at = lwi_arena_push(arena, n, sizeof *at);
    int *first = lwi_arena_push(arena, n, sizeof *first);
    double largest = 0;
    if (!at || !first) return NULL;
    for (size_t i = 0; i < n; i++) {
        at[i].vertex = (int)i;
        for (int k = 0; k < 3; k++) largest = fmax(largest, fabs((double)m->vertex[i][k]));
    }
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < n; i++) at[i].value = m->vertex[at[i].vertex][k];
        qsort(at, n, sizeof *at, by_value);
        for (size_t i = 0, number = 0; i < n; i++) {
            if (i > 0 && (double)at[i].value - (double)at[i - 1].value > SAME * largest) number++;
            at[i].number[k] = (int)number;
        }
    }
    qsort(at, n, sizeof *at, by_numbers);
    for (size_t i = 0, begin = 0; i < n; i++) {
        if (memcmp(at[begin].number, at[i].number, sizeof at[i].number) != 0) begin = i;
        first[at[i].vertex] = at[begin].vertex;
    }
    return first;
}

// Every edge has as many triangles in one direction as in the other.
static lw_status check_closed(const lwi_mesh *m, lwi_arena *arena, lw_error *error)
{
    int(*edge)[2] = lwi_arena_push(arena, 3 * (size_t)m->ntriangle, sizeof *edge);
    int(*back)[2] = lwi_arena_push(arena, 3 * (size_t)m->ntriangle, sizeof *back);
    const int *first = joined_vertices(m, arena);
    int n = 0;
    if (!edge || !back || !first) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a mesh");
    for (int i = 0; i < 3 * m->ntriangle; i++) {
        const int *t = m->triangle[i / 3], a = first[t[i % 3]], b = first[t[(i + 1) % 3]];
        if (a == b) continue;
        edge[n][0] = back[n][1] = a, edge[n][1] = back[n][0] = b, n++;
    }
    qsort(edge, (size_t)n, sizeof *edge, by_edge);
    qsort(back, (size_t)n, sizeof *back, by_edge);
    for (int i = 0; i < n; i++) {
        const int order = by_edge(edge[i], back[i]);
        const int *alone = order < 0 ? edge[i] : back[i]; // the other list is already behind it
        if (order == 0) continue;
        // by places: files number vertices from 0, from 1, or not at all
        const float *p = m->vertex[alone[0]], *q = m->vertex[alone[1]];
        return lwi_fail(error, LW_ERR_MODEL,
                        "the surface is open at the edge from (%g, %g, %g) to (%g, %g, %g), "
                        "expected a closed one",
                        (double)p[0], (double)p[1], (double)p[2], (double)q[0], (double)q[1],
                        (double)q[2]);
    }
    return LW_OK;
}

lw_status lwi_mesh_check_closed(const lwi_mesh *mesh, const lw_allocator *allocator,
                                lw_error *error)
{
    lwi_arena arena;
    lwi_arena_init(&arena, allocator);
    const lw_status status = check_closed(mesh, &arena, error);
    lwi_arena_free(&arena);
    return status;
}

static lw_status integrate(const integrals *s, const double *centre, lwi_mesh_solid *solid,
                           lw_error *error)
{
    const bool shell = s->fill == LWI_MESH_SHELL;
    const double first = shell ? surface(s, solid->com) : volume_of(s, centre, solid->com);
    if (!(first >= SMALLEST))
        return lwi_fail(error, LW_ERR_MODEL,
                        first < 0 ? "its volume is %g m^3: the triangles are oriented inwards"
                        : shell   ? "its area is %g m^2, too small"
                                  : "its volume is %g m^3, too small",
                        first);
    solid->volume = inertia_about(s, solid->com, solid->inertia);
    if (isfinite(solid->volume) && isfinite(v3_dot(solid->inertia, solid->inertia))) return LW_OK;
    return lwi_fail(error, LW_ERR_MODEL, "its volume or inertia is not finite");
}

static lw_status solid_of(const lwi_mesh *mesh, lwi_mesh_fill fill, const lwi_mesh_map *map,
                          lwi_arena *arena, lwi_mesh_solid *solid, lw_error *error)
{
    const double *a = map->scale;
    double(*x)[3] = lwi_arena_push(arena, (size_t)mesh->nvertex, sizeof *x);
    integrals s = {.t = (const int(*)[3])mesh->triangle,
                   .n = mesh->ntriangle,
                   .fill = fill,
                   .mirrored = a[0] * a[1] * a[2] < 0};
    if (!x) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a mesh");
    for (int i = 0; i < mesh->nvertex; i++) map_vertex(map, mesh->vertex[i], x[i]);
    s.x = (const double(*)[3])x;
    if (fill == LWI_MESH_CONVEX || !s.n) {
        int(*triangle)[3];
        TRY(lwi_mesh_hull(mesh, arena, &triangle, &s.n, error));
        s.t = (const int(*)[3])triangle;
    }
    if (fill == LWI_MESH_EXACT) TRY(check_orientation(&s, arena, error));
    double centre[3];
    const double area = surface(&s, centre);
    if (!(area >= SMALLEST))
        return lwi_fail(error, LW_ERR_MODEL, "its surface is %g m^2, too small", area);
    return integrate(&s, centre, solid, error);
}

lw_status lwi_mesh_solid_of(const lwi_mesh *mesh, lwi_mesh_fill fill, const lwi_mesh_map *map,
                            const lw_allocator *allocator, lwi_mesh_solid *solid, lw_error *error)
{
    lwi_arena arena;
    lwi_arena_init(&arena, allocator);
    const lw_status status = solid_of(mesh, fill, map, &arena, solid, error);
    lwi_arena_free(&arena);
    return status;
}

void lwi_mesh_extent(const lwi_mesh *mesh, const lwi_mesh_map *map, const double *origin,
                     const double *R, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int i = 0; i < mesh->nvertex; i++) {
        double x[3], p[3];
        map_vertex(map, mesh->vertex[i], x);
        v3_sub(x, x, origin);
        m3_tmul_v(p, R, x);
        for (int k = 0; k < 3; k++) low[k] = fmin(low[k], p[k]), high[k] = fmax(high[k], p[k]);
    }
}

// ---------------------------------------------------------------------------------- principal axes

// A rotation in the plane i, j that makes A_ij zero: A := Q' A Q, R := R Q.
static void rotate(double A[3][3], double R[9], int i, int j)
{
    if (A[i][j] == 0) return;
    const double theta = (A[j][j] - A[i][i]) / (2 * A[i][j]);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / hypot(t, 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        const double a = A[k][i], b = A[k][j], r = R[3 * k + i], q = R[3 * k + j];
        A[k][i] = c * a - s * b, A[k][j] = s * a + c * b;
        R[3 * k + i] = c * r - s * q, R[3 * k + j] = s * r + c * q;
    }
    for (int k = 0; k < 3; k++) {
        const double a = A[i][k], b = A[j][k];
        A[i][k] = c * a - s * b, A[j][k] = s * a + c * b;
    }
}

void lwi_mesh_principal(const double *I, double value[3], double R[9])
{
    enum { SWEEPS = 20 }; // the elements outside the diagonal vanish quadratically
    double A[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}}, V[9];
    int order[3] = {0, 1, 2};
    m3_identity(V);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        rotate(A, V, 0, 1);
        rotate(A, V, 0, 2);
        rotate(A, V, 1, 2);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (A[order[j]][order[j]] < A[order[j + 1]][order[j + 1]]) {
                const int swap = order[j];
                order[j] = order[j + 1], order[j + 1] = swap;
            }
    for (int j = 0; j < 3; j++) {
        value[j] = A[order[j]][order[j]];
        for (int k = 0; k < 3; k++) R[3 * k + j] = V[3 * k + order[j]];
    }
    const double x[3] = {R[0], R[3], R[6]}, y[3] = {R[1], R[4], R[7]}, z[3] = {R[2], R[5], R[8]};
    double n[3];
    v3_cross(n, x, y);
    for (int k = 0; k < 3 && v3_dot(n, z) < 0; k++) R[3 * k + 2] = -R[3 * k + 2];
}
