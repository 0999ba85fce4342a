// test_dense.c -- absolute coordinates: rows of mechanisms against numerical derivatives,
// accelerations against closed forms and the articulated-body recursion, loops, redundancy, work.
#include "methods/loop_cases.h"
#include "tree/tree_cases.h"
#include "model/joint_cases.h"
#include "support/mechanism.h"
#include "support/random_loops.h"

#include "methods/dense/dense.h"
#include "support/run.h"

#define DENSE (&lwi_formulation_dense)
#define ABA (&lwi_formulation_aba)

// --------------------------------------------------------------------------- rows of a mechanism

// Sets a motion that violates the constraints.
static void random_motion(lwi_dense *s, uint64_t *seed, double *x)
{
    lwi_dense_start(s);
    for (int k = 0; k < s->n; k++) x[k] = 0.1 * random_unit(seed);
    lwi_dense_move(s, x);
    for (int k = 0; k < s->nbody; k++) {
        random_fill(seed, 1, s->v[s->body[k]], 3);
        random_fill(seed, 1, s->w[s->body[k]], 3);
    }
}

// V [n]: velocities in world axes, angular velocities in body axes.
static void velocities(const lwi_dense *s, double *V)
{
    for (int k = 0; k < s->nbody; k++) {
        v3_copy(V + 6 * k, s->v[s->body[k]]);
        m3_tmul_v(V + 6 * k + 3, s->R[s->body[k]], s->w[s->body[k]]);
    }
}

static void set_velocities(lwi_dense *s, const double *V)
{
    for (int k = 0; k < s->nbody; k++) {
        v3_copy(s->v[s->body[k]], V + 6 * k);
        quat_matrix(s->R[s->body[k]], s->quat[s->body[k]]);
        m3_mul_v(s->w[s->body[k]], s->R[s->body[k]], V + 6 * k + 3);
    }
}

static void evaluate(lwi_dense *s, double t)
{
    lwi_dense_place(s, t);
    lwi_dense_equations(s, t);
}

// J V + b is the derivative of phi, and gamma that of J V + b at constant V (body axes), with
// drives, mounts, couplings and lengths that follow time.
static void check_mechanism_rows(const lw_model *model, uint64_t *seed)
{
    lwi_arena arena;
    lwi_dense here, there;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_dense_create(model, &arena, &here), LW_OK);
    assert_int_equal(lwi_dense_create(model, &arena, &there), LW_OK);
    double *x = lwt_vector(here.n), *V = lwt_vector(here.n), *dx = lwt_vector(here.n);
    double *first = lwt_vector(here.m), *second = lwt_vector(here.m);
    const double t = 0.4;
    random_motion(&here, seed, x);
    evaluate(&here, t);
    velocities(&here, V);
    for (int i = 0; i < 4; i++) {
        lwi_dense_start(&there);
        lwi_dense_move(&there, x);
        for (int k = 0; k < here.n; k++) dx[k] = lwt_offset[i] * V[k];
        lwi_dense_move(&there, dx);
        set_velocities(&there, V);
        evaluate(&there, t + lwt_offset[i]);
        for (int k = 0; k < here.m; k++) {
            first[k] += lwt_weight[i] * there.phi[k];
            second[k] += lwt_weight[i] * there.rate[k];
        }
    }
    for (int k = 0; k < here.m; k++) {
        double rate = here.b[k];
        for (int i = 0; i < here.n; i++) rate += here.J[k * here.n + i] * V[i];
        assert_near("rate of row", k, here.rate[k], rate, 1e-12 * (1 + fabs(rate)));
        assert_near("rate of row", k, rate, first[k], LWT_DERIVATIVE_TOLERANCE);
        assert_near("gamma of row", k, here.gamma[k], second[k],
                    LWT_DERIVATIVE_TOLERANCE * (1 + fabs(second[k])));
    }
    free(x);
    free(V);
    free(dx);
    free(first);
    free(second);
    lwi_arena_free(&arena);
}

