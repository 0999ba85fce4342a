// test_mesh_models.c -- meshes of model files: mass from meshes as MuJoCo computes it, where files are searched, what a
// missing one does, and what is drawn and written.
#define _XOPEN_SOURCE 700 // setenv, mkdtemp
#include "io/mesh/paths.h"
#include "io/read_cases.h"
#include "model/model.h"

#include <linkwork/view.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OK(call) assert_int_equal(LW_OK, (call))
#define MODELS LW_SOURCE_DIR "/tests/models"

static char *contents(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    rewind(file);
    char *text = calloc((size_t)length + 1, 1);
    assert_int_equal(length, fread(text, 1, (size_t)length, file));
    fclose(file);
    return text;
}

static lw_model *parse(const char *text, const char *format, const lw_read_desc *desc)
{
    lw_read_desc with = *desc;
    lw_model *model = NULL;
    lw_error error = {0};
    with.format = format;
    if (lw_model_parse(text, strlen(text), "bot", &with, &model, NULL, &error))
        fail_msg("%d: %s", error.line, error.text);
    return model;
}

static void refuse(const char *text, const char *format, const lw_read_desc *desc, lw_status status,
                   const char *part)
{
    lw_read_desc with = *desc;
    lw_model *model = NULL;
    lw_error error = {0};
    with.format = format;
    assert_int_equal(status,
                     lw_model_parse(text, strlen(text), "bot", &with, &model, NULL, &error));
    if (!strstr(error.text, part)) fail_msg("'%s' has no '%s'", error.text, part);
}

static const lw_body_desc *body_of(const lw_model *model, const char *name)
{
    for (int i = 1; i < model->nbody; i++)
        if (strcmp(model->desc.body[i].name, name) == 0) return &model->desc.body[i];
    fail_msg("no body '%s'", name);
    return NULL;
}

static bool warns(const lw_model *model, const char *part)
{
    for (int i = 0; i < model->desc.nwarning; i++)
        if (strstr(model->desc.warning[i], part)) return true;
    return false;
}

// ------------------------------------------------------------------------------------------ MuJoCo

// tests/golden/meshes.csv.  MuJoCo stops the search for principal axes at products of inertia of 1e-12 for unit
// density, which are 1e-9 of the inertia of the smallest mesh; the rest agrees to round-off.
static int compare(const lw_model *model, const char *prefix)
{
    char line[1000];
    int count = 0;
    FILE *file = fopen(LW_SOURCE_DIR "/tests/golden/meshes.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        double x[10], r = 0, size = 0;
        char name[100];
        if (sscanf(line, "%99[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", name, &x[0], &x[1],
                   &x[2], &x[3], &x[4], &x[5], &x[6], &x[7], &x[8], &x[9]) != 11)
            continue;
        const bool aabb = strncmp(name, "aabb ", 5) == 0;
        if (aabb != (*prefix != 0)) continue;
        const lw_body_desc *b = body_of(model, name + strlen(prefix));
        for (int k = 0; k < 3; k++) r += fabs(x[1 + k]), size += fabs(x[4 + k]);
        if (!(fabs(b->mass - x[0]) <= 1e-13 * x[0])) fail_msg("%s: mass %.17g", name, b->mass);
        for (int k = 0; k < 3; k++)
            if (!(fabs((&b->com.x)[k] - x[1 + k]) <= 1e-13 * r)) fail_msg("%s: centre %d", name, k);
        for (int k = 0; k < 6; k++)
            if (!(fabs(b->inertia[k] - x[4 + k]) <= 1e-8 * size))
                fail_msg("%s: inertia %d: %.17g, expected %.17g", name, k, b->inertia[k], x[4 + k]);
        count++;
    }
    fclose(file);
    return count;
}

static void masses_from_meshes_are_those_of_mujoco(void **state)
{
    (void)state;
    char *text = contents(MODELS "/meshes.xml");
    const lw_read_desc desc = {.folder = MODELS};
    lw_model *model = parse(text, "mjcf", &desc);
    assert_int_equal(17, compare(model, ""));
    lw_model_destroy(model);
    char *fitted = calloc(strlen(text) + 100, 1), *at = strstr(text, "<compiler ");
    sprintf(fitted, "%.*s<compiler fitaabb=\"true\" %s", (int)(at - text), text, at + 10);
    model = parse(fitted, "mjcf", &desc);
    assert_int_equal(17, compare(model, "aabb "));
    lw_model_destroy(model);
    free(fitted);
    free(text);
}

