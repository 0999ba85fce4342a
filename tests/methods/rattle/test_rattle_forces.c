// test_rattle_forces.c -- order two of rattle with each kind of force, drive and input alone: halving the step divides the
// distance from the motion of another formulation by four, on a tree and on a closed loop with redundant constraints.
#include "methods/rattle/rattle_cases.h"
#include "support/given.h"

// What is added: of the model, of joint `j1`, of joint `j2`.
typedef struct force_case {
    const char *name, *on_j1, *on_j2, *more;
} force_case;

static const force_case cases[] = {
    {"nothing but gravity", "", "", ""},
    {"joint spring", ", spring: {q0: {stiffness: 30, at: 0.2}}", "", ""},
    {"joint damper", ", spring: {q0: {stiffness: 0, damping: 3}}", "", ""},
    {"viscous friction", "", ", friction: {q0: {viscous: 1.5}}", ""},
    {"dry friction", "", ", friction: {q0: {coulomb: 2, viscous: 0.2, speed: 0.5}}", ""},
    {"effort by a function", ", effort: {q0: push}", "", ""},
    {"effort by feedback", ", effort: {q0: 20*(0.3 - j1.q0) - 2*j1.qd0}", "", ""},
    {"effort by an input", ", effort: {q0: pull}", "", ""},
    {"drive", ", motion: {q0: follow}", "", ""},
    {"rotor", ", rotor: {q0: 0.3}", "", ""},
    {"spring between points", "", "",
     "forces:\n"
     "  s: {type: spring, between: [a, c], point1: [0.3, 0, 0], point2: [0, 0.1, 0], "
     "stiffness: 40, length: 0.5}\n"},
    {"damper between points", "", "",
     "forces:\n"
     "  s: {type: spring, between: [a, c], point1: [0.3, 0, 0], point2: [0, 0.1, 0], "
     "stiffness: 40, damping: 4, length: 0.5, force: push}\n"},
    {"wrench", "", "",
     "forces:\n"
     "  w: {type: wrench, body: b, force: [3, 1, 2], torque: [0.3, 0, 1], axes: body, "
     "scale: push}\n"},
    {"bushing", "", "",
     "forces:\n"
     "  u: {type: bushing, between: [ground, c], at: [2, 0.4, 0.1], "
     "stiffness: [50, 40, 30, 5, 4, 3], damping: [1, 2, 1, 0.1, 0.2, 0.1]}\n"},
    {"drag", "", "",
     "forces:\n"
     "  d: {type: drag, body: b, linear: 0.8, quadratic: 0.5, angular: 0.1, flow: [0.5, 0, 0]}\n"},
    {"servo", "", "", "forces:\n  m: {type: servo, joint: j2, target: push, kp: 15, kd: 1}\n"},
    {"tendon", "", "",
     "forces:\n"
     "  t: {type: tendon, path: [{body: ground, point: [0, 0.8, 0]}, {body: a, point: [0.2, 0.1, "
     "0]}, {body: c, point: [0, 0, 0.05]}], stiffness: 60, length: 1, damping: 2}\n"},
};

// Three bodies on skew hinges.
static const char *const tree =
    "linkwork: 1\n"
    "gravity: [1, -9.81, 0.5]\n"
    "inputs: [pull]\n"
    "functions:\n"
    "  push: {type: sine, offset: 1, amplitude: 2, omega: 5}\n"
    "  follow: {type: sine, amplitude: 0.4, omega: 4}\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.02, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"
    "  b: {mass: 2, inertia: [0.1, 0.2, 0.15, 0, 0, 0], position: [1.4, 0.2, 0]}\n"
    "  c: {mass: 1, inertia: [0.05, 0.04, 0.06, 0, 0, 0], position: [2, 0.4, 0.1]}\n"
    "joints:\n"
    "  j1: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]%s}\n"
    "  j2: {type: revolute, between: [a, b], at: [1, 0, 0], axis: [0, 0.3, 1], qd: [0.5]%s}\n"
    "  j3: {type: revolute, between: [b, c], at: [1.7, 0.3, 0], axis: [0, 1, 0.2], qd: [-1]}\n"
    "%s";

