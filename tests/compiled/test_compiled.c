// test_compiled.c -- compiled models: the numbers of the library, bits in lanes, what is refused.
#include "codegen/sources.h"
#include "compile.h"

enum { LARGE = 256 };

static void expect_numbers(lw_model *model, const char *file, lw_compiled_desc desc)
{
    static double q[STATES * LARGE], v[STATES * LARGE], tau[STATES * LARGE], a[STATES * LARGE];
    static double rate[STATES * LARGE], b[STATES * LARGE], expected[LARGE], one[LARGE], qdot[LARGE];
    static const double t[STATES];
    unsigned char failed[STATES];
    lw_compiled *c = compiled(model, desc);
    lw_dynamics *dynamics = NULL;
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    uint64_t seed = 9;
    assert_int_equal(desc.lanes, lw_compiled_about(c).lanes);
    assert_int_equal(nq, lw_compiled_about(c).nq);
    assert_true(nq <= LARGE);
    OK(lw_dynamics_create(model, NULL, &dynamics, NULL));
    states(c, model, STATES, q, v);
    for (int i = 0; i < STATES * nv; i++) tau[i] = lwt_random(&seed, -1, 1);
    OK(lw_compiled_forward_dynamics_many(c, STATES, q, v, tau, a, failed));
    OK(lw_compiled_rates_many(c, STATES, t, q, v, NULL, NULL, rate, b, NULL, NULL));
    for (int k = 0; k < STATES; k++) {
        assert_int_equal(0, failed[k]);
        OK(lw_forward_dynamics(dynamics, 0, q + k * nq, v + k * nv, tau + k * nv, NULL, expected));
        expect_close(file, "acceleration", a + k * nv, expected, nv, 1e-10);
        OK(lw_compiled_forward_dynamics(c, q + k * nq, v + k * nv, tau + k * nv, one));
        assert_memory_equal(one, a + k * nv, (size_t)nv * sizeof *one);
        OK(lw_forward_dynamics(dynamics, 0, q + k * nq, v + k * nv, NULL, NULL, expected));
        expect_close(file, "rate of speed", b + k * nv, expected, nv, 1e-10);
        OK(lw_compiled_rates(c, 0, q + k * nq, v + k * nv, NULL, NULL, qdot, one, NULL));
        assert_memory_equal(one, b + k * nv, (size_t)nv * sizeof *one);
        assert_memory_equal(qdot, rate + k * nq, (size_t)nq * sizeof *qdot);
    }
    lw_dynamics_destroy(dynamics);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void agrees_with_the_library_and_itself_in_any_lanes(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("numbers");
    static const char ur5[] = "examples/models/ur5.urdf";
    expect_numbers(four_bar(), "four-bar", desc_of(1, false));
    expect_numbers(four_bar(), "four-bar", desc_of(4, false));
    expect_numbers(read_model(ur5, LW_BASE_AUTO), ur5, desc_of(8, false));
}

// Long enough that equal parts are generated once.
static const char chain[] = "linkwork: 1\ngenerate: {chain: {n: 66, seed: 1}}\n";
static const char row[] = "linkwork: 1\ngravity: [0, -9.81, 0]\n"
                          "generate: {n_four_bar: {n: 22, q: [0.3, 0, 0], qd: [1, 0, 0]}}\n";
static const char four_bars[] = "linkwork: 1\ngravity: [0, -9.81, 0]\n"
                                "generate: {n_four_bar: {n: %d, q: [0.3, 0, 0], qd: [1, 0, 0]}}\n";
static const char long_row[] = "linkwork: 1\ngravity: [0, -9.81, 0]\n"
                               "generate: {n_four_bar: {n: 40, q: [0.3, 0, 0], qd: [1, 0, 0]}}\n";
static const char ladder[] = "linkwork: 1\n"
                             "generate: {ladder: {n: 8, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}}\n";

// A tree of equal parts with other numbers in each; one has another axis, one no spring.
static lw_model *uneven_tree(void)
{
    enum { N = 66, LINE = 250 };
    static char text[2 * N * LINE];
    size_t n = (size_t)snprintf(text, sizeof text, "linkwork: 1\nbodies:\n");
    for (int i = 0; i < N; i++)
        n += (size_t)snprintf(text + n, LINE,
                              "  b%d: {mass: %g, inertia: [0.1, %g, 0.2, 0, 0, 0], "
                              "com: [0.1, %g, 0], position: [%d, 0, 0]}\n",
                              i, 1 + 0.01 * i, 0.2 + 0.001 * i, 0.1 - 0.003 * i, i);
    n += (size_t)snprintf(text + n, LINE, "joints:\n");
    for (int i = 0; i < N; i++) {
        char parent[64] = "ground", spring[64] = "";
        if (i > 0) snprintf(parent, sizeof parent, "b%d", i % 11 == 10 ? i - 4 : i - 1);
        if (i != 40)
            snprintf(spring, sizeof spring, ", spring: {q0: {stiffness: %d, at: %g}}", 20 + i,
                     0.2 - 0.01 * i);
        n += (size_t)snprintf(text + n, LINE,
                              "  j%d: {type: revolute, between: [%s, b%d], at: [%g, 0.1, 0], "
                              "axis: [0, 1, %g]%s}\n",
                              i, parent, i, i - 0.5, i == 30 ? 0.3 : 0, spring);
    }
    return lwt_yaml(text);
}

static void models_with_equal_parts_agree_in_any_lanes(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("large");
    expect_numbers(lwt_yaml(chain), "chain", quick_desc_of(4, false));
    expect_numbers(lwt_yaml(row), "row of four-bars", quick_desc_of(8, false));
    expect_numbers(lwt_yaml(ladder), "ladder", quick_desc_of(4, false));
    expect_numbers(uneven_tree(), "uneven tree", quick_desc_of(4, false));
}

// Joints of several kinds with other inertias, axes and places in each.
static lw_model *random_tree(uint64_t seed, int nbody)
{
    lw_model *model = NULL;
    OK(lwt_random_tree(seed, nbody, LWT_MULTI, &model));
    return model;
}

static void models_of_unequal_parts_agree_in_any_lanes(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("unequal");
    lw_model *model = random_tree(3, 48);
    assert_true(lw_model_tree_nv(model) > LW_CODEGEN_MAX_SPEEDS);
    expect_numbers(model, "random tree", quick_desc_of(4, false));
}

// Rates of states, one by one.
static void evaluate(const lw_compiled *c, int nq, int nv, const double *q, const double *v,
                     double *a)
{
    double qdot[LARGE];
    for (int k = 0; k < STATES; k++)
        OK(lw_compiled_rates(c, 0, q + k * nq, v + k * nv, NULL, NULL, qdot, a + k * nv, NULL));
}

static void expect_bits(const char *what, const char *of, int nv, const double *a,
                        const double *expected)
{
    for (int i = 0; i < STATES * nv; i++)
        if (memcmp(&a[i], &expected[i], sizeof *a) != 0)
            fail_msg("%s, state %d, speed %d, %s: %.17g, alone %.17g", what, i / nv, i % nv, of,
                     a[i], expected[i]);
}

// Equal parts of one state are evaluated in lanes, also in code for one lane of states; in lanes of states each part alone.
static void expect_bits_of_parts(lw_model *model, const char *what, lw_compiled_desc desc)
{
    static double q[STATES * LARGE], v[STATES * LARGE], a[3][STATES * LARGE], qdot[STATES * LARGE];
    static const double t[STATES];
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    lw_compiled *c = compiled(model, desc);
    desc.lanes = 1;
    lw_compiled *one = compiled(model, desc);
    states(one, model, STATES, q, v);
    evaluate(one, nq, nv, q, v, a[0]);
    evaluate(c, nq, nv, q, v, a[1]);
    OK(lw_compiled_rates_many(c, STATES, t, q, v, NULL, NULL, qdot, a[2], NULL, NULL));
    expect_bits(what, "code for one lane", nv, a[0], a[2]);
    expect_bits(what, "code for more", nv, a[1], a[2]);
    lw_compiled_destroy(c);
    lw_compiled_destroy(one);
    lw_model_destroy(model);
}

static void lanes_of_one_state_have_the_bits_of_each_part_alone(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("packs");
    expect_bits_of_parts(lwt_yaml(long_row), "row of four-bars", quick_desc_of(8, true));
    expect_bits_of_parts(lwt_yaml(ladder), "ladder", desc_of(4, true));
    expect_bits_of_parts(uneven_tree(), "uneven tree", quick_desc_of(8, true));
    expect_bits_of_parts(random_tree(3, 48), "random tree", quick_desc_of(8, true));
    expect_bits_of_parts(read_model("examples/models/ur5.urdf", LW_BASE_AUTO), "UR5",
                         quick_desc_of(8, true));
    expect_bits_of_parts(four_bar(), "four-bar", desc_of(4, true));
}

// The text for one state has functions of vectors where equal parts do not depend on each other.
static int count_packs(const char *text, const char *what)
{
    int count = 0;
    lwi_codegen_sources sources;
    lw_error error = {0};
    lw_model *model = lwt_yaml(text);
    if (lwi_codegen_print_sources(model, 1u << LW_CODEGEN_rates, 4, 4, NULL, NULL, &sources,
                                  &error) != LW_OK)
        fail_msg("%s", error.text);
    for (const char *at = sources.text[1]; (at = strstr(at, what)); at++) count++;
    lwi_codegen_free_sources(&sources);
    lw_model_destroy(model);
    return count;
}

static void equal_parts_of_one_state_are_in_lanes(void **state)
{
    (void)state;
    assert_true(count_packs(long_row, "(const pack4 *p, const int *s, double *w)") > 5);
    assert_true(count_packs(ladder, "(const pack4 *p, const int *s, double *w)") > 5);
    assert_true(count_packs(ladder, "const pack4 t150 =") >
                0); // the rows of a loop solved, its longest part
    assert_true(count_packs(chain, "pack4_sin(") > 0);
    // plain statements: of nine angles eight
    assert_int_equal(2, count_packs("linkwork: 1\ngenerate: {chain: {n: 9}}\n", "= pack4_sin("));
    assert_int_equal(2, count_packs("linkwork: 1\ngenerate: {chain: {n: 9}}\n", "= pack4_cos("));
}

// Operations in functions, not in tables.
static int count_of(lw_model *model)
{
    int count = 0;
    lwi_codegen_sources sources;
    lw_error error = {0};
    const unsigned functions = 1u << LW_CODEGEN_rates | 1u << LW_CODEGEN_margins |
                               1u << LW_CODEGEN_project_positions |
                               1u << LW_CODEGEN_project_velocities;
    if (lwi_codegen_print_sources(model, functions, 0, 0, NULL, NULL, &sources, &error) != LW_OK)
        fail_msg("%s", error.text);
    for (const char *at = sources.text[1]; (at = strstr(at, "const double t")); at++) count++;
    lwi_codegen_free_sources(&sources);
    lw_model_destroy(model);
    return count;
}

static int count_statements(const char *format, int n)
{
    char text[300];
    snprintf(text, sizeof text, format, n);
    return count_of(lwt_yaml(text));
}

// Joints of the same types with other numbers, of any signs, are equal parts.
static void numbers_do_not_make_parts_unequal(void **state)
{
    (void)state;
    const int small = count_of(random_tree(3, 150)), large = count_of(random_tree(3, 600));
    print_message("statements: %d, %d\n", small, large);
    assert_true(large < 3 * small); // of four times as many bodies
}

static void code_grows_with_shapes_not_with_repetitions(void **state)
{
    (void)state;
    static const char *const format[] = {
        "linkwork: 1\ngenerate: {chain: {n: %d, seed: 1}}\n",
        "linkwork: 1\ngravity: [0, -9.81, 0]\n"
        "generate: {n_four_bar: {n: %d, q: [0.3, 0, 0], qd: [1, 0, 0]}}\n"};
    for (int i = 0; i < 2; i++) {
        const int n = count_statements(format[i], 66), more = count_statements(format[i], 132);
        if (n < 100 || n > 4000 || n != more) fail_msg("%d: %d, %d statements", i, n, more);
    }
}

// One of many states cannot be evaluated: it is marked, and the others have the bits they have without it.
static void expect_mark(lw_model *model, lw_compiled_desc desc)
{
    enum { BAD = 6 };
    static double q[STATES * LARGE], v[STATES * LARGE], rate[2][STATES * LARGE],
        a[2][STATES * LARGE];
    static const double t[STATES];
    unsigned char failed[3][STATES];
    lw_compiled *c = compiled(model, desc);
    const int nq = lw_model_tree_nq(model), nv = lw_model_tree_nv(model);
    states(c, model, STATES, q, v);
    OK(lw_compiled_rates_many(c, STATES, t, q, v, NULL, NULL, rate[0], a[0], NULL, failed[0]));
    for (int i = 0; i < nq; i++) q[BAD * nq + i] = NAN;
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_rates_many(c, STATES, t, q, v, NULL, NULL,
                                                             rate[1], a[1], NULL, failed[0]));
    assert_int_equal(LW_ERR_SINGULAR,
                     lw_compiled_forward_dynamics_many(c, STATES, q, v, NULL, rate[0], failed[1]));
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_project_many(c, STATES, t, q, v, failed[2]));
    for (int k = 0; k < STATES; k++) {
        for (int i = 0; i < 3; i++) assert_int_equal(k == BAD, failed[i][k]);
        if (k != BAD) assert_memory_equal(a[1] + k * nv, a[0] + k * nv, (size_t)nv * sizeof *a[0]);
    }
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void states_that_fail_are_marked_in_any_lanes(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("marks");
    expect_mark(four_bar(), desc_of(1, false));
    expect_mark(four_bar(), desc_of(4, false));
    expect_mark(lwt_yaml(row), quick_desc_of(4, false));
}

