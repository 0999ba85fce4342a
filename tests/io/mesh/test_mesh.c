// test_mesh.c -- volume, mass centre and inertia of meshes against closed forms, their maps, and convex hulls.
#include "io/mesh/mesh.h"
#include "spatial/vec3.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double PI = 3.14159265358979323846;
static const lwi_mesh_map NO_MAP = {.scale = {1, 1, 1}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

#define OK(call) assert_int_equal(LW_OK, (call))

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g, expected %.17g +- %g", a, b, tolerance);
}

static lwi_mesh_solid solid_of(const lwi_mesh *m, lwi_mesh_fill fill, const lwi_mesh_map *map)
{
    lwi_mesh_solid s;
    lw_error error = {0};
    if (lwi_mesh_solid_of(m, fill, map, NULL, &s, &error)) fail_msg("%s", error.text);
    return s;
}

static void refused(const lwi_mesh *m, lwi_mesh_fill fill, const char *part)
{
    lwi_mesh_solid s;
    lw_error error = {0};
    assert_int_equal(LW_ERR_MODEL, lwi_mesh_solid_of(m, fill, &NO_MAP, NULL, &s, &error));
    if (!strstr(error.text, part)) fail_msg("'%s' has no '%s'", error.text, part);
}

// A box from (1, 2, 3), edges 2, 4, 6.
static float box_vertex[8][3] = {{1, 2, 3}, {3, 2, 3}, {3, 6, 3}, {1, 6, 3},
                                 {1, 2, 9}, {3, 2, 9}, {3, 6, 9}, {1, 6, 9}};
