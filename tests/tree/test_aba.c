// test_aba.c -- the formulation `aba`: against derivatives, balances and closed forms.
#include "tree/tree_cases.h"

#include "kinematics/tree_state.h"
#include "spatial/rotation.h"
#include "support/given.h"
#include "support/mechanism.h"
#include "tree/simd/hinges.h"

enum { NTREES = 60 };

// ---------------------------------------------------------------------------- a formulation at
// work

typedef struct bench {
    lwi_work *work;
    lwi_arena arena;
    lwi_snapshot m, n;   // two snapshots
    lwi_tree_work probe; // for the forces
    double *x, *xdot, *y;
} bench;

static bench bench_create(const lwt_tree *c)
{
    bench b = {0};
    lw_error error;
    const lw_model *m = c->model;
    assert_int_equal(lwi_work_create(m, &lwi_formulation_aba, NULL, &b.work, &error), LW_OK);
    lwi_arena_init(&b.arena, NULL);
    assert_int_equal(lwi_snapshot_create(m, &b.arena, &b.m), LW_OK);
    assert_int_equal(lwi_snapshot_create(m, &b.arena, &b.n), LW_OK);
    assert_int_equal(lwi_tree_work_create(m, &b.arena, &b.probe), LW_OK);
    const int nx = b.work->layout.nx;
    b.x = lwt_reals(nx);
    b.xdot = lwt_reals(nx);
    b.y = lwt_reals(nx);
    memcpy(b.x, c->q, (size_t)m->tree_nq * sizeof *b.x);
    memcpy(b.x + m->tree_nq, c->v, (size_t)m->tree_nv * sizeof *b.x);
    return b;
}

static void bench_destroy(bench *b)
{
    lwi_work_destroy(b->work);
    lwi_arena_free(&b->arena);
    free(b->x);
    free(b->xdot);
    free(b->y);
}

static void rates(bench *b, const lwt_tree *c)
{
    const lw_status status = b->work->formulation->rates(b->work, c->t, b->x, c->input, b->xdot);
    if (status != LW_OK)
        fail_msg("seed %llu: %s", (unsigned long long)c->seed, b->work->error.text);
}

// y = x + h xdot: to first order the state at t + h, so derivatives at h = 0 are those of the
// motion
static void shift(bench *b, double h)
{
    for (int i = 0; i < b->work->layout.nx; i++) b->y[i] = b->x[i] + h * b->xdot[i];
}

static void observe(bench *b, const lwt_tree *c, double h, const double *x, lw_observe level,
                    lwi_snapshot *snapshot)
{
    assert_int_equal(b->work->formulation->observe(b->work, c->t + h, x, c->input, level, snapshot),
                     LW_OK);
}

// Motion that forces read at (t, x), all bodies; fills the loads.
static lwi_kin probe(bench *b, const lwt_tree *c, double t, const double *x)
{
    const lw_model *m = c->model;
    lwi_tree_work *w = &b->probe;
    const double *v = x + m->tree_nq;
    lwi_tree_evaluate(m, w, t, x, v, c->input);
    lwi_tree_world(m, w->link, w->R, w->r);
    lwi_tree_bodies(m, (const double(*)[9])w->R, (const double(*)[3])w->r, (const double(*)[6])w->V,
                    w->body_R, w->body_r, w->body_v, w->body_w);
    lwi_tree_joints(m, w->link, v, w->joint_q, w->joint_qd);
    return (lwi_kin){.R = (const double(*)[9])w->body_R,
                     .r = (const double(*)[3])w->body_r,
                     .v = (const double(*)[3])w->body_v,
                     .w = (const double(*)[3])w->body_w,
                     .q = w->joint_q,
                     .qd = w->joint_qd};
}

// ------------------------------------------------------------------------------------- derivatives