// Of a row of four-bars one span lies along its upright, where the dependent speeds of its loop do not follow from the others.
static void turn_span(const lw_model *model, int i, double angle, double *q)
{
    double v[LARGE];
    int iq, iv, nq, nv;
    lw_model_tree_start(model, q, v);
    OK(lw_model_joint_tree(model, (lw_joint){3 * i + 1}, &iq, &nq, &iv, &nv));
    assert_int_equal(1, nv);
    q[iq] += angle;
}

// Of the loops of a row, the numbers that a function returns where one of them fails.
static void numbers_of_failures(const lw_model *model, int n, const lwi_calls *calls, int number[])
{
    static const double v[LARGE], tau[LARGE];
    static const double right = 1.5707963267948966;
    double q[LARGE], vdot[LARGE], qdot[LARGE];
    const int nv = lw_model_tree_nv(model);
    for (int i = 0; i < n; i++) {
        turn_span(model, i, right + 0.3, q);
        for (int j = 0; j < nv; j++) vdot[j] = 7;
        number[i] = calls->forward(q, v, tau, vdot);
        assert_int_equal(number[i],
                         calls->rates(0, q, v, NULL, NULL, qdot, vdot, NULL, NULL, NULL, NULL));
        for (int j = 0; j < nv; j++) assert_true(vdot[j] == 7);
    }
}