#define MJCF(mesh, body)                                                                           \
    "<mujoco>\n<asset><mesh name='m' " mesh "/></asset>\n<worldbody><body name='b'>" body          \
    "<joint/></body></worldbody>\n</mujoco>"
#define GEOM "<geom name='g' type='mesh' mesh='m'/>"
#define INERTIAL "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"

static void a_missing_mesh_is_an_error_only_where_mass_depends_on_it(void **state)
{
    (void)state;
    const lw_read_desc here = {.folder = MODELS},
                       massless = {.folder = MODELS, .missing_mesh = "massless"};
    refuse(MJCF("file='no.stl'", GEOM), "mjcf", &here, LW_ERR_MODEL,
           "geom 'g' of body 'b': the mass of the body depends on mesh 'no.stl': the file does not "
           "exist");
    refuse(MJCF("file='no.stl'", GEOM), "mjcf", &(lw_read_desc){0}, LW_ERR_MODEL, "from memory");
    refuse(MJCF("file='meshes.xml'", GEOM), "mjcf", &here, LW_ERR_MODEL,
           "expected .stl, .obj, .msh or .dae");
    refuse(MJCF("vertex='0 0 0 1 0 0 0 1 0'", GEOM), "mjcf", &here, LW_ERR_MODEL,
           "3 vertices have no convex hull");
    refuse(MJCF("vertex='0 0 0 1'", GEOM), "mjcf", &here, LW_ERR_PARSE, "three by three");
    refuse(MJCF("vertex='0 0 0' face='0 0 1'", GEOM), "mjcf", &here, LW_ERR_MODEL,
           "vertex 1 does not exist");
    refuse(MJCF("vertex='0 0 0' file='a.stl'", GEOM), "mjcf", &here, LW_ERR_PARSE,
           "both file and vertex");
    refuse(MJCF("scale='1 0 1' file='a.stl'", GEOM), "mjcf", &here, LW_ERR_MODEL, "not zero");
    refuse(MJCF("inertia='solid' file='a.stl'", GEOM), "mjcf", &here, LW_ERR_PARSE,
           "expected convex, exact, legacy or shell");
    refuse(MJCF("file='a.stl'", "<geom type='mesh' mesh='n'/>"), "mjcf", &here, LW_ERR_PARSE,
           "mesh 'n' does not exist");
    refuse(MJCF("file='a.stl'", "<geom type='mesh'/>"), "mjcf", &here, LW_ERR_PARSE, "has no mesh");
    refuse(MJCF("file='a.stl'", GEOM), "mjcf", &(lw_read_desc){.missing_mesh = "no"},
           LW_ERR_ARGUMENT, "error or massless");
    lw_model *model =
        parse(MJCF("file='no.stl'", GEOM "<geom size='1' density='1'/>"), "mjcf", &massless);
    assert_true(warns(model, "geoms with a mesh that is not read add no mass, bodies (1): b"));
    assert_true(fabs(body_of(model, "b")->mass - 4.18879) < 1e-5);
    lw_model_destroy(model);
    // only drawn: by <inertial>, no mass, no density, or a group that has no inertia
    static const char *const visual[] = {
        MJCF("file='no.stl'", INERTIAL GEOM),
        MJCF("file='no.stl'", "<geom size='1'/><geom type='mesh' mesh='m' mass='0'/>"),
        MJCF("file='no.stl'", "<geom size='1'/><geom type='mesh' mesh='m' density='0'/>")};
    for (int i = 0; i < LWI_COUNT(visual); i++) {
        model = parse(visual[i], "mjcf", &here);
        assert_true(warns(model, "meshes are not found and not drawn (1): no.stl"));
        assert_true(body_of(model, "b")->mass > 0);
        lw_model_destroy(model);
    }
}

