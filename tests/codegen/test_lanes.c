// test_lanes.c -- functions for four or eight states at once have the bits of those for one state, lane by lane.
#include "generated.h"

#include "support/random_model.h"

enum { MOST = 64, LANES = 8, BIG = 9 * MOST };

typedef void two(const double *, double *);
typedef void three(const double *, const double *, double *);
typedef void four(const double *, const double *, const double *, double *);
typedef int fails_one(double *);
typedef int fails_two(const double *, double *);
typedef int fails_four(const double *, const double *, const double *, double *);

typedef struct states {
    int lanes, nq, nv;
    double q[LANES][MOST], v[LANES][MOST], x[LANES][MOST];
} states;

// The lanes of an array side by side.
static void pack(const states *s, const double (*x)[MOST], double *packed)
{
    for (int l = 0; l < s->lanes; l++)
        for (int i = 0; i < MOST; i++) packed[i * s->lanes + l] = x[l][i];
}

static void same_bits(const states *s, const char *model, const char *what, int lane, int n,
                      const double *one, const double *packed)
{
    for (int i = 0; i < n; i++)
        if (memcmp(&one[i], &packed[i * s->lanes + lane], sizeof *one) != 0)
            fail_msg("%s: %s %d of lane %d: %.17g, alone %.17g", model, what, i, lane,
                     packed[i * s->lanes + lane], one[i]);
}

static double q_packed[MOST * LANES], v_packed[MOST * LANES], x_packed[MOST * LANES];
static double got[BIG * LANES * MOST / 8], got2[BIG * LANES], one[BIG * MOST / 8], other[BIG];

static void find_both(void *library, const char *name, const char *function, void *alone,
                      void *wide)
{
    char lanes[64];
    snprintf(lanes, sizeof lanes, "lanes_%s", function);
    find(library, name, function, alone);
    find(library, name, lanes, wide);
}

static void check_ternary(const states *s, void *library, const char *name, const char *function)
{
    four *alone, *wide;
    find_both(library, name, function, &alone, &wide);
    wide(q_packed, v_packed, x_packed, got);
    for (int l = 0; l < s->lanes; l++) {
        alone(s->q[l], s->v[l], s->x[l], one);
        same_bits(s, name, function, l, s->nv, one, got);
    }
}

static void check_binary(const states *s, void *library, const char *name, const char *function,
                         int n)
{
    three *alone, *wide;
    find_both(library, name, function, &alone, &wide);
    wide(q_packed, v_packed, got);
    for (int l = 0; l < s->lanes; l++) {
        alone(s->q[l], s->v[l], one);
        same_bits(s, name, function, l, n, one, got);
    }
}

static void check_mass_matrix(const states *s, void *library, const char *name)
{
    two *alone, *wide;
    find_both(library, name, "mass_matrix", &alone, &wide);
    wide(q_packed, got);
    for (int l = 0; l < s->lanes; l++) {
        alone(s->q[l], one);
        same_bits(s, name, "mass matrix", l, s->nv * s->nv, one, got);
    }
}

static void check_kinematics(const states *s, void *library, const char *name, int nbody)
{
    void (*alone)(const double *, double *, double *), (*wide)(const double *, double *, double *);
    find_both(library, name, "kinematics", &alone, &wide);
    assert_true(9 * nbody < BIG);
    wide(q_packed, got, got2);
    for (int l = 0; l < s->lanes; l++) {
        alone(s->q[l], one, other);
        same_bits(s, name, "R", l, 9 * nbody, one, got);
        same_bits(s, name, "r", l, 3 * nbody, other, got2);
    }
}

static void fill(states *s, const lw_model *model, double spread)
{
    uint64_t seed = 3;
    s->nq = lw_model_tree_nq(model), s->nv = lw_model_tree_nv(model);
    assert_true(s->nq < MOST && s->nv * s->nv < BIG * MOST / 8);
    memset(s->q, 0, sizeof s->q), memset(s->v, 0, sizeof s->v), memset(s->x, 0, sizeof s->x);
    for (int l = 0; l < s->lanes; l++) {
        lw_model_tree_start(model, s->q[l], s->v[l]);
        for (int i = 0; i < s->nq; i++) s->q[l][i] += spread * lwt_random(&seed, -1, 1);
        for (int i = 0; i < s->nv; i++) s->v[l][i] = lwt_random(&seed, -1, 1);
        for (int i = 0; i < s->nv; i++) s->x[l][i] = lwt_random(&seed, -1, 1);
    }
}

static void pack_all(const states *s)
{
    pack(s, s->q, q_packed);
    pack(s, s->v, v_packed);
    pack(s, s->x, x_packed);
}

static void check_common(const states *s, void *library, const char *name, const lw_model *model)
{
    pack_all(s);
    check_ternary(s, library, name, "inverse_dynamics");
    check_binary(s, library, name, "coordinate_rates", s->nq);
    check_binary(s, library, name, "momenta", s->nv);
    check_mass_matrix(s, library, name);
    check_kinematics(s, library, name, lw_model_body_count(model));
}

