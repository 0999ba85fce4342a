// test_mechanism.c -- generated mechanisms are those of the published benchmark: their
// accelerations agree with two independent programs to the nine printed digits.
#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(LW_OK, (call))

static lw_model *make(const lw_mechanism_desc *desc, lw_vec3 gravity)
{
    lw_builder *builder;
    lw_model *model = NULL;
    lw_error error = {0};
    OK(lw_builder_create(NULL, &builder));
    lw_builder_gravity(builder, gravity);
    if (lw_builder_add_mechanism(builder, desc, &error) != LW_OK ||
        lw_model_create(builder, &model, &error) != LW_OK)
        fail_msg("%s", error.text);
    lw_builder_destroy(builder);
    return model;
}

static const lw_vec3 down_z = {0, 0, -9.81}, down_y = {0, -9.81, 0};

typedef struct digest {
    double sum, max, first, last;
} digest;

// The sum of a_i (1 + i mod 7), the largest magnitude, first and last.
static digest digest_of(const double *a, int n)
{
    digest d = {0, 0, a[0], a[n - 1]};
    for (int i = 0; i < n; i++) {
        d.sum += a[i] * (1 + i % 7);
        d.max = fmax(d.max, fabs(a[i]));
    }
    return d;
}

// Nine digits are printed: half a unit of the last digit here, and the last digit of the other
// program.
static void near9(double found, double published)
{
    const double unit = pow(10, floor(log10(fabs(published))) - 8);
    if (fabs(found - published) > 1.01 * unit) fail_msg("%.10g, published %.9g", found, published);
}

static void check_digest(digest found, digest published)
{
    near9(found.sum, published.sum);
    near9(found.max, published.max);
    near9(found.first, published.first);
    near9(found.last, published.last);
}

// Accelerations of all joints except the loop-closing ones (the last joints of each mesh), in
// order.
static digest accelerations(const lw_model *model, const char *formulation)
{
    static double a[1024];
    lw_options options;
    lw_sim *sim;
    lw_error error = {0};
    const lw_observation *o;
    int n = 0;
    lw_options_default(&options);
    OK(lw_options_set(&options, "formulation", formulation, &error));
    if (lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error) != LW_OK)
        fail_msg("%s", error.text);
    if (lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        const lw_joint_info joint = lw_model_joint(model, (lw_joint){j});
        const bool last = j == lw_model_joint_count(model) - 1;
        if (strncmp(joint.name, "close", 5) == 0 || (last && joint.body2.index == 0)) continue;
        for (int k = 0; k < joint.nv; k++) a[n++] = o->qdd[joint.v_first + k];
    }
    const digest d = digest_of(a, n);
    lw_sim_destroy(sim);
    return d;
}