// A four-bar with hinges in space: three rows are redundant.
static const char *const loop =
    "linkwork: 1\n"
    "gravity: [1, -9.81, 0]\n"
    "inputs: [pull]\n"
    "functions:\n"
    "  push: {type: sine, offset: 1, amplitude: 2, omega: 5}\n"
    "  follow: {type: sine, amplitude: 0.4, omega: 4}\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.08, 0.08, 0.08, 0, 0, 0], position: [0, 0.5, 0]}\n"
    "  b: {mass: 2, inertia: [0.8, 0.8, 0.8, 0, 0, 0], position: [1.034530647118397, "
    "1.3738266177959924, 0]}\n"
    "  c: {mass: 1.5, inertia: [0.4, 0.4, 0.4, 0, 0, 0], position: [2.2845306471183973, "
    "0.8738266177959925, 0]}\n"
    "joints:\n"
    "  j1: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]%s}\n"
    "  j2: {type: revolute, between: [a, b], at: [0, 1, 0], axis: [0, 0, 1]%s}\n"
    "  j3: {type: revolute, between: [b, c], at: [2.069061294236794, 1.7476532355919848, 0], "
    "axis: [0, 0, 1]}\n"
    "  j4: {type: revolute, between: [c, ground], at: [2.5, 0, 0], axis: [0, 0, 1]}\n"
    "%s";

// The last row of a run with the input at a constant value.
static track run_with_input(const lw_model *model, const lw_options *options)
{
    lw_sim *sim = lwt_sim(model, options);
    const double pull = 2; // N m
    lwt_ok(lw_sim_set_input(sim, 0, pull), lw_sim_error(sim));
    return run_to_end(sim);
}

static void check(const char *text, const force_case *c, const char *formulation)
{
    enum { DURATION = 1 };
    static char model_text[4000];
    snprintf(model_text, sizeof model_text, text, c->on_j1, c->on_j2, c->more);
    lw_model *model = lwt_yaml(model_text);
    lw_options o;
    lw_options_default(&o);
    lwt_set(&o, "formulation", formulation);
    lwt_set(&o, "integrator", "verner87");
    o.duration = o.sample = DURATION, o.rtol = o.atol = 1e-12;
    const track exact = run_with_input(model, &o);
    track found[2];
    double e[2], v[2];
    for (int i = 0; i < 2; i++) {
        const lw_options own = rattle_options(0.01 / (1 << i), DURATION, DURATION, 2);
        found[i] = run_with_input(model, &own);
        e[i] = distance(&found[i], &exact), v[i] = speed_distance(&found[i], &exact);
    }
    const bool prescribed =
        e[0] < 1e-12 && v[0] < 1e-12; // a drive determines the motion of the loop
    if (!prescribed && !(e[0] > 1e-7 && fabs(e[0] / e[1] - 4) < 0.3 && fabs(v[0] / v[1] - 4) < 0.5))
        fail_msg("%s, %s: positions are off by %.2e, %.2e, velocities by %.2e, %.2e", formulation,
                 c->name, e[0], e[1], v[0], v[1]);
    const double lost[2] = {found[0].summary.energy_error, found[1].summary.energy_error};
    if (!(lost[1] < 0.35 * lost[0]))
        fail_msg("%s, %s: E - Wnc is off by %.2e, %.2e", formulation, c->name, lost[0], lost[1]);
    for (int k = 0; k < 2; k++) assert_true(found[1].summary.residual[k] < 1e-13);
    lw_model_destroy(model);
}

static void forces_on_a_tree_are_of_order_two(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(cases); i++) check(tree, &cases[i], "aba");
}

static void forces_on_a_loop_are_of_order_two(void **state)
{
    (void)state;
    for (int i = 0; i < LWI_COUNT(cases); i++) check(loop, &cases[i], "rcr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_on_a_tree_are_of_order_two),
        cmocka_unit_test(forces_on_a_loop_are_of_order_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
