// test_rnea_crba.c -- the public dynamics of a tree: forward, inverse, mass matrix, momenta.
#include "tree/tree_cases.h"

#include "kinematics/tree_state.h"

enum { NTREES = 60 };

typedef struct bench {
    lw_dynamics *d;
    int nv;
    double *a, *b, *tau, *M;
} bench;

static bench bench_create(const lwt_tree *c)
{
    bench b = {.nv = lw_model_tree_nv(c->model)};
    lw_error error;
    if (lw_dynamics_create(c->model, NULL, &b.d, &error) != LW_OK) fail_msg("%s", error.text);
    b.a = lwt_reals(b.nv);
    b.b = lwt_reals(b.nv);
    b.tau = lwt_reals(b.nv);
    b.M = lwt_reals(b.nv * b.nv);
    return b;
}

static void bench_destroy(bench *b)
{
    lw_dynamics_destroy(b->d);
    free(b->a);
    free(b->b);
    free(b->tau);
    free(b->M);
}

static double largest(const double *x, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

// Efforts -> accelerations -> efforts is the identity, the model's own forces included.
static void inverse_undoes_forward(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        bench b = bench_create(&c);
        for (int i = 0; i < b.nv; i++) b.tau[i] = lwt_random(&c.state, -3, 3);
        assert_int_equal(lw_forward_dynamics(b.d, c.t, c.q, c.v, b.tau, c.input, b.a), LW_OK);
        assert_int_equal(lw_inverse_dynamics(b.d, c.t, c.q, c.v, b.a, c.input, b.b), LW_OK);
        // the backward error of the accelerations is eps |M| |vdot|; twelve bodies of 2 kg on arms
        // of some metres make |M| about 1e3
        const double scale = 1 + largest(b.a, b.nv);
        for (int i = 0; i < b.nv; i++)
            lwt_close(&c, "tau", i, b.b[i] / scale, b.tau[i] / scale, 1e-12);
        bench_destroy(&b);
    }
}

// Without efforts, forward dynamics equals that with NULL.
static void no_effort_is_zero_effort(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 20, LWT_ALL - LWT_FORCES)
    {
        bench b = bench_create(&c);
        assert_int_equal(lw_forward_dynamics(b.d, c.t, c.q, c.v, b.tau, c.input, b.a), LW_OK);
        assert_int_equal(lw_forward_dynamics(b.d, c.t, c.q, c.v, NULL, NULL, b.b), LW_OK);
        assert_memory_equal(b.a, b.b, (size_t)b.nv * sizeof *b.a);
        bench_destroy(&b);
    }
}

// Columns of the mass matrix are the differences of inverse dynamics for unit accelerations; M is
// symmetric bit for bit.
static void mass_matrix_is_that_of_inverse_dynamics(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        bench b = bench_create(&c);
        const int n = b.nv;
        assert_int_equal(lw_mass_matrix(b.d, c.t, c.q, b.M), LW_OK);
        assert_int_equal(lw_inverse_dynamics(b.d, c.t, c.q, c.v, b.a, c.input, b.b), LW_OK);
        // the difference of two efforts loses their common digits
        const double scale = 1 + largest(b.M, n * n) + largest(b.b, n);
        for (int j = 0; j < n; j++) {
            b.a[j] = 1;
            assert_int_equal(lw_inverse_dynamics(b.d, c.t, c.q, c.v, b.a, c.input, b.tau), LW_OK);
            b.a[j] = 0;
            for (int i = 0; i < n; i++) {
                lwt_close(&c, "M", i * n + j, b.M[i * n + j] / scale, (b.tau[i] - b.b[i]) / scale,
                          1e-13);
                assert_true(b.M[i * n + j] == b.M[j * n + i]);
            }
        }
        bench_destroy(&b);
    }
}