// Observed accelerations are the derivatives of observed velocities.
static void accelerations_are_derivatives_of_velocities(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        bench b = bench_create(&c);
        rates(&b, &c);
        double(*dv)[3] = lwt_zeros((size_t)m->nbody, sizeof *dv);
        double(*dw)[3] = lwt_zeros((size_t)m->nbody, sizeof *dw);
        double *dqd = lwt_reals(m->nv);
        observe(&b, &c, 0, b.x, LW_OBSERVE_ACCELERATION, &b.m);
        for (int s = 0; s < 4; s++) {
            shift(&b, lwt_offset[s]);
            observe(&b, &c, lwt_offset[s], b.y, LW_OBSERVE_TWIST, &b.n);
            for (int k = 0; k < m->nbody; k++) {
                v3_axpy(dv[k], lwt_weight[s], b.n.v[k]);
                v3_axpy(dw[k], lwt_weight[s], b.n.w[k]);
            }
            for (int i = 0; i < m->nv; i++) dqd[i] += lwt_weight[s] * b.n.qd[i];
        }
        for (int k = 0; k < m->nnode; k++)
            for (int i = 0; i < 3; i++) {
                const int body = m->node[k].body;
                lwt_close(&c, "a of body", body, b.m.a[body][i], dv[body][i],
                          LWT_DERIVATIVE_TOLERANCE);
                lwt_close(&c, "al of body", body, b.m.al[body][i], dw[body][i],
                          LWT_DERIVATIVE_TOLERANCE);
            }
        for (int i = 0; i < m->nv; i++)
            lwt_close(&c, "qdd", i, b.m.qdd[i], dqd[i], LWT_DERIVATIVE_TOLERANCE);
        free(dv);
        free(dw);
        free(dqd);
        bench_destroy(&b);
    }
}

static double energy(bench *b, const lwt_tree *c, double t, const double *x)
{
    const lwi_kin kin = probe(b, c, t, x);
    double T = 0, P[6];
    for (int k = 0; k < c->model->nnode; k++) {
        const lwi_node *n = &c->model->node[k];
        inertia_mul(P, n->mass, n->h, n->J, b->probe.V[k]);
        T += 0.5 * v6_dot(P, b->probe.V[k]);
    }
    return T + lwi_forces_potential(c->model, &kin);
}

// d/dt (T + V) is the rate of the work state: dampers, actuators, wrenches, drives and mounts.
static void energy_rate_is_power(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        bench b = bench_create(&c);
        rates(&b, &c);
        const int nx = b.work->layout.nx;
        double dE = 0;
        for (int s = 0; s < 4; s++) {
            shift(&b, lwt_offset[s]);
            dE += lwt_weight[s] * energy(&b, &c, c.t + lwt_offset[s], b.y);
        }
        const double power = c.model->carries_work ? b.xdot[nx - 1] : 0;
        // energies reach some 100 J: rounding 1.5 eps E / h, 3e-11, below the truncation
        lwt_close(&c, "power", 0, power, dE, 10 * LWT_DERIVATIVE_TOLERANCE);
        bench_destroy(&b);
    }
}

// ---------------------------------------------------------------------------------------- balances

// Adds a wrench (f, n) at the world point p to the balance of a body about its mass centre.
static void add_wrench(double *balance, const double *r, double sign, const double *wrench,
                       const double *p)
{
    double arm[3], n[3];
    v3_sub(arm, p, r);
    v3_cross(n, arm, wrench);
    v3_add(n, n, wrench + 3);
    v3_axpy(balance, sign, wrench);
    v3_axpy(balance + 3, sign, n);
}

