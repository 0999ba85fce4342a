// test_index3_paper.c -- the method as it was published: Euler parameters, an absolute penalty,
// three or four iterations, projections with the tangent [malczyk2019].  Its failures are part of
// it.
#include "methods/index3/index3_cases.h"

#include "methods/index3/index3.h"

static track run_with(const lw_model *model, const char *method, double step, double duration,
                      const char *sample)
{
    lw_options o = index3(step, duration, sample);
    lwt_set(&o, "index3", method);
    return run(model, &o);
}

#define PAPER "coordinates=7,projection=tangent,tolerance=1e-12,"

// ------------------------------------------------------------------------------- double pendulum

// Largest error of the force of joint 1 with the multipliers of the steps.
static double force_error(const lw_model *model, const char *method, const char *output,
                          const track *exact)
{
    char text[160];
    double max = 0;
    snprintf(text, sizeof text, "%s,output=%s", method, output);
    track k = run_with(model, text, 0.01, 10, "0.01");
    for (int row = 0; row < k.nrow; row++) {
        double d[3];
        v3_sub(d, k.f + 12 * row, exact->f + 12 * row);
        max = fmax(max, v3_norm(d));
    }
    drop(&k);
    return max;
}

// Section 8.1: largest error of A's position, E min, E(10 s), of the force of joint 1 with the multipliers of
// Newton's iterations, and with those of the projection of accelerations.
static void double_pendulum_has_the_printed_errors(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double position, min, end, newton, step;
    } want[] = {
        {PAPER "penalty=1e6,tangent=0,iterations=3", 2.35e-3, -0.0136, -0.0024, 0.332, 0.171},
        {PAPER "penalty=1e9,tangent=2,iterations=3", 1.16e-3, -0.0099, -0.0031, 0.494, 0.091},
        {"regularisation=1e-10,iterations=3", 2.07e-3, -0.0084, -0.0022, 0.503, 0.085}};
    lw_model *model = double_pendulum();
    track exact = run_exact(model, 10, "0.01");
    for (int i = 0; i < LWI_COUNT(want); i++) {
        track k = run_with(model, want[i].method, 0.01, 10, "0.01");
        double max = 0;
        for (int row = 0; row < k.nrow; row++) {
            double d[3];
            v3_sub(d, k.r + 9 * row + 3, exact.r + 9 * row + 3);
            max = fmax(max, v3_norm(d));
        }
        near(want[i].method, max, want[i].position, 0.02 * want[i].position);
        // printed to a unit of 1e-4
        near(want[i].method, k.energy_min, want[i].min, 1.5e-4);
        near(want[i].method, k.energy_end, want[i].end, 1.5e-4);
        near(want[i].method, force_error(model, want[i].method, "newton", &exact), want[i].newton,
             1e-3 + 0.005 * want[i].newton);
        near(want[i].method, force_error(model, want[i].method, "step", &exact), want[i].step,
             1e-3);
        drop(&k);
    }
    drop(&exact);
    lw_model_destroy(model);
}

// Iterations per step, as in the report.
static double iterations(const lw_model *model, const char *method, double duration)
{
    lw_options o = index3(0.01, duration, "0.1");
    lwt_set(&o, "index3", method);
    lw_sim *sim = lwt_sim(model, &o);
    char text[512];
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    lw_sim_report(sim, text, sizeof text);
    lw_sim_destroy(sim);
    return strtod(text, NULL);
}

static void a_small_penalty_needs_many_iterations(void **state)
{
    (void)state;
    lw_model *model = double_pendulum();
    // Printed for the 2-norm of both bodies, here the largest increment of one: the tolerance is chosen so that the
    // counts agree.  This shows that the count can be had, not that it is reproduced.
    near("1e6",
         iterations(model,
                    "coordinates=7,projection=tangent,tolerance=9e-13,penalty=1e6,tangent=0,"
                    "iterations=20",
                    10),
         11.7, 0.05);
    lw_model_destroy(model);
}

