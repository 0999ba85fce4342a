// test_select.c -- names, patterns and presets select panels; errors name what does not exist.
#include "io/text.h"
#include "plot/derived.h"
#include "plot/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

static const lw_column_info columns[] = {
    {"time", "s", "", 1},
    {"body.load.x", "m", "world", 1},
    {"body.load.y", "m", "world", 1},
    {"body.load.z", "m", "world", 1},
    {"body.jib.x", "m", "world", 1},
    {"body.jib.y", "m", "world", 1},
    {"body.jib.z", "m", "world", 1},
    {"joint.a.b.q0", "rad", "", 1},
    {"joint.a.b.qd0", "rad/s", "", 1},
    {"joint.u.q0", "rad", "", 1},
    {"joint.u.qd0", "rad/s", "", 1},
    {"joint.u.q1", "rad", "", 1},
    {"joint.u.qd1", "rad/s", "", 1},
    {"joint.rail.q0", "m", "", 1},
    {"joint.rail.qd0", "m/s", "", 1},
    {"joint.ball.qw", "1", "", 1},
    {"joint.ball.wx", "rad/s", "", 1},
    {"joint.rail.fx", "N", "world", 1},
    {"joint.rail.fy", "N", "world", 1},
    {"joint.rail.fz", "N", "world", 1},
    {"joint.rail.tx", "N m", "world", 1},
    {"joint.rail.ty", "N m", "world", 1},
    {"joint.rail.tz", "N m", "world", 1},
    {"sys.T", "J", "", 1},
    {"sys.V", "J", "", 1},
    {"sys.E", "J", "", 1},
    {"sys.Wnc", "J", "", 1},
    {"sys.cpos", "m or rad", "", 1},
};
static const lwi_plot_table table = {columns, LWI_COUNT(columns), LWI_COUNT(columns), NULL};

typedef struct selected {
    lwi_arena arena;
    lwi_plot_selection s;
    lw_status status;
    lw_error error;
} selected;

static selected choose(const lw_plot_options *options)
{
    selected r = {0};
    lwi_arena_init(&r.arena, NULL);
    r.status = lwi_plot_select(&table, options, &r.arena, &r.s, &r.error);
    return r;
}

static void expect(const lw_plot_options *options, const char *text)
{
    selected r = choose(options);
    assert_int_equal(r.status, LW_ERR_ARGUMENT);
    if (!strstr(r.error.text, text)) fail_msg("'%s' is not in: %s", text, r.error.text);
    lwi_arena_free(&r.arena);
}

static void patterns(void **state)
{
    (void)state;
    assert_true(lwi_text_glob("*", ""));
    assert_true(lwi_text_glob("body.*.x", "body.a.b.x"));
    assert_true(lwi_text_glob("*q?", "joint.a.q0"));
    assert_true(lwi_text_glob("a*b*c", "axxbyybzzc"));
    assert_true(lwi_text_glob("?", "\u00e9")); // one character, two bytes
    assert_false(lwi_text_glob("?", "ab"));
    assert_false(lwi_text_glob("a*b", "ac"));
    assert_false(lwi_text_glob("", "a"));
    assert_false(lwi_text_glob("a", ""));
    assert_true(lwi_text_glob("a**", "a"));
}

static void a_list_is_a_panel(void **state)
{
    (void)state;
    selected r =
        choose(&(lw_plot_options){.y = {"body.load.x", "sys.T,sys.V", "body.*.z"}, .ny = 3});
    assert_int_equal(r.status, LW_OK);
    assert_int_equal(r.s.npanel, 3);
    const lwi_plot_choice *p = r.s.panel;
    assert_string_equal(p[0].title, "body.load.x");
    assert_string_equal(p[0].unit, "m");
    assert_int_equal(p[0].nquantity, 1);
    assert_string_equal(p[0].quantity[0].name, "");
    assert_string_equal(p[1].title, "sys.*");
    assert_string_equal(p[1].quantity[0].name, "T");
    assert_string_equal(p[1].quantity[1].name, "V");
    assert_string_equal(p[2].title, "body.*.z");
    assert_int_equal(p[2].nquantity, 2);
    assert_string_equal(p[2].quantity[0].name, "load");
    assert_string_equal(p[2].quantity[1].name, "jib");
    assert_int_equal(p[2].x, 0);
    lwi_arena_free(&r.arena);
}

static void units_and_columns_of_a_panel_occur_once(void **state)
{
    (void)state;
    selected r = choose(&(lw_plot_options){
        .y = {"body.load.x,joint.u.q0,joint.u.q1,joint.u.q*,*.load.x"}, .ny = 1});
    assert_int_equal(r.status, LW_OK);
    assert_string_equal(r.s.panel[0].unit, "m, rad, rad/s");
    assert_int_equal(r.s.panel[0].nquantity, 5);
    lwi_arena_free(&r.arena);
}

