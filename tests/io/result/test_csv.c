// test_csv.c -- CSV results: columns by level, numbers that read back, failures to write.
#include "spatial/rotation.h"
#include "support/given.h"

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

// ---------------------------------------------------------------------------------------- support

// A temporary file in the working folder.
typedef struct scratch {
    char path[64];
    char *text; // what was written
} scratch;

static scratch new_scratch(void)
{
    scratch s = {.path = "test_csv_XXXXXX"};
    const int file = mkstemp(s.path);
    assert_true(file >= 0);
    close(file);
    return s;
}

static void read_scratch(scratch *s)
{
    FILE *file = fopen(s->path, "rb");
    assert_non_null(file);
    assert_int_equal(0, fseek(file, 0, SEEK_END));
    const long size = ftell(file);
    rewind(file);
    s->text = calloc(1, (size_t)size + 1);
    assert_non_null(s->text);
    assert_int_equal(size, fread(s->text, 1, (size_t)size, file));
    fclose(file);
    remove(s->path);
}

enum { MAX_ITEMS = 64 };

// An observation with distinct numbers.
typedef struct snapshot {
    double position[MAX_ITEMS][3], quaternion[MAX_ITEMS][4], velocity[MAX_ITEMS][3],
        angular_velocity[MAX_ITEMS][3];
    double acceleration[MAX_ITEMS][3], angular_acceleration[MAX_ITEMS][3], q[MAX_ITEMS],
        qd[MAX_ITEMS], qdd[MAX_ITEMS];
    double reaction[MAX_ITEMS][6];
    lw_observation o;
} snapshot;

static void fill(double *x, int n, double first)
{
    for (int i = 0; i < n; i++) x[i] = first + i / 7.0;
}

static void make_snapshot(snapshot *m, lw_observe level)
{
    memset(m, 0, sizeof *m);
    fill(m->position[0], 3 * MAX_ITEMS, 100);
    for (int i = 0; i < MAX_ITEMS; i++) m->quaternion[i][0] = 0.6, m->quaternion[i][2] = 0.8;
    fill(m->velocity[0], 3 * MAX_ITEMS, 200);
    fill(m->angular_velocity[0], 3 * MAX_ITEMS, 300);
    fill(m->acceleration[0], 3 * MAX_ITEMS, 400);
    fill(m->angular_acceleration[0], 3 * MAX_ITEMS, 500);
    fill(m->q, MAX_ITEMS, 600);
    fill(m->qd, MAX_ITEMS, 700);
    fill(m->qdd, MAX_ITEMS, 800);
    fill(m->reaction[0], 6 * MAX_ITEMS, 900);
    m->o = (lw_observation){.time = 0.1,
                            .level = level,
                            .position = (const double(*)[3])m->position,
                            .quaternion = (const double(*)[4])m->quaternion,
                            .velocity = (const double(*)[3])m->velocity,
                            .angular_velocity = (const double(*)[3])m->angular_velocity,
                            .acceleration = (const double(*)[3])m->acceleration,
                            .angular_acceleration = (const double(*)[3])m->angular_acceleration,
                            .q = m->q,
                            .qd = m->qd,
                            .qdd = m->qdd,
                            .reaction = (const double(*)[6])m->reaction,
                            .kinetic = 1.5,
                            .potential = -2.25,
                            .work = 3,
                            .momentum = {4, 5, 6},
                            .angular_momentum = {7, 8, 9},
                            .residual = {1e-15, 2e-15, 3e-15}};
}

static scratch write_rows(const lw_model *model, lw_observe level, const snapshot *snapshots, int n)
{
    scratch s = new_scratch();
    lw_csv *csv;
    lw_error error;
    if (lw_csv_create(model, level, s.path, &csv, &error) != LW_OK) fail_msg("%s", error.text);
    for (int i = 0; i < n; i++) assert_int_equal(LW_OK, lw_csv_row(csv, &snapshots[i].o));
    assert_int_equal(LW_OK, lw_csv_close(csv));
    read_scratch(&s);
    return s;
}

// Number of the column `name` in row `row` (from 0), by position in the header.
static double value_of(const char *text, const char *name, int row)
{
    const char *end = strchr(text, '\n'), *p = text;
    int column = 0;
    for (;; column++) {
        const size_t n = strcspn(p, ",\n");
        if (strlen(name) == n && strncmp(p, name, n) == 0) break;
        p += n;
        if (*p == '\n') fail_msg("no column '%s'", name);
        p++;
    }
    p = end + 1;
    for (; row > 0; row--) p = strchr(p, '\n') + 1;
    for (; column > 0; column--) p = strchr(p, ',') + 1;
    return strtod(p, NULL);
}