static void rows_of_mechanisms_differentiate_phi(void **state)
{
    (void)state;
    uint64_t seed = 4711;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind);
        for (int trial = 0; trial < 10; trial++) check_mechanism_rows(model, &seed);
        lw_model_destroy(model);
    }
    LWT_FOR_TREES(c, 40, LWT_ALL & ~LWT_CUSTOM) check_mechanism_rows(c.model, &seed);
}

// -------------------------------------------------------------------- against the recursion

// On random trees of every joint type, reversed, floating, driven, mounted, merged, with forces:
// accelerations, coordinates, reactions and power are those of the articulated-body recursion,
// which shares no code with this formulation above the vectors, the forces and the functions of
// time.
static void trees_agree_with_the_articulated_body_recursion(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 80, LWT_ALL)
    {
        const lw_model *m = c.model;
        lwi_work *aba = lwt_work(m, ABA), *dense = lwt_work(m, DENSE);
        lwi_snapshot a, d;
        lwi_arena arena;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_snapshot_create(m, &arena, &a), LW_OK);
        assert_int_equal(lwi_snapshot_create(m, &arena, &d), LW_OK);
        double *xa = lwt_reals(aba->layout.nx), *ra = lwt_reals(aba->layout.nx);
        double *xd = lwt_reals(dense->layout.nx), *rd = lwt_reals(dense->layout.nx);
        memcpy(xa, c.q, (size_t)m->tree_nq * sizeof *xa);
        memcpy(xa + m->tree_nq, c.v, (size_t)m->tree_nv * sizeof *xa);
        lwt_ok(ABA->observe(aba, c.t, xa, c.input, LW_OBSERVE_REACTION, &a), &aba->error);
        lwt_ok(ABA->rates(aba, c.t, xa, c.input, ra), &aba->error);
        lwt_ok(DENSE->enter(dense, &a, xd), &dense->error);
        lwt_ok(DENSE->observe(dense, c.t, xd, c.input, LW_OBSERVE_REACTION, &d), &dense->error);
        lwt_ok(DENSE->rates(dense, c.t, xd, c.input, rd), &dense->error);
        // round-off of up to 72 unknowns times the condition of light bodies behind heavy ones, 1e3
        const double tol = 1e-11;
        for (int b = 1; b < m->nbody; b++)
            for (int i = 0; i < 3 && m->body[b].carrier == b; i++) {
                lwt_close(&c, "acceleration of body", b, d.a[b][i], a.a[b][i], tol);
                lwt_close(&c, "angular acceleration of body", b, d.al[b][i], a.al[b][i], tol);
            }
        for (int i = 0; i < m->nq; i++) lwt_close(&c, "coordinate", i, d.q[i], a.q[i], tol);
        for (int i = 0; i < m->nv; i++) {
            lwt_close(&c, "speed", i, d.qd[i], a.qd[i], tol);
            lwt_close(&c, "joint acceleration", i, d.qdd[i], a.qdd[i], tol);
        }
        for (int j = 0; j < m->njoint; j++) {
            if (m->joint[j].merged) continue;
            assert_int_equal(d.unique[j], 1);
            for (int i = 0; i < 6; i++)
                lwt_close(&c, "reaction of joint", j, d.reaction[j][i], a.reaction[j][i], tol);
        }
        if (m->carries_work)
            lwt_close(&c, "power", 0, rd[dense->layout.nx - 1], ra[aba->layout.nx - 1], tol);
        lwi_work_destroy(aba);
        lwi_work_destroy(dense);
        lwi_arena_free(&arena);
        free(xa);
        free(ra);
        free(xd);
        free(rd);
    }
}

// ------------------------------------------------------------------------------- closed forms

