// hull.c -- convex hull of the vertices of a mesh by quickhull [barber1996], with exact signs.
//
// Vertices are rounded to a grid of 2^40 steps along the longest side of their box; on it the side of a plane on which a
// point is, the sign of a determinant of order three of differences, is an exact integer of at largest 126 bits.  So the
// hull is a valid polytope for any input: no tolerance, no merging of faces.  Points in the plane of a face or
// inside are dropped.  The result differs from the hull of the unrounded points by a relative 1e-12.
//
// A face has the points above it that no earlier face has.  While there are such faces: the farthest point of one is
// above some faces, which are connected; they are replaced by the triangles from the point to the edges of their region (its
// horizon), and their points are given to these.
#include "io/mesh/mesh.h"

#include "base/assert.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { NONE = -1, GRID_BITS = 40 };

typedef struct face {
    int corner[3]; // counter-clockwise from outside
    int beyond[3]; // face beyond the edge from corner k to k + 1
    wide normal[3];
    int above;   // list of points, the farthest first; NONE: no point
    wide height; // of the first
    bool alive, seen;
    bool queued; // on the list of faces with points above; stays there when it dies
    int later;   // next on that list
    int next;    // on the list of faces below a point, or of unused ones
} face;

typedef struct hull {
    const lw_allocator *allocator;
    int64_t (*p)[3]; // [npoint]
    int *next;       // [npoint] lists of points
    int *at;         // [npoint] new face with a horizon edge that begins here
    int npoint;
    face *face;
    int nface, room, nalive;
    int unused, pending; // first of the lists
    int *edge; // horizon: face beyond and its edge, in pairs; also the stack of the search
    int nedge, edge_room;
} hull;

// --------------------------------------------------------------------------------------- geometry

static void cross(wide *n, const int64_t *a, const int64_t *b, const int64_t *c)
{
    int64_t u[3], v[3];
    for (int k = 0; k < 3; k++) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = (wide)u[i] * v[j] - (wide)u[j] * v[i];
    }
}

// Height of a point above a plane through `a`, times the length of its normal.
static wide height_above(const wide *normal, const int64_t *a, const int64_t *point)
{
    wide sum = 0;
    for (int k = 0; k < 3; k++) sum += normal[k] * (point[k] - a[k]);
    return sum;
}

static wide height(const hull *h, const face *f, int point)
{
    return height_above(f->normal, h->p[f->corner[0]], h->p[point]);
}

// ------------------------------------------------------------------------------------------ memory

// Doubles a list.
static bool grow(const lw_allocator *allocator, void **list, int *room, size_t size)
{
    const int larger = *room ? 2 * *room : 64;
    void *block = *room < (1 << 29) ? lwi_allocate(allocator, (size_t)larger * size) : NULL;
    if (!block) return false;
    if (*list) memcpy(block, *list, (size_t)*room * size);
    lwi_release(allocator, *list);
    *list = block;
    *room = larger;
    return true;
}

static int add_face(hull *h, int a, int b, int c)
{
    int index = h->unused;
    if (index != NONE) {
        h->unused = h->face[index].next;
    } else {
        if (h->nface == h->room && !grow(h->allocator, (void **)&h->face, &h->room, sizeof(face)))
            return NONE;
        index = h->nface++;
    }
    face *f = &h->face[index];
    *f = (face){.corner = {a, b, c}, .above = NONE, .alive = true};
    cross(f->normal, h->p[a], h->p[b], h->p[c]);
    h->nalive++;
    return index;
}

static bool push_edge(hull *h, int first, int second)
{
    while (h->nedge + 2 > h->edge_room)
        if (!grow(h->allocator, (void **)&h->edge, &h->edge_room, sizeof *h->edge)) return false;
    h->edge[h->nedge++] = first;
    h->edge[h->nedge++] = second;
    return true;
}

// ------------------------------------------------------------------------------------------ points

static void give(hull *h, int index, int point, wide above)
{
    face *f = &h->face[index];
    if (f->above == NONE || above > f->height) {
        h->next[point] = f->above;
        if (!f->queued) f->later = h->pending, h->pending = index, f->queued = true;
        f->above = point;
        f->height = above;
    } else {
        h->next[point] = h->next[f->above];
        h->next[f->above] = point;
    }
}

