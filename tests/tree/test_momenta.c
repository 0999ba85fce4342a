// test_momenta.c -- properties of the momentum recursion on random trees of all joint types.
#include "kinematics/formulation.h"
#include "tree/momenta.h"
#include "support/random_model.h"

#include <linkwork/dynamics.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void ok(lw_status status, uint64_t seed, const char *what)
{
    if (status != LW_OK) fail_msg("seed %d: %s: %s", (int)seed, what, lw_status_text(status));
}

static double largest(const double *a, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(a[i]));
    return max;
}

// Largest difference, relative to the largest entry of `want` and at least to one unit.
static double apart(const double *got, const double *want, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(got[i] - want[i]));
    for (int i = 0; i < n; i++)
        if (!isfinite(got[i])) return INFINITY;
    return max / (1 + largest(want, n));
}

static void near(double error, double tolerance, uint64_t seed, const char *what)
{
    if (!(error <= tolerance))
        fail_msg("seed %d: %s: %.2e, expected at most %.2e", (int)seed, what, error, tolerance);
}

// ------------------------------------------------------------------------------- a model at work

typedef struct setup {
    uint64_t seed;
    lw_model *model;
    lw_dynamics *dynamics;
    lwi_arena arena;
    int nq, nv;
    double t, input;
    double *q, *v, *p; // at the start
} setup;

static double *array(setup *s, int n)
{
    double *a = LWI_PUSH(&s->arena, double, n);
    assert_non_null(a);
    return a;
}

static void begin(setup *s, uint64_t seed, int nbody, unsigned flags)
{
    *s = (setup){.seed = seed, .t = 0.4, .input = 0.7};
    lwi_arena_init(&s->arena, NULL);
    ok(lwt_random_tree(seed, nbody, flags, &s->model), seed, "lwt_random_tree");
    ok(lw_dynamics_create(s->model, NULL, &s->dynamics, NULL), seed, "lw_dynamics_create");
    s->nq = lw_model_tree_nq(s->model);
    s->nv = lw_model_tree_nv(s->model);
    s->q = array(s, s->nq), s->v = array(s, s->nv), s->p = array(s, s->nv);
    lw_model_tree_start(s->model, s->q, s->v);
    ok(lw_momenta(s->dynamics, s->t, s->q, s->v, s->p), seed, "lw_momenta");
}

static void finish(setup *s)
{
    lw_dynamics_destroy(s->dynamics);
    lw_model_destroy(s->model);
    lwi_arena_free(&s->arena);
}

// Bodies of the seed-th model: many small ones, some of the largest size.
static int size_of(uint64_t seed)
{
    return 1 + (int)(seed * 37 % (seed % 5 == 0 ? 64 : 12));
}

// Condition number of the mass matrix, by its inverse, in the largest row sums.
static double condition(setup *s)
{
    const int n = s->nv;
    double *M = array(s, n * n), *A = array(s, n * n), *e = array(s, n), norm = 0, inverse = 0;
    ok(lw_mass_matrix(s->dynamics, s->t, s->q, M), s->seed, "lw_mass_matrix");
    memcpy(A, M, (size_t)(n * n) * sizeof *A);
    for (int j = 0; j < n; j++) { // A = L L'
        for (int k = 0; k < j; k++)
            for (int i = j; i < n; i++) A[i * n + j] -= A[i * n + k] * A[j * n + k];
        const double d = sqrt(A[j * n + j]);
        for (int i = j; i < n; i++) A[i * n + j] /= d;
    }
    for (int k = 0; k < n; k++) {
        double row = 0, column = 0;
        for (int j = 0; j < n; j++) row += fabs(M[k * n + j]), e[j] = j == k;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) e[i] -= A[i * n + j] * e[j];
            e[i] /= A[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int j = i + 1; j < n; j++) e[i] -= A[j * n + i] * e[j];
            e[i] /= A[i * n + i];
        }
        for (int j = 0; j < n; j++) column += fabs(e[j]);
        norm = fmax(norm, row), inverse = fmax(inverse, column);
    }
    return fmax(1, norm * inverse);
}

// --------------------------------------------------------------------------------- momenta, speeds

