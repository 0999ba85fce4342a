// test_loop_momenta.c -- Hamilton's equations of closed mechanisms as public calls: lw_momenta and lw_momenta_rates
// against the dense equations of lw_constraints, accelerations by other formulations, and motions.
#include "methods/loop_cases.h"
#include "methods/rcr/rcr_cases.h"
#include "support/failing.h"
#include "support/random_loops.h"
#include "support/rotors.h"

#include <linkwork/dynamics.h>

// A mechanism at a state that satisfies its loops, with momenta p that contain impulses of the loops.
typedef struct state {
    const lw_model *model;
    lw_dynamics *d;
    lw_constraints *c;
    int nq, n, m;
    double *q, *v, *p, *tau, *input;
    double *M, *J, *rate; // [n][n], [m][n], [m]
} state;

static double *copy(const double *x, int n)
{
    return memcpy(lwt_vector(n), x, (size_t)n * sizeof *x);
}

static state state_of(const lw_model *model, uint64_t seed)
{
    state s = {.model = model, .nq = lw_model_tree_nq(model), .n = lw_model_tree_nv(model)};
    lw_error error;
    lwt_ok(lw_dynamics_create(model, NULL, &s.d, &error), &error);
    lwt_ok(lw_constraints_create(model, NULL, &s.c, &error), &error);
    s.m = lw_constraints_count(s.c);
    s.q = lwt_vector(s.nq), s.v = lwt_vector(s.n), s.p = lwt_vector(s.n), s.tau = lwt_vector(s.n);
    s.M = lwt_vector(s.n * s.n), s.J = lwt_vector(s.m * s.n), s.rate = lwt_vector(s.m);
    s.input = lwt_vector(model->desc.ninput);
    for (int i = 0; i < model->desc.ninput; i++) s.input[i] = 0.3 * (i + 1);
    lw_model_tree_start(model, s.q, s.v);
    lwt_ok(lw_momenta(s.d, 0, s.q, s.v, s.p), lw_dynamics_error(s.d));
    assert_int_equal(lw_constraints_tree(s.c, 0, s.q, s.v, s.input, s.M, NULL), LW_OK);
    assert_int_equal(lw_constraints_evaluate(s.c, 0, s.q, s.v, NULL, s.rate, s.J, NULL), LW_OK);
    for (int i = 0; i < s.n; i++) s.tau[i] = lwt_random(&seed, -1, 1);
    for (int r = 0; r < s.m; r++) {
        const double eta = lwt_random(&seed, -0.3, 0.3);
        for (int i = 0; i < s.n; i++) s.p[i] += s.J[r * s.n + i] * eta;
    }
    return s;
}

static void state_end(state *s)
{
    lw_constraints_destroy(s->c);
    lw_dynamics_destroy(s->d);
    free(s->q), free(s->v), free(s->p), free(s->tau), free(s->input);
    free(s->M), free(s->J), free(s->rate);
}

// v, qdot and pdot at (t, q, p).
static void rates(const state *s, double t, const double *q, const double *p, const double *tau,
                  double *v, double *qdot, double *pdot)
{
    lwt_ok(lw_momenta_rates(s->d, t, q, p, tau, s->input, v, qdot, pdot), lw_dynamics_error(s->d));
}

