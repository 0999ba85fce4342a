// test_rates.c -- the rates of all states of a run, in generated code, are those of the library.
#include "generated.h"

#include "support/random_model.h"

enum { MOST = 96, LANES = 4, NSTATES = 4 };

// As the generated headers declare them.
typedef struct generated {
    int version, nq, nv, nx, nu;
    const double *q0, *v0, *x0;
    int (*rates)(double, const double *, const double *, const double *, const double *, double *,
                 double *, double *);
    int (*project)(double, double *, double *);
} generated;

typedef struct generated_lanes {
    int version, lanes;
    int (*rates)(const double *, const double *, const double *, const double *, const double *,
                 double *, double *, double *);
    int (*project)(const double *, double *, double *);
} generated_lanes;

typedef struct state {
    double t, q[MOST], v[MOST], x[MOST], u[MOST];
} state;

typedef struct code {
    const char *name;
    const lw_model *model;
    lw_dynamics *dynamics;
    const generated *one;
    const generated_lanes *wide;
} code;

static void open_code(code *c, const lw_model *model, void *library, const char *name)
{
    lw_error error = {0};
    *c = (code){.name = name, .model = model};
    OK(lw_dynamics_create(model, NULL, &c->dynamics, &error));
    find(library, name, "model", &c->one);
    find(library, name, "lanes_model", &c->wide);
    double q[MOST], v[MOST];
    lw_model_tree_start(model, q, v);
    assert_int_equal(1, c->one->version);
    assert_int_equal(lw_model_tree_nq(model), c->one->nq);
    assert_int_equal(lw_model_tree_nv(model), c->one->nv);
    assert_int_equal(lw_model_signal_states(model), c->one->nx);
    assert_int_equal(lw_model_input_count(model), c->one->nu);
    assert_true(c->one->nq < MOST && c->one->nx < MOST && c->one->nu < MOST);
    assert_memory_equal(q, c->one->q0, (size_t)c->one->nq * sizeof *q);
    assert_memory_equal(v, c->one->v0, (size_t)c->one->nv * sizeof *v);
    assert_true((c->one->x0 != NULL) == (c->one->nx > 0));
    assert_int_equal(1, c->wide->version);
    assert_int_equal(LANES, c->wide->lanes);
}

static void random_state(const code *c, uint64_t *seed, double spread, state *s)
{
    memset(s, 0, sizeof *s);
    s->t = lwt_random(seed, 0, 2);
    lw_model_tree_start(c->model, s->q, s->v);
    for (int i = 0; i < c->one->nq; i++) s->q[i] += spread * lwt_random(seed, -1, 1);
    for (int i = 0; i < c->one->nv; i++) s->v[i] += lwt_random(seed, -1, 1);
    for (int i = 0; i < c->one->nu; i++) s->u[i] = lwt_random(seed, -2, 2);
}

// The rates of one state are those of the library.
static void check_library(const code *c, const state *s, double tolerance)
{
    double qdot[MOST], vdot[MOST], xdot[MOST], expected[MOST];
    assert_int_equal(0, c->one->rates(s->t, s->q, s->v, s->x, s->u, qdot, vdot, xdot));
    OK(lw_forward_dynamics(c->dynamics, s->t, s->q, s->v, NULL, s->u, expected));
    expect_close(c->name, "acceleration", vdot, expected, c->one->nv, tolerance);
}

// Lanes side by side.
static void pack(const state *s, size_t offset, int n, double *packed)
{
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < n; i++)
            packed[i * LANES + l] = ((const double *)((const char *)&s[l] + offset))[i];
}

static void same_bits(const code *c, const char *what, int lane, int n, const double *one,
                      const double *packed)
{
    for (int i = 0; i < n; i++)
        if (memcmp(&one[i], &packed[i * LANES + lane], sizeof *one) != 0)
            fail_msg("%s: %s %d of lane %d: %.17g, alone %.17g", c->name, what, i, lane,
                     packed[i * LANES + lane], one[i]);
}

