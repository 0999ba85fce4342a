// test_force_derivatives.c -- exact derivatives of forces and signals against differences of order six, at random states.
#include "dynamics/state_derivatives.h"
#include "kinematics/displacement.h"
#include "support/mechanism.h"
#include "support/random_model.h"
#include "tree/merge.h"

#include <linkwork/dynamics.h>
#include <linkwork/io.h>

enum { STATES = 12 };

// Every force between bodies and every kind of signal, on balls, a floating body, a universal joint and a body without
// a joint.
static const char tree_text[] =
    "linkwork: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "signals:\n"
    "  far: {type: formula, of: \"sin(arm.q0 - 2*slide.q0)*arm.qd0 + "
    "spring.S.length*spring.S.rate\"}\n"
    "  near: {type: formula, of: \"exp(-body.tip.x)*marker.eye.vz + 0.3*marker.eye.wy^2 + "
    "body.base.wx\"}\n"
    "  wide: {type: formula, of: \"hypot(far, distance(eye, foot)) + distance_rate(eye, foot)\"}\n"
    "  shape: {type: curve, of: body.tip.x, x: [-9, 9], y: [1, 2]}\n"
    "  sum: {type: integral, of: \"wide - 0.2*sum\"}\n"
    "  slow: {type: lag, of: \"near*ball.q1\", time: 0.3}\n"
    "  filter: {type: transfer, of: far, numerator: [0.5, 2, 1], denominator: [1, 3, 2]}\n"
    "  hold: {type: pid, reference: 0.4, measured: arm.q0, kp: 30, ki: 4, kd: 2, filter: 0.05}\n"
    "  held: {type: pid, reference: 0.1*t, measured: body.tip.z, measured_rate: body.tip.vz, kp: "
    "3, ki: 1,\n"
    "    kd: 0.5, range: [-50, 50]}\n"
    "bodies:\n"
    "  base: {mass: 2, com: [0.1, 0, 0.2], inertia: [0.3, 0.4, 0.5, 0.01, 0, 0], position: [0, 0, "
    "0]}\n"
    "  first: {mass: 1, inertia: [0.03, 0.02, 0.04, 0, 0, 0], position: [0.5, 0, 0.1]}\n"
    "  second: {mass: 1.5, com: [0, 0.1, 0], inertia: [0.03, 0.02, 0.04, 0, 0, 0], position: [1, "
    "0.2, 0.1]}\n"
    "  tip: {mass: 0.4, inertia: [0.003, 0.002, 0.004, 0, 0, 0], position: [1.4, 0.3, 0]}\n"
    "  rider: {mass: 0.2, inertia: [0.001, 0.002, 0.001, 0, 0, 0], position: [1.5, 0.4, 0.1]}\n"
    "  other: {mass: 1, inertia: [0.03, 0.02, 0.04, 0, 0, 0], position: [-0.5, 0, 0.3]}\n"
    "markers:\n"
    "  eye: {body: rider, position: [0.1, 0, 0.05], orientation: [0.8, 0, 0.6, 0]}\n"
    "  foot: {body: other, position: [0, 0.1, 0]}\n"
    "joints:\n"
    "  ball: {type: spherical, between: [base, first], at: [0.3, 0, 0.1]}\n"
    "  arm: {type: revolute, between: [first, second], at: [0.7, 0, 0.1], axis: [0, 1, 0.2], "
    "effort: {q0: hold},\n"
    "    friction: {q0: {coulomb: 0.3, viscous: 0.1, speed: 0.5}}}\n"
    "  cross: {type: universal, between: [second, tip], at: [1.2, 0.2, 0], axis: [1, 0, 0], axis2: "
    "[0, 1, 0]}\n"
    "  glue: {type: fixed, between: [tip, rider], at: [1.4, 0.3, 0]}\n"
    "  slide: {type: cylindrical, between: [base, other], at: [-0.3, 0, 0.2], axis: [1, 0, 1],\n"
    "    spring: {q0: {stiffness: 30, damping: 2}, q1: {stiffness: 3}}, effort: {q1: wide}}\n"
    "forces:\n"
    "  S: {type: spring, between: [other, rider], point1: [0, 0, 0.1], point2: [0.1, 0, 0], "
    "stiffness: 40,\n"
    "    damping: 3, length: 1.2, force: shape}\n"
    "  G: {type: spring, between: [ground, second], point1: [0, 0, 2], point2: [0, 0.1, 0], "
    "stiffness: 20, damping: 1}\n"
    "  B: {type: bushing, between: [first, rider], at: [0.9, 0.1, 0], stiffness: [30, 20, 10, 3, "
    "2, 1],\n"
    "    damping: [1, 2, 3, 0.3, 0.2, 0.1]}\n"
    "  W: {type: wrench, body: tip, point: [0.1, 0.2, 0], force: [1, 2, 3], torque: [0.3, 0.1, "
    "-0.2],\n"
    "    force_of: [far, near, sum], torque_of: [filter, hold, slow], scale: {type: sine, "
    "amplitude: 2, omega: 3}}\n"
    "  V: {type: wrench, body: second, point: [0.1, 0, 0.3], force: [1, -2, 3], torque_of: [near, "
    "held, wide],\n"
    "    axes: body}\n"
    "  D: {type: drag, body: tip, point: [0, 0.1, 0], linear: 0.3, quadratic: 0.2, angular: 0.1,\n"
    "    angular_quadratic: 0.05, flow: [1, 0, 0]}\n"
    "  P: {type: stop, between: [rider, ground], point1: [0.05, 0, 0], radius: 3, normal: [0, 0.6, "
    "0.8],\n"
    "    stiffness: 50, exponent: 1.5, dissipation: 0.2}\n"
    "  C: {type: stop, between: [tip, other], point1: [0.05, 0, 0], radius: 2, radius2: 2, "
    "stiffness: 20,\n"
    "    exponent: 1.5, dissipation: 0.1}\n"
    "  hand: {type: servo, joint: arm, target: far, rate: near, kp: 20, kd: 2, gain: [1, 0.3, "
    "0.2], "
    "bias: [0.1, -0.4, -0.2],\n"
    "    gear: 1.5}\n"
    "  both: {type: servo, of: [{joint: arm, factor: 2}, {joint: slide, coordinate: q1, factor: "
    "-0.5}], "
    "target: wide, kp: 12,\n"
    "    kd: 1, lag: 0.1}\n"
    "  weak: {type: servo, joint: cross, coordinate: q1, target: near, kp: 90, kd: 2, stall: 3, "
    "no_load: 4}\n"
    "  most: {type: servo, joint: cross, target: far, kp: 900, effort_range: [-2, 1], "
    "target_range: "
    "[-0.1, 0.3]}\n"
    "  near: {type: servo, joint: cross, target: far, kp: 9, target_range: [-0.1, 0.3]}\n"
    "  slow: {type: servo, joint: arm, target: far, kp: 20, lag: 0.1, effort_rate: 2}\n"
    "  rope: {type: tendon, stiffness: 30, damping: 2, coulomb: 0.4, speed: 0.7, length: 0.4, "
    "target: near, "
    "gain: [3, 0.2, 0.1],\n"
    "    gear: 0.8, path: [{point: [0, 0.3, 1]}, {body: first, point: [0, 0.1, 0.2]}, {body: base, "
    "radius: 0.2,\n"
    "    point: [0.3, 0, 0.1]}, {body: rider, point: [0.05, 0, 0]}, {pulley: 2}, {body: other, "
    "point: [0, 0, 0.1]},\n"
    "    {body: second, radius: 0.3, axis: [0.2, 1, 0.1], point: [0, 0, -0.1]}, {body: tip, point: "
    "[0, 0.2, 0]}]}\n"
    "  far: {type: tendon, stiffness: 9, length: 1, path: [{point: [0.153, -1.686, 0]}, "
    "{radius: 0.3, axis: [0, 0, 1],\n"
    "    point: [0, -2, 0], side: [-0.1, -3, 0]}, {body: other, point: [0, 0.1, 0]}]}\n"
    "  wound: {type: tendon, damping: 3, kp: 9, path: [{body: other, point: [-0.1, 0, 0.1]}, "
    "{body: first, radius: 0.3, "
    "side: [0, 0, 2]},\n"
    "    {body: tip, point: [0.2, 0.1, 0]}, {body: tip, point: [0.2, 0, 0.3]}, {body: base, "
    "radius: 0.35, axis: [0, 1, 0],\n"
    "    side: [0, 0, -3]}, {body: ground, point: [-0.6, 0, 0.1]}]}\n";

