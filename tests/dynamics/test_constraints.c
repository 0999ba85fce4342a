// test_constraints.c -- equations of closed mechanisms at a state: J and gamma are derivatives of
// phi; motion and forces of an independent formulation satisfy the equations.
#include "methods/loop_cases.h"
#include "support/failing.h"
#include "support/rotors.h"

enum { MOST = 64 };

typedef struct state {
    lw_model *model;
    lw_constraints *c;
    int m, n;
    double t, q[MOST], v[MOST], vdot[MOST];
} state;

// The loop at t = 0.4, computed by `dense`, which uses no tree. Kinds from LWT_LOOPS on have
// rotors, on cut joints too.
static state state_of(int kind)
{
    state s = {.model = lwt_loop(kind % LWT_LOOPS), .t = 0.4};
    if (kind >= LWT_LOOPS) {
        lw_model *bare = s.model;
        s.model = lwt_with_rotors(bare, 4);
        lw_model_destroy(bare);
    }
    lw_options options;
    lw_error error;
    lw_sim *sim;
    const lw_observation *o;
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", "dense", &error), &error);
    lwt_ok(lw_options_set(&options, "rtol", "1e-11", &error), &error);
    lwt_ok(lw_options_set(&options, "atol", "1e-11", &error), &error);
    lwt_ok(lw_sim_create(s.model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    lwt_ok(lw_sim_step(sim, s.t), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
    for (int j = 0; j < lw_model_joint_count(s.model); j++) {
        const lw_joint_info info = lw_model_joint(s.model, (lw_joint){j});
        int iq, nq, iv, nv;
        if (lw_model_joint_tree(s.model, (lw_joint){j}, &iq, &nq, &iv, &nv) != LW_OK) continue;
        assert_int_equal(nv, info.nv);
        memcpy(s.q + iq, o->q + info.q_first, (size_t)nq * sizeof *s.q);
        memcpy(s.v + iv, o->qd + info.v_first, (size_t)nv * sizeof *s.v);
        memcpy(s.vdot + iv, o->qdd + info.v_first, (size_t)nv * sizeof *s.v);
    }
    lw_sim_destroy(sim);
    lwt_ok(lw_constraints_create(s.model, NULL, &s.c, &error), &error);
    s.m = lw_constraints_count(s.c);
    s.n = lw_model_tree_nv(s.model);
    assert_true(s.m > 0 && s.m <= MOST && s.n <= MOST);
    return s;
}

static void state_end(state *s)
{
    lw_constraints_destroy(s->c);
    lw_model_destroy(s->model);
}

static void close_to(const char *what, int kind, int i, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s, loop %d, row %d: %.12g, not %.12g", what, kind, i, a, b);
}

// phi, its rate and J vdot + gamma vanish to the tolerance of the run (with its drift).
static void motion_satisfies_them(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        state s = state_of(kind);
        double phi[MOST], rate[MOST], gamma[MOST], J[MOST * MOST];
        assert_int_equal(lw_constraints_evaluate(s.c, s.t, s.q, s.v, phi, rate, J, gamma), LW_OK);
        for (int i = 0; i < s.m; i++) {
            double sum = gamma[i];
            for (int k = 0; k < s.n; k++) sum += J[i * s.n + k] * s.vdot[k];
            close_to("phi", kind, i, phi[i], 0, 1e-8);
            close_to("rate", kind, i, rate[i], 0, 1e-8);
            close_to("acceleration", kind, i, sum, 0, 1e-7);
            assert_true(lw_constraints_joint(s.c, i).index >= 0);
        }
        assert_int_equal(lw_constraints_joint(s.c, s.m).index, -1);
        state_end(&s);
    }
}

// Central differences with steps of 1e-5: errors are of order 1e-10 times the third derivatives.
static void they_are_derivatives(void **unused)
{
    (void)unused;
    const double h = 1e-5, tolerance = 1e-7;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        state s = state_of(kind);
        if (lw_model_tree_nq(s.model) != s.n) { // quaternions: no differences of coordinates
            state_end(&s);
            continue;
        }
        double a[MOST], b[MOST], ra[MOST], rb[MOST], J[MOST * MOST], gamma[MOST], rate[MOST];
        double q[MOST];
        lw_constraints_evaluate(s.c, s.t, s.q, s.v, NULL, rate, J, gamma);
        memcpy(q, s.q, sizeof q);
        for (int k = 0; k < s.n; k++) {
            q[k] = s.q[k] + h;
            lw_constraints_evaluate(s.c, s.t, q, s.v, b, NULL, NULL, NULL);
            q[k] = s.q[k] - h;
            lw_constraints_evaluate(s.c, s.t, q, s.v, a, NULL, NULL, NULL);
            q[k] = s.q[k];
            for (int i = 0; i < s.m; i++)
                close_to("J", kind, i, J[i * s.n + k], (b[i] - a[i]) / (2 * h), tolerance);
        }
        // on the motion with vdot = 0
        for (int k = 0; k < s.n; k++) q[k] = s.q[k] + h * s.v[k];
        lw_constraints_evaluate(s.c, s.t + h, q, s.v, b, rb, NULL, NULL);
        for (int k = 0; k < s.n; k++) q[k] = s.q[k] - h * s.v[k];
        lw_constraints_evaluate(s.c, s.t - h, q, s.v, a, ra, NULL, NULL);
        for (int i = 0; i < s.m; i++) {
            close_to("rate", kind, i, rate[i], (b[i] - a[i]) / (2 * h), tolerance);
            close_to("gamma", kind, i, gamma[i], (rb[i] - ra[i]) / (2 * h), 10 * tolerance);
        }
        state_end(&s);
    }
}

// Largest component of M vdot + h - tau outside the row space of J, and its size before the
// projection.
static double unheld(const state *s, const double *vdot, const double *tau, double *size)
{
    const int n = s->n;
    double J[MOST * MOST], M[MOST * MOST], r[MOST], left = 0;
    lw_constraints_evaluate(s->c, s->t, s->q, s->v, NULL, NULL, J, NULL);
    assert_int_equal(lw_constraints_tree(s->c, s->t, s->q, s->v, NULL, M, r), LW_OK);
    *size = 0;
    for (int k = 0; k < n; k++) {
        for (int l = 0; l < n; l++) r[k] += M[k * n + l] * vdot[l];
        r[k] -= tau ? tau[k] : 0;
        *size = fmax(*size, fabs(r[k]));
    }
    for (int i = 0; i < s->m; i++) { // Gram-Schmidt; dependent rows are dropped
        double *row = J + i * n, length = 0, along = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int p = 0; p < i; p++) {
                double dot = 0;
                for (int k = 0; k < n; k++) dot += row[k] * J[p * n + k];
                for (int k = 0; k < n; k++) row[k] -= dot * J[p * n + k];
            }
        for (int k = 0; k < n; k++) length += row[k] * row[k];
        length = sqrt(length);
        for (int k = 0; k < n; k++) row[k] = length > 1e-6 ? row[k] / length : 0;
        for (int k = 0; k < n; k++) along += row[k] * r[k];
        for (int k = 0; k < n; k++) r[k] -= along * row[k];
    }
    for (int k = 0; k < n; k++) left = fmax(left, fabs(r[k]));
    return left;
}

