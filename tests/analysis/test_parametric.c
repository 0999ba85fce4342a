// test_parametric.c -- derivatives of inverse and forward dynamics by physical parameters against differences of order
// six of whole models: trees with all kinds of joints, floating bodies, drives; loops with redundant rows.
#include "analysis/analysis_cases.h"
#include "analysis/slope_groups.h"
#include "batch/vary.h"
#include "kinematics/displacement.h"
#include "support/random_model.h"

#include <linkwork/dynamics.h>
#include <linkwork/io.h>

enum { SIDES = 3 };
static const double weight[SIDES] = {45.0 / 60, -9.0 / 60, 1.0 / 60};

static const char tree_text[] =
    "linkwork: 1\n"
    "parameters: {k: 3, L: 0.5, m: 2, g: 9.81, tilt: 0.2, pull: 80, rise: 0.3, tail: 0.1}\n"
    "gravity: [0, 1, -g]\n"
    "bodies:\n"
    "  base: {mass: 5, inertia: [0.3, 0.4, 0.5, 0, 0, 0], position: [0, 0, 1], velocity: [1, 0, "
    "0]}\n"
    "  a: {mass: m, inertia: [0.1, m*L^2/10, 0.1, 0, 0, 0], com: [L/2, tail, 0], position: [0, 0, "
    "1]}\n"
    "  b: {mass: 1, inertia: [0.1, 0.12, 0.11, 0, 0.01, 0], position: [L, 0, 1]}\n"
    "  c: {mass: 0.4, inertia: [0.02, 0.02, 0.025, 0, 0, 0], position: [L, 0, 1-L]}\n"
    "  hook: {mass: m/5, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [L, tail, 1]}\n"
    "  d: {mass: 0.7, inertia: [0.02, 0.02, 0.02, 0, 0, 0], position: [0, L, 0.3]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [base, a], at: [0, tilt, 1], axis: [0, 1, tilt], spring: {q0: "
    "{stiffness: k, at: L}}}\n"
    "  B: {type: universal, between: [b, a], at: [L, 0, 1], axis: [0, 1, tilt], axis2: [1, 0, 0]}\n"
    "  C: {type: prismatic, between: [b, c], at: [L, 0, 0.9], axis: [0, tilt, 1],\n"
    "    mount: {shift: [{type: sine, amplitude: 0.1, omega: 3}, 0, 0]}}\n"
    "  W: {type: fixed, between: [b, hook], at: [L, 0, 1]}\n"
    "  D: {type: spherical, between: [base, d], at: [0, L, 0.5]}\n"
    "forces:\n"
    "  string: {type: spring, between: [ground, c], point1: [0.1, 0.2, 2], point2: [0, 0, 0],\n"
    "    stiffness: pull, damping: 0.7, length: rise}\n";

static const char loop_text[] =
    "linkwork: 1\n"
    "parameters: {m: 2, rate: 20, c: 0.3, g: 9.81, a: 0.4, span: 0.5, bx: sqrt(span^2 - (0.2 + "
    "a/2)^2)}\n"
    "gravity: [g/3, -g, 0]\n"
    "bodies:\n"
    "  crank: {mass: m, inertia: [0.001, 0.02, 0.02, 0, 0, 0], position: [0, a/2, 0]}\n"
    "  coupler: {mass: 1, inertia: [0.001, 0.09, 0.09, 0, 0, 0], position: [0.5, a, 0]}\n"
    "  rocker: {mass: m/2, inertia: [0.02, 0.001, 0.02, 0, 0, 0], position: [1, a/2, 0]}\n"
    "  bob: {mass: 0.5, inertia: [0.001, 0.001, 0.001, 0, 0, 0], position: [bx, -0.2, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], qd: [1],\n"
    "    spring: {q0: {stiffness: rate, damping: c, at: 0.2}}}\n"
    "  B: {type: revolute, between: [crank, coupler], at: [0, a, 0], axis: [0, 0, 1]}\n"
    "  C: {type: revolute, between: [coupler, rocker], at: [1, a, 0], axis: [0, 0, 1]}\n"
    "  D: {type: revolute, between: [ground, rocker], at: [1, 0, 0], axis: [0, 0, 1]}\n"
    "  E: {type: universal, between: [ground, bob], at: [bx, 0, 0], axis: [0, 0, 1], axis2: [1, "
    "0, "
    "0]}\n"
    "  F: {type: distance, between: [crank, bob], point1: [0, 0, 0], point2: [0, 0, 0], "
    "length: span}\n";