// A four-bar, with a coupling to a flywheel.
static const char loop_text[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "signals:\n"
    "  drive: {type: formula, of: \"-3*(A.q0 - D.q0) - 0.1*A.qd0*body.coupler.y\"}\n"
    "bodies:\n"
    "  crank: {mass: 0.4, inertia: [0, 0.01, 0.01, 0, 0, 0], position: [0, 0.2, 0]}\n"
    "  coupler: {mass: 1, inertia: [0, 0.08, 0.08, 0, 0, 0], position: [0.5, 0.55, 0]}\n"
    "  rocker: {mass: 1, inertia: [0.08, 0, 0.08, 0, 0, 0], position: [1, 0.35, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: "
    "drive}}\n"
    "  B: {type: revolute, between: [crank, coupler], at: [0, 0.4, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [coupler, rocker], at: [1, 0.7, 0], axis: [0, 0, 1], cut: "
    "always}\n"
    "  D: {type: revolute, between: [ground, rocker], at: [1, 0, 0], axis: [0, 0, 1]}\n"
    "forces:\n"
    "  S: {type: spring, between: [crank, rocker], point1: [0, 0.1, 0.1], point2: [0, 0, 0], "
    "stiffness: 40, damping: 3}\n"
    "  B: {type: bushing, between: [ground, coupler], at: [0.5, 0.5, 0], stiffness: [30, 20, 10, "
    "3, 2, 1]}\n"
    "  M: {type: servo, joint: A, target: drive, kp: 3, kd: 0.2}\n"
    "  T: {type: tendon, stiffness: 12, length: 0.1, damping: 0.4, path: [{body: crank, point: [0, "
    "0.1, 0.1]}, "
    "{body: coupler},\n"
    "    {body: rocker, point: [0, 0.1, 0]}]}\n";

static lw_model *parse(const char *text)
{
    lw_error error;
    lw_options options;
    lw_model *model = NULL;
    lwt_ok(lw_model_parse(text, strlen(text), "model.yaml", &(lw_read_desc){.format = "yaml"},
                          &model, &options, &error),
           &error);
    return model;
}

/** Derivatives at a state, by one way. */
typedef struct matrices {
    double *by_q, *by_v, *M, *force_by_z, *rate_by_q, *rate_by_v, *rate_by_z;
} matrices;

typedef struct bench {
    const lw_model *model;
    lwi_arena arena;
    lwi_state_derivatives d;
    lwi_tree_work work;
    double *q, *v, *vdot, *z, *zdot, *inputs, *increment;
    const unsigned char *mode;
    lwi_states states;
    matrices exact, differences;
} bench;

static double *numbers(bench *b, int n)
{
    double *x = LWI_PUSH(&b->arena, double, n);
    assert_non_null(x);
    return x;
}

static matrices make_matrices(bench *b)
{
    const int n = b->model->tree_nv, nz = b->model->nstate;
    return (matrices){numbers(b, n * n),  numbers(b, n * n),  numbers(b, n * n),
                      numbers(b, n * nz), numbers(b, nz * n), numbers(b, nz * n),
                      numbers(b, nz * nz)};
}

static void bench_create(bench *b, const lw_model *model)
{
    lw_error error;
    *b = (bench){.model = model};
    lwi_arena_init(&b->arena, NULL);
    lwt_ok(lwi_state_derivatives_create(model, &b->arena, &b->d, &error), &error);
    assert_int_equal(lwi_state_derivatives_add_signals(model, &b->arena, &b->d), LW_OK);
    assert_int_equal(lwi_tree_work_create(model, &b->arena, &b->work), LW_OK);
    b->d.along_run = true;
    b->q = numbers(b, model->tree_nq);
    b->v = numbers(b, model->tree_nv);
    b->vdot = numbers(b, model->tree_nv);
    b->increment = numbers(b, model->tree_nv);
    b->z = numbers(b, model->nstate);
    b->zdot = numbers(b, model->nstate);
    b->inputs = numbers(b, model->desc.ninput);
    b->exact = make_matrices(b);
    b->differences = make_matrices(b);
    unsigned char *mode = LWI_PUSH(&b->arena, unsigned char, model->nmode);
    memset(mode, 1, (size_t)model->nmode); // in contact
    b->mode = mode;
    b->states = (lwi_states){b->z, b->zdot};
    b->work.mode = &b->mode;
    b->work.states = &b->states;
}

static void evaluate(bench *b, bool exact, matrices *m)
{
    const lw_model *model = b->model;
    lwi_state_derivatives *d = &b->d;
    const size_t n = (size_t)model->tree_nv, nz = (size_t)model->nstate;
    assert_true(d->forces.exact);
    d->forces.exact = exact;
    lwi_inverse_derivatives(model, d, &b->work, 0.3, b->q, b->v, b->vdot, b->inputs, m->by_q,
                            m->by_v, m->M);
    d->forces.exact = true;
    if (nz == 0) return;
    memcpy(m->force_by_z, d->force_by_z, n * nz * sizeof(double));
    memcpy(m->rate_by_q, d->rate_by_q, n * nz * sizeof(double));
    memcpy(m->rate_by_v, d->rate_by_v, n * nz * sizeof(double));
    memcpy(m->rate_by_z, d->rate_by_z, nz * nz * sizeof(double));
}

static double largest(const double *x, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

static void compare(const char *what, const double *a, const double *b, int n)
{
    const double size = 1 + largest(b, n);
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 2e-9 * size))
            fail_msg("%s[%d]: %.15g, by differences %.15g", what, i, a[i], b[i]);
}

