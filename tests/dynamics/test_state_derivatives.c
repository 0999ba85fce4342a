// test_state_derivatives.c -- derivatives of inverse and forward dynamics of trees, against differences.
#include "tree/tree_cases.h"

#include "spatial/rotation.h"
#include "tree/derivatives.h"
#include "tree/merge.h"

enum { NTREES = 60 };

/** Everything of one tree at one state. */
typedef struct bench {
    lw_dynamics *d;
    int n;
    double *a, *by_q, *by_v, *M, *out[2], *q, *v;
} bench;

static bench bench_create(const lwt_tree *c)
{
    bench b = {.n = lw_model_tree_nv(c->model)};
    lw_error error;
    if (lw_dynamics_create(c->model, NULL, &b.d, &error) != LW_OK) fail_msg("%s", error.text);
    b.a = lwt_reals(b.n);
    b.by_q = lwt_reals(b.n * b.n);
    b.by_v = lwt_reals(b.n * b.n);
    b.M = lwt_reals(b.n * b.n);
    b.out[0] = lwt_reals(b.n);
    b.out[1] = lwt_reals(b.n);
    b.q = lwt_reals(c->model->tree_nq);
    b.v = lwt_reals(b.n);
    return b;
}

static void bench_destroy(bench *b)
{
    lw_dynamics_destroy(b->d);
    double *const all[] = {b->a, b->by_q, b->by_v, b->M, b->out[0], b->out[1], b->q, b->v};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

// q moved by `step` along speed i: rotations by the exponential.
static void displaced(const lwt_tree *c, int i, double step, double *q)
{
    const lw_model *m = c->model;
    memcpy(q, c->q, (size_t)m->tree_nq * sizeof *q);
    for (int k = 0; k < m->nnode; k++) {
        const lwi_node *node = &m->node[k];
        if (i < node->iv || i >= node->iv + node->nv) continue;
        const int j = i - node->iv, e = node->type->quaternion;
        if (e < 0) {
            q[node->iq + j] += step;
            return;
        }
        double u[6] = {0}, rate[7], turn[4], rotated[4];
        u[j] = step;
        const int first = node->nv - 3;
        if (j < first) { // a displacement in axes of F2
            node->type->kinematics(node->par, q + node->iq, u, rate);
            for (int l = 0; l < 3; l++) q[node->iq + l] += rate[l];
            return;
        }
        turn[0] = cos(step / 2);
        for (int l = 0; l < 3; l++) turn[1 + l] = l == j - first ? sin(step / 2) : 0;
        quat_mul(rotated, q + node->iq + e, turn);
        memcpy(q + node->iq + e, rotated, sizeof rotated);
    }
}

// Column i of the derivative of inverse or forward dynamics at the bench's a (vdot, or tau) by central differences.
static void column_by_differences(const lwt_tree *c, bench *b, bool forward, bool by_v, int i,
                                  double *column)
{
    static const double factor[4] = {1, -8, 8, -1};
    memset(column, 0, (size_t)b->n * sizeof *column);
    for (int l = 0; l < 4; l++) {
        memcpy(b->v, c->v, (size_t)b->n * sizeof *b->v);
        displaced(c, i, by_v ? 0 : lwt_offset[l], b->q);
        if (by_v) b->v[i] += lwt_offset[l];
        const lw_status status =
            forward ? lw_forward_dynamics(b->d, c->t, b->q, b->v, b->a, c->input, b->out[0])
                    : lw_inverse_dynamics(b->d, c->t, b->q, b->v, b->a, c->input, b->out[0]);
        assert_int_equal(status, LW_OK);
        for (int k = 0; k < b->n; k++) column[k] += factor[l] * b->out[0][k] / (12 * LWT_STEP);
    }
}

static double largest(const double *x, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

static void compare_columns(const lwt_tree *c, bench *b, bool forward)
{
    const double scale = 1 + largest(b->by_q, b->n * b->n) + largest(b->by_v, b->n * b->n);
    for (int i = 0; i < b->n; i++)
        for (int by_v = 0; by_v < 2; by_v++) {
            column_by_differences(c, b, forward, by_v, i, b->out[1]);
            const double *matrix = by_v ? b->by_v : b->by_q;
            for (int k = 0; k < b->n; k++)
                lwt_close(c, by_v ? "by v" : "by q", k * b->n + i, matrix[k * b->n + i] / scale,
                          b->out[1][k] / scale, 1e-8);
        }
}

static void check_inverse(lwt_tree *c)
{
    bench b = bench_create(c);
    for (int i = 0; i < b.n; i++) b.a[i] = lwt_random(&c->state, -3, 3);
    assert_int_equal(
        lw_inverse_dynamics_derivatives(b.d, c->t, c->q, c->v, b.a, c->input, b.by_q, b.by_v, b.M),
        LW_OK);
    compare_columns(c, &b, false);
    double *M = lwt_reals(b.n * b.n);
    assert_int_equal(lw_mass_matrix(b.d, c->t, c->q, M), LW_OK);
    const double scale = 1 + largest(M, b.n * b.n);
    for (int i = 0; i < b.n * b.n; i++) lwt_close(c, "M", i, b.M[i] / scale, M[i] / scale, 1e-13);
    free(M);
    bench_destroy(&b);
}

static void inverse_dynamics(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL - LWT_CUSTOM)
    {
        check_inverse(&c);
    }
}

// Bodies on fixed joints are merged where nothing reads them.
static void fixed_joints(void **state)
{
    (void)state;
    int merged = 0;
    LWT_FOR_TREES(c, NTREES / 2, LWT_MULTI | LWT_QUASI | LWT_FIXED | LWT_REVERSED | LWT_FLOATING)
    {
        merged += lwi_tree_merges(c.model);
        check_inverse(&c);
    }
    assert_true(merged > 3);
}

static void forward_dynamics(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES / 2, LWT_ALL - LWT_CUSTOM)
    {
        bench b = bench_create(&c);
        double *vdot = lwt_reals(b.n), *with = lwt_reals(b.n);
        for (int i = 0; i < b.n; i++) b.a[i] = lwt_random(&c.state, -3, 3);
        assert_int_equal(lw_forward_dynamics_derivatives(b.d, c.t, c.q, c.v, b.a, c.input, vdot,
                                                         b.by_q, b.by_v, b.M),
                         LW_OK);
        assert_int_equal(lw_forward_dynamics(b.d, c.t, c.q, c.v, b.a, c.input, with), LW_OK);
        assert_memory_equal(vdot, with, (size_t)b.n * sizeof *vdot);
        compare_columns(&c, &b, true);
        // accelerations are linear in efforts
        for (int i = 0; i < b.n; i++) {
            b.a[i] += 1;
            assert_int_equal(lw_forward_dynamics(b.d, c.t, c.q, c.v, b.a, c.input, with), LW_OK);
            b.a[i] -= 1;
            const double size = 1 + largest(with, b.n) + largest(vdot, b.n);
            for (int k = 0; k < b.n; k++)
                lwt_close(&c, "by tau", k * b.n + i, b.M[k * b.n + i] / size,
                          (with[k] - vdot[k]) / size, 1e-10);
        }
        free(vdot);
        free(with);
        bench_destroy(&b);
    }
}