// Masses and springs by sums, products and other parameters, with units of all kinds; thin rods: their inertias cannot
// change one by one.  `both` acts on a mass and elsewhere, `whole` on what the list states by it too.
static const char many_text[] =
    "linkwork: 1\n"
    "parameters:\n"
    "  line: 1 kg/m\n"
    "  long: {value: 400, unit: mm}\n"
    "  extra1: 10 g\n"
    "  extra2: 0.02 kg\n"
    "  extra3: 30 g\n"
    "  spin1: 0.01 kg m^2\n"
    "  spin2: 0.02\n"
    "  whole: line*(0.5 m) + both\n"
    "  tip: whole/4 + extra3\n"
    "  both: 0.2 kg\n"
    "  rate: 20 N m/rad\n"
    "  soft: rate/10\n"
    "  loss: 0.02\n"
    "  offset: -5 deg\n"
    "bodies:\n"
    "  rod: {mass: line*long + extra1 + extra2, inertia: [0, line*long^3/12 + spin1, "
    "line*long^3/12 "
    "+ spin1, 0, 0, 0], position: [0.2, 0, 0]}\n"
    "  tail: {mass: tip + extra2, inertia: [0, \"max(spin1, spin2)*20\", spin2*20, 0, 0, 0], "
    "position: [0.6, 0, 0]}\n"
    "  bob: {mass: 0.3 + both, inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0], position: [0.9, 0, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1],\n"
    "    spring: {q0: {stiffness: rate, damping: 2*loss, at: offset}}}\n"
    "  B: {type: revolute, between: [rod, tail], at: [0.4, 0, 0], axis: [0, 1, 0],\n"
    "    spring: {q0: {stiffness: soft + 1, damping: loss}}}\n"
    "  C: {type: spherical, between: [tail, bob], at: [0.8, 0, 0], spring: {all: {damping: "
    "loss/2}}}\n"
    "forces:\n"
    "  band: {type: spring, between: [ground, bob], point1: [0, 1, 0], point2: [0, 0, 0],\n"
    "    stiffness: 30 N/m + both*(1 s^-2), length: 0.1}\n";

/** A model, its state and derivatives. */
typedef struct bench {
    lw_model *model;
    lw_parametric *p;
    int n, nby;
    double *q, *v, *vdot, *tau, *by_p;
} bench;

static bench begin(const char *text, int nby, const char *const *by)
{
    bench b = {.nby = nby};
    lw_error error;
    lw_options options;
    uint64_t seed = 7;
    lwt_ok(lw_model_parse(text, strlen(text), "m.yaml", &(lw_read_desc){.format = "yaml"}, &b.model,
                          &options, &error),
           &error);
    lwt_ok(lw_parametric_create(b.model, by, nby, &b.p, &error), &error);
    b.n = b.model->tree_nv;
    b.q = lwt_vector(b.model->tree_nq);
    double **const vector[] = {&b.v, &b.vdot, &b.tau};
    for (int i = 0; i < 3; i++) *vector[i] = lwt_vector(b.n);
    b.by_p = lwt_vector(b.n * nby);
    memcpy(b.q, b.model->tree_q0, (size_t)b.model->tree_nq * sizeof *b.q);
    memcpy(b.v, b.model->tree_v0, (size_t)b.n * sizeof *b.v);
    for (int i = 0; i < b.n; i++) {
        b.vdot[i] = lwt_random(&seed, -1, 1);
        b.tau[i] = lwt_random(&seed, -1, 1);
    }
    return b;
}

static void end(bench *b)
{
    free(b->q), free(b->v), free(b->vdot), free(b->tau), free(b->by_p);
    lw_parametric_destroy(b->p);
    lw_model_destroy(b->model);
}

static void evaluate(const bench *b, const lw_model *model, bool forward, double *out)
{
    lw_dynamics *d;
    lw_error error;
    lwt_ok(lw_dynamics_create(model, NULL, &d, &error), &error);
    lwt_ok(forward ? lw_forward_dynamics(d, 0.3, b->q, b->v, b->tau, NULL, out)
                   : lw_inverse_dynamics(d, 0.3, b->q, b->v, b->vdot, NULL, out),
           lw_dynamics_error(d));
    lw_dynamics_destroy(d);
}

