// test_view.c -- contents of the page and of the glTF file, refused input, failing allocations.
// tests/viewer checks appearance and motion in a browser.
#include "view/pack.h"

#include "support/failing.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#define OK(call) assert_int_equal(LW_OK, (call))

// ---------------------------------------------------------------------------------------- support

#define PENDULUM(name)                                                                             \
    "linkwork: 1\ngravity: [0, 0, -9.81]\nbodies:\n  " name                                        \
    ": {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1, 0, 0],"                          \
    " shape: {box: [2, 0.25, 0.5]}}\n"                                                             \
    "joints:\n  hinge: {type: revolute, between: [ground, " name                                   \
    "], at: [0, 0, 0], axis: [0, 1, 0]}\n"

static lw_model *model_of(const char *text, const lw_allocator *allocator)
{
    lw_model *model = NULL;
    lw_error error = {0};
    if (lw_model_parse(text, strlen(text), "test.yaml",
                       &(lw_read_desc){.format = "yaml", .allocator = allocator}, &model, NULL,
                       &error) != LW_OK)
        fail_msg("%s", error.text);
    return model;
}

enum { EXTRA = 12 }; // columns written by other programs

// Rows of `rod` rotating about y at one radian per second; its quaternion changes sign.
static lw_result *rotating(int rows)
{
    char folder[] = "test_view_XXXXXX", path[32];
    lw_result *result = NULL;
    lw_error error = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("time,body.rod.x,body.rod.y,body.rod.z,body.rod.qw,body.rod.qx,body.rod.qy,body.rod.qz,"
          "body.rod.vx,"
          "joint.hinge.q0,joint.hinge.fx,sys.E",
          file);
    for (int k = 0; k < EXTRA; k++) fprintf(file, ",extra.c%d", k);
    fputc('\n', file);
    for (int i = 0; i < rows; i++) {
        const double t = 0.01 * i, sign = i % 3 ? 1 : -1;
        fprintf(file, "%.17g,%.17g,0,%.17g,%.17g,0,%.17g,0,%.17g,%.17g,1,2", t, cos(t), -sin(t),
                sign * cos(t / 2), sign * sin(t / 2), -sin(t), t);
        for (int k = 0; k < EXTRA; k++) fprintf(file, ",%d", k);
        fputc('\n', file);
    }
    fclose(file);
    if (lw_result_open(path, &result, &error) != LW_OK) fail_msg("%s", error.text);
    remove(path);
    rmdir(folder);
    return result;
}

typedef lw_status writes(const lw_model *, lw_result *, const lw_view_desc *, FILE *, lw_error *);

static char *written(writes *write, const lw_model *model, lw_result *result,
                     const lw_view_desc *desc)
{
    lw_error error = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    if (write(model, result, desc, file, &error) != LW_OK) fail_msg("%s", error.text);
    const size_t size = (size_t)ftell(file);
    char *text = calloc(1, size + 1);
    assert_non_null(text);
    rewind(file);
    assert_int_equal(size, fread(text, 1, size, file));
    fclose(file);
    return text;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text += strlen(what)) n++;
    return n;
}

static int digit(char c)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(letters, c);
    assert_true(at && c);
    return (int)(at - letters);
}

// Decodes base64 up to the closing quote; returns the number of bytes.
static size_t decode(const char *text, unsigned char *bytes)
{
    size_t n = 0;
    for (; *text && *text != '"'; text += 4) {
        unsigned v = 0;
        int k = 0;
        for (; k < 4 && text[k] != '='; k++) v |= (unsigned)digit(text[k]) << (18 - 6 * k);
        for (int i = 0; i < k - 1; i++) bytes[n++] = (unsigned char)(v >> (16 - 8 * i));
    }
    return n;
}

static const char *behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    if (!at) fail_msg("no %s", key);
    return at + strlen(key);
}

