// test_coupling.c -- couplings of joint coordinates, read from the native file, against closed-form
// solutions.
//
// Two pendulums on parallel hinges, q1 = a q2 + b: one degree of freedom q2,
// with inertia J2 + a^2 J1:
//     (J2 + a^2 J1) q2'' = T2 + a T1,   T = -m g l sin q
#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(LW_OK, (call))

enum { G = 10 };
static const double mass[2] = {2, 3}, arm[2] = {0.5, 0.75}, central[2] = {0.2, 0.1};

// Inertia about the hinge.
static double inertia(int i)
{
    return central[i] + mass[i] * arm[i] * arm[i];
}

static double torque(int i, double q)
{
    return -mass[i] * G * arm[i] * sin(q);
}

// Pendulums on hinges about z; q is measured from -y.
static lw_model *pendulums(const char *coupling, double q1, double qd1, double q2, double qd2)
{
    char text[2000];
    lw_model *model;
    lw_error error = {0};
    snprintf(
        text, sizeof text,
        "linkwork: 1\ngravity: [0, -10, 0]\nbodies:\n"
        "  one: {mass: 2, inertia: [0.2, 0.2, 0.2, 0, 0, 0], com: [0, -0.5, 0]}\n"
        "  two: {mass: 3, inertia: [0.1, 0.1, 0.1, 0, 0, 0], com: [0, -0.75, 0], "
        "position: [5, 0, 0]}\njoints:\n"
        "  A: {type: revolute, between: [ground, one], frame1: {}, frame2: {}, q: [%.17g], qd: "
        "[%.17g]}\n"
        "  B: {type: revolute, between: [ground, two], frame1: {position: [5, 0, 0]}, frame2: "
        "{}, q: [%.17g], qd: [%.17g]}\n"
        "couplings: [{joint: A, coordinate: q0, of: B, with: q0, polynomial: %s}]\n",
        q1, qd1, q2, qd2, coupling);
    const lw_read_desc desc = {.format = "yaml"};
    if (lw_model_parse(text, strlen(text), "m.yaml", &desc, &model, NULL, &error) != LW_OK)
        fail_msg("%d: %s", error.line, error.text);
    return model;
}

static lw_sim *sim_of(const lw_model *model, const char *formulation, double rtol)
{
    lw_options options;
    lw_sim *sim;
    lw_error error = {0};
    lw_options_default(&options);
    if (strcmp(formulation, "rattle") != 0) options.rtol = options.atol = rtol;
    if (lw_options_set(&options, "formulation", formulation, &error) != LW_OK)
        fail_msg("%s", error.text);
    OK(lw_options_set(&options, "integrator", "verner87", &error));
    if (lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, NULL) == LW_OK) return sim;
    OK(lw_options_set(&options, "integrator", "auto", &error)); // for a fixed integrator
    if (lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error) != LW_OK)
        fail_msg("%s: %s", formulation, error.text);
    return sim;
}

static bool takes_couplings(const char *formulation, const lw_model *model)
{
    lw_options options;
    lw_sim *sim;
    lw_error error = {0};
    lw_options_default(&options);
    if (lw_options_set(&options, "formulation", formulation, &error) != LW_OK) return false;
    if (lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error) != LW_OK) {
        assert_int_equal(LW_ERR_UNSUPPORTED, error.status); // refused with the joint's name
        assert_non_null(strstr(error.text, "'A'"));
        return false;
    }
    lw_sim_destroy(sim);
    return true;
}