#define UNIT "mass: 1, inertia: [1, 1, 1, 0, 0, 0]"
static const char cases[] =
    "linkwork: 1\n"
    "bodies: {a: {" UNIT "}, b: {" UNIT "}, c: {" UNIT "}}\n"
    "joints:\n"
    "  C: {type: cylindrical, between: [ground, a], at: [0, 0, 0]}\n"
    "  S: {type: spherical, between: [a, b], at: [0, 0, 0]}\n"
    "  F: {type: free, between: [ground, c], at: [0, 0, 0]}\n"
    "  D: {type: distance, between: [b, c], point1: [0, 0, 0], point2: [0, 1, 0]}\n"
    "markers: {tip: {body: b, position: [0, 0, 1]}}\n";

// ------------------------------------------------------------------------------------------ tests

#define POSE(n) n ".x," n ".y," n ".z," n ".qw," n ".qx," n ".qy," n ".qz"
#define TWIST(n) "," n ".vx," n ".vy," n ".vz," n ".wx," n ".wy," n ".wz"
#define RATE(n) "," n ".ax," n ".ay," n ".az," n ".alx," n ".aly," n ".alz"
#define WRENCH(n) n ".fx," n ".fy," n ".fz," n ".tx," n ".ty," n ".tz"

static void columns_follow_the_level(void **state)
{
    (void)state;
#define SQ "joint.S.qw,joint.S.qx,joint.S.qy,joint.S.qz"
#define SW ",joint.S.wx,joint.S.wy,joint.S.wz"
#define SA ",joint.S.alx,joint.S.aly,joint.S.alz"
    static const char *const headers[] = {
        "time," POSE("body.a") "," POSE("body.b") "," POSE(
            "body.c") ",joint.C.q0,joint.C.q1," SQ "," POSE("joint.F") "," POSE("marker.tip") "\n",
        "time," POSE("body.a") TWIST("body.a") "," POSE("body.b") TWIST("body.b") "," POSE("body.c")
            TWIST("body.c") ",joint.C.q0,joint.C.qd0,joint.C.q1,joint.C.qd1," SQ SW
                            "," POSE("joint.F") TWIST("joint.F") "," POSE("marker.tip")
                                TWIST("marker.tip") "\n",
        NULL,
        "time," POSE("body.a") TWIST("body.a") RATE("body.a") "," POSE("body.b") TWIST("body.b")
            RATE("body.b") "," POSE("body.c") TWIST("body.c")
                RATE("body.c") ",joint.C.q0,joint.C.qd0,joint.C.qdd0,joint.C.q1,joint.C.qd1,joint."
                               "C.qdd1," SQ SW SA "," POSE("joint.F") TWIST("joint.F")
                                   RATE("joint.F") "," POSE("marker.tip") TWIST("marker.tip") RATE(
                                       "marker.tip") ",sys.T,sys.V,sys.E,sys.Wnc,sys.px,sys.py,sys."
                                                     "pz,sys.lx,sys.ly,sys.lz,sys.cpos,sys.cvel\n",
        "time," POSE("body.a") TWIST("body.a") RATE("body.a") "," POSE("body.b") TWIST("body.b")
            RATE("body.b") "," POSE("body.c") TWIST("body.c") RATE(
                "body.c") ",joint.C.q0,joint.C.qd0,joint.C.qdd0,joint.C.q1,joint.C.qd1,joint.C."
                          "qdd1," SQ SW SA "," POSE("joint.F") TWIST("joint.F")
                              RATE("joint.F") "," WRENCH("joint.C") "," WRENCH("joint.S") "," WRENCH(
                                  "joint.F") "," WRENCH("joint.D") "," POSE("mark"
                                                                            "er."
                                                                            "tip")
                                  TWIST("marker.tip")
                                      RATE("marker.tip") ",sys.T,sys.V,sys.E,sys."
                                                         "Wnc,sys.px,sys.py,sys.pz,"
                                                         "sys.lx,sys.ly,sys.lz,sys."
                                                         "cpos,sys.cvel,sys.cacc,sys.continued\n",
    };
    lw_model *model = lwt_yaml(cases);
    for (int level = 0; level <= LW_OBSERVE_REACTION; level++) {
        snapshot m;
        make_snapshot(&m, (lw_observe)level);
        scratch s = write_rows(model, (lw_observe)level, &m, 1);
        char *row = strchr(s.text, '\n') + 1;
        int commas = 0, fields = 0;
        for (const char *p = s.text; p < row; p++) commas += *p == ',';
        for (const char *p = row; *p; p++) fields += *p == ',';
        assert_int_equal(commas, fields);
        *row = 0;
        if (headers[level]) assert_string_equal(headers[level], s.text);
        free(s.text);
    }
    lw_model_destroy(model);
}