static void random_state(bench *b, uint64_t *seed)
{
    const lw_model *model = b->model;
    memcpy(b->q, model->tree_q0, (size_t)model->tree_nq * sizeof *b->q);
    for (int i = 0; i < model->tree_nv; i++) {
        b->increment[i] = lwt_random(seed, -0.4, 0.4);
        b->v[i] = lwt_random(seed, -1, 1);
        b->vdot[i] = lwt_random(seed, -2, 2);
    }
    for (int i = 0; i < model->nstate; i++) b->z[i] = lwt_random(seed, -1, 1);
    lwi_displace(model, b->q, b->increment);
}

static void compare_all(const char *text)
{
    uint64_t seed = 20;
    lw_model *model = parse(text);
    const int n = model->tree_nv, nz = model->nstate;
    bench b;
    bench_create(&b, model);
    for (int i = 0; i < STATES; i++) {
        random_state(&b, &seed);
        evaluate(&b, true, &b.exact);
        evaluate(&b, false, &b.differences);
        compare("by q", b.exact.by_q, b.differences.by_q, n * n);
        compare("by v", b.exact.by_v, b.differences.by_v, n * n);
        compare("force by state", b.exact.force_by_z, b.differences.force_by_z, n * nz);
        compare("rate by q", b.exact.rate_by_q, b.differences.rate_by_q, nz * n);
        compare("rate by v", b.exact.rate_by_v, b.differences.rate_by_v, nz * n);
        compare("rate by state", b.exact.rate_by_z, b.differences.rate_by_z, nz * nz);
    }
    lwi_arena_free(&b.arena);
    lw_model_destroy(model);
}

