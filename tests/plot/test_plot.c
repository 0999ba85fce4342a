// test_plot.c -- plot files: format, size, text; unusual results.
#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// ---------------------------------------------------------------------------------------- support

static char folder[] = "test_plot_XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *path_of(const char *name)
{
    static char path[4][128];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is not there", path);
    fseek(file, 0, SEEK_END);
    const long n = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)n + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)n, file), (size_t)n);
    fclose(file);
    remove(path);
    if (size) *size = (size_t)n;
    return text;
}

static lw_result *result_of(const char *name, const char *csv)
{
    lw_result *result = NULL;
    lw_error error = {0};
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    fputs(csv, file);
    fclose(file);
    if (lw_result_open(path_of(name), &result, &error) != LW_OK) fail_msg("%s", error.text);
    remove(path_of(name));
    return result;
}

static const char table[] = "time,body.rod.x,sys.T,sys.V,sys.E,sys.Wnc,sys.cpos\n"
                            "0,1,0,5,5,0,0\n"
                            "0.5,0.8,2,3,5.0000000001,0,1e-12\n"
                            "1,0.4,4,1,5,0,3e-12\n";

static void expect_count(const char *svg, const char *what, int expected)
{
    int n = 0;
    for (const char *at = svg; (at = strstr(at, what)); at += strlen(what)) n++;
    if (n != expected) fail_msg("'%s' is there %d times, expected %d", what, n, expected);
}

static void expect_failure(lw_status status, lw_status expected, const lw_error *error,
                           const char *text)
{
    assert_int_equal(status, expected);
    if (!strstr(error->text, text)) fail_msg("'%s' is not in: %s", text, error->text);
}

static bool has_format(const char *name)
{
    for (int i = 0; i < lw_format_count(); i++)
        if (!strcmp(lw_format_info(i).name, name)) return true;
    return false;
}

// ---------------------------------------------------------------------------------------- options

static void options_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *text;
    } wrong[] = {{"from", "soon", "'soon'"},
                 {"size", "900", "WxH"},
                 {"size", "10x10", "at least"},
                 {"size", "900x600@100", "16384"},
                 {"theme", "drak", "did you mean dark"},
                 {"view", "zx", "expected one of"},
                 {"preset", "energi", "energy"},
                 {"titel", "x", "did you mean title"},
                 {"size", "nanx600", "WxH"},
                 {"to", "inf", "'inf'"},
                 {"y", "", "column"},
                 {"size", "900x600@2x", "WxH"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lw_plot_options o = {0};
        lw_error error = {0};
        expect_failure(lw_plot_set(&o, wrong[i].key, wrong[i].value, &error), LW_ERR_ARGUMENT,
                       &error, wrong[i].text);
    }
    lw_plot_options o = {0};
    assert_int_equal(lw_plot_set(&o, "size", "640x480@2.5", NULL), LW_OK);
    assert_true(o.width == 640 && o.height == 480 && o.scale == 2.5);
    assert_int_equal(lw_plot_set(&o, "log", NULL, NULL), LW_OK);
    assert_true(o.log);
    assert_int_equal(lw_plot_set(&o, "y", NULL, NULL), LW_ERR_ARGUMENT);
}

// ------------------------------------------------------------------------------- SVG, PNG and PDF