static void check_lanes(const code *c, const state *s)
{
    static double t[LANES], q[MOST * LANES], v[MOST * LANES], x[MOST * LANES], u[MOST * LANES];
    static double qdot[MOST * LANES], vdot[MOST * LANES], xdot[MOST * LANES];
    pack(s, offsetof(state, t), 1, t);
    pack(s, offsetof(state, q), c->one->nq, q);
    pack(s, offsetof(state, v), c->one->nv, v);
    pack(s, offsetof(state, x), c->one->nx, x);
    pack(s, offsetof(state, u), c->one->nu, u);
    assert_int_equal(0, c->wide->project(t, q, v));
    assert_int_equal(0, c->wide->rates(t, q, v, x, u, qdot, vdot, xdot));
    for (int l = 0; l < LANES; l++) {
        state own = s[l];
        double one[3][MOST];
        assert_int_equal(0, c->one->project(own.t, own.q, own.v));
        same_bits(c, "coordinate", l, c->one->nq, own.q, q);
        same_bits(c, "speed", l, c->one->nv, own.v, v);
        c->one->rates(own.t, own.q, own.v, own.x, own.u, one[0], one[1], one[2]);
        same_bits(c, "rate of coordinate", l, c->one->nq, one[0], qdot);
        same_bits(c, "acceleration", l, c->one->nv, one[1], vdot);
        same_bits(c, "rate of state", l, c->one->nx, one[2], xdot);
    }
}

static void check(const lw_model *model, void *library, const char *name, double spread,
                  double tolerance)
{
    code c;
    state s[NSTATES];
    uint64_t seed = 17;
    open_code(&c, model, library, name);
    for (int i = 0; i < NSTATES; i++) random_state(&c, &seed, i == 0 ? 0 : spread, &s[i]);
    check_lanes(&c, s);
    for (int i = 0; i < NSTATES; i++) {
        assert_int_equal(0, c.one->project(s[i].t, s[i].q, s[i].v));
        check_library(&c, &s[i], tolerance);
    }
    lw_dynamics_destroy(c.dynamics);
}

// The rates of coordinates are those of coordinate_rates, which test_codegen compares with the library.
static void check_coordinates(const lw_model *model, void *library, const char *name)
{
    const generated *one;
    void (*coordinate_rates)(const double *, const double *, double *);
    double q[MOST], v[MOST], qdot[MOST], vdot[MOST], expected[MOST];
    uint64_t seed = 3;
    find(library, name, "model", &one);
    find(library, name, "coordinate_rates", &coordinate_rates);
    lw_model_tree_start(model, q, v);
    for (int i = 0; i < one->nv; i++) v[i] = lwt_random(&seed, -1, 1);
    assert_int_equal(0, one->rates(0, q, v, NULL, NULL, qdot, vdot, NULL));
    coordinate_rates(q, v, expected);
    assert_memory_equal(expected, qdot, (size_t)one->nq * sizeof *qdot);
}

static void models_agree(void **unused)
{
    (void)unused;
    skip_without_compiler();
    static const struct {
        const char *file, *name;
        lw_base base;
    } cases[] = {
        {"examples/models/ur5.urdf", "floating", LW_BASE_FLOATING},
        {"examples/models/four_bar.yaml", "four_bar", LW_BASE_AUTO},
        {"examples/models/wishbone_corner.yaml", "corner", LW_BASE_AUTO},
    };
    enum { N = sizeof cases / sizeof *cases };
    lw_model *model[N];
    for (int i = 0; i < N; i++) {
        model[i] = read_model(cases[i].file, cases[i].base);
        write_lanes(model[i], "models", cases[i].name, LANES);
    }
    void *library = compile("models");
    for (int i = 0; i < N; i++) {
        check(model[i], library, cases[i].name, 0.05, 1e-11);
        if (lw_model_signal_states(model[i]) == 0)
            check_coordinates(model[i], library, cases[i].name);
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_agree)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