static double value_of(const lw_model *model, const lwi_vary *vary)
{
    if (vary->kind == LWI_VARY_PARAMETER) return lwi_vary_number(model, vary);
    const lw_parameter_info p = lw_model_parameter_at(model, vary->index);
    return p.value / p.unit_value;
}

// d out / d parameter by whole models.
static void difference(const bench *b, const char *name, bool forward, double *out)
{
    lwi_vary vary;
    lw_error error;
    double *f = lwt_vector(b->n);
    lwt_ok(lwi_vary_resolve(b->model, name, &vary, &error), &error);
    const double value = value_of(b->model, &vary), step = 2e-3 * (value != 0 ? fabs(value) : 0.05);
    memset(out, 0, (size_t)b->n * sizeof *out);
    for (int far = 0; far < SIDES; far++)
        for (int side = -1; side <= 1; side += 2) {
            lw_model *varied;
            const double at = value + side * (far + 1) * step;
            lwt_ok(lwi_vary_model(b->model, NULL, &vary, 1, &at, NULL, NULL, NULL, &varied, &error),
                   &error);
            evaluate(b, varied, forward, f);
            for (int i = 0; i < b->n; i++) out[i] += side * weight[far] * f[i] / step;
            lw_model_destroy(varied);
        }
    free(f);
}

static void compare(const bench *b, const char *const *by, bool forward)
{
    double *expected = lwt_vector(b->n);
    for (int k = 0; k < b->nby; k++) {
        double largest = 0;
        difference(b, by[k], forward, expected);
        for (int i = 0; i < b->n; i++) largest = fmax(largest, fabs(expected[i]));
        if (!(largest > 1e-6)) fail_msg("%s has no effect", by[k]);
        for (int i = 0; i < b->n; i++) {
            const double found = b->by_p[i * b->nby + k];
            if (!(fabs(found - expected[i]) <= 2e-9 * (1 + largest)))
                fail_msg("%s, row %d: %.15g, expected %.15g", by[k], i, found, expected[i]);
        }
    }
    free(expected);
}

static void compare_inverse(bench *b, const char *const *by)
{
    lwt_ok(lw_parametric_inverse(b->p, 0.3, b->q, b->v, b->vdot, NULL, b->by_p),
           lw_parametric_error(b->p));
    compare(b, by, false);
}

static void compare_forward(bench *b, const char *const *by)
{
    lwt_ok(lw_parametric_forward(b->p, 0.3, b->q, b->v, b->tau, NULL, b->vdot, b->by_p),
           lw_parametric_error(b->p));
    compare(b, by, true);
}

static void test_tree(void **state)
{
    (void)state;
    static const char *const by[] = {"k",
                                     "L",
                                     "m",
                                     "g",
                                     "tilt",
                                     "pull",
                                     "rise",
                                     "tail",
                                     "body.b.mass",
                                     "body.b.com_x",
                                     "body.d.Ixy",
                                     "joint.A.at0",
                                     "spring.string.length",
                                     "gravity.x"};
    bench b = begin(tree_text, LWI_COUNT(by), by);
    compare_inverse(&b, by);
    compare_forward(&b, by);
    assert_true(lw_parametric_is_exact(b.p, 0) && lw_parametric_is_exact(b.p, 5));
    assert_false(lw_parametric_is_exact(b.p, 1)); // the string reads places
    end(&b);
}

// Four parallel hinges and a bob on a rod of constant length: three redundant rows.
static void test_loop(void **state)
{
    (void)state;
    static const char *const by[] = {"m", "rate", "c", "g", "body.bob.mass", "body.crank.Izz"};
    bench b = begin(loop_text, LWI_COUNT(by), by);
    compare_forward(&b, by);
    end(&b);
}

// Places and lengths in loops have exact derivatives, compared with whole models at a state at random when they are
// created.
static void test_places_of_loops(void **state)
{
    (void)state;
    static const char *const by[] = {"a", "span"};
    bench b = begin(loop_text, LWI_COUNT(by), by);
    for (int k = 0; k < LWI_COUNT(by); k++) assert_true(lw_parametric_is_exact(b.p, k));
    lwt_ok(lw_parametric_forward(b.p, 0.3, b.q, b.v, b.tau, NULL, b.vdot, b.by_p),
           lw_parametric_error(b.p));
    for (int i = 0; i < b.n * b.nby; i++) assert_true(isfinite(b.by_p[i]));
    end(&b);
}