// M vdot + h is in the row space of J: there are no other constraint forces.
static void only_joints_hold_back(void **unused)
{
    int rotors = 0; // on cut joints
    (void)unused;
    for (int kind = 0; kind < 2 * LWT_LOOPS; kind++) {
        state s = state_of(kind);
        for (int i = 0; i < s.model->nloop; i++) rotors += s.model->joint[s.model->loop[i]].nrotor;
        double size, left = unheld(&s, s.vdot, NULL, &size);
        if (!(size > 1e-3)) fail_msg("loop %d: nothing holds it back (%g)", kind, size);
        if (!(left < 1e-7 * (1 + size))) fail_msg("loop %d: %g of %g is left", kind, left, size);
        state_end(&s);
    }
    assert_true(rotors > 0);
}

// At a state of a run by `dense`, lw_forward_dynamics gives the accelerations of that run. With
// efforts of the caller, M vdot + h - tau is in the row space of J, and J vdot + gamma is zero.
static void forward_dynamics_goes_with_them(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        state s = state_of(kind);
        lw_dynamics *d;
        lw_error error;
        double vdot[MOST], tau[MOST], gamma[MOST], J[MOST * MOST], size;
        lwt_ok(lw_dynamics_create(s.model, NULL, &d, &error), &error);
        lwt_ok(lw_forward_dynamics(d, s.t, s.q, s.v, NULL, NULL, vdot), lw_dynamics_error(d));
        for (int k = 0; k < s.n; k++)
            close_to("vdot", kind, k, vdot[k], s.vdot[k], 1e-7 * (1 + fabs(s.vdot[k])));
        for (int k = 0; k < s.n; k++) tau[k] = 1 + 0.3 * k;
        lwt_ok(lw_forward_dynamics(d, s.t, s.q, s.v, tau, NULL, vdot), lw_dynamics_error(d));
        const double left = unheld(&s, vdot, tau, &size);
        if (!(left < 1e-8 * (1 + size))) fail_msg("loop %d: %g of %g is left", kind, left, size);
        lw_constraints_evaluate(s.c, s.t, s.q, s.v, NULL, NULL, J, gamma);
        for (int i = 0; i < s.m; i++) {
            double sum = gamma[i];
            for (int k = 0; k < s.n; k++) sum += J[i * s.n + k] * vdot[k];
            close_to("acceleration", kind, i, sum, 0, 1e-7);
        }
        lw_dynamics_destroy(d);
        state_end(&s);
    }
}