// u'ID - w'g by products, against those of the matrices.
static void compare_products(bench *b, uint64_t *seed)
{
    const lw_model *model = b->model;
    const size_t n = (size_t)model->tree_nv, nz = (size_t)model->nstate;
    const matrices *m = &b->exact;
    double *u = numbers(b, (int)n), *w = numbers(b, (int)nz),
           *found = numbers(b, (int)(2 * n + nz)), *expected = numbers(b, (int)(2 * n + nz));
    for (size_t i = 0; i < n; i++) u[i] = lwt_random(seed, -1, 1);
    for (size_t k = 0; k < nz; k++) w[k] = lwt_random(seed, -1, 1);
    memset(expected, 0, (2 * n + nz) * sizeof *expected);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            expected[j] += u[i] * m->by_q[i * n + j];
            expected[n + j] += u[i] * m->by_v[i * n + j];
        }
        for (size_t k = 0; k < nz; k++) {
            expected[j] -= w[k] * m->rate_by_q[k * n + j];
            expected[n + j] -= w[k] * m->rate_by_v[k * n + j];
        }
    }
    for (size_t k = 0; k < nz; k++) {
        for (size_t i = 0; i < n; i++) expected[2 * n + k] -= u[i] * m->force_by_z[i * nz + k];
        for (size_t i = 0; i < nz; i++) expected[2 * n + k] -= w[i] * m->rate_by_z[i * nz + k];
    }
    assert_true(lwi_inverse_has_products(model, &b->d, &b->work));
    lwi_inverse_products_begin(model, &b->d, &b->work, 0.3, b->q, b->v, b->vdot, b->inputs);
    lwi_inverse_products(model, &b->d, &b->work, 0.3, b->q, b->inputs,
                         &(lwi_force_rows){u, nz ? w : NULL}, found, found + n, found + 2 * n);
    for (size_t i = 0; i < 2 * n + nz; i++)
        if (!(fabs(found[i] - expected[i]) <= 1e-12 * (1 + largest(m->by_q, (int)(n * n)))))
            fail_msg("product %d: %.15g, by matrices %.15g", (int)i, found[i], expected[i]);
}