// More parameters than their effects need variants: the chain rule, except for those with other effects.
static void test_many(void **state)
{
    (void)state;
    static const char *const by[] = {"line",  "long",  "extra1", "extra2", "extra3", "spin1",
                                     "spin2", "whole", "both",   "rate",   "loss",   "offset"};
    bench b = begin(many_text, LWI_COUNT(by), by);
    memcpy(b.v, b.tau, (size_t)b.n * sizeof *b.v);
    lwt_ok(lw_parametric_inverse(b.p, 0.3, b.q, b.v, b.vdot, NULL, b.by_p),
           lw_parametric_error(b.p));
    double *held = lwt_vector(b.n * LWI_COUNT(by));
    // `whole` keeps its value, because it is in the list itself, unlike in `difference`
    for (int k = 0; k < b.nby; k++) {
        lw_parametric *one;
        lw_error error;
        const char *const pair[] = {by[k], strcmp(by[k], "whole") ? "whole" : "line"};
        lwt_ok(lw_parametric_create(b.model, pair, 2, &one, &error), &error);
        lwt_ok(lw_parametric_inverse(one, 0.3, b.q, b.v, b.vdot, NULL, held),
               lw_parametric_error(one));
        for (int i = 0; i < b.n; i++)
            if (!(fabs(held[2 * i] - b.by_p[i * b.nby + k]) <= 1e-9 * (1 + fabs(held[2 * i]))))
                fail_msg("%s, row %d: %.15g, alone %.15g", by[k], i, b.by_p[i * b.nby + k],
                         held[2 * i]);
        assert_true(lw_parametric_is_exact(b.p, k));
        lw_parametric_destroy(one);
    }
    free(held);
    end(&b);
}

// By which way the slope of each parameter was found.
static void test_ways(void **state)
{
    (void)state;
    static const char *const by[] = {"line",  "long",  "extra1", "extra2", "extra3", "spin1",
                                     "spin2", "whole", "both",   "rate",   "loss",   "offset"};
    bench b = begin(many_text, LWI_COUNT(by), by);
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    lwi_model_numbers numbers;
    lwi_state_derivatives d;
    lwi_tree_work work;
    lwi_slope slope[LWI_COUNT(by)];
    lw_error error;
    int created = 0;
    assert_int_equal(lwi_numbers_create(b.model, &arena, &numbers), LW_OK);
    assert_int_equal(lwi_state_derivatives_create(b.model, &arena, &d, &error), LW_OK);
    assert_int_equal(lwi_tree_work_create(b.model, &arena, &work), LW_OK);
    const lwi_slopes_desc desc = {.model = b.model,
                                  .numbers = &numbers,
                                  .d = &d,
                                  .work = &work,
                                  .by = by,
                                  .nby = LWI_COUNT(by),
                                  .relative = 1e-3,
                                  .together = true};
    lwt_ok(lwi_slopes_create(&desc, &arena, slope, &created, &error), &error);
    for (int k = 0; k < LWI_COUNT(by); k++) // the band is no field
        assert_int_equal(slope[k].by_fields, strcmp(by[k], "both") != 0);
    for (int k = 0; k < created; k++) lwi_slope_destroy(&slope[k]);
    lwi_arena_free(&arena);
    end(&b);
}

// Parameters without those that the file states by others, against whole models.
static void test_many_independent(void **state)
{
    (void)state;
    static const char *const by[] = {"line",  "long", "extra1", "extra2", "extra3", "spin1",
                                     "spin2", "both", "rate",   "loss",   "offset"};
    bench b = begin(many_text, LWI_COUNT(by), by);
    memcpy(b.v, b.tau, (size_t)b.n * sizeof *b.v);
    compare_inverse(&b, by);
    end(&b);
}