// p = M(q) v if nothing is driven: both recursions from the same definition.
static void momenta_are_mass_matrix_times_speeds(void **state)
{
    (void)state;
    const unsigned flags = LWT_ALL & ~(unsigned)(LWT_DRIVES | LWT_MOUNTS);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        setup s;
        begin(&s, seed, size_of(seed), flags);
        double *M = array(&s, s.nv * s.nv), *p = array(&s, s.nv);
        ok(lw_mass_matrix(s.dynamics, s.t, s.q, M), seed, "lw_mass_matrix");
        for (int i = 0; i < s.nv; i++)
            for (int j = 0; j < s.nv; j++) p[i] += M[i * s.nv + j] * s.v[j];
        near(apart(s.p, p, s.nv), 1e-13, seed, "p - M v");
        finish(&s);
    }
}

// v(p(v)) = v: the inward and outward sweeps invert the mass matrix; error ~ its condition.
static void speeds_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        setup s;
        begin(&s, seed, size_of(seed), LWT_ALL);
        double *v = array(&s, s.nv), *qdot = array(&s, s.nq), *pdot = array(&s, s.nv);
        ok(lw_momenta_rates(s.dynamics, s.t, s.q, s.p, NULL, &s.input, v, qdot, pdot), seed,
           "lw_momenta_rates");
        near(apart(v, s.v, s.nv), 4 * DBL_EPSILON * condition(&s), seed, "v(p(v)) - v");
        finish(&s);
    }
}

// ------------------------------------------------------------------------------------------- rates

// (p at the state moved by e along the motion) - (the same by -e), over 2 e.
static void slope(setup *s, const double *qdot, const double *vdot, double e, double *pdot)
{
    double *q = array(s, s->nq), *v = array(s, s->nv), *ahead = array(s, s->nv),
           *behind = array(s, s->nv);
    for (int side = 1; side >= -1; side -= 2) {
        for (int i = 0; i < s->nq; i++) q[i] = s->q[i] + side * e * qdot[i];
        for (int i = 0; i < s->nv; i++) v[i] = s->v[i] + side * e * vdot[i];
        ok(lw_momenta(s->dynamics, s->t + side * e, q, v, side > 0 ? ahead : behind), s->seed,
           "lw_momenta");
    }
    for (int i = 0; i < s->nv; i++) pdot[i] = (ahead[i] - behind[i]) / (2 * e);
}

// pdot is the derivative of p(t, q, v) along the motion of the accelerations: the recursion of the momenta against
// another one, with drives, mounts, forces, inputs and efforts.
static void rates_are_derivatives_of_momenta(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        setup s;
        begin(&s, seed, size_of(seed), LWT_ALL);
        double *v = array(&s, s.nv), *qdot = array(&s, s.nq), *pdot = array(&s, s.nv);
        double *vdot = array(&s, s.nv), *tau = array(&s, s.nv);
        double *once = array(&s, s.nv), *twice = array(&s, s.nv);
        uint64_t sequence = seed;
        for (int i = 0; i < s.nv; i++) tau[i] = lwt_random(&sequence, -1, 1);
        ok(lw_momenta_rates(s.dynamics, s.t, s.q, s.p, tau, &s.input, v, qdot, pdot), seed,
           "lw_momenta_rates");
        ok(lw_forward_dynamics(s.dynamics, s.t, s.q, s.v, tau, &s.input, vdot), seed,
           "lw_forward_dynamics");
        // the step follows the time scale of the state; Richardson: error of order step^4
        const double step = 1e-3 / fmax(1, fmax(largest(qdot, s.nq), largest(vdot, s.nv)));
        slope(&s, qdot, vdot, step, once);
        slope(&s, qdot, vdot, 2 * step, twice);
        for (int i = 0; i < s.nv; i++) once[i] += (once[i] - twice[i]) / 3;
        const double rounding = 1e-15 * (1 + largest(s.p, s.nv)) / step / (1 + largest(pdot, s.nv));
        near(apart(once, pdot, s.nv), 1e-9 + 10 * rounding, seed, "pdot - dp/dt");
        finish(&s);
    }
}

// ------------------------------------------------------------------------------------- formulation

