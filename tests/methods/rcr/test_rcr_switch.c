// test_rcr_switch.c -- coordinate reduction through positions in which its independent coordinates are singular: the
// partition changes between steps, with every family of integrators, without effect on the motion.
#include "methods/rcr/rcr_cases.h"

#include "simulate/simulation.h"

#include <linkwork/batch.h>

// The four-bar of the specification with the rocker independent, crank at 8 rad/s: dead points for
// the rocker.
static lw_model *from_the_rocker(void)
{
    const lwt_four_bar s = lwt_standard_bars();
    const double pi = 3.141592653589793, rocker = s.q[0] + s.q[1] + s.q[2] + pi;
    lwt_four_bar f = {.l = {0.6, 0.8, 0.3, -0.7},
                      .m = {1.5, 2, 1},
                      .q = {rocker, s.q[0] + s.q[1] + pi - rocker, -s.q[1], -(s.q[0] + pi)}};
    f.u[0] = 2 * (s.u[0] + s.u[1] + s.u[2]);
    f.u[1] = -2 * s.u[2];
    f.u[2] = -2 * s.u[1];
    f.u[3] = -2 * s.u[0];
    lw_builder *b = lwt_builder();
    lwt_add_four_bar(b, lwt_ground, 0.7, 0, &f);
    return lwt_model(b);
}

static lw_sim *simulate(const lw_model *model, const char *integrator, double step, double duration)
{
    lw_options o;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&o);
    lwi_copy_text(o.formulation, sizeof o.formulation, "rcr");
    lwi_copy_text(o.integrator, sizeof o.integrator, integrator);
    o.project = LW_PROJECT_NEVER; // positions drift as published
    o.step = step;
    o.duration = duration;
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &o}, &sim, &error), &error);
    return sim;
}

static lwi_rcr_work *rcr_of(const lw_sim *sim)
{
    return sim->work->data;
}

// Sets thresholds, and their partition at the start: the last joints if `last`.
static void set_thresholds(lw_sim *sim, double theta, double keep, bool last)
{
    lwi_rcr_work *d = rcr_of(sim);
    lwi_snapshot_start(sim->model, &sim->snapshot);
    d->theta = last ? 1e-3 : theta;
    lwt_ok(sim->work->formulation->enter(sim->work, &sim->snapshot, sim->x), &sim->work->error);
    d->theta = theta;
    d->keep = keep;
}

// Sets the length that relates displacements and rotations [m].  For revolutes: a unit of their speed is a unit of
// motion in any unit of length.
static void set_unit(lw_sim *sim, double length)
{
    lwi_rcr_work *d = rcr_of(sim);
    d->cut.length = d->e.length = length;
}

static const lwi_rcr_choice *choice_of(const lw_sim *sim)
{
    return sim->work->discrete;
}

static double energy_error(lw_sim *sim)
{
    lw_summary s;
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    lw_sim_summary(sim, &s);
    return s.energy_error;
}

