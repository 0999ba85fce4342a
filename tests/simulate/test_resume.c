// test_resume.c -- a state is complete: another simulation that is set to it continues with the same bits, by every
// formulation, with every kind of projection, also where independent coordinates have changed before.
#include <linkwork/linkwork.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/given.h"
#include "support/random_loops.h"

enum { NUMBERS = 1000 };

// A four-bar that is no crank: its independent coordinates change.
static const char rocking[] =
    "linkwork: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  l1: {mass: 1, inertia: [0.0208, 0.0208, 0.0208, 0, 0, 0], position: "
    "[0.1554024920676661, 0.19583172740687085, 0]}\n"
    "  l2: {mass: 1, inertia: [0.0169, 0.0169, 0.0169, 0, 0, 0], position: "
    "[0.5316497458973332, 0.43470519272341546, 0]}\n"
    "  l3: {mass: 1, inertia: [0.0208, 0.0208, 0.0208, 0, 0, 0], position: "
    "[0.826247253829667, 0.23887346531654458, 0]}\n"
    "joints:\n"
    "  j1: {type: revolute, between: [ground, l1], at: [0, 0, 0], axis: [0, 0, 1], qd: [9]}\n"
    "  j2: {type: revolute, between: [l1, l2], at: [0.3108049841353322, 0.3916634548137417, 0], "
    "axis: [0, 0, 1]}\n"
    "  j3: {type: revolute, between: [l2, l3], at: [0.7524945076593341, 0.47774693063308915, 0], "
    "axis: [0, 0, 1]}\n"
    "  j4: {type: revolute, between: [ground, l3], at: [0.9, 0, 0], axis: [0, 0, 1]}\n";

static const char *const projections[] = {"auto", "never", "always"};
static const struct {
    const char *name, *step;
} integrators[] = {{"rk4", "0.004"}, {"dopri54", "1"}};

/** Everything that can be read of a state: its numbers, then the observation. */
typedef struct picture {
    size_t n;
    double number[NUMBERS];
} picture;

static void add(picture *p, const double *numbers, int n)
{
    assert_true(p->n + (size_t)n <= NUMBERS);
    memcpy(p->number + p->n, numbers, (size_t)n * sizeof *numbers);
    p->n += (size_t)n;
}

static void take_picture(lw_sim *sim, picture *p)
{
    const lw_observation *o;
    const lw_model *model = lw_sim_model(sim);
    lw_summary summary;
    lw_sim_summary(sim, &summary);
    *p = (picture){0};
    if (lw_sim_observe(sim, LW_OBSERVE_REACTION, &o) != LW_OK)
        fail_msg("%s", lw_sim_error(sim)->text);
    add(p, o->position[0], 3 * lw_model_body_count(model));
    add(p, o->quaternion[0], 4 * lw_model_body_count(model));
    add(p, o->acceleration[0], 3 * lw_model_body_count(model));
    add(p, o->reaction[0], 6 * lw_model_joint_count(model));
    assert_true(p->n + (size_t)lw_sim_state_size(sim) <= NUMBERS);
    lw_sim_get_state(sim, NULL, p->number + p->n);
    p->n += (size_t)lw_sim_state_size(sim);
}

static void step_to(lw_sim *sim, double t)
{
    if (lw_sim_step(sim, t) != LW_OK) fail_msg("%s", lw_sim_error(sim)->text);
}

// One simulation continues, another is set to its state at time `seam`.  False: the formulation does not take the model.
static bool continues(const lw_model *model, const char *const *settings, double seam, double row,
                      const char *what)
{
    lw_options options;
    lw_sim *one, *other;
    double t, x[NUMBERS];
    static picture a, b;
    lw_options_default(&options);
    for (; *settings; settings += 2) lwt_set(&options, settings[0], settings[1]);
    const lw_sim_desc desc = {.options = &options};
    if (lw_sim_create(model, &desc, &one, NULL) != LW_OK) return false;
    assert_int_equal(LW_OK, lw_sim_create(model, &desc, &other, NULL));
    const int before = (int)(seam / row + 0.5);
    for (int k = 1; k <= before; k++) {
        step_to(one, k * row);
        take_picture(one, &a); // rows do not matter
    }
    assert_true(lw_sim_state_size(one) <= NUMBERS);
    lw_sim_get_state(one, &t, x);
    if (lw_sim_set_state(other, t, x) != LW_OK) fail_msg("%s: %s", what, lw_sim_error(other)->text);
    for (int k = before; k < 2 * before; k++) {
        if (k > before) step_to(one, k * row), step_to(other, k * row);
        take_picture(one, &a);
        take_picture(other, &b);
        assert_int_equal(a.n, b.n);
        for (size_t i = 0; i < a.n; i++)
            if (memcmp(&a.number[i], &b.number[i], sizeof *a.number) != 0)
                fail_msg("%s, t = %g: number %zu of %zu is %.17g for %.17g", what, k * row, i, a.n,
                         b.number[i], a.number[i]);
    }
    lw_sim_destroy(one);
    lw_sim_destroy(other);
    return true;
}