static void a_gear_has_the_inertia_of_the_closed_form(void **state)
{
    (void)state;
    static const double ratio[] = {2, -1.5, 0.1}, shift[] = {0, 0.4, -1};
    int done = 0;
    for (int i = 0; i < 3; i++) {
        char coupling[80];
        const double a = ratio[i], b = shift[i], q2 = 0.7, qd2 = 0.3;
        snprintf(coupling, sizeof coupling, "[%.17g, %.17g]", b, a);
        lw_model *model = pendulums(coupling, a * q2 + b, a * qd2, q2, qd2);
        const double expected =
            (torque(1, q2) + a * torque(0, a * q2 + b)) / (inertia(1) + a * a * inertia(0));
        for (int f = 0; f < lw_formulation_count(); f++) {
            const char *name = lw_formulation_info(f).name;
            const lw_observation *o;
            if (!takes_couplings(name, model)) continue;
            lw_sim *sim = sim_of(model, name, 1e-9);
            OK(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o));
            // some hundred roundings of numbers up to 40 over an inertia of 2
            assert_true(fabs(o->qdd[1] - expected) < 1e-12);
            assert_true(fabs(o->qdd[0] - a * expected) < 1e-12);
            lw_sim_destroy(sim);
            done++;
        }
        lw_model_destroy(model);
    }
    assert_true(done >= 3); // `dense` at least
}

// q1 = c q2^2: q1' = 2 c q2 q2', q1'' = 2 c (q2 q2'' + q2'^2), hence with s = 2 c q2
//     (J2 + s^2 J1) q2'' = T2 + s T1 - s J1 2 c q2'^2
static void a_polynomial_has_the_acceleration_of_the_closed_form(void **state)
{
    (void)state;
    const double c = 0.8, q2 = 0.9, qd2 = -1.2, s = 2 * c * q2;
    lw_model *model = pendulums("[0, 0, 0.8]", c * q2 * q2, s * qd2, q2, qd2);
    const double expected =
        (torque(1, q2) + s * torque(0, c * q2 * q2) - s * inertia(0) * 2 * c * qd2 * qd2) /
        (inertia(1) + s * s * inertia(0));
    for (int f = 0; f < lw_formulation_count(); f++) {
        const char *name = lw_formulation_info(f).name;
        const lw_observation *o;
        if (!takes_couplings(name, model)) continue;
        lw_sim *sim = sim_of(model, name, 1e-9);
        OK(lw_sim_observe(sim, LW_OBSERVE_ACCELERATION, &o));
        assert_true(fabs(o->qdd[1] - expected) < 1e-12);
        assert_true(fabs(o->qdd[0] - (s * expected + 2 * c * qd2 * qd2)) < 1e-12);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The motion preserves the closed-form energy and the coupling.
static void a_coupled_motion_keeps_energy_and_relation(void **state)
{
    (void)state;
    const double a = 2, b = 0.4, q2 = 0.7;
    lw_model *model = pendulums("[0.4, 2]", a * q2 + b, 0, q2, 0);
    const double V0 = -mass[0] * G * arm[0] * cos(a * q2 + b) - mass[1] * G * arm[1] * cos(q2);
    for (int f = 0; f < lw_formulation_count(); f++) {
        const char *name = lw_formulation_info(f).name;
        const lw_observation *o;
        if (!takes_couplings(name, model)) continue;
        lw_sim *sim = sim_of(model, name, 1e-11);
        if (strcmp(lw_sim_options(sim)->integrator, "verner87") != 0) { // other tolerances
            lw_sim_destroy(sim);
            continue;
        }
        if (lw_sim_step(sim, 2) != LW_OK) fail_msg("%s: %s", name, lw_sim_error(sim)->text);
        OK(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o));
        const double q = o->q[1], u = o->qd[1];
        const double T = 0.5 * (inertia(1) + a * a * inertia(0)) * u * u;
        const double V = -mass[0] * G * arm[0] * cos(a * q + b) - mass[1] * G * arm[1] * cos(q);
        // a thousand steps at the tolerance, energies up to 30 J
        if (!(fabs(T + V - V0) < 1e-7)) fail_msg("%s: energy is off by %g", name, T + V - V0);
        if (!(fabs(o->q[0] - a * q - b) < 1e-8 && fabs(o->qd[0] - a * u) < 1e-8))
            fail_msg("%s: relation is off by %g", name, o->q[0] - a * q - b);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gear_has_the_inertia_of_the_closed_form),
        cmocka_unit_test(a_polynomial_has_the_acceleration_of_the_closed_form),
        cmocka_unit_test(a_coupled_motion_keeps_energy_and_relation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