// Newton and Euler for every body in world axes, from the snapshot alone: reactions of its joints, efforts of their
// springs and signals, forces and weight equal the rate of its momentum.
static void bodies_are_in_balance(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        bench b = bench_create(&c);
        observe(&b, &c, 0, b.x, LW_OBSERVE_REACTION, &b.m);
        const lwi_kin kin = probe(&b, &c, c.t, b.x);
        lwi_forces_apply(m, &kin, c.t, c.input, &b.probe.loads);
        lwi_loads_to_carriers(m, &kin, &b.probe.loads);
        double(*balance)[6] = lwt_zeros((size_t)m->nbody, sizeof *balance), largest = 1;
        memcpy(balance, b.probe.loads.wrench, (size_t)m->nbody * sizeof *balance);
        for (int j = 0; j < m->njoint; j++) {
            const lwi_joint *joint = &m->joint[j];
            if (joint->node < 0) continue;
            double R2[9], p[3], T[6][6], own[6] = {0}, wrench[6];
            m3_mul(R2, b.m.R[joint->body2], joint->R2);
            m3_mul_v(p, b.m.R[joint->body2], joint->r2);
            v3_add(p, p, b.m.r[joint->body2]);
            joint->type->effort(&joint->par, b.m.q + joint->iq, T);
            for (int i = 0; i < joint->type->nv; i++)
                v6_axpy(own, b.probe.loads.effort[joint->iv + i], T[i]);
            m3_mul_v(wrench, R2, own);
            m3_mul_v(wrench + 3, R2, own + 3);
            v6_add(wrench, wrench, b.m.reaction[j]);
            add_wrench(balance[joint->body2], b.m.r[joint->body2], 1, wrench, p);
            add_wrench(balance[joint->body1], b.m.r[joint->body1], -1, wrench, p);
            for (int i = 0; i < 6; i++) largest = fmax(largest, fabs(wrench[i]));
            assert_int_equal(b.m.unique[j], 1);
        }
        for (int k = 0; k < m->nnode; k++) {
            const int i = m->node[k].body;
            const lwi_body *body = &m->body[i];
            double rate[6], H[3], n[3];
            for (int a = 0; a < 3; a++) rate[a] = body->mass * (b.m.a[i][a] - m->gravity[a]);
            s3_mul_v(H, body->inertia, b.m.w[i]);
            s3_mul_v(n, body->inertia, b.m.al[i]);
            v3_cross_add(n, b.m.w[i], H);
            m3_mul_v(rate + 3, b.m.R[i], n);
            // rounding of wrenches passed through a dozen frames with arms of a few metres
            for (int a = 0; a < 6; a++)
                lwt_close(&c, "balance of body", i, balance[i][a] / largest, rate[a] / largest,
                          1e-12);
        }
        free(balance);
        bench_destroy(&b);
    }
}

// Reactions do no work on the free speeds: only the efforts of springs and signals do.
static void reactions_leave_free_speeds_alone(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        bench b = bench_create(&c);
        observe(&b, &c, 0, b.x, LW_OBSERVE_REACTION, &b.m);
        for (int j = 0; j < m->njoint; j++) {
            const lwi_joint *joint = &m->joint[j];
            if (joint->node < 0) continue;
            double R2[9], F[6], S[6][6];
            m3_mul(R2, b.m.R[joint->body2], joint->R2);
            m3_tmul_v(F, R2, b.m.reaction[j]);
            m3_tmul_v(F + 3, R2, b.m.reaction[j] + 3);
            joint->type->subspace(&joint->par, b.m.q + joint->iq, S);
            for (int i = 0; i < joint->type->nv; i++)
                if (joint->motion[i].index == 0)
                    lwt_close(&c, "work of joint", j, v6_dot(S[i], F) / (1 + sqrt(v6_dot(F, F))), 0,
                              1e-11); // the rounding of the accelerations, times inertias
        }
        bench_destroy(&b);
    }
}

// ------------------------------------------------------------------------------------ closed forms