// Numbers of forces between bodies and of formulas that forces read, also through other signals.
static const char forces_text[] =
    "linkwork: 1\n"
    "parameters: {k: 40, c: 2, l: 0.4, kx: 30, kz: 20, rx: 3, ry: 2, cy: 1, dx: 0.2, dz: 0.1, fx: "
    "2,\n"
    "  tz: 0.7, drag: 0.3, rough: 0.2, roll: 0.1, whirl: 0.05, gain: 3, bend: 0.8, pull: 1.3, "
    "lift: 2,\n"
    "  both: 1.5}\n"
    "signals:\n"
    "  inner: {type: formula, of: \"sin(bend*body.b.x)*gain + 0.2*A.qd0\"}\n"
    "  outer: {type: formula, of: \"pull*inner^2 - both*spring.S.length\"}\n"
    "  bent: {type: curve, of: \"lift*A.q0\", x: [-9, -1, 0.5, 9], y: [-1, 2, 3, 4]}\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.1, 0.2, 0.15, 0, 0, 0], position: [0.5, 0, 0], velocity: [0.2, "
    "0.1, 0],\n"
    "    angular_velocity: [0.3, 0.5, -0.2]}\n"
    "  b: {mass: 2, inertia: [0.1, 0.2, 0.15, 0, 0, 0], position: [1, 0.2, 0], orientation: [0.8, "
    "0.6, 0, 0],\n"
    "    velocity: [0.1, 0.3, 0], angular_velocity: [-0.3, 0.1, 0.4]}\n"
    "  c: {mass: 2, inertia: [0.1, 0.2, 0.15, 0, 0, 0], position: [0, 0, -1]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, c], at: [0, 0, 0], axis: [0, 1, 0], q: [0.2], qd: "
    "[0.4],\n"
    "    effort: {q0: outer}}\n"
    "forces:\n"
    "  S: {type: spring, between: [c, a], point1: [0, 0, 0.1], point2: [0.1, 0, 0], stiffness: k, "
    "damping: c,\n"
    "    length: l, force: bent}\n"
    "  B: {type: bushing, between: [a, b], at: [0.8, 0.1, 0.1], stiffness: [kx, 10, kz, rx, ry, "
    "1],\n"
    "    damping: [1, cy, 1, dx, 0.1, dz]}\n"
    "  W: {type: wrench, body: b, point: [0.1, 0.2, 0], force: [fx, 2*both, 1], torque: [0, 0, "
    "tz], axes: body,\n"
    "    scale: {type: sine, amplitude: 2, omega: 3}, force_of: [outer, inner, bent]}\n"
    "  D: {type: drag, body: a, point: [0, 0.1, 0], linear: drag, quadratic: rough, angular: "
    "roll,\n"
    "    angular_quadratic: whirl}\n";

static void test_forces(void **state)
{
    (void)state;
    static const char *const by[] = {"k",    "c",     "l",    "kx",   "kz",   "rx",   "ry",
                                     "cy",   "dx",    "dz",   "fx",   "tz",   "drag", "rough",
                                     "roll", "whirl", "gain", "bend", "pull", "lift", "both"};
    bench b = begin(forces_text, LWI_COUNT(by), by);
    // the bodies leave the place at which they are drawn, where the bushing is without force
    static const double moved[] = {0.2, 0.1, -0.1, 0.1, 0.3, -0.2, 0.1,
                                   0.2, 0.3, -0.1, 0.2, 0.1, 0.1};
    assert_int_equal(b.n, LWI_COUNT(moved));
    lwi_displace(b.model, b.q, moved);
    compare_inverse(&b, by);
    compare_forward(&b, by);
    for (int k = 0; k < b.nby; k++) assert_true(lw_parametric_is_exact(b.p, k));
    end(&b);
}

static void refused(const lw_model *model, const char *by, const char *text)
{
    lw_error error;
    lw_parametric *p = NULL;
    assert_int_equal(lw_parametric_create(model, &by, 1, &p, &error), LW_ERR_ARGUMENT);
    if (!strstr(error.text, text)) fail_msg("'%s' does not contain '%s'", error.text, text);
    assert_null(p);
}

static void test_wrong_use(void **state)
{
    (void)state;
    static const char *const by[] = {"m"};
    bench b = begin(loop_text, 1, by);
    refused(b.model, "mm", "mm");
    refused(b.model, "joint.A.q0",
            "expected one of the model's file, or a number of its description");
    refused(b.model, "body.crank.mas", "did you mean 'mass'");
    b.q[0] = NAN;
    assert_int_equal(lw_parametric_inverse(b.p, 0, b.q, b.v, b.vdot, NULL, b.by_p),
                     LW_ERR_NOT_FINITE);
    assert_string_equal(lw_parametric_error(b.p)->text, "q[0] is not finite");
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tree),
                                       cmocka_unit_test(test_loop),
                                       cmocka_unit_test(test_places_of_loops),
                                       cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_ways),
                                       cmocka_unit_test(test_many_independent),
                                       cmocka_unit_test(test_forces),
                                       cmocka_unit_test(test_wrong_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