// Compound pendulum: qdd = -m g s sin q / (I + m s^2), and the pivot carries
// m (a - g); at any angle and speed, two turns on.
static void pendulum_has_its_closed_form(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 0, -1, 2);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j", lwt_ground, A, 0, 0);
    lw_model *model = lwt_model(b);
    lwi_work *work = lwt_work(model, DENSE);
    lwi_arena arena;
    lwi_snapshot m;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    double *x = lwt_vector(work->layout.nx);
    for (int k = 0; k < 12; k++) {
        const double q = 12.566370614359172 + 0.5 * k, qd = 0.7 * k - 2, s = 0.5, mass = 2;
        const double I = mass / 12, qdd = -mass * 9.81 * s * sin(q) / (I + mass * s * s);
        lwi_snapshot_start(model, &m);
        m.q[0] = q, m.qd[0] = qd;
        lwi_snapshot_from_joints(model, 0, &m);
        lwt_ok(DENSE->enter(work, &m, x), &work->error);
        lwt_ok(DENSE->observe(work, 0, x, NULL, LW_OBSERVE_REACTION, &m), &work->error);
        const double ax = s * (qdd * cos(q) - qd * qd * sin(q));
        const double ay = s * (qdd * sin(q) + qd * qd * cos(q));
        const double tol = 1e-13 * (10 + qd * qd);
        assert_near("q", 0, m.q[0], q, 1e-14 * q);
        assert_near("qd", 0, m.qd[0], qd, tol);
        assert_near("qdd", 0, m.qdd[0], qdd, tol);
        assert_near("fx", 0, m.reaction[0][0], mass * ax, tol);
        assert_near("fy", 0, m.reaction[0][1], mass * (ay + 9.81), tol);
        for (int i = 2; i < 6; i++) assert_near("other reactions", i, m.reaction[0][i], 0, tol);
    }
    free(x);
    lwi_work_destroy(work);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

// Free symmetric top: the transverse angular velocity rotates in the body at (Izz/I - 1) wz.
static void free_top_precesses(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lwt_body(b, &(lw_body_desc){.name = "top",
                                .mass = 1.5,
                                .inertia = {0.2, 0.2, 0.3, 0, 0, 0},
                                .has_velocity = 1,
                                .velocity = {1, 2, 0},
                                .angular_velocity = {0.5, 0, 4}});
    lw_model *model = lwt_model(b);
    lwt_run r = lwt_run_start(model, DENSE);
    lwt_integrate(r.work, &r.t, r.x, NULL, 2e-3, 1000);
    lwt_run_observe(&r);
    const double rate = (0.3 / 0.2 - 1) * 4, tol = 1e-9; // (h |w|)^4 t = 4e-9 times 1/120
    assert_near("w", 0, r.now.w[1][0], 0.5 * cos(rate * r.t), tol);
    assert_near("w", 1, r.now.w[1][1], 0.5 * sin(rate * r.t), tol);
    assert_near("w", 2, r.now.w[1][2], 4, tol);
    assert_near("x", 0, r.now.r[1][0], r.t, 1e-12);
    assert_near("y", 0, r.now.r[1][1], 2 * r.t - 0.5 * 9.81 * r.t * r.t, 1e-12);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// Two geared wheels, q2 = P(q1), a torque on the first: (I1 + P'^2 I2) qdd1 = tau - P' P'' I2
// qd1^2.
static void gear_has_its_closed_form(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const double polynomial[] = {0.2, -1.5, 0.3, 0.1}, inertia[2] = {0.4, 0.7}, qd = 1.3, tau = 2;
    const lw_signal torque =
        lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT, .value = tau});
    for (int i = 0; i < 2; i++) {
        const lw_body wheel =
            lwt_body(b, &(lw_body_desc){.mass = 1,
                                        .inertia = {inertia[i], inertia[i], inertia[i], 0, 0, 0},
                                        .pose.position = {i, 0, 0}});
        lw_joint_desc j = {.type = LW_JOINT_REVOLUTE,
                           .body2 = wheel,
                           .at = {i, 0, 0},
                           .axis = {0, 0, 1},
                           .has_q = 1,
                           .has_qd = 1};
        j.q[0] = i ? 0.2 - 1.5 * 0.6 + 0.3 * 0.36 + 0.1 * 0.216 : 0.6;
        j.qd[0] = i ? (-1.5 + 0.6 * 0.6 + 0.3 * 0.36) * qd : qd;
        if (i == 0) j.coordinate[0].force = torque;
        lwt_add(b, &j);
    }
    lwt_coupling(b, &(lw_coupling_desc){
                        .joint = {1}, .of = {0}, .polynomial = polynomial, .npolynomial = 4});
    lw_model *model = lwt_model(b);
    lwt_run r = lwt_run_start(model, DENSE);
    double *xdot = lwt_vector(r.work->layout.nx);
    lwt_run_observe(&r);
    lwt_ok(DENSE->rates(r.work, 0, r.x, NULL, xdot), &r.work->error);
    const double P1 = -1.5 + 0.6 * 0.6 + 0.3 * 0.36, P2 = 0.6 + 0.6 * 0.6;
    const double qdd = (tau - P1 * P2 * inertia[1] * qd * qd) / (inertia[0] + P1 * P1 * inertia[1]);
    assert_near("qdd", 0, r.now.qdd[0], qdd, 1e-13);
    assert_near("qdd", 1, r.now.qdd[1], P1 * qdd + P2 * qd * qd, 1e-13);
    assert_near("power", 0, xdot[r.work->layout.nx - 1], tau * qd, 1e-13); // the gear does no work
    free(xdot);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// ---------------------------------------------------------------------------------------- loops

