// test_one_answer.c -- Cassie held at its pelvis: the bars of its feet are almost in a line (a pivot of 9e-6, a file of nine
// digits), and every formulation has the same accelerations and reactions.
#include "support/given.h"

#include <math.h>

static const char *const names[] = {"rcr", "dca", "hdca", "lagrange", "index3"};

static lw_model *cassie(void)
{
    static const lw_read_desc held = {.base = LW_BASE_FIXED};
    char path[512];
    lw_model *model;
    lw_error error;
    snprintf(path, sizeof path, "%s/tests/models/cassie_v2.sdf", LW_SOURCE_DIR);
    if (lw_model_read(path, &held, &model, NULL, &error) != LW_OK) fail_msg("%s", error.text);
    return model;
}

static lw_sim *observe(const lw_model *model, const char *name, double t, const lw_observation **m)
{
    lw_sim *sim =
        lwt_simulate(model, LWT_SETTINGS("formulation", name, "rtol", "1e-10", "atol", "1e-10",
                                         "step", strcmp(name, "index3") == 0 ? "1e-4" : "0"));
    if (t > 0 && lw_sim_step(sim, t) != LW_OK) fail_msg("%s: %s", name, lw_sim_error(sim)->text);
    if (lw_sim_observe(sim, LW_OBSERVE_REACTION, m) != LW_OK)
        fail_msg("%s: %s", name, lw_sim_error(sim)->text);
    return sim;
}

// Largest difference of n numbers, and the largest of them.
static void compare(int n, const double *a, const double *b, double *off, double *largest)
{
    for (int i = 0; i < n; i++) {
        *off = fmax(*off, fabs(a[i] - b[i]));
        *largest = fmax(*largest, fabs(b[i]));
    }
}

static void differ_by(const lw_model *model, const lw_observation *dense, const char *name,
                      double tolerance)
{
    const double t = dense->time;
    const lw_observation *m;
    lw_sim *sim = observe(model, name, t, &m);
    const int nbody = lw_model_body_count(model), njoint = lw_model_joint_count(model);
    double off[3] = {0}, size[3] = {0};
    compare(3 * nbody, m->acceleration[0], dense->acceleration[0], &off[0], &size[0]);
    compare(3 * nbody, m->angular_acceleration[0], dense->angular_acceleration[0], &off[1],
            &size[1]);
    compare(6 * njoint, m->reaction[0], dense->reaction[0], &off[2], &size[2]);
    print_message("%g s, %s: %.1e of %.4g m/s^2, %.1e of %.4g rad/s^2, reactions %.1e of %.4g N\n",
                  t, name, off[0], size[0], off[1], size[1], off[2], size[2]);
    for (int i = 0; i < 3; i++) assert_true(off[i] <= tolerance * size[i]);
    lw_sim_destroy(sim);
}

static void cassie_has_one_answer(void **state)
{
    (void)state;
    lw_model *model = cassie();
    for (int later = 0; later < 2; later++) {
        const lw_observation *dense;
        lw_sim *reference = observe(model, "dense", later ? 0.02 : 0, &dense);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const int second_order = strcmp(names[i], "index3") == 0;
            differ_by(model, dense, names[i], !later ? 1e-8 : second_order ? 5e-3 : 1e-6);
        }
        lw_sim_destroy(reference);
    }
    lw_model_destroy(model);
}

// At 0.44 s the left foot's bars are closer to a line (a sine of 6e-5) and carry 940 N; its fourth joint has a redundant row.
// The reactions of minimum norm must hold those bars, although the sine is below that of independent rows elsewhere.
static void reactions_of_bars_almost_in_a_line(void **state)
{
    (void)state;
    lw_model *model = cassie();
    const lw_observation *m, *other;
    lw_sim *sim = observe(model, "lagrange", 0.44, &m);
    for (int i = 0; i < 3; i++) {
        double off = 0, size = 0;
        lw_sim *of = lwt_simulate(model, LWT_SETTINGS("formulation", names[i]));
        assert_int_equal(lw_sim_set_motion(of, m), LW_OK);
        assert_int_equal(lw_sim_observe(of, LW_OBSERVE_REACTION, &other), LW_OK);
        compare(6 * lw_model_joint_count(model), m->reaction[0], other->reaction[0], &off, &size);
        if (!(off < 1e-6 * size)) fail_msg("%s: %.1e of %.4g N", names[i], off, size);
        assert_true(size > 500);
        lw_sim_destroy(of);
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cassie_has_one_answer),
                                       cmocka_unit_test(reactions_of_bars_almost_in_a_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