static void test_products(void **state)
{
    (void)state;
    uint64_t seed = 21;
    lw_model *model = parse(tree_text);
    bench b;
    bench_create(&b, model);
    for (int i = 0; i < STATES; i++) {
        random_state(&b, &seed);
        evaluate(&b, true, &b.exact);
        compare_products(&b, &seed);
    }
    lwi_arena_free(&b.arena);
    lw_model_destroy(model);
}

/** Derivatives by the coordinates and the speeds of two joints. */
typedef struct partials {
    double by[2][2];
} partials;

static void add_partial(void *user, const lwi_formula *formula, const lwi_instruction *in,
                        double by)
{
    (void)formula;
    partials *to = user;
    assert_in_range(in->index, 0, 1);
    to->by[in->operation == LWI_FORMULA_SPEED][in->index] += by;
}

// Gradients of signals against their derivatives along each thing that they read.
static void test_gradients(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\ngravity: [0, 0, 0]\n"
        "signals:\n"
        "  a: {type: formula, of: \"-A.q0^3/(2 + B.qd0) + B.q0^-2 - 2^A.qd0\"}\n"
        "  b: {type: formula, of: \"min(A.q0, 2*B.q0, 0.3)*max(A.qd0, -B.qd0) + abs(A.q0 - "
        "B.q0)\"}\n"
        "  c: {type: formula, of: \"where(A.q0 > B.q0, atan2(A.q0, B.qd0), tan(B.q0)) + "
        "step(A.qd0, -1, 1.5)\"}\n"
        "  d: {type: formula, of: \"hypot(A.q0, B.q0) + mod(3*A.q0, 0.7) + A.q0^(B.q0^2) + "
        "log(2 + A.q0*B.q0)\"}\n"
        "  k: {type: formula, of: \"a*b + sqrt(2 + c) - tanh(d)\"}\n"
        "  f: {type: curve, of: \"A.q0 + B.qd0\", x: [-9, 0, 1, 9], y: [1, 2, 5, 3], "
        "interpolation: spline}\n"
        "  g: {type: sum, terms: [k, f, a]}\n"
        "  m: {type: map, of: A.q0, of2: B.q0*A.qd0, x: [-9, 0, 9], x2: [-9, 9], rows: [[0, 1], "
        "[2, -3], [1, 0]]}\n"
        "  h: {type: formula, of: \"g*sign(B.q0) + sin(t)*f + m\"}\n"
        "bodies: {one: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}, two: {mass: 1, inertia: [1, 1, 1, "
        "0, 0, 0]}}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, one], at: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  B: {type: revolute, between: [one, two], at: [0, 0, 0], axis: [0, 1, 0]}\n";
    uint64_t seed = 5;
    lw_model *model = parse(text);
    for (int i = 0; i < 20 * model->desc.nfunction; i++) {
        const lw_signal signal = {1 + i % model->desc.nfunction};
        double q[2] = {lwt_random(&seed, 0.1, 1), lwt_random(&seed, 0.1, 1)},
               qd[2] = {lwt_random(&seed, -1, 1), lwt_random(&seed, -1, 1)};
        const lwi_now now = {.t = 0.3, .q = q, .qd = qd};
        partials found = {{{0}}};
        assert_true(lwi_signal_has_gradient(model->function, signal));
        lwi_signal_gradient(model->function, signal, &now, 2,
                            &(lwi_gradient_sink){&found, add_partial});
        for (int k = 0; k < 4; k++) {
            const lwi_seed along = {
                .iq = k < 2 ? k : -1, .iv = k < 2 ? -1 : k - 2, .q = 1, .qd = 1, .spring = -1};
            double f[3];
            lwi_signal_jet(model->function, signal, &now, &along, f);
            const double by = found.by[k / 2][k % 2];
            if (!(fabs(by - 2 * f[1]) <= 1e-12 * (1 + fabs(f[1]))))
                fail_msg("signal %d, %d: %.15g, along it %.15g", signal.index, k, by, 2 * f[1]);
        }
    }
    lw_model_destroy(model);
}

