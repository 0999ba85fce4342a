// test_compiled_derivatives.c -- derivatives of compiled models: those of the library, bits in lanes, what is refused.
#include "compile.h"
#include "model/model.h"

enum { LARGE = 32, MANY = 7, SQUARE = LARGE * LARGE };

// Of MANY states.
typedef struct derivatives {
    double vdot[MANY * LARGE], by_q[MANY * SQUARE], by_v[MANY * SQUARE], by[MANY * SQUARE];
    unsigned char failed[MANY];
} derivatives;

typedef struct given {
    double t[MANY], q[MANY * LARGE], v[MANY * LARGE], tau[MANY * LARGE], x[MANY * LARGE],
        u[MANY * LARGE];
} given;

// A model, its code, and what the library says.
typedef struct subject {
    const char *name;
    const lw_model *model;
    const lw_compiled *c;
    lw_dynamics *dynamics;
    int nq, nv, nx, nu;
    double tolerance;
} subject;

static lw_compiled_desc derivative_desc(int lanes)
{
    lw_compiled_desc desc = quick_desc_of(lanes, false);
    desc.derivatives = true;
    return desc;
}

static void random_states(const subject *s, double spread, given *g)
{
    uint64_t seed = 11;
    for (int k = 0; k < MANY; k++) {
        double *q = g->q + k * s->nq, *v = g->v + k * s->nv;
        g->t[k] = s->model->driven ? 0.1 * k : 0;
        lw_model_tree_start(s->model, q, v);
        for (int i = 0; i < s->nq; i++) q[i] += spread * lwt_random(&seed, -1, 1);
        for (int i = 0; i < s->nv; i++) v[i] += 5 * spread * lwt_random(&seed, -1, 1);
        for (int i = 0; i < s->nv; i++) g->tau[k * s->nv + i] = lwt_random(&seed, -1, 1);
        for (int i = 0; i < s->nu; i++) g->u[k * s->nu + i] = lwt_random(&seed, -1, 1);
        for (int i = 0; i < s->nx; i++) g->x[k * s->nx + i] = s->model->state0[i];
        OK(lw_compiled_project(s->c, g->t[k], q, v));
    }
}

static void forward_many(const subject *s, const given *g, derivatives *d)
{
    OK(lw_compiled_forward_dynamics_derivatives_many(s->c, MANY, g->t, g->q, g->v, g->x, g->tau,
                                                     g->u, d->vdot, d->by_q, d->by_v, d->by,
                                                     d->failed));
    for (int k = 0; k < MANY; k++) assert_int_equal(0, d->failed[k]);
}

static void expect_bits(const subject *s, int k, const derivatives *one, const derivatives *many,
                        bool accelerations)
{
    const size_t n = (size_t)s->nv, N = n * n, K = (size_t)k;
    if (accelerations) assert_memory_equal(one->vdot, many->vdot + K * n, n * sizeof(double));
    assert_memory_equal(one->by_q, many->by_q + K * N, N * sizeof(double));
    assert_memory_equal(one->by_v, many->by_v + K * N, N * sizeof(double));
    assert_memory_equal(one->by, many->by + K * N, N * sizeof(double));
}

// c = A b, n columns
static void multiply(int n, int columns, const double *A, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < columns; j++) {
            c[i * columns + j] = 0;
            for (int k = 0; k < n; k++) c[i * columns + j] += A[i * n + k] * b[k * columns + j];
        }
}

// What changes along the constraints: of speeds those that efforts change, of both the motion itself.
static void expect_along(const subject *s, const double *v, const derivatives *got,
                         const derivatives *expected)
{
    static double a[SQUARE], b[SQUARE], c[LARGE], e[LARGE];
    const int n = s->nv;
    multiply(n, n, got->by_v, expected->by, a);
    multiply(n, n, expected->by_v, expected->by, b);
    expect_close(s->name, "by v along the loops", a, b, n * n, s->tolerance);
    multiply(n, 1, got->by_q, v, a);
    multiply(n, 1, expected->by_q, v, b);
    multiply(n, 1, got->by_v, expected->vdot, c);
    multiply(n, 1, expected->by_v, expected->vdot, e);
    for (int i = 0; i < n; i++) a[i] += c[i], b[i] += e[i];
    expect_close(s->name, "along the motion", a, b, n, s->tolerance);
}