// lw_dynamics_gap is an upper bound of the largest position row, and a tight one: at most the
// square root of six rows of each loop. At a state of a run it is of the order of round-off.
// Previous calls have no effect.
static void gaps_are_bounded(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        state s = state_of(kind);
        lw_dynamics *d, *fresh;
        lw_error error;
        double vdot[MOST], phi[MOST], q[MOST];
        lwt_ok(lw_dynamics_create(s.model, NULL, &d, &error), &error);
        if (!(lw_dynamics_gap(d, s.t, s.q) < 1e-7))
            fail_msg("loop %d: off by %g in its motion", kind, lw_dynamics_gap(d, s.t, s.q));
        for (double off = 1e-4; off < 0.2; off *= 10) {
            memcpy(q, s.q, sizeof q);
            for (int k = 0; k < s.n && k < lw_model_tree_nq(s.model); k++) q[k] += off * cos(1 + k);
            lwt_ok(lw_constraints_evaluate(s.c, s.t, q, s.v, phi, NULL, NULL, NULL), NULL);
            double largest = 0;
            for (int i = 0; i < s.m; i++) largest = fmax(largest, fabs(phi[i]));
            const double reported = lw_dynamics_gap(d, s.t, q);
            if (!(reported >= largest * (1 - 1e-9) && reported <= 3 * sqrt(s.m) * largest))
                fail_msg("loop %d: %g is reported of %g", kind, reported, largest);
            (void)lw_forward_dynamics(d, s.t, q, s.v, NULL, NULL, vdot);
            assert_true(lw_dynamics_gap(d, s.t, q) == reported);
            lwt_ok(lw_dynamics_create(s.model, NULL, &fresh, &error), &error);
            assert_true(lw_dynamics_gap(fresh, s.t, q) == reported);
            lw_dynamics_destroy(fresh);
        }
        lw_dynamics_destroy(d);
        state_end(&s);
    }
}