typedef struct run {
    lw_model *model;
    lwi_work *work;
    lwi_arena arena;
    double *x, t;
    lwi_snapshot start, now;
} run;

static run run_mechanism(int kind, double h, int steps)
{
    run r = {.model = lwt_loop(kind)};
    r.work = lwt_work(r.model, DENSE);
    lwi_arena_init(&r.arena, NULL);
    r.x = lwt_vector(r.work->layout.nx);
    assert_int_equal(lwi_snapshot_create(r.model, &r.arena, &r.start), LW_OK);
    lwi_snapshot_start(r.model, &r.start);
    lwt_ok(DENSE->enter(r.work, &r.start, r.x), &r.work->error);
    lwt_integrate(r.work, &r.t, r.x, NULL, h, steps);
    lwt_observe(r.work, r.t, r.x, NULL, &r.arena, &r.now);
    return r;
}

static void run_end(run *r)
{
    free(r->x);
    lwi_work_destroy(r->work);
    lwi_arena_free(&r->arena);
    lw_model_destroy(r->model);
}

// E - Wnc stays with drives, mounts, lengths, couplings, springs and dampers on joints that close
// loops; positions and velocities leave the constraints with the integration error only: order
// four.
static void loops_keep_energy_and_closure(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        double error[2], closure[2];
        for (int fine = 0; fine < 2; fine++) {
            run r = run_mechanism(kind, fine ? 5e-4 : 1e-3, fine ? 2000 : 1000);
            lwi_totals first, last;
            lwi_observe_system(r.model, LW_OBSERVE_ENERGY, &r.start, &first);
            lwi_observe_system(r.model, LW_OBSERVE_REACTION, &r.now, &last);
            error[fine] =
                last.kinetic + last.potential - r.now.work - first.kinetic - first.potential;
            closure[fine] = fmax(last.residual[0], last.residual[1]);
            assert_true(last.kinetic > 1e-3);
            assert_true(last.residual[2] < 1e-10); // J a + gamma = 0 is solved, not integrated
            run_end(&r);
        }
        // speeds of some 20 rad/s: 20 (20 h)^4 = 2e-7 per second at h = 5e-4
        assert_near("energy", kind, error[1], 0, 2e-7);
        assert_near("closure", kind, closure[1], 0, 2e-7);
        // a step twice as long: 16 times the error, as long as that is above rounding
        assert_true(fabs(error[1]) < fabs(error[0]) / 8 + 1e-12);
        assert_true(closure[1] < closure[0] / 8 + 1e-12);
    }
}

// Newton's and Euler's equations of every body close from what is observed (the two points of a
// joint are as far apart as positions have drifted: fine steps).
static void bodies_are_balanced_in_loops(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        if (kind == LWT_COUPLED) continue; // a coupling's efforts are part of no joint's reaction
        run r = run_mechanism(kind, 2.5e-4, 1000);
        assert_near("balance", kind, lwt_imbalance(r.model, NULL, &r.now), 0, 1e-10);
        run_end(&r);
    }
}