static lw_model *build(lw_builder *builder)
{
    lw_model *model = NULL;
    lw_error error;
    const lw_status status = lw_model_create(builder, &model, &error);
    if (status != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(builder);
    return model;
}

static lw_builder *start_builder(void)
{
    lw_builder *builder;
    assert_int_equal(lw_builder_create(NULL, &builder), LW_OK);
    return builder;
}

static lw_body add_body(lw_builder *builder, const lw_body_desc *desc)
{
    lw_body body;
    lw_error error;
    if (lw_builder_add_body(builder, desc, &body, &error) != LW_OK) fail_msg("%s", error.text);
    return body;
}

static lw_joint add_joint(lw_builder *builder, const lw_joint_desc *desc)
{
    lw_joint joint;
    lw_error error;
    if (lw_builder_add_joint(builder, desc, &joint, &error) != LW_OK) fail_msg("%s", error.text);
    return joint;
}

// A free body accelerates with g and rotates by Euler's equations J al = -w x J w.
static void free_body_obeys_euler(void **state)
{
    (void)state;
    lw_builder *builder = start_builder();
    add_body(builder, &(lw_body_desc){.mass = 2,
                                      .inertia = {0.3, 0.4, 0.6, 0, 0, 0},
                                      .com = {0.1, -0.2, 0.3},
                                      .has_velocity = 1,
                                      .velocity = {1, 2, 3},
                                      .angular_velocity = {0.5, -0.7, 1.1}});
    lw_model *model = build(builder);
    lwt_tree c = {.model = model, .q = model->tree_q0, .v = model->tree_v0};
    bench b = bench_create(&c);
    rates(&b, &c);
    observe(&b, &c, 0, b.x, LW_OBSERVE_ACCELERATION, &b.m);
    const double w[3] = {0.5, -0.7, 1.1};
    const double al[3] = {-(0.6 - 0.4) * w[1] * w[2] / 0.3, -(0.3 - 0.6) * w[2] * w[0] / 0.4,
                          -(0.4 - 0.3) * w[0] * w[1] / 0.6};
    const double g[3] = {0, 0, -9.81};
    for (int i = 0; i < 3; i++) {
        lwt_close(&c, "al", i, b.m.al[1][i], al[i], 1e-14);
        lwt_close(&c, "a", i, b.m.a[1][i], g[i], 1e-14);
    }
    bench_destroy(&b);
    lw_model_destroy(model);
}

// A compound pendulum: (J + m l^2) qdd = -m g l sin q, and the pivot carries the remaining force.
static void pendulum_obeys_its_equation(void **state)
{
    (void)state;
    const double mass = 1.5, J = 0.2, l = 0.7, q = 0.6, qd = 1.3, g = 9.81;
    for (int reversed = 0; reversed < 2; reversed++) {
        lw_builder *builder = start_builder();
        const lw_body ground = {0};
        const lw_body rod = add_body(
            builder,
            &(lw_body_desc){.mass = mass, .inertia = {J, J, 0.01, 0, 0, 0}, .com = {0, 0, -l}});
        // about -y: the rod points down at q = 0
        add_joint(builder, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                            .body1 = reversed ? rod : ground,
                                            .body2 = reversed ? ground : rod,
                                            .axis = {0, -1, 0},
                                            .has_q = 1,
                                            .q = {reversed ? -q : q},
                                            .has_qd = 1,
                                            .qd = {reversed ? -qd : qd}});
        lw_model *model = build(builder);
        lwt_tree c = {.model = model, .q = model->tree_q0, .v = model->tree_v0};
        bench b = bench_create(&c);
        observe(&b, &c, 0, b.x, LW_OBSERVE_REACTION, &b.m);
        const double qdd = -mass * g * l * sin(q) / (J + mass * l * l);
        const double sign = reversed ? -1 : 1;
        lwt_close(&c, "qdd", 0, sign * b.m.qdd[0], qdd, 1e-14);
        // com at l (sin q, 0, -cos q): the force on the rod is m (a - g)
        const double fx = mass * l * (qdd * cos(q) - qd * qd * sin(q));
        const double fz = mass * (l * (qdd * sin(q) + qd * qd * cos(q)) + g);
        lwt_close(&c, "reaction", 0, sign * b.m.reaction[0][0], fx, 1e-13);
        lwt_close(&c, "reaction", 2, sign * b.m.reaction[0][2], fz, 1e-13);
        bench_destroy(&b);
        lw_model_destroy(model);
    }
}

// ---------------------------------------------------------------------------------------- refusals

// A gimbal: a rod on revolute joints z, x, z with massless bodies between them.
static lw_model *massless_gimbal(double tilt)
{
    lw_builder *builder = start_builder();
    const lw_body outer = add_body(builder, &(lw_body_desc){.name = "outer"});
    const lw_body inner = add_body(builder, &(lw_body_desc){.name = "inner"});
    const lw_body rod = add_body(builder, &(lw_body_desc){.name = "rod",
                                                          .mass = 1,
                                                          .inertia = {0.1, 0.1, 0.1, 0, 0, 0},
                                                          .com = {0.3, 0.2, 0.4}});
    add_joint(builder,
              &(lw_joint_desc){.name = "first", .type = LW_JOINT_REVOLUTE, .body2 = outer});
    add_joint(builder, &(lw_joint_desc){.name = "second",
                                        .type = LW_JOINT_REVOLUTE,
                                        .body1 = outer,
                                        .body2 = inner,
                                        .axis = {1, 0, 0},
                                        .has_q = 1,
                                        .q = {tilt}});
    add_joint(
        builder,
        &(lw_joint_desc){.name = "third", .type = LW_JOINT_REVOLUTE, .body1 = inner, .body2 = rod});
    return build(builder);
}