// In plain statements the number is a literal, with equal parts that are generated once it is in a table.  It names the first
// dependent speed of the loop that fails: the span's, in the first loop the one of upright 0, which no other loop has.
static void the_number_names_the_dependent_speed(void **state)
{
    (void)state;
    enum { N = 40, PLAIN = 10 };
    static const int lanes[] = {1, 1, 8};
    int number[N];
    skip_without_compiler();
    new_cache("failures");
    for (int k = 0; k < 3; k++) {
        const int n = k == 0 ? PLAIN : N;
        char text[200];
        snprintf(text, sizeof text, four_bars, n);
        lw_model *model = lwt_yaml(text);
        lw_compiled *c = compiled(model, quick_desc_of(lanes[k], false));
        numbers_of_failures(model, n, c->calls, number);
        for (int i = 0; i < n; i++) {
            int iq, iv, one;
            OK(lw_model_joint_tree(model, (lw_joint){i == 0 ? 0 : 3 * i + 1}, &iq, &one, &iv,
                                   &one));
            assert_int_equal(1 + iv, number[i]);
        }
        lw_compiled_destroy(c);
        lw_model_destroy(model);
    }
}

// Speeds off the loops: rates are those of the independent ones.
static void rates_need_independent_speeds_alone(void **state)
{
    (void)state;
    double q[MOST], v[MOST], w[MOST], qdot[2][MOST], vdot[2][MOST];
    skip_without_compiler();
    new_cache("speeds");
    lw_model *model = four_bar();
    lw_compiled *c = compiled(model, desc_of(1, true));
    const int nv = lw_model_tree_nv(model);
    states(c, model, 1, q, v);
    OK(lw_compiled_rates(c, 0, q, v, NULL, NULL, qdot[0], vdot[0], NULL));
    for (int i = 0; i < nv; i++) {
        double alone[MOST], p[MOST];
        memcpy(w, v, sizeof w);
        w[i] += 0.1;
        memcpy(alone, w, sizeof alone);
        memcpy(p, q, sizeof p);
        OK(lw_compiled_project(c, 0, p, alone));
        OK(lw_compiled_rates(c, 0, q, w, NULL, NULL, qdot[1], vdot[1], NULL));
        OK(lw_compiled_rates(c, 0, q, alone, NULL, NULL, qdot[0], vdot[0], NULL));
        expect_close("four-bar", "qdot", qdot[1], qdot[0], nv, 1e-12);
        expect_close("four-bar", "vdot", vdot[1], vdot[0], nv, 1e-12);
    }
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_forward_dynamics(c, q, v, NULL, vdot[0]));
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static const char parallelogram[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, 0.5]}\n"
    "  coupler: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1, 0, 1]}\n"
    "  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [2, 0, 0.5]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  B: {type: revolute, between: [crank, coupler], at: [0, 0, 1], axis: [0, 1, 0]}\n"
    "  C: {type: revolute, between: [coupler, rocker], at: [2, 0, 1], axis: [0, 1, 0], cut: "
    "prefer}\n"
    "  D: {type: revolute, between: [ground, rocker], at: [2, 0, 0], axis: [0, 1, 0]}\n";