// v'Mv/2 is the kinetic energy of the bodies, and p = M v, if nothing is prescribed.
static void kinetic_energy_and_momenta(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL - LWT_DRIVES - LWT_MOUNTS)
    {
        const lw_model *m = c.model;
        bench b = bench_create(&c);
        lwi_arena arena;
        lwi_tree_work w;
        double T = 0, Mv, quadratic = 0;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_tree_work_create(m, &arena, &w), LW_OK);
        lwi_tree_position(m, c.t, c.q, w.link);
        lwi_tree_velocity(m, w.link, c.v, w.V);
        lwi_tree_world(m, w.link, w.R, w.r);
        lwi_tree_bodies(m, (const double(*)[9])w.R, (const double(*)[3])w.r,
                        (const double(*)[6])w.V, w.body_R, w.body_r, w.body_v, w.body_w);
        for (int i = 1; i < m->nbody; i++) {
            const lwi_body *body = &m->body[i];
            double omega[3], H[3];
            m3_tmul_v(omega, w.body_R[i], w.body_w[i]);
            s3_mul_v(H, body->inertia, omega);
            T += 0.5 * (body->mass * v3_dot(w.body_v[i], w.body_v[i]) + v3_dot(omega, H));
        }
        assert_int_equal(lw_mass_matrix(b.d, c.t, c.q, b.M), LW_OK);
        assert_int_equal(lw_momenta(b.d, c.t, c.q, c.v, b.a), LW_OK);
        for (int i = 0; i < b.nv; i++) {
            Mv = 0;
            for (int j = 0; j < b.nv; j++) Mv += b.M[i * b.nv + j] * c.v[j];
            quadratic += 0.5 * Mv * c.v[i];
            lwt_close(&c, "p", i, b.a[i] / (1 + T), Mv / (1 + T), 1e-13);
        }
        lwt_close(&c, "kinetic energy", 0, quadratic, T, 1e-13);
        lwi_arena_free(&arena);
        bench_destroy(&b);
    }
}

// Quaternions of zeros on an arm, which have no direction.
static void what_is_not_finite_is_refused(void **state)
{
    (void)state;
    lw_model *model;
    lw_error error;
    static const char text[] =
        "linkwork: 1\nbodies:\n  arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}\n"
        "  tip: {mass: 1, inertia: [1, 2, 3, 0, 0, 0], com: [0.1, 0.2, 0.3], position: [1, 0, 0]}\n"
        "joints:\n  elbow: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 0, "
        "1]}\n"
        "  ball: {type: spherical, between: [arm, tip], at: [1, 0, 0]}\n";
    const lw_read_desc format = {.format = "yaml"};
    if (lw_model_parse(text, sizeof text - 1, "arm", &format, &model, NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    lwt_tree c = {.model = model};
    bench b = bench_create(&c);
    double q[5] = {0.3}, v[4] = {1, 1, 1, 1}, p[4] = {7, 7, 7, 7};
    assert_int_equal(b.nv, 4);
    assert_int_equal(lw_mass_matrix(b.d, 0, q, b.M), LW_ERR_NOT_FINITE);
    assert_non_null(strstr(lw_dynamics_error(b.d)->text, "inertia is not a finite number"));
    assert_int_equal(lw_momenta(b.d, 0, q, v, p), LW_ERR_NOT_FINITE);
    assert_true(p[0] == 7 && p[3] == 7);
    assert_int_equal(lw_inverse_dynamics(b.d, 0, q, v, b.a, NULL, b.b), LW_ERR_NOT_FINITE);
    bench_destroy(&b);
    lw_model_destroy(model);
}

// The indices of all joints are all indices of q and v, except those of floating bases.
static void joints_have_their_places(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        int nq = 0, nv = 0;
        for (int j = 0; j < m->njoint; j++) {
            int q_first, q_count, v_first, v_count;
            const lw_joint joint = {j};
            assert_int_equal(lw_model_joint_tree(m, joint, &q_first, &q_count, &v_first, &v_count),
                             LW_OK);
            assert_true(q_first >= 0 && q_first + q_count <= lw_model_tree_nq(m));
            assert_true(v_first >= 0 && v_first + v_count <= lw_model_tree_nv(m));
            nq += q_count;
            nv += v_count;
        }
        for (int k = 0; k < m->nnode; k++)
            if (m->node[k].joint < 0) nq += 7, nv += 6;
        assert_int_equal(nq, lw_model_tree_nq(m));
        assert_int_equal(nv, lw_model_tree_nv(m));
        assert_int_equal(lw_model_joint_tree(m, (lw_joint){m->njoint}, NULL, NULL, NULL, NULL),
                         LW_ERR_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse_undoes_forward),
        cmocka_unit_test(no_effort_is_zero_effort),
        cmocka_unit_test(mass_matrix_is_that_of_inverse_dynamics),
        cmocka_unit_test(kinetic_energy_and_momenta),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(joints_have_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