static double largest(const double *x, int n)
{
    double max = 1;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

// The speeds at x + s xdot, t + s.
static void speeds_along(const state *s, const double *qdot, const double *pdot, double h,
                         double *v)
{
    double *q = copy(s->q, s->nq), *p = copy(s->p, s->n);
    double *a = lwt_vector(s->nq), *b = lwt_vector(s->n);
    for (int i = 0; i < s->nq; i++) q[i] += h * qdot[i];
    for (int i = 0; i < s->n; i++) p[i] += h * pdot[i];
    rates(s, h, q, p, s->tau, v, a, b);
    free(q), free(p), free(a), free(b);
}

// Momenta with any impulses J' eta have the speeds of those without, which are M v; and along the rates the speeds
// change by the accelerations of coordinate reduction, efforts and inputs included.
static void check_state(const lw_model *model, uint64_t seed)
{
    state s = state_of(model, seed);
    const int n = s.n;
    double *v = lwt_vector(n), *qdot = lwt_vector(s.nq), *pdot = lwt_vector(n);
    double *vdot = lwt_vector(n), *at[4];
    rates(&s, 0, s.q, s.p, s.tau, v, qdot, pdot);
    for (int i = 0; i < n; i++)
        lwt_near("speed", (int)seed * 1000 + i, v[i], s.v[i], 1e-9 * largest(s.p, n));
    for (int r = 0; r < s.m; r++) lwt_near("velocity of the start", r, s.rate[r], 0, 1e-6);
    const double h[4] = {-2e-4, -1e-4, 1e-4, 2e-4};
    for (int k = 0; k < 4; k++) speeds_along(&s, qdot, pdot, h[k], at[k] = lwt_vector(n));
    lwt_ok(lw_forward_dynamics(s.d, 0, s.q, v, s.tau, s.input, vdot), lw_dynamics_error(s.d));
    for (int i = 0; i < n; i++)
        lwt_near("acceleration", (int)seed * 1000 + i,
                 (8 * (at[2][i] - at[1][i]) - (at[3][i] - at[0][i])) / (12 * 1e-4), vdot[i],
                 1e-7 * largest(vdot, n));
    for (int k = 0; k < 4; k++) free(at[k]);
    free(v), free(qdot), free(pdot), free(vdot);
    state_end(&s);
}

static lw_model *rotated(lw_model *bare)
{
    lw_model *model = lwt_with_rotors(bare, 4);
    lw_model_destroy(bare);
    return model;
}

// Floating bases, joints of all types, coupled and redundant loops, couplings, drives, rotors.
static void rates_make_the_accelerations(void **unused)
{
    (void)unused;
    LWT_FOR_LOOPS(c, 40, LWT_LOOP_ALL) check_state(c.model, seed_);
    LWT_FOR_LOOPS(c, 20, LWT_REDUNDANT | LWT_FLOATING)
    {
        lw_model *model = lwt_with_rotors(c.model, seed_);
        check_state(model, 100 + seed_);
        lw_model_destroy(model);
    }
    lw_model *model = rotated(lwt_floating_four_bar((lw_vec3){0, -9.81, 0}));
    check_state(model, 200);
    lw_model_destroy(model);
}

// p of lw_momenta is M v, with rotors of cut joints, where nothing is driven.
static void momenta_are_the_mass_matrix_times_speeds(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        lw_model *model = kind < 3 ? rotated(lwt_loop(kind))
                                   : rotated(lwt_floating_four_bar((lw_vec3){0, -9.81, 0}));
        state s = state_of(model, 3);
        double *v = lwt_vector(s.n), *p = lwt_vector(s.n), *M = lwt_vector(s.n * s.n);
        uint64_t seed = 7;
        for (int i = 0; i < s.n; i++) v[i] = lwt_random(&seed, -1, 1);
        assert_int_equal(lw_momenta(s.d, 0, s.q, v, p), LW_OK);
        assert_int_equal(lw_mass_matrix(s.d, 0, s.q, M), LW_OK);
        double rotors = 0;
        for (int i = 0; i < s.n; i++) {
            double sum = 0;
            for (int j = 0; j < s.n; j++) {
                sum += s.M[i * s.n + j] * v[j];
                rotors += fabs(s.M[i * s.n + j] - M[i * s.n + j]);
            }
            lwt_near("momentum", i, p[i], sum, 1e-12 * largest(p, s.n));
        }
        assert_true(kind == LWT_SPATIAL || rotors > 1e-3); // of cut joints
        free(v), free(p), free(M);
        state_end(&s);
        lw_model_destroy(model);
    }
}

// ------------------------------------------------------------------------------------------ motion

// One step of the classical Runge-Kutta method for (q, p).
static void step(const state *s, double t, double h, double *q, double *p)
{
    static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    double *a = copy(q, s->nq), *b = copy(p, s->n), *q0 = copy(q, s->nq), *p0 = copy(p, s->n);
    double *v = lwt_vector(s->n), *qdot = lwt_vector(s->nq), *pdot = lwt_vector(s->n);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < s->nq; i++) a[i] = q0[i] + node[k] * h * qdot[i];
        for (int i = 0; i < s->n; i++) b[i] = p0[i] + node[k] * h * pdot[i];
        rates(s, t + node[k] * h, a, b, NULL, v, qdot, pdot);
        for (int i = 0; i < s->nq; i++) q[i] += weight[k] * h * qdot[i];
        for (int i = 0; i < s->n; i++) p[i] += weight[k] * h * pdot[i];
    }
    free(a), free(b), free(q0), free(p0), free(v), free(qdot), free(pdot);
}