typedef struct pair {
    lwi_work *work;
    lwi_snapshot snapshot;
    double *x, *xdot;
} pair;

static void enter(setup *s, const lwi_formulation *formulation, pair *p)
{
    ok(lwi_work_create(s->model, formulation, NULL, &p->work, NULL), s->seed, "lwi_work_create");
    ok(lwi_snapshot_create(s->model, &s->arena, &p->snapshot), s->seed, "lwi_snapshot_create");
    p->x = array(s, p->work->layout.nx);
    p->xdot = array(s, p->work->layout.nx);
    lwi_snapshot_start(s->model, &p->snapshot);
    ok(formulation->enter(p->work, &p->snapshot, p->x), s->seed, "enter");
}

static void observe(setup *s, pair *p, double t, const double *x, lw_observe level)
{
    ok(p->work->formulation->observe(p->work, t, x, &s->input, level, &p->snapshot), s->seed,
       "observe");
}

// The start of random trees by `momenta` and by `other`: velocities, accelerations, reactions.
// Both solve with the mass matrix, so they may differ by its condition, `dense` also by that of the
// equations in absolute coordinates.
static void compare_with(const lwi_formulation *other, uint64_t count, int largest_tree,
                         double epsilons)
{
    for (uint64_t seed = 1; seed <= count; seed++) {
        setup s;
        const int nbody = size_of(seed);
        begin(&s, seed, nbody < largest_tree ? nbody : largest_tree, LWT_ALL);
        pair m, o;
        enter(&s, &lwi_formulation_momenta, &m);
        enter(&s, other, &o);
        observe(&s, &m, 0, m.x, LW_OBSERVE_REACTION);
        observe(&s, &o, 0, o.x, LW_OBSERVE_REACTION);
        const double tolerance = epsilons * DBL_EPSILON * condition(&s);
        const int nj = s.model->njoint, nv = s.model->nv;
        for (int b = 1; b < s.model->nbody; b++) {
            if (s.model->body[b].carrier != b) continue;
            near(apart(m.snapshot.r[b], o.snapshot.r[b], 3), 1e-14 * nbody, seed, "position");
            near(apart(m.snapshot.v[b], o.snapshot.v[b], 3), tolerance, seed, "velocity");
            near(apart(m.snapshot.a[b], o.snapshot.a[b], 3), tolerance, seed, "acceleration");
            near(apart(m.snapshot.al[b], o.snapshot.al[b], 3), tolerance, seed, "angular");
        }
        near(apart(m.snapshot.qd, o.snapshot.qd, nv), tolerance, seed, "qd");
        near(apart(m.snapshot.qdd, o.snapshot.qdd, nv), tolerance, seed, "qdd");
        if (nj > 0)
            near(apart(m.snapshot.reaction[0], o.snapshot.reaction[0], 6 * nj), tolerance, seed,
                 "reaction");
        lwi_work_destroy(m.work);
        lwi_work_destroy(o.work);
        finish(&s);
    }
}

static void accelerations_and_reactions_agree_with_aba(void **state)
{
    (void)state;
    compare_with(&lwi_formulation_aba, 200, 64, 8);
}

// No common code above the joints: bodies, constraint rows and a dense solve.
static void accelerations_and_reactions_agree_with_dense(void **state)
{
    (void)state;
    compare_with(&lwi_formulation_dense, 100, 16, 64);
}

// The wrench F = M' a + b' of the outward vector pass is that of Newton-Euler.
static void transmitted_wrenches_balance_the_bodies(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        setup s;
        begin(&s, seed, size_of(seed), LWT_ALL);
        lwi_tree_work tree;
        lwi_momenta m;
        double *v = array(&s, s.nv), *vdot = array(&s, s.nv), *F = array(&s, 6 * s.model->nnode);
        ok(lwi_tree_work_create(s.model, &s.arena, &tree), seed, "lwi_tree_work_create");
        ok(lwi_momenta_create(s.model, &s.arena, &m), seed, "lwi_momenta_create");
        lwi_tree_position(s.model, s.t, s.q, tree.link);
        ok(lwi_momenta_speeds(s.model, &m, &tree, s.t, s.p, v, NULL), seed, "speeds");
        lwi_tree_evaluate(s.model, &tree, s.t, s.q, v, &s.input);
        lwi_momenta_accelerations(s.model, &m, &tree, v, NULL, vdot);
        const int n = 6 * s.model->nnode;
        memcpy(F, tree.F, (size_t)n * sizeof *F);
        lwi_tree_newton_euler(s.model, &tree, v, vdot);
        near(apart(F, tree.F[0], n), 4 * DBL_EPSILON * condition(&s), seed, "F");
        finish(&s);
    }
}