// A row of four-bars at angles over a full revolution, where no single choice of independent
// coordinates is valid everywhere. Results do not depend on previous calls, nor on whether states
// are evaluated one by one or together.
static void accelerations_are_of_the_state_alone(void **unused)
{
    (void)unused;
    enum { STATES = 24, N = 7 };
    lw_error error;
    lw_dynamics *d, *fresh;
    double q[STATES][N], v[STATES][N], one[STATES][N], all[STATES][N];
    lw_model *model =
        lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 3});
    assert_int_equal(lw_model_tree_nv(model), N);
    lwt_ok(lw_dynamics_create(model, NULL, &d, &error), &error);
    for (int i = 0; i < STATES; i++)
        for (int j = 0; j < lw_model_joint_count(model); j++) {
            // all rods at one angle; couplers rotate back by the same angle and remain horizontal
            int at;
            if (lw_model_joint_tree(model, (lw_joint){j}, NULL, NULL, &at, NULL) != LW_OK) continue;
            const lw_joint_info info = lw_model_joint(model, (lw_joint){j});
            const int turn = info.body1.index == 0 ? 1 : -1;
            q[i][at] = turn * (0.1 + 0.26 * i);
            v[i][at] = turn * (1 - 0.1 * i);
        }
    for (int i = 0; i < STATES; i++) {
        lwt_ok(lw_forward_dynamics(d, 0, q[i], v[i], NULL, NULL, one[i]), lw_dynamics_error(d));
        for (int k = 0; k < N; k++) assert_true(isfinite(one[i][k]));
    }
    for (int i = STATES - 1; i >= 0; i--) {
        double again[N];
        lwt_ok(lw_forward_dynamics(d, 0, q[i], v[i], NULL, NULL, again), lw_dynamics_error(d));
        assert_memory_equal(again, one[i], sizeof again);
        lwt_ok(lw_dynamics_create(model, NULL, &fresh, &error), &error);
        lwt_ok(lw_forward_dynamics(fresh, 0, q[i], v[i], NULL, NULL, again),
               lw_dynamics_error(fresh));
        assert_memory_equal(again, one[i], sizeof again);
        lw_dynamics_destroy(fresh);
    }
    assert_int_equal(lw_forward_dynamics_many(d, STATES, 0, q[0], v[0], NULL, NULL, all[0]), LW_OK);
    assert_memory_equal(all, one, sizeof all);
    lw_dynamics_destroy(d);
    lw_model_destroy(model);
}

// A flat four-bar is singular: its loop has one independent row less. The error names a joint of
// the loop, and the next evaluation is not affected.
static void singular_states_are_reported(void **unused)
{
    (void)unused;
    enum { N = 3 };
    lw_error error;
    lw_dynamics *d;
    double q[N] = {0}, v[N] = {0}, upright[N], vdot[N];
    lw_model *model =
        lwt_generated((lw_mechanism_desc){.mechanism = LW_MECHANISM_N_FOUR_BAR, .n = 1});
    lwt_ok(lw_dynamics_create(model, NULL, &d, &error), &error);
    lwt_ok(lw_forward_dynamics(d, 0, q, v, NULL, NULL, upright), lw_dynamics_error(d));
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        int at;
        if (lw_model_joint_tree(model, (lw_joint){j}, NULL, NULL, &at, NULL) != LW_OK) continue;
        q[at] = (lw_model_joint(model, (lw_joint){j}).body1.index == 0 ? 1 : -1) * acos(0);
    }
    assert_int_equal(lw_forward_dynamics(d, 0, q, v, NULL, NULL, vdot), LW_ERR_SINGULAR);
    if (!strstr(lw_dynamics_error(d)->text, "joint")) fail_msg("'%s'", lw_dynamics_error(d)->text);
    for (int k = 0; k < N; k++) q[k] = 0;
    lwt_ok(lw_forward_dynamics(d, 0, q, v, NULL, NULL, vdot), lw_dynamics_error(d));
    assert_memory_equal(vdot, upright, sizeof vdot);
    lw_dynamics_destroy(d);
    lw_model_destroy(model);
}