// Numbers of lwi_view_pack, [rows][series] of `width` bytes, decoded by the description in pack.h.
static void unpack(const char *text, size_t rows, size_t series, size_t width, unsigned char *out)
{
    const size_t n = rows * series, length = strlen(text);
    unsigned char *packed = malloc(length + 4), *planes = malloc(n * width + 1);
    assert_true(packed && planes);
    z_stream z = {.next_in = packed,
                  .avail_in = (uInt)decode(text, packed),
                  .next_out = planes,
                  .avail_out = (uInt)(n * width + 1)};
    assert_int_equal(Z_OK, inflateInit2(&z, -15));
    assert_int_equal(Z_STREAM_END, inflate(&z, Z_FINISH));
    assert_int_equal(n * width, z.total_out);
    assert_int_equal(0, z.avail_in);
    inflateEnd(&z);
    for (size_t s = 0; s < series; s++) {
        uint64_t x = 0, before = 0;
        for (size_t r = 0; r < rows; r++) {
            uint64_t code = 0;
            for (size_t k = 0; k < width; k++)
                code |= (uint64_t)planes[k * n + s * rows + r] << (8 * k);
            if (width < 8) { // u = x[r] - 2 x[r-1] + x[r-2]
                const uint64_t u = code >> 1 ^ (code & 1 ? UINT64_MAX : 0), last = x;
                x = u + 2 * x - before;
                before = last;
                code = x;
            }
            for (size_t k = 0; k < width; k++)
                out[(r * series + s) * width + k] = (unsigned char)(code >> (8 * k));
        }
    }
    free(packed);
    free(planes);
}

// ------------------------------------------------------------------------------------------- tests

// Any bit pattern is reproduced; the encoding of smooth series is shorter.
static void packed_numbers_come_back(void **state)
{
    (void)state;
    enum { ROWS = 37, SERIES = 3, MOST = ROWS * SERIES * 8 };
    unsigned char bytes[MOST], back[MOST], work[MOST];
    unsigned seed = 1;
    for (int i = 0; i < MOST; i++)
        bytes[i] = (unsigned char)((seed = seed * 1103515245u + 12345u) >> 16);
    const float special[] = {NAN, -0.0F, INFINITY, 1e-45F, -3.4e38F};
    memcpy(bytes, special, sizeof special);
    for (size_t width = 2; width <= 8; width *= 2)
        for (size_t rows = 1; rows <= ROWS; rows += 9) {
            char *text = NULL;
            size_t length = 0;
            FILE *file = open_memstream(&text, &length);
            OK(lwi_view_pack(file, bytes, rows, SERIES, width, work, NULL));
            fclose(file);
            unpack(text, rows, SERIES, width, back);
            assert_memory_equal(bytes, back, rows * SERIES * width);
            free(text);
        }
}

static void smooth_series_are_short(void **state)
{
    (void)state;
    enum { ROWS = 1000, SERIES = 6 };
    float x[ROWS][SERIES];
    unsigned char work[sizeof x];
    char *text = NULL;
    size_t length = 0;
    for (int r = 0; r < ROWS; r++)
        for (int s = 0; s < SERIES; s++) x[r][s] = 1 + sinf(0.003F * (float)(r + 100 * s));
    FILE *file = open_memstream(&text, &length);
    OK(lwi_view_pack(file, x, ROWS, SERIES, sizeof x[0][0], work, NULL));
    fclose(file);
    assert_true(length < sizeof x / 2);
    free(text);
}

static void base64_of_pieces_comes_back(void **state)
{
    (void)state;
    unsigned char bytes[97], back[100];
    for (int i = 0; i < 97; i++) bytes[i] = (unsigned char)(i * 89 + 7);
    for (size_t size = 0; size <= sizeof bytes; size++)
        for (size_t piece = 1; piece < 6; piece++) {
            char *text = NULL;
            size_t length = 0;
            FILE *file = open_memstream(&text, &length);
            lwi_view_base64 b = {.file = file};
            for (size_t at = 0; at < size; at += piece)
                lwi_view_base64_put(&b, bytes + at, size - at < piece ? size - at : piece);
            lwi_view_base64_end(&b);
            fclose(file);
            assert_int_equal(4 * ((size + 2) / 3), length);
            assert_int_equal(size, decode(text, back));
            assert_memory_equal(bytes, back, size);
            free(text);
        }
}

static void a_model_alone_is_a_page(void **state)
{
    (void)state;
    lw_model *model = model_of(PENDULUM("rod"), NULL);
    char *page = written(lw_view_page, model, NULL, &(lw_view_desc){.title = "one <rod>"});
    unsigned char bytes[64];
    float place[6];
    double time;
    assert_memory_equal("<!DOCTYPE html>", page, 15);
    assert_int_equal(0, count(page, "<!--DATA-->"));
    assert_non_null(strstr(page, "\"title\":\"one \\u003crod>\""));
    assert_non_null(strstr(page, "\"rows\":1,"));
    unpack(behind(page, "\"time\":\""), 1, 1, sizeof time, bytes);
    memcpy(&time, bytes, sizeof time);
    assert_true(time == 0);
    unpack(behind(page, "\"position\":\""), 1, 6, sizeof *place, bytes);
    memcpy(place, bytes, sizeof place);
    assert_true(place[0] == 0 && place[3] == 1 && place[4] == 0 && place[5] == 0);
    assert_non_null(strstr(page, "\"columns\":[]"));
    assert_non_null(strstr(page, "{\"type\":\"box\",\"size\":[2,0.25,0.5],\"position\":[0,0,0]"));
    assert_non_null(
        strstr(behind(page, "<!-- This page contains three.js"), "Permission is hereby granted"));
    free(page);
    lw_model_destroy(model);
}