// Displacements that efforts cause, with the changes of v that keep the loops closed, by differences of a projection.
static void expect_displaced(const subject *s, double t, const double *q, const double *v,
                             const derivatives *got, const derivatives *expected)
{
    static const double H = 1e-5;
    double p[2][LARGE], w[2][LARGE], dq[LARGE], dv[LARGE], a[2][LARGE], b[2][LARGE];
    const int n = s->nv;
    if (s->nq != n || s->model->driven) return;
    for (int j = 0; j < n; j++) {
        double size = 0;
        for (int i = 0; i < n; i++) size = fmax(size, fabs(expected->by[i * n + j]));
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < n; i++)
                p[side][i] = q[i] + (side ? H : -H) / size * expected->by[i * n + j],
                w[side][i] = v[i];
            OK(lw_compiled_project(s->c, t, p[side], w[side]));
        }
        for (int i = 0; i < n; i++) dq[i] = (p[1][i] - p[0][i]) / (2 * H);
        for (int i = 0; i < n; i++) dv[i] = (w[1][i] - w[0][i]) / (2 * H);
        multiply(n, 1, got->by_q, dq, a[0]), multiply(n, 1, got->by_v, dv, a[1]);
        multiply(n, 1, expected->by_q, dq, b[0]), multiply(n, 1, expected->by_v, dv, b[1]);
        for (int i = 0; i < n; i++) a[0][i] += a[1][i], b[0][i] += b[1][i];
        expect_close(s->name, "by displacements of the loops", a[0], b[0], n,
                     1e4 * s->tolerance); // of the differences
    }
}

static void expect_forward(const subject *s, const given *g)
{
    static derivatives many, one, expected;
    const int nv = s->nv;
    forward_many(s, g, &many);
    for (int k = 0; k < MANY; k++) {
        const double *q = g->q + k * s->nq, *v = g->v + k * nv, *tau = g->tau + k * nv;
        const double *u = g->u + k * s->nu;
        OK(lw_compiled_forward_dynamics_derivatives(s->c, g->t[k], q, v, g->x + k * s->nx, tau, u,
                                                    one.vdot, one.by_q, one.by_v, one.by));
        expect_bits(s, k, &one, &many, true);
        OK(lw_forward_dynamics_derivatives(s->dynamics, g->t[k], q, v, tau, u, expected.vdot,
                                           expected.by_q, expected.by_v, expected.by));
        expect_close(s->name, "vdot", one.vdot, expected.vdot, nv, s->tolerance);
        expect_close(s->name, "by tau", one.by, expected.by, nv * nv, s->tolerance);
        if (s->model->nloop + s->model->ncoupling > 0) {
            if (!s->model->driven) expect_along(s, v, &one, &expected);
            expect_displaced(s, g->t[k], q, v, &one, &expected);
            continue;
        }
        expect_close(s->name, "by q", one.by_q, expected.by_q, nv * nv, s->tolerance);
        expect_close(s->name, "by v", one.by_v, expected.by_v, nv * nv, s->tolerance);
    }
}

static void expect_inverse(const subject *s, const given *g)
{
    static derivatives many, one, expected;
    const int nv = s->nv;
    if (s->model->nloop + s->model->ncoupling > 0) {
        assert_int_equal(LW_ERR_UNSUPPORTED,
                         lw_compiled_inverse_dynamics_derivatives(
                             s->c, 0, g->q, g->v, g->x, g->tau, g->u, one.by_q, one.by_v, one.by));
        return;
    }
    OK(lw_compiled_inverse_dynamics_derivatives_many(s->c, MANY, g->t, g->q, g->v, g->x, g->tau,
                                                     g->u, many.by_q, many.by_v, many.by,
                                                     many.failed));
    for (int k = 0; k < MANY; k++) {
        const double *q = g->q + k * s->nq, *v = g->v + k * nv, *a = g->tau + k * nv;
        const double *u = g->u + k * s->nu;
        OK(lw_compiled_inverse_dynamics_derivatives(s->c, g->t[k], q, v, g->x + k * s->nx, a, u,
                                                    one.by_q, one.by_v, one.by));
        expect_bits(s, k, &one, &many, false);
        OK(lw_inverse_dynamics_derivatives(s->dynamics, g->t[k], q, v, a, u, expected.by_q,
                                           expected.by_v, expected.by));
        expect_close(s->name, "effort by q", one.by_q, expected.by_q, nv * nv, s->tolerance);
        expect_close(s->name, "effort by v", one.by_v, expected.by_v, nv * nv, s->tolerance);
        expect_close(s->name, "M", one.by, expected.by, nv * nv, s->tolerance);
    }
}