// A floating mechanism has no net internal force or torque, also where integration has let joints drift
// apart: the derivatives of its momenta are those of gravity.
static void internal_forces_balance_where_joints_have_drifted(void **state)
{
    (void)state;
    int floating = 0;
    LWT_FOR_LOOPS(c, 60, LWT_MULTI | LWT_QUASI | LWT_CUSTOM | LWT_FLOATING | LWT_DISTANCE)
    {
        const lw_model *model = c.model;
        bool grounded = false;
        for (int j = 0; j < model->njoint; j++)
            grounded |= model->joint[j].body1 == 0 || model->joint[j].body2 == 0;
        if (grounded) continue;
        lwi_work *work = lwt_work(model, DENSE);
        lwi_arena arena;
        lwi_snapshot m;
        double *x = lwt_vector(work->layout.nx), force[3] = {0}, torque[3] = {0}, size = 0;
        uint64_t random = seed_;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
        lwi_snapshot_start(model, &m);
        lwt_ok(DENSE->enter(work, &m, x), &work->error);
        for (int i = 0; i < work->layout.nblock; i++) {
            const lwi_block *block = &work->layout.block[i];
            if (block->kind != LWI_COORDINATE) continue;
            for (int k = 0; k < block->n; k++) x[block->first + k] += 1e-3 * random_unit(&random);
        }
        lwt_observe(work, 0, x, NULL, &arena, &m);
        for (int b = 1; b < model->nbody; b++) {
            const lwi_body *body = &model->body[b];
            double f[3], n[3], L[3], rotor_weight[3];
            v3_sub(f, m.a[b], model->gravity);
            v3_scale(f, body->mass, f);
            s3_mul_v(n, body->inertia, m.al[b]);
            s3_mul_v(L, body->inertia, m.w[b]);
            v3_cross(rotor_weight, m.w[b], L);
            v3_add(n, n, rotor_weight);
            m3_mul_v(n, m.R[b], n);
            v3_cross_add(n, m.r[b], f);
            v3_add(force, force, f);
            v3_add(torque, torque, n);
            size = fmax(size, v3_norm(f) + v3_norm(n));
        }
        for (int i = 0; i < 3; i++) { // a dozen bodies, a solve of hundreds of operations
            assert_near("force", i, force[i], 0, 1e-12 * size);
            assert_near("torque", i, torque[i], 0, 1e-12 * size);
        }
        floating++;
        free(x);
        lwi_work_destroy(work);
        lwi_arena_free(&arena);
    }
    assert_true(floating > 10);
}

// The same four-bar with and without redundant rows has the same motion; redundancy is reported for the
// joints with undetermined reactions, and in-plane forces, which are determined, agree.
static void a_redundant_copy_has_the_same_motion(void **state)
{
    (void)state;
    run a = run_mechanism(LWT_REVOLUTES, 5e-4, 1000), b = run_mechanism(LWT_SPATIAL, 5e-4, 1000);
    for (int k = 1; k < 4; k++)
        for (int i = 0; i < 3; i++) {
            // errors of 1e-7 at h = 1e-3, order four: below 1e-8, and most of them alike
            assert_near("r", k, a.now.r[k][i], b.now.r[k][i], 1e-10);
            assert_near("v", k, a.now.v[k][i], b.now.v[k][i], 1e-9);
            assert_near("a", k, a.now.a[k][i], b.now.a[k][i], 1e-8);
        }
    for (int j = 0; j < 4; j++) {
        assert_int_equal(a.now.unique[j], 0);
        assert_int_equal(b.now.unique[j], 1);
        assert_near("fx", j, a.now.reaction[j][0], b.now.reaction[j][0], 1e-8);
        assert_near("fy", j, a.now.reaction[j][1], b.now.reaction[j][1], 1e-8);
        assert_near("fz", j, a.now.reaction[j][2], 0, 1e-10); // minimum norm
    }
    run_end(&a);
    run_end(&b);
}

