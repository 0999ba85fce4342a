// test_mesh_files.c -- STL, OBJ, MSH and COLLADA files: what is read, and what is refused with which message and line.
#include "base/numbers.h"
#include "io/mesh/mesh.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static lwi_arena arena;

static lw_status parse_bytes(const char *name, const char *bytes, size_t length, lwi_mesh *m,
                             lw_error *error)
{
    lwi_numbers numbers;
    *error = (lw_error){0};
    assert_true(lwi_numbers_begin(&numbers));
    char *exact = malloc(length ? length : 1); // a sanitizer detects what is read behind it
    memcpy(exact, bytes, length);
    const lw_status status = lwi_mesh_parse(exact, length, name, &arena, m, error);
    free(exact);
    lwi_numbers_end(&numbers);
    return status;
}

static lwi_mesh read_bytes(const char *name, const char *bytes, size_t length)
{
    lwi_mesh m;
    lw_error error;
    if (parse_bytes(name, bytes, length, &m, &error))
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    return m;
}

static void refuse_bytes(const char *name, const char *bytes, size_t length, int line,
                         const char *part)
{
    lwi_mesh m;
    lw_error error;
    const lw_status status = parse_bytes(name, bytes, length, &m, &error);
    assert_true(status == LW_ERR_PARSE || status == LW_ERR_UNSUPPORTED);
    assert_string_equal(error.file, name);
    if (error.line != line) fail_msg("line %d, expected %d: %s", error.line, line, error.text);
    if (!strstr(error.text, part)) fail_msg("'%s' has no '%s'", error.text, part);
}

static void refuse(const char *name, const char *text, int line, const char *part)
{
    refuse_bytes(name, text, strlen(text), line, part);
}

