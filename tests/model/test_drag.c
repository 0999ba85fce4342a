// test_drag.c -- a body falling through a medium and a body rotating in it; all formulations agree.
#include "methods/index3/index3_cases.h"
#include "methods/rcr/rcr_cases.h"
#include "support/given.h"

static const char *const names[] = {"aba", "dense", "dca", "hdca", "rcr", "momenta"};

// m dv/dt = m g - c v^2 with v(0) = 0:
// v = V tanh(g t / V), V = sqrt(m g / c); path V^2/g log cosh(g t / V)
static void falls_towards_its_terminal_velocity(void **state)
{
    (void)state;
    const double m = 2, g = 9.81, c = 0.7, T = 1.2, V = sqrt(m * g / c);
    for (int i = 0; i < LWI_COUNT(names); i++) {
        lw_model *model =
            lwt_yaml("linkwork: 1\n"
                     "bodies: {a: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}\n"
                     "joints: {guide: {type: prismatic, between: [ground, a], at: [0, 0, 0]}}\n"
                     "forces: {air: {type: drag, body: a, quadratic: 0.7}}\n");
        lwt_run r = lwt_run_start(model, lwi_formulation_find(names[i]));
        lwt_integrate(r.work, &r.t, r.x, NULL, 1e-3, 1200);
        lwt_run_observe(&r);
        lwt_near(names[i], 0, r.now.q[0], -V * V / g * log(cosh(g * T / V)), 1e-11);
        lwt_near(names[i], 1, r.now.qd[0], -V * tanh(g * T / V), 1e-11);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

static const char moving[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  a: {mass: 2, inertia: [0.1, 0.2, 0.3, 0, 0, 0], velocity: [1, -2, 0.5], "
    "angular_velocity: [3, 1, -2], com: [0.1, 0, 0.2]}\n"
    "  b: {mass: 1, inertia: [0.1, 0.2, 0.1, 0, 0, 0], position: [0.3, 0.4, 0], com: [0.2, 0.1, "
    "0]}\n"
    "joints: {j: {type: spherical, between: [a, b], at: [0.3, 0.4, 0], qd: [1, -1, 2]}}\n"
    "forces:\n"
    "  one: {type: drag, body: a, at: [0.2, 0.3, 0.1], linear: 0.5, quadratic: 0.8, angular: 0.3, "
    "angular_quadratic: 0.1, flow: [0.5, 0.2, -1]}\n"
    "  two: {type: drag, body: b, quadratic: 3}\n";

// Force and torque by the drag law from observed velocities: m a = m g + f; the other formulations
// agree with `dense`.
static void every_formulation_has_its_force(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(moving);
    lwt_run dense = lwt_run_start(model, DENSE);
    lwt_run_observe(&dense);
    for (int i = 0; i < LWI_COUNT(names); i++) {
        const lwi_formulation *f = lwi_formulation_find(names[i]);
        if (lwi_formulation_accepts(f, model, NULL) != LW_OK) continue;
        lwt_run r = lwt_run_start(model, f);
        lwt_run_observe(&r);
        lwt_near(names[i], 0, lwt_acceleration_error(model, &r.now, &dense.now), 0, 1e-10);
        lwt_run_end(&r);
    }
    lwt_run_end(&dense);
    lw_model_destroy(model);
}

// The implicit method is of order two and remains stable in a medium of high viscosity.
static void index3_follows_the_law(void **state)
{
    (void)state;
    static const double quadratic[] = {0.7, 3e4};
    for (int i = 0; i < 2; i++) {
        char text[300];
        lw_options options;
        lw_options_default(&options);
        lwt_set(&options, "formulation", "index3");
        lwt_set(&options, "duration", "1.2");
        lwt_set(&options, "step", "0.001");
        lwt_set(&options, "sample", "1.2");
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "bodies: {a: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}\n"
                 "joints: {guide: {type: prismatic, between: [ground, a], at: [0, 0, 0]}}\n"
                 "forces: {air: {type: drag, body: a, quadratic: %g}}\n",
                 quadratic[i]);
        lw_model *model = lwt_yaml(text);
        track k = run(model, &options);
        const double V = sqrt(2 * 9.81 / quadratic[i]), v = V * tanh(9.81 * 1.2 / V);
        lwt_near("speed", i, k.v[3 * 2 * (k.nrow - 1) + 5], -v, 1e-5 * V);
        drop(&k);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falls_towards_its_terminal_velocity),
        cmocka_unit_test(every_formulation_has_its_force),
        cmocka_unit_test(index3_follows_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