// Massless moving bodies are well posed if the bodies they carry give their joints an inertia; else the error names the
// joint and the time: the gimbal with its axes in one line.
static void massless_bodies_need_something_to_carry(void **state)
{
    (void)state;
    lw_model *model = massless_gimbal(0.5);
    lwt_tree c = {.t = 0.25, .model = model, .q = model->tree_q0, .v = model->tree_v0};
    bench b = bench_create(&c);
    rates(&b, &c);
    b.x[1] = 0;
    assert_int_equal(b.work->formulation->rates(b.work, c.t, b.x, NULL, b.xdot), LW_ERR_SINGULAR);
    assert_int_equal(b.work->error.status, LW_ERR_SINGULAR);
    assert_non_null(strstr(b.work->error.text, "'first'"));
    assert_non_null(strstr(b.work->error.text, "0.25 s"));
    bench_destroy(&b);
    lw_model_destroy(model);
}

// A state that is not finite is an error, not an acceleration.
static void states_must_be_finite(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, 12, LWT_ALL)
    {
        bench b = bench_create(&c);
        for (int i = 0; i < c.model->tree_nv; i++) {
            const double keep = b.x[c.model->tree_nq + i];
            b.x[c.model->tree_nq + i] = NAN;
            assert_int_equal(b.work->formulation->rates(b.work, c.t, b.x, c.input, b.xdot),
                             LW_ERR_NOT_FINITE);
            b.x[c.model->tree_nq + i] = keep;
        }
        bench_destroy(&b);
    }
}

// A loop is refused; the error names the joint that closes it and a formulation for it.
static void loops_are_refused(void **state)
{
    (void)state;
    lw_builder *builder = start_builder();
    const lw_body a = add_body(builder, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}});
    add_joint(builder, &(lw_joint_desc){.name = "one", .type = LW_JOINT_REVOLUTE, .body2 = a});
    add_joint(builder, &(lw_joint_desc){.name = "two", .type = LW_JOINT_REVOLUTE, .body2 = a});
    lw_model *model = build(builder);
    lw_error error;
    lwi_work *work;
    assert_int_equal(lwi_work_create(model, &lwi_formulation_aba, NULL, &work, &error),
                     LW_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "'two'"));
    assert_non_null(strstr(error.text, "dense"));
    assert_int_equal(lwi_formulation_accepts(&lwi_formulation_dense, model, &error), LW_OK);
    assert_null(lwi_formulation_find("no such thing"));
    assert_ptr_equal(lwi_formulation_find("aba"), &lwi_formulation_aba);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------------- state

// Entering the model's first snapshot gives its start, and a second evaluation the same bits.
static void evaluation_has_no_memory(void **state)
{
    (void)state;
    LWT_FOR_TREES(c, NTREES, LWT_ALL)
    {
        const lw_model *m = c.model;
        bench b = bench_create(&c);
        const size_t nx = (size_t)b.work->layout.nx;
        rates(&b, &c);
        double *first = lwt_reals((int)nx);
        memcpy(first, b.xdot, nx * sizeof *first);
        observe(&b, &c, 0.1, b.x, LW_OBSERVE_REACTION, &b.m);
        lwi_snapshot_start(m, &b.n);
        assert_int_equal(b.work->formulation->enter(b.work, &b.n, b.y), LW_OK);
        for (int i = 0; i < m->tree_nq; i++)
            lwt_close(&c, "q", i, b.y[i], m->tree_q0[i], 4 * DBL_EPSILON);
        for (int i = 0; i < m->tree_nv; i++)
            lwt_close(&c, "v", i, b.y[m->tree_nq + i], m->tree_v0[i], 16 * DBL_EPSILON);
        rates(&b, &c);
        assert_memory_equal(first, b.xdot, nx * sizeof *first);
        assert_int_equal(b.work->formulation->scale(b.work, c.t, b.x, b.y), LW_OK);
        for (size_t i = 0; i < nx; i++) assert_true(b.y[i] > 0 && isfinite(b.y[i]));
        free(first);
        bench_destroy(&b);
    }
}

typedef struct meter {
    int left;
} meter;