static void errors_of_unknown_names_contain_the_nearest(void **state)
{
    (void)state;
    expect(&(lw_plot_options){.y = {"body.lod.x"}, .ny = 1}, "did you mean body.load.x");
    expect(&(lw_plot_options){.y = {"sys.T,sys.Q"}, .ny = 1}, "'sys.Q'");
    expect(&(lw_plot_options){.y = {"bdy.*"}, .ny = 1}, "no column matches 'bdy.*'");
    expect(&(lw_plot_options){.y = {","}, .ny = 1}, "','");
    expect(&(lw_plot_options){.x = "tim"}, "did you mean time");
    expect(&(lw_plot_options){.y = {"sys.T"}, .ny = 1, .has_preset = 1, .preset = LW_PLOT_ENERGY},
           "both given");
    expect(&(lw_plot_options){.x = "sys.T", .has_preset = 1, .preset = LW_PLOT_PHASE},
           "sets x itself");
}

static void presets_find_their_columns(void **state)
{
    (void)state;
    static const struct {
        lw_plot_preset preset;
        int npanel, nquantity; // nquantity: of the first panel
    } expected[] = {{LW_PLOT_OVERVIEW, 3, 3}, {LW_PLOT_JOINTS, 4, 3},    {LW_PLOT_POSITIONS, 3, 2},
                    {LW_PLOT_ENERGY, 2, 3},   {LW_PLOT_RESIDUALS, 1, 1}, {LW_PLOT_REACTIONS, 2, 1},
                    {LW_PLOT_PHASE, 4, 1}};
    // work-precision compares several results, a tornado is of a table: test_plot
    assert_int_equal(LWI_COUNT(expected) + 2, LW_PLOT_PRESET_COUNT);
    for (int i = 0; i < LWI_COUNT(expected); i++) {
        selected r = choose(&(lw_plot_options){.preset = expected[i].preset, .has_preset = 1});
        assert_int_equal(r.status, LW_OK);
        assert_int_equal(r.s.npanel, expected[i].npanel);
        assert_int_equal(r.s.panel[0].nquantity, expected[i].nquantity);
        lwi_arena_free(&r.arena);
    }
}

static void phase_pairs_rates_with_coordinates(void **state)
{
    (void)state;
    selected r = choose(&(lw_plot_options){.preset = LW_PLOT_PHASE, .has_preset = 1});
    assert_int_equal(r.s.columns, 2);
    assert_false(r.s.shared_x);
    for (int i = 0; i < r.s.npanel; i++) {
        const lwi_plot_choice *p = &r.s.panel[i];
        const char *x = columns[p->x].name, *y = columns[p->quantity[0].column[0]].name;
        const size_t stem = (size_t)(strrchr(x, '.') - x);
        assert_memory_equal(x, y, stem);
        assert_string_equal(strrchr(x, 'q') + 1, strrchr(y, 'd') + 1);
    }
    assert_string_equal(r.s.panel[0].title, "a.b.qd0"); // a name that contains a dot
    lwi_arena_free(&r.arena);
}

static void a_preset_without_its_columns_says_so(void **state)
{
    (void)state;
    static const lw_column_info time[] = {{"time", "s", "", 1}};
    for (int preset = 0; preset < LW_PLOT_PRESET_COUNT; preset++) {
        lwi_arena arena;
        lwi_plot_selection s;
        lw_error error;
        lwi_arena_init(&arena, NULL);
        const lw_plot_options o = {.preset = (lw_plot_preset)preset};
        assert_int_equal(
            lwi_plot_select(&(lwi_plot_table){time, 1, 1, NULL}, &o, &arena, &s, &error),
            LW_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "none of its columns"));
        lwi_arena_free(&arena);
    }
}