// Kinetic and potential energy of a state, less the work.
static double energy_less_work(setup *s, pair *p, double t, const double *x)
{
    observe(s, p, t, x, LW_OBSERVE_TWIST);
    const lwi_snapshot *o = &p->snapshot;
    double E = 0;
    for (int b = 1; b < s->model->nbody; b++) {
        const lwi_body *body = &s->model->body[b];
        if (body->carrier != b) continue;
        double h[3];
        s3_mul_v(h, body->inertia, o->w[b]);
        E += 0.5 * (body->mass * v3_dot(o->v[b], o->v[b]) + v3_dot(h, o->w[b]));
    }
    // rigidly merged bodies carry no mass, but springs may be fixed to them
    const int nb = s->model->nbody;
    for (int b = 1; b < nb; b++) {
        const lwi_body *body = &s->model->body[b];
        if (body->carrier == b) continue;
        m3_mul(o->R[b], o->R[body->carrier], body->carrier_R);
        m3_mul_v(o->r[b], o->R[body->carrier], body->carrier_r);
        v3_add(o->r[b], o->r[b], o->r[body->carrier]);
    }
    const lwi_kin kin = {
        .R = (const double(*)[9])o->R, .r = (const double(*)[3])o->r, .q = o->q, .qd = o->qd};
    return E + lwi_forces_potential(s->model, &kin) - o->work;
}

// d(T + V - W)/dt = 0: dampers, signals, wrenches, drives and mounts account for all energy.
static void work_accounts_for_energy(void **state)
{
    (void)state;
    int driven = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        setup s;
        begin(&s, seed, size_of(seed), LWT_ALL);
        pair m;
        enter(&s, &lwi_formulation_momenta, &m);
        const int nx = m.work->layout.nx;
        double *x = array(&s, nx), slopes[2], size = 0;
        ok(m.work->formulation->rates(m.work, 0, m.x, &s.input, m.xdot), seed, "rates");
        const double step = 1e-3 / fmax(1, largest(m.xdot, s.nq + s.nv));
        for (int k = 0; k < 2; k++) {
            const double e = (k + 1) * step;
            double E[2];
            for (int side = 0; side < 2; side++) {
                for (int i = 0; i < nx; i++) x[i] = m.x[i] + (side ? e : -e) * m.xdot[i];
                E[side] = energy_less_work(&s, &m, side ? e : -e, x);
            }
            slopes[k] = (E[1] - E[0]) / (2 * e);
            size = fmax(size, fabs(E[0]));
        }
        const double power = s.model->carries_work ? m.xdot[nx - 1] : 0;
        const double rate = slopes[0] + (slopes[0] - slopes[1]) / 3;
        near(fabs(rate) / (1 + fabs(power)), 1e-8 + 1e-14 * size / step, seed, "d(E - W)/dt");
        driven += s.model->driven;
        lwi_work_destroy(m.work);
        finish(&s);
    }
    assert_true(driven > 50);
}