static void *metered(void *user, size_t bytes)
{
    meter *m = user;
    return m->left-- > 0 ? malloc(bytes) : NULL;
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

// Every allocation may fail: creation returns an error and releases everything.
static void creation_survives_failing_allocations(void **state)
{
    (void)state;
    lwt_tree c = lwt_tree_create(11, 10, LWT_ALL);
    lw_status status = LW_ERR_MEMORY;
    for (int n = 0; status != LW_OK; n++) {
        meter m = {n};
        const lw_allocator allocator = {metered, release, &m};
        lwi_work *work = NULL;
        lw_error error;
        status = lwi_work_create(c.model, &lwi_formulation_aba, &allocator, &work, &error);
        assert_true(status == LW_OK || (status == LW_ERR_MEMORY && error.status == LW_ERR_MEMORY));
        if (status == LW_OK) lwi_work_destroy(work);
        assert_true(n < 1000);
    }
    lwt_tree_destroy(&c);
}

// ------------------------------------------------------------------------------------------ hinges

typedef struct recursion {
    lwi_tree_work tree;
    lwi_articulated *node;
    double *vdot;
} recursion;

static recursion recursion_create(const lwt_tree *c, lwi_arena *arena)
{
    const lw_model *m = c->model;
    recursion r = {.node = LWI_PUSH(arena, lwi_articulated, m->nnode),
                   .vdot = LWI_PUSH(arena, double, m->tree_nv)};
    assert_int_equal(lwi_tree_work_create(m, arena, &r.tree), LW_OK);
    lwi_tree_evaluate(m, &r.tree, c->t, c->q, c->v, c->input);
    return r;
}

static lw_status sweep_by(const lwi_hinge_kernels *kernels, const lwt_tree *c, const double *tau,
                          recursion *r, lw_error *error)
{
    lwi_aba_sweep of = {.model = c->model,
                        .work = &r->tree,
                        .node = r->node,
                        .kernels = kernels,
                        .t = c->t,
                        .v = c->v,
                        .tau = tau,
                        .vdot = r->vdot,
                        .error = error};
    return lwi_aba_sweeps(&of);
}

// The kernels of hinges have the bits of the generic recursion, in trees with other joints too.
static void hinges_change_no_bit(void **state)
{
    (void)state;
    for (unsigned joints = 0; joints < 2; joints++) LWT_FOR_TREES(c, NTREES, joints ? LWT_ALL : 0)
        {
            const size_t n = (size_t)c.model->nnode, nv = (size_t)c.model->tree_nv;
            const double *tau = c.seed % 2 ? c.v : NULL;
            lw_error error;
            lwi_arena arena;
            lwi_arena_init(&arena, NULL);
            recursion plain = recursion_create(&c, &arena);
            lwt_ok(sweep_by(NULL, &c, tau, &plain, &error), &error);
            for (int width = 1; width <= 8; width *= 2) {
                const lwi_hinge_kernels *kernels = lwi_hinge_kernels_of(width);
                if (!kernels) continue;
                recursion r = recursion_create(&c, &arena);
                lwt_ok(sweep_by(kernels, &c, tau, &r, &error), &error);
                assert_memory_equal(r.vdot, plain.vdot, nv * sizeof *r.vdot);
                assert_memory_equal(r.tree.A, plain.tree.A, n * sizeof *r.tree.A);
                assert_memory_equal(r.tree.size, plain.tree.size, n * sizeof *r.tree.size);
                assert_memory_equal(r.node, plain.node, n * sizeof *r.node);
            }
            lwi_arena_free(&arena);
        }
}

// A pivot of round-off is left to the generic recursion, which says what is wrong.
static void kernels_of_hinges_leave_failures(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body body =
        lwt_body(b, &(lw_body_desc){.name = "rod", .mass = 1, .inertia = {1, 1, 1}});
    const lw_body tip =
        lwt_body(b, &(lw_body_desc){.name = "tip", .mass = 1, .inertia = {1, 1, 1}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "base", (lw_body){0}, body, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "end", body, tip, 0, 0);
    lwt_tree c = {
        .model = lwt_model(b), .q = lwt_reals(2), .v = lwt_reals(2), .input = lwt_reals(1)};
    const lwi_hinge_kernels *kernels = lwi_hinge_kernels_of(0);
    lw_error error = {0}, of_kernels = {0};
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(c.model->nnode, 2);
    recursion r = recursion_create(&c, &arena);
    r.tree.wrench[0][0] = INFINITY; // across the axis: a product with zero
    const lw_status status = sweep_by(NULL, &c, NULL, &r, &error);
    assert_int_equal(sweep_by(kernels, &c, NULL, &r, &of_kernels), status);
    assert_true(status < LW_OK);
    assert_string_equal(error.text, of_kernels.text);
    c.model->node[1].J[2] = 0; // which no description can have
    r = recursion_create(&c, &arena);
    assert_int_equal(sweep_by(NULL, &c, NULL, &r, &error), LW_ERR_SINGULAR);
    assert_int_equal(sweep_by(kernels, &c, NULL, &r, &of_kernels), LW_ERR_SINGULAR);
    assert_string_equal(error.text, of_kernels.text);
    assert_non_null(strstr(error.text, "end"));
    lwi_arena_free(&arena);
    lwt_tree_destroy(&c);
}

// A fixed body after the last hinge has no speed to read: sanitizers see one behind the state.
static void a_fixed_body_has_no_speed(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body rod =
        lwt_body(b, &(lw_body_desc){.name = "rod", .mass = 1, .inertia = {1, 1, 1}});
    const lw_body tip =
        lwt_body(b, &(lw_body_desc){.name = "tip", .mass = 1, .inertia = {1, 1, 1}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "base", (lw_body){0}, rod, 0, 0);
    lwt_joint(b, LW_JOINT_FIXED, "end", rod, tip, 0, 0);
    lwt_tree c = {.model = lwt_model(b),
                  .q = malloc(sizeof(double)),
                  .v = malloc(sizeof(double)),
                  .input = lwt_reals(1)};
    lw_error error = {0};
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(c.model->nnode, 2);
    assert_int_equal(c.model->tree_nv, 1);
    c.q[0] = 0.1, c.v[0] = 3;
    recursion r = recursion_create(&c, &arena);
    lwt_ok(sweep_by(lwi_hinge_kernels_of(0), &c, NULL, &r, &error), &error);
    assert_true(fabs(r.vdot[0]) < 1e-15);
    lwi_arena_free(&arena);
    lwt_tree_destroy(&c);
}

// A ball on the axis of a hinge leaves nothing to accelerate but the light body between; what lies in between is driven,
// has no speed, and passes the round-off of the heavy body on.
static void round_off_passes_driven_joints(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(
        "linkwork: 1\n"
        "bodies:\n"
        "  light: {mass: 1e-14, inertia: [1e-14, 1e-14, 1e-14, 0, 0, 0], position: [0, 0, 0.1]}\n"
        "  between: {mass: 0, position: [0, 0, 0.5]}\n"
        "  heavy: {mass: 1, inertia: [0.013, 0.027, 0.031, 0.001, 0.002, 0.003], "
        "position: [0.21, 0.13, 0.77]}\n"
        "joints:\n"
        "  hinge: {type: revolute, between: [ground, light], at: [0, 0, 0], axis: [0.3, 0.5, 1]}\n"
        "  turn: {type: revolute, between: [light, between], at: [0.12, 0.2, 0.4], axis: [1, 0, "
        "0], "
        "motion: {q0: {type: constant, value: 0}}}\n"
        "  ball: {type: spherical, between: [between, heavy], at: [0.21, 0.35, 0.7]}\n");
    lw_error error;
    lwi_work *work;
    lwi_snapshot m;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_work_create(model, &lwi_formulation_aba, NULL, &work, &error), LW_OK);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    double *x = lwt_reals(work->layout.nx);
    lwi_snapshot_start(model, &m);
    assert_int_equal(work->formulation->enter(work, &m, x), LW_OK);
    assert_int_equal(work->formulation->observe(work, 0, x, NULL, LW_OBSERVE_ACCELERATION, &m),
                     LW_ERR_SINGULAR);
    assert_non_null(strstr(work->error.text, "'hinge': nothing resists its speed"));
    free(x);
    lwi_work_destroy(work);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_are_derivatives_of_velocities),
        cmocka_unit_test(energy_rate_is_power),
        cmocka_unit_test(bodies_are_in_balance),
        cmocka_unit_test(reactions_leave_free_speeds_alone),
        cmocka_unit_test(free_body_obeys_euler),
        cmocka_unit_test(pendulum_obeys_its_equation),
        cmocka_unit_test(massless_bodies_need_something_to_carry),
        cmocka_unit_test(round_off_passes_driven_joints),
        cmocka_unit_test(states_must_be_finite),
        cmocka_unit_test(loops_are_refused),
        cmocka_unit_test(evaluation_has_no_memory),
        cmocka_unit_test(hinges_change_no_bit),
        cmocka_unit_test(kernels_of_hinges_leave_failures),
        cmocka_unit_test(a_fixed_body_has_no_speed),
        cmocka_unit_test(creation_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