// Ends the model; false: no code is generated of it.
static bool expect_derivatives(lw_model *model, const char *name, int lanes, double spread,
                               double tolerance)
{
    static given g;
    lw_compiled *c = NULL;
    lw_error error = {0};
    const lw_compiled_desc desc = derivative_desc(lanes);
    const lw_status status = lw_compiled_create(model, &desc, &c, &error);
    if (status == LW_ERR_UNSUPPORTED && strstr(error.text, "no code can be generated")) {
        lw_model_destroy(model);
        return false;
    }
    if (status != LW_OK) fail_msg("%s: %s", name, error.text);
    const lw_compiled_info about = lw_compiled_about(c);
    subject s = {.name = name,
                 .model = model,
                 .c = c,
                 .nq = about.nq,
                 .nv = about.nv,
                 .nx = about.nstate,
                 .nu = about.ninput,
                 .tolerance = tolerance};
    assert_true(s.nq <= LARGE && s.nx <= LARGE && s.nu <= LARGE);
    OK(lw_dynamics_create(model, NULL, &s.dynamics, NULL));
    random_states(&s, spread, &g);
    expect_forward(&s, &g);
    expect_inverse(&s, &g);
    lw_dynamics_destroy(s.dynamics);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
    return true;
}

static void robots_agree_in_any_lanes(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("robots");
    static const char ur5[] = "examples/models/ur5.urdf", legs[] = "examples/models/anymal_c.urdf";
    assert_true(expect_derivatives(read_model(ur5, LW_BASE_AUTO), "UR5", 1, 0.1, 1e-10));
    assert_true(expect_derivatives(read_model(ur5, LW_BASE_FLOATING), "UR5", 8, 0.1, 1e-10));
    assert_true(expect_derivatives(read_model(legs, LW_BASE_FLOATING), "ANYmal", 4, 0.1, 1e-10));
    static const char *const driven[] = {"examples/models/kapitza.yaml",
                                         "examples/models/crane.yaml",
                                         "examples/models/cart_arm.yaml"};
    for (int i = 0; i < 3; i++)
        assert_true(
            expect_derivatives(read_model(driven[i], LW_BASE_AUTO), driven[i], 4, 0.1, 1e-9));
}

// All joints, in both directions, drives, mounts and forces.
static void random_trees_agree(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("trees");
    int count = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        lw_model *model = NULL;
        char name[40];
        unsigned flags = LWT_MULTI | LWT_QUASI | LWT_FIXED | LWT_REVERSED | LWT_FLOATING;
        if (seed % 2) flags |= LWT_DRIVES | LWT_MOUNTS;
        if (seed % 3 == 0) flags |= LWT_FORCES;
        snprintf(name, sizeof name, "random tree %d", (int)seed);
        OK(lwt_random_tree(seed, 4, flags, &model));
        count += expect_derivatives(model, name, seed % 4 ? 4 : 1, 0.1, 1e-9);
    }
    if (count < 3) fail_msg("%d trees were compared", count);
}

static void loops_agree_along_the_constraints(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("loops");
    static const struct {
        const char *file;
        int lanes;
        double spread, tolerance;
    } cases[] = {{"examples/models/four_bar.yaml", 1, 0.1, 1e-10},
                 {"examples/models/four_bar.yaml", 8, 0.1, 1e-10},
                 {"examples/delta/delta.yaml", 4, 0.01, 1e-9},
                 {"examples/models/wishbone_corner.yaml", 4, 0.02, 1e-9}};
    for (int i = 0; i < LWI_COUNT(cases); i++)
        assert_true(expect_derivatives(read_model(cases[i].file, LW_BASE_AUTO), cases[i].file,
                                       cases[i].lanes, cases[i].spread, cases[i].tolerance));
}