static void numbers_read_back_bit_for_bit(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(cases);
    snapshot m;
    make_snapshot(&m, LW_OBSERVE_REACTION);
    scratch s = write_rows(model, LW_OBSERVE_REACTION, &m, 1);
    const lw_joint_info F = lw_model_joint(model, (lw_joint){2}),
                        S = lw_model_joint(model, (lw_joint){1});
    assert_true(value_of(s.text, "time", 0) == 0.1);
    assert_true(value_of(s.text, "body.b.y", 0) == m.position[2][1]);
    assert_true(value_of(s.text, "body.b.qy", 0) == 0.8);
    assert_true(value_of(s.text, "body.c.vz", 0) == m.velocity[3][2]);
    assert_true(value_of(s.text, "body.c.wx", 0) == m.angular_velocity[3][0]);
    assert_true(value_of(s.text, "body.a.az", 0) == m.acceleration[1][2]);
    assert_true(value_of(s.text, "body.a.aly", 0) == m.angular_acceleration[1][1]);
    assert_true(value_of(s.text, "joint.C.q1", 0) == m.q[1]);
    assert_true(value_of(s.text, "joint.C.qdd1", 0) == m.qdd[1]);
    assert_true(value_of(s.text, "joint.S.qw", 0) == m.q[S.q_first]);
    assert_true(value_of(s.text, "joint.S.wz", 0) == m.qd[S.v_first + 2]);
    assert_true(value_of(s.text, "joint.S.alx", 0) == m.qdd[S.v_first]);
    assert_true(value_of(s.text, "joint.F.alz", 0) == m.qdd[F.v_first + 5]);
    assert_true(value_of(s.text, "joint.F.z", 0) == m.q[F.q_first + 2]);
    assert_true(value_of(s.text, "joint.F.qz", 0) == m.q[F.q_first + 6]);
    assert_true(value_of(s.text, "joint.F.wx", 0) == m.qd[F.v_first + 3]);
    assert_true(value_of(s.text, "joint.D.tz", 0) == m.reaction[3][5]);
    assert_true(value_of(s.text, "sys.E", 0) == -0.75);
    assert_true(value_of(s.text, "sys.Wnc", 0) == 3);
    assert_true(value_of(s.text, "sys.ly", 0) == 8);
    assert_true(value_of(s.text, "sys.cacc", 0) == 3e-15);
    free(s.text);
    lw_model_destroy(model);
}

static void quaternions_keep_their_sign(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(cases);
    snapshot m[3];
    for (int i = 0; i < 3; i++) make_snapshot(&m[i], LW_OBSERVE_POSE);
    const int first = lw_model_joint(model, (lw_joint){1}).q_first;
    for (int k = 0; k < 4; k++) { // the second row has the other sign everywhere
        for (int body = 0; body < 4; body++) m[1].quaternion[body][k] *= -1;
        m[1].q[first + k] *= -1;
    }
    scratch s = write_rows(model, LW_OBSERVE_POSE, m, 3);
    for (int row = 0; row < 3; row++) {
        assert_true(value_of(s.text, "body.a.qw", row) == 0.6);
        assert_true(value_of(s.text, "marker.tip.qy", row) == 0.8);
        assert_true(value_of(s.text, "joint.S.qw", row) == m[0].q[first]);
    }
    free(s.text);
    lw_model_destroy(model);
}

// A body with its centre of mass on a parabola, rotating about an axis fixed in it.
static void moving_body(snapshot *m, double t)
{
    static const double axis[3] = {2.0 / 3, 1.0 / 3, -2.0 / 3};
    const double angle = 0.3 + 1.1 * t + 0.4 * t * t, rate = 1.1 + 0.8 * t;
    make_snapshot(m, LW_OBSERVE_ACCELERATION);
    m->o.time = t;
    v3_set(m->position[1], t + 2 * t * t, 1 - t * t, 3 * t);
    v3_set(m->velocity[1], 1 + 4 * t, -2 * t, 3);
    v3_set(m->acceleration[1], 4, -2, 0);
    m->quaternion[1][0] = cos(angle / 2);
    for (int k = 0; k < 3; k++) {
        m->quaternion[1][1 + k] = sin(angle / 2) * axis[k];
        m->angular_velocity[1][k] = rate * axis[k];
        m->angular_acceleration[1][k] = 0.8 * axis[k];
    }
}