// The projections change the states, then forward dynamics.  Lane 1 cannot close: it is marked, and the others are right.
static void check_closed(states *s, void *library, const char *name)
{
    fails_one *positions, *wide_positions;
    fails_two *velocities, *wide_velocities;
    fails_four *forward, *wide_forward;
    find_both(library, name, "project_positions", &positions, &wide_positions);
    find_both(library, name, "project_velocities", &velocities, &wide_velocities);
    find_both(library, name, "forward_dynamics", &forward, &wide_forward);
    for (int i = 0; i < s->nq; i++) s->q[1][i] = NAN;
    pack_all(s);
    int mask = 0, used = 0;
    const int positions_mask = wide_positions(q_packed);
    for (int l = 0; l < s->lanes; l++) {
        if (positions(s->q[l]) != 0)
            mask |= 1 << l;
        else
            same_bits(s, name, "position", l, s->nq, s->q[l], q_packed);
    }
    assert_true(mask & 2);
    assert_int_equal(mask, positions_mask);
    const int velocities_mask = wide_velocities(q_packed, v_packed);
    const int forward_mask = wide_forward(q_packed, v_packed, x_packed, got);
    for (int l = 0; l < s->lanes; l++) {
        if (mask >> l & 1) continue;
        assert_int_equal(velocities(s->q[l], s->v[l]) != 0, velocities_mask >> l & 1);
        assert_int_equal(forward(s->q[l], s->v[l], s->x[l], one) != 0, forward_mask >> l & 1);
        if (velocities_mask >> l & 1 || forward_mask >> l & 1) continue;
        same_bits(s, name, "speed", l, s->nv, s->v[l], v_packed);
        same_bits(s, name, "acceleration", l, s->nv, one, got);
        used++;
    }
    assert_true(used >= s->lanes - 2);
}

// The sines and cosines of these files are right, one angle beyond their polynomials included.
static void check_library(const states *s, void *library, const char *name, const lw_model *model)
{
    four *inverse;
    lw_dynamics *dynamics;
    lw_error error = {0};
    double expected[MOST], largest = 1, angle = 0;
    find(library, name, "inverse_dynamics", &inverse);
    OK(lw_dynamics_create(model, NULL, &dynamics, &error));
    for (int l = 0; l < s->lanes; l++) {
        OK(lw_inverse_dynamics(dynamics, 0, s->q[l], s->v[l], s->x[l], NULL, expected));
        inverse(s->q[l], s->v[l], s->x[l], one);
        for (int i = 0; i < s->nq; i++) angle = fmax(angle, fabs(s->q[l][i]));
        for (int i = 0; i < s->nv; i++) largest = fmax(largest, fabs(expected[i]));
        for (int i = 0; i < s->nv; i++) {
            const double rounding =
                1e-12 + 1e-15 * angle; // of the sum of a coordinate and a constant angle
            assert_true(fabs(one[i] - expected[i]) < rounding * largest);
        }
    }
    lw_dynamics_destroy(dynamics);
}

static void lanes_have_the_bits_of_one_state(void **state)
{
    (void)state;
    skip_without_compiler();
    static const struct {
        const char *file, *name;
        lw_base base;
        int lanes;
        bool closed;
    } cases[] = {
        {"examples/models/ur5.urdf", "ur5", LW_BASE_FIXED, 8, false},
        {"examples/models/ur5.urdf", "floating", LW_BASE_FLOATING, 4, false},
        {"examples/models/four_bar.yaml", "four_bar", LW_BASE_AUTO, 8, true},
        {"examples/models/wishbone_corner.yaml", "corner", LW_BASE_AUTO, 8, true},
        {"tests/models/parallel/robot_delta/robot.urdf", "delta", LW_BASE_AUTO, 4, true},
    };
    enum { N = sizeof cases / sizeof *cases };
    lw_model *model[N];
    for (int i = 0; i < N; i++) {
        model[i] = read_model(cases[i].file, cases[i].base);
        write_lanes(model[i], "lanes", cases[i].name, cases[i].lanes);
    }
    void *library = compile("lanes");
    for (int i = 0; i < N; i++) {
        static states s;
        s.lanes = cases[i].lanes;
        fill(&s, model[i], 0.05);
        if (i == 0) s.q[2][1] = 2e6, s.q[3][2] = -30.5, s.q[4][3] = 999999;
        check_common(&s, library, cases[i].name, model[i]);
        if (i == 0) check_library(&s, library, cases[i].name, model[i]);
        if (cases[i].closed)
            check_closed(&s, library, cases[i].name);
        else
            check_ternary(&s, library, cases[i].name, "forward_dynamics");
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

static void other_numbers_of_lanes_are_refused(void **state)
{
    (void)state;
    lw_model *model = read_model("examples/models/four_bar.yaml", LW_BASE_AUTO);
    lw_error error = {0};
    const lw_codegen_desc desc = {.name = "m", .lanes = 3};
    assert_int_equal(LW_ERR_ARGUMENT, lw_codegen_write(model, &desc, folder, NULL, &error));
    assert_non_null(strstr(error.text, "expected 4 or 8, found 3"));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_have_the_bits_of_one_state),
        cmocka_unit_test(other_numbers_of_lanes_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