// Integration of (q, p) from momenta with impulses of the loops gives the motion by absolute coordinates.
static void check_motion(lw_model *model, int kind)
{
    const int steps = 300;
    const double end = 0.3;
    state s = state_of(model, (uint64_t)kind + 1);
    lw_options options;
    lw_error error;
    lw_sim *sim;
    const lw_observation *o;
    for (int i = 0; i < steps; i++) step(&s, end * i / steps, end / steps, s.q, s.p);
    double *v = lwt_vector(s.n), *qdot = lwt_vector(s.nq), *pdot = lwt_vector(s.n);
    rates(&s, end, s.q, s.p, NULL, v, qdot, pdot);
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", "dense", &error), &error);
    lwt_ok(lw_options_set(&options, "integrator", "verner87", &error), &error);
    lwt_ok(lw_options_set(&options, "rtol", "1e-12", &error), &error);
    lwt_ok(lw_options_set(&options, "atol", "1e-12", &error), &error);
    lwt_ok(lw_sim_create(s.model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    for (int i = 0; i < model->desc.ninput; i++)
        assert_int_equal(lw_sim_set_input(sim, i, s.input[i]), LW_OK);
    lwt_ok(lw_sim_step(sim, end), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &o), lw_sim_error(sim));
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        const lw_joint_info info = lw_model_joint(model, (lw_joint){j});
        int iq, nq, iv, nv;
        if (lw_model_joint_tree(model, (lw_joint){j}, &iq, &nq, &iv, &nv) != LW_OK) continue;
        for (int k = 0; k < nq && nq == info.nq; k++)
            lwt_near("coordinate", 100 * kind + j, s.q[iq + k], o->q[info.q_first + k], 1e-9);
        for (int k = 0; k < nv && nv == info.nv; k++)
            lwt_near("speed", 100 * kind + j, v[iv + k], o->qd[info.v_first + k], 1e-8);
    }
    lw_sim_destroy(sim);
    free(v), free(qdot), free(pdot);
    state_end(&s);
    lw_model_destroy(model);
}

static void motions_are_those_of_absolute_coordinates(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        check_motion(lwt_loop(kind), kind);
        check_motion(rotated(lwt_loop(kind)), LWT_LOOPS + kind);
    }
    check_motion(lwt_floating_four_bar((lw_vec3){0, -9.81, 0}), 20);
    check_motion(rotated(lwt_floating_four_bar((lw_vec3){0, -9.81, 0})), 21);
}

// ------------------------------------------------------------------------------------------ errors

static void bad_arguments_leave_the_results(void **unused)
{
    (void)unused;
    lw_model *model = lwt_loop(LWT_SPATIAL);
    state s = state_of(model, 1);
    double *v = lwt_vector(s.n), *qdot = lwt_vector(s.nq), *pdot = lwt_vector(s.n);
    v[0] = qdot[0] = pdot[0] = 123;
    s.p[1] = NAN;
    assert_int_equal(lw_momenta_rates(s.d, 0, s.q, s.p, NULL, NULL, v, qdot, pdot),
                     LW_ERR_NOT_FINITE);
    assert_non_null(strstr(lw_dynamics_error(s.d)->text, "p[1]"));
    assert_true(v[0] == 123 && qdot[0] == 123 && pdot[0] == 123);
    free(v), free(qdot), free(pdot);
    state_end(&s);
    lw_model_destroy(model);
}

// A rhombus that starts folded flat has no rank to begin with: the error names a joint, every time.
static void a_singular_start_is_refused(void **unused)
{
    (void)unused;
    lw_model *model = lwt_folded_rhombus();
    state s = state_of(model, 1);
    double v[3] = {5, 5, 5}, qdot[3], pdot[3];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(lw_momenta_rates(s.d, 0, s.q, s.p, NULL, NULL, v, qdot, pdot),
                         LW_ERR_SINGULAR);
        assert_non_null(strstr(lw_dynamics_error(s.d)->text, "joint 'j"));
        assert_true(v[0] == 5);
    }
    state_end(&s);
    lw_model_destroy(model);
}

// The first call allocates: where memory runs out it fails, and a later call succeeds.
static void memory_may_run_out(void **unused)
{
    (void)unused;
    lw_model *model = rotated(lwt_loop(LWT_REVOLUTES));
    double v[3], qdot[3], pdot[3];
    lw_status status = LW_ERR_MEMORY;
    for (long k = 0; status == LW_ERR_MEMORY; k++) {
        lwt_failing failing = {.left = 100000};
        const lw_allocator allocator = lwt_failing_allocator(&failing);
        lw_dynamics *d = NULL;
        lw_error error;
        lwt_ok(lw_dynamics_create(model, &allocator, &d, &error), &error);
        failing.left = k;
        const double *q = model->tree_q0, *p = model->tree_v0;
        status = lw_momenta_rates(d, 0, q, p, NULL, NULL, v, qdot, pdot);
        if (status != LW_OK) {
            assert_int_equal(status, LW_ERR_MEMORY);
            assert_non_null(strstr(lw_dynamics_error(d)->text, "memory"));
            failing.left = 100000;
            assert_int_equal(lw_momenta_rates(d, 0, q, p, NULL, NULL, v, qdot, pdot), LW_OK);
        }
        lw_dynamics_destroy(d);
        assert_int_equal(failing.live, 0);
        assert_true(k < 1000);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_make_the_accelerations),
        cmocka_unit_test(momenta_are_the_mass_matrix_times_speeds),
        cmocka_unit_test(motions_are_those_of_absolute_coordinates),
        cmocka_unit_test(bad_arguments_leave_the_results),
        cmocka_unit_test(a_singular_start_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