static double volume(const lwi_mesh *m)
{
    static const lwi_mesh_map map = {.scale = {1, 1, 1}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    lwi_mesh_solid s;
    lw_error error = {0};
    if (lwi_mesh_solid_of(m, LWI_MESH_EXACT, &map, NULL, &s, &error)) fail_msg("%s", error.text);
    return s.volume;
}

// --------------------------------------------------------------------------------------------- STL

enum { HEAD = 84, EACH = 50 };

static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static size_t binary_stl(char *bytes, const char *head)
{
    memset(bytes, 0, HEAD + 4 * EACH);
    memcpy(bytes, head, strlen(head));
    bytes[80] = 4;
    for (int i = 0; i < 12; i++)
        memcpy(bytes + HEAD + i / 3 * EACH + 12 + i % 3 * 12, corner[face[i / 3][i % 3]], 12);
    return HEAD + 4 * EACH;
}

static void binary_stl_joins_equal_corners(void **state)
{
    (void)state;
    char bytes[HEAD + 4 * EACH];
    size_t length = binary_stl(bytes, "");
    bytes[HEAD + 12 + 3] = (char)0x80; // the first zero is negative
    lwi_mesh m = read_bytes("a.stl", bytes, length);
    assert_int_equal(m.nvertex, 4);
    assert_int_equal(m.ntriangle, 4);
    assert_true(fabs(volume(&m) - 1) < 1e-15);
    // a head like that of a text, and the ending in capitals
    length = binary_stl(bytes, "solid made by a program that writes this");
    m = read_bytes("a.STL", bytes, length);
    assert_int_equal(m.nvertex, 4);
}

static void text_stl_is_read(void **state)
{
    (void)state;
    char text[4000] = "  solid a name with blanks\r\n";
    for (int i = 0; i < 4; i++) {
        strcat(text, "facet normal 0 0 nan\n  OUTER loop\n");
        for (int k = 0; k < 3; k++) {
            const float *c = corner[face[i][k]];
            snprintf(text + strlen(text), 100, "\tvertex %g %+.3f %e\r\n", c[0], c[1], c[2]);
        }
        strcat(text, "endloop\nendfacet\n");
    }
    strcat(text, "endsolid");
    const lwi_mesh m = read_bytes("a.stl", text, strlen(text));
    assert_int_equal(m.nvertex, 4);
    assert_true(fabs(volume(&m) - 1) < 1e-15);
}

static void damaged_stl_is_refused(void **state)
{
    (void)state;
    char bytes[HEAD + 4 * EACH];
    const size_t length = binary_stl(bytes, "");
    refuse_bytes("a.stl", bytes, length - 1, 0,
                 "283 bytes, but 4 triangles as byte 81 says take 284");
    refuse_bytes("a.stl", bytes, 40, 0, "40 bytes, expected at least the 84");
    refuse("a.stl", "", 0, "empty");
    memset(bytes + 80, 0xff, 4);
    refuse_bytes("a.stl", bytes, length, 0, "4294967295 triangles");
    binary_stl(bytes, "");
    memset(bytes + HEAD + EACH + 12 + 4, 0xff, 4);
    refuse_bytes("a.stl", bytes, length, 0,
                 "triangle 2 has a coordinate that is not a finite number, at byte 151");
    memset(bytes + 80, 0, 4);
    refuse_bytes("a.stl", bytes, length, 0, "no triangle");
    refuse("a.stl", "solid\nfacet\nvertex 0 0 0\nvertex 1 0 0\nendfacet\n", 5, "2 corners");
    refuse("a.stl", "solid\nfacet\nvertex 0 0 0\nvertex 1 0 x\nendfacet\n", 4,
           "'x' is not a finite");
    refuse("a.stl", "solid\nfacet\nvertex 0 0\n", 3, "2 numbers, expected 3");
    refuse("a.stl", "solid\nfacet\nvertex 0 0 1e39\n", 3, "'1e39' is not a finite");
    refuse("a.stl", "solid\nfacet\nvertex 0 0 0\nfacet\n", 4, "begins before");
    refuse("a.stl", "solid\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\n", 5,
           "more than three");
    refuse("a.stl", "solid\nvertex 0 0 0", 2, "ends inside");
    refuse("a.stl", "solid nothing\nendsolid\n", 0, "no triangle");
}

// A binary file that begins with "solid" and has bytes behind its triangles.
static void binary_stl_with_more_bytes_is_read(void **state)
{
    (void)state;
    char bytes[HEAD + 4 * EACH + 7] = {0};
    binary_stl(bytes, "solid binary");
    const lwi_mesh m = read_bytes("a.stl", bytes, sizeof bytes);
    assert_int_equal(m.nvertex, 4);
    assert_int_equal(m.ntriangle, 4);
    refuse_bytes("a.stl", bytes, sizeof bytes - 8, 0, "283 bytes, but 4 triangles");
}

// --------------------------------------------------------------------------------------------- OBJ

#define CUBE                                                                                       \
    "# a cube\nmtllib x.mtl\no cube\n"                                                             \
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0 0.5 0.5 0.5\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"         \
    "vn 0 0 1\nvt 0 0\ng side\nusemtl red\ns off\n"

static void obj_polygons_are_cut_into_triangles(void **state)
{
    (void)state;
    static const char text[] = CUBE "f 4 3 2 1\nf 5//1 6//1 7//1 8//1\nf 1/1 2/1 6/1 5/1\n"
                                    "f 2/1/1 3/1/1 7/1/1 6/1/1\nf -6 -5 -1 -2\nf 4 \\\n 1 5 8";
    const lwi_mesh m = read_bytes("a.obj", text, strlen(text));
    assert_int_equal(m.nvertex, 8);
    assert_int_equal(m.ntriangle, 12);
    assert_true(fabs(volume(&m) - 1) < 1e-15);
    assert_true(m.vertex[3][2] == 0); // colours behind the coordinates are skipped
}

// A prism over an L, an arrow and a comb, concave polygons: the volume is that of the outline.
static void obj_concave_polygons_are_cut_by_ears(void **state)
{
    (void)state;
    static const double outline[3][12][2] = {{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}},
                                             {{1, 0.25}, {2, 0}, {1, 3}, {0, 0}},
                                             {{0, 0},
                                              {5, 0},
                                              {5, 2},
                                              {4, 2},
                                              {4, 1},
                                              {3, 1},
                                              {3, 2},
                                              {2, 2},
                                              {2, 1},
                                              {1, 1},
                                              {1, 2},
                                              {0, 2}}};
    static const int corners[3] = {6, 4, 12};
    static const double area[3] = {3, 2.75, 8};
    for (int shape = 0; shape < 3; shape++)
        for (int first = 0; first < corners[shape]; first++) {
            const int n = corners[shape];
            char text[4000] = "";
            for (int i = 0; i < 2 * n; i++)
                snprintf(text + strlen(text), 100, "v %g %g %d\n", outline[shape][i % n][0],
                         outline[shape][i % n][1], i / n);
            for (int side = 0; side < 2; side++) {
                strcat(text, "f");
                for (int i = 0; i < n; i++)
                    snprintf(text + strlen(text), 100, " %d",
                             side ? n + 1 + (first + i) % n : 1 + (2 * n + first - i) % n);
                strcat(text, "\n");
            }
            for (int i = 0; i < n; i++)
                snprintf(text + strlen(text), 100, "f %d %d %d %d\n", i + 1, (i + 1) % n + 1,
                         n + (i + 1) % n + 1, n + i + 1);
            const lwi_mesh m = read_bytes("a.obj", text, strlen(text));
            assert_int_equal(m.ntriangle, 2 * (n - 2) + 2 * n);
            assert_true(fabs(volume(&m) - area[shape]) < 1e-6); // 0.25 and whole numbers are exact
            // as amounts: no triangle of the lids has the wrong orientation
            double sum = 0;
            for (int i = 0; i < 2 * (n - 2); i++) {
                const float *a = m.vertex[m.triangle[i][0]], *b = m.vertex[m.triangle[i][1]],
                            *c = m.vertex[m.triangle[i][2]];
                sum += fabs((double)(b[0] - a[0]) * (c[1] - a[1]) -
                            (double)(b[1] - a[1]) * (c[0] - a[0]));
            }
            if (shape != 1) assert_true(fabs(sum / 4 - area[shape]) < 1e-6);
        }
}