// The rates of the momenta need velocities of drives and mounts, not their accelerations.
static void rates_read_no_accelerations_of_drives(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        setup s;
        begin(&s, seed, 8, LWT_ALL & ~(unsigned)LWT_FORCES);
        lwi_tree_work tree;
        lwi_momenta m;
        double *v = array(&s, s.nv), *own = array(&s, s.nv), *pdot = array(&s, s.nv);
        ok(lwi_tree_work_create(s.model, &s.arena, &tree), seed, "lwi_tree_work_create");
        ok(lwi_momenta_create(s.model, &s.arena, &m), seed, "lwi_momenta_create");
        lwi_tree_position(s.model, s.t, s.q, tree.link);
        ok(lwi_momenta_speeds(s.model, &m, &tree, s.t, s.p, v, NULL), seed, "speeds");
        lwi_tree_rates(s.model, s.t, v, tree.link);
        lwi_momenta_rates(s.model, &m, &tree, NULL, pdot);
        for (int k = 0; k < s.model->nnode; k++) {
            for (int i = 0; i < 6; i++) tree.link[k].sigma_dot[i] = NAN;
            for (int i = 0; i < LW_JOINT_MAX_NV; i++) tree.link[k].drive[i][2] = NAN;
        }
        lwi_momenta_rates(s.model, &m, &tree, NULL, own);
        assert_memory_equal(own, pdot, (size_t)s.nv * sizeof *own);
        finish(&s);
    }
}

// A second evaluation, after another one, gives the same bits: evaluations store nothing.
static void evaluations_leave_no_trace(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        setup s;
        begin(&s, seed, 20, LWT_ALL);
        pair m;
        enter(&s, &lwi_formulation_momenta, &m);
        const int nx = m.work->layout.nx;
        double *other = array(&s, nx), *again = array(&s, nx);
        for (int i = 0; i < nx; i++) other[i] = 1.01 * m.x[i] + 0.01;
        ok(m.work->formulation->rates(m.work, 0, m.x, &s.input, m.xdot), seed, "rates");
        ok(m.work->formulation->rates(m.work, 9, other, &s.input, again), seed, "rates");
        observe(&s, &m, 3, other, LW_OBSERVE_REACTION);
        ok(m.work->formulation->rates(m.work, 0, m.x, &s.input, again), seed, "rates");
        assert_memory_equal(again, m.xdot, (size_t)nx * sizeof *again);
        lwi_work_destroy(m.work);
        finish(&s);
    }
}

// ------------------------------------------------------------------------------------------ memory

static void *counted(void *user, size_t bytes)
{
    int *left = user;
    if (*left == 0) return NULL;
    --*left;
    return malloc(bytes);
}

static void released(void *user, void *block)
{
    (void)user;
    free(block);
}

// Creation fails cleanly at every allocation; afterwards nothing allocates.
static void only_creation_allocates(void **state)
{
    (void)state;
    setup s;
    begin(&s, 3, 10, LWT_ALL);
    int left = 0, needed = 0;
    const lw_allocator allocator = {counted, released, &left};
    lwi_work *work = NULL;
    for (;; needed++) {
        left = needed;
        const lw_status status =
            lwi_work_create(s.model, &lwi_formulation_momenta, &allocator, &work, NULL);
        if (status == LW_OK) break;
        assert_int_equal(status, LW_ERR_MEMORY);
        assert_true(needed < 1000);
    }
    assert_int_equal(left, 0); // from here on every allocation would fail
    lwi_snapshot snapshot;
    ok(lwi_snapshot_create(s.model, &s.arena, &snapshot), s.seed, "lwi_snapshot_create");
    lwi_snapshot_start(s.model, &snapshot);
    double *x = array(&s, work->layout.nx), *y = array(&s, work->layout.nx);
    const lwi_formulation *f = work->formulation;
    ok(f->enter(work, &snapshot, x), s.seed, "enter");
    ok(f->rates(work, 0, x, &s.input, y), s.seed, "rates");
    ok(f->observe(work, 0, x, &s.input, LW_OBSERVE_REACTION, &snapshot), s.seed, "observe");
    ok(f->scale(work, 0, x, y), s.seed, "scale");
    lwi_work_destroy(work);
    finish(&s);
}

// ------------------------------------------------------------------------------------------ chains

typedef struct rod {
    double mass, length, axial, transverse;
} rod;

