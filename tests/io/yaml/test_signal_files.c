// test_signal_files.c -- the models of examples/signals and signals of included files, against closed forms.
#include "model/model.h"
#include "support/mechanism.h"

#include <linkwork/io.h>

static const char folder[] = LW_SOURCE_DIR "/examples/signals/";

static lw_sim *open_file(const char *name, const char *const *set, int nset, lw_model **model)
{
    char path[512];
    lw_error error = {0};
    lw_options options;
    lw_sim *sim;
    lw_options_default(&options);
    snprintf(path, sizeof path, "%s%s.yaml", folder, name);
    const lw_read_desc desc = {.set = set, .nset = nset};
    lwt_ok(lw_model_read(path, &desc, model, &options, &error), &error);
    lwt_ok(lw_sim_create(*model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    return sim;
}

static int output(const lw_model *m, const char *kind, const char *item, const char *part)
{
    for (int i = 0; i < lw_model_output_count(m); i++) {
        const lw_output_info info = lw_model_output(m, i);
        if (!strcmp(info.kind, kind) && !strcmp(info.item, item) && !strcmp(info.part, part))
            return i;
    }
    fail_msg("no output %s.%s.%s", kind, item, part);
    return -1;
}

static const lw_observation *at(lw_sim *sim, double t)
{
    const lw_observation *o;
    lwt_ok(lw_sim_step(sim, t), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_MOMENTUM, &o), lw_sim_error(sim));
    return o;
}

static void assert_relative(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%.17g, expected %.17g", value, expected);
}

// Virtual work: gas and no gas differ by  M = -F dz/dtheta  in the torque of the drive, z = r cos + sqrt(l^2 - r^2 sin^2).
static void gas_force_turns_the_crank(void **state)
{
    (void)state;
    const double r = 0.045, l = 0.14, speed = 100 * 3.14159265358979323846, bar = 1e5;
    static const char *const motored[] = {"load=0"};
    lw_model *m[2];
    lw_sim *sim[2] = {open_file("cylinder", NULL, 0, &m[0]),
                      open_file("cylinder", motored, 1, &m[1])};
    const int torque = output(m[0], "joint", "crank", "drive"),
              gas = output(m[0], "signal", "gas", "value"),
              pressure = output(m[0], "signal", "pressure", "value");
    for (double deg = 7; deg < 1500; deg += 61) {
        const double angle = deg * 3.14159265358979323846 / 180, s = sin(angle), c = cos(angle);
        const double slope = -r * s - r * r * s * c / sqrt(l * l - r * r * s * s);
        const double M = at(sim[0], angle / speed)->output[torque];
        const double F = at(sim[0], angle / speed)->output[gas];
        const double M0 = at(sim[1], angle / speed)->output[torque];
        assert_true(fabs(M - M0 + F * slope) < 1e-9 * 400);
    }
    // points of the table, one and two periods later
    assert_relative(at(sim[0], (1440 + 40) / 360.0 / 50)->output[pressure], 25 * bar, 1e-9);
    for (int i = 0; i < 2; i++) {
        lw_sim_destroy(sim[i]);
        lw_model_destroy(m[i]);
    }
}

// Damper and bump stop at points of their curves; the load of the tyre at rest is the weight.
static void suspension_has_the_forces_of_its_curves(void **state)
{
    (void)state;
    lw_model *m;
    static const char *const dropped[] = {"drop=0.6"};
    lw_sim *sim = open_file("suspension", dropped, 1, &m);
    const int damper = output(m, "signal", "damper", "value"),
              stop = output(m, "signal", "bump_stop", "value"),
              tyre = output(m, "signal", "tyre", "value"),
              strut = output(m, "signal", "strut", "value"),
              length = output(m, "spring", "strut", "length"),
              rate = output(m, "spring", "strut", "rate"),
              force = output(m, "spring", "strut", "force");
    // the joint `travel` is at rest: the wheel falls with the car
    assert_true(at(sim, 0)->output[damper] == 0);
    double deepest = 0;
    for (double t = 0.01; t < 0.5; t += 0.01) {
        const double *y = at(sim, t)->output;
        assert_true(y[strut] == y[damper] + y[stop]);
        assert_relative(y[force], -30000 * (y[length] - 0.48) + y[strut], 1e-9);
        assert_true(y[damper] * y[rate] <= 0); // it takes energy
        deepest = fmax(deepest, 0.38 - y[length]);
        if (y[length] > 0.38) assert_true(y[stop] == 0);
    }
    assert_true(deepest > 0); // the stop was touched
    assert_relative(at(sim, 6)->output[tyre], 360 * 9.81, 1e-5);
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    assert_true(summary.energy_error < 1e-5 * 3000); // of the kinetic energies that occurred [J]
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

static void cam_lifts_once_in_two_revolutions(void **state)
{
    (void)state;
    lw_model *m;
    lw_sim *sim = open_file("cam", NULL, 0, &m);
    const int q = m->joint[1].iq;
    const double turn = 0.02; // [s]
    assert_relative(at(sim, 400 / 360.0 * turn)->q[q], 4.5e-3, 1e-12);
    assert_relative(at(sim, 470 / 360.0 * turn)->q[q], 9.5e-3, 1e-12);
    assert_true(fabs(at(sim, 650 / 360.0 * turn)->q[q]) < 1e-15);
    assert_relative(at(sim, (720 + 520) / 360.0 * turn)->q[q], 7.1e-3, 1e-9);
    assert_true(fabs(at(sim, (1440 + 100) / 360.0 * turn)->q[q]) < 1e-15);
    lw_sim_destroy(sim);
    lw_model_destroy(m);
}

// ---------------------------------------------------------------------------------------- one file

static lw_model *parse(const char *text)
{
    lw_model *model;
    lw_error error = {0};
    lwt_ok(lw_model_parse(text, strlen(text), "model.yaml", &(lw_read_desc){.format = "yaml"},
                          &model, NULL, &error),
           &error);
    return model;
}

// Names in any order; functions of functions; parameters in all of them.
static void names_may_come_in_any_order(void **state)
{
    (void)state;
    lw_model *m = parse(
        "linkwork: 1\n"
        "parameters: {k: 3}\n"
        "signals:\n"
        "  a: k*b + 'the push'\n"
        "  b: {type: sum, terms: [c, 1]}\n"
        "  the push: 2*lever + c\n"
        "functions: {c: {type: polynomial, coefficients: [0, k]}}\n"
        "inputs: [lever]\n"
        "bodies: {x: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {x: {type: prismatic, between: [ground, x], at: [0, 0, 0], effort: {q0: a}}}\n");
    const double lever = 5;
    const lwi_now now = {.t = 2, .inputs = &lever};
    for (int i = 0; i < m->desc.nfunction; i++)
        if (m->desc.function[i].name && !strcmp(m->desc.function[i].name, "a"))
            assert_true(lwi_signal_value(m->function, (lw_signal){i + 1}, &now, 0) ==
                        3 * 7 + 10 + 6);
    lw_model_destroy(m);
}

// A formula where a function is expected is the function with this formula; expressions of constants stay constants.
static void formulas_may_replace_functions(void **state)
{
    (void)state;
    lw_model *m = parse(
        "linkwork: 1\n"
        "parameters: {k: 3}\n"
        "functions: {f: {type: formula, of: t + 1}}\n"
        "bodies: {x: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}, y: {mass: 1, inertia: [1, 1, 1, 0, 0, "
        "0]}}\n"
        "joints:\n"
        "  x: {type: prismatic, between: [ground, x], at: [0, 0, 0], effort: {q0: -k*f*x.q0}, "
        "spring: {q0: {force: 2*k}}}\n"
        "  y: {type: prismatic, between: [x, y], at: [0, 0, 0], motion: {q0: \"0.2*k*t^2\"}}\n");
    const lw_coordinate_desc *x = m->desc.joint[0].coordinate, *y = m->desc.joint[1].coordinate;
    const double q[] = {5, 0}, qd[] = {0, 0};
    const lwi_now now = {.t = 2, .q = q, .qd = qd};
    assert_true(lwi_signal_value(m->function, x->effort, &now, 0) == -45);
    assert_true(lwi_signal_value(m->function, x->force, &now, 0) == 6);
    assert_int_equal(m->desc.function[x->force.index - 1].type, LW_FUNCTION_CONSTANT);
    double f[3];
    lwi_function_eval(m->function, y->motion, 2, f);
    assert_true(fabs(f[0] - 2.4) < 1e-15 && fabs(f[1] - 2.4) < 1e-15 && fabs(f[2] - 1.2) < 1e-15);
    lw_model_destroy(m);
}

static void components_of_wrenches_follow_signals(void **state)
{
    (void)state;
    static const char head[] =
        "linkwork: 1\n"
        "functions: {s: {type: formula, of: 2*t}, r: {type: formula, of: x.q0 - 3*x.qd0}}\n"
        "bodies: {x: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        "joints: {x: {type: free, between: [ground, x], at: [0, 0, 0]}}\n"
        "forces: {w: {type: wrench, body: x, ";
    char text[2][1024];
    snprintf(text[0], sizeof text[0],
             "%sforce: [1, 0, 2], force_of: [s, 0, r], torque_of: [0, s, 0], scale: 2}}\n", head);
    snprintf(text[1], sizeof text[1],
             "%sforce: [1, 0, 2], scale: 2}, a: {type: wrench, body: x, force: [1, 0, 0], torque: "
             "[0, 1, 0],"
             " scale: {type: formula, of: 4*t}}, b: {type: wrench, body: x, force: [0, 0, 1],"
             " scale: {type: formula, of: 2*(x.q0 - 3*x.qd0)}}}\n",
             head);
    double q[2][7], v[2][6];
    for (int i = 0; i < 2; i++) {
        lw_model *m = parse(text[i]);
        lw_sim *sim;
        lw_error error;
        lwt_ok(lw_sim_create(m, NULL, &sim, &error), &error);
        const lw_observation *o = at(sim, 0.7);
        memcpy(q[i], o->q, sizeof q[i]), memcpy(v[i], o->qd, sizeof v[i]);
        lw_sim_destroy(sim);
        lw_model_destroy(m);
    }
    for (int k = 0; k < 6; k++)
        assert_true(fabs(v[0][k] - v[1][k]) < 1e-9 && fabs(q[0][k] - q[1][k]) < 1e-9);
    assert_true(fabs(v[0][0]) > 0.1 && fabs(v[0][4]) > 0.1 && fabs(v[0][2]) > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gas_force_turns_the_crank),
        cmocka_unit_test(suspension_has_the_forces_of_its_curves),
        cmocka_unit_test(cam_lifts_once_in_two_revolutions),
        cmocka_unit_test(names_may_come_in_any_order),
        cmocka_unit_test(formulas_may_replace_functions),
        cmocka_unit_test(components_of_wrenches_follow_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