static void four_bars_and_ladders_have_the_published_accelerations(void **state)
{
    (void)state;
    static const struct {
        lw_mechanism kind;
        int n;
        digest values;
    } cases[] = {
        {LW_MECHANISM_N_FOUR_BAR, 1, {6.95251336, 3.47625668, 3.47625668, 3.47625668}},
        {LW_MECHANISM_N_FOUR_BAR, 2, {10.1403486, 3.38011619, 3.38011619, 3.38011619}},
        {LW_MECHANISM_N_FOUR_BAR, 5, {19.8685782, 3.31142971, 3.31142971, 3.31142971}},
        {LW_MECHANISM_LADDER, 1, {27.1082436, 3.33648847, 2.75245794, 3.33648847}},
        {LW_MECHANISM_LADDER, 2, {28.9749371, 3.24224677, 2.68476532, 3.24224677}},
        {LW_MECHANISM_LADDER, 5, {76.511984, 3.17491685, 2.63640868, 3.17491685}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool ladder = cases[i].kind == LW_MECHANISM_LADDER;
        lw_mechanism_desc desc = {.mechanism = cases[i].kind, .n = cases[i].n};
        desc.q[0] = ladder ? 0.2 : 0.3, desc.q[1] = ladder ? 0.3 : 0;
        desc.qd[0] = ladder ? 0.5 : 1, desc.qd[1] = ladder ? 1 : 0;
        lw_model *model = make(&desc, ladder ? down_z : down_y);
        check_digest(accelerations(model, "dense"), cases[i].values);
        lw_model_destroy(model);
    }
}

static void loops_have_the_published_accelerations(void **state)
{
    (void)state;
    lw_model *planar =
        make(&(lw_mechanism_desc){.mechanism = LW_MECHANISM_LOOP, .n = 4, .axes = "z"}, down_y);
    check_digest(accelerations(planar, "dense"),
                 (digest){32.1023513, 20.7770782, -6.42047026, 16.8090094});
    lw_model_destroy(planar);
    lw_model *spatial =
        make(&(lw_mechanism_desc){.mechanism = LW_MECHANISM_LOOP, .n = 8}, (lw_vec3){0, -9.81, 2});
    check_digest(accelerations(spatial, "dense"),
                 (digest){-40.104925, 4.32604489, -1.88789137, -2.55624347});
    lw_model_destroy(spatial);
}

// The random initial state of the benchmark is followed by random efforts.
static void random_chains_have_the_published_accelerations(void **state)
{
    (void)state;
    static const struct {
        int n;
        digest values;
    } cases[] = {{7, {-3369.36005, 485.819347, 16.1831586, -485.819347}},
                 {16, {569.540535, 270.323984, 27.5523786, 270.323984}},
                 {64, {59.7884453, 313.161444, 26.5239735, 313.161444}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double q[64], v[64], tau[64], a[64];
        const int n = cases[i].n;
        lw_dynamics *dynamics;
        lw_model *model =
            make(&(lw_mechanism_desc){.mechanism = LW_MECHANISM_CHAIN, .n = n, .seed = 1}, down_z);
        uint64_t s = 1 * 7919 + 12345;
        for (int k = 0; k < 3 * n; k++) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            if (k >= 2 * n) tau[k - 2 * n] = (double)(s >> 11) / 9007199254740992.0 * 2 - 1;
        }
        OK(lw_dynamics_create(model, NULL, &dynamics, NULL));
        assert_int_equal(n, lw_model_tree_nv(model));
        lw_model_tree_start(model, q, v);
        OK(lw_forward_dynamics(dynamics, 0, q, v, tau, NULL, a));
        check_digest(digest_of(a, n), cases[i].values);
        lw_dynamics_destroy(dynamics);
        lw_model_destroy(model);
    }
}

static void sizes_joints_and_names(void **state)
{
    (void)state;
    static const struct {
        lw_mechanism_desc desc;
        int bodies, joints, loops, dof;
    } cases[] = {
        {{.mechanism = LW_MECHANISM_CHAIN, .n = 5, .joint = 2, .qd = {0, 0, .1}}, 5, 5, 0, 15},
        {{.mechanism = LW_MECHANISM_CHAIN, .n = 4, .joint = 1, .seed = 3}, 4, 4, 0, 8},
        {{.mechanism = LW_MECHANISM_TREE, .n = 7, .name = "t_"}, 7, 7, 0, 7},
        {{.mechanism = LW_MECHANISM_LOOP, .n = 5, .joint = 2}, 5, 6, 1, 15 - 3},
        {{.mechanism = LW_MECHANISM_LADDER, .n = 3}, 7, 10, 3, 2},
        {{.mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 4}, 9, 13, 4, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lw_check check;
        lw_model *model = make(&cases[i].desc, down_z);
        assert_int_equal(cases[i].bodies, lw_model_body_count(model) - 1);
        assert_int_equal(cases[i].joints, lw_model_joint_count(model));
        assert_int_equal(cases[i].loops, lw_model_loop_count(model));
        OK(lw_model_check(model, &check, NULL, NULL));
        assert_int_equal(cases[i].dof, check.dof_generic);
        assert_true(check.residual[0] < 1e-14 && check.residual[1] < 1e-14);
        if (cases[i].desc.name) {
            lw_body body;
            OK(lw_model_find_body(model, "t_rod7", &body));
        }
        lw_model_destroy(model);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const struct {
        lw_mechanism_desc desc;
        const char *part;
    } cases[] = {
        {{.n = 0}, "n is 0"},
        {{.n = 1000000000}, "from 1 to"},
        {{.n = 3, .length = -1}, "length -1"},
        {{.n = 3, .axes = "xw"}, "'xw'"},
        {{.n = 3, .axes = ""}, "letters"},
        {{.n = 3, .seed = -1}, "seed is -1"},
        {{.n = 3, .seed = 1, .joint = 2}, "spherical"},
        {{.n = 3, .joint = 7}, "joint 7"},
        {{.n = 3, .q = {1}}, "placed by q"},
        {{.mechanism = LW_MECHANISM_LOOP, .n = 3, .qd = {1}}, "at rest"},
        {{.mechanism = LW_MECHANISM_COUNT, .n = 3}, "unknown kind"},
        {{.n = 3, .qd = {NAN}}, "finite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lw_builder *builder;
        lw_error error = {0};
        OK(lw_builder_create(NULL, &builder));
        assert_int_equal(LW_ERR_MODEL, lw_builder_add_mechanism(builder, &cases[i].desc, &error));
        if (!strstr(error.text, cases[i].part)) fail_msg("%zu: %s", i, error.text);
        lw_builder_destroy(builder);
    }
}

static void the_native_file_generates_the_same(void **state)
{
    (void)state;
    static const char text[] = "linkwork: 1\ngravity: [0, -9.81, 0]\n"
                               "generate: {n_four_bar: {n: 5, q: [0.3, 0, 0], qd: [1, 0, 0]},\n"
                               "  chain: {n: 3, name: c_, joint: spherical}}\n";
    const lw_read_desc desc = {.format = "yaml"};
    lw_model *model;
    lw_error error = {0};
    lw_body body;
    if (lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%d: %s", error.line, error.text);
    OK(lw_model_find_body(model, "coupler5", &body));
    OK(lw_model_find_body(model, "c_rod3", &body));
    lw_model_destroy(model);
    static const struct {
        const char *text, *part;
    } wrong[] = {
        {"linkwork: 1\ngenerate: {chian: {n: 3}}\n", "did you mean 'chain'"},
        {"linkwork: 1\ngenerate: {chain: {}}\n", "key 'n' is missing"},
        {"linkwork: 1\ngenerate: {ladder: {n: 3, seed: 1}}\n", "seed"},
        {"linkwork: 1\ngenerate: {chain: {n: 0}}\n", "n is 0"},
        {"linkwork: 1\ngenerate: {net: {n: 2, joint: universal}}\n", "revolute or spherical"},
        {"linkwork: 1\ngenerate: {net: {n: 2, qd: [1, 0, 0]}}\n", "[0, 0, speed]"},
        {"linkwork: 1\n", "key 'bodies' is missing"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(LW_OK, lw_model_parse(wrong[i].text, strlen(wrong[i].text), "m.yaml",
                                                   &desc, &model, NULL, &error));
        if (!strstr(error.text, wrong[i].part)) fail_msg("%s", error.text);
    }
}

// qdd of the joint with this name at the start of a simulation.
static double acceleration(lw_sim *sim, const char *name)
{
    const lw_observation *o;
    lw_joint joint;
    if (lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    if (lw_model_find_joint(lw_sim_model(sim), name, &joint) != LW_OK) fail_msg("no %s", name);
    return o->qdd[lw_model_joint(lw_sim_model(sim), joint).v_first];
}

static lw_sim *simulate(const lw_model *model, const char *formulation)
{
    lw_options options;
    lw_sim *sim;
    lw_error error = {0};
    lw_options_default(&options);
    OK(lw_options_set(&options, "formulation", formulation, &error));
    if (lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error) != LW_OK)
        fail_msg("%s", error.text);
    return sim;
}

// A net of one row on revolute joints is an N-four-bar.
static void a_net_of_one_row_is_an_n_four_bar(void **state)
{
    (void)state;
    lw_model *model[2];
    lw_sim *sim[2];
    for (int k = 0; k < 2; k++) {
        const lw_mechanism_desc desc = {.mechanism = k ? LW_MECHANISM_NET : LW_MECHANISM_N_FOUR_BAR,
                                        .n = 4,
                                        .m = k,
                                        .q = {0.3},
                                        .qd = {k ? 0 : 1, 0, k ? 1 : 0}};
        model[k] = make(&desc, down_y);
        sim[k] = simulate(model[k], "dense");
    }
    for (int i = 0; i <= 4; i++) {
        static const char *const kinds[] = {"foot", "hinge", "close"};
        for (int k = 0; k < (i ? 3 : 1); k++) {
            char name[32];
            snprintf(name, sizeof name, "%s%d", kinds[k], i);
            assert_true(fabs(acceleration(sim[0], name) - acceleration(sim[1], name)) < 1e-9);
        }
    }
    for (int k = 0; k < 2; k++) lw_sim_destroy(sim[k]), lw_model_destroy(model[k]);
}

// The initial positions and velocities of nets satisfy the constraints, and the number of degrees
// of freedom is as expected. Plane: one for each row. Space: 3 for each of (n + 1) m tips, less one
// for each of (2n + 1) m rods, plus the rotation of each rod about its axis.
static void nets_hold_together(void **state)
{
    (void)state;
    for (int spherical = 0; spherical < 2; spherical++) {
        const lw_mechanism_desc desc = {.mechanism = LW_MECHANISM_NET,
                                        .n = 3,
                                        .m = 2,
                                        .joint = spherical ? 2 : 0,
                                        .q = {0.3},
                                        .qd = {spherical ? 0.5 : 0, spherical ? -0.2 : 0, 1}};
        lw_model *model = make(&desc, (lw_vec3){0, -5, -9});
        lw_check check;
        lw_error error = {0};
        assert_int_equal(lw_model_body_count(model), 1 + 2 * (2 * 3 + 1));
        assert_int_equal(lw_model_loop_count(model), 3 * 2);
        OK(lw_model_check(model, &check, NULL, &error));
        assert_true(check.residual[0] < 1e-13 && check.residual[1] < 1e-13);
        assert_int_equal(check.dof, spherical ? 3 * 4 * 2 : 2);
        assert_int_equal(check.redundant, spherical ? 0 : 3 * 3 * 2);
        lw_sim *dense = simulate(model, "dense"), *hdca = simulate(model, "hdca");
        assert_true(fabs(acceleration(dense, "foot5") - acceleration(hdca, "foot5")) < 1e-9);
        lw_sim_destroy(dense);
        lw_sim_destroy(hdca);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_net_of_one_row_is_an_n_four_bar),
        cmocka_unit_test(nets_hold_together),
        cmocka_unit_test(four_bars_and_ladders_have_the_published_accelerations),
        cmocka_unit_test(loops_have_the_published_accelerations),
        cmocka_unit_test(random_chains_have_the_published_accelerations),
        cmocka_unit_test(sizes_joints_and_names),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(the_native_file_generates_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