// The mark is no part of the first word; CR alone ends lines.
static void byte_order_marks_and_all_line_ends_are_read(void **state)
{
    (void)state;
    static const char mark[] = "\xEF\xBB\xBFv 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nf 1 2 3\n";
    lwi_mesh m = read_bytes("a.obj", mark, strlen(mark));
    assert_int_equal(m.nvertex, 4);
    assert_int_equal(m.triangle[0][0], 0);
    assert_true(m.vertex[1][0] == 1 && m.vertex[3][2] == 5);
    static const char stl[] = "\xEF\xBB\xBFsolid\rfacet\rvertex 0 0 0\rvertex 1 0 0\r"
                              "vertex 0 1 0\rendfacet\rendsolid\r";
    m = read_bytes("a.stl", stl, strlen(stl));
    assert_int_equal(m.ntriangle, 1);
    static const char cr[] = "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 \\\r 2 3\r";
    m = read_bytes("a.obj", cr, strlen(cr));
    assert_int_equal(m.nvertex, 3);
    assert_int_equal(m.ntriangle, 1);
    refuse("a.obj", "v 0 0 0\rv 1 0 0\r\nv 0 1 0\n\rf 1 2 4\r", 5, "vertex '4'");
}

static size_t append_face(char *text, size_t at, int n, unsigned *seed)
{
    text[at++] = 'f';
    for (int i = 0; i < n; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        at += (size_t)snprintf(text + at, 16, " %d", 1 + (int)(*seed >> 8) % n);
    }
    text[at++] = '\n';
    return at;
}

// Random polygons of 1000 corners cross themselves and have few ears: 3000 are too much work.
static void obj_work_on_concave_polygons_is_bounded(void **state)
{
    (void)state;
    enum { N = 1000, FACES = 3000 };
    char *text = malloc(N * 32 + FACES * 5000u);
    assert_non_null(text);
    size_t at = 0;
    unsigned seed = 1;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        at += (size_t)snprintf(text + at, 32, "v %u %u %d\n", seed >> 24 & 3, seed >> 20 & 3, 0);
    }
    at = append_face(text, at, N, &seed);
    const lwi_mesh m = read_bytes("a.obj", text, at);
    assert_int_equal(m.ntriangle, N - 2);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    free(text);
    print_message("SKIPPED: the limit itself takes minutes with sanitizers\n");
    return;
#endif
    for (int i = 1; i < FACES; i++) at = append_face(text, at, N, &seed);
    lwi_mesh unread;
    lw_error error;
    assert_int_equal(parse_bytes("a.obj", text, at, &unread, &error), LW_ERR_PARSE);
    assert_true(error.line > N + 100);
    assert_non_null(strstr(error.text, "concave polygons have too many corners"));
    free(text);
}

