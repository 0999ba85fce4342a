// test_rcr_dense_path.c -- the dense path of `rcr` against its elimination, which evaluates large models and those near
// singular positions.
#include "methods/rcr/rcr_cases.h"
#include "methods/rcr/dense_path.h"
#include "simulate/simulation.h"
#include "support/given.h"
#include "support/random_loops.h"

// A run by the dense path, or without it; false if the model has none.
static bool start(const lw_model *model, bool dense, lwt_run *r)
{
    *r = lwt_run_start(model, RCR);
    lwi_rcr_work *d = r->work->data;
    const bool has = d->dense != NULL;
    d->clusters = NULL;
    if (!dense) d->dense = NULL;
    return has;
}

static void observe(lwt_run *r, const double *input)
{
    lwt_observe(r->work, 0, r->x, input, &r->arena, &r->now);
}

// Velocities, accelerations, reactions and power.
static void random_loops_agree(void **state)
{
    (void)state;
    int taken = 0;
    LWT_FOR_LOOPS(c, 60, LWT_LOOP_ALL)
    {
        const lw_model *model = c.model;
        lwt_run a, b;
        if (start(model, true, &a) & start(model, false, &b)) {
            double *input = lwt_vector(model->desc.ninput);
            for (int i = 0; i < model->desc.ninput; i++) input[i] = 0.3 - 0.1 * i;
            observe(&a, input);
            observe(&b, input);
            taken += lwt_rcr(&a)->by_dense;
            assert_false(lwt_rcr(&b)->by_dense);
            lwt_near("accelerations", (int)seed_, lwt_acceleration_error(model, &a.now, &b.now), 0,
                     1e-9);
            for (int i = 0; i < model->nv; i++)
                lwt_near("speed", i, a.now.qd[i], b.now.qd[i], 1e-10 * (1 + fabs(b.now.qd[i])));
            for (int j = 0; j < model->njoint; j++) {
                const double size = v3_norm(b.now.reaction[j]) + v3_norm(b.now.reaction[j] + 3);
                for (int i = 0; b.now.unique[j] && i < 6; i++)
                    lwt_near("reaction", j, a.now.reaction[j][i], b.now.reaction[j][i],
                             1e-7 * (1 + size));
            }
            double *xa = lwt_vector(a.work->layout.nx), *xb = lwt_vector(b.work->layout.nx);
            lwt_ok(RCR->rates(a.work, 0, a.x, input, xa), &a.work->error);
            lwt_ok(RCR->rates(b.work, 0, b.x, input, xb), &b.work->error);
            for (int i = 0; i < a.work->layout.nx; i++)
                lwt_near("rate", i, xa[i], xb[i], 1e-8 * (1 + fabs(xb[i])));
            free(xa), free(xb), free(input);
        }
        lwt_run_end(&a);
        lwt_run_end(&b);
    }
    assert_true(taken > 20);
}

// Speeds of a state that violate the rows are corrected to satisfy them, to rounding.
static void velocities_are_closed(void **state)
{
    (void)state;
    int taken = 0;
    LWT_FOR_LOOPS(c, 30, LWT_LOOP_ALL)
    {
        const lw_model *model = c.model;
        lwt_run r;
        if (start(model, true, &r)) {
            lwi_rcr_work *d = r.work->data;
            double *input = lwt_vector(model->desc.ninput);
            for (int i = 0; i < model->tree_nv; i++) r.x[model->tree_nq + i] += 1e-4 * (1 + i % 3);
            observe(&r, input);
            lwi_cut_rows(&d->cut, &d->tree, 0, LWI_CLOSURE_POSITION);
            for (int i = 0; i < d->cut.m; i++) lwt_near("rate of row", i, d->cut.rate[i], 0, 1e-10);
            taken += d->by_dense;
            free(input);
        }
        lwt_run_end(&r);
    }
    assert_true(taken > 10);
}