// A name cannot end the script or the string that contains it.
static void names_of_all_kinds_are_safe(void **state)
{
    (void)state;
    lw_model *plain = model_of(PENDULUM("rod"), NULL);
    lw_model *model = model_of(PENDULUM("\"</script>'\\\"\xc3\xa9 <!--\""), NULL);
    char *reference = written(lw_view_page, plain, NULL, NULL),
         *page = written(lw_view_page, model, NULL, NULL);
    assert_int_equal(count(reference, "</script"), count(page, "</script"));
    assert_int_equal(count(reference, "<!--"), count(page, "<!--"));
    assert_non_null(strstr(page, "\"name\":\"\\u003c/script>'\\\"\xc3\xa9 \\u003c!--\""));
    free(page);
    page = written(lw_view_gltf, model, NULL, NULL);
    assert_non_null(strstr(page, "\"name\":\"\\u003c/script>'\\\"\xc3\xa9 \\u003c!--\""));
    free(page);
    free(reference);
    lw_model_destroy(plain);
    lw_model_destroy(model);
}

static void a_long_motion_is_thinned_evenly(void **state)
{
    (void)state;
    const int rows = 1000;
    lw_model *model = model_of(PENDULUM("rod"), NULL);
    lw_result *result = rotating(rows);
    lwi_arena arena;
    lwi_view_motion all, some;
    lwi_arena_init(&arena, &model->arena.allocator);
    OK(lwi_view_motion_read(model, result, 1e6, &arena, &all, NULL));
    assert_int_equal(rows, all.nrow);
    const double each = 2 * 20 + 8; // bytes of two poses and the time
    OK(lwi_view_motion_read(model, result, 100 * each, &arena, &some, NULL));
    assert_in_range(some.nrow, 50, 101);
    assert_int_equal(0, some.row[0]);
    assert_int_equal(rows - 1, some.row[some.nrow - 1]);
    for (long i = 1; i + 1 < some.nrow; i++) assert_int_equal(i * some.row[1], some.row[i]);
    for (long i = 0; i < some.nrow; i++) {
        assert_true(some.time[i] == all.time[some.row[i]]);
        assert_memory_equal(some.position + 6 * i, all.position + 6 * some.row[i],
                            6 * sizeof(float));
    }
    lwi_arena_free(&arena);
    lw_result_close(result);
    lw_model_destroy(model);
}

// q and -q are the same orientation: interpolation between rows takes the shorter path.
static void orientations_do_not_jump(void **state)
{
    (void)state;
    lw_model *model = model_of(PENDULUM("rod"), NULL);
    lw_result *result = rotating(700); // more than one revolution
    lwi_arena arena;
    lwi_view_motion m;
    lwi_arena_init(&arena, &model->arena.allocator);
    OK(lwi_view_motion_read(model, result, 1e6, &arena, &m, NULL));
    for (long i = 1; i < m.nrow; i++) {
        const float *q = m.rotation + 8 * i + 4, *before = q - 8;
        assert_true(q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3] >
                    0.99F);
        assert_true(m.rotation[8 * i] == 1); // the ground
    }
    lwi_arena_free(&arena);
    lw_result_close(result);
    lw_model_destroy(model);
}