static void damaged_obj_is_refused(void **state)
{
    (void)state;
    refuse("a.obj", CUBE "f 1 2 9\n", 17, "face: vertex '9' does not exist, the file has 8");
    refuse("a.obj", CUBE "f 1 2 0\n", 17, "vertex '0'");
    refuse("a.obj", CUBE "f 1 2 -9\n", 17, "vertex '-9'");
    refuse("a.obj", CUBE "f 1 2 99999999999999999999\n", 17, "does not exist");
    refuse("a.obj", CUBE "f 1 2 x\n", 17, "vertex 'x'");
    refuse("a.obj", CUBE "f 1 2\n", 17, "2 corners");
    refuse("a.obj", "v 0 0\n", 1, "2 numbers");
    refuse("a.obj", "v 0 0 inf\n", 1, "not a finite");
    refuse("a.obj", "v 0 0 nan\n", 1, "not a finite");
    refuse("a.obj", "# nothing\n", 0, "no vertex");
    refuse("a.ply", "ply", 0, "not read, expected .stl, .obj, .msh or .dae");
    refuse("stl", "solid", 0, "not read");
}

// Decimal numbers of all forms are those of the C library.
static void numbers_are_rounded_once(void **state)
{
    (void)state;
    static const char *const words[] = {"0.1",
                                        "-12.5",
                                        "1e-3",
                                        "+.5",
                                        "3.",
                                        "1.25E+2",
                                        "123456789",
                                        "0.0000001234",
                                        "1e-30",
                                        "4e-45",
                                        "3e38",
                                        "1234567890.1234567890",
                                        "16777217",
                                        "-0.333333333333333314829616256247",
                                        "1e22",
                                        "1e-22",
                                        "99999999999999999999"};
    for (int i = 0; i < LWI_COUNT(words); i++) {
        char text[200];
        snprintf(text, sizeof text, "v %s 0 0\n", words[i]);
        const lwi_mesh m = read_bytes("a.obj", text, strlen(text));
        assert_true(m.vertex[0][0] == (float)strtod(words[i], NULL));
    }
}

// --------------------------------------------------------------------------------------------- MSH

static void msh_is_read(void **state)
{
    (void)state;
    char bytes[16 + 4 * 12 + 4 * 8 + 4 * 12] = {4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4};
    memcpy(bytes + 16, corner, sizeof corner);
    memcpy(bytes + sizeof bytes - sizeof face, face, sizeof face);
    lwi_mesh m = read_bytes("a.msh", bytes, sizeof bytes);
    assert_true(fabs(volume(&m) - 1) < 1e-15);
    refuse_bytes("a.msh", bytes, sizeof bytes - 1, 0, "as its head says take 144");
    refuse_bytes("a.msh", bytes, 15, 0, "15 bytes");
    bytes[sizeof bytes - 4] = 4;
    refuse_bytes("a.msh", bytes, sizeof bytes, 0, "triangle 4 has vertex 4, expected 0 to 3");
    memset(bytes + sizeof bytes - 4, 0xff, 4);
    refuse_bytes("a.msh", bytes, sizeof bytes, 0, "triangle 4 has vertex -1");
    memset(bytes, 0xff, 4);
    refuse_bytes("a.msh", bytes, sizeof bytes, 0, "4294967295 vertices");
    refuse("a.msh", "$MeshFormat\n4.1 0 8\n", 0, "Gmsh");
}

// --------------------------------------------------------------------------------------------- DAE

#define POINTS                                                                                     \
    "<source id='p'><float_array id='a' count='12'>0 0 0 1 0 0 0 2 0 0 0 "                         \
    "3</float_array></source>\n"                                                                   \
    "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices>\n"
#define INPUT "<input semantic='VERTEX' source='#v' offset='0'/>"
#define DAE(unit, faces, scene)                                                                    \
    "<COLLADA version='1.4.1'><asset><unit meter='" unit "'/></asset>\n"                           \
    "<library_geometries><geometry id='g'><mesh>\n" POINTS faces "</mesh></geometry>"              \
    "<geometry id='h'><mesh>\n" POINTS faces "</mesh></geometry></library_geometries>\n" scene     \
    "</COLLADA>"
#define SCENE(node)                                                                                \
    "<library_visual_scenes><visual_scene>" node "</visual_scene></library_visual_scenes>\n"
#define TRIANGLES                                                                                  \
    "<triangles count='4'><input semantic='NORMAL' source='#n' offset='1'/>" INPUT                 \
    "<p>0 9 2 9 1 9 0 9 1 9 3 9 0 9 3 9 2 9 1 9 2 9 3 9</p></triangles>"