static int continue_by_all(const lw_model *model, double seam, double row, const char *name)
{
    int count = 0;
    for (int f = 0; f < lw_formulation_count(); f++)
        for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++)
            for (size_t p = 0; p < sizeof projections / sizeof *projections; p++)
                for (int momenta = 0; momenta < 2; momenta++) {
                    char what[200];
                    const char *formulation = lw_formulation_info(f).name;
                    const bool equal = !strcmp(formulation, "rattle");
                    const bool own = equal || !strcmp(formulation, "index3");
                    if (momenta && strcmp(formulation, "rcr") != 0) continue;
                    if (own && i > 0) continue;
                    snprintf(what, sizeof what, "%s, %s, %s, project %s%s", name, formulation,
                             integrators[i].name, projections[p], momenta ? ", momenta" : "");
                    const char *const settings[] = {
                        "formulation", formulation,
                        "integrator",  own ? formulation : integrators[i].name,
                        "step",        integrators[i].step,
                        "rtol",        equal ? "1e-9" : "1e-6",
                        "atol",        equal ? "1e-9" : "1e-6",
                        "project",     projections[p],
                        "state",       momenta ? "momenta" : "auto",
                        NULL};
                    count += continues(model, settings, seam, row, what);
                }
    return count;
}

static void loops_continue(void **state)
{
    (void)state;
    int count = 0;
    LWT_FOR_LOOPS(loops, 4, LWT_LOOP_ALL)
    {
        count += continue_by_all(loops.model, 0.2, 0.02, "random loops");
    }
    assert_true(count >= 4 * 8);
}

// Its iterations start from the rates of the step before, and its sums carry what they round off.
static void trees_continue_by_gauss(void **state)
{
    (void)state;
    static const char *const order[] = {"0", "4", "6", "8"};
    lw_model *model = lwt_yaml("linkwork: 1\ngenerate: {chain: {n: 5, seed: 2}}\n");
    for (int i = 0; i < 4; i++) {
        const char *const settings[] = {"formulation", "momenta", "integrator", "gauss", "step",
                                        "0.003",       "order",   order[i],     NULL};
        assert_true(continues(model, settings, 0.2, 0.02, order[i]));
    }
    lw_model_destroy(model);
}

static void changed_coordinates_continue(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(rocking);
    for (int k = 2; k <= 4; k += 2) continue_by_all(model, 0.3 * k, 0.02, "rocking four-bar");
    lw_model_destroy(model);
}

// Numbers that are no partition are refused; with zeros it is chosen again.
static void a_partition_is_checked(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(rocking);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "integrator", "rk4"));
    double t, x[64], wrong[64];
    const int n = lw_sim_state_size(sim), first = n - 5;
    step_to(sim, 0.1);
    lw_sim_get_state(sim, &t, x);
    assert_true(x[first] == 1 || x[first] == 3);
    static const double tries[] = {-1, 0.5, 2, 5, 7, 8, 1e9, 1e300};
    for (int k = first; k < n; k++)
        for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
            memcpy(wrong, x, sizeof x);
            wrong[k] = tries[i];
            if (lw_sim_set_state(sim, t, wrong) == LW_OK) {
                step_to(sim, t + 0.01); // another partition, or pivot, is possible
                assert_int_equal(LW_OK, lw_sim_set_state(sim, t, x));
            } else
                assert_non_null(strstr(lw_sim_error(sim)->text, "the independent coordinates"));
        }
    for (int k = first; k < n; k++) x[k] = 0;
    assert_int_equal(LW_OK, lw_sim_set_state(sim, t, x));
    step_to(sim, t + 0.01);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// With `project` never a state may have drifted by any amount.
static void drift_is_accepted_where_it_is_not_removed(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(rocking);
    for (int never = 0; never < 2; never++) {
        lw_sim *sim = lwt_simulate(
            model, LWT_SETTINGS("formulation", "dca", "project", never ? "never" : "auto"));
        double t, x[64];
        lw_sim_get_state(sim, &t, x);
        x[0] += 0.01;
        assert_int_equal(never ? LW_OK : LW_ERR_ARGUMENT, lw_sim_set_state(sim, t, x));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_continue),
        cmocka_unit_test(trees_continue_by_gauss),
        cmocka_unit_test(changed_coordinates_continue),
        cmocka_unit_test(a_partition_is_checked),
        cmocka_unit_test(drift_is_accepted_where_it_is_not_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
