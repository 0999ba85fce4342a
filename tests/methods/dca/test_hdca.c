// test_hdca.c -- Hamiltonian form of loops: fixed numbers of independent prototypes, momentum rates against
// accelerations, the choice of the impulses, conservation.
#include "methods/dca/hdca_cases.h"
#include "methods/loop_cases.h"

#include "tree/tree_cases.h"

// ------------------------------------------------------------------------------ one spatial loop

// The numbers are in axes of the spherical joint's first body, with momenta in the same axes.
static void check_s(bool loop, const double qdot[6], const double pdot[6], const double qddot[6],
                    const double reaction[6], double energy)
{
    static const double p[6] = {1, -2, .5, .3, -.1, .2};
    lw_options options;
    lw_model *model = lwt_model_s(loop);
    lwi_work *work = lwt_work_kappa(model, HDCA, &options, "none");
    const int nx = work->layout.nx, nq = model->tree_nq;
    double *x = lwt_vector(nx), *xdot = lwt_vector(nx), R[9], rate[3], turn[3];
    lwi_arena arena;
    lwi_snapshot m;
    lwi_totals system;
    lwi_arena_init(&arena, NULL);
    memcpy(x, model->tree_q0, (size_t)nq * sizeof *x);
    quat_matrix(R, x + 3);
    memcpy(x + nq, p, sizeof p);
    m3_tmul_v(x + nq + 3, R, p + 3);

    lwt_ok(work->formulation->rates(work, 0, x, NULL, xdot), &work->error);
    lwt_observe(work, 0, x, NULL, &arena, &m);
    const double tolerance = 1e-11; // the numbers have twelve decimals, the anchor of the loop too
    for (int i = 0; i < 3; i++) {
        lwt_near("qdot", i, xdot[i], qdot[i], tolerance);
        lwt_near("pdot", i, xdot[nq + i], pdot[i], loop ? 1e-10 : tolerance);
        lwt_near("qddot", i, m.qdd[i], qddot[i], loop ? 1e-10 : tolerance);
    }
    m3_mul_v(turn, R, m.qd + 3);
    for (int i = 0; i < 3; i++) lwt_near("relative rotation", i, turn[i], qdot[3 + i], tolerance);
    // d/dt (R p) = R (w x p + pdot)
    v3_cross(rate, m.qd + 3, x + nq + 3);
    v3_add(rate, rate, xdot + nq + 3);
    m3_mul_v(rate, R, rate);
    for (int i = 0; i < 3; i++)
        lwt_near("pdot", 3 + i, rate[i], pdot[3 + i], loop ? 1e-10 : tolerance);
    m3_mul_v(rate, R, m.qdd + 3);
    for (int i = 0; i < 3; i++)
        lwt_near("qddot", 3 + i, rate[i], qddot[3 + i], loop ? 1e-10 : tolerance);
    const int at = loop ? 3 : 0; // the cut, or the joint on the ground
    for (int i = 0; i < (loop ? 3 : 6); i++)
        lwt_near("reaction", i, m.reaction[at][i], reaction[i], loop ? 1e-9 : tolerance);
    if (loop) {
        static const double sigma[3] = {-0.038079533456, -0.488015407282, -0.139070577608};
        double impulse[6];
        lwt_ok(work->formulation->rates(work, 0, x, NULL, xdot), &work->error);
        lwt_impulse(work, 0, "cut", impulse);
        for (int i = 0; i < 3; i++) lwt_near("impulse", i, impulse[i], sigma[i], tolerance);
    } else {
        lwi_observe_system(model, LW_OBSERVE_ENERGY, &m, &system);
        lwt_near("energy", 0, system.kinetic + system.potential, energy, 1e-10);
    }
    lwi_arena_free(&arena);
    lwi_work_destroy(work);
    lw_model_destroy(model);
    free(x);
    free(xdot);
}