static void check_dae(const char *text, int nvertex, double expected, const float *corner1)
{
    const lwi_mesh m = read_bytes("a.dae", text, strlen(text));
    assert_int_equal(m.nvertex, nvertex);
    assert_true(fabs(volume(&m) - expected) < 1e-6 * expected);
    for (int k = 0; k < 3; k++) assert_true(fabsf(m.vertex[1][k] - corner1[k]) < 1e-6F);
}

static void collada_scenes_place_geometries(void **state)
{
    (void)state;
    // without a scene both geometries, as they are
    check_dae(DAE("1", TRIANGLES, ""), 8, 2, (const float[3]){1, 0, 0});
    check_dae(DAE("0.1",
                  "<polylist count='4'>" INPUT
                  "<vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 0 3 2 1 2 3</p></polylist>",
                  SCENE("<node><instance_geometry url='#g'/></node>")),
              4, 1e-3, (const float[3]){0.1F, 0, 0});
    check_dae(
        DAE("1",
            "<polygons count='4'>" INPUT
            "<p>0 2 1</p><p>0 1 3</p><p>0 3 2</p><p>1 2 3</p></polygons>",
            SCENE("<node><translate>1 2 3</translate><rotate>0 0 2 90</rotate><scale>2 1 -1</scale>"
                  "<instance_geometry url='#h'/></node>")),
        4, 2, (const float[3]){1, 4, 3}); // mirrored: the triangles are reversed
    check_dae(DAE("1", TRIANGLES,
                  "<library_nodes><node id='n'><matrix>0 -1 0 1  1 0 0 2  0 0 1 3  0 0 0 1</matrix>"
                  "<node><instance_geometry url='#g'/></node></node></library_nodes>" SCENE(
                      "<node><instance_node url='#n'/><instance_geometry url='#g'/></node>")),
              8, 2, (const float[3]){1, 3, 3});
}

// A strip and a fan of the same tetrahedron; positions behind others in one array; one of two scenes.
static void collada_strips_fans_accessors_and_scenes(void **state)
{
    (void)state;
    check_dae(DAE("1", "<tristrips count='1'>" INPUT "<p>0 2 1 3 0 2</p></tristrips>",
                  SCENE("<instance_geometry url='#g'/>")),
              4, 1, (const float[3]){1, 0, 0});
    check_dae(DAE("1", "<trifans count='2'>" INPUT "<p>0 2 1 3 2</p><p>1 2 3</p></trifans>",
                  SCENE("<instance_geometry url='#g'/>")),
              4, 1, (const float[3]){1, 0, 0});
    check_dae("<COLLADA><library_geometries><geometry id='g'><mesh><source id='p'><float_array>"
              "9 9 9 0 0 0 9 9 9 1 0 0 9 9 9 0 2 0 9 9 9 0 0 3</float_array><technique_common>"
              "<accessor stride='6' offset='3'/></technique_common></source>"
              "<vertices><input semantic='POSITION' source='#p'/></vertices>" TRIANGLES
              "</mesh></geometry></library_geometries></COLLADA>",
              4, 1, (const float[3]){1, 0, 0});
    check_dae(DAE("1", TRIANGLES,
                  "<library_visual_scenes>"
                  "<visual_scene id='a'><instance_geometry url='#g'/></visual_scene>"
                  "<visual_scene id='b'><scale>2 1 1</scale><instance_geometry url='#g'/>"
                  "</visual_scene></library_visual_scenes>"
                  "<scene><instance_visual_scene url='#b'/></scene>"),
              4, 2, (const float[3]){2, 0, 0});
}