static void markers_move_with_their_body(void **state)
{
    (void)state;
    // half a revolution about (1, 1, 0)/sqrt 2 swaps x and y of the marker and reverses z
    lw_model *model = lwt_yaml("linkwork: 1\nbodies: {a: {" UNIT ", com: [0.1, 0.2, 0.3]}}\n"
                               "markers:\n"
                               "  m: {body: a, position: [1, -2, 0.5], orientation: [0, "
                               "0.70710678118654752, 0.70710678118654752, 0]}\n"
                               "  g: {body: ground, position: [1, 2, 3]}\n");
    const double t = 0.7, h = 1e-4;
    snapshot row[3];
    for (int i = 0; i < 3; i++) {
        moving_body(&row[i], t + (i - 1) * h);
        memset(row[i].position[0], 0, sizeof row[i].position[0]);
        const double unit[4] = {1, 0, 0, 0};
        memcpy(row[i].quaternion[0], unit, sizeof unit);
        memset(row[i].velocity[0], 0, sizeof row[i].velocity[0]);
        memset(row[i].angular_velocity[0], 0, sizeof row[i].angular_velocity[0]);
    }
    scratch s = write_rows(model, LW_OBSERVE_ACCELERATION, row, 3);
    static const char *const axis[] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        char x[16], v[16], a[16];
        snprintf(x, sizeof x, "marker.m.%s", axis[k]);
        snprintf(v, sizeof v, "marker.m.v%s", axis[k]);
        snprintf(a, sizeof a, "marker.m.a%s", axis[k]);
        // central differences: error h^2/6 times a third derivative of about ten
        const double vel = (value_of(s.text, x, 2) - value_of(s.text, x, 0)) / (2 * h);
        const double acc = (value_of(s.text, v, 2) - value_of(s.text, v, 0)) / (2 * h);
        assert_true(fabs(vel - value_of(s.text, v, 1)) < 20 * h * h);
        assert_true(fabs(acc - value_of(s.text, a, 1)) < 20 * h * h);
    }
    assert_true(fabs(value_of(s.text, "marker.m.wx", 1) - row[1].angular_velocity[1][1]) < 1e-15);
    assert_true(fabs(value_of(s.text, "marker.m.wz", 1) + row[1].angular_velocity[1][2]) < 1e-15);
    assert_true(fabs(value_of(s.text, "marker.m.aly", 1) - row[1].angular_acceleration[1][0]) <
                1e-15);
    assert_true(value_of(s.text, "marker.g.z", 1) == 3 && value_of(s.text, "marker.g.qw", 1) == 1);
    free(s.text);
    lw_model_destroy(model);
}

static void names_are_quoted_where_necessary(void **state)
{
    (void)state;
    lw_model *model =
        lwt_yaml("linkwork: 1\nbodies: {'a,b': {" UNIT "}, 'say \"c\"': {" UNIT "}}\n");
    scratch s = write_rows(model, LW_OBSERVE_POSE, NULL, 0);
    assert_non_null(strstr(s.text, "time,\"body.a,b.x\",\"body.a,b.y\","));
    assert_non_null(strstr(s.text, ",\"body.say \"\"c\"\".x\","));
    free(s.text);
    lw_model_destroy(model);
}

// The stem of a name is written in pieces; bodies have names of 1 to 60 letters.
static void names_of_all_lengths_are_whole(void **state)
{
    enum { MOST = 60 };
    char text[1 << 14], *to = text + sprintf(text, "linkwork: 1\nbodies: {");
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        for (int i = 0; i < n; i++) *to++ = (char)('a' + (n + i) % 26);
        to += sprintf(to, ": {" UNIT "}%s", n < MOST ? ", " : "}\n");
    }
    lw_model *model = lwt_yaml(text);
    scratch s = write_rows(model, LW_OBSERVE_POSE, NULL, 0);
    const char *at = s.text;
    char *end;
    assert_non_null(end = strchr(s.text, '\n'));
    *end = 0;
    assert_true(!strncmp(at, "time", 4));
    at += 4;
    for (int n = 1; n <= MOST; n++) {
        static const char *const parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
        for (int k = 0; k < 7; k++) {
            char name[MOST + 1], expected[MOST + 16];
            for (int i = 0; i < n; i++) name[i] = (char)('a' + (n + i) % 26);
            name[n] = 0;
            const int length = sprintf(expected, ",body.%s.%s", name, parts[k]);
            assert_true(!strncmp(at, expected, (size_t)length));
            at += length;
        }
    }
    assert_int_equal(*at, 0);
    free(s.text);
    lw_model_destroy(model);
}

