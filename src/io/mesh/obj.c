// obj.c -- Wavefront OBJ: vertices and polygons; lines, points, materials, groups and normals are skipped.
//
// A polygon of four corners is cut along its shorter diagonal, a larger convex one into a fan from its first corner,
// others by ears: triangles of three successive corners with the orientation of the polygon and have no other corner inside.
#include "io/mesh/bytes.h"
#include "io/mesh/mesh.h"
#include "spatial/vec3.h"

#include <math.h>

enum { MAX_CORNERS = 1000 }; // of a polygon

typedef struct reading {
    lwi_mesh_text text;
    lwi_mesh *mesh;
    int nvertex, ntriangle; // so far
    int corner[MAX_CORNERS];
} reading;

// ---------------------------------------------------------------------------------------- polygons

static void add(reading *r, int a, int b, int c)
{
    int *to = r->mesh->triangle[r->ntriangle++];
    to[0] = a, to[1] = b, to[2] = c;
}

static void edge(const reading *r, int a, int b, double *e)
{
    const float *p = r->mesh->vertex[a], *q = r->mesh->vertex[b];
    for (int k = 0; k < 3; k++) e[k] = (double)q[k] - (double)p[k];
}

// Normal of the triangle a b c, its length twice the area.
static void normal_of(const reading *r, int a, int b, int c, double *n)
{
    double u[3], v[3];
    edge(r, a, b, u);
    edge(r, a, c, v);
    v3_cross(n, u, v);
}

static double turn(const reading *r, const double *normal, int a, int b, int c)
{
    double n[3];
    normal_of(r, a, b, c, n);
    return v3_dot(n, normal);
}

static void cut_quad(reading *r)
{
    const int *c = r->corner;
    double d[2][3];
    edge(r, c[0], c[2], d[0]);
    edge(r, c[1], c[3], d[1]);
    const int s = v3_dot(d[0], d[0]) < v3_dot(d[1], d[1]) ? 0 : 1;
    add(r, c[s], c[s + 1], c[s + 2]);
    add(r, c[s], c[s + 2], c[(s + 3) % 4]);
}

static bool same(const reading *r, int a, int b)
{
    const float *p = r->mesh->vertex[a], *q = r->mesh->vertex[b];
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

// Is no corner of the polygon inside the triangle of the corners i - 1, i, i + 1, or on its edges?
static bool is_ear(const reading *r, const double *normal, int n, int i)
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

static void cut_ears(reading *r, const double *normal, int n)
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

static void cut_polygon(reading *r, int n)
{
    const int *c = r->corner;
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

// ------------------------------------------------------------------------------------------- lines

// The vertex of "7", "7/1", "7//3", "-1/2/3": from 1 on, or from the last one back.
static lw_status read_index(reading *r, const char *word, size_t length, int *index)
{
    const bool back = *word == '-';
    size_t i = back || *word == '+';
    const size_t first = i;
    long number = 0;
    for (; i < length && word[i] >= '0' && word[i] <= '9' && number <= LWI_MESH_MAX_VERTICES; i++)
        number = 10 * number + (word[i] - '0');
    const bool is_number = i > first && (i == length || word[i] == '/');
    const long at = back ? r->nvertex - number : number - 1;
    if (is_number && number > 0 && at >= 0 && at < r->mesh->nvertex) {
        *index = (int)at;
        return LW_OK;
    }
    return lwi_mesh_text_fail(&r->text, "face: vertex '%.*s' does not exist, the file has %d",
                              (int)(length < 40 ? length : 40), word, r->mesh->nvertex);
}

static lw_status read_face(reading *r)
{
    int n = 0;
    size_t length;
    for (const char *word; (word = lwi_mesh_word(&r->text, &length)); n++) {
        if (n == MAX_CORNERS)
            return lwi_mesh_text_fail(&r->text, "face: more than %d corners", MAX_CORNERS);
        TRY(read_index(r, word, length, &r->corner[n]));
    }
    if (n < 3) return lwi_mesh_text_fail(&r->text, "face: %d corners, expected 3 or more", n);
    cut_polygon(r, n);
    return LW_OK;
}

// Upper bounds of vertices and triangles.
static void count_lines(lwi_mesh_text t, double *nvertex, double *ntriangle)
{
    do {
        size_t length;
        const char *word = lwi_mesh_word(&t, &length);
        *nvertex += lwi_mesh_is(word, length, "v");
        if (!lwi_mesh_is(word, length, "f")) continue;
        int n = 0;
        while (lwi_mesh_word(&t, &length)) n++;
        if (n > 2) *ntriangle += n - 2;
    } while (lwi_mesh_next_line(&t));
}

// Faces may come before their vertices, so vertices are read first.
static lw_status read_lines(reading *r)
{
    const lwi_mesh_text start = r->text;
    for (int pass = 0; pass < 2; pass++) {
        r->text = start;
        r->nvertex = 0;
        do {
            size_t length;
            const char *word = lwi_mesh_word(&r->text, &length);
            if (lwi_mesh_is(word, length, "v")) {
                if (pass == 0)
                    TRY(lwi_mesh_numbers(&r->text, "vertex", 3, r->mesh->vertex[r->nvertex]));
                r->nvertex++;
            } else if (pass == 1 && lwi_mesh_is(word, length, "f")) {
                TRY(read_face(r));
            }
        } while (lwi_mesh_next_line(&r->text));
    }
    return LW_OK;
}

lw_status lwi_mesh_read_obj(const char *bytes, size_t length, const char *name, lwi_arena *arena,
                            lwi_mesh *m, lw_error *error)
{
    reading r = {
        .text = {.at = bytes, .end = bytes + length, .name = name, .line = 1, .error = error},
        .mesh = m};
    double nvertex = 0, ntriangle = 0;
    count_lines(r.text, &nvertex, &ntriangle);
    TRY(lwi_mesh_push(m, nvertex, ntriangle, name, arena, error));
    TRY(read_lines(&r));
    m->ntriangle = r.ntriangle;
    return LW_OK;
}