// A chain of rods along -z, each on the tip of the one before, with joints of `type`.
static lw_model *chain(int n, lw_joint_type type, rod r, double turn, uint64_t seed)
{
    lw_builder *b;
    lw_model *model = NULL;
    lw_error error = {0};
    lw_body previous = {0};
    ok(lw_builder_create(NULL, &b), seed, "lw_builder_create");
    for (int k = 0; k < n; k++) {
        const lw_body_desc body = {.mass = r.mass,
                                   .com = {0, 0, -r.length / 2},
                                   .inertia = {r.transverse, r.transverse, r.axial}};
        lw_body added;
        lw_joint joint;
        lw_joint_desc d = {.type = type,
                           .body1 = previous,
                           .placement = LW_PLACED_FRAMES,
                           .frame1 = {{0, 0, k ? -r.length : 0}, {1, 0, 0, 0}},
                           .has_q = 1,
                           .has_qd = 1};
        // z1 of every second joint is along x, of the others along y
        const double half = k % 2 ? 0.5 : -0.5;
        d.frame1.orientation = d.frame2.orientation = (lw_quat){0.5, half, half, half};
        for (int i = 0; i < LW_JOINT_MAX_NV; i++)
            d.q[i] = lwt_random(&seed, -turn, turn), d.qd[i] = lwt_random(&seed, -1, 1);
        if (type == LW_JOINT_SPHERICAL) { // a unit quaternion near the identity
            d.q[0] = 1;
            const double size = sqrt(1 + d.q[1] * d.q[1] + d.q[2] * d.q[2] + d.q[3] * d.q[3]);
            for (int i = 0; i < 4; i++) d.q[i] /= size;
        }
        ok(lw_builder_add_body(b, &body, &added, &error), seed, "body");
        d.body2 = previous = added;
        ok(lw_builder_add_joint(b, &d, &joint, &error), 0, error.text);
    }
    if (lw_model_create(b, &model, &error) != LW_OK) fail_msg("%s", error.text);
    lw_builder_destroy(b);
    return model;
}

static double lost_in_speeds(lw_model *model)
{
    setup s = {.model = model};
    lwi_arena_init(&s.arena, NULL);
    ok(lw_dynamics_create(model, NULL, &s.dynamics, NULL), 0, "lw_dynamics_create");
    s.nq = lw_model_tree_nq(model), s.nv = lw_model_tree_nv(model);
    double *q = array(&s, s.nq), *v = array(&s, s.nv), *p = array(&s, s.nv);
    double *back = array(&s, s.nv), *qdot = array(&s, s.nq), *pdot = array(&s, s.nv);
    lw_model_tree_start(model, q, v);
    ok(lw_momenta(s.dynamics, 0, q, v, p), 0, "lw_momenta");
    ok(lw_momenta_rates(s.dynamics, 0, q, p, NULL, NULL, back, qdot, pdot), 0, "lw_momenta_rates");
    const double lost = apart(back, v, s.nv);
    finish(&s);
    return lost;
}

// Chains of many joints with alternating axes lose the digits of the conditioning only: an articulated inertia
// that is not kept symmetric loses all digits over 50 universal joints.
static void long_chains_keep_their_digits(void **state)
{
    (void)state;
    const rod stout = {1, 0.3, 0.02, 0.03};
    const rod slender = {0.5, 0.5, 0.002, 0.0104};
    const struct {
        const char *what;
        int n;
        lw_joint_type type;
        rod rod;
        double limit;
    } chains[] = {
        {"3 revolute", 3, LW_JOINT_REVOLUTE, stout, 1e-14},
        {"10 revolute", 10, LW_JOINT_REVOLUTE, stout, 1e-13},
        {"30 revolute", 30, LW_JOINT_REVOLUTE, stout, 3e-12},
        {"100 revolute", 100, LW_JOINT_REVOLUTE, stout, 6e-11},
        {"64 universal", 64, LW_JOINT_UNIVERSAL, stout, 1e-10},
        {"16 spherical", 16, LW_JOINT_SPHERICAL, slender, 1e-11},
    };
    for (int i = 0; i < LWI_COUNT(chains); i++) {
        const double lost =
            lost_in_speeds(chain(chains[i].n, chains[i].type, chains[i].rod, 0.5, 1));
        print_message("%s: speeds are off by %.0e\n", chains[i].what, lost);
        near(lost, chains[i].limit, 1, chains[i].what);
    }
}