// A parallelogram without gravity moves through the position with all links in a line, and continues on its branch:
// the coupler does not rotate.
static void singular_positions_are_left_to_the_elimination(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    const lw_body A = lwt_rod(b, "A", 0, 0, 0, 1, 1), B = lwt_rod(b, "B", 0, 1, 2, 1, 1),
                  C = lwt_rod(b, "C", 2, 0, 2, 1, 1);
    lwt_add(b, &(lw_joint_desc){.name = "left",
                                .type = LW_JOINT_REVOLUTE,
                                .body2 = A,
                                .axis = {0, 0, 1},
                                .has_qd = 1,
                                .qd = {-3}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "top left", A, B, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "top right", B, C, 2, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "right", lwt_ground, C, 2, 0);
    lw_model *model = lwt_model(b);
    lw_options options;
    lw_error error;
    lw_sim *sim;
    const lw_observation *o;
    lw_options_default(&options);
    lwt_set(&options, "formulation", "rcr");
    lwt_set(&options, "rtol", "1e-6");
    lwt_set(&options, "atol", "1e-6");
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    lwi_rcr_work *d = sim->work->data;
    if (!d->dense) // it takes as long as the elimination
        assert_int_equal(lwi_rcr_dense_create(d, &sim->work->arena, &d->dense), LW_OK);
    assert_non_null(d->dense);
    d->clusters = NULL;
    lwt_ok(lw_sim_step(sim, 0.3), lw_sim_error(sim));
    assert_true(d->by_dense);
    lwt_ok(lw_sim_step(sim, 0.5235), lw_sim_error(sim)); // pi/6 is the time
    assert_false(d->by_dense);
    lwt_ok(lw_sim_step(sim, 0.8), lw_sim_error(sim));
    assert_true(d->by_dense);
    lwt_ok(lw_sim_step(sim, 2), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
    lwt_near("rotation of the coupler", 0, o->quaternion[B.index][3], 0, 1e-3);
    lwt_near("speed of a crank", 0, o->angular_velocity[A.index][2], -3, 1e-3);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Too many rows for the dense path.
static void many_loops_are_eliminated(void **state)
{
    (void)state;
    lw_model *model = lwt_generated(
        (lw_mechanism_desc){.mechanism = LW_MECHANISM_NET, .n = 9, .m = 9, .joint = 2, .q = {0.3}});
    lwt_run r = lwt_run_start(model, RCR);
    assert_null(lwt_rcr(&r)->dense);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

// A loop with a damper, twice, the second `share` as heavy; both closed in space.
static lw_model *two_loops(double share)
{
    char text[4000], part[2][2][900];
    for (int i = 0; i < 2; i++) {
        const double m = i ? share : 1;
        snprintf(part[i][0], sizeof part[i][0],
                 "  A%d: {mass: %g, inertia: [%g, %g, %g, 0, 0, 0], position: [0.2, 0.05, 0]}\n"
                 "  B%d: {mass: %g, inertia: [%g, %g, %g, 0, 0, 0], position: [0.7, 0.3, 0.2]}\n"
                 "  C%d: {mass: %g, inertia: [%g, %g, %g, 0, 0, 0], position: [1, 0.25, 0.4]}\n",
                 i, 1.5 * m, 0.02 * m, 0.03 * m, 0.04 * m, i, 2 * m, 0.1 * m, 0.12 * m, 0.07 * m, i,
                 m, 0.05 * m, 0.04 * m, 0.03 * m);
        snprintf(part[i][1], sizeof part[i][1],
                 "  crank%d: {type: revolute, between: [ground, A%d], at: [0, 0, 0],\n"
                 "            spring: {q0: {damping: %g}}}\n"
                 "  ball%d: {type: spherical, between: [A%d, B%d], at: [0.4, 0.1, 0]}\n"
                 "  knee%d: {type: spherical, between: [B%d, C%d], at: [1, 0.5, 0.4]}\n"
                 "  rocker%d: {type: revolute, between: [ground, C%d], at: [1, 0, 0.4], axis: [1, "
                 "0, 0]}\n",
                 i, i, 2000 * m, i, i, i, i, i, i, i, i);
    }
    snprintf(text, sizeof text, "linkwork: 1\ngravity: [0, -9.81, 1]\nbodies:\n%s%sjoints:\n%s%s",
             part[0][0], part[1][0], part[0][1], part[1][1]);
    return lwt_yaml(text);
}

// Where the dense path gives every state to the elimination, as with loops of very different masses, states are not
// changed between steps: `bdf` keeps its history.
static void states_left_to_the_elimination_are_not_changed(void **state)
{
    (void)state;
    for (int unequal = 0; unequal < 2; unequal++) {
        lw_model *model = two_loops(unequal ? 1e-4 : 1);
        lw_options options;
        lw_sim *sim;
        lw_error error = {0};
        lw_options_default(&options);
        lwt_set(&options, "formulation", "rcr");
        lwt_set(&options, "integrator", "bdf");
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
        lwt_ok(lw_sim_step(sim, 0.01), lw_sim_error(sim));
        lw_summary found;
        lw_sim_summary(sim, &found);
        assert_true(found.restarts <= 1);
        assert_true(found.steps < 200);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A four-bar that is closed by two halves of a ball, which a fixed joint connects, each on a hinge.
static lw_model *closed_by_a_ball(double inertia)
{
    char text[2000];
    snprintf(text, sizeof text,
             "linkwork: 1\ngravity: [0, -9.81, 0]\nbodies:\n"
             "  crank: {mass: 1, inertia: [0.001, 0.01, 0.01, 0, 0, 0], position: [0, 0.15, 0]}\n"
             "  coupler: {mass: 2, inertia: [0.001, 0.1, 0.1, 0, 0, 0], position: [0.4, 0.45, 0]}\n"
             "  rocker: {mass: 1, inertia: [0.001, 0.03, 0.03, 0, 0, 0], position: [0.9, 0.3, 0]}\n"
             "  one: {mass: 1e-5, inertia: [%g, %g, %g, 0, 0, 0], position: [0.8, 0.6, 0]}\n"
             "  two: {mass: 1e-5, inertia: [%g, %g, %g, 0, 0, 0], position: [0.8, 0.6, 0]}\n"
             "joints:\n"
             "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], qd: [3]}\n"
             "  B: {type: revolute, between: [crank, coupler], at: [0, 0.3, 0]}\n"
             "  C: {type: revolute, between: [coupler, one], at: [0.8, 0.6, 0]}\n"
             "  D: {type: revolute, between: [ground, rocker], at: [1, 0, 0]}\n"
             "  E: {type: revolute, between: [rocker, two], at: [0.8, 0.6, 0]}\n"
             "  F: {type: fixed, between: [one, two], at: [0.8, 0.6, 0], cut: prefer}\n",
             inertia, inertia, inertia, inertia, inertia, inertia);
    return lwt_yaml(text);
}

// Largest change of an acceleration per metre by which the loop does not close, for a change of each coordinate of the tree.
static double change_by_gap(const lw_model *model, bool clusters)
{
    lwt_run r;
    double largest = 0;
    const double gap = 1e-7;
    if (clusters)
        r = lwt_run_start(model, RCR);
    else
        start(model, false, &r);
    const int nq = model->tree_nq, nv = model->tree_nv, nx = r.work->layout.nx;
    double *closed = lwt_vector(nx), *open = lwt_vector(nx);
    lwt_ok(RCR->rates(r.work, 0, r.x, NULL, closed), &r.work->error);
    assert_int_equal(lwt_rcr(&r)->in_clusters, clusters);
    for (int i = 0; i < nq; i++) {
        r.x[i] += gap;
        lwt_ok(RCR->rates(r.work, 0, r.x, NULL, open), &r.work->error);
        r.x[i] -= gap;
        for (int k = nq; k < nq + nv; k++) largest = fmax(largest, fabs(open[k] - closed[k]) / gap);
    }
    free(closed), free(open);
    lwt_run_end(&r);
    return largest;
}

static long evaluations(const lw_model *model, bool clusters)
{
    lw_options options;
    lw_sim *sim;
    lw_summary found;
    lw_error error = {0};
    lw_options_default(&options);
    lwt_set(&options, "formulation", "rcr");
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    if (!clusters) ((lwi_rcr_work *)sim->work->data)->clusters = NULL;
    lwt_ok(lw_sim_step(sim, 0.5), lw_sim_error(sim));
    lw_sim_summary(sim, &found);
    lw_sim_destroy(sim);
    return found.evaluations;
}

// Where a loop does not close, as within a step, the forces of its joint do not rotate a ball, however small it is.
static void small_balls_stay_slow(void **state)
{
    (void)state;
    for (int clusters = 0; clusters < 2; clusters++) {
        lw_model *small = closed_by_a_ball(1e-11), *large = closed_by_a_ball(1e-6);
        const double expected = change_by_gap(large, clusters);
        const long steps = evaluations(large, clusters);
        assert_true(expected > 1 && expected < 1e4);
        assert_true(change_by_gap(small, clusters) < 10 * expected); // f / I is 1e12 1/(m s^2)
        lwt_near("evaluations", clusters, (double)evaluations(small, clusters), (double)steps,
                 0.1 * (double)steps);
        lw_model_destroy(small);
        lw_model_destroy(large);
    }
}

// Six rods and balls in an arc between two points of the ground, at rest; gravity is inclined to the plane of the arc.
static lw_model *hanging_chain(void)
{
    enum { N = 6 };
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    char name[20];
    double x = 0, y = 0;
    lw_builder_gravity(b, (lw_vec3){0, -9, 4});
    for (int i = 0; i < N; i++) {
        const double angle = (i - 0.5 * (N - 1)) * 0.4;
        const double x2 = x + 0.4 * cos(angle), y2 = y + 0.4 * sin(angle);
        snprintf(name, sizeof name, "%d", i);
        const lw_body rod = lwt_rod(b, name, x, y, x2, y2, 1);
        snprintf(name, sizeof name, "ball %d", i);
        lwt_joint(b, LW_JOINT_SPHERICAL, name, before, rod, x, y);
        before = rod, x = x2, y = y2;
    }
    lwt_joint(b, LW_JOINT_SPHERICAL, "end", before, lwt_ground, x, y);
    return lwt_model(b);
}

// Largest rate of a row at the speeds of the state themselves, which rates replace by others.
static double rate_of_state(lwt_run *r)
{
    lwi_rcr_work *d = r->work->data;
    double largest = 0;
    observe(r, NULL);
    lwi_cut_place(&d->cut, &d->tree, 0, r->x, r->x + r->work->model->tree_nq);
    lwi_cut_rows(&d->cut, &d->tree, 0, LWI_CLOSURE_RATES);
    for (int i = 0; i < d->cut.m; i++) largest = fmax(largest, fabs(d->cut.rate[i]));
    return largest;
}

// Before a step the speeds of the state are moved onto the rows if they are further off than ten tolerances, of
// multistep methods a hundred.
static void speeds_of_the_state_are_closed(void **state)
{
    (void)state;
    lw_model *model = hanging_chain();
    lw_options options;
    lw_options_default(&options);
    options.rtol = 0, options.atol = 1e-6;
    for (int multistep = 0; multistep < 2; multistep++) {
        const double limit = multistep ? 1e-4 : 1e-5;
        lwt_run r = lwt_run_start(model, RCR);
        double *kept = lwt_vector(r.work->layout.nx), *rates = lwt_vector(r.work->layout.nx);
        const size_t size = (size_t)r.work->layout.nx * sizeof *kept;
        r.work->options = &options;
        r.work->multistep = multistep;
        for (int far = 0; far < 2; far++) {
            bool changed = false;
            for (int i = 0; i < model->tree_nv; i++)
                r.x[model->tree_nq + i] += (far ? 20 : 0.3) * limit * (1 + i % 3) / 3;
            memcpy(kept, r.x, size);
            lwt_ok(RCR->rates(r.work, 0, r.x, NULL, rates), &r.work->error);
            assert_true(lwt_rcr(&r)->by_dense);
            lwt_ok(RCR->pre_step(r.work, 0, r.x, &changed), &r.work->error);
            assert_int_equal(changed, far);
            assert_int_equal(memcmp(kept, r.x, size) != 0, far);
            if (far) lwt_near("rate of a row", multistep, rate_of_state(&r), 0, 1e-12);
            if (!far) assert_true(rate_of_state(&r) > 0.01 * limit);
        }
        free(kept), free(rates);
        lwt_run_end(&r);
    }
    lw_model_destroy(model);
}

static lw_summary run_chain(const lw_model *model, const char *const *settings, double end)
{
    lw_options options;
    lw_sim *sim;
    lw_summary found;
    lw_error error = {0};
    const lw_observation *o;
    lw_options_default(&options);
    lwt_set(&options, "formulation", "rcr");
    for (; *settings; settings += 2) lwt_set(&options, settings[0], settings[1]);
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    assert_non_null(((lwi_rcr_work *)sim->work->data)->dense);
    for (int i = 0; i <= 20; i++) {
        lwt_ok(lw_sim_step(sim, i * end / 20), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
    }
    lw_sim_summary(sim, &found);
    lw_sim_destroy(sim);
    return found;
}

// The energy drifts by the errors of the steps alone; by speeds across the rows, which add up, it drifted by ten
// times as much.  Multistep methods keep their history.
static void energy_is_kept(void **state)
{
    (void)state;
    static const struct {
        const char *settings[9];
        double end, energy;
        long restarts;
    } cases[] = {
        {{"integrator", "dopri5", "rtol", "1e-5", "atol", "1e-5", NULL}, 80, 1.2e-2, 0},
        {{"integrator", "rk4", "step", "0.01", "project", "never", NULL}, 20, 3e-4, 0},
        {{"integrator", "adams", "rtol", "1e-7", "atol", "1e-7", NULL}, 40, 1.5e-4, 10},
    };
    lw_model *model = hanging_chain();
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        const lw_summary found = run_chain(model, cases[i].settings, cases[i].end);
        lwt_near("energy", i, found.energy_error, 0, cases[i].energy);
        assert_true(found.restarts <= cases[i].restarts);
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_loops_agree),
        cmocka_unit_test(velocities_are_closed),
        cmocka_unit_test(singular_positions_are_left_to_the_elimination),
        cmocka_unit_test(many_loops_are_eliminated),
        cmocka_unit_test(small_balls_stay_slow),
        cmocka_unit_test(speeds_of_the_state_are_closed),
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(states_left_to_the_elimination_are_not_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