static void test_tree(void **state)
{
    (void)state;
    compare_all(tree_text);
}

static void test_loop(void **state)
{
    (void)state;
    compare_all(loop_text);
}

// Points of springs meet: without length the force -k d is smooth there, with a length or a force it has no derivative.
static void test_points_meet(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\ngravity: [0, 0, 0]\nbodies:\n  a: {mass: 1, inertia: [1, 2, 3, 0, 0, 0], "
        "com: [0, 0.3, 0]}\n"
        "forces:\n"
        "  S: {type: spring, between: [ground, a], from: [0.2, 0, 0.1], to: [0.2, 0, 0.1], "
        "stiffness: 40, damping: 3}\n"
        "  L: {type: spring, between: [a, ground], from: [0, 0, 2], to: [0, 0, 2], stiffness: 7, "
        "length: 1}\n"
        "  F: {type: spring, between: [a, ground], from: [0, 0, 3], to: [0, 0, 3], force: 5}\n";
    lw_model *model = parse(text);
    bench b;
    bench_create(&b, model);
    memcpy(b.q, model->tree_q0, (size_t)model->tree_nq * sizeof *b.q);
    evaluate(&b, true, &b.exact);
    // of the force and its moment about the mass centre by the displacement of its point, dx + w x p
    const double k = 40, p[3] = {0.2, -0.3, 0.1};
    const double S[3][6] = {
        {1, 0, 0, 0, p[2], -p[1]}, {0, 1, 0, -p[2], 0, p[0]}, {0, 0, 1, p[1], -p[0], 0}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double expected = 0;
            for (int c = 0; c < 3; c++) expected += k * S[c][i] * S[c][j];
            const double by_q = b.exact.by_q[6 * i + j];
            if (!(fabs(by_q - expected) <= 1e-13 * k))
                fail_msg("by q[%d][%d]: %.15g, expected %.15g", i, j, by_q, expected);
        }
    uint64_t seed = 22;
    compare_products(&b, &seed);
    lwi_arena_free(&b.arena);
    lw_model_destroy(model);
}

// Signals that read a joint that closes a loop, and forces without derivatives, are left to differences.
static void test_left(void **state)
{
    (void)state;
    static const char *const with[] = {
        "A.q0 - D.q0) - 0.1*", "A.q0 - C.q0) - 0.1*", // reads the cut joint
    };
    char text[sizeof loop_text + 64];
    const char *at = strstr(loop_text, with[0]);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - loop_text), loop_text, with[1],
             at + strlen(with[0]));
    lw_model *model = parse(text);
    bench b;
    bench_create(&b, model);
    assert_false(b.d.forces.exact);
    lwi_arena_free(&b.arena);
    lw_model_destroy(model);
}