// The dependent speeds are those of crank and rocker; their lever arms to the cut joint, from A and D to C, are in line where
// all bodies are.
static void margins_are_squared_sines_and_lengths_of_lever_arms(void **state)
{
    (void)state;
    lw_model *model = NULL;
    lw_error error = {0};
    skip_without_compiler();
    new_cache("margins");
    if (lw_model_parse(parallelogram, strlen(parallelogram), "text",
                       &(lw_read_desc){.format = "yaml"}, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    lw_compiled *c = compiled(model, desc_of(1, true));
    for (double angle = 0; angle < 1.57; angle += 0.1) {
        double q[3] = {0}, v[3] = {0};
        int a, b, d, n;
        OK(lw_model_joint_tree(model, (lw_joint){0}, &a, &n, NULL, NULL));
        OK(lw_model_joint_tree(model, (lw_joint){1}, &b, &n, NULL, NULL));
        OK(lw_model_joint_tree(model, (lw_joint){3}, &d, &n, NULL, NULL));
        q[a] = q[d] = angle, q[b] = -angle;
        OK(lw_compiled_project(c, 0, q, v));
        const double arm[2][2] = {{2 + sin(angle), cos(angle)}, {sin(angle), cos(angle)}};
        const double cross = arm[0][0] * arm[1][1] - arm[0][1] * arm[1][0];
        const double lengths2 = (arm[0][0] * arm[0][0] + arm[0][1] * arm[0][1]);
        // that of the rocker is 1, of the coupler 2: its square relative to the mean of the loop
        const double length2 = 3 / (lengths2 + 1 + 4);
        const char *joint = NULL;
        const double margin = c->calls->margin(0, q, &joint),
                     expected = fmin(cross * cross / lengths2, length2);
        if (!(fabs(margin - expected) < 1e-12)) fail_msg("%g: %g, %g", angle, margin, expected);
        assert_string_equal("C", joint);
    }
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void what_is_not_generated_is_named(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\ngenerate: {net: {n: 13}}\n";
    lw_model *model = NULL;
    lw_error error = {0};
    lw_compiled *c = NULL;
    const lw_read_desc read = {.format = "yaml"};
    skip_without_compiler();
    new_cache("refused");
    if (lw_model_parse(text, strlen(text), "text", &read, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    const lw_compiled_desc desc = desc_of(0, false);
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_create(model, &desc, &c, &error));
    assert_non_null(strstr(error.text, "351 degrees of freedom and few equal parts"));
    assert_non_null(strstr(error.text, "expected at most 600000"));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_library_and_itself_in_any_lanes),
        cmocka_unit_test(models_with_equal_parts_agree_in_any_lanes),
        cmocka_unit_test(models_of_unequal_parts_agree_in_any_lanes),
        cmocka_unit_test(lanes_of_one_state_have_the_bits_of_each_part_alone),
        cmocka_unit_test(equal_parts_of_one_state_are_in_lanes),
        cmocka_unit_test(code_grows_with_shapes_not_with_repetitions),
        cmocka_unit_test(numbers_do_not_make_parts_unequal),
        cmocka_unit_test(states_that_fail_are_marked_in_any_lanes),
        cmocka_unit_test(the_number_names_the_dependent_speed),
        cmocka_unit_test(rates_need_independent_speeds_alone),
        cmocka_unit_test(margins_are_squared_sines_and_lengths_of_lever_arms),
        cmocka_unit_test(what_is_not_generated_is_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
