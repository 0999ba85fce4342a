// test_batch_loops.c -- instances of closed mechanisms have the bits of single runs: projections, changes of independent
// coordinates, lanes and threads included.
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

enum { INSTANCES = 5, ROWS = 12 };
#define ROW 0.06

// A four-bar that is no crank, a row of four-bars, a ladder in space.
static const char *const mechanisms[] = {
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
    "  j1: {type: revolute, between: [ground, l1], at: [0, 0, 0], axis: [0, 0, 1], qd: [5]}\n"
    "  j2: {type: revolute, between: [l1, l2], at: [0.3108049841353322, 0.3916634548137417, 0], "
    "axis: [0, 0, 1]}\n"
    "  j3: {type: revolute, between: [l2, l3], at: [0.7524945076593341, 0.47774693063308915, 0], "
    "axis: [0, 0, 1]}\n"
    "  j4: {type: revolute, between: [ground, l3], at: [0.9, 0, 0], axis: [0, 0, 1], cut: "
    "prefer}\n",
    "linkwork: 1\ngravity: [0, -9.81, 0]\n"
    "generate: {n_four_bar: {n: 3, q: [0.3, 0, 0], qd: [1, 0, 0]}}\n",
    "linkwork: 1\ngravity: [0.1, -9.81, 0]\n"
    "generate: {ladder: {n: 2, q: [0.3, 0.2, 0], qd: [1, 0.5, 0]}}\n"};

static const struct {
    const char *integrator, *step, *tolerance;
} integrators[] = {{"rk4", "0.005", "1e-9"}, {"dopri54", "1", "1e-5"}};

static void ok(lw_status status, const lw_error *error)
{
    if (status != LW_OK) fail_msg("%s", error->text);
}

typedef struct numbers {
    double number[4 * 200];
    size_t n;
} numbers;

static void collect(const lw_model *model, const lw_observation *o, numbers *all)
{
    const double *from[] = {o->position[0], o->velocity[0], o->acceleration[0]};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        for (int k = 0; k < 3 * lw_model_body_count(model); k++) all->number[all->n++] = from[i][k];
    assert_true(all->n < sizeof all->number / sizeof *all->number);
}

// All speeds of instance i are i - 2 times those of the model's start, or all instances begin there.
// @return projections of all instances
static long compare(const lw_model *model, const lw_options *options, bool set, const char *what)
{
    const lw_observation *o;
    lw_error error = {0};
    lw_batch *batch;
    lw_sim *alone[INSTANCES];
    long projections = 0;
    const lw_batch_desc desc = {.instances = INSTANCES, .threads = 2, .options = options};
    ok(lw_batch_create(model, &desc, &batch, &error), &error);
    for (int i = 0; i < INSTANCES; i++) {
        double qd[20];
        const lw_sim_desc single = {.options = options};
        ok(lw_sim_create(model, &single, &alone[i], &error), &error);
        ok(lw_sim_observe(alone[i], LW_OBSERVE_TWIST, &o), lw_sim_error(alone[i]));
        assert_true(lw_model_nv(model) <= 20);
        for (int k = 0; set && k < lw_model_nv(model); k++) qd[k] = (i - 2) * o->qd[k];
        if (!set) continue;
        ok(lw_batch_set_joints(batch, i, 0, o->q, qd), lw_batch_error(batch));
        ok(lw_sim_set_joints(alone[i], 0, o->q, qd), lw_sim_error(alone[i]));
    }
    for (int k = 1; k <= ROWS; k++) {
        ok(lw_batch_step(batch, k * ROW), lw_batch_error(batch));
        for (int i = 0; i < INSTANCES; i++) {
            static numbers a, b;
            a.n = b.n = 0;
            ok(lw_sim_step(alone[i], k * ROW), lw_sim_error(alone[i]));
            ok(lw_sim_observe(alone[i], LW_OBSERVE_ACCELERATION, &o), lw_sim_error(alone[i]));
            collect(model, o, &a);
            ok(lw_batch_observe(batch, i, LW_OBSERVE_ACCELERATION, &o), lw_batch_error(batch));
            collect(model, o, &b);
            for (size_t j = 0; j < a.n; j++)
                if (memcmp(&a.number[j], &b.number[j], sizeof *a.number) != 0)
                    fail_msg("%s, instance %d, t = %g: number %zu is %.17g, alone %.17g", what, i,
                             k * ROW, j, b.number[j], a.number[j]);
        }
    }
    for (int i = 0; i < INSTANCES; i++) {
        lw_summary single, one;
        lw_sim_summary(alone[i], &single);
        lw_batch_summary(batch, i, &one);
        assert_int_equal(single.projections, one.projections);
        assert_int_equal(single.steps, one.steps);
        projections += one.projections;
        lw_sim_destroy(alone[i]);
    }
    lw_batch_destroy(batch);
    return projections;
}

static void instances_have_the_bits_of_single_runs(void **state)
{
    (void)state;
    long projections = 0, never = 0;
    for (size_t m = 0; m < sizeof mechanisms / sizeof *mechanisms; m++) {
        lw_model *model = lwt_yaml(mechanisms[m]);
        for (int f = 0; f < lw_formulation_count(); f++)
            for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++)
                for (int p = 0; p < 2; p++) {
                    const char *formulation = lw_formulation_info(f).name;
                    char what[200];
                    lw_options options;
                    lw_options_default(&options);
                    lwt_set(&options, "formulation", formulation);
                    lwt_set(&options, "integrator", integrators[i].integrator);
                    lwt_set(&options, "step", integrators[i].step);
                    lwt_set(&options, "rtol", integrators[i].tolerance);
                    lwt_set(&options, "atol", integrators[i].tolerance);
                    lwt_set(&options, "project", p ? "never" : "auto");
                    lwt_set(&options, "singular", "turn"); // batches take ordinary steps
                    snprintf(what, sizeof what, "mechanism %zu, %s, %s, project %s", m, formulation,
                             integrators[i].integrator, p ? "never" : "auto");
                    lw_sim *sim;
                    const lw_sim_desc desc = {.options = &options};
                    if (!strcmp(formulation, "index3")) continue;                   // runs alone
                    if (lw_sim_create(model, &desc, &sim, NULL) != LW_OK) continue; // of trees
                    lw_sim_destroy(sim);
                    if (m + 1 < sizeof mechanisms / sizeof *mechanisms)
                        *(p ? &never : &projections) += compare(model, &options, true, what);
                    else if (p) // poses of the file and of its coordinates differ by round-off
                        compare(model, &options, false, what);
                }
        lw_model_destroy(model);
    }
    assert_true(projections > 100);
    assert_int_equal(never, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_have_the_bits_of_single_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