static void damaged_collada_is_refused(void **state)
{
    (void)state;
    refuse("a.dae", DAE("1", TRIANGLES, SCENE("<instance_geometry/>")), 9, "expected url='#id'");
    refuse("a.dae", DAE("1", TRIANGLES, SCENE("<instance_geometry url='#'/>")), 9,
           "expected url='#id'");
    refuse("a.dae",
           DAE("1", TRIANGLES,
               SCENE("<instance_geometry url='#g'/>") "<scene><instance_visual_scene url='#x'/>"
                                                      "</scene>"),
           10, "does not exist");
    refuse("a.dae", DAE("1", "<polygons>" INPUT "<ph><p>0 1 2</p><h>0 1 3</h></ph></polygons>", ""),
           5, "holes");
    refuse(
        "a.dae",
        DAE("1", "<triangles><input semantic='VERTEX' offset='32'/><p>0 1 2</p></triangles>", ""),
        5, "offset '32', expected a whole number from 0 to 31");
    refuse("a.dae",
           "<COLLADA><library_geometries><geometry id='g'><mesh><source id='p'><float_array>0 0 0"
           "</float_array><technique_common><accessor stride='40'/></technique_common></source>"
           "<vertices><input semantic='POSITION' source='#p'/></vertices></mesh></geometry>"
           "</library_geometries></COLLADA>",
           1, "stride '40', expected a whole number from 3 to 31");
    refuse("a.dae", "<robot/>", 1, "expected <COLLADA>");
    refuse("a.dae", "<COLLADA>", 1, "");
    refuse("a.dae", "<COLLADA/>", 0, "no triangle");
    refuse("a.dae", DAE("1", "<triangles>" INPUT "<p>0 1 4</p></triangles>", ""), 5,
           "a vertex does not exist");
    refuse("a.dae", DAE("1", "<triangles>" INPUT "<p>0 1 -1</p></triangles>", ""), 5,
           "a vertex does not exist");
    refuse("a.dae", DAE("1", "<triangles>" INPUT "<p>0 1 x</p></triangles>", ""), 5,
           "expected finite numbers");
    refuse("a.dae", DAE("1", "<triangles><p>0 1 2</p></triangles>", ""), 5, "no input of vertices");
    refuse("a.dae", DAE("1", "<polylist>" INPUT "<p>0 1 2</p></polylist>", ""), 5, "no <vcount>");
    refuse("a.dae", DAE("1", "<polylist>" INPUT "<vcount>4</vcount><p>0 1 2</p></polylist>", ""), 5,
           "other numbers of corners");
    refuse("a.dae", DAE("1", TRIANGLES, SCENE("<node><instance_geometry url='#x'/></node>")), 9,
           "does not exist");
    refuse("a.dae", DAE("1", TRIANGLES, SCENE("<node><matrix>1 2</matrix></node>")), 9,
           "another number of numbers");
    refuse("a.dae",
           DAE("1", TRIANGLES,
               "<library_nodes><node id='n'><instance_node url='#n'/></node></library_nodes>" SCENE(
                   "<node><instance_node url='#n'/></node>")),
           9, "nested too deeply");
}

static size_t append(char *text, size_t at, const char *part, int times)
{
    for (int i = 0; i < times; i++, at += strlen(part)) memcpy(text + at, part, strlen(part));
    return at;
}

// Instances times primitives, both from a file of 3 MB.
static void collada_work_is_bounded(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *text = malloc(4000000);
    assert_non_null(text);
    for (int n = 2; n <= N; n *= 10000) {
        size_t at = append(
            text, 0, "<COLLADA><library_geometries><geometry id='g'><mesh>" POINTS TRIANGLES, 1);
        at = append(text, at, "<triangles>" INPUT "</triangles>", n);
        at = append(text, at,
                    "</mesh></geometry></library_geometries>\n"
                    "<library_visual_scenes><visual_scene>",
                    1);
        at = append(text, at, "<instance_geometry url='#g'/>", n);
        at = append(text, at, "</visual_scene></library_visual_scenes></COLLADA>", 1);
        if (n == N)
            refuse_bytes("a.dae", text, at, 3, "all instances together have more than 10 million");
        else
            assert_int_equal(read_bytes("a.dae", text, at).ntriangle, 8);
    }
    free(text);
}

static int begin(void **state)
{
    (void)state;
    lwi_arena_init(&arena, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    lwi_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_stl_joins_equal_corners),
        cmocka_unit_test(text_stl_is_read),
        cmocka_unit_test(binary_stl_with_more_bytes_is_read),
        cmocka_unit_test(byte_order_marks_and_all_line_ends_are_read),
        cmocka_unit_test(obj_work_on_concave_polygons_is_bounded),
        cmocka_unit_test(collada_work_is_bounded),
        cmocka_unit_test(damaged_stl_is_refused),
        cmocka_unit_test(obj_polygons_are_cut_into_triangles),
        cmocka_unit_test(obj_concave_polygons_are_cut_by_ears),
        cmocka_unit_test(damaged_obj_is_refused),
        cmocka_unit_test(numbers_are_rounded_once),
        cmocka_unit_test(msh_is_read),
        cmocka_unit_test(collada_scenes_place_geometries),
        cmocka_unit_test(collada_strips_fans_accessors_and_scenes),
        cmocka_unit_test(damaged_collada_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