// Gives a point to the first of some faces that it is above; it is dropped if there is none.
static void assign(hull *h, int point, const int *faces, int count)
{
    for (int i = 0; i < count; i++) {
        const wide above = height(h, &h->face[faces[i]], point);
        if (above <= 0) continue;
        give(h, faces[i], point, above);
        return;
    }
}

// ------------------------------------------------------------------------------------------- start

// Corners of a tetrahedron: an extreme point, the farthest from it, from their line, from their plane.
static bool find_simplex(const hull *h, int *corner)
{
    wide normal[3] = {0};
    double far = -1;
    corner[0] = 0;
    for (int i = 1; i < h->npoint; i++)
        if (h->p[i][0] < h->p[corner[0]][0]) corner[0] = i;
    const int64_t *a = h->p[corner[0]];
    for (int i = 0; i < h->npoint; i++) {
        double d = 0;
        for (int k = 0; k < 3; k++) d += (double)(h->p[i][k] - a[k]) * (double)(h->p[i][k] - a[k]);
        if (d > far) far = d, corner[1] = i;
    }
    far = 0;
    for (int i = 0; i < h->npoint; i++) {
        wide n[3];
        double d = 0;
        cross(n, a, h->p[corner[1]], h->p[i]);
        for (int k = 0; k < 3; k++) d += (double)n[k] * (double)n[k];
        if (d > far) far = d, corner[2] = i, memcpy(normal, n, sizeof n);
    }
    if (!(far > 0)) return false;
    wide largest = 0;
    for (int i = 0; i < h->npoint; i++) {
        const wide d = height_above(normal, a, h->p[i]);
        if ((d < 0 ? -d : d) > (largest < 0 ? -largest : largest)) largest = d, corner[3] = i;
    }
    if (largest > 0) { // the fourth is below the plane of the others
        const int swap = corner[1];
        corner[1] = corner[2], corner[2] = swap;
    }
    return largest != 0;
}

