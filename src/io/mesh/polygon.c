// polygon.c -- polygons cut into triangles.
//
// One of four corners is cut along its shorter diagonal, a larger convex one into a fan from its first corner, others by
// ears: triangles of three successive corners that have the orientation of the polygon and no other corner inside.
#include "io/mesh/mesh.h"

#include "spatial/vec3.h"

#include <math.h>
#include <string.h>

typedef struct polygon {
    lwi_mesh *mesh;
    int *corner;
} polygon;

static void add(polygon *r, int a, int b, int c)
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

static void cut_quad(polygon *r)
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

// Is no corner of the polygon inside the triangle of the corners i - 1, i, i + 1, or on its edges?
static bool is_ear(const polygon *r, const double *normal, int n, int i)
{
    const int *c = r->corner;
    const int before = (i + n - 1) % n, after = (i + 1) % n;
    if (!(turn(r, normal, c[before], c[i], c[after]) > 0)) return false;
    for (int k = 0; k < n; k++) {
        if (same(r, c[k], c[before]) || same(r, c[k], c[i]) || same(r, c[k], c[after])) continue;
        if (turn(r, normal, c[before], c[i], c[k]) >= 0 &&
            turn(r, normal, c[i], c[after], c[k]) >= 0 &&
            turn(r, normal, c[after], c[before], c[k]) >= 0)
            return false;
    }
    return true;
}

static void cut_ears(polygon *r, const double *normal, int n)
{
    int *c = r->corner, i = 1;
    while (n > 3) {
        int tries = 0;
        while (tries < n && !is_ear(r, normal, n, i % n)) i++, tries++;
        i %= n; // a polygon that crosses itself has no ear: any corner
        add(r, c[(i + n - 1) % n], c[i], c[(i + 1) % n]);
        memmove(c + i, c + i + 1, (size_t)(n - i - 1) * sizeof *c);
        n--;
    }
    add(r, c[0], c[1], c[2]);
}

void lwi_mesh_polygon(lwi_mesh *mesh, int *corner, int n)
{
    polygon whole = {mesh, corner}, *r = &whole;
    const int *c = corner;
    double normal[3] = {0};
    bool convex = true;
    if (n == 4) {
        cut_quad(r);
        return;
    }
    for (int i = 1; i + 1 < n; i++) {
        double part[3];
        normal_of(r, c[0], c[i], c[i + 1], part);
        v3_add(normal, normal, part);
    }
    for (int i = 0; i < n && convex; i++)
        convex = turn(r, normal, c[i], c[(i + 1) % n], c[(i + 2) % n]) >= 0 &&
                 turn(r, normal, c[0], c[i], c[(i + 1) % n]) >= 0;
    if (!convex) {
        cut_ears(r, normal, n);
        return;
    }
    for (int i = 1; i + 1 < n; i++) add(r, c[0], c[i], c[i + 1]);
}