// With redundant rows the multipliers have minimum norm: found again from J' lambda = F - M Vdot by one
// decomposition of J'.
static void multipliers_have_minimum_norm(void **state)
{
    (void)state;
    run r = run_mechanism(LWT_TILTED, 2e-3, 200);
    lwi_dense s;
    assert_int_equal(lwi_dense_create(r.model, &r.arena, &s), LW_OK);
    for (int k = 0; k < s.nbody; k++) {
        const int i = s.body[k];
        memcpy(s.quat[i], r.now.quat[i], sizeof s.quat[i]);
        v3_copy(s.r[i], r.now.r[i]);
        v3_copy(s.v[i], r.now.v[i]);
        m3_mul_v(s.w[i], r.now.R[i], r.now.w[i]);
    }
    memcpy(s.q, r.now.q, (size_t)r.model->nq * sizeof *s.q);
    evaluate(&s, r.t);
    double *force = lwt_vector(s.n), *lambda = lwt_vector(s.m);
    for (int k = 0; k < s.nbody; k++) { // F - M Vdot: gravity and inertia
        const lwi_body *body = &r.model->body[s.body[k]];
        double L[3], n[3];
        for (int i = 0; i < 3; i++)
            force[6 * k + i] = body->mass * (r.model->gravity[i] - r.now.a[s.body[k]][i]);
        s3_mul_v(L, body->inertia, r.now.w[s.body[k]]);
        v3_cross(n, L, r.now.w[s.body[k]]);
        s3_mul_v(L, body->inertia, r.now.al[s.body[k]]);
        v3_sub(force + 6 * k + 3, n, L);
    }
    lwi_cod_factor(&s.cod, 17, 0);
    lwi_cod_solve(&s.cod, force, lambda);
    for (int j = 0; j < r.model->njoint; j++) {
        double wrench[6] = {0};
        for (int i = s.first[j]; i < s.first[j + 1]; i++) v6_axpy(wrench, -lambda[i], s.J2[i]);
        for (int i = 0; i < 6; i++)
            assert_near("reaction", 6 * j + i, r.now.reaction[j][i], wrench[i], 1e-10);
    }
    free(force);
    free(lambda);
    run_end(&r);
}

// ----------------------------------------------------------------------------------- rank

// The rank is the same for thresholds a decade on either side, and with positions off by as much as
// lw_model_create lets pass: 1e-6.
static void rank_does_not_depend_on_its_threshold(void **state)
{
    (void)state;
    static const int rank[LWT_LOOPS] = {17, 17, 17, 18, 17, 16, 16};
    uint64_t seed = 99;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind);
        lwi_arena arena;
        lwi_dense s;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_dense_create(model, &arena, &s), LW_OK);
        double *x = lwt_vector(s.n);
        for (int i = -1; i <= 1; i++) {
            const double threshold = LWI_DENSE_RANK * pow(10, i);
            const lwi_dense_ranks ranks = lwi_dense_rank(&s, threshold, x);
            assert_int_equal(ranks.start, rank[kind]);
            assert_int_equal(ranks.generic, rank[kind]);
            if (i < 0) continue; // the noise below is as large as that threshold
            lwi_dense_start(&s);
            for (int k = 0; k < s.n; k++) x[k] = 1e-6 * random_unit(&seed);
            lwi_dense_move(&s, x);
            evaluate(&s, 0);
            lwi_dense_scale(&s);
            lwi_cod_factor(&s.cod, -1, threshold);
            assert_int_equal(s.cod.rank, rank[kind]);
        }
        free(x);
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
}

// A rhombus that starts folded flat has one more degree of freedom there than in its neighbourhood: a run
// refuses it.
static void singular_start_is_refused(void **state)
{
    (void)state;
    lwt_refuses_singular_start(DENSE);
}

// ----------------------------------------------------------------------------------- enter