static void an_svg_says_what_it_shows(void **state)
{
    (void)state;
    lw_result *r = result_of("swing.csv", table);
    const char *name = "some/where/swing <1>.csv";
    const lw_plot_options o = {.preset = LW_PLOT_ENERGY, .has_preset = 1};
    assert_int_equal(lw_plot_results(&r, &name, 1, &o, path_of("a.svg"), NULL), LW_OK);
    char *svg = read_file(path_of("a.svg"), NULL);
    assert_memory_equal(svg, "<?xml", 5);
    expect_count(svg, "<svg ", 1);
    expect_count(svg, "</svg>", 1);
    expect_count(svg, "width=\"900\" height=\"600\"", 1);
    expect_count(svg, ">energy: swing &lt;1&gt;.csv<", 1); // markup in a name is escaped
    expect_count(svg, ">kinetic T<", 1);
    expect_count(svg, ">time [s]<", 1);
    expect_count(svg, ">drift of E \u2212 Wnc<", 1);
    expect_count(svg, "10\u207B\u00B9\u00B2 J]", 1);
    expect_count(svg, "nan", 0);
    free(svg);
    lw_result_close(r);
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void a_png_has_the_size_asked_for(void **state)
{
    (void)state;
    lw_result *r = result_of("swing.csv", table);
    const char *name = "swing.csv";
    const lw_plot_options o = {.width = 480, .height = 320, .scale = 1.5, .dark = 1};
    lw_error error = {0};
    const lw_status status = lw_plot_results(&r, &name, 1, &o, path_of("a.png"), &error);
    if (has_format("png")) {
        size_t size;
        assert_int_equal(status, LW_OK);
        char *png = read_file(path_of("a.png"), &size);
        assert_true(size > 1000);
        assert_memory_equal(png, "\x89PNG\r\n\x1A\n", 8);
        assert_int_equal(big_endian((unsigned char *)png + 16), 720);
        assert_int_equal(big_endian((unsigned char *)png + 20), 480);
        free(png);
    } else {
        expect_failure(status, LW_ERR_UNSUPPORTED, &error, "libcairo2-dev");
    }
    lw_result_close(r);
}

static bool contains(const char *bytes, size_t size, const char *what)
{
    const size_t n = strlen(what);
    for (size_t i = 0; i + n <= size; i++)
        if (!memcmp(bytes + i, what, n)) return true;
    return false;
}

static void a_pdf_has_one_page_text_and_no_date(void **state)
{
    (void)state;
    lw_result *r = result_of("swing.csv", table);
    const char *name = "swing.csv";
    const lw_plot_options o = {.width = 480, .height = 320, .scale = 3}; // no effect on a PDF
    lw_error error = {0};
    if (has_format("pdf")) {
        size_t size[2];
        char *pdf[2];
        for (int i = 0; i < 2; i++) {
            assert_int_equal(lw_plot_results(&r, &name, 1, &o, path_of("a.pdf"), &error), LW_OK);
            pdf[i] = read_file(path_of("a.pdf"), &size[i]);
        }
        assert_memory_equal(pdf[0], "%PDF-1.", 7);
        assert_memory_equal(pdf[0] + size[0] - 6, "%%EOF\n", 6);
        assert_true(contains(pdf[0], size[0], "/MediaBox [ 0 0 480 320 ]"));
        assert_true(contains(pdf[0], size[0], "/Count 1"));
        assert_true(contains(pdf[0], size[0], "/ToUnicode")); // the text is searchable
        assert_false(contains(pdf[0], size[0], "/CreationDate"));
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(pdf[0], pdf[1], size[0]);
        free(pdf[0]), free(pdf[1]);
    } else {
        expect_failure(lw_plot_results(&r, &name, 1, &o, path_of("a.pdf"), &error),
                       LW_ERR_UNSUPPORTED, &error, "libcairo2-dev");
    }
    lw_result_close(r);
}

static void files_that_cannot_be_are_refused(void **state)
{
    (void)state;
    lw_result *r = result_of("swing.csv", table);
    const char *name = "swing.csv";
    lw_error error = {0};
    expect_failure(lw_plot_results(&r, &name, 1, NULL, "a.eps", &error), LW_ERR_ARGUMENT, &error,
                   ".svg, .png or .pdf");
    assert_int_equal(lw_plot_results(&r, &name, 1, NULL, "no/where/a.svg", &error), LW_ERR_IO);
    assert_string_equal(error.file, "no/where/a.svg");
    if (has_format("png")) {
        assert_int_equal(lw_plot_results(&r, &name, 1, NULL, "no/where/a.png", &error), LW_ERR_IO);
        assert_int_equal(lw_plot_results(&r, &name, 1, NULL, "no/where/a.pdf", &error), LW_ERR_IO);
        assert_string_equal(error.file, "no/where/a.pdf");
    }
    assert_int_equal(lw_plot_results(&r, &name, 0, NULL, "a.svg", &error), LW_ERR_ARGUMENT);
    const lw_plot_options viewed = {.view = LW_VIEW_XY};
    expect_failure(lw_plot_results(&r, &name, 1, &viewed, "a.svg", &error), LW_ERR_ARGUMENT, &error,
                   "initial");
    lw_plot_options many = {.width = 300, .height = 200, .ny = 9};
    for (int i = 0; i < many.ny; i++) many.y[i] = "sys.T";
    expect_failure(lw_plot_results(&r, &name, 1, &many, "a.svg", &error), LW_ERR_ARGUMENT, &error,
                   "do not fit");
    lw_result_close(r);
}

// ----------------------------------------------------------------------------------- unusual results

static void draw_panel(const char *csv, const char *y, char **svg)
{
    lw_result *r = result_of("extreme.csv", csv);
    const char *name = "extreme.csv";
    lw_error error = {0};
    const lw_plot_options o = {.y = {y}, .ny = 1};
    if (lw_plot_results(&r, &name, 1, &o, path_of("extreme.svg"), &error) != LW_OK)
        fail_msg("%s", error.text);
    *svg = read_file(path_of("extreme.svg"), NULL);
    lw_result_close(r);
}

static void one_row_is_a_dot(void **state)
{
    (void)state;
    char *svg;
    draw_panel("time,sys.T\n3,4\n", "sys.T", &svg);
    expect_count(svg, "<circle", 1);
    free(svg);
}

static void constants_and_huge_numbers_are_drawn(void **state)
{
    (void)state;
    char *svg;
    draw_panel("time,sys.T\n0,7\n1,7\n", "sys.T", &svg);
    expect_count(svg, ">7.0<", 1);
    free(svg);
    draw_panel("time,a,b\n0,1e308,-1e308\n1,-1e308,1e-320\n2,1e10,0\n", "a,b", &svg);
    expect_count(svg, "nan", 0);
    expect_count(svg, "inf", 0);
    free(svg);
    draw_panel("time,a\n0,1e307\n1,-1e307\n", "a", &svg);
    expect_count(svg, "no finite numbers here", 1);
    free(svg);
}

static void names_of_any_letters_are_drawn(void **state)
{
    (void)state;
    char *svg;
    draw_panel("time,body.\xff&\x01.x,body.\u6f22\u5b57.x\n0,1,2\n1,2,3\n", "body.*.x", &svg);
    expect_count(svg, ">?&amp;?<", 1);
    expect_count(svg, ">\u6f22\u5b57<", 1);
    free(svg);
}

static void rows_are_chosen_by_time(void **state)
{
    (void)state;
    lw_result *r = result_of("swing.csv", table);
    const char *name = "swing.csv";
    lw_error error = {0};
    lw_plot_options o = {.y = {"sys.T"}, .ny = 1, .has_from = 1, .from = 0.5};
    assert_int_equal(lw_plot_results(&r, &name, 1, &o, path_of("a.svg"), NULL), LW_OK);
    char *svg = read_file(path_of("a.svg"), NULL);
    expect_count(svg, ">0.50<", 1);
    expect_count(svg, ">0.40<", 0);
    free(svg);
    o.from = 2;
    expect_failure(lw_plot_results(&r, &name, 1, &o, "a.svg", &error), LW_ERR_ARGUMENT, &error,
                   "0 to 1 s");
    lw_result_close(r);
}

static void results_lie_over_each_other(void **state)
{
    (void)state;
    lw_result *r[3] = {result_of("a.csv", table), result_of("b.csv", table),
                       result_of("c.csv", "time,sys.T\n0,1\n1,2\n")};
    const char *names[3] = {"x/a.csv", "x/b.csv", "x/c.csv"};
    lw_error error = {0};
    lw_plot_options o = {.y = {"sys.T", "sys.T,sys.V"}, .ny = 2};
    assert_int_equal(lw_plot_results(r, names, 2, &o, path_of("ab.svg"), &error), LW_OK);
    char *svg = read_file(path_of("ab.svg"), NULL);
    expect_count(svg, ">a<", 2);
    expect_count(svg, ">b<", 2);
    expect_count(svg, ">T<", 1);
    free(svg);
    expect_failure(lw_plot_results(r, names, 3, &o, "abc.svg", &error), LW_ERR_ARGUMENT, &error,
                   "x/c.csv has no column 'sys.V'");
    for (int i = 0; i < 3; i++) lw_result_close(r[i]);
}

// ------------------------------------------------------------------------------------- mechanisms

static lw_model *model_of(const char *text)
{
    static const lw_read_desc yaml = {.format = "yaml"};
    lw_model *model;
    lw_error error = {0};
    if (lw_model_parse(text, strlen(text), "m.yaml", &yaml, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    return model;
}

// A body on each joint type, with each shape, and a spring.
static const char everything[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  b1: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0], shape: {box: [1, 0.2, "
    "0.1]}}\n"
    "  b2: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [2, 0, 0], shape: {sphere: 0.3}}\n"
    "  b3: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [3, 1, 0], shape: {cylinder: [0.1, "
    "1]}}\n"
    "  b4: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [3, 1, 1], shape: {capsule: [0.1, "
    "1]}}\n"
    "  b5: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 3, 0]}\n"
    "  b6: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 4, 1]}\n"
    "  b7: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 4, 1]}\n"
    "  b8: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [2, 4, 2]}\n"
    "  b9: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [4, 4, 4]}\n"
    "  tip: {mass: 0, inertia: [0, 0, 0, 0, 0, 0], position: [2, 4, 3]}\n"
    "joints:\n"
    "  j1: {type: revolute, between: [ground, b1], at: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  j2: {type: prismatic, between: [b1, b2], at: [1.5, 0, 0], axis: [1, 0, 0]}\n"
    "  j3: {type: spherical, between: [b2, b3], at: [2.5, 0, 0]}\n"
    "  j4: {type: universal, between: [b3, b4], at: [3, 1, 0.5], axis: [1, 0, 0], axis2: [0, 1, "
    "0]}\n"
    "  j5: {type: cylindrical, between: [ground, b5], at: [0, 2, 0], axis: [0, 0, 1]}\n"
    "  j6: {type: screw, between: [b5, b6], at: [0, 3, 1], axis: [0, 0, 1], pitch: 0.1}\n"
    "  j7: {type: planar, between: [b6, b7], at: [0, 4, 1], axis: [1, 1, 1]}\n"
    "  j8: {type: fixed, between: [b7, b8], at: [1, 4, 2]}\n"
    "  j9: {type: distance, between: [b4, b7], point1: [0, 0, 0], point2: [0, 0, 0]}\n"
    "  j10: {type: fixed, between: [b8, tip], at: [2, 4, 3]}\n"
    "forces:\n"
    "  s: {type: spring, between: [ground, b9], stiffness: 1, length: 1, from: [0, 0, 1], to: [4, "
    "4, 4]}\n";

static void a_mechanism_has_names_and_views(void **state)
{
    (void)state;
    lw_model *model = model_of(everything);
    lw_error error = {0};
    if (lw_plot_mechanism(model, NULL, NULL, path_of("m.svg"), &error) != LW_OK)
        fail_msg("%s", error.text);
    char *svg = read_file(path_of("m.svg"), NULL);
    expect_count(svg, ">m.yaml at t = 0 s: 9 bodies, 9 joints<", 1);
    expect_count(svg, ">xz<", 1);
    expect_count(svg, ">oblique<", 1);
    expect_count(svg, ">tip<", 0); // a massless frame is not drawn
    assert_non_null(strstr(svg, ">b1<"));
    assert_non_null(strstr(svg, ">j4<"));
    expect_count(svg, "nan", 0);
    free(svg);
    for (int view = LW_VIEW_XY; view <= LW_VIEW_ISO; view++) {
        const lw_plot_options o = {.view = (lw_view)view, .dark = view % 2};
        assert_int_equal(lw_plot_mechanism(model, NULL, &o, path_of("m.svg"), NULL), LW_OK);
        svg = read_file(path_of("m.svg"), NULL);
        expect_count(svg, "<clipPath", 1); // one view
        free(svg);
    }
    if (has_format("png")) {
        assert_int_equal(lw_plot_mechanism(model, NULL, NULL, path_of("m.png"), NULL), LW_OK);
        remove(path_of("m.png"));
        assert_int_equal(lw_plot_mechanism(model, NULL, NULL, path_of("m.pdf"), NULL), LW_OK);
        remove(path_of("m.pdf"));
    }
    lw_model_destroy(model);
}

static const char pendulum[] =
    "linkwork: 1\n"
    "bodies: {rod: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, -1]}}\n"
    "joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}\n";

static void a_planar_mechanism_has_one_view(void **state)
{
    (void)state;
    lw_model *model = model_of(pendulum);
    assert_int_equal(lw_plot_mechanism(model, NULL, NULL, path_of("m.svg"), NULL), LW_OK);
    char *svg = read_file(path_of("m.svg"), NULL);
    expect_count(svg, ">xz<", 1);
    expect_count(svg, "<clipPath", 1);
    free(svg);
    lw_model_destroy(model);
}

static void a_mechanism_has_the_poses_of_a_result(void **state)
{
    (void)state;
    lw_model *model = model_of(pendulum);
    lw_result *r =
        result_of("p.csv", "time,body.rod.x,body.rod.y,body.rod.z,body.rod.qw,body.rod.qx,"
                           "body.rod.qy,body.rod.qz\n0,0,0,-1,1,0,0,0\n"
                           "1,70,0,0,0.70710678,0,-0.70710678,0\n");
    lw_result *bare = result_of("q.csv", "time,body.rod.x\n0,0\n");
    lw_plot_options o = {.has_from = 1, .from = 0.9};
    lw_error error = {0};
    assert_int_equal(lw_plot_mechanism(model, r, &o, path_of("m.svg"), NULL), LW_OK);
    char *svg = read_file(path_of("m.svg"), NULL);
    expect_count(svg, ">m.yaml at t = 1 s: 1 body, 1 joint<", 1);
    expect_count(svg, ">60<", 1); // the range of the axis includes that value
    free(svg);
    expect_failure(lw_plot_mechanism(model, bare, &o, "m.svg", &error), LW_ERR_ARGUMENT, &error,
                   "body.rod.y");
    expect_failure(lw_plot_mechanism(model, NULL, &o, "m.svg", &error), LW_ERR_ARGUMENT, &error,
                   "result");
    o = (lw_plot_options){.log = 1};
    expect_failure(lw_plot_mechanism(model, NULL, &o, "m.svg", &error), LW_ERR_ARGUMENT, &error,
                   "of results");
    lw_result_close(r);
    lw_result_close(bare);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(an_svg_says_what_it_shows),
        cmocka_unit_test(a_png_has_the_size_asked_for),
        cmocka_unit_test(a_pdf_has_one_page_text_and_no_date),
        cmocka_unit_test(files_that_cannot_be_are_refused),
        cmocka_unit_test(one_row_is_a_dot),
        cmocka_unit_test(constants_and_huge_numbers_are_drawn),
        cmocka_unit_test(names_of_any_letters_are_drawn),
        cmocka_unit_test(rows_are_chosen_by_time),
        cmocka_unit_test(results_lie_over_each_other),
        cmocka_unit_test(a_mechanism_has_names_and_views),
        cmocka_unit_test(a_planar_mechanism_has_one_view),
        cmocka_unit_test(a_mechanism_has_the_poses_of_a_result),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