// One change of coordinates moves the mechanism through all dead points of its rocker, at the energy error of the run
// with the crank independent from the start; and it is reported.
static void rocker_through_dead_points(void **state)
{
    (void)state;
    lw_model *model = from_the_rocker();
    lw_sim *sim = simulate(model, "rk4", 0.005, 3);
    set_thresholds(sim, 0.5, 0.2, true);
    assert_false(choice_of(sim)->dependent[0]);
    const double error = energy_error(sim);
    assert_int_equal(choice_of(sim)->switches, 1);
    assert_non_null(
        strstr(lw_sim_notice(sim), "independent coordinates were changed, first at t = 0."));
    const double entry = choice_of(sim)->entry;
    lw_sim_destroy(sim);
    sim = simulate(model, "rk4", 0.005, 3); // chooses well at the start
    const double crank = energy_error(sim);
    assert_int_equal(choice_of(sim)->switches, 0);
    lw_sim_destroy(sim);
    sim = simulate(model, "rk4", 0.005, 3);
    set_unit(sim, 1);
    set_thresholds(sim, 0.5, 0.2, true);
    const double metre = energy_error(sim);
    char changes[32];
    snprintf(changes, sizeof changes, "1, at %.3f s", entry);
    lwt_report("13.6a", "changes from the rocker", "1, at 0.175 s (start not given)", changes);
    lwt_error("13.6a", "energy error from the rocker [J]", 2.4e-3, error, 1);
    lwt_error("13.6a", "the same, lengths in metres", 2.4e-3, metre, 1);
    lwt_error("13.6a", "energy error from the crank [J]", 2.4e-3, crank, 1);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// No set of coordinates is regular all the time: several changes, and the energy error falls with the fourth power of
// the step.  Nearly all of it arises just before a change, so its size depends on the limit of the pivot.  The
// pivot depends on the motion of the joints alone, not on the length that relates displacements and rotations (the
// mechanism's, 0.3 m, or the metre).
static void non_grashof_by_the_order_of_the_method(void **state)
{
    static const double q[4] = {-0.43887, 2.08394, -2.42273, 0.77766},
                        published[3] = {2e-2, 7e-4, 2.6e-5};
    static const double length[2] = {0, 1};
    (void)state;
    lw_model *model = lwt_non_grashof();
    for (int c = 0; c < LWI_COUNT(length); c++) {
        double error[3];
        for (int i = 0; i < 3; i++) {
            lw_sim *sim = simulate(model, "rk4", 0.004 / (1 << i), 1.5);
            if (length[c] > 0) set_unit(sim, length[c]);
            set_thresholds(sim, 0.9, 0.35, true);
            error[i] = energy_error(sim);
            char what[64];
            snprintf(what, sizeof what, "energy error [J], step %g s, unit %g m", 0.004 / (1 << i),
                     rcr_of(sim)->e.length);
            assert_in_range(choice_of(sim)->switches, 6, 9);
            lwt_error("13.6b", what, published[i], error[i], 1);
            if (i == 2) {
                char changes[16];
                snprintf(changes, sizeof changes, "%d", choice_of(sim)->switches);
                lwt_report("13.6b", "changes", "8", changes);
                lwt_numbers("13.6b", "q at 1.5 s", 3, q, sim->x, 3e-5);
            }
            lw_sim_destroy(sim);
        }
        assert_true(error[0] / error[2] > 100);
    }
    lw_model_destroy(model);
}

// Every family of integrators passes; one-step methods need no restart, multistep ones at most one for each
// change: small changes keep their history.
static void integrators_go_through(void **state)
{
    static const char *const names[] = {"dopri54", "dopri5", "fehlberg8", "adams", "bdf"};
    double q[LWI_COUNT(names)][3];
    (void)state;
    lw_model *model = lwt_non_grashof();
    for (int i = 0; i < LWI_COUNT(names); i++) {
        lw_sim *sim = simulate(model, names[i], 0, 1.5);
        lw_summary s;
        lwt_ok(lw_sim_step(sim, 1.5), lw_sim_error(sim));
        lw_sim_summary(sim, &s);
        assert_true(choice_of(sim)->switches > 1);
        assert_in_range(s.restarts, i < 3 ? 0 : 1, i < 3 ? 0 : choice_of(sim)->switches);
        memcpy(q[i], sim->x, sizeof q[i]);
        for (int k = 0; k < 3; k++) lwt_near(names[i], k, q[i][k], q[0][k], i < 3 ? 1e-4 : 1e-3);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Observing a run, at rows between its steps too, changes no bit of it.
static void reading_changes_nothing(void **state)
{
    (void)state;
    lw_model *model = lwt_non_grashof();
    lw_sim *a = simulate(model, "dopri54", 0, 1.5), *b = simulate(model, "dopri54", 0, 1.5);
    const lw_observation *o;
    while (a->t < 1.5) lwt_ok(lwi_sim_advance(a, 1.5, 1.5, true), lw_sim_error(a));
    while (b->t < 1.5) {
        lwt_ok(lwi_sim_advance(b, 1.5, 1.5, true), lw_sim_error(b));
        lwt_ok(lw_sim_observe(b, LW_OBSERVE_REACTION, &o), lw_sim_error(b));
    }
    assert_true(choice_of(a)->switches > 1);
    assert_memory_equal(a->x, b->x, (size_t)a->work->layout.nx * sizeof *a->x);
    lw_sim_destroy(a);
    lw_sim_destroy(b);
    lw_model_destroy(model);
}

// Setting a state discards the earlier partition: the run from there equals, to the bit, that of another simulation
// set to the same state.
static void a_state_does_not_depend_on_the_partition(void **state)
{
    (void)state;
    lw_model *model = lwt_non_grashof();
    lw_sim *a = simulate(model, "dopri54", 0, 1.5), *b = simulate(model, "dopri54", 0, 1.5);
    double x[16], t;
    lwt_ok(lw_sim_step(a, 0.7), lw_sim_error(a));
    lw_sim_get_state(a, &t, x);
    lwt_ok(lw_sim_step(a, 1.1), lw_sim_error(a));
    lwt_ok(lw_sim_set_state(a, t, x), lw_sim_error(a));
    lwt_ok(lw_sim_set_state(b, t, x), lw_sim_error(b));
    lwt_ok(lw_sim_step(a, 1.5), lw_sim_error(a));
    lwt_ok(lw_sim_step(b, 1.5), lw_sim_error(b));
    assert_memory_equal(a->x, b->x, (size_t)a->work->layout.nx * sizeof *a->x);
    lw_sim_destroy(a);
    lw_sim_destroy(b);
    lw_model_destroy(model);
}

// Instances of a batch have separate partitions: each moves as a simulation of it alone, to the
// bit.
static void instances_have_their_own_partitions(void **state)
{
    enum { N = 5 };
    (void)state;
    lw_model *model = lwt_non_grashof();
    lw_sim *sim = simulate(model, "dopri54", 0, 1.5), *alone = simulate(model, "dopri54", 0, 1.5);
    lw_batch *batch;
    lw_error error;
    double t[N], x[N][16], y[16];
    lwt_ok(lw_batch_create(
               model,
               &(lw_batch_desc){.options = lw_sim_options(sim), .instances = N, .threads = 2},
               &batch, &error),
           &error);
    for (int i = 0; i < N; i++) {
        lwt_ok(lw_sim_step(sim, 0.2 * i), lw_sim_error(sim));
        lw_sim_get_state(sim, &t[i], x[i]);
        lwt_ok(lw_batch_set_state(batch, i, t[i], x[i]), lw_batch_error(batch));
    }
    lwt_ok(lw_batch_step(batch, 1.5), lw_batch_error(batch));
    for (int i = 0; i < N; i++) {
        lwt_ok(lw_sim_set_state(alone, t[i], x[i]), lw_sim_error(alone));
        lwt_ok(lw_sim_step(alone, 1.5), lw_sim_error(alone));
        lw_batch_get_state(batch, i, NULL, y);
        assert_memory_equal(alone->x, y, (size_t)alone->work->layout.nx * sizeof *y);
    }
    lw_batch_destroy(batch);
    lw_sim_destroy(sim);
    lw_sim_destroy(alone);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rocker_through_dead_points),
        cmocka_unit_test(non_grashof_by_the_order_of_the_method),
        cmocka_unit_test(integrators_go_through),
        cmocka_unit_test(reading_changes_nothing),
        cmocka_unit_test(a_state_does_not_depend_on_the_partition),
        cmocka_unit_test(instances_have_their_own_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