// At a dead point of the first partition code with another one is compiled; single calls and many have it.
static void another_partition_has_derivatives(void **state)
{
    (void)state;
    static given g;
    lw_compiled_desc desc = derivative_desc(4);
    skip_without_compiler();
    new_cache("partition");
    lw_model *model = slider_crank();
    desc.on_demand = true;
    lw_compiled *c = compiled(model, desc);
    subject s = {
        .name = "slider-crank", .model = model, .c = c, .nq = 3, .nv = 3, .tolerance = 1e-9};
    OK(lw_dynamics_create(model, NULL, &s.dynamics, NULL));
    random_states(&s, 0, &g);
    dead_point(model, g.q + 3, g.v + 3);
    OK(lw_compiled_project(c, 0, g.q + 3, g.v + 3));
    expect_forward(&s, &g);
    assert_int_equal(2, lw_compiled_about(c).partitions);
    lw_dynamics_destroy(s.dynamics);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void expect_mark(int lanes)
{
    enum { BAD = 4 };
    static given g;
    static derivatives whole, part;
    lw_model *model = lwt_yaml("linkwork: 1\ngenerate: {n_four_bar: {n: 2}}\n");
    lw_compiled *c = compiled(model, derivative_desc(lanes));
    const lw_compiled_info about = lw_compiled_about(c);
    const int n = about.nv;
    const subject s = {.model = model, .c = c, .nq = n, .nv = n};
    assert_int_equal(n, about.nq);
    random_states(&s, 0.1, &g);
    forward_many(&s, &g, &whole);
    g.q[n * BAD + n - 1] = NAN; // of the second loop: the first one has its speeds
    assert_int_equal(LW_ERR_SINGULAR, lw_compiled_forward_dynamics_derivatives_many(
                                          c, MANY, g.t, g.q, g.v, NULL, NULL, NULL, part.vdot,
                                          part.by_q, part.by_v, part.by, part.failed));
    for (int k = 0; k < MANY; k++) assert_int_equal(k == BAD, part.failed[k]);
    OK(lw_compiled_forward_dynamics_derivatives_many(
        c, BAD, g.t, g.q, g.v, NULL, g.tau, NULL, part.vdot, part.by_q, part.by_v, part.by, NULL));
    assert_memory_equal(part.by_q, whole.by_q, (size_t)(BAD * n * n) * sizeof *part.by_q);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void states_that_fail_are_marked(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("marks");
    expect_mark(1);
    expect_mark(4);
}

// Without a request they are not in the text; requested again, they are found.  With `rates_only` it is the same code.
static void they_are_compiled_on_request(void **state)
{
    (void)state;
    double q[6] = {0}, a[36], b[36], d[36];
    lw_compiled_info info[2];
    skip_without_compiler();
    new_cache("asked");
    lw_model *model = read_model("examples/models/ur5.urdf", LW_BASE_AUTO);
    const lw_compiled_desc with = derivative_desc(4), without = quick_desc_of(4, false);
    OK(lw_compiled_predict(model, &with, &info[0], NULL));
    OK(lw_compiled_predict(model, &without, &info[1], NULL));
    assert_true(info[0].letters > info[1].letters);
    lw_compiled *c = compiled(model, without);
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_forward_dynamics_derivatives(
                                             c, 0, q, q, NULL, NULL, NULL, q, a, b, d));
    assert_int_equal(LW_ERR_UNSUPPORTED,
                     lw_compiled_inverse_dynamics_derivatives(c, 0, q, q, NULL, q, NULL, a, b, d));
    lw_compiled_destroy(c);
    lw_compiled_desc rates = with;
    rates.rates_only = true;
    lw_compiled_destroy(compiled(model, rates));
    c = compiled(model, with);
    assert_true(lw_compiled_about(c).found);
    OK(lw_compiled_forward_dynamics(c, q, q, NULL, a));
    assert_int_equal(LW_ERR_ARGUMENT, lw_compiled_forward_dynamics_derivatives(
                                          c, 0, q, q, NULL, NULL, NULL, q, a, NULL, d));
    OK(lw_compiled_forward_dynamics_derivatives(c, 0, q, q, NULL, NULL, NULL, q, a, b, d));
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

static void large_models_are_refused(void **state)
{
    (void)state;
    lw_compiled *c = NULL;
    lw_error error = {0};
    skip_without_compiler();
    new_cache("refused");
    lw_model *model = lwt_yaml("linkwork: 1\ngenerate: {chain: {n: 65}}\n");
    const lw_compiled_desc desc = derivative_desc(4);
    assert_int_equal(LW_ERR_UNSUPPORTED, lw_compiled_create(model, &desc, &c, &error));
    assert_non_null(
        strstr(error.text, "derivatives: the model has 65 speeds, expected at most 64"));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_agree_in_any_lanes),
        cmocka_unit_test(random_trees_agree),
        cmocka_unit_test(loops_agree_along_the_constraints),
        cmocka_unit_test(another_partition_has_derivatives),
        cmocka_unit_test(states_that_fail_are_marked),
        cmocka_unit_test(they_are_compiled_on_request),
        cmocka_unit_test(large_models_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