// ------------------------------------------------------------------------------------------ places

static char folder[] = "/tmp/linkwork_meshes_XXXXXX";

static const char *inside(const char *name)
{
    static char path[4][300];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(inside(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char *const tetrahedron =
    "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return 1;
    static const char *const names[] = {"arm",        "arm/meshes", "arm/urdf", "other",
                                        "other/hand", "share",      "share/ros"};
    for (int i = 0; i < LWI_COUNT(names); i++)
        if (mkdir(inside(names[i]), 0700)) return 1;
    put("arm/meshes/a.obj", tetrahedron);
    put("arm/urdf/b.obj", tetrahedron);
    put("other/hand/c.obj", tetrahedron);
    put("share/ros/d.obj", tetrahedron);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void found(const char *name, const char *packages, const char *where)
{
    lwi_arena arena;
    const lwi_mesh_places places = {inside("arm/urdf"), packages};
    lwi_arena_init(&arena, NULL);
    const char *path = lwi_mesh_find(&places, name, &arena);
    char *whole = where ? realpath(inside(where), NULL) : NULL;
    if (where) assert_non_null(path);
    if (where) assert_string_equal(path, whole);
    if (!where) assert_null(path);
    free(whole);
    lwi_arena_free(&arena);
}

static void files_are_searched_in_packages(void **state)
{
    (void)state;
    unsetenv("ROS_PACKAGE_PATH");
    unsetenv("AMENT_PREFIX_PATH");
    found("b.obj", NULL, "arm/urdf/b.obj");
    found("../meshes/a.obj", NULL, "arm/meshes/a.obj");
    found("file://../meshes/a.obj", NULL, "arm/meshes/a.obj");
    found("package://arm/meshes/a.obj", NULL, "arm/meshes/a.obj"); // a folder above
    found("package:///arm/meshes/a.obj", NULL, "arm/meshes/a.obj");
    found("model://arm/meshes/a.obj", NULL, "arm/meshes/a.obj");
    found("package://hand/c.obj", NULL, NULL);
    found("package://hand/c.obj", inside("other"), "other/hand/c.obj");
    found("package://hand/c.obj", inside("other/hand"), "other/hand/c.obj");
    found("package://hand/c.obj", inside("nowhere:/:"), NULL);
    setenv("ROS_PACKAGE_PATH", inside("other"), 1);
    found("package://hand/c.obj", "", "other/hand/c.obj");
    setenv("AMENT_PREFIX_PATH", folder, 1);
    found("package://ros/d.obj", NULL, "share/ros/d.obj");
    unsetenv("ROS_PACKAGE_PATH");
    unsetenv("AMENT_PREFIX_PATH");
    found("package://arm", NULL, NULL);
    found("package://", NULL, NULL);
    found("", NULL, NULL);
    found("../meshes", NULL, NULL); // a folder is no mesh
    found(inside("other/hand/c.obj"), NULL, "other/hand/c.obj");
}

#define URDF(mesh)                                                                                 \
    "<robot name='r'><link name='a'><visual><origin xyz='1 0 0'/><geometry>" mesh                  \
    "</geometry></visual><visual><geometry>" mesh                                                  \
    "</geometry></visual><inertial><mass value='1'/>"                                              \
    "<inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>"

static char *exported(const lw_model *model, const char *format)
{
    char *text = NULL;
    size_t size;
    lw_error error;
    FILE *file = open_memstream(&text, &size);
    const lw_status status = strcmp(format, "yaml") == 0
                                 ? lw_model_write(model, NULL, file, &error)
                                 : lw_model_export(model, format, file, NULL, NULL, &error);
    fclose(file);
    if (status) fail_msg("%s", error.text);
    return text;
}

// A mesh that two shapes show is one mesh; its name survives URDF, its path MJCF and the native file.
static void conversions_keep_meshes(void **state)
{
    (void)state;
    const lw_read_desc desc = {.folder = inside("arm/urdf"), .base = LW_BASE_FIXED};
    lw_model *model =
        parse(URDF("<mesh filename='package://arm/meshes/a.obj' scale='2 1 -1'/>"), "urdf", &desc);
    const lw_body_desc *a = body_of(model, "a");
    assert_int_equal(1, model->desc.nmesh);
    assert_int_equal(2, a->nshape);
    assert_true(a->shapes[0].position.x == 1 && a->shapes[0].size[2] == -1);
    assert_int_equal(1, lw_model_mesh_count(model));
    assert_string_equal("package://arm/meshes/a.obj", lw_model_mesh(model, a->shapes[0].mesh).uri);
    assert_null(lw_model_mesh(model, (lw_mesh){2}).file);
    static const char *const formats[] = {"urdf", "mjcf", "yaml"};
    for (int i = 0; i < LWI_COUNT(formats); i++) {
        char *text = exported(model, formats[i]);
        lw_model *again = parse(text, formats[i], &desc);
        const lw_body_desc *b = body_of(again, "a");
        assert_int_equal(2, b->nshape);
        assert_int_equal(1, again->desc.nmesh);
        assert_int_equal(LW_SHAPE_MESH, b->shapes[1].type);
        assert_string_equal(model->desc.mesh[0].file, again->desc.mesh[0].file);
        assert_true(b->shapes[0].size[0] == 2 && b->shapes[0].size[2] == -1);
        char *last = exported(again, "yaml");
        lw_model *third = parse(last, "yaml", &(lw_read_desc){0});
        char *twice = exported(third, "yaml");
        assert_string_equal(last, twice);
        lw_model_destroy(again);
        lw_model_destroy(third);
        free(text), free(last), free(twice);
    }
    lw_model_destroy(model);
    model = parse(URDF("<mesh filename='a.ply'/>"), "urdf", &desc);
    assert_true(
        warns(model, "other than STL, OBJ, MSH and COLLADA are not read and not drawn (1): a.ply"));
    assert_int_equal(0, body_of(model, "a")->nshape);
    lw_model_destroy(model);
    refuse(URDF("<mesh filename='a.stl' scale='1 0 1'/>"), "urdf", &desc, LW_ERR_MODEL, "not zero");
}

static void vertices_of_a_model_are_written(void **state)
{
    (void)state;
    const lw_read_desc none = {0};
    lw_model *model = parse(MJCF("vertex='0 0 0  0.1 0 0  0 2 0  0 0 3' face='0 2 1  0 1 3  0 3 2  "
                                 "1 2 3' refpos='1 2 3'",
                                 GEOM),
                            "mjcf", &none);
    assert_int_equal(4, model->desc.mesh[0].nvertex);
    assert_true(body_of(model, "b")->shapes[0].position.z == -3); // 3 below: refpos is subtracted
    char *native = exported(model, "yaml"), *mjcf = exported(model, "mjcf");
    assert_non_null(strstr(native, "{mesh: {vertices: [0, 0, 0, 0.100000001, 0"));
    lw_model *again = parse(native, "yaml", &none), *third = parse(mjcf, "mjcf", &none);
    assert_int_equal(4, again->desc.mesh[0].ntriangle);
    assert_int_equal(4, third->desc.mesh[0].ntriangle);
    assert_true(again->desc.mesh[0].vertices[3] == 0.1F && third->desc.mesh[0].vertices[3] == 0.1F);
    free(native), free(mjcf);
    lw_model_destroy(again), lw_model_destroy(third), lw_model_destroy(model);
}

// ---------------------------------------------------------------------------------- SDF from collisions

#define SDF(inertial, rest)                                                                        \
    "<sdf version='1.11'><model name='m'><link name='l'><inertial auto='true'>" inertial           \
    "</inertial>" rest "</link></model></sdf>"

static void sdf_inertia_is_that_of_the_collisions(void **state)
{
    (void)state;
    const lw_read_desc here = {.folder = inside("arm/urdf")}, held = {.base = LW_BASE_FIXED};
    // two boxes of 1000 and 500 kg/m^3, and a tetrahedron, volume 1, centre a quarter of its corners
    lw_model *model = parse(
        SDF("",
            "<collision name='a'><geometry><box><size>1 2 3</size></box></geometry></collision>"
            "<collision name='b'><pose>4 0 0 0 0 1.5707963267948966</pose><density>500</density>"
            "<geometry><box><size>2 1 3</size></box></geometry></collision>"),
        "sdf", &here);
    const lw_body_desc *b = body_of(model, "l");
    const double m1 = 6000, m2 = 3000, x = 4 * m2 / (m1 + m2);
    assert_true(fabs(b->mass - 9000) < 1e-9 && fabs(b->com.x - x) < 1e-12);
    assert_true(fabs(b->inertia[0] - (m1 + m2) * (4 + 9) / 12) < 1e-8);
    assert_true(fabs(b->inertia[1] -
                     ((m1 + m2) * (1 + 9) / 12 + m1 * x * x + m2 * (4 - x) * (4 - x))) < 1e-7);
    lw_model_destroy(model);
    model = parse(SDF("<density>10</density><mass>5</mass>",
                      "<collision name='a'><geometry><mesh><uri>b.obj</uri>"
                      "<scale>1 1 -1</scale></mesh></geometry></collision>"),
                  "sdf", &here);
    b = body_of(model, "l");
    assert_true(fabs(b->mass - 5) < 1e-14 && fabs(b->com.x - 0.25) < 1e-14 &&
                fabs(b->com.z + 0.75) < 1e-14);
    assert_true(fabs(b->inertia[3] + 5 * (2 / 20.0 - 0.25 * 0.5)) < 1e-13);
    lw_model_destroy(model);
    refuse(
        SDF("",
            "<collision name='a'><geometry><mesh><uri>no.obj</uri></mesh></geometry></collision>"),
        "sdf", &here, LW_ERR_MODEL,
        "the mass of the link depends on mesh 'no.obj': the file is not found");
    model = parse(SDF("", "<collision name='a'><geometry><plane/></geometry></collision>"), "sdf",
                  &held);
    assert_true(warns(model, "without a volume") && warns(model, "massless (1): l"));
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------------------- drawing

static void count(void *user, const char *text)
{
    snprintf(user, 1000, "%.990s", text);
}

static void views_leave_out_what_cannot_be_read_or_is_too_large(void **state)
{
    (void)state;
    char said[1000] = "", *text = NULL;
    size_t size, small = 0;
    lw_error error;
    const lw_read_desc desc = {.folder = inside("arm/urdf"), .base = LW_BASE_FIXED};
    lw_model *model = parse(URDF("<mesh filename='b.obj'/>"), "urdf", &desc);
    for (int k = 0; k < 4; k++) {
        const lw_view_desc view = {.report = count, .user = said, .max_bytes = k == 1 ? 100 : 0};
        if (k == 2) put("arm/urdf/b.obj", "v 0 0 0\nf 1 1 2\n");
        if (k == 3) unlink(inside("arm/urdf/b.obj"));
        FILE *file = open_memstream(&text, &size);
        *said = 0;
        OK(lw_view_page(model, NULL, &view, file, &error));
        fclose(file);
        if (k == 0) small = size;
        if (k == 0) assert_string_equal(said, "");
        if (k == 0)
            assert_non_null(strstr(text, "{\"vertices\":12,\"triangles\":4,\"half\":[0.5,1,1.5]"));
        if (k == 1) assert_non_null(strstr(said, "its 4 triangles exceed the limit"));
        if (k == 2) assert_non_null(strstr(said, "line 2: face: vertex '2' does not exist"));
        if (k == 3) assert_non_null(strstr(said, "b.obj' is not drawn: "));
        if (k > 0) assert_true(size < small && strstr(text, "\"meshes\":[null,\nnull]") != NULL);
        free(text);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_from_meshes_are_those_of_mujoco),
        cmocka_unit_test(a_missing_mesh_is_an_error_only_where_mass_depends_on_it),
        cmocka_unit_test(files_are_searched_in_packages),
        cmocka_unit_test(conversions_keep_meshes),
        cmocka_unit_test(vertices_of_a_model_are_written),
        cmocka_unit_test(sdf_inertia_is_that_of_the_collisions),
        cmocka_unit_test(views_leave_out_what_cannot_be_read_or_is_too_large),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