// With loops, functions without a unique result are refused with the reason; the mass matrix of the
// tree is available.
static void what_loops_leave_open_is_refused(void **unused)
{
    (void)unused;
    state s = state_of(LWT_SPATIAL);
    lw_dynamics *d;
    lw_error error;
    double M[MOST * MOST], N[MOST * MOST], h[MOST], out[MOST];
    lwt_ok(lw_dynamics_create(s.model, NULL, &d, &error), &error);
    assert_int_equal(lw_inverse_dynamics(d, s.t, s.q, s.v, s.vdot, NULL, out), LW_ERR_UNSUPPORTED);
    assert_non_null(strstr(lw_dynamics_error(d)->text, "not unique"));
    assert_int_equal(lw_mass_matrix(d, s.t, s.q, M), LW_OK);
    assert_int_equal(lw_constraints_tree(s.c, s.t, s.q, s.v, NULL, N, h), LW_OK);
    assert_memory_equal(M, N, (size_t)(s.n * s.n) * sizeof *M);
    lw_dynamics_destroy(d);
    state_end(&s);
}

// A tree has no rows; M and h are those of the tree functions.
static void trees_have_none(void **unused)
{
    (void)unused;
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 0.3, 0.4, 0.5), B = lwt_rod(b, "B", 0.3, 0.4, 1, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_UNIVERSAL, "j2", A, B, 0.3, 0.4);
    lw_model *model = lwt_model(b);
    lw_constraints *c;
    lw_dynamics *d;
    lw_error error;
    const double q[3] = {0.1, 0.2, 0.3}, v[3] = {1, -1, 2}, zero[3] = {0};
    double M[9], N[9], h[3], tau[3];
    lwt_ok(lw_constraints_create(model, NULL, &c, &error), &error);
    lwt_ok(lw_dynamics_create(model, NULL, &d, &error), &error);
    assert_int_equal(lw_constraints_count(c), 0);
    assert_int_equal(lw_constraints_joint(c, 0).index, -1);
    assert_int_equal(lw_constraints_tree(c, 0, q, v, NULL, M, h), LW_OK);
    assert_int_equal(lw_mass_matrix(d, 0, q, N), LW_OK);
    assert_int_equal(lw_inverse_dynamics(d, 0, q, v, zero, NULL, tau), LW_OK);
    // N and tau are found by SIMD kernels, with other rounding errors
    for (int i = 0; i < 9; i++) assert_true(fabs(M[i] - N[i]) <= 1e-14 * (1 + fabs(M[i])));
    for (int i = 0; i < 3; i++) assert_true(fabs(h[i] - tau[i]) <= 1e-14 * (1 + fabs(h[i])));
    assert_int_equal(lw_constraints_evaluate(c, 0, q, NULL, NULL, NULL, NULL, NULL),
                     LW_ERR_ARGUMENT);
    lw_constraints_destroy(c);
    lw_dynamics_destroy(d);
    lw_model_destroy(model);
}

static void memory_may_run_out(void **unused)
{
    (void)unused;
    lw_model *model = lwt_loop(LWT_SPATIAL);
    lw_status status = LW_ERR_MEMORY;
    for (long k = 0; status == LW_ERR_MEMORY; k++) {
        lwt_failing failing = {.left = k};
        const lw_allocator allocator = lwt_failing_allocator(&failing);
        lw_constraints *c = NULL;
        lw_dynamics *d = NULL;
        lw_error error;
        status = lw_constraints_create(model, &allocator, &c, &error);
        assert_true(status == LW_OK || status == LW_ERR_MEMORY);
        if (status == LW_OK) lw_constraints_destroy(c);
        failing.left = k;
        const lw_status other = lw_dynamics_create(model, &allocator, &d, &error);
        assert_true(other == LW_OK || other == LW_ERR_MEMORY);
        if (other == LW_OK) lw_dynamics_destroy(d);
        if (status == LW_OK) status = other;
        assert_int_equal(failing.live, 0);
        assert_true(k < 1000);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_satisfies_them),
        cmocka_unit_test(they_are_derivatives),
        cmocka_unit_test(only_joints_hold_back),
        cmocka_unit_test(forward_dynamics_goes_with_them),
        cmocka_unit_test(gaps_are_bounded),
        cmocka_unit_test(accelerations_are_of_the_state_alone),
        cmocka_unit_test(singular_states_are_reported),
        cmocka_unit_test(what_loops_leave_open_is_refused),
        cmocka_unit_test(trees_have_none),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