static bool begin(hull *h, const int *c)
{
    static const int faces[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
    static const int beyond[4][3] = {{2, 3, 1}, {0, 3, 2}, {1, 3, 0}, {2, 1, 0}};
    static const int all[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++) {
        if (add_face(h, c[faces[i][0]], c[faces[i][1]], c[faces[i][2]]) == NONE) return false;
        memcpy(h->face[i].beyond, beyond[i], sizeof beyond[i]);
    }
    for (int i = 0; i < h->npoint; i++) assign(h, i, all, 4);
    return true;
}

// -------------------------------------------------------------------------------------------- step

static int edge_to(const face *f, int index)
{
    int k = 0;
    while (k < 2 && f->beyond[k] != index) k++;
    LWI_ASSERT(f->beyond[k] == index);
    return k;
}

// The faces below a point, a list from one of them on; the edges of their region, seen from the faces beyond.
static bool find_horizon(hull *h, int first, int point)
{
    int last = first;
    h->nedge = 0;
    h->face[first].seen = true;
    h->face[first].next = NONE;
    for (int i = first; i != NONE; i = h->face[i].next)
        for (int k = 0; k < 3; k++) {
            const int other = h->face[i].beyond[k];
            if (h->face[other].seen) continue;
            if (height(h, &h->face[other], point) > 0) {
                h->face[other].seen = true;
                h->face[last].next = other;
                h->face[other].next = NONE;
                last = other;
            } else if (!push_edge(h, other, edge_to(&h->face[other], i))) {
                return false;
            }
        }
    return true;
}

// Triangles from the point to the horizon; their indices replace the list of edges.
static bool add_cone(hull *h, int point, int *count)
{
    *count = h->nedge / 2;
    for (int i = 0; i < *count; i++) {
        const int other = h->edge[2 * i], k = h->edge[2 * i + 1];
        const int a = h->face[other].corner[(k + 1) % 3], b = h->face[other].corner[k];
        const int made = add_face(h, a, b, point);
        if (made == NONE) return false;
        h->face[made].beyond[0] = other;
        h->face[other].beyond[k] = made;
        h->at[a] = made;
        h->edge[i] = made;
    }
    for (int i = 0; i < *count; i++) {
        const int made = h->edge[i], after = h->at[h->face[made].corner[1]];
        h->face[made].beyond[1] = after;
        h->face[after].beyond[2] = made;
    }
    return true;
}

static void discard(hull *h, int index)
{
    h->face[index].next = h->unused;
    h->unused = index;
}

// The faces on a list die, and their points go to the new ones.
static void kill(hull *h, int first, int point, int count)
{
    for (int i = first, after; i != NONE; i = after) {
        after = h->face[i].next;
        for (int p = h->face[i].above, next; p != NONE; p = next) {
            next = h->next[p];
            if (p != point) assign(h, p, h->edge, count);
        }
        h->face[i].alive = false;
        h->nalive--;
        if (!h->face[i].queued) discard(h, i);
    }
}

static bool grow_hull(hull *h)
{
    while (h->pending != NONE) {
        const int index = h->pending;
        int count;
        h->pending = h->face[index].later;
        h->face[index].queued = false;
        if (!h->face[index].alive) {
            discard(h, index);
            continue;
        }
        const int point = h->face[index].above;
        if (!find_horizon(h, index, point) || !add_cone(h, point, &count)) return false;
        kill(h, index, point, count);
    }
    return true;
}

// ------------------------------------------------------------------------------------------- whole

static void to_grid(const lwi_mesh *m, int64_t (*p)[3])
{
    double low[3], side = 0;
    for (int k = 0; k < 3; k++) {
        double high = low[k] = m->vertex[0][k];
        for (int i = 1; i < m->nvertex; i++) {
            low[k] = fmin(low[k], m->vertex[i][k]);
            high = fmax(high, m->vertex[i][k]);
        }
        side = fmax(side, high - low[k]);
    }
    const double scale = side > 0 ? ldexp(1, GRID_BITS) / side : 0;
    for (int i = 0; i < m->nvertex; i++)
        for (int k = 0; k < 3; k++) p[i][k] = llrint((m->vertex[i][k] - low[k]) * scale);
}

static lw_status find_hull(hull *h, lw_error *error)
{
    int corner[4] = {0};
    if (h->npoint < 4)
        return lwi_fail(error, LW_ERR_MODEL, "%d %s no convex hull, expected 4 or more", h->npoint,
                        h->npoint == 1 ? "vertex has" : "vertices have");
    if (!find_simplex(h, corner))
        return lwi_fail(error, LW_ERR_MODEL,
                        "the vertices are in one plane and have no convex hull");
    if (begin(h, corner) && grow_hull(h)) return LW_OK;
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for a convex hull");
}

static lw_status copy_faces(const hull *h, lwi_arena *arena, int (**triangle)[3], int *ntriangle,
                            lw_error *error)
{
    int n = 0;
    *triangle = lwi_arena_push(arena, (size_t)h->nalive, sizeof **triangle);
    if (!*triangle) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a convex hull");
    for (int i = 0; i < h->nface; i++)
        if (h->face[i].alive) memcpy((*triangle)[n++], h->face[i].corner, sizeof **triangle);
    LWI_ASSERT(n == h->nalive);
    *ntriangle = n;
    return LW_OK;
}

lw_status lwi_mesh_hull(const lwi_mesh *mesh, lwi_arena *arena, int (**triangle)[3], int *ntriangle,
                        lw_error *error)
{
    lwi_arena work;
    lwi_arena_init(&work, &arena->allocator);
    hull h = {
        .allocator = &arena->allocator, .npoint = mesh->nvertex, .unused = NONE, .pending = NONE};
    h.p = lwi_arena_push(&work, (size_t)h.npoint, sizeof *h.p);
    h.next = LWI_PUSH(&work, int, h.npoint);
    h.at = LWI_PUSH(&work, int, h.npoint);
    lw_status status = h.p && h.next && h.at
                           ? LW_OK
                           : lwi_fail(error, LW_ERR_MEMORY, "no memory for a convex hull");
    if (status == LW_OK) {
        to_grid(mesh, h.p);
        status = find_hull(&h, error);
    }
    if (status == LW_OK) status = copy_faces(&h, arena, triangle, ntriangle, error);
    lwi_release(h.allocator, h.face);
    lwi_release(h.allocator, h.edge);
    lwi_arena_free(&work);
    return status;
}