// The tolerance of a momentum grows with the inertia along its joint: for the joint next to the ground that is
// 1 / (M^-1)_11, for a single body S' I S.
static void scales_are_the_inertias_of_the_joints(void **state)
{
    (void)state;
    const rod r = {1.5, 0.6, 0.01, 0.05};
    lw_model *model = chain(2, LW_JOINT_REVOLUTE, r, 1, 5);
    lw_dynamics *dynamics;
    lwi_work *work;
    double x[4], factor[4], q[2], v[2], M[4];
    ok(lwi_work_create(model, &lwi_formulation_momenta, NULL, &work, NULL), 5, "lwi_work_create");
    ok(lw_dynamics_create(model, NULL, &dynamics, NULL), 5, "lw_dynamics_create");
    lw_model_tree_start(model, q, v);
    ok(lw_mass_matrix(dynamics, 0, q, M), 5, "lw_mass_matrix");
    x[0] = q[0], x[1] = q[1];
    ok(lw_momenta(dynamics, 0, q, v, x + 2), 5, "lw_momenta");
    ok(work->formulation->scale(work, 0, x, factor), 5, "scale");
    const double want[4] = {1, 1, M[0] - M[1] * M[2] / M[3], M[3]};
    near(apart(factor, want, 4), 1e-14, 5, "scale");
    near(fabs(M[3] - (r.transverse + r.mass * r.length * r.length / 4)), 1e-15, 5, "M22");
    lw_dynamics_destroy(dynamics);
    lwi_work_destroy(work);
    lw_model_destroy(model);
}

// Massless bodies may move if every joint has some inertia; else the error names the joint.
static void massless_bodies_move_with_bodies_attached_to_them(void **state)
{
    (void)state;
    for (int hanging = 1; hanging >= 0; hanging--) {
        lw_builder *b;
        lw_model *model = NULL;
        lw_error error = {0};
        lw_body link, load;
        lw_joint joint;
        ok(lw_builder_create(NULL, &b), 0, "lw_builder_create");
        ok(lw_builder_add_body(b, &(lw_body_desc){.name = "link"}, &link, &error), 0, "body");
        ok(lw_builder_add_body(
               b, &(lw_body_desc){.mass = 2, .com = {0, 0.3, 0}, .inertia = {0.1, 0.1, 0.1}}, &load,
               &error),
           0, "body");
        lw_joint_desc d = {.name = "first",
                           .type = LW_JOINT_REVOLUTE,
                           .body2 = hanging ? link : load,
                           .placement = LW_PLACED_FRAMES,
                           .has_q = 1,
                           .has_qd = 1,
                           .qd = {1}};
        ok(lw_builder_add_joint(b, &d, &joint, &error), 0, "joint");
        d.name = "second";
        d.body1 = d.body2;
        d.body2 = hanging ? load : link;
        d.frame1.orientation = d.frame2.orientation = (lw_quat){0.5, 0.5, 0.5, 0.5};
        ok(lw_builder_add_joint(b, &d, &joint, &error), 0, "joint");
        const lw_status status = lw_model_create(b, &model, &error);
        if (hanging) {
            ok(status, 0, error.text);
            near(lost_in_speeds(model), 1e-14, 0, "massless link");
        } else {
            assert_int_not_equal(status, LW_OK);
            assert_non_null(strstr(error.text, "second"));
        }
        lw_builder_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momenta_are_mass_matrix_times_speeds),
        cmocka_unit_test(speeds_come_back),
        cmocka_unit_test(rates_are_derivatives_of_momenta),
        cmocka_unit_test(accelerations_and_reactions_agree_with_aba),
        cmocka_unit_test(accelerations_and_reactions_agree_with_dense),
        cmocka_unit_test(transmitted_wrenches_balance_the_bodies),
        cmocka_unit_test(work_accounts_for_energy),
        cmocka_unit_test(rates_read_no_accelerations_of_drives),
        cmocka_unit_test(evaluations_leave_no_trace),
        cmocka_unit_test(only_creation_allocates),
        cmocka_unit_test(long_chains_keep_their_digits),
        cmocka_unit_test(scales_are_the_inertias_of_the_joints),
        cmocka_unit_test(massless_bodies_move_with_bodies_attached_to_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