static void invalid_rows_are_refused(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(cases);
    scratch s = new_scratch();
    lw_csv *csv;
    snapshot m;
    assert_int_equal(LW_OK, lw_csv_create(model, LW_OBSERVE_TWIST, s.path, &csv, NULL));
    make_snapshot(&m, LW_OBSERVE_POSE);
    assert_int_equal(LW_ERR_ARGUMENT, lw_csv_row(csv, &m.o)); // fewer columns than the header
    make_snapshot(&m, LW_OBSERVE_REACTION);
    m.velocity[2][1] = NAN;
    assert_int_equal(LW_ERR_NOT_FINITE, lw_csv_row(csv, &m.o));
    m.velocity[2][1] = 0;
    m.acceleration[2][1] = NAN; // not a column of this file
    assert_int_equal(LW_OK, lw_csv_row(csv, &m.o));
    assert_int_equal(LW_OK, lw_csv_close(csv));
    read_scratch(&s);
    assert_null(strstr(s.text, "nan"));
    free(s.text);
    lw_model_destroy(model);
}

static void files_that_cannot_be_written_are_reported(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(cases);
    lw_csv *csv;
    lw_error error;
    snapshot m;
    assert_int_equal(LW_ERR_IO,
                     lw_csv_create(model, LW_OBSERVE_POSE, "/nowhere/x.csv", &csv, &error));
    assert_string_equal("/nowhere/x.csv", error.file);
    assert_non_null(strstr(error.text, "No such file"));
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(LW_OK,
                         lw_csv_create(model, LW_OBSERVE_REACTION, "/dev/full", &csv, &error));
        make_snapshot(&m, LW_OBSERVE_REACTION);
        lw_status status = LW_OK;
        for (int i = 0; i < 100 && status == LW_OK; i++) status = lw_csv_row(csv, &m.o);
        assert_int_equal(LW_ERR_IO, status); // the buffer is full before 100 rows are
        assert_int_equal(LW_ERR_IO, lw_csv_close(csv));
        assert_int_equal(LW_OK, lw_csv_create(model, LW_OBSERVE_POSE, "/dev/full", &csv, &error));
        assert_int_equal(LW_ERR_IO, lw_csv_close(csv)); // the header only: detected at close
    }
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------- columns of a reference

// Every column of the table from another program is in ours, in the same order.
static void columns_are_those_of_the_reference(void **state)
{
    (void)state;
    static const char *const names[] = {"P8_mixed_joint_arm", "P9_floating_tree",
                                        "P10_spatial_slider_crank", "P12_ladder_8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        lw_model *model;
        lw_error error;
        snprintf(path, sizeof path, "%s/tests/golden/%s.yaml", LW_SOURCE_DIR, names[i]);
        if (lw_model_read(path, NULL, &model, NULL, &error) != LW_OK) fail_msg("%s", error.text);
        scratch ours = write_rows(model, LW_OBSERVE_REACTION, NULL, 0);
        scratch golden = {.text = calloc(1, 1 << 16)};
        snprintf(path, sizeof path, "%s/tests/golden/%s.csv", LW_SOURCE_DIR, names[i]);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(golden.text, 1 << 16, file));
        fclose(file);
        const char *from = ours.text;
        for (char *name = strtok(golden.text, ",\r\n"); name; name = strtok(NULL, ",\r\n")) {
            const size_t n = strlen(name);
            while (*from && !(strncmp(from, name, n) == 0 && strchr(",\n", from[n])))
                from += strcspn(from, ",\n"), from += *from != 0;
            if (!*from) fail_msg("%s: column '%s' is missing or not in order", names[i], name);
        }
        free(golden.text);
        free(ours.text);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_follow_the_level),
        cmocka_unit_test(numbers_read_back_bit_for_bit),
        cmocka_unit_test(quaternions_keep_their_sign),
        cmocka_unit_test(markers_move_with_their_body),
        cmocka_unit_test(names_are_quoted_where_necessary),
        cmocka_unit_test(names_of_all_lengths_are_whole),
        cmocka_unit_test(invalid_rows_are_refused),
        cmocka_unit_test(files_that_cannot_be_written_are_reported),
        cmocka_unit_test(columns_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