// Columns beyond the limit are counted, and the motion of bodies is omitted first; poses are not
// columns.
static void columns_fit(void **state)
{
    (void)state;
    lw_model *model = model_of(PENDULUM("rod"), NULL);
    lw_result *result = rotating(100);
    char *page = written(lw_view_page, model, result, NULL);
    assert_non_null(strstr(page, "\"left_out\":0}"));
    for (const char *const *name =
             (const char *const[]){"sys.E", "joint.hinge.q0", "joint.hinge.fx", "body.rod.x",
                                   "body.rod.vx", NULL};
         *name; name++) {
        char text[64];
        snprintf(text, sizeof text, "{\"name\":\"%s\",", *name);
        assert_non_null(strstr(page, text));
    }
    assert_null(strstr(page, "{\"name\":\"body.rod.qw\""));
    free(page);
    // 100 rows of two bodies just fit, with twelve columns of 400 bytes: energy, coordinate, ten
    // others.
    page = written(lw_view_page, model, result, &(lw_view_desc){.max_bytes = 100 * 48 + 1});
    assert_non_null(strstr(page, "\"left_out\":7}"));
    assert_non_null(strstr(page, "{\"name\":\"sys.E\","));
    assert_non_null(strstr(page, "{\"name\":\"extra.c9\","));
    assert_null(strstr(page, "{\"name\":\"body."));
    free(page);
    lw_result_close(result);
    lw_model_destroy(model);
}

static void another_models_result_is_refused_by_name(void **state)
{
    (void)state;
    lw_model *model = model_of(PENDULUM("arm"), NULL);
    lw_result *result = rotating(3);
    lw_error error = {0};
    FILE *file = tmpfile();
    assert_int_equal(LW_ERR_ARGUMENT, lw_view_page(model, result, NULL, file, &error));
    assert_non_null(strstr(error.text, "'body.arm.x'"));
    assert_int_equal(LW_ERR_ARGUMENT, lw_view_gltf(model, result, NULL, file, &error));
    assert_non_null(strstr(error.text, "'body.arm.x'"));
    assert_int_equal(LW_ERR_ARGUMENT, lw_view_page(NULL, result, NULL, file, NULL));
    const lw_view_clips empty = {.count = 1, .rows = 1, .seconds = 1};
    assert_int_equal(LW_ERR_ARGUMENT,
                     lw_view_page(model, NULL, &(lw_view_desc){.clips = &empty}, file, &error));
    assert_non_null(strstr(error.text, "clips: expected at least one with two rows"));
    assert_int_equal(LW_ERR_ARGUMENT, lw_view_gltf(model, result, NULL, NULL, NULL));
    fclose(file);
    lw_result_close(result);
    lw_model_destroy(model);
}

static void nothing_to_see_is_said(void **state)
{
    (void)state;
    lw_model *model =
        model_of("linkwork: 1\nbodies:\n  dot: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}\n", NULL);
    lw_error error = {0};
    FILE *file = tmpfile();
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_view_gltf(model, NULL, NULL, file, &error));
    assert_non_null(strstr(error.text, "nothing to draw"));
    fclose(file);
    lw_model_destroy(model);
}

static void a_full_disk_is_said(void **state)
{
    (void)state;
    lw_model *model = model_of(PENDULUM("rod"), NULL);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen("/dev/full", "w");
        if (!file) skip();
        setvbuf(file, NULL, _IONBF, 0);
        assert_int_equal(LW_ERR_IO,
                         (i ? lw_view_gltf : lw_view_page)(model, NULL, NULL, file, NULL));
        fclose(file);
    }
    lw_model_destroy(model);
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    lwt_failing f = {.left = 1000000};
    const lw_allocator allocator = lwt_failing_allocator(&f);
    lw_model *model = model_of(PENDULUM("rod"), &allocator);
    lw_result *result = rotating(5);
    const long before = f.live;
    for (int i = 0; i < 2; i++) {
        lw_status status = LW_ERR_MEMORY;
        long n = 0;
        for (; status != LW_OK; n++) {
            FILE *file = fopen("/dev/null", "w");
            f.left = n;
            status = (i ? lw_view_gltf : lw_view_page)(model, result, NULL, file, NULL);
            if (status != LW_OK) assert_int_equal(LW_ERR_MEMORY, status);
            assert_int_equal(before, f.live);
            fclose(file);
        }
        assert_true(n > 1);
    }
    f.left = 1000000;
    lw_result_close(result);
    lw_model_destroy(model);
    assert_int_equal(0, f.live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_of_pieces_comes_back),
        cmocka_unit_test(packed_numbers_come_back),
        cmocka_unit_test(smooth_series_are_short),
        cmocka_unit_test(a_model_alone_is_a_page),
        cmocka_unit_test(names_of_all_kinds_are_safe),
        cmocka_unit_test(a_long_motion_is_thinned_evenly),
        cmocka_unit_test(orientations_do_not_jump),
        cmocka_unit_test(columns_fit),
        cmocka_unit_test(another_models_result_is_refused_by_name),
        cmocka_unit_test(nothing_to_see_is_said),
        cmocka_unit_test(a_full_disk_is_said),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