static void spatial_chain_has_the_fixed_numbers(void **state)
{
    (void)state;
    check_s(false,
            (const double[6]){0.009078236459, -0.446228322473, 0.120838386169, 0.778188006570,
                              1.179306660563, 0.971247058750},
            (const double[6]){-15.642933838034, 22.413937224685, -35.937144926984, -3.157828113852,
                              3.463444782436, -0.569963636970},
            (const double[6]){-2.477726814680, 3.058835275468, -10.634960482807, 3.366414792057,
                              -5.521146083099, -2.229789707838},
            (const double[6]){0.671131796419, 0.500857173941, 4.555492243677, 0, -0.100065595550,
                              0.323484866958},
            -43.393776358930);
}

static void spatial_loop_has_the_fixed_numbers(void **state)
{
    (void)state;
    check_s(true,
            (const double[6]){0.045190260146, -0.405964436034, 0.179943297266, -0.313766448544,
                              1.006790781026, 0.564976188406},
            (const double[6]){-15.642933838034, 22.438632725004, -35.966863203851, -2.932860637908,
                              3.385900706126, -0.375020632268},
            (const double[6]){-4.792588935142, 4.621211424981, -4.763942874052, 13.710125648201,
                              -13.877463610253, -2.137807861033},
            (const double[6]){-12.097679469397, -9.578385460702, 17.237471951314}, 0);
}

// ------------------------------------------------------------------------------ the paper's cases

static void case_1_has_the_fixed_numbers(void **state)
{
    (void)state;
    static const double p[4] = {1, 2, 3, 4}, qdot[4] = {5 / 24.0, -5 / 3.0, 1.25, 5 / 3.0},
                        pdot[4] = {67.965673689003, 38.044004839584, 19.181540537145,
                                   6.887778687990};
    lw_options options;
    lw_model *model = lwt_case(1);
    lwi_work *work = lwt_work_kappa(model, HDCA, &options, "none");
    double *x = lwt_vector(work->layout.nx), *xdot = lwt_vector(work->layout.nx), impulse[6];
    memcpy(x + 4, p, sizeof p);
    lwt_ok(work->formulation->rates(work, 0, x, NULL, xdot), &work->error);
    for (int i = 0; i < 4; i++) {
        lwt_near("qdot", i, xdot[i], qdot[i], 1e-12);
        lwt_near("pdot", i, xdot[4 + i], pdot[i], 1e-11);
    }
    lwt_impulse(work, 0, "cut", impulse);
    lwt_near("impulse", 0, impulse[0], 3.020833333333, 1e-11);
    lwt_near("impulse", 1, impulse[1], 0, 1e-12);
    lwt_near("impulse", 2, impulse[2], 1.611769501488, 1e-11);
    lwi_work_destroy(work);

    work = lwt_work(model, HDCA);
    lwi_arena arena;
    lwi_snapshot start, m;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &start), LW_OK);
    lwi_snapshot_start(model, &start);
    lwt_ok(work->formulation->enter(work, &start, x), &work->error);
    lwt_observe(work, 0, x, NULL, &arena, &m);
    lwt_near("qddot", 0, m.qdd[0], 4.247854605563, 1e-11);
    lwt_near("qddot", 1, m.qdd[1], 0, 1e-11);
    lwt_near("qddot", 2, m.qdd[2], -8.495709211125, 1e-11);
    lwt_near("reaction", 0, m.reaction[4][0], -6.371781908344, 1e-11);
    lwt_near("reaction", 2, m.reaction[4][2], 12.26250, 1e-11);
    lwi_arena_free(&arena);
    lwi_work_destroy(work);
    lw_model_destroy(model);
    free(x);
    free(xdot);
}