// Selecting takes time in proportion to the columns: comparing each with each would take minutes.
static void many_columns_are_selected_at_once(void **state)
{
    (void)state;
    enum { JOINTS = 100000, COLUMNS = 1 + 2 * JOINTS };
    static char name[COLUMNS][24];
    static lw_column_info many[COLUMNS];
    many[0] = (lw_column_info){"time", "s", "", 1};
    for (int i = 1; i < COLUMNS; i++) {
        snprintf(name[i], sizeof name[i], "joint.j%d.q%s0", (i - 1) / 2, i % 2 ? "" : "d");
        many[i] = (lw_column_info){name[i], "rad", "joint", 1};
    }
    const lw_plot_options options[] = {{.preset = LW_PLOT_JOINTS, .has_preset = true},
                                       {.preset = LW_PLOT_PHASE, .has_preset = true},
                                       {.y = {"joint.*.q0,joint.*.qd0,joint.j7.q0"}, .ny = 1}};
    static const int curves[] = {JOINTS, 1, 2 * JOINTS};
    for (int i = 0; i < LWI_COUNT(options); i++) {
        lwi_arena arena;
        lwi_plot_selection s;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(LW_OK, lwi_plot_select(&(lwi_plot_table){many, COLUMNS, COLUMNS, NULL},
                                                &options[i], &arena, &s, NULL));
        assert_int_equal(curves[i], s.panel[0].nquantity);
        lwi_arena_free(&arena);
    }
}

// Rows 0, 1, ... of column k are 10 k + row.
static lw_status read_rows(void *user, int column, double *values)
{
    const int *n = user;
    for (int i = 0; i < *n; i++) values[i] = 10 * column + i;
    return LW_OK;
}

static int column_of(const lwi_plot_table *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (!strcmp(t->info[i].name, name)) return i;
    fail_msg("no column %s", name);
    return -1;
}

static void formulas_of_columns_are_columns(void **state)
{
    (void)state;
    lwi_arena arena;
    lw_error error;
    lwi_plot_selection s;
    lwi_plot_table t = table;
    int rows = 3;
    double values[3];
    lw_plot_options o = {.x = "2*t", .ny = 4};
    o.y[0] = "hypot(joint.rail.fx, 2*joint.rail.fz), sys.T";
    o.y[1] = "joint.rail.f*";
    o.y[2] = "sys.E - sys.V";
    o.y[3] = "joint.rail.tx*joint.ball.wx"; // the angle is no unit of a power
    lwi_arena_init(&arena, NULL);
    if (lwi_plot_derive(&t, &o, &arena, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(4, t.n - t.stored);
    assert_string_equal("N", t.info[t.stored + 1].unit);
    assert_string_equal("J", t.info[t.stored + 2].unit);
    assert_string_equal("W", t.info[t.stored + 3].unit);
    const int fx = column_of(&t, "joint.rail.fx"), fz = column_of(&t, "joint.rail.fz");
    assert_int_equal(LW_OK,
                     lwi_plot_derived_values(&t.derived[1], read_rows, &rows, 3, values, &error));
    for (int i = 0; i < 3; i++) assert_true(values[i] == hypot(10 * fx + i, 2 * (10 * fz + i)));
    assert_int_equal(LW_OK,
                     lwi_plot_derived_values(&t.derived[0], read_rows, &rows, 3, values, &error));
    assert_true(values[2] == 2 * (10 * column_of(&t, "time") + 2));
    if (lwi_plot_select(&t, &o, &arena, &s, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(4, s.npanel);
    assert_int_equal(t.stored, s.panel[0].x);
    assert_int_equal(2, s.panel[0].nquantity);
    assert_int_equal(3, s.panel[1].nquantity); // the pattern
    assert_string_equal("sys.E - sys.V", s.panel[2].title);
    lwi_arena_free(&arena);
}

static void wrong_formulas_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *y, *text;
    } cases[] = {
        {"hypot(joint.rail.fx, joint.rial.fz)", "no column 'joint.rial.fz', did you mean"},
        {"joint.rail.fx + joint.rail.tx", "expected the same kind"},
        {"joint.rail.fx +", "the formula ends"},
        {"2*nothing", "unknown name 'nothing'"},
    };
    for (size_t i = 0; i < LWI_COUNT(cases); i++) {
        lwi_arena arena;
        lw_error error;
        lwi_plot_table t = table;
        lw_plot_options o = {.ny = 1};
        o.y[0] = cases[i].y;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(LW_ERR_ARGUMENT, lwi_plot_derive(&t, &o, &arena, &error));
        if (!strstr(error.text, cases[i].text)) fail_msg("%s", error.text);
        lwi_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),
        cmocka_unit_test(a_list_is_a_panel),
        cmocka_unit_test(units_and_columns_of_a_panel_occur_once),
        cmocka_unit_test(errors_of_unknown_names_contain_the_nearest),
        cmocka_unit_test(presets_find_their_columns),
        cmocka_unit_test(phase_pairs_rates_with_coordinates),
        cmocka_unit_test(a_preset_without_its_columns_says_so),
        cmocka_unit_test(formulas_of_columns_are_columns),
        cmocka_unit_test(wrong_formulas_are_refused),
        cmocka_unit_test(many_columns_are_selected_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