// Velocities off the constraints by a file's last digits are moved onto them, larger errors name the
// joint.
static void velocities_are_made_consistent_or_refused(void **state)
{
    (void)state;
    run r = run_mechanism(LWT_REVOLUTES, 2.5e-4, 1600);
    lwi_snapshot m = r.now;
    lwi_totals system;
    double *y = lwt_vector(r.work->layout.nx);
    m.v[2][0] += 1e-10;
    lwt_ok(DENSE->enter(r.work, &m, y), &r.work->error);
    lwt_observe(r.work, r.t, y, NULL, &r.arena, &m);
    lwi_observe_system(r.model, LW_OBSERVE_ENERGY, &m, &system);
    assert_true(system.residual[1] < 1e-14);
    for (int i = 0; i < r.work->layout.nx; i++) assert_near("x", i, y[i], r.x[i], 1e-8);

    m.v[2][0] += 1e-4;
    assert_int_equal(DENSE->enter(r.work, &m, y), LW_ERR_MODEL);
    assert_non_null(strstr(r.work->error.text, "joint 'j"));
    free(y);
    run_end(&r);
}

// The state determines everything: the same bits from a used workspace and from another one.
static void rates_depend_on_the_state_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        run r = run_mechanism(kind, 5e-3, 40);
        lwi_work *other = lwt_work(r.model, DENSE);
        const size_t bytes = (size_t)r.work->layout.nx * sizeof(double);
        double *a = lwt_vector(r.work->layout.nx), *b = lwt_vector(r.work->layout.nx);
        lwt_ok(DENSE->rates(other, r.t, r.x, NULL, a), &other->error);
        lwt_ok(DENSE->rates(r.work, r.t, r.x, NULL, b), &r.work->error);
        assert_memory_equal(a, b, bytes);
        free(a);
        free(b);
        lwi_work_destroy(other);
        run_end(&r);
    }
}

// ------------------------------------------------------------------------------- light bodies

// Two point masses on massless rods, as a planar double pendulum: masses without inertia, and the
// second time over a body that has no mass at all.  Against the textbook equations
//   (m1 + m2) l1 qdd1 + m2 l2 cos(d) qdd2 = m2 l2 sin(d) w2^2 - (m1 + m2) g sin a1
//   l1 cos(d) qdd1 + l2 qdd2 = -l1 sin(d) w1^2 - g sin a2,   d = a2 - a1
static void bodies_without_inertia_are_solved(void **state)
{
    (void)state;
    for (int massless = 0; massless < 2; massless++) {
        const double m1 = 2, m2 = 3, l1 = 0.7, l2 = 1.1, a1 = 0.4, a2 = -0.9, w1 = 1.2, w2 = -0.5;
        const double p1[2] = {l1 * sin(a1), -l1 * cos(a1)};
        const double p2[2] = {p1[0] + l2 * sin(a2), p1[1] - l2 * cos(a2)};
        const double v1[2] = {l1 * cos(a1) * w1, l1 * sin(a1) * w1};
        const double v2[2] = {v1[0] + l2 * cos(a2) * w2, v1[1] + l2 * sin(a2) * w2};
        lw_builder *b = lwt_builder();
        lw_body inner = lwt_body(b, &(lw_body_desc){.name = "one",
                                                    .mass = m1,
                                                    .pose.position = {p1[0], p1[1], 0},
                                                    .has_velocity = 1,
                                                    .velocity = {v1[0], v1[1], 0},
                                                    .angular_velocity = {0, 0, w1}});
        lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, inner, 0, 0);
        if (massless) { // carries the second mass at the end of a fixed joint that is not merged
            const lw_body mid = lwt_body(b, &(lw_body_desc){.name = "mid",
                                                            .pose.position = {p1[0], p1[1], 0},
                                                            .has_velocity = 1,
                                                            .velocity = {v1[0], v1[1], 0},
                                                            .angular_velocity = {0, 0, w2}});
            lwt_joint(b, LW_JOINT_REVOLUTE, "j2", inner, mid, p1[0], p1[1]);
            inner = mid;
        }
        const lw_body outer = lwt_body(b, &(lw_body_desc){.name = "two",
                                                          .mass = m2,
                                                          .pose.position = {p2[0], p2[1], 0},
                                                          .has_velocity = 1,
                                                          .velocity = {v2[0], v2[1], 0},
                                                          .angular_velocity = {0, 0, w2}});
        if (massless) // a mount, although it does not move: the bodies are not merged
            lwt_add(b, &(lw_joint_desc){.name = "j3",
                                        .type = LW_JOINT_FIXED,
                                        .body1 = inner,
                                        .body2 = outer,
                                        .at = {p2[0], p2[1], 0},
                                        .mount_turn = lwt_function(
                                            b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT})});
        else
            lwt_joint(b, LW_JOINT_REVOLUTE, "j2", inner, outer, p1[0], p1[1]);
        lw_model *model = lwt_model(b);
        lwt_run r = lwt_run_start(model, DENSE);
        lwt_run_observe(&r);
        const double d = a2 - a1, g = 9.81;
        const double A = (m1 + m2) * l1, B = m2 * l2 * cos(d), C = l1 * cos(d), D = l2;
        const double e = m2 * l2 * sin(d) * w2 * w2 - (m1 + m2) * g * sin(a1);
        const double f = -l1 * sin(d) * w1 * w1 - g * sin(a2);
        const double qdd1 = (e * D - B * f) / (A * D - B * C),
                     qdd2 = (A * f - C * e) / (A * D - B * C);
        const int last = outer.index;
        assert_near("one", 0, r.now.a[1][0], l1 * (cos(a1) * qdd1 - sin(a1) * w1 * w1), 1e-12);
        assert_near("one", 1, r.now.a[1][1], l1 * (sin(a1) * qdd1 + cos(a1) * w1 * w1), 1e-12);
        assert_near("two", 0, r.now.a[last][0],
                    r.now.a[1][0] + l2 * (cos(a2) * qdd2 - sin(a2) * w2 * w2), 1e-12);
        assert_near("two", 1, r.now.a[last][1],
                    r.now.a[1][1] + l2 * (sin(a2) * qdd2 + cos(a2) * w2 * w2), 1e-12);
        assert_near("balance", massless, lwt_imbalance(model, NULL, &r.now), 0, 1e-11);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