// Heights of the middle points after some time, by any gauge.
static void check_heights(int which, const char *kappa, int n, const double *t, const int *body,
                          const double *z)
{
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_model *model = lwt_case(which);
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", "hdca", &error), &error);
    lwt_ok(lw_options_set(&options, "integrator", "verner87", &error), &error);
    lwt_ok(lw_options_set(&options, "kappa", kappa, &error), &error);
    options.rtol = options.atol = 1e-10;
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    for (int i = 0; i < n; i++) {
        const lw_observation *o;
        double R[9], end[3];
        lwt_ok(lw_sim_step(sim, t[i]), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        quat_matrix(R, o->quaternion[body[i]]);
        m3_mul_v(end, R, (const double[3]){0.5, 0, 0});
        // printed to eight decimals; errors of 1e-10 a step grow with the antisymmetric motion
        lwt_near("height", i, o->position[body[i]][2] + end[2], z[i], 1e-6);
        if (!(o->residual[1] <= 1e-12 * 10)) fail_msg("velocity residual %.2e", o->residual[1]);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static void middle_points_of_the_cases_are_where_they_were(void **state)
{
    (void)state;
    static const double t1[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                        z1[10] = {0.418371819,  -0.924801908, -0.416692859, 0.782808459,
                                  -0.360483442, -0.838315064, 0.354664688,  -0.002239424,
                                  0.476208631,  -0.979250657},
                        t[4] = {1, 2, 5, 10},
                        z2[4] = {0.31078584, -1.29734796, -0.78513344, -0.12494409},
                        t3[8] = {1, 1, 2, 2, 5, 5, 10, 10},
                        z3[8] = {0.56735994,  -2.12002523, -0.98006341, -1.98498929,
                                 -0.28339432, -2.57569919, -0.65648860, -1.98324964};
    static const int b1[10] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, b2[4] = {4, 4, 4, 4},
                     b3[8] = {2, 6, 2, 6, 2, 6, 2, 6};
    check_heights(1, "auto", 10, t1, b1, z1);
    check_heights(1, "none", 5, t1, b1, z1);
    check_heights(2, "auto", 4, t, b2, z2);
    check_heights(3, "auto", 8, t3, b3, z3);
}

// ----------------------------------------------------------------------------- rates and
// accelerations

// At any point of the motion, with momenta without regard to the loops, with drives, mounts, lengths,
// couplings, springs on joints that close loops; for any gauge.
static void speeds_change_as_accelerations_say(void **state)
{
    (void)state;
    static const char *const kappa[] = {"none", "auto", "7"};
    for (int kind = 0; kind < LWT_LOOPS + 4; kind++) {
        lw_model *model = kind < LWT_LOOPS       ? lwt_loop(kind)
                          : kind < LWT_LOOPS + 3 ? lwt_case(kind - LWT_LOOPS + 1)
                                                 : lwt_model_s(true);
        for (int g = 0; g < LWI_COUNT(kappa); g++) {
            lw_options options;
            lwi_work *work = lwt_work_kappa(model, HDCA, &options, kappa[g]);
            double *x = lwt_start(work), t = 0;
            lwt_integrate(work, &t, x, NULL, 1e-3, 150);
            lwt_kick(work, (uint64_t)(kind + 1), 1, x);
            lwt_check_flow(work, t, x, NULL, 1e-9);
            free(x);
            lwi_work_destroy(work);
        }
        lw_model_destroy(model);
    }
}

// The reaction of a cut is the rate of its impulse plus the decay term.
static void reactions_are_rates_of_impulses(void **state)
{
    (void)state;
    lw_options options;
    lw_model *model = lwt_model_s(true);
    lwi_work *work = lwt_work_kappa(model, HDCA, &options, "3");
    const int nx = work->layout.nx;
    const double h = 2e-3;
    double *x = lwt_start(work), *xdot = lwt_vector(nx), *y = lwt_vector(nx), rate[3] = {0}, now[6];
    lwi_arena arena;
    lwi_snapshot m;
    lwi_arena_init(&arena, NULL);
    lwt_kick(work, 5, 1, x);
    lwt_ok(HDCA->rates(work, 0, x, NULL, xdot), &work->error);
    lwt_impulse(work, 0, "cut", now);
    for (int k = -4; k <= 4; k++) {
        double impulse[6];
        if (k == 0) continue;
        for (int i = 0; i < nx; i++) y[i] = x[i] + k * h * xdot[i];
        double *unused = lwt_vector(nx);
        lwt_ok(HDCA->rates(work, k * h, y, NULL, unused), &work->error);
        free(unused);
        lwt_impulse(work, k * h, "cut", impulse);
        v3_axpy(rate, (k < 0 ? -1 : 1) * lwt_eighth[abs(k) - 1] / h, impulse);
    }
    lwt_observe(work, 0, x, NULL, &arena, &m);
    for (int i = 0; i < 3; i++)
        lwt_near("reaction", i, rate[i] + 3 * now[i], m.reaction[3][i], 1e-8);
    lwi_arena_free(&arena);
    lwi_work_destroy(work);
    lw_model_destroy(model);
    free(x);
    free(xdot);
    free(y);
}

// ------------------------------------------------------------------------------------------- gauge

static double largest_momentum(const lwi_work *work, const double *x)
{
    double max = 0;
    for (int i = 0; i < work->model->tree_nv; i++)
        max = fmax(max, fabs(x[work->model->tree_nq + i]));
    return max;
}

// One second by small steps: the gauges have the same motion to the integration error, and different momenta.
static void every_gauge_has_the_same_motion(void **state)
{
    (void)state;
    static const char *const kappa[] = {"auto", "none", "0.1", "10"};
    for (int which = 1; which <= 4; which++) {
        lw_model *model = which < 4 ? lwt_case(which) : lwt_model_s(true);
        lwi_arena arena;
        lwi_snapshot m[LWI_COUNT(kappa)];
        double p[LWI_COUNT(kappa)];
        lwi_arena_init(&arena, NULL);
        for (int g = 0; g < LWI_COUNT(kappa); g++) {
            lw_options options;
            lwi_work *work = lwt_work_kappa(model, HDCA, &options, kappa[g]);
            double *x = lwt_start(work), t = 0;
            lwt_integrate(work, &t, x, NULL, 5e-4, 2000);
            lwt_observe(work, t, x, NULL, &arena, &m[g]);
            p[g] = largest_momentum(work, x);
            free(x);
            lwi_work_destroy(work);
        }
        for (int g = 1; g < LWI_COUNT(kappa); g++) lwt_same(model, &m[g], &m[0], 2e-9);
        // accumulated impulse without and with decay
        if (which < 4 && !(p[1] > 1.2 * p[3])) fail_msg("case %d: p %g and %g", which, p[1], p[3]);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// Matrix passes since the last call.
static long passes(const lwi_work *work, long *before)
{
    const long now = lwi_elim_matrix_passes(lwi_hdca_system(work)->elim), count = now - *before;
    *before = now;
    return count;
}

// An output row takes the factors of the evaluation at its state, the next evaluation those of the row, with the same
// bits as alone; at other momenta the factors alone are taken, at another position or time nothing.
static void rows_and_rates_share_factors(void **state)
{
    (void)state;
    lw_model *model = lwt_loop(LWT_DRIVEN_LOOP);
    lwi_work *alone = lwt_work(model, HDCA), *work = lwt_work(model, HDCA);
    const int nx = work->layout.nx;
    const size_t size = (size_t)nx * sizeof(double);
    double *x = lwt_start(work), *y = lwt_start(alone), *f = lwt_vector(nx), *g = lwt_vector(nx),
           t = 0;
    lwi_arena arena;
    lwi_snapshot a, b;
    lwi_arena_init(&arena, NULL);
    lwt_integrate(work, &t, x, NULL, 1e-3, 30);
    memcpy(y, x, size);
    lwt_observe(alone, t, x, NULL, &arena, &a);
    long count = 0;
    passes(work, &count);
    for (int again = 0; again < 2; again++) {
        lwt_ok(HDCA->rates(work, t, x, NULL, f), &work->error);
        assert_int_equal(passes(work, &count), !again); // by the row of the round before
        lwt_observe(work, t, x, NULL, &arena, &b);
        assert_int_equal(passes(work, &count), 0);
        lwt_same(model, &b, &a, 0);
        assert_true(b.work == a.work);
        lwt_ok(HDCA->rates(alone, t, x, NULL, g), &alone->error);
        assert_memory_equal(f, g, size);
    }
    lwt_observe(work, t, x, NULL, &arena, &b); // a row not from a row
    assert_int_equal(passes(work, &count), 1);
    lwt_same(model, &b, &a, 0);
    lwt_ok(HDCA->rates(work, t + 1e-9, x, NULL, f), &work->error);
    assert_int_equal(passes(work, &count), 1);
    y[nx - 2] *= 1 + 1e-12; // another momentum: the factors, but not the speeds
    lwt_observe(work, t + 1e-9, y, NULL, &arena, &b);
    assert_int_equal(passes(work, &count), 0);
    lwt_observe(alone, t + 1e-9, y, NULL, &arena, &a);
    lwt_same(model, &b, &a, 0);
    lwt_ok(HDCA->scale(work, t + 1e-9, y, f), &work->error);
    assert_int_equal(passes(work, &count), 0);
    lwt_observe(work, t + 1e-9, y, NULL, &arena, &b); // scales change speeds, but not their factors
    assert_int_equal(passes(work, &count), 0);
    lwt_same(model, &b, &a, 0);
    y[0] += 1e-12;
    lwt_ok(HDCA->rates(work, t + 1e-9, y, NULL, f), &work->error);
    assert_int_equal(passes(work, &count), 1);
    lwt_observe(alone, t, x, NULL, &arena, &a);
    memcpy(y, x, size);
    lwt_ok(HDCA->rates(work, t, x, NULL, f), &work->error);
    lwt_ok(lwi_hdca_reset(work, t, y), &work->error);
    passes(work, &count);
    lwt_observe(work, t, x, NULL, &arena, &b);
    assert_int_equal(passes(work, &count), 0); // a reset has the factors of its positions
    lwt_same(model, &b, &a, 0);
    lwi_arena_free(&arena);
    lwi_work_destroy(alone);
    lwi_work_destroy(work);
    lw_model_destroy(model);
    free(x);
    free(y);
    free(f);
    free(g);
}

// A reset removes the impulses from the momenta and leaves the motion, now and later.
static void reset_keeps_the_motion(void **state)
{
    (void)state;
    lw_options options;
    lw_model *model = lwt_model_s(true);
    lwi_work *work = lwt_work_kappa(model, HDCA, &options, "none");
    const int nx = work->layout.nx;
    double *x = lwt_start(work), *y = lwt_vector(nx), *xdot = lwt_vector(nx), t = 0, impulse[6];
    lwi_arena arena;
    lwi_snapshot a, b;
    lwi_arena_init(&arena, NULL);
    lwt_integrate(work, &t, x, NULL, 1e-3, 300);
    memcpy(y, x, (size_t)nx * sizeof *x);
    lwt_ok(lwi_hdca_reset(work, t, y), &work->error);
    lwt_ok(HDCA->rates(work, t, x, NULL, xdot), &work->error);
    lwt_impulse(work, t, "cut", impulse);
    if (!(v3_norm(impulse) > 0.1)) fail_msg("nothing to take out: %g", v3_norm(impulse));
    lwt_ok(HDCA->rates(work, t, y, NULL, xdot), &work->error);
    lwt_impulse(work, t, "cut", impulse);
    for (int i = 0; i < 3; i++) lwt_near("impulse after the reset", i, impulse[i], 0, 1e-12);
    lwt_observe(work, t, x, NULL, &arena, &a);
    lwt_observe(work, t, y, NULL, &arena, &b);
    lwt_same(model, &b, &a, 1e-11);
    double s = t;
    lwt_integrate(work, &t, x, NULL, 1e-3, 300);
    lwt_integrate(work, &s, y, NULL, 1e-3, 300);
    lwt_observe(work, t, x, NULL, &arena, &a);
    lwt_observe(work, t, y, NULL, &arena, &b);
    lwt_same(model, &b, &a, 1e-9);
    lwi_arena_free(&arena);
    lwi_work_destroy(work);
    lw_model_destroy(model);
    free(x);
    free(y);
    free(xdot);
}

// The wrench of a cut rotates no impulse within the directions of the joint, although its rows rotate with a
// body: the force of a spherical joint is constant in space, and that of a revolute one; its torque changes
// only to remain normal to the axis.
static void impulses_are_not_rotated_with_their_rows(void **state)
{
    (void)state;
    static const double sigma[6] = {0.7, -0.4, 1.1, 0.3, -0.9, 0.2};
    static const char *const names[2] = {"j3", "j2"}; // spherical, revolute
    lw_model *model = lwt_loop(LWT_SPATIAL);
    lwi_work *work = lwt_work(model, HDCA);
    double *x = lwt_start(work), *xdot = lwt_vector(work->layout.nx), t = 0;
    lwt_kick(work, 3, 1, x);
    lwt_integrate(work, &t, x, NULL, 1e-3, 100);
    lwt_ok(HDCA->rates(work, t, x, NULL, xdot), &work->error);
    const lwi_system *system = lwi_hdca_system(work);
    for (int k = 0; k < 2; k++) {
        lw_joint joint;
        lwi_closure rows;
        double leak[LWI_CLOSURE_ROWS], rotated[6] = {0}, load[6] = {0}, P[3], arm[3], torque[3];
        const lwi_gauge none = {.kappa = 0};
        assert_int_equal(lw_model_find_joint(model, names[k], &joint), LW_OK);
        lwi_joint_closure(model, joint.index, t, &system->motion, LWI_CLOSURE_RATES, &rows);
        lwi_gauge_leak(model, &system->motion, system->length, &none, joint.index, &rows, sigma,
                       leak);
        const lwi_joint *j = &model->joint[joint.index];
        const int b = rows.body[0] == j->body2 ? 0 : 1;
        for (int r = 0; r < rows.n; r++) {
            v6_axpy(rotated, sigma[r], rows.Jdot[b][r]);
            v6_axpy(load, -sigma[r], rows.Jdot[b][r]);
            v6_axpy(load, leak[r], rows.J[b][r]);
        }
        if (!(v3_norm(rotated) > 0.1)) fail_msg("%s: nothing rotates", names[k]);
        lwt_near("rotation of the force", k, v3_norm(load), 0, 1e-13);
        if (k == 0) continue;
        m3_mul_v(P, system->R[j->body2], j->r2); // about the joint's point
        v3_scale(arm, -1, P);
        v3_cross(torque, arm, load);
        v3_add(torque, torque, load + 3);
        double R2[9];
        m3_mul(R2, system->R[j->body2], j->R2);
        for (int i = 0; i < 2; i++) // axes normal to that of the joint
            lwt_near("torque", i, torque[0] * R2[i] + torque[1] * R2[3 + i] + torque[2] * R2[6 + i],
                     0, 1e-13);
    }
    lwi_work_destroy(work);
    lw_model_destroy(model);
    free(x);
    free(xdot);
}

// The rate follows gravity and extent; the speeds at the start without gravity; or the number of the option.
static void the_rate_is_chosen_from_the_mechanism(void **state)
{
    (void)state;
    lw_options options;
    lw_model *model = lwt_case(1);
    // points of case 1: five of them, both sides of each hinge but the ground's own, and mass
    // centres
    lwi_work *work = lwt_work(model, HDCA);
    const double rate = lwi_hdca_kappa(work), length = 9.81 * 0.36 / (rate * rate);
    if (!(length > 3.4 && length < 3.6)) fail_msg("extent %g of links over 3.46 m", length);
    lwi_work_destroy(work);
    work = lwt_work_kappa(model, HDCA, &options, "none");
    assert_true(lwi_hdca_kappa(work) == 0);
    lwi_work_destroy(work);
    work = lwt_work_kappa(model, HDCA, &options, "0.25");
    assert_true(lwi_hdca_kappa(work) == 0.25);
    lwi_work_destroy(work);
    lw_model_destroy(model);

    lw_builder *b = lwt_builder(); // one disc of radius of gyration 1 rotates with 3 rad/s
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body disc = lwt_body(
        b, &(lw_body_desc){.mass = 2, .inertia = {2, 2, 2, 0, 0, 0}, .pose.position = {1, 0, 0}});
    lwt_add(b,
            &(lw_joint_desc){
                .type = LW_JOINT_REVOLUTE, .body2 = disc, .at = {1, 0, 0}, .has_qd = 1, .qd = {3}});
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_DISTANCE,
                                .body2 = disc,
                                .placement = LW_PLACED_FRAMES,
                                .frame1.position = {0, 0, 0},
                                .frame2.position = {0, 0, 1},
                                .cut = LW_CUT_PREFER});
    model = lwt_model(b);
    work = lwt_work(model, HDCA);
    // |v| = 3 m/s of each kilogram's own; points (1,0,0) three times, (0,0,0), (1,0,1)
    const double x = 0.8, z = 0.2, extent = 2 * fmax(hypot(x, z), hypot(0.2, 0.8));
    lwt_near("rate", 0, lwi_hdca_kappa(work), 0.6 * 3 / extent, 1e-12);
    lwi_work_destroy(work);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------ conservation

// A spatial loop that floats: the start of a loop on the ground, its base let free.
static lw_model *floating_loop(void)
{
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body A = lwt_rod(b, "A", 0, 0, 0.3, 0.4, 0.5),
                  B = lwt_rod(b, "B", 0.3, 0.4, 1.4, 0.6, 1.2),
                  C = lwt_rod(b, "C", 1.3, -0.2, 1.4, 0.6, 1),
                  D = lwt_rod(b, "D", 0, 0, 1.3, -0.2, 2);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", D, A, 0, 0);
    lwt_add(b, &(lw_joint_desc){.name = "j2",
                                .type = LW_JOINT_UNIVERSAL,
                                .body1 = A,
                                .body2 = B,
                                .at = {0.3, 0.4, 0},
                                .axis = {0, 0, 1},
                                .axis2 = {1, 0, 0}});
    lwt_joint(b, LW_JOINT_SPHERICAL, "j3", B, C, 1.4, 0.6);
    lwt_add(b, &(lw_joint_desc){.name = "j4",
                                .type = LW_JOINT_CYLINDRICAL,
                                .body1 = C,
                                .body2 = D,
                                .at = {1.3, -0.2, 0},
                                .axis = {0, 0, 1},
                                .cut = LW_CUT_PREFER});
    return lwt_model(b);
}

// Linear and angular momentum of a mechanism without loads are constant to round-off at any tolerance; energy
// is not.
static void momenta_of_floating_loops_are_constant(void **state)
{
    (void)state;
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_model *model = floating_loop();
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "formulation", "hdca", &error), &error);
    lwt_ok(lw_options_set(&options, "project", "never", &error), &error);
    options.rtol = options.atol = 1e-4;
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    const int nx = lw_sim_state_size(sim);
    double *x = lwt_vector(nx), first[6];
    lw_sim_get_state(sim, NULL, x);
    uint64_t seed = 3;
    for (int i = 0; i < model->tree_nv; i++) x[model->tree_nq + i] += lwt_random(&seed, -1, 1);
    lwt_ok(lw_sim_set_state(sim, 0, x), lw_sim_error(sim));
    for (int row = 0; row <= 10; row++) {
        const lw_observation *o;
        lwt_ok(lw_sim_step(sim, row), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
        for (int i = 0; i < 3; i++) {
            if (row == 0) first[i] = o->momentum[i], first[3 + i] = o->angular_momentum[i];
            // about 1 N s, 1 N m s, several metres away, some hundred steps
            lwt_near("momentum", i, o->momentum[i], first[i], 1e-12);
            lwt_near("angular momentum", i, o->angular_momentum[i], first[3 + i], 1e-12);
        }
    }
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    if (!(summary.energy_error > 1e-9)) fail_msg("the tolerance was not loose");
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    free(x);
}

// The velocity constraints of a loop hold to round-off with any integrator.
static void velocities_hold_whatever_integrates(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < lw_integrator_count(); i++) {
            const lw_observation *o;
            lw_options options;
            lw_error error;
            lw_sim *sim;
            const char *name = lw_integrator_info(i).name;
            if (!strcmp(name, "index3") || !strcmp(name, "rattle") || !strcmp(name, "gauss"))
                continue; // belong to other formulations
            lw_model *model = kind ? lwt_model_s(true) : lwt_loop(LWT_SPATIAL);
            lw_options_default(&options);
            lwt_ok(lw_options_set(&options, "formulation", "hdca", &error), &error);
            lwt_ok(lw_options_set(&options, "integrator", lw_integrator_info(i).name, &error),
                   &error);
            options.rtol = options.atol = 1e-3;
            lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
            double largest = 0, residual = 0;
            for (int row = 1; row <= 20; row++) {
                lwt_ok(lw_sim_step(sim, 0.1 * row), lw_sim_error(sim));
                lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
                residual = fmax(residual, o->residual[1]);
                for (int b = 1; b < model->nbody; b++)
                    largest = fmax(largest, v3_norm(o->velocity[b]));
            }
            if (!(residual <= 1e-12 * largest))
                fail_msg("%s: velocities miss the loop by %.1e at speeds of %.1e",
                         lw_integrator_info(i).name, residual, largest);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// ------------------------------------------------------------------------------------------- trees

// Without loops it is the formulation of open trees: the same speeds, accelerations and rates of momenta,
// with those of free bodies in world axes.
static void trees_are_those_of_joint_momenta(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 24, LWT_ALL)
    {
        const lw_model *model = c.model;
        lwi_work *a, *b;
        lw_error error;
        if (lwi_work_create(model, HDCA, NULL, &a, &error) != LW_OK) {
            assert_non_null(strstr(error.text, "mass")); // massless bodies in the tree
            continue;
        }
        b = lwt_work(model, &lwi_formulation_momenta);
        double *xa = lwt_start(a), *xb = lwt_start(b);
        double *da = lwt_vector(a->layout.nx), *db = lwt_vector(b->layout.nx);
        lwi_arena arena;
        lwi_snapshot ma, mb;
        lwi_arena_init(&arena, NULL);
        lwt_ok(a->formulation->rates(a, c.t, xa, c.input, da), &a->error);
        lwt_ok(b->formulation->rates(b, c.t, xb, c.input, db), &b->error);
        for (int k = 0; k < model->nnode; k++) {
            const lwi_node *node = &model->node[k];
            if (node->parent < 0 && node->type->id == LW_JOINT_FREE) continue;
            for (int i = 0; i < node->nq; i++)
                lwt_close(&c, "qdot", k, da[node->iq + i], db[node->iq + i], 1e-10);
            for (int i = model->tree_nq + node->iv; i < model->tree_nq + node->iv + node->nv; i++) {
                lwt_close(&c, "p", k, xa[i], xb[i], 1e-11);
                lwt_close(&c, "pdot", k, da[i], db[i], 1e-10);
            }
        }
        if (model->carries_work)
            lwt_close(&c, "power", 0, da[model->tree_nq + model->tree_nv],
                      db[model->tree_nq + model->tree_nv], 1e-9);
        lwt_observe(a, c.t, xa, c.input, &arena, &ma);
        lwt_observe(b, c.t, xb, c.input, &arena, &mb);
        lwt_same(model, &ma, &mb, 1e-9);
        lwi_arena_free(&arena);
        lwi_work_destroy(a);
        lwi_work_destroy(b);
        free(xa), free(xb), free(da), free(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spatial_chain_has_the_fixed_numbers),
        cmocka_unit_test(spatial_loop_has_the_fixed_numbers),
        cmocka_unit_test(case_1_has_the_fixed_numbers),
        cmocka_unit_test(middle_points_of_the_cases_are_where_they_were),
        cmocka_unit_test(speeds_change_as_accelerations_say),
        cmocka_unit_test(reactions_are_rates_of_impulses),
        cmocka_unit_test(every_gauge_has_the_same_motion),
        cmocka_unit_test(rows_and_rates_share_factors),
        cmocka_unit_test(reset_keeps_the_motion),
        cmocka_unit_test(impulses_are_not_rotated_with_their_rows),
        cmocka_unit_test(the_rate_is_chosen_from_the_mechanism),
        cmocka_unit_test(momenta_of_floating_loops_are_constant),
        cmocka_unit_test(velocities_hold_whatever_integrates),
        cmocka_unit_test(trees_are_those_of_joint_momenta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