static int box_triangle[12][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                                  {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
static const lwi_mesh box = {box_vertex, box_triangle, 8, 12};

static void check_box(const lwi_mesh_solid *s, double x, double y, double z, const double *com)
{
    const double V = x * y * z;
    const double I[6] = {
        V * (y * y + z * z) / 12, V * (x * x + z * z) / 12, V * (x * x + y * y) / 12, 0, 0, 0};
    near(s->volume, V, 1e-14 * V);
    for (int k = 0; k < 3; k++) near(s->com[k], com[k], 1e-14 * 10);
    for (int k = 0; k < 6; k++) near(s->inertia[k], I[k], 1e-14 * I[0]);
}

static void solids_of_a_box_have_its_closed_form(void **state)
{
    (void)state;
    static const double centre[3] = {2, 4, 6};
    for (int fill = LWI_MESH_CONVEX; fill <= LWI_MESH_LEGACY; fill++) {
        const lwi_mesh_solid s = solid_of(&box, (lwi_mesh_fill)fill, &NO_MAP);
        check_box(&s, 2, 4, 6, centre);
    }
    const lwi_mesh corners = {box_vertex, NULL, 8, 0}; // without triangles: the hull
    const lwi_mesh_solid s = solid_of(&corners, LWI_MESH_LEGACY, &NO_MAP);
    check_box(&s, 2, 4, 6, centre);
}

static void a_shell_of_a_box_has_its_closed_form(void **state)
{
    (void)state;
    const lwi_mesh_solid s = solid_of(&box, LWI_MESH_SHELL, &NO_MAP);
    const double x = 2, y = 4, z = 6, area = 2 * (x * y + y * z + z * x);
    near(s.volume, area, 1e-14 * area);
    for (int k = 0; k < 3; k++) near(s.com[k], 2 * (k + 1), 1e-14 * 10);
    // integrals of x^2: two sides at x/2, four sides that it passes along
    const double xx = y * z * x * x / 2 + 2 * (y + z) * x * x * x / 12;
    const double yy = z * x * y * y / 2 + 2 * (z + x) * y * y * y / 12;
    const double zz = x * y * z * z / 2 + 2 * (x + y) * z * z * z / 12;
    near(s.inertia[0], yy + zz, 1e-13 * (yy + zz));
    near(s.inertia[1], xx + zz, 1e-13 * (yy + zz));
    near(s.inertia[2], xx + yy, 1e-13 * (yy + zz));
}

// Corners 0, a, b, c on the axes: products of inertia about the origin are V ab / 20.
static void a_tetrahedron_has_products_of_inertia(void **state)
{
    (void)state;
    enum { A = 1, B = 2, C = 3 };
    static float vertex[4][3] = {{0, 0, 0}, {A, 0, 0}, {0, B, 0}, {0, 0, C}};
    static int triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    const lwi_mesh m = {vertex, triangle, 4, 4};
    for (int fill = LWI_MESH_CONVEX; fill <= LWI_MESH_LEGACY; fill++) {
        const lwi_mesh_solid s = solid_of(&m, (lwi_mesh_fill)fill, &NO_MAP);
        const double V = 1, x = A / 4.0, y = B / 4.0, z = C / 4.0;
        near(s.volume, V, 1e-15);
        near(s.com[0], x, 1e-15), near(s.com[1], y, 1e-15), near(s.com[2], z, 1e-15);
        near(s.inertia[0], (B * B + C * C) / 10.0 - V * (y * y + z * z), 1e-14);
        near(s.inertia[1], (A * A + C * C) / 10.0 - V * (x * x + z * z), 1e-14);
        near(s.inertia[2], (A * A + B * B) / 10.0 - V * (x * x + y * y), 1e-14);
        near(s.inertia[3], -(A * B / 20.0 - V * x * y), 1e-14);
        near(s.inertia[4], -(A * C / 20.0 - V * x * z), 1e-14);
        near(s.inertia[5], -(B * C / 20.0 - V * y * z), 1e-14);
    }
}

// scale, rotation and shift; a mirrored mesh has positive volume, its mass centre mirrored.
static void maps_scale_mirror_and_turn(void **state)
{
    (void)state;
    lwi_mesh_map map = NO_MAP;
    v3_set(map.scale, -2, 1, 0.5);
    for (int fill = LWI_MESH_CONVEX; fill <= LWI_MESH_LEGACY; fill++) {
        const lwi_mesh_solid s = solid_of(&box, (lwi_mesh_fill)fill, &map);
        check_box(&s, 4, 4, 3, (const double[3]){-4, 4, 3});
    }
    // position is subtracted first, then the axes are rotated, then the scale is applied: z of the mesh becomes x
    const lwi_mesh_map rotated = {
        .scale = {10, 1, 1}, .position = {1, 2, 3}, .R = {0, 1, 0, 0, 0, 1, 1, 0, 0}};
    const lwi_mesh_solid s = solid_of(&box, LWI_MESH_EXACT, &rotated);
    check_box(&s, 60, 2, 4, (const double[3]){30, 1, 2});
}

// ----------------------------------------------------------------------------------------- spheres

static int middle(lwi_mesh *m, int a, int b)
{
    double p[3];
    for (int k = 0; k < 3; k++) p[k] = (double)m->vertex[a][k] + (double)m->vertex[b][k];
    for (int k = 0; k < 3; k++) m->vertex[m->nvertex][k] = (float)(p[k] / v3_norm(p));
    return m->nvertex++;
}

// An octahedron, its triangles cut into four `level` times.
static lwi_mesh sphere(lwi_arena *arena, int level)
{
    static const float corner[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                       {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    static const int face[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                   {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    const int room = 8 << 2 * level;
    lwi_mesh m = {lwi_arena_push(arena, 3 * (size_t)room, sizeof *m.vertex),
                  lwi_arena_push(arena, (size_t)room, sizeof *m.triangle), 6, 8};
    memcpy(m.vertex, corner, sizeof corner);
    memcpy(m.triangle, face, sizeof face);
    for (int i = 0; i < level; i++)
        for (int t = m.ntriangle - 1; t >= 0; t--) {
            int *c = m.triangle[t];
            const int a = c[0], b = c[1], d = c[2];
            const int ab = middle(&m, a, b), bd = middle(&m, b, d), da = middle(&m, d, a);
            const int part[3][3] = {{a, ab, da}, {ab, b, bd}, {da, bd, d}};
            memcpy(m.triangle[m.ntriangle], part, sizeof part);
            m.ntriangle += 3;
            c[0] = ab, c[1] = bd, c[2] = da;
        }
    return m;
}

// Volume and inertia of the polyhedron approach those of the ball with the square of the edges.
static void spheres_converge_with_the_order_of_triangulation(void **state)
{
    (void)state;
    double last[2] = {0};
    for (int level = 2; level <= 5; level++) {
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        const lwi_mesh m = sphere(&arena, level);
        const lwi_mesh_solid s = solid_of(&m, LWI_MESH_LEGACY, &NO_MAP);
        const lwi_mesh_solid hull = solid_of(&m, LWI_MESH_CONVEX, &NO_MAP);
        const double V = 4 * PI / 3, error[2] = {1 - s.volume / V, 1 - s.inertia[0] / (0.4 * V)};
        for (int k = 0; k < 2; k++) {
            if (level > 3) near(log2(last[k] / error[k]), 2, 0.05);
            last[k] = error[k];
        }
        near(hull.volume, s.volume, 1e-7); // vertices on a sphere, rounded to float
        lwi_arena_free(&arena);
    }
}

// ------------------------------------------------------------------------------------------- hulls

// No vertex is above a triangle, every edge is passed once in each direction, and V - E + F = 2.
static void check_hull(const lwi_mesh *m, bool exact)
{
    lwi_arena arena;
    lw_error error = {0};
    int(*t)[3], n, used = 0;
    lwi_arena_init(&arena, NULL);
    if (lwi_mesh_hull(m, &arena, &t, &n, &error)) fail_msg("%s", error.text);
    char *seen = LWI_PUSH(&arena, char, m->nvertex);
    for (int i = 0; i < n; i++) {
        double a[3], u[3], v[3], normal[3];
        for (int k = 0; k < 3; k++) {
            a[k] = m->vertex[t[i][0]][k];
            u[k] = m->vertex[t[i][1]][k] - a[k], v[k] = m->vertex[t[i][2]][k] - a[k];
        }
        v3_cross(normal, u, v);
        if (exact) assert_true(v3_norm(normal) > 0);
        for (int j = 0; j < m->nvertex; j++) {
            double d[3], size = 0;
            for (int k = 0; k < 3; k++) d[k] = m->vertex[j][k] - a[k], size += fabs(normal[k]);
            // the grid is 2^-40 of the longest side; heights scale with the normal's length
            if (v3_dot(normal, d) > 1e-11 * (size + 1)) fail_msg("vertex %d is outside", j);
        }
        for (int k = 0; k < 3; k++) used += !seen[t[i][k]], seen[t[i][k]] = 1;
    }
    assert_int_equal(n, 2 * used - 4);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            int there = 0;
            for (int j = 0; j < n; j++)
                for (int l = 0; l < 3; l++)
                    there += t[j][l] == t[i][(k + 1) % 3] && t[j][(l + 1) % 3] == t[i][k];
            assert_int_equal(there, 1);
        }
    lwi_arena_free(&arena);
}

static double random_of(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

// Points in a ball; on a coarse grid, where many are in one plane or line; on a cylinder; repeated; nearly flat.
static void hulls_are_convex_polytopes(void **state)
{
    (void)state;
    enum { MOST = 300 };
    static float vertex[MOST][3];
    uint64_t seed = 1;
    for (int kind = 0; kind < 6; kind++)
        for (int round = 0; round < 40; round++) {
            lwi_mesh m = {vertex, NULL, 8 + (int)(random_of(&seed) * (MOST - 8)), 0};
            for (int i = 0; i < m.nvertex; i++) {
                double x[3];
                for (int k = 0; k < 3; k++) x[k] = 2 * random_of(&seed) - 1;
                if (kind == 1)
                    for (int k = 0; k < 3; k++) x[k] = rint(3 * x[k]);
                if (kind == 2) x[0] = cos(i), x[1] = sin(i), x[2] = i % 2;
                if (kind == 3) x[2] *= 1e-6;
                if (kind == 4) v3_scale(x, 1 / v3_norm(x), x);
                if (kind == 5) v3_set(x, i % 3, i % 5, i % 2);
                for (int k = 0; k < 3; k++) vertex[i][k] = (float)x[k];
            }
            check_hull(&m, kind == 5); // its grid has all points
        }
}

static void a_box_inside_a_cloud_is_its_hull(void **state)
{
    (void)state;
    enum { N = 1000 };
    static float vertex[N + 8][3];
    uint64_t seed = 7;
    memcpy(vertex, box_vertex, sizeof box_vertex);
    for (int i = 8; i < N + 8; i++) // inside, on sides and on edges
        for (int k = 0; k < 3; k++) {
            const double part = i % 3 > k ? (i >> k) % 2 : random_of(&seed);
            vertex[i][k] = (float)(k + 1 + part * 2 * (k + 1));
        }
    const lwi_mesh m = {vertex, NULL, N + 8, 0};
    lwi_arena arena;
    int(*t)[3], n;
    lwi_arena_init(&arena, NULL);
    OK(lwi_mesh_hull(&m, &arena, &t, &n, NULL));
    const lwi_mesh_solid s = solid_of(&m, LWI_MESH_CONVEX, &NO_MAP);
    check_box(&s, 2, 4, 6, (const double[3]){2, 4, 6});
    lwi_arena_free(&arena);
}

// ---------------------------------------------------------------------------------------- refusals

static void what_has_no_volume_is_refused(void **state)
{
    (void)state;
    static float flat[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    static int one[1][3] = {{0, 1, 2}};
    static int inwards[12][3], mixed[12][3];
    for (int i = 0; i < 12; i++) {
        const int *c = box_triangle[i];
        inwards[i][0] = c[0], inwards[i][1] = c[2], inwards[i][2] = c[1];
        memcpy(mixed[i], i ? c : inwards[0], sizeof mixed[i]);
    }
    const lwi_mesh one_vertex = {box_vertex, NULL, 1, 0};
    refused(&one_vertex, LWI_MESH_CONVEX, "1 vertex has no convex hull");
    refused(&(lwi_mesh){flat, one, 4, 1}, LWI_MESH_LEGACY, "its volume is 0 m^3");
    refused(&(lwi_mesh){flat, one, 4, 1}, LWI_MESH_CONVEX, "in one plane");
    refused(&(lwi_mesh){flat, NULL, 3, 0}, LWI_MESH_CONVEX, "3 vertices");
    refused(&(lwi_mesh){box_vertex, inwards, 8, 12}, LWI_MESH_EXACT, "oriented inwards");
    refused(&(lwi_mesh){box_vertex, mixed, 8, 12}, LWI_MESH_EXACT, "in the same direction");
    // amounts of volumes do not depend on the orientation
    const lwi_mesh_solid s =
        solid_of(&(lwi_mesh){box_vertex, mixed, 8, 12}, LWI_MESH_LEGACY, &NO_MAP);
    check_box(&s, 2, 4, 6, (const double[3]){2, 4, 6});
}

// Without its lid a box has the volume of pyramids from the centre of its surface, as in MuJoCo.
static void an_open_box_is_filled_from_the_centre_of_its_surface(void **state)
{
    (void)state;
    static int open[10][3];
    memcpy(open, box_triangle, sizeof box_triangle[0] * 2);
    memcpy(open + 2, box_triangle + 4, sizeof box_triangle[0] * 8);
    const lwi_mesh m = {box_vertex, open, 8, 10};
    const lwi_mesh_solid s = solid_of(&m, LWI_MESH_EXACT, &NO_MAP),
                         hull = solid_of(&m, LWI_MESH_CONVEX, &NO_MAP);
    assert_true(s.volume < 0.95 * 48 && s.volume > 0.5 * 48);
    check_box(&hull, 2, 4, 6, (const double[3]){2, 4, 6});
}

// Where every edge has a triangle on both sides, whether its corners are shared or repeated; not without one of them.
static void open_surfaces_are_found(void **state)
{
    (void)state;
    float vertex[36][3];
    int apart[12][3];
    lw_error error;
    for (int i = 0; i < 36; i++) {
        memcpy(vertex[i], box_vertex[box_triangle[i / 3][i % 3]], sizeof vertex[i]);
        apart[i / 3][i % 3] = i;
    }
    const lwi_mesh shared = {box_vertex, box_triangle, 8, 12}, repeated = {vertex, apart, 36, 12};
    assert_int_equal(lwi_mesh_check_closed(&shared, NULL, &error), LW_OK);
    assert_int_equal(lwi_mesh_check_closed(&repeated, NULL, &error), LW_OK);
    for (int i = 0; i < 36; i++) // last digits differ, as in files of other programs
        for (int k = 0; k < 3; k++) vertex[i][k] *= (float)(1 + (i % 3 - 1) * 1.2e-7);
    assert_int_equal(lwi_mesh_check_closed(&repeated, NULL, &error), LW_OK);
    for (int left_out = 0; left_out < 12; left_out++) {
        const int last = apart[11][0];
        lwi_mesh open = {vertex, apart, 36, 11};
        apart[left_out][0] = last, apart[left_out][1] = last + 1, apart[left_out][2] = last + 2;
        assert_int_equal(lwi_mesh_check_closed(&open, NULL, &error), LW_ERR_MODEL);
        assert_non_null(strstr(error.text, "the surface is open at the edge from ("));
        for (int k = 0; k < 3; k++) apart[left_out][k] = 3 * left_out + k;
    }
    assert_int_equal(
        lwi_mesh_check_closed(&(lwi_mesh){box_vertex, box_triangle, 8, 1}, NULL, &error),
        LW_ERR_MODEL);
}

static void principal_axes_are_sorted_and_right_handed(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++) {
        double I[6], m[3], R[9], z[3];
        for (int k = 0; k < 6; k++) I[k] = random_of(&seed) - (k < 3 ? 0 : 0.5);
        if (round == 0) v3_set(I, 1, 1, 1), v3_set(I + 3, 0, 0, 0);
        lwi_mesh_principal(I, m, R);
        assert_true(m[0] >= m[1] && m[1] >= m[2]);
        const double A[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++) {
                double sum = 0;
                for (int k = 0; k < 3; k++) sum += A[3 * i + k] * R[3 * k + j];
                near(sum, m[j] * R[3 * i + j], 1e-14);
            }
        const double x[3] = {R[0], R[3], R[6]}, y[3] = {R[1], R[4], R[7]};
        v3_cross(z, x, y);
        near(z[0], R[2], 1e-14), near(z[1], R[5], 1e-14), near(z[2], R[8], 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_of_a_box_have_its_closed_form),
        cmocka_unit_test(a_shell_of_a_box_has_its_closed_form),
        cmocka_unit_test(a_tetrahedron_has_products_of_inertia),
        cmocka_unit_test(maps_scale_mirror_and_turn),
        cmocka_unit_test(spheres_converge_with_the_order_of_triangulation),
        cmocka_unit_test(hulls_are_convex_polytopes),
        cmocka_unit_test(a_box_inside_a_cloud_is_its_hull),
        cmocka_unit_test(what_has_no_volume_is_refused),
        cmocka_unit_test(an_open_box_is_filled_from_the_centre_of_its_surface),
        cmocka_unit_test(open_surfaces_are_found),
        cmocka_unit_test(principal_axes_are_sorted_and_right_handed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