// A massless link of a loop that may rotate freely has no equation: the message names it.
static void free_massless_body_is_refused(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 0, 1, 1), C = lwt_rod(b, "C", 1, 0, 1, 1, 1);
    const lw_body B = lwt_body(b, &(lw_body_desc){.name = "link", .pose.position = {0.5, 1, 0}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_SPHERICAL, "j2", A, B, 0, 1);
    lwt_joint(b, LW_JOINT_SPHERICAL, "j3", B, C, 1, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j4", C, lwt_ground, 1, 0);
    lw_model *model = lwt_model(b);
    lwt_run r = lwt_run_start(model, DENSE);
    double *xdot = lwt_vector(r.work->layout.nx);
    assert_int_equal(DENSE->rates(r.work, 0, r.x, NULL, xdot), LW_ERR_SINGULAR);
    assert_non_null(strstr(r.work->error.text, "body 'link'"));
    assert_non_null(strstr(r.work->error.text, "held by joint 'j2', joint 'j3'"));
    free(xdot);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_mechanisms_differentiate_phi),
        cmocka_unit_test(trees_agree_with_the_articulated_body_recursion),
        cmocka_unit_test(pendulum_has_its_closed_form),
        cmocka_unit_test(free_top_precesses),
        cmocka_unit_test(gear_has_its_closed_form),
        cmocka_unit_test(loops_keep_energy_and_closure),
        cmocka_unit_test(bodies_are_balanced_in_loops),
        cmocka_unit_test(internal_forces_balance_where_joints_have_drifted),
        cmocka_unit_test(a_redundant_copy_has_the_same_motion),
        cmocka_unit_test(multipliers_have_minimum_norm),
        cmocka_unit_test(rank_does_not_depend_on_its_threshold),
        cmocka_unit_test(singular_start_is_refused),
        cmocka_unit_test(velocities_are_made_consistent_or_refused),
        cmocka_unit_test(rates_depend_on_the_state_alone),
        cmocka_unit_test(bodies_without_inertia_are_solved),
        cmocka_unit_test(free_massless_body_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