// Bodies on fixed joints are merged where no force reads poses: signals still read their joints.
static void test_merged(void **state)
{
    (void)state;
    static const char text[] =
        "linkwork: 1\n"
        "gravity: [0, 0, -9.81]\n"
        "bodies:\n"
        "  base: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}\n"
        "  plate: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.2, 0, 0]}\n"
        "  ball: {mass: 1, inertia: [0.1, 0.2, 0.3, 0, 0, 0], position: [0.5, 0, 0]}\n"
        "  clip: {mass: 0.5, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0.2, 0]}\n"
        "  arm: {mass: 1, inertia: [0.1, 0.2, 0.3, 0, 0, 0], position: [1, 0, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [ground, base], at: [0, 0, 0], axis: [0, 1, 0],\n"
        "    effort: {q0: \"-3*S.q1*B.qd0\"}}\n"
        "  glue: {type: fixed, between: [base, plate], at: [0.2, 0, 0]}\n"
        "  S: {type: spherical, between: [plate, ball], at: [0.4, 0, 0]}\n"
        "  pin: {type: fixed, between: [ball, clip], at: [0.5, 0.1, 0]}\n"
        "  B: {type: revolute, between: [clip, arm], at: [0.7, 0, 0], axis: [0, 1, 0],\n"
        "    effort: {q0: \"-5*A.q0 + 2*sin(B.q0)*S.qd1\"}}\n";
    uint64_t seed = 3;
    lw_model *model = parse(text);
    const int n = model->tree_nv;
    bench b;
    bench_create(&b, model);
    assert_true(lwi_tree_merges(model));
    random_state(&b, &seed);
    evaluate(&b, false, &b.differences);
    lw_dynamics *d = NULL;
    lw_error error;
    lwt_ok(lw_dynamics_create(model, NULL, &d, &error), &error);
    lwt_ok(lw_inverse_dynamics_derivatives(d, 0.3, b.q, b.v, b.vdot, NULL, b.exact.by_q,
                                           b.exact.by_v, b.exact.M),
           lw_dynamics_error(d));
    compare("by q", b.exact.by_q, b.differences.by_q, n * n);
    compare("by v", b.exact.by_v, b.differences.by_v, n * n);
    lw_dynamics_destroy(d);
    lwi_arena_free(&b.arena);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_products),    cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_points_meet), cmocka_unit_test(test_merged),
        cmocka_unit_test(test_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