// Products with the transposed matrices, which are computed without them.
static void products(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL - LWT_CUSTOM)
    {
        const lw_model *m = c.model;
        const int n = m->tree_nv;
        lwi_arena arena;
        lwi_tree_derivatives d;
        lwi_tree_work work;
        lw_error error;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_tree_derivatives_create(m, &arena, &d, &error), LW_OK);
        assert_int_equal(lwi_tree_work_create(m, &arena, &work), LW_OK);
        double *vdot = lwt_reals(n), *u = lwt_reals(n), *q = lwt_reals(n), *v = lwt_reals(n),
               *by_q = lwt_reals(n * n), *by_v = lwt_reals(n * n), *M = lwt_reals(n * n);
        for (int i = 0; i < n; i++) vdot[i] = lwt_random(&c.state, -3, 3);
        for (int i = 0; i < n; i++) u[i] = lwt_random(&c.state, -1, 1);
        lwi_tree_position(m, c.t, c.q, work.link);
        lwi_tree_rates(m, c.t, c.v, work.link);
        lwi_tree_world(m, work.link, work.R, work.r);
        lwi_tree_inertial_derivatives(m, &d, &work, c.t, c.v, vdot, by_q, by_v, M);
        lwi_tree_inertial_begin(m, &d, &work, c.t, c.v, vdot);
        lwi_tree_inertial_products(m, &d, u, q, v);
        const double scale = 1 + n * (largest(by_q, n * n) + largest(by_v, n * n));
        for (int j = 0; j < n; j++) {
            double sum_q = 0, sum_v = 0;
            for (int i = 0; i < n; i++) sum_q += u[i] * by_q[i * n + j];
            for (int i = 0; i < n; i++) sum_v += u[i] * by_v[i * n + j];
            lwt_close(&c, "u by q", j, q[j] / scale, sum_q / scale, 1e-13);
            lwt_close(&c, "u by v", j, v[j] / scale, sum_v / scale, 1e-13);
        }
        double *const all[] = {vdot, u, q, v, by_q, by_v, M};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
        lwi_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inverse_dynamics),
                                       cmocka_unit_test(fixed_joints), cmocka_unit_test(products),
                                       cmocka_unit_test(forward_dynamics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