// --------------------------------------------------------------------------------------- four-bar

// Section 8.2, with the paper's parameters: geometry II for 30 s; geometry I leaves its branch with
// 1e6 and keeps it with 1e7.
static void four_bar_with_the_papers_parameters(void **state)
{
    (void)state;
    lw_model *second = rhombus_at(PI / 4, 0, 1);
    track k = run_with(second, PAPER "penalty=1e6,tangent=0,iterations=4", 0.01, 30, "0.01");
    assert_true(branch_at(&k, 1) < 1e-6);
    near("E min", k.energy_min, -2.07e-2, 2e-4);
    near("E(30 s)", k.energy_end, -4.8e-3, 2e-4);
    drop(&k);
    lw_model_destroy(second);

    lw_model *first = rhombus(PI / 4, 0);
    k = run_with(first, PAPER "penalty=1e7,tangent=0,iterations=4", 0.01, 30, "0.01");
    assert_true(branch(&k) < 1e-9);
    near("E min", k.energy_min, -7.0e-4, 0.3e-4);
    drop(&k);
    lw_model_destroy(first);
}

// ------------------------------------------------------------------------------------------ chain

static void chain_of_128_links_with_1e9(void **state)
{
    (void)state;
    // level, E min, E(10 s); independent codes have -7.43 J at level 0 with the matrix of the projections formed again,
    // -7.45 J with Newton's
    static const double want[3][2] = {{-46.01, -7.43}, {-47.34, -18.8}, {-40.39, -23.8}};
    lw_model *model = chain(128);
    for (int level = 0; level < 3; level++) {
        char method[128];
        snprintf(method, sizeof method, PAPER "penalty=1e9,iterations=3,tangent=%d", level);
        track k = run_with(model, method, 0.01, 10, "0.01");
        near(method, k.energy_min, want[level][0], 1.5);
        near(method, k.energy_end, want[level][1], 3);
        drop(&k);
    }
    lw_model_destroy(model);
}

// Three iterations cannot converge: the multipliers' error grows from step to step.  Nothing halves
// steps in real time.
static void chain_of_128_links_fails_with_small_penalties(void **state)
{
    (void)state;
    static const char *const penalty[] = {"1e6", "1e7", "1e8"};
    lw_model *model = chain(128);
    for (int i = 0; i < 3; i++) {
        char method[128];
        snprintf(method, sizeof method,
                 "mode=real-time,coordinates=7,projection=tangent,tangent=0,penalty=%s",
                 penalty[i]);
        lw_options o = index3(0.01, 0.6, "0.01");
        lwt_set(&o, "index3", method);
        lw_sim *sim = lwt_sim(model, &o);
        const lw_observation *seen;
        const lw_status status = lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL);
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &seen), lw_sim_error(sim));
        // from rest at height 0: it cannot be
        if (status == LW_OK && !(fabs(seen->kinetic + seen->potential) > 100))
            fail_msg("penalty %s: E is %g J after 0.6 s", penalty[i],
                     seen->kinetic + seen->potential);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// A work after two steps of 0.01 s from the start, and its state.
static lwi_work *after_two_steps(const lw_model *model, lw_options *o, double **x)
{
    lw_error error;
    lwi_work *work;
    lwi_snapshot snapshot;
    lwt_ok(lwi_work_create_options(model, &lwi_formulation_index3, NULL, 0, o, &work, &error),
           &error);
    *x = lwt_vector(work->layout.nx);
    lwt_ok(lwi_snapshot_create(model, &work->arena, &snapshot), &work->error);
    lwi_snapshot_start(model, &snapshot);
    lwt_ok(work->formulation->enter(work, &snapshot, *x), &work->error);
    for (int step = 0; step < 2; step++)
        lwt_ok(lwi_index3_step(work, 0.01 * step, 0.01, *x, NULL), &work->error);
    return work;
}

