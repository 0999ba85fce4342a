// polygon.c -- polygons cut into triangles.
//
// One of four corners is cut along its shorter diagonal, a larger convex one into a fan from its first corner, others by
// ears: triangles of three successive corners that have the orientation of the polygon and no other corner inside.
#include "io/mesh/mesh.h"

#include "spatial/vec3.h"

enum { NEVER = LWI_MESH_MAX_CORNERS + 1 }; // no ear as long as the neighbours stay

typedef struct polygon {
    lwi_mesh *mesh;
    const int *corner;
    double *tests;
} polygon;

static void add(const polygon *r, int a, int b, int c)
{
    int *to = r->mesh->triangle[r->mesh->ntriangle++];
    to[0] = a, to[1] = b, to[2] = c;
}

static void edge(const polygon *r, int a, int b, double *e)
{
    const float *p = r->mesh->vertex[a], *q = r->mesh->vertex[b];
    for (int k = 0; k < 3; k++) e[k] = (double)q[k] - (double)p[k];
}

// Normal of the triangle a b c, its length twice the area.
static void normal_of(const polygon *r, int a, int b, int c, double *n)
{
    double u[3], v[3];
    edge(r, a, b, u);
    edge(r, a, c, v);
    v3_cross(n, u, v);
}

static double turn(const polygon *r, const double *normal, int a, int b, int c)
{
    double n[3];
    normal_of(r, a, b, c, n);
    return v3_dot(n, normal);
}

static void cut_quad(const polygon *r)
{
    const int *c = r->corner;
    double d[2][3];
    edge(r, c[0], c[2], d[0]);
    edge(r, c[1], c[3], d[1]);
    const int s = v3_dot(d[0], d[0]) < v3_dot(d[1], d[1]) ? 0 : 1;
    add(r, c[s], c[s + 1], c[s + 2]);
    add(r, c[s], c[s + 2], c[(s + 3) % 4]);
}

static bool same(const polygon *r, int a, int b)
{
    const float *p = r->mesh->vertex[a], *q = r->mesh->vertex[b];
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

// The corners that are left of a polygon, as a ring.  `clear[i]`: no corner with a smaller number is in the triangle of
// corner i and its neighbours.  That stays true while the neighbours of i stay, because corners are only removed.  So each
// pair of neighbours is tested against each corner at most once, and a polygon takes about 3 n^2 tests at most.
typedef struct ring {
    int next[LWI_MESH_MAX_CORNERS], previous[LWI_MESH_MAX_CORNERS], clear[LWI_MESH_MAX_CORNERS];
    bool gone[LWI_MESH_MAX_CORNERS];
} ring;

static bool is_inside(const polygon *r, const double *normal, int a, int b, int c, int d)
{
    if (same(r, d, a) || same(r, d, b) || same(r, d, c)) return false;
    return turn(r, normal, a, b, d) >= 0 && turn(r, normal, b, c, d) >= 0 &&
           turn(r, normal, c, a, d) >= 0;
}

// Is no corner of the polygon inside the triangle of corner i and its neighbours, or on its edges?
static bool is_ear(polygon *r, ring *g, const double *normal, int n, int i)
{
    const int *c = r->corner;
    const int a = c[g->previous[i]], b = c[i], d = c[g->next[i]];
    int k = g->clear[i];
    ++*r->tests;
    if (k == 0 && !(turn(r, normal, a, b, d) > 0)) k = NEVER;
    if (k == NEVER) {
        g->clear[i] = k;
        return false;
    }
    while (k < n && (g->gone[k] || !is_inside(r, normal, a, b, d, c[k]))) k++;
    *r->tests += k - g->clear[i];
    g->clear[i] = k;
    return k == n;
}

static void cut(const polygon *r, ring *g, int i)
{
    const int before = g->previous[i], after = g->next[i];
    add(r, r->corner[before], r->corner[i], r->corner[after]);
    g->next[before] = after, g->previous[after] = before;
    g->clear[before] = g->clear[after] = 0;
    g->gone[i] = true;
}

static bool cut_ears(polygon *r, const double *normal, int n)
{
    ring whole, *g = &whole;
    int i = 1, first = 0;
    for (int k = 0; k < n; k++) {
        g->next[k] = (k + 1) % n, g->previous[k] = (k + n - 1) % n;
        g->clear[k] = 0, g->gone[k] = false;
    }
    for (int left = n; left > 3; left--) {
        // a polygon that crosses itself has no ear: any corner
        for (int tries = 0; tries < left && !is_ear(r, g, normal, n, i); tries++) i = g->next[i];
        cut(r, g, i);
        i = g->next[i];
        if (*r->tests > LWI_MESH_MAX_TESTS) return false;
    }
    while (g->gone[first]) first++;
    const int second = g->next[first];
    add(r, r->corner[first], r->corner[second], r->corner[g->next[second]]);
    return true;
}

bool lwi_mesh_polygon(lwi_mesh *mesh, const int *corner, int n, double *tests)
{
    polygon whole = {mesh, corner, tests}, *r = &whole;
    const int *c = corner;
    double normal[3] = {0};
    bool convex = true;
    if (n == 4) {
        cut_quad(r);
        return true;
    }
    for (int i = 1; i + 1 < n; i++) {
        double part[3];
        normal_of(r, c[0], c[i], c[i + 1], part);
        v3_add(normal, normal, part);
    }
    for (int i = 0; i < n && convex; i++)
        convex = turn(r, normal, c[i], c[(i + 1) % n], c[(i + 2) % n]) >= 0 &&
                 turn(r, normal, c[0], c[i], c[(i + 1) % n]) >= 0;
    if (!convex) return cut_ears(r, normal, n);
    for (int i = 1; i + 1 < n; i++) add(r, c[0], c[i], c[i + 1]);
    return true;
}