// |dq| of the last of so many iterations in the third step.
static double last_increment(lwi_work *work, const double *x, int iterations_done)
{
    lwi_index3 *d = work->data;
    double *own = lwt_vector(work->layout.nx);
    memcpy(own, x, (size_t)work->layout.nx * sizeof *own);
    d->counts = (lwi_index3_counts){0};
    d->method.iterations = iterations_done;
    lwt_ok(lwi_index3_step(work, 0.02, 0.01, own, NULL), &work->error);
    free(own);
    return d->counts.size;
}

// Section 7: |dq| falls by 1 / (1 + alpha eta sigma_min) from iteration to iteration; here in the
// third step of a horizontal chain.  With Euler parameters under the same penalty the links'
// lengths give way as well: with f at both ends of each link |lambda|^2 + |2 lambda|^2 stand for
// |lambda|^2, and sigma is a fifth of that, except at the ends of the chain.
static void increments_contract_as_predicted(void **state)
{
    (void)state;
    static const struct {
        const char *coordinates;
        int n, done; // iterations: what is nonlinear, and the faster modes, are over
        double penalty, ratio, tolerance;
    } want[] = {{"6", 8, 6, 1e6, 0.540, 1e-3},
                {"6", 32, 6, 1e7, 0.631, 1e-3},
                {"6", 32, 5, 1e8, 0.146, 1e-3},
                {"7,normalisation=1e12", 8, 6, 1e6, 0.540, 1e-3},
                {"7,normalisation=1e12", 32, 6, 1e7, 0.631, 1e-3},
                {"7", 32, 11, 1e7, 1 / (1 + 1e7 * 2.5e-5 * 2.34e-3 / 5), 5e-3},
                {"7", 32, 6, 1e8, 1 / (1 + 1e8 * 2.5e-5 * 2.34e-3 / 5), 1e-2}};
    for (int i = 0; i < LWI_COUNT(want); i++) {
        lw_model *model = chain(want[i].n);
        lw_options o = index3(0.01, 1, "0.01");
        char method[160];
        double *x;
        snprintf(method, sizeof method,
                 "projection=tangent,tolerance=1e-12,tangent=0,iterations=200,penalty=%g,"
                 "coordinates=%s",
                 want[i].penalty, want[i].coordinates);
        lwt_set(&o, "index3", method);
        lwi_work *work = after_two_steps(model, &o, &x);
        const double ratio =
            last_increment(work, x, want[i].done + 1) / last_increment(work, x, want[i].done);
        near(method, ratio, want[i].ratio, want[i].tolerance);
        free(x);
        lwi_work_destroy(work);
        lw_model_destroy(model);
    }
}

// With six coordinates: inertia alone converges linearly, geometric stiffness quadratically.
static void levels_of_the_tangent_need_fewer_iterations(void **state)
{
    (void)state;
    lw_model *model = chain(128);
    // Printed: 6.89, 3.09, 3.09 to 1e-12 m for the 2-norm of all bodies, some three times the largest of one, by which
    // this tolerance is chosen: the counts can be had, they are not reproduced.
    const char *with = ",iterations=20,tolerance=3e-13";
    double steps[3];
    for (int level = 0; level < 3; level++) {
        char method[128];
        snprintf(method, sizeof method, "tangent=%d%s", level, with);
        steps[level] = iterations(model, method, 10);
    }
    near("level 0", steps[0], 6.89, 0.3);
    near("level 1", steps[1], 3.09, 0.1);
    near("level 2", steps[2], 3.09, 0.1);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum_has_the_printed_errors),
        cmocka_unit_test(a_small_penalty_needs_many_iterations),
        cmocka_unit_test(four_bar_with_the_papers_parameters),
        cmocka_unit_test(chain_of_128_links_with_1e9),
        cmocka_unit_test(chain_of_128_links_fails_with_small_penalties),
        cmocka_unit_test(increments_contract_as_predicted),
        cmocka_unit_test(levels_of_the_tangent_need_fewer_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
